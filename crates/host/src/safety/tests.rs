//! Each refusal, on made-up machines. The same on real loop devices is in `tests/devices.rs`.

use units::convert::narrow;

use super::*;
use crate::fixture::{Fixture, as_nobody};

/// A machine with a root disk `vda`, and a spare disk `sda` with serial number `S1`, whose node is empty.
fn machine() -> Fixture {
    let machine = Fixture::new();
    machine.disk("vda", "254:0", 4096);
    machine.node("vda");
    machine.mount("254:0", "/", "ext4", "/dev/vda");
    spare(&machine, "sda", "8:0", "S1");
    machine
}

fn spare(machine: &Fixture, name: &str, devno: &str, serial: &str) {
    machine.disk(name, devno, 4096);
    machine.node(name);
    machine.write(&format!("sys/block/{name}/device/model"), "SPARE 2T\n");
    machine.write(&format!("sys/block/{name}/serial"), &format!("{serial}\n"));
}

/// Two partitions on `sda`.
fn split(machine: &Fixture) {
    for (name, devno, number) in [("sda1", "8:1", 1), ("sda2", "8:2", 2)] {
        machine.partition("sda", name, devno, number);
        machine.node(name);
    }
}

fn block(machine: &Fixture, name: &str) -> Target {
    let devno = crate::target::device::devno_of_name(&machine.root(), name).expect("the fixture has it");
    let node = machine.root().node(name);
    Target { name: node.display().to_string(), kind: TargetKind::Block { node, devno } }
}

/// The reasons against `name`, with the consent that fits.
fn against(machine: &Fixture, name: &str) -> Vec<Reason> {
    let target = block(machine, name);
    let judgement = judge(&machine.root(), &target, None);
    let consent = judgement.consents.first().map(|text| Consent::parse(text).expect("it was proposed"));
    judge(&machine.root(), &target, consent.as_ref()).reasons
}

fn named(name: &str) -> Consent {
    Consent::parse(name).expect("it is a name")
}

fn dev(machine: &Fixture, name: &str) -> String {
    machine.root().node(name).display().to_string()
}

/// The refusal must be of this kind only, so that no other check hides the one that is tested.
fn only(reasons: &[Reason], fits: impl Fn(&Reason) -> bool) {
    assert!(!reasons.is_empty(), "nothing was refused");
    assert!(reasons.iter().all(fits), "{reasons:?}");
}

#[test]
fn a_spare_disk_with_its_serial_is_written_and_without_it_is_not() {
    let machine = machine();
    assert_eq!(against(&machine, "sda"), []);
    let target = block(&machine, "sda");
    let none = judge(&machine.root(), &target, None).reasons;
    assert_eq!(none, [Reason::NoConsent { names: vec!["S1".into()] }]);
    let other = Consent::parse("S2").expect("it is a serial number");
    let reasons = judge(&machine.root(), &target, Some(&other)).reasons;
    assert_eq!(reasons, [Reason::OtherConsent { given: "S2".into(), names: vec!["S1".into()] }]);
    let permit = permit(&machine.root(), &target, Some(&named("S1"))).expect("nothing is against it");
    assert_eq!(permit.consent.as_deref(), Some("S1"));
}

#[test]
fn of_several_consents_the_one_for_the_target_counts() {
    let machine = machine();
    let target = block(&machine, "sda");
    let consents = |texts: &[&str]| -> Vec<Consent> {
        texts.iter().map(|text| Consent::parse(text).expect("it could be a serial number")).collect()
    };
    let chosen =
        |texts: &[&str]| consent_for(&machine.root(), &target, &consents(texts)).map(Consent::to_string);
    assert_eq!(chosen(&[]), None);
    assert_eq!(chosen(&["S2"]), Some("S2".into()));
    assert_eq!(chosen(&["S2", "/a/file", "S1"]), Some("S1".into()));
    assert_eq!(chosen(&["S2", "S3"]), Some("S2".into()), "the refusal tells what was given");
}

#[test]
fn the_refusal_tells_size_model_serial_and_every_reason() {
    let machine = machine();
    machine.mount("8:0", "/data", "xfs", "/dev/sda");
    machine.append("proc/swaps", "/dev/sda partition 100 0 -2\n");
    let error = permit(&machine.root(), &block(&machine, "sda"), None).expect_err("it is in use").to_string();
    for part in ["2 MiB", "SPARE 2T", "serial S1", "mounted on /data", "swapoff"] {
        assert!(error.contains(part), "{part} is not in: {error}");
    }
    assert_eq!(error.lines().count(), 3, "{error}");
    assert!(!error.contains("--destroy"), "consent would not help: {error}");
}

#[test]
fn a_mounted_device_is_refused() {
    let machine = machine();
    machine.mount("8:0", "/data", "xfs", "/dev/sda");
    let mounted = Reason::Mounted { device: dev(&machine, "sda"), point: "/data".into() };
    assert_eq!(against(&machine, "sda"), [mounted]);
}

#[test]
fn a_disk_with_a_mounted_partition_is_refused_and_so_is_its_other_partition() {
    let machine = machine();
    split(&machine);
    machine.mount("8:2", "/data", "xfs", "/dev/sda2");
    let mounted = [Reason::Mounted { device: dev(&machine, "sda2"), point: "/data".into() }];
    assert_eq!(against(&machine, "sda"), mounted);
    assert_eq!(against(&machine, "sda2"), mounted);
    assert_eq!(against(&machine, "sda1"), mounted);
}

#[test]
fn a_partition_of_a_disk_mounted_whole_is_refused() {
    let machine = machine();
    split(&machine);
    machine.mount("8:0", "/data", "xfs", "/dev/sda");
    let mounted = [Reason::Mounted { device: dev(&machine, "sda"), point: "/data".into() }];
    assert_eq!(against(&machine, "sda1"), mounted);
}

#[test]
fn a_partition_on_an_unused_disk_is_written_with_its_own_name_alone() {
    let machine = machine();
    split(&machine);
    assert_eq!(against(&machine, "sda1"), []);
    let disk = Consent::parse("S1").expect("it is a serial number");
    let reasons = judge(&machine.root(), &block(&machine, "sda1"), Some(&disk)).reasons;
    only(&reasons, |reason| matches!(reason, Reason::OtherConsent { .. }));
    let part = Consent::parse("S1-part1").expect("it is a name");
    let reasons = judge(&machine.root(), &block(&machine, "sda"), Some(&part)).reasons;
    only(&reasons, |reason| matches!(reason, Reason::OtherConsent { .. }));
}

#[test]
fn swap_on_the_device_or_on_a_part_of_it_is_refused() {
    let machine = machine();
    split(&machine);
    machine.append("proc/swaps", "/dev/sda1 partition 100 0 -2\n");
    let swap = [Reason::Swap { device: dev(&machine, "sda1") }];
    assert_eq!(against(&machine, "sda"), swap);
    assert_eq!(against(&machine, "sda1"), swap);
}

#[test]
fn the_disk_of_the_running_system_is_refused_with_every_part_of_it() {
    let machine = Fixture::new();
    spare(&machine, "sda", "8:0", "S1");
    split(&machine);
    machine.mount("8:1", "/boot", "ext4", "/dev/sda1");
    let system = |reason: &Reason| matches!(reason, Reason::SystemDisk { .. } | Reason::Mounted { .. });
    only(&against(&machine, "sda"), system);
    let other = against(&machine, "sda2");
    only(&other, system);
    assert!(
        other.contains(&Reason::SystemDisk { device: dev(&machine, "sda"), point: "/boot".into() }),
        "{other:?}"
    );
}

#[test]
fn a_volume_that_shares_its_disk_with_the_system_is_refused() {
    let machine = Fixture::new();
    spare(&machine, "sda", "8:0", "S1");
    for (name, devno, map) in [("dm-0", "252:0", "vg-root"), ("dm-1", "252:1", "vg-free")] {
        machine.disk(name, devno, 2048);
        machine.node(name);
        machine.write(&format!("sys/block/{name}/dm/name"), map);
        machine.write(&format!("sys/block/{name}/dm/uuid"), &format!("LVM-{map}"));
        machine.hold("sda", name);
    }
    machine.mount("252:0", "/", "xfs", "/dev/dm-0");
    let system = Reason::SystemDisk { device: dev(&machine, "sda"), point: "/".into() };
    assert_eq!(against(&machine, "dm-1"), [system]);
}

#[test]
fn the_root_that_an_overlay_hides_is_found_on_the_kernels_command_line() {
    let machine = Fixture::new();
    spare(&machine, "sda", "8:0", "S1");
    machine.mount("0:30", "/", "overlay", "overlay");
    machine.write("proc/cmdline", "quiet root=/dev/sda ro\n");
    let system = Reason::SystemDisk { device: dev(&machine, "sda"), point: "/".into() };
    assert_eq!(against(&machine, "sda"), std::slice::from_ref(&system));
    machine.write("proc/cmdline", "root=UUID=12-34\n");
    assert_eq!(against(&machine, "sda"), []);
    machine.link("dev/disk/by-uuid/12-34", "../../sda");
    assert_eq!(against(&machine, "sda"), std::slice::from_ref(&system));
    for (told, link) in [("PARTUUID=ab-01", "by-partuuid/ab-01"), ("LABEL=root", "by-label/root")] {
        machine.write("proc/cmdline", &format!("root={told} quiet\n"));
        assert_eq!(against(&machine, "sda"), [], "{told}");
        machine.link(&format!("dev/disk/{link}"), "../../sda");
        assert_eq!(against(&machine, "sda"), std::slice::from_ref(&system), "{told}");
    }
}

#[test]
fn members_of_arrays_and_maps_are_refused_in_the_words_of_their_trade() {
    for (upper, file, text, words) in [
        ("md0", "md/level", "raid5", "member of the md array"),
        ("dm-0", "dm/uuid", "LVM-abc", "LVM physical volume"),
        (
            "dm-0",
            "dm/uuid",
            "mpath-3600",
            "one path of the multipath device map0; name /dev/mapper/map0 instead",
        ),
        ("dm-0", "dm/uuid", "CRYPT-LUKS2-1", "encrypted volume"),
        ("dm-0", "dm/uuid", "", "device-mapper map map0"),
        ("bcache0", "x", "x", "bcache set"),
        ("nvme0n1", "x", "x", "held by"),
    ] {
        let machine = machine();
        machine.disk(upper, "250:0", 2048);
        machine.write(&format!("sys/block/{upper}/dm-or-md"), "");
        if upper == "dm-0" {
            machine.write("sys/block/dm-0/dm/name", "map0");
        }
        machine.write(&format!("sys/block/{upper}/{file}"), text);
        split(&machine);
        machine.hold("sda1", upper);
        for name in ["sda", "sda1"] {
            let reasons = against(&machine, name);
            only(&reasons, |reason| matches!(reason, Reason::Held { .. }));
            assert!(reasons[0].to_string().contains(words), "{}", reasons[0]);
            assert_eq!(reasons[0].to_string().contains("bcache"), upper == "bcache0", "{}", reasons[0]);
        }
    }
}

#[test]
fn a_partition_of_a_disk_held_whole_is_refused() {
    let machine = machine();
    split(&machine);
    machine.disk("dm-0", "252:0", 2048);
    machine.write("sys/block/dm-0/dm/name", "mpatha");
    machine.write("sys/block/dm-0/dm/uuid", "mpath-3600");
    machine.hold("sda", "dm-0");
    only(&against(&machine, "sda1"), |reason| matches!(reason, Reason::Held { .. }));
}

#[test]
fn a_backing_device_of_bcache_is_refused_before_anything_stands_on_it() {
    let machine = machine();
    machine.write("sys/block/sda/bcache/state", "dirty");
    only(&against(&machine, "sda"), |reason| matches!(reason, Reason::Held { .. }));
}

#[test]
fn a_member_of_a_mounted_btrfs_that_no_mount_names_is_refused() {
    let machine = machine();
    spare(&machine, "sdb", "8:16", "S2");
    for name in ["sda", "sdb"] {
        machine.write(&format!("sys/fs/btrfs/0000/devices/{name}"), "");
    }
    // Mounted where this process cannot see it.
    let member = |name: &str| Reason::BtrfsMember { device: dev(&machine, name) };
    assert_eq!(against(&machine, "sda"), [member("sda")]);
    assert_eq!(against(&machine, "sdb"), [member("sdb")]);
}

#[test]
fn known_contents_are_refused_on_the_device_and_on_its_partitions() {
    let machine = machine();
    split(&machine);
    let mut content = vec![0; 2 << 20];
    content[..4].copy_from_slice(b"XFSB");
    machine.write_bytes("dev/sda2", &content);
    let found = |name: &str| Reason::Signature {
        device: dev(&machine, name),
        name: "XFS file system".into(),
        offset: Bytes::ZERO,
    };
    assert_eq!(against(&machine, "sda"), [found("sda2")]);
    assert_eq!(against(&machine, "sda2"), [found("sda2")]);
    assert_eq!(against(&machine, "sda1"), []);
}

#[test]
fn zfs_is_known_by_its_label_since_the_kernel_names_no_holder() {
    let machine = machine();
    let mut content = vec![0; 2 << 20];
    content[16 * 1024 + 24..][..8].copy_from_slice(b"version\0");
    machine.write_bytes("dev/sda", &content);
    only(
        &against(&machine, "sda"),
        |reason| matches!(reason, Reason::Signature { name, .. } if name == "ZFS pool member"),
    );
}

#[test]
fn a_device_that_is_not_blank_is_written_with_a_consent_that_speaks_of_data_alone() {
    let machine = machine();
    for at in [0, 1 << 20, (2 << 20) - 1] {
        let mut content = vec![0; 2 << 20];
        content[at] = 7;
        machine.write_bytes("dev/sda", &content);
        let target = block(&machine, "sda");
        let reasons = |name: &str| judge(&machine.root(), &target, Some(&named(name))).reasons;
        let (device, at) = (dev(&machine, "sda"), Bytes::new(at as u64));
        assert_eq!(reasons("S1"), [Reason::NotBlank { device, at, name: "data:S1".into() }]);
        assert_eq!(reasons("data:S1"), []);
        only(&reasons("data:S2"), |reason| matches!(reason, Reason::OtherConsent { .. }));
        let none = judge(&machine.root(), &target, None).reasons;
        assert_eq!(none, [Reason::NoConsent { names: vec!["data:S1".into()] }]);
    }
    // Of a blank one it may be said as well: the second run on a device is given what the first was.
    machine.node("sda");
    assert_eq!(judge(&machine.root(), &block(&machine, "sda"), Some(&named("data:S1"))).reasons, []);
}

#[test]
fn a_known_content_is_refused_although_consent_speaks_of_data() {
    let machine = machine();
    let mut content = vec![0; 2 << 20];
    content[..4].copy_from_slice(b"XFSB");
    machine.write_bytes("dev/sda", &content);
    let reasons = judge(&machine.root(), &block(&machine, "sda"), Some(&named("data:S1"))).reasons;
    only(&reasons, |reason| matches!(reason, Reason::Signature { .. }));
}

#[test]
fn tables_that_cannot_be_read_mean_that_nothing_is_known_not_that_nothing_is_there() {
    for table in ["proc/self/mountinfo", "proc/swaps", "sys/class/block"] {
        let machine = machine();
        let file = std::fs::canonicalize(machine.path("dev/sda")).expect("the fixture has it");
        let path = machine.path(table);
        match path.is_dir() {
            true => std::fs::rename(&path, machine.path("away")).expect("the fixture is ours"),
            // A folder cannot be read as a file, by root either.
            false => {
                std::fs::remove_file(&path).and_then(|()| std::fs::create_dir(&path)).expect("it is ours");
            }
        }
        let target = Target { name: "file".into(), kind: TargetKind::File(file.clone()) };
        let consent = named(&file.display().to_string());
        let of_file = judge(&machine.root(), &target, Some(&consent)).reasons;
        only(&of_file, |reason| matches!(reason, Reason::Unknown { .. }));
        let node = machine.root().node("sda");
        let devno = DevNo { major: 8, minor: 0 };
        let target = Target { name: "sda".into(), kind: TargetKind::Block { node, devno } };
        let of_device = judge(&machine.root(), &target, Some(&named("S1"))).reasons;
        only(&of_device, |reason| matches!(reason, Reason::Unknown { .. }));
    }
    let machine = machine();
    std::fs::remove_file(machine.path("proc/swaps")).expect("it is there");
    only(&against(&machine, "sda"), |reason| matches!(reason, Reason::Unknown { .. }));
    machine.write("proc/meminfo", "a kernel without swap has its other tables");
    assert_eq!(against(&machine, "sda"), []);
}

/// A file of a user's, and what speaks against writing to it under its own name.
struct Own {
    _folder: tempfile::TempDir,
    path: std::path::PathBuf,
}

impl Own {
    fn of(content: &[u8]) -> Own {
        let folder = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).expect("the test has a folder");
        let path = std::fs::canonicalize(folder.path()).expect("it is there").join("file");
        std::fs::write(&path, content).expect("the folder is ours");
        Own { _folder: folder, path }
    }

    fn against(&self) -> Vec<Reason> {
        let target = Target { name: "file".into(), kind: TargetKind::File(self.path.clone()) };
        let text = self.path.display().to_string();
        judge(&SysRoot::real(), &target, Some(&named(&text))).reasons
    }
}

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

/// Sample images of file systems, RAID members and partition tables (util-linux, `tests/ts/blkid`), packed with xz.
#[test]
fn none_of_libblkids_sample_images_is_written_as_a_device_or_as_a_file() {
    let Some(folder) = std::env::var_os("FATHOM_BLKID_IMAGES") else {
        let _closed = std::io::Write::write_all(
            &mut std::io::stderr(),
            b"skipped: FATHOM_BLKID_IMAGES names no folder with sample images of util-linux\n",
        );
        return;
    };
    let mut permitted = Vec::new();
    let mut count = 0;
    for entry in std::fs::read_dir(folder).expect("it is a folder") {
        let packed = entry.expect("it can be read").path();
        let unpacked =
            std::process::Command::new("xz").arg("-dc").arg(&packed).output().expect("xz is there");
        let machine = machine();
        let size = unpacked.stdout.len().next_multiple_of(512);
        machine.write("sys/block/sda/size", &(size / 512).to_string());
        machine.write_bytes("dev/sda", &unpacked.stdout);
        let as_device = judge(&machine.root(), &block(&machine, "sda"), Some(&named("S1"))).reasons;
        let as_file = Own::of(&unpacked.stdout).against();
        count += 1;
        for (reasons, as_what) in [(as_device, "device"), (as_file, "file")] {
            if reasons.is_empty() {
                permitted.push(format!("{} as {as_what}", packed.display()));
            }
        }
    }
    assert!(permitted.is_empty(), "{} of {count}: {permitted:#?}", permitted.len());
}

#[test]
fn a_device_that_cannot_be_read_is_refused() {
    let machine = machine();
    std::fs::remove_file(machine.path("dev/sda")).expect("the fixture has it");
    let reasons = against(&machine, "sda");
    only(&reasons, |reason| matches!(reason, Reason::Unreadable { .. }));
    assert_eq!(reasons.len(), 1, "it is said once: {reasons:?}");
}

#[test]
fn a_device_set_read_only_or_without_capacity_is_refused() {
    let machine = machine();
    machine.write("sys/block/sda/ro", "1");
    assert_eq!(against(&machine, "sda"), [Reason::ReadOnly { device: dev(&machine, "sda") }]);
    machine.write("sys/block/sda/ro", "0");
    machine.write("sys/block/sda/size", "0");
    assert_eq!(against(&machine, "sda"), [Reason::NoCapacity { device: dev(&machine, "sda") }]);
}

#[test]
fn a_device_that_sysfs_does_not_list_is_refused() {
    let machine = machine();
    let node = machine.node("sdq");
    let devno = DevNo { major: 65, minor: 0 };
    let target = Target { name: "/dev/sdq".into(), kind: TargetKind::Block { node, devno } };
    let reasons = judge(&machine.root(), &target, Some(&named("S1"))).reasons;
    only(&reasons, |reason| matches!(reason, Reason::Unlisted { .. }));
}

#[test]
fn a_serial_number_that_two_disks_share_is_no_consent() {
    let machine = machine();
    spare(&machine, "sdb", "8:16", "S1");
    let shared = Reason::Ambiguous { consent: "S1".into(), other: dev(&machine, "sdb") };
    assert_eq!(against(&machine, "sda"), [shared]);
    machine.by_id("usb-stick-0:0", "sda");
    let by_id = Consent::parse("/dev/disk/by-id/usb-stick-0:0").expect("it is a name");
    assert_eq!(judge(&machine.root(), &block(&machine, "sda"), Some(&by_id)).reasons, []);
}

#[test]
fn a_partition_whose_name_another_disks_has_too_is_ambiguous_and_its_own_disk_is_no_other() {
    let machine = machine();
    split(&machine);
    spare(&machine, "sdb", "8:16", "S1");
    assert_eq!(against(&machine, "sda1"), []);
    machine.partition("sdb", "sdb1", "8:17", 1);
    machine.node("sdb1");
    let shared = Reason::Ambiguous { consent: "S1-part1".into(), other: dev(&machine, "sdb1") };
    assert_eq!(against(&machine, "sda1"), [shared]);
    assert_eq!(against(&machine, "sda2"), []);
}

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
fn a_device_that_nothing_names_is_never_written() {
    let machine = machine();
    machine.disk("zram0", "253:0", 4096);
    machine.node("zram0");
    let consent = Consent::parse("zram0").expect("it could be a serial number");
    let reasons = judge(&machine.root(), &block(&machine, "zram0"), Some(&consent)).reasons;
    assert_eq!(reasons, [Reason::OtherConsent { given: "zram0".into(), names: vec![] }]);
    assert!(reasons[0].to_string().contains("is never written"), "{}", reasons[0]);
}

#[test]
fn a_loop_is_its_own_device_and_not_the_disk_of_its_file() {
    let machine = machine();
    machine.disk("loop0", "7:0", 4096);
    machine.node("loop0");
    machine.write("sys/block/loop0/loop/backing_file", "/tmp/x.img\n");
    assert_eq!(judge(&machine.root(), &block(&machine, "loop0"), None).consents, ["loop:/tmp/x.img"]);
    assert_eq!(against(&machine, "loop0"), []);
    machine.mount("7:0", "/mnt", "ext4", "/dev/loop0");
    only(&against(&machine, "loop0"), |reason| matches!(reason, Reason::Mounted { .. }));
}

#[test]
fn a_loop_whose_file_is_in_use_elsewhere_is_refused() {
    let machine = machine();
    for (name, devno) in [("loop0", "7:0"), ("loop1", "7:1")] {
        machine.disk(name, devno, 4096);
        machine.node(name);
        machine.write(&format!("sys/block/{name}/loop/backing_file"), "/tmp/x.img\n");
    }
    let reasons = against(&machine, "loop0");
    only(&reasons, |reason| matches!(reason, Reason::BehindLoop { .. } | Reason::Ambiguous { .. }));
    assert!(matches!(reasons[0], Reason::BehindLoop { .. }), "{reasons:?}");
    machine.write("sys/block/loop1/loop/backing_file", "/tmp/y.img\n");
    assert_eq!(against(&machine, "loop0"), []);
    machine.append("proc/swaps", "/tmp/x.img file 100 0 -2\n");
    assert_eq!(against(&machine, "loop0"), [Reason::Swap { device: "/tmp/x.img".into() }]);
}

#[test]
fn a_loop_over_a_disk_is_as_much_in_use_as_the_disk_and_the_reverse() {
    let machine = machine();
    machine.disk("loop0", "7:0", 4096);
    machine.node("loop0");
    machine.write("sys/block/loop0/loop/backing_file", "/dev/sda\n");
    machine.mount("8:0", "/data", "xfs", "/dev/sda");
    only(&against(&machine, "loop0"), |reason| matches!(reason, Reason::Mounted { .. }));
    machine.write("proc/self/mountinfo", "");
    machine.write("sys/block/loop0/loop/backing_file", &dev(&machine, "sda"));
    only(&against(&machine, "sda"), |reason| matches!(reason, Reason::BehindLoop { .. }));
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

#[test]
fn the_node_that_was_named_is_the_one_that_is_looked_at_and_opened() {
    let machine = machine();
    let node = machine.node("another-name");
    let devno = crate::target::device::devno_of_name(&machine.root(), "sda").expect("the fixture has it");
    let target = Target { name: "copy".into(), kind: TargetKind::Block { node: node.clone(), devno } };
    let judged = judge(&machine.root(), &target, Some(&named("S1")));
    assert_eq!((judged.reasons, judged.destroys), (vec![], true));
    let mut content = vec![0; 2 << 20];
    content[..4].copy_from_slice(b"XFSB");
    std::fs::write(&node, &content).expect("the fixture is ours");
    let found = judge(&machine.root(), &target, Some(&named("S1")));
    let device = node.display().to_string();
    let name = "XFS file system".into();
    assert_eq!(found.reasons, [Reason::Signature { device: device.clone(), name, offset: Bytes::ZERO }]);
    assert!(found.what.contains(&device), "{}", found.what);
    assert_eq!(against(&machine, "sda"), [], "the other node is as it was");
}

#[test]
fn what_is_said_before_anything_is_opened_names_what_would_be_written() {
    let root = SysRoot::real();
    let of = |kind: TargetKind| judge(&root, &Target { name: "t".into(), kind }, None);
    let folder = of(TargetKind::Directory("/srv/scratch".into()));
    assert_eq!(
        (folder.what.as_str(), folder.destroys, folder.consents),
        ("scratch files in /srv/scratch", false, vec![])
    );
    assert_eq!(of(TargetKind::NewFile("/srv/new".into())).what, "the new file /srv/new");
    let own = Own::of(b"data");
    let judged = of(TargetKind::File(own.path.clone()));
    let text = own.path.display().to_string();
    assert_eq!(judged.what, format!("{text} (4 B, a file that is not Fathom's own)"));
    assert_eq!((judged.destroys, judged.consents), (true, vec![text]));
}

#[test]
fn consent_where_none_is_needed_is_not_recorded() {
    let folder = tempfile::tempdir().expect("the test has a temporary folder");
    let target = Target { name: "new".into(), kind: TargetKind::NewFile(folder.path().join("new")) };
    let permit = permit(&SysRoot::real(), &target, Some(&named("S1"))).expect("it is not there yet");
    assert_eq!(permit.consent, None);
    assert!(permit.open(0).expect("there is nothing to open").is_none());
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
