//! What is promised of a load: `p99<5ms`, `service mean<800us`, `read.p99<5ms`, `errors<0.1%`.
//!
//! **Invariant:** a written SLO is read back to the same.

use std::fmt;
use std::str::FromStr;

use units::{BytesPerSecond, Nanos, OpsPerSecond, Share};

use crate::Op;

/// One condition that a rate must keep.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Slo {
    /// A time stays below a limit.
    Latency {
        /// Of which operations alone: reads, writes, trims or flushes; `None` of all but flushes together.
        of: Option<Op>,
        /// Which time.
        time: Time,
        /// Which figure of it.
        figure: LatencyFigure,
        /// What it stays below.
        below: Nanos,
    },
    /// The share of the requests that fail stays below a limit.
    Errors {
        /// The limit.
        below: Share,
    },
}

/// Which of the two times of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Time {
    /// From the instant it was due.
    Response,
    /// From the instant it was issued.
    Service,
}

/// A figure of many times.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LatencyFigure {
    /// The time that this share does not exceed; above 0. Of all requests ([`Share::ALL`], fio's `latency_target` without a
    /// percentile) only a window can be judged, not a rate: no text is read as that.
    Quantile(Share),
    /// The mean.
    Mean,
}

/// Why a text is no SLO.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{text}` is not an slo: {why}; write for example p99<5ms, read.p99<5ms, service p99.9<10ms, mean<800us or \
     errors<0.1%"
)]
pub struct PromiseError {
    text: String,
    why: String,
}

/// What a load has to do: keep an SLO, or reach a rate.
#[derive(Clone, Debug, PartialEq)]
pub enum Objective {
    /// A time or the share of failures stays below a limit.
    Keep(Slo),
    /// A rate stays above a limit.
    Reach {
        /// Of which operations alone; `None` of all together.
        of: Option<Op>,
        /// The limit.
        above: Rate,
        /// The limit as it was written.
        text: String,
    },
}

/// A rate of requests or of bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Rate {
    /// Requests a second.
    Iops(OpsPerSecond),
    /// Bytes a second.
    Throughput(BytesPerSecond),
}

/// Operations that a rate can be of.
const OPS: [Op; 3] = [Op::Read, Op::Write, Op::Trim];

/// The operation whose time an SLO is about, by its word; a flush also by fio's and the system's.
fn timed(word: &str) -> Option<Op> {
    match word {
        "flush" | "sync" | "fsync" | "fdatasync" => Some(Op::Flush),
        word => OPS.into_iter().find(|op| op.name() == word),
    }
}

impl fmt::Display for Slo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Slo::Errors { below } => write!(f, "errors<{}", percent(*below)),
            Slo::Latency { of, time, figure, below } => {
                if *time == Time::Service {
                    f.write_str("service ")?;
                }
                if let Some(of) = of {
                    write!(f, "{}.", of.name())?;
                }
                match figure {
                    LatencyFigure::Mean => write!(f, "mean<{}", below.exact()),
                    LatencyFigure::Quantile(share) => {
                        write!(f, "p{}<{}", percent(*share).trim_end_matches('%'), below.exact())
                    }
                }
            }
        }
    }
}

fn percent(share: Share) -> String {
    super::text::share_text(share)
}

impl FromStr for Slo {
    type Err = PromiseError;

    fn from_str(text: &str) -> Result<Slo, PromiseError> {
        let wrong = |why: &str| PromiseError { text: text.trim().into(), why: why.into() };
        let (left, limit) = text.split_once('<').ok_or_else(|| match text.contains('>') {
            true => wrong("a search keeps a latency or errors below a limit: write p99<5ms or errors<0.1%; --from is the lowest rate"),
            false => wrong("it has neither `<` nor `>`"),
        })?;
        let limit = limit.strip_prefix('=').unwrap_or(limit).trim();
        let mut words: Vec<&str> = left.split_whitespace().collect();
        if words[..] == ["errors"] {
            let below: Share = limit.parse().map_err(|error| wrong(&format!("{error}")))?;
            return Ok(Slo::Errors { below });
        }
        let time = match words.first() {
            Some(&"service") => Time::Service,
            _ => Time::Response,
        };
        words.retain(|word| !["service", "response"].contains(word));
        let [figure] = words[..] else { return Err(wrong("it names no figure, or several")) };
        let (of, figure) = match figure.split_once('.') {
            Some((word, figure)) if word.starts_with(|first: char| first != 'p') => {
                let of = timed(word);
                (Some(of.ok_or_else(|| wrong("write read, write, trim or flush before the `.`"))?), figure)
            }
            _ => (None, figure),
        };
        let figure = match figure {
            "mean" => LatencyFigure::Mean,
            "max" => return Err(wrong("the longest of ever more requests has no bound; slo p99.99")),
            other => {
                if ["iops", "mb_per_s"].contains(&other) {
                    return Err(wrong("a rate is to stay above a limit: write `>`"));
                }
                let known = "its figure is not known; write mean, p50, p99, errors, iops or mb_per_s";
                let percent = other.strip_prefix('p').ok_or_else(|| wrong(known))?;
                let share = format!("{percent}%").parse::<Share>().ok();
                let share = share.filter(|share| *share > Share::NONE && *share < Share::ALL);
                LatencyFigure::Quantile(share.ok_or_else(|| wrong("a percentile lies between p0 and p100"))?)
            }
        };
        let below: Nanos = limit.parse().map_err(|error| wrong(&format!("{error}")))?;
        if below.is_zero() {
            return Err(wrong("nothing takes no time"));
        }
        Ok(Slo::Latency { of, time, figure, below })
    }
}

impl fmt::Display for Objective {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (of, above, text) = match self {
            Objective::Keep(slo) => return slo.fmt(f),
            Objective::Reach { of, above, text } => (of, above, text),
        };
        if let Some(of) = of {
            write!(f, "{}.", of.name())?;
        }
        let name = if matches!(above, Rate::Iops(_)) { "iops" } else { "mb_per_s" };
        write!(f, "{name}>{text}")
    }
}

impl FromStr for Objective {
    type Err = PromiseError;

    fn from_str(text: &str) -> Result<Objective, PromiseError> {
        if text.matches(['<', '>']).count() > 1 {
            let why = "it is more than one; write a list, such as slo = [\"p99 < 5ms\", \"iops > 20k\"]";
            return Err(PromiseError { text: text.trim().into(), why: why.into() });
        }
        let Some((left, limit)) = text.split_once('>') else { return text.parse().map(Objective::Keep) };
        let wrong = |why: &str| PromiseError { text: text.trim().into(), why: why.into() };
        let (left, limit) = (left.trim(), limit.strip_prefix('=').unwrap_or(limit).trim());
        let (of, figure) = match left.split_once('.') {
            None => (None, left),
            Some((word, figure)) => {
                let of = OPS.into_iter().find(|op| op.name() == word);
                (Some(of.ok_or_else(|| wrong("write read, write or trim before the `.`"))?), figure)
            }
        };
        let with = |unit: &str| if limit.contains('/') { limit.to_owned() } else { format!("{limit}{unit}") };
        let above = match figure {
            "iops" => with("/s").parse().map(Rate::Iops).map_err(|error| wrong(&format!("{error}")))?,
            "mb_per_s" => {
                let unit = if limit.parse::<f64>().is_ok() { "MB/s" } else { "/s" };
                with(unit).parse().map(Rate::Throughput).map_err(|error| wrong(&format!("{error}")))?
            }
            _ => {
                return Err(wrong(
                    "only iops and mb_per_s have a least; times and errors stay below, with `<`",
                ));
            }
        };
        let is_sound = match above {
            Rate::Iops(rate) => rate.get() > 0.0 && rate.get().is_finite(),
            Rate::Throughput(rate) => rate.get() > 0.0 && rate.get().is_finite(),
        };
        if !is_sound {
            return Err(wrong("every rate is above nothing"));
        }
        Ok(Objective::Reach { of, above, text: limit.into() })
    }
}

impl Slo {
    /// What its figure must stay below, in the unit of its batches: a share of the requests, or nanoseconds.
    pub fn limit(&self) -> f64 {
        match self {
            Slo::Errors { below } => below.get(),
            Slo::Latency { figure: LatencyFigure::Quantile(share), .. } => 1.0 - share.get(),
            Slo::Latency { figure: LatencyFigure::Mean, below, .. } => below.get() as f64,
        }
    }

    /// Whether its batches count requests that are or are not beyond a limit.
    pub fn counts(&self) -> bool {
        !matches!(self, Slo::Latency { figure: LatencyFigure::Mean, .. })
    }

    /// Whether it is about requests of `op`.
    pub fn is_about(&self, op: Op) -> bool {
        match self {
            Slo::Latency { of: Some(of), .. } => *of == op,
            Slo::Latency { of: None, .. } | Slo::Errors { .. } => true,
        }
    }

    /// The operation that it is about alone.
    pub fn of(&self) -> Option<Op> {
        match self {
            Slo::Latency { of, .. } => *of,
            Slo::Errors { .. } => None,
        }
    }

    /// The time it speaks of; none where it speaks of errors.
    pub fn below(&self) -> Option<Nanos> {
        match self {
            Slo::Latency { below, .. } => Some(*below),
            Slo::Errors { .. } => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn promises_read_what_they_write() {
        for text in [
            "p99<5ms",
            "service p99.9<10ms",
            "mean<800us",
            "service mean<1s",
            "errors<0.1%",
            "p50<1ms",
            "read.p99<5ms",
            "service write.p99.9<10ms",
            "trim.mean<1ms",
            "flush.p99<10ms",
        ] {
            assert_eq!(text.parse::<Slo>().unwrap().to_string(), text);
        }
        assert_eq!("response p99 <= 5ms".parse::<Slo>().unwrap().to_string(), "p99<5ms");
        for word in ["sync", "fsync", "fdatasync"] {
            assert_eq!(format!("{word}.p99<10ms").parse::<Slo>().unwrap().to_string(), "flush.p99<10ms");
        }
    }

    #[test]
    fn objectives_are_slos_and_least_rates_and_read_what_they_write() {
        for text in
            ["p99<5ms", "iops>20k", "write.iops>5k", "mb_per_s>500MB/s", "mb_per_s>500", "iops>1000/s"]
        {
            assert_eq!(text.parse::<Objective>().unwrap().to_string(), text);
        }
        let rate = |text: &str| match text.parse::<Objective>() {
            Ok(Objective::Reach { above: Rate::Iops(rate), .. }) => rate.get(),
            Ok(Objective::Reach { above: Rate::Throughput(rate), .. }) => rate.get(),
            other => panic!("{text}: {other:?}"),
        };
        assert_eq!((rate(" iops >= 20k"), rate("mb_per_s > 500"), rate("mb_per_s>1GB/s")), (2e4, 5e8, 1e9));
        let said = |text: &str| text.parse::<Objective>().unwrap_err().to_string();
        assert!(said("p99 > 5ms").contains("with `<`"), "{}", said("p99 > 5ms"));
        assert!(said("flush.iops > 5").contains("read, write or trim"));
        assert!(said("iops > fast").contains("iops > fast"));
        assert!(said("iops > 0").contains("above nothing"));
        assert!(said("p99<500ms, iops>100").contains("list"), "{}", said("p99<500ms, iops>100"));
        assert!(said("iops < 5k").contains("write `>`"));
    }

    #[test]
    fn what_is_no_promise_says_why() {
        let said = |text: &str| text.parse::<Slo>().unwrap_err().to_string();
        assert!(said("p99").contains("neither `<` nor `>`"));
        assert!(said("stat.p99<5ms").contains("trim or flush"), "{}", said("stat.p99<5ms"));
        assert!(said("max<5ms").contains("p99.99"));
        assert!(said("p100<5ms").contains("between p0 and p100"));
        assert!(said("p99<5").contains("unit"), "{}", said("p99<5"));
        assert!(said("iops<5ms").contains("write `>`"));
        assert!(said("p99<0s").contains("no time"));
        assert!(said("<5ms").contains("no figure"));
    }
}
