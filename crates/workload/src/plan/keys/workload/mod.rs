//! The keys of a workload, a file for each section of the reference page.

mod asked;
mod content;
mod durable;
mod engine;
mod kept;
mod length;
mod load;
mod place;

use units::{Bytes, Share};

use super::draft::Draft;
use super::{Entry, KeyDoc, Kind, Level, or_none, trace, tree};
use crate::plan::mistakes::Wrong;
use crate::plan::text::{share_text, split_of, weight_of};
use crate::plan::tree::Node;
use crate::spec::SizeSplit;

/// Keys that are the specification of a workload, in the order of the reference page. They may be swept, and are kept
/// in the record.
pub(crate) static WORKLOAD: [Entry<Draft>; COUNT] = joined();

const SECTIONS: [&[Entry<Draft>]; 10] = [
    &asked::ENTRIES,
    &place::ENTRIES,
    &load::ENTRIES,
    &length::ENTRIES,
    &durable::ENTRIES,
    &content::ENTRIES,
    &engine::ENTRIES,
    &kept::ENTRIES,
    &trace::ENTRIES,
    &tree::ENTRIES,
];

const COUNT: usize = {
    let (mut count, mut section) = (0, 0);
    while section < SECTIONS.len() {
        count += SECTIONS[section].len();
        section += 1;
    }
    count
};

/// All sections one after the other: a list that is known when the program is built needs no code to begin with.
const fn joined() -> [Entry<Draft>; COUNT] {
    let mut all = [SECTIONS[0][0]; COUNT];
    let (mut at, mut section) = (0, 0);
    while section < SECTIONS.len() {
        let mut within = 0;
        while within < SECTIONS[section].len() {
            all[at] = SECTIONS[section][within];
            (at, within) = (at + 1, within + 1);
        }
        section += 1;
    }
    all
}

/// Keys of a workload that say something about its place among others.
pub(crate) static MEMBER: [Entry<Draft>; 2] = [
    Entry {
        doc: KeyDoc {
            key: "headline",
            level: Level::Workload,
            section: "Phases",
            kind: Kind::Choice(&["iops", "mb_per_s", "mean", "max", "p99"]),
            default: "iops",
            short: "The figure that is shown first.",
            long: "Any percentile of the response time may be named, such as `p50` or `p99.9`. The others are \
                   measured and kept as well.",
            example: "headline = \"mb_per_s\"",
        },
        read: |d, n| n.read("iops").map(|metric| d.headline = metric),
        write: |d| d.headline.to_string(),
    },
    Entry {
        doc: KeyDoc {
            key: "share",
            level: Level::WorkloadOnly,
            section: "Several workloads together",
            kind: Kind::Share,
            default: "",
            short: "This workload's share of the phase's rate.",
            long: "The phase says `pace = \"rate(...)\"`; each of its workloads issues its share of it. Either all of them have one or none, and the parts sum to at most 100%.",
            example: "share = \"60%\"",
        },
        read: |d, n| match n.read::<Share>("60%")? {
            Share::NONE => Err(Wrong::new("a share of 0 % issues no requests", "leave the workload out")),
            share => {
                d.share = Some(share);
                Ok(())
            }
        },
        write: |d| or_none(d.share, share_text),
    },
];

fn some_bytes(node: &Node) -> Result<Bytes, Wrong> {
    match node.read::<Bytes>("10GiB")? {
        Bytes::ZERO => {
            Err(Wrong::new("0 bytes would issue no requests", "for example 10GiB").at(&node.place))
        }
        bytes => Ok(bytes),
    }
}

pub(super) fn read_sizes(node: &Node) -> Result<SizeSplit, Wrong> {
    let Some(table) = node.table() else { return node.read("8KiB") };
    let mut entries = Vec::new();
    for (key, weight) in table.iter() {
        let size = key.text.parse::<Bytes>().map_err(|error| Wrong::from(error).at(&key.place))?;
        let text = weight.scalar().ok_or_else(|| weight.not("a weight", "60"))?;
        entries.push((size, weight_of(&text).map_err(|error| Wrong::from(error).at(&weight.place))?));
    }
    split_of(entries).map_err(|error| Wrong::from(error).at(&node.place))
}
