//! Who asked whom for what in each test: what the results file says beside the figures.

use record::{PointKind, Run, WorkloadResult};
use units::convert::truncated;

use super::config::{Assignment, Record, Spec, SpecLine};

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
    /// Its name.
    pub name: String,
    /// The name of its specification.
    pub spec: String,
    /// How it asks.
    pub asked: Asked,
    /// Its targets at work. Each is one workload of the phase, in the same order.
    pub disks: Vec<Disk>,
}

/// How a worker asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Asked {
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
                asked: Asked {
                    depth: 1,
                    sectors: 0,
                    first_sector: 0,
                    seed: None,
                    data: None,
                    reopen_every: None,
                },
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
    let number = key(workload, "on").parse::<usize>().ok().and_then(|number| number.checked_sub(1));
    match run.targets.get(number.unwrap_or(0)) {
        Some(target) => target.address.clone(),
        None => run.targets.first().map(|target| target.address.clone()).unwrap_or_default(),
    }
}

fn key<'a>(workload: &'a WorkloadResult, key: &str) -> &'a str {
    workload.spec.get(key).map(String::as_str).unwrap_or_default()
}

/// The lines that come nearest to what a workload asks for, in whole per cents that sum to 100.
fn lines_of(workload: &WorkloadResult) -> Vec<SpecLine> {
    let whole = Wants {
        reads: reads(key(workload, "reads")),
        random: random(key(workload, "random")).unwrap_or_else(|| {
            let pattern = key(workload, "pattern");
            let is_in_order =
                ["sequential", "reverse", "stride"].iter().any(|word| pattern.starts_with(word));
            if is_in_order { 0 } else { 100 }
        }),
        align: bytes(key(workload, "align")),
    };
    let mut lines = Vec::new();
    let table = format!("mix = {}\nsize = {}", toml_of(key(workload, "mix")), toml_of(key(workload, "size")));
    let table: toml::Table = table.parse().unwrap_or_default();
    let mix = table.get("mix").and_then(toml::Value::as_array).map(Vec::as_slice).unwrap_or_default();
    for line in mix {
        let text =
            |key: &str| line.get(key).map(|value| value.as_str().map_or(value.to_string(), str::to_owned));
        let wants = Wants {
            reads: text("reads").map_or(whole.reads, |text| reads(&text)),
            random: text("random").and_then(|text| random(&text)).unwrap_or(whole.random),
            align: text("align").and_then(|text| bytes(&text)).or(whole.align),
        };
        let share = text("share").and_then(|text| text.trim_end_matches('%').parse().ok()).unwrap_or(1.0);
        push_sizes(line.get("size").or(table.get("size")), share, wants, &mut lines);
    }
    if lines.is_empty() {
        push_sizes(table.get("size"), 1.0, whole, &mut lines);
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

fn push_sizes(sizes: Option<&toml::Value>, share: f64, wants: Wants, lines: &mut Vec<(f64, SpecLine)>) {
    let mut push = |text: &str, share: f64| {
        if let Some(size) = bytes(text) {
            lines.push((share, SpecLine::new(size, 0, wants.reads, wants.random, wants.align.unwrap_or(0))));
        }
    };
    match sizes {
        Some(toml::Value::String(size)) => push(size, share),
        Some(toml::Value::Table(table)) => {
            let weight =
                |value: &toml::Value| value.as_float().or(value.as_integer().map(|whole| whole as f64));
            let total: f64 = table.values().filter_map(weight).sum();
            for (size, value) in table {
                push(size, share * weight(value).unwrap_or(0.0) / total.max(f64::MIN_POSITIVE));
            }
        }
        _ => {}
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
    for (_, at) in by_remainder.iter().take(100u32.saturating_sub(given) as usize) {
        rounded[*at].share += 1;
    }
    rounded
}

/// A value of a record as it would stand in a plan.
fn toml_of(text: &str) -> String {
    match text.starts_with(['{', '[']) {
        true => text.into(),
        false => crate::quoted(text),
    }
}

fn bytes(text: &str) -> Option<u64> {
    text.trim_matches('"').parse::<units::Bytes>().ok().map(units::Bytes::get)
}

/// Per cent that read; a workload that says `rest` writes nothing.
fn reads(text: &str) -> u32 {
    random(text).unwrap_or(100)
}

/// A share as whole per cents.
fn random(text: &str) -> Option<u32> {
    let share: units::Share = text.trim_matches('"').parse().ok()?;
    Some(truncated::<u32>((share.get() * 100.0).round()))
}
