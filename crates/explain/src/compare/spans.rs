//! Random requests that were spread over more storage on one side than on another.

use units::Bytes;

use super::Group;
use super::cells::Cell;

/// Spans that differ by no more than this part are called equal.
const SAME: f64 = 0.05;

/// That the spans of random requests differ between sides, which makes seeks longer and caches of less use; `None` where
/// they do not, and where a side has several.
pub(super) fn note(groups: &[Group<'_>], cells: &[Vec<Cell<'_>>]) -> Option<String> {
    let (base, others) = cells.split_first()?;
    let (first, other, side) = base.iter().filter(|cell| cell.total).find_map(|cell| {
        let own = span(cell)?;
        let differs = |other: &Cell<'_>| span(other).filter(|span| is_another(own, *span));
        let of_side = |(side, cells): (usize, &Vec<Cell<'_>>)| {
            let span = cells.iter().find(|other| other.key == cell.key).and_then(differs)?;
            Some((own, span, side))
        };
        (1..).zip(others).find_map(of_side)
    })?;
    let (a, b) = (&groups[0].name, &groups[side].name);
    let equal = first.min(other);
    Some(format!(
        "Random requests spread over {first} on {a} and over {other} on {b}: seeks and cache hits differ by that alone. Measure \
         both with `--set span={}` for what the storage itself does.",
        whole(equal)
    ))
}

/// The span of a cell of random requests, where all its measurements have the same.
fn span(cell: &Cell<'_>) -> Option<Bytes> {
    let is_random = |one: &super::measured::Measured<'_>| one.workload.spec.pattern.is_random();
    let (first, more) = cell.measured().split_first()?;
    let own = first.workload.span_bytes.filter(|_| is_random(first))?;
    more.iter().all(|one| one.workload.span_bytes == Some(own)).then_some(Bytes::new(own))
}

fn is_another(one: Bytes, other: Bytes) -> bool {
    let (one, other) = (one.as_f64(), other.as_f64());
    (one - other).abs() > SAME * one.min(other)
}

/// The span in whole GiB or MiB below it, as a plan has it.
fn whole(span: Bytes) -> String {
    match span.get() >> 30 {
        0 => format!("{}MiB", (span.get() >> 20).max(1)),
        gib => format!("{gib}GiB"),
    }
}

#[cfg(test)]
mod tests {
    use record::sample::{self, Stream};

    use super::super::cells;
    use super::*;

    #[test]
    fn spans_that_differ_are_told_with_the_smaller_one_to_measure_both_by() {
        let stream = Stream { op: "read", size_bytes: 4096, per_s: 100, median_ns: 400_000, spread: 0.1 };
        let run = |gib: u64| {
            let mut workload = sample::workload("load", &[stream]);
            workload.span_bytes = Some(gib << 30);
            workload.spec.pattern = spec::Pattern::Random;
            sample::run("p", vec![sample::point(0, "p", vec![workload])])
        };
        let said = |one: u64, other: u64| {
            let (one, other) = (run(one), run(other));
            let group = |name: &str, run| Group { name: name.into(), runs: vec![run] };
            let groups = [group("A", &one), group("B", &other)];
            note(&groups, &[cells::of(&[&one]), cells::of(&[&other])])
        };
        let told = said(900, 1_800).expect("they differ");
        assert!(
            told.contains("over 900 GiB on A and over 1.76 TiB on B") && told.contains("span=900GiB"),
            "{told}"
        );
        assert_eq!(said(900, 910), None, "by 1 %");
    }
}
