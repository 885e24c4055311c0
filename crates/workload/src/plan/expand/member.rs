//! The workloads of a phase before their sweeps are unrolled.

use document::{Node, TextSpan};
use units::{OpsPerSecond, Share};

use super::{defaults, read_known};
use crate::plan::Metric;
use crate::plan::keys::draft::Draft;
use crate::plan::keys::workload::{MEMBER, WORKLOAD};
use crate::plan::keys::{Entry, Kind};
use crate::plan::layers::{LayeredValue, Layers};
use crate::plan::outline::PhaseTable;
use crate::plan::sweep;
use crate::spec::{Pace, Schedule, Workload};

/// One workload of a phase and the values that hold for it, in the order of the entries.
pub(super) struct Member<'a> {
    pub(super) name: String,
    pub(super) place: TextSpan,
    pub(super) found: Vec<Option<LayeredValue<'a>>>,
    pub(super) headline: Metric,
    pub(super) share: Option<Share>,
}

/// One sweep.
pub(super) struct Axis<'a> {
    /// `workers`, or `oltp.workers` where it is said for one workload of several.
    pub(super) label: String,
    /// The value that is swept; a sweep of a phase is one axis for all its workloads.
    pub(super) node: &'a Node,
    pub(super) values: Vec<Node>,
    pub(super) order: (usize, usize),
}

/// Which value each axis has at one point.
pub(super) struct Cell<'a> {
    pub(super) axes: &'a [Axis<'a>],
    pub(super) at: Vec<usize>,
}

impl Cell<'_> {
    /// The value of `node` at this point: itself unless it is swept.
    pub(super) fn value<'n>(&'n self, node: &'n Node) -> &'n Node {
        let axis = self.axes.iter().position(|axis| std::ptr::eq(axis.node, node));
        axis.map_or(node, |axis| &self.axes[axis].values[self.at[axis]])
    }

    /// To the next point, the last axis fastest; false after the last.
    pub(super) fn advance(&mut self) -> bool {
        for axis in (0..self.at.len()).rev() {
            self.at[axis] += 1;
            if self.at[axis] < self.axes[axis].values.len() {
                return true;
            }
            self.at[axis] = 0;
        }
        false
    }

    /// Whether the innermost sweep begins here: a new curve.
    pub(super) fn begins_curve(&self) -> bool {
        self.at.last().is_none_or(|at| *at == 0)
    }
}

impl Member<'_> {
    /// Where `key` is said for this workload, or else the workload's own heading.
    pub(super) fn place_of<'n>(&'n self, key: &str, cell: &'n Cell<'_>) -> &'n TextSpan {
        let index = WORKLOAD.iter().position(|entry| entry.doc.key == key);
        let found = index.and_then(|index| self.found[index].as_ref());
        found.map_or(&self.place, |found| &cell.value(found.node).place)
    }

    /// The workload without any `--set` at one point, but for keys whose sweep a `--set` has replaced; none where it contradicts
    /// itself.
    pub(super) fn as_written(&self, cell: &Cell<'_>) -> Option<Workload> {
        let mut draft = defaults();
        for (entry, found) in WORKLOAD.iter().zip(&self.found) {
            let Some(node) = found.as_ref().and_then(|found| found.written) else { continue };
            let node = cell.value(node);
            if !is_sweep(node, entry) {
                read_known(entry, &mut draft, node);
            }
        }
        draft.finish().ok()
    }

    /// Whether a `--set` has replaced a sweep by one value.
    pub(super) fn has_lost_its_sweep(found: &LayeredValue<'_>, entry: &Entry<Draft>) -> bool {
        found.is_set && found.written.is_some_and(|written| is_sweep(written, entry))
    }

    /// Whether its seed is said as a number.
    pub(super) fn has_seed(&self, cell: &Cell<'_>) -> bool {
        let index = WORKLOAD.iter().position(|entry| entry.doc.key == "seed").expect("seed is a key");
        let found = self.found[index].as_ref();
        found.is_some_and(|found| cell.value(found.node).scalar().as_deref() != Some("auto"))
    }
}

fn is_sweep(node: &Node, entry: &Entry<Draft>) -> bool {
    !matches!(sweep::values(node, entry.doc.kind), Ok(None))
}

/// The workloads of a phase.
pub(super) fn members<'a>(layers: &Layers<'a>, phase: usize, table: &PhaseTable<'a>) -> Vec<Member<'a>> {
    let member = |index: usize| {
        let mut draft = defaults();
        for entry in MEMBER {
            if let Some(found) = layers.of_workload(phase, index, entry.doc.key) {
                read_known(entry, &mut draft, found.node);
            }
        }
        let found = WORKLOAD.iter().map(|entry| layers.of_workload(phase, index, entry.doc.key)).collect();
        let (name, place) = (table.members[index].name.clone(), table.members[index].place.clone());
        Member { name, place, found, headline: draft.headline, share: draft.share }
    };
    (0..table.members.len()).map(member).collect()
}

/// The sweeps of a phase, outermost first; a sweep of several workloads is one.
pub(super) fn axes<'a>(members: &[Member<'a>]) -> Vec<Axis<'a>> {
    let mut axes: Vec<Axis<'a>> = Vec::new();
    for member in members {
        for (entry, found) in WORKLOAD.iter().zip(&member.found) {
            let Some(found) = found else { continue };
            let Ok(Some(values)) = sweep::values(found.node, entry.doc.kind) else { continue };
            if axes.iter().any(|axis| std::ptr::eq(axis.node, found.node)) {
                continue;
            }
            let key = entry.doc.key;
            let label = if found.own { format!("{}.{key}", member.name) } else { key.to_string() };
            axes.push(Axis { label, node: found.node, values, order: found.order });
        }
    }
    axes.sort_by_key(|axis| axis.order);
    axes
}

/// Whether the value, or each value of its sweep, is a rate.
pub(super) fn is_rate(node: &Node) -> bool {
    match sweep::values(node, Kind::Text) {
        Ok(Some(values)) => values.iter().all(is_rate),
        _ => matches!(node.read::<Pace>("rate(500/s)"), Ok(Pace::Open(_))),
    }
}

/// That part of a rate; any other pace as it is.
pub(super) fn part_of(pace: Pace, share: Share) -> Pace {
    let part = |rate: OpsPerSecond| OpsPerSecond::new(rate.get() * share.get());
    match pace {
        Pace::Open(schedule) => Pace::Open(Schedule { rate: part(schedule.rate), ..schedule }),
        Pace::Closed
        | Pace::Think(_)
        | Pace::Bursts { .. }
        | Pace::Spells { .. }
        | Pace::Cap(_)
        | Pace::CapBytes(_)
        | Pace::Trace => pace,
    }
}
