//! What a block device says of itself to whoever may only read it: ioctl(2) on a descriptor that is open for reading.
//!
//! **Invariant:** nothing here changes a device. Commands that one is sent ask, and do nothing else.
//!
//! Source: include/uapi/linux/fs.h and include/uapi/linux/hdreg.h; ATA8-ACS, CHECK POWER MODE and IDENTIFY DEVICE.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use units::convert::narrow;

use crate::passthrough;

/// A number that a driver keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kept {
    /// Whether writes are refused: `BLKROGET`.
    ReadOnly,
    /// Sectors that are read ahead: `BLKRAGET`.
    ReadAhead,
    /// Whether other interrupts are let through while one is served.
    Unmask,
    /// Sectors of one interrupt.
    Multiple,
    /// Whether settings outlive a reset.
    KeepSettings,
    /// How wide the interface is.
    Width,
    /// Whether errors of writes are ignored.
    NoWriteErrors,
    /// Whether data move by DMA.
    Dma,
}

impl Kept {
    /// The call as the system's headers name it.
    pub fn name(self) -> &'static str {
        self.call().0
    }

    fn call(self) -> (&'static str, libc::c_ulong) {
        match self {
            Kept::ReadOnly => ("BLKROGET", 0x125e),
            Kept::ReadAhead => ("BLKRAGET", 0x1263),
            Kept::Unmask => ("HDIO_GET_UNMASKINTR", 0x0302),
            Kept::Multiple => ("HDIO_GET_MULTCOUNT", 0x0304),
            Kept::KeepSettings => ("HDIO_GET_KEEPSETTINGS", 0x0308),
            Kept::Width => ("HDIO_GET_32BIT", 0x0309),
            Kept::NoWriteErrors => ("HDIO_GET_NOWERR", 0x030a),
            Kept::Dma => ("HDIO_GET_DMA", 0x030b),
        }
    }
}

/// Heads and sectors as partition tables of old count them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Geometry {
    /// Heads.
    pub heads: u8,
    /// Sectors of a track.
    pub sectors: u8,
    /// Where a partition begins on its disk, in sectors of 512 bytes.
    pub start: u64,
}

/// `path`, open for reading. A device without a medium is opened as well.
pub fn open(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).custom_flags(libc::O_CLOEXEC | libc::O_NONBLOCK).open(path)
}

/// The number that the driver keeps. An error where it keeps none.
pub fn kept(device: &File, which: Kept) -> io::Result<u64> {
    // As large as the largest answer: drivers write an int or a long.
    let mut answer: libc::c_long = 0;
    asked(device, which.call().1, std::ptr::from_mut(&mut answer).cast())?;
    Ok(narrow::<u64>(answer.max(0)))
}

/// Heads, sectors and start: `HDIO_GETGEO`.
pub fn geometry(device: &File) -> io::Result<Geometry> {
    #[repr(C)]
    struct Answer {
        heads: u8,
        sectors: u8,
        cylinders: u16,
        start: libc::c_ulong,
    }
    let mut answer = Answer { heads: 0, sectors: 0, cylinders: 0, start: 0 };
    asked(device, 0x0301, std::ptr::from_mut(&mut answer).cast())?;
    Ok(Geometry { heads: answer.heads, sectors: answer.sectors, start: answer.start })
}

/// The 256 words by which an ATA drive tells what it is, as it has told them: `HDIO_GET_IDENTITY`.
pub fn identity(device: &File) -> io::Result<[u16; 256]> {
    let mut words = [0_u16; 256];
    asked(device, 0x030d, words.as_mut_ptr().cast())?;
    Ok(as_told(words.map(u16::from_le)))
}

/// The kernel has put letters of texts in the order of memory (drivers/ata/libata-scsi.c, `ata_get_identity`), where a drive
/// has the first of two in the upper byte: serial number, revision and model.
fn as_told(mut words: [u16; 256]) -> [u16; 256] {
    let is_text = |place: usize| (10..20).contains(&place) || (23..47).contains(&place);
    for (_, word) in words.iter_mut().enumerate().filter(|(place, _)| is_text(*place)) {
        *word = word.swap_bytes();
    }
    words
}

/// The answer of an ATA drive to CHECK POWER MODE, which neither wakes it nor keeps it awake.
pub fn power_mode(device: &File) -> io::Result<u8> {
    const CHECK_POWER_MODE: u8 = 0xe5;
    let mut command = [CHECK_POWER_MODE, 0, 0, 0];
    asked(device, 0x031f, command.as_mut_ptr().cast())?;
    Ok(command[2])
}

/// What a drive could be told to leave out: DEVICE CONFIGURATION IDENTIFY, 256 words.
pub fn configuration(device: &File) -> io::Result<[u16; 256]> {
    const DEVICE_CONFIGURATION: u8 = 0xb1;
    const IDENTIFY: u8 = 0xc2;
    // A command of four bytes, and room for a sector behind it.
    let mut command = [0u8; 4 + 512];
    command[..4].copy_from_slice(&[DEVICE_CONFIGURATION, 0, IDENTIFY, 1]);
    asked(device, 0x031f, command.as_mut_ptr().cast())?;
    Ok(std::array::from_fn(|word| u16::from_le_bytes(crate::bytes_at(&command, 4 + 2 * word))))
}

/// The registers, sector count and error, by which a drive of Hitachi tells its temperature. Of others the command may mean
/// anything: it is for those alone.
pub fn temperature(device: &File) -> io::Result<(u8, u8)> {
    const SENSE_CONDITION: u8 = 0xf0;
    let mut command = [SENSE_CONDITION, 0, 1, 0];
    asked(device, 0x031f, command.as_mut_ptr().cast())?;
    Ok((command[2], command[1]))
}

/// How many sectors there are, whether they can be seen or not, by a command that transfers nothing and changes nothing.
pub fn native_sectors(device: &File, command: NativeCommand) -> io::Result<u64> {
    let (feature, operation, is_extended) = match command {
        NativeCommand::GetExtended => (0x00, 0x78, true),
        NativeCommand::ReadExtended => (0x00, 0x27, true),
        NativeCommand::Read => (0x00, 0xf8, false),
    };
    let registers = passthrough::no_data(device, feature, operation, is_extended)?;
    Ok(registers.sector(is_extended) + 1)
}

/// The ATA command that reads a drive's native maximum address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NativeCommand {
    /// GET NATIVE MAX ADDRESS EXT, of ACS-3.
    GetExtended,
    /// READ NATIVE MAX ADDRESS EXT.
    ReadExtended,
    /// READ NATIVE MAX ADDRESS.
    Read,
}

/// How many requests the drive holds at once, as the system knows it of a SCSI or SATA disk, behind the file that says so. An
/// error where it knows none.
pub fn queue_depth(device: &Path) -> (PathBuf, io::Result<u64>) {
    let whole = device.canonicalize().unwrap_or_else(|_| device.into());
    let name = whole.file_name().map(Path::new).unwrap_or(Path::new(""));
    let file = Path::new("/sys/block").join(name).join("device/queue_depth");
    let text = std::fs::read_to_string(&file);
    let depth = text.and_then(|text| text.trim().parse().map_err(|_| io::ErrorKind::InvalidData.into()));
    (file, depth)
}

/// Asks; `answer` is a place as large as the call wants it.
fn asked(device: &File, call: libc::c_ulong, answer: *mut libc::c_void) -> io::Result<()> {
    // SAFETY: each caller passes a place of its own as large as what the call writes, which lives through it.
    crate::answered(unsafe { libc::ioctl(device.as_raw_fd(), call, answer) }).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_a_drive_are_as_it_has_told_them() {
        let mut words = [0x4d51_u16; 256];
        words[10] = u16::from_le_bytes(*b"QM");
        let told = as_told(words);
        assert_eq!((told[10], told[46]), (u16::from_be_bytes(*b"QM"), 0x514d));
        assert_eq!((told[9], told[20], told[22], told[47]), (0x4d51, 0x4d51, 0x4d51, 0x4d51));
    }

    #[test]
    fn what_is_no_device_keeps_no_number_and_says_so_for_each() {
        let file = tempfile::NamedTempFile::new().expect("there is room");
        let open = open(file.path()).expect("it is there");
        for which in [Kept::ReadOnly, Kept::ReadAhead, Kept::Multiple, Kept::Dma] {
            let error = kept(&open, which).expect_err("a file is no device");
            assert_eq!(error.raw_os_error(), Some(libc::ENOTTY), "{}", which.name());
        }
        assert!(geometry(&open).is_err() && identity(&open).is_err() && power_mode(&open).is_err());
        assert!(super::open(Path::new("/nowhere/sda")).is_err());
    }
}
