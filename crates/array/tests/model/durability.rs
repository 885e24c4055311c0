//! What a flush, a write through, a look into a block table and a narrow window cost, against closed forms.

use array::controller::{CacheParams, JournalParams, PrefetchParams};
use array::device::DeviceParams;
use array::device::queue::{QueueParams, Service};
use array::device::rotating::FastWrite;
use array::device::rotating::{Overheads, RotatingParams};
use array::host::{Multipath, PageCacheParams, StripeParams};
use array::link::{Duplex, LinkParams};
use array::raid::Level;
use array::sim::{Client, FilePlace, LunPlacement, Sim, Topology};
use units::{Bytes, BytesPerSecond, Nanos, Sectors, Share};
use workload::spec::Pattern;
use workload::{Job, Op};

use crate::fixture::cheetah_9lp;
use crate::fixture::topology::{Ask, bare, job};

/// How many writes go before each flush.
const WRITES: u32 = 16;

fn random(size: Bytes, reads: f64, ops: u64) -> Ask {
    Ask { pattern: Pattern::Random, size, reads, depth: 1, ops, rate: None, seed: 3 }
}

/// One server that takes a millisecond for anything.
fn millisecond() -> DeviceParams {
    DeviceParams::Queue(QueueParams { servers: 1, service: Service::Fixed(Nanos::from_millis(1)) })
}

fn write_back(protected: bool) -> CacheParams {
    CacheParams {
        size: Bytes::GIB,
        line: Bytes::KIB * 4,
        block: Bytes::new(512),
        write_part: Share::ALL,
        read_part: Share::ALL,
        bypass: None,
        read: false,
        fills: false,
        write_back: true,
        protected,
        mirrored: false,
        dirty_high: Share::ALL,
        dirty_low: Share::ALL,
        dirty_age: Nanos::from_secs(30),
        destage_window: 4,
        partial_window: 4,
        stripes: Bytes::ZERO,
        prefetch: PrefetchParams { streams: 0, confirm: 2, start: Bytes::ZERO, max: Bytes::ZERO },
    }
}

/// Mean response in milliseconds of the operations of a kind.
fn mean_ms(topology: &Topology, ask: &Ask, flush_every: Option<u32>, op: Op) -> f64 {
    mean_ms_of(topology, ask, flush_every, op, false, false)
}

/// Mean response of writes with `O_DSYNC`, or without.
fn write_ms(topology: &Topology, durable: bool, buffered: bool) -> f64 {
    mean_ms_of(topology, &random(Bytes::KIB * 4, 0.0, 1_000), None, Op::Write, durable, buffered)
}

fn mean_ms_of(
    topology: &Topology,
    ask: &Ask,
    flush_every: Option<u32>,
    op: Op,
    durable: bool,
    buffered: bool,
) -> f64 {
    let mut sim = Sim::new(topology, 1).expect("the topology is possible");
    let mut spec = job(ask, sim.lun_sizes()[0]);
    spec.flush_every = flush_every;
    let (job, files) = (Job::new(spec), vec![FilePlace::whole(0)]);
    let outcome = sim.run(vec![Client { job, files, host: 0, buffered, durable }]);
    let classes = outcome.tallies[0].classes.iter().filter(|class| class.class.op == op);
    let (sum, count) = classes.fold((0.0, 0), |(sum, count), class| {
        (sum + class.response.sum_ns() as f64 / 1e6, count + class.response.count())
    });
    assert!(count > 0, "nothing of {op:?} was done");
    sum / count as f64
}

fn flushed(cache: Option<CacheParams>) -> f64 {
    let mut topology = bare(Level::Jbod, 1, 128, Sectors(1 << 32), millisecond());
    topology.controller.write_command = Nanos::from_micros(10);
    topology.controller.cache = cache;
    mean_ms(&topology, &random(Bytes::KIB * 4, 0.0, 4_000), Some(WRITES), Op::Flush)
}

#[test]
fn a_flush_lasts_as_long_as_the_members_need_for_what_the_cache_holds() {
    let flush = flushed(Some(write_back(false)));
    assert!((flush / f64::from(WRITES) - 1.0).abs() < 0.01, "{flush} ms for {WRITES} writes of 1 ms each");
}

#[test]
fn a_flush_of_a_cache_that_keeps_what_it_holds_is_free() {
    assert!(flushed(Some(write_back(true))) < 1e-6);
    assert!(flushed(None) < 1e-6, "what was written through is written");
}

#[test]
fn a_write_with_dsync_lasts_as_long_as_its_way_to_the_members_where_the_cache_is_volatile() {
    let mut topology = bare(Level::Jbod, 1, 128, Sectors(1 << 32), millisecond());
    topology.controller.write_command = Nanos::from_micros(10);
    topology.controller.cache = Some(write_back(false));
    assert_near([write_ms(&topology, false, false), write_ms(&topology, true, false)], [0.01, 1.01]);
    // The host's page cache is as volatile.
    topology.host.page_cache = Some(pages());
    assert_near([write_ms(&topology, false, true), write_ms(&topology, true, true)], [0.001, 1.011]);
}

fn pages() -> PageCacheParams {
    PageCacheParams {
        size: Bytes::GIB,
        copy: BytesPerSecond::new(4.096e9),
        read_ahead: Bytes::ZERO,
        dirty_background: Share::ALL,
        dirty_limit: Share::ALL,
        indirect_block: None,
    }
}

#[test]
fn a_flush_waits_until_the_dirty_pages_of_its_file_are_written() {
    let mut topology = bare(Level::Jbod, 1, 128, Sectors(1 << 32), millisecond());
    topology.host.page_cache = Some(pages());
    let took_ms = |flush: bool| {
        let mut sim = Sim::new(&topology, 1).expect("the topology is possible");
        let mut spec = job(&random(Bytes::KIB * 4, 0.0, 100), Bytes::GIB);
        spec.flush_at_end = flush;
        let (job, files) = (Job::new(spec), vec![FilePlace::whole(0)]);
        let outcome = sim.run(vec![Client { job, files, host: 0, buffered: true, durable: false }]);
        (outcome.until - outcome.from).as_secs_f64() * 1e3
    };
    let (copied, flushed) = (took_ms(false), took_ms(true));
    assert!(copied < 1.0, "{copied} ms: 100 pages of 4 KiB are copied in 1 us each");
    assert!((99.0..102.0).contains(&flushed), "{flushed} ms of a disk of one millisecond");
}

fn assert_near<const N: usize>(found: [f64; N], expected: [f64; N]) {
    let near = found.iter().zip(&expected).all(|(found, expected)| (found - expected).abs() < 1e-6);
    assert!(near, "{found:?}, not {expected:?}");
}

#[test]
fn a_write_with_dsync_is_answered_at_once_by_a_cache_with_a_battery() {
    let mut topology = bare(Level::Jbod, 1, 128, Sectors(1 << 32), millisecond());
    topology.controller.write_command = Nanos::from_micros(10);
    topology.controller.flush_members = false;
    topology.controller.cache = Some(write_back(true));
    assert_near([write_ms(&topology, true, false)], [0.01]);
    // Where it writes through there is only the way to the members.
    topology.controller.cache = Some(CacheParams { write_back: false, ..write_back(true) });
    assert_near([write_ms(&topology, true, false)], [1.01]);
}

#[test]
fn a_write_with_dsync_empties_the_buffer_of_a_drive_without_any_controller() {
    let write = |write_back, durable| {
        let mut drive = cheetah_9lp();
        if let Some(buffer) = &mut drive.cache {
            buffer.fast_write = if write_back { FastWrite::All } else { FastWrite::None };
            buffer.write_segments = buffer.segments / 2;
        }
        let topology = bare(Level::Jbod, 1, 128, Sectors(drive.capacity.0), DeviceParams::Rotating(drive));
        write_ms(&topology, durable, false)
    };
    let (media, kept, durable) = (write(false, false), write(true, false), write(true, true));
    println!("to the media {media:.2} ms, to the buffer {kept:.2} ms, with dsync {durable:.2} ms");
    assert!(kept < media / 1.5, "{kept} ms against {media}");
    assert!((durable / media - 1.0).abs() < 0.1, "{durable} ms against {media}");
}

/// Two volumes of half a set each on one disk of a millisecond, and the cache of each controller loses what it holds.
fn two_volumes(controllers: u32) -> Topology {
    let mut topology = bare(Level::Jbod, 1, 128, Sectors(1 << 32), millisecond());
    let half = Sectors(1 << 31);
    let volume = |start| LunPlacement { set: 0, start, size: half, owner: 0 };
    topology.luns = vec![volume(Sectors(0)), volume(half)];
    topology.controllers = controllers;
    topology.controller.cache = Some(write_back(false));
    topology
}

/// Writes to a volume, with a flush after the last if it is asked for; how long all took in milliseconds.
fn write_to(sim: &mut Sim, lun: u32, ops: u64, flush: bool) -> f64 {
    let size = sim.lun_sizes()[lun as usize];
    let mut spec = job(&random(Bytes::KIB * 4, 0.0, ops), size);
    spec.flush_at_end = flush;
    let (job, files) = (Job::new(spec), vec![FilePlace::whole(lun)]);
    let outcome = sim.run(vec![Client { job, files, host: 0, buffered: false, durable: false }]);
    (outcome.until - outcome.from).as_secs_f64() * 1e3
}

#[test]
fn a_flush_writes_what_is_dirty_of_its_own_volume_and_nothing_of_another() {
    let mut sim = Sim::new(&two_volumes(1), 1).expect("the topology is possible");
    assert_eq!(write_to(&mut sim, 1, 100, false), 0.0);
    assert_eq!(write_to(&mut sim, 0, 4, true), 4.0);
    assert_eq!(write_to(&mut sim, 0, 0, true), 0.0, "nothing of it is dirty");
    assert_eq!(sim.dirty(), Bytes::KIB * 400, "the other volume's data are where they were");
}

#[test]
fn a_flush_reaches_what_either_controller_has_acknowledged() {
    let mut topology = two_volumes(2);
    topology.host.multipath = Multipath::None;
    let mut sim = Sim::new(&topology, 1).expect("the topology is possible");
    assert_eq!(write_to(&mut sim, 0, 8, true), 8.0);
    assert_eq!(sim.dirty(), Bytes::ZERO);
}

#[test]
fn a_flush_of_a_volume_that_the_host_stripes_reaches_all_its_luns() {
    let mut topology = two_volumes(1);
    topology.host.stripe = Some(StripeParams { chunk: Bytes::MIB, luns: 2 });
    let mut sim = Sim::new(&topology, 1).expect("the topology is possible");
    assert_eq!(write_to(&mut sim, 0, 8, true), 8.0);
    assert_eq!(sim.dirty(), Bytes::ZERO);
}

#[test]
fn a_write_through_of_a_volatile_cache_empties_the_buffers_of_the_drives_too() {
    let through = |write_back, flush_members| {
        let mut drive = cheetah_9lp();
        if let Some(buffer) = &mut drive.cache {
            buffer.fast_write = if write_back { FastWrite::All } else { FastWrite::None };
            buffer.write_segments = buffer.segments / 2;
        }
        let mut topology =
            bare(Level::Raid1, 2, 128, Sectors(drive.capacity.0), DeviceParams::Rotating(drive));
        topology.controller.cache = Some(CacheParams { write_back: false, ..self::write_back(false) });
        topology.controller.flush_members = flush_members;
        mean_ms(&topology, &random(Bytes::KIB * 4, 0.0, 4_000), None, Op::Write)
    };
    let (media, kept, flushed) = (through(false, false), through(true, false), through(true, true));
    println!("to the media {media:.2} ms, to the buffer {kept:.2} ms, flushed {flushed:.2} ms");
    assert!(kept < media / 1.5, "{kept} ms against {media}");
    assert!((flushed / media - 1.0).abs() < 0.1, "{flushed} ms against {media}");
}

#[test]
fn looking_for_a_block_delays_each_random_read_by_as_much() {
    let read = |locate| {
        let drive = RotatingParams { overhead: Overheads::uniform(Nanos::ZERO), ..cheetah_9lp() };
        let mut topology =
            bare(Level::Jbod, 1, 128, Sectors(drive.capacity.0), DeviceParams::Rotating(drive));
        topology.controller.locate = locate;
        mean_ms(&topology, &random(Bytes::KIB * 4, 1.0, 40_000), None, Op::Read)
    };
    let delay = read(Nanos::from_micros(1_900)) - read(Nanos::ZERO);
    assert!((delay - 1.9).abs() < 0.05, "{delay} ms");
}

#[test]
fn a_connection_carries_a_window_a_round_trip() {
    let each = |window, depth| {
        let mut topology = bare(Level::Jbod, 1, 128, Sectors(1 << 32), millisecond());
        topology.link = Some(LinkParams {
            quantum: Bytes::KIB * 64,
            rate: BytesPerSecond::new(1e12),
            write_rate: BytesPerSecond::new(1e12),
            lanes: 1,
            duplex: Duplex::Full,
            command: Nanos::ZERO,
            latency: Nanos::from_millis(2),
        });
        topology.protocol.window = window;
        let ask = Ask { depth, ..random(Bytes::KIB * 512, 1.0, 400) };
        mean_ms(&topology, &ask, None, Op::Read) / f64::from(depth)
    };
    // Eight windows of 64 KiB, each a round trip of 4 ms; without a limit one round trip and the device.
    assert!((each(Some(Bytes::KIB * 64), 1) / 32.0 - 1.0).abs() < 0.01);
    assert!((each(Some(Bytes::KIB * 64), 8) / 32.0 - 1.0).abs() < 0.03, "requests share the connection");
    assert!((each(None, 1) / 5.0 - 1.0).abs() < 0.01);
}

#[test]
fn a_transaction_costs_its_record_and_is_shared_by_what_was_written_during_the_one_before() {
    let write = |journal: bool, depth: u32| {
        let mut topology = bare(Level::Jbod, 1, 128, Sectors(1 << 32), millisecond());
        topology.controller.journal = journal.then_some(JournalParams {
            record: Bytes::KIB * 4,
            at: Share::new(0.5).expect("a share"),
            size: Bytes::MIB,
            force: None,
        });
        let ask = Ask { depth, ..random(Bytes::KIB * 4, 0.0, 2_000) };
        mean_ms_of(&topology, &ask, None, Op::Write, true, false)
    };
    assert!((write(false, 1) - 1.0).abs() < 1e-3 && (write(true, 1) - 2.0).abs() < 1e-3);
    // Apart they would take 16 ms, two for each write.
    let shared = write(true, 8);
    assert!(shared > 8.5 && shared < 12.0, "{shared}");
}

#[test]
fn a_log_that_is_forced_for_each_write_is_forced_for_one_after_the_other() {
    let write = |depth: u32| {
        let mut topology = bare(Level::Jbod, 1, 128, Sectors(1 << 32), millisecond());
        topology.controller.flush_members = false;
        topology.controller.journal = Some(JournalParams {
            record: Bytes::ZERO,
            at: Share::NONE,
            size: Bytes::MIB,
            force: Some(Nanos::from_millis(3)),
        });
        let ask = Ask { depth, ..random(Bytes::KIB * 4, 0.0, 2_000) };
        mean_ms_of(&topology, &ask, None, Op::Write, true, false)
    };
    // The device works beside the log: only one that is alone waits for both.
    assert!((write(1) - 4.0).abs() < 1e-3, "{}", write(1));
    assert!((write(8) / 24.0 - 1.0).abs() < 0.02, "{}", write(8));
}

#[test]
fn writes_to_a_file_read_what_they_cover_in_part_one_after_the_other() {
    let write = |file_lock: bool| {
        let mut topology = bare(Level::Raid0, 4, 128, Sectors(1 << 24), millisecond());
        topology.controller.file_lock = file_lock;
        topology.controller.cache = Some(CacheParams { read: true, fills: true, ..write_back(false) });
        let ask = Ask { depth: 8, ..random(Bytes::new(512), 0.0, 1_000) };
        mean_ms(&topology, &ask, None, Op::Write)
    };
    // Eight wait for a read of a millisecond each; four devices read at once where nothing holds them.
    let (apart, together) = (write(true), write(false));
    assert!(apart > 7.5 && together < apart / 1.5, "{apart}, {together}");
}

#[test]
fn a_page_cache_reads_a_page_before_it_takes_a_part_of_it() {
    let write = |fills: bool, size: Bytes| {
        let mut topology = bare(Level::Jbod, 1, 128, Sectors(1 << 32), millisecond());
        topology.controller.write_command = Nanos::from_micros(10);
        topology.controller.cache = Some(CacheParams { read: true, fills, ..write_back(false) });
        mean_ms(&topology, &random(size, 0.0, 1_000), None, Op::Write)
    };
    let part = Bytes::new(512);
    assert_near([write(false, part), write(true, Bytes::KIB * 4)], [0.01, 0.01]);
    // At most one page is on its way out before it.
    let filled = write(true, part);
    assert!((1.01..2.01).contains(&filled), "{filled}");
}
