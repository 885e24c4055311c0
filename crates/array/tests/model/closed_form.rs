//! Queues with known answers: M/M/1, M/M/4 and M/D/1 within 1 % of theory at utilisations 0.5, 0.8 and 0.9.

use array::device::queue::{Queue, QueueParams, Service};
use array::streams::Stream;
use units::convert::truncated;
use units::{Instant, Nanos};

use crate::fixture::{micros, read};

const SERVICE_US: u64 = 1_000;
const REQUESTS: u64 = 20_000_000;

/// Mean response over service time, with Poisson arrivals that keep the servers busy for a share `rho`.
fn response(params: &QueueParams, rho: f64) -> f64 {
    let mut queue = Queue::new(params, 42);
    let mut arrivals = Stream::open(42, "arrivals");
    let gap_ns = SERVICE_US as f64 * 1e3 / (rho * f64::from(params.servers));
    let (mut at, mut sum, mut last) = (0.0, 0u128, Instant::START);
    for _ in 0..REQUESTS {
        at += arrivals.exponential(gap_ns);
        let now = Instant::from_nanos(truncated::<u64>(at));
        let end = queue.submit(now, read(0, 1));
        sum += u128::from((end - now).get());
        last = last.max(end);
    }
    let elapsed = last - Instant::START;
    let meter = queue.meter();
    // Utilisation law: U = X·S. Little's law: N = X·R.
    assert!((meter.utilisation(elapsed, params.servers) / rho - 1.0).abs() < 0.01);
    let mean = sum as f64 / REQUESTS as f64;
    let present = REQUESTS as f64 / elapsed.get() as f64 * mean;
    assert!((meter.mean_present(elapsed) / present - 1.0).abs() < 0.01);
    mean / (SERVICE_US as f64 * 1e3)
}

fn agrees(modelled: f64, theory: f64) {
    assert!((modelled / theory - 1.0).abs() < 0.01, "{modelled} against {theory}");
}

/// The probability that a request waits, with `c` servers (Erlang C).
fn erlang_c(c: u32, rho: f64) -> f64 {
    let load = f64::from(c) * rho;
    let term = |k: u32| (1..=k).fold(1.0, |product, i| product * load / f64::from(i));
    let waiting = term(c) / (1.0 - rho);
    waiting / ((0..c).map(term).sum::<f64>() + waiting)
}

#[test]
fn one_exponential_server_answers_in_one_over_one_minus_rho() {
    let params = QueueParams { servers: 1, service: Service::Exponential(micros(SERVICE_US)) };
    for rho in [0.5, 0.8, 0.9] {
        agrees(response(&params, rho), 1.0 / (1.0 - rho));
    }
}

#[test]
fn four_exponential_servers_follow_erlang() {
    let params = QueueParams { servers: 4, service: Service::Exponential(micros(SERVICE_US)) };
    for rho in [0.5, 0.8, 0.9] {
        agrees(response(&params, rho), 1.0 + erlang_c(4, rho) / (4.0 * (1.0 - rho)));
    }
}

#[test]
fn one_constant_server_has_half_the_wait_of_an_exponential_one() {
    let params = QueueParams { servers: 1, service: Service::Fixed(Nanos::from_micros(SERVICE_US)) };
    for rho in [0.5, 0.8, 0.9] {
        agrees(response(&params, rho), 1.0 + rho / (2.0 * (1.0 - rho)));
    }
}
