//! The tables, and how a file of an older version becomes one of today's.
//!
//! **Invariant:** `user_version` is the number of steps done; a step, once published, is never changed.

use rusqlite::{Connection, Transaction, TransactionBehavior};
use units::convert::narrow;

use crate::entry::COLUMNS;

/// Tells a library from any other SQLite file: "FTHM".
pub(crate) const APPLICATION_ID: i64 = 0x4654_484D;

/// What each version added. `tags` is a JSON object, `targets` a JSON array of texts. `checksum` is a function of
/// [`checksum`](crate::checksum).
///
/// The records lie in a table of their own, so that a walk over `runs` touches none of their pages, and their points in
/// another, so that a run that grows by a point is not written anew. What a judge says of the points comes last of all
/// and lies beside the record.
pub(crate) const STEPS: [&str; 4] = [
    "
    CREATE TABLE runs (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        id TEXT NOT NULL UNIQUE,
        started TEXT NOT NULL,
        ended TEXT,
        plan TEXT NOT NULL,
        world TEXT NOT NULL,
        hostname TEXT NOT NULL,
        targets TEXT NOT NULL,
        tags TEXT NOT NULL,
        points INTEGER NOT NULL,
        peak_ops_per_s REAL,
        peak_bytes_per_s REAL,
        warnings INTEGER NOT NULL,
        invalid INTEGER NOT NULL,
        complete INTEGER NOT NULL,
        code INTEGER NOT NULL,
        reason TEXT NOT NULL,
        json_bytes INTEGER NOT NULL
    ) STRICT;
    CREATE INDEX runs_by_time ON runs (started, number);
    CREATE TABLE records (
        number INTEGER PRIMARY KEY REFERENCES runs ON DELETE CASCADE,
        json TEXT NOT NULL
    ) STRICT;
",
    "
    ALTER TABLE runs ADD COLUMN grade TEXT;
",
    // Records saved before hold their points themselves; those saved since hold none.
    "
    CREATE TABLE points (
        run INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE,
        position INTEGER NOT NULL,
        json TEXT NOT NULL
    ) STRICT;
    CREATE UNIQUE INDEX points_by_run ON points (run, position);
    ALTER TABLE records ADD COLUMN verdicts TEXT;
",
    // Every row has a sum, and how many runs there are is known, so that a row that is gone is missed. Runs are in the
    // order of their numbers.
    "
    ALTER TABLE runs ADD COLUMN sum INTEGER;
    ALTER TABLE records ADD COLUMN sum INTEGER;
    ALTER TABLE points ADD COLUMN sum INTEGER;
    UPDATE runs SET sum = checksum(number, id, started, ended, plan, world, hostname, targets, tags, points,
        peak_ops_per_s, peak_bytes_per_s, warnings, invalid, complete, code, reason, json_bytes, grade);
    UPDATE records SET sum = checksum(number, json, verdicts);
    UPDATE points SET sum = checksum(run, position, json);
    CREATE TABLE tally (runs INTEGER NOT NULL) STRICT;
    INSERT INTO tally SELECT count(*) FROM runs;
    CREATE TRIGGER run_added AFTER INSERT ON runs BEGIN UPDATE tally SET runs = runs + 1; END;
    CREATE TRIGGER run_removed AFTER DELETE ON runs BEGIN UPDATE tally SET runs = runs - 1; END;
    DROP INDEX runs_by_time;
",
];

/// What shows a file of the older version `found` as one of today's, for a connection that must not change it: views
/// that take the places of its tables, in memory.
pub(crate) fn views(found: i64) -> String {
    assert!((1..narrow(STEPS.len())).contains(&found), "only older versions are shown as today's");
    let grade = if found < 2 { "NULL AS grade" } else { "grade" };
    let verdicts = if found < 3 { "NULL AS verdicts" } else { "verdicts" };
    let points = match found {
        ..3 => "SELECT 0 AS run, 0 AS position, '' AS json WHERE 0",
        _ => "SELECT run, position, json FROM main.points",
    };
    let ungraded = COLUMNS.trim_end_matches("grade");
    format!(
        "PRAGMA temp_store = MEMORY;
         CREATE TEMP VIEW runs AS SELECT *, checksum({COLUMNS}) AS sum FROM (SELECT {ungraded}{grade} FROM main.runs);
         CREATE TEMP VIEW records AS SELECT *, checksum(number, json, verdicts) AS sum
             FROM (SELECT number, json, {verdicts} FROM main.records);
         CREATE TEMP VIEW points AS SELECT *, checksum(run, position, json) AS sum FROM ({points});
         CREATE TEMP VIEW tally AS SELECT count(*) AS runs FROM main.runs;"
    )
}

/// What a file is, judged by its header alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Nothing is in it yet.
    Empty,
    /// A library of that version.
    Library(i64),
    /// Somebody else's data.
    Foreign,
}

/// What the file of `connection` is.
pub(crate) fn kind(connection: &Connection) -> rusqlite::Result<Kind> {
    let number = |pragma: &str| connection.pragma_query_value(None, pragma, |row| row.get::<_, i64>(0));
    let tables: i64 = connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    Ok(match (number("application_id")?, tables) {
        (APPLICATION_ID, _) => Kind::Library(number("user_version")?),
        (0, 0) => Kind::Empty,
        _ => Kind::Foreign,
    })
}

/// Does the `steps` that the file has not seen, all of them or none.
///
/// Waits for another process that does the same, and then finds nothing left to do. Returns the version the
/// file had, if that is newer than `steps`.
pub(crate) fn migrate(connection: &mut Connection, steps: &[&str]) -> rusqlite::Result<Option<i64>> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let found: i64 = transaction.pragma_query_value(None, "user_version", |row| row.get(0))?;
    let done = usize::try_from(found).unwrap_or(0);
    if done > steps.len() {
        return Ok(Some(found));
    }
    carry_out(&transaction, &steps[done..])?;
    transaction.pragma_update(None, "user_version", narrow::<i64>(steps.len()))?;
    transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
    transaction.commit()?;
    Ok(None)
}

fn carry_out(transaction: &Transaction<'_>, steps: &[&str]) -> rusqlite::Result<()> {
    steps.iter().try_for_each(|step| transaction.execute_batch(step))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_of_every_older_version_is_shown_as_one_of_today_without_a_change() {
        for found in 1..STEPS.len() {
            let mut connection = Connection::open_in_memory().unwrap();
            crate::checksum::register(&connection).unwrap();
            migrate(&mut connection, &STEPS[..found]).unwrap();
            let put = "INSERT INTO runs (id, started, plan, world, hostname, targets, tags, points, warnings, invalid,
                           complete, code, reason, json_bytes) VALUES ('a', 'b', 'c', 'd', 'e', '[]', '{}', 0, 0, 0, 1, 0,
                           'f', 9);
                       INSERT INTO records (number, json) VALUES (1, '{}');";
            connection.execute_batch(put).unwrap();
            // What each version added.
            let (mut grade, mut verdicts, mut points) = (None, None, 0);
            if found >= 2 {
                connection.execute_batch("UPDATE runs SET grade = 'B'").unwrap();
                grade = Some("B".to_owned());
            }
            if found >= 3 {
                let put = "UPDATE records SET verdicts = '[]';
                           INSERT INTO points (run, position, json) VALUES (1, 0, '{}');";
                connection.execute_batch(put).unwrap();
                (verdicts, points) = (Some("[]".to_owned()), 1);
            }
            connection.execute_batch(&views(narrow::<i64>(found))).unwrap();
            connection.pragma_update(None, "query_only", true).unwrap();
            let of_runs = format!("SELECT grade, sum IS checksum({COLUMNS}) FROM runs");
            let row = connection.query_row(&of_runs, [], |row| Ok((row.get(0)?, row.get(1)?)));
            assert_eq!(row, Ok((grade, true)), "version {found}");
            let of_rest = "SELECT verdicts, sum IS checksum(number, json, verdicts),
                               (SELECT count(*) FROM points), (SELECT runs FROM tally) FROM records";
            let row = connection
                .query_row(of_rest, [], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)));
            assert_eq!(row, Ok((verdicts, true, points, 1)), "version {found}");
        }
    }

    fn version(connection: &Connection) -> i64 {
        connection.pragma_query_value(None, "user_version", |row| row.get(0)).unwrap()
    }

    #[test]
    fn an_older_file_gets_the_steps_it_lacks_and_keeps_its_rows() {
        let mut connection = Connection::open_in_memory().unwrap();
        let first = "CREATE TABLE t (a INTEGER); INSERT INTO t VALUES (7);";
        let second = "ALTER TABLE t ADD COLUMN b INTEGER DEFAULT 8;";
        assert_eq!(migrate(&mut connection, &[first]), Ok(None));
        assert_eq!(migrate(&mut connection, &[first, second]), Ok(None));
        // Another process may have done it meanwhile.
        assert_eq!(migrate(&mut connection, &[first, second]), Ok(None));
        let row = connection.query_row("SELECT a, b FROM t", [], |row| Ok((row.get(0)?, row.get(1)?)));
        assert_eq!(row, Ok((7, 8)));
        assert_eq!(version(&connection), 2);
    }

    #[test]
    fn a_step_that_fails_leaves_the_file_as_it_was() {
        let mut connection = Connection::open_in_memory().unwrap();
        let first = "CREATE TABLE t (a INTEGER);";
        migrate(&mut connection, &[first]).unwrap();
        let broken = "CREATE TABLE u (a INTEGER); INSERT INTO nowhere VALUES (1);";
        assert!(migrate(&mut connection, &[first, broken]).is_err());
        assert_eq!(version(&connection), 1);
        assert!(connection.prepare("SELECT * FROM u").is_err());
    }

    #[test]
    fn a_newer_file_is_left_alone_and_tells_its_version() {
        let mut connection = Connection::open_in_memory().unwrap();
        connection.pragma_update(None, "user_version", 9).unwrap();
        assert_eq!(migrate(&mut connection, &STEPS), Ok(Some(9)));
        assert_eq!(version(&connection), 9);
    }
}
