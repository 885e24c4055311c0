//! From what workers saw to what is stored.

use std::collections::{BTreeMap, BTreeSet};

use record::{
    Class, Edges, Engine, EngineUsed, ErrorSample, OpTotal, Point, WorkerResult, WorkloadResult, summarise,
};
use stats::Histogram;
use units::{Bytes, Instant, Nanos, OpsPerSecond};
use workload::plan::Load;
use workload::spec::Workload;
use workload::tally::{self, Action, ClassTally, Failure, Tally};
use workload::{DeviceStatus, Verified};

use crate::event::Live;
use crate::history::History;
use crate::seconds::Seconds;
use crate::silence::stalls;
use crate::world::{FileNames, MeasuredLoad, MeasuredState, MeasuredWorker, MeasuredWorkload, World};

/// The stored shape of a load that `world` has just answered.
pub fn load_point(frame: Point, load: &Load, answer: MeasuredLoad, world: &dyn World) -> Point {
    assert!(
        answer.workloads.len() <= load.workloads.len(),
        "a world answers for workloads of the load alone"
    );
    let measured = point(frame, load, answer, !world.is_stopped(), world.has_percentiles());
    measured.later(world.since().get())
}

fn point(frame: Point, load: &Load, answer: MeasuredLoad, complete: bool, has_percentiles: bool) -> Point {
    debug_assert!(answer.started <= answer.ended, "a load ends after it began");
    let mut series = Vec::new();
    let mut workloads = Vec::new();
    for (workload, seen) in load.workloads.iter().zip(answer.workloads) {
        let (result, curves) = workload_result(workload, seen);
        series.extend(curves);
        workloads.push(result);
    }
    if !has_percentiles {
        workloads.iter_mut().for_each(without_percentiles);
    }
    series.extend(answer.series);
    Point {
        started_ns: answer.started.nanos(),
        ended_ns: answer.ended.nanos(),
        complete,
        workloads,
        series,
        cpu: answer.cpu,
        devices: answer.devices,
        breakdown: answer.breakdown,
        ranks: answer.ranks,
        ..frame
    }
}

/// Leaves counts, rates and means.
fn without_percentiles(workload: &mut WorkloadResult) {
    for latency in workload.summary.iter_mut().filter_map(|summary| summary.response.as_mut()) {
        latency.quantiles.clear();
    }
    workload.responses_over_time = None;
}

/// The stored shape of a state, whose clock began `since` then.
pub fn state_point(frame: Point, answer: MeasuredState, since: Nanos) -> Point {
    let measured = Point {
        started_ns: answer.started.nanos(),
        ended_ns: answer.ended.nanos(),
        complete: answer.complete,
        series: answer.series,
        breakdown: answer.breakdown,
        ..frame
    };
    measured.later(since.get())
}

fn workload_result(workload: &Workload, seen: MeasuredWorkload) -> (WorkloadResult, Vec<record::Series>) {
    let MeasuredWorkload { engine, files, span, device_zones, workers, mut history } = seen;
    let mut tallies = Vec::with_capacity(workers.len());
    let mut results = Vec::with_capacity(workers.len());
    let mut checks = Vec::new();
    for (index, MeasuredWorker { mut tally, cpu, ceiling, verified, rank }) in (0..).zip(workers) {
        history.take(std::mem::take(&mut tally.intervals));
        let bytes = tally.classes.iter().map(|class| class.bytes).sum::<Bytes>().get();
        let ceiling_per_s = ceiling.map(OpsPerSecond::get);
        let measured_ns = Some(tally.measured().get());
        results.push(WorkerResult { index, ops: tally.ops(), bytes, measured_ns, cpu, ceiling_per_s });
        tallies.push(tally);
        checks.push((rank, verified));
    }
    let Overall { merged, begun, window: (from, until) } = overall(&tallies, &history);
    let seconds = Seconds::of(history, begun, (from, until));
    let measured = until.saturating_since(from);
    let in_flight_ns: u128 = tallies.iter().map(|tally| tally.in_flight_ns).sum();
    let sum = |of: fn(&Tally) -> u64| tallies.iter().map(of).sum::<u64>();
    let late = Histogram::merged(tallies.iter().filter_map(|tally| tally.late.clone()));
    let stalls = stalls(
        tallies.iter().map(|tally| tally.gaps.as_slice()),
        (from, until),
        merged.iter().map(|class| class.ops).sum(),
    );
    let names = &files;
    let mut result = WorkloadResult {
        name: workload.name.clone(),
        spec: workload.kept(),
        engine,
        summary: Vec::new(),
        classes: merged.iter().map(class).collect(),
        measured_from_ns: from.nanos(),
        measured_ns: measured.get(),
        totals: totals(&merged),
        span_bytes: Some(span.get()),
        planned: sum(|tally| tally.planned),
        completed: sum(|tally| tally.completed),
        dropped: sum(|tally| tally.dropped),
        not_issued: sum(|tally| tally.not_issued),
        late: late.as_ref().map(record::Histogram::from),
        mean_in_flight: if measured.is_zero() { 0.0 } else { in_flight_ns as f64 / measured.get() as f64 },
        together: together(&tallies),
        edges: Some(edges(&tallies)),
        responses_over_time: None,
        stalls,
        digests: tallies.iter().map(|tally| format!("{:016x}", tally.digest)).collect(),
        errors: sum(|tally| tally.errors),
        error_samples: tallies
            .iter()
            .zip(&checks)
            .flat_map(|(tally, (rank, check))| {
                let samples = tally.error_samples.iter();
                samples.map(move |one| ErrorSample {
                    rank: *rank,
                    ..sample(one, check.as_ref(), names.of(one.file))
                })
            })
            .collect(),
        verified: verified(checks.iter().filter_map(|(_, check)| check.as_ref())),
        gave_up: tallies.iter().any(|tally| tally.gave_up),
        zone_resets: sum(|tally| tally.zone_resets),
        device_zones,
        workers: results,
    };
    let kinds: Vec<tally::Class> = merged.iter().map(|class| class.class).collect();
    let equal = seconds.equal(&kinds);
    debug_assert!(equal.rows.iter().all(|row| row.len() == kinds.len()), "each stretch has every class");
    result.summary = summarise(&result, equal.each_s, &equal.rows);
    result.responses_over_time = equal.responses();
    let series = seconds.series(&workload.name);
    (result, series)
}

/// What all workers did, and when.
struct Overall {
    merged: Vec<ClassTally>,
    begun: Instant,
    window: (Instant, Instant),
}

/// Of their tallies; while they still run, of what was heard of them.
fn overall(tallies: &[Tally], history: &History) -> Overall {
    if let ([], Some((begun, window))) = (tallies, history.extent()) {
        return Overall { merged: history.classes(), begun, window };
    }
    let window = window(tallies);
    let begun = tallies.iter().map(|tally| tally.begun).min().unwrap_or(window.0);
    Overall { merged: merge_classes(tallies), begun, window }
}

/// The stored shape of a load as far as it has come: rates, response times and what they were over time. What only the
/// workers know is not in it: the processor's time, service times, requests in flight.
pub fn growing_point(frame: Point, load: &Load, live: &Live<'_>, has_percentiles: bool) -> Point {
    let answers = live.heard.iter().map(|history| MeasuredWorkload {
        history: history.clone(),
        ..MeasuredWorkload::before(
            EngineUsed::new(Engine::Unreported, "batch"),
            FileNames::Listed(Vec::new()),
            Bytes::ZERO,
        )
    });
    let answer = MeasuredLoad {
        started: live.started,
        ended: live.now,
        workloads: answers.collect(),
        series: Vec::new(),
        cpu: None,
        devices: Vec::new(),
        breakdown: None,
        ranks: Vec::new(),
    };
    point(frame, load, answer, false, has_percentiles)
}

/// The earliest start and the latest end of the workers' windows: the same for all, unless one ended early. Where all
/// ended within their warm-up it is the end of the last of them.
fn window(tallies: &[Tally]) -> (Instant, Instant) {
    let until = tallies.iter().map(|tally| tally.measured_until).max().unwrap_or_default();
    let from = measuring(tallies).map(|tally| tally.measured_from).min().unwrap_or(until);
    debug_assert!(from <= until, "a window ends after it began");
    (from, until)
}

/// Those that did not end within their warm-up.
fn measuring(tallies: &[Tally]) -> impl Iterator<Item = &Tally> {
    tallies.iter().filter(|tally| tally.measured_from < tally.measured_until)
}

/// How many were in flight, went out and came back together, of all workers, or of those that did not end within their
/// warm-up where there are any; `None` while they still run.
fn together(tallies: &[Tally]) -> Option<record::Together> {
    let all = measuring(tallies).next().is_none();
    let counted = tallies.iter().filter(|tally| all || tally.measured_from < tally.measured_until);
    let seen = counted.map(|tally| {
        let tally::Together { in_flight, submitted, completed } = tally.together;
        record::Together { in_flight, submitted, completed }
    });
    seen.reduce(|mut sum, one| {
        sum.add(&one);
        sum
    })
}

/// What the edges of the windows cut, all workers together.
fn edges(tallies: &[Tally]) -> Edges {
    let sum = |of: fn(&tally::Edges) -> u128| -> u64 {
        u64::try_from(tallies.iter().map(|tally| of(&tally.edges)).sum::<u128>()).unwrap_or(u64::MAX)
    };
    Edges {
        before_ns: sum(|edges| edges.before_ns),
        after_ns: sum(|edges| edges.after_ns),
        ended_after: tallies.iter().map(|tally| tally.edges.ended_after).sum(),
        failed_ns: sum(|edges| edges.failed_ns),
        lag_ns: sum(|edges| edges.lag_ns),
    }
}

/// All workers' classes added up, in the order of operation and size.
fn merge_classes(tallies: &[Tally]) -> Vec<ClassTally> {
    let mut merged: BTreeMap<tally::Class, ClassTally> = BTreeMap::new();
    for class in tallies.iter().flat_map(|tally| &tally.classes) {
        match merged.get_mut(&class.class) {
            None => {
                merged.insert(class.class, class.clone());
            }
            Some(sum) => {
                sum.ops += class.ops;
                sum.bytes += class.bytes;
                sum.ended += class.ended;
                sum.ended_bytes += class.ended_bytes;
                sum.response.merge(&class.response);
                merge_optional(sum.service.as_mut(), class.service.as_ref());
                merge_optional(sum.lag.as_mut(), class.lag.as_ref());
                sum.after.merge(&class.after);
            }
        }
    }
    let merged: Vec<ClassTally> = merged.into_values().collect();
    let counted = |class: &ClassTally| class.ops + class.response.count() + class.ended_bytes.get();
    let before: u64 = tallies.iter().flat_map(|tally| &tally.classes).map(counted).sum();
    assert_eq!(merged.iter().map(counted).sum::<u64>(), before, "merging loses no request and no byte");
    merged
}

fn merge_optional(sum: Option<&mut Histogram>, one: Option<&Histogram>) {
    if let (Some(sum), Some(one)) = (sum, one) {
        sum.merge(one);
    }
}

fn class(tally: &ClassTally) -> Class {
    Class {
        op: tally.class.op.into(),
        size_bytes: tally.class.size.get(),
        ops: tally.ops,
        bytes: tally.bytes.get(),
        response: (&tally.response).into(),
        service: tally.service.as_ref().map(Into::into),
        lag: tally.lag.as_ref().map(Into::into),
        after: (!tally.after.is_empty()).then(|| (&tally.after).into()),
    }
}

fn totals(classes: &[ClassTally]) -> Vec<OpTotal> {
    let of = |action: Action| {
        let same = || classes.iter().filter(move |class| class.class.op == action);
        let ops: u64 = same().map(|class| class.ended).sum();
        let bytes: u64 = same().map(|class| class.ended_bytes.get()).sum();
        (ops > 0).then(|| OpTotal { op: action.into(), ops, bytes })
    };
    let actions: BTreeSet<Action> = classes.iter().map(|class| class.class.op).collect();
    actions.into_iter().filter_map(of).collect()
}

/// What all workers checked; `None` where none had anything to check.
fn verified<'a>(checks: impl Iterator<Item = &'a Verified>) -> Option<record::Verified> {
    checks.fold(None, |sum: Option<record::Verified>, one| {
        let sum = sum.unwrap_or_default();
        Some(record::Verified {
            checked_bytes: sum.checked_bytes + one.checked.get(),
            unknown_bytes: sum.unknown_bytes + one.unknown.get(),
            corrupt: sum.corrupt + one.corrupt,
        })
    })
}

/// The stored shape of a failed request; where its data was wrong, of its first block that was.
fn sample(one: &tally::ErrorSample, check: Option<&Verified>, file: String) -> ErrorSample {
    let wrong = check.filter(|_| one.failure == Failure::Corrupt);
    let wrong = wrong.and_then(|check| check.first_wrong(one.file, one.offset, one.len));
    let failure = match one.failure {
        Failure::Short { moved } => format!("short: {moved} of {} bytes", one.len),
        Failure::Corrupt => "data-corrupt".into(),
        Failure::Errno(errno) => DeviceStatus::of(errno).map_or_else(
            || std::io::Error::from_raw_os_error(errno.0).to_string(),
            |answer| answer.to_string(),
        ),
    };
    ErrorSample {
        at_ns: one.at.nanos(),
        op: one.op.into(),
        file,
        offset_bytes: wrong.map_or(one.offset, |wrong| wrong.offset).get(),
        len_bytes: wrong.map_or(u64::from(one.len), |wrong| wrong.len.get()),
        failure,
        expected: wrong.map(|wrong| wrong.expected.clone()),
        found: wrong.map(|wrong| wrong.found.clone()),
        rank: None,
    }
}

/// How much of the target the workers of a workload use together.
pub fn span_of(jobs: &[workload::JobSpec]) -> Bytes {
    use workload::FileMap;
    let own_files = |job: &workload::JobSpec| matches!(job.files, FileMap::Turns { .. });
    let Some(first) = jobs.first() else { return Bytes::ZERO };
    if !own_files(first) {
        return first.region.len;
    }
    let mut files: BTreeMap<u16, Bytes> = BTreeMap::new();
    for job in jobs {
        if let FileMap::Turns { first, count } = job.files {
            files.extend((first..first + count).map(|file| (file, job.region.len)));
        }
    }
    files.into_values().sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of a worker that measured for so long, in seconds, and had one request in flight.
    fn tally(from_s: u64, until_s: u64) -> Tally {
        let asked = workload::plan::from_texts("test", [("ops", "1")]).expect("a plan");
        let spec = workload::compile(&asked, &[Bytes::MIB]).expect("a worker").remove(0);
        let mut tally = <workload::Job>::new(spec).into_tally();
        let at = |second: u64| Instant::from_nanos(second * 1_000_000_000);
        (tally.measured_from, tally.measured_until) = (at(from_s), at(until_s));
        tally.together.in_flight[0] = 1;
        tally
    }

    #[test]
    fn workers_that_end_within_their_warm_up_neither_begin_the_window_nor_are_counted_in_it() {
        let seen = |tallies: &[Tally]| {
            let (from, until) = window(tallies);
            let counted = together(tallies).expect("they have ended").in_flight[0];
            (from.nanos() / 1_000_000_000, until.nanos() / 1_000_000_000, counted)
        };
        assert_eq!(seen(&[tally(1, 1), tally(5, 9)]), (5, 9, 1));
        assert_eq!(seen(&[tally(1, 1), tally(2, 2)]), (2, 2, 2), "both did");
    }
}
