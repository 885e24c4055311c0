//! What a case measures and the unit it was published in.

/// What is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Metric {
    /// Operations a second of all workers.
    Iops,
    /// Bytes a second of all workers.
    Throughput,
    /// Mean response time.
    LatencyMean,
    /// The response time that half of the requests do not exceed.
    LatencyP50,
    /// The response time that 99 % of the requests do not exceed.
    LatencyP99,
    /// Part of the requests that are answered in the case's `within`.
    ShareWithin,
    /// Time of background work from one progress to another.
    Time,
    /// Bytes a second that background work moves on each member it fills.
    WorkRate,
    /// Parallel requests beyond which operations a second grow by less than 5 % when they double.
    Knee,
}

/// Names as written in a case.
pub(super) const METRICS: [(&str, Metric); 9] = [
    ("iops", Metric::Iops),
    ("throughput", Metric::Throughput),
    ("latency-mean", Metric::LatencyMean),
    ("latency-p50", Metric::LatencyP50),
    ("latency-p99", Metric::LatencyP99),
    ("share-within", Metric::ShareWithin),
    ("time", Metric::Time),
    ("work-rate", Metric::WorkRate),
    ("knee", Metric::Knee),
];

impl Metric {
    /// As written in a case.
    pub fn name(self) -> &'static str {
        METRICS.iter().find(|(_, metric)| *metric == self).map_or("", |(name, _)| name)
    }

    /// The units it can be published in. The first is taken where the case does not say.
    pub(super) fn units(self) -> &'static [Unit] {
        match self {
            Metric::Iops => &[Unit::Iops],
            Metric::Throughput | Metric::WorkRate => {
                &[Unit::MegabytesPerSecond, Unit::MebibytesPerSecond, Unit::GigabytesPerSecond]
            }
            Metric::LatencyMean | Metric::LatencyP50 | Metric::LatencyP99 => {
                &[Unit::Milliseconds, Unit::Microseconds, Unit::Seconds]
            }
            Metric::ShareWithin => &[Unit::Percent],
            Metric::Time => &[Unit::Minutes, Unit::Hours, Unit::Seconds],
            Metric::Knee => &[Unit::Count],
        }
    }
}

/// The unit of a published value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Operations a second.
    Iops,
    /// 1,000,000 bytes a second.
    MegabytesPerSecond,
    /// 1,048,576 bytes a second.
    MebibytesPerSecond,
    /// 1,000,000,000 bytes a second.
    GigabytesPerSecond,
    /// Time.
    Microseconds,
    /// Time.
    Milliseconds,
    /// Time.
    Seconds,
    /// Time.
    Minutes,
    /// Time.
    Hours,
    /// Hundredths.
    Percent,
    /// So many.
    Count,
}

/// Names as written in a case.
pub(super) const UNITS: [(&str, Unit); 11] = [
    ("IOPS", Unit::Iops),
    ("MB/s", Unit::MegabytesPerSecond),
    ("MiB/s", Unit::MebibytesPerSecond),
    ("GB/s", Unit::GigabytesPerSecond),
    ("us", Unit::Microseconds),
    ("ms", Unit::Milliseconds),
    ("s", Unit::Seconds),
    ("minutes", Unit::Minutes),
    ("hours", Unit::Hours),
    ("%", Unit::Percent),
    ("count", Unit::Count),
];

impl Unit {
    /// As written in a case.
    pub fn name(self) -> &'static str {
        UNITS.iter().find(|(_, unit)| *unit == self).map_or("", |(name, _)| name)
    }

    /// What one of it is, in operations a second, bytes a second, seconds, parts of one, or pieces.
    pub fn scale(self) -> f64 {
        match self {
            Unit::Iops | Unit::Seconds | Unit::Count => 1.0,
            Unit::MegabytesPerSecond => 1e6,
            Unit::MebibytesPerSecond => 1_048_576.0,
            Unit::GigabytesPerSecond => 1e9,
            Unit::Microseconds => 1e-6,
            Unit::Milliseconds => 1e-3,
            Unit::Minutes => 60.0,
            Unit::Hours => 3600.0,
            Unit::Percent => 0.01,
        }
    }
}
