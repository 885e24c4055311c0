//! Drives, memory and cache of a copy of the array, and files that are none of either.

use array::raid::Level;
use serve::config::Status;
use serve::machine::{Insert, OpenError};

use crate::host::{Host, flush_all, write_all};
use crate::world::{Loss, World, open, options, shape, try_open, wait, with_cache, written};

#[test]
fn a_copy_of_a_drive_from_before_the_end_is_refused() {
    let (shape, world, machine, mut host) = written(Level::Raid5, 4, 0);
    world.copy(1, "copy");
    write_all(&mut host, &machine);
    machine.close().unwrap();
    drop(machine);
    world.paste("copy", 1);
    let machine = open(&shape, &world, Loss::Ordered);
    assert_eq!(machine.status().bays[1].status, Status::Stale);
    host.check(&machine, "without the copy");
}

#[test]
fn files_that_are_no_drives_are_not_made_into_some() {
    let shape = shape(Level::Raid5, 3, 0, 8, 96);
    let world = World::new(Loss::Ordered, 1);
    world.put("bay 1", 500, b"somebody's");
    let writes = world.writes();
    let refused = try_open(&shape, &world, &options(Loss::Ordered)).err().unwrap().to_string();
    assert!(refused.contains("`bay-01.disk` holds data"), "{refused}");
    assert_eq!(world.writes(), writes);
    world.forget("bay 1");
    let machine = open(&shape, &world, Loss::Ordered);
    let mut host = Host::new(&machine);
    write_all(&mut host, &machine);
    machine.close().unwrap();
    drop(machine);
    // No label is left of any drive.
    for bay in 0..3 {
        world.forget(&format!("bay {bay}"));
    }
    let refused = try_open(&shape, &world, &options(Loss::Ordered)).err().unwrap().to_string();
    assert!(refused.contains("`controller.nvram` knows an array"), "{refused}");
}

#[test]
fn a_drive_of_a_copy_that_was_started_by_itself_is_not_taken_for_the_arrays_own() {
    for (level, members, starts) in
        [(Level::Raid5, 4, 1), (Level::Raid5, 4, 2), (Level::Raid1, 2, 1), (Level::Raid1, 2, 2)]
    {
        let (shape, world, machine, mut host) = written(level, members, 0);
        machine.close().unwrap();
        drop(machine);
        let copy = world.fork();
        for _ in 0..starts {
            let machine = open(&shape, &copy, Loss::Ordered);
            write_all(&mut Host::new(&machine), &machine);
            machine.close().unwrap();
        }
        let machine = open(&shape, &world, Loss::Ordered);
        write_all(&mut host, &machine);
        machine.close().unwrap();
        drop(machine);
        let own = world.fork();
        world.adopt(&copy, 1);
        let refused = try_open(&shape, &world, &options(Loss::Ordered)).err();
        assert!(matches!(refused, Some(OpenError::Split { .. })), "{level}, {starts}: {refused:?}");
        host.check(&open(&shape, &own, Loss::Ordered), "with its own drives");
    }
}

#[test]
fn the_cache_of_a_copy_that_was_started_by_itself_is_not_taken() {
    let shape = shape(Level::Raid5, 4, 0, 8, 96);
    let world = World::new(Loss::Ordered, 1);
    let machine = try_open(&shape, &world, &with_cache(64 << 10)).unwrap();
    let mut host = Host::new(&machine);
    write_all(&mut host, &machine);
    machine.close().unwrap();
    drop(machine);
    let copy = world.fork();
    for world in [&copy, &world] {
        let machine = try_open(&shape, world, &with_cache(64 << 10)).unwrap();
        host.write(&machine, 3, 2).unwrap();
        flush_all(&machine).unwrap();
    }
    world.adopt_named(&copy, "cache");
    let refused = try_open(&shape, &world, &with_cache(64 << 10)).err();
    assert!(matches!(refused, Some(OpenError::CacheGone)), "{refused:?}");
}

#[test]
fn a_spare_or_a_memory_of_a_copy_does_not_outvote_the_drives() {
    for (bays, is_memory, own_starts) in [(vec![4], false, 0), (vec![], true, 0), (vec![1], true, 1)] {
        let (shape, world, machine, mut host) = written(Level::Raid5, 4, 1);
        machine.close().unwrap();
        drop(machine);
        let copy = world.fork();
        for _ in 0..own_starts + 1 {
            open(&shape, &copy, Loss::Ordered).close().unwrap();
        }
        for _ in 0..own_starts {
            open(&shape, &world, Loss::Ordered).close().unwrap();
        }
        let own = world.fork();
        bays.iter().for_each(|&bay| world.adopt(&copy, bay));
        if is_memory {
            world.adopt_named(&copy, "nvram");
        }
        let writes = world.writes();
        let refused = try_open(&shape, &world, &options(Loss::Ordered)).err();
        assert!(matches!(refused, Some(OpenError::Split { .. })), "{bays:?} {is_memory}: {refused:?}");
        assert_eq!(world.writes(), writes);
        host.check(&open(&shape, &own, Loss::Ordered), "with what is its own");
    }
}

#[test]
fn a_drive_that_only_a_copy_of_the_array_uses_does_not_displace_the_arrays_own() {
    for (level, members) in [(Level::Raid1, 2), (Level::Raid5, 3)] {
        for is_stopped in [true, false] {
            let (shape, world, machine, mut host) = written(level, members, 0);
            machine.fail(1).unwrap();
            machine.close().unwrap();
            drop(machine);
            // The copy goes on with the other drive, and holds the array's one for failed.
            let copy = world.fork();
            let machine = open(&shape, &copy, Loss::Ordered);
            machine.clear(1, None).unwrap();
            machine.copy(0).unwrap();
            wait(&machine);
            write_all(&mut Host::new(&machine), &machine);
            machine.close().unwrap();
            drop(machine);
            let machine = open(&shape, &world, Loss::Ordered);
            write_all(&mut host, &machine);
            if is_stopped {
                machine.close().unwrap();
            }
            drop(machine);
            let own = world.fork();
            world.adopt(&copy, 1);
            for has_memory in [false, true] {
                if has_memory {
                    world.adopt_named(&copy, "nvram");
                }
                let refused = try_open(&shape, &world, &options(Loss::Ordered)).err();
                assert!(
                    matches!(refused, Some(OpenError::Split { .. })),
                    "{level}, {has_memory}: {refused:?}"
                );
            }
            host.check(&open(&shape, &own, Loss::Ordered), "with its own drives");
        }
    }
}

#[test]
fn a_copy_of_a_pulled_drive_from_while_it_was_in_use_has_missed_what_came_after() {
    for level in [Level::Raid1, Level::Raid5, Level::Raid6] {
        let (_, world, machine, mut host) = written(level, 4, 0);
        world.copy(1, "copy");
        write_all(&mut host, &machine);
        let serial = machine.status().bays[1].serial.clone();
        machine.pull(1).unwrap();
        world.save("copy", &format!("out {serial}"));
        assert_eq!(machine.insert(1, &Insert::Same).unwrap(), Status::Stale, "{level}");
        host.check(&machine, "without the copy");
    }
}

#[test]
fn the_cache_of_a_copy_is_not_taken_by_an_array_that_was_killed_and_not_started_since() {
    for is_stopped in [false, true] {
        let shape = shape(Level::Raid5, 4, 0, 8, 96);
        let world = World::new(Loss::Ordered, 1);
        let machine = try_open(&shape, &world, &with_cache(64 << 10)).unwrap();
        write_all(&mut Host::new(&machine), &machine);
        drop(machine);
        let copy = world.fork();
        let machine = try_open(&shape, &copy, &with_cache(64 << 10)).unwrap();
        write_all(&mut Host::new(&machine), &machine);
        if is_stopped {
            machine.close().unwrap();
        }
        world.adopt_named(&copy, "cache");
        let refused = try_open(&shape, &world, &with_cache(64 << 10)).err();
        assert!(matches!(refused, Some(OpenError::CacheGone)), "{refused:?}");
    }
}
