//! A model's figures, and measured loads beside its answers.

use record::{Figure, Fitted, ModelComparison};
use units::OpsPerSecond;

use crate::style::{Look, Style};
use crate::table::{Cell, Column, Table};
use crate::words::{harmless, wrap};

/// Each figure with what it rests on, those that were not fitted among them.
pub fn fitted(figures: &[Fitted], style: Style) -> String {
    let width = |of: &dyn Fn(&Fitted) -> usize| figures.iter().map(of).max().unwrap_or(0);
    let what = width(&|figure| figure.what.chars().count());
    let value = width(&|figure| shown(figure).chars().count());
    let mut text = String::new();
    for figure in figures {
        let first = format!("{:<what$}  {:<value$}  ", figure.what, style.spell(&shown(figure)));
        let rest = " ".repeat(what + value + 4);
        let words = style.spell(&harmless(&figure.words));
        for line in wrap(&words, style.width.max(what + value + 24), &first, &rest) {
            text += line.trim_end();
            text.push('\n');
        }
    }
    text
}

fn shown(figure: &Fitted) -> String {
    figure.value.clone().unwrap_or_else(|| "not fitted".into())
}

/// One row for each load: measured, modelled, and the one over the other with its interval.
pub fn held(loads: &[ModelComparison], style: Style) -> String {
    let columns = vec![
        Column::words("point"),
        Column::figures("measured", 0),
        Column::figures("modelled", 0),
        Column::figures("ratio", 0),
        Column::figures("95 % CI", 1),
    ];
    let row = |load: &ModelComparison| {
        vec![
            Cell::plain(harmless(&load.name)),
            Cell::plain(per_s(load.measured.value)),
            Cell::plain(per_s(load.modelled)),
            Cell::of(Look::Title, format!("{:.2}", load.ratio.value)),
            Cell::plain(half(&load.ratio)),
        ]
    };
    Table { columns, rows: loads.iter().map(row).collect() }.draw(style).lines.join("\n") + "\n"
}

fn per_s(rate: f64) -> String {
    format!("{}/s", OpsPerSecond::new(rate))
}

fn half(ratio: &Figure) -> String {
    match (ratio.low, ratio.high) {
        (Some(low), Some(high)) => format!("±{:.2}", (high - low) / 2.0),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain() -> Style {
        Style { colour: false, unicode: true, width: 80 }
    }

    #[test]
    fn a_load_is_shown_with_what_the_model_gives_and_the_ratio() {
        let measured = Figure { value: 6_200.0, low: Some(6_100.0), high: Some(6_300.0) };
        let ratio = Figure { value: 0.62, low: Some(0.61), high: Some(0.63) };
        let load = ModelComparison { index: 0, name: "cold".into(), measured, modelled: 10_000.0, ratio };
        let text = held(&[load], plain());
        let row = text.lines().last().unwrap();
        assert_eq!(
            row.split_whitespace().collect::<Vec<_>>(),
            ["cold", "6,200/s", "10,000/s", "0.62", "±0.01"]
        );
    }

    #[test]
    fn what_was_not_fitted_says_so_and_why() {
        let figure = Fitted { what: "write cache".into(), value: None, words: "nothing was written".into() };
        assert_eq!(fitted(&[figure], plain()), "write cache  not fitted  nothing was written\n");
    }
}
