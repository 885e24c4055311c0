//! The working parts of one controller: processors, bus, XOR engine.

use units::{Bytes, Instant, Nanos};

use crate::controller::ControllerParams;
use crate::meter::Class;
use crate::raid::Arithmetic;
use crate::station::Station;

/// What is left to cross a controller's bus of what arrives from outside, when the last of it is there: a burst.
const BURST: u64 = 64 << 10;

/// The working parts of one controller.
#[derive(Clone, Debug)]
pub struct Engine {
    /// As many servers as the controller has of them.
    pub processor: Station,
    /// Its memory or internal bus.
    pub bus: Station,
    /// Its parity engine.
    pub xor: Station,
    params: ControllerParams,
}

impl Engine {
    /// At rest.
    pub fn new(params: &ControllerParams) -> Engine {
        Engine {
            processor: Station::new(params.processors),
            bus: Station::new(1),
            xor: Station::new(1),
            params: params.clone(),
        }
    }

    /// What a host command that carries `bytes` costs a processor, if it comes at `now`.
    pub fn host_work(&self, now: Instant, write: bool, bytes: u64) -> Nanos {
        let command = if write { self.params.write_command } else { self.params.read_command };
        let shared = if self.processor.until() > now { self.params.interrupt } else { Nanos::ZERO };
        let command = command.saturating_sub(shared);
        command + self.params.copy.map_or(Nanos::ZERO, |rate| rate.time_for(Bytes::new(bytes)))
    }

    /// What a member command costs a processor.
    pub fn member_work(&self) -> Nanos {
        self.params.member_command
    }

    /// Processing of a member command; when it ends.
    pub fn member_command(&mut self, now: Instant, ready: Instant, class: Class) -> Instant {
        self.processor.book(now, ready, self.params.member_command, class)
    }

    /// Data across the internal bus on their way out, which is `work` for it; when the first and the last have crossed.
    pub fn cross(&mut self, now: Instant, ready: Instant, work: Nanos, class: Class) -> (Instant, Instant) {
        let last = self.bus.share(now, ready, work, class);
        debug_assert!(last >= ready + work, "data must have crossed whole");
        (Instant::from_nanos(last.nanos().saturating_sub(work.get())).max(ready), last)
    }

    /// `bytes` across the internal bus while they arrive from outside, the last at `ready`; when it has crossed.
    pub fn take_in(&mut self, now: Instant, ready: Instant, bytes: u64, class: Class) -> Instant {
        let work = self.crossing(bytes);
        let tail = if bytes > BURST { self.crossing(BURST) } else { work };
        let first = Instant::from_nanos(ready.nanos().saturating_sub(work.get()));
        self.bus.stream(now, first, ready, work, tail, class)
    }

    /// How long `bytes` hold the internal bus.
    pub fn crossing(&self, bytes: u64) -> Nanos {
        self.params.bus.map_or(Nanos::ZERO, |rate| rate.time_for(Bytes::new(bytes)))
    }

    /// How long the arithmetic of a stripe takes. A weighted sum costs as much again as the plain one.
    pub fn arithmetic(&self, arithmetic: Arithmetic) -> Nanos {
        let bytes = arithmetic.xor + arithmetic.weighted * 2;
        self.params.xor.map_or(Nanos::ZERO, |rate| rate.time_for(bytes))
    }
}
