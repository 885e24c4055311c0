//! An axis: which values it holds, where they lie, and which of them are written beside it.

use crate::unit::Unit;

/// How values lie along an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// Equal differences are equally long, from zero where zero is near.
    Linear,
    /// Doublings are equally long: sizes, depths.
    Log2,
    /// Tenfolds are equally long: latencies.
    Log10,
}

/// Beyond these nothing was ever measured, and arithmetic with them leaves what a double holds.
const LARGEST: f64 = 1e200;
const SMALLEST: f64 = 1e-200;

/// One axis of a plot.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// What it is, as `queue depth`; its unit is written behind it.
    pub name: String,
    /// What its numbers count.
    pub unit: Unit,
    /// How they lie.
    pub scale: Scale,
    /// From where to where, so that charts side by side can be compared; by what is drawn where absent.
    pub range: Option<(f64, f64)>,
}

impl Axis {
    /// An axis whose range follows from what is drawn.
    pub fn new(name: impl Into<String>, unit: Unit, scale: Scale) -> Axis {
        Axis { name: name.into(), unit, scale, range: None }
    }

    /// Its name with its unit: `rate, IOPS`.
    pub(crate) fn title(&self) -> String {
        match self.unit.at_axis() {
            "" => self.name.clone(),
            unit if unit == self.name => unit.to_owned(),
            unit => format!("{}, {unit}", self.name),
        }
    }

    /// The axis over `values` on a way from `start` to `end`; values that cannot be on it (none above zero on a
    /// logarithmic one) count for nothing.
    pub(crate) fn laid(&self, values: impl Iterator<Item = f64>, start: f64, end: f64) -> Laid {
        let fits = |value: &f64| value.abs() < LARGEST && (self.scale == Scale::Linear || *value > SMALLEST);
        let extent = values.filter(fits).fold(None, |extent: Option<(f64, f64)>, value| {
            let (low, high) = extent.unwrap_or((value, value));
            Some((low.min(value), high.max(value)))
        });
        let (low, high) = self.range.or(extent).unwrap_or((1.0, 10.0));
        let (from, to) = match self.scale {
            Scale::Linear => linear_range(low, high),
            Scale::Log2 => log_range(low, high, 2.0),
            Scale::Log10 => log_range(low, high, 10.0),
        };
        assert!(from < to, "an axis must have an extent: {from} to {to}");
        Laid { unit: self.unit, scale: self.scale, from, to, start, end }
    }
}

/// From zero, unless all values lie close together far away from it; a little room above.
fn linear_range(low: f64, high: f64) -> (f64, f64) {
    let from = low.min(0.0);
    let room = |size: f64| size * 1.04;
    match high.max(0.0) {
        to if to > from => (if from < 0.0 { room(from) } else { 0.0 }, room(to)),
        _ => (0.0, 1.0),
    }
}

/// A little room at both ends; a single value lies in the middle.
fn log_range(low: f64, high: f64, base: f64) -> (f64, f64) {
    if low >= high {
        return (low / base, high * base);
    }
    debug_assert!(low > 0.0, "a logarithm is of what is above zero");
    let room = (high / low).powf(0.02);
    (low / room, high * room)
}

/// An axis on its way.
#[derive(Clone, Debug)]
pub(crate) struct Laid {
    unit: Unit,
    scale: Scale,
    pub from: f64,
    pub to: f64,
    start: f64,
    end: f64,
}

impl Laid {
    /// Where `value` lies; what lies beyond an end is held there. `None` for what cannot be on the axis.
    pub fn at(&self, value: f64) -> Option<f64> {
        let part = match self.scale {
            _ if !value.is_finite() => return None,
            Scale::Linear => (value - self.from) / (self.to - self.from),
            _ if value <= 0.0 => return None,
            _ => (value / self.from).ln() / (self.to / self.from).ln(),
        };
        debug_assert!(self.from < self.to, "an axis has an extent");
        // Of numbers at the ends of what a double holds the quotients are none.
        part.is_finite().then(|| self.start + part.clamp(0.0, 1.0) * (self.end - self.start))
    }

    /// `value` in words.
    pub fn written(&self, value: f64) -> String {
        self.unit.written(value)
    }

    /// The values that are written beside it with their texts, about one for each `room` of its way and at least two.
    pub fn ticks(&self, room: f64) -> Vec<(f64, String)> {
        assert!(room > 0.0, "a tick takes room");
        let wanted = ((self.end - self.start).abs() / room).max(2.0);
        let values = match self.scale {
            Scale::Linear => linear_ticks(self.from, self.to, wanted, self.unit),
            Scale::Log2 => doubling_ticks(self.from, self.to, wanted, self.unit),
            Scale::Log10 => decade_ticks(self.from, self.to, wanted, self.unit),
        };
        debug_assert!(values.is_sorted(), "ticks rise along the axis");
        if self.unit == Unit::Seconds && self.scale == Scale::Linear {
            return clock_ticks(&values);
        }
        values.into_iter().map(|value| (value, self.unit.tick(value))).collect()
    }
}

/// Multiples of 1, 2 or 5 times a power of ten; of seconds also of minutes and hours.
fn linear_ticks(from: f64, to: f64, wanted: f64, unit: Unit) -> Vec<f64> {
    let ticks = |wanted: f64| {
        let step = step(unit, (to - from) / wanted);
        let first = (from / step).ceil();
        let count = ((to - first * step) / step + 1e-9).floor().max(0.0);
        (0..=count_of(count)).map(|index| (first + f64::from(index)) * step).collect::<Vec<f64>>()
    };
    // A single one, such as zero, tells nothing of how long the axis is.
    let first = ticks(wanted);
    if first.len() > 1 { first } else { ticks(wanted * 2.0) }
}

/// Times in one unit: the largest of which each is a whole number.
fn clock_ticks(values: &[f64]) -> Vec<(f64, String)> {
    let is_whole =
        |size: f64| values.iter().all(|value| (value / size - (value / size).round()).abs() < 1e-9);
    let unit = [(86_400.0, "d"), (3_600.0, "h"), (60.0, "min")].into_iter().find(|(size, _)| is_whole(*size));
    let written = |value: f64| match unit {
        Some((size, name)) if value != 0.0 => format!("{}\u{a0}{name}", Unit::Count.written(value / size)),
        None if value >= 1.0 => format!("{}\u{a0}s", Unit::Count.written(value)),
        _ => Unit::Seconds.tick(value),
    };
    values.iter().map(|value| (*value, written(*value))).collect()
}

fn step(unit: Unit, least: f64) -> f64 {
    const CLOCK: [f64; 12] = [
        60.0, 120.0, 300.0, 600.0, 1_200.0, 1_800.0, 3_600.0, 7_200.0, 14_400.0, 21_600.0, 43_200.0, 86_400.0,
    ];
    if unit == Unit::Seconds && least > 50.0 {
        if let Some(step) = CLOCK.into_iter().find(|step| *step >= least) {
            return step;
        }
        return (least / 86_400.0).ceil() * 86_400.0;
    }
    let power = 10f64.powf(least.log10().floor());
    debug_assert!(power > 0.0 && power <= least * 1.001, "the decade that a step lies in");
    [1.0, 2.0, 5.0, 10.0]
        .into_iter()
        .map(|digit| digit * power)
        .find(|step| *step >= least * 0.999)
        .unwrap_or(least)
}

/// Every power of `base`, or every second, fourth … where they would be too many.
fn power_ticks(from: f64, to: f64, base: f64, wanted: f64) -> Vec<f64> {
    debug_assert!(from > 0.0 && base > 1.0, "powers of a base rise from above zero");
    let exponents = |value: f64| value.ln() / base.ln();
    let first = (exponents(from) - 1e-9).ceil();
    let last = (exponents(to) + 1e-9).floor();
    let mut stride = 1.0;
    while (last - first) / stride + 1.0 > wanted {
        stride *= 2.0;
    }
    let count = ((last - first) / stride).floor().max(0.0);
    (0..=count_of(count)).map(|index| base.powf(first + f64::from(index) * stride)).collect()
}

/// Powers of two; finer ones where fewer than two lie on the axis, as a single one does not say how long it is.
fn doubling_ticks(from: f64, to: f64, wanted: f64, unit: Unit) -> Vec<f64> {
    let ticks = power_ticks(from, to, 2.0, wanted);
    if ticks.len() >= 2 || unit == Unit::Bytes { ticks } else { decade_ticks(from, to, wanted, unit) }
}

/// Powers of ten; 1, 2 and 5 of each where there is room for them.
fn decade_ticks(from: f64, to: f64, wanted: f64, unit: Unit) -> Vec<f64> {
    if unit == Unit::Seconds && to > 120.0 {
        const CLOCK: [f64; 18] = [
            1.0, 5.0, 20.0, 60.0, 300.0, 1_200.0, 3_600.0, 18_000.0, 86_400.0, 432_000.0, 2.0, 10.0, 120.0,
            600.0, 7_200.0, 36_000.0, 172_800.0, 864_000.0,
        ];
        let mut ticks: Vec<f64> = CLOCK.into_iter().filter(|value| (from..=to).contains(value)).collect();
        ticks.sort_by(f64::total_cmp);
        let stride = (ticks.len() as f64 / wanted).ceil().max(1.0);
        return ticks.into_iter().step_by(units::convert::truncated(stride)).collect();
    }
    debug_assert!(from > 0.0 && from < to, "decades go from above zero to more");
    let decades = (to / from).log10();
    if unit == Unit::Tail || decades * 3.0 > wanted {
        let mut ticks = power_ticks(from, to, 10.0, wanted);
        // The median belongs to a spectrum of percentiles.
        if unit == Unit::Tail && from <= 2.0 {
            ticks.insert(ticks.partition_point(|tick| *tick < 2.0), 2.0);
            ticks.retain(|tick| *tick > 1.5);
        }
        if ticks.len() >= 2 || unit == Unit::Tail {
            return ticks;
        }
    }
    let first = from.log10().floor();
    let powers = (0..=count_of(decades.ceil() + 1.0)).map(|index| 10f64.powf(first + f64::from(index)));
    let all = powers.flat_map(|power| [power, 2.0 * power, 5.0 * power]);
    let ticks: Vec<f64> = all.filter(|value| (from..=to).contains(value)).collect();
    if ticks.len() < 2 {
        return linear_ticks(from, to, wanted.min(4.0), unit);
    }
    // A single power of ten tells nothing of how long the axis is; with all between there may be no room.
    let most: usize = units::convert::truncated(wanted.max(2.0));
    if decades * 3.0 <= wanted || ticks.len() <= most {
        return ticks;
    }
    (0..most).map(|place| ticks[place * (ticks.len() - 1) / (most - 1)]).collect()
}

/// A number of ticks; more than a hundred are never drawn.
fn count_of(count: f64) -> u32 {
    units::convert::truncated(count.clamp(0.0, 100.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn texts(axis: &Axis, low: f64, high: f64, room: f64) -> Vec<String> {
        let laid = axis.laid([low, high].into_iter(), 0.0, 400.0);
        laid.ticks(room).into_iter().map(|(_, text)| text.replace('\u{a0}', " ")).collect()
    }

    #[test]
    fn a_logarithmic_axis_with_one_power_of_ten_has_two_ticks_at_least() {
        let axis = Axis::new("p99 latency", Unit::Nanos, Scale::Log10);
        for room in [100.0, 150.0, 200.0] {
            let texts = texts(&axis, 1.2e6, 4e7, room);
            assert!((2..=4).contains(&texts.len()), "{texts:?}");
        }
        assert_eq!(texts(&axis, 1e6, 1e9, 100.0), ["1 ms", "10 ms", "100 ms", "1 s"]);
    }

    #[test]
    fn amounts_begin_at_zero_and_go_in_ones_twos_and_fives() {
        let axis = Axis::new("rate", Unit::PerSecond, Scale::Linear);
        assert_eq!(texts(&axis, 310.0, 2_050.0, 90.0), ["0", "500", "1,000", "1,500", "2,000"]);
        assert_eq!(texts(&axis, 0.0, 0.0, 90.0)[0], "0");
        let seconds = Axis::new("time", Unit::Seconds, Scale::Linear);
        assert_eq!(texts(&seconds, 0.0, 7_200.0, 90.0), ["0", "30 min", "60 min", "90 min", "120 min"]);
        assert_eq!(texts(&seconds, 0.0, 200.0, 90.0), ["0", "50 s", "100 s", "150 s", "200 s"]);
        assert_eq!(texts(&seconds, 0.0, 40_000.0, 90.0), ["0", "4 h", "8 h"]);
    }

    #[test]
    fn sizes_go_in_powers_of_two_and_latencies_in_decades() {
        let sizes = Axis::new("block size", Unit::Bytes, Scale::Log2);
        assert_eq!(texts(&sizes, 4096.0, 65_536.0, 70.0), ["4 KiB", "8 KiB", "16 KiB", "32 KiB", "64 KiB"]);
        assert_eq!(texts(&sizes, 512.0, 1_048_576.0, 90.0), ["512 B", "8 KiB", "128 KiB"]);
        let ratios = Axis::new("ratio", Unit::Ratio, Scale::Log2);
        assert_eq!(texts(&ratios, 0.3, 4.5, 90.0), ["0.5×", "1×", "2×", "4×"]);
        assert_eq!(texts(&ratios, 0.88, 1.8, 90.0), ["1×", "1.5×"]);
        let latency = Axis::new("latency", Unit::Nanos, Scale::Log10);
        assert_eq!(texts(&latency, 1e5, 1e9, 70.0), ["100 µs", "1 ms", "10 ms", "100 ms", "1 s"]);
        assert_eq!(texts(&latency, 4e6, 3e7, 90.0), ["5 ms", "10 ms", "20 ms"]);
        let tail = Axis::new("percentile", Unit::Tail, Scale::Log10);
        assert_eq!(texts(&tail, 1.0, 1e4, 60.0), ["p50", "p90", "p99", "p99.9", "p99.99"]);
    }

    #[test]
    fn numbers_at_the_ends_of_what_a_double_holds_do_not_reach_a_drawing() {
        for scale in [Scale::Linear, Scale::Log2, Scale::Log10] {
            let values = [f64::MIN_POSITIVE, 1.0, f64::MAX];
            let laid = Axis::new("x", Unit::Nanos, scale).laid(values.into_iter(), 0.0, 100.0);
            assert!(values.into_iter().filter_map(|value| laid.at(value)).all(f64::is_finite), "{laid:?}");
            assert!(laid.ticks(50.0).len() < 20);
        }
    }

    #[test]
    fn what_cannot_be_on_an_axis_has_no_place_there() {
        let laid = Axis::new("latency", Unit::Nanos, Scale::Log10).laid([1.0, 100.0].into_iter(), 0.0, 100.0);
        assert_eq!(laid.at(0.0), None);
        assert_eq!(laid.at(f64::NAN), None);
        assert!((laid.at(10.0).unwrap_or(0.0) - 50.0).abs() < 1e-9);
        assert_eq!(laid.at(1e9), Some(100.0));
    }

    proptest! {
        #[test]
        fn ticks_lie_on_the_axis_in_order_and_are_few(
            low in 1e-3f64..1e12, factor in 1.0f64..1e9, scale in 0usize..3, unit in 0usize..4,
        ) {
            let scale = [Scale::Linear, Scale::Log2, Scale::Log10][scale];
            let unit = [Unit::Nanos, Unit::PerSecond, Unit::Bytes, Unit::Seconds][unit];
            let laid = Axis::new("x", unit, scale).laid([low, low * factor].into_iter(), 0.0, 400.0);
            let ticks = laid.ticks(80.0);
            prop_assert!(ticks.len() <= 16, "{ticks:?}");
            prop_assert!(ticks.is_sorted_by(|one, other| one.0 < other.0), "{ticks:?}");
            for (value, _) in &ticks {
                prop_assert!(*value >= laid.from * 0.999_999 && *value <= laid.to * 1.000_001);
            }
        }
    }
}
