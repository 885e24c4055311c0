//! Queues whose answer is known: Poisson arrivals at servers that share one line.

use array::streams::Stream;
use conduct::search::{Evidence, Prober, Slo, Trial};
use stats::exceedance::Batch;
use units::convert::truncated;

/// How long a server takes.
#[derive(Clone, Copy, Debug)]
pub enum Service {
    Exponential(f64),
    Fixed(f64),
}

/// A queue at work; all times in seconds.
pub struct Queue {
    pub free_at: Vec<f64>,
    pub service: Service,
    pub now: f64,
    arrivals: Stream,
    services: Stream,
}

impl Queue {
    pub fn new(servers: usize, service: Service, seed: u64) -> Queue {
        let stream = |name: &str| Stream::open(seed, name);
        Queue {
            free_at: vec![0.0; servers],
            service,
            now: 0.0,
            arrivals: stream("arrivals"),
            services: stream("services"),
        }
    }

    /// The response time of the next request at that rate.
    fn next(&mut self, rate: f64) -> f64 {
        self.now += self.arrivals.exponential(1.0 / rate);
        let service = match self.service {
            Service::Exponential(mean) => self.services.exponential(mean),
            Service::Fixed(time) => time,
        };
        let mut first = 0;
        for server in 1..self.free_at.len() {
            if self.free_at[server] < self.free_at[first] {
                first = server;
            }
        }
        let end = self.free_at[first].max(self.now) + service;
        self.free_at[first] = end;
        end - self.now
    }

    /// `seconds` at `rate` in batches of `batch_s`, after a warm-up.
    pub fn batches(&mut self, rate: f64, seconds: f64, batch_s: f64, limit: f64, warm_s: f64) -> Vec<Batch> {
        let until = self.now + warm_s;
        while self.now < until {
            self.next(rate);
        }
        let from = self.now;
        let mut batches = vec![Batch::default(); truncated::<usize>((seconds / batch_s).round())];
        loop {
            let response = self.next(rate);
            let index = truncated::<usize>((self.now - from) / batch_s);
            let Some(batch) = batches.get_mut(index) else { return batches };
            batch.count += 1.0;
            batch.sum += f64::from(response > limit);
        }
    }
}

/// A queue as a target of a search, for one SLO of a quantile.
pub struct Target {
    pub queue: Queue,
    pub limit_s: f64,
    /// Requests made so far.
    pub made: f64,
}

impl Prober for Target {
    type Error = std::convert::Infallible;

    fn look(&mut self, trial: Trial) -> Result<Option<Evidence>, Self::Error> {
        // The queue is empty after each load, as a driver lets it drain.
        self.queue.free_at.fill(0.0);
        let batches = self.queue.batches(trial.rate_per_s, trial.seconds, 1.0, self.limit_s, 1.0);
        let completed: f64 = batches.iter().map(|batch| batch.count).sum();
        let backlog = (self.queue.free_at.iter().copied().fold(0.0, f64::max) - self.queue.now).max(0.0);
        // What is still in the queue at the end has not ended within the load.
        let unfinished = if backlog > 1.0 { completed * backlog / (trial.seconds + backlog) } else { 0.0 };
        self.made += completed;
        Ok(Some(Evidence {
            seconds: trial.seconds,
            asked: trial.rate_per_s * trial.seconds,
            completed: truncated::<u64>(completed - unfinished),
            issued: truncated::<u64>(completed),
            batches: vec![batches],
            ..Evidence::default()
        }))
    }
}

/// A target with an SLO and the exact rate at which it breaks.
pub struct Case {
    pub name: &'static str,
    pub servers: usize,
    pub service: Service,
    pub slo: Slo,
    pub edge: f64,
}

/// The SLO that all cases are asked for.
pub fn slo() -> Slo {
    "p99<5ms".parse().unwrap()
}

/// One exponential server, one constant one and four exponential ones, each good for 10,000 requests a second.
pub fn cases() -> [Case; 3] {
    [
        case("M/M/1", 1, Service::Exponential(1e-4), root(beyond_mm1, 0.01)),
        case("M/D/1", 1, Service::Fixed(1e-4), root(beyond_md1, 0.01)),
        case("M/M/4", 4, Service::Exponential(4e-4), root(beyond_mm4, 0.01)),
    ]
}

fn case(name: &'static str, servers: usize, service: Service, edge: f64) -> Case {
    Case { name, servers, service, slo: slo(), edge }
}

/// One exponential server, of which one request in a thousand may be beyond the limit.
pub fn tail() -> Case {
    let slo = "p99.9<5ms".parse().unwrap();
    let edge = root(beyond_mm1, 0.001);
    Case { name: "M/M/1, p99.9", servers: 1, service: Service::Exponential(1e-4), slo, edge }
}

const LIMIT_S: f64 = 5e-3;

/// P(response > 5 ms) at a rate: e^{-(μ-λ)x}.
fn beyond_mm1(rate: f64) -> f64 {
    (-(1e4 - rate) * LIMIT_S).exp()
}

/// The waiting time of M/D/1 has an exponential tail (1-ρ)/(λD·e^{θD} - 1)·e^{-θt} with θ = λ(e^{θD} - 1); fifty
/// service times out the rest of the series has vanished.
/// Source: Tijms, *A First Course in Stochastic Models*, section 9.2.
fn beyond_md1(rate: f64) -> f64 {
    let service: f64 = 1e-4;
    let (mut low, mut high): (f64, f64) = (1e-3, 1e5);
    for _ in 0..200 {
        let theta = (low + high) / 2.0;
        if rate * ((theta * service).exp() - 1.0) < theta { low = theta } else { high = theta }
    }
    let theta = low;
    let scale = (1.0 - rate * service) / (rate * service * (theta * service).exp() - 1.0);
    scale * (-theta * (LIMIT_S - service)).exp()
}

/// Who waits, waits exponentially with cμ-λ, and is then served exponentially with μ.
fn beyond_mm4(rate: f64) -> f64 {
    let (own, load) = (2_500.0, rate / 2_500.0);
    let term = |k: u32| (1..=k).fold(1.0, |product, i| product * load / f64::from(i));
    let waiting = term(4) / (1.0 - load / 4.0);
    let waits = waiting / ((0..4).map(term).sum::<f64>() + waiting);
    let spare = 1e4 - rate;
    let both = (spare * (-own * LIMIT_S).exp() - own * (-spare * LIMIT_S).exp()) / (spare - own);
    (1.0 - waits) * (-own * LIMIT_S).exp() + waits * both
}

/// The rate at which that share is beyond the limit.
fn root(beyond: fn(f64) -> f64, share: f64) -> f64 {
    let (mut low, mut high) = (8_000.0, 9_999.0);
    for _ in 0..100 {
        let middle = (low + high) / 2.0;
        if beyond(middle) < share { low = middle } else { high = middle }
    }
    low
}
