//! Where a sector lies: cylinder, head, and the angle at which it passes under the head.
//!
//! Both layouts rest on one function, the *stream clock*: the time the drive needs to read from its first sector
//! to a given one without a break. The angle of a sector is its stream clock modulo a revolution, the time of a
//! transfer is a difference of two stream clocks, and where a read-ahead has got to is the inverse. So skews and
//! head switches are accounted once, and a stream stays in phase by construction.

use units::convert::{narrow, truncated};
use units::{Nanos, SECTOR_BYTES};

use crate::divisor::Divisor;

use super::runs::Runs;
use super::seek::SeekTable;
use super::{RotatingParams, Zone, Zones};

/// Where a sector lies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SectorPosition {
    /// Cylinder, counted from the outermost.
    pub cylinder: u32,
    /// Head within the cylinder; of a spiral, where heads take turns, the number of the turn.
    pub head: u32,
    /// Stream clock in nanoseconds.
    pub clock: u64,
    /// Its zone, and its number on its track: what follows on the same track is found from them. Zero on a spiral.
    zone: u32,
    on_track: u32,
}

/// Where the head is when a transfer has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct End {
    /// From 0, the outermost.
    pub cylinder: u32,
    /// Head within it, as of a [`SectorPosition`].
    pub head: u32,
    /// Stream clock in nanoseconds when the last sector has passed.
    pub clock: u64,
}

/// Of a nanosecond: what the time of a sector is given in, which is cut to no more than it takes.
const LEAST_PARTS: u64 = 256;

/// The surface of a drive.
#[derive(Clone, Debug)]
pub enum Layout {
    /// Zones, tracks and skews.
    Exact(Exact),
    /// One spiral between two rates.
    Spiral(Spiral),
}

impl Layout {
    /// The surface that `params` describe.
    pub fn new(params: &RotatingParams, revolution: Nanos, seek: &SeekTable) -> Layout {
        match &params.zones {
            Zones::Exact(zones) => Layout::Exact(Exact::new(params, zones, revolution.get(), seek)),
            Zones::Rates { outer, inner } => Layout::Spiral(Spiral::new(params, outer.get(), inner.get())),
        }
    }

    /// Where `sector` lies. Sectors beyond the capacity lie at its end.
    #[inline]
    pub fn place(&self, sector: u64) -> SectorPosition {
        match self {
            Layout::Exact(exact) => exact.place(sector),
            Layout::Spiral(spiral) => spiral.place(sector),
        }
    }

    /// The stream clock, in nanoseconds, when the last of `sectors` sectors from `first` has passed.
    pub fn end_clock(&self, first: u64, sectors: u64) -> u64 {
        match self {
            Layout::Exact(exact) => exact.end_clock(first + sectors - 1),
            Layout::Spiral(spiral) => spiral.clock(first + sectors),
        }
    }

    /// Where the head is once `sectors` sectors from `first`, which lies at `place`, have passed.
    #[inline]
    pub fn end(&self, place: SectorPosition, first: u64, sectors: u64) -> End {
        match self {
            Layout::Exact(exact) => exact.end_from(place, first, sectors),
            Layout::Spiral(spiral) => {
                let SectorPosition { cylinder, head, .. } = spiral.place(first + sectors - 1);
                End { cylinder, head, clock: spiral.clock(first + sectors) }
            }
        }
    }

    /// The first sector of the track after that of `sector`.
    pub fn track_end(&self, sector: u64) -> u64 {
        match self {
            Layout::Exact(exact) => exact.end_of(sector, |_| 0),
            Layout::Spiral(spiral) => spiral.end_of(sector, 1),
        }
    }

    /// The first sector of the cylinder after that of `sector`.
    pub fn cylinder_end(&self, sector: u64) -> u64 {
        match self {
            Layout::Exact(exact) => exact.end_of(sector, |head| exact.heads.get() - 1 - u64::from(head)),
            Layout::Spiral(spiral) => spiral.end_of(sector, spiral.heads),
        }
    }

    /// How many sectors of its track lie in front of `place`; of a spiral, where tracks have no beginning, none.
    pub fn on_track(&self, place: SectorPosition) -> u64 {
        u64::from(place.on_track)
    }

    /// Whether a stream passes from one turn to the next without a break: on a spiral, whose rates are those of long streams,
    /// with the switches in them.
    pub fn is_spiral(&self) -> bool {
        matches!(self, Layout::Spiral(_))
    }

    /// The least by which the stream clock goes on, in nanoseconds, while so many sectors pass.
    pub fn least(&self, sectors: u64) -> u64 {
        let sector = match self {
            Layout::Exact(exact) => exact.least,
            Layout::Spiral(spiral) => spiral.least,
        };
        // Clocks are cut to whole nanoseconds, each for itself.
        (sectors.saturating_mul(sector) / LEAST_PARTS).saturating_sub(1)
    }

    /// The first sector that has not passed completely at that stream clock.
    pub fn reach(&self, clock: u64) -> u64 {
        match self {
            Layout::Exact(exact) => exact.reach(clock).0,
            Layout::Spiral(spiral) => spiral.reach(clock),
        }
    }

    /// The same with the cylinder and head of the sector before it, which is the last that has passed.
    pub fn reach_at(&self, clock: u64) -> (u64, u32, u32) {
        let (sector, at) = match self {
            Layout::Exact(exact) => exact.reach(clock),
            Layout::Spiral(spiral) => (spiral.reach(clock), None),
        };
        let (cylinder, head) = at.unwrap_or_else(|| {
            let SectorPosition { cylinder, head, .. } = self.place(sector.saturating_sub(1));
            (cylinder, head)
        });
        (sector, cylinder, head)
    }
}

/// Zones, tracks and skews.
#[derive(Clone, Debug)]
pub struct Exact {
    zones: Vec<Row>,
    /// Which zone a sector is in, and which a stream clock.
    by_sector: Runs,
    by_clock: Runs,
    heads: Divisor,
    revolution: Divisor,
    capacity: u64,
    /// What a sector of the longest tracks takes to pass, in [`LEAST_PARTS`].
    least: u64,
}

/// A zone with what is needed of it worked out. Clocks and times are in nanoseconds.
#[derive(Clone, Copy, Debug)]
struct Row {
    first_sector: u64,
    first_cylinder: u32,
    per_track: Divisor,
    clock: u64,
    /// One track and the switch to the next in the same cylinder.
    track: Divisor,
    /// All tracks of a cylinder and the switch to the next cylinder.
    cylinder: Divisor,
}

impl Exact {
    fn new(params: &RotatingParams, zones: &[Zone], revolution: u64, seek: &SeekTable) -> Exact {
        let heads = u64::from(params.surfaces.max(1));
        let head_switch = params.head_switch.get();
        let cylinder_switch = u64::from(seek.nanos(1)).max(head_switch);
        let ends = zones.iter().skip(1).map(|zone| zone.first_cylinder).chain([params.cylinders]);
        let spans: Vec<u64> = zones
            .iter()
            .zip(ends)
            .map(|(zone, end)| u64::from(end.saturating_sub(zone.first_cylinder)))
            .collect();
        let raw: u64 = zones
            .iter()
            .zip(&spans)
            .map(|(zone, span)| span * heads * u64::from(zone.sectors_per_track))
            .sum();
        // Spares and defects take sectors out everywhere; spread evenly, the error is a small part of a zone.
        let usable = (params.capacity.0 as f64 / raw.max(1) as f64).min(1.0);
        let mut rows = Vec::with_capacity(zones.len());
        let (mut sector, mut clock) = (0.0, 0);
        for (zone, span) in zones.iter().zip(spans) {
            let per_track = u64::from(zone.sectors_per_track.max(1));
            let skew = |sectors: f64, at_least| {
                let turned = (sectors / per_track as f64).rem_euclid(1.0);
                let skew = truncated::<u64>(turned * revolution as f64);
                skew + at_least_revolutions(skew, at_least, revolution)
            };
            let track = revolution + skew(zone.track_skew, head_switch);
            let cylinder = (heads - 1) * track + revolution + skew(zone.cylinder_skew, cylinder_switch);
            let first_cylinder = zone.first_cylinder;
            rows.push(Row {
                first_sector: truncated::<u64>(sector),
                first_cylinder,
                per_track: Divisor::new(per_track),
                clock,
                track: Divisor::new(track),
                cylinder: Divisor::new(cylinder),
            });
            let sectors = (span * heads * per_track) as f64 * usable;
            sector += sectors;
            // A stream goes on to the next zone from the last cylinder in use, not from the last there is.
            clock += truncated::<u64>(sectors).div_ceil(heads * per_track) * cylinder;
        }
        assert!(rows.is_sorted_by_key(|row| (row.first_sector, row.clock)), "zones must follow each other");
        let longest = rows.iter().map(|row| row.per_track.get()).max().unwrap_or(1);
        let least = revolution * LEAST_PARTS / longest;
        let (heads, revolution) = (Divisor::new(heads), Divisor::new(revolution));
        let by_sector = Runs::new(rows.iter().map(|row| row.first_sector).collect());
        let by_clock = Runs::new(rows.iter().map(|row| row.clock).collect());
        Exact { zones: rows, by_sector, by_clock, heads, revolution, capacity: params.capacity.0, least }
    }

    /// The first sector behind the track of `sector`, and behind `more` tracks more, which depend on its head.
    fn end_of(&self, sector: u64, more: impl Fn(u32) -> u64) -> u64 {
        let (place, row) = self.track(sector);
        let tracks = row.per_track.get() * more(place.head);
        let end = sector - u64::from(place.on_track) + row.per_track.get() + tracks;
        let zone_end =
            self.zones.get(place.zone as usize + 1).map_or(self.capacity, |next| next.first_sector);
        end.min(zone_end.max(sector + 1))
    }

    fn place(&self, sector: u64) -> SectorPosition {
        let (place, row) = self.track(sector);
        SectorPosition { clock: place.clock + self.passing(row, place.on_track), ..place }
    }

    fn end_clock(&self, last: u64) -> u64 {
        self.end(last).clock
    }

    fn end(&self, last: u64) -> End {
        let (SectorPosition { cylinder, head, clock, on_track, .. }, row) = self.track(last);
        End { cylinder, head, clock: clock + self.passing(row, on_track + 1) }
    }

    /// The same where the first of them is known: most transfers end on the track on which they began.
    fn end_from(&self, place: SectorPosition, first: u64, sectors: u64) -> End {
        let zone = place.zone as usize;
        let (row, next) = (&self.zones[zone], self.zones.get(zone + 1));
        let after = u64::from(place.on_track) + sectors;
        if after > row.per_track.get() || next.is_some_and(|next| first + sectors > next.first_sector) {
            return self.end(first + sectors - 1);
        }
        let track = place.clock - self.passing(row, place.on_track);
        let SectorPosition { cylinder, head, .. } = place;
        End { cylinder, head, clock: track + self.passing(row, narrow::<u32>(after)) }
    }

    /// How long so many sectors of a track take to pass.
    #[inline]
    fn passing(&self, row: &Row, sectors: u32) -> u64 {
        row.per_track.quotient(u64::from(sectors) * self.revolution.get())
    }

    /// The place of a sector, with the stream clock at the start of its track.
    #[inline]
    fn track(&self, sector: u64) -> (SectorPosition, &Row) {
        let zone = self.by_sector.of(sector.min(self.capacity));
        let row = &self.zones[zone];
        let (track, rest) = row.per_track.divide(sector - row.first_sector);
        let (cylinder, head) = self.heads.divide(track);
        let clock = row.clock + cylinder * row.cylinder.get() + head * row.track.get();
        let cylinder = row.first_cylinder + narrow::<u32>(cylinder);
        (
            SectorPosition {
                cylinder,
                head: narrow::<u32>(head),
                clock,
                zone: narrow::<u32>(zone),
                on_track: narrow::<u32>(rest),
            },
            row,
        )
    }

    /// The first sector that has not passed; where it is not the first of its track, with its cylinder and head.
    fn reach(&self, clock: u64) -> (u64, Option<(u32, u32)>) {
        let zone = self.by_clock.of(clock);
        let (row, next) = (&self.zones[zone], self.zones.get(zone + 1));
        let (cylinder, into) = row.cylinder.divide(clock - row.clock);
        let (heads, per_track) = (self.heads.get(), row.per_track.get());
        let head = row.track.quotient(into).min(heads - 1);
        let on_track = into - head * row.track.get();
        let rest = self.revolution.quotient(on_track * per_track).min(per_track);
        let sector = row.first_sector + (cylinder * heads + head) * per_track + rest;
        // The last cylinder of a zone is not always used whole.
        let end = next.map_or(self.capacity, |next| next.first_sector);
        let inside = rest > 0 && sector <= end;
        let at = inside.then_some((row.first_cylinder + narrow::<u32>(cylinder), narrow::<u32>(head)));
        (sector.min(self.capacity), at)
    }
}

/// What must be added to `skew` so that a switch that takes `at_least` has ended: whole revolutions.
fn at_least_revolutions(skew: u64, at_least: u64, revolution: u64) -> u64 {
    at_least.saturating_sub(skew).div_ceil(revolution) * revolution
}

/// One spiral whose rate falls linearly with its radius.
///
/// With `Ro`, `Ri` the rates at the ends and `f` the share of the capacity before a sector, the rate there is
/// `√(Ro² - f·(Ro² - Ri²))`: density constant along the radius, so that capacity is its integral.
#[derive(Clone, Debug)]
pub struct Spiral {
    outer: f64,
    span: f64,
    squares: f64,
    /// Nanoseconds to read it all.
    whole: f64,
    capacity: f64,
    cylinders: f64,
    heads: u64,
    revolution: u64,
    turns_per_ns: f64,
    /// What a sector takes to pass where the rate is highest, in [`LEAST_PARTS`].
    least: u64,
}

impl Spiral {
    fn new(params: &RotatingParams, outer: f64, inner: f64) -> Spiral {
        // Equal ends would divide zero by zero: a thousandth of slope keeps one formula for both.
        let inner = inner.min(outer * 0.999);
        let capacity = params.capacity.0 as f64;
        Spiral {
            outer,
            span: outer - inner,
            squares: outer * outer - inner * inner,
            whole: capacity * SECTOR_BYTES as f64 * 2.0 / (outer + inner) * 1e9,
            capacity,
            cylinders: f64::from(params.cylinders),
            heads: u64::from(params.surfaces.max(1)),
            revolution: params.revolution().get().max(1),
            turns_per_ns: 1.0 / params.revolution().get().max(1) as f64,
            least: truncated::<u64>(SECTOR_BYTES as f64 * 1e9 * LEAST_PARTS as f64 / outer),
        }
    }

    /// How far inwards, 0 to 1.
    #[inline]
    fn depth(&self, sector: u64) -> f64 {
        let share = (sector as f64 / self.capacity).min(1.0);
        (self.outer - (self.outer * self.outer - share * self.squares).sqrt()) / self.span
    }

    #[inline]
    fn clock(&self, sector: u64) -> u64 {
        truncated::<u64>(self.depth(sector) * self.whole)
    }

    fn place(&self, sector: u64) -> SectorPosition {
        let depth = self.depth(sector);
        let cylinder = truncated::<u32>((depth * self.cylinders).min(self.cylinders - 1.0));
        let clock = truncated::<u64>(depth * self.whole);
        let turn = truncated::<u32>(clock as f64 * self.turns_per_ns);
        SectorPosition { cylinder, head: turn, clock, zone: 0, on_track: 0 }
    }

    /// The first sector behind the next `turns` ends of a revolution.
    fn end_of(&self, sector: u64, turns: u64) -> u64 {
        let turn = self.revolution * turns;
        self.reach((self.clock(sector) / turn + 1) * turn).max(sector + 1)
    }

    fn reach(&self, clock: u64) -> u64 {
        let rate = self.outer - (clock as f64 / self.whole).min(1.0) * self.span;
        truncated::<u64>((self.outer * self.outer - rate * rate) / self.squares * self.capacity)
    }
}

#[cfg(test)]
mod tests {
    use units::{BytesPerSecond, Sectors};

    use super::super::tests::{cheetah_9lp, nearline};
    use super::*;

    fn layout(params: &RotatingParams) -> (Layout, u64) {
        let revolution = params.revolution();
        let seek = SeekTable::new(&params.seek, params.cylinders);
        (Layout::new(params, revolution, &seek), revolution.get())
    }

    #[test]
    fn a_stream_crosses_a_track_in_the_skew_and_not_in_a_revolution() {
        let (layout, revolution) = layout(&cheetah_9lp());
        let (last, next) = (layout.end_clock(0, 254), layout.place(254).clock);
        assert_eq!(last, revolution);
        assert_eq!(next - last, 97 * revolution / 254);
    }

    #[test]
    fn reach_is_the_inverse_of_the_stream_clock() {
        for params in [cheetah_9lp(), nearline()] {
            let (layout, _) = layout(&params);
            for sector in [0, 1, 253, 254, 255, 1_000_000, params.capacity.0 / 2, params.capacity.0 - 10] {
                let back = layout.reach(layout.end_clock(sector, 1));
                assert!(back.abs_diff(sector + 1) <= 1, "{sector}: {back}");
            }
        }
    }

    #[test]
    fn what_has_passed_ends_where_its_last_sector_lies_and_took_no_less_than_the_least() {
        for params in [cheetah_9lp(), nearline()] {
            let (layout, revolution) = layout(&params);
            let whole = layout.end_clock(params.capacity.0 - 1, 1);
            for clock in (0..whole + revolution).step_by(narrow::<usize>(whole) / 4_001) {
                let (sector, cylinder, head) = layout.reach_at(clock);
                let last = layout.place(sector.saturating_sub(1));
                assert_eq!((sector, cylinder, head), (layout.reach(clock), last.cylinder, last.head));
                assert!(layout.least(sector) <= clock, "{sector} at {clock}");
            }
        }
    }

    #[test]
    fn the_end_of_a_transfer_is_that_of_its_last_sector_wherever_it_began() {
        for params in [cheetah_9lp(), nearline()] {
            let (layout, _) = layout(&params);
            let zones = [0, 253, 5_000, params.capacity.0 / 3, params.capacity.0 - 900];
            for (first, sectors) in
                zones.into_iter().flat_map(|first| [1, 8, 254, 900].map(|many| (first, many)))
            {
                let (last, end) = (first + sectors - 1, layout.end(layout.place(first), first, sectors));
                let there = layout.place(last);
                assert_eq!((end.cylinder, end.head), (there.cylinder, there.head));
                assert_eq!(end.clock, layout.end_clock(last, 1));
            }
        }
    }

    #[test]
    fn a_stream_that_enters_another_zone_loses_at_most_a_cylinder() {
        let mut params = cheetah_9lp();
        params.capacity.0 = params.capacity.0 * 9 / 10;
        let (layout, revolution) = layout(&params);
        let Layout::Exact(exact) = &layout else { panic!("the drive has zones") };
        for row in &exact.zones[1..] {
            let clock = layout.place(row.first_sector).clock - layout.end_clock(row.first_sector - 1, 1);
            assert!(clock < 13 * 2 * revolution, "{clock}");
        }
    }

    #[test]
    fn a_spiral_streams_at_its_two_rates_at_its_two_ends() {
        let params = nearline();
        let Zones::Rates { outer, inner } = params.zones else { panic!("the nearline drive is a spiral") };
        let (layout, _) = layout(&params);
        let rate = |first: u64| {
            let sectors = 200_000;
            let clock = layout.end_clock(first, sectors) - layout.place(first).clock;
            BytesPerSecond::of(Sectors(sectors).bytes(), Nanos::new(clock)).get()
        };
        assert!((rate(0) / outer.get() - 1.0).abs() < 0.001);
        assert!((rate(params.capacity.0 - 200_000) / inner.get() - 1.0).abs() < 0.001);
    }
}
