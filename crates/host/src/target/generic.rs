//! Block devices and the generic nodes beside them: /dev/sgN of a SCSI disk, /dev/ngXnY of an NVMe namespace.
//!
//! Source: `Documentation/scsi/scsi-generic.rst`; sysfs of drivers/scsi/sg.c and of drivers/nvme/host/core.c, class
//! `nvme-generic`.

use std::fs;
use std::path::PathBuf;

use super::device::{Device, devno_of_name};
use crate::sysroot::{DevNo, SysRoot, names, text};

/// The kernel name and the number of the block device that the character device of that number leads to; `None` where it
/// leads to none, as of a tape or a terminal.
pub(super) fn block_behind(root: &SysRoot, node: DevNo) -> Option<(String, DevNo)> {
    let folder = fs::canonicalize(root.sys.join("dev/char").join(node.to_string())).ok()?;
    let of_namespace = folder.file_name()?.to_str()?.strip_prefix("ng").map(|rest| format!("nvme{rest}"));
    let name = of_namespace.or_else(|| names(&folder.join("device/block")).into_iter().next())?;
    let devno = devno_of_name(root, &name)?;
    Some((name, devno))
}

/// The generic node of an NVMe namespace and its number; `None` where it is no namespace, and before Linux 5.13.
pub(crate) fn node_of(root: &SysRoot, device: &Device) -> Option<(PathBuf, DevNo)> {
    let name = format!("ng{}", device.name.strip_prefix("nvme")?);
    let devno = text(&root.sys.join("class/nvme-generic").join(&name).join("dev"))?.parse().ok()?;
    Some((root.node(&name), devno))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Fixture;

    #[test]
    fn a_generic_node_of_a_scsi_disk_leads_to_its_block_device_and_another_nowhere() {
        let machine = Fixture::new();
        let sda = machine.disk("sda", "8:0", 4096);
        machine.write("sys/devices/scsi/2:0:0:0/block/sda/dev", "8:0");
        machine.link("sys/devices/scsi/2:0:0:0/scsi_generic/sg0/device", "../../../2:0:0:0");
        machine.link("sys/dev/char/21:0", "../../devices/scsi/2:0:0:0/scsi_generic/sg0");
        machine.write("sys/devices/scsi/3:0:0:0/scsi_generic/sg1/dev", "21:1");
        machine.link("sys/dev/char/21:1", "../../devices/scsi/3:0:0:0/scsi_generic/sg1");
        let behind = |minor| block_behind(&machine.root(), DevNo { major: 21, minor });
        assert_eq!(behind(0), Some(("sda".into(), sda)));
        assert_eq!((behind(1), behind(2)), (None, None));
    }

    #[test]
    fn a_namespace_and_its_generic_node_lead_to_each_other() {
        let machine = Fixture::new();
        let nvme = machine.disk("nvme0n1", "259:0", 4096);
        machine.write("sys/devices/nvme/nvme0/ng0n1/dev", "240:0");
        machine.link("sys/dev/char/240:0", "../../devices/nvme/nvme0/ng0n1");
        machine.link("sys/class/nvme-generic/ng0n1", "../../devices/nvme/nvme0/ng0n1");
        let (root, node) = (machine.root(), DevNo { major: 240, minor: 0 });
        assert_eq!(block_behind(&root, node), Some(("nvme0n1".into(), nvme)));
        let device = Device::read(&root, nvme).expect("the fixture has it");
        assert_eq!(node_of(&root, &device), Some((root.node("ng0n1"), node)));
        let other = Device { name: "sda".into(), ..device };
        assert_eq!(node_of(&root, &other), None);
    }
}
