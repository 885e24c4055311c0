//! What a device holds, and whether it can be told.

use super::*;

#[test]
fn known_contents_are_refused_on_the_device_and_on_its_partitions() {
    let machine = machine();
    split(&machine);
    machine.write_bytes("dev/sda2", &holding(0, b"XFSB"));
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
    machine.write_bytes("dev/sda", &holding(16 * 1024 + 24, b"version\0"));
    only(
        &against(&machine, "sda"),
        |reason| matches!(reason, Reason::Signature { name, .. } if name == "ZFS pool member"),
    );
}

#[test]
fn a_device_that_is_not_blank_is_written_with_a_consent_that_speaks_of_data_alone() {
    let machine = machine();
    for at in [0, 1 << 20, (2 << 20) - 1] {
        machine.write_bytes("dev/sda", &holding(at, &[7]));
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
    machine.write_bytes("dev/sda", &holding(0, b"XFSB"));
    let reasons = judge(&machine.root(), &block(&machine, "sda"), Some(&named("data:S1"))).reasons;
    only(&reasons, |reason| matches!(reason, Reason::Signature { .. }));
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
fn the_node_that_was_named_is_the_one_that_is_looked_at_and_opened() {
    let machine = machine();
    let node = machine.node("another-name");
    let devno = crate::target::device::devno_of_name(&machine.root(), "sda").expect("the fixture has it");
    let target = Target { name: "copy".into(), kind: TargetKind::Block { node: node.clone(), devno } };
    let judged = judge(&machine.root(), &target, Some(&named("S1")));
    assert_eq!((judged.reasons, judged.destroys), (vec![], true));
    std::fs::write(&node, holding(0, b"XFSB")).expect("the fixture is ours");
    let found = judge(&machine.root(), &target, Some(&named("S1")));
    let device = node.display().to_string();
    let name = "XFS file system".into();
    assert_eq!(found.reasons, [Reason::Signature { device: device.clone(), name, offset: Bytes::ZERO }]);
    assert!(found.what.contains(&device), "{}", found.what);
    assert_eq!(against(&machine, "sda"), [], "the other node is as it was");
}
