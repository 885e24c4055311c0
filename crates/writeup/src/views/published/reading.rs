//! What the figures of a group say, in sentences.

use campaign::Published;
use chart::Unit;

use super::Group;
use crate::document::Sentence;
use crate::number::{Number, Source};

impl<'a> Group<'a> {
    /// `Of 10 published figures of md3000, 8 are within 10 % of the model and 10 within 25 %`
    fn agreement(self) -> Option<Sentence> {
        let of = format!(" of {}", self.name());
        agreement(&[self], &of)
    }

    pub(super) fn reading(self) -> Sentence {
        let Published { all, listed, .. } = self.of;
        let Some(agreement) = self.agreement() else {
            return Sentence::of("None of these figures counts: the table says why.");
        };
        let mut sentence = agreement;
        if let Some(median) = all.median {
            sentence =
                sentence.words("; median error ").number(self.number("all/median", median, Unit::Share));
        }
        sentence = sentence.words(".");
        let worst = all.worst.and_then(|place| usize::try_from(place).ok());
        if let Some((place, ratio)) = worst.and_then(|place| Some((place, self.ratio(place)?))) {
            let figure = &self.of.figures[place];
            sentence = sentence
                .words(format!(" The furthest off is {} ({}): ", figure.id, figure.case.load))
                .number(ratio)
                .words(" what was published.");
        }
        if let Some(foresight) = foresight(&[self]) {
            sentence = sentence.words(" ");
            sentence.0.extend(foresight.0);
        }
        if *listed > 0 {
            let verb = if *listed == 1 { "is" } else { "are" };
            sentence = sentence.words(" ").number(self.count("listed", *listed)).words(format!(
                " more {verb} shown and do{} not count.",
                if *listed == 1 { "es" } else { "" }
            ));
        }
        sentence
    }

    pub(super) fn statements_reading(self) -> Sentence {
        let Published { statements, held, inconclusive, .. } = self.of;
        if *statements == 0 {
            return Sentence::of("Bounds that were published; none counts.");
        }
        let verb = if *held == 1 { "holds" } else { "hold" };
        let held = Sentence::of("Of ")
            .number(self.count("statements", *statements))
            .words(match *statements {
                1 => " published bound, order or equality ",
                _ => " published bounds, orders and equalities ",
            })
            .number(self.count("held", *held))
            .words(format!(" {verb} in the model"));
        if *inconclusive == 0 {
            return held.words(".");
        }
        let verb = if *inconclusive == 1 { "is" } else { "are" };
        held.words("; ")
            .number(self.count("inconclusive", *inconclusive))
            .words(format!(" {verb} inconclusive: the interval has both sides of the bound."))
    }

    /// Why some have no answer.
    pub(super) fn unanswered(self) -> Option<Sentence> {
        let own = self.of.figures.iter().filter(|figure| figure.answer.is_none());
        let told: Vec<String> = own.map(|figure| format!("{}: {}", figure.id, figure.case.failure)).collect();
        (!told.is_empty()).then(|| Sentence::of(format!("No answer: {}.", told.join("; "))))
    }
}

/// How far the figures of all `groups` agree, together; `None` where none counts.
pub(crate) fn agreement(groups: &[Group<'_>], of: &str) -> Option<Sentence> {
    let figures = sum(groups, "all/figures", |group| group.all.figures)?;
    let within_10 = sum(groups, "all/within_10", |group| group.all.within_10)?;
    let within_25 = sum(groups, "all/within_25", |group| group.all.within_25)?;
    if figures.value == 0.0 {
        return None;
    }
    let plural = if figures.value == 1.0 { "figure" } else { "figures" };
    let verb = if within_10.value == 1.0 { "is" } else { "are" };
    let what = if groups.iter().any(|group| group.is_measured()) { "what was measured" } else { "the model" };
    Some(
        Sentence::of("Of ")
            .number(figures)
            .words(format!(" published {plural}{of}, "))
            .number(within_10)
            .words(format!(" {verb} within 10 % of {what} and "))
            .number(within_25)
            .words(" within 25 %"),
    )
}

/// How many figures of all `groups` the model foretold, and how many of those lie within 25 %: what was fitted shows
/// agreement and no foresight. `None` where storage was measured, or nothing was fitted.
pub(crate) fn foresight(groups: &[Group<'_>]) -> Option<Sentence> {
    let fitted = sum(groups, "fitted/figures", |group| group.fitted.figures)?;
    if fitted.value == 0.0 || groups.iter().any(|group| group.is_measured()) {
        return None;
    }
    let said = Sentence::of("The model was fitted with ").number(fitted).words(" of them");
    let foretold = sum(groups, "foretold/figures", |group| group.foretold.figures)?;
    if foretold.value == 0.0 {
        return Some(said.words(", and foretold none."));
    }
    let within_25 = sum(groups, "foretold/within_25", |group| group.foretold.within_25)?;
    let verb = if within_25.value == 1.0 { "is" } else { "are" };
    Some(
        said.words("; of the ")
            .number(foretold)
            .words(" that it foretold, ")
            .number(within_25)
            .words(format!(" {verb} within 25 %.")),
    )
}

/// One count over all `groups`.
fn sum(groups: &[Group<'_>], path: &str, many: fn(&Published) -> u32) -> Option<Number> {
    let parts: Vec<Number> = groups.iter().map(|group| group.count(path, many(group.of))).collect();
    let value = parts.iter().map(|part| part.value).sum();
    let mut sources: Vec<Source> = parts.into_iter().map(|part| part.source).collect();
    let source = if sources.len() == 1 { sources.pop()? } else { Source::Sum(sources) };
    Some(Number { value, unit: Unit::Count, source })
}
