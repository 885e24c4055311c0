//! The form in which a workload is stored: one flat object of the plan's keys.
//!
//! **Invariant:** every key stands in [`FIELDS`] once, and all that is stored of it comes from there.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Error as _, IgnoredAny, MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::about;
use crate::fields::{FIELDS, Field, Kind, Value};
use crate::text::{TextError, unknown};
use crate::{Pattern, Workload};

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
        debug_assert!(kept.values().eq(self.values()), "what is kept of {} says something else", self.name);
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
