//! Runs compared: what differs, what does not, and the minimum detectable effect.
//!
//! A figure differs where chance hardly explains it, corrected for all figures that were tested together. Where cells
//! were repeated, the repeats give the noise; where not, the variation between the seconds of a measurement is its
//! lower bound.
//!
//! **Invariant:** records in, a comparison out; nothing is measured and nothing drawn. The others are
//! compared with the first group, and a cell only with the cell of the same phase, swept values, workload and
//! operation, of a campaign at the same setting of the other factors.

mod cells;
mod culprit;
mod estimate;
mod figure_pair;
mod floor;
mod gate;
mod host_time;
mod limit;
mod measured;
mod objectives;
mod offered;
mod pairs;
mod pivot;
mod search;
mod settings;
mod shifts;
mod spans;
mod strata;
mod stretches;
mod suspicion;

use record::{
    Basis, Compared, Comparison, Finding, Grading, PointKind, Run, Severity, Side, Unmatched, Verdict, World,
};
use stats::difference::{BATCHES_LEAST as SECONDS_LEAST, Noise, Ratio, false_discovery};
use stats::geometric_mean;

use crate::Code;

pub use culprit::{LIKELIER, Recorded, as_changed, culprit, likely};
pub use gate::{ComparisonInput, FALSE_ALARMS, POWER, gate};
pub use limit::{Bound, FailOn, Limit, LimitError, Outcome};
pub use objectives::{About, Promise, objectives};
pub use pivot::{by, value_of};
pub use shifts::{Shift, modelled, shifts};
pub use suspicion::{Suspicion, Traced};

use cells::Cell;
use estimate::{estimates, noise, own};
use record::Metric;
use strata::Strata;

/// Of the reported differences no more than this part is chance on average.
pub const FALSE_DISCOVERIES: f64 = 0.05;

/// One side of a comparison: runs that count as repeats of each other.
#[derive(Clone, Debug)]
pub struct Group<'a> {
    /// Shown at the head of its column.
    pub name: String,
    /// Its runs, never empty.
    pub runs: Vec<&'a Run>,
}

/// A change within which figures count as equal, as a part, where a user does not say.
pub const MARGIN: f64 = 0.05;

/// Compares every group with the first. `by` is what the groups were made by, where they were; a change that surely is
/// no more than the part `margin` counts as none.
pub fn compare(by: Option<&str>, groups: &[Group<'_>], margin: f64) -> Comparison {
    assert!(groups.iter().all(|group| !group.runs.is_empty()), "a side has runs");
    debug_assert!(margin >= 0.0, "a margin of less than nothing holds no change");
    let mut comparison = Comparison::of(by.map(str::to_owned), groups.iter().map(side).collect());
    let strata = Strata::of(groups);
    let cells: Vec<Vec<Cell<'_>>> = groups.iter().map(|group| cells::within(&group.runs, &strata)).collect();
    comparison.settings = settings::differences(groups, &cells);
    comparison.rows = search::rows(groups);
    comparison.rows.extend(rows(&cells));
    comparison.margin = margin;
    judge(&mut comparison.rows, margin);
    comparison.unmatched = unmatched(&cells);
    let of_strata = strata.note(groups).into_iter().chain(strata.note_of_loads());
    comparison.notes = of_strata.chain(notes(groups, &comparison.rows)).collect();
    comparison.notes.extend(same_runs(groups));
    comparison.notes.extend(spans::note(groups, &cells));
    comparison.notes.extend(offered::missed(&comparison, &cells));
    comparison.notes.extend(too_short(&comparison, &cells));
    comparison.notes.extend(changing(&comparison, groups, &cells));
    assert!(
        comparison.rows.iter().all(|row| (1..groups.len()).contains(&(row.side as usize))),
        "each figure is one of a side that is compared with the first"
    );
    assert!(
        comparison.settings.iter().all(|setting| setting.values.len() == groups.len()),
        "each side has its place beside a setting, also where it lacks it"
    );
    comparison
}

fn side(group: &Group<'_>) -> Side {
    let mut abouts: Vec<String> = Vec::new();
    for run in &group.runs {
        let targets: Vec<&str> = run.targets.iter().map(|target| target.address.as_str()).collect();
        let about = format!("{} on {}", run.plan.name, targets.join(", "));
        if !abouts.contains(&about) {
            abouts.push(about);
        }
    }
    let gradings = || group.runs.iter().filter_map(|run| run.grading.as_ref());
    let mut doubts: Vec<String> = Vec::new();
    for doubt in gradings().filter(|grading| grading.grade.is_doubtful()).flat_map(Grading::doubts) {
        if !doubts.contains(&doubt) {
            doubts.push(doubt);
        }
    }
    Side {
        name: group.name.clone(),
        runs: group.runs.iter().map(|run| run.id.clone()).collect(),
        about: abouts.join("; "),
        grade: gradings().map(|grading| grading.grade).max(),
        doubts,
    }
}

fn rows(cells: &[Vec<Cell<'_>>]) -> Vec<Compared> {
    let Some((base, others)) = cells.split_first() else { return Vec::new() };
    let noise = noise(cells);
    let mut rows = Vec::new();
    for cell in base {
        for metric in cell.metrics() {
            for (number, other) in (1u32..).zip(others) {
                let other = other.iter().find(|other| other.key == cell.key);
                rows.extend(
                    other.and_then(|other| row(cell, other, metric, number, noise.get(&metric.name()))),
                );
            }
        }
    }
    rows
}

fn row(
    first: &Cell<'_>,
    second: &Cell<'_>,
    metric: Metric,
    side: u32,
    noise: Option<&Noise>,
) -> Option<Compared> {
    let (base, value) = (geometric_mean(&first.values(metric))?, geometric_mean(&second.values(metric))?);
    let (basis, estimates) = estimates(first, second, metric, noise.copied());
    let ratio = estimates.map(|(first, second)| Ratio::of(first, second));
    let (value_low, value_high) = own(second, metric, noise.copied());
    let repeats = [first.values(metric).len(), second.values(metric).len()];
    let is_offered = offered::is_of_plan(first, second, metric);
    Some(Compared {
        cell: first.name.clone(),
        workload: first.key.workload.clone(),
        op: first.key.op,
        total: first.total,
        metric: metric.name(),
        unit: metric.unit().into(),
        side,
        base,
        value,
        ratio: value / base,
        low: ratio.map(|ratio| ratio.interval.low),
        high: ratio.map(|ratio| ratio.interval.high),
        value_low,
        value_high,
        // What is no question is not tested.
        p_value: ratio.filter(|_| !is_offered).map(|ratio| ratio.p_value),
        adjusted_p: None,
        noise_floor: noise.map(|noise| noise.floor(repeats[0], repeats[1])),
        detectable_effect: ratio.map(|ratio| ratio.detectable_effect),
        repeats: repeats.map(|count| u32::try_from(count).unwrap_or(u32::MAX)),
        basis,
        verdict: if is_offered { Verdict::Offered } else { Verdict::Inconclusive },
    })
}

/// Corrects the probabilities for their number, and sets the verdicts.
fn judge(rows: &mut [Compared], margin: f64) {
    let tests: Vec<f64> = rows.iter().filter_map(|row| row.p_value).collect();
    let mut adjusted = false_discovery(&tests).into_iter();
    for row in rows.iter_mut() {
        row.adjusted_p = row.p_value.and_then(|_| adjusted.next());
        let least = row.p_value.map(|p| p * (1.0 - 1e-12));
        debug_assert!(row.adjusted_p >= least, "but for rounding a correction makes nothing surer");
        if row.verdict != Verdict::Offered {
            row.verdict = verdict(row, margin);
        }
    }
    debug_assert_eq!(adjusted.next(), None, "each probability is back at its row");
}

/// Equivalent where the whole interval is within the margin, else different where it leaves out no change and chance
/// explains it badly; anything else is not decided.
///
/// The margin is held to the 95 % interval, so equivalence is wrong less than once in twenty times.
/// Source: Schuirmann, *A comparison of the two one-sided tests procedure*, Journal of Pharmacokinetics and
/// Biopharmaceutics 15 (1987).
fn verdict(row: &Compared, margin: f64) -> Verdict {
    let Some((low, high)) = row.low.zip(row.high) else { return Verdict::Inconclusive };
    let more_is_better = row.unit != "ns";
    let is_significant = row.adjusted_p.is_none_or(|p| p <= FALSE_DISCOVERIES);
    // On the scale of logarithms, so that the order of the sides makes no difference.
    if low >= 1.0 / (1.0 + margin) && high <= 1.0 + margin {
        Verdict::Equivalent
    } else if is_significant && low > 1.0 {
        if more_is_better { Verdict::Better } else { Verdict::Worse }
    } else if is_significant && high < 1.0 {
        if more_is_better { Verdict::Worse } else { Verdict::Better }
    } else {
        Verdict::Inconclusive
    }
}

/// That sides are one run, of which no figure can differ.
fn same_runs(groups: &[Group<'_>]) -> Option<String> {
    let (first, others) = groups.split_first()?;
    let is_in_first = |run: &&&Run| first.runs.iter().any(|own| own.id == run.id);
    let same = others.iter().find_map(|group| Some((group, group.runs.iter().find(is_in_first)?)));
    same.map(|(group, run)| {
        format!(
            "Run {} is on both sides, {} and {}: it does not differ from itself. Name two runs, such as \
             `fathom compare last~1 last`.",
            run.id, first.name, group.name
        )
    })
}

fn unmatched(cells: &[Vec<Cell<'_>>]) -> Vec<Unmatched> {
    let mut found: Vec<Unmatched> = Vec::new();
    for cell in cells.iter().flatten() {
        let has = |of: &Vec<Cell<'_>>| of.iter().any(|other| other.key == cell.key);
        let sides: Vec<u32> = (0u32..).zip(cells).filter(|(_, of)| has(of)).map(|(side, _)| side).collect();
        debug_assert!(!sides.is_empty(), "its own side has it");
        let one = Unmatched { cell: cell.title(), sides };
        if one.sides.len() < cells.len() && !found.contains(&one) {
            found.push(one);
        }
    }
    found
}

fn notes(groups: &[Group<'_>], rows: &[Compared]) -> Vec<String> {
    let mut notes = Vec::new();
    let based = |basis: Basis| rows.iter().any(|row| row.basis == basis);
    if rows.is_empty() {
        let are_searches = groups.iter().flat_map(|group| &group.runs).all(|run| run.search.is_some());
        notes.push(match are_searches {
            true => "Nothing to compare: two searches are compared where both found a rate for the same SLOs and the same \
                     load."
                .into(),
            false => "Nothing to compare: no two sides share a phase, swept values, workload and operation.".into(),
        });
    }
    let is_of = |world: World| groups.iter().flat_map(|group| &group.runs).any(|run| run.world == world);
    if based(Basis::Seconds) {
        let assumed = format!("from an assumed run-to-run variation of {:.0} %", 100.0 * record::RUN_TO_RUN);
        let and = match (is_of(World::Host), is_of(World::Array)) {
            (true, true) => format!(" and, on real storage, {assumed}"),
            (true, false) => format!(" and {assumed}"),
            _ => String::new(),
        };
        notes.push(format!(
            "Each point was measured once: intervals come from the variation between its seconds{and}. Set `repeat = 5`, \
             or name several runs per side."
        ));
    }
    let lacks = |is_rate: bool| {
        rows.iter().any(|row| row.basis == Basis::Nothing && row.total && (row.metric == "iops") == is_rate)
    };
    // Where no figure has an interval the count of them says so, and how to get one.
    let has_any = rows.iter().any(|row| row.basis != Basis::Nothing);
    if has_any && lacks(false) {
        notes.push(
            "Some latencies have no 95 % CI: too little was measured, or with too few independent slow requests. \
             Measure longer, or repeat."
                .into(),
        );
    }
    let runs = || groups.iter().flat_map(|group| &group.runs);
    if is_of(World::Host) && is_of(World::Array) {
        notes.push(
            "Real storage is compared with a virtual array: a difference may come from the model.".into(),
        );
    }
    if groups.windows(2).any(|pair| one_after_the_other(&pair[0].runs, &pair[1].runs)) {
        notes.push(
            "One side was measured entirely before the other: drift in between looks like a difference. Interleave \
             them with `fathom run PLAN --on A --against B`."
                .into(),
        );
    }
    for run in runs() {
        let cut = run.points.iter().filter(|point| point.kind == PointKind::Load && !point.complete).count();
        if cut > 0 {
            notes.push(format!("Run {}: {cut} of its points were cut short and are not compared.", run.id));
        }
        let invalid = run.findings.iter().filter(|finding| finding.severity == Severity::Invalid).count();
        if invalid > 0 {
            notes.push(format!(
                "Run {}: {invalid} of its findings make figures invalid; see `fathom show`.",
                run.id
            ));
        }
    }
    notes
}

/// That a rate was still changing in the window, where a difference is told: it is then one of moments as well.
fn changing(comparison: &Comparison, groups: &[Group<'_>], cells: &[Vec<Cell<'_>>]) -> Option<String> {
    let is_changing =
        |finding: &&Finding| [Code::Drift.name(), Code::Trend.name()].contains(&finding.code.as_str());
    let differs = |row: &&Compared| matches!(row.verdict, Verdict::Better | Verdict::Worse);
    let mut named: Vec<String> = Vec::new();
    for (group, cells) in groups.iter().zip(cells) {
        for run in &group.runs {
            let points = run.findings.iter().filter(is_changing).filter_map(|found| run.point(found.point?));
            for point in points {
                let is_told = |cell: &&Cell<'_>| {
                    cell.has(point) && comparison.rows.iter().filter(differs).any(|row| cell.is_of(row))
                };
                let Some(cell) = cells.iter().find(is_told) else { continue };
                let name = format!("{} on {}", cell.name, group.name);
                if !named.contains(&name) {
                    named.push(name);
                }
            }
        }
    }
    let more = named.len().saturating_sub(TOLD);
    named.truncate(TOLD);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    (!named.is_empty()).then(|| {
        format!(
            "Still changing within the window: {}{more}. What differs there may be the moment; warm up longer, and compare again.",
            named.join(", ")
        )
    })
}

/// Rates without an interval of their change that are told with those that their runs have, at most.
const TOLD: usize = 3;

/// Why the change of a rate has no interval although each run has one, and what those are.
fn too_short(comparison: &Comparison, cells: &[Vec<Cell<'_>>]) -> Option<String> {
    let lacks = |row: &&Compared| row.basis == Basis::Nothing && row.total && row.metric == "iops";
    let lacking: Vec<&Compared> = comparison.rows.iter().filter(lacks).collect();
    let of = |side: u32, row: &Compared| {
        cells.get(side as usize)?.iter().find(|cell| cell.total && cell.is_of(row))
    };
    let pairs = || lacking.iter().filter_map(|row| Some((*row, of(0, row)?, of(row.side, row)?)));
    let seconds = pairs().flat_map(|(_, first, second)| [first.seconds(), second.seconds()]).min()?;
    if seconds >= SECONDS_LEAST as u64 {
        return None;
    }
    let told = |side: u32, cell: &Cell<'_>| {
        let name = comparison.sides.get(side as usize).map_or("", |side| side.name.as_str());
        cell.own_interval().map(|interval| format!("{name} {interval}"))
    };
    let intervals: Vec<String> = pairs()
        .filter_map(|(row, first, second)| {
            let both = [told(0, first)?, told(row.side, second)?];
            Some(format!("{}: {}", row.cell, both.join(", ")))
        })
        .take(TOLD)
        .collect();
    let own = if intervals.is_empty() {
        String::new()
    } else {
        format!(" By itself each run has: {}.", intervals.join("; "))
    };
    Some(format!(
        "The change of a rate has a 95 % CI from {SECONDS_LEAST} s of measurement on; the shortest here is {seconds} s. \
         Use `run = \"{SECONDS_LEAST}s\"` or more, or `repeat = 5`.{own}"
    ))
}

/// Whether all of one ended before the other began, or the other way round, on real storage.
fn one_after_the_other(first: &[&Run], second: &[&Run]) -> bool {
    let real = first.iter().chain(second).all(|run| run.world == World::Host);
    // Texts of this form sort by time.
    let before = |one: &[&Run], other: &[&Run]| {
        let last = one.iter().filter_map(|run| run.ended.as_ref()).max();
        let next = other.iter().map(|run| &run.started).min();
        last.zip(next).is_some_and(|(last, next)| last <= next)
    };
    real && (before(first, second) || before(second, first))
}

#[cfg(test)]
mod tests {
    use record::sample;

    use super::*;

    fn row(unit: &str, interval: Option<(f64, f64)>, p_value: Option<f64>) -> Compared {
        let ratio = interval.map_or(1.0, |(low, high)| (low * high).sqrt());
        Compared {
            cell: "c".into(),
            workload: "w".into(),
            op: record::Op::Read.into(),
            total: true,
            metric: "iops".into(),
            unit: unit.into(),
            side: 1,
            base: 100.0,
            value: 100.0 * ratio,
            ratio,
            low: interval.map(|interval| interval.0),
            high: interval.map(|interval| interval.1),
            value_low: None,
            value_high: None,
            p_value,
            adjusted_p: p_value,
            noise_floor: None,
            detectable_effect: None,
            repeats: [1, 1],
            basis: Basis::Seconds,
            verdict: Verdict::Inconclusive,
        }
    }

    #[test]
    fn a_verdict_follows_from_the_interval_the_margin_and_the_probability() {
        let of =
            |unit: &str, low: f64, high: f64, p: Option<f64>| verdict(&row(unit, Some((low, high)), p), 0.05);
        assert_eq!(of("per_s", 1.0 / 1.05, 1.05, Some(0.9)), Verdict::Equivalent);
        assert_eq!(of("per_s", 0.952, 1.05, Some(0.9)), Verdict::Inconclusive);
        assert_eq!(of("per_s", 0.96, 1.051, Some(0.9)), Verdict::Inconclusive);
        assert_eq!(of("per_s", 1.01, 1.04, Some(0.001)), Verdict::Equivalent, "surely little is none");
        for (unit, up, down) in
            [("per_s", Verdict::Better, Verdict::Worse), ("ns", Verdict::Worse, Verdict::Better)]
        {
            assert_eq!(of(unit, 1.01, 1.3, Some(0.05)), up);
            assert_eq!(of(unit, 0.7, 0.99, Some(0.05)), down);
            assert_eq!(of(unit, 1.01, 1.3, None), up);
            assert_eq!(of(unit, 1.01, 1.3, Some(0.051)), Verdict::Inconclusive);
            assert_eq!(of(unit, 1.0, 1.3, Some(0.01)), Verdict::Inconclusive, "no change is not left out");
            assert_eq!(of(unit, 0.7, 1.0, Some(0.01)), Verdict::Inconclusive);
        }
        assert_eq!(verdict(&row("per_s", None, Some(0.01)), 0.05), Verdict::Inconclusive);
    }

    #[test]
    fn probabilities_are_raised_for_their_number_and_stay_with_their_rows() {
        let mut rows = [Some(0.01), None, Some(0.04)].map(|p| row("per_s", Some((1.1, 1.3)), p));
        judge(&mut rows, 0.05);
        assert_eq!(rows.each_ref().map(|row| row.adjusted_p), [Some(0.02), None, Some(0.04)]);
        assert!(rows.iter().all(|row| row.verdict == Verdict::Better));
    }

    #[test]
    fn sides_that_were_measured_one_after_the_other_are_told_apart_from_those_that_took_turns() {
        let run = |started: &str, ended: &str| Run {
            started: started.into(),
            ended: Some(ended.into()),
            ..sample::run("quick", Vec::new())
        };
        let (early, late) = (run("2026-01-01T10", "2026-01-01T11"), run("2026-01-01T11", "2026-01-01T12"));
        assert!(one_after_the_other(&[&early], &[&late]) && one_after_the_other(&[&late], &[&early]));
        let between = run("2026-01-01T10:30", "2026-01-01T11:30");
        assert!(!one_after_the_other(&[&early, &late], &[&between]));
        let array = Run { world: World::Array, ..late.clone() };
        assert!(!one_after_the_other(&[&early], &[&array]), "a virtual array does not drift");
        let group = |name: &str, runs| Group { name: name.into(), runs };
        let groups = [group("a", vec![&early]), group("b", vec![&late])];
        let told = notes(&groups, &[]).join(" ");
        assert!(told.contains("Nothing to compare") && told.contains("entirely before the other"), "{told}");
        assert!(!told.contains("virtual array") && !told.contains("cut short"), "{told}");
        let groups = [group("a", vec![&early]), group("b", vec![&array])];
        assert!(notes(&groups, &[]).join(" ").contains("Real storage is compared with a virtual array"));
        let groups = [group("a", vec![&array]), group("b", vec![&array])];
        assert!(!notes(&groups, &[]).join(" ").contains("Real storage"), "both are virtual");
        let cut = Run {
            points: vec![record::Point { complete: false, ..sample::point(0, "p", Vec::new()) }],
            ..early.clone()
        };
        let told = notes(&[group("a", vec![&cut])], &[row("ns", None, None)]);
        assert_eq!(told.len(), 2, "{told:?}");
        assert!(
            told[0].contains("measured once")
                && told[1].ends_with("1 of its points were cut short and are not compared.")
        );
    }

    #[test]
    fn a_side_names_its_runs_and_what_they_were_once() {
        let (one, other) = (sample::run("quick", Vec::new()), sample::run("oltp", Vec::new()));
        let side = side(&Group { name: "old".into(), runs: vec![&one, &one, &other] });
        assert_eq!((side.name.as_str(), side.runs.len()), ("old", 3));
        assert_eq!(side.about, "quick on /mnt/array; oltp on /mnt/array");
    }

    #[test]
    fn an_interval_that_ends_at_no_change_leaves_it_in() {
        assert_eq!(verdict(&row("per_s", Some((1.0, 1.2)), None), 0.01), Verdict::Inconclusive);
        assert_eq!(verdict(&row("per_s", Some((0.8, 1.0)), None), 0.01), Verdict::Inconclusive);
    }

    #[test]
    fn points_cut_short_and_findings_that_make_figures_invalid_are_noted() {
        let mut run = sample::run("p", vec![sample::point(0, "p", Vec::new())]);
        let noted = |run: &Run, part: &str| {
            let groups = [Group { name: "A".into(), runs: vec![run] }];
            notes(&groups, &[]).iter().any(|note| note.contains(part))
        };
        assert!(!noted(&run, "cut short") && !noted(&run, "make figures invalid"));
        run.points[0].complete = false;
        assert!(noted(&run, "1 of its points were cut short"));
        let finding =
            |severity| crate::draft::Draft::new(crate::Code::Errors, severity, "It is.").about_run();
        run.findings = vec![finding(Severity::Note), finding(Severity::Warning)];
        assert!(!noted(&run, "make figures invalid"));
        run.findings.push(finding(Severity::Invalid));
        assert!(noted(&run, "1 of its findings make figures invalid"));
    }
}
