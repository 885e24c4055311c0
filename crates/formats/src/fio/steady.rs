//! `steadystate`: when a job is steady, and what fio's JSON says of it.

use workload::steady::{Criterion, Steady, SteadyFigure, SteadyLimit, SteadyMeasure};

use crate::Refusal;

use super::figures::Entry;
use super::settings::Options;
use super::value::Bare;

/// What `steadystate` and its kin ask for; `None` where they ask for nothing.
pub(super) fn rule(options: &Options, notes: &mut Vec<String>) -> Result<Option<Steady>, Refusal> {
    let idle = |value: &str| matches!(value, "0" | "none");
    let Some(setting) = options.get("steadystate").filter(|setting| !idle(&setting.value)) else {
        return Ok(None);
    };
    let seconds = |name: &str| -> Result<u32, Refusal> {
        let time = options.time_ns(name, Bare::Seconds)?.unwrap_or(0);
        Ok(u32::try_from(time.div_ceil(1_000_000_000)).unwrap_or(u32::MAX))
    };
    let (over_s, after_s) = (seconds("steadystate_duration")?, seconds("steadystate_ramp_time")?);
    if over_s == 0 {
        notes.push("steadystate without steadystate_duration looks at nothing, as in fio".into());
        return Ok(None);
    }
    if !(2..=86_400).contains(&over_s) {
        let duration = options.get("steadystate_duration").expect("it is above 0");
        return Err(duration.wrong("2 seconds to a day"));
    }
    let wrong = || setting.wrong("iops, bw or lat, or one of them with _slope, then a limit: iops:10%");
    let (name, limit) = setting.value.split_once(':').ok_or_else(wrong)?;
    let (name, measure) = match name.strip_suffix("_slope") {
        Some(name) => (name, SteadyMeasure::Slope),
        None => (name, SteadyMeasure::Deviation),
    };
    let figure = match name {
        "iops" => SteadyFigure::Iops,
        "bw" => SteadyFigure::Throughput,
        "lat" => SteadyFigure::Latency,
        _ => return Err(wrong()),
    };
    let limit = match (limit.trim().strip_suffix('%'), figure) {
        (Some(percent), _) => {
            percent.trim().parse::<f64>().ok().map(|percent| SteadyLimit::Part(percent / 100.0))
        }
        (None, SteadyFigure::Throughput) => {
            options.base.size(limit).ok().map(|rate| SteadyLimit::Value(rate as f64))
        }
        (None, SteadyFigure::Latency) => {
            super::value::time_ns(limit, Bare::Microseconds).ok().map(|time| SteadyLimit::Value(time as f64))
        }
        (None, SteadyFigure::Iops) => limit.trim().parse().ok().map(SteadyLimit::Value),
    };
    let is_above = |limit: &SteadyLimit| {
        let (SteadyLimit::Part(value) | SteadyLimit::Value(value)) = limit;
        value.is_finite() && *value > 0.0 && !matches!(limit, SteadyLimit::Part(part) if *part > 1.0)
    };
    let limit = limit.filter(is_above).ok_or_else(wrong)?;
    Ok(Some(Steady { figure, measure, limit, over_s, after_s }))
}

/// What fio's `steadystate` object says of a job's last window.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Attained {
    pub rule: Steady,
    pub criterion: Criterion,
    /// Requests and bytes of each second of the window.
    pub iops: Vec<f64>,
    pub bytes: Vec<f64>,
}

impl Attained {
    /// The last window of a job's seconds, whether it is the one that ended the load or not.
    pub(super) fn of(rule: Steady, entry: &Entry) -> Attained {
        let sum = |of: fn(&super::figures::Direction) -> &[f64], unit: f64| -> Vec<f64> {
            let longest = entry.directions.iter().map(|each| of(each).len()).max().unwrap_or(0);
            let second =
                |at: usize| entry.directions.iter().filter_map(|each| of(each).get(at)).sum::<f64>() * unit;
            (0..longest).map(second).collect()
        };
        let iops = sum(|each| &each.rate.0, 1.0);
        let bytes = sum(|each| &each.bandwidth.0, 1024.0);
        let latency = sum(|each| &each.mean_ns.0, 1.0);
        let series = match rule.figure {
            SteadyFigure::Iops => &iops,
            SteadyFigure::Throughput => &bytes,
            SteadyFigure::Latency => &latency,
        };
        let (over, after) = (rule.over_s as usize, rule.after_s as usize);
        let none = Criterion { mean: 0.0, slope: 0.0, deviation: 0.0, value: 0.0, is_met: false };
        // The load goes on for some seconds after the window that ended it.
        let windows = || (after..(series.len() + 1).saturating_sub(over)).map(|from| from..from + over);
        let at = |range: &std::ops::Range<usize>| rule.criterion(&series[range.clone()]);
        let met = windows().find(|range| at(range).is_some_and(|criterion| criterion.is_met));
        let shown = met.or_else(|| windows().next_back()).unwrap_or(0..0);
        let criterion = at(&shown).unwrap_or(none);
        let of = |all: &[f64]| all.get(shown.clone()).unwrap_or_default().to_vec();
        Attained { rule, criterion, iops: of(&iops), bytes: of(&bytes) }
    }

    /// The option as it was given: `iops_slope:10.000000%`.
    pub(super) fn name(&self) -> String {
        let figure = match self.rule.figure {
            SteadyFigure::Iops => "iops",
            SteadyFigure::Throughput => "bw",
            SteadyFigure::Latency => "lat",
        };
        let slope = if self.rule.measure == SteadyMeasure::Slope { "_slope" } else { "" };
        let (limit, unit) = match self.rule.limit {
            SteadyLimit::Part(part) => (part * 100.0, "%"),
            SteadyLimit::Value(value) => (value, ""),
        };
        format!("{figure}{slope}:{limit:.6}{unit}")
    }

    /// What was held against the limit.
    pub(super) fn value(&self) -> String {
        let unit = if matches!(self.rule.limit, SteadyLimit::Part(_)) { "%" } else { "" };
        format!("{:.6}{unit}", self.criterion.value)
    }

    /// The same as fio's text has it: `iops mean dev=2.891%`, `bw slope=-12.000`.
    pub(super) fn criterion_text(&self) -> String {
        let figure = match self.rule.figure {
            SteadyFigure::Iops => "iops",
            SteadyFigure::Throughput => "bw",
            SteadyFigure::Latency => "lat",
        };
        let measure = if self.rule.measure == SteadyMeasure::Slope { "slope" } else { "mean dev" };
        let unit = if matches!(self.rule.limit, SteadyLimit::Part(_)) { "%" } else { "" };
        format!("{figure} {measure}={:.3}{unit}", self.criterion.value)
    }
}
