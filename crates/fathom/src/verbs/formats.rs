//! `fathom formats`: every format that is read or written, and every tool that is emulated, from the tables that decide.

use clap::ValueEnum;
use workload::trace;

use crate::emulate;
use crate::ending::{Ending, Failure};
use crate::output::{self, CompareFormat, Format, TreeFormat};

/// A format: its name, the endings of its files, and what it is.
type Row = (String, String, String);

pub fn formats() -> Result<Ending, Failure> {
    output::print_wrapped(&text())?;
    Ok(Ending::done())
}

fn text() -> String {
    let tools = emulate::tools().map(|(name, about)| row(name, "", about)).collect();
    let jobs = formats::job_files().iter().map(|file| row(file.tool, "", file.about));
    let traces = trace::FORMATS.iter().map(|format| row(format.name, "", format.about)).collect();
    let results =
        Format::value_variants().iter().map(|format| row(format.name(), &endings(*format), format.about()));
    let comparisons = CompareFormat::value_variants().iter().map(of_value);
    let trees = TreeFormat::value_variants().iter().map(of_value);
    let sections: [(&str, &str, Vec<Row>); 7] = [
        (
            "Emulated tools",
            "`fathom as TOOL ARGUMENTS`, or a link to the program with the tool's name",
            tools,
        ),
        (
            "Workloads, read",
            "`fathom run FILE`, `search`, `plan check`; `plan convert` prints a job file as a plan",
            std::iter::once(row("plan", ".toml", "a plan of Fathom's; `fathom plan help` lists its keys"))
                .chain(jobs)
                .collect(),
        ),
        (
            "Traces, read",
            "key `trace` of a plan with `pattern = \"trace\"`; recognised by what they begin with",
            traces,
        ),
        (
            "Descriptions, read",
            "each by the option that is named",
            DESCRIPTIONS.map(|(name, ending, about)| row(name, ending, about)).into(),
        ),
        (
            "Results, written",
            "`--format NAME` or `-o FILE.ENDING` of `run`, `search` and `export`; `--format` of `show`",
            results.collect(),
        ),
        (
            "Comparisons, written",
            "`--format` or `-o` of `compare` and `run --against`",
            comparisons.collect(),
        ),
        ("Findings and paths, written", "`--format` of `explain` and `doctor`", trees.collect()),
    ];
    let mut text = String::new();
    for (heading, place, rows) in &sections {
        text += &format!("{heading}: {place}\n{}\n", table(rows));
    }
    text += &format!(
        "Logs and models, written\n{}",
        table(&LOGS.map(|(name, ending, about)| row(name, ending, about)))
    );
    text
}

/// Files beside plans that describe storage, and records.
const DESCRIPTIONS: [(&str, &str, &str); 4] = [
    ("array", ".toml", "a virtual array: `--on array:FILE`, `fathom array show`, `check` and `loss`"),
    ("parts", ".toml", "parts and ceilings of the path to the media: `--parts` of `explain` and `doctor`"),
    ("cases", ".toml", "published results to validate against: `validate --cases`"),
    ("record", ".json", "a run written with `-o x.json`: `compare`, `run --against`, `array fit`"),
];

/// Files that are written by other options than those of results.
const LOGS: [(&str, &str, &str); 2] = [
    ("iolog", "", "each request as fio's iolog, version 3: key `iolog` of a plan"),
    ("array", ".toml", "a model of the storage that was measured: `array fit -o`"),
];

fn row(name: &str, ending: &str, about: &str) -> Row {
    (name.into(), ending.into(), about.into())
}

fn endings(format: Format) -> String {
    format.endings().iter().map(|ending| format!(".{ending}")).collect::<Vec<_>>().join(" ")
}

/// The value of an option with its help.
fn of_value(value: &impl ValueEnum) -> Row {
    let value = value.to_possible_value();
    let about = value.as_ref().and_then(|value| value.get_help()).map(ToString::to_string);
    row(value.as_ref().map_or("", |value| value.get_name()), "", &about.unwrap_or_default())
}

fn table(rows: &[Row]) -> String {
    let widest = |column: fn(&Row) -> &String| rows.iter().map(|row| column(row).len()).max().unwrap_or(0);
    let (names, endings) = (widest(|row| &row.0), widest(|row| &row.1));
    let gap = if endings == 0 { 0 } else { endings + 2 };
    debug_assert!(rows.iter().all(|(name, ..)| !name.is_empty()), "a format has a name");
    rows.iter().map(|(name, ending, about)| format!("  {name:names$}  {ending:gap$}{about}\n")).collect()
}
