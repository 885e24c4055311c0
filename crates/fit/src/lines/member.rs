//! A member.

use record::Figure;
use units::{Bytes, BytesPerSecond};

use super::NO_WRITES;
use crate::model::{Dies, Model};
use crate::parts::Parts;
use crate::said::{Said, between, per_s, time};

pub(super) fn say(parts: &Parts, model: &Model, said: &mut Said) {
    let fewest = model.read.times.first().map_or(0.0, |first| first.1);
    let words = "by the reads all over the target, each depth by itself";
    said.figure("a member's read alone", "devices.with.read", time(fewest), words.into());
    let most =
        model.read.times.iter().map(|(count, ns)| f64::from(*count).min(f64::from(model.servers)) / ns * 1e9);
    let most = most.fold(0.0, f64::max);
    said.figure(
        "at once in a member",
        "devices.with.servers",
        model.servers.to_string(),
        format!("together {} of 4 KiB", per_s(most)),
    );
    said.figure(
        "a member's bytes",
        "devices.with.read_rate",
        BytesPerSecond::new(model.read.rate).to_string(),
        "of one command".into(),
    );
    said.figure(
        "",
        "devices.with.link",
        BytesPerSecond::new(model.member_link).to_string(),
        "of all commands together".into(),
    );
    piece_line(parts, model, said);
    let on = BytesPerSecond::new(model.read_on).to_string();
    said.figure("", "devices.with.read_on_rate", on, "by the fastest stream below the link".into());
    said.missing("", &["devices.with.follow"], "as long as a read alone, of an arm next to nothing");
    said.figure(
        "",
        "devices.with.spread",
        String::new(),
        "twentieths of the response times of a read alone".into(),
    );
    match &parts.writes {
        Some(writes) if writes.small.is_some() => {
            let small = writes.small.unwrap_or(Figure { value: 0.0, low: None, high: None });
            said.figure(
                "small writes in the long run",
                "devices.with.write",
                per_s(small.value),
                between(&small, &per_s),
            );
            said.figure(
                "",
                "devices.with.write_rate",
                BytesPerSecond::new(model.write.rate).to_string(),
                "by large writes in the long run".into(),
            );
            let on = BytesPerSecond::new(model.write_on).to_string();
            said.figure("", "devices.with.write_on_rate", on, "by the stream of writes".into());
            if model.dies != Dies::Arm {
                die_lines(parts, model, said);
                said.missing("", &["devices.with.beside"], "the dies stand for it");
            } else {
                said.missing(
                    "",
                    &["devices.with.dies", "devices.with.program", "devices.with.buffer"],
                    "an arm does one thing at a time",
                );
                let words = "by how long reads take there";
                said.figure("reads beside writes", "devices.with.beside", time(model.beside), words.into());
            }
        }
        _ => said.missing(
            "a member's write",
            &[
                "devices.with.write",
                "devices.with.write_rate",
                "devices.with.write_on_rate",
                "devices.with.dies",
                "devices.with.program",
                "devices.with.buffer",
            ],
            NO_WRITES,
        ),
    }
}

fn piece_line(parts: &Parts, model: &Model, said: &mut Said) {
    let key = "devices.with.piece";
    match parts.members.piece {
        _ if model.dies == Dies::Arm => said.missing("", &[key], "an arm reads all of a request"),
        Some(piece) => said.figure(
            "a die reads at once",
            key,
            Bytes::new(piece).to_string(),
            "by the size from which on reads alone take little longer".into(),
        ),
        None => said.missing("", &[key], "it does not show: as much as is usual"),
    }
}

/// What puts writes on the media, and what a member takes of them beyond the cache.
fn die_lines(parts: &Parts, model: &Model, said: &mut Said) {
    let key = "devices.with.dies";
    match model.dies {
        Dies::Told(dies) => said.figure(
            "dies of a member",
            key,
            dies.to_string(),
            "by how much longer many reads wait beside writes than a few".into(),
        ),
        Dies::Arm | Dies::Usual => {
            said.missing("", &[key], "how many there are does not show: as many as are usual");
        }
    }
    let words = "by what reads wait for beside writes";
    said.figure("a read waits for a die", "devices.with.program", time(model.program), words.into());
    let key = "devices.with.buffer";
    let told = parts.writes.as_ref().is_some_and(|writes| writes.mark.is_some() && writes.room.is_some());
    match told {
        true => said.figure(
            "a member's buffer",
            key,
            Bytes::new(model.buffer).to_string(),
            "by what a burst came to beyond the cache".into(),
        ),
        false => said.missing(
            "a member's buffer",
            &[key],
            "when the cache began to write out did not show: all that was taken counts as the cache's",
        ),
    }
}
