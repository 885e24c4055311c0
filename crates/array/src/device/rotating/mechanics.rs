//! The moving parts: an arm over a layout that turns.
//!
//! **Invariant:** the arm is where the last movement left it; nothing moves it silently.

use units::Instant;
use units::convert::truncated;

use super::RotatingParams;
use super::layout::{Layout, SectorPosition};
use super::seek::SeekTable;
use crate::device::Steps;
use crate::divisor::Divisor;

/// Arm, surface and spindle.
#[derive(Clone, Debug)]
pub(super) struct Mechanics {
    pub layout: Layout,
    pub arm: Arm,
    seek: SeekTable,
    revolution: Divisor,
    /// How far the spindle is ahead of one that was at angle zero when the world began.
    phase: u64,
    write_settle: i64,
    head_switch: u32,
    is_spiral: bool,
    /// Whether reads and writes of a track begin with whichever of their sectors comes first.
    reads_on_arrival: bool,
    writes_on_arrival: bool,
}

/// Where the arm is, and from when it is free.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Arm {
    pub cylinder: u32,
    pub head: u32,
    /// The stream clock of what it has passed last.
    pub clock: u64,
    pub free_at: u64,
}

/// A media operation: when the arm was free for it and on its track, and when it starts and ends.
pub(super) struct Media {
    pub free: u64,
    pub on_track: u64,
    pub start: u64,
    pub end: u64,
    /// When the lowest sector of it passes, and for how long the head has waited on the track for that.
    pub first: u64,
    pub waited: u64,
}

/// What the arm moves for.
#[derive(Clone, Copy, Debug)]
pub(super) enum Access {
    Read,
    /// `least` is the shortest movement; enough of the data is there at `gathered`.
    Write {
        least: u64,
        gathered: u64,
    },
    /// A write of what has long been in the buffer.
    Destage,
}

impl Access {
    /// A write whose data are there.
    pub const WRITE: Access = Access::Write { least: 0, gathered: 0 };
}

impl Mechanics {
    /// The arm at the first cylinder, the spindle at angle zero.
    pub fn new(params: &RotatingParams) -> Mechanics {
        let revolution = params.revolution();
        let seek = SeekTable::new(&params.seek, params.cylinders);
        let layout = Layout::new(params, revolution, &seek);
        Mechanics {
            is_spiral: layout.is_spiral(),
            layout,
            arm: Arm::default(),
            seek,
            revolution: Divisor::new(revolution.get().max(1)),
            phase: 0,
            write_settle: params.write_settle_ns,
            head_switch: u32::try_from(params.head_switch.get()).unwrap_or(u32::MAX),
            reads_on_arrival: params.cache.is_some_and(|cache| cache.read_on_arrival),
            writes_on_arrival: params.cache.is_some_and(|cache| cache.write_on_arrival),
        }
    }

    /// Has the spindle ahead by a share of a revolution.
    pub fn turn_ahead_by(&mut self, share: f64) {
        self.phase = self.revolution.divide(truncated::<u64>(share * self.revolution.get() as f64)).1;
    }

    /// Moves the arm to `place` from `begin` on, waits for the angle, and passes over `sectors`.
    pub fn pass(
        &mut self,
        place: SectorPosition,
        first: u64,
        sectors: u64,
        begin: u64,
        access: Access,
    ) -> Media {
        debug_assert!(begin >= self.arm.free_at, "an arm moves for one thing at a time");
        let on_track = begin + self.travel(place, access);
        let from = match access {
            Access::Read | Access::Destage => on_track,
            Access::Write { gathered, .. } => on_track.max(gathered),
        };
        let waited = self.rotation(place.clock, from);
        let passed = self.layout.end(place, first, sectors);
        let (first, length) = (from + waited, passed.clock - place.clock);
        // Whose first sector has just passed begins with the next one, and has all of them after a revolution.
        let revolution = self.revolution.get();
        let is_inside =
            waited + length > revolution && passed.cylinder == place.cylinder && passed.head == place.head;
        let (start, end) = if is_inside && self.takes_on_arrival(access) {
            (from, from + revolution)
        } else {
            (first, first + length)
        };
        debug_assert!(begin <= on_track && on_track <= start && start <= end, "seek, then wait, then pass");
        self.arm = Arm { cylinder: passed.cylinder, head: passed.head, clock: passed.clock, free_at: end };
        Media { free: begin, on_track, start, end, first: first.min(end), waited }
    }

    fn takes_on_arrival(&self, access: Access) -> bool {
        match access {
            Access::Read => self.reads_on_arrival,
            Access::Write { .. } | Access::Destage => self.writes_on_arrival,
        }
    }

    /// Whether the head need not change to come to `place` within its cylinder.
    ///
    /// On a spiral the rates of streams have their head switches in them, so that a command pays for none. What the buffer writes out
    /// does, unless it lies less than a revolution ahead: chosen from a hundred places, it would else find one on another track each time
    /// just as that passes.
    #[inline]
    fn stays(&self, place: SectorPosition, access: Access) -> bool {
        let goes_on = || match access {
            Access::Destage => place.clock.wrapping_sub(self.arm.clock) < self.revolution.get(),
            Access::Read | Access::Write { .. } => true,
        };
        place.cylinder == self.arm.cylinder && (place.head == self.arm.head || self.is_spiral && goes_on())
    }

    /// Seek or head switch, and settling.
    #[inline]
    pub fn travel(&self, place: SectorPosition, access: Access) -> u64 {
        let distance = place.cylinder.abs_diff(self.arm.cylinder);
        let stays = self.stays(place, access);
        let moved = match distance {
            _ if stays => 0,
            0 => self.head_switch,
            _ => self.seek.nanos(distance).max(self.head_switch),
        };
        let least = match access {
            Access::Read => return u64::from(moved),
            Access::Write { least, .. } => least,
            Access::Destage => 0,
        };
        if stays { least } else { u64::from(moved).saturating_add_signed(self.write_settle).max(least) }
    }

    /// How long from `now` until the arm is on the track of `place` and its angle passes. Where that is not below `least`,
    /// perhaps less, but no less than `least`: whoever looks for the nearest need not know how far the others are.
    #[inline]
    pub fn reach_within(&self, place: SectorPosition, access: Access, now: u64, least: u64) -> u64 {
        let travel = self.travel(place, access);
        if travel >= least { travel } else { travel + self.rotation(place.clock, now + travel) }
    }

    /// How long until the angle of stream clock `clock` passes, from `now`.
    #[inline]
    pub fn rotation(&self, clock: u64, now: u64) -> u64 {
        let spindle = now + self.phase;
        match clock.checked_sub(spindle) {
            Some(until) => self.revolution.divide(until).1,
            None => self.revolution.get() - 1 - self.revolution.divide(spindle - clock - 1).1,
        }
    }
}

impl Media {
    #[inline]
    pub fn steps(&self, processed: u64) -> Steps {
        let [processed, free, on_track, on_sector] =
            [processed, self.free, self.on_track, self.start].map(Instant::from_nanos);
        Steps { processed, free, on_track, on_sector }
    }
}
