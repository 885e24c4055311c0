//! One figure of IOzone: what a pass moved over how long it took.

use record::{Point, WorkloadResult};
use units::convert::truncated;
use units::{Bytes, Share};
use workload::spec::{Extent, Pace, Pattern, Zone};

use super::grid::Pair;
use super::pass::{Pass, Walk};

/// What figures are in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Unit {
    /// KiB a second.
    #[default]
    Kilobytes,
    /// Records a second (`-O`).
    Operations,
    /// Microseconds a record (`-N`).
    Microseconds,
}

impl Unit {
    /// After a figure of the throughput test.
    pub fn label(self) -> &'static str {
        match self {
            Unit::Kilobytes => "kB/sec",
            Unit::Operations => "ops/sec",
            Unit::Microseconds => "usec/op",
        }
    }

    /// The line that says what figures are in.
    pub fn sentence(self) -> &'static str {
        match self {
            Unit::Kilobytes => "Output is in kBytes/sec",
            Unit::Operations => "OPS Mode. Output is in operations per second.",
            Unit::Microseconds => "Microseconds/op Mode. Output is in microseconds per operation.",
        }
    }
}

/// What was moved in which time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Timed {
    /// Bytes of all records.
    pub bytes: u64,
    /// How many were moved.
    pub records: u64,
    /// From the first record to the last, with the flush where it is included.
    pub elapsed_ns: u64,
}

impl Timed {
    /// What a workload moved.
    pub fn of(workload: &WorkloadResult) -> Timed {
        let moving = workload.classes.iter().filter(|class| class.bytes > 0);
        let (bytes, records) =
            moving.fold((0, 0), |(bytes, ops), class| (bytes + class.bytes, ops + class.ops));
        let elapsed_ns = match workload.spec.pace {
            // What was waited before each record is in no figure.
            Pace::Think(_) => truncated::<u64>(busy_ns(workload)).max(1),
            _ => workload.measured_ns,
        };
        Timed { bytes, records, elapsed_ns }
    }

    /// The figure; zero where nothing was moved.
    pub fn rate(self, unit: Unit) -> f64 {
        if self.elapsed_ns == 0 || self.records == 0 {
            return 0.0;
        }
        let seconds = self.elapsed_ns as f64 / 1e9;
        debug_assert!(seconds > 0.0 && self.records > 0, "a rate is of something in some time");
        match unit {
            Unit::Kilobytes => self.bytes as f64 / 1024.0 / seconds,
            Unit::Operations => self.records as f64 / seconds,
            Unit::Microseconds => seconds * 1e6 / self.records as f64,
        }
    }

    /// The figure of the tables: without what is behind the point.
    pub fn whole(self, unit: Unit) -> u64 {
        truncated::<u64>(self.rate(unit))
    }
}

/// The time that one request after the other took, without what was between them.
fn busy_ns(workload: &WorkloadResult) -> f64 {
    let took = |class: &record::Class| class.response.sum_ns as f64 / class.response.count.max(1) as f64;
    workload.classes.iter().map(|class| took(class) * class.ops as f64).sum()
}

/// What a point of a single stream measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cell {
    /// Sizes of file and record.
    pub pair: Pair,
    /// What was done.
    pub pass: Pass,
    /// What came of it.
    pub timed: Timed,
    /// Seconds of processors over those of the pass, in hundredths of a percent; `None` where there is no processor.
    pub cpu: Option<u64>,
}

/// The name of the phase that measures `pass` with `pair`.
pub(super) fn phase_name(pair: Pair, pass: Pass) -> String {
    format!("{} kB, {} kB: {}", pair.file_kib, pair.record_kib, pass.name())
}

/// The sizes and the pass of the phase of that name; `None` of any other.
pub(super) fn named(phase: &str) -> Option<(Pair, Pass)> {
    let (sizes, pass) = phase.split_once(": ")?;
    let (file, record) = sizes.split_once(", ")?;
    let kib = |text: &str| text.strip_suffix(" kB")?.parse().ok().filter(|size| *size > 0);
    Some((Pair { file_kib: kib(file)?, record_kib: kib(record)? }, Pass::named(pass)?))
}

impl Cell {
    /// What a point of IOzone's own plans measures.
    pub fn of_own(point: &Point) -> Option<Cell> {
        let (pair, pass) = named(&point.phase)?;
        let [workload] = &point.workloads[..] else { return None };
        let timed = Timed::of(workload);
        Some(Cell { pair, pass, timed, cpu: cpu_of(point, timed) })
    }

    /// What any point with one workload of one kind of request measures, as near as IOzone has a pass for it.
    pub fn of(point: &Point) -> Option<Cell> {
        if let Some(cell) = Cell::of_own(point) {
            return Some(cell);
        }
        let [workload] = &point.workloads[..] else { return None };
        let mut moving = workload.classes.iter().filter(|class| class.bytes > 0);
        let (Some(class), None) = (moving.next(), moving.next()) else { return None };
        let writes = match class.op {
            record::Op::Write => true,
            record::Op::Read => false,
            _ => return None,
        };
        let timed = Timed::of(workload);
        let span = workload.span_bytes.unwrap_or(timed.bytes);
        let walk = match &workload.spec.pattern {
            _ if writes && span == class.size_bytes => Walk::SameRecord,
            pattern if writes && is_one_record(pattern, class.size_bytes) => Walk::SameRecord,
            Pattern::Sequential | Pattern::Interlocked => Walk::Forwards,
            Pattern::Reverse | Pattern::ReverseStride(_) => Walk::Backwards,
            Pattern::Stride(_) | Pattern::StrideOf { .. } => Walk::Strided,
            Pattern::Random | Pattern::RandomWithRepeats => Walk::Random,
            _ => return None,
        };
        let pass = Pass::all().find(|pass| pass.walk() == walk && pass.writes() == writes)?;
        let file_kib = if span == class.size_bytes { timed.bytes } else { span } >> 10;
        let record_kib = class.size_bytes >> 10;
        (record_kib > 0 && file_kib >= record_kib).then_some(Cell {
            pair: Pair { file_kib, record_kib },
            pass,
            timed,
            cpu: cpu_of(point, timed),
        })
    }
}

/// What processors were busy of a pass, in hundredths of a percent.
fn cpu_of(point: &Point, timed: Timed) -> Option<u64> {
    let seconds = timed.elapsed_ns as f64 / 1e9;
    point.cpu.filter(|_| seconds > 0.0).map(|cpu| truncated::<u64>(cpu.total_s() / seconds * 1e4))
}

/// Whether a pattern with zones has a single one, as large as a record.
fn is_one_record(pattern: &Pattern, record_bytes: u64) -> bool {
    let record = Zone { requests: Share::ALL, span: Extent::Bytes(Bytes::new(record_bytes)) };
    matches!(pattern, Pattern::Zones(zones) if zones[..] == [record])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_is_kibibytes_a_second_cut_to_a_whole_number() {
        let timed = Timed { bytes: 64 << 10, records: 16, elapsed_ns: 37_000 };
        assert_eq!(timed.whole(Unit::Kilobytes), 1_729_729);
        assert_eq!(timed.whole(Unit::Operations), 432_432);
        assert_eq!(timed.whole(Unit::Microseconds), 2);
        assert_eq!(Timed::default().whole(Unit::Microseconds), 0);
    }

    #[test]
    fn one_hot_record_is_known_by_the_pattern() {
        assert!(is_one_record(&"hot(100% in 64KiB)".parse().unwrap(), 64 << 10));
        for other in ["hot(100% in 64KiB)", "hot(90% in 4KiB)", "hot(100% in 5%)", "random"] {
            assert!(!is_one_record(&other.parse().unwrap(), 4 << 10), "{other}");
        }
    }

    #[test]
    fn a_phase_is_known_by_its_name() {
        for pass in Pass::all() {
            let pair = Pair { file_kib: 1 << 20, record_kib: 4 };
            assert_eq!(named(&phase_name(pair, pass)), Some((pair, pass)));
        }
        for other in ["", "64 kB, 0 kB: read", "64 kB, 4 kB: flush", "a, b: read"] {
            assert_eq!(named(other), None, "{other}");
        }
    }
}
