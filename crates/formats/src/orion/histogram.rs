//! Histograms of latencies, in the shape of 11.2.
//!
//! Buckets are powers of two from 32 µs on. The percentage is of all requests up to the end of the bucket. The last
//! bucket reaches to 268 s and holds whatever is slower than all that is listed.

use stats::Histogram;

use super::figures::{Figures, Flow, below, longest_ns};
use super::points::Load;

/// The first bucket ends here, in microseconds.
const FIRST_US: u64 = 32;
/// The last one does.
const LAST_US: u64 = 1 << 28;
const _: () = assert!(FIRST_US.is_power_of_two() && FIRST_US < LAST_US && LAST_US.is_power_of_two());

/// The histograms of one data point: of its small requests, then of its large ones.
pub(super) fn histograms_of(load: Load, small: Option<&Flow>, large: Option<&Flow>) -> String {
    let of = |name: &str, flow: Option<&Flow>| flow.map(|flow| table(name, load, flow)).unwrap_or_default();
    of("Small", small) + &of("Large", large)
}

/// The histograms of every data point.
pub fn histograms(figures: &Figures) -> String {
    figures
        .cells()
        .map(|(load, cell)| histograms_of(load, cell.small.as_ref(), cell.large.as_ref()))
        .collect()
}

fn table(name: &str, load: Load, flow: &Flow) -> String {
    let mut text = format!(
        "{name} Read / Write Latency Histogram @ Small={} and Large={}\n\
         {:8}Latency:{:25}# of IOs (read){:10}# of IOs (write)\n",
        load.small, load.large, "", "", ""
    );
    let longest_us = longest_ns(&flow.reads).max(longest_ns(&flow.writes)) / 1000;
    let (mut from, mut to) = (0, FIRST_US);
    while to < LAST_US {
        text += &line(from, to, flow);
        if longest_us < to {
            from = to;
            break;
        }
        (from, to) = (to, to * 2);
    }
    text + &line(from, LAST_US, flow) + "\n"
}

fn line(from_us: u64, to_us: u64, flow: &Flow) -> String {
    assert!(from_us < to_us && to_us <= LAST_US, "a bucket ends behind its beginning");
    let cell = |times: &Histogram, width: usize| {
        // What is slower than the last bucket's end is in the last bucket all the same.
        let until = if to_us == LAST_US { times.count() } else { below(times, to_us * 1000) };
        let count = until - below(times, from_us * 1000).min(until);
        let percent = if times.is_empty() { 0.0 } else { until as f64 * 100.0 / times.count() as f64 };
        format!("{count:width$} ({percent:6.2}%)")
    };
    format!("{from_us:9} - {to_us:<10} us:{}{}\n", cell(&flow.reads, 16), cell(&flow.writes, 15))
}

#[cfg(test)]
mod tests {
    use record::sample::{Stream, point, workload};

    use super::*;

    #[test]
    fn a_histogram_has_the_columns_of_11_2() {
        let stream = Stream { op: "read", size_bytes: 8192, per_s: 37_000, median_ns: 100_000, spread: 0.0 };
        let figures = Figures::of(&[point(0, "small", vec![workload("small", &[stream])])]);
        let (load, _) = figures.cells().next().unwrap();
        let small = load.small;
        assert_eq!(
            histograms(&figures),
            format!(
                "Small Read / Write Latency Histogram @ Small={small} and Large=0\n        \
                 Latency:                         # of IOs (read)          # of IOs (write)\n        \
                 0 - 32         us:               0 (  0.00%)              0 (  0.00%)\n       \
                 32 - 64         us:               0 (  0.00%)              0 (  0.00%)\n       \
                 64 - 128        us:         1110000 (100.00%)              0 (  0.00%)\n      \
                 128 - 268435456  us:               0 (100.00%)              0 (  0.00%)\n\n"
            )
        );
    }

    #[test]
    fn every_request_is_in_one_bucket() {
        let streams = ["read", "write"].map(|op| Stream {
            op,
            size_bytes: 8192,
            per_s: 300,
            median_ns: 3_000_000,
            spread: 1.0,
        });
        let figures = Figures::of(&[point(0, "small", vec![workload("small", &streams)])]);
        let text = histograms(&figures);
        let counted = |column: usize| -> u64 {
            let lines = text.lines().filter_map(|line| line.split_once("us:"));
            lines.map(|(_, rest)| rest.split('(').nth(column).unwrap()).map(number).sum()
        };
        assert_eq!((counted(0), counted(1)), (9000, 9000));
    }

    fn number(text: &str) -> u64 {
        text.rsplit(')').next().unwrap().trim().parse().unwrap()
    }
}
