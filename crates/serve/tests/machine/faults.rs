//! What drives and memory lie on fails: reads, writes, syncs, labels.

use std::sync::Arc;

use array::raid::Level;
use serve::config::Status;
use serve::control::{Answer, Command, obey};
use serve::machine::{Insert, Machine, Options, Shape};
use serve::set::Fault;

use crate::host::{Host, flush_all, write_all};
use crate::world::{
    Bays, Loss, World, again, byte_of, has_event, open, options, shape, tag_of, try_open, wait, written,
};

#[test]
fn a_drive_of_which_a_sync_fails_is_taken_out_of_use_and_nothing_flushed_is_lost() {
    let shape = shape(Level::Raid5, 3, 0, 8, 96);
    let world = World::new(Loss::Ordered, 1);
    let machine = open(&shape, &world, Loss::Ordered);
    let mut host = Host::new(&machine);
    world.fail_syncs(&["bay 1"]);
    for _ in 0..40 {
        write_all(&mut host, &machine);
    }
    assert_eq!(machine.status().bays[1].status, Status::Failed);
    assert!(has_event(&machine, "a sync has failed"));
    host.check(&machine, "without the drive");
}

#[test]
fn nothing_is_acknowledged_after_a_sync_of_the_memory_has_failed() {
    let shape = shape(Level::Raid5, 3, 0, 8, 96);
    let world = World::new(Loss::Ordered, 1);
    let machine = open(&shape, &world, Loss::Ordered);
    let mut host = Host::new(&machine);
    host.write(&machine, 0, 8).unwrap();
    world.fail_syncs(&["nvram"]);
    assert_eq!(flush_all(&machine).unwrap_err(), Fault::Journal);
    assert_eq!(flush_all(&machine).unwrap_err(), Fault::Journal);
    assert_eq!(host.write(&machine, 0, 8).unwrap_err(), Fault::Journal);
    assert!(machine.status().writes_refused.unwrap().contains("the controller's memory"));
    world.fail_syncs(&[]);
    drop(machine);
    host.check(&open(&shape, &world, Loss::Ordered), "started again");
}

#[test]
fn an_array_whose_starts_stop_one_after_the_other_among_the_labels_is_whole_afterwards() {
    let shape = shape(Level::Raid5, 4, 0, 8, 96);
    for (first, second) in (1..30).flat_map(|first| (1..30).map(move |second| (first, second))) {
        let world = World::new(Loss::Ordered, first * 100 + second);
        let machine = open(&shape, &world, Loss::Ordered);
        let mut host = Host::new(&machine);
        host.write(&machine, 0, 50).unwrap();
        host.settle();
        drop(machine);
        for crash in [first, second] {
            world.crash_after(crash);
            let _stopped = try_open(&shape, &world, &options(Loss::Ordered));
            world.revive();
        }
        let machine = open(&shape, &world, Loss::Ordered);
        assert_eq!(machine.status().sets[0].state, "optimal", "{first}, {second}");
        host.check(&machine, "after both");
    }
}

#[test]
fn an_array_starts_without_a_drive_whose_label_cannot_be_read() {
    let (shape, world, machine, mut host) = written(Level::Raid5, 4, 0);
    machine.close().unwrap();
    drop(machine);
    world.break_sector(1, 0);
    world.break_sector(1, 64 << 10);
    let machine = open(&shape, &world, Loss::Ordered);
    assert_eq!(machine.status().bays[1].status, Status::Stale);
    assert!(has_event(&machine, "the label cannot be read"));
    host.check(&machine, "without the drive");
}

#[test]
fn no_spare_takes_the_place_of_the_drive_that_a_failed_set_has_lost_last() {
    for (level, members) in [(Level::Raid1, 2), (Level::Raid5, 4)] {
        let shape = shape(level, members, 2, 8, 4096);
        let world = World::new(Loss::Ordered, 1);
        let options = Options { is_automatic: true, ..options(Loss::Ordered) };
        let machine = try_open(&shape, &world, &options).unwrap();
        let mut host = Host::new(&machine);
        host.write(&machine, 0, 8).unwrap();
        host.settle();
        machine.set_rate(64 << 10);
        machine.pull(0).unwrap();
        machine.pull(1).unwrap();
        assert_eq!(machine.status().sets[0].state, "failed", "{level}");
        assert_eq!(machine.insert(1, &Insert::Same).unwrap(), Status::InUse, "{level}");
        machine.set_rate(0);
        wait(&machine);
        assert_eq!(machine.status().sets[0].state, "optimal", "{level}");
        host.check(&machine, "with the drive that was lost last");
    }
}

#[test]
fn who_reads_a_sector_again_and_again_that_cannot_be_read_is_told_of_it_once_in_the_log() {
    let (_, world, machine, mut host) = written(Level::Raid1, 2, 0);
    let at = byte_of(5);
    assert!(world.spoil(0, at) && world.spoil(1, at));
    for _ in 0..50 {
        host.read(&machine, 5, 1).unwrap_err();
    }
    let told = machine.events().since(0);
    assert!(told.iter().filter(|event| event.text.contains("unreadable")).count() <= 2, "{told:?}");
}

#[test]
fn nothing_is_written_to_a_drive_that_the_labels_do_not_say_is_in_use() {
    let (shape, world, machine, mut host) = written(Level::Raid5, 4, 0);
    machine.pull(1).unwrap();
    machine.pull(2).unwrap();
    world.refuse_named("nvram", true);
    let answer = obey(&machine, Command::Insert { bay: 2, new: false, serial: None });
    let Answer::Partial(why) = answer else { panic!("{answer:?}") };
    assert!(why.contains("not on the labels"), "{why}");
    assert_eq!(host.write(&machine, 0, 8).unwrap_err(), Fault::Journal);
    world.refuse_named("nvram", false);
    write_all(&mut host, &machine);
    drop(machine);
    let machine = open(&shape, &world, Loss::Ordered);
    assert_eq!(machine.status().sets[0].state, "degraded");
    host.check(&machine, "started again");
}
#[test]
fn what_is_computed_beside_a_write_that_was_cut_short_is_an_error_until_the_journal_does_it_again() {
    for level in [Level::Raid5, Level::Raid6, Level::Raid10, Level::Raid1] {
        let mut cut = 0;
        for writes in 0..12 {
            let members = if level == Level::Raid1 { 2 } else { 4 };
            let (shape, world, machine, mut host) = written(level, members, 0);
            machine.fail(1).unwrap();
            world.fill_after(writes);
            let is_refused = (0..40).any(|lba| host.write(&machine, lba, 5).is_err());
            assert!(is_refused, "{level}: there is no room");
            cut += u64::from(machine.status().is_write_protected);
            let what = format!("{level}, room for {writes} writes");
            host.check_what_is_there(&machine, &what);
            assert!(!has_event(&machine, "taken again"), "{what}");
            let is_told = has_event(&machine, "write-protected until it is started again");
            assert_eq!(is_told, machine.status().is_write_protected, "{what}");
            drop(machine);
            world.fill(false);
            let machine = open(&shape, &world, Loss::Ordered);
            host.check(&machine, &format!("{what}, started again"));
        }
        assert!(cut > 0, "{level}: none was cut short");
    }
}

#[test]
fn what_can_be_computed_beside_what_cannot_is_rebuilt_and_the_rest_is_counted() {
    let shape = shape(Level::Raid6, 5, 1, 8, 96);
    let world = World::new(Loss::Ordered, 1);
    let machine = open(&shape, &world, Loss::Ordered);
    let mut host = Host::new(&machine);
    let all = host.sectors();
    host.write(&machine, 0, all).unwrap();
    host.settle();
    machine.fail(1).unwrap();
    // Too much of row 3, and of the rows behind it what can be had.
    for (bay, row) in [(0, 3), (2, 3), (0, 5), (3, 6), (4, 7)] {
        assert!(world.spoil(bay, byte_of(row)));
    }
    machine.rebuild(0).unwrap();
    wait(&machine);
    let pass = machine.status().passes.pop().unwrap();
    // Row 3 of two drives, and of the one that is filled; of the others what was needed.
    assert!(pass.unreadable_sectors == 3 && pass.corrected_sectors > 0, "{pass}");
    let lost = host.check_what_is_there(&machine, "rebuilt");
    assert!((1..=3).contains(&lost), "{lost} sectors of data in row 3");
}

#[test]
fn a_drive_that_cannot_read_what_was_just_written_to_it_is_taken_out_of_use_and_the_others_answer() {
    for meets in ["read", "verify", "rebuild", "clone"] {
        let shape = shape(Level::Raid6, 5, 2, 8, 96);
        let world = World::new(Loss::Ordered, 1);
        let machine = open(&shape, &world, Loss::Ordered);
        let mut host = Host::new(&machine);
        let all = host.sectors();
        host.write(&machine, 0, all).unwrap();
        host.settle();
        for row in [19, 20, 40] {
            world.break_sector(1, byte_of(row));
        }
        match meets {
            "read" => host.check(&machine, "read"),
            "verify" => machine.verify(0, true).unwrap(),
            "rebuild" => {
                machine.fail(3).unwrap();
                machine.rebuild(0).unwrap();
            }
            _ => {
                machine.copy(1).unwrap();
                let _taken = host.write(&machine, 0, all);
            }
        }
        wait(&machine);
        assert_eq!(machine.status().bays[1].status, Status::Failed, "{meets}");
        let told = machine.events().since(0);
        let about = told.iter().filter(|event| event.text.contains("sector")).count();
        assert!(about <= 4, "{meets}: {told:?}");
        let why = "cannot be read right after it was written";
        assert!(told.iter().any(|event| event.text.contains(why)), "{meets}: {told:?}");
        host.check(&machine, meets);
        while machine.status().sets[0].state != "optimal" {
            machine.rebuild(0).unwrap();
            wait(&machine);
        }
        host.check(&machine, meets);
    }
}

#[test]
fn a_drive_that_fails_by_itself_is_replaced_by_a_spare_at_once() {
    let shape = shape(Level::Raid5, 3, 1, 8, 96);
    let world = World::new(Loss::Ordered, 1);
    let options = Options { is_automatic: true, ..options(Loss::Ordered) };
    let machine = Machine::open(shape, Box::new(Bays(world.clone())), &options).unwrap();
    let mut host = Host::new(&machine);
    world.refuse(1);
    let all = host.sectors();
    host.write(&machine, 0, all).unwrap();
    host.settle();
    let is_optimal = || machine.status().sets[0].state == "optimal" && !machine.is_busy();
    while machine.status().bays[3].status != Status::InUse || !is_optimal() {
        std::thread::yield_now();
    }
    assert_eq!(machine.status().bays[1].status, Status::Failed);
    host.check(&machine, "on the spare");
}

#[test]
fn whole_sets_are_verified_after_the_machine_has_lost_power() {
    for (boot, is_verified) in [("one", false), ("two", true)] {
        let shape = shape(Level::Raid5, 4, 0, 8, 96);
        let world = World::new(Loss::Ordered, 1);
        let under = |boot: &str| Options { boot: boot.into(), ..options(Loss::Ordered) };
        let machine = try_open(&shape, &world, &under("one")).unwrap();
        write_all(&mut Host::new(&machine), &machine);
        drop(machine);
        let machine = try_open(&shape, &world, &under(boot)).unwrap();
        wait(&machine);
        assert_eq!(has_event(&machine, "set 0: verify started"), is_verified);
        assert_eq!(has_event(&machine, "the journal was not synced"), is_verified);
    }
}

#[test]
fn two_drives_that_fail_their_syncs_at_once_both_go_and_writes_go_on() {
    let (_, world, machine, mut host) = written(Level::Raid6, 5, 0);
    world.fail_syncs(&["bay 1", "bay 2"]);
    world.refuse(1);
    for _ in 0..3 {
        write_all(&mut host, &machine);
    }
    let status = machine.status();
    assert_eq!((status.bays[1].status, status.bays[2].status), (Status::Failed, Status::Failed));
    assert!(!status.is_write_protected);
    host.check(&machine, "without the two");
}

/// An array that was stopped, and of which a host had written sector 5 again; the disks in `losing` have what they had before that.
fn written_twice(level: Level, (members, spares): (u32, u32), losing: &[u32]) -> (Shape, Arc<World>, Host) {
    let (shape, world, machine, mut host) = written(level, members, spares);
    let machine = again(machine, &shape, &world);
    losing.iter().for_each(|&bay| world.copy(bay, &format!("old {bay}")));
    host.write(&machine, 5, 1).unwrap();
    machine.close().unwrap();
    host.settle();
    losing.iter().for_each(|&bay| world.refill(&format!("old {bay}"), bay));
    (shape, world, host)
}

#[test]
fn wrong_parity_is_found_and_repaired_beside_rows_that_cannot_be_read() {
    for (level, first) in [(Level::Raid5, 0), (Level::Raid6, 1)] {
        for is_damaged in [false, true] {
            // What a row has beside the data of the first disk that has some is of before the last write to that.
            let others: Vec<u32> = (0..5).filter(|bay| *bay != first).collect();
            let (shape, world, mut host) = written_twice(level, (5, 0), &others);
            let lost = if level == Level::Raid6 { 3 } else { 2 };
            if is_damaged {
                (0..lost).for_each(|bay| assert!(world.spoil(bay, byte_of(2))));
            }
            let machine = open(&shape, &world, Loss::Ordered);
            machine.verify(0, true).unwrap();
            wait(&machine);
            let pass = machine.status().passes.pop().unwrap();
            assert_eq!(pass.inconsistent_stripes, 1, "{level}: {pass}");
            assert_eq!(pass.unreadable_sectors > 0, is_damaged, "{level}: {pass}");
            machine.fail(first + 1).unwrap();
            let gone = host
                .check_what_is_there(&machine, &format!("{level}, damaged {is_damaged}, without a drive"));
            assert_eq!(gone > 0, is_damaged, "{level}");
        }
    }
}

#[test]
fn whatever_labels_fail_all_that_was_flushed_is_there_after_a_kill() {
    for level in [Level::Raid1, Level::Raid5, Level::Raid6] {
        for fails in 0..32 {
            for act in ["fail", "pull", "initialise"] {
                let (fails, error) = (fails / 2, if fails % 2 == 0 { libc::ENOSPC } else { libc::EIO });
                let (shape, world, machine, mut host) = written(level, 4, 0);
                world.fail_labels(fails, error);
                let done = match act {
                    "fail" => machine.fail(1),
                    "pull" => machine.pull(1),
                    _ => machine.initialise(0),
                };
                if act == "initialise" && done.is_ok() {
                    let all = host.sectors();
                    host.is_zeros(0, all);
                }
                let is_written = (0..host.sectors()).all(|lba| host.write(&machine, lba, 1).is_ok());
                if is_written && flush_all(&machine).is_ok() {
                    host.settle();
                }
                drop(machine);
                world.fail_labels(0, 0);
                let what = format!("{level}, {act}, {fails} labels, error {error}");
                let machine = try_open(&shape, &world, &options(Loss::Ordered)).expect(&what);
                wait(&machine);
                host.check(&machine, &what);
            }
        }
    }
}

#[test]
fn what_the_others_have_is_not_taken_for_a_sector_whose_checksum_says_otherwise() {
    // Those that lose the second write of a sector, and the one beside it whose sector is damaged.
    let lost: [(Level, &[u32], u32); 4] = [
        (Level::Raid5, &[1, 2, 3], 1),
        (Level::Raid6, &[0, 2, 3], 2),
        (Level::Raid6, &[0], 2),
        (Level::Raid6, &[3], 2),
    ];
    for (level, losing, damaged) in lost {
        let (shape, world, mut host) = written_twice(level, (4, 1), losing);
        assert!(world.spoil(damaged, byte_of(5)));
        let machine = open(&shape, &world, Loss::Ordered);
        machine.verify(0, false).unwrap();
        wait(&machine);
        let what = format!("{level}, {losing:?} lost a write");
        let gone = host.check_what_is_there(&machine, &what);
        // P and Q of before that write still fit each other without the disk that has it.
        let has_another = level == Level::Raid6;
        assert_eq!(gone, u64::from(!has_another), "{what}");
        assert_eq!(
            machine.status().passes.pop().unwrap().unreadable_sectors,
            u64::from(!has_another),
            "{what}"
        );
        machine.copy(damaged).unwrap();
        wait(&machine);
        assert_eq!(machine.status().bays[damaged as usize].status, Status::Unassigned, "{what}: copied");
        assert_eq!(host.check_what_is_there(&machine, &what), gone, "{what}: on the copy");
        if has_another {
            machine.verify(0, true).unwrap();
            wait(&machine);
            host.check(&machine, &what);
        }
    }
}

#[test]
fn a_verify_that_a_loss_of_power_asks_for_comes_once_the_set_is_optimal() {
    for is_away in [true, false] {
        // A verify has so many units to go that it is cut short.
        let units = 64;
        let shape = shape(Level::Raid5, 4, 1, 8, units * 1024);
        let world = World::new(Loss::Ordered, 1);
        let under = |boot: &str| Options { boot: boot.into(), ..options(Loss::Ordered) };
        let machine = try_open(&shape, &world, &under("one")).unwrap();
        let mut host = Host::new(&machine);
        (0..units).for_each(|unit| host.write(&machine, unit * 3 * 1024, 100).unwrap());
        host.settle();
        if is_away {
            machine.pull(1).unwrap();
        }
        drop(machine);
        let machine = try_open(&shape, &world, &under("two")).unwrap();
        if !is_away {
            machine.set_rate(64 << 10);
            machine.pull(1).unwrap();
            machine.set_rate(0);
        }
        wait(&machine);
        // It is not forgotten by another start, either.
        drop(machine);
        let machine = try_open(&shape, &world, &under("two")).unwrap();
        wait(&machine);
        assert!(!has_event(&machine, "verify complete"), "away {is_away}");
        machine.rebuild(0).unwrap();
        wait(&machine);
        wait(&machine);
        assert!(has_event(&machine, "verify complete"), "away {is_away}");
        host.check(&machine, "after all");
    }
}

/// One member sector of two or three drives, and which host sectors those of data are.
fn unreadable_on(shape: &Shape, world: &World, bays: &[u32], row: u64) -> Vec<u64> {
    for &bay in bays {
        world.scramble(bay, tag_of(row)..tag_of(row + 1));
        world.scramble(bay, byte_of(row)..byte_of(row + 1));
    }
    let geometry = &shape.sets[0].geometry;
    let is_hit = |lba: &u64| {
        let place = geometry.place(units::Lba(*lba)).unwrap();
        place.lba.0 == row && bays.contains(&u32::from(place.slot))
    };
    (0..geometry.capacity().0).filter(is_hit).collect()
}

#[test]
fn what_cannot_be_computed_is_an_error_until_it_is_written_each_sector_by_itself() {
    let cases: [(Level, u32, &[u32]); 3] =
        [(Level::Raid5, 4, &[0, 1]), (Level::Raid5, 4, &[0, 2]), (Level::Raid6, 6, &[0, 1, 2])];
    for (level, members, bays) in cases {
        for crash in [None, Some(1), Some(3), Some(5), Some(8), Some(12), Some(20)] {
            let (shape, world, machine, mut host) = written(level, members, 0);
            machine.close().unwrap();
            drop(machine);
            let lost = unreadable_on(&shape, &world, bays, 40);
            assert!(!lost.is_empty(), "some of them hold data");
            let mut machine = open(&shape, &world, Loss::Ordered);
            if let Some(crash) = crash {
                world.crash_after(crash);
            }
            let what = format!("{level}, {bays:?}, crash {crash:?}");
            for &lba in &lost {
                let answer = host.write(&machine, lba, 1);
                if crash.is_none() {
                    answer.unwrap_or_else(|why| panic!("{what}: {why}"));
                    host.settle();
                }
            }
            if crash.is_some() {
                drop(machine);
                world.revive();
                machine = open(&shape, &world, Loss::Ordered);
            }
            host.check_what_is_there(&machine, &what);
            for &lba in &lost {
                host.write(&machine, lba, 1).unwrap();
            }
            host.settle();
            host.check(&machine, &format!("{what}, written"));
            machine.verify(0, true).unwrap();
            wait(&machine);
            machine.fail(3).unwrap();
            host.check(&machine, &format!("{what}, without a drive that had it all"));
        }
    }
}
