//! The text of a pattern: `hot(90% in 10%)`.

use std::fmt::{self, Display};
use std::str::FromStr;

use units::{Bytes, Share};

use super::{SHARE_SLACK, TextError, call, listed, share_text, unit, unknown, wrong};
use crate::trace::Replay;
use crate::{Extent, Pattern, Zone};

/// The most zones in `hot(...)`.
pub const MOST_ZONES: usize = 64;
/// The largest exponent of zipf: beyond it practically every request goes to one block.
const LARGEST_THETA: f64 = 10.0;

/// The most blocks in `sequence(...)`.
const MOST_BLOCKS: usize = 4096;
/// No span has as many blocks.
const LARGEST_BLOCK: u64 = 1 << 55;
/// Up to here no part has to write more blocks again than the part before it has new ones.
const MOST_SPARE: f64 = 0.38;
const LEAST_SPARE: f64 = 0.01;
/// The most parts in `aged(...)`.
const MOST_PARTS: u32 = 65_536;

/// Every form of a pattern, with a value where it takes one.
pub const PATTERNS: [&str; 18] = [
    "sequential",
    "random",
    "random(repeats)",
    "zipf(1.2)",
    "pareto(0.2)",
    "normal(10%)",
    "normal(10%, scattered)",
    "hot(90% in 10%)",
    "stride(1MiB)",
    "stride(1GiB, 64MiB)",
    "columns(128KiB, 32KiB)",
    "reverse",
    "reverse(1MiB)",
    "sequential(interlocked)",
    "sequence(2, 0, 1)",
    "sequence(2, 0, 1, moving)",
    "aged(15%, 100)",
    "trace",
];

impl Display for Pattern {
    /// The text that [`FromStr`] reads back: `zipf(1.2)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Pattern::Interlocked => f.write_str("sequential(interlocked)"),
            Pattern::Pareto(h) => write!(f, "pareto({h})"),
            Pattern::Sequential => f.write_str("sequential"),
            Pattern::Reverse => f.write_str("reverse"),
            Pattern::Stride(step) => write!(f, "stride({})", step.exact()),
            Pattern::StrideOf { step, run } => write!(f, "stride({}, {})", step.exact(), run.exact()),
            Pattern::Columns { step, width } => write!(f, "columns({}, {})", step.exact(), width.exact()),
            Pattern::ReverseStride(step) => write!(f, "reverse({})", step.exact()),
            Pattern::Random => f.write_str("random"),
            Pattern::RandomWithRepeats => f.write_str("random(repeats)"),
            Pattern::Zipf(theta) => write!(f, "zipf({theta})"),
            Pattern::Normal(deviation) => write!(f, "normal({})", share_text(*deviation)),
            Pattern::NormalScattered(deviation) => write!(f, "normal({}, scattered)", share_text(*deviation)),
            Pattern::Sequence { blocks, moves } => {
                let moving = if *moves { ", moving" } else { "" };
                write!(f, "sequence({}{moving})", listed(blocks, u64::to_string))
            }
            Pattern::Aged { spare, parts } => write!(f, "aged({}, {parts})", share_text(*spare)),
            Pattern::Trace(_) => f.write_str("trace"),
            Pattern::Zones(zones) => write!(f, "hot({})", listed(zones, zone_text)),
        }
    }
}

impl FromStr for Pattern {
    type Err = TextError;

    fn from_str(text: &str) -> Result<Pattern, TextError> {
        match call(text)? {
            ("trace", None) => Ok(Pattern::Trace(Replay::default())),
            ("sequential", None) => Ok(Pattern::Sequential),
            ("sequential", Some("interlocked")) => Ok(Pattern::Interlocked),
            ("pareto", Some(h)) => pareto(h),
            ("reverse", None) => Ok(Pattern::Reverse),
            ("random", None) => Ok(Pattern::Random),
            ("random", Some("repeats")) => Ok(Pattern::RandomWithRepeats),
            ("zipf", Some(theta)) => zipf(theta),
            ("stride", Some(step)) => stride(step),
            ("columns", Some(arguments)) => match stride(arguments)? {
                Pattern::StrideOf { step, run: width } => Ok(Pattern::Columns { step, width }),
                _ => wrong(
                    format!("`{text}` does not say how wide its columns are"),
                    "for example `columns(128KiB, 32KiB)`",
                ),
            },
            ("reverse", Some(step)) => Ok(Pattern::ReverseStride(step_of(step)?)),
            ("normal", Some(deviation)) => normal(deviation),
            ("hot", Some(zones)) => hot(zones),
            ("sequence", Some(blocks)) => sequence(blocks),
            ("aged", Some(arguments)) => aged(arguments),
            (
                name @ ("zipf" | "pareto" | "stride" | "columns" | "normal" | "hot" | "sequence" | "aged"),
                None,
            ) => {
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
            format!("`{theta}` is not an exponent of zipf"),
            format!("a number above 0 and at most {LARGEST_THETA}, such as zipf(1.2)"),
        ),
    }
}

fn pareto(h: &str) -> Result<Pattern, TextError> {
    match h.parse::<f64>() {
        Ok(h) if h > 0.0 && h < 1.0 => Ok(Pattern::Pareto(h)),
        _ => wrong(
            format!("`{h}` is not a parameter of pareto"),
            "a number between 0 and 1: pareto(0.2) sends 80% of the requests to 20% of the blocks",
        ),
    }
}

fn stride(arguments: &str) -> Result<Pattern, TextError> {
    let Some((step, run)) = arguments.split_once(',') else { return step_of(arguments).map(Pattern::Stride) };
    let (step, run) = (step_of(step)?, step_of(run)?);
    if run > step {
        return wrong(
            format!("{} of every {} overlap", run.exact(), step.exact()),
            "write the distance from start to start, then how much of it is passed: `stride(1GiB, 64MiB)`",
        );
    }
    Ok(Pattern::StrideOf { step, run })
}

fn step_of(step: &str) -> Result<Bytes, TextError> {
    let step: Bytes = unit(step)?;
    if step.is_zero() {
        return wrong(
            "a stride of 0 bytes never moves",
            "write the distance from start to start: `stride(1MiB)`",
        );
    }
    Ok(step)
}

fn normal(arguments: &str) -> Result<Pattern, TextError> {
    let (deviation, place) = arguments.split_once(',').unwrap_or((arguments, ""));
    let pattern = match place.trim() {
        "" => Pattern::Normal,
        "scattered" => Pattern::NormalScattered,
        other => {
            return wrong(
                format!("`{other}` is not an option of normal"),
                "for example `normal(10%, scattered)`",
            );
        }
    };
    let deviation: Share = unit(deviation)?;
    if deviation == Share::NONE {
        return wrong("a standard deviation of 0% is one single block", "for example `normal(10%)`");
    }
    Ok(pattern(deviation))
}

fn sequence(arguments: &str) -> Result<Pattern, TextError> {
    let (blocks, moves) = match arguments.rsplit_once(',') {
        Some((blocks, word)) if word.trim() == "moving" => (blocks, true),
        _ => (arguments, false),
    };
    let blocks: Vec<u64> = blocks.split(',').map(super::number).collect::<Result<_, _>>()?;
    if blocks.len() > MOST_BLOCKS {
        return wrong(format!("{} blocks", blocks.len()), format!("at most {MOST_BLOCKS}, or a trace"));
    }
    match blocks.iter().find(|block| **block >= LARGEST_BLOCK) {
        Some(block) => {
            wrong(format!("no span has a block {block}"), "numbers of blocks from the start of the span")
        }
        None => Ok(Pattern::Sequence { blocks, moves }),
    }
}

fn aged(arguments: &str) -> Result<Pattern, TextError> {
    let (spare, parts) = arguments.split_once(',').unwrap_or((arguments, "100"));
    let (spare, parts): (Share, u32) = (unit(spare)?, super::number(parts)?);
    if !(LEAST_SPARE..=MOST_SPARE).contains(&spare.get()) {
        return wrong(
            format!("{} of spare room cannot be aged in one pass", share_text(spare)),
            "what the device has beyond its capacity, from 1% to 38%: `aged(15%, 100)`",
        );
    }
    match parts {
        2..=MOST_PARTS => Ok(Pattern::Aged { spare, parts }),
        _ => wrong(format!("{parts} parts"), format!("2 to {MOST_PARTS}: `aged(15%, 100)`")),
    }
}

fn hot(zones: &str) -> Result<Pattern, TextError> {
    let mut zones: Vec<Zone> = zones.split(',').map(zone).collect::<Result<_, _>>()?;
    let requests: f64 = zones.iter().map(|zone| zone.requests.get()).sum();
    let part = |zone: &Zone| match zone.span {
        Extent::Part(part) => Some(part.get()),
        Extent::Bytes(_) => None,
    };
    let in_bytes = zones.iter().any(|zone| part(zone).is_none());
    let span: f64 = zones.iter().filter_map(part).sum();
    if requests > 1.0 + SHARE_SLACK {
        return wrong(format!("the zones get {} of the requests", percent(requests)), "at most 100% in all");
    }
    if span > 1.0 + SHARE_SLACK {
        return wrong(format!("the zones are {} of the span", percent(span)), "at most 100% in all");
    }
    let (rest_requests, rest_span) = (rest(requests), rest(span));
    // How much a size leaves of the span is known only with the target.
    if rest_requests > 0.0 && !in_bytes {
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
        debug_assert!(
            (requests.get() + zones.iter().map(|zone| zone.requests.get()).sum::<f64>() - 1.0).abs()
                <= SHARE_SLACK,
            "with the rest, zones get all requests"
        );
        zones.push(Zone { requests, span: Extent::Part(span) });
    }
    if zones.len() > MOST_ZONES {
        return wrong(format!("{} zones", zones.len()), format!("at most {MOST_ZONES}"));
    }
    Ok(Pattern::Zones(zones))
}

/// What is left of 1, freed from the noise of binary fractions; zero where it is within the slack.
fn rest(sum: f64) -> f64 {
    let rest = ((1.0 - sum) * 1e12).round() / 1e12;
    debug_assert!(rest <= 1.0, "{sum} are less than none");
    if rest <= SHARE_SLACK { 0.0 } else { rest }
}

fn zone(text: &str) -> Result<Zone, TextError> {
    let Some((requests, span)) = text.split_once(" in ") else {
        return wrong(
            format!("`{}` is not a zone", text.trim()),
            "write part of the requests, `in`, part of the span: `hot(90% in 10%)`",
        );
    };
    let zone = Zone { requests: unit(requests)?, span: span.parse()? };
    if matches!(zone.span, Extent::Part(Share::NONE) | Extent::Bytes(Bytes::ZERO)) {
        return wrong("a zone of 0% of the span holds nothing", "for example `hot(90% in 10%)`");
    }
    Ok(zone)
}

fn zone_text(zone: &Zone) -> String {
    format!("{} in {}", share_text(zone.requests), zone.span)
}

fn percent(part: f64) -> String {
    format!("{}%", (part * 1e4).round() / 1e2)
}

#[cfg(test)]
mod tests {
    use super::*;

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
        assert!(help("pareto(1)").contains("20% of the blocks"));
        assert!(help("stride(4)").contains("4KiB"));
    }
}
