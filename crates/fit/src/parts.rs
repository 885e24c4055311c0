//! What showed by itself, and the model that it comes to before the model itself is asked.

use record::Run;
use units::convert::truncated;

use crate::caches::{self, ReadCache};
use crate::concatenation::{self, Concatenated};
use crate::front::{self, Front};
use crate::geometry::{self, Geometry, Order};
use crate::members::{self, Members};
use crate::model::{Access, Cache, Level, Model};
use crate::pieces;
use crate::probe::Probe;
use crate::refine;
use crate::statement::FitError;
use crate::writes::{self, Writes};

/// How many processors take requests: a write alone takes longer than a read by what its command takes longer, and of
/// either as many pass in a second as all processors do. One, where they do not differ enough to tell.
fn processors(front: &Front, writes: Option<&Writes>) -> u32 {
    let told = || {
        let (read, most_read) = (front.fixed?.value + front.byte * SMALL, front.most.seen()?.value);
        let (write, most_write) = (writes?.fixed?, writes?.most?);
        let (alone, together) = (write - read, 1e9 / most_write - 1e9 / most_read);
        let count = (alone / together).round();
        let least = DIFFERENT * read;
        let fits = (1.0..=MOST_PROCESSORS).contains(&count) && count * 1e9 / most_read < read;
        (alone > least && together > 0.0 && fits).then_some(truncated::<u32>(count))
    };
    let count = told().unwrap_or(1);
    assert!(count >= 1 && f64::from(count) <= MOST_PROCESSORS, "a controller has a processor");
    count
}

/// Reads and writes alone differ if by this part at least.
const DIFFERENT: f64 = 0.03;

/// Bytes of the requests that are compared.
const SMALL: f64 = 4096.0;

/// Processors that are believed.
const MOST_PROCESSORS: f64 = 64.0;

/// How long a read waits for a die at most, to begin with: a page of flash is programmed in about that.
const PROGRAM_NS: f64 = 1e6;

/// No read is late by less that waits for a die.
const LEAST_WAIT_NS: f64 = 1e4;

/// What a die reads at once, where nothing tells it.
const USUAL_PIECE: u64 = 16 << 10;

/// What showed by itself.
pub struct Parts {
    /// The way to the cache and back.
    pub front: Front,
    /// Members and chunk by the distances; `None` where these were too few.
    pub geometry: Option<Geometry>,
    /// That members lie one after the other.
    pub concatenated: Option<Concatenated>,
    /// What one of them does, taken to be like the others.
    pub members: Members,
    /// What writes told; `None` where nothing was written.
    pub writes: Option<Writes>,
    /// What the cache holds of what was read.
    pub reads: ReadCache,
    /// Whether a stream is read ahead.
    pub ahead: bool,
}

impl Parts {
    /// Reads it off.
    ///
    /// # Errors
    ///
    /// Where points are missing without which there is no model.
    pub fn of(probes: &[Probe]) -> Result<Parts, FitError> {
        let front =
            front::fit(probes).ok_or(FitError::Missing("reads at queue depth 1 of a small region"))?;
        let geometry = geometry::fit(probes, &front);
        let geometry = geometry.map(|geometry| pieces::settle(geometry, probes, &front));
        let count = geometry.as_ref().map_or(1, |geometry| geometry.members);
        let chunk = geometry.as_ref().and_then(|geometry| geometry.chunk).unwrap_or(65_536);
        let members = members::fit(probes, &front, count, chunk)
            .ok_or(FitError::Missing("random 4 KiB reads of the whole target at queue depth 1"))?;
        let way = front.fixed.map_or(0.0, |fixed| fixed.value);
        let writes = writes::fit(probes, members.read.times[0].1 + way, chunk as f64 * f64::from(count));
        let (reads, ahead) = (caches::fit(probes), members::reads_ahead(probes));
        let concatenated = concatenation::fit(probes);
        Ok(Parts { front, geometry, concatenated, members, writes, reads, ahead })
    }

    /// The model to begin with.
    pub fn model(&self, name: &str, runs: &[Run], capacity: u64) -> Model {
        let Parts { front, geometry, members, writes, .. } = self;
        let fixed = front.fixed.map_or(0.0, |fixed| fixed.value);
        let written = writes.as_ref();
        let processors = processors(front, written);
        let command = front.most.taken().map_or(0.0, |most| (f64::from(processors) * 1e9 / most).min(fixed));
        let most = written.and_then(|writes| writes.most);
        let write_fixed = written.and_then(|writes| writes.fixed).unwrap_or(fixed);
        let write_command =
            most.map_or(command, |most| (f64::from(processors) * 1e9 / most).min(write_fixed));
        let chunk = geometry.as_ref().and_then(|geometry| geometry.chunk).unwrap_or(65_536);
        let asked: Vec<&str> =
            runs.iter().flat_map(|run| &run.targets).map(|target| target.address.as_str()).take(1).collect();
        assert!(command <= fixed, "a command is a part of what a request takes");
        let started = runs.first().map_or("", |run| run.started.get(..10).unwrap_or(""));
        Model {
            name: name.into(),
            about: format!("fitted by `fathom array fit` to {} as measured on {started}", asked.join(", ")),
            capacity,
            link: front.link.value,
            lanes: truncated::<u32>((front.link.value * front.byte / 1e9).round().clamp(1.0, 64.0)),
            latency: (fixed - command).max(0.0) / 2.0,
            processors,
            read_command: command,
            write_command,
            level: match geometry.as_ref().map(|geometry| geometry.order) {
                Some(Order::Skipping) => Level::Raid6,
                _ => Level::Raid0,
            },
            members: geometry.as_ref().map_or(1, |geometry| geometry.members),
            chunk,
            cache: self.cache(chunk),
            servers: members.servers,
            read: members.read.clone(),
            write: self.write_access(),
            read_on: members.read.rate,
            write_on: written
                .and_then(|writes| writes.on)
                .map_or(members.read.rate, |on| on / self.at_work()),
            dies: members.dies(),
            program: written
                .and_then(|writes| writes.beside)
                .map_or(PROGRAM_NS, |wait| wait.max(LEAST_WAIT_NS)),
            piece: members.piece.unwrap_or(USUAL_PIECE),
            buffer: 0,
            beside: 0.0,
            member_link: members.link,
            follow: members.follow,
            spread: members.spread.clone(),
        }
    }

    /// Servers of all members that put writes on the media.
    fn at_work(&self) -> f64 {
        let count = f64::from(self.geometry.as_ref().map_or(1, |geometry| geometry.members));
        let at_work = count * f64::from(self.members.dies().count().max(1));
        assert!(at_work >= 1.0, "some member is at work");
        at_work
    }

    /// A beginning: as many servers as write at once do what small writes came to in the long run.
    fn write_access(&self) -> Access {
        let count = f64::from(self.geometry.as_ref().map_or(1, |geometry| geometry.members));
        let Members { servers, read, .. } = &self.members;
        let small = self.writes.as_ref().and_then(|writes| writes.small);
        if *servers > 1 {
            let large = self.writes.as_ref().and_then(|writes| writes.large);
            let bytes = large.or(small.map(|small| small.value * SMALL));
            // Until it shows that something else holds them up, writes are taken as soon as they come.
            let time = bytes.map_or(read.times[0].1, |_| refine::AT_ONCE_NS);
            let rate = bytes.map_or(read.rate, |bytes| bytes / self.at_work());
            return Access { times: vec![(1, time)], rate };
        }
        // An arm gains by a choice of writes as it does by one of reads.
        let first = read.times[0].1;
        let busy = count.clamp(1.0, 8.0);
        let time = small.map_or(first, |small| (busy / small.value * 1e9).min(first * 20.0));
        let times = read.times.iter().map(|(count, ns)| (*count, ns * time / first));
        Access { times: times.collect(), rate: read.rate }
    }

    fn cache(&self, chunk: u64) -> Option<Cache> {
        let room = self.writes.as_ref().and_then(|writes| writes.room).map(|room| room.value);
        let back = self.writes.as_ref().is_some_and(|writes| writes.back);
        let size = match self.reads {
            ReadCache::Size(size) => Some(size.value),
            ReadCache::AtLeast(size) => Some(size as f64),
            ReadCache::Unknown => None,
        };
        let whole = size.or(room).or((back || self.ahead).then_some(256.0 * 1024.0 * 1024.0))?;
        let members = self.geometry.as_ref().map_or(1, |geometry| geometry.members);
        let ahead = (chunk * u64::from(members) * 2).clamp(1 << 20, 16 << 20);
        Some(Cache {
            size: truncated::<u64>((whole / 1_048_576.0).round().max(1.0)) << 20,
            reads: size.is_some() || self.ahead,
            write_part: back.then_some(room.map_or(1.0, |room| (room / whole).clamp(0.001, 1.0))),
            read_ahead: self.ahead.then_some(ahead),
            destage_window: 8,
        })
    }
}
