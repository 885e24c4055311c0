//! What holds for every plan and every text.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::super::*;
use super::arbitrary;
use crate::plan::keys::workload::WORKLOAD;

/// A ready plan in which some characters were removed, doubled or replaced.
fn mutated() -> impl Strategy<Value = String> {
    let edit = (any::<prop::sample::Index>(), 0u8..4, prop::sample::select(EDITS.to_vec()));
    (prop::sample::select(ready::all().to_vec()), proptest::collection::vec(edit, 1..6)).prop_map(
        |(ready, edits)| {
            let mut text: Vec<char> = ready.text.chars().collect();
            for (index, kind, with) in edits {
                let at = index.index(text.len());
                match kind {
                    0 => drop(text.remove(at)),
                    1 => text.insert(at, text[at]),
                    2 => drop(text.splice(at..at, with.chars())),
                    _ => drop(text.splice(at..(at + with.len()).min(text.len()), with.chars())),
                }
            }
            text.into_iter().collect()
        },
    )
}

const EDITS: [&str; 16] = [
    "\"",
    "[",
    "]",
    "{ sweep = [",
    "}",
    "\n",
    "= ",
    "[[phase.workload]]\n",
    "0",
    "-1",
    "999999999999",
    "%",
    "é",
    "{depth}",
    "state = \"prepare\"\n",
    "\u{0}",
];

fn any_text() -> impl Strategy<Value = String> {
    prop_oneof![
        proptest::collection::vec(any::<u8>(), 0..200)
            .prop_map(|bytes| String::from_utf8_lossy(&bytes).into_owned()),
        "(\\[\\[phase\\]\\]\n)?([a-z_]{1,8} = (\"[a-z0-9%(){}, ]{0,12}\"|[0-9]{1,22}|\\{ sweep = \\[[0-9, ]{0,9}\\] \\})\n){0,6}",
        mutated(),
    ]
}

/// Every mistake must have a place within its text, and be told without trouble.
fn tell(errors: &Errors) {
    assert!(errors.iter().len() > 0);
    for mistake in errors {
        assert!(mistake.line() >= 1 && mistake.column() >= 1);
        assert!(!mistake.message().is_empty());
    }
    assert!(!errors.plain().is_empty());
    assert!(!errors.graphical(false, 80).is_empty());
}

proptest! {
    #[test]
    fn no_text_makes_the_reader_panic(text in any_text(), set in "\\PC{0,30}", key in "[a-z.0-9]{1,12}=\\PC{0,12}") {
        for set in [Vec::new(), vec![set.clone()], vec![key]] {
            let overrides = Overrides { set, tags: Vec::new() };
            if let Err(errors) = Plan::parse("t.toml", &text, &overrides) {
                tell(&errors);
            }
        }
    }

    #[test]
    fn a_plan_that_is_read_is_complete(text in mutated()) {
        if let Ok(plan) = Plan::parse("t.toml", &text, &Overrides::default()) {
            prop_assert!(plan.points().len() <= MOST_POINTS);
            for (index, point) in plan.points().iter().enumerate() {
                prop_assert_eq!(point.index, index);
                prop_assert!(plan.phases[point.phase].points.contains(&index));
                for workload in point.workloads() {
                    prop_assert!(faults(workload).iter().all(|fault| fault.caution));
                }
            }
            let _ = plan.estimate();
        }
    }

    #[test]
    fn what_is_stored_of_a_workload_stands_under_the_keys_of_a_plan(workload in arbitrary::workload()) {
        let texts = workload.texts();
        let stored: Vec<&str> = texts.iter().map(|(key, _)| *key).collect();
        let mut keys: Vec<&str> = WORKLOAD.iter().map(|entry| entry.doc.key).collect();
        keys.retain(|key| workload.text(key).is_some());
        prop_assert_eq!(stored, keys);
        let stored = serde_json::to_string(&workload).unwrap();
        prop_assert_eq!(serde_json::from_str::<Workload>(&stored).unwrap(), workload.kept());
        let said: BTreeMap<&str, String> = workload.texts().into_iter().collect();
        let said = serde_json::to_string(&said).unwrap();
        prop_assert_eq!(serde_json::from_str::<Workload>(&said).unwrap(), workload.kept());
    }

    #[test]
    fn the_texts_of_a_workload_read_back_to_it(workload in arbitrary::workload()) {
        let texts = workload.texts();
        let pairs = texts.iter().map(|(key, text)| (*key, text.as_str()));
        prop_assert_eq!(from_texts("any", pairs).unwrap(), workload);
    }

    /// `check` must stand any workload, also one that no plan could have said.
    #[test]
    fn faults_are_found_without_panic(workload in arbitrary::workload()) {
        let _ = faults(&workload);
    }
}

#[test]
fn texts_are_what_the_command_line_takes() {
    let plan = ready::find("oltp").unwrap().plan(&Overrides::default()).unwrap();
    let wanted = &plan.points()[3].workloads()[0];
    // `pace` and the phase-wide times included: all of them through `--set`.
    let set: Vec<String> = wanted
        .texts()
        .iter()
        .map(
            |(key, text)| {
                if *key == "seed" { format!("phase.1.seed={text}") } else { format!("{key}={text}") }
            },
        )
        .collect();
    let again = Plan::parse("t.toml", "[[phase]]\n", &Overrides { set, tags: Vec::new() }).unwrap();
    assert_eq!(&again.points()[0].workloads()[0], wanted);
}
