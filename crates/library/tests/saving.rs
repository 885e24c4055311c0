//! What is saved comes back the same.

use library::{Durability, Filter, Kept, LibraryError, Selector};
use record::sample::{self, Stream};
use record::{Finding, Severity};
use units::convert::narrow;

use crate::{Shelf, as_version_3, on_each, remove_all_but, run, same};

#[test]
fn a_saved_run_comes_back_the_same() {
    on_each(|shelf| {
        let saved = run(1);
        assert_eq!(shelf.open().save(&saved).unwrap(), 1);
        same(&shelf.open().get("last").unwrap(), &saved);
    });
}

#[test]
fn unicode_survives_in_every_text() {
    on_each(|shelf| {
        let mut saved = run(1);
        saved.tags.insert("Gehäuse".into(), "“links” \u{1F4BE} \\ \" \n \0 end".into());
        saved.targets[0].address = "/mnt/данные/数据".into();
        saved.plan.name = "prüfung".into();
        let mut library = shelf.open();
        library.save(&saved).unwrap();
        same(&library.get("last").unwrap(), &saved);
        let entry = library.find("last").unwrap();
        assert_eq!((entry.tags, entry.targets), (saved.tags, vec!["/mnt/данные/数据".to_owned()]));
    });
}

#[test]
fn saving_again_replaces_and_keeps_the_number() {
    on_each(|shelf| {
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
    });
}

#[test]
fn the_line_of_a_run_says_what_its_record_says() {
    on_each(|shelf| {
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
        assert_eq!((entry.warnings, entry.invalid, entry.points), (1, 1, 1), "two of one kind");
        assert_eq!((entry.complete, entry.code, entry.reason.as_str()), (false, 130, "interrupted"));
        assert_eq!(entry.peak_ops_per_s, Some(1_000.0));
        assert_eq!(entry.peak_bytes_per_s, Some(4_096_000.0));
        let whole = serde_json::to_string(&saved).unwrap().len();
        assert!(
            narrow::<usize>(entry.json_bytes).abs_diff(whole) < whole / 10,
            "{} of {whole}",
            entry.json_bytes
        );
    });
}

/// A run of so many points, each with another rate.
fn of_points(count: u32) -> record::Run {
    let stream = |index: u32| Stream {
        op: "read",
        size_bytes: 4096,
        per_s: 1_000 + u64::from(index * 7 % 5),
        median_ns: 100_000,
        spread: 0.0,
    };
    let point = |index| sample::point(index, "p", vec![sample::workload("a", &[stream(index)])]);
    sample::run("grows", (0..count).map(point).collect())
}

#[test]
fn a_run_that_grows_is_whole_after_each_point_and_after_it_is_judged() {
    on_each(|shelf| {
        let mut library = shelf.open();
        let whole = of_points(7);
        let mut growing = record::Run { ended: None, ..whole.without_points() };
        let mut kept = Kept::default();
        for point in &whole.points {
            growing.points.push(point.clone());
            library.extend(&growing, &mut kept, Durability::Later).unwrap();
            same(&shelf.open().get("last").unwrap(), &growing);
            assert_eq!(narrow::<usize>(library.find("last").unwrap().points), growing.points.len());
        }
        growing.ended = whole.ended.clone();
        growing.points[3].generator_saturated = true;
        growing.points[5].grading = Some(record::Grading { grade: record::Grade::B, checks: Vec::new() });
        library.extend(&growing, &mut kept, Durability::Now).unwrap();
        same(&shelf.open().get("last").unwrap(), &growing);
        let (grown, entry) = (library.find("last").unwrap(), record::Entry::of(&whole, 0));
        assert_eq!((grown.points, grown.peak_ops_per_s), (7, entry.peak_ops_per_s));
        assert_eq!(library.list(&Filter::default()).unwrap().len(), 1);
        // What is saved whole under the same id takes the place of all of it.
        let shorter = record::Run { id: whole.id.clone(), ..of_points(2) };
        library.save(&shorter).unwrap();
        same(&shelf.open().get("last").unwrap(), &shorter);
        library.remove(&[Selector::from("last")]).unwrap();
        assert_eq!(shelf.number("SELECT count(*) FROM points"), 0);
    });
}

#[test]
fn a_run_that_was_removed_while_it_grew_is_saved_whole_again() {
    on_each(|shelf| {
        let mut library = shelf.open();
        let whole = of_points(3);
        let mut growing = whole.without_points();
        let mut kept = Kept::default();
        for (number, point) in whole.points.iter().enumerate() {
            growing.points.push(point.clone());
            library.extend(&growing, &mut kept, Durability::Later).unwrap();
            if number == 1 {
                shelf.open().remove(&[Selector::from("last")]).unwrap();
            }
        }
        same(&shelf.open().get("last").unwrap(), &whole);
    });
}

#[test]
fn a_point_that_is_kept_as_far_as_it_has_come_is_replaced_by_what_becomes_of_it_or_goes_with_it() {
    on_each(|shelf| {
        let mut library = shelf.open();
        let whole = of_points(3);
        let mut growing = whole.without_points();
        let mut kept = Kept::default();
        for point in &whole.points[..2] {
            let young = record::Point { complete: false, series: Vec::new(), ..point.clone() };
            growing.points.push(young);
            library.extend(&growing, &mut kept.clone(), Durability::Now).unwrap();
            same(&shelf.open().get("last").unwrap(), &growing);
            growing.points.pop();
            growing.points.push(point.clone());
            library.extend(&growing, &mut kept, Durability::Now).unwrap();
            same(&shelf.open().get("last").unwrap(), &growing);
        }
        // The third one fails.
        growing.points.push(whole.points[2].clone());
        library.extend(&growing, &mut kept.clone(), Durability::Now).unwrap();
        growing.points.pop();
        library.extend(&growing, &mut kept, Durability::Now).unwrap();
        same(&shelf.open().get("last").unwrap(), &growing);
        assert_eq!(library.check().unwrap(), [] as [String; 0]);
    });
}

#[test]
fn what_a_point_adds_does_not_grow_with_the_points_before_it() {
    let shelf = Shelf::new();
    let mut library = shelf.open();
    let whole = of_points(40);
    let mut growing = whole.without_points();
    let mut kept = Kept::default();
    let mut frames = Vec::new();
    for point in &whole.points {
        growing.points.push(point.clone());
        // Emptied, the journal holds what one save writes.
        rusqlite::Connection::open(shelf.path())
            .and_then(|connection| connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())))
            .unwrap();
        library.extend(&growing, &mut kept, Durability::Later).unwrap();
        frames.push(std::fs::metadata(shelf.path().with_extension("sqlite-wal")).unwrap().len());
    }
    let (early, late) = (frames[5..10].iter().max(), frames[35..].iter().max());
    assert!(late.unwrap() <= &(early.unwrap() * 3 / 2), "{frames:?}");
}

#[test]
fn a_run_of_an_older_library_keeps_its_points() {
    let shelf = Shelf::new();
    let old = of_points(3);
    shelf.open().save(&old).unwrap();
    let connection = as_version_3(&shelf);
    connection.execute("UPDATE records SET json = ?1", [serde_json::to_string(&old).unwrap()]).unwrap();
    let down = "DROP TABLE points; ALTER TABLE records DROP COLUMN verdicts; PRAGMA user_version = 2;";
    connection.execute_batch(down).unwrap();
    drop(connection);
    same(&shelf.open().get("last").unwrap(), &old);
}

#[test]
fn a_run_that_could_not_be_read_back_is_refused_and_nothing_is_saved() {
    on_each(|shelf| {
        let mut library = shelf.open();
        let mut broken = run(1);
        broken.points[0].workloads[0].mean_in_flight = f64::NAN;
        let error = library.save(&broken).unwrap_err();
        assert!(matches!(error, LibraryError::Unreadable { .. }), "{error}");
        assert_eq!(library.list(&Filter::default()).unwrap(), []);
    });
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
    remove_all_but(1, &mut shelf.open());
    let left = std::fs::metadata(shelf.path()).unwrap().len();
    assert!(left * 5 < full, "{left} of {full} bytes left");
}

#[test]
fn runs_are_removed_from_a_file_that_cannot_give_space_back() {
    let shelf = Shelf::new();
    let mut library = shelf.open();
    for second in 0..5 {
        library.save(&run(second)).unwrap();
    }
    drop(library);
    let connection = rusqlite::Connection::open(shelf.path()).unwrap();
    // SQLite changes that only with its older journal.
    connection.execute_batch("PRAGMA journal_mode = DELETE; PRAGMA auto_vacuum = NONE; VACUUM").unwrap();
    connection.close().unwrap();
    remove_all_but(1, &mut shelf.open());
    let connection = rusqlite::Connection::open(shelf.path()).unwrap();
    let unused: i64 = connection.pragma_query_value(None, "freelist_count", |row| row.get(0)).unwrap();
    assert!(unused > 0, "nothing was given back");
    assert_eq!(shelf.open().list(&Filter::default()).unwrap().len(), 1);
}
