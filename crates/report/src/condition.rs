//! Failed disks, lost paths and background work of an array under test, in one line above the figures that follow from them.

use record::{Behalf, DiskRole, PartShare, Point, PointKind, Run};

use crate::figures::name_of;
use crate::words::harmless;

/// The works of an array by their names in plans.
const WORKS: [&str; 5] = ["rebuild", "initialise", "clone", "verify", "scrub"];

/// So many points are named; of more it is said how many they are.
const NAMED: usize = 3;

/// The condition of an array during one load.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Condition {
    failed: Vec<String>,
    work: Option<String>,
    lost_path: bool,
}

/// `Degraded: disk 3 has failed, and a rebuild runs`: what every load of a virtual array met, or which of them; `None` of real storage, and
/// where all parts are there and nothing but the load works.
pub(crate) fn line(run: &Run) -> Option<String> {
    let mut found: Vec<(Condition, Vec<String>)> = Vec::new();
    let loads = || run.points.iter().filter(|point| point.kind == PointKind::Load);
    for point in loads() {
        let own = Condition::of(run, point);
        if own == Condition::default() {
            continue;
        }
        let name = harmless(&name_of(point));
        match found.iter_mut().find(|(other, _)| *other == own) {
            Some((_, names)) => names.push(name),
            None => found.push((own, vec![name])),
        }
    }
    let all = loads().count();
    let told: Vec<String> = found
        .iter()
        .map(|(condition, names)| match names.len() {
            count if count == all => condition.in_words(),
            count if count > NAMED => format!("{} (at {count} of {all} points)", condition.in_words()),
            _ => format!("{} (at {})", condition.in_words(), names.join(", ")),
        })
        .collect();
    let is_degraded = found.iter().any(|(condition, _)| condition.is_degraded());
    let kind = if is_degraded { "Degraded" } else { "Beside the load" };
    (!told.is_empty()).then(|| format!("{kind}: {}", told.join("; ")))
}

impl Condition {
    fn of(run: &Run, point: &Point) -> Condition {
        let Some(breakdown) = &point.breakdown else { return Condition::default() };
        let is = |role: DiskRole| breakdown.components.iter().filter(move |part| part.role == Some(role));
        let failed: Vec<String> = is(DiskRole::Failed)
            .filter_map(|part| Some(part.name.strip_prefix("disk ")?.to_owned()))
            .collect();
        let works = |one: &record::ClassShare| {
            one.op == Behalf::Background && one.visits > 0 && one.component.starts_with("disk ")
        };
        let is_working = breakdown.classes.iter().any(works) || is(DiskRole::Filling).next().is_some();
        let work = is_working.then(|| match work_before(run, point) {
            Some(work) => work.to_owned(),
            None if failed.is_empty() => "background work".into(),
            None => "rebuild".into(),
        });
        let waits = |part: &PartShare| part.part == "lost path" && part.time_ns() > 0.0;
        Condition { failed, work, lost_path: breakdown.response.iter().any(waits) }
    }

    fn is_degraded(&self) -> bool {
        !self.failed.is_empty() || self.lost_path
    }

    /// `disks 3, 7 have failed, and a rebuild runs`.
    fn in_words(&self) -> String {
        let mut told = Vec::new();
        match self.failed.as_slice() {
            [] => {}
            [one] => told.push(format!("disk {one} has failed")),
            several => told.push(format!("disks {} have failed", several.join(", "))),
        }
        told.extend(self.lost_path.then(|| "a path was lost".to_owned()));
        told.extend(self.work.as_deref().map(|work| match work {
            "initialise" => "the sets are initialised".into(),
            "background work" => "background work runs".into(),
            work => format!("a {work} runs"),
        }));
        told.join(", and ")
    }
}

/// The work that was begun last before `point`.
fn work_before<'r>(run: &'r Run, point: &Point) -> Option<&'r str> {
    let before = run.points.iter().rev().filter(|other| other.index < point.index);
    let states = before.filter(|other| other.kind == PointKind::State).flat_map(|other| other.state.values());
    states.filter_map(|state| WORKS.into_iter().find(|work| state.contains(work))).next()
}

#[cfg(test)]
mod tests {
    use record::{Breakdown, Component, sample};

    use super::*;

    fn disk(number: u32, role: Option<DiskRole>) -> Component {
        Component { name: format!("disk {number}"), role, ..Component::default() }
    }

    /// Loads whose disks have those roles, the last with background work at one of them.
    fn run(roles: &[Option<DiskRole>], work: Option<&str>) -> Run {
        let load = |index: u32, role: Option<DiskRole>| {
            let mut point = sample::point(index, &format!("load {index}"), Vec::new());
            let components = vec![disk(0, None), disk(3, role)];
            point.breakdown = Some(Breakdown { components, ..Breakdown::default() });
            point
        };
        let mut points: Vec<Point> = (1..).zip(roles).map(|(index, role)| load(index, *role)).collect();
        if let (Some(work), Some(last)) = (work, points.last_mut()) {
            let visits = sample::visits(Behalf::Background, "disk 0", 10, 0.0, 1.0);
            last.breakdown.iter_mut().for_each(|one| one.classes.push(visits.clone()));
            let mut state = sample::point(0, work, Vec::new());
            state.kind = PointKind::State;
            state.state = [("state".to_owned(), work.to_owned())].into();
            points.insert(0, state);
        }
        sample::run("t", points)
    }

    #[test]
    fn a_disk_that_has_failed_and_work_of_the_array_are_told_with_the_loads_that_met_them() {
        let failed = Some(DiskRole::Failed);
        let told = |roles: &[Option<DiskRole>], work| line(&run(roles, work));
        assert_eq!(told(&[None, None], None), None, "all is in order");
        assert_eq!(told(&[failed, failed], None), Some("Degraded: disk 3 has failed".into()));
        assert_eq!(
            told(&[failed], Some("rebuild")),
            Some("Degraded: disk 3 has failed, and a rebuild runs".into())
        );
        assert_eq!(
            told(&[None, None], Some("scrub")),
            Some("Beside the load: a scrub runs (at load 2)".into())
        );
        assert_eq!(
            told(&[failed, None], Some("scrub")),
            Some("Degraded: disk 3 has failed (at load 1); a scrub runs (at load 2)".into())
        );
        assert_eq!(
            told(&[failed, failed, failed, failed, None], None),
            Some("Degraded: disk 3 has failed (at 4 of 5 points)".into())
        );
    }

    #[test]
    fn a_request_that_waited_for_a_lost_path_tells_of_it() {
        let mut run = run(&[None], None);
        let waited = |wait_ns| PartShare { part: "lost path".into(), wait_ns, service_ns: 0.0 };
        let mut with = |wait_ns| {
            run.points[0].breakdown.iter_mut().for_each(|one| one.response = vec![waited(wait_ns)]);
            line(&run)
        };
        assert_eq!((with(0.0), with(1.0)), (None, Some("Degraded: a path was lost".into())));
    }
}
