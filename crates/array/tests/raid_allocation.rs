//! Planning allocates nothing once the plan's buffers have grown.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use array::raid::{Candidate, Geometry, Health, LEVELS, Plan, SetSpec};
use units::{Lba, Sectors};

/// The system's allocator, counting.
struct Counting;

thread_local! {
    /// Of this thread: what runs the tests allocates beside them.
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
}

// SAFETY: every call is handed to the system's allocator unchanged; counting touches no memory of its own.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        // SAFETY: the caller's promises are those of this very function.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: the memory came from the system's allocator with this layout.
        unsafe { System.dealloc(memory, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

/// Reads and writes of every size at every place, whatever the health.
fn plan_all(geometry: &Geometry, health: &Health, plan: &mut Plan) {
    let choose = |copies: &[Candidate]| copies.len() - 1;
    for lba in (0..geometry.capacity().0 - 400).step_by(37) {
        for sectors in [1, 8, 16, 200, 400] {
            let (lba, sectors) = (Lba(lba), Sectors(sectors));
            geometry.plan_read(health, lba, sectors, choose, plan).expect("the set survives");
            geometry.plan_write(health, lba, sectors, plan).expect("the set survives");
        }
    }
}

#[test]
fn the_second_round_of_requests_allocates_nothing() {
    for level in LEVELS {
        let members = level.least_members() * if level.is_nested() { 2 } else { 1 };
        let spec = SetSpec::new(level, members, Sectors(16), Sectors(1600));
        let geometry = Geometry::new(spec).expect("the set is possible");
        let mut health = Health::new(&geometry);
        let mut plan = Plan::new();
        for lost in 0..=level.survives(members).min(1) {
            if lost == 1 {
                health.fail(0).expect("the disk is there");
            }
            plan_all(&geometry, &health, &mut plan);
            let before = ALLOCATIONS.get();
            plan_all(&geometry, &health, &mut plan);
            assert_eq!(ALLOCATIONS.get(), before, "{level}, {lost} lost");
        }
    }
}
