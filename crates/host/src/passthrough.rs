//! An ATA command sent through the SCSI layer: ATA PASS-THROUGH (16) by `SG_IO`, ioctl(2).
//!
//! **Invariant:** only commands without data are sent, and whoever sends one knows that it changes nothing.
//!
//! Source: SAT-4, ATA PASS-THROUGH (16) and the ATA Status Return descriptor.

use std::fs::File;
use std::io;

use crate::scsi::{Data, send};

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
    assert!(
        matches!((feature, operation), (0, 0x27 | 0x78 | 0xf8)),
        "only what asks and changes nothing is sent"
    );
    const PASS_THROUGH: u8 = 0x85;
    const PROTOCOL_NO_DATA: u8 = 3 << 1;
    const RETURN_REGISTERS: u8 = 0x20;
    const ERROR: u8 = 0x01;
    let mut command = [0u8; 16];
    (command[0], command[1], command[2]) =
        (PASS_THROUGH, PROTOCOL_NO_DATA | u8::from(is_extended), RETURN_REGISTERS);
    (command[4], command[13], command[14]) = (feature, 0x40, operation);
    let answer = send(device, &mut command, Data::None, 15_000)?;
    let registers = Registers::of_sense(&answer.sense).filter(|_| answer.host == 0);
    registers.filter(|_| answer.sense[21] & ERROR == 0).ok_or_else(|| io::Error::from_raw_os_error(libc::EIO))
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
