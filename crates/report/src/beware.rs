//! Findings, the gravest first.

use record::{Finding, Run, Severity};

use crate::figures::name_of;
use crate::style::{Look, Style};
use crate::words::{harmless, wrap};

/// Findings of one code.
pub(crate) struct Group<'a> {
    /// The first of the gravest.
    pub first: &'a Finding,
    /// The points concerned, by name; empty where it is about the run.
    pub points: Vec<String>,
}

/// The findings of `run` by code, the gravest first, in the order in which they were found.
pub(crate) fn groups(run: &Run) -> Vec<Group<'_>> {
    let mut groups: Vec<Group<'_>> = Vec::new();
    for finding in &run.findings {
        let point = finding.point.and_then(|index| run.points.iter().find(|point| point.index == index));
        let name = point.map(name_of);
        match groups.iter_mut().find(|group| group.first.code == finding.code) {
            Some(group) => {
                if finding.severity > group.first.severity {
                    group.first = finding;
                }
                group.points.extend(name.filter(|name| !group.points.contains(name)));
            }
            None => groups.push(Group { first: finding, points: name.into_iter().collect() }),
        }
    }
    groups.sort_by_key(|group| std::cmp::Reverse(group.first.severity));
    groups
}

/// `at 4k read`, or `at 4k read and 11 more points`.
pub(crate) fn at(points: &[String]) -> String {
    const NAMED: usize = 3;
    match points {
        [] => String::new(),
        [only] => format!("at {only}"),
        [first, rest @ ..] if points.len() > NAMED => format!("at {first} and {} more points", rest.len()),
        [front @ .., last] => format!("at {} and {last}", front.join(", ")),
    }
}

/// The section of a text, with its title; no lines where there is nothing to tell.
pub(crate) fn lines(run: &Run, style: Style) -> Vec<String> {
    let groups = groups(run);
    if groups.is_empty() {
        return Vec::new();
    }
    let mut lines = vec![style.paint(Look::Title, "Beware")];
    for group in groups {
        lines.extend(of_group(&group, style));
    }
    lines
}

fn of_group(group: &Group<'_>, style: Style) -> Vec<String> {
    let (mark, look) = match group.first.severity {
        Severity::Note => ("-", Look::Plain),
        Severity::Warning => ("!", Look::Warning),
        Severity::Invalid => ("X", Look::Wrong),
    };
    let head = format!("  {mark} {}", harmless(&group.first.code));
    let place = at(&group.points);
    let first = if place.is_empty() { head.clone() } else { format!("{head} {place}") };
    let wrapped = wrap(&first[head.len()..], style.width, &head, "    ");
    // The code is the only part that is coloured, and it is all on the first line.
    let mut lines: Vec<String> = wrapped
        .iter()
        .map(|line| {
            line.strip_prefix(&head).map_or(line.clone(), |rest| {
                let space = if rest.is_empty() { "" } else { " " };
                style.paint(look, &head) + space + rest.trim_start()
            })
        })
        .collect();
    let sentence = style.spell(&harmless(&group.first.sentence));
    lines.extend(wrap(&sentence, style.width, "    ", "    "));
    if !group.first.remedy.is_empty() {
        let arrow = if style.unicode { "    → " } else { "    > " };
        let remedy = style.spell(&harmless(&group.first.remedy));
        lines.extend(wrap(&remedy, style.width, arrow, "      "));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_points_are_counted_and_few_are_named() {
        let names = |count: usize| (1..=count).map(|i| format!("p{i}")).collect::<Vec<_>>();
        assert_eq!(at(&[]), "");
        assert_eq!(at(&names(1)), "at p1");
        assert_eq!(at(&names(3)), "at p1, p2 and p3");
        assert_eq!(at(&names(12)), "at p1 and 11 more points");
    }
}
