//! What was varied: factors with the levels that were measured.

use std::collections::BTreeMap;

use record::{CampaignCell, Run, level_name};
use stats::factorial::{Design, Factor};

use super::FactorLevels;

/// A factor with the places of the levels that were measured.
pub(crate) struct Varied {
    pub told: FactorLevels,
    pub places: Vec<u32>,
}

pub(super) fn factors(of: &[(&Run, &CampaignCell)]) -> Vec<Varied> {
    let Some((_, first)) = of.first() else { return Vec::new() };
    let names = first.levels.iter().map(|level| &level.factor);
    let varied = names.map(|name| {
        let own = of.iter().flat_map(|(_, cell)| &cell.levels).filter(|level| level.factor == *name);
        let levels: BTreeMap<u32, &str> =
            own.clone().map(|level| (level.place, level.level.as_str())).collect();
        debug_assert!(!levels.is_empty(), "each run has a level of every factor");
        Varied {
            told: FactorLevels {
                name: name.clone(),
                levels: levels.values().map(|level| (*level).to_owned()).collect(),
                hard: own.clone().any(|level| level.hard),
            },
            places: levels.keys().copied().collect(),
        }
    });
    varied.collect()
}

/// `RAID 5, disks 8`
pub(crate) fn label(factors: &[Varied], places: &[u32]) -> String {
    let level = |(factor, place): (&Varied, &u32)| {
        let at = factor.places.iter().position(|own| own == place)?;
        Some(level_name(&factor.told.name, factor.told.levels.get(at)?))
    };
    factors.iter().zip(places).filter_map(level).collect::<Vec<_>>().join(", ")
}

/// The first of `cells`, and how many more there are.
pub(crate) fn listed(cells: &[String]) -> String {
    match cells {
        [one] => one.clone(),
        [one, other] => format!("{one} and {other}"),
        [first, rest @ ..] => format!("{first} and {} more cells", rest.len()),
        [] => String::new(),
    }
}

/// Which of `factors` were varied, by their places, and the design that they make with these cells; or why they make none.
pub(crate) fn design<'c>(
    factors: &[Varied],
    cells: impl Iterator<Item = &'c [u32]>,
) -> Result<(Vec<usize>, Design), String> {
    let level = |factor: usize, place: u32| factors[factor].places.iter().position(|own| *own == place);
    let used: Vec<usize> = (0..factors.len()).filter(|factor| factors[*factor].places.len() > 1).collect();
    if used.is_empty() {
        return Err(match factors {
            [] => "nothing was varied".into(),
            [one] => format!("of {} only {} was measured", one.told.name, listed(&one.told.levels)),
            _ => "only one level of each factor was measured".into(),
        });
    }
    let cells: Option<Vec<Vec<usize>>> =
        cells.map(|places| used.iter().map(|at| level(*at, *places.get(*at)?)).collect()).collect();
    let cells = cells.ok_or("the runs have not the same factors")?;
    let factor = |at: &usize| Factor { levels: factors[*at].places.len(), hard: factors[*at].told.hard };
    let design = Design::of(used.iter().map(factor).collect(), cells).map_err(|error| error.to_string())?;
    debug_assert!(used.iter().all(|at| factors[*at].told.levels.len() > 1), "what is varied has two levels");
    Ok((used, design))
}
