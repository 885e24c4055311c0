//! Reads: from the buffer, from the media, or from both.

use units::convert::truncated;

use super::super::ContinuousRead;
use super::super::layout::SectorPosition;
use super::super::mechanics::{Access, Media};
use super::super::waiting::Entry;
use super::ahead::Ahead;
use super::{Drive, at_once};
use crate::device::Command;

impl Drive {
    pub(super) fn read(&mut self, entry: &Entry, started: u64) -> u64 {
        let Command { first, sectors, .. } = entry.command;
        let (sectors, end) = (u64::from(sectors), first + u64::from(sectors));
        self.settle_ahead(started, first);
        let known = self.buffer.as_ref().and_then(|buffer| buffer.find(first));
        if let Some(found) = self.held(known, first, end, started) {
            let processed = self.processed(entry, started, self.overhead(self.params.overhead.read_hit));
            self.steps = at_once(processed, processed);
            return self.read_hit(found, entry, processed + self.params.overhead.data.get());
        }
        if self.params.cache.is_some_and(|cache| cache.hits_on_written)
            && self.has_written(first, end, started)
        {
            return self.written_hit(entry, started);
        }
        let processed = self.processed(entry, started, self.overhead(self.params.overhead.read_miss));
        if let Some(found) = known.filter(|&known| self.begins_in(known, first)) {
            return self.read_rest(found, first, end, processed);
        }
        let media = self.move_to(entry.place, first, sectors, processed, Access::Read);
        self.steps = media.steps(processed);
        let streams = known.is_some();
        self.read_on(first, end, &media, entry.place, streams);
        self.delivered(&media, sectors)
    }

    /// Answers a read of what lies dirty, in whichever segment: the media has older data.
    fn written_hit(&mut self, entry: &Entry, started: u64) -> u64 {
        let overhead = self.params.overhead;
        let processed = self.processed(entry, started, self.overhead(overhead.read_hit));
        self.steps = at_once(processed, processed);
        processed + overhead.data.get() + u64::from(entry.command.sectors) * self.sector_ns
    }

    /// When `sectors` read from the media have crossed the drive's interface: they flow as they come, so the last
    /// one follows the head by one sector's time, or the first by all of them where the interface is slower.
    fn delivered(&self, media: &Media, sectors: u64) -> u64 {
        let forward = self.params.cache.map_or(0.0, |cache| cache.forward_after.get());
        let overhead = &self.params.overhead;
        let begun = media.first + truncated::<u64>(forward * (media.end - media.first) as f64);
        let first_out = begun + overhead.reselect.get() + overhead.data.get();
        (media.end + self.sector_ns).max(first_out + self.sector_ns * sectors)
    }

    /// The segment that has, or is about to get, all of `first..end`; `known` holds its first sector or ends before it.
    ///
    /// A read that begins in what the read-ahead has brought continues with it. One whose first sector the head has yet to
    /// reach waits for it where the drive's policy has it so, and starts over otherwise.
    fn held(&self, known: Option<usize>, first: u64, end: u64, now: u64) -> Option<usize> {
        let buffer = self.buffer.as_ref()?;
        let almost = self.params.cache.is_some_and(|cache| cache.almost_hits);
        let on_the_way = |ahead: &Ahead| buffer.segment(ahead.segment).end <= first && end <= ahead.limit;
        let found = known.or_else(|| self.ahead.filter(on_the_way).map(|ahead| ahead.segment))?;
        let segment = buffer.segment(found);
        if end <= segment.end {
            return Some(found);
        }
        let ahead = self.ahead.filter(|ahead| ahead.segment == found)?;
        let begun = first < segment.end;
        let soon = || match almost {
            // What is asked for beyond its limit moves that.
            true => first < ahead.limit,
            false => {
                let passed = self.mechanics.layout.end_clock(first, end - first) - ahead.clock;
                end <= ahead.limit && ahead.since + passed <= now
            }
        };
        (begun || soon()).then_some(found)
    }

    /// Whether a segment has the beginning of a read at `first`, no read-ahead being about to get the rest.
    fn begins_in(&self, segment: usize, first: u64) -> bool {
        self.buffer.as_ref().is_some_and(|buffer| first < buffer.segment(segment).end)
    }

    /// Reads from the media what the buffer lacks of `first..end`; what it has leaves meanwhile.
    fn read_rest(&mut self, found: usize, first: u64, end: u64, processed: u64) -> u64 {
        let held = self.buffer.as_ref().expect("a part is held by a buffer").segment(found).end;
        if held >= end {
            // The read-ahead has just stopped behind it.
            self.steps = at_once(processed, processed);
            return processed + (end - first) * self.sector_ns;
        }
        let place = self.mechanics.layout.place(held);
        let media = self.move_to(place, held, end - held, processed, Access::Read);
        self.steps = media.steps(processed);
        self.read_on(held, end, &media, place, true);
        (media.end + self.sector_ns).max(processed + (end - first) * self.sector_ns)
    }

    /// Answers a read from segment `found`, whose first sector leaves at `processed` or when the head has passed it.
    fn read_hit(&mut self, found: usize, entry: &Entry, processed: u64) -> u64 {
        let Command { first, sectors, .. } = entry.command;
        let (sectors, end) = (u64::from(sectors), first + u64::from(sectors));
        let limit = self.limit(first, end, true);
        let buffer = self.buffer.as_mut().expect("a hit needs a buffer");
        buffer.touch(found);
        let mut last_byte = processed + sectors * self.sector_ns;
        if let Some(ahead) = self.ahead.as_mut().filter(|ahead| ahead.segment == found) {
            // The stream is being read: keep the read-ahead that far in front of it.
            ahead.limit = ahead.limit.max(limit);
            let passed =
                self.mechanics.layout.end(entry.place, first, sectors).clock.saturating_sub(ahead.clock);
            // What leaves was read by the arm, which was nowhere else until then.
            let read = ahead.since + passed;
            self.mechanics.arm.free_at = self.mechanics.arm.free_at.max(read);
            if end > buffer.segment(found).end {
                last_byte = last_byte.max(read + self.sector_ns);
                // From here it is not as far to the limit as from where it began.
                ahead.least = passed + self.mechanics.layout.least(ahead.limit.saturating_sub(end));
                buffer.extend(found, end);
            }
        }
        if self.params.cache.is_some_and(|cache| cache.tops_up) && self.ahead.is_none() {
            self.top_up(found, limit, processed);
        }
        if !self.params.cache.is_some_and(|cache| cache.keeps_read)
            && let Some(buffer) = self.buffer.as_mut()
        {
            buffer.consume(found, end);
        }
        last_byte
    }

    /// Has the read-ahead of segment `found` continue up to `limit` from where it had stopped, if the arm still stands there.
    fn top_up(&mut self, found: usize, limit: u64, now: u64) {
        let Some(buffer) = self.buffer.as_ref() else { return };
        let from = buffer.segment(found).end;
        if limit <= from || self.mechanics.arm.free_at > now {
            return;
        }
        let place = self.mechanics.layout.place(from);
        if place.cylinder.abs_diff(self.mechanics.arm.cylinder) > 1 {
            return;
        }
        let on_track = now + self.mechanics.travel(place, Access::Read);
        let since = on_track + self.mechanics.rotation(place.clock, on_track);
        let least = self.mechanics.layout.least(limit - from);
        self.ahead = Some(Ahead { segment: found, since, clock: place.clock, limit, least });
    }

    /// Where a read-ahead behind `first..end` ends by the drive's policy; at `end` where there is none. `streams` says
    /// whether the read continues where an earlier one ended.
    fn limit(&self, first: u64, end: u64, streams: bool) -> u64 {
        let Some(cache) = &self.params.cache else { return end };
        let next_track = || self.mechanics.layout.track_end(self.mechanics.layout.track_end(end - 1));
        let policy = match cache.continuous_read {
            ContinuousRead::None => end,
            ContinuousRead::Track => self.mechanics.layout.track_end(end - 1),
            ContinuousRead::Cylinder => self.mechanics.layout.cylinder_end(end - 1),
            ContinuousRead::Segment if cache.keeps_read => (first + cache.segment.0).max(end),
            ContinuousRead::NextTrack => next_track(),
            ContinuousRead::Stream if streams => next_track(),
            ContinuousRead::Stream => end,
            ContinuousRead::Segment | ContinuousRead::Bounded => u64::MAX,
        };
        let most = policy.min(end + cache.read_ahead.0);
        most.max(end + cache.read_ahead_least.0).min(self.params.capacity.0)
    }

    /// Keeps what was read from the media at `place`, and starts the read-ahead that follows.
    fn read_on(&mut self, first: u64, end: u64, media: &Media, place: SectorPosition, streams: bool) {
        let limit = self.limit(first, end, streams);
        let (Some(cache), Some(buffer)) = (self.params.cache, self.buffer.as_mut()) else { return };
        let segment = match buffer.find(first) {
            Some(found) if buffer.segment(found).end == first => {
                buffer.extend(found, end);
                buffer.touch(found);
                found
            }
            _ => buffer.replace(first, end),
        };
        if !cache.keeps_read {
            buffer.consume(segment, end);
        }
        if cache.free_blocks {
            // Across a zone's edge the clock that it waited by may reach as far as its place: then nothing has passed.
            let waited_from = self.mechanics.layout.reach(place.clock.saturating_sub(media.waited));
            let passed = self.mechanics.layout.reach(place.clock).saturating_sub(waited_from);
            let before = passed.min(self.mechanics.layout.on_track(place));
            buffer.extend_down(segment, first - before);
        }
        if limit > end {
            let least = self.mechanics.layout.least(limit - first);
            self.ahead = Some(Ahead { segment, since: media.first, clock: place.clock, limit, least });
        }
    }
}
