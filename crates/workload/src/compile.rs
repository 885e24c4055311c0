//! From what is asked of a target to what each worker does: the one step that can say no to a user.

use units::convert::{narrow, truncated};
use units::{Bytes, Nanos, Share};

use crate::address::{Region, RegionShare};
use crate::job::{FileMap, JobSpec};
use crate::lines::JobLine;
use crate::spec::{Extent, Files, Line, LunLayout, Pattern, Span, Verify, Workload};
use crate::trace;
use crate::zones::{MOST_ZONES, ZoneRules};

/// Why a workload does not fit a target.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CompileError {
    /// The offset lies past the end.
    #[error("workload `{workload}`: offset {offset} leaves nothing of a target of {target}; lower `offset`")]
    OffsetPastEnd {
        /// The workload's name.
        workload: String,
        /// The offset asked for.
        offset: Bytes,
        /// The target's size.
        target: Bytes,
    },
    /// The span reaches past the end.
    #[error(
        "workload `{workload}`: span {span} from offset {offset} reaches past a target of {target}; \
         lower `span` or leave it `auto`"
    )]
    SpanPastEnd {
        /// The workload's name.
        workload: String,
        /// The span asked for.
        span: Bytes,
        /// The offset asked for.
        offset: Bytes,
        /// The target's size.
        target: Bytes,
    },
    /// Not every worker has room for one request.
    #[error(
        "workload `{workload}`: {workers} {}, requests of {largest}: the span must be at least {need}, not {span}; use \
         fewer workers, smaller requests or a larger target",
        if *.workers == 1 { "worker" } else { "workers" }
    )]
    TooSmall {
        /// The workload's name.
        workload: String,
        /// Workers that share the span.
        workers: u32,
        /// The largest request.
        largest: Bytes,
        /// The smallest span that would do.
        need: Bytes,
        /// The span there is.
        span: Bytes,
    },
    /// The zones of a pattern are larger than what is used of the target.
    #[error(
        "workload `{workload}`: zones of {zones} leave nothing of a span of {span} for the rest of the requests; \
         let the zones be smaller or the span larger"
    )]
    ZonesPastEnd {
        /// The workload's name.
        workload: String,
        /// All zones together.
        zones: Bytes,
        /// The span there is.
        span: Bytes,
    },
    /// Its target has no zones of its own.
    #[error(
        "workload `{workload}`: only a zoned device has zones of its own; write how large they are to be, such as \
         `zone_size = \"256MiB\"`"
    )]
    NoZones {
        /// Its name.
        workload: String,
    },
    /// The span holds no whole zone for each worker, or too many.
    #[error("workload `{workload}`: {count} zones of {size} lie within {span} at `offset`; {help}")]
    ZonesUnfit {
        /// The workload's name.
        workload: String,
        /// How many.
        count: u64,
        /// Of one zone.
        size: Bytes,
        /// The span there is.
        span: Bytes,
        /// What would be right.
        help: &'static str,
    },
    /// A request could cross from one LUN to the next.
    #[error("workload `{workload}`: {why}, so a request could cross from one LUN to the next; {remedy}")]
    CrossesLuns {
        /// The workload's name.
        workload: String,
        /// What allows it.
        why: String,
        /// What would not.
        remedy: &'static str,
    },
    /// More files than a request can name.
    #[error("workload `{workload}`: {files} files are more than 65,535; use fewer workers or files")]
    TooManyFiles {
        /// The workload's name.
        workload: String,
        /// Files asked for.
        files: u64,
    },
    /// A trace asks for what is not there.
    #[error("workload `{workload}`: trace {file}, {what}")]
    Trace {
        /// The workload's name.
        workload: String,
        /// The trace's file.
        file: String,
        /// The line, what is wrong with it there, and what to do.
        what: String,
    },
    /// Nothing to do.
    #[error("workload `{workload}`: {what} must be at least 1")]
    Zero {
        /// The workload's name.
        workload: String,
        /// Workers, depth or files.
        what: &'static str,
    },
}

/// The size a workload needs of each file, where its span is given in bytes.
pub fn file_size_needed(workload: &Workload) -> Option<Bytes> {
    let Span::Of(Extent::Bytes(span)) = workload.span else { return None };
    match workload.offset {
        Extent::Bytes(offset) => Some((offset + span).round_up(Bytes::KIB * 4)),
        Extent::Part(_) => None,
    }
}

/// How many files `workload` uses on a directory target.
pub fn files_needed(workload: &Workload) -> u64 {
    let workers = u64::from(workload.workers);
    match workload.files {
        Files::Shared => 1,
        Files::WorkersPerFile(workers_per_file) => workers.div_ceil(u64::from(workers_per_file.max(1))),
        Files::PerWorker(files) => workers * u64::from(files),
    }
}

/// One specification for each worker of `workload` on files or LUNs of these `lengths`.
///
/// With files of their own, workers find them in order of their numbers: as many as [`files_needed`] says.
/// Otherwise all `lengths` are joined by the workload's LUN layout.
pub fn compile(workload: &Workload, lengths: &[Bytes]) -> Result<Vec<JobSpec>, CompileError> {
    check_counts(workload, lengths)?;
    if let Some(replay) = workload.replay() {
        return trace::specs(workload, replay, lengths);
    }
    let joined = Joined::of(workload, lengths)?;
    let region = region(workload, &joined)?;
    check_room(workload, region, &joined)?;
    (0..workload.workers)
        .map(|index| {
            let region = whole_zones(workload, own_region(workload, index, region, &joined)?, &joined)?;
            assert!(region.start + region.len <= joined.length, "a worker stays within its files");
            Ok(job_spec(workload, index, region, &joined))
        })
        .collect()
}

/// The whole zones of a region; without zones all of it.
fn whole_zones(workload: &Workload, region: Region, joined: &Joined) -> Result<Region, CompileError> {
    let Some((size, _)) = workload.zones.layout() else {
        return match workload.zones.are_there() {
            true => Err(CompileError::NoZones { workload: workload.name.clone() }),
            false => Ok(region),
        };
    };
    let (start, end) = (region.start.round_up(size), (region.start + region.len).round_down(size));
    let len = end.saturating_sub(start);
    let count = len.get() / size.get();
    let sharers = match joined.layout {
        Layout::Map(_) if workload.worker_offset.is_none() => workload.workers,
        Layout::SharedInGroups(group) => group,
        _ => 1,
    };
    let least = if workload.pattern == Pattern::Sequential { u64::from(sharers) } else { 1 };
    let help = match count {
        _ if matches!(joined.layout, Layout::Map(FileMap::Concatenated(_) | FileMap::Striped { .. })) => {
            "they lie within one target: name one with `on`, or write `files = \"per_worker(1)\"`"
        }
        count if count < least => "let `span` hold a zone for each worker, or let zones be smaller",
        _ if end.get() / size.get() > MOST_ZONES => {
            "let zones be larger, so that there are a million at most"
        }
        _ => return Ok(Region { start, len }),
    };
    Err(CompileError::ZonesUnfit { workload: workload.name.clone(), count, size, span: region.len, help })
}

/// The address space that one worker sees.
struct Joined {
    length: Bytes,
    layout: Layout,
}

enum Layout {
    Map(FileMap),
    SharedInGroups(u32),
    Own(u16),
}

impl Joined {
    fn of(workload: &Workload, lengths: &[Bytes]) -> Result<Joined, CompileError> {
        let shortest = lengths.iter().copied().min().unwrap_or(Bytes::ZERO);
        Ok(match workload.files {
            Files::PerWorker(files) => Joined { length: shortest, layout: Layout::Own(narrow::<u16>(files)) },
            Files::WorkersPerFile(workers) => {
                Joined { length: shortest, layout: Layout::SharedInGroups(workers) }
            }
            Files::Shared if lengths.len() == 1 => {
                Joined { length: shortest, layout: Layout::Map(FileMap::One) }
            }
            Files::Shared => join_luns(workload, lengths)?,
        })
    }
}

fn join_luns(workload: &Workload, lengths: &[Bytes]) -> Result<Joined, CompileError> {
    let crosses =
        |why: String, remedy| Err(CompileError::CrossesLuns { workload: workload.name.clone(), why, remedy });
    let keeps_slots = !workload.pattern.has_stretches() && !workload.continues();
    if workload.sizes.0.len() > 1 && !keeps_slots {
        return crosses(
            "several sizes follow each other without gaps".into(),
            "use one size, or a random pattern without `random`",
        );
    }
    let largest = workload.sizes.largest();
    Ok(match workload.luns {
        LunLayout::Concatenated => {
            let lengths: Vec<Bytes> = lengths.iter().map(|length| length.round_down(largest)).collect();
            let length = lengths.iter().copied().sum();
            Joined { length, layout: Layout::Map(FileMap::Concatenated(lengths)) }
        }
        LunLayout::Striped(unit) => {
            if !unit.is_multiple_of(largest) {
                let why = format!("a stripe unit of {unit} is not a multiple of the request size {largest}");
                return crosses(why, "make the stripe unit a multiple of every size");
            }
            let count = narrow::<u16>(lengths.len());
            let shortest = lengths.iter().copied().min().unwrap_or(Bytes::ZERO).round_down(unit);
            Joined {
                length: shortest * u64::from(count),
                layout: Layout::Map(FileMap::Striped { unit, count }),
            }
        }
    })
}

fn check_counts(workload: &Workload, lengths: &[Bytes]) -> Result<(), CompileError> {
    let name = || workload.name.clone();
    let files = match workload.files {
        Files::PerWorker(files) | Files::WorkersPerFile(files) => files,
        Files::Shared => 1,
    };
    let counts = [
        (workload.workers, "workers"),
        (workload.depth, "depth"),
        (files, "files"),
        (workload.engine.submit_batch, "submit_batch"),
        (workload.engine.complete_batch, "complete_batch"),
        (u32::try_from(lengths.len()).unwrap_or(u32::MAX), "targets"),
    ];
    for (count, what) in counts {
        if count == 0 {
            return Err(CompileError::Zero { workload: name(), what });
        }
    }
    let files = files_needed(workload).max(lengths.len() as u64);
    if files > u64::from(u16::MAX) {
        return Err(CompileError::TooManyFiles { workload: name(), files });
    }
    Ok(())
}

/// What distances from the start of the address space are multiples of.
fn unit(workload: &Workload, joined: &Joined) -> Bytes {
    match (&joined.layout, workload.offset) {
        // Joined LUNs keep requests within one of them only while the region begins on a slot.
        (Layout::Map(FileMap::Concatenated(_) | FileMap::Striped { .. }), _) => slot(workload),
        // An alignment that nobody asked for is counted from the offset that somebody did.
        (_, Extent::Bytes(_)) if workload.align.is_none() && workload.coarsest() == workload.alignment() => {
            Bytes::B
        }
        _ => workload.coarsest(),
    }
}

/// The used part of the address space, or that of the first worker, cut to the alignment.
fn region(workload: &Workload, joined: &Joined) -> Result<Region, CompileError> {
    let name = || workload.name.clone();
    let length = joined.length;
    let start = extent(workload.offset, length).round_down(unit(workload, joined));
    let rest = length.saturating_sub(start);
    if rest.is_zero() {
        return Err(CompileError::OffsetPastEnd { workload: name(), offset: start, target: length });
    }
    let len = match workload.span {
        Span::Auto => rest,
        Span::Of(asked) => {
            let span = extent(asked, length);
            if span > rest {
                return Err(CompileError::SpanPastEnd {
                    workload: name(),
                    span,
                    offset: start,
                    target: length,
                });
            }
            span
        }
    };
    Ok(Region { start, len: len.round_down(workload.coarsest()) })
}

/// The region of one worker: that of all, or its own where each begins behind the one before.
fn own_region(
    workload: &Workload,
    index: u32,
    first: Region,
    joined: &Joined,
) -> Result<Region, CompileError> {
    let Some(step) = workload.worker_offset else { return Ok(first) };
    let behind = Bytes::new(step.get().saturating_mul(index.into())).round_down(unit(workload, joined));
    let (name, target) = (|| workload.name.clone(), joined.length);
    let start = Bytes::new(first.start.get().saturating_add(behind.get()));
    let rest = target.saturating_sub(start);
    match workload.span {
        Span::Of(_) if first.len > rest => {
            Err(CompileError::SpanPastEnd { workload: name(), span: first.len, offset: start, target })
        }
        Span::Of(_) => Ok(Region { start, len: first.len }),
        Span::Auto if rest < slot(workload) => {
            Err(CompileError::OffsetPastEnd { workload: name(), offset: start, target })
        }
        Span::Auto => Ok(Region { start, len: rest.round_down(workload.coarsest()) }),
    }
}

/// The largest request, with what its alignment adds.
fn slot(workload: &Workload) -> Bytes {
    workload.sizes.largest().round_up(workload.coarsest())
}

pub(crate) fn extent(extent: Extent, of: Bytes) -> Bytes {
    match extent {
        Extent::Bytes(bytes) => bytes,
        Extent::Part(share) => part_of(of, share),
    }
}

fn part_of(whole: Bytes, share: Share) -> Bytes {
    if share.get() >= 1.0 { whole } else { Bytes::new(truncated(whole.as_f64() * share.get())) }
}

fn check_room(workload: &Workload, region: Region, joined: &Joined) -> Result<(), CompileError> {
    let sharers = match joined.layout {
        _ if workload.worker_offset.is_some() => 1,
        Layout::Map(_) => workload.workers,
        Layout::SharedInGroups(group) => group.min(workload.workers),
        Layout::Own(_) => 1,
    };
    let largest = slot(workload);
    let stretched = workload.pattern.has_stretches() || workload.continues();
    let stretches = if stretched { u64::from(sharers) } else { 1 };
    let need = largest * stretches;
    if region.len < need {
        return Err(CompileError::TooSmall {
            workload: workload.name.clone(),
            workers: sharers,
            largest,
            need,
            span: region.len,
        });
    }
    check_zones(workload, region)
}

/// That zones of so many bytes lie within the region, and leave some of it where they leave some of the requests.
fn check_zones(workload: &Workload, region: Region) -> Result<(), CompileError> {
    let Pattern::Zones(zones) = &workload.pattern else { return Ok(()) };
    let requests: f64 = zones.iter().map(|zone| zone.requests.get()).sum();
    let rest = if requests < 1.0 - 1e-9 { slot(workload) } else { Bytes::ZERO };
    let bytes = zones.iter().map(|zone| extent(zone.span, region.len).get());
    let sum = Bytes::new(bytes.fold(0, u64::saturating_add));
    if sum <= region.len.saturating_sub(rest) {
        return Ok(());
    }
    Err(CompileError::ZonesPastEnd { workload: workload.name.clone(), zones: sum, span: region.len })
}

fn job_spec(workload: &Workload, index: u32, region: Region, joined: &Joined) -> JobSpec {
    let worker = RegionShare { index, of: workload.workers };
    let (files, part) = match &joined.layout {
        Layout::Map(map) if workload.worker_offset.is_some() => (map.clone(), RegionShare::WHOLE),
        Layout::Map(map) => (map.clone(), worker),
        Layout::Own(count) => {
            (FileMap::Turns { first: narrow::<u16>(index) * count, count: *count }, RegionShare::WHOLE)
        }
        Layout::SharedInGroups(group) => {
            let first = narrow::<u16>(index / group);
            let members = (*group).min(workload.workers - index / group * group);
            assert!(index % group < members, "a worker is one of those that share its file");
            (FileMap::Turns { first, count: 1 }, RegionShare { index: index % group, of: members })
        }
    };
    job_spec_of(workload, worker, region, (files, part))
}

/// The specification of `worker`, which is `part` of those that share its files.
pub(crate) fn job_spec_of(
    workload: &Workload,
    worker: RegionShare,
    region: Region,
    (files, part): (FileMap, RegionShare),
) -> JobSpec {
    let bytes = bytes(workload, worker, region, &files);
    JobSpec {
        name: workload.name.clone(),
        seed: workload.seed,
        worker,
        pattern: workload.pattern.clone(),
        sizes: workload.sizes.clone(),
        mix: workload.mix,
        lines: lines(workload),
        rewrites: workload.rewrites,
        align: workload.coarsest(),
        region,
        part,
        files,
        depth: workload.depth,
        submit_batch: workload.engine.submit_batch,
        complete_batch: workload.engine.complete_batch,
        pace: workload.pace,
        sequence: workload.sequence,
        zones: workload.zones.layout().map(|_| ZoneRules {
            zones: workload.zones,
            keeps: workload.verify != Verify::None && workload.writes(),
            streams: workload.pattern == Pattern::Sequential,
        }),
        start: workload.stop.start,
        warmup: workload.stop.warmup,
        warmup_bytes: workload.stop.warmup_bytes.map(|bytes| Bytes::new(worker.share_of(bytes.get()))),
        run: workload.stop.run.filter(|_| !workload.stop.wear_out),
        wall: workload.stop.run.filter(|_| workload.stop.wear_out),
        cooldown: workload.stop.cooldown,
        ops: workload.stop.ops.map(|ops| worker.share_of(ops)),
        ops_after_warmup: workload.stop.ops_after_warmup,
        bytes,
        flush_every: workload.durability.every,
        flush: workload.durability.flush,
        flush_at_end: workload.durability.at_end,
        exit_all: workload.stop.exit_all,
        with_others: workload.stop.with_others,
    }
}

/// What a worker does of `bytes`, and at most its passes over all of its files.
fn bytes(workload: &Workload, worker: RegionShare, region: Region, files: &FileMap) -> Option<Bytes> {
    let own = workload.stop.bytes.map(|bytes| Bytes::new(worker.share_of(bytes.get())));
    let count = match files {
        FileMap::Turns { count, .. } => u64::from(*count),
        _ => 1,
    };
    let whole =
        |passes: u32| Bytes::new(region.len.get().saturating_mul(count).saturating_mul(passes.into()));
    let passes = workload.stop.loops.map(whole);
    own.into_iter().chain(passes).min()
}

/// The kinds of requests, each with its own alignment; none where all requests are of one kind and none goes on
/// from the last.
fn lines(workload: &Workload) -> Vec<JobLine> {
    let only = || Line {
        weight: 1.0,
        sizes: workload.sizes.clone(),
        mix: workload.mix,
        random: None,
        align: None,
        burst: 1,
        delay: Nanos::ZERO,
    };
    let lines = match workload.lines[..] {
        [] if workload.random.is_none() && workload.sequence.consecutive == 1 => return Vec::new(),
        [] => vec![only()],
        _ => workload.lines.clone(),
    };
    let by_pattern = if workload.pattern.is_random() { Share::ALL } else { Share::NONE };
    let placed = |line: Line| JobLine {
        jumps: workload.continues().then(|| line.random.or(workload.random).unwrap_or(by_pattern)),
        consecutive: workload.sequence.consecutive,
        repeat_offset: workload.sequence.repeat_offset,
        align: line.align.unwrap_or_else(|| workload.alignment()),
        line,
    };
    lines.into_iter().map(placed).collect()
}
