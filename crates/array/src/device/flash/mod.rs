//! A flash drive: channels, dies, page times, translation, garbage collection, write buffer, interface.
//!
//! **Invariant:** memory does not grow with the number of requests.

mod drive;
mod laid;
mod map;
mod slc;

use units::convert::truncated;
use units::{Bytes, BytesPerSecond, Nanos};

pub use drive::FlashDrive;
pub use map::{LEAST_PAGES, MOST_PAGES, write_amplification};
pub use slc::SlcUse;

/// The figures of a flash drive.
#[derive(Clone, Debug, PartialEq)]
pub struct FlashParams {
    /// User capacity.
    pub capacity: Bytes,
    /// Physical flash beyond the user capacity, as a share of the user capacity: 0.07 for 7 %.
    pub over_provisioning: f64,
    /// Buses between the controller and the flash.
    pub channels: u32,
    /// Dies on each channel.
    pub dies_per_channel: u32,
    /// Planes of a die that program together: one program writes `planes` pages.
    pub planes: u32,
    /// Of these, how many read pages of different blocks at the same time, each for a command of its own (independent plane reads);
    /// one where a die reads for one command at a time.
    pub read_planes: u32,
    /// Bytes in a page.
    pub page: Bytes,
    /// What is mapped, checked and moved as one, the indirection unit: a smaller read fetches all of it that lies on its
    /// page, and a smaller random write rewrites all of it, though it be several pages.
    pub mapping: Bytes,
    /// Whether the page that a stream of reads stopped in stays in the controller's memory for the next of them.
    pub keeps_page: bool,
    /// The most that a drive fetches ahead of each sequential stream of reads. A stream begins with the second read in a row,
    /// and the window doubles with each further read. Zero: no read-ahead.
    pub read_ahead: Bytes,
    /// Pages in an erase block.
    pub pages_per_block: u32,
    /// Page to register, one entry per kind of page (one for SLC, two for MLC, three for TLC); a page's kind
    /// follows from its address.
    pub read_page: Vec<Nanos>,
    /// Register to page.
    pub program_page: Nanos,
    /// A whole block.
    pub erase_block: Nanos,
    /// A read may interrupt a program or erase after this long; `None` waits for its end.
    pub suspend: Option<Nanos>,
    /// Of one channel between controller and dies.
    pub channel: BytesPerSecond,
    /// The controller's time for a command: added to its response, no limit to how many run at once.
    pub command: Nanos,
    /// The same for a write, which its memory answers.
    pub write_command: Nanos,
    /// The controller's time between commands: one over its largest command rate.
    pub command_gap: Nanos,
    /// The same of a write, one over the largest rate of writes.
    pub write_gap: Nanos,
    /// The host interface, each direction.
    pub link: BytesPerSecond,
    /// What each command holds the host interface beyond its bytes.
    pub link_command: Nanos,
    /// DRAM that takes writes before the flash does; zero has each write wait for its program.
    pub write_buffer: Bytes,
    /// Whether a flush may leave data in the write buffer (power-loss protection).
    pub protected: bool,
    /// How long the firmware takes for a flush of what its buffer would lose, at the least: what is held, the map of where it
    /// lies, and whatever else it writes. `None`: as long as what is held is programmed for.
    pub flush: Option<Nanos>,
    /// The same of a write that is forced to the flash (force unit access, FUA), beyond what it takes else: zero where the drive
    /// answers it as any other. `None`: as a flush.
    pub fua: Option<Nanos>,
    /// Whether a flush and other commands wait for each other: over Serial ATA it is no queued command.
    pub flushes_alone: bool,
    /// How writes find a place.
    pub translation: Translation,
    /// Which block is emptied when room is needed.
    pub victims: Victims,
    /// Whether collection goes on a little with each program, as much as that needs room, or empties whole blocks at once.
    pub incremental: bool,
    /// What has been written to it when it begins.
    pub state: Written,
    /// What the controller moves between its memory and the flash for writes: each page that is programmed once, and each
    /// that garbage collection copies twice, in the time that reads leave it, of which each takes `command_gap`. `None`
    /// leaves copies inside their dies.
    pub write_path: Option<BytesPerSecond>,
    /// Flash that takes writes with one bit a cell before the rest does.
    pub slc_cache: Option<SlcParams>,
}

impl FlashParams {
    /// Whether writes change what it does long after they have ended.
    pub fn remembers(&self) -> bool {
        let has_map = matches!(self.translation, Translation::Mapped { .. });
        has_map || self.state == Written::Fresh || self.slc_cache.is_some()
    }

    /// What all dies take in order, or the controller's way to them where that is less.
    pub fn programs(&self) -> BytesPerSecond {
        let unit = self.page * u64::from(self.planes.max(1));
        let dies = f64::from(self.channels.max(1)) * f64::from(self.dies_per_channel.max(1));
        let by_dies = dies * unit.as_f64() / self.program_page.as_secs_f64().max(1e-12);
        BytesPerSecond::new(self.write_path.map_or(by_dies, |path| path.get().min(by_dies)))
    }

    /// Pages that a die reads at the same time, each for a command of its own; at least one.
    pub fn reads_at_once(&self) -> usize {
        self.read_planes.max(1) as usize
    }

    /// Pages of all of its flash.
    pub fn physical_pages(&self) -> u64 {
        truncated::<u64>(
            self.capacity.as_f64() * (1.0 + self.over_provisioning) / self.page.as_f64().max(1.0),
        )
    }

    /// Pages of a page map over `1/scale` of the capacity. A drive takes from [`LEAST_PAGES`] to [`MOST_PAGES`].
    pub fn pages_of_map(&self, scale: u32) -> u64 {
        self.capacity.get() / self.page.get().max(1) / u64::from(scale.max(1))
    }
}

/// Which block garbage collection empties.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Victims {
    /// The one with the fewest valid pages; pages that are written often lie apart from others.
    Greedy,
    /// The one that was filled first, whatever it holds: a log that is written round and round.
    Fifo,
}

/// What has been written to a drive when it begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Written {
    /// All of it, at random, until garbage collection is steady: SNIA's steady state.
    Steady,
    /// All of it, once, from its first sector to its last, as a set of mirrors or with parity is when it is made, or a drive
    /// by a pass in order: all of its spare room is free.
    InOrder,
    /// Nothing since it was made or purged, SNIA's FOB, fresh out of the box: no garbage is collected until its flash has
    /// been programmed once.
    Fresh,
}

/// A part of the flash that is written with one bit a cell, and moved to the rest of it while the drive is idle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SlcParams {
    /// What it takes.
    pub size: Bytes,
    /// Register to page, with one bit a cell.
    pub program_page: Nanos,
    /// Page to register, of what lies there of a drive that was fresh; `None` where it is read as the rest of the flash is.
    pub read_page: Option<Nanos>,
    /// How long the drive is idle before it begins to move.
    pub fold_after: Nanos,
}

/// How writes find a place and how garbage is collected.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Translation {
    /// By law: each random write costs the write amplification that greedy collection reaches in the long run at
    /// this over-provisioning, with collection in bursts of a block; a sequential one costs 1.
    Steady,
    /// By a page map over `1/scale` of the capacity, with garbage collection by [`Victims`]: the state of the drive
    /// follows the writes that it gets, random ones `scale` times as soon as that of the whole would, streams as soon.
    Mapped {
        /// One mapped page stands for this many near each other, all of which a write or trim of one is of. At least 1.
        scale: u32,
    },
}
