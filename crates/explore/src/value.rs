//! Figures of designs as far as they are known: the value, and the best and the worst that it can still be.

use modelled::lab::LabWorkload;
use units::Share;
use workload::plan::Slo;

use crate::design::Design;
use crate::evaluate::{Depth, Evaluator, Outcome, time_name};
use crate::exact::Candidate;
use crate::requirement::{Figure, LoadFigure};

/// Which value of a figure that is not known for sure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lean {
    /// The best that it can be.
    Best,
    /// As found; the best that it can be where nothing was simulated.
    Plain,
    /// The worst that it can be.
    Worst,
}

/// By what factor long simulations may differ from short ones, above 1.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct Margins {
    /// Rates.
    pub rate: f64,
    /// Times of requests.
    pub time: f64,
    /// Hours of rebuilds.
    pub hours: f64,
}

/// Below this no margin is taken: a sample of few designs may agree by chance.
const LEAST: f64 = 1.03;

/// How much further than the furthest that was seen a margin reaches, as a power.
const BEYOND: f64 = 1.5;

impl Default for Margins {
    fn default() -> Self {
        Margins { rate: LEAST, time: LEAST, hours: LEAST }
    }
}

impl Margins {
    /// Nothing differs.
    pub const NONE: Margins = Margins { rate: 1.0, time: 1.0, hours: 1.0 };

    /// The one of `figure`.
    pub fn of(&self, figure: &Figure) -> f64 {
        match figure {
            Figure::Load { of: LoadFigure::Latency(_), .. } => self.time,
            Figure::Load { .. } => self.rate,
            Figure::Rebuild(_) | Figure::Loss => self.hours,
            Figure::Price | Figure::Watts | Figure::Usable => 1.0,
        }
    }

    /// Widened as far as two simulations of the same differ.
    pub fn reach(&mut self, one: &Outcome, other: &Outcome) {
        self.differing(one, other, |margin, ratio| *margin = ratio);
    }

    /// Widened so that they hold for a simulation that was carried out short and long.
    pub fn widen(&mut self, short: &Outcome, long: &Outcome) {
        self.differing(short, long, |margin, ratio| *margin = ratio.powf(BEYOND));
        assert!(
            [self.rate, self.time, self.hours].iter().all(|margin| (LEAST..f64::INFINITY).contains(margin)),
            "a margin only widens, and stays one: {self:?}"
        );
    }

    /// `beyond` is told of each margin that figures differ by more than.
    fn differing(&mut self, short: &Outcome, long: &Outcome, beyond: impl Fn(&mut f64, f64)) {
        let (
            Outcome::Figures { iops, rebuild_h, times_ns, .. },
            Outcome::Figures { iops: long_iops, rebuild_h: long_h, times_ns: long_times, .. },
        ) = (short, long)
        else {
            return;
        };
        let widen = |margin: &mut f64, one: f64, other: f64| {
            let ratio = (one / other).max(other / one);
            if ratio.is_finite() && ratio > *margin {
                beyond(margin, ratio);
            }
        };
        widen(&mut self.rate, *iops, *long_iops);
        for (name, time) in times_ns {
            if let Some(long) = long_times.get(name) {
                widen(&mut self.time, *time, *long);
            }
        }
        if let (Some(one), Some(other)) = (rebuild_h, long_h) {
            widen(&mut self.hours, *one, *other);
        }
    }
}

/// What is known of one simulation.
#[derive(Clone, Copy)]
enum Known<'o> {
    Sure(&'o Outcome),
    Roughly(&'o Outcome),
}

/// The figure of a design, in base units.
pub fn value(
    design: &Design,
    evaluator: &Evaluator<'_>,
    candidate: &Candidate,
    figure: &Figure,
    margins: &Margins,
    lean: Lean,
) -> f64 {
    let exact = match figure {
        Figure::Price => Some(candidate.price),
        Figure::Watts => Some(candidate.watts),
        Figure::Usable => Some(candidate.usable),
        Figure::Rebuild(_) | Figure::Loss | Figure::Load { .. } => None,
    };
    if let Some(exact) = exact {
        return exact;
    }
    let tasks = evaluator.tasks(candidate, figure);
    let known = tasks.iter().map(|task| {
        let sure = evaluator.outcome(Depth::Fine, task).map(Known::Sure);
        sure.or_else(|| evaluator.outcome(Depth::Coarse, task).map(Known::Roughly))
    });
    let Some(known) = known.collect::<Option<Vec<_>>>() else {
        return unknown(design, candidate, figure, lean);
    };
    match figure {
        Figure::Rebuild(_) => hours(&known, margins, lean),
        Figure::Loss => candidate.loss(hours(&known, margins, lean), &design.reliability),
        Figure::Load { of, .. } => load(&known, of, margins, lean),
        Figure::Price | Figure::Watts | Figure::Usable => 0.0,
    }
}

/// A factor that makes a quantity of which less is better smaller, or larger.
fn lowered(margin: f64, lean: Lean) -> f64 {
    assert!(margin >= 1.0, "with a margin of {margin} the best would be worse than the worst");
    match lean {
        Lean::Best => 1.0 / margin,
        Lean::Plain => 1.0,
        Lean::Worst => margin,
    }
}

/// The longest of them.
fn hours(known: &[Known<'_>], margins: &Margins, lean: Lean) -> f64 {
    let of = |known: &Known<'_>| match known {
        Known::Sure(Outcome::Figures { rebuild_h, .. }) => rebuild_h.unwrap_or(f64::INFINITY),
        Known::Roughly(Outcome::Figures { rebuild_h, .. }) => {
            rebuild_h.unwrap_or(f64::INFINITY) * lowered(margins.hours, lean)
        }
        Known::Sure(Outcome::Refused(_)) | Known::Roughly(Outcome::Refused(_)) => f64::INFINITY,
    };
    known.iter().map(of).fold(0.0, f64::max)
}

fn load(known: &[Known<'_>], of: &LoadFigure, margins: &Margins, lean: Lean) -> f64 {
    let time = |known: &Known<'_>, slo: &Slo| {
        let (outcome, factor) = match known {
            Known::Sure(outcome) => (outcome, 1.0),
            Known::Roughly(outcome) => (outcome, lowered(margins.time, lean)),
        };
        match outcome {
            Outcome::Figures { times_ns, .. } => {
                times_ns.get(&time_name(slo)).copied().unwrap_or(f64::INFINITY) * factor
            }
            Outcome::Refused(_) => f64::INFINITY,
        }
    };
    let rate = |known: &Known<'_>, is_bytes: bool| {
        let (outcome, factor) = match known {
            Known::Sure(outcome) => (outcome, 1.0),
            Known::Roughly(outcome) => (outcome, 1.0 / lowered(margins.rate, lean)),
        };
        match outcome {
            Outcome::Figures { iops, bytes_per_s, .. } => {
                factor * if is_bytes { *bytes_per_s } else { *iops }
            }
            Outcome::Refused(_) => 0.0,
        }
    };
    let best = |slo: &Option<Slo>, is_bytes: bool| {
        let keeps = |known: &&Known<'_>| {
            slo.as_ref().is_none_or(|slo| {
                time(known, slo) < slo.below().map_or(f64::INFINITY, |below| below.get() as f64)
            })
        };
        known.iter().filter(keeps).map(|known| rate(known, is_bytes)).fold(0.0, f64::max)
    };
    match of {
        LoadFigure::Iops(slo) => best(slo, false),
        LoadFigure::Throughput(slo) => best(slo, true),
        LoadFigure::Latency(slo) => known.iter().map(|known| time(known, slo)).fold(0.0, f64::max),
    }
}

/// What can be said before anything is simulated.
fn unknown(design: &Design, candidate: &Candidate, figure: &Figure, lean: Lean) -> f64 {
    let best = lean != Lean::Worst;
    match figure {
        Figure::Loss if best => candidate.loss(0.0, &design.reliability),
        Figure::Loss => 1.0,
        Figure::Load { workload, of: LoadFigure::Iops(_), .. } if best => {
            let load = &design.workloads[*workload].load;
            carried(candidate, load) / load.size.as_f64()
        }
        Figure::Load { workload, of: LoadFigure::Throughput(_), .. } if best => {
            carried(candidate, &design.workloads[*workload].load)
        }
        Figure::Load { of: LoadFigure::Latency(_), .. } | Figure::Rebuild(_) => {
            if best {
                0.0
            } else {
                f64::INFINITY
            }
        }
        Figure::Load { .. } | Figure::Price | Figure::Watts | Figure::Usable => 0.0,
    }
}

/// Bytes a second that the links carry at most: both ways at once where a load reads and writes.
fn carried(candidate: &Candidate, load: &LabWorkload) -> f64 {
    let is_mixed = load.reads > Share::NONE && load.reads < Share::ALL;
    candidate.link_limit * if is_mixed { 2.0 } else { 1.0 }
}
