//! What is saved comes back the same.

use library::{Filter, LibraryError};
use record::{Finding, Severity};

use crate::{Shelf, run, same};

#[test]
fn a_saved_run_comes_back_the_same() {
    let shelf = Shelf::new();
    let saved = run(1);
    assert_eq!(shelf.open().save(&saved).unwrap(), 1);
    same(&shelf.open().get("last").unwrap(), &saved);
}

#[test]
fn unicode_survives_in_every_text() {
    let shelf = Shelf::new();
    let mut saved = run(1);
    saved.tags.insert("Gehäuse".into(), "“links” \u{1F4BE} \\ \" \n \0 end".into());
    saved.targets[0].asked = "/mnt/данные/数据".into();
    saved.plan.name = "prüfung".into();
    let mut library = shelf.open();
    library.save(&saved).unwrap();
    same(&library.get("last").unwrap(), &saved);
    let entry = library.find("last").unwrap();
    assert_eq!((entry.tags, entry.targets), (saved.tags, vec!["/mnt/данные/数据".to_owned()]));
}

#[test]
fn saving_again_replaces_and_keeps_the_number() {
    let shelf = Shelf::new();
    let mut library = shelf.open();
    let mut growing = run(1);
    growing.ended = None;
    growing.ending.complete = false;
    let number = library.save(&growing).unwrap();
    library.save(&run(2)).unwrap();
    let finished = run(1);
    assert_eq!(library.save(&finished).unwrap(), number);
    assert_eq!(library.list(&Filter::default()).unwrap().len(), 2);
    same(&library.get(finished.id.as_str()).unwrap(), &finished);
    assert!(library.find(finished.id.as_str()).unwrap().complete);
}

#[test]
fn the_line_of_a_run_says_what_its_record_says() {
    let shelf = Shelf::new();
    let mut library = shelf.open();
    let mut saved = run(1);
    let finding = |severity| Finding {
        code: "x".into(),
        severity,
        sentence: "s".into(),
        remedy: String::new(),
        numbers: Default::default(),
        point: None,
    };
    saved.findings =
        [Severity::Note, Severity::Warning, Severity::Warning, Severity::Invalid].map(finding).into();
    saved.ending = record::Ending { complete: false, code: 130, reason: "interrupted".into() };
    library.save(&saved).unwrap();
    let entry = library.find("last").unwrap();
    assert_eq!((entry.warnings, entry.invalid, entry.points), (2, 1, 1));
    assert_eq!((entry.complete, entry.code, entry.reason.as_str()), (false, 130, "interrupted"));
    assert_eq!(entry.peak_ops_per_s, Some(1_000.0));
    assert_eq!(entry.peak_bytes_per_s, Some(4_096_000.0));
    assert_eq!(entry.json_bytes as usize, library.json("last").unwrap().len());
}

#[test]
fn a_run_that_could_not_be_read_back_is_refused_and_nothing_is_saved() {
    let shelf = Shelf::new();
    let mut library = shelf.open();
    let mut broken = run(1);
    broken.points[0].workloads[0].mean_in_flight = f64::NAN;
    let error = library.save(&broken).unwrap_err();
    assert!(matches!(error, LibraryError::Unreadable { .. }), "{error}");
    assert_eq!(library.list(&Filter::default()).unwrap(), []);
}

#[test]
fn the_space_of_removed_runs_is_given_back() {
    let shelf = Shelf::new();
    let mut library = shelf.open();
    for second in 0..50 {
        library.save(&run(second)).unwrap();
    }
    drop(library);
    let full = std::fs::metadata(shelf.path()).unwrap().len();
    shelf.open().prune(&library::Keep { newest: 1, since: None }).unwrap();
    let left = std::fs::metadata(shelf.path()).unwrap().len();
    assert!(left * 5 < full, "{left} of {full} bytes left");
}
