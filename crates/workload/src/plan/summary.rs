//! A plan in a few lines, for people: its phases, and what it costs.

use std::collections::BTreeSet;
use std::fmt;

use units::Bytes;

use super::text::share_text;
use super::{Load, Phase, Plan, Point, PointOrder, Prepare, State, Task, Until};
use crate::Op;
use crate::spec::{Content, Pace, Workload};
use crate::trace::Replay;
use crate::tree::{Fsync, Order, Shape, Tree};

/// A plan in a few lines: each phase with its points and what it asks, then time, bytes written and whether data
/// is changed. What `fathom plan check` prints.
#[derive(Clone, Copy, Debug)]
pub struct Summary<'a> {
    plan: &'a Plan,
    has_costs: bool,
}

impl Summary<'_> {
    /// The same without time and bytes: what drives the loads otherwise than `fathom run` costs something else.
    pub fn without_costs(self) -> Self {
        Summary { has_costs: false, ..self }
    }
}

impl Plan {
    /// The plan in a few lines.
    pub fn summary(&self) -> Summary<'_> {
        Summary { plan: self, has_costs: true }
    }
}

impl fmt::Display for Summary<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plan = self.plan;
        match plan.about.as_str() {
            "" => writeln!(f, "{}", plan.name)?,
            about => writeln!(f, "{}: {about}", plan.name)?,
        }
        let width = plan.phases.iter().map(|phase| phase.name.chars().count()).max().unwrap_or(0);
        for (number, phase) in plan.phases.iter().enumerate() {
            writeln!(f, "  {:>2}  {:width$}  {}", number + 1, phase.name, phase_line(plan, phase))?;
            for line in plan.points()[phase.points.clone()].first().map(what).unwrap_or_default() {
                let begins = if phase.swept.is_empty() { "" } else { "begins with " };
                writeln!(f, "      {:width$}    {begins}{line}", "")?;
            }
        }
        let estimate = plan.estimate();
        if self.has_costs {
            writeln!(f, "time    {estimate}, besides laying out files and waiting for what is in flight")?;
            writeln!(f, "writes  {}", estimate.written)?;
        }
        let changes = if estimate.changes_data {
            "writes to the target: a device or file named is overwritten, in a directory only scratch files"
        } else {
            "changes nothing"
        };
        writeln!(f, "data    {changes}")
    }
}

/// `9 points: workers 1 to 256, until iops is flat`.
fn phase_line(plan: &Plan, phase: &Phase) -> String {
    let points = &plan.points()[phase.points.clone()];
    let s = if points.len() == 1 { "" } else { "s" };
    let mut line = format!("{} point{s}", points.len());
    for (axis, key) in phase.swept.iter().enumerate() {
        let value = |point: Option<&Point>| {
            point.and_then(|point| point.swept.get(axis)).map_or_else(String::new, |(_, value)| value.clone())
        };
        if phase.order == PointOrder::Shuffled {
            let values: BTreeSet<String> = points.iter().map(|point| value(Some(point))).collect();
            line += &format!(", {key} of {} values", values.len());
            continue;
        }
        line += &format!(", {key} {} to {}", value(points.first()), value(points.last()));
    }
    if phase.repeat > 1 {
        line += &format!(", each {} times", phase.repeat);
    }
    if phase.order == PointOrder::Shuffled {
        line += &format!(", shuffled by seed {}", plan.seed);
    }
    if let Some(tracked) = &phase.rounds.steady {
        line += &format!(", until {tracked} is steady");
    }
    if let Some(until) = phase.until {
        line += &until_words(&until);
    }
    line
}

/// What a point asks, one line for each workload.
fn what(point: &Point) -> Vec<String> {
    match &point.task {
        Task::Load(Load { workloads, .. }) if workloads.len() == 1 => vec![describe(&workloads[0])],
        Task::Load(Load { workloads, .. }) => {
            workloads.iter().map(|workload| format!("{}: {}", workload.name, describe(workload))).collect()
        }
        Task::State(State::Prepare(prepare)) => vec![describe_prepare(prepare)],
        Task::State(State::Idle(time)) => vec![format!("no requests for {time}")],
        Task::State(state) if state.is_of_arrays() => {
            vec!["virtual arrays, served ones (--served), or real storage with commands of yours".into()]
        }
        Task::State(_) => Vec::new(),
    }
}

/// A workload in one line: `8KiB random, 66.7 % reads, 4 workers x 32 in flight`.
pub fn describe(workload: &Workload) -> String {
    if let Some(tree) = &workload.tree {
        return describe_tree(workload, tree);
    }
    let sizes = match &workload.sizes.0[..] {
        [_] => workload.sizes.to_string(),
        split => {
            let sum: f64 = split.iter().map(|(_, weight)| weight).sum();
            let part =
                |(size, weight): &(Bytes, f64)| format!("{} {:.0} %", size.exact(), weight / sum * 100.0);
            split.iter().map(part).collect::<Vec<_>>().join(" + ")
        }
    };
    let s = if workload.workers == 1 { "" } else { "s" };
    if let Some(replay) = workload.replay() {
        return describe_replay(workload, replay);
    }
    let mut line = format!(
        "{sizes} {}, {}, {} worker{s} x {} in flight",
        workload.pattern,
        mix(workload),
        workload.workers,
        workload.depth
    );
    if let Some(random) = workload.random {
        line += &format!(", {random} random");
    }
    if workload.rewrites != units::Share::NONE {
        let (what, done) = match workload.mix.followed() {
            Some(Op::Trim) => ("trims", "written"),
            _ => ("reads", "rewritten"),
        };
        line += &format!(", {} of the {what} {done}", workload.rewrites);
    }
    if !workload.lines.is_empty() {
        line += &format!(", in {} lines", workload.lines.len());
    }
    if workload.pace != Pace::Closed {
        line += &format!(", {}", workload.pace);
    }
    if !workload.direct {
        line += ", through the page cache";
    }
    line
}

/// `1000000 requests of database.iolog, 70 % reads + 30 % writes, 1 worker x 32 in flight, trace`.
fn describe_replay(workload: &Workload, replay: &Replay) -> String {
    let what = match &replay.requests {
        Some(trace) => format!("{} requests of {}, {}", trace.len(), replay.file, mix(workload)),
        None => format!("what {} needs", replay.file),
    };
    let s = if workload.workers == 1 { "" } else { "s" };
    let mut line = format!("{what}, {} worker{s} x {} in flight", workload.workers, workload.depth);
    if workload.pace != Pace::Closed {
        line += &format!(", {}", workload.pace);
    }
    if workload.pace == Pace::Trace && replay.speed != 1.0 {
        line += &format!(" {} times as fast", replay.speed);
    }
    line
}

/// `create 10000 files of 4KiB in 10 directories, 4 workers, in random order`.
fn describe_tree(workload: &Workload, tree: &Tree) -> String {
    let s = |count: u64| if count == 1 { "" } else { "s" };
    let shape = Shape::of(tree, workload.workers);
    let trees = shape.as_ref().map_or(1, |shape| u64::from(shape.trees()));
    let nodes = shape.map_or(0, |shape| shape.nodes()) * trees;
    let directories = format!("{nodes} director{}", if nodes == 1 { "y" } else { "ies" });
    let mut line = match tree.op.is_of_directories() {
        true => format!("{} {directories}", tree.op),
        false => {
            format!("{} {} file{} of {} in {directories}", tree.op, tree.count, s(tree.count), tree.sizes)
        }
    };
    line += &format!(", {} worker{}", workload.workers, s(workload.workers.into()));
    if tree.order == Order::Random {
        line += ", in random order";
    }
    match tree.fsync {
        _ if !tree.op.changes() => {}
        Fsync::None => {}
        Fsync::Each => line += ", each flushed",
        Fsync::End => line += ", flushed at the end",
    }
    line
}

fn mix(workload: &Workload) -> String {
    let mix = workload.mix;
    let writes = units::Share::new(mix.writes()).unwrap_or_default();
    let parts = [(mix.reads, "reads"), (writes, "writes"), (mix.trims, "trims"), (mix.flushes, "flushes")];
    let shown: Vec<_> = parts.iter().filter(|(share, _)| share.get() > 1e-9).collect();
    match shown[..] {
        [(_, only)] => format!("only {only}"),
        _ => shown.iter().map(|(share, what)| format!("{share} {what}")).collect::<Vec<_>>().join(" + "),
    }
}

fn describe_prepare(prepare: &Prepare) -> String {
    let mut steps = Vec::new();
    if prepare.empty {
        steps.push("empty files".to_string());
    }
    if prepare.trim {
        steps.push("trim the span".to_string());
    }
    let data = if prepare.content == Content::Zeros { "zeros" } else { "data" };
    match prepare.fill {
        0 => {}
        1 => steps.push(format!("fill it with {data}")),
        times => steps.push(format!("fill it {times} times with {data}")),
    }
    if prepare.drop_caches {
        steps.push("drop caches".into());
    }
    if let Some(bytes) = prepare.read_ahead {
        steps.push(format!("set the read-ahead to {bytes}"));
    }
    if let Some(name) = &prepare.scheduler {
        steps.push(format!("set the scheduler to {name}"));
    }
    if steps.is_empty() { "nothing to do".into() } else { steps.join(", ") }
}

/// `, until iops grows by no more than 3%, or p99<5ms is broken`.
fn until_words(until: &Until) -> String {
    let rules = [
        until.gain.map(|gain| format!("{} grows by no more than {}", gain.flat, share_text(gain.within))),
        until.slo.map(|slo| format!("{slo} is violated")),
        until.cpu.map(|cpu| format!("processors are {} busy", share_text(cpu))),
        until.errors.map(|errors| format!("more than {} fail", share_text(errors))),
    ];
    let rules: Vec<String> = rules.into_iter().flatten().collect();
    format!(", until {}", rules.join(", or "))
}

#[cfg(test)]
mod tests {
    use super::super::{Overrides, ready};

    fn summary(name: &str, set: &[&str]) -> String {
        let set = set.iter().map(|set| (*set).to_string()).collect();
        let plan = ready::find(name).unwrap().plan(&Overrides { set, tags: Vec::new() });
        plan.unwrap().summary().to_string()
    }

    #[test]
    fn a_summary_says_points_time_bytes_and_danger() {
        let expected = "\
oltp: 8 KiB random, two reads to a write, more and more workers until it no longer pays
   1  8 KiB 2:1 x{workers}  9 points, workers 1 to 256, until iops grows by no more than 3%
                              begins with 8KiB random, 66.7 % reads + 33.3 % writes, 1 worker x 1 in flight
time    9 points in at most 13 min 30 s, besides laying out files and waiting for what is in flight
writes  as much as the target takes in 13 min 30 s
data    writes to the target: a device or file named is overwritten, in a directory only scratch files
";
        assert_eq!(summary("oltp", &[]), expected);
    }

    #[test]
    fn a_read_only_plan_says_that_it_changes_nothing() {
        let summary = summary("random", &["reads=100%"]);
        assert!(summary.contains("writes  nothing\ndata    changes nothing\n"), "{summary}");
    }

    #[test]
    fn what_is_limited_is_told_exactly() {
        let summary = summary("corners", &["run=none", "warmup=0s", "ops=1000"]);
        // 1000 writes of 4 KiB and 1000 of 512 KiB.
        assert!(
            summary.contains("writes  at most 504 MiB") || summary.contains("at most 503.91 MiB"),
            "{summary}"
        );
        assert!(summary.contains("5 of them take as long as the target needs"), "{summary}");
    }
}
