//! What a point gains from a faster part: one row for each change.

use record::{Effect, WhatIf};
use units::OpsPerSecond;

use crate::style::{Look, Style};
use crate::table::{Cell, Column, Table};
use crate::words::{harmless, percent, wrap};

/// Every change with its gain, the largest first; changes within the noise say so.
pub fn what_if(tried: &WhatIf, style: Style) -> String {
    let mut text = style.paint(Look::Title, &format!("What if: {}", harmless(&tried.name)));
    text.push('\n');
    let about = format!(
        "{} seeds each. Recorded {}/s, run again {}/s{}. Repeated runs differ by {} in rate{}.",
        tried.seeds,
        OpsPerSecond::new(tried.recorded_ops_per_s),
        OpsPerSecond::new(tried.again_ops_per_s),
        if tried.is_the_record() {
            ""
        } else {
            ": the array is in another state, so the trials do not apply to the record"
        },
        percent(tried.floor_ops),
        tried.floor_p99.map_or(String::new(), |floor| format!(" and by {} in p99", percent(floor)))
    );
    for line in wrap(&style.spell(&about), style.width, "  ", "  ") {
        text += &format!("{line}\n");
    }
    let columns = vec![
        Column::words("changed"),
        Column::figures("speed", 3),
        Column::figures("rate", 0),
        Column::figures("low", 2),
        Column::figures("high", 2),
        Column::figures("p99", 0),
        Column::figures("low", 2),
        Column::figures("high", 2),
    ];
    let rows = tried.trials.iter().map(|trial| {
        let mut row = vec![Cell::plain(harmless(&trial.change)), Cell::plain(format!("{}", trial.times))];
        row.extend(cells(Some(&trial.ops)));
        row.extend(cells(trial.p99.as_ref()));
        row
    });
    for line in (Table { columns, rows: rows.collect() }).draw(style).lines {
        text += &format!("    {line}\n");
    }
    text
}

fn cells(effect: Option<&Effect>) -> [Cell; 3] {
    match effect {
        None => [Cell::default(), Cell::default(), Cell::default()],
        Some(effect) if effect.is_there => {
            let ends = [effect.low, effect.high].map(|end| Cell::plain(signed(end)));
            let [low, high] = ends;
            [Cell::of(Look::Headline, signed(effect.change)), low, high]
        }
        Some(effect) => {
            let ends = [effect.low, effect.high].map(|end| Cell::plain(signed(end)));
            let [low, high] = ends;
            [Cell::plain("no effect"), low, high]
        }
    }
}

/// `+12.3 %`; from twice as much on `2.5 times`.
fn signed(part: f64) -> String {
    if part >= 1.0 { format!("{:.1} times", 1.0 + part) } else { format!("{:+.1} %", 100.0 * part) }
}
