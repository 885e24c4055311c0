//! Periods in which the control groups of this process had used up their processor time.
//!
//! Source: `Documentation/admin-guide/cgroup-v2.rst` (`cpu.max`, `cpu.stat`) and `Documentation/scheduler/sched-bwc.rst`.

use std::path::PathBuf;

use units::Instant;

use super::series::{Last, Sampler, Sink, Slot, grown};
use crate::environment::cgroup::with_quota;
use crate::sysroot::{SysRoot, text};

/// The groups that have a quota.
pub(super) struct Quota {
    slot: Slot,
    groups: Vec<Group>,
}

struct Group {
    stat: PathBuf,
    last: Last<Periods>,
}

/// Since the group was made.
#[derive(Clone, Copy)]
struct Periods {
    /// Those in which the group had something to do.
    all: u64,
    /// Those of them in which it was stopped until the next one began.
    throttled: u64,
}

impl Quota {
    /// `None` where no group of this process has a quota, and nothing can be missed.
    pub(super) fn start(root: &SysRoot, out: &mut Sink) -> Option<Quota> {
        let stat = |folder: PathBuf| folder.join("cpu.stat");
        let groups: Vec<Group> =
            with_quota(root).map(|(folder, _)| Group { stat: stat(folder), last: Last::default() }).collect();
        let source = groups.first()?.stat.display().to_string();
        Some(Quota { slot: out.open("cpu.quota_throttled", "share", &source), groups })
    }
}

impl Sampler for Quota {
    /// The share of the periods of the group that was stopped most.
    fn sample(&mut self, now: Instant, out: &mut Sink) {
        let shares = self.groups.iter_mut().filter_map(|group| {
            let after = text(&group.stat).and_then(|text| periods(&text))?;
            let (before, _) = group.last.replace(now, after)?;
            let all = grown(before.all, after.all);
            (all > 0.0).then(|| (grown(before.throttled, after.throttled) / all).min(1.0))
        });
        if let Some(most) = shares.reduce(f64::max) {
            out.push(self.slot, now, most);
        }
    }
}

/// `nr_periods 120` and `nr_throttled 30`, in lines of their own among others.
fn periods(text: &str) -> Option<Periods> {
    let line = |key: &str| {
        let value = text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(' '));
        value?.trim().parse().ok()
    };
    Some(Periods { all: line("nr_periods")?, throttled: line("nr_throttled")? })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Fixture;

    #[test]
    fn the_group_that_was_stopped_most_is_told() {
        let machine = Fixture::new();
        machine.write("proc/self/cgroup", "0::/batch/job\n");
        machine.write("sys/fs/cgroup/batch/job/cpu.max", "50000 100000\n");
        machine.write("sys/fs/cgroup/batch/cpu.max", "150000 100000\n");
        let write = |group: &str, all: u64, throttled: u64| {
            let text =
                format!("usage_usec 5\nnr_periods {all}\nnr_throttled {throttled}\nthrottled_usec 9\n");
            machine.write(&format!("sys/fs/cgroup/{group}/cpu.stat"), &text);
        };
        write("batch/job", 100, 50);
        write("batch", 100, 0);
        let mut out = Sink::default();
        let mut quota = Quota::start(&machine.root(), &mut out).expect("two groups have a quota");
        quota.sample(Instant::START, &mut out);
        write("batch/job", 110, 58);
        write("batch", 110, 1);
        quota.sample(Instant::from_nanos(1_000_000_000), &mut out);
        assert_eq!(out.last("cpu.quota_throttled"), Some(0.8));
    }

    #[test]
    fn without_a_quota_there_is_nothing_to_watch() {
        let machine = Fixture::new();
        machine.write("proc/self/cgroup", "0::/batch\n");
        machine.write("sys/fs/cgroup/batch/cpu.max", "max 100000\n");
        let mut out = Sink::default();
        assert!(Quota::start(&machine.root(), &mut out).is_none());
        assert!(out.series.is_empty() && out.absent.is_empty());
    }
}
