//! An ATA command sent through the SCSI layer: ATA PASS-THROUGH (16) by `SG_IO`, ioctl(2).
//!
//! **Invariant:** only commands without data are sent, and whoever sends one knows that it changes nothing.
//!
//! Source: SAT-4, ATA PASS-THROUGH (16) and the ATA Status Return descriptor; include/scsi/sg.h.

use std::ffi::c_void;
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::ptr;

/// `struct sg_io_hdr` of the kernel.
#[repr(C)]
struct Header {
    interface: libc::c_int,
    direction: libc::c_int,
    command_length: u8,
    sense_most: u8,
    pieces: u16,
    data_length: u32,
    data: *mut c_void,
    command: *mut u8,
    sense: *mut u8,
    timeout_ms: u32,
    flags: u32,
    pack: libc::c_int,
    user: *mut c_void,
    status: u8,
    masked_status: u8,
    message_status: u8,
    sense_length: u8,
    host_status: u16,
    driver_status: u16,
    residual: libc::c_int,
    duration_ms: u32,
    info: u32,
}

#[cfg(target_pointer_width = "64")]
const _: () = assert!(size_of::<Header>() == 88, "the kernel's own header is as large");

const SG_IO: libc::Ioctl = 0x2285;
const NO_DATA: libc::c_int = -1;

/// The registers that a drive has answered with: each as its lower and its upper byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Registers {
    low: [u8; 3],
    high: [u8; 3],
    device: u8,
}

impl Registers {
    /// The number of a sector, of 48 bits or of 28.
    pub(crate) fn sector(&self, is_extended: bool) -> u64 {
        let of = |bytes: [u8; 3]| {
            bytes.iter().enumerate().map(|(place, byte)| u64::from(*byte) << (8 * place)).sum::<u64>()
        };
        let upper = if is_extended { of(self.high) } else { u64::from(self.device & 0x0f) };
        upper << 24 | of(self.low)
    }

    /// From the sense data of a command that asked for them; `None` where they are not in it.
    fn of_sense(sense: &[u8; 32]) -> Option<Registers> {
        let [code, .., 0x09, _] = sense.first_chunk::<10>()? else { return None };
        (code & 0x7f == 0x72).then(|| Registers {
            low: [sense[15], sense[17], sense[19]],
            high: [sense[14], sense[16], sense[18]],
            device: sense[20],
        })
    }
}

/// Sends the command of that number with that feature. What the drive has left in its registers; an error where it is no ATA
/// drive, or refuses.
pub(crate) fn no_data(device: &File, feature: u8, operation: u8, is_extended: bool) -> io::Result<Registers> {
    const PASS_THROUGH: u8 = 0x85;
    const PROTOCOL_NO_DATA: u8 = 3 << 1;
    const RETURN_REGISTERS: u8 = 0x20;
    const ERROR: u8 = 0x01;
    let mut command = [0u8; 16];
    (command[0], command[1], command[2]) =
        (PASS_THROUGH, PROTOCOL_NO_DATA | u8::from(is_extended), RETURN_REGISTERS);
    (command[4], command[13], command[14]) = (feature, 0x40, operation);
    let mut sense = [0u8; 32];
    let mut header = Header {
        interface: libc::c_int::from(b'S'),
        direction: NO_DATA,
        command_length: 16,
        sense_most: 32,
        pieces: 0,
        data_length: 0,
        data: ptr::null_mut(),
        command: command.as_mut_ptr(),
        sense: sense.as_mut_ptr(),
        timeout_ms: 15_000,
        flags: 0,
        pack: 0,
        user: ptr::null_mut(),
        status: 0,
        masked_status: 0,
        message_status: 0,
        sense_length: 0,
        host_status: 0,
        driver_status: 0,
        residual: 0,
        duration_ms: 0,
        info: 0,
    };
    // SAFETY: header, command and sense data live through the call, and are as large as the header says.
    let result = unsafe { libc::ioctl(device.as_raw_fd(), SG_IO, &raw mut header) };
    if result < 0 {
        return Err(io::Error::last_os_error());
    }
    let registers = Registers::of_sense(&sense).filter(|_| header.host_status == 0);
    registers.filter(|_| sense[21] & ERROR == 0).ok_or_else(|| io::Error::from_raw_os_error(libc::EIO))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sector_is_read_out_of_the_registers_that_a_drive_has_answered_with() {
        let mut sense = [0u8; 32];
        (sense[0], sense[7], sense[8], sense[9]) = (0x72, 14, 0x09, 0x0c);
        sense[14..21].copy_from_slice(&[0x04, 0x01, 0x05, 0x02, 0x06, 0x03, 0x4f]);
        let registers = Registers::of_sense(&sense).expect("it has them");
        assert_eq!(registers.sector(true), 0x0605_0403_0201);
        assert_eq!(registers.sector(false), 0x0f03_0201);
        assert_eq!(Registers::of_sense(&[0; 32]), None);
        sense[0] = 0x70;
        assert_eq!(Registers::of_sense(&sense), None, "sense data of the fixed form has no such part");
    }

    #[test]
    fn what_is_no_drive_answers_no_command() {
        let file = tempfile::tempfile().expect("there is room");
        let error = no_data(&file, 0, 0x27, true).expect_err("a file is no drive");
        assert!(matches!(error.raw_os_error(), Some(libc::ENOTTY | libc::EINVAL)), "{error}");
    }
}
