//! What a permit opens, and when it no longer holds.

use super::*;
use crate::fixture::as_nobody;

#[test]
fn a_permit_for_a_device_is_for_the_disk_that_was_there_then_and_for_its_number() {
    let machine = Fixture::new();
    let (root, node) = (machine.root(), std::path::PathBuf::from("/dev/null"));
    let devno = machine.disk("made-up", "1:3", 8);
    machine.write("sys/block/made-up/diskseq", "7\n");
    let seal = |devno, sequence| {
        // Every system has this one: it is only looked at.
        let held = File::open(&node).expect("every system has one");
        Seal::Block { root: root.clone(), node: node.clone(), devno, sequence, held }
    };
    assert!(seal(devno, Some(7)).fits().expect("it can be looked at"));
    assert!(!seal(devno, Some(6)).fits().expect("it can be looked at"), "another disk came in its place");
    assert!(!seal(devno, None).fits().expect("it can be looked at"));
    let other = machine.disk("other", "1:5", 8);
    machine.write("sys/block/other/diskseq", "7\n");
    assert!(!seal(other, Some(7)).fits().expect("it can be looked at"), "the node is another device's");
}

#[test]
fn what_is_found_no_longer_was_exchanged_and_any_other_failure_is_told() {
    let path = Path::new("/a/file");
    let gone = not_opened(path, io::ErrorKind::NotFound.into());
    assert!(matches!(gone, SafetyError::Exchanged { path } if path == Path::new("/a/file")));
    for errno in [libc::EACCES, libc::EIO, libc::ENOTDIR] {
        let told = not_opened(path, io::Error::from_raw_os_error(errno));
        let is_told = matches!(&told, SafetyError::Os { source, .. } if source.raw_os_error() == Some(errno));
        assert!(is_told, "{told}");
    }
}

#[test]
fn what_cannot_be_opened_is_told_by_the_systems_reason_and_is_not_taken_for_exchanged() {
    let own = Own::of(b"data");
    let target = Target { name: "file".into(), kind: TargetKind::File(own.path.clone()) };
    let consent = named(&own.path.display().to_string());
    let permit = permit(&SysRoot::real(), &target, Some(&consent)).expect("nothing is against it");
    let error = permit.open(libc::O_DIRECTORY).expect_err("it is no directory");
    let SafetyError::Os { path, source } = &error else { panic!("{error}") };
    assert_eq!((path, source.raw_os_error()), (&own.path, Some(libc::ENOTDIR)));
}

#[test]
fn what_is_looked_at_is_neither_waited_for_nor_followed_nor_left_open_to_other_programs() {
    let own = Own::of(b"data");
    let flags = |file: &File| rustix::io::fcntl_getfd(file).expect("it is open");
    let looked = open_to_look(&own.path).expect("it is there");
    assert!(flags(&looked).contains(rustix::io::FdFlags::CLOEXEC));
    let (link, pipe) = (own.path.with_file_name("link"), own.path.with_file_name("pipe"));
    std::os::unix::fs::symlink(&own.path, &link).expect("the folder is ours");
    let error = open_to_look(&link).expect_err("it is a link");
    assert_eq!(error.raw_os_error(), Some(libc::ELOOP));
    let (kind, mode) = (rustix::fs::FileType::Fifo, rustix::fs::Mode::from_raw_mode(0o600));
    rustix::fs::mknodat(rustix::fs::CWD, &pipe, kind, mode, 0).expect("the folder is ours");
    assert!(open_to_look(&pipe).is_ok(), "it is opened at once");
    let again = handle::reopen(&looked, &own.path, OFlags::RDONLY).expect("it is open");
    assert!(flags(&again).contains(rustix::io::FdFlags::CLOEXEC));
}

#[test]
fn who_may_write_a_file_and_does_not_own_it_opens_it_too() {
    use std::os::fd::AsFd;
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().expect("the test has a temporary folder");
    let path = std::fs::canonicalize(folder.path()).expect("it is there").join("file");
    std::fs::write(&path, "data").expect("the folder is ours");
    for (path, mode) in [(folder.path(), 0o755), (&path, 0o666)] {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).expect("it is ours");
    }
    let target = Target { name: "file".into(), kind: TargetKind::File(path.clone()) };
    let consent = named(&path.display().to_string());
    let permit = permit(&SysRoot::real(), &target, Some(&consent)).expect("nothing is against it");
    let flags = |file: &File| rustix::fs::fcntl_getfl(file.as_fd()).expect("it is open");
    let own = permit.open(0).expect("it is ours").expect("there is something to open");
    assert!(flags(&own).contains(OFlags::RDWR | OFlags::NOATIME));
    // Only an owner may ask that reading leaves no trace (open(2), O_NOATIME).
    let Some(opened) = as_nobody(|| permit.open(0)) else { return };
    let opened = opened.expect("everybody may write it").expect("there is something to open");
    assert!(flags(&opened).contains(OFlags::RDWR) && !flags(&opened).contains(OFlags::NOATIME));
}
