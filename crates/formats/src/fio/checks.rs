//! What a job of fio fails by although every request was answered: a rate that was not kept, a request that took too
//! long.
//!
//! fio ends such a job when it happens. Here it goes on, and its report has the same error at the end.

use units::convert::truncated;

use crate::Refusal;

use super::complaints::Broken;
use super::figures::{Direction, Entry};
use super::settings::Options;
use super::value::Bare;

/// Limits of reads, writes and trims; `None` is no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Checks {
    /// Bytes a second.
    least_bytes: [Option<u64>; 3],
    /// Requests a second.
    least_requests: [Option<u64>; 3],
    /// Nanoseconds of a request.
    longest_ns: [Option<u64>; 3],
}

impl Checks {
    pub(super) fn read(options: &Options) -> Result<Checks, Refusal> {
        let some = |three: [Option<u64>; 3]| three.map(|limit| limit.filter(|limit| *limit > 0));
        let time = |text: &str| super::value::time_ns(text, Bare::Microseconds);
        Ok(Checks {
            least_bytes: some(options.three("rate_min", |text| options.base.size(text))?),
            least_requests: some(options.three("rate_iops_min", |text| options.base.size(text))?),
            longest_ns: some(options.three("max_latency", time)?),
        })
    }

    /// The first limit that the figures of a job broke; `None` where it kept all.
    pub(super) fn broken(&self, entry: &Entry) -> Option<Broken> {
        let each = || entry.directions.iter().enumerate();
        let late = |(direction, of): (usize, &Direction)| {
            let (most, took) = (self.longest_ns[direction]?, of.lat.max()?.get());
            (took > most).then_some(Broken::Late { direction, took, most })
        };
        // fio looks at whole cycles of a second; the first one only starts the count.
        let falls_below = |series: &[f64], least: Option<u64>, unit: f64| {
            let values = series.iter().skip(1).map(|value| value * unit);
            Some((values.into_iter().find(|value| *value < least.unwrap_or(0) as f64)?, least?))
        };
        let slow = |(index, of): (usize, &Direction)| {
            let bytes = falls_below(&of.bandwidth.0, self.least_bytes[index], 1024.0);
            let bytes = bytes.map(|(got, least)| Broken::Bytes { got: truncated::<u64>(got), least });
            let requests = falls_below(&of.rate.0, self.least_requests[index], 1.0);
            bytes.or_else(|| {
                requests.map(|(got, least)| Broken::Requests { got: truncated::<u64>(got), least })
            })
        };
        each().find_map(late).or_else(|| each().find_map(slow))
    }
}
