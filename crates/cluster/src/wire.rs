//! What a load measured, as plain data that goes from rank to rank.
//!
//! Instants are those of the sender's clock, until [`Shift`] makes them the receiver's.

use conduct::{MeasuredWorker, Wrote, WroteRun};
use record::{CpuUse, DeviceCounters};
use serde::{Deserialize, Serialize};
use stats::{Bucket, Histogram};
use units::{Bytes, Instant, Nanos, OpsPerSecond};
use workload::tally::{
    Action, Class, ClassInterval, ClassTally, Edges, ErrorSample, Failure, Gap, Gaps, Interval, Tally,
    Together,
};
use workload::tree::FileOp;
use workload::{Errno, Op, Progress, Verified, Wrong};

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct WireLoad {
    pub(crate) started_ns: u64,
    pub(crate) ended_ns: u64,
    pub(crate) late_ns: u64,
    /// Whether it went on to its end.
    pub(crate) complete: bool,
    /// Whether the process that watches over the rank had gone when it ended.
    pub(crate) bereft: bool,
    pub(crate) cpu: Option<CpuUse>,
    /// What the kernel counted of its host's devices over the load.
    pub(crate) devices: Vec<DeviceCounters>,
    /// In the order of the load.
    pub(crate) workloads: Vec<WireWorkload>,
    /// What its workers wrote, where reads are verified.
    pub(crate) wrote: WireWrote,
}

/// File, first block, blocks, whether they carry stamps.
type WireRun = (u32, u64, u64, bool);

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct WireWrote {
    numbers: (u32, u32),
    runs: Vec<WireRun>,
    workers: Vec<(u32, u64)>,
}

pub(crate) fn wrote_out(wrote: &Wrote) -> WireWrote {
    let run = |run: &WroteRun| (run.file, run.first, run.blocks, run.is_stamped);
    let workers = wrote.workers.clone();
    WireWrote { numbers: wrote.numbers, runs: wrote.runs.iter().map(run).collect(), workers }
}

pub(crate) fn wrote_in(wire: WireWrote) -> Wrote {
    let run = |(file, first, blocks, is_stamped): WireRun| WroteRun { file, first, blocks, is_stamped };
    Wrote { numbers: wire.numbers, runs: wire.runs.into_iter().map(run).collect(), workers: wire.workers }
}

#[derive(Debug, Serialize, Deserialize)]
struct WireVerified {
    checked: u64,
    unknown: u64,
    corrupt: u64,
    wrong: Vec<WireWrong>,
}

#[derive(Debug, Serialize, Deserialize)]
struct WireWrong {
    file: u16,
    offset: u64,
    len: u64,
    expected: String,
    found: String,
}

fn verified_out(verified: &Verified) -> WireVerified {
    let wrong = |Wrong { file, offset, len, expected, found }: &Wrong| WireWrong {
        file: *file,
        offset: offset.get(),
        len: len.get(),
        expected: expected.clone(),
        found: found.clone(),
    };
    WireVerified {
        checked: verified.checked.get(),
        unknown: verified.unknown.get(),
        corrupt: verified.corrupt,
        wrong: verified.wrong.iter().map(wrong).collect(),
    }
}

fn verified_in(wire: WireVerified) -> Verified {
    let wrong = |WireWrong { file, offset, len, expected, found }: WireWrong| {
        let (offset, len) = (Bytes::new(offset), Bytes::new(len));
        Wrong { file, offset, len, expected, found }
    };
    Verified {
        checked: Bytes::new(wire.checked),
        unknown: Bytes::new(wire.unknown),
        corrupt: wire.corrupt,
        wrong: wire.wrong.into_iter().map(wrong).collect(),
    }
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct WireWorkload {
    pub(crate) workers: Vec<WireWorker>,
    pub(crate) intervals: Vec<WireInterval>,
    pub(crate) files: Vec<String>,
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct WireWorker {
    cpu: Option<CpuUse>,
    ceiling: Option<f64>,
    classes: Vec<WireClassTally>,
    intervals: Vec<WireInterval>,
    begun: u64,
    measured: (u64, u64),
    planned: u64,
    completed: u64,
    in_flight_ns: u128,
    together: ([u64; 7], [u64; 8], [u64; 8]),
    edges: (u128, u128, u64, u128, u128),
    gaps: Vec<(u64, u64, u64)>,
    dropped: u64,
    not_issued: u64,
    late: Option<WireHistogram>,
    digest: u64,
    errors: u64,
    samples: Vec<WireSample>,
    gave_up: bool,
    zone_resets: u64,
    verified: Option<WireVerified>,
}

#[derive(Debug, Serialize, Deserialize)]
struct WireSample {
    at: u64,
    op: u8,
    file: u64,
    offset: u64,
    len: u32,
    failure: WireFailure,
}

#[derive(Debug, Serialize, Deserialize)]
enum WireFailure {
    Errno(i32),
    Short(u32),
    Corrupt,
}

/// Operation and size.
type WireClass = (u8, u64);

#[derive(Debug, Serialize, Deserialize)]
struct WireClassTally {
    class: WireClass,
    ops: u64,
    bytes: u64,
    ended: u64,
    ended_bytes: u64,
    response: WireHistogram,
    service: Option<WireHistogram>,
    lag: Option<WireHistogram>,
    after: WireHistogram,
}

#[derive(Debug, Serialize, Deserialize)]
struct WireHistogram {
    buckets: Vec<(u32, u64)>,
    sum_ns: u128,
    min_ns: u64,
    max_ns: u64,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct WireInterval {
    from: u64,
    until: u64,
    measured: bool,
    classes: Vec<WireClassInterval>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct WireClassInterval {
    class: WireClass,
    ops: u64,
    bytes: u64,
    response: Vec<(u32, u64)>,
    service: Vec<(u32, u64)>,
    longest: u64,
}

/// From the sender's clock to the receiver's.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shift(pub(crate) i128);

impl Shift {
    pub(crate) fn of(self, at_ns: u64) -> Instant {
        // An instant that never comes is the same on every clock.
        if at_ns == Instant::NEVER.nanos() {
            return Instant::NEVER;
        }
        Instant::from_nanos(u64::try_from(i128::from(at_ns) + self.0).unwrap_or(0))
    }
}

/// What is in no message of this version.
pub(crate) struct Unknown;

const _: () = assert!(
    Op::ALL.len() + FileOp::ALL.len() <= u8::MAX as usize,
    "a number of eight bits names each operation"
);

/// The number of an operation: those on files come behind those on blocks.
fn op_out(action: Action) -> u8 {
    let number = match action {
        Action::Block(op) => Op::ALL.iter().position(|known| *known == op),
        Action::File(op) => FileOp::ALL.iter().position(|known| *known == op).map(|at| Op::ALL.len() + at),
    };
    units::convert::narrow(number.expect("the lists have all operations"))
}

fn op_in(number: u8) -> Result<Action, Unknown> {
    let number = usize::from(number);
    let block = Op::ALL.get(number).map(|op| Action::Block(*op));
    let file = || Some(Action::File(*FileOp::ALL.get(number.checked_sub(Op::ALL.len())?)?));
    block.or_else(file).ok_or(Unknown)
}

fn class_out(class: Class) -> WireClass {
    (op_out(class.op), class.size.get())
}

fn class_in((op, size): WireClass) -> Result<Class, Unknown> {
    Ok(Class { op: op_in(op)?, size: Bytes::new(size) })
}

fn buckets_out(buckets: impl IntoIterator<Item = Bucket>) -> Vec<(u32, u64)> {
    buckets.into_iter().map(|bucket| (bucket.index, bucket.count)).collect()
}

fn buckets_in(buckets: Vec<(u32, u64)>) -> Vec<Bucket> {
    buckets.into_iter().map(|(index, count)| Bucket { index, count }).collect()
}

fn histogram_out(histogram: &Histogram) -> WireHistogram {
    WireHistogram {
        buckets: buckets_out(histogram.buckets()),
        sum_ns: histogram.sum_ns(),
        min_ns: histogram.min().map_or(0, Nanos::get),
        max_ns: histogram.max().map_or(0, Nanos::get),
    }
}

fn histogram_in(wire: WireHistogram) -> Result<Histogram, Unknown> {
    let (min, max) = (Nanos::new(wire.min_ns), Nanos::new(wire.max_ns));
    Histogram::from_parts(buckets_in(wire.buckets), wire.sum_ns, min, max).ok_or(Unknown)
}

pub(crate) fn interval_out(interval: &Interval) -> WireInterval {
    let class = |class: &ClassInterval| WireClassInterval {
        class: class_out(class.class),
        ops: class.ops,
        bytes: class.bytes.get(),
        response: buckets_out(class.response.iter().copied()),
        service: buckets_out(class.service.iter().copied()),
        longest: class.longest.get(),
    };
    WireInterval {
        from: interval.from.nanos(),
        until: interval.until.nanos(),
        measured: interval.measured,
        classes: interval.classes.iter().map(class).collect(),
    }
}

pub(crate) fn interval_in(wire: WireInterval, shift: Shift) -> Result<Interval, Unknown> {
    let class = |class: WireClassInterval| {
        Ok(ClassInterval {
            class: class_in(class.class)?,
            ops: class.ops,
            bytes: Bytes::new(class.bytes),
            response: buckets_in(class.response),
            service: buckets_in(class.service),
            longest: Nanos::new(class.longest),
        })
    };
    Ok(Interval {
        from: shift.of(wire.from),
        until: shift.of(wire.until),
        measured: wire.measured,
        classes: wire.classes.into_iter().map(class).collect::<Result<_, _>>()?,
    })
}

pub(crate) fn progress_out(progress: Progress) -> [u64; 4] {
    [progress.ops, progress.bytes, progress.errors, progress.in_flight.into()]
}

pub(crate) fn progress_in([ops, bytes, errors, in_flight]: [u64; 4]) -> Progress {
    Progress { ops, bytes, errors, in_flight: u32::try_from(in_flight).unwrap_or(u32::MAX) }
}

fn failure_out(failure: Failure) -> WireFailure {
    match failure {
        Failure::Errno(errno) => WireFailure::Errno(errno.0),
        Failure::Short { moved } => WireFailure::Short(moved),
        Failure::Corrupt => WireFailure::Corrupt,
    }
}

fn failure_in(failure: WireFailure) -> Failure {
    match failure {
        WireFailure::Errno(errno) => Failure::Errno(Errno(errno)),
        WireFailure::Short(moved) => Failure::Short { moved },
        WireFailure::Corrupt => Failure::Corrupt,
    }
}

pub(crate) fn worker_out(worker: &MeasuredWorker) -> WireWorker {
    let tally = &worker.tally;
    let class = |class: &ClassTally| WireClassTally {
        class: class_out(class.class),
        ops: class.ops,
        bytes: class.bytes.get(),
        ended: class.ended,
        ended_bytes: class.ended_bytes.get(),
        response: histogram_out(&class.response),
        service: class.service.as_ref().map(histogram_out),
        lag: class.lag.as_ref().map(histogram_out),
        after: histogram_out(&class.after),
    };
    let sample = |sample: &ErrorSample| WireSample {
        at: sample.at.nanos(),
        op: op_out(sample.op),
        file: sample.file,
        offset: sample.offset.get(),
        len: sample.len,
        failure: failure_out(sample.failure),
    };
    let Edges { before_ns, after_ns, ended_after, failed_ns, lag_ns } = tally.edges;
    let gap = |gap: &Gap| (gap.from.nanos(), gap.until.nanos(), gap.waiting_since.nanos());
    WireWorker {
        cpu: worker.cpu,
        ceiling: worker.ceiling.map(OpsPerSecond::get),
        classes: tally.classes.iter().map(class).collect(),
        intervals: tally.intervals.iter().map(interval_out).collect(),
        begun: tally.begun.nanos(),
        measured: (tally.measured_from.nanos(), tally.measured_until.nanos()),
        planned: tally.planned,
        completed: tally.completed,
        in_flight_ns: tally.in_flight_ns,
        together: (tally.together.in_flight, tally.together.submitted, tally.together.completed),
        edges: (before_ns, after_ns, ended_after, failed_ns, lag_ns),
        gaps: tally.gaps.as_slice().iter().map(gap).collect(),
        dropped: tally.dropped,
        not_issued: tally.not_issued,
        late: tally.late.as_ref().map(histogram_out),
        digest: tally.digest,
        errors: tally.errors,
        samples: tally.error_samples.iter().map(sample).collect(),
        gave_up: tally.gave_up,
        zone_resets: tally.zone_resets,
        verified: worker.verified.as_ref().map(verified_out),
    }
}

pub(crate) fn worker_in(wire: WireWorker, shift: Shift) -> Result<MeasuredWorker, Unknown> {
    let class = |class: WireClassTally| {
        Ok(ClassTally {
            class: class_in(class.class)?,
            ops: class.ops,
            bytes: Bytes::new(class.bytes),
            ended: class.ended,
            ended_bytes: Bytes::new(class.ended_bytes),
            response: histogram_in(class.response)?,
            service: class.service.map(histogram_in).transpose()?,
            lag: class.lag.map(histogram_in).transpose()?,
            after: histogram_in(class.after)?,
        })
    };
    let sample = |sample: WireSample| {
        Ok(ErrorSample {
            at: shift.of(sample.at),
            op: op_in(sample.op)?,
            file: sample.file,
            offset: Bytes::new(sample.offset),
            len: sample.len,
            failure: failure_in(sample.failure),
        })
    };
    let mut gaps = Gaps::default();
    for (from, until, waiting_since) in wire.gaps {
        let [from, until, waiting_since] = [from, until, waiting_since].map(|at| shift.of(at));
        gaps.push(Gap { from, until, waiting_since });
    }
    let (before_ns, after_ns, ended_after, failed_ns, lag_ns) = wire.edges;
    let intervals = wire.intervals.into_iter().map(|interval| interval_in(interval, shift));
    let tally = Tally {
        classes: wire.classes.into_iter().map(class).collect::<Result<_, _>>()?,
        intervals: intervals.collect::<Result<_, _>>()?,
        logged: Vec::new(),
        begun: shift.of(wire.begun),
        measured_from: shift.of(wire.measured.0),
        measured_until: shift.of(wire.measured.1),
        planned: wire.planned,
        completed: wire.completed,
        in_flight_ns: wire.in_flight_ns,
        together: Together {
            in_flight: wire.together.0,
            submitted: wire.together.1,
            completed: wire.together.2,
        },
        edges: Edges { before_ns, after_ns, ended_after, failed_ns, lag_ns },
        gaps,
        dropped: wire.dropped,
        not_issued: wire.not_issued,
        late: wire.late.map(histogram_in).transpose()?,
        digest: wire.digest,
        errors: wire.errors,
        error_samples: wire.samples.into_iter().map(sample).collect::<Result<_, _>>()?,
        gave_up: wire.gave_up,
        zone_resets: wire.zone_resets,
    };
    let ceiling = wire.ceiling.map(OpsPerSecond::new);
    let verified = wire.verified.map(verified_in);
    Ok(MeasuredWorker { tally, cpu: wire.cpu, ceiling, verified, rank: None })
}
