//! Drives and memories that are not what they should be: copies, holes, what lies in the wrong place, and what is missing.

use std::sync::Arc;

use array::raid::Level;
use serve::config::Status;
use serve::control::{Answer, Command, obey};
use serve::machine::{CacheAction, Insert, Lun, Machine, OpenError, Options, SetShape, Shape};
use serve::set::{Fault, Scratch};
use serve::shelf::Directory;

use crate::host::{Host, flush_all, write_all};
use crate::world::{
    Loss, SECTOR, World, again, assert_verifies, byte_of, has_event, open, options, shape, tag_of, try_open,
    wait, with_cache, written,
};

#[test]
fn a_failed_drive_is_not_used_again_where_no_other_drive_knows_that_it_failed() {
    for (level, members, pulled) in [(Level::Raid1, 2, vec![0]), (Level::Raid5, 3, vec![0, 2])] {
        let (shape, world, machine, mut host) = written(level, members, 0);
        machine.fail(1).unwrap();
        write_all(&mut host, &machine);
        let serials: Vec<String> =
            pulled.iter().map(|&bay| machine.status().bays[bay as usize].serial.clone()).collect();
        pulled.iter().for_each(|&bay| machine.pull(bay).unwrap());
        let machine = again(machine, &shape, &world);
        assert_eq!(machine.status().bays[1].status, Status::Failed, "{level}");
        let mut into = [0; 512];
        assert!(
            machine.read(&mut Default::default(), 0, 0, &mut into).is_err(),
            "{level}: what is there is out of date"
        );
        for (&bay, serial) in pulled.iter().zip(&serials).rev() {
            machine.insert(bay, &Insert::Serial(serial.clone())).unwrap();
        }
        wait(&machine);
        host.check(&machine, &format!("{level}, with the drives that were up to date"));
    }
}

#[test]
fn drives_in_each_others_bays_are_named_and_not_touched() {
    let (shape, world, machine, mut host) = written(Level::Raid5, 4, 0);
    machine.close().unwrap();
    drop(machine);
    let swap = || {
        world.copy(0, "zero");
        world.copy(1, "one");
        world.paste("zero", 1);
        world.paste("one", 0);
    };
    swap();
    let writes = world.writes();
    let refused = try_open(&shape, &world, &options(Loss::Ordered)).err().unwrap();
    assert!(
        matches!(refused, OpenError::Misplaced { .. })
            && refused.to_string().contains("bay 0 belongs in bay 1"),
        "{refused}"
    );
    assert_eq!(world.writes(), writes);
    swap();
    host.check(&open(&shape, &world, Loss::Ordered), "back in their bays");
}

#[test]
fn flushed_data_are_not_forgotten_with_the_memory_of_the_cache() {
    let shape = shape(Level::Raid5, 4, 0, 8, 96);
    let world = World::new(Loss::Ordered, 4);
    let machine = try_open(&shape, &world, &with_cache(64 << 10)).unwrap();
    let mut host = Host::new(&machine);
    host.write(&machine, 3, 2).unwrap();
    world.save("cache", "earlier");
    machine.close().unwrap();
    drop(machine);
    world.forget("cache");
    let machine = try_open(&shape, &world, &with_cache(64 << 10)).unwrap();
    write_all(&mut host, &machine);
    // As by `kill -9`.
    drop(machine);
    world.save("cache", "newest");
    world.forget("cache");
    let refused = || try_open(&shape, &world, &with_cache(64 << 10)).err();
    assert!(matches!(refused(), Some(OpenError::CacheGone)));
    world.save("earlier", "cache");
    assert!(matches!(refused(), Some(OpenError::CacheGone)), "one from an earlier start");
    world.save("newest", "cache");
    host.check(
        &try_open(&shape, &world, &with_cache(64 << 10)).unwrap(),
        "with the memory that belongs to it",
    );
    world.forget("cache");
    let accepting = Options { accepts_loss: true, ..with_cache(64 << 10) };
    let machine = try_open(&shape, &world, &accepting).unwrap();
    assert!(has_event(&machine, "its memory is gone"));
}

#[test]
fn what_the_cache_kept_is_there_however_small_it_is_at_the_next_start() {
    for size in [0, 2 << 10, 64 << 10] {
        let shape = shape(Level::Raid5, 4, 0, 8, 96);
        let world = World::new(Loss::Ordered, 5);
        let machine = try_open(&shape, &world, &with_cache(64 << 10)).unwrap();
        let mut host = Host::new(&machine);
        write_all(&mut host, &machine);
        write_all(&mut host, &machine);
        drop(machine);
        let machine = try_open(&shape, &world, &with_cache(size)).unwrap();
        host.check(&machine, &format!("{size} bytes of cache"));
        write_all(&mut host, &machine);
        drop(machine);
        host.check(
            &try_open(&shape, &world, &with_cache(size)).unwrap(),
            &format!("{size} bytes of cache, again"),
        );
    }
}

#[test]
fn the_first_flush_after_a_loss_is_an_error_and_the_next_is_not() {
    let shape = shape(Level::Raid5, 4, 0, 8, 96);
    let world = World::new(Loss::Ordered, 6);
    let machine = try_open(&shape, &world, &with_cache(64 << 10)).unwrap();
    let told = machine.told(0);
    machine.set_cache(CacheAction::BatteryDead).unwrap();
    machine.set_cache(CacheAction::WriteBack { forced: true }).unwrap();
    Host::new(&machine).write(&machine, 0, 4).unwrap();
    machine.set_cache(CacheAction::PowerLoss).unwrap();
    assert_eq!(machine.flush_telling(0, &told), Err(Fault::CacheLost));
    assert_eq!(machine.flush_telling(0, &told), Ok(()));
    // As by `kill -9`: whoever comes now may have written what is lost.
    drop(machine);
    let machine = try_open(&shape, &world, &with_cache(64 << 10)).unwrap();
    let told = machine.told(0);
    assert_eq!(machine.flush_telling(0, &told), Err(Fault::CacheLost));
    assert_eq!(machine.flush_telling(0, &told), Ok(()));
    Host::new(&machine).write(&machine, 0, 4).unwrap();
    assert_eq!(machine.flush_telling(0, &machine.told(0)), Ok(()), "nothing is lost any more");
}

/// Two sets of RAID 5, each with a LUN.
fn two_sets() -> Shape {
    let mut two = shape(Level::Raid5, 3, 0, 8, 96);
    let (set, lun) = (&two.sets[0], &two.luns[0]);
    let (set, lun) = (SetShape { bays: (3..6).collect(), ..set.clone() }, Lun { set: 1, ..*lun });
    two.sets.push(set);
    two.luns.push(lun);
    two.bays.extend([96; 3]);
    two
}

#[test]
fn what_the_cache_keeps_of_a_failed_set_is_nothing_to_the_lun_of_another() {
    let two = two_sets();
    let world = World::new(Loss::Ordered, 9);
    let machine = try_open(&two, &world, &with_cache(64 << 10)).unwrap();
    let mut scratch = Scratch::default();
    let mut write =
        |machine: &Machine, lun: u32, byte: u8| machine.write(&mut scratch, lun, 0, &[byte; 4 * SECTOR]);
    write(&machine, 0, 1).unwrap();
    write(&machine, 1, 2).unwrap();
    machine.pull(0).unwrap();
    machine.pull(1).unwrap();
    let done = |action| obey(&machine, Command::Cache { action: Some(action) });
    for action in [CacheAction::WriteThrough, CacheAction::BatteryDead] {
        let Answer::Done(text) = done(action) else { panic!("{action:?} is done") };
        assert!(text.contains("2 KiB stay in the write cache: a set has failed"), "{text}");
    }
    write(&machine, 1, 3).unwrap();
    assert_eq!(machine.flush(1), Ok(()));
    assert!(machine.flush(0).is_err(), "it has no battery, and no drives");
    let Answer::Partial(text) = done(CacheAction::Flush) else { panic!("2 KiB stay") };
    assert!(text.contains("2 KiB stay"), "{text}");
    let Answer::Done(text) = done(CacheAction::BatteryGood) else { panic!("a battery can be replaced") };
    assert!(text.contains("battery good"), "{text}");
    assert_eq!(machine.flush(0), Ok(()), "the new battery keeps it");
    machine.close().unwrap();
    assert!(has_event(&machine, "its battery keeps them for the next start"));
    drop(machine);
    let machine = try_open(&two, &world, &with_cache(64 << 10)).unwrap();
    assert!(has_event(&machine, "the battery has kept 2 KiB"));
    machine.insert(1, &Insert::Same).unwrap();
    machine.insert(0, &Insert::Same).unwrap();
    let mut found = [0; 4 * SECTOR];
    machine.read(&mut scratch, 0, 0, &mut found).unwrap();
    assert_eq!(found, [1; 4 * SECTOR]);
}

#[test]
fn a_loss_of_the_cache_is_told_to_who_flushes_the_lun_that_it_was_of() {
    let two = two_sets();
    let world = World::new(Loss::Ordered, 10);
    let machine = try_open(&two, &world, &with_cache(64 << 10)).unwrap();
    let told = [machine.told(0), machine.told(1)];
    machine.set_cache(CacheAction::BatteryDead).unwrap();
    machine.set_cache(CacheAction::WriteBack { forced: true }).unwrap();
    machine.write(&mut Scratch::default(), 0, 0, &[1; SECTOR]).unwrap();
    machine.set_cache(CacheAction::PowerLoss).unwrap();
    assert_eq!(machine.flush_telling(1, &told[1]), Ok(()));
    assert_eq!(machine.flush_telling(1, &machine.told(1)), Ok(()));
    assert_eq!(machine.flush_telling(0, &told[0]), Err(Fault::CacheLost));
}

/// An array that was written to, stopped, of which drives have what they had when it was new.
fn with_new_drives(level: Level, members: u32, bays: &[u32]) -> (Shape, Arc<World>, Host) {
    let shape = shape(level, members, 0, 8, 96);
    let world = World::new(Loss::Ordered, 1);
    let machine = open(&shape, &world, Loss::Ordered);
    bays.iter().for_each(|&bay| world.copy(bay, &format!("new {bay}")));
    let mut host = Host::new(&machine);
    write_all(&mut host, &machine);
    machine.close().unwrap();
    drop(machine);
    bays.iter().for_each(|&bay| world.refill(&format!("new {bay}"), bay));
    (shape, world, host)
}

#[test]
fn what_a_drive_has_lost_together_with_its_checksums_is_an_error_that_is_corrected() {
    for (level, members) in [(Level::Raid1, 2), (Level::Raid5, 4), (Level::Raid6, 5), (Level::Raid10, 4)] {
        let (shape, world, machine, mut host) = written(level, members, 0);
        machine.close().unwrap();
        drop(machine);
        world.empty(1);
        let machine = open(&shape, &world, Loss::Ordered);
        host.check(&machine, &format!("{level}, before any verify"));
        machine.verify(0, false).unwrap();
        wait(&machine);
        assert!(has_event(&machine, "bay 1: sector 0 did not match its checksum; corrected"), "{level}");
        assert!(machine.status().passes.pop().unwrap().is_good(), "{level}");
        machine.fail(0).unwrap();
        host.check(&machine, &format!("{level}, without another drive"));
    }
}

#[test]
fn what_two_drives_have_lost_beyond_their_level_is_an_error_and_never_zeros() {
    let (shape, world, machine, host) = written(Level::Raid5, 4, 0);
    machine.fail(3).unwrap();
    machine.close().unwrap();
    drop(machine);
    world.empty(1);
    let machine = open(&shape, &world, Loss::Ordered);
    let mut scratch = Scratch::default();
    let mut sector = [0; SECTOR];
    let errors = (0..host.sectors())
        .filter(|lba| machine.read(&mut scratch, 0, lba * SECTOR as u64, &mut sector).is_err())
        .count();
    assert_eq!(errors as u64, host.sectors() / 2, "of half of them the drive is lost, or what it held");
}

#[test]
fn what_a_drive_never_wrote_of_what_it_acknowledged_is_found_and_written_again() {
    for (level, members) in [(Level::Raid1, 2), (Level::Raid5, 4), (Level::Raid6, 5), (Level::Raid10, 4)] {
        for repairs in [false, true] {
            let (shape, world, mut host) = with_new_drives(level, members, &[1]);
            let machine = open(&shape, &world, Loss::Ordered);
            machine.verify(0, repairs).unwrap();
            wait(&machine);
            assert!(has_event(&machine, "bay 1: 96 sectors from 0 on had lost"), "{level}");
            host.check(&machine, &format!("{level}, repairs {repairs}"));
            machine.verify(0, false).unwrap();
            wait(&machine);
            machine.fail(0).unwrap();
            host.check(&machine, &format!("{level}, repairs {repairs}, without another drive"));
        }
    }
}

#[test]
fn nothing_that_was_flushed_is_lost_wherever_the_end_comes_while_a_battery_dies() {
    let two = two_sets();
    for crash in 1..60 {
        let world = World::new(Loss::Ordered, 11);
        let machine = try_open(&two, &world, &with_cache(64 << 10)).unwrap();
        let mut scratch = Scratch::default();
        let data = [7; 24 * SECTOR];
        machine.write(&mut scratch, 0, 0, &data).unwrap();
        machine.flush(0).unwrap();
        world.crash_after(crash);
        let _cut_short = machine.set_cache(CacheAction::BatteryDead);
        drop(machine);
        world.revive();
        let machine = try_open(&two, &world, &with_cache(64 << 10)).unwrap();
        let mut found = [0; 24 * SECTOR];
        machine.read(&mut scratch, 0, 0, &mut found).unwrap();
        assert!(found == data, "after write {crash}");
    }
}

#[test]
fn noise_over_checksums_of_one_drive_and_over_their_sectors_is_corrected() {
    // Of all to a row, as when a range of the file is overwritten, and of one row alone.
    let all_to = |row| vec![(tag_of(0), byte_of(row))];
    let alone = |row| vec![(tag_of(row), tag_of(row + 1)), (byte_of(row), byte_of(row + 1))];
    let noises = [all_to(40), all_to(96), alone(5)];
    for (level, members) in [(Level::Raid1, 2), (Level::Raid5, 4), (Level::Raid6, 5), (Level::Raid10, 4)] {
        for (is_read_first, noise) in noises.iter().flat_map(|noise| [(true, noise), (false, noise)]) {
            let (shape, world, machine, mut host) = written(level, members, 0);
            machine.close().unwrap();
            drop(machine);
            noise.iter().for_each(|&(from, to)| world.scramble(0, from..to));
            let what = format!("{level}, {noise:?}, read first: {is_read_first}");
            let mut machine = open(&shape, &world, Loss::Ordered);
            if is_read_first {
                host.read(&machine, host.sectors() / 2, 1).unwrap();
                // What it was is known after a stop in between.
                machine = again(machine, &shape, &world);
                host.check(&machine, &what);
            }
            machine.verify(0, false).unwrap();
            wait(&machine);
            assert!(machine.status().passes.pop().unwrap().is_good(), "{what}");
            machine.fail(1).unwrap();
            host.check(&machine, &format!("{what}, without another drive"));
        }
    }
}

#[test]
fn a_drive_that_cannot_be_taken_out_of_its_bay_stays_in_use() {
    let folder = tempfile::TempDir::new().unwrap();
    let shelf = Directory::open(folder.path()).unwrap();
    let machine =
        Machine::open(shape(Level::Raid5, 3, 0, 8, 96), Box::new(shelf), &options(Loss::Ordered)).unwrap();
    let out = folder.path().join("out");
    std::fs::remove_dir(&out).unwrap();
    let why = machine.pull(1).unwrap_err().to_string();
    assert!(why.contains("out of bay 1"), "{why}");
    assert_eq!(machine.status().sets[0].state, "optimal");
    assert!(!has_event(&machine, "removed"));
    std::fs::create_dir(&out).unwrap();
    machine.pull(1).unwrap();
    assert_eq!(machine.insert(1, &Insert::Same).unwrap(), Status::InUse);
}

#[test]
fn parity_is_not_made_to_fit_where_two_drives_may_have_lost_what_it_is_of() {
    for (level, members) in [(Level::Raid5, 4), (Level::Raid6, 5)] {
        let shape = shape(level, members, 0, 8, 96);
        let world = World::new(Loss::Ordered, 1);
        let machine = open(&shape, &world, Loss::Ordered);
        [1, 2].iter().for_each(|&bay| world.copy(bay, &format!("new {bay}")));
        let mut host = Host::new(&machine);
        write_all(&mut host, &machine);
        machine.close().unwrap();
        drop(machine);
        world.copy(1, "one");
        [1, 2].iter().for_each(|&bay| world.refill(&format!("new {bay}"), bay));
        let machine = open(&shape, &world, Loss::Ordered);
        machine.verify(0, true).unwrap();
        wait(&machine);
        assert!(has_event(&machine, "stripes with wrong parity"), "{level}");
        let pass = machine.status().passes.pop().unwrap();
        assert!(!pass.is_good(), "{level}: {pass}");
        machine.close().unwrap();
        drop(machine);
        // The others are as they were: with one of both the other can be computed.
        world.refill("one", 1);
        let machine = open(&shape, &world, Loss::Ordered);
        machine.verify(0, true).unwrap();
        wait(&machine);
        host.check(&machine, &format!("{level}, with the contents of one of them"));
    }
}

#[test]
fn no_guess_is_left_on_a_drive_wherever_a_repair_is_cut_short() {
    for crash in (1..80).step_by(3) {
        let shape = shape(Level::Raid5, 4, 0, 8, 96);
        let world = World::new(Loss::Ordered, 16);
        let machine = open(&shape, &world, Loss::Ordered);
        [1, 2].iter().for_each(|&bay| world.copy(bay, &format!("new {bay}")));
        write_all(&mut Host::new(&machine), &machine);
        machine.close().unwrap();
        drop(machine);
        [1, 2].iter().for_each(|&bay| world.refill(&format!("new {bay}"), bay));
        let machine = open(&shape, &world, Loss::Ordered);
        world.crash_after(crash);
        let _cut_short = machine.verify(0, true);
        wait(&machine);
        drop(machine);
        world.revive();
        assert!(world.is_empty(1) && world.is_empty(2), "after write {crash}");
    }
}

#[test]
fn without_its_memory_an_array_is_verified_and_rebuilds_what_was_away_whole() {
    let (shape, world, machine, mut host) = written(Level::Raid5, 4, 0);
    drop(machine);
    world.forget("nvram");
    let machine = open(&shape, &world, Loss::Ordered);
    wait(&machine);
    assert!(has_event(&machine, "controller.nvram is missing") && has_event(&machine, "verify complete"));
    machine.pull(2).unwrap();
    write_all(&mut host, &machine);
    machine.close().unwrap();
    drop(machine);
    world.forget("nvram");
    let machine = open(&shape, &world, Loss::Ordered);
    machine.insert(2, &Insert::Same).unwrap();
    wait(&machine);
    assert_eq!(machine.status().sets[0].state, "optimal");
    machine.fail(0).unwrap();
    host.check(&machine, "with the drive that was away, and without another");
}

#[test]
fn a_drive_whose_file_is_cut_short_is_no_drive_of_zeros() {
    let shape = shape(Level::Raid5, 4, 0, 8, 4096);
    let directory = tempfile::tempdir().unwrap();
    let opened = || {
        let shelf = Directory::open(directory.path()).unwrap();
        Machine::open(shape.clone(), Box::new(shelf), &options(Loss::Ordered)).unwrap()
    };
    let machine = opened();
    let mut host = Host::new(&machine);
    let cut = || {
        let file =
            std::fs::OpenOptions::new().write(true).open(directory.path().join("bay-01.disk")).unwrap();
        file.set_len(file.metadata().unwrap().len() / 2).unwrap();
    };
    for lba in (0..host.sectors()).step_by(97) {
        host.write(&machine, lba, 1).unwrap();
    }
    host.settle();
    cut();
    host.check(&machine, "cut while it is served");
    machine.close().unwrap();
    drop(machine);
    cut();
    let machine = opened();
    assert_eq!(machine.status().bays[1].status, Status::Stale);
    assert!(has_event(&machine, "cut short"));
    host.check(&machine, "cut before the start");
    machine.clear(1, None).unwrap();
    machine.rebuild(0).unwrap();
    wait(&machine);
    machine.fail(0).unwrap();
    host.check(&machine, "rebuilt onto the drive that was cut");
}

/// Moves the file of a drive that is out of its bay by hand.
fn move_back(world: &World, serial: &str, bay: u32) {
    world.save(&format!("out {serial}"), &crate::world::bay_name(bay));
    world.forget(&format!("out {serial}"));
}

fn serial(machine: &Machine, bay: u32) -> String {
    machine.status().bays[bay as usize].serial.clone()
}

/// A mirror whose drives were pulled one after the other, and written to in between; their serial numbers.
fn pulled_apart(world: &Arc<World>, shape: &Shape) -> (Host, [String; 2]) {
    let machine = open(shape, world, Loss::Ordered);
    let mut host = Host::new(&machine);
    write_all(&mut host, &machine);
    let serials = [serial(&machine, 0), serial(&machine, 1)];
    machine.pull(1).unwrap();
    write_all(&mut host, &machine);
    machine.pull(0).unwrap();
    machine.close().unwrap();
    (host, serials)
}

#[test]
fn of_drives_that_are_all_out_the_last_one_is_named_and_no_other_is_served() {
    let shape = shape(Level::Raid1, 2, 0, 8, 96);
    let world = World::new(Loss::Ordered, 10);
    let (mut host, [zero, one]) = pulled_apart(&world, &shape);
    let refused = try_open(&shape, &world, &options(Loss::Ordered)).err().unwrap().to_string();
    assert!(
        refused.contains(&format!("move drive {zero}, which was lost last and belongs in bay 0,")),
        "{refused}"
    );
    move_back(&world, &one, 1);
    let machine = open(&shape, &world, Loss::Ordered);
    assert_eq!(machine.status().sets[0].state, "failed", "what is there is out of date");
    machine.close().unwrap();
    drop(machine);
    move_back(&world, &zero, 0);
    let machine = open(&shape, &world, Loss::Ordered);
    host.check(&machine, "with the one that was lost last");
    wait(&machine);
    machine.pull(0).unwrap();
    assert!(machine.status().sets[0].state == "failed" || machine.status().bays[1].status == Status::InUse);
}

#[test]
fn a_drive_that_was_used_without_the_array_is_not_overwritten_with_what_is_older() {
    let shape = shape(Level::Raid1, 2, 0, 8, 96);
    let world = World::new(Loss::Ordered, 11);
    let (mut host, [zero, one]) = pulled_apart(&world, &shape);
    world.forget("nvram");
    move_back(&world, &one, 1);
    let machine = open(&shape, &world, Loss::Ordered);
    Host::new(&machine).write(&machine, 0, 1).unwrap();
    assert_eq!(machine.insert(0, &Insert::Serial(zero)).unwrap(), Status::Stale);
    machine.close().unwrap();
    drop(machine);
    world.remove(1);
    world.forget("nvram");
    host.check(&open(&shape, &world, Loss::Ordered), "the half that was used last before, alone");
}

#[test]
fn an_array_starts_again_whatever_slots_a_drive_was_in() {
    let slow = 1 << 20;
    type Operator = fn(&Arc<Machine>);
    let operators: [(Level, u32, Operator); 3] = [
        (Level::Raid5, 1, |machine| {
            machine.fail(1).unwrap();
            machine.clear(1, None).unwrap();
            let _busy = machine.copy(2);
        }),
        (Level::Raid6, 0, |machine| {
            machine.fail(1).unwrap();
            machine.fail(3).unwrap();
            machine.clear(3, None).unwrap();
            machine.rebuild(0).unwrap();
            wait(machine);
            machine.fail(3).unwrap();
        }),
        (Level::Raid5, 1, |machine| {
            machine.fail(0).unwrap();
            machine.spare(0).unwrap();
            machine.pull(0).unwrap();
            let _may_be_done = machine.rebuild(0);
            let _refused = machine.insert(0, &Insert::Same);
        }),
    ];
    for (number, (level, spares, operate)) in operators.into_iter().enumerate() {
        for rate in [0, slow] {
            let shape = shape(level, 4, spares, 8, 4096);
            let world = World::new(Loss::Ordered, 12);
            let machine = open(&shape, &world, Loss::Ordered);
            let mut host = Host::new(&machine);
            for lba in (0..host.sectors()).step_by(61) {
                host.write(&machine, lba, 1).unwrap();
            }
            host.settle();
            machine.set_rate(if number == 1 { 0 } else { rate });
            operate(&machine);
            let machine = again(machine, &shape, &world);
            host.check(&machine, &format!("operator {number}, rate {rate}"));
            wait(&machine);
            host.check(&machine, &format!("operator {number}, rate {rate}, afterwards"));
        }
    }
}

#[test]
fn what_was_flushed_under_a_battery_outlives_it_where_writes_are_forced() {
    let shape = shape(Level::Raid5, 4, 0, 8, 96);
    let world = World::new(Loss::Ordered, 13);
    let machine = try_open(&shape, &world, &with_cache(64 << 10)).unwrap();
    machine.set_cache(CacheAction::WriteBack { forced: true }).unwrap();
    let mut host = Host::new(&machine);
    host.write(&machine, 5, 7).unwrap();
    flush_all(&machine).unwrap();
    host.settle();
    machine.set_cache(CacheAction::BatteryDead).unwrap();
    machine.set_cache(CacheAction::PowerLoss).unwrap();
    host.check(&machine, "flushed while the battery was good");
}

#[test]
fn a_memory_whose_header_is_damaged_after_an_unclean_stop_is_none() {
    let (shape, world, machine, mut host) = written(Level::Raid5, 4, 0);
    drop(machine);
    world.damage("nvram", 16);
    let machine = open(&shape, &world, Loss::Ordered);
    wait(&machine);
    assert!(has_event(&machine, "started without its memory") && has_event(&machine, "verify complete"));
    host.check(&machine, "without its memory");
}

#[test]
fn a_drive_that_was_cleared_is_no_longer_the_one_that_a_slot_has_lost() {
    let shape = shape(Level::Raid5, 4, 0, 8, 96);
    let on_files: Arc<Machine> = open(&shape, &World::new(Loss::Ordered, 15), Loss::Ordered);
    let in_memory = Machine::in_memory(shape.clone(), &options(Loss::Ordered)).unwrap();
    for machine in [on_files, in_memory] {
        let mut host = Host::new(&machine);
        write_all(&mut host, &machine);
        machine.fail(2).unwrap();
        machine.fail(3).unwrap();
        let consent = machine.status().bays[2].serial.clone();
        machine.clear(2, Some(&consent)).unwrap();
        machine.pull(2).unwrap();
        assert_ne!(machine.insert(2, &Insert::Same).unwrap(), Status::InUse);
        assert_eq!(machine.status().sets[0].state, "failed");
        machine.pull(3).unwrap();
        assert_eq!(machine.insert(3, &Insert::Same).unwrap(), Status::InUse, "it was lost last");
        host.check(&machine, "without the one that was cleared");
    }
}

#[test]
fn what_a_drive_has_missed_is_remembered_whatever_other_drives_do_and_over_a_start() {
    for (level, members, other) in [(Level::Raid1, 2, 1), (Level::Raid5, 4, 2), (Level::Raid10, 4, 1)] {
        for is_pulled in [true, false] {
            let (shape, world, machine, mut host) = written(level, members, 0);
            machine.pull(0).unwrap();
            write_all(&mut host, &machine);
            if !is_pulled {
                machine.fail(other).unwrap();
            }
            machine.pull(other).unwrap();
            machine.insert(other, &Insert::Same).unwrap();
            host.check(&machine, "degraded again");
            let machine = again(machine, &shape, &world);
            machine.insert(0, &Insert::Same).unwrap();
            wait(&machine);
            assert_eq!(machine.status().sets[0].state, "optimal", "{level}");
            host.check(&machine, "all drives");
            assert_verifies(&machine, &format!("{level}"));
        }
    }
}

#[test]
fn a_write_that_the_journal_alone_has_is_missed_by_a_drive_that_is_away() {
    for level in [Level::Raid1, Level::Raid5, Level::Raid6] {
        for crash in 1..12 {
            let (shape, world, machine, mut host) = written(level, 4, 0);
            machine.pull(0).unwrap();
            world.crash_after(crash);
            let _in_doubt = host.write(&machine, 0, 24);
            drop(machine);
            world.revive();
            let machine = open(&shape, &world, Loss::Ordered);
            machine.insert(0, &Insert::Same).unwrap();
            wait(&machine);
            host.check(&machine, "all drives");
            assert_verifies(&machine, &format!("{level}, write {crash}"));
        }
    }
}

#[test]
fn an_array_starts_again_whatever_bay_a_drive_was_moved_to_and_cleared_in() {
    for (level, members) in [(Level::Raid1, 2), (Level::Raid5, 3)] {
        let shape = shape(level, members, 1, 8, 96);
        let spare = members;
        let world = World::new(Loss::Ordered, 1);
        let machine = open(&shape, &world, Loss::Ordered);
        let mut host = Host::new(&machine);
        write_all(&mut host, &machine);
        let serial = machine.status().bays[1].serial.clone();
        machine.pull(spare).unwrap();
        machine.pull(1).unwrap();
        assert_eq!(machine.insert(spare, &Insert::Serial(serial)).unwrap(), Status::Stale, "{level}");
        machine.clear(spare, None).unwrap();
        machine.rebuild(0).unwrap();
        wait(&machine);
        assert_eq!(machine.status().sets[0].state, "optimal", "{level}");
        let machine = again(machine, &shape, &world);
        assert_eq!(machine.status().sets[0].state, "optimal", "{level}");
        host.check(&machine, "started again");
    }
}

#[test]
fn an_array_starts_again_after_a_drive_that_was_away_once_was_replaced_by_its_clone() {
    for level in [Level::Raid1, Level::Raid5] {
        let (shape, world, machine, mut host) = written(level, 3, 1);
        machine.pull(1).unwrap();
        machine.insert(1, &Insert::Same).unwrap();
        machine.copy(1).unwrap();
        wait(&machine);
        write_all(&mut host, &machine);
        let machine = again(machine, &shape, &world);
        assert_eq!(machine.status().sets[0].state, "optimal", "{level}");
        host.check(&machine, "started again");
    }
}
