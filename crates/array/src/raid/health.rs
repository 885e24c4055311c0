//! Which members can be read and which must be written, now.
//!
//! A *slot* is a place in the set; a *member* is a disk. Slot `n` starts with member `n`; a spare that takes over a
//! slot keeps its own number, so plans name disks and the geometry names slots.
//!
//! **Invariant:** a disk is in one slot, is one slot's copy in the making, is a spare, or has failed: never two of
//! these. What lies below a rebuild's mark is as good as on any other member.

use units::Lba;
use units::convert::narrow;

use super::error::HealthError;
use super::geometry::Geometry;

/// How much of a slot's contents its disk has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemberState {
    /// All of it.
    Optimal,
    /// Nothing that counts.
    Failed,
    /// What lies below a mark, while a rebuild fills in the rest.
    Rebuilding {
        /// Below this the disk is read like any other.
        done_to: Lba,
        /// Below this writes go to the disk too; units between the two marks are under way.
        reached: Lba,
    },
}

/// What a disk is that is no whole member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DiskRole {
    /// It is out of use.
    Failed,
    /// It waits to take over a slot.
    Spare,
    /// It is being filled, by a rebuild or as a copy.
    Filling,
}

/// A disk that is becoming the copy of a slot's disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Twin {
    member: u16,
    done_to: Lba,
    reached: Lba,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Slot {
    member: u16,
    state: MemberState,
    twin: Option<Twin>,
}

/// Where a disk is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Bay {
    Slot(u16),
    Twin(u16),
    Spare,
    Failed,
}

/// The state of every member of one set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Health {
    slots: Vec<Slot>,
    bays: Vec<Bay>,
    group_width: u32,
    /// Groups in which some slot needs a second look.
    impaired: Vec<bool>,
    parity_built_to: Lba,
}

/// Beyond every address.
const ALL: Lba = Lba(u64::MAX);

impl Health {
    /// Every member optimal, every spare waiting, parity built.
    pub fn new(geometry: &Geometry) -> Health {
        let spec = geometry.spec();
        let slots = (0..narrow::<u16>(spec.members))
            .map(|member| Slot { member, state: MemberState::Optimal, twin: None })
            .collect();
        let bays = (0..narrow::<u16>(spec.members))
            .map(Bay::Slot)
            .chain((0..spec.spares).map(|_| Bay::Spare))
            .collect();
        Health {
            slots,
            bays,
            group_width: geometry.group_width(),
            impaired: vec![false; geometry.groups() as usize],
            parity_built_to: ALL,
        }
    }

    /// The disk in slot `slot`, whatever its state. Panics for a slot that the set does not have.
    #[inline]
    pub fn member(&self, slot: u16) -> u16 {
        self.slots[usize::from(slot)].member
    }

    /// How much of slot `slot` its disk has. Panics for a slot that the set does not have.
    pub fn state(&self, slot: u16) -> MemberState {
        self.slots[usize::from(slot)].state
    }

    /// The disk that is becoming a copy of slot `slot`, if any.
    pub fn twin(&self, slot: u16) -> Option<u16> {
        self.slots[usize::from(slot)].twin.map(|twin| twin.member)
    }

    /// Whether every slot is optimal.
    pub fn is_optimal(&self) -> bool {
        self.slots.iter().all(|slot| slot.state == MemberState::Optimal)
    }

    /// Disks that wait to take over a slot.
    pub fn spares(&self) -> impl Iterator<Item = u16> {
        (0..).zip(&self.bays).filter(|(_, bay)| **bay == Bay::Spare).map(|(member, _)| member)
    }

    /// What disk `member` is; `None` for a whole member. Panics for a disk that the set does not have.
    pub fn role(&self, member: u16) -> Option<DiskRole> {
        match self.bays[usize::from(member)] {
            Bay::Failed => Some(DiskRole::Failed),
            Bay::Spare => Some(DiskRole::Spare),
            Bay::Twin(_) => Some(DiskRole::Filling),
            Bay::Slot(slot) => (self.state(slot) != MemberState::Optimal).then_some(DiskRole::Filling),
        }
    }

    /// Takes the disk out of use at once and returns the slot that it held; `None` for a spare.
    ///
    /// A copy in the making of a failed disk takes its slot over, as far as it got.
    pub fn fail(&mut self, member: u32) -> Result<Option<u16>, HealthError> {
        let (member, bay) = self.bay(member)?;
        let slot = match bay {
            Bay::Failed => {
                let advice = "a disk fails once; clear it to use it again";
                return Err(HealthError::WrongState { member, state: "failed already", advice });
            }
            Bay::Spare => None,
            Bay::Twin(slot) => {
                self.slots[usize::from(slot)].twin = None;
                None
            }
            Bay::Slot(slot) => {
                self.vacate(slot);
                Some(slot)
            }
        };
        self.bays[usize::from(member)] = Bay::Failed;
        self.look_again();
        Ok(slot)
    }

    fn vacate(&mut self, slot: u16) {
        let place = &mut self.slots[usize::from(slot)];
        match place.twin.take() {
            Some(Twin { member, done_to, reached }) => {
                (place.member, place.state) = (member, MemberState::Rebuilding { done_to, reached });
                self.bays[usize::from(member)] = Bay::Slot(slot);
            }
            None => place.state = MemberState::Failed,
        }
    }

    /// Makes a failed disk, or a new one in its bay, a hot spare.
    ///
    /// A disk that is pulled and put back carries out-of-date data of the set; until it is cleared nothing uses it.
    pub fn clear(&mut self, member: u32) -> Result<(), HealthError> {
        let (member, bay) = self.bay(member)?;
        if bay != Bay::Failed {
            let advice = "only a failed or pulled disk can be cleared";
            return Err(HealthError::WrongState { member, state: "in use or waiting", advice });
        }
        // The slot it left behind no longer has a disk; it keeps the number until a spare takes over.
        self.bays[usize::from(member)] = Bay::Spare;
        Ok(())
    }

    /// Puts the disk into failed slot `slot`, empty, for a rebuild to fill.
    pub fn rebuild_on(&mut self, slot: u16, member: u32) -> Result<(), HealthError> {
        let (member, bay) = self.bay(member)?;
        self.needs_failed(slot)?;
        match bay {
            Bay::Spare => {}
            Bay::Failed => return Err(HealthError::NotCleared { member }),
            Bay::Slot(_) | Bay::Twin(_) => return Err(in_use(member)),
        }
        let empty = MemberState::Rebuilding { done_to: Lba(0), reached: Lba(0) };
        let place = &mut self.slots[usize::from(slot)];
        (place.member, place.state) = (member, empty);
        self.bays[usize::from(member)] = Bay::Slot(slot);
        self.look_again();
        Ok(())
    }

    /// As [`Health::rebuild_on`], with the hot spare of the lowest number, which is returned.
    pub fn rebuild_on_spare(&mut self, slot: u16) -> Result<u16, HealthError> {
        self.needs_failed(slot)?;
        let spare = self.spares().next().ok_or(HealthError::NoSpare { member: self.member(slot) })?;
        self.rebuild_on(slot, u32::from(spare))?;
        Ok(spare)
    }

    /// Begins to copy slot `slot` to the hot spare `member`: a clone, or a copy-back to a replaced disk.
    pub fn clone_to(&mut self, slot: u16, member: u32) -> Result<(), HealthError> {
        let (member, bay) = self.bay(member)?;
        match bay {
            Bay::Spare => {}
            Bay::Failed => return Err(HealthError::NotCleared { member }),
            Bay::Slot(_) | Bay::Twin(_) => return Err(in_use(member)),
        }
        let source = self.slots[usize::from(slot)];
        if source.state != MemberState::Optimal || source.twin.is_some() {
            let advice = "only a whole disk can be copied, once at a time";
            return Err(HealthError::WrongState {
                member: source.member,
                state: "not whole or being copied",
                advice,
            });
        }
        self.slots[usize::from(slot)].twin = Some(Twin { member, done_to: Lba(0), reached: Lba(0) });
        self.bays[usize::from(member)] = Bay::Twin(slot);
        self.look_again();
        Ok(())
    }

    /// Moves the marks of a rebuild or a copy of slot `slot`; see [`Sweep`](super::Sweep). Without one, nothing.
    pub fn progress(&mut self, slot: u16, to: Lba, up_to: Lba) {
        debug_assert!(to <= up_to, "nothing can be done that was not begun");
        let place = &mut self.slots[usize::from(slot)];
        if let MemberState::Rebuilding { done_to, reached } = &mut place.state {
            (*done_to, *reached) = (to, up_to);
        }
        if let Some(twin) = &mut place.twin {
            (twin.done_to, twin.reached) = (to, up_to);
        }
    }

    /// Ends a rebuild or a copy of slot `slot`: the new disk is whole. The disk copied from becomes a spare.
    pub fn finish(&mut self, slot: u16) {
        let place = &mut self.slots[usize::from(slot)];
        if let MemberState::Rebuilding { .. } = place.state {
            place.state = MemberState::Optimal;
        }
        if let Some(twin) = place.twin.take() {
            let source = std::mem::replace(&mut place.member, twin.member);
            self.bays[usize::from(source)] = Bay::Spare;
            self.bays[usize::from(twin.member)] = Bay::Slot(slot);
        }
        self.look_again();
    }

    /// Says that parity is right only below this member address; above it writes must not rely on it.
    ///
    /// Used while parity is built under load; [`Health::parity_is_built`] ends it.
    pub fn parity_built_to(&mut self, to: Lba) {
        self.parity_built_to = to;
    }

    /// Says that parity is right everywhere, which is how a new [`Health`] starts.
    pub fn parity_is_built(&mut self) {
        self.parity_built_to = ALL;
    }

    #[inline]
    pub(super) fn has_parity(&self, to: u64) -> bool {
        to <= self.parity_built_to.0
    }

    /// Whether nothing in the group needs a second look.
    #[inline]
    pub(super) fn is_clean(&self, group: u32) -> bool {
        !self.impaired[group as usize]
    }

    /// Whether the disk in the slot has all of `[from, to)`.
    #[inline]
    pub(super) fn can_read(&self, slot: u32, to: u64) -> bool {
        match self.slots[slot as usize].state {
            MemberState::Optimal => true,
            MemberState::Failed => false,
            MemberState::Rebuilding { done_to, .. } => to <= done_to.0,
        }
    }

    /// Whether a write that starts at `from` must go to the disk in the slot.
    ///
    /// Ahead of a rebuild it need not: the rebuild brings the new contents along.
    #[inline]
    pub(super) fn must_write(&self, slot: u32, from: u64) -> bool {
        match self.slots[slot as usize].state {
            MemberState::Optimal => true,
            MemberState::Failed => false,
            MemberState::Rebuilding { reached, .. } => from < reached.0,
        }
    }

    /// The copy in the making that a write starting at `from` must go to as well.
    #[inline]
    pub(super) fn twin_behind(&self, slot: u32, from: u64) -> Option<u16> {
        self.slots[slot as usize].twin.filter(|twin| from < twin.reached.0).map(|twin| twin.member)
    }

    fn bay(&self, member: u32) -> Result<(u16, Bay), HealthError> {
        let last = narrow::<u16>(self.bays.len() - 1);
        match self.bays.get(member as usize) {
            Some(&bay) => Ok((narrow::<u16>(member), bay)),
            None => Err(HealthError::NoSuchMember { member, last }),
        }
    }

    fn needs_failed(&self, slot: u16) -> Result<(), HealthError> {
        match self.slots.get(usize::from(slot)) {
            None => Err(HealthError::NoSuchMember {
                member: slot.into(),
                last: narrow::<u16>(self.slots.len()) - 1,
            }),
            Some(Slot { state: MemberState::Failed, .. }) => Ok(()),
            Some(place) => {
                let advice = "only a failed one is rebuilt";
                Err(HealthError::WrongState { member: place.member, state: "not failed", advice })
            }
        }
    }

    /// Whether slots and bays say the same of every disk.
    fn is_consistent(&self) -> bool {
        let is_at = |member: u16, bay: Bay| self.bays[usize::from(member)] == bay;
        let slots_agree = (0..).zip(&self.slots).all(|(number, slot)| {
            let has_disk = slot.state != MemberState::Failed;
            (!has_disk || is_at(slot.member, Bay::Slot(number)))
                && slot.twin.is_none_or(|twin| has_disk && is_at(twin.member, Bay::Twin(number)))
        });
        slots_agree
            && (0..).zip(&self.bays).all(|(member, bay)| match *bay {
                Bay::Slot(slot) => self.member(slot) == member && self.state(slot) != MemberState::Failed,
                Bay::Twin(slot) => self.twin(slot) == Some(member),
                Bay::Spare | Bay::Failed => true,
            })
    }

    fn look_again(&mut self) {
        let width = self.group_width as usize;
        for (group, slots) in self.impaired.iter_mut().zip(self.slots.chunks(width)) {
            *group = slots.iter().any(|slot| slot.state != MemberState::Optimal || slot.twin.is_some());
        }
        assert!(
            self.is_consistent(),
            "a disk must be in one slot, one copy in the making, a spare or failed"
        );
    }
}

fn in_use(member: u16) -> HealthError {
    HealthError::WrongState { member, state: "in use", advice: "choose a hot spare" }
}

#[cfg(test)]
mod tests {
    use units::Sectors;

    use super::super::geometry::SetSpec;
    use super::super::level::Level;
    use super::*;

    fn with_two_spares() -> Health {
        let spec = SetSpec { spares: 2, ..SetSpec::new(Level::Raid50, 6, Sectors(8), Sectors(80)) };
        Health::new(&Geometry::new(spec).unwrap())
    }

    #[test]
    fn a_disk_in_two_places_or_in_none_is_no_consistent_set() {
        let mut health = with_two_spares();
        health.clone_to(0, 6).unwrap();
        health.fail(3).unwrap();
        assert!(health.is_consistent());
        let spoilt = |spoil: &dyn Fn(&mut Health)| {
            let mut health = health.clone();
            spoil(&mut health);
            health.is_consistent()
        };
        assert!(!spoilt(&|health| health.bays[1] = Bay::Spare), "a slot without its disk");
        assert!(!spoilt(&|health| health.bays[6] = Bay::Spare), "a copy that is a spare too");
        assert!(!spoilt(&|health| health.slots[3].twin = health.slots[0].twin), "a copy of no disk");
        assert!(!spoilt(&|health| health.slots[2].member = 1), "one disk in two slots");
    }

    #[test]
    fn only_the_groups_with_a_loss_or_a_copy_need_a_second_look() {
        let mut health = with_two_spares();
        assert_eq!([health.is_clean(0), health.is_clean(1)], [true, true]);
        health.fail(4).unwrap();
        assert_eq!([health.is_clean(0), health.is_clean(1)], [true, false]);
        health.clone_to(0, 6).unwrap();
        assert!(!health.is_clean(0));
    }

    #[test]
    fn a_write_goes_to_a_copy_in_the_making_below_its_mark_only() {
        let mut health = with_two_spares();
        health.clone_to(3, 6).unwrap();
        health.progress(3, Lba(16), Lba(32));
        assert_eq!([31, 32].map(|from| health.twin_behind(3, from)), [Some(6), None]);
    }

    #[test]
    fn only_a_failed_slot_that_the_set_has_is_rebuilt() {
        let mut health = with_two_spares();
        let in_use = HealthError::WrongState {
            member: 2,
            state: "not failed",
            advice: "only a failed one is rebuilt",
        };
        assert_eq!(health.rebuild_on(2, 6), Err(in_use));
        assert_eq!(health.rebuild_on(6, 6), Err(HealthError::NoSuchMember { member: 6, last: 5 }));
    }
}
