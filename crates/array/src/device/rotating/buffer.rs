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
}

/// The segments, replaced by least recent use.
#[derive(Clone, Debug)]
pub struct Buffer {
    segments: Vec<Segment>,
    sectors_each: u64,
    clock: u64,
}

impl Buffer {
    /// An empty buffer.
    pub fn new(params: &DriveCacheParams) -> Buffer {
        let count = params.segments.max(1) as usize;
        Buffer { segments: vec![Segment::default(); count], sectors_each: params.segment.0.max(1), clock: 0 }
    }

    /// The segment that holds `sector`, or ends just before it.
    pub fn find(&self, sector: u64) -> Option<usize> {
        // One comparison instead of two: which of them fails for a random sector is what no processor foresees, and the
        // look-ups of one read cost it four wrong guesses.
        let holds = |segment: &Segment| {
            let Segment { start, end, used } = *segment;
            used != 0 && sector.wrapping_sub(start) <= end - start
        };
        self.segments.iter().position(holds)
    }

    /// The segment itself.
    pub fn segment(&self, index: usize) -> Segment {
        self.segments[index]
    }

    /// Marks a segment as just used.
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

    /// Gives `start..end` the least recently used segment, without what other segments held of it.
    pub fn replace(&mut self, start: u64, end: u64) -> usize {
        debug_assert!(start <= end, "what is kept must not end before it begins");
        self.forget(start, end);
        let (index, _) = self
            .segments
            .iter()
            .enumerate()
            .min_by_key(|(_, segment)| segment.used)
            .expect("a buffer has at least one segment");
        self.segments[index] = Segment { start, end: start, used: 0 };
        self.extend(index, end);
        self.touch(index);
        index
    }

    /// Drops `start..end` from all segments; of a segment cut in two the first part stays.
    pub fn forget(&mut self, start: u64, end: u64) {
        for segment in &mut self.segments {
            if segment.start >= end || segment.end <= start {
                continue;
            }
            if segment.start < start {
                segment.end = start;
            } else {
                segment.start = segment.end.min(end);
            }
            if segment.start == segment.end {
                segment.used = 0;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use units::{Sectors, Share};

    use super::*;

    fn buffer(segments: u32) -> Buffer {
        Buffer::new(&DriveCacheParams {
            segments,
            segment: Sectors(100),
            read_ahead: Sectors(100),
            read_ahead_after: 0,
            tops_up: true,
            keeps_read: true,
            forward_after: Share::NONE,
            almost_hits: true,
            write_back: false,
            write_segments: 0,
        })
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
