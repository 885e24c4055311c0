//! A trace on a target: every request checked, and put where it goes.

use std::sync::Arc;

use units::convert::narrow;
use units::{Bytes, SECTOR_BYTES};

use super::{Entry, Replay, Trace, TraceRequest};
use crate::address::{Region, RegionShare};
use crate::compile::{CompileError, extent, job_spec_of};
use crate::job::{FileMap, JobSpec};
use crate::spec::{Pace, Pattern, Span, Workload};

/// One specification for each worker of a workload that asks a trace again, on targets of these `lengths`.
pub(crate) fn specs(
    workload: &Workload,
    replay: &Replay,
    lengths: &[Bytes],
) -> Result<Vec<JobSpec>, CompileError> {
    let trace = replay.requests.as_ref().ok_or_else(|| unfit(workload, replay, "was not read".into()))?;
    if trace.is_empty() {
        return Err(unfit(
            workload,
            replay,
            "`trace_skip` leaves nothing of it; leave another operation in".into(),
        ));
    }
    if workload.pace == Pace::Trace && trace.len() > 1 && trace.duration().is_zero() {
        let what = "line 1: the trace says nothing of time; write `pace = \"closed\"` or a rate";
        return Err(unfit(workload, replay, what.into()));
    }
    let rooms: Vec<Room> = lengths.iter().map(|length| Room::of(workload, *length)).collect();
    let placed = placed(workload, replay, trace, &rooms)?;
    let files = if lengths.len() > 1 {
        FileMap::Turns { first: 0, count: narrow::<u16>(lengths.len()) }
    } else {
        FileMap::One
    };
    // Flushes alone reach nowhere.
    let region = Region { start: Bytes::ZERO, len: placed.extent().max(Bytes::KIB * 4) };
    let requests = placed.len() as u64;
    let all = workload.stop.ops.unwrap_or(requests).min(requests);
    let replay = Replay { requests: Some(placed), ..replay.clone() };
    let spec = |index: u32| {
        let part = RegionShare { index, of: workload.workers };
        let ops = Some(part.share_of(all));
        let pattern = Pattern::Trace(replay.clone());
        JobSpec { pattern, ops, ..job_spec_of(workload, part, region, (files.clone(), part)) }
    };
    debug_assert_eq!(
        (0..workload.workers)
            .map(|index| RegionShare { index, of: workload.workers }.share_of(all))
            .sum::<u64>(),
        all,
        "each request of the trace is one worker's"
    );
    Ok((0..workload.workers).map(spec).collect())
}

/// The part of a file that is used.
#[derive(Clone, Copy)]
struct Room {
    start: u64,
    len: u64,
}

impl Room {
    fn of(workload: &Workload, length: Bytes) -> Room {
        let start = extent(workload.offset, length).min(length);
        let rest = length - start;
        let len = match workload.span {
            Span::Auto => rest,
            Span::Of(span) => extent(span, length).min(rest),
        };
        Room { start: start.get(), len: len.get() }
    }
}

fn unfit(workload: &Workload, replay: &Replay, what: String) -> CompileError {
    CompileError::Trace { workload: workload.name.clone(), file: replay.file.clone(), what }
}

/// The requests at their places on the target; the same trace where nothing moves.
fn placed(
    workload: &Workload,
    replay: &Replay,
    trace: &Arc<Trace>,
    rooms: &[Room],
) -> Result<Arc<Trace>, CompileError> {
    let unit = if workload.direct { SECTOR_BYTES } else { 1 };
    let wrong = |request: &TraceRequest, what: String| {
        unfit(workload, replay, format!("line {}: {what}", request.line))
    };
    if trace.files().len() > rooms.len() && !replay.fold {
        let (files, targets) = (trace.files().len(), rooms.len());
        let first = trace.requests().find(|request| usize::from(request.file) >= targets);
        if let Some(request) = first {
            let name = &trace.files()[usize::from(request.file)];
            let what = format!(
                "`{name}` is one of {files} files, and there {} {targets} target{}; name as many with --on, in the \
                 order in which the trace names them ({}), or write `trace_fold = true`",
                if targets == 1 { "is" } else { "are" },
                if targets == 1 { "" } else { "s" },
                names(trace.files()),
            );
            return Err(wrong(&request, what));
        }
    }
    let moves = replay.fold || rooms.iter().any(|room| room.start > 0);
    let mut entries: Vec<Entry> = Vec::with_capacity(if moves { trace.len() } else { 0 });
    for request in trace.requests() {
        let file = usize::from(request.file) % rooms.len();
        let Some(offset) = fit(&request, rooms[file], unit, replay.fold) else {
            return Err(wrong(&request, beyond(&request, rooms[file])));
        };
        if !offset.is_multiple_of(unit) || !u64::from(request.len).is_multiple_of(unit) {
            let what = format!(
                "{} bytes at {offset} are no multiple of 512 B, which direct I/O needs; write `direct = false`{}",
                request.len,
                if u64::from(request.len).is_multiple_of(unit) { ", or `align = \"512B\"`" } else { "" },
            );
            return Err(wrong(&request, what));
        }
        if moves {
            let (file, offset) = (narrow::<u16>(file), Bytes::new(offset));
            entries.push(Entry::of(TraceRequest { file, offset, ..request }));
            debug_assert!(
                u64::from(request.len) + offset.get()
                    <= rooms[usize::from(file)].start + rooms[usize::from(file)].len,
                "a request is placed within the used part of its target"
            );
        }
    }
    Ok(if moves {
        Arc::new(Trace::packed(entries, trace.files().to_vec()).with_thinks(trace.thinks()))
    } else {
        trace.clone()
    })
}

/// Where a request goes in the used part of its file; `None` where there is no room for it.
fn fit(request: &TraceRequest, room: Room, unit: u64, fold: bool) -> Option<u64> {
    let (offset, len) = (request.offset.get(), u64::from(request.len));
    if len > room.len {
        return None;
    }
    if offset + len <= room.len {
        return Some(room.start + offset);
    }
    // The last place where the request fits comes before the first one again.
    let places = (room.len - len) / unit + 1;
    fold.then(|| room.start + offset / unit % places * unit + offset % unit)
}

fn beyond(request: &TraceRequest, room: Room) -> String {
    let (offset, len) = (request.offset.get(), u64::from(request.len));
    let room = Bytes::new(room.len);
    if len > room.get() {
        return format!(
            "a request of {len} bytes, and the used part of the target has {room}; take a larger one"
        );
    }
    format!(
        "{len} bytes at {offset} lie beyond the used part of the target, {} ({room}); take a larger target, or write \
         `trace_fold = true` to let such requests come round again, or `trace_scale` to divide all offsets",
        room.get()
    )
}

fn names(files: &[String]) -> String {
    let mut shown = files.iter().take(8).map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    if files.len() > 8 {
        shown += ", …";
    }
    shown
}
