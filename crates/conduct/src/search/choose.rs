//! Which load of a plan is searched.

use units::Share;
use workload::Op;
use workload::plan::{LatencyFigure, Plan, Point, ROUND, Slo, Task};
use workload::spec::Workload;

/// Names of loads that an error lists, at most.
const LISTED: usize = 12;

/// The load of `plan` that is searched: the one called `name`, or the only one there is; or why there is none.
///
/// Rounds, repeats and swept depths, workers and paces make no loads of their own, because how much is offered is the
/// search's to say: of such a sweep the point with the least in flight is taken. `name` is that of a point, or of a
/// phase that has one load.
pub fn load_of<'p>(plan: &'p Plan, name: Option<&str>) -> Result<&'p Point, String> {
    let loads = loads(plan);
    let load = match (name, &loads[..]) {
        (_, []) => return Err("the plan has no load to search with, only states".into()),
        (Some(name), _) => named(plan, &loads, name.trim())?,
        (None, [load]) => load,
        (None, _) => return Err(which(plan, &loads)),
    };
    if load.workloads().iter().any(|workload| workload.replay().is_some()) {
        return Err("`trace` cannot be searched: a search chooses how many requests it needs, and a trace has an end; \
                    search with a plan that describes the load"
            .into());
    }
    if load.workloads().iter().any(|workload| workload.tree.is_some()) {
        return Err("`tree` cannot be searched: a search offers requests for blocks at rates of its own, and a load on \
                    files has no rate; search with a plan of block requests"
            .into());
    }
    Ok(load)
}

/// Whether requests of `load` are those that `slo` is about; or what is missing.
pub(super) fn check(slo: &Slo, load: &Point, has_percentiles: bool) -> Result<(), String> {
    if let (Slo::Latency { figure: LatencyFigure::Quantile(_), .. }, false) = (slo, has_percentiles) {
        return Err(format!(
            "{slo} cannot be judged on this model: it was fitted to rates and mean response times, and gives no \
             percentiles; use an SLO of the mean, such as mean<5ms, or measure the storage itself"
        ));
    }
    let Some(of) = slo.of() else { return Ok(()) };
    let issues = |workload: &workload::spec::Workload| match of {
        Op::Read => workload.mix.reads != Share::NONE,
        Op::Write => workload.writes(),
        Op::Trim => workload.mix.trims != Share::NONE,
        Op::Flush => false,
    };
    if load.workloads().iter().any(issues) {
        return Ok(());
    }
    let word = of.name();
    Err(format!(
        "{slo} is about {word}s, and `{}` issues none: leave `{word}.` out, or change `reads` or `trims`",
        load.name
    ))
}

/// One point for each load that differs in more than how much is offered, in the order of the plan.
fn loads(plan: &Plan) -> Vec<&Point> {
    let mut loads: Vec<&Point> = Vec::new();
    for point in plan.points().iter().filter(|point| matches!(point.task, Task::Load(_))) {
        match loads.iter_mut().find(|known| is_same(known, point)) {
            Some(known) if in_flight(point.workloads()) < in_flight(known.workloads()) => *known = point,
            Some(_) => {}
            None => loads.push(point),
        }
    }
    loads
}

fn is_same(one: &Point, other: &Point) -> bool {
    one.phase == other.phase && around(one).eq(around(other))
}

/// The swept keys with their values, but for those that say how much is offered.
fn around(point: &Point) -> impl Iterator<Item = &(String, String)> {
    let offers =
        |key: &str| key == ROUND || matches!(key.rsplit('.').next(), Some("depth" | "workers" | "pace"));
    point.swept.iter().filter(move |(key, _)| !offers(key))
}

/// Requests in flight, all workers together.
pub(super) fn in_flight(workloads: &[Workload]) -> u64 {
    workloads.iter().map(|workload| u64::from(workload.workers) * u64::from(workload.depth)).sum()
}

/// The load of a point of that name, or of a phase of that name that has one.
fn named<'p>(plan: &'p Plan, loads: &[&'p Point], name: &str) -> Result<&'p Point, String> {
    let point = plan.points().iter().find(|point| point.is_called(name));
    if let Some(load) = point.and_then(|point| loads.iter().find(|load| is_same(load, point))) {
        return Ok(load);
    }
    let mut of_phase = loads.iter().filter(|load| plan.phases[load.phase].name == name);
    match (of_phase.next(), of_phase.next()) {
        (Some(load), None) => Ok(load),
        _ => Err(format!("the plan has no load called `{name}`; {}", listed(loads))),
    }
}

/// What is to be chosen, and how.
fn which(plan: &Plan, loads: &[&Point]) -> String {
    let mut keys: Vec<&str> = Vec::new();
    for (key, _) in loads.iter().flat_map(|load| around(load)) {
        if !keys.contains(&key.as_str()) {
            keys.push(key);
        }
    }
    let phases = loads.iter().map(|load| load.phase).collect::<std::collections::BTreeSet<_>>().len();
    let why = match (phases, &keys[..]) {
        (1, [key]) => format!("`{key}` is swept"),
        (1, keys) => format!("`{}` are swept", keys.join("`, `")),
        (phases, []) => format!("it has {phases} phases"),
        (phases, keys) => format!("it has {phases} phases, and sweeps `{}`", keys.join("`, `")),
    };
    let set = keys
        .first()
        .map_or_else(String::new, |key| format!(", or give `{key}` one value with --set {key}=VALUE"));
    format!(
        "a search finds the highest rate of one load, and `{}` has {}, because {why}: choose one with --load NAME{set}; {}",
        plan.name,
        loads.len(),
        listed(loads)
    )
}

/// `its loads: "4 KiB random read", "4 KiB random write" and 3 more`.
fn listed(loads: &[&Point]) -> String {
    let names: Vec<String> = loads.iter().take(LISTED).map(|load| format!("\"{}\"", load.name)).collect();
    match loads.len().saturating_sub(LISTED) {
        0 => format!("its loads: {}", names.join(", ")),
        more => format!("its loads: {} and {more} more", names.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use workload::plan::{Overrides, ready};

    fn plan(text: &str) -> Plan {
        Plan::parse("test.toml", text, &Overrides::default()).expect("a plan")
    }

    #[test]
    fn a_swept_depth_worker_count_or_pace_is_the_search_s_to_choose() {
        let sweep = plan(
            "[[phase]]\nname = 'x{workers}'\nreads = '70%'\nworkers = { sweep = [8, 2, 4] }\nrepeat = 3\nrun = '1s'\n",
        );
        let load = load_of(&sweep, None).expect("one load");
        assert_eq!((load.name.as_str(), load.repeat), ("x2", 1), "the least in flight");
    }

    #[test]
    fn what_stands_in_the_way_is_named_with_what_to_do() {
        let sweep = plan(
            "name = 'two'\n[[phase]]\nname = '{size}'\nsize = { sweep = ['4KiB', '8KiB'] }\nrun = '1s'\n",
        );
        let said = load_of(&sweep, None).expect_err("two loads");
        for part in
            ["`two` has 2", "`size` is swept", "--load NAME", "--set size=VALUE", "\"4KiB\", \"8KiB\""]
        {
            assert!(said.contains(part), "{part}: {said}");
        }
        assert_eq!(load_of(&sweep, Some("8KiB")).expect("by its name").name, "8KiB");
        assert!(load_of(&sweep, Some("16KiB")).expect_err("none").contains("no load called `16KiB`"));
    }

    #[test]
    fn every_load_of_every_ready_plan_can_be_named_or_says_which_key_stands_in_the_way() {
        for ready in ready::all() {
            let (name, plan) = (ready.name, ready.plan(&Overrides::default()).expect("it can be read"));
            let first =
                |point: &&Point| matches!(point.task, Task::Load(_)) && point.round * point.repeat == 1;
            for point in plan.points().iter().filter(first) {
                match load_of(&plan, Some(&point.name)) {
                    Ok(load) => assert_eq!(load.phase, point.phase, "{name}: {}", point.name),
                    Err(said) => assert!(
                        said.starts_with("`tree` cannot be searched")
                            || said.starts_with("`trace` cannot be searched"),
                        "{said}"
                    ),
                }
            }
        }
    }

    #[test]
    fn a_promise_about_what_the_load_does_not_do_is_refused() {
        let reads = plan("[[phase]]\nreads = '100%'\nrun = '1s'\n");
        let load = load_of(&reads, None).expect("one load");
        assert!(
            check(&"write.p99<5ms".parse().expect("an SLO"), load, true)
                .expect_err("none")
                .contains("issues none")
        );
        assert_eq!(check(&"read.p99<5ms".parse().expect("an SLO"), load, true), Ok(()));
    }
}
