//! What the page cache holds, and what of it still has to be written.

use std::fs;
use std::path::PathBuf;

use units::Instant;

use super::series::{Sampler, Sink, Slot};
use crate::sysroot::SysRoot;

/// Lines of `/proc/meminfo`, in kB that are KiB (`Documentation/filesystems/proc.rst`), and their series, which are sums of them.
const LINES: [(&[&str], &str); 4] = [
    (&["Dirty:", "Writeback:"], "dirty pages"),
    (&["Writeback:"], "pages being written"),
    (&["Cached:"], "memory cached"),
    (&["MemAvailable:"], "memory available"),
];

pub(super) struct Memory {
    path: PathBuf,
    slots: [Slot; 4],
}

impl Memory {
    pub(super) fn start(root: &SysRoot, out: &mut Sink) -> Option<Memory> {
        let path = root.proc.join("meminfo");
        if fs::read_to_string(&path).is_err() {
            out.miss("memory", "/proc/meminfo cannot be read");
            return None;
        }
        let slots = LINES.map(|(_, name)| out.open(name, "bytes", "/proc/meminfo"));
        Some(Memory { path, slots })
    }
}

impl Sampler for Memory {
    fn sample(&mut self, now: Instant, out: &mut Sink) {
        let Ok(text) = fs::read_to_string(&self.path) else { return };
        for (slot, (keys, _)) in self.slots.iter().zip(LINES) {
            let values: Option<Vec<u64>> = keys.iter().map(|key| value(&text, key)).collect();
            if let Some(kib) = values {
                out.push(*slot, now, kib.iter().sum::<u64>() as f64 * 1024.0);
            }
        }
    }
}

/// The number of KiB behind `key`.
pub(crate) fn value(text: &str, key: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(key))?;
    line.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Fixture;

    #[test]
    fn dirty_pages_are_seen_in_bytes() {
        let machine = Fixture::new();
        machine.write(
            "proc/meminfo",
            "MemTotal: 100 kB\nCached:  30 kB\nSwapCached: 9 kB\nDirty:    2 kB\nWriteback: 3 kB\n",
        );
        let mut out = Sink::default();
        let mut memory = Memory::start(&machine.root(), &mut out).expect("it is there");
        memory.sample(Instant::START, &mut out);
        assert_eq!(out.series[0].points, [(Instant::START, 5.0 * 1024.0)]);
        assert_eq!(out.series[2].points, [(Instant::START, 30.0 * 1024.0)]);
        assert!(out.series[3].points.is_empty());
    }
}
