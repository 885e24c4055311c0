//! The log of a test: every point with its time, its load and what came of it.

use record::{Point, PointKind};

use super::WARMING;
use super::figures::{Figures, Flow};

/// The log of all points.
pub fn trace<'a>(points: impl IntoIterator<Item = &'a Point>) -> String {
    points.into_iter().map(trace_of).collect()
}

/// The log of one point.
pub fn trace_of(point: &Point) -> String {
    if point.kind != PointKind::Load {
        return String::new();
    }
    let second = |ns: u64| ns as f64 / 1e9;
    let time = format!("{:.3} s to {:.3} s", second(point.started_ns), second(point.ended_ns));
    if let Some(warming) = point.workloads.iter().find(|workload| workload.name == WARMING) {
        let bytes: u64 = warming.classes.iter().map(|class| class.bytes).sum();
        return format!("{time}: {} MB of random requests, not measured ({})\n", bytes >> 20, point.name);
    }
    let mut text = String::new();
    for (load, cell) in Figures::of([point]).cells() {
        text += &format!("{time}: Small={} and Large={}\n", load.small, load.large);
        for (name, flow) in [("small", &cell.small), ("large", &cell.large)] {
            text += &flow.as_ref().map(|flow| line(name, flow)).unwrap_or_default();
        }
    }
    let errors: u64 = point.workloads.iter().map(|workload| workload.errors).sum();
    if errors > 0 {
        text += &format!("  {errors} failed\n");
    }
    text
}

fn line(name: &str, flow: &Flow) -> String {
    let latency = flow.latency_ns().map_or(String::new(), |ns| format!(", mean latency {:.2} us", ns / 1e3));
    format!(
        "  {name}: {} of {} bytes in {:.3} s, {:.2} IOPS, {:.2} MBPS{latency}\n",
        flow.ops,
        flow.size_bytes,
        flow.measured_ns as f64 / 1e9,
        flow.iops(),
        flow.mbps()
    )
}

#[cfg(test)]
mod tests {
    use record::sample::{Stream, point, workload};

    use super::*;

    #[test]
    fn each_point_is_told_with_its_load() {
        let stream = Stream { op: "read", size_bytes: 8192, per_s: 1000, median_ns: 1_000_000, spread: 0.0 };
        let points = [
            point(0, "warm", vec![workload(WARMING, &[stream])]),
            point(1, "one", vec![workload("small", &[stream])]),
        ];
        let text = trace(&points);
        assert!(
            text.starts_with("0.000 s to 31.000 s: 234 MB of random requests, not measured (warm)\n"),
            "{text}"
        );
        assert!(text.contains(
            "Small=1 and Large=0\n  small: 30000 of 8192 bytes in 30.000 s, 1000.00 IOPS, 7.81 MBPS"
        ));
    }
}
