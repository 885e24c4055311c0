//! A plain queue: servers and a service time, for tests against closed forms and for parts known only so.

use units::convert::truncated;
use units::{Instant, Nanos};

use crate::device::Command;
use crate::meter::Meter;
use crate::server::Servers;
use crate::streams::Stream;

/// The figures of a plain queue.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct QueueParams {
    /// Servers that share one queue in order of arrival. At least 1.
    pub servers: u32,
    /// How long a server takes.
    pub service: Service,
}

/// How long a server takes for a request.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Service {
    /// Always the same: M/D/c under Poisson arrivals.
    Fixed(Nanos),
    /// Exponentially distributed with that mean: M/M/c under Poisson arrivals.
    Exponential(Nanos),
}

/// A plain queue at work.
#[derive(Clone, Debug)]
pub struct Queue {
    servers: Servers,
    service: Service,
    draws: Stream,
    meter: Meter,
    /// How long a server takes for the last command.
    alone: Nanos,
}

impl Queue {
    /// An idle queue; its service times come from `seed`.
    pub fn new(params: &QueueParams, seed: u64) -> Queue {
        Queue {
            servers: Servers::new(params.servers),
            service: params.service,
            draws: Stream::open(seed, "queue/service"),
            meter: Meter::default(),
            alone: Nanos::ZERO,
        }
    }

    /// Takes a command and returns when it ends: order of arrival makes that known at once.
    pub fn submit(&mut self, now: Instant, command: Command) -> Instant {
        let service = match self.service {
            Service::Fixed(time) => time,
            Service::Exponential(mean) => {
                Nanos::new(truncated(self.draws.exponential(mean.get() as f64).round()))
            }
        };
        let (started, ended) = self.servers.occupy(now.max(command.ready), service);
        self.meter.visit(now, now, started, ended, command.class);
        self.alone = service;
        ended
    }

    /// How long a server takes for the last command.
    pub fn alone(&self) -> Nanos {
        self.alone
    }

    /// How many commands it serves at once; at least 1.
    pub fn servers(&self) -> u32 {
        self.servers.count()
    }

    /// Its past.
    pub fn meter(&mut self) -> &mut Meter {
        &mut self.meter
    }
}
