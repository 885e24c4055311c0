//! Cells that are not measured: what the library keeps of them, and how many there are of each kind.

use std::collections::BTreeMap;

use campaign::TurnKey;
use record::{CampaignCell, CellLack, LackKind, PlanSource, Run, Target, World};

use super::subject::{Request, is_array};
use crate::input::plans::Planned;
use crate::session::recorder::begun;

/// `, 2 void, 1 skipped`; empty where every run counts.
pub fn counts(lacks: &[Run]) -> String {
    KINDS.iter().map(|kind| counted(lacks, *kind)).collect()
}

/// Why a run may not count, in the order in which the reasons are listed.
const KINDS: [LackKind; 4] = [LackKind::Void, LackKind::Skipped, LackKind::Aborted, LackKind::Failed];

/// `, 2 void`; empty for none.
fn counted(lacks: &[Run], kind: LackKind) -> String {
    let is_it = |run: &&Run| run.lack().is_some_and(|lack| lack.kind == kind);
    match lacks.iter().filter(is_it).count() {
        0 => String::new(),
        many => format!(", {many} {}", kind.word()),
    }
}

/// The record of a cell that is not measured.
pub fn unmeasured(request: Request, lack: CellLack) -> Run {
    let Request { planned: Planned { plan, origin, overrides }, targets, cell, .. } = request;
    let source = PlanSource {
        name: plan.name.clone(),
        about: plan.about.clone(),
        origin,
        text: plan.text.clone(),
        overrides: overrides.set,
    };
    let world = if is_array(&targets) { World::Array } else { World::Host };
    let target = |address: String| Target {
        address,
        kind: String::new(),
        path: None,
        size_bytes: 0,
        caches: Vec::new(),
        facts: BTreeMap::new(),
        validation: None,
    };
    let mut run = begun(source, plan.tags.iter().cloned().collect(), world);
    run.targets = targets.into_iter().map(target).collect();
    run.ended = Some(run.started.clone());
    let code = if lack.kind == LackKind::Aborted { 1 } else { 4 };
    let reason = format!("{}: {}", lack.kind.word(), lack.why);
    run.ending = record::Ending { complete: false, code, reason };
    run.cell = Some(CampaignCell { lack: Some(lack), ..cell });
    debug_assert!(!run.counts(), "what was not measured does not count");
    run
}

/// Whether both say the same of the same turn.
pub fn is_same_lack(one: &Run, other: &Run) -> bool {
    let of =
        |run: &Run| run.cell.as_ref().map(|cell| (TurnKey::of(cell, &run.plan.origin), cell.key.clone()));
    one.lack() == other.lack() && of(one) == of(other)
}
