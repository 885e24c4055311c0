//! The table of `fathom validate --leave-out`, and its JSON.

use array::validate::{Judged, Score};
use report::counted;
use serde::Serialize;
use units::Share;

use super::json::{self, One, Row};
use super::leave_out::LeftOut;
use super::text::percent;

/// Above the groups.
pub fn heading() -> String {
    format!("{:>7} {:>8} {:>7}  {}\n", "figures", "median", "<=25%", "left out")
}

/// A group, and under it what was fitted without it.
pub fn row(group: &LeftOut<'_>) -> String {
    let score = score(std::slice::from_ref(group), |_| true);
    let mut text = line(&score, &group.name);
    for new in &group.refitted {
        let rows = match new.rows {
            0 => "the middle of its bounds".to_owned(),
            rows => format!("fitted to {}", counted(rows, "other row")),
        };
        text += &format!("{:26}{} = {} ({}; {rows})\n", "", new.figure, new.value, new.shipped);
    }
    text
}

/// Below the groups: all of them, and all but the system with the most figures.
pub fn closing(groups: &[LeftOut<'_>]) -> String {
    let mut text = String::from("\n");
    text += &line(&score(groups, |_| true), "all");
    if let Some(largest) = largest(groups) {
        text += &line(&score(groups, |system| system == largest), largest);
        text += &line(&score(groups, |system| system != largest), &format!("all but {largest}"));
    }
    text + "\nEach group is scored by a model whose fitted figures were fitted without it.\n"
}

fn line(score: &Score, name: &str) -> String {
    let within = percent(score.within_25.map(Share::get));
    format!("{:>7} {:>8} {within:>7}  {name}\n", score.figures, percent(score.median_error))
}

fn score(groups: &[LeftOut<'_>], of: impl Fn(&str) -> bool) -> Score {
    let judged = groups.iter().flat_map(LeftOut::judged).filter(|(system, _)| of(system));
    Score::of(&judged.map(|(_, judged)| judged).collect::<Vec<Judged<'_>>>())
}

/// The system with the most figures; `None` for one system alone.
fn largest<'a>(groups: &[LeftOut<'a>]) -> Option<&'a str> {
    let mut counts: Vec<(&str, usize)> = Vec::new();
    for (system, _) in groups.iter().flat_map(LeftOut::judged) {
        match counts.iter_mut().find(|(known, _)| *known == system) {
            Some((_, count)) => *count += 1,
            None => counts.push((system, 1)),
        }
    }
    debug_assert_eq!(
        counts.iter().map(|(_, count)| count).sum::<usize>(),
        groups.iter().map(|group| group.rows.len()).sum::<usize>(),
        "each figure is of one system"
    );
    let largest = counts.iter().max_by_key(|(_, count)| *count).map(|(system, _)| *system);
    largest.filter(|_| counts.len() > 1).and_then(|largest| {
        groups
            .iter()
            .flat_map(|group| &group.rows)
            .map(|(system, ..)| *system)
            .find(|system| *system == largest)
    })
}

/// All groups with their scores.
#[derive(Serialize)]
pub struct Document<'a> {
    seed: u64,
    groups: Vec<Group<'a>>,
    all: One,
    #[serde(skip_serializing_if = "Option::is_none")]
    largest: Option<SystemScore<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    without_largest: Option<SystemScore<'a>>,
}

/// The score of a system, or of all but it.
#[derive(Serialize)]
struct SystemScore<'a> {
    system: &'a str,
    #[serde(flatten)]
    score: One,
}

#[derive(Serialize)]
struct Group<'a> {
    left_out: &'a str,
    #[serde(flatten)]
    score: One,
    refitted: Vec<Figure<'a>>,
    cases: Vec<Row<'a>>,
}

/// A figure that was fitted without the group.
#[derive(Serialize)]
struct Figure<'a> {
    figure: &'a str,
    shipped: &'a str,
    value: &'a str,
    /// The rows that it was fitted to; with none it is the middle of its bounds.
    rows: usize,
}

/// `groups` as they are printed.
pub fn document<'a>(groups: &'a [LeftOut<'a>], seed: u64) -> Document<'a> {
    let largest = largest(groups);
    let part = |is_it: bool| {
        largest.map(|system| SystemScore {
            system,
            score: json::one(&score(groups, |own| (own == system) == is_it)),
        })
    };
    Document {
        seed,
        groups: groups.iter().map(group).collect(),
        all: json::one(&score(groups, |_| true)),
        largest: part(true),
        without_largest: part(false),
    }
}

fn group<'a>(group: &'a LeftOut<'a>) -> Group<'a> {
    let figure = |new: &'a super::leave_out::NewValue| Figure {
        figure: &new.figure,
        shipped: &new.shipped,
        value: &new.value,
        rows: new.rows,
    };
    Group {
        left_out: &group.name,
        score: json::one(&score(std::slice::from_ref(group), |_| true)),
        refitted: group.refitted.iter().map(figure).collect(),
        cases: group.judged().map(|(system, judged)| json::row(system, judged)).collect(),
    }
}
