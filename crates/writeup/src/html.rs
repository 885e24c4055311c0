//! A report as one page: no script, no other file, light and dark, on a screen and on paper.

use chart::{Chart, Theme, Unit, escaped};
use record::Severity;
use report::distinct;

use crate::document::{
    Block, Cell, Figure, KeyFigure, NEXT_TO_NOTHING, NOTHING, RunFacts, Section, Sentence, Span, Table,
    Warning, WriteUp, Written,
};
use crate::evidence::{Evidence, EvidenceError};
use crate::number::Number;
use crate::summary::meaning;

/// Widths of charts in pixels: on a page that has room, and on a telephone or beside each other.
const WIDE: f64 = 760.0;
const NARROW: f64 = 344.0;
/// Findings that are shown at once, the most severe first.
const FINDINGS: usize = 3;
/// Rows beyond which a table is folded away.
const LONG: usize = 14;

/// Where the records begin in a page, and where they end.
pub(crate) const EVIDENCE: (&str, &str) =
    (r#"<script type="application/x-fathom-evidence" id="evidence">"#, "</script>");

/// `report` as a page that holds the records it was drawn from.
pub fn html(report: &WriteUp, evidence: &Evidence) -> Result<String, EvidenceError> {
    let mut page = String::with_capacity(1 << 18);
    page += "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n";
    page += "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n";
    page += &format!(
        "<title>{}</title>\n<style>\n{}</style>\n</head>\n<body>\n<main>\n",
        escaped(&report.title),
        style()
    );
    page += &article(report);
    page += &closing(evidence);
    page += &format!("</main>\n{}{}{}\n</body>\n</html>\n", EVIDENCE.0, evidence.packed()?, EVIDENCE.1);
    Ok(page)
}

/// `report` as a part of another page, without records and without what tells a page's reader to verify them: what stands
/// in the page's `<main>`. [`style`] is its stylesheet.
pub fn article(report: &WriteUp) -> String {
    let sections: String = report.sections.iter().map(section).collect();
    header(report) + &sections + &warnings(&report.warnings) + &runs(&report.runs)
}

/// The stylesheet of [`html`] and of an [`article`]: light, dark and on paper.
pub fn style() -> String {
    let (light, dark) = (chart::style(Theme::Light, ""), chart::style(Theme::Dark, ""));
    let paper = chart::style(Theme::Light, "");
    format!(
        "{}{light}\n@media (prefers-color-scheme:dark){{{dark}}}\n@media print{{{paper}}}\n",
        include_str!("page.css")
    )
}

fn header(report: &WriteUp) -> String {
    let mut text = format!(
        "<header>\n<h1>{}</h1>\n<p class=\"answer\">{}</p>\n",
        escaped(&report.title),
        sentence(&report.answer)
    );
    if let Some(grade) = report.grade {
        text += &format!("<p class=\"grade\"><b>{grade}</b>Grade {grade}: {}</p>\n", meaning(grade));
    }
    if !report.key_figures.is_empty() {
        let figures: String = report.key_figures.iter().map(key_figure).collect();
        text += &format!("<div class=\"keys\">\n{figures}</div>\n{}", note(report.key_note()));
    }
    text + "</header>\n"
}

fn key_figure(figure: &KeyFigure) -> String {
    let band = figure.interval.written(&figure.figure).map(|written| band(&written, " to "));
    let note = if figure.note.is_empty() {
        String::new()
    } else {
        format!("<span class=\"note\">{}</span>", escaped(&figure.note))
    };
    format!(
        "<div><span class=\"value\">{}</span><span class=\"name\">{}</span>{}{note}</div>\n",
        number(&figure.figure, figure.figure.text()),
        escaped(&figure.name),
        band.unwrap_or_default()
    )
}

fn section(section: &Section) -> String {
    let mut text = format!("<section>\n<h2>{}</h2>\n", escaped(&section.heading));
    for block in &section.blocks {
        text += &match block {
            Block::Text(words) => format!("<p>{}</p>\n", sentence(words)),
            Block::Table(table) if table.rows.len() > LONG => folded(table) + &note(table.note()),
            Block::Table(table) => self::table(table) + &note(table.note()),
            Block::Figure(figure) => self::figure(figure),
        };
    }
    text + "</section>\n"
}

fn figure(figure: &Figure) -> String {
    let mut text = String::from("<figure>\n");
    // A heading is one sentence.
    let (heading, rest) = figure.reading.parted();
    if !heading.is_empty() {
        text += &format!("<h3>{}</h3>\n", sentence(&heading));
    }
    if !rest.is_empty() {
        text += &format!("<p>{}</p>\n", sentence(&rest));
    }
    let small = if figure.small { " small" } else { "" };
    text +=
        &format!("<p class=\"subtitle\">{}</p>\n<div class=\"panels{small}\">\n", escaped(&figure.subtitle));
    let reading = figure.reading.text();
    for (title, chart) in &figure.panels {
        text += "<div class=\"panel\">";
        if !title.is_empty() {
            text += &format!("<h4>{}</h4>", escaped(title));
        }
        let described = if title.is_empty() { reading.clone() } else { format!("{title}. {reading}") };
        text += &drawn(chart, figure.small, &described);
        text += "</div>\n";
    }
    text + "</div>\n" + &note(figure.table.note()) + &folded(&figure.table) + "</figure>\n"
}

/// What is said once below a chart or a table.
fn note(words: Option<String>) -> String {
    words.map_or_else(String::new, |words| format!("<p class=\"note\">{}</p>\n", escaped(&words)))
}

/// Small ones are drawn once; large ones for a page that has room, and for one that has not.
fn drawn(chart: &Chart, small: bool, described: &str) -> String {
    if small {
        return chart.svg(NARROW, described);
    }
    let (wide, narrow) = (chart.svg(WIDE, described), chart.svg(NARROW, described));
    format!("<div class=\"wide\">{wide}</div><div class=\"narrow\">{narrow}</div>")
}

fn folded(table: &Table) -> String {
    let title = if table.title.is_empty() { "the figures" } else { &table.title };
    let rows = match table.rows.len() {
        1 => "1 row".to_owned(),
        rows => format!("{rows} rows"),
    };
    format!("<details><summary>Table: {}, {rows}</summary>{}</details>\n", escaped(title), self::table(table))
}

/// Columns of words from which on a table is one of prose: on a narrow screen each of its rows is a list of its own.
const PROSE: usize = 4;

fn table(table: &Table) -> String {
    let is_prose = table.columns.iter().filter(|column| column.unit.is_none()).count() >= PROSE;
    let class = if is_prose { "scroll prose" } else { "scroll" };
    let mut text = format!("<div class=\"{class}\"><table>\n<thead><tr>");
    for column in &table.columns {
        let class = if column.unit.is_some() { " class=\"n\"" } else { "" };
        text += &format!("<th{class}>{}</th>", escaped(&column.head()));
    }
    text += "</tr></thead>\n<tbody>\n";
    for row in &table.rows {
        text += "<tr>";
        for (column, cell) in table.columns.iter().zip(row) {
            let label =
                if is_prose { format!(" data-head=\"{}\"", escaped(&column.head())) } else { String::new() };
            text += &self::cell(cell, column.unit.is_some(), &label);
        }
        text += "</tr>\n";
    }
    text + "</tbody></table></div>\n"
}

/// `label` is an attribute more, with the space before it, or nothing.
fn cell(cell: &Cell, is_number: bool, label: &str) -> String {
    let class = if is_number || matches!(cell, Cell::Number(..)) { " class=\"n\"" } else { "" };
    let class = format!("{class}{label}");
    match cell {
        Cell::Empty => format!("<td{class}><span class=\"faint\">–</span></td>"),
        Cell::Words(words) => format!("<td{class}>{}</td>", escaped(words)),
        Cell::Number(figure, interval) => {
            let band = interval.written(figure).map(|written| format!(" {}", band(&written, "–")));
            format!("<td{class}>{}{}</td>", number(figure, figure.bare()), band.unwrap_or_default())
        }
    }
}

/// An interval, with `to` between its ends.
fn band(written: &Written<'_>, to: &str) -> String {
    let told = match written {
        Written::Ends(low, high) => {
            format!("{}{to}{}", number(low, low.bare()), number(high, high.bare()))
        }
        Written::Around(half) if half.text() == NOTHING => format!("± {NEXT_TO_NOTHING}"),
        Written::Around(half) => format!("± {}", number(half, half.text())),
    };
    format!("<span class=\"band\">{told}</span>")
}

fn sentence(words: &Sentence) -> String {
    let span = |span: &Span| match span {
        Span::Words(words) => escaped(words),
        Span::Number(figure) => number(figure, figure.text()),
    };
    words.0.iter().map(span).collect()
}

/// A number with its value, its unit, and its place in the records.
fn number(number: &Number, shown: String) -> String {
    format!(
        r#"<data value="{}" data-unit="{}" data-at="{}">{}</data>"#,
        number.value,
        unit_name(number.unit),
        number.source,
        escaped(&shown)
    )
}

/// The names of units in a page.
pub(crate) const UNITS: [(Unit, &str); 10] = [
    (Unit::Count, "count"),
    (Unit::PerSecond, "per_s"),
    (Unit::BytesPerSecond, "bytes_per_s"),
    (Unit::Nanos, "ns"),
    (Unit::Seconds, "s"),
    (Unit::Bytes, "bytes"),
    (Unit::Share, "share"),
    (Unit::Chance, "chance"),
    (Unit::Ratio, "ratio"),
    (Unit::Tail, "tail"),
];
const _: () = {
    let mut at = 0;
    while at < UNITS.len() {
        let mut before = 0;
        while before < at {
            assert!(UNITS[before].0 as usize != UNITS[at].0 as usize, "a unit has one name");
            before += 1;
        }
        at += 1;
    }
};

fn unit_name(unit: Unit) -> &'static str {
    debug_assert!(UNITS.iter().any(|(own, _)| *own == unit), "every unit has a name on the page");
    UNITS.iter().find(|(own, _)| *own == unit).map_or("count", |(_, name)| name)
}

fn warnings(warnings: &[Warning]) -> String {
    if warnings.is_empty() {
        return String::new();
    }
    let each = |warning: &&Warning| {
        let class = match warning.severity {
            Severity::Note => "note",
            Severity::Warning => "warning",
            Severity::Invalid => "invalid",
        };
        let remedy = if warning.remedy.is_empty() {
            String::new()
        } else {
            format!("<br>{}", escaped(&warning.remedy))
        };
        let shown: Vec<String> = warning.places.iter().take(6).map(|place| escaped(place)).collect();
        let more = warning.places.len().saturating_sub(shown.len());
        let more = if more > 0 { format!("; {more} more") } else { String::new() };
        let places = if shown.is_empty() { String::new() } else { format!(" · {}{more}", shown.join("; ")) };
        format!(
            "<li class=\"{class}\">{}{remedy}<br><span class=\"code\">{class}: {}{places}</span></li>\n",
            escaped(&warning.sentence),
            escaped(&warning.code)
        )
    };
    let list = |warnings: &[&Warning]| {
        format!("<ul class=\"warnings\">\n{}</ul>\n", warnings.iter().map(each).collect::<String>())
    };
    // One of each kind, before others of the same kind.
    let is_new = |place: usize| !warnings[..place].iter().any(|known| known.code == warnings[place].code);
    let (new, again): (Vec<usize>, Vec<usize>) = (0..warnings.len()).partition(|place| is_new(*place));
    let ordered: Vec<&Warning> = new.into_iter().chain(again).map(|place| &warnings[place]).collect();
    debug_assert_eq!(ordered.len(), warnings.len(), "each warning has its place");
    let (first, others) = ordered.split_at(ordered.len().min(FINDINGS));
    let others = match others.len() {
        0 => String::new(),
        count => format!("<details><summary>{count} more</summary>{}</details>\n", list(others)),
    };
    format!("<section>\n<h2>Findings</h2>\n{}{others}</section>\n", list(first))
}

fn runs(runs: &[RunFacts]) -> String {
    let each = |run: &RunFacts| {
        let facts: String = run
            .facts
            .iter()
            .map(|(name, value)| format!("<dt>{}</dt><dd>{}</dd>\n", escaped(name), escaped(value)))
            .collect();
        format!(
            "<h3>{}</h3>\n<dl>\n{facts}</dl>\n<pre>{}</pre>\n<details><summary>The plan</summary><pre>{}</pre></details>\n",
            escaped(&run.label),
            escaped(&run.command),
            escaped(&run.plan)
        )
    };
    format!(
        "<section>\n<h2>How it was measured</h2>\n{}{}</section>\n",
        campaigns(runs),
        runs.iter().map(each).collect::<String>()
    )
}

/// The file of each campaign that `runs` are of, once: commands name it, and whoever repeats them may not have it.
fn campaigns(runs: &[RunFacts]) -> String {
    let files = runs.iter().map(|run| run.campaign.as_str()).filter(|file| !file.is_empty());
    let each = |file: &&str| {
        format!(
            "<details><summary>The campaign's file, which the commands below name</summary><pre>{}</pre></details>\n",
            escaped(file)
        )
    };
    distinct(files).iter().map(each).collect()
}

/// Who wrote the page, in its last line.
pub(crate) fn writer(evidence: &Evidence) -> String {
    format!("Written by fathom {}.", escaped(&evidence.drawn_by()))
}

fn closing(evidence: &Evidence) -> String {
    format!(
        "<footer>\n<p class=\"faint\">{} Every number carries its place in the records, which are in this \
         file; <code>fathom report --verify FILE</code> computes all of them again.</p>\n</footer>\n",
        writer(evidence)
    )
}
