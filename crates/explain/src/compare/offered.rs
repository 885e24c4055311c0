//! Rates that the plan sets: they are no figures of the storage, as far as they are reached.

use record::{Comparison, Metric};

use super::cells::Cell;
use crate::draft::percent;
use crate::limits::offered::SetRate;

/// The rate that the plan sets for the first measurement of `cell`.
fn of(cell: &Cell<'_>) -> Option<SetRate> {
    SetRate::of(cell.measured().first()?.workload, 1.0)
}

/// Whether `metric` is a rate that the plan set on one of two sides, and not the same on the other: then it differs because the
/// plans do.
pub(super) fn is_of_plan(first: &Cell<'_>, second: &Cell<'_>, metric: Metric) -> bool {
    let [one, other] = [first, second].map(of);
    let told = |set: &Option<SetRate>| set.as_ref().map(|set| set.told.clone());
    let is_rate = matches!(metric, Metric::Iops | Metric::Throughput);
    is_rate && told(&one) != told(&other) && [one, other].into_iter().flatten().any(|set| set.is_reached)
}

/// Sides and cells with a rate that the plan sets and that was not reached.
pub(super) fn missed(comparison: &Comparison, cells: &[Vec<Cell<'_>>]) -> Option<String> {
    /// Named at most.
    const TOLD: usize = 3;
    let sides = comparison.sides.iter().zip(cells);
    let all = sides.flat_map(|(side, of_side)| {
        let shown = of_side.iter().filter(|cell| cell.total);
        shown.filter_map(move |cell| {
            let set = of(cell).filter(|set| !set.is_reached)?;
            Some(format!("{} at {} ({} of {})", side.name, cell.title(), percent(set.share), set.told))
        })
    });
    let mut missed: Vec<String> = all.collect();
    let more = missed.len().saturating_sub(TOLD);
    missed.truncate(TOLD);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    (!missed.is_empty()).then(|| format!("The offered rate was not reached: {}{more}.", missed.join(", ")))
}

#[cfg(test)]
mod tests {
    use record::sample::{self, Stream};
    use record::{Run, Verdict};
    use spec::Pace;
    use units::OpsPerSecond;

    use super::super::{Group, MARGIN, compare};

    fn run(id: &str, per_s: u64, pace: Pace) -> Run {
        let stream = Stream { op: "read", size_bytes: 4096, per_s, median_ns: 400_000, spread: 0.5 };
        let mut workload = sample::workload("main", &[stream]);
        workload.spec.pace = pace;
        Run { id: id.into(), ..sample::run("p", vec![sample::point(0, "p", vec![workload])]) }
    }

    /// The verdicts on the two rates, and the notes.
    fn of(first: &Run, second: &Run) -> (Vec<Verdict>, String) {
        let groups =
            [("A", first), ("B", second)].map(|(name, run)| Group { name: name.into(), runs: vec![run] });
        let found = compare(None, &groups, MARGIN);
        let is_rate = |metric: &str| ["iops", "mb_per_s"].contains(&metric);
        let rates = found.rows.iter().filter(|row| row.total && is_rate(&row.metric)).map(|row| row.verdict);
        let is_offered = |row: &&record::Compared| row.verdict == Verdict::Offered;
        assert!(
            found.rows.iter().filter(is_offered).all(|row| is_rate(&row.metric) && row.p_value.is_none())
        );
        (rates.collect(), found.notes.join(" "))
    }

    #[test]
    fn a_rate_that_the_plan_set_and_that_was_reached_is_not_compared_with_what_storage_did() {
        let closed = run("a", 5_000, Pace::Closed);
        let rate = OpsPerSecond::new;
        for pace in [Pace::even(rate(2_000.0)), Pace::Cap(rate(2_000.0))] {
            let (verdicts, notes) = of(&closed, &run("b", 2_000, pace));
            assert_eq!(verdicts, [Verdict::Offered; 2], "{pace}");
            assert!(!notes.contains("not reached"), "{notes}");
        }
        // Of a rate that was not reached, and of the same on both sides, it is the storage that differs.
        let (verdicts, notes) = of(&closed, &run("b", 2_000, Pace::even(rate(4_000.0))));
        assert_eq!(verdicts, [Verdict::Worse; 2]);
        assert!(notes.contains("The offered rate was not reached: B at p (50 % of 4,000/s)."), "{notes}");
        let same = |id: &str, per_s| run(id, per_s, Pace::even(rate(4_000.0)));
        assert_eq!(of(&same("a", 4_000), &same("b", 2_000)).0, [Verdict::Worse; 2]);
        assert!(!of(&same("a", 4_000), &same("b", 4_000)).0.contains(&Verdict::Offered));
    }

    #[test]
    fn a_run_that_is_compared_with_itself_is_said_to_be_the_same() {
        let one = run("a", 5_000, Pace::Closed);
        assert!(of(&one, &one).1.contains("Run a is on both sides, A and B"), "{}", of(&one, &one).1);
        assert!(!of(&one, &run("b", 5_000, Pace::Closed)).1.contains("on both sides"));
    }
}
