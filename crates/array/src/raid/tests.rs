//! Plans are carried out on disks of bytes and must give back what was written, whatever has failed.

mod bytes;
mod cases;
mod layout;
mod work;

use proptest::prelude::*;
use units::{Lba, Sectors, Share};

use super::*;

/// Sets of every level, small enough to be read whole.
fn specs() -> impl Strategy<Value = SetSpec> {
    let shape = (0..LEVELS.len(), 0u32..4, 2u32..=3, 0u32..=2);
    let sizes = (0u32..4, 1u64..=6, 2u64..=9, 0u64..3);
    (shape, sizes, 0..LAYOUTS.len(), 0usize..4).prop_map(|(shape, sizes, layout, rule)| {
        let (level, more, groups, spares) = shape;
        let (power, odd, rows, slack) = sizes;
        let level = LEVELS[level];
        let groups = if level.is_nested() { groups } else { 1 };
        let members = match level {
            Level::Raid10 => level.least_members() + 2 * more,
            _ => groups * (level.least_members() + more),
        };
        let chunk = Sectors(if level.parity() > 0 { 1 << power } else { odd });
        let member_size = Sectors(rows * chunk.0 + slack.min(chunk.0 - 1));
        let half = Share::new(0.5).unwrap();
        let rules = [
            WriteRule::FewerReads,
            WriteRule::PreferModify,
            WriteRule::Reconstruct,
            WriteRule::ModifyBelow(half),
        ];
        SetSpec {
            spares,
            groups,
            layout: LAYOUTS[layout],
            rule: rules[rule],
            ..SetSpec::new(level, members, chunk, member_size)
        }
    })
}

fn raid(level: Level, members: u32, chunk: u64) -> (Geometry, Health) {
    let geometry = Geometry::new(SetSpec::new(level, members, Sectors(chunk), Sectors(chunk * 100))).unwrap();
    let health = Health::new(&geometry);
    (geometry, health)
}

fn read(geometry: &Geometry, health: &Health, lba: u64, sectors: u64) -> String {
    let mut plan = Plan::new();
    geometry.plan_read(health, Lba(lba), Sectors(sectors), first, &mut plan).unwrap();
    plan.to_string()
}

fn write(geometry: &Geometry, health: &Health, lba: u64, sectors: u64) -> String {
    let mut plan = Plan::new();
    geometry.plan_write(health, Lba(lba), Sectors(sectors), &mut plan).unwrap();
    plan.to_string()
}
