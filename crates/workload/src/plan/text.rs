//! The one text of every part of a specification: what `Display` writes, `FromStr` reads back to the same.
//!
//! **Invariant:** `text.parse()` of a written text gives an equal value; property-tested below.

use std::fmt::{self, Display};
use std::str::FromStr;

use toml::de::{DeTable, DeValue};
use units::{Bytes, Nanos, OpsPerSecond, Share, UnitError};

use super::error::Wrong;
use super::suggest::nearest;
use crate::spec::{
    EngineKind, Extent, Files, FlushKind, LunLayout, OpenSync, Pace, Pattern, SizeSplit, Span, Zone,
};

/// The most sizes in one split. The same limit as in other tools' splits.
pub const MOST_SIZES: usize = 64;
/// The most zones in `hot(...)`.
pub const MOST_ZONES: usize = 64;
/// The largest weight of a size; above it the weights of the others would vanish.
const LARGEST_WEIGHT: f64 = 1e9;
/// The largest exponent of zipf: beyond it practically every request goes to one block.
const LARGEST_THETA: f64 = 10.0;
/// The fastest pace: one request every nanosecond, the resolution of the clock.
const FASTEST_OPS_PER_S: f64 = 1e9;
/// Shares that sum to 1 within this do: 2/3 and 1/3 have no exact binary form.
pub(crate) const SHARE_SLACK: f64 = 1e-9;

/// Why a text is not a pattern, a pace or the like.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}; {help}")]
pub struct TextError {
    /// What is wrong.
    pub message: String,
    /// What would be right.
    pub help: String,
}

impl From<TextError> for Wrong {
    fn from(error: TextError) -> Wrong {
        Wrong::new(error.message, error.help)
    }
}

impl From<UnitError> for Wrong {
    /// A unit's complaint, parted where its own advice begins.
    fn from(error: UnitError) -> Wrong {
        let said = error.to_string();
        match said.split_once("; ") {
            Some((message, help)) => Wrong::new(message, help),
            None => Wrong::said(said),
        }
    }
}

fn wrong<T>(message: impl Into<String>, help: impl Into<String>) -> Result<T, TextError> {
    Err(TextError { message: message.into(), help: help.into() })
}

/// A size, duration, rate or share within a longer text.
fn unit<T: FromStr<Err = UnitError>>(text: &str) -> Result<T, TextError> {
    text.trim().parse().map_err(|error: UnitError| {
        let wrong = Wrong::from(error);
        let help = wrong.help.unwrap_or_else(|| "see the rules for units".into());
        TextError { message: wrong.message, help }
    })
}

/// `name(argument)` taken apart; `None` for the argument where there are no brackets.
fn call(text: &str) -> Result<(&str, Option<&str>), TextError> {
    let text = text.trim();
    let Some((name, rest)) = text.split_once('(') else { return Ok((text, None)) };
    match rest.strip_suffix(')') {
        Some(argument) if !argument.trim().is_empty() => Ok((name.trim(), Some(argument.trim()))),
        Some(_) => {
            wrong(format!("nothing stands between the brackets of `{text}`"), "fill or drop the brackets")
        }
        None => wrong(format!("`{text}` does not end with a bracket"), format!("write `{text})`")),
    }
}

/// That `text` is none of `known`, with the nearest of them.
pub(crate) fn unknown<T>(text: &str, what: &str, known: &[&str]) -> Result<T, TextError> {
    let word = text.split('(').next().unwrap_or(text).trim();
    let words = known.iter().map(|form| form.split('(').next().unwrap_or(form));
    let near = nearest(word, words).and_then(|word| known.iter().find(|form| form.starts_with(word)));
    let help = match near {
        Some(near) => format!("did you mean `{near}`? All of them: {}", known.join(", ")),
        None => format!("one of {}", known.join(", ")),
    };
    wrong(format!("`{text}` is not {what}"), help)
}

/// The shortest text of a share that reads back to the same number: `70%`, else `0.6666666666666666`.
pub fn share_text(share: Share) -> String {
    let percent = format!("{}%", (share.get() * 1e11).round() / 1e9);
    if percent.parse() == Ok(share) { percent } else { share.exact() }
}

// Pattern ---------------------------------------------------------------------------------------------

const PATTERNS: [&str; 8] = [
    "sequential",
    "random",
    "random(repeats)",
    "zipf(1.2)",
    "normal(10%)",
    "hot(90% in 10%)",
    "stride(1MiB)",
    "reverse",
];

impl Display for Pattern {
    /// The text that [`FromStr`] reads back: `zipf(1.2)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Pattern::Sequential => f.write_str("sequential"),
            Pattern::Reverse => f.write_str("reverse"),
            Pattern::Stride(step) => write!(f, "stride({})", step.exact()),
            Pattern::Random => f.write_str("random"),
            Pattern::RandomWithRepeats => f.write_str("random(repeats)"),
            Pattern::Zipf(theta) => write!(f, "zipf({theta})"),
            Pattern::Normal(deviation) => write!(f, "normal({})", share_text(*deviation)),
            Pattern::Zones(zones) => write!(f, "hot({})", listed(zones, zone_text)),
        }
    }
}

impl FromStr for Pattern {
    type Err = TextError;

    fn from_str(text: &str) -> Result<Pattern, TextError> {
        match call(text)? {
            ("sequential", None) => Ok(Pattern::Sequential),
            ("reverse", None) => Ok(Pattern::Reverse),
            ("random", None) => Ok(Pattern::Random),
            ("random", Some("repeats")) => Ok(Pattern::RandomWithRepeats),
            ("zipf", Some(theta)) => zipf(theta),
            ("stride", Some(step)) => stride(step),
            ("normal", Some(deviation)) => normal(deviation),
            ("hot", Some(zones)) => hot(zones),
            (name @ ("zipf" | "stride" | "normal" | "hot"), None) => {
                let form = PATTERNS.iter().find(|form| form.starts_with(name)).unwrap_or(&name);
                wrong(format!("`{name}` needs a figure in brackets"), format!("for example `{form}`"))
            }
            _ => unknown(text, "a pattern", &PATTERNS),
        }
    }
}

fn zipf(theta: &str) -> Result<Pattern, TextError> {
    match theta.parse::<f64>() {
        Ok(theta) if theta > 0.0 && theta <= LARGEST_THETA => Ok(Pattern::Zipf(theta)),
        Ok(0.0) => wrong("zipf(0) is the same as uniform", "write `random(repeats)`"),
        _ => wrong(
            format!("`{theta}` is no exponent for zipf"),
            format!("a number above 0 and at most {LARGEST_THETA}, such as zipf(1.2)"),
        ),
    }
}

fn stride(step: &str) -> Result<Pattern, TextError> {
    let step: Bytes = unit(step)?;
    if step.is_zero() {
        return wrong(
            "a stride of nothing never moves",
            "write the distance from start to start: `stride(1MiB)`",
        );
    }
    Ok(Pattern::Stride(step))
}

fn normal(deviation: &str) -> Result<Pattern, TextError> {
    let deviation: Share = unit(deviation)?;
    if deviation == Share::NONE {
        return wrong("a standard deviation of 0% is one single block", "for example `normal(10%)`");
    }
    Ok(Pattern::Normal(deviation))
}

fn hot(zones: &str) -> Result<Pattern, TextError> {
    let mut zones: Vec<Zone> = zones.split(',').map(zone).collect::<Result<_, _>>()?;
    let requests: f64 = zones.iter().map(|zone| zone.requests.get()).sum();
    let span: f64 = zones.iter().map(|zone| zone.span.get()).sum();
    if requests > 1.0 + SHARE_SLACK {
        return wrong(format!("the zones get {} of the requests", percent(requests)), "at most 100% in all");
    }
    if span > 1.0 + SHARE_SLACK {
        return wrong(format!("the zones are {} of the span", percent(span)), "at most 100% in all");
    }
    let (rest_requests, rest_span) = (rest(requests), rest(span));
    if rest_requests > 0.0 {
        let (Some(requests), Some(span)) = (Share::new(rest_requests), Share::new(rest_span)) else {
            return wrong("shares outside 0% to 100%", "for example `hot(90% in 10%)`");
        };
        if rest_span <= 0.0 {
            let left = percent(rest_requests);
            return wrong(
                format!("{left} of the requests have no zone left to go to"),
                "let the zones cover less of the span, or give them all of the requests",
            );
        }
        zones.push(Zone { requests, span });
    }
    if zones.len() > MOST_ZONES {
        return wrong(format!("{} zones", zones.len()), format!("at most {MOST_ZONES}"));
    }
    Ok(Pattern::Zones(zones))
}

/// What is left of 1, freed from the noise of binary fractions; zero where it is within the slack.
fn rest(sum: f64) -> f64 {
    let rest = ((1.0 - sum) * 1e12).round() / 1e12;
    if rest <= SHARE_SLACK { 0.0 } else { rest }
}

fn zone(text: &str) -> Result<Zone, TextError> {
    let Some((requests, span)) = text.split_once(" in ") else {
        return wrong(
            format!("`{}` is not a zone", text.trim()),
            "write part of the requests, `in`, part of the span: `hot(90% in 10%)`",
        );
    };
    let zone = Zone { requests: unit(requests)?, span: unit(span)? };
    if zone.span == Share::NONE {
        return wrong("a zone of 0% of the span holds nothing", "for example `hot(90% in 10%)`");
    }
    Ok(zone)
}

fn zone_text(zone: &Zone) -> String {
    format!("{} in {}", share_text(zone.requests), share_text(zone.span))
}

fn percent(part: f64) -> String {
    format!("{}%", (part * 1e4).round() / 1e2)
}

fn listed<T>(items: &[T], text: impl Fn(&T) -> String) -> String {
    items.iter().map(text).collect::<Vec<_>>().join(", ")
}

// Sizes -----------------------------------------------------------------------------------------------

impl Display for SizeSplit {
    /// `4KiB`, or `{ "4KiB" = 60, "64KiB" = 40 }`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0[..] {
            [(size, _)] => f.write_str(&size.exact()),
            split => {
                let entry = |(size, weight): &(Bytes, f64)| format!("\"{}\" = {weight}", size.exact());
                write!(f, "{{ {} }}", listed(split, entry))
            }
        }
    }
}

impl FromStr for SizeSplit {
    type Err = TextError;

    fn from_str(text: &str) -> Result<SizeSplit, TextError> {
        if !text.trim_start().starts_with('{') {
            return split_of(vec![(unit(text)?, 1.0)]);
        }
        let help = "for example { \"4KiB\" = 60, \"64KiB\" = 40 }";
        match DeValue::parse(text.trim()).map(toml::Spanned::into_inner) {
            Ok(DeValue::Table(table)) => split_of(entries(&table)?),
            _ => wrong(format!("`{text}` is not a table of sizes and weights"), help),
        }
    }
}

fn entries(table: &DeTable<'_>) -> Result<Vec<(Bytes, f64)>, TextError> {
    let mut entries: Vec<_> = table.iter().collect();
    entries.sort_by_key(|(key, _)| key.span().start);
    entries
        .into_iter()
        .map(|(key, value)| {
            let weight = match value.get_ref() {
                DeValue::Integer(number) => number.as_str().to_string(),
                DeValue::Float(number) => number.as_str().to_string(),
                DeValue::String(text) => text.to_string(),
                other => other.type_str().to_string(),
            };
            Ok((unit(key.get_ref())?, weight_of(&weight)?))
        })
        .collect()
}

/// The weight `60` or `60%`.
pub(crate) fn weight_of(text: &str) -> Result<f64, TextError> {
    match text.trim().trim_end_matches('%').trim_end().parse::<f64>() {
        Ok(weight) if weight > 0.0 && weight <= LARGEST_WEIGHT => Ok(weight),
        _ => wrong(
            format!("`{text}` is not a weight"),
            format!("a number above 0 and at most {LARGEST_WEIGHT}, such as 60"),
        ),
    }
}

/// The split with these sizes and weights, if it is one.
pub(crate) fn split_of(entries: Vec<(Bytes, f64)>) -> Result<SizeSplit, TextError> {
    if entries.len() > MOST_SIZES {
        return wrong(format!("{} sizes in one split", entries.len()), format!("at most {MOST_SIZES}"));
    }
    for (index, (size, _)) in entries.iter().enumerate() {
        if size.is_zero() {
            return wrong("a request of no bytes asks for nothing", "the smallest useful size is 512B");
        }
        if size.get() > i32::MAX as u64 {
            return wrong(
                format!("a request of {size} is more than the kernel takes at once"),
                "at most 2 GiB less one byte",
            );
        }
        if entries[..index].iter().any(|(known, _)| known == size) {
            return wrong(format!("{} stands here twice", size.exact()), "add up its weights");
        }
    }
    match entries[..] {
        [] => wrong("a split without a size", "for example { \"4KiB\" = 60, \"64KiB\" = 40 }"),
        [(size, _)] => Ok(SizeSplit::one(size)),
        _ => Ok(SizeSplit(entries)),
    }
}

// Extents ---------------------------------------------------------------------------------------------

impl Display for Extent {
    /// `10GiB`, `50%`, or `0.3333333333333333` where no percentage says it exactly.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Extent::Bytes(bytes) => f.write_str(&bytes.exact()),
            Extent::Part(part) => f.write_str(&share_text(*part)),
        }
    }
}

impl FromStr for Extent {
    type Err = TextError;

    /// Reads a size, or a part as `50%`, `1/3` or `0.5`.
    fn from_str(text: &str) -> Result<Extent, TextError> {
        let text = text.trim();
        let a_part = text.ends_with('%') || text.contains('/') || text.parse::<f64>().is_ok_and(|n| n < 1.0);
        // A bare 0 is no part of anything: it lacks its unit like any other bare number.
        if a_part && text != "0" { Ok(Extent::Part(unit(text)?)) } else { Ok(Extent::Bytes(unit(text)?)) }
    }
}

impl Display for Span {
    /// `auto`, `10GiB` or `50%`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Span::Auto => f.write_str("auto"),
            Span::Of(extent) => extent.fmt(f),
        }
    }
}

impl FromStr for Span {
    type Err = TextError;

    fn from_str(text: &str) -> Result<Span, TextError> {
        match text.trim() {
            "auto" => Ok(Span::Auto),
            text => match text.parse::<Extent>()? {
                Extent::Bytes(Bytes::ZERO) | Extent::Part(Share::NONE) => {
                    wrong("a span of nothing leaves nothing to ask for", "for example 10GiB, 50% or auto")
                }
                extent => Ok(Span::Of(extent)),
            },
        }
    }
}

// Files, LUNs, pace -----------------------------------------------------------------------------------

const FILES: [&str; 3] = ["shared", "per_worker(4)", "workers_per_file(2)"];

impl Display for Files {
    /// `shared`, `per_worker(4)` or `workers_per_file(2)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Files::Shared => f.write_str("shared"),
            Files::PerWorker(files) => write!(f, "per_worker({files})"),
            Files::WorkersPerFile(workers) => write!(f, "workers_per_file({workers})"),
        }
    }
}

impl FromStr for Files {
    type Err = TextError;

    fn from_str(text: &str) -> Result<Files, TextError> {
        let count = |text: &str| match text.parse::<u32>() {
            // A request names its file with 16 bits.
            Ok(count) if (1..=65_535).contains(&count) => Ok(count),
            _ => wrong(
                format!("`{text}` is not a count of files or workers"),
                "a whole number from 1 to 65535",
            ),
        };
        match call(text)? {
            ("shared", None) => Ok(Files::Shared),
            ("per_worker", Some(files)) => Ok(Files::PerWorker(count(files)?)),
            ("workers_per_file", Some(workers)) => Ok(Files::WorkersPerFile(count(workers)?)),
            _ => unknown(text, "a way to share files", &FILES),
        }
    }
}

const LAYOUTS: [&str; 2] = ["concatenated", "striped(1MiB)"];

impl Display for LunLayout {
    /// `concatenated` or `striped(1MiB)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LunLayout::Concatenated => f.write_str("concatenated"),
            LunLayout::Striped(chunk) => write!(f, "striped({})", chunk.exact()),
        }
    }
}

impl FromStr for LunLayout {
    type Err = TextError;

    fn from_str(text: &str) -> Result<LunLayout, TextError> {
        match call(text)? {
            ("concatenated", None) => Ok(LunLayout::Concatenated),
            ("striped", Some(chunk)) => match unit::<Bytes>(chunk)? {
                Bytes::ZERO => wrong("a stripe of nothing", "for example `striped(1MiB)`"),
                chunk => Ok(LunLayout::Striped(chunk)),
            },
            _ => unknown(text, "a way to use several targets", &LAYOUTS),
        }
    }
}

const PACES: [&str; 4] = ["closed", "think(5ms)", "rate(500/s)", "rate(500/s, poisson)"];

impl Display for Pace {
    /// `closed`, `think(5ms)`, `rate(500/s)` or `rate(500/s, poisson)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Pace::Closed => f.write_str("closed"),
            Pace::Think(gap) => write!(f, "think({})", gap.exact()),
            Pace::Even(rate) => write!(f, "rate({})", rate.exact()),
            Pace::Poisson(rate) => write!(f, "rate({}, poisson)", rate.exact()),
        }
    }
}

impl FromStr for Pace {
    type Err = TextError;

    fn from_str(text: &str) -> Result<Pace, TextError> {
        match call(text)? {
            ("closed", None) => Ok(Pace::Closed),
            ("think", Some(gap)) => match unit::<Nanos>(gap)? {
                Nanos::ZERO => wrong("thinking for no time is no pause", "write `closed`"),
                gap => Ok(Pace::Think(gap)),
            },
            ("rate", Some(argument)) => rate(argument),
            _ => unknown(text, "a pace", &PACES),
        }
    }
}

fn rate(argument: &str) -> Result<Pace, TextError> {
    let (number, process) = argument.split_once(',').unwrap_or((argument, "even"));
    let rate: OpsPerSecond = unit(number)?;
    if !(rate.get() > 0.0 && rate.get() <= FASTEST_OPS_PER_S) {
        return wrong(
            format!("`{}` is not a pace that can be kept", number.trim()),
            format!("more than 0/s and at most {FASTEST_OPS_PER_S}/s, such as rate(500/s)"),
        );
    }
    match process.trim() {
        "even" => Ok(Pace::Even(rate)),
        "poisson" => Ok(Pace::Poisson(rate)),
        other => unknown(other, "a way to space requests", &["even", "poisson"]),
    }
}

// Single words ----------------------------------------------------------------------------------------

/// Writes and reads an enum whose variants are single words.
macro_rules! words {
    ($type:ty, $what:literal, $($variant:path => $word:literal),+ $(,)?) => {
        impl std::fmt::Display for $type {
            /// The word that `FromStr` reads back.
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(match self { $($variant => $word),+ })
            }
        }

        impl std::str::FromStr for $type {
            type Err = $crate::plan::text::TextError;

            fn from_str(text: &str) -> Result<$type, $crate::plan::text::TextError> {
                match text.trim() {
                    $($word => Ok($variant),)+
                    other => $crate::plan::text::unknown(other, $what, &[$($word),+]),
                }
            }
        }
    };
}
pub(crate) use words;

words!(OpenSync, "a way to open",
    OpenSync::None => "none", OpenSync::Dsync => "dsync", OpenSync::Sync => "sync");
words!(FlushKind, "a kind of flush", FlushKind::Fsync => "fsync", FlushKind::Fdatasync => "fdatasync");
words!(EngineKind, "an engine",
    EngineKind::Auto => "auto", EngineKind::IoUring => "io_uring", EngineKind::Pread => "pread",
    EngineKind::Preadv2 => "preadv2", EngineKind::Mmap => "mmap", EngineKind::Null => "null");

// Ratios and processors -------------------------------------------------------------------------------

/// A ratio such as `2:1`, at least 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ratio(pub f64);

impl Display for Ratio {
    /// `2:1`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:1", self.0)
    }
}

impl FromStr for Ratio {
    type Err = TextError;

    /// Reads `2:1`, `3:2` or the number 2; at least 1 and at most 1000.
    fn from_str(text: &str) -> Result<Ratio, TextError> {
        let (of, to) = text.split_once(':').unwrap_or((text, "1"));
        match (of.trim().parse::<f64>(), to.trim().parse::<f64>()) {
            (Ok(of), Ok(to)) if to > 0.0 && (1.0..=1000.0).contains(&(of / to)) => Ok(Ratio(of / to)),
            _ => wrong(format!("`{text}` is not a ratio"), "from 1:1 to 1000:1, such as 2:1"),
        }
    }
}

/// Numbers of processors such as `0-3,8`; empty is `any`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CpuList(pub Vec<u32>);

/// No machine has more; a typing mistake must not fill the memory.
const MOST_CPUS: usize = 65_536;

impl Display for CpuList {
    /// Runs of neighbours shortened: `0-3,8`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return f.write_str("any");
        }
        let runs = self.0.chunk_by(|one, next| one.checked_add(1) == Some(*next));
        let shown: Vec<String> = runs
            .map(|run| match run {
                [first, .., last] => format!("{first}-{last}"),
                _ => run.iter().map(u32::to_string).collect(),
            })
            .collect();
        f.write_str(&shown.join(","))
    }
}

impl FromStr for CpuList {
    type Err = TextError;

    fn from_str(text: &str) -> Result<CpuList, TextError> {
        let wrong = || TextError {
            message: format!("`{text}` is not a list of processors"),
            help: "numbers and ranges such as 0-3,8, or any".into(),
        };
        let mut cpus = Vec::new();
        if text.trim() == "any" {
            return Ok(CpuList(cpus));
        }
        for part in text.split(',') {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            let number = |text: &str| text.trim().parse::<u32>().map_err(|_| wrong());
            let run = number(first)?..=number(last)?;
            if run.is_empty() || cpus.len() + (run.end() - run.start()) as usize >= MOST_CPUS {
                return Err(wrong());
            }
            cpus.extend(run);
        }
        Ok(CpuList(cpus))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::plan::tests::arbitrary::{extent, pace, pattern, share, split};

    proptest! {
        #[test]
        fn what_is_written_reads_back(
            pattern in pattern(), pace in pace(), extent in extent(), split in split(), share in share(),
            ratio in 1.0..=1000.0f64, cpus in proptest::collection::vec(0u32..300, 0..40),
        ) {
            prop_assert_eq!(pattern.to_string().parse(), Ok(pattern));
            prop_assert_eq!(pace.to_string().parse(), Ok(pace));
            prop_assert_eq!(extent.to_string().parse(), Ok(extent));
            prop_assert_eq!(Span::Of(extent).to_string().parse(), Ok(Span::Of(extent)));
            prop_assert_eq!(split.to_string().parse(), Ok(split));
            prop_assert_eq!(share_text(share).parse(), Ok(share));
            prop_assert_eq!(Ratio(ratio).to_string().parse(), Ok(Ratio(ratio)));
            prop_assert_eq!(CpuList(cpus.clone()).to_string().parse(), Ok(CpuList(cpus)));
        }

        #[test]
        fn no_text_makes_a_reader_panic(text in "\\PC{0,40}", inner in "[0-9a-z%,./: -]{0,20}") {
            for text in [text.clone(), format!("hot({inner})"), format!("rate({inner})"), format!("{{{text}}}"), inner] {
                let _ = text.parse::<Pattern>();
                let _ = text.parse::<Pace>();
                let _ = text.parse::<Span>();
                let _ = text.parse::<SizeSplit>();
                let _ = text.parse::<Files>();
                let _ = text.parse::<LunLayout>();
                let _ = text.parse::<Ratio>();
                let _ = text.parse::<CpuList>();
                let _ = text.parse::<EngineKind>();
            }
        }
    }

    #[test]
    fn the_rest_of_the_requests_goes_to_the_rest_of_the_span() {
        let pattern: Pattern = "hot(50% in 5%, 30% in 15%)".parse().unwrap();
        assert_eq!(pattern.to_string(), "hot(50% in 5%, 30% in 15%, 20% in 80%)");
        assert_eq!(pattern.to_string().parse(), Ok(pattern));
    }

    #[test]
    fn all_requests_in_a_part_of_the_span_leave_the_rest_alone() {
        let pattern: Pattern = "hot(100% in 10%)".parse().unwrap();
        assert_eq!(pattern.to_string(), "hot(100% in 10%)");
    }

    #[test]
    fn a_wrong_pattern_is_told_the_nearest_right_one() {
        let help = |text: &str| text.parse::<Pattern>().unwrap_err().to_string();
        assert!(help("sequental").contains("did you mean `sequential`"), "{}", help("sequental"));
        assert!(help("zipf").contains("zipf(1.2)"));
        assert!(help("zipf(0)").contains("random(repeats)"));
        assert!(help("zipf(1.2").contains("write `zipf(1.2)`"));
        assert!(help("hot(90% of 10%)").contains("`in`"));
        assert!(help("hot(90% in 100%)").contains("10% of the requests have no zone left"));
        assert!(help("hot(90% in 10%, 20% in 20%)").contains("110% of the requests"));
        assert!(help("stride(4)").contains("4KiB"));
    }

    #[test]
    fn sizes_are_bounded_and_stand_once() {
        let help = |text: &str| text.parse::<SizeSplit>().unwrap_err().to_string();
        assert!(help("0B").contains("asks for nothing"));
        assert!(help("2GiB").contains("at most 2 GiB less one byte"));
        assert!(help("{ \"4KiB\" = 1, \"4096B\" = 2 }").contains("4KiB stands here twice"));
        assert!(help("{ \"4KiB\" = -1 }").contains("is not a weight"));
        assert!(help("{}").contains("without a size"));
        let many: Vec<String> = (1..=65).map(|kib| format!("\"{kib}KiB\" = 1")).collect();
        assert!(help(&format!("{{ {} }}", many.join(", "))).contains("at most 64"));
    }
}
