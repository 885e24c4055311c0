//! Members that fail, lie, go away and come back.

use std::sync::Arc;

use array::raid::Level;
use serve::config::Status;
use serve::control::{Answer, Command, obey};
use serve::events::Severity;
use serve::machine::{CacheAction, FrontShape, Insert, Machine, OpenError, OperateError, Options};
use serve::set::Fault;

use units::convert::narrow;

use crate::host::Host;
use crate::world::{Bays, Draws, Loss, World, byte_of, open, options, random_shape, shape, wait};

#[test]
fn within_what_the_level_survives_every_request_gives_what_was_written() {
    for seed in 0..300 {
        let mut draws = Draws::new(seed);
        let shape = random_shape(&mut draws, 2);
        let spec = shape.sets[0].geometry.spec().clone();
        let world = World::new(Loss::Ordered, seed);
        let machine = open(&shape, &world, Loss::Ordered);
        let mut host = Host::new(&machine);
        let what = format!("seed {seed}, {spec:?}");
        for _ in 0..30 {
            let (lba, count) = host.place(&mut draws);
            match draws.below(12) {
                0 => host.zero(&machine, lba, count).unwrap(),
                1 => {
                    let bays = machine.status().bays;
                    let lost = bays.iter().filter(|bay| bay.bay < spec.members && bay.slot.is_none()).count();
                    let can_fail = lost < spec.level.survives(spec.members) as usize;
                    if can_fail && machine.status().sets[0].state == "optimal" {
                        // One whose copy has taken its place is in no slot any more.
                        let used: Vec<u32> =
                            bays.iter().filter(|bay| bay.slot.is_some()).map(|bay| bay.bay).collect();
                        let failed = machine.fail(used[narrow::<usize>(draws.below(used.len() as u64))]);
                        // Its copy may have taken its place since it was looked.
                        assert!(
                            matches!(failed, Ok(()) | Err(OperateError::WrongState { .. })),
                            "{failed:?}"
                        );
                    }
                }
                2 => {
                    let _nothing_lost = machine.rebuild(0);
                    if draws.one_in(2) {
                        wait(&machine);
                    }
                }
                3 => {
                    let _has_no_spare = machine.copy(narrow(draws.below(u64::from(spec.members))));
                }
                _ => host.write(&machine, lba, count).unwrap(),
            }
            host.settle();
        }
        host.check(&machine, &what);
        wait(&machine);
        host.check(&machine, &what);
        machine.close().unwrap();
        drop(machine);
        let machine = open(&shape, &world, Loss::Ordered);
        host.check(&machine, &format!("{what}, started again"));
    }
}

#[test]
fn beyond_what_the_level_survives_there_are_errors_and_never_wrong_data() {
    for seed in 0..200 {
        let mut draws = Draws::new(seed);
        let shape = random_shape(&mut draws, 0);
        let spec = shape.sets[0].geometry.spec().clone();
        let world = World::new(Loss::Ordered, seed);
        let machine = open(&shape, &world, Loss::Ordered);
        let mut host = Host::new(&machine);
        for _ in 0..12 {
            let (lba, count) = host.place(&mut draws);
            host.write(&machine, lba, count).unwrap();
            host.settle();
        }
        let lost = spec.level.survives(spec.members) + 1;
        for bay in 0..lost.min(spec.members) {
            machine.fail(bay).unwrap();
        }
        let errors = host.check_what_is_there(&machine, &format!("seed {seed}, {spec:?}"));
        let must_lose = !matches!(spec.level, Level::Raid10 | Level::Raid1E | Level::Raid50);
        assert!(errors > 0 || !must_lose, "seed {seed}, {spec:?}");
        let status = machine.status();
        assert_eq!(status.sets[0].state == "failed", errors > 0, "seed {seed}, {spec:?}");
        for _ in 0..12 {
            let (lba, count) = host.place(&mut draws);
            // Taken or not: what can be read is one of both.
            let _refused = host.write(&machine, lba, count);
        }
        host.check_what_is_there(&machine, &format!("seed {seed}, {spec:?}, written again"));
    }
}

#[test]
fn silent_corruption_is_corrected_by_reads_and_by_a_scrub_and_never_read() {
    for level in [Level::Raid1, Level::Raid1E, Level::Raid10, Level::Raid5, Level::Raid6] {
        for seed in 0..40 {
            let mut draws = Draws::new(seed);
            let shape = shape(level, 4, 0, 8, 96);
            let world = World::new(Loss::Ordered, seed);
            let machine = open(&shape, &world, Loss::Ordered);
            let mut host = Host::new(&machine);
            let all = host.sectors();
            host.write(&machine, 0, all).unwrap();
            host.settle();
            // Behind both labels and the tags of the only group.
            let bay = narrow::<u32>(draws.below(4));
            let spoilt: u64 =
                (0..5).filter(|_| world.spoil(bay, byte_of(0) + draws.below(96 * 512))).count() as u64;
            assert!(spoilt > 0);
            if seed % 2 == 0 {
                host.check(&machine, "read");
            } else {
                let (lba, count) = host.place(&mut draws);
                host.write(&machine, lba, count).unwrap();
                host.settle();
            }
            machine.verify(0, true).unwrap();
            wait(&machine);
            machine.verify(0, false).unwrap();
            wait(&machine);
            let events = machine.events().since(0);
            assert!(events.last().unwrap().text.ends_with("verify complete"), "{level}: {events:?}");
            host.check(&machine, "after the scrub");
            let told = events.iter().any(|event| event.text.contains(&format!("bay {bay}: sector")));
            assert!(told || seed % 2 == 1, "{level}: the log names the drive");
        }
    }
}

#[test]
fn a_drive_that_is_pulled_and_put_back_gets_only_what_it_missed() {
    let shape = shape(Level::Raid5, 4, 0, 8, 8 * 4096);
    let world = World::new(Loss::Ordered, 1);
    let machine = open(&shape, &world, Loss::Ordered);
    let mut host = Host::new(&machine);
    host.write(&machine, 0, 400).unwrap();
    machine.pull(2).unwrap();
    host.write(&machine, 100, 50).unwrap();
    host.settle();
    host.check(&machine, "without the drive");
    assert_eq!(machine.insert(2, &Insert::Same).unwrap(), Status::InUse);
    wait(&machine);
    assert_eq!(machine.status().sets[0].state, "optimal");
    host.check(&machine, "with the drive");
    machine.verify(0, false).unwrap();
    wait(&machine);
    assert!(machine.events().since(0).last().unwrap().text.ends_with("verify complete"));
}

#[test]
fn the_answer_to_a_lost_drive_says_how_its_set_is_without_it_and_what_brings_a_failed_one_back() {
    let done = |machine: &Arc<Machine>, command: Command| match obey(machine, command) {
        Answer::Done(text) => text,
        answer => panic!("{answer:?}"),
    };
    let options = |is_automatic| Options { is_automatic, ..Options::default() };
    let of = |spares, is_automatic| {
        Machine::in_memory(shape(Level::Raid5, 4, spares, 8, 96), &options(is_automatic)).unwrap()
    };
    let machine = of(1, true);
    let _slow = machine.set_rate(1);
    let taken = done(&machine, Command::Pull { bay: 2 });
    assert_eq!(taken, "bay 2: removed; set 0 is degraded; the spare in bay 4 takes over");
    let _whole = machine.set_rate(0);
    wait(&machine);
    let Answer::Error(why) = obey(&machine, Command::Insert { bay: 2, new: false, serial: None }) else {
        panic!("its place was taken")
    };
    assert!(why.contains("`fathom array clear 2` forgets what is on it and makes it a hot spare"), "{why}");
    done(&machine, Command::Clear { bay: 2, destroy: None });
    assert_eq!(done(&machine, Command::Fail { bay: 2 }), "bay 2: failed", "a spare is no set's");

    let by_hand = done(&of(1, false), Command::Fail { bay: 0 });
    assert!(
        by_hand.ends_with(
            "; set 0 is degraded; no spare has taken over; `fathom array rebuild 0` has one do so"
        ),
        "{by_hand}"
    );

    let machine = of(0, true);
    let degraded = done(&machine, Command::Fail { bay: 1 });
    assert_eq!(degraded, "bay 1: failed; set 0 is degraded; there is no spare that could take over");
    let serial = machine.status().bays[3].serial.clone();
    let failed = done(&machine, Command::Fail { bay: 3 });
    let back = format!("to have it back, pull and insert drive {serial} of bay 3 first, then the others");
    assert_eq!(failed, format!("bay 3: failed; set 0 (RAID 5) has failed: {back}"));
    assert_eq!(machine.status().sets[0].way_back().as_ref(), Some(&back));
    // As it says.
    machine.pull(3).unwrap();
    assert_eq!(machine.insert(3, &Insert::Same).unwrap(), Status::InUse);
    assert_eq!((&*machine.status().sets[0].state, machine.status().sets[0].way_back()), ("degraded", None));
}

#[test]
fn a_drive_whose_place_was_taken_is_refused_until_it_is_cleared() {
    let shape = shape(Level::Raid5, 4, 1, 8, 96);
    let world = World::new(Loss::Ordered, 1);
    let machine = open(&shape, &world, Loss::Ordered);
    let mut host = Host::new(&machine);
    host.write(&machine, 0, 100).unwrap();
    host.settle();
    machine.pull(1).unwrap();
    machine.rebuild(0).unwrap();
    wait(&machine);
    assert_eq!(machine.insert(1, &Insert::Same).unwrap(), Status::Stale);
    host.check(&machine, "with the stale drive in its bay");
    let refused = machine.spare(1).unwrap_err().to_string();
    assert!(refused.contains("out of date") && refused.contains("array clear 1"), "{refused}");
    assert_eq!(machine.status().bays[1].status, Status::Stale);
    machine.clear(1, None).unwrap();
    assert_eq!(machine.status().bays[1].status, Status::Spare);
    machine.fail(0).unwrap();
    machine.rebuild(0).unwrap();
    wait(&machine);
    assert_eq!(machine.status().sets[0].state, "optimal");
    host.check(&machine, "on the drive that was cleared");
}

#[test]
fn a_drive_that_was_missing_at_a_start_gets_what_it_missed_and_an_older_copy_of_it_is_refused() {
    for is_older in [false, true] {
        let shape = shape(Level::Raid5, 3, 0, 8, 96);
        let world = World::new(Loss::Ordered, 1);
        let machine = open(&shape, &world, Loss::Ordered);
        let mut host = Host::new(&machine);
        machine.close().unwrap();
        drop(machine);
        world.copy(1, "a copy");
        if is_older {
            let machine = open(&shape, &world, Loss::Ordered);
            host.write(&machine, 0, 100).unwrap();
            host.settle();
            machine.close().unwrap();
        }
        world.remove(1);
        let machine = open(&shape, &world, Loss::Ordered);
        assert_eq!(machine.status().sets[0].state, "degraded");
        host.write(&machine, 50, 100).unwrap();
        host.settle();
        machine.close().unwrap();
        drop(machine);
        world.paste("a copy", 1);
        let machine = open(&shape, &world, Loss::Ordered);
        let wanted = if is_older { Status::Stale } else { Status::InUse };
        assert_eq!(machine.status().bays[1].status, wanted);
        wait(&machine);
        host.check(&machine, "with the drive in its bay");
        if !is_older {
            machine.fail(0).unwrap();
            host.check(&machine, "with the drive, and without another");
        }
    }
}

#[test]
fn a_copy_of_a_drive_from_before_the_last_start_is_refused_though_the_drive_was_in_use() {
    for is_clean in [true, false] {
        let shape = shape(Level::Raid6, 4, 0, 8, 96);
        let world = World::new(Loss::Ordered, 1);
        let machine = open(&shape, &world, Loss::Ordered);
        machine.close().unwrap();
        drop(machine);
        world.copy(1, "an old copy");
        let machine = open(&shape, &world, Loss::Ordered);
        let mut host = Host::new(&machine);
        host.write(&machine, 0, 100).unwrap();
        host.settle();
        if is_clean {
            machine.close().unwrap();
        }
        drop(machine);
        world.paste("an old copy", 1);
        let machine = open(&shape, &world, Loss::Ordered);
        assert_eq!(machine.status().bays[1].status, Status::Stale);
        assert_eq!(machine.status().sets[0].state, "degraded");
        host.check(&machine, "with the old copy in its bay");
    }
}

/// RAID 5 of three with a hot spare, all of it written, whose background work is slow.
fn slow() -> (Arc<Machine>, Host) {
    let shape = shape(Level::Raid5, 3, 1, 8, 8 * 4096);
    let machine = Machine::in_memory(shape, &Options::default()).unwrap();
    let mut host = Host::new(&machine);
    let all = host.sectors();
    host.write(&machine, 0, all).unwrap();
    host.settle();
    machine.set_rate(512 << 10);
    (machine, host)
}

/// The same, with slot 0 being filled on the hot spare.
fn filled_slowly() -> (Arc<Machine>, Host) {
    let (machine, host) = slow();
    machine.pull(0).unwrap();
    machine.rebuild(0).unwrap();
    (machine, host)
}

#[test]
fn a_set_that_loses_a_second_drive_while_the_first_is_rebuilt_has_failed() {
    let (machine, mut host) = filled_slowly();
    assert_eq!(machine.status().sets[0].state, "rebuilding");
    machine.fail(1).unwrap();
    assert_eq!(machine.status().sets[0].state, "failed");
    assert!(host.check_what_is_there(&machine, "with half of a drive and without another") > 0);
}

#[test]
fn drives_that_come_back_to_a_failed_set_and_have_missed_nothing_are_used_and_the_rebuild_goes_on() {
    let (machine, mut host) = filled_slowly();
    machine.fail(1).unwrap();
    machine.fail(2).unwrap();
    machine.pull(2).unwrap();
    machine.pull(1).unwrap();
    assert_eq!(machine.status().sets[0].state, "failed");
    for bay in [1, 2] {
        assert_eq!(machine.insert(bay, &Insert::Same).unwrap(), Status::InUse);
    }
    assert_eq!(machine.status().sets[0].state, "rebuilding");
    machine.set_rate(0);
    wait(&machine);
    assert_eq!(machine.status().sets[0].state, "optimal");
    host.check(&machine, "with both drives back");
}

#[test]
fn what_is_written_while_a_drive_gets_what_it_missed_is_on_it_too() {
    for seed in 0..2 {
        let shape = shape(Level::Raid5, 3, 0, 8, 64 * 4096);
        let machine = Machine::in_memory(shape, &Options::default()).unwrap();
        let mut draws = Draws::new(seed);
        let mut host = Host::new(&machine);
        let last = host.sectors() - 8;
        machine.pull(1).unwrap();
        // Far apart: most regions are clean when the drive comes back.
        for part in 0..6 {
            host.write(&machine, part * last / 6, 8).unwrap();
        }
        host.settle();
        machine.set_rate(64 << 20);
        assert_eq!(machine.insert(1, &Insert::Same).unwrap(), Status::InUse);
        while machine.is_busy() {
            for _ in 0..4 {
                host.write(&machine, draws.below(last), 8).unwrap();
            }
            // What is begun by hand is what is under way.
            machine.rebuild(0).ok();
        }
        host.settle();
        assert_eq!(machine.status().sets[0].state, "optimal", "seed {seed}");
        machine.set_rate(0);
        machine.verify(0, false).unwrap();
        wait(&machine);
        let last = machine.events().since(0).pop().unwrap().text;
        assert!(last.ends_with("verify complete"), "seed {seed}: {last}");
        machine.pull(0).unwrap();
        host.check(&machine, &format!("seed {seed}, read from the drive that came back"));
    }
}

#[test]
fn a_drive_that_missed_what_cannot_be_computed_waits_for_the_one_that_was_lost_last() {
    let shape = shape(Level::Raid5, 3, 0, 8, 8 * 4096);
    let machine = Machine::in_memory(shape, &Options::default()).unwrap();
    let mut host = Host::new(&machine);
    host.write(&machine, 0, 400).unwrap();
    machine.pull(0).unwrap();
    host.write(&machine, 100, 50).unwrap();
    host.settle();
    machine.pull(1).unwrap();
    assert_eq!(machine.insert(0, &Insert::Same).unwrap(), Status::Stale);
    let told = machine.events().since(0).last().unwrap().text.clone();
    assert!(told.contains("reinsert drive") && told.contains("of bay"), "{told}");
    assert_eq!(machine.insert(1, &Insert::Same).unwrap(), Status::InUse);
    assert_eq!(machine.status().sets[0].state, "degraded");
    host.check(&machine, "with the drive that was lost last");
    machine.pull(0).unwrap();
    assert_eq!(machine.insert(0, &Insert::Same).unwrap(), Status::InUse);
    wait(&machine);
    assert_eq!(machine.status().sets[0].state, "optimal");
    host.check(&machine, "with both");
}

#[test]
fn a_drive_gets_what_it_missed_from_one_that_is_filled_that_far() {
    let (machine, mut host) = filled_slowly();
    while machine.status().works.first().is_some_and(|work| work.done < 0.2) {
        serve::clock::wait(std::time::Duration::from_millis(5));
    }
    machine.pull(1).unwrap();
    assert_eq!(machine.status().sets[0].state, "failed");
    host.write(&machine, 0, 8).unwrap();
    host.settle();
    assert_eq!(machine.insert(1, &Insert::Same).unwrap(), Status::InUse);
    machine.set_rate(0);
    wait(&machine);
    assert_eq!(machine.status().sets[0].state, "optimal", "{:?}", machine.events().since(0));
    host.check(&machine, "from the drive that was filled");
}

#[test]
fn a_drive_that_is_pulled_while_it_is_filled_is_not_taken_for_whole() {
    let (machine, mut host) = filled_slowly();
    machine.pull(3).unwrap();
    assert_eq!(machine.insert(3, &Insert::Same).unwrap(), Status::InUse);
    assert_eq!(machine.status().sets[0].state, "rebuilding");
    machine.pull(3).unwrap();
    host.write(&machine, 0, 8).unwrap();
    host.settle();
    assert_eq!(machine.insert(3, &Insert::Same).unwrap(), Status::Stale);
    machine.clear(3, None).unwrap();
    machine.rebuild(0).unwrap();
    machine.set_rate(0);
    wait(&machine);
    assert_eq!(machine.status().sets[0].state, "optimal");
    host.check(&machine, "filled from the beginning");
    // The one that is filled with what it missed is no more whole than that.
    machine.pull(1).unwrap();
    let all = host.sectors();
    host.write(&machine, 0, all / 2).unwrap();
    host.settle();
    machine.set_rate(512 << 10);
    machine.insert(1, &Insert::Same).unwrap();
    machine.pull(1).unwrap();
    machine.insert(1, &Insert::Same).unwrap();
    machine.set_rate(0);
    wait(&machine);
    assert_eq!(machine.status().sets[0].state, "optimal");
    machine.pull(2).unwrap();
    host.check(&machine, "with what it missed");
}

#[test]
fn a_failed_set_that_was_started_again_has_its_drives_back_in_the_order_of_their_loss() {
    let shape = shape(Level::Raid5, 3, 0, 8, 96);
    let world = World::new(Loss::Ordered, 1);
    let machine = open(&shape, &world, Loss::Ordered);
    let mut host = Host::new(&machine);
    let all = host.sectors();
    host.write(&machine, 0, all).unwrap();
    host.settle();
    machine.pull(0).unwrap();
    machine.pull(1).unwrap();
    machine.close().unwrap();
    drop(machine);
    let machine = open(&shape, &world, Loss::Ordered);
    assert_eq!(machine.status().sets[0].state, "failed");
    for bay in [1, 0] {
        assert_eq!(machine.insert(bay, &Insert::Same).unwrap(), Status::InUse);
    }
    wait(&machine);
    assert_eq!(machine.status().sets[0].state, "optimal");
    host.check(&machine, "with both drives back");
    for bay in 0..3 {
        machine.pull(bay).unwrap();
    }
    machine.close().unwrap();
    drop(machine);
    let refused = Machine::open(shape, Box::new(Bays(world)), &options(Loss::Ordered)).err().unwrap();
    assert!(matches!(&refused, OpenError::AllOut { .. }), "{refused}");
}

#[test]
fn a_copy_takes_over_as_far_as_it_is_where_what_it_copies_is_pulled_and_the_rest_is_rebuilt() {
    let (machine, mut host) = slow();
    machine.copy(1).unwrap();
    machine.pull(1).unwrap();
    machine.set_rate(0);
    wait(&machine);
    assert_eq!(machine.status().sets[0].state, "optimal", "{:?}", machine.events().since(0));
    host.check(&machine, "on the copy");
}

#[test]
fn a_foreign_drive_is_refused_until_it_is_cleared() {
    let shape = shape(Level::Raid6, 4, 0, 8, 96);
    let other = World::new(Loss::Ordered, 2);
    drop(open(&shape, &other, Loss::Ordered));
    let world = World::new(Loss::Ordered, 1);
    let machine = open(&shape, &world, Loss::Ordered);
    let mut host = Host::new(&machine);
    host.write(&machine, 0, 50).unwrap();
    host.settle();
    machine.close().unwrap();
    drop(machine);
    // The same bay of another array.
    world.adopt(&other, 3);
    let machine = open(&shape, &world, Loss::Ordered);
    assert_eq!(machine.status().bays[3].status, Status::Foreign);
    assert_eq!(machine.status().sets[0].state, "degraded");
    host.check(&machine, "with the foreign drive in its bay");
    let refused = machine.spare(3).unwrap_err().to_string();
    assert!(refused.contains("another array") && refused.contains("array clear 3"), "{refused}");
    assert_eq!(machine.status().bays[3].status, Status::Foreign);
    machine.clear(3, None).unwrap();
    machine.rebuild(0).unwrap();
    wait(&machine);
    assert_eq!(machine.status().sets[0].state, "optimal");
    host.check(&machine, "rebuilt");
}

#[test]
fn work_on_a_whole_set_goes_on_after_a_stop_and_a_degraded_set_is_told_at_the_start() {
    let shape = shape(Level::Raid5, 4, 0, 8, 8 * 4096);
    let world = World::new(Loss::Ordered, 1);
    let machine = open(&shape, &world, Loss::Ordered);
    let mut host = Host::new(&machine);
    host.write(&machine, 0, 400).unwrap();
    host.settle();
    // One unit, and then nothing for as long as the test takes.
    machine.set_rate(1);
    machine.verify(0, true).unwrap();
    while machine.status().works[0].done == 0.0 {
        std::thread::yield_now();
    }
    machine.close().unwrap();
    drop(machine);
    let machine = open(&shape, &world, Loss::Ordered);
    wait(&machine);
    let events = log(&machine);
    let has = |text: &str| events.iter().any(|(_, _, event)| event.contains(text));
    assert!(has("verify started") && has("verify complete"), "{events:?}");
    host.check(&machine, "after the verify that was interrupted");
    // Once it has ended nothing is left to go on with.
    machine.fail(2).unwrap();
    machine.close().unwrap();
    drop(machine);
    let machine = open(&shape, &world, Loss::Ordered);
    wait(&machine);
    let events = log(&machine);
    let has = |text: &str| events.iter().any(|(_, _, event)| event.contains(text));
    assert!(!has("verify") && has("set 0 (RAID 5): degraded; no disk in slot 2"), "{events:?}");
}

#[test]
fn two_halves_that_were_used_apart_are_not_put_together() {
    let shape = shape(Level::Raid1, 2, 0, 8, 96);
    let world = World::new(Loss::Ordered, 1);
    drop(open(&shape, &world, Loss::Ordered));
    let half = |bay: u32| {
        world.copy(bay, "away");
        world.remove(bay);
        // Each half with a controller of its own.
        world.forget("nvram");
        let machine = open(&shape, &world, Loss::Ordered);
        Host::new(&machine).write(&machine, 0, 1).unwrap();
        drop(machine);
        world.paste("away", bay);
    };
    world.copy(0, "first");
    half(1);
    world.copy(0, "used alone");
    world.paste("first", 0);
    half(0);
    world.paste("used alone", 0);
    let opened = Machine::open(shape.clone(), Box::new(Bays(world.clone())), &options(Loss::Ordered));
    assert!(matches!(opened, Err(OpenError::Split { .. })));
}

#[test]
fn disks_of_an_array_of_another_shape_are_not_touched() {
    let world = World::new(Loss::Ordered, 1);
    drop(open(&shape(Level::Raid5, 4, 0, 8, 96), &world, Loss::Ordered));
    let writes = world.writes();
    let wrong = shape(Level::Raid6, 4, 0, 8, 96);
    let opened = Machine::open(wrong, Box::new(Bays(world.clone())), &options(Loss::Ordered));
    assert!(matches!(opened, Err(OpenError::OtherShape { .. })));
    assert_eq!(world.writes(), writes);
}

#[test]
fn disks_of_an_array_with_other_spares_are_not_touched_and_it_is_said_what_differs() {
    let world = World::new(Loss::Ordered, 1);
    drop(open(&shape(Level::Raid5, 4, 0, 8, 96), &world, Loss::Ordered));
    let writes = world.writes();
    let wrong = shape(Level::Raid5, 4, 2, 8, 96);
    let opened = Machine::open(wrong, Box::new(Bays(world.clone())), &options(Loss::Ordered));
    assert!(matches!(opened, Err(OpenError::OtherBays { found: 4, own: 6 })));
    assert_eq!(world.writes(), writes);
}

#[test]
fn what_was_never_written_or_was_zeroed_is_a_hole() {
    let shape = shape(Level::Raid5, 4, 0, 8, 96);
    let machine = Machine::in_memory(shape, &options(Loss::Ordered)).unwrap();
    let mut host = Host::new(&machine);
    let all = host.sectors() * 512;
    assert_eq!(machine.extents(0, 0, all, 100).unwrap(), [(all, true)]);
    host.write(&machine, 24, 24).unwrap();
    let runs = machine.extents(0, 0, all, 100).unwrap();
    assert_eq!(runs, [(24 * 512, true), (24 * 512, false), (all - 48 * 512, true)]);
    host.zero(&machine, 0, host.sectors()).unwrap();
    assert_eq!(machine.extents(0, 0, all, 100).unwrap(), [(all, true)]);
    host.settle();
    host.check(&machine, "zeroed");
}

/// What is in the log, but for the time on the wall.
fn log(machine: &Machine) -> Vec<(u64, Severity, String)> {
    machine.events().since(0).into_iter().map(|event| (event.number, event.severity, event.text)).collect()
}

#[test]
fn two_sessions_with_the_same_seed_and_the_same_controls_have_the_same_log() {
    let session = |seed: u64| {
        let world = World::new(Loss::Ordered, 1);
        let mut shape = shape(Level::Raid6, 5, 1, 8, 96);
        shape.front = FrontShape { controllers: 2, links: 2, is_mirrored: true };
        let options = Options { cache: Some(64 << 10), seed, ..options(Loss::Ordered) };
        let open = || Machine::open(shape.clone(), Box::new(Bays(world.clone())), &options).unwrap();
        let mut machine = open();
        let mut host = Host::new(&machine);
        host.write(&machine, 0, 100).unwrap();
        machine.set_cache(CacheAction::Flush).unwrap();
        assert!(world.spoil(2, byte_of(1) + 188));
        machine.set_path(1, false).unwrap();
        machine.set_controller(0, false).unwrap();
        machine.fail(4).unwrap();
        machine.rebuild(0).unwrap();
        wait(&machine);
        machine.pull(1).unwrap();
        machine.insert(1, &Insert::New).unwrap();
        machine.spare(1).unwrap();
        machine.rebuild(0).unwrap();
        wait(&machine);
        machine.set_controller(0, true).unwrap();
        machine.set_path(1, true).unwrap();
        machine.verify(0, true).unwrap();
        wait(&machine);
        machine.set_cache(CacheAction::BatteryDead).unwrap();
        machine.set_cache(CacheAction::WriteBack { forced: true }).unwrap();
        host.write(&machine, 30, 7).unwrap();
        machine.set_cache(CacheAction::PowerLoss).unwrap();
        let mut all = log(&machine);
        machine.close().unwrap();
        drop(machine);
        machine = open();
        all.extend(log(&machine));
        all
    };
    let first = session(7);
    assert_eq!(first, session(7));
    assert!(first.len() > 30, "{first:?}");
    assert_ne!(first, session(8), "drives have other numbers");
}

#[test]
fn a_controller_that_goes_offline_leaves_its_luns_to_its_partner_and_without_a_path_there_are_errors() {
    let mut shape = shape(Level::Raid5, 3, 0, 8, 96);
    shape.front = FrontShape { controllers: 2, links: 1, is_mirrored: true };
    let options = Options { cache: Some(64 << 10), ..options(Loss::Ordered) };
    let machine = Machine::in_memory(shape, &options).unwrap();
    let mut host = Host::new(&machine);
    host.write(&machine, 0, 20).unwrap();
    assert!(machine.cache_status().unwrap().dirty_bytes > 0);
    machine.set_controller(0, false).unwrap();
    let status = machine.status();
    assert_eq!(status.owners, [Some(1)]);
    let cache = status.cache.unwrap();
    assert_eq!((cache.dirty_bytes, cache.is_write_back), (0, false), "nobody mirrors it");
    host.write(&machine, 5, 20).unwrap();
    machine.set_path(1, false).unwrap();
    assert_eq!(machine.status().owners, [None]);
    assert_eq!(host.read(&machine, 0, 1), Err(Fault::NoPath));
    machine.set_path(1, true).unwrap();
    machine.set_controller(0, true).unwrap();
    assert_eq!(machine.status().owners, [Some(0)]);
    assert!(machine.cache_status().unwrap().is_write_back);
    host.settle();
    host.check(&machine, "with both controllers");
    assert_eq!(
        machine.set_path(2, false).unwrap_err().to_string(),
        "there is no path 2; the array has 2, numbered from 0"
    );
    let texts: Vec<String> = log(&machine).into_iter().map(|(_, _, text)| text).collect();
    for said in [
        "controller 0: offline",
        "lun0: not on its preferred controller; owner is 1",
        "lun0: no path to a controller is left",
        "lun0: back on its preferred controller 0",
    ] {
        assert!(texts.iter().any(|text| text == said), "{said}: {texts:?}");
    }
}
