//! Sweeps that a plan spells out, a phase for each value: `read-ahead 4KiB`, `256 kB, 4 kB: write`, `small 3, large 0`.
//!
//! **Invariant:** only the copy that is looked at changes: numbers keep their places in the records.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use record::{Point, PointKind, Run};
use units::Bytes;

use crate::measured::swept;
use crate::sweep::pair;

/// Fewer values are no sweep.
const LEAST: usize = 3;

/// A value in the name of a point.
struct Token<'a> {
    /// The words ahead of it, from the last comma or the last value on.
    words: &'a str,
    /// The value as it is written.
    text: &'a str,
}

/// The name of a point, its values told from its words.
struct Name<'a> {
    tokens: Vec<Token<'a>>,
    /// What follows the last value.
    rest: &'a str,
}

/// A point of a run, by their places, and its name.
struct Placed<'a> {
    run: usize,
    at: usize,
    point: &'a Point,
    name: Name<'a>,
}

/// The name without its values: points of one sweep share it.
type Shape<'a> = (Vec<&'a str>, &'a str);

/// The same with names for points of phases that have none of their own: `phase 1 size=4KiB depth=8` is `block size 4 KiB, queue
/// depth 8`.
pub(crate) fn named(runs: &[Run]) -> Cow<'_, [Run]> {
    let has_none = |point: &&Point| {
        let number = point.phase.strip_prefix("phase ");
        number.is_some_and(|number| number.parse::<u32>().is_ok()) && !point.swept.is_empty()
    };
    let mut read = spelled(runs);
    if read.iter().flat_map(|run| &run.points).any(|point| has_none(&point)) {
        for point in read.to_mut().iter_mut().flat_map(|run| &mut run.points) {
            if has_none(&&*point) {
                let pairs = point.swept.iter().map(|(key, value)| pair(key, value));
                point.name = pairs.collect::<Vec<_>>().join(", ");
            }
        }
    }
    read
}

/// `runs` as they are looked at: points whose phases differ in the values that their names hold are the points of one phase
/// that sweeps these values.
pub(crate) fn spelled(runs: &[Run]) -> Cow<'_, [Run]> {
    let mut groups: BTreeMap<Shape<'_>, Vec<Placed<'_>>> = BTreeMap::new();
    for (run, record) in runs.iter().enumerate() {
        for (at, point) in record.points.iter().enumerate() {
            let name = Name::of(&point.name);
            if point.kind == PointKind::Load && !name.tokens.is_empty() {
                groups.entry(name.shape()).or_default().push(Placed { run, at, point, name });
            }
        }
    }
    let changes = groups.values().flat_map(|group| read(group).unwrap_or_default()).collect::<Vec<_>>();
    if changes.is_empty() {
        return Cow::Borrowed(runs);
    }
    let mut runs = runs.to_vec();
    for (run, at, phase, values) in changes {
        let point = &mut runs[run].points[at];
        point.phase = phase;
        point.swept.extend(values);
    }
    Cow::Owned(runs)
}

/// Where a point is, the name of its phase, and its values by their keys.
type Change = (usize, usize, String, Vec<(String, String)>);

/// What `group` sweeps; `None` where it is no sweep, or one that its plan has as such.
fn read(group: &[Placed<'_>]) -> Option<Vec<Change>> {
    let count = |of: &dyn Fn(&Placed<'_>) -> String| group.iter().map(of).collect::<BTreeSet<_>>().len();
    if count(&|one| one.point.phase.clone()) < 2 {
        return None;
    }
    let tokens = group.first()?.name.tokens.len();
    debug_assert!(
        group.iter().all(|one| one.name.tokens.len() == tokens),
        "names of one shape have as many values"
    );
    let values: Vec<usize> =
        (0..tokens).map(|place| count(&|one| one.name.tokens[place].text.to_owned())).collect();
    if values.iter().all(|values| *values < LEAST) {
        return None;
    }
    // A value that all have is a word of the name.
    let keys: Vec<Option<String>> = (0..tokens)
        .map(|place| if values[place] > 1 { key(group, place).map(Some) } else { Some(None) })
        .collect::<Option<_>>()?;
    let named: BTreeSet<&String> = keys.iter().flatten().collect();
    if named.len() != keys.iter().flatten().count() {
        return None;
    }
    let change = |one: &Placed<'_>| {
        // A size as the load has it: the unit of a name may be that of another tool.
        let value = |key: &str, token: &Token<'_>| {
            let is_asked = ASKED.contains(&key) && !one.point.swept.contains_key(key);
            let asked = is_asked.then(|| asked(one.point, key)).flatten();
            asked.map_or_else(|| token.text.to_owned(), Bytes::exact)
        };
        let values = keys.iter().zip(&one.name.tokens);
        let values = values.filter_map(|(key, token)| Some((key.clone()?, value(key.as_ref()?, token))));
        (one.run, one.at, one.name.phase(&keys), values.collect())
    };
    Some(group.iter().map(change).collect())
}

/// The key of the value at `place` of all names: the one that points which sweep it have it by, the size or the span that
/// all loads have, or the words ahead of it.
fn key(group: &[Placed<'_>], place: usize) -> Option<String> {
    let of_sweep = group.iter().flat_map(|one| one.point.swept.keys()).find(|key| {
        let is_it = |one: &Placed<'_>| {
            one.point.swept.get(*key).is_none_or(|value| value == one.name.tokens[place].text)
        };
        let is_other = |one: &Placed<'_>| {
            one.name.tokens.iter().enumerate().any(|(at, token)| {
                at != place && one.point.swept.get(*key).is_some_and(|value| value == token.text)
            })
        };
        group.iter().all(is_it) && !group.iter().all(is_other)
    });
    if let Some(key) = of_sweep {
        return Some(key.clone());
    }
    let is_amount = |one: &Placed<'_>| one.name.tokens[place].text.parse::<f64>().is_err();
    if !group.iter().all(is_amount) {
        return None;
    }
    let is_asked = |key: &&&str| {
        group.iter().all(|one| {
            asked(one.point, key).is_some_and(|asked| amounts(one.name.tokens[place].text).contains(&asked))
        })
    };
    let words = group.first()?.name.tokens[place].words;
    let found = ASKED.iter().find(is_asked).map(|key| (*key).to_owned());
    found.or_else(|| (!words.is_empty()).then(|| words.replace('-', "_")))
}

/// Keys that a load has whether they are swept or not.
const ASKED: [&str; 2] = ["size", "span"];

/// What the first load of a point was asked for.
fn asked(point: &Point, key: &str) -> Option<Bytes> {
    let spec = &point.workloads.first()?.spec;
    match key {
        "size" => spec.only_size(),
        "span" => spec.span_bytes(),
        _ => None,
    }
}

/// What a size may be: as it is written, and in the units of tools that mean 1,024 by k.
fn amounts(text: &str) -> Vec<Bytes> {
    let binary = text.replace("kB", "KiB").replace("MB", "MiB").replace("GB", "GiB");
    [text, binary.as_str()].into_iter().filter_map(|text| text.parse().ok()).collect()
}

impl<'a> Name<'a> {
    fn of(name: &'a str) -> Name<'a> {
        let mut tokens = Vec::new();
        let (mut from, mut words_from) = (0, 0);
        let pieces: Vec<(usize, &str)> = name
            .split(' ')
            .scan(0, |at, piece| Some((std::mem::replace(at, *at + piece.len() + 1), piece)))
            .collect();
        let mut at = 0;
        while let Some((start, piece)) = pieces.get(at).copied() {
            at += 1;
            if from > start {
                continue;
            }
            let bare = piece.trim_end_matches([',', ':', ';']);
            let next =
                pieces.get(at).map(|(start, piece)| start + piece.trim_end_matches([',', ':', ';']).len());
            // `256 kB` is one value in two words.
            let both = next.map(|end| &name[start..end]).filter(|both| both.parse::<Bytes>().is_ok());
            let is_number = bare.starts_with(|letter: char| letter.is_ascii_digit()) && swept(bare).is_some();
            if is_number {
                let text =
                    both.filter(|_| bare.parse::<f64>().is_ok() && bare.len() == piece.len()).unwrap_or(bare);
                tokens.push(Token { words: trimmed(&name[words_from..start]), text });
                from = start + text.len();
                words_from = from;
            } else if bare.len() < piece.len() {
                words_from = start + piece.len();
            }
        }
        Name { tokens, rest: trimmed(&name[from.min(name.len())..]) }
    }

    fn shape(&self) -> Shape<'a> {
        (self.tokens.iter().map(|token| token.words).collect(), self.rest)
    }

    /// The name of the phase that sweeps `keys`, of which a value without a key is a word: `small {small.depth}, large
    /// {large.depth}`; a value that stands there without a word is left out.
    fn phase(&self, keys: &[Option<String>]) -> String {
        let part = |(key, token): (&Option<String>, &Token<'_>)| match key {
            Some(_) if token.words.is_empty() => None,
            Some(key) => Some(format!("{} {{{key}}}", token.words)),
            None => Some(format!("{} {}", token.words, token.text).trim().to_owned()),
        };
        let parts = keys.iter().zip(&self.tokens).filter_map(part);
        let rest = (!self.rest.is_empty()).then(|| self.rest.to_owned());
        parts.chain(rest).collect::<Vec<_>>().join(", ")
    }
}

/// Words without the signs around them.
fn trimmed(words: &str) -> &str {
    words.trim_matches([' ', ',', ':', ';'])
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::sample::{self, Stream};

    fn run(names: &[&str], sizes: &[u64]) -> Run {
        let point = |(index, name): (u32, &&str)| {
            let size_bytes = sizes.get(index as usize).copied().unwrap_or(4096);
            let stream = Stream { op: "read", size_bytes, per_s: 1000, median_ns: 100_000, spread: 0.2 };
            let mut point = sample::point(index, name, vec![sample::workload("load", &[stream])]);
            point.phase = (*name).to_owned();
            point
        };
        sample::run("p", (0..).zip(names).map(point).collect())
    }

    fn read_of(runs: &[Run]) -> Vec<(String, BTreeMap<String, String>)> {
        spelled(runs)[0].points.iter().map(|point| (point.phase.clone(), point.swept.clone())).collect()
    }

    #[test]
    fn phases_that_differ_in_the_values_of_their_names_are_one_sweep() {
        let read =
            read_of(&[run(&["direct", "read-ahead 4KiB", "read-ahead 64KiB", "read-ahead 1MiB"], &[])]);
        assert_eq!(read[0], ("direct".into(), BTreeMap::new()));
        let values = |key: &str, value: &str| BTreeMap::from([(key.to_owned(), value.to_owned())]);
        assert_eq!(read[1], ("read-ahead {read_ahead}".into(), values("read_ahead", "4KiB")));
        assert_eq!(read[3], ("read-ahead {read_ahead}".into(), values("read_ahead", "1MiB")));
    }

    #[test]
    fn a_value_that_a_sweep_has_and_one_that_stands_still_are_of_one_matrix() {
        let mut own =
            run(&["small 1, large 0", "small 2, large 0", "small 1, large 3", "small 0, large 2"], &[]);
        let swept: [&[(&str, &str)]; 4] = [
            &[("small.depth", "1")],
            &[("small.depth", "2")],
            &[("small.depth", "1"), ("large.depth", "3")],
            &[("large.depth", "2")],
        ];
        for (point, pairs) in own.points.iter_mut().zip(swept) {
            point.swept = pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
        }
        let read = read_of(&[own]);
        assert!(
            read.iter().all(|(phase, _)| phase == "small {small.depth}, large {large.depth}"),
            "{read:?}"
        );
        let pairs = |small: &str, large: &str| {
            BTreeMap::from([
                ("small.depth".to_owned(), small.to_owned()),
                ("large.depth".to_owned(), large.to_owned()),
            ])
        };
        assert_eq!(
            read.iter().map(|(_, swept)| swept.clone()).collect::<Vec<_>>(),
            [pairs("1", "0"), pairs("2", "0"), pairs("1", "3"), pairs("0", "2")]
        );
    }

    #[test]
    fn names_that_hold_no_sweep_stay_as_they_are() {
        let runs = [run(
            &["phase 1", "phase 2", "phase 3", "4 KiB random read", "1 MiB sequential read", "stream x3"],
            &[],
        )];
        assert!(matches!(spelled(&runs), Cow::Borrowed(_)));
    }
}
