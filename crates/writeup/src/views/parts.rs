//! Where the time goes, and how busy each part is: of virtual arrays, which know.

use chart::{Axis, Bar, Bars, Chart, HUES, Heat, Scale, Segment, Unit};
use record::{Component, Metric, ResponseShare};
use report::grouped;

use crate::document::{Cell, Column, Figure, Sentence, Table};
use crate::measured::Measured;
use crate::number::{Number, Source};
use crate::sweep::is_load;

use super::devices::kind;
use super::{Subject, best, load, ratio};

/// Bars and parts that are shown; a reader compares no more at a glance.
const SHOWN: usize = 16;
/// Kinds of parts beside each other.
const KINDS: usize = 6;

/// A class of requests of one point.
struct Traced<'a> {
    name: String,
    measured: Measured<'a>,
    index: usize,
    share: &'a ResponseShare,
}

impl Traced<'_> {
    fn number(&self, rest: &str, value: f64) -> Number {
        self.measured.number(&format!("/breakdown/shares/{}/all/{rest}", self.index), value, Unit::Nanos)
    }

    /// What requests spent at `part`, waiting and being served.
    fn part(&self, part: &str) -> Option<Number> {
        let place = self.share.all.parts.iter().position(|own| own.part == part)?;
        let own = &self.share.all.parts[place];
        let waits = self.number(&format!("parts/{place}/wait_ns"), own.wait_ns);
        let serves = self.number(&format!("parts/{place}/service_ns"), own.service_ns);
        let source = Source::Sum(vec![waits.source, serves.source]);
        Some(Number { value: own.wait_ns + own.service_ns, unit: Unit::Nanos, source })
    }
}

pub(super) fn latency(subject: &Subject<'_>, points: &[Measured<'_>]) -> Option<Figure> {
    let mut traced: Vec<Traced<'_>> = points.iter().flat_map(|one| of_point(subject, *one)).collect();
    traced.truncate(SHOWN);
    let first =
        traced.iter().max_by(|one, other| one.share.all.mean_ns.total_cmp(&other.share.all.mean_ns))?;
    let kinds = kinds(&traced);
    assert!(kinds.len() <= HUES, "each part that is drawn has a colour");
    let segments = |one: &Traced<'_>| {
        let own = kinds
            .iter()
            .enumerate()
            .filter_map(|(kind, part)| Some(Segment { kind, value: one.part(part)?.value }));
        let mut segments: Vec<Segment> = own.collect();
        let rest = one.share.all.mean_ns - segments.iter().map(|segment| segment.value).sum::<f64>();
        // However little it is: the bar is as long as the mean.
        if rest > 1e-6 * one.share.all.mean_ns {
            segments.push(Segment { kind: kinds.len(), value: rest });
        }
        segments
    };
    let bars: Vec<Bar> =
        traced.iter().map(|one| Bar { name: one.name.clone(), segments: segments(one) }).collect();
    let others = bars.iter().flat_map(|bar| &bar.segments).any(|segment| segment.kind == kinds.len());
    let names = kinds.iter().map(|kind| (*kind).to_owned());
    let chart = Bars {
        axis: Axis::new("mean latency", Unit::Nanos, Scale::Linear),
        kinds: names.map(|name| shown(&name, &traced)).chain(others.then(|| "others".to_owned())).collect(),
        bars,
    };
    let largest = kinds.iter().filter_map(|kind| Some((*kind, first.part(kind)?)));
    let largest = largest.max_by(|one, other| one.1.value.total_cmp(&other.1.value));
    let mean = first.number("mean_ns", first.share.all.mean_ns);
    let reading = largest.map(|(kind, number)| {
        let share = ratio(&number, &mean, Unit::Share);
        Sentence::of(format!("{}: {} takes ", first.name, shown(kind, &traced)))
            .number(share)
            .words(" of the mean latency of ")
            .number(mean.clone())
            .words(".")
    });
    Some(Figure {
        kind: "breakdown",
        reading: reading.unwrap_or_default(),
        subtitle: "Mean latency by part, waiting and being served together, in the order in which requests meet them"
            .into(),
        panels: vec![(String::new(), Chart::Bars(chart))],
        table: table(&traced),
        ..Figure::default()
    })
}

fn of_point<'a>(subject: &Subject<'_>, measured: Measured<'a>) -> Vec<Traced<'a>> {
    let shares = measured.point.breakdown.iter().flat_map(|breakdown| &breakdown.shares).enumerate();
    let several = measured.point.workloads.len() > 1;
    let name = |share: &ResponseShare| {
        let workload = if several { format!("{} ", share.workload) } else { String::new() };
        subject.named(measured.run, &format!("{}: {workload}{}", measured.point.name, share.op))
    };
    shares.map(|(index, share)| Traced { name: name(share), measured, index, share }).collect()
}

/// The parts that take most of any bar, in the order in which requests meet them; the rest is told together.
fn kinds<'a>(traced: &[Traced<'a>]) -> Vec<&'a str> {
    let most = |name: &str| {
        let parts = traced.iter().flat_map(|one| one.share.all.parts.iter().map(move |part| (one, part)));
        let own = parts.filter(|(_, part)| part.part == name);
        own.map(|(one, part)| (part.wait_ns + part.service_ns) / one.share.all.mean_ns).fold(0.0, f64::max)
    };
    let met: Vec<(&str, f64)> = met(traced).into_iter().map(|name| (name, most(name))).collect();
    let mut largest: Vec<f64> = met.iter().map(|(_, share)| *share).collect();
    largest.sort_by(|one, other| other.total_cmp(one));
    let least = largest.get(HUES - 1).copied().unwrap_or(0.0).max(0.01);
    met.into_iter().filter(|(_, share)| *share >= least).map(|(name, _)| name).take(HUES).collect()
}

/// What a part is called: of drives whose service is told by its steps, what is left is the wait for them.
fn shown(part: &str, traced: &[Traced<'_>]) -> String {
    let is_told = |one: &Traced<'_>| one.share.all.parts.iter().any(|own| own.part.starts_with("disk "));
    if part == "disk" && traced.iter().any(is_told) { "disk queue".into() } else { part.to_owned() }
}

/// All parts, in the order in which requests meet them: each has those that it met in that order, and one that only some met
/// comes behind the part that these met before.
fn met<'a>(traced: &[Traced<'a>]) -> Vec<&'a str> {
    let mut met: Vec<&str> = Vec::new();
    for one in traced {
        let mut next = 0;
        for part in &one.share.all.parts {
            let place = met.iter().position(|known| *known == part.part).unwrap_or_else(|| {
                met.insert(next, &part.part);
                next
            });
            next = next.max(place + 1);
        }
    }
    met
}

fn table(traced: &[Traced<'_>]) -> Table {
    let parts = met(traced);
    let columns = traced.iter().map(|one| Column::numbers(&one.name, Unit::Nanos));
    let mut rows: Vec<Vec<Cell>> = Vec::new();
    for part in parts {
        let cells = traced.iter().map(|one| Cell::number(one.part(part)));
        rows.push(std::iter::once(Cell::words(shown(part, traced))).chain(cells).collect());
    }
    let totals = traced.iter().map(|one| Cell::number(Some(one.number("mean_ns", one.share.all.mean_ns))));
    rows.push(std::iter::once(Cell::words("all")).chain(totals).collect());
    Table {
        title: "latency by part".into(),
        columns: std::iter::once(Column::words("part")).chain(columns).collect(),
        rows,
    }
}

/// Components by their kind: `disk 3` and `disk 7` are disks. With each its place. Disks that have failed, wait as a spare or are being
/// filled are left out.
pub(super) fn by_kind(components: &[Component]) -> Vec<(String, Vec<(usize, &Component)>)> {
    let working = components.iter().enumerate().filter(|(_, component)| component.is_working());
    grouped(working.map(|(index, component)| (kind(&component.name), (index, component))))
}

/// How busy the busiest of each kind of part is, at the point of each load with the highest rate.
pub(super) fn utilisation(subject: &Subject<'_>, points: &[Measured<'_>]) -> Option<Figure> {
    let is_known = |one: &&Measured<'_>| {
        one.point.breakdown.as_ref().is_some_and(|breakdown| !breakdown.components.is_empty())
    };
    let known: Vec<Measured<'_>> = points.iter().filter(is_known).copied().collect();
    let chosen = busiest_points(&known);
    let kinds = busiest_kinds(&chosen);
    let names: Vec<String> = chosen.iter().map(|one| subject.named(one.run, &one.point.name)).collect();
    let highest = chosen.iter().zip(&names).flat_map(|(one, name)| {
        kinds.iter().filter_map(move |kind| Some((name, kind, busiest_of(one, kind)?)))
    });
    let (name, kind, busiest) = highest.max_by(|one, other| one.2.value.total_cmp(&other.2.value))?;
    let reading = Sentence::of(format!("{name}: the busiest {kind} is ")).number(busiest).words(" busy.");
    let heat = Heat {
        x_name: String::new(),
        columns: kinds.clone(),
        y_name: String::new(),
        rows: names.iter().rev().cloned().collect(),
        unit: Unit::Share,
        values: chosen
            .iter()
            .rev()
            .map(|one| kinds.iter().map(|kind| Some(busiest_of(one, kind)?.value)).collect())
            .collect(),
        range: Some((0.0, 1.0)),
        logarithmic: false,
    };
    let cells =
        |one: &Measured<'_>| kinds.iter().map(|kind| Cell::number(busiest_of(one, kind))).collect::<Vec<_>>();
    let rows = chosen.iter().zip(&names);
    let table = Table {
        title: "utilization".into(),
        columns: std::iter::once(Column::words("point"))
            .chain(kinds.iter().map(|kind| Column::numbers(kind, Unit::Share)))
            .collect(),
        rows: rows
            .map(|(one, name)| std::iter::once(Cell::words(name)).chain(cells(one)).collect())
            .collect(),
    };
    Some(Figure {
        kind: "utilization",
        reading,
        subtitle:
            "Utilization of the busiest part of each kind, at the highest rate of each load that is certain"
                .into(),
        panels: vec![(String::new(), Chart::Heat(heat))],
        table,
        ..Figure::default()
    })
}

/// How busy the busiest part of `kind` is.
fn busiest_of(one: &Measured<'_>, kind: &str) -> Option<Number> {
    let components = &one.point.breakdown.as_ref()?.components;
    let (_, members) = by_kind(components).into_iter().find(|(own, _)| own == kind)?;
    let numbers: Vec<Number> = members
        .into_iter()
        .map(|(index, part)| load::component(*one, index, "utilisation", part.utilisation, Unit::Share))
        .collect();
    let value = numbers.iter().map(|number| number.value).fold(0.0, f64::max);
    let source = Source::Most(numbers.into_iter().map(|number| number.source).collect());
    Some(Number { value, unit: Unit::Share, source })
}

/// The kinds of parts that are busiest anywhere, the busiest first.
fn busiest_kinds(points: &[Measured<'_>]) -> Vec<String> {
    let mut kinds: Vec<(String, f64)> = Vec::new();
    for one in points {
        let components = one.point.breakdown.iter().map(|breakdown| by_kind(&breakdown.components));
        for (kind, _) in components.flatten() {
            let busy = busiest_of(one, &kind).map_or(0.0, |number| number.value);
            match kinds.iter_mut().find(|(known, _)| *known == kind) {
                Some((_, most)) => *most = most.max(busy),
                None => kinds.push((kind, busy)),
            }
        }
    }
    kinds.sort_by(|one, other| other.1.total_cmp(&one.1));
    kinds.into_iter().take(KINDS).map(|(kind, _)| kind).collect()
}

/// Of each run and load the point with the highest rate. A load is a phase at one setting of all that is swept besides it;
/// where those are too many for a reader, a phase.
fn busiest_points<'a>(points: &[Measured<'a>]) -> Vec<Measured<'a>> {
    let setting = |one: &Measured<'a>| {
        let around = one.point.swept.iter().filter(|(key, _)| !is_load(key));
        (one.run, one.point.phase.as_str(), around.collect::<Vec<_>>())
    };
    let chosen = highest_of_each(points, setting);
    if chosen.len() <= SHOWN {
        return chosen;
    }
    let mut of_phases = highest_of_each(points, |one| (one.run, one.point.phase.as_str()));
    of_phases.truncate(SHOWN);
    of_phases
}

/// The point with the highest rate of those that `load` gives the same, in the order of the runs.
fn highest_of_each<'a, L: PartialEq>(
    points: &[Measured<'a>],
    load: impl Fn(&Measured<'a>) -> L,
) -> Vec<Measured<'a>> {
    let loads = grouped(points.iter().map(|one| (load(one), *one)));
    let highest =
        |own: &Vec<Measured<'a>>| best(own, Metric::Iops).map(|(one, _)| one).or(own.first().copied());
    let mut chosen: Vec<Measured<'a>> = loads.iter().filter_map(|(_, own)| highest(own)).collect();
    chosen.sort_by_key(|one| one.run);
    chosen
}
