//! A case's loads as jobs, and the state that they find.

use units::convert::truncated;
use units::{Bytes, Share};
use workload::spec::{EngineSpec, Extent, OpMix, OpenSync, Pattern, SizeSplit, Span, Stop, Workload};
use workload::{Job, JobSpec, compile};

use super::MeasureError;
use crate::sim::{Client, FilePlace, Sim};
use crate::spec::ArraySpec;
use crate::spec::case::{self, Load, Subject};
use crate::streams::Stream;

/// The part of each LUN that a load uses, first byte and end.
fn used<'l>(sizes: &'l [Bytes], load: &'l Load) -> impl Iterator<Item = (u32, u64, u64)> + 'l {
    (0..load.luns).zip(sizes).map(|(lun, &size)| {
        let used = match (load.span, load.span_share) {
            (Some(span), _) => span.get(),
            (None, share) => truncated::<u64>(share.unwrap_or(Share::ALL).get() * size.as_f64()),
        };
        let from = load.offset.get().min(size.get());
        (lun, from, from.saturating_add(used).min(size.get()))
    })
}

/// Has the memory of the array, and the page cache of a load that goes through it, hold what the load finds there.
pub(super) fn hold(sim: &mut Sim, load: &Load, hosts: u32) {
    let sizes = sim.lun_sizes();
    for (lun, from, end) in used(&sizes, load) {
        let held = truncated::<u64>(load.held.get() * (end - from) as f64);
        let part = Bytes::new(end - held)..Bytes::new(end);
        if held == 0 {
            continue;
        }
        if !load.direct {
            sim.hold_pages(lun % hosts.max(1), lun, part.clone());
        }
        sim.hold(lun, part.start, part.end);
    }
}

/// Has the caches of the array be as full as a load's writes make them: each has taken random writes of its size, on all
/// its LUNs in turn, until it takes no more.
pub(super) fn fill(sim: &mut Sim, load: &Load, seed: u64) {
    let sizes = sim.lun_sizes();
    let mut draws = Stream::open(seed, "filling");
    let size = load.size.get().max(1);
    let mut open: Vec<(u32, u64, u64)> =
        used(&sizes, load).map(|(lun, from, end)| (lun, from, (end - from) / size)).collect();
    // A part that is smaller than the cache's room never fills it: as many writes as it has places are enough.
    let most = open.iter().map(|(_, _, slots)| *slots).max().unwrap_or(0);
    for _ in 0..most {
        open.retain(|&(lun, from, slots)| {
            let at = from + draws.below(slots) * size;
            slots > 0 && sim.fill_with(lun, Bytes::new(at), Bytes::new(at + size))
        });
        if open.is_empty() {
            return;
        }
    }
}

/// A job for each worker of each load.
pub(super) fn clients(
    sim: &Sim,
    spec: &ArraySpec,
    subject: &Subject,
    loads: &[Load],
    seed: u64,
) -> Result<Vec<Client>, MeasureError> {
    let sizes = sim.lun_sizes();
    let mut clients = Vec::new();
    for (load, number) in loads.iter().zip(0u64..) {
        if load.luns as usize > sizes.len() {
            return Err(MeasureError::Luns {
                load: load.name.clone(),
                array: subject.array.clone(),
                wanted: load.luns,
                there_are: sizes.len(),
            });
        }
        for lun in 0..load.luns {
            let workload = workload(load, seed ^ number.wrapping_mul(0x9e37_79b9) ^ u64::from(lun) << 32);
            for job in compile(&workload, &sizes[lun as usize..=lun as usize])? {
                let (host, buffered) = (lun % spec.topology.hosts, !workload.direct);
                // What a load is called is no part of its question, and must not decide what it draws.
                let job = JobSpec { name: String::new(), ..job };
                clients.push(Client {
                    job: Job::new(job),
                    files: vec![FilePlace::whole(lun)],
                    host,
                    buffered,
                    durable: workload.durability.open != OpenSync::None,
                });
            }
        }
    }
    Ok(clients)
}

/// The load as a workload on one LUN.
fn workload(load: &Load, seed: u64) -> Workload {
    let span = match (load.span, load.span_share) {
        (Some(span), _) => Span::Of(Extent::Bytes(span)),
        (None, Some(share)) => Span::Of(Extent::Part(share)),
        (None, None) => Span::Auto,
    };
    let plain = Workload::plain(&load.name);
    Workload {
        pattern: match load.pattern {
            case::Pattern::Sequential => Pattern::Sequential,
            // The tools of the write-ups draw afresh each time.
            case::Pattern::Random => Pattern::RandomWithRepeats,
        },
        sizes: SizeSplit::one(load.size),
        mix: OpMix { reads: load.reads, ..plain.mix },
        offset: Extent::Bytes(load.offset),
        align: load.align,
        span,
        workers: load.workers,
        depth: load.depth,
        stop: Stop { warmup: load.warmup, run: Some(load.run), ..Stop::default() },
        seed,
        direct: load.direct,
        durability: load.durability,
        engine: EngineSpec { submit_batch: 64, ..plain.engine },
        ..plain
    }
}
