//! A device against a recording of the real one: the requests replayed on the model, and how far both distributions of
//! response times lie apart.
//!
//! The score is the *demerit figure* of Ruemmler and Wilkes (An Introduction to Disk Drive Modeling, IEEE Computer
//! 27(3), 1994): the root mean square horizontal distance between the two distributions, as a share of the measured mean.
//!
//! **Invariant:** a request takes eight bytes of memory, whatever the trace.

use units::convert::truncated;
use units::{Instant, Nanos};

use crate::device::{Command, Device, DeviceParams, Submitted};
use crate::meter::Class;

/// Response times are kept in this unit: up to 42 s, longer ones as that.
const TICK_NS: u64 = 10;

/// The requests of a replay, as a device gets them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReplayRequest {
    /// First sector.
    pub first: u64,
    /// Sectors, at least one.
    pub sectors: u32,
    /// Write, or read.
    pub write: bool,
    /// When it comes.
    pub arrives: Arrives,
    /// How long the real device took.
    pub measured: Nanos,
}

/// When a request comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrives {
    /// At that instant, whatever is under way.
    At(Instant),
    /// When the one before it has ended; the next one so long after this one has.
    InTurn {
        /// The pause after it.
        think: Nanos,
    },
}

/// A device that gets the requests of a recording.
#[derive(Debug)]
pub struct Replay {
    device: Device,
    now: Instant,
    /// When the command in service ends, of a device with an order of its own.
    ends: Option<Instant>,
    measured: Vec<u32>,
    modelled: Vec<u32>,
}

impl Replay {
    /// The device at rest.
    pub fn new(params: &DeviceParams) -> Replay {
        let device = Device::new(params, 0);
        Replay { device, now: Instant::START, ends: None, measured: Vec::new(), modelled: Vec::new() }
    }

    /// Asks for one request more. Instants ascend: one that lies before its predecessor is taken as that.
    pub fn ask(&mut self, asked: ReplayRequest) {
        self.measured.push(ticks(asked.measured));
        match asked.arrives {
            Arrives::At(at) => self.now = self.now.max(at),
            Arrives::InTurn { .. } => self.drain(),
        }
        self.serve_until(self.now);
        let class = if asked.write { Class::HostWrite } else { Class::HostRead };
        let ReplayRequest { first, sectors, write, .. } = asked;
        let command = Command { first, sectors, tag: 0, write, class, ready: self.now, given: self.now };
        match self.device.submit(self.now, command) {
            Submitted::Ends(end) => {
                self.modelled.push(ticks(end - self.now));
                self.wait(asked.arrives, end);
            }
            Submitted::Queued(ends) => {
                self.ends = ends.or(self.ends);
                if let (Arrives::InTurn { .. }, Some(end)) = (asked.arrives, self.ends) {
                    self.serve_until(end);
                    self.wait(asked.arrives, end);
                }
            }
        }
    }

    fn wait(&mut self, arrives: Arrives, end: Instant) {
        if let Arrives::InTurn { think } = arrives {
            self.now = end + think;
        }
    }

    /// Ends what ends by `until`.
    fn serve_until(&mut self, until: Instant) {
        while let Some(end) = self.ends.filter(|end| *end <= until) {
            let Device::Rotating(drive) = &mut self.device else { return };
            let (finished, next) = drive.finish(end);
            self.modelled.push(ticks(end - finished.arrived));
            self.ends = next;
        }
    }

    fn drain(&mut self) {
        while let Some(end) = self.ends {
            self.serve_until(end);
            self.now = self.now.max(end);
        }
    }

    /// How far the two distributions lie apart; `None` where nothing was asked.
    pub fn finish(mut self) -> Option<Demerit> {
        self.drain();
        assert_eq!(self.measured.len(), self.modelled.len(), "each request has ended once");
        Demerit::of(self.measured, self.modelled)
    }
}

fn ticks(time: Nanos) -> u32 {
    u32::try_from(time.get() / TICK_NS).unwrap_or(u32::MAX)
}

/// Two distributions of response times, and how far they lie apart.
#[derive(Clone, Debug, PartialEq)]
pub struct Demerit {
    /// Both in ascending order, as many of one as of the other.
    measured: Vec<u32>,
    modelled: Vec<u32>,
}

impl Demerit {
    fn of(mut measured: Vec<u32>, mut modelled: Vec<u32>) -> Option<Demerit> {
        measured.sort_unstable();
        modelled.sort_unstable();
        (!measured.is_empty()).then_some(Demerit { measured, modelled })
    }

    /// How many requests.
    pub fn requests(&self) -> usize {
        self.measured.len()
    }

    /// The demerit figure: the root mean square distance over the measured mean. Infinite where the mean is zero.
    pub fn figure(&self) -> f64 {
        self.distance().get() as f64 / self.means().0.get() as f64
    }

    /// The root mean square horizontal distance.
    pub fn distance(&self) -> Nanos {
        let squares = self.squares(0, self.requests());
        Nanos::new(truncated((squares / self.requests() as f64).sqrt() * TICK_NS as f64))
    }

    /// Mean response times, measured and modelled.
    pub fn means(&self) -> (Nanos, Nanos) {
        let mean = |times: &[u32]| {
            let sum: u64 = times.iter().map(|time| u64::from(*time)).sum();
            Nanos::new(truncated(sum as f64 * TICK_NS as f64 / times.len() as f64))
        };
        (mean(&self.measured), mean(&self.modelled))
    }

    /// The response times that a share of the requests does not exceed, measured and modelled.
    pub fn quantile(&self, share: f64) -> (Nanos, Nanos) {
        let index = truncated::<usize>((share * self.requests() as f64).ceil()).clamp(1, self.requests()) - 1;
        let time = |times: &[u32]| Nanos::new(u64::from(times[index]) * TICK_NS);
        (time(&self.measured), time(&self.modelled))
    }

    /// How the squared distance is spread: the share of each tenth of the requests, fastest first. All zero where both
    /// are the same.
    pub fn tenths(&self) -> [f64; 10] {
        let count = self.requests();
        let whole = self.squares(0, count);
        std::array::from_fn(|tenth| {
            let part = self.squares(count * tenth / 10, count * (tenth + 1) / 10);
            if whole > 0.0 { part / whole } else { 0.0 }
        })
    }

    fn squares(&self, from: usize, to: usize) -> f64 {
        let pairs = self.measured[from..to].iter().zip(&self.modelled[from..to]);
        pairs.map(|(a, b)| (f64::from(*a) - f64::from(*b)).powi(2)).sum()
    }
}

/// What a recording shows of the interface through which the device answered: how the fastest reads grow with their
/// length.
///
/// A device's data sheet states its own interface; a slower bus of the host that recorded is no property of the device,
/// and nothing but the recording tells it.
#[derive(Clone, Debug)]
pub struct Interface {
    /// Of each length in sectors, from 0: how many reads, and the fastest.
    fastest: Vec<(u32, u64)>,
}

/// Longer reads seldom come from a buffer whole.
const LONGEST: u32 = 64;
/// The fastest of fewer reads need not be one of the buffer's.
const FEWEST: u32 = 3;

impl Default for Interface {
    fn default() -> Interface {
        Interface { fastest: vec![(0, u64::MAX); LONGEST as usize] }
    }
}

impl Interface {
    /// Takes a read of so many sectors that took so long.
    pub fn saw(&mut self, sectors: u32, response: Nanos) {
        if let Some((count, fastest)) = self.fastest.get_mut(sectors as usize) {
            *count = count.saturating_add(1);
            *fastest = (*fastest).min(response.get());
        }
    }

    /// Nanoseconds a sector takes: the median of what the fastest reads of each length take longer than those of the
    /// shortest, a sector. `None` where fewer than four lengths came often enough, or the longer ones are no slower.
    pub fn sector_ns(&self) -> Option<f64> {
        let mut seen = (0u32..).zip(&self.fastest).filter(|(_, (count, _))| *count >= FEWEST);
        let (shortest, (_, least)) = seen.next()?;
        let slope = |(sectors, (_, time)): (u32, &(u32, u64))| {
            (*time as f64 - *least as f64) / f64::from(sectors - shortest)
        };
        let mut slopes: Vec<f64> = seen.map(slope).collect();
        slopes.sort_by(f64::total_cmp);
        let median = *slopes.get((slopes.len().max(1) - 1) / 2).filter(|_| slopes.len() >= 3)?;
        (median > 0.0).then_some(median)
    }
}

/// Seconds that a device takes for `requests`, issued one at a time, behind the first `before` of them, which are issued and not
/// counted.
pub fn alone(params: &DeviceParams, before: usize, requests: impl Iterator<Item = (u64, u32, bool)>) -> f64 {
    let mut replay = Replay::new(params);
    let mut from = Instant::START;
    let arrives = Arrives::InTurn { think: Nanos::ZERO };
    for (number, (first, sectors, write)) in requests.enumerate() {
        if number == before {
            from = replay.now;
        }
        replay.ask(ReplayRequest { first, sectors, write, arrives, measured: Nanos::ZERO });
    }
    (replay.now - from).as_secs_f64()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::QueueParams;
    use crate::device::queue::Service;

    fn asked(arrives: Arrives, measured_us: u64) -> ReplayRequest {
        ReplayRequest {
            first: 0,
            sectors: 8,
            write: false,
            arrives,
            measured: Nanos::from_micros(measured_us),
        }
    }

    fn server() -> DeviceParams {
        DeviceParams::Queue(QueueParams { servers: 1, service: Service::Fixed(Nanos::from_micros(100)) })
    }

    #[test]
    fn the_figure_is_the_rms_distance_over_the_measured_mean() {
        let mut replay = Replay::new(&server());
        for measured in [110, 90, 140, 60] {
            replay.ask(asked(Arrives::InTurn { think: Nanos::from_micros(5) }, measured));
        }
        let demerit = replay.finish().unwrap();
        let rms = ((100.0 + 100.0 + 1600.0 + 1600.0) / 4.0f64).sqrt();
        assert!((demerit.figure() - rms / 100.0).abs() < 1e-4, "{}", demerit.figure());
        assert_eq!(demerit.quantile(0.25), (Nanos::from_micros(60), Nanos::from_micros(100)));
        let tenths = demerit.tenths();
        assert!((tenths.iter().sum::<f64>() - 1.0).abs() < 1e-9, "{tenths:?}");
    }

    #[test]
    fn requests_at_their_times_wait_for_each_other_and_those_in_turn_do_not() {
        let queueing = |arrives: fn(u64) -> Arrives| {
            let mut replay = Replay::new(&server());
            (0..3).for_each(|n| replay.ask(asked(arrives(n), 100)));
            replay.finish().unwrap().means().1
        };
        assert_eq!(queueing(|_| Arrives::InTurn { think: Nanos::ZERO }), Nanos::from_micros(100));
        assert_eq!(queueing(|_| Arrives::At(Instant::START)), Nanos::from_micros(200));
    }

    #[test]
    fn an_interface_shows_in_how_the_fastest_reads_grow() {
        let mut interface = Interface::default();
        for sectors in [4, 8, 12, 16] {
            for extra in [0, 3_000_000, 7_000_000] {
                interface.saw(sectors, Nanos::new(400_000 + u64::from(sectors) * 100_000 + extra));
            }
        }
        assert_eq!(interface.sector_ns(), Some(100_000.0));
        assert_eq!(Interface::default().sector_ns(), None);
    }
}
