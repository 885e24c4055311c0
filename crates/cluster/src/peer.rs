//! A rank other than 0: it does what rank 0 asks until that says that all is done.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use conduct::{FileNames, Gate, Live, MeasuredLoad, Rank, World, WorldError};
use units::convert::narrow;
use units::{Instant, Nanos};
use workload::plan::{Load, Plan, Settle, Task};

use crate::error::Refused;
use crate::link::Link;
use crate::message::{Hello, Message, WhichLoad, load_of};
use crate::wire::{
    WireLoad, WireWorkload, WireWrote, interval_out, progress_out, worker_out, wrote_in, wrote_out,
};

/// How a rank ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ended {
    /// Rank 0 said that all is done.
    Done,
    /// Nothing was done; rank 0 said why.
    Refused(Refused),
    /// Rank 0 has gone, or something is wrong between the two.
    Lost(String),
}

/// What comes after a plan that was carried out, or before the first of several.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Follows {
    /// A plan, by its name where there are several.
    Again(String),
    /// Nothing.
    Nothing,
    /// Nothing, for what was to come does not fit.
    Refused(Refused),
    /// Rank 0 has gone before it said so.
    Lost(String),
}

const WAIT: Duration = Duration::from_millis(20);

/// What the gate and the rank behind it share.
#[derive(Default)]
struct Turn {
    round: u64,
    late_ns: u64,
}

struct PeerGate {
    link: Arc<Link>,
    turn: Arc<Mutex<Turn>>,
}

impl PeerGate {
    fn round(&self) -> u64 {
        self.turn.lock().unwrap_or_else(PoisonError::into_inner).round
    }
}

impl Gate for PeerGate {
    fn prepared(&mut self) {}

    fn start(&mut self, now: &dyn Fn() -> Instant) -> Option<Instant> {
        let round = self.round();
        self.link.send(0, &Message::Ready { round });
        loop {
            match self.link.receive(WAIT) {
                Ok(Some((_, Message::Start { round: of, at_ns }))) if of == round => {
                    let (now, at) = (now(), Instant::from_nanos(at_ns));
                    let mut turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
                    turn.late_ns = now.saturating_since(at).get();
                    self.link.is_loaded(true);
                    return Some(now.max(at));
                }
                Ok(Some((_, Message::Stop { round: of }))) if of == round => return None,
                Ok(Some((_, message @ (Message::End | Message::Refused(_))))) => {
                    self.link.keep(0, message);
                    return None;
                }
                Ok(Some(_)) => {}
                Ok(None) if self.link.silent().is_none() => {}
                Ok(None) | Err(_) => return None,
            }
        }
    }
}

/// Does what rank 0 asks of `world`, until all is done. `stop` ends a load of `world`. What could not be put back is told
/// to rank 0.
pub fn serve(
    link: &Arc<Link>,
    hello: Hello,
    plan: &Plan,
    world: &mut dyn World,
    has_own_files: bool,
    stop: &Arc<AtomicBool>,
) -> Ended {
    assert_ne!(link.rank(), 0, "rank 0 is whom the others answer");
    let turn = Arc::new(Mutex::new(Turn::default()));
    let rank = Rank::new(narrow(link.rank()), narrow(link.size()), has_own_files);
    let gate = Box::new(PeerGate { link: link.clone(), turn: turn.clone() });
    if let Err(error) = world.join(plan, rank, gate) {
        return decline(link, hello, refused(&error));
    }
    link.send(0, &Message::Hello(hello));
    // What workers tell over time is told to rank 0 as it comes.
    world.keep_seconds();
    let ended = Peer { link, plan, world, turn: &turn, stop }.answer();
    if ended != Ended::Done {
        world.put_back();
    }
    ended
}

/// Waits until rank 0 says what comes next.
pub fn what_follows(link: &Link) -> Follows {
    loop {
        match link.receive(WAIT) {
            Ok(Some((_, Message::Again { what }))) => return Follows::Again(what),
            Ok(Some((_, Message::Over))) => return Follows::Nothing,
            Ok(Some((_, Message::Refused(why)))) => return Follows::Refused(why),
            Ok(None) if link.silent().is_some() => {
                return Follows::Lost("rank 0 shows no sign of life".into());
            }
            Ok(_) => {}
            Err(error) => return Follows::Lost(error.to_string()),
        }
    }
}

/// Tells rank 0 why this rank cannot take part, and waits for what becomes of all.
pub fn decline(link: &Link, hello: Hello, why: Refused) -> Ended {
    link.send(0, &Message::Hello(Hello { refused: Some(why.clone()), ..hello }));
    until_refused(link, why)
}

fn refused(error: &WorldError) -> Refused {
    Refused { code: error.exit_code(), why: error.to_string() }
}

/// Waits for what rank 0 makes of a rank that cannot take part.
fn until_refused(link: &Link, why: Refused) -> Ended {
    loop {
        match link.receive(WAIT) {
            Ok(Some((_, Message::Refused(all)))) => return Ended::Refused(all),
            // There was nothing to do.
            Ok(Some((_, Message::Over))) => break,
            Ok(None) if link.silent().is_some() => break,
            Ok(_) => {}
            Err(error) => return Ended::Lost(error.to_string()),
        }
    }
    Ended::Refused(why)
}

struct Peer<'a> {
    link: &'a Arc<Link>,
    plan: &'a Plan,
    world: &'a mut dyn World,
    turn: &'a Mutex<Turn>,
    stop: &'a AtomicBool,
}

impl Peer<'_> {
    fn answer(&mut self) -> Ended {
        loop {
            let message = match self.link.receive(WAIT) {
                Ok(Some((_, message))) => message,
                Ok(None) => match self.link.silent() {
                    Some(_) => return Ended::Lost("rank 0 shows no sign of life".into()),
                    None => continue,
                },
                Err(error) => return Ended::Lost(error.to_string()),
            };
            match message {
                Message::Refused(why) => return Ended::Refused(why),
                Message::Ask { sent_ns } => {
                    let answered_ns = self.world.now().nanos();
                    self.link.send(0, &Message::Told { sent_ns, answered_ns });
                    self.link.expect();
                }
                Message::Load { round, load, drives, wrote } => {
                    let own = narrow::<u32>(self.link.rank());
                    let others = wrote.into_iter().filter(|(rank, _)| *rank != own);
                    self.world.others_wrote(others.map(|(rank, wrote)| (rank, wrote_in(wrote))).collect());
                    self.world.drive_for(drives);
                    let seen = self.load(round, load).map(Box::new);
                    self.link.send(0, &Message::Seen { round, seen });
                }
                Message::Settle { wrote, for_ns } => {
                    let settle = for_ns.map_or(Settle::Auto, |ns| Settle::For(Nanos::new(ns)));
                    let settled = self.world.settle(settle, wrote, &mut |_| ());
                    let settled = settled.map(|_| ()).map_err(|error| refused(&error));
                    self.link.send(0, &Message::Settled(settled));
                }
                Message::End => {
                    self.link.send(0, &Message::Left(self.world.put_back()));
                    return Ended::Done;
                }
                _ => {}
            }
        }
    }

    fn load(&mut self, round: u64, asked: WhichLoad) -> Result<WireLoad, Refused> {
        *self.turn.lock().unwrap_or_else(PoisonError::into_inner) = Turn { round, late_ns: 0 };
        let own;
        let load: &Load = match asked {
            WhichLoad::Workloads(workloads) => {
                own = load_of(workloads);
                &own
            }
            WhichLoad::Point(index) => match self.plan.points().get(index).map(|point| &point.task) {
                Some(Task::Load(load)) => load,
                _ => return Err(Refused { code: 8, why: format!("the plan has no load at point {index}") }),
            },
        };
        let (link, stop) = (self.link, self.stop);
        let mut told = vec![0; load.workloads.len()];
        let measured = self.world.load(load, &mut |live: Live<'_>| {
            let news = live.heard.iter().zip(&mut told).enumerate().map(|(workload, (history, told))| {
                let fresh = history.intervals().get(*told..).unwrap_or_default();
                *told += fresh.len();
                (workload, fresh.iter().map(interval_out).collect())
            });
            let intervals = news.filter(|(_, fresh): &(usize, Vec<_>)| !fresh.is_empty()).collect();
            let (now_ns, progress) = (live.now.nanos(), progress_out(live.progress));
            link.send(0, &Message::News { round, now_ns, progress, intervals });
            while let Ok(Some((from, message))) = link.receive(Duration::ZERO) {
                match message {
                    Message::Stop { round: of } if of == round => stop.store(true, Ordering::Relaxed),
                    message @ (Message::Refused(_) | Message::End | Message::Start { .. }) => {
                        link.keep(from, message);
                        break;
                    }
                    _ => {}
                }
            }
            if link.silent().is_some() {
                stop.store(true, Ordering::Relaxed);
            }
        });
        link.is_loaded(false);
        let measured = measured.map_err(|error| refused(&error))?;
        let late_ns = self.turn.lock().unwrap_or_else(PoisonError::into_inner).late_ns;
        let wrote = wrote_out(&self.world.wrote());
        let bereft = self.link.is_bereft();
        Ok(WireLoad { wrote, bereft, ..load_out(measured, &told, late_ns, !self.world.is_stopped()) })
    }
}

/// What was measured, without the intervals that were told before.
fn load_out(measured: MeasuredLoad, told: &[usize], late_ns: u64, complete: bool) -> WireLoad {
    assert_eq!(told.len(), measured.workloads.len(), "of each workload it is known what was told");
    let workload = |(seen, told): (conduct::MeasuredWorkload, &usize)| WireWorkload {
        workers: seen.workers.iter().map(worker_out).collect(),
        intervals: seen
            .history
            .intervals()
            .get(*told..)
            .unwrap_or_default()
            .iter()
            .map(interval_out)
            .collect(),
        files: match seen.files {
            FileNames::Listed(names) => names,
            FileNames::Tree { .. } => Vec::new(),
        },
    };
    WireLoad {
        started_ns: measured.started.nanos(),
        ended_ns: measured.ended.nanos(),
        late_ns,
        complete,
        bereft: false,
        cpu: measured.cpu,
        devices: measured.devices,
        workloads: measured.workloads.into_iter().zip(told).map(workload).collect(),
        wrote: WireWrote::default(),
    }
}
