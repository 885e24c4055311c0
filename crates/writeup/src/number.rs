//! A number of a write-up: its value, its unit, and where in the records it comes from.

use std::fmt;
use std::str::FromStr;

use chart::Unit;
use record::{Histogram, response_map};
use serde_json::Value;

/// How a number follows from the records.
#[derive(Clone, Debug, PartialEq)]
pub enum Source {
    /// It stands there: in which run, and a JSON pointer into its record.
    At(usize, String),
    /// The quantile of the histogram, or of the stretch of a map of response times, that stands there: of which run,
    /// where, and which, 0 to 1.
    Quantile(usize, String, f64),
    /// The sum of others.
    Sum(Vec<Source>),
    /// The largest of others.
    Most(Vec<Source>),
    /// The smallest of others.
    Least(Vec<Source>),
    /// The mean of others.
    Mean(Vec<Source>),
    /// The first over the second.
    Ratio(Box<(Source, Source)>),
    /// How many a second: the first over the second, which is in nanoseconds.
    Rate(Box<(Source, Source)>),
    /// The first less the second.
    Difference(Box<(Source, Source)>),
}

/// A number that is shown.
#[derive(Clone, Debug, PartialEq)]
pub struct Number {
    /// In base units: nanoseconds, bytes, one a second.
    pub value: f64,
    /// How it is written.
    pub unit: Unit,
    /// Where it comes from.
    pub source: Source,
}

/// Keys that come so often that a letter stands for them where a place is written.
const SHORT: [(&str, char); 4] =
    [("/points/", 'p'), ("/workloads/", 'w'), ("/summary/", 's'), ("/classes/", 'c')];

const _: () = {
    let mut at = 1;
    while at < SHORT.len() {
        let mut before = 0;
        while before < at {
            assert!(SHORT[before].1 != SHORT[at].1, "a letter stands for one part of a pointer");
            before += 1;
        }
        at += 1;
    }
};

impl Number {
    /// What stands at `pointer` of record `run`.
    pub(crate) fn at(run: usize, pointer: impl Into<String>, value: f64, unit: Unit) -> Number {
        Number { value, unit, source: Source::At(run, pointer.into()) }
    }

    /// The number as people read it.
    pub fn text(&self) -> String {
        self.unit.written(self.value)
    }

    /// The same without its unit, as in a column that has it in its head.
    pub fn bare(&self) -> String {
        let text = self.text();
        match self.unit {
            Unit::BytesPerSecond => text.trim_end_matches(" MB/s").to_owned(),
            Unit::Share => text.trim_end_matches(" %").to_owned(),
            _ => text,
        }
    }
}

impl Source {
    /// What `records`, in the order of the runs, say; `None` where there is no such number.
    pub fn read(&self, records: &[Value]) -> Option<f64> {
        match self {
            Source::At(run, pointer) => records.get(*run)?.pointer(pointer)?.as_f64(),
            Source::Quantile(run, pointer, q) => {
                let stored = records.get(*run)?.pointer(pointer)?.clone();
                if stored.is_array() {
                    let stretch: Vec<(u32, u64)> = serde_json::from_value(stored).ok()?;
                    return Some(response_map::quantile(&stretch, *q)?.get() as f64);
                }
                let histogram: Histogram = serde_json::from_value(stored).ok()?;
                Some(histogram.to_stats()?.quantile(*q)?.get() as f64)
            }
            Source::Sum(parts) => parts.iter().map(|part| part.read(records)).sum(),
            Source::Most(parts) => values(parts, records)?.into_iter().reduce(f64::max),
            Source::Least(parts) => values(parts, records)?.into_iter().reduce(f64::min),
            Source::Mean(parts) => {
                let sum: Option<f64> = parts.iter().map(|part| part.read(records)).sum();
                (!parts.is_empty()).then_some(sum? / parts.len() as f64)
            }
            Source::Ratio(pair) => Some(pair.0.read(records)? / pair.1.read(records)?),
            Source::Rate(pair) => Some(pair.0.read(records)? / (pair.1.read(records)? / 1e9)),
            Source::Difference(pair) => Some(pair.0.read(records)? - pair.1.read(records)?),
        }
    }
}

/// What is at each of `parts`; `None` where one has nothing.
fn values(parts: &[Source], records: &[Value]) -> Option<Vec<f64>> {
    parts.iter().map(|part| part.read(records)).collect()
}

impl fmt::Display for Source {
    /// `0p3w0s0/ops_per_s/value`, `max(…,…)`: without blanks, and read back by `FromStr`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |parts: &[Source]| parts.iter().map(Source::to_string).collect::<Vec<_>>().join(",");
        match self {
            Source::At(run, pointer) => write!(f, "{run}{}", shortened(pointer)),
            Source::Quantile(run, pointer, q) => write!(f, "q{q}({run}{})", shortened(pointer)),
            Source::Sum(parts) => write!(f, "sum({})", list(parts)),
            Source::Most(parts) => write!(f, "max({})", list(parts)),
            Source::Least(parts) => write!(f, "min({})", list(parts)),
            Source::Mean(parts) => write!(f, "mean({})", list(parts)),
            Source::Ratio(pair) => write!(f, "ratio({},{})", pair.0, pair.1),
            Source::Rate(pair) => write!(f, "rate({},{})", pair.0, pair.1),
            Source::Difference(pair) => write!(f, "less({},{})", pair.0, pair.1),
        }
    }
}

fn shortened(pointer: &str) -> String {
    let mut short = pointer.to_owned();
    for (long, letter) in SHORT {
        short = short.replacen(long, &letter.to_string(), 1);
    }
    short
}

impl FromStr for Source {
    type Err = String;

    fn from_str(text: &str) -> Result<Source, String> {
        let (source, rest) = parsed(text, 0)?;
        if rest.is_empty() { Ok(source) } else { Err(format!("`{rest}` is left over in `{text}`")) }
    }
}

/// Sources within sources, as no report has them.
const DEEPEST: u32 = 8;

/// The source that `text` begins with, and what follows it.
fn parsed(text: &str, depth: u32) -> Result<(Source, &str), String> {
    if depth > DEEPEST {
        return Err("sources within sources without end".into());
    }
    let many = |rest| parts(rest, depth);
    type OfMany = fn(Vec<Source>) -> Source;
    let of_many: [(&str, OfMany); 4] =
        [("sum(", Source::Sum), ("max(", Source::Most), ("min(", Source::Least), ("mean(", Source::Mean)];
    for (name, of) in of_many {
        if let Some(rest) = text.strip_prefix(name) {
            return many(rest).map(|(parts, rest)| (of(parts), rest));
        }
    }
    type OfTwo = fn(Box<(Source, Source)>) -> Source;
    let of_two: [(&str, OfTwo); 3] =
        [("ratio(", Source::Ratio), ("rate(", Source::Rate), ("less(", Source::Difference)];
    for (name, of) in of_two {
        let Some(rest) = text.strip_prefix(name) else { continue };
        let (parts, rest) = many(rest)?;
        let [one, other] = <[Source; 2]>::try_from(parts).map_err(|_| format!("{name}…) has two parts"))?;
        return Ok((of(Box::new((one, other))), rest));
    }
    if let Some(rest) = text.strip_prefix('q') {
        let (q, rest) = rest.split_once('(').ok_or("a quantile names its histogram")?;
        let part = q.parse().ok().filter(|part| (0.0..=1.0).contains(part));
        let q: f64 = part.ok_or_else(|| format!("`{q}` is no quantile: it is a part, from 0 to 1"))?;
        let (parts, rest) = many(rest)?;
        return match <[Source; 1]>::try_from(parts) {
            Ok([Source::At(run, pointer)]) => Ok((Source::Quantile(run, pointer, q), rest)),
            _ => Err("a quantile is of one histogram".into()),
        };
    }
    let end = text.find([',', ')']).unwrap_or(text.len());
    let (place, rest) = text.split_at(end);
    let digits = place.len() - place.trim_start_matches(|letter: char| letter.is_ascii_digit()).len();
    let (run, pointer) = place.split_at(digits);
    let run = run.parse().map_err(|_| format!("`{place}` names no run"))?;
    Ok((Source::At(run, lengthened(pointer)), rest))
}

/// Sources apart by commas up to the closing parenthesis, and what follows that.
fn parts(text: &str, depth: u32) -> Result<(Vec<Source>, &str), String> {
    let (mut parts, mut rest) = (Vec::new(), text);
    loop {
        let (part, after) = parsed(rest, depth + 1)?;
        parts.push(part);
        if let Some(after) = after.strip_prefix(')') {
            return Ok((parts, after));
        }
        rest = after.strip_prefix(',').ok_or("a parenthesis is not closed")?;
    }
}

/// Letters stand at the beginning, each before digits.
fn lengthened(short: &str) -> String {
    let mut pointer = String::new();
    let mut rest = short;
    while let Some((long, letter)) = SHORT.iter().find(|(_, letter)| rest.starts_with(*letter)) {
        pointer += long;
        rest = &rest[letter.len_utf8()..];
        let digits = rest.len() - rest.trim_start_matches(|letter: char| letter.is_ascii_digit()).len();
        pointer += &rest[..digits];
        rest = &rest[digits..];
    }
    pointer + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(pointer: &str) -> Source {
        Source::At(0, pointer.into())
    }

    #[test]
    fn a_quantile_beyond_one_is_refused_as_a_source() {
        assert!("q0.99(0p3/histogram)".parse::<Source>().is_ok());
        for text in ["q1.99(0p3/histogram)", "q-0.5(0p3/histogram)", "qNaN(0p3/histogram)"] {
            let refused = text.parse::<Source>();
            assert!(refused.is_err_and(|why| why.contains("from 0 to 1")), "{text}");
        }
    }

    #[test]
    fn a_source_is_read_back_as_it_was_written() {
        let rate = at("/points/3/workloads/0/summary/0/ops_per_s/value");
        assert_eq!(rate.to_string(), "0p3w0s0/ops_per_s/value");
        let sources = [
            rate.clone(),
            at("/search/met_per_s"),
            at("/points/12/series/4/values/7"),
            Source::Quantile(1, "/points/0/workloads/0/classes/0/response".into(), 0.999),
            Source::Sum(vec![rate.clone(), at("/search/met_per_s")]),
            Source::Mean(vec![Source::Sum(vec![rate.clone(), at("/search/met_per_s")]), rate.clone()]),
            Source::Least(vec![rate.clone(), at("/search/met_per_s")]),
            Source::Ratio(Box::new((Source::Most(vec![rate.clone()]), rate.clone()))),
            Source::Rate(Box::new((rate.clone(), at("/points/0/workloads/0/measured_ns")))),
            Source::Difference(Box::new((rate.clone(), rate))),
        ];
        for source in sources {
            assert_eq!(source.to_string().parse::<Source>(), Ok(source.clone()), "{source}");
        }
    }

    #[test]
    fn what_is_no_source_is_an_error_and_no_panic() {
        for text in
            ["", "x", "sum(", "sum(0/a", "ratio(0/a)", "q(0/a)", "q0.5(sum(0/a))", "0/a)", "max()", "qé(0/a)"]
        {
            assert!(text.parse::<Source>().is_err(), "{text}");
        }
        assert!("sum(".repeat(10_000).parse::<Source>().is_err());
    }

    #[test]
    fn a_number_is_read_from_the_records_by_its_source() {
        let records = [serde_json::json!({"points": [{"a": 4.0}, {"a": 6.0}]}), serde_json::json!({"b": 2})];
        let read = |text: &str| text.parse::<Source>().ok().and_then(|source| source.read(&records));
        assert_eq!(read("0p1/a"), Some(6.0));
        assert_eq!(read("sum(0p0/a,0p1/a)"), Some(10.0));
        assert_eq!(read("max(0p0/a,1/b)"), Some(4.0));
        assert_eq!(read("min(0p0/a,1/b)"), Some(2.0));
        assert_eq!(read("ratio(0p1/a,1/b)"), Some(3.0));
        assert_eq!(read("rate(0p1/a,1/b)"), Some(3e9));
        assert_eq!(read("less(0p1/a,1/b)"), Some(4.0));
        assert_eq!(read("mean(0p0/a,sum(0p1/a,1/b))"), Some(6.0));
        assert_eq!(read("0p2/a"), None);
        assert_eq!(read("sum(0p0/a,0p2/a)"), None);
    }
}
