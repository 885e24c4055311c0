//! Why a library could not do what it was asked.

use std::io;
use std::path::{Path, PathBuf};

use record::ReadError;
use rusqlite::ErrorCode;

use crate::{Address, Location};

/// What was tried, on which file or run, why it failed, and what to do.
#[derive(Debug, thiserror::Error)]
pub enum LibraryError {
    /// The user has no home, hence no place for data.
    #[error("no home directory is known, so there is no place for a library; name one with --store FILE")]
    NoHome,
    /// The folder of the file could not be made.
    #[error("{folder}: cannot make this folder for the library of runs: {source}; name another file with --store FILE", folder = .folder.display())]
    Folder {
        /// Where the library was to be.
        folder: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Nothing may be written there.
    #[error("{path}: the library cannot be written, because its file system is read-only or this user may not write there; name another file with --store FILE", path = .path.display())]
    ReadOnly {
        /// The file.
        path: PathBuf,
    },
    /// Nothing may be written there, and the last writer was killed before its runs reached the file itself.
    #[error("{path}: the library has runs in its journal that only a writer can bring in, and it cannot be written; copy it together with the file that ends in -wal to a folder that can, and use --store FILE", path = .path.display())]
    Unfinished {
        /// The file.
        path: PathBuf,
    },
    /// The library belongs to a newer program.
    #[error(
        "{place}: the library has version {found}, this program knows up to {known}; use a newer fathom, or another file with --store FILE"
    )]
    TooNew {
        /// Where it is.
        place: Location,
        /// Its version.
        found: i64,
        /// The newest version this program reads.
        known: i64,
    },
    /// The file is something else.
    #[error("{path}: this file is not a library of runs, and is left as it is; name another with --store FILE", path = .path.display())]
    NotALibrary {
        /// The file.
        path: PathBuf,
    },
    /// The path is that of a directory.
    #[error("{path}: this is a directory, and the library of runs is a file; give one in it: --store {file}", path = .path.display(), file = .path.join("runs.sqlite").display())]
    Directory {
        /// The directory.
        path: PathBuf,
    },
    /// Another process held it all the time.
    #[error(
        "{place}: another process has been writing to the library for {waited_s} s; try again when it is done"
    )]
    Busy {
        /// Where it is.
        place: Location,
        /// How long this process waited.
        waited_s: u64,
    },
    /// There is no space left for it.
    #[error("{path}: no space is left on the file system of the library; make some, or name another file with --store FILE", path = .path.display())]
    Full {
        /// The file.
        path: PathBuf,
    },
    /// This process may open no further file.
    #[error("{path}: the library cannot be opened, because this process has as many files open as its limit allows; raise it with `ulimit -n 1024` and try again", path = .path.display())]
    Descriptors {
        /// The file.
        path: PathBuf,
    },
    /// A run is not as it was saved.
    #[error("run {number}: the library {place} does not hold it as it was saved: {what}; other runs can be read, {copy} may hold this one too, and `fathom rm {number}` removes it", copy = copy_of(.place))]
    Damaged {
        /// Where the library is.
        place: Location,
        /// The run.
        number: i64,
        /// Which part of it, and how that is known.
        what: String,
    },
    /// The file's own structure is damaged.
    #[error("{path}: the library's file is damaged: {source}; `fathom ls` shows the runs that can still be read, and `fathom export` brings them out", path = .path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// What SQLite said.
        source: rusqlite::Error,
    },
    /// Anything else that SQLite reports.
    #[error("{path}: {doing} failed: {source}", path = .path.display())]
    Sqlite {
        /// The file.
        path: PathBuf,
        /// What was tried.
        doing: &'static str,
        /// What SQLite said.
        source: rusqlite::Error,
    },
    /// What should be the address of a server is none.
    #[error(
        "the address of the library is not understood: {why}; it is written postgres://USER@HOST/DATABASE"
    )]
    Address {
        /// What is wrong with it, without any of it.
        why: String,
    },
    /// A connection with TLS is asked for.
    #[error(
        "sslmode={mode}: this program has no TLS; leave sslmode out where the network is trusted, or go through `ssh -L 5432:localhost:5432 HOST` and name localhost"
    )]
    Tls {
        /// What was asked.
        mode: String,
    },
    /// The server is not there, or went away.
    #[error(
        "{address}: the server of the library cannot be reached: {why}; see whether PostgreSQL runs there, and takes connections from here (listen_addresses, pg_hba.conf)"
    )]
    Unreachable {
        /// The server.
        address: Address,
        /// What the system said.
        why: String,
    },
    /// The server knows no such role, or wants another password.
    #[error(
        "{address}: the server refuses this role and password: {why}; set PGPASSWORD, or put the password into ~/.pgpass, readable by you alone (mode 600)"
    )]
    NotLetIn {
        /// The server.
        address: Address,
        /// What it said.
        why: String,
    },
    /// The server has no such database.
    #[error(
        "{address}: {why}; make it with `createdb NAME` as a role that may, or name another behind the / of the address"
    )]
    NoDatabase {
        /// The server.
        address: Address,
        /// What it said.
        why: String,
    },
    /// The role may not do that.
    #[error(
        "{address}: the role {role} lacks the right to do this: {missing}; its owner gives it with `{grant}`"
    )]
    Rights {
        /// The server.
        address: Address,
        /// Who asked.
        role: String,
        /// Which rights.
        missing: String,
        /// The statement that gives them.
        grant: String,
    },
    /// The server takes no writes from anybody.
    #[error(
        "{address}: the server takes no writes, as a standby does or where default_transaction_read_only is set; name the primary"
    )]
    Standby {
        /// The server.
        address: Address,
    },
    /// Anything else that a server reports.
    #[error("{address}: {doing} failed: {why}; the log of the server has more")]
    Server {
        /// The server.
        address: Address,
        /// What was tried.
        doing: &'static str,
        /// What it said.
        why: String,
    },
    /// A run that could not be read back is not saved.
    #[error(
        "run {id}: its record would not be readable, so it is not saved: {source}; a figure in it is not a number"
    )]
    Unreadable {
        /// The run.
        id: String,
        /// What the reader said.
        source: ReadError,
    },
    /// A stored run that this program cannot read.
    #[error("run {id}: {source}")]
    Record {
        /// The run.
        id: String,
        /// What the reader said.
        source: ReadError,
    },
    /// No run goes by that name.
    #[error("no run is called `{asked}`; {hint}")]
    NoSuchRun {
        /// What was asked for.
        asked: String,
        /// What there is.
        hint: String,
    },
    /// Several runs go by that name.
    #[error("`{asked}` is the beginning of several runs: {candidates}; write more of it", candidates = .candidates.join(", "))]
    Ambiguous {
        /// What was asked for.
        asked: String,
        /// Some of the runs it may mean.
        candidates: Vec<String>,
    },
}

/// How long a process waits for another that writes. A save takes milliseconds; a checkpoint of a full journal
/// on a slow disk may take seconds.
pub(crate) const BUSY_S: u64 = 20;

/// What may hold a run that is damaged.
fn copy_of(place: &Location) -> &'static str {
    match place {
        Location::File(_) => "a copy of the file",
        Location::Server(_) => "a backup of the database",
    }
}

/// SQLite does not pass on why a file could not be opened.
pub(crate) fn no_file_can_be_opened() -> bool {
    const EMFILE: i32 = 24;
    const ENFILE: i32 = 23;
    let tried = std::fs::File::open("/dev/null");
    tried.is_err_and(|error| matches!(error.raw_os_error(), Some(EMFILE | ENFILE)))
}

impl LibraryError {
    /// Whether room on the file system may be what it lacked. A quota is told as a failure of input and output.
    pub(crate) fn may_lack_room(&self) -> bool {
        match self {
            LibraryError::Full { .. } => true,
            LibraryError::Sqlite { source, .. } => {
                source.sqlite_error_code() == Some(ErrorCode::SystemIoFailure)
            }
            _ => false,
        }
    }

    /// The same of opening: the index of a journal that a killed writer left takes room as well.
    pub(crate) fn may_lack_room_to_open(&self) -> bool {
        self.may_lack_room() || matches!(self, LibraryError::Unfinished { .. })
    }

    /// Whether another library may take what this one did not, or this one later: what was to be saved is in order.
    pub fn is_of_the_server(&self) -> bool {
        use LibraryError as E;
        let anywhere = matches!(
            self,
            E::Unreachable { .. }
                | E::NotLetIn { .. }
                | E::NoDatabase { .. }
                | E::Rights { .. }
                | E::Standby { .. }
        );
        anywhere || matches!(self, E::Server { .. } | E::Busy { place: Location::Server(_), .. })
    }

    /// What `source` means for whoever was `doing` something with the file at `path`.
    pub(crate) fn of(path: &Path, doing: &'static str, source: rusqlite::Error) -> LibraryError {
        let path = path.to_path_buf();
        match source.sqlite_error_code() {
            Some(ErrorCode::ReadOnly) => LibraryError::ReadOnly { path },
            Some(ErrorCode::NotADatabase) => LibraryError::NotALibrary { path },
            Some(ErrorCode::DatabaseBusy) => LibraryError::Busy { place: path.into(), waited_s: BUSY_S },
            Some(ErrorCode::DiskFull) => LibraryError::Full { path },
            Some(ErrorCode::DatabaseCorrupt) => LibraryError::Malformed { path, source },
            Some(ErrorCode::CannotOpen | ErrorCode::SystemIoFailure) if no_file_can_be_opened() => {
                LibraryError::Descriptors { path }
            }
            _ => LibraryError::Sqlite { path, doing, source },
        }
    }
}

#[cfg(test)]
mod tests {
    use rusqlite::ffi;

    use super::*;

    fn of(code: i32) -> LibraryError {
        let source = rusqlite::Error::SqliteFailure(ffi::Error::new(code), None);
        LibraryError::of(Path::new("/runs"), "saving a run", source)
    }

    #[test]
    fn each_failure_of_sqlite_is_told_as_what_it_means() {
        for (code, part) in [
            (ffi::SQLITE_READONLY, "cannot be written"),
            (ffi::SQLITE_NOTADB, "is not a library of runs"),
            (ffi::SQLITE_BUSY, "for 20 s"),
            (ffi::SQLITE_FULL, "no space is left"),
            (ffi::SQLITE_CORRUPT, "the library's file is damaged"),
            (ffi::SQLITE_CANTOPEN, "saving a run failed"),
            (ffi::SQLITE_IOERR, "saving a run failed"),
            (ffi::SQLITE_ERROR, "saving a run failed"),
        ] {
            let told = of(code).to_string();
            assert!(told.starts_with("/runs: ") && told.contains(part), "{code}: {told}");
        }
    }

    #[test]
    fn only_a_full_file_system_and_a_failed_write_may_lack_room() {
        let lacking = [ffi::SQLITE_FULL, ffi::SQLITE_IOERR, ffi::SQLITE_IOERR_WRITE];
        assert!(lacking.into_iter().all(|code| of(code).may_lack_room()));
        let others = [ffi::SQLITE_ERROR, ffi::SQLITE_READONLY, ffi::SQLITE_CORRUPT, ffi::SQLITE_CANTOPEN];
        assert!(!others.into_iter().any(|code| of(code).may_lack_room()));
        assert!(!LibraryError::NoHome.may_lack_room());
    }

    #[test]
    fn files_can_be_opened_here() {
        assert!(!no_file_can_be_opened());
    }
}
