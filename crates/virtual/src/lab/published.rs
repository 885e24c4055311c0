//! Published figures of the same array under the same workload.
//!
//! **Invariant:** a figure is one only where the array that its case names is, part for part, the one that is simulated,
//! and its load is the lab's: no figure is scaled, converted or moved to another setting.

use std::collections::BTreeSet;
use std::sync::OnceLock;

use array::sim::Topology;
use array::spec::case::{self, Activity, ActivityKind, Case, Claim, Load, Metric, Score};
use array::spec::{Address, ArraySpec, Shipped, array};
use serde::Serialize;
use units::{Bytes, Share};
use workload::spec::Durability;

use super::{LabPattern, LabWorkload};

/// A published figure.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Published {
    /// Its number in its source.
    pub label: String,
    /// Requests in flight, all LUNs and workers together.
    pub depth: u32,
    /// Requests a second, where that was published.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub iops: Option<f64>,
    /// Megabytes (10^6) a second, where that was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mb_s: Option<f64>,
    /// Mean response time, where that was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub latency_us: Option<f64>,
    /// Document and year.
    pub source: String,
    /// What the source says, and what was assumed.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub about: String,
    /// The figures of the library that were fitted with its help: agreement, then, and no foresight.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fits: Option<String>,
}

/// A case that a load curve could show.
struct Known {
    case: Case,
    load: Load,
    failed: Option<u32>,
    /// The address of its array, and the name in that.
    address: String,
    name: String,
    /// That array, read when it is first compared; `None` where it cannot be read.
    topology: OnceLock<Option<Topology>>,
}

impl Known {
    fn topology(&self) -> Option<&Topology> {
        let read = || array(&Shipped, &self.address).ok().map(|spec| spec.topology);
        self.topology.get_or_init(read).as_ref()
    }
}

/// The published figures of `spec` with the disks of `fail` failed, under `workload`; in the order of the files.
pub fn published(spec: &ArraySpec, fail: &[u32], workload: &LabWorkload) -> Vec<Published> {
    let is_same = |known: &&Known| {
        known.name == spec.name
            && known.failed.as_slice() == fail
            && is_load(&known.load, workload, spec)
            && known.topology() == Some(&spec.topology)
    };
    known().iter().filter(is_same).map(figure).collect()
}

/// The spans that published figures of the array called `name` were measured on, each once, the smallest first.
pub(super) fn spans(name: &str) -> Vec<Bytes> {
    let own = known().iter().filter(|known| known.name == name);
    let spans: BTreeSet<Bytes> = own.filter_map(|known| known.load.span).collect();
    spans.into_iter().collect()
}

/// Every published figure that a load curve could show: array, failed disks, workload and label.
pub fn all() -> Vec<(String, Vec<u32>, LabWorkload, String)> {
    let one = |known: &Known| {
        let Known { case, load, failed, address, .. } = known;
        let is_whole = load.span_share.is_none()
            && load.held == Share::NONE
            && load.offset.is_zero()
            && load.align.is_none()
            && known.topology().is_some_and(|topology| topology.lun_sizes().len() == 1);
        let is_one = load.luns == 1 && (load.workers == 1 || load.pattern == case::Pattern::Random);
        let workload =
            LabWorkload { pattern: pattern(load), size: load.size, reads: load.reads, span: load.span };
        let fail = failed.iter().copied().collect();
        (is_whole && is_one).then(|| (address.clone(), fail, workload, case.id.clone()))
    };
    known().iter().filter_map(one).collect()
}

fn pattern(load: &Load) -> LabPattern {
    match load.pattern {
        case::Pattern::Random => LabPattern::Random,
        case::Pattern::Sequential => LabPattern::Sequential,
    }
}

/// Whether the case's load is what the lab issues: on all of the LUNs, from their start, past the page cache.
fn is_load(load: &Load, workload: &LabWorkload, spec: &ArraySpec) -> bool {
    let pattern = pattern(load);
    // Several streams are not one stream of as many requests, one on each LUN is not one over all of them.
    let is_one = load.workers == 1 && load.luns == 1 || pattern == LabPattern::Random;
    pattern == workload.pattern
        && is_one
        && load.size == workload.size
        && (load.reads.get() - workload.reads.get()).abs() < 1e-9
        && load.direct
        && load.span == workload.span
        && load.span_share.is_none()
        && load.held == Share::NONE
        && load.offset.is_zero()
        && load.align.is_none()
        && load.luns as usize == spec.topology.lun_sizes().len()
}

fn figure(known: &Known) -> Published {
    let Known { case, load, .. } = known;
    let value = match &case.claim {
        Claim::Absolute { value, .. } => value * case.unit.scale(),
        _ => f64::NAN,
    };
    let of = |metric: Metric, scale: f64| (case.metric == metric).then_some(value / scale);
    Published {
        label: case.id.clone(),
        depth: load.workers * load.depth * load.luns,
        iops: of(Metric::Iops, 1.0),
        mb_s: of(Metric::Throughput, 1e6),
        latency_us: of(Metric::LatencyMean, 1e-6),
        source: case.source.clone(),
        about: case.about.clone(),
        fits: (!case.fits.is_empty()).then(|| case.fits.join(", ")),
    }
}

/// All that are shipped, read once.
fn known() -> &'static [Known] {
    static KNOWN: OnceLock<Vec<Known>> = OnceLock::new();
    KNOWN.get_or_init(|| {
        let files = case::shipped().iter().filter_map(|(_, label, text)| case::cases(label, text).ok());
        files.flat_map(|file| file.cases).filter_map(candidate).collect()
    })
}

/// A case of one load at rest or with one disk lost, whose figure counts: of others the source leaves open what was run.
fn candidate(case: Case) -> Option<Known> {
    let Claim::Absolute { subject, .. } = &case.claim else { return None };
    let [load] = subject.loads.as_slice() else { return None };
    let failed = match subject.occasion {
        None => None,
        Some(Activity { work: ActivityKind::Degraded, disk, .. }) => Some(disk),
        Some(_) => return None,
    };
    let is_curve = matches!(case.metric, Metric::Iops | Metric::Throughput | Metric::LatencyMean);
    if !is_curve || !load.direct || load.durability != Durability::NONE || case.score != Score::Counts {
        return None;
    }
    let Ok(Address { name, .. }) = Address::parse(&subject.array) else { return None };
    let (load, address) = (load.clone(), subject.array.clone());
    Some(Known { load, failed, address, name, topology: OnceLock::new(), case })
}
