//! `fathom plan`, and how every verb finds a plan.

use std::fs;

use workload::plan::{Overrides, Plan, ready};

use crate::cli::{PlanChange, PlanVerb};
use crate::ending::{Ending, Failure};
use crate::terminal;

/// A plan's text and where it came from.
pub struct Found {
    pub origin: String,
    pub text: String,
}

pub fn plan(verb: &PlanVerb) -> Result<Ending, Failure> {
    let printed = match verb {
        PlanVerb::List => terminal::print_wrapped(&list()),
        PlanVerb::Show { plan } => terminal::print(&find(plan)?.text),
        PlanVerb::Check { plan, change } => {
            let (plan, _) = read(plan, &overrides(change))?;
            terminal::print_wrapped(&plan.summary().to_string())
        }
    };
    printed.map_err(|source| Failure::System { what: "writing to stdout".into(), source })?;
    Ok(Ending::done())
}

pub fn overrides(change: &PlanChange) -> Overrides {
    Overrides { set: change.set.clone(), tags: change.tags.clone() }
}

/// The plan called `name`, read, with its origin. Cautions go to stderr.
pub fn read(name: &str, overrides: &Overrides) -> Result<(Plan, String), Failure> {
    let Found { origin, text } = find(name)?;
    let plan = Plan::parse(&origin, &text, overrides).map_err(Failure::Plan)?;
    for caution in &plan.cautions {
        terminal::say(&caution.plain());
    }
    Ok((plan, origin))
}

/// A file where the name looks like a path or one is there; otherwise a ready plan.
fn find(name: &str) -> Result<Found, Failure> {
    let looks_like_path = name.contains('/') || name.ends_with(".toml");
    if !looks_like_path && let Some(ready) = ready::find(name) {
        return Ok(Found { origin: name.into(), text: ready.text.into() });
    }
    match fs::read_to_string(name) {
        Ok(text) => Ok(Found { origin: name.into(), text }),
        Err(error) if looks_like_path => {
            Err(Failure::Usage(format!("{name}: the plan cannot be read: {error}")))
        }
        Err(_) => {
            let near =
                ready::suggest(name).map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
            Err(Failure::Usage(format!(
                "there is no plan `{name}`: neither a ready one (`fathom plan list`) nor a file{near}"
            )))
        }
    }
}

fn list() -> String {
    let widest = ready::all().iter().map(|ready| ready.name.len()).max().unwrap_or(0);
    let about =
        |ready: &ready::Ready| ready.plan(&Overrides::default()).map(|plan| plan.about).unwrap_or_default();
    ready::all().iter().map(|ready| format!("{:widest$}  {}\n", ready.name, about(ready))).collect()
}
