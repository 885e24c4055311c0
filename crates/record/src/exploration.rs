//! What a search over designs found: the front of those that meet every requirement, and why not others.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::convert::truncated;
use units::{Nanos, OpsPerSecond};

use crate::FactorLevel;

/// The designs of a study that meet every requirement and that no other such design is better than, and what became of all
/// others.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Exploration {
    /// What prices are in: a currency, or `disks` where the study names no prices.
    pub price_unit: String,
    /// How many designs there were, and what became of them.
    pub counts: DesignCounts,
    /// By what factor long simulations differed from short ones at most, and half as much again.
    pub margins: DesignMargins,
    /// By what factor long simulations of the same designs differed with the seed, at most: chance. Absent in records of versions that
    /// did not look.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub spread: Option<DesignMargins>,
    /// The share by which the models' figures may differ from published ones that they were not fitted to, in the median.
    pub model_error: f64,
    /// Simulated figures that differ by no more are the same to the front.
    pub resolution: f64,
    /// What is taken of disks where the loss of data is about.
    pub reliability: DesignReliability,
    /// What the front compares; the first is the price.
    pub figures: Vec<DesignFigure>,
    /// Designs that meet every requirement and that no other such design is better than, the cheapest first.
    pub front: Vec<FrontDesign>,
    /// What becomes of the cheapest where one factor is changed.
    pub neighbours: Vec<NeighbourDesign>,
    /// Each requirement, and what it costs.
    pub requirements: Vec<RequirementCost>,
    /// Verdicts that the models are too uncertain for.
    pub close_calls: Vec<CloseCall>,
}

/// How many designs there were.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DesignCounts {
    /// All combinations.
    pub designs: u64,
    /// Those that cannot be built.
    pub impossible: u64,
    /// Why not, the most frequent reason first, each with how many designs it is about.
    pub reasons: Vec<(String, u64)>,
    /// Possible designs that were not simulated at length: they surely miss two requirements, or are surely beaten.
    pub left_out: u64,
    /// Simulations that were carried out, short and long.
    pub simulated: [u64; 2],
    /// Simulations that were known before.
    pub known: u64,
}

/// By what factor long simulations may differ from short ones.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DesignMargins {
    /// Of rates.
    pub rate: f64,
    /// Of times of requests.
    pub time: f64,
    /// Of hours of a rebuild.
    pub hours: f64,
}

/// What is taken of disks.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DesignReliability {
    /// Hours of a disk until it fails, in the mean.
    pub mttf_h: f64,
    /// Bits that cannot be read, as a part of those that are read.
    pub unreadable: f64,
    /// Hours until a failed disk is replaced where no hot spare is.
    pub replace_h: f64,
}

/// What the numbers of a figure are, in base units.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DesignUnit {
    /// Money, or disks.
    Price,
    /// Watts.
    Watts,
    /// Bytes.
    Bytes,
    /// Seconds.
    Seconds,
    /// A probability within a year.
    PerYear,
    /// Requests a second.
    PerSecond,
    /// Bytes a second.
    BytesPerSecond,
    /// Nanoseconds.
    Nanos,
}

impl DesignUnit {
    /// `value` as a person reads it, three significant digits with its unit but for money: `5.46 TB`, `12.3 h`, `0.950 %`,
    /// `2.1e-6`; `none` where it is not finite.
    pub fn shown(self, value: f64) -> String {
        self.with_digits(value, DIGITS)
    }

    /// The same with as many digits as tell it from `limit`, unless it is that: what misses 150 by a little is not 150.
    pub fn shown_beside(self, value: f64, limit: f64) -> String {
        let is_told = |digits: &usize| self.with_digits(value, *digits) != self.with_digits(limit, *digits);
        let digits = (DIGITS..=DIGITS_MOST).find(is_told).filter(|_| value != limit);
        self.with_digits(value, digits.unwrap_or(DIGITS))
    }

    fn with_digits(self, value: f64, digits: usize) -> String {
        assert!((DIGITS..=DIGITS_MOST).contains(&digits), "a figure of {digits} digits");
        let scaled = |units: &[(f64, &str)]| {
            let fits = units.iter().find(|(size, _)| value >= *size).or(units.last());
            fits.map_or_else(String::new, |(size, name)| format!("{} {name}", number(value / size, digits)))
        };
        match self {
            _ if !value.is_finite() => "none".into(),
            DesignUnit::Price | DesignUnit::Watts if value.fract() == 0.0 => whole(value),
            DesignUnit::Price | DesignUnit::Watts | DesignUnit::PerSecond => number(value, digits),
            DesignUnit::Bytes => scaled(&[(1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1.0, "B")]),
            DesignUnit::Seconds => scaled(&[(3_600.0, "h"), (60.0, "min"), (1.0, "s")]),
            // As requirements say it: a part of a hundred where it is one.
            DesignUnit::PerYear if value >= 1e-4 => format!("{} %", number(value * 100.0, digits)),
            DesignUnit::PerYear => format!("{value:.*e}", digits - 2),
            DesignUnit::BytesPerSecond => format!("{} MB/s", number(value / 1e6, digits)),
            DesignUnit::Nanos if digits > DIGITS => format!("{} ms", number(value / 1e6, digits)),
            DesignUnit::Nanos => Nanos::new(truncated(value)).to_string(),
        }
    }
}

/// Significant digits of what is shown, and as many as tell it from a limit at most.
const DIGITS: usize = 3;
const DIGITS_MOST: usize = 9;

/// A whole number, thousands apart.
fn whole(value: f64) -> String {
    OpsPerSecond::new(value).to_string().replace(".0", "")
}

/// So many significant digits at least, 3 or more; 0 is no more than that.
fn number(value: f64, digits: usize) -> String {
    if value == 0.0 {
        return "0".into();
    }
    let behind = |value: f64| {
        let before = truncated::<i32>(value.abs().log10().floor()) + 1;
        i32::try_from(digits).map_or(0, |digits| (digits - before).max(0))
    };
    // What is rounded up to a power of ten has a digit less behind the point.
    let scale = 10f64.powi(behind(value));
    let rounded = (value * scale).round() / scale;
    match usize::try_from(behind(rounded)).unwrap_or(0) {
        0 => whole(value.round()),
        behind => format!("{value:.behind$}"),
    }
}

/// A figure that a front compares.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DesignFigure {
    /// Its name, `oltp iops at p99<5ms`.
    pub name: String,
    /// What its numbers are.
    pub unit: DesignUnit,
    /// Whether more is better.
    pub more_is_better: bool,
    /// Whether it comes from a simulation, and so is as uncertain as the models.
    pub simulated: bool,
}

/// A design of the front.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FrontDesign {
    /// Its address, `array:px6-300d?raid=10`.
    pub address: String,
    /// Factors that its array takes, each with its level.
    pub levels: Vec<FactorLevel>,
    /// The figures in their order, in base units.
    pub values: Vec<f64>,
    /// More designs with the same figures.
    pub alike: u64,
    /// The probability of data loss within a year in closed form: exponential lives and rebuilds. Absent where no rebuild
    /// is known.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub loss: Option<f64>,
    /// The same of simulated histories: Weibull lives of the same mean, rebuilds of a fixed length. Absent where it was not
    /// simulated.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub loss_simulated: Option<Chance>,
    /// Figures, by their names, of loads whose writes met free room of a write cache, or whose rate was not steady: in the long run they
    /// may be worse.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub unsustained: Vec<String>,
    /// The fewest requests that a time of it is from: another sample of as many differs by chance. Absent where no figure is a time of
    /// requests, and in records of versions that did not count.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub requests: Option<u64>,
    /// Half the 95 % interval of each figure as a part of it, in the order of the figures; `null` of what is no rate, and where a
    /// simulation was too short for one. Empty in records of versions that kept none.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub half_widths: Vec<Option<f64>>,
}

/// A probability with its 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Chance {
    /// From 0 to 1.
    pub value: f64,
    /// Lower end of its interval.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

/// A design beside the cheapest.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NeighbourDesign {
    /// What differs.
    pub factor: String,
    /// Its level.
    pub level: String,
    /// Its address.
    pub address: String,
    /// Why it is not the cheapest design that meets every requirement.
    pub rejected: String,
}

/// A requirement and what it costs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RequirementCost {
    /// As it was written.
    pub requirement: String,
    /// Which figure it is about: its place among them, from 0.
    pub figure: u32,
    /// What the figure is to reach, or not to exceed where less of it is better, in base units.
    pub limit: f64,
    /// The figure of the cheapest design, in base units; absent without one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub value: Option<f64>,
    /// The same as it is read.
    pub shown: String,
    /// The cheapest design that meets all others, where that is cheaper.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub without: Option<CheaperDesign>,
    /// The best figure of any design as far as is known: an upper limit of what may be required.
    pub best: String,
}

/// A cheaper design.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CheaperDesign {
    /// Its address.
    pub address: String,
    /// Its price.
    pub price: f64,
    /// How much less that is; absent where no design meets every requirement.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub saves: Option<f64>,
    /// The figure of the requirement, as it is read.
    pub shown: String,
}

/// A verdict that the models are too uncertain for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CloseCall {
    /// The design.
    pub address: String,
    /// The requirement.
    pub requirement: String,
    /// How far the figure is from the limit, as a share of it; above zero on the right side.
    pub ahead: f64,
}

impl Exploration {
    /// Factors in which the designs of the front differ, in the order of the study.
    pub fn varied(&self) -> Vec<&str> {
        let mut found: Vec<&str> = Vec::new();
        for own in self.front.iter().flat_map(|design| &design.levels) {
            let differs = |design: &FrontDesign| design.level(&own.factor) != Some(own.level.as_str());
            if !found.contains(&own.factor.as_str()) && self.front.iter().any(differs) {
                found.push(&own.factor);
            }
        }
        found
    }

    /// `value` of figure number `figure` as a person reads it, with the unit of prices where it is one.
    pub fn shown(&self, figure: usize, value: f64) -> String {
        let Some(figure) = self.figures.get(figure) else { return value.to_string() };
        match figure.unit {
            DesignUnit::Price => format!("{} {}", figure.unit.shown(value), self.price_unit),
            DesignUnit::Watts => format!("{} W", figure.unit.shown(value)),
            unit => unit.shown(value),
        }
    }
}

impl FrontDesign {
    /// Its level of `factor`; `None` where its array does not take that.
    pub fn level(&self, factor: &str) -> Option<&str> {
        self.levels.iter().find(|own| own.factor == factor).map(|own| own.level.as_str())
    }

    /// Its levels of `factors` in words: `raid=5 disks=6`.
    pub fn words(&self, factors: &[&str]) -> String {
        let words = factors.iter().filter_map(|factor| Some(format!("{factor}={}", self.level(factor)?)));
        words.collect::<Vec<_>>().join(" ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn a_figure_is_shown_in_the_unit_that_a_person_reads() {
        for (unit, value, shown) in [
            (DesignUnit::Price, 1_160.0, "1,160"),
            (DesignUnit::Bytes, 5.459e12, "5.46 TB"),
            (DesignUnit::Seconds, 44_280.0, "12.3 h"),
            (DesignUnit::Seconds, 140.0, "2.33 min"),
            (DesignUnit::Bytes, 4.2e9, "4.20 GB"),
            (DesignUnit::Bytes, 0.0, "0 B"),
            (DesignUnit::Watts, 7.5, "7.50"),
            (DesignUnit::BytesPerSecond, 6.546e9, "6,546 MB/s"),
            (DesignUnit::BytesPerSecond, 4_000.0, "0.00400 MB/s"),
            (DesignUnit::PerYear, 0.0123, "1.23 %"),
            (DesignUnit::PerYear, 0.0095, "0.950 %"),
            (DesignUnit::PerYear, 2.06e-5, "2.1e-5"),
            (DesignUnit::Nanos, 5e6, "5.00 ms"),
            (DesignUnit::PerSecond, f64::INFINITY, "none"),
        ] {
            assert_eq!(unit.shown(value), shown, "{unit:?}");
        }
    }

    #[test]
    fn a_figure_beside_its_limit_has_the_digits_that_tell_it_from_the_limit() {
        let beside = |unit: DesignUnit, value: f64, limit: f64| unit.shown_beside(value, limit);
        assert_eq!(beside(DesignUnit::PerSecond, 149.9, 150.0), "149.9");
        assert_eq!(beside(DesignUnit::PerSecond, 150.0, 150.0), "150");
        assert_eq!(beside(DesignUnit::PerSecond, 163.2, 150.0), "163");
        assert_eq!(beside(DesignUnit::PerYear, 0.009_999, 0.01), "0.9999 %");
        assert_eq!(beside(DesignUnit::Nanos, 4_999_600.0, 5e6), "4.9996 ms");
    }

    #[test]
    fn a_factor_is_varied_where_two_designs_differ_in_it_or_one_does_not_take_it() {
        let design = |levels: &[(&str, &str)]| FrontDesign {
            address: String::new(),
            levels: levels.iter().map(|(factor, level)| sample::level(factor, level, 0)).collect(),
            values: Vec::new(),
            alike: 0,
            loss: None,
            loss_simulated: None,
            unsustained: Vec::new(),
            requests: None,
            half_widths: Vec::new(),
        };
        let front = vec![
            design(&[("raid", "5"), ("disks", "4"), ("paths", "1")]),
            design(&[("raid", "5"), ("disks", "6")]),
        ];
        let found = Exploration { front, ..sample::exploration() };
        assert_eq!(found.varied(), ["disks", "paths"]);
        assert_eq!(found.front[1].words(&found.varied()), "disks=6");
    }
}
