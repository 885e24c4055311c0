//! Plans checked by hand.
//!
//! In left-symmetric RAID 5 of five disks with chunks of 128 sectors, row 0 is data on d0 to d3 and P on d4; row 1
//! is data on d4, d0, d1, d2 and P on d3. In RAID 6 of six, row 0 is data on d1 to d4, P on d5 and Q on d0.

use super::*;

#[test]
fn a_write_smaller_than_a_stripe_reads_old_data_and_old_parity() {
    let (geometry, health) = raid(Level::Raid5, 5, 128);
    assert_eq!(write(&geometry, &health, 3, 1), "d0 r3, d4 r3, d0 w3, d4 w3");
    assert_eq!(write(&geometry, &health, 512 + 16, 16), "d4 r144+16, d3 r144+16, d4 w144+16, d3 w144+16");
}

#[test]
fn a_small_raid_6_write_is_three_reads_and_three_writes() {
    let (geometry, health) = raid(Level::Raid6, 12, 128);
    let expected = "d1 r8+8, d11 r8+8, d0 r8+8, d1 w8+8, d11 w8+8, d0 w8+8";
    assert_eq!(write(&geometry, &health, 8, 8), expected);
}

#[test]
fn a_full_stripe_reads_nothing() {
    let (geometry, health) = raid(Level::Raid5, 5, 128);
    let expected = "d0 w0+128, d1 w0+128, d2 w0+128, d3 w0+128, d4 w0+128";
    assert_eq!(write(&geometry, &health, 0, 512), expected);
}

#[test]
fn most_of_a_stripe_reads_the_rest_of_it_instead_of_the_old() {
    let (geometry, health) = raid(Level::Raid5, 5, 128);
    // Three strips and half of the last: 5 reads to modify, 1 to reconstruct.
    let expected = "d3 r64+64, d0 w0+128, d1 w0+128, d2 w0+128, d3 w0+64, d4 w0+128";
    assert_eq!(write(&geometry, &health, 0, 448), expected);
    let expected = "d0 r0+64, d0 w64+64, d1 w0+128, d2 w0+128, d3 w0+128, d4 w0+128";
    assert_eq!(write(&geometry, &health, 64, 448), expected);
}

#[test]
fn a_write_across_two_strips_far_from_each_other_in_parity_is_two_small_changes() {
    let (geometry, health) = raid(Level::Raid5, 5, 128);
    let expected = "d0 r120+8, d4 r120+8, d1 r0+8, d4 r0+8, d0 w120+8, d4 w120+8, d1 w0+8, d4 w0+8";
    assert_eq!(write(&geometry, &health, 120, 16), expected);
}

#[test]
fn a_read_is_one_command_without_a_plan_where_its_strip_has_one_place_that_is_well() {
    let lone = |level: Level, members, failed: Option<u32>, lba, sectors| {
        let geometry = Geometry::new(SetSpec::new(level, members, Sectors(64), Sectors(6400))).unwrap();
        let mut health = Health::new(&geometry);
        if let Some(member) = failed {
            health.fail(member).unwrap();
        }
        geometry.lone_read(&health, Lba(lba), Sectors(sectors))
    };
    assert_eq!(lone(Level::Jbod, 2, None, 6400, 8), Some((1, Lba(0))));
    assert_eq!(lone(Level::Raid0, 4, None, 64 * 5 + 3, 61), Some((1, Lba(64 + 3))));
    assert_eq!(lone(Level::Raid5, 4, None, 0, 64), Some((0, Lba(0))));
    assert_eq!(lone(Level::Raid5, 4, Some(3), 0, 64), Some((0, Lba(0))));
    // Over the end of a strip, lost, with a copy to choose from, beyond the end, and nothing at all.
    assert_eq!(lone(Level::Raid0, 4, None, 64 * 5 + 3, 62), None);
    assert_eq!(lone(Level::Raid5, 4, Some(0), 0, 64), None);
    assert_eq!(lone(Level::Raid10, 4, None, 0, 8), None);
    assert_eq!(lone(Level::Raid0, 4, None, 6400 * 4, 1), None);
    assert_eq!(lone(Level::Raid0, 4, None, u64::MAX, 2), None);
    assert_eq!(lone(Level::Raid0, 4, None, 0, 0), None);
}

#[test]
fn runs_gathered_in_one_stripe_share_its_parity() {
    let (geometry, health) = raid(Level::Raid5, 9, 16);
    let runs = [0, 16, 32].map(|lba| Extent { lba: Lba(lba + 4), sectors: Sectors(4) });
    let mut plan = Plan::new();
    geometry.plan_gathered(&health, &runs, &mut plan).unwrap();
    let expected = "d0 r4+4, d1 r4+4, d2 r4+4, d8 r4+4, d0 w4+4, d1 w4+4, d2 w4+4, d8 w4+4";
    assert_eq!(plan.to_string(), expected);
    assert_eq!(plan.writes()[2].host, Some(Sectors(8)));
}

#[test]
fn a_read_of_a_lost_strip_reads_every_survivor_and_shares_what_the_host_wants_anyway() {
    let (geometry, mut health) = raid(Level::Raid5, 5, 128);
    health.fail(0).unwrap();
    assert_eq!(read(&geometry, &health, 8, 8), "d1 r8+8, d2 r8+8, d3 r8+8, d4 r8+8");
    assert_eq!(read(&geometry, &health, 128, 8), "d1 r0+8");
    assert_eq!(read(&geometry, &health, 64, 192), "d1 r0+128, d2 r64+64, d3 r64+64, d4 r64+64");
    // What the host wants of another strip lies far from what is lost.
    assert_eq!(read(&geometry, &health, 120, 16), "d1 r120+8, d1 r0+8, d2 r120+8, d3 r120+8, d4 r120+8");
}

#[test]
fn two_lost_strips_are_recovered_from_both_parities() {
    let (geometry, mut health) = raid(Level::Raid6, 6, 128);
    health.fail(1).unwrap();
    assert_eq!(read(&geometry, &health, 0, 8), "d2 r0+8, d3 r0+8, d4 r0+8, d5 r0+8");
    health.fail(2).unwrap();
    assert_eq!(read(&geometry, &health, 0, 8), "d3 r0+8, d4 r0+8, d5 r0+8, d0 r0+8");
    let mut plan = Plan::new();
    geometry.plan_read(&health, Lba(0), Sectors(8), first, &mut plan).unwrap();
    assert_eq!(plan.stripes()[0].solve.unknown(), [0, 1]);
    // Without P, one lost strip comes from Q.
    let mut health = Health::new(&geometry);
    health.fail(1).unwrap();
    health.fail(5).unwrap();
    assert_eq!(read(&geometry, &health, 0, 8), "d2 r0+8, d3 r0+8, d4 r0+8, d0 r0+8");
}

#[test]
fn a_degraded_write_goes_round_what_is_lost() {
    let (geometry, mut health) = raid(Level::Raid5, 5, 128);
    health.fail(0).unwrap();
    assert_eq!(write(&geometry, &health, 8, 8), "d1 r8+8, d2 r8+8, d3 r8+8, d4 w8+8");
    // Another strip of the same row still follows by difference.
    assert_eq!(write(&geometry, &health, 136, 8), "d1 r8+8, d4 r8+8, d1 w8+8, d4 w8+8");
    // Row 4 has its parity on the lost disk.
    assert_eq!(write(&geometry, &health, 4 * 512, 8), "d1 w512+8");
    let (geometry, mut health) = raid(Level::Raid6, 6, 128);
    health.fail(1).unwrap();
    health.fail(2).unwrap();
    assert_eq!(write(&geometry, &health, 0, 8), "d3 r0+8, d4 r0+8, d5 r0+8, d0 r0+8, d5 w0+8, d0 w0+8");
}

#[test]
fn a_rebuilding_disk_is_read_and_written_behind_its_mark_only() {
    let spec = SetSpec { spares: 1, ..SetSpec::new(Level::Raid5, 5, Sectors(128), Sectors(12_800)) };
    let geometry = Geometry::new(spec).unwrap();
    let mut health = Health::new(&geometry);
    assert_eq!(health.fail(0), Ok(Some(0)));
    assert_eq!(health.rebuild_on_spare(0), Ok(5));
    health.progress(0, Lba(16), Lba(32));
    assert_eq!(read(&geometry, &health, 8, 8), "d5 r8+8");
    assert_eq!(read(&geometry, &health, 16, 8), "d1 r16+8, d2 r16+8, d3 r16+8, d4 r16+8");
    assert_eq!(write(&geometry, &health, 8, 8), "d5 r8+8, d4 r8+8, d5 w8+8, d4 w8+8");
    assert_eq!(write(&geometry, &health, 24, 8), "d1 r24+8, d2 r24+8, d3 r24+8, d5 w24+8, d4 w24+8");
    assert_eq!(write(&geometry, &health, 32, 8), "d1 r32+8, d2 r32+8, d3 r32+8, d4 w32+8");
    health.finish(0);
    assert!(health.is_optimal());
    assert_eq!(read(&geometry, &health, 16, 8), "d5 r16+8");
}

#[test]
fn a_parity_strip_across_the_mark_of_its_rebuild_is_computed_anew() {
    let spec = SetSpec { spares: 1, ..SetSpec::new(Level::Raid5, 5, Sectors(128), Sectors(12_800)) };
    let geometry = Geometry::new(spec).unwrap();
    let mut health = Health::new(&geometry);
    health.fail(4).unwrap();
    health.rebuild_on_spare(4).unwrap();
    health.progress(4, Lba(16), Lba(16));
    assert_eq!(write(&geometry, &health, 8, 8), "d0 r8+8, d5 r8+8, d0 w8+8, d5 w8+8");
    assert_eq!(write(&geometry, &health, 12, 8), "d1 r12+8, d2 r12+8, d3 r12+8, d0 w12+8, d5 w12+8");
    assert_eq!(write(&geometry, &health, 16, 8), "d0 w16+8");
}

#[test]
fn parity_that_is_not_built_yet_is_never_relied_on() {
    let (geometry, mut health) = raid(Level::Raid5, 5, 128);
    health.parity_built_to(Lba(64));
    assert_eq!(write(&geometry, &health, 0, 8), "d0 r0+8, d4 r0+8, d0 w0+8, d4 w0+8");
    let expected = "d1 r64+8, d2 r64+8, d3 r64+8, d0 w64+8, d4 w64+8";
    assert_eq!(write(&geometry, &health, 64, 8), expected);
    health.parity_is_built();
    assert_eq!(write(&geometry, &health, 64, 8), "d0 r64+8, d4 r64+8, d0 w64+8, d4 w64+8");
    health.parity_built_to(Lba(64));
    health.fail(0).unwrap();
    let mut plan = Plan::new();
    let lost = geometry.plan_read(&health, Lba(64), Sectors(8), first, &mut plan);
    assert_eq!(lost, Err(PlanError::DataLost { level: Level::Raid5, group: 0 }));
}

#[test]
fn mirrors_offer_every_good_copy_and_write_all_of_them() {
    let (geometry, mut health) = raid(Level::Raid10, 6, 128);
    let mut plan = Plan::new();
    let mut offered = Vec::new();
    let choose = |copies: &[Candidate]| {
        offered.push(copies.iter().map(|copy| copy.member).collect::<Vec<_>>());
        copies.len() - 1
    };
    geometry.plan_read(&health, Lba(120), Sectors(16), choose, &mut plan).unwrap();
    assert_eq!(plan.to_string(), "d1 r120+8, d3 r0+8");
    assert_eq!(offered, [[0, 1], [2, 3]]);
    assert_eq!(write(&geometry, &health, 120, 16), "d0 w120+8, d1 w120+8, d2 w0+8, d3 w0+8");
    health.fail(2).unwrap();
    assert_eq!(write(&geometry, &health, 120, 16), "d0 w120+8, d1 w120+8, d3 w0+8");
    assert_eq!(read(&geometry, &health, 128, 8), "d3 r0+8");
    let no_choice = |_: &[Candidate]| panic!("there is one copy");
    geometry.plan_read(&health, Lba(128), Sectors(8), no_choice, &mut plan).unwrap();
}

#[test]
fn a_step_carries_data_or_the_copy_of_its_number() {
    let mut plan = Plan::new();
    let mut roles = |level| {
        let (geometry, health) = raid(level, 4, 128);
        geometry.plan_write(&health, Lba(0), Sectors(8), &mut plan).unwrap();
        let mut roles: Vec<Role> = plan.writes().iter().map(|step| step.role).collect();
        let last = |copies: &[Candidate]| copies.len() - 1;
        geometry.plan_read(&health, Lba(0), Sectors(8), last, &mut plan).unwrap();
        roles.extend(plan.reads().iter().map(|step| step.role));
        roles
    };
    assert_eq!(roles(Level::Raid0), [Role::Data(0); 2]);
    assert_eq!(roles(Level::Raid10), [Role::Copy(0), Role::Copy(1), Role::Copy(1)]);
}

#[test]
fn raid_1e_puts_the_copy_of_a_row_below_it_and_one_disk_further() {
    let (geometry, health) = raid(Level::Raid1E, 3, 8);
    assert_eq!(write(&geometry, &health, 0, 1), "d0 w0, d1 w8");
    assert_eq!(write(&geometry, &health, 16, 1), "d2 w0, d0 w8");
    assert_eq!(write(&geometry, &health, 24, 1), "d0 w16, d1 w24");
}

#[test]
fn arithmetic_counts_every_buffer_that_goes_in() {
    let mut plan = Plan::new();
    let mut taken = |level, members, sectors| {
        let (geometry, health) = raid(level, members, 128);
        geometry.plan_write(&health, Lba(0), Sectors(sectors), &mut plan).unwrap();
        let Arithmetic { xor, weighted } = plan.arithmetic();
        (xor.get() / 512, weighted.get() / 512)
    };
    assert_eq!(taken(Level::Raid5, 8, 16), (48, 0));
    assert_eq!(taken(Level::Raid5, 5, 512), (512, 0));
    assert_eq!(taken(Level::Raid6, 12, 16), (0, 64));
    assert_eq!(taken(Level::Raid10, 4, 16), (0, 0));
}

#[test]
fn arithmetic_of_what_is_recovered_counts_what_is_read_and_what_is_computed_anew() {
    let mut plan = Plan::new();
    let (geometry, mut health) = raid(Level::Raid5, 5, 128);
    health.fail(0).unwrap();
    geometry.plan_read(&health, Lba(0), Sectors(8), first, &mut plan).unwrap();
    assert_eq!(plan.arithmetic(), Arithmetic { xor: Sectors(4 * 8).bytes(), ..Arithmetic::default() });
    // Five data strips in RAID 6 of seven: of three and both parities two are computed, then both parities from five.
    let (geometry, mut health) = raid(Level::Raid6, 7, 128);
    health.fail(1).unwrap();
    health.fail(2).unwrap();
    geometry.plan_write(&health, Lba(0), Sectors(8), &mut plan).unwrap();
    assert_eq!(plan.stripes()[0].method, Method::RecoverAndWrite);
    let weighted = Sectors((3 + 2 + 5) * 8).bytes();
    assert_eq!(plan.arithmetic(), Arithmetic { weighted, ..Arithmetic::default() });
}

#[test]
fn the_cheaper_way_is_taken_for_every_number_of_strips() {
    for (level, members) in [(Level::Raid5, 5), (Level::Raid5, 12), (Level::Raid6, 12), (Level::Raid60, 24)] {
        let (geometry, health) = raid(level, members, 8);
        let data = u64::from(geometry.data);
        let parity = u64::from(level.parity());
        for touched in 1..data {
            let mut plan = Plan::new();
            geometry.plan_write(&health, Lba(0), Sectors(touched * 8), &mut plan).unwrap();
            let cheaper = (touched + parity).min(data - touched);
            assert_eq!(plan.reads().len() as u64, cheaper, "{level} of {members}, {touched} strips");
            assert_eq!(plan.writes().len() as u64, touched + parity);
            let modifies = plan.stripes()[0].method == Method::ReadModifyWrite;
            assert_eq!(modifies, touched + parity < data - touched, "{level} of {members}, {touched} strips");
        }
    }
}

#[test]
fn neighbours_on_a_disk_become_one_command() {
    let (geometry, health) = raid(Level::Raid5, 5, 128);
    let mut plan = Plan::new();
    geometry.plan_write(&health, Lba(0), Sectors(2048), &mut plan).unwrap();
    let mut merger = Merger::new();
    let whole: Vec<MergedCommand> = merger.merge(plan.writes(), Sectors(u64::MAX)).to_vec();
    let each = |member| MergedCommand { member, lba: Lba(0), sectors: Sectors(512) };
    assert_eq!(whole.len(), 5);
    assert!((0..5).all(|member| whole.contains(&each(member))));
    assert_eq!(merger.merge(plan.writes(), Sectors(256)).len(), 10);
    assert!(merger.merge(&[], Sectors(256)).is_empty());
}

#[test]
fn impossible_sets_are_refused_with_what_would_be_right() {
    let refuse = |spec: SetSpec| Geometry::new(spec).unwrap_err().to_string();
    let set = |level, members| SetSpec::new(level, members, Sectors(128), Sectors(1 << 20));
    let cases = [
        (
            set(Level::Raid6, 3),
            "RAID 6 of 3 disks is impossible: it needs at least 4; with 3 use RAID 5 or RAID 1E",
        ),
        (set(Level::Raid5, 2), "RAID 5 of 2 disks is impossible: it needs at least 3; with 2 use RAID 1"),
        (set(Level::Raid10, 3), "RAID 10 of 3 disks is impossible: it needs at least 4; with 3 use RAID 1E"),
        (set(Level::Raid0, 0), "RAID 0 of 0 disks is impossible: it needs at least 1"),
        (
            set(Level::Raid10, 5),
            "RAID 10 of 5 disks leaves one without a partner; give 4 or 6, or use RAID 1E, which takes an odd number",
        ),
        (set(Level::Raid50, 7), "RAID 50: 7 disks do not make 2 equal groups; give 6 or 8 disks"),
        (
            set(Level::Raid60, 6),
            "RAID 60 of 6 disks in 2 groups is impossible: 3 disks a group, at least 4 are needed; give 8 disks or \
             fewer groups",
        ),
        (
            SetSpec { groups: 1, ..set(Level::Raid60, 8) },
            "RAID 60 of 1 groups stripes over nothing; give at least 2 groups, or use RAID 6",
        ),
        (
            SetSpec { groups: 2, ..set(Level::Raid5, 6) },
            "RAID 5 has no groups, 2 were given; leave `groups` out, or use RAID 50 or RAID 60",
        ),
        (
            SetSpec { chunk: Sectors(96), ..set(Level::Raid5, 5) },
            "RAID 5 with a chunk of 48 KiB is impossible: levels with parity need a power of two; give 32KiB or 64KiB",
        ),
        (
            SetSpec { chunk: Sectors(0), ..set(Level::Raid0, 5) },
            "RAID 0 stripes, so its chunk cannot be 0; give at least 512B, commonly 64KiB",
        ),
        (
            SetSpec { member_size: Sectors(100), ..set(Level::Raid10, 4) },
            "RAID 10: a disk of 50 KiB holds no whole row; at least 64 KiB are needed",
        ),
        (
            set(Level::Raid6, 300),
            "RAID 6 of 300 disks is impossible: at most 257 are supported; use more than one set or groups",
        ),
    ];
    for (spec, expected) in cases {
        assert_eq!(refuse(spec), expected);
    }
    let empty = |level| Geometry::new(SetSpec { member_size: Sectors(0), ..set(level, 2) });
    for level in [Level::Jbod, Level::Raid1] {
        let (member_size, least) = (Sectors(0), Sectors(1));
        assert_eq!(empty(level), Err(GeometryError::MemberTooSmall { level, member_size, least }));
    }
    let (level, chunk) = (Level::Raid5, Sectors(u64::MAX));
    let (below, above) = (Sectors(1 << 62), Sectors(1 << 63));
    let refused = Err(GeometryError::ChunkNoPowerOfTwo { level, chunk, below, above });
    assert_eq!(Geometry::new(SetSpec { chunk, ..set(level, 5) }), refused);
    let huge = SetSpec { member_size: Sectors(u64::MAX), ..set(Level::Raid0, 2) };
    assert!(matches!(Geometry::new(huge), Err(GeometryError::TooLarge { .. })));
    let odd = SetSpec { chunk: Sectors(96), ..set(Level::Raid0, 5) };
    assert!(Geometry::new(odd).is_ok(), "a level without parity takes any chunk");
}

#[test]
fn the_largest_sets_are_possible_and_one_disk_more_is_not() {
    let most = |level, members, groups, spares| {
        let spec = SetSpec { groups, spares, ..SetSpec::new(level, members, Sectors(8), Sectors(80)) };
        match Geometry::new(spec) {
            Ok(_) => None,
            Err(GeometryError::TooManyMembers { members, most, .. }) => Some((members, most)),
            Err(other) => panic!("{other}"),
        }
    };
    assert_eq!((most(Level::Raid0, 32_768, 1, 0), most(Level::Raid0, 32_760, 1, 8)), (None, None));
    assert_eq!(most(Level::Raid0, 32_769, 1, 0), Some((32_769, 32_768)));
    assert_eq!(most(Level::Raid0, 32_760, 1, 9), Some((32_760, 32_768)));
    assert_eq!((most(Level::Raid6, 257, 1, 0), most(Level::Raid60, 4 * 257, 4, 0)), (None, None));
    assert_eq!(most(Level::Raid6, 258, 1, 0), Some((258, 257)));
    assert_eq!(most(Level::Raid60, 600, 2, 0), Some((300, 257)));
}

#[test]
fn requests_beyond_the_set_and_lost_data_are_errors_and_leave_no_plan() {
    let (geometry, mut health) = raid(Level::Raid5, 5, 128);
    let mut plan = Plan::new();
    let end = geometry.capacity().0;
    for lba in [end, end - 1, u64::MAX] {
        let refused = geometry.plan_write(&health, Lba(lba), Sectors(2), &mut plan).unwrap_err();
        assert!(matches!(refused, PlanError::OutOfRange { .. }));
    }
    health.fail(0).unwrap();
    health.fail(1).unwrap();
    geometry.plan_read(&health, Lba(256), Sectors(8), first, &mut plan).unwrap();
    let lost = geometry.plan_read(&health, Lba(0), Sectors(512), first, &mut plan).unwrap_err();
    assert_eq!(lost, PlanError::DataLost { level: Level::Raid5, group: 0 });
    assert!(plan.is_empty());
    assert_eq!(
        lost.to_string(),
        "the data is lost: in group 0 of the RAID 5 set more disks have failed than it survives; restore from a backup"
    );
}

#[test]
fn a_strip_that_is_lost_with_its_parity_is_lost() {
    for (level, lost) in [(Level::Raid5, &[1, 4][..]), (Level::Raid6, &[1, 4, 0])] {
        let (geometry, mut health) = raid(level, 5, 128);
        lost.iter().for_each(|&member| assert!(health.fail(member).is_ok()));
        let (strip, mut plan) = (128 * u64::from(level == Level::Raid5), Plan::new());
        let refused = geometry.plan_read(&health, Lba(strip), Sectors(8), first, &mut plan);
        assert_eq!(refused, Err(PlanError::DataLost { level, group: 0 }));
    }
}

#[test]
fn a_disk_that_was_pulled_is_refused_until_it_is_cleared() {
    let (geometry, mut health) = raid(Level::Raid5, 5, 128);
    assert_eq!(health.fail(5), Err(HealthError::NoSuchMember { member: 5, last: 4 }));
    health.fail(2).unwrap();
    assert!(matches!(health.fail(2), Err(HealthError::WrongState { member: 2, .. })));
    assert_eq!(health.rebuild_on_spare(2), Err(HealthError::NoSpare { member: 2 }));
    let refused = health.rebuild_on(2, 2).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "disk 2 still carries data of this set from before it failed, which is out of date; clear it first"
    );
    assert!(matches!(health.rebuild_on(2, 1), Err(HealthError::WrongState { member: 1, .. })));
    health.clear(2).unwrap();
    assert_eq!(health.rebuild_on_spare(2), Ok(2));
    assert_eq!(health.state(2), MemberState::Rebuilding { done_to: Lba(0), reached: Lba(0) });
    assert!(geometry.plan_read(&health, Lba(0), Sectors(512), first, &mut Plan::new()).is_ok());
}

#[test]
fn a_set_has_failed_exactly_where_some_of_its_data_cannot_be_read() {
    use Level::{Jbod, Raid0, Raid1, Raid1E, Raid5, Raid6, Raid10, Raid50, Raid60};
    let sets =
        [(Jbod, 3), (Raid0, 4), (Raid1, 2), (Raid10, 6), (Raid1E, 5), (Raid5, 5), (Raid6, 6), (Raid50, 6)];
    for (level, members) in sets.into_iter().chain([(Raid60, 8)]) {
        let geometry = Geometry::new(SetSpec::new(level, members, Sectors(8), Sectors(160))).unwrap();
        for failed in 0u32..1 << members {
            let mut health = Health::new(&geometry);
            (0..members).filter(|member| failed >> member & 1 == 1).for_each(|member| {
                health.fail(member).unwrap();
            });
            let mut plan = Plan::default();
            let mut is_readable = |lba: u64| {
                let first = |_: &[Candidate]| 0;
                geometry.plan_read(&health, Lba(lba), Sectors(1), first, &mut plan).is_ok()
            };
            let all = (0..geometry.capacity().0).step_by(8).all(&mut is_readable);
            assert_eq!(geometry.failure(&health).is_none(), all, "{level} of {members} without {failed:b}");
        }
    }
}
