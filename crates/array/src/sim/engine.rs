//! The working parts of one controller: processors, bus, XOR engine.

use units::{Bytes, Instant, Nanos};

use crate::controller::ControllerParams;
use crate::meter::Class;
use crate::raid::Arithmetic;
use crate::station::Station;

/// The working parts of one controller.
#[derive(Clone, Debug)]
pub struct Engine {
    /// Its processors.
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

    /// Processing of a host command that carries `bytes`; when it ends.
    pub fn host_command(&mut self, now: Instant, write: bool, bytes: u64, class: Class) -> Instant {
        let command = if write { self.params.write_command } else { self.params.read_command };
        let copy = self.params.copy.map_or(Nanos::ZERO, |rate| rate.time_for(Bytes::new(bytes)));
        self.processor.book(now, now, command + copy, class)
    }

    /// Processing of a member command; when it ends.
    pub fn member_command(&mut self, now: Instant, ready: Instant, class: Class) -> Instant {
        self.processor.book(now, ready, self.params.member_command, class)
    }

    /// `bytes` across the internal bus; when they have crossed.
    pub fn cross(&mut self, now: Instant, ready: Instant, bytes: u64, class: Class) -> Instant {
        let work = self.params.bus.map_or(Nanos::ZERO, |rate| rate.time_for(Bytes::new(bytes)));
        self.bus.share(now, ready, work, class)
    }

    /// How long the arithmetic of a stripe takes. A weighted sum costs as much again as the plain one.
    pub fn arithmetic(&self, arithmetic: Arithmetic) -> Nanos {
        let bytes = arithmetic.xor + arithmetic.weighted * 2;
        self.params.xor.map_or(Nanos::ZERO, |rate| rate.time_for(bytes))
    }
}
