//! Targets, safety, scratch files and counters on real block devices: loop devices that each test makes and removes.
//!
//! Needs root and losetup; says so and skips where they are missing.

mod loops;

use std::fs::{File, OpenOptions};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use host::monitor::DeviceCounters;
use host::safety::{Consent, Reason, judge, permit};
use host::scratch::{Scratch, ScratchError, Spec, Step, header_of};
use host::target::{DeviceKind, Direct, Link, TargetKind};
use host::{Facts, SysRoot, Target};
use tempfile::TempDir;
use units::Bytes;
use units::convert::narrow;

use loops::{Loop, attach, lacks, run, skipped};

fn consent(device: &Loop) -> Consent {
    Consent::parse(&format!("data:loop:{}", device.image.display())).expect("it is a path")
}

fn against(device: &Loop) -> Vec<Reason> {
    judge(&SysRoot::real(), &device.target(), Some(&consent(device))).reasons
}

/// A mount in a folder of its own; ended when dropped.
struct Mounted(TempDir);

impl Mounted {
    fn make(node: &str) -> Option<Mounted> {
        let folder = TempDir::new().expect("the test has a temporary folder");
        let point = folder.path().to_str().expect("it is text");
        if run("mount", &[node, point]).is_none() {
            lacks("mount", "needs the right to mount");
            return None;
        }
        Some(Mounted(folder))
    }

    fn path(&self) -> PathBuf {
        self.0.path().canonicalize().expect("it is there")
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        let point = self.0.path().to_str().expect("it is text");
        // Another test that starts a program holds every open file for a moment, which makes the mount busy.
        if run("umount", &[point]).is_none() {
            run("umount", &["--lazy", point]);
        }
    }
}

/// Swapping to a device; ended when dropped.
struct Swapping<'a>(&'a Loop);

impl Drop for Swapping<'_> {
    fn drop(&mut self) {
        run("swapoff", &[&self.0.node]);
    }
}

fn mkfs(node: &str, options: &[&str]) -> bool {
    let done = run("mkfs.ext4", &[&["-q", "-F"], options, &[node]].concat()).is_some();
    if !done {
        lacks("mkfs.ext4", "needs mkfs.ext4");
    }
    done
}

/// A second loop device, over the file of the first one or over that itself.
fn over(path: &Path) -> Loop {
    let node = attach(&[path.to_str().expect("it is text")]).expect("the first one was made");
    Loop { node, image: path.into(), _folder: TempDir::new().expect("the test has a temporary folder") }
}

const SIZE: Bytes = Bytes::new(16 << 20);

#[test]
fn an_empty_loop_is_written_with_its_files_path_as_consent_and_held_meanwhile() {
    let Some(device) = Loop::make(SIZE, &[], &[]) else { return };
    let root = SysRoot::real();
    let refusal = permit(&root, &device.target(), None).expect_err("nobody consented").to_string();
    assert!(refusal.contains(&format!("--destroy=loop:{}", device.image.display())), "{refusal}");
    let other = Consent::parse("loop:/somewhere/else").expect("it is a path");
    assert!(permit(&root, &device.target(), Some(&other)).is_err());

    let given = permit(&root, &device.target(), Some(&consent(&device))).expect("nothing is against it");
    let file = given.open(0).expect("it is there").expect("there is something to open");
    file.write_all_at(b"written", 4096).expect("it may be written");
    file.sync_data().expect("it may be written");
    assert_eq!(against(&device), [Reason::Busy { device: device.node.clone() }]);
    drop((file, given));
    assert_eq!(against(&device), []);
}

#[test]
fn a_loop_with_a_file_system_is_refused_by_signature_and_by_mount() {
    let Some(device) = Loop::make(SIZE, &[], &[]) else { return };
    if !mkfs(&device.node, &[]) {
        return;
    }
    let carries = |reason: &Reason| matches!(reason, Reason::Signature { name, .. } if name.contains("ext4"));
    let reasons = against(&device);
    assert!(reasons.iter().all(carries) && !reasons.is_empty(), "{reasons:?}");
    let Some(mounted) = Mounted::make(&device.node) else { return };
    let reasons = against(&device);
    let point = mounted.path();
    assert!(reasons.contains(&Reason::Mounted { device: device.node.clone(), point }), "{reasons:?}");
    assert!(reasons.contains(&Reason::Busy { device: device.node.clone() }), "{reasons:?}");
}

#[test]
fn a_loop_that_is_swapped_to_is_refused() {
    let Some(device) = Loop::make(SIZE, &[], &[]) else { return };
    let ready = run("mkswap", &[&device.node]).and_then(|_| run("swapon", &[&device.node]));
    if ready.is_none() {
        lacks("mkswap", "needs mkswap and swapon");
        return;
    }
    let swapping = Swapping(&device);
    let reasons = against(&device);
    drop(swapping);
    assert!(reasons.contains(&Reason::Swap { device: device.node.clone() }), "{reasons:?}");
    assert!(reasons.contains(&Reason::Busy { device: device.node.clone() }), "{reasons:?}");
    let after = against(&device);
    assert!(
        !after.is_empty() && after.iter().all(|reason| matches!(reason, Reason::Signature { .. })),
        "{after:?}"
    );
}

/// A master boot record with one Linux partition from sector 2048 to the end of [`SIZE`].
fn mbr() -> Vec<u8> {
    let mut sector = vec![0; 512];
    sector[446 + 4] = 0x83;
    sector[446 + 8..446 + 12].copy_from_slice(&2048u32.to_le_bytes());
    sector[446 + 12..446 + 16].copy_from_slice(&(narrow::<u32>(SIZE.get() / 512) - 2048).to_le_bytes());
    sector[510..].copy_from_slice(&[0x55, 0xaa]);
    sector
}

#[test]
fn a_loop_whose_partition_is_mounted_is_refused_as_a_whole() {
    let Some(device) = Loop::make(SIZE, &["--partscan"], &[(0, &mbr())]) else { return };
    let part = format!("{}p1", device.node);
    // A kernel that reads no such tables can still be told of the partition.
    if !Path::new(&part).exists() && run("addpart", &[&device.node, "1", "2048", "30720"]).is_none() {
        lacks("addpart", "needs a kernel that reads partition tables, or addpart");
        return;
    }
    if !mkfs(&part, &[]) {
        return;
    }
    let facts =
        Facts::read(&SysRoot::real(), &Target::parse(&part).expect("it is there")).expect("it is there");
    assert!(matches!(facts.devices[0].kind, DeviceKind::Partition { number: 1, .. }), "{facts:?}");
    assert_eq!(facts.members[0].link, Link::PartOf);
    assert_eq!(facts.members[0].device.node, Path::new(&device.node));
    assert_eq!(facts.size, SIZE - Bytes::MIB);

    let Some(mounted) = Mounted::make(&part) else { return };
    let reasons = against(&device);
    let expected = Reason::Mounted { device: part.clone(), point: mounted.path() };
    assert!(reasons.contains(&expected), "{reasons:?}");
    assert!(reasons.contains(&Reason::Busy { device: device.node.clone() }), "{reasons:?}");
    let on_part = judge(&SysRoot::real(), &Target::parse(&part).expect("it is there"), None).reasons;
    assert!(on_part.contains(&expected), "{on_part:?}");
}

#[test]
fn a_file_behind_a_loop_and_a_second_loop_over_it_are_refused() {
    let Some(device) = Loop::make(SIZE, &[], &[]) else { return };
    let image = device.image.to_str().expect("it is text").to_owned();
    let consent = Consent::parse(&image).expect("it is a path");
    let target = Target::parse(&image).expect("it is there");
    let reasons = judge(&SysRoot::real(), &target, Some(&consent)).reasons;
    assert_eq!(reasons, [Reason::BehindLoop { file: image.clone(), by: device.node.clone() }]);
    let second = over(&device.image);
    let reasons = against(&device);
    assert!(reasons.contains(&Reason::BehindLoop { file: image, by: second.node.clone() }), "{reasons:?}");
}

#[test]
fn a_loop_over_a_device_is_known_by_the_devices_number_and_by_its_own_node() {
    let Some(device) = Loop::make(SIZE, &[], &[]) else { return };
    let over = over(Path::new(&device.node));
    let file = device.node.clone();
    let by = over.node.clone();
    assert!(against(&device).contains(&Reason::BehindLoop { file, by }), "{:?}", against(&device));
}

/// What speaks against writing to a file under its own name.
fn against_file(path: &Path) -> Vec<Reason> {
    let text = path.to_str().expect("it is text");
    let consent = Consent::parse(text).expect("it is a path");
    judge(&SysRoot::real(), &Target::parse(text).expect("it is there"), Some(&consent)).reasons
}

#[test]
fn a_file_behind_a_loop_is_known_by_another_name_and_after_its_own_is_gone() {
    let Some(device) = Loop::make(SIZE, &[], &[]) else { return };
    let alias = device.image.with_file_name("alias");
    std::fs::hard_link(&device.image, &alias).expect("the folder is ours");
    let is_behind = |reasons: &[Reason]| {
        let by_it = |reason: &Reason| matches!(reason, Reason::BehindLoop { by, .. } if *by == device.node);
        assert!(!reasons.is_empty() && reasons.iter().all(by_it), "{reasons:?}");
    };
    is_behind(&against_file(&alias));
    std::fs::remove_file(&device.image).expect("the folder is ours");
    is_behind(&against_file(&alias));
}

#[test]
fn a_file_behind_a_loop_that_was_made_in_another_mount_namespace_is_known() {
    let folder = TempDir::new().expect("the test has a temporary folder");
    let image = folder.path().canonicalize().expect("it is there").join("image");
    File::create(&image).and_then(|file| file.set_len(SIZE.get())).expect("the folder is ours");
    // Its path is one that nobody else sees.
    let script = "mount -t tmpfs none /mnt && mkdir /mnt/own && mount --bind \"$1\" /mnt/own && \
                  losetup --find --show /mnt/own/image";
    let there = folder.path().to_str().expect("it is text");
    let Some(node) = run("unshare", &["--mount", "sh", "-c", script, "sh", there]) else {
        lacks("unshare", "needs root, unshare and losetup");
        return;
    };
    let reasons = against_file(&image);
    run("losetup", &["--detach", &node]);
    assert!(
        reasons.iter().any(|reason| matches!(reason, Reason::BehindLoop { by, .. } if *by == node)),
        "{reasons:?}"
    );
    // The kernel lets go of the file when nobody else has the device open, as whoever looks for a free one may for a moment.
    let gone = (0..50).any(|_| against_file(&image).is_empty() || run("sleep", &["0.1"]).is_none());
    assert!(gone, "{:?}", against_file(&image));
}

#[test]
fn a_file_that_is_swapped_to_is_refused() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("the test has a folder");
    let file = folder.path().canonicalize().expect("it is there").join("swap");
    std::fs::write(&file, vec![0; 4 << 20]).expect("the folder is ours");
    let path = file.to_str().expect("it is text");
    std::fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o600)).expect("it is ours");
    if run("mkswap", &[path]).and_then(|_| run("swapon", &[path])).is_none() {
        lacks("mkswap", "needs mkswap and swapon");
        return;
    }
    let reasons = against_file(&file);
    run("swapoff", &[path]);
    assert!(reasons.iter().any(|reason| matches!(reason, Reason::Swap { .. })), "{reasons:?}");
}

#[test]
fn the_disk_of_this_very_system_is_refused() {
    let root = SysRoot::real();
    let here = Facts::read(&root, &Target::parse("/").expect("it is there")).expect("it is there");
    let Some(device) = here.devices.first().filter(|device| device.node.exists()) else {
        skipped("the root of this system is on no block device that can be seen");
        return;
    };
    let target = Target {
        name: "/".into(),
        kind: TargetKind::Block { node: device.node.clone(), devno: device.devno },
    };
    let consents = device.consents();
    let consent = consents.first().map(|text| Consent::parse(text).expect("it was proposed"));
    let reasons = judge(&root, &target, consent.as_ref()).reasons;
    assert!(reasons.iter().any(|reason| matches!(reason, Reason::Mounted { .. })), "{reasons:?}");
    assert!(reasons.iter().any(|reason| matches!(reason, Reason::SystemDisk { .. })), "{reasons:?}");
}

#[test]
fn a_loop_tells_its_size_its_blocks_its_file_and_the_disk_beneath() {
    let Some(device) = Loop::make(SIZE, &["--sector-size", "4096"], &[]) else { return };
    let facts = Facts::read(&SysRoot::real(), &device.target()).expect("it is there");
    assert_eq!(facts.size, SIZE);
    assert_eq!(facts.devices[0].logical_block, Bytes::KIB * 4);
    let DeviceKind::Loop { backing, deleted: false, .. } = &facts.devices[0].kind else {
        panic!("{:?}", facts.devices[0].kind);
    };
    assert_eq!(backing.as_deref(), Some(device.image.as_path()));
    let Some(Direct::Aligned { offset, .. }) = facts.direct else { panic!("{:?}", facts.direct) };
    assert_eq!(offset, Bytes::KIB * 4);
    assert!(
        facts
            .members
            .iter()
            .all(|member| matches!(member.link, Link::FileOn | Link::PartOf | Link::MemberOf))
    );
}

#[test]
fn the_kernels_counters_agree_with_what_was_asked() {
    let Some(device) = Loop::make(SIZE, &[], &[]) else { return };
    let root = SysRoot::real();
    let devno = device.devno();
    let file = OpenOptions::new().read(true).write(true).custom_flags(libc::O_DIRECT).open(&device.node);
    let file = file.expect("it is ours");
    let memory = vec![7; 16384];
    // Direct I/O needs an aligned buffer.
    let start = memory.as_ptr().align_offset(4096);
    let before = DeviceCounters::read(&root, devno).expect("it is listed");
    for block in 0..100 {
        file.write_all_at(&memory[start..start + 8192], block * 8192).expect("it may be written");
    }
    let between = DeviceCounters::read(&root, devno).expect("it is listed");
    let wrote = between.since(&before);
    assert_eq!((wrote.writes, wrote.write_sectors.0, wrote.discards), (100, 1600, 0));
}

#[test]
fn a_file_system_that_fills_up_while_laying_out_says_so_and_leaves_nothing() {
    let Some(device) = Loop::make(SIZE, &[], &[]) else { return };
    // Without extents ext4 cannot reserve, and the blocks that map the file come out of the space that was free.
    if !mkfs(&device.node, &["-m", "0", "-O", "^extent,^64bit,^metadata_csum,^has_journal"]) {
        return;
    }
    let Some(mounted) = Mounted::make(&device.node) else { return };
    let folder = mounted.path();
    let target = Target::parse(folder.to_str().expect("it is text")).expect("it is there");
    let facts = Facts::read(&SysRoot::real(), &target).expect("it is there");
    assert_eq!(facts.mount.as_ref().map(|mount| mount.fs_type.as_str()), Some("ext4"));
    assert_eq!(facts.devices[0].node, Path::new(&device.node));
    let free = facts.free.expect("it is a directory");
    let spec = Spec {
        path: folder.join("fill"),
        size: free.round_down(Bytes::KIB * 4) - Bytes::KIB * 4,
        seed: 1,
        reserve: Some(Bytes::ZERO),
        journal: host::restore::Journal::default(),
    };
    let error = Scratch::prepare(&spec, &mut |_| Step::Continue).expect_err("it cannot fit");
    let ScratchError::Full { asked, free: left, .. } = &error else { panic!("{error}") };
    assert_eq!(*asked, spec.size);
    assert!(*left > Bytes::MIB, "{error}");
    assert!(!spec.path.exists());

    let small = Spec { size: Bytes::MIB * 6, ..spec };
    let scratch = Scratch::prepare(&small, &mut |_| Step::Continue).expect("there is room");
    assert!(!scratch.extents().has_gap(), "{}", scratch.extents().in_words());
    let file = File::open(scratch.path()).expect("it is there");
    assert!(header_of(&file).expect("it can be read").is_some_and(|header| header.complete));
}
