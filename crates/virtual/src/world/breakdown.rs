//! Where the time went, in the words of a record.

use array::device::SlcUse;
use array::meter::{Class, Visits};
use array::raid::DiskRole;
use array::sim::{Component, HostTraffic, LunQueues};
use record::{Behalf, Breakdown, BreakdownWindow, ClassShare};
use units::convert::truncated;
use units::{Bytes, Instant, Nanos};

/// Every part, and what visits on behalf of hosts, caches and background work met there, from one instant to another.
pub(super) fn breakdown(parts: &[Component], from: Instant, until: Instant) -> Breakdown {
    let elapsed = until.saturating_since(from);
    let window = BreakdownWindow { from_ns: from.nanos(), until_ns: until.nanos(), warmup_ns: 0 };
    Breakdown {
        components: parts.iter().map(|part| component(part, elapsed)).collect(),
        classes: parts.iter().flat_map(classes).collect(),
        shares: Vec::new(),
        response: Vec::new(),
        window: Some(window),
        write_cache: None,
        lun_queues: None,
        host_traffic: None,
        slc_cache: None,
    }
}

fn component(part: &Component, elapsed: Nanos) -> record::Component {
    let sum = |of: fn(&Visits) -> u64| part.visits.iter().map(|(_, visits)| of(visits)).sum();
    record::Component {
        name: part.name.clone(),
        servers: servers_of(part, elapsed),
        utilisation: part.utilisation,
        mean_in_system: part.mean_present,
        visits: sum(|visits| visits.count),
        wait_ns: sum(|visits| visits.wait_ns),
        service_ns: sum(Visits::busy_ns),
        read_bytes: part.moved.map(|[read, _]| read.get()),
        written_bytes: part.moved.map(|[_, written]| written.get()),
        role: part.role.map(role),
        chooses_among: part.chooses_among,
        model: part.model,
        busiest: part.busiest.map(str::to_owned),
    }
}

fn classes(part: &Component) -> impl Iterator<Item = ClassShare> {
    part.visits.iter().map(|(class, visits)| {
        debug_assert!(visits.count > 0 || visits.wait_ns == 0 && visits.busy_ns() == 0, "time is of visits");
        let count = visits.count.max(1) as f64;
        ClassShare {
            op: behalf(*class),
            size_bytes: 0,
            component: part.name.clone(),
            visits: visits.count,
            wait_ns: visits.wait_ns as f64 / count,
            service_ns: visits.service_ns as f64 / count,
            deferred_ns: visits.deferred_ns as f64 / count,
        }
    })
}

fn role(role: DiskRole) -> record::DiskRole {
    match role {
        DiskRole::Failed => record::DiskRole::Failed,
        DiskRole::Spare => record::DiskRole::Spare,
        DiskRole::Filling => record::DiskRole::Filling,
    }
}

/// The same in the words of a record.
pub(super) fn lun_queues(queues: LunQueues) -> record::LunQueues {
    let LunQueues { depth, queues, mean_outstanding, mean_waiting } = queues;
    record::LunQueues { depth, queues, mean_outstanding, mean_waiting }
}

/// What was asked of hosts that send no more than `part_max` at once, in the words of a record.
pub(super) fn host_traffic(traffic: HostTraffic, part_max: Bytes) -> record::HostTraffic {
    let [buffered_read_bytes, buffered_written_bytes] = traffic.through_pages.map(Bytes::get);
    let [fetched_bytes, written_back_bytes] = traffic.by_pages.map(Bytes::get);
    record::HostTraffic {
        requests: traffic.requests,
        parts: traffic.parts,
        part_max_bytes: part_max.get(),
        buffered_read_bytes,
        buffered_written_bytes,
        fetched_bytes,
        written_back_bytes,
    }
}

/// What flash drives took with one bit a cell, in the words of a record.
pub(super) fn slc_fill(seen: SlcUse) -> record::SlcFill {
    record::SlcFill {
        size_bytes: seen.size.get(),
        held_bytes: seen.held.get(),
        taken_bytes: seen.taken.get(),
        beyond_bytes: seen.beyond.get(),
        behind_bytes_per_s: seen.behind.get(),
    }
}

/// The word of a record for a class of visits.
fn behalf(class: Class) -> Behalf {
    match class {
        Class::HostRead => Behalf::HostRead,
        Class::HostWrite => Behalf::HostWrite,
        Class::Destage => Behalf::Destage,
        Class::Prefetch => Behalf::Prefetch,
        Class::Background => Behalf::Background,
    }
}

/// Busy time over utilisation and elapsed time; at least one.
fn servers_of(part: &Component, elapsed: Nanos) -> u32 {
    debug_assert!(
        part.utilisation >= 0.0 && part.utilisation < 1.0 + 1e-6,
        "no part works more than all the time: {} {}",
        part.name,
        part.utilisation
    );
    let servers = part.busy.as_secs_f64() / (part.utilisation * elapsed.as_secs_f64());
    if servers.is_finite() { truncated::<u32>(servers.round()).max(1) } else { 1 }
}
