//! What the programs of a flash drive went to: its cache of one bit a cell, or the flash behind it.
//!
//! A drive takes a write into that cache as long as it has room, and a program of one bit a cell takes another time than one of the rest:
//! by the times of the programs that a command caused it is known where they went.

use units::convert::truncated;
use units::{Bytes, BytesPerSecond, Nanos};

use crate::device::DeviceParams;

/// What went where, of one drive or of several together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SlcUse {
    /// What the cache takes when it is empty.
    pub size: Bytes,
    /// What it holds at the most: what it has been given, and was not seen to have no room for. It holds less where the drive was idle.
    pub held_most: Bytes,
    /// Programmed into it since the meters began.
    pub taken: Bytes,
    /// Programmed past it since then: it had no room.
    pub beyond: Bytes,
    /// What the flash behind it takes in order, which garbage collection makes less.
    pub behind: BytesPerSecond,
}

impl SlcUse {
    /// What several drives have together.
    pub fn and(self, other: SlcUse) -> SlcUse {
        SlcUse {
            size: self.size + other.size,
            held_most: self.held_most + other.held_most,
            taken: self.taken + other.taken,
            beyond: self.beyond + other.beyond,
            behind: BytesPerSecond::new(self.behind.get() + other.behind.get()),
        }
    }
}

/// The same of one drive, with what tells one kind of program from the other.
#[derive(Clone, Copy, Debug)]
pub struct SlcMeter {
    seen: SlcUse,
    /// A program of the cache, and one past it.
    times: [Nanos; 2],
    /// What a visit of a die stands for.
    visit: Bytes,
}

impl SlcMeter {
    /// That of a drive with such a cache at rest; `None` of any other, and of one whose cache is no faster.
    pub fn of(params: &DeviceParams) -> Option<SlcMeter> {
        let DeviceParams::Flash(flash) = params else { return None };
        let slc = flash.slc_cache.filter(|slc| slc.program_page < flash.program_page)?;
        let unit = flash.page * u64::from(flash.planes.max(1));
        let dies = f64::from(flash.channels.max(1)) * f64::from(flash.dies_per_channel.max(1));
        let by_dies = dies * unit.as_f64() / flash.program_page.as_secs_f64();
        let behind = flash.write_path.map_or(by_dies, |path| path.get().min(by_dies));
        let seen = SlcUse {
            size: slc.size,
            held_most: Bytes::ZERO,
            taken: Bytes::ZERO,
            beyond: Bytes::ZERO,
            behind: BytesPerSecond::new(behind),
        };
        let visit = Bytes::new(unit.get() / flash.reads_at_once() as u64);
        Some(SlcMeter { seen, times: [slc.program_page, flash.program_page], visit })
    }

    /// A command caused so many visits of dies, which took so long together.
    pub fn programmed(&mut self, visits: u64, service: Nanos) {
        let [fast, slow] = self.times.map(|time| time.get() as f64);
        debug_assert!(fast < slow, "a cache that is no faster tells nothing");
        let all = visits as f64;
        let past: u64 =
            truncated(((service.get() as f64 - all * fast) / (slow - fast)).round().clamp(0.0, all));
        let seen = &mut self.seen;
        seen.taken += self.visit * (visits - past);
        seen.beyond += self.visit * past;
        seen.held_most = match past {
            0 => (seen.held_most + self.visit * visits).min(seen.size),
            _ => seen.size,
        };
    }

    /// Begins to count.
    pub fn restart(&mut self) {
        (self.seen.taken, self.seen.beyond) = (Bytes::ZERO, Bytes::ZERO);
    }

    /// What it has seen.
    pub fn seen(&self) -> SlcUse {
        self.seen
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::{Command, Device};
    use crate::meter::Class;
    use crate::spec::{Shipped, array};
    use units::Instant;

    #[test]
    fn programs_are_those_of_the_cache_until_it_is_full_and_then_those_of_the_flash_behind_it() {
        let options = "ssd-1?drive=qvo-870-4000&devices.with.flash.slc_cache.size=64MiB";
        let topology = array(&Shipped, options).expect("a shipped drive").topology;
        let params = &topology.models[0];
        let (mut device, mut slc) = (Device::new(params, 1), SlcMeter::of(params).expect("it has a cache"));
        let mut at = Instant::START;
        let mut write = |slc: &mut SlcMeter, mebibytes: u64| {
            for number in 0..mebibytes * 8 {
                let before = device.workers().expect("dies").visits(Class::HostWrite);
                let command = Command {
                    first: number * 256,
                    sectors: 256,
                    tag: 0,
                    write: true,
                    class: Class::HostWrite,
                    ready: at,
                    given: at,
                };
                device.submit(at, command);
                let after = device.workers().expect("dies").visits(Class::HostWrite);
                at += Nanos::from_micros(300);
                slc.programmed(after.count - before.count, Nanos::new(after.service_ns - before.service_ns));
            }
        };
        write(&mut slc, 48);
        let seen = slc.seen();
        assert_eq!(
            (seen.taken, seen.beyond, seen.held_most),
            (Bytes::MIB * 48, Bytes::ZERO, Bytes::MIB * 48)
        );
        write(&mut slc, 48);
        let seen = slc.seen();
        assert_eq!(
            (seen.taken, seen.beyond, seen.held_most),
            (Bytes::MIB * 64, Bytes::MIB * 32, Bytes::MIB * 64)
        );
        slc.restart();
        write(&mut slc, 4);
        assert_eq!((slc.seen().taken, slc.seen().beyond), (Bytes::ZERO, Bytes::MIB * 4));
        assert!((slc.seen().behind.get() / 160e6 - 1.0).abs() < 0.01, "{:?}", slc.seen());
    }
}
