//! Machines written down as text: every part and ceiling named; and trees that no kernel would show.

use super::*;
use crate::fixture::Fixture;
use crate::target::mounts::holding;
use crate::target::stack::{below, under_mount};
use crate::target::{Device, remote};

fn of_device(machine: &Fixture, name: &str) -> PathComponent {
    let root = machine.root();
    let device = Device::named(&root, name).expect("the fixture has it");
    let kind = TargetKind::Block { node: device.node.clone(), devno: device.devno };
    let target = Target { name: format!("/dev/{name}"), kind };
    let facts = Facts::read(&root, &target).expect("a device can be looked at");
    read(&root, &target, &facts)
}

fn of_mount(machine: &Fixture, point: &str) -> PathComponent {
    let root = machine.root();
    let mounts = mounts(&root);
    let mount = holding(&mounts, std::path::Path::new(point)).expect("the fixture mounts it").clone();
    let devices: Vec<Device> =
        under_mount(&root, &mount).into_iter().filter_map(|devno| Device::read(&root, devno)).collect();
    let members = devices.iter().flat_map(|device| below(&root, &mounts, device.devno)).collect();
    let facts = Facts {
        size: units::Bytes::ZERO,
        direct: None,
        free: None,
        remote: remote::of_mount(&mount),
        mount: Some(mount),
        devices,
        members,
    };
    let target = Target { name: point.into(), kind: TargetKind::Directory(point.into()) };
    read(&root, &target, &facts)
}

/// The tree as `kind NAME` with two blanks a level.
fn outline(part: &PathComponent) -> Vec<String> {
    fn tell(part: &PathComponent, depth: usize, lines: &mut Vec<String>) {
        let again = if part.repeated { " again" } else { "" };
        lines.push(format!("{}{}: {}{again}", "  ".repeat(depth), part.name, part.kind));
        part.below.iter().for_each(|below| tell(below, depth + 1, lines));
    }
    let mut lines = Vec::new();
    tell(part, 0, &mut lines);
    lines
}

fn most(tree: &PathComponent, name: &str, limit: Limit) -> Option<f64> {
    tree.find(name).unwrap_or_else(|| panic!("no part {name} in {:#?}", outline(tree))).most(limit)
}

fn fact<'a>(tree: &'a PathComponent, name: &str, fact: &str) -> Option<&'a str> {
    let part = tree.find(name).unwrap_or_else(|| panic!("no part {name} in {:#?}", outline(tree)));
    part.facts.iter().find(|(key, _)| key == fact).map(|(_, value)| value.as_str())
}

#[track_caller]
fn near(found: Option<f64>, expected: f64) {
    let found = found.expect("it has that ceiling");
    assert!((found / expected - 1.0).abs() < 1e-3, "{found} is not {expected}");
}

#[test]
fn an_nvme_drive_is_bound_by_its_slot_and_its_queues() {
    let tree = of_mount(&Fixture::of(include_str!("trees/nvme.txt")), "/data");
    assert_eq!(
        outline(&tree),
        [
            "/data: xfs file system",
            "  nvme0n1p1: partition",
            "    nvme0n1: disk",
            "      nvme0: NVMe controller, pcie",
            "        pci 0000:3b:00.0: PCIe link",
        ]
    );
    near(most(&tree, "pci 0000:3b:00.0", Limit::Bandwidth), 2.0 * 8e9 * 128.0 / 130.0 / 8.0);
    near(most(&tree, "nvme0", Limit::InFlight), 8.0 * 1023.0);
    near(most(&tree, "nvme0n1", Limit::InFlight), 1023.0);
    near(most(&tree, "nvme0n1", Limit::RequestSize), 1280.0 * 1024.0);
    assert_eq!(fact(&tree, "pci 0000:3b:00.0", "could do"), Some("4 lanes of 8 GT/s"));
    assert_eq!(fact(&tree, "/data", "options"), Some("rw,noatime,attr2,inode64"));
    assert_eq!(fact(&tree, "nvme0n1", "read-ahead"), Some("128 KiB"));
    assert_eq!(fact(&tree, "nvme0n1", "write cache"), Some("write back"));
    let link = tree.find("pci 0000:3b:00.0").expect("it was just asked");
    assert_eq!(
        link.ceilings[0].source,
        "/sys/devices/pci0000:00/0000:00:1d.0/0000:3b:00.0/current_link_speed"
    );
    assert!(link.ceilings[0].each_way);
}

#[test]
fn a_disk_behind_ahci_is_bound_by_its_link_its_queue_and_its_rotation() {
    let tree = of_device(&Fixture::of(include_str!("trees/ahci.txt")), "sda");
    assert_eq!(
        outline(&tree),
        [
            "sda: disk, rotating",
            "  host0: SCSI host, ahci",
            "    ata1: SATA link",
            "      pci 0000:00:1f.2: PCI function",
        ]
    );
    near(most(&tree, "ata1", Limit::Bandwidth), 600e6);
    near(most(&tree, "sda", Limit::OneAtATime), 240.0);
    near(most(&tree, "host0", Limit::InFlight), 32.0);
    let in_flight: Vec<f64> = tree
        .ceilings
        .iter()
        .filter(|ceiling| ceiling.limit == Limit::InFlight)
        .map(|ceiling| ceiling.value)
        .collect();
    assert_eq!(in_flight, [64.0, 32.0]);
    assert_eq!(fact(&tree, "sda", "model"), Some("ATA ST2000DM001"));
    assert_eq!(fact(&tree, "sda", "cache"), Some("8MiB"));
    let pci = tree.find("pci 0000:00:1f.2").expect("it is in the outline");
    assert!(pci.unknown[0].contains("on-chip"), "{:?}", pci.unknown);
}

#[test]
fn both_paths_of_an_rdac_array_are_told_and_their_shared_adapter_once() {
    let tree = of_device(&Fixture::of(include_str!("trees/rdac.txt")), "dm-0");
    assert_eq!(
        outline(&tree),
        [
            "dm-0: multipath",
            "  sda: disk, rotating",
            "    port-1:0: SAS port",
            "      host1: SCSI host, mptsas",
            "        pci 0000:0a:00.0: PCIe link",
            "  sdb: disk, rotating",
            "    port-1:1: SAS port",
            "      host1: SCSI host, mptsas again",
        ]
    );
    near(most(&tree, "port-1:0", Limit::Bandwidth), 1200e6);
    near(most(&tree, "pci 0000:0a:00.0", Limit::Bandwidth), 2e9);
    assert_eq!(fact(&tree, "sda", "device handler"), Some("rdac"));
    assert_eq!(fact(&tree, "sda", "access"), Some("active/optimized"));
    assert_eq!(fact(&tree, "sdb", "access"), Some("standby"));
    assert_eq!(fact(&tree, "dm-0", "map"), Some("mpatha"));
    let broken = tree.find("port-1:1").expect("it is in the outline");
    assert!(broken.ceilings.is_empty() && broken.unknown[0].contains("1 of 4 phys"), "{:?}", broken.unknown);
}

#[test]
fn an_array_of_raid_6_tells_its_layout_and_every_disk_to_the_shared_port() {
    let tree = of_device(&Fixture::of(include_str!("trees/md-raid6.txt")), "md0");
    assert_eq!(tree.kind, "md raid6");
    let disks: Vec<&str> = tree.below.iter().map(|part| part.name.as_str()).collect();
    assert_eq!(disks, ["sda", "sdb", "sdc", "sdd", "sde", "sdf"]);
    assert_eq!(
        outline(&tree.below[0]),
        [
            "sda: disk, rotating",
            "  port-2:0:0: SAS port",
            "    expander-2:0: SAS expander",
            "      port-2:0: SAS port",
            "        host2: SCSI host, mpt2sas",
            "          pci 0000:04:00.0: PCIe link",
        ]
    );
    assert_eq!(
        outline(&tree.below[5]).last().map(String::as_str),
        Some("    expander-2:0: SAS expander again")
    );
    near(most(&tree, "port-2:0", Limit::Bandwidth), 2400e6);
    near(most(&tree, "port-2:0:3", Limit::Bandwidth), 600e6);
    near(most(&tree, "pci 0000:04:00.0", Limit::Bandwidth), 4e9);
    near(most(&tree, "sdf", Limit::OneAtATime), 240.0);
    near(most(&tree, "host2", Limit::InFlight), 3200.0);
    for (name, value) in
        [("chunk", "512 KiB"), ("missing disks", "1"), ("disks", "7"), ("at work", "recover")]
    {
        assert_eq!(fact(&tree, "md0", name), Some(value));
    }
}

#[test]
fn a_logical_volume_stands_on_a_map_on_two_fibre_channel_hosts() {
    let tree = of_device(&Fixture::of(include_str!("trees/lvm-fc.txt")), "dm-2");
    assert_eq!(
        outline(&tree),
        [
            "dm-2: logical volume",
            "  dm-1: multipath",
            "    sdc: disk",
            "      rport-5:0-0: Fibre Channel remote port",
            "        host5: Fibre Channel host, lpfc",
            "          pci 0000:81:00.0: PCIe link",
            "    sdd: disk",
            "      rport-6:0-0: Fibre Channel remote port",
            "        host6: Fibre Channel host, lpfc",
            "          pci 0000:81:00.1: PCIe link",
        ]
    );
    near(most(&tree, "host5", Limit::Bandwidth), 850e6 * 2048.0 / 2108.0);
    assert_eq!(most(&tree, "host6", Limit::Bandwidth), None);
    assert!(tree.find("host6").expect("it is there").unknown[0].contains("may be down"));
    assert_eq!(fact(&tree, "sdd", "access"), Some("active/non-optimized"));
}

#[test]
fn an_export_is_reached_over_the_bond_and_each_of_its_members() {
    let machine = Fixture::of(include_str!("trees/nfs-bond.txt"));
    route(&machine, &[("bond0", [10, 0, 0, 0])]);
    let tree = of_mount(&machine, "/mnt/nas");
    assert_eq!(
        outline(&tree),
        [
            "/mnt/nas: nfs4 file system",
            "  bond0: bond",
            "    eth0: network interface",
            "      pci 0000:05:00.0: PCIe link",
            "    eth1: network interface",
            "      pci 0000:05:00.1: PCIe link",
            "  server 10.0.0.7:/vol: far end, nfs4",
        ]
    );
    near(most(&tree, "bond0", Limit::Bandwidth), 2.5e9 * 8948.0 / 9038.0);
    near(most(&tree, "eth0", Limit::Bandwidth), 1.25e9 * 8948.0 / 9038.0);
    assert!(tree.find("eth1").expect("it is there").unknown[0].starts_with("speed:"));
    near(most(&tree, "pci 0000:05:00.0", Limit::Bandwidth), 2e9);
    near(most(&tree, "/mnt/nas", Limit::RequestSize), 1_048_576.0);
    near(most(&tree, "/mnt/nas", Limit::InFlight), 65_536.0);
    assert_eq!(fact(&tree, "/mnt/nas", "nconnect"), Some("4"));
    assert_eq!(fact(&tree, "bond0", "mode"), Some("802.3ad 4"));
    assert_eq!(with_lower(&machine.root(), "bond0"), ["bond0", "eth0", "eth1"]);
}

#[test]
fn two_iscsi_sessions_lead_over_two_interfaces_to_one_target() {
    let machine = Fixture::of(include_str!("trees/iscsi.txt"));
    route(&machine, &[("eth0", [10, 1, 0, 0]), ("eth1", [10, 2, 0, 0])]);
    let tree = of_device(&machine, "dm-0");
    assert_eq!(
        outline(&tree),
        [
            "dm-0: multipath",
            "  sda: disk",
            "    session1: iSCSI session",
            "      eth0: network interface",
            "      server iqn.2003-01.org.example:disk0: far end, iscsi",
            "  sdb: disk",
            "    session2: iSCSI session",
            "      eth1: network interface",
            "      server iqn.2003-01.org.example:disk0: far end, iscsi again",
        ]
    );
    near(most(&tree, "eth1", Limit::Bandwidth), 125e6 * 1448.0 / 1538.0);
    near(most(&tree, "session1", Limit::RequestSize), 262_144.0);
    near(most(&tree, "sdb", Limit::InFlight), 128.0);
    assert_eq!(fact(&tree, "session1", "immediate data"), Some("yes"));
}

#[test]
fn a_btrfs_tells_its_profiles_and_both_disks_with_their_plugs() {
    let tree = of_mount(&Fixture::of(include_str!("trees/btrfs.txt")), "/home");
    assert_eq!(
        outline(&tree),
        [
            "/home: btrfs file system",
            "  sda: disk",
            "    host2: SCSI host, ahci",
            "      ata3: SATA link",
            "        pci 0000:00:17.0: PCI function",
            "  sdb: disk",
            "    host6: SCSI host, uas",
            "      usb 2-1: USB",
            "        pci 0000:00:14.0: PCI function",
        ]
    );
    assert_eq!(fact(&tree, "/home", "data"), Some("raid1"));
    near(most(&tree, "ata3", Limit::Bandwidth), 300e6);
    near(most(&tree, "usb 2-1", Limit::Bandwidth), 500e6);
    near(most(&tree, "host6", Limit::InFlight), 30.0);
}

/// Routes of class A's width over the interfaces.
fn route(machine: &Fixture, ways: &[(&str, [u8; 4])]) {
    let hex = |ip: [u8; 4]| format!("{:08X}", u32::from_ne_bytes(ip));
    machine
        .append("proc/net/route", "Iface Destination Gateway Flags RefCnt Use Metric Mask MTU Window IRTT\n");
    for (name, to) in ways {
        let mask = hex([255, 255, 0, 0]);
        machine.append("proc/net/route", &format!("{name}\t{}\t0\t1\t0\t0\t0\t{mask}\t0\t0\t0\n", hex(*to)));
    }
}

#[test]
fn maps_that_hold_each_other_and_members_that_are_gone_give_a_partial_tree_with_reasons() {
    let machine = Fixture::new();
    machine.disk("dm-0", "252:0", 8);
    machine.disk("dm-1", "252:1", 8);
    machine.write("sys/block/dm-0/dm/name", "a\n");
    machine.write("sys/block/dm-1/dm/name", "b\n");
    machine.hold("dm-0", "dm-1");
    machine.hold("dm-1", "dm-0");
    machine.write("sys/class/block/dm-0/slaves/gone", "");
    let tree = of_device(&machine, "dm-0");
    assert_eq!(outline(&tree), ["dm-0: map", "  dm-1: map", "    dm-0: map again"]);
    assert!(tree.unknown.iter().any(|reason| reason.contains("member gone")), "{:?}", tree.unknown);
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(24))]

    #[test]
    fn random_trees_give_a_partial_answer_and_never_a_crash(
        places in proptest::collection::vec(0usize..PLACES.len(), 0..5),
        files in proptest::collection::vec((0usize..FILES.len(), 0usize..TEXTS.len()), 0..24),
        holds in proptest::collection::vec((0usize..5, 0usize..5), 0..8),
    ) {
        let machine = Fixture::new();
        let names: Vec<String> = places
            .iter()
            .enumerate()
            .map(|(at, place)| {
                let name = format!("{}{at}", ["sd", "dm-", "md", "nvme", "loop"][at]);
                let folder = format!("sys/devices/{}/block/{name}", PLACES[*place]);
                machine.write(&format!("{folder}/dev"), &format!("8:{at}"));
                machine.link(&format!("sys/dev/block/8:{at}"), &format!("../../{}", &folder[4..]));
                machine.link(&format!("sys/class/block/{name}"), &format!("../../{}", &folder[4..]));
                name
            })
            .collect();
        for (file, text) in files {
            for place in PLACES {
                machine.write(&format!("sys/devices/{place}/{}", FILES[file]), TEXTS[text]);
            }
            for name in &names {
                machine.write(&format!("sys/class/block/{name}/{}", FILES[file]), TEXTS[text]);
            }
        }
        for (lower, upper) in holds {
            if let (Some(lower), Some(upper)) = (names.get(lower), names.get(upper)) {
                machine.write(&format!("sys/class/block/{upper}/slaves/{lower}"), "");
            }
        }
        for name in &names {
            let tree = of_device(&machine, name);
            proptest::prop_assert!(outline(&tree).len() <= MOST_PARTS);
            for line in outline(&tree) {
                proptest::prop_assert!(!line.trim().is_empty());
            }
        }
    }
}

const PLACES: [&str; 7] = [
    "virtual",
    "pci0000:00/0000:00:01.0/nvme/nvme0",
    "pci0000:00/0000:00:1f.2/ata1/host0/target0:0:0/0:0:0:0",
    "pci0000:00/0000:00:05.0/host1/port-1:0/end_device-1:0/target1:0:0/1:0:0:0",
    "platform/host3/session1/target3:0:0/3:0:0:0",
    "pci0000:00/virtio0",
    "virtual/nvme-subsystem/nvme-subsys0",
];

const FILES: [&str; 15] = [
    "dm/name",
    "md/level",
    "loop/backing_file",
    "partition",
    "queue/max_sectors_kb",
    "queue/nr_requests",
    "queue/rotational",
    "device/vpd_pgb1",
    "device/vpd_pg89",
    "current_link_speed",
    "current_link_width",
    "queue_count",
    "sqsize",
    "transport",
    "phy-9",
];

const TEXTS: [&str; 8] = [
    "",
    "-1",
    "0",
    "18446744073709551615",
    "99999999999999999999999",
    "8.0.0 GT/s",
    "\u{0}\u{1}x",
    "../../..",
];
