//! The formats that results are written in, with their names and file name endings.

use std::ffi::OsStr;
use std::path::Path;
use std::sync::LazyLock;

use clap::builder::PossibleValue;
use clap::{Args, ValueEnum};

use crate::ending::Failure;

/// What a run is written as.
#[derive(Clone, Copy, Debug)]
pub enum Format {
    /// A table to read.
    Text,
    /// The record itself.
    Json,
    /// Events while the run goes on, one JSON object a line.
    Jsonl,
    /// One line for each point, workload and operation.
    Csv,
    /// A table for a ticket.
    Md,
    /// The output of a classic tool.
    Tool(&'static formats::Output),
}

/// What a comparison is written as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum CompareFormat {
    /// Tables
    Text,
    /// The comparison
    Json,
    /// One line per figure
    Csv,
    /// Markdown tables
    Md,
}

/// What a path to the media, or findings, are written as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum TreeFormat {
    /// Text
    Text,
    /// JSON, as in the record
    Json,
}

// No doc comment: clap would take it for the help of the verb.
#[derive(Clone, Copy, Debug, Args)]
pub struct TextOrJson {
    /// Format of stdout
    #[arg(long, value_enum, default_value_t = TreeFormat::Text)]
    format: TreeFormat,
    /// The same as --format json
    #[arg(long, conflicts_with = "format")]
    json: bool,
}

impl TextOrJson {
    /// The format that `--format` or `--json` names.
    pub fn wanted(self) -> TreeFormat {
        if self.json { TreeFormat::Json } else { self.format }
    }

    pub fn is_json(self) -> bool {
        self.wanted() == TreeFormat::Json
    }
}

/// A format of Fathom's own: its name, the endings of its files, and what it is.
type Own = (Format, &'static str, &'static [&'static str], &'static str);

const OWN: [Own; 5] = [
    (Format::Text, "text", &["txt"], "Tables"),
    (Format::Json, "json", &["json"], "The record"),
    (Format::Jsonl, "jsonl", &["jsonl", "ndjson"], "Events during the run, one JSON object per line"),
    (Format::Csv, "csv", &["csv"], "One line per point, workload and operation"),
    (Format::Md, "md", &["md"], "Markdown tables"),
];

impl Format {
    /// The entry of one of Fathom's own.
    fn own(self) -> &'static Own {
        OWN.iter().find(|own| own.0 == self).expect("each format that is no tool's is one of Fathom's own")
    }

    /// As `--format` names it.
    pub fn name(self) -> &'static str {
        match self {
            Format::Tool(output) => output.name,
            own => own.own().1,
        }
    }

    /// What files of it end in, without the first dot. The first is the usual one.
    pub fn endings(&self) -> &[&'static str] {
        match self {
            Format::Tool(output) => std::slice::from_ref(&output.ending),
            own => own.own().2,
        }
    }

    /// What it is, in a few words.
    pub fn about(self) -> &'static str {
        match self {
            Format::Tool(output) => output.about,
            own => own.own().3,
        }
    }

    /// The format of the file `path`, by its ending. The longest ending decides: `x.fio.json` is fio's.
    pub fn of_path(path: &Path) -> Result<Format, Failure> {
        let name = path.file_name().map(OsStr::to_string_lossy).unwrap_or_default();
        let is_of = |format: &&Format| {
            let mut endings = format.endings().iter();
            endings.any(|ending| name.strip_suffix(ending).is_some_and(|stem| stem.ends_with('.')))
        };
        let found =
            Format::value_variants().iter().filter(is_of).max_by_key(|format| format.endings()[0].len());
        found.copied().ok_or_else(|| {
            Failure::Usage(format!(
                "{}: `.{}` is not a known extension; use .json, .jsonl, .csv, .md or .txt, or one of a \
                 tool: `fathom formats` lists them",
                path.display(),
                ending_of(path)
            ))
        })
    }
}

/// What the name of `path` ends in, behind the last dot.
fn ending_of(path: &Path) -> &str {
    path.extension().and_then(|ending| ending.to_str()).unwrap_or_default()
}

impl PartialEq for Format {
    fn eq(&self, other: &Format) -> bool {
        match (self, other) {
            (Format::Tool(one), Format::Tool(other)) => one.name == other.name,
            (one, other) => std::mem::discriminant(one) == std::mem::discriminant(other),
        }
    }
}

impl ValueEnum for Format {
    fn value_variants<'a>() -> &'a [Format] {
        static ALL: LazyLock<Vec<Format>> = LazyLock::new(|| {
            let own = OWN.iter().map(|own| own.0);
            own.chain(formats::outputs().iter().map(Format::Tool)).collect()
        });
        &ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(self.name()).help(self.about()))
    }
}

impl CompareFormat {
    /// The format of a comparison by that name; `None` where comparisons are not written so.
    pub fn of(format: Format) -> Option<CompareFormat> {
        match format {
            Format::Text => Some(CompareFormat::Text),
            Format::Json => Some(CompareFormat::Json),
            Format::Csv => Some(CompareFormat::Csv),
            Format::Md => Some(CompareFormat::Md),
            Format::Jsonl | Format::Tool(_) => None,
        }
    }

    /// The format of the file `path`, by its ending.
    pub fn of_path(path: &Path) -> Result<CompareFormat, Failure> {
        let ending = ending_of(path);
        let own = OWN.iter().find(|own| own.2.contains(&ending));
        own.and_then(|own| CompareFormat::of(own.0)).ok_or_else(|| {
            Failure::Usage(format!(
                "{}: a comparison cannot be written as `.{ending}`; use .txt, .json, .csv or .md",
                path.display()
            ))
        })
    }
}
