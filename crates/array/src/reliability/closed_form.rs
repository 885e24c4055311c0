//! The mean time to data loss in closed form.

use super::{Group, YEAR_H, meets_unreadable};

/// The mean time until a group of disks has lost data, in hours: that of the birth–death chain whose disks die and are
/// rebuilt without memory, each rebuild by itself.
///
/// State `i` has `i` disks gone: it goes up at `(n - i) / mttf_h` and down at `i / mttr_h`. Data are lost above `spare`,
/// and where the last disk that can be done without goes, with the probability that its rebuild meets a bit that cannot be
/// read. With `spare` 1 and no such bits this is the textbook's `((2n - 1) λ + μ) / (n (n - 1) λ²)`; for one in which a
/// rebuild takes no time it is infinite, unless bits cannot be read.
/// Source: Patterson, Gibson & Katz, *A case for redundant arrays of inexpensive disks*, SIGMOD 1988; the chain solved
/// exactly, from the healthy state up.
pub fn mean_time_to_loss_h(group: &Group, mttf_h: f64, mttr_h: f64, unreadable: f64) -> f64 {
    let spare = group.spare.min(group.disks.saturating_sub(1));
    let dies = |gone: u32| f64::from(group.disks - gone) / mttf_h;
    let meets = if spare > 0 { meets_unreadable(group.reads, unreadable) } else { 0.0 };
    // T(i) = alpha + (1 - gamma) T(i + 1). Gamma is carried in place of its rest, which rounds to one.
    let (mut alpha, mut gamma) = (0.0, 1.0);
    // T(0) = sum + rest T(i + 1).
    let (mut sum, mut rest) = (0.0, 1.0);
    for gone in 0..=spare {
        let (up, down) = (dies(gone), f64::from(gone) / mttr_h);
        if down.is_infinite() {
            return match gamma > 0.0 {
                true => alpha / gamma,
                false => f64::INFINITY,
            };
        }
        let lost = if gone == spare {
            1.0
        } else if gone + 1 == spare {
            meets
        } else {
            0.0
        };
        let (from_below, gain) = if gone == 0 { (0.0, 0.0) } else { (down * gamma, down * alpha) };
        let leaves = up + from_below;
        (alpha, gamma) = ((1.0 + gain) / leaves, (up * lost + from_below) / leaves);
        sum += rest * alpha;
        rest *= 1.0 - gamma;
    }
    sum
}

/// The probability that any of `groups` groups with that mean time has lost data within a year.
pub fn loss_in_a_year(groups: u32, mean_time_h: f64) -> f64 {
    -(-f64::from(groups) * YEAR_H / mean_time_h).exp_m1()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reliability::{Question, Weibull, loss};
    use units::Bytes;

    fn group(disks: u32, spare: u32, reads: u64) -> Group {
        Group { disks, spare, reads: Bytes::new(reads) }
    }

    #[test]
    fn the_textbook_formulas_come_out() {
        let (mttf, mttr) = (5e5, 24.0);
        let (fail, repair) = (1.0 / mttf, 1.0 / mttr);
        for disks in [2u32, 5, 14] {
            let n = f64::from(disks);
            let raid5 = ((2.0 * n - 1.0) * fail + repair) / (n * (n - 1.0) * fail * fail);
            let found = mean_time_to_loss_h(&group(disks, 1, 0), mttf, mttr, 0.0);
            assert!((found / raid5 - 1.0).abs() < 1e-9, "{disks} disks: {found} for {raid5}");
        }
        // RAID 6: 2 mu^2 / (n (n-1) (n-2) lambda^3), where rebuilds are short and run side by side.
        let raid6 = 2.0 * repair * repair / (8.0 * 7.0 * 6.0 * fail.powi(3));
        let found = mean_time_to_loss_h(&group(8, 2, 0), mttf, mttr, 0.0);
        assert!((found / raid6 - 1.0).abs() < 2e-3, "{found} for {raid6}");
        let none = mean_time_to_loss_h(&group(4, 0, 0), 4e5, mttr, 1e-15);
        assert!((none / 1e5 - 1.0).abs() < 1e-12, "{none}: the first of four disks");
    }

    #[test]
    fn a_rebuild_of_no_time_loses_only_what_cannot_be_read() {
        assert_eq!(mean_time_to_loss_h(&group(6, 1, 0), 5e5, 0.0, 0.0), f64::INFINITY);
        let found = mean_time_to_loss_h(&group(6, 1, 1_000_000_000_000), 5e5, 0.0, 1e-14);
        let meets = meets_unreadable(Bytes::new(1_000_000_000_000), 1e-14);
        assert!((found * meets * 6.0 / 5e5 - 1.0).abs() < 1e-9, "{found}");
    }

    #[test]
    fn the_closed_form_and_the_simulated_loss_of_a_year_agree() {
        for (disks, spare, reads) in [(6, 1, 0), (6, 1, 4_000_000_000_000), (2, 1, 0), (8, 2, 0)] {
            let (group, mttf_h, mttr_h) = (group(disks, spare, reads), 2e5, 24.0);
            let closed = loss_in_a_year(3, mean_time_to_loss_h(&group, mttf_h, mttr_h, 1e-15));
            let simulated = loss(&Question {
                group,
                groups: 3,
                life: Weibull::exponential(mttf_h),
                age_h: 0.0,
                rebuild: Weibull::exponential(mttr_h),
                unreadable: 1e-15,
                hours: YEAR_H,
                seed: 5,
                histories: 40_000,
            })
            .over_time;
            let reach = 2.0 * (simulated.high - simulated.low);
            assert!((closed - simulated.value).abs() < reach, "{group:?}: {closed:e} and {simulated:?}");
        }
    }
}
