//! What became of the requests of a load on their way to the disks: what caches answered, and what each of them costs.

use record::{Behalf, ClassShare, Point, WorkloadResult};
use spec::Pattern;

use super::kind::{DISK, is_background, is_of_load, kind};
use crate::draft::{Draft, percent};

/// Hit rates from here on are reported.
const HITS: f64 = 0.02;

/// `draft` with the part of the reads that caches answered, of a load that goes from place to place and reads some from disks.
pub(super) fn with_hit_rate(draft: Draft, point: &Point) -> Draft {
    let goes_about =
        |one: &WorkloadResult| one.spec.pattern != Pattern::Sequential && one.spec.tree.is_none();
    let classes = || point.breakdown.iter().flat_map(|breakdown| &breakdown.classes);
    let reads = |is_at: fn(&str) -> bool| -> u64 {
        let own = classes().filter(|one| one.op == Behalf::HostRead && is_at(&kind(&one.component)));
        own.map(|one| one.visits).sum()
    };
    let (requested, from_disks) = (reads(|kind| kind == "host processor"), reads(|kind| kind == DISK));
    let hits = 1.0 - from_disks as f64 / requested.max(1) as f64;
    if requested == 0 || from_disks == 0 || hits < HITS || !point.workloads.iter().all(goes_about) {
        return draft;
    }
    draft.sentence(&format!(" Caches answer {} of the reads.", percent(hits))).number("hit_rate", hits)
}

/// How many operations disks did for each request of the workloads, those of caches among them; `None` where nothing was counted.
pub(super) fn operations_per_request(point: &Point) -> Option<f64> {
    let classes = || point.breakdown.iter().flat_map(|breakdown| &breakdown.classes);
    let asked = point.breakdown.as_ref().and_then(|breakdown| breakdown.host_traffic);
    let visits = |is_at: &dyn Fn(&str) -> bool, counts: fn(&ClassShare) -> bool| -> u64 {
        classes().filter(|one| is_at(&one.component) && counts(one)).map(|one| one.visits).sum()
    };
    // A host's processor is visited for what its page cache sends, and for each part, as well.
    let by_host = || visits(&|name| kind(name) == "host processor", is_of_load);
    let requests = asked.map_or_else(by_host, |asked| asked.requests);
    let operations = visits(&|name| kind(name) == DISK, |one| !is_background(one));
    (requests > 0 && operations > 0).then(|| operations as f64 / requests as f64)
}

#[cfg(test)]
mod tests {
    use record::sample::{self, visits};
    use record::{Breakdown, Severity};

    use super::*;
    use crate::Code;

    #[test]
    fn the_reads_that_caches_answered_are_told_of_loads_that_go_from_place_to_place() {
        let of = |from_disks: u64, pattern: Pattern| {
            let read = |part, count| visits(Behalf::HostRead, part, count, 0.0, 1.0);
            let mut point = sample::point(0, "p", vec![sample::workload("main", &[])]);
            let classes = vec![read("host 0 processor", 1_000), read("disk 3", from_disks)];
            point.breakdown = Some(Breakdown { classes, ..Breakdown::default() });
            point.workloads.iter_mut().for_each(|one| one.spec.pattern = pattern.clone());
            let draft = Draft::new(Code::Bottleneck, Severity::Note, "It is.");
            with_hit_rate(draft, &point).about_run().sentence
        };
        assert_eq!(of(840, Pattern::Random), "It is. Caches answer 16 % of the reads.");
        assert_eq!(of(990, Pattern::Random), "It is.");
        assert_eq!(of(1_400, Pattern::Random), "It is.", "requests cross chunks");
        assert_eq!(of(840, Pattern::Sequential), "It is.", "what is read ahead is no hit");
    }
}
