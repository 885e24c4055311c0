//! A set is initialised: with drives away, beside hosts, and stopped at any write.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::time::Duration;

use array::raid::Level;
use serve::config::Status;
use serve::machine::Insert;
use serve::set::Scratch;

use crate::host::{Host, flush_all, write_all};
use crate::world::{Loss, World, again, assert_verifies, open, shape, try_open, wait, with_cache, written};

#[test]
fn a_drive_that_was_away_while_a_set_was_initialised_has_missed_all_of_it() {
    for (level, members) in [(Level::Raid1, 2), (Level::Raid5, 4), (Level::Raid10, 4), (Level::Raid6, 5)] {
        for is_stopped in [false, true] {
            let (shape, world, mut machine, mut host) = written(level, members, 0);
            machine.pull(1).unwrap();
            machine.initialise(0).unwrap();
            wait(&machine);
            if is_stopped {
                machine = again(machine, &shape, &world);
            }
            let all = host.sectors();
            host.is_zeros(0, all);
            host.check(&machine, "without the drive");
            machine.insert(1, &Insert::Same).unwrap();
            wait(&machine);
            host.check(&machine, "with the drive");
            assert_verifies(&machine, &format!("{level}"));
            host.check(&machine, "after a verify");
        }
    }
}

#[test]
fn what_is_written_while_a_set_is_initialised_stays_wherever_that_stops() {
    for level in [Level::Raid1, Level::Raid5, Level::Raid6] {
        for crash in [None, Some(1), Some(5), Some(20), Some(60)] {
            let shape = shape(level, 4, 0, 8, 4096);
            let world = World::new(Loss::Ordered, 1);
            let mut machine = open(&shape, &world, Loss::Ordered);
            let mut host = Host::new(&machine);
            host.write(&machine, 0, 100).unwrap();
            host.write(&machine, 100, 100).unwrap();
            host.settle();
            // Slowly: the pass has far to go when hosts write.
            machine.set_rate(512 << 10);
            machine.initialise(0).unwrap();
            let all = host.sectors();
            host.is_zeros(0, all);
            if let Some(crash) = crash {
                world.crash_after(crash);
            }
            for at in [0, 3, 100, 150, all - 5] {
                if host.write(&machine, at, 4).is_err() {
                    break;
                }
                if crash.is_none() {
                    host.settle();
                }
            }
            machine.set_rate(0);
            if crash.is_some() {
                while machine.is_busy() && !world.is_dead() {
                    std::thread::yield_now();
                }
                drop(machine);
                world.revive();
                machine = open(&shape, &world, Loss::Ordered);
            }
            wait(&machine);
            host.check(&machine, &format!("{level}, crash {crash:?}"));
            assert_verifies(&machine, &format!("{level}, crash {crash:?}"));
        }
    }
}

#[test]
fn an_initialisation_that_is_stopped_before_all_reads_as_zeros_is_done_by_the_next_start() {
    for crash in 1..24 {
        let (shape, world, machine, mut host) = written(Level::Raid5, 4, 0);
        world.crash_after(crash);
        let begun = machine.initialise(0);
        while machine.is_busy() && !world.is_dead() {
            std::thread::yield_now();
        }
        drop(machine);
        world.revive();
        let machine = open(&shape, &world, Loss::Ordered);
        wait(&machine);
        // All of one or all of the other.
        let is_old = host.examine(&machine).is_ok();
        if begun.is_ok() || !is_old {
            let all = host.sectors();
            host.is_zeros(0, all);
            host.check(&machine, &format!("write {crash}"));
        }
        assert_verifies(&machine, &format!("write {crash}"));
    }
}

#[test]
fn an_initialisation_that_is_refused_is_not_done_by_the_next_start() {
    for what in ["nvram", "room", "labels"] {
        let (shape, world, machine, mut host) = written(Level::Raid5, 4, 0);
        let is_refusing = |is_refusing: bool| match what {
            "nvram" => world.refuse_named("nvram", is_refusing),
            "room" => world.fill(is_refusing),
            _ => (0..4).for_each(|bay| world.refuse_named(&format!("bay {bay}"), is_refusing)),
        };
        is_refusing(true);
        machine.initialise(0).unwrap_err();
        is_refusing(false);
        host.check(&machine, what);
        if host.write(&machine, 0, 8).is_ok() && flush_all(&machine).is_ok() {
            host.settle();
        } else {
            assert!(machine.status().is_write_protected, "{what}");
        }
        let _stopped = machine.close();
        drop(machine);
        let machine = open(&shape, &world, Loss::Ordered);
        wait(&machine);
        host.check(&machine, &format!("{what}, started again"));
    }
}

#[test]
fn a_set_that_has_failed_is_initialised_onto_spares_or_not_at_all() {
    for (level, members) in [(Level::Raid1, 2), (Level::Raid5, 4)] {
        let (shape, world, machine, mut host) = written(level, members, 0);
        machine.pull(0).unwrap();
        machine.pull(1).unwrap();
        let refused = machine.initialise(0).unwrap_err().to_string();
        assert!(refused.contains("it has failed"), "{refused}");
        machine.insert(1, &Insert::Same).unwrap();
        machine.insert(0, &Insert::Same).unwrap();
        host.check(&machine, "as before");
        machine.pull(0).unwrap();
        machine.pull(1).unwrap();
        for bay in [0, 1] {
            machine.insert(bay, &Insert::Same).unwrap();
            if machine.status().bays[bay as usize].status != Status::InUse {
                machine.clear(bay, None).unwrap();
            }
        }
        machine.pull(0).unwrap();
        machine.pull(1).unwrap();
        for bay in [0, 1] {
            machine.insert(bay, &Insert::New).unwrap();
            machine.spare(bay).unwrap();
        }
        machine.initialise(0).unwrap();
        wait(&machine);
        assert_eq!(machine.status().sets[0].state, "optimal", "{level}");
        let all = host.sectors();
        host.is_zeros(0, all);
        host.check(&machine, "a fresh start");
        write_all(&mut host, &machine);
        let machine = again(machine, &shape, &world);
        assert_eq!(machine.status().sets[0].state, "optimal", "{level}");
        host.check(&machine, "started again");
    }
}

#[test]
fn hosts_that_read_and_write_through_a_cache_do_not_hang_while_a_set_is_initialised() {
    let shape = shape(Level::Raid5, 4, 0, 8, 4096);
    let world = World::new(Loss::Ordered, 1);
    let machine = try_open(&shape, &world, &with_cache(64 << 10)).unwrap();
    let is_over = Arc::new(AtomicBool::new(false));
    let (ended, ends) = channel();
    for first in 0..3_u64 {
        let (machine, is_over, ended) = (machine.clone(), is_over.clone(), ended.clone());
        std::thread::spawn(move || {
            let (mut scratch, mut data) = (Scratch::default(), vec![1; 16 * 512]);
            for at in (first..).map(|round| round * 8 % 1024) {
                machine.write(&mut scratch, 0, at * 512, &[1; 8 * 512]).unwrap();
                machine.read(&mut scratch, 0, at * 512, &mut data).unwrap();
                assert!(data.iter().all(|byte| *byte <= 1), "what was written, or zeros");
                if is_over.load(Ordering::Relaxed) {
                    return ended.send(()).unwrap();
                }
            }
        });
    }
    std::thread::spawn(move || {
        for _ in 0..200 {
            machine.initialise(0).unwrap();
            wait(&machine);
        }
        is_over.store(true, Ordering::Relaxed);
        ended.send(()).unwrap();
    });
    for _ in 0..4 {
        ends.recv_timeout(Duration::from_secs(60)).expect("nobody waits for ever, and nobody failed");
    }
}
