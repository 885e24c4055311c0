//! Where a model may be trusted, in sentences: what was asked, how far it is off where nothing was fitted to it, and what
//! it does not describe.

use record::ModelComparison;
use units::convert::truncated;

use crate::identified::Counted;
use crate::model::Model;
use crate::parts::Parts;
use crate::probe::{Pattern, Probe};
use crate::refine::{self, Source};
use crate::said::bytes;

/// The sentences, what limits trust most first.
pub fn of(sources: &[Source], residuals: &[ModelComparison], parts: &Parts, model: &Model) -> Vec<String> {
    let points = points(sources, residuals, model);
    let mut said = Vec::new();
    said.extend(parts.concatenated.map(|_| CONCATENATED.to_owned()));
    said.extend(held_out(&points));
    said.extend(Kind::ALL.into_iter().filter_map(|kind| undescribed(&points, kind)));
    said.push(range(sources));
    if parts.front.cached && parts.members.servers == 1 {
        said.push("Random reads were measured over the whole target; a smaller working set shortens the seeks and is faster.".into());
    }
    if parts.writes.is_none() {
        said.push("Reads alone: nothing was written.".into());
    }
    said.extend(predicted());
    said.push("A failed member and a rebuild were not measured.".into());
    said
}

const CONCATENATED: &str = "The model does not describe this array: parts of it have members, sets or paths of their own, and \
     in the model each part of the target lies on all of them. Use it only for random requests over the whole target, \
     not for streams, nor for a working set that is a part of it.";

/// Loads that no point of the plans has, by kind: in how many the model of an array of known figures had the rate within
/// 15 % (`benches/RESULTS.md`, "Calibration of statements").
pub const PREDICTED: [(&str, Counted); 4] = [
    ("random reads", Counted { right: 12, of: 12 }),
    ("mixed reads and writes", Counted { right: 28, of: 36 }),
    ("sequential reads", Counted { right: 8, of: 12 }),
    ("sequential writes", Counted { right: 7, of: 12 }),
];

/// The same loads, reads and writes each for themselves: in how many p99 of the model was within 25 %.
pub const PREDICTED_P99: Counted = Counted { right: 37, of: 108 };
const _: () = assert!(PREDICTED_P99.right <= PREDICTED_P99.of);

fn predicted() -> [String; 2] {
    let each = PREDICTED.map(|(kind, Counted { right, of })| format!("{kind} {right} of {of}"));
    let Counted { right, of } = PREDICTED_P99;
    [
        format!(
            "For loads that no point has, models of arrays of known figures had the rate within 15 %: {}.",
            each.join(", ")
        ),
        format!(
            "Rates and mean response times only: p99 and other percentiles are not given. The model's p99 was within \
             25 % in {right} of {of} such loads."
        ),
    ]
}

/// A measured point beside the model's answer.
struct Compared<'s> {
    probe: &'s Probe,
    /// Modelled over measured rate, less one.
    off: f64,
    /// Whether no figure was fitted to it.
    held_out: bool,
}

fn points<'s>(sources: &'s [Source], residuals: &[ModelComparison], model: &Model) -> Vec<Compared<'s>> {
    let with = |source: &'s Source| {
        let probe = &source.probe;
        let held = residuals.iter().find(|held| held.index == probe.index && held.name == probe.name)?;
        let off = 1.0 / held.ratio.value - 1.0;
        Some(Compared { probe, off, held_out: refine::is_held_out(probe, sources, model) })
    };
    sources.iter().filter_map(with).collect()
}

/// How far the points are off that no figure was fitted to, and whether they are described; nothing where there are too
/// few of them.
fn held_out(points: &[Compared<'_>]) -> Option<String> {
    let mut held: Vec<&Compared<'_>> = points.iter().filter(|point| point.held_out).collect();
    held.sort_by(|one, two| one.off.abs().total_cmp(&two.off.abs()));
    let at = |part: f64| {
        held.get(truncated::<usize>(((held.len() - 1) as f64 * part).round())).map(|point| point.off.abs())
    };
    let farthest = held.last().filter(|_| held.len() >= FEWEST)?;
    let (half, most) = (at(0.5)?, at(0.9)?);
    let off = format!(
        "of {} points that no figure was fitted to, half are within {:.1} % of it, nine tenths within {:.1} %, and \
         \"{}\" is {:+.0} % off.",
        held.len(),
        half * 100.0,
        most * 100.0,
        farthest.probe.name,
        farthest.off * 100.0
    );
    Some(match most > DESCRIBED {
        true => format!("The model does not describe this array: {off}"),
        false => format!("The model describes the points: {off}"),
    })
}

/// Points that say how far a model is off.
const FEWEST: usize = 10;

/// A model that is farther off at one point of ten does not describe the array.
const DESCRIBED: f64 = 0.25;

/// Loads that one part of the model answers for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    RandomReads,
    SequentialReads,
    RandomWrites,
    SequentialWrites,
    Mixed,
}

impl Kind {
    const ALL: [Kind; 5] =
        [Kind::RandomReads, Kind::SequentialReads, Kind::RandomWrites, Kind::SequentialWrites, Kind::Mixed];

    fn of(probe: &Probe) -> Kind {
        match (probe.is_read(), probe.is_write(), probe.pattern) {
            (true, _, Pattern::Random) => Kind::RandomReads,
            (true, _, Pattern::Sequential) => Kind::SequentialReads,
            (_, true, Pattern::Random) => Kind::RandomWrites,
            (_, true, Pattern::Sequential) => Kind::SequentialWrites,
            (false, false, _) => Kind::Mixed,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Kind::RandomReads => "random reads of the whole target",
            Kind::SequentialReads => "sequential reads",
            Kind::RandomWrites => "random writes",
            Kind::SequentialWrites => "sequential writes",
            Kind::Mixed => "mixed reads and writes",
        }
    }
}

/// The kind, where a point of it is far off although the model was fitted to such.
fn undescribed(points: &[Compared<'_>], kind: Kind) -> Option<String> {
    let of_kind = points.iter().filter(|point| Kind::of(point.probe) == kind && !point.held_out);
    let lasting = of_kind.filter(|point| {
        point.probe.region.is_none() && (kind != Kind::RandomReads || point.probe.is_everywhere())
    });
    let worst = lasting.max_by(|one, two| one.off.abs().total_cmp(&two.off.abs()))?;
    (worst.off.abs() > DESCRIBED).then(|| {
        format!(
            "Not described: {}; \"{}\" is {:+.0} % off.",
            kind.name(),
            worst.probe.name,
            worst.off * 100.0
        )
    })
}

fn range(sources: &[Source]) -> String {
    let probes = || sources.iter().map(|source| &source.probe);
    let least = |of: fn(&Probe) -> f64| probes().map(of).fold(f64::INFINITY, f64::min);
    let most = |of: fn(&Probe) -> f64| probes().map(of).fold(0.0, f64::max);
    format!(
        "Requests of {} to {}, {:.0} to {:.0} in flight, as measured.",
        bytes(least(|probe| probe.size)),
        bytes(most(|probe| probe.size)),
        least(|probe| probe.depth),
        most(|probe| probe.depth)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::probe::read_alone;

    fn said(off: &[f64]) -> String {
        let probe = Probe { name: "stride 48KiB".into(), ..read_alone(4096.0, 1e6) };
        let points: Vec<Compared<'_>> =
            off.iter().map(|off| Compared { probe: &probe, off: *off, held_out: true }).collect();
        held_out(&points).unwrap_or_default()
    }

    #[test]
    fn a_model_that_is_far_off_where_nothing_was_fitted_to_it_says_that_it_does_not_describe_the_array() {
        let mut off = vec![0.02; 20];
        assert!(said(&off).starts_with("The model describes the points"), "{}", said(&off));
        off.extend([2.91; 4]);
        let words = said(&off);
        assert!(words.starts_with("The model does not describe this array: of 24 points"), "{words}");
        assert!(words.contains("\"stride 48KiB\" is +291 % off"), "{words}");
        assert_eq!(said(&off[..5]), "", "too few say nothing");
    }

    #[test]
    fn a_kind_of_load_that_its_own_points_contradict_is_named() {
        let stream = Probe {
            name: "sequential write, 1MiB, QD 16".into(),
            pattern: Pattern::Sequential,
            reads: 0.0,
            ..read_alone(1_048_576.0, 1e6)
        };
        let at = |off: f64| {
            undescribed(&[Compared { probe: &stream, off, held_out: false }], Kind::SequentialWrites)
        };
        assert!(
            at(2.91).is_some_and(|words| words.contains("sequential writes") && words.contains("+291 %"))
        );
        assert_eq!(at(0.1), None);
    }
}
