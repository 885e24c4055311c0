//! Queues whose answers are known in closed form or from very long runs, made request by request.
//!
//! **Invariant:** the same queue, seed and duration give the same requests.
//!
//! Source of the recursion: Lindley, *The theory of queues with a single server*, Mathematical Proceedings of the
//! Cambridge Philosophical Society 48 (1952).

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fmt;

use units::Nanos;
use units::convert::truncated;

use crate::Histogram;
use crate::dependent::Stretch;
use crate::draws::Draws;

/// A server with one line of waiting requests, first come first served.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Queue {
    /// Poisson arrivals, exponential service; this part of the time busy.
    Open(f64),
    /// Poisson arrivals, constant service.
    OpenConstant(f64),
    /// So many users, each thinking so many mean services long between its requests; exponential both.
    Thinking(u32, f64),
    /// So many requests always in flight, exponential service.
    Closed(u32),
}

impl fmt::Display for Queue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Queue::Open(busy) => write!(f, "M/M/1 at {:.0} %", busy * 100.0),
            Queue::OpenConstant(busy) => write!(f, "M/D/1 at {:.0} %", busy * 100.0),
            Queue::Thinking(users, think) => {
                write!(f, "closed loop of {users} users thinking {think:.0} services")
            }
            Queue::Closed(depth) => write!(f, "closed loop of depth {depth}"),
        }
    }
}

impl Queue {
    /// Calls `ended` with the end and the response time of each request of a window of `seconds`, both in seconds, in
    /// the order of their ends. The queue has forgotten how it began.
    pub fn run(self, service_s: f64, seconds: f64, seed: u64, mut ended: impl FnMut(f64, f64)) {
        let mut draws = Draws(seed.wrapping_mul(0x2545_F491_4F6C_DD1D) ^ 0x5EED);
        let mut free = 0.0f64;
        let mut serve = |free: &mut f64, from: f64, at: f64, draws: &mut Draws| {
            let service = match self {
                Queue::OpenConstant(_) => service_s,
                _ => draws.exponential(service_s),
            };
            *free = free.max(at) + service;
            let until = from + seconds;
            if (from..until).contains(free) {
                ended(*free - from, *free - at);
            }
            *free < until
        };
        match self {
            Queue::Open(busy) | Queue::OpenConstant(busy) => {
                // Some ten times what such a queue takes to forget.
                let from = 10.0 * service_s / (1.0 - busy).powi(2);
                let mut at = 0.0;
                while serve(&mut free, from, at, &mut draws) {
                    at += draws.exponential(service_s / busy);
                }
            }
            Queue::Thinking(users, think) => {
                let from = 50.0 * service_s * f64::from(users);
                let nanos = |at: f64| Reverse(truncated::<u64>(at * 1e9));
                let mut ready: BinaryHeap<Reverse<u64>> =
                    (0..users).map(|_| nanos(draws.exponential(think * service_s))).collect();
                while let Some(Reverse(at)) = ready.pop() {
                    if !serve(&mut free, from, at as f64 / 1e9, &mut draws) {
                        break;
                    }
                    ready.push(nanos(free + draws.exponential(think * service_s)));
                }
            }
            Queue::Closed(depth) => {
                let from = 50.0 * service_s * f64::from(depth);
                let mut sent = vec![0.0; depth.max(1) as usize];
                for slot in (0..sent.len()).cycle() {
                    if !serve(&mut free, from, sent[slot], &mut draws) {
                        break;
                    }
                    sent[slot] = free;
                }
            }
        }
    }

    /// The same as whole seconds, the last first request included: what a record is made of.
    pub fn seconds(self, service_s: f64, seconds: u32, seed: u64) -> Vec<Stretch> {
        let mut all: Vec<Histogram> = (0..seconds).map(|_| Histogram::new()).collect();
        self.run(service_s, f64::from(seconds), seed, |at, response| {
            all[truncated::<usize>(at)].record(Nanos::new(truncated(response * 1e9)));
        });
        all.iter().map(|second| Stretch::of(second.buckets())).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_queue_is_named_by_how_busy_it_is() {
        let names = [Queue::Open(0.8), Queue::OpenConstant(0.5), Queue::Thinking(32, 33.7), Queue::Closed(8)]
            .map(|queue| queue.to_string());
        let wanted = [
            "M/M/1 at 80 %",
            "M/D/1 at 50 %",
            "closed loop of 32 users thinking 34 services",
            "closed loop of depth 8",
        ];
        assert_eq!(names, wanted);
    }

    #[test]
    fn whole_seconds_hold_the_times_of_the_requests_that_ended_in_them() {
        let (mut count, mut sum) = (0u32, 0.0);
        Queue::Closed(4).run(0.001, 3.0, 5, |_, response| (count, sum) = (count + 1, sum + response));
        let all = crate::dependent::Stretches::of(&Queue::Closed(4).seconds(0.001, 3, 5));
        let mean = all.mean_ns().expect("it did something");
        assert!((mean / (sum / f64::from(count) * 1e9) - 1.0).abs() < 1e-3, "{mean}");
    }
}
