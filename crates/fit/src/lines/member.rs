//! A member.

use record::Figure;
use units::{Bytes, BytesPerSecond};

use super::NO_WRITES;
use crate::model::{Dies, Model};
use crate::parts::Parts;
use crate::said::{Said, between, per_s, time};

pub(super) fn say(parts: &Parts, model: &Model, said: &mut Said) {
    let fewest = model.read.times.first().map_or(0.0, |first| first.1);
    let words = "from random reads of the whole target, each queue depth by itself";
    said.figure("member read latency", "devices.with.read", time(fewest), words.into());
    let most =
        model.read.times.iter().map(|(count, ns)| f64::from(*count).min(f64::from(model.servers)) / ns * 1e9);
    let most = most.fold(0.0, f64::max);
    said.figure(
        "commands in parallel per member",
        "devices.with.servers",
        model.servers.to_string(),
        format!("{} of 4 KiB at most", per_s(most)),
    );
    said.figure(
        "member bandwidth",
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
    said.figure(
        "",
        "devices.with.read_on_rate",
        on,
        "from the fastest sequential read below the link bandwidth".into(),
    );
    said.missing("", &["devices.with.follow"], "as a read at queue depth 1; next to nothing for a disk arm");
    said.figure(
        "",
        "devices.with.spread",
        String::new(),
        "twentieths of the response times at queue depth 1".into(),
    );
    match &parts.writes {
        Some(writes) if writes.small.is_some() => {
            let small = writes.small.unwrap_or(Figure { value: 0.0, low: None, high: None });
            said.measured("sustained 4 KiB writes", per_s(small.value), between(&small, &per_s));
            said.key("devices.with.write", of_writes(&small));
            said.figure(
                "",
                "devices.with.write_rate",
                BytesPerSecond::new(model.write.rate).to_string(),
                "from sustained large writes".into(),
            );
            let on = BytesPerSecond::new(model.write_on).to_string();
            said.figure("", "devices.with.write_on_rate", on, "from sequential writes".into());
            if model.dies != Dies::Arm {
                die_lines(parts, model, said);
                said.missing("", &["devices.with.beside"], "described by the dies");
            } else {
                said.missing(
                    "",
                    &["devices.with.dies", "devices.with.program", "devices.with.buffer"],
                    "a disk arm serves one request at a time",
                );
                let words = "added to the latency of each read, from mixed reads and writes";
                said.figure(
                    "read latency under writes",
                    "devices.with.beside",
                    time(model.beside),
                    words.into(),
                );
            }
        }
        _ => said.missing(
            "member write latency",
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
        _ if model.dies == Dies::Arm => said.missing("", &[key], "a disk arm reads all of a request"),
        Some(piece) => said.figure(
            "read unit of a die",
            key,
            Bytes::new(piece).to_string(),
            "the size from which larger reads at queue depth 1 take little longer".into(),
        ),
        None => said.missing("", &[key], "it does not show; the usual size is assumed"),
    }
}

/// What puts writes on the media, and what a member takes of them beyond the cache.
fn die_lines(parts: &Parts, model: &Model, said: &mut Said) {
    let key = "devices.with.dies";
    match model.dies {
        Dies::Identification(dies) => said.figure(
            "dies per member",
            key,
            dies.to_string(),
            "from how much longer reads wait under writes at a high queue depth than at a low one".into(),
        ),
        Dies::Arm | Dies::Usual => {
            said.missing("", &[key], "the number does not show; the usual one is assumed");
        }
    }
    let words = "from read latency under writes";
    said.figure("read wait for a busy die", "devices.with.program", time(model.program), words.into());
    let key = "devices.with.buffer";
    let told = parts.writes.as_ref().is_some_and(|writes| writes.mark.is_some() && writes.room.is_some());
    match told {
        true => said.figure(
            "member write buffer",
            key,
            Bytes::new(model.buffer).to_string(),
            "from what a burst wrote beyond the cache".into(),
        ),
        false => said.missing(
            "member write buffer",
            &[key],
            "when the cache began to destage did not show; all that was buffered counts as cache",
        ),
    }
}

/// What a member's time of a write rests on: the interval is of the rate that all members came to.
fn of_writes(small: &Figure) -> String {
    format!("from sustained 4 KiB writes of all members, {} ({})", per_s(small.value), between(small, &per_s))
}
