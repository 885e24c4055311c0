//! Files of a user, and files of Fathom's own.

use super::*;

#[test]
fn a_file_that_somebody_has_open_for_writing_is_refused_as_long_as_he_has() {
    let own = Own::of(b"data");
    assert_eq!(own.against(), []);
    let open = std::fs::File::options().write(true).open(&own.path).expect("it is ours");
    only(&own.against(), |reason| matches!(reason, Reason::OpenElsewhere { .. }));
    drop(open);
    assert_eq!(own.against(), []);
}

#[test]
fn a_file_under_any_kind_of_lock_is_refused() {
    let own = Own::of(b"data");
    let reader = std::fs::File::open(&own.path).expect("it is ours");
    for kind in [rustix::fs::FlockOperation::LockShared, rustix::fs::FlockOperation::LockExclusive] {
        rustix::fs::flock(&reader, kind).expect("nobody else has it");
        only(&own.against(), |reason| matches!(reason, Reason::Locked { kind: "flock", .. }));
    }
    drop(reader);
    for (command, name) in [(libc::F_OFD_SETLK, "open file description"), (libc::F_SETLK, "POSIX")] {
        let file = std::fs::File::options().read(true).write(true).open(&own.path).expect("it is ours");
        // SAFETY: all zeros is a valid `struct flock`.
        let mut lock: libc::flock = unsafe { std::mem::zeroed() };
        lock.l_type = narrow::<libc::c_short>(libc::F_WRLCK);
        // SAFETY: the descriptor is open and `lock` is a `struct flock`.
        let taken = unsafe { libc::fcntl(std::os::fd::AsRawFd::as_raw_fd(&file), command, &raw mut lock) };
        assert_eq!(taken, 0);
        only(&own.against(), |reason| matches!(reason, Reason::Locked { kind, .. } if *kind == name));
        drop(file);
    }
    assert_eq!(own.against(), []);
}

#[test]
fn a_file_that_is_an_image_of_a_file_system_is_refused_under_its_own_name() {
    let mut image = vec![0; 1 << 20];
    image[1080..1082].copy_from_slice(b"\x53\xef");
    only(&Own::of(&image).against(), |reason| matches!(reason, Reason::Signature { .. }));
}

#[test]
fn a_users_file_needs_its_own_path_as_consent() {
    let machine = machine();
    let folder = std::fs::canonicalize(machine.path("dev")).expect("the fixture has it");
    let path = folder.join("precious");
    std::fs::write(&path, "data").expect("the folder is ours");
    let target = Target { name: "precious".into(), kind: TargetKind::File(path.clone()) };
    let root = machine.root();
    let text = path.display().to_string();
    let judgement = judge(&root, &target, None);
    assert_eq!(judgement.consents, std::slice::from_ref(&text));
    assert_eq!(judgement.reasons, [Reason::NoConsent { names: vec![text.clone()] }]);
    let other = named(&folder.join("other").display().to_string());
    only(&judge(&root, &target, Some(&other)).reasons, |reason| {
        matches!(reason, Reason::OtherConsent { .. })
    });
    let consent = Consent::parse(&text).expect("it is a path");
    let permit = permit(&root, &target, Some(&consent)).expect("nothing is against it");
    assert!(permit.open(0).expect("it is there").is_some());
    // The same path, another file: what was consented to is gone.
    std::fs::rename(&path, folder.join("moved")).expect("the folder is ours");
    std::fs::write(&path, "other data").expect("the folder is ours");
    assert!(matches!(permit.open(0), Err(SafetyError::Exchanged { .. })));
}

#[test]
fn a_file_that_is_swap_or_behind_a_loop_or_a_kernel_knob_is_refused_in_spite_of_consent() {
    let machine = machine();
    let path = std::fs::canonicalize(machine.path("proc/swaps")).expect("the fixture has it");
    let text = path.display().to_string();
    let target = Target { name: text.clone(), kind: TargetKind::File(path.clone()) };
    let consent = Consent::parse(&text).expect("it is a path");
    let reasons = || judge(&machine.root(), &target, Some(&consent)).reasons;
    assert_eq!(reasons(), []);
    machine.append("proc/swaps", &format!("{text} file 100 0 -2\n"));
    assert_eq!(reasons(), [Reason::Swap { device: text.clone() }]);
    machine.write("proc/swaps", "");
    machine.disk("loop0", "7:0", 8);
    machine.write("sys/block/loop0/loop/backing_file", &text);
    only(&reasons(), |reason| matches!(reason, Reason::BehindLoop { .. }));
    let alias = path.with_file_name("alias");
    std::fs::hard_link(&path, &alias).expect("the folder is ours");
    machine.write("sys/block/loop0/loop/backing_file", &alias.display().to_string());
    only(&reasons(), |reason| matches!(reason, Reason::BehindLoop { .. }));
    machine.write("sys/block/loop0/loop/backing_file", "/elsewhere");
    machine.mount("0:5", &path.parent().expect("it has one").display().to_string(), "proc", "proc");
    only(&reasons(), |reason| matches!(reason, Reason::NoStorage { .. }));
}

#[test]
fn a_file_that_is_in_use_is_so_where_its_path_is_no_text() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    let machine = machine();
    let folder = std::fs::canonicalize(machine.path("dev")).expect("the fixture has it");
    let path = folder.join(OsStr::from_bytes(b"x\xff.img"));
    std::fs::write(&path, vec![0; 8192]).expect("the folder is ours");
    let target = Target { name: "x".into(), kind: TargetKind::File(path.clone()) };
    let has = |wanted: fn(&Reason) -> bool| judge(&machine.root(), &target, None).reasons.iter().any(wanted);
    let bytes = path.as_os_str().as_bytes();
    assert!(!has(|reason| matches!(reason, Reason::Swap { .. } | Reason::BehindLoop { .. })));
    machine.write_bytes("proc/swaps", &[b"Filename Type\n", bytes, b" file 100 0 -2\n"].concat());
    assert!(has(|reason| matches!(reason, Reason::Swap { .. })));
    machine.disk("loop0", "7:0", 8);
    machine.write_bytes("sys/block/loop0/loop/backing_file", &[bytes, b"\n"].concat());
    assert!(has(|reason| matches!(reason, Reason::BehindLoop { .. })));
}

#[test]
fn fathoms_own_file_and_what_is_not_there_yet_need_no_consent() {
    let folder = tempfile::tempdir().expect("the test has a temporary folder");
    let folder = std::fs::canonicalize(folder.path()).expect("it is there");
    let (path, size) = (folder.join("own"), Bytes::MIB);
    let spec = scratch::Spec {
        path: path.clone(),
        size,
        seed: 1,
        reserve: Some(Bytes::ZERO),
        journal: Default::default(),
    };
    let mut own = scratch::Scratch::prepare(&spec, &mut |_| scratch::Step::Continue).expect("there is room");
    let root = SysRoot::real();
    let target = Target { name: "own".into(), kind: TargetKind::File(path.clone()) };
    only(&judge(&root, &target, None).reasons, |reason| matches!(reason, Reason::Locked { .. }));
    own.keep().expect("it is ours");
    drop(own);
    for kind in [
        TargetKind::File(path),
        TargetKind::NewFile(folder.join("new")),
        TargetKind::Directory(folder.clone()),
    ] {
        let target = Target { name: "own".into(), kind };
        let permit = permit(&root, &target, None).expect("it is Fathom's");
        assert_eq!(permit.consent, None);
    }
}

#[test]
fn a_file_of_zeros_alone_needs_no_consent_but_is_refused_in_use_like_any_other() {
    let own = Own::of(&vec![0; 3 << 20]);
    let target = Target { name: "file".into(), kind: TargetKind::File(own.path.clone()) };
    let judged = || judge(&SysRoot::real(), &target, None);
    assert_eq!((judged().reasons, judged().destroys), (vec![], false));
    let permit = permit(&SysRoot::real(), &target, None).expect("nothing is against it");
    assert_eq!((permit.consent, permit.mark), (None, Some(crate::plain::Mark::Written)));
    let open = std::fs::File::options().write(true).open(&own.path).expect("it is ours");
    only(&judged().reasons, |reason| matches!(reason, Reason::OpenElsewhere { .. }));
    std::os::unix::fs::FileExt::write_all_at(&open, b"x", 2 << 20).expect("it is ours");
    drop(open);
    only(&judged().reasons, |reason| matches!(reason, Reason::NoConsent { .. }));
    std::fs::write(&own.path, "").expect("it is ours");
    only(&judged().reasons, |reason| matches!(reason, Reason::NoConsent { .. }));
}
