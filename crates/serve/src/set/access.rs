//! The disks of a set as the executor sees them.

use std::io;
use std::sync::Arc;

use array::raid::Members;
use units::Lba;

use super::SetState;
use crate::disk::{Disk, DiskError};
use crate::nvram::{Change, Record};
use crate::tag::SECTOR;

/// A member that gave no answer.
pub(super) struct MemberFault {
    pub member: u16,
    pub lba: u64,
    pub why: DiskError,
}

/// Disks as the executor sees them.
pub(super) struct Access<'a> {
    disks: &'a [Option<Arc<Disk>>],
    /// Where writes go instead of to the disks.
    record: Option<&'a mut Record>,
    /// Whether zeros are left out, or taken away: background work keeps a disk as sparse as those it reads.
    is_thin: bool,
    /// Writes that a disk refused.
    pub failed: Vec<(u16, io::Error)>,
}

impl Members for Access<'_> {
    type Error = MemberFault;

    #[inline]
    fn read(&mut self, member: u16, lba: Lba, into: &mut [u8]) -> Result<(), MemberFault> {
        let answer = disk(self.disks, member).and_then(|disk| disk.read(lba.0, into));
        answer.map_err(|why| MemberFault {
            member,
            lba: if let DiskError::Mismatch { lba } = why { lba } else { lba.0 },
            why,
        })
    }

    #[inline]
    fn write(&mut self, member: u16, lba: Lba, from: &[u8]) -> Result<(), MemberFault> {
        match &mut self.record {
            Some(record) => record.write(member, lba.0, from),
            None if self.is_thin => self.write_thin(member, lba.0, from),
            None => self.do_now(member, lba.0, Change::Write(from)),
        }
        Ok(())
    }
}

impl<'a> Access<'a> {
    pub fn new(state: &'a SetState, record: Option<&'a mut Record>) -> Access<'a> {
        Access { disks: &state.disks, record, is_thin: false, failed: Vec::new() }
    }

    pub fn thin(state: &'a SetState) -> Access<'a> {
        Access { is_thin: true, ..Access::new(state, None) }
    }

    fn write_thin(&mut self, member: u16, mut lba: u64, from: &[u8]) {
        // As many sectors as a file system gives room to at once, and more.
        debug_assert!(from.len().is_multiple_of(SECTOR), "members are written in whole sectors");
        for part in from.chunks(128 * SECTOR) {
            let sectors = (part.len() / SECTOR) as u64;
            let is_zero = part.iter().all(|&byte| byte == 0);
            let is_hole = is_zero && disk(self.disks, member).is_ok_and(|disk| disk.is_hole(lba, sectors));
            match (is_zero, is_hole) {
                (_, true) => {}
                (true, false) => self.do_now(member, lba, Change::Discard(sectors)),
                (false, _) => self.do_now(member, lba, Change::Write(part)),
            }
            lba += sectors;
        }
    }

    #[inline]
    pub fn do_now(&mut self, member: u16, lba: u64, change: Change<'_>) {
        let done = disk(self.disks, member).and_then(|disk| match change {
            Change::Write(from) => disk.write(lba, from),
            Change::Discard(sectors) => disk.discard(lba, sectors),
        });
        if let Err(why) = done {
            let why = match why {
                DiskError::Medium(why) => why,
                other => io::Error::other(other),
            };
            self.failed.push((member, why));
        }
    }
}

/// The disk that a member is.
#[inline]
pub(super) fn disk(disks: &[Option<Arc<Disk>>], member: u16) -> Result<&Disk, DiskError> {
    disks.get(usize::from(member)).and_then(|disk| disk.as_deref()).ok_or(DiskError::Gone)
}
