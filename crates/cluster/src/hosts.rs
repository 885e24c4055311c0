//! What each host does while a load runs.

use conduct::{HostLive, Live, Rank, Recent};
use units::Instant;
use units::convert::narrow;
use workload::Progress;
use workload::plan::Load;
use workload::tally::Interval;

/// The hosts of a load, in order of their first ranks.
pub(crate) struct Hosts {
    rows: Vec<HostLive>,
    recent: Vec<Recent>,
    /// By rank: which of them it is on.
    of: Vec<usize>,
}

impl Hosts {
    /// Those that ranks are on, whose names are given in the order of the ranks; each rank drives the share of `load` of the one
    /// that is `shift` further on.
    pub(crate) fn of(names: &[String], load: &Load, shift: usize) -> Hosts {
        let mut hosts = Hosts { rows: Vec::new(), recent: Vec::new(), of: Vec::new() };
        for (rank, host) in names.iter().enumerate() {
            let at = hosts.rows.iter().position(|row| row.host == *host).unwrap_or(hosts.rows.len());
            if at == hosts.rows.len() {
                let (host, progress) = (host.clone(), Progress::default());
                hosts.rows.push(HostLive { host, workers: 0, progress, responses: None });
                hosts.recent.push(Recent::default());
            }
            let drives = Rank::new(narrow((rank + shift) % names.len()), narrow(names.len()), false);
            let workers = load.workloads.iter().map(|workload| drives.share(workload.workers).len());
            hosts.rows[at].workers += narrow::<u32>(workers.sum::<usize>());
            hosts.of.push(at);
        }
        hosts
    }

    /// Workers of `rank` have closed these.
    pub(crate) fn take(&mut self, rank: usize, intervals: &[Interval]) {
        self.recent[self.of[rank]].take(intervals);
    }

    /// All hosts as they are `now`; `progress` is that of each rank. Nothing where there is one: it is the whole.
    pub(crate) fn now(
        &mut self,
        progress: impl Iterator<Item = (usize, Progress)>,
        now: Instant,
    ) -> &[HostLive] {
        if self.rows.len() < 2 {
            return &[];
        }
        for (row, recent) in self.rows.iter_mut().zip(&self.recent) {
            (row.progress, row.responses) = (Progress::default(), recent.responses(now));
        }
        for (rank, of) in progress {
            let row = &mut self.rows[self.of[rank]];
            row.progress = [row.progress, of].into_iter().sum();
        }
        &self.rows
    }

    /// A glance at the load of rank 0 as one at the whole.
    pub(crate) fn whole<'a>(&'a mut self, seen: Live<'a>, others: Vec<(usize, Progress)>) -> Live<'a> {
        self.take(0, seen.fresh);
        let all = || others.iter().copied().chain([(0, seen.progress)]);
        let progress = all().map(|(_, progress)| progress).sum();
        // Of what the hosts show, so that it lies among theirs: their seconds end at different times.
        let responses = Recent::together(self.recent.iter(), seen.now);
        // Of the others' requests no point so far can tell.
        Live { progress, responses, heard: &[], fresh: &[], hosts: self.now(all(), seen.now), ..seen }
    }
}

#[cfg(test)]
mod tests {
    use workload::spec::Workload;

    use super::*;

    #[test]
    fn hosts_have_the_workers_and_requests_of_their_ranks() {
        let names = ["a", "a", "b"].map(str::to_owned);
        let workloads = vec![Workload { workers: 4, ..Workload::plain("w") }];
        let load = Load { workloads, headlines: Vec::new(), until: None };
        let mut hosts = Hosts::of(&names, &load, 0);
        let done = |ops| Progress { ops, ..Progress::default() };
        let rows =
            hosts.now((0..3).zip([1, 10, 100]).map(|(rank, ops)| (rank, done(ops))), Instant::from_nanos(0));
        let told: Vec<(&str, u32, u64)> =
            rows.iter().map(|row| (row.host.as_str(), row.workers, row.progress.ops)).collect();
        assert_eq!(told, [("a", 3, 11), ("b", 1, 100)]);
        assert_eq!(Hosts::of(&names, &load, 1).rows[1].workers, 2, "b drives what rank 0 would");
        assert!(Hosts::of(&names[..2], &load, 0).now([].into_iter(), Instant::from_nanos(0)).is_empty());
    }
}
