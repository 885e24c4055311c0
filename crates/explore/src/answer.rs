//! What comes of a study, as plain data.

use array::reliability::{Chance, Question, Weibull, YEAR_H, loss};
use array::validate::FORETOLD_ERROR;
use serde::Serialize;

use crate::design::Design;
use crate::requirement::{Bound, Figure};
use crate::search::{Beside, Search};
use crate::value::{Lean, Margins};

/// The answer of a study.
#[derive(Clone, Debug, Serialize)]
pub struct Answer {
    /// The study.
    pub name: String,
    /// What prices are in.
    pub price_unit: String,
    /// How many designs there were, and what became of them.
    pub counts: Counts,
    /// By what factor long simulations differed from short ones at most, and half as much again.
    pub margins: Margins,
    /// The share by which the models' figures may differ from published ones that they were not fitted to, in the median:
    /// what [`FORETOLD_ERROR`] holds them to.
    pub model_error: f64,
    /// Simulated figures that differ by no more are the same to the front.
    pub resolution: f64,
    /// What the front compares.
    pub figures: Vec<Column>,
    /// Designs that meet every requirement and that no other such design is better than, the cheapest first.
    pub front: Vec<Row>,
    /// What becomes of the cheapest where one factor is changed.
    pub neighbours: Vec<Neighbour>,
    /// Each requirement, and what it costs.
    pub requirements: Vec<RequirementCost>,
    /// Verdicts that the models are too uncertain for.
    pub close_calls: Vec<CloseCall>,
}

/// How many designs there were.
#[derive(Clone, Debug, Serialize)]
pub struct Counts {
    /// All combinations.
    pub designs: u64,
    /// Those that cannot be built.
    pub impossible: u64,
    /// Why not, the most frequent reason first.
    pub reasons: Vec<(String, u64)>,
    /// Possible designs that were not simulated at length: they surely miss two requirements, or are surely beaten.
    pub left_out: u64,
    /// Simulations that were carried out, short and long.
    pub simulated: [u64; 2],
    /// Simulations that were known before.
    pub known: u64,
}

/// A figure that a front compares.
#[derive(Clone, Debug, Serialize)]
pub struct Column {
    /// Its name, `oltp iops at p99<5ms`.
    pub name: String,
    /// Whether more is better.
    pub more_is_better: bool,
    /// Whether it comes from a simulation, and so is as uncertain as the models.
    pub simulated: bool,
    /// What it is.
    #[serde(skip)]
    pub figure: Figure,
}

/// A design of the front.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// Its address, `array:px6-300d?raid=10`.
    pub address: String,
    /// Factor and level.
    pub levels: Vec<(String, String)>,
    /// The figures in the order of the columns, in base units: bytes, bytes a second, hours, nanoseconds.
    pub values: Vec<f64>,
    /// More designs with the same figures.
    pub alike: u64,
    /// The probability of data loss within a year in closed form: exponential lives and rebuilds.
    pub loss: f64,
    /// The same of simulated histories: Weibull lives of the same mean, rebuilds of a fixed length.
    pub loss_simulated: Option<Chance>,
}

/// A design beside the cheapest.
#[derive(Clone, Debug, Serialize)]
pub struct Neighbour {
    /// What differs.
    pub factor: String,
    /// Its level.
    pub level: String,
    /// Its address.
    pub address: String,
    /// Why it is not the cheapest design that meets every requirement.
    pub rejected: String,
}

/// A requirement and what it costs.
#[derive(Clone, Debug, Serialize)]
pub struct RequirementCost {
    /// As it was written.
    pub requirement: String,
    /// The figure of the cheapest design.
    pub value: Option<f64>,
    /// The same as it is read.
    pub shown: String,
    /// The cheapest design that meets all others, where that is cheaper.
    pub without: Option<Cheaper>,
    /// The best figure of any design as far as is known: an upper limit of what may be required.
    pub best: String,
}

/// A cheaper design.
#[derive(Clone, Debug, Serialize)]
pub struct Cheaper {
    /// Its address.
    pub address: String,
    /// Its price.
    pub price: f64,
    /// How much less that is; `None` where no design meets every requirement.
    pub saves: Option<f64>,
    /// The figure of the requirement, as it is read.
    pub shown: String,
}

/// A verdict that the models are too uncertain for.
#[derive(Clone, Debug, Serialize)]
pub struct CloseCall {
    /// The design.
    pub address: String,
    /// The requirement.
    pub requirement: String,
    /// How far the figure is from the limit, as a share of it; above zero on the right side.
    pub ahead: f64,
}

/// Close calls that are told at most.
const CLOSE_MOST: usize = 12;

/// Histories of a simulated loss.
const HISTORIES: u32 = 4_000;

/// Designs of the front whose loss is simulated too, at most: those that are printed.
const SIMULATED_MOST: usize = 20;

/// Shape of a disk's life, as `fathom array loss` takes it.
const SHAPE: f64 = 1.12;

impl Answer {
    pub(crate) fn of(
        search: &Search<'_>,
        counts: Counts,
        front: Vec<(usize, u64)>,
        cheapest: Option<usize>,
        without: Vec<Option<usize>>,
        neighbours: Vec<Beside>,
    ) -> Answer {
        let design = search.design;
        let column = |figure: &Figure| Column {
            name: figure.name(&design.workloads),
            more_is_better: figure.more_is_better(),
            simulated: figure.is_simulated(),
            figure: figure.clone(),
        };
        let rows = front.iter().enumerate();
        Answer {
            name: design.name.clone(),
            price_unit: design.price_unit().into(),
            counts,
            margins: search.margins,
            model_error: FORETOLD_ERROR,
            resolution: design.resolution,
            figures: search.objectives.iter().map(column).collect(),
            close_calls: close_calls(search, cheapest),
            neighbours: neighbours.iter().map(|beside| neighbour(search, cheapest, beside)).collect(),
            requirements: costs(search, cheapest, &without),
            front: rows
                .map(|(number, (at, alike))| row(search, *at, *alike, number < SIMULATED_MOST))
                .collect(),
        }
    }
}

fn address(search: &Search<'_>, at: usize) -> String {
    format!("array:{}", bare(search.design, search.candidates[at].number))
}

fn bare(design: &Design, number: u64) -> String {
    let address = design.space.address(number);
    address.strip_prefix("array:").map_or(address.clone(), str::to_owned)
}

fn row(search: &Search<'_>, at: usize, alike: u64, is_simulated: bool) -> Row {
    let (design, candidate) = (search.design, &search.candidates[at]);
    let levels = design.space.levels(candidate.number);
    let hours = search.value(at, &Figure::Rebuild(None), Lean::Plain);
    Row {
        address: address(search, at),
        levels: design.space.named(&levels).map(|(name, level)| (name.into(), level.into())).collect(),
        values: search.objectives.iter().map(|figure| search.value(at, figure, Lean::Plain)).collect(),
        alike,
        loss: candidate.loss(hours, &design.reliability),
        loss_simulated: is_simulated.then(|| simulated_loss(search, at, hours)).flatten(),
    }
}

/// The loss of simulated histories; `None` where nothing says how long a rebuild takes.
fn simulated_loss(search: &Search<'_>, at: usize, rebuild_h: f64) -> Option<Chance> {
    let (reliability, candidate) = (&search.design.reliability, &search.candidates[at]);
    if !search.objectives.contains(&Figure::Loss) || !rebuild_h.is_finite() {
        return None;
    }
    let [(groups, group)] = candidate.groups.as_slice() else { return None };
    let replace_h = if candidate.has_spare { 0.0 } else { reliability.replace_h };
    let answer = loss(&Question {
        group: *group,
        groups: *groups,
        life: Weibull { least_h: 0.0, scale_h: reliability.mttf_h / MEAN_OF_SHAPE, shape: SHAPE },
        age_h: 0.0,
        rebuild: Weibull::fixed(rebuild_h + replace_h),
        unreadable: reliability.unreadable,
        hours: YEAR_H,
        seed: search.design.seed,
        histories: HISTORIES,
    });
    Some(answer.over_time)
}

/// The mean of a Weibull law of shape 1.12 whose scale is 1: Γ(1 + 1/1.12).
const MEAN_OF_SHAPE: f64 = 0.959_3;

fn neighbour(search: &Search<'_>, cheapest: Option<usize>, beside: &Beside) -> Neighbour {
    let design = search.design;
    let factor = &design.space.factors[beside.factor];
    let levels = design.space.levels(beside.number);
    let level = levels[beside.factor].and_then(|level| factor.levels.get(level));
    Neighbour {
        factor: factor.name.clone(),
        level: level.cloned().unwrap_or_default(),
        address: format!("array:{}", bare(design, beside.number)),
        rejected: match &beside.found {
            Err(reason) => format!("impossible: {reason}"),
            Ok(at) => rejected(search, cheapest, *at),
        },
    }
}

/// Why the design at that place is not the one that is recommended.
fn rejected(search: &Search<'_>, cheapest: Option<usize>, at: usize) -> String {
    let missed = search.missed(at, Lean::Plain);
    if !missed.is_empty() {
        let why = missed.iter().take(2).map(|number| {
            let requirement = &search.design.requirements[*number];
            let value = search.value(at, &requirement.figure, Lean::Plain);
            let is_known = !requirement.figure.is_simulated()
                || search.value(at, &requirement.figure, Lean::Worst) == value;
            let sign = if is_known { "" } else { "about " };
            format!("{}: {sign}{}", requirement.text, requirement.figure.shown(value))
        });
        let more = if missed.len() > 2 { format!(", and {} more", missed.len() - 2) } else { String::new() };
        return format!("misses {}{more}", why.collect::<Vec<_>>().join("; "));
    }
    let Some(cheapest) = cheapest else { return "meets every requirement".into() };
    let (own, other) = (search.candidates[at].price, search.candidates[cheapest].price);
    if own > other {
        let (more, unit) = (Figure::Price.shown(own - other), search.design.price_unit());
        return format!("meets every requirement for {more} {unit} more");
    }
    // As cheap: what is worse, or that nothing is.
    let (own, best) = (search.costs(at, Lean::Plain), search.costs(cheapest, Lean::Plain));
    let worse = search.objectives.iter().zip(own.iter().zip(&best)).find(|(_, (own, best))| own > best);
    match worse {
        Some((figure, _)) => {
            let name = figure.name(&search.design.workloads);
            let values = [at, cheapest].map(|at| figure.shown(search.value(at, figure, Lean::Plain)));
            format!("as cheap, {name} {} for {}", values[0], values[1])
        }
        None => "the same price and figures".into(),
    }
}

fn costs(search: &Search<'_>, cheapest: Option<usize>, without: &[Option<usize>]) -> Vec<RequirementCost> {
    let requirements = search.design.requirements.iter().zip(without);
    let of = |(requirement, without): (&crate::requirement::Requirement, &Option<usize>)| {
        let figure = &requirement.figure;
        let shown = |at: usize| figure.shown(search.value(at, figure, Lean::Plain));
        let saves = |price: f64| cheapest.map(|at| search.candidates[at].price - price);
        RequirementCost {
            requirement: requirement.text.clone(),
            value: cheapest.map(|at| search.value(at, figure, Lean::Plain)).filter(|value| value.is_finite()),
            shown: cheapest.map(shown).unwrap_or_default(),
            without: without.map(|at| Cheaper {
                address: address(search, at),
                price: search.candidates[at].price,
                saves: saves(search.candidates[at].price),
                shown: shown(at),
            }),
            best: best(search, figure).map(|value| figure.shown(value)).unwrap_or_default(),
        }
    };
    requirements.map(of).collect()
}

/// The best value of any design whose figure was found.
fn best(search: &Search<'_>, figure: &Figure) -> Option<f64> {
    let known = (0..search.candidates.len()).filter_map(|at| {
        let value = search.value(at, figure, Lean::Plain);
        // What was not simulated has only a bound.
        let is_found = search.value(at, figure, Lean::Worst).is_finite() && !search.is_unknown(at, figure);
        (is_found && value.is_finite()).then_some(value)
    });
    known.reduce(if figure.more_is_better() { f64::max } else { f64::min })
}

/// Requirements of the cheapest design, and of cheaper ones that miss one, that the models' error decides.
fn close_calls(search: &Search<'_>, cheapest: Option<usize>) -> Vec<CloseCall> {
    let price = cheapest.map_or(f64::INFINITY, |at| search.candidates[at].price);
    let ahead = |at: usize, number: usize| {
        let requirement = &search.design.requirements[number];
        let value = search.value(at, &requirement.figure, Lean::Plain);
        let share = value / requirement.bound.limit() - 1.0;
        match requirement.bound {
            Bound::AtLeast(_) => share,
            Bound::AtMost(_) => -share,
        }
    };
    let call = |at: usize, number: usize, ahead: f64| CloseCall {
        address: address(search, at),
        requirement: search.design.requirements[number].text.clone(),
        ahead,
    };
    let simulated = |number: &usize| search.design.requirements[*number].figure.is_simulated();
    let mut found = Vec::new();
    if let Some(at) = cheapest {
        for number in (0..search.design.requirements.len()).filter(simulated) {
            let ahead = ahead(at, number);
            if ahead < FORETOLD_ERROR {
                found.push(call(at, number, ahead));
            }
        }
    }
    let mut behind: Vec<(f64, usize, usize, f64)> = Vec::new();
    for at in (0..search.candidates.len()).filter(|at| search.candidates[*at].price < price) {
        let missed = search.missed(at, Lean::Plain);
        let ahead: Vec<(usize, f64)> = missed.iter().map(|number| (*number, ahead(at, *number))).collect();
        let is_close = !missed.is_empty()
            && missed.iter().all(simulated)
            && ahead.iter().all(|(_, ahead)| *ahead > -FORETOLD_ERROR);
        if is_close {
            behind.extend(
                ahead.iter().map(|(number, ahead)| (search.candidates[at].price, at, *number, *ahead)),
            );
        }
    }
    behind.sort_by(|one, other| one.0.total_cmp(&other.0).then(one.1.cmp(&other.1)));
    let room = CLOSE_MOST.saturating_sub(found.len());
    found.extend(behind.into_iter().take(room).map(|(_, at, number, ahead)| call(at, number, ahead)));
    found
}
