//! Cache sizes from response times: random reads at queue depth 1 over working sets of growing size.

use std::collections::BTreeMap;

use record::{Cache, Finding, Op, Point, PointKind, Run, Severity};
use spec::Pattern;
use stats::working_set::{SPANS_LEAST, SpanPoint, Step, steps};
use units::convert::truncated;
use units::{Bytes, Nanos};

use crate::Code;
use crate::draft::Draft;

/// One request at a time, and what the edges of the window add.
const ONE: f64 = 1.1;

/// The name of caches that were detected in this way.
pub(crate) const NAME: &str = "cache seen in the response times";

/// The span and the mean response of random reads, one at a time; `None` for any other load.
fn span_point(point: &Point) -> Option<(u64, u64, f64)> {
    let [workload] = &point.workloads[..] else { return None };
    let [class] = &workload.classes[..] else { return None };
    let random = matches!(workload.spec.pattern, Pattern::Random | Pattern::RandomWithRepeats);
    let alone = point.kind == PointKind::Load && point.complete && workload.mean_in_flight <= ONE;
    if !random || !alone || class.op != Op::Read || class.service.is_some() {
        return None;
    }
    let response = workload.total()?.response.as_ref()?.mean_ns;
    Some((class.size_bytes, workload.span_bytes?, response))
}

/// Spans with their mean responses, of the request size with the most spans; repetitions are taken together.
fn spans(run: &Run) -> Vec<SpanPoint> {
    let mut by_size: BTreeMap<u64, BTreeMap<u64, Vec<f64>>> = BTreeMap::new();
    for (size, span, response) in run.points.iter().filter_map(span_point) {
        by_size.entry(size).or_default().entry(span).or_default().push(response);
    }
    let most = by_size.into_values().max_by_key(BTreeMap::len).unwrap_or_default();
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let spans: Vec<SpanPoint> =
        most.iter().map(|(span, values)| SpanPoint { span: *span as f64, response: mean(values) }).collect();
    debug_assert!(spans.is_sorted_by_key(|point| point.span), "steps are looked for from the smallest up");
    spans
}

/// Whether `run` looks for caches: then spans that fit them are meant.
pub(crate) fn is_probe(run: &Run) -> bool {
    spans(run).len() >= SPANS_LEAST
}

/// The caches that `run` detected, the smallest first.
pub(crate) fn caches(run: &Run) -> Vec<Cache> {
    let cache = |step: &Step| Cache { name: NAME.into(), size_bytes: truncated::<u64>(step.size) };
    let caches: Vec<Cache> = steps(&spans(run)).iter().map(cache).collect();
    debug_assert!(caches.is_sorted_by_key(|cache| cache.size_bytes));
    caches
}

/// One finding for each cache, or one that none was detected; nothing of a run that does not look for them.
pub(crate) fn findings(run: &Run) -> Vec<Finding> {
    let spans = spans(run);
    if spans.len() < SPANS_LEAST {
        return Vec::new();
    }
    let found = steps(&spans);
    match found.is_empty() {
        true => vec![none(&spans).about_run()],
        false => found.iter().map(|step| seen(step).about_run()).collect(),
    }
}

/// `512.00 MiB`, to the precision of the fit.
fn size(bytes: f64) -> Bytes {
    Bytes::new(truncated(bytes))
}

fn time(ns: f64) -> Nanos {
    Nanos::from_secs_f64(ns / 1e9)
}

fn seen(step: &Step) -> Draft {
    let sentence = format!(
        "Cache of about {} detected (95 % CI {} to {}): random reads take {} on a hit and {} on a miss.",
        size(step.size),
        size(step.interval.low),
        size(step.interval.high),
        time(step.before),
        time(step.after)
    );
    let remedy = format!(
        "To measure the storage behind it, use a working set many times its size: of random reads a quarter still hits at \
         four times (`span = \"{}MiB\"`), a twentieth at twenty.",
        (4.0 * step.size / 1_048_576.0).ceil()
    );
    let draft = Draft::new(Code::CacheSeen, Severity::Note, sentence).remedy(remedy);
    draft
        .number("size_bytes", step.size.round())
        .number("size_bytes_low", step.interval.low.round())
        .number("size_bytes_high", step.interval.high.round())
        .number("held_ns", step.before)
        .number("not_held_ns", step.after)
}

fn none(spans: &[SpanPoint]) -> Draft {
    let ends = |of: fn(&SpanPoint) -> f64| {
        spans
            .iter()
            .map(of)
            .fold((f64::INFINITY, 0.0f64), |(low, high), value| (low.min(value), high.max(value)))
    };
    let (least, most) = ends(|point| point.span);
    debug_assert!(least <= most, "there are spans");
    let (fastest, slowest) = ends(|point| point.response);
    let sentence = format!(
        "No cache detected between {} and {}: random reads take {} to {} at every working-set size.",
        size(least),
        size(most),
        time(fastest),
        time(slowest)
    );
    let draft = Draft::new(Code::CacheSeen, Severity::Note, sentence)
        .remedy("Test larger working sets if the storage may have more memory than that.");
    draft.number("span_bytes_least", least).number("span_bytes_most", most)
}

#[cfg(test)]
mod tests {
    use record::sample::{self, Stream};

    use super::*;

    #[test]
    fn only_random_reads_one_at_a_time_in_a_closed_loop_look_for_caches() {
        let looks = |change: fn(&mut Point)| {
            let stream =
                Stream { op: "read", size_bytes: 4096, per_s: 1_000, median_ns: 400_000, spread: 0.0 };
            let mut point = sample::point(0, "p", vec![sample::workload("main", &[stream])]);
            let workload = &mut point.workloads[0];
            workload.spec.pattern = Pattern::Random;
            (workload.mean_in_flight, workload.span_bytes) = (ONE, Some(1 << 30));
            change(&mut point);
            span_point(&point).map(|(size, span, _)| (size, span))
        };
        assert_eq!(looks(|_| {}), Some((4096, 1 << 30)));
        assert_eq!(looks(|point| point.workloads[0].spec.pattern = Pattern::Sequential), None);
        assert_eq!(looks(|point| point.workloads[0].mean_in_flight = 1.11), None);
        assert_eq!(looks(|point| point.workloads[0].classes[0].op = Op::Write), None);
        assert_eq!(
            looks(|point| {
                let class = &mut point.workloads[0].classes[0];
                class.service = Some(class.response.clone());
            }),
            None,
            "it has a schedule"
        );
        assert_eq!(looks(|point| point.workloads[0].span_bytes = None), None);
        assert_eq!(looks(|point| point.complete = false), None);
        assert_eq!(looks(|point| point.kind = PointKind::State), None);
    }

    #[test]
    fn sizes_are_whole_bytes_and_times_whole_nanoseconds() {
        assert_eq!((size(1_048_576.9), time(2_500.0)), (Bytes::new(1_048_576), Nanos::new(2_500)));
    }
}
