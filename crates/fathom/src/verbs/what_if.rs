//! `fathom explain --what-if`: repeats a point of a virtual run with one part faster at a time.

use array::spec;
use clap::Args;
use conduct::{Machine, WorldError};
use explain::Untried;
use modelled::settings::Setting;
use modelled::what_if::{
    self, SETTLE_AGAIN, SETTLE_PARTS, SETTLE_SEEDS, SETTLE_TIMES, Study, WhatIfError, rate_of,
};
use record::{Finding, Point, PointKind, Run, WhatIf, World};
use workload::plan::{Overrides, Plan};

use crate::ending::Failure;
use crate::input::arrays::{self, LIBRARY};
use crate::session::signals::Signals;
use crate::terminal;

// No doc comment: clap would take it for the help of the verb.
#[derive(Debug, Args)]
pub struct WhatIfArgs {
    /// Of a run on a virtual array: repeat its last point with each part 10 % faster, and at twice the queue depth, and
    /// print the gains
    #[arg(long, conflicts_with = "model")]
    pub what_if: bool,
    /// With --what-if: another point, by its number from 1 or its name
    #[arg(long, value_name = "POINT", requires = "what_if")]
    pub point: Option<String>,
    /// With --what-if: repeats of each, with different seeds; more detect smaller effects
    #[arg(long, value_name = "COUNT", requires = "what_if", default_value_t = 5,
        value_parser = clap::value_parser!(u32).range(2..=100))]
    pub seeds: u32,
}

/// How many times as fast a part is made.
const TIMES: f64 = 1.1;

/// A trial issues as many requests as the record has up to the point. Where all trials of it issue no more than these,
/// some ten seconds of one processor, an open bottleneck is settled without an option.
const SETTLE_REQUESTS: u64 = 10_000_000;

/// Trials of one point: of each seed some twelve parts, the array as it is, twice the depth, twice the LUN queue, and what may be
/// put right; and once more, where that leaves it open, what matters.
const SETTLE_TRIALS: u64 = SETTLE_SEEDS as u64 * 20 + SETTLE_AGAIN as u64 * (SETTLE_PARTS as u64 + 3);

/// Trials of one point that put right what it may pay for: of each seed five such things at most and the array as it is.
const PUT_RIGHT_TRIALS: u64 = SETTLE_SEEDS as u64 * 6;

/// Repeats a point of `run` as its record says, on the array that the record names.
pub fn try_parts(arguments: &WhatIfArgs, run: &Run) -> Result<WhatIf, Failure> {
    Again::of(run)?.trials(chosen(arguments, run)?, arguments.seeds, TIMES)
}

/// Finds the limit of points of a virtual array by trial where their records leave it open, and puts it in the place of
/// the finding that says so.
///
/// Points that would take long are left as they are, and those that cannot be run again, such as a search's; their
/// finding then says what else to do. What other points pay for is tried as far as that takes no longer.
pub fn settle(run: &mut Run) {
    let open = explain::open_points(run);
    let depths: Vec<u32> =
        explain::untried_depths(run).into_iter().filter(|index| !open.contains(index)).collect();
    if run.world != World::Array {
        return;
    }
    let all: Vec<u32> = open.iter().chain(&depths).copied().collect();
    let Ok(again) = Again::of(run) else { return leave(run, &all, Untried::Unable) };
    let (mut settled, mut long, mut of_depths) = (Vec::new(), Vec::new(), 0_u64);
    for point in run.points.iter().filter(|point| all.contains(&point.index)) {
        let requests = requests_to(run, point).saturating_mul(SETTLE_TRIALS);
        // Of many points that are latency-bound all together take no longer than one that is open.
        of_depths += if depths.contains(&point.index) { requests } else { 0 };
        let is_long = if depths.contains(&point.index) { of_depths } else { requests } > SETTLE_REQUESTS;
        if is_long {
            long.push(point.index);
            continue;
        }
        let Ok(tried) = again.settled(run, point) else { break };
        settled.push(tried);
    }
    let tried: Vec<u32> = settled.iter().map(|tried| tried.point).collect();
    let unable: Vec<u32> =
        all.into_iter().filter(|index| !tried.contains(index) && !long.contains(index)).collect();
    debug_assert!(tried.iter().all(|index| !long.contains(index)), "a point is tried, or takes too long");
    settled.iter().for_each(|tried| settle_with(run, tried));
    leave(run, &long, Untried::Unasked);
    leave(run, &unable, Untried::Unable);
    settled.extend(again.put_right(run, &tried));
    let avoidable: Vec<Finding> = settled.iter().filter_map(|tried| explain::avoidable(run, tried)).collect();
    run.findings.extend(avoidable);
}

/// Requests of a run up to the end of `point`.
fn requests_to(run: &Run, point: &Point) -> u64 {
    let before = run.points.iter().filter(|other| other.index <= point.index);
    before.flat_map(|other| &other.workloads).map(|workload| workload.completed).sum()
}

/// Replaces the findings that leave open what bounds a point by the result of its trials.
pub fn settle_with(run: &mut Run, tried: &WhatIf) {
    let found = explain::settled(run, tried);
    let told = |open: &Finding| found.clone().unwrap_or_else(|| explain::unsettled(run, open, tried));
    let told: Vec<(usize, Finding)> =
        open_of(run, &[tried.point]).map(|(at, open)| (at, told(open))).collect();
    told.into_iter().for_each(|(at, finding)| run.findings[at] = finding);
}

/// Says what to do about what is open of points without trials.
pub fn leave(run: &mut Run, points: &[u32], why: Untried) {
    let told = |open: &Finding| explain::left(&run.id, open, why);
    let told: Vec<(usize, Finding)> = open_of(run, points).map(|(at, open)| (at, told(open))).collect();
    told.into_iter().for_each(|(at, finding)| run.findings[at] = finding);
}

/// The findings of a virtual array that leave open what bounds one of `points`, each with its place.
fn open_of<'r>(run: &'r Run, points: &'r [u32]) -> impl Iterator<Item = (usize, &'r Finding)> {
    let is_among = |finding: &Finding| finding.point.is_some_and(|index| points.contains(&index));
    let all = run.findings.iter().enumerate().filter(|_| run.world == World::Array);
    all.filter(move |(_, finding)| explain::is_open(finding) && is_among(finding))
}

/// A run of a virtual array that can be run again.
struct Again {
    run: String,
    plan: Plan,
    address: String,
    machine: Machine,
    signals: Signals,
}

impl Again {
    fn of(run: &Run) -> Result<Again, Failure> {
        let refuse = |why: &str| Failure::Usage(format!("run {}: {why}", run.id));
        if run.world != World::Array {
            return Err(refuse(
                "--what-if makes parts of a virtual array faster, and this run was on real storage; run the plan with \
                 `--on array:NAME`",
            ));
        }
        if run.search.is_some() {
            return Err(refuse(
                "--what-if does not support a search, which sets its own rates; run its plan with `fathom run`",
            ));
        }
        let targets: Vec<String> = run.targets.iter().map(|target| target.address.clone()).collect();
        let address =
            arrays::address(&targets)?.ok_or_else(|| refuse("its record names no virtual array"))?.to_owned();
        let overrides = Overrides { set: run.plan.overrides.clone(), tags: Vec::new() };
        let plan = Plan::parse(&run.plan.origin, &run.plan.text, &overrides).map_err(Failure::Plan)?;
        let signals = Signals::listen()?;
        Ok(Again { run: run.id.clone(), plan, address, machine: real::this_machine(), signals })
    }

    fn trials(&self, point: &Point, seeds: u32, times: f64) -> Result<WhatIf, Failure> {
        let study = self.study(point, seeds, times)?;
        what_if::what_if(&study, &LIBRARY, &self.signals.stop()).map_err(|error| self.failed(error))
    }

    /// Likewise until `explain` can name the limit, or what matters was tried once more.
    fn settled(&self, run: &Run, point: &Point) -> Result<WhatIf, Failure> {
        let study = self.study(point, SETTLE_SEEDS, SETTLE_TIMES)?;
        // What a higher queue depth gains is known after the first trials, whatever else is.
        let is_latency = explain::untried_depths(run).contains(&point.index);
        let is_settled = |tried: &WhatIf| is_latency || explain::settled(run, tried).is_some();
        what_if::settle(&study, &LIBRARY, &self.signals.stop(), is_settled)
            .map_err(|error| self.failed(error))
    }

    /// What the loads of `run` pay for, put right, but for those points that were `tried`, as long as all that is tried issues no more
    /// requests than trials of one point may.
    fn put_right(&self, run: &Run, tried: &[u32]) -> Vec<WhatIf> {
        let loads = run.points.iter().filter(|point| point.kind == PointKind::Load && point.complete);
        let (mut found, mut issued, mut skipped) = (Vec::new(), 0_u64, Vec::new());
        for point in loads.filter(|point| !tried.contains(&point.index)) {
            let requests = requests_to(run, point).saturating_mul(PUT_RIGHT_TRIALS);
            let Ok(study) = self.study(point, SETTLE_SEEDS, SETTLE_TIMES) else { continue };
            if issued.saturating_add(requests) > SETTLE_REQUESTS {
                skipped.extend(self.may_pay(point).then_some(point.index + 1));
                continue;
            }
            match what_if::put_right(&study, &LIBRARY, &self.signals.stop()) {
                Ok(Some(tried)) => found.push(tried),
                Ok(None) => continue,
                Err(_) => break,
            }
            issued += requests;
        }
        if let Some(told) = skipped_in_words(&self.run, &skipped) {
            terminal::say_sentence(&told);
        }
        found
    }

    /// Whether the load of `point` may pay for a setting that trials could put right.
    fn may_pay(&self, point: &Point) -> bool {
        let Ok(array) = spec::array(&LIBRARY, &self.address) else { return false };
        let planned = self.plan.points().iter().find(|planned| planned.index == point.index as usize);
        let pays =
            |planned| Setting::ALL.into_iter().any(|one| one.is_in(&self.plan, planned, &array.topology));
        planned.is_some_and(pays)
    }

    fn study(&self, point: &Point, seeds: u32, times: f64) -> Result<Study<'_>, Failure> {
        let index = point.index as usize;
        if self.plan.points().get(index).is_none_or(|planned| !planned.is_called(point.plain_name())) {
            return Err(
                self.refuse("this version of the program gives its plan other points than the record has")
            );
        }
        debug_assert!(
            seeds >= 2 && times > 1.0,
            "a trial makes a part faster, and has repeats to be compared with"
        );
        Ok(Study {
            machine: &self.machine,
            plan: &self.plan,
            index,
            address: &self.address,
            altered: &[],
            recorded: rate_of(point),
            seeds,
            times,
        })
    }

    fn failed(&self, error: WhatIfError) -> Failure {
        match error {
            WhatIfError::Model(error) => error.into(),
            WhatIfError::World(WorldError::Interrupted) => Failure::Interrupted,
            WhatIfError::World(error) => error.into(),
            error => self.refuse(&error.to_string()),
        }
    }

    fn refuse(&self, why: &str) -> Failure {
        Failure::Usage(format!("run {}: {why}", self.run))
    }
}

/// That points of `run` of these numbers had no trials of what they pay for; `None` of none.
fn skipped_in_words(run: &str, points: &[u32]) -> Option<String> {
    let (first, named) = (points.first()?, points.iter().map(u32::to_string).collect::<Vec<_>>().join(", "));
    let what = if points.len() == 1 { "point" } else { "points" };
    Some(format!(
        "not tried, because it takes long: which settings cost {what} {named} something; `fathom explain {run} --what-if --point {first}` \
         tries them"
    ))
}

/// The point that is named, or the last complete load.
fn chosen<'r>(arguments: &WhatIfArgs, run: &'r Run) -> Result<&'r Point, Failure> {
    let mut loads = run.points.iter().filter(|point| point.kind == PointKind::Load && point.complete);
    let Some(asked) = &arguments.point else {
        return loads
            .next_back()
            .ok_or_else(|| Failure::Usage(format!("run {} has no complete point", run.id)));
    };
    let number = asked.parse::<u32>().ok().and_then(|number| number.checked_sub(1));
    let names: Vec<&str> = loads.clone().map(|point| point.name.as_str()).collect();
    loads
        .find(|point| {
            [point.name.as_str(), point.plain_name()].contains(&asked.as_str()) || number == Some(point.index)
        })
        .ok_or_else(|| {
            Failure::Usage(format!("run {} has no point `{asked}`; it has {}", run.id, names.join(", ")))
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_whose_settings_were_not_tried_are_told_with_what_tries_them() {
        assert_eq!(skipped_in_words("r", &[]), None);
        let told = skipped_in_words("r", &[2, 3]).expect("two were skipped");
        assert!(told.contains("points 2, 3") && told.contains("explain r --what-if --point 2"), "{told}");
    }
}
