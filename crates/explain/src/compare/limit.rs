//! The limits of a comparison: a change, `iops<-5%`, `p99>10%`, a figure, `p99>5ms`, `iops<20k`, or that no verdict is
//! `inconclusive`.
//!
//! **Invariant:** a limit is violated only where the whole interval lies beyond it.

use std::fmt;
use std::str::FromStr;

use record::{Compared, Comparison, Op, Ops};
use units::{BytesPerSecond, Nanos, OpsPerSecond};

/// Operations that a limit can be about.
const OPS: [Op; 3] = [Op::Read, Op::Write, Op::Trim];

/// What makes a comparison fail.
#[derive(Clone, Debug, PartialEq)]
pub enum FailOn {
    /// A limit that is violated.
    Limit(Limit),
    /// A limit that is not decided, or a verdict where there is no limit.
    Inconclusive,
}

/// The change or the figure from which on a comparison has failed.
#[derive(Clone, Debug, PartialEq)]
pub struct Limit {
    /// Of which requests: one operation alone, or all of a workload together.
    pub op: Ops,
    /// `iops`, `mb_per_s`, `mean`, `p99`, …
    pub metric: String,
    /// Whether it is what lies above that is too much, otherwise what lies below.
    pub above: bool,
    /// Of what.
    pub bound: Bound,
}

/// What a limit is a limit of.
#[derive(Clone, Debug, PartialEq)]
pub enum Bound {
    /// Of the change from the first side, as a part: `-0.05`.
    Change(f64),
    /// Of each other side's figure itself, in its unit.
    Figure {
        /// The figure.
        value: f64,
        /// As it was written.
        text: String,
    },
}

/// Why a text is no limit.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is not a limit: expected a metric, < or >, and a change in per cent or a value, as in iops<-5%, p99>10%, \
     p99>5ms, write.p99>10%, iops<20k or mb_per_s<500MB/s; or `inconclusive`"
)]
pub struct LimitError(String);

/// Whether a limit is met in one cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The whole interval lies within.
    Kept,
    /// The whole interval lies beyond.
    Broken,
    /// The interval reaches over it, or is not known.
    Undecided,
}

impl Limit {
    /// What became of it in every cell that has the figure, of all operations of a workload together or of the one that it
    /// names.
    ///
    /// Empty where no cell has it.
    pub fn judge<'a>(&self, comparison: &'a Comparison) -> Vec<(&'a Compared, Outcome)> {
        let rows = comparison.rows.iter().filter(|row| self.is_about(row) && row.metric == self.metric);
        rows.map(|row| (row, self.outcome(row))).collect()
    }

    fn is_about(&self, row: &Compared) -> bool {
        if self.op == Ops::All { row.total } else { row.op == self.op }
    }

    fn outcome(&self, row: &Compared) -> Outcome {
        let (range, limit) = match &self.bound {
            Bound::Change(change) => ((row.low, row.high), 1.0 + change),
            Bound::Figure { value, .. } => ((row.value_low, row.value_high), *value),
        };
        let (low, high) = range;
        debug_assert!(
            low.zip(high).is_none_or(|(low, high)| low <= high),
            "{low:?} to {high:?} is the wrong way round"
        );
        let (broken, kept) = match self.above {
            true => (low.is_some_and(|low| low > limit), high.is_some_and(|high| high <= limit)),
            false => (high.is_some_and(|high| high < limit), low.is_some_and(|low| low >= limit)),
        };
        match (broken, kept) {
            (true, _) => Outcome::Broken,
            (_, true) => Outcome::Kept,
            _ => Outcome::Undecided,
        }
    }
}

impl FromStr for Limit {
    type Err = LimitError;

    fn from_str(text: &str) -> Result<Limit, LimitError> {
        let wrong = || LimitError(text.to_owned());
        let at = text.find(['<', '>']).ok_or_else(wrong)?;
        let (metric, rest) = text.split_at(at);
        let above = rest.starts_with('>');
        let (op, metric) = match metric.trim().split_once('.') {
            Some((name, figure)) if !name.starts_with('p') => {
                let op = OPS.into_iter().find(|op| op.name() == name).ok_or_else(wrong)?;
                (Ops::from(op), figure)
            }
            _ => (Ops::All, metric.trim()),
        };
        let bound = bound(metric, rest[1..].trim()).ok_or_else(wrong)?;
        Ok(Limit { op, metric: metric.into(), above, bound })
    }
}

fn bound(metric: &str, text: &str) -> Option<Bound> {
    let percent = || metric.strip_prefix('p').and_then(|digits| digits.parse::<f64>().ok());
    let is_latency = metric == "mean" || percent().is_some_and(|p| p > 0.0 && p < 100.0);
    if !is_latency && !matches!(metric, "iops" | "mb_per_s" | "met_per_s") {
        return None;
    }
    if let Some(number) = text.strip_suffix('%') {
        let percent: f64 = number.trim().parse().ok()?;
        return (percent.is_finite() && percent > -100.0).then_some(Bound::Change(percent / 100.0));
    }
    // The figure names the unit already: `iops<20k`, `mb_per_s<500`.
    let with = |unit: &str| if text.contains('/') { text.to_owned() } else { format!("{text}{unit}") };
    let plain = text.parse::<f64>().is_ok();
    let value = match metric {
        "iops" | "met_per_s" => with("/s").parse::<OpsPerSecond>().ok()?.get(),
        "mb_per_s" => with(if plain { "MB/s" } else { "/s" }).parse::<BytesPerSecond>().ok()?.get(),
        _ => text.parse::<Nanos>().ok()?.get() as f64,
    };
    (value.is_finite() && value > 0.0).then(|| Bound::Figure { value, text: text.into() })
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.above { '>' } else { '<' };
        if self.op != Ops::All {
            write!(f, "{}.", self.op.name())?;
        }
        match &self.bound {
            Bound::Change(change) => write!(f, "{}{sign}{}%", self.metric, (change * 1e9).round() / 1e7),
            Bound::Figure { text, .. } => write!(f, "{}{sign}{text}", self.metric),
        }
    }
}

impl FromStr for FailOn {
    type Err = LimitError;

    fn from_str(text: &str) -> Result<FailOn, LimitError> {
        if text.trim() == "inconclusive" { Ok(FailOn::Inconclusive) } else { text.parse().map(FailOn::Limit) }
    }
}
