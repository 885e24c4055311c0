//! What a report shows of a question, one file each: which of them there are follows from what the runs hold.

pub(crate) mod campaign;
mod corners;
mod devices;
mod differences;
mod exploration;
mod figures;
mod grid;
mod heatmap;
mod knee;
mod lead;
mod load;
mod parts;
mod percentiles;
mod progress;
mod published;
mod ranks;
mod search;
mod time;

use record::{Comparison, Metric, Point, Run};
use report::distinct;

use crate::document::{Block, Figure, Section};
use crate::measured::{Measured, measured};
use crate::number::Number;
use crate::sweep::{Phase, phases};

pub(crate) use campaign::{BEHIND_ROWS, FAR};
pub(crate) use corners::best;
pub(crate) use exploration::{answer as exploration_answer, key_figures as exploration_figures};
pub(crate) use lead::leads;
pub(crate) use search::{answer as search_answer, met as search_met};

/// What views look at.
pub(crate) struct Subject<'a> {
    /// The runs.
    pub runs: &'a [Run],
    /// What they are called.
    pub labels: &'a [String],
    /// How the runs differ, and its place among the records.
    pub comparison: Option<(&'a Comparison, usize)>,
    /// What the campaign says that the runs are, where they are one.
    pub campaign: Option<campaign::Subject<'a>>,
    /// Points that have all of their series and histograms.
    pub portraits: &'a [(usize, usize)],
}

impl<'a> Subject<'a> {
    /// Loads of runs of the plan `plan`.
    pub fn of_plan(&self, plan: &str) -> Vec<Measured<'a>> {
        let is_its = |one: &Measured<'_>| self.runs[one.run].plan.name == plan && one.has_figure();
        self.measured().into_iter().filter(is_its).collect()
    }

    /// All loads. What a void cell has is no figure of its campaign; looked at by itself it is a run like any other.
    pub fn measured(&self) -> Vec<Measured<'a>> {
        let counts = |one: &Measured<'_>| self.campaign.is_none() || self.runs[one.run].lack().is_none();
        measured(self.runs).into_iter().filter(counts).collect()
    }

    /// Of which `points` everything is kept.
    fn portraits(&self, points: &[Measured<'a>]) -> Vec<Measured<'a>> {
        points.iter().filter(|one| self.portraits.contains(&(one.run, one.at))).copied().collect()
    }

    /// What run number `run` is called.
    pub fn plans(&self) -> Vec<&'a str> {
        distinct(self.runs.iter().map(|run| run.plan.name.as_str()))
    }

    pub fn label(&self, run: usize) -> &'a str {
        assert!(run < self.labels.len(), "each run has a label");
        &self.labels[run]
    }

    /// The label of a run in front of `words`, where there are several runs. What is shown of single runs of a campaign is
    /// of its first block, which need not be said.
    fn named(&self, run: usize, words: &str) -> String {
        let label = self.label(run);
        let label =
            label.rsplit_once(", block ").filter(|_| self.campaign.is_some()).map_or(label, |(cell, _)| cell);
        match (self.labels.len(), words) {
            (1, words) => words.to_owned(),
            (_, "") => label.to_owned(),
            (_, words) => format!("{label}, {words}"),
        }
    }
}

/// What is told first of `all`, each of the point that `of` gives: that of the highest rate, or the first where none has a
/// rate.
fn foremost<'t, 'a, T>(all: &'t [T], of: impl Fn(&T) -> Measured<'a>) -> Option<&'t T> {
    let highest = Metric::Iops.best(all, |one| of(one).point.estimate(Metric::Iops));
    highest.map(|(one, _)| one).or(all.first())
}

/// The name of a point, with its number where it is a repeat.
fn turn_of(point: &Point) -> String {
    if point.repeat > 1 { format!("{} #{}", point.name, point.repeat) } else { point.name.clone() }
}

/// All sections on what `subject` measured, the most important first.
pub(crate) fn sections(subject: &Subject<'_>) -> Vec<Section> {
    let plans = subject.plans();
    let several = plans.len() > 1;
    if let Some(campaign) = subject.campaign {
        let portraits = subject.portraits(&subject.measured());
        let mut sections = campaign.sections();
        sections.push(section("progress".into(), progress::figures(subject, &portraits)));
        sections.push(section("latency over time".into(), heatmap::figures(subject, &portraits)));
        sections.retain(|section| !section.blocks.is_empty());
        return sections;
    }
    let mut sections: Vec<Section> = search::section(subject).into_iter().collect();
    sections.extend(exploration::sections(subject));
    for plan in &plans {
        let points = subject.of_plan(plan);
        let about = subject.runs.iter().find(|run| run.plan.name == *plan).map_or("", |run| &run.plan.about);
        let prefix = if several { format!("{plan}: ") } else { String::new() };
        sections.extend(of_plan(subject, &points, &prefix, about));
    }
    sections.extend(ranks::section(subject));
    sections.push(differences::section(subject));
    sections.push(figures::section(subject));
    sections.retain(|section| !section.blocks.is_empty());
    sections
}

fn of_plan(subject: &Subject<'_>, points: &[Measured<'_>], prefix: &str, about: &str) -> Vec<Section> {
    // What a search tried is told by the search.
    let tried = |one: &&Measured<'_>| subject.runs[one.run].search.is_none();
    let phases = phases(&points.iter().filter(tried).copied().collect::<Vec<_>>());
    let (swept, still): (Vec<Phase<'_>>, Vec<Phase<'_>>) =
        phases.into_iter().partition(|phase| phase.inner().is_some());
    let mut sections = vec![section(format!("{prefix}results"), corners::figures(subject, &still))];
    for phase in &swept {
        let mut figures = load::figures(subject, phase);
        figures.extend(grid::figures(subject, phase));
        sections.push(section(format!("{prefix}{}", load::heading(phase)), figures));
    }
    let first = sections.iter_mut().find(|section| !section.blocks.is_empty());
    if let Some(first) = first.filter(|_| !about.is_empty()) {
        first.blocks.insert(0, Block::Text(crate::document::Sentence::of(about)));
    }
    let portraits = subject.portraits(points);
    sections.push(section(format!("{prefix}progress"), progress::figures(subject, &portraits)));
    let time = parts::latency(subject, points).into_iter().collect();
    sections.push(section(format!("{prefix}where the time goes"), time));
    let busy = parts::utilisation(subject, points).into_iter().collect();
    sections.push(section(format!("{prefix}utilization"), busy));
    sections
        .push(section(format!("{prefix}latency distribution"), percentiles::figures(subject, &portraits)));
    let mut over_time = time::figures(subject, &portraits);
    over_time.extend(heatmap::figures(subject, &portraits));
    over_time.extend(devices::figures(subject, &portraits));
    sections.push(section(format!("{prefix}over time"), over_time));
    sections
}

fn section(heading: String, figures: Vec<Figure>) -> Section {
    let mut letters = heading.chars();
    let heading =
        letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default();
    Section { heading, blocks: figures.into_iter().map(Block::Figure).collect() }
}

/// The interval of a figure as a band.
fn band(ends: Option<&(Number, Number)>) -> Option<(f64, f64)> {
    ends.map(|(low, high)| (low.value, high.value))
}

/// A share or a factor of two numbers.
fn ratio(above: &Number, below: &Number, unit: chart::Unit) -> Number {
    let source = crate::number::Source::Ratio(Box::new((above.source.clone(), below.source.clone())));
    Number { value: above.value / below.value, unit, source }
}

#[cfg(test)]
mod tests;
