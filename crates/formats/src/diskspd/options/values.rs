//! What options of diskspd have behind them.

use crate::Refusal;
use crate::numbers::{BYTES, with_suffix};
use crate::options::Given;

/// Where a thread's next request goes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Access {
    /// `-r`: anywhere, at multiples of so many bytes.
    Random(u64),
    /// `-s`: each thread by itself, so many bytes from start to start.
    Sequential(u64),
    /// `-si`: the threads of a target take turns in one stream.
    #[default]
    Interlocked,
}

/// `-rdpct` and `-rdabs`: how random requests are spread.
#[derive(Clone, Debug, PartialEq)]
pub enum Spread {
    /// Percent of the requests, percent of the target.
    Percent(Vec<(u32, u32)>),
    /// Percent of the requests, bytes; none is all that is left.
    Bytes(Vec<(u32, Option<u64>)>),
}

/// `-g`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Throughput {
    /// Bytes a millisecond.
    Bytes(u32),
    /// Requests a second.
    Requests(u32),
}

/// What writes contain.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Buffers {
    /// The original's: 0 to 255 again and again.
    #[default]
    Pattern,
    /// `-Z`.
    Zeros,
    /// `-Zr`: new for each request.
    Random,
    /// `-Z1M`: from a buffer of random bytes of that size.
    Source(u64),
}

/// `-R`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// Text.
    #[default]
    Text,
    /// XML.
    Xml,
}

/// What `-Z` has behind it.
pub(super) fn buffers(given: &Given<'_>, block: u64) -> Result<Buffers, Refusal> {
    match given.value {
        "" => Ok(Buffers::Zeros),
        "r" => Ok(Buffers::Random),
        text if text.contains(',') => {
            Err(given.unsupported("content is not taken from a file; use -Zr or a size alone"))
        }
        text => match size(text, block) {
            Some(size @ 1..) => Ok(Buffers::Source(size)),
            _ => Err(given.wrong("nothing, `r`, or a size such as 1M")),
        },
    }
}

/// `90/10:5/20`: percent of requests in percent of the target; what is not said is the rest in the rest.
pub(super) fn shares(text: &str) -> Option<Spread> {
    let mut parts = Vec::new();
    for part in text.split(':') {
        let (requests, span) = part.split_once('/')?;
        parts.push((requests.parse::<u32>().ok()?, span.parse::<u32>().ok()?));
    }
    let sum = |which: fn(&(u32, u32)) -> u32| parts.iter().map(which).try_fold(0_u32, u32::checked_add);
    let (requests, span) = (sum(|part| part.0)?, sum(|part| part.1)?);
    match (100_u32.checked_sub(requests)?, 100_u32.checked_sub(span)?) {
        (0, _) => {}
        // Requests that are left over need a place.
        (_, 0) => return None,
        rest => parts.push(rest),
    }
    debug_assert_eq!(parts.iter().map(|part| part.0).sum::<u32>(), 100, "all requests have a place");
    debug_assert_eq!(parts.iter().map(|part| part.1).sum::<u32>(), 100, "the parts are the whole target");
    parts.retain(|part| part.1 > 0);
    Some(Spread::Percent(parts))
}

/// `90/10G:5/20G`: percent of requests in so many bytes; what is not said is the rest in the rest.
pub(super) fn places(text: &str, block: u64) -> Option<Spread> {
    let mut parts = Vec::new();
    for part in text.split(':') {
        let (requests, span) = part.split_once('/')?;
        let span = size(span, block).filter(|span| *span > 0)?;
        parts.push((requests.parse::<u32>().ok()?, Some(span)));
    }
    let said = parts.iter().map(|part| part.0).try_fold(0_u32, u32::checked_add)?;
    let rest = 100_u32.checked_sub(said)?;
    if rest > 0 {
        parts.push((rest, None));
    }
    debug_assert_eq!(parts.iter().map(|part| part.0).sum::<u32>(), 100, "all requests have a place");
    Some(Spread::Bytes(parts))
}

/// A size, with `K`, `M`, `G`, or `b` for blocks of `block` bytes.
pub(super) fn size(text: &str, block: u64) -> Option<u64> {
    with_suffix(text, |suffix| match suffix {
        "b" | "B" => Some(block),
        _ => BYTES.factor(suffix),
    })
}

/// `0,1,2`, also of processor groups of which there is one: `g0,0,1`. Nothing means all, as by default.
pub(super) fn cpus(text: &str) -> Option<Vec<u32>> {
    if text.is_empty() || text == "g" {
        return Some(Vec::new());
    }
    let numbers = text.split(',').filter(|part| *part != "g0");
    numbers.map(|part| part.parse().ok().filter(|cpu| *cpu < 4096)).collect()
}
