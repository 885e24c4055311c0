//! Who asked whom for what in each test: what the results file says beside the figures.

use record::{PointKind, Run, WorkloadResult};
use units::convert::truncated;
use units::{Bytes, Share};
use workload::spec::SizeSplit;

use super::config::{Assignment, Record, Spec, SpecLine};
use crate::point::is_in_order;

/// All of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Sheet {
    /// Iometer's number of what was cycled through.
    pub test_type: u8,
    /// Free text.
    pub description: String,
    /// Which rows there are.
    pub record: Record,
    /// One for each phase of the plan.
    pub tests: Vec<Test>,
}

/// One phase.
#[derive(Clone, Debug, PartialEq)]
pub struct Test {
    /// Which of the specifications of each worker it is, from 0.
    pub round: usize,
    /// The name of the phase.
    pub phase: String,
    /// The specifications that are at work, each once.
    pub specs: Vec<Spec>,
    /// Managers at work, with their workers at work.
    pub managers: Vec<(String, Vec<Worker>)>,
}

/// One worker at work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Worker {
    /// As the configuration has it.
    pub name: String,
    /// The name of its specification.
    pub spec: String,
    /// How it asks.
    pub settings: WorkerSettings,
    /// Its targets at work. Each is one workload of the phase, in the same order.
    pub disks: Vec<Disk>,
}

/// How a worker asks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WorkerSettings {
    /// Requests in flight at each target.
    pub depth: u32,
    /// Sectors that are used, 0 for all.
    pub sectors: u64,
    /// The first of them.
    pub first_sector: u64,
    /// What random numbers begin with.
    pub seed: Option<u64>,
    /// What is written.
    pub data: Option<u32>,
    /// Transactions after which a target is closed and opened again.
    pub reopen_every: Option<u32>,
}

/// One target at work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Disk {
    /// As the file calls it.
    pub name: String,
    /// Its number among the targets of the run, from 1.
    pub target: usize,
}

impl Test {
    /// The disks of all workers, with their workers: the workloads of the phase in order.
    pub fn disks(&self) -> impl Iterator<Item = (&Worker, &Disk)> {
        let workers = self.managers.iter().flat_map(|(_, workers)| workers);
        workers.flat_map(|worker| worker.disks.iter().map(move |disk| (worker, disk)))
    }
}

impl Sheet {
    /// What can be said of any run: this host is the manager, each workload a worker with one target.
    pub fn of(run: &Run) -> Sheet {
        let mut tests: Vec<Test> = Vec::new();
        for point in run.points.iter().filter(|point| point.kind == PointKind::Load) {
            if tests.iter().any(|test| test.phase == point.phase) {
                continue;
            }
            let workloads = &point.workloads;
            let spec_name = |workload: &WorkloadResult| match workloads.len() {
                1 => point.phase.clone(),
                _ => format!("{} {}", point.phase, workload.name),
            };
            let spec = |workload| Spec {
                name: spec_name(workload),
                assignment: Assignment::None,
                lines: lines_of(workload),
            };
            let worker = |workload: &WorkloadResult| Worker {
                name: if workloads.len() == 1 { "Worker 1".into() } else { workload.name.clone() },
                spec: spec_name(workload),
                settings: WorkerSettings { depth: 1, ..WorkerSettings::default() },
                disks: vec![Disk { name: target_of(run, workload), target: 1 }],
            };
            tests.push(Test {
                round: tests.len(),
                phase: point.phase.clone(),
                specs: workloads.iter().map(spec).collect(),
                managers: vec![(run.environment.hostname.clone(), workloads.iter().map(worker).collect())],
            });
        }
        Sheet { test_type: 0, description: run.plan.about.replace(',', "-"), record: Record::All, tests }
    }
}

/// What a workload asked, as it was named.
fn target_of(run: &Run, workload: &WorkloadResult) -> String {
    let number = match workload.spec.on[..] {
        [number] => (number as usize).saturating_sub(1),
        _ => 0,
    };
    match run.targets.get(number) {
        Some(target) => target.address.clone(),
        None => run.targets.first().map(|target| target.address.clone()).unwrap_or_default(),
    }
}

/// The lines that come nearest to what a workload asks for, in whole per cents that sum to 100; none of a trace.
fn lines_of(workload: &WorkloadResult) -> Vec<SpecLine> {
    let asked = &workload.spec;
    if asked.replay().is_some() {
        return Vec::new();
    }
    let random = if is_in_order(&asked.pattern) { 0 } else { 100 };
    let whole = Wants {
        reads: percent(asked.mix.reads),
        random: asked.random.map_or(random, percent),
        align: asked.align.map(Bytes::get),
    };
    let mut lines = Vec::new();
    for line in &asked.lines {
        let wants = Wants {
            reads: percent(line.mix.reads),
            random: line.random.map_or(whole.random, percent),
            align: line.align.map(Bytes::get).or(whole.align),
        };
        push_sizes(&line.sizes, line.weight, wants, &mut lines);
    }
    if lines.is_empty() {
        push_sizes(&asked.sizes, 1.0, whole, &mut lines);
    }
    let smallest = lines.iter().map(|(_, line)| line.size).min().unwrap_or(0);
    for (_, line) in &mut lines {
        if line.random > 0 && line.align == 0 {
            line.align = smallest;
        }
    }
    rounded(lines)
}

#[derive(Clone, Copy)]
struct Wants {
    reads: u32,
    random: u32,
    /// What is not said is the smallest size.
    align: Option<u64>,
}

fn push_sizes(sizes: &SizeSplit, share: f64, wants: Wants, lines: &mut Vec<(f64, SpecLine)>) {
    let total: f64 = sizes.0.iter().map(|(_, weight)| weight).sum();
    let mut sizes: Vec<&(Bytes, f64)> = sizes.0.iter().collect();
    // By their texts, as a table lists its keys.
    sizes.sort_by_key(|(size, _)| size.exact());
    for (size, weight) in sizes {
        let line = SpecLine::new(size.get(), 0, wants.reads, wants.random, wants.align.unwrap_or(0));
        lines.push((share * weight / total.max(f64::MIN_POSITIVE), line));
    }
}

/// Shares as whole per cents that sum to 100: what is left over goes to the largest remainders.
fn rounded(lines: Vec<(f64, SpecLine)>) -> Vec<SpecLine> {
    let total: f64 = lines.iter().map(|(share, _)| share).sum();
    let exact = |share: f64| 100.0 * share / total.max(f64::MIN_POSITIVE);
    let mut by_remainder: Vec<(f64, usize)> =
        lines.iter().enumerate().map(|(at, (share, _))| (exact(*share).fract(), at)).collect();
    by_remainder.sort_by(|one, other| other.0.total_cmp(&one.0));
    let mut rounded: Vec<SpecLine> = lines
        .iter()
        .map(|(share, line)| SpecLine { share: truncated::<u32>(exact(*share)), ..*line })
        .collect();
    let given: u32 = rounded.iter().map(|line| line.share).sum();
    debug_assert!(given <= 100, "what is cut off was part of a hundred");
    for (_, at) in by_remainder.iter().take(100u32.saturating_sub(given) as usize) {
        rounded[*at].share += 1;
    }
    rounded
}

/// A share as whole per cents.
fn percent(share: Share) -> u32 {
    truncated::<u32>((share.get() * 100.0).round())
}
