//! Which part is the bottleneck, which are not, and on what evidence.
//!
//! **Invariant:** a part is named only by what was counted of it: its use against its ceiling, its utilization, or how
//! the rate responds to a higher queue depth. Where nothing was counted nothing is named.

mod ceilings;
mod components;
mod curve;
mod disks;
mod drafts;
mod flushes;
mod gates;
pub(crate) mod imposed;
mod kind;
mod latency;
mod lun_queue;
pub(crate) mod offered;
mod partial_writes;
mod places;
mod queues;
pub(crate) mod settle;
mod traffic;
mod usage;

use crate::Code;
use crate::company;
use crate::draft::Draft;
use crate::evidence::{has_setting, on_nothing, setting};
use curve::{Answer, Sweeps};
use drafts::{
    DEEPER, company_at, latency_bound, limit, not_saturated, of_flash, open, unseen, with_answer,
    with_shares, with_spread,
};
use lun_queue::LunQueue;
use places::{Places, Spread};
use queues::Shown;
use record::{PartShare, Point, PointKind, Run, Severity, World};
use spec::Pattern;
use usage::{Setup, Use};

/// A part with this utilization is saturated.
const FULL: f64 = 0.95;

/// A part with less utilization is far from saturated. Requests of an open system of one server wait at 70 % for 2.3
/// times their service time (Kleinrock, *Queueing Systems*, volume 1, M/M/1): beyond it requests may well wait.
const FAR: f64 = 0.70;

/// Where the rate grows with a lower power of what is in flight, it is flat.
const FLAT: f64 = 0.15;

/// Where it grows with a higher one, it still scales.
const FOLLOWS: f64 = 0.70;

/// No more in flight than one request and what the edges of the window add.
const ONE: f64 = 1.5;

/// The sweeps and the numbers of files and LUNs that the loads of a run belong to.
#[derive(Debug)]
pub(crate) struct Loads<'r> {
    sweeps: Sweeps<'r>,
    places: Places,
}

impl<'r> Loads<'r> {
    /// Of `run`, in one pass over its points.
    pub(crate) fn of(run: &'r Run) -> Loads<'r> {
        Loads { sweeps: Sweeps::of(run), places: Places::of(run) }
    }
}

/// What bounds `point`, if the evidence names it.
pub(crate) fn of_point(run: &Run, loads: &Loads<'_>, point: &Point) -> Option<Draft> {
    match point.kind {
        PointKind::State => of_work(point),
        PointKind::Load if on_nothing(run) => None,
        PointKind::Load => match run.world {
            World::Array => of_array(run, loads, point),
            World::Host => of_storage(run, loads, point),
        },
    }
}

/// What bounds a point of a virtual array, by where its requests were.
fn of_array(run: &Run, loads: &Loads<'_>, point: &Point) -> Option<Draft> {
    let mut uses = components::of_breakdown(point);
    let setup = setup_of(run, point);
    uses.iter_mut().for_each(|one| one.idle = one.idle.take().map(|idle| idle.on(setup)));
    if let Some(offered) = offered::met(point, &uses, run.search.is_some()) {
        return Some(offered);
    }
    if uses.is_empty() {
        return None;
    }
    let answer = curve::answer(run, &loads.sweeps, point);
    let named = flushes::limit(point, &uses)
        .or_else(|| gates::limit(run, point, &uses))
        .or_else(|| LunQueue::limit(point, &uses).map(|queue| queue.finding(&uses)));
    if let Some(named) = named {
        return Some(with_answer(with_shares(named, &uses), answer));
    }
    if let Some(disks) = disks::at_media_rate(run, point, &uses) {
        return Some(with_answer(disks, answer));
    }
    by_queues(run, point, &uses, answer, places::spread(run, &loads.places, point))
}

/// What decides over which LUNs and paths the load of `point` goes.
fn setup_of(run: &Run, point: &Point) -> Setup {
    let streams = point
        .workloads
        .iter()
        .filter(|one| one.spec.pattern == Pattern::Sequential && one.spec.tree.is_none());
    let workers: u32 = streams.map(|one| one.spec.workers).sum();
    Setup {
        is_multipath: setting(run, "host.multipath")
            .is_some_and(|policy| !["none", "failover"].contains(&policy)),
        is_striped: has_setting(run, "host.stripe"),
        is_one_stream: point.workloads.iter().map(|one| one.spec.workers).sum::<u32>() == 1 && workers == 1,
    }
}

/// The same, by which of its parts are busy and have requests queued at them.
fn by_queues(
    run: &Run,
    point: &Point,
    uses: &[Use],
    answer: Option<Answer>,
    spread: Option<Spread>,
) -> Option<Draft> {
    let load = curve::load(point);
    let in_flight = point.workloads.iter().map(|workload| workload.mean_in_flight).sum();
    Some(match queues::shown(uses, in_flight, load.as_ref(), answer, waited(point)) {
        Shown::Limit(place) => {
            let mut others = uses.to_vec();
            let first = others.remove(place);
            let limit = limit(&first, &others, answer);
            let limit = company_at(
                of_flash(disks::of_operations(limit, &first, run, point), &first, point),
                &first,
                point,
            );
            with_spread(limit, spread)
        }
        Shown::Latency => latency_bound(uses.first()?, &load?, answer, point),
        Shown::Open => match spread {
            Some(spread) => spread.finding(),
            None => {
                // A record of one seed is the same whenever it is made: it does not have its own id.
                let remedy = settle::untried("last", point.index, settle::Untried::Unasked);
                traffic::with_hit_rate(open(uses, in_flight, answer, &remedy), point)
            }
        },
    })
}

/// What bounds a point of real storage: what a control group imposes, flushes, a part at its ceiling, or what a higher queue depth gains.
fn of_storage(run: &Run, loads: &Loads<'_>, point: &Point) -> Option<Draft> {
    if let Some(named) = imposed::by_group(run, point).or_else(|| flushes::by_requests(point)) {
        return Some(named);
    }
    let uses = ceilings::of_path(run, point);
    if let Some(offered) = offered::met(point, &uses, run.search.is_some()) {
        return Some(offered);
    }
    let (first, others) = uses.split_first()?;
    debug_assert!(!first.is_even, "the parts of real storage are counted one by one");
    let answer = curve::answer(run, &loads.sweeps, point);
    let spread = places::spread(run, &loads.places, point);
    if first.share >= FULL {
        return Some(with_spread(limit(first, others, answer), spread));
    }
    if let Some(named) = imposed::by_constancy(&loads.sweeps, point) {
        return Some(named);
    }
    if let Some(spread) = spread {
        return Some(spread.finding());
    }
    let load = curve::load(point)?;
    let flat = answer.is_some_and(|answer| answer.is_flat());
    let follows = answer.is_some_and(|answer| answer.follows());
    if flat && load.in_flight > ONE {
        return Some(unseen(first, answer?));
    }
    // A single request does not queue; but where the next load of the sweep gained little, a higher depth is no advice.
    let alone = load.in_flight <= ONE && answer.is_none();
    // A processor that is never idle bounds the rate, and no depth helps against it.
    let has_idle_cpu = company::cpu_saturated(run, point).is_none();
    if first.share < FAR && (alone || follows) && has_idle_cpu {
        return Some(latency_bound(first, &load, answer, point));
    }
    (first.share >= FAR || answer.is_some()).then(|| open(&uses, load.in_flight, answer, DEEPER))
}

/// The part that bounds a rebuild or other work of a virtual array that a phase waited for: one that is saturated. Such work has no
/// queue in front of it that would tell.
fn of_work(point: &Point) -> Option<Draft> {
    let uses = components::of_breakdown(point);
    let (first, others) = uses.split_first().filter(|(first, _)| first.share >= FULL)?;
    let work = point.state.values().next().map_or("work", |state| state.trim_start_matches("watch "));
    let verb = if first.is_even { "are" } else { "is" };
    let mut sentence = format!("{} {verb} the bottleneck of the {work}: {}.", first.part, first.in_words());
    sentence += &not_saturated(first, others);
    let draft = Draft::new(Code::Bottleneck, Severity::Note, sentence)
        .remedy(format!("Use a faster one, or more of it, for a shorter {work}."));
    Some(with_shares(draft, &uses))
}

/// The fullest part of a virtual array, as `disks 99 % busy`, and whether it does more where more requests wait for it; `None` where
/// it has time to spare, where much of its work is the array's own, and of real storage.
pub(crate) fn saturated(point: &Point) -> Option<(String, bool)> {
    let uses = components::of_breakdown(point);
    let first = uses.first().filter(|first| first.share >= FULL)?;
    let queue = first.queue.unwrap_or_default();
    (queue.background < queues::BACKGROUND).then(|| (first.busy(), queue.gains))
}

/// What lets no more requests of a point of a virtual array through, whatever slots its load has: `LUN queue`.
pub(crate) fn gate(point: &Point) -> Option<&'static str> {
    gates::beyond_slots(point, &components::of_breakdown(point))
}

/// The part of the response time that is waiting; `None` where the record does not say where requests were.
fn waited(point: &Point) -> Option<f64> {
    let response = &point.breakdown.as_ref()?.response;
    let all: f64 = response.iter().map(PartShare::time_ns).sum();
    (all > 0.0).then(|| response.iter().map(|part| part.wait_ns).sum::<f64>() / all)
}

#[cfg(test)]
mod tests {
    use record::sample::{self, Stream};
    use record::{Ceiling, Finding, PathPart, Series};

    use super::*;

    /// A sweep of depth on a disk, by what is in flight, the rate, and the share of the disk's bandwidth.
    pub(super) fn swept(loads: &[(f64, u64, f64)]) -> Run {
        let point = |(index, (in_flight, per_s, share)): (u32, &(f64, u64, f64))| {
            let stream =
                Stream { op: "read", size_bytes: 4096, per_s: *per_s, median_ns: 1_000_000, spread: 0.0 };
            let mut workload = sample::workload("main", &[stream]);
            workload.mean_in_flight = *in_flight;
            let mut point = sample::point(index, "p", vec![workload]);
            point.swept = [("depth".to_owned(), in_flight.to_string())].into();
            point.series.push(Series {
                name: "disk.sda.read_bytes_per_s".into(),
                unit: "bytes_per_s".into(),
                workload: None,
                source: "test".into(),
                from_ns: None,
                at_ns: sample::ends(),
                values: vec![share * 1e9; 30],
                absent: None,
            });
            point
        };
        let mut run = sample::run("sweep", (0..).zip(loads).map(point).collect());
        let (what, unit, basis) = ("bandwidth".into(), "bytes_per_s".into(), "as given".into());
        let bandwidth = Ceiling { what, value: 1e9, unit, each_way: false, basis, source: "test".into() };
        let (name, series) = ("sda".into(), Some("disk.sda".into()));
        run.path = vec![PathPart { name, series, ceilings: vec![bandwidth], ..PathPart::default() }];
        run
    }

    /// What is found of the first of these loads.
    fn first(loads: &[(f64, u64, f64)]) -> Option<Finding> {
        let run = swept(loads);
        of_point(&run, &Loads::of(&run), &run.points[0]).map(Draft::about_run)
    }

    fn code(loads: &[(f64, u64, f64)]) -> Option<String> {
        first(loads).map(|finding| finding.code)
    }

    fn is(code: Code) -> Option<String> {
        Some(code.name().to_owned())
    }

    #[test]
    fn a_part_is_saturated_from_its_nineteenth_twentieth_on() {
        assert_eq!(code(&[(8.0, 1_000, 0.95)]), is(Code::Bottleneck));
        assert_eq!(code(&[(8.0, 1_000, 0.949)]), is(Code::BottleneckUndetermined));
        assert_eq!(code(&[(8.0, 1_000, 0.70)]), is(Code::BottleneckUndetermined));
        assert_eq!(code(&[(8.0, 1_000, 0.699)]), None, "nothing tells what the storage can do");
    }

    #[test]
    fn what_a_higher_depth_gains_decides_where_no_part_is_saturated() {
        // Twice in flight with an exponent of 0.15 makes 1.1096 times the rate, with one of 0.70 1.6245 times.
        let twice = |per_s: u64| code(&[(8.0, 10_000, 0.5), (16.0, per_s, 0.5)]);
        assert_eq!(
            (twice(11_090), twice(11_100)),
            (is(Code::BottleneckUncounted), is(Code::BottleneckUndetermined))
        );
        assert_eq!(
            (twice(16_240), twice(16_250)),
            (is(Code::BottleneckUndetermined), is(Code::LatencyBound))
        );
        assert_eq!(code(&[(8.0, 10_000, 0.70), (16.0, 20_000, 0.5)]), is(Code::BottleneckUndetermined));
        assert_eq!(code(&[(8.0, 10_000, 0.699), (16.0, 20_000, 0.5)]), is(Code::LatencyBound));
    }

    #[test]
    fn one_request_at_a_time_is_bound_by_its_latency_unless_the_next_load_gained_little() {
        assert_eq!((code(&[(1.5, 1_000, 0.5)]), code(&[(1.51, 1_000, 0.5)])), (is(Code::LatencyBound), None));
        assert_eq!(code(&[(1.5, 10_000, 0.5), (3.0, 10_000, 0.5)]), is(Code::BottleneckUndetermined));
        assert_eq!(code(&[(1.51, 10_000, 0.5), (3.02, 10_000, 0.5)]), is(Code::BottleneckUncounted));
    }

    #[test]
    fn a_finding_tells_what_a_higher_depth_gains_where_that_is_evidence_for_it() {
        let sentence = |loads: &[(f64, u64, f64)]| first(loads).expect("something is found").sentence;
        let scales = sentence(&[(8.0, 10_000, 0.5), (16.0, 20_000, 0.5)]);
        assert!(scales.ends_with("a factor of 1.00: the rate scales with the queue depth."), "{scales}");
        let alone = sentence(&[(1.0, 1_000, 0.5)]);
        assert!(alone.contains("the busiest, sda: 500 MB/s") && alone.contains(" 50 % of its "), "{alone}");
        let flat = sentence(&[(8.0, 10_000, 0.97), (16.0, 10_000, 0.97)]);
        assert!(flat.ends_with(": a higher queue depth only adds latency."), "{flat}");
        assert!(sentence(&[(8.0, 10_000, 0.97), (16.0, 20_000, 0.97)]).ends_with("(as given)."));
        let null = Run { targets: Vec::new(), ..swept(&[(1.0, 1_000, 0.5)]) };
        let state = Point { kind: PointKind::State, ..null.points[0].clone() };
        assert!(of_point(&null, &Loads::of(&null), &state).is_none(), "a state is no load");
    }
}
