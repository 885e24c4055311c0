//! The health of a virtual array as a factor: states around a plan, and what the record says of them.

use record::{PointKind, Run, StateProof};

use crate::condition::rebuilt_at_ns;

/// The disk that fails.
const FAILED: u32 = 0;

/// `plan` on an array of that health: states stand before its first phase, and behind its last what tells when a rebuild
/// was over. `None` where the plan has no phase to stand before.
pub fn with_health(plan: &str, level: &str) -> Option<String> {
    let fail = format!("[[phase]]\nname = \"fail disk {FAILED}\"\nstate = \"fail disk {FAILED}\"\n\n");
    let (before, after) = match level {
        "degraded" => (fail, ""),
        "rebuilding" => (
            fail + "[[phase]]\nname = \"rebuild\"\nstate = \"rebuild\"\nwait = false\n\n",
            "\n[[phase]]\nname = \"end of the rebuild\"\nstate = \"watch rebuild\"\n",
        ),
        _ => return Some(plan.to_owned()),
    };
    let mut at = 0;
    for line in plan.split_inclusive('\n') {
        if line.trim_start().starts_with("[[phase]]") {
            return Some(format!("{}{before}{}\n{after}", &plan[..at], &plan[at..]));
        }
        at += line.len();
    }
    None
}

/// The health of the array during the loads of `run`, beside the `level` that it was to have.
pub fn health_proof(factor: &str, level: &str, run: &Run) -> StateProof {
    StateProof {
        factor: factor.into(),
        by: "the virtual array".into(),
        when: "after".into(),
        expected: level.into(),
        found: found(run),
    }
}

fn found(run: &Run) -> String {
    let stated = |state: &str| {
        run.points.iter().any(|point| {
            point.kind == PointKind::State
                && point.complete
                && point.state.get("state").is_some_and(|own| own.starts_with(state))
        })
    };
    if !stated("fail disk") {
        return "healthy".into();
    }
    if !stated("rebuild") {
        return "degraded".into();
    }
    let Some(over_ns) = rebuilt_at_ns(&run.points) else { return "rebuilding without a known end".into() };
    let loads = run.points.iter().filter(|point| point.kind == PointKind::Load);
    match loads.into_iter().find(|point| point.ended_ns > over_ns) {
        Some(point) => format!("rebuilt before the end of {}", point.name),
        None => "rebuilding".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::sample;
    use record::{Point, Series};

    const PLAN: &str = "name = \"x\"\n\n[defaults]\nrun = \"1s\"\n\n[[phase]]\nname = \"one\"\n\n[[phase]]\nname = \"two\"\n";

    #[test]
    fn states_stand_before_the_first_phase_and_the_plan_stays_as_it_is() {
        assert_eq!(with_health(PLAN, "healthy").as_deref(), Some(PLAN));
        let degraded = with_health(PLAN, "degraded").expect("it has a phase");
        let at = |text: &str, part: &str| text.find(part).unwrap_or_else(|| panic!("{part} in {text}"));
        assert!(at(&degraded, "[defaults]") < at(&degraded, "state = \"fail disk 0\""));
        assert!(at(&degraded, "state = \"fail disk 0\"") < at(&degraded, "name = \"one\""));
        assert!(!degraded.contains("rebuild"));
        let rebuilding = with_health(PLAN, "rebuilding").expect("it has a phase");
        assert!(at(&rebuilding, "fail disk 0") < at(&rebuilding, "state = \"rebuild\""));
        assert!(at(&rebuilding, "state = \"rebuild\"") < at(&rebuilding, "name = \"one\""));
        assert!(at(&rebuilding, "name = \"two\"") < at(&rebuilding, "watch rebuild"));
        assert_eq!(with_health("name = \"x\"", "degraded"), None);
    }

    fn state(index: u32, state: &str) -> Point {
        let mut point = Point::before(index, state, PointKind::State, "");
        point.state.insert("state".into(), state.into());
        point.complete = true;
        point
    }

    fn load(index: u32, ended_ns: u64) -> Point {
        Point { ended_ns, ..Point::before(index, "load", PointKind::Load, "iops") }
    }

    /// The rebuild was over after 80 seconds.
    fn watched(index: u32) -> Point {
        let series = Series {
            name: "rebuild done".into(),
            unit: "share".into(),
            workload: None,
            source: "the array".into(),
            absent: None,
            from_ns: None,
            at_ns: vec![40, 80, 120],
            values: vec![0.5, 1.0, 1.0],
        };
        Point { series: vec![series], ..state(index, "watch rebuild") }
    }

    fn of(points: Vec<Point>) -> String {
        let proof = health_proof("state", "rebuilding", &sample::run("x", points));
        assert_eq!((proof.factor.as_str(), proof.expected.as_str()), ("state", "rebuilding"));
        proof.found
    }

    #[test]
    fn the_health_is_read_off_the_record() {
        assert_eq!(of(vec![load(0, 50)]), "healthy");
        assert_eq!(of(vec![state(0, "fail disk 0"), load(1, 50)]), "degraded");
        let mut unfinished = state(0, "fail disk 0");
        unfinished.complete = false;
        assert_eq!(of(vec![unfinished, load(1, 50)]), "healthy");
        let failed = || vec![state(0, "fail disk 0"), state(1, "rebuild")];
        assert_eq!(of([failed(), vec![load(2, 80), watched(3)]].concat()), "rebuilding");
        assert_eq!(of([failed(), vec![load(2, 81), watched(3)]].concat()), "rebuilt before the end of load");
        assert_eq!(of([failed(), vec![load(2, 50)]].concat()), "rebuilding without a known end");
    }
}
