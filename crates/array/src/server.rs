//! Servers that share one queue in order of arrival.
//!
//! **Invariant:** the end of a visit is known at its arrival, so a visit costs no event of its own; callers must
//! arrive in order of time.

use units::convert::narrow;
use units::{Instant, Nanos};

/// Alike servers with one queue, served in order of arrival.
#[derive(Clone, Debug)]
pub struct Servers {
    free_at: Vec<Instant>,
}

impl Servers {
    /// `count` idle servers, at least one.
    pub fn new(count: u32) -> Servers {
        Servers { free_at: vec![Instant::START; count.max(1) as usize] }
    }

    /// Has the server that is free first work for `service` from `now` or when it is free; start and end.
    pub fn occupy(&mut self, now: Instant, service: Nanos) -> (Instant, Instant) {
        let server = self.free_at.iter_mut().min().expect("there is at least one server");
        let started = now.max(*server);
        *server = started + service;
        (started, *server)
    }

    /// How many there are.
    pub fn count(&self) -> u32 {
        narrow::<u32>(self.free_at.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_third_request_at_two_servers_waits_for_the_first_to_end() {
        let mut servers = Servers::new(2);
        let at = Instant::from_nanos;
        assert_eq!(servers.occupy(at(0), Nanos::new(10)), (at(0), at(10)));
        assert_eq!(servers.occupy(at(1), Nanos::new(20)), (at(1), at(21)));
        assert_eq!(servers.occupy(at(2), Nanos::new(5)), (at(10), at(15)));
    }
}
