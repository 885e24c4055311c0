//! `-j`: tasks that took longer, or less long, than the others.

use record::{Point, WorkerResult};

use super::text::Row;
use crate::point;

/// A line for each task of `point` whose transfers took more than `seconds` longer or less long than those of all on average, as
/// IOR warns of it; `row` is what the point measured.
pub fn outliers(point: &Point, row: &Row, seconds: u32, hostname: &str) -> String {
    let time = |worker: &WorkerResult| worker.measured_ns.map(|measured_ns| measured_ns as f64 / 1e9);
    let times: Vec<f64> = point::workers(point).filter_map(time).collect();
    let mean = times.iter().sum::<f64>() / times.len().max(1) as f64;
    let squares: f64 = times.iter().map(|time| (time - mean).powi(2)).sum();
    let deviation = (squares / times.len().max(1) as f64).sqrt();
    let far = times.iter().enumerate().filter(|(_, time)| (*time - mean).abs() > f64::from(seconds));
    let name = row.access.name();
    far.map(|(task, time)| {
        format!(
            "WARNING: for {hostname}, task {task}, {name} elapsed transfer time is {time:.6} (mean={mean:.6}, stddev={deviation:.6})\n\n"
        )
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use record::sample::{self, Stream};

    use super::*;

    #[test]
    fn a_task_that_is_far_from_the_mean_is_told_of() {
        let stream = Stream { op: "write", size_bytes: 4096, per_s: 100, median_ns: 1000, spread: 0.0 };
        let mut workload = sample::workload("a", &[stream]);
        let worker = |index: u32, seconds: u64| WorkerResult {
            index,
            measured_ns: Some(seconds * 1_000_000_000),
            ..workload.workers[0].clone()
        };
        workload.workers = vec![worker(0, 2), worker(1, 2), worker(2, 8)];
        let point = sample::point(0, "write 0", vec![workload]);
        let row = Row::of(&point, 0).unwrap();
        let told = outliers(&point, &row, 3, "host");
        let line = "WARNING: for host, task 2, write elapsed transfer time is 8.000000 (mean=4.000000, stddev=2.828427)";
        assert_eq!(told.trim_end(), line);
        assert_eq!(outliers(&point, &row, 4, "host"), "", "as far as that is not further");
    }
}
