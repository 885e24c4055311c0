//! The command line's grammar.

use std::path::PathBuf;

use clap::builder::{OsStringValueParser, TypedValueParser};
use std::sync::LazyLock;

use clap::builder::PossibleValue;
use clap::{Args, Parser, Subcommand, ValueEnum};
use conduct::search::Promise;
use explain::compare::FailOn;
use units::{Bytes, Nanos, OpsPerSecond, Share};

use crate::doors;

/// Measures storage, models it, and says why.
#[derive(Debug, Parser)]
#[command(name = "fathom", version, max_term_width = 100, after_help = EXAMPLES)]
pub struct Cli {
    /// The library of runs; by default runs.sqlite under the XDG data folder
    #[arg(long, global = true, value_name = "FILE", env = "FATHOM_STORE")]
    #[arg(value_parser = named())]
    pub store: Option<PathBuf>,
    #[command(subcommand)]
    pub verb: Verb,
}

impl Cli {
    /// Whether it asks storage for more than what is written on it, and so may change something for that time.
    pub fn measures(&self) -> bool {
        match &self.verb {
            Verb::Run(arguments) => !arguments.run.dry_run,
            Verb::Search(arguments) => !arguments.run.dry_run,
            Verb::Doctor(arguments) => arguments.caches,
            Verb::Array(ArrayVerb::Fit(_)) | Verb::As(_) => true,
            _ => false,
        }
    }
}

// Lines of less than 80 columns: clap breaks longer ones without regard to the columns.
const EXAMPLES: &str = "\
Examples:
  fathom run corners --on /mnt/array       five figures, on a scratch file
  fathom run oltp --on /dev/sdb --dry-run  what it would do, write and destroy
  fathom run random --on /dev/sdb --set reads=100%
                                           rising depth; nothing is written
  fathom run quick --on array:md3000       the same on a virtual array
  fathom run quick --on null:              what the tool itself can do
  fathom show last                         the last result again
  fathom export last -o result.csv         for a spreadsheet
  fathom compare last~1 last               what differs, and how sure that is

Exit codes:
  0  done                               5  I/O errors, or the storage went away
  1  an assertion failed                6  data integrity
  2  usage; nothing was touched         8  internal, or the run was not kept
  3  refused as unsafe; likewise        128 + signal  interrupted, and kept:
  4  finished, but the result is invalid   130 Ctrl-C, 143 TERM, 129 HUP

`fathom COMMAND --help` has the rest; the guide is in docs/ of the source.";

#[derive(Debug, Subcommand)]
pub enum Verb {
    /// Measure a target with a plan, and keep the result
    Run(MeasureArgs),
    /// Find the highest rate at which promises such as p99<5ms are kept
    Search(SearchArgs),
    /// List, show and check plans
    #[command(subcommand)]
    Plan(PlanVerb),
    /// Take a classic tool's own arguments, and print what it prints
    #[command(after_help = doors::list())]
    As(AsArgs),
    /// List the runs that are kept
    Ls(LsArgs),
    /// Show a run again
    Show(ShowArgs),
    /// Say what the evidence of a run supports: what is the limit, what is to be doubted
    Explain(ExplainArgs),
    /// Say what differs between runs, how sure that is, and what else is set otherwise
    Compare(CompareArgs),
    /// Write a run in another format
    Export(ExportArgs),
    /// Remove runs
    Rm(RmArgs),
    /// Look at this machine, a target, and the tool itself
    Doctor(DoctorArgs),
    /// List, show and check virtual arrays
    #[command(subcommand)]
    Array(ArrayVerb),
    /// Hold virtual arrays to published figures
    Validate(ValidateArgs),
    /// Print completions for a shell
    Completions {
        /// Which shell
        shell: clap_complete::Shell,
    },
}

#[derive(Debug, Args)]
pub struct MeasureArgs {
    #[command(flatten)]
    pub run: RunArgs,
    /// Measure a second target by turns with the first, point by point, and compare: a target, or a run, whose targets
    /// are asked again; --destroy once for each
    #[arg(long, value_name = "TARGET|RUN")]
    pub against: Option<String>,
    /// Exit 1 if the second target breaks the limit, with 95 % confidence: a change (iops<-5%, p99>10%) or a value
    /// (p99>5ms); `inconclusive`: exit 1 also where a limit cannot be decided
    #[arg(long, value_name = "LIMIT", requires = "against")]
    pub fail_on: Vec<FailOn>,
    /// With --against: equivalent where the whole interval of the change is within ± this
    #[arg(long, value_name = "PERCENT", default_value = "5%", requires = "against")]
    pub margin: Share,
    /// On a virtual array, follow each request: `fathom explain` then tells where its time went. The model takes longer
    #[arg(long, conflicts_with = "against")]
    pub shares: bool,
}

#[derive(Debug, Args)]
pub struct RunArgs {
    /// A ready plan (`fathom plan list`) or a TOML file
    pub plan: String,
    #[command(flatten)]
    pub change: PlanChange,
    /// What is measured: a directory, a file, a block device, or `null:`; several are joined as LUNs
    #[arg(long = "on", value_name = "TARGET")]
    pub targets: Vec<String>,
    /// Consent to destroy what is on the target: its serial number, by-id name, or a file's absolute path, with `data:`
    /// before it where a device is not blank; once for
    /// each of several targets
    #[arg(long, value_name = "IDENTITY")]
    pub destroy: Vec<String>,
    /// Let scratch files stay for the next run
    #[arg(long)]
    pub keep: bool,
    /// Make a file of a target's name where there is none
    #[arg(long)]
    pub create: bool,
    /// Size of all scratch files together, exactly [default: large enough to defeat known caches, as far as there is
    /// room]
    #[arg(long, value_name = "SIZE")]
    pub scratch: Option<Bytes>,
    #[command(flatten)]
    pub upkeep: Upkeep,
    /// Open nothing for writing; print points, bytes, time, and what would be destroyed
    #[arg(long)]
    pub dry_run: bool,
    /// What stdout gets
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
    /// Write the result to a file as well, in the format of its ending; may be given several times. With --against
    /// the comparison: .txt .json .csv .md
    #[arg(short, long = "output", value_name = "FILE")]
    #[arg(value_parser = named())]
    pub outputs: Vec<PathBuf>,
    /// Do not keep the run in the library
    #[arg(long)]
    pub no_save: bool,
    /// No progress on stderr
    #[arg(short, long)]
    pub quiet: bool,
    #[command(flatten)]
    pub look: Look,
}

#[derive(Debug, Args)]
pub struct Upkeep {
    /// What says how far a rebuild is: md:md0, btrfs-replace:/mnt, btrfs-scrub:/mnt or zpool:tank
    #[arg(long, value_name = "SOURCE")]
    pub progress: Option<host::progress::Source>,
    /// A command that prints how many per cent of a rebuild are done
    #[arg(long, value_name = "COMMAND", conflicts_with = "progress")]
    pub progress_cmd: Option<String>,
    /// A command that makes a disk fail where the plan says so; its number is in FATHOM_DISK
    #[arg(long, value_name = "COMMAND")]
    pub fail_cmd: Option<String>,
    /// A command that begins a rebuild where the plan says so
    #[arg(long, value_name = "COMMAND")]
    pub rebuild_cmd: Option<String>,
}

#[derive(Debug, Args)]
pub struct AsArgs {
    /// Consent to destroy what is on the target: its serial number, by-id name, or a file's absolute path, with `data:`
    /// before it where a device is not blank; once for
    /// each of several targets, in the environment one on each line
    #[arg(long, value_name = "IDENTITY", env = "FATHOM_DESTROY", value_delimiter = '\n')]
    pub destroy: Vec<String>,
    /// Do not keep the run in the library
    #[arg(long, env = "FATHOM_NO_SAVE")]
    pub no_save: bool,
    /// The tool and its own arguments
    // One list, so that everything after the tool's name is the tool's, whatever it looks like.
    #[arg(
        required = true,
        trailing_var_arg = true,
        allow_hyphen_values = true,
        value_name = "TOOL ARGUMENTS"
    )]
    pub words: Vec<String>,
}

#[derive(Debug, Args)]
pub struct SearchArgs {
    /// What must be kept: p99<5ms, read.p99<5ms (write., trim.), service p99.9<10ms, mean<800us, errors<0.1%; several
    /// at once
    #[arg(long = "slo", value_name = "PROMISE", required = true)]
    pub promises: Vec<Promise>,
    /// The load to search, by the name of its point or phase [default: the only one of the plan; depth, workers, pace,
    /// rounds and repeats make no loads of their own]
    #[arg(long, value_name = "NAME")]
    pub load: Option<String>,
    /// How near the rates that keep and break it have to come
    #[arg(long, value_name = "SHARE", default_value = "2%")]
    pub within: Share,
    /// The first look at a rate, at least 10s; each further look doubles what was seen
    #[arg(long, value_name = "TIME", default_value = "15s")]
    pub look: Nanos,
    /// All looks at one rate together, before it stays undecided [default: 4min, 16min with a percentile beyond p99]
    #[arg(long, value_name = "TIME")]
    pub longest: Option<Nanos>,
    /// Requests in flight at most [default: twice what the promise allows at the ceiling, up to 1024]
    #[arg(long, value_name = "COUNT")]
    pub depth: Option<u32>,
    /// What a write cache takes: it is filled before each rate, so that the storage behind it answers; 0B leaves it be
    /// [default: what is known of an array; otherwise it is looked for by writing]
    #[arg(long, value_name = "SIZE")]
    pub write_cache: Option<Bytes>,
    /// Try no rate below, such as 500/s or 20k/s [default: a hundredth of what a closed loop does]
    #[arg(long, value_name = "RATE")]
    pub from: Option<OpsPerSecond>,
    /// Offer no rate above, in no part of the search: no closed loop and no overload either [default: as far as it
    /// goes]
    #[arg(long, value_name = "RATE")]
    pub to: Option<OpsPerSecond>,
    #[command(flatten)]
    pub run: RunArgs,
}

#[derive(Debug, Args)]
pub struct PlanChange {
    /// Change a key of the plan, such as depth=32 or phase.1.size=8KiB; may be given several times
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub set: Vec<String>,
    /// Label the run, such as room=3; may be given several times
    #[arg(long = "tag", value_name = "KEY=VALUE")]
    pub tags: Vec<String>,
}

#[derive(Debug, Args)]
pub struct Look {
    /// Colours
    #[arg(long, value_enum, default_value_t = Colour::Auto, value_name = "WHEN")]
    pub color: Colour,
    /// Columns to fill [default: those of the terminal, or 100]
    #[arg(long, value_name = "COLUMNS")]
    pub width: Option<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Colour {
    /// On a terminal, unless NO_COLOR is set
    Auto,
    /// Into pipes and files too
    Always,
    /// Nowhere
    Never,
}

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

impl Format {
    /// Our own, with their names and what they are.
    const OWN: [(Format, &str, &str); 5] = [
        (Format::Text, "text", "A table to read"),
        (Format::Json, "json", "The record itself"),
        (Format::Jsonl, "jsonl", "Events while the run goes on, one JSON object a line"),
        (Format::Csv, "csv", "One line for each point, workload and operation"),
        (Format::Md, "md", "A table for a ticket"),
    ];

    fn name(self) -> &'static str {
        let own = Format::OWN.iter().find(|(format, ..)| *format == self);
        match (self, own) {
            (Format::Tool(output), _) => output.name,
            (_, own) => own.map_or("text", |(_, name, _)| name),
        }
    }
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
            let own = Format::OWN.iter().map(|(format, ..)| *format);
            own.chain(formats::outputs().iter().map(Format::Tool)).collect()
        });
        &ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        let about = match self {
            Format::Tool(output) => output.about,
            own => Format::OWN.iter().find(|(format, ..)| format == own)?.2,
        };
        Some(PossibleValue::new(self.name()).help(about))
    }
}

#[derive(Debug, Subcommand)]
pub enum PlanVerb {
    /// The ready plans
    List,
    /// The text of a plan
    Show {
        /// A ready plan or a file
        plan: String,
    },
    /// Read a plan, and print what it would do
    Check {
        /// A ready plan or a file
        plan: String,
        #[command(flatten)]
        change: PlanChange,
    },
    /// Print a classic tool's job file as a plan
    Convert {
        /// The job file
        file: String,
        /// The tool it is for, where the file does not show it
        #[arg(long, value_name = "TOOL")]
        from: Option<String>,
    },
}

#[derive(Debug, Subcommand)]
pub enum ArrayVerb {
    /// The virtual arrays there are
    List,
    /// What an array is made of: its options, and every figure with its source
    Show {
        /// A name, a TOML file, or an address such as md3000?raid=10&luns=2
        array: String,
    },
    /// Read an array, and print what it comes to
    Check {
        /// A name, a TOML file, or an address such as md3000?raid=10&luns=2
        array: String,
    },
    /// How likely an array loses data, while it is rebuilt and over a time
    Loss(LossArgs),
    /// Measure what tells a model its figures, and write the model of what was measured
    Fit(FitArgs),
}

#[derive(Debug, Args)]
pub struct LossArgs {
    /// A name, a TOML file, or an address such as md3000?raid=6
    pub array: String,
    /// How long a rebuild takes, such as 12h
    #[arg(long, value_name = "TIME", required_unless_present = "run")]
    pub rebuild: Option<Nanos>,
    /// The rebuild that this run saw to its end: last, last~1, a number of `fathom ls`, or the beginning of an id
    #[arg(long, value_name = "RUN", conflicts_with = "rebuild")]
    pub run: Option<String>,
    /// The age that 37 % of the disks reach
    // Elerath & Pecht, IEEE Transactions on Computers 58 (2009): disks in the field.
    #[arg(long, value_name = "TIME", default_value = "461386h")]
    pub disk_life: Nanos,
    /// Weibull shape of the lives: below 1 the young die, at 1 age does not matter, above 1 the old die
    #[arg(long, value_name = "SHAPE", default_value_t = 1.12)]
    pub shape: f64,
    /// How old the disks are
    #[arg(long, value_name = "TIME", default_value = "0h")]
    pub age: Nanos,
    /// Probability that a bit cannot be read: a data sheet's non-recoverable read errors
    #[arg(long, value_name = "PROBABILITY", default_value_t = 1e-15)]
    pub ure: f64,
    /// The time asked about
    #[arg(long, value_name = "TIME", default_value = "8766h")]
    pub over: Nanos,
    /// Histories that are drawn
    #[arg(long, value_name = "COUNT", default_value_t = 40_000,
        value_parser = clap::value_parser!(u32).range(1_000..=10_000_000))]
    pub histories: u32,
    /// Seed of what is drawn at random
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct FitArgs {
    /// What is measured: a block device, a file, a directory, a virtual array; or runs that hold enough points: last,
    /// last~1, numbers of `fathom ls`, beginnings of ids, records' files
    #[arg(required = true, value_name = "TARGET|RUN")]
    pub what: Vec<String>,
    /// The array file to write
    #[arg(short, long, value_name = "FILE")]
    #[arg(value_parser = named())]
    pub output: PathBuf,
    /// Consent to destroy what is on the target: its serial number, by-id name, or a file's absolute path. Without it
    /// nothing is written, and what writes cost is not fitted
    #[arg(long, value_name = "IDENTITY")]
    pub destroy: Vec<String>,
    /// Size of the scratch file in a directory, exactly [default: large enough to defeat known caches, as far as there
    /// is room]
    #[arg(long, value_name = "SIZE")]
    pub scratch: Option<Bytes>,
    /// Do not keep the runs in the library
    #[arg(long)]
    pub no_save: bool,
    /// No progress on stderr
    #[arg(short, long)]
    pub quiet: bool,
    #[command(flatten)]
    pub look: Look,
}

#[derive(Debug, Args)]
pub struct ValidateArgs {
    /// Cases of your own in place of the shipped ones; may be given several times
    #[arg(long, value_name = "FILE")]
    #[arg(value_parser = named())]
    pub cases: Vec<PathBuf>,
    /// Only cases whose id contains this
    #[arg(long, value_name = "TEXT")]
    pub only: Option<String>,
    /// Seed of what is drawn at random
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
}

#[derive(Debug, Args)]
pub struct LsArgs {
    /// Only runs of this plan
    #[arg(long)]
    pub plan: Option<String>,
    /// Only runs with this in a target's name
    #[arg(long, value_name = "TEXT")]
    pub on: Option<String>,
    /// Only runs with this label: KEY or KEY=VALUE
    #[arg(long = "tag", value_name = "KEY[=VALUE]")]
    pub tags: Vec<String>,
    /// Only runs started then or later: 2026-01-31
    #[arg(long, value_name = "DATE")]
    pub since: Option<String>,
    /// At most so many
    #[arg(short = 'n', long, default_value_t = 20)]
    pub limit: u64,
    /// Read every run in the library and list those whose checksum does not match
    #[arg(long)]
    pub check: bool,
    #[command(flatten)]
    pub look: Look,
}

#[derive(Debug, Args)]
pub struct ShowArgs {
    /// last, last~1, a number of `fathom ls`, or the beginning of an id
    #[arg(default_value = "last")]
    pub run: String,
    /// What stdout gets
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
    /// All findings, and what the grade rests on
    #[arg(long)]
    pub full: bool,
    #[command(flatten)]
    pub look: Look,
}

#[derive(Debug, Args)]
pub struct ExplainArgs {
    /// last, last~1, a number of `fathom ls`, or the beginning of an id
    #[arg(default_value = "last")]
    pub run: String,
    /// What the kernel did not know of the path to the media, or not well: parts and ceilings in TOML
    #[arg(long, value_name = "FILE")]
    #[arg(value_parser = named())]
    pub parts: Option<PathBuf>,
    /// Of a run on a virtual array: carry its last point out again with each part 10 % faster, and with twice as much
    /// in flight, and say what that brings
    #[arg(long, conflicts_with = "model")]
    pub what_if: bool,
    /// With --what-if: another point, by its number from 1 or its name
    #[arg(long, value_name = "POINT", requires = "what_if")]
    pub point: Option<String>,
    /// With --what-if: how often each is tried, with other seeds; more see smaller effects
    #[arg(long, value_name = "COUNT", requires = "what_if", default_value_t = 5,
        value_parser = clap::value_parser!(u32).range(2..=100))]
    pub seeds: u32,
    /// Hold every point against what this array file of `fathom array fit` gives
    #[arg(long, value_name = "FILE", conflicts_with = "parts")]
    #[arg(value_parser = named())]
    pub model: Option<PathBuf>,
    /// Every finding of every point with its numbers, not the ten that matter most
    #[arg(long)]
    pub full: bool,
    /// What stdout gets
    #[arg(long, value_enum, default_value_t = TreeFormat::Text)]
    pub format: TreeFormat,
    #[command(flatten)]
    pub look: Look,
}

#[derive(Debug, Args)]
pub struct CompareArgs {
    /// Sides, the first of which is the base: each last, last~1, a number of `fathom ls`, the beginning of an id, or
    /// a record's file; several apart by commas count as repeats. With --by, the runs to put together
    pub runs: Vec<String>,
    /// Put runs together by what they say to a key: a label, a fact such as firmware or file-system, kernel, host,
    /// target, an array's option, a key of the plan [default runs: those of one plan in the library]
    #[arg(long, value_name = "KEY")]
    pub by: Option<String>,
    /// With --by: the value that the others are held against [default: that of the oldest run]
    #[arg(long, value_name = "VALUE", requires = "by")]
    pub base: Option<String>,
    /// With --by: only runs of this plan [default: the plan of the latest run that says something to the key]
    #[arg(long, requires = "by")]
    pub plan: Option<String>,
    /// Exit 1 if the limit is broken, with 95 % confidence: a change (iops<-5%, p99>10%) or a value (p99>5ms,
    /// iops<20k); `inconclusive`: exit 1 also where a limit, or without one a verdict, cannot be decided; may be given
    /// several times
    #[arg(long, value_name = "LIMIT")]
    pub fail_on: Vec<FailOn>,
    /// Equivalent where the whole interval of the change is within ± this
    #[arg(long, value_name = "PERCENT", default_value = "5%")]
    pub margin: Share,
    /// With three sides or more: all figures and verdicts, not the one-screen summary
    #[arg(long)]
    pub full: bool,
    /// Write the comparison to a file as well, in the format of its ending: .txt .json .csv .md; may be given several
    /// times
    #[arg(short, long = "output", value_name = "FILE")]
    #[arg(value_parser = named())]
    pub outputs: Vec<PathBuf>,
    /// What stdout gets
    #[arg(long, value_enum, default_value_t = CompareFormat::Text)]
    pub format: CompareFormat,
    #[command(flatten)]
    pub look: Look,
}

/// What a comparison is written as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum CompareFormat {
    /// Tables to read
    Text,
    /// The comparison itself
    Json,
    /// One line for each figure
    Csv,
    /// Tables for a ticket
    Md,
}

#[derive(Debug, Args)]
pub struct ExportArgs {
    /// last, last~1, a number of `fathom ls`, or the beginning of an id
    #[arg(default_value = "last")]
    pub run: String,
    /// Where to, in the format of its ending: .json .jsonl .csv .md .txt, or a tool's, such as .fio.json; may be
    /// given several times
    #[arg(short, long = "output", value_name = "FILE")]
    #[arg(value_parser = named())]
    pub outputs: Vec<PathBuf>,
    /// What stdout gets where no file is named
    #[arg(long, value_enum, default_value_t = Format::Json)]
    pub format: Format,
    #[command(flatten)]
    pub look: Look,
}

#[derive(Debug, Args)]
pub struct RmArgs {
    /// last, last~1, numbers of `fathom ls`, or beginnings of ids
    #[arg(required = true)]
    pub runs: Vec<String>,
}

#[derive(Debug, Args)]
pub struct DoctorArgs {
    /// A directory, file or device to look at; it is only read
    pub target: Option<String>,
    /// What the kernel does not know of the path to the media, or not well: parts and ceilings in TOML
    #[arg(long, value_name = "FILE", requires = "target")]
    #[arg(value_parser = named())]
    pub parts: Option<PathBuf>,
    /// Find the caches below the target, or in a virtual array, by random reads over spans of growing size; the run is
    /// kept, and later runs on the target know them
    #[arg(long, requires = "target", conflicts_with_all = ["parts", "self_test"])]
    pub caches: bool,
    /// The largest of these spans [default: 4GiB]
    #[arg(long, value_name = "SIZE", requires = "caches")]
    pub most: Option<Bytes>,
    /// Restore what killed runs left changed, and list it: scratch files removed, read-ahead reset. Every run does that
    /// for the runs before it
    #[arg(long, conflicts_with_all = ["target", "parts", "caches", "self_test", "format"])]
    pub restore: bool,
    /// What stdout gets
    #[arg(long, value_enum, default_value_t = TreeFormat::Text)]
    pub format: TreeFormat,
    /// Hold the program's own generators, intervals and verdicts to what it says of them, in less than a minute
    #[arg(long)]
    pub self_test: bool,
    /// Only this part; may be given several times
    #[arg(long, value_enum, value_name = "PART", requires = "self_test")]
    pub only: Vec<crate::verbs::self_test::Part>,
    /// With as many cases as the published figures rest on, in some minutes
    #[arg(long, requires = "self_test")]
    pub full: bool,
    #[command(flatten)]
    pub look: Look,
}

/// What a path to the media, or findings, are written as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum TreeFormat {
    /// Text to read
    Text,
    /// What records keep of it, and nothing else
    Json,
}

/// A path, of which bytes that are no text have come as characters.
fn named() -> impl TypedValueParser<Value = PathBuf> {
    OsStringValueParser::new()
        .map(|name| name.to_str().map_or_else(|| PathBuf::from(&name), units::name::path))
}
