//! `fathom explain --what-if`: a point of a virtual run again, one part faster at a time.

use conduct::what_if::{Asked, what_if};
use record::{Point, PointKind, Run, WhatIf, World};
use workload::plan::{Overrides, Plan};

use crate::cli::ExplainArgs;
use crate::ending::Failure;
use crate::models::{self, LIBRARY};
use crate::signals::Signals;

/// How many times as fast a part is made.
const TIMES: f64 = 1.1;

/// Carries a point of `run` out again as its record says, on the array that the record names.
pub fn try_parts(arguments: &ExplainArgs, run: &Run) -> Result<WhatIf, Failure> {
    let refuse = |why: &str| Failure::Usage(format!("run {}: {why}", run.id));
    if run.world != World::Array {
        return Err(refuse(
            "--what-if makes parts of a virtual array faster, and this run asked real storage; measure again with \
             `--on array:NAME`",
        ));
    }
    if run.search.is_some() {
        return Err(refuse(
            "a search sets rates of its own, which no plan has; carry its plan out with `fathom run`",
        ));
    }
    let targets: Vec<String> = run.targets.iter().map(|target| target.asked.clone()).collect();
    let address = models::address(&targets)?.ok_or_else(|| refuse("its record names no virtual array"))?;
    let overrides = Overrides { set: run.plan.overrides.clone(), tags: Vec::new() };
    let plan = Plan::parse(&run.plan.origin, &run.plan.text, &overrides).map_err(Failure::Plan)?;
    let point = chosen(arguments, run)?;
    let index = point.index as usize;
    if plan.points().get(index).is_none_or(|planned| planned.name != point.name) {
        return Err(refuse("its plan, as this program reads it, has other points than its record"));
    }
    let rates = point.workloads.iter().filter_map(|workload| workload.total());
    let recorded_ops_per_s = rates.map(|total| total.ops_per_s.value).sum();
    let asked =
        Asked { plan: &plan, index, address, recorded_ops_per_s, seeds: arguments.seeds, times: TIMES };
    let signals = Signals::listen()
        .map_err(|source| Failure::System { what: "listening for signals".into(), source })?;
    what_if(&asked, &LIBRARY, &signals.stop()).map_err(|error| match error {
        conduct::what_if::WhatIfError::Model(error) => error.into(),
        conduct::what_if::WhatIfError::World(error) => error.into(),
        error => refuse(&error.to_string()),
    })
}

/// The point that is named, or the last that asked for anything.
fn chosen<'r>(arguments: &ExplainArgs, run: &'r Run) -> Result<&'r Point, Failure> {
    let mut loads = run.points.iter().filter(|point| point.kind == PointKind::Load && point.complete);
    let Some(asked) = &arguments.point else {
        return loads.next_back().ok_or_else(|| {
            Failure::Usage(format!("run {} has no point that was carried to its end", run.id))
        });
    };
    let number = asked.parse::<u32>().ok().and_then(|number| number.checked_sub(1));
    let names: Vec<&str> = loads.clone().map(|point| point.name.as_str()).collect();
    loads.find(|point| point.name == *asked || number == Some(point.index)).ok_or_else(|| {
        Failure::Usage(format!("run {} has no point `{asked}`; it has {}", run.id, names.join(", ")))
    })
}
