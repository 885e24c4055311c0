//! What a workload that writes zones in order must not ask for.

use units::{Bytes, Share};

use super::check::{Fault, fault};
use crate::spec::{Files, LunLayout, Pattern, Verify, Workload, ZoneSize, Zones};

/// Everything contradictory about the zones of `workload`.
pub(super) fn faults(workload: &Workload, faults: &mut Vec<Fault>) {
    let zones = &workload.zones;
    if !zones.are_there() {
        if *zones != Zones::NONE {
            let message = "without a size there are no zones".into();
            let help = "it has no effect; write their size, such as `zone_size = \"256MiB\"`";
            faults.push(Fault { caution: true, ..fault("zone_size", message, help) });
        }
        return;
    }
    layout(workload, faults);
    company(workload, faults);
    let is_of_device = zones.size == Some(ZoneSize::OfDevice);
    if is_of_device && zones.capacity.is_some() {
        let message = "a device says itself what its zones hold".into();
        faults.push(fault("zone_capacity", message, "leave it out"));
    }
    if zones.open_of_worker.is_some_and(|own| zones.open.map_or(!is_of_device, |all| own > all)) {
        let message = "a worker opens some of the zones that all may open".into();
        faults.push(fault("worker_open_zones", message, "write `open_zones`, as many or more"));
    }
    if zones.resets_above.is_some() && zones.resets.is_none() {
        let message = "nothing is reset before a zone is full".into();
        faults.push(fault("zone_resets_above", message, "write `zone_resets = \"12.5%\"`, or leave it out"));
    }
    if zones.resets.is_some_and(|part| part != Share::NONE) && workload.verify != Verify::None {
        let message = "what a reset loses cannot be verified".into();
        faults.push(fault("zone_resets", message, "leave it out, or write `verify = \"none\"`"));
    }
}

fn layout(workload: &Workload, faults: &mut Vec<Fault>) {
    let (zones, Some((size, capacity))) = (&workload.zones, workload.zones.layout()) else { return };
    let largest = workload.sizes.largest();
    if zones.capacity.is_some_and(|capacity| capacity > size) {
        let message = format!("a zone of {} does not hold more than itself", size.exact());
        faults.push(fault("zone_capacity", message, format!("at most {}", size.exact())));
    } else if largest > capacity {
        let message =
            format!("{} of a zone have no room for a request of {}", capacity.exact(), largest.exact());
        faults.push(fault("zone_size", message, "write larger zones, or a smaller `size`"));
    }
    let distances = [("zone_size", Some(size)), ("zone_capacity", zones.capacity)];
    for (key, distance) in distances {
        if let Some(odd) = distance.filter(|distance| !distance.is_multiple_of(Bytes::new(512))) {
            faults.push(fault(
                key,
                format!("{} is not a multiple of 512B", odd.exact()),
                "for example 256MiB",
            ));
        }
    }
    if zones.skip.is_some_and(|skip| !skip.is_multiple_of(size)) {
        let message = "a stream leaves out whole zones".into();
        faults.push(fault("zone_skip", message, format!("a multiple of {}", size.exact())));
    } else if zones.skip.is_some() && workload.pattern != Pattern::Sequential {
        let message = "only a stream leaves zones out".into();
        faults.push(fault("zone_skip", message, "write `pattern = \"sequential\"`, or leave it out"));
    }
}

/// What does not go with zones.
fn company(workload: &Workload, faults: &mut Vec<Fault>) {
    let is_joined = workload.files == Files::Shared && workload.luns != LunLayout::Concatenated;
    let is_drawn = workload.pattern.is_random() || workload.pattern == Pattern::Sequential;
    let mixes = workload.mix.has_writes() && workload.mix.reads != Share::NONE;
    let all = [
        (is_joined, "luns", "zones lie within one target"),
        (!is_drawn, "pattern", "zones are written by `sequential` and by random patterns"),
        (
            mixes && workload.pattern == Pattern::Sequential,
            "pattern",
            "a stream of reads and writes would read nothing, since it is at the write pointer",
        ),
        (
            workload.continues(),
            "random",
            "a request that continues from the last one does so in its zone anyway",
        ),
        (workload.discards(), "trims", "zones are reset by writes; `zone_resets` says how often"),
        (workload.rewrites != Share::NONE, "rewrites", "a zone is written in order"),
        (
            workload.sequence.reread,
            "reread",
            "write pointers are elsewhere by then; `read_back` checks what was written",
        ),
    ];
    for (_, key, why) in all.into_iter().filter(|(is_so, ..)| *is_so) {
        faults.push(fault(key, why.into(), "leave it out, or leave `zone_size` out"));
    }
}
