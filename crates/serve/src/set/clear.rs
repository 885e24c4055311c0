//! All of a set reads as zeros at once.

use std::io;
use std::sync::RwLockWriteGuard;

use array::raid::{PlanError, Sweep};
use units::Sectors;

use super::{Scratch, SetStore, slot_of};
use crate::rows::RowGuard;

impl SetStore {
    /// Passes over the next unit of a pass: by how many sectors, or `None` at its end.
    pub fn pass(&self, scratch: &mut Scratch, sweep: &mut Sweep) -> Result<Option<Sectors>, PlanError> {
        let state = self.state();
        let unit = sweep.next(&self.geometry, &state.health, array::raid::first, &mut scratch.plan)?;
        Ok(unit.map(|unit| {
            sweep.settle(unit);
            unit.sectors
        }))
    }

    /// Nobody reads or writes while it is held.
    pub fn hold_all(&self) -> RowGuard<RwLockWriteGuard<'_, ()>> {
        self.rows.exclusive(0, u64::MAX)
    }

    /// Has nothing be remembered that would undo [`SetStore::clear`], nor a drive that is away be taken for one that has missed nothing.
    pub fn will_clear(&self) -> io::Result<()> {
        self.count_all();
        // What lies in the journal must not come back over it; and the memory has that all is changed before it is.
        self.common.checkpoint(false)?;
        let Some(nvram) = &self.common.nvram else { return Ok(()) };
        self.groups().try_for_each(|group| nvram.maps().intend_all(self.number_of(group)))
    }

    /// Has every sector that the set uses read as zeros, on stable storage; the members that refused. Nobody reads or writes meanwhile:
    /// [`SetStore::hold_all`]. Follows [`SetStore::will_clear`].
    pub fn clear(&self) -> Vec<(u16, io::Error)> {
        let state = self.state();
        let used = self.geometry.member_used().0;
        let mut refused = Vec::new();
        for (member, disk) in (0..).zip(&state.disks) {
            // Spares, too: they are empty, and may take over. Those that another set uses are neither.
            let is_own = slot_of(&self.geometry, &state.health, member).is_some()
                || state.health.spares().any(|spare| spare == member);
            if let Some(disk) = disk.as_ref().filter(|_| is_own)
                && let Err(why) = disk.discard(0, used).and_then(|()| disk.flush())
            {
                refused.push((member, io::Error::other(why)));
            }
        }
        self.note_refusals(&state.health, &refused);
        refused
    }
}
