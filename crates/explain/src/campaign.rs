//! Whether the target was in the state that a cell of a campaign is about.

use record::{Run, Severity};

use crate::Code;
use crate::draft::Draft;

/// A state that was read back as another.
pub(crate) fn state_not_held(run: &Run) -> Option<Draft> {
    let cell = run.cell.as_ref()?;
    let proof = cell.unproven()?;
    let (factor, expected, found) = (&proof.factor, &proof.expected, &proof.found);
    let found = if found.is_empty() { "nothing" } else { found };
    let sentence = format!(
        "{factor} was to be {expected}, and {} said {found} ({}): the cell is void.",
        proof.by, proof.when
    );
    Some(Draft::new(Code::StateNotHeld, Severity::Invalid, sentence).remedy(format!(
        "Set {factor} to {expected}, find what changes it, and start the campaign again: it repeats the cell."
    )))
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::sample;
    use record::{CampaignCell, StateProof};

    #[test]
    fn a_state_that_does_not_hold_makes_the_run_invalid_and_one_that_holds_says_nothing() {
        let mut run = sample::run("oltp", Vec::new());
        assert!(state_not_held(&run).is_none());
        let proof = |found: &str| StateProof {
            factor: "firmware".into(),
            by: "`cli version`".into(),
            when: "after".into(),
            expected: "3.88".into(),
            found: found.into(),
        };
        let cell = |proofs| CampaignCell {
            campaign: "firmware".into(),
            key: String::new(),
            block: 1,
            turn: 1,
            levels: Vec::new(),
            claims: Vec::new(),
            proofs,
        };
        run.cell = Some(cell(vec![proof("3.88")]));
        assert!(state_not_held(&run).is_none());
        run.cell = Some(cell(vec![proof("3.86")]));
        let finding = state_not_held(&run).map(Draft::about_run);
        let finding = finding.expect("the state did not hold");
        assert_eq!((finding.code.as_str(), finding.severity), ("state-not-held", Severity::Invalid));
        assert_eq!(
            finding.sentence,
            "firmware was to be 3.88, and `cli version` said 3.86 (after): the cell is void."
        );
        run.cell = Some(cell(vec![proof("")]));
        let finding = state_not_held(&run).map(Draft::about_run);
        assert!(finding.expect("nothing was said").sentence.contains("said nothing"));
    }
}
