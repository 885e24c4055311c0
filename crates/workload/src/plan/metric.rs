//! The figure of a phase that is shown first, and the rule that ends a sweep early.

use std::fmt;
use std::str::FromStr;

use document::{Node, Table, Wrong};
use units::Share;

use super::slo::{PromiseError, Slo};
use super::text::{TextError, share_text, words};

/// Which figure of a point is its headline.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Metric {
    /// Completed requests a second.
    #[default]
    Iops,
    /// 1,000,000 bytes a second, as links and disks are sold.
    MbPerS,
    /// Mean response time.
    Mean,
    /// Longest response time.
    Max,
    /// The response time that this share of the requests does not exceed; above 0 and below 1.
    Percentile(Share),
}

const METRICS: &str = "iops, mb_per_s, mean, max, or a percentile of the response time such as p99 or p99.9";

impl fmt::Display for Metric {
    /// The text that [`FromStr`] reads back: `p99.9`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Metric::Iops => f.write_str("iops"),
            Metric::MbPerS => f.write_str("mb_per_s"),
            Metric::Mean => f.write_str("mean"),
            Metric::Max => f.write_str("max"),
            Metric::Percentile(share) => write!(f, "p{}", share_text(*share).trim_end_matches('%')),
        }
    }
}

impl FromStr for Metric {
    type Err = TextError;

    fn from_str(text: &str) -> Result<Metric, TextError> {
        let wrong =
            || TextError { message: format!("`{text}` is not a figure"), help: format!("one of {METRICS}") };
        match text.trim() {
            "iops" => Ok(Metric::Iops),
            "mb_per_s" => Ok(Metric::MbPerS),
            "mean" => Ok(Metric::Mean),
            "max" => Ok(Metric::Max),
            other => {
                let percent = other.strip_prefix('p').ok_or_else(wrong)?;
                let share: Share = format!("{percent}%").parse().map_err(|_| wrong())?;
                let inside = share > Share::NONE && share < Share::ALL;
                if inside { Ok(Metric::Percentile(share)) } else { Err(wrong()) }
            }
        }
    }
}

/// Which figure must no longer grow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flat {
    /// Bytes a second.
    Throughput,
    /// Requests a second.
    Iops,
}

words!(Flat, "a figure that can be flat", Flat::Throughput => "throughput", Flat::Iops => "iops");

/// Ends the innermost sweep of a phase: after the first point at which one of its rules holds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Until {
    /// More load no longer pays.
    pub gain: Option<Gain>,
    /// The point's figure breaks this SLO.
    pub slo: Option<Slo>,
    /// The processors of the machine, or of the modelled host, are busy for at least this part of the time.
    pub cpu: Option<Share>,
    /// More than this part of the requests fails.
    pub errors: Option<Share>,
}

/// When more load no longer pays.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gain {
    /// The figure watched.
    pub flat: Flat,
    /// What still counts as no gain.
    pub within: Share,
    /// So many points in a row must bring no gain; at least 1.
    pub points: u32,
}

impl Gain {
    /// Whether none of the last [`Gain::points`] figures is more than [`Gain::within`] above the best before them.
    ///
    /// `figures` are those of the sweep so far, in its order. A fall past the knee counts as no gain too.
    /// False while there are no more than [`Gain::points`] figures.
    pub fn ended(&self, figures: &[f64]) -> bool {
        let Some(before) = figures.len().checked_sub(self.points as usize).filter(|before| *before > 0)
        else {
            return false;
        };
        let best = figures[..before].iter().copied().fold(0.0, f64::max);
        figures[before..].iter().all(|figure| *figure <= best * (1.0 + self.within.get()))
    }
}

impl Until {
    /// Reads `{ flat = "throughput", within = "3%", points = 3, SLO = "p99<5ms", cpu = "90%", errors = "1%" }`; at
    /// least one of `flat`, `slo`, `cpu` and `errors`.
    pub(crate) fn read(node: &Node) -> Result<Option<Until>, Wrong> {
        let example = "{ flat = \"throughput\", within = \"3%\", points = 3 } or { slo = \"p99<5ms\" }";
        if node.scalar().as_deref() == Some("none") {
            return Ok(None);
        }
        let table = node.table().ok_or_else(|| node.not("a table", example))?;
        table.only(&["flat", "within", "points", "slo", "cpu", "errors"])?;
        let until = Until {
            gain: gain(table, example)?,
            slo: table.get("slo").map(|slo| slo.read("p99<5ms")).transpose()?,
            cpu: table.get("cpu").map(|cpu| cpu.read("90%")).transpose()?,
            errors: table.get("errors").map(|errors| errors.read("1%")).transpose()?,
        };
        if until == Until::default() {
            return Err(Wrong::new("`until` has no rule", format!("write {example}")));
        }
        Ok(Some(until))
    }
}

fn gain(table: &Table, example: &str) -> Result<Option<Gain>, Wrong> {
    let Some(flat) = table.get("flat") else {
        return match table.get("within").or(table.get("points")) {
            None => Ok(None),
            Some(_) => Err(Wrong::new("`flat` is missing", format!("write {example}"))),
        };
    };
    Ok(Some(Gain {
        flat: flat.read("throughput")?,
        within: table.get("within").map_or(Ok(share(0.03)), |within| within.read("3%"))?,
        points: table.get("points").map_or(Ok(3), |points| points.count32(1..=1000))?,
    }))
}

impl fmt::Display for Until {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let gain = self.gain.map(|gain| {
            let within = share_text(gain.within);
            format!("flat = \"{}\", within = \"{within}\", points = {}", gain.flat, gain.points)
        });
        let rules = [
            gain,
            self.slo.map(|slo| format!("slo = \"{slo}\"")),
            self.cpu.map(|cpu| format!("cpu = \"{}\"", share_text(cpu))),
            self.errors.map(|errors| format!("errors = \"{}\"", share_text(errors))),
        ];
        let rules: Vec<String> = rules.into_iter().flatten().collect();
        write!(f, "{{ {} }}", rules.join(", "))
    }
}

impl From<PromiseError> for Wrong {
    fn from(error: PromiseError) -> Wrong {
        Wrong::said(error.to_string())
    }
}

fn share(part: f64) -> Share {
    Share::new(part).expect("a constant between 0 and 1")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn until(points: u32) -> Gain {
        Gain { flat: Flat::Iops, within: share(0.03), points }
    }

    #[test]
    fn a_sweep_ends_when_three_points_bring_no_gain() {
        assert!(!until(3).ended(&[100.0, 200.0, 300.0]));
        assert!(!until(3).ended(&[100.0, 200.0, 205.0, 204.0]));
        assert!(until(3).ended(&[100.0, 200.0, 205.0, 204.0, 203.0]));
    }

    #[test]
    fn slow_gains_add_up_and_a_fall_is_no_gain() {
        // Each step gains less than 3 %, the three together more: not flat.
        assert!(!until(3).ended(&[100.0, 102.0, 104.0, 106.1]));
        assert!(until(2).ended(&[100.0, 60.0, 30.0]));
        assert!(!until(3).ended(&[]));
    }

    #[test]
    fn metrics_read_what_they_write() {
        for text in ["iops", "mb_per_s", "mean", "max", "p50", "p99", "p99.9", "p99.999"] {
            assert_eq!(text.parse::<Metric>().map(|metric| metric.to_string()), Ok(text.to_string()));
        }
        for text in ["p0", "p100", "p", "99", "iop", "p-1"] {
            assert!(text.parse::<Metric>().is_err(), "{text} was read");
        }
    }
}
