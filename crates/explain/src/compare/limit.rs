//! A change that is too much: `iops<-5%`, `p99>10%`.
//!
//! **Invariant:** a limit is broken only where the whole interval lies beyond it.

use std::fmt;
use std::str::FromStr;

use record::{Compared, Comparison};

/// The change of one figure from which on a comparison has failed.
#[derive(Clone, Debug, PartialEq)]
pub struct Limit {
    /// `iops`, `mb_per_s`, `mean`, `p99`, …
    pub metric: String,
    /// Whether it is a change above that is too much, otherwise one below.
    pub above: bool,
    /// The change as a part: `-0.05`.
    pub change: f64,
}

/// Why a text is no limit.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no limit; write a figure, < or >, and a change in per cent: iops<-5%, p99>10%")]
pub struct LimitError(String);

/// What became of a limit in one cell.
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
    /// What became of it in every cell that has the figure, all operations of a workload together.
    ///
    /// Empty where no cell has it.
    pub fn judge<'a>(&self, comparison: &'a Comparison) -> Vec<(&'a Compared, Outcome)> {
        let rows = comparison.rows.iter().filter(|row| row.total && row.metric == self.metric);
        rows.map(|row| (row, self.outcome(row))).collect()
    }

    fn outcome(&self, row: &Compared) -> Outcome {
        let (Some(low), Some(high)) = (row.low, row.high) else { return Outcome::Undecided };
        let limit = 1.0 + self.change;
        let (broken, kept) = match self.above {
            true => (low > limit, high <= limit),
            false => (high < limit, low >= limit),
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
        let (metric, above) = (metric.trim(), rest.starts_with('>'));
        let number = rest[1..].trim().strip_suffix('%').ok_or_else(wrong)?.trim();
        let percent: f64 = number.parse().map_err(|_| wrong())?;
        if !percent.is_finite() || percent <= -100.0 || !is_metric(metric) {
            return Err(wrong());
        }
        Ok(Limit { metric: metric.into(), above, change: percent / 100.0 })
    }
}

fn is_metric(name: &str) -> bool {
    let percent = || name.strip_prefix('p').and_then(|digits| digits.parse::<f64>().ok());
    matches!(name, "iops" | "mb_per_s" | "mean") || percent().is_some_and(|p| p > 0.0 && p < 100.0)
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.above { '>' } else { '<' };
        write!(f, "{}{sign}{}%", self.metric, (self.change * 1e9).round() / 1e7)
    }
}
