//! A device known only from outside: how long it takes for a command, by how many it has.
//!
//! What reorders (an arm), what works on several at once (dies, servers) and what shares a wire shows from outside as
//! one table: the time of an access against the number of commands at the device.
//!
//! **Invariant:** a command's end is known when it is submitted, so it costs no event.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use units::convert::{narrow, truncated};
use units::{Bytes, BytesPerSecond, Instant, Nanos, SECTOR_BYTES};

use crate::device::Command;
pub use crate::device::programs::PIECE;
use crate::device::programs::{DieWork, Programs};
use crate::meter::{Class, Meter};
use crate::server::Servers;
use crate::station::Station;

/// The figures of a device known from outside.
#[derive(Clone, Debug, PartialEq)]
pub struct FittedParams {
    /// Commands worked on at once; the rest wait in order of arrival. At least 1.
    pub servers: u32,
    /// What a read takes, by how many are at once.
    pub read: Access,
    /// Of writes.
    pub write: Access,
    /// What one server moves of a read that begins where an earlier one ended, all its bytes one after the other.
    pub read_on: BytesPerSecond,
    /// The same of a write.
    pub write_on: BytesPerSecond,
    /// Dies that writes are put on after the device has taken them, so that a read waits for no more than the program
    /// under way; 0: a write holds a server as a read does. Small writes share programs: dies work for their bytes, and
    /// the access is what it takes to be taken.
    pub dies: u32,
    /// How long a read waits at most for what its die is at: what is under way is done by then, or is left for it.
    pub program: Nanos,
    /// What a die reads at once. A larger read is the work of several.
    pub piece: Bytes,
    /// What the device takes of writes before dies are ready for them; zero: one piece each beside the one under way.
    pub buffer: Bytes,
    /// How much later a read ends that comes while writes are at the device: an arm that goes for what is near does the
    /// writes of one region first. It holds no server.
    pub beside: Nanos,
    /// What all commands together move.
    pub link: BytesPerSecond,
    /// What a command costs on that way beyond its bytes.
    pub link_command: Nanos,
    /// Access time of a command that begins where an earlier one ended.
    pub follow: Nanos,
    /// Equally likely access times as parts of the mean, in ascending order; empty where it is always the mean.
    pub spread: Vec<f64>,
}

/// How long one server takes for a command: the access, then the bytes.
#[derive(Clone, Debug, PartialEq)]
pub struct Access {
    /// Commands at the device, this one among them, and the mean access time then. Rising in the first, never empty.
    ///
    /// Between two entries it is interpolated over the logarithm of the count, beyond the last it stays.
    pub times: Vec<(u32, Nanos)>,
    /// Bytes of one server. A read of a device with dies pays for those of one piece: each die moves its own meanwhile.
    pub rate: BytesPerSecond,
}

impl Access {
    /// The mean access time with `present` commands at the device.
    pub fn time(&self, present: usize) -> Nanos {
        let at = present as f64;
        let above = self.times.iter().position(|(count, _)| f64::from(*count) >= at);
        let ((low, short), (high, long)) = match above {
            None => return self.times.last().map_or(Nanos::ZERO, |last| last.1),
            Some(0) => return self.times[0].1,
            Some(index) => (self.times[index - 1], self.times[index]),
        };
        let part = (at.ln() - f64::from(low).ln()) / (f64::from(high).ln() - f64::from(low).ln());
        let (short, long) = (short.get() as f64, long.get() as f64);
        Nanos::new(truncated((short + (long - short) * part).round()))
    }
}

/// Readers and writers that are told apart where they go on.
const STREAMS: usize = 32;

/// A device known from outside, at work.
#[derive(Clone, Debug)]
pub struct Fitted {
    params: FittedParams,
    servers: Servers,
    programs: Option<Programs>,
    link: Station,
    /// When the commands that have not ended will end.
    present: BinaryHeap<Reverse<Instant>>,
    /// When the writes that have come, and what is read for them, will have ended.
    written: Instant,
    /// Sectors at which recent commands ended, and which of them is replaced next.
    ends: [u64; STREAMS],
    oldest: usize,
    /// Where the last command began that did not go on.
    from: u64,
    meter: Meter,
    /// How long the last command takes where nothing else is.
    alone: Nanos,
}

impl Fitted {
    /// An idle device.
    pub fn new(params: &FittedParams) -> Fitted {
        for kind in [&params.read, &params.write] {
            assert!(!kind.times.is_empty(), "there must be an access time");
            assert!(
                kind.times.is_sorted_by_key(|(count, _)| *count),
                "access times must be in order of the count"
            );
        }
        Fitted {
            servers: Servers::new(params.servers),
            programs: (params.dies > 0)
                .then(|| Programs::new(params.dies, params.program, params.piece, params.buffer)),
            link: Station::new(1),
            present: BinaryHeap::new(),
            written: Instant::START,
            ends: [u64::MAX; STREAMS],
            oldest: 0,
            from: 0,
            meter: Meter::default(),
            alone: Nanos::ZERO,
            params: params.clone(),
        }
    }

    /// Takes a command and returns when it ends.
    pub fn submit(&mut self, now: Instant, command: Command) -> Instant {
        while self.present.peek().is_some_and(|Reverse(end)| *end <= now) {
            self.present.pop();
        }
        let Service { access, moving, rewritten } = self.service(now, &command);
        let bytes = Bytes::new(u64::from(command.sectors) * SECTOR_BYTES);
        let ready = now.max(command.ready);
        let wire = self.params.link_command + self.params.link.time_for(bytes);
        // A write that dies are for is taken first: they work for its bytes alone, and it holds no server.
        let taken = command.write && self.programs.is_some();
        let served = if taken { access } else { access + moving };
        self.alone = served.max(wire);
        // A read that waits for a die keeps no other from being worked on.
        let waits = match &mut self.programs {
            Some(programs) if !command.write => {
                programs.wait(now, drawn(now, command.first, 0), bytes, access + moving)
            }
            _ => Nanos::ZERO,
        };
        let (started, first, ended) = match &mut self.programs {
            Some(programs) if command.write => {
                // What flash takes longer for where a write begins than where it goes on is copying.
                let program = moving.min(self.params.write_on.time_for(rewritten));
                let work = DieWork { program, copies: moving - program };
                let room = programs.take(now, work, rewritten).max(ready);
                (room, room, room + access)
            }
            _ => {
                let (started, ended) = self.servers.occupy(ready, access + moving);
                // What is large lies on several dies: the first of it moves while others are still read.
                (started, started + waits, ended + waits)
            }
        };
        let ended = self.link.stream(now, first, ended, wire, Nanos::ZERO, command.class);
        self.meter.visit(now, now, started, ended, command.class);
        let written = command.write || command.class == Class::Destage;
        let ended = if !written && self.written > now { ended + self.params.beside } else { ended };
        if written {
            self.written = self.written.max(ended);
        }
        if !taken {
            self.present.push(Reverse(ended));
        }
        ended
    }

    /// When the dies will have put on them all that was taken.
    pub fn settled(&self) -> Instant {
        self.programs.as_ref().map_or(self.written, |programs| programs.until().max(self.written))
    }

    /// How long the last command takes of a device that does nothing else.
    pub fn alone(&self) -> Nanos {
        self.alone
    }

    /// What a command is to a server.
    fn service(&mut self, now: Instant, command: &Command) -> Service {
        let bytes = Bytes::new(u64::from(command.sectors) * SECTOR_BYTES);
        // What a destage reads lies beside what it writes, and the next one does too: an arm is as quick for both.
        let destaged = command.class == Class::Destage && self.programs.is_none();
        let kind = if command.write || destaged { &self.params.write } else { &self.params.read };
        let moved = match (&self.programs, command.write) {
            (None, _) => bytes,
            (Some(_), true) => rewritten(command),
            (Some(_), false) => bytes.min(self.params.piece),
        };
        let moving = kind.rate.time_for(moved);
        let end = command.first + u64::from(command.sectors);
        if let Some(stream) = self.ends.iter_mut().find(|at| **at == command.first) {
            *stream = end;
            let (access, rate) = match command.write {
                true => (self.params.follow.min(kind.time(1)), self.params.write_on),
                false => (self.params.follow, self.params.read_on),
            };
            return Service { access, moving: rate.time_for(bytes), rewritten: bytes };
        }
        self.ends[self.oldest] = end;
        self.oldest = (self.oldest + 1) % STREAMS;
        let mean = kind.time(self.present.len() + 1);
        let from = std::mem::replace(&mut self.from, command.first);
        let access = match self.params.spread.len() as u64 {
            0 => mean,
            many => {
                let part = self.params.spread[narrow::<usize>(drawn(now, command.first, from) % many)];
                Nanos::new(truncated((mean.get() as f64 * part).round()))
            }
        };
        Service { access, moving, rewritten: moved }
    }

    /// How many commands it serves at once; at least 1.
    pub fn servers(&self) -> u32 {
        self.servers.count()
    }

    /// Its past.
    pub fn meter(&mut self) -> &mut Meter {
        &mut self.meter
    }
}

/// What a command is to a server: its access, the time of its bytes, and those that dies put on the media for it.
struct Service {
    access: Nanos,
    moving: Nanos,
    rewritten: Bytes,
}

/// What flash maps as one, as a rule: of a write that begins or ends within it all of it is written anew.
const MAPPED: u64 = 4096 / SECTOR_BYTES;

/// Bytes that flash writes for a write.
fn rewritten(command: &Command) -> Bytes {
    let end = command.first + u64::from(command.sectors);
    Bytes::new((end.next_multiple_of(MAPPED) - command.first / MAPPED * MAPPED) * SECTOR_BYTES)
}

/// The same number for all pieces of a request whose arms come from one place: they are given out at one instant and
/// lie at one height, so that none of them waits for the slowest of many strangers. Arms that come from elsewhere are
/// strangers.
fn drawn(now: Instant, first: u64, from: u64) -> u64 {
    // The finaliser of MurmurHash3 (Appleby 2011), over pieces of a mebibyte.
    let mut bits = now.nanos() ^ (first >> 11).rotate_left(32) ^ (from >> 11).rotate_left(16);
    bits = (bits ^ (bits >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
    bits = (bits ^ (bits >> 33)).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    bits ^ (bits >> 33)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn params(times: &[(u32, u64)]) -> FittedParams {
        let times: Vec<_> = times.iter().map(|(count, us)| (*count, Nanos::from_micros(*us))).collect();
        let access = Access { times, rate: BytesPerSecond::new(512e6) };
        FittedParams {
            servers: 1,
            read: access.clone(),
            write: access,
            read_on: BytesPerSecond::new(512e6),
            write_on: BytesPerSecond::new(512e6),
            dies: 0,
            program: Nanos::from_micros(101),
            piece: PIECE,
            buffer: Bytes::ZERO,
            beside: Nanos::ZERO,
            link: BytesPerSecond::new(1e15),
            link_command: Nanos::ZERO,
            follow: Nanos::ZERO,
            spread: Vec::new(),
        }
    }

    fn read(first: u64) -> Command {
        let ready = Instant::START;
        Command { first, sectors: 1, tag: 0, write: false, class: Class::HostRead, ready, given: ready }
    }

    #[test]
    fn an_access_is_shorter_the_more_commands_there_are_to_choose_from() {
        let mut device = Fitted::new(&params(&[(1, 100), (4, 60)]));
        let now = Instant::START;
        let ends: Vec<u64> = (0..5).map(|n| device.submit(now, read(1_000 * n)).nanos() / 1_000).collect();
        // 100 us alone, 80 us of two and 68.3 us of three (by the logarithm), 60 us from four on; one more for the
        // bytes.
        assert_eq!(ends, [101, 182, 251, 312, 373]);
    }

    #[test]
    fn what_goes_on_where_something_ended_needs_no_access() {
        let mut device = Fitted::new(&params(&[(1, 100)]));
        let first = device.submit(Instant::START, read(8));
        assert_eq!(device.submit(first, read(9)), first + Nanos::from_micros(1));
    }

    #[test]
    fn a_write_is_taken_at_once_and_a_read_waits_for_what_is_put_on_the_media() {
        let write_on = BytesPerSecond::new(163.84e6);
        let mut figures = FittedParams { dies: 1, write_on, ..params(&[(1, 100)]) };
        figures.write = Access { times: vec![(1, Nanos::from_micros(20))], rate: write_on };
        figures.program = Nanos::from_micros(100);
        let mut device = Fitted::new(&figures);
        let write = Command { write: true, sectors: 32, ..read(0) };
        assert_eq!(device.submit(Instant::START, write).nanos() / 1_000, 20);
        // The program is done at 100 us, and the read takes 101 itself.
        let ended = device.submit(Instant::from_nanos(1_000), read(8_000));
        assert_eq!(ended.nanos() / 1_000, 100 + 101);
    }

    #[test]
    fn flash_writes_all_of_what_it_maps_as_one() {
        let bytes = |first, sectors| rewritten(&Command { sectors, ..read(first) }).get();
        assert_eq!([bytes(8, 8), bytes(7, 2), bytes(4, 8), bytes(0, 1)], [4096, 8192, 8192, 4096]);
    }

    #[test]
    fn the_pieces_of_a_large_read_are_moved_side_by_side_where_there_are_dies() {
        let end = |dies: u32, sectors: u32| {
            let mut device = Fitted::new(&FittedParams { dies, ..params(&[(1, 100)]) });
            device.submit(Instant::START, Command { sectors, ..read(8) }).nanos() / 1_000
        };
        // A microsecond a sector: of one die's 32 of them at most, of an arm for all.
        assert_eq!([8, 32, 256].map(|sectors| end(16, sectors)), [108, 132, 132]);
        assert_eq!([8, 32, 256].map(|sectors| end(0, sectors)), [108, 132, 356]);
    }

    #[test]
    fn a_read_beside_writes_ends_later_and_holds_no_server_for_it() {
        let mut device = Fitted::new(&FittedParams { beside: Nanos::from_millis(1), ..params(&[(1, 100)]) });
        let write = Command { write: true, ..read(0) };
        let written = device.submit(Instant::START, write);
        let beside = device.submit(Instant::START, read(8_000));
        assert_eq!((written.nanos() / 1_000, beside.nanos() / 1_000), (101, 1_202));
        assert_eq!(device.submit(written, read(16_000)).nanos() / 1_000, 303);
    }

    #[test]
    fn all_servers_together_move_no_more_than_the_wire() {
        let mut device = Fitted::new(&FittedParams {
            servers: 8,
            link: BytesPerSecond::new(5.12e6),
            ..params(&[(1, 100)])
        });
        let ends: Vec<u64> = (0..8).map(|n| device.submit(Instant::START, read(1_000 * n)).nanos()).collect();
        // 100 us of the wire each, from the moment they came on.
        assert_eq!(ends[2..], [300_000, 400_000, 500_000, 600_000, 700_000, 800_000], "{ends:?}");
    }

    #[test]
    fn the_spread_changes_no_mean() {
        let spread = vec![0.25, 0.5, 1.0, 2.25];
        let mut device = Fitted::new(&FittedParams { spread, ..params(&[(1, 100)]) });
        let mut now = Instant::START;
        for n in 0..20_000 {
            now = device.submit(now, read(n * 3));
        }
        let mean = now.nanos() as f64 / 20_000.0;
        assert!((mean / 101_000.0 - 1.0).abs() < 0.02, "{mean}");
    }
}
