//! A disk drive: seek curve, rotation, zones, skews, overheads, buffer and tagged queue.
//!
//! **Invariant:** a request costs one event, its end; position, angle and read-ahead are computed when asked for.

mod buffer;
mod drive;
mod layout;
mod mechanics;
mod policy;
mod runs;
mod seek;
mod waiting;

use units::{BytesPerSecond, Nanos, Sectors};

pub use drive::Drive;
pub use policy::{ContinuousRead, DriveCacheParams, FastWrite};

/// The figures of a disk drive.
#[derive(Clone, Debug, PartialEq)]
pub struct RotatingParams {
    /// User capacity.
    pub capacity: Sectors,
    /// Recording surfaces (heads).
    pub surfaces: u32,
    /// Cylinders, counted from the outermost, which holds sector zero. Where the data sheet does not say, the
    /// capacity over `surfaces × revolution × mean rate` is close enough: only ratios of it enter a seek.
    pub cylinders: u32,
    /// Revolutions a minute.
    pub rpm: f64,
    /// Read seek time by distance.
    pub seek: Seek,
    /// What a write's seek or head switch takes longer than a read's, while the head settles, in nanoseconds. Negative
    /// where drives were measured so: a movement then takes no less than nothing.
    pub write_settle_ns: i64,
    /// From one head to another in the same cylinder.
    pub head_switch: Nanos,
    /// How many sectors a track holds, and where.
    pub zones: Zones,
    /// What the drive's processor spends on a command before the mechanism moves or the data flow.
    pub overhead: Overheads,
    /// The drive's own interface, one direction: how fast a buffer hit can leave.
    pub link: BytesPerSecond,
    /// The drive's buffer; `None` has every read go to the media and every write wait for it.
    pub cache: Option<DriveCacheParams>,
    /// How waiting commands are chosen from.
    pub queue: DriveQueueParams,
    /// Whether the spindles of drives that are built with it turn in phase. Otherwise each has a phase of its own.
    pub spindle_sync: bool,
}

impl RotatingParams {
    /// Sectors that its tracks hold, spares among them; of a spiral the user's capacity.
    pub fn raw(&self) -> Sectors {
        let Zones::Exact(zones) = &self.zones else { return self.capacity };
        let ends = zones.iter().skip(1).map(|zone| zone.first_cylinder).chain([self.cylinders]);
        let tracks = zones.iter().zip(ends).map(|(zone, end)| {
            u64::from(end.saturating_sub(zone.first_cylinder)) * u64::from(zone.sectors_per_track)
        });
        Sectors(tracks.sum::<u64>() * u64::from(self.surfaces))
    }

    /// The time of one revolution.
    pub fn revolution(&self) -> Nanos {
        Nanos::from_secs_f64(60.0 / self.rpm)
    }
}

/// Read seek time by distance in cylinders.
#[derive(Clone, Debug, PartialEq)]
pub enum Seek {
    /// The data sheet's three numbers: to the next cylinder, the mean over uniformly drawn pairs, end to end.
    ///
    /// A square root up to a tenth of the stroke and a straight line beyond it, through all three.
    ThreeNumbers {
        /// One cylinder.
        track_to_track: Nanos,
        /// Mean over pairs of cylinders drawn uniformly.
        average: Nanos,
        /// All cylinders.
        full: Nanos,
    },
    /// Measured points (distance in cylinders, time), rising in distance; straight lines between them, and the
    /// last two points' line beyond the end.
    Measured(Vec<(u32, Nanos)>),
}

/// How many sectors a track holds, and where.
#[derive(Clone, Debug, PartialEq)]
pub enum Zones {
    /// From the sustained rates at the outer and inner edge, as data sheets print them. They already contain head
    /// switches and skews, so the surface is one spiral read without a break, density falling linearly inwards.
    Rates {
        /// At sector zero.
        outer: BytesPerSecond,
        /// At the last sector.
        inner: BytesPerSecond,
    },
    /// Zone by zone from the outermost, every head of a cylinder before the next cylinder.
    Exact(Vec<Zone>),
}

/// Neighbouring cylinders with the same number of sectors per track.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Zone {
    /// The outermost cylinder; the zone ends before the next zone's first, the last one with the drive.
    pub first_cylinder: u32,
    /// The same on every track of the zone.
    pub sectors_per_track: u32,
    /// Sectors by which a track's start lags that of the track before in the same cylinder. Negative, or more than a
    /// track, is the same angle within the track.
    pub track_skew: f64,
    /// Sectors by which a cylinder's start lags the end of the cylinder before.
    pub cylinder_skew: f64,
}

/// Command overheads by kind and by what the command before it was; the drive's firmware differs in each.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Overheads {
    /// A read answered from the buffer.
    pub read_hit: AfterRw,
    /// A read that needs the media.
    pub read_miss: AfterRw,
    /// A write that is acknowledged from the buffer; where writes that append alone take the short path, one of them.
    pub write_hit: AfterRw,
    /// Any other write.
    pub write_miss: AfterRw,
    /// Between the last byte of a read and its status.
    pub read_completion: Nanos,
    /// Between the end of a write and its status.
    pub write_completion: Nanos,
    /// Before data move over the interface, beside whatever the mechanism does.
    pub data: Nanos,
    /// To come back to the interface after the media: before the data of a read, and before the status of a write that
    /// waited for the media.
    pub reselect: Nanos,
    /// The least that a write which waits for the media takes to be on its track.
    pub least_write_seek: Nanos,
    /// How a write goes that follows another without being its continuation, where that is different.
    pub detached_write: Option<DetachedWrite>,
}

/// A write for which the drive leaves the interface before it takes the data, and comes back for them.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct DetachedWrite {
    /// In place of the write's overhead.
    pub command: Nanos,
    /// From there until the arm may move.
    pub seek: Nanos,
    /// From there until the data begin to come.
    pub data: Nanos,
    /// To come back to the interface once more, for the status.
    pub reselect: Nanos,
}

/// One overhead after a read and after a write.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct AfterRw {
    /// The command before was a read.
    pub after_read: Nanos,
    /// The command before was a write.
    pub after_write: Nanos,
}

impl Overheads {
    /// The same overhead for every command, and nothing else: all that a data sheet gives.
    pub fn uniform(each: Nanos) -> Overheads {
        let both = AfterRw { after_read: each, after_write: each };
        Overheads {
            read_hit: both,
            read_miss: both,
            write_hit: both,
            write_miss: both,
            ..Overheads::default()
        }
    }
}

/// How waiting commands are chosen from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DriveQueueParams {
    /// The rule.
    pub order: Order,
    /// How many of the oldest waiting commands the drive sees at once: 1 without tagged queueing, 32 for NCQ.
    pub window: u32,
    /// Whether a command's overhead passes while the one before it still moves the mechanism (a drive with tagged
    /// queueing), or only once it has ended (one command at a time, the queue being the host's).
    pub overlap: bool,
    /// A command that has waited longer than this goes next. `None`: commands may starve.
    pub age_limit: Option<Nanos>,
}

/// The order in which a drive serves the commands it sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// As they came.
    Fcfs,
    /// Upwards by sector number, then from the lowest again.
    CLook,
    /// The nearest cylinder.
    Sstf,
    /// The shortest seek plus rotation.
    Sptf,
}

#[cfg(test)]
pub(crate) mod tests;
