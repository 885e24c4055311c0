//! Writes of a set with parity that cover a part of a stripe: what is there is read before anything is written, one after the other.

use record::{Component, Op, PartShare, Point};

use super::traffic::operations_per_request;

/// What disks read for writes is so much of what was written at least.
const READ_FIRST: f64 = 0.25;

/// A copy on a mirror takes two operations; fewer than this for each write are no update of parity.
const SEVERAL: f64 = 2.5;

/// What to do about it.
pub(super) const REMEDY: &str = "Have each write take fewer disk operations: RAID 10 (two, side by side), whole stripes, or a write-back \
                                 cache that gathers small writes.";

/// How many operations of disks each write of `point` takes, where it does nothing but write, disks read for that, and most of the
/// response time is theirs; else nothing.
pub(super) fn operations(point: &Point) -> Option<f64> {
    let response = &point.breakdown.as_ref()?.response;
    let sum = |of: &dyn Fn(&PartShare) -> bool| -> f64 {
        response.iter().filter(|part| of(part)).map(PartShare::time_ns).sum()
    };
    let at_disks = sum(&|part| part.part.starts_with("disk") && part.part != "disk flush");
    reading_first(point).filter(|_| at_disks > sum(&|_| true) / 2.0)
}

/// The same of writes that a cache takes and has written out for a flush: their time at the disks is that of the flush.
pub(super) fn behind_flushes(point: &Point) -> Option<f64> {
    reading_first(point)
}

/// How many operations of disks each write of `point` takes, where it does nothing but write and disks read for that.
fn reading_first(point: &Point) -> Option<f64> {
    let ((_, read), (_, written)) = (point.metered(Op::Read), point.metered(Op::Write));
    let components = &point.breakdown.as_ref()?.components;
    let disks = components.iter().filter(|part| part.name.starts_with("disk ") && part.is_working());
    let read_by_disks: u64 = disks.filter_map(|part: &Component| part.read_bytes).sum();
    let reads_first = read == 0 && written > 0 && read_by_disks as f64 >= READ_FIRST * written as f64;
    operations_per_request(point).filter(|each| reads_first && *each >= SEVERAL)
}

#[cfg(test)]
mod tests {
    use record::sample::{self, Stream};
    use record::{Behalf, Breakdown};

    use super::*;

    /// A point of small writes, with as many operations of disks for each, after which as much was read as is `read` of what was written.
    fn point(op: &'static str, each: u64, read: f64) -> Point {
        let stream = Stream { op, size_bytes: 4096, per_s: 100, median_ns: 10_000_000, spread: 0.0 };
        let mut point = sample::point(0, "p", vec![sample::workload("main", &[stream])]);
        let written: u64 = point.workloads[0].totals.iter().map(|total| total.bytes).sum();
        let class = |component, visits| sample::visits(Behalf::HostWrite, component, visits, 0.0, 1.0);
        let disk = Component {
            name: "disk 0".into(),
            read_bytes: Some(units::convert::truncated(read * written as f64)),
            ..Component::default()
        };
        let share = |part: &str, service_ns| PartShare { part: part.into(), wait_ns: 0.0, service_ns };
        point.breakdown = Some(Breakdown {
            components: vec![disk],
            classes: vec![class("host 0 processor", 100), class("disk 0", each * 100)],
            response: vec![share("link", 1.0), share("disk seek", 9.0)],
            ..Breakdown::default()
        });
        point
    }

    #[test]
    fn writes_for_which_disks_read_first_are_told_by_their_operations() {
        assert_eq!(operations(&point("write", 4, 2.0)), Some(4.0));
        assert_eq!(operations(&point("write", 4, 0.2)), None, "nothing is read first");
        assert_eq!(operations(&point("write", 2, 1.0)), None, "as many as on a mirror");
        assert_eq!(operations(&point("read", 4, 2.0)), None);
        let mut elsewhere = point("write", 4, 2.0);
        elsewhere.breakdown.as_mut().unwrap().response[0].service_ns = 10.0;
        assert_eq!(operations(&elsewhere), None, "most of the time is the link's");
    }
}
