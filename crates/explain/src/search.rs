//! What a search for the highest rate found.

use record::{Point, Run, Search, Severity};
use units::OpsPerSecond;

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
        _ => sentence += ", the highest rate that was tried",
    }
    if let Some(edge) = search.edge_per_s {
        sentence += &format!("; the edge is probably near {}", per_s(edge));
    }
    if search.ceiling_per_s > 0.0 {
        let part = percent(kept / search.ceiling_per_s);
        sentence += &format!(". That is {part} of the {} of a closed loop", per_s(search.ceiling_per_s));
    }
    let (severity, remedy) = match (search.complete, search.confirmed, &search.broken_by) {
        (false, ..) => (Severity::Warning, "The search was not carried to its end: search again."),
        (_, _, Some(by)) if by == "client limited" => (
            Severity::Warning,
            "This machine was late above that rate, so that the storage may keep more: use a larger one, or several.",
        ),
        (_, false, _) => (
            Severity::Warning,
            "It did not hold again when it was tried once more: the target changes. Search again, or allow more time.",
        ),
        _ => (Severity::Note, "It held again as it was and after a rest."),
    };
    let draft = Draft::new(Code::SloEdge, severity, sentence + ".").remedy(remedy);
    let draft = draft.number("kept_per_s", kept).number("ceiling_per_s", search.ceiling_per_s);
    let draft = draft.number("broken_per_s", search.broken_per_s.unwrap_or(f64::NAN));
    Some(draft.number("edge_per_s", search.edge_per_s.unwrap_or(f64::NAN)))
}

pub(crate) fn unkept(run: &Run) -> Option<Draft> {
    let search = run.search.as_ref().filter(|search| search.kept_per_s.is_none())?;
    let lowest = search.ladder.iter().map(|rung| rung.rate_per_s).fold(f64::INFINITY, f64::min);
    if !lowest.is_finite() {
        return None;
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

pub(crate) fn hysteresis(run: &Run) -> Option<Draft> {
    let search = run.search.as_ref()?;
    let (kept, after) = (search.kept_per_s?, search.after_overload_per_s?);
    let recovery = search.recovery_s.map_or_else(String::new, |seconds| {
        format!(" A light load was answered as before {seconds:.0} s after an overload at the latest.")
    });
    let after_words =
        if after > 0.0 { format!("only {}", per_s(after)) } else { "no rate that was tried".to_owned() };
    let sentence =
        format!("Straight after an overload {after_words} keeps it, not {}.{recovery}", per_s(kept));
    let draft = Draft::new(Code::SloHysteresis, Severity::Warning, sentence)
        .remedy("Plan for the lower rate, or keep the load from ever going above the edge.");
    Some(draft.number("kept_per_s", kept).number("after_overload_per_s", after))
}
