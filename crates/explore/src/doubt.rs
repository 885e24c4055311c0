//! How sure figures of designs are: whether they last, from how much they are, and by how much they differ with the seed alone.

use crate::evaluate::{Depth, Outcome};
use crate::requirement::{Figure, LoadFigure};
use crate::search::Search;
use crate::value::Lean;

/// A rate whose interval reaches further than this part of it to either side is not steady.
const UNSTEADY: f64 = 0.25;

impl Search<'_> {
    /// Whether a figure of the design at that place comes from a long simulation whose writes met free room of a write
    /// cache, or whose rate is not steady. Of rates that is the one that was best; of times any.
    pub fn is_unsustained(&self, at: usize, figure: &Figure) -> bool {
        let Figure::Load { of, .. } = figure else { return false };
        let best = self.value(at, figure, Lean::Plain);
        let tasks = self.evaluator.tasks(&self.candidates[at], figure);
        tasks.iter().filter_map(|task| self.evaluator.outcome(Depth::Fine, task)).any(|outcome| match outcome
        {
            Outcome::Figures { is_filling, half_width, iops, bytes_per_s, .. }
                if *is_filling || half_width.is_some_and(|width| width > UNSTEADY) =>
            {
                match of {
                    LoadFigure::Iops(_) => *iops >= best,
                    LoadFigure::Throughput(_) => *bytes_per_s >= best,
                    LoadFigure::Latency(_) => true,
                }
            }
            _ => false,
        })
    }

    /// Half the 95 % interval of a rate of the design at that place as a part of it; `None` of what is no rate of requests, and where it
    /// was too short a time for one.
    pub fn half_width(&self, at: usize, figure: &Figure) -> Option<f64> {
        let Figure::Load { of: LoadFigure::Iops(_) | LoadFigure::Throughput(_), .. } = figure else {
            return None;
        };
        let best = self.value(at, figure, Lean::Plain);
        let tasks = self.evaluator.tasks(&self.candidates[at], figure);
        tasks.iter().find_map(|task| match (self.evaluator.outcome(Depth::Fine, task)?, figure) {
            (Outcome::Figures { half_width, iops, .. }, Figure::Load { of: LoadFigure::Iops(_), .. }) => {
                half_width.filter(|_| *iops == best)
            }
            (Outcome::Figures { half_width, bytes_per_s, .. }, _) => {
                half_width.filter(|_| *bytes_per_s == best)
            }
            (Outcome::Refused(_), _) => None,
        })
    }

    /// The fewest requests that a time of the design at that place is from, of the figures that the front compares; `None` where
    /// none of them is a time of requests, and where it is not known.
    pub fn requests(&self, at: usize) -> Option<u64> {
        let of_times = |figure: &&Figure| matches!(figure, Figure::Load { of: LoadFigure::Latency(_), .. });
        let tasks = self.objectives.iter().filter(of_times);
        let tasks = tasks.flat_map(|figure| self.evaluator.tasks(&self.candidates[at], figure));
        let requests = tasks.filter_map(|task| match self.evaluator.outcome(Depth::Fine, &task)? {
            Outcome::Figures { requests, .. } => Some(*requests).filter(|requests| *requests > 0),
            Outcome::Refused(_) => None,
        });
        requests.min()
    }

    /// By what factor the figure of a requirement differs with the seed alone.
    pub fn spread_of(&self, requirement: usize) -> f64 {
        self.spread.of(&self.design.requirements[requirement].figure)
    }

    /// By how much costs differ with the seed alone.
    pub fn chance(&self) -> Vec<f64> {
        let step = self.design.resolution.ln_1p();
        let of = |figure: &Figure| {
            let factor = self.spread.of(figure).ln();
            if step > 0.0 { (factor / step).floor() } else { factor }
        };
        self.objectives.iter().map(of).collect()
    }
}
