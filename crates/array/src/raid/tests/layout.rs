//! What lies where.

use units::convert::narrow;

use super::*;

/// Parity and data members of a chunk as Linux md computes them, written from its formulas by level and layout.
fn md(level: Level, layout: Layout, disks: u64, chunk: u64) -> (u64, u64, Option<u64>) {
    let data_disks = disks - u64::from(level.parity());
    let (stripe, dd) = (chunk / data_disks, chunk % data_disks);
    let turn = stripe % disks;
    let pd = match layout {
        Layout::LeftSymmetric | Layout::LeftAsymmetric => disks - 1 - turn,
        Layout::RightSymmetric | Layout::RightAsymmetric => turn,
    };
    let symmetric = matches!(layout, Layout::LeftSymmetric | Layout::RightSymmetric);
    if level == Level::Raid5 {
        let dd = match symmetric {
            true => (pd + 1 + dd) % disks,
            false if dd >= pd => dd + 1,
            false => dd,
        };
        return (dd, pd, None);
    }
    let qd = (pd + 1) % disks;
    let dd = match symmetric {
        true => (pd + 2 + dd) % disks,
        false if pd == disks - 1 => dd + 1,
        false if dd >= pd => dd + 2,
        false => dd,
    };
    (dd, pd, Some(qd))
}

proptest! {
    #[test]
    fn every_host_sector_has_one_place_of_its_own(spec in specs()) {
        let geometry = Geometry::new(spec.clone()).unwrap();
        let mut taken = std::collections::HashSet::new();
        for lba in 0..geometry.capacity().0 {
            let place = geometry.place(Lba(lba)).unwrap();
            prop_assert!(u32::from(place.slot) < spec.members);
            prop_assert!(place.lba.0 < geometry.member_used().0);
            prop_assert!(taken.insert((place.slot, place.lba)), "sector {lba} shares {place:?}");
        }
        prop_assert!(geometry.member_used().0 <= spec.member_size.0);
        let beyond = geometry.place(Lba(geometry.capacity().0));
        let out_of_range = matches!(beyond, Err(PlanError::OutOfRange { .. }));
        prop_assert!(out_of_range);
    }

    #[test]
    fn the_parts_of_a_read_lie_where_single_sectors_lie(spec in specs(), at: prop::sample::Index, len in 1u64..80) {
        let geometry = Geometry::new(spec).unwrap();
        let health = Health::new(&geometry);
        let lba = at.index(narrow::<usize>(geometry.capacity().0)) as u64;
        let len = len.min(geometry.capacity().0 - lba);
        let mut plan = Plan::new();
        geometry.plan_read(&health, Lba(lba), Sectors(len), first, &mut plan).unwrap();
        prop_assert_eq!(plan.reads().iter().map(|step| step.sectors.0).sum::<u64>(), len);
        for step in plan.reads() {
            let host = step.host.unwrap().0;
            for n in 0..step.sectors.0 {
                let place = geometry.place(Lba(lba + host + n)).unwrap();
                prop_assert_eq!((place.slot, place.lba), (step.member, Lba(step.lba.0 + n)));
            }
        }
    }

    #[test]
    fn parity_and_data_rotate_as_in_linux_md(
        two: bool, layout in 0usize..4, more in 0u32..9, chunk in 0u64..400, power in 0u32..6,
    ) {
        let (level, layout) = (if two { Level::Raid6 } else { Level::Raid5 }, LAYOUTS[layout]);
        let disks = level.least_members() + more;
        let sectors = 1 << power;
        let spec = SetSpec { layout, ..SetSpec::new(level, disks, Sectors(sectors), Sectors(sectors * 400)) };
        let geometry = Geometry::new(spec).unwrap();
        let (data, p, q) = md(level, layout, disks.into(), chunk);
        prop_assert_eq!(u64::from(geometry.place(Lba(chunk * sectors)).unwrap().slot), data);
        // With the rule that always changes parity by differences its place shows in the plan.
        let mut plan = Plan::new();
        geometry.plan_write(&Health::new(&geometry), Lba(chunk * sectors), Sectors(1), &mut plan).unwrap();
        let member = |role| plan.writes().iter().find(|step| step.role == role).map(|step| u64::from(step.member));
        prop_assert_eq!(member(Role::P), Some(p));
        prop_assert_eq!(member(Role::Q), q);
    }
}

#[test]
fn left_symmetric_raid_5_of_five_disks_is_the_table_in_mds_manual() {
    // md(4) and mdadm(8) name this layout the default; rows from top to bottom, P where no chunk is.
    let table =
        [[0, 1, 2, 3, -1], [5, 6, 7, -1, 4], [10, 11, -1, 8, 9], [15, -1, 12, 13, 14], [-1, 16, 17, 18, 19]];
    let (geometry, _) = raid(Level::Raid5, 5, 1);
    for (row, members) in table.iter().enumerate() {
        for (member, &chunk) in members.iter().enumerate().filter(|(_, chunk)| **chunk >= 0) {
            let place = geometry.place(Lba(narrow::<u64>(chunk))).unwrap();
            assert_eq!(
                place,
                MemberSector { slot: narrow::<u16>(member), lba: Lba(row as u64) },
                "chunk {chunk}"
            );
        }
    }
}

#[test]
fn a_request_reaches_its_own_part_of_one_strip_or_whole_rows() {
    let span = |level, lba, sectors| {
        let (geometry, _) = raid(level, 5, 128);
        let (from, to) = geometry.member_span(Lba(lba), Sectors(sectors));
        (from.0, to.0)
    };
    assert_eq!(span(Level::Raid5, 3 * 512 + 8, 16), (3 * 128 + 8, 3 * 128 + 24));
    assert_eq!(span(Level::Raid5, 3 * 512 + 120, 16), (3 * 128, 4 * 128));
    assert_eq!(span(Level::Raid5, 3 * 512 + 120, 1024), (3 * 128, 6 * 128));
    // A row of RAID 1E is as high as two: the copies lie below.
    assert_eq!(span(Level::Raid1E, 3 * 640 + 8, 16), (3 * 256, 4 * 256));
}

#[test]
fn capacity_is_what_the_level_leaves_of_its_members() {
    let cases = [
        (Level::Jbod, 5, 500),
        (Level::Raid0, 5, 500),
        (Level::Raid1, 3, 100),
        (Level::Raid1E, 5, 250),
        (Level::Raid10, 6, 300),
        (Level::Raid5, 5, 400),
        (Level::Raid6, 12, 1000),
        (Level::Raid50, 12, 1000),
        (Level::Raid60, 24, 2000),
    ];
    for (level, members, chunks) in cases {
        let (geometry, _) = raid(level, members, 8);
        assert_eq!(geometry.capacity(), Sectors(chunks * 8), "{level}");
    }
}

#[test]
fn a_nested_set_fills_one_group_before_the_next() {
    let (geometry, _) = raid(Level::Raid50, 6, 4);
    let slots: Vec<u16> = (0..5).map(|chunk| geometry.place(Lba(chunk * 4)).unwrap().slot).collect();
    assert_eq!(slots, [0, 1, 3, 4, 2]);
    assert_eq!((geometry.full_stripe(), geometry.full_row()), (Sectors(8), Sectors(16)));
}
