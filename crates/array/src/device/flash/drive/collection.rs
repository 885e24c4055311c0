//! Garbage collection: what writes leave owed, and what of it the drive does beside programs and while it is idle.

use units::convert::{narrow, truncated};
use units::{Instant, Nanos};

use super::super::FlashParams;
use super::super::map::Collection;
use super::FlashDrive;
use super::translation::State;

impl FlashDrive {
    /// Moves what lies in cells of one bit to the rest of the flash, as far as the drive had time for it before `now`.
    ///
    /// Each die reads and programs pages, each of which passes its channel twice. It is not in the meter of the dies.
    pub(super) fn fold(&mut self, now: Instant) {
        let FlashParams { planes, page, erase_block, pages_per_block, .. } = self.params;
        let (dies, channels) = (self.die_count() as f64, self.channels.len() as f64);
        let copy = self.copy().as_secs_f64() / (dies * f64::from(planes.max(1)));
        let copy = copy.max(2.0 * self.channel_page.as_secs_f64() / channels);
        let Some(slc) = &mut self.slc else { return };
        let mut idle = slc.idle(now);
        if idle.is_zero() {
            return;
        }
        let amplification = match &mut self.translation {
            State::Steady { fresh: 1.., .. } => 1.0,
            State::Steady { amplification, .. } => *amplification,
            State::Mapped { owed, .. } => {
                let blocks = f64::from(owed.erased / pages_per_block.max(1));
                let all = f64::from(owed.copied) * copy + blocks * erase_block.as_secs_f64() / dies;
                let part = (idle.as_secs_f64() / all.max(1e-12)).min(1.0);
                let pages = truncated::<u32>(f64::from(owed.erased) * part);
                if pages > 0 {
                    owed.part(pages);
                }
                idle = idle.saturating_sub(Nanos::from_secs_f64(all * part));
                1.0
            }
        };
        slc.fold(idle, page.as_f64() / copy.max(1e-12), amplification);
    }

    /// A page from one block to another.
    pub(super) fn copy(&self) -> Nanos {
        self.params.read_page.first().copied().unwrap_or(Nanos::ZERO) + self.params.program_page
    }

    /// Enters a write into the page map, where there is one: of a stream the pages that it ends, of others as many as
    /// they fill together.
    pub(super) fn map(&mut self, offset: u64, bytes: u64, sequential: bool, rewritten: u64) {
        let State::Mapped { map, scale, begun, owed } = &mut self.translation else { return };
        let (page, mapping) = (self.params.page.get().max(1), self.params.mapping.get().max(1));
        let mut first = offset / page;
        let count = if sequential {
            (offset + bytes) / page - first
        } else {
            first = offset / mapping * mapping / page;
            *begun += rewritten;
            let count = *begun / page;
            *begun %= page;
            count
        };
        for number in first..first + count {
            let entry = if sequential {
                scale.page_of_stream(map, number)
            } else {
                Some((scale.page(map, number), 1))
            };
            let Some((page, times)) = entry else { continue };
            owed.add(map.write(page).map(|collection| collection.times(times)));
        }
    }

    /// What die `index` has to collect now, before it can take more: whole blocks at a time.
    pub(super) fn owed(&mut self, index: usize, sequential: bool, planes: u32) -> Option<Collection> {
        let per_block = self.params.pages_per_block.max(1);
        let (dies, first) = (self.die_count(), self.planes_of(index).start);
        match &mut self.translation {
            State::Steady { fresh, .. } if *fresh > 0 => {
                *fresh = fresh.saturating_sub(u64::from(planes));
                None
            }
            State::Steady { amplification, .. } => {
                let per_page = if sequential { 0.0 } else { *amplification - 1.0 };
                let block = f64::from(self.params.pages_per_block);
                // A victim's valid share, 1 - 1/WA, is what each collection copies.
                let valid = (block * (1.0 - 1.0 / amplification.max(1.0))).max(1.0);
                let die = &mut self.dies[first];
                die.owed += per_page * f64::from(planes);
                if self.params.incremental {
                    let copied = truncated::<u32>(die.owed);
                    die.owed -= f64::from(copied);
                    return (copied > 0).then_some(Collection { erased: 0, copied });
                }
                (die.owed >= valid).then(|| {
                    die.owed -= valid;
                    Collection { erased: per_block, copied: truncated::<u32>(valid) }
                })
            }
            // Blocks lie on different dies: each program's die pays for its part of them.
            State::Mapped { owed, .. } if self.params.incremental => {
                // What gains as much room as the program takes.
                let gained = u64::from((owed.erased - owed.copied).max(1));
                let erased = u64::from(owed.erased);
                let pages = narrow::<u32>((u64::from(planes) * erased).div_ceil(gained).min(erased));
                (pages > 0).then(|| Collection { erased: 0, ..owed.part(pages) })
            }
            State::Mapped { owed, .. } => {
                let blocks = (owed.erased / per_block).div_ceil(narrow::<u32>(dies));
                (blocks > 0).then(|| owed.part(blocks * per_block))
            }
        }
    }
}
