//! Phases that were to be gone through until a figure is steady.

use record::{Run, Severity};

use crate::code::Code;
use crate::draft::{Draft, percent};

/// The first phase whose figure was not steady in all the rounds that the plan gave it.
pub(crate) fn not_steady(run: &Run) -> Option<Draft> {
    let full = |rounds: &&record::Rounds| !rounds.steady && rounds.values.len() >= rounds.most as usize;
    let rounds = run.rounds.iter().find(full)?;
    let window = rounds.window?;
    let (range, line) = (window.range / window.mean, window.excursion / window.mean);
    let sentence = format!(
        "{} was not steady after {} rounds of \"{}\": over the last five it differs by {}, and its line goes by {}.",
        rounds.tracked(),
        rounds.values.len(),
        rounds.phase,
        percent(range),
        percent(line)
    );
    let draft = Draft::new(Code::NotSteady, Severity::Warning, sentence)
        .remedy("Let it go on for more rounds (`rounds`), or fill the device before (`prepare`).");
    Some(
        draft
            .number("range_share", range)
            .number("line_share", line)
            .number("rounds", rounds.values.len() as f64),
    )
}
