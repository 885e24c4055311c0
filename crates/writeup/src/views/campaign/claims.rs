//! What was claimed of the cells, held against what was measured.

use campaign::CheckedClaim;
use chart::Unit;
use record::Metric;

use super::super::ratio;
use super::Subject;
use crate::document::{Cell, Column, Sentence, Table};
use crate::measured;
use crate::number::Number;

impl Subject<'_> {
    /// From which part of a claim to which was measured: of rates, of which less is short of the claim, and of latencies, of
    /// which more is.
    pub(super) fn claims_reading(self) -> Option<Sentence> {
        let rates = self.parts_of_claims(true, "rate");
        let latencies = self.parts_of_claims(false, "latency");
        [rates, latencies].into_iter().flatten().reduce(|one, other| {
            let mut one = one.words(" ");
            one.0.extend(other.0);
            one
        })
    }

    fn parts_of_claims(self, is_rate: bool, what: &str) -> Option<Sentence> {
        let part = |(at, claim): (usize, &CheckedClaim)| {
            let unit = measured::unit(Metric::of(&claim.metric));
            let number = |key: &str, value| self.number(format!("/claims/{at}/{key}"), value, unit);
            ratio(&number("measured", claim.measured), &number("claimed", claim.claimed), Unit::Share)
        };
        let order = |one: &Number, other: &Number| one.value.total_cmp(&other.value);
        let all = self.effects.claims.iter().enumerate();
        let is_own = |claim: &CheckedClaim| Metric::of(&claim.metric).more_is_better() == is_rate;
        let parts: Vec<Number> = all.filter(|(_, claim)| is_own(claim)).map(part).collect();
        let (least, most) = (parts.iter().cloned().min_by(order)?, parts.iter().cloned().max_by(order)?);
        let mind = if is_rate { "" } else { ", of which less is better" };
        Some(match parts.len() {
            1 => Sentence::of(format!("Of the claim of a {what}, found is "))
                .number(least)
                .words(format!(" of what is claimed{mind}.")),
            many => Sentence::of(format!("Of {many} claims of a {what}, found is "))
                .number(least)
                .words(" at least and ")
                .number(most)
                .words(format!(" at most of what is claimed{mind}.")),
        })
    }

    pub(super) fn claims(self) -> Table {
        let columns = ["by", "point", "cell", "figure", "claimed", "found"].map(Column::words);
        let row = |(at, claim): (usize, &CheckedClaim)| {
            let metric = Metric::of(&claim.metric);
            let number =
                |key: &str, value| self.number(format!("/claims/{at}/{key}"), value, measured::unit(metric));
            let (claimed, found) = (number("claimed", claim.claimed), number("measured", claim.measured));
            let part = ratio(&found, &claimed, Unit::Share);
            vec![
                Cell::words(&claim.by),
                Cell::words(format!("{}: {}", claim.plan, claim.point)),
                Cell::words(self.named(&claim.levels)),
                Cell::words(match metric {
                    Metric::Iops => "IOPS".into(),
                    Metric::Throughput => "MB/s".into(),
                    other => other.name(),
                }),
                Cell::number(Some(claimed)),
                Cell::number(Some(found)),
                Cell::number(Some(part)),
            ]
        };
        let columns = columns.into_iter().chain([Column::numbers("found of claimed", Unit::Share)]);
        // What is furthest off comes first.
        let mut claims: Vec<(usize, &CheckedClaim)> = self.effects.claims.iter().enumerate().collect();
        claims.sort_by(|one, other| other.1.off().total_cmp(&one.1.off()));
        Table {
            title: "claims".into(),
            columns: columns.collect(),
            rows: claims.into_iter().map(row).collect(),
        }
    }
}
