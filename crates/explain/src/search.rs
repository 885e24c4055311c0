//! What a search for the highest rate found.

use record::{Point, Run, Rung, Search, Severity};
use units::{Bytes, Nanos, OpsPerSecond};

use crate::Code;
use crate::draft::{Draft, percent, several};

/// Whether a point is a result by itself. Of a search those are only the looks at the rate that was kept: others were
/// meant to go too far.
pub(crate) fn is_result(run: &Run, point: &Point) -> bool {
    let Some(search) = &run.search else { return true };
    let kept = search
        .ladder
        .iter()
        .filter(|rung| rung.verdict == "pass" && Some(rung.rate_per_s) == search.kept_per_s);
    kept.flat_map(|rung| &rung.points).any(|index| *index == point.index)
}

/// `2,909/s`, `64.3/s`.
fn per_s(rate: f64) -> String {
    let shown = if rate < 100.0 { rate } else { rate.round() };
    format!("{}/s", OpsPerSecond::new(shown))
}

fn promises(search: &Search) -> String {
    search.promises.join(" and ")
}

pub(crate) fn edge(run: &Run) -> Option<Draft> {
    let search = run.search.as_ref()?;
    let kept = search.kept_per_s?;
    let mut sentence = format!("{} holds up to {}", promises(search), per_s(kept));
    match (search.broken_per_s, &search.broken_by) {
        (Some(broken), Some(by)) => {
            sentence += &format!(" and no longer at {}, where the cause is {by}", per_s(broken));
        }
        _ if search.to_per_s == Some(kept) => sentence += ", the highest rate that was allowed",
        _ => sentence += ", the highest rate that was tried",
    }
    if let Some(edge) = search.edge_per_s {
        sentence += &format!("; the edge is between the two, probably near {}", per_s(edge));
    }
    if search.ceiling_per_s > 0.0 {
        let part = percent(kept / search.ceiling_per_s);
        sentence += &format!(". That is {part} of the {} of a closed loop", per_s(search.ceiling_per_s));
    }
    let (severity, remedy) = held(search);
    let draft = Draft::new(Code::SloEdge, severity, sentence + ".").remedy(remedy);
    let draft = draft.number("kept_per_s", kept).number("ceiling_per_s", search.ceiling_per_s);
    let draft = draft.number("confirm_needs_s", search.confirm_needs_s.unwrap_or(f64::NAN));
    let draft = draft.number("broken_per_s", search.broken_per_s.unwrap_or(f64::NAN));
    Some(draft.number("edge_per_s", search.edge_per_s.unwrap_or(f64::NAN)))
}

/// How sure the rate that was kept is, and what to do about it.
fn held(search: &Search) -> (Severity, String) {
    let again = || search.ladder.iter().filter(|rung| is_again(search, rung));
    let seconds = again().map(|rung| rung.seconds).fold(0.0, f64::max);
    if !search.complete {
        return (Severity::Warning, "The search was not carried to its end: search again.".into());
    }
    if search.broken_by.as_deref() == Some("client limited") {
        let words = "This machine was late above that rate, so that the storage may keep more: use a larger one, or several.";
        return (Severity::Warning, words.into());
    }
    let needs = search
        .confirm_needs_s
        .map_or_else(String::new, |needs| format!(", where {} were needed", time(needs)));
    if search.confirmed {
        let words = format!("It held again as it was and after a rest, for {} each{needs}.", time(seconds));
        return (Severity::Note, words);
    }
    if again().any(|rung| rung.verdict == "fail") || again().next().is_none() {
        let words = "It did not hold again when it was tried once more: the target changes. Search again, or allow more time.";
        return (Severity::Warning, words.into());
    }
    let words = format!(
        "It did not fail when it was tried again for {}{needs}, and did not pass each time: allow more with \
         `--longest`, or plan with a little less.",
        time(seconds)
    );
    (Severity::Note, words)
}

/// Whether a rate was tried to confirm the one that was kept.
fn is_again(search: &Search, rung: &Rung) -> bool {
    Some(rung.rate_per_s) == search.kept_per_s && ["confirm", "after a rest"].contains(&rung.purpose.as_str())
}

fn time(seconds: f64) -> String {
    Nanos::from_secs_f64(seconds.ceil()).to_string()
}

pub(crate) fn unkept(run: &Run) -> Option<Draft> {
    let search = run.search.as_ref().filter(|search| search.kept_per_s.is_none())?;
    if !search.complete {
        return None;
    }
    let lowest = search.ladder.iter().map(|rung| rung.rate_per_s).fold(f64::INFINITY, f64::min);
    if !lowest.is_finite() {
        return None;
    }
    if let Some(draft) = generator_saturated(search, lowest) {
        return Some(draft);
    }
    let sentence = format!(
        "No rate was seen to keep {}: {} were tried, from {} on.",
        promises(search),
        several(search.ladder.len() as u64, "rate"),
        per_s(lowest)
    );
    let draft = Draft::new(Code::SloUnkept, Severity::Warning, sentence)
        .remedy("Promise less, or look at what one request at a time takes: no rate is below that.");
    Some(draft.number("lowest_per_s", lowest))
}

/// Where this machine was late at the lowest rate that failed, nothing is known of the storage.
fn generator_saturated(search: &Search, lowest_per_s: f64) -> Option<Draft> {
    let lowest =
        search.ladder.iter().find(|rung| rung.rate_per_s == lowest_per_s && rung.verdict == "fail")?;
    if lowest.cause.as_deref() != Some("client limited") {
        return None;
    }
    let sentence = format!(
        "The load generator was saturated at {} already, the lowest rate that was tried: whether the storage keeps {} is \
         not known.",
        per_s(lowest_per_s),
        promises(search)
    );
    let draft = Draft::new(Code::SloUnkept, Severity::Warning, sentence).remedy(
        "Give the generator more: more `workers`, fewer other programs, a faster machine. Or search lower rates with \
         `--from` and `--to`.",
    );
    Some(draft.number("lowest_per_s", lowest_per_s))
}

pub(crate) fn hysteresis(run: &Run) -> Option<Draft> {
    let search = run.search.as_ref()?;
    let (kept, after) = (search.kept_per_s?, search.after_overload_per_s?);
    let after_words =
        if after > 0.0 { format!("only {}", per_s(after)) } else { "no rate that was tried".to_owned() };
    let recovery = search.recovery_s.filter(|seconds| *seconds > 0.0);
    let recovery = recovery.map_or_else(String::new, |seconds| {
        format!(
            " A light load was answered as before {} after a rate that failed at the latest.",
            time(seconds)
        )
    });
    let sentence = format!(
        "The edge is another from above: straight after an overload {after_words} keeps it, and {} from below.{recovery}",
        per_s(kept)
    );
    let draft = Draft::new(Code::SloHysteresis, Severity::Warning, sentence)
        .remedy("Plan for the lower rate, or keep the load from ever going above the edge.");
    Some(draft.number("kept_per_s", kept).number("after_overload_per_s", after))
}

/// Writes: whose rate it is.
pub(crate) fn write_cache(run: &Run) -> Option<Draft> {
    let search = run.search.as_ref()?;
    let (cache, kept) = (search.write_cache.as_ref()?, search.kept_per_s?);
    let source = match cache.basis.as_str() {
        "given" => "as was said",
        "array" => "by the array's description",
        _ => "as was seen when writes became slower",
    };
    let draft = match (cache.bytes.map(Bytes::new), cache.overrun) {
        (Some(Bytes::ZERO), _) => return None,
        (Some(size), true) => {
            let filled = cache.fill_s.map_or_else(String::new, |fill_s| format!(" for {}", time(fill_s)));
            let sentence = format!(
                "The write cache holds {size}, {source}. It was filled{filled} before each rate, so that {} is what \
                 the storage behind it keeps.",
                per_s(kept)
            );
            Draft::new(Code::SloWriteCache, Severity::Note, sentence)
                .remedy("Bursts that the cache takes may be faster: `--write-cache 0B` does not fill it.")
                .number("write_cache_bytes", size.get() as f64)
        }
        (Some(size), false) => {
            let sentence = format!(
                "{} is within the write cache: it holds {size}, {source}, and was not full when the rates were looked at.",
                per_s(kept)
            );
            Draft::new(Code::SloWriteCache, Severity::Warning, sentence)
                .remedy(
                    "Let it be filled: leave `--write-cache` out, and give `--longest` the time that takes.",
                )
                .number("write_cache_bytes", size.get() as f64)
        }
        (None, _) => {
            let sentence = format!(
                "No write cache is known, and none was seen while {} were written as fast as it went: the rate did not fall.",
                Bytes::new(cache.written_bytes)
            );
            Draft::new(Code::SloWriteCache, Severity::Note, sentence).remedy(
                "A larger one would not have been seen: where there is one, say so with `--write-cache SIZE`.",
            )
        }
    };
    Some(draft.number("written_bytes", cache.written_bytes as f64))
}

/// A rate from which the target did not come back.
pub(crate) fn recovery(run: &Run) -> Option<Draft> {
    let search = run.search.as_ref()?;
    let late = search.ladder.iter().find(|rung| rung.recovery.is_some_and(|recovery| !recovery.complete))?;
    let waited_s = late.recovery?.seconds;
    let sentence = format!(
        "After {} a light load was not answered as before within {}: the rates that were tried next met a target that \
         was still busy with it.",
        per_s(late.rate_per_s),
        time(waited_s)
    );
    let draft = Draft::new(Code::SloRecovery, Severity::Warning, sentence)
        .remedy("Find what it still does, such as emptying a cache or collecting garbage, and search below that with `--to`.");
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
