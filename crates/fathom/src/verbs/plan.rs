//! `fathom plan`

use clap::Subcommand;
use workload::plan::{Overrides, ready, reference};

use crate::ending::{Ending, Failure};
use crate::input::candidates;
use crate::input::plans::{self, PlanChange};
use crate::output;

#[derive(Debug, Subcommand)]
pub enum PlanVerb {
    /// List the ready plans
    List,
    /// Print the text of a plan
    Show {
        /// A ready plan or a file
        #[arg(add = candidates::plans())]
        plan: String,
    },
    /// Check a plan, and print its points, bytes and time
    Check {
        /// A ready plan or a file
        #[arg(add = candidates::plans())]
        plan: String,
        #[command(flatten)]
        change: PlanChange,
    },
    /// Explain a key of the plan language, or list all keys
    Help {
        /// The key, such as depth; a word of fio's is translated
        #[arg(add = candidates::keys(""))]
        key: Option<String>,
    },
    /// Print a classic tool's job file as a plan
    Convert {
        /// The job file
        #[arg(value_hint = clap::ValueHint::FilePath)]
        file: String,
        /// The tool of the job file, where the file does not show it
        #[arg(long, value_name = "TOOL", add = candidates::job_tools())]
        from: Option<String>,
    },
}

pub fn plan(verb: &PlanVerb) -> Result<Ending, Failure> {
    match verb {
        PlanVerb::List => output::print_wrapped(&list())?,
        PlanVerb::Show { plan } => output::print(&plans::text(plan)?)?,
        PlanVerb::Check { plan, change } => {
            output::print_wrapped(&plans::read(plan, change.overrides())?.plan.summary().to_string())?;
        }
        PlanVerb::Help { key: None } => output::print_wrapped(&reference::list())?,
        PlanVerb::Help { key: Some(key) } => {
            output::print_wrapped(&reference::help(key).map_err(Failure::Usage)?)?;
        }
        PlanVerb::Convert { file, from } => output::print(&plans::converted(file, from.as_deref())?)?,
    }
    Ok(Ending::done())
}

fn list() -> String {
    let widest = ready::all().iter().map(|ready| ready.name.len()).max().unwrap_or(0);
    ready::all().iter().map(|ready| format!("{:widest$}  {}\n", ready.name, about(ready))).collect()
}

/// What a ready plan is for, in a sentence.
pub fn about(ready: &ready::Ready) -> String {
    ready.plan(&Overrides::default()).map(|plan| plan.about).unwrap_or_default()
}
