//! Power goes, and comes back.

use std::io;
use std::time::Duration;

use units::convert::narrow;

use super::WriteCache;
use super::log::apply;
use super::pieces::Contents;
use super::range::SectorRange;
use super::state::give_up;
use super::table::newest_table;
use crate::set::Fault;

impl WriteCache {
    /// Power goes and comes back: without a battery what members do not have is lost. `below` reads a sector of them.
    ///
    /// Call while nobody else writes to members what is here ([`WriteCache::alone`]). What was lost by this comes back.
    pub fn lose_power(
        &self,
        below: impl Fn(u32, u64, &mut [u8]) -> Result<(), Fault>,
    ) -> io::Result<Vec<SectorRange>> {
        let mut state = self.write_state();
        if state.settings.has_battery {
            return Ok(Vec::new());
        }
        let lost = give_up(&mut state, below);
        self.recount(&state);
        self.begin_log(&mut state)?;
        Ok(lost)
    }

    /// Reads again what a former server has left; what was lost with it comes back. `below` reads a sector of members,
    /// on which the journal is already.
    pub fn recover(
        &self,
        below: impl Fn(u32, u64, &mut [u8]) -> Result<(), Fault>,
    ) -> io::Result<Vec<SectorRange>> {
        let Some(kept) = &self.kept else { return Ok(Vec::new()) };
        let mut state = self.write_state();
        let state = &mut *state;
        let Some(table) = newest_table(kept.medium.as_ref())? else {
            return self.begin_log(state).map(|()| Vec::new());
        };
        if table.array == self.owner.array {
            state.settings = table.settings;
        }
        if !table.is_needed(&self.owner) {
            // It is of other disks, or they have it all, and more: it says nothing of these.
            self.recount(state);
            return self.begin_log(state).map(|()| Vec::new());
        }
        let sets = narrow::<u32>(state.sets.len());
        for place in table.lost.into_iter().filter(|place| place.set < sets) {
            state.insert(place, Contents::Lost, Duration::ZERO);
        }
        kept.log.replay(|set, record| {
            if set < sets {
                apply(state, set, record);
            }
            Ok(())
        })?;
        let lost = if state.settings.has_battery { Vec::new() } else { give_up(state, below) };
        match state.dirty {
            0 => self.begin_log(state)?,
            // From now on it is this start's.
            _ => self.write_table(state)?,
        }
        self.recount(state);
        Ok(lost)
    }
}
