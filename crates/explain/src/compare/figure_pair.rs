//! A figure that was measured beside the same figure of a model: how far they are apart, and how likely that is.

use std::collections::BTreeSet;

use stats::gate::{log_likelihood, quantile, strangeness};

use super::host_time::{BY_ITSELF, HOST_TIME};
use super::shifts::Shift;
use crate::model::BELIEVED;

/// With this probability, at most, a true cause is said not to fit because of the noise of its worst figure.
pub(super) const MISFIT: f64 = 0.01;

/// Two quantiles may differ by this because they lie on either side of the edge of a histogram's bucket.
const BUCKET: f64 = 1.0 / 64.0;

/// Rates and means of a model differ by this without a cause.
const LEAST: f64 = 0.005;

/// One figure measured, the same figure on the model, and how much it counts.
pub(super) struct FigurePair<'s> {
    /// What was measured.
    pub(super) measured: &'s Shift,
    /// The logarithm of the model's change.
    pub(super) log: f64,
    /// What its seeds add.
    pub(super) variance: f64,
    /// How much it counts: the figures of a cell for one together.
    pub(super) weight: f64,
}

impl FigurePair<'_> {
    pub(super) fn off(&self) -> f64 {
        self.measured.log - self.log
    }

    /// By how much a model may be wrong about it.
    fn error(&self) -> f64 {
        BELIEVED * self.log.abs().max(self.measured.log.abs()) + self.least()
    }

    /// By how much it may differ without a cause.
    pub(super) fn least(&self) -> f64 {
        match self.measured.metric.as_str() {
            HOST_TIME => BY_ITSELF.ln(),
            metric if metric.starts_with('p') => BUCKET,
            _ => LEAST,
        }
    }

    /// The deviation of what the noise of both adds.
    pub(super) fn noise(&self) -> f64 {
        (self.measured.variance + self.variance).sqrt()
    }

    /// The error of a model is taken for two deviations.
    fn deviation(&self) -> f64 {
        self.noise().hypot(self.error() / 2.0)
    }

    pub(super) fn log_likelihood(&self) -> f64 {
        self.weight * log_likelihood(self.off(), self.deviation(), self.measured.freedom)
    }

    pub(super) fn strangeness(&self) -> f64 {
        self.weight * strangeness(self.off(), self.deviation(), self.measured.freedom)
    }

    /// How far it is off, as a part of what it may be off by where `count` figures are looked at.
    pub(super) fn strain(&self, count: usize) -> f64 {
        let reach = quantile(self.measured.freedom, 1.0 - MISFIT / (2.0 * count as f64));
        self.off().abs() / (self.error() + reach * self.noise())
    }
}

/// The measured figures beside the model's, where both have them. Figures of one cell count together as one: they are of
/// the same requests. So do those of the host's time: what makes one of them longer makes all of them so.
pub(super) fn paired<'s>(
    measured: &'s [Shift],
    modelled: impl Fn(&Shift) -> Option<(f64, f64)>,
) -> Vec<FigurePair<'s>> {
    let mut all: Vec<FigurePair<'s>> = Vec::new();
    for shift in measured {
        if let Some((log, variance)) = modelled(shift) {
            all.push(FigurePair { measured: shift, log, variance, weight: 1.0 });
        }
    }
    let cells: Vec<&str> = all.iter().map(|one| one.measured.counts_with()).collect();
    let weights: Vec<f64> =
        cells.iter().map(|cell| 1.0 / cells.iter().filter(|other| *other == cell).count() as f64).collect();
    debug_assert!(
        (weights.iter().sum::<f64>() - cells.iter().collect::<BTreeSet<_>>().len() as f64).abs() < 1e-6,
        "the figures of a cell count for one together"
    );
    all.iter_mut().zip(weights).for_each(|(one, weight)| one.weight = weight);
    all
}
