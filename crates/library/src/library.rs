//! The library: save, find, list and remove.

use std::path::{Path, PathBuf};

use record::{Entry, Run};
use rusqlite::{Connection, OptionalExtension, Transaction, TransactionBehavior, params};

use crate::entry::{COLUMNS, from_row};
use crate::files;
use crate::growth::{Durability, Growth, Kept, Verdict};
use crate::{LibraryError, Selector};

/// An open library.
///
/// For one thread; another thread or process opens its own. Readers never wait; writers wait for each other.
#[derive(Debug)]
pub struct Library {
    path: PathBuf,
    connection: Connection,
    writable: bool,
}

/// Which runs to list. The default is all of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// Only of the plan of this name.
    pub plan: Option<String>,
    /// Only with a target whose name, as it was typed, contains this.
    pub target: Option<String>,
    /// Only with all of these labels; a label without a value matches any.
    pub tags: Vec<(String, Option<String>)>,
    /// Only started at this time or later: UTC, RFC 3339, of which the end may be left out (`2026-01-31`).
    pub since: Option<String>,
    /// Only so many, the newest of them.
    pub limit: Option<u64>,
}

/// Which runs a clean-up leaves.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Keep {
    /// The newest so many, however old.
    pub newest: u64,
    /// Everything started at this time or later: UTC, RFC 3339, of which the end may be left out.
    pub since: Option<String>,
}

/// The one order of runs, wherever there is a first and a last.
const NEWEST_FIRST: &str = "ORDER BY started DESC, number DESC";

impl Library {
    /// The library in the file at `path`, made where it is not there, brought up to date where it is older.
    ///
    /// A file that cannot be written is opened to be read; saving then says so. A file of a newer version or of
    /// another program is refused and left alone.
    pub fn open(path: &Path) -> Result<Library, LibraryError> {
        let opened = files::open(path)?;
        Ok(Library { path: path.into(), connection: opened.connection, writable: opened.writable })
    }

    /// Its file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether runs can be saved in it.
    pub fn is_writable(&self) -> bool {
        self.writable
    }

    /// Saves `run`, or replaces what was saved under its id, and returns the number by which `fathom ls` knows
    /// it. When this returns, the run is on storage.
    pub fn save(&mut self, run: &Run) -> Result<i64, LibraryError> {
        self.extend(run, &mut Kept::default(), Durability::Now)
    }

    /// Saves what `kept` lacks of `run`, all of it or nothing, and returns its number; `kept` is then up to date.
    ///
    /// Of points that are kept only what a judge says of them may have changed since. Costs as much as the new points
    /// are large, however many there are.
    pub fn extend(
        &mut self,
        run: &Run,
        kept: &mut Kept,
        durability: Durability,
    ) -> Result<i64, LibraryError> {
        let growth = Growth::of(run, kept)?;
        let durable = self.connection.pragma_update(None, "synchronous", durability.pragma());
        durable.map_err(|source| LibraryError::of(&self.path, "saving a run", source))?;
        let number = self.change("saving a run", |transaction| {
            let number = put_entry(transaction, &growth.entry)?;
            growth.put(transaction, number)?;
            Ok(number)
        })?;
        *kept = growth.kept();
        Ok(number)
    }

    /// The run that `selector` names: `last`, `last~2`, a number, an id or the beginning of one.
    pub fn get(&self, selector: impl Into<Selector>) -> Result<Run, LibraryError> {
        let entry = self.find(selector)?;
        let reading = |source| LibraryError::of(&self.path, "reading a run", source);
        let unreadable = |source| LibraryError::Record { id: entry.id.clone(), source };
        // Nothing that another process saves comes between the parts of a run.
        let one_look = self.connection.unchecked_transaction().map_err(reading)?;
        let (head, verdicts) = record_of(&one_look, entry.number).map_err(reading)?;
        let points = points_of(&one_look, entry.number).map_err(reading)?;
        let mut run = record::read(&head).map_err(unreadable)?;
        for json in points {
            run.points.push(serde_json::from_str(&json).map_err(|error| unreadable(error.into()))?);
        }
        if let Some(verdicts) = verdicts {
            let verdicts: Vec<Verdict> =
                serde_json::from_str(&verdicts).map_err(|error| unreadable(error.into()))?;
            run.points.iter_mut().zip(verdicts).for_each(|(point, verdict)| verdict.pass_on(point));
        }
        Ok(run)
    }

    /// The line of that run in the list.
    pub fn find(&self, selector: impl Into<Selector>) -> Result<Entry, LibraryError> {
        let selector = selector.into();
        match &selector {
            Selector::Last(back) => {
                let sql = format!("SELECT {COLUMNS} FROM runs {NEWEST_FIRST} LIMIT 1 OFFSET ?1");
                let back = i64::try_from(*back).unwrap_or(i64::MAX);
                self.first(&sql, back)?.ok_or_else(|| self.no_such_run(&selector))
            }
            Selector::Number(number) => {
                let by_number =
                    self.first(&format!("SELECT {COLUMNS} FROM runs WHERE number = ?1"), *number)?;
                by_number.map_or_else(|| self.by_prefix(&number.to_string()), Ok)
            }
            Selector::Id(id) => self.by_prefix(id),
        }
    }

    /// The runs that pass `filter`, the newest first. Reads no record.
    pub fn list(&self, filter: &Filter) -> Result<Vec<Entry>, LibraryError> {
        let mut conditions = vec!["1".to_owned()];
        let mut values: Vec<String> = Vec::new();
        let mut must = |condition: &str, value: &str| {
            values.push(value.into());
            conditions.push(condition.replace('?', &format!("?{}", values.len())));
        };
        if let Some(plan) = &filter.plan {
            must("plan = ?", plan);
        }
        if let Some(target) = &filter.target {
            must(
                "EXISTS (SELECT 1 FROM json_each(targets) AS target WHERE instr(target.value, ?) > 0)",
                target,
            );
        }
        if let Some(since) = &filter.since {
            must("started >= ?", since);
        }
        let limit = filter.limit.map_or(-1, |limit| i64::try_from(limit).unwrap_or(i64::MAX));
        let sql = format!("SELECT {COLUMNS} FROM runs WHERE {} {NEWEST_FIRST}", conditions.join(" AND "));
        let found = self.connection.prepare(&sql).and_then(|mut statement| {
            let rows = statement.query_map(rusqlite::params_from_iter(&values), from_row)?;
            let tagged =
                rows.filter(|entry| entry.as_ref().map_or(true, |entry| has_tags(entry, &filter.tags)));
            tagged.take(usize::try_from(limit).unwrap_or(usize::MAX)).collect::<Result<Vec<Entry>, _>>()
        });
        found.map_err(|source| LibraryError::of(&self.path, "listing the runs", source))
    }

    /// Removes the runs that `selectors` name, all of them or, where one is not found, none. Returns their ids.
    pub fn remove(&mut self, selectors: &[Selector]) -> Result<Vec<String>, LibraryError> {
        let found = selectors.iter().map(|selector| self.find(selector.clone()));
        let entries: Vec<Entry> = found.collect::<Result<_, _>>()?;
        self.remove_entries(&entries)
    }

    /// Removes every run that `keep` does not hold, and returns their ids, the newest first.
    pub fn prune(&mut self, keep: &Keep) -> Result<Vec<String>, LibraryError> {
        let all = self.list(&Filter::default())?;
        let old = |entry: &Entry| keep.since.as_ref().is_none_or(|since| entry.started < *since);
        let newest = usize::try_from(keep.newest).unwrap_or(usize::MAX);
        let entries: Vec<Entry> = all.into_iter().skip(newest).filter(old).collect();
        self.remove_entries(&entries)
    }

    /// Whether the file is sound, as SQLite judges it: empty where it is, otherwise what is wrong.
    pub fn check(&self) -> Result<Vec<String>, LibraryError> {
        let said = self.connection.prepare("PRAGMA integrity_check").and_then(|mut statement| {
            statement.query_map([], |row| row.get::<_, String>(0))?.collect::<Result<Vec<String>, _>>()
        });
        let said = said.map_err(|source| LibraryError::of(&self.path, "checking the library", source))?;
        Ok(said.into_iter().filter(|line| line != "ok").collect())
    }

    fn remove_entries(&mut self, entries: &[Entry]) -> Result<Vec<String>, LibraryError> {
        self.change("removing runs", |transaction| {
            let mut remove = transaction.prepare("DELETE FROM runs WHERE number = ?1")?;
            entries.iter().try_for_each(|entry| remove.execute([entry.number]).map(drop))
        })?;
        if !entries.is_empty() {
            give_back(&self.connection)
                .map_err(|source| LibraryError::of(&self.path, "giving back space", source))?;
        }
        Ok(entries.iter().map(|entry| entry.id.clone()).collect())
    }

    /// Does `work` in one transaction that waits for other writers before it begins.
    fn change<T>(
        &mut self,
        doing: &'static str,
        work: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T>,
    ) -> Result<T, LibraryError> {
        if !self.writable {
            return Err(LibraryError::ReadOnly { path: self.path.clone() });
        }
        let behaviour = TransactionBehavior::Immediate;
        let done = self.connection.transaction_with_behavior(behaviour).and_then(|transaction| {
            let result = work(&transaction)?;
            transaction.commit()?;
            Ok(result)
        });
        done.map_err(|source| LibraryError::of(&self.path, doing, source))
    }

    fn first(&self, sql: &str, value: impl rusqlite::ToSql) -> Result<Option<Entry>, LibraryError> {
        let entry = self.connection.query_row(sql, [value], from_row).optional();
        entry.map_err(|source| LibraryError::of(&self.path, "looking for a run", source))
    }

    /// The run of that id, or the only one whose id begins so.
    fn by_prefix(&self, asked: &str) -> Result<Entry, LibraryError> {
        if let Some(entry) = self.first(&format!("SELECT {COLUMNS} FROM runs WHERE id = ?1"), asked)? {
            return Ok(entry);
        }
        const SHOWN: usize = 5;
        let sql = format!(
            "SELECT {COLUMNS} FROM runs WHERE substr(id, 1, length(?1)) = ?1 {NEWEST_FIRST} LIMIT {SHOWN}"
        );
        let found = self.connection.prepare(&sql).and_then(|mut statement| {
            statement.query_map([asked], from_row)?.collect::<Result<Vec<Entry>, _>>()
        });
        let mut found = found.map_err(|source| LibraryError::of(&self.path, "looking for a run", source))?;
        match found.len() {
            1 if !asked.is_empty() => Ok(found.remove(0)),
            0 | 1 => Err(self.no_such_run(&Selector::Id(asked.into()))),
            _ => {
                let candidates = found.into_iter().map(|entry| entry.id).collect();
                Err(LibraryError::Ambiguous { asked: asked.into(), candidates })
            }
        }
    }

    fn no_such_run(&self, selector: &Selector) -> LibraryError {
        let count = self.connection.query_row("SELECT count(*) FROM runs", [], |row| row.get::<_, i64>(0));
        let hint = match count.unwrap_or(0) {
            0 => format!("the library {} is empty", self.path.display()),
            1 => "there is one run; `fathom ls` shows it".into(),
            count => format!("there are {count} runs; `fathom ls` shows them"),
        };
        LibraryError::NoSuchRun { asked: selector.to_string(), hint }
    }
}

/// The record without its points, and what a judge says of them.
fn record_of(connection: &Connection, number: i64) -> rusqlite::Result<(String, Option<String>)> {
    let sql = "SELECT json, verdicts FROM records WHERE number = ?1";
    connection.query_row(sql, [number], |row| Ok((row.get(0)?, row.get(1)?)))
}

/// The points of a run in their order; none where its record holds them.
fn points_of(connection: &Connection, number: i64) -> rusqlite::Result<Vec<String>> {
    let mut statement = connection.prepare("SELECT json FROM points WHERE run = ?1 ORDER BY position")?;
    statement.query_map([number], |row| row.get(0))?.collect()
}

/// Shortens the file by the pages that nothing uses.
fn give_back(connection: &Connection) -> rusqlite::Result<()> {
    let mut statement = connection.prepare("PRAGMA incremental_vacuum")?;
    let mut pages = statement.query([])?;
    // Each step frees one page.
    while pages.next()?.is_some() {}
    Ok(())
}

/// Writes the line of a run and returns its number: the one it has, or a new one.
fn put_entry(transaction: &Transaction<'_>, entry: &Entry) -> rusqlite::Result<i64> {
    let targets = serde_json::Value::from(entry.targets.clone()).to_string();
    let tags: serde_json::Map<String, serde_json::Value> =
        entry.tags.iter().map(|(key, value)| (key.clone(), value.clone().into())).collect();
    let old = "SELECT number FROM runs WHERE id = ?1";
    let number: Option<i64> = transaction.query_row(old, [&entry.id], |row| row.get(0)).optional()?;
    let put = format!(
        "INSERT INTO runs ({COLUMNS})
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19)
         ON CONFLICT (number) DO UPDATE SET
            started = excluded.started, ended = excluded.ended, plan = excluded.plan, world = excluded.world,
            hostname = excluded.hostname, targets = excluded.targets, tags = excluded.tags,
            points = excluded.points, peak_ops_per_s = excluded.peak_ops_per_s,
            peak_bytes_per_s = excluded.peak_bytes_per_s, warnings = excluded.warnings, invalid = excluded.invalid,
            complete = excluded.complete, code = excluded.code, reason = excluded.reason,
            json_bytes = excluded.json_bytes, grade = excluded.grade"
    );
    transaction.prepare_cached(&put)?.execute(params![
        number,
        entry.id,
        entry.started,
        entry.ended,
        entry.plan,
        entry.world,
        entry.hostname,
        targets,
        serde_json::Value::Object(tags).to_string(),
        entry.points as i64,
        entry.peak_ops_per_s,
        entry.peak_bytes_per_s,
        entry.warnings as i64,
        entry.invalid as i64,
        entry.complete,
        entry.code,
        entry.reason,
        entry.json_bytes as i64,
        entry.grade.map(|grade| grade.to_string()),
    ])?;
    Ok(number.unwrap_or_else(|| transaction.last_insert_rowid()))
}

fn has_tags(entry: &Entry, tags: &[(String, Option<String>)]) -> bool {
    tags.iter().all(|(key, wanted)| match (entry.tags.get(key), wanted) {
        (Some(value), Some(wanted)) => value == wanted,
        (value, None) => value.is_some(),
        (None, Some(_)) => false,
    })
}
