//! A host at work: its processors, its files, and the limits on what it has outstanding.

use std::collections::VecDeque;

use units::{Instant, Nanos};

use crate::host::HostParams;
use crate::latency::{LatencyTrace, Stage};
use crate::link::{Link, LinkParams};
use crate::meter::Class;
use crate::station::Station;
use crate::wire::Wire;

use super::pages::Pages;

/// A host at work.
pub struct Host {
    /// Its processors.
    pub processor: Station,
    /// Each file or LUN as a thing that one request at a time goes through.
    pub files: Vec<Station>,
    /// Its adapters.
    pub adapters: Vec<Link>,
    params: HostParams,
    /// What is outstanding for each LUN.
    gates: Vec<Gate>,
    /// Its page cache, for jobs that do not ask for direct I/O.
    pub pages: Option<Pages>,
    /// What is outstanding in each session, those at the first controller first.
    pub sessions: Vec<Gate>,
    /// Requests that were dealt over sessions in turn.
    pub dealt: u32,
}

/// A limit on what is outstanding, and who waits for it.
#[derive(Clone, Debug, Default)]
pub struct Gate {
    inside: u32,
    waiting: VecDeque<u32>,
}

impl Gate {
    /// Whether `request` may pass now; if not it waits.
    pub fn enter(&mut self, limit: u32, request: u32) -> bool {
        let passes = self.inside < limit.max(1);
        if passes {
            self.inside += 1;
        } else {
            self.waiting.push_back(request);
        }
        passes
    }

    /// How many are inside or wait.
    pub fn present(&self) -> usize {
        self.inside as usize + self.waiting.len()
    }

    /// One that was inside has left; the one that takes its place.
    pub fn leave(&mut self) -> Option<u32> {
        let next = self.waiting.pop_front();
        debug_assert!(self.inside > 0, "who leaves must have been inside");
        if next.is_none() {
            self.inside -= 1;
        }
        next
    }
}

impl Host {
    /// A host of `luns` LUNs and `sessions`, at rest; its adapters are laid among `wires`.
    pub fn new(
        params: &HostParams,
        luns: usize,
        sessions: usize,
        adapters: Option<(u32, LinkParams)>,
        wires: &mut Vec<Wire>,
    ) -> Host {
        let adapters = adapters
            .map_or(Vec::new(), |(count, link)| (0..count).map(|_| Link::lay(&link, wires)).collect());
        Host {
            processor: Station::new(params.processors),
            files: vec![Station::new(1); luns],
            adapters,
            params: params.clone(),
            gates: vec![Gate::default(); luns],
            pages: params.page_cache.as_ref().map(|pages| Pages::new(pages, params.max_transfer)),
            sessions: vec![Gate::default(); sessions],
            dealt: 0,
        }
    }

    /// The software's part of a request to `lun`; when it reaches the driver.
    pub fn prepare(&mut self, now: Instant, lun: usize, class: Class, trace: &mut LatencyTrace) -> Instant {
        let through_file = self.through_file(now, lun, class, trace);
        let work = Nanos::new(self.params.request.get() + self.params.file_system.get());
        self.operation(now, through_file, work, class, trace)
    }

    fn through_file(&mut self, now: Instant, lun: usize, class: Class, trace: &mut LatencyTrace) -> Instant {
        let through = self.files[lun].book(now, now, self.params.per_file, class);
        trace.pass(Stage::HostFile, through, self.params.per_file);
        through
    }

    /// The file's part of a request that asks the page cache: the block layer's and the driver's comes with what must
    /// be fetched or written back.
    pub fn look_up(&mut self, now: Instant, lun: usize, class: Class, trace: &mut LatencyTrace) -> Instant {
        let through_file = self.through_file(now, lun, class, trace);
        self.operation(now, through_file, self.params.file_system, class, trace)
    }

    /// The block layer's and the driver's part of what the page cache sends; when it reaches the driver.
    pub fn dispatch(
        &mut self,
        now: Instant,
        ready: Instant,
        class: Class,
        trace: &mut LatencyTrace,
    ) -> Instant {
        self.operation(now, ready, self.params.request, class, trace)
    }

    /// Processor time of a protocol operation; when it ends.
    pub fn operation(
        &mut self,
        now: Instant,
        ready: Instant,
        work: Nanos,
        class: Class,
        trace: &mut LatencyTrace,
    ) -> Instant {
        let end = self.processor.book(now, ready, work, class);
        trace.pass(Stage::HostProcessor, end, work);
        end
    }

    /// Whether a request may be sent to `lun` now; if not it waits for one to come back.
    pub fn admit(&mut self, lun: usize, request: u32) -> bool {
        self.gates[lun].enter(self.params.lun_depth, request)
    }

    /// A request to `lun` has come back; the one that may be sent now.
    pub fn release(&mut self, lun: usize) -> Option<u32> {
        self.gates[lun].leave()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gate_lets_through_its_limit_and_then_one_for_one() {
        let mut gate = Gate::default();
        assert!(gate.enter(2, 10) && gate.enter(2, 11) && !gate.enter(2, 12));
        assert_eq!(gate.leave(), Some(12));
        assert_eq!(gate.leave(), None);
        assert!(gate.enter(2, 13) && !gate.enter(2, 14));
    }
}
