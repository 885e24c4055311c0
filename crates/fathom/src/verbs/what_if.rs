//! `fathom explain --what-if`: a point of a virtual run again, one part faster at a time.

use conduct::what_if::{Asked, SETTLE_SEEDS, SETTLE_TIMES, rate_of, what_if};
use record::{Finding, Point, PointKind, Run, WhatIf, World};
use workload::plan::{Overrides, Plan};

use crate::cli::ExplainArgs;
use crate::ending::Failure;
use crate::models::{self, LIBRARY};
use crate::signals::Signals;

/// How many times as fast a part is made.
const TIMES: f64 = 1.1;

/// A trial asks for as many requests as the record has up to the point. Where all trials of it ask for no more than
/// these, seconds of one processor, an open limit is settled without being asked to.
const SETTLE_REQUESTS: u64 = 5_000_000;

/// Trials of one point: of each seed some twelve parts, the array as it is, and twice the depth.
const SETTLE_TRIALS: u64 = SETTLE_SEEDS as u64 * 14;

/// Carries a point of `run` out again as its record says, on the array that the record names.
pub fn try_parts(arguments: &ExplainArgs, run: &Run) -> Result<WhatIf, Failure> {
    Again::of(run)?.trials(chosen(arguments, run)?, arguments.seeds, TIMES)
}

/// Finds the limit of points of a virtual array by trial where their records leave it open, and puts it in the place of
/// the finding that says so.
///
/// Points that would take long are left as they are, and those that cannot be carried out again, such as a search's.
pub fn settle(run: &mut Run) {
    let open = explain::open_points(run);
    if open.is_empty() {
        return;
    }
    let Ok(again) = Again::of(run) else { return };
    let mut settled = Vec::new();
    for point in run.points.iter().filter(|point| open.contains(&point.index)) {
        let before = run.points.iter().filter(|other| other.index <= point.index);
        let requests: u64 = before.flat_map(|other| &other.workloads).map(|workload| workload.settled).sum();
        if requests.saturating_mul(SETTLE_TRIALS) > SETTLE_REQUESTS {
            continue;
        }
        let Ok(tried) = again.trials(point, SETTLE_SEEDS, SETTLE_TIMES) else { return };
        settled.push(tried);
    }
    settled.iter().for_each(|tried| settle_with(run, tried));
}

/// Puts what `tried` says of the limit of its point in the place of the finding that leaves it open.
pub fn settle_with(run: &mut Run, tried: &WhatIf) {
    if let Some(found) = explain::settled(run, tried)
        && explain::open_points(run).contains(&tried.point)
    {
        let open =
            |finding: &&mut Finding| finding.code == "limit-open" && finding.point == Some(tried.point);
        run.findings.iter_mut().filter(open).for_each(|finding| *finding = found.clone());
    }
}

/// A run of a virtual array that can be carried out again.
struct Again<'r> {
    run: &'r str,
    plan: Plan,
    address: String,
    signals: Signals,
}

impl Again<'_> {
    fn of(run: &Run) -> Result<Again<'_>, Failure> {
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
        let address =
            models::address(&targets)?.ok_or_else(|| refuse("its record names no virtual array"))?.to_owned();
        let overrides = Overrides { set: run.plan.overrides.clone(), tags: Vec::new() };
        let plan = Plan::parse(&run.plan.origin, &run.plan.text, &overrides).map_err(Failure::Plan)?;
        let signals = Signals::listen()
            .map_err(|source| Failure::System { what: "listening for signals".into(), source })?;
        Ok(Again { run: &run.id, plan, address, signals })
    }

    fn trials(&self, point: &Point, seeds: u32, times: f64) -> Result<WhatIf, Failure> {
        let refuse = |why: &str| Failure::Usage(format!("run {}: {why}", self.run));
        let index = point.index as usize;
        if self.plan.points().get(index).is_none_or(|planned| planned.name != point.name) {
            return Err(refuse("its plan, as this program reads it, has other points than its record"));
        }
        let asked = Asked {
            plan: &self.plan,
            index,
            address: &self.address,
            altered: &[],
            recorded: rate_of(point),
            seeds,
            times,
        };
        what_if(&asked, &LIBRARY, &self.signals.stop()).map_err(|error| match error {
            conduct::what_if::WhatIfError::Model(error) => error.into(),
            conduct::what_if::WhatIfError::World(error) => error.into(),
            error => refuse(&error.to_string()),
        })
    }
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
