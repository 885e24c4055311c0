//! Slow changes that SNIA's rule lets pass.

use record::{Rounds, Run};

use crate::{find, found, point, reads};

/// The rates of the thirty seconds of the window.
fn rates(run: &mut Run, of: impl Fn(f64) -> f64) {
    let values = &mut point(run).series[0].values;
    values.iter_mut().enumerate().for_each(|(second, value)| *value = of(second as f64));
}

#[test]
fn a_slow_fall_is_told_although_the_common_rule_calls_it_steady() {
    let mut run = reads();
    rates(&mut run, |second| 20_000.0 - 40.0 * second);
    let finding = found(&run, "trend");
    assert!(finding.sentence.contains("fell by 5.6 %"), "{}", finding.sentence);
    assert!(finding.sentence.contains("SNIA's rule calls it steady"), "{}", finding.sentence);
    assert!(find(&run, "not-steady").is_none() && find(&run, "drift").is_none());
    rates(&mut run, |second| 20_000.0 - 10.0 * second);
    assert!(find(&run, "trend").is_none(), "less than the interval tells anyway");
}

#[test]
fn a_clear_drift_is_told_once() {
    let mut run = reads();
    rates(&mut run, |second| 20_000.0 - 200.0 * second);
    assert!(find(&run, "drift").is_some() && find(&run, "trend").is_none());
}

#[test]
fn what_goes_up_and_down_is_not_steady_by_the_common_rule() {
    let mut run = reads();
    rates(&mut run, |second| if ((second / 6.0) as u32).is_multiple_of(2) { 20_000.0 } else { 14_000.0 });
    let finding = found(&run, "not-steady");
    assert!((finding.numbers["range_share"] - 6_000.0 / 17_600.0).abs() < 1e-9, "{finding:?}");
    assert!(find(&run, "trend").is_none());
}

#[test]
fn rounds_that_still_go_one_way_are_told_although_they_are_steady() {
    let mut run = reads();
    let rounds = |values: [f64; 5]| Rounds {
        phase: "4k".into(),
        figure: "iops".into(),
        at: Default::default(),
        values: values.into(),
        most: 25,
        steady: true,
        window: None,
    };
    run.rounds = vec![rounds([100.0, 98.0, 97.0, 95.0, 94.0])];
    let finding = found(&run, "trend");
    assert!(finding.sentence.contains("lower than the one before"), "{}", finding.sentence);
    run.rounds = vec![rounds([100.0, 98.0, 99.0, 95.0, 94.0])];
    assert!(find(&run, "trend").is_none(), "one out of order may be chance");
}
