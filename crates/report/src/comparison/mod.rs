//! Runs held against each other: for a terminal, a ticket, a spreadsheet and programs.

mod figures;
mod formats;
mod overall;
mod settings;

use record::{Compared, Comparison, Side, Unmatched, Verdict};

use self::figures::{Columns, figures, percent, table_of, table_rows};
pub use self::formats::{COMPARISON_COLUMNS, comparison_csv, comparison_json, comparison_markdown};
use self::overall::overall;
pub use self::settings::LOADS_DIFFER;
use self::settings::settings;
use crate::judgement::culprit;
use crate::style::{Look, Style};
use crate::words::{counted, harmless, wrap};

/// `comparison` as text: the sides, what is set otherwise, the table of figures, what could not be compared, what a reader
/// has to know, and last what it comes to. Ends with a line end.
///
/// Throughput is left out of the table where it changes exactly as the rate does. Of more than two sides, and not in
/// `full`, the table comes first and has what fits one screen: figures, change and verdict.
pub fn comparison(comparison: &Comparison, style: Style, full: bool) -> String {
    if comparison.sides.len() > 2 && !full {
        return one_screen(comparison, style);
    }
    let mut sections =
        vec![sides(comparison, style), settings(comparison, style), figures(comparison, style)];
    sections.insert(1, doubts(comparison, style));
    let slower: Vec<String> = comparison.culprit.iter().map(culprit).collect();
    sections.push(wrapped(&slower, style));
    sections.push(wrapped(&unmatched(comparison), style));
    sections.push(wrapped(&comparison.notes, style));
    sections.push(wrapped(&overall(comparison, &table_rows(comparison)), style));
    sections.retain(|section| !section.is_empty());
    let sections: Vec<String> = sections.iter().map(|section| section.join("\n")).collect();
    sections.join("\n\n") + "\n"
}

/// Rows of a table that still leave room on a screen of 50 lines.
const SCREEN_ROWS: usize = 30;

/// Rate, median and 99th percentile of all operations, those that differ first where not all fit.
fn one_screen(comparison: &Comparison, style: Style) -> String {
    let wanted =
        |row: &&Compared| row.total && matches!(row.metric.as_str(), "iops" | "p50" | "p99" | "met_per_s");
    let mut rows: Vec<&Compared> = comparison.rows.iter().filter(wanted).collect();
    if rows.len() > SCREEN_ROWS {
        let differs = |row: &&Compared| matches!(row.verdict, Verdict::Better | Verdict::Worse);
        let (mut first, rest): (Vec<_>, Vec<_>) = rows.iter().copied().partition(differs);
        first.extend(rest);
        first.truncate(SCREEN_ROWS);
        rows.retain(|row| first.iter().any(|kept| std::ptr::eq(*kept, *row)));
    }
    debug_assert!(rows.len() <= SCREEN_ROWS, "what is shown fits one screen");
    let mut lines = vec![style.paint(Look::Title, &title(comparison))];
    for side in &comparison.sides {
        let text = harmless(&format!("{}: {}{}", side.name, side.about, graded(side)));
        lines.extend(wrap(&style.spell(&text), style.width, "  ", "    "));
    }
    lines.extend(doubts(comparison, style));
    lines.push(String::new());
    let mut notes = vec![];
    if comparison.rows.is_empty() {
        notes.extend(comparison.notes.clone());
    } else {
        let drawn = table_of(comparison, &rows, Columns::Few).draw(style);
        lines.extend(drawn.lines);
        notes.push(summary(comparison, &rows, false));
        if !drawn.left_out.is_empty() {
            notes.push(format!("Columns hidden: {}.", drawn.left_out.join(", ")));
        }
    }
    notes.push(format!(
        "{} of {} figures are shown; `--full` shows all of them with their intervals, the configuration differences ({} \
         settings), points of only some sides ({}) and {} notes.",
        rows.len(),
        table_rows(comparison).len(),
        comparison.settings.len(),
        comparison.unmatched.len(),
        comparison.notes.len()
    ));
    lines.extend(wrapped(&notes, style));
    let overall = wrapped(&overall(comparison, &rows), style);
    if !overall.is_empty() {
        lines.push(String::new());
    }
    lines.extend(overall);
    lines.join("\n") + "\n"
}

/// `A`; of sides that a key parts, key and value: `raid=5`.
fn name_of(comparison: &Comparison, side: u32) -> String {
    let name = comparison.sides.get(side as usize).map(|side| harmless(&side.name)).unwrap_or_default();
    match &comparison.by {
        Some(key) if !name.is_empty() => format!("{}={name}", harmless(key)),
        _ => name,
    }
}

fn title(comparison: &Comparison) -> String {
    let names: Vec<String> =
        (0u32..).zip(&comparison.sides).map(|(side, _)| name_of(comparison, side)).collect();
    format!("{} compared", names.join(", "))
}

fn sides(comparison: &Comparison, style: Style) -> Vec<String> {
    const NAMED: usize = 3;
    let mut lines = vec![style.paint(Look::Title, &title(comparison))];
    for (number, side) in (0u32..).zip(&comparison.sides) {
        let more = side.runs.len().saturating_sub(NAMED);
        let runs = side.runs.iter().take(NAMED).cloned().collect::<Vec<_>>().join(", ");
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let text = harmless(&format!(
            "{}: {} (run {runs}{more}){}",
            name_of(comparison, number),
            side.about,
            graded(side)
        ));
        lines.extend(wrap(&style.spell(&text), style.width, "  ", "    "));
    }
    lines
}

/// Its grade, as it stands behind a side; nothing where it was not judged.
fn graded(side: &Side) -> String {
    side.grade.map(|grade| format!(", grade {grade}")).unwrap_or_default()
}

/// Which sides are no measurement of what they seem to be.
fn doubts(comparison: &Comparison, style: Style) -> Vec<String> {
    let Some(doubted) = comparison.doubted() else { return Vec::new() };
    wrapped(&[doubted], style).iter().map(|line| style.paint(Look::Wrong, line)).collect()
}

/// How many of the figures in `rows`, which a reader sees, differ, are equivalent, and are not decided, and what that
/// rests on; with what the column of the smallest effect says where `is_effect_shown`.
fn summary(comparison: &Comparison, rows: &[&Compared], is_effect_shown: bool) -> String {
    let count = |wanted: &[Verdict]| rows.iter().filter(|row| wanted.contains(&row.verdict)).count();
    let differ = count(&[Verdict::Better, Verdict::Worse]);
    let is_bare = |row: &&&Compared| row.verdict == Verdict::Inconclusive && row.low.is_none();
    let bare = rows.iter().filter(is_bare).count();
    let (equivalent, open) = (count(&[Verdict::Equivalent]), count(&[Verdict::Inconclusive]) - bare);
    let offered = count(&[Verdict::Offered]);
    debug_assert_eq!(differ + equivalent + open + bare + offered, rows.len(), "each figure has one verdict");
    let margin = percent(comparison.margin);
    if bare > 0 && bare == rows.len() {
        return format!(
            "None of the {} can be decided: too few requests, or too short a time, to tell how far chance moves a figure; measure \
             each side for 10 s or longer, or repeat (`--runs 5`).",
            counted(rows.len(), "figure")
        );
    }
    let are = |count: usize| if count == 1 { "is" } else { "are" };
    let mut text = format!(
        "{differ} of {} {}, {equivalent} {} equivalent within \u{b1} {margin}, {open} {} inconclusive{}.",
        counted(rows.len(), "figure"),
        if differ == 1 { "differs" } else { "differ" },
        are(equivalent),
        are(open),
        if bare > 0 { format!(", {bare} without a CI") } else { String::new() }
    );
    if offered > 0 {
        text += " `Offered`: the plan sets that rate, and it was reached; compare the latencies.";
    }
    if differ > 0 {
        text += " Of such differences no more than one in twenty is chance.";
    }
    if bare > 0 {
        text += " `No CI`: requests were too few, or depended on each other too much, to tell how far chance moves that \
                 figure, so its change has no verdict; measure longer, or repeat.";
    }
    if open > 0 {
        text += " `Inconclusive` does not mean equal: too little was measured, or the figures vary too much; measure longer, or \
                 repeat.";
        let has_effect = rows.iter().any(|row| row.detectable_effect.is_some());
        if is_effect_shown && has_effect {
            text += " A difference of the size of `min. effect` is found nine times in ten.";
        }
    }
    text
}

fn unmatched(comparison: &Comparison) -> Vec<String> {
    let mut lines: Vec<(Vec<u32>, Vec<String>)> = Vec::new();
    for Unmatched { cell, sides } in &comparison.unmatched {
        match lines.iter_mut().find(|(of, _)| of == sides) {
            Some((_, cells)) => cells.push(harmless(cell)),
            None => lines.push((sides.clone(), vec![harmless(cell)])),
        }
    }
    let line = |(sides, cells): (Vec<u32>, Vec<String>)| {
        let names: Vec<String> = sides.iter().map(|side| name_of(comparison, *side)).collect();
        format!("Only in {}, and not compared: {}.", names.join(" and "), cells.join(", "))
    };
    lines.into_iter().map(line).collect()
}

fn wrapped(sentences: &[String], style: Style) -> Vec<String> {
    let wrapped = |text: &String| wrap(&style.spell(&harmless(text)), style.width, "", "  ");
    sentences.iter().flat_map(wrapped).collect()
}

#[cfg(test)]
mod tests {
    use record::{Basis, Grade, Op, Setting};

    use super::*;

    const NARROW: Style = Style { colour: false, unicode: true, width: 80 };

    fn row(metric: &str, unit: &str, ratio: f64, verdict: Verdict) -> Compared {
        let off = if verdict == Verdict::Inconclusive { 5.0 } else { 1.1 };
        let interval = Some((ratio / off, ratio * off));
        Compared {
            cell: "100% reads, queue depth 16".into(),
            workload: "main".into(),
            op: Op::Read.into(),
            total: true,
            metric: metric.into(),
            unit: unit.into(),
            side: 1,
            base: 34_112.0,
            value: 34_112.0 * ratio,
            ratio,
            low: interval.map(|(low, _)| low),
            high: interval.map(|(_, high)| high),
            value_low: None,
            value_high: None,
            p_value: None,
            adjusted_p: None,
            noise_floor: interval.map(|_| 0.04),
            detectable_effect: interval.map(|_| 0.47),
            repeats: [1, 1],
            basis: Basis::Seconds,
            verdict,
        }
    }

    fn held(rows: Vec<Compared>) -> Comparison {
        let side = |name: &str, grade, doubts: &[&str]| Side {
            name: name.into(),
            runs: vec![format!("run-{name}")],
            about: "random on f256".into(),
            grade: Some(grade),
            doubts: doubts.iter().map(|doubt| (*doubt).to_owned()).collect(),
        };
        let sides = vec![side("A", Grade::B, &[]), side("B", Grade::E, &["was answered by the page cache"])];
        Comparison { rows, margin: 0.05, ..Comparison::of(None, sides) }
    }

    fn rates() -> Vec<Compared> {
        vec![
            row("iops", "per_s", 5.97, Verdict::Better),
            row("mb_per_s", "bytes_per_s", 5.97, Verdict::Better),
            row("p99", "ns", 0.45, Verdict::Inconclusive),
        ]
    }

    #[test]
    fn the_grades_and_what_is_not_comparable_stand_before_the_first_figure() {
        let held = held(rates());
        for text in [comparison(&held, NARROW, false), comparison_markdown(&held)] {
            let place = |words: &str| text.find(words).unwrap_or_else(|| panic!("{words}: {text}"));
            assert!(place("grade B") < place("34,112") && place("grade E") < place("34,112"));
            assert!(place("Not comparable: B was answered by the page cache (grade E).") < place("34,112"));
            assert!(text.contains("differs") && !text.contains("better"), "{text}");
        }
    }

    #[test]
    fn only_figures_that_are_shown_are_counted_and_one_is_one() {
        let text = comparison(&held(rates()), NARROW, false).replace("\n  ", " ");
        assert!(!text.contains("MB/s"), "{text}");
        assert!(
            text.contains("1 of 2 figures differs, 0 are equivalent within ± 5.0 %, 1 is inconclusive."),
            "{text}"
        );
    }

    #[test]
    fn a_change_without_an_interval_has_no_verdict_and_is_counted_apart() {
        let mut rows = rates();
        (rows[2].low, rows[2].high) = (None, None);
        let text = comparison(&held(rows), NARROW, false).replace("\n  ", " ");
        assert!(text.contains("no CI") && text.contains("0 are inconclusive, 1 without a CI."), "{text}");
        assert!(!text.contains("`Inconclusive` does not mean"), "{text}");
    }

    #[test]
    fn where_no_change_has_an_interval_that_is_said_once_and_nothing_is_counted_as_equal() {
        let mut rows = rates();
        for row in &mut rows {
            (row.low, row.high, row.verdict) = (None, None, Verdict::Inconclusive);
        }
        let text = comparison(&held(rows), NARROW, false).replace("\n  ", " ");
        assert!(
            text.contains("None of the 2 figures can be decided") && text.contains("10 s or longer"),
            "{text}"
        );
        assert!(!text.contains("no CI") && !text.contains("0 of 2"), "{text}");
    }

    #[test]
    fn sides_that_a_key_parts_are_named_by_key_and_value() {
        let mut held = held(rates());
        held.by = Some("raid".into());
        (held.sides[0].name, held.sides[1].name) = ("5".into(), "10".into());
        let text = comparison(&held, Style { width: 200, ..NARROW }, false);
        assert!(text.starts_with("raid=5, raid=10 compared\n") && text.contains("against raid=5"), "{text}");
    }

    #[test]
    fn both_figures_stay_where_there_is_little_room_and_a_column_that_is_hidden_is_not_explained() {
        let mut rows = rates();
        rows[0].cell += ", with a name that leaves no room";
        rows[2].cell = rows[0].cell.clone();
        rows[1].cell = rows[0].cell.clone();
        let text = comparison(&held(rows.clone()), NARROW, false);
        assert!(text.contains("34,112") && text.contains("203,649"), "{text}");
        assert!(!text.contains("A difference of the size of `min. effect`"), "{text}");
        let wide = comparison(&held(rows), Style { width: 200, ..NARROW }, false);
        assert!(wide.contains("A difference of the size of `min. effect`"), "{wide}");
    }

    #[test]
    fn the_last_sentence_says_what_all_of_it_comes_to() {
        let last = |held: &Comparison| {
            let text = comparison(held, Style { width: 400, ..NARROW }, false);
            text.lines().last().unwrap_or_default().to_owned()
        };
        let sound = |rows: Vec<Compared>| {
            let mut held = held(rows);
            held.sides.iter_mut().for_each(|side| side.grade = Some(Grade::B));
            held
        };
        let is = |metric: &str, ratio: f64, verdict| row(metric, "ns", ratio, verdict);
        assert_eq!(
            last(&sound(rates())),
            "Overall: B is better than A in 1 of 2 figures and worse in none; the largest change is IOPS of 100% reads, \
             queue depth 16, +497 %."
        );
        let mixed = vec![is("p50", 0.9, Verdict::Better), is("p99", 1.5, Verdict::Worse)];
        assert!(last(&sound(mixed)).starts_with(
            "Overall: mixed: B is better than A in 1 of 2 figures and worse in 1; the largest change is p99 of "
        ));
        let equal = vec![is("p50", 1.0, Verdict::Equivalent)];
        assert_eq!(last(&sound(equal)), "Overall: B and A are equivalent within \u{b1} 5.0 %.");
        let mut slight = vec![is("p50", 1.013, Verdict::Equivalent), is("p99", 1.2, Verdict::Inconclusive)];
        (slight[0].low, slight[0].high) = (Some(1.0098), Some(1.016));
        assert_eq!(
            last(&sound(slight)),
            "Overall: B is 1.3 % worse in p50 of 100% reads, queue depth 16 (95 % CI +0.98 % to +1.6 %), within the ± 5.0 % \
             that counts as equal; 1 of 2 figures are equivalent."
        );
        let open = vec![is("p50", 1.2, Verdict::Inconclusive)];
        assert_eq!(
            last(&sound(open)),
            "Overall: no difference between B and A is shown, nor that they are equal."
        );
        // A side that the page cache answered is neither better nor worse.
        assert!(last(&held(rates())).starts_with("Overall: no verdict on B against A"));
    }

    #[test]
    fn what_an_option_of_an_array_was_changed_from_and_to_is_said_first() {
        let mut held = held(rates());
        let setting = |key: &str, values: [&str; 2]| Setting {
            key: key.into(),
            values: values.map(|value| Some(value.to_owned())).into(),
        };
        let addresses = ["array:md3000", "array:md3000?link.rate=145MB/s"];
        held.settings =
            vec![setting("target", addresses), setting("target option link.rate", ["290MB/s", "145MB/s"])];
        let text = comparison(&held, NARROW, false);
        assert!(text.contains("A and B differ in: link.rate 290MB/s → 145MB/s."), "{text}");
        assert!(!text.contains("configuration differences"), "{text}");
    }

    #[test]
    fn a_setting_that_would_be_a_paragraph_is_cut_to_what_it_says_first() {
        let long = format!("256.00 MiB: {}", "as the plan asks for no more than that, and ".repeat(12));
        let mut held = held(rates());
        held.settings = vec![Setting { key: "target scratch size".into(), values: vec![Some(long), None] }];
        let text = comparison(&held, NARROW, false);
        assert!(text.contains("256.00 MiB") && !text.contains("no more than that"), "{text}");
    }
}
