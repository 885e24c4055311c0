//! Where the mean response time of a depth went, part by part.

use array::latency::Stage;
use record::Point;
use serde::Serialize;

/// The mean time of a request at one part.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PartTime {
    /// The part, by its name in records: `disk seek`, `link`.
    pub part: String,
    /// Before the part worked for the request.
    pub waiting_us: f64,
    /// While it did.
    pub service_us: f64,
}

/// The parts of all requests of `point` in the order in which a request meets them, without those where none spent time;
/// their sum is the mean response time.
pub fn breakdown(point: &Point) -> Vec<PartTime> {
    let shares = point.breakdown.iter().flat_map(|breakdown| &breakdown.shares);
    let classes: Vec<_> = shares.map(|share| &share.all).collect();
    let requests: f64 = classes.iter().map(|class| class.requests as f64).sum();
    let mean_us = |stage: &str, of: fn(&record::PartShare) -> f64| {
        let of_class = |class: &&record::Shares| {
            let own = class.parts.iter().filter(|part| part.part == stage).map(of).sum::<f64>();
            own * class.requests as f64
        };
        classes.iter().map(of_class).sum::<f64>() / requests.max(1.0) / 1e3
    };
    let part = |stage: Stage| {
        let waiting_us = mean_us(stage.name(), |part| part.wait_ns);
        let service_us = mean_us(stage.name(), |part| part.service_ns);
        (waiting_us + service_us > 0.0).then(|| PartTime {
            part: stage.name().into(),
            waiting_us,
            service_us,
        })
    };
    Stage::ALL.into_iter().filter_map(part).collect()
}
