//! What each host does while a load runs.

use conduct::{HostLive, Live, Rank, Recent};
use units::convert::narrow;
use units::{Instant, Nanos};
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
                let counted = Instant::default();
                hosts.rows.push(HostLive { host, workers: 0, progress, counted, responses: None });
                hosts.recent.push(Recent::default());
            }
            let drives = Rank::new(narrow((rank + shift) % names.len()), narrow(names.len()), false);
            let workers = load.workloads.iter().map(|workload| drives.share(workload.workers).len());
            hosts.rows[at].workers += narrow::<u32>(workers.sum::<usize>());
            hosts.of.push(at);
        }
        assert_eq!(
            hosts.rows.iter().map(|row| row.workers).sum::<u32>(),
            load.workloads.iter().map(|workload| workload.workers).sum::<u32>(),
            "each worker is on one host"
        );
        hosts
    }

    /// Workers of `rank` have closed these.
    pub(crate) fn take(&mut self, rank: usize, intervals: &[Interval]) {
        self.recent[self.of[rank]].take(intervals);
    }

    /// All hosts as they are `now`; `progress` is that of each rank. Nothing where there is one: it is the whole.
    pub(crate) fn now(&mut self, progress: &[(usize, SoFar)], now: Instant) -> &[HostLive] {
        if self.rows.len() < 2 {
            return &[];
        }
        for (row, recent) in self.rows.iter_mut().zip(&self.recent) {
            row.responses = recent.responses(now);
        }
        for (at, row) in self.rows.iter_mut().enumerate() {
            let own = progress.iter().filter(|(rank, _)| self.of[*rank] == at).map(|(_, so_far)| *so_far);
            (row.counted, row.progress) = together(own, now);
        }
        &self.rows
    }

    /// A glance at the load of rank 0 as one at the whole.
    pub(crate) fn whole<'a>(&'a mut self, seen: Live<'a>, others: Vec<(usize, SoFar)>) -> Live<'a> {
        self.take(0, seen.fresh);
        let all = [others, vec![(0, (seen.now, seen.progress))]].concat();
        let (counted, progress) = together(all.iter().map(|(_, so_far)| *so_far), seen.now);
        // Of what the hosts show, so that it lies among theirs: their seconds end at different times.
        let responses = Recent::together(self.recent.iter(), seen.now);
        // Of the others' requests no point so far can tell.
        let hosts = self.now(&all, seen.now);
        Live { progress, counted, responses, heard: &[], fresh: &[], hosts, ..seen }
    }
}

/// What one rank has done, and until when that is counted, on the clock of rank 0.
pub(crate) type SoFar = (Instant, Progress);

/// What ranks have done together, and until when that is counted: what one tells is some tenths of a second old as it comes. An
/// instant weighs as much as what was done until then, so that a rate over the time between two glances is the sum of the rates.
fn together(all: impl Iterator<Item = SoFar>, now: Instant) -> SoFar {
    let (mut sum, mut weighted, mut weight) = (Progress::default(), 0.0, 0.0);
    for (counted, progress) in all {
        let old = now.saturating_since(counted).as_secs_f64();
        (weighted, weight) = (weighted + progress.ops as f64 * old, weight + progress.ops as f64);
        sum = [sum, progress].into_iter().sum();
    }
    let old = Nanos::from_secs_f64(if weight > 0.0 { weighted / weight } else { 0.0 });
    (Instant::START.saturating_add(now.saturating_since(Instant::START).saturating_sub(old)), sum)
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
        let now = Instant::from_nanos(0);
        let all: Vec<_> = (0..3).zip([1, 10, 100]).map(|(rank, ops)| (rank, (now, done(ops)))).collect();
        let rows = hosts.now(&all, now);
        let told: Vec<(&str, u32, u64)> =
            rows.iter().map(|row| (row.host.as_str(), row.workers, row.progress.ops)).collect();
        assert_eq!(told, [("a", 3, 11), ("b", 1, 100)]);
        assert_eq!(Hosts::of(&names, &load, 1).rows[1].workers, 2, "b drives what rank 0 would");
        assert!(Hosts::of(&names[..2], &load, 0).now(&[], Instant::from_nanos(0)).is_empty());
    }

    #[test]
    fn the_rate_of_a_host_is_over_the_time_until_which_it_has_counted() {
        let names = ["a", "b"].map(str::to_owned);
        let workloads = vec![Workload { workers: 2, ..Workload::plain("w") }];
        let load = Load { workloads, headlines: Vec::new(), until: None };
        let mut hosts = Hosts::of(&names, &load, 0);
        let at = |millis| Instant::START.saturating_add(Nanos::from_millis(millis));
        let done = |ops| Progress { ops, ..Progress::default() };
        // 200 a second each; what b tells is 250 ms old.
        let seen = Live { progress: done(200), ..Live::beside(at(0), at(1000), "load") };
        let whole = hosts.whole(seen, vec![(1, (at(750), done(150)))]);
        let per_s = |ops: u64, counted: Instant| ops as f64 / counted.saturating_since(at(0)).as_secs_f64();
        let rates: Vec<f64> = whole.hosts.iter().map(|row| per_s(row.progress.ops, row.counted)).collect();
        assert_eq!(rates, [200.0, 200.0]);
        let all = per_s(whole.progress.ops, whole.counted);
        assert!((all - 400.0).abs() < 10.0, "the two together: {all}");
    }
}
