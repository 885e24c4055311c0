//! The keys of a workload: what each holds, its value as it is stored, and the way back.

use std::fmt;

use serde::{Deserialize, Serialize};
use units::Share;

use crate::text::{ContentText, CpuList, DataOp, Factor, LineList, OpList, Ratio, TargetList, TextError};
use crate::text::{number, share_text, unit};
use crate::trace::Replay;
use crate::tree::{FileOp, Tree};
use crate::{Content, Pattern, Stamp, Workload, WriteCommand};

/// The value of a key as it is stored.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Value {
    /// `true` or `false`.
    Switch(bool),
    /// A whole number.
    Count(u64),
    /// A number.
    Factor(f64),
    /// What the plan writes.
    Text(String),
}

impl fmt::Display for Value {
    /// What a plan writes after `KEY =`, without quotes.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Switch(on) => on.fmt(f),
            Value::Count(count) => count.fmt(f),
            Value::Factor(factor) => factor.fmt(f),
            Value::Text(text) => f.write_str(text),
        }
    }
}

/// What a key holds, for the schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Switch,
    Count,
    /// A count, or the word that says there is none.
    CountOrWord,
    Factor,
    Text,
}

/// One key.
pub(crate) struct Field {
    pub(crate) key: &'static str,
    pub(crate) kind: Kind,
    /// `None` where there is nothing that it could describe.
    pub(crate) value: fn(&Workload) -> Option<Value>,
    /// Puts what the text says where it belongs; details of what is not there are passed over.
    pub(crate) read: fn(&mut Workload, &str) -> Result<(), TextError>,
}

fn optional<T>(
    text: &str,
    word: &str,
    read: impl Fn(&str) -> Result<T, TextError>,
) -> Result<Option<T>, TextError> {
    if text == word { Ok(None) } else { read(text).map(Some) }
}

fn or_word<T>(value: Option<T>, word: &str, show: impl Fn(T) -> Value) -> Option<Value> {
    Some(value.map_or_else(|| Value::Text(word.into()), show))
}

fn text(text: impl ToString) -> Value {
    Value::Text(text.to_string())
}

fn share(share: Share) -> Value {
    Value::Text(share_text(share))
}

fn count<T: Into<u64>>(count: T) -> Value {
    Value::Count(count.into())
}

/// An entry of [`FIELDS`], by what its field is.
macro_rules! field {
    (switch $key:literal $($field:ident).+) => {
        Field {
            key: $key,
            kind: Kind::Switch,
            value: |w| Some(Value::Switch(w.$($field).+)),
            read: |w, said| switch(said).map(|on| w.$($field).+ = on),
        }
    };
    (count $key:literal $($field:ident).+) => {
        Field {
            key: $key,
            kind: Kind::Count,
            value: |w| Some(count(w.$($field).+)),
            read: |w, said| number(said).map(|count| w.$($field).+ = count),
        }
    };
    (count $key:literal or $word:literal $($field:ident).+) => {
        Field {
            key: $key,
            kind: Kind::CountOrWord,
            value: |w| or_word(w.$($field).+, $word, count),
            read: |w, said| optional(said, $word, number).map(|count| w.$($field).+ = count),
        }
    };
    (share $key:literal $($field:ident).+) => {
        field!(text $key, |w| Some(share(w.$($field).+)), |w, said| unit(said).map(|share| w.$($field).+ = share))
    };
    (time $key:literal $($field:ident).+) => {
        field!(text $key, |w| Some(text(w.$($field).+.exact())), |w, said| unit(said).map(|time| w.$($field).+ = time))
    };
    (unit $key:literal or $word:literal $($field:ident).+) => {
        field!(
            text $key,
            |w| or_word(w.$($field).+, $word, |value| text(value.exact())),
            |w, said| optional(said, $word, unit).map(|value| w.$($field).+ = value)
        )
    };
    (word $key:literal $($field:ident).+) => {
        field!(text $key, |w| Some(text(&w.$($field).+)), |w, said| said.parse().map(|value| w.$($field).+ = value))
    };
    (list $key:literal $list:ident $($field:ident).+) => {
        field!(
            text $key,
            |w| Some(text($list(w.$($field).+.clone()))),
            |w, said| said.parse::<$list>().map(|list| w.$($field).+ = list.0)
        )
    };
    // Stored only where it was asked.
    (asked switch $key:literal $($field:ident).+) => {
        field!(
            Switch $key,
            |w| w.$($field).+.then_some(Value::Switch(true)),
            |w, said| switch(said).map(|on| w.$($field).+ = on)
        )
    };
    (asked word $key:literal $($field:ident).+) => {
        field!(
            text $key,
            |w| w.$($field).+.map(text),
            |w, said| optional(said, "none", str::parse).map(|value| w.$($field).+ = value)
        )
    };
    (asked unit $key:literal $($field:ident).+) => {
        field!(
            text $key,
            |w| w.$($field).+.map(|value| text(value.exact())),
            |w, said| optional(said, "none", unit).map(|value| w.$($field).+ = value)
        )
    };
    (asked count $key:literal $($field:ident).+) => {
        field!(
            CountOrWord $key,
            |w| w.$($field).+.map(count),
            |w, said| optional(said, "none", number).map(|value| w.$($field).+ = value)
        )
    };
    // Of a tree of files, where there is one.
    (tree count $key:literal $field:ident) => {
        field!(
            Count $key,
            |w| w.tree.as_ref().map(|tree| count(tree.$field)),
            |w, said| of_tree(w, |tree| number(said).map(|value| tree.$field = value))
        )
    };
    (tree switch $key:literal $field:ident) => {
        field!(
            Switch $key,
            |w| w.tree.as_ref().map(|tree| Value::Switch(tree.$field)),
            |w, said| of_tree(w, |tree| switch(said).map(|value| tree.$field = value))
        )
    };
    (tree word $key:literal $field:ident) => {
        field!(
            Text $key,
            |w| w.tree.as_ref().map(|tree| text(&tree.$field)),
            |w, said| of_tree(w, |tree| said.parse().map(|value| tree.$field = value))
        )
    };
    (text $key:literal, $value:expr, $read:expr) => {
        Field { key: $key, kind: Kind::Text, value: $value, read: $read }
    };
    ($kind:ident $key:literal, $value:expr, $read:expr) => {
        Field { key: $key, kind: Kind::$kind, value: $value, read: $read }
    };
}

/// In the order of the reference page.
pub(crate) static FIELDS: [Field; 96] = [
    field!(word "pattern" pattern),
    field!(text "size", |w| asked(w).map(|w| text(&w.sizes)), |w, said| said.parse().map(|sizes| w.sizes = sizes)),
    field!(text "reads", |w| asked(w).map(|w| share(w.mix.reads)), |w, said| unit(said).map(|part| w.mix.reads = part)),
    field!(text "trims", |w| asked(w).map(|w| share(w.mix.trims)), |w, said| unit(said).map(|part| w.mix.trims = part)),
    field!(
        text "flushes",
        |w| asked(w).map(|w| share(w.mix.flushes)),
        |w, said| unit(said).map(|part| w.mix.flushes = part)
    ),
    field!(
        text "random",
        |w| or_word(w.random, "auto", share),
        |w, said| optional(said, "auto", unit).map(|part| w.random = part)
    ),
    field!(count "consecutive" sequence.consecutive),
    field!(switch "repeat_offset" sequence.repeat_offset),
    field!(list "mix" LineList lines),
    field!(asked switch "even_mix" sequence.even_mix),
    field!(share "rewrites" rewrites),
    field!(unit "align" or "auto" align),
    field!(count "seed" seed),
    field!(word "offset" offset),
    field!(word "span" span),
    field!(unit "worker_offset" or "none" worker_offset),
    field!(word "files" files),
    field!(list "on" TargetList on),
    field!(word "luns" luns),
    field!(asked word "zone_size" zones.size),
    field!(asked unit "zone_capacity" zones.capacity),
    field!(asked unit "zone_skip" zones.skip),
    field!(asked count "open_zones" zones.open),
    field!(asked count "worker_open_zones" zones.open_of_worker),
    field!(asked switch "read_beyond_wp" zones.reads_beyond),
    field!(asked unit "zone_resets" zones.resets),
    field!(asked unit "zone_resets_above" zones.resets_above),
    field!(switch "direct" direct),
    field!(count "workers" workers),
    field!(
        Count "hosts_on",
        |w| w.hosts_on.map(count),
        |w, said| number(said).map(|hosts| w.hosts_on = Some(hosts))
    ),
    field!(count "depth" depth),
    field!(count "low_water" or "none" sequence.low_water),
    // Records from before it have none.
    field!(asked switch "reopen_cold" sequence.reopen_cold),
    field!(asked count "reopen_every" sequence.reopen_every),
    field!(count "flow" or "none" sequence.flow),
    field!(word "pace" pace),
    field!(time "start" stop.start),
    field!(time "warmup" stop.warmup),
    field!(asked unit "warmup_bytes" stop.warmup_bytes),
    field!(unit "run" or "none" stop.run),
    field!(asked switch "wear_out" stop.wear_out),
    field!(time "cooldown" stop.cooldown),
    field!(count "ops" or "none" stop.ops),
    field!(asked switch "ops_after_warmup" stop.ops_after_warmup),
    field!(unit "bytes" or "none" stop.bytes),
    field!(count "loops" or "none" stop.loops),
    field!(switch "exit_all" stop.exit_all),
    field!(asked switch "end_with_others" stop.with_others),
    field!(
        text "steady",
        |w| or_word(w.stop.steady, "none", text),
        |w, said| optional(said, "none", str::parse).map(|steady| w.stop.steady = steady)
    ),
    field!(word "sync" durability.open),
    field!(count "flush_every" or "none" durability.every),
    field!(switch "flush_at_end" durability.at_end),
    field!(word "flush" durability.flush),
    field!(text "content", |w| Some(text(ContentText::of(&w.content))), content),
    field!(
        text "compress",
        |w| Some(text(Ratio(ratios(w).0))),
        |w, said| ratio(w, said, |compress, _, ratio| *compress = ratio)
    ),
    field!(
        text "dedupe",
        |w| Some(text(Ratio(ratios(w).1))),
        |w, said| ratio(w, said, |_, dedupe, ratio| *dedupe = ratio)
    ),
    field!(word "verify" verify),
    field!(
        text "stamp",
        |w| (w.stamp != Stamp::Fathom).then(|| text(w.stamp)),
        |w, said| said.parse().map(|stamp| w.stamp = stamp)
    ),
    field!(count "read_back" or "none" sequence.read_back),
    field!(asked switch "reread" sequence.reread),
    field!(word "engine" engine.kind),
    field!(count "submit_batch" engine.submit_batch),
    field!(count "complete_batch" engine.complete_batch),
    field!(switch "sqpoll" engine.sqpoll),
    field!(switch "iopoll" engine.iopoll),
    field!(list "cpus" CpuList engine.cpus),
    field!(count "numa" or "any" engine.numa_node),
    field!(switch "huge_pages" engine.huge_pages),
    // What follows is stored only where something was asked.
    field!(asked word "io_priority" engine.io_priority),
    field!(
        text "request_priority",
        |w| (!w.engine.request_priority.0.is_empty()).then(|| text(&w.engine.request_priority)),
        |w, said| said.parse().map(|rules| w.engine.request_priority = rules)
    ),
    field!(asked switch "atomic" engine.flags.atomic),
    field!(asked switch "nowait" engine.flags.nowait),
    field!(asked switch "uncached" engine.flags.uncached),
    field!(
        text "polled",
        |w| (w.engine.flags.polled > Share::NONE).then(|| share(w.engine.flags.polled)),
        |w, said| unit(said).map(|part| w.engine.flags.polled = part)
    ),
    field!(asked word "write_hint" engine.write_hint),
    field!(
        text "write_command",
        |w| (w.engine.commands.write != WriteCommand::Write).then(|| text(w.engine.commands.write)),
        |w, said| said.parse().map(|command| w.engine.commands.write = command)
    ),
    field!(asked switch "read_fua" engine.commands.read_fua),
    field!(asked switch "write_fua" engine.commands.write_fua),
    field!(
        text "iolog",
        |w| w.iolog.as_ref().map(text),
        |w, said| optional(said, "none", |file| Ok(file.to_owned())).map(|file| w.iolog = file)
    ),
    field!(
        text "trace",
        |w| w.replay().map(|replay| text(if replay.file.is_empty() { "none" } else { &replay.file })),
        |w, said| of_trace(w, |replay| {
            optional(said, "none", |file| Ok(file.to_owned())).map(|file| replay.file = file.unwrap_or_default())
        })
    ),
    field!(
        Factor "trace_speed",
        |w| w.replay().map(|replay| Value::Factor(replay.speed)),
        |w, said| of_trace(w, |replay| said.parse::<Factor>().map(|factor| replay.speed = factor.0))
    ),
    field!(
        Count "trace_scale",
        |w| w.replay().map(|replay| count(replay.scale)),
        |w, said| of_trace(w, |replay| number(said).map(|scale| replay.scale = scale))
    ),
    field!(
        text "trace_skip",
        |w| w.replay().map(|replay| text(OpList(replay.skip.clone()))),
        |w, said| of_trace(w, |replay| said.parse::<OpList>().map(|list| replay.skip = list.0))
    ),
    field!(
        text "trace_as",
        |w| or_word(w.replay()?.as_op, "none", |op| text(op.name())),
        |w, said| of_trace(w, |replay| {
            optional(said, "none", str::parse::<DataOp>).map(|op| replay.as_op = op.map(|op| op.0))
        })
    ),
    field!(
        Switch "trace_fold",
        |w| w.replay().map(|replay| Value::Switch(replay.fold)),
        |w, said| of_trace(w, |replay| switch(said).map(|on| replay.fold = on))
    ),
    field!(
        text "tree",
        |w| or_word(w.tree.as_ref(), "none", |tree| text(tree.op)),
        |w, said| optional(said, "none", str::parse::<FileOp>).map(|op| w.tree = op.map(Tree::plain))
    ),
    field!(tree count "count" count),
    field!(tree word "file_size" sizes),
    field!(tree count "levels" levels),
    field!(tree count "fanout" fanout),
    field!(tree word "files_in" files_in),
    field!(tree switch "unique_dirs" unique_dirs),
    field!(tree word "visitors" visitors),
    field!(tree word "order" order),
    field!(tree word "fsync" fsync),
    field!(tree switch "direct_files" direct),
];
const _: () = assert!(FIELDS.len() == crate::about::KEYS, "each key has its line");
const _: () = assert!(is_each_once(&FIELDS), "every key is listed once");

/// Whether no two of `fields` have the same key.
const fn is_each_once(fields: &[Field]) -> bool {
    let mut one = 0;
    while one < fields.len() {
        let mut other = 0;
        while other < one {
            if is_same(fields[one].key.as_bytes(), fields[other].key.as_bytes()) {
                return false;
            }
            other += 1;
        }
        one += 1;
    }
    true
}

const fn is_same(one: &[u8], other: &[u8]) -> bool {
    let mut at = 0;
    while at < one.len() && at < other.len() && one[at] == other[at] {
        at += 1;
    }
    at == one.len() && at == other.len()
}

fn switch(said: &str) -> Result<bool, TextError> {
    let message = || format!("`{said}` is neither true nor false");
    let wrong = |_| TextError { message: message(), help: "write true or false".into() };
    said.trim().parse().map_err(wrong)
}

/// The workload, unless a trace says its sizes and operations.
fn asked(workload: &Workload) -> Option<&Workload> {
    workload.replay().is_none().then_some(workload)
}

fn content(workload: &mut Workload, said: &str) -> Result<(), TextError> {
    workload.content = match said.parse()? {
        ContentText::Zeros => Content::Zeros,
        ContentText::Reused => Content::Reused,
        ContentText::Pattern(bytes) => Content::Pattern(bytes),
        ContentText::Random => Content::Random { compress: 1.0, dedupe: 1.0 },
    };
    Ok(())
}

fn ratios(workload: &Workload) -> (f64, f64) {
    match workload.content {
        Content::Random { compress, dedupe } => (compress, dedupe),
        Content::Zeros | Content::Reused | Content::Pattern(_) => (1.0, 1.0),
    }
}

fn ratio(workload: &mut Workload, said: &str, set: fn(&mut f64, &mut f64, f64)) -> Result<(), TextError> {
    let Ratio(ratio) = said.parse()?;
    if let Content::Random { compress, dedupe } = &mut workload.content {
        set(compress, dedupe, ratio);
    }
    Ok(())
}

fn of_trace(
    workload: &mut Workload,
    read: impl Fn(&mut Replay) -> Result<(), TextError>,
) -> Result<(), TextError> {
    match &mut workload.pattern {
        Pattern::Trace(replay) => read(replay),
        _ => Ok(()),
    }
}

fn of_tree(
    workload: &mut Workload,
    read: impl Fn(&mut Tree) -> Result<(), TextError>,
) -> Result<(), TextError> {
    workload.tree.as_mut().map_or(Ok(()), read)
}
