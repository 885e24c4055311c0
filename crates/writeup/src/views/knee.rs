//! Where more load no longer pays, on the charts of a load: the knee that the record's findings tell of.

use chart::{Rule, Unit};
use record::{Finding, Run};
use stats::saturation::{LoadPoint, Saturation, saturation};

use crate::number::Number;
use crate::sweep::{Along, Step};

use super::Subject;

/// The knee of one line.
pub(super) struct Knee {
    /// Where on the axis.
    pub x: f64,
    /// Requests in flight.
    pub load: Number,
}

impl Knee {
    /// That of `line`, where the findings of its run tell of one: they leave it out where its points are in doubt.
    pub fn of(subject: &Subject<'_>, line: &Along<'_>) -> Option<Knee> {
        // Findings are of all of a point.
        if line.points.iter().any(|step| step.median.only.is_some()) {
            return None;
        }
        let run =
            subject.runs.get(line.run).filter(|run| run.findings.iter().any(|one| one.code == "knee"))?;
        let mut steps: Vec<(f64, LoadPoint)> =
            line.points.iter().map(|step| Some((step.x, mean(step)?))).collect::<Option<_>>()?;
        steps.sort_by(|one, other| one.1.load.total_cmp(&other.1.load));
        let curve: Vec<LoadPoint> = steps.iter().map(|(_, point)| *point).collect();
        let found = saturation(&curve, 1)?;
        let (at, load) = told(run, &found)?;
        let load_of = Number::at(line.run, format!("/findings/{at}/numbers/knee"), load, Unit::Count);
        let knee = Knee { x: between(&steps, load)?, load: load_of };
        Some(knee).filter(|knee| knee.is_within(line))
    }

    /// Whether less load than at the knee was measured: a line that is flat from its first point on has none to be seen.
    fn is_within(&self, line: &Along<'_>) -> bool {
        line.points.iter().any(|step| step.x < self.x * 0.999)
    }

    /// Of the line called `name`, where there are several.
    pub fn rule(&self, name: &str) -> Rule {
        let whose = if name.is_empty() { String::new() } else { format!("{name}: ") };
        Rule::Event(self.x, format!("{whose}knee, {} in flight", self.load.text()))
    }

    /// The step that is nearest to it.
    pub fn is_at(&self, line: &Along<'_>, step: &Step<'_>) -> bool {
        let far = |x: f64| (x / self.x).ln().abs();
        let nearest =
            line.points.iter().map(|step| step.x).min_by(|one, other| far(*one).total_cmp(&far(*other)));
        nearest == Some(step.x)
    }
}

/// The finding that names a knee of this very curve, by the estimates that only it has: which it is, and the load.
fn told(run: &Run, found: &Saturation) -> Option<(usize, f64)> {
    let is_it = |finding: &Finding, key: &str, own: f64| {
        finding.numbers.get(key).is_some_and(|told| (told / own - 1.0).abs() < 1e-9)
    };
    let own = |finding: &&Finding| {
        finding.code == "knee"
            && is_it(finding, "asymptote_knee", found.asymptote_knee)
            && is_it(finding, "two_lines_knee", found.two_lines.knee)
    };
    let at = run.findings.iter().position(|finding| own(&finding))?;
    Some((at, *run.findings[at].numbers.get("knee")?))
}

/// What a step did, of its repeats the mean.
fn mean(step: &Step<'_>) -> Option<LoadPoint> {
    let all: Vec<LoadPoint> = step.repeats.iter().map(|one| one.point.load()).collect::<Option<_>>()?;
    let mean = |figure: fn(&LoadPoint) -> f64| all.iter().map(figure).sum::<f64>() / all.len() as f64;
    Some(LoadPoint {
        load: mean(|point| point.load),
        rate: mean(|point| point.rate),
        response_s: mean(|point| point.response_s),
    })
}

/// The place of a load on the axis, between the steps around it by their logarithms.
fn between(steps: &[(f64, LoadPoint)], load: f64) -> Option<f64> {
    let around = steps.windows(2).find(|pair| pair[0].1.load <= load && load <= pair[1].1.load)?;
    let [(from, low), (to, high)] = around else { return None };
    let part = (load / low.load).ln() / (high.load / low.load).ln();
    Some(if *from > 0.0 && *to > 0.0 { from * (to / from).powf(part) } else { from + (to - from) * part })
}
