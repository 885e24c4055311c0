//! Which way an effect goes: one change of a factor may better one figure and worsen another.

use std::collections::BTreeMap;

use record::Metric;

use super::{Change, Effects, FigureEffects};

/// Of the figures in which an effect is significant, in how many it goes which way.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Directions {
    /// Figures in which the effect was tested.
    pub tested: usize,
    /// Those in which it is significant.
    pub significant: usize,
    /// Of these, how many go each way.
    pub ways: BTreeMap<Way, usize>,
}

/// Which way an effect goes in one figure. Of two factors it is about the step of the second at the level of the first,
/// beside the same step at its first level: that a gain is less does not make it a loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Way {
    /// More of a rate, less of a latency.
    Better,
    /// The other way.
    Worse,
    /// Both steps are for the better, the one at the level more so.
    MoreGain,
    /// Both are for the better, the one at the level less so.
    LessGain,
    /// Both are for the worse, the one at the level less so.
    LessLoss,
    /// Both are for the worse, the one at the level more so.
    MoreLoss,
    /// For the better at the level, for the worse at the first.
    GainNotLoss,
    /// For the worse at the level, for the better at the first.
    LossNotGain,
    /// The interval of the figure holds 1: the effect is then another level's.
    Undecided,
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
            let way = same.map_or(Way::Undecided, |change| Way::of(metric, change));
            *directions.ways.entry(way).or_default() += 1;
        }
        debug_assert_eq!(
            directions.ways.values().sum::<usize>(),
            directions.significant,
            "a figure goes one way"
        );
        directions
    }
}

impl Directions {
    /// `better in 6, worse in 2`; of two factors with the level `at` of the first and its first level, `from`: `less gain at
    /// depth 8 in 1`.
    pub fn told(&self, at: &str, from: &str) -> String {
        let told = self.ways.iter().map(|(way, many)| format!("{} in {many}", way.told(at, from)));
        told.collect::<Vec<_>>().join(", ")
    }
}

impl Way {
    fn of(metric: Metric, change: &Change) -> Way {
        let is_more = change.low > 1.0;
        if !is_more && change.high >= 1.0 {
            return Way::Undecided;
        }
        let is_better = is_more == metric.more_is_better();
        let Some(steps) = change.steps else {
            return if is_better { Way::Better } else { Way::Worse };
        };
        // The two differ by no less than half the interval of their ratio: what is nearer to 1 than that is neither a gain nor a
        // loss by itself.
        let half = (change.high / change.low).ln() / 2.0;
        let gain = |step: f64| if metric.more_is_better() { step.ln() } else { -step.ln() };
        let [first, there] = steps.map(gain);
        let is_sure = |gain: f64| gain.abs() > half;
        let way_of = |gain: f64, other: f64| {
            if is_sure(gain) || !is_sure(other) { gain > 0.0 } else { other > 0.0 }
        };
        match (way_of(there, first), way_of(first, there), is_better) {
            (true, true, true) => Way::MoreGain,
            (true, true, false) => Way::LessGain,
            (false, false, true) => Way::LessLoss,
            (false, false, false) => Way::MoreLoss,
            (true, false, _) => Way::GainNotLoss,
            (false, true, _) => Way::LossNotGain,
        }
    }

    fn told(self, at: &str, from: &str) -> String {
        match self {
            Way::Better => "better".into(),
            Way::Worse => "worse".into(),
            Way::MoreGain => format!("more gain at {at}"),
            Way::LessGain => format!("less gain at {at}"),
            Way::LessLoss => format!("less loss at {at}"),
            Way::MoreLoss => format!("more loss at {at}"),
            Way::GainNotLoss => format!("gain at {at} and loss at {from}"),
            Way::LossNotGain => format!("loss at {at} and gain at {from}"),
            Way::Undecided => "undecided".into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of two factors, by the steps at the first level and at the level.
    fn told(metric: Metric, [first, there]: [f64; 2]) -> String {
        let ratio = there / first;
        let change = Change {
            levels: vec!["8".into(), "10".into()],
            from: vec!["2".into(), "5".into()],
            ratio,
            low: ratio / 1.02,
            high: ratio * 1.02,
            steps: Some([first, there]),
        };
        Way::of(metric, &change).told("depth 8", "depth 2")
    }

    #[test]
    fn a_gain_that_is_less_is_no_loss_and_a_loss_that_is_less_is_no_gain() {
        let (p99, rate) = (Metric::Quantile(0.99), Metric::Iops);
        assert_eq!(told(p99, [0.70, 0.78]), "less gain at depth 8");
        assert_eq!(told(p99, [0.78, 0.70]), "more gain at depth 8");
        assert_eq!(told(rate, [0.41, 0.45]), "less loss at depth 8");
        assert_eq!(told(rate, [0.45, 0.41]), "more loss at depth 8");
        assert_eq!(told(rate, [0.8, 1.3]), "gain at depth 8 and loss at depth 2");
        assert_eq!(told(p99, [0.8, 1.3]), "loss at depth 8 and gain at depth 2");
    }

    #[test]
    fn a_step_that_chance_may_have_made_is_neither_a_gain_nor_a_loss_of_its_own() {
        assert_eq!(told(Metric::Iops, [0.995, 1.3]), "more gain at depth 8");
        assert_eq!(told(Metric::Iops, [0.6, 1.01]), "less loss at depth 8");
    }
}
