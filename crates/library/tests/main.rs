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
#[path = "../../../tests/support/postgres.rs"]
mod postgres;
mod saving;
mod server;
mod sharing;
#[path = "../../../tests/support/skip.rs"]
mod skip;

use std::any::Any;
use std::path::PathBuf;

use library::{Filter, Library, Location, Selector};
use record::Run;
use record::sample::{self, Stream};
use tempfile::TempDir;

use crate::postgres::Postgres;

/// A library of its own, in a file that is removed with it or on a server.
pub(crate) struct Shelf {
    place: Location,
    folder: Option<TempDir>,
    /// On the server, the name of the database.
    database: String,
}

impl Shelf {
    /// In a fresh folder; the file is not made yet.
    pub(crate) fn new() -> Shelf {
        let folder = tempfile::tempdir().expect("the test has a temporary folder");
        let place = Location::File(folder.path().join("fathom/runs.sqlite"));
        Shelf { place, folder: Some(folder), database: String::new() }
    }

    /// In a fresh database; `None` where PostgreSQL is not installed.
    pub(crate) fn on_server() -> Option<Shelf> {
        let server = Postgres::shared()?;
        let database = server.database();
        let place = PathBuf::from(server.address("postgres", &database)).into();
        Some(Shelf { place, folder: None, database })
    }

    /// Where it is.
    pub(crate) fn place(&self) -> &Location {
        &self.place
    }

    /// The same as text.
    pub(crate) fn name(&self) -> String {
        self.place.to_string()
    }

    /// The file.
    pub(crate) fn path(&self) -> PathBuf {
        self.folder.as_ref().expect("it is a file").path().join("fathom/runs.sqlite")
    }

    /// The library in it.
    pub(crate) fn open(&self) -> Library {
        Library::open(&self.place).expect("it can be written")
    }

    /// Changes it past the library.
    pub(crate) fn sql(&self, sql: &str) {
        match &self.place {
            Location::File(path) => rusqlite::Connection::open(path).unwrap().execute_batch(sql).unwrap(),
            Location::Server(_) => drop(self.psql(sql)),
        }
    }

    /// The number that a query past the library gives.
    pub(crate) fn number(&self, sql: &str) -> i64 {
        match &self.place {
            Location::File(path) => {
                let connection = rusqlite::Connection::open(path).unwrap();
                connection.query_row(sql, [], |row| row.get(0)).unwrap()
            }
            Location::Server(_) => self.psql(sql).parse().unwrap(),
        }
    }

    /// What makes it forget to count runs that are removed.
    pub(crate) fn forgetting(&self) -> &'static str {
        match self.place {
            Location::File(_) => "DROP TRIGGER run_removed",
            Location::Server(_) => "DROP TRIGGER run_removed ON runs",
        }
    }

    /// Begins to change it past the library, as a writer in the middle of its work, which ends with what is returned.
    pub(crate) fn writing(&self, sql: &str) -> Box<dyn Any> {
        match &self.place {
            Location::File(path) => {
                let writer = rusqlite::Connection::open(path).unwrap();
                writer.execute_batch(&format!("BEGIN IMMEDIATE; {sql}")).unwrap();
                Box::new(writer)
            }
            Location::Server(_) => {
                let server = Postgres::shared().expect("it is on the server");
                let sql =
                    format!("SET search_path = fathom; BEGIN; LOCK TABLE tally IN EXCLUSIVE MODE; {sql}");
                Box::new(server.session(&self.database, &sql))
            }
        }
    }

    fn psql(&self, sql: &str) -> String {
        let server = Postgres::shared().expect("it is on the server");
        server.sql(&self.database, &format!("SET search_path = fathom; {sql}"))
    }
}

/// Runs `body` on a fresh library in a file, and on one on a server where PostgreSQL is installed.
pub(crate) fn on_each(body: impl Fn(&Shelf)) {
    body(&Shelf::new());
    Shelf::on_server().iter().for_each(body);
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

/// Removes all runs but the `newest` that were saved last.
pub(crate) fn remove_all_but(newest: usize, library: &mut Library) {
    let old = library.list(&Filter::default()).unwrap().into_iter().skip(newest);
    let old: Vec<Selector> = old.map(|entry| Selector::Number(entry.number)).collect();
    library.remove(&old).unwrap();
}
