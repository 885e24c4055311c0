//! A suspicion: one part of a model that may have changed, with the figures that the model then has, held against what was measured.

use stats::gate::chi_square;
use units::Nanos;

use super::figure_pair::{FigurePair, paired};
use super::shifts::Shift;

/// With this probability, at most, a true cause is said not to fit because of all figures together. A part that is none costs whoever replaces it more than `unknown` does.
const MISFIT_TOGETHER: f64 = 0.05;

/// A figure has as many steps of a degree between those that were tried.
const STEPS: u32 = 24;

/// A change of one part of the model, of one degree or several.
#[derive(Clone, Debug, PartialEq)]
pub struct Suspicion {
    /// The part.
    pub part: String,
    /// What happens to it; `{}` stands for how many times as slow it is, `{+100us}` for what is added: nothing at once as slow,
    /// 100 us at twice, 200 us at three times.
    pub change: String,
    /// How many times as slow, rising, and by how much the figures of the model then change.
    pub tried: Vec<(f64, Vec<Shift>)>,
}

/// How well a suspect explains what was measured, at its likeliest degree.
#[derive(Clone, Debug, PartialEq)]
pub struct Traced {
    /// How many times as slow.
    pub times: f64,
    /// The logarithm of its likelihood, the mean over its degrees, up to a constant that all suspects share.
    pub log_likelihood: f64,
    /// The same at its likeliest degree alone.
    pub(super) highest: f64,
    /// How strange all figures together are: of a true cause, some 1 for each cell.
    misfit: f64,
    /// Whether every figure lies where it should, and all together.
    pub fits: bool,
    /// The figure that is explained worst, with its measured change and the model's, as logarithms.
    pub(super) worst: Option<(String, f64, f64)>,
}

/// The logarithm of a figure that has gone the part `part` of the way from one to the other, as times go: a rate is that of
/// requests which take so long.
fn evenly(metric: &str, [from, to]: [f64; 2], part: f64) -> f64 {
    debug_assert!((0.0..=1.0).contains(&part), "{part} lies between no two degrees");
    let sign = if metric == "iops" { -1.0 } else { 1.0 };
    let time = (sign * from).exp() * (1.0 - part) + (sign * to).exp() * part;
    sign * time.ln()
}

fn find<'s>(shifts: &'s [Shift], like: &Shift) -> Option<&'s Shift> {
    shifts.iter().find(|other| other.cell == like.cell && other.metric == like.metric)
}

impl Suspicion {
    /// How well it explains `measured`, in the mean of its degrees and at the likeliest; `None` where no figure is of both.
    ///
    /// Between two degrees that were tried, and between none and the first, the time of a request changes evenly with the
    /// degree: what a part takes of it is as many times as long, whether requests wait for the part or only pass it.
    pub fn trace(&self, measured: &[Shift]) -> Option<Traced> {
        let likelier = |one: Traced, other: Traced| {
            if other.log_likelihood > one.log_likelihood { other } else { one }
        };
        if let [(times, shifts)] = self.tried.as_slice() {
            return traced(
                *times,
                &paired(measured, |like| find(shifts, like).map(|one| (one.log, one.variance))),
            );
        }
        let none = (1.0, Vec::new());
        let knots: Vec<&(f64, Vec<Shift>)> = std::iter::once(&none).chain(&self.tried).collect();
        assert!(knots.is_sorted_by(|one, next| one.0 < next.0), "{}: degrees that do not rise", self.part);
        let stretches = knots.windows(2);
        let each = stretches.flat_map(|two| (1..=STEPS).map(move |step| (two[0], two[1], step)));
        let mut all: Vec<(f64, Traced)> = Vec::new();
        for (from, to, step) in each {
            let is_last = step == STEPS;
            let step = f64::from(step) / f64::from(STEPS);
            // A degree that was tried is told as it was tried: it is to be tried again.
            let times = if is_last { to.0 } else { (from.0.ln() * (1.0 - step) + to.0.ln() * step).exp() };
            let part = (times - from.0) / (to.0 - from.0);
            let between = |like: &Shift| {
                let end = find(&to.1, like)?;
                // Of the array as it is nothing changes.
                let (log, variance) = match from.1.is_empty() {
                    true => (0.0, end.variance),
                    false => find(&from.1, like).map(|one| (one.log, one.variance))?,
                };
                // Seeds are the same at either end, and what they add is too.
                let deviation = variance.sqrt() * (1.0 - part) + end.variance.sqrt() * part;
                Some((evenly(&like.metric, [log, end.log], part), deviation.powi(2)))
            };
            let width = (to.0 / from.0).ln() / f64::from(STEPS);
            all.extend(traced(times, &paired(measured, between)).map(|one| (width, one)));
        }
        let all_widths: f64 = all.iter().map(|(width, _)| width).sum();
        let best = all.iter().map(|(_, one)| one.log_likelihood).reduce(f64::max)?;
        let mean = all.iter().map(|(width, one)| width * (one.log_likelihood - best).exp()).sum::<f64>()
            / all_widths;
        let likeliest = all.into_iter().map(|(_, one)| one).reduce(likelier)?;
        Some(Traced { log_likelihood: best + mean.ln(), ..likeliest })
    }

    /// The change at that degree, in words.
    pub(super) fn told(&self, times: f64) -> String {
        let shown = if times < 10.0 { format!("{times:.1}") } else { format!("{times:.0}") };
        let told = self.change.replace("{}", &shown);
        let Some((before, (unit, after))) =
            told.split_once("{+").and_then(|(before, rest)| Some((before, rest.split_once('}')?)))
        else {
            return told;
        };
        let unit: Nanos = unit.parse().unwrap_or(Nanos::ZERO);
        let added = Nanos::from_secs_f64(unit.as_secs_f64() * (times - 1.0));
        format!("{before}{added}{after}")
    }
}

fn traced(times: f64, pairs: &[FigurePair<'_>]) -> Option<Traced> {
    if pairs.is_empty() {
        return None;
    }
    let strain = |one: &FigurePair<'_>| one.strain(pairs.len());
    let worst = pairs.iter().max_by(|one, other| strain(one).total_cmp(&strain(other)));
    let misfit = pairs.iter().map(FigurePair::strangeness).sum();
    let cells: f64 = pairs.iter().map(|one| one.weight).sum();
    let log_likelihood = pairs.iter().map(FigurePair::log_likelihood).sum();
    Some(Traced {
        misfit,
        times,
        log_likelihood,
        highest: log_likelihood,
        fits: misfit <= chi_square(cells, 1.0 - MISFIT_TOGETHER)
            && pairs.iter().all(|one| strain(one) <= 1.0),
        worst: worst.map(|one| {
            (format!("{} at {}", one.measured.metric, one.measured.cell), one.measured.log, one.log)
        }),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_added_is_told_by_how_much_and_what_is_slower_by_how_many_times() {
        let told = |change: &str, times| {
            Suspicion { part: "link".into(), change: change.into(), tried: Vec::new() }.told(times)
        };
        assert_eq!(told("{} times as slow", 2.0), "2.0 times as slow");
        assert_eq!(
            told("with {+100us} more latency (x was changed)", 16.0),
            "with 1.50 ms more latency (x was changed)"
        );
        assert_eq!(told("off", 1.0), "off");
    }

    #[test]
    fn between_two_degrees_times_change_evenly_and_rates_as_their_inverse() {
        // A tenth of a request is a part's.
        let time = |times: f64| (0.9 + 0.1 * times).ln();
        for times in [3.0, 8.0, 15.0] {
            let part = (times - 2.0) / 14.0;
            assert!((evenly("mean", [time(2.0), time(16.0)], part) - time(times)).abs() < 1e-12);
            assert!((evenly("iops", [-time(2.0), -time(16.0)], part) + time(times)).abs() < 1e-12);
        }
    }
}
