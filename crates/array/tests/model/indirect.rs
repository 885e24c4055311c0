//! Blocks of pointers of a file system without extents: reads that no job issued.

use array::device::DeviceParams;
use array::device::queue::{QueueParams, Service};
use array::host::PageCacheParams;
use array::raid::Level;
use array::sim::{Client, Sim, Topology};
use units::{Bytes, BytesPerSecond, Nanos, Sectors, Share};
use workload::spec::Pattern;

use crate::fixture::topology::{Ask, bare, client};

/// A file of 64 GiB on a device that takes a millisecond for anything, and memory that copies at once.
fn file(indirect_block: Option<Bytes>, memory: Bytes) -> Topology {
    let device = QueueParams { servers: 1, service: Service::Fixed(Nanos::from_millis(1)) };
    let mut topology = bare(Level::Jbod, 1, 128, Sectors(1 << 27), DeviceParams::Queue(device));
    topology.host.page_cache = Some(PageCacheParams {
        size: memory,
        copy: BytesPerSecond::new(1e15),
        read_ahead: Bytes::ZERO,
        dirty_background: Share::ALL,
        dirty_limit: Share::ALL,
        indirect_block,
    });
    topology
}

/// Milliseconds of each of so many requests of 8 KiB.
fn mean_ms(topology: &Topology, pattern: Pattern, ops: u64, buffered: bool) -> f64 {
    let mut sim = Sim::new(topology, 1).expect("the topology is possible");
    let ask = Ask { pattern, size: Bytes::KIB * 8, reads: 1.0, depth: 1, ops, rate: None, seed: 3 };
    let size = sim.lun_sizes()[0];
    let outcome = sim.run(vec![Client { buffered, ..client(&ask, size) }]);
    let classes = &outcome.tallies[0].classes;
    let sum: f64 = classes.iter().map(|class| class.response.sum_ns() as f64 / 1e6).sum();
    sum / ops as f64
}

#[test]
fn a_random_read_of_a_large_file_reads_its_block_of_pointers_first() {
    let mapped = Some(Bytes::MIB * 4);
    for buffered in [false, true] {
        let extents = mean_ms(&file(None, Bytes::GIB), Pattern::RandomWithRepeats, 2_000, buffered);
        assert!((extents - 1.0).abs() < 0.01, "{extents}");
        // Of 16,384 blocks 2,000 reads find 6 % held that others have read: 1 - (1 - e^-x) / x, x = 2000 / 16384.
        let pointers = mean_ms(&file(mapped, Bytes::GIB), Pattern::RandomWithRepeats, 2_000, buffered);
        assert!((pointers - 1.94).abs() < 0.02, "{pointers} buffered: {buffered}");
    }
}

#[test]
fn blocks_of_pointers_stay_in_memory_that_has_room_for_them() {
    let mapped = Some(Bytes::MIB * 4);
    // 16,384 blocks are 64 MiB of pages: each is read once in the beginning.
    let held = mean_ms(&file(mapped, Bytes::GIB), Pattern::RandomWithRepeats, 200_000, false);
    assert!((held - (1.0 + 16_384.0 / 200_000.0)).abs() < 0.01, "{held}");
    let pressed = mean_ms(&file(mapped, Bytes::MIB * 4), Pattern::RandomWithRepeats, 50_000, false);
    // Of 16,384 blocks memory holds 1,024 pages: one in sixteen is there.
    assert!((pressed - (1.0 + 15.0 / 16.0)).abs() < 0.02, "{pressed}");
}

#[test]
fn a_stream_reads_one_block_of_pointers_for_all_that_it_maps() {
    let mean = mean_ms(&file(Some(Bytes::MIB * 4), Bytes::GIB), Pattern::Sequential, 5_120, false);
    assert!((mean - (1.0 + 1.0 / 512.0)).abs() < 1e-4, "{mean}");
}

/// Milliseconds of one request of that size at the file's beginning, asked for twice.
fn twice_ms(topology: &Topology, size: Bytes) -> [f64; 2] {
    let mut sim = Sim::new(topology, 1).expect("the topology is possible");
    [3, 4].map(|seed| {
        let ask = Ask { pattern: Pattern::Sequential, size, reads: 1.0, depth: 1, ops: 1, rate: None, seed };
        let outcome = sim.run(vec![Client { buffered: true, ..client(&ask, size) }]);
        outcome.tallies[0].classes[0].response.sum_ns() as f64 / 1e6
    })
}

#[test]
fn a_request_over_more_blocks_of_pointers_than_memory_holds_reads_each_once_and_ends() {
    // 256 blocks that map a page each, and memory for eight pages.
    let file = file(Some(Bytes::KIB * 4), Bytes::KIB * 32);
    let [first, _] = twice_ms(&file, Bytes::MIB);
    assert!((256.0..256.0 * 2.1).contains(&first), "{first}");
}

#[test]
fn a_read_of_held_pages_needs_no_block_of_pointers() {
    let [first, again] = twice_ms(&file(Some(Bytes::MIB * 4), Bytes::GIB), Bytes::KIB * 8);
    assert!((first - 2.0).abs() < 0.01, "a block of pointers and the data: {first}");
    assert!(again < 0.01, "memory answers: {again}");
}
