//! When the next request of a job is due.

use units::Nanos;
use units::convert::narrow;

use crate::Refusal;

use super::access::{self, READ, Rw, Sizes};
use super::job::refuse;
use super::settings::Options;
use super::value::Bare;

/// When the next request of a clone is due.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Pace {
    Closed,
    /// After so many requests have ended, so long.
    Think {
        ns: u64,
        blocks: u32,
    },
    /// After so long, and once all requests of it have ended, so long.
    Spells {
        ns: u64,
        busy_ns: u64,
    },
    /// Requests a second of one clone.
    Rate {
        per_second: f64,
        poisson: bool,
    },
}

/// The pace, and the part of reads in percent where two rates decide it.
pub(super) fn pace(
    options: &Options,
    rw: Rw,
    sizes: &[Sizes; 3],
    cpu_hz: Option<u64>,
    notes: &mut Vec<String>,
) -> Result<(Pace, Option<f64>), Refusal> {
    if asks_nothing(options) {
        return Ok((burnt(options, notes)?, None));
    }
    let thought_ns = options.time_ns("thinktime", Bare::Microseconds)?.unwrap_or(0);
    let think_ns = thought_ns.saturating_add(cycles_ns(options, cpu_hz, notes)?);
    let rates = rates(options, rw, sizes)?;
    if let Some(setting) = options.get("rate_iops")
        && let Some(op) = (0..3).find(|op| rw.has[*op] && least(&sizes[*op]) < mean(&sizes[*op]))
    {
        notes.push(format!(
            "rate_iops={} counts requests of the smallest size, as in fio: here {:.0} % as many of all sizes",
            setting.value,
            100.0 * least(&sizes[op]) / mean(&sizes[op])
        ));
    }
    let Some((per_second, reads)) = rates else {
        if think_ns == 0 {
            return Ok((Pace::Closed, None));
        }
        return Ok((think(options, think_ns)?, None));
    };
    // Of a pause and a rate the slower one decides: a pause that fits between two requests of the rate is part of it.
    if think_ns > 0 {
        let paused = think(options, think_ns)?;
        let is_slower = is_slower(options, paused, per_second, notes)?;
        if is_slower {
            return Ok((paused, rw.is_mixed().then_some(reads)));
        }
    }
    let poisson = match options.text("rate_process") {
        None | Some("linear") => false,
        Some("poisson") => true,
        Some(_) => return Err(refuse(options, "rate_process", "linear or poisson")),
    };
    if rw.is_mixed() && (reads - access::reads_percent(options, rw)?).abs() > 1e-6 {
        notes.push(format!(
            "the rates of reads and writes decide their shares: {} % reads",
            access::figure(reads)
        ));
    }
    Ok((Pace::Rate { per_second, poisson }, rw.is_mixed().then_some(reads)))
}

/// Whether what a job waits between requests holds it back more than its rate.
fn is_slower(
    options: &Options,
    paused: Pace,
    per_second: f64,
    notes: &mut Vec<String>,
) -> Result<bool, Refusal> {
    let (every, pause) = match paused {
        Pace::Think { ns, blocks } => (f64::from(blocks), ns),
        _ => {
            let setting = options.get("thinktime_iotime").expect("it has a value");
            return Err(setting.unsupported("a job with a rate pauses after requests; leave one of them out"));
        }
    };
    let is_slower = pause as f64 / 1e9 > every / per_second;
    notes.push(format!(
        "of rate and thinktime the slower one holds: here the {}",
        if is_slower { "thinktime" } else { "rate" }
    ));
    Ok(is_slower)
}

/// Whether a job asks no storage: it burns processor time, as ioengine=cpuio, or runs a program, as ioengine=exec.
pub(super) fn asks_nothing(options: &Options) -> bool {
    options.text("ioengine") == Some("cpuio") || super::execution::is_one(options)
}

/// The pace of such a job: requests that go nowhere for as long as `cpuchunks` says, then the pause that leaves `cpuload`.
fn burnt(options: &Options, notes: &mut Vec<String>) -> Result<Pace, Refusal> {
    if super::execution::is_one(options) {
        return waited(options);
    }
    let load = options.count("cpuload")?.unwrap_or(0);
    if !(1..=100).contains(&load) {
        return Err(refuse(
            options,
            "cpuload",
            "percent of a processor, from 1 to 100; ioengine=cpuio needs it",
        ));
    }
    let ends = options.time_ns("runtime", Bare::Seconds)?.unwrap_or(0) > 0;
    if !ends && options.flag("exit_on_io_done")? != Some(true) {
        return Err(refuse(
            options,
            "runtime",
            "ioengine=cpuio needs it, or exit_on_io_done=1: nothing else ends the job",
        ));
    }
    let busy_ns =
        options.time_ns("cpuchunks", Bare::Microseconds)?.filter(|busy| *busy > 0).unwrap_or(50_000_000);
    notes.push(
        "ioengine=cpuio burns its time with requests that leave the program nowhere; none is reported".into(),
    );
    match load {
        100 => Ok(Pace::Closed),
        load => Ok(Pace::Spells { ns: busy_ns.saturating_mul(100 - load) / load, busy_ns }),
    }
}

/// The pace of a job that only runs a program: as long as the job, which asks for nothing meanwhile.
fn waited(options: &Options) -> Result<Pace, Refusal> {
    match options.time_ns("runtime", Bare::Seconds)?.filter(|time| *time > 0) {
        Some(ns) => Ok(Pace::Think { ns, blocks: 1 }),
        None => {
            Err(refuse(options, "program", "ioengine=exec needs runtime=: nothing else ends the job here"))
        }
    }
}

/// The time that `thinkcycles` take on processors of that many cycles a second.
fn cycles_ns(options: &Options, cpu_hz: Option<u64>, notes: &mut Vec<String>) -> Result<u64, Refusal> {
    let Some(cycles) = options.count("thinkcycles")?.filter(|cycles| *cycles > 0) else { return Ok(0) };
    let setting = options.get("thinkcycles").expect("it has a value");
    let Some(hz) = cpu_hz.filter(|hz| *hz > 0) else {
        return Err(
            setting.unsupported("the system does not say how fast its processors are; thinktime= is a time")
        );
    };
    let ns = narrow::<u64>(u128::from(cycles) * 1_000_000_000 / u128::from(hz));
    notes.push(format!(
        "thinkcycles={cycles}: {} at {} MHz, which are waited, not burnt",
        Nanos::new(ns),
        hz / 1_000_000
    ));
    Ok(ns)
}

/// The pace of a job that pauses for `ns`.
fn think(options: &Options, ns: u64) -> Result<Pace, Refusal> {
    if let Some(setting) = options.get("thinktime_blocks_type")
        && !matches!(setting.value.as_str(), "complete" | "issue")
    {
        return Err(setting.wrong("complete or issue"));
    }
    let blocks = options.count32("thinktime_blocks")?;
    match (options.time_ns("thinktime_iotime", Bare::Seconds)?.filter(|busy| *busy > 0), blocks) {
        (Some(busy_ns), None) => Ok(Pace::Spells { ns, busy_ns }),
        (None, blocks) => Ok(Pace::Think { ns, blocks: blocks.unwrap_or(1).max(1) }),
        (Some(_), Some(_)) => {
            let setting = options.get("thinktime_iotime").expect("it has a value");
            Err(setting.unsupported(
                "a pause comes after so many requests or after so long; leave it or thinktime_blocks out",
            ))
        }
    }
}

/// Requests a second of one clone, and the part of them that reads, in percent; `None` without any rate.
fn rates(options: &Options, rw: Rw, sizes: &[Sizes; 3]) -> Result<Option<(f64, f64)>, Refusal> {
    let by_count = options.three("rate_iops", |text| Ok(options.base.size(text)? as f64))?;
    let by_bytes = options.three("rate", |text| Ok(options.base.size(text)? as f64))?;
    let of = |op: usize| {
        let bytes = by_bytes[op].filter(|rate| *rate > 0.0).map(|rate| rate / mean(&sizes[op]));
        // Of several sizes fio counts the smallest: a rate of bytes.
        let count =
            by_count[op].filter(|rate| *rate > 0.0).map(|rate| rate * least(&sizes[op]) / mean(&sizes[op]));
        match (bytes, count) {
            (Some(one), Some(other)) => Some(f64::min(one, other)),
            (one, other) => one.or(other),
        }
    };
    let active: Vec<Option<f64>> = (0..3).filter(|op| rw.has[*op]).map(of).collect();
    let given: Vec<f64> = active.iter().copied().flatten().collect();
    if given.is_empty() {
        return Ok(None);
    }
    if rw.rewrites_trims() {
        // Each trim brings its write with it.
        return Ok(Some((given.into_iter().fold(f64::INFINITY, f64::min), 0.0)));
    }
    // Halves of a job of which one has a rate have one pace each.
    if given.len() < active.len() {
        return Ok(None);
    }
    let total: f64 = given.iter().sum();
    let reads = if rw.has[READ] { given[0] } else { 0.0 };
    Ok(Some((total, reads * 100.0 / total)))
}

fn least(sizes: &Sizes) -> f64 {
    sizes.iter().map(|(size, _)| *size as f64).fold(f64::INFINITY, f64::min)
}

fn mean(sizes: &Sizes) -> f64 {
    let weight: f64 = sizes.iter().map(|(_, weight)| weight).sum();
    assert!(weight > 0.0, "a size has a share");
    sizes.iter().map(|(size, weight)| *size as f64 * weight).sum::<f64>() / weight
}
