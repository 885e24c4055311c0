//! The path to the media as records keep it.

use host::topology::{Ceiling, PathComponent};
use record::PathPart;

/// `part` and all below it.
pub(crate) fn part(part: PathComponent) -> PathPart {
    PathPart {
        name: part.name,
        kind: part.kind,
        facts: part.facts.into_iter().collect(),
        ceilings: part.ceilings.into_iter().map(ceiling).collect(),
        series: part.series,
        unknown: part.unknown,
        repeated: part.repeated,
        below: part.below.into_iter().map(self::part).collect(),
    }
}

fn ceiling(ceiling: Ceiling) -> record::Ceiling {
    record::Ceiling {
        what: ceiling.limit.name().into(),
        value: ceiling.value,
        unit: ceiling.limit.unit().into(),
        each_way: ceiling.each_way,
        basis: ceiling.basis,
        source: ceiling.source,
    }
}
