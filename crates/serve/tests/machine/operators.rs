//! An operator who takes drives out and puts them in while a host writes.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use array::raid::Level;
use serve::config::Status;
use serve::machine::{Insert, Machine, Options};
use units::convert::narrow;

use crate::host::{Host, write_all};
use crate::world::{Draws, Loss, World, open, shape, wait};

/// One drive is taken out, is back for moments, and is at last back for good, or another one is.
fn one_drive(machine: &Arc<Machine>, draws: &mut Draws) {
    let pause = |draws: &mut Draws| serve::clock::wait(Duration::from_micros(draws.below(5000)));
    let bay = narrow::<u32>(draws.below(4));
    machine.set_rate([0, 4 << 20][narrow::<usize>(draws.below(2))]);
    machine.pull(bay).unwrap();
    pause(draws);
    for _ in 0..draws.below(3) {
        // Refused where it was being filled by something else.
        machine.insert(bay, &Insert::Same).ok();
        pause(draws);
        if machine.status().bays[bay as usize].status != Status::Empty {
            machine.pull(bay).unwrap();
            pause(draws);
        }
    }
    let what = if draws.below(3) == 0 { Insert::New } else { Insert::Same };
    machine.insert(bay, &what).unwrap();
    if matches!(machine.status().bays[bay as usize].status, Status::Stale) {
        machine.clear(bay, None).unwrap();
    }
    // Refused where it is under way, or nothing is left to do.
    machine.rebuild(0).ok();
    machine.set_rate(0);
    wait(machine);
    let status = machine.status();
    assert_eq!(status.sets[0].state, "optimal", "{:?}\n{:?}", status.bays, machine.events().since(0));
}

#[test]
fn what_a_host_writes_while_drives_go_and_come_back_is_on_every_member() {
    for (seed, level) in (0..).zip([Level::Raid5, Level::Raid6, Level::Raid10, Level::Raid1E, Level::Raid5]) {
        let options = Options { is_automatic: true, ..Options::default() };
        let machine = Machine::in_memory(shape(level, 4, 0, 8, 16 * 4096), &options).unwrap();
        let mut host = Host::new(&machine);
        let is_over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let operator = scope.spawn(|| {
                let mut draws = Draws::new(seed);
                (0..30).for_each(|_| one_drive(&machine, &mut draws));
                is_over.store(true, Ordering::Release);
            });
            let mut draws = Draws::new(seed + 1000);
            let last = host.sectors() - 16;
            while !is_over.load(Ordering::Acquire) && !operator.is_finished() {
                let (lba, count) = (draws.below(last), 1 + draws.below(16));
                host.write(&machine, lba, count).unwrap();
                host.settle_sectors(lba, count);
            }
        });
        let what = format!("{level}, seed {seed}");
        machine.verify(0, false).unwrap();
        wait(&machine);
        let last = machine.events().since(0).pop().unwrap().text;
        assert!(last.ends_with("verify complete"), "{what}: {last}");
        host.check(&machine, &what);
    }
}

/// A drive is pulled while a host writes, then the machine loses power; the drive is put back, and another one goes.
fn pulled_under_load(level: Level, seed: u64) {
    let shape = shape(level, 4, 0, 8, 96);
    let world = World::new(Loss::Reordered, seed);
    let machine = open(&shape, &world, Loss::Reordered);
    let mut host = Host::new(&machine);
    write_all(&mut host, &machine);
    let mut draws = Draws::new(seed);
    let (is_gone, pause) = (AtomicBool::new(false), Duration::from_micros(draws.below(300)));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !is_gone.load(Ordering::Acquire) {
                let (lba, count) = host.place(&mut draws);
                host.write(&machine, lba, count).unwrap();
            }
        });
        serve::clock::wait(pause);
        machine.pull(1).unwrap();
        is_gone.store(true, Ordering::Release);
    });
    world.crash_after(0);
    assert!(host.write(&machine, 0, 1).is_err(), "the power is gone");
    drop(machine);
    world.revive();
    let machine = open(&shape, &world, Loss::Reordered);
    let what = format!("{level}, seed {seed}");
    host.check(&machine, &what);
    if machine.insert(1, &Insert::Same).unwrap() == Status::Stale {
        machine.clear(1, None).unwrap();
        machine.rebuild(0).unwrap();
    }
    wait(&machine);
    assert_eq!(machine.status().sets[0].state, "optimal", "{what}");
    machine.pull(2).unwrap();
    host.check(&machine, &what);
}

#[test]
fn a_drive_that_is_pulled_under_load_has_what_it_is_said_to_have_when_the_power_goes() {
    for seed in 0..25 {
        [Level::Raid5, Level::Raid6, Level::Raid10]
            .into_iter()
            .for_each(|level| pulled_under_load(level, seed));
    }
}
