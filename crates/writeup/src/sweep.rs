//! Points of one phase by the values that were swept.

use std::collections::BTreeMap;

use chart::{Axis, Scale, Unit};
use record::{Metric, is_named, phase_title};
use report::{distinct, grouped};
use units::Bytes;

use crate::measured::{Measured, swept};

/// Stands for the phase itself where several phases sweep the same key: IOzone's tests by record size.
const PHASE: &str = "workload";

/// What load is swept by: more of it is more load.
const LOADS: [&str; 4] = ["depth", "workers", "rate", "limit"];

/// Whether more of what is swept by `key` is more load.
pub(crate) fn is_load(key: &str) -> bool {
    LOADS.iter().any(|load| is_named(key, load))
}

/// A phase with its points of all runs.
#[derive(Debug)]
pub(crate) struct Phase<'a> {
    /// Its name as the plan has it.
    pub name: &'a str,
    /// The keys that have more than one value, the one that goes along the axis last.
    pub keys: Vec<&'a str>,
    /// Its points in the order of runs and of their records.
    pub points: Vec<Measured<'a>>,
    /// The workload that it is about, as people call it: `small, 8 KiB`. Absent where it is about all of a point.
    pub of: Option<String>,
}

/// Points of one run along the innermost key, the others being fixed.
#[derive(Debug)]
pub(crate) struct Along<'a> {
    /// Which run.
    pub run: usize,
    /// The values of the other keys, in their order.
    pub around: Vec<&'a str>,
    /// Points by rising value; of repeats the median, with all of them beside it.
    pub points: Vec<Step<'a>>,
}

/// One value of the innermost key.
#[derive(Debug)]
pub(crate) struct Step<'a> {
    /// The value as a number.
    pub x: f64,
    /// As the plan has it.
    pub text: &'a str,
    /// The repeat in the middle by its rate.
    pub median: Measured<'a>,
    /// All repeats.
    pub repeats: Vec<Measured<'a>>,
}

/// The phases of `points`, in the order in which they come.
pub(crate) fn phases<'a>(points: &[Measured<'a>]) -> Vec<Phase<'a>> {
    let by_name = grouped(points.iter().map(|one| (one.point.phase.as_str(), *one)));
    let phase =
        |(name, points): (&'a str, Vec<Measured<'a>>)| Phase { name, keys: keys(&points), points, of: None };
    let phases: Vec<Phase<'a>> = by_name.into_iter().map(phase).collect();
    debug_assert_eq!(
        phases.iter().map(|phase| phase.points.len()).sum::<usize>(),
        points.len(),
        "each point is of one phase"
    );
    joined(phases).into_iter().flat_map(by_workload).collect()
}

/// `phase` as one of each workload, where workloads have sweeps of their own: Orion's small requests beside its large ones.
fn by_workload(phase: Phase<'_>) -> Vec<Phase<'_>> {
    let workloads = phase.points.iter().flat_map(|one| &one.point.workloads);
    let names = distinct(workloads.map(|workload| workload.name.as_str()));
    let own = |name: &str| phase.keys.iter().copied().find(|key| owner(key) == Some(name));
    if names.len() < 2 || names.iter().filter(|name| own(name).is_some()).count() < 2 {
        return vec![phase];
    }
    names.into_iter().map(|name| of_workload(&phase, name)).collect()
}

/// The points of `phase` that have the workload `name`, as what is of it alone.
fn of_workload<'a>(phase: &Phase<'a>, name: &'a str) -> Phase<'a> {
    let has = |one: &&Measured<'_>| one.point.workloads.iter().any(|workload| workload.name == name);
    let all: Vec<Measured<'a>> = phase.points.iter().filter(has).copied().collect();
    let metric = own_headline(&all);
    let points: Vec<Measured<'a>> =
        all.into_iter().map(|one| Measured { only: Some((name, metric)), ..one }).collect();
    // What it asks for itself goes along the axis.
    let mut keys = phase.keys.clone();
    keys.sort_by_key(|key| owner(key) == Some(name));
    let of = points.first().map(|one| title_of(one, name));
    Phase { name: phase.name, keys, points, of }
}

/// What a workload is about by the points that have no other; where there is none, the rate.
fn own_headline(points: &[Measured<'_>]) -> Metric {
    points.iter().find(|one| one.point.workloads.len() == 1).map_or(Metric::Iops, |one| one.headline())
}

/// The workload whose key this is: that of `small.depth` is `small`.
fn owner(key: &str) -> Option<&str> {
    key.rsplit_once('.').map(|(owner, _)| owner)
}

/// A workload of a point with the size of its requests: `small, 8 KiB`.
fn title_of(one: &Measured<'_>, name: &str) -> String {
    let of_it = one.point.workloads.iter().find(|workload| workload.name == name);
    let size = of_it.and_then(|workload| workload.spec.only_size());
    size.map_or_else(|| name.to_owned(), |size| format!("{name}, {size}"))
}

/// Phases that sweep the same keys and are about the same figure as one, whose outermost key is the phase.
fn joined(phases: Vec<Phase<'_>>) -> Vec<Phase<'_>> {
    let own = |phase: &Phase<'_>| phase.keys.iter().filter(|key| **key != PHASE).count();
    let alike = |one: &Phase<'_>, other: &Phase<'_>| {
        let about = |phase: &Phase<'_>| phase.points.first().map(|one| one.headline());
        let keys = one.keys.strip_prefix(&[PHASE]).unwrap_or(&one.keys);
        one.inner().is_some() && keys == other.keys && about(one) == about(other)
    };
    debug_assert!(phases.iter().all(|phase| !phase.points.is_empty()), "a phase is of points");
    let mut joined: Vec<Phase<'_>> = Vec::new();
    for phase in phases {
        match joined.iter_mut().find(|one| alike(one, &phase)) {
            Some(one) => {
                if one.keys.len() == own(one) {
                    one.keys.insert(0, PHASE);
                }
                one.points.extend(phase.points);
            }
            None => joined.push(phase),
        }
    }
    joined
}

/// The value that a point has of `key`; empty where it has none.
pub(crate) fn value<'a>(one: &Measured<'a>, key: &str) -> &'a str {
    if key == PHASE { &one.point.phase } else { one.point.swept.get(key).map_or("", String::as_str) }
}

/// Whether the value that a point has of `key` is a number.
pub(crate) fn is_number(one: &Measured<'_>, key: &str) -> bool {
    swept(value(one, key)).is_some()
}

/// A value as people read it: a size with a blank before its unit, a phase without the values that it names.
pub(crate) fn shown(value: &str) -> String {
    if let Ok(bytes) = value.parse::<Bytes>() {
        return bytes.to_string();
    }
    if !value.contains('{') {
        return value.to_owned();
    }
    let title = phase_title(value, |_| Some(String::new()));
    title.split_whitespace().collect::<Vec<_>>().join(" ").trim_end_matches([',', ' ']).to_owned()
}

/// A key with its value: `queue depth 8`; a workload by its name alone.
pub(crate) fn pair(key: &str, value: &str) -> String {
    match key {
        PHASE => shown(value),
        // As points are called.
        _ if is_named(key, "reads") => format!("{} reads", shown(value)),
        _ if is_named(key, "depth") && owner(key).is_some() => {
            format!("{} {}", owner(key).unwrap_or_default(), shown(value))
        }
        _ => format!("{} {}", name_of(key), shown(value)),
    }
}

/// The keys that `points` differ in: words first, then numbers, and last what load is swept by, or else the key that
/// changes from one point to the next.
fn keys<'a>(points: &[Measured<'a>]) -> Vec<&'a str> {
    let mut values: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (key, value) in points.iter().flat_map(|measured| &measured.point.swept) {
        let seen = values.entry(key).or_default();
        if !seen.contains(&value.as_str()) {
            seen.push(value);
        }
    }
    values.retain(|_, seen| seen.len() > 1);
    let inner = points.windows(2).find_map(|pair| {
        let [before, after] = pair else { return None };
        let changed = |key: &&&str| before.point.swept.get(**key) != after.point.swept.get(**key);
        let mut changed = values.keys().filter(changed);
        let first = changed.next()?;
        changed.next().is_none().then_some(*first)
    });
    let rank = |key: &str| {
        let numbers = values.get(key).is_some_and(|seen| seen.iter().all(|value| swept(value).is_some()));
        let load = LOADS.iter().any(|load| is_named(key, load));
        (numbers && load, numbers && Some(key) == inner, numbers)
    };
    let mut keys: Vec<&str> = values.keys().copied().collect();
    keys.sort_by_key(|key| rank(key));
    debug_assert!(inner.is_none_or(|inner| keys.contains(&inner)), "what changes along the axis is a key");
    keys
}

impl<'a> Phase<'a> {
    /// The key along the axis, where its values are numbers.
    pub fn inner(&self) -> Option<&'a str> {
        let key = self.keys.last().copied()?;
        let mut values = self.points.iter().filter_map(|measured| measured.point.swept.get(key));
        values.all(|value| swept(value).is_some()).then_some(key)
    }

    /// A key of it in the field's words, with the size of the requests of the workload whose key it is: `small, 8 KiB: requests
    /// in flight`.
    pub fn title(&self, key: &str) -> String {
        let Some(owner) = owner(key).filter(|_| is_named(key, "depth")) else { return name_of(key) };
        let has = |one: &&Measured<'_>| one.point.workloads.iter().any(|workload| workload.name == owner);
        let title = self.points.iter().find(has).map_or_else(|| owner.to_owned(), |one| title_of(one, owner));
        format!("{title}: requests in flight")
    }

    /// The other keys.
    pub fn outer(&self) -> &[&'a str] {
        &self.keys[..self.keys.len().saturating_sub(1)]
    }

    /// Whether load grows along the axis.
    pub fn is_load(&self) -> bool {
        self.inner().is_some_and(is_load)
    }

    /// Its points along the innermost key, for each run and each set of values of the others.
    pub fn along(&self) -> Vec<Along<'a>> {
        let Some(inner) = self.inner() else { return Vec::new() };
        let mut lines: Vec<Along<'a>> = Vec::new();
        for measured in &self.points {
            let around: Vec<&str> = self.outer().iter().map(|key| value(measured, key)).collect();
            let text = value(measured, inner);
            let Some((x, _)) = swept(text) else { continue };
            let place = lines.iter().position(|line| line.run == measured.run && line.around == around);
            let place = place.unwrap_or_else(|| {
                lines.push(Along { run: measured.run, around, points: Vec::new() });
                lines.len() - 1
            });
            let steps = &mut lines[place].points;
            match steps.iter_mut().find(|step| step.text == text) {
                Some(step) => step.repeats.push(*measured),
                None => steps.push(Step { x, text, median: *measured, repeats: vec![*measured] }),
            }
        }
        for line in &mut lines {
            line.points.sort_by(|one, other| one.x.total_cmp(&other.x));
            line.points.iter_mut().for_each(Step::choose);
            debug_assert!(!line.points.is_empty(), "a line begins with a point");
            debug_assert!(line.points.iter().all(|step| !step.repeats.is_empty()), "a step was measured");
        }
        lines
    }

    /// Its points by all keys but the one along the axis, each group with its name: what is compared between runs, along
    /// the axis the best with the best.
    pub fn cases(&self) -> Vec<(String, Vec<Measured<'a>>)> {
        self.cases_of(self.case_keys())
    }

    /// The same by as many of these keys, from the outermost one on, as give no more than `most` cases.
    pub fn cases_within(&self, most: usize) -> Vec<(String, Vec<Measured<'a>>)> {
        let keys = self.case_keys();
        let fitting = (0..=keys.len()).rev().map(|count| self.cases_of(&keys[..count]));
        fitting.into_iter().find(|cases| cases.len() <= most).unwrap_or_else(|| self.cases_of(&[]))
    }

    fn case_keys(&self) -> &[&'a str] {
        if self.inner().is_some() { self.outer() } else { &self.keys[..] }
    }

    fn cases_of(&self, outer: &[&'a str]) -> Vec<(String, Vec<Measured<'a>>)> {
        let values = |one: &Measured<'a>| outer.iter().map(|key| value(one, key)).collect::<Vec<_>>();
        let cases = grouped(self.points.iter().map(|one| (values(one), *one)));
        debug_assert_eq!(
            cases.iter().map(|(_, points)| points.len()).sum::<usize>(),
            self.points.len(),
            "each point is of one case"
        );
        let named = |(values, points): (Vec<&str>, Vec<Measured<'a>>)| {
            (self.case_name(outer, &values, &points[0]), points)
        };
        cases.into_iter().map(named).collect()
    }

    /// Its name for people; with what `--set` changed, where that is the same in all its points.
    pub fn phase_title(&self) -> String {
        let of_point = |one: &Measured<'_>| one.point.phase_title(|_| None);
        let is_same = |pair: &[Measured<'_>]| pair[0].point.set == pair[1].point.set;
        let first = self.points.first().filter(|_| self.points.windows(2).all(is_same));
        first.map_or_else(|| phase_title(self.name, |_| None), of_point)
    }

    /// The point's own name where nothing varies along an axis; else the values that are fixed, or the phase's name as
    /// far as it names no value.
    fn case_name(&self, outer: &[&str], values: &[&str], one: &Measured<'_>) -> String {
        if self.inner().is_none() {
            return one.point.name.clone();
        }
        let pairs = outer.iter().zip(values).map(|(key, value)| pair(key, value));
        let fixed = pairs.collect::<Vec<_>>().join(", ");
        if !fixed.is_empty() {
            return fixed;
        }
        let title = self.phase_title();
        if title.contains('…') { String::new() } else { title }
    }

    /// The axis of the innermost key over its values.
    pub fn axis(&self) -> Option<Axis> {
        let key = self.inner()?;
        let values: Vec<(f64, Unit)> =
            self.points.iter().filter_map(|measured| swept(measured.point.swept.get(key)?)).collect();
        let unit = values.first()?.1;
        let (low, high) = values
            .iter()
            .fold((f64::MAX, 0.0), |(low, high), (value, _)| (f64::min(low, *value), f64::max(high, *value)));
        let doubling = low > 0.0 && high / low >= 8.0 && unit != Unit::Share;
        Some(Axis::new(self.title(key), unit, if doubling { Scale::Log2 } else { Scale::Linear }))
    }
}

impl Step<'_> {
    /// Makes the repeat in the middle by its rate the one that is shown.
    fn choose(&mut self) {
        let rate =
            |measured: &Measured<'_>| measured.figure(Metric::Iops).map_or(0.0, |(number, _)| number.value);
        let mut order = self.repeats.clone();
        order.sort_by(|one, other| rate(one).total_cmp(&rate(other)));
        assert!(!order.is_empty(), "a step was measured");
        self.median = order[(order.len() - 1) / 2];
    }
}

/// A key of a plan in the field's words: `queue depth`, `block size`.
pub(crate) fn name_of(key: &str) -> String {
    let named = |name| is_named(key, name);
    let words = match () {
        () if named("depth") && owner(key).is_some() => return owner(key).unwrap_or_default().to_owned(),
        () if named("depth") => "queue depth",
        () if named("size") => "block size",
        () if named("reads") => "reads",
        () if named("read_ahead") => "read-ahead",
        () if named("span") => "working set",
        () => key,
    };
    words.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measured::measured;
    use record::Run;
    use record::sample::{self, Stream};

    const STREAM: Stream =
        Stream { op: "read", size_bytes: 4096, per_s: 1000, median_ns: 100_000, spread: 0.2 };

    fn run(swept: &[&[(&str, &str)]]) -> Run {
        let first = sample::point(0, "p", vec![sample::workload("load", &[STREAM])]);
        let points = swept.iter().map(|pairs| {
            let swept = pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
            record::Point { swept, ..first.clone() }
        });
        sample::run("random", points.collect())
    }

    #[test]
    fn load_goes_along_the_axis_whatever_changes_first() {
        let swept: [&[(&str, &str)]; 4] = [
            &[("depth", "1"), ("size", "4KiB")],
            &[("depth", "1"), ("size", "8KiB")],
            &[("depth", "16"), ("size", "4KiB")],
            &[("depth", "16"), ("size", "8KiB")],
        ];
        let runs = [run(&swept)];
        let phases = phases(&measured(&runs));
        assert_eq!(phases[0].keys, ["size", "depth"]);
        let along = phases[0].along();
        assert_eq!(along.len(), 2);
        assert_eq!(along[1].around, ["8KiB"]);
        assert_eq!(along[1].points.iter().map(|step| step.text).collect::<Vec<_>>(), ["1", "16"]);
        assert_eq!(
            phases[0].axis().map(|axis| (axis.name, axis.scale)),
            Some(("queue depth".into(), Scale::Log2))
        );
    }

    #[test]
    fn what_is_swept_by_words_has_no_axis() {
        let runs = [run(&[&[("pattern", "random")], &[("pattern", "sequential")]])];
        let phases = phases(&measured(&runs));
        assert_eq!(phases[0].keys, ["pattern"]);
        assert!(phases[0].inner().is_none() && phases[0].along().is_empty());
    }

    #[test]
    fn repeats_are_one_step_with_the_one_in_the_middle() {
        let mut run = run(&[&[("depth", "1")], &[("depth", "1")], &[("depth", "1")], &[("depth", "2")]]);
        for (point, rate) in run.points.iter_mut().zip([900.0, 1_000.0, 1_200.0]) {
            point.workloads[0].summary[0].ops_per_s.value = rate;
        }
        let runs = [run];
        let phases = phases(&measured(&runs));
        let along = phases[0].along();
        assert_eq!(along[0].points.len(), 2);
        assert_eq!((along[0].points[0].repeats.len(), along[0].points[0].median.at), (3, 1));
    }
}
