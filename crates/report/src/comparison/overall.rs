//! What a comparison comes to, in a sentence for each side.

use record::{Compared, Comparison, Verdict};

use super::figures::{change, figure_name, percent};
use super::name_of;
use crate::words::{counted, harmless};

/// `Overall: B is better than A in 3 of 6 figures and worse in none; the largest change is IOPS of 4 KiB, +497 %.`
///
/// Counts what `rows` has, which is what a reader sees, but for rates that the plan set. Empty without rows.
pub(super) fn overall(comparison: &Comparison, rows: &[&Compared]) -> Vec<String> {
    let of_side = |side: u32| -> Vec<&Compared> {
        let own = rows.iter().copied().filter(|row| row.side == side);
        own.filter(|row| row.verdict != Verdict::Offered).collect()
    };
    let sides = (1u32..).take(comparison.sides.len().saturating_sub(1));
    sides.filter_map(|side| sentence(comparison, side, &of_side(side))).collect()
}

fn sentence(comparison: &Comparison, side: u32, rows: &[&Compared]) -> Option<String> {
    let first = rows.first()?;
    let (base, own) = (name_of(comparison, 0), name_of(comparison, side));
    if comparison.is_doubted(first) {
        return Some(format!(
            "Overall: no verdict on {own} against {base}: see `Not comparable` for what is in doubt."
        ));
    }
    if let Some(loads) = comparison.mixed() {
        return Some(format!(
            "Overall: no verdict on {own} against {base}: their loads differ as well ({}).",
            harmless(&loads)
        ));
    }
    if rows.iter().all(|row| row.low.is_none()) {
        return Some(format!("Overall: no verdict on {own} against {base}: no change has a CI."));
    }
    let all = counted(rows.len(), "figure");
    let said = match (of(rows, Verdict::Better), of(rows, Verdict::Worse)) {
        (0, 0) => undecided(comparison, rows, &base, &own),
        (better, 0) => format!("{own} is better than {base} in {better} of {all} and worse in none"),
        (0, worse) => format!("{own} is worse than {base} in {worse} of {all} and better in none"),
        (better, worse) => {
            format!("mixed: {own} is better than {base} in {better} of {all} and worse in {worse}")
        }
    };
    let largest = largest(rows).map(|told| format!("; the largest change is {told}")).unwrap_or_default();
    Some(format!("Overall: {said}{largest}."))
}

fn of(rows: &[&Compared], verdict: Verdict) -> usize {
    rows.iter().filter(|row| row.verdict == verdict).count()
}

/// Nothing differs: because all is equivalent, or because too little was measured.
fn undecided(comparison: &Comparison, rows: &[&Compared], base: &str, own: &str) -> String {
    let (equal, open) = (of(rows, Verdict::Equivalent), of(rows, Verdict::Inconclusive));
    let margin = percent(comparison.margin);
    if let Some(slight) = slight(rows) {
        let count = counted(rows.len(), "figure");
        let equal = if open == 0 { "all".into() } else { format!("{equal} of {count}") };
        return format!(
            "{own} is {slight}, within the ± {margin} that counts as equal; {equal} are equivalent"
        );
    }
    match (equal, open) {
        (_, 0) => format!("{own} and {base} are equivalent within ± {margin}"),
        (0, _) => format!("no difference between {own} and {base} is shown, nor that they are equal"),
        _ => format!(
            "no difference between {own} and {base} is shown; {equal} of {} are equivalent within ± {margin}",
            counted(rows.len(), "figure")
        ),
    }
}

/// The first figure that differs by less than counts: `1.4 % worse in IOPS of rr (95 % CI -2.0 % to -0.82 %)`.
fn slight(rows: &[&Compared]) -> Option<String> {
    let known = |row: &&Compared| row.verdict == Verdict::Equivalent;
    rows.iter().copied().filter(known).find_map(|row| {
        let (low, high) = row.low.zip(row.high)?;
        let is_more = (low > 1.0 || high < 1.0).then_some(low > 1.0)?;
        let side = if is_more == (row.unit != "ns") { "better" } else { "worse" };
        let size = percent((row.ratio - 1.0).abs());
        let of = harmless(&format!("{} of {}", figure_name(&row.metric), row.cell));
        Some(format!("{size} {side} in {of} (95 % CI {} to {})", change(low), change(high)))
    })
}

/// Of what differs, the change that is largest as a factor: `IOPS of 4 KiB, +497 %`.
fn largest(rows: &[&Compared]) -> Option<String> {
    let differs = rows.iter().filter(|row| matches!(row.verdict, Verdict::Better | Verdict::Worse));
    let size = |row: &&&Compared| row.ratio.ln().abs();
    let most = differs.reduce(|most, row| if size(&row) > size(&most) { row } else { most })?;
    Some(harmless(&format!("{} of {}, {}", figure_name(&most.metric), most.cell, change(most.ratio))))
}
