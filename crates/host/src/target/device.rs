//! A block device as sysfs describes it: size, identity, queue.
//!
//! Source of the attributes: `Documentation/ABI/stable/sysfs-block`, `Documentation/block/queue-sysfs.rst`.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use units::Bytes;

use crate::each_once;
use crate::sysroot::{DevNo, SysRoot, chosen, names, number, path, text, times};

/// What a block device is made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeviceKind {
    /// A disk, a LUN, a namespace: the whole of it.
    Disk,
    /// A partition of a disk.
    Partition {
        /// Its number in the table.
        number: u64,
        /// The disk.
        of: DevNo,
    },
    /// A device-mapper map: LVM, LUKS, multipath and others.
    Mapper {
        /// The map's name, as in `/dev/mapper`.
        name: String,
        /// The map's uuid, whose prefix tells who made it: `LVM-`, `CRYPT-`, `mpath-`.
        uuid: String,
    },
    /// A Linux software RAID.
    Md {
        /// As `raid5`.
        level: String,
    },
    /// A loop device.
    Loop {
        /// The file behind it; `None` where the loop is not set up.
        backing: Option<PathBuf>,
        /// Whether that file has been deleted since.
        deleted: bool,
        /// Whether it bypasses the page cache of the file behind it.
        direct: bool,
    },
    /// Memory posing as a disk: zram, brd.
    Ram,
}

/// What tells one device from every other, wherever it is plugged in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Identity {
    /// The serial number the device itself gives.
    pub serial: Option<String>,
    /// Its world-wide name.
    pub wwid: Option<String>,
    /// Its names in `/dev/disk/by-id`, sorted.
    pub by_id: Vec<String>,
    /// The uuid of its md array.
    pub md_uuid: Option<String>,
    /// Of a partition: the name of its disk by what is behind that, with the partition's number, and its uuid.
    pub part: Vec<String>,
}

/// The queue's settings; each `None` where this kernel or driver does not tell.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Queue {
    /// Whether it says that it rotates. Virtual disks often do.
    pub rotational: Option<bool>,
    /// The I/O scheduler in use.
    pub scheduler: Option<String>,
    /// Requests the block layer keeps per queue.
    pub requests: Option<u64>,
    /// The largest request sent to the device.
    pub largest_request: Option<Bytes>,
    /// How far the kernel reads ahead of buffered reads.
    pub read_ahead: Option<Bytes>,
    /// `write back` or `write through`.
    pub write_cache: Option<String>,
    /// Whether it can be polled for completions.
    pub poll: Option<bool>,
    /// 0: requests are merged, 1: only simple merges, 2: none.
    pub no_merges: Option<u64>,
    /// The largest discard; zero where it cannot discard.
    pub largest_discard: Option<Bytes>,
    /// `none`, `host-aware` or `host-managed`.
    pub zoned: Option<String>,
}

/// One block device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Device {
    /// Its number.
    pub devno: DevNo,
    /// Its kernel name, as `sda`.
    pub name: String,
    /// Its node, as `/dev/sda`.
    pub node: PathBuf,
    /// What it is.
    pub kind: DeviceKind,
    /// Its size.
    pub size: Bytes,
    /// The smallest unit it can be asked for.
    pub logical_block: Bytes,
    /// The smallest unit it can write without reading first.
    pub physical_block: Bytes,
    /// Whether the kernel will refuse writes.
    pub read_only: bool,
    /// Who made it.
    pub vendor: Option<String>,
    /// The model's name.
    pub model: Option<String>,
    /// The firmware's revision.
    pub firmware: Option<String>,
    /// What tells it from every other.
    pub identity: Identity,
    /// Its queue; that of the whole disk for a partition.
    pub queue: Queue,
    /// A number never given twice between two boots: a disk that was exchanged under the same name has another.
    pub disk_sequence: Option<u64>,
    /// Its folder in sysfs, links resolved.
    pub folder: PathBuf,
}

impl Device {
    /// The device of that number, or `None` where sysfs lists none.
    pub fn read(root: &SysRoot, devno: DevNo) -> Option<Device> {
        let folder = root.block_folder(devno)?;
        let name = folder.file_name()?.to_str()?.to_owned();
        let kind = kind(&folder, &name);
        let disk = match kind {
            DeviceKind::Partition { .. } => folder.parent()?.to_owned(),
            _ => folder.clone(),
        };
        let queue = disk.join("queue");
        let block = |attribute: &str| number(&queue.join(attribute)).filter(|size| *size > 0);
        let logical_block = block("logical_block_size").unwrap_or(units::SECTOR_BYTES);
        Some(Device {
            devno,
            node: root.node(&name),
            // Counted in 512 bytes whatever the device's own block is.
            size: times(number(&folder.join("size")).unwrap_or(0), Bytes::new(units::SECTOR_BYTES)),
            logical_block: Bytes::new(logical_block),
            physical_block: Bytes::new(block("physical_block_size").unwrap_or(logical_block)),
            read_only: number(&folder.join("ro")) == Some(1),
            vendor: text(&disk.join("device/vendor")).filter(|vendor| !vendor.starts_with("0x")),
            model: text(&disk.join("device/model")).or_else(|| text(&disk.join("device/name"))),
            firmware: ["firmware_rev", "rev", "fwrev"]
                .iter()
                .find_map(|name| text(&disk.join("device").join(name))),
            identity: identity(root, &folder, &disk, &name, &kind),
            queue: read_queue(&queue),
            disk_sequence: number(&disk.join("diskseq")),
            kind,
            name,
            folder,
        })
    }

    /// The device of that kernel name.
    pub fn named(root: &SysRoot, name: &str) -> Option<Device> {
        Device::read(root, devno_of_name(root, name)?)
    }

    /// One line for people: `/dev/sdb (1.82 TiB, ST2000DM, serial Z1X)`.
    pub fn in_words(&self) -> String {
        let mut words = vec![self.size.as_sold()];
        match &self.kind {
            DeviceKind::Loop { backing: Some(file), .. } => {
                words.push(format!("loop over {}", file.display()));
            }
            DeviceKind::Mapper { name, .. } => words.push(format!("map {name}")),
            DeviceKind::Md { level } => words.push(format!("md {level}")),
            _ => {}
        }
        words.push(match (&self.vendor, &self.model) {
            (Some(vendor), Some(model)) if !model.starts_with(vendor.as_str()) => format!("{vendor} {model}"),
            (_, Some(model)) => model.clone(),
            _ => "no model name".into(),
        });
        words.push(match &self.identity.serial {
            Some(serial) => format!("serial {serial}"),
            None => "no serial".into(),
        });
        format!("{} ({})", self.node.display(), words.join(", "))
    }

    /// Every text that names this device and no other, best first: what a user may write to consent to its
    /// destruction.
    ///
    /// A partition is `<serial of the disk>-partN`, as udev names it, so that a disk's serial never stands
    /// for a part of it nor the reverse. A loop device is `loop:<path of its file>`, since it has no serial of
    /// its own and its number moves, and a partition of it `loop:<path>-partN`. Where the disk has no serial number a
    /// partition has its own uuid, `partuuid-<uuid>`, as `blkid` and `/dev/disk/by-partuuid` tell it. Empty where nothing names it: such a device cannot be consented to.
    pub fn consents(&self) -> Vec<String> {
        let suffix = match &self.kind {
            DeviceKind::Partition { number, .. } => format!("-part{number}"),
            _ => String::new(),
        };
        let own = [&self.identity.serial, &self.identity.wwid].into_iter().flatten();
        let mut consents: Vec<String> = own.map(|id| format!("{id}{suffix}")).collect();
        consents.extend(self.identity.by_id.iter().cloned());
        consents.extend(self.identity.part.iter().cloned());
        match &self.kind {
            DeviceKind::Loop { backing: Some(file), deleted: false, .. } => {
                consents.extend(loop_name(file));
            }
            DeviceKind::Mapper { name, uuid } => {
                consents.extend((!uuid.is_empty()).then(|| format!("dm-uuid-{uuid}")));
                consents.push(format!("dm-name-{name}"));
            }
            DeviceKind::Md { .. } => {
                consents.extend(self.identity.md_uuid.as_ref().map(|uuid| format!("md-uuid-{uuid}")));
            }
            _ => {}
        }
        assert!(consents.iter().all(|name| !name.is_empty()), "what has no letter names no device");
        each_once(consents, String::clone)
    }
}

/// The number of the device of that kernel name.
pub fn devno_of_name(root: &SysRoot, name: &str) -> Option<DevNo> {
    text(&root.sys.join("class/block").join(name).join("dev"))?.parse().ok()
}

/// The number of the device behind a node as mounts and swaps write it: `/dev/sda1`, `/dev/mapper/vg-lv`.
///
/// `None` for what is no node: a server's export, a pool's name, `tmpfs`.
pub fn devno_of_node(root: &SysRoot, node: &str) -> Option<DevNo> {
    use std::os::unix::fs::{FileTypeExt, MetadataExt};
    let below = Path::new(node).strip_prefix("/dev").ok()?;
    let path = root.dev.join(below);
    let stat = fs::metadata(&path);
    if let Ok(stat) = &stat
        && stat.file_type().is_block_device()
    {
        return Some(DevNo::from_raw(stat.rdev()));
    }
    let resolved = fs::canonicalize(&path).unwrap_or(path);
    let name = resolved.strip_prefix(fs::canonicalize(&root.dev).ok()?).ok()?.to_str()?;
    devno_of_name(root, &name.replace('/', "!"))
}

fn kind(folder: &Path, name: &str) -> DeviceKind {
    let number_in_table = number(&folder.join("partition"));
    let disk = folder.parent().and_then(|disk| text(&disk.join("dev"))?.parse().ok());
    if let (Some(number), Some(of)) = (number_in_table, disk) {
        return DeviceKind::Partition { number, of };
    }
    if let Some(map) = text(&folder.join("dm/name")) {
        return DeviceKind::Mapper { name: map, uuid: text(&folder.join("dm/uuid")).unwrap_or_default() };
    }
    if let Some(level) = text(&folder.join("md/level")) {
        return DeviceKind::Md { level };
    }
    if name.starts_with("loop") {
        return loop_kind(folder);
    }
    if name.starts_with("zram") || name.starts_with("ram") {
        return DeviceKind::Ram;
    }
    DeviceKind::Disk
}

fn loop_kind(folder: &Path) -> DeviceKind {
    let file = path(&folder.join("loop/backing_file"));
    // The kernel appends this to the path of a file that has no name left (fs/d_path.c).
    let (file, deleted) = match file {
        Some(path) => match path.as_os_str().as_bytes().strip_suffix(b" (deleted)") {
            Some(path) => (Some(PathBuf::from(OsStr::from_bytes(path))), true),
            None => (Some(path), false),
        },
        None => (None, false),
    };
    let direct = number(&folder.join("loop/dio")) == Some(1);
    DeviceKind::Loop { backing: file, deleted, direct }
}

fn identity(root: &SysRoot, folder: &Path, disk: &Path, name: &str, kind: &DeviceKind) -> Identity {
    let serial = text(&disk.join("serial"))
        .or_else(|| text(&disk.join("device/serial")))
        .or_else(|| scsi_serial(&disk.join("device/vpd_pg80")));
    let wwid = text(&disk.join("wwid")).or_else(|| text(&disk.join("device/wwid")));
    let md_uuid = match kind {
        DeviceKind::Md { .. } => text(&folder.join("md/uuid")),
        _ => None,
    };
    let part = match kind {
        DeviceKind::Partition { number, .. } => part_names(root, folder, disk, name, *number),
        _ => Vec::new(),
    };
    Identity { serial, wwid, by_id: linked(root, "disk/by-id", name), md_uuid, part }
}

/// What names a loop device: its file, where that is text. What is only like another name names nothing.
fn loop_name(file: &Path) -> Option<String> {
    file.to_str().map(|file| format!("loop:{file}"))
}

/// What names a partition of a disk that has no serial number: what its disk is made of, and its own uuid.
fn part_names(root: &SysRoot, folder: &Path, disk: &Path, name: &str, number: u64) -> Vec<String> {
    let disk_name = disk.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let of_disk = match self::kind(disk, disk_name) {
        DeviceKind::Loop { backing: Some(file), deleted: false, .. } => loop_name(&file),
        DeviceKind::Md { .. } => text(&disk.join("md/uuid")).map(|uuid| format!("md-uuid-{uuid}")),
        _ => None,
    };
    let told = text(&folder.join("uevent")).unwrap_or_default();
    let told = told.lines().find_map(|line| line.strip_prefix("PARTUUID=").map(str::to_owned));
    let uuid = told.or_else(|| linked(root, "disk/by-partuuid", name).into_iter().next());
    // A table without an identity of its own gives all its partitions zeros.
    let uuid = uuid.filter(|uuid| uuid.trim_end_matches(|c| c != '-').chars().any(|c| c != '0' && c != '-'));
    let of_disk = of_disk.map(|disk| format!("{disk}-part{number}"));
    of_disk.into_iter().chain(uuid.map(|uuid| format!("partuuid-{uuid}"))).collect()
}

/// The unit serial number page of SCSI: four bytes of head, the last two the length, then text
/// (SPC-4, 7.8.17).
fn scsi_serial(path: &Path) -> Option<String> {
    let page = fs::read(path).ok()?;
    let length = usize::from(u16::from_be_bytes([*page.get(2)?, *page.get(3)?]));
    let serial = page.get(4..4 + length).or_else(|| page.get(4..))?;
    let serial = String::from_utf8_lossy(serial);
    let serial = serial.trim_matches(|c: char| c.is_whitespace() || c == '\0');
    (!serial.is_empty()).then(|| serial.to_owned())
}

/// The names in a folder of links below `/dev` that lead to a node, sorted.
fn linked(root: &SysRoot, folder: &str, name: &str) -> Vec<String> {
    let folder = root.dev.join(folder);
    let points_here = |link: &String| {
        let end = fs::read_link(folder.join(link)).ok();
        end.and_then(|end| Some(end.file_name()?.to_str()? == name)).unwrap_or(false)
    };
    names(&folder).into_iter().filter(points_here).collect()
}

fn read_queue(folder: &Path) -> Queue {
    let kib = |name: &str| number(&folder.join(name)).map(|count| times(count, Bytes::KIB));
    let flag = |name: &str| number(&folder.join(name)).map(|value| value != 0);
    Queue {
        rotational: flag("rotational"),
        scheduler: text(&folder.join("scheduler")).map(|line| chosen(&line).unwrap_or(&line).to_owned()),
        requests: number(&folder.join("nr_requests")),
        largest_request: kib("max_sectors_kb"),
        read_ahead: kib("read_ahead_kb"),
        write_cache: text(&folder.join("write_cache")),
        poll: flag("io_poll"),
        no_merges: number(&folder.join("nomerges")),
        largest_discard: number(&folder.join("discard_max_bytes")).map(Bytes::new),
        zoned: text(&folder.join("zoned")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Fixture;

    #[test]
    fn a_disk_tells_its_size_identity_and_queue() {
        let machine = Fixture::new();
        let sda = machine.disk("sda", "8:0", 4096);
        machine.write("sys/block/sda/queue/scheduler", "none [mq-deadline] kyber\n");
        machine.write("sys/block/sda/queue/physical_block_size", "4096\n");
        machine.write("sys/block/sda/queue/read_ahead_kb", "128\n");
        machine.write("sys/block/sda/device/model", "ST2000DM001   \n");
        machine.write("sys/block/sda/device/rev", "CC27\n");
        machine.write("sys/block/sda/device/vpd_pg80", "\0\u{0}\0\u{9}  Z1E4ABC");
        machine.by_id("ata-ST2000DM001_Z1E4ABC", "sda");
        let device = Device::read(&machine.root(), sda).expect("the fixture has it");
        assert_eq!(device.size, Bytes::MIB * 2);
        assert_eq!(device.logical_block, Bytes::new(512));
        assert_eq!(device.physical_block, Bytes::new(4096));
        assert_eq!(device.model.as_deref(), Some("ST2000DM001"));
        assert_eq!(device.firmware.as_deref(), Some("CC27"));
        assert_eq!(device.identity.serial.as_deref(), Some("Z1E4ABC"));
        assert_eq!(device.queue.scheduler.as_deref(), Some("mq-deadline"));
        assert_eq!(device.queue.read_ahead, Some(Bytes::KIB * 128));
        assert_eq!(device.consents(), ["Z1E4ABC", "ata-ST2000DM001_Z1E4ABC"]);
        assert!(device.in_words().contains("2.1 MB, ST2000DM001, serial Z1E4ABC"), "{}", device.in_words());
    }

    #[test]
    fn a_partition_is_named_by_its_disk_and_number() {
        let machine = Fixture::new();
        machine.disk("sda", "8:0", 4096);
        machine.write("sys/block/sda/serial", "Z1\n");
        let part = machine.partition("sda", "sda2", "8:2", 2);
        let device = Device::read(&machine.root(), part).expect("the fixture has it");
        assert_eq!(device.kind, DeviceKind::Partition { number: 2, of: DevNo { major: 8, minor: 0 } });
        assert_eq!(device.consents(), ["Z1-part2"]);
    }

    #[test]
    fn a_partition_of_a_disk_without_a_serial_is_named_by_its_uuid_and_by_what_is_behind_the_disk() {
        let machine = Fixture::new();
        machine.disk("vda", "254:0", 4096);
        let part = machine.partition("vda", "vda1", "254:1", 1);
        let consents = || Device::read(&machine.root(), part).expect("the fixture has it").consents();
        assert!(consents().is_empty());
        machine.link("dev/disk/by-partuuid/5c1b2a40-01", "../../vda1");
        assert_eq!(consents(), ["partuuid-5c1b2a40-01"]);
        machine.write(
            "sys/devices/virtual/block/vda/vda1/uevent",
            "DEVNAME=vda1\nPARTN=1\nPARTUUID=0fc63daf-8483-4772-8e79-3d69d8477de4\n",
        );
        assert_eq!(consents(), ["partuuid-0fc63daf-8483-4772-8e79-3d69d8477de4"]);
        machine.write("sys/devices/virtual/block/vda/vda1/uevent", "PARTUUID=00000000-01\n");
        assert!(consents().is_empty(), "many tables have that one");

        machine.disk("loop3", "7:3", 8);
        machine.write("sys/block/loop3/loop/backing_file", "/var/tmp/x.img\n");
        let part = machine.partition("loop3", "loop3p2", "259:0", 2);
        let device = Device::read(&machine.root(), part).expect("the fixture has it");
        assert_eq!(device.consents(), ["loop:/var/tmp/x.img-part2"]);
    }

    #[test]
    fn a_loop_is_named_by_its_file_and_a_deleted_file_names_nothing() {
        let machine = Fixture::new();
        let devno = machine.disk("loop3", "7:3", 8);
        machine.write("sys/block/loop3/loop/backing_file", "/var/tmp/x.img\n");
        let device = Device::read(&machine.root(), devno).expect("the fixture has it");
        assert_eq!(device.consents(), ["loop:/var/tmp/x.img"]);
        machine.write("sys/block/loop3/loop/backing_file", "/var/tmp/x.img (deleted)\n");
        let device = Device::read(&machine.root(), devno).expect("the fixture has it");
        assert!(device.consents().is_empty());

        machine.write_bytes("sys/block/loop3/loop/backing_file", b"/var/tmp/\xff.img\n");
        let device = Device::read(&machine.root(), devno).expect("the fixture has it");
        assert!(device.consents().is_empty(), "another file may look the same");
        let DeviceKind::Loop { backing: Some(file), deleted: false, .. } = device.kind else {
            panic!("{:?}", device.kind)
        };
        assert_eq!(file.as_os_str().as_bytes(), b"/var/tmp/\xff.img");
    }

    #[test]
    fn a_limit_that_stands_for_none_is_no_overflow() {
        let machine = Fixture::new();
        let sda = machine.disk("sda", "8:0", u64::MAX);
        machine.write("sys/block/sda/queue/read_ahead_kb", "18446744073709551612\n");
        let device = Device::read(&machine.root(), sda).expect("the fixture has it");
        assert_eq!(
            (device.size, device.queue.read_ahead),
            (Bytes::new(u64::MAX), Some(Bytes::new(u64::MAX)))
        );
    }

    #[test]
    fn a_node_that_is_a_link_leads_to_its_device() {
        let machine = Fixture::new();
        let dm = machine.disk("dm-0", "252:0", 8);
        machine.node("dm-0");
        machine.link("dev/mapper/vg-lv", "../dm-0");
        assert_eq!(devno_of_node(&machine.root(), "/dev/mapper/vg-lv"), Some(dm));
        assert_eq!(devno_of_node(&machine.root(), "filer:/vol"), None);
        assert_eq!(devno_of_node(&machine.root(), "/dev/sdz"), None);
    }
}
