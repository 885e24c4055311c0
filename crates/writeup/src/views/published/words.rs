//! The words of a published figure: what it is of, how it was asked for, and whether it holds.

use campaign::CheckedFigure;
use chart::Unit;
use record::{ClaimKind, level_name};
use report::distinct;

/// Whether it holds, in words.
pub(super) fn holds(figure: &CheckedFigure) -> String {
    let word = figure.holds.map_or("inconclusive", |holds| if holds { "yes" } else { "no" });
    if figure.counts() { word.into() } else { format!("{word}; does not count") }
}

/// Which mark the model's answer has.
pub(super) fn series(figure: &CheckedFigure) -> usize {
    match (figure.counts(), figure.case.fits.is_empty()) {
        (false, _) => 3,
        (true, true) => 1,
        (true, false) => 2,
    }
}

/// How the model came to its answer, and whether it counts.
pub(super) fn standing(figure: &CheckedFigure) -> String {
    match (figure.counts(), figure.case.fits.as_str()) {
        (false, _) => format!("does not count: {}", figure.case.listed),
        (true, "") => "foretold".into(),
        (true, fits) => format!("fitted: {fits}"),
    }
}

/// Whether a statement has a value of its own, and is not an order or an equality alone.
pub(super) fn has_value(figure: &CheckedFigure) -> bool {
    match figure.case.kind {
        ClaimKind::Order => figure.published > 1.0,
        ClaimKind::Equal => false,
        _ => true,
    }
}

/// `at most + 10 %, MB/s`: with what the published figure leaves open, so that nobody takes a model beyond it for a
/// mistake of the table.
pub(super) fn claimed(figure: &CheckedFigure) -> String {
    let sign = match figure.case.kind {
        ClaimKind::Least => " − ",
        ClaimKind::Most | ClaimKind::Equal => " + ",
        ClaimKind::Figure => " ± ",
        ClaimKind::Order => "",
    };
    let open = match figure.case.tolerance {
        tolerance if tolerance > 0.0 && !sign.is_empty() => {
            format!("{sign}{}", Unit::Share.written(tolerance))
        }
        _ => String::new(),
    };
    match figure.metric.as_str() {
        "iops" | "mb_per_s" | "work_rate" => {
            format!("{}{open}, {}", relation(figure), measure(&figure.metric))
        }
        _ => format!("{}{open}", relation(figure)),
    }
}

fn relation(figure: &CheckedFigure) -> &'static str {
    match figure.case.kind {
        ClaimKind::Figure => "the same",
        ClaimKind::Least => "at least",
        ClaimKind::Most => "at most",
        ClaimKind::Order if has_value(figure) => "each is ahead of the next: ratio at least",
        ClaimKind::Order => "each is ahead of the next: ratio above 1",
        ClaimKind::Equal => "all the same: ratio of largest to smallest at most 1",
    }
}

/// `RAID 10, disks 6, protocol iscsi`, of several `… against …`.
pub(super) fn configurations(figure: &CheckedFigure) -> String {
    distinct(figure.case.arrays.iter().map(|array| configuration(array))).join("; against ")
}

/// The options of an address as people say them; the array where it has none.
pub(super) fn configuration(address: &str) -> String {
    let Some((name, options)) = address.split_once('?') else { return address.to_owned() };
    let words = options.split('&').map(|option| match option.split_once('=') {
        Some(("protocol", level)) => level.to_owned(),
        Some((option, level)) => level_name(option, level),
        None => option.to_owned(),
    });
    format!("{name}: {}", words.collect::<Vec<_>>().join(", "))
}

/// What a figure is of, as at an axis.
pub(super) fn measure(metric: &str) -> &'static str {
    match metric {
        "iops" => "IOPS",
        "mb_per_s" => "MB/s",
        "work_rate" => "rate of a member",
        "mean" => "mean latency",
        "p50" => "p50 latency",
        "p99" => "p99 latency",
        "time" => "time",
        "share" => "share",
        "count" => "knee, in requests in flight",
        _ => "ratio",
    }
}

pub(super) fn unit(metric: &str) -> Unit {
    match metric {
        "iops" => Unit::PerSecond,
        "mb_per_s" | "work_rate" => Unit::BytesPerSecond,
        "mean" | "p50" | "p99" | "time" => Unit::Nanos,
        "share" => Unit::Share,
        "count" => Unit::Count,
        _ => Unit::Ratio,
    }
}
