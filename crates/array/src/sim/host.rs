//! A host at work: its processors, its files, and the limits on what it has outstanding.

use units::{Instant, Nanos};

use crate::host::HostParams;
use crate::latency::Stage;
use crate::station::Station;

use super::gate::Gate;
use super::pages::Pages;
use super::request::{HostRequest, Requests};

/// A host at work.
pub struct Host {
    /// Its processors.
    pub processor: Station,
    /// Each file or LUN as a thing that one request at a time goes through.
    pub files: Vec<Station>,
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

impl Host {
    /// A host of `luns` LUNs and `sessions`, at rest.
    pub fn new(params: &HostParams, luns: usize, sessions: usize) -> Host {
        Host {
            processor: Station::new(params.processors),
            files: vec![Station::new(1); luns],
            params: params.clone(),
            gates: vec![Gate::default(); luns],
            pages: params.page_cache.as_ref().map(|pages| Pages::new(pages, params.max_transfer)),
            sessions: vec![Gate::default(); sessions],
            dealt: 0,
        }
    }

    /// The software's part of a request; when it reaches the driver.
    pub fn prepare(&mut self, now: Instant, requests: &mut Requests, place: u32) -> Instant {
        let through_file = self.through_file(now, requests, place);
        let work = Nanos::new(self.params.request.get() + self.params.file_system.get());
        self.operation(now, through_file, work, requests, place)
    }

    fn through_file(&mut self, now: Instant, requests: &mut Requests, place: u32) -> Instant {
        let HostRequest { lun, class, .. } = requests[place];
        let through = self.files[lun as usize].book(now, now, self.params.per_file, class);
        requests.trace(place).pass(Stage::HostFile, through, self.params.per_file);
        through
    }

    /// The file's part of a request that asks the page cache: the block layer's and the driver's comes with what must
    /// be fetched or written back.
    pub fn look_up(&mut self, now: Instant, requests: &mut Requests, place: u32) -> Instant {
        let through_file = self.through_file(now, requests, place);
        self.operation(now, through_file, self.params.file_system, requests, place)
    }

    /// The block layer's and the driver's part of what the page cache sends; when it reaches the driver.
    pub fn dispatch(&mut self, now: Instant, ready: Instant, requests: &mut Requests, place: u32) -> Instant {
        self.operation(now, ready, self.params.request, requests, place)
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
    pub fn admit(&mut self, lun: usize, request: u32) -> bool {
        self.gates[lun].enter(self.params.lun_depth, request)
    }

    /// A request to `lun` has come back; the one that may be sent now.
    pub fn release(&mut self, lun: usize) -> Option<u32> {
        self.gates[lun].leave()
    }
}
