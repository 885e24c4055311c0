//! What each device and link beneath the target did, second by second.

use chart::{Axis, Chart, HUES, Line, Mark, Plot, Scale, Stack, Unit};
use record::Series;

use crate::document::{Cell, Column, Figure, Sentence, Table};
use crate::measured::Measured;
use crate::number::{Number, Source};

use super::Subject;

/// Panels that a reader looks at.
const PANELS: usize = 4;
/// Fewer samples are no course.
const LEAST: usize = 8;
/// Marks of a line: more than a screen has places for.
const MARKS: usize = 300;

/// What is drawn of a device: its name at the axis, its unit, and the series that are added up to it.
const MEASURES: [(&str, Unit, &[&str]); 3] = [
    ("busy", Unit::Share, &["busy"]),
    (
        "throughput",
        Unit::BytesPerSecond,
        &["read_bytes_per_s", "write_bytes_per_s", "received_bytes_per_s", "sent_bytes_per_s"],
    ),
    ("queue", Unit::Count, &["queue_mean"]),
];

/// A panel for each point, a line for each of its devices.
pub(super) fn figures(subject: &Subject<'_>, points: &[Measured<'_>]) -> Vec<Figure> {
    let mut panels: Vec<(String, Vec<Device<'_>>)> = points
        .iter()
        .map(|one| (subject.named(one.run, &one.point.name), devices(*one)))
        .filter(|(_, devices)| !devices.is_empty())
        .collect();
    panels.truncate(PANELS);
    let Some(reading) = panels.first().and_then(|(name, devices)| reading(name, devices)) else {
        return Vec::new();
    };
    let small = panels.len() > 1;
    let title = |name: &str| if small { name.to_owned() } else { String::new() };
    vec![Figure {
        kind: "devices",
        reading,
        subtitle: "Devices and links beneath the target, by the counters of the system".into(),
        panels: panels.iter().map(|(name, devices)| (title(name), Chart::Stack(stack(devices)))).collect(),
        small,
        table: table(&panels),
    }]
}

/// One device beside one point.
struct Device<'a> {
    name: &'a str,
    measured: Measured<'a>,
}

/// What is watched beneath the target, the busiest kinds first; not more than can be told apart.
fn devices(measured: Measured<'_>) -> Vec<Device<'_>> {
    let mut names: Vec<&str> = Vec::new();
    for kind in ["disk", "net"] {
        for series in &measured.point.series {
            let rest = series.name.strip_prefix(kind).and_then(|rest| rest.strip_prefix('.'));
            let Some((name, what)) = rest.and_then(|rest| rest.rsplit_once('.')) else { continue };
            let is_drawn = MEASURES.iter().any(|(.., own)| own.contains(&what));
            if is_drawn && series.values.len() >= LEAST && !names.contains(&name) {
                names.push(name);
            }
        }
    }
    names.into_iter().take(HUES).map(|name| Device { name, measured }).collect()
}

impl<'a> Device<'a> {
    /// Its series that are called so, with their places.
    fn series(&self, what: &[&str]) -> Vec<(usize, &'a Series)> {
        let is_it = |series: &Series| {
            let rest = series.name.strip_prefix("disk.").or_else(|| series.name.strip_prefix("net."));
            let parts = rest.and_then(|rest| rest.rsplit_once('.'));
            parts.is_some_and(|(name, own)| name == self.name && what.contains(&own))
        };
        self.measured.point.series.iter().enumerate().filter(|(_, series)| is_it(series)).collect()
    }

    /// Sums of the series by sample, with its place and the time since the point began. What a sample says that ends a
    /// moment after the one before it, as the last one of a load does, is chance.
    fn sums(&self, what: &[&str]) -> Vec<(usize, f64, f64)> {
        let all = self.series(what);
        let Some((_, first)) = all.first() else { return Vec::new() };
        let ends = &first.at_ns;
        let gap = |at: usize| at.checked_sub(1).map(|before| ends[at].saturating_sub(ends[before]));
        let usual = if ends.len() > 1 { gap(1).unwrap_or(0) } else { 0 };
        let is_whole = |at: &usize| gap(*at).is_none_or(|gap| gap >= usual / 2);
        let sum = |at: usize| {
            let values = all.iter().filter_map(|(_, series)| series.values.get(at));
            let since_ns = ends[at].saturating_sub(self.measured.point.started_ns);
            (at, since_ns as f64 / 1e9, values.sum::<f64>())
        };
        (0..ends.len()).filter(is_whole).map(sum).collect()
    }

    fn marks(&self, what: &[&str]) -> Vec<Mark> {
        let sums = self.sums(what);
        let mark = |stretch: &[(usize, f64, f64)]| Mark {
            x: stretch[stretch.len() / 2].1,
            y: Some(stretch.iter().map(|(.., value)| value).sum::<f64>() / stretch.len() as f64),
            ..Mark::default()
        };
        sums.chunks(sums.len().div_ceil(MARKS).max(1)).map(mark).collect()
    }

    /// The largest of all samples.
    fn most(&self, what: &[&str], unit: Unit) -> Option<Number> {
        let (at, _, value) = self.sums(what).into_iter().max_by(|one, other| one.2.total_cmp(&other.2))?;
        let parts = self.series(what).into_iter().filter(|(_, series)| series.values.len() > at);
        let source = |(index, _): (usize, &Series)| {
            Source::At(self.measured.run, format!("/points/{}/series/{index}/values/{at}", self.measured.at))
        };
        let mut sources: Vec<Source> = parts.map(source).collect();
        let source = if sources.len() == 1 { sources.pop()? } else { Source::Sum(sources) };
        Some(Number { value, unit, source })
    }
}

fn stack(devices: &[Device<'_>]) -> Stack {
    let plot = |(name, unit, what): &(&str, Unit, &[&str])| {
        let line = |(hue, device): (usize, &Device<'_>)| Line {
            name: device.name.into(),
            hue,
            points: device.marks(what),
            ..Line::default()
        };
        Plot {
            x: Axis::new("time", Unit::Seconds, Scale::Linear),
            y: Axis {
                range: (*unit == Unit::Share).then_some((0.0, 1.0)),
                ..Axis::new(*name, *unit, Scale::Linear)
            },
            lines: devices.iter().enumerate().map(line).collect(),
            rules: Vec::new(),
        }
    };
    let has_points = |plot: &Plot| plot.lines.iter().any(|line| !line.points.is_empty());
    Stack { plots: MEASURES.iter().map(plot).filter(has_points).collect() }
}

fn reading(point: &str, devices: &[Device<'_>]) -> Option<Sentence> {
    let each = devices.iter().flat_map(|device| {
        MEASURES.iter().filter_map(move |(name, unit, what)| Some((device, *name, device.most(what, *unit)?)))
    });
    let by_value = |one: &(&Device<'_>, &str, Number), other: &(&Device<'_>, &str, Number)| {
        one.2.value.total_cmp(&other.2.value)
    };
    let of = |measure: &str| each.clone().filter(|(_, name, _)| *name == measure).max_by(by_value);
    let start = |device: &Device<'_>| Sentence::of(format!("{point}: {} was at most ", device.name));
    match (of("busy"), of("throughput")) {
        (Some((device, _, number)), _) => Some(start(device).number(number).words(" busy.")),
        (None, Some((device, _, number))) => {
            Some(Sentence::of(format!("{point}: {} moved at most ", device.name)).number(number).words("."))
        }
        _ => None,
    }
}

/// The largest sample of each.
fn table(panels: &[(String, Vec<Device<'_>>)]) -> Table {
    let mut columns = vec![Column::words("point"), Column::words("device")];
    columns.extend(MEASURES.iter().map(|(name, unit, _)| Column::numbers(format!("highest {name}"), *unit)));
    let row = |point: &str, device: &Device<'_>| {
        let words = [Cell::words(point), Cell::words(device.name)];
        let numbers = MEASURES.iter().map(|(_, unit, what)| Cell::number(device.most(what, *unit)));
        words.into_iter().chain(numbers).collect()
    };
    let rows = panels.iter().flat_map(|(name, devices)| devices.iter().map(move |device| row(name, device)));
    Table { title: "devices over time".into(), columns, rows: rows.collect() }
}
