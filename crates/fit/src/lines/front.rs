//! The way to the cache and back.

use units::BytesPerSecond;

use super::{NO_CACHE, NO_WRITES};
use crate::front::{Ceiling, Front};
use crate::model::Model;
use crate::parts::Parts;
use crate::said::{Said, between, bytes_per_s, per_s, time};

pub(super) fn say(parts: &Parts, model: &Model, said: &mut Said) {
    let Front { link, most, fixed, .. } = &parts.front;
    said.figure(
        "link",
        "link.rate",
        BytesPerSecond::new(link.value).to_string(),
        between(link, &bytes_per_s),
    );
    said.figure(
        "lanes",
        "link.lanes",
        model.lanes.to_string(),
        "from what a byte adds to a request alone".into(),
    );
    match fixed {
        Some(fixed) => {
            said.figure("a request's way", "link.latency", time(fixed.value), between(fixed, &time));
        }
        None => said.missing("a request's way", &["link.latency"], NO_CACHE),
    }
    match most {
        Ceiling::Seen(most) => said.figure(
            "requests at most",
            "controller.read_command",
            per_s(most.value),
            between(most, &per_s),
        ),
        Ceiling::Above(most) => said.missing(
            "requests at most",
            &["controller.read_command"],
            &format!(
                "not seen: above {}, which the fastest reads came to, and which the model takes",
                per_s(*most)
            ),
        ),
        Ceiling::Unknown => said.missing("requests at most", &["controller.read_command"], NO_CACHE),
    }
    match model.processors {
        1 => said.missing(
            "",
            &["controller.processors"],
            "reads and writes differ too little to identify more than one",
        ),
        _ => said.figure(
            "processors",
            "controller.processors",
            model.processors.to_string(),
            "by what writes take longer alone, and together".into(),
        ),
    }
    match parts.writes.as_ref().and_then(|writes| writes.most) {
        Some(most) => said.figure(
            "writes at most",
            "controller.write_command",
            per_s(most),
            "of a small region, over and over".into(),
        ),
        None => said.missing("writes at most", &["controller.write_command"], NO_WRITES),
    }
}
