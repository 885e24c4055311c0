//! The figures of runs that are held against each other.

use std::collections::{BTreeMap, BTreeSet};

use record::{CampaignCell, Grade, Metric, Point, PointKind, Run, World, is_named, phase_title};
use stats::geometric_mean;
use workload::plan::{self, Plan, Task};
use workload::spec::{title_with_set, title_without_set};

/// A figure of one run.
pub(super) struct Measured<'r> {
    pub(super) cell: &'r CampaignCell,
    pub(super) value: f64,
}

/// What the cells of a block have in common of what is by chance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Chance {
    /// Nothing: each was measured by itself.
    Own,
    /// The random numbers of a simulation: cells that differ in nothing give the same figures.
    Shared,
}

impl Chance {
    /// That of the runs of `plan`: shared where virtual arrays had the same seed in two cells of a block.
    pub(super) fn of(of: &[(&Run, &CampaignCell)], plan: &str) -> Chance {
        let mut known: BTreeMap<(u32, u64), Vec<u32>> = BTreeMap::new();
        let seeded = of.iter().filter(|(run, _)| run.plan.name == plan && run.world == World::Array);
        for (run, cell) in seeded {
            let Some(seed) =
                run.points.iter().flat_map(|point| &point.workloads).map(|one| one.spec.seed).next()
            else {
                continue;
            };
            let places = cell.places();
            if *known.entry((cell.block, seed)).or_insert_with(|| places.clone()) != places {
                return Chance::Shared;
            }
        }
        Chance::Own
    }
}

/// Every plan, point and figure, in the order in which they were first measured: of each point its headline, and the 99th
/// percentile of the latency beside a rate.
pub(super) fn subjects(of: &[(&Run, &CampaignCell)]) -> Vec<(String, String, Metric)> {
    let mut subjects: Vec<(String, String, Metric)> = Vec::new();
    let mut plans: Vec<&str> = of.iter().map(|(run, _)| run.plan.name.as_str()).collect();
    plans.sort_unstable();
    plans.dedup();
    for plan in plans {
        let loads = of
            .iter()
            .filter(|(run, _)| run.plan.name == plan)
            .flat_map(|(run, cell)| run.points.iter().map(move |point| (point, *cell)))
            .filter(|(point, _)| point.kind == PointKind::Load);
        for (point, cell) in loads {
            let headline = Metric::of(&point.headline);
            // The highest rate of a sweep is one figure; which of its points that is differs from cell to cell.
            let tail = (headline.more_is_better() && !is_load_swept(point)).then_some(Metric::Quantile(0.99));
            for metric in std::iter::once(headline).chain(tail) {
                let subject = (plan.to_owned(), title(point, cell), metric);
                if !subjects.contains(&subject) {
                    subjects.push(subject);
                }
            }
        }
    }
    subjects
}

/// The keys of a plan by which a load grows.
const LOAD_KEYS: [&str; 3] = ["depth", "workers", "pace"];

/// Whether the point is one of a sweep of the load.
fn is_load_swept(point: &Point) -> bool {
    point.swept.keys().any(|key| is_load(key))
}

fn is_load(key: &str) -> bool {
    LOAD_KEYS.iter().any(|load| is_named(key, load))
}

/// How many figures of a run of `plan` effects are tested in: as many as `subjects` finds once it is measured.
pub fn figures_of(plan: &Plan) -> usize {
    let mut named: BTreeSet<String> = BTreeSet::new();
    plan.points().iter().map(|point| figures_of_point(point, &mut named)).sum()
}

/// Those of a point by itself; none where `named` has it already, as another repeat or another load of its sweep.
fn figures_of_point(point: &plan::Point, named: &mut BTreeSet<String>) -> usize {
    let Task::Load(load) = &point.task else { return 0 };
    let is_swept = point.swept.iter().any(|(key, _)| is_load(key));
    let around: Vec<_> = point.swept.iter().filter(|(key, _)| !is_load(key)).collect();
    let name = if is_swept { format!("{} {around:?}", point.phase) } else { point.name.clone() };
    let is_rate =
        load.headlines.first().is_none_or(|headline| Metric::of(&headline.to_string()).more_is_better());
    if named.insert(name) { 1 + usize::from(is_rate && !is_swept) } else { 0 }
}

/// What a point is called beside those of other cells: all points of a sweep of the load are one, their best. What a factor
/// of `cell` set is no part of it, since the level says it.
pub(crate) fn title(point: &Point, cell: &CampaignCell) -> String {
    let is_level = |key: &str| cell.levels.iter().any(|level| is_named(&level.factor, key));
    let set: Vec<_> = point.set.iter().filter(|(key, _)| !is_level(key)).cloned().collect();
    let titled = titled(point.plain_name(), &point.phase, point.swept.iter().collect());
    title_with_set(titled, &set)
}

fn titled(name: &str, phase: &str, swept: Vec<(&String, &String)>) -> String {
    if !swept.iter().any(|(key, _)| is_load(key)) {
        return name.to_owned();
    }
    let value = |named: &str| {
        let own = swept.iter().find(|(key, _)| is_named(key, named));
        own.filter(|_| !LOAD_KEYS.contains(&named)).map(|(_, value)| (*value).clone())
    };
    format!("{}, best of the sweep", phase_title(phase, value))
}

/// What the points of a plan will be called once they are measured, each once, by name.
pub fn titles_of(plan: &Plan) -> BTreeSet<String> {
    let loads = plan.points().iter().filter(|point| matches!(point.task, Task::Load(_)));
    let titled = |point: &plan::Point| {
        let swept = point.swept.iter().map(|(key, value)| (key, value)).collect();
        let phase = plan.phases.get(point.phase).map_or("", |phase| &phase.name);
        titled(title_without_set(&point.name, &point.set), phase, swept)
    };
    loads.map(titled).collect()
}

/// The figure of each run that has it: of repetitions of a point the geometric mean, of a sweep of the load the best.
pub(super) fn measured<'r>(
    of: &[(&'r Run, &'r CampaignCell)],
    plan: &str,
    point: &str,
    metric: Metric,
) -> Vec<Measured<'r>> {
    let value = |run: &Run, cell: &CampaignCell| {
        let is_it = |own: &&Point| own.kind == PointKind::Load && own.complete && title(own, cell) == point;
        // Of each point of a sweep, its repetitions.
        let mut repeats: BTreeMap<&BTreeMap<String, String>, Vec<f64>> = BTreeMap::new();
        for own in run.points.iter().filter(is_it) {
            repeats.entry(&own.swept).or_default().push(own.figure(metric)?);
        }
        let best = if metric.more_is_better() { f64::max } else { f64::min };
        repeats.values().filter_map(|values| geometric_mean(values)).reduce(best)
    };
    let of_plan = of.iter().filter(|(run, _)| run.plan.name == plan);
    of_plan.filter_map(|(run, cell)| Some(Measured { cell, value: value(run, cell)? })).collect()
}

/// What is in doubt of a figure of each cell, by its levels: the worst grade of its runs below B, and whether their writes met free room.
pub(super) fn doubts(
    of: &[(&Run, &CampaignCell)],
    plan: &str,
    point: &str,
    metric: Metric,
) -> BTreeMap<Vec<String>, String> {
    let mut doubts: BTreeMap<Vec<String>, (Option<Grade>, bool)> = BTreeMap::new();
    for (run, cell) in of.iter().filter(|(run, _)| run.plan.name == plan) {
        let levels = cell.levels.iter().map(|level| level.level.clone()).collect();
        let is_it = |own: &&Point| own.kind == PointKind::Load && own.complete && title(own, cell) == point;
        let grades = run.points.iter().filter(is_it).filter_map(|own| Some(own.grading.as_ref()?.grade));
        let (grade, filling) = doubts.entry(levels).or_default();
        *grade = grades.filter(|grade| *grade > Grade::B).chain(*grade).max();
        *filling |= is_filling(run, cell, point, metric);
    }
    let told = |(levels, (grade, filling)): (Vec<String>, (Option<Grade>, bool))| {
        let grade = grade.map(|grade| format!("grade {grade}"));
        let filling = filling.then(|| "the write cache was still filling".to_owned());
        let told: Vec<String> = grade.into_iter().chain(filling).collect();
        (!told.is_empty()).then(|| (levels, told.join(", ")))
    };
    doubts.into_iter().filter_map(told).collect()
}

/// Whether the writes of a point of `run`, which is of `cell`, met free room of a write cache, so that its figure `metric` is not sustained; of a
/// sweep, of its best point.
pub fn is_filling(run: &Run, cell: &CampaignCell, point: &str, metric: Metric) -> bool {
    let is_it = |own: &&Point| own.kind == PointKind::Load && own.complete && title(own, cell) == point;
    let figures = run.points.iter().filter(is_it).filter_map(|own| Some((own.figure(metric)?, own)));
    let order = |one: &(f64, &Point), other: &(f64, &Point)| one.0.total_cmp(&other.0);
    let best = if metric.more_is_better() { figures.max_by(order) } else { figures.min_by(order) };
    best.is_some_and(|(_, own)| own.is_filling())
}
