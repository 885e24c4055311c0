//! One pass of background work, from its beginning to its end.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use array::raid::{MemberState, PlanError, Sweep, Task};
use units::{Lba, SECTOR_BYTES, Sectors};

use super::bays::has_failed;
use super::work::{Extent, Work, WorkKind};
use super::{Filled, Lost, Machine};
use crate::clock;
use crate::config::Status;
use crate::events::Severity;
use crate::set::{Findings, Scratch, is_rebuilding};

/// Where work is in time.
struct Pacing {
    /// When the labels had the marks last.
    marked: Duration,
    /// Until when it is to wait for its limit.
    owed: Duration,
}

/// Sectors of each member that are done at once, or a row of RAID 1E where that has more.
pub(super) const UNIT: Sectors = Sectors(1024);
/// Marks go onto the labels so often.
const MARKS: Duration = Duration::from_secs(5);

impl Machine {
    /// Does the work to its end, or until it is stopped.
    pub(super) fn carry_on(self: &Arc<Machine>, work: &Work, extent: Extent) {
        let mut found = Findings::default();
        let now = self.works.now();
        let mut pacing = Pacing { marked: now, owed: now };
        let end = Lba(self.sets[work.set as usize].geometry().member_used().0);
        let ended = match (extent, work.slot) {
            (Extent::Missed, Some(slot)) => self.missed(work, slot, end, &mut pacing, &mut found),
            _ => self.range(work, (Lba(work.from), end), &mut pacing, &mut found),
        };
        // The planner has no plan for a slot that has another disk by now, and that is why it was stopped.
        let is_stopped = work.slot.is_some() && work.is_stopped.load(Ordering::Acquire);
        let ended = if is_stopped { Ok(false) } else { ended };
        if let (Err(_), true, Some(kind)) = (&ended, work.is_automatic, work.kind.owed()) {
            self.works.owe_verify(work.set, kind);
        }
        if !matches!(ended, Ok(false)) && work.slot.is_none() {
            work.is_done.store(true, Ordering::Release);
            // Where it is not forgotten the next server does some of it again.
            let _again = self.remember_works();
        }
        let settled = self.settled(work, &ended, found);
        let (set, name) = (work.set, work.kind.name());
        let on = work.slot.map(|slot| format!(", slot {slot}")).unwrap_or_default();
        match ended {
            Ok(true) => {
                match settled {
                    Ok(true) => {}
                    // What it has filled is gone.
                    Ok(false) => return,
                    Err(why) => {
                        return self.say(
                            Severity::Critical,
                            format!("set {set}{on}: {name} is not recorded: {why}"),
                        );
                    }
                }
                // Work until then: what follows may be more of it on the same slot, or what waited for this one.
                self.go_on_filling(set);
                self.use_spares();
                self.verify_owed();
            }
            Ok(false) if work.slot.is_some_and(|slot| self.has_lost(set, slot)) => {
                self.say(Severity::Warning, format!("set {set}{on}: {name} stopped: its drive is gone"));
            }
            Ok(false) => {}
            Err(_) if work.kind == WorkKind::Clone && self.is_to_be_filled(work) => {
                self.say(
                    Severity::Warning,
                    format!(
                        "set {set}{on}: clone stopped: the drive that it copies is gone; the rest is rebuilt"
                    ),
                );
                self.go_on_filling(set);
            }
            Err(_) if work.slot.is_some_and(|slot| self.has_lost(set, slot)) => {
                self.say(Severity::Warning, format!("set {set}{on}: {name} stopped: its drive is gone"));
            }
            Err(_) if self.is_failed(set) => {
                self.say(
                    Severity::Critical,
                    format!(
                        "set {set}{on}: {name} stopped: the set has failed; drives that are reinserted and have missed nothing are used again"
                    ),
                );
                // Another that it waited for may have come to its end just now, and found this one still under way.
                if !self.is_failed(set) {
                    self.go_on_filling(set);
                }
            }
            // The same, before it could be told.
            Err(PlanError::DataLost { .. }) if work.slot.is_some() => self.go_on_filling(set),
            Err(why) => self.say(Severity::Critical, format!("set {set}{on}: {name} stopped: {why}")),
        }
    }

    /// What has come of work that has ended: its slot has its disk, and the log says so. No other is told of meanwhile: a set is not called
    /// optimal before the last work on it is called complete.
    fn settled(
        &self,
        work: &Work,
        ended: &Result<bool, PlanError>,
        found: Findings,
    ) -> std::io::Result<bool> {
        let _in_order = self.works.telling();
        let settled = match (ended, work.slot) {
            (Ok(true), Some(slot)) => self.settle(work, slot),
            (ended, _) => Ok(matches!(ended, Ok(true))),
        };
        // Not before: who looks for what is left to be filled must not take this slot for one that nobody fills.
        work.is_done.store(!matches!(ended, Ok(false)), Ordering::Release);
        let is_of_a_stop =
            matches!(ended, Ok(false)) && !work.slot.is_some_and(|slot| self.has_lost(work.set, slot));
        if is_of_a_stop {
            return settled;
        }
        let pass = self.works.has_ended(work, found, matches!(settled, Ok(true)));
        if pass.is_complete {
            let severity = if pass.is_good() { Severity::Information } else { Severity::Warning };
            self.say(severity, pass.to_string());
        }
        if work.slot.is_some() && matches!((ended, &settled), (Ok(true), Ok(true))) {
            self.tell_state(work.set);
        }
        settled
    }

    /// The log's last word on a set that has become better is what it is now; nothing of one that has failed.
    pub(super) fn tell_state(&self, set: u32) {
        if self.is_failed(set) {
            return;
        }
        let store = &self.sets[set as usize];
        let level = store.geometry().spec().level;
        let word = if store.state().health.is_optimal() { "optimal" } else { "degraded" };
        self.say(Severity::Information, format!("set {set} ({level}): {word}"));
    }

    /// Whether the disk that was to be the copy has taken over the slot.
    fn is_to_be_filled(&self, work: &Work) -> bool {
        work.slot.is_some_and(|slot| is_rebuilding(&self.sets[work.set as usize].state().health, slot))
    }

    fn is_failed(&self, set: u32) -> bool {
        let store = &self.sets[set as usize];
        has_failed(store.geometry(), &store.state().health)
    }

    pub(super) fn has_lost(&self, set: u32, slot: u16) -> bool {
        self.sets[set as usize].state().health.state(slot) == MemberState::Failed
    }

    /// Fills a disk that was away with what was written meanwhile, region by region; whether all of it was done.
    fn missed(
        &self,
        work: &Work,
        slot: u16,
        end: Lba,
        pacing: &mut Pacing,
        found: &mut Findings,
    ) -> Result<bool, PlanError> {
        let store = &self.sets[work.set as usize];
        let region = store.region();
        let group = store.geometry().group_of(slot);
        let since = self.lock_bays().lost[work.set as usize][usize::from(slot)].since;
        // What lies below its mark it has: that never goes back, or another that is given what it missed from there would wait for it.
        for number in work.from / region..end.0.div_ceil(region) {
            let (from, to) = (Lba(number * region).max(Lba(work.from)), Lba((number + 1) * region).min(end));
            if from >= to {
                continue;
            }
            // Looked up when it is come to, and again: hosts write on, and what lies ahead is not written to the disk.
            let written_to = |from: Lba| {
                let nvram = self.common.nvram.as_ref();
                match nvram.is_none_or(|nvram| nvram.maps().is_intended(store.number_of(group), number)) {
                    true => Lba(store.reach_since(slot, since)).clamp(from, to),
                    false => from,
                }
            };
            let mut at = from;
            loop {
                let reach = written_to(at);
                if at < reach {
                    if !self.range(work, (at, reach), pacing, found)? {
                        return Ok(false);
                    }
                    at = reach;
                }
                // No further than that: what was not written need not be on another that could be asked for it.
                if at == to || store.pass_over(slot, at, to, || written_to(at) > at) {
                    break;
                }
            }
        }
        Ok(true)
    }

    /// Whether all between two addresses was done.
    fn range(
        &self,
        work: &Work,
        (from, to): (Lba, Lba),
        pacing: &mut Pacing,
        found: &mut Findings,
    ) -> Result<bool, PlanError> {
        let store = &self.sets[work.set as usize];
        let mut scratch = Scratch::default();
        let Pacing { marked, owed } = pacing;
        let sweep = Sweep::new(store.geometry(), &store.state().health, task(work.kind, work.slot), UNIT)?;
        let mut sweep = sweep.between(from, to);
        let repair = work.kind.repair();
        loop {
            while self.is_dark() && !work.is_stopped.load(Ordering::Relaxed) {
                clock::wait(Duration::from_millis(50));
            }
            if work.is_stopped.load(Ordering::Relaxed) {
                return Ok(false);
            }
            let done = match work.kind {
                WorkKind::Initialise if has_failed(store.geometry(), &store.state().health) => {
                    let reason = "the set has failed";
                    return Err(PlanError::NothingToDo { task: "initialise", reason });
                }
                // All was cleared when it began.
                WorkKind::Initialise => store.pass(&mut scratch, &mut sweep)?,
                _ => store.work(&mut scratch, &mut sweep, repair, found, self)?,
            };
            let Some(done) = done else { break };
            work.done.fetch_add(done.0, Ordering::Relaxed);
            while let Some(model) = self.model.get()
                && let Some(share) = model.progress(work.set)
                && work.done.load(Ordering::Relaxed) as f64 > share * work.all as f64
            {
                clock::wait(Duration::from_millis(10));
                if work.is_stopped.load(Ordering::Relaxed) {
                    return Ok(false);
                }
            }
            let now = self.works.now();
            let rate = self.rate();
            if rate > 0 {
                let time = Duration::from_secs_f64((done.0 * SECTOR_BYTES) as f64 / rate as f64);
                *owed = (*owed).max(now.saturating_sub(Duration::from_millis(200))) + time;
                // In small pieces, so that a stop is heard.
                while let Some(rest) = owed.checked_sub(self.works.now()).filter(|rest| !rest.is_zero()) {
                    if self.rate() != rate {
                        *owed = self.works.now();
                        break;
                    }
                    clock::wait(rest.min(Duration::from_millis(50)));
                    if work.is_stopped.load(Ordering::Relaxed) {
                        return Ok(false);
                    }
                    // What cannot go on says so at once, not when its limit would have let it.
                    if !store.can_go_on(&mut scratch, &sweep) {
                        break;
                    }
                }
            }
            if now >= *marked + MARKS {
                *marked = now;
                // It is only a mark: without it more is done again after a restart.
                let _later = self.common.sync().and_then(|()| self.relabel(&mut self.lock_bays()));
            }
        }
        Ok(true)
    }

    /// A slot's new disk is whole, unless it is gone.
    fn settle(&self, work: &Work, slot: u16) -> std::io::Result<bool> {
        let set = work.set;
        // What was filled must be there before a label says so.
        self.common.sync()?;
        let store = &self.sets[set as usize];
        let mut bays = self.lock_bays();
        if work.is_stopped.load(Ordering::Acquire) {
            return Ok(false);
        }
        let mut state = store.state_mut();
        let old = state.health.twin(slot).map(|_| state.health.member(slot));
        state.health.finish(slot);
        drop(state);
        // A disk that the slot lost earlier must not be taken for this one's predecessor if it comes back.
        bays.lost[set as usize][usize::from(slot)] = Lost::default();
        bays.filled[set as usize][usize::from(slot)] = Filled::default();
        if let Some(old) = old {
            let bay = self.shape.sets[set as usize].bays[usize::from(old)];
            let until = bays.generation + 1;
            let place = &mut bays.bays[bay as usize];
            (place.status, place.until) = (Status::Unassigned, until);
        }
        if let Some(model) = self.model.get() {
            // Where it has taken the set offline it has not filled the slot itself.
            model.take_back(set, slot);
        }
        self.relabel(&mut bays).map(|()| true)
    }
}

/// What the planner calls it.
pub(super) fn task(kind: WorkKind, slot: Option<u16>) -> Task {
    let slot = slot.unwrap_or_default();
    match kind {
        WorkKind::Rebuild => Task::Rebuild { slot },
        WorkKind::Clone => Task::Clone { slot },
        WorkKind::Verify { .. } | WorkKind::Resync => Task::Verify,
        WorkKind::Initialise => Task::Zero { verify: false },
    }
}
