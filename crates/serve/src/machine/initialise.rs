//! A set is made to read as zeros.

use std::sync::Arc;

use array::raid::{Health, MemberState};
use units::convert::narrow;

use super::bays::has_failed;
use super::errors::OperateError;
use super::work::{Extent, WorkKind};
use super::{Lost, Machine};
use crate::cache::{Hold, WriteCache};
use crate::config::Status;
use crate::events::Severity;

impl Machine {
    /// Has every sector of a set read as zeros, at once: what hosts write from then on stays. The pass over the members that follows
    /// takes the time that it takes.
    ///
    /// A set that has failed is whole afterwards where spares suffice for what it has lost. Where it is refused nothing has been cleared.
    pub fn initialise(self: &Arc<Machine>, set: u32) -> Result<(), OperateError> {
        self.slots(set)?;
        let _alone = self.works.alone();
        self.can_initialise(set)?;
        let store = &self.sets[set as usize];
        let _undisturbed = self.cache.as_ref().map(WriteCache::alone);
        // No request is under way from before the labels say that all is to be cleared until they say that it is. A host that reads holds
        // the cache first, too.
        let mut cached = self.cache.as_ref().map(WriteCache::hold);
        let rows = store.hold_all();
        store.will_clear().map_err(OperateError::system("the controller's memory".into()))?;
        self.announce(set, cached.as_mut())?;
        let refused = store.clear();
        self.take_spares(set);
        self.works.set_interrupted(set, Some(true));
        // Where they do not take it writes wait until they do: a start before that clears what reads as zeros.
        let labelled = self.remember_works();
        drop((rows, cached));
        self.works.set_interrupted(set, None);
        // A drive that refused is taken out of use.
        let _given_up = store.give_up(refused, self.as_ref());
        self.tell_state(set);
        self.begin_alone(WorkKind::Initialise, set, None, Extent::All, false)?;
        labelled
    }

    /// Why a set cannot be initialised now, if it cannot.
    fn can_initialise(&self, set: u32) -> Result<(), OperateError> {
        let refused = |why: String| Err(OperateError::NothingToDo { set, why });
        if let Some(kind) = self.works.kind_under_way(set) {
            return refused(format!("a {} is under way; wait for its end", kind.name()));
        }
        let store = &self.sets[set as usize];
        let health = store.state().health.clone();
        let is_lost = |health: &Health| has_failed(store.geometry(), health);
        if is_lost(&health) && is_lost(&self.made_whole(set, &health)) {
            let why =
                "it has failed, and there are too few hot spares; reinsert drives, or make spares of them";
            return refused(why.into());
        }
        Ok(())
    }

    /// Has the labels say that a set is to be cleared, and clears what the write cache has of it; where one of the two cannot be done
    /// the labels say again that it is not.
    fn announce(&self, set: u32, cached: Option<&mut Hold<'_>>) -> Result<(), OperateError> {
        self.works.set_interrupted(set, Some(false));
        let labelled = self.relabel(&mut self.lock_bays());
        let announced =
            labelled.map_err(OperateError::system("not initialised: writing labels".into())).and_then(|()| {
                let cleared = cached.map_or(Ok(()), |cache| cache.forget(set));
                cleared.map_err(OperateError::system("not initialised: clearing the write cache".into()))
            });
        if announced.is_err() {
            self.works.set_interrupted(set, None);
            if self.relabel(&mut self.lock_bays()).is_err() {
                self.say(
                    Severity::Critical,
                    format!(
                        "set {set}: a start from now on may initialise it, as not every drive takes a label that says otherwise; writes \
                         wait until they do"
                    ),
                );
            }
        }
        announced
    }

    /// The health of a set in which spares have the slots that it has lost, and what is filled is full: all of it reads as zeros.
    fn made_whole(&self, set: u32, health: &Health) -> Health {
        let mut whole = health.clone();
        for slot in 0..narrow::<u16>(self.sets[set as usize].geometry().spec().members) {
            match whole.state(slot) {
                MemberState::Optimal => {}
                MemberState::Rebuilding { .. } => whole.finish(slot),
                MemberState::Failed if whole.rebuild_on_spare(slot).is_ok() => whole.finish(slot),
                MemberState::Failed => {}
            }
        }
        whole
    }

    /// Has spares take over in a set that has just been cleared: there is nothing to rebuild.
    fn take_spares(&self, set: u32) {
        let store = &self.sets[set as usize];
        let mut bays = self.lock_bays();
        let mut state = store.state_mut();
        let whole = self.made_whole(set, &state.health);
        let of = &self.shape.sets[set as usize].bays;
        for slot in 0..narrow::<u16>(store.geometry().spec().members) {
            if whole.state(slot) == MemberState::Optimal && state.health.state(slot) != MemberState::Optimal {
                let bay = of[usize::from(whole.member(slot))];
                let place = &mut bays.bays[bay as usize];
                if place.status == Status::Spare {
                    self.say(Severity::Information, format!("bay {bay}: hot spare takes over in set {set}"));
                }
                place.status = Status::InUse;
                bays.lost[set as usize][usize::from(slot)] = Lost::default();
                if let Some(model) = self.model.get() {
                    // There, too, nothing is to be rebuilt: else hosts would have no answer of a set that is whole.
                    model.take_back(set, slot);
                }
            }
        }
        state.health = whole;
    }
}
