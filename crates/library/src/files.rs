//! Opening the file: made, brought up to date, or only read where it cannot be written.

use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, ErrorCode, OpenFlags};

use crate::LibraryError;
use crate::checksum;
use crate::error::{BUSY_S, no_file_can_be_opened};
use crate::reserve;
use crate::schema::{Kind, kind, known, migrate, steps_of_file, views};

/// An open file, and whether it can be written.
pub(crate) struct Opened {
    pub connection: Connection,
    pub writable: bool,
}

/// Opens the library at `path`, making it and its folder where they are not there.
pub(crate) fn open(path: &Path) -> Result<Opened, LibraryError> {
    is_no_directory(path)?;
    make_folder(path)?;
    match open_to_write(path) {
        // SQLite opens a file that it may not write for reading only, and then cannot set up the journal. On a full
        // file system there is no room for the journal's index, nor for what an older file lacks.
        Err(LibraryError::ReadOnly { .. } | LibraryError::Sqlite { .. } | LibraryError::Full { .. })
            if path.is_file() =>
        {
            open_to_read(path)
        }
        other => other.map(|connection| {
            reserve::keep(path);
            Opened { connection, writable: true }
        }),
    }
}

/// SQLite says of a directory that it cannot open it.
fn is_no_directory(path: &Path) -> Result<(), LibraryError> {
    if path.is_dir() { Err(LibraryError::Directory { path: path.into() }) } else { Ok(()) }
}

fn make_folder(path: &Path) -> Result<(), LibraryError> {
    let Some(folder) = path.parent() else { return Ok(()) };
    // The XDG specification asks for 0700. A folder that is there, and the one where the process is, stay as they are.
    DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(|source| match source.kind() {
        std::io::ErrorKind::ReadOnlyFilesystem => LibraryError::ReadOnly { path: path.into() },
        _ => LibraryError::Folder { folder: folder.into(), source },
    })
}

const TO_WRITE: OpenFlags = OpenFlags::SQLITE_OPEN_READ_WRITE
    .union(OpenFlags::SQLITE_OPEN_CREATE)
    .union(OpenFlags::SQLITE_OPEN_NO_MUTEX);

fn open_to_write(path: &Path) -> Result<Connection, LibraryError> {
    let failed = |doing| move |source| LibraryError::of(path, doing, source);
    let mut connection = Connection::open_with_flags(path, TO_WRITE).map_err(|source| {
        let unopened = source.sqlite_error_code() == Some(ErrorCode::CannotOpen) && !path.exists();
        if unopened && !no_file_can_be_opened() {
            LibraryError::ReadOnly { path: path.into() }
        } else {
            failed("opening the library")(source)
        }
    })?;
    connection.busy_timeout(Duration::from_secs(BUSY_S)).map_err(failed("opening the library"))?;
    checksum::register(&connection).map_err(failed("opening the library"))?;
    let found = kind(&connection).map_err(failed("reading the library's header"))?;
    match found {
        Kind::Foreign => return Err(LibraryError::NotALibrary { path: path.into() }),
        Kind::Library(found) if found > known() => return Err(too_new(path, found)),
        _ => (),
    }
    if connection.is_readonly("main").map_err(failed("opening the library"))? {
        return Err(LibraryError::ReadOnly { path: path.into() });
    }
    set_up(&connection, found).map_err(failed("setting up the library's journal"))?;
    if found != Kind::Library(known()) {
        let newer =
            migrate(&mut connection, &steps_of_file()).map_err(failed("bringing the library up to date"))?;
        if let Some(found) = newer {
            return Err(too_new(path, found));
        }
    }
    Ok(connection)
}

/// Readers do not wait for writers, and a saved run survives a power cut.
fn set_up(connection: &Connection, found: Kind) -> rusqlite::Result<()> {
    if found == Kind::Empty {
        // Only a file without tables takes this: space of removed runs can be given back.
        connection.pragma_update(None, "auto_vacuum", "INCREMENTAL")?;
    }
    use_wal(connection)?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.pragma_update(None, "foreign_keys", true)
}

/// Where the file system cannot do it, SQLite keeps its older journal, which is as safe.
fn use_wal(connection: &Connection) -> rusqlite::Result<()> {
    const TRIES: usize = 100;
    for _ in 0..TRIES {
        match connection.pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(())) {
            // Two processes that make the file at once meet here, and SQLite does not wait in this statement. It
            // does in the next, until the other one is done.
            Err(error) if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) => {
                connection.execute_batch("BEGIN IMMEDIATE; COMMIT")?;
            }
            other => return other,
        }
    }
    connection.pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(()))
}

const TO_READ: OpenFlags =
    OpenFlags::SQLITE_OPEN_READ_ONLY.union(OpenFlags::SQLITE_OPEN_NO_MUTEX).union(OpenFlags::SQLITE_OPEN_URI);

fn open_to_read(path: &Path) -> Result<Opened, LibraryError> {
    is_no_directory(path)?;
    let plain = Connection::open_with_flags(path, TO_READ)
        .and_then(|connection| Ok((kind(&connection)?, connection)));
    match plain {
        Ok((found, connection)) => to_be_read(path, found, connection),
        // The journal's index cannot be made here.
        Err(_) if journal_is_empty(path) => open_immutable(path),
        Err(_) => Err(LibraryError::Unfinished { path: path.into() }),
    }
}

/// Opens it without a file beside it, where that can be.
pub(crate) fn open_for_a_glance(path: &Path) -> Result<Opened, LibraryError> {
    is_no_directory(path)?;
    match journal_is_empty(path) {
        true => open_immutable(path),
        false => open_to_read(path),
    }
}

/// Opens the file without its journal, which must be empty: the file itself is then all there is.
fn open_immutable(path: &Path) -> Result<Opened, LibraryError> {
    let failed = |source| LibraryError::of(path, "reading the library", source);
    let uri = format!("file:{}?immutable=1", percent_encoded(path));
    let connection = Connection::open_with_flags(uri, TO_READ).map_err(failed)?;
    let found = kind(&connection).map_err(failed)?;
    to_be_read(path, found, connection)
}

fn to_be_read(path: &Path, found: Kind, connection: Connection) -> Result<Opened, LibraryError> {
    let failed = |source| LibraryError::of(path, "reading the library", source);
    checksum::register(&connection).map_err(failed)?;
    match found {
        Kind::Library(found) if found > known() => Err(too_new(path, found)),
        Kind::Library(found) if found == known() => Ok(Opened { connection, writable: false }),
        Kind::Library(found) if found > 0 => {
            connection.execute_batch(&views(found)).map_err(failed)?;
            Ok(Opened { connection, writable: false })
        }
        Kind::Library(_) | Kind::Empty => Err(LibraryError::ReadOnly { path: path.into() }),
        Kind::Foreign => Err(LibraryError::NotALibrary { path: path.into() }),
    }
}

fn journal_is_empty(path: &Path) -> bool {
    let mut journal = path.as_os_str().to_owned();
    journal.push("-wal");
    std::fs::metadata(PathBuf::from(journal)).map_or(true, |journal| journal.len() == 0)
}

/// The path as a URI takes it: everything but unreserved bytes and `/` by its number.
fn percent_encoded(path: &Path) -> String {
    use std::os::unix::ffi::OsStrExt;
    let mut text = String::new();
    for byte in path.as_os_str().as_bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'_' | b'.' | b'~' => {
                text.push(char::from(*byte));
            }
            _ => text.push_str(&format!("%{byte:02X}")),
        }
    }
    debug_assert!(
        text.is_ascii() && !text.contains(['?', '#']),
        "nothing of it begins another part of the URI"
    );
    text
}

fn too_new(path: &Path, found: i64) -> LibraryError {
    LibraryError::TooNew { place: path.into(), found, known: known() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::APPLICATION_ID;

    /// A file with the mark of a library and that version, without a table.
    fn bare(folder: &Path, version: i64) -> PathBuf {
        let path = folder.join(format!("{version}.sqlite"));
        let connection = Connection::open(&path).unwrap();
        connection.pragma_update(None, "application_id", APPLICATION_ID).unwrap();
        connection.pragma_update(None, "user_version", version).unwrap();
        path
    }

    #[test]
    fn what_can_only_be_read_is_refused_by_kind() {
        let folder = tempfile::tempdir().unwrap();
        let refused = |path: &Path| open_to_read(path).err().expect("it cannot be read");
        let unmade = bare(folder.path(), 0);
        assert!(matches!(refused(&unmade), LibraryError::ReadOnly { .. }));
        let newer = bare(folder.path(), known() + 1);
        assert!(matches!(refused(&newer), LibraryError::TooNew { found: 5, known: 4, .. }));
        let empty = folder.path().join("empty.sqlite");
        std::fs::write(&empty, "").unwrap();
        assert!(matches!(refused(&empty), LibraryError::ReadOnly { .. }));
        let foreign = folder.path().join("foreign.sqlite");
        Connection::open(&foreign).unwrap().execute_batch("CREATE TABLE mine (a)").unwrap();
        assert!(matches!(refused(&foreign), LibraryError::NotALibrary { .. }));
        let text = folder.path().join("text");
        std::fs::write(&text, vec![b'x'; 4096]).unwrap();
        assert!(matches!(refused(&text), LibraryError::NotALibrary { .. }));
    }

    #[test]
    fn a_newer_file_is_refused_before_its_journal_is_changed() {
        let folder = tempfile::tempdir().unwrap();
        let newer = bare(folder.path(), known() + 1);
        let before = std::fs::read(&newer).unwrap();
        assert!(matches!(open(&newer).err(), Some(LibraryError::TooNew { found: 5, known: 4, .. })));
        assert!(std::fs::read(&newer).unwrap() == before);
    }

    #[test]
    fn a_file_where_the_process_is_needs_no_folder_and_a_folder_is_no_library() {
        assert!(make_folder(Path::new("runs.sqlite")).is_ok() && make_folder(Path::new("/")).is_ok());
        let folder = tempfile::tempdir().unwrap();
        let refused = open(folder.path()).err().expect("it is a folder");
        assert!(matches!(refused, LibraryError::Directory { .. }), "{refused}");
    }

    #[test]
    fn runs_in_a_journal_that_cannot_be_read_are_told_of_and_an_empty_journal_holds_none() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("runs.sqlite");
        assert!(open(&path).unwrap().writable);
        // In the place of the journal's index, where SQLite follows no link.
        std::os::unix::fs::symlink("nowhere", folder.path().join("runs.sqlite-shm")).unwrap();
        let read = || open_to_read(&path);
        assert!(!read().unwrap().writable);
        let journal = folder.path().join("runs.sqlite-wal");
        std::fs::write(&journal, "").unwrap();
        assert!(!read().unwrap().writable);
        std::fs::write(&journal, "a run").unwrap();
        assert!(matches!(read().err(), Some(LibraryError::Unfinished { .. })));
    }

    #[test]
    fn who_sets_up_the_journal_waits_until_another_has_written() {
        thread_local!(static WRITER: std::cell::RefCell<Option<Connection>> = const { std::cell::RefCell::new(None) });
        let folder = tempfile::tempdir().unwrap();
        let path = bare(folder.path(), 0);
        let writer = Connection::open(&path).unwrap();
        writer.execute_batch("BEGIN IMMEDIATE; CREATE TABLE t (a)").unwrap();
        WRITER.set(Some(writer));
        let mut connection = Connection::open(&path).unwrap();
        // Called when it has to wait.
        let done = |_tries| WRITER.take().is_some_and(|writer| writer.execute_batch("COMMIT").is_ok());
        connection.busy_handler(Some(done)).unwrap();
        use_wal(&connection).unwrap();
        assert!(WRITER.take().is_none(), "it has written");
        let journal: String = connection.pragma_query_value(None, "journal_mode", |row| row.get(0)).unwrap();
        assert_eq!(journal, "wal");
    }

    #[test]
    fn what_hinders_the_journal_and_is_no_writer_is_told_as_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let connection = Connection::open(bare(folder.path(), 0)).unwrap();
        connection.execute_batch("BEGIN").unwrap();
        let told = use_wal(&connection).unwrap_err().to_string();
        assert!(told.contains("from within a transaction"), "{told}");
    }

    #[test]
    fn what_is_opened_to_be_read_cannot_be_written() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("runs.sqlite");
        assert!(open(&path).unwrap().writable);
        let opened = open_to_read(&path).unwrap();
        assert!(!opened.writable);
        let removed = opened.connection.execute("DELETE FROM runs", []);
        assert_eq!(removed.unwrap_err().sqlite_error_code(), Some(ErrorCode::ReadOnly));
    }

    #[test]
    fn a_library_is_made_to_give_space_back_and_to_keep_what_was_saved() {
        let folder = tempfile::tempdir().unwrap();
        let opened = open(&folder.path().join("below/runs.sqlite")).unwrap();
        let number = |pragma: &str| -> i64 {
            opened.connection.pragma_query_value(None, pragma, |row| row.get(0)).unwrap()
        };
        // Incremental; full.
        assert_eq!((number("auto_vacuum"), number("synchronous"), number("foreign_keys")), (2, 2, 1));
        let journal: String =
            opened.connection.pragma_query_value(None, "journal_mode", |row| row.get(0)).unwrap();
        assert_eq!(journal, "wal");
        let mode = std::fs::metadata(folder.path().join("below")).unwrap();
        assert_eq!(std::os::unix::fs::MetadataExt::mode(&mode) & 0o777, 0o700);
    }

    #[test]
    fn a_journal_is_empty_where_it_is_not_or_holds_no_byte() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("runs.sqlite");
        assert!(journal_is_empty(&path));
        let journal = folder.path().join("runs.sqlite-wal");
        std::fs::write(&journal, "").unwrap();
        assert!(journal_is_empty(&path));
        std::fs::write(&journal, "x").unwrap();
        assert!(!journal_is_empty(&path));
    }

    #[test]
    fn a_path_in_an_address_has_its_unusual_bytes_by_number() {
        assert_eq!(percent_encoded(Path::new("/a-Z_0.9~/b")), "/a-Z_0.9~/b");
        assert_eq!(percent_encoded(Path::new("/a b?c#d%\u{e4}")), "/a%20b%3Fc%23d%25%C3%A4");
    }
}
