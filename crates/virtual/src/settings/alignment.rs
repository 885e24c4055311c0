//! Where requests and LUNs begin, and what they cross for that: chunks, stripes, and what flash maps as one.

use array::device::DeviceParams;
use array::raid::Level;
use array::sim::Topology;
use units::{Bytes, SECTOR_BYTES};
use workload::spec::{Extent, Workload};

use super::writes;

/// Places of requests that are looked at for what they cross: all that there are of the usual sizes.
const PLACES: u64 = 1024;

/// More than this many times the pieces of requests that begin at stripes are a cost.
const COSTS: f64 = 1.01;

/// All host data of a row of stripes of the first set: a whole number of its stripes and chunks.
pub fn row_of(topology: &Topology) -> Bytes {
    let stripes = |level: Level| !matches!(level, Level::Jbod);
    let first = topology.sets.first().map(|set| &set.geometry);
    let row = first.filter(|geometry| stripes(geometry.spec().level)).map(|one| one.full_row().bytes());
    // Levels that do not stripe have the whole set as their row.
    let row = row.filter(|row| *row <= Bytes::GIB);
    row.unwrap_or(Bytes::MIB)
}

/// Where the first request of a workload may begin.
fn begin_of(workload: &Workload) -> Bytes {
    match workload.offset {
        Extent::Bytes(offset) => offset,
        // It is rounded to the alignment.
        Extent::Part(_) => Bytes::ZERO,
    }
}

/// Has requests of `workload` begin at multiples of `row`, from its own begin on.
pub(super) fn begin_at(workload: &mut Workload, row: Bytes) {
    workload.offset = Extent::Bytes(begin_of(workload).round_up(row));
    if workload.align.is_some_and(|align| align < workload.sizes.smallest()) {
        workload.align = None;
    }
}

/// Whether requests of `workload` touch more pieces of the array than they would from the begin of a stripe on.
pub(super) fn crosses(workload: &Workload, topology: &Topology) -> bool {
    let size = workload.sizes.largest();
    let own_step = workload.align.filter(|align| !align.is_zero()).unwrap_or(workload.sizes.smallest());
    let starts = topology.luns.iter().map(|lun| lun.start.0 * SECTOR_BYTES);
    let mut units = units_of(workload, topology);
    units.retain(|unit| *unit > 0);
    starts.into_iter().any(|start| {
        let from = start + begin_of(workload).get();
        units.iter().any(|&unit| {
            let now = pieces((from, own_step.get()), size.get(), unit);
            let aligned = pieces((0, workload.sizes.smallest().get()), size.get(), unit);
            now > COSTS * aligned
        })
    })
}

/// Sizes within which a request is one piece: chunks, stripes where writes need all of one, and what flash maps.
fn units_of(workload: &Workload, topology: &Topology) -> Vec<u64> {
    let mut units = Vec::new();
    for set in &topology.sets {
        let (spec, stripe) = (set.geometry.spec(), set.geometry.full_stripe());
        let stripes = spec.level != Level::Jbod && set.geometry.full_row().bytes() <= Bytes::GIB;
        if stripes {
            units.push(spec.chunk.bytes().get());
        }
        if stripes && spec.level.parity() > 0 && writes(workload) {
            units.push(stripe.bytes().get());
        }
    }
    for model in &topology.models {
        if let (DeviceParams::Flash(flash), true) = (model, writes(workload)) {
            units.push(flash.mapping.get());
        }
    }
    units
}

/// Pieces of `unit` bytes that a request of `size` bytes touches on average, those that it covers in part counted twice: they are
/// read before they are written. Requests begin at `from` and every `step` behind it.
fn pieces((from, step): (u64, u64), size: u64, unit: u64) -> f64 {
    let step = step.max(1);
    let of_place = |number: u64| {
        let begin = from + number * step;
        let end = begin + size.max(1);
        let touched = end.div_ceil(unit) - begin / unit;
        let whole = (end / unit).saturating_sub(begin.div_ceil(unit));
        (2 * touched - whole) as f64
    };
    (0..PLACES).map(of_place).sum::<f64>() / PLACES as f64
}

/// Has every LUN begin at a row of its set, and lie on its set.
pub(super) fn align_luns(topology: &mut Topology) {
    let Topology { luns, sets, .. } = topology;
    for lun in luns {
        let row = sets[lun.set as usize].geometry.full_row().0;
        if row == 0 || row >= lun.size.0 {
            continue;
        }
        lun.start.0 -= lun.start.0 % row;
        debug_assert!(lun.size.0 > 0, "a LUN has room");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_has_more_pieces_where_it_begins_elsewhere_than_a_stripe() {
        let kib = |many: u64| many * 1024;
        assert_eq!(pieces((0, kib(64)), kib(64), kib(64)), 1.0);
        assert_eq!(pieces((kib(4), kib(64)), kib(64), kib(64)), 4.0, "two, both in part");
        assert_eq!(pieces((0, kib(4)), kib(4), kib(64)), 2.0, "a part of one");
        assert_eq!(pieces((kib(4), kib(4)), kib(4), kib(64)), 2.0, "the same");
    }
}
