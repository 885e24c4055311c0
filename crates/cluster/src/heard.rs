//! What rank 0 has heard of the other ranks, load by load.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use units::Instant;
use workload::Progress;
use workload::tally::Interval;

use crate::clock::{ClockWatch, Sample};
use crate::error::{ClusterError, Refused};
use crate::link::Link;
use crate::message::{Message, WhichLoad};
use crate::wire::{Shift, WireInterval, WireLoad, WireWrote, interval_in, progress_in};

/// How long one look for messages may take.
pub(crate) const WAIT: Duration = Duration::from_millis(5);

/// All that rank 0 knows of the others, which its gate and the world behind it share.
#[derive(Default)]
pub(crate) struct Shared {
    /// By rank; nothing of rank 0.
    pub(crate) clocks: Vec<ClockWatch>,
    pub(crate) heard: Heard,
    /// Who has gone, and why.
    pub(crate) lost: Option<ClusterError>,
    /// Who cannot take part in a load that has not begun, and why.
    pub(crate) refused: Option<Refused>,
}

/// Messages of the current round.
#[derive(Default)]
pub(crate) struct Heard {
    pub(crate) round: u64,
    pub(crate) load: Option<Orders>,
    pub(crate) ready: Vec<bool>,
    /// By rank: until when, on the clock of rank 0, it has counted what.
    pub(crate) progress: BTreeMap<usize, (Instant, Progress)>,
    pub(crate) intervals: BTreeMap<usize, Vec<(usize, WireInterval)>>,
    /// The newest of them by rank, on the clock of rank 0, for whoever watches.
    pub(crate) fresh: Vec<(usize, Vec<Interval>)>,
    pub(crate) seen: BTreeMap<usize, Result<Box<WireLoad>, Refused>>,
    pub(crate) settled: BTreeMap<usize, Result<(), Refused>>,
    pub(crate) told: Vec<(usize, Sample)>,
    pub(crate) left: Vec<(usize, Vec<String>)>,
    pub(crate) is_stopping: bool,
    /// Whether all were ready, and have been told when to start.
    pub(crate) has_begun: bool,
}

/// The load of a round, as rank 0 asks the other ranks for it.
pub(crate) struct Orders {
    pub(crate) load: WhichLoad,
    /// How many ranks on from each is the one whose share it drives.
    pub(crate) shift: usize,
    pub(crate) wrote: Vec<(u32, WireWrote)>,
}

impl Shared {
    /// Takes in all that has come, waiting for the first no longer than `wait`; notes who has gone.
    pub(crate) fn listen(&mut self, link: &Link, wait: Duration, now: &dyn Fn() -> Instant) {
        let mut wait = wait;
        loop {
            match link.receive(wait) {
                Ok(Some((from, message))) => self.hear(link, from, message, now),
                Ok(None) => break,
                Err(error) => {
                    if let ClusterError::Garbled { rank, .. } = error {
                        link.forget(rank);
                    }
                    self.lost.get_or_insert(error);
                }
            }
            wait = Duration::ZERO;
        }
        while let Some((rank, millis)) = link.silent() {
            link.forget(rank);
            self.lost.get_or_insert(ClusterError::Silent { rank, host: link.host(rank), millis });
        }
    }

    fn hear(&mut self, link: &Link, from: usize, message: Message, now: &dyn Fn() -> Instant) {
        assert!((1..self.clocks.len()).contains(&from), "rank {from} speaks to rank 0");
        let of_this = |round: u64| round == self.heard.round;
        match message {
            Message::Told { sent_ns, answered_ns } => {
                let back_ns = now().nanos();
                self.heard.told.push((from, Sample { sent_ns, answered_ns, back_ns }));
            }
            Message::Ready { round } if of_this(round) => {
                // None is waited for before the first load, whoever says that it is ready.
                if let Some(ready) = self.heard.ready.get_mut(from) {
                    *ready = true;
                }
            }
            Message::News { round, now_ns, progress, intervals } if of_this(round) => {
                let shift = Shift(-self.clocks[from].offset_ns());
                self.heard.progress.insert(from, (shift.of(now_ns), progress_in(progress)));
                let flat = intervals
                    .into_iter()
                    .flat_map(|(workload, some)| some.into_iter().map(move |interval| (workload, interval)));
                let flat: Vec<_> = flat.collect();
                let fresh = flat.iter().filter_map(|(_, interval)| interval_in(interval.clone(), shift).ok());
                self.heard.fresh.push((from, fresh.collect()));
                self.heard.intervals.entry(from).or_default().extend(flat);
            }
            Message::Seen { round, seen } if of_this(round) => {
                if let Err(Refused { code, why }) = &seen {
                    self.gave_up((from, link.host(from)), *code, why);
                }
                self.heard.seen.insert(from, seen);
            }
            Message::Settled(settled) => {
                self.heard.settled.insert(from, settled);
            }
            Message::Left(left) => self.heard.left.push((from, left)),
            _ => {}
        }
    }

    /// Notes that a rank did not carry out the load. Before it has begun nothing was lost.
    fn gave_up(&mut self, (rank, host): (usize, String), code: u8, why: &str) {
        if self.heard.has_begun {
            self.lost.get_or_insert(ClusterError::Ended { rank, host, why: why.into() });
        } else {
            let why = format!("rank {rank} on {host}: {why}");
            self.refused.get_or_insert(Refused { code, why });
        }
    }
}

pub(crate) fn locked(shared: &Mutex<Shared>) -> MutexGuard<'_, Shared> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}
