//! Writes: into the buffer or to the media, and from the buffer to the media.

use units::Nanos;
use units::convert::truncated;

use super::super::FastWrite;
use super::super::layout::SectorPosition;
use super::super::mechanics::Access;
use super::super::waiting::Entry;
use super::dirty::Extent;
use super::{Drive, at_once};
use crate::device::Command;
use crate::meter::Class;

/// Dirty extents on either side of the arm from which the drive chooses the one it reaches first.
///
/// Not the number of its tags: what is acknowledged waits in the buffer, which holds thousands of small writes, and of those
/// the ones on the tracks around the arm are reached before it has gone anywhere else.
const NEAR: usize = 64;

/// What the media took of the buffer at one time.
pub(super) struct Written {
    /// On whose behalf it was written to the buffer.
    pub(super) class: Class,
    /// When the arm set out for it.
    pub(super) begun: u64,
    pub(super) ended: u64,
}

impl Drive {
    pub(super) fn write(&mut self, entry: &Entry, started: u64) -> u64 {
        let Command { first, sectors, .. } = entry.command;
        let (sectors, end) = (u64::from(sectors), first + u64::from(sectors));
        self.settle_ahead(started, first);
        let policy = self.params.cache.map_or(FastWrite::None, |cache| cache.fast_write);
        let buffered = policy != FastWrite::None && sectors <= self.dirty_limit;
        let appends = self.last_write_end == first && self.written_until_or_dirty() > started;
        let is_hit = buffered && (policy == FastWrite::All || appends);
        let overhead = self.params.overhead;
        let detached = overhead
            .detached_write
            .filter(|_| !buffered && self.last_was_write && self.last_write_end != first);
        let command = match detached {
            Some(detached) => detached.command.get(),
            None => self.overhead(if is_hit { overhead.write_hit } else { overhead.write_miss }),
        };
        let processed = self.processed(entry, started, command);
        // A write takes a segment, perhaps the one being filled: the read-ahead ends first.
        self.ahead = self.stop_ahead(processed);
        self.last_write_end = end;
        if let Some(buffer) = self.buffer.as_mut() {
            buffer.write(first, end);
        }
        if buffered {
            return self.write_to_buffer(entry, processed + overhead.data.get());
        }
        self.dirty.forget(first, end);
        let [seek, data, reselect] = match detached {
            Some(detached) => [detached.seek, detached.data, detached.reselect],
            None => [Nanos::ZERO, Nanos::ZERO, overhead.reselect],
        };
        let data_from = processed + data.get() + overhead.data.get();
        let transferred = data_from + self.sector_ns * sectors;
        let write_after = self.params.cache.map_or(0.0, |cache| cache.write_after.get());
        let gathered = data_from + truncated::<u64>(write_after * (self.sector_ns * sectors) as f64);
        let access = Access::Write { least: overhead.least_write_seek.get(), gathered };
        let media = self.move_to(entry.place, first, sectors, processed + seek.get(), access);
        self.steps = media.steps(processed);
        media.end.max(transferred) + reselect.get()
    }

    /// Until when the media is busy with writes that were acknowledged; for ever while some wait.
    fn written_until_or_dirty(&self) -> u64 {
        if self.dirty.is_empty() { self.written_until } else { u64::MAX }
    }

    /// Takes a write into the buffer, once there is room for what of it does not lie there dirty.
    fn write_to_buffer(&mut self, entry: &Entry, processed: u64) -> u64 {
        let Command { first, sectors, .. } = entry.command;
        let sectors = u64::from(sectors);
        let mut begin = processed;
        while !self.has_room(first, sectors) && self.destage(begin) {
            begin = begin.max(self.mechanics.arm.free_at);
        }
        self.steps = at_once(processed, begin);
        self.hold(&entry.command, begin, Some(entry.place));
        begin + sectors * self.sector_ns
    }

    /// Whether the buffer can take a write now.
    pub(super) fn has_room(&self, first: u64, sectors: u64) -> bool {
        let held = self.dirty.sectors();
        held + sectors <= self.dirty_limit
            || held + self.dirty.lacks(first, first + sectors) <= self.dirty_limit
    }

    /// Has the sectors of a write in the buffer, from `ready_at` on, that are to be written to the media; at `place`, where that is known.
    ///
    /// Those that lie there dirty are replaced where they are, and go to the media once. Those that are on their way to it
    /// come after that once more. (G. Smith, PostgreSQL 9.0 High Performance, 2010: a disk of a laptop that is told to
    /// commit, which writes the end of the same log again and again, does so 105 times a second without its cache, which
    /// is once a revolution, and 1,048 times with it.)
    pub(super) fn hold(&mut self, command: &Command, ready_at: u64, place: Option<SectorPosition>) {
        let Command { first, sectors, class, .. } = *command;
        let (mut from, end) = (first, first + u64::from(sectors));
        while from < end {
            let (begin, to) = self.dirty.gap(from, end);
            if begin < to {
                let known = place.filter(|_| begin == first);
                let place = known.unwrap_or_else(|| self.mechanics.layout.place(begin));
                self.dirty.push(Extent { first: begin, place, sectors: to - begin, ready_at, class });
            }
            from = to;
        }
        debug_assert!(self.dirty.sectors() <= self.dirty_limit, "no more may be held than there is room for");
    }

    /// Whether all of `first..end` was written, and is neither on the media by `now` nor given up for what came after it.
    pub(super) fn has_written(&self, first: u64, end: u64, now: u64) -> bool {
        let (from, to) = self.leaving;
        let leaves = self.written_until > now && from <= first && end <= to;
        leaves || self.dirty.holds(first, end)
    }

    /// Carries out the destages that began before `now`, while the drive had nothing else to do.
    pub(super) fn destage_until(&mut self, now: u64) {
        let patience = self.params.cache.map_or(Nanos::ZERO, |cache| cache.write_after_idle).get();
        while let Some(oldest) = self.dirty.oldest() {
            let waits = patience > 0 && self.dirty.sectors() * 2 < self.dirty_limit;
            let from = if waits { self.quiet_since + patience } else { 0 };
            let begin = self.mechanics.arm.free_at.max(oldest.ready_at).max(from);
            if begin >= now {
                break;
            }
            self.destage(begin);
        }
    }

    /// Writes the extent out that it reaches first from `begin` on or when the arm is free, and says when; `None` where all is written.
    pub(super) fn destage_one(&mut self, begin: u64) -> Option<Written> {
        let begin = begin.max(self.mechanics.arm.free_at);
        let extent = self.dirty.remove(self.nearest(begin))?;
        let media = self.move_to(
            extent.place,
            extent.first,
            extent.sectors,
            begin.max(extent.ready_at),
            Access::Destage,
        );
        self.leaving = (extent.first, extent.end());
        self.written_until = media.end;
        Some(Written { class: extent.class, begun: media.free, ended: media.end })
    }

    /// Where the extent begins that it reaches first from `begin` on; of equal ones, the oldest.
    fn nearest(&self, begin: u64) -> u64 {
        let mut nearest = (0, u64::MAX);
        // Whether one farther on in the same direction may be nearer.
        let mut consider = |extent: &Extent| {
            let travel = self.mechanics.travel(extent.place, Access::Destage);
            let reach = travel + self.mechanics.rotation(extent.place.clock, begin + travel);
            if reach < nearest.1 {
                nearest = (extent.first, reach);
            }
            travel < nearest.1
        };
        self.dirty.oldest().map(&mut consider);
        let _ = self.dirty.above(self.passed_last).take(NEAR).all(&mut consider);
        let _ = self.dirty.below(self.passed_last).take(NEAR).all(&mut consider);
        nearest.0
    }
}
