//! The buffer of a drive, and what its firmware does with it, as data.
//!
//! The vocabulary is that of DiskSim 4's disk module (reference manual CMU-PDL-08-101, "Disks"): each field names the
//! parameter that it is. Nothing here knows a drive.

use units::{Nanos, Sectors, Share};

/// The drive's buffer, and its policies.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DriveCacheParams {
    /// How many separate runs of sectors it can hold. At least 1. (Number of buffer segments)
    pub segments: u32,
    /// Sectors in each. (Segment size)
    pub segment: Sectors,
    /// How far a read from the media goes on while nothing else is asked. (Buffer continuous read)
    pub continuous_read: ContinuousRead,
    /// No further than so many sectors behind what was asked. (Maximum read-ahead)
    pub read_ahead: Sectors,
    /// So many are read before another command has its turn. (Minimum read-ahead)
    pub read_ahead_least: Sectors,
    /// Whether what the host has read stays in the buffer. Otherwise what is read ahead takes its place. (Read-ahead over
    /// requested, turned round)
    pub keeps_read: bool,
    /// Whether a read from the buffer starts a read-ahead that had reached its end again. (Read-ahead on idle hit)
    pub tops_up: bool,
    /// Whether a read whose first sector the head is about to reach waits for it, instead of starting over and losing a
    /// revolution. (Allow almost read hits)
    pub almost_hits: bool,
    /// Whether reads are answered from what was written. (Allow read hits on write data)
    pub hits_on_written: bool,
    /// Whether sectors in front of those asked for that pass while the head waits are kept. (Read any free blocks)
    pub free_blocks: bool,
    /// Whether a read begins with the first sector of it that passes, not with the lowest. (Immediate buffer read)
    pub read_on_arrival: bool,
    /// Likewise for a write. (Immediate buffer write)
    pub write_on_arrival: bool,
    /// Share of a read that is in the buffer before its transfer to the host starts. Zero: sectors leave as they come.
    /// (High (read) water mark)
    pub forward_after: Share,
    /// Share of a write that is in the buffer before the first sector goes to the media. (Low (write) water mark)
    pub write_after: Share,
    /// Which writes are acknowledged once they are in the buffer. (Fast write level)
    pub fast_write: FastWrite,
    /// How many segments written data may take. (Maximum number of write segments)
    pub write_segments: u32,
    /// Whether one segment is for writes alone. (Use separate write segment)
    pub separate_write: bool,
    /// For how long nothing has been asked of the drive before it writes what it has acknowledged. Once half of the room
    /// for that is taken it writes whenever its arm is free.
    pub write_after_idle: Nanos,
    /// Whether what the buffer answers is answered while the arm works for another command, or in its turn.
    pub answers_beside: bool,
}

/// How far a read from the media goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContinuousRead {
    /// It ends with what was asked. (0)
    None,
    /// To the end of the track. (1)
    Track,
    /// To the end of the cylinder. (2)
    Cylinder,
    /// Until the segment is full. (3)
    Segment,
    /// To the end of the next track, so that a stream finds there what it comes to. (4, where what was read may be
    /// overwritten)
    NextTrack,
    /// Likewise, of a stream alone: where a read goes on that the buffer still holds. (4, where what was read is kept: the
    /// room is not given up for a read of which nothing shows that another follows)
    Stream,
    /// As far as the maximum of the read-ahead, wherever tracks end.
    Bounded,
}

/// Which writes are acknowledged once they are in the buffer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FastWrite {
    /// None: each waits for the media. (0)
    #[default]
    None,
    /// All, the firmware's short path being that of writes that append to what waits for the media. (1)
    Appending,
    /// All. (2)
    All,
}

impl DriveCacheParams {
    /// A buffer of so many segments that reads on by one of them, keeps what it has, and holds no write: what drives do
    /// of which no more is known.
    pub fn plain(segments: u32, segment: Sectors) -> DriveCacheParams {
        DriveCacheParams {
            segments,
            segment,
            continuous_read: ContinuousRead::Bounded,
            read_ahead: segment,
            read_ahead_least: Sectors(0),
            keeps_read: true,
            tops_up: true,
            almost_hits: true,
            hits_on_written: true,
            free_blocks: false,
            read_on_arrival: false,
            write_on_arrival: false,
            forward_after: Share::NONE,
            write_after: Share::NONE,
            fast_write: FastWrite::None,
            write_segments: (segments / 2).max(1),
            separate_write: false,
            write_after_idle: Nanos::ZERO,
            answers_beside: false,
        }
    }

    /// Whether any write is acknowledged before it is on the media.
    pub fn is_write_back(&self) -> bool {
        self.fast_write != FastWrite::None
    }
}
