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
