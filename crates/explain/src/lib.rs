//! Findings: what the evidence in a record supports, one sentence each, with its numbers and what to do about it.
//!
//! [`judge`] puts findings and grades into a record. [`findings`] reads a finished record and nothing else, so that an
//! old record can be judged by new rules. [`compare`] compares records with each other, [`model`] one with the
//! figures of a model.
//!
//! **Invariant:** no finding without evidence: where a fact or a series is absent nothing is concluded from it.
//! Nothing here draws.

mod bookkeeping;
mod caches;
mod campaign;
mod carry_over;
mod client;
mod code;
mod company;
pub mod compare;
mod content;
mod draft;
mod evidence;
mod failures;
mod grade;
mod history;
mod limits;
pub mod model;
mod parts;
mod proof;
mod ranks;
mod samples;
mod saturation;
mod search;
mod settings;
mod steady;
mod unequal;
mod what_if;
mod working_set;
mod writes;

pub use code::Code;
pub use grade::{CHECKS, CheckAbout, judge, weights};
pub use limits::settle::{Untried, is_open, left, open_points, settled, unsettled, untried, untried_depths};
pub use parts::Parts;
pub use settings::avoidable;
pub use what_if::what_if;

use record::{Finding, Point, Run, WorkloadResult, World};

use draft::Draft;
use history::History;
use limits::Loads;

type OfRun = fn(&Run) -> Option<Draft>;
type OfPoint = fn(&Run, &Point) -> Option<Draft>;
type OfPointAmong = fn(&Run, &Loads<'_>, &Point) -> Option<Draft>;
type OfWorkload = fn(&Run, &Point, &WorkloadResult) -> Option<Draft>;
type OfWorkloadAfter = fn(&Run, &History, &Point, &WorkloadResult) -> Option<Draft>;

/// About the run as a whole.
const RUN: [OfRun; 12] = [
    failures::interrupted,
    campaign::state_not_held,
    company::virtual_machine,
    company::settings_not_modelled,
    company::unused_space,
    search::edge,
    search::unkept,
    search::hysteresis,
    search::write_cache,
    search::recovery,
    steady::rounds_not_steady,
    steady::rounds_drift,
];

/// About a point, in either world.
const POINT: [OfPointAmong; 5] = [
    |_, _, point| writes::cache_filling(point).or_else(|| writes::slc_filling(point)),
    |run, _, point| caches::answered_by_host(run, point),
    |run, _, point| carry_over::first_point_again(run, point),
    |run, loads, point| writes::with_slc_full(point, limits::of_point(run, loads, point)),
    // What memory of the hosts answers says nothing of the array's cache.
    |run, _, point| match caches::answered_by_host(run, point) {
        Some(told) if told.severity() == record::Severity::Warning => None,
        _ => limits::imposed::by_cache(run, point),
    },
];

/// About a workload, in either world.
const WORKLOAD: [OfWorkload; 21] = [
    failures::data_corrupt,
    failures::data_verified,
    failures::errors,
    failures::gave_up,
    failures::nothing_measured,
    bookkeeping::conservation,
    bookkeeping::little_law,
    samples::few_samples,
    samples::percentiles_not_modelled,
    samples::short_run,
    samples::wide_interval,
    steady::silence,
    steady::drift,
    steady::trend,
    steady::window_not_steady,
    carry_over::from_the_point_before,
    company::lag,
    company::depth_not_reached,
    company::not_issued,
    company::fallback,
    writes::flush_ends_before_drives,
];

/// About a point of real storage.
const REAL_POINT: [OfPoint; 14] = [
    caches::reads_from_cache,
    caches::loop_through_page_cache,
    company::neighbours,
    company::cpu_saturated,
    ranks::host_limit,
    ranks::unequal_paths,
    ranks::straggler,
    unequal::responses,
    ranks::rank_clocks,
    company::cpu_quota,
    company::cpu_stolen,
    company::throttled,
    company::clock_changed,
    writes::dirty_pages,
];

/// About a workload on real storage, some of them by what came before it.
const REAL_WORKLOAD: [OfWorkloadAfter; 10] = [
    |run, _, point, workload| caches::buffered(run, point, workload),
    |run, history, _, workload| caches::span_fits_cache(run, history, workload),
    |run, _, point, workload| client::limited(run, point, workload),
    |_, _, point, workload| client::content_cost(point, workload),
    |run, _, point, workload| writes::drive_write_cache(run, point, workload),
    content::unwritten,
    content::compressible_reads,
    content::repeating_reads,
    |run, _, point, workload| content::compressible_writes(run, point, workload),
    writes::not_preconditioned,
];

/// What the evidence in `run` supports, in the order of its points; findings about the run come first.
///
/// Findings that the record already has are not read: the caller replaces them. A run on `null:` has one finding that
/// no storage was measured, and none that only holds for storage.
pub fn findings(run: &Run) -> Vec<Finding> {
    findings_with(run, &History::of(run))
}

/// As [`findings`], with the history of `run`.
fn findings_with(run: &Run, history: &History) -> Vec<Finding> {
    let mut found: Vec<Finding> = RUN.iter().filter_map(|check| check(run)).map(Draft::about_run).collect();
    let on_nothing = evidence::on_nothing(run);
    if on_nothing {
        found.push(company::null_target().about_run());
    }
    found.extend(saturation::findings(run));
    found.extend(working_set::findings(run));
    let real = run.world == World::Host && !on_nothing;
    let mut repeats_differ = samples::repeats_differ(run);
    let loads = Loads::of(run);
    for point in run.points.iter().filter(|point| search::is_result(run, point)) {
        found.extend(repeats_differ.remove(&point.index).map(|draft| draft.about(point)));
        let among = POINT.iter().filter_map(|check| check(run, &loads, point));
        let direct = real.then(|| caches::direct_not_honoured(run, history, point)).flatten();
        let of_real = REAL_POINT.iter().filter(|_| real).filter_map(|check| check(run, point));
        found.extend(among.chain(direct).chain(of_real).map(|draft| draft.about(point)));
        for workload in &point.workloads {
            let own = WORKLOAD.iter().filter_map(|check| check(run, point, workload));
            let after = REAL_WORKLOAD.iter().filter(|_| real);
            let drafts = own.chain(after.filter_map(|check| check(run, history, point, workload)));
            found.extend(drafts.map(|draft| draft.about_workload(point, workload)));
        }
    }
    debug_assert!(
        found.is_sorted_by_key(|finding| finding.point.is_some()),
        "those about the run come first"
    );
    found
}
