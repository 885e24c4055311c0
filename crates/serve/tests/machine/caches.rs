//! A write-back cache whose battery fails, and power that goes at any write: what is lost is what is said to be lost.

use std::sync::Arc;
use std::time::Duration;

use array::raid::Level;
use serve::machine::{CacheAction, LostRange, Machine, OperateError, Options, Shape};
use serve::set::Fault;
use units::convert::narrow;

use crate::crashes::consistent;
use crate::host::{Host, flush_all};
use crate::world::{Bays, Draws, Flaw, Loss, World, options, random_shape, shape, wait};

const CACHE: u64 = 40 << 10;

fn open(shape: &Shape, world: &Arc<World>, loss: Loss) -> Arc<Machine> {
    let options = Options { cache: Some(CACHE), ..options(loss) };
    Machine::open(shape.clone(), Box::new(Bays(world.clone())), &options).unwrap()
}

/// One life: random requests, and an operator who does this and that to the cache, until the power goes. Whether it went;
/// or what was wrong afterwards.
fn one_life(seed: u64, flaw: Option<Flaw>) -> Result<bool, String> {
    let mut draws = Draws::new(seed);
    let loss = if draws.one_in(2) { Loss::Ordered } else { Loss::Reordered };
    let shape = random_shape(&mut draws, 0);
    let world = World::new(loss, seed);
    let spec = shape.sets[0].geometry.spec().clone();
    let told = |wrong: String| format!("seed {seed}, {loss:?}, {spec:?}: {wrong}");
    let mut machine = open(&shape, &world, loss);
    if let Some(flaw) = flaw {
        world.plant(flaw, &shape);
    }
    let mut host = Host::new(&machine);
    for _ in 0..2 {
        let is_whole = machine.status().sets[0].state == "optimal";
        if draws.one_in(4) && spec.level.survives(spec.members) > 0 && is_whole {
            machine.fail(narrow(draws.below(u64::from(spec.members)))).unwrap();
        }
        world.crash_after(1 + draws.below(150));
        requests(&machine, &world, &mut host, &mut draws, loss).map_err(told)?;
        if !world.is_dead() {
            return Ok(false);
        }
        let battery = machine.cache_status().unwrap().has_battery;
        let lost = machine.cache_status().unwrap().lost;
        drop(machine);
        world.revive();
        let again = Options { cache: Some(CACHE), ..options(loss) };
        let again = Machine::open(shape.clone(), Box::new(Bays(world.clone())), &again);
        machine = again.map_err(|why| told(why.to_string()))?;
        let status = machine.cache_status().unwrap();
        // Where it was being replaced as the power went, either may be.
        if battery && status.has_battery && status.lost.len() > lost.len() {
            return Err(told("something is lost in spite of a battery".into()));
        }
        host.hear_of_loss(&machine).and_then(|()| host.examine(&machine)).map_err(told)?;
        if machine.set_cache(CacheAction::Flush).is_ok() {
            host.written_out();
        }
        consistent(&machine, &shape).and_then(|()| host.examine(&machine)).map_err(told)?;
    }
    Ok(true)
}

fn requests(
    machine: &Arc<Machine>,
    world: &World,
    host: &mut Host,
    draws: &mut Draws,
    loss: Loss,
) -> Result<(), String> {
    for _ in 0..80 {
        let (lba, count) = host.place(draws);
        match draws.below(20) {
            0 | 1 if flush_all(machine).is_ok() => host.settle(),
            0 | 1 => {}
            2 => {
                // What follows an error is in doubt.
                let _taken = host.zero(machine, lba, count);
            }
            3 => machine.destage_old(Duration::ZERO),
            4 | 5 => {
                let all = [
                    CacheAction::WriteBack { forced: true },
                    CacheAction::WriteBack { forced: true },
                    CacheAction::WriteThrough,
                    CacheAction::BatteryDead,
                    CacheAction::BatteryDead,
                    CacheAction::BatteryGood,
                    CacheAction::Flush,
                    CacheAction::PowerLoss,
                ];
                let action = all[narrow::<usize>(draws.below(all.len() as u64))];
                let is_done = machine.set_cache(action).is_ok() && !world.is_dead();
                let empties = [CacheAction::WriteThrough, CacheAction::BatteryGood, CacheAction::Flush];
                if is_done && empties.contains(&action) {
                    host.written_out();
                }
                if is_done && action == CacheAction::PowerLoss {
                    host.settle_for_loss(loss);
                    host.hear_of_loss(machine)?;
                    host.examine(machine)?;
                }
            }
            _ => {
                if host.write(machine, lba, count).is_ok() && loss == Loss::Ordered && !world.is_dead() {
                    host.settle_sectors(lba, count);
                }
            }
        }
        if world.is_dead() {
            return Ok(());
        }
    }
    Ok(())
}

#[allow(clippy::print_stdout, reason = "how many crash points were tried is the result")]
fn lives(seed: u64, count: u64) {
    let died = (seed..seed + count).filter(|&seed| one_life(seed, None).unwrap()).count();
    println!("crash points with a write cache: {died} of {count} lives from seed {seed}");
    assert!(died as u64 > count / 2, "the power must go in most lives");
}

#[test]
fn what_a_cache_without_a_battery_loses_is_what_it_says_and_nothing_else_and_with_one_nothing() {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse().ok());
    lives(number("FATHOM_CRASH_SEED").unwrap_or(1), number("FATHOM_CRASH_POINTS").unwrap_or(2000));
}

#[test]
fn a_battery_that_keeps_nothing_and_a_loss_that_is_forgotten_are_found_within_a_few_hundred_lives() {
    for flaw in [Flaw::CacheForgotten, Flaw::LossForgotten, Flaw::SyncIgnored] {
        let found = (1..400).find(|&seed| one_life(seed, Some(flaw)).is_err());
        assert!(found.is_some(), "{flaw:?} does no harm that is seen");
    }
}

#[test]
fn a_dead_battery_has_writes_go_through_and_forced_writes_are_lost_by_name() {
    let shape = shape(Level::Raid5, 4, 0, 8, 96);
    let world = World::new(Loss::Ordered, 1);
    let machine = open(&shape, &world, Loss::Ordered);
    let mut host = Host::new(&machine);
    host.write(&machine, 0, 8).unwrap();
    assert_eq!(machine.cache_status().unwrap().dirty_bytes, 8 * 512);
    machine.set_cache(CacheAction::BatteryDead).unwrap();
    let status = machine.cache_status().unwrap();
    assert_eq!((status.dirty_bytes, status.is_write_back, status.has_battery), (0, false, false));
    host.write(&machine, 8, 8).unwrap();
    assert_eq!(machine.cache_status().unwrap().dirty_bytes, 0, "it went through");
    let refused = machine.set_cache(CacheAction::WriteBack { forced: false });
    assert!(matches!(refused, Err(OperateError::NoBattery)));
    host.settle();

    machine.set_cache(CacheAction::WriteBack { forced: true }).unwrap();
    host.write(&machine, 4, 2).unwrap();
    host.write(&machine, 20, 3).unwrap();
    host.settle();
    host.examine(&machine).unwrap();
    machine.set_cache(CacheAction::PowerLoss).unwrap();
    let lost =
        [(4, 2), (20, 3)].map(|(at, count)| LostRange { lun: 0, offset: at * 512, bytes: count * 512 });
    assert_eq!(machine.cache_status().unwrap().lost, lost);
    assert_eq!(host.read(&machine, 4, 1), Err(Fault::CacheLost));
    assert_eq!(host.read(&machine, 0, 8), Err(Fault::CacheLost));
    host.read(&machine, 0, 4).unwrap();
    let events = machine.events().since(0);
    assert!(events.iter().any(|event| event.text == "lun0: lost: 1.50 KiB from byte 10240 on"), "{events:?}");

    // It is remembered, and a write mends it.
    machine.close().unwrap();
    drop(machine);
    let machine = open(&shape, &world, Loss::Ordered);
    assert_eq!(machine.cache_status().unwrap().lost, lost);
    host.write(&machine, 4, 2).unwrap();
    host.zero(&machine, 20, 3).unwrap();
    host.settle();
    assert_eq!(machine.cache_status().unwrap().lost, []);
    host.check(&machine, "written again");
    machine.verify(0, false).unwrap();
    wait(&machine);
    assert!(machine.events().since(0).last().unwrap().text.ends_with("verify complete"));
}
