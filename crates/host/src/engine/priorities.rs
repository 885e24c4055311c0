//! Which requests have an I/O priority of their own.
//!
//! **Invariant:** which they are depends on seed, workload and worker alone.

use rand_core::Rng;
use workload::spec::PriorityRule;
use workload::{JobSpec, Request, Stream, Streams};

/// Draws for each request whether one of the rules holds.
#[derive(Debug, Default)]
pub struct Priorities {
    rules: Vec<PriorityRule>,
    stream: Option<Stream>,
}

impl Priorities {
    /// The rules of a worker.
    pub fn new(rules: &[PriorityRule], job: &JobSpec) -> Priorities {
        let name = format!("priority/{}/{}", job.name, job.worker.index);
        Priorities { rules: rules.to_vec(), stream: Some(Streams::new(job.seed).open(&name)) }
    }

    /// What the kernel takes as the priority of `request`; 0 is what its thread has.
    #[inline]
    pub(super) fn of(&mut self, request: &Request) -> u16 {
        match &mut self.stream {
            Some(stream) if !self.rules.is_empty() => drawn(&self.rules, stream, request),
            _ => 0,
        }
    }
}

fn drawn(rules: &[PriorityRule], stream: &mut Stream, request: &Request) -> u16 {
    let mut left = (stream.next_u64() >> 11) as f64 / (1u64 << 53) as f64;
    for rule in rules.iter().filter(|rule| rule.is_for(request.op, request.len)) {
        if left < rule.share.get() {
            return rule.priority.bits();
        }
        left -= rule.share.get();
    }
    0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::fixture::request;
    use workload::Op;

    #[test]
    fn parts_of_the_requests_have_their_priorities() {
        let rules: workload::spec::Priorities = "20% of reads rt/1, 50% of reads idle".parse().unwrap();
        let mut stream = Streams::new(1).open("test");
        let mut counts = [0u32; 3];
        for _ in 0..100_000 {
            match drawn(&rules.0, &mut stream, &request(Op::Read, 0)) {
                0x2001 => counts[0] += 1,
                0x6000 => counts[1] += 1,
                other => counts[2] += u32::from(other == 0),
            }
        }
        // Five standard deviations of a binomial with n = 100,000 are at most 791.
        for (count, expected) in counts.iter().zip([20_000, 50_000, 30_000]) {
            assert!(count.abs_diff(expected) < 791, "{counts:?}");
        }
        assert_eq!(drawn(&rules.0, &mut stream, &request(Op::Write, 0)), 0);
    }
}
