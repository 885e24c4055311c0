//! Trees on a real file system: what is there after each operation, and what becomes of a folder that is not ours.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should say where")]

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use host::clock::Clock;
use host::load::run;
use host::restore::Journal;
use host::tree::{FOLDER, FolderState, MARK, TreeError, Trees, look};
use tempfile::TempDir;
use units::Bytes;
use workload::Errno;
use workload::plan::{Overrides, Plan, Task};
use workload::spec::Workload;
use workload::tally::{Failure, Tally};
use workload::tree::{FileOp, compile_tree};
use workload::worn_out;

/// A workload of these keys.
fn workload(keys: &str) -> Workload {
    let plan = Plan::parse("t", &format!("[[phase]]\n{keys}\n"), &Overrides::default()).unwrap();
    let Task::Load(load) = &plan.points()[0].task else { panic!("a load") };
    load.workloads[0].clone()
}

/// Prepares and does what `workload` asks, and notes that it was done.
fn execute(trees: &mut Trees, workload: &Workload) -> Vec<Tally> {
    prepare(trees, workload).unwrap();
    let tallies = act(trees, workload);
    let errors: u64 = tallies.iter().map(|tally| tally.errors).sum();
    let each = workload.stop.wear_out.then(|| worn_out(tallies.iter())).flatten();
    trees.done(&workload.name, workload.tree.as_ref().unwrap().op, errors == 0, each);
    tallies
}

fn prepare(trees: &mut Trees, workload: &Workload) -> Result<(), TreeError> {
    trees.prepare(workload, workload.tree.as_ref().unwrap(), &AtomicBool::new(false), &mut |_| ())
}

fn act(trees: &Trees, workload: &Workload) -> Vec<Tally> {
    let jobs = compile_tree(workload, workload.tree.as_ref().unwrap()).unwrap();
    let assignments = [trees.assign(workload, jobs, false)];
    let outcomes = run(&assignments, &Clock::start(), &AtomicBool::new(false), &mut |_| ()).unwrap();
    outcomes.into_iter().map(|outcome| outcome.tally).collect()
}

/// Every path below `top`: files with their sizes, directories with a slash.
fn listing(top: &Path) -> BTreeSet<String> {
    fn walk(top: &Path, at: &Path, all: &mut BTreeSet<String>) {
        for entry in fs::read_dir(at).unwrap().map(Result::unwrap) {
            let (path, kind) = (entry.path(), entry.file_type().unwrap());
            let name = path.strip_prefix(top).unwrap().display().to_string();
            if kind.is_dir() {
                all.insert(format!("{name}/"));
                walk(top, &path, all);
            } else if kind.is_symlink() {
                all.insert(format!("{name} -> {}", fs::read_link(&path).unwrap().display()));
            } else {
                all.insert(format!("{name} {}", entry.metadata().unwrap().len()));
            }
        }
    }
    let mut all = BTreeSet::new();
    walk(top, top, &mut all);
    all
}

fn folder() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(FOLDER);
    (folder, path)
}

const KEYS: &str = "count = 6\nfile_size = '5KiB'\nlevels = 1\nfanout = 2\nworkers = 2\n";

fn doing(op: &str) -> Workload {
    workload(&format!("{KEYS}tree = '{op}'"))
}

#[test]
fn after_each_operation_the_directory_holds_what_was_asked_and_nothing_when_all_is_over() {
    let (directory, path) = folder();
    let mut trees = Trees::open(directory.path(), false, &Journal::default()).unwrap();
    let names = |suffix: &str, size: &str| -> BTreeSet<String> {
        let file = |(node, file): (u32, &str)| format!("d{node}/f{file}{suffix}{size}");
        let files = [(1, "000-0000000"), (1, "000-0000001"), (2, "000-0000002")];
        let others = [(1, "001-0000000"), (1, "001-0000001"), (2, "001-0000002")];
        files.into_iter().chain(others).map(file).chain(["d1/".into(), "d2/".into()]).collect()
    };
    let holds = || listing(&path.join("t0"));
    let directories: BTreeSet<String> = ["d1/".to_string(), "d2/".to_string()].into();

    execute(&mut trees, &doing("mkdir"));
    assert_eq!(holds(), directories);
    execute(&mut trees, &doing("create"));
    assert_eq!(holds(), names("", " 5120"));
    for op in ["stat", "open", "read", "write", "readdir"] {
        let tallies = execute(&mut trees, &doing(op));
        assert_eq!(tallies.iter().map(|tally| tally.errors).sum::<u64>(), 0, "{op}");
        assert_eq!(holds(), names("", " 5120"), "{op}");
    }
    execute(&mut trees, &doing("rename"));
    assert_eq!(holds(), names("r", " 5120"));
    // They are found by their new names, and have their own again after the next time.
    assert_eq!(execute(&mut trees, &doing("read"))[0].errors, 0);
    execute(&mut trees, &doing("rename"));
    assert_eq!(holds(), names("", " 5120"));
    execute(&mut trees, &doing("link"));
    let links: BTreeSet<String> = names("", " 5120").union(&names(".link", " 5120")).cloned().collect();
    assert_eq!(holds(), links);
    assert_eq!(fs::metadata(path.join("t0/d1/f000-0000000")).unwrap().nlink(), 2);
    execute(&mut trees, &doing("symlink"));
    assert_eq!(fs::read_link(path.join("t0/d1/f000-0000000.sym")).unwrap(), Path::new("f000-0000000"));
    execute(&mut trees, &doing("rmdir"));
    assert_eq!(holds(), BTreeSet::new(), "what stood in the way was removed before");
    execute(&mut trees, &doing("delete"));
    assert_eq!(holds(), directories, "files were made before they were deleted");
    drop(trees);
    assert_eq!(listing(directory.path()), BTreeSet::new());
}

#[test]
fn workers_have_trees_of_their_own_where_that_is_asked() {
    let (directory, path) = folder();
    let mut trees = Trees::open(directory.path(), false, &Journal::default()).unwrap();
    execute(&mut trees, &workload(&format!("{KEYS}tree = 'create'\nunique_dirs = true")));
    let held: Vec<usize> =
        ["w0/d1", "w0/d2", "w1/d1", "w1/d2"].map(|d| listing(&path.join("t0").join(d)).len()).to_vec();
    assert_eq!(held, [2, 1, 2, 1]);
}

#[test]
fn durable_operations_end_without_an_error_whatever_they_are() {
    let (directory, _) = folder();
    let mut trees = Trees::open(directory.path(), false, &Journal::default()).unwrap();
    for op in FileOp::ALL.iter().filter(|op| **op != FileOp::Sync) {
        for fsync in ["each", "end"] {
            let tallies = execute(&mut trees, &workload(&format!("{KEYS}tree = '{op}'\nfsync = '{fsync}'")));
            assert_eq!(tallies.iter().map(|tally| tally.errors).sum::<u64>(), 0, "{op} {fsync}");
        }
    }
}

#[test]
fn content_is_what_was_asked_for() {
    let (directory, path) = folder();
    let mut trees = Trees::open(directory.path(), false, &Journal::default()).unwrap();
    execute(&mut trees, &workload("count = 2\nfile_size = '3MiB'\ntree = 'create'\ncontent = 'zeros'"));
    assert_eq!(fs::read(path.join("t0/f000-0000001")).unwrap(), vec![0; 3 << 20]);
    let tallies = execute(&mut trees, &workload("count = 2\nfile_size = '3MiB'\ntree = 'write'"));
    assert_eq!(tallies[0].classes[0].bytes, Bytes::MIB * 6);
    let read = |file: &str| fs::read(path.join("t0").join(file)).unwrap();
    assert_ne!(read("f000-0000000"), read("f000-0000001"));
}

#[test]
fn of_a_tree_that_wore_out_later_phases_visit_what_was_made() {
    let (directory, path) = folder();
    let mut trees = Trees::open(directory.path(), false, &Journal::default()).unwrap();
    let doing =
        |keys: &str| workload(&format!("count = 2_000_000\nworkers = 2\nlevels = 1\nfanout = 4\n{keys}"));
    let ops = |tallies: &[Tally]| tallies.iter().map(Tally::ops).collect::<Vec<_>>();
    let made =
        ops(&execute(&mut trees, &doing("tree = 'create'\nfile_size = '0B'\nrun = '50ms'\nwear_out = true")));
    assert!(made[0] == made[1] && (2..1_000_000).contains(&made[0]), "{made:?}");
    let there = || listing(&path.join("t0")).iter().filter(|name| !name.ends_with('/')).count() as u64;
    assert_eq!(there(), made[0] * 2);
    for keys in ["tree = 'stat'", "tree = 'stat'\norder = 'random'", "tree = 'open'\nvisitors = 'shifted(1)'"]
    {
        let tallies = execute(&mut trees, &doing(&format!("{keys}\nfile_size = '0B'\nrun = 'none'")));
        assert_eq!((ops(&tallies), tallies[0].errors), (made.clone(), 0), "{keys}");
    }
    let removed = execute(&mut trees, &doing("tree = 'delete'\nfile_size = '0B'\nrun = 'none'"));
    assert_eq!((ops(&removed), there()), (made, 0));
}

#[test]
fn a_folder_without_the_mark_is_refused_and_one_left_behind_is_cleared() {
    let (directory, path) = folder();
    assert_eq!(look(directory.path()).unwrap(), FolderState::Nothing);
    fs::create_dir(&path).unwrap();
    fs::write(path.join("precious"), "kept").unwrap();
    assert_eq!(look(directory.path()).unwrap(), FolderState::Foreign);
    let error = Trees::open(directory.path(), false, &Journal::default()).unwrap_err();
    assert!(matches!(error, TreeError::NotOurs { .. }), "{error}");
    assert!(path.join("precious").exists());
    fs::remove_dir_all(&path).unwrap();

    let mut left = Trees::open(directory.path(), true, &Journal::default()).unwrap();
    execute(&mut left, &doing("create"));
    assert_eq!(look(directory.path()).unwrap(), FolderState::InUse);
    assert!(matches!(
        Trees::open(directory.path(), false, &Journal::default()).unwrap_err(),
        TreeError::InUse { .. }
    ));
    drop(left);
    assert_eq!(look(directory.path()).unwrap(), FolderState::Left);
    let trees = Trees::open(directory.path(), false, &Journal::default()).unwrap();
    assert_eq!(listing(&path).len(), 1, "the mark alone");
    drop(trees);
    assert!(!path.exists());
}

#[test]
fn a_link_in_place_of_the_folder_is_not_followed() {
    let (directory, path) = folder();
    let elsewhere = tempfile::tempdir().unwrap();
    drop(Trees::open(elsewhere.path(), true, &Journal::default()).unwrap());
    std::os::unix::fs::symlink(elsewhere.path().join(FOLDER), &path).unwrap();
    assert!(matches!(
        Trees::open(directory.path(), false, &Journal::default()).unwrap_err(),
        TreeError::NotOurs { .. }
    ));
    assert!(elsewhere.path().join(FOLDER).join(MARK).exists());
}

#[test]
fn what_somebody_else_put_into_the_folder_stays() {
    let (directory, path) = folder();
    let mut trees = Trees::open(directory.path(), false, &Journal::default()).unwrap();
    execute(&mut trees, &doing("create"));
    fs::write(path.join("t0/d1/precious"), "kept").unwrap();
    drop(trees);
    assert_eq!(fs::read_to_string(path.join("t0/d1/precious")).unwrap(), "kept");
    let error = Trees::open(directory.path(), false, &Journal::default()).unwrap_err();
    assert!(matches!(error, TreeError::Stranger { .. }), "{error}");
}

#[test]
fn a_tree_that_vanishes_beneath_its_workers_gives_errors_and_no_panic() {
    let (directory, path) = folder();
    let mut trees = Trees::open(directory.path(), false, &Journal::default()).unwrap();
    let stat = doing("stat");
    prepare(&mut trees, &stat).unwrap();
    fs::remove_dir_all(&path).unwrap();
    let tallies = act(&trees, &stat);
    assert_eq!(
        tallies.iter().map(|tally| (tally.errors, tally.completed)).collect::<Vec<_>>(),
        [(3, 3), (3, 3)]
    );
    let errno = tallies[0].error_samples[0].failure;
    assert_eq!(errno, Failure::Errno(Errno(libc::ENOENT)));
    // Something else of its name by now is not removed with it.
    fs::create_dir(&path).unwrap();
    drop(trees);
    assert!(path.exists());
}

#[test]
fn what_failed_in_part_is_made_anew() {
    let (directory, path) = folder();
    let mut trees = Trees::open(directory.path(), false, &Journal::default()).unwrap();
    let read = doing("read");
    prepare(&mut trees, &read).unwrap();
    fs::remove_file(path.join("t0/d1/f000-0000001")).unwrap();
    let delete = doing("delete");
    assert_eq!(execute(&mut trees, &delete).iter().map(|tally| tally.errors).sum::<u64>(), 1);
    assert_eq!(execute(&mut trees, &read).iter().map(|tally| tally.errors).sum::<u64>(), 0);
}

#[test]
fn more_files_than_fit_are_refused_before_any_is_made() {
    let (directory, path) = folder();
    let mut trees = Trees::open(directory.path(), false, &Journal::default()).unwrap();
    let error = prepare(&mut trees, &workload("count = 1_000_000_000\nfile_size = '1GiB'\ntree = 'read'"));
    assert!(matches!(error, Err(TreeError::TooLarge { .. })), "{error:?}");
    assert_eq!(listing(&path).iter().filter(|name| name.contains("/f")).count(), 0);
}
