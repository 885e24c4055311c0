//! The texts of sizes and extents: `8KiB`, `50%`, `{ "4KiB" = 60, "64KiB" = 40 }`.

use std::fmt::{self, Display};
use std::str::FromStr;

use document::{Node, Wrong};
use units::{Bytes, Share};

use super::{TextError, listed, share_text, unit, wrong};
use crate::{Extent, SizeSplit, Span};

/// The most sizes in one split. The same limit as in other tools' splits.
pub const MOST_SIZES: usize = 64;

/// The largest request: the kernel takes no more at once.
pub const LARGEST_REQUEST: Bytes = Bytes::new(i32::MAX as u64);
/// The largest weight of a size; above it the weights of the others would vanish.
const LARGEST_WEIGHT: f64 = 1e9;

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
        let node = document::value(text.trim());
        match node.table() {
            Some(_) => Ok(sizes_of(&node)?),
            None => wrong(
                format!("`{text}` is not a table of sizes and weights"),
                "for example { \"4KiB\" = 60, \"64KiB\" = 40 }",
            ),
        }
    }
}

/// The sizes in `node`: one of them, or a table of sizes and weights in the order in which they stand.
pub fn sizes_of(node: &Node) -> Result<SizeSplit, Wrong> {
    let Some(table) = node.table() else { return node.read("8KiB") };
    let mut entries = Vec::new();
    for (key, weight) in table.iter() {
        let size = key.text.parse::<Bytes>().map_err(|error| Wrong::from(error).at(&key.place))?;
        entries.push((size, weight_in(weight)?));
    }
    split_of(entries).map_err(|error| Wrong::from(error).at(&node.place))
}

pub(super) fn weight_in(node: &Node) -> Result<f64, Wrong> {
    let text = node.scalar().ok_or_else(|| node.not("a weight", "60"))?;
    weight_of(&text).map_err(|error| Wrong::from(error).at(&node.place))
}

/// The weight `60` or `60%`.
pub fn weight_of(text: &str) -> Result<f64, TextError> {
    match text.trim().trim_end_matches('%').trim_end().parse::<f64>() {
        Ok(weight) if weight > 0.0 && weight <= LARGEST_WEIGHT => Ok(weight),
        _ => wrong(
            format!("`{text}` is not a weight"),
            format!("a number above 0 and at most {LARGEST_WEIGHT}, such as 60"),
        ),
    }
}

/// The split with these sizes and weights, if it is one.
pub fn split_of(entries: Vec<(Bytes, f64)>) -> Result<SizeSplit, TextError> {
    if entries.len() > MOST_SIZES {
        return wrong(format!("{} sizes in one split", entries.len()), format!("at most {MOST_SIZES}"));
    }
    for (index, (size, _)) in entries.iter().enumerate() {
        if size.is_zero() {
            return wrong("a request of 0 bytes moves no data", "the smallest useful size is 512B");
        }
        if *size > LARGEST_REQUEST {
            return wrong(
                format!("a request of {size} is more than the kernel takes at once"),
                "at most 2 GiB less one byte",
            );
        }
        if entries[..index].iter().any(|(known, _)| known == size) {
            return wrong(format!("{} is twice in the split", size.exact()), "add up its weights");
        }
    }
    match entries[..] {
        [] => wrong("a split without a size", "for example { \"4KiB\" = 60, \"64KiB\" = 40 }"),
        [(size, _)] => Ok(SizeSplit::one(size)),
        _ => Ok(SizeSplit(entries)),
    }
}

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
                    wrong("a span of 0 bytes leaves nothing to access", "for example 10GiB, 50% or auto")
                }
                extent => Ok(Span::Of(extent)),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_bounded_and_stand_once() {
        let help = |text: &str| text.parse::<SizeSplit>().unwrap_err().to_string();
        assert!(help("0B").contains("moves no data"));
        assert!(help("2GiB").contains("at most 2 GiB less one byte"));
        assert!(help("{ \"4KiB\" = 1, \"4096B\" = 2 }").contains("4KiB is twice in the split"));
        assert!(help("{ \"4KiB\" = -1 }").contains("is not a weight"));
        assert!(help("{}").contains("without a size"));
        let many: Vec<String> = (1..=65).map(|kib| format!("\"{kib}KiB\" = 1")).collect();
        assert!(help(&format!("{{ {} }}", many.join(", "))).contains("at most 64"));
    }
}
