use std::fs::{self, File};
use std::io;

use tempfile::TempDir;
use units::{Bytes, Nanos};

use super::fate::{Fate, unfinished};
use super::journal::Owner;
use super::replay::Whose;
use super::*;
use crate::scratch::{Scratch, Spec, Step, path_in};
use crate::sysroot::SysRoot;

fn folder() -> TempDir {
    tempfile::tempdir().unwrap()
}

fn laid_out(path: &Path) -> Scratch {
    let (path, journal) = (path.to_owned(), Journal::default());
    let spec = Spec { path, size: Bytes::KIB * 64, seed: 1, reserve: Some(Bytes::ZERO), journal };
    Scratch::prepare(&spec, &mut |_| Step::Continue).unwrap()
}

/// A scratch file at `path` whose process has gone, and what was noted of it.
fn left_behind(path: &Path) -> Change {
    let creation = laid_out(path).abandon();
    Change::Scratch(MadeFile::before(path).unwrap().made(&fs::File::open(path).unwrap()).unwrap(), creation)
}

fn put_back(change: &Change) -> Fate {
    change.put_back(&SysRoot::real(), Whose::Gone)
}

fn removed() -> Fate {
    Fate::Restored("removed".into())
}

#[test]
fn a_scratch_file_is_removed_by_any_name_that_its_run_had_given_it() {
    let folder = folder();
    let path = path_in(folder.path(), 0);
    let change = left_behind(&path);
    assert_eq!(put_back(&change), removed());
    assert_eq!(put_back(&change), Fate::Nothing);

    let change = left_behind(&path);
    fs::rename(&path, folder.path().join("fathom-scratch-0.dat.0123456789abcdef.removed")).unwrap();
    assert_eq!(put_back(&change), removed());

    let Change::Scratch(made, _) = change else { panic!("it is one") };
    let before = Change::Scratch(MadeFile { id: None, ..made }, 7);
    fs::write(unfinished(&path, 7), "").unwrap();
    assert_eq!(put_back(&before), removed());
    fs::write(&path, "").unwrap();
    assert_eq!(put_back(&before), Fate::Nothing, "an empty file of its name may be anybody's");
    assert!(path.exists());
}

#[test]
fn a_file_that_is_no_longer_what_was_made_is_not_removed() {
    let folder = folder();
    let path = path_in(folder.path(), 0);
    let change = left_behind(&path);
    let copy = folder.path().join("copy");
    fs::copy(&path, &copy).unwrap();
    fs::rename(&path, folder.path().join("elsewhere")).unwrap();
    fs::rename(&copy, &path).unwrap();
    assert_eq!(put_back(&change), Fate::Nothing, "a copy has the mark, and another number");
    fs::rename(folder.path().join("elsewhere"), &path).unwrap();

    fs::OpenOptions::new()
        .append(true)
        .open(&path)
        .and_then(|mut file| io::Write::write_all(&mut file, b"x"))
        .unwrap();
    assert!(matches!(put_back(&change), Fate::Left(_)), "somebody has written to it");
    assert!(path.exists());
    fs::remove_file(&path).unwrap();

    let mut kept = laid_out(&path);
    kept.keep().unwrap();
    let made = MadeFile::before(&path).unwrap().made(&fs::File::open(&path).unwrap()).unwrap();
    let creation = kept.header().creation;
    drop(kept);
    assert_eq!(put_back(&Change::Scratch(made, creation)), Fate::Nothing);
    assert!(path.exists());
}

#[test]
fn a_scratch_file_that_another_run_has_taken_over_is_left_to_it() {
    let folder = folder();
    let path = path_in(folder.path(), 0);
    let change = left_behind(&path);
    let taken = laid_out(&path);
    assert!(taken.reused());
    assert_eq!(put_back(&change), Fate::Nothing);
    assert!(path.exists());
    drop(taken);
    assert!(!path.exists());
}

#[test]
fn a_file_without_a_mark_is_known_by_its_number_and_the_time_it_was_made() {
    let folder = folder();
    let path = folder.path().join("made");
    let file = crate::plain::create(&path).unwrap();
    let made = MadeFile::before(&path).unwrap().made(&file).unwrap();
    let id = made.id.unwrap();
    let other =
        FileId { born: id.born.map(|born| born - 1), inode: id.inode + u64::from(id.born.is_none()), ..id };
    assert_eq!(put_back(&Change::Plain(MadeFile { id: Some(other), ..made.clone() })), Fate::Nothing);
    assert_eq!(put_back(&Change::Plain(MadeFile { id: None, ..made.clone() })), Fate::Nothing);
    assert!(path.exists());
    assert_eq!(put_back(&Change::Plain(made)), removed());
    assert!(!path.exists());
}

#[test]
fn a_tree_is_cleared_and_removed_if_it_is_the_one_that_was_made() {
    let folder = folder();
    let path = folder.path().join(crate::tree::FOLDER);
    drop(crate::tree::Trees::open(folder.path(), true, &Journal::default()).unwrap());
    let made = MadeFile::before(&path).unwrap().made(&fs::File::open(&path).unwrap()).unwrap();
    let id = made.id.map(|id| FileId { inode: id.inode + 1, ..id });
    assert_eq!(put_back(&Change::Tree(MadeFile { id, ..made.clone() })), Fate::Nothing);
    assert!(path.exists());
    assert_eq!(put_back(&Change::Tree(made.clone())), Fate::Restored("cleared and removed".into()));
    assert!(!path.exists());
    fs::create_dir(&path).unwrap();
    assert_eq!(put_back(&Change::Tree(MadeFile { id: None, ..made })), removed());
}

/// Notes `change` in a journal of `folder` whose process has gone.
fn noted(folder: &Path, change: Change) {
    let journal = Journal::in_folder(folder, None).unwrap();
    journal.note(change).unwrap();
}

#[test]
fn what_is_noted_is_put_back_by_whoever_comes_next_and_the_journal_goes_with_it() {
    let (home, folder) = (folder(), folder());
    let journals = home.path().join("journals");
    let path = path_in(folder.path(), 0);
    noted(&journals, left_behind(&path));
    let report = replay(&journals, Nanos::ZERO);
    assert_eq!(report.restored.len(), 1, "{report:?}");
    assert!(report.restored[0].contains(path.to_str().unwrap()) && !path.exists());
    assert!(!journals.exists());
    assert_eq!(replay(&journals, Nanos::ZERO), Report::default());
}

#[test]
fn what_cannot_be_reached_stays_noted_until_it_can() {
    let (home, folder) = (folder(), folder());
    let mounted = folder.path().join("mounted");
    fs::create_dir(&mounted).unwrap();
    let path = path_in(&mounted, 0);
    noted(home.path(), left_behind(&path));
    fs::rename(&mounted, folder.path().join("away")).unwrap();
    for is_empty_mount_point in [false, true] {
        let report = replay(home.path(), Nanos::ZERO);
        assert_eq!(report.failed.len(), 1, "{report:?}");
        assert!(report.failed[0].contains("mounted") && report.failed[0].contains(".journal"), "{report:?}");
        if !is_empty_mount_point {
            fs::create_dir(&mounted).unwrap();
        }
    }
    fs::remove_dir(&mounted).unwrap();
    fs::rename(folder.path().join("away"), &mounted).unwrap();
    assert_eq!(replay(home.path(), Nanos::ZERO).restored.len(), 1);
    assert!(!path.exists());
}

#[test]
fn the_journal_of_a_process_that_is_at_work_is_not_replayed() {
    let (home, folder) = (folder(), folder());
    let path = path_in(folder.path(), 0);
    let journal = Journal::in_folder(home.path(), None).unwrap();
    let noted = journal.note(left_behind(&path)).unwrap();
    let report = replay(home.path(), Nanos::ZERO);
    assert_eq!(report, Report { at_work: vec![std::process::id()], ..Report::default() });
    assert!(path.exists());
    let own = journal.put_back();
    assert_eq!(own.restored.len(), 1, "it may do it itself: {own:?}");
    noted.done();
    assert!(!path.exists());
}

#[test]
fn a_torn_line_stands_for_nothing_that_was_done_and_a_changed_one_has_the_journal_left_alone() {
    let (home, folder) = (folder(), folder());
    let path = path_in(folder.path(), 0);
    let change = left_behind(&path);
    let file = |home: &Path| replay::journals(home).remove(0);
    noted(home.path(), change.clone());
    let text = fs::read_to_string(file(home.path())).unwrap();
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    assert_eq!(lines.len(), 2);

    for cut in 1..lines[1].len() {
        let torn = text.len() - cut;
        fs::write(file(home.path()), &text[..torn]).unwrap();
        assert!(
            replay::read(&mut File::open(file(home.path())).unwrap()).unwrap().open.is_empty(),
            "{cut} bytes are missing"
        );
    }
    let changed = text.replacen("scratch", "scratCh", 1) + lines[1];
    fs::write(file(home.path()), changed).unwrap();
    let report = replay(home.path(), Nanos::ZERO);
    assert!(report.failed[0].contains("line 2 is damaged"), "{report:?}");
    assert!(path.exists());

    let elsewhere = Owner::this(None);
    let there = lines[0].replacen(&elsewhere.machine, "another-machine", 1);
    let (said, _) = there.trim_end().rsplit_once(' ').unwrap();
    let there = format!("{said} {:016x}\n", crate::scratch::fnv1a(said.as_bytes()));
    fs::write(file(home.path()), there + lines[1]).unwrap();
    let report = replay(home.path(), Nanos::ZERO);
    assert!(report.failed[0].contains("another-machine"), "{report:?}");
    assert!(path.exists());

    fs::write(file(home.path()), text).unwrap();
    assert_eq!(replay(home.path(), Nanos::ZERO).restored.len(), 1);
}

#[test]
fn journals_that_cannot_be_read_do_not_mean_that_there_are_none() {
    let home = folder();
    let journals = home.path().join("journals");
    fs::write(&journals, "no folder").unwrap();
    let report = replay(&journals, Nanos::ZERO);
    assert!(report.failed[0].contains("the journals in"), "{report:?}");
    assert_eq!(replay(&home.path().join("none"), Nanos::ZERO), Report::default());
}
