//! A measured point as the fit reads it.

use record::{Figure, ModelComparison, Op, Point, PointKind, WorkloadResult};
use spec::{Extent, Pace, Span};
use stats::Histogram;

/// One closed load of one kind of request, with what came back.
#[derive(Clone, Debug)]
pub struct Probe {
    /// Its point in the run it is from.
    pub index: u32,
    /// That point's name.
    pub name: String,
    /// Where requests went.
    pub pattern: Pattern,
    /// Bytes of a request.
    pub size: f64,
    /// Requests in flight, all workers together.
    pub depth: f64,
    /// Part of the requests that reads.
    pub reads: f64,
    /// Every offset is a multiple of it.
    pub align: u64,
    /// Bytes of the region, where it is given in bytes.
    pub region: Option<u64>,
    /// The region as a part of the target, where it is given so.
    pub part: Option<f64>,
    /// Requests a second.
    pub rate: f64,
    /// Mean response time.
    pub response_ns: f64,
    /// Half of the 95 % interval of the mean response as a part of it.
    pub error: f64,
    /// Response times of all requests.
    pub responses: Histogram,
    /// Mean response time of those that read.
    pub read_ns: Option<f64>,
    /// Response times of those that read.
    pub reads_took: Option<Histogram>,
    /// Bytes a second, second by second from the start, each with its end in seconds since then.
    pub course: Vec<(f64, f64)>,
    /// Seconds from the start to the end of the measured window.
    pub seconds: f64,
    /// Of these, before the window.
    pub warmup: f64,
}

/// Where requests went, as far as the fit tells it apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pattern {
    /// All over the region.
    Random,
    /// On and on.
    Sequential,
}

impl Probe {
    /// The point, where it is a closed load of one workload with one size that the fit can use.
    pub fn of(point: &Point) -> Option<Probe> {
        let [workload] = point.workloads.as_slice() else { return None };
        if point.kind != PointKind::Load || !point.complete || workload.errors > 0 {
            return None;
        }
        let asked = &workload.spec;
        if asked.pace != Pace::Closed || !asked.direct {
            return None;
        }
        let pattern = match asked.pattern {
            spec::Pattern::Random | spec::Pattern::RandomWithRepeats => Pattern::Random,
            spec::Pattern::Sequential => Pattern::Sequential,
            _ => return None,
        };
        let [(size, _)] = asked.sizes.0[..] else { return None };
        let (region, part) = match asked.span {
            Span::Of(Extent::Bytes(bytes)) => (Some(bytes.get()), None),
            Span::Of(Extent::Part(part)) => (None, Some(part.get())),
            Span::Auto => (None, None),
        };
        let responses = merged(workload, None)?;
        let total = workload.total()?;
        let mean = responses.mean()?;
        let scatter = responses.std_dev()? / (responses.count() as f64).sqrt() / mean;
        let measured_s = workload.measured_ns as f64 / 1e9;
        let warmup = workload.measured_from_ns.saturating_sub(point.started_ns) as f64 / 1e9;
        (measured_s > 0.0).then(|| Probe {
            index: point.index,
            name: point.name.clone(),
            pattern,
            size: size.as_f64(),
            depth: f64::from(asked.workers) * f64::from(asked.depth),
            reads: reads_of(workload),
            align: asked.align.unwrap_or(size).get(),
            region,
            part,
            rate: total.ops_per_s.value,
            response_ns: mean,
            error: 1.96 * scatter,
            responses,
            read_ns: merged(workload, Some(Op::Read)).and_then(|reads| reads.mean()),
            reads_took: merged(workload, Some(Op::Read)),
            course: course(point),
            seconds: warmup + measured_s,
            warmup,
        })
    }

    /// Beside the rate of a model.
    pub fn held(&self, modelled: f64) -> ModelComparison {
        let measured = crate::front::around(self.rate, self.error);
        let over = |rate: f64| rate / modelled;
        let ratio =
            Figure { value: over(self.rate), low: measured.low.map(over), high: measured.high.map(over) };
        ModelComparison { index: self.index, name: self.name.clone(), measured, modelled, ratio }
    }

    /// Bytes a second.
    pub fn bytes_per_s(&self) -> f64 {
        self.rate * self.size
    }

    /// Whether it only reads.
    pub fn is_read(&self) -> bool {
        self.reads >= 1.0
    }

    /// Whether it only writes.
    pub fn is_write(&self) -> bool {
        self.reads <= 0.0
    }

    /// Whether reads and writes go side by side.
    pub fn is_mixed(&self) -> bool {
        !self.is_read() && !self.is_write()
    }

    /// Random over the whole target, every place that the size allows.
    pub fn is_everywhere(&self) -> bool {
        self.pattern == Pattern::Random && self.is_whole() && self.align as f64 <= self.size
    }

    /// Whether no region is named: requests go all over the target, or on from where they begin.
    pub fn is_whole(&self) -> bool {
        self.region.is_none() && self.part.is_none()
    }
}

/// The share of the requests that read, by count.
fn reads_of(workload: &WorkloadResult) -> f64 {
    let ops = |of: Option<Op>| -> u64 {
        let own = workload.classes.iter().filter(|class| of.is_none_or(|of| class.op == of));
        own.map(|class| class.ops).sum()
    };
    debug_assert!(ops(Some(Op::Read)) <= ops(None), "reads are some of all requests");
    ops(Some(Op::Read)) as f64 / ops(None).max(1) as f64
}

/// Response times of one operation, or of all.
fn merged(workload: &WorkloadResult, op: Option<Op>) -> Option<Histogram> {
    let mut all = Histogram::new();
    for class in workload.classes.iter().filter(|class| op.is_none_or(|op| class.op == op)) {
        all.merge(&class.response.to_stats()?);
    }
    (all.count() > 0).then_some(all)
}

/// Reads all over the target, one at a time, of so many bytes and nanoseconds.
#[cfg(test)]
pub(crate) fn read_alone(size: f64, response_ns: f64) -> Probe {
    Probe {
        index: 0,
        name: "cold".into(),
        pattern: Pattern::Random,
        size,
        depth: 1.0,
        reads: 1.0,
        align: units::convert::truncated(size),
        region: None,
        part: None,
        rate: 1e9 / response_ns,
        response_ns,
        error: 0.01,
        responses: Histogram::new(),
        read_ns: Some(response_ns),
        reads_took: None,
        course: Vec::new(),
        seconds: 8.0,
        warmup: 0.0,
    }
}

fn course(point: &Point) -> Vec<(f64, f64)> {
    let series = point.series.iter().find(|series| series.name == "write bytes");
    let Some(series) = series else { return Vec::new() };
    let since = |at: &u64| at.saturating_sub(point.started_ns) as f64 / 1e9;
    series.at_ns.iter().map(since).zip(series.values.iter().copied()).collect()
}
