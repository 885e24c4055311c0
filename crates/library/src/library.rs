//! The library: save, find, list and remove.

use std::path::{Path, PathBuf};

use record::{Entry, Run};
use rusqlite::{Connection, OptionalExtension, Transaction, TransactionBehavior, params};
use units::convert::narrow;

use crate::entry::{COLUMNS, Line, columns, line};
use crate::files::Opened;
use crate::growth::{Durability, Growth, Kept, Verdict};
use crate::listing::{Filter, Listed, list};
use crate::{LibraryError, Selector, files, reserve};

/// An open library.
///
/// For one thread; another thread or process opens its own. Readers never wait; writers wait for each other.
#[derive(Debug)]
pub struct Library {
    path: PathBuf,
    connection: Connection,
    writable: bool,
}

/// Which runs a clean-up leaves.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Keep {
    /// The last so many, however old.
    pub newest: u64,
    /// Everything started at this time or later: UTC, RFC 3339, of which the end may be left out.
    pub since: Option<String>,
}

/// The one order of runs, wherever there is a first and a last: that in which they were first saved. A clock may have
/// been set back between two runs.
pub(crate) const NEWEST_FIRST: &str = "ORDER BY number DESC";

impl Library {
    /// The library in the file at `path`, made where it is not there, brought up to date where it is older.
    ///
    /// A file that cannot be written is opened to be read, also one of an older version; saving then says so. A file of
    /// a newer version or of another program is refused and left alone.
    pub fn open(path: &Path) -> Result<Library, LibraryError> {
        Ok(Library::of(path, files::open(path)?))
    }

    /// The library in the file at `path` as it lies there: nothing is made, brought up to date or waited for. For a
    /// glance, as shells take it to complete a word; where somebody saves a run meanwhile it may fail.
    pub fn open_to_read(path: &Path) -> Result<Library, LibraryError> {
        Ok(Library::of(path, files::open_for_a_glance(path)?))
    }

    fn of(path: &Path, Opened { connection, writable }: Opened) -> Library {
        debug_assert_eq!(connection.is_readonly("main"), Ok(!writable), "SQLite knows the same");
        Library { path: path.into(), connection, writable }
    }

    /// The same as [`Library::open`], to remove runs: where the file system is full, in the room that the library sets aside for that.
    pub fn open_to_remove(path: &Path) -> Result<Library, LibraryError> {
        let opened = Library::open(path);
        match &opened {
            Ok(library) if library.writable => opened,
            Ok(_) => {
                drop(opened);
                reserve::release(path);
                Library::open(path)
            }
            Err(error) if error.may_lack_room_to_open() && reserve::release(path) => Library::open(path),
            Err(_) => opened,
        }
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
    ///
    /// # Panics
    ///
    /// Where `run` has fewer points than are kept.
    pub fn extend(
        &mut self,
        run: &Run,
        kept: &mut Kept,
        durability: Durability,
    ) -> Result<i64, LibraryError> {
        if kept.is_something() && self.is_gone(&run.id)? {
            *kept = Kept::default();
        }
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

    /// Whether somebody has removed the run meanwhile.
    fn is_gone(&self, id: &str) -> Result<bool, LibraryError> {
        let sql = "SELECT NOT EXISTS (SELECT 1 FROM runs WHERE id = ?1)";
        let gone = self.connection.query_row(sql, [id], |row| row.get(0));
        gone.map_err(|source| LibraryError::of(&self.path, "saving a run", source))
    }

    /// The run that `selector` names: `last`, `last~2`, a number, an id or the beginning of one.
    ///
    /// It is as it was saved. Where a checksum shows that it is not, that is an error which names what is damaged.
    pub fn get(&self, selector: impl Into<Selector>) -> Result<Run, LibraryError> {
        let reading = |source| LibraryError::of(&self.path, "reading a run", source);
        // Nothing that another process saves comes between the parts of a run.
        debug_assert!(self.connection.is_autocommit(), "no other transaction is under way");
        let one_look = self.connection.unchecked_transaction().map_err(reading)?;
        let entry = self.find(selector)?;
        let unreadable = |source| LibraryError::Record { id: entry.id.clone(), source };
        let damaged = |what| self.damaged(entry.number, what);
        let head = record_of(&one_look, entry.number).map_err(reading)?;
        let Some(Head { json, verdicts }) = head else {
            return Err(damaged("the record is not there, or its checksum is wrong".into()));
        };
        let points = points_of(&one_look, entry.number).map_err(reading)?;
        let version = record::version(&json).map_err(unreadable)?;
        let mut run = record::read(&json).map_err(unreadable)?;
        for (position, json) in points.into_iter().enumerate() {
            let json = json.ok_or_else(|| damaged(format!("the checksum of point {position} is wrong")))?;
            run.points.push(record::read_point(&json, version).map_err(unreadable)?);
        }
        if run.points.len() as u64 != entry.points {
            let (found, saved) = (run.points.len(), entry.points);
            return Err(damaged(format!("{found} points are there, {saved} were saved")));
        }
        if let Some(verdicts) = verdicts {
            let verdicts = Verdict::read(&verdicts, version).map_err(|error| unreadable(error.into()))?;
            run.points.iter_mut().zip(verdicts).for_each(|(point, verdict)| verdict.pass_on(point));
        }
        Ok(run)
    }

    fn damaged(&self, number: i64, what: String) -> LibraryError {
        LibraryError::Damaged { path: self.path.clone(), number, what }
    }

    /// The line of that run in the list.
    pub fn find(&self, selector: impl Into<Selector>) -> Result<Entry, LibraryError> {
        let selector = selector.into();
        match &selector {
            Selector::Last(back) => {
                let sql = format!("SELECT {} FROM runs {NEWEST_FIRST} LIMIT 1 OFFSET ?1", columns());
                let back = i64::try_from(*back).unwrap_or(i64::MAX);
                self.first(&sql, back)?.ok_or_else(|| self.no_such_run(&selector))
            }
            Selector::Number(number) => {
                let by_number =
                    self.first(&format!("SELECT {} FROM runs WHERE number = ?1", columns()), *number)?;
                by_number.map_or_else(|| self.by_prefix(&number.to_string()), Ok)
            }
            Selector::Id(id) => self.by_prefix(id),
        }
    }

    /// The runs that pass `filter`, the last saved first. Reads no record. Lines that are damaged are left out.
    pub fn list(&self, filter: &Filter) -> Result<Vec<Entry>, LibraryError> {
        self.survey(filter).map(|listed| listed.entries)
    }

    /// The same, and what is known to be damaged or lost of the lines that were looked at.
    pub fn survey(&self, filter: &Filter) -> Result<Listed, LibraryError> {
        let listed = list(&self.connection, filter);
        listed.map_err(|source| LibraryError::of(&self.path, "listing the runs", source))
    }

    /// Removes the runs that `selectors` name, all of them or, where one is not found, none. Returns their ids.
    ///
    /// A damaged run is removed likewise. Where the file system is full, the room that was set aside is used.
    pub fn remove(&mut self, selectors: &[Selector]) -> Result<Vec<String>, LibraryError> {
        let found = selectors.iter().map(|selector| match self.find(selector.clone()) {
            Ok(entry) => Ok((entry.number, entry.id)),
            Err(LibraryError::Damaged { number, .. }) => Ok((number, format!("run {number}, damaged"))),
            Err(error) => Err(error),
        });
        let found: Vec<(i64, String)> = found.collect::<Result<_, _>>()?;
        self.remove_found(&found)?;
        Ok(found.into_iter().map(|(_, id)| id).collect())
    }

    /// Removes every run that `keep` does not hold, and returns their ids, the last saved first.
    pub fn prune(&mut self, keep: &Keep) -> Result<Vec<String>, LibraryError> {
        let all = self.list(&Filter::default())?;
        let old = |entry: &Entry| keep.since.as_ref().is_none_or(|since| entry.started < *since);
        let newest = usize::try_from(keep.newest).unwrap_or(usize::MAX);
        let old = all.into_iter().skip(newest).filter(old);
        let found: Vec<(i64, String)> = old.map(|entry| (entry.number, entry.id)).collect();
        self.remove_found(&found)?;
        Ok(found.into_iter().map(|(_, id)| id).collect())
    }

    /// What is wrong with the file or with any run in it: empty where all is as it was saved. Reads everything.
    pub fn check(&self) -> Result<Vec<String>, LibraryError> {
        let said = self.connection.prepare("PRAGMA integrity_check").and_then(|mut statement| {
            statement.query_map([], |row| row.get::<_, String>(0))?.collect::<Result<Vec<String>, _>>()
        });
        let said = said.map_err(|source| LibraryError::of(&self.path, "checking the library", source))?;
        let mut wrong: Vec<String> = said.into_iter().filter(|line| line != "ok").collect();
        let Listed { entries, damaged, lost } = self.survey(&Filter::default())?;
        wrong.extend(damaged.into_iter().map(|number| self.damaged(number, LINE.into()).to_string()));
        wrong.extend((lost > 0).then(|| format!("{lost} runs of the library are not found")));
        let run = |entry: &Entry| self.get(Selector::Number(entry.number)).err();
        wrong.extend(entries.iter().filter_map(run).map(|error| error.to_string()));
        Ok(wrong)
    }

    fn remove_found(&mut self, found: &[(i64, String)]) -> Result<(), LibraryError> {
        if found.is_empty() {
            return Ok(());
        }
        let delete = |transaction: &Transaction<'_>| {
            let mut remove = transaction.prepare("DELETE FROM runs WHERE number = ?1")?;
            found.iter().try_for_each(|(number, _)| remove.execute([number]).map(drop))
        };
        match self.change("removing runs", delete) {
            Err(error) if error.may_lack_room() && reserve::release(&self.path) => {
                self.change("removing runs", delete)?;
            }
            done => done?,
        }
        // The runs are gone. What room they took is used again, also where it cannot be given back now.
        let _later = give_back(&self.connection);
        reserve::keep(&self.path);
        Ok(())
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
        debug_assert!(self.connection.is_autocommit(), "no other transaction is under way");
        let behaviour = TransactionBehavior::Immediate;
        let done = self.connection.transaction_with_behavior(behaviour).and_then(|transaction| {
            let result = work(&transaction)?;
            transaction.commit()?;
            Ok(result)
        });
        done.map_err(|source| LibraryError::of(&self.path, doing, source))
    }

    fn first(&self, sql: &str, value: impl rusqlite::ToSql) -> Result<Option<Entry>, LibraryError> {
        let found = self.connection.query_row(sql, [value], line).optional();
        match found.map_err(|source| LibraryError::of(&self.path, "looking for a run", source))? {
            Some(Line::Sound(entry)) => Ok(Some(*entry)),
            Some(Line::Damaged(number)) => Err(self.damaged(number, LINE.into())),
            None => Ok(None),
        }
    }

    /// The run of that id, or the only one whose id begins so.
    fn by_prefix(&self, asked: &str) -> Result<Entry, LibraryError> {
        if let Some(entry) = self.first(&format!("SELECT {} FROM runs WHERE id = ?1", columns()), asked)? {
            return Ok(entry);
        }
        const SHOWN: usize = 5;
        let sql = format!(
            "SELECT number, id FROM runs WHERE substr(id, 1, length(?1)) = ?1 {NEWEST_FIRST} LIMIT {SHOWN}"
        );
        let found = self.connection.prepare(&sql).and_then(|mut statement| {
            let found = statement.query_map([asked], |row| Ok((row.get(0)?, row.get(1)?)))?;
            found.collect::<Result<Vec<(i64, String)>, _>>()
        });
        let found = found.map_err(|source| LibraryError::of(&self.path, "looking for a run", source))?;
        let no_such_run = || self.no_such_run(&Selector::Id(asked.into()));
        match &found[..] {
            [(number, _)] if !asked.is_empty() => {
                let sql = format!("SELECT {} FROM runs WHERE number = ?1", columns());
                self.first(&sql, *number)?.ok_or_else(no_such_run)
            }
            [] | [_] => Err(no_such_run()),
            _ => {
                let candidates = found.into_iter().map(|(_, id)| id).collect();
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

/// How a line is known to be damaged.
const LINE: &str = "the checksum of its line in the list is wrong";

/// The record without its points, and what a judge says of them.
struct Head {
    json: String,
    verdicts: Option<String>,
}

/// `None` where it is not there or not as it was saved.
fn record_of(connection: &Connection, number: i64) -> rusqlite::Result<Option<Head>> {
    let sql = "SELECT sum IS checksum(number, json, verdicts), json, verdicts FROM records WHERE number = ?1";
    let found = connection.query_row(sql, [number], |row| match row.get(0)? {
        true => Ok(Some(Head { json: row.get(1)?, verdicts: row.get(2)? })),
        false => Ok(None),
    });
    found.optional().map(Option::flatten)
}

/// The points of a run in their order, `None` for one that is not as it was saved; none where its record holds them.
fn points_of(connection: &Connection, number: i64) -> rusqlite::Result<Vec<Option<String>>> {
    let sql =
        "SELECT sum IS checksum(run, position, json), json FROM points WHERE run = ?1 ORDER BY position";
    let mut statement = connection.prepare(sql)?;
    let point = |row: &rusqlite::Row<'_>| if row.get(0)? { row.get(1).map(Some) } else { Ok(None) };
    statement.query_map([number], point)?.collect()
}

/// Shortens the file by the pages that nothing uses, a few at a time, so that the journal needs little room.
fn give_back(connection: &Connection) -> rusqlite::Result<()> {
    const PAGES: i64 = 64;
    let free = || connection.pragma_query_value(None, "freelist_count", |row| row.get::<_, i64>(0));
    let mut left = free()?;
    loop {
        let mut statement = connection.prepare(&format!("PRAGMA incremental_vacuum({PAGES})"))?;
        let mut pages = statement.query([])?;
        // Each step frees one page.
        while pages.next()?.is_some() {}
        drop(pages);
        drop(statement);
        // Brings the journal's pages into the file and cuts both.
        connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?;
        let now = free()?;
        if now == 0 || now >= left {
            return Ok(());
        }
        left = now;
    }
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
        narrow::<i64>(entry.points),
        entry.peak_ops_per_s,
        entry.peak_bytes_per_s,
        narrow::<i64>(entry.warnings),
        narrow::<i64>(entry.invalid),
        entry.complete,
        entry.code,
        entry.reason,
        narrow::<i64>(entry.json_bytes),
        entry.grade.map(|grade| grade.to_string()),
    ])?;
    let number = number.unwrap_or_else(|| transaction.last_insert_rowid());
    let sum = format!("UPDATE runs SET sum = checksum({COLUMNS}) WHERE number = ?1");
    transaction.prepare_cached(&sum)?.execute([number])?;
    Ok(number)
}
