//! How often each rule judges rightly, at and about the edge of one exponential server.

use conduct::search::{Evidence, Rule, Verdict, judge};
use stats::exceedance::binomial_bounds;
use units::convert::truncated;

use crate::queue::{Case, Queue, cases, slo};

/// Shares of pass, fail and undecided.
type Shares = [f64; 3];

/// What the naive rule, which takes requests for independent, and ours say of `probes` probes of so many requests.
fn shares(case: &Case, offset: f64, requests: f64, probes: u64) -> (Shares, Shares) {
    let rate = case.edge * (1.0 + offset);
    let seconds = requests / rate;
    let (mut naive, mut ours) = ([0.0; 3], [0.0; 3]);
    for probe in 0..probes {
        let mut queue = Queue::new(case.servers, case.service, 1_000 + probe);
        let batches = queue.batches(rate, seconds, seconds / 30.0, 5e-3, 1.0);
        let sum =
            |of: fn(&stats::exceedance::Batch) -> f64| truncated::<u64>(batches.iter().map(of).sum::<f64>());
        let bounds = binomial_bounds(sum(|one| one.sum), sum(|one| one.count), 0.95);
        let index = if bounds.high < 0.01 { 0 } else { 1 + usize::from(bounds.low <= 0.01) };
        naive[index] += 1.0 / probes as f64;
        let completed = sum(|one| one.count);
        let evidence = Evidence {
            seconds,
            asked: completed as f64,
            completed,
            issued: completed,
            batches: vec![batches],
            ..Evidence::default()
        };
        let index = match judge(&evidence, &[slo()], Rule { confidence: 0.95, takes_clear: true }) {
            Verdict::Pass => 0,
            Verdict::Fail(_) => 1,
            Verdict::Undecided => 2,
        };
        ours[index] += 1.0 / probes as f64;
    }
    (naive, ours)
}

fn close(found: Shares, stated: Shares, within: f64, what: &str) {
    let near = found.iter().zip(stated).all(|(found, stated)| (found - stated).abs() <= within);
    assert!(near, "{what}: {found:.2?} found, {stated:.2?} stated");
}

/// Offset from the edge, requests of a probe, shares of the naive rule and of batch means.
///
/// Where the batches decide, independent requests would have decided long before: so theirs are the shares of both
/// rules together.
const TABLE: [(f64, f64, Shares, Shares); 8] = [
    (-0.02, 20e3, [0.86, 0.10, 0.04], [0.60, 0.00, 0.40]),
    (-0.02, 500e3, [1.00, 0.00, 0.00], [0.81, 0.00, 0.19]),
    (0.0, 100e3, [0.53, 0.41, 0.06], [0.14, 0.02, 0.84]),
    (0.0, 500e3, [0.50, 0.42, 0.07], [0.10, 0.03, 0.87]),
    (0.01, 20e3, [0.50, 0.45, 0.05], [0.22, 0.06, 0.72]),
    (0.01, 100e3, [0.25, 0.71, 0.04], [0.04, 0.12, 0.84]),
    (0.01, 500e3, [0.07, 0.92, 0.01], [0.00, 0.42, 0.58]),
    (0.02, 500e3, [0.00, 1.00, 0.00], [0.00, 0.95, 0.05]),
];

#[test]
fn taking_requests_for_independent_is_a_coin_toss_near_the_edge_and_both_rules_together_are_not() {
    let case = &cases()[0];
    for (offset, requests, stated, batches) in TABLE.into_iter().filter(|row| row.1 < 200e3) {
        let (naive, ours) = shares(case, offset, requests, 200);
        let what = format!("{offset:+} with {requests} requests");
        eprintln!("{what}: independent {naive:.2?}, both {ours:.2?}");
        // 200 probes know a share of a half to 0.035: three of them.
        close(naive, stated, 0.11, &what);
        close(ours, batches, 0.11, &what);
        let wrong = if offset > 0.0 { ours[0] } else { ours[1] };
        let naive_wrong = if offset > 0.0 { naive[0] } else { naive[1] };
        assert!(wrong < naive_wrong, "{what}: {ours:.2?}");
    }
}

#[test]
#[ignore = "a thousand million requests; figures are in benches/RESULTS.md"]
fn the_whole_table() {
    let case = &cases()[0];
    for (offset, requests, stated, batches) in TABLE {
        let (naive, ours) = shares(case, offset, requests, 200);
        let what = format!("{offset:+} with {requests} requests");
        eprintln!("{what}: independent {naive:.2?}, both {ours:.2?}");
        close(naive, stated, 0.11, &what);
        close(ours, batches, 0.11, &what);
    }
    for offset in [-0.01, 0.01] {
        let (naive, ours) = shares(case, offset, 2e6, 200);
        eprintln!("{offset:+} with 2M requests: independent {naive:.2?}, both {ours:.2?}");
        let right = usize::from(offset > 0.0);
        assert!(ours[right] > 0.8 && ours[1 - right] < 0.02, "{offset:+}: {ours:.2?}");
    }
}
