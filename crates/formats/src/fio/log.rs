//! fio's logs over time, of the seconds that a record keeps: `NAME_bw.1.log` and its kin.
//!
//! A line is a time in milliseconds, a value, the direction (0 reads, 1 writes, 2 trims), a block size and a priority;
//! with `log_offset` an offset stands before the last. Lines stand for windows, so that sizes and offsets are 0, as in
//! fio.

use std::fmt::Write;

use units::convert::truncated;

use crate::Refusal;

use super::figures::{Direction, Entry};
use super::settings::Options;

/// Which logs a job writes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Logs {
    bandwidth: Option<String>,
    rate: Option<String>,
    latency: Option<String>,
    /// A file for each job, numbered from 1.
    per_job: bool,
    offsets: bool,
    /// The largest value of a window, not its mean.
    largest: bool,
    /// Seconds of a window.
    window_s: usize,
}

impl Logs {
    /// `name` is the job's, which files are called by where the options do not say.
    pub(super) fn read(options: &Options, name: &str, notes: &mut Vec<String>) -> Result<Logs, Refusal> {
        let prefix = |option: &str| match options.text(option) {
            None | Some("0") => None,
            Some("" | "1") => Some(name.to_owned()),
            Some(said) => Some(said.to_owned()),
        };
        let window_ns = options.count("log_avg_msec")?.unwrap_or(0).saturating_mul(1_000_000);
        let logs = Logs {
            bandwidth: prefix("write_bw_log"),
            rate: prefix("write_iops_log"),
            latency: prefix("write_lat_log"),
            per_job: options.flag("per_job_logs")? != Some(false),
            offsets: options.flag("log_offset")? == Some(true),
            largest: options.text("log_max_value").is_some_and(|value| matches!(value, "" | "1" | "max")),
            window_s: usize::try_from(window_ns.div_ceil(1_000_000_000)).unwrap_or(usize::MAX).max(1),
        };
        if logs.is_any() && (window_ns == 0 || window_ns % 1_000_000_000 > 0) {
            let window = logs.window_s;
            notes.push(format!("logs have a line for every {window} s; those of each request are not kept"));
        }
        Ok(logs)
    }

    pub(super) fn is_any(&self) -> bool {
        self.bandwidth.is_some() || self.rate.is_some() || self.latency.is_some()
    }

    /// Names and contents of the files of `entry`, job number `job` from 1.
    pub(super) fn files(&self, job: usize, entry: &Entry) -> Vec<(String, String)> {
        let named = |prefix: &str, kind: &str| match self.per_job {
            true => format!("{prefix}_{kind}.{job}.log"),
            false => format!("{prefix}_{kind}.log"),
        };
        type Values = fn(&Direction) -> &[f64];
        let mut wanted: Vec<(&Option<String>, &str, Values)> =
            vec![(&self.bandwidth, "bw", |of| &of.bandwidth.0), (&self.rate, "iops", |of| &of.rate.0)];
        for kind in ["clat", "lat"] {
            wanted.push((&self.latency, kind, |of| &of.mean_ns.0));
        }
        let lines = |values: Values| self.lines(entry, values);
        let wanted =
            wanted.into_iter().filter_map(|(prefix, kind, values)| Some((prefix.as_ref()?, kind, values)));
        wanted.map(|(prefix, kind, values)| (named(prefix, kind), lines(values))).collect()
    }

    fn lines(&self, entry: &Entry, values: fn(&Direction) -> &[f64]) -> String {
        let mut text = String::new();
        let longest = entry.directions.iter().map(|of| values(of).len()).max().unwrap_or(0);
        for from in (0..longest).step_by(self.window_s) {
            let until = from.saturating_add(self.window_s).min(longest);
            for (number, of) in entry.directions.iter().enumerate().filter(|(_, of)| of.requests > 0) {
                let Some(window) = values(of).get(from..until.min(values(of).len())) else { continue };
                if window.is_empty() {
                    continue;
                }
                let value = match self.largest {
                    true => window.iter().copied().fold(0.0, f64::max),
                    false => window.iter().sum::<f64>() / window.len() as f64,
                };
                let offset = if self.offsets { "0, " } else { "" };
                let _ = writeln!(
                    text,
                    "{}, {}, {number}, 0, {offset}0",
                    until * 1000,
                    truncated::<u64>(value.round())
                );
            }
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::super::figures::Samples;
    use super::*;

    #[test]
    fn a_log_has_a_line_for_each_window_and_direction() {
        let mut entry = Entry::default();
        for (of, rate) in entry.directions.iter_mut().zip([[10.0, 20.0, 30.0], [1.0, 2.0, 4.0]]) {
            of.requests = 1;
            of.rate = Samples(rate.to_vec());
        }
        let logs = Logs { rate: Some("x".into()), per_job: true, window_s: 2, ..Logs::default() };
        let text = "2000, 15, 0, 0, 0\n2000, 2, 1, 0, 0\n3000, 30, 0, 0, 0\n3000, 4, 1, 0, 0\n";
        assert_eq!(logs.files(3, &entry), [("x_iops.3.log".to_owned(), text.to_owned())]);
        let logs = Logs { largest: true, offsets: true, per_job: false, ..logs };
        let (name, text) = logs.files(3, &entry).remove(0);
        assert_eq!((name.as_str(), text.lines().next()), ("x_iops.log", Some("2000, 20, 0, 0, 0, 0")));
    }
}
