//! Runs a case's configuration through the simulation.

mod course;
mod load;
mod seconds;

use stats::Histogram;
use units::{Bytes, Nanos};

use workload::CompileError;
use workload::tally::{ClassTally, Tally};

use crate::background::BackgroundKind;
use crate::raid::{GeometryError, HealthError};
use crate::sim::{Sim, Watch, WorkError};
use crate::spec::case::{Activity, ActivityKind, Load, Metric, PRECISION_LEAST, Subject};
use crate::spec::{ArraySpec, Errors, Source, array};
use course::{alone, course, order, pace};
use load::{clients, fill, hold};
pub use seconds::Precisions;
use seconds::{LEAST, Seconds, share_within};

/// Why a configuration could not be modelled.
#[derive(Debug, thiserror::Error)]
pub enum MeasureError {
    /// The address names no array that can be.
    #[error(transparent)]
    Spec(#[from] Errors),
    /// The load does not fit the array.
    #[error(transparent)]
    Load(#[from] CompileError),
    /// Too many spares.
    #[error(transparent)]
    Geometry(#[from] GeometryError),
    /// The disk cannot be lost.
    #[error(transparent)]
    Health(#[from] HealthError),
    /// The work cannot be done.
    #[error(transparent)]
    Background(#[from] WorkError),
    /// The load uses more LUNs than there are.
    #[error(
        "the load `{load}` uses {wanted} LUNs, `{array}` has {there_are}; add `luns={wanted}` to the address"
    )]
    Luns {
        /// By its name in the case.
        load: String,
        /// The address.
        array: String,
        /// LUNs the load uses.
        wanted: u32,
        /// LUNs there are.
        there_are: usize,
    },
    /// Nothing was measured.
    #[error("{what}; give the load more time or the phase an end that it reaches")]
    Nothing {
        /// What is missing.
        what: String,
    },
}

/// What `metric` is of `subject`, in operations a second, bytes a second, seconds, parts of one, or pieces.
///
/// Same `seed`, same value. After a warm-up it is taken as soon as it is known to half a percent.
pub fn measure(
    library: &dyn Source,
    subject: &Subject,
    metric: Metric,
    seed: u64,
) -> Result<f64, MeasureError> {
    Question::new(library, subject, metric, PRECISION_LEAST)?.answer(seed)
}

/// What is asked of one configuration, its array read.
pub struct Question<'s> {
    spec: ArraySpec,
    subject: &'s Subject,
    metric: Metric,
    precision: f64,
}

/// What the simulation tells, of which questions with one key take their values as far as it [answers](Question::is_answered_by)
/// them.
#[derive(Clone, Debug, PartialEq)]
pub enum Finding {
    /// The value, and the precisions that a question may want with which it has the same.
    Value(f64, Precisions),
    /// When each percent of background work is reached.
    Course(Vec<Nanos>),
}

impl<'s> Question<'s> {
    /// `metric` of `subject` by the arrays of `library`. Once the 95 % interval of it reaches no further than the part
    /// `precision` of it, a run after a warm-up may end.
    pub fn new(
        library: &dyn Source,
        subject: &'s Subject,
        metric: Metric,
        precision: f64,
    ) -> Result<Question<'s>, MeasureError> {
        Ok(Question { spec: array(library, &subject.array)?, subject, metric, precision })
    }

    /// Questions with the same key have the same finding, but where a run ends by the precision: the array part for part,
    /// whatever it is called, the loads, the work and the metric are the same. Of work without a load any part is read off one
    /// course.
    pub fn key(&self) -> String {
        let Subject { array: _, loads, occasion, within } = self.subject;
        let topology = &self.spec.topology;
        if let (Some(Activity { work, disk, .. }), []) = (self.timed(), &loads[..]) {
            return format!("{topology:?} {work:?} {disk}");
        }
        let loads: Vec<Load> =
            loads.iter().map(|load| Load { name: String::new(), ..load.clone() }).collect();
        format!("{topology:?} {loads:?} {occasion:?} {within:?} {:?}", self.metric)
    }

    /// Whether the finding of a question with the same key is this one's as well: the same run would have ended at the same
    /// instant.
    pub fn is_answered_by(&self, finding: &Finding) -> bool {
        match finding {
            Finding::Value(_, precisions) => precisions.hold(self.precision),
            Finding::Course(_) => true,
        }
    }

    /// The work whose time is requested.
    fn timed(&self) -> Option<Activity> {
        self.subject.occasion.filter(|_| matches!(self.metric, Metric::Time | Metric::WorkRate))
    }

    /// Asks the simulation.
    pub fn find(&self, seed: u64) -> Result<Finding, MeasureError> {
        let Question { spec, subject, metric, precision } = self;
        if let Some(occasion) = self.timed() {
            return course(spec, subject, occasion, *metric, seed).map(Finding::Course);
        }
        if *metric == Metric::Knee {
            let (knee, precisions) = knee(spec, subject, *precision, seed)?;
            return Ok(Finding::Value(knee, precisions));
        }
        let (tallies, precisions) = run(spec, subject, &subject.loads, *metric, *precision, seed)?;
        Ok(Finding::Value(read(*metric, &tallies, subject)?, precisions))
    }

    /// The value by what was found for a question with the same key.
    pub fn value(&self, finding: &Finding) -> Result<f64, MeasureError> {
        match (finding, self.timed()) {
            (Finding::Value(value, _), _) => Ok(*value),
            (Finding::Course(percents), Some(occasion)) => pace(&self.spec, occasion, self.metric, percents),
            (Finding::Course(_), None) => {
                Err(MeasureError::Nothing { what: format!("`{}` is not of work", self.metric.name()) })
            }
        }
    }

    /// As [`measure`] has it, to the question's precision.
    pub fn answer(&self, seed: u64) -> Result<f64, MeasureError> {
        self.value(&self.find(seed)?)
    }
}

/// When each percent of the subject's background work is reached without a load; `None` where it has a load, or no such
/// work.
pub fn progress(
    library: &dyn Source,
    subject: &Subject,
    seed: u64,
) -> Result<Option<Vec<Nanos>>, MeasureError> {
    let Some(Activity { work: ActivityKind::Background(kind), disk, .. }) = subject.occasion else {
        return Ok(None);
    };
    if !subject.loads.is_empty() {
        return Ok(None);
    }
    let spec = array(library, &subject.array)?;
    alone(&mut Sim::new(&spec.topology, seed)?, &spec, kind, disk).map(Some)
}

/// Puts the array into the state that the occasion says. Background work is past its start-up and past `from`.
fn begin(sim: &mut Sim, spec: &ArraySpec, occasion: Activity) -> Result<(), MeasureError> {
    match occasion.work {
        ActivityKind::Degraded => sim.fail_disk(occasion.disk)?,
        ActivityKind::PathLost => sim.fail_link(0),
        ActivityKind::Background(kind) => {
            if kind == BackgroundKind::Rebuild {
                sim.fail_disk(occasion.disk)?;
            }
            let number = sim.start_work(order(spec, kind, occasion.disk))?;
            sim.advance_work(number, occasion.from);
        }
    }
    Ok(())
}

/// Parallel requests beyond which twice as many give less than 5 % more operations a second.
fn knee(
    spec: &ArraySpec,
    subject: &Subject,
    precision: f64,
    seed: u64,
) -> Result<(f64, Precisions), MeasureError> {
    const MOST: u32 = 4096;
    let mut precisions = Precisions::ALL;
    let mut rate = |workers: u32| {
        let loads: Vec<Load> = subject.loads.iter().map(|load| Load { workers, ..load.clone() }).collect();
        let (tallies, same) = run(spec, subject, &loads, Metric::Iops, precision, seed)?;
        precisions = precisions.and(same);
        read(Metric::Iops, &tallies, subject)
    };
    let (mut workers, mut before) = (1, rate(1)?);
    while workers < MOST {
        let after = rate(workers * 2)?;
        if after < before * 1.05 {
            return Ok((f64::from(workers), precisions));
        }
        (workers, before) = (workers * 2, after);
    }
    Err(MeasureError::Nothing { what: format!("operations still grow at {MOST} parallel requests") })
}

/// Whether a run of `loads` may end once its figure is precise enough: all have a warm-up, and one runs for longer than [`LEAST`].
fn may_end_early(loads: &[Load]) -> bool {
    loads.iter().all(|load| !load.warmup.is_zero()) && loads.iter().any(|load| load.run > LEAST)
}

/// Lets the loads run, each as long as it says. After a warm-up they end as soon as the metric is known to the precision; with it
/// the precisions to which they would have ended at the same instant.
fn run(
    spec: &ArraySpec,
    subject: &Subject,
    loads: &[Load],
    metric: Metric,
    precision: f64,
    seed: u64,
) -> Result<(Vec<Tally>, Precisions), MeasureError> {
    let mut sim = Sim::new(&spec.topology, seed)?;
    if let Some(occasion) = subject.occasion {
        begin(&mut sim, spec, occasion)?;
    }
    for load in loads {
        hold(&mut sim, load, spec.topology.hosts);
        if load.fills {
            fill(&mut sim, load, seed);
        }
    }
    let clients = clients(&sim, spec, subject, loads, seed)?;
    let jobs = clients.len();
    let mut seconds = may_end_early(loads).then(|| Seconds::of(metric, subject, precision, jobs));
    let outcome = sim.run_watched(clients, |_, job| {
        let intervals = job.take_intervals();
        let are_known = seconds.as_mut().is_some_and(|seconds| seconds.are_known(&intervals));
        if are_known { Watch::Stop } else { Watch::GoOn }
    });
    Ok((outcome.tallies, seconds.map_or(Precisions::ALL, |seconds| seconds.precisions())))
}

/// All jobs together.
fn read(metric: Metric, tallies: &[Tally], subject: &Subject) -> Result<f64, MeasureError> {
    let (within, counts) = (subject.within, |class: &&ClassTally| subject.counts(class.class));
    let per_second = |count: &dyn Fn(&Tally) -> f64| {
        tallies.iter().map(|tally| count(tally) / tally.measured().as_secs_f64().max(1e-9)).sum::<f64>()
    };
    let mut response = Histogram::new();
    for class in tallies.iter().flat_map(|tally| &tally.classes).filter(counts) {
        response.merge(&class.response);
    }
    let nothing = || MeasureError::Nothing { what: "no request ended in the measured time".into() };
    let quantile = |q| response.quantile(q).map(Nanos::as_secs_f64).ok_or_else(nothing);
    match metric {
        Metric::Iops => Ok(per_second(&|tally| {
            tally.classes.iter().filter(counts).map(|class| class.ops).sum::<u64>() as f64
        })),
        Metric::Throughput => Ok(per_second(&|tally| {
            tally.classes.iter().filter(counts).map(|class| class.bytes).sum::<Bytes>().as_f64()
        })),
        Metric::LatencyMean => response.mean().map(|ns| ns * 1e-9).ok_or_else(nothing),
        Metric::LatencyP50 => quantile(0.5),
        Metric::LatencyP99 => quantile(0.99),
        Metric::ShareWithin => share_within(&response, within).ok_or_else(nothing),
        Metric::Time | Metric::WorkRate | Metric::Knee => {
            Err(MeasureError::Nothing { what: format!("`{}` is not measured of a load", metric.name()) })
        }
    }
}

#[cfg(test)]
mod tests;
