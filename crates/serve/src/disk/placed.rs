//! The sectors of a disk that lies on a medium.

use std::io;

use units::convert::narrow;

use super::opened::Opened;
use super::{
    DATA, DiskError, GROUP, GROUP_SECTORS, Promise, STRIDE, TAG_BYTES, TAGS_BYTES, checked, data_at, groups,
    length, map_at, parts, put_tags, tag_at, unwritten,
};
use crate::medium::Medium;
use crate::tag::{self, NEVER_WRITTEN, SECTOR};

/// Groups of a discard from which it is worth a sync to have them take no room at all.
const MANY: u64 = 64;

/// What a disk has on its medium.
pub(super) struct Placed {
    pub medium: Box<dyn Medium>,
    opened: Opened,
}

impl Placed {
    /// What lies on `medium` of a disk of that many sectors.
    pub fn on(medium: Box<dyn Medium>, sectors: u64) -> Placed {
        let opened = Opened::read(medium.as_ref(), map_at(sectors), groups(sectors));
        Placed { medium, opened }
    }

    /// Has it be empty, and as long as a disk of that many sectors is.
    pub fn format(&self, sectors: u64) -> io::Result<()> {
        self.medium.extend(length(sectors))?;
        self.opened.format(self.medium.as_ref())
    }

    /// As [`Placed::format`], where it may have been cut short.
    pub fn renew(&self, sectors: u64) -> io::Result<()> {
        self.medium.renew(length(sectors))?;
        // First: of what a disk of another size had there nothing may count.
        self.medium.discard(DATA, length(sectors) - DATA)?;
        self.opened.format(self.medium.as_ref())
    }

    #[inline]
    pub fn read(&self, lba: u64, into: &mut [u8]) -> Result<(), DiskError> {
        for (lba, part) in parts(lba, into.len(), GROUP) {
            let into = &mut into[part];
            // Looked at before the tags: from then on there are some.
            let is_open = self.opened.has(lba / GROUP);
            let mut held = [0; TAGS_BYTES];
            let held = &mut held[..into.len() / SECTOR * TAG_BYTES];
            self.medium.read(tag_at(lba), held)?;
            self.medium.read(data_at(lba), into)?;
            let mut tags = [0; GROUP_SECTORS];
            let tags = &mut tags[..into.len() / SECTOR];
            let each = (lba..).zip(tags.iter_mut()).zip(held.as_chunks::<TAG_BYTES>().0);
            for ((lba, tag), held) in each {
                let &[a, b, c, d, ..] = held;
                *tag = u32::from_le_bytes([a, b, c, d]);
                if is_open && *tag == NEVER_WRITTEN && *held != unwritten(lba) {
                    *tag = tag::unreadable(lba);
                }
            }
            checked(lba, into, tags)?;
        }
        Ok(())
    }

    #[inline]
    pub fn write(&self, lba: u64, from: &[u8]) -> io::Result<()> {
        for (lba, part) in parts(lba, from.len(), GROUP) {
            let from = &from[part];
            let mut tags = [0; GROUP_SECTORS];
            let tags = &mut tags[..from.len() / SECTOR];
            tag::compute(lba, from, tags);
            self.open(lba / GROUP)?;
            self.medium.write(data_at(lba), from)?;
            put_tags(self.medium.as_ref(), lba, tags)?;
        }
        Ok(())
    }

    /// Has each sector of a group have a tag.
    #[inline]
    fn open(&self, group: u64) -> io::Result<()> {
        if self.opened.has(group) { Ok(()) } else { self.open_now(group) }
    }

    #[cold]
    fn open_now(&self, group: u64) -> io::Result<()> {
        let mut kept = self.opened.lock();
        if self.opened.has(group) {
            return Ok(());
        }
        let first = group * GROUP;
        let mut tags = [0; TAGS_BYTES];
        self.medium.read(tag_at(first), &mut tags)?;
        for (lba, tag) in (first..).zip(tags.as_chunks_mut().0) {
            if *tag == [0; TAG_BYTES] {
                *tag = unwritten(lba);
            }
        }
        self.medium.write(tag_at(first), &tags)?;
        self.opened.open(&mut kept, group);
        Ok(())
    }

    pub fn discard(&self, lba: u64, sectors: u64) -> io::Result<()> {
        let end = lba + sectors;
        let whole = lba.div_ceil(GROUP)..end / GROUP;
        if whole.end.saturating_sub(whole.start) < MANY {
            return self.discard_by_group(lba, end);
        }
        self.discard_by_group(lba, whole.start * GROUP)?;
        {
            let mut kept = self.opened.lock();
            self.opened.close(self.medium.as_ref(), &mut kept, whole.clone())?;
            self.medium.discard(tag_at(whole.start * GROUP), (whole.end - whole.start) * STRIDE)?;
        }
        self.discard_by_group(whole.end * GROUP, end)
    }

    fn discard_by_group(&self, mut lba: u64, end: u64) -> io::Result<()> {
        while lba < end {
            let until = ((lba / GROUP + 1) * GROUP).min(end);
            // Nobody opens the group meanwhile.
            let _kept = self.opened.lock();
            let is_open = self.opened.has(lba / GROUP);
            if !is_open && until - lba == GROUP {
                self.medium.discard(tag_at(lba), STRIDE)?;
            } else {
                self.medium.discard(data_at(lba), (until - lba) * SECTOR as u64)?;
                let empty = |lba| if is_open { unwritten(lba) } else { [0; TAG_BYTES] };
                let tags: Vec<u8> = (lba..until).flat_map(empty).collect();
                self.medium.write(tag_at(lba), &tags)?;
            }
            lba = until;
        }
        Ok(())
    }

    pub fn spoil(&self, lba: u64) -> io::Result<()> {
        self.open(lba / GROUP)?;
        put_tags(self.medium.as_ref(), lba, &[tag::unreadable(lba)])
    }

    pub fn spoil_as(&self, promise: &Promise) -> io::Result<()> {
        self.open(promise.lba / GROUP)?;
        self.medium.write(data_at(promise.lba), &promise.held.unwrap_or([0; SECTOR]))?;
        put_tags(self.medium.as_ref(), promise.lba, &[promise.tag])
    }

    pub fn flush(&self) -> io::Result<()> {
        let fresh = self.opened.before_sync();
        self.medium.sync()?;
        self.opened.after_sync(self.medium.as_ref(), fresh)
    }

    pub fn is_hole(&self, lba: u64, sectors: u64) -> bool {
        let last = lba + sectors - 1;
        (lba / GROUP..=last / GROUP).all(|group| {
            let from = lba.max(group * GROUP);
            let to = last.min(group * GROUP + GROUP - 1);
            let is_open = self.opened.has(group);
            // A hole that has tags was spoilt, or has lost what was written there.
            self.reaches(data_at(from), data_at(to) + SECTOR as u64)
                && (!is_open && self.reaches(tag_at(from), tag_at(to) + TAG_BYTES as u64)
                    || self.are_unwritten(is_open, from, to))
        })
    }

    pub fn is_unwritten(&self, lba: u64) -> bool {
        self.are_unwritten(self.opened.has(lba / GROUP), lba, lba)
    }

    /// Whether no sector of a group from one to another has a tag that something was written with.
    fn are_unwritten(&self, is_open: bool, from: u64, to: u64) -> bool {
        let is_so = |(lba, tag): (u64, &[u8; TAG_BYTES])| {
            *tag == unwritten(lba) || !is_open && *tag == [0; TAG_BYTES]
        };
        self.tags(from, to).is_some_and(|tags| (from..).zip(tags.as_chunks().0).all(is_so))
    }

    /// Whether a hole that begins at or before `from` goes on to `to`.
    fn reaches(&self, from: u64, to: u64) -> bool {
        self.medium.next_data(from).is_ok_and(|found| found.is_none_or(|found| found >= to))
    }

    /// The tags of sectors of one group as they lie there.
    fn tags(&self, from: u64, to: u64) -> Option<Vec<u8>> {
        debug_assert!(from / GROUP == to / GROUP, "sectors of one group");
        let mut tags = vec![0; narrow::<usize>(to + 1 - from) * TAG_BYTES];
        self.medium.read(tag_at(from), &mut tags).ok().map(|()| tags)
    }
}
