//! The use of each kind of part of a virtual array, by its busy time and by what waits there.

use std::collections::BTreeMap;

use record::{ClassShare, DiskRole, PartShare, Point};

use super::kind::{Busy, DISK, has_ended, is_of_load, kind, of_kind};
use super::usage::{Use, sort};

/// Every kind of part of a virtual array, the fullest first. Parts that differ by number alone are one kind: their mean
/// counts, and the fullest of them where it stands out. A disk that is being filled is a kind of its own; one that has failed or
/// waits as a spare is none.
pub(super) fn of_breakdown(point: &Point) -> Vec<Use> {
    let mut kinds: BTreeMap<String, Vec<Busy<'_>>> = BTreeMap::new();
    let elapsed_ns = point.metered_ns().max(1) as f64;
    let elsewhere = elsewhere(point, elapsed_ns);
    let (at_disks, is_without_lun) = (waiting_at_disks(point), has_fewer_luns_than_controllers(point));
    if let Some(breakdown) = &point.breakdown {
        let mut classes: BTreeMap<&str, Vec<&ClassShare>> = BTreeMap::new();
        breakdown.classes.iter().for_each(|one| classes.entry(&one.component).or_default().push(one));
        let filling = breakdown.components.iter().filter(|part| part.role == Some(DiskRole::Filling));
        let working = breakdown.components.iter().filter(|part| part.is_working());
        let working = working.map(|part| (kind(&part.name), part));
        for (kind, part) in working.chain(filling.map(|part| (part.name.clone(), part))) {
            let own = classes.get(part.name.as_str()).map_or(&[][..], Vec::as_slice);
            kinds.entry(kind).or_default().push(Busy::of(part, own, elapsed_ns));
        }
    }
    let of_kind = |(kind, parts): (String, Vec<Busy<'_>>)| {
        let most = if kind == DISK { at_disks } else { f64::INFINITY };
        let one = of_kind(&kind, &parts, elsewhere, most);
        Use { idle: one.idle.map(|idle| if is_without_lun { idle.without_lun() } else { idle }), ..one }
    };
    let mut uses: Vec<Use> = kinds.into_iter().map(of_kind).collect();
    without_threads_of_full_hosts(&mut uses);
    sort(&mut uses);
    uses
}

/// A worker's thread is busy on its host's processors: where these have no time left, it is not the thread that bounds.
fn without_threads_of_full_hosts(uses: &mut Vec<Use>) {
    let is_full = |one: &Use| {
        one.part.starts_with("host") && one.part.contains("processor") && one.share >= super::FULL
    };
    if uses.iter().any(is_full) {
        uses.retain(|one| !(one.part.starts_with("host") && one.part.contains("thread")));
    }
}

/// Of the requests in flight those that are at no counted part: they are on the way, or wait for what a cache flushes
/// or reads ahead. Those that wait in their host for their LUN are not among them.
fn elsewhere(point: &Point, elapsed_ns: f64) -> f64 {
    let in_flight: f64 = point.workloads.iter().map(|workload| workload.mean_in_flight).sum();
    let classes = point.breakdown.iter().flat_map(|breakdown| &breakdown.classes);
    let of_load = classes.filter(|one| is_of_load(one) && has_ended(one, elapsed_ns));
    let at_parts: f64 = of_load.map(|one| (one.wait_ns + one.service_ns) * one.visits as f64).sum();
    let queues = point.breakdown.as_ref().and_then(|breakdown| breakdown.lun_queues);
    let in_hosts = queues.map_or(0.0, |queues| queues.mean_waiting);
    (in_flight - in_hosts - at_parts / elapsed_ns).max(0.0)
}

/// Whether some controllers own no LUN: the LUNs of all hosts, which each host has, are fewer for each of them.
fn has_fewer_luns_than_controllers(point: &Point) -> bool {
    let Some(breakdown) = &point.breakdown else { return false };
    let count = |of: &str| {
        breakdown
            .components
            .iter()
            .filter(|part| part.name.starts_with(of) && part.name.ends_with(" processor"))
            .count()
    };
    let (controllers, hosts) = (count("controller "), count("host ").max(1));
    breakdown.lun_queues.is_some_and(|queues| (queues.queues as usize) < controllers * hosts)
}

/// As a record calls the wait of what is due for a slot of its load.
pub(super) const SCHEDULE: &str = "schedule";

/// Of the requests in flight those that wait at a disk; all of them where the record does not say.
///
/// A command is at its disk from when it is given out, and waits there also for a controller that has not yet taken what the
/// disk has for it: the way of the request tells the two apart. What waits in its schedule for a slot is not in flight yet.
fn waiting_at_disks(point: &Point) -> f64 {
    let response = point.breakdown.as_ref().map_or(&[][..], |breakdown| &breakdown.response);
    let all: f64 = response.iter().filter(|part| part.part != SCHEDULE).map(PartShare::time_ns).sum();
    let waited: f64 = response.iter().filter(|part| part.part == DISK).map(|part| part.wait_ns).sum();
    let in_flight: f64 = point.workloads.iter().map(|workload| workload.mean_in_flight).sum();
    if all > 0.0 { in_flight * waited / all } else { f64::INFINITY }
}

#[cfg(test)]
mod tests {
    use record::sample::{self, visits};
    use record::{Behalf, Breakdown, Component, LunQueues};

    use super::*;

    /// Nanoseconds of the points here.
    const ELAPSED: f64 = 10e9;

    fn component(name: &str, utilisation: f64, wait_ns: u64) -> Component {
        Component { name: name.into(), servers: 1, utilisation, visits: 1, wait_ns, ..Component::default() }
    }

    /// A point of ten seconds with eight in flight.
    fn modelled(components: Vec<Component>, classes: Vec<ClassShare>) -> Point {
        let mut workload = sample::workload("main", &[]);
        workload.mean_in_flight = 5.0;
        let mut point = sample::point(0, "p", vec![workload.clone(), workload]);
        point.workloads[1].mean_in_flight = 3.0;
        (point.started_ns, point.ended_ns) = (5_000_000_000, 15_000_000_000);
        point.breakdown = Some(Breakdown { components, classes, ..Breakdown::default() });
        point
    }

    #[test]
    fn what_waits_in_its_schedule_takes_nothing_from_the_queue_of_the_disks() {
        let waits = vec![visits(Behalf::HostRead, "disk 0", 1_000, 60e6, 10e6)];
        let mut point = modelled(vec![component("disk 0", 0.99, 0)], waits);
        let part = |part: &str, wait_ns, service_ns| PartShare { part: part.into(), wait_ns, service_ns };
        let response = |schedule| {
            vec![part(SCHEDULE, schedule, 0.0), part("disk", 60e6, 0.0), part("disk seek", 0.0, 20e6)]
        };
        let mut queue = |schedule: f64| {
            point.breakdown.as_mut().expect("it has one").response = response(schedule);
            of_breakdown(&point)[0].queue.map(|queue| queue.load)
        };
        assert_eq!(
            (queue(0.0), queue(8e9)),
            (Some(6.0), Some(6.0)),
            "six of eight in flight wait at the disk"
        );
    }

    #[test]
    fn requests_are_elsewhere_that_are_at_no_part() {
        let of = |classes| elsewhere(&modelled(Vec::new(), classes), ELAPSED);
        assert_eq!(of(Vec::new()), 8.0);
        // 1,000 times 15 ms and 5 ms of 10 s.
        assert_eq!(of(vec![visits(Behalf::HostRead, "disk 0", 1_000, 15e6, 5e6)]), 6.0);
        assert_eq!(of(vec![visits(Behalf::Prefetch, "disk 0", 1_000, 15e6, 5e6)]), 8.0, "a cache's own");
        assert_eq!(of(vec![visits(Behalf::HostRead, "disk 0", 1, ELAPSED, 0.0)]), 7.0);
        assert_eq!(
            of(vec![visits(Behalf::HostRead, "disk 0", 1, ELAPSED + 1.0, 0.0)]),
            8.0,
            "it has not ended"
        );
        assert_eq!(of(vec![visits(Behalf::HostWrite, "disk 0", 1_000, 200e6, 0.0)]), 0.0);
    }

    #[test]
    fn a_lun_of_one_controller_uses_the_links_of_no_other() {
        let part = |name: &str, utilisation| Component { visits: 1, ..component(name, utilisation, 0) };
        let of = |luns: u32| {
            let names = ["host 0 processor", "controller 0 processor", "controller 1 processor"];
            let parts = names.iter().map(|name| part(name, 0.1));
            let links = vec![part("link 0 tx", 0.99), part("link 1 tx", 0.0)];
            let mut point = modelled(parts.chain(links).collect(), Vec::new());
            let queues = LunQueues { depth: 32, queues: luns, mean_outstanding: 8.0, mean_waiting: 0.0 };
            point.breakdown.as_mut().expect("it has one").lun_queues = Some(queues);
            let uses = of_breakdown(&point);
            uses.into_iter().find_map(|one| one.idle).expect("a link is idle").advice()
        };
        assert!(of(1).contains("make one for each (`luns`)"), "{}", of(1));
        assert!(of(2).contains("use all paths (`multipath`)"), "{}", of(2));
    }

    #[test]
    fn the_thread_of_a_worker_is_no_limit_beside_processors_that_have_no_time_left() {
        let names = |processor: f64| {
            let parts =
                vec![component("host 0 processor", processor, 0), component("host 0 busiest thread", 1.0, 0)];
            let uses = of_breakdown(&modelled(parts, Vec::new()));
            uses.into_iter().map(|one| one.part).collect::<Vec<_>>()
        };
        assert_eq!(names(1.0), ["host 0 processor"]);
        assert_eq!(names(0.5), ["host 0 busiest thread", "host 0 processor"]);
    }

    #[test]
    fn a_virtual_array_is_told_by_its_kinds_the_fullest_first() {
        let components = vec![
            component("disk 0", 0.2, 0),
            component("disk 1", 0.4, 0),
            component("controller 0 bus", 0.5, 0),
        ];
        let classes = vec![
            visits(Behalf::HostRead, "disk 0", 1_000, 10e6, 5e6),
            visits(Behalf::Prefetch, "disk 1", 1_000, 90e6, 5e6),
            visits(Behalf::HostRead, "controller 0 bus", 1_000, 0.0, 5e6),
        ];
        let point = modelled(components, classes);
        let found = of_breakdown(&point);
        let names: Vec<&str> = found.iter().map(|one| one.part.as_str()).collect();
        assert_eq!(names, ["controller 0 bus", "disks"]);
        // Of eight in flight 1.5 are at the first disk and 0.5 at the bus; the others may wait for reads ahead.
        let loads: Vec<f64> = found.iter().filter_map(|one| one.queue).map(|queue| queue.load).collect();
        assert_eq!(loads, [0.0, 1.0 + 6.0]);
        assert_eq!(of_breakdown(&Point { breakdown: None, ..point }), []);
    }
}
