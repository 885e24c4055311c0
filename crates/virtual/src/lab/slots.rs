//! The enclosure: every slot with its disk and what the disk is used for.

use array::spec::ArraySpec;
use serde::Serialize;
use units::convert::narrow;

/// What a slot holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum SlotState {
    /// A member of a set, or a disk by itself, that works.
    Online,
    /// A disk that has failed.
    Failed,
    /// A hot spare.
    Spare,
    /// A disk that is being filled.
    Rebuilding,
    /// A slot that no set uses: its disk is there, and does nothing.
    Empty,
}

/// One slot of the enclosure.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Slot {
    /// Its number, from 0: that of `fail disk`, `raid.failed` and `members`.
    pub slot: u32,
    /// What it is used for.
    pub state: SlotState,
    /// The library's name of the disk.
    pub device: String,
    /// The RAID set that the disk is a member of, from 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub set: Option<u32>,
}

/// The slots of `spec`, with the disks of `failed` failed beside those that its address fails.
pub fn slots(spec: &ArraySpec, failed: &[u32]) -> Vec<Slot> {
    let topology = &spec.topology;
    let set_of =
        |disk: u32| topology.sets.iter().position(|set| set.members.contains(&disk)).map(narrow::<u32>);
    let slot = |(disk, model): (u32, &u32)| {
        let set = set_of(disk);
        let state = match set {
            _ if failed.contains(&disk) || topology.failed.contains(&disk) => SlotState::Failed,
            Some(_) => SlotState::Online,
            None if topology.spares.contains(&disk) => SlotState::Spare,
            None => SlotState::Empty,
        };
        let device = spec.models.get(*model as usize).cloned().unwrap_or_default();
        Slot { slot: disk, state, device, set }
    };
    (0..).zip(&topology.disks).map(slot).collect()
}

#[cfg(test)]
mod tests {
    use array::spec::{Shipped, array};

    use super::*;

    #[test]
    fn members_spares_failed_disks_and_unused_ones_are_told_apart() {
        let spec = array(&Shipped, "md3000?raid=5&disks=4&failed=2").expect("it is shipped");
        let found = slots(&spec, &[0]);
        let states: Vec<SlotState> = found.iter().map(|slot| slot.state).collect();
        let mut expected = vec![SlotState::Empty; 15];
        expected[..5].copy_from_slice(&[
            SlotState::Failed,
            SlotState::Online,
            SlotState::Failed,
            SlotState::Online,
            SlotState::Spare,
        ]);
        assert_eq!(states, expected);
        assert!(found.iter().all(|slot| slot.device == "st3146855ss"));
        assert_eq!((found[3].set, found[4].set), (Some(0), None));
    }
}
