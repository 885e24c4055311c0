//! The text of requests of several kinds: `[{ share = 60, size = "4KiB", reads = "80%" }, …]`.

use std::fmt::{self, Display};
use std::str::FromStr;

use toml::Spanned;
use toml::de::{DeTable, DeValue};
use units::{Nanos, Share};

use super::amounts::{entries, scalar};
use super::{TextError, listed, number, share_text, split_of, unit, weight_of, wrong};
use crate::{Line, OpMix};

/// Requests of several kinds; none of them is `none`.
#[derive(Clone, Debug, PartialEq)]
pub struct LineList(pub Vec<Line>);

impl Display for LineList {
    /// A list of tables. What no line does, and what holds for most, is left out.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let LineList(lines) = self;
        if lines.is_empty() {
            return f.write_str("none");
        }
        let some = |part: fn(&Line) -> Share| lines.iter().any(|line| part(line) != Share::NONE);
        let (trims, flushes) = (some(|line| line.mix.trims), some(|line| line.mix.flushes));
        write!(f, "[{}]", listed(lines, |line| line_text(line, trims, flushes)))
    }
}

fn line_text(line: &Line, trims: bool, flushes: bool) -> String {
    // A split is a table already.
    let quote = if line.sizes.0.len() == 1 { "\"" } else { "" };
    let mut text = format!("{{ share = {}, size = {quote}{}{quote}", line.weight, line.sizes);
    let parts = [
        ("reads", Some(line.mix.reads)),
        ("trims", trims.then_some(line.mix.trims)),
        ("flushes", flushes.then_some(line.mix.flushes)),
        ("random", line.random),
    ];
    for (key, part) in parts {
        if let Some(part) = part {
            text += &format!(", {key} = \"{}\"", share_text(part));
        }
    }
    if let Some(align) = line.align {
        text += &format!(", align = \"{}\"", align.exact());
    }
    if !line.delay.is_zero() {
        text += &format!(", delay = \"{}\"", line.delay.exact());
    }
    if line.burst != 1 {
        text += &format!(", burst = {}", line.burst);
    }
    text + " }"
}

impl FromStr for LineList {
    type Err = TextError;

    /// Reads what `Display` writes: each line says all that is its own.
    fn from_str(text: &str) -> Result<LineList, TextError> {
        if text.trim() == "none" {
            return Ok(LineList(Vec::new()));
        }
        let table = format!("mix = {text}");
        let table = DeTable::parse(&table).map(Spanned::into_inner).unwrap_or_default();
        match table.get("mix").map(Spanned::get_ref) {
            Some(DeValue::Array(lines)) => {
                lines.iter().map(|one| line(one.get_ref())).collect::<Result<_, _>>().map(LineList)
            }
            _ => wrong(format!("`{text}` is no list of tables"), "see `mix` in the reference of plans"),
        }
    }
}

fn line(value: &DeValue<'_>) -> Result<Line, TextError> {
    let DeValue::Table(table) = value else { return wrong("a line of a mix is a table", "{ share = 60 }") };
    let value = |key: &str| table.get(key).map(Spanned::get_ref);
    let said = |key: &str| value(key).map(scalar);
    let share = |key: &str| said(key).map(|text| unit::<Share>(&text)).transpose();
    let sizes = match value("size") {
        Some(DeValue::Table(sizes)) => split_of(entries(sizes)?)?,
        size => size.map(scalar).unwrap_or_default().parse()?,
    };
    let mix = OpMix {
        reads: share("reads")?.unwrap_or(Share::ALL),
        trims: share("trims")?.unwrap_or_default(),
        flushes: share("flushes")?.unwrap_or_default(),
    };
    Ok(Line {
        weight: weight_of(&said("share").unwrap_or_default())?,
        sizes,
        mix,
        random: share("random")?,
        align: said("align").map(|text| unit(&text)).transpose()?,
        burst: said("burst").map_or(Ok(1), |text| number(&text))?,
        delay: said("delay").map_or(Ok(Nanos::ZERO), |text| unit(&text))?,
    })
}
