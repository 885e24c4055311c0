//! Runs held against each other: for a terminal, a ticket, a spreadsheet and programs.

use record::{Compared, Comparison, Setting, Side, Unmatched, Verdict};
use unicode_width::UnicodeWidthStr;
use units::{BytesPerSecond, Nanos, OpsPerSecond};

use crate::ReportError;
use crate::markdown;
use crate::style::{Look, Style};
use crate::table::{Cell, Column, Table};
use crate::words::{counted, csv_cell, cut, harmless, wrap};

/// The names of the columns of [`comparison_csv`], in their order. A column is only ever added, at the end.
pub const COMPARISON_COLUMNS: [&str; 24] = [
    "cell",
    "workload",
    "op",
    "total",
    "metric",
    "unit",
    "base_side",
    "side",
    "base",
    "value",
    "ratio",
    "ratio_low",
    "ratio_high",
    "p_value",
    "adjusted_p",
    "noise_floor",
    "detectable_effect",
    "base_repeats",
    "repeats",
    "basis",
    "verdict",
    "value_low",
    "value_high",
    "margin",
];

/// `comparison` as text: the sides, what is set otherwise, the table of figures, what could not be compared, and what
/// a reader has to know. Ends with a line end.
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
    sections.push(wrapped(&unmatched(comparison), style));
    sections.push(wrapped(&comparison.notes, style));
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
    lines.join("\n") + "\n"
}

/// How much of each figure a table has.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Columns {
    /// The figure on both sides, the change and the verdict.
    Few,
    /// How sure that is as well.
    All,
}

/// The same as GitHub-flavoured Markdown.
pub fn comparison_markdown(comparison: &Comparison) -> String {
    let mut text = format!("### {}\n\n", markdown::escaped(&title(comparison)));
    for side in &comparison.sides {
        let line = format!("{}: {} ({}){}", side.name, side.about, side.runs.join(", "), graded(side));
        text += &format!("- {}\n", markdown::escaped(&harmless(&line)));
    }
    if let Some(doubted) = comparison.doubted() {
        text += &format!("\n**{}**\n", markdown::escaped(&harmless(&doubted)));
    }
    if !comparison.settings.is_empty() {
        text += &format!("\n{}", markdown::drawn(&settings_table(comparison, usize::MAX)));
    }
    if !comparison.rows.is_empty() {
        let rows = table_rows(comparison);
        let drawn = markdown::drawn(&table_of(comparison, &rows, Columns::All));
        text += &format!("\n{drawn}\n{}\n", summary(comparison, &rows, true));
    }
    let rest: Vec<String> = unmatched(comparison).into_iter().chain(comparison.notes.clone()).collect();
    if !rest.is_empty() {
        text.push('\n');
    }
    for line in rest {
        text += &format!("- {}\n", markdown::prose(&line));
    }
    text
}

/// The comparison itself, indented, with a line end.
pub fn comparison_json(comparison: &Comparison) -> Result<String, ReportError> {
    let text = serde_json::to_string_pretty(comparison);
    text.map(|text| text + "\n").map_err(|error| unwritable(comparison, "JSON", &error.to_string()))
}

/// One line for each figure, under a line of titles; ratios as numbers, figures in the base unit that the line names.
pub fn comparison_csv(comparison: &Comparison) -> Result<String, ReportError> {
    let unwritable = |why: String| unwritable(comparison, "CSV", &why);
    let mut writer = csv::WriterBuilder::new().terminator(csv::Terminator::CRLF).from_writer(Vec::new());
    writer.write_record(COMPARISON_COLUMNS).map_err(|error| unwritable(error.to_string()))?;
    for row in &comparison.rows {
        let row = fields(comparison, row).map(|text| csv_cell(&text));
        writer.write_record(row).map_err(|error| unwritable(error.to_string()))?;
    }
    let bytes = writer.into_inner().map_err(|error| unwritable(error.to_string()))?;
    String::from_utf8(bytes).map_err(|error| unwritable(error.to_string()))
}

fn unwritable(comparison: &Comparison, format: &'static str, why: &str) -> ReportError {
    let ids = comparison.sides.iter().flat_map(|side| &side.runs).cloned().collect::<Vec<_>>().join(", ");
    ReportError::Unwritable { id: ids, format, why: why.into() }
}

fn fields(comparison: &Comparison, row: &Compared) -> [String; 24] {
    let number = |value: Option<f64>| value.map(|value| value.to_string()).unwrap_or_default();
    [
        row.cell.clone(),
        row.workload.clone(),
        row.op.to_string(),
        row.total.to_string(),
        row.metric.clone(),
        row.unit.clone(),
        name_of(comparison, 0),
        name_of(comparison, row.side),
        row.base.to_string(),
        row.value.to_string(),
        row.ratio.to_string(),
        number(row.low),
        number(row.high),
        number(row.p_value),
        number(row.adjusted_p),
        number(row.noise_floor),
        number(row.detectable_effect),
        row.repeats[0].to_string(),
        row.repeats[1].to_string(),
        word(&row.basis),
        word(&row.verdict),
        number(row.value_low),
        number(row.value_high),
        comparison.margin.to_string(),
    ]
}

/// As it is spelled in JSON.
fn word<T: serde::Serialize>(value: &T) -> String {
    serde_json::to_value(value).ok().and_then(|value| value.as_str().map(str::to_owned)).unwrap_or_default()
}

fn name_of(comparison: &Comparison, side: u32) -> String {
    comparison.sides.get(side as usize).map(|side| harmless(&side.name)).unwrap_or_default()
}

fn title(comparison: &Comparison) -> String {
    let names: Vec<String> = comparison.sides.iter().map(|side| harmless(&side.name)).collect();
    match &comparison.by {
        Some(by) => format!("{} by {}", names.join(", "), harmless(by)),
        None => format!("{} compared", names.join(", ")),
    }
}

fn sides(comparison: &Comparison, style: Style) -> Vec<String> {
    const NAMED: usize = 3;
    let mut lines = vec![style.paint(Look::Title, &title(comparison))];
    for side in &comparison.sides {
        let more = side.runs.len().saturating_sub(NAMED);
        let runs = side.runs.iter().take(NAMED).cloned().collect::<Vec<_>>().join(", ");
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let text = harmless(&format!("{}: {} (run {runs}{more}){}", side.name, side.about, graded(side)));
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

fn settings(comparison: &Comparison, style: Style) -> Vec<String> {
    if comparison.settings.is_empty() {
        return wrapped(&["No configuration differences are known.".into()], style);
    }
    let keys = comparison.settings.iter().map(|setting| setting.key.width()).max().unwrap_or(0);
    let sides = comparison.sides.len().max(1);
    // Of two sides one may be as wide as the screen leaves it, so that both are read in full, over several lines.
    let room = style.width.saturating_sub(keys.max(DIFFERENCE.len()) + 2 * sides) / sides;
    settings_table(comparison, room.max(VALUE_MIN)).draw(style).lines
}

/// The heading of what differs.
const DIFFERENCE: &str = "configuration differences";
/// A value is not broken into lines shorter than this.
const VALUE_MIN: usize = 12;

/// A row for each setting, and one more for each line that a value takes in `room`.
fn settings_table(comparison: &Comparison, room: usize) -> Table {
    let mut columns = vec![Column::words(DIFFERENCE)];
    columns
        .extend((0u32..).zip(&comparison.sides).map(|(side, _)| Column::words(&name_of(comparison, side))));
    let rows = |setting: &Setting| {
        let value = |value: &Option<String>| {
            let lines = wrap(&harmless(&short(value.as_deref().unwrap_or("-"), room)), room, "", "");
            lines.iter().flat_map(|line| pieces(line, room)).collect()
        };
        let values: Vec<Vec<String>> = setting.values.iter().map(value).collect();
        let height = values.iter().map(Vec::len).max().unwrap_or(1);
        let row = |line: usize| {
            let key = if line == 0 { harmless(&setting.key) } else { String::new() };
            let parts = values.iter().map(|lines| lines.get(line).cloned().unwrap_or_default());
            std::iter::once(key).chain(parts).map(Cell::plain).collect::<Vec<_>>()
        };
        (0..height).map(row).collect::<Vec<_>>()
    };
    Table { columns, rows: comparison.settings.iter().flat_map(rows).collect() }
}

/// Lines that a value takes at most.
const VALUE_LINES: usize = 3;

/// `value`, or of a text with a reason behind it what stands before that, and no more than some lines of `room`.
fn short(value: &str, room: usize) -> String {
    if room == usize::MAX {
        return value.to_owned();
    }
    let is_long = |text: &str| wrap(text, room, "", "").len() > VALUE_LINES;
    let ends = [": ", "; ", ", because ", " because ", " (", ", "];
    let before = |end: &str| value.split_once(end).map(|(before, _)| before);
    match is_long(value) {
        false => value.to_owned(),
        true => {
            let brief = ends.into_iter().filter_map(before).find(|text| !is_long(text)).unwrap_or(value);
            cut(brief, room * VALUE_LINES - 1, "…")
        }
    }
}

/// A word that is longer than a line, such as mount options, in several.
fn pieces(line: &str, room: usize) -> Vec<String> {
    let letters: Vec<char> = line.chars().collect();
    letters.chunks(room).map(|piece| piece.iter().collect()).collect()
}

fn figures(comparison: &Comparison, style: Style) -> Vec<String> {
    if comparison.rows.is_empty() {
        return Vec::new();
    }
    let rows = table_rows(comparison);
    let drawn = table_of(comparison, &rows, Columns::All).draw(style);
    let mut lines = drawn.lines;
    let is_effect_shown = !drawn.left_out.iter().any(|column| column == EFFECT);
    let mut notes = vec![summary(comparison, &rows, is_effect_shown)];
    if !drawn.left_out.is_empty() {
        notes.push(format!("Columns hidden: {}.", drawn.left_out.join(", ")));
    }
    lines.extend(wrapped(&notes, style));
    lines
}

/// The rows that a table has: all but throughput that says the same as the rate.
fn table_rows(comparison: &Comparison) -> Vec<&Compared> {
    comparison.rows.iter().filter(|row| !repeats_the_rate(comparison, row)).collect()
}

/// The heading of the change that would have been found.
const EFFECT: &str = "min. effect";

fn table_of(comparison: &Comparison, chosen: &[&Compared], wanted: Columns) -> Table {
    debug_assert!(
        comparison.rows.iter().all(|row| (1..comparison.sides.len()).contains(&(row.side as usize))),
        "a row is of a side beside the baseline"
    );
    let several = comparison.sides.len() > 2;
    let titles = if several {
        [format!("base {}", name_of(comparison, 0)), "figure".to_owned()]
    } else {
        [0, 1].map(|side| name_of(comparison, side))
    };
    let mut columns = vec![
        Column::words("point"),
        Column::words("figure"),
        Column::words("side"),
        Column::figures(&titles[0], 1),
        Column::figures(&titles[1], 1),
        Column::figures("change", 0),
        Column::figures("95 %", 2),
        Column::figures("A/A noise", 6),
        Column::figures(EFFECT, 3),
        Column::words("verdict"),
    ];
    let few = wanted == Columns::Few;
    if few {
        columns.drain(6..9);
    }
    let mut rows = Vec::new();
    let mut before = String::new();
    for row in chosen {
        let cell = cell_of(comparison, row);
        let shown = if cell == before { String::new() } else { cell.clone() };
        before = cell;
        let side = if several { name_of(comparison, row.side) } else { String::new() };
        let mut drawn = cells(row, shown, side, comparison.is_doubted(row));
        if few {
            drawn.drain(6..9);
        }
        rows.push(drawn);
    }
    Table { columns, rows }
}

/// Whether this is a throughput that changes exactly as the rate of the same cell: every request has the same size.
fn repeats_the_rate(comparison: &Comparison, row: &Compared) -> bool {
    let same = |other: &&Compared| {
        other.metric == "iops"
            && (&other.cell, &other.workload, &other.op, other.side)
                == (&row.cell, &row.workload, &row.op, row.side)
    };
    row.metric == "mb_per_s"
        && comparison.rows.iter().find(same).is_some_and(|rate| (rate.ratio / row.ratio - 1.0).abs() < 1e-9)
}

/// The cell, with workload and operation where they are needed to tell it from others.
fn cell_of(comparison: &Comparison, row: &Compared) -> String {
    let alone = comparison.rows.iter().all(|other| other.cell != row.cell || other.workload == row.workload);
    let mut name = harmless(&row.cell);
    if !alone {
        name += &format!(" / {}", harmless(&row.workload));
    }
    if !row.total {
        name += &format!(" {}", row.op);
    }
    name
}

/// The cells of a row; where a side is no measurement of what it seems to be, a difference is neither better nor worse.
fn cells(row: &Compared, cell: String, side: String, is_doubted: bool) -> Vec<Cell> {
    let interval = row.low.zip(row.high).map(|(low, high)| format!("{} to {}", change(low), change(high)));
    let (look, verdict) = match row.verdict {
        Verdict::Better | Verdict::Worse if is_doubted => (Look::Faint, "differs"),
        Verdict::Better => (Look::Title, "better"),
        Verdict::Worse => (Look::Wrong, "worse"),
        Verdict::Equivalent => (Look::Plain, "equivalent"),
        Verdict::Inconclusive => (Look::Faint, "inconclusive"),
    };
    let part = |part: Option<f64>| part.map(percent).unwrap_or_default();
    vec![
        Cell::plain(cell),
        Cell::plain(match row.metric.as_str() {
            "iops" => "IOPS".into(),
            "mb_per_s" => "MB/s".into(),
            "met_per_s" => "highest rate".into(),
            other => harmless(other),
        }),
        Cell::plain(side),
        Cell::plain(figure(row, row.base)),
        Cell::plain(figure(row, row.value)),
        Cell::plain(change(row.ratio)),
        Cell::of(Look::Faint, interval.unwrap_or_default()),
        Cell::of(Look::Faint, part(row.noise_floor)),
        Cell::of(Look::Faint, part(row.detectable_effect)),
        Cell::of(look, verdict),
    ]
}

fn figure(row: &Compared, value: f64) -> String {
    match row.unit.as_str() {
        "per_s" => OpsPerSecond::new(value).to_string(),
        "bytes_per_s" => BytesPerSecond::new(value).to_string().trim_end_matches(" MB/s").to_owned(),
        _ => Nanos::from_secs_f64(value / 1e9).to_string(),
    }
}

/// `+4.1 %`, `-12 %`, `0 %`.
fn change(ratio: f64) -> String {
    debug_assert!(ratio >= 0.0, "figures are not below zero");
    let percent = (ratio - 1.0) * 100.0;
    let digits = digits(percent.abs());
    let text = format!("{percent:+.digits$} %");
    if ratio == 1.0 { "0 %".into() } else { text }
}

fn percent(part: f64) -> String {
    let percent = part * 100.0;
    format!("{percent:.*} %", digits(percent))
}

/// Two figures that say something, as long as there is more than a hundredth of a per cent.
fn digits(percent: f64) -> usize {
    match percent {
        9.95.. => 0,
        0.995.. => 1,
        _ => 2,
    }
}

/// How many of the figures in `rows`, which a reader sees, differ, are equivalent, and are not decided, and what that
/// rests on; with what the column of the smallest effect says where `is_effect_shown`.
fn summary(comparison: &Comparison, rows: &[&Compared], is_effect_shown: bool) -> String {
    let count = |wanted: &[Verdict]| rows.iter().filter(|row| wanted.contains(&row.verdict)).count();
    let differ = count(&[Verdict::Better, Verdict::Worse]);
    let (equivalent, open) = (count(&[Verdict::Equivalent]), count(&[Verdict::Inconclusive]));
    let margin = percent(comparison.margin);
    let are = |count: usize| if count == 1 { "is" } else { "are" };
    let mut text = format!(
        "{differ} of {} {}, {equivalent} {} equivalent within \u{b1} {margin}, {open} {} inconclusive.",
        counted(rows.len(), "figure"),
        if differ == 1 { "differs" } else { "differ" },
        are(equivalent),
        are(open)
    );
    if differ > 0 {
        text += " Of such differences no more than one in twenty is chance.";
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
    use record::{Basis, Grade, Op};

    use super::*;

    const NARROW: Style = Style { colour: false, unicode: true, width: 80 };

    fn row(metric: &str, unit: &str, ratio: f64, verdict: Verdict) -> Compared {
        let interval = (verdict != Verdict::Inconclusive).then_some((ratio * 0.9, ratio * 1.1));
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
    fn a_setting_that_would_be_a_paragraph_is_cut_to_what_it_says_first() {
        let long = format!("256.00 MiB: {}", "as the plan asks for no more than that, and ".repeat(12));
        let mut held = held(rates());
        held.settings = vec![Setting { key: "target scratch size".into(), values: vec![Some(long), None] }];
        let text = comparison(&held, NARROW, false);
        assert!(text.contains("256.00 MiB") && !text.contains("no more than that"), "{text}");
    }
}
