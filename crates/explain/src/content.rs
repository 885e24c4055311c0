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

/// Whether reads of `workload` met so much that had never been written that its figures may be those of holes.
pub(crate) fn is_mostly_unwritten(
    run: &Run,
    history: &History,
    point: &Point,
    workload: &WorkloadResult,
) -> bool {
    unwritten(run, history, point, workload).is_some_and(|draft| draft.severity() > Severity::Note)
}

pub(crate) fn unwritten(
    run: &Run,
    history: &History,
    point: &Point,
    workload: &WorkloadResult,
) -> Option<Draft> {
    if moved_by(workload, record::Op::Read) == 0 {
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
        // A virtual disk says something of its media, and it means nothing.
        let is_virtual = run.environment.facts.get(fact::HYPERVISOR).is_some_and(|name| name != "none");
        let rotates =
            !is_virtual && target.facts.get(fact::ROTATIONAL).is_some_and(|rotates| rotates == "yes");
        // A hole is never read from the media. Zeros may be data, and a rotating disk reads them as it reads anything.
        let severity = match () {
            () if holes >= MOSTLY_NOTHING => Severity::Invalid,
            () if holes < SOME && rotates => Severity::Note,
            () => Severity::Warning,
        };
        let (told, address) = (percent(part.min(1.0)), &target.address);
        // Where the file system knows what it has data of, what lacks nothing was written.
        let sentence = match missing == 0 && target.facts.contains_key(fact::UNWRITTEN) {
            true => format!(
                "About {told} of {address} are written zeros: {held}. A device, or a layer before it, that keeps no zeros answers such reads \
                 without its media."
            ),
            false => format!(
                "About {told} of {address} had never been written: {held}. Reads of unwritten blocks need not reach the media."
            ),
        };
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
    if moved_by(workload, record::Op::Read) == 0 {
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
    if moved_by(workload, record::Op::Read) == 0 {
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
    if moved_by(workload, record::Op::Write) == 0 {
        return None;
    }
    if workload.spec.content == Content::Zeros {
        let sentence = "Only zeros were written: many devices and file systems store no data for them.";
        let draft = Draft::new(Code::CompressibleContent, Severity::Warning, sentence);
        return Some(draft.remedy("Set `content = \"random\"`."));
    }
    if workload.spec.content == Content::Reused {
        let sentence = "The same data was written again and again: what deduplicates stores it once.";
        let draft = Draft::new(Code::CompressibleContent, Severity::Note, sentence);
        return Some(draft.remedy("Set `content = \"random\"` where the device may deduplicate."));
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

#[cfg(test)]
mod tests {
    use record::sample::{self, Stream};

    use super::*;

    /// One point of `op` on a target of 64 GiB with these facts.
    fn run(op: &'static str, facts: &[(&str, &str)]) -> Run {
        let stream = Stream { op, size_bytes: 4096, per_s: 1_000, median_ns: 400_000, spread: 0.1 };
        let mut run =
            sample::run("quick", vec![sample::point(0, "p", vec![sample::workload("main", &[stream])])]);
        run.targets[0]
            .facts
            .extend(facts.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())));
        run
    }

    type Check = fn(&Run, &History, &Point, &WorkloadResult) -> Option<Draft>;

    fn of(check: Check, run: &Run) -> Option<record::Finding> {
        let point = run.points.last()?;
        check(run, &History::of(run), point, &point.workloads[0]).map(Draft::about_run)
    }

    #[test]
    fn a_sample_is_some_of_at_least_one_block() {
        for (text, held) in
            [("3 of 60", Some((3, 60))), ("0 of 1", Some((0, 1))), ("0 of 0", None), ("3", None)]
        {
            let run = run("read", &[(fact::ZEROS, text)]);
            assert_eq!((sample(&run.targets[0], fact::ZEROS), is_looked_at(&run)), (held, held.is_some()));
        }
    }

    #[test]
    fn what_was_never_written_is_told_from_a_twentieth_on_and_where_most_is_it_is_invalid() {
        let severity = |zeros: &str, holes: Option<&str>, rotates: &str| {
            let mut facts = vec![(fact::ZEROS, zeros), (fact::ROTATIONAL, rotates)];
            facts.extend(holes.map(|holes| (fact::UNWRITTEN, holes)));
            of(unwritten, &run("read", &facts)).map(|finding| finding.severity)
        };
        assert_eq!(
            [2, 3, 60].map(|some| severity(&format!("{some} of 60"), None, "no")),
            [None, Some(Severity::Warning), Some(Severity::Warning)]
        );
        assert_eq!(severity("60 of 60", None, "yes"), Some(Severity::Note));
        // Of 64 GiB a twentieth is 3.2 GiB.
        assert_eq!(severity("0 of 60", Some("3276MiB"), "yes"), None);
        assert_eq!(severity("0 of 60", Some("3277MiB"), "yes"), Some(Severity::Warning));
        assert_eq!(severity("3 of 60", Some("3276MiB"), "yes"), Some(Severity::Note));
        assert_eq!(severity("0 of 60", Some("32767MiB"), "yes"), Some(Severity::Warning));
        assert_eq!(severity("0 of 60", Some("32GiB"), "yes"), Some(Severity::Invalid));
        assert_eq!(of(unwritten, &run("write", &[(fact::ZEROS, "60 of 60")])), None, "nothing is read");
    }

    #[test]
    fn zeros_that_were_written_are_told_as_such_and_a_virtual_disk_does_not_say_that_it_rotates() {
        let mut written =
            run("read", &[(fact::ZEROS, "60 of 60"), (fact::UNWRITTEN, "0B"), (fact::ROTATIONAL, "yes")]);
        let finding = of(unwritten, &written).expect("all of it is zeros");
        assert!(
            finding.sentence.starts_with("About 100 % of /mnt/array are written zeros: 60 of 60"),
            "{}",
            finding.sentence
        );
        assert_eq!(finding.severity, Severity::Note, "a disk reads them as it reads anything");
        written.environment.facts.insert(fact::HYPERVISOR.into(), "kvm".into());
        assert_eq!(of(unwritten, &written).map(|finding| finding.severity), Some(Severity::Warning));
    }

    #[test]
    fn of_several_targets_the_one_with_most_unwritten_is_told_with_its_numbers() {
        let mut run = run("read", &[(fact::ZEROS, "30 of 60"), (fact::UNWRITTEN, "16GiB")]);
        let mut other = run.targets[0].clone();
        other.address = "/mnt/other".into();
        other.facts.insert(fact::ZEROS.into(), "15 of 60".into());
        run.targets.insert(0, other);
        let finding = of(unwritten, &run).expect("a quarter and a half were never written");
        assert_eq!(
            finding.sentence,
            "About 50 % of /mnt/array had never been written: the file system held no data for 16 GiB of 64 GiB, and 30 \
             of 60 sampled blocks were all zeros. Reads of unwritten blocks need not reach the media."
        );
        let numbers: Vec<(&str, f64)> =
            finding.numbers.iter().map(|(key, value)| (key.as_str(), *value)).collect();
        let bytes = (16u64 << 30) as f64;
        assert_eq!(
            numbers,
            [("looked_at_blocks", 60.0), ("never_written_bytes", bytes), ("zero_blocks", 30.0)]
        );
        let over = self::run("read", &[(fact::ZEROS, "0 of 60"), (fact::UNWRITTEN, "65GiB")]);
        assert!(of(unwritten, &over).is_some_and(|finding| finding.sentence.starts_with("About 100 % of")));
    }

    #[test]
    fn once_half_of_a_target_is_written_what_it_held_before_says_little() {
        let facts = [(fact::ZEROS, "60 of 60"), (fact::INFORMATION, "2.0"), (fact::REPEATS, "60 of 60")];
        for check in [unwritten, compressible_reads, repeating_reads] as [Check; 3] {
            let after = |written: u64| {
                let mut run = run("read", &facts);
                let mut before = self::run("write", &[]).points.remove(0);
                before.workloads[0].totals[0].bytes = written;
                run.points[0].index = 1;
                run.points.insert(0, before);
                of(check, &run).is_some()
            };
            assert_eq!((after((32 << 30) - 1), after(32 << 30)), (true, false));
            let mut filled = run("read", &facts);
            let mut state = Point { complete: true, ..filled.points[0].clone() };
            state.state.insert("fill".into(), "1".into());
            state.workloads.clear();
            filled.points[0].index = 1;
            filled.points.insert(0, state);
            assert_eq!(of(check, &filled), None, "the run has filled it");
        }
    }

    #[test]
    fn reads_compress_below_seven_bits_a_byte_and_repeat_from_a_twentieth_on() {
        let bits = |bits: &str| of(compressible_reads, &run("read", &[(fact::INFORMATION, bits)]));
        assert_eq!(bits("7.0"), None);
        assert_eq!(bits("6.9").map(|finding| finding.numbers["bits_per_byte"]), Some(6.9));
        assert_eq!(of(compressible_reads, &run("write", &[(fact::INFORMATION, "2.0")])), None);
        let repeats = |repeats: &str| of(repeating_reads, &run("read", &[(fact::REPEATS, repeats)]));
        assert_eq!(repeats("2 of 60"), None);
        let finding = repeats("3 of 60").expect("a twentieth");
        assert_eq!((finding.numbers["repeated_blocks"], finding.numbers["looked_at_blocks"]), (3.0, 60.0));
        assert_eq!(of(repeating_reads, &run("write", &[(fact::REPEATS, "60 of 60")])), None);
        let mut two = run("read", &[(fact::REPEATS, "20 of 60"), (fact::INFORMATION, "6.0")]);
        let mut other = two.targets[0].clone();
        other.facts.insert(fact::REPEATS.into(), "15 of 30".into());
        other.facts.insert(fact::INFORMATION.into(), "5.0".into());
        two.targets.insert(0, other);
        assert_eq!(of(repeating_reads, &two).map(|finding| finding.numbers["repeated_blocks"]), Some(15.0));
        assert_eq!(of(compressible_reads, &two).map(|finding| finding.numbers["bits_per_byte"]), Some(5.0));
    }

    #[test]
    fn written_data_is_told_where_it_compresses_or_deduplicates_or_is_zeros() {
        let written = |op: &'static str, keys: &[(&str, &str)]| {
            let mut run = run(op, &[]);
            for (key, value) in keys {
                run.points[0].workloads[0].spec.set(key, value).unwrap();
            }
            of(|run, _, point, workload| compressible_writes(run, point, workload), &run)
        };
        assert_eq!(written("write", &[]), None);
        assert_eq!(written("write", &[("compress", "1:1"), ("dedupe", "1:1")]), None);
        let ratios = |keys: &[(&str, &str)]| {
            let finding = written("write", keys).expect("it compresses or deduplicates");
            assert_eq!(finding.severity, Severity::Note);
            (finding.numbers["compress_ratio"], finding.numbers["dedupe_ratio"])
        };
        assert_eq!(ratios(&[("compress", "1.1:1")]), (1.1, 1.0));
        assert_eq!(ratios(&[("dedupe", "3:1")]), (1.0, 3.0));
        let zeros = written("write", &[("content", "zeros")]).expect("they are zeros");
        assert_eq!((zeros.severity, zeros.numbers.len()), (Severity::Warning, 0));
        assert_eq!(written("read", &[("content", "zeros"), ("compress", "2:1")]), None);
    }
}
