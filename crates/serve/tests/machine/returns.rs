//! Drives that come back: what they have missed, and from whom they get it.

use std::sync::Arc;

use array::raid::Level;
use serve::config::Status;
use serve::machine::{Insert, Machine, Options, Shape};
use units::Lba;

use crate::host::Host;
use crate::world::{Loss, World, again, assert_verifies, has_event, open, shape, wait, written};

/// Writes every host sector that lies in a group of the first set.
fn write_group(machine: &Machine, shape: &Shape, host: &mut Host, group: u32) {
    let geometry = &shape.sets[0].geometry;
    for lba in 0..host.sectors() {
        if geometry.group_of(geometry.place(Lba(lba)).unwrap().slot) == group {
            host.write(machine, lba, 1).unwrap();
        }
    }
    host.settle();
}

/// A nested level, its members, and those of the first group that are one too many to lose.
const NESTED: [(Level, u32, &[u32]); 5] = [
    (Level::Raid10, 4, &[0, 1]),
    (Level::Raid10, 6, &[0, 1]),
    (Level::Raid50, 6, &[0, 2]),
    (Level::Raid60, 8, &[0, 1, 3]),
    (Level::Raid0, 3, &[0]),
];

#[test]
fn what_is_written_to_another_group_is_not_missed_by_the_drives_of_one_that_has_failed() {
    for (level, members, lost) in NESTED {
        for is_reversed in [false, true] {
            for is_started_again in [false, true] {
                let what = format!("{level}, reversed {is_reversed}, started again {is_started_again}");
                let (shape, world, mut machine, mut host) = written(level, members, 0);
                lost.iter().for_each(|&bay| machine.pull(bay).unwrap());
                assert_eq!(machine.status().sets[0].state, "failed", "{what}");
                write_group(&machine, &shape, &mut host, 1);
                if is_started_again {
                    machine = again(machine, &shape, &world);
                }
                let mut back = lost.to_vec();
                if is_reversed {
                    back.reverse();
                }
                for bay in back {
                    assert_eq!(machine.insert(bay, &Insert::Same).unwrap(), Status::InUse, "{what}");
                }
                wait(&machine);
                assert_eq!(machine.status().sets[0].state, "optimal", "{what}");
                host.check(&machine, &what);
                if level != Level::Raid0 {
                    assert_verifies(&machine, &what);
                }
            }
        }
    }
}

#[test]
fn a_group_is_rebuilt_though_another_one_has_failed() {
    let (_, _, machine, mut host) = written(Level::Raid10, 4, 1);
    machine.pull(0).unwrap();
    machine.pull(1).unwrap();
    machine.pull(2).unwrap();
    machine.rebuild(0).unwrap();
    wait(&machine);
    machine.pull(3).unwrap();
    assert!(host.check_what_is_there(&machine, "half of it") > 0);
    machine.insert(1, &Insert::Same).unwrap();
    host.check(&machine, "one drive of each pair, one of them the spare");
}

#[test]
fn a_drive_of_a_group_gets_what_it_missed_though_another_group_has_failed() {
    let (shape, _, machine, mut host) = written(Level::Raid50, 6, 0);
    machine.pull(0).unwrap();
    machine.pull(1).unwrap();
    machine.pull(4).unwrap();
    write_group(&machine, &shape, &mut host, 1);
    assert_eq!(machine.insert(4, &Insert::Same).unwrap(), Status::InUse);
    wait(&machine);
    for bay in [1, 0] {
        assert_eq!(machine.insert(bay, &Insert::Same).unwrap(), Status::InUse);
    }
    wait(&machine);
    assert_eq!(machine.status().sets[0].state, "optimal");
    assert_verifies(&machine, "all drives");
    machine.pull(5).unwrap();
    host.check(&machine, "read from the one that was behind");
}

/// RAID 5 of three with a hot spare, of 16 regions, all written; slot 0 is being filled on the spare and has got to about half.
fn half_filled() -> (Arc<Machine>, Host) {
    let shape = shape(Level::Raid5, 3, 1, 8, 8 * 4096);
    let machine = Machine::in_memory(shape, &Options::default()).unwrap();
    let mut host = Host::new(&machine);
    let all = host.sectors();
    host.write(&machine, 0, all).unwrap();
    host.settle();
    fill_half(&machine, 0);
    (machine, host)
}

/// Pulls a drive, and has a spare be filled for it to about half, slowly.
fn fill_half(machine: &Arc<Machine>, bay: u32) {
    // One unit of a rebuild is half a region.
    machine.set_rate(4 << 20);
    machine.pull(bay).unwrap();
    machine.rebuild(0).unwrap();
    while machine.status().works.first().is_some_and(|work| work.done < 0.5) {
        serve::clock::wait(std::time::Duration::from_millis(1));
    }
}

#[test]
fn a_drive_that_missed_part_of_a_region_gets_it_from_one_that_is_filled_no_further() {
    for _ in 0..6 {
        let (machine, mut host) = half_filled();
        machine.pull(1).unwrap();
        assert_eq!(machine.status().sets[0].state, "failed");
        // Up to where it is filled, and what lies beyond is refused.
        let refused = (0..host.sectors() / 8).find(|part| {
            host.settle();
            host.write(&machine, part * 8, 8).is_err()
        });
        assert!(refused.is_some_and(|part| part > 0), "{refused:?}");
        assert_eq!(machine.insert(1, &Insert::Same).unwrap(), Status::InUse);
        machine.set_rate(0);
        wait(&machine);
        assert_eq!(machine.status().sets[0].state, "optimal", "{:?}", machine.events().since(0));
        assert_verifies(&machine, "all drives");
        machine.pull(2).unwrap();
        host.check(&machine, "from the drive that missed a part");
    }
}

#[test]
fn a_drive_that_is_given_what_it_missed_gets_all_of_it_though_another_is_lost_meanwhile() {
    let shape = shape(Level::Raid6, 5, 0, 8, 8 * 4096);
    let machine = Machine::in_memory(shape, &Options::default()).unwrap();
    let mut host = Host::new(&machine);
    let all = host.sectors();
    machine.pull(0).unwrap();
    host.write(&machine, 0, all).unwrap();
    host.settle();
    machine.set_rate(4 << 20);
    assert_eq!(machine.insert(0, &Insert::Same).unwrap(), Status::InUse);
    machine.pull(2).unwrap();
    machine.set_rate(0);
    wait(&machine);
    machine.pull(3).unwrap();
    host.check(&machine, "read from the drive that came back");
}

#[test]
fn a_drive_that_is_given_what_it_missed_keeps_the_rest_over_a_start() {
    let shape = shape(Level::Raid5, 3, 1, 8, 4 * 2048);
    let world = World::new(Loss::Ordered, 1);
    let machine = open(&shape, &world, Loss::Ordered);
    let mut host = Host::new(&machine);
    (0..host.sectors() / 128).for_each(|part| host.write(&machine, part * 128, 128).unwrap());
    host.settle();
    fill_half(&machine, 0);
    machine.pull(1).unwrap();
    host.write(&machine, 0, 8).unwrap();
    host.settle();
    let machine = again(machine, &shape, &world);
    machine.set_rate(1);
    assert_eq!(machine.insert(1, &Insert::Same).unwrap(), Status::InUse);
    // What lies beyond the half is on none but the drive that is back.
    let machine = again(machine, &shape, &world);
    wait(&machine);
    assert_eq!(machine.status().sets[0].state, "optimal", "{:?}", machine.events().since(0));
    host.check(&machine, "after the start");
    assert_verifies(&machine, "after the start");
}

#[test]
fn what_a_drive_missed_before_another_one_went_and_was_replaced_is_not_forgotten() {
    let shape = shape(Level::Raid6, 5, 1, 8, 4 * 2048);
    let machine = Machine::in_memory(shape, &Options { is_automatic: false, ..Options::default() }).unwrap();
    let mut host = Host::new(&machine);
    machine.pull(1).unwrap();
    (0..host.sectors() / 256).for_each(|part| host.write(&machine, part * 256, 256).unwrap());
    host.settle();
    machine.pull(0).unwrap();
    machine.rebuild(0).unwrap();
    wait(&machine);
    assert_eq!(
        machine.status().sets[0].slots[..2],
        [Some(5), None],
        "the spare is in the slot that was lost last"
    );
    assert_eq!(machine.insert(1, &Insert::Same).unwrap(), Status::InUse);
    wait(&machine);
    assert_eq!(machine.status().sets[0].state, "optimal");
    assert_verifies(&machine, "one of the old drives and the spare");
    machine.pull(2).unwrap();
    machine.pull(3).unwrap();
    host.check(&machine, "read from the drive that came back");
}

#[test]
fn what_a_drive_missed_is_not_forgotten_when_another_comes_back_twice() {
    for (level, members) in [(Level::Raid6, 4), (Level::Raid60, 8)] {
        let (_, _, machine, mut host) = written(level, members, 0);
        machine.pull(1).unwrap();
        host.write(&machine, 0, 64).unwrap();
        machine.pull(3).unwrap();
        machine.insert(3, &Insert::Same).unwrap();
        wait(&machine);
        machine.pull(3).unwrap();
        host.write(&machine, 80, 4).unwrap();
        host.settle();
        for bay in [3, 1] {
            assert_eq!(machine.insert(bay, &Insert::Same).unwrap(), Status::InUse, "{level}");
            wait(&machine);
        }
        assert_eq!(machine.status().sets[0].state, "optimal", "{level}");
        host.check(&machine, &format!("{level}, all drives"));
        assert_verifies(&machine, &format!("{level}"));
    }
}

#[test]
fn both_copies_of_raid_1e_lie_in_one_region_however_large_its_chunks_are() {
    for chunk in [2048, 3000] {
        let shape = shape(Level::Raid1E, 3, 0, chunk, 4 * chunk);
        let machine = Machine::in_memory(shape, &Options::default()).unwrap();
        let mut host = Host::new(&machine);
        // Of each drive the strip whose first copy is on it, and the one whose second copy is.
        for (bay, strip) in (0..3).flat_map(|bay| [(bay, u64::from(bay)), (bay, (u64::from(bay) + 2) % 3)]) {
            machine.pull(bay).unwrap();
            host.write(&machine, strip * chunk + 1500, 8).unwrap();
            host.settle();
            assert_eq!(machine.insert(bay, &Insert::Same).unwrap(), Status::InUse);
            wait(&machine);
            assert_verifies(&machine, &format!("chunks of {chunk}, bay {bay}"));
        }
        for bay in 0..3 {
            machine.pull(bay).unwrap();
            host.check(&machine, &format!("chunks of {chunk}, without bay {bay}"));
            machine.insert(bay, &Insert::Same).unwrap();
        }
    }
}

/// RAID 5 of three with a spare, all written; slot 1 is being filled on the spare in bay 3 and has got to about half.
fn filling(world: &Arc<World>, shape: &Shape) -> (Arc<Machine>, Host) {
    let machine = open(shape, world, Loss::Ordered);
    let mut host = Host::new(&machine);
    (0..host.sectors() / 128).for_each(|part| host.write(&machine, part * 128, 128).unwrap());
    host.settle();
    fill_half(&machine, 1);
    (machine, host)
}

#[test]
fn a_spare_that_was_being_filled_and_has_missed_nothing_is_filled_further_when_it_comes_back() {
    for is_started_again in [false, true] {
        let shape = shape(Level::Raid5, 3, 1, 8, 4 * 2048);
        let world = World::new(Loss::Ordered, 1);
        let (mut machine, mut host) = filling(&world, &shape);
        machine.pull(0).unwrap();
        // The drive in bay 0 misses it; the spare does not.
        host.write(&machine, 0, 8).unwrap();
        host.settle();
        machine.pull(3).unwrap();
        if is_started_again {
            machine = again(machine, &shape, &world);
        }
        for bay in [3, 0] {
            let what = format!("bay {bay}, started again {is_started_again}");
            assert_eq!(machine.insert(bay, &Insert::Same).unwrap(), Status::InUse, "{what}");
        }
        machine.set_rate(0);
        wait(&machine);
        assert_eq!(machine.status().sets[0].state, "optimal", "{:?}", machine.events().since(0));
        host.check(&machine, "with the spare");
        assert_verifies(&machine, "with the spare");
        machine.pull(2).unwrap();
        host.check(&machine, "from the spare");
    }
}

#[test]
fn a_spare_that_was_being_filled_and_has_missed_something_is_refused() {
    let shape = shape(Level::Raid6, 4, 1, 8, 4 * 2048);
    for is_started_again in [false, true] {
        let world = World::new(Loss::Ordered, 1);
        let (mut machine, mut host) = filling(&world, &shape);
        machine.pull(4).unwrap();
        host.write(&machine, 0, 8).unwrap();
        host.settle();
        if is_started_again {
            machine = again(machine, &shape, &world);
        }
        assert_eq!(machine.insert(4, &Insert::Same).unwrap(), Status::Stale);
        machine.clear(4, None).unwrap();
        machine.rebuild(0).unwrap();
        machine.set_rate(0);
        wait(&machine);
        assert_eq!(machine.status().sets[0].state, "optimal");
        assert_verifies(&machine, "filled anew");
        machine.pull(0).unwrap();
        host.check(&machine, "filled anew");
    }
}

/// One that is written all over, and the drive in bay 0 copied to the spare in bay `spare`, to about half.
fn half_copied(world: &Arc<World>, shape: &Shape, spare: u32) -> (Arc<Machine>, Host) {
    let machine = open(shape, world, Loss::Ordered);
    let mut host = Host::new(&machine);
    (0..host.sectors() / 128).for_each(|part| host.write(&machine, part * 128, 128).unwrap());
    host.settle();
    if shape.sets[0].geometry.spec().level != Level::Raid0 {
        machine.pull(1).unwrap();
    }
    machine.set_rate(4 << 20);
    machine.copy(0).unwrap();
    while machine.status().works.first().is_some_and(|work| work.done < 0.5) {
        serve::clock::wait(std::time::Duration::from_millis(1));
    }
    machine.pull(0).unwrap();
    assert_eq!(machine.status().sets[0].slots[0], Some(spare));
    (machine, host)
}

#[test]
fn the_drive_that_a_copy_was_made_of_has_its_slot_again_in_a_set_that_has_failed_without_it() {
    for (level, members) in [(Level::Raid1, 2), (Level::Raid5, 3), (Level::Raid0, 3)] {
        for is_started_again in [false, true] {
            let what = format!("{level}, started again {is_started_again}");
            let shape = shape(level, members, 1, 8, 4 * 2048);
            let world = World::new(Loss::Ordered, 1);
            let (mut machine, mut host) = half_copied(&world, &shape, members);
            assert_eq!(machine.status().sets[0].state, "failed", "{what}");
            if is_started_again {
                machine = again(machine, &shape, &world);
            }
            assert_eq!(machine.insert(0, &Insert::Same).unwrap(), Status::InUse, "{what}");
            assert_eq!(machine.status().sets[0].slots[0], Some(0), "{what}");
            assert!(has_event(&machine, "takes its slot again from the drive in bay"), "{what}");
            host.check(&machine, &what);
            let state = machine.status().bays[members as usize].status;
            assert_eq!(state, Status::Unassigned, "{what}: the copy is no more");
            machine.spare(members).unwrap();
            if level != Level::Raid0 {
                machine.rebuild(0).unwrap();
                machine.set_rate(0);
                wait(&machine);
                assert_eq!(machine.status().sets[0].state, "optimal", "{what}");
                assert_verifies(&machine, &what);
                machine.pull(0).unwrap();
                host.check(&machine, &what);
            }
        }
    }
}

#[test]
fn a_drive_that_has_its_slot_again_has_what_was_written_to_the_one_in_its_place() {
    for is_started_again in [false, true] {
        for (level, members) in [(Level::Raid1, 2), (Level::Raid5, 3), (Level::Raid0, 3)] {
            let what = format!("{level}, started again {is_started_again}");
            let shape = shape(level, members, 1, 8, 4 * 2048);
            let world = World::new(Loss::Ordered, 1);
            let (mut machine, mut host) = half_copied(&world, &shape, members);
            // What lies where the copy has come to is taken; beyond, there is nothing that takes it.
            let refused = (0..host.sectors() / 64).find(|part| {
                host.settle();
                host.write(&machine, part * 64, 8).is_err()
            });
            assert!(refused.is_some_and(|part| part > 0), "{what}: {refused:?}");
            if is_started_again {
                machine = again(machine, &shape, &world);
            }
            assert_eq!(machine.insert(0, &Insert::Same).unwrap(), Status::InUse, "{what}");
            host.check(&machine, &what);
            let machine = again(machine, &shape, &world);
            host.check(&machine, &what);
            if level != Level::Raid0 {
                machine.insert(1, &Insert::Same).unwrap();
                wait(&machine);
                assert_eq!(machine.status().sets[0].state, "optimal", "{what}");
                assert_verifies(&machine, &what);
            }
        }
    }
}

#[test]
fn a_drive_that_has_missed_what_no_other_one_has_is_refused_while_a_spare_is_filled_for_it() {
    let shape = shape(Level::Raid5, 3, 1, 8, 4 * 2048);
    let world = World::new(Loss::Ordered, 1);
    let (machine, mut host) = filling(&world, &shape);
    // Beyond the mark of the spare.
    host.write(&machine, host.sectors() - 64, 8).unwrap();
    host.settle();
    machine.pull(0).unwrap();
    let first = machine.status().bays[0].serial.clone();
    assert_eq!(machine.insert(1, &Insert::Same).unwrap(), Status::Stale);
    assert!(machine.refused_as(1).1.contains(&format!("reinsert drive {first} of bay 0 first")));
    machine.insert(0, &Insert::Same).unwrap();
    machine.set_rate(0);
    wait(&machine);
    host.check(&machine, "with the spare");
    assert_verifies(&machine, "with the spare");
}

#[test]
fn a_drive_that_has_missed_nothing_has_its_slot_again_though_a_spare_is_being_filled_for_it() {
    for (is_started_again, is_automatic) in [(false, false), (true, false), (false, true)] {
        let what = format!("started again {is_started_again}, spares by themselves {is_automatic}");
        let shape = shape(Level::Raid5, 3, 1, 8, 4 * 2048);
        let world = World::new(Loss::Ordered, 1);
        let (mut machine, mut host) = if is_automatic {
            let machine = Machine::in_memory(shape.clone(), &Options::default()).unwrap();
            let mut host = Host::new(&machine);
            (0..host.sectors() / 128).for_each(|part| host.write(&machine, part * 128, 128).unwrap());
            host.settle();
            machine.set_rate(4 << 20);
            machine.pull(1).unwrap();
            (machine, host)
        } else {
            filling(&world, &shape)
        };
        machine.pull(0).unwrap();
        assert_eq!(machine.status().sets[0].state, "failed", "{what}");
        if is_started_again {
            machine = again(machine, &shape, &world);
        }
        machine.set_rate(0);
        assert_eq!(machine.insert(1, &Insert::Same).unwrap(), Status::InUse, "{what}");
        host.check(&machine, &what);
        if !is_automatic {
            machine.spare(3).unwrap();
            machine.rebuild(0).unwrap();
        }
        wait(&machine);
        let status = machine.status();
        assert_eq!(
            (status.sets[0].state.as_str(), &status.sets[0].slots[..]),
            ("optimal", &[Some(3), Some(1), Some(2)][..]),
            "{what}: {:?}",
            machine.events().since(0)
        );
        assert_verifies(&machine, &what);
        machine.pull(2).unwrap();
        host.check(&machine, &what);
    }
}

#[test]
fn a_drive_whose_slot_was_filled_on_a_spare_that_is_gone_gets_what_it_missed() {
    for is_started_again in [false, true] {
        let shape = shape(Level::Raid5, 3, 1, 8, 4 * 2048);
        let world = World::new(Loss::Ordered, 1);
        let (mut machine, mut host) = filling(&world, &shape);
        machine.pull(3).unwrap();
        host.write(&machine, 0, 8).unwrap();
        host.settle();
        if is_started_again {
            machine = again(machine, &shape, &world);
        }
        machine.set_rate(0);
        assert_eq!(machine.insert(1, &Insert::Same).unwrap(), Status::InUse);
        wait(&machine);
        assert_eq!(machine.status().sets[0].state, "optimal", "{:?}", machine.events().since(0));
        assert_verifies(&machine, "with its own drive");
        machine.pull(2).unwrap();
        host.check(&machine, "from the drive that came back");
    }
}

#[test]
fn what_one_drive_missed_is_known_to_the_sector_while_another_gets_what_that_missed() {
    for is_started_again in [false, true] {
        let shape = shape(Level::Raid6, 4, 0, 8, 4 * 2048);
        let world = World::new(Loss::Ordered, 1);
        let mut machine = open(&shape, &world, Loss::Ordered);
        let mut host = Host::new(&machine);
        machine.pull(2).unwrap();
        (0..host.sectors() / 128).for_each(|part| host.write(&machine, part * 128, 128).unwrap());
        host.settle();
        machine.pull(0).unwrap();
        (0..host.sectors() / 128).for_each(|part| host.write(&machine, part * 128, 128).unwrap());
        host.settle();
        machine.set_rate(4 << 20);
        assert_eq!(machine.insert(0, &Insert::Same).unwrap(), Status::InUse);
        while machine.status().works.first().is_some_and(|work| work.done < 0.1) {
            serve::clock::wait(std::time::Duration::from_millis(1));
        }
        machine.pull(1).unwrap();
        assert_eq!(machine.status().sets[0].state, "failed");
        host.write(&machine, 0, 4).unwrap();
        host.settle();
        if is_started_again {
            machine = again(machine, &shape, &world);
        }
        assert_eq!(
            machine.insert(1, &Insert::Same).unwrap(),
            Status::InUse,
            "started again {is_started_again}: {:?}",
            machine.events().since(0)
        );
        machine.set_rate(0);
        wait(&machine);
        host.check(&machine, "with both that came back");
        machine.insert(2, &Insert::Same).unwrap();
        wait(&machine);
        assert_eq!(machine.status().sets[0].state, "optimal");
        assert_verifies(&machine, "all drives");
    }
}

#[test]
fn a_drive_that_a_failed_set_cannot_use_yet_is_told_which_one_has_to_come_first() {
    let (_, _, machine, mut host) = written(Level::Raid5, 3, 0);
    machine.pull(0).unwrap();
    host.write(&machine, 0, 8).unwrap();
    host.settle();
    machine.pull(1).unwrap();
    let first = machine.status().bays[1].serial.clone();
    assert_eq!(machine.insert(0, &Insert::Same).unwrap(), Status::Stale);
    assert_eq!(
        machine.refused_as(0).1,
        format!("a set has failed: reinsert drive {first} of bay 1 first, then pull and reinsert this one")
    );
    machine.insert(1, &Insert::Same).unwrap();
    assert_eq!(
        machine.refused_as(0).1,
        "`fathom array clear 0` forgets what is on it and makes it a hot spare"
    );
}

#[test]
fn a_drive_that_a_failed_set_may_need_is_cleared_with_its_serial_number_alone() {
    let (_, _, machine, mut host) = written(Level::Raid5, 3, 0);
    machine.pull(0).unwrap();
    host.write(&machine, 0, 8).unwrap();
    host.settle();
    machine.fail(1).unwrap();
    assert_eq!(machine.insert(0, &Insert::Same).unwrap(), Status::Stale);
    for bay in [0, 1] {
        let serial = machine.status().bays[bay as usize].serial.clone();
        let consent = format!("fathom array clear {bay} --destroy {serial}");
        for refused in [machine.clear(bay, None), machine.spare(bay)] {
            let why = refused.unwrap_err().to_string();
            assert!(why.contains(&consent), "{why}");
        }
        let why = machine.clear(bay, Some("ANOTHER")).unwrap_err().to_string();
        assert!(why.contains(&serial) && why.contains("not ANOTHER"), "{why}");
    }
    // Nothing was forgotten: the set comes back.
    machine.pull(1).unwrap();
    machine.insert(1, &Insert::Same).unwrap();
    assert_eq!(machine.status().sets[0].state, "degraded");
    host.check(&machine, "with the drive that was not cleared");
    machine.clear(0, None).unwrap();
    machine.rebuild(0).unwrap();
    machine.set_rate(0);
    wait(&machine);
    assert_eq!(machine.status().sets[0].state, "optimal");
    let serial = machine.status().bays[0].serial.clone();
    machine.fail(0).unwrap();
    machine.fail(1).unwrap();
    machine.clear(0, Some(&serial)).unwrap();
    assert_eq!(machine.status().bays[0].status, Status::Spare);
}

#[test]
fn drives_that_get_what_they_missed_from_each_other_go_on_after_a_stop_at_any_write() {
    for (level, members, other) in [(Level::Raid5, 3, None), (Level::Raid6, 4, Some(3))] {
        for crash in 1..30 {
            let what = format!("{level}, stopped at write {crash}");
            let shape = shape(level, members, 0, 8, 3 * 2048);
            let world = World::new(Loss::Ordered, crash);
            let machine = open(&shape, &world, Loss::Ordered);
            let mut host = Host::new(&machine);
            let parts = host.sectors() / 256;
            (0..parts).for_each(|part| host.write(&machine, part * 256, 256).unwrap());
            other.into_iter().for_each(|bay| machine.pull(bay).unwrap());
            machine.pull(1).unwrap();
            (0..parts).for_each(|part| host.write(&machine, part * 256, 8).unwrap());
            host.settle();
            machine.set_rate(4 << 20);
            machine.insert(1, &Insert::Same).unwrap();
            while machine.status().works.first().is_some_and(|work| work.done < 0.3) {
                serve::clock::wait(std::time::Duration::from_millis(1));
            }
            machine.pull(0).unwrap();
            host.write(&machine, 0, 8).unwrap();
            host.settle();
            machine.set_rate(0);
            world.crash_after(crash);
            // Until it stops: what is taken is done, and one that is not may be.
            if machine.insert(0, &Insert::Same).is_ok() {
                for part in (0..parts).rev().cycle().take(400).take_while(|_| !world.is_dead()) {
                    if host.write(&machine, part * 256 + 16, 8).is_ok() {
                        host.settle_sectors(part * 256 + 16, 8);
                    }
                }
            }
            drop(machine);
            world.revive();
            let machine = open(&shape, &world, Loss::Ordered);
            // It may have stopped before the drive was in.
            let _in_already = machine.insert(0, &Insert::Same);
            wait(&machine);
            other.into_iter().for_each(|bay| drop(machine.insert(bay, &Insert::Same)));
            wait(&machine);
            let status = machine.status();
            assert_eq!(status.sets[0].state, "optimal", "{what}: {:?}", machine.events().since(0));
            host.check(&machine, &what);
            assert_verifies(&machine, &what);
        }
    }
}

#[test]
fn a_drive_gets_no_more_than_what_it_missed_when_a_host_writes_while_it_is_given_that() {
    let shape = shape(Level::Raid5, 3, 0, 8, 3 * 2048);
    let machine = Machine::in_memory(shape, &Options::default()).unwrap();
    let mut host = Host::new(&machine);
    let all = host.sectors();
    machine.pull(1).unwrap();
    host.write(&machine, 0, all).unwrap();
    host.settle();
    machine.set_rate(1 << 20);
    machine.insert(1, &Insert::Same).unwrap();
    // That is in the middle of a region.
    while machine.status().works.first().is_some_and(|work| work.done < 0.1) {
        serve::clock::wait(std::time::Duration::from_millis(1));
    }
    machine.pull(0).unwrap();
    let row = |row: u64| 2 * row;
    host.write(&machine, row(0), 8).unwrap();
    machine.set_rate(64);
    assert_eq!(machine.insert(0, &Insert::Same).unwrap(), Status::InUse);
    // It has that at once, and waits for its limit.
    while !machine.status().works.iter().any(|work| work.slot == Some(0) && work.done > 0.0) {
        serve::clock::wait(std::time::Duration::from_millis(1));
    }
    host.write(&machine, row(600), 8).unwrap();
    host.settle();
    machine.set_rate(0);
    wait(&machine);
    assert_eq!(machine.status().sets[0].state, "optimal", "{:?}", machine.events().since(0));
    host.check(&machine, "all drives");
    assert_verifies(&machine, "all drives");
}
