//! What a job of fio fails by although every request was answered: a rate that was not kept, a request that took too
//! long.
//!
//! fio ends such a job when it happens. Here it goes on, and its report has the same error at the end.

use crate::Refusal;

use super::figures::Entry;
use super::settings::Options;
use super::value::Bare;

/// EIO, which fio reports for a rate below its least.
const TOO_SLOW: i32 = 5;
/// ETIMEDOUT, which it reports for a request above its longest.
const TOO_LATE: i32 = 110;

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

    /// The error that the figures of a job come to; 0 where it kept all.
    pub(super) fn error(&self, entry: &Entry) -> i32 {
        let is_late = |(direction, longest): (&super::figures::Direction, &Option<u64>)| {
            longest.is_some_and(|longest| direction.lat.max().is_some_and(|max| max.get() > longest))
        };
        if entry.directions.iter().zip(&self.longest_ns).any(is_late) {
            return TOO_LATE;
        }
        // fio looks at whole cycles of a second; the first one only starts the count.
        let falls_below = |series: &[f64], least: Option<u64>, unit: f64| {
            least.is_some_and(|least| series.iter().skip(1).any(|value| value * unit < least as f64))
        };
        let is_slow = |(index, direction): (usize, &super::figures::Direction)| {
            falls_below(&direction.bandwidth.0, self.least_bytes[index], 1024.0)
                || falls_below(&direction.rate.0, self.least_requests[index], 1.0)
        };
        if entry.directions.iter().enumerate().any(is_slow) { TOO_SLOW } else { 0 }
    }
}
