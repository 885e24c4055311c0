//! What was varied: factors with the levels that were measured.

use std::collections::BTreeMap;

use record::{CampaignCell, Run, level_name};

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
