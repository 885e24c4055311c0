//! What the page cache holds, and what of it still has to be written.

use std::fs;
use std::path::PathBuf;

use units::Instant;

use super::series::{Sampler, Sink, Slot};
use crate::sysroot::SysRoot;

/// Lines of `/proc/meminfo`, in kB that are KiB (`Documentation/filesystems/proc.rst`), and their series.
const LINES: [(&str, &str); 4] = [
    ("Dirty:", "memory.dirty"),
    ("Writeback:", "memory.writeback"),
    ("Cached:", "memory.cached"),
    ("MemAvailable:", "memory.available"),
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
        for (slot, (key, _)) in self.slots.iter().zip(LINES) {
            if let Some(kib) = value(&text, key) {
                out.push(*slot, now, kib as f64 * 1024.0);
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
        machine.write("proc/meminfo", "MemTotal: 100 kB\nCached:  30 kB\nSwapCached: 9 kB\nDirty:    2 kB\n");
        let mut out = Sink::default();
        let mut memory = Memory::start(&machine.root(), &mut out).expect("it is there");
        memory.sample(Instant::START, &mut out);
        assert_eq!(out.series[0].points, [(Instant::START, 2048.0)]);
        assert_eq!(out.series[2].points, [(Instant::START, 30.0 * 1024.0)]);
        assert!(out.series[1].points.is_empty());
    }
}
