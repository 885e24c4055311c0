//! Several processes and threads use one file at once.

use std::collections::BTreeSet;
use std::process::{Command, Stdio};

use library::{Filter, Library};

use crate::{on_each, run, same};

const SHARED: &str = "FATHOM_TEST_SHARED_LIBRARY";
const FIRST: &str = "FATHOM_TEST_FIRST_RUN";
const PROCESSES: u32 = 8;
const EACH: u32 = 25;

#[test]
#[ignore = "started by `processes_that_save_at_once_lose_nothing`"]
fn a_process_that_saves() {
    let (Some(path), Ok(first)) = (std::env::var_os(SHARED), std::env::var(FIRST)) else { return };
    let first: u32 = first.parse().expect("the parent gives a number");
    let mut library =
        Library::open(&std::path::PathBuf::from(path).into()).expect("it can be opened while others make it");
    for second in first..first + EACH {
        library.save(&run(second)).expect("writers wait for each other");
        library.get(run(second).id.as_str()).expect("what was saved is there");
    }
}

#[test]
fn processes_that_save_at_once_lose_nothing() {
    on_each(|shelf| {
        let start = |number: u32| {
            Command::new(std::env::current_exe().unwrap())
                .args(["--ignored", "--exact", "sharing::a_process_that_saves"])
                .env(SHARED, shelf.name())
                .env(FIRST, (number * EACH).to_string())
                .stdout(Stdio::piped())
                .spawn()
                .unwrap()
        };
        // None of them finds the file: they also race to make it.
        let children: Vec<_> = (0..PROCESSES).map(start).collect();
        for child in children {
            let output = child.wait_with_output().unwrap();
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
        }
        let library = shelf.open();
        assert_eq!(library.check().unwrap(), [] as [String; 0]);
        let entries = library.list(&Filter::default()).unwrap();
        let numbers: BTreeSet<i64> = entries.iter().map(|entry| entry.number).collect();
        assert_eq!(numbers.len(), entries.len(), "no number is given twice");
        assert_eq!(entries.len(), (PROCESSES * EACH) as usize);
        for second in 0..PROCESSES * EACH {
            same(&library.get(run(second).id.as_str()).unwrap(), &run(second));
        }
    });
}

#[test]
fn a_reader_does_not_wait_for_a_writer_in_the_middle_of_its_work() {
    on_each(|shelf| {
        shelf.open().save(&run(1)).unwrap();
        let writing = shelf.writing("DELETE FROM runs");
        same(&shelf.open().get("last").unwrap(), &run(1));
        drop(writing);
    });
}
