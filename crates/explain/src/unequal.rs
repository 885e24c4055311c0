//! A host, or a rank, whose requests took longer than those of the others, or completed not at all for a while.

use record::{Point, RankResult, Run, Severity, Silence};
use units::Nanos;

use crate::Code;
use crate::draft::Draft;
use crate::ranks::{hosts, is_alike};

/// A percentile that is less than so many times that of the others does not stand out.
const SLOW: f64 = 2.0;

/// A percentile without an interval may be off by this, either way: those of equal ranks differed by up to six times in windows of six
/// seconds on a busy machine, and nine is beyond that.
const UNSURE: f64 = 3.0;

/// A gap that is less than so many times as long as any of the others is one that they may have had as well.
const LONG: u64 = 2;

/// Shorter gaps are not kept.
const GAP_LEAST_NS: u64 = 1_000_000_000;

/// Ranks that are held against all others, and what they are called.
struct Group<'a> {
    name: String,
    ranks: Vec<&'a RankResult>,
    others: Vec<&'a RankResult>,
}

/// What of a group stands out.
#[derive(Clone, Copy, Default)]
struct Outlier {
    /// Its 99th percentile, that of its quickest rank, and the highest of the others.
    p99: Option<(u64, u64)>,
    /// Its longest gap, that of the rank with the shortest, and the longest of the others.
    gap: Option<(Silence, Option<Silence>)>,
}

/// The host, or else the rank, that answered slower than the others by more than chance, or had a gap that they did not have.
pub(crate) fn responses(_: &Run, point: &Point) -> Option<Draft> {
    if !is_alike(point) {
        return None;
    }
    let found = groups(point).into_iter().find_map(|group| Some((found(&group)?, group)));
    let (Outlier { p99, gap }, group) = found?;
    let mut said = Vec::new();
    said.extend(p99.map(|(own, others)| {
        let (own, others) = (Nanos::new(own), Nanos::new(others));
        format!("The p99 response time on {} is {own}, elsewhere {others} at most.", group.name)
    }));
    said.extend(gap.map(|(own, others)| of_gap(point, &group.name, own, others)));
    let draft = Draft::new(Code::UnequalResponses, Severity::Warning, said.join(" ")).remedy(
        "Look at that host for the time of the run: its processors and memory, its path to the storage, and what else ran there. \
         Percentiles of the whole are a mixture of unlike parts.",
    );
    let draft = p99.into_iter().fold(draft, |draft, (own, others)| {
        draft.number("p99_s", own as f64 / 1e9).number("other_p99_s", others as f64 / 1e9)
    });
    Some(gap.into_iter().fold(draft, |draft, (own, _)| draft.number("gap_s", own.length_ns as f64 / 1e9)))
}

/// `None of its requests completed for 2.3 s from 3.0 s on, …`
fn of_gap(point: &Point, name: &str, own: Silence, others: Option<Silence>) -> String {
    let window = point.workloads.iter().map(|workload| workload.measured_from_ns).min().unwrap_or(0);
    let from_ns = own.from_ns.saturating_sub(window);
    let others = others.map_or_else(
        || "elsewhere there was no such gap of a second".into(),
        |other| format!("the longest such gap elsewhere was {}", Nanos::new(other.length_ns)),
    );
    format!(
        "On {name} no request completed for {} from {} of the window on; {others}.",
        Nanos::new(own.length_ns),
        Nanos::new(from_ns)
    )
}

/// Each host, and then each rank that is not all of a host.
fn groups(point: &Point) -> Vec<Group<'_>> {
    let hosts = hosts(point);
    let all = || hosts.iter().flat_map(|host| host.ranks.iter().copied());
    let of_host = |at: usize| Group {
        name: hosts[at].name.to_owned(),
        ranks: hosts[at].ranks.clone(),
        others: all().filter(|rank| rank.host != hosts[at].name).collect(),
    };
    let of_rank = |rank: &RankResult| Group {
        name: format!("rank {} on {}", rank.rank, rank.host),
        ranks: all().filter(|own| own.rank == rank.rank).collect(),
        others: all().filter(|other| other.rank != rank.rank).collect(),
    };
    let shared = hosts.iter().filter(|host| host.ranks.len() > 1);
    let ranks = shared.flat_map(|host| host.ranks.iter().map(|rank| of_rank(rank)));
    (0..hosts.len()).map(of_host).chain(ranks).filter(|group| !group.others.is_empty()).collect()
}

fn found(group: &Group<'_>) -> Option<Outlier> {
    let found = Outlier { p99: slower(group), gap: silent(group) };
    (found.p99.is_some() || found.gap.is_some()).then_some(found)
}

/// Whether the percentile of each rank of the group lies above that of every other, by more than both may be off.
fn slower(group: &Group<'_>) -> Option<(u64, u64)> {
    let p99 =
        |ranks: &[&RankResult]| ranks.iter().map(|rank| rank.response_p99_ns).collect::<Option<Vec<_>>>();
    let (own, others) = (p99(&group.ranks)?.into_iter().min()?, p99(&group.others)?.into_iter().max()?);
    let least = group.ranks.iter().map(|rank| low(rank)).reduce(f64::min)?;
    let most = group.others.iter().map(|rank| high(rank)).reduce(f64::max)?;
    (least > most && own as f64 >= SLOW * others as f64).then_some((own, others))
}

/// The lowest that the percentile of a rank may be.
fn low(rank: &RankResult) -> f64 {
    let p99 = rank.response_p99_ns.unwrap_or(0) as f64;
    rank.response_p99_low_ns.map_or(p99 / UNSURE, |low| low as f64)
}

/// The highest that it may be.
fn high(rank: &RankResult) -> f64 {
    let p99 = rank.response_p99_ns.unwrap_or(0) as f64;
    rank.response_p99_high_ns.map_or(p99 * UNSURE, |high| high as f64)
}

/// Whether every rank of the group had a gap that is much longer than any of the others.
fn silent(group: &Group<'_>) -> Option<(Silence, Option<Silence>)> {
    let own = group.ranks.iter().map(|rank| rank.longest_gap).collect::<Option<Vec<_>>>()?;
    let own = own.into_iter().min_by_key(|gap| gap.length_ns)?;
    let others = group.others.iter().filter_map(|rank| rank.longest_gap).max_by_key(|gap| gap.length_ns);
    let most_ns = others.map_or(GAP_LEAST_NS, |gap| gap.length_ns);
    (own.length_ns >= LONG * most_ns).then_some((own, others))
}
