//! When requests are due, issued and late.

use units::{Nanos, OpsPerSecond};
use workload::spec::*;

use crate::world::{Servers, drive, job, workload};

const MS: Nanos = Nanos::from_millis(1);

fn for_a_second(pace: Pace, depth: u32) -> Workload {
    let stop = Stop { run: Some(Nanos::from_secs(1)), ops: None, ..workload().stop };
    Workload { pace, depth, stop, ..workload() }
}

#[test]
fn think_time_separates_the_requests_of_a_slot() {
    let mut job = job(&for_a_second(Pace::Think(MS * 9), 2));
    let answers = drive(&mut job, &mut Servers::new(2, MS));
    assert_eq!(answers.len(), 200, "two slots, ten milliseconds a round");
    assert!(answers.iter().all(|answer| answer.finished - answer.issued == MS));
}

#[test]
fn an_even_rate_is_kept_when_the_target_can() {
    let mut job = job(&for_a_second(Pace::Even(OpsPerSecond::new(500.0)), 4));
    let answers = drive(&mut job, &mut Servers::new(1, MS));
    let tally = job.into_tally();
    assert_eq!(answers.len(), 500);
    assert_eq!(tally.classes[0].lag.as_ref().unwrap().max(), Some(Nanos::ZERO));
}

#[test]
fn response_counts_from_the_due_instant_when_the_target_cannot_keep_up() {
    // A thousand a second asked of a server that does five hundred: the last one issued is half a second late.
    let mut job = job(&for_a_second(Pace::Even(OpsPerSecond::new(1000.0)), 1));
    drive(&mut job, &mut Servers::new(1, MS * 2));
    let tally = job.into_tally();
    let class = &tally.classes[0];
    let (response, service) = (class.response.max().unwrap(), class.service.as_ref().unwrap().max().unwrap());
    assert_eq!(service, MS * 2);
    assert!((499..=503).contains(&(response.get() / 1_000_000)), "{response}");
    assert_eq!(class.lag.as_ref().unwrap().max().unwrap() + service, response);
}

#[test]
fn a_closed_loop_keeps_one_histogram_because_response_is_service() {
    let mut job = job(&workload());
    drive(&mut job, &mut Servers::new(1, MS));
    assert!(job.into_tally().classes[0].service.is_none());
}

#[test]
fn a_stall_is_charged_to_every_request_that_fell_due_in_it() {
    let mut job = job(&for_a_second(Pace::Even(OpsPerSecond::new(1000.0)), 1));
    let mut servers = Servers::new(1, Nanos::from_micros(10));
    servers.free_at[0] = units::Instant::from_nanos(500_000_000);
    drive(&mut job, &mut servers);
    let tally = job.into_tally();
    // Those due in the first half second waited for its rest: a quarter of all waited over 250 ms.
    let upper_quartile = tally.classes[0].response.quantile(0.75).unwrap();
    assert!((245..=255).contains(&(upper_quartile.get() / 1_000_000)), "{upper_quartile}");
    let service = tally.classes[0].service.as_ref().unwrap();
    assert!(service.quantile(0.75).unwrap() < MS, "the service histogram shows none of it");
}
