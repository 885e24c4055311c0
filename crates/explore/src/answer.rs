//! What comes of a study, in the words of a record.

use array::reliability::{Question, Weibull, YEAR_H, loss};
use array::validate::median_error;
use record::{
    Chance, CheaperDesign, CloseCall, DesignCounts, DesignFigure, DesignMargins, DesignReliability,
    Exploration, FactorLevel, FrontDesign, NeighbourDesign, RequirementCost,
};
use units::convert::narrow;

use crate::design::Design;
use crate::requirement::{Bound, Figure};
use crate::search::{Beside, Search};
use crate::value::{Lean, Margins};

/// Close calls that are told at most.
const CLOSE_MOST: usize = 12;

/// Histories of a simulated loss.
const HISTORIES: u32 = 4_000;

/// Designs of the front whose loss is simulated too, at most: those that are printed.
const SIMULATED_MOST: usize = 20;

/// Shape of a disk's life, as `fathom array loss` takes it.
const SHAPE: f64 = 1.12;

/// The answer of `search`: what was counted, the places of its front with how many are like each, the place of the cheapest
/// design and of the cheapest without each requirement, and the designs beside the cheapest.
pub(crate) fn answer(
    search: &Search<'_>,
    counts: DesignCounts,
    front: Vec<(usize, u64)>,
    cheapest: Option<usize>,
    without: Vec<Option<usize>>,
    neighbours: Vec<Beside>,
) -> Exploration {
    let design = search.design;
    let rows = front.iter().enumerate();
    Exploration {
        price_unit: design.price_unit().into(),
        counts,
        margins: margins(search.margins),
        spread: Some(margins(search.spread)),
        model_error: median_error(),
        resolution: design.resolution,
        reliability: reliability(design),
        figures: search.objectives.iter().map(|figure| column(design, figure)).collect(),
        close_calls: close_calls(search, cheapest),
        neighbours: neighbours.iter().map(|beside| neighbour(search, cheapest, beside)).collect(),
        requirements: costs(search, cheapest, &without),
        front: rows.map(|(number, (at, alike))| row(search, *at, *alike, number < SIMULATED_MOST)).collect(),
    }
}

fn margins(Margins { rate, time, hours }: Margins) -> DesignMargins {
    DesignMargins { rate, time, hours }
}

fn reliability(design: &Design) -> DesignReliability {
    let crate::design::Reliability { mttf_h, unreadable, replace_h } = design.reliability;
    DesignReliability { mttf_h, unreadable, replace_h }
}

fn column(design: &Design, figure: &Figure) -> DesignFigure {
    DesignFigure {
        name: figure.name(&design.workloads),
        unit: figure.unit(),
        more_is_better: figure.more_is_better(),
        simulated: figure.is_simulated(),
    }
}

fn address(search: &Search<'_>, at: usize) -> String {
    format!("array:{}", bare(search.design, search.candidates[at].number))
}

fn bare(design: &Design, number: u64) -> String {
    let address = design.space.address(number);
    address.strip_prefix("array:").map_or(address.clone(), str::to_owned)
}

fn row(search: &Search<'_>, at: usize, alike: u64, is_simulated: bool) -> FrontDesign {
    let (design, candidate) = (search.design, &search.candidates[at]);
    let hours = search.value(at, &Figure::Rebuild(None), Lean::Plain);
    let of = |figure: &Figure| figure.base(search.value(at, figure, Lean::Plain));
    let values: Vec<f64> = search.objectives.iter().map(of).collect();
    assert!(
        values.iter().all(|value| value.is_finite()),
        "a design of the front has all figures: {values:?}"
    );
    FrontDesign {
        address: address(search, at),
        levels: levels(design, candidate.number),
        values,
        alike,
        loss: Some(candidate.loss(hours, &design.reliability)).filter(|loss| loss.is_finite()),
        loss_simulated: is_simulated.then(|| simulated_loss(search, at, hours)).flatten(),
        unsustained: search
            .objectives
            .iter()
            .filter(|figure| search.is_unsustained(at, figure))
            .map(|figure| figure.name(&design.workloads))
            .collect(),
        requests: search.requests(at),
        half_widths: search.objectives.iter().map(|figure| search.half_width(at, figure)).collect(),
    }
}

/// The factors that the array of a design takes, with its levels.
fn levels(design: &Design, number: u64) -> Vec<FactorLevel> {
    let taken = design.space.levels(number);
    let factors = design.space.factors.iter().zip(taken);
    let of = |(factor, place): (&crate::space::Factor, Option<usize>)| {
        let place = place?;
        Some(FactorLevel {
            factor: factor.name.clone(),
            level: factor.levels.get(place)?.clone(),
            place: narrow(place),
            of: narrow(factor.levels.len()),
            hard: false,
        })
    };
    factors.filter_map(of).collect()
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
    let array::reliability::Chance { value, low, high, .. } = answer.over_time;
    Some(Chance { value, low, high })
}

/// The mean of a Weibull law of shape 1.12 whose scale is 1: Γ(1 + 1/1.12).
const MEAN_OF_SHAPE: f64 = 0.959_3;

fn neighbour(search: &Search<'_>, cheapest: Option<usize>, beside: &Beside) -> NeighbourDesign {
    let design = search.design;
    let factor = &design.space.factors[beside.factor];
    let levels = design.space.levels(beside.number);
    let level = levels[beside.factor].and_then(|level| factor.levels.get(level));
    NeighbourDesign {
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
            if let Some(why) = search.refusal(at, &requirement.figure) {
                return format!("{}: {why}", requirement.text);
            }
            let value = search.value(at, &requirement.figure, Lean::Plain);
            let is_known = !requirement.figure.is_simulated()
                || search.value(at, &requirement.figure, Lean::Worst) == value;
            let sign = if is_known { "" } else { "about " };
            let doubt = doubt(search, at, &requirement.figure);
            let shown = requirement.figure.shown_beside(value, requirement.bound.limit());
            format!("{}: {sign}{shown}{doubt}", requirement.text)
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
            let shown = |at| figure.shown(search.value(at, figure, Lean::Plain));
            let values = [at, cheapest].map(|at| shown(at) + doubt(search, at, figure));
            let place = search.objectives.iter().position(|one| one == figure).unwrap_or(0);
            let is_chance = search.chance()[place] >= own[place] - best[place];
            let chance = if is_chance { ", no more than chance" } else { "" };
            format!("as cheap, {name} {} for {}{chance}", values[0], values[1])
        }
        None => "the same price and figures".into(),
    }
}

/// What stands behind a figure that does not last.
fn doubt(search: &Search<'_>, at: usize, figure: &Figure) -> &'static str {
    if search.is_unsustained(at, figure) { " (not sustained)" } else { "" }
}

fn costs(search: &Search<'_>, cheapest: Option<usize>, without: &[Option<usize>]) -> Vec<RequirementCost> {
    let requirements = search.design.requirements.iter().zip(without);
    let of = |(requirement, without): (&crate::requirement::Requirement, &Option<usize>)| {
        let figure = &requirement.figure;
        let limit = requirement.bound.limit();
        let shown = |at: usize| {
            figure.shown_beside(search.value(at, figure, Lean::Plain), limit) + doubt(search, at, figure)
        };
        let saves = |price: f64| cheapest.map(|at| search.candidates[at].price - price);
        let place = search.objectives.iter().position(|known| known == figure);
        let value = |at: usize| figure.base(search.value(at, figure, Lean::Plain));
        RequirementCost {
            requirement: requirement.text.clone(),
            figure: narrow(place.expect("the front compares whatever is required")),
            limit: figure.base(limit),
            value: cheapest.map(value).filter(|value| value.is_finite()),
            shown: cheapest.map(shown).unwrap_or_default(),
            without: without.map(|at| CheaperDesign {
                address: address(search, at),
                price: search.candidates[at].price,
                saves: saves(search.candidates[at].price),
                shown: shown(at),
            }),
            best: best(search, figure)
                .map_or_else(|| "none".into(), |value| figure.shown_beside(value, limit)),
        }
    };
    requirements.map(of).collect()
}

/// The best value of any design whose figure was found.
fn best(search: &Search<'_>, figure: &Figure) -> Option<f64> {
    let known = (0..search.candidates.len()).filter_map(|at| {
        let value = search.value(at, figure, Lean::Plain);
        // What was not simulated has only a bound.
        let is_found = search.value(at, figure, Lean::Worst).is_finite()
            && !search.is_unknown(at, figure)
            && search.refusal(at, figure).is_none();
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
            Bound::AtLeast(_) | Bound::Above(_) => share,
            Bound::AtMost(_) | Bound::Below(_) => -share,
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
            // A figure that does not last says nothing of the one that does.
            let is_open = search.is_unsustained(at, &search.design.requirements[number].figure);
            if is_open || ahead < median_error().max(search.spread_of(number) - 1.0) {
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
            && ahead.iter().all(|(_, ahead)| *ahead > -median_error());
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
