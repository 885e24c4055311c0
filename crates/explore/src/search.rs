//! The search: all designs exactly, those that may matter in short simulations, the hopeful ones in long ones.
//!
//! A design is left out once it surely misses two requirements, since neither the front nor the cost of any one requirement
//! can depend on it, or once a design that surely meets all of them is surely better. What is sure follows from exact
//! figures, from bounds, and from short simulations with a margin by which no long one was seen to differ; where one is
//! seen to differ by more, the margin grows and the choice is made again.

use std::collections::{BTreeMap, BTreeSet};

use array::spec::Source;
use conduct::in_order;
use record::{DesignCounts, Exploration};

use crate::answer::answer;
use crate::design::Design;
use crate::evaluate::{AGAIN, Depth, Ended, Evaluator, Outcome, Task};
use crate::exact::{Candidate, candidate};
use crate::front::{dominates, front};
use crate::requirement::Figure;
use crate::value::{Lean, Margins, value};
use crate::workers::{Local, Workers};

/// How a study is carried out.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Threads at most.
    pub threads: usize,
    /// Whether every possible design is simulated at length.
    pub brute: bool,
}

/// What is heard while it continues.
#[derive(Clone, Copy, Debug)]
pub enum Heard<'a> {
    /// So many of so many designs have their exact figures.
    Counted {
        /// Those.
        done: u64,
        /// All.
        of: u64,
    },
    /// A simulation was carried out.
    Ended(Ended<'a>),
}

/// Hears what goes on; whether to go on.
pub type Listener<'l> = dyn FnMut(Heard<'_>) -> bool + 'l;

/// Designs whose exact figures are made in one piece.
const PIECE: u64 = 256;

/// Designs that are simulated short and long to find the margins.
const SAMPLE: usize = 12;

/// Designs of one batch of long simulations, at most and where there are so many at least: enough for all processors.
const BATCH: usize = 128;
const BATCH_LEAST: usize = 16;

/// The answer of the study; `None` where the listener stopped it.
///
/// `known` has outcomes of earlier simulations by the keys that the listener heard.
pub fn search(
    design: &Design,
    library: &(dyn Source + Sync),
    options: Options,
    known: &BTreeMap<String, Outcome>,
    listener: &mut Listener<'_>,
) -> Option<Exploration> {
    search_by(design, library, options, &Local(options.threads), known, listener)
}

/// The same, where `workers` carries the simulations out. The answer does not depend on who does.
pub fn search_by(
    design: &Design,
    library: &(dyn Source + Sync),
    options: Options,
    workers: &dyn Workers,
    known: &BTreeMap<String, Outcome>,
    listener: &mut Listener<'_>,
) -> Option<Exploration> {
    let (candidates, reasons) = enumerate(design, library, options.threads, listener)?;
    let evaluator = Evaluator::new(design, library, workers, known);
    let objectives = objectives(design);
    let mut search = Search {
        design,
        library,
        evaluator,
        candidates,
        objectives,
        margins: Margins::default(),
        spread: Margins::NONE,
        brute: options.brute,
    };
    search.sample(listener)?;
    if options.brute {
        let all: Vec<usize> = (0..search.candidates.len()).collect();
        search.fine(&all, listener)?;
    } else {
        search.coarse_to_fine(listener)?;
    }
    let left_out = search.left_out();
    let front = search.front();
    let cheapest = search.cheapest();
    let without = search.without_each(cheapest, listener)?;
    let neighbours = search.neighbours(cheapest, listener)?;
    let impossible = reasons.values().sum();
    let counts = DesignCounts {
        designs: design.space.count(),
        impossible,
        reasons: ranked(reasons),
        left_out,
        simulated: search.evaluator.fresh(),
        known: known.len() as u64,
    };
    Some(answer(&search, counts, front, cheapest, without, neighbours))
}

/// A study under way.
pub(crate) struct Search<'a> {
    pub design: &'a Design,
    library: &'a (dyn Source + Sync),
    pub evaluator: Evaluator<'a>,
    /// In the order of their numbers.
    pub candidates: Vec<Candidate>,
    /// What a front is about, each once.
    pub objectives: Vec<Figure>,
    pub margins: Margins,
    /// By what factors figures of one design differ with the seed.
    pub spread: Margins,
    brute: bool,
}

/// A design beside the cheapest one.
pub(crate) struct Beside {
    /// Which factor differs.
    pub factor: usize,
    pub number: u64,
    /// Its place among the candidates, or why it is impossible.
    pub found: Result<usize, String>,
}

/// Price or disks, watts where they are given, and whatever is required.
fn objectives(design: &Design) -> Vec<Figure> {
    let mut all = vec![Figure::Price];
    all.extend(design.watts.is_some().then_some(Figure::Watts));
    for requirement in &design.requirements {
        if !all.contains(&requirement.figure) {
            all.push(requirement.figure.clone());
        }
    }
    if !all.contains(&Figure::Usable) {
        all.push(Figure::Usable);
    }
    all
}

type Enumerated = (Vec<Candidate>, BTreeMap<String, u64>);

/// Every possible design, and how many are impossible for which reason.
fn enumerate(
    design: &Design,
    library: &(dyn Source + Sync),
    threads: usize,
    listener: &mut Listener<'_>,
) -> Option<Enumerated> {
    let count = design.space.count();
    let pieces = units::convert::narrow::<usize>(count.div_ceil(PIECE));
    let of_piece = |piece: usize| -> Vec<Result<Candidate, String>> {
        let first = piece as u64 * PIECE;
        (first..count.min(first + PIECE)).map(|number| candidate(design, number, library)).collect()
    };
    let (mut candidates, mut reasons, mut done) = (Vec::new(), BTreeMap::new(), 0);
    let mut goes_on = true;
    let mut take = |_: usize, piece: Vec<Result<Candidate, String>>| {
        done += piece.len() as u64;
        for one in piece {
            match one {
                Ok(candidate) => candidates.push(candidate),
                Err(reason) => *reasons.entry(reason).or_insert(0) += 1,
            }
        }
        goes_on = listener(Heard::Counted { done, of: count });
        goes_on
    };
    in_order(pieces, threads, &of_piece, &mut take);
    let impossible: u64 = reasons.values().sum();
    assert!(!goes_on || done == count, "each of {count} designs is counted once, and {done} were");
    assert_eq!(
        candidates.len() as u64 + impossible,
        done,
        "a design is possible, or there is a reason why not"
    );
    debug_assert!(
        candidates.windows(2).all(|pair: &[Candidate]| pair[0].number < pair[1].number),
        "designs are looked up by their numbers"
    );
    goes_on.then_some((candidates, reasons))
}

/// The most frequent first.
fn ranked(reasons: BTreeMap<String, u64>) -> Vec<(String, u64)> {
    let mut ranked: Vec<(String, u64)> = reasons.into_iter().collect();
    ranked.sort_by(|one, other| other.1.cmp(&one.1).then(one.0.cmp(&other.0)));
    ranked
}

impl Search<'_> {
    /// A figure of the design at that place.
    pub fn value(&self, at: usize, figure: &Figure, lean: Lean) -> f64 {
        let found = value(self.design, &self.evaluator, &self.candidates[at], figure, &self.margins, lean);
        assert!(
            !found.is_nan(),
            "a figure can be compared: {figure:?} of design {}",
            self.candidates[at].number
        );
        found
    }

    /// Why no simulation that `figure` of the design at that place takes was possible; `None` where one was, or none is known.
    /// A set that nothing can be rebuilt from has a loss all the same.
    pub fn refusal(&self, at: usize, figure: &Figure) -> Option<&str> {
        let outcome = |task: &Task| {
            let long = self.evaluator.outcome(Depth::Fine, task);
            long.or_else(|| self.evaluator.outcome(Depth::Coarse, task))
        };
        let why = |task: &Task| match outcome(task)? {
            Outcome::Refused(why) => Some(why.as_str()),
            Outcome::Figures { .. } => None,
        };
        let tasks = self.evaluator.tasks(&self.candidates[at], figure);
        let refused = tasks.iter().map(why).collect::<Option<Vec<&str>>>()?;
        refused.first().copied().filter(|_| *figure != Figure::Loss)
    }

    /// The requirements that a design breaks where its figures lean that way.
    pub fn missed(&self, at: usize, lean: Lean) -> BTreeSet<usize> {
        let requirements = self.design.requirements.iter().enumerate();
        let misses = |(_, requirement): &(usize, &crate::requirement::Requirement)| {
            !requirement.bound.holds(self.value(at, &requirement.figure, lean))
        };
        requirements.filter(misses).map(|(number, _)| number).collect()
    }

    /// What a front compares: less is better. All but price and watts goes by steps of the resolution.
    pub fn costs(&self, at: usize, lean: Lean) -> Vec<f64> {
        let step = self.design.resolution.ln_1p();
        let cost = |figure: &Figure| {
            let value = self.value(at, figure, lean);
            // Prices and watts are as they are; a capacity that only rounds otherwise is the same.
            let is_exact = matches!(figure, Figure::Price | Figure::Watts);
            let stepped = match !is_exact && step > 0.0 {
                true => (value.ln() / step).floor(),
                false if figure.is_simulated() => value.ln(),
                false => value,
            };
            if figure.more_is_better() { -stepped } else { stepped }
        };
        self.objectives.iter().map(cost).collect()
    }

    /// All simulations of a design.
    fn tasks(&self, at: usize) -> BTreeSet<Task> {
        let candidate = &self.candidates[at];
        self.objectives.iter().flat_map(|figure| self.evaluator.tasks(candidate, figure)).collect()
    }

    /// Whether all of its simulations are long ones.
    fn is_fine(&self, at: usize) -> bool {
        self.tasks(at).iter().all(|task| self.evaluator.outcome(Depth::Fine, task).is_some())
    }

    /// Whether some simulation that a figure takes was not carried out.
    pub fn is_unknown(&self, at: usize, figure: &Figure) -> bool {
        let is_known = |task: &Task| {
            [Depth::Fine, Depth::Coarse].iter().any(|depth| self.evaluator.outcome(*depth, task).is_some())
        };
        !self.evaluator.tasks(&self.candidates[at], figure).iter().all(is_known)
    }

    fn run(&mut self, depth: Depth, wanted: &BTreeMap<Task, u64>, listener: &mut Listener<'_>) -> Option<()> {
        self.evaluator.run(depth, wanted, &mut |ended| listener(Heard::Ended(ended))).then_some(())
    }

    /// Simulates designs at length, and widens the margins where that shows them to be too narrow.
    fn fine(&mut self, places: &[usize], listener: &mut Listener<'_>) -> Option<()> {
        let mut wanted = BTreeMap::new();
        for at in places {
            for task in self.tasks(*at) {
                wanted.entry(task).or_insert(self.candidates[*at].number);
            }
        }
        self.run(Depth::Fine, &wanted, listener)?;
        debug_assert!(places.iter().all(|at| self.is_fine(*at)), "what was wanted was simulated at length");
        for task in wanted.keys() {
            let [short, long] = [Depth::Coarse, Depth::Fine].map(|depth| self.evaluator.outcome(depth, task));
            if let (Some(short), Some(long)) = (short, long) {
                self.margins.widen(short, long);
            }
        }
        Some(())
    }

    /// Short simulations, and long ones of what may be on the front.
    fn coarse_to_fine(&mut self, listener: &mut Listener<'_>) -> Option<()> {
        self.coarse(listener)?;
        self.settle_front(listener)
    }

    /// A few designs short and long for the margins, and with other seeds for what is chance.
    fn sample(&mut self, listener: &mut Listener<'_>) -> Option<()> {
        let may: Vec<usize> = (0..self.candidates.len()).filter(|at| self.may_matter(*at)).collect();
        let many = may.len();
        let chosen: BTreeSet<usize> =
            (0..SAMPLE.min(many)).map(|number| may[number * many / SAMPLE.min(many)]).collect();
        debug_assert_eq!(chosen.len(), SAMPLE.min(many), "a design is in the sample twice");
        let chosen: Vec<usize> = chosen.into_iter().collect();
        let mut wanted = BTreeMap::new();
        for at in &chosen {
            for task in self.tasks(*at) {
                wanted.entry(task).or_insert(self.candidates[*at].number);
            }
        }
        self.run(Depth::Coarse, &wanted, listener)?;
        self.fine(&chosen, listener)?;
        for again in AGAIN {
            self.run(again, &wanted, listener)?;
            for task in wanted.keys() {
                let [one, other] = [Depth::Fine, again].map(|depth| self.evaluator.outcome(depth, task));
                if let (Some(one), Some(other)) = (one, other) {
                    self.spread.reach(one, other);
                }
            }
        }
        Some(())
    }

    /// Whether it does not surely miss two requirements.
    fn may_matter(&self, at: usize) -> bool {
        self.missed(at, Lean::Best).len() <= 1
    }

    /// Short simulations, figure after figure, of the designs that may still matter.
    fn coarse(&mut self, listener: &mut Listener<'_>) -> Option<()> {
        let mut may: Vec<usize> = (0..self.candidates.len()).filter(|at| self.may_matter(*at)).collect();
        for figure in self.objectives.clone().iter().filter(|figure| figure.is_simulated()) {
            let mut wanted = BTreeMap::new();
            for at in &may {
                let candidate = &self.candidates[*at];
                for task in self.evaluator.tasks(candidate, figure) {
                    wanted.entry(task).or_insert(candidate.number);
                }
            }
            self.run(Depth::Coarse, &wanted, listener)?;
            may.retain(|at| self.may_matter(*at));
        }
        Some(())
    }

    /// Those of `among` that may meet every requirement, and that none which surely does is surely better than.
    fn hopeful(&self, among: &[usize]) -> Vec<usize> {
        let may: Vec<usize> =
            among.iter().copied().filter(|at| self.missed(*at, Lean::Best).is_empty()).collect();
        let sure: Vec<Vec<f64>> = may
            .iter()
            .filter(|at| self.missed(**at, Lean::Worst).is_empty())
            .map(|at| self.costs(*at, Lean::Worst))
            .collect();
        let chance = self.chance();
        let best: Vec<&Vec<f64>> = front(&sure, &chance).iter().map(|(at, _)| &sure[*at]).collect();
        let is_beaten = |at: &usize| {
            let own = self.costs(*at, Lean::Best);
            best.iter().any(|sure| dominates(sure, &own, &chance))
        };
        may.into_iter().filter(|at| !is_beaten(at)).collect()
    }

    /// Long simulations until every design that may be on the front has them.
    fn settle_front(&mut self, listener: &mut Listener<'_>) -> Option<()> {
        let mut hopeful: Vec<usize> = Vec::new();
        let mut margins = None;
        loop {
            // With the margins as they were, long simulations only take hope away.
            if margins != Some(self.margins) {
                margins = Some(self.margins);
                hopeful = (0..self.candidates.len()).collect();
            }
            hopeful = self.hopeful(&hopeful);
            let open: Vec<usize> = hopeful.iter().copied().filter(|at| !self.is_fine(*at)).collect();
            if open.is_empty() {
                return Some(());
            }
            // What looks best is settled first: it shows most of the others to be beaten.
            let costs: Vec<Vec<f64>> = open.iter().map(|at| self.costs(*at, Lean::Plain)).collect();
            let mut batch: Vec<usize> =
                front(&costs, &self.chance()).iter().take(BATCH).map(|(at, _)| open[*at]).collect();
            let first: BTreeSet<usize> = batch.iter().copied().collect();
            let others = open.into_iter().filter(|at| !first.contains(at));
            batch.extend(others.take(BATCH_LEAST.saturating_sub(first.len())));
            assert!(!batch.is_empty(), "with designs open, each round settles one at least");
            self.fine(&batch, listener)?;
        }
    }

    /// Designs that were not simulated at length.
    fn left_out(&self) -> u64 {
        match self.brute {
            true => 0,
            false => (0..self.candidates.len()).filter(|at| !self.is_fine(*at)).count() as u64,
        }
    }

    /// The front of designs that meet every requirement: their places, and how many more are like each.
    fn front(&self) -> Vec<(usize, u64)> {
        let kept: Vec<usize> = (0..self.candidates.len())
            .filter(|at| self.is_fine(*at) && self.missed(*at, Lean::Plain).is_empty())
            .collect();
        let costs: Vec<Vec<f64>> = kept.iter().map(|at| self.costs(*at, Lean::Plain)).collect();
        front(&costs, &self.chance()).into_iter().map(|(at, alike)| (kept[at], alike)).collect()
    }

    /// The cheapest design that meets every requirement; of several the best by the other figures in their order.
    fn cheapest(&self) -> Option<usize> {
        let front = self.front();
        let (first, _) = *front.first()?;
        let price = |at: usize| self.candidates[at].price;
        assert!(
            front.iter().all(|(at, _)| price(*at) >= price(first)),
            "a front begins with what costs least"
        );
        Some(first)
    }

    /// For each requirement the cheapest design that meets all others, where it is cheaper than `cheapest`.
    fn without_each(
        &mut self,
        cheapest: Option<usize>,
        listener: &mut Listener<'_>,
    ) -> Option<Vec<Option<usize>>> {
        let below = cheapest.map_or(f64::INFINITY, |at| self.candidates[at].price);
        let mut found = Vec::new();
        for requirement in 0..self.design.requirements.len() {
            let but = |missed: &BTreeSet<usize>| missed.iter().all(|one| *one == requirement);
            let mut may: Vec<usize> = (0..self.candidates.len())
                .filter(|at| self.candidates[*at].price < below && but(&self.missed(*at, Lean::Best)))
                .collect();
            may.sort_by(|one, other| {
                self.candidates[*one].price.total_cmp(&self.candidates[*other].price).then(one.cmp(other))
            });
            let mut first = None;
            for at in may {
                if !but(&self.missed(at, Lean::Best)) {
                    continue;
                }
                if !self.is_fine(at) {
                    self.fine(&[at], listener)?;
                }
                if but(&self.missed(at, Lean::Plain)) {
                    first = Some(at);
                    break;
                }
            }
            found.push(first);
        }
        Some(found)
    }

    /// The designs that differ from the cheapest in one factor.
    fn neighbours(&mut self, cheapest: Option<usize>, listener: &mut Listener<'_>) -> Option<Vec<Beside>> {
        let Some(cheapest) = cheapest else { return Some(Vec::new()) };
        let number = self.candidates[cheapest].number;
        let mut beside = Vec::new();
        for (factor, number) in self.design.space.neighbours(number) {
            let place = self.candidates.binary_search_by_key(&number, |candidate| candidate.number);
            let found = place.map_err(|_| match candidate(self.design, number, self.library) {
                Err(reason) => reason,
                Ok(_) => String::new(),
            });
            beside.push(Beside { factor, number, found });
        }
        let open: Vec<usize> = beside
            .iter()
            .filter_map(|beside| beside.found.clone().ok())
            .filter(|at| !self.is_fine(*at))
            .collect();
        self.fine(&open, listener)?;
        Some(beside)
    }
}
