//! The whole search: how near it comes, and how often a rate is judged wrongly.

use conduct::search::{Settings, Verdict, search};

use crate::queue::{Case, Queue, Target, cases, promise};

/// What many searches of one case came to.
#[derive(Debug, Default)]
struct Tally {
    searches: u32,
    verdicts: u32,
    wrong: u32,
    far: u32,
    farthest: f64,
    requests: f64,
}

fn many(case: &Case, seeds: std::ops::Range<u64>) -> Tally {
    let mut tally = Tally::default();
    for seed in seeds {
        let settings = Settings {
            promises: vec![promise()],
            within: 0.02,
            look_s: 20.0,
            longest_s: 320.0,
            lowest_per_s: 100.0,
            highest_per_s: 10_000.0,
            seed,
        };
        let mut target =
            Target { queue: Queue::new(case.servers, case.service, seed), limit_s: 5e-3, made: 0.0 };
        let answer = search(&settings, &mut target).unwrap();
        let kept = answer.kept_per_s.expect("a queue keeps it at low rates");
        let off = (answer.edge_per_s.unwrap_or(kept) / case.edge - 1.0).abs();
        for rung in &answer.ladder {
            let below = rung.rate_per_s < case.edge;
            tally.verdicts += u32::from(rung.verdict != Verdict::Undecided);
            tally.wrong += u32::from(match rung.verdict {
                Verdict::Pass => !below,
                Verdict::Fail(_) => below,
                Verdict::Undecided => false,
            });
        }
        tally.searches += 1;
        tally.far += u32::from(off > 0.02 || (kept / case.edge - 1.0).abs() > 0.02);
        tally.farthest = tally.farthest.max(off).max((kept / case.edge - 1.0).abs());
        tally.requests += target.made;
    }
    eprintln!("{} ({:.1}/s): {tally:?}", case.name, case.edge);
    tally
}

#[test]
fn the_edge_of_one_exponential_server_is_the_textbook_one() {
    assert!((cases()[0].edge - 9_078.97).abs() < 0.01);
}

#[test]
fn the_edge_of_a_queue_is_found_within_two_percent() {
    for case in cases() {
        let tally = many(&case, 0..6);
        assert_eq!(tally.far, 0, "{}: {tally:?}", case.name);
        assert!(f64::from(tally.wrong) <= 0.05 * f64::from(tally.verdicts), "{}: {tally:?}", case.name);
    }
}

#[test]
#[ignore = "two hundred searches of each queue take minutes; figures are in benches/RESULTS.md"]
fn the_edge_of_a_queue_is_found_within_two_percent_two_hundred_times() {
    for case in cases() {
        let tally = many(&case, 0..200);
        assert!(f64::from(tally.far) <= 0.05 * f64::from(tally.searches), "{}: {tally:?}", case.name);
        assert!(f64::from(tally.wrong) <= 0.05 * f64::from(tally.verdicts), "{}: {tally:?}", case.name);
    }
}
