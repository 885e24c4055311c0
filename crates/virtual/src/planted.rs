//! Limits that are known: arrays of the library in which one part was made so slow that it bounds a load.
//!
//! A verdict on the bottleneck can be scored only where the bottleneck is known. Every case is drawn from its number: an
//! array of the library with its options, one to four hosts, a pattern, a request size, a mix, a cache that was warmed
//! or filled or is cold, a set that is whole, lacks a disk or is being rebuilt, and one part that is to be the limit.
//! That part is made slower by powers of two until the limit is clear by *sensitivity*: twice as fast it raises the rate
//! by [`CLEAR`] or more, every other part that is made twice as fast by no more than a quarter of that gain, and twice
//! as much in flight by no more than [`NO_GAIN`]. Where concurrency is to be the limit, little is in flight, and twice as
//! much raises the rate by [`FOLLOWS`] or more.
//!
//! One trial is no truth where equal loads differ: all of that has to hold with each of [`SEEDS`] seeds. Nor is what
//! holds for a moment only, such as while reads ahead pile up before a device or a cache fills: a run [`LONGER`] times as
//! long has to have the same rate, to [`LASTING`]. A draw that gives no clear and lasting limit is dropped and drawn
//! again, whatever is said of it.
//!
//! **Invariant:** the truth comes from trials alone. Nothing here looks at utilisations, queues or findings, and but for
//! the load that is judged no seed is one that `fathom explain` tries.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use array::sim::{Resource, Topology};
use array::spec::{self, Shipped};
use array::streams::Stream;
use conduct::Machine;
use record::{Finding, Point, WhatIf};
use units::convert::narrow;
use workload::plan::{Overrides, Plan};

use crate::what_if::{self, Study, rate_of};
use crate::world::ModelledWorld;

/// A part that raises the rate by so much where it is twice as fast is the limit.
pub const CLEAR: f64 = 0.30;

/// By no more may another part raise it, as a share of what the limit does.
pub const OTHERS: f64 = 0.25;

/// Twice as much in flight may bring no more where a part is the limit.
pub const NO_GAIN: f64 = 0.10;

/// It brings at least so much where concurrency is.
pub const FOLLOWS: f64 = 0.70;

/// With so many seeds a limit has to be clear.
pub const SEEDS: u64 = 3;

/// A run so many times as long has the same rate.
pub const LONGER: f64 = 4.0;

/// Rates that differ by no more, as a share, are the same.
pub const LASTING: f64 = 0.10;

/// Between one seed and the next: what is drawn beside a case and what `fathom explain` tries are others.
const APART: u64 = 0x5EED_0000_0000;

/// Requests of a measured window: enough that its ends are a small part of it.
const REQUESTS: f64 = 4_000.0;

/// Requests from which the rate of a draw is first known.
const PROBE: u32 = 1_500;

/// A part is made no slower than two to that power.
const SLOWEST: i32 = 12;

/// Draws for one case before it is given up.
const DRAWS: u32 = 24;

/// What may be planted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Planted {
    /// A part.
    Part(Resource),
    /// Nothing but what is in flight.
    Concurrency,
}

/// Planted in turn, by the number of the case.
const TURNS: [Planted; 12] = [
    Planted::Part(Resource::Disks),
    Planted::Part(Resource::ControllerProcessor),
    Planted::Part(Resource::Link),
    Planted::Concurrency,
    Planted::Part(Resource::Disks),
    Planted::Part(Resource::Xor),
    Planted::Part(Resource::Channel),
    Planted::Part(Resource::HostProcessor),
    Planted::Part(Resource::Bus),
    Planted::Part(Resource::Disks),
    Planted::Part(Resource::Adapter),
    Planted::Part(Resource::Mirror),
];

impl Planted {
    /// As the finding names it.
    pub fn name(self) -> &'static str {
        match self {
            Planted::Part(part) => part.name(),
            Planted::Concurrency => "concurrency",
        }
    }

    /// Whether `finding` names it first.
    pub fn is_named_by(self, finding: &Finding) -> bool {
        let Planted::Part(part) = self else { return finding.code == "latency-bound" };
        let Some(named) = finding.bottleneck() else { return false };
        // `5 of 12 disks`.
        let is_count = |word: &str| word == "of" || word.parse::<u32>().is_ok();
        let words: Vec<&str> = named.split(' ').filter(|word| !is_count(word)).collect();
        let wanted = part.name().trim_end_matches('s');
        words.join(" ").starts_with(wanted)
    }
}

/// An array in which one part is the limit of a load, and how one knows.
#[derive(Clone, Debug)]
pub struct Case {
    /// From which all of it is drawn.
    pub number: u64,
    /// The limit.
    pub planted: Planted,
    /// The array of the library.
    pub address: String,
    /// How many times as slow the planted part was made; 1 where it is the limit of the array as it is.
    pub slower: f64,
    /// Text of the plan.
    pub text: String,
    /// The plan.
    pub plan: Plan,
    /// The point that is judged.
    pub index: usize,
    /// What twice of each brought, as a share of the rate: the planted part by its name, `depth`, `all others` at once,
    /// and where these bring more than a little each by itself.
    pub gains: Vec<(&'static str, f64)>,
}

impl Case {
    /// Slows the planted part of the array.
    pub fn apply(&self, topology: &mut Topology) {
        slow(self.planted, self.slower, topology);
    }

    /// All points of its plan, or `None` where the array refuses it.
    pub fn points(&self) -> Option<Vec<Point>> {
        simulated(&self.plan, &self.address, |topology| self.apply(topology))
    }
}

impl Case {
    /// Its points with each part made faster in turn, as `fathom explain` tries them where a record leaves the limit
    /// open, and those that matter once more where `is_settled` says that it still does; `None` where that gives no
    /// figure.
    pub fn tried(&self, points: &[Point], is_settled: impl Fn(&WhatIf) -> bool) -> Option<WhatIf> {
        let point = points.iter().find(|point| point.index as usize == self.index)?;
        let altered = match self.planted {
            Planted::Part(part) => vec![(part, 1.0 / self.slower)],
            Planted::Concurrency => Vec::new(),
        };
        let study = Study {
            plan: &self.plan,
            index: self.index,
            address: &self.address,
            altered: &altered,
            recorded: rate_of(point),
            seeds: what_if::SETTLE_SEEDS,
            times: what_if::SETTLE_TIMES,
            machine: &Machine::default(),
        };
        what_if::settle(&study, &Shipped, &Arc::new(AtomicBool::new(false)), is_settled).ok()
    }
}

fn slow(planted: Planted, times: f64, topology: &mut Topology) {
    if let Planted::Part(part) = planted {
        part.speed_up(topology, 1.0 / times);
    }
}

/// The case of that number; `None` where no draw gave a clear limit.
pub fn case(number: u64) -> Option<Case> {
    let planted = TURNS[narrow::<usize>(number % TURNS.len() as u64)];
    (0..DRAWS).find_map(|draw| Draft::of(number, draw, planted).clear())
}

/// Arrays and the options that are drawn for them.
const ARRAYS: [(&str, &[&str]); 13] = [
    (
        "md3000",
        &["raid=5", "raid=10", "raid=6", "raid=5&luns=2", "raid=10&write_cache=false", "raid=5&hbas=1"],
    ),
    ("esds-s24s-g2240", &["raid=5", "raid=6&disks=12", "raid=10", "raid=50", "links=2"]),
    ("nearline-60", &["raid=6", "raid=60", "raid=10"]),
    ("nvme-jbof-8", &["raid=0", "raid=10", "raid=5", "raid=jbod"]),
    ("sas-ssd-24", &["raid=6", "raid=5&disks=12", "raid=10&disks=22", "controllers=1"]),
    (
        "perc-3-qc",
        &["raid=5&disks=12", "raid=10&disks=12", "raid=0&disks=8", "raid=5&disks=12&write_cache=false"],
    ),
    ("perc-2-qc", &["raid=5&disks=8", "raid=10&disks=12"]),
    ("px6-300d", &["raid=5", "raid=6", "raid=10&paths=2", "drive=crucial-m4-128&raid=5"]),
    ("ds2413plus", &["drives=m4-4&raid=5", "drives=hitachi-12&raid=6", "protocol=nfs3"]),
    ("dsi3500", &["ports=4&luns=4", "ports=8&luns=8", "ports=1&luns=1"]),
    ("local-ssd-raid0", &["raid=0", "drive=crucial-m4-128&raid=1"]),
    ("local-sata-raid1", &["raid=1", "raid=0&write_cache=false"]),
    ("ix4-200d", &["raid=5", "raid=10", "drive=snv425&raid=5"]),
];

/// The set of disks before the load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Health {
    Whole,
    Degraded,
    Rebuilding,
}

/// The caches before the load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Warmth {
    /// The span is the array; nothing was asked before.
    Cold,
    /// The span is small and was read once.
    Read,
    /// The span is small and was written once.
    Written,
}

/// A draw of which is not known yet whether it has a clear limit.
struct Draft {
    number: u64,
    planted: Planted,
    address: String,
    health: Health,
    warmth: Warmth,
    sequential: bool,
    size: &'static str,
    reads: u32,
    workers: u32,
    depth: u32,
    span: &'static str,
    swept: bool,
    /// By how much more than is needed the part is made slower.
    beyond: f64,
}

impl Draft {
    fn of(number: u64, draw: u32, planted: Planted) -> Draft {
        let mut draws = Draws(Stream::open(number, &format!("planted/{draw}")));
        let (name, options) = draws.of(&ARRAYS);
        let hosts = draws.of(&[1u32, 1, 2, 4]);
        let health = draws.of(&[Health::Whole, Health::Whole, Health::Degraded, Health::Rebuilding]);
        let warmth = draws.of(&[Warmth::Cold, Warmth::Cold, Warmth::Read, Warmth::Written]);
        let reads = match planted {
            Planted::Part(Resource::Xor | Resource::Mirror) => draws.of(&[0, 0, 30, 50]),
            _ => draws.of(&[100, 100, 70, 50, 30, 0]),
        };
        let in_flight = match planted {
            Planted::Concurrency => draws.of(&[1u32, 2, 4]),
            Planted::Part(_) => draws.of(&[32, 64, 128, 256]),
        };
        let workers = hosts * draws.of(&[1, 1, 2, 4]);
        Draft {
            number,
            planted,
            address: format!("array:{name}?{}&host.count={hosts}", draws.of(options)),
            health,
            warmth,
            sequential: draws.of(&[false, false, false, true]),
            size: draws.of(&["4KiB", "8KiB", "16KiB", "64KiB", "256KiB"]),
            reads,
            workers: if planted == Planted::Concurrency { workers.min(in_flight) } else { workers },
            depth: (in_flight / workers).max(1),
            span: draws.of(&["32MiB", "128MiB", "512MiB"]),
            swept: draws.of(&[false, false, true]),
            beyond: 2f64.powf(draws.0.unit()),
        }
    }

    /// The plan: what prepares the array, and the load, which ends as `ends` says, at a depth as `depth` says.
    fn text(&self, seed: u64, ends: &str, depth: &str) -> String {
        let Draft { sequential, size, reads, workers, .. } = self;
        let mut text = format!("seed = {}\n", self.number + seed * APART);
        let span = if self.warmth == Warmth::Cold { "auto" } else { self.span };
        if self.warmth != Warmth::Cold {
            let reads = if self.warmth == Warmth::Read { "100%" } else { "0%" };
            text += &format!(
                "[[phase]]\nname = \"warm\"\npattern = \"random\"\nsize = \"256KiB\"\nreads = \"{reads}\"\n\
                 span = \"{span}\"\ndepth = 16\nloops = 1\n"
            );
        }
        if self.health != Health::Whole {
            text += "[[phase]]\nname = \"fail\"\nstate = \"fail disk 0\"\n";
        }
        if self.health == Health::Rebuilding {
            text += "[[phase]]\nname = \"rebuild\"\nstate = \"rebuild\"\nwait = false\n";
        }
        let pattern = if *sequential { "sequential" } else { "random" };
        text + &format!(
            "[[phase]]\nname = \"planted\"\npattern = \"{pattern}\"\nsize = \"{size}\"\nreads = \"{reads}%\"\n\
             span = \"{span}\"\nworkers = {workers}\ndepth = {depth}\n{ends}"
        )
    }

    /// The judged point's position: what prepares the array comes before it.
    fn index(&self) -> usize {
        usize::from(self.warmth != Warmth::Cold)
            + match self.health {
                Health::Whole => 0,
                Health::Degraded => 1,
                Health::Rebuilding => 2,
            }
    }

    /// The rate with `change` made to the array; `None` where the array refuses the plan.
    fn rate(&self, seed: u64, ends: &str, depth: u32, change: impl FnOnce(&mut Topology)) -> Option<f64> {
        let text = self.text(seed, ends, &depth.to_string());
        let plan = Plan::parse("planted", &text, &Overrides::default()).ok()?;
        let points = simulated(&plan, &self.address, change)?;
        let point = points.get(self.index())?;
        let rate = rate_of(point).value;
        // A set that has lost its data answers nothing.
        (point.workloads.iter().all(|workload| workload.errors == 0) && rate > 0.0).then_some(rate)
    }

    /// The case, where the limit is clear.
    fn clear(self) -> Option<Case> {
        let topology = spec::array(&Shipped, &self.address).ok()?.topology;
        if let Planted::Part(part) = self.planted
            && !part.is_in(&topology)
        {
            return None;
        }
        let (slower, rate) = self.slowed()?;
        let run_s = (REQUESTS / rate).max(0.02);
        let ends = |longer: f64| {
            format!("warmup = \"{:.0}us\"\nrun = \"{:.0}us\"\n", run_s * 0.25e6, run_s * longer * 1e6)
        };
        let gains = self.gains(0, slower, &ends(1.0), &topology)?;
        let as_planted = |longer: f64| {
            self.rate(0, &ends(longer), self.depth, |topology| slow(self.planted, slower, topology))
        };
        if (as_planted(LONGER)? / as_planted(1.0)? - 1.0).abs() > LASTING {
            return None;
        }
        if (1..SEEDS).any(|seed| self.gains(seed, slower, &ends(1.0), &topology).is_none()) {
            return None;
        }
        let depths = match self.swept {
            true => format!("[{}, {}, {}]", self.depth, self.depth * 2, self.depth * 4),
            false => self.depth.to_string(),
        };
        let text = self.text(0, &ends(1.0), &depths);
        let plan = Plan::parse("planted", &text, &Overrides::default()).ok()?;
        let index = self.index();
        Some(Case {
            number: self.number,
            planted: self.planted,
            address: self.address,
            slower,
            text,
            plan,
            index,
            gains,
        })
    }

    /// What twice of each brings with `seed`, that of the planted part first; `None` where the limit is not clear.
    fn gains(
        &self,
        seed: u64,
        slower: f64,
        ends: &str,
        topology: &Topology,
    ) -> Option<Vec<(&'static str, f64)>> {
        let of = |depth: u32, change: &dyn Fn(&mut Topology)| {
            self.rate(seed, ends, depth, |topology| {
                slow(self.planted, slower, topology);
                change(topology);
            })
        };
        let before = of(self.depth, &|_| ())?;
        let deeper = of(self.depth * 2, &|_| ())? / before - 1.0;
        let Planted::Part(part) = self.planted else {
            return (deeper >= FOLLOWS).then(|| vec![("depth", deeper)]);
        };
        if deeper > NO_GAIN {
            return None;
        }
        let faster = |parts: &[Resource]| {
            let change = |topology: &mut Topology| parts.iter().for_each(|part| part.speed_up(topology, 2.0));
            Some(of(self.depth, &change)? / before - 1.0)
        };
        let own = faster(&[part]).filter(|own| *own >= CLEAR)?;
        let mut gains = vec![(part.name(), own), ("depth", deeper)];
        let others = Resource::ALL.into_iter().filter(|other| *other != part && other.is_in(topology));
        let others: Vec<Resource> = others.collect();
        let together = faster(&others)?;
        gains.push(("all others", together));
        // Where all of them at once bring little none is the limit; each by itself may still bring little where they do.
        if together > own * OTHERS {
            for other in others {
                gains.push((other.name(), faster(&[other]).filter(|gain| *gain <= own * OTHERS)?));
            }
        }
        Some(gains)
    }

    /// How many times as slow the planted part has to be, and the rate then.
    fn slowed(&self) -> Option<(f64, f64)> {
        let ends = format!("ops = {PROBE}\n");
        let at =
            |slower: f64| self.rate(0, &ends, self.depth, |topology| slow(self.planted, slower, topology));
        if self.planted == Planted::Concurrency {
            return Some((1.0, at(1.0)?));
        }
        let mut faster = at(0.5)?;
        for power in 0..SLOWEST {
            let rate = at(2f64.powi(power))?;
            if faster / rate - 1.0 >= CLEAR {
                return match power {
                    0 => Some((1.0, rate)),
                    _ => Some((2f64.powi(power) * self.beyond, rate / self.beyond)),
                };
            }
            faster = rate;
        }
        None
    }
}

fn simulated(plan: &Plan, address: &str, change: impl FnOnce(&mut Topology)) -> Option<Vec<Point>> {
    let stop = Arc::new(AtomicBool::new(false));
    let mut world =
        ModelledWorld::changed(plan, address, &Shipped, &Machine::default(), stop, change).ok()?;
    let outcome = conduct::run(plan, &mut world, &mut |_| {});
    (outcome.error.is_none() && outcome.complete).then_some(outcome.points)
}

struct Draws(Stream);

impl Draws {
    fn of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[narrow::<usize>(self.0.below(choices.len() as u64))]
    }
}

/// How often the limit of a case was named first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tally {
    /// Cases with a clear limit.
    pub cases: u32,
    /// In which it was named first.
    pub named: u32,
    /// In which nothing was named, which is no claim.
    pub silent: u32,
    /// Cases in which a part is the limit, and more in flight brings nothing.
    pub limited: u32,
    /// Of those, called latency-bound.
    pub false_latency_bound: u32,
    /// Each that was missed, in words, in the order of the numbers.
    pub missed: Vec<String>,
}

/// Holds what `verdict` says of the points of each case of `numbers` against what was planted. Cases are judged side by
/// side, one on each processor; those without a clear limit do not count.
///
/// `verdict` gives the first finding about the limit of the point [`Case::index`]; `None` where nothing is said.
pub fn judge(
    numbers: std::ops::Range<u64>,
    verdict: impl Fn(&Case, Vec<Point>) -> Option<Finding> + Sync,
) -> Tally {
    let next = AtomicU64::new(numbers.start);
    let told = Mutex::new(Vec::new());
    let work = || {
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= numbers.end {
                return;
            }
            let Some(case) = case(number) else { continue };
            let finding = case.points().and_then(|points| verdict(&case, points));
            told.lock().unwrap_or_else(PoisonError::into_inner).push((case, finding));
        }
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| (0..threads).for_each(|_| drop(scope.spawn(work))));
    let mut told = told.into_inner().unwrap_or_else(PoisonError::into_inner);
    told.sort_by_key(|(case, _)| case.number);
    let mut tally = Tally::default();
    told.iter().for_each(|(case, finding)| tally.add(case, finding.as_ref()));
    tally
}

impl Tally {
    /// Adds what was said of a case.
    pub fn add(&mut self, case: &Case, finding: Option<&Finding>) {
        let is_limited = case.planted != Planted::Concurrency;
        self.cases += 1;
        self.limited += u32::from(is_limited);
        if finding.is_some_and(|finding| case.planted.is_named_by(finding)) {
            self.named += 1;
            return;
        }
        let is_latency = finding.is_some_and(|finding| finding.code == "latency-bound");
        self.false_latency_bound += u32::from(is_limited && is_latency);
        self.silent += u32::from(finding.is_none_or(|finding| finding.code.starts_with("limit-")));
        let said = finding.map_or("nothing", |finding| &finding.sentence);
        self.missed.push(format!(
            "{}: {} of {}, {} times as slow: {said}",
            case.number,
            case.planted.name(),
            case.address,
            case.slower.round()
        ));
    }
}
