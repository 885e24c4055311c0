//! What can be set of an array, in the order of the path from the workload to the disks.
//!
//! **Invariant:** knobs are read out of the array's description: its options, and the chunk and cache size that it names
//! without an option. No array has a list of its own here.

use std::iter;

use array::spec::{self, ArrayFile, Figure, OptionSpec, Shelf, Source, Takes};
use document::Errors;
use serde::Serialize;
use units::{Bytes, Share};

use super::published;

/// Where on the path a knob is; in its order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Group {
    /// Pattern, block size, share of reads.
    Workload,
    /// Hosts, their memory and their paths.
    Host,
    /// What is spoken to the array.
    Protocol,
    /// Adapters and links.
    Links,
    /// Controllers, their caches and what they do in the background; firmware.
    Controllers,
    /// Level, members, chunk, LUNs.
    Raid,
    /// Disks, and the channels they are on.
    Disks,
}

/// What a knob takes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum KnobTakes {
    /// One of these.
    Choice {
        /// As in an address, or in `workload`.
        values: Vec<String>,
    },
    /// A whole number, both ends included.
    Number {
        /// The least.
        min: i64,
        /// The most.
        max: i64,
        /// From one to the next.
        step: i64,
    },
    /// A text that only the description can judge.
    Text,
}

/// A default, as JSON has it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum KnobDefault {
    /// Of a number.
    Number(i64),
    /// Of a choice or a text.
    Text(String),
}

/// One thing that can be set.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Knob {
    /// The option or dotted figure of the address, `raid` or `cache.size`; of group `workload` a key of the workload.
    pub key: String,
    /// What it decides.
    pub label: String,
    /// Where on the path.
    pub group: Group,
    /// What it takes.
    #[serde(flatten)]
    pub takes: KnobTakes,
    /// What holds where it is not set; absent where the description has only the model's own default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default: Option<KnobDefault>,
    /// What the default rests on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
}

/// An array of the library with its knobs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ArrayKnobs {
    /// Its name, for `array:NAME`.
    pub array: String,
    /// What it is, in a sentence.
    pub about: String,
    /// In path order.
    pub knobs: Vec<Knob>,
}

/// Figures that are a knob where a description names them and no option of it does, with their groups.
const FIGURES: [(&str, &str, Group); 2] = [
    ("cache.size", "Cache of each controller", Group::Controllers),
    ("raid.chunk", "Bytes on one disk before the next", Group::Raid),
];

/// Every array of `library` that is one by itself, in the order of names.
pub fn arrays(library: &dyn Source) -> Result<Vec<ArrayKnobs>, Errors> {
    let mut arrays = Vec::new();
    for name in library.names(Shelf::Array) {
        let file = spec::array_file(library, &name)?;
        if !file.part {
            arrays.push(ArrayKnobs { knobs: knobs(&file), array: name, about: file.about });
        }
    }
    Ok(arrays)
}

/// The knobs of one array.
pub fn knobs(file: &ArrayFile) -> Vec<Knob> {
    // A disk fails in its slot.
    let settable = file.options.iter().filter(|option| option.changes != ["raid.failed"]);
    let mut knobs: Vec<Knob> =
        workload(&file.name).into_iter().chain(settable.map(|option| of(option, file))).collect();
    for (key, label, group) in FIGURES {
        let has_option = file.options.iter().any(|option| option.changes.iter().any(|one| one == key));
        if let Some(figure) = figure(file, key).filter(|_| !has_option) {
            knobs.push(Knob {
                key: key.into(),
                label: label.into(),
                group,
                takes: around(&figure.value),
                default: Some(KnobDefault::Text(figure.value.clone())),
                source: figure.source.clone(),
            });
        }
    }
    knobs.sort_by_key(|knob| knob.group);
    knobs
}

fn of(option: &OptionSpec, file: &ArrayFile) -> Knob {
    let figure = option.changes.iter().find_map(|key| figure(file, key));
    let default = option.default.clone().or_else(|| figure.map(|figure| figure.value.clone()));
    let takes = match &option.takes {
        Takes::Values(values) => KnobTakes::Choice { values: values.clone() },
        Takes::Range(min, max) => KnobTakes::Number { min: *min, max: *max, step: 1 },
        Takes::Any => default.as_deref().map_or(KnobTakes::Text, around),
    };
    let is_number = matches!(takes, KnobTakes::Number { .. });
    let default = default.map(|text| match text.parse::<i64>() {
        Ok(number) if is_number => KnobDefault::Number(number),
        _ => KnobDefault::Text(text),
    });
    Knob {
        key: option.name.clone(),
        label: sentence(&option.about),
        group: group(&option.changes),
        takes,
        default,
        source: figure.and_then(|figure| figure.source.clone()),
    }
}

fn figure<'f>(file: &'f ArrayFile, key: &str) -> Option<&'f Figure> {
    file.figures.iter().find(|figure| figure.key == key)
}

fn sentence(about: &str) -> String {
    let mut letters = about.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// Where the first table that is changed stands on the path.
fn group(changes: &[String]) -> Group {
    let first = changes.first().map_or("", String::as_str);
    match first.split('.').next().unwrap_or_default() {
        "host" => Group::Host,
        "protocol" => Group::Protocol,
        "adapter" | "link" => Group::Links,
        "raid" => Group::Raid,
        "devices" | "channel" => Group::Disks,
        _ => Group::Controllers,
    }
}

/// Sizes from an eighth to eight times as much, or shares by the tenth, around one that a description has.
fn around(value: &str) -> KnobTakes {
    if let (true, Ok(share)) = (value.ends_with('%'), value.parse::<Share>()) {
        let mut values: Vec<u32> = (1..=9).map(|tenth| tenth * 10).collect();
        let own = units::convert::truncated::<u32>((share.get() * 100.0).round());
        values.extend((!values.contains(&own)).then_some(own));
        values.sort_unstable();
        return KnobTakes::Choice { values: values.iter().map(|percent| format!("{percent}%")).collect() };
    }
    let Ok(size) = value.parse::<Bytes>() else { return KnobTakes::Text };
    let sizes = (-3..=3i32).map(|power| match power {
        ..0 => Bytes::new(size.get() >> power.unsigned_abs()),
        _ => Bytes::new(size.get().saturating_mul(1 << power)),
    });
    let whole = |one: &Bytes| !one.is_zero() && one.is_multiple_of(Bytes::new(units::SECTOR_BYTES));
    // The default is among them as it is written.
    let written = |one: Bytes| if one == size { value.to_owned() } else { one.exact() };
    KnobTakes::Choice { values: sizes.filter(whole).map(written).collect() }
}

/// Block sizes on offer, from the write-ups' smallest to a stripe of many disks.
const SIZES: [&str; 11] =
    ["512B", "2KiB", "4KiB", "8KiB", "16KiB", "32KiB", "64KiB", "128KiB", "256KiB", "512KiB", "1MiB"];

/// The workload's knobs, the same for every array but for the spans that its published figures have.
fn workload(array: &str) -> [Knob; 4] {
    let knob = |key: &str, label: &str, values: &[&str], default: &str| Knob {
        key: key.into(),
        label: label.into(),
        group: Group::Workload,
        takes: KnobTakes::Choice { values: values.iter().map(|value| (*value).to_owned()).collect() },
        default: Some(KnobDefault::Text(default.into())),
        source: None,
    };
    let spans: Vec<String> = published::spans(array).into_iter().map(Bytes::exact).collect();
    let spans: Vec<&str> = iter::once("all").chain(spans.iter().map(String::as_str)).collect();
    [
        knob("pattern", "Access pattern", &["random", "sequential"], "random"),
        knob("size", "Block size", &SIZES, "8KiB"),
        knob("span", "Working-set size on each LUN: all, or that of published figures", &spans, "all"),
        knob("reads", "Share of reads", &["100%", "90%", "70%", "2/3", "50%", "30%", "0%"], "70%"),
    ]
}
