//! What status and event log say: drives that come back, no space left, findings of background work.

use array::raid::Level;
use serve::config::Status;
use serve::machine::{CacheAction, Insert, Machine, Options};
use serve::set::Fault;

use crate::host::{Host, write_all};
use crate::world::{Bays, Loss, World, byte_of, open, options, shape, try_open, wait, with_cache, written};

#[test]
fn a_hot_spare_that_is_pulled_and_put_back_is_one_again_and_takes_over() {
    for is_stopped in [false, true] {
        let shape = shape(Level::Raid5, 3, 1, 8, 96);
        let world = World::new(Loss::Ordered, 1);
        let open = || {
            let options = Options { is_automatic: true, ..options(Loss::Ordered) };
            Machine::open(shape.clone(), Box::new(Bays(world.clone())), &options).unwrap()
        };
        let mut machine = open();
        let mut host = Host::new(&machine);
        host.write(&machine, 0, 50).unwrap();
        host.settle();
        let serial = machine.status().bays[3].serial.clone();
        machine.pull(3).unwrap();
        machine.fail(1).unwrap();
        assert_eq!(machine.status().sets[0].state, "degraded");
        if is_stopped {
            machine.close().unwrap();
            drop(machine);
            world.paste(&format!("out {serial}"), 3);
            machine = open();
        } else {
            let status = machine.insert(3, &Insert::Same).unwrap();
            assert_eq!(status, Status::Spare);
        }
        let told = machine.events().since(0).iter().any(|event| event.text.ends_with("is back; hot spare"));
        assert!(told, "stopped: {is_stopped}");
        wait(&machine);
        assert_eq!(machine.status().sets[0].state, "optimal", "stopped: {is_stopped}");
        host.check(&machine, "on the spare");
    }
}

#[test]
fn a_copy_of_a_drive_from_when_it_was_a_spare_is_none_once_it_was_used() {
    let shape = shape(Level::Raid5, 3, 1, 8, 96);
    let world = World::new(Loss::Ordered, 1);
    let machine = open(&shape, &world, Loss::Ordered);
    let mut host = Host::new(&machine);
    host.write(&machine, 0, 50).unwrap();
    world.copy(3, "spare");
    machine.fail(1).unwrap();
    machine.rebuild(0).unwrap();
    wait(&machine);
    host.settle();
    machine.pull(3).unwrap();
    let serial = machine.status().bays[3].serial.clone();
    world.save("spare", &format!("out {serial}"));
    assert_eq!(machine.insert(3, &Insert::Same).unwrap(), Status::Stale);
    host.check(&machine, "degraded");
}

#[test]
fn drives_in_memory_that_held_nothing_come_back_as_what_they_were() {
    let shape = shape(Level::Raid5, 3, 2, 8, 96);
    let machine = Machine::in_memory(shape, &options(Loss::Ordered)).unwrap();
    machine.pull(4).unwrap();
    machine.insert(4, &Insert::New).unwrap();
    let was: Vec<Status> = machine.status().bays.iter().map(|bay| bay.status).collect();
    for bay in [3, 4] {
        machine.pull(bay).unwrap();
        machine.insert(bay, &Insert::Same).unwrap();
    }
    let is: Vec<Status> = machine.status().bays.iter().map(|bay| bay.status).collect();
    assert_eq!(is, was);
    assert_eq!(was[3..], [Status::Spare, Status::Unassigned]);
}

#[test]
fn a_battery_whose_death_cannot_be_written_down_is_as_it_was() {
    let shape = shape(Level::Raid5, 3, 0, 8, 96);
    let world = World::new(Loss::Ordered, 1);
    let machine = try_open(&shape, &world, &with_cache(64 << 10)).unwrap();
    world.fill(true);
    assert!(machine.set_cache(CacheAction::BatteryDead).is_err());
    let status = machine.cache_status().unwrap();
    assert!(status.has_battery && status.is_write_back);
    world.fill(false);
    machine.set_cache(CacheAction::BatteryDead).unwrap();
    let status = machine.cache_status().unwrap();
    assert!(!status.has_battery && !status.is_write_back);
}

#[test]
fn an_array_without_room_says_so_and_takes_writes_again_when_there_is_some() {
    let shape = shape(Level::Raid5, 3, 0, 8, 96);
    let world = World::new(Loss::Ordered, 1);
    let machine = open(&shape, &world, Loss::Ordered);
    let mut host = Host::new(&machine);
    host.write(&machine, 0, 20).unwrap();
    host.settle();
    assert_eq!(machine.status().writes_refused, None);
    world.fill(true);
    for _ in 0..3 {
        assert_eq!(host.write(&machine, 30, 2).unwrap_err(), Fault::NoSpace);
    }
    let status = machine.status();
    assert!(status.writes_refused.unwrap().contains("no space"));
    assert!(!status.is_write_protected, "nothing was under way");
    world.fill(false);
    host.write(&machine, 30, 2).unwrap();
    host.settle();
    assert_eq!(machine.status().writes_refused, None);
    let of_room =
        |text: &str| machine.events().since(0).iter().filter(|event| event.text.contains(text)).count();
    assert_eq!((of_room("no space for the member files"), of_room("writes are taken again")), (1, 1));
    host.check(&machine, "after all");
}

#[test]
fn a_pass_says_what_it_has_found_and_left_wrong() {
    let shape = shape(Level::Raid1, 2, 0, 8, 96);
    let world = World::new(Loss::Ordered, 1);
    let machine = open(&shape, &world, Loss::Ordered);
    let mut host = Host::new(&machine);
    let all = host.sectors();
    host.write(&machine, 0, all).unwrap();
    host.settle();
    let of = |kind: &str| machine.status().passes.into_iter().find(|pass| pass.kind == kind).unwrap();
    machine.verify(0, false).unwrap();
    wait(&machine);
    assert!(of("verify").is_good() && !of("verify").has_findings());
    // The same sector of both.
    assert!(world.spoil(0, byte_of(5)) && world.spoil(1, byte_of(5)));
    machine.verify(0, true).unwrap();
    wait(&machine);
    let pass = of("verify");
    assert_eq!((pass.number, pass.unreadable_sectors, pass.is_complete), (2, 2, true));
    assert!(!pass.is_good(), "{pass}");
    host.write(&machine, 0, all).unwrap();
    machine.verify(0, true).unwrap();
    wait(&machine);
    assert!(of("verify").is_good(), "once the sector is written");
}

#[test]
fn a_memory_that_takes_nothing_is_named_as_long_as_it_does() {
    for (name, cache, text) in
        [("nvram", None, "the controller's memory"), ("cache", Some(64 << 10), "the write cache")]
    {
        let shape = shape(Level::Raid5, 3, 0, 8, 96);
        let world = World::new(Loss::Ordered, 1);
        let options = Options { cache, ..options(Loss::Ordered) };
        let machine = Machine::open(shape, Box::new(Bays(world.clone())), &options).unwrap();
        let mut host = Host::new(&machine);
        world.refuse_named(name, true);
        for _ in 0..3 {
            assert_eq!(host.write(&machine, 30, 2).unwrap_err(), Fault::Journal, "{name}");
        }
        let why = machine.status().writes_refused.unwrap();
        assert!(why.contains(text), "{why}");
        let told = machine.events().since(0);
        assert_eq!(told.iter().filter(|event| event.text.contains(text)).count(), 1, "{told:?}");
        world.refuse_named(name, false);
        host.write(&machine, 30, 2).unwrap();
        host.settle();
        assert_eq!(machine.status().writes_refused, None, "{name}");
        host.check(&machine, name);
    }
}

#[test]
fn a_spare_takes_over_once_a_set_that_had_failed_has_its_other_drive_again() {
    let shape = shape(Level::Raid5, 4, 0, 8, 96);
    let world = World::new(Loss::Ordered, 1);
    let options = Options { is_automatic: true, ..options(Loss::Ordered) };
    let machine = try_open(&shape, &world, &options).unwrap();
    let mut host = Host::new(&machine);
    write_all(&mut host, &machine);
    machine.pull(1).unwrap();
    machine.fail(2).unwrap();
    let consent = machine.status().bays[2].serial.clone();
    machine.clear(2, Some(&consent)).unwrap();
    assert_eq!(machine.status().sets[0].state, "failed");
    machine.insert(1, &Insert::Same).unwrap();
    wait(&machine);
    assert_eq!(machine.status().sets[0].state, "optimal");
    host.check(&machine, "on the spare");
}

#[test]
fn the_last_event_of_a_set_says_what_it_is_when_a_copy_ends() {
    let (_, _, machine, mut host) = written(Level::Raid6, 5, 1);
    machine.pull(0).unwrap();
    machine.fail(1).unwrap();
    machine.rebuild(0).unwrap();
    wait(&machine);
    let events = machine.events().since(0);
    let last = events.iter().rfind(|event| event.text.starts_with("set 0 (")).unwrap();
    assert_eq!(machine.status().sets[0].state, "degraded");
    assert!(last.text.ends_with("degraded"), "{}", last.text);
    host.check(&machine, "with one lost");
}

#[test]
fn a_new_drive_that_could_not_be_made_leaves_the_bay_to_the_one_that_was_there() {
    let (_, world, machine, mut host) = written(Level::Raid5, 3, 0);
    machine.pull(1).unwrap();
    world.fill(true);
    machine.insert(1, &Insert::New).unwrap_err();
    world.fill(false);
    assert_eq!(machine.insert(1, &Insert::Same).unwrap(), Status::InUse);
    wait(&machine);
    host.check(&machine, "with its own drive");
}

#[test]
fn work_that_cannot_go_on_ends_at_once_however_slow_it_is_to_be() {
    let shape = shape(Level::Raid5, 3, 1, 8, 4 * 2048);
    for is_copy in [false, true] {
        let world = World::new(Loss::Ordered, 1);
        let machine = open(&shape, &world, Loss::Ordered);
        // A unit in five minutes.
        machine.set_rate(2048);
        if is_copy {
            machine.copy(0).unwrap();
        } else {
            machine.pull(1).unwrap();
            machine.rebuild(0).unwrap();
        }
        while machine.status().works.first().is_some_and(|work| work.done == 0.0) {
            serve::clock::wait(std::time::Duration::from_millis(1));
        }
        machine.pull(if is_copy { 3 } else { 0 }).unwrap();
        // Far less than the limit would take; the work looks every 50 ms.
        for _ in 0..2000 {
            if machine.is_busy() {
                serve::clock::wait(std::time::Duration::from_millis(10));
            }
        }
        assert!(!machine.is_busy(), "copy {is_copy}: {:?}", machine.status().works);
    }
}
