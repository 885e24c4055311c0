//! The command line's grammar.

use clap::{Parser, Subcommand};

use crate::emulate::AsArgs;
use crate::session::ranks;
use crate::session::store::Store;
use crate::verbs::array::ArrayVerb;
use crate::verbs::campaign::CampaignArgs;
use crate::verbs::compare::CompareArgs;
use crate::verbs::completions::CompletionsArgs;
use crate::verbs::doctor::DoctorArgs;
use crate::verbs::explain::ExplainArgs;
use crate::verbs::explore::ExploreArgs;
use crate::verbs::import::ImportArgs;
use crate::verbs::library::{ExportArgs, LsArgs, RmArgs, ShowArgs};
use crate::verbs::man::ManArgs;
use crate::verbs::plan::PlanVerb;
use crate::verbs::report::ReportArgs;
use crate::verbs::run::MeasureArgs;
use crate::verbs::search::SearchArgs;
use crate::verbs::serve::ServeArgs;
use crate::verbs::ui::UiArgs;
use crate::verbs::validate::ValidateArgs;

mod examples;

/// Measures storage, models it, and says why.
#[derive(Debug, Parser)]
#[command(name = "fathom", version, max_term_width = 100, after_help = EXAMPLES)]
pub struct Cli {
    #[command(flatten)]
    pub store: Store,
    #[command(subcommand)]
    pub verb: Verb,
}

impl Cli {
    /// Whether it asks storage for more than what is written on it, and so may change something for that time.
    pub fn measures(&self) -> bool {
        match &self.verb {
            Verb::Run(arguments) => !arguments.run.dry_run,
            Verb::Search(arguments) => !arguments.run.dry_run,
            Verb::Campaign(arguments) => arguments.measures(),
            Verb::Doctor(arguments) => arguments.caches,
            Verb::Array(ArrayVerb::Fit(_)) | Verb::As(_) => true,
            // A rank that is killed takes nothing with it: its guard waits until the others have noticed.
            Verb::Explore(_) => ranks::are_several(),
            _ => false,
        }
    }

    /// Whether the verb simulates many arrays one after the other.
    pub fn simulates_many(&self) -> bool {
        matches!(self.verb, Verb::Explore(_) | Verb::Validate(_))
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
  1  an SLO, limit or baseline failed   6  data integrity
  2  usage; nothing was touched         7  a rank of `mpirun` was lost
  3  refused as unsafe, not touched     8  internal, or the run was not saved
  4  finished, but the result is invalid
  128 + signal  interrupted, and saved: 130 Ctrl-C, 143 TERM, 129 HUP

`fathom COMMAND --help` has the rest; the guide is in docs/ of the source.";

#[derive(Debug, Subcommand)]
pub enum Verb {
    /// Measure a target with a plan, and save the result
    #[command(after_help = examples::RUN)]
    Run(MeasureArgs),
    /// Find the maximum sustained rate that meets SLOs such as p99<5ms
    #[command(after_help = examples::SEARCH)]
    Search(SearchArgs),
    /// Measure factors (RAID level, disks, firmware, …) × plans in blocks, and say which of them matter
    #[command(after_help = examples::CAMPAIGN)]
    Campaign(CampaignArgs),
    /// Search a space of virtual arrays: the Pareto front, the cheapest design that meets every requirement, what each one
    /// costs
    #[command(after_help = examples::EXPLORE)]
    Explore(ExploreArgs),
    /// List, show and check plans; explain their keys
    #[command(subcommand, disable_help_subcommand = true, mut_subcommands(examples::of_plan))]
    Plan(PlanVerb),
    /// Run as a classic tool (fio, dd, IOzone, …): its arguments, its output
    #[command(after_help = examples::of_tools())]
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
    /// Write runs up: a page with charts, tables and findings, a workbook, or single charts
    #[command(after_help = examples::REPORT)]
    Report(ReportArgs),
    /// Serve the page: saved runs, reports, comparisons, campaigns, a plan editor and runs in progress, in a browser
    #[command(after_help = examples::UI)]
    Ui(UiArgs),
    /// Write a run in another format
    #[command(after_help = examples::EXPORT)]
    Export(ExportArgs),
    /// Bring runs of another library, or records in files, into this one
    #[command(after_help = examples::IMPORT)]
    Import(ImportArgs),
    /// Remove saved runs
    #[command(after_help = examples::RM)]
    Rm(RmArgs),
    /// Check this machine, the I/O path to a target (controller, links, caches), and the tool itself
    #[command(after_help = examples::DOCTOR)]
    Doctor(DoctorArgs),
    /// Serve a virtual array as a block device (NBD) that holds data, fails and rebuilds
    #[command(after_help = examples::SERVE)]
    Serve(ServeArgs),
    /// List, show and check virtual arrays; operate a served one
    #[command(subcommand, mut_subcommands(examples::of_array))]
    Array(ArrayVerb),
    /// Validate virtual arrays against published results
    #[command(after_help = examples::VALIDATE)]
    Validate(ValidateArgs),
    /// List the formats that are read and written, and the tools that are emulated
    #[command(after_help = examples::FORMATS)]
    Formats,
    /// Print the completion script of a shell
    #[command(after_help = examples::COMPLETIONS)]
    Completions(CompletionsArgs),
    /// Print the manual page, or write one for each command into a directory
    #[command(after_help = examples::MAN)]
    Man(ManArgs),
}
