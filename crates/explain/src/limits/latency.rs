//! A load that is latency-bound: which part of the response time is the largest, and what shortens it.

use record::{PartShare, Point, WorkloadResult};
use spec::{OpenSync, Pattern};
use units::{Nanos, Share};

use super::{components, partial_writes};
use crate::draft::Draft;

/// What is known of a higher queue depth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Depth {
    /// The next load of a sweep, or a trial, had the higher rate.
    Gains,
    /// A trial gained next to nothing.
    GainsLittle,
    /// Nothing: trials can tell.
    Untried,
}

/// What `explain` does about a depth that nobody has tried.
pub(super) const TRIES_DEPTH: &str = "`fathom explain` tries what a higher queue depth gains.";

/// What records call the parts of a disk, and what all of them together are called.
const DISKS: &str = "disk";

/// A part of a disk's time is named from this part of all of it on.
const NAMED: f64 = 0.1;

/// The part of the response time that is the largest: all of a disk's time is one.
#[derive(Clone, Debug, PartialEq)]
struct Largest {
    name: String,
    own_ns: f64,
    all_ns: f64,
    /// Whether most of it is waiting.
    is_wait: bool,
    /// What it consists of, the largest first.
    inside: Vec<(String, f64)>,
}

impl Largest {
    /// Of `point`; `None` where the record does not say where requests were.
    fn of(point: &Point) -> Option<Largest> {
        let response = &point.breakdown.as_ref()?.response;
        let parts = || response.iter().filter(|part| part.part != components::SCHEDULE);
        let all_ns: f64 = parts().map(PartShare::time_ns).sum();
        let is_of_disk = |part: &&PartShare| part.part.split(' ').next() == Some(DISKS);
        let at_disks: f64 = parts().filter(is_of_disk).map(PartShare::time_ns).sum();
        let other = parts()
            .filter(|part| !is_of_disk(part))
            .max_by(|one, other| one.time_ns().total_cmp(&other.time_ns()));
        let elsewhere = other.map_or(0.0, PartShare::time_ns);
        if all_ns <= 0.0 {
            return None;
        }
        if elsewhere > at_disks {
            let other = other?;
            let (name, is_wait) = (other.part.clone(), other.wait_ns > other.service_ns);
            return Some(Largest { name, own_ns: elsewhere, all_ns, is_wait, inside: Vec::new() });
        }
        let own = parts().filter(is_of_disk).filter(|part| part.time_ns() >= NAMED * all_ns);
        let mut inside: Vec<(String, f64)> = own
            .filter_map(|part| Some((part.part.strip_prefix("disk ")?.to_owned(), part.time_ns())))
            .collect();
        inside.sort_by(|(_, one), (_, other)| other.total_cmp(one));
        Some(Largest { name: "disks".into(), own_ns: at_disks, all_ns, is_wait: false, inside })
    }

    /// `Of 3.55 ms, 2.76 ms are distance.`
    fn in_words(&self) -> String {
        let time = |ns: f64| Nanos::from_secs_f64(ns * 1e-9);
        let inside: Vec<String> =
            self.inside.iter().map(|(part, ns)| format!("{part} {}", time(*ns))).collect();
        let inside = if inside.is_empty() { String::new() } else { format!(" ({})", inside.join(", ")) };
        format!(" Of {}, {} are {}{inside}.", time(self.all_ns), time(self.own_ns), self.name)
    }

    /// What makes it less.
    fn shorter(&self, point: &Point) -> String {
        match self.name.as_str() {
            "disks" if point.workloads.iter().all(is_stream) => {
                "Read further ahead (`cache.prefetch.max`, the drives' `buffer.read_ahead`), or several streams at once: how far a stream \
                 reads ahead is its limit."
                    .into()
            }
            "disks" => "Use faster disks, or have a cache answer more of the requests.".into(),
            "distance" => "Shorten the way, or move more bytes with each request (`size`).".into(),
            "connection window" => {
                "Raise the connection window (`protocol.window`), or shorten the way.".into()
            }
            "host processor" => {
                "Have the host do less for each request (layers, copies), or use faster processors.".into()
            }
            name if self.is_wait => format!("Shorten the wait at the {name}."),
            name => format!("Use a faster {name}, or more of them."),
        }
    }
}

/// `draft`, of a load that is latency-bound, with the part that its latency consists of most, with what each write takes where it
/// updates parity, and with what makes it quicker.
pub(super) fn with_parts(draft: Draft, point: &Point, depth: Depth) -> Draft {
    let largest = Largest::of(point);
    let draft = match &largest {
        Some(largest) => {
            let key = format!("{}_ms", largest.name.replace(' ', "_"));
            draft.sentence(&largest.in_words()).number(&key, largest.own_ns * 1e-6)
        }
        None => draft,
    };
    let draft = match partial_writes::operations(point) {
        Some(each) => draft
            .sentence(&format!(
                " Each write takes {each:.1} disk operations: old data and parity are read before anything is written."
            ))
            .number("operations_per_request", each),
        None => draft,
    };
    draft.remedy(quicker_by(point, depth))
}

/// What raises the rate of `point`, which is latency-bound.
pub(super) fn quicker_by(point: &Point, depth: Depth) -> String {
    match partial_writes::operations(point) {
        Some(_) => with_depth(partial_writes::REMEDY, depth),
        None => quicker(point, Largest::of(point).as_ref(), depth),
    }
}

fn quicker(point: &Point, largest: Option<&Largest>, depth: Depth) -> String {
    match largest {
        Some(largest) => with_depth(&largest.shorter(point), depth),
        None if point.breakdown.is_some() => with_depth("Lower the latency of each request.", depth),
        None if point.workloads.iter().any(syncs_writes) => {
            "Each write waits until it is durable (`sync`): measure once with `sync = \"none\"`, and what it is faster is the flush. Sync \
             less often, use a device with a cache that is protected against power loss, or measure twice the queue depth (sweep `depth`)."
                .into()
        }
        None if depth == Depth::Gains => {
            "Increase the queue depth, or lower the latency of each request.".into()
        }
        None => "Measure twice the queue depth (sweep `depth`), or lower the latency of each request.".into(),
    }
}

fn with_depth(shorter: &str, depth: Depth) -> String {
    match depth {
        Depth::Gains => format!("Increase the queue depth. {shorter}"),
        Depth::GainsLittle => format!("{shorter} A higher queue depth gains next to nothing."),
        Depth::Untried => format!("{shorter} {TRIES_DEPTH}"),
    }
}

/// Whether it reads in order and does nothing else.
fn is_stream(workload: &WorkloadResult) -> bool {
    let spec = &workload.spec;
    spec.pattern == Pattern::Sequential && spec.mix.reads == Share::ALL && spec.tree.is_none()
}

/// Whether every write of a workload is made durable by itself.
fn syncs_writes(workload: &WorkloadResult) -> bool {
    workload.spec.durability.open != OpenSync::None && workload.spec.mix.reads < Share::ALL
}

#[cfg(test)]
mod tests {
    use record::{Breakdown, Severity, sample};

    use super::*;
    use crate::Code;

    /// The sentence about a point whose requests spent those milliseconds at those parts.
    fn told(parts: &[(&str, f64)], depth: Depth) -> record::Finding {
        let mut point = sample::point(0, "p", vec![sample::workload("main", &[])]);
        point.workloads[0].spec.pattern = Pattern::Random;
        let part =
            |(part, ms): &(&str, f64)| PartShare { part: (*part).into(), wait_ns: 0.0, service_ns: ms * 1e6 };
        let response = parts.iter().map(part).collect();
        point.breakdown = Some(Breakdown { response, ..Breakdown::default() });
        let draft = Draft::new(Code::LatencyBound, Severity::Note, "Latency-bound.");
        with_parts(draft, &point, depth).about_run()
    }

    #[test]
    fn the_largest_part_of_the_latency_is_told_with_its_figure_and_what_makes_it_less() {
        let part = |name| told(&[(name, 2.0)], Depth::Untried).remedy;
        assert!(part("link").starts_with("Use a faster link"), "{}", part("link"));
        let way = told(&[("link", 0.79), ("distance", 2.76), ("schedule", 9.0)], Depth::Untried);
        assert_eq!(way.sentence, "Latency-bound. Of 3.55 ms, 2.76 ms are distance.");
        assert!((way.numbers["distance_ms"] - 2.76).abs() < 1e-9);
        assert!(
            way.remedy.starts_with("Shorten the way") && way.remedy.ends_with(TRIES_DEPTH),
            "{}",
            way.remedy
        );
        let disks = told(
            &[("distance", 2.9), ("disk overhead", 0.1), ("disk rotation", 1.5), ("disk seek", 3.4)],
            Depth::Gains,
        );
        assert_eq!(
            disks.sentence,
            "Latency-bound. Of 7.90 ms, 5.00 ms are disks (seek 3.40 ms, rotation 1.50 ms)."
        );
        assert!(disks.remedy.starts_with("Increase the queue depth. Use faster disks"), "{}", disks.remedy);
        assert_eq!(told(&[], Depth::Untried).sentence, "Latency-bound.");
    }

    #[test]
    fn a_higher_queue_depth_is_advised_where_it_was_seen_to_gain_and_nowhere_else() {
        let remedy = |depth| told(&[("disk", 1.0)], depth).remedy;
        assert!(remedy(Depth::Gains).contains("Increase the queue depth"));
        assert!(!remedy(Depth::Untried).contains("Increase the queue depth"));
        assert!(remedy(Depth::GainsLittle).contains("gains next to nothing"));
    }
}
