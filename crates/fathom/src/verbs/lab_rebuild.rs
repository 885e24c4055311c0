//! The array lab: what a rebuild costs the load beside it, and how long it takes.

use array::spec::Source;
use host::clock::Clock;
use modelled::lab::rebuild::{self as rebuilds, Moment, Rebuild};
use modelled::lab::{LabError, LabWorkload, Setting, first_seed};
use record::Point;
use serde::{Deserialize, Serialize};
use units::{Nanos, OpsPerSecond};

use crate::verbs::lab::{milliseconds, total};

/// What is asked of a rebuild.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RebuildRequest {
    /// The array's address.
    pub array: String,
    /// What is issued beside it.
    pub workload: LabWorkload,
    /// The slot whose disk fails and is rebuilt.
    pub fail: u32,
    /// Requests in flight.
    #[serde(default = "usual_depth")]
    pub depth: u32,
    /// Every random choice follows from it.
    #[serde(default = "first_seed")]
    pub seed: u64,
}

/// The depth of a rebuild's load where none is named.
pub fn usual_depth() -> u32 {
    rebuilds::DEPTH
}

/// What a rebuild costs.
#[derive(Clone, Debug, Serialize)]
pub struct RebuildAnswer {
    /// What it costs the load and how long it takes, in a sentence.
    pub answer: String,
    /// How long it takes beside the load; none where it does not get on.
    pub seconds: Option<f64>,
    /// How long it takes without any load.
    pub alone_seconds: f64,
    /// The rebuild from its start to its end.
    pub points: Vec<RebuildPoint>,
    /// The load before the disk failed.
    pub healthy: Foreground,
    /// The load with the disk failed and no rebuild.
    pub degraded: Foreground,
    /// How long it took to answer, in milliseconds.
    pub took_ms: f64,
}

/// The rebuild at an instant.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct RebuildPoint {
    pub at_s: f64,
    pub percent: f64,
    pub foreground_iops: f64,
    pub foreground_p99_us: Option<f64>,
}

/// The load.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Foreground {
    pub iops: f64,
    pub p99_us: Option<f64>,
}

/// As many moments of a rebuild at most.
const MOMENTS: usize = 200;

/// Behind what was measured beside a rebuild.
const UNSUSTAINED_TOO: &str = " These rates are not sustained: the write cache was still filling.";

/// What the rebuild of `ask` costs, on an array of `library`.
pub fn rebuild_answer(ask: &RebuildRequest, library: &dyn Source) -> Result<RebuildAnswer, LabError> {
    let clock = Clock::start();
    let RebuildRequest { array, workload, fail, depth, seed } = ask;
    let setting = Setting { array: array.clone(), workload: *workload, fail: Vec::new(), seed: *seed };
    let rebuild = rebuilds::rebuild(&setting, *fail, *depth, library)?;
    let moments = rebuild.moments(MOMENTS);
    debug_assert!(moments.len() <= MOMENTS, "a chart has no more moments than that");
    debug_assert!(
        moments.windows(2).all(|two| two[0].at_s <= two[1].at_s && two[0].percent <= two[1].percent),
        "a rebuild moves on with time"
    );
    let point = |moment: &Moment| RebuildPoint {
        at_s: moment.at_s,
        percent: moment.percent,
        foreground_iops: moment.iops,
        foreground_p99_us: moment.p99_us,
    };
    Ok(RebuildAnswer {
        answer: cost(&rebuild, *fail, &moments),
        seconds: rebuild.seconds(),
        alone_seconds: rebuild.alone_s,
        points: moments.iter().map(point).collect(),
        healthy: foreground(&rebuild.healthy),
        degraded: foreground(&rebuild.degraded),
        took_ms: milliseconds(&clock),
    })
}

fn foreground(point: &Point) -> Foreground {
    let iops = total(point).map_or(0.0, |total| total.ops_per_s.value);
    Foreground { iops, p99_us: rebuilds::p99_us(point) }
}

/// `The rebuild of disk 3 takes 5 h 49 min beside 16 requests in flight, and 1 h without load. Meanwhile 1,885 IOPS on average instead of …`.
fn cost(rebuild: &Rebuild, slot: u32, moments: &[Moment]) -> String {
    let (healthy, degraded) = (foreground(&rebuild.healthy), foreground(&rebuild.degraded));
    let before = OpsPerSecond::new(healthy.iops);
    let how = simulated(rebuild);
    let (Some(seconds), false) = (rebuild.seconds(), moments.is_empty()) else {
        return format!(
            "The rebuild of disk {slot} makes no progress beside this load, which gets {} IOPS of the {before} that it has \
             on the healthy array. {how}",
            OpsPerSecond::new(degraded.iops)
        );
    };
    debug_assert!(seconds >= 0.0 && rebuild.alone_s >= 0.0, "a rebuild takes time");
    let mean = moments.iter().map(|moment| moment.iops).sum::<f64>() / moments.len() as f64;
    let worst = moments.iter().filter_map(|moment| moment.p99_us).reduce(f64::max);
    let p99 = worst.zip(healthy.p99_us).map_or_else(String::new, |(worst, healthy)| {
        let us = |value: f64| Nanos::from_secs_f64(value / 1e6);
        format!(", p99 up to {} instead of {}", us(worst), us(healthy))
    });
    let unsustained = if rebuild.is_filling { UNSUSTAINED_TOO } else { "" };
    let change = format!("{:+.0} %", (mean / healthy.iops - 1.0) * 100.0).replace('-', "−");
    // Of what is rebuilt already no read has to be computed.
    let why = if degraded.iops < mean {
        ", less than on average beside it: what is rebuilt counts as whole"
    } else {
        ""
    };
    format!(
        "The rebuild of disk {slot} takes {} beside {} requests in flight, and {} without load. Meanwhile {} IOPS on average \
         instead of {before} ({change}){p99}.{unsustained} Degraded, without a rebuild: {} IOPS{why}. {how}",
        Nanos::from_secs_f64(seconds),
        rebuild.depth,
        Nanos::from_secs_f64(rebuild.alone_s),
        OpsPerSecond::new(mean),
        OpsPerSecond::new(degraded.iops)
    )
}

/// What of it was simulated.
fn simulated(rebuild: &Rebuild) -> String {
    let window = |point: &Point| point.ended_ns.saturating_sub(point.started_ns);
    let each = rebuild.places.first().map_or(0, |place| window(&place.load));
    format!(
        "Simulated at {} places of the pass for {} each, and on straight lines between them.",
        rebuild.places.len(),
        Nanos::new(each)
    )
}
