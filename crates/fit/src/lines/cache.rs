//! What the cache holds.

use record::Figure;
use units::Bytes;

use super::NO_WRITES;
use crate::caches::ReadCache;
use crate::model::Model;
use crate::parts::Parts;
use crate::said::{Said, between, bytes, changed, percent};
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
            "it held the largest region that was read".into(),
        ),
        ReadCache::Unknown => {
            said.missing("read cache", &["cache.size"], "no region was faster when it was read again");
        }
    }
    if parts.ahead {
        let words = "sequential reads hit the cache; how far ahead they are prefetched does not show, two stripes are assumed";
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
            said.measured("write cache", bytes(found), between(&figure, &bytes));
            let whole = model.cache.as_ref().map_or(found, |cache| cache.size as f64);
            said.key("cache.write_part", of_part(&figure, whole));
        }
        Some(Writes { back: true, .. }) => {
            said.missing(
                "write cache",
                &["cache.write_part"],
                "writes are acknowledged early, but it did not fill",
            );
        }
        Some(_) => said.missing("write cache", &["cache.write_part"], "writes wait for the members"),
    }
    if model.cache.as_ref().is_some_and(|cache| cache.write_part.is_some()) {
        said.missing("", &["cache.destage_window"], "the usual number of stripes");
    }
}

/// The interval of the part of `whole` that `room` is; of a part that is all of it the ends above are left out.
fn of_part(room: &Figure, whole: f64) -> String {
    between(&changed(room, |bytes| (bytes / whole).clamp(0.0, 1.0)), &percent)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_of_a_part_is_in_percent_of_the_cache() {
        let room = Figure { value: 256.0, low: Some(250.0), high: Some(600.0) };
        assert_eq!(of_part(&room, 500.0), "95 % between 50.0 % and 100.0 %");
    }
}
