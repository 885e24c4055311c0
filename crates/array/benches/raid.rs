//! Planning alone: 1,000 requests of 8 KiB at random addresses, a third of them writes.
//!
//! A simulator that answers 500,000 host requests a second has 2,000 ns for each; planning is to take well below
//! 200 of them.

use array::raid::{Candidate, Geometry, Health, Level, Plan, SetSpec};
use divan::counter::ItemsCount;
use divan::{Bencher, black_box};
use units::{Lba, Sectors};

const REQUESTS: u64 = 1000;

fn main() {
    divan::main();
}

fn addresses(geometry: &Geometry) -> Vec<Lba> {
    let blocks = geometry.capacity().0 / 16;
    (0..REQUESTS).map(|n| Lba(n.wrapping_mul(0x9e37_79b9_7f4a_7c15) % blocks * 16)).collect()
}

fn plan_all(bencher: Bencher, geometry: &Geometry, health: &Health) {
    let addresses = addresses(geometry);
    let mut plan = Plan::new();
    let shorter = |copies: &[Candidate]| usize::from(copies[0].lba.0 & 1024 == 0) % copies.len();
    bencher.counter(ItemsCount::new(REQUESTS)).bench_local(|| {
        for (n, &lba) in addresses.iter().enumerate() {
            let sectors = Sectors(16);
            let planned = if n % 3 == 0 {
                geometry.plan_write(health, lba, sectors, &mut plan)
            } else {
                geometry.plan_read(health, lba, sectors, shorter, &mut plan)
            };
            planned.expect("the address is inside the set");
            black_box(plan.reads().len() + plan.writes().len());
        }
    });
}

fn set(level: Level, members: u32) -> (Geometry, Health) {
    let spec = SetSpec::new(level, members, Sectors(128), Sectors(17_783_240));
    let geometry = Geometry::new(spec).expect("the set is possible");
    let health = Health::new(&geometry);
    (geometry, health)
}

#[divan::bench(args = [Level::Raid0, Level::Raid10, Level::Raid5, Level::Raid6, Level::Raid50])]
fn healthy(bencher: Bencher, level: Level) {
    let (geometry, health) = set(level, 8);
    plan_all(bencher, &geometry, &health);
}

#[divan::bench(args = [Level::Raid10, Level::Raid5, Level::Raid6])]
fn one_disk_lost(bencher: Bencher, level: Level) {
    let (geometry, mut health) = set(level, 8);
    health.fail(3).expect("the disk is there");
    plan_all(bencher, &geometry, &health);
}
