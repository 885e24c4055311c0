//! How much at which load: rate and latency along the innermost key of a sweep.

mod apart;

use chart::{Axis, Chart, HUES, Line, Mark, Plot, Rule, Scale, Unit};

use crate::document::{Cell, Column, Figure, Sentence, Table};
use record::{Component, Metric};
use report::capital;

use crate::measured::{self, Measured};
use crate::number::Number;
use crate::sweep::{Along, Phase, Step, is_number, name_of, pair, shown};

use super::knee::Knee;
use super::{Subject, band, best, leads, ratio};

/// A part of the highest rate at which more load brings little more.
const NEARLY: f64 = 0.9;
/// Lines of one panel that have their ceilings drawn.
const CEILINGS: usize = 3;
/// Lines that a reading names.
const TOLD: usize = 2;
/// What is swept where the read-ahead is.
const READ_AHEAD: &str = "read_ahead";

/// What a section on `phase` is called: `4 KiB random, by queue depth`; by the key alone where it is several phases, or
/// where its name is nothing but the values of its points.
pub(super) fn heading(phase: &Phase<'_>) -> String {
    let by = phase.inner().map(name_of).unwrap_or_default();
    if let Some(of) = &phase.of {
        return format!("{of}, by requests in flight");
    }
    let title = phase.phase_title();
    // A title that is the name of the key says it once.
    let is_key = title.trim_matches(['…', ' ']).eq_ignore_ascii_case(&by);
    let words = !is_key && title.split(['…', ' ', ',']).any(|word| word.chars().any(char::is_alphabetic));
    if phase.outer().is_empty() && words { format!("{title}, by {by}") } else { format!("By {by}") }
}

/// Rates along the key; latency against rate where load grows along it, otherwise throughput.
pub(super) fn figures(subject: &Subject<'_>, phase: &Phase<'_>) -> Vec<Figure> {
    let lines = phase.along();
    if lines.iter().all(|line| line.points.len() < 2) {
        return Vec::new();
    }
    let headline = phase.points.first().map_or(Metric::Iops, |one| one.headline());
    let metric = if headline.more_is_better() { headline } else { Metric::Iops };
    let mut figures: Vec<Figure> = along(subject, phase, &lines, metric).into_iter().collect();
    if phase.is_load() {
        figures.extend(latency(subject, phase, &lines));
    } else {
        let other = if metric == Metric::Iops { Metric::Throughput } else { Metric::Iops };
        figures.extend(along(subject, phase, &lines, other));
    }
    figures
}

/// A line with its name and its hue.
type Named<'l, 'a> = (String, usize, &'l Along<'a>);
/// A panel's title, and its lines.
type Panel<'l, 'a> = (String, Vec<Named<'l, 'a>>);

/// Lines by panel: where several runs and several outer values meet, a panel for each value, with a line for each run. Of one
/// run the values of the last outer key are the lines; where they all together were more than there are hues, those of the
/// others have a panel each.
struct Panels<'l, 'a> {
    panels: Vec<Panel<'l, 'a>>,
    /// Lines that there were, and those of them that are drawn.
    lines: (usize, usize),
}

impl<'l, 'a> Panels<'l, 'a> {
    fn of(subject: &Subject<'_>, phase: &Phase<'a>, lines: &'l [Along<'a>]) -> Panels<'l, 'a> {
        let around = |line: &Along<'_>, from: usize, to: usize| {
            let pairs = phase.outer()[from..to].iter().zip(&line.around[from..to]);
            pairs.map(|(key, value)| pair(key, value)).collect::<Vec<_>>().join(", ")
        };
        let runs = subject.labels.len() > 1;
        let long = || lines.iter().filter(|line| line.points.len() > 1);
        let outer = phase.outer().len();
        let apart = if long().count() > HUES { outer.saturating_sub(1) } else { 0 };
        let mut panels: Vec<Panel<'_, '_>> = Vec::new();
        for line in long() {
            let (panel, name, hue) = match runs {
                true => (around(line, 0, outer), subject.label(line.run).to_owned(), line.run),
                false => (around(line, 0, apart), around(line, apart, outer), 0),
            };
            let place = panels.iter().position(|(title, _)| *title == panel).unwrap_or_else(|| {
                panels.push((panel, Vec::new()));
                panels.len() - 1
            });
            let hue = if runs { hue } else { panels[place].1.len() };
            panels[place].1.push((name, hue, line));
        }
        let is_scale =
            phase.outer().last().is_some_and(|key| phase.points.iter().all(|one| is_number(one, key)));
        if is_scale && !runs {
            panels.iter_mut().for_each(|(_, lines)| thin(lines));
        }
        let drawn = panels.iter().map(|(_, lines)| lines.len()).sum();
        let all = long().count();
        assert!(drawn <= all, "what is drawn is some of all lines");
        Panels { panels, lines: (all, drawn) }
    }

    /// What a subtitle says of lines that are left out; empty where all are drawn.
    fn left_out(&self) -> String {
        match self.lines {
            (all, drawn) if drawn < all => format!("; {drawn} of {all} lines are drawn, the table has all"),
            _ => String::new(),
        }
    }

    /// The lines of all panels.
    fn lines(&self) -> impl Iterator<Item = &Named<'l, 'a>> {
        self.panels.iter().flat_map(|(_, lines)| lines)
    }
}

/// Leaves of lines along a scale as many as there are hues, evenly spread from the first to the last.
fn thin(lines: &mut Vec<Named<'_, '_>>) {
    let (count, last) = (lines.len(), HUES - 1);
    if count <= HUES {
        return;
    }
    let kept: Vec<usize> = (0..HUES).map(|place| (count - 1) * place / last).collect();
    debug_assert!(kept.is_sorted_by(|one, next| one < next), "each line is kept once, in order");
    let mut at = 0..;
    lines.retain(|_| at.next().is_some_and(|at| kept.contains(&at)));
    lines.iter_mut().enumerate().for_each(|(hue, line)| line.1 = hue);
}

fn along(subject: &Subject<'_>, phase: &Phase<'_>, lines: &[Along<'_>], metric: Metric) -> Option<Figure> {
    let panels = Panels::of(subject, phase, lines);
    let highest = panels
        .lines()
        .flat_map(|(_, _, line)| &line.points)
        .filter_map(|step| top(step, metric))
        .fold(0.0, f64::max);
    if highest <= 0.0 {
        return None;
    }
    let mut x = phase.axis()?;
    x.range = range(lines);
    let several = panels.panels.len() > 1;
    let y = Axis {
        range: several.then_some((0.0, highest)),
        ..Axis::new(measured::name(metric), measured::unit(metric), Scale::Linear)
    };
    let drawn = panels.panels.iter().map(|(title, lines)| {
        let plot = Plot {
            x: x.clone(),
            y: y.clone(),
            lines: lines.iter().map(|(name, hue, line)| line_of(name, *hue, line, metric)).collect(),
            rules: if several || phase.of.is_some() {
                Vec::new()
            } else {
                [ceilings(lines, metric), knees(subject, lines), direct(subject, phase, metric)].concat()
            },
        };
        (title.clone(), Chart::Plot(plot))
    });
    let table = table(subject, phase, lines, metric);
    Some(Figure {
        kind: if phase.is_load() { "load" } else { "sweep" },
        reading: leads(subject, &phase.cases(), metric, TOLD, true)
            .unwrap_or_else(|| reading(subject, &panels, phase, metric)),
        subtitle: format!(
            "{} against {}{}{}{}",
            capital(&measured::name(metric)),
            x.name,
            if table.has_intervals() { "; bars are 95 % intervals" } else { "" },
            if repeated(lines) { ", of repeats the median and their range" } else { "" },
            panels.left_out()
        ),
        panels: drawn.collect(),
        small: several,
        details: Vec::new(),
        table,
    })
}

fn repeated(lines: &[Along<'_>]) -> bool {
    lines.iter().flat_map(|line| &line.points).any(|step| step.repeats.len() > 1)
}

/// The upper end of what is drawn of a step.
fn top(step: &Step<'_>, metric: Metric) -> Option<f64> {
    let (number, interval) = figure(step, metric)?;
    Some(interval.map_or(number.value, |(_, high)| high.max(number.value)))
}

/// The figure of a step, and its interval: that of its one measurement, or the range of its repeats.
fn figure(step: &Step<'_>, metric: Metric) -> Option<(Number, Option<(f64, f64)>)> {
    let (number, interval) = step.median.figure(metric)?;
    if step.repeats.len() < 2 {
        return Some((number, band(interval.as_ref())));
    }
    let values = step.repeats.iter().filter_map(|one| Some(one.figure(metric)?.0.value));
    let range = values.fold((f64::MAX, f64::MIN), |(low, high), value| (low.min(value), high.max(value)));
    Some((number, Some(range)))
}

/// The same range in all panels.
fn range(lines: &[Along<'_>]) -> Option<(f64, f64)> {
    let xs = lines.iter().flat_map(|line| &line.points).map(|step| step.x);
    xs.fold(None, |range: Option<(f64, f64)>, x| {
        let (low, high) = range.unwrap_or((x, x));
        Some((low.min(x), high.max(x)))
    })
}

fn line_of(name: &str, hue: usize, line: &Along<'_>, metric: Metric) -> Line {
    let marks = line.points.iter().map(|step| {
        let figure = figure(step, metric);
        Mark {
            x: step.x,
            y: figure.as_ref().map(|(number, _)| number.value),
            band: figure.and_then(|(_, band)| band),
            label: String::new(),
        }
    });
    Line { name: name.to_owned(), hue, marked: true, points: marks.collect(), ..Line::default() }
}

/// The rate at which the part that is busiest at the highest rate would be at 100 % utilization, of disks with as many commands in each
/// as there: only a virtual array says how busy its parts are.
fn ceilings(lines: &[(String, usize, &Along<'_>)], metric: Metric) -> Vec<Rule> {
    if lines.len() > CEILINGS {
        return Vec::new();
    }
    let of_line = |(name, _, line): &(String, usize, &Along<'_>)| {
        let (_, peak, rate) = highest(line, metric)?;
        let (busiest, used, present) = busiest(peak)?;
        let most = Number { value: rate.value / used, ..rate };
        let whose = if lines.len() > 1 { format!("{name}: ") } else { String::new() };
        // A disk that takes the nearest of what waits does more with more.
        let among = if busiest == "disk" { format!(" at queue depth {present:.1}") } else { String::new() };
        Some(Rule::Level(most.value, format!("{whose}{busiest} 100 % busy{among}: {}", most.text())))
    };
    lines.iter().filter_map(of_line).collect()
}

/// What the same stream does past the page cache, beside a sweep of the read-ahead.
fn direct(subject: &Subject<'_>, phase: &Phase<'_>, metric: Metric) -> Vec<Rule> {
    let Some(first) = phase.points.first().filter(|_| phase.inner() == Some(READ_AHEAD)) else {
        return Vec::new();
    };
    let all = subject.of_plan(&subject.runs[first.run].plan.name);
    let is_direct = |one: &Measured<'_>| {
        one.run == first.run
            && one.point.phase != first.point.phase
            && one.headline() == first.headline()
            && one.point.workloads.iter().all(|workload| workload.spec.direct)
    };
    let found = all.into_iter().find(is_direct).and_then(|one| Some((one, one.figure(metric)?.0)));
    let level = |(one, number): (Measured<'_>, Number)| {
        Rule::Level(number.value, format!("{}: {}", one.point.name, number.text()))
    };
    found.map(level).into_iter().collect()
}

/// Where more load no longer pays.
fn knees(subject: &Subject<'_>, lines: &[(String, usize, &Along<'_>)]) -> Vec<Rule> {
    if lines.len() > CEILINGS {
        return Vec::new();
    }
    let of_line = |(name, _, line): &(String, usize, &Along<'_>)| {
        let name = if lines.len() > 1 { name } else { "" };
        Some(Knee::of(subject, line)?.rule(name))
    };
    lines.iter().filter_map(of_line).collect()
}

/// The busiest kind of part, by the mean of its members, how busy it is, and what waits or is served at each.
fn busiest(measured: Measured<'_>) -> Option<(String, f64, f64)> {
    let components = &measured.point.breakdown.as_ref()?.components;
    let groups = super::parts::by_kind(components);
    let busy = groups.into_iter().map(|(kind, mut members)| {
        // What nothing came to is no measure of those that worked.
        members.retain(|(_, component)| component.utilisation > 0.0);
        let mean = |of: fn(&Component) -> f64| {
            members.iter().map(|(_, component)| of(component)).sum::<f64>() / members.len().max(1) as f64
        };
        (kind, mean(|one| one.utilisation), mean(|one| one.mean_in_system))
    });
    busy.max_by(|one, other| one.1.total_cmp(&other.1)).filter(|(_, used, _)| *used > 0.05)
}

fn reading(subject: &Subject<'_>, panels: &Panels<'_, '_>, phase: &Phase<'_>, metric: Metric) -> Sentence {
    let mut sentence = Sentence::default();
    let several = panels.panels.len() > 1;
    let all: Vec<(String, &Along<'_>)> = panels
        .panels
        .iter()
        .flat_map(|(panel, lines)| {
            lines.iter().map(move |(name, _, line)| {
                (if several && !panel.is_empty() { format!("{name}, {panel}") } else { name.clone() }, *line)
            })
        })
        .collect();
    for (name, line) in all.iter().take(TOLD) {
        let steps = || line.points.iter().filter_map(|step| Some((step, figure(step, metric)?.0)));
        let Some((peak, at, most)) = highest(line, metric) else { continue };
        if !sentence.is_empty() {
            sentence = sentence.words("; ");
        }
        let is_most = steps().all(|(_, number)| number.value <= most.value);
        let highest = match (name.is_empty(), is_most) {
            (true, true) => "The highest is ".to_owned(),
            (false, true) => format!("{name}: at most "),
            (true, false) => "The highest that is certain is ".to_owned(),
            (false, false) => format!("{name}: the highest that is certain is "),
        };
        sentence = sentence.words(highest).number(most.clone()).words(format!(
            "{} at {} {}",
            measured::behind(metric),
            phase.inner().map(name_of).unwrap_or_default(),
            shown(peak.text)
        ));
        if let Some((tail, _)) = at.figure(Metric::Quantile(0.99)).filter(|_| metric.more_is_better()) {
            sentence = sentence.words(", p99 ").number(tail);
        }
        let nearly = steps().find(|(_, number)| (NEARLY..=1.0).contains(&(number.value / most.value)));
        let is_growth = phase.is_load() || phase.inner() == Some(READ_AHEAD);
        if let Some((step, number)) = nearly.filter(|(step, _)| is_growth && step.x < peak.x) {
            sentence = sentence.words(", ").number(ratio(&number, &most, Unit::Share));
            sentence = sentence.words(format!(
                " of that already at {} {}",
                phase.inner().map(name_of).unwrap_or_default(),
                shown(step.text)
            ));
        }
        if let Some((step, number)) =
            steps().next().filter(|(step, _)| !phase.is_load() && is_growth && step.x < peak.x)
        {
            sentence = sentence.words(", ").number(ratio(&most, &number, Unit::Ratio));
            sentence = sentence.words(format!(" what it is at {}", shown(step.text)));
        }
        if let Some(knee) = Knee::of(subject, line) {
            sentence = sentence.words(", the knee at ").number(knee.load).words(" in flight");
        }
    }
    if all.len() > TOLD {
        let place = if panels.left_out().is_empty() { "chart" } else { "table" };
        sentence = sentence.words(format!("; {} more in the {place}", panels.lines.0 - TOLD));
    }
    if sentence.is_empty() { sentence } else { sentence.words(".") }
}

/// The step and the measurement of the highest figure of all, and that figure.
fn highest<'l, 'a>(line: &'l Along<'a>, metric: Metric) -> Option<(&'l Step<'a>, Measured<'a>, Number)> {
    let all: Vec<Measured<'a>> = line.points.iter().flat_map(|step| &step.repeats).copied().collect();
    let (one, number) = best(&all, metric)?;
    let is_its = |step: &&Step<'a>| step.repeats.iter().any(|own| (own.run, own.at) == (one.run, one.at));
    Some((line.points.iter().find(is_its)?, one, number))
}

/// Latency against the rate that was reached, a line for each, points labelled by their load.
fn latency(subject: &Subject<'_>, phase: &Phase<'_>, lines: &[Along<'_>]) -> Option<Figure> {
    let panels = Panels::of(subject, phase, lines);
    let metric = [Metric::Quantile(0.99), Metric::Mean].into_iter().find(|metric| {
        let mut steps = panels.lines().flat_map(|(_, _, line)| &line.points);
        steps.all(|step| step.median.figure(*metric).is_some())
    })?;
    let value = |step: &Step<'_>, metric| Some(step.median.figure(metric)?.0.value);
    let extent = |metric| {
        let values = lines.iter().flat_map(|line| &line.points).filter_map(|step| value(step, metric));
        values.fold((f64::MAX, 0.0), |(low, high), value| (f64::min(low, value), f64::max(high, value)))
    };
    let several = panels.panels.len() > 1;
    let (rates, latencies) = (extent(Metric::Iops), extent(metric));
    let name = |key: &str| format!("{key} ");
    let key = phase.inner().map(name_of).unwrap_or_default();
    let has_knee = panels.lines().any(|(_, _, line)| Knee::of(subject, line).is_some());
    let drawn = panels.panels.iter().map(|(title, lines)| {
        let plot = Plot {
            x: Axis {
                range: several.then_some((0.0, rates.1)),
                ..Axis::new("rate", Unit::PerSecond, Scale::Linear)
            },
            y: Axis {
                range: several.then_some(latencies),
                ..Axis::new(measured::name(metric), Unit::Nanos, Scale::Log10)
            },
            lines: lines
                .iter()
                .map(|(name, hue, line)| curve(name, *hue, line, metric, Knee::of(subject, line).as_ref()))
                .collect(),
            rules: Vec::new(),
        };
        (title.clone(), Chart::Plot(plot))
    });
    let first = panels.panels.first().and_then(|(title, lines)| Some((title, lines.first()?)));
    let apart = apart::latencies(&panels, metric, &key);
    let reading = apart.or_else(|| {
        first.and_then(|(title, (name_of_line, _, line))| {
            let (first, last) = (line.points.first()?, line.points.last()?);
            let (low, high) = (first.median.figure(metric)?.0, last.median.figure(metric)?.0);
            // A label keeps its case: it may be the name of a file.
            let several = panels.lines().count() > 1;
            let names = [name_of_line, title].into_iter().filter(|name| !name.is_empty());
            let name_of_line = names.cloned().collect::<Vec<_>>().join(", ");
            let of = if several { format!("{name_of_line}: ") } else { String::new() };
            let told = measured::name(metric);
            let told = if several { told } else { capital(&told) };
            Some(
                Sentence::of(format!("{of}{told} is "))
                    .number(low)
                    .words(format!(" at {}{} and ", name(&key), first.text))
                    .number(high)
                    .words(format!(" at {}.", last.text)),
            )
        })
    });
    Some(Figure {
        kind: "latency",
        reading: reading.unwrap_or_default(),
        subtitle: format!(
            "{} against the rate that was reached; points are labelled by {key}{}{}",
            capital(&measured::name(metric)),
            if has_knee { ", with the one that is nearest to the knee" } else { "" },
            panels.left_out()
        ),
        panels: drawn.collect(),
        small: several,
        details: Vec::new(),
        table: latencies_table(subject, phase, lines),
    })
}

fn curve(name: &str, hue: usize, line: &Along<'_>, metric: Metric, knee: Option<&Knee>) -> Line {
    let marks = line.points.iter().filter_map(|step| {
        let (rate, (latency, interval)) = (step.median.figure(Metric::Iops)?.0, step.median.figure(metric)?);
        Some(Mark {
            x: rate.value,
            y: Some(latency.value),
            band: band(interval.as_ref()),
            label: match knee.is_some_and(|knee| knee.is_at(line, step)) {
                true => format!("{}, knee", shown(step.text)),
                false => shown(step.text),
            },
        })
    });
    Line { name: name.to_owned(), hue, marked: true, points: marks.collect(), ..Line::default() }
}

/// Of each line a column, of each value a row.
fn table(subject: &Subject<'_>, phase: &Phase<'_>, lines: &[Along<'_>], metric: Metric) -> Table {
    let title = |line: &Along<'_>| {
        let title = subject.named(line.run, &around(line));
        if title.is_empty() { measured::name(metric) } else { title }
    };
    let cell = |line: &Along<'_>, text: &str| {
        let step = line.points.iter().find(|step| step.text == text);
        step.map_or(Cell::Empty, |step| step.median.cell(metric))
    };
    let columns = lines.iter().map(|line| Column::numbers(title(line), measured::unit(metric)));
    let rows = values(lines).into_iter().map(|text| {
        std::iter::once(Cell::words(shown(text))).chain(lines.iter().map(|line| cell(line, text))).collect()
    });
    Table {
        title: format!("{} by {}", measured::name(metric), phase.inner().map(name_of).unwrap_or_default()),
        columns: std::iter::once(Column::words(phase.inner().map(name_of).unwrap_or_default()))
            .chain(columns)
            .collect(),
        rows: rows.collect(),
    }
}

/// The values of the other keys that a line has.
fn around(line: &Along<'_>) -> String {
    line.around.iter().map(|value| shown(value)).collect::<Vec<_>>().join(", ")
}

/// The values along the axis that any line has, in order.
fn values<'a>(lines: &[Along<'a>]) -> Vec<&'a str> {
    let mut values: Vec<(f64, &str)> = Vec::new();
    for step in lines.iter().flat_map(|line| &line.points) {
        if !values.iter().any(|(_, text)| *text == step.text) {
            values.push((step.x, step.text));
        }
    }
    values.sort_by(|one, other| one.0.total_cmp(&other.0));
    values.into_iter().map(|(_, text)| text).collect()
}

/// A row for each point: its load, its rate, its latencies.
fn latencies_table(subject: &Subject<'_>, phase: &Phase<'_>, lines: &[Along<'_>]) -> Table {
    const METRICS: [Metric; 5] =
        [Metric::Iops, Metric::Mean, Metric::Quantile(0.5), Metric::Quantile(0.99), Metric::Quantile(0.999)];
    let mut columns =
        vec![Column::words("line"), Column::words(phase.inner().map(name_of).unwrap_or_default())];
    columns.extend(METRICS.map(|metric| Column::numbers(measured::name(metric), measured::unit(metric))));
    let row = |line: &Along<'_>, step: &Step<'_>| {
        let figures =
            METRICS.map(|metric| Cell::number(step.median.figure(metric).map(|(number, _)| number)));
        let head = [Cell::words(subject.named(line.run, &around(line))), Cell::words(shown(step.text))];
        head.into_iter().chain(figures).collect()
    };
    let rows = lines.iter().flat_map(|line| line.points.iter().map(move |step| row(line, step)));
    Table { title: "latency by load".into(), columns, rows: rows.collect() }
}

/// Where a number of a component stands.
pub(super) fn component(measured: Measured<'_>, index: usize, key: &str, value: f64, unit: Unit) -> Number {
    measured.number(&format!("/breakdown/components/{index}/{key}"), value, unit)
}
