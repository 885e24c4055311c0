//! A host at work: its processors, its files, and the limits on what it has outstanding.

use units::convert::{narrow, truncated};
use units::{Instant, Nanos};

use crate::host::HostParams;
use crate::latency::Stage;
use crate::meter::Meter;
use crate::station::Station;

use super::gate::Gate;
use super::outcome::{HostTraffic, LunQueues};
use super::pages::Pages;
use super::request::{HostRequest, Purpose, Requests};

/// A host at work.
pub struct Host {
    pub processor: Station,
    /// Each file or LUN as a thing that one request at a time goes through.
    pub files: Vec<Station>,
    params: HostParams,
    /// What a request that is sent costs a processor: the driver, and the layers above it.
    sending: Nanos,
    /// What is outstanding for each LUN.
    gates: Vec<Gate>,
    admitted: Admitted,
    /// How many LUNs have something outstanding, or waiting for that.
    active: u64,
    /// Its page cache, for jobs that do not ask for direct I/O.
    pub pages: Option<Pages>,
    /// What is outstanding in each session, those at the first controller first.
    pub sessions: Vec<Gate>,
    /// Requests that were dealt over sessions in turn.
    pub dealt: u32,
    /// The thread of each worker, by the number of its client.
    threads: Vec<Thread>,
    /// What was asked of it, and what it asked for that, since its meters began.
    pub traffic: HostTraffic,
}

/// The thread of a worker: until when it is at work, and its past.
#[derive(Clone, Default)]
struct Thread {
    until: Instant,
    meter: Meter,
}

impl Host {
    /// A host of `luns` LUNs and `sessions`, at rest, whose layers keep mirrors or not.
    pub fn new(params: &HostParams, luns: usize, sessions: usize, mirrors: bool) -> Host {
        let mirroring = if mirrors { params.mirroring } else { Nanos::ZERO };
        Host {
            sending: params.request + params.layer * u64::from(params.layers) + mirroring,
            processor: Station::new(params.processors),
            files: vec![Station::new(1); luns],
            params: params.clone(),
            gates: vec![Gate::default(); luns],
            admitted: Admitted::default(),
            active: 0,
            pages: params.page_cache.as_ref().map(|pages| Pages::new(pages, params.max_transfer)),
            sessions: vec![Gate::default(); sessions],
            dealt: 0,
            threads: Vec::new(),
            traffic: HostTraffic::default(),
        }
    }

    /// The software's part of a request; when it reaches the driver.
    pub fn prepare(&mut self, now: Instant, requests: &mut Requests, place: u32) -> Instant {
        let through_file = self.through_file(now, requests, place);
        self.by_thread(now, through_file, self.sending + self.params.file_system, requests, place)
    }

    /// `work` for a request that a worker issues: its thread, where it has one, carries one after the other.
    fn by_thread(
        &mut self,
        now: Instant,
        ready: Instant,
        work: Nanos,
        requests: &mut Requests,
        place: u32,
    ) -> Instant {
        if !self.params.threads {
            return self.operation(now, ready, work, requests, place);
        }
        let client = requests[place].client as usize;
        if self.threads.len() <= client {
            self.threads.resize(client + 1, Thread::default());
        }
        let begun = ready.max(self.threads[client].until);
        let end = self.operation(now, begun, work, requests, place);
        let thread = &mut self.threads[client];
        debug_assert!(end >= thread.until, "a thread does one thing after the other");
        thread.until = end;
        thread.meter.visit(now, ready, begun, end, requests[place].class);
        end
    }

    /// The past of each worker's thread, where each has one.
    pub fn threads(&mut self) -> impl Iterator<Item = &mut Meter> {
        self.threads.iter_mut().map(|thread| &mut thread.meter)
    }

    /// The past of the thread that was at work for the longest: others do not help it. Nothing where workers have none.
    pub fn busiest_thread(&self) -> Option<&Meter> {
        self.threads.iter().map(|thread| &thread.meter).max_by_key(|meter| meter.busy_ns())
    }

    fn through_file(&mut self, now: Instant, requests: &mut Requests, place: u32) -> Instant {
        if self.params.per_file.is_zero() {
            // Nothing is ever booked on a file.
            requests.trace(place).pass(Stage::HostFile, now, Nanos::ZERO);
            return now;
        }
        let HostRequest { lun, class, .. } = requests[place];
        let others = self.active - u64::from(self.gates[lun as usize].present() > 0);
        let longer = self.params.contention.get() * self.params.per_file.get() as f64 * others as f64;
        let work = self.params.per_file + Nanos::new(truncated(longer));
        let through = self.files[lun as usize].book(now, now, work, class);
        requests.trace(place).pass(Stage::HostFile, through, work);
        through
    }

    /// The file's part of a request that asks the page cache: the block layer's and the driver's comes with what must
    /// be fetched or written back.
    pub fn look_up(&mut self, now: Instant, requests: &mut Requests, place: u32) -> Instant {
        let through_file = self.through_file(now, requests, place);
        self.by_thread(now, through_file, self.params.file_system, requests, place)
    }

    /// The block layer's and the driver's part of what the page cache sends; when it reaches the driver.
    pub fn dispatch(&mut self, now: Instant, ready: Instant, requests: &mut Requests, place: u32) -> Instant {
        self.operation(now, ready, self.sending, requests, place)
    }

    /// `work` of a processor for a request, which is there at `ready`; when it ends.
    #[inline]
    pub fn operation(
        &mut self,
        now: Instant,
        ready: Instant,
        work: Nanos,
        requests: &mut Requests,
        place: u32,
    ) -> Instant {
        let end = self.processor.book(now, ready, work, requests[place].class);
        requests.trace(place).pass(Stage::HostProcessor, end, work);
        end
    }

    /// Whether a request may be sent to `lun` now; if not it waits for one to come back.
    pub fn admit(&mut self, now: Instant, lun: usize, request: u32, purpose: Purpose) -> bool {
        let (gate, depth) = (&mut self.gates[lun], self.params.lun_depth);
        self.active += u64::from(gate.present() == 0);
        let before = gate.counts();
        let passes = match purpose {
            // The block layer lets requests that somebody waits for pass what is written back in the background.
            Purpose::Writeback(_) => gate.enter_patiently(depth, request),
            _ => gate.enter(depth, request),
        };
        self.admitted.change(now, before, gate.counts());
        passes
    }

    /// A request to `lun` has come back; the one that may be sent now.
    pub fn release(&mut self, now: Instant, lun: usize) -> Option<u32> {
        let before = self.gates[lun].counts();
        let next = self.gates[lun].leave();
        self.admitted.change(now, before, self.gates[lun].counts());
        self.active -= u64::from(self.gates[lun].present() == 0);
        next
    }

    /// Restarts its counters at `now`: requests outstanding at its LUNs, and its traffic.
    pub fn restart_queues(&mut self, now: Instant) {
        self.admitted = Admitted { changed: now, areas: [0; 2], ..self.admitted };
        self.traffic = HostTraffic::default();
    }

    /// What its LUNs had outstanding on average in the `elapsed` time until `now`, and what waited for that.
    pub fn lun_queues(&mut self, now: Instant, elapsed: Nanos) -> LunQueues {
        self.admitted.change(now, [0; 2], [0; 2]);
        let [mean_outstanding, mean_waiting] =
            self.admitted.areas.map(|area| area as f64 / elapsed.get().max(1) as f64);
        LunQueues {
            depth: self.params.lun_depth.max(1),
            queues: narrow::<u32>(self.gates.len()),
            mean_outstanding,
            mean_waiting,
        }
    }
}

/// What all LUNs of a host have outstanding, and the requests that wait for that: how many, and since when so many.
#[derive(Clone, Copy, Debug, Default)]
struct Admitted {
    present: [u64; 2],
    changed: Instant,
    /// Number times nanoseconds.
    areas: [u128; 2],
}

impl Admitted {
    /// From `now` on there are so many more as `after` is more than `before`.
    #[inline]
    fn change(&mut self, now: Instant, before: [u64; 2], after: [u64; 2]) {
        let passed = u128::from(now.saturating_since(self.changed).get());
        for at in 0..2 {
            self.areas[at] += u128::from(self.present[at]) * passed;
            self.present[at] = self.present[at] + after[at] - before[at];
        }
        self.changed = now;
    }
}
