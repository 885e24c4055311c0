//! What jobs that run together share of their times, and what each of them says itself.

use units::{Bytes, Nanos};

use crate::plan::Value;

use super::arrange::Reported;
use super::draw::drawn_within;
use super::job::Job;
use super::member::Member;

/// What the jobs of a phase share of their times. What they do not share each of them says itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Times {
    /// Before any of them.
    pub pause_ns: u64,
    /// Of all of them.
    pub run_ns: Option<u64>,
    /// Of all of them.
    pub ramp_ns: u64,
    /// Whether run and ramp are shared.
    is_one: bool,
    /// Whether the pause is.
    is_one_start: bool,
}

impl Times {
    pub(super) fn of(jobs: &[Job], phase: &[usize]) -> Times {
        assert!(!phase.is_empty(), "jobs that run together are some");
        let lengths = || phase.iter().map(|index| jobs[*index].length);
        let first = jobs[phase[0]].length;
        let is_one = lengths().all(|length| (length.run_ns, length.ramp_ns) == (first.run_ns, first.ramp_ns));
        let starts = || lengths().flat_map(|length| [length.delay_ns, length.delay_most_ns]);
        let is_one_start = starts().all(|delay| delay == first.delay_ns);
        Times {
            pause_ns: if is_one_start { first.delay_ns } else { 0 },
            run_ns: first.run_ns.filter(|_| is_one),
            ramp_ns: if is_one { first.ramp_ns } else { 0 },
            is_one,
            is_one_start,
        }
    }

    /// Lets each of `members` say what they do not share. A clone draws its delay from the seed and its own name.
    pub(super) fn tell(self, jobs: &[Job], members: &mut [Member], seed: u64) {
        for member in members {
            let length = jobs[member.job].length;
            if !self.is_one {
                member.keys.extend(length.run_ns.map(|run| ("run", time(run))));
                if length.ramp_ns > 0 {
                    member.keys.push(("warmup", time(length.ramp_ns)));
                }
            }
            let delay = drawn_within(seed, &member.name, length.delay_ns, length.delay_most_ns);
            if !self.is_one_start && delay > 0 {
                member.keys.push(("start", time(delay)));
            }
        }
    }
}

/// Lets each of `members` say its part of a ramp by bytes: what is reported together has one, shared by workers.
pub(super) fn tell_ramps(jobs: &[Job], members: &mut [Member], reported: &[Reported]) {
    let workers = |member: &Member| {
        let own = member.keys.iter().find(|(key, _)| *key == "workers");
        own.and_then(|(_, count)| count.parse().ok()).unwrap_or(1_u64)
    };
    for entry in reported {
        let is_of = |member: &&mut Member| entry.workloads.contains(&member.name);
        let all: u64 = members.iter_mut().filter(is_of).map(|member| workers(member)).sum();
        for member in members.iter_mut().filter(is_of) {
            let Some(bytes) = jobs[member.job].length.ramp_bytes else { continue };
            debug_assert!(workers(member) <= all, "workers of one are among those of all");
            let part = u128::from(bytes) * u128::from(workers(member)) / u128::from(all);
            let part = u64::try_from(part).unwrap_or(u64::MAX).max(1);
            member.keys.push(("warmup_bytes", Bytes::new(part).toml()));
        }
    }
}

/// A time as TOML.
fn time(ns: u64) -> String {
    Nanos::new(ns).toml()
}
