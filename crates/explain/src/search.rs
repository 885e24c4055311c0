//! What a search for the highest rate found.

use record::names::search::GENERATOR as CLIENT;
use record::{Depths, Point, Run, Rung, Search, Severity};
use units::{Bytes, Nanos, OpsPerSecond};

use crate::Code;
use crate::draft::{Draft, percent, several};
use crate::evidence::merged;

/// Whether a point is a result by itself. Of a search those are only the trials at the maximum sustained rate: others
/// were meant to go beyond it.
pub(crate) fn is_result(run: &Run, point: &Point) -> bool {
    let Some(search) = &run.search else { return true };
    let kept = search
        .ladder
        .iter()
        .filter(|rung| rung.verdict == "pass" && Some(rung.rate_per_s) == search.met_per_s);
    kept.flat_map(|rung| &rung.points).any(|index| *index == point.index)
}

/// `2,909/s`, `64.3/s`.
fn per_s(rate: f64) -> String {
    let shown = if rate >= 100.0 { rate.round() } else { rate };
    format!("{}/s", OpsPerSecond::new(shown))
}

/// `p99<5ms and mean<2ms`.
fn slo(search: &Search) -> String {
    search.slos.join(" and ")
}

pub(crate) fn edge(run: &Run) -> Option<Draft> {
    let search = run.search.as_ref()?;
    let kept = search.met_per_s?;
    if let Some(depths) = &search.depths {
        return deepest(search, depths, kept);
    }
    let mut sentence = match (search.violated_per_s, &search.violated_by) {
        (Some(broken), Some(by)) => format!(
            "Maximum sustained rate {}{} within the SLO {}; not at {} ({})",
            // Rates between the two were not tried.
            if search.complete { "" } else { "at least " },
            per_s(kept),
            slo(search),
            per_s(broken),
            by
        ),
        _ => {
            let bound = if search.to_per_s == Some(kept) { "allowed" } else { "tried" };
            format!(
                "At least {} is sustained within the SLO {}, the highest rate {bound}",
                per_s(kept),
                slo(search)
            )
        }
    };
    if let Some(edge) = search.edge_per_s {
        sentence += &format!("; the limit is estimated at {}", per_s(edge));
    }
    if search.ceiling_per_s > 0.0 {
        let part = percent(kept / search.ceiling_per_s);
        sentence +=
            &format!(". That is {part} of the closed-loop ceiling of {}", per_s(search.ceiling_per_s));
    }
    let (severity, mut remedy) = held(search);
    if let Some(slots) = bound_by_slots(run, search) {
        sentence +=
            &format!("; at the rate that broke it requests waited for one of the load's {slots} slots");
        remedy += " The queue depth of the load may be the limit: search with a greater `--depth`.";
    }
    let draft = Draft::new(Code::SloMaximum, severity, sentence + ".").remedy(remedy);
    let draft = draft.number("met_per_s", kept).number("ceiling_per_s", search.ceiling_per_s);
    let draft = draft.number("confirm_needs_s", search.confirm_needs_s.unwrap_or(f64::NAN));
    let draft = draft.number("violated_per_s", search.violated_per_s.unwrap_or(f64::NAN));
    Some(draft.number("edge_per_s", search.edge_per_s.unwrap_or(f64::NAN)))
}

/// A rate below this part of what a closed loop did is bounded by something else than what bounds that.
const FAR_BELOW: f64 = 0.5;

/// Requests that wait for so much of their p99 response before they are issued wait for a slot of the load.
const LATE: f64 = 0.3;

/// The slots of the load, where requests waited for one at the lowest rate that broke the SLO, far below what the closed loop did.
fn bound_by_slots(run: &Run, search: &Search) -> Option<u64> {
    let broken = search.violated_per_s.filter(|broken| *broken < FAR_BELOW * search.ceiling_per_s)?;
    let rung = search.ladder.iter().find(|rung| rung.rate_per_s == broken && rung.verdict == "fail")?;
    let point = run.points.iter().find(|point| rung.points.contains(&point.index))?;
    let classes = || point.workloads.iter().flat_map(|workload| &workload.classes);
    let late = merged(classes().filter_map(|class| class.lag.as_ref()))?.quantile(0.99)?;
    let response = merged(classes().map(|class| &class.response))?.quantile(0.99)?;
    let slots =
        |workload: &record::WorkloadResult| u64::from(workload.spec.depth) * u64::from(workload.spec.workers);
    (late.as_secs_f64() >= LATE * response.as_secs_f64()).then(|| point.workloads.iter().map(slots).sum())
}

/// The same of a search for the deepest queue.
fn deepest(search: &Search, depths: &Depths, kept: f64) -> Option<Draft> {
    let met = depths.met?;
    let least = if search.complete { "" } else { "at least " };
    let mut sentence =
        format!("Deepest queue within the SLO {}: {least}{met}, at {}", slo(search), per_s(kept));
    match (depths.violated, &search.violated_by) {
        (Some(broken), Some(by)) => sentence += &format!("; not {broken} ({by})"),
        _ if met == depths.most => sentence += ", the deepest allowed",
        _ => {}
    }
    if let Some(budget_s) = search.budget_s.filter(|_| search.out_of_time) {
        sentence += &format!("; not searched further: its time of {} was over", time(budget_s));
    }
    let (severity, remedy) = match (search.complete, search.confirmed) {
        (false, _) => (Severity::Warning, "Allow the search more time."),
        (true, true) => (
            Severity::Note,
            "It was judged by single windows, each as it was seen; `fathom search` finds the rate that is kept, with its \
             confidence.",
        ),
        (true, false) => (Severity::Warning, "Search again: the depth did not meet the SLO a second time."),
    };
    let draft = Draft::new(Code::SloMaximum, severity, sentence + ".").remedy(remedy);
    let draft = draft.number("met_per_s", kept).number("met_depth", f64::from(met));
    Some(draft.number("violated_depth", depths.violated.map_or(f64::NAN, f64::from)))
}

/// How well the rate is confirmed, and what to do about it.
fn held(search: &Search) -> (Severity, String) {
    let again = || search.ladder.iter().filter(|rung| is_again(search, rung));
    let seconds = again().map(|rung| rung.seconds).fold(0.0, f64::max);
    if search.out_of_time {
        return (
            Severity::Warning,
            "Allow the search more time: it may be more, and was not confirmed.".into(),
        );
    }
    if !search.complete {
        return (Severity::Warning, "Search again: this search did not run to its end.".into());
    }
    if search.violated_by.as_deref() == Some(CLIENT) {
        let words = "Use a larger machine, or several: the load generator was saturated above that rate, and the \
                     storage may do more.";
        return (Severity::Warning, words.into());
    }
    let needs =
        search.confirm_needs_s.map_or_else(String::new, |needs| format!(" ({} required)", time(needs)));
    if search.confirmed {
        let words = format!(
            "Plan with this rate: further trials of {}{needs} confirmed it, also after a rest.",
            time(seconds)
        );
        return (Severity::Note, words);
    }
    if again().any(|rung| rung.verdict == "fail") || again().next().is_none() {
        let words = "Search again, or allow more time: no further trial confirmed this rate, so the target may change \
                     over time.";
        return (Severity::Warning, words.into());
    }
    if let Some(lower) = search.confirmed_per_s {
        let words = format!(
            "Plan with {}: further trials confirmed it, also after a rest; at the higher rate trials of {}{needs} did not \
             fail, but did not pass each time.",
            per_s(lower),
            time(seconds)
        );
        return (Severity::Note, words);
    }
    let words = format!(
        "Allow more time with `--max-trial`, or plan with a lower rate: in trials of {}{needs} it did not fail, but did \
         not pass each time.",
        time(seconds)
    );
    (Severity::Warning, words)
}

/// Whether a rate was tried to confirm the one that was kept.
fn is_again(search: &Search, rung: &Rung) -> bool {
    Some(rung.rate_per_s) == search.met_per_s && ["confirm", "after a rest"].contains(&rung.purpose.as_str())
}

fn time(seconds: f64) -> String {
    Nanos::from_secs_f64(seconds.ceil()).to_string()
}

pub(crate) fn unkept(run: &Run) -> Option<Draft> {
    let search = run.search.as_ref().filter(|search| search.met_per_s.is_none())?;
    if !search.complete {
        return None;
    }
    let lowest = search.ladder.iter().map(|rung| rung.rate_per_s).fold(f64::INFINITY, f64::min);
    if !lowest.is_finite() {
        return None;
    }
    if search.depths.is_some() {
        let sentence = format!("No queue depth met the SLO {}, not even one request in flight.", slo(search));
        let draft = Draft::new(Code::SloViolated, Severity::Warning, sentence);
        return Some(
            draft
                .remedy("Relax the SLO: with one request in flight none waits for another.")
                .number("lowest_per_s", lowest),
        );
    }
    if let Some(draft) = generator_saturated(search, lowest) {
        return Some(draft);
    }
    let sentence = format!(
        "No rate met the SLO {}: {} were tried, from {} on.",
        slo(search),
        several(search.ladder.len() as u64, "rate"),
        per_s(lowest)
    );
    let draft = Draft::new(Code::SloViolated, Severity::Warning, sentence)
        .remedy("Relax the SLO, or measure the latency at queue depth 1: no rate has a lower one.");
    Some(draft.number("lowest_per_s", lowest))
}

/// With the load generator saturated at the lowest rate that failed, nothing is known of the storage.
fn generator_saturated(search: &Search, lowest_per_s: f64) -> Option<Draft> {
    let lowest =
        search.ladder.iter().find(|rung| rung.rate_per_s == lowest_per_s && rung.verdict == "fail")?;
    if lowest.cause.as_deref() != Some(CLIENT) {
        return None;
    }
    let sentence = format!(
        "Load generator saturated at {}, the lowest rate tried: whether the storage meets the SLO {} is not known.",
        per_s(lowest_per_s),
        slo(search)
    );
    let draft = Draft::new(Code::SloViolated, Severity::Warning, sentence).remedy(
        "Use more `workers`, stop other programs, or use a faster machine. Or search lower rates with `--from` and \
         `--to`.",
    );
    Some(draft.number("lowest_per_s", lowest_per_s))
}

pub(crate) fn hysteresis(run: &Run) -> Option<Draft> {
    let search = run.search.as_ref()?;
    let (kept, after) = (search.met_per_s?, search.after_overload_per_s?);
    let after_words =
        if after > 0.0 { format!("only {} meets", per_s(after)) } else { "no rate tried meets".to_owned() };
    let recovery = search.recovery_s.filter(|seconds| *seconds > 0.0);
    let recovery = recovery.map_or_else(String::new, |seconds| {
        format!(" After each failed rate the latency of a light load recovered within {}.", time(seconds))
    });
    let sentence = format!(
        "Hysteresis: straight after an overload {after_words} the SLO, before it {} does.{recovery}",
        per_s(kept)
    );
    let draft = Draft::new(Code::SloHysteresis, Severity::Warning, sentence)
        .remedy("Plan for the lower rate, or keep the load below the higher one at all times.");
    Some(draft.number("met_per_s", kept).number("after_overload_per_s", after))
}

/// Writes: whether the rate is that of the storage or of a write cache.
pub(crate) fn write_cache(run: &Run) -> Option<Draft> {
    let search = run.search.as_ref()?;
    let (cache, kept) = (search.write_cache.as_ref()?, search.met_per_s?);
    let source = match cache.basis.as_str() {
        "given" => "as given",
        "array" => "from the array's description",
        _ => "detected from slower writes",
    };
    let draft = match (cache.bytes.map(Bytes::new), cache.overrun) {
        (Some(Bytes::ZERO), _) => return None,
        (Some(size), true) => {
            let filled = cache.fill_s.map_or_else(String::new, |fill_s| format!(" for {}", time(fill_s)));
            let sentence = format!(
                "The write cache of {size} ({source}) was filled{filled} before each trial of a rate that keeps it \
                 full, so {} is the rate of the storage behind it.",
                per_s(kept)
            );
            Draft::new(Code::SloWriteCache, Severity::Note, sentence)
                .remedy("To measure bursts into the cache, which may be faster, skip the filling: `--write-cache 0B`.")
                .number("write_cache_bytes", size.get() as f64)
        }
        (Some(size), false) => {
            let sentence = format!(
                "{} is a rate of the write cache: the cache of {size} ({source}) was not full during the trials.",
                per_s(kept)
            );
            Draft::new(Code::SloWriteCache, Severity::Warning, sentence)
                .remedy(
                    "Fill the cache: omit `--write-cache`, and give `--max-trial` the time that filling takes.",
                )
                .number("write_cache_bytes", size.get() as f64)
        }
        (None, _) => {
            let sentence = format!(
                "No write cache was detected: the rate did not fall while {} were written at full speed.",
                Bytes::new(cache.written_bytes)
            );
            Draft::new(Code::SloWriteCache, Severity::Note, sentence)
                .remedy("If the storage has a larger one, give its size with `--write-cache SIZE`.")
        }
    };
    Some(draft.number("written_bytes", cache.written_bytes as f64))
}

/// A rate after which the target did not recover.
pub(crate) fn recovery(run: &Run) -> Option<Draft> {
    let search = run.search.as_ref()?;
    let late = search.ladder.iter().find(|rung| rung.recovery.is_some_and(|recovery| !recovery.complete))?;
    let waited_s = late.recovery?.seconds;
    let sentence = format!(
        "After {} the latency of a light load did not recover within {}: the next rates were tried on a target that \
         was still busy.",
        per_s(late.rate_per_s),
        time(waited_s)
    );
    let draft = Draft::new(Code::SloRecovery, Severity::Warning, sentence)
        .remedy(
            "Find what the target still does, such as flushing a cache or collecting garbage, and search below that \
             rate with `--to`.",
        );
    Some(draft.number("waited_s", waited_s).number("rate_per_s", late.rate_per_s))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_told_to_the_request_and_slow_ones_to_a_tenth() {
        assert_eq!([2_909.4, 100.4, 100.0, 64.32].map(per_s), ["2,909/s", "100/s", "100/s", "64.3/s"]);
    }

    #[test]
    fn times_are_rounded_up_to_the_second() {
        assert_eq!([0.2, 30.0, 30.1, 90.0].map(time), ["1.00 s", "30.0 s", "31.0 s", "90.0 s"]);
    }
}
