//! Published figures beside those of the virtual arrays that were asked for them.

use record::{CampaignCell, ClaimKind, FigureClaim, Metric, PublishedCase, Run};
use serde::{Deserialize, Serialize};
use stats::difference::Estimate;
use stats::median;
use units::convert::narrow;

/// The figures of one group, as a campaign names it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Published {
    /// The group.
    pub group: String,
    /// Where its figures were published, each source once.
    pub sources: Vec<String>,
    /// Times that the arrays were asked, each with another seed.
    pub rounds: u32,
    /// Its figures, and what else was said, in the order of the group.
    pub figures: Vec<CheckedFigure>,
    /// Of the figures that count, all together.
    pub all: Agreement,
    /// Of those that no model was fitted with.
    pub foretold: Agreement,
    /// Of those that one was fitted with.
    pub fitted: Agreement,
    /// Bounds, orders and equalities that count.
    pub statements: u32,
    /// Those of them that hold.
    pub held: u32,
    /// Those whose interval reaches from what keeps to them to what does not.
    pub inconclusive: u32,
    /// Figures and statements that are listed and do not count.
    pub listed: u32,
}

/// One published figure or statement.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CheckedFigure {
    /// Its number in its source.
    pub id: String,
    /// Where it was published.
    pub by: String,
    /// Of what: `iops`, `mb_per_s`, `p99`, `time`, `work_rate`, `share`, `count`, `ratio`.
    pub metric: String,
    /// How it was asked for; `modelled` is the answer of the first time.
    pub case: PublishedCase,
    /// What was published, in base units.
    pub published: f64,
    /// What the array gave, the geometric mean of all rounds; absent where it could not be asked.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub answer: Option<f64>,
    /// Lower end of its 95 % interval; absent where it was asked once, or always answers the same.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub low: Option<f64>,
    /// Upper end.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub high: Option<f64>,
    /// Whether what the array gave keeps to what was published, within the tolerance of the figure; absent where one end of
    /// the interval does and the other does not.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub holds: Option<bool>,
}

/// How far figures agree with what was published.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Agreement {
    /// How many they are.
    pub figures: u32,
    /// Those that are at most a tenth off.
    pub within_10: u32,
    /// Those that are at most a quarter off.
    pub within_25: u32,
    /// The median of how far they are off, as parts of the published value; absent without figures.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub median: Option<f64>,
    /// The figure that is furthest off, by its place among those of the group.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub worst: Option<u32>,
}

impl CheckedFigure {
    /// How far it is off, as a part of the published value; `None` of a statement, and where there is no answer.
    pub fn error(&self) -> Option<f64> {
        let answer = self.answer.filter(|_| self.case.kind == ClaimKind::Figure)?;
        Some(answer / self.published - 1.0)
    }

    /// Whether it counts for the agreement.
    pub fn counts(&self) -> bool {
        self.case.listed.is_empty()
    }
}

/// A published figure of a run, and its answer there.
struct Answered<'r> {
    claim: &'r FigureClaim,
    case: &'r PublishedCase,
    answer: Option<f64>,
}

/// What `runs` say, group by group in the order in which they were first asked.
pub(crate) fn published(runs: &[(&Run, &CampaignCell)]) -> Vec<Published> {
    let mut groups: Vec<&str> = Vec::new();
    for (run, cell) in runs {
        for one in answered(run, cell) {
            if !groups.contains(&one.case.group.as_str()) {
                groups.push(&one.case.group);
            }
        }
    }
    groups.into_iter().map(|group| of_group(group, runs)).collect()
}

fn answered<'r>(run: &'r Run, cell: &'r CampaignCell) -> impl Iterator<Item = Answered<'r>> {
    cell.claims.iter().filter_map(|claim| {
        let case = claim.case.as_ref()?;
        let measured = || {
            let point = run.points.iter().find(|point| point.complete && point.plain_name() == case.point)?;
            point.figure(Metric::of(&claim.metric))
        };
        let answer = if case.point.is_empty() { case.modelled } else { measured() };
        Some(Answered { claim, case, answer })
    })
}

fn of_group(group: &str, runs: &[(&Run, &CampaignCell)]) -> Published {
    let rounds: Vec<Vec<Answered<'_>>> = runs
        .iter()
        .map(|(run, cell)| answered(run, cell).filter(|one| one.case.group == group).collect::<Vec<_>>())
        .filter(|own| !own.is_empty())
        .collect();
    let mut figures: Vec<CheckedFigure> = Vec::new();
    for Answered { claim, case, .. } in rounds.iter().flatten() {
        if figures.iter().any(|known| known.id == claim.point) {
            continue;
        }
        let own = rounds.iter().flatten().filter(|other| other.claim.point == claim.point);
        let answers: Vec<f64> = own.filter_map(|other| other.answer).collect();
        figures.push(held(claim, case, &answers));
    }
    let mut sources: Vec<String> = Vec::new();
    for figure in &figures {
        if !sources.contains(&figure.by) {
            sources.push(figure.by.clone());
        }
    }
    debug_assert!(sources.len() <= figures.len(), "each source once");
    let statements = || figures.iter().filter(|one| one.counts() && one.case.kind != ClaimKind::Figure);
    let group = Published {
        group: group.to_owned(),
        sources,
        rounds: count(rounds.len()),
        all: agreement(&figures, |_| true),
        foretold: agreement(&figures, |figure| figure.case.fits.is_empty()),
        fitted: agreement(&figures, |figure| !figure.case.fits.is_empty()),
        statements: count(statements().count()),
        held: count(statements().filter(|one| one.holds == Some(true)).count()),
        inconclusive: count(statements().filter(|one| one.holds.is_none()).count()),
        listed: count(figures.iter().filter(|one| !one.counts()).count()),
        figures,
    };
    assert!(group.is_consistent(), "a figure is foretold or fitted, a statement holds, does not, or is open");
    group
}

fn held(claim: &FigureClaim, case: &PublishedCase, answers: &[f64]) -> CheckedFigure {
    let logs = answers.iter().map(|answer| answer.ln()).sum::<f64>() / answers.len() as f64;
    let answer = (!answers.is_empty()).then(|| logs.exp()).filter(|mean| mean.is_finite());
    let interval = Estimate::of_repeats(answers).map(Estimate::interval);
    // What a model always answers alike has no interval that tells anything.
    let interval = interval.filter(|ends| ends.high > ends.low * (1.0 + 1e-9));
    let keeps = |value| case.kind.holds(value, claim.value, case.tolerance);
    // Without an answer it does not hold; every kind but `Figure` is a bound, so that the ends of the interval decide.
    let holds = match (answer, interval) {
        (Some(_), Some(ends)) if case.kind != ClaimKind::Figure => {
            (keeps(ends.low) == keeps(ends.high)).then(|| keeps(ends.low))
        }
        (answer, _) => Some(answer.is_some_and(keeps)),
    };
    CheckedFigure {
        id: claim.point.clone(),
        by: claim.by.clone(),
        metric: claim.metric.clone(),
        case: case.clone(),
        published: claim.value,
        holds,
        answer,
        low: interval.map(|ends| ends.low),
        high: interval.map(|ends| ends.high),
    }
}

/// Of the figures that count, and that `is_asked` says.
fn agreement(figures: &[CheckedFigure], is_asked: impl Fn(&CheckedFigure) -> bool) -> Agreement {
    let own = figures.iter().enumerate().filter(|(_, figure)| figure.counts() && is_asked(figure));
    let mut errors: Vec<(f64, usize)> =
        own.filter_map(|(place, figure)| Some((figure.error()?.abs(), place))).collect();
    errors.sort_by(|one, other| one.0.total_cmp(&other.0));
    debug_assert!(errors.iter().all(|(error, _)| *error >= 0.0), "how far off is a distance");
    let within = |limit: f64| count(errors.iter().filter(|(error, _)| *error <= limit).count());
    assert!(within(0.1) <= within(0.25), "what is within a tenth is within a quarter");
    // Half and twice are equally far off.
    let distance = |place: usize| figures[place].error().map_or(0.0, |error| (1.0 + error).ln().abs());
    let furthest = errors.iter().map(|(_, place)| *place);
    let furthest = furthest.max_by(|one, other| distance(*one).total_cmp(&distance(*other)));
    Agreement {
        figures: count(errors.len()),
        within_10: within(0.1),
        within_25: within(0.25),
        median: median(&errors.iter().map(|(error, _)| *error).collect::<Vec<_>>()),
        worst: furthest.map(count),
    }
}

impl Published {
    /// What was said of the group once, counted by what came of it.
    fn is_consistent(&self) -> bool {
        let by_fit = self.foretold.figures + self.fitted.figures;
        by_fit == self.all.figures && self.held + self.inconclusive <= self.statements
    }
}

fn count(many: usize) -> u32 {
    narrow::<u32>(many as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::sample::{self, Stream};

    fn claim(id: &str, kind: ClaimKind, value: f64, modelled: Option<f64>) -> FigureClaim {
        FigureClaim {
            by: "a write-up".into(),
            point: id.into(),
            metric: "iops".into(),
            value,
            reads: None,
            case: Some(PublishedCase {
                group: "queue".into(),
                kind,
                arrays: vec!["queue".into()],
                load: "random read 4 KiB".into(),
                about: String::new(),
                tolerance: 0.25,
                fits: String::new(),
                listed: String::new(),
                point: String::new(),
                modelled,
                failure: String::new(),
                courses: Vec::new(),
            }),
        }
    }

    fn with(mut claim: FigureClaim, change: impl Fn(&mut PublishedCase)) -> FigureClaim {
        claim.case.iter_mut().for_each(change);
        claim
    }

    fn run(claims: Vec<FigureClaim>) -> Run {
        let cell = CampaignCell { turn: 0, claims, ..sample::cell(Vec::new()) };
        Run { cell: Some(cell), ..sample::run("published", Vec::new()) }
    }

    fn told(runs: &[Run]) -> Vec<Published> {
        let of: Vec<_> = runs.iter().map(|run| (run, run.cell.as_ref().expect("each has one"))).collect();
        published(&of)
    }

    #[test]
    fn a_bound_inside_the_interval_is_inconclusive_and_does_not_hold() {
        let rounds = [0.9, 1.3].map(|times| {
            let bound = |id, value| claim(id, ClaimKind::Least, value, Some(100.0 * times));
            run(vec![bound("inside", 100.0), bound("far below", 1.0), bound("far above", 10_000.0)])
        });
        let groups = told(&rounds);
        let group = &groups[0];
        let holds: Vec<_> = group.figures.iter().map(|one| one.holds).collect();
        assert_eq!(holds, [None, Some(true), Some(false)]);
        assert_eq!((group.statements, group.held, group.inconclusive), (3, 1, 1));
    }

    #[test]
    fn figures_that_count_make_the_agreement_and_fitted_ones_are_told_apart() {
        let figure = |id, modelled| claim(id, ClaimKind::Figure, 100.0, Some(modelled));
        let fitted = |one| with(one, |case| case.fits = "a figure".into());
        let listed = |one| with(one, |case| case.listed = "for a reason".into());
        let run = run(vec![
            figure("near", 95.0),
            figure("far", 50.0),
            fitted(figure("fitted", 120.0)),
            listed(figure("listed", 1000.0)),
            claim("bound", ClaimKind::Most, 100.0, Some(126.0)),
            claim("order", ClaimKind::Order, 1.0, Some(1.01)),
            claim("impossible", ClaimKind::Figure, 100.0, None),
        ]);
        let groups = told(&[run]);
        let [group] = &groups[..] else { panic!("one group: {groups:?}") };
        assert_eq!((group.all.figures, group.all.within_10, group.all.within_25), (3, 1, 2));
        assert_eq!((group.foretold.figures, group.fitted.figures), (2, 1));
        assert_eq!(group.all.worst, Some(1));
        assert!(group.all.median.is_some_and(|median| (median - 0.2).abs() < 1e-9));
        assert_eq!((group.statements, group.held, group.listed), (2, 1, 1));
        assert_eq!(group.figures.len(), 7);
    }

    #[test]
    fn of_several_rounds_a_figure_is_the_mean_and_has_an_interval_unless_it_is_always_the_same() {
        let round = |one: f64, same: f64| {
            let figure = |id, modelled| claim(id, ClaimKind::Figure, 100.0, Some(modelled));
            run(vec![figure("one", one), figure("same", same)])
        };
        let groups = told(&[round(90.0, 80.0), round(110.0, 80.0)]);
        let [one, same] = &groups[0].figures[..] else { panic!("two figures") };
        let mean = one.answer.expect("it was asked");
        assert!((mean - 9900.0_f64.sqrt()).abs() < 1e-9, "{mean}");
        assert!(one.low.is_some_and(|low| low < mean) && one.high.is_some_and(|high| high > mean));
        assert_eq!((same.low, same.high, groups[0].rounds), (None, None, 2));
    }

    #[test]
    fn where_real_storage_was_measured_the_point_of_the_run_is_the_answer() {
        let of_point = with(claim("one", ClaimKind::Figure, 500.0, None), |case| case.point = "reads".into());
        let mut run = run(vec![of_point]);
        let stream = Stream { op: "read", size_bytes: 4096, per_s: 1000, median_ns: 100_000, spread: 0.2 };
        run.points = vec![sample::point(0, "reads", vec![sample::workload("load", &[stream])])];
        let groups = told(&[run]);
        let error = groups[0].figures[0].error().expect("it was measured");
        assert!((error - 1.0).abs() < 0.01, "{error}");
    }
}
