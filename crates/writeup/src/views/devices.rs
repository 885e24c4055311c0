//! What each device and link beneath the target did, second by second; of a virtual array each part.

use chart::{Chart, HUES, Rule, Unit};
use record::Series;
use record::names::series::{BUSY, PART};
use report::distinct;

use crate::document::{Cell, Column, Course, CoursePlot, Detail, Figure, Samples, Sentence, Table};
use crate::measured::Measured;
use crate::number::Number;
use crate::samples::{Join, joined, stack, thinned};

use super::{Subject, foremost, turn_of};

/// Panels that a reader looks at.
const PANELS: usize = 4;
/// Fewer samples are no course.
const LEAST: usize = 8;

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
        .map(|one| (subject.named(one.run, &turn_of(one.point)), devices(*one)))
        .filter(|(_, devices)| !devices.is_empty())
        .collect();
    panels.truncate(PANELS);
    let hues = hues(&panels);
    let first = foremost(&panels, |(_, devices)| devices[0].measured);
    let Some(reading) = first.and_then(|(name, devices)| reading(name, devices)) else {
        return Vec::new();
    };
    let small = panels.len() > 1;
    let title = |name: &str| if small { name.to_owned() } else { String::new() };
    let courses: Vec<Course> =
        panels.iter().map(|(name, devices)| course(title(name), devices, &hues)).collect();
    let is_virtual = panels.iter().flat_map(|(_, devices)| devices).any(|device| device.prefix == PART);
    vec![Figure {
        kind: "devices",
        reading,
        subtitle: match is_virtual {
            true => "Utilization of parts of the virtual array over time; of each kind the busiest".into(),
            false => "Devices and links beneath the target, by the counters of the system".into(),
        },
        panels: courses
            .iter()
            .enumerate()
            .map(|(at, course)| {
                // What the dotted line is, is told once.
                let chart = stack(course);
                (course.title.clone(), if at > 0 { unnamed(chart) } else { chart })
            })
            .collect(),
        small,
        table: table(&panels),
        details: courses.into_iter().map(Detail::Course).collect(),
    }]
}

/// The same without the names of its events.
fn unnamed(mut chart: Chart) -> Chart {
    if let Chart::Stack(stack) = &mut chart {
        for rule in stack.plots.iter_mut().flat_map(|plot| &mut plot.rules) {
            if let Rule::Event(_, name) = rule {
                name.clear();
            }
        }
    }
    chart
}

/// One device beside one point.
#[derive(Clone, Copy)]
struct Device<'a> {
    /// How the names of its series begin: its kind.
    prefix: &'a str,
    name: &'a str,
    measured: Measured<'a>,
}

/// What is watched beneath the target, disks before links; not more than can be told apart. Of a virtual array the
/// busiest part of each kind.
fn devices(measured: Measured<'_>) -> Vec<Device<'_>> {
    let mut found: Vec<Device<'_>> = Vec::new();
    for prefix in ["disk.", "net.", PART] {
        for series in &measured.point.series {
            let rest = series.name.strip_prefix(prefix);
            let Some((name, what)) = rest.and_then(|rest| rest.rsplit_once('.')) else { continue };
            let is_drawn = MEASURES.iter().any(|(.., own)| own.contains(&what));
            let is_known = found.iter().any(|device| device.prefix == prefix && device.name == name);
            if is_drawn && series.values.len() >= LEAST && !is_known {
                found.push(Device { prefix, name, measured });
            }
        }
    }
    if found.iter().all(|device| device.prefix == PART) {
        found = busiest_of_each_kind(found);
    }
    found.truncate(HUES);
    found
}

/// Of `devices` the busiest of each kind, by how busy it was on the whole.
fn busiest_of_each_kind(devices: Vec<Device<'_>>) -> Vec<Device<'_>> {
    let sum = |device: &Device<'_>| -> f64 {
        device.series(&[BUSY]).iter().flat_map(|(_, series)| &series.values).sum()
    };
    let mut by_sum: Vec<(f64, Device<'_>)> =
        devices.into_iter().map(|device| (sum(&device), device)).collect();
    by_sum.sort_by(|one, other| other.0.total_cmp(&one.0));
    let mut first: Vec<Device<'_>> = Vec::new();
    for (_, device) in by_sum {
        if first.iter().all(|known| kind(known.name) != kind(device.name)) {
            first.push(device);
        }
    }
    first
}

/// `controller xor` of `controller 0 xor`.
pub(super) fn kind(name: &str) -> String {
    name.split(' ').filter(|word| word.parse::<u32>().is_err()).collect::<Vec<_>>().join(" ")
}

impl<'a> Device<'a> {
    /// Its series that are called so, with their places.
    fn series(&self, what: &[&str]) -> Vec<(usize, &'a Series)> {
        let is_it = |series: &Series| {
            let parts = series.name.strip_prefix(self.prefix).and_then(|rest| rest.rsplit_once('.'));
            parts.is_some_and(|(name, own)| name == self.name && what.contains(&own))
        };
        self.measured.point.series.iter().enumerate().filter(|(_, series)| is_it(series)).collect()
    }

    /// Sums of the series by sample, with the time since the point began. What a sample says that ends a moment after the
    /// one before it, as the last one of a load does, is chance.
    fn samples(&self, what: &[&str], unit: Unit) -> Samples {
        let all = self.series(what);
        let Some((_, first)) = all.first() else { return Vec::new() };
        let ends = &first.at_ns;
        let gap = |at: usize| at.checked_sub(1).map(|before| ends[at].saturating_sub(ends[before]));
        let usual = if ends.len() > 1 { gap(1).unwrap_or(0) } else { 0 };
        let is_whole = |at: &usize| gap(*at).is_none_or(|gap| gap >= usual / 2);
        let sum = |at: usize| {
            let numbers = all.iter().filter_map(|(index, series)| {
                let value = *series.values.get(at)?;
                Some(self.measured.number(&format!("/series/{index}/values/{at}"), value, unit))
            });
            Some((self.measured.since(ends[at]), joined(numbers.collect(), Join::Sum)?))
        };
        (0..ends.len()).filter(is_whole).filter_map(sum).collect()
    }

    /// The largest of all samples.
    fn most(&self, what: &[&str], unit: Unit) -> Option<Number> {
        let numbers = self.samples(what, unit).into_iter().map(|(_, number)| number);
        numbers.max_by(|one, other| one.value.total_cmp(&other.value))
    }
}

/// Every kind of device of `panels`: the place of each is its hue, so that a colour is the same kind in all of them.
fn hues(panels: &[(String, Vec<Device<'_>>)]) -> Vec<String> {
    distinct(panels.iter().flat_map(|(_, devices)| devices).map(hue_name))
}

/// What shares a hue: a part of a virtual array by its kind, a device by its name.
fn hue_name(device: &Device<'_>) -> String {
    if device.prefix == PART { kind(device.name) } else { device.name.to_owned() }
}

fn course(title: String, devices: &[Device<'_>], hues: &[String]) -> Course {
    let hue = |device: &Device<'_>| hues.iter().position(|own| *own == hue_name(device)).unwrap_or(0) % HUES;
    let plot = |(measure, unit, what): &(&str, Unit, &[&str])| CoursePlot {
        measure: (*measure).into(),
        unit: *unit,
        lines: devices
            .iter()
            .map(|device| (device.name.to_owned(), thinned(device.samples(what, *unit), Join::Mean)))
            .collect(),
    };
    let plots = MEASURES.iter().map(plot).filter(CoursePlot::has_samples).collect();
    let hues = devices.iter().map(hue).collect();
    Course { title, plots, hues, warm_up: devices.first().and_then(|device| warm_up(device.measured)) }
}

/// When the measured window of a point begins, in seconds since the point did; `None` where nothing comes before it.
fn warm_up(measured: Measured<'_>) -> Option<f64> {
    let from = measured.point.workloads.iter().map(|workload| workload.measured_from_ns).min()?;
    Some(measured.since(from)).filter(|seconds| *seconds > 0.0)
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

/// The largest sample of each, of what was sampled.
fn table(panels: &[(String, Vec<Device<'_>>)]) -> Table {
    let devices = || panels.iter().flat_map(|(_, devices)| devices);
    let is_there = |what: &[&str]| devices().any(|device| !device.series(what).is_empty());
    let measures: Vec<_> = MEASURES.iter().filter(|(.., what)| is_there(what)).collect();
    let mut columns = vec![Column::words("point"), Column::words("device")];
    columns.extend(measures.iter().map(|(name, unit, _)| Column::numbers(format!("highest {name}"), *unit)));
    let row = |point: &str, device: &Device<'_>| {
        let words = [Cell::words(point), Cell::words(device.name)];
        let numbers = measures.iter().map(|(_, unit, what)| Cell::number(device.most(what, *unit)));
        words.into_iter().chain(numbers).collect()
    };
    let rows = panels.iter().flat_map(|(name, devices)| devices.iter().map(move |device| (name, device)));
    Table {
        title: "devices over time".into(),
        columns,
        rows: rows.map(|(name, device)| row(name, device)).collect(),
    }
}
