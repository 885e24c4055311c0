//! How the clock of one rank runs against that of rank 0.

/// One question and its answer: when it was sent and came back on the clock of rank 0, and when it was answered on the
/// other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sample {
    /// Sent, on the clock of rank 0.
    pub sent_ns: u64,
    /// Answered, on the other clock.
    pub answered_ns: u64,
    /// Back, on the clock of rank 0.
    pub back_ns: u64,
}

impl Sample {
    /// There and back.
    pub(crate) fn way_ns(self) -> u64 {
        self.back_ns.saturating_sub(self.sent_ns)
    }

    fn middle_ns(self) -> i128 {
        i128::from(self.sent_ns) + i128::from(self.way_ns() / 2)
    }

    /// How far the other clock is ahead, wrong by half the way at most (Cristian, Distributed Computing 3, 1989).
    fn offset_ns(self) -> i128 {
        i128::from(self.answered_ns) - self.middle_ns()
    }
}

/// A round trip so short that its half, the uncertainty of the offset, does not matter.
const QUICK_NS: u64 = 150_000;

/// Half of what ranks are to start within, there and back.
const GOOD_NS: u64 = 1_000_000;

/// Where no answer is quick, so many are asked for at least, and at most.
const ASKED_LEAST: usize = 8;
const ASKED_MOST: usize = 64;

/// No longer than this, where answers are slow.
const PATIENCE_NS: u64 = 200_000_000;

/// Whether more `samples` of a clock would not be worth their time: among many ranks on few processors each takes milliseconds, and
/// every clock is asked before every load.
pub(crate) fn is_enough(samples: &[Sample]) -> bool {
    let Some(best) = samples.iter().map(|sample| sample.way_ns()).min() else { return false };
    let took: u64 = samples.iter().map(|sample| sample.way_ns()).sum();
    let is_well_known = best <= GOOD_NS || took >= PATIENCE_NS || samples.len() >= ASKED_MOST;
    best <= QUICK_NS || (samples.len() >= ASKED_LEAST && is_well_known)
}

/// What was seen of one clock: the quickest answers of the first and the last round of questions.
#[derive(Clone, Debug, Default)]
pub struct ClockWatch {
    first: Option<Sample>,
    last: Option<Sample>,
}

/// Shortest time over which drift is estimated.
const LONG_ENOUGH_NS: i128 = 5_000_000_000;

impl ClockWatch {
    /// Adds a round of questions; of each the quickest answer is kept.
    pub fn add(&mut self, samples: &[Sample]) {
        let Some(best) = samples.iter().copied().min_by_key(|sample| sample.way_ns()) else { return };
        self.first.get_or_insert(best);
        self.last = Some(best);
    }

    /// How far the clock is ahead, in nanoseconds; zero where nothing was asked.
    pub fn offset_ns(&self) -> i128 {
        self.last.map_or(0, Sample::offset_ns)
    }

    /// By how much that may be wrong at most.
    pub fn uncertainty_ns(&self) -> u64 {
        self.last.map_or(0, |sample| sample.way_ns().div_ceil(2))
    }

    /// How fast it gains and by how much that may be wrong, in parts per million; `None` where it was watched for less than
    /// five seconds.
    fn gain_ppm(&self) -> Option<(f64, f64)> {
        let (first, last) = (self.first?, self.last?);
        let between = last.middle_ns() - first.middle_ns();
        let ppm = |ns: f64| ns / between as f64 * 1e6;
        let wrong = (first.way_ns() + last.way_ns()) as f64 / 2.0;
        (between >= LONG_ENOUGH_NS).then(|| (ppm((last.offset_ns() - first.offset_ns()) as f64), ppm(wrong)))
    }

    /// How fast it gains, in parts per million; `None` where it was watched for less than five seconds, or gains no more
    /// than what may be wrong of that.
    pub fn drift_ppm(&self) -> Option<f64> {
        self.gain_ppm().filter(|(drift, wrong)| drift.abs() > *wrong).map(|(drift, _)| drift)
    }

    /// By how much its drift may be wrong at most, in parts per million: a clock without a drift gains less than that.
    pub fn drift_uncertainty_ppm(&self) -> Option<f64> {
        self.gain_ppm().map(|(_, wrong)| wrong)
    }

    /// What the clock shows when that of rank 0 shows `at_ns`; zero where it had not begun.
    pub fn there_ns(&self, at_ns: u64) -> u64 {
        u64::try_from(i128::from(at_ns) + self.offset_ns()).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot go on should say where")]

    use super::*;

    /// A clock that is ahead by `ahead` and gains `ppm`, asked at `at` over ways of these lengths.
    fn asked(at: u64, ahead: i64, ppm: f64, (there, back): (u64, u64)) -> Sample {
        let arrived = at + there;
        let gained: i64 = units::convert::truncated(arrived as f64 * ppm / 1e6);
        let answered_ns = u64::try_from(i128::from(arrived) + i128::from(ahead + gained)).unwrap();
        Sample { sent_ns: at, answered_ns, back_ns: at + there + back }
    }

    #[test]
    fn an_offset_is_found_within_its_uncertainty_whichever_way_is_longer() {
        for ahead in [-4_000_000_000_i64, 0, 5_000_000_000] {
            for way in [(50_000, 50_000), (10_000, 900_000), (900_000, 10_000)] {
                let mut watch = ClockWatch::default();
                let slow = asked(9_000_000_000, ahead, 0.0, (20_000_000, 1_000));
                watch.add(&[slow, asked(9_100_000_000, ahead, 0.0, way), slow]);
                let wrong = (watch.offset_ns() - i128::from(ahead)).unsigned_abs();
                assert!(wrong <= u128::from(watch.uncertainty_ns()), "{wrong} {way:?}");
                assert_eq!(watch.uncertainty_ns(), (way.0 + way.1) / 2);
            }
        }
    }

    #[test]
    fn drift_is_told_after_five_seconds_and_is_that_of_the_clock() {
        let mut watch = ClockWatch::default();
        watch.add(&[asked(1_000_000_000, 77, 30.0, (10_000, 10_000))]);
        watch.add(&[asked(2_000_000_000, 77, 30.0, (10_000, 10_000))]);
        assert_eq!(watch.drift_ppm(), None);
        watch.add(&[asked(101_000_000_000, 77, 30.0, (10_000, 10_000))]);
        let drift = watch.drift_ppm().unwrap();
        assert!((drift - 30.0).abs() < 0.1, "{drift}");
        assert!(watch.drift_uncertainty_ppm().unwrap() < 0.3);
    }

    #[test]
    fn a_clock_is_asked_until_its_offset_is_known_well_enough_for_the_start_and_no_longer() {
        let of_way = |way: u64| asked(1_000_000_000, 77, 0.0, (way / 2, way / 2));
        assert!(!is_enough(&[]) && is_enough(&[of_way(140_000)]), "a quick one needs no other");
        assert!(!is_enough(&[of_way(600_000); 7]) && is_enough(&[of_way(600_000); 8]));
        assert!(!is_enough(&[of_way(3_000_000); 63]) && is_enough(&[of_way(3_000_000); 64]));
        assert!(
            !is_enough(&[of_way(47_000_000); 7]) && is_enough(&[of_way(47_000_000); 8]),
            "0.4 s is enough"
        );
    }

    #[test]
    fn a_drift_that_is_within_its_uncertainty_is_no_figure() {
        let mut watch = ClockWatch::default();
        watch.add(&[asked(1_000_000_000, 77, 0.0, (40_000_000, 10_000))]);
        watch.add(&[asked(11_000_000_000, 77, 0.0, (10_000, 40_000_000))]);
        assert_eq!(watch.drift_ppm(), None);
        let wrong = watch.drift_uncertainty_ppm().unwrap();
        assert!((wrong - 4_001.0).abs() < 20.0, "two halves of 40 ms over 10 s: {wrong}");
    }
}
