//! The command line's grammar.

use std::path::PathBuf;

use clap::builder::{OsStringValueParser, TypedValueParser};
use std::sync::LazyLock;

use clap::builder::PossibleValue;
use clap::{Args, Parser, Subcommand, ValueEnum};
use conduct::search::Slo;
use explain::compare::FailOn;
use units::{Bytes, Nanos, OpsPerSecond, Share};

use crate::doors;

mod examples;

/// Headings of options, by task.
const TARGET: &str = "Target";
const AGAINST: &str = "Comparing with a second target";
const TRIALS: &str = "Trials";
const REBUILD: &str = "Rebuilds";
const OUTPUT: &str = "Output";

/// Measures storage, models it, and says why.
#[derive(Debug, Parser)]
#[command(name = "fathom", version, max_term_width = 100, after_help = EXAMPLES)]
pub struct Cli {
    /// The library of runs [default: runs.sqlite in the XDG data folder]
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
  fathom run oltp --on /dev/sdb --dry-run  points, bytes, time; writes nothing
  fathom run random --on /dev/sdb --set reads=100%
                                           queue depth sweep; writes nothing
  fathom run quick --on array:md3000       the same on a virtual array
  fathom run quick --on null:              the overhead of the tool itself
  fathom show last                         show the last result again
  fathom export last -o result.csv         for a spreadsheet
  fathom compare last~1 last               changes, and their significance

Exit codes:
  0  done                               5  I/O errors, or the storage went away
  1  an assertion failed                6  data integrity
  2  usage; nothing was touched         8  internal, or the run was not saved
  3  refused as unsafe; likewise        128 + signal  interrupted, and saved:
  4  finished, but the result is invalid   130 Ctrl-C, 143 TERM, 129 HUP

`fathom COMMAND --help` has the rest; the guide is in docs/ of the source.";

#[derive(Debug, Subcommand)]
pub enum Verb {
    /// Measure a target with a plan, and save the result
    #[command(after_help = examples::RUN)]
    Run(MeasureArgs),
    /// Find the maximum sustained rate that meets SLOs such as p99<5ms
    #[command(after_help = examples::SEARCH)]
    Search(SearchArgs),
    /// List, show and check plans; explain their keys
    #[command(subcommand, disable_help_subcommand = true)]
    Plan(PlanVerb),
    /// Run as a classic tool (fio, dd, IOzone, …): its arguments, its output
    #[command(after_help = doors::list())]
    As(AsArgs),
    /// List saved runs
    #[command(after_help = examples::LS)]
    Ls(LsArgs),
    /// Show a saved run
    #[command(after_help = examples::SHOW)]
    Show(ShowArgs),
    /// Name the bottleneck of a run, with the evidence, and what makes its figures doubtful
    #[command(after_help = examples::EXPLAIN)]
    Explain(ExplainArgs),
    /// Compare runs: changes with 95 % intervals, verdicts, and configuration differences
    #[command(after_help = examples::COMPARE)]
    Compare(CompareArgs),
    /// Write a run in another format
    #[command(after_help = examples::EXPORT)]
    Export(ExportArgs),
    /// Remove saved runs
    #[command(after_help = examples::RM)]
    Rm(RmArgs),
    /// Check this machine, a target's path and caches, and the tool itself
    #[command(after_help = examples::DOCTOR)]
    Doctor(DoctorArgs),
    /// List, show and check virtual arrays
    #[command(subcommand)]
    Array(ArrayVerb),
    /// Validate virtual arrays against published results
    #[command(after_help = examples::VALIDATE)]
    Validate(ValidateArgs),
    /// Print shell completions
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
}

#[derive(Debug, Args)]
pub struct MeasureArgs {
    #[command(flatten)]
    pub run: RunArgs,
    /// A/B test: measure a second target interleaved with the first, point by point, and compare. A target, or a saved
    /// run, whose targets are measured again; --destroy once for each
    #[arg(long, value_name = "TARGET|RUN", help_heading = AGAINST)]
    pub against: Option<String>,
    /// Exit 1 if the second target breaks the limit, with 95 % confidence: a change (iops<-5%, p99>10%) or a value
    /// (p99>5ms); `inconclusive`: exit 1 also where a limit cannot be decided
    #[arg(long, value_name = "LIMIT", requires = "against", help_heading = AGAINST)]
    pub fail_on: Vec<FailOn>,
    /// With --against: equivalent where the whole interval of the change is within ± this
    #[arg(long, value_name = "PERCENT", default_value = "5%", requires = "against", help_heading = AGAINST)]
    pub margin: Share,
    /// On a virtual array: record the latency breakdown of each request for `fathom explain`. The model runs slower
    #[arg(long, conflicts_with = "against")]
    pub shares: bool,
}

#[derive(Debug, Args)]
pub struct RunArgs {
    /// A ready plan (`fathom plan list`) or a TOML file
    pub plan: String,
    #[command(flatten)]
    pub change: PlanChange,
    /// The target: a directory, a file, a block device, a virtual array (array:NAME) or `null:`; several are used
    /// together, as LUNs
    #[arg(long = "on", value_name = "TARGET", help_heading = TARGET)]
    pub targets: Vec<String>,
    /// Consent to destroy the data on the target: its serial number, by-id name, or a file's absolute path, with
    /// `data:` before it where a device is not blank; once for each target
    #[arg(long, value_name = "IDENTITY", help_heading = TARGET)]
    pub destroy: Vec<String>,
    /// Keep the scratch files for the next run
    #[arg(long, help_heading = TARGET)]
    pub keep: bool,
    /// Create a file where the target does not exist
    #[arg(long, help_heading = TARGET)]
    pub create: bool,
    /// Total size of the scratch files, exactly [default: larger than the known caches, as far as space allows]
    #[arg(long, value_name = "SIZE", help_heading = TARGET)]
    pub scratch: Option<Bytes>,
    #[command(flatten)]
    pub upkeep: Upkeep,
    /// Print points, bytes, time and what would be destroyed; run nothing and open nothing for writing
    #[arg(long)]
    pub dry_run: bool,
    /// Format of stdout
    #[arg(long, value_enum, default_value_t = Format::Text, help_heading = OUTPUT)]
    pub format: Format,
    /// Also write the result to this file, in the format of its extension; may be given several times. With --against
    /// the comparison: .txt .json .csv .md
    #[arg(short, long = "output", value_name = "FILE", help_heading = OUTPUT)]
    #[arg(value_parser = named())]
    pub outputs: Vec<PathBuf>,
    /// Do not save the run in the library
    #[arg(long, help_heading = OUTPUT)]
    pub no_save: bool,
    /// No progress on stderr
    #[arg(short, long, help_heading = OUTPUT)]
    pub quiet: bool,
    #[command(flatten)]
    pub look: Look,
}

#[derive(Debug, Args)]
pub struct Upkeep {
    /// Where to read the progress of a rebuild: md:md0, btrfs-replace:/mnt, btrfs-scrub:/mnt or zpool:tank
    #[arg(long, value_name = "SOURCE", help_heading = REBUILD)]
    pub progress: Option<real::Source>,
    /// A command that prints the progress of a rebuild in percent
    #[arg(long, value_name = "COMMAND", conflicts_with = "progress", help_heading = REBUILD)]
    pub progress_cmd: Option<String>,
    /// A command that fails a disk where the plan has `fail_disk`; its number is in FATHOM_DISK
    #[arg(long, value_name = "COMMAND", help_heading = REBUILD)]
    pub fail_cmd: Option<String>,
    /// A command that starts a rebuild where the plan has one
    #[arg(long, value_name = "COMMAND", help_heading = REBUILD)]
    pub rebuild_cmd: Option<String>,
}

#[derive(Debug, Args)]
pub struct AsArgs {
    /// Consent to destroy the data on the target: its serial number, by-id name, or a file's absolute path, with
    /// `data:` before it where a device is not blank; once for each target, in the environment one per line
    #[arg(long, value_name = "IDENTITY", env = "FATHOM_DESTROY", value_delimiter = '\n')]
    pub destroy: Vec<String>,
    /// Do not save the run in the library
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
    /// The SLO: p99<5ms, read.p99<5ms (write., trim.), service p99.9<10ms, mean<800us, errors<0.1%; may be given
    /// several times
    #[arg(long = "slo", value_name = "SLO", required = true)]
    pub slos: Vec<Slo>,
    /// The load to search, by the name of its point or phase [default: the only one; depth, workers, pace, rounds and
    /// repeats make no loads of their own]
    #[arg(long, value_name = "NAME")]
    pub load: Option<String>,
    /// Stop the bisection when the highest rate that meets and the lowest that violates the SLO are this close
    #[arg(long, value_name = "PERCENT", default_value = "2%", help_heading = TRIALS)]
    pub tolerance: Share,
    /// Duration of the first trial at a rate, at least 10s; each further trial doubles the total
    #[arg(long, value_name = "TIME", default_value = "15s", help_heading = TRIALS)]
    pub trial: Nanos,
    /// Total duration of the trials at one rate; undecided beyond it [default: 4min, 16min for SLOs beyond p99]
    #[arg(long, value_name = "TIME", help_heading = TRIALS)]
    pub max_trial: Option<Nanos>,
    /// Maximum queue depth [default: twice what the SLO allows at the highest rate, up to 1024]
    #[arg(long, value_name = "COUNT", help_heading = TRIALS)]
    pub depth: Option<u32>,
    /// Size of the write cache: it is filled before each rate, so that the storage behind it is measured; 0B: do not
    /// fill [default: known of a virtual array; otherwise found by writing]
    #[arg(long, value_name = "SIZE", help_heading = TRIALS)]
    pub write_cache: Option<Bytes>,
    /// Lowest rate to try, such as 500/s or 20k/s [default: a hundredth of the closed loop's]
    #[arg(long, value_name = "RATE", help_heading = TRIALS)]
    pub from: Option<OpsPerSecond>,
    /// Highest rate to offer at any time; then there is no closed loop and no overload either [default: no maximum]
    #[arg(long, value_name = "RATE", help_heading = TRIALS)]
    pub to: Option<OpsPerSecond>,
    #[command(flatten)]
    pub run: RunArgs,
}

#[derive(Debug, Args)]
pub struct PlanChange {
    /// Set a key of the plan, such as depth=32 or phase.1.size=8KiB; may be given several times
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub set: Vec<String>,
    /// Label the run, such as room=3; may be given several times
    #[arg(long = "tag", value_name = "KEY=VALUE")]
    pub tags: Vec<String>,
}

#[derive(Debug, Args)]
pub struct Look {
    /// When to use colours
    #[arg(long, value_enum, default_value_t = Colour::Auto, value_name = "WHEN", help_heading = OUTPUT)]
    pub color: Colour,
    /// Width of tables [default: the terminal's, or 100]
    #[arg(long, value_name = "COLUMNS", help_heading = OUTPUT)]
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
        (Format::Text, "text", "Tables"),
        (Format::Json, "json", "The record"),
        (Format::Jsonl, "jsonl", "Events during the run, one JSON object per line"),
        (Format::Csv, "csv", "One line per point, workload and operation"),
        (Format::Md, "md", "Markdown tables"),
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
    /// List the ready plans
    List,
    /// Print the text of a plan
    Show {
        /// A ready plan or a file
        plan: String,
    },
    /// Check a plan, and print its points, bytes and time
    Check {
        /// A ready plan or a file
        plan: String,
        #[command(flatten)]
        change: PlanChange,
    },
    /// Explain a key of the plan language, or list all keys
    Help {
        /// The key, such as depth; a word of fio's is translated
        key: Option<String>,
    },
    /// Print a classic tool's job file as a plan
    Convert {
        /// The job file
        file: String,
        /// The tool of the job file, where the file does not show it
        #[arg(long, value_name = "TOOL")]
        from: Option<String>,
    },
}

#[derive(Debug, Subcommand)]
pub enum ArrayVerb {
    /// List the virtual arrays
    List,
    /// Show an array: its options, and every figure with its source
    Show {
        /// A name, a TOML file, or an address such as md3000?raid=10&luns=2
        array: String,
    },
    /// Check an array file, and print its capacity and limits
    Check {
        /// A name, a TOML file, or an address such as md3000?raid=10&luns=2
        array: String,
    },
    /// Probability of data loss of an array, during a rebuild and over time
    Loss(LossArgs),
    /// Measure a target, and write a model fitted to it
    Fit(FitArgs),
}

#[derive(Debug, Args)]
pub struct LossArgs {
    /// A name, a TOML file, or an address such as md3000?raid=6
    pub array: String,
    /// Duration of a rebuild, such as 12h
    #[arg(long, value_name = "TIME", required_unless_present = "run")]
    pub rebuild: Option<Nanos>,
    /// Take the duration of the rebuild from this run: last, last~1, a number of `fathom ls`, or the beginning of an id
    #[arg(long, value_name = "RUN", conflicts_with = "rebuild")]
    pub run: Option<String>,
    /// Weibull characteristic life: the age that 37 % of the disks reach
    // Elerath & Pecht, IEEE Transactions on Computers 58 (2009): disks in the field.
    #[arg(long, value_name = "TIME", default_value = "461386h")]
    pub disk_life: Nanos,
    /// Weibull shape: below 1 infant mortality, 1 a constant failure rate, above 1 wear-out
    #[arg(long, value_name = "SHAPE", default_value_t = 1.12)]
    pub shape: f64,
    /// Age of the disks
    #[arg(long, value_name = "TIME", default_value = "0h")]
    pub age: Nanos,
    /// Unrecoverable read errors per bit, as in the data sheet
    #[arg(long, value_name = "PROBABILITY", default_value_t = 1e-15)]
    pub ure: f64,
    /// The period to predict
    #[arg(long, value_name = "TIME", default_value = "8766h")]
    pub over: Nanos,
    /// Simulated histories
    #[arg(long, value_name = "COUNT", default_value_t = 40_000,
        value_parser = clap::value_parser!(u32).range(1_000..=10_000_000))]
    pub histories: u32,
    /// Random seed
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct FitArgs {
    /// What to measure: a block device, a file, a directory, a virtual array; or saved runs with enough points: last,
    /// last~1, numbers of `fathom ls`, beginnings of ids, record files
    #[arg(required = true, value_name = "TARGET|RUN")]
    pub what: Vec<String>,
    /// The array file to write
    #[arg(short, long, value_name = "FILE")]
    #[arg(value_parser = named())]
    pub output: PathBuf,
    /// Consent to destroy the data on the target: its serial number, by-id name, or a file's absolute path. Without it
    /// nothing is written, and writes are not fitted
    #[arg(long, value_name = "IDENTITY")]
    pub destroy: Vec<String>,
    /// Size of the scratch file in a directory, exactly [default: larger than the known caches, as far as space allows]
    #[arg(long, value_name = "SIZE")]
    pub scratch: Option<Bytes>,
    /// Do not save the runs in the library
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
    /// Use these cases in place of the shipped ones; may be given several times
    #[arg(long, value_name = "FILE")]
    #[arg(value_parser = named())]
    pub cases: Vec<PathBuf>,
    /// Only cases whose id contains this
    #[arg(long, value_name = "TEXT")]
    pub only: Option<String>,
    /// Random seed
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
}

#[derive(Debug, Args)]
pub struct LsArgs {
    /// Only runs of this plan
    #[arg(long)]
    pub plan: Option<String>,
    /// Only runs whose target's name contains this
    #[arg(long, value_name = "TEXT")]
    pub on: Option<String>,
    /// Only runs with this label: KEY or KEY=VALUE
    #[arg(long = "tag", value_name = "KEY[=VALUE]")]
    pub tags: Vec<String>,
    /// Only runs started on this day or later, such as 2026-01-31
    #[arg(long, value_name = "DATE")]
    pub since: Option<String>,
    /// Maximum number of runs listed
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
    /// Format of stdout
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
    /// All findings, and the checks behind the grade
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
    /// Parts and ceilings of the path to the media that the kernel does not know, in TOML
    #[arg(long, value_name = "FILE")]
    #[arg(value_parser = named())]
    pub parts: Option<PathBuf>,
    /// Of a run on a virtual array: repeat its last point with each part 10 % faster, and at twice the queue depth, and
    /// print the gains
    #[arg(long, conflicts_with = "model")]
    pub what_if: bool,
    /// With --what-if: another point, by its number from 1 or its name
    #[arg(long, value_name = "POINT", requires = "what_if")]
    pub point: Option<String>,
    /// With --what-if: repetitions of each, with different seeds; more detect smaller effects
    #[arg(long, value_name = "COUNT", requires = "what_if", default_value_t = 5,
        value_parser = clap::value_parser!(u32).range(2..=100))]
    pub seeds: u32,
    /// Compare every point with the prediction of this model, an array file of `fathom array fit`
    #[arg(long, value_name = "FILE", conflicts_with = "parts")]
    #[arg(value_parser = named())]
    pub model: Option<PathBuf>,
    /// Every finding of every point with its numbers, not only the top ten
    #[arg(long)]
    pub full: bool,
    /// Format of stdout
    #[arg(long, value_enum, default_value_t = TreeFormat::Text)]
    pub format: TreeFormat,
    #[command(flatten)]
    pub look: Look,
}

#[derive(Debug, Args)]
pub struct CompareArgs {
    /// The runs, the first of which is the baseline: last, last~1, a number of `fathom ls`, the beginning of an id, or
    /// a record file; runs joined by commas count as repeats. With --by, the runs to group
    pub runs: Vec<String>,
    /// Group runs by the value of a key: a label, a fact such as firmware or file-system, kernel, host, target, an
    /// array's option, a key of the plan [default runs: those of one plan in the library]
    #[arg(long, value_name = "KEY")]
    pub by: Option<String>,
    /// With --by: the value that is the baseline [default: that of the oldest run]
    #[arg(long, value_name = "VALUE", requires = "by")]
    pub base: Option<String>,
    /// With --by: only runs of this plan [default: the plan of the latest run that has the key]
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
    /// Also write the comparison to this file, in the format of its extension: .txt .json .csv .md; may be given
    /// several times
    #[arg(short, long = "output", value_name = "FILE")]
    #[arg(value_parser = named())]
    pub outputs: Vec<PathBuf>,
    /// Format of stdout
    #[arg(long, value_enum, default_value_t = CompareFormat::Text)]
    pub format: CompareFormat,
    #[command(flatten)]
    pub look: Look,
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

#[derive(Debug, Args)]
pub struct ExportArgs {
    /// last, last~1, a number of `fathom ls`, or the beginning of an id
    #[arg(default_value = "last")]
    pub run: String,
    /// The file to write, in the format of its extension: .json .jsonl .csv .md .txt, or a tool's, such as .fio.json;
    /// may be given several times
    #[arg(short, long = "output", value_name = "FILE")]
    #[arg(value_parser = named())]
    pub outputs: Vec<PathBuf>,
    /// Format of stdout, where no file is named
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
    /// A directory, file or device to check; it is only read
    pub target: Option<String>,
    /// Parts and ceilings of the path to the media that the kernel does not know, in TOML
    #[arg(long, value_name = "FILE", requires = "target")]
    #[arg(value_parser = named())]
    pub parts: Option<PathBuf>,
    /// Find the caches of the target, or of a virtual array, by random reads over working sets of growing size; the run
    /// is saved, and later runs on the target use it
    #[arg(long, requires = "target", conflicts_with_all = ["parts", "self_test"])]
    pub caches: bool,
    /// The largest working set [default: 4GiB]
    #[arg(long, value_name = "SIZE", requires = "caches")]
    pub most: Option<Bytes>,
    /// Restore what killed runs left changed, and list it: scratch files removed, read-ahead reset. Every run does that
    /// for the runs before it
    #[arg(long, conflicts_with_all = ["target", "parts", "caches", "self_test", "format"])]
    pub restore: bool,
    /// Format of stdout
    #[arg(long, value_enum, default_value_t = TreeFormat::Text)]
    pub format: TreeFormat,
    /// Test the program's own generators, intervals and verdicts against known answers, in about a minute
    #[arg(long)]
    pub self_test: bool,
    /// Only this part; may be given several times
    #[arg(long, value_enum, value_name = "PART", requires = "self_test")]
    pub only: Vec<crate::verbs::self_test::Part>,
    /// As many cases as the published figures rest on; takes minutes
    #[arg(long, requires = "self_test")]
    pub full: bool,
    #[command(flatten)]
    pub look: Look,
}

/// What a path to the media, or findings, are written as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum TreeFormat {
    /// Text
    Text,
    /// JSON, as in the record
    Json,
}

/// A path, of which bytes that are no text have come as characters.
fn named() -> impl TypedValueParser<Value = PathBuf> {
    OsStringValueParser::new()
        .map(|name| name.to_str().map_or_else(|| PathBuf::from(&name), units::name::path))
}
