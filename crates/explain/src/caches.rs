//! Whether storage served the requests, or memory in front of it.

use record::names::{fact, series};
use record::{Engine, Point, Run, Severity, WorkloadResult, World};
use spec::OpenSync;
use units::convert::truncated;
use units::{Bytes, Share};

use crate::Code;
use crate::content;
use crate::draft::{Draft, percent};
use crate::evidence::{counted, file_system, is_direct, known_caches, moved};
use crate::history::History;

/// File systems whose files are in memory and nowhere else.
const IN_MEMORY: [&str; 2] = ["tmpfs", "ramfs"];
/// File systems that accept direct I/O and may still serve it from memory: of this machine, or of the one that
/// serves them. Sources: OpenZFS, `zfsprops(7)`, `direct`; Linux, `Documentation/filesystems/9p.rst` and
/// `fuse-io.rst`.
const MAY_CACHE: [&str; 4] = ["zfs", "9p", "virtiofs", "fuse"];

/// Whether the workload acts on files, not on blocks.
fn of_files(workload: &WorkloadResult) -> bool {
    workload.spec.tree.is_some()
}

fn in_memory(run: &Run) -> Option<&str> {
    run.targets.iter().filter_map(file_system).find(|name| IN_MEMORY.contains(name))
}

pub(crate) fn buffered(run: &Run, _: &Point, workload: &WorkloadResult) -> Option<Draft> {
    if is_direct(workload) {
        return None;
    }
    let remedy = match of_files(workload) {
        true => {
            "Use more files than fit in memory, drop the caches between phases, or set `fsync = \"each\"`."
        }
        false => "Set `direct = true` to measure the storage.",
    };
    if let Some(name) = in_memory(run) {
        let sentence = format!("The files are on {name}, which is memory: no storage was measured.");
        return Some(
            Draft::new(Code::Buffered, Severity::Invalid, sentence).remedy("Choose a target on storage."),
        );
    }
    if syncs_all(workload) {
        let sentence = "Buffered I/O, of which each write is synced before it returns: it goes through the page cache of this machine, \
                        and on to the device.";
        return Some(Draft::new(Code::Buffered, Severity::Note, sentence).remedy(remedy));
    }
    let ram = run.environment.ram_bytes;
    let span = workload.span_bytes?;
    let (severity, sentence) = if span < ram {
        let sentence = format!(
            "Buffered I/O: the working set of {} fits the memory of {}, so the page cache served much of it.",
            Bytes::new(span),
            Bytes::new(ram)
        );
        (Severity::Warning, sentence)
    } else {
        (Severity::Note, "Buffered I/O: the page cache of this machine is part of what was measured.".into())
    };
    let draft = Draft::new(Code::Buffered, severity, sentence).remedy(remedy);
    Some(draft.number("span_bytes", span as f64).number("ram_bytes", ram as f64))
}

/// Whether a workload does nothing but write blocks, each durable when it returns: no page cache answers those.
pub(crate) fn syncs_all(workload: &WorkloadResult) -> bool {
    let is_write = workload.spec.mix.reads == Share::NONE && workload.spec.tree.is_none();
    is_write && workload.spec.durability.open != OpenSync::None && workload.engine.name != Engine::Mmap
}

/// With so much of what was asked answered by the host the figure of a virtual array is that of the host.
const BY_HOST: f64 = 0.5;

/// What the page cache of the hosts answered of the requests of a virtual array; only there it is counted.
pub(crate) fn answered_by_host(run: &Run, point: &Point) -> Option<Draft> {
    let breakdown = point.breakdown.as_ref().filter(|_| run.world == World::Array)?;
    let is_buffered = |one: &WorkloadResult| !one.spec.direct && !of_files(one);
    if point.workloads.is_empty() || !point.workloads.iter().all(is_buffered) {
        return None;
    }
    // A host without a page cache answers nothing, whatever was asked for.
    let answered = breakdown.host_traffic?.answered_by_pages()?;
    let (severity, sentence) = match answered >= BY_HOST {
        true => (
            Severity::Warning,
            format!(
                "Buffered I/O: the page cache of the hosts answered {} of the bytes without the array: this is the speed of their \
                 memory, and not of the array.",
                percent(answered)
            ),
        ),
        false => (
            Severity::Note,
            format!(
                "Buffered I/O: the page cache of the hosts is part of what was measured; it answered {} of the bytes without the array.",
                percent(answered)
            ),
        ),
    };
    let draft =
        Draft::new(Code::Buffered, severity, sentence).remedy("Set `direct = true` to measure the array.");
    Some(draft.number("answered_by_host_share", answered))
}

pub(crate) fn span_fits_cache(run: &Run, history: &History, workload: &WorkloadResult) -> Option<Draft> {
    let span = workload.span_bytes.filter(|span| *span > 0 && !history.is_probe)?;
    let caches = known_caches(run);
    let largest =
        caches.iter().max_by_key(|cache| cache.size_bytes).filter(|cache| span <= cache.size_bytes)?;
    let sentence = format!(
        "The working set of {} fits the {} of the {}: requests may not have reached the media.",
        Bytes::new(span),
        Bytes::new(largest.size_bytes),
        largest.name
    );
    let remedy = format!(
        "Use a working set larger than {}: `span = \"{}\"`.",
        Bytes::new(largest.size_bytes),
        several_times(largest.size_bytes)
    );
    let draft = Draft::new(Code::CacheSuspected, Severity::Warning, sentence).remedy(remedy);
    Some(draft.number("span_bytes", span as f64).number("cache_bytes", largest.size_bytes as f64))
}

pub(crate) fn loop_through_page_cache(run: &Run, point: &Point) -> Option<Draft> {
    let through =
        |target: &record::Target| target.facts.get(fact::LOOP_DIRECT).is_some_and(|direct| direct == "no");
    if point.workloads.is_empty() || !run.targets.iter().any(through) {
        return None;
    }
    let sentence = "The loop device reads and writes its backing file through the page cache of this machine, \
                    even for direct I/O.";
    let draft = Draft::new(Code::CacheSuspected, Severity::Warning, sentence);
    Some(draft.remedy("Set it up with `losetup --direct-io=on`."))
}

/// Four times as much: then at most a quarter of random requests find their data in the cache.
fn several_times(bytes: u64) -> String {
    Bytes::new(bytes.saturating_mul(4)).exact()
}

/// The kernel's counters and the program's may differ so much: by requests in flight at either end, and by
/// what the sampling interval leaves out.
const SHORT: f64 = 0.05;

/// The part of the bytes moved that the devices did not count, where it is more than chance; `None` where nothing was
/// moved, of which no part is a number above zero.
fn unseen(moved: u64, counted: u64) -> Option<f64> {
    let part = 1.0 - counted as f64 / moved as f64;
    (part >= SHORT).then_some(part)
}

/// Of nearly all the next lower tenth: what the device did see was not nothing.
fn unseen_percent(part: f64) -> String {
    match part {
        0.999.. if part < 1.0 => "> 99.9 %".into(),
        0.995..1.0 => format!("{:.1} %", (part * 1000.0).floor() / 10.0),
        _ => percent(part),
    }
}

pub(crate) fn reads_from_cache(_: &Run, point: &Point) -> Option<Draft> {
    if point.workloads.iter().all(is_direct) {
        return None;
    }
    let (issued, seen) = (moved(point, record::Op::Read), counted(point)?.read_bytes);
    let part = unseen(issued, seen)?;
    let sentence = format!(
        "{} of the reads never reached the device: the workload read {}, the kernel counted {}.",
        unseen_percent(part),
        Bytes::new(issued),
        Bytes::new(seen)
    );
    let draft = Draft::new(Code::CacheSuspected, Severity::Warning, sentence).remedy(
        "Set `direct = true`, or use a working set (`span`) several times the memory of this machine.",
    );
    Some(draft.number("read_bytes", issued as f64).number("device_read_bytes", seen as f64))
}

pub(crate) fn direct_not_honoured(run: &Run, history: &History, point: &Point) -> Option<Draft> {
    if point.workloads.is_empty() || point.workloads.iter().any(|workload| !is_direct(workload)) {
        return None;
    }
    if let Some(name) = in_memory(run) {
        let sentence = format!("Direct I/O was requested, but the files are on {name}, which is memory.");
        let draft = Draft::new(Code::DirectNotHonoured, Severity::Invalid, sentence);
        return Some(draft.remedy("Choose a target on storage."));
    }
    // Reads of what was never written need not reach the device, and are told as that.
    let is_hole = |workload| content::is_mostly_unwritten(run, history, point, workload);
    let may_lack_reads = point.workloads.iter().any(is_hole);
    by_counters(point, may_lack_reads).or_else(|| by_page_cache(point)).or_else(|| by_file_system(run))
}

/// By how much the page cache grew during a point: direct requests leave nothing there.
fn by_page_cache(point: &Point) -> Option<Draft> {
    /// Less is what others read of the same file meanwhile, or the file system of its own.
    const LEAST: f64 = 1e6;
    let held = point.series.iter().find(|series| series.name == series::MEMORY_FILES)?;
    let grown = held.values.last()? - held.values.first()?;
    let issued = moved(point, record::Op::Read) + moved(point, record::Op::Write);
    let span: u64 = point.workloads.iter().filter_map(|workload| workload.span_bytes).sum();
    let most = if span > 0 { issued.min(span) } else { issued };
    if grown < LEAST || grown < SHORT * most as f64 {
        return None;
    }
    let sentence = format!(
        "Direct I/O was requested, but the page cache holds {} more of the target than before; the workload moved {}.",
        Bytes::new(truncated(grown)),
        Bytes::new(issued)
    );
    let draft = Draft::new(Code::DirectNotHonoured, Severity::Invalid, sentence).remedy(
        "Use another file system, or the device itself: this one serves direct requests from memory.",
    );
    Some(draft.number("issued_bytes", issued as f64).number("cached_bytes", grown))
}

fn by_counters(point: &Point, may_lack_reads: bool) -> Option<Draft> {
    let seen = counted(point)?;
    let pairs = [
        ("reads", moved(point, record::Op::Read), seen.read_bytes),
        ("writes", moved(point, record::Op::Write), seen.write_bytes),
    ];
    let short =
        |(what, issued, seen): (&'static str, u64, u64)| Some((unseen(issued, seen)?, what, issued, seen));
    let told = pairs.into_iter().skip(usize::from(may_lack_reads));
    let (part, what, issued, seen) = told.into_iter().find_map(short)?;
    let sentence = format!(
        "Direct I/O was requested, but {} of the {what} never reached the device: the workload moved {}, the kernel \
         counted {}.",
        unseen_percent(part),
        Bytes::new(issued),
        Bytes::new(seen)
    );
    let draft = Draft::new(Code::DirectNotHonoured, Severity::Invalid, sentence).remedy(
        "Use another file system, or the device itself: this one, or a layer below it, serves requests from memory or \
         compresses.",
    );
    Some(draft.number("issued_bytes", issued as f64).number("device_bytes", seen as f64))
}

fn by_file_system(run: &Run) -> Option<Draft> {
    let may_cache = |name: &&str| MAY_CACHE.iter().any(|known| name.split('.').next() == Some(known));
    let name = run.targets.iter().filter_map(file_system).find(may_cache)?;
    let sentence = format!("{name} accepts direct I/O and may still serve it from memory.");
    let draft = Draft::new(Code::DirectNotHonoured, Severity::Warning, sentence);
    Some(draft.remedy(
        "Measure the device itself, or compare with a working set several times the memory on both sides.",
    ))
}

#[cfg(test)]
mod tests {
    use record::sample::{self, Stream};

    use super::*;

    fn run() -> Run {
        let stream = |op| Stream { op, size_bytes: 4096, per_s: 1_000, median_ns: 400_000, spread: 0.5 };
        let workload = sample::workload("main", &[stream("read"), stream("write")]);
        sample::run("quick", vec![sample::point(0, "4k", vec![workload])])
    }

    #[test]
    fn what_devices_did_not_see_is_told_beyond_a_twentieth() {
        assert_eq!((unseen(1_000, 951), unseen(1_000, 1_200), unseen(0, 0)), (None, None, None));
        assert!((unseen(1_000, 949).expect("more than a twentieth") - 0.051).abs() < 1e-12);
        assert_eq!((unseen(1_000, 0), several_times(1 << 30)), (Some(1.0), "4GiB".into()));
    }

    #[test]
    fn the_page_cache_may_grow_by_a_megabyte_or_a_twentieth_of_what_was_moved() {
        let grown = |bytes: f64, span: u64| {
            let mut point = run().points.remove(0);
            point.workloads[0].span_bytes = Some(span);
            let mut held = point.series[0].clone();
            (held.name, held.workload) = (series::MEMORY_FILES.into(), None);
            (held.at_ns, held.values) = (vec![0, 1], vec![5e6, 5e6 + bytes]);
            point.series = vec![held];
            by_page_cache(&point).map(|draft| draft.about_run().numbers)
        };
        // 245,760,000 bytes were moved: a twentieth are 12,288,000.
        assert!(grown(12_287_999.0, 0).is_none());
        let numbers = grown(12_288_000.0, 0).expect("it is a twentieth");
        assert_eq!((numbers["issued_bytes"], numbers["cached_bytes"]), (245_760_000.0, 12_288_000.0));
        // No more than the span can be held.
        assert!(grown(1_999_999.0, 40_000_000).is_none());
        assert!(grown(2_000_000.0, 40_000_000).is_some());
        assert!(grown(999_999.0, 4096).is_none() && grown(1e6, 4096).is_some());
        assert!(grown(-1e9, 4096).is_none());
    }

    #[test]
    fn the_span_decides_whether_buffered_requests_are_a_note_or_a_warning() {
        let told = |span: u64, ram: u64| {
            let mut run = run();
            run.environment.ram_bytes = ram;
            run.points[0].workloads[0].span_bytes = Some(span);
            run.points[0].workloads[0].spec.direct = false;
            buffered(&run, &run.points[0], &run.points[0].workloads[0])
                .map(|draft| draft.about_run().severity)
        };
        assert_eq!(told(4095, 4096), Some(Severity::Warning));
        assert_eq!(told(4096, 4096), Some(Severity::Note));
        assert_eq!(told(4095, 0), Some(Severity::Note), "how much memory there is is not known");
    }

    #[test]
    fn of_a_file_with_holes_it_is_said_that_nothing_was_written_and_not_that_a_cache_served_the_reads() {
        let mut run = run();
        run.points[0].devices[0].read_sectors = 0;
        let codes = |run: &Run| -> Vec<String> {
            crate::findings(run).into_iter().map(|finding| finding.code).collect()
        };
        let told = |codes: &[String], code: Code| codes.iter().any(|one| one == code.name());
        assert!(told(&codes(&run), Code::DirectNotHonoured));
        let size = Bytes::new(run.targets[0].size_bytes).to_string();
        let facts = [(fact::ZEROS, "64 of 64".to_owned()), (fact::UNWRITTEN, size)];
        run.targets[0].facts.extend(facts.map(|(key, value)| (key.to_owned(), value)));
        let codes = codes(&run);
        assert!(told(&codes, Code::UnwrittenData) && !told(&codes, Code::DirectNotHonoured), "{codes:?}");
    }

    #[test]
    fn counters_that_fall_short_are_told_of_reads_first_and_with_their_figures() {
        let mut run = run();
        run.points[0].devices[0].write_sectors /= 2;
        let writes = by_counters(&run.points[0], false).expect("half is missing").about_run();
        assert!(writes.sentence.contains("50 % of the writes never reached the device"), "{writes:?}");
        assert_eq!(
            (writes.numbers["issued_bytes"], writes.numbers["device_bytes"]),
            (122_880_000.0, 61_440_000.0)
        );
        run.points[0].devices[0].read_sectors = 8;
        let nearly = by_counters(&run.points[0], false).expect("nearly all is missing").about_run();
        assert!(nearly.sentence.contains("> 99.9 % of the reads never reached the device"), "{nearly:?}");
        run.points[0].devices[0].read_sectors = 0;
        assert!(
            by_counters(&run.points[0], true).is_some_and(|one| one.about_run().sentence.contains("writes"))
        );
        let reads = by_counters(&run.points[0], false).expect("all is missing").about_run();
        assert!(reads.sentence.contains("100 % of the reads never reached the device"), "{reads:?}");
        let rank = |rank: u32, host: &str| record::RankResult {
            rank,
            host: host.into(),
            workers: 1,
            ops: 0,
            bytes: 0,
            ..record::RankResult::default()
        };
        run.points[0].ranks = vec![rank(0, "a"), rank(1, "b")];
        assert!(by_counters(&run.points[0], false).is_none(), "the counters are those of one of two hosts");
        run.points[0].ranks = vec![rank(0, "a"), rank(1, "a")];
        assert!(by_counters(&run.points[0], false).is_some());
        let workload = &mut run.points[0].workloads[0];
        workload.spec.direct = false;
        let buffered = reads_from_cache(&run, &run.points[0]).expect("all is missing").about_run();
        assert_eq!(
            (buffered.numbers["read_bytes"], buffered.numbers["device_read_bytes"]),
            (122_880_000.0, 0.0)
        );
    }

    #[test]
    fn a_twentieth_that_no_device_counted_is_told_and_nothing_of_what_did_not_move() {
        assert_eq!((unseen(1_000, 960), unseen(1_000, 1_200)), (None, None));
        assert!(unseen(1_000, 940).is_some_and(|part| (part - 0.06).abs() < 1e-9));
        assert_eq!((unseen(0, 0), unseen(0, 512)), (None, None));
    }
}
