//! Link and controller: the round trip to the cache.

use record::Figure;
use units::BytesPerSecond;

use super::{NO_CACHE, NO_WRITES};
use crate::front::{Ceiling, Front};
use crate::model::Model;
use crate::parts::Parts;
use crate::said::{Said, between, bytes_per_s, changed, per_s, time};

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
        "from the latency that each byte adds at queue depth 1".into(),
    );
    match fixed {
        Some(fixed) => {
            said.measured("round trip", time(fixed.value), between(fixed, &time));
            said.key("link.latency", of_latency(fixed, model.latency));
        }
        None => said.missing("round trip", &["link.latency"], NO_CACHE),
    }
    match most {
        Ceiling::Seen(most) => {
            said.measured("maximum read IOPS", per_s(most.value), between(most, &per_s));
            said.key("controller.read_command", of_command(most, model.read_command));
        }
        Ceiling::Above(most) => said.missing(
            "maximum read IOPS",
            &["controller.read_command"],
            &format!(
                "not seen: above {}, which the fastest reads came to, and which the model takes",
                per_s(*most)
            ),
        ),
        Ceiling::Unknown => said.missing("maximum read IOPS", &["controller.read_command"], NO_CACHE),
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
            "from how much slower writes are than reads, at queue depth 1 and at the maximum IOPS".into(),
        ),
    }
    match parts.writes.as_ref().and_then(|writes| writes.most) {
        Some(most) => {
            let words = "random writes of a hot region that fits any cache";
            said.measured("maximum write IOPS", per_s(most), words.into());
            said.key("controller.write_command", format!("from {} {words}", per_s(most)));
        }
        None => said.missing("maximum write IOPS", &["controller.write_command"], NO_WRITES),
    }
}

/// The interval of one way, `latency`, of which there are two in a round trip: each end is half as far from it.
fn of_latency(round_trip: &Figure, latency: f64) -> String {
    let one_way = |edge: f64| (latency + (edge - round_trip.value) / 2.0).max(0.0);
    format!(
        "{}, half of what the controller leaves of the round trip",
        between(&changed(round_trip, one_way), &time)
    )
}

/// The interval of what a command holds a processor, `command`, from that of the maximum IOPS.
fn of_command(most: &Figure, command: f64) -> String {
    let held = |rate: f64| command * most.value / rate;
    format!("{}, from the maximum read IOPS", between(&changed(most, held), &time))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_of_a_key_is_of_its_own_quantity_and_holds_its_value() {
        let round_trip = Figure { value: 48_400.0, low: Some(36_800.0), high: Some(59_900.0) };
        let words = of_latency(&round_trip, 13_192.0);
        assert!(words.starts_with("95 % between 7.39 µs and 18.9 µs"), "{words}");
        assert!(
            of_latency(&round_trip, 1_000.0).starts_with("95 % between 0 ns and "),
            "no time is negative"
        );
        let most = Figure { value: 45_454.0, low: Some(40_000.0), high: Some(50_000.0) };
        let words = of_command(&most, 22_000.0);
        assert!(words.starts_with("95 % between 20.0 µs and 25.0 µs"), "{words}");
    }
}
