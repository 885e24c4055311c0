//! Runs are kept whole, found again by every name, and shared by several processes.

#![expect(clippy::unwrap_used, reason = "a test that meets an error has failed")]

mod damage;
#[path = "../../../tests/support/draws.rs"]
mod draws;
mod finding;
mod full;
mod killing;
mod namespace;
mod opening;
mod saving;
mod sharing;
#[path = "../../../tests/support/skip.rs"]
mod skip;

use std::path::PathBuf;

use library::Library;
use record::Run;
use record::sample::{self, Stream};
use tempfile::TempDir;

/// A library in a folder of its own, removed with the test.
pub(crate) struct Shelf {
    folder: TempDir,
}

impl Shelf {
    /// In a fresh folder; the file is not made yet.
    pub(crate) fn new() -> Shelf {
        Shelf { folder: tempfile::tempdir().expect("the test has a temporary folder") }
    }

    /// The file.
    pub(crate) fn path(&self) -> PathBuf {
        self.folder.path().join("fathom/runs.sqlite")
    }

    /// The library in it.
    pub(crate) fn open(&self) -> Library {
        Library::open(&self.path()).expect("the folder can be written")
    }
}

/// The library of `shelf` as an older program left it, which knew no checksums. Nobody may have it open.
pub(crate) fn as_version_3(shelf: &Shelf) -> rusqlite::Connection {
    let connection = rusqlite::Connection::open(shelf.path()).unwrap();
    let down = "DROP TRIGGER run_added; DROP TRIGGER run_removed; DROP TABLE tally;
                ALTER TABLE runs DROP COLUMN sum; ALTER TABLE records DROP COLUMN sum;
                ALTER TABLE points DROP COLUMN sum;
                CREATE INDEX runs_by_time ON runs (started, number); PRAGMA user_version = 3;";
    connection.execute_batch(down).unwrap();
    connection
}

/// Fails without printing two whole records.
pub(crate) fn same(found: &Run, expected: &Run) {
    assert!(found == expected, "run {} is not as it was saved", expected.id);
}

/// A run of one point, whose id and start follow from `second`.
pub(crate) fn run(second: u32) -> Run {
    let stream = Stream { op: "read", size_bytes: 4096, per_s: 1_000, median_ns: 90_000, spread: 0.4 };
    let mut run =
        sample::run("quick", vec![sample::point(0, "4k read", vec![sample::workload("a", &[stream])])]);
    let (minutes, seconds) = (second / 60, second % 60);
    let (hours, minutes) = (minutes / 60, minutes % 60);
    run.id = format!("20260102-{hours:02}{minutes:02}{seconds:02}-{second:04x}");
    run.started = format!("2026-01-02T{hours:02}:{minutes:02}:{seconds:02}Z");
    run
}
