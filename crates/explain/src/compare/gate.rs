//! A run against a baseline: whether it is slower than the tolerance allows, with the false-alarm rate and the smallest
//! slowdown that is detected.
//!
//! Between runs figures vary by more than their seconds show. What runs of one side differ by among each other is that
//! noise; it is pooled with that of other cells where a cell has too few runs of its own. Where neither side has two,
//! runs of the library that are equal to each other show it.
//!
//! **Invariant:** the false alarms of all rows together are no more than was asked for.

use record::judgement::{Gate, GateRow, Verdict};
use record::{Metric, RUN_TO_RUN, Run};
use spec::Pace;
use stats::gate::{Judged, Worsening};
use stats::geometric_mean;

use super::cells::{self, Cell};
use super::pairs::{self, Pair};
use super::{Group, settings};

/// Of runs that are no worse than allowed this part is called violated at most.
pub const FALSE_ALARMS: f64 = 0.01;

/// The probability with which the worsening that is stated is found, by a run and by the one that confirms it.
pub const POWER: f64 = 0.90;

/// That of each of the two: both together miss no more than the sum of what each misses.
const POWER_OF_EACH: f64 = 1.0 - (1.0 - POWER) / 2.0;

/// As many settings that differ are named.
const SETTINGS_TOLD: usize = 3;

/// What to compare.
#[derive(Clone, Debug)]
pub struct ComparisonInput<'a> {
    /// The baseline in the words of the plan.
    pub baseline: String,
    /// Its runs.
    pub base: Vec<&'a Run>,
    /// The runs that are judged, repeats of each other.
    pub runs: Vec<&'a Run>,
    /// Groups of runs that are repeats of each other and of neither side: they show how much equal runs differ, where
    /// one run on each side does not.
    pub equal: Vec<Vec<&'a Run>>,
    /// What is allowed, as a part.
    pub tolerance: f64,
    /// How often all rows together may be wrong about a run that is no worse.
    pub false_alarms: f64,
}

/// Holds `asked.runs` against `asked.base`. Without a cell in common the verdict is inconclusive, and a note says so.
pub fn gate(asked: &ComparisonInput<'_>) -> Gate {
    let (base, runs) = (pairs::of_each(&asked.base), pairs::of_each(&asked.runs));
    let equal: Vec<Vec<Vec<Cell<'_>>>> = asked.equal.iter().map(|group| pairs::of_each(group)).collect();
    let is_judged = |cell: &Cell<'_>| cell.total;
    let mut pairs = pairs::pairs(&base, &runs, is_judged, metrics);
    pairs.iter_mut().for_each(|pair| pair.learn(&equal));
    let level = asked.false_alarms / pairs.len().max(1) as f64;
    let rows: Vec<GateRow> = pairs.iter().map(|pair| row(pair, &pairs, asked.tolerance, level)).collect();
    debug_assert!(
        level * rows.len() as f64 <= asked.false_alarms * (1.0 + 1e-12),
        "all rows together raise more false alarms than are allowed"
    );
    let verdict = rows.iter().map(|row| row.verdict).max().unwrap_or(Verdict::Inconclusive);
    let ids = |runs: &[&Run]| runs.iter().map(|run| run.id.clone()).collect();
    Gate {
        baseline: asked.baseline.clone(),
        baseline_runs: ids(&asked.base),
        runs: ids(&asked.runs),
        tolerance: asked.tolerance,
        false_alarm_rate: asked.false_alarms,
        power: POWER,
        noise: noise_told(asked, &pairs),
        notes: notes(asked, rows.is_empty()),
        rows,
        verdict,
        culprit: None,
        confirmed: verdict == Verdict::Violated && asked.runs.len() > 1,
    }
}

fn row(pair: &Pair<'_, '_>, all: &[Pair<'_, '_>], tolerance: f64, level: f64) -> GateRow {
    let noise = pairs::noise(pair, all);
    let sides = pairs::side(pair, 0, noise).zip(pairs::side(pair, 1, noise));
    let (base, value) =
        (geometric_mean(&pair.base).unwrap_or_default(), geometric_mean(&pair.runs).unwrap_or_default());
    let more_is_better = pair.metric.more_is_better();
    let found = sides.map(|(base, value)| Worsening::of(base, value, more_is_better));
    let verdict = found.map_or(Verdict::Inconclusive, |found| match found.judge(tolerance, level) {
        Judged::Met => Verdict::Met,
        Judged::Violated => Verdict::Violated,
        Judged::Inconclusive => Verdict::Inconclusive,
    });
    let bounds = found.map(|found| found.bounds(level));
    let count = |values: &[f64]| u32::try_from(values.len()).unwrap_or(u32::MAX);
    GateRow {
        cell: pair.cell.title(),
        metric: pair.metric.name(),
        unit: pair.metric.unit().into(),
        base,
        value,
        worse: if more_is_better { base / value - 1.0 } else { value / base - 1.0 },
        worse_low: bounds.map(|(low, _)| low),
        worse_high: bounds.map(|(_, high)| high),
        detectable: found.map(|found| found.detectable(POWER_OF_EACH, tolerance, level)),
        measurements: [count(&pair.base), count(&pair.runs)],
        verdict,
    }
}

/// What a cell is judged by: its rate, or its mean response time where the rate is given; and what its plan is about.
fn metrics(cell: &Cell<'_>) -> Vec<Metric> {
    let Some(measured) = cell.measured().first() else { return Vec::new() };
    let is_closed = measured.workload.spec.pace == Pace::Closed;
    let usual = if is_closed { Metric::Iops } else { Metric::Mean };
    let headline = Metric::of(&measured.point.headline);
    let says_more = match headline {
        Metric::Mean | Metric::Quantile(_) => headline != usual,
        // Of a closed loop throughput is the rate in another unit; the longest of all has no interval.
        Metric::Iops | Metric::Throughput | Metric::Max => false,
    };
    std::iter::once(usual).chain(says_more.then_some(headline)).collect()
}

fn noise_told(asked: &ComparisonInput<'_>, pairs: &[Pair<'_, '_>]) -> String {
    let most = |side: usize| pairs.iter().map(|pair| pair.groups()[side].len()).max().unwrap_or(0);
    let (base, runs) = (most(0), most(1));
    let learnt = pairs.iter().any(Pair::is_learnt);
    let equal: usize = if learnt { asked.equal.iter().map(Vec::len).sum() } else { 0 };
    if base > 1 || runs > 1 {
        let also = if equal > 0 { format!(", and {equal} equal runs of the library") } else { String::new() };
        return format!("from {base} runs of the baseline and {runs} of this{also}");
    }
    if equal > 0 {
        return format!("learnt from {equal} equal runs of the library, as one run of each side shows none");
    }
    match pairs.iter().any(|pair| pair.is_real) {
        true => format!(
            "assumed: {:.0} % from run to run, as one run of each side shows none; measure the baseline with `--runs 5`",
            100.0 * RUN_TO_RUN
        ),
        false => "from the seconds of one run of each side; measure the baseline with `--runs 5`".into(),
    }
}

fn notes(asked: &ComparisonInput<'_>, is_empty: bool) -> Vec<String> {
    let mut notes = Vec::new();
    if is_empty {
        notes.push("Nothing to compare: no load of the run and of its baseline are the same.".to_owned());
    }
    let groups = [("baseline", &asked.base), ("run", &asked.runs)]
        .map(|(name, runs)| Group { name: name.into(), runs: runs.clone() });
    if groups.iter().any(|group| group.runs.is_empty()) {
        return notes;
    }
    let cells: Vec<Vec<Cell<'_>>> = groups.iter().map(|group| cells::of(&group.runs)).collect();
    let differing = settings::differences(&groups, &cells);
    let told: Vec<String> =
        differing.iter().take(SETTINGS_TOLD).map(|one| format!("{}: {}", one.key, one.told())).collect();
    if !told.is_empty() {
        let more = differing.len() - told.len();
        let more = if more > 0 { format!("; and {more} more") } else { String::new() };
        notes.push(format!("Differs from the baseline: {}{more}.", told.join("; ")));
    }
    notes
}

#[cfg(test)]
mod tests {
    use record::sample::{self, Stream};

    use super::*;

    /// A run whose rate is that many times 1,000, in one cell of each name.
    fn run(times: f64, cells: &[&str]) -> Run {
        let stream = Stream { op: "read", size_bytes: 4096, per_s: 1_000, median_ns: 400_000, spread: 0.1 };
        let points = cells.iter().enumerate().map(|(index, name)| {
            let mut workload = sample::workload("load", &[stream]);
            workload.summary.iter_mut().for_each(|summary| summary.ops_per_s.value *= times);
            sample::point(u32::try_from(index).unwrap(), name, vec![workload])
        });
        sample::run("quick", points.collect())
    }

    fn asked<'a>(base: &'a [Run], runs: &'a [Run], tolerance: f64) -> ComparisonInput<'a> {
        ComparisonInput {
            baseline: "tag:release".into(),
            base: base.iter().collect(),
            runs: runs.iter().collect(),
            equal: Vec::new(),
            tolerance,
            false_alarms: FALSE_ALARMS,
        }
    }

    fn base() -> Vec<Run> {
        [0.995, 1.0, 1.005, 0.998, 1.002].map(|times| run(times, &["p"])).into()
    }

    #[test]
    fn a_run_that_is_much_slower_violates_and_an_equal_one_keeps() {
        let base = base();
        let of = |times: f64, tolerance: f64| gate(&asked(&base, &[run(times, &["p"])], tolerance));
        let slow = of(0.7, 0.05);
        assert_eq!(slow.verdict, Verdict::Violated, "{slow:?}");
        assert!((slow.rows[0].worse - 1.0 / 0.7 + 1.0).abs() < 1e-3, "{:?}", slow.rows);
        assert_eq!((slow.rows[0].measurements, slow.confirmed), ([5, 1], false));
        assert_eq!(of(1.0, 0.05).verdict, Verdict::Met);
        assert_eq!(of(1.3, 0.05).verdict, Verdict::Met, "better is no violation");
        assert_eq!(of(0.953, 0.05).verdict, Verdict::Inconclusive);
        assert!(of(1.0, 0.05).rows[0].detectable.is_some_and(|least| least > 0.05 && least < 0.2));
    }

    #[test]
    fn a_second_run_confirms_and_more_cells_ask_for_more_evidence() {
        let base = base();
        let twice = gate(&asked(&base, &[run(0.7, &["p"]), run(0.71, &["p"])], 0.05));
        assert!(twice.confirmed && twice.verdict == Verdict::Violated);
        let many: Vec<Run> =
            [0.995, 1.0, 1.005, 0.998, 1.002].map(|times| run(times, &["p", "q", "r"])).into();
        let one = gate(&asked(&base, &[run(1.0, &["p"])], 0.05));
        let three = gate(&asked(&many, &[run(1.0, &["p", "q", "r"])], 0.05));
        assert_eq!(three.rows.len(), 3);
        assert!(three.rows[0].detectable > one.rows[0].detectable, "{:?} {:?}", three.rows, one.rows);
    }

    #[test]
    fn without_a_cell_in_common_nothing_is_decided() {
        let base = base();
        let other = run(1.0, &["another"]);
        let mut other = Run { id: "x".into(), ..other };
        other.points[0].phase = "another".into();
        let found = gate(&asked(&base, &[other], 0.05));
        assert_eq!((found.verdict, found.rows.len()), (Verdict::Inconclusive, 0));
        assert!(found.notes[0].contains("Nothing to compare"), "{:?}", found.notes);
    }

    /// Draws of the standard normal distribution, by Box and Muller, from a generator of Vigna's (splitmix64).
    struct Normal(u64);

    impl Normal {
        fn uniform(&mut self) -> f64 {
            self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut z = self.0;
            z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
        }

        fn draw(&mut self) -> f64 {
            let (radius, angle) = (self.uniform().max(1e-300), self.uniform());
            (-2.0 * radius.ln()).sqrt() * (std::f64::consts::TAU * angle).cos()
        }
    }

    /// Of `replays` of a run that is that part worse, how many the first run and the one that confirms it both fail; and
    /// which worsening the gate said that it would find, in the mean.
    fn failed(replays: u32, worse: f64, tolerance: f64, cells: &[&str], seed: u64) -> (f64, f64) {
        const RUN_TO_RUN: f64 = 0.01;
        let mut normal = Normal(seed);
        let unchanged = run(1.0, cells);
        let mut replayed = |worse: f64| {
            let mut run = unchanged.clone();
            for point in &mut run.points {
                let times = (RUN_TO_RUN * normal.draw()).exp() / (1.0 + worse);
                point.workloads[0].summary.iter_mut().for_each(|summary| summary.ops_per_s.value *= times);
            }
            run
        };
        let (mut failures, mut said) = (0, 0.0);
        for _ in 0..replays {
            let base: Vec<Run> = (0..5).map(|_| replayed(0.0)).collect();
            let mut runs = vec![replayed(worse)];
            let first = gate(&asked(&base, &runs, tolerance));
            said += first.rows[0].detectable.unwrap_or(f64::INFINITY);
            if first.verdict == Verdict::Violated {
                runs.push(replayed(worse));
                failures += u32::from(gate(&asked(&base, &runs, tolerance)).verdict == Verdict::Violated);
            }
        }
        (f64::from(failures) / f64::from(replays), said / f64::from(replays))
    }

    #[test]
    fn of_replays_no_more_fail_than_is_stated_and_what_is_stated_is_found() {
        // Three standard errors of the share of 400 that is 1 %.
        let most = FALSE_ALARMS + 3.0 * (FALSE_ALARMS * (1.0 - FALSE_ALARMS) / 400.0f64).sqrt();
        for (worse, tolerance) in [(0.0, 0.0), (0.05, 0.05)] {
            let (share, _) = failed(400, worse, tolerance, &["p", "q"], 1);
            assert!(share <= most, "{share} of runs that are {worse} worse fail");
        }
        let (_, said) = failed(50, 0.0, 0.05, &["p"], 2);
        let (share, _) = failed(200, said, 0.05, &["p"], 3);
        assert!(share >= POWER - 0.05, "{share} of runs that are {said} worse fail");
    }

    #[allow(clippy::print_stdout, reason = "the table is the result")]
    #[test]
    #[ignore = "a table for benches/RESULTS.md"]
    fn a_table_of_replays() {
        for cells in [&["p"][..], &["p", "q", "r", "s"]] {
            for tolerance in [0.0, 0.02, 0.05] {
                let rates: Vec<String> = [0.0, 0.02, 0.05, 0.10]
                    .into_iter()
                    .map(|worse| {
                        let (share, said) = failed(1_000, worse, tolerance, cells, 7);
                        format!("{worse}: {:.1} % (finds {:.1} %)", share * 100.0, said * 100.0)
                    })
                    .collect();
                println!("{} cells, tolerance {tolerance}: {}", cells.len(), rates.join("; "));
            }
        }
    }

    #[test]
    fn one_run_of_each_side_on_real_storage_rests_on_an_assumption_that_is_told() {
        let found = gate(&asked(&base()[..1], &[run(0.97, &["p"])], 0.05));
        assert!(found.noise.contains("assumed: 3 %"), "{}", found.noise);
        assert_eq!(found.verdict, Verdict::Inconclusive);
    }

    #[test]
    fn equal_runs_of_the_library_take_the_place_of_the_assumption() {
        let (base, slow) = (base(), [run(0.9, &["p"])]);
        let quiet = [0.999, 1.0, 1.001, 0.9995, 1.0, 1.0005].map(|times| run(times, &["p"]));
        let loud = [0.8, 1.0, 1.2, 0.9, 1.1, 0.95].map(|times| run(times, &["p"]));
        let with = |equal: &[Run]| {
            gate(&ComparisonInput { equal: vec![equal.iter().collect()], ..asked(&base[..1], &slow, 0.05) })
        };
        let (assumed, sure, unsure) = (gate(&asked(&base[..1], &slow, 0.05)), with(&quiet), with(&loud));
        assert!(sure.noise.starts_with("learnt from 6 equal runs"), "{}", sure.noise);
        let width = |gate: &Gate| gate.rows[0].worse_high.unwrap() - gate.rows[0].worse_low.unwrap();
        assert!(width(&sure) < width(&assumed) && width(&assumed) < width(&unsure));
        assert_eq!((sure.verdict, unsure.verdict), (Verdict::Violated, Verdict::Inconclusive));
        let elsewhere = [1.0, 1.3].map(|times| {
            let mut other = run(times, &["q"]);
            other.points[0].phase = "q".into();
            other
        });
        assert!(with(&elsewhere).noise.starts_with("assumed"), "runs of other cells teach nothing");
        let both = gate(&ComparisonInput { equal: vec![loud.iter().collect()], ..asked(&base, &slow, 0.05) });
        assert!(both.noise.starts_with("from 5 runs"), "{}", both.noise);
    }
}
