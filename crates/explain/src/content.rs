//! The content of the data written and read.

use record::names::fact;
use record::{Point, Run, Severity, Target, WorkloadResult};
use spec::Content;
use units::Bytes;

use crate::Code;
use crate::draft::{Draft, percent};
use crate::evidence::moved_by;
use crate::history::History;

/// The part of a target without data from which a figure is one of nothing.
const MOSTLY_NOTHING: f64 = 0.5;
/// The part that a sample of sixty blocks detects: where a twentieth is zeros 19 of 20 samples show some.
const SOME: f64 = 0.05;
/// Bits of information in a byte below which a device that compresses has less to do. By blocks of 4 KiB the sources of
/// this program hold 4.8, the C library of a Linux distribution 5.6, and the same library compressed 7.97.
const COMPRESSES: f64 = 7.0;

/// What to do about data from before the run.
const OTHER_DATA: &str =
    "Compare only with runs on the same data, or fill the target with random data first.";

/// What a sample of a target held: blocks that `name` counts, and blocks.
fn sample(target: &Target, name: &str) -> Option<(u64, u64)> {
    let (some, blocks) = target.facts.get(name)?.split_once(" of ")?;
    Some((some.parse().ok()?, blocks.parse().ok().filter(|blocks| *blocks > 0)?))
}

/// Whether the content of every target was sampled before the load.
pub(crate) fn is_looked_at(run: &Run) -> bool {
    run.targets.iter().all(|target| sample(target, fact::ZEROS).is_some())
}

/// Whether so much was written up to the end of `point` that what was there before says little.
fn is_overwritten(history: &History, point: &Point, size: u64) -> bool {
    let before = history.before(point);
    before.fills > 0 || before.written as f64 >= MOSTLY_NOTHING * size as f64
}

pub(crate) fn unwritten(
    run: &Run,
    history: &History,
    point: &Point,
    workload: &WorkloadResult,
) -> Option<Draft> {
    if moved_by(workload, "read") == 0 {
        return None;
    }
    let draft = |target: &Target| {
        let (zeros, blocks) = sample(target, fact::ZEROS)?;
        let missing = target.facts.get(fact::UNWRITTEN).and_then(|bytes| bytes.parse::<Bytes>().ok());
        let missing = missing.unwrap_or_default().get();
        let holes = missing as f64 / target.size_bytes.max(1) as f64;
        let part = holes.max(zeros as f64 / blocks as f64);
        if part < SOME || is_overwritten(history, point, target.size_bytes) {
            return None;
        }
        let held = match missing {
            0 => format!("{zeros} of {blocks} sampled blocks were all zeros"),
            _ => format!(
                "the file system held no data for {} of {}, and {zeros} of {blocks} sampled blocks were all zeros",
                Bytes::new(missing),
                Bytes::new(target.size_bytes)
            ),
        };
        let rotates = target.facts.get(fact::ROTATIONAL).is_some_and(|rotates| rotates == "yes");
        // A hole is never read from the media. Zeros may be data, and a rotating disk reads them as it reads anything.
        let severity = match () {
            () if holes >= MOSTLY_NOTHING => Severity::Invalid,
            () if holes < SOME && rotates => Severity::Note,
            () => Severity::Warning,
        };
        let sentence = format!(
            "About {} of {} had never been written: {held}. Reads of unwritten blocks need not reach the media.",
            percent(part.min(1.0)),
            target.address
        );
        let draft = Draft::new(Code::UnwrittenData, severity, sentence)
            .remedy(
                "Write all of it first: use a phase with `state = \"prepare\"`, or a directory as the target.",
            )
            .number("zero_blocks", zeros as f64)
            .number("looked_at_blocks", blocks as f64);
        Some((part, draft.number("never_written_bytes", missing as f64)))
    };
    let worst = run.targets.iter().filter_map(draft).max_by(|one, two| one.0.total_cmp(&two.0));
    worst.map(|(_, draft)| draft)
}

pub(crate) fn compressible_reads(
    run: &Run,
    history: &History,
    point: &Point,
    workload: &WorkloadResult,
) -> Option<Draft> {
    if moved_by(workload, "read") == 0 {
        return None;
    }
    let held = |target: &Target| target.facts.get(fact::INFORMATION)?.parse::<f64>().ok();
    let old = run.targets.iter().filter(|target| !is_overwritten(history, point, target.size_bytes));
    let bits = old.filter_map(held).min_by(f64::total_cmp).filter(|bits| *bits < COMPRESSES)?;
    let sentence = format!(
        "The data read is compressible: {bits:.1} bits of information per byte. A device or file system that \
         compresses moves less than the workload."
    );
    let draft = Draft::new(Code::CompressibleContent, Severity::Note, sentence).remedy(OTHER_DATA);
    Some(draft.number("bits_per_byte", bits))
}

pub(crate) fn repeating_reads(
    run: &Run,
    history: &History,
    point: &Point,
    workload: &WorkloadResult,
) -> Option<Draft> {
    if moved_by(workload, "read") == 0 {
        return None;
    }
    let old = run.targets.iter().filter(|target| !is_overwritten(history, point, target.size_bytes));
    let samples = old.filter_map(|target| sample(target, fact::REPEATS));
    let part = |(repeats, blocks): (u64, u64)| repeats as f64 / blocks as f64;
    let (repeats, blocks) = samples.max_by(|one, two| part(*one).total_cmp(&part(*two)))?;
    if part((repeats, blocks)) < SOME {
        return None;
    }
    let sentence = format!(
        "The data read repeats: {repeats} of {blocks} sampled blocks equal another. A device or file system that \
         deduplicates reads less, and gets more cache hits."
    );
    let draft = Draft::new(Code::CompressibleContent, Severity::Note, sentence).remedy(OTHER_DATA);
    Some(draft.number("repeated_blocks", repeats as f64).number("looked_at_blocks", blocks as f64))
}

pub(crate) fn compressible_writes(_: &Run, _: &Point, workload: &WorkloadResult) -> Option<Draft> {
    if moved_by(workload, "write") == 0 {
        return None;
    }
    if workload.spec.content == Content::Zeros {
        let sentence = "Only zeros were written: many devices and file systems store no data for them.";
        let draft = Draft::new(Code::CompressibleContent, Severity::Warning, sentence);
        return Some(draft.remedy("Set `content = \"random\"`."));
    }
    let Content::Random { compress, dedupe } = workload.spec.content else { return None };
    if compress <= 1.0 && dedupe <= 1.0 {
        return None;
    }
    let sentence = format!(
        "The data written compresses {compress}:1 and deduplicates {dedupe}:1: a device that does so writes less than \
         the workload."
    );
    let draft = Draft::new(Code::CompressibleContent, Severity::Note, sentence);
    let draft = draft.remedy("Compare only with runs on the same content.");
    Some(draft.number("compress_ratio", compress).number("dedupe_ratio", dedupe))
}
