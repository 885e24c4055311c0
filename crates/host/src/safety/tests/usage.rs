//! Devices that are in use: mounted, swapped to, held by others, or of the running system.

use super::*;

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
