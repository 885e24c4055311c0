//! The workers of one workload follow one schedule: together they ask exactly as its pace says.

use units::convert::truncated;
use units::{Instant, Nanos, OpsPerSecond};
use workload::Job;
use workload::spec::*;

use crate::world::{Answer, Servers, drive_all, specs, workload};

const MS: Nanos = Nanos::from_millis(1);
const US: Nanos = Nanos::from_micros(1);

fn together(pace: Pace, workers: u32, depth: u32, seconds: u64) -> Vec<Job> {
    let stop = Stop { run: Some(Nanos::from_secs(seconds)), ops: None, ..workload().stop };
    specs(&Workload { pace, workers, depth, stop, ..workload() }).into_iter().map(Job::new).collect()
}

fn paced(rate: f64, spacing: Spacing) -> Pace {
    Pace::Open(Schedule { rate: OpsPerSecond::new(rate), spacing, overflow: Overflow::Queue })
}

/// The instants at which all workers issue, in order; each has a server for every request.
fn issued(pace: Pace, workers: u32, seconds: u64) -> Vec<u64> {
    let mut jobs = together(pace, workers, 64, seconds);
    let answers = drive_all(&mut jobs, &mut Servers::new(256, US), None);
    let mut at: Vec<u64> = answers.iter().map(|(_, answer)| answer.issued.nanos()).collect();
    at.sort_unstable();
    at
}

#[test]
fn even_arrivals_are_evenly_spaced_over_all_workers_to_the_nanosecond() {
    for workers in [1, 3, 4, 7] {
        let at = issued(paced(3000.0, Spacing::Even), workers, 2);
        let wanted: Vec<u64> =
            (0..6000).map(|number| truncated::<u64>(f64::from(number) * (1e9 / 3000.0))).collect();
        assert_eq!(at, wanted, "{workers} workers");
    }
}

/// The largest distance between the distribution of `gaps` and an exponential one of that mean, times the root of
/// their number: above 1.63 in one of a hundred draws from it (Kolmogorov).
fn from_exponential(mut gaps: Vec<f64>, mean: f64) -> f64 {
    gaps.sort_by(f64::total_cmp);
    let count = gaps.len() as f64;
    let distance = |(index, gap): (usize, &f64)| {
        let law = 1.0 - (-gap / mean).exp();
        (law - index as f64 / count).abs().max((law - (index + 1) as f64 / count).abs())
    };
    gaps.iter().enumerate().map(distance).fold(0.0, f64::max) * count.sqrt()
}

#[test]
fn poisson_arrivals_of_four_workers_are_together_one_poisson_process() {
    let at = issued(paced(10_000.0, Spacing::Poisson), 4, 20);
    let gaps = |at: &[u64]| at.windows(2).map(|pair| (pair[1] - pair[0]) as f64).collect::<Vec<f64>>();
    let distance = from_exponential(gaps(&at), 1e9 / 10_000.0);
    assert!(distance < 1.63, "{distance}: the gaps are not exponential");
    // Dealt in turn instead, four to a worker, gaps are far too even: the test would see it.
    let every_fourth: Vec<u64> = at.iter().copied().step_by(4).collect();
    assert!(from_exponential(gaps(&every_fourth), 4e9 / 10_000.0) > 10.0);
    // Counts of a tenth of a second scatter as those of a Poisson process: variance over mean is 1 ± 0.1 (one sigma).
    let mut counts = vec![0f64; 200];
    at.iter().for_each(|at| counts[(at / 100_000_000) as usize % 200] += 1.0);
    let mean = counts.iter().sum::<f64>() / 200.0;
    let variance = counts.iter().map(|count| (count - mean).powi(2)).sum::<f64>() / 199.0;
    assert!((0.7..1.3).contains(&(variance / mean)), "{variance} of {mean}");
}

#[test]
fn bursts_of_all_workers_begin_and_end_together() {
    let (on, off) = (Nanos::from_millis(200), Nanos::from_millis(300));
    let at = issued(paced(20_000.0, Spacing::OnOff { on, off }), 4, 5);
    assert!(at.iter().all(|at| at % 500_000_000 <= 200_000_000), "nobody asks in a pause");
    for burst in 0..10 {
        let within = at.iter().filter(|at| *at / 500_000_000 == burst).count() as f64;
        // 4,000 are expected; five standard deviations are 316.
        assert!((within - 4000.0).abs() < 316.0, "{within} in burst {burst}");
    }
}

#[test]
fn the_rate_that_is_asked_is_reached_up_to_four_fifths_of_what_the_servers_can() {
    // Two servers of 50 µs can do 40,000 requests a second.
    for part in [0.2, 0.5, 0.8] {
        let rate = 40_000.0 * part;
        for (spacing, seconds) in [(Spacing::Even, 5), (Spacing::Poisson, 25)] {
            let mut jobs = together(paced(rate, spacing), 4, 64, seconds);
            drive_all(&mut jobs, &mut Servers::new(2, US * 50), None);
            let done: u64 = jobs.into_iter().map(|job| job.into_tally().ops()).sum();
            let reached = done as f64 / seconds as f64;
            assert!((reached / rate - 1.0).abs() < 0.005, "{reached}/s of {rate}/s, {spacing:?}");
        }
    }
}

#[test]
fn a_worker_that_is_held_up_loses_none_of_its_arrivals_and_is_charged_for_them() {
    let at = |ms: u64| Instant::from_nanos(ms * 1_000_000);
    let mut jobs = together(paced(4000.0, Spacing::Even), 4, 8, 2);
    let hold = Some((2, at(500), at(1500)));
    let answers = drive_all(&mut jobs, &mut Servers::new(64, US * 10), hold);
    let of = |worker: usize| answers.iter().filter(|(own, _)| *own == worker).count();
    assert_eq!([0, 1, 2, 3].map(of), [2000; 4], "each does its quarter of 8,000");
    let none_late = |(worker, answer): &(usize, Answer)| {
        *worker == 2 || answer.finished.saturating_since(answer.issued) == US * 10
    };
    assert!(answers.iter().all(none_late));
    let tallies: Vec<_> = jobs.into_iter().map(Job::into_tally).collect();
    let lag = |worker: usize| tallies[worker].classes[0].lag.as_ref().unwrap().clone();
    assert_eq!(lag(0).max(), Some(Nanos::ZERO));
    // A thousand arrivals of one second waited half a second on average.
    let late = lag(2);
    let quantile = late.quantile(0.75).unwrap().as_secs_f64();
    assert!((0.49..0.52).contains(&quantile), "a quarter of them waited more than {quantile} s");
    assert!(tallies.iter().all(|tally| tally.dropped == 0 && tally.not_issued == 0));
    assert!(lag(2).max().unwrap() >= MS * 990);
}
