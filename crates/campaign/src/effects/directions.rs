//! Which way an effect goes: one change of a factor may better one figure and worsen another.

use record::Metric;

use super::{Change, Effects, FigureEffects};

/// Of the figures in which an effect is significant, how many it betters and how many it worsens. Where the interval of a figure
/// holds 1, it counts for neither: the effect is then another level's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Directions {
    /// Figures in which the effect was tested.
    pub tested: usize,
    /// Those in which it is significant.
    pub significant: usize,
    /// Of these: more of a rate, less of a latency.
    pub better: usize,
    /// Of these: the other way.
    pub worse: usize,
}

impl Effects {
    /// The directions of the change from `change.from` to `change.levels`, of the effect of `factors`.
    pub fn directions<'a>(&'a self, factors: &[String], change: &Change) -> Directions {
        let own = |figure: &'a FigureEffects| {
            let effect = figure.effects.iter().find(|effect| effect.factors == factors)?;
            Some((Metric::of(&figure.metric), effect))
        };
        let mut directions = Directions::default();
        for (metric, effect) in self.figures.iter().filter_map(own) {
            directions.tested += 1;
            if !effect.found {
                continue;
            }
            directions.significant += 1;
            let same =
                effect.changes.iter().find(|one| (&one.levels, &one.from) == (&change.levels, &change.from));
            match same.and_then(|change| is_better(metric, change)) {
                Some(true) => directions.better += 1,
                Some(false) => directions.worse += 1,
                None => {}
            }
        }
        debug_assert!(
            directions.better + directions.worse <= directions.significant,
            "a figure goes one way"
        );
        directions
    }
}

impl Directions {
    /// `better in 6, worse in 2`; of two factors with the level of the first at which the step of the second is that.
    pub fn told(self, at: Option<&str>) -> String {
        let Directions { significant, better, worse, .. } = self;
        let at = at.map(|at| format!(" at {at}")).unwrap_or_default();
        let each = [(better, "better"), (worse, "worse"), (significant - better - worse, "undecided")];
        let told: Vec<String> = each
            .iter()
            .filter(|(many, _)| *many > 0)
            .map(|(many, way)| format!("{way}{at} in {many}"))
            .collect();
        told.join(", ")
    }
}

/// Whether a change is for the better; `None` where its interval does not say.
fn is_better(metric: Metric, change: &Change) -> Option<bool> {
    let is_more = change.low > 1.0;
    (is_more || change.high < 1.0).then_some(is_more == metric.more_is_better())
}
