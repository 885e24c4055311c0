//! The state that a cell of a campaign is about.

use record::{CampaignCell, Run, Severity, StateProof};

use crate::{find, found, reads};

fn with(proofs: &[(&str, &str)]) -> Run {
    let proof = |(when, found): &(&str, &str)| StateProof {
        factor: "firmware".into(),
        by: "`cli version`".into(),
        when: (*when).into(),
        expected: "3.88".into(),
        found: (*found).into(),
    };
    let cell = CampaignCell {
        campaign: "firmware".into(),
        key: String::new(),
        block: 1,
        turn: 1,
        levels: Vec::new(),
        claims: Vec::new(),
        proofs: proofs.iter().map(proof).collect(),
        toml: String::new(),
        runs: 0,
        blocks: 0,
        lack: None,
    };
    Run { cell: Some(cell), ..reads() }
}

#[test]
fn a_state_that_does_not_hold_makes_the_run_invalid_and_one_that_holds_says_nothing() {
    assert!(find(&reads(), "state-not-held").is_none());
    let held = with(&[("before", "3.88"), ("after", "3.88")]);
    assert!(find(&held, "state-not-held").is_none());
    assert!(held.counts() && !reads().counts());
    let mut failed = held.clone();
    failed.ending.code = 5;
    let mut cut_short = held;
    cut_short.ending.complete = false;
    assert!(!failed.counts() && !cut_short.counts());
    let finding = found(&with(&[("before", "3.88"), ("after", "3.86")]), "state-not-held");
    assert_eq!(finding.severity, Severity::Invalid);
    assert!(!with(&[("before", "3.88"), ("after", "3.86")]).counts());
    let told = "firmware was to be 3.88, and `cli version` said 3.86 (after): the cell is void.";
    assert_eq!(finding.sentence, told);
    assert!(finding.remedy.starts_with("Set firmware to 3.88"), "{}", finding.remedy);
    let silent = found(&with(&[("before", "")]), "state-not-held");
    assert!(silent.sentence.contains("said nothing (before)"), "{}", silent.sentence);
}
