//! The text of when a figure is steady: `iops(10%, 30s)`, `latency_slope(5us, 10s, 20s)`.

use std::fmt::{self, Display};
use std::str::FromStr;

use units::convert::truncated;
use units::{BytesPerSecond, Nanos, Share};

use super::{TextError, call, unit, unknown, wrong};
use crate::steady::{Steady, SteadyFigure, SteadyLimit, SteadyMeasure};

const FORMS: [&str; 6] = [
    "iops(10%, 30s)",
    "throughput(10%, 30s)",
    "latency(10%, 30s)",
    "iops_slope(1%, 30s)",
    "throughput_slope(1%, 30s)",
    "latency_slope(1%, 30s)",
];

impl Display for Steady {
    /// The text that [`FromStr`] reads back.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.figure {
            SteadyFigure::Iops => "iops",
            SteadyFigure::Throughput => "throughput",
            SteadyFigure::Latency => "latency",
        })?;
        f.write_str(if self.measure == SteadyMeasure::Slope { "_slope(" } else { "(" })?;
        match (self.limit, self.figure) {
            (SteadyLimit::Part(part), _) => write!(f, "{}%", part * 100.0),
            (SteadyLimit::Value(value), SteadyFigure::Iops) => write!(f, "{value}"),
            (SteadyLimit::Value(value), SteadyFigure::Throughput) => {
                f.write_str(&BytesPerSecond::new(value).exact())
            }
            (SteadyLimit::Value(value), SteadyFigure::Latency) => {
                f.write_str(&Nanos::new(truncated(value)).exact())
            }
        }?;
        write!(f, ", {}s", self.over_s)?;
        match self.after_s {
            0 => f.write_str(")"),
            after => write!(f, ", {after}s)"),
        }
    }
}

impl FromStr for Steady {
    type Err = TextError;

    fn from_str(text: &str) -> Result<Steady, TextError> {
        let (name, Some(arguments)) = call(text)? else { return unknown(text, "a steady figure", &FORMS) };
        let (figure, measure) = match name.strip_suffix("_slope") {
            Some(figure) => (figure, SteadyMeasure::Slope),
            None => (name, SteadyMeasure::Deviation),
        };
        let figure = match figure {
            "iops" => SteadyFigure::Iops,
            "throughput" => SteadyFigure::Throughput,
            "latency" => SteadyFigure::Latency,
            _ => return unknown(text, "a steady figure", &FORMS),
        };
        let parts: Vec<&str> = arguments.split(',').map(str::trim).collect();
        let (limit_text, over, after) = match parts[..] {
            [limit, over] => (limit, over, None),
            [limit, over, after] => (limit, over, Some(after)),
            _ => {
                return wrong(format!("`{text}` needs a limit and a window"), "for example `iops(10%, 30s)`");
            }
        };
        let (over_s, after_s) = (seconds(over)?, after.map_or(Ok(0), seconds)?);
        if !(2..=86_400).contains(&over_s) {
            return wrong(format!("a window of {over} is too short or too long"), "2s to 24h");
        }
        Ok(Steady { figure, measure, limit: limit(limit_text, figure)?, over_s, after_s })
    }
}

fn limit(text: &str, figure: SteadyFigure) -> Result<SteadyLimit, TextError> {
    let limit = match figure {
        _ if text.ends_with('%') => SteadyLimit::Part(unit::<Share>(text)?.get()),
        SteadyFigure::Iops => SteadyLimit::Value(text.parse().unwrap_or(f64::NAN)),
        SteadyFigure::Throughput => SteadyLimit::Value(unit::<BytesPerSecond>(text)?.get()),
        SteadyFigure::Latency => SteadyLimit::Value(unit::<Nanos>(text)?.get() as f64),
    };
    let (SteadyLimit::Part(value) | SteadyLimit::Value(value)) = limit;
    match value.is_finite() && value > 0.0 {
        true => Ok(limit),
        false => wrong(format!("`{text}` is not a limit"), "more than 0, such as 10%"),
    }
}

fn seconds(text: &str) -> Result<u32, TextError> {
    let time: Nanos = unit(text)?;
    let whole = time.get() / 1_000_000_000;
    match u32::try_from(whole) {
        Ok(seconds) if Nanos::from_secs(whole) == time => Ok(seconds),
        _ => wrong(format!("`{text}` is not in whole seconds"), "for example 30s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_steady_figure_reads_back() {
        for text in [
            "iops(10%, 30s)",
            "iops_slope(5, 30s, 10s)",
            "throughput(10MB/s, 2s)",
            "latency_slope(50us, 10s)",
            "latency(0.3%, 60s, 5s)",
        ] {
            let steady: Steady = text.parse().unwrap();
            assert_eq!(steady.to_string().parse(), Ok(steady), "{steady}");
        }
        for wrong in ["iops", "iops(10%)", "iops(10%, 1s)", "iops(0%, 30s)", "cpu(10%, 30s)", "iops(x, 30s)"]
        {
            assert!(wrong.parse::<Steady>().is_err(), "{wrong}");
        }
    }
}
