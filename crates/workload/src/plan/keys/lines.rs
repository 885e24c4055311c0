//! The lines of a `mix`: requests of several kinds in one workload.

use document::{Node, Value, Wrong};
use units::{Bytes, Nanos, Share};

use super::draft::Draft;
use super::workload::read_sizes;
use crate::plan::metric::only;
use crate::plan::text::{SHARE_SLACK, split_of, weight_of};
use crate::spec::{Line, MOST_LINES, OpMix, SizeSplit};

/// A line while a plan is read: what it does not say holds from the workload.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct LineDraft {
    weight: f64,
    sizes: Option<SizeSplit>,
    reads: Option<Share>,
    trims: Option<Share>,
    flushes: Option<Share>,
    random: Option<Share>,
    align: Option<Bytes>,
    delay: Nanos,
    burst: u32,
}

const KEYS: [&str; 9] = ["share", "size", "reads", "trims", "flushes", "random", "align", "delay", "burst"];
const EXAMPLE: &str = "[{ share = 60, size = \"4KiB\" }, { share = 40, size = \"64KiB\", random = \"0%\" }]";

/// Reads `none` or a list of tables.
pub(crate) fn read(node: &Node) -> Result<Vec<LineDraft>, Wrong> {
    let items = match &node.value {
        Value::Text(text) if text == "none" => return Ok(Vec::new()),
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
    items.iter().map(line).collect()
}

fn line(node: &Node) -> Result<LineDraft, Wrong> {
    let Some(table) = node.table() else {
        return Err(node.not("a table", "{ share = 60, size = \"4KiB\" }"));
    };
    only(table, &KEYS)?;
    let part = |key: &str| table.get(key).map(|node| node.read::<Share>("70%")).transpose();
    let Some(share) = table.get("share") else {
        let help = "write its weight among the lines: share = 60";
        return Err(Wrong::new("a line of a mix has no `share`", help).at(&node.place));
    };
    let weight = share.scalar().ok_or_else(|| share.not("a weight", "60"))?;
    Ok(LineDraft {
        weight: weight_of(&weight).map_err(|error| Wrong::from(error).at(&share.place))?,
        sizes: table.get("size").map(read_sizes).transpose()?,
        reads: part("reads")?,
        trims: part("trims")?,
        flushes: part("flushes")?,
        random: part("random")?,
        align: table.get("align").map(|node| node.read::<Bytes>("4KiB")).transpose()?,
        delay: table.get("delay").map_or(Ok(Nanos::ZERO), |node| node.read("5ms"))?,
        burst: table.get("burst").map_or(Ok(1), |node| node.count32(1..=u32::MAX))?,
    })
}

/// The lines with what the workload says where they say nothing.
pub(crate) fn finish(draft: &Draft) -> Result<Vec<Line>, Wrong> {
    let finish = |line: &LineDraft| {
        let (trims, flushes) =
            (line.trims.unwrap_or(draft.spec.mix.trims), line.flushes.unwrap_or(draft.spec.mix.flushes));
        Ok(Line {
            weight: line.weight,
            sizes: line.sizes.clone().unwrap_or_else(|| draft.spec.sizes.clone()),
            mix: mix(line.reads.or(draft.reads), trims, flushes)?,
            random: line.random.or(draft.spec.random),
            align: line.align,
            burst: line.burst,
            delay: line.delay,
        })
    };
    draft.lines.iter().map(finish).collect()
}

/// A mix of operations; without `reads` all that is neither trim nor flush reads.
pub(crate) fn mix(reads: Option<Share>, trims: Share, flushes: Share) -> Result<OpMix, Wrong> {
    let others = trims.get() + flushes.get();
    let part = reads.map_or((1.0 - others).max(0.0), Share::get);
    if part + others > 1.0 + SHARE_SLACK {
        let sum = ((part + others) * 1e4).round() / 1e2;
        let message = format!("reads, trims and flushes are {sum}% of the requests");
        return Err(Wrong::new(message, "at most 100% in all; what is left are writes"));
    }
    let reads = Share::new(part).expect("a share, or what shares leave of 1");
    Ok(OpMix { reads, trims, flushes })
}

/// The sizes of all lines in the order in which they first stand, with their parts of the requests.
pub(crate) fn sizes(lines: &[Line]) -> Result<SizeSplit, Wrong> {
    let total: f64 = lines.iter().map(Line::requests).sum();
    let mut all: Vec<(Bytes, f64)> = Vec::new();
    for line in lines {
        let within: f64 = line.sizes.0.iter().map(|(_, weight)| weight).sum();
        for (size, weight) in &line.sizes.0 {
            let part = line.requests() / total * (weight / within);
            match all.iter_mut().find(|(known, _)| known == size) {
                Some((_, sum)) => *sum += part,
                None => all.push((*size, part)),
            }
        }
    }
    // Percent to ten digits: what is shown should look like what was typed.
    let percent = |part: f64| ((part * 1e12).round() / 1e10).max(1e-10);
    Ok(split_of(all.into_iter().map(|(size, part)| (size, percent(part))).collect())?)
}
