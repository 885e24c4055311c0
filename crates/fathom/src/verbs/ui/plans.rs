//! Plans for the page: those that are ready, their keys, and whether a text is one.

use array::spec::{Shelf, Source};
use document::{Errors, Mistake};
use real::RealOptions;
use serde_json::{Value, json};
use spec::Pattern;
use web::{Answer, Check, Refusal};
use workload::plan::{Overrides, Plan, Task, ready, reference};

use super::refusal;
use crate::ending::Failure;
use crate::input::arrays::LIBRARY;
use crate::input::traces;
use crate::session::dry_run::{self, Foreseen};
use crate::verbs::plan::about;

/// What errors call a text that came from the page.
const LABEL: &str = "plan.toml";

/// The ready plans.
pub fn list() -> Value {
    let plans: Vec<Value> =
        ready::all().iter().map(|plan| json!({ "name": plan.name, "about": about(plan) })).collect();
    json!({ "plans": plans })
}

/// One of them with its text.
pub fn one(name: &str) -> Answer {
    must_be_ready(name)?;
    let found =
        ready::find(name).map(|plan| json!({ "name": plan.name, "about": about(plan), "toml": plan.text }));
    found.ok_or_else(|| Refusal::parted(404, &format!("there is no ready plan `{name}`")))
}

/// That `name` is a ready plan: one that is a file is not opened for the page.
pub fn must_be_ready(name: &str) -> Result<(), Refusal> {
    if ready::find(name).is_some() {
        return Ok(());
    }
    let near = ready::suggest(name).map(|near| format!("did you mean `{near}`?"));
    let help =
        near.unwrap_or_else(|| "GET /api/plans lists them; the text of another goes into `toml`".into());
    Err(Refusal { status: 404, error: format!("there is no ready plan `{name}`"), help: Some(help) })
}

/// Every key of the plan language.
pub fn keys() -> Value {
    let keys: Vec<Value> = reference::entries()
        .map(|doc| {
            let default = (!doc.default.is_empty()).then_some(doc.default);
            json!({
                "key": doc.key, "section": doc.section, "about": doc.short, "more": doc.long, "default": default,
                "takes": doc.takes, "example": doc.example,
            })
        })
        .collect();
    json!({ "keys": keys })
}

/// Whether an address names an array of the library, with options that name no file either.
pub fn is_shipped(address: &str) -> bool {
    let name = address.split('?').next().unwrap_or_default();
    let is_known = LIBRARY.names(Shelf::Array).iter().any(|own| own == name.trim_start_matches("array:"));
    is_known && !address.contains('/') && !address.contains(".toml")
}

/// Whether `check` is a plan, and what it would do. Without the token no file, no device and no trace is opened.
pub fn check(check: &Check, trusted: bool) -> Answer {
    let on = check.on.list();
    let overrides = Overrides { set: check.set.clone(), tags: Vec::new() };
    let mut plan = match Plan::parse(LABEL, &check.toml, &overrides) {
        Ok(plan) => plan,
        Err(errors) => return Ok(wrong(Failure::Plan(errors), LABEL)),
    };
    if !trusted && (reads_files(&plan) || !on.iter().all(|target| is_free(target))) {
        return Err(names_files("plan"));
    }
    let cautions: Vec<Value> = plan.cautions.iter().map(|caution| mistake(caution, LABEL)).collect();
    match foreseen(&mut plan, on) {
        Ok(Foreseen { text, refused, barred }) => {
            let told = json!({ "ok": true, "dry_run": text, "refused": refused, "barred": barred, "cautions": cautions });
            Ok(told)
        }
        Err(failure) => Ok(wrong(failure, LABEL)),
    }
}

/// What is wrong with a text that errors call `label`, each mistake with its place in it.
pub fn wrong(failure: Failure, label: &str) -> Value {
    let errors = match failure {
        Failure::Document(errors) | Failure::Plan(errors) => told(&errors, label),
        failure => {
            let Refusal { error, help, .. } = refusal(failure);
            vec![json!({ "line": null, "column": null, "length": null, "message": error, "help": help })]
        }
    };
    json!({ "ok": false, "errors": errors })
}

/// Whether nothing is opened for a target.
pub fn is_free(target: &str) -> bool {
    target == "null:" || is_shipped(target)
}

/// Why a text is not looked at for somebody without the token.
pub fn names_files(what: &str) -> Refusal {
    Refusal {
        status: 401,
        error: format!(
            "the {what} or its targets name files or devices, and those are opened for the token alone"
        ),
        help: Some("send the token, or check it on a virtual array".into()),
    }
}

/// Whether the plan replays traces.
fn reads_files(plan: &Plan) -> bool {
    let loads = plan.points().iter().filter_map(|point| match &point.task {
        Task::Load(load) => Some(load),
        Task::State(_) => None,
    });
    loads.flat_map(|load| &load.workloads).any(|workload| matches!(workload.pattern, Pattern::Trace(_)))
}

/// What the plan would do on `targets`; on none, what it is.
fn foreseen(plan: &mut Plan, targets: Vec<String>) -> Result<Foreseen, Failure> {
    traces::attach(plan)?;
    if targets.is_empty() {
        return Ok(Foreseen { text: plan.summary().to_string() + "\n", refused: None, barred: None });
    }
    on_targets(plan, targets)
}

/// What the plan would do on `targets` without any consent.
pub fn on_targets(plan: &Plan, targets: Vec<String>) -> Result<Foreseen, Failure> {
    let options = RealOptions { targets, looks_inside: true, ..RealOptions::default() };
    dry_run::foreseen(plan, &options, plan.summary())
}

fn told(errors: &Errors, label: &str) -> Vec<Value> {
    errors.iter().map(|error| mistake(error, label)).collect()
}

/// A mistake with its place; one that does not stand in the text has the text's beginning, and says where it stands.
fn mistake(mistake: &Mistake, label: &str) -> Value {
    let place = mistake.place();
    debug_assert!(mistake.line() > 0 && mistake.column() > 0, "places of a text are counted from 1");
    let (line, column, length, elsewhere) = match mistake.file() {
        file if file == label => {
            let length = place.text().lines().next().unwrap_or_default().chars().count();
            (mistake.line(), mistake.column(), length, None)
        }
        other => (1, 1, 0, Some(other)),
    };
    json!({
        "line": line, "column": column, "length": length, "message": mistake.message(), "help": mistake.help(),
        "where": elsewhere,
    })
}
