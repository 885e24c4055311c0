//! A plain queue: servers and a service time, for tests against closed forms and for parts known only so.

use units::Nanos;

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
