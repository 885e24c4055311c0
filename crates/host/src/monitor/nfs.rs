//! What NFS asked its servers for, by mount.
//!
//! Source of the fields: `fs/nfs/super.c` (`nfs_show_stats`) and `net/sunrpc/stats.c` (`rpc_print_iostats`).

use std::path::{Path, PathBuf};

use units::Instant;

use super::series::{Last, Sampler, Sink, Slot, grown};
use crate::sysroot::SysRoot;
use crate::target::mounts::unescape;

/// Counters of one mount.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Counters {
    /// Read from and written to the server.
    bytes: [u64; 2],
    /// READ, WRITE and COMMIT.
    ops: [Op; 3],
    /// Requests of these sent more than once.
    again: u64,
}

/// Counters of one operation, times in milliseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Op {
    count: u64,
    queue_ms: u64,
    round_trip_ms: u64,
}

const OPS: [(&str, &str); 3] = [("READ:", "read"), ("WRITE:", "write"), ("COMMIT:", "commit")];

/// The mounts watched, from one reading.
pub(super) struct Nfs {
    path: PathBuf,
    mounts: Vec<Watched>,
}

struct Watched {
    point: PathBuf,
    bytes: [Slot; 2],
    /// Rate, time in the queue, round trip.
    ops: [[Slot; 3]; 3],
    again: Slot,
    last: Last<Counters>,
}

impl Nfs {
    pub(super) fn start(root: &SysRoot, points: &[PathBuf], out: &mut Sink) -> Option<Nfs> {
        let path = root.proc.join("self/mountstats");
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        let mut mounts = Vec::new();
        for point in points {
            let name = format!("nfs.{}", point.display());
            if find(&text, point).is_none() {
                out.miss(name, "not listed in /proc/self/mountstats");
                continue;
            }
            mounts.push(Watched::open(point, &name, out));
        }
        (!mounts.is_empty()).then_some(Nfs { path, mounts })
    }
}

impl Watched {
    fn open(point: &Path, name: &str, out: &mut Sink) -> Watched {
        let mut open = |what: &str, unit| out.open(format!("{name}.{what}"), unit, "/proc/self/mountstats");
        Watched {
            point: point.into(),
            bytes: [open("read_bytes_per_s", "bytes_per_s"), open("write_bytes_per_s", "bytes_per_s")],
            ops: OPS.map(|(_, op)| {
                [
                    open(&format!("{op}_ops_per_s"), "per_s"),
                    open(&format!("{op}_queue_time"), "ns"),
                    open(&format!("{op}_round_trip"), "ns"),
                ]
            }),
            again: open("sent_again_per_s", "per_s"),
            last: Last::default(),
        }
    }

    fn sample(&mut self, now: Instant, after: Counters, out: &mut Sink) {
        let Some((before, seconds)) = self.last.replace(now, after) else { return };
        for (at, slot) in self.bytes.iter().enumerate() {
            out.push(*slot, now, grown(before.bytes[at], after.bytes[at]) / seconds);
        }
        for (at, [rate, queue, round_trip]) in self.ops.iter().enumerate() {
            let (before, after) = (before.ops[at], after.ops[at]);
            let count = grown(before.count, after.count);
            out.push(*rate, now, count / seconds);
            // Of no request there is no time.
            if count > 0.0 {
                out.push(*queue, now, grown(before.queue_ms, after.queue_ms) * 1e6 / count);
                out.push(*round_trip, now, grown(before.round_trip_ms, after.round_trip_ms) * 1e6 / count);
            }
        }
        out.push(self.again, now, grown(before.again, after.again) / seconds);
    }
}

impl Sampler for Nfs {
    fn sample(&mut self, now: Instant, out: &mut Sink) {
        let Ok(text) = std::fs::read_to_string(&self.path) else { return };
        for mount in &mut self.mounts {
            if let Some(counters) = find(&text, &mount.point) {
                mount.sample(now, counters, out);
            }
        }
    }
}

/// The counters of the last NFS mount on `point`, which hides the others.
fn find(text: &str, point: &Path) -> Option<Counters> {
    let mut found = None;
    let mut within = false;
    for line in text.lines() {
        let line = line.trim();
        if let Some(rest) = line.strip_prefix("device ") {
            within = is_of(rest, point);
            found = if within { Some(Counters::default()) } else { found };
        } else if let (true, Some(counters)) = (within, &mut found) {
            add(line, counters);
        }
    }
    found
}

/// `10.0.0.7:/vol mounted on /mnt/nas with fstype nfs4 statvers=1.1`
fn is_of(rest: &str, point: &Path) -> bool {
    let parts = rest.split_once(" mounted on ").and_then(|(_, rest)| rest.rsplit_once(" with fstype "));
    parts.is_some_and(|(place, kind)| {
        kind.starts_with("nfs") && Path::new(&unescape(place.as_bytes())) == point
    })
}

fn add(line: &str, counters: &mut Counters) {
    let mut words = line.split_whitespace();
    let Some(head) = words.next() else { return };
    let values: Vec<u64> = words.map(|word| word.parse().unwrap_or(0)).collect();
    let value = |at: usize| values.get(at).copied().unwrap_or(0);
    if head == "bytes:" {
        counters.bytes = [value(4), value(5)];
    } else if let Some(at) = OPS.iter().position(|(name, _)| *name == head) {
        counters.ops[at] = Op { count: value(0), queue_ms: value(5), round_trip_ms: value(6) };
        counters.again = counters.again.saturating_add(value(1).saturating_sub(value(0)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Fixture;

    fn table(reads: u64) -> String {
        format!(
            "device sysfs mounted on /sys with fstype sysfs\n\
             device 10.0.0.7:/vol mounted on /mnt/my\\040nas with fstype nfs4 statvers=1.1\n\
             \topts:\trw,vers=4.1\n\tbytes:\t1 2 3 4 {} 500 6 7\n\tper-op statistics\n\
             \t        READ: {reads} {} 0 9 9 {} {} 9 0\n\t       WRITE: 5 5 0 9 9 0 0 0 0\n\
             device x:/y mounted on /other with fstype nfs4 statvers=1.1\n\tbytes:\t0 0 0 0 77 77 0 0\n",
            reads * 4096,
            reads + 2,
            reads * 2,
            reads * 3
        )
    }

    #[test]
    fn rates_and_times_of_a_mount_come_from_differences() {
        let machine = Fixture::new();
        machine.write("proc/self/mountstats", &table(100));
        let mut out = Sink::default();
        let points = [PathBuf::from("/mnt/my nas"), PathBuf::from("/mnt/none")];
        let mut nfs = Nfs::start(&machine.root(), &points, &mut out).expect("one is listed");
        assert_eq!(out.absent[0].name, "nfs./mnt/none");
        nfs.sample(Instant::START, &mut out);
        machine.write("proc/self/mountstats", &table(300));
        nfs.sample(Instant::from_nanos(2_000_000_000), &mut out);
        let value = |what: &str| out.last(&format!("nfs./mnt/my nas.{what}"));
        assert_eq!(value("read_ops_per_s"), Some(100.0));
        assert_eq!(value("read_bytes_per_s"), Some(100.0 * 4096.0));
        assert_eq!(value("write_bytes_per_s"), Some(0.0));
        assert_eq!(value("read_queue_time"), Some(2e6));
        assert_eq!(value("read_round_trip"), Some(3e6));
        assert_eq!(value("write_round_trip"), None);
        assert_eq!(value("sent_again_per_s"), Some(0.0));
    }

    proptest::proptest! {
        #[test]
        fn any_table_is_read_without_a_crash(text in "(device |mounted on|with fstype|nfs4|READ:|bytes:|[0-9 \n/])*") {
            find(&text, Path::new("/a"));
        }
    }
}
