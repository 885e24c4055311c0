//! The same drive and the same requests as DiskSim 4.0 (DIXtrac's Cheetah 9LP): means within 5 %.

use array::device::Command;
use array::device::rotating::Order;
use units::convert::truncated;

use crate::fixture::{SplitMix, cheetah_9lp, closed_ms, one_at_a_time, open_mean_ms, read, tagged};

const TOLERANCE: f64 = 0.05;

fn agrees(what: &str, modelled: f64, disksim: f64) {
    let error = modelled / disksim - 1.0;
    assert!(
        error.abs() <= TOLERANCE,
        "{what}: {modelled:.3} ms, DiskSim {disksim:.3} ms ({:+.1} %)",
        error * 100.0
    );
    println!("{what}: {modelled:.3} ms, DiskSim {disksim:.3} ms ({:+.1} %)", error * 100.0);
}

/// Random reads of 4 and 8 KiB, Poisson, 60 a second.
fn t1() -> impl FnMut() -> (f64, Command) {
    let mut draws = SplitMix::new(1);
    let mut at = 0.0;
    move || {
        at += -(1.0 - draws.unit()).ln() * 1000.0 / 60.0;
        let first = 8 * truncated::<u64>(draws.unit() * 2_222_903.0);
        (at, read(first, if draws.unit() < 0.5 { 8 } else { 16 }))
    }
}

#[test]
fn random_reads_at_sixty_a_second_take_what_they_take_in_disksim() {
    agrees("T1, first 100,000", open_mean_ms(&cheetah_9lp(), 100_000, t1()), 15.305592);
    agrees("T1, 1,000,000", open_mean_ms(&cheetah_9lp(), 1_000_000, t1()), 15.241401);
    let mut bare = cheetah_9lp();
    bare.cache = None;
    agrees("T1, buffer off", open_mean_ms(&bare, 1_000_000, t1()), 15.173362);
}

fn sequential() -> impl FnMut() -> Command {
    let mut at = 0;
    move || {
        let first = at;
        at = if at + 256 > 17_783_240 { 0 } else { at + 128 };
        read(first, 128)
    }
}

#[test]
fn a_sequential_reader_rides_on_the_read_ahead() {
    agrees("W3", closed_ms(&cheetah_9lp(), 1, 100_000, sequential()), 4.965595);
}

#[test]
fn a_sequential_reader_loses_a_revolution_each_time_where_almost_hits_are_not_waited_for() {
    let mut strict = cheetah_9lp();
    strict.cache.as_mut().expect("the drive has a buffer").almost_hits = false;
    agrees("W3 without almost hits", closed_ms(&strict, 1, 1_000_000, sequential()), 11.393121);
}

#[test]
fn each_queue_order_gains_with_depth_what_it_gains_in_disksim() {
    let table = [
        (1, [9.317, 9.317, 9.317, 9.317]),
        (2, [9.317, 9.317, 9.317, 9.012]),
        (4, [9.316, 8.430, 7.876, 6.999]),
        (8, [9.314, 7.247, 7.037, 5.907]),
        (16, [9.310, 6.512, 6.419, 5.091]),
        (32, [9.302, 6.006, 6.004, 4.397]),
        (64, [9.287, 5.664, 5.686, 3.827]),
    ];
    for (depth, expected) in table {
        // SPTF works inside the drive, where a command's overhead overlaps with the one before; the others are
        // the host's, which gives the drive one command at a time.
        let queues = [
            one_at_a_time(Order::Fcfs, 64),
            one_at_a_time(Order::CLook, 64),
            one_at_a_time(Order::Sstf, 64),
            tagged(Order::Sptf, 64),
        ];
        for (queue, expected) in queues.into_iter().zip(expected) {
            let mut params = cheetah_9lp();
            params.queue = queue;
            let mut draws = SplitMix::new(3);
            let next = move || {
                let first = 8 * truncated::<u64>(draws.unit() * 2_222_903.0);
                read(first, if draws.unit() < 0.875 { 16 } else { 8 })
            };
            agrees(
                &format!("C({depth}) {:?}", queue.order),
                closed_ms(&params, depth, 20_000, next),
                expected,
            );
        }
    }
}
