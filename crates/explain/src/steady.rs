//! Whether figures were those of steady state: over the window of a point, and over the rounds of a phase.
//!
//! SNIA's rule accepts a slow drift for ever, so a test for trends is run too, and a finding says where the two
//! disagree.

use record::{Point, Rounds, Run, Severity, Silence, WorkloadResult, phase_title};
use stats::batch_mean;
use stats::steady::{RANGE_MAX, SLOPE_MAX, Steady, WINDOW};
use stats::trend::Trend;

use crate::Code;
use crate::draft::{Draft, percent};
use crate::evidence::outer_thirds;

/// A larger change from the first to the last third of the window is reported.
const DRIFT: f64 = 0.10;

pub(crate) fn drift(_: &Run, point: &Point, workload: &WorkloadResult) -> Option<Draft> {
    let rates = rates(point, workload);
    let (first, last) = outer_thirds(&rates)?;
    let (first, last) = (batch_mean(first)?, batch_mean(last)?);
    let change = (last.mean - first.mean) / first.mean;
    // Intervals that overlap may be chance.
    let (first_range, last_range) = (first.interval?, last.interval?);
    let apart = first_range.high < last_range.low || last_range.high < first_range.low;
    if !change.is_finite() || change.abs() <= DRIFT || !apart {
        return None;
    }
    let sentence = format!(
        "The rate {} by {}: {:.0}/s in the first third of the window, {:.0}/s in the last.",
        if change > 0.0 { "rose" } else { "fell" },
        percent(change.abs()),
        first.mean,
        last.mean
    );
    let draft = Draft::new(Code::Drift, Severity::Warning, sentence).remedy(
        "Warm up longer (`warmup`), bring the device into steady state (a `prepare` phase), and measure longer.",
    );
    Some(draft.number("first_per_s", first.mean).number("last_per_s", last.mean))
}

/// Requests in each whole second of the window, all operations together.
pub(crate) fn rates(point: &Point, workload: &WorkloadResult) -> Vec<f64> {
    workload.whole_seconds(&point.series, record::names::series::OPS)
}

/// With no completions for this part of the window the figure is invalid.
const SILENT_MOST: f64 = 0.5;

/// Requests were in flight, and for a second or more none completed.
pub(crate) fn silence(_: &Run, _: &Point, workload: &WorkloadResult) -> Option<Draft> {
    let ops: u64 = workload.classes.iter().map(|class| class.ops).sum();
    // Records of earlier programs hold shorter ones.
    let least_ns = Silence::TIMES as f64 * workload.measured_ns as f64 / ops as f64;
    let silent: Vec<_> =
        workload.stalls.iter().filter(|silence| silence.length_ns as f64 >= least_ns).collect();
    let longest = silent.iter().max_by_key(|silence| silence.length_ns)?;
    let sum_ns: u64 = silent.iter().map(|silence| silence.length_ns).sum();
    let share = sum_ns as f64 / workload.measured_ns as f64;
    let from_ns = longest.from_ns.saturating_sub(workload.measured_from_ns);
    let [longest_s, from_s, sum_s] = [longest.length_ns, from_ns, sum_ns].map(|time| time as f64 / 1e9);
    let others = match silent.len() {
        1 => String::new(),
        count => format!("; {count} such stalls, {sum_s:.1} s in all"),
    };
    let sentence = format!(
        "No completion for {longest_s:.1} s from {from_s:.1} s on, with requests in flight{others}: {} of the window.",
        percent(share)
    );
    let severity = if share < SILENT_MOST { Severity::Warning } else { Severity::Invalid };
    let draft = Draft::new(Code::Stall, severity, sentence).remedy(
        "Find the cause: check the kernel's log, lost paths and members, garbage collection, and write throttling. \
         The rate includes the stall as time without completions.",
    );
    let draft = draft.number("longest_s", longest_s).number("from_s", from_s);
    Some(draft.number("stalls", silent.len() as f64).number("silent_share", share))
}

/// A window is cut into so many parts. Neighbouring seconds resemble each other; parts of some seconds do so less, and
/// up to ten values are tested exactly.
const PARTS: usize = 10;

/// The significance level of the trend test.
const CHANCE: f64 = 0.01;

/// A smaller change over the window is covered by the interval of the rate.
const SLOW: f64 = 0.02;

/// Means of so many equal parts of `values`, from the last backwards; `None` with fewer values than parts.
fn parts<const N: usize>(values: &[f64]) -> Option<[f64; N]> {
    let length = values.len() / N;
    if length == 0 {
        return None;
    }
    let whole = &values[values.len() - N * length..];
    Some(std::array::from_fn(|part| whole[part * length..][..length].iter().sum::<f64>() / length as f64))
}

/// Whether a trend could have been seen in the rates of `workload`.
pub(crate) fn is_long_enough(point: &Point, workload: &WorkloadResult) -> bool {
    rates(point, workload).len() >= PARTS
}

/// A slow rise or fall that is not yet a [`drift`].
pub(crate) fn trend(run: &Run, point: &Point, workload: &WorkloadResult) -> Option<Draft> {
    let rates = rates(point, workload);
    let values = parts::<PARTS>(&rates)?;
    let trend = Trend::of(&values)?;
    let change = trend.slope * (PARTS - 1) as f64 / trend.median;
    let clear = trend.p_value < CHANCE && change.abs() > SLOW;
    if !clear || !change.is_finite() || drift(run, point, workload).is_some() {
        return None;
    }
    let snia =
        parts::<WINDOW>(&rates).and_then(|fifths| Steady::of(&fifths)).is_some_and(|fifths| fifths.reached());
    let sentence = format!(
        "The rate {} by {} over the window, a statistically significant trend (p < {CHANCE}).{}",
        if change > 0.0 { "rose" } else { "fell" },
        percent(change.abs()),
        if snia { " SNIA's rule calls it steady: it allows slow drift." } else { "" }
    );
    let draft = Draft::new(Code::Trend, Severity::Warning, sentence).remedy(
        "Warm up longer (`warmup`), and measure until the rate no longer changes: the device has not reached steady \
         state.",
    );
    Some(draft.number("change_share", change).number("p_value", trend.p_value))
}

/// SNIA's rule over five equal parts of the window, where no other finding reports them.
pub(crate) fn window_not_steady(run: &Run, point: &Point, workload: &WorkloadResult) -> Option<Draft> {
    let rates = rates(point, workload);
    if rates.len() < PARTS || drift(run, point, workload).is_some() {
        return None;
    }
    let fifths = Steady::of(&parts::<WINDOW>(&rates)?)?;
    if fifths.mean <= 0.0 || fifths.reached() {
        return None;
    }
    let (range, line) = (fifths.range / fifths.mean, fifths.excursion / fifths.mean);
    let sentence = format!(
        "Not in steady state: over five equal parts of the window the rate {}.",
        against_rule(range, line)
    );
    let draft = Draft::new(Code::NotSteady, Severity::Warning, sentence)
        .remedy("Measure longer, and find what makes the rate vary: a cache that is flushed, external I/O.");
    Some(draft.number("range_share", range).number("line_share", line))
}

/// `ranges by 34 % of its mean (SNIA: at most 20 %) and its linear fit changes by 21 % (at most 10 %)`.
fn against_rule(range: f64, line: f64) -> String {
    format!(
        "ranges by {} of its mean (SNIA: at most {}) and its linear fit changes by {} (at most {})",
        percent(range),
        percent(RANGE_MAX),
        percent(line),
        percent(SLOPE_MAX)
    )
}

/// Rounds that are steady by SNIA's rule, and still rise or fall.
pub(crate) fn rounds_drift(run: &Run) -> Option<Draft> {
    let last = |rounds: &Rounds| -> Option<(Trend, f64)> {
        let window = rounds.values.last_chunk::<WINDOW>()?;
        let trend = Trend::of(window)?;
        let change = trend.slope * (WINDOW - 1) as f64 / trend.median;
        (rounds.steady && trend.is_there() && change.abs() > SLOW).then_some((trend, change))
    };
    let (rounds, (trend, change)) = run.rounds.iter().find_map(|rounds| Some((rounds, last(rounds)?)))?;
    let sentence = format!(
        "{} meets SNIA's steady-state rule, but each of the last five rounds of \"{}\" is {} than the one before: by \
         {} in all.",
        rounds.tracked(),
        phase_title(&rounds.phase, |_| None),
        if change > 0.0 { "higher" } else { "lower" },
        percent(change.abs())
    );
    let draft = Draft::new(Code::Trend, Severity::Warning, sentence).remedy(
        "Run more rounds (`rounds`), or fill the device first (`prepare`): it has not reached steady state.",
    );
    Some(draft.number("change_share", change).number("p_value", trend.p_value))
}

/// The first phase whose figure was not steady in all the rounds that the plan gave it.
pub(crate) fn rounds_not_steady(run: &Run) -> Option<Draft> {
    let full = |rounds: &&record::Rounds| !rounds.steady && rounds.values.len() >= rounds.most as usize;
    let rounds = run.rounds.iter().find(full)?;
    let window = rounds.window?;
    let (range, line) = (window.range / window.mean, window.excursion / window.mean);
    let sentence = format!(
        "{} was not in steady state after {} rounds of \"{}\": over the last five it {}.",
        rounds.tracked(),
        rounds.values.len(),
        phase_title(&rounds.phase, |_| None),
        against_rule(range, line)
    );
    let draft = Draft::new(Code::NotSteady, Severity::Warning, sentence)
        .remedy("Run more rounds (`rounds`), or fill the device first (`prepare`).");
    Some(
        draft
            .number("range_share", range)
            .number("line_share", line)
            .number("rounds", rounds.values.len() as f64),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_equal_and_those_left_over_are_the_first() {
        let values: Vec<f64> = (0..11).map(f64::from).collect();
        assert_eq!(parts::<5>(&values), Some([1.5, 3.5, 5.5, 7.5, 9.5]));
        assert_eq!(parts::<11>(&values).map(|all| all.to_vec()), Some(values.clone()));
        assert_eq!(parts::<12>(&values), None);
    }
}
