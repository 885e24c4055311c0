//! What a load pays although no part is too slow: a setting of the array or of the plan, or work beside it, put right by trial.
//!
//! **Invariant:** what is put right leaves every part as fast as it is, and the load asks for as much.

use array::device::DeviceParams;
use array::raid::Level;
use array::sim::{SetTopology, Topology};
use record::names::trial;
use units::{Bytes, SECTOR_BYTES};
use workload::plan::{Plan, Point, State, Task};
use workload::spec::{Extent, Workload};

/// One of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Setting {
    /// The controllers' write-back cache is on.
    WriteBack,
    /// Requests and LUNs begin where stripes begin, and so where chunks and mapping units do.
    Aligned,
    /// The work of the array that was begun before a load, and goes on beside it, is left out.
    NoWork,
    /// No set has a write-intent bitmap.
    NoBitmap,
}

/// Places of requests that are looked at for what they cross: all that there are of the usual sizes.
const PLACES: u64 = 1024;

/// More than this many times the pieces of requests that begin at stripes are a cost.
const COSTS: f64 = 1.01;

impl Setting {
    /// All of them.
    pub const ALL: [Setting; 4] = [Setting::WriteBack, Setting::Aligned, Setting::NoWork, Setting::NoBitmap];

    /// As a trial calls it.
    pub const fn name(self) -> &'static str {
        match self {
            Setting::WriteBack => trial::WRITE_BACK,
            Setting::Aligned => trial::ALIGNED,
            Setting::NoWork => trial::NO_WORK,
            Setting::NoBitmap => trial::NO_BITMAP,
        }
    }

    /// Whether the load of `point` in `plan` on `topology` may pay for it.
    pub fn is_in(self, plan: &Plan, point: &Point, topology: &Topology) -> bool {
        let mut loads = point.workloads().iter().filter(|workload| workload.tree.is_none());
        match self {
            Setting::WriteBack => {
                let is_off = topology.controller.cache.as_ref().is_some_and(|cache| !cache.write_back);
                is_off && loads.any(writes)
            }
            Setting::Aligned => loads.any(|workload| crosses(workload, topology)),
            Setting::NoWork => {
                let before = plan.points().iter().filter(|other| other.index < point.index);
                loads.next().is_some() && before.into_iter().any(is_work_beside)
            }
            Setting::NoBitmap => topology.sets.iter().any(SetTopology::keeps_bitmap) && loads.any(writes),
        }
    }

    /// Puts it right in the array.
    pub fn apply(self, topology: &mut Topology) {
        match self {
            Setting::WriteBack => {
                topology.controller.cache.iter_mut().for_each(|cache| cache.write_back = true);
            }
            Setting::Aligned => align_luns(topology),
            Setting::NoWork => {}
            Setting::NoBitmap => topology.sets.iter_mut().for_each(|set| set.bitmap = None),
        }
    }

    /// Puts it right in `point` of a plan for an array whose row of stripes is `row`; whether the point stays.
    pub fn apply_to(self, point: &mut Point, index: usize, row: Bytes) -> bool {
        match (self, &mut point.task) {
            (Setting::Aligned, Task::Load(load)) if point.index == index => {
                load.workloads.iter_mut().for_each(|workload| begin_at(workload, row));
                true
            }
            (Setting::NoWork, _) => !is_work_beside(point) && !is_watch(point),
            _ => true,
        }
    }
}

fn writes(workload: &Workload) -> bool {
    workload.mix.reads.get() < 1.0
}

fn is_work_beside(point: &Point) -> bool {
    matches!(&point.task, Task::State(State::Background(work)) if !work.wait)
}

fn is_watch(point: &Point) -> bool {
    matches!(&point.task, Task::State(State::Watch(_)))
}

/// All host data of a row of stripes of the first set: a whole number of its stripes and chunks.
pub fn row_of(topology: &Topology) -> Bytes {
    let stripes = |level: Level| !matches!(level, Level::Jbod);
    let first = topology.sets.first().map(|set| &set.geometry);
    let row = first.filter(|geometry| stripes(geometry.spec().level)).map(|one| one.full_row().bytes());
    // Levels that do not stripe have the whole set as their row.
    let row = row.filter(|row| *row <= Bytes::GIB);
    row.unwrap_or(Bytes::MIB)
}

/// Where the first request of a workload may begin.
fn begin_of(workload: &Workload) -> Bytes {
    match workload.offset {
        Extent::Bytes(offset) => offset,
        // It is rounded to the alignment.
        Extent::Part(_) => Bytes::ZERO,
    }
}

fn begin_at(workload: &mut Workload, row: Bytes) {
    workload.offset = Extent::Bytes(begin_of(workload).round_up(row));
    if workload.align.is_some_and(|align| align < workload.sizes.smallest()) {
        workload.align = None;
    }
}

/// Whether requests of `workload` touch more pieces of the array than they would from the begin of a stripe on.
fn crosses(workload: &Workload, topology: &Topology) -> bool {
    let size = workload.sizes.largest();
    let own_step = workload.align.filter(|align| !align.is_zero()).unwrap_or(workload.sizes.smallest());
    let starts = topology.luns.iter().map(|lun| lun.start.0 * SECTOR_BYTES);
    let mut units = units_of(workload, topology);
    units.retain(|unit| *unit > 0);
    starts.into_iter().any(|start| {
        let from = start + begin_of(workload).get();
        units.iter().any(|&unit| {
            let now = pieces((from, own_step.get()), size.get(), unit);
            let aligned = pieces((0, workload.sizes.smallest().get()), size.get(), unit);
            now > COSTS * aligned
        })
    })
}

/// Sizes within which a request is one piece: chunks, stripes where writes need all of one, and what flash maps.
fn units_of(workload: &Workload, topology: &Topology) -> Vec<u64> {
    let mut units = Vec::new();
    for set in &topology.sets {
        let (spec, stripe) = (set.geometry.spec(), set.geometry.full_stripe());
        let stripes = spec.level != Level::Jbod && set.geometry.full_row().bytes() <= Bytes::GIB;
        if stripes {
            units.push(spec.chunk.bytes().get());
        }
        if stripes && spec.level.parity() > 0 && writes(workload) {
            units.push(stripe.bytes().get());
        }
    }
    for model in &topology.models {
        if let (DeviceParams::Flash(flash), true) = (model, writes(workload)) {
            units.push(flash.mapping.get());
        }
    }
    units
}

/// Pieces of `unit` bytes that a request of `size` bytes touches on average, those that it covers in part counted twice: they are
/// read before they are written. Requests begin at `from` and every `step` behind it.
fn pieces((from, step): (u64, u64), size: u64, unit: u64) -> f64 {
    let step = step.max(1);
    let of_place = |number: u64| {
        let begin = from + number * step;
        let end = begin + size.max(1);
        let touched = end.div_ceil(unit) - begin / unit;
        let whole = (end / unit).saturating_sub(begin.div_ceil(unit));
        (2 * touched - whole) as f64
    };
    (0..PLACES).map(of_place).sum::<f64>() / PLACES as f64
}

/// Has every LUN begin at a row of its set, and lie on its set.
fn align_luns(topology: &mut Topology) {
    let Topology { luns, sets, .. } = topology;
    for lun in luns {
        let row = sets[lun.set as usize].geometry.full_row().0;
        if row == 0 || row >= lun.size.0 {
            continue;
        }
        lun.start.0 -= lun.start.0 % row;
        debug_assert!(lun.size.0 > 0, "a LUN has room");
    }
}

#[cfg(test)]
mod tests {
    use array::spec::{Shipped, array};
    use workload::plan::Overrides;

    use super::*;

    /// Those that the load of `plan` may pay for on the array at `address`.
    fn of(plan: &str, address: &str) -> Vec<Setting> {
        let plan = Plan::parse("test", plan, &Overrides::default()).expect("the plan is sound");
        let topology = array(&Shipped, address).expect("the array is shipped").topology;
        let point = plan.points().last().expect("it has a point");
        Setting::ALL.into_iter().filter(|one| one.is_in(&plan, point, &topology)).collect()
    }

    fn writes_of(keys: &str) -> String {
        format!("name = \"t\"\n[[phase]]\nrun = \"1s\"\npattern = \"sequential\"\nreads = 0\n{keys}\n")
    }

    #[test]
    fn a_request_has_more_pieces_where_it_begins_elsewhere_than_a_stripe() {
        let kib = |many: u64| many * 1024;
        assert_eq!(pieces((0, kib(64)), kib(64), kib(64)), 1.0);
        assert_eq!(pieces((kib(4), kib(64)), kib(64), kib(64)), 4.0, "two, both in part");
        assert_eq!(pieces((0, kib(4)), kib(4), kib(64)), 2.0, "a part of one");
        assert_eq!(pieces((kib(4), kib(4)), kib(4), kib(64)), 2.0, "the same");
    }

    #[test]
    fn whole_stripes_beside_their_place_a_cache_that_is_off_and_a_scrub_are_what_a_load_may_pay_for() {
        let stripes = |offset: &str| writes_of(&format!("size = \"1536KiB\"\noffset = \"{offset}\""));
        // Thirteen disks: twelve chunks of 128 KiB.
        let array = "array:md3000?raid=5&raid.disks=13";
        assert_eq!(of(&stripes("0B"), array), []);
        assert_eq!(of(&stripes("64KiB"), array), [Setting::Aligned]);
        assert_eq!(of(&stripes("3MiB"), array), [], "at the next but one");
        let off = "array:md3000?raid=5&raid.disks=13&write_cache=false";
        assert_eq!(of(&stripes("0B"), off), [Setting::WriteBack]);
        let small = writes_of("size = \"4KiB\"\noffset = \"4KiB\"");
        assert_eq!(of(&small, array), [], "none of them crosses anything");
        let reads = "name = \"t\"\n[[phase]]\nrun = \"1s\"\npattern = \"random\"\nsize = \"4KiB\"\n";
        assert_eq!(of(reads, off), []);
        let scrub = |wait: bool| {
            format!(
                "name = \"t\"\n[[phase]]\nstate = \"scrub\"\nwait = {wait}\n[[phase]]\nrun = \"1s\"\npattern = \"random\"\nsize = \"4KiB\"\n"
            )
        };
        assert_eq!((of(&scrub(false), array), of(&scrub(true), array)), (vec![Setting::NoWork], vec![]));
    }

    #[test]
    fn writes_to_a_set_with_a_bitmap_may_pay_for_it() {
        let mirror = "array:pm9a3-raid1-2?raid.bitmap.region=64MiB";
        let small = writes_of("size = \"4KiB\"");
        assert_eq!(of(&small, mirror), [Setting::NoBitmap]);
        assert_eq!(of(&small.replace("reads = 0", "reads = 1.0"), mirror), []);
        let striped = "array:pm9a3-raid0-2?raid.bitmap.region=64MiB";
        assert_eq!(of(&small, striped), [], "it keeps nothing twice");
        let mut topology = array(&Shipped, mirror).unwrap().topology;
        Setting::NoBitmap.apply(&mut topology);
        assert!(topology.sets.iter().all(|set| set.bitmap.is_none()));
    }

    #[test]
    fn what_is_put_right_is_no_cost_any_more() {
        let text = writes_of("size = \"1536KiB\"\noffset = \"64KiB\"\nspan = \"1GiB\"");
        let mut topology = array(&Shipped, "array:md3000?raid=5&raid.disks=13&luns=3").unwrap().topology;
        let plan = Plan::parse("test", &text, &Overrides::default()).unwrap();
        let mut point = plan.points()[0].clone();
        assert!(Setting::Aligned.is_in(&plan, &point, &topology));
        Setting::Aligned.apply(&mut topology);
        assert!(Setting::Aligned.apply_to(&mut point, 0, row_of(&topology)));
        assert!(!Setting::Aligned.is_in(&plan, &point, &topology));
    }
}
