//! Where no space is left, runs can be read and removed.

use std::io::Write;

use library::{Filter, Library, LibraryError, Selector};

use crate::namespace::run_in;
use crate::opening::at;
use crate::{remove_all_but, run, same};

const FULL: &str = "FATHOM_TEST_FULL_LIBRARY";

/// Runs in a mount namespace of its own, where the folder is a small file system.
#[test]
#[ignore = "started by `runs_are_listed_and_removed_where_no_space_is_left`"]
fn in_a_folder_that_is_full() {
    let Some(folder) = std::env::var_os(FULL) else { return };
    let folder = std::path::PathBuf::from(folder);
    let path = folder.join("runs.sqlite");
    let mut library = Library::open(&at(&path)).unwrap();
    for second in 0..40 {
        library.save(&run(second)).unwrap();
    }
    drop(library);
    let killed = as_a_killed_writer_leaves_it(&path, &folder.join("killed"));
    fill(&folder.join("others"));

    // The journal of a writer that was killed needs an index, which takes room.
    assert!(matches!(Library::open(&at(&killed)), Err(LibraryError::Unfinished { .. })));
    let mut library = Library::open_to_remove(&at(&killed)).unwrap();
    library.remove(&[Selector::from("last")]).unwrap();
    assert_eq!(library.list(&Filter::default()).unwrap().len(), 40);
    drop(library);
    fill(&folder.join("freed"));

    let mut library = Library::open(&at(&path)).unwrap();
    let error = library.save(&run(99)).unwrap_err();
    assert!(matches!(error, LibraryError::Full { .. } | LibraryError::ReadOnly { .. }), "{error}");
    assert_eq!(library.list(&Filter::default()).unwrap().len(), 40);
    same(&library.get("last").unwrap(), &run(39));
    drop(library);

    let before = std::fs::metadata(&path).unwrap().len();
    let mut library = Library::open_to_remove(&at(&path)).unwrap();
    library.remove(&[Selector::from("last"), Selector::from("7")]).unwrap();
    assert_eq!(library.list(&Filter::default()).unwrap().len(), 38);
    remove_all_but(10, &mut library);
    drop(library);
    assert!(std::fs::metadata(&path).unwrap().len() < before / 2, "the space is given back");

    // What it gave back others may take, and runs can be removed all the same.
    fill(&folder.join("more"));
    let mut library = Library::open_to_remove(&at(&path)).unwrap();
    library.remove(&[Selector::from("last")]).unwrap();
    assert_eq!(library.check().unwrap(), [] as [String; 0]);
    assert_eq!(library.list(&Filter::default()).unwrap().len(), 9);
}

/// A copy in `folder` of the library at `path` with one run more, which stands in the journal alone.
fn as_a_killed_writer_leaves_it(path: &std::path::Path, folder: &std::path::Path) -> std::path::PathBuf {
    std::fs::create_dir(folder).unwrap();
    let copy = folder.join("runs.sqlite");
    for ending in ["", "-reserve"] {
        let beside = |path: &std::path::Path| format!("{}{ending}", path.display());
        std::fs::copy(beside(path), beside(&copy)).unwrap();
    }
    let aside = folder.join("journal");
    let mut library = Library::open(&at(&copy)).unwrap();
    library.save(&run(40)).unwrap();
    std::fs::copy(folder.join("runs.sqlite-wal"), &aside).unwrap();
    std::fs::copy(&copy, folder.join("runs")).unwrap();
    drop(library);
    std::fs::rename(folder.join("runs"), &copy).unwrap();
    std::fs::rename(aside, folder.join("runs.sqlite-wal")).unwrap();
    copy
}

fn fill(path: &std::path::Path) {
    let mut file = std::fs::File::create(path).unwrap();
    for size in [65_536, 4_096, 1] {
        while file.write_all(&vec![b'x'; size]).is_ok() {}
    }
}

#[test]
fn runs_are_listed_and_removed_where_no_space_is_left() {
    let folder = tempfile::tempdir().unwrap();
    run_in(
        "mount -t tmpfs -o size=12m tmpfs \"$1\"",
        folder.path(),
        "full::in_a_folder_that_is_full",
        (FULL, folder.path().as_os_str()),
    );
}
