//! Where written data was.

use record::names::{fact, series};
use record::sample::ends;
use record::{OpTotal, Run, Series, Severity};

use crate::{find, found, point, reads, set, workload, writes};

fn dirty(run: &mut Run, from: f64, to: f64) {
    let values = |step: usize| from + (to - from) * step as f64 / 29.0;
    point(run).series.push(Series {
        name: series::MEMORY_DIRTY.into(),
        unit: "bytes".into(),
        workload: None,
        source: "/proc/meminfo".into(),
        from_ns: None,
        at_ns: ends(),
        values: (0..30).map(values).collect(),
        absent: None,
    });
}

#[test]
fn buffered_writes_still_in_memory_are_told() {
    // 20,000 × 4 KiB × 30 s = 2.3 GiB
    let mut run = writes();
    dirty(&mut run, 0.0, 1e9);
    assert!(find(&run, "dirty-pages").is_none(), "direct writes leave nothing in memory");
    set(&mut run, "direct", "false");
    let finding = found(&run, "dirty-pages");
    assert!(finding.sentence.contains("41 % of the 2.29 GiB"), "{}", finding.sentence);
    let mut run = writes();
    set(&mut run, "direct", "false");
    dirty(&mut run, 1e9, 1.1e9);
    assert!(find(&run, "dirty-pages").is_none(), "what waited before is not this run's");
}

#[test]
fn buffered_writes_that_the_device_has_not_seen_are_told() {
    let mut run = writes();
    set(&mut run, "direct", "false");
    assert!(find(&run, "dirty-pages").is_none());
    point(&mut run).devices[0].write_sectors /= 10;
    assert!(found(&run, "dirty-pages").sentence.contains("90 % of"));
}

#[test]
fn a_volatile_write_cache_is_told_where_nothing_flushes_it() {
    let with_cache = |cache: &str| {
        let mut run = writes();
        run.targets[0].facts.insert(fact::WRITE_CACHE.into(), cache.into());
        run
    };
    assert!(find(&with_cache("write through"), "drive-write-cache").is_none());
    assert_eq!(found(&with_cache("write back"), "drive-write-cache").severity, Severity::Note);
    for (key, value) in [("sync", "dsync"), ("flush_every", "1")] {
        let mut run = with_cache("write back");
        set(&mut run, key, value);
        assert!(find(&run, "drive-write-cache").is_none(), "{key} = {value}");
    }
    let mut run = with_cache("write back");
    workload(&mut run).totals.push(OpTotal { op: record::Op::Flush, ops: 9, bytes: 0 });
    assert!(find(&run, "drive-write-cache").is_none());
    let mut run = reads();
    run.targets[0].facts.insert(fact::WRITE_CACHE.into(), "write back".into());
    assert!(find(&run, "drive-write-cache").is_none());
}

#[test]
fn what_is_being_written_back_waits_as_well() {
    let mut run = writes();
    set(&mut run, "direct", "false");
    dirty(&mut run, 2e8, 1e9);
    let mut writeback = point(&mut run).series.last().unwrap().clone();
    writeback.name = series::MEMORY_WRITEBACK.into();
    writeback.values = (0..30).map(|at| 1e8 + 2e8 * f64::from(at) / 29.0).collect();
    point(&mut run).series.push(writeback);
    // 1.3 GB at the end, 0.3 GB at the start.
    assert_eq!(found(&run, "dirty-pages").numbers["waiting_bytes"], 1e9);
}

#[test]
fn what_only_reads_need_no_filled_flash() {
    let mut run = reads();
    run.targets[0].facts.insert(fact::ROTATIONAL.into(), "no".into());
    assert!(find(&run, "not-preconditioned").is_none());
}

#[test]
fn a_rate_of_writes_into_free_room_of_a_cache_is_not_sustained_however_much_the_warm_up_wrote() {
    // 2,457,600,000 bytes in 30 s, behind a warm-up of as long that wrote ten times as much.
    let filling = |gained: u64| {
        let mut run = writes();
        run.world = record::World::Array;
        workload(&mut run).totals[0].bytes = 27_000_000_000;
        let before = 1_000_000_000;
        let write_cache = Some(record::WriteCacheFill {
            unwritten_before_bytes: 0,
            unwritten_measured_bytes: Some(before),
            unwritten_halfway_bytes: None,
            unwritten_bytes: before + gained,
            room_bytes: 4_000_000_000,
        });
        let from_ns = point(&mut run).started_ns;
        let window = record::BreakdownWindow {
            from_ns,
            until_ns: from_ns + 60_000_000_000,
            warmup_ns: 30_000_000_000,
        };
        point(&mut run).breakdown =
            Some(record::Breakdown { write_cache, window: Some(window), ..record::Breakdown::default() });
        run
    };
    assert!(find(&filling(614_000_000), "cache-filling").is_none(), "less than a quarter");
    let run = filling(1_000_000_000);
    let finding = found(&run, "cache-filling");
    assert_eq!(finding.severity, Severity::Warning);
    assert!(
        finding.sentence.contains("953.67 MiB of the 2.29 GiB") && finding.sentence.contains("50 %"),
        "{}",
        finding.sentence
    );
    // Two times as much has room after these 60 s, and took 30 s: 120 s.
    assert!(finding.remedy.contains("`warmup = \"2min\"`"), "{}", finding.remedy);
    let mut run = run;
    explain::judge(&mut run);
    assert_eq!(run.points[0].grading.as_ref().map(|grading| grading.grade), Some(record::Grade::C));
}

#[test]
fn a_rate_of_the_plans_that_is_kept_while_the_cache_has_its_level_lasts() {
    // 20,000 writes a second: 2,457,600,000 bytes in 30 s, of which 1 GB stays in the first half.
    let filling = |pace: &str, halfway: u64| {
        let mut run = writes();
        run.world = record::World::Array;
        set(&mut run, "pace", pace);
        let write_cache = Some(record::WriteCacheFill {
            unwritten_before_bytes: 0,
            unwritten_measured_bytes: Some(0),
            unwritten_halfway_bytes: Some(halfway),
            unwritten_bytes: 1_000_000_000,
            room_bytes: 4_000_000_000,
        });
        point(&mut run).breakdown = Some(record::Breakdown { write_cache, ..record::Breakdown::default() });
        find(&run, "cache-filling").is_some()
    };
    assert!(!filling("rate(20000/s)", 990_000_000), "the plan sets the rate");
    assert!(filling("rate(20000/s)", 500_000_000), "it still fills");
    assert!(filling("closed", 990_000_000), "nobody knows what rate the full cache has");
    assert!(filling("rate(30000/s)", 990_000_000), "the rate was not reached");
}

#[test]
fn a_cache_that_counts_whole_pages_took_no_more_than_was_written() {
    let mut run = writes();
    run.world = record::World::Array;
    let write_cache = Some(record::WriteCacheFill {
        unwritten_before_bytes: 0,
        unwritten_measured_bytes: Some(0),
        unwritten_halfway_bytes: None,
        unwritten_bytes: 5_000_000_000,
        room_bytes: 50_000_000_000,
    });
    point(&mut run).breakdown = Some(record::Breakdown { write_cache, ..record::Breakdown::default() });
    let told = found(&run, "cache-filling").sentence;
    assert!(
        told.contains("4.66 GiB of its room went to the 2.29 GiB written in the measured window (whole pages, and each copy)"),
        "{told}"
    );
}

#[test]
fn a_flush_that_ends_before_volatile_drives_is_a_warning_on_a_virtual_array_that_is_asked_to_flush() {
    let mut run = writes();
    run.targets[0].facts.insert(fact::VOLATILE_BEHIND_FLUSH.into(), "256MiB".into());
    run.world = record::World::Array;
    assert!(find(&run, "drive-write-cache").is_none(), "nothing is to be durable");
    set(&mut run, "sync", "dsync");
    let finding = found(&run, "drive-write-cache");
    assert_eq!(
        (finding.severity, finding.numbers["volatile_bytes_each"]),
        (Severity::Warning, f64::from(256 << 20))
    );
    run.targets[0].facts.remove(fact::VOLATILE_BEHIND_FLUSH);
    assert!(find(&run, "drive-write-cache").is_none(), "it reaches them, or they lose nothing");
}
