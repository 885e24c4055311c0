//! Time in which work stood still for want of processors, storage or memory.
//!
//! Source: `Documentation/accounting/psi.rst`.

use std::fs;
use std::path::PathBuf;

use units::Instant;

use super::series::{Last, Sampler, Sink, Slot, grown};
use crate::sysroot::SysRoot;

const RESOURCES: [&str; 3] = ["cpu", "io", "memory"];

pub(super) struct Pressure(Vec<Resource>);

struct Resource {
    path: PathBuf,
    /// Some task stood still.
    some: Slot,
    /// All that had something to do stood still; of the processors that cannot be.
    full: Option<Slot>,
    last: Last<Totals>,
}

/// Microseconds so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Totals {
    some: u64,
    full: u64,
}

impl Pressure {
    pub(super) fn start(root: &SysRoot, out: &mut Sink) -> Option<Pressure> {
        let mut resources = Vec::new();
        for name in RESOURCES {
            let path = root.proc.join("pressure").join(name);
            // Where the kernel was started with psi=0 the files are there and reading fails.
            if let Err(error) = fs::read_to_string(&path) {
                out.miss(
                    format!("pressure.{name}"),
                    format!("/proc/pressure/{name}: {error}; needs CONFIG_PSI and psi=1"),
                );
                continue;
            }
            let source = format!("/proc/pressure/{name}");
            let some = out.open(format!("pressure.{name}.some"), "share", &source);
            let full = (name != "cpu").then(|| out.open(format!("pressure.{name}.full"), "share", &source));
            resources.push(Resource { path, some, full, last: Last::default() });
        }
        (!resources.is_empty()).then_some(Pressure(resources))
    }
}

impl Sampler for Pressure {
    fn sample(&mut self, now: Instant, out: &mut Sink) {
        for resource in &mut self.0 {
            let Some(after) = fs::read_to_string(&resource.path).ok().and_then(|text| totals(&text)) else {
                continue;
            };
            let Some((before, seconds)) = resource.last.replace(now, after) else { continue };
            let share = |before, after| (grown(before, after) / 1e6 / seconds).min(1.0);
            out.push(resource.some, now, share(before.some, after.some));
            if let Some(full) = resource.full {
                out.push(full, now, share(before.full, after.full));
            }
        }
    }
}

/// `some avg10=0.00 avg60=0.23 avg300=0.26 total=8345759`
fn totals(text: &str) -> Option<Totals> {
    let total = |kind: &str| {
        let line = text.lines().find(|line| line.starts_with(kind))?;
        line.split_once("total=")?.1.trim().parse::<u64>().ok()
    };
    Some(Totals { some: total("some")?, full: total("full").unwrap_or(0) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Fixture;

    #[test]
    fn stalls_are_shares_of_the_interval() {
        let machine = Fixture::new();
        let write = |some: u64, full: u64| {
            let line = |kind, total| format!("{kind} avg10=0.00 avg60=0.00 avg300=0.00 total={total}\n");
            machine.write("proc/pressure/io", &(line("some", some) + &line("full", full)));
        };
        write(1_000_000, 500_000);
        let mut out = Sink::default();
        let mut pressure = Pressure::start(&machine.root(), &mut out).expect("there is one");
        pressure.sample(Instant::START, &mut out);
        write(1_250_000, 600_000);
        pressure.sample(Instant::from_nanos(1_000_000_000), &mut out);
        let values: Vec<(&str, f64)> =
            out.series.iter().map(|series| (series.name.as_str(), series.points[0].1)).collect();
        assert_eq!(values, [("pressure.io.some", 0.25), ("pressure.io.full", 0.1)]);
        assert_eq!(out.absent.len(), 2);
    }
}
