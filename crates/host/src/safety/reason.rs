//! Why something may not be written, in words.

use std::borrow::Cow;
use std::fmt;
use std::path::PathBuf;

use units::Bytes;

/// One reason. Devices are given by their nodes.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Reason {
    /// It, a part of it, or what it is a part of, is mounted.
    #[error("{device} is mounted on {point}; unmount it first")]
    Mounted {
        /// What is mounted.
        device: String,
        /// Where.
        point: PathBuf,
    },
    /// It or a part of it is swapped to.
    #[error("{device} is swap in use; `swapoff` it first")]
    Swap {
        /// The device or the file.
        device: String,
    },
    /// The system runs from the same disk.
    #[error("it shares {device} with {point}: this disk holds the running system")]
    SystemDisk {
        /// What both stand on.
        device: String,
        /// The mount point, `/` or one for booting.
        point: PathBuf,
    },
    /// An array or a map is built on it.
    #[error("{device} is {what}")]
    Held {
        /// What is held.
        device: String,
        /// By what, in words.
        what: String,
    },
    /// A mounted btrfs has it among its members.
    #[error("{device} is a member of a mounted btrfs")]
    BtrfsMember {
        /// The member.
        device: String,
    },
    /// A loop device reads and writes the same bytes.
    #[error("{file} is behind the loop device {by} too; detach that with `losetup -d {by}`")]
    BehindLoop {
        /// The file or the device.
        file: String,
        /// The loop.
        by: String,
    },
    /// The kernel refuses to give it to one user alone.
    #[error(
        "{device} is held by another program, mount or kernel subsystem (an exclusive open fails with \
         EBUSY); stop that first"
    )]
    Busy {
        /// What was opened.
        device: String,
    },
    /// It carries something.
    #[error(
        "{device} carries a signature: {name} (at byte {}); if it may be lost, wipe it first: `wipefs -a \
         {device}`", offset.get()
    )]
    Signature {
        /// The device or a part of it.
        device: String,
        /// What it carries.
        name: Cow<'static, str>,
        /// Where.
        offset: Bytes,
    },
    /// It holds something that nobody knows, and consent did not speak of it.
    #[error(
        "{device} is not blank (byte {} holds data, and no known content), and consent does not cover data; \
         if it may be lost, consent with `--destroy={name}`",
        at.get()
    )]
    NotBlank {
        /// The device.
        device: String,
        /// The first byte of it.
        at: Bytes,
        /// What would be consent.
        name: String,
    },
    /// Somebody holds a lock on the file.
    #[error("{file} is locked by another program ({kind} lock); stop that first")]
    Locked {
        /// The file.
        file: String,
        /// Which kind of lock.
        kind: &'static str,
    },
    /// Somebody has it open for writing.
    #[error("{file} is open for writing elsewhere: another program, a loop device or swap; stop that first")]
    OpenElsewhere {
        /// The file.
        file: String,
    },
    /// A table of the kernel cannot be read.
    #[error("{what} is unknown, since {} cannot be read: {why}", table.display())]
    Unknown {
        /// What it would tell.
        what: &'static str,
        /// Where.
        table: PathBuf,
        /// The system's words.
        why: String,
    },
    /// It cannot be looked at, so nobody knows what would be lost.
    #[error("{device} cannot be read, so what it carries is unknown: {why}")]
    Unreadable {
        /// What was opened.
        device: String,
        /// The system's words.
        why: String,
    },
    /// The kernel does not list it.
    #[error("{device} is not listed in sysfs, so what uses it is unknown")]
    Unlisted {
        /// The node.
        device: String,
    },
    /// It is set read-only.
    #[error("{device} is set read-only")]
    ReadOnly {
        /// The node.
        device: String,
    },
    /// It has no capacity.
    #[error("{device} has no capacity: no medium, or a loop device that is not set up")]
    NoCapacity {
        /// The node.
        device: String,
    },
    /// Two devices answer to the name.
    #[error("`{consent}` names {other} too; use another name of the device")]
    Ambiguous {
        /// What was consented to.
        consent: String,
        /// The other device's node.
        other: String,
    },
    /// The file is a window on the kernel.
    #[error("{path} is on {fs_type}, which is not storage")]
    NoStorage {
        /// The file.
        path: PathBuf,
        /// The type of file system.
        fs_type: String,
    },
    /// Nobody has said that it may be destroyed.
    #[error("writing would destroy its data, and no consent was given; {}", advice(names))]
    NoConsent {
        /// What would be consent.
        names: Vec<String>,
    },
    /// Something else may be destroyed.
    #[error("consent was given for `{given}`, which does not name this target; {}", advice(names))]
    OtherConsent {
        /// What was consented to.
        given: String,
        /// What would be consent.
        names: Vec<String>,
    },
}

fn advice(names: &[String]) -> String {
    match names.first() {
        Some(name) => format!("if it may be lost, consent with `--destroy={name}`"),
        None => "it has no serial number and no name in /dev/disk/by-id, so it cannot be identified and \
                 is never written"
            .into(),
    }
}

/// Everything that speaks against writing to one target.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct Refusal {
    /// The target in words, with size, model and serial.
    pub what: String,
    /// At least one.
    pub reasons: Vec<Reason>,
}

impl fmt::Display for Refusal {
    /// One line for the target, and one for each reason.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        debug_assert!(!self.reasons.is_empty(), "a refusal must have a reason");
        write!(f, "{} will not be written:", self.what)?;
        self.reasons.iter().try_for_each(|reason| write!(f, "\n  - {reason}"))
    }
}
