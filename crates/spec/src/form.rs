//! The form in which a workload is stored: one flat object of the plan's keys.
//!
//! **Invariant:** every key stands in [`FIELDS`] once, and its text, its stored value and the way back come from there.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Error as _, IgnoredAny, MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use units::Share;

use crate::about;
use crate::text::{ContentText, CpuList, DataOp, Factor, LineList, OpList, Ratio, TargetList, TextError};
use crate::text::{number, share_text, unit, unknown};
use crate::trace::Replay;
use crate::tree::{FileOp, Tree};
use crate::{Content, Pattern, Stamp, Workload};

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
enum Kind {
    Switch,
    Count,
    /// A count, or the word that says there is none.
    CountOrWord,
    Factor,
    Text,
}

/// One key.
struct Field {
    key: &'static str,
    kind: Kind,
    /// `None` where there is nothing that it could describe.
    value: fn(&Workload) -> Option<Value>,
    /// Puts what the text says where it belongs; details of what is not there are passed over.
    read: fn(&mut Workload, &str) -> Result<(), TextError>,
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
    (text $key:literal, $value:expr, $read:expr) => {
        Field { key: $key, kind: Kind::Text, value: $value, read: $read }
    };
    ($kind:ident $key:literal, $value:expr, $read:expr) => {
        Field { key: $key, kind: Kind::$kind, value: $value, read: $read }
    };
}

/// In the order of the reference page.
static FIELDS: [Field; 80] = [
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
    field!(
        Switch "even_mix",
        |w| w.sequence.even_mix.then_some(Value::Switch(true)),
        |w, said| switch(said).map(|on| w.sequence.even_mix = on)
    ),
    field!(share "rewrites" rewrites),
    field!(unit "align" or "auto" align),
    field!(count "seed" seed),
    field!(word "offset" offset),
    field!(word "span" span),
    field!(unit "worker_offset" or "none" worker_offset),
    field!(word "files" files),
    field!(list "on" TargetList on),
    field!(word "luns" luns),
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
    field!(
        Switch "reopen_cold",
        |w| w.sequence.reopen_cold.then_some(Value::Switch(true)),
        |w, said| switch(said).map(|on| w.sequence.reopen_cold = on)
    ),
    field!(
        CountOrWord "reopen_every",
        |w| w.sequence.reopen_every.map(count),
        |w, said| optional(said, "none", number).map(|every| w.sequence.reopen_every = every)
    ),
    field!(count "flow" or "none" sequence.flow),
    field!(word "pace" pace),
    field!(time "start" stop.start),
    field!(time "warmup" stop.warmup),
    field!(unit "run" or "none" stop.run),
    field!(time "cooldown" stop.cooldown),
    field!(count "ops" or "none" stop.ops),
    field!(unit "bytes" or "none" stop.bytes),
    field!(count "loops" or "none" stop.loops),
    field!(switch "exit_all" stop.exit_all),
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
    field!(
        Switch "reread",
        |w| w.sequence.reread.then_some(Value::Switch(true)),
        |w, said| switch(said).map(|on| w.sequence.reread = on)
    ),
    field!(word "engine" engine.kind),
    field!(count "submit_batch" engine.submit_batch),
    field!(count "complete_batch" engine.complete_batch),
    field!(switch "sqpoll" engine.sqpoll),
    field!(switch "iopoll" engine.iopoll),
    field!(list "cpus" CpuList engine.cpus),
    field!(count "numa" or "any" engine.numa_node),
    field!(switch "huge_pages" engine.huge_pages),
    // What follows is stored only where something was asked.
    field!(
        text "io_priority",
        |w| w.engine.io_priority.map(text),
        |w, said| optional(said, "none", str::parse).map(|priority| w.engine.io_priority = priority)
    ),
    field!(
        text "request_priority",
        |w| (!w.engine.request_priority.0.is_empty()).then(|| text(&w.engine.request_priority)),
        |w, said| said.parse().map(|rules| w.engine.request_priority = rules)
    ),
    field!(
        Switch "atomic",
        |w| w.engine.flags.atomic.then_some(Value::Switch(true)),
        |w, said| switch(said).map(|on| w.engine.flags.atomic = on)
    ),
    field!(
        Switch "nowait",
        |w| w.engine.flags.nowait.then_some(Value::Switch(true)),
        |w, said| switch(said).map(|on| w.engine.flags.nowait = on)
    ),
    field!(
        Switch "uncached",
        |w| w.engine.flags.uncached.then_some(Value::Switch(true)),
        |w, said| switch(said).map(|on| w.engine.flags.uncached = on)
    ),
    field!(
        text "write_hint",
        |w| w.engine.write_hint.map(text),
        |w, said| optional(said, "none", str::parse).map(|hint| w.engine.write_hint = hint)
    ),
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
    field!(
        Count "count",
        |w| w.tree.as_ref().map(|tree| count(tree.count)),
        |w, said| of_tree(w, |tree| number(said).map(|count| tree.count = count))
    ),
    field!(
        text "file_size",
        |w| w.tree.as_ref().map(|tree| text(&tree.sizes)),
        |w, said| of_tree(w, |tree| said.parse().map(|sizes| tree.sizes = sizes))
    ),
    field!(
        Count "levels",
        |w| w.tree.as_ref().map(|tree| count(tree.levels)),
        |w, said| of_tree(w, |tree| number(said).map(|levels| tree.levels = levels))
    ),
    field!(
        Count "fanout",
        |w| w.tree.as_ref().map(|tree| count(tree.fanout)),
        |w, said| of_tree(w, |tree| number(said).map(|fanout| tree.fanout = fanout))
    ),
    field!(
        text "files_in",
        |w| w.tree.as_ref().map(|tree| text(tree.files_in)),
        |w, said| of_tree(w, |tree| said.parse().map(|holders| tree.files_in = holders))
    ),
    field!(
        Switch "unique_dirs",
        |w| w.tree.as_ref().map(|tree| Value::Switch(tree.unique_dirs)),
        |w, said| of_tree(w, |tree| switch(said).map(|on| tree.unique_dirs = on))
    ),
    field!(
        text "visitors",
        |w| w.tree.as_ref().map(|tree| text(tree.visitors)),
        |w, said| of_tree(w, |tree| said.parse().map(|visitors| tree.visitors = visitors))
    ),
    field!(
        text "order",
        |w| w.tree.as_ref().map(|tree| text(tree.order)),
        |w, said| of_tree(w, |tree| said.parse().map(|order| tree.order = order))
    ),
    field!(
        text "fsync",
        |w| w.tree.as_ref().map(|tree| text(tree.fsync)),
        |w, said| of_tree(w, |tree| said.parse().map(|fsync| tree.fsync = fsync))
    ),
    field!(
        Switch "direct_files",
        |w| w.tree.as_ref().map(|tree| Value::Switch(tree.direct)),
        |w, said| of_tree(w, |tree| switch(said).map(|on| tree.direct = on))
    ),
];
const _: () = assert!(FIELDS.len() == crate::about::KEYS, "each key has its line");

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

impl Workload {
    /// Every key with its text, in the order of the reference page. Those that describe a tree of files, a trace, a log
    /// or connections, stand there only where there is one; and those that say what a trace says itself only where
    /// there is none.
    ///
    /// Each text is what a plan writes for the key.
    pub fn texts(&self) -> Vec<(&'static str, String)> {
        self.values().map(|(key, value)| (key, value.to_string())).collect()
    }

    /// The text of one key; `None` where it does not stand among the [`texts`](Workload::texts).
    pub fn text(&self, key: &str) -> Option<String> {
        let field = FIELDS.iter().find(|field| field.key == key)?;
        (field.value)(self).map(|value| value.to_string())
    }

    /// Changes what one key says; details of a tree or a trace that is not there are passed over. Fails for a key that
    /// no workload has, and a text that is no value of it.
    pub fn set(&mut self, key: &str, said: &str) -> Result<(), TextError> {
        match FIELDS.iter().find(|field| field.key == key) {
            Some(field) => (field.read)(self, said),
            None => unknown(key, "a key of a workload", &FIELDS.each_ref().map(|field| field.key)),
        }
    }

    /// What a record keeps of it: without its name, which stands beside it, and of a trace how it is asked again, not
    /// its requests and what they come to. The same comes back when it is read.
    pub fn kept(&self) -> Workload {
        let plain = Workload::plain("");
        let mut kept = Workload { name: plain.name, ..self.clone() };
        if let Pattern::Trace(replay) = &mut kept.pattern {
            replay.requests = None;
            (kept.sizes, kept.mix) = (plain.sizes, plain.mix);
        }
        kept
    }

    fn values(&self) -> impl Iterator<Item = (&'static str, Value)> {
        FIELDS.iter().filter_map(|field| Some((field.key, (field.value)(self)?)))
    }
}

impl Serialize for Workload {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for (key, value) in self.values() {
            map.serialize_entry(key, &value)?;
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for Workload {
    /// What is not said is as in [`Workload::plain`]; keys that are not known are passed over. A number or a switch may
    /// be a text.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Workload, D::Error> {
        deserializer.deserialize_map(Keys)
    }
}

struct Keys;

impl<'de> Visitor<'de> for Keys {
    type Value = Workload;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object of a plan's keys")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Workload, A::Error> {
        // Some keys describe what others name, in whatever order they come.
        let mut said: BTreeMap<&str, Value> = BTreeMap::new();
        while let Some(key) = map.next_key::<Cow<'de, str>>()? {
            match FIELDS.iter().find(|field| field.key == key) {
                Some(field) => drop(said.insert(field.key, map.next_value()?)),
                None => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        let mut workload = Workload::plain("");
        for field in &FIELDS {
            if let Some(value) = said.get(field.key) {
                let wrong = |error| A::Error::custom(format_args!("`{}`: {error}", field.key));
                (field.read)(&mut workload, &value.to_string()).map_err(wrong)?;
            }
        }
        Ok(workload)
    }
}

impl JsonSchema for Workload {
    fn schema_name() -> Cow<'static, str> {
        "Workload".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let of = |field: &Field| {
            let mut schema = match field.kind {
                Kind::Switch => json_schema!({ "type": "boolean" }),
                Kind::Count => json_schema!({ "type": "integer", "minimum": 0 }),
                Kind::CountOrWord => json_schema!({ "type": ["integer", "string"], "minimum": 0 }),
                Kind::Factor => json_schema!({ "type": "number" }),
                Kind::Text => json_schema!({ "type": "string" }),
            };
            schema.insert("description".to_owned(), about(field.key).into());
            (field.key.to_owned(), schema.to_value())
        };
        let properties: BTreeMap<_, _> = FIELDS.iter().map(of).collect();
        json_schema!({
            "type": "object",
            "description": "The workload: the keys of the plan, defaults included, each as the plan writes it; counts \
                            are numbers, switches are booleans. Keys of a tree, a trace, a log or connections are \
                            there only where there is one.",
            "properties": properties,
        })
    }
}
