//! The block device behind a generic node: /dev/sgN of a SCSI disk.
//!
//! Source: `Documentation/scsi/scsi-generic.rst`; sysfs links of drivers/scsi/sg.c.

use std::fs;

use super::device::devno_of_name;
use crate::sysroot::{DevNo, SysRoot, names};

/// The kernel name and the number of the block device that the character device of that number leads to; `None` where it
/// leads to none, as of a tape or a terminal.
pub(super) fn block_behind(root: &SysRoot, node: DevNo) -> Option<(String, DevNo)> {
    let folder = fs::canonicalize(root.sys.join("dev/char").join(node.to_string())).ok()?;
    let name = names(&folder.join("device/block")).into_iter().next()?;
    let devno = devno_of_name(root, &name)?;
    Some((name, devno))
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
}
