//! A trace on a target: every request checked, and put where it goes.

use std::sync::Arc;

use units::convert::narrow;
use units::{Bytes, SECTOR_BYTES};

use super::{Places, Replay, Room, Trace, TraceRequest};
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
    let rooms = lengths.iter().map(|length| room(workload, *length)).collect();
    let placed = placed(workload, replay, trace, rooms)?;
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
fn room(workload: &Workload, length: Bytes) -> Room {
    let start = extent(workload.offset, length).min(length);
    let rest = length - start;
    let len = match workload.span {
        Span::Auto => rest,
        Span::Of(span) => extent(span, length).min(rest),
    };
    Room { start, len }
}

fn unfit(workload: &Workload, replay: &Replay, what: String) -> CompileError {
    CompileError::Trace { workload: workload.name.clone(), file: replay.file.clone(), what }
}

/// The trace at its place on the targets, each request of which is found to have one; the same trace where nothing moves.
fn placed(
    workload: &Workload,
    replay: &Replay,
    trace: &Arc<Trace>,
    rooms: Vec<Room>,
) -> Result<Arc<Trace>, CompileError> {
    let wrong = |request: &TraceRequest, what: String| {
        unfit(workload, replay, format!("line {}: {what}", request.line))
    };
    if trace.files().len() > rooms.len() && !replay.fold {
        let targets = rooms.len();
        let first = trace.requests().find(|request| usize::from(request.file) >= targets);
        if let Some(request) = first {
            return Err(wrong(&request, homeless(trace.files(), request.file, targets)));
        }
    }
    let unit = if workload.direct { SECTOR_BYTES } else { 1 };
    let places = Places::new(rooms, Bytes::new(unit), replay.fold);
    for request in trace.requests() {
        let Some(placed) = places.place(request) else {
            return Err(wrong(&request, beyond(&request, places.room_of(request.file))));
        };
        let (offset, len) = (placed.offset.get(), request.len);
        if !offset.is_multiple_of(unit) || !u64::from(len).is_multiple_of(unit) {
            return Err(wrong(&request, unaligned(offset, len)));
        }
    }
    Ok(if places.moves() { Arc::new(trace.placed(places)) } else { trace.clone() })
}

/// That file number `file` has no target of its own among `targets`.
fn homeless(files: &[String], file: u16, targets: usize) -> String {
    let (name, count) = (&files[usize::from(file)], files.len());
    let plural = if targets == 1 { "" } else { "s" };
    format!(
        "`{name}` is one of {count} files, and there {} {targets} target{plural}; name as many with --on, in the order in \
         which the trace names them ({}), or write `trace_fold = true`",
        if targets == 1 { "is" } else { "are" },
        names(files),
    )
}

fn unaligned(offset: u64, len: u32) -> String {
    let or = if u64::from(len).is_multiple_of(SECTOR_BYTES) { ", or `align = \"512B\"`" } else { "" };
    format!(
        "{len} bytes at {offset} are no multiple of 512 B, which direct I/O needs; write `direct = false`{or}"
    )
}

fn beyond(request: &TraceRequest, room: Room) -> String {
    let (offset, len) = (request.offset.get(), u64::from(request.len));
    let room = room.len;
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
