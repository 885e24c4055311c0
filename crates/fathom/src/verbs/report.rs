//! `fathom report`

use std::fs;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use explain::compare::{Group, compare as compared};
use record::{Comparison, Run};
use report::distinct;
use units::Share;
use writeup::{Evidence, Figure, WriteUp};

use super::compare::{CAMPAIGN, Shelf, letter};
use crate::ending::{Ending, Failure};
use crate::input::{candidates, path_value};
use crate::output::{self, write_whole};
use crate::session::store::Store;
use crate::terminal::{self, Appearance};

#[derive(Debug, Args)]
pub struct ReportArgs {
    /// The runs, the first of which is the baseline: last, last~1, a number of `fathom ls`, the beginning of an id, or a
    /// JSON file of `-o`; campaign:NAME for all of a campaign
    #[arg(default_value = "last", add = candidates::runs_or_records())]
    pub runs: Vec<String>,
    /// The file to write, in the format of its extension: .html .xlsx .md .csv .parquet, or .svg, .png and .pdf for one chart; may be
    /// given several times [default: the first chart on stdout]
    #[arg(short, long = "output", value_name = "FILE")]
    #[arg(value_parser = path_value())]
    pub outputs: Vec<PathBuf>,
    /// Title of the report [default: the plan and the targets]
    #[arg(long)]
    pub title: Option<String>,
    /// Only the charts of this kind, such as load, latency, grid, corners, percentiles, time, breakdown; load:2 is the
    /// second of them
    #[arg(long, value_name = "KIND")]
    pub chart: Option<String>,
    /// Colours of .svg, .png and .pdf
    #[arg(long, value_enum, default_value_t = ChartTheme::Light)]
    pub theme: ChartTheme,
    /// Width of .svg, .png and .pdf in pixels
    #[arg(long, value_name = "WIDTH", default_value_t = 760, value_parser = clap::value_parser!(u16).range(240..=8000))]
    pub pixels: u16,
    /// Call two figures equivalent if the 95 % confidence interval of the change is within ± this
    #[arg(long, value_name = "PERCENT", default_value = "5%")]
    pub margin: Share,
    /// Recompute every number of this HTML report from the records in it, and compare those with the library; exit 6 if
    /// anything was altered
    #[arg(long, value_name = "FILE", value_parser = path_value(), conflicts_with_all = ["outputs", "title", "chart"])]
    pub verify: Option<PathBuf>,
    #[command(flatten)]
    pub appearance: Appearance,
}

/// The colours of a chart that is a file of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ChartTheme {
    /// Dark on white
    Light,
    /// Light on near black
    Dark,
}

/// What a report is written as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Html,
    Xlsx,
    Markdown,
    Csv,
    Parquet,
    Svg,
    Png,
    Pdf,
}

const KINDS: [(Kind, &str); 8] = [
    (Kind::Html, "html"),
    (Kind::Xlsx, "xlsx"),
    (Kind::Markdown, "md"),
    (Kind::Csv, "csv"),
    (Kind::Parquet, "parquet"),
    (Kind::Svg, "svg"),
    (Kind::Png, "png"),
    (Kind::Pdf, "pdf"),
];

pub fn report(arguments: &ReportArgs, store: &Store) -> Result<Ending, Failure> {
    if let Some(path) = &arguments.verify {
        return verify(path, store);
    }
    let kinds: Vec<(Kind, &Path)> = arguments
        .outputs
        .iter()
        .map(|path| {
            let kind = kind(path)?;
            output::check_folder(path).map(|()| (kind, path.as_path()))
        })
        .collect::<Result<_, Failure>>()?;
    let evidence = evidence(arguments, store)?;
    let report = writeup::write_up(&evidence);
    let chosen = chosen(&report, arguments.chart.as_deref())?;
    if kinds.is_empty() {
        output::print(&text(&report, &chosen, arguments))?;
    }
    for (kind, path) in kinds {
        let bytes = drawn(kind, &report, &evidence, &chosen, arguments)?;
        write_whole(path, &bytes)?;
    }
    Ok(Ending::done())
}

/// The format of the file `path`, by its ending.
fn kind(path: &Path) -> Result<Kind, Failure> {
    let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
    let found = KINDS.iter().find(|(_, own)| *own == ending);
    found.map(|(kind, _)| *kind).ok_or_else(|| {
        Failure::Usage(format!(
            "{}: a report has no format with the ending `.{ending}`; use .html, .xlsx, .md or .csv, or for one chart .svg, .png or .pdf",
            path.display()
        ))
    })
}

/// What the report is drawn from: the runs, and how they differ where there are several.
fn evidence(arguments: &ReportArgs, store: &Store) -> Result<Evidence, Failure> {
    let mut shelf = Shelf::new(store);
    let mut runs = Vec::new();
    for word in &arguments.runs {
        runs.extend(shelf.side(word)?);
    }
    Ok(evidence_of(&arguments.runs, runs, arguments.margin.get(), arguments.title.clone()))
}

/// The same of the `runs` that `words` name, the first of which is the baseline.
pub fn evidence_of(words: &[String], runs: Vec<Run>, margin: f64, title: Option<String>) -> Evidence {
    // What a campaign compares are its factors; runs of one that somebody chose are compared as any others.
    let is_campaign = matches!(words, [only] if only.starts_with(CAMPAIGN));
    let comparison = (runs.len() > 1 && !is_campaign).then(|| comparison_of(&runs, margin));
    writeup::evidence(runs, comparison, title)
}

/// How `runs` differ, each by itself; the first is the baseline.
pub fn comparison_of(runs: &[Run], margin: f64) -> Comparison {
    let group = |(index, run)| Group { name: letter(index), runs: vec![run] };
    let groups: Vec<Group<'_>> = runs.iter().enumerate().map(group).collect();
    compared(None, &groups, margin)
}

/// The figures of the kind that is asked for, or all.
fn chosen<'a>(report: &'a WriteUp, wanted: Option<&str>) -> Result<Vec<&'a Figure>, Failure> {
    let all: Vec<&Figure> = report.figures().collect();
    let Some(wanted) = wanted else { return Ok(all) };
    let (kind, turn) = wanted.split_once(':').map_or((wanted, None), |(kind, turn)| (kind, Some(turn)));
    let of_kind: Vec<&Figure> = all.iter().filter(|figure| figure.kind == kind).copied().collect();
    let missing = || {
        Failure::Usage(format!(
            "--chart {wanted}: there is no such chart; there are {}",
            kinds(&all).join(", ")
        ))
    };
    if of_kind.is_empty() {
        return Err(missing());
    }
    match turn {
        None => Ok(of_kind),
        Some(turn) => {
            let place = turn.parse::<usize>().ok().and_then(|turn| turn.checked_sub(1));
            place.and_then(|place| of_kind.get(place)).map(|figure| vec![*figure]).ok_or_else(missing)
        }
    }
}

/// The answer and the first chart in characters, or all charts of the kind that is named.
fn text(report: &WriteUp, figures: &[&Figure], arguments: &ReportArgs) -> String {
    let style = terminal::style(&arguments.appearance);
    let lines = |words: &str| report::wrap(&report::harmless(words), style.width, "", "");
    let mut text = lines(&report.title);
    text.extend(lines(&report.answer.text()));
    let shown = if arguments.chart.is_some() { figures.len() } else { 1 };
    debug_assert!(arguments.chart.is_none() || !figures.is_empty(), "a chart that is named is there");
    for figure in figures.iter().take(shown) {
        text.push(String::new());
        text.extend(lines(&figure.reading.text()));
        for (title, chart) in &figure.panels {
            text.extend((!title.is_empty()).then(|| report::harmless(title)));
            text.extend(chart.text(style.width, style.unicode).lines().map(report::harmless));
        }
    }
    let others = kinds(figures.get(shown..).unwrap_or_default());
    if !others.is_empty() {
        let others = others.iter().map(|kind| format!("--chart {kind}")).collect::<Vec<_>>().join(", ");
        text.extend(lines(&format!("More charts: {others}; the whole report: -o report.html")));
    }
    text.join("\n") + "\n"
}

/// The kinds of these charts, each once.
fn kinds(figures: &[&Figure]) -> Vec<&'static str> {
    distinct(figures.iter().map(|figure| figure.kind))
}

/// The report, or its first chart, as the bytes of a file.
fn drawn(
    kind: Kind,
    report: &WriteUp,
    evidence: &Evidence,
    figures: &[&Figure],
    arguments: &ReportArgs,
) -> Result<Vec<u8>, Failure> {
    let failed = |error: writeup::PictureError| Failure::Usage(error.to_string());
    Ok(match kind {
        Kind::Html => {
            writeup::html(report, evidence).map_err(|error| Failure::Usage(error.to_string()))?.into_bytes()
        }
        Kind::Xlsx => writeup::xlsx(report, evidence).map_err(|error| Failure::Usage(error.to_string()))?,
        Kind::Markdown => writeup::markdown(report).into_bytes(),
        Kind::Csv => writeup::csv(report).map_err(|error| Failure::Usage(error.to_string()))?.into_bytes(),
        Kind::Parquet => parquet(report)?,
        Kind::Svg => single(report, figures, arguments)?.into_bytes(),
        Kind::Png => {
            writeup::png(&single(report, figures, arguments)?, arguments.pixels.into()).map_err(failed)?
        }
        Kind::Pdf => writeup::pdf(&single(report, figures, arguments)?).map_err(failed)?,
    })
}

#[cfg(feature = "parquet")]
fn parquet(report: &WriteUp) -> Result<Vec<u8>, Failure> {
    writeup::parquet(report).map_err(|error| Failure::Usage(error.to_string()))
}

#[cfg(not(feature = "parquet"))]
fn parquet(_: &WriteUp) -> Result<Vec<u8>, Failure> {
    Err(Failure::Usage(
        "this build writes no Parquet; build it with `cargo build --release --features parquet`, or write .csv, which has \
         the same table"
            .into(),
    ))
}

/// The first of `figures` as a file of its own, with all of its panels: what it says is said of all of them.
fn single(report: &WriteUp, figures: &[&Figure], arguments: &ReportArgs) -> Result<String, Failure> {
    let nothing = || Failure::Usage(format!("{}: there is no chart to write", report.title));
    let figure = figures.first().filter(|figure| !figure.panels.is_empty()).ok_or_else(nothing)?;
    let theme = match arguments.theme {
        ChartTheme::Light => chart::Theme::Light,
        ChartTheme::Dark => chart::Theme::Dark,
    };
    let panels: Vec<(String, &chart::Chart)> =
        figure.panels.iter().map(|(heading, chart)| (heading.clone(), chart)).collect();
    let columns = if figure.small { 2 } else { 1 };
    let size = (f64::from(arguments.pixels), columns);
    // By itself it has to say what it is of.
    let caption = format!("{}. {}", report.title, figure.subtitle);
    Ok(chart::file(&panels, size, (&figure.reading.text(), &caption), theme))
}

/// Whether a page says what its records say, and whether the library has the same records.
fn verify(path: &Path, store: &Store) -> Result<Ending, Failure> {
    let page =
        fs::read_to_string(path).map_err(|error| Failure::Usage(format!("{}: {error}", path.display())))?;
    let verified = match writeup::verify(&page) {
        Ok(verified) => verified,
        Err(error @ writeup::VerifyError::NoEvidence) => {
            return Err(Failure::Usage(format!("{}: {error}", path.display())));
        }
        Err(error) => {
            terminal::say_sentence(&format!("{}: {error}", path.display()));
            return Ok(Ending { code: 6, reason: "the report is not what its records give".into() });
        }
    };
    let mut known = 0;
    // A report is verified by itself where there is no library: none is made for it.
    let in_a_library = if store.is_there()? { verified.evidence.runs.as_slice() } else { &[] };
    for (place, run) in in_a_library.iter().enumerate() {
        let Ok(saved) = store.open().and_then(|library| Ok(library.get(run.id.as_str())?)) else { continue };
        known += 1;
        if !verified.evidence.holds(place, &saved) {
            terminal::say_sentence(&format!(
                "{}: run {} is not the one in the library",
                path.display(),
                run.id
            ));
            return Ok(Ending { code: 6, reason: "the report is not what the library has".into() });
        }
    }
    let page = if verified.redrawn { "; the whole page is as its records give it" } else { "" };
    if let Some(line) = verified.differs {
        terminal::say_sentence(&format!(
            "{}: note: written by fathom {}, whose wording differs from this build's at line {line}: all numbers were checked, \
             words and charts were not",
            path.display(),
            verified.evidence.drawn_by()
        ));
    }
    let runs = verified.evidence.runs.len();
    debug_assert!(known <= runs, "runs that the library has are some of the report's");
    output::print(&format!(
        "{}: all {} numbers are as their records give them{page}; {known} of {runs} runs are in the library, unchanged\n",
        path.display(),
        verified.numbers
    ))?;
    Ok(Ending::done())
}
