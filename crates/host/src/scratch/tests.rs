use std::io;

use rustix::fs::Mode;

use super::create::{create_named, create_noted};
use super::*;
use crate::fixture::as_nobody;
use crate::restore::unfinished;

fn spec(folder: &tempfile::TempDir, size: Bytes) -> Spec {
    Spec {
        path: path_in(folder.path(), 0),
        size,
        seed: 7,
        reserve: Some(Bytes::ZERO),
        journal: Journal::default(),
    }
}

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("the test has a temporary folder")
}

fn go_on(_: Progress) -> Step {
    Step::Continue
}

const SIZE: Bytes = Bytes::new(9 << 20);

fn made(folder: &tempfile::TempDir) -> Scratch {
    Scratch::prepare(&spec(folder, SIZE), &mut go_on).expect("there is room")
}

/// The path of a file that a run has left on purpose.
fn kept(folder: &tempfile::TempDir) -> PathBuf {
    let mut scratch = made(folder);
    scratch.keep().expect("the file is ours");
    scratch.path().to_owned()
}

#[test]
fn a_scratch_file_has_its_mark_no_gap_and_is_gone_when_dropped() {
    let folder = folder();
    let mut reports = Vec::new();
    let mut note = |progress: Progress| {
        reports.push(progress.written);
        Step::Continue
    };
    let scratch = Scratch::prepare(&spec(&folder, SIZE), &mut note).expect("there is room");
    assert_eq!(scratch.size(), SIZE);
    assert_eq!(reports.last(), Some(&SIZE));
    assert!(!scratch.extents().has_gap(), "{}", scratch.extents().in_words());
    let file = File::open(scratch.path()).expect("it is there");
    assert_eq!(header_of(&file).expect("it can be read"), Some(*scratch.header()));
    let path = scratch.path().to_owned();
    drop(scratch);
    assert!(!path.exists());
}

#[test]
fn a_file_without_the_mark_is_neither_overwritten_nor_removed() {
    let folder = folder();
    let spec = spec(&folder, SIZE);
    for content in [vec![], vec![1; 100], vec![2; 8192]] {
        std::fs::write(&spec.path, &content).expect("the folder is ours");
        let error = Scratch::prepare(&spec, &mut go_on).expect_err("it is not Fathom's");
        let fits = match content.is_empty() {
            true => matches!(error, ScratchError::Empty { .. }),
            false => matches!(error, ScratchError::NotOurs { .. }),
        };
        assert!(fits, "{error}");
        assert_eq!(std::fs::read(&spec.path).expect("it is there"), content);
    }
    std::fs::remove_file(&spec.path).expect("it is there");
    std::os::unix::fs::symlink("/dev/null", &spec.path).expect("the folder is ours");
    let error = Scratch::prepare(&spec, &mut go_on).expect_err("a link is not followed");
    assert!(matches!(error, ScratchError::NotOurs { .. }), "{error}");
}

#[test]
fn a_link_to_a_file_with_the_mark_is_not_taken_for_that_file() {
    let folder = folder();
    let marked = kept(&folder);
    let before = std::fs::read(&marked).expect("it was kept");
    let link = Spec { path: path_in(folder.path(), 1), ..spec(&folder, SIZE) };
    std::os::unix::fs::symlink(&marked, &link.path).expect("the folder is ours");
    for size in [SIZE, SIZE + Bytes::MIB] {
        let error = Scratch::prepare(&Spec { size, ..link.clone() }, &mut go_on).expect_err("it is a link");
        assert!(matches!(error, ScratchError::NotOurs { .. }), "{error}");
    }
    assert_eq!(left_behind(&link.path), None);
    assert!(left_behind(&marked).is_some());
    assert!(link.path.is_symlink());
    assert!(std::fs::read(&marked).expect("it was kept") == before);
}

#[test]
fn where_a_user_may_not_it_is_said_what_he_may_not_and_nothing_is_changed() {
    use std::os::unix::fs::PermissionsExt;
    let folder = folder();
    let permit = |path: &Path, mode| {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).expect("the folder is ours");
    };
    let path = kept(&folder);
    let refused = |wanted: &Spec| {
        let made = as_nobody(|| Scratch::prepare(wanted, &mut go_on).map(drop));
        match made.map(|made| made.expect_err("he may not")) {
            Some(ScratchError::Os { action, source, .. }) => {
                assert_eq!(source.kind(), io::ErrorKind::PermissionDenied, "{action}: {source}");
                Some(action)
            }
            Some(other) => panic!("{other}"),
            None => None,
        }
    };
    permit(folder.path(), 0o755);
    permit(&path, 0o600);
    // Neither the mark nor the data of a file that may not be read.
    let Some(action) = refused(&spec(&folder, SIZE)) else { return };
    assert_eq!(action, "open");
    // Its mark may be read, and nothing be written.
    permit(&path, 0o644);
    assert_eq!(refused(&spec(&folder, SIZE)), Some("open"));
    let other = Spec { path: path_in(folder.path(), 1), ..spec(&folder, SIZE) };
    assert_eq!(refused(&other), Some("create"));
    permit(folder.path(), 0o700);
    assert!(refused(&other).is_some());
    let there: Vec<_> = std::fs::read_dir(folder.path()).expect("it is there").collect();
    assert_eq!(there.len(), 1, "{there:?}");
}

#[test]
fn a_new_file_has_no_name_at_all_until_it_is_noted() {
    // On the disk of the build: not every file system makes files without a name.
    let folder = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).expect("the test has a folder");
    let flags = OFlags::TMPFILE | OFlags::RDWR;
    if rustix::fs::open(folder.path(), flags, Mode::from_raw_mode(0o600)).is_err() {
        return;
    }
    let path = path_in(folder.path(), 0);
    let header = Header { complete: false, keep: false, data: Bytes::KIB * 64, seed: 1, creation: 0xabc };
    let names = || std::fs::read_dir(folder.path()).expect("it is there").count();
    let mut by_then = None;
    let mut note = |_: &File| {
        by_then = Some(names());
        Ok(())
    };
    let file = create_noted(&path, &header, &mut note).expect("there is room");
    assert_eq!((by_then, names()), (Some(0), 1));
    assert!(handle::is_at(&path, &file).expect("it is there"));
    assert!(matches!(lock(&path, &File::open(&path).expect("it is there")), Err(ScratchError::InUse { .. })));
}

#[test]
fn the_least_file_is_one_block_and_reports_grow_up_to_the_whole() {
    let folder = folder();
    let least = Scratch::prepare(&spec(&folder, Bytes::new(1)), &mut go_on).expect("there is room");
    assert_eq!((least.size(), least.path()), (HEADER_SIZE, path_in(folder.path(), 0).as_path()));
    assert_eq!(std::fs::metadata(least.path()).expect("it is there").len(), 8192);
    drop(least);
    let mut reports = Vec::new();
    let mut note = |progress: Progress| {
        reports.push((progress.written.get(), progress.total));
        Step::Continue
    };
    drop(Scratch::prepare(&spec(&folder, SIZE), &mut note).expect("there is room"));
    assert!(reports.windows(2).all(|pair| pair[0].0 < pair[1].0), "{reports:?}");
    assert!(reports.iter().all(|report| report.1 == SIZE), "{reports:?}");
    assert_eq!(reports.len(), 3, "chunks of 4 MiB: {reports:?}");
}

#[test]
fn a_file_is_laid_out_past_the_page_cache_where_that_can_be_and_says_whether() {
    let folder = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).expect("the test has a folder");
    let mut scratch = made(&folder);
    let direct = std::os::unix::fs::OpenOptionsExt::custom_flags(File::options().read(true), libc::O_DIRECT)
        .open(scratch.path());
    let can = direct.is_ok();
    assert_eq!(scratch.direct, can);
    scratch.keep().expect("the file is ours");
    drop(scratch);
    let again = Scratch::prepare(&spec(&folder, SIZE), &mut go_on).expect("it is there");
    assert!(again.reused() && !again.direct, "it may be cached in part");
    let header = *again.header();
    assert!(header.complete && header.keep && header.seed == 7 && header.data == SIZE, "{header:?}");
}

/// Whether the first block of a file is in the page cache, as far as the file system tells (preadv2(2), `RWF_NOWAIT`).
fn is_cached(file: &File) -> Option<bool> {
    let mut bytes = [0; 4096];
    let flags = rustix::io::ReadWriteFlags::NOWAIT;
    match rustix::io::preadv2(file, &mut [io::IoSliceMut::new(&mut bytes)], 0, flags) {
        Ok(_) => Some(true),
        Err(Errno::AGAIN) => Some(false),
        Err(_) => None,
    }
}

#[test]
fn what_is_evicted_is_written_back_first_and_then_no_longer_in_memory() {
    let folder = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).expect("the test has a folder");
    let scratch = made(&folder);
    let file = scratch.permit().open(0).expect("it is there").expect("there is something to open");
    std::os::unix::fs::FileExt::write_all_at(&file, &[5; 4096], 0).expect("it is ours");
    if is_cached(&file) != Some(true) {
        return;
    }
    scratch.evict().expect("the file is ours");
    assert_eq!(is_cached(&file), Some(false));
}

#[test]
fn what_is_flushed_is_no_longer_to_be_written() {
    let folder = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).expect("the test has a folder");
    let scratch = made(&folder);
    let file = scratch.permit().open(0).expect("it is there").expect("there is something to open");
    std::os::unix::fs::FileExt::write_all_at(&file, &[5; 4096], 0).expect("it is ours");
    // Where the kernel tells, and has not begun by itself.
    if crate::pages::unwritten(scratch.path()) != Some(Bytes::KIB * 4) {
        return;
    }
    scratch.sync().expect("the file is ours");
    assert_eq!(crate::pages::unwritten(scratch.path()), Some(Bytes::ZERO));
}

#[test]
fn a_file_whose_name_leads_elsewhere_is_said_to_be_moved_and_one_without_a_name_is_gone() {
    let folder = folder();
    let mut moved = made(&folder);
    let elsewhere = folder.path().join("moved");
    std::fs::rename(moved.path(), &elsewhere).expect("the folder is ours");
    let error = moved.remove().expect_err("its name is gone, and it is not");
    assert!(matches!(error, ScratchError::Moved { .. }), "{error}");
    assert!(moved.remove().is_ok(), "it is said once");
    drop(moved);
    std::fs::remove_file(&elsewhere).expect("it was left");
    let mut gone = made(&folder);
    std::fs::remove_file(gone.path()).expect("it is there");
    gone.remove().expect("there is nothing left to remove");
}

#[test]
fn the_journal_holds_a_file_from_before_it_is_made_until_it_has_gone() {
    let folder = folder();
    let journals = folder.path().join("journals");
    let journal = Journal::in_folder(&journals, None).expect("the folder is ours");
    let noted = || std::fs::read_dir(&journals).map_or(0, Iterator::count);
    let spec = Spec { journal, ..spec(&folder, SIZE) };
    let scratch = Scratch::prepare(&spec, &mut go_on).expect("there is room");
    assert_eq!(noted(), 1);
    drop(scratch);
    assert_eq!(noted(), 0);
    let mut kept = Scratch::prepare(&spec, &mut go_on).expect("there is room");
    kept.keep().expect("the file is ours");
    assert_eq!(noted(), 0, "what is kept is not to be removed");
}

#[test]
fn the_room_for_a_file_is_that_of_the_folder_it_would_be_in() {
    let folder = folder();
    let path = path_in(folder.path(), 3);
    assert_eq!(path, folder.path().join("fathom-scratch-3.dat"));
    let room = room(&path).expect("the folder is there");
    let stat = std::fs::metadata(folder.path()).expect("it is there");
    assert_eq!(room.file_system, stat.dev());
    assert!(room.free > Bytes::ZERO && room.free < room.total, "{room:?}");
    assert!(enough_room(&path, SIZE, Some(Bytes::ZERO)).is_ok());
    let error = enough_room(&path, SIZE, Some(room.total)).expect_err("less than all is free");
    let ScratchError::TooLarge { asked, reserve, .. } = error else { panic!("{error}") };
    assert_eq!((asked, reserve), (SIZE, room.total));
    assert!(super::room(Path::new("/nowhere/at/all")).is_err());
}

#[test]
fn what_an_earlier_run_has_left_is_told_with_what_it_holds() {
    let folder = folder();
    let path = path_in(folder.path(), 0);
    assert_eq!(left_behind(&path), None);
    kept(&folder);
    let left = left_behind(&path).expect("it was kept");
    assert_eq!((left.data, left.complete), (SIZE, true));
    let whole = SIZE + HEADER_SIZE;
    assert!(left.held >= whole && left.held < whole + Bytes::MIB, "{left:?}");
    std::fs::write(&path, vec![1; 8192]).expect("the folder is ours");
    assert_eq!(left_behind(&path), None, "it is no longer Fathom's");
}

#[test]
fn only_what_lacks_space_is_full() {
    for errno in [libc::ENOSPC, libc::EDQUOT, libc::EFBIG] {
        assert!(is_full(&io::Error::from_raw_os_error(errno)), "{errno}");
    }
    for errno in [libc::EIO, libc::EACCES, libc::EINVAL] {
        assert!(!is_full(&io::Error::from_raw_os_error(errno)), "{errno}");
    }
}

#[test]
fn a_pipe_in_the_place_of_a_scratch_file_is_not_waited_for() {
    let folder = folder();
    let spec = spec(&folder, SIZE);
    let (kind, mode) = (rustix::fs::FileType::Fifo, Mode::from_raw_mode(0o600));
    rustix::fs::mknodat(rustix::fs::CWD, &spec.path, kind, mode, 0).expect("the folder is ours");
    let error = Scratch::prepare(&spec, &mut go_on).expect_err("it is no file");
    assert!(matches!(error, ScratchError::NotOurs { .. }), "{error}");
    assert_eq!(left_behind(&spec.path), None);
}

#[test]
fn a_kept_file_is_reused_and_stays_while_another_size_replaces_it() {
    let folder = folder();
    let mut first = made(&folder);
    first.keep().expect("the file is ours");
    let creation = first.header().creation;
    drop(first);
    let again = Scratch::prepare(&spec(&folder, SIZE), &mut go_on).expect("it is there");
    assert!(again.reused());
    assert_eq!(again.header().creation, creation);
    let path = again.path().to_owned();
    drop(again);
    assert!(path.exists());
    let other = Scratch::prepare(&spec(&folder, SIZE + Bytes::MIB), &mut go_on).expect("there is room");
    assert!(!other.reused());
    assert_ne!(other.header().creation, creation);
    // Both halves of it are drawn.
    assert!([creation, other.header().creation].iter().all(|id| id >> 64 != 0 && *id << 64 != 0));
    drop(other);
    assert!(!path.exists());
}

#[test]
fn a_file_that_lost_its_data_since_is_laid_out_again() {
    let folder = folder();
    let mut first = made(&folder);
    first.keep().expect("the file is ours");
    let punch = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
    let punched = fallocate(&first.file, punch, 1 << 20, 1 << 20).is_ok();
    drop(first);
    let again = made(&folder);
    assert!(!again.extents().has_gap());
    assert_eq!(again.reused(), !punched);
    std::fs::remove_file(again.path()).expect("it is there");
}

#[test]
fn two_runs_do_not_share_a_file() {
    let folder = folder();
    let first = made(&folder);
    let error = Scratch::prepare(&spec(&folder, SIZE), &mut go_on).expect_err("it is in use");
    assert!(matches!(error, ScratchError::InUse { .. }), "{error}");
    assert!(first.path().exists());
}

#[test]
fn an_interrupt_while_laying_out_removes_the_partial_file() {
    let folder = folder();
    let error = Scratch::prepare(&spec(&folder, SIZE), &mut |_| Step::Abort).expect_err("it was aborted");
    assert!(matches!(error, ScratchError::Aborted { .. }), "{error}");
    assert_eq!(std::fs::read_dir(folder.path()).expect("it is ours").count(), 0);
}

#[test]
fn what_is_enough_becomes_the_file() {
    let folder = folder();
    let scratch = Scratch::prepare(&spec(&folder, Bytes::MIB * 64), &mut |_| Step::Enough);
    let scratch = scratch.expect("there is room");
    assert!(scratch.size() < Bytes::MIB * 64 && scratch.size() >= Bytes::MIB * 4, "{}", scratch.size());
    let length = std::fs::metadata(scratch.path()).expect("it is there").len();
    assert_eq!(length, (scratch.size() + HEADER_SIZE).get());
    assert!(!scratch.extents().has_gap());
}

#[test]
fn more_than_fits_is_refused_before_anything_is_created() {
    let folder = folder();
    let spec = Spec { reserve: None, ..spec(&folder, Bytes::TIB * 4096) };
    let error = Scratch::prepare(&spec, &mut go_on).expect_err("it cannot fit");
    assert!(matches!(error, ScratchError::TooLarge { .. }), "{error}");
    assert!(!spec.path.exists());
}

#[test]
fn a_limit_met_while_writing_says_what_was_tried_and_leaves_nothing() {
    let folder = folder();
    // Larger than any file can be, which the file system says only when it is tried.
    let size = Bytes::new(i64::MAX as u64).round_down(HEADER_SIZE) - HEADER_SIZE;
    let error = Scratch::lay_out(&spec(&folder, size), size, &mut go_on).expect_err("it cannot fit");
    assert!(matches!(error, ScratchError::Full { .. }), "{error}");
    assert_eq!(std::fs::read_dir(folder.path()).expect("it is ours").count(), 0);
}

/// How often a stranger puts a link to a file of his in the place of the scratch file while it is made and removed.
const RACES: u64 = 300;

#[test]
fn a_link_put_in_the_place_of_the_scratch_file_while_it_is_made_leads_nowhere() {
    let folder = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).expect("the test has a folder");
    let spec = Spec { reserve: Some(Bytes::ZERO), size: Bytes::KIB * 64, ..spec(&folder, SIZE) };
    let (victim, aside) = (folder.path().join("victim"), folder.path().join("aside"));
    let precious = vec![7; 256 << 10];
    std::fs::write(&victim, &precious).expect("the folder is ours");
    let tries: u64 = std::env::var("FATHOM_RACES").ok().and_then(|n| n.parse().ok()).unwrap_or(RACES);
    let is_over = std::sync::atomic::AtomicBool::new(false);
    let exchanged = std::sync::atomic::AtomicU64::new(0);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over.load(std::sync::atomic::Ordering::Relaxed) {
                if std::fs::rename(&spec.path, &aside).is_ok() {
                    let _taken = std::os::unix::fs::symlink(&victim, &spec.path);
                    exchanged.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                }
            }
        });
        for attempt in 0..tries {
            let made = Scratch::prepare(&spec, &mut go_on);
            if let Ok(scratch) = &made {
                // As the engines do, by its permit: refused, or the scratch file itself.
                if let Ok(Some(file)) = scratch.permit().open(0) {
                    std::os::unix::fs::FileExt::write_all_at(&file, b"load", 0).expect("it is ours");
                }
            }
            drop(made);
            let found = std::fs::read(&victim).expect("nobody removes it");
            assert!(found == precious, "try {attempt} wrote to a file of somebody else");
            let _link = std::fs::remove_file(&spec.path);
            let _own = std::fs::remove_file(&aside);
        }
        is_over.store(true, std::sync::atomic::Ordering::Relaxed);
    });
    assert!(exchanged.into_inner() > 0, "nobody tried");
}

#[test]
fn a_new_scratch_file_never_has_its_name_without_its_mark() {
    let folder = folder();
    let spec = spec(&folder, Bytes::KIB * 64);
    let is_over = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        let watcher = scope.spawn(|| {
            let mut bare = 0;
            while !is_over.load(std::sync::atomic::Ordering::Relaxed) {
                let found = File::open(&spec.path).ok();
                bare +=
                    u32::from(found.is_some_and(|file| header_of(&file).is_ok_and(|mark| mark.is_none())));
            }
            bare
        });
        for _ in 0..50 {
            drop(Scratch::prepare(&spec, &mut go_on).expect("there is room"));
        }
        is_over.store(true, std::sync::atomic::Ordering::Relaxed);
        assert_eq!(watcher.join().expect("it only looks"), 0);
    });
}

#[test]
fn where_no_file_can_be_made_without_a_name_it_has_another_one_until_it_has_its_mark() {
    let folder = folder();
    let path = path_in(folder.path(), 0);
    let header = Header { complete: false, keep: false, data: Bytes::KIB * 64, seed: 1, creation: 0xabc };
    let mut named_by_then = None;
    let mut note = |_: &File| {
        named_by_then = Some(path.exists());
        Ok(())
    };
    let file = create_named(&path, &header, &mut note).expect("there is room");
    assert_eq!(named_by_then, Some(false));
    assert_eq!(header_of(&file).expect("it can be read"), Some(header));
    assert!(handle::is_at(&path, &file).expect("it is there"));
    let again = create_named(&path, &header, &mut |_| Ok(())).expect_err("it is not made over another");
    assert!(matches!(again, ScratchError::NotOurs { .. }), "{again}");
    let full = ScratchError::NotNoted { path: path.clone(), source: io::ErrorKind::StorageFull.into() };
    let other = path_in(folder.path(), 1);
    let mut full = Some(full);
    create_named(&other, &header, &mut |_| Err(full.take().expect("once"))).expect_err("it is not noted");
    assert_eq!(std::fs::read_dir(folder.path()).expect("it is there").count(), 1);
    // Not over another file of the name that it would have until then.
    let taken = unfinished(&other, header.creation);
    std::fs::write(&taken, "a stranger's").expect("the folder is ours");
    let error = create_named(&other, &header, &mut |_| Ok(())).expect_err("its name is taken");
    assert!(matches!(error, ScratchError::NotOurs { .. }), "{error}");
    assert_eq!(std::fs::read(&taken).expect("it is there"), b"a stranger's");
}

/// `chattr +i` or `-i`; `None` where that is not known, or not allowed.
fn set_immutable(path: &Path, is_so: bool) -> Option<()> {
    use std::os::fd::AsFd;
    let file = File::open(path).expect("it is there");
    let flags = rustix::fs::ioctl_getflags(file.as_fd()).ok()?;
    let mut wanted = flags;
    wanted.set(rustix::fs::IFlags::IMMUTABLE, is_so);
    rustix::fs::ioctl_setflags(file.as_fd(), wanted).ok()
}

#[test]
fn a_write_that_is_refused_for_another_reason_than_space_is_told_as_what_it_is() {
    let folder = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).expect("the test has a folder");
    let spec = spec(&folder, Bytes::MIB * 64);
    let mut done = None;
    let mut refuse = |_: Progress| {
        done = done.or_else(|| set_immutable(&spec.path, true));
        if done.is_some() { Step::Continue } else { Step::Abort }
    };
    let error = Scratch::prepare(&spec, &mut refuse).expect_err("it cannot be written");
    if done.is_none() {
        assert!(matches!(error, ScratchError::Aborted { .. }), "{error}");
        return;
    }
    set_immutable(&spec.path, false).expect("it was allowed before");
    let ScratchError::Os { action, source, .. } = error else { panic!("{error}") };
    assert_eq!((action, source.raw_os_error()), ("write", Some(libc::EPERM)));
}

#[test]
fn a_file_put_in_the_place_of_the_scratch_file_is_not_removed() {
    let folder = folder();
    let scratch = made(&folder);
    let path = scratch.path().to_owned();
    std::fs::rename(&path, folder.path().join("moved")).expect("the folder is ours");
    std::fs::write(&path, "somebody else's").expect("the folder is ours");
    drop(scratch);
    assert!(path.exists());
}
