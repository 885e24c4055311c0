//! A SCSI command sent by `SG_IO`, ioctl(2), past what the block layer would make of it.
//!
//! Source: include/scsi/sg.h; SPC-5, 4.4 (sense data).

use std::ffi::c_void;
use std::io;
use std::os::fd::AsRawFd;
use std::ptr;

use units::convert::narrow;

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

/// What moves with a command.
#[derive(Debug)]
pub(crate) enum Data<'a> {
    /// Nothing.
    None,
    /// From the device.
    In(&'a mut [u8]),
    /// To the device.
    Out(&'a [u8]),
}

/// How a command ended.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Answer {
    /// The device's own word, as 02h for CHECK CONDITION.
    pub status: u8,
    /// That of the adapter; zero where the command reached the device and came back.
    pub host: u16,
    /// Bytes that were to move and did not.
    pub left: u32,
    /// Sense data, zeros where there are none.
    pub sense: [u8; 32],
}

/// The sense key, the additional sense code and its qualifier.
pub(crate) type Sense = (u8, u8, u8);

impl Answer {
    /// What the sense data say, whose two formats put it in different places; zeros where there are none.
    pub(crate) fn sense(&self) -> Sense {
        let sense = &self.sense;
        match sense[0] & 0x7f {
            0x70 | 0x71 => (sense[2] & 0xf, sense[12], sense[13]),
            0x72 | 0x73 => (sense[1] & 0xf, sense[2], sense[3]),
            _ => (0, 0, 0),
        }
    }
}

/// Sends `command` to the device and waits for its end, no longer than `timeout_ms`. An error is one of the system: no such
/// command reaches what is open there, or not with so much data.
pub(crate) fn send(
    device: &impl AsRawFd,
    command: &mut [u8],
    data: Data<'_>,
    timeout_ms: u32,
) -> io::Result<Answer> {
    assert!(matches!(command.len(), 6 | 10 | 12 | 16), "a command must have a length that there is");
    const NONE: libc::c_int = -1;
    const OUT: libc::c_int = -2;
    const IN: libc::c_int = -3;
    let mut sense = [0u8; 32];
    let (direction, data, length): (_, *mut u8, _) = match data {
        Data::None => (NONE, ptr::null_mut(), 0),
        Data::In(bytes) => (IN, bytes.as_mut_ptr(), bytes.len()),
        Data::Out(bytes) => (OUT, bytes.as_ptr().cast_mut(), bytes.len()),
    };
    let mut header = Header {
        interface: libc::c_int::from(b'S'),
        direction,
        command_length: narrow::<u8>(command.len()),
        sense_most: 32,
        pieces: 0,
        data_length: narrow::<u32>(length),
        data: data.cast(),
        command: command.as_mut_ptr(),
        sense: sense.as_mut_ptr(),
        timeout_ms,
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
    // SAFETY: header, command, data and sense data live through the call, and are as large as the header says; the kernel
    // writes to data that are read from the device alone, which are borrowed for writing.
    crate::answered(unsafe { libc::ioctl(device.as_raw_fd(), SG_IO, &raw mut header) })?;
    let left = u32::try_from(header.residual).unwrap_or(0);
    Ok(Answer { status: header.status, host: header.host_status, left, sense })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sense_data_of_both_formats_say_the_same() {
        let answer = |bytes: &[(usize, u8)]| {
            let mut sense = [0u8; 32];
            bytes.iter().for_each(|(place, byte)| sense[*place] = *byte);
            Answer { status: 2, host: 0, left: 0, sense }.sense()
        };
        assert_eq!(answer(&[(0, 0xf0), (2, 0x6e), (12, 0x1d), (13, 1)]), (0xe, 0x1d, 1));
        assert_eq!(answer(&[(0, 0x72), (1, 0xe), (2, 0x1d), (3, 1)]), (0xe, 0x1d, 1));
        assert_eq!(answer(&[]), (0, 0, 0));
    }

    #[test]
    fn what_is_no_device_answers_no_command() {
        let file = tempfile::tempfile().expect("there is room");
        let error = send(&file, &mut [0; 6], Data::None, 1000).expect_err("a file is no device");
        assert!(matches!(error.raw_os_error(), Some(libc::ENOTTY | libc::EINVAL)), "{error}");
    }
}
