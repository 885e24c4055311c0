//! A file that is not an ordinary library of this version is recognised, and left alone.

use library::{Filter, Library, LibraryError, Location};
use rusqlite::Connection;

use crate::namespace::run_in;
use crate::{Shelf, as_version_3, run, same};

pub(crate) fn at(path: impl AsRef<std::path::Path>) -> Location {
    path.as_ref().into()
}

#[test]
fn the_default_place_follows_the_environment() {
    let path = library::default_path().expect("the test has a home");
    assert!(path.ends_with("fathom/runs.sqlite"), "{}", path.display());
}

#[test]
fn a_newer_library_is_refused_with_what_to_do_and_left_alone() {
    let shelf = Shelf::new();
    shelf.open().save(&run(1)).unwrap();
    Connection::open(shelf.path()).unwrap().pragma_update(None, "user_version", 99).unwrap();
    let error = Library::open(shelf.place()).unwrap_err();
    assert!(matches!(error, LibraryError::TooNew { found: 99, known: 4, .. }), "{error}");
    assert!(error.to_string().contains("use a newer fathom"), "{error}");
    let version: i64 = Connection::open(shelf.path())
        .and_then(|connection| connection.pragma_query_value(None, "user_version", |row| row.get(0)))
        .unwrap();
    assert_eq!(version, 99);
}

#[test]
fn a_file_of_another_kind_is_refused_and_not_changed() {
    let folder = tempfile::tempdir().unwrap();
    let text = folder.path().join("notes.txt");
    std::fs::write(
        &text,
        "not a database, but long enough to be mistaken for the header of one by its length\n",
    )
    .unwrap();
    let before = std::fs::read(&text).unwrap();
    let error = Library::open(&at(&text)).unwrap_err();
    assert!(matches!(error, LibraryError::NotALibrary { .. }), "{error}");
    assert_eq!(std::fs::read(&text).unwrap(), before);

    let other = folder.path().join("other.sqlite");
    Connection::open(&other).unwrap().execute_batch("CREATE TABLE mine (a)").unwrap();
    let before = std::fs::read(&other).unwrap();
    let error = Library::open(&at(&other)).unwrap_err();
    assert!(matches!(error, LibraryError::NotALibrary { .. }), "{error}");
    assert_eq!(std::fs::read(&other).unwrap(), before);
}

#[test]
fn a_directory_is_said_to_be_one_with_what_to_give() {
    let folder = tempfile::tempdir().unwrap();
    for error in [Library::open(&at(folder.path())), Library::open_to_read(folder.path())] {
        let error = error.unwrap_err();
        assert!(matches!(error, LibraryError::Directory { .. }), "{error}");
        let file = folder.path().join("runs.sqlite");
        assert!(error.to_string().ends_with(&format!("--store {}", file.display())), "{error}");
    }
}

#[test]
fn a_folder_that_cannot_be_made_is_named() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("file"), "").unwrap();
    let error = Library::open(&at(folder.path().join("file/below/runs.sqlite"))).unwrap_err();
    assert!(matches!(error, LibraryError::Folder { .. }), "{error}");
    assert!(error.to_string().contains("--store FILE"), "{error}");
}

#[test]
fn room_that_is_set_aside_is_given_back_where_a_failed_write_may_lack_it_and_only_there() {
    let reserve = |path: &std::path::Path| path.with_extension("sqlite-reserve");
    let shelf = Shelf::new();
    assert!(shelf.open().is_writable());
    // The beginning of the file is its mark.
    let set_aside = std::fs::read(reserve(&shelf.path())).unwrap()[..200].to_vec();
    std::fs::write(reserve(&shelf.path()), &set_aside).unwrap();
    let kept = |path: &std::path::Path| std::fs::read(reserve(path)).is_ok_and(|found| found == set_aside);
    assert!(Library::open_to_remove(shelf.place()).unwrap().is_writable());
    assert!(kept(&shelf.path()), "there is room");

    let foreign = shelf.path().with_file_name("foreign.sqlite");
    Connection::open(&foreign).unwrap().execute_batch("CREATE TABLE mine (a)").unwrap();
    std::fs::write(reserve(&foreign), &set_aside).unwrap();
    assert!(matches!(Library::open_to_remove(&at(&foreign)), Err(LibraryError::NotALibrary { .. })));
    assert!(kept(&foreign), "room is not what it lacks");

    // The first byte of a process's memory cannot be read: the system calls that a failure of input and output.
    let failing = shelf.path().with_file_name("failing.sqlite");
    std::os::unix::fs::symlink("/proc/self/mem", &failing).unwrap();
    std::fs::write(reserve(&failing), &set_aside).unwrap();
    let error = Library::open_to_remove(&at(&failing)).unwrap_err();
    assert!(matches!(error, LibraryError::Sqlite { .. }), "{error}");
    assert!(!reserve(&failing).exists());
}

const NO_FILES: &str = "FATHOM_TEST_NO_FILES_LIBRARY";

/// Runs in a process that may open few files.
#[test]
#[ignore = "started by `a_process_that_may_open_no_further_file_is_told_so`"]
fn where_no_file_can_be_opened() {
    let Some(path) = std::env::var_os(NO_FILES) else { return };
    let absent = std::path::Path::new(&path).with_file_name("none.sqlite");
    let held: Vec<_> = std::iter::from_fn(|| std::fs::File::open("/dev/null").ok()).collect();
    let errors = [path.as_ref(), absent.as_os_str()].map(|path| Library::open(&at(path)).unwrap_err());
    drop(held);
    for error in errors {
        assert!(matches!(error, LibraryError::Descriptors { .. }), "{error}");
    }
    assert!(Library::open(&at(&path)).is_ok());
}

#[test]
fn a_process_that_may_open_no_further_file_is_told_so() {
    let shelf = Shelf::new();
    shelf.open().save(&run(1)).unwrap();
    let child = std::process::Command::new("sh")
        .args(["-c", "ulimit -n 64; exec \"$@\"", "sh"])
        .arg(std::env::current_exe().unwrap())
        .args(["--ignored", "--exact", "opening::where_no_file_can_be_opened"])
        .env(NO_FILES, shelf.path())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&child.stdout);
    assert!(child.status.success() && said.contains("1 passed"), "{said}");
}

const READ_ONLY: &str = "FATHOM_TEST_READ_ONLY_LIBRARY";

/// Runs in a mount namespace of its own, where the folder of the library is mounted read-only.
#[test]
#[ignore = "started by `read_where_nothing_can_be_written`"]
fn in_a_read_only_folder() {
    let Some(path) = std::env::var_os(READ_ONLY) else { return };
    let mut library = Library::open(&at(&path)).expect("it can be read");
    assert!(!library.is_writable());
    assert_eq!(library.list(&Filter::default()).unwrap().len(), 1);
    same(&library.get("last").unwrap(), &run(1));
    let error = library.save(&run(2)).unwrap_err();
    assert!(matches!(error, LibraryError::ReadOnly { .. }), "{error}");
    assert!(error.to_string().contains("read-only"), "{error}");
    let beside = std::path::Path::new(&path).with_file_name("none.sqlite");
    let error = Library::open(&at(&beside)).unwrap_err();
    assert!(matches!(error, LibraryError::ReadOnly { .. }), "{error}");
    let below = std::path::Path::new(&path).with_file_name("folder").join("none.sqlite");
    let error = Library::open(&at(&below)).unwrap_err();
    assert!(matches!(error, LibraryError::ReadOnly { .. }), "{error}");
}

#[test]
fn a_library_on_a_read_only_file_system_can_be_read_and_says_why_it_cannot_be_written() {
    let shelf = Shelf::new();
    shelf.open().save(&run(1)).unwrap();
    read_where_nothing_can_be_written(&shelf);
}

#[test]
fn a_library_of_an_older_version_can_be_read_where_it_cannot_be_brought_up_to_date() {
    let shelf = Shelf::new();
    shelf.open().save(&run(1)).unwrap();
    as_version_3(&shelf).close().unwrap();
    let before = std::fs::read(shelf.path()).unwrap();
    read_where_nothing_can_be_written(&shelf);
    assert!(std::fs::read(shelf.path()).unwrap() == before);
}

/// Runs where the folder of the library is mounted read-only.
#[test]
#[ignore = "started by `a_newer_library_that_cannot_be_written_is_refused_as_well`"]
fn a_newer_one_in_a_read_only_folder() {
    let Some(path) = std::env::var_os(READ_ONLY) else { return };
    let error = Library::open(&at(&path)).unwrap_err();
    assert!(matches!(error, LibraryError::TooNew { found: 5, known: 4, .. }), "{error}");
}

#[test]
fn a_newer_library_that_cannot_be_written_is_refused_as_well() {
    let shelf = Shelf::new();
    shelf.open().save(&run(1)).unwrap();
    Connection::open(shelf.path()).unwrap().pragma_update(None, "user_version", 5).unwrap();
    let before = std::fs::read(shelf.path()).unwrap();
    where_nothing_can_be_written(&shelf, "opening::a_newer_one_in_a_read_only_folder");
    assert!(std::fs::read(shelf.path()).unwrap() == before);
}

fn read_where_nothing_can_be_written(shelf: &Shelf) {
    where_nothing_can_be_written(shelf, "opening::in_a_read_only_folder");
}

fn where_nothing_can_be_written(shelf: &Shelf, test: &str) {
    let folder = shelf.path().parent().unwrap().to_owned();
    let read_only = "mount --bind \"$1\" \"$1\" && mount -o remount,bind,ro \"$1\"";
    run_in(read_only, &folder, test, (READ_ONLY, shelf.path().as_os_str()));
}
