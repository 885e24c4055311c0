//! The library: save, find, list and remove.

use std::path::Path;

use record::{Entry, Run};
use rusqlite::Connection;
use rusqlite::types::Value;

use crate::checksum::summed;
use crate::entry::{COLUMNS, Line, columns, line, values};
use crate::files::Opened;
use crate::growth::{Durability, Growth, Kept, Verdict};
use crate::listing::{Filter, Listed, list};
use crate::server::Server;
use crate::tables::{Access, Fault, Row, Tables};
use crate::{LibraryError, Location, Selector, files, reserve};

/// An open library.
///
/// For one thread; another thread or process opens its own. Readers never wait; writers wait for each other.
#[derive(Debug)]
pub struct Library {
    place: Location,
    tables: Tables,
    writable: bool,
}

/// The one order of runs, wherever there is a first and a last: that in which they were first saved. A clock may have
/// been set back between two runs.
pub(crate) const NEWEST_FIRST: &str = "ORDER BY number DESC";

impl Library {
    /// The library at `place`, made where it is not there, brought up to date where it is older.
    ///
    /// What cannot be written is opened to be read, a file also of an older version; saving then says so. A library of a
    /// newer version or a file of another program is refused and left alone.
    pub fn open(place: &Location) -> Result<Library, LibraryError> {
        match place {
            Location::File(path) => Ok(Library::of(place, files::open(path)?)),
            Location::Server(address) => {
                let server = Box::new(Server::open(address)?);
                let writable = server.refusal().is_none();
                Ok(Library { place: place.clone(), tables: Tables::Server(server), writable })
            }
        }
    }

    /// The library in the file at `path` as it lies there: nothing is made, brought up to date or waited for. For a
    /// glance, as shells take it to complete a word; where somebody saves a run meanwhile it may fail.
    pub fn open_to_read(path: &Path) -> Result<Library, LibraryError> {
        Ok(Library::of(&Location::File(path.into()), files::open_for_a_glance(path)?))
    }

    fn of(place: &Location, Opened { connection, writable }: Opened) -> Library {
        debug_assert_eq!(connection.is_readonly("main"), Ok(!writable), "SQLite knows the same");
        Library { place: place.clone(), tables: Tables::File(connection), writable }
    }

    /// The same as [`Library::open`], to remove runs: where the file system is full, in the room that the library sets aside for that.
    pub fn open_to_remove(place: &Location) -> Result<Library, LibraryError> {
        let opened = Library::open(place);
        let Location::File(path) = place else { return opened };
        match &opened {
            Ok(library) if library.writable => opened,
            Ok(_) => {
                drop(opened);
                reserve::release(path);
                Library::open(place)
            }
            Err(error) if error.may_lack_room_to_open() && reserve::release(path) => Library::open(place),
            Err(_) => opened,
        }
    }

    /// Where it is.
    pub fn place(&self) -> &Location {
        &self.place
    }

    /// Whether runs can be saved in it.
    pub fn is_writable(&self) -> bool {
        self.writable
    }

    /// Why no runs can be saved in it; `None` where they can.
    pub fn refusal(&self) -> Option<LibraryError> {
        match (&self.place, &self.tables) {
            (_, Tables::Server(server)) => server.refusal(),
            (Location::File(path), _) if !self.writable => {
                Some(LibraryError::ReadOnly { path: path.clone() })
            }
            _ => None,
        }
    }

    /// Claims `name` for as long as this library is open: `false` where somebody else has, on whatever machine. Only a
    /// server knows of claims; in a file nobody else has.
    pub fn claim(&self, name: &str) -> Result<bool, LibraryError> {
        match &self.tables {
            Tables::File(_) => Ok(true),
            Tables::Server(server) => {
                server.claim(name).map_err(|fault| self.told("claiming a campaign", fault))
            }
        }
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
        let number = self.change("saving a run", durability, |tables| {
            let number = put_entry(tables, &growth.entry)?;
            growth.put(tables, number)?;
            Ok(number)
        })?;
        assert!(number > 0, "a run has a number from 1");
        *kept = growth.kept();
        Ok(number)
    }

    /// Whether somebody has removed the run meanwhile.
    fn is_gone(&self, id: &str) -> Result<bool, LibraryError> {
        self.look("saving a run", || {
            Ok(self
                .rows("saving a run", "SELECT 1 FROM runs WHERE id = $1", &[id.to_owned().into()])?
                .is_empty())
        })
    }

    /// The run that `selector` names: `last`, `last~2`, a number, an id or the beginning of one.
    ///
    /// It is as it was saved. Where a checksum shows that it is not, that is an error which names what is damaged.
    pub fn get(&self, selector: impl Into<Selector>) -> Result<Run, LibraryError> {
        let selector = selector.into();
        self.look(READING, || self.read(selector))
    }

    fn read(&self, selector: Selector) -> Result<Run, LibraryError> {
        let entry = self.found(selector)?;
        let unreadable = |source| LibraryError::Record { id: entry.id.clone(), source };
        let damaged = |what| self.damaged(entry.number, what);
        let head = self.record_of(entry.number)?;
        let Some(Head { json, verdicts }) = head else {
            return Err(damaged("the record is not there, or its checksum is wrong".into()));
        };
        let points = self.points_of(entry.number)?;
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

    /// The record without its points; `None` where it is not there or not as it was saved.
    fn record_of(&self, number: i64) -> Result<Option<Head>, LibraryError> {
        let sql = "SELECT number, json, verdicts, sum FROM records WHERE number = $1";
        let found = self.rows(READING, sql, &[number.into()])?.into_iter().next();
        Ok(found
            .filter(Row::is_sound)
            .and_then(|mut row| Some(Head { json: row.text(1)?, verdicts: row.text(2) })))
    }

    /// The points of a run in their order, `None` for one that is not as it was saved; none where its record holds them.
    fn points_of(&self, number: i64) -> Result<Vec<Option<String>>, LibraryError> {
        let sql = "SELECT run, position, json, sum FROM points WHERE run = $1 ORDER BY position";
        let found = self.rows(READING, sql, &[number.into()])?;
        Ok(found.into_iter().map(|mut row| if row.is_sound() { row.text(2) } else { None }).collect())
    }

    fn damaged(&self, number: i64, what: String) -> LibraryError {
        LibraryError::Damaged { place: self.place.clone(), number, what }
    }

    /// The line of that run in the list.
    pub fn find(&self, selector: impl Into<Selector>) -> Result<Entry, LibraryError> {
        let selector = selector.into();
        self.look(LOOKING, || self.found(selector))
    }

    fn found(&self, selector: Selector) -> Result<Entry, LibraryError> {
        match &selector {
            Selector::Last(back) => {
                let back = i64::try_from(*back).unwrap_or(i64::MAX);
                let last = self.first(&format!("{NEWEST_FIRST} LIMIT 1 OFFSET $1"), back)?;
                last.ok_or_else(|| self.no_such_run(&selector))
            }
            Selector::Number(number) => {
                let by_number = self.first("WHERE number = $1", *number)?;
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
        let doing = "listing the runs";
        self.look(doing, || list(&self.tables, filter).map_err(|fault| self.told(doing, fault)))
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
        if found.is_empty() {
            return Ok(Vec::new());
        }
        let delete = |tables: &Tables| {
            let sql = "DELETE FROM runs WHERE number = $1";
            found.iter().try_for_each(|(number, _)| tables.rows(sql, &[(*number).into()]).map(drop))
        };
        let change = |library: &Library| library.change("removing runs", Durability::Now, delete);
        match (&self.place, &self.tables) {
            (Location::File(path), Tables::File(connection)) => {
                match change(self) {
                    Err(error) if error.may_lack_room() && reserve::release(path) => change(self)?,
                    done => done?,
                }
                // The runs are gone. What room they took is used again, also where it cannot be given back now.
                let _later = give_back(connection);
                reserve::keep(path);
            }
            _ => change(self)?,
        }
        Ok(found.into_iter().map(|(_, id)| id).collect())
    }

    /// What is wrong with the file or with any run in it: empty where all is as it was saved. Reads everything.
    pub fn check(&self) -> Result<Vec<String>, LibraryError> {
        let mut wrong = Vec::new();
        if matches!(self.tables, Tables::File(_)) {
            let said = self.rows("checking the library", "PRAGMA integrity_check", &[])?;
            wrong.extend(said.into_iter().filter_map(|mut row| row.text(0)).filter(|line| line != "ok"));
        }
        let Listed { entries, damaged, lost } = self.survey(&Filter::default())?;
        wrong.extend(damaged.into_iter().map(|number| self.damaged(number, LINE.into()).to_string()));
        wrong.extend((lost > 0).then(|| format!("{lost} runs of the library are not found")));
        let run = |entry: &Entry| self.get(Selector::Number(entry.number)).err();
        wrong.extend(entries.iter().filter_map(run).map(|error| error.to_string()));
        Ok(wrong)
    }

    /// Does `work` in one transaction that waits for other writers before it begins.
    fn change<T>(
        &self,
        doing: &'static str,
        durability: Durability,
        work: impl FnOnce(&Tables) -> Result<T, Fault>,
    ) -> Result<T, LibraryError> {
        match self.refusal() {
            Some(refusal) => Err(refusal),
            None => self.within(doing, Access::Change(durability), || {
                work(&self.tables).map_err(|fault| self.told(doing, fault))
            }),
        }
    }

    /// Does `work` with the library as it is now, whatever others save meanwhile.
    fn look<T>(
        &self,
        doing: &'static str,
        work: impl FnOnce() -> Result<T, LibraryError>,
    ) -> Result<T, LibraryError> {
        self.within(doing, Access::Look, work)
    }

    fn within<T>(
        &self,
        doing: &'static str,
        access: Access,
        work: impl FnOnce() -> Result<T, LibraryError>,
    ) -> Result<T, LibraryError> {
        let told = |fault| self.told(doing, fault);
        self.tables.begin(access).map_err(told)?;
        let done = work().and_then(|done| self.tables.end(true).map_err(told).map(|()| done));
        if done.is_err() {
            // It may be undone already.
            let _undone = self.tables.end(false);
        }
        done
    }

    fn rows(&self, doing: &'static str, sql: &str, values: &[Value]) -> Result<Vec<Row>, LibraryError> {
        self.tables.rows(sql, values).map_err(|fault| self.told(doing, fault))
    }

    /// What `fault` means for whoever was `doing` something.
    fn told(&self, doing: &'static str, fault: Fault) -> LibraryError {
        match (fault, &self.place, &self.tables) {
            (Fault::File(source), Location::File(path), _) => LibraryError::of(path, doing, source),
            (fault, _, Tables::Server(server)) => server.told(doing, fault),
            (fault, ..) => unreachable!("a file has no fault of a server: {fault:?}"),
        }
    }

    /// The line of the first run that `which` picks by `value`.
    fn first(&self, which: &str, value: impl Into<Value>) -> Result<Option<Entry>, LibraryError> {
        let sql = format!("SELECT {} FROM runs {which}", columns());
        match self.rows(LOOKING, &sql, &[value.into()])?.into_iter().next().map(line) {
            Some(Line::Sound(entry)) => Ok(Some(*entry)),
            Some(Line::Damaged(number)) => Err(self.damaged(number, LINE.into())),
            None => Ok(None),
        }
    }

    /// The run of that id, or the only one whose id begins so.
    fn by_prefix(&self, asked: &str) -> Result<Entry, LibraryError> {
        if let Some(entry) = self.first("WHERE id = $1", asked.to_owned())? {
            return Ok(entry);
        }
        const SHOWN: usize = 5;
        let sql = format!(
            "SELECT number, id FROM runs WHERE substr(id, 1, length($1)) = $1 {NEWEST_FIRST} LIMIT {SHOWN}"
        );
        let found = self.rows(LOOKING, &sql, &[asked.to_owned().into()])?;
        let found: Vec<(i64, String)> =
            found.into_iter().filter_map(|mut row| Some((row.integer(0)?, row.text(1)?))).collect();
        let no_such_run = || self.no_such_run(&Selector::Id(asked.into()));
        match &found[..] {
            [(number, _)] if !asked.is_empty() => {
                self.first("WHERE number = $1", *number)?.ok_or_else(no_such_run)
            }
            [] | [_] => Err(no_such_run()),
            _ => {
                let candidates = found.into_iter().map(|(_, id)| id).collect();
                Err(LibraryError::Ambiguous { asked: asked.into(), candidates })
            }
        }
    }

    fn no_such_run(&self, selector: &Selector) -> LibraryError {
        let hint = match self.tables.number("SELECT count(*) FROM runs").unwrap_or(0) {
            0 => format!("the library {} is empty", self.place),
            1 => "there is one run; `fathom ls` shows it".into(),
            count => format!("there are {count} runs; `fathom ls` shows them"),
        };
        LibraryError::NoSuchRun { asked: selector.to_string(), hint }
    }
}

/// What is being done, where it fails.
const READING: &str = "reading a run";
const LOOKING: &str = "looking for a run";

/// How a line is known to be damaged.
const LINE: &str = "the checksum of its line in the list is wrong";

/// The record without its points, and what a judge says of them.
struct Head {
    json: String,
    verdicts: Option<String>,
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
fn put_entry(tables: &Tables, entry: &Entry) -> Result<i64, Fault> {
    let values = values(entry);
    let columns = COLUMNS.trim_start_matches("number, ");
    let places: Vec<String> = (1..=values.len()).map(|place| format!("${place}")).collect();
    let places = places.join(", ");
    // The first of them is the id.
    let update = format!("UPDATE runs SET ({columns}) = ({places}) WHERE id = $1 RETURNING number");
    let mut rows = tables.rows(&update, &values)?;
    if rows.is_empty() {
        let insert = format!("INSERT INTO runs ({columns}) VALUES ({places}) RETURNING number");
        rows = tables.rows(&insert, &values)?;
    }
    let number = rows.first().and_then(|row| row.integer(0));
    let number = number.ok_or(Fault::File(rusqlite::Error::QueryReturnedNoRows))?;
    let sum = summed([vec![number.into()], values].concat()).pop().unwrap_or(Value::Null);
    tables.rows("UPDATE runs SET sum = $1 WHERE number = $2", &[sum, number.into()])?;
    Ok(number)
}
