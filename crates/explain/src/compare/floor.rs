//! What a percentile is not below, where too little was measured for its interval.
//!
//! **Invariant:** it holds however requests depend on each other; a sharper one may be known.

use record::{Metric, Op, Ops};
use stats::Histogram;
use stats::exceedance::quantile_floor;

use super::cells::Cell;
use super::objectives::ONE_SIDED;

/// Nanoseconds that the percentile of the cell's response times is not below, one-sided with 97.5 %; `None` of other
/// figures, and of percentiles up to 97.5, of which the times alone say nothing.
pub(super) fn of_responses(cell: &Cell<'_>, metric: Metric) -> Option<f64> {
    of(cell, metric, false)
}

/// The same of service times, where they are apart from the time that requests waited for their turn.
pub(super) fn of_services(cell: &Cell<'_>, metric: Metric) -> Option<f64> {
    of(cell, metric, true)
}

fn of(cell: &Cell<'_>, metric: Metric, of_service: bool) -> Option<f64> {
    let Metric::Quantile(q) = metric else { return None };
    Some(quantile_floor(&times(cell, of_service)?, q, ONE_SIDED)?.get() as f64)
}

/// All times of the cell's operation, of all its measurements; `None` where none is known.
pub(super) fn times(cell: &Cell<'_>, of_service: bool) -> Option<Histogram> {
    let classes = cell.measured().iter().flat_map(|one| &one.workload.classes);
    let own = classes.filter(|class| match cell.key.op {
        Ops::All => class.op != Op::Flush,
        one => Ops::from(class.op) == one,
    });
    let times = own.filter_map(|class| match &class.service {
        Some(service) if of_service => service.to_stats(),
        _ => class.response.to_stats(),
    });
    Histogram::merged(times)
}
