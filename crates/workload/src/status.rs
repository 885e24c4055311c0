//! What a device said of a command that it did not carry out, in the number of an [`Errno`].
//!
//! Source: SAM-5, 5.3 (status codes); SPC-5, 4.4 (sense keys) and annex F (additional sense codes); NVM
//! Express Base Specification 2.0, 3.3.3.2.1 (status field).

use std::fmt;

use crate::Errno;

/// An answer of a device in the words of its protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeviceStatus {
    /// Of a SCSI device.
    Scsi {
        /// As `02h`, CHECK CONDITION.
        status: u8,
        /// The sense key, of four bits; zero where there are no sense data.
        key: u8,
        /// The additional sense code.
        code: u8,
        /// Its qualifier.
        qualifier: u8,
    },
    /// Of an NVMe drive: the status field of its completion, the type of the code in bits 8 to 10.
    Nvme(u16),
}

/// Marks the number of a SCSI device's answer, of which 28 bits tell it. No system has so high an error number.
const SCSI: i32 = 1 << 29;
/// Marks that of an NVMe drive, of which 16 bits tell it.
const NVME: i32 = 1 << 28;

impl DeviceStatus {
    /// The number that stands for it: an outcome has room for one.
    pub fn errno(self) -> Errno {
        Errno(match self {
            DeviceStatus::Scsi { status, key, code, qualifier } => {
                SCSI | i32::from_be_bytes([0, status, code, qualifier]) | i32::from(key & 0xf) << 24
            }
            DeviceStatus::Nvme(status) => NVME | i32::from(status),
        })
    }

    /// What that number stands for; `None` for an error of the system.
    pub fn of(errno: Errno) -> Option<DeviceStatus> {
        let [mark, status, code, qualifier] = errno.0.to_be_bytes();
        match mark {
            0x20..=0x2f => Some(DeviceStatus::Scsi { status, key: mark & 0xf, code, qualifier }),
            0x10 => Some(DeviceStatus::Nvme(u16::from_be_bytes([code, qualifier]))),
            _ => None,
        }
    }
}

impl fmt::Display for DeviceStatus {
    /// As `SCSI CHECK CONDITION, sense key MEDIUM ERROR, 11h/00h (unrecovered read error)` and `NVMe status 2h/81h
    /// (unrecovered read error)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (status, key, code, qualifier) = match *self {
            DeviceStatus::Scsi { status, key, code, qualifier } => (status, key, code, qualifier),
            DeviceStatus::Nvme(status) => return nvme(status, f),
        };
        match named(STATUSES, status) {
            Some(name) => write!(f, "SCSI {name}")?,
            None => write!(f, "SCSI status {status:02x}h")?,
        }
        if key == 0 && code == 0 {
            return Ok(());
        }
        let key = KEYS.get(usize::from(key)).unwrap_or(&"");
        write!(f, ", sense key {key}, {code:02x}h/{qualifier:02x}h")?;
        match named(CODES, code) {
            Some(words) => write!(f, " ({words})"),
            None => Ok(()),
        }
    }
}

fn nvme(status: u16, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let status = status & 0x7ff;
    write!(f, "NVMe status {:x}h/{:02x}h", status >> 8, status & 0xff)?;
    match NVME_STATUSES.iter().find(|(known, _)| *known == status) {
        Some((_, words)) => write!(f, " ({words})"),
        None => Ok(()),
    }
}

fn named(table: &[(u8, &'static str)], code: u8) -> Option<&'static str> {
    table.iter().find(|(known, _)| *known == code).map(|(_, name)| *name)
}

const STATUSES: &[(u8, &str)] = &[
    (0x02, "CHECK CONDITION"),
    (0x04, "CONDITION MET"),
    (0x08, "BUSY"),
    (0x18, "RESERVATION CONFLICT"),
    (0x28, "TASK SET FULL"),
    (0x30, "ACA ACTIVE"),
    (0x40, "TASK ABORTED"),
];

const KEYS: [&str; 16] = [
    "NO SENSE",
    "RECOVERED ERROR",
    "NOT READY",
    "MEDIUM ERROR",
    "HARDWARE ERROR",
    "ILLEGAL REQUEST",
    "UNIT ATTENTION",
    "DATA PROTECT",
    "BLANK CHECK",
    "VENDOR SPECIFIC",
    "COPY ABORTED",
    "ABORTED COMMAND",
    "RESERVED",
    "VOLUME OVERFLOW",
    "MISCOMPARE",
    "COMPLETED",
];

/// Additional sense codes by their first byte, those that reads and writes meet.
const CODES: &[(u8, &str)] = &[
    (0x03, "peripheral device write fault"),
    (0x04, "logical unit not ready"),
    (0x08, "logical unit communication failure"),
    (0x0c, "write error"),
    (0x10, "check of protection information failed"),
    (0x11, "unrecovered read error"),
    (0x1d, "miscompare during verify operation"),
    (0x20, "invalid command operation code"),
    (0x21, "logical block address out of range"),
    (0x24, "invalid field in CDB"),
    (0x25, "logical unit not supported"),
    (0x26, "invalid field in parameter list"),
    (0x27, "write protected"),
    (0x28, "medium may have changed"),
    (0x29, "power on, reset or bus device reset occurred"),
    (0x2a, "parameters changed"),
    (0x31, "medium format corrupted"),
    (0x38, "space allocation failed"),
    (0x3a, "medium not present"),
    (0x44, "internal target failure"),
];

/// Types of status codes and status codes that reads and writes meet.
const NVME_STATUSES: &[(u16, &str)] = &[
    (0x001, "invalid command opcode"),
    (0x002, "invalid field in command"),
    (0x004, "data transfer error"),
    (0x006, "internal error"),
    (0x007, "command abort requested"),
    (0x00b, "invalid namespace or format"),
    (0x020, "namespace is write protected"),
    (0x080, "LBA out of range"),
    (0x081, "capacity exceeded"),
    (0x082, "namespace not ready"),
    (0x083, "reservation conflict"),
    (0x180, "conflicting attributes"),
    (0x182, "attempted write to read only range"),
    (0x280, "write fault"),
    (0x281, "unrecovered read error"),
    (0x285, "compare failure"),
    (0x286, "access denied"),
    (0x287, "deallocated or unwritten logical block"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_told_in_words_and_goes_through_a_number_and_back() {
        for (answer, words) in [
            (
                (0x02, 0x3, 0x11, 0x00),
                "SCSI CHECK CONDITION, sense key MEDIUM ERROR, 11h/00h (unrecovered read error)",
            ),
            (
                (0x02, 0xe, 0x1d, 0x00),
                "SCSI CHECK CONDITION, sense key MISCOMPARE, 1dh/00h (miscompare during verify operation)",
            ),
            ((0x02, 0x5, 0x81, 0xff), "SCSI CHECK CONDITION, sense key ILLEGAL REQUEST, 81h/ffh"),
            ((0x18, 0, 0, 0), "SCSI RESERVATION CONFLICT"),
            ((0xfe, 0, 0, 0), "SCSI status feh"),
        ] {
            let (status, key, code, qualifier) = answer;
            let answer = DeviceStatus::Scsi { status, key, code, qualifier };
            assert_eq!(answer.to_string(), words);
            assert!(answer.errno().0 > 4096 && crate::Outcome::failed(answer.errno()).result().is_err());
            assert_eq!(DeviceStatus::of(answer.errno()), Some(answer));
        }
    }

    #[test]
    fn an_answer_of_an_nvme_drive_is_told_in_words_too() {
        for (status, words) in [
            (0x4281, "NVMe status 2h/81h (unrecovered read error)"),
            (0x0001, "NVMe status 0h/01h (invalid command opcode)"),
            (0x06c3, "NVMe status 6h/c3h"),
        ] {
            let answer = DeviceStatus::Nvme(status);
            assert_eq!(answer.to_string(), words);
            assert_eq!(DeviceStatus::of(answer.errno()), Some(answer));
        }
    }

    #[test]
    fn an_error_of_the_system_is_no_answer_of_a_device() {
        for errno in [Errno(5), Errno(4095), Errno::CORRUPT, Errno(i32::MAX)] {
            assert_eq!(DeviceStatus::of(errno), None, "{errno:?}");
        }
    }
}
