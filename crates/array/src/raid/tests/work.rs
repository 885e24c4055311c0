//! Background work: how much each kind moves, and what it finds.

use super::bytes::Set;
use super::*;

fn sweep(geometry: &Geometry, health: &Health, task: Task, unit: u64) -> Sweep {
    Sweep::new(geometry, health, task, Sectors(unit)).unwrap()
}

/// Steps and sectors read, written and read back by a whole pass, and its units.
fn moved(geometry: &Geometry, health: &Health, task: Task, unit: u64) -> ([u64; 3], u64) {
    let mut sweep = sweep(geometry, health, task, unit);
    let (mut plan, mut sectors, mut units) = (Plan::new(), [0; 3], 0);
    while let Some(unit) = sweep.next(geometry, health, first, &mut plan).unwrap() {
        for (sum, steps) in sectors.iter_mut().zip([plan.reads(), plan.writes(), plan.checks()]) {
            *sum += steps.iter().map(|step| step.sectors.0).sum::<u64>();
        }
        sweep.settle(unit);
        units += 1;
    }
    assert!(sweep.is_done());
    (sectors, units)
}

/// 100 rows of 128 sectors on each member.
const USED: u64 = 12_800;

fn with_spare(level: Level, members: u32) -> (Geometry, Health) {
    let spec = SetSpec { spares: 1, ..SetSpec::new(level, members, Sectors(128), Sectors(USED)) };
    let geometry = Geometry::new(spec).unwrap();
    let health = Health::new(&geometry);
    (geometry, health)
}

#[test]
fn each_task_moves_what_the_table_says() {
    let (geometry, mut health) = with_spare(Level::Raid6, 12);
    let zero = |verify| Task::Zero { verify };
    let build = |verify| Task::BuildParity { verify };
    assert_eq!(moved(&geometry, &health, zero(false), 1024), ([0, 12 * USED, 0], 13));
    assert_eq!(moved(&geometry, &health, zero(true), 1024), ([0, 12 * USED, 12 * USED], 13));
    assert_eq!(moved(&geometry, &health, build(false), 1024), ([10 * USED, 2 * USED, 0], 13));
    assert_eq!(moved(&geometry, &health, build(true), 1024), ([10 * USED, 2 * USED, 2 * USED], 13));
    assert_eq!(moved(&geometry, &health, Task::Verify, 1024), ([12 * USED, 0, 0], 13));
    health.clone_to(3, 12).unwrap();
    assert_eq!(moved(&geometry, &health, Task::Clone { slot: 3 }, 512), ([USED, USED, 0], 25));
    health.fail(12).unwrap();
    health.clear(12).unwrap();
    health.fail(3).unwrap();
    health.rebuild_on_spare(3).unwrap();
    assert_eq!(moved(&geometry, &health, Task::Rebuild { slot: 3 }, 512), ([10 * USED, USED, 0], 25));
    health.fail(7).unwrap();
    assert_eq!(moved(&geometry, &health, Task::Rebuild { slot: 3 }, 512), ([10 * USED, USED, 0], 25));
    // Half of what five disks hold is copies.
    let (geometry, health) = with_spare(Level::Raid1E, 5);
    assert_eq!(moved(&geometry, &health, build(false), 1024), ([5 * USED / 2, 5 * USED / 2, 0], 13));
}

#[test]
fn arithmetic_of_a_unit_counts_every_column_that_goes_in() {
    for (level, parity) in [(Level::Raid5, 1), (Level::Raid6, 2)] {
        let (geometry, mut health) = with_spare(level, 6);
        let taken = |health: &Health, task| {
            let mut plan = Plan::new();
            sweep(&geometry, health, task, 128).next(&geometry, health, first, &mut plan).unwrap();
            let Arithmetic { xor, weighted } = plan.arithmetic();
            let (counted, other) = if level == Level::Raid5 { (xor, weighted) } else { (weighted, xor) };
            assert!(other.is_zero(), "{level}");
            counted.get() / 512
        };
        assert_eq!(taken(&health, Task::Verify), 6 * 128, "{level}");
        assert_eq!(taken(&health, Task::BuildParity { verify: false }), (6 - parity) * 128, "{level}");
        health.fail(0).unwrap();
        health.rebuild_on_spare(0).unwrap();
        assert_eq!(taken(&health, Task::Rebuild { slot: 0 }), (6 - parity) * 128, "{level}");
    }
}

#[test]
fn a_rebuild_reads_no_disk_that_is_still_empty_and_needs_parity_that_is_built() {
    let spec = SetSpec { spares: 2, ..SetSpec::new(Level::Raid6, 6, Sectors(128), Sectors(USED)) };
    let geometry = Geometry::new(spec).unwrap();
    let mut health = Health::new(&geometry);
    for slot in [1, 2] {
        health.fail(slot.into()).unwrap();
        health.rebuild_on_spare(slot).unwrap();
    }
    let mut plan = Plan::new();
    let mut next = |health: &Health| {
        let mut sweep = sweep(&geometry, health, Task::Rebuild { slot: 1 }, 128);
        sweep.next(&geometry, health, first, &mut plan).map(|_| plan.to_string())
    };
    assert_eq!(next(&health).unwrap(), "d0 r0+128, d3 r0+128, d4 r0+128, d5 r0+128, d6 w0+128");
    let lost = PlanError::DataLost { level: Level::Raid6, group: 0 };
    health.parity_built_to(Lba(64));
    assert_eq!(next(&health), Err(lost.clone()));
    health.parity_is_built();
    health.fail(3).unwrap();
    assert_eq!(next(&health), Err(lost));
}

#[test]
fn what_is_filled_with_zeros_is_zero_whatever_was_there() {
    for level in [Level::Raid0, Level::Raid1, Level::Raid6] {
        let mut set = Set::new(SetSpec::new(level, 4, Sectors(8), Sectors(80)));
        let whole = set.geometry.capacity().0;
        set.write(&[(0, whole)]);
        set.assert_whole();
        let mut pass = sweep(&set.geometry, &set.health, Task::Zero { verify: false }, 8);
        while set.step(&mut pass) {}
        assert!(set.disks.bytes.iter().flatten().all(|byte| *byte == 0), "{level}");
    }
}

/// Disks of which one says that it wrote and did not.
struct Forgetful(super::bytes::Disks, u16);

impl Members for Forgetful {
    type Error = std::convert::Infallible;

    fn read(&mut self, member: u16, lba: Lba, into: &mut [u8]) -> Result<(), Self::Error> {
        self.0.read(member, lba, into)
    }

    fn write(&mut self, member: u16, lba: Lba, from: &[u8]) -> Result<(), Self::Error> {
        if member == self.1 { Ok(()) } else { self.0.write(member, lba, from) }
    }
}

#[test]
fn what_is_read_back_and_is_not_what_was_written_is_found() {
    for (level, task) in [
        (Level::Raid5, Task::Zero { verify: true }),
        (Level::Raid5, Task::BuildParity { verify: true }),
        (Level::Raid10, Task::BuildParity { verify: true }),
    ] {
        for member in 0..4 {
            let set = Set::raw(SetSpec::new(level, 4, Sectors(8), Sectors(80)));
            let (mut plan, mut executor) = (Plan::new(), Executor::new());
            let mut disks = Forgetful(set.disks, member);
            let mut pass = sweep(&set.geometry, &set.health, task, 80);
            pass.next(&set.geometry, &set.health, first, &mut plan).unwrap();
            let is_written = plan.writes().iter().any(|step| step.member == member);
            let equal = executor.work(&set.geometry, &plan, &mut disks).unwrap();
            assert_eq!(equal, !is_written, "{level}, {task:?}, member {member}");
        }
    }
}

#[test]
fn a_raid_6_rebuild_of_one_disk_spares_each_survivor_in_turn() {
    let (geometry, mut health) = with_spare(Level::Raid6, 12);
    health.fail(3).unwrap();
    health.rebuild_on_spare(3).unwrap();
    let mut sweep = sweep(&geometry, &health, Task::Rebuild { slot: 3 }, 100);
    let (mut plan, mut reads) = (Plan::new(), [0u32; 13]);
    while sweep.next(&geometry, &health, first, &mut plan).unwrap().is_some() {
        plan.reads().iter().for_each(|step| reads[usize::from(step.member)] += 1);
        assert_eq!(plan.writes().len(), 1);
    }
    let survivors = || (0..12).filter(|&member| member != 3).map(|member| reads[member]);
    assert_eq!((reads[3], reads[12]), (0, 0));
    assert!(survivors().max().unwrap() - survivors().min().unwrap() <= 1, "{reads:?}");
    // The one after the other, unit by unit.
    let mut sweep = self::sweep(&geometry, &health, Task::Rebuild { slot: 3 }, 88);
    for spared in (0..12).filter(|member| *member != 3).cycle().take(24) {
        sweep.next(&geometry, &health, first, &mut plan).unwrap().unwrap();
        assert!(plan.reads().iter().all(|step| step.member != spared), "{plan}");
    }
}

#[test]
fn a_mirror_is_rebuilt_from_its_partner_and_a_group_from_its_own_members() {
    let (geometry, mut health) = with_spare(Level::Raid10, 6);
    health.fail(4).unwrap();
    health.rebuild_on_spare(4).unwrap();
    let mut plan = Plan::new();
    sweep(&geometry, &health, Task::Rebuild { slot: 4 }, 256)
        .next(&geometry, &health, first, &mut plan)
        .unwrap();
    assert_eq!(plan.to_string(), "d5 r0+256, d6 w0+256");
    let (geometry, mut health) = with_spare(Level::Raid50, 6);
    health.fail(4).unwrap();
    health.rebuild_on_spare(4).unwrap();
    sweep(&geometry, &health, Task::Rebuild { slot: 4 }, 256)
        .next(&geometry, &health, first, &mut plan)
        .unwrap();
    assert_eq!(plan.to_string(), "d3 r0+256, d5 r0+256, d6 w0+256");
}

#[test]
fn marks_follow_units_that_end_out_of_order() {
    let (geometry, mut health) = with_spare(Level::Raid5, 5);
    health.fail(0).unwrap();
    health.rebuild_on_spare(0).unwrap();
    let mut sweep = sweep(&geometry, &health, Task::Rebuild { slot: 0 }, 128);
    let mut plan = Plan::new();
    let mut next = || sweep.next(&geometry, &health, first, &mut plan).unwrap().unwrap();
    let (one, two, three) = (next(), next(), next());
    sweep.settle(two);
    assert_eq!((sweep.done_to(), sweep.reached()), (Lba(0), Lba(384)));
    // Rows 0 and 2 are under way, row 1 has ended; a row holds 512 sectors of the host.
    let held = [0, 512, 1024, 1536].map(|lba| sweep.holds(&geometry, Lba(lba), Sectors(8)));
    assert_eq!(held, [true, false, true, false]);
    assert!(sweep.holds(&geometry, Lba(1000), Sectors(100)), "a request that reaches into a held row");
    sweep.settle(one);
    assert_eq!(sweep.done_to(), Lba(256));
    assert_eq!(sweep.done(), Share::new(0.02).unwrap());
    sweep.abandon();
    assert_eq!((sweep.done_to(), sweep.reached()), (Lba(256), Lba(256)));
    sweep.settle(three);
    assert!(!sweep.is_done());
}

#[test]
fn a_write_beside_a_unit_under_way_is_not_held() {
    let (geometry, mut health) = with_spare(Level::Raid5, 5);
    health.fail(0).unwrap();
    health.rebuild_on_spare(0).unwrap();
    // Sectors 32 to 64 of each member, of strips of 128.
    let mut sweep = sweep(&geometry, &health, Task::Rebuild { slot: 0 }, 32).between(Lba(32), Lba(64));
    sweep.next(&geometry, &health, first, &mut Plan::new()).unwrap().unwrap();
    let writes = [(16, 16), (16, 17), (40, 8), (63, 1), (64, 8)];
    let held = writes.map(|(lba, sectors)| sweep.holds(&geometry, Lba(lba), Sectors(sectors)));
    assert_eq!(held, [false, true, true, true, false]);
    assert!(!sweep.holds(&geometry, Lba(40), Sectors(0)), "it writes nothing");
}

#[test]
fn a_part_of_a_pass_is_whole_units() {
    let (geometry, health) = with_spare(Level::Raid5, 5);
    let mut part = sweep(&geometry, &health, Task::Verify, 100).between(Lba(250), Lba(401));
    let (mut plan, mut units) = (Plan::new(), Vec::new());
    while let Some(unit) = part.next(&geometry, &health, first, &mut plan).unwrap() {
        units.push((unit.lba.0, unit.sectors.0));
    }
    assert_eq!(units, [(200, 100), (300, 100), (400, 100)]);
    part.settle(Unit { lba: Lba(200), sectors: Sectors(100) });
    part.settle(Unit { lba: Lba(300), sectors: Sectors(100) });
    assert_eq!(part.done(), Share::new(2.0 / 3.0).unwrap());
    let nothing = sweep(&geometry, &health, Task::Verify, 100).between(Lba(9), Lba(0));
    assert!(nothing.is_done());
    let end = sweep(&geometry, &health, Task::Verify, 100).between(Lba(u64::MAX), Lba(u64::MAX));
    assert!(end.is_done());
}

#[test]
fn work_without_meaning_is_refused_in_words() {
    let (geometry, health) = raid(Level::Raid0, 4, 128);
    let refuse = |geometry: &Geometry, health: &Health, task, unit| {
        Sweep::new(geometry, health, task, Sectors(unit)).unwrap_err().to_string()
    };
    let verify = refuse(&geometry, &health, Task::Verify, 8);
    assert_eq!(verify, "cannot verify: the set has no redundancy; use RAID 1, 1E, 10, 5, 6, 50 or 60");
    let rebuild = refuse(&geometry, &health, Task::Rebuild { slot: 0 }, 8);
    assert!(rebuild.contains("restore from a backup"), "{rebuild}");
    let (geometry, mut health) = raid(Level::Raid5, 5, 128);
    assert!(refuse(&geometry, &health, Task::Rebuild { slot: 5 }, 8).contains("no slot of that number"));
    assert!(refuse(&geometry, &health, Task::Rebuild { slot: 1 }, 8).contains("no empty disk"));
    assert!(refuse(&geometry, &health, Task::Clone { slot: 1 }, 8).contains("no disk to copy to"));
    assert!(refuse(&geometry, &health, Task::Verify, 0).contains("its unit is 0"));
    health.fail(1).unwrap();
    assert!(refuse(&geometry, &health, Task::Verify, 8).contains("finish the rebuild first"));
}

#[test]
fn verify_finds_one_wrong_byte_on_any_member_of_every_level() {
    for level in LEVELS.into_iter().filter(|level| level.parity() > 0 || level.survives(4) > 0) {
        let members = level.least_members() * if level.is_nested() { 2 } else { 1 };
        for member in 0..members {
            let mut set = Set::new(SetSpec::new(level, members, Sectors(4), Sectors(24)));
            let whole = set.geometry.capacity().0;
            set.write(&[(0, whole)]);
            set.assert_consistent();
            set.disks.bytes[member as usize][5000] ^= 4;
            let mut sweep = sweep(&set.geometry, &set.health, Task::Verify, 8);
            let (mut plan, mut executor, mut wrong) = (Plan::new(), Executor::new(), Vec::new());
            while let Some(unit) = sweep.next(&set.geometry, &set.health, first, &mut plan).unwrap() {
                if !executor.work(&set.geometry, &plan, &mut set.disks).unwrap() {
                    wrong.push(unit.lba.0);
                }
                sweep.settle(unit);
            }
            assert_eq!(wrong, [8], "{level}, member {member}");
        }
    }
}
