//! Cross-validation: groups of rows, each scored by a model whose fitted figures were fitted without it.
//!
//! A group is left out whole: the figures that its rows have a part in are fitted anew to the other rows that name them,
//! within the bounds that stand beside them, and where no other row names one it lies in the middle of its bounds.

use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;
use std::str::FromStr;

use array::spec::case::{Case, Claim};
use array::spec::{Address, FittedFigure, Refitted, Source, fitted};
use array::validate::{CaseResult, Judged};
use conduct::{in_order, processors};

use super::answers::Answers;
use crate::ending::Failure;

/// What is left out in turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LeaveOut {
    /// Each array with its options, by itself.
    Each,
    /// Each system: all cases of a file.
    Systems,
    /// The groups of one system, or of addresses that contain this, together.
    One(String),
}

impl FromStr for LeaveOut {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<LeaveOut, Infallible> {
        Ok(match text {
            "each" => LeaveOut::Each,
            "systems" => LeaveOut::Systems,
            other => LeaveOut::One(other.to_owned()),
        })
    }
}

/// A group that was left out.
pub struct LeftOut<'a> {
    /// The address of its array, the system, or what was asked for.
    pub name: String,
    /// Its figures that count, with their systems.
    pub rows: Vec<(&'a str, &'a Case, CaseResult)>,
    /// What was fitted without it.
    pub refitted: Vec<NewValue>,
}

/// A figure that was fitted without a group.
pub struct NewValue {
    /// `FILE KEY`.
    pub figure: String,
    /// As in the library.
    pub shipped: String,
    /// Without the group.
    pub value: String,
    /// The rows that it was fitted to; with none it is the middle of its bounds.
    pub rows: usize,
}

impl<'a> LeftOut<'a> {
    /// Its rows as they are scored.
    pub fn judged(&'a self) -> impl Iterator<Item = (&'a str, Judged<'a>)> {
        self.rows.iter().map(|(system, case, result)| (*system, Judged { case, result }))
    }
}

/// Leaves out what `asked` says, group by group; `ended` is told of each with their number.
pub fn leave_out<'a>(
    asked: &LeaveOut,
    cases: &[(&'a str, &'a Case)],
    library: &(dyn Source + Sync),
    seed: u64,
    ended: &mut dyn FnMut(&LeftOut<'a>, usize, usize),
) -> Result<Vec<LeftOut<'a>>, Failure> {
    let subjects = cases.iter().flat_map(|(_, case)| case.claim.subjects());
    let arrays = subjects.filter_map(|subject| Some(Address::parse(&subject.array).ok()?.name));
    let figures = fitted(library, &arrays.collect())?;
    let names: BTreeSet<&str> = figures.iter().map(|figure| figure.name.as_str()).collect();
    for (_, case) in cases {
        if let Some(unknown) = case.fits.iter().find(|name| !names.contains(name.as_str())) {
            return Err(Failure::Usage(format!(
                "{}: `fits` names `{unknown}`, and no such figure of the library has bounds; write `bounds = [LEAST, MOST]` beside it",
                case.at
            )));
        }
    }
    let groups = groups(asked, cases)?;
    debug_assert!(groups.iter().all(|(_, members)| !members.is_empty()), "a group has cases");
    let study = Study { cases, figures: &figures, library, answers: Answers::new(seed) };
    let mut left = Vec::new();
    for (name, members) in &groups {
        let out = study.without(name, members);
        ended(&out, left.len() + 1, groups.len());
        left.push(out);
    }
    Ok(left)
}

/// Whether a value or a ratio was published.
fn is_figure(case: &Case) -> bool {
    matches!(case.claim, Claim::Absolute { .. } | Claim::Ratio { .. })
}

/// Positions of the cases of each group that has a figure that counts, in order of appearance.
fn groups(asked: &LeaveOut, cases: &[(&str, &Case)]) -> Result<Vec<(String, Vec<usize>)>, Failure> {
    let named = |(position, (system, case)): (usize, &(&str, &Case))| {
        let address = address(case);
        let name = match asked {
            LeaveOut::Each => address,
            LeaveOut::Systems => (*system).to_owned(),
            LeaveOut::One(name) if name == system || address.contains(name.as_str()) => name.clone(),
            LeaveOut::One(_) => return None,
        };
        Some((name, position))
    };
    let mut groups = report::grouped(cases.iter().enumerate().filter_map(named));
    let scores = |position: &usize| {
        let case = cases[*position].1;
        is_figure(case) && case.score == array::spec::case::Score::Counts
    };
    groups.retain(|(_, members)| members.iter().any(scores));
    if groups.is_empty() {
        let what = "no group with a published value or ratio that counts";
        return Err(Failure::Usage(format!("--leave-out: {what}; `each` and `systems` take all there are")));
    }
    Ok(groups)
}

/// The address of the first configuration, its options in order.
fn address(case: &Case) -> String {
    let subjects = case.claim.subjects();
    let Some(first) = subjects.first() else { return String::new() };
    let Ok(Address { name, mut settings, .. }) = Address::parse(&first.array) else {
        return first.array.clone();
    };
    settings.sort();
    let options: Vec<String> = settings.iter().map(|(key, value)| format!("{key}={value}")).collect();
    if options.is_empty() { name } else { format!("{name}?{}", options.join("&")) }
}

/// All that fits need.
struct Study<'s, 'a> {
    cases: &'s [(&'a str, &'a Case)],
    figures: &'s [FittedFigure],
    library: &'s (dyn Source + Sync),
    answers: Answers,
}

/// Figures with the rows that they are fitted to together.
struct Together<'s> {
    figures: Vec<&'s FittedFigure>,
    rows: Vec<usize>,
}

/// A fit is as fine as this part of the way between the bounds of a figure.
const FINEST: f64 = 1.0 / 128.0;

impl<'a> Study<'_, 'a> {
    fn without(&self, name: &str, members: &[usize]) -> LeftOut<'a> {
        let mut values: Vec<(&FittedFigure, String)> = Vec::new();
        let mut refitted = Vec::new();
        for Together { figures, rows } in self.together(members) {
            debug_assert!(
                rows.iter().all(|row| !members.contains(row)),
                "nothing is fitted to what is left out"
            );
            for (figure, value) in figures.iter().zip(self.fit(&figures, &rows)) {
                refitted.push(NewValue {
                    figure: figure.name.clone(),
                    shipped: figure.value.clone(),
                    value: value.clone(),
                    rows: rows.len(),
                });
                values.push((figure, value));
            }
        }
        let library = Refitted::new(self.library, &values);
        let counting: Vec<(&'a str, &'a Case)> = members
            .iter()
            .map(|position| self.cases[*position])
            .filter(|(_, case)| is_figure(case) && case.score == array::spec::case::Score::Counts)
            .collect();
        let result = |at: usize| self.result(&library, counting[at].1);
        let mut rows = Vec::new();
        in_order(counting.len(), processors(), &result, &mut |at: usize, result: CaseResult| {
            let (system, case) = counting[at];
            debug_assert_eq!(at, rows.len(), "results come in order");
            rows.push((system, case, result));
            true
        });
        LeftOut { name: name.to_owned(), rows, refitted }
    }

    fn result(&self, library: &dyn Source, case: &Case) -> CaseResult {
        self.answers.judge(library, case)
    }

    /// The figures that `members` have a part in, those together that one of the other rows names together.
    fn together(&self, members: &[usize]) -> Vec<Together<'_>> {
        let named: BTreeSet<&str> =
            members.iter().flat_map(|position| &self.cases[*position].1.fits).map(String::as_str).collect();
        let figures: Vec<&FittedFigure> =
            self.figures.iter().filter(|figure| named.contains(figure.name.as_str())).collect();
        // Which part each figure belongs to: the number of one of its figures.
        let mut part: Vec<usize> = (0..figures.len()).collect();
        let mut rows: Vec<(usize, usize)> = Vec::new();
        for (position, (_, case)) in self.cases.iter().enumerate() {
            let mut own = (0..figures.len())
                .filter(|number| case.fits.iter().any(|name| *name == figures[*number].name));
            let Some(first) = own.next().filter(|_| is_figure(case) && !members.contains(&position)) else {
                continue;
            };
            rows.push((position, first));
            for other in own {
                let (from, to) = (part[other], part[first]);
                part.iter_mut().filter(|number| **number == from).for_each(|number| *number = to);
            }
        }
        debug_assert!(
            part.iter().all(|number| *number < figures.len()),
            "a part is named by one of its figures"
        );
        let mut all: BTreeMap<usize, Together<'_>> = BTreeMap::new();
        for (number, figure) in figures.iter().enumerate() {
            let one = all.entry(part[number]).or_insert(Together { figures: Vec::new(), rows: Vec::new() });
            one.figures.push(figure);
        }
        for (position, first) in rows {
            all.entry(part[first]).and_modify(|one| one.rows.push(position));
        }
        all.into_values().collect()
    }

    /// The values at which the sum of the logarithms of modelled over published, their signs left out, is least over `rows`.
    ///
    /// What is scored is a median, which a row that something unknown decided does not move; squares would let it.
    fn fit(&self, figures: &[&FittedFigure], rows: &[usize]) -> Vec<String> {
        let middle = vec![0.5; figures.len()];
        let texts = |at: &[f64]| -> Vec<String> {
            figures.iter().zip(at).map(|(figure, part)| figure.value_at(*part)).collect()
        };
        if rows.is_empty() {
            return texts(&middle);
        }
        let found = fit::least(&middle, FINEST, &mut |places| {
            let libraries: Vec<Refitted<'_>> = places
                .iter()
                .map(|at| {
                    let values: Vec<_> = figures.iter().copied().zip(texts(at)).collect();
                    Refitted::new(self.library, &values)
                })
                .collect();
            let mut sums = vec![0.0; places.len()];
            debug_assert!(
                places.iter().all(|at| at.len() == figures.len()),
                "a place has a value of each figure"
            );
            let distance = |at: usize| {
                let (place, row) = (at / rows.len(), rows[at % rows.len()]);
                let error = self.result(&libraries[place], self.cases[row].1).error;
                error.map_or(f64::INFINITY, |error| (1.0 + error).ln().abs())
            };
            in_order(places.len() * rows.len(), processors(), &distance, &mut |at: usize, distance: f64| {
                sums[at / rows.len()] += distance;
                true
            });
            sums
        });
        assert_eq!(found.at.len(), figures.len(), "each figure has the value that was found for it");
        texts(&found.at)
    }
}
