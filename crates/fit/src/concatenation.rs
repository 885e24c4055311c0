//! Members that lie one after the other, each a part of the target: what part is asked decides how many of them work.
//!
//! Where data are striped every part of the target lies on all members. Arms travel less within a part, and caches hold
//! more of it, so that a part is asked no more slowly than the whole; of members laid end to end it is, because the
//! others have nothing to do.

use crate::probe::Probe;

/// What shows that members lie one after the other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Concatenated {
    /// The part of the target that was asked, from its start on.
    pub part: f64,
    /// Requests a second there over those of the whole target.
    pub rate: f64,
    /// Requests in flight, at both.
    pub depth: f64,
}

/// The part that is asked most slowly, where that is so slow that not all members work; `None` where no part is, or none
/// was asked.
pub fn fit(probes: &[Probe]) -> Option<Concatenated> {
    let reads = || probes.iter().filter(|probe| probe.is_read());
    let beside = |part: &Probe| {
        let same =
            |whole: &&Probe| whole.is_everywhere() && (whole.size, whole.depth) == (part.size, part.depth);
        let whole = reads().find(same)?;
        let errors = part.error.hypot(whole.error);
        let rate = part.rate / whole.rate;
        Some((Concatenated { part: part.part?, rate, depth: part.depth }, errors))
            .filter(|_| rate + errors < ALL_WORK)
    };
    let slow = reads().filter(|probe| probe.part.is_some()).filter_map(beside);
    slow.map(|(slow, _)| slow).min_by(|one, two| one.rate.total_cmp(&two.rate))
}

/// Striped arrays of the calibration give 0.98 and more of the whole's rate in a part, concatenated ones 0.64 and less
/// in some part (benches/RESULTS.md, "Calibration of statements").
const ALL_WORK: f64 = 0.85;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::probe::read_alone;

    fn points(rates: [f64; 3]) -> Vec<Probe> {
        let parts = [None, Some(0.5), Some(0.25)];
        let point = |(part, rate)| Probe { part, rate, depth: 256.0, ..read_alone(4096.0, 1e6) };
        parts.into_iter().zip(rates).map(point).collect()
    }

    #[test]
    fn members_that_lie_one_after_the_other_are_told_by_a_part_that_is_slower_than_the_whole() {
        let told = fit(&points([1_000.0, 500.0, 260.0]));
        assert_eq!(told, Some(Concatenated { part: 0.25, rate: 0.26, depth: 256.0 }));
        assert_eq!(fit(&points([1_000.0, 1_000.0, 990.0])), None, "flash, striped");
        assert_eq!(fit(&points([1_000.0, 1_250.0, 1_500.0])), None, "arms that travel less");
        assert_eq!(fit(&points([1_000.0, 500.0, 260.0])[1..]), None, "the whole was not asked alike");
    }
}
