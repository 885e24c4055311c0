//! The drive's buffer: which runs of sectors it holds.
//!
//! **Invariant:** at most as many segments as the drive has, none longer than a segment, and none that ends before it
//! starts.

use super::DriveCacheParams;

/// A run of sectors in the buffer, `start..end`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Segment {
    /// First sector held.
    pub start: u64,
    /// First sector after those held.
    pub end: u64,
    used: u64,
    /// Whether a write brought it.
    written: bool,
}

impl Segment {
    fn overlaps(&self, start: u64, end: u64) -> bool {
        (self.start < end) & (self.end > start)
    }

    /// Drops `start..end`; where that cuts it in two the first part stays.
    #[inline]
    fn forget(&mut self, start: u64, end: u64) {
        if !self.overlaps(start, end) {
            return;
        }
        if self.start < start {
            self.end = start;
        } else {
            self.start = self.end.min(end);
        }
        if self.start == self.end {
            self.used = 0;
        }
    }
}

/// The least recently used so far: of equal ones the first.
#[derive(Clone, Copy)]
struct Oldest {
    used: u64,
    place: usize,
}

impl Oldest {
    const NONE: Oldest = Oldest { used: u64::MAX, place: usize::MAX };

    /// The older of it and the segment at `place`, without a branch: which it is no processor foresees.
    #[inline]
    fn or(self, used: u64, place: usize) -> Oldest {
        let is_older = used < self.used;
        Oldest { used: self.used.min(used), place: if is_older { place } else { self.place } }
    }

    fn place(self) -> usize {
        debug_assert_ne!(self.place, usize::MAX, "a buffer has a segment for what it is given");
        self.place
    }
}

/// The segments, replaced by least recent use.
#[derive(Clone, Debug)]
pub struct Buffer {
    segments: Vec<Segment>,
    sectors_each: u64,
    clock: u64,
    /// How many of the segments, from the first, writes alone may have.
    for_writes: usize,
    /// How many may hold what was written.
    most_written: usize,
    hits_on_written: bool,
}

impl Buffer {
    /// An empty buffer.
    pub fn new(params: &DriveCacheParams) -> Buffer {
        let count = params.segments.max(1) as usize;
        let for_writes = usize::from(params.separate_write && count > 1);
        Buffer {
            segments: vec![Segment::default(); count],
            sectors_each: params.segment.0.max(1),
            clock: 0,
            for_writes,
            most_written: if for_writes > 0 { for_writes } else { params.write_segments.max(1) as usize },
            hits_on_written: params.hits_on_written,
        }
    }

    /// The segment that holds `sector`, or ends just before it.
    #[inline]
    pub fn find(&self, sector: u64) -> Option<usize> {
        // One comparison instead of two: which of them fails for a random sector is what no processor foresees, and the
        // look-ups of one read cost it four wrong guesses.
        let holds = |segment: &Segment| {
            let Segment { start, end, used, .. } = *segment;
            (used != 0) & (sector.wrapping_sub(start) <= end.wrapping_sub(start))
        };
        self.segments.iter().position(holds)
    }

    /// The segment itself.
    #[inline]
    pub fn segment(&self, index: usize) -> Segment {
        self.segments[index]
    }

    /// Marks a segment as just used.
    #[inline]
    pub fn touch(&mut self, index: usize) {
        self.clock += 1;
        self.segments[index].used = self.clock;
    }

    /// Grows a segment to `end`; its oldest sectors give way where it is full.
    pub fn extend(&mut self, index: usize, end: u64) {
        let segment = &mut self.segments[index];
        segment.end = segment.end.max(end);
        segment.start = segment.start.max(segment.end.saturating_sub(self.sectors_each));
        debug_assert!(segment.start <= segment.end, "a segment must not end before it begins");
        debug_assert!(
            segment.end - segment.start <= self.sectors_each,
            "a segment must not outgrow its memory"
        );
    }

    /// Lets a segment drop what lies before `start`: the host has it.
    pub fn consume(&mut self, index: usize, start: u64) {
        let segment = &mut self.segments[index];
        segment.start = segment.start.max(start.min(segment.end));
    }

    /// Gives `start..end`, which was read, the least recently used segment, without what other segments held of it.
    pub fn replace(&mut self, start: u64, end: u64) -> usize {
        debug_assert!(start <= end, "what is kept must not end before it begins");
        // One walk: what others held is dropped, and the oldest found.
        let mut oldest = Oldest::NONE;
        for (place, segment) in self.segments.iter_mut().enumerate() {
            segment.forget(start, end);
            oldest = oldest.or(if place < self.for_writes { u64::MAX } else { segment.used }, place);
        }
        self.put(oldest.place(), start, end, false)
    }

    /// Gives `start..end`, which is written, a segment that writes may have. What others held near it is stale: segments
    /// that it overlaps are emptied. Where reads are not answered from what was written, nothing is kept.
    pub fn write(&mut self, start: u64, end: u64) {
        debug_assert!(start <= end, "what is kept must not end before it begins");
        let (index, empties) = self.for_write(start, end);
        if empties {
            self.segments
                .iter_mut()
                .filter(|segment| segment.overlaps(start, end))
                .for_each(|segment| *segment = Segment::default());
        }
        debug_assert!(
            !self.segments.iter().any(|segment| segment.overlaps(start, end)),
            "what is written must be in no other segment"
        );
        let index = self.put(index, start, end, true);
        if !self.hits_on_written {
            self.segments[index].used = 0;
        }
    }

    /// Whether a segment would lose what it holds to a write of `start..end`.
    pub fn gives_way(&self, index: usize, start: u64, end: u64) -> bool {
        self.segments[index].overlaps(start, end) || self.for_write(start, end).0 == index
    }

    /// The segment that a write of `start..end` gets, which empties those that it overlaps; whether there may be such.
    fn for_write(&self, start: u64, end: u64) -> (usize, bool) {
        if self.for_writes > 0 {
            return (0, true);
        }
        // One walk without a branch, for this is done for every write: the oldest of all, the oldest that a write brought,
        // and how many writes have.
        let (mut written, mut oldest, mut oldest_written) = (0, Oldest::NONE, Oldest::NONE);
        let mut overlaps = false;
        for (place, segment) in self.segments.iter().enumerate() {
            let is_left = !segment.overlaps(start, end);
            overlaps |= !is_left;
            let (used, is_written) = (u64::from(is_left) * segment.used, is_left & segment.written);
            written += usize::from(is_written & (used != 0));
            oldest = oldest.or(used, place);
            oldest_written = oldest_written.or(if is_written { used } else { u64::MAX }, place);
        }
        let oldest = if written < self.most_written { oldest } else { oldest_written };
        (oldest.place(), overlaps)
    }

    fn put(&mut self, index: usize, start: u64, end: u64, written: bool) -> usize {
        self.segments[index] = Segment { start, end: start, used: 0, written };
        self.extend(index, end);
        self.touch(index);
        index
    }

    /// Has a segment hold what lies in front of it from `start` on, as far as it has room.
    pub fn extend_down(&mut self, index: usize, start: u64) {
        let segment = &mut self.segments[index];
        segment.start = segment.start.min(start.max(segment.end.saturating_sub(self.sectors_each)));
    }

    /// Drops `start..end` from all segments; of a segment cut in two the first part stays.
    #[cfg(test)]
    fn forget(&mut self, start: u64, end: u64) {
        self.segments.iter_mut().for_each(|segment| segment.forget(start, end));
    }
}

#[cfg(test)]
mod tests {
    use units::Sectors;

    use super::*;

    fn buffer(segments: u32) -> Buffer {
        Buffer::new(&DriveCacheParams::plain(segments, Sectors(100)))
    }

    #[test]
    fn the_least_recently_used_segment_is_replaced() {
        let mut buffer = buffer(2);
        let first = buffer.replace(0, 50);
        buffer.replace(1000, 1050);
        buffer.touch(first);
        buffer.replace(2000, 2050);
        assert_eq!(buffer.find(10), Some(first));
        assert_eq!(buffer.find(1010), None);
    }

    #[test]
    fn a_full_segment_slides_with_the_stream() {
        let mut buffer = buffer(1);
        let index = buffer.replace(0, 80);
        buffer.extend(index, 150);
        assert_eq!((buffer.segment(index).start, buffer.segment(index).end), (50, 150));
    }

    #[test]
    fn what_is_written_is_forgotten_where_it_was_held_before() {
        let mut buffer = buffer(2);
        let index = buffer.replace(0, 100);
        buffer.forget(40, 60);
        assert_eq!((buffer.segment(index).start, buffer.segment(index).end), (0, 40));
    }
}
