//! The path from a target to its media, as a tree.

use record::{Ceiling, PathPart};
use unicode_width::UnicodeWidthStr;
use units::convert::truncated;
use units::{Bytes, BytesPerSecond, OpsPerSecond};

use crate::style::{Look, Style};
use crate::words::{harmless, thousands, wrap};

/// Between the names and what is said of them.
const GAP: usize = 2;

/// The narrowest column that sentences are put into; the tree is drawn wider than asked rather than narrower than that.
const LEAST_WORDS: usize = 24;

/// Every part below the one it serves, with what it is, what it can do at most and why, its settings, and what could
/// not be found out.
pub fn path(part: &PathPart, style: Style) -> String {
    let mut rows = Vec::new();
    rows_of(part, "", "", style, &mut rows);
    let widest = rows.iter().map(|row| row.first.width()).max().unwrap_or(0);
    let words = style.width.saturating_sub(widest + GAP).max(LEAST_WORDS);
    let mut text = String::new();
    for row in &rows {
        let lines = row.words.iter().flat_map(|(look, line)| {
            let lines = wrap(line, words, "", "  ");
            lines.into_iter().map(move |line| (*look, line))
        });
        for (at, (look, line)) in lines.enumerate() {
            let left = if at == 0 { &row.first } else { &row.rest };
            let gap = " ".repeat(widest + GAP - left.width());
            text += format!("{left}{gap}{}", style.paint(look, &line)).trim_end();
            text.push('\n');
        }
    }
    text
}

/// One part: its name behind the branches, the branches alone for further lines, and what is said.
struct Row {
    first: String,
    rest: String,
    words: Vec<(Look, String)>,
}

fn rows_of(part: &PathPart, first: &str, rest: &str, style: Style, rows: &mut Vec<Row>) {
    let [fork, last, down, none] =
        if style.unicode { ["├─ ", "└─ ", "│  ", "   "] } else { ["|- ", "`- ", "|  ", "   "] };
    let stem = if part.below.is_empty() { none } else { down };
    rows.push(Row {
        first: format!("{first}{}", harmless(&part.name)),
        rest: format!("{rest}{stem}"),
        words: words(part, style),
    });
    for (at, below) in part.below.iter().enumerate() {
        let (branch, next) = if at + 1 == part.below.len() { (last, none) } else { (fork, down) };
        rows_of(below, &format!("{rest}{branch}"), &format!("{rest}{next}"), style, rows);
    }
}

fn words(part: &PathPart, style: Style) -> Vec<(Look, String)> {
    let again = if part.repeated { ", as above" } else { "" };
    let mut words = vec![(Look::Title, harmless(&format!("{}{again}", part.kind)))];
    words.extend(
        part.ceilings.iter().map(|ceiling| (Look::Plain, style.spell(&harmless(&sentence(ceiling))))),
    );
    let facts: Vec<String> = part.facts.iter().map(|(name, value)| format!("{name} {value}")).collect();
    if !facts.is_empty() {
        words.push((Look::Faint, harmless(&facts.join("; "))));
    }
    words
        .extend(part.unknown.iter().map(|reason| (Look::Warning, harmless(&format!("not known: {reason}")))));
    words
}

fn sentence(ceiling: &Ceiling) -> String {
    let each_way = if ceiling.each_way { " each way" } else { "" };
    format!("at most {}{each_way}: {}", amount(ceiling), ceiling.basis)
}

/// The value as people write it: `600 MB/s`, `240/s one at a time`, `32 in flight`, `requests of 1280 KiB`.
fn amount(ceiling: &Ceiling) -> String {
    let value = ceiling.value;
    match ceiling.unit.as_str() {
        "bytes_per_s" => BytesPerSecond::new(value).to_string(),
        "per_s" if ceiling.what == record::names::ceiling::ONE_AT_A_TIME => {
            format!("{}/s one at a time", OpsPerSecond::new(value))
        }
        "per_s" => format!("{}/s", OpsPerSecond::new(value)),
        "bytes" => format!("requests of {}", Bytes::new(truncated(value))),
        _ => format!("{} {}", thousands(truncated::<u64>(value)), ceiling.what),
    }
}
