//! Where the next request goes: one generator per pattern.
//!
//! Random patterns work on *slots*: the region is cut into pieces of the largest request size, a slot is drawn,
//! and a smaller request is placed at a random aligned offset within it. Only draws with repeats know no slots: each
//! goes to any aligned place where it fits. `Random` of several sizes keeps a map of what it has covered instead, so
//! that every aligned place is visited once in a pass.
//!
//! **Invariant:** an address depends on seed, specification and count alone, never on how requests ended.

mod aged;
mod covering;
mod run;
mod sequence;
mod slots;
#[cfg(test)]
mod tests;

use units::Bytes;
use units::convert::narrow;

use crate::rng::Streams;
use crate::spec::Pattern;

use covering::Covering;
use run::Run;
use slots::Slots;

/// The part of a file that is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Region {
    /// Distance from the start of the file; a multiple of the alignment.
    pub start: Bytes,
    /// Length; holds at least one request of the largest size.
    pub len: Bytes,
}

/// Which of several workers that share a region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RegionShare {
    /// From 0.
    pub index: u32,
    /// At least 1.
    pub of: u32,
}

impl RegionShare {
    /// The only one.
    pub const WHOLE: RegionShare = RegionShare { index: 0, of: 1 };

    /// What it does of `total`; the first parts do one more where it does not divide.
    pub(crate) fn share_of(self, total: u64) -> u64 {
        debug_assert!(self.index < self.of, "a worker is one of those that share {total}");
        let (of, index) = (u64::from(self.of), u64::from(self.index));
        total / of + u64::from(index < total % of)
    }
}

/// Sizes that place requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grain {
    /// Every offset within the region is a multiple of this; not zero.
    pub align: Bytes,
    /// The largest request.
    pub largest: Bytes,
    /// No request may cross a multiple of the largest one, because LUNs meet there.
    pub keeps_slots: bool,
    /// Requests have several sizes, and whoever draws them takes a smaller one where there is room for no more.
    pub mixed: bool,
}

/// Generates offsets from the start of the file.
#[derive(Clone, Debug)]
pub struct Addresses {
    base: u64,
    walk: Walk,
    /// Whether a request takes a smaller size where there is room for no more.
    fits: bool,
}

#[derive(Clone, Debug)]
enum Walk {
    Upwards(Run),
    Downwards(Run),
    Strided {
        run: Run,
        stride: u64,
        /// Passes begin within so much of a stride.
        width: u64,
        pass_start: u64,
    },
    /// `run` without gaps from each multiple of `step`.
    Stepped {
        run: Run,
        step: u64,
        passed: u64,
    },
    /// Downwards with gaps.
    Back {
        run: Run,
        step: u64,
    },
    Slots(Slots),
    Covering(Covering),
    /// Some requests go to a drawn place, the others go on where the last one ended.
    Continued {
        run: Run,
        slots: Slots,
        /// Where the last one went.
        last: u64,
    },
}

/// Where one request of a workload with several kinds of them may go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// Where, seen from the last one.
    pub go: Go,
    /// Its offset is a multiple of this; not zero.
    pub align: u64,
}

/// Where a request goes, seen from the last one of its worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Go {
    /// To a place that the pattern draws.
    Elsewhere,
    /// On from where it ended.
    On,
    /// Where it went, as far as the region has room there.
    Nowhere,
}

impl Addresses {
    /// The addresses of `pattern` in `region` for one of the workers that share it.
    ///
    /// Workers take turns in one permutation (`Random`) or have stretches of their own (`Sequential`,
    /// `Reverse`, `Stride`), so that together they visit each block once; other patterns draw independently.
    /// `name` tells streams apart. The caller has checked that `region` holds a slot for every worker.
    pub fn new(
        pattern: &Pattern,
        region: Region,
        part: RegionShare,
        grain: Grain,
        streams: Streams,
        name: &str,
    ) -> Addresses {
        let walk = match pattern {
            Pattern::Sequential => Walk::Upwards(Run::of(region, part, grain, false)),
            Pattern::Reverse => Walk::Downwards(Run::of(region, part, grain, true)),
            Pattern::Stride(stride) => {
                let run = Run::of(region, part, grain, false);
                Walk::Strided { run, stride: stride.get(), width: stride.get(), pass_start: run.start }
            }
            Pattern::StrideOf { step, run } => Walk::Stepped {
                run: Run::of(region, part, grain, false),
                step: step.get(),
                passed: run.get(),
            },
            Pattern::Columns { step, width } => {
                let run = Run::of(region, part, grain, false);
                Walk::Strided { run, stride: step.get(), width: width.get(), pass_start: run.start }
            }
            Pattern::ReverseStride(step) => {
                Walk::Back { run: Run::of(region, part, grain, true), step: step.get() }
            }
            Pattern::Random if Covering::is_for(region, part, grain) => {
                Walk::Covering(Covering::new(region, part, grain, streams, name))
            }
            _ => Walk::Slots(Slots::new(pattern, region, part, grain, streams, name)),
        };
        let fits = grain.mixed && matches!(walk, Walk::Upwards(_)) || matches!(walk, Walk::Covering(_));
        Addresses { base: region.start.get(), walk, fits }
    }

    /// Addresses of which some are drawn from `pattern` and the others go on where the last one ended: from the
    /// start of the worker's own stretch at first, and again when the region ends. A pattern that draws nothing
    /// sends the former anywhere, with repeats. Ask with [`Addresses::next_of`].
    pub fn continued(
        pattern: &Pattern,
        region: Region,
        part: RegionShare,
        grain: Grain,
        streams: Streams,
        name: &str,
    ) -> Addresses {
        let drawn = if pattern.is_random() { pattern } else { &Pattern::RandomWithRepeats };
        let slots = Slots::new(drawn, region, part, grain, streams, name);
        let run = Run { end: region.len.get(), ..Run::of(region, part, grain, false) };
        Addresses { base: region.start.get(), walk: Walk::Continued { run, slots, last: 0 }, fits: false }
    }

    /// The offset of the next request, `len` bytes long, where requests differ in how they are placed. A pattern
    /// that always draws, or never, does so whatever `step` says.
    // Apart from `next`, which is faster the smaller it is.
    #[inline(never)]
    pub fn next_of(&mut self, len: u32, step: Step) -> Bytes {
        let within = match &mut self.walk {
            Walk::Slots(slots) => slots.next(u64::from(len), step.align),
            Walk::Continued { run, slots, last } => {
                let len = u64::from(len);
                let at = match step.go {
                    Go::Elsewhere => slots.next(len, step.align),
                    Go::On => run.on(len, step.align),
                    Go::Nowhere => {
                        let latest = run.end.saturating_sub(len).max(run.start);
                        let at = (*last).min(latest);
                        debug_assert!(step.align > 0, "an offset is a multiple of something");
                        at - at % step.align
                    }
                };
                (run.next, *last) = (at + len, at);
                at
            }
            _ => return self.next(len),
        };
        Bytes::new(self.base + within)
    }

    /// Whether requests of several sizes leave nothing out in a pass, the last of which takes what is left: ask with
    /// [`Addresses::cover`] then.
    pub fn covers(&self) -> bool {
        self.fits
    }

    /// Whether requests may be cut to what a pass has left, to lengths that are none of their sizes.
    pub fn cuts(&self) -> bool {
        matches!(self.walk, Walk::Covering(_))
    }

    /// The offset of the next request of `len` bytes, if possible a multiple of `align`, and its length: what there is room
    /// for, of sizes that are given in a row the largest of `sizes`, `len` at most.
    pub fn cover(&mut self, len: u32, align: u64, sizes: &[u32]) -> (Bytes, u32) {
        let (at, len) = match &mut self.walk {
            Walk::Covering(covering) => covering.next(len, align),
            Walk::Upwards(run) => {
                let room = run.end.saturating_sub(run.next);
                let most = if room == 0 { len } else { narrow::<u32>(room.min(len.into())) };
                let len = sizes.iter().copied().filter(|size| *size <= most).max().unwrap_or(len);
                (run.up(len.into()), len)
            }
            _ => panic!("nothing is kept of what was covered"),
        };
        (Bytes::new(self.base + at), len)
    }

    /// The offset of the next request, `len` bytes long.
    #[inline]
    pub fn next(&mut self, len: u32) -> Bytes {
        let len = u64::from(len);
        let within = match &mut self.walk {
            Walk::Upwards(run) => run.up(len),
            Walk::Downwards(run) => run.down(len),
            Walk::Strided { run, stride, width, pass_start } => run.stride(len, *stride, *width, pass_start),
            Walk::Stepped { run, step, passed } => run.stepped(len, *step, *passed),
            Walk::Back { run, step } => run.back(len, *step),
            Walk::Slots(slots) => slots.next(len, slots.align),
            Walk::Covering(covering) => covering.next(narrow::<u32>(len), 1).0,
            Walk::Continued { slots, .. } => {
                let step = Step { go: Go::Elsewhere, align: slots.align };
                return self.next_of(narrow::<u32>(len), step);
            }
        };
        Bytes::new(self.base + within)
    }
}
