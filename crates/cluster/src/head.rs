//! Rank 0: a world that drives its share of each load itself, has the other ranks drive theirs, and merges what comes back.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use conduct::listener::Listener;
use conduct::{Live, MeasuredLoad, MeasuredState, Rank, World, WorldError};
use record::{Environment, RankClock, RankResult, Target};
use units::Instant;
use units::convert::narrow;
use workload::Progress;
use workload::plan::{Load, Plan, Point, Settle, State, Task};

use crate::clock::{ClockWatch, is_enough};
use crate::error::{ClusterError, Refused};
use crate::gate::HeadGate;
use crate::greeting::greeted;
use crate::heard::{Heard, Orders, Shared, WAIT, locked};
use crate::hosts::Hosts;
use crate::lengths::same_addresses;
use crate::link::Link;
use crate::merge::{add, counted, driven_by, in_order, ways};
use crate::message::{Hello, Message, WhichLoad};
use crate::wire::{Unknown, WireWrote, wrote_in, wrote_out};

/// Why a state is not brought about.
const OF_ALL: &str = "a state is that of a target that all ranks share; leave `--file-per-rank` out";

/// Rank 0 of a plan.
pub struct Head {
    world: Box<dyn World>,
    link: Arc<Link>,
    plan: Plan,
    has_own_files: bool,
    hellos: Vec<Hello>,
    shared: Arc<Mutex<Shared>>,
    /// Ends the load of `world`.
    stop: Arc<AtomicBool>,
    round: u64,
    /// How many ranks on from each is the one whose share it drives in this round.
    shift: usize,
    /// What the others wrote in the last round.
    wrote: Vec<(u32, WireWrote)>,
}

impl Head {
    /// Greets all ranks and has them take part in `plan`, each with its share, in `world` and in worlds of their own.
    ///
    /// Within ten seconds all have answered, or it fails: because one is silent, is of another version, has another plan,
    /// or cannot take part. Then all have been told.
    pub fn open(
        mut world: Box<dyn World>,
        link: Arc<Link>,
        plan: &Plan,
        hello: &Hello,
        has_own_files: bool,
        stop: Arc<AtomicBool>,
    ) -> Result<Head, Refused> {
        let size = link.size();
        assert_eq!(link.rank(), 0, "a plan has one head");
        let is_of_all = |task: &Task| matches!(task, Task::State(state) if !matches!(state, State::Idle(_)));
        if has_own_files && plan.points().iter().any(|point| is_of_all(&point.task)) {
            let why = Refused { code: 2, why: OF_ALL.into() };
            refuse(&link, &why);
            return Err(why);
        }
        let shared =
            Arc::new(Mutex::new(Shared { clocks: vec![ClockWatch::default(); size], ..Shared::default() }));
        let gate = Box::new(HeadGate { link: link.clone(), shared: shared.clone() });
        let rank = Rank::new(0, narrow(size), has_own_files);
        let joined = world.join(plan, rank, gate);
        let joined = joined.map_err(|error| Refused { code: error.exit_code(), why: error.to_string() });
        let greeted = joined.and_then(|()| greeted(&link, hello));
        let fitting = greeted.and_then(|hellos| same_addresses(plan, &hellos).map(|()| hellos));
        let fitting = fitting.and_then(|hellos| match has_own_files {
            true => check_unique_dirs(plan, &hellos).map(|()| hellos),
            false => Ok(hellos),
        });
        let hellos = fitting.inspect_err(|why| refuse(&link, why))?;
        assert_eq!(hellos.len(), size, "each rank has said what it is, and none twice");
        let plan = plan.clone();
        Ok(Head {
            world,
            link,
            plan,
            has_own_files,
            hellos,
            shared,
            stop,
            round: 0,
            shift: 0,
            wrote: Vec::new(),
        })
    }

    /// On how many hosts the ranks are.
    pub fn hosts(&self) -> u32 {
        narrow(self.hellos.iter().map(|hello| hello.host.as_str()).collect::<BTreeSet<_>>().len())
    }

    /// Asks each clock what it shows.
    fn ask_clocks(&mut self) {
        let now = || self.world.now();
        let mut shared = locked(&self.shared);
        for rank in self.link.others().collect::<Vec<_>>() {
            let mut samples = Vec::new();
            while !is_enough(&samples) {
                self.link.expect();
                self.link.send(rank, &Message::Ask { sent_ns: now().nanos() });
                // One that does not answer is noticed by its silence.
                for _ in 0..20 {
                    shared.listen(&self.link, WAIT, &now);
                    if !shared.heard.told.is_empty() {
                        break;
                    }
                }
                let told = std::mem::take(&mut shared.heard.told);
                if told.is_empty() {
                    break;
                }
                samples.extend(told.into_iter().filter(|(from, _)| *from == rank).map(|(_, sample)| sample));
            }
            shared.clocks[rank].add(&samples);
        }
    }

    /// Starts a round, in which the other ranks drive their shares of `load`.
    fn begin_round(&mut self, load: &Load) {
        self.round += 1;
        let is_load = |task: &Task| matches!(task, Task::Load(own) if own == load);
        let at = self.plan.points().iter().position(|point| is_load(&point.task));
        let shift = self.shift(load);
        let load = at.map_or_else(|| WhichLoad::Workloads(load.workloads.clone()), WhichLoad::Point);
        let others = std::mem::take(&mut self.wrote);
        let own = (0, wrote_out(&self.world.wrote()));
        let load = Orders { load, shift, wrote: others.iter().cloned().chain([own]).collect() };
        self.world.others_wrote(others.into_iter().map(|(rank, wrote)| (rank, wrote_in(wrote))).collect());
        self.world.drive_for(narrow(shift));
        self.shift = shift;
        let ready = vec![false; self.link.size()];
        assert!(
            self.round > locked(&self.shared).heard.round,
            "news of an older load would be taken for that of this"
        );
        locked(&self.shared).heard = Heard { round: self.round, load: Some(load), ready, ..Heard::default() };
    }

    /// How many ranks on from each is the one whose share of `load` it drives: as many hosts on as the load asks for. None on
    /// one host, where ranks have files of their own, or where workers are fewer than ranks, and so some rank has none.
    fn shift(&self, load: &Load) -> usize {
        let size = self.link.size();
        let hosts_on = load.workloads.iter().filter_map(|workload| workload.hosts_on).max().unwrap_or(0);
        let fewest = load.workloads.iter().map(|workload| workload.workers).min().unwrap_or(0);
        if hosts_on == 0 || self.has_own_files || (fewest as usize) < size {
            return 0;
        }
        let first = &self.hellos[0].host;
        // Ranks that go host by host have as many of them to the next as the first host has, others one.
        let to_next = match self.hellos.get(1).is_some_and(|second| second.host == *first) {
            true => self.hellos.iter().filter(|hello| hello.host == *first).count(),
            false => 1,
        };
        (hosts_on as usize * to_next) % size
    }

    /// Waits until all that still live have told what their loads saw.
    fn gather(&self) {
        let mut is_told = false;
        loop {
            let mut shared = locked(&self.shared);
            shared.listen(&self.link, WAIT, &|| self.world.now());
            if self.link.others().all(|rank| shared.heard.seen.contains_key(&rank)) {
                return;
            }
            if !is_told && (shared.lost.is_some() || self.world.is_stopped()) {
                self.link.send_all(&Message::Stop { round: self.round });
                is_told = true;
            }
        }
    }

    /// Merges what the other ranks saw into `own`.
    fn merged(&mut self, load: &Load, mut own: MeasuredLoad, was_told_to_stop: bool) -> MeasuredLoad {
        let mut shared = locked(&self.shared);
        let (workers, ops, bytes) = counted(&own);
        driven_by(&mut own, 0);
        let host = |rank: usize| self.hellos[rank].host.clone();
        let of_workloads: Vec<_> =
            own.workloads.iter().map(|workload| (workload.workers.as_slice(), &workload.history)).collect();
        let ways = ways(&of_workloads);
        let introduced = self.introduced(0);
        own.ranks = vec![RankResult {
            workers,
            ops,
            bytes,
            ended_ns: Some(own.ended.nanos()),
            late_ns: 0,
            cpu: own.cpu,
            rank: introduced.rank,
            host: introduced.host,
            processors: introduced.processors,
            targets: introduced.targets,
            ..ways
        }];
        for rank in 1..self.link.size() {
            let clock = self.clock_of(rank, &shared.clocks[rank]);
            let seen = shared.heard.seen.remove(&rank);
            let told = shared.heard.intervals.remove(&rank).unwrap_or_default();
            let heard = shared.heard.progress.get(&rank).copied();
            let result = match seen {
                Some(Ok(mut seen)) => {
                    self.wrote.push((narrow(rank), std::mem::take(&mut seen.wrote)));
                    // Whoever has started the ranks ends them all once one of those that watch over them has gone. Where that of
                    // rank 0 has gone as well, nobody knows which was the first.
                    let bereft = seen.bereft && !self.link.is_bereft();
                    if !seen.complete && (bereft || !was_told_to_stop) {
                        let why = match bereft {
                            true => {
                                "the process that watches over it was killed; what it measured until then is in the figures"
                            }
                            false => "it was interrupted",
                        };
                        let why = why.into();
                        shared.lost.get_or_insert(ClusterError::Ended { rank, host: host(rank), why });
                    }
                    let added = add(&mut own, *seen, told);
                    driven_by(&mut own, narrow(rank));
                    added.map_err(|Unknown| "what it sent cannot be read".to_owned())
                }
                Some(Err(why)) => Err(why.why),
                None => Err("it showed no sign of life, and its part is not in the figures".into()),
            };
            own.ranks.push(match result {
                Ok(mut done) => {
                    // Ranks of one host count the same devices.
                    if self.hellos[..rank].iter().any(|before| before.host == self.hellos[rank].host) {
                        done.devices.clear();
                    }
                    let RankResult { rank, host, processors, targets, .. } = self.introduced(rank);
                    RankResult { rank, host, processors, targets, clock, ..done }
                }
                Err(why) => {
                    let Progress { ops, bytes, .. } = heard.map(|(_, progress)| progress).unwrap_or_default();
                    let heard_until_ns = heard.map(|(until, _)| until.nanos());
                    let workers = self.share_of(rank, load);
                    let introduced = self.introduced(rank);
                    RankResult { workers, ops, bytes, clock, heard_until_ns, lost: Some(why), ..introduced }
                }
            });
        }
        let first = narrow(self.link.size() - self.shift);
        own.workloads.iter_mut().for_each(|workload| in_order(&mut workload.workers, first));
        assert!(
            own.ranks.iter().zip(0..).all(|(of, rank)| of.rank == rank)
                && own.ranks.len() == self.link.size(),
            "a rank is missing among the results, or stands in the place of another"
        );
        let told = |figure: fn(&RankResult) -> u64| {
            own.ranks.iter().filter(|rank| rank.lost.is_none()).map(figure).sum::<u64>()
        };
        let (workers, ops, bytes) = counted(&own);
        debug_assert_eq!(
            (told(|rank| rank.workers.into()), told(|rank| rank.ops), told(|rank| rank.bytes)),
            (workers.into(), ops, bytes),
            "workers, requests and bytes of the ranks are those of the load"
        );
        own
    }

    /// How many workers of `load` a rank drives.
    fn share_of(&self, rank: usize, load: &Load) -> u32 {
        let drives = narrow((rank + self.shift) % self.link.size());
        let rank = Rank { drives, ..Rank::new(narrow(rank), narrow(self.link.size()), self.has_own_files) };
        load.workloads.iter().map(|workload| narrow::<u32>(rank.share(workload.workers).len())).sum()
    }

    /// What a rank has said of itself, and nothing of what it did.
    fn introduced(&self, rank: usize) -> RankResult {
        let Hello { host, processors, targets, .. } = &self.hellos[rank];
        RankResult {
            rank: narrow(rank),
            host: host.clone(),
            processors: Some(*processors).filter(|count| *count > 0),
            targets: targets.clone(),
            ..RankResult::default()
        }
    }

    fn clock_of(&self, rank: usize, watch: &ClockWatch) -> Option<RankClock> {
        let began = |rank: usize| i128::from(self.hellos[rank].began_ns);
        let offset = began(rank) - began(0) + watch.offset_ns();
        Some(RankClock {
            offset_ns: i64::try_from(offset).ok()?,
            uncertainty_ns: watch.uncertainty_ns(),
            drift_ppm: watch.drift_ppm(),
            drift_uncertainty_ppm: watch.drift_uncertainty_ppm(),
        })
    }
}

/// That ranks which make what they use do not make their trees in one place.
fn check_unique_dirs(plan: &Plan, hellos: &[Hello]) -> Result<(), Refused> {
    let mut workloads = plan.points().iter().flat_map(Point::workloads);
    let places: BTreeSet<_> = hellos.iter().map(|hello| (&hello.host, &hello.targets)).collect();
    if places.len() == hellos.len() || workloads.all(|workload| workload.tree.is_none()) {
        return Ok(());
    }
    let why = "the ranks of a host would each make a tree in the same directory; leave `--file-per-rank` out, and all work in \
               parts of one tree, or start one rank on each host";
    Err(Refused { code: 2, why: why.into() })
}

/// Has all ranks end before anything is done.
pub fn refuse(link: &Link, why: &Refused) {
    link.send_all(&Message::Refused(why.clone()));
}

/// The others carry a plan out next, the one that they know by the name `what` where there are several, each greeting first.
pub fn again(link: &Link, what: &str) {
    link.send_all(&Message::Again { what: what.into() });
}

/// Nothing more comes.
pub fn over(link: &Link) {
    link.send_all(&Message::Over);
}

impl World for Head {
    fn kind(&self) -> record::World {
        self.world.kind()
    }

    fn models_host(&self) -> bool {
        self.world.models_host()
    }

    fn environment(&self) -> Environment {
        self.world.environment()
    }

    fn targets(&self) -> Vec<Target> {
        self.world.targets()
    }

    fn path(&self) -> Vec<record::PathPart> {
        self.world.path()
    }

    fn write_cache(&self) -> Option<units::Bytes> {
        self.world.write_cache()
    }

    fn has_percentiles(&self) -> bool {
        self.world.has_percentiles()
    }

    fn now(&self) -> Instant {
        self.world.now()
    }

    fn keep_seconds(&mut self) {
        self.world.keep_seconds();
    }

    fn tell(&mut self, listener: Box<dyn Listener>) {
        self.world.tell(listener);
    }

    fn lost(&self) -> Option<String> {
        locked(&self.shared).lost.as_ref().map(ToString::to_string)
    }

    fn load(&mut self, load: &Load, live: &mut dyn FnMut(Live)) -> Result<MeasuredLoad, WorldError> {
        self.begin_round(load);
        self.ask_clocks();
        let (link, shared, stop, round) = (&self.link, &self.shared, &self.stop, self.round);
        let mut was_told_to_stop = false;
        let names: Vec<String> = self.hellos.iter().map(|hello| hello.host.clone()).collect();
        let mut hosts = Hosts::of(&names, load, self.shift);
        let own = self.world.load(load, &mut |seen: Live<'_>| {
            let mut shared = locked(shared);
            let now = seen.now;
            shared.listen(link, Duration::ZERO, &|| now);
            if shared.lost.is_some() {
                stop.store(true, Ordering::Relaxed);
            }
            if stop.load(Ordering::Relaxed) && !was_told_to_stop {
                was_told_to_stop = true;
                shared.heard.is_stopping = true;
                link.send_all(&Message::Stop { round });
            }
            let others = shared.heard.progress.iter().map(|(rank, so_far)| (*rank, *so_far)).collect();
            let fresh = std::mem::take(&mut shared.heard.fresh);
            drop(shared);
            fresh.iter().for_each(|(rank, intervals)| hosts.take(*rank, intervals));
            live(hosts.whole(seen, others));
        });
        self.link.is_loaded(false);
        let was_told_to_stop = was_told_to_stop || self.world.is_stopped();
        let mut own = match own {
            Ok(own) => own,
            Err(error) => {
                self.link.send_all(&Message::Stop { round });
                return Err(error);
            }
        };
        self.gather();
        // Other ranks of this host may have ended later than this one.
        if let Some(devices) = self.world.counted_since() {
            own.devices = devices;
        }
        if let Some(refused) = locked(&self.shared).refused.take() {
            return Err(refused.into());
        }
        if let Some(lost) = self.lost() {
            // What was measured is kept, and nothing comes after it.
            self.stop.store(true, Ordering::Relaxed);
            if own
                .workloads
                .iter()
                .all(|workload| workload.workers.iter().all(|each| each.tally.planned == 0))
            {
                return Err(WorldError::Lost(lost));
            }
        }
        self.world.drive_for(0);
        Ok(self.merged(load, own, was_told_to_stop))
    }

    fn settle(
        &mut self,
        settle: Settle,
        wrote: bool,
        live: &mut dyn FnMut(Live),
    ) -> Result<Option<record::Settled>, WorldError> {
        locked(&self.shared).heard.settled.clear();
        self.link.send_all(&Message::settle(settle, wrote));
        let own = self.world.settle(settle, wrote, live)?;
        loop {
            let mut shared = locked(&self.shared);
            shared.listen(&self.link, WAIT, &|| self.world.now());
            if let Some(lost) = &shared.lost {
                return Err(WorldError::Lost(lost.to_string()));
            }
            if self.link.others().all(|rank| shared.heard.settled.contains_key(&rank)) {
                let failed =
                    shared.heard.settled.iter().find_map(|(rank, done)| Some((rank, done.as_ref().err()?)));
                return match failed {
                    None => Ok(own),
                    Some((rank, why)) => Err(WorldError::Lost(format!("rank {rank}: {why}"))),
                };
            }
        }
    }

    /// Rank 0 alone brings a target into a state that all use; where each has files of its own it cannot.
    fn state(&mut self, state: &State, live: &mut dyn FnMut(Live)) -> Result<MeasuredState, WorldError> {
        if self.has_own_files && !matches!(state, State::Idle(_)) {
            return Err(WorldError::unfit(OF_ALL));
        }
        self.world.state(state, live)
    }

    fn is_stopped(&self) -> bool {
        self.world.is_stopped() || locked(&self.shared).lost.is_some()
    }

    fn put_back(&mut self) -> Vec<String> {
        self.link.send_all(&Message::End);
        // Files that all use stay until nobody does.
        let mut shared = locked(&self.shared);
        while !self.link.others().all(|rank| shared.heard.left.iter().any(|(from, _)| *from == rank)) {
            shared.listen(&self.link, WAIT, &|| self.world.now());
        }
        let left = std::mem::take(&mut shared.heard.left);
        drop(shared);
        let of_rank = |(rank, left): (usize, Vec<String>)| {
            let host = self.hellos[rank].host.clone();
            left.into_iter().map(move |each| format!("on {host}: {each}"))
        };
        let mut all: Vec<String> = left.into_iter().flat_map(of_rank).collect();
        all.extend(self.world.put_back());
        all
    }
}
