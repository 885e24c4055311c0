//! What each rank of a load over several processes did, and on which host.

use std::collections::BTreeSet;

use chart::{Axis, Chart, Dot, Dots, Row, Scale, Unit};
use record::{RankResult, ranks};

use crate::document::{Block, Cell, Column, Figure, Section, Sentence, Table};
use crate::measured::Measured;
use crate::number::{Number, Source};

use super::{Subject, turn_of};

/// Ranks that a chart has; of more the slowest.
const DRAWN: usize = 16;

/// Of each load over ranks a row for each of them; the chart is of the load in which they differ most. Nothing of one process.
pub(super) fn section(subject: &Subject<'_>) -> Option<Section> {
    let loads: Vec<Measured<'_>> =
        subject.measured().into_iter().filter(|one| one.point.ranks.len() > 1).collect();
    let evenness = |one: &Measured<'_>| ranks::evenness(one.point);
    let has_lost = |one: &Measured<'_>| one.point.ranks.iter().any(|rank| rank.lost.is_some());
    let most = loads.iter().copied().min_by(|one, other| {
        has_lost(other).cmp(&has_lost(one)).then(evenness(one).total_cmp(&evenness(other)))
    })?;
    let figure = Figure {
        kind: "ranks",
        reading: reading(subject, most),
        subtitle: subtitle(most),
        panels: vec![(String::new(), chart(most))],
        small: false,
        table: table(subject, &loads),
        details: Vec::new(),
    };
    Some(Section { heading: "Hosts and ranks".into(), blocks: vec![Block::Figure(figure)] })
}

/// One rank of a load.
#[derive(Clone, Copy)]
struct RankOfLoad<'a> {
    load: Measured<'a>,
    at: usize,
    rank: &'a RankResult,
}

impl<'a> RankOfLoad<'a> {
    fn all(load: Measured<'a>) -> impl Iterator<Item = RankOfLoad<'a>> {
        load.point.ranks.iter().enumerate().map(move |(at, rank)| RankOfLoad { load, at, rank })
    }

    /// `rank 1 on host-b`
    fn name(self) -> String {
        format!("rank {} on {}", self.rank.rank, self.rank.host)
    }

    fn number(self, key: &str, value: f64, unit: Unit) -> Number {
        self.load.number(&format!("/ranks/{}/{key}", self.at), value, unit)
    }

    fn count(self, key: &str, value: u64) -> Number {
        self.number(key, value as f64, Unit::Count)
    }

    fn nanos(self, key: &str, value: Option<u64>) -> Option<Number> {
        value.map(|ns| self.number(key, ns as f64, Unit::Nanos))
    }

    /// For how long its requests were counted: the window, which is that of the workload with the longest; of one that was lost
    /// from the start of the load until it was last heard of.
    fn counted_for(self) -> Option<Number> {
        if self.rank.lost.is_some() {
            return self.since_start(self.nanos("heard_until_ns", self.rank.heard_until_ns)?);
        }
        let workloads = self.load.point.workloads.iter().enumerate();
        let (at, longest) = workloads.max_by_key(|(_, workload)| workload.measured_ns)?;
        let place = format!("/workloads/{at}/measured_ns");
        Some(self.load.number(&place, longest.measured_ns as f64, Unit::Nanos))
    }

    /// So many a second.
    fn per_s(self, count: Number, unit: Unit) -> Option<Number> {
        let window = self.counted_for()?;
        let value = count.value / (window.value / 1e9);
        let source = Source::Rate(Box::new((count.source, window.source)));
        (window.value > 0.0).then_some(Number { value, unit, source })
    }

    fn rate(self) -> Option<Number> {
        self.per_s(self.count("ops", self.rank.ops), Unit::PerSecond)
    }

    /// When its last worker had ended, since the load's point began.
    fn done_after(self) -> Option<Number> {
        self.since_start(self.nanos("ended_ns", self.rank.ended_ns)?)
    }

    /// An instant since the load's point began.
    fn since_start(self, at: Number) -> Option<Number> {
        let began = self.load.number("/started_ns", self.load.point.started_ns as f64, Unit::Nanos);
        let source = Source::Difference(Box::new((at.source, began.source)));
        Some(Number { value: at.value - began.value, unit: Unit::Nanos, source })
    }

    fn processor_time(self) -> Option<Number> {
        let cpu = self.rank.cpu?;
        let parts = [("cpu/user_s", cpu.user_s), ("cpu/system_s", cpu.system_s)];
        let sources = parts.map(|(key, seconds)| self.number(key, seconds, Unit::Seconds).source);
        let value = parts.iter().map(|(_, seconds)| seconds).sum();
        Some(Number { value, unit: Unit::Seconds, source: Source::Sum(sources.to_vec()) })
    }

    /// Requests of a worker.
    fn each(self) -> Number {
        let (ops, workers) =
            (self.count("ops", self.rank.ops), self.count("workers", self.rank.workers.into()));
        super::ratio(&ops, &workers, Unit::Count)
    }

    fn remark(self) -> String {
        let slowest = ranks::slowest(self.load.point);
        match &self.rank.lost {
            Some(why) => format!("lost: {why}"),
            None if slowest.is_some_and(|slow| slow.rank == self.rank.rank) => "slowest".into(),
            None => String::new(),
        }
    }
}

/// `4 ranks on 2 hosts at 4KiB random. A worker of the slowest, rank 3 on host-b, did 98 % of …`
fn reading(subject: &Subject<'_>, load: Measured<'_>) -> Sentence {
    let hosts: BTreeSet<&str> = load.point.ranks.iter().map(|rank| rank.host.as_str()).collect();
    let hosts = if hosts.len() == 1 { "1 host".into() } else { format!("{} hosts", hosts.len()) };
    let point = subject.named(load.run, &turn_of(load.point));
    let mut said = Sentence::of(format!("{point}: {} ranks on {hosts}", load.point.ranks.len()));
    for lost in RankOfLoad::all(load).filter(|part| part.rank.lost.is_some()) {
        let done = lost.count("ops", lost.rank.ops);
        said = said.words(format!("; {} was lost after ", lost.name())).number(done);
        said = said.words(" requests, which are not in the figures");
    }
    let part = |rank: &RankResult| RankOfLoad::all(load).find(|part| part.rank.rank == rank.rank);
    let by_rate = ranks::by_rate(&load.point.ranks);
    let slow = ranks::slowest(load.point).and_then(part);
    if let (Some(slow), Some(quick)) = (slow, by_rate.last().and_then(|rank| part(rank))) {
        let share = super::ratio(&slow.each(), &quick.each(), Unit::Share);
        said = said.words(format!("; a worker of {}, the slowest, did ", slow.name())).number(share);
        said = said.words(format!(" of what one of {} did", quick.name()));
    } else if by_rate.len() > 1 {
        said = said.words("; a worker of each did as much as one of any other, to the percent");
    }
    let counted = || RankOfLoad::all(load).filter(|part| part.rank.is_counted());
    let p99 = |part: RankOfLoad<'_>| part.nanos("response_p99_ns", part.rank.response_p99_ns);
    let mut by_p99: Vec<(RankOfLoad<'_>, Number)> =
        counted().filter_map(|part| Some((part, p99(part)?))).collect();
    by_p99.sort_by(|one, other| one.1.value.total_cmp(&other.1.value));
    if let [least, .., most] = &by_p99[..]
        && least.1.text() != most.1.text()
    {
        said = said.words("; p99 is ").number(least.1.clone()).words(format!(" on {}", least.0.name()));
        said = said.words(" and ").number(most.1.clone()).words(format!(" on {}", most.0.name()));
    }
    let mut done: Vec<(RankOfLoad<'_>, Number)> =
        counted().filter_map(|part| Some((part, part.done_after()?))).collect();
    done.sort_by(|one, other| one.1.value.total_cmp(&other.1.value));
    if let [first, .., last] = &done[..] {
        said =
            said.words(format!("; first done was rank {} after ", first.0.rank.rank)).number(first.1.clone());
        said = said.words(format!(", last rank {} after ", last.0.rank.rank)).number(last.1.clone());
    }
    said.words(".")
}

fn subtitle(load: Measured<'_>) -> String {
    let shown = if load.point.ranks.len() > DRAWN { format!(", the {DRAWN} slowest") } else { String::new() };
    format!("Rate of each rank{shown}, at the point where they differ most")
}

/// The rate of each rank; of many the slowest and those that were lost.
fn chart(load: Measured<'_>) -> Chart {
    let mut parts: Vec<RankOfLoad<'_>> = RankOfLoad::all(load).collect();
    if parts.len() > DRAWN {
        let slow: Vec<u32> =
            ranks::by_rate(&load.point.ranks).iter().take(DRAWN).map(|rank| rank.rank).collect();
        parts.retain(|part| part.rank.lost.is_some() || slow.contains(&part.rank.rank));
        parts.truncate(DRAWN);
    }
    debug_assert!(parts.len() <= DRAWN, "no more ranks than the chart has rows for");
    let row = |part: &RankOfLoad<'_>| {
        let rate = part.rate().filter(|_| part.rank.is_counted());
        Row {
            name: part.name(),
            dots: rate.map(|rate| Dot { series: 0, value: rate.value, band: None }).into_iter().collect(),
            missing: if part.rank.lost.is_some() { "lost".into() } else { "no workers".into() },
            ..Row::default()
        }
    };
    Chart::Dots(Dots {
        axis: Axis::new("rate", Unit::PerSecond, Scale::Linear),
        series: Vec::new(),
        rows: parts.iter().map(row).collect(),
        neutral: None,
        most: None,
    })
}

fn table(subject: &Subject<'_>, loads: &[Measured<'_>]) -> Table {
    let columns = vec![
        Column::words("point"),
        Column::words("rank"),
        Column::words("host"),
        Column::numbers("workers", Unit::Count),
        Column::numbers("requests", Unit::Count),
        Column::numbers("IOPS", Unit::PerSecond),
        Column::numbers("MB/s", Unit::BytesPerSecond),
        Column::numbers("p50", Unit::Nanos),
        Column::numbers("p99", Unit::Nanos),
        Column::numbers("done after", Unit::Nanos),
        Column::numbers("CPU", Unit::Seconds),
        Column::numbers("start late by", Unit::Nanos),
        Column::numbers("clock known to", Unit::Nanos),
        Column::words("remark"),
    ];
    let rows = loads.iter().flat_map(|load| RankOfLoad::all(*load).map(|part| row(subject, part)));
    Table { title: "ranks".into(), columns, rows: rows.collect() }
}

fn row(subject: &Subject<'_>, part: RankOfLoad<'_>) -> Vec<Cell> {
    let RankOfLoad { load, rank, .. } = part;
    // Of one that was lost they are not known in records of versions that did not keep them.
    let workers =
        (rank.lost.is_none() || rank.workers > 0).then(|| part.count("workers", rank.workers.into()));
    let late = Some(rank.late_ns).filter(|late| *late > 0);
    let numbers = [
        workers,
        Some(part.count("ops", rank.ops)),
        part.rate(),
        part.per_s(part.count("bytes", rank.bytes), Unit::BytesPerSecond),
        part.nanos("response_p50_ns", rank.response_p50_ns),
        part.nanos("response_p99_ns", rank.response_p99_ns),
        part.done_after(),
        part.processor_time(),
        part.nanos("late_ns", late),
        part.nanos("clock/uncertainty_ns", rank.clock.map(|clock| clock.uncertainty_ns)),
    ];
    let words = [subject.named(load.run, &turn_of(load.point)), rank.rank.to_string(), rank.host.clone()];
    let words = words.map(Cell::words).into_iter();
    words.chain(numbers.map(Cell::number)).chain([Cell::words(part.remark())]).collect()
}
