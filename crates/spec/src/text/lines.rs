//! The text of requests of several kinds: `[{ share = 60, size = "4KiB", reads = "80%" }, …]`.

use std::fmt::{self, Display};
use std::str::FromStr;

use document::{Node, Value, Wrong};
use units::{Bytes, Nanos, Share};

use super::amounts::{sizes_of, weight_in};
use super::{TextError, listed, share_text};
use crate::{Line, MOST_LINES, OpMix, SizeSplit};

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
        Ok(LineList(
            own_lines(&document::value(text.trim()))?.into_iter().map(whole).collect::<Result<_, _>>()?,
        ))
    }
}

fn whole(own: OwnLine) -> Result<Line, Wrong> {
    Ok(Line {
        weight: own.weight,
        sizes: own.sizes.ok_or_else(|| Wrong::new("a line without a size", "size = \"4KiB\""))?,
        mix: OpMix {
            reads: own.reads.unwrap_or(Share::ALL),
            trims: own.trims.unwrap_or_default(),
            flushes: own.flushes.unwrap_or_default(),
        },
        random: own.random,
        align: own.align,
        burst: own.burst,
        delay: own.delay,
    })
}

/// A line of a mix as it is typed: what it does not say holds from the workload.
#[derive(Clone, Debug, PartialEq)]
pub struct OwnLine {
    /// Its weight among the lines.
    pub weight: f64,
    /// Sizes of requests.
    pub sizes: Option<SizeSplit>,
    /// Part of the requests that read.
    pub reads: Option<Share>,
    /// Part that trims.
    pub trims: Option<Share>,
    /// Part that flushes.
    pub flushes: Option<Share>,
    /// Part whose address follows the pattern.
    pub random: Option<Share>,
    /// What offsets are multiples of.
    pub align: Option<Bytes>,
    /// The wait before a burst.
    pub delay: Nanos,
    /// Requests that follow from the line once it is drawn.
    pub burst: u32,
}

const KEYS: [&str; 9] = ["share", "size", "reads", "trims", "flushes", "random", "align", "delay", "burst"];
const EXAMPLE: &str = "[{ share = 60, size = \"4KiB\" }, { share = 40, size = \"64KiB\", random = \"0%\" }]";

/// The lines in `node`: `none`, or a list of tables.
pub fn own_lines(node: &Node) -> Result<Vec<OwnLine>, Wrong> {
    let items = match &node.value {
        _ if node.is("none") => return Ok(Vec::new()),
        Value::List(items) => items,
        _ => return Err(node.not("a list of tables", EXAMPLE)),
    };
    if items.is_empty() {
        return Err(
            Wrong::new("an empty mix issues no requests", format!("for example {EXAMPLE}")).at(&node.place)
        );
    }
    if items.len() > MOST_LINES {
        let message = format!("{} lines in one mix", items.len());
        return Err(Wrong::new(message, format!("at most {MOST_LINES}")).at(&node.place));
    }
    items.iter().map(own_line).collect()
}

fn own_line(node: &Node) -> Result<OwnLine, Wrong> {
    let table = node.table().ok_or_else(|| node.not("a table", "{ share = 60, size = \"4KiB\" }"))?;
    table.only(&KEYS)?;
    let part = |key: &str| table.get(key).map(|node| node.read("70%")).transpose();
    let Some(share) = table.get("share") else {
        let help = "write its weight among the lines: share = 60";
        return Err(Wrong::new("a line of a mix has no `share`", help).at(&node.place));
    };
    Ok(OwnLine {
        weight: weight_in(share)?,
        sizes: table.get("size").map(sizes_of).transpose()?,
        reads: part("reads")?,
        trims: part("trims")?,
        flushes: part("flushes")?,
        random: part("random")?,
        align: table.get("align").map(|node| node.read("4KiB")).transpose()?,
        delay: table.get("delay").map_or(Ok(Nanos::ZERO), |node| node.read("5ms"))?,
        burst: table.get("burst").map_or(Ok(1), |node| node.count32(1..=u32::MAX))?,
    })
}
