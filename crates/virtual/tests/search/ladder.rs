//! The whole search: how near it comes, and how often a rate is judged wrongly.

use conduct::search::{Evidence, Prober, Purpose, SearchOptions, Settings, Slo, Trial, Verdict, search};

use crate::queue::{Case, Queue, Service, Target, cases, slo, tail};

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

fn settings(seed: u64) -> Settings {
    settings_of(slo(), seed)
}

fn settings_of(slo: Slo, seed: u64) -> Settings {
    let longest = SearchOptions::longest_for(&[slo]);
    Settings {
        slos: vec![slo],
        within: 0.02,
        look_s: 20.0,
        longest_s: longest.as_secs_f64() / 15.0 * 20.0,
        lowest_per_s: 100.0,
        highest_per_s: 10_000.0,
        bound_per_s: None,
        seed,
    }
}

fn many(case: &Case, seeds: std::ops::Range<u64>) -> Tally {
    let mut tally = Tally::default();
    for seed in seeds {
        let settings = settings_of(case.slo, seed);
        let mut target =
            Target { queue: Queue::new(case.servers, case.service, seed), limit_s: 5e-3, made: 0.0 };
        let answer = search(&settings, &mut target).unwrap();
        let kept = answer.met_per_s.expect("a queue keeps it at low rates");
        let off = (answer.edge_per_s.unwrap_or(kept) / case.edge - 1.0).abs();
        for rung in &answer.ladder {
            let below = rung.rate_per_s < case.edge;
            tally.verdicts += u32::from(rung.verdict != Verdict::Undecided);
            let is_wrong = match rung.verdict {
                Verdict::Pass => !below,
                Verdict::Fail(_) => below,
                Verdict::Undecided => false,
            };
            if is_wrong {
                let (purpose, seconds) = (rung.purpose, rung.evidence.seconds);
                eprintln!(
                    "seed {seed}: {:.1}/s {purpose:?} {seconds} s: {:?}",
                    rung.rate_per_s, rung.verdict
                );
            }
            tally.wrong += u32::from(is_wrong);
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

/// A server that loses a fifth of its speed once it was overloaded, until it is left alone.
struct Bistable {
    queue: Target,
    is_slow: bool,
    rests: u32,
}

impl Prober for Bistable {
    type Error = std::convert::Infallible;

    fn look(&mut self, trial: Trial) -> Result<Option<Evidence>, Self::Error> {
        self.is_slow |= trial.rate_per_s > 10_000.0;
        self.queue.queue.service = Service::Exponential(if self.is_slow { 1.25e-4 } else { 1e-4 });
        self.queue.look(trial)
    }

    fn rest(&mut self) -> Result<(), Self::Error> {
        self.is_slow = false;
        self.rests += 1;
        Ok(())
    }
}

fn bistable(seed: u64) -> Bistable {
    let queue = Queue::new(1, Service::Exponential(1e-4), seed);
    Bistable { queue: Target { queue, limit_s: 5e-3, made: 0.0 }, is_slow: false, rests: 0 }
}

#[test]
fn where_the_edge_is_another_from_above_both_are_found() {
    // 10,000 and 8,000 requests a second less ln(100) / 5 ms.
    let (below, above) = (9_078.97, 7_078.97);
    for seed in 0..3 {
        let mut target = bistable(seed);
        let answer = search(&settings(seed), &mut target).unwrap();
        let (kept, after) = (answer.met_per_s.unwrap(), answer.after_overload_per_s.unwrap());
        assert!((kept / below - 1.0).abs() < 0.02, "{kept} from below");
        assert!((after / above - 1.0).abs() < 0.03, "{after} from above");
        let failed = answer.ladder.iter().filter(|rung| matches!(rung.verdict, Verdict::Fail(_)));
        let waited = failed.filter(|rung| rung.purpose != Purpose::Overload).count();
        assert_eq!(target.rests as usize, waited, "after every rate that failed");
    }
}

#[test]
fn a_target_without_a_memory_has_one_edge() {
    for case in cases() {
        let queue = Queue::new(case.servers, case.service, 1);
        let mut target = Target { queue, limit_s: 5e-3, made: 0.0 };
        assert_eq!(search(&settings(1), &mut target).unwrap().after_overload_per_s, None, "{}", case.name);
    }
}

#[test]
fn the_winner_is_tried_again_for_as_long_as_it_needs() {
    let mut target = bistable(5);
    let answer = search(&settings(5), &mut target).unwrap();
    let needs_s = answer.confirm_needs_s.expect("a rate that was kept has room to its limit");
    let again = answer.ladder.iter().filter(|rung| rung.purpose == Purpose::Confirm);
    for rung in again {
        assert!(
            rung.evidence.seconds >= needs_s.clamp(20.0, 320.0) - 1.0,
            "{needs_s}: {}",
            rung.evidence.seconds
        );
    }
}

#[test]
fn a_bound_is_kept_even_by_overloads() {
    let bound = Settings { lowest_per_s: 2_000.0, bound_per_s: Some(9_500.0), ..settings(1) };
    let answer = search(&bound, &mut bistable(1)).unwrap();
    assert!(answer.ladder.iter().all(|rung| (2_000.0..=9_500.0).contains(&rung.rate_per_s)));
    assert!((answer.met_per_s.unwrap() / 9_078.97 - 1.0).abs() < 0.02);
    let low = Settings { bound_per_s: Some(5_000.0), ..bound };
    let answer = search(&low, &mut bistable(1)).unwrap();
    assert_eq!((answer.met_per_s, answer.violated_per_s), (Some(5_000.0), None));
    assert!(answer.confirmed);
}

fn two_hundred_searches(case: &Case) {
    let searches = std::env::var("SEARCHES").ok().and_then(|count| count.parse().ok()).unwrap_or(200);
    let tally = many(case, 0..searches);
    assert!(f64::from(tally.far) <= 0.05 * f64::from(tally.searches), "{}: {tally:?}", case.name);
    assert!(f64::from(tally.wrong) <= 0.01 * f64::from(tally.verdicts), "{}: {tally:?}", case.name);
}

#[test]
#[ignore = "two hundred searches take minutes; figures are in benches/RESULTS.md"]
fn the_edge_of_one_exponential_server_is_found_within_two_percent_two_hundred_times() {
    two_hundred_searches(&cases()[0]);
}

#[test]
#[ignore = "two hundred searches take a quarter of an hour; figures are in benches/RESULTS.md"]
fn the_edge_of_a_percentile_beyond_p99_is_found_within_two_percent_two_hundred_times() {
    two_hundred_searches(&tail());
}

#[test]
#[ignore = "two hundred searches take minutes; figures are in benches/RESULTS.md"]
fn the_edge_of_one_constant_server_is_found_within_two_percent_two_hundred_times() {
    two_hundred_searches(&cases()[1]);
}

#[test]
#[ignore = "two hundred searches take minutes; figures are in benches/RESULTS.md"]
fn the_edge_of_four_exponential_servers_is_found_within_two_percent_two_hundred_times() {
    two_hundred_searches(&cases()[2]);
}
