//! Where the time went in a virtual array.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::is_zero;
use crate::words::{Behalf, Op};

/// Where the time went in a virtual array.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Breakdown {
    /// Every part that a request can meet.
    pub components: Vec<Component>,
    /// What the visits of each kind met on average.
    pub classes: Vec<ClassShare>,
    /// Where the response time of the measured requests went, by workload, operation and size; empty unless that was
    /// asked for (`fathom run --breakdown`), and for trees of files.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub shares: Vec<ResponseShare>,
    /// Where the response time of all measured requests together went, on average: the parts add up to their mean. Absent of trees
    /// of files, of arrays of queues alone, and in older records.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub response: Vec<PartShare>,
    /// What the components and kinds of visits cover: of a load what is measured, until its last request has ended; absent in older
    /// records.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub window: Option<BreakdownWindow>,
    /// What write caches held when a load began and ended; absent of an array without any, in older records, and of what is no load.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub write_cache: Option<WriteCacheFill>,
    /// How many requests reach the LUNs at once, and what waited for that; absent in older records, and of what is no load.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub lun_queues: Option<LunQueues>,
    /// What was asked of the hosts, and what they asked of the array for it; absent in older records, and of what is no load.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub host_traffic: Option<HostTraffic>,
    /// What flash drives took with one bit a cell; absent of drives that do not, in older records, and of what is no load.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub slc_cache: Option<SlcFill>,
}

/// What flash drives took into their caches of one bit a cell, and past them, all drives together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SlcFill {
    /// What the caches take when they are empty.
    pub size_bytes: u64,
    /// What they hold when the window ends.
    pub held_bytes: u64,
    /// Written into them within the window.
    pub taken_bytes: u64,
    /// Written past them within the window, for want of room.
    pub beyond_bytes: u64,
    /// What the flash behind them takes in order; writes at random cost garbage collection besides.
    pub behind_bytes_per_s: f64,
}

impl SlcFill {
    /// Of what was written the part that found no room; `None` where nothing was.
    pub fn beyond(&self) -> Option<f64> {
        let written = self.taken_bytes + self.beyond_bytes;
        (written > 0).then(|| self.beyond_bytes as f64 / written as f64)
    }
}

/// What was asked of the hosts, and what they asked of the array for it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HostTraffic {
    /// Requests of the workloads, or of the file system, those that a page cache answered among them.
    pub requests: u64,
    /// Parts in which they were sent; what a page cache reads and writes on its own account does not count.
    pub parts: u64,
    /// The longest part that a host sends (`host.max_transfer`, or the request size of the protocol).
    pub part_max_bytes: u64,
    /// Read through page caches.
    pub buffered_read_bytes: u64,
    /// Written through page caches.
    pub buffered_written_bytes: u64,
    /// Read from the array by page caches.
    pub fetched_bytes: u64,
    /// Written to the array by page caches.
    pub written_back_bytes: u64,
}

impl HostTraffic {
    /// The part of what was asked of page caches that they answered without the array, by bytes; `None` where nothing was asked of them.
    ///
    /// What they fetch ahead and write back counts as asked of the array, whenever it is.
    pub fn answered_by_pages(&self) -> Option<f64> {
        let asked = self.buffered_read_bytes + self.buffered_written_bytes;
        let answered = self.buffered_read_bytes.saturating_sub(self.fetched_bytes)
            + self.buffered_written_bytes.saturating_sub(self.written_back_bytes);
        (asked > 0).then(|| answered as f64 / asked as f64)
    }
}

/// How many requests the hosts let reach their LUNs at once, and what waited for that.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LunQueues {
    /// Requests that one LUN of one host has outstanding at most (`host.lun_depth`); longer ones count once for each part that is
    /// sent.
    pub depth: u32,
    /// LUNs of all hosts.
    pub queues: u32,
    /// Requests that were outstanding at all of them together, on average.
    pub mean_outstanding: f64,
    /// Requests that waited for that in their host, on average; what a page cache writes back does not count.
    pub mean_waiting: f64,
}

/// How full write caches were when a load began and ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WriteCacheFill {
    /// Written bytes that had been acknowledged and were not on the media when the load began.
    pub unwritten_before_bytes: u64,
    /// The same when its warm-up had ended and what is measured began; absent in older records.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub unwritten_measured_bytes: Option<u64>,
    /// The same in the middle of what is measured, to a second or so; absent of a short window, and in older records.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub unwritten_halfway_bytes: Option<u64>,
    /// The same when it ended.
    pub unwritten_bytes: u64,
    /// Room for them in the write caches that hold some; where none does, in all of them together.
    pub room_bytes: u64,
}

/// More of what was written than this was still in a cache that had room: writes met the cache, and not the media.
const FILLING: f64 = 0.25;
/// A cache that is fuller at the end of a load whose warm-up is not told apart may have had writes wait for its room.
const FULL: f64 = 0.75;

/// A cache that takes no more than this of what is written in the second half of the window, and is not full, has its level.
const LEVEL: f64 = 0.1;

impl WriteCacheFill {
    /// Whether of `written` bytes, those that were measured, hardly any stayed in the second half of the window although there was
    /// room: as many were written out as came in.
    pub fn has_levelled_off(self, written: u64) -> bool {
        let Some(halfway) = self.unwritten_halfway_bytes else { return false };
        let gained = self.unwritten_bytes.saturating_sub(halfway) as f64;
        gained <= LEVEL * written as f64 / 2.0
            && (self.unwritten_bytes as f64) < FULL * self.room_bytes as f64
    }

    /// What was written within the measured window and was not on the media when the load ended, more than when the window began.
    pub fn gained(self) -> u64 {
        self.unwritten_bytes
            .saturating_sub(self.unwritten_measured_bytes.unwrap_or(self.unwritten_before_bytes))
    }

    /// Whether of `written` bytes, those that were measured, many went into free room, at a rate that is not sustained.
    ///
    /// A cache that became full while it was measured is told as well: its rate is part that of the cache, part that of the media.
    pub fn is_filling(self, written: u64) -> bool {
        let gained = self.gained() as f64;
        // Without that a full cache may have been filled by the warm-up.
        let may_be = self.unwritten_measured_bytes.is_some()
            || (self.unwritten_bytes as f64) < FULL * self.room_bytes as f64;
        written > 0 && gained > FILLING * written as f64 && may_be
    }
}

/// The time that a breakdown covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BreakdownWindow {
    /// Its begin, on the run's clock.
    pub from_ns: u64,
    /// Its end.
    pub until_ns: u64,
    /// How much of it, from its begin, is warm-up, which figures of requests leave out: nothing, but for older records, whose
    /// components count it.
    pub warmup_ns: u64,
}

/// One part of a virtual array.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Component {
    /// `controller 0 processor`, `disk 7`.
    pub name: String,
    /// Equal servers in it.
    pub servers: u32,
    /// Busy time over servers times window.
    pub utilisation: f64,
    /// Requests waiting or served, on average.
    pub mean_in_system: f64,
    /// Visits in the window.
    pub visits: u64,
    /// Sum of the times visits waited.
    pub wait_ns: u64,
    /// Sum of the times they were served, and of the work that they left to be done after their ends.
    pub service_ns: u64,
    /// Of a disk: bytes that commands read from it; absent in older records.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub read_bytes: Option<u64>,
    /// Of a disk: bytes that commands wrote to it; absent in older records.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub written_bytes: Option<u64>,
    /// Of a disk that is no whole member of a RAID set: what it is when the window ends; absent in older records.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub role: Option<DiskRole>,
    /// Of a disk that takes the nearest of the commands that wait: among how many at most; absent of one that serves them as they
    /// come, and in older records.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub chooses_among: Option<u32>,
    /// Of a disk: its model, by a number that those of one model have in common; absent of other parts, and in older records.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub model: Option<u32>,
    /// Of a flash drive: the busiest kind of the parts inside it, of which servers and utilisation are: `flash dies`, `flash write
    /// path`; absent of other disks, and in older records.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub busiest: Option<String>,
}

impl Component {
    /// Whether it takes part in a load, so that it counts in a mean over parts of its kind: all but disks that have failed, wait as
    /// a spare or are being filled.
    pub fn is_working(&self) -> bool {
        self.role.is_none()
    }
}

/// What a disk is that is no whole member of a RAID set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DiskRole {
    /// It is out of use.
    Failed,
    /// It waits to take the place of a failed one.
    Spare,
    /// It is being filled, by a rebuild or as a copy.
    Filling,
}

/// Where the response time of one class of a workload's requests went: shares that add up to it.
///
/// Of what goes on at once, such as accesses to several members, the last to end is followed, and of what moves data
/// while another part still does only what it takes longer counts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ResponseShare {
    /// The workload.
    pub workload: String,
    /// What they did.
    pub op: Op,
    /// Bytes of each request.
    pub size_bytes: u64,
    /// All of them.
    pub all: Shares,
    /// The slowest hundredth, and what falls into the same bucket with the fastest of it; absent with fewer than a
    /// thousand requests, and where some were never issued.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub tail: Option<Shares>,
}

/// A mean response time and the parts that it went to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Shares {
    /// Requests.
    pub requests: u64,
    /// They took at least that long.
    pub from_ns: u64,
    /// Mean response, from due to finished.
    pub mean_ns: f64,
    /// In the order in which a request meets them; they add up to the mean.
    pub parts: Vec<PartShare>,
}

/// What a request spent on average at one kind of part.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PartShare {
    /// `link`, `controller processor`, `disk seek`.
    pub part: String,
    /// Waiting.
    pub wait_ns: f64,
    /// Being served.
    pub service_ns: f64,
}

impl PartShare {
    /// Waiting and being served.
    pub fn time_ns(&self) -> f64 {
        self.wait_ns + self.service_ns
    }
}

/// What visits of one kind met at one component on average, whether somebody waited for them or not.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ClassShare {
    /// On whose behalf.
    pub op: Behalf,
    /// Zero: sizes are not told apart.
    pub size_bytes: u64,
    /// Component.
    pub component: String,
    /// How many visits; 0 where it was not kept.
    #[serde(skip_serializing_if = "is_zero", default)]
    pub visits: u64,
    /// Mean time a visit waited there.
    pub wait_ns: f64,
    /// Mean time it was served there.
    pub service_ns: f64,
    /// Mean time of the work that it left to be done there after its end: a disk that acknowledges a write from its buffer has
    /// yet to write it.
    #[serde(skip_serializing_if = "is_zero", default)]
    pub deferred_ns: f64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_cache_takes_in_while_it_is_measured_is_not_sustained_though_it_becomes_full() {
        let fill = |measured: Option<u64>, end: u64| WriteCacheFill {
            unwritten_before_bytes: 0,
            unwritten_measured_bytes: measured,
            unwritten_halfway_bytes: None,
            unwritten_bytes: end,
            room_bytes: 1_000,
        };
        assert!(fill(Some(100), 990).is_filling(2_000), "full at the end, and half of the load went into it");
        assert!(!fill(Some(980), 990).is_filling(2_000), "full when the warm-up had ended");
        assert!(fill(Some(100), 600).is_filling(1_000));
        assert!(!fill(None, 990).is_filling(2_000), "of older records the warm-up is not known");
        assert!(fill(None, 600).is_filling(2_000));
    }

    #[test]
    fn a_cache_with_room_that_gained_nothing_in_the_second_half_has_its_level() {
        let levelled = |halfway: Option<u64>, end: u64| {
            let fill = WriteCacheFill {
                unwritten_before_bytes: 0,
                unwritten_measured_bytes: Some(100),
                unwritten_halfway_bytes: halfway,
                unwritten_bytes: end,
                room_bytes: 1_000,
            };
            fill.has_levelled_off(1_000)
        };
        assert!(levelled(Some(450), 500) && levelled(Some(550), 500));
        assert!(!levelled(Some(449), 500), "it still takes more than a tenth of what is written");
        assert!(!levelled(Some(900), 900), "it is full, and level for that");
        assert!(!levelled(None, 500), "nobody looked");
    }
}
