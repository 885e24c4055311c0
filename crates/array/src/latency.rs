//! Where the time of one request went: a trace of spans without gaps, and the sums of many traces.
//!
//! **Invariant:** the spans of a trace add up to the time from its beginning to its end, to the nanosecond. Where a
//! request does several things at once the trace goes along what ended last, the critical path; the rest is for free.
//!
//! What a stage was busy with for a request is service, what the request spent there besides is waiting: of a span that
//! takes longer than the work, the last of it is the work. On a wire, where transfers take turns, the work is the time
//! that the transfer was carried itself, and waiting is the turns of the others. What moves data while another stage
//! still does is charged with what it takes longer.
//!
//! A trace that has not begun records nothing. Where traces are off none begins, and each stage costs one comparison.

use units::convert::{narrow, truncated};
use units::{Instant, Nanos};
use workload::tally::Class;

/// Declares the stages once: name in Rust, name in records.
macro_rules! stages {
    ($($(#[doc = $doc:literal])+ $stage:ident => $name:literal,)+) => {
        /// What a request meets, all of a kind together.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u8)]
        pub enum Stage {
            $($(#[doc = $doc])+ $stage,)+
        }

        impl Stage {
            /// All of them, in the order in which a request meets them.
            pub const ALL: [Stage; [$(Stage::$stage),+].len()] = [$(Stage::$stage),+];

            /// The name used in records.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Stage::$stage => $name,)+
                }
            }
        }
    };
}

stages! {
    /// The schedule: due, and not yet issued.
    Schedule => "schedule",
    /// One file or LUN of the host, which one request at a time goes through.
    HostFile => "host file",
    /// The host's processors.
    HostProcessor => "host processor",
    /// The host's page cache: room in it, and pages that somebody else fetches.
    PageCache => "page cache",
    /// The queue of one LUN in the host.
    LunQueue => "LUN queue",
    /// The sessions' own queue.
    Session => "session queue",
    /// A path that was lost, until that is noticed.
    PathLoss => "lost path",
    /// The host's adapters.
    Adapter => "host adapter",
    /// The links between hosts and controllers.
    Link => "link",
    /// Distance: cables, switches, and round trips that a protocol makes for its own sake.
    Distance => "distance",
    /// A connection that carries no more than its window in a round trip.
    Window => "connection window",
    /// What a controller accepts at once.
    ControllerQueue => "controller queue",
    /// A volume that changes its controller.
    Ownership => "ownership",
    /// The controllers' processors.
    ControllerProcessor => "controller processor",
    /// The controllers' buses.
    Bus => "controller bus",
    /// The way between controllers.
    Mirror => "controller mirror",
    /// Room in a controller's cache, and a cache that has to be emptied before a volume moves.
    CacheRoom => "cache room",
    /// A controller's cache that writes to the members what a flush, or a write that is to be stable, waits for.
    Flush => "flush",
    /// A file of the box's own file system that another write holds.
    FileLock => "file lock",
    /// Stripes that others change, and units that background work holds.
    StripeLocks => "stripe locks",
    /// A transaction of the journal that makes it stable: until it begins, or has ended for others.
    Journal => "journal",
    /// A bit of the set's write-intent bitmap, until it is on the members, and the thread that writes it.
    Bitmap => "write-intent bitmap",
    /// Looking up where on the members the data are.
    Locate => "locate",
    /// Parity arithmetic.
    Xor => "controller xor",
    /// Back-end channels.
    Channel => "channel",
    /// Member devices: their queues, and the service of those without an arm.
    Disk => "disk",
    /// What a drive's processor spends on a command.
    DiskOverhead => "disk overhead",
    /// The arm, until it is free and where it is to be.
    DiskSeek => "disk seek",
    /// Until the first sector passes.
    DiskRotation => "disk rotation",
    /// From the first sector to the last byte, or out of the drive's buffer.
    DiskTransfer => "disk transfer",
    /// A drive that writes to its media what its own cache holds, for a flush.
    DiskFlush => "disk flush",
    /// The host, where a request that has ended waits for others to be taken with it.
    CompletionBatch => "completion batch",
    /// What no stage claims.
    Unclaimed => "unclaimed",
}

const STAGES: usize = Stage::ALL.len();

/// All of a span is service.
const ALL: Nanos = Nanos::new(u64::MAX);

/// Time at one stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// Where.
    pub stage: Stage,
    /// Before the stage worked for the request.
    pub wait: Nanos,
    /// While it did.
    pub service: Nanos,
}

/// The spans of one request, or of a piece of its way, in order of time.
#[derive(Clone, Debug)]
pub struct LatencyTrace {
    began: Instant,
    at: Instant,
    spans: Vec<Span>,
}

impl Default for LatencyTrace {
    /// One that has not begun.
    fn default() -> LatencyTrace {
        LatencyTrace { began: Instant::NEVER, at: Instant::NEVER, spans: Vec::new() }
    }
}

impl LatencyTrace {
    /// Forgets what it held and begins at `at`.
    pub fn begin(&mut self, at: Instant) {
        (self.began, self.at) = (at, at);
        self.spans.clear();
    }

    /// When it began.
    pub fn began(&self) -> Instant {
        self.began
    }

    /// How far it goes; [`Instant::NEVER`] where it has not begun.
    pub fn at(&self) -> Instant {
        self.at
    }

    /// In the order in which the request passed them.
    pub fn spans(&self) -> &[Span] {
        &self.spans
    }

    /// Records the time up to `until` as spent at `stage`, the last `work` of it as service. A no-op where the trace has
    /// reached `until`.
    #[inline]
    pub fn pass(&mut self, stage: Stage, until: Instant, work: Nanos) {
        if until > self.at {
            self.push(stage, until, work);
        }
    }

    /// The same where the stage worked all the time.
    #[inline]
    pub fn serve(&mut self, stage: Stage, until: Instant) {
        self.pass(stage, until, ALL);
    }

    /// The same where it did nothing for it.
    #[inline]
    pub fn wait(&mut self, stage: Stage, until: Instant) {
        self.pass(stage, until, Nanos::ZERO);
    }

    fn push(&mut self, stage: Stage, until: Instant, work: Nanos) {
        debug_assert!(until >= self.at, "a trace must not go back in time");
        let elapsed = until - self.at;
        let service = elapsed.min(work);
        self.spans.push(Span { stage, wait: elapsed - service, service });
        self.at = until;
    }

    /// Goes on along `other`, as far as that lies ahead. What lies between the two is service of `gap`.
    pub fn follow(&mut self, other: &LatencyTrace, gap: Stage) {
        if other.at <= self.at || other.at == Instant::NEVER {
            return;
        }
        if other.began > self.at {
            self.serve(gap, other.began);
        }
        let mut behind = self.at.saturating_since(other.began);
        for &Span { stage, wait, service } in &other.spans {
            let skipped = wait.min(behind);
            behind = behind - skipped;
            let (wait, skipped) = (wait - skipped, service.min(behind));
            behind = behind - skipped;
            let service = service - skipped;
            if !(wait.is_zero() && service.is_zero()) {
                self.spans.push(Span { stage, wait, service });
            }
        }
        self.at = other.at;
    }

    /// Whether its spans are as long together as it is. For assertions.
    fn adds_up(&self) -> bool {
        let spans: u64 = self.spans.iter().map(|span| span.wait.get() + span.service.get()).sum();
        self.began == Instant::NEVER || spans == self.at.saturating_since(self.began).get()
    }

    /// Ends it at `at`: what is missing is [`Stage::Unclaimed`], what goes beyond is cut off.
    pub fn end(&mut self, at: Instant) {
        self.wait(Stage::Unclaimed, at);
        while self.at > at
            && let Some(last) = self.spans.last_mut()
        {
            let beyond = self.at - at;
            let (service, wait) =
                (last.service.min(beyond), last.wait.min(beyond.saturating_sub(last.service)));
            (last.service, last.wait) = (last.service - service, last.wait - wait);
            self.at = Instant::from_nanos(self.at.nanos() - service.get() - wait.get());
            if last.wait.is_zero() && last.service.is_zero() {
                self.spans.pop();
            }
        }
        debug_assert!(self.adds_up(), "the spans of a trace must add up to its length");
    }
}

/// Nanoseconds at each stage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Times {
    /// Requests.
    pub count: u64,
    /// Their response times, from due to finished.
    pub response_ns: u64,
    /// Waiting and service at each stage, in the order of [`Stage::ALL`].
    pub stages: [(u64, u64); STAGES],
}

impl Default for Times {
    fn default() -> Times {
        Times { count: 0, response_ns: 0, stages: [(0, 0); STAGES] }
    }
}

impl Times {
    fn add(&mut self, other: &Times) {
        self.count += other.count;
        self.response_ns += other.response_ns;
        for (sum, one) in self.stages.iter_mut().zip(&other.stages) {
            *sum = (sum.0 + one.0, sum.1 + one.1);
        }
    }

    /// Each stage at which anything was spent, with the nanoseconds waited and served there.
    pub fn spent(&self) -> impl Iterator<Item = (Stage, u64, u64)> + '_ {
        let all = Stage::ALL.into_iter().zip(&self.stages);
        all.filter(|(_, times)| **times != (0, 0)).map(|(stage, &(wait, service))| (stage, wait, service))
    }
}

/// Each power of two of a response time is cut into two to this power: tails begin within 3 % of where they are asked
/// to.
const SUB_BITS: u32 = 5;

/// The traces of the measured requests of one class, added up by response time.
#[derive(Clone, Debug, Default)]
struct ClassTotals {
    by_response: Vec<Option<Box<Times>>>,
}

/// The traces of one job's measured requests, added up.
#[derive(Clone, Debug, Default)]
pub struct LatencyTotals {
    classes: Vec<(Class, ClassTotals)>,
}

/// The slowest requests of a class.
#[derive(Clone, Debug)]
pub struct Tail {
    /// They took at least that long.
    pub from: Nanos,
    /// Their traces.
    pub times: Times,
}

impl LatencyTotals {
    /// Adds a measured request that was due at `due` and whose trace has ended.
    pub fn add(&mut self, class: Class, due: Instant, trace: &LatencyTrace) {
        debug_assert!(trace.at >= due, "a request must not end before it was due");
        let response = trace.at.saturating_since(due).get();
        let index = match self.classes.iter().position(|(known, _)| *known == class) {
            Some(index) => index,
            None => {
                self.classes.push((class, ClassTotals::default()));
                self.classes.len() - 1
            }
        };
        let by_response = &mut self.classes[index].1.by_response;
        let bucket = bucket(response);
        if by_response.len() <= bucket {
            by_response.resize(bucket + 1, None);
        }
        let times = by_response[bucket].get_or_insert_default();
        times.count += 1;
        times.response_ns += response;
        times.stages[Stage::Schedule as usize].0 += trace.began.saturating_since(due).get();
        for Span { stage, wait, service } in &trace.spans {
            let sum = &mut times.stages[*stage as usize];
            sum.0 += wait.get();
            sum.1 += service.get();
        }
    }

    /// Adds another job's.
    pub fn merge(&mut self, other: &LatencyTotals) {
        for (class, theirs) in &other.classes {
            let own = match self.classes.iter_mut().find(|(known, _)| known == class) {
                Some((_, own)) => own,
                None => {
                    self.classes.push((*class, theirs.clone()));
                    continue;
                }
            };
            let longest = own.by_response.len().max(theirs.by_response.len());
            own.by_response.resize(longest, None);
            for (sum, one) in own.by_response.iter_mut().zip(&theirs.by_response) {
                if let Some(one) = one {
                    sum.get_or_insert_default().add(one);
                }
            }
        }
    }

    /// The classes that came, by operation and size.
    pub fn classes(&self) -> Vec<Class> {
        let mut classes: Vec<Class> = self.classes.iter().map(|(class, _)| *class).collect();
        classes.sort();
        classes
    }

    /// All requests of `class` together.
    pub fn all(&self, class: Class) -> Times {
        let mut sum = Times::default();
        self.buckets(class).for_each(|(_, times)| sum.add(times));
        sum
    }

    /// The slowest requests of `class`, at least `share` of all. `None` where none came.
    ///
    /// Whole buckets of response times, so that it is somewhat more than `share`; how many is in [`Times::count`].
    pub fn tail(&self, class: Class, share: f64) -> Option<Tail> {
        let count: u64 = self.buckets(class).map(|(_, times)| times.count).sum();
        let least = truncated::<u64>((count as f64 * share).ceil().max(1.0));
        let mut times = Times::default();
        let buckets: Vec<(usize, &Times)> = self.buckets(class).collect();
        for (bucket, slowest) in buckets.into_iter().rev() {
            times.add(slowest);
            if times.count >= least {
                return Some(Tail { from: Nanos::new(lowest_of(bucket)), times });
            }
        }
        None
    }

    fn buckets(&self, class: Class) -> impl Iterator<Item = (usize, &Times)> {
        let own = self.classes.iter().filter(move |(known, _)| *known == class);
        own.flat_map(|(_, own)| own.by_response.iter().enumerate())
            .filter_map(|(bucket, times)| Some((bucket, times.as_deref()?)))
    }
}

/// The bucket of a response time: linear up to two to the [`SUB_BITS`], then so many to each power of two.
fn bucket(nanos: u64) -> usize {
    let magnitude = (nanos >> SUB_BITS).checked_ilog2().map_or(0, |power| power + 1);
    let within = if magnitude == 0 { nanos } else { (nanos >> (magnitude - 1)) - (1 << SUB_BITS) };
    let bucket = narrow::<usize>((u64::from(magnitude) << SUB_BITS) + within);
    debug_assert!(lowest_of(bucket) <= nanos, "a bucket must begin before what is in it");
    bucket
}

/// The smallest response time of a bucket.
fn lowest_of(bucket: usize) -> u64 {
    let (magnitude, within) = (bucket >> SUB_BITS, bucket as u64 & ((1 << SUB_BITS) - 1));
    if magnitude == 0 { within } else { (within + (1 << SUB_BITS)) << (magnitude - 1) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use workload::Op;

    fn at(nanos: u64) -> Instant {
        Instant::from_nanos(nanos)
    }

    fn class() -> Class {
        Class { op: Op::Read.into(), size: units::Bytes::KIB }
    }

    fn span(stage: Stage, wait: u64, service: u64) -> Span {
        Span { stage, wait: Nanos::new(wait), service: Nanos::new(service) }
    }

    #[test]
    fn the_last_of_a_span_is_work_and_what_came_before_is_waiting() {
        let mut trace = LatencyTrace::default();
        trace.begin(at(100));
        trace.pass(Stage::Link, at(150), Nanos::new(20));
        trace.pass(Stage::Adapter, at(140), Nanos::new(30));
        trace.pass(Stage::Bus, at(160), Nanos::new(30));
        assert_eq!(trace.spans(), [span(Stage::Link, 30, 20), span(Stage::Bus, 0, 10)]);
    }

    #[test]
    fn who_joins_a_fetch_halfway_is_charged_with_what_was_left_of_it() {
        let (mut fetch, mut reader) = (LatencyTrace::default(), LatencyTrace::default());
        fetch.begin(at(0));
        fetch.pass(Stage::Disk, at(100), Nanos::new(60));
        fetch.pass(Stage::Channel, at(130), Nanos::new(10));
        reader.begin(at(90));
        reader.follow(&fetch, Stage::CacheRoom);
        assert_eq!(reader.spans(), [span(Stage::Disk, 0, 10), span(Stage::Channel, 20, 10)]);
        assert_eq!(reader.at(), at(130));
    }

    #[test]
    fn what_lies_before_the_piece_that_is_followed_is_the_gaps() {
        let (mut piece, mut whole) = (LatencyTrace::default(), LatencyTrace::default());
        piece.begin(at(50));
        piece.pass(Stage::Disk, at(60), Nanos::new(60));
        whole.begin(at(10));
        whole.follow(&piece, Stage::Locate);
        assert_eq!(whole.spans(), [span(Stage::Locate, 0, 40), span(Stage::Disk, 0, 10)]);
    }

    #[test]
    fn a_trace_that_has_not_begun_goes_nowhere_and_nobody_follows_it() {
        let (mut resting, mut other) = (LatencyTrace::default(), LatencyTrace::default());
        resting.serve(Stage::Disk, at(1 << 60));
        other.begin(at(10));
        other.serve(Stage::Link, at(20));
        other.follow(&resting, Stage::Locate);
        resting.follow(&other, Stage::Locate);
        resting.end(at(30));
        assert_eq!((resting.spans(), resting.at()), (&[][..], Instant::NEVER));
        assert_eq!((other.spans(), other.at()), (&[span(Stage::Link, 0, 10)][..], at(20)));
    }

    #[test]
    fn a_tail_is_at_least_the_share_asked_for_and_none_faster_than_it_says() {
        let mut totals = LatencyTotals::default();
        for n in 0..1_000 {
            let mut trace = LatencyTrace::default();
            trace.begin(at(5));
            trace.pass(Stage::Disk, at(5 + 1_000 + n), Nanos::new(10));
            totals.add(class(), at(5), &trace);
        }
        let tail = totals.tail(class(), 0.01).unwrap();
        assert!((10..50).contains(&tail.times.count), "{}", tail.times.count);
        assert!(tail.times.response_ns >= tail.from.get() * tail.times.count);
        assert_eq!(totals.all(class()).count, 1_000);
        assert!(totals.tail(Class { size: units::Bytes::MIB, ..class() }, 0.01).is_none());
    }

    proptest! {
        #[test]
        fn a_bucket_begins_at_or_below_what_it_holds_and_is_narrow(nanos in 0u64..1 << 60) {
            let low = lowest_of(bucket(nanos));
            let next = lowest_of(bucket(nanos) + 1);
            prop_assert!(low <= nanos && nanos < next);
            prop_assert!(next - low <= (nanos >> SUB_BITS).max(1));
        }

        #[test]
        fn the_spans_of_any_trace_add_up_to_its_length(
            steps in prop::collection::vec((0usize..STAGES, 0u64..1_000, 0u64..500), 0..20),
            cut in 0u64..1_500,
            joined in 0u64..800,
        ) {
            let (mut trace, mut other) = (LatencyTrace::default(), LatencyTrace::default());
            trace.begin(at(300));
            other.begin(at(joined));
            for (index, (stage, until, work)) in steps.into_iter().enumerate() {
                let taken = if index % 2 == 0 { &mut trace } else { &mut other };
                taken.pass(Stage::ALL[stage], at(until), Nanos::new(work));
            }
            let sum = |trace: &LatencyTrace| -> u64 {
                trace.spans().iter().map(|span| span.wait.get() + span.service.get()).sum()
            };
            trace.follow(&other, Stage::Locate);
            prop_assert_eq!(sum(&trace), trace.at().saturating_since(trace.began()).get());
            trace.end(at(300 + cut));
            prop_assert_eq!(sum(&trace), cut);
        }
    }
}
