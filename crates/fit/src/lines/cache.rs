//! What the cache holds.

use record::Figure;
use units::Bytes;

use super::NO_WRITES;
use crate::caches::ReadCache;
use crate::model::Model;
use crate::parts::Parts;
use crate::said::{Said, between, bytes};
use crate::writes::Writes;

pub(super) fn say(parts: &Parts, model: &Model, said: &mut Said) {
    match parts.reads {
        ReadCache::Size(size) => {
            said.figure("read cache", "cache.size", bytes(size.value), between(&size, &bytes));
        }
        ReadCache::AtLeast(size) => said.figure(
            "read cache",
            "cache.size",
            format!("at least {}", Bytes::new(size)),
            "it held the largest region that was accessed".into(),
        ),
        ReadCache::Unknown => {
            said.missing("read cache", &["cache.size"], "nothing was answered faster the second time");
        }
    }
    if parts.ahead {
        let words = "a stream is answered as from memory; how far it is read ahead does not show, two stripes are taken";
        said.missing("read-ahead", &["cache.prefetch.max"], words);
    }
    match &parts.writes {
        None => said.missing("write cache", &["cache.write_part"], NO_WRITES),
        Some(Writes { room: Some(room), fill, .. }) => {
            // What the writes came to is corrected by how it went in the model.
            let seen = fill.unwrap_or(*room);
            let part = model.cache.as_ref().and_then(|cache| Some(cache.write_part? * cache.size as f64));
            let found = part.unwrap_or(room.value);
            let scaled = |edge: Option<f64>| edge.map(|edge| edge / seen.value * found);
            let figure = Figure { value: found, low: scaled(seen.low), high: scaled(seen.high) };
            said.figure("write cache", "cache.write_part", bytes(found), between(&figure, &bytes));
        }
        Some(Writes { back: true, .. }) => {
            said.missing(
                "write cache",
                &["cache.write_part"],
                "writes are acknowledged early, but it never filled",
            );
        }
        Some(_) => said.missing("write cache", &["cache.write_part"], "writes wait for the members"),
    }
    if model.cache.as_ref().is_some_and(|cache| cache.write_part.is_some()) {
        said.missing("", &["cache.destage_window"], "so many stripes at once are usual");
    }
}
