//! What is promised of a load: `p99<5ms`, `service mean<800us`, `errors<0.1%`.
//!
//! **Invariant:** a written promise is read back to the same.

use std::fmt;
use std::str::FromStr;

use units::{Nanos, Share};

/// One condition that a rate must keep.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Promise {
    /// A time stays below a limit.
    Latency {
        /// Which time.
        time: Time,
        /// Which figure of it.
        figure: LatencyFigure,
        /// What it stays below.
        below: Nanos,
    },
    /// The part of the requests that fail stays below a limit.
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
    /// The time that this share does not exceed; above 0 and below 1.
    Quantile(Share),
    /// The mean.
    Mean,
}

/// Why a text is no promise.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{text}` is not a promise: {why}; write for example p99<5ms, service p99.9<10ms, mean<800us or errors<0.1%"
)]
pub struct PromiseError {
    text: String,
    why: String,
}

impl fmt::Display for Promise {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Promise::Errors { below } => write!(f, "errors<{}", percent(*below)),
            Promise::Latency { time, figure, below } => {
                let time = if *time == Time::Service { "service " } else { "" };
                match figure {
                    LatencyFigure::Mean => write!(f, "{time}mean<{}", below.exact()),
                    LatencyFigure::Quantile(share) => {
                        write!(f, "{time}p{}<{}", percent(*share).trim_end_matches('%'), below.exact())
                    }
                }
            }
        }
    }
}

fn percent(share: Share) -> String {
    super::text::share_text(share)
}

impl FromStr for Promise {
    type Err = PromiseError;

    fn from_str(text: &str) -> Result<Promise, PromiseError> {
        let wrong = |why: &str| PromiseError { text: text.trim().into(), why: why.into() };
        let (left, limit) = text.split_once('<').ok_or_else(|| wrong("it has no `<`"))?;
        let limit = limit.strip_prefix('=').unwrap_or(limit).trim();
        let mut words: Vec<&str> = left.split_whitespace().collect();
        if words[..] == ["errors"] {
            let below: Share = limit.parse().map_err(|error| wrong(&format!("{error}")))?;
            return Ok(Promise::Errors { below });
        }
        let time = match words.first() {
            Some(&"service") => Time::Service,
            _ => Time::Response,
        };
        words.retain(|word| !["service", "response"].contains(word));
        let [figure] = words[..] else { return Err(wrong("it names no figure, or several")) };
        let figure = match figure {
            "mean" => LatencyFigure::Mean,
            "max" => return Err(wrong("the longest of ever more requests has no bound; promise p99.99")),
            other => {
                let percent = other.strip_prefix('p').ok_or_else(|| wrong("its figure is not known"))?;
                let share = format!("{percent}%").parse::<Share>().ok();
                let share = share.filter(|share| *share > Share::NONE && *share < Share::ALL);
                LatencyFigure::Quantile(share.ok_or_else(|| wrong("a percentile lies between p0 and p100"))?)
            }
        };
        let below: Nanos = limit.parse().map_err(|error| wrong(&format!("{error}")))?;
        if below.is_zero() {
            return Err(wrong("nothing takes no time"));
        }
        Ok(Promise::Latency { time, figure, below })
    }
}

impl Promise {
    /// What its figure must stay below, in the unit of its batches: a share of the requests, or nanoseconds.
    pub fn limit(&self) -> f64 {
        match self {
            Promise::Errors { below } => below.get(),
            Promise::Latency { figure: LatencyFigure::Quantile(share), .. } => 1.0 - share.get(),
            Promise::Latency { figure: LatencyFigure::Mean, below, .. } => below.get() as f64,
        }
    }

    /// Whether its batches count requests that are or are not beyond a limit.
    pub fn counts(&self) -> bool {
        !matches!(self, Promise::Latency { figure: LatencyFigure::Mean, .. })
    }

    /// The time it speaks of; none where it speaks of errors.
    pub fn below(&self) -> Option<Nanos> {
        match self {
            Promise::Latency { below, .. } => Some(*below),
            Promise::Errors { .. } => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn promises_read_what_they_write() {
        for text in
            ["p99<5ms", "service p99.9<10ms", "mean<800us", "service mean<1s", "errors<0.1%", "p50<1ms"]
        {
            assert_eq!(text.parse::<Promise>().unwrap().to_string(), text);
        }
        assert_eq!("response p99 <= 5ms".parse::<Promise>().unwrap().to_string(), "p99<5ms");
    }

    #[test]
    fn what_is_no_promise_says_why() {
        let said = |text: &str| text.parse::<Promise>().unwrap_err().to_string();
        assert!(said("p99").contains("no `<`"));
        assert!(said("max<5ms").contains("p99.99"));
        assert!(said("p100<5ms").contains("between p0 and p100"));
        assert!(said("p99<5").contains("unit"), "{}", said("p99<5"));
        assert!(said("iops<5ms").contains("not known"));
        assert!(said("p99<0s").contains("no time"));
        assert!(said("<5ms").contains("no figure"));
    }
}
