//! A namespace of an NVMe drive, opened to be sent commands.
//!
//! Source: NVM Express Base Specification 2.0, 5.17 (Identify); NVM Command Set 1.0, 4.1.5 (Identify Namespace);
//! include/uapi/linux/nvme_ioctl.h.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};

use units::Bytes;
use units::convert::narrow;

use super::Addressing;
use crate::answered;
use crate::sysroot::{DevNo, SysRoot};
use crate::target::{Device, DeviceKind, generic_of};

/// The most blocks of one command, which counts them in 16 bits.
pub(super) const BLOCKS_MAX: u64 = 65_536;

/// Says no to a device that is no namespace with a generic node.
pub(super) fn serves(root: &SysRoot, device: &Device) -> Result<(), String> {
    match device.kind {
        DeviceKind::Partition { .. } => {
            Err("commands count blocks from the start of the namespace: name the whole one".into())
        }
        DeviceKind::Disk if generic_of(root, device).is_some() => Ok(()),
        _ => Err("it is no NVMe namespace with a generic node: /dev/nvmeXnY or its /dev/ngXnY is needed, of Linux 5.13 or \
                  later; `nvme list` shows them"
            .into()),
    }
}

/// Opens the generic node of the namespace whose block device is open as `block`. An error says why commands cannot be sent
/// to it.
pub(super) fn open(root: &SysRoot, block: &File, writes: bool) -> Result<(File, Addressing), String> {
    let told = |error: io::Error| error.to_string();
    let devno = DevNo::from_raw(block.metadata().map_err(told)?.rdev());
    let device = Device::read(root, devno).ok_or("the kernel no longer lists it")?;
    serves(root, &device)?;
    let (node, number) = generic_of(root, &device).ok_or("its generic node has gone")?;
    let opened =
        File::options().read(true).write(writes).custom_flags(libc::O_NOFOLLOW | libc::O_NOCTTY).open(&node);
    let file = opened.map_err(|error| format!("{}: {error}", node.display()))?;
    let found = file.metadata().map_err(told)?;
    if !found.file_type().is_char_device() || DevNo::from_raw(found.rdev()) != number {
        return Err(format!("{} is not the node of {}", node.display(), device.name));
    }
    let namespace = namespace_of(&file).map_err(|error| format!("NVME_IOCTL_ID failed: {error}"))?;
    let identified =
        identify(&file, namespace).map_err(|error| format!("Identify Namespace failed: {error}"))?;
    let Format { blocks, block, metadata } = Format::of(&identified)?;
    if metadata > 0 {
        return Err(format!(
            "each block has {metadata} bytes of metadata, which are not sent; format it without"
        ));
    }
    if block.get().checked_mul(blocks) != Some(device.size.get()) {
        return Err(format!(
            "the namespace has {blocks} blocks of {block}, and the block device {}",
            device.size
        ));
    }
    Ok((file, Addressing { block, namespace }))
}

/// What a namespace says of its size and of its blocks.
#[derive(Debug, PartialEq, Eq)]
struct Format {
    blocks: u64,
    block: Bytes,
    metadata: u16,
}

impl Format {
    /// From the data of Identify Namespace: NSZE, FLBAS and the LBA format that is in use.
    fn of(data: &[u8; 4096]) -> Result<Format, String> {
        let blocks = u64::from_le_bytes(crate::bytes_at(data, 0));
        let in_use = data[26] & 0xf | data[26] >> 1 & 0x30;
        let [low, high, exponent, _] = [0, 1, 2, 3].map(|byte| data[128 + 4 * usize::from(in_use) + byte]);
        match exponent {
            9..=30 => Ok(Format {
                blocks,
                block: Bytes::new(1 << exponent),
                metadata: u16::from_le_bytes([low, high]),
            }),
            _ => Err(format!("its blocks are of 2^{exponent} bytes")),
        }
    }
}

fn namespace_of(node: &File) -> io::Result<u32> {
    /// `NVME_IOCTL_ID`, `_IO('N', 0x40)`.
    const ID: libc::Ioctl = 0x4E40;
    // SAFETY: the call takes no argument.
    answered(unsafe { libc::ioctl(node.as_raw_fd(), ID) }).map(narrow::<u32>)
}

/// `struct nvme_passthru_cmd`: operation, three bytes of flags, words 1 to 3, metadata, data, their lengths, words 10 to 15,
/// timeout and result.
#[repr(C)]
struct Passthrough {
    operation: u32,
    namespace: u32,
    words: [u32; 2],
    metadata: u64,
    data: u64,
    metadata_len: u32,
    data_len: u32,
    command: [u32; 6],
    timeout_ms: u32,
    result: u32,
}

const _: () = assert!(size_of::<Passthrough>() == 72, "the kernel's own structure is as large");

/// The 4096 bytes that the controller tells of a namespace.
fn identify(node: &File, namespace: u32) -> io::Result<[u8; 4096]> {
    /// `NVME_IOCTL_ADMIN_CMD`, `_IOWR('N', 0x41, struct nvme_passthru_cmd)`.
    const ADMIN: libc::Ioctl = 0xC048_4E41;
    const IDENTIFY: u32 = 0x06;
    let mut data = [0u8; 4096];
    let mut command = Passthrough {
        operation: IDENTIFY,
        namespace,
        words: [0; 2],
        metadata: 0,
        data: data.as_mut_ptr() as u64,
        metadata_len: 0,
        data_len: narrow::<u32>(data.len()),
        command: [0; 6],
        timeout_ms: 0,
        result: 0,
    };
    // SAFETY: command and data live through the call; the kernel writes as many bytes as `data_len` says.
    match answered(unsafe { libc::ioctl(node.as_raw_fd(), ADMIN, &raw mut command) })? {
        0 => Ok(data),
        _ => Err(io::ErrorKind::Unsupported.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Fixture;

    #[test]
    fn a_namespace_tells_its_blocks_by_the_format_in_use() {
        let mut data = [0u8; 4096];
        (data[0], data[1]) = (0, 2);
        (data[26], data[128 + 2], data[132], data[134]) = (1, 12, 8, 9);
        assert_eq!(Format::of(&data), Ok(Format { blocks: 512, block: Bytes::new(512), metadata: 8 }));
        data[26] = 0;
        assert_eq!(Format::of(&data), Ok(Format { blocks: 512, block: Bytes::new(4096), metadata: 0 }));
        // The upper bits of the number of a format stand apart from the lower ones.
        (data[26], data[128 + 4 * 17 + 2]) = (0x21, 14);
        assert_eq!(Format::of(&data).expect("it has a size").block, Bytes::new(1 << 14));
        data[26] = 2;
        assert!(Format::of(&data).expect_err("no such format").contains("2^0"));
    }

    #[test]
    fn only_a_whole_namespace_with_a_generic_node_takes_commands() {
        let machine = Fixture::new();
        let look = |devno| Device::read(&machine.root(), devno).expect("the fixture has it");
        let nvme = machine.disk("nvme0n1", "259:0", 4096);
        assert!(serves(&machine.root(), &look(nvme)).expect_err("there is no node").contains("/dev/ngXnY"));
        machine.write("sys/class/nvme-generic/ng0n1/dev", "240:0");
        assert_eq!(serves(&machine.root(), &look(nvme)), Ok(()));
        let part = machine.partition("nvme0n1", "nvme0n1p1", "259:1", 1);
        assert!(serves(&machine.root(), &look(part)).expect_err("it begins elsewhere").contains("whole one"));
    }

    #[test]
    fn what_is_no_namespace_is_sent_no_command() {
        let file = tempfile::tempfile().expect("there is room");
        assert!(namespace_of(&file).is_err() && identify(&file, 1).is_err());
        let refused = open(&Fixture::new().root(), &file, false).expect_err("a file is no device");
        assert!(refused.contains("no longer lists it"), "{refused}");
    }
}
