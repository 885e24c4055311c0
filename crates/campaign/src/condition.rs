//! In which state the array was while a load ran, where states of the plan brought it there: a figure of an array that lacks a
//! disk, or has just been rebuilt, is none of a healthy one.

use std::collections::BTreeSet;

use record::names::series;
use record::{CampaignCell, Point, PointKind, Run};

use crate::factor::HEALTH;

/// What a load found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Condition {
    Degraded,
    Rebuilding,
    RebuiltMeanwhile,
    Rebuilt,
}

impl Condition {
    fn told(self) -> &'static str {
        match self {
            Condition::Degraded => "degraded",
            Condition::Rebuilding => "rebuilding",
            Condition::RebuiltMeanwhile => "rebuilding, and rebuilt before the load had ended",
            Condition::Rebuilt => "rebuilt after the failure of a disk",
        }
    }
}

/// A sentence for each plan and condition: at which points it was that, and in which cells where not in all. Cells whose level
/// says it are left out.
pub(crate) fn conditions(of: &[(&Run, &CampaignCell)]) -> Vec<String> {
    let own: Vec<_> = of.iter().filter(|(_, cell)| !is_level(cell)).collect();
    let mut found: Vec<(&str, Condition, Vec<&str>, BTreeSet<String>)> = Vec::new();
    for (run, cell) in &own {
        for (point, condition) in loads(run) {
            let plan = run.plan.name.as_str();
            let place = found.iter().position(|(own, at, ..)| (*own, *at) == (plan, condition));
            let place = place.unwrap_or_else(|| {
                found.push((plan, condition, Vec::new(), BTreeSet::new()));
                found.len() - 1
            });
            let (_, _, points, cells) = &mut found[place];
            cells.insert(cell.label());
            if !points.contains(&point.plain_name()) {
                points.push(point.plain_name());
            }
        }
    }
    let sentence = |(plan, condition, points, cells): (&str, Condition, Vec<&str>, BTreeSet<String>)| {
        let of_plan = own.iter().filter(|(run, _)| run.plan.name == plan);
        let all: BTreeSet<String> = of_plan.map(|(_, cell)| cell.label()).collect();
        let where_ = match cells == all {
            true => "in all cells".to_owned(),
            false => format!("in {}", cells.into_iter().collect::<Vec<_>>().join("; ")),
        };
        format!("{plan}, {}: the array was {} ({where_}).", points.join(", "), condition.told())
    };
    found.into_iter().map(sentence).collect()
}

/// Whether a factor of the cell is the health of the array, which its level tells.
fn is_level(cell: &CampaignCell) -> bool {
    cell.proofs
        .iter()
        .any(|proof| proof.by == "the virtual array" && HEALTH.contains(&proof.expected.as_str()))
}

/// Loads that found the array in one of these conditions.
fn loads(run: &Run) -> impl Iterator<Item = (&Point, Condition)> {
    let (mut has_failed, mut rebuild) = (false, None);
    let found = move |(place, point): (usize, &'_ Point)| {
        let state = point.state.get("state").map_or("", String::as_str);
        match point.kind {
            PointKind::State if state.starts_with("fail disk") => (has_failed, rebuild) = (true, None),
            PointKind::State if state == "rebuild" => rebuild = Some(place),
            _ => {}
        }
        match (point.kind, rebuild) {
            (PointKind::Load, Some(from)) if has_failed => {
                Some(during(point, rebuilt_at_ns(&run.points[from..])))
            }
            (PointKind::Load, None) if has_failed => Some(Condition::Degraded),
            _ => None,
        }
    };
    let all = run.points.iter().enumerate().map(found).collect::<Vec<_>>();
    run.points.iter().zip(all).filter_map(|(point, condition)| Some((point, condition?)))
}

fn during(load: &Point, over_ns: Option<u64>) -> Condition {
    match over_ns {
        Some(over) if over <= load.started_ns => Condition::Rebuilt,
        Some(over) if over < load.ended_ns => Condition::RebuiltMeanwhile,
        _ => Condition::Rebuilding,
    }
}

/// When all of the rebuild was done that the first of `points` begins, or that they watch.
pub(crate) fn rebuilt_at_ns(points: &[Point]) -> Option<u64> {
    let done = |point: &Point| {
        let series = point.series.iter().find(|series| series.name == format!("rebuild{}", series::DONE))?;
        let whole = series.values.iter().position(|part| *part >= 1.0)?;
        series.at_ns.get(whole).copied()
    };
    points.iter().find_map(done)
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::{Series, StateProof, sample};

    fn state(index: u32, state: &str, over_ns: Option<u64>) -> Point {
        let mut point = Point::before(index, state, PointKind::State, "");
        point.state.insert("state".into(), state.into());
        point.series = over_ns
            .map(|over| Series {
                name: "rebuild done".into(),
                unit: "share".into(),
                workload: None,
                source: "the array".into(),
                absent: None,
                from_ns: None,
                at_ns: vec![over / 2, over],
                values: vec![0.5, 1.0],
            })
            .into_iter()
            .collect();
        point
    }

    fn load(index: u32, name: &str, (started_ns, ended_ns): (u64, u64)) -> Point {
        Point { started_ns, ended_ns, ..Point::before(index, name, PointKind::Load, "iops") }
    }

    fn run(disks: &str, points: Vec<Point>) -> Run {
        let cell = sample::cell(vec![sample::level("disks", disks, 0)]);
        Run { cell: Some(cell), ..sample::run("mine", points) }
    }

    fn told(runs: &[Run]) -> Vec<String> {
        conditions(&runs.iter().filter_map(|run| Some((run, run.cell.as_ref()?))).collect::<Vec<_>>())
    }

    #[test]
    fn a_load_behind_a_failure_says_whether_it_found_the_array_degraded_rebuilding_or_rebuilt() {
        let of = |over| {
            let points = vec![
                load(0, "before", (0, 5)),
                state(1, "fail disk 0", None),
                load(2, "without", (10, 20)),
                state(3, "rebuild", over),
                load(4, "first", (30, 40)),
                load(5, "second", (50, 60)),
            ];
            told(&[run("4", points)])
        };
        let degraded = "mine, without: the array was degraded (in all cells).";
        assert_eq!(
            of(Some(45)),
            [
                degraded,
                "mine, first: the array was rebuilding (in all cells).",
                "mine, second: the array was rebuilt after the failure of a disk (in all cells).",
            ]
        );
        assert_eq!(of(None)[1], "mine, first, second: the array was rebuilding (in all cells).");
        assert!(
            of(Some(35))[1]
                .contains("first: the array was rebuilding, and rebuilt before the load had ended")
        );
        assert_eq!(told(&[run("4", vec![load(0, "before", (0, 5))])]), Vec::<String>::new());
    }

    #[test]
    fn cells_that_differ_in_it_are_named_and_those_whose_level_says_it_are_not() {
        let points = |over| {
            vec![state(0, "fail disk 0", None), state(1, "rebuild", Some(over)), load(2, "mix", (30, 40))]
        };
        let mut runs = [run("4", points(20)), run("8", points(90))];
        assert_eq!(
            told(&runs),
            [
                "mine, mix: the array was rebuilt after the failure of a disk (in disks 4).",
                "mine, mix: the array was rebuilding (in disks 8).",
            ]
        );
        let proof = StateProof {
            factor: "state".into(),
            by: "the virtual array".into(),
            when: "after".into(),
            expected: "rebuilding".into(),
            found: "rebuilding".into(),
        };
        runs.iter_mut()
            .filter_map(|run| run.cell.as_mut())
            .for_each(|cell| cell.proofs = vec![proof.clone()]);
        assert_eq!(told(&runs), Vec::<String>::new());
    }
}
