//! `unified_rw_reporting`: reads, writes and trims of a job told as one, or beside that as well.

use std::borrow::Cow;

use crate::Refusal;

use super::figures::{Direction, Entry, Samples};
use super::settings::Options;

/// Which figures stand in a report.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Unified {
    /// Those of each operation.
    #[default]
    None,
    /// Those of all operations together.
    Mixed,
    /// Both.
    Both,
}

impl Unified {
    pub(super) fn read(options: &Options) -> Result<Unified, Refusal> {
        let Some(setting) = options.get("unified_rw_reporting") else { return Ok(Unified::None) };
        match setting.value.as_str() {
            "0" | "none" => Ok(Unified::None),
            "" | "1" | "mixed" => Ok(Unified::Mixed),
            "2" | "both" => Ok(Unified::Both),
            _ => Err(setting.wrong("none, mixed or both")),
        }
    }
}

impl Entry {
    /// Its operations by the names that they have in a report, in fio's order.
    pub(super) fn reported(&self) -> Vec<(&'static str, Cow<'_, Direction>)> {
        let apart = ["read", "write", "trim"].into_iter().zip(self.directions.iter().map(Cow::Borrowed));
        let mixed = (self.unified != Unified::None).then(|| ("mixed", Cow::Owned(self.mixed())));
        apart.filter(|_| self.unified != Unified::Mixed).chain(mixed).collect()
    }

    /// All operations as one.
    pub(super) fn mixed(&self) -> Direction {
        self.directions.iter().fold(Direction::default(), |mut sum, one| {
            sum.add_beside(one);
            sum
        })
    }
}

impl Direction {
    /// Takes in what was done at the same time.
    fn add_beside(&mut self, other: &Direction) {
        self.requests += other.requests;
        self.bytes += other.bytes;
        self.runtime_ms = self.runtime_ms.max(other.runtime_ms);
        self.of_group += other.of_group;
        self.slat.merge(&other.slat);
        self.clat.merge(&other.clat);
        self.lat.merge(&other.lat);
        self.mean_ns = weighted((&self.mean_ns, &self.rate), (&other.mean_ns, &other.rate));
        self.rate = summed(&self.rate, &other.rate);
        self.bandwidth = summed(&self.bandwidth, &other.bandwidth);
    }
}

/// Of a second that only one of them has, that one's value.
fn seconds<'a>(one: &'a Samples, other: &'a Samples) -> impl Iterator<Item = (f64, f64)> + 'a {
    let at = |samples: &Samples, second: usize| samples.0.get(second).copied().unwrap_or(0.0);
    (0..one.0.len().max(other.0.len())).map(move |second| (at(one, second), at(other, second)))
}

fn summed(one: &Samples, other: &Samples) -> Samples {
    Samples(seconds(one, other).map(|(one, other)| one + other).collect())
}

/// The mean of two means, each by its number of requests in that second.
fn weighted((one, ones): (&Samples, &Samples), (other, others): (&Samples, &Samples)) -> Samples {
    let mean = |((one, other), (ones, others)): ((f64, f64), (f64, f64))| match ones + others {
        0.0 => 0.0,
        all => (one * ones + other * others) / all,
    };
    Samples(seconds(one, other).zip(seconds(ones, others)).map(mean).collect())
}

#[cfg(test)]
mod tests {
    use units::Nanos;

    use super::*;

    fn direction(requests: u64, ns: u64, rate: &[f64]) -> Direction {
        let mut lat = stats::Histogram::new();
        (0..requests).for_each(|_| lat.record(Nanos::new(ns)));
        let mean_ns = Samples(vec![ns as f64; rate.len()]);
        Direction {
            requests,
            bytes: requests * 4096,
            runtime_ms: 2000,
            lat,
            rate: Samples(rate.to_vec()),
            mean_ns,
            ..Direction::default()
        }
    }

    #[test]
    fn operations_as_one_are_their_sums_and_means_by_the_number_of_requests() {
        let directions = [direction(3, 1000, &[2.0, 1.0]), direction(1, 5000, &[1.0]), Direction::default()];
        let entry = Entry { directions, unified: Unified::Both, ..Entry::default() };
        let mixed = entry.mixed();
        assert_eq!(
            (mixed.requests, mixed.bytes, mixed.runtime_ms, mixed.lat.count()),
            (4, 4 * 4096, 2000, 4)
        );
        assert_eq!(mixed.rate.0, [3.0, 1.0]);
        assert_eq!(mixed.mean_ns.0, [7000.0 / 3.0, 1000.0]);
        let names = |unified| {
            let entry = Entry { unified, ..entry.clone() };
            entry.reported().into_iter().map(|(name, _)| name).collect::<Vec<_>>()
        };
        assert_eq!(names(Unified::None), ["read", "write", "trim"]);
        assert_eq!(names(Unified::Mixed), ["mixed"]);
        assert_eq!(names(Unified::Both), ["read", "write", "trim", "mixed"]);
    }
}
