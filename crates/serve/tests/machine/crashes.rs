//! The power goes at any write of any member.

use std::sync::Arc;

use array::raid::Level;
use serve::machine::{Insert, Machine, Options, Shape};
use units::convert::narrow;

use crate::host::{Host, flush_all};
use crate::world::{
    Draws, Flaw, Loss, World, assert_verifies, open, options, random_shape, shape, try_open, wait,
};

/// One life: random requests until the power goes, and what is there afterwards; also without as many members as the
/// level survives. Whether the power went before the requests were done; or what was wrong afterwards.
fn one_life(seed: u64, flaw: Option<Flaw>) -> Result<bool, String> {
    let mut draws = Draws::new(seed);
    let loss = if draws.one_in(2) { Loss::Ordered } else { Loss::Reordered };
    let shape = random_shape(&mut draws, 0);
    let world = World::new(loss, seed);
    let what = format!("seed {seed}, {loss:?}, {:?}", shape.sets[0].geometry.spec());
    let mut machine = open(&shape, &world, loss);
    if let Some(flaw) = flaw {
        world.plant(flaw, &shape);
    }
    let mut host = Host::new(&machine);
    let survives = shape.sets[0].geometry.spec().level.survives(narrow(shape.bays.len()));
    for _ in 0..1 + draws.below(2) {
        let degraded = if draws.one_in(3) { draws.below(u64::from(survives) + 1) } else { 0 };
        let bays = machine.status().bays.len() as u64;
        for _ in 0..degraded {
            // One that has failed before cannot fail again, and then one less is lost.
            if machine.status().bays.iter().filter(|bay| bay.slot.is_none()).count() < survives as usize {
                let _known = machine.fail(narrow(draws.below(bays)));
            }
        }
        world.crash_after(1 + draws.below(60));
        let died = requests(&machine, &world, &mut host, &mut draws, loss);
        if !died {
            return Ok(false);
        }
        drop(machine);
        world.revive();
        // Up to as many members as may be lost do not come back.
        machine = open(&shape, &world, loss);
        let lost = machine.status().bays.iter().filter(|bay| bay.slot.is_none()).count() as u64;
        if draws.one_in(2) && lost < u64::from(survives) {
            let gone = narrow::<u32>(draws.below(bays));
            if machine.status().bays[gone as usize].slot.is_some() {
                // Without having been closed: as if it had not been there after the crash.
                machine.fail(gone).unwrap();
            }
        }
        host.examine(&machine)
            .and_then(|()| consistent(&machine, &shape))
            .map_err(|wrong| format!("{what}: {wrong}"))?;
    }
    Ok(true)
}

fn requests(machine: &Arc<Machine>, world: &World, host: &mut Host, draws: &mut Draws, loss: Loss) -> bool {
    for _ in 0..40 {
        let (lba, count) = host.place(draws);
        match draws.below(8) {
            0 => {
                if flush_all(machine).is_ok() {
                    host.settle();
                }
            }
            1 => {
                // What follows an error is in doubt.
                let _taken = host.zero(machine, lba, count);
            }
            _ => {
                if host.write(machine, lba, count).is_ok() && loss == Loss::Ordered && !world.is_dead() {
                    host.settle_sectors(lba, count);
                }
            }
        }
        if world.is_dead() {
            return true;
        }
    }
    false
}

/// A verify finds nothing, where all members are there.
pub fn consistent(machine: &Arc<Machine>, shape: &Shape) -> Result<(), String> {
    let spec = shape.sets[0].geometry.spec();
    let is_whole = machine.status().sets[0].state == "optimal";
    if !is_whole || spec.level.survives(spec.members) == 0 {
        return Ok(());
    }
    // One that the crash has interrupted goes on by itself.
    wait(machine);
    machine.verify(0, false).unwrap();
    wait(machine);
    let events = machine.events().since(0);
    let last = events.iter().rev().find(|event| event.text.contains("verify complete")).unwrap();
    if last.text.contains(';') { Err(last.text.clone()) } else { Ok(()) }
}

#[allow(clippy::print_stdout, reason = "how many crash points were tried is the result")]
fn lives(seed: u64, count: u64) {
    let processors = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let died: usize = std::thread::scope(|scope| {
        let of_one = |first: u64| {
            let seeds = (first..seed + count).step_by(processors);
            move || seeds.filter(|&seed| one_life(seed, None).unwrap()).count()
        };
        let threads: Vec<_> = (seed..).take(processors).map(|first| scope.spawn(of_one(first))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).sum()
    });
    println!("crash points: {died} of {count} lives from seed {seed}");
    assert!(died as u64 > count / 2, "the power must go in most lives");
}

#[test]
fn whatever_was_flushed_is_there_after_a_crash_at_any_write_and_parity_is_consistent() {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse().ok());
    lives(number("FATHOM_CRASH_SEED").unwrap_or(1), number("FATHOM_CRASH_POINTS").unwrap_or(100_000));
}

/// An hour or so: `cargo test --release -p fathom-serve --test machine -- --ignored a_million`.
#[test]
#[ignore = "a million crash points take long"]
fn a_million_crash_points() {
    lives(1_000_000, 1_200_000);
}

/// What makes the tests above worth something: without what they are about, they fail.
#[test]
fn a_journal_that_is_off_an_ignored_sync_and_wrong_parity_are_found_within_a_few_hundred_lives() {
    for flaw in [Flaw::JournalOff, Flaw::SyncIgnored, Flaw::WrongParity] {
        let found = (1..400).find(|&seed| one_life(seed, Some(flaw)).is_err());
        assert!(found.is_some(), "{flaw:?} does no harm that is seen");
    }
}

#[test]
fn after_a_loss_of_power_parity_is_made_to_fit_the_data_that_are_there() {
    for (level, members) in [(Level::Raid5, 4), (Level::Raid6, 5), (Level::Raid1, 2)] {
        let shape = shape(level, members, 0, 8, 96);
        let world = World::new(Loss::Ordered, 1);
        let booted = |boot: &str| Options { boot: boot.into(), ..options(Loss::Ordered) };
        let machine = try_open(&shape, &world, &booted("one")).unwrap();
        world.copy(0, "as new");
        let mut host = Host::new(&machine);
        host.write(&machine, 0, 8).unwrap();
        drop(machine);
        // What was not synced is lost with the power: on one of the drives, and in the journal.
        world.revive();
        world.forget("nvram");
        world.refill("as new", 0);
        let machine = try_open(&shape, &world, &booted("two")).unwrap();
        wait(&machine);
        let pass = machine.status().passes.pop().unwrap();
        assert!(pass.is_good() && pass.inconsistent_stripes > 0, "{level}: {pass}");
        assert_verifies(&machine, &format!("{level}"));
        host.check(&machine, &format!("{level}"));
        for bay in 1..members {
            machine.pull(bay).unwrap();
            host.check(&machine, &format!("{level}, without bay {bay}"));
            machine.insert(bay, &Insert::Same).unwrap();
            wait(&machine);
        }
    }
}
