//! Network interfaces, for storage that is somewhere else.

use std::path::PathBuf;

use units::Instant;

use super::series::{Last, Sampler, Sink, Slot, grown};
use crate::sysroot::{SysRoot, number};

/// Counters of `/sys/class/net/X/statistics`, their names in the series, and units.
const COUNTERS: [(&str, &str, &str); 6] = [
    ("rx_bytes", "received_bytes_per_s", "bytes_per_s"),
    ("tx_bytes", "sent_bytes_per_s", "bytes_per_s"),
    ("rx_packets", "received_packets_per_s", "per_s"),
    ("tx_packets", "sent_packets_per_s", "per_s"),
    ("rx_dropped", "received_dropped_per_s", "per_s"),
    ("tx_dropped", "sent_dropped_per_s", "per_s"),
];

pub(super) struct Interfaces(Vec<Interface>);

struct Interface {
    folder: PathBuf,
    slots: [Slot; 6],
    last: Last<[u64; 6]>,
}

impl Interfaces {
    pub(super) fn start(root: &SysRoot, names: &[String], out: &mut Sink) -> Option<Interfaces> {
        let mut interfaces = Vec::new();
        for name in names {
            let folder = root.sys.join("class/net").join(name).join("statistics");
            if number(&folder.join("rx_bytes")).is_none() {
                out.miss(format!("net.{name}"), "there is no such interface, or it does not count");
                continue;
            }
            let source = format!("/sys/class/net/{name}/statistics");
            let slots = COUNTERS.map(|(_, what, unit)| out.open(format!("net.{name}.{what}"), unit, &source));
            interfaces.push(Interface { folder, slots, last: Last::default() });
        }
        (!interfaces.is_empty()).then_some(Interfaces(interfaces))
    }
}

impl Sampler for Interfaces {
    fn sample(&mut self, now: Instant, out: &mut Sink) {
        for interface in &mut self.0 {
            let after = COUNTERS.map(|(file, ..)| number(&interface.folder.join(file)).unwrap_or(0));
            let Some((before, seconds)) = interface.last.replace(now, after) else { continue };
            for (at, slot) in interface.slots.iter().enumerate() {
                out.push(*slot, now, grown(before[at], after[at]) / seconds);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Fixture;

    #[test]
    fn bytes_are_counted_each_way() {
        let machine = Fixture::new();
        machine.write("sys/class/net/eth0/statistics/rx_bytes", "1000\n");
        machine.write("sys/class/net/eth0/statistics/tx_bytes", "0\n");
        let mut out = Sink::default();
        let names = ["eth0".to_owned()];
        let mut interfaces = Interfaces::start(&machine.root(), &names, &mut out).expect("it is there");
        interfaces.sample(Instant::START, &mut out);
        machine.write("sys/class/net/eth0/statistics/rx_bytes", "6000\n");
        interfaces.sample(Instant::from_nanos(500_000_000), &mut out);
        assert_eq!(out.series[0].name, "net.eth0.received_bytes_per_s");
        assert_eq!(out.series[0].points[0].1, 10_000.0);
        assert_eq!(out.series[1].points[0].1, 0.0);
    }
}
