//! Storage, or memory in front of it.

use record::names::{fact, series};
use record::{Cache, Series, Severity};

use crate::{find, found, point, reads, set, workload, writes};

#[test]
fn the_page_cache_is_told_with_how_much_of_the_span_fits_memory() {
    let mut run = reads();
    assert!(find(&run, "buffered").is_none());
    set(&mut run, "direct", "false");
    assert_eq!(found(&run, "buffered").severity, Severity::Note);
    workload(&mut run).span_bytes = Some(8 << 20);
    let finding = found(&run, "buffered");
    assert_eq!(finding.severity, Severity::Warning);
    assert!(
        finding.sentence.contains("working set of 8 MiB fits the memory of 16 GiB"),
        "{}",
        finding.sentence
    );
}

#[test]
fn writes_that_are_synced_before_they_return_reach_the_device_through_the_page_cache() {
    let mut run = writes();
    set(&mut run, "direct", "false");
    set(&mut run, "reads", "0%");
    workload(&mut run).span_bytes = Some(8 << 20);
    assert_eq!(found(&run, "buffered").severity, Severity::Warning);
    set(&mut run, "sync", "dsync");
    let finding = found(&run, "buffered");
    assert_eq!(finding.severity, Severity::Note);
    assert!(finding.sentence.contains("each write is synced before it returns"), "{}", finding.sentence);
    explain::judge(&mut run);
    let checks = &run.points[0].grading.as_ref().expect("it is graded").checks;
    let direct = checks.iter().find(|check| check.name == "direct").expect("it is checked");
    assert_eq!(direct.outcome, record::Outcome::Passed, "{direct:?}");
    set(&mut run, "reads", "50%");
    assert_eq!(found(&run, "buffered").severity, Severity::Warning, "reads are answered from memory");
}

#[test]
fn what_the_hosts_of_a_virtual_array_answer_from_memory_is_not_the_speed_of_the_array() {
    // Nothing of this comes to a controller where the page cache holds all: no part of the array is in the breakdown then.
    let of = |[written, written_back]: [u64; 2], fetched: u64| {
        let mut run = reads();
        run.world = record::World::Array;
        set(&mut run, "direct", "false");
        point(&mut run).breakdown = Some(record::Breakdown {
            host_traffic: Some(record::HostTraffic {
                buffered_read_bytes: 1_000,
                buffered_written_bytes: written,
                fetched_bytes: fetched,
                written_back_bytes: written_back,
                ..record::HostTraffic::default()
            }),
            ..record::Breakdown::default()
        });
        run
    };
    let finding = found(&of([0, 0], 100), "buffered");
    assert_eq!(finding.severity, Severity::Warning);
    assert!(
        finding.sentence.contains("answered 90 % of the bytes without the array"),
        "{}",
        finding.sentence
    );
    assert_eq!(found(&of([0, 0], 900), "buffered").severity, Severity::Note);
    let held = of([0, 0], 0);
    assert!(found(&held, "buffered").sentence.contains("answered 100 % of the bytes"));
    let mut judged = held.clone();
    explain::judge(&mut judged);
    let grade = judged.points[0].grading.as_ref().expect("it is graded").grade;
    assert!(grade > record::Grade::B, "the array was not measured: {grade:?}");
    // What is fetched ahead of reads is no answer to writes that are all written back.
    assert_eq!(found(&of([9_000, 8_900], 2_000), "buffered").severity, Severity::Note);
    let mut direct = of([0, 0], 100);
    set(&mut direct, "direct", "true");
    assert!(find(&direct, "buffered").is_none());
}

#[test]
fn a_mapping_goes_through_the_page_cache_whatever_was_asked() {
    let mut run = reads();
    workload(&mut run).engine.name = record::Engine::Mmap;
    assert!(find(&run, "buffered").is_some());
}

#[test]
fn files_in_memory_are_no_storage_at_all() {
    let mut run = reads();
    run.targets[0].facts.insert(fact::FILE_SYSTEM.into(), "tmpfs".into());
    assert_eq!(found(&run, "direct-not-honoured").severity, Severity::Invalid);
    set(&mut run, "direct", "false");
    assert_eq!(found(&run, "buffered").severity, Severity::Invalid);
    assert!(find(&run, "direct-not-honoured").is_none());
}

#[test]
fn direct_reads_that_the_device_never_saw_were_not_direct() {
    let mut run = reads();
    let sectors = point(&mut run).devices[0].read_sectors;
    point(&mut run).devices[0].read_sectors = sectors * 97 / 100;
    assert!(find(&run, "direct-not-honoured").is_none());
    point(&mut run).devices[0].read_sectors = sectors * 40 / 100;
    let finding = found(&run, "direct-not-honoured");
    assert_eq!(finding.severity, Severity::Invalid);
    assert!(finding.sentence.contains("60 % of the reads never reached the device"), "{}", finding.sentence);
    // Storage that is not in this machine has no counters: nothing is concluded.
    point(&mut run).devices.clear();
    assert!(find(&run, "direct-not-honoured").is_none());
}

#[test]
fn direct_requests_that_fill_the_page_cache_were_not_direct() {
    let held = |before: f64, after: f64| {
        let mut run = reads();
        point(&mut run).devices.clear();
        point(&mut run).series.push(Series {
            name: series::MEMORY_FILES.into(),
            unit: "bytes".into(),
            workload: None,
            source: "cachestat(2)".into(),
            from_ns: None,
            at_ns: vec![0, 30_000_000_000],
            values: vec![before, after],
            absent: None,
        });
        run
    };
    assert!(find(&held(0.0, 5e5), "direct-not-honoured").is_none());
    assert!(find(&held(9e9, 1e9), "direct-not-honoured").is_none(), "direct requests may drive pages out");
    let finding = found(&held(1e9, 9e9), "direct-not-honoured").clone();
    assert_eq!(finding.severity, Severity::Invalid);
    assert!(finding.sentence.contains("7.45 GiB more"), "{}", finding.sentence);
}

#[test]
fn direct_writes_that_the_device_never_saw_were_not_direct() {
    let mut run = writes();
    assert!(find(&run, "direct-not-honoured").is_none());
    point(&mut run).devices[0].write_sectors /= 2;
    assert!(found(&run, "direct-not-honoured").sentence.contains("50 % of the writes"));
}

#[test]
fn a_file_system_that_may_cache_direct_requests_is_warned_of() {
    let mut run = reads();
    for (name, told) in [("zfs", true), ("fuse.sshfs", true), ("ext4", false), ("fuseblk", false)] {
        run.targets[0].facts.insert(fact::FILE_SYSTEM.into(), name.into());
        assert_eq!(find(&run, "direct-not-honoured").is_some(), told, "{name}");
    }
}

#[test]
fn buffered_reads_that_the_device_never_saw_came_from_a_cache() {
    let mut run = reads();
    set(&mut run, "direct", "false");
    assert!(find(&run, "cache-suspected").is_none());
    point(&mut run).devices[0].read_sectors /= 4;
    let finding = found(&run, "cache-suspected");
    assert!(finding.sentence.contains("75 % of the reads never reached the device"), "{}", finding.sentence);
    assert!(find(&run, "direct-not-honoured").is_none());
}

#[test]
fn a_span_that_fits_a_known_cache_is_suspected() {
    let mut run = reads();
    let cache = |size_bytes| vec![Cache { name: "controller cache".into(), size_bytes }];
    run.targets[0].caches = cache(1 << 30);
    assert!(find(&run, "cache-suspected").is_none());
    run.targets[0].caches = cache(64 << 30);
    let finding = found(&run, "cache-suspected");
    assert!(finding.sentence.contains("64 GiB of the controller cache"), "{}", finding.sentence);
    assert!(finding.remedy.contains("span = \"256GiB\""), "{}", finding.remedy);
}

#[test]
fn a_loop_device_without_direct_access_is_suspected() {
    let mut run = reads();
    run.targets[0].facts.insert(fact::LOOP_DIRECT.into(), "yes".into());
    assert!(find(&run, "cache-suspected").is_none());
    run.targets[0].facts.insert(fact::LOOP_DIRECT.into(), "no".into());
    assert!(found(&run, "cache-suspected").sentence.contains("loop"));
}

#[test]
fn more_files_than_memory_holds_are_advised_where_files_are_asked_for() {
    let mut run = reads();
    set(&mut run, "direct", "false");
    assert!(found(&run, "buffered").remedy.contains("`direct = true`"));
    workload(&mut run).spec.tree = Some(spec::tree::Tree::plain(spec::tree::FileOp::Write));
    assert!(found(&run, "buffered").remedy.contains("more files than fit in memory"));
    assert!(found_short(&mut run).remedy.contains("more files take longer"));
}

fn found_short(run: &mut record::Run) -> record::Finding {
    workload(run).measured_ns = 1_000_000_000;
    found(run, "short-run")
}

#[test]
fn a_span_of_nothing_fits_every_cache_and_is_told_of_none() {
    let mut run = reads();
    run.targets[0].caches = vec![Cache { name: "controller cache".into(), size_bytes: 64 << 30 }];
    workload(&mut run).span_bytes = Some(0);
    assert!(find(&run, "cache-suspected").is_none());
}
