//! Members, chunk and level.

use units::Bytes;

use crate::geometry::{Geometry, Order};
use crate::identified::{Ground, Identification, Identified, Unknown};
use crate::model::Model;
use crate::parts::Parts;
use crate::refine::Explained;
use crate::said::Said;

pub(super) fn say(
    parts: &Parts,
    model: &Model,
    identified: &Identified,
    tried: &[Explained],
    said: &mut Said,
) {
    let geometry = parts.geometry.as_ref();
    match &identified.members {
        Ok(told) => {
            said.figure("members", MEMBERS, told.value.to_string(), of_members(told, geometry));
            chunk(identified, geometry, said);
        }
        Err(why) => {
            said.missing("members and chunk", &[MEMBERS, CHUNK], &why_no_members(why, geometry, model));
        }
    }
    level(identified, tried, geometry, said);
}

const MEMBERS: &str = "raid.disks";
const CHUNK: &str = "raid.chunk";

fn of_members(told: &Identification<u32>, geometry: Option<&Geometry>) -> String {
    let shown = match (told.ground, geometry) {
        (Ground::MembersBySize, Some(geometry)) => {
            format!(
                "of {}, which fit the strides alike, by reads of all sizes at queue depth 1",
                counts(geometry)
            )
        }
        (_, Some(geometry)) => {
            let next = geometry.others.first().map_or(String::new(), |(next, _)| {
                format!("; the next best number, {next}, leaves {} the sum of squares", times(told.clearness))
            });
            format!("{} strides{next}", geometry.distances)
        }
        (_, None) => String::new(),
    };
    format!("{shown}; {}", told.ground.counted().words())
}

/// How many times, as far as it matters.
fn times(clearness: f64) -> String {
    if clearness < 10.0 { format!("{clearness:.1} times") } else { "more than 10 times".into() }
}

fn counts(geometry: &Geometry) -> String {
    let counts: Vec<String> = geometry.counts().iter().map(u32::to_string).collect();
    counts.join(" or ")
}

fn why_no_members(why: &Unknown, geometry: Option<&Geometry>, model: &Model) -> String {
    let taken = model.members;
    match (why, geometry) {
        (Unknown::Concatenated(found), _) => format!(
            "not identified: the first {:.0} % of the target reaches {:.0} % of the read IOPS of the whole at queue depth {:.0}: \
             parts of it have members, sets or paths of their own (as where drives are concatenated), which no model here has; assumed {taken}",
            found.part * 100.0,
            found.rate * 100.0,
            found.depth
        ),
        (Unknown::AllAlike, _) => format!(
            "not identified: no stride is slower than another, as with a single drive, with chunks of more than 4 MiB, \
             or where something else is the limit; assumed {taken}"
        ),
        (_, Some(geometry)) if geometry.is_doubtful() => format!(
            "not identified: {} members fit the rates alike, because the link is saturated before they are; assumed \
             {taken}",
            counts(geometry)
        ),
        (_, Some(geometry)) => format!(
            "not identified: the rates at {} strides fit no number of members clearly; assumed {taken}",
            geometry.distances
        ),
        (_, None) => {
            format!("not identified: too few strides were measured below the link's maximum; assumed {taken}")
        }
    }
}

fn chunk(identified: &Identified, geometry: Option<&Geometry>, said: &mut Said) {
    match &identified.chunk {
        Ok(told) => {
            let words = format!("from the same strides; {}", told.ground.counted().words());
            said.figure("chunk", CHUNK, Bytes::new(told.value).to_string(), words);
        }
        Err(_) => {
            let both = geometry.and_then(|geometry| Some((geometry.chunk?, geometry.also?.1)));
            let words = both.map_or("not identified".into(), |(taken, other)| {
                let (taken, other) = (Bytes::new(taken), Bytes::new(other));
                format!("not identified: {taken} and {other} fit the strides alike; assumed {taken}")
            });
            said.missing("chunk", &[CHUNK], &words);
        }
    }
}

fn level(identified: &Identified, tried: &[Explained], geometry: Option<&Geometry>, said: &mut Said) {
    let key = "raid.level";
    let off: Vec<String> = tried
        .iter()
        .map(|tried| format!("writes are {:.0} % off as RAID {}", tried.off * 100.0, tried.level.name()))
        .collect();
    let off = off.join(", ");
    match &identified.level {
        Ok(told) => {
            let shown = match told.ground {
                Ground::Skipped => "from the strides: one member is skipped in each row",
                _ => off.as_str(),
            };
            let words =
                format!("{shown}; a mirrored pair counts as one member; {}", told.ground.counted().words());
            said.figure("RAID level", key, told.value.name().into(), words);
        }
        Err(Unknown::Concatenated(_)) => {
            said.missing(
                "RAID level",
                &[key],
                "not identified: parts of the target have members, sets or paths of their own",
            );
        }
        Err(_) if geometry.is_some_and(|geometry| geometry.order == Order::Skipping) => {
            said.missing("RAID level", &[key], "not identified: another layout fits the strides as well");
        }
        Err(Unknown::Open) => {
            said.missing("RAID level", &[key], &format!("not identified: {off}, which supports neither"));
        }
        Err(_) => {
            said.missing(
                "RAID level",
                &[key],
                "not identified: 0 and 5 read alike, and writes do not \
                          distinguish them",
            );
        }
    }
}
