//! A run is found by every name a user may give it.

use std::time::Duration;

use library::{Filter, Library, LibraryError, Selector};
use units::convert::narrow;

use crate::{Shelf, as_version_3, on_each, run, same};

fn three(shelf: &Shelf) -> Library {
    let mut library = shelf.open();
    // The clock was set back before the second: the order is that in which they were saved.
    for second in [20, 10, 30] {
        library.save(&run(second)).unwrap();
    }
    library
}

fn ids(library: &Library, filter: &Filter) -> Vec<String> {
    library.list(filter).unwrap().into_iter().map(|entry| entry.id).collect()
}

#[test]
fn last_and_those_before_it_go_by_the_order_in_which_they_were_saved_whatever_the_clock_said() {
    on_each(|shelf| {
        let library = three(shelf);
        same(&library.get("last").unwrap(), &run(30));
        same(&library.get("last~1").unwrap(), &run(10));
        same(&library.get("last~2").unwrap(), &run(20));
        assert_eq!(ids(&library, &Filter::default()), [run(30).id, run(10).id, run(20).id]);
        let error = library.get("last~3").unwrap_err().to_string();
        assert!(error.contains("`last~3`") && error.contains("there are 3 runs"), "{error}");
    });
}

#[test]
fn a_number_an_id_and_the_beginning_of_an_id_name_a_run() {
    on_each(|shelf| {
        let library = three(shelf);
        same(&library.get("2").unwrap(), &run(10));
        same(&library.get("20260102-000010-000a").unwrap(), &run(10));
        same(&library.get("20260102-00001").unwrap(), &run(10));
    });
}

#[test]
fn a_beginning_that_several_share_is_refused_with_their_ids() {
    on_each(|shelf| {
        let library = three(shelf);
        match library.get("20260102").unwrap_err() {
            LibraryError::Ambiguous { candidates, .. } => assert_eq!(candidates.len(), 3),
            other => panic!("{other}"),
        }
        assert!(matches!(library.get("").unwrap_err(), LibraryError::Ambiguous { .. }));
    });
}

#[test]
fn nothing_names_no_run_even_where_there_is_only_one() {
    on_each(|shelf| {
        let mut library = shelf.open();
        library.save(&run(1)).unwrap();
        for asked in ["", "  ", "0", "#0", "-1", "last~1", "last~18446744073709551615", "9223372036854775807"]
        {
            let error = library.get(asked).unwrap_err();
            assert!(matches!(error, LibraryError::NoSuchRun { .. }), "{asked:?}: {error}");
            assert!(error.to_string().contains("there is one run"), "{error}");
        }
    });
}

#[test]
fn wildcards_of_sql_are_only_letters() {
    on_each(|shelf| {
        let library = three(shelf);
        for asked in ["%", "_", "20260102-0000_0", "' OR 1 --"] {
            assert!(matches!(library.get(asked).unwrap_err(), LibraryError::NoSuchRun { .. }), "{asked}");
        }
    });
}

#[test]
fn an_empty_library_says_that_it_is_empty() {
    on_each(|shelf| {
        let error = shelf.open().get("last").unwrap_err().to_string();
        assert!(error.contains("is empty"), "{error}");
    });
}

#[test]
fn a_list_is_filtered_by_plan_target_label_time_and_count() {
    on_each(|shelf| {
        let mut library = three(shelf);
        let mut special = run(40);
        special.plan.name = "oltp".into();
        special.targets[0].address = "/dev/sdb".into();
        special.tags.insert("firmware".into(), "2.1".into());
        library.save(&special).unwrap();
        let only = vec![special.id.clone()];
        assert_eq!(ids(&library, &Filter { plan: Some("oltp".into()), ..Filter::default() }), only);
        assert_eq!(ids(&library, &Filter { target: Some("sdb".into()), ..Filter::default() }), only);
        assert_eq!(ids(&library, &Filter { limit: Some(1), ..Filter::default() }), only);
        assert_eq!(
            ids(&library, &Filter { since: Some("2026-01-02T00:00:40Z".into()), ..Filter::default() }),
            only
        );
        assert_eq!(ids(&library, &Filter { since: Some("2026-01-03".into()), ..Filter::default() }).len(), 0);
        let tagged = |value: Option<&str>| Filter {
            tags: vec![("firmware".into(), value.map(str::to_owned))],
            limit: Some(5),
            ..Filter::default()
        };
        assert_eq!(ids(&library, &tagged(Some("2.1"))), only);
        assert_eq!(ids(&library, &tagged(None)), only);
        assert_eq!(ids(&library, &tagged(Some("2"))).len(), 0);
        assert_eq!(ids(&library, &Filter::default()).len(), 4);
    });
}

#[test]
fn removing_takes_all_that_were_named_or_none() {
    on_each(|shelf| {
        let mut library = three(shelf);
        let error = library.remove(&[Selector::from("last"), Selector::from("99")]).unwrap_err();
        assert!(matches!(error, LibraryError::NoSuchRun { .. }), "{error}");
        assert_eq!(ids(&library, &Filter::default()).len(), 3);
        assert_eq!(
            library.remove(&[Selector::from("last"), Selector::from("2")]).unwrap(),
            [run(30).id, run(10).id]
        );
        assert_eq!(ids(&library, &Filter::default()), [run(20).id]);
    });
}

#[test]
fn a_number_is_never_given_twice() {
    on_each(|shelf| {
        let mut library = three(shelf);
        library.remove(&[Selector::Number(3)]).unwrap();
        assert_eq!(library.save(&run(50)).unwrap(), 4);
    });
}

#[test]
fn ten_thousand_runs_are_listed_and_searched_within_a_second() {
    let shelf = Shelf::new();
    let mut library = shelf.open();
    library.save(&run(0)).unwrap();
    drop(library);
    let connection = as_version_3(&shelf);
    let copies = "
        WITH RECURSIVE n(i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < 10000)
        INSERT INTO runs SELECT i, printf('copy-%05d', i), printf('2026-02-%05d', i), ended, plan, world, hostname,
            targets, '{\"k\":\"v\"}', points, peak_ops_per_s, peak_bytes_per_s, warnings, invalid, complete, code,
            reason, json_bytes, grade FROM n, runs WHERE number = 1;
        INSERT INTO records (number, json)
            SELECT runs.number, substr(records.json, 1, 2000) FROM runs, records WHERE runs.number > 1;";
    connection.execute_batch(copies).unwrap();
    drop(connection);
    // Brought up to date, each has its checksums.
    let library = shelf.open();
    let began = quick_clock();
    assert_eq!(library.list(&Filter::default()).unwrap().len(), 10_000);
    let tagged = Filter {
        tags: vec![("k".into(), Some("v".into()))],
        target: Some("array".into()),
        ..Filter::default()
    };
    assert_eq!(library.list(&tagged).unwrap().len(), 9_999);
    assert!(matches!(library.find("copy-07").unwrap_err(), LibraryError::Ambiguous { .. }));
    assert_eq!(library.find("last~9999").unwrap().number, 1);
    assert_eq!(library.find("last").unwrap().number, 10_000);
    let took = quick_clock() - began;
    assert!(took < Duration::from_secs(10), "took {took:?}");
}

/// Processor time of this thread, which no other test slows down.
fn quick_clock() -> Duration {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is a valid timespec for the call to fill in.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) };
    Duration::new(narrow::<u64>(time.tv_sec), narrow::<u32>(time.tv_nsec))
}
