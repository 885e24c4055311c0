//! The states of a plan.

use document::Wrong;

use super::{defaults, fill, read_known};
use crate::plan::keys;
use crate::plan::keys::state::{PREPARE_SHARES, STATE, StateDraft};
use crate::plan::keys::workload::WORKLOAD;
use crate::plan::layers::Layers;
use crate::plan::state::{Background, Prepare, State, StateWord, Watch};
use crate::plan::sweep;

/// The state of a phase, or the key that does not fit.
pub(super) fn state(
    layers: &Layers<'_>,
    phase: usize,
    word: StateWord,
) -> Result<State, (&'static str, Wrong)> {
    let mut draft = StateDraft::default();
    fill(STATE, &mut draft);
    for entry in STATE {
        if let Some(node) = layers.of_state(phase, entry.doc.key, false) {
            read_known(entry, &mut draft, node);
        }
    }
    Ok(match word {
        StateWord::Idle => State::Idle(draft.run.unwrap_or_default()),
        StateWord::FailDisk(disk) => State::FailDisk(disk),
        StateWord::Background(work) => {
            State::Background(Background { work, rate: draft.rate, wait: draft.wait })
        }
        StateWord::Watch(work) => State::Watch(Watch { work, wait: draft.wait }),
        StateWord::Prepare => State::Prepare(prepare(layers, phase, &draft)?),
    })
}

fn prepare(layers: &Layers<'_>, phase: usize, draft: &StateDraft) -> Result<Prepare, (&'static str, Wrong)> {
    let mut shared = defaults();
    for key in PREPARE_SHARES {
        let entry = keys::find(WORKLOAD, key).expect("what prepare shares are keys of a workload");
        let Some(node) = layers.of_state(phase, key, true) else { continue };
        if let Ok(Some(_)) = sweep::values(node, entry.doc.kind) {
            let help = format!("write in this phase which `{key}` is prepared");
            return Err((key, Wrong::new(format!("`{key}` is swept, and is prepared only once"), help)));
        }
        read_known(entry, &mut shared, node);
    }
    let workload = shared.finish()?;
    Ok(Prepare {
        offset: workload.offset,
        span: workload.span,
        empty: draft.empty,
        trim: draft.trim,
        fill: draft.fill,
        content: workload.content,
        drop_caches: draft.drop_caches,
        read_ahead: draft.read_ahead,
        scheduler: draft.scheduler.clone(),
    })
}
