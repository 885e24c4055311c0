//! A worker's own stretch of a region, and the ways to pass through it.
//!
//! **Invariant:** a request lies within the stretch, which holds one of the largest.

use units::convert::narrow;

use super::{Grain, Region, RegionShare};

/// A worker's own stretch of the region and where it is in it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Run {
    pub next: u64,
    pub start: u64,
    pub end: u64,
}

impl Run {
    /// Worker `part`'s stretch, cut at multiples of the alignment so that stretches do not overlap.
    pub(super) fn of(region: Region, part: RegionShare, grain: Grain, from_end: bool) -> Run {
        let unit = grain.align.get();
        let units = u128::from(region.len.get() / unit);
        let cut = |index: u32| narrow::<u64>(units * u128::from(index) / u128::from(part.of)) * unit;
        assert!(part.index < part.of, "a worker is one of those that share the region");
        let (start, end) = (cut(part.index), cut(part.index + 1));
        assert!(end <= region.len.get(), "parts lie within the region");
        Run { next: if from_end { end } else { start }, start, end }
    }

    #[inline]
    pub(super) fn up(&mut self, len: u64) -> u64 {
        if self.next + len > self.end {
            self.next = self.start;
        }
        let offset = self.next;
        self.next += len;
        debug_assert!(self.next <= self.end, "a request lies within the worker's part");
        offset
    }

    /// On from where the last request ended, at the next multiple of `align`; from the start after the end.
    #[inline]
    pub(super) fn on(&self, len: u64, align: u64) -> u64 {
        let at = self.next.next_multiple_of(align);
        debug_assert!(self.start + len <= self.end, "the worker's part holds no request of {len} bytes");
        if at + len > self.end { self.start } else { at }
    }

    #[inline]
    pub(super) fn down(&mut self, len: u64) -> u64 {
        if self.next < self.start + len {
            self.next = self.end;
        }
        self.next -= len;
        debug_assert!(self.next >= self.start, "a request lies within the worker's part");
        self.next
    }

    /// On within the first `passed` bytes of a step; behind them, to the next step.
    #[inline]
    pub(super) fn stepped(&mut self, len: u64, step: u64, passed: u64) -> u64 {
        debug_assert!(step > 0 && passed <= step, "{passed} bytes of each {step} are passed");
        let begins = self.start + (self.next - self.start) / step * step;
        if self.next + len > begins + passed {
            self.next = begins + step;
        }
        if self.next + len > self.end {
            self.next = self.start;
        }
        let offset = self.next;
        debug_assert!(
            offset >= self.start && offset + len <= self.end,
            "a request lies within the worker's part"
        );
        self.next += len;
        offset
    }

    /// Down by a step from start to start; from the end again where that is too far.
    #[inline]
    pub(super) fn back(&mut self, len: u64, step: u64) -> u64 {
        let at = if self.next == self.end { self.end.checked_sub(len) } else { self.next.checked_sub(step) };
        self.next = at.filter(|at| *at >= self.start).unwrap_or(self.end - len);
        debug_assert!(
            self.next >= self.start && self.next + len <= self.end,
            "a request lies within the worker's part"
        );
        self.next
    }

    /// Each pass begins one request later than the last, until the width is filled: a second pass over the
    /// same blocks would measure a cache.
    #[inline]
    pub(super) fn stride(&mut self, len: u64, stride: u64, width: u64, pass_start: &mut u64) -> u64 {
        if self.next + len > self.end {
            let shifted = *pass_start + len;
            let fits = shifted + len <= self.end && shifted - self.start + len <= width;
            *pass_start = if fits { shifted } else { self.start };
            self.next = *pass_start;
        }
        let offset = self.next;
        debug_assert!(
            offset >= self.start && offset + len <= self.end,
            "a request lies within the worker's part"
        );
        self.next += stride;
        offset
    }
}
