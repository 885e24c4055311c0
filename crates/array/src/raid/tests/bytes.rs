//! Random histories of writes, failures, rebuilds and copies on disks of bytes.

use units::SECTOR_BYTES;
use units::convert::narrow;

use super::*;

/// Disks in memory.
pub struct Disks {
    pub bytes: Vec<Vec<u8>>,
}

fn place(lba: Lba, len: usize) -> std::ops::Range<usize> {
    let start = narrow::<usize>(lba.0 * SECTOR_BYTES);
    start..start + len
}

impl Members for Disks {
    type Error = std::convert::Infallible;

    fn read(&mut self, member: u16, lba: Lba, into: &mut [u8]) -> Result<(), Self::Error> {
        into.copy_from_slice(&self.bytes[usize::from(member)][place(lba, into.len())]);
        Ok(())
    }

    fn write(&mut self, member: u16, lba: Lba, from: &[u8]) -> Result<(), Self::Error> {
        self.bytes[usize::from(member)][place(lba, from.len())].copy_from_slice(from);
        Ok(())
    }
}

/// A set, its disks, and what the host believes to have written.
pub struct Set {
    pub geometry: Geometry,
    pub health: Health,
    pub disks: Disks,
    pub host: Vec<u8>,
    executor: Executor,
    plan: Plan,
    writes: u8,
    /// Copies are not equal yet: read the first one alone.
    first_copy: bool,
}

impl Set {
    /// Disks full of noise, made one set by a pass of zeros.
    pub fn new(spec: SetSpec) -> Set {
        let mut set = Set::raw(spec);
        let mut sweep =
            Sweep::new(&set.geometry, &set.health, Task::Zero { verify: true }, Sectors(5)).unwrap();
        while set.step(&mut sweep) {}
        set.host.fill(0);
        set.first_copy = false;
        set
    }

    /// Disks full of noise, and the host knowing what noise it would read.
    pub fn raw(spec: SetSpec) -> Set {
        let geometry = Geometry::new(spec).unwrap();
        let spec = geometry.spec();
        let size = narrow::<usize>(spec.member_size.0 * SECTOR_BYTES);
        let disks = (0..spec.members + spec.spares)
            .map(|disk| {
                (0..size).map(|at| narrow::<u8>((at * 37 + at / 251 + disk as usize * 101) % 256)).collect()
            })
            .collect();
        let mut set = Set {
            health: Health::new(&geometry),
            host: vec![0; narrow::<usize>(geometry.capacity().0 * SECTOR_BYTES)],
            geometry,
            disks: Disks { bytes: disks },
            executor: Executor::new(),
            plan: Plan::new(),
            writes: 0,
            first_copy: true,
        };
        let whole = set.geometry.capacity().0;
        set.host = set.read(0, whole).unwrap();
        set
    }

    pub fn read(&mut self, lba: u64, sectors: u64) -> Result<Vec<u8>, PlanError> {
        // A different copy each time, so that all copies are held to be right.
        let any = if self.first_copy { 0 } else { narrow::<usize>(lba + sectors) };
        let choose = |copies: &[Candidate]| any % copies.len();
        self.geometry.plan_read(&self.health, Lba(lba), Sectors(sectors), choose, &mut self.plan)?;
        if let Some(lone) = self.geometry.lone_read(&self.health, Lba(lba), Sectors(sectors)) {
            let steps: Vec<_> = self.plan.reads().iter().map(|step| (step.member, step.lba)).collect();
            assert_eq!((steps, self.plan.stripes().len()), (vec![lone], 0), "{:?}", self.health);
        }
        let mut found = vec![0x5a; narrow::<usize>(sectors * SECTOR_BYTES)];
        self.executor.read(&self.geometry, &self.plan, &mut found, &mut self.disks).unwrap();
        Ok(found)
    }

    pub fn write(&mut self, extents: &[(u64, u64)]) {
        self.writes = self.writes.wrapping_add(1);
        let total: u64 = extents.iter().map(|(_, sectors)| sectors).sum();
        let salt = self.writes;
        let new: Vec<u8> = (0..total * SECTOR_BYTES)
            .map(|at| narrow::<u8>(at / 7 % 256) ^ narrow::<u8>(at % 256) ^ salt)
            .collect();
        let gathered: Vec<Extent> = extents
            .iter()
            .map(|&(lba, sectors)| Extent { lba: Lba(lba), sectors: Sectors(sectors) })
            .collect();
        self.geometry.plan_gathered(&self.health, &gathered, &mut self.plan).unwrap();
        self.executor.write(&self.geometry, &self.plan, &new, &mut self.disks).unwrap();
        let mut from = 0;
        for &(lba, sectors) in extents {
            let to = place(Lba(lba), narrow::<usize>(sectors * SECTOR_BYTES));
            let len = to.len();
            self.host[to].copy_from_slice(&new[from..from + len]);
            from += len;
        }
    }

    /// Plans and carries out one unit; whether there was one.
    pub fn step(&mut self, sweep: &mut Sweep) -> bool {
        let planned = sweep.next(&self.geometry, &self.health, first, &mut self.plan).unwrap();
        let Some(unit) = planned else { return false };
        let equal = self.executor.work(&self.geometry, &self.plan, &mut self.disks).unwrap();
        assert!(equal, "{:?} found a difference in {unit:?}", sweep.task());
        sweep.settle(unit);
        true
    }

    pub fn run(&mut self, plan: &Plan) {
        self.executor.work(&self.geometry, plan, &mut self.disks).unwrap();
    }

    pub fn assert_whole(&mut self) {
        let whole = self.geometry.capacity().0;
        assert!(self.read(0, whole).unwrap() == self.host, "a read of everything differs: {:?}", self.health);
        for lba in (0..whole).step_by(3) {
            let sectors = (lba % 5 + 1).min(whole - lba);
            let found = self.read(lba, sectors).unwrap();
            assert!(
                found == self.host[place(Lba(lba), found.len())],
                "{sectors} sectors at {lba}: {:?}",
                self.health
            );
        }
    }

    /// Reads all redundancy and compares it with the data.
    pub fn assert_consistent(&mut self) {
        if let Ok(mut sweep) = Sweep::new(&self.geometry, &self.health, Task::Verify, Sectors(7)) {
            while self.step(&mut sweep) {}
        }
    }

    /// Fails the disk in a slot and spoils it, unless that would lose data.
    pub fn fail(&mut self, slot: u16) -> bool {
        if self.health.state(slot) == MemberState::Failed {
            return false;
        }
        let member = self.health.member(slot);
        let mut after = self.health.clone();
        if after.fail(member.into()).is_err() {
            return false;
        }
        let mut plan = Plan::new();
        let whole = self.geometry.capacity();
        let readable = self.geometry.plan_read(&after, Lba(0), whole, first, &mut plan).is_ok();
        let writable = self.geometry.plan_write(&after, Lba(0), whole, &mut plan).is_ok();
        // A rebuild under way may need the rest of the redundancy ahead of its mark.
        let kept = readable && writable && lost_slots(&after, &self.geometry);
        if kept {
            self.health = after;
            self.disks.bytes[usize::from(member)].fill(0xdb);
        }
        kept
    }
}

/// Whether every group still has enough slots that are whole: what a partial rebuild holds does not count.
fn lost_slots(health: &Health, geometry: &Geometry) -> bool {
    let spec = geometry.spec();
    let bad = |slot: u32| health.state(narrow::<u16>(slot)) != MemberState::Optimal;
    let width = geometry.group_width();
    (0..geometry.groups()).all(|group| {
        let lost = narrow::<u32>((group * width..(group + 1) * width).filter(|&slot| bad(slot)).count());
        lost <= if spec.level == Level::Raid10 { 1 } else { spec.level.survives(width.max(1)) }
    })
}

#[derive(Clone, Debug)]
enum Act {
    Write { at: prop::sample::Index, sectors: u64 },
    Gather { at: prop::sample::Index, runs: Vec<(u64, u64)> },
    Read { at: prop::sample::Index, sectors: u64 },
    Fail { slot: prop::sample::Index },
    Replace,
    Clone { slot: prop::sample::Index },
    Plan,
    Run { which: usize },
}

fn acts() -> impl Strategy<Value = Vec<Act>> {
    let at = || any::<prop::sample::Index>();
    let act = prop_oneof![
        4 => (at(), 1u64..60).prop_map(|(at, sectors)| Act::Write { at, sectors }),
        2 => (at(), prop::collection::vec((0u64..9, 1u64..9), 1..6)).prop_map(|(at, runs)| Act::Gather { at, runs }),
        2 => (at(), 1u64..60).prop_map(|(at, sectors)| Act::Read { at, sectors }),
        2 => at().prop_map(|slot| Act::Fail { slot }),
        2 => Just(Act::Replace),
        1 => at().prop_map(|slot| Act::Clone { slot }),
        4 => Just(Act::Plan),
        4 => (0usize..6).prop_map(|which| Act::Run { which }),
    ];
    prop::collection::vec(act, 1..60)
}

/// Carries a history out, with background units planned early and carried out late and out of order.
struct History {
    set: Set,
    sweep: Option<(Sweep, u16)>,
    open: Vec<(Unit, Plan)>,
}

impl History {
    fn act(&mut self, act: Act) {
        let capacity = self.set.geometry.capacity().0;
        match act {
            Act::Write { at, sectors } => {
                let lba = at.index(narrow::<usize>(capacity)) as u64;
                self.write(vec![(lba, sectors.min(capacity - lba))]);
            }
            Act::Gather { at, runs } => {
                let mut next = at.index(narrow::<usize>(capacity)) as u64;
                let mut extents = Vec::new();
                for (gap, sectors) in runs {
                    next += gap;
                    if next + sectors <= capacity {
                        extents.push((next, sectors));
                        next += sectors;
                    }
                }
                self.write(extents);
            }
            Act::Read { at, sectors } => {
                let lba = at.index(narrow::<usize>(capacity)) as u64;
                let found = self.set.read(lba, sectors.min(capacity - lba)).unwrap();
                assert!(found == self.set.host[place(Lba(lba), found.len())], "{:?}", self.set.health);
            }
            Act::Fail { slot } => {
                let slot = narrow::<u16>(slot.index(self.set.geometry.spec().members as usize));
                let twin = self.set.health.twin(slot);
                if !self.set.fail(slot) {
                    return;
                }
                // Commands to a failed disk return errors: what is under way is planned again, or no more.
                self.open.clear();
                match &mut self.sweep {
                    Some((_, on)) if *on == slot => {
                        self.sweep = None;
                        assert!(twin.is_none_or(|twin| self.set.health.member(slot) == twin));
                    }
                    Some((sweep, on)) => {
                        sweep.abandon();
                        self.set.health.progress(*on, sweep.done_to(), sweep.reached());
                    }
                    None => {}
                }
            }
            Act::Replace => self.replace(),
            Act::Clone { slot } => self.clone(slot),
            Act::Plan => self.plan(),
            Act::Run { which } => self.run(which),
        }
    }

    fn write(&mut self, extents: Vec<(u64, u64)>) {
        let held = |&(lba, sectors): &(u64, u64)| match &self.sweep {
            Some((sweep, _)) => sweep.holds(&self.set.geometry, Lba(lba), Sectors(sectors)),
            None => false,
        };
        if !extents.iter().any(held) {
            self.set.write(&extents);
        }
    }

    fn slots(&self) -> impl Iterator<Item = u16> {
        0..narrow::<u16>(self.set.geometry.spec().members)
    }

    fn replace(&mut self) {
        let health = &mut self.set.health;
        let slots = 0..narrow::<u16>(self.set.geometry.spec().members);
        if self.sweep.is_some() {
            return;
        }
        let stopped =
            slots.clone().find(|&slot| matches!(health.state(slot), MemberState::Rebuilding { .. }));
        let failed = slots.clone().find(|&slot| health.state(slot) == MemberState::Failed);
        let Some(slot) = stopped.or(failed) else { return };
        let mut from = Lba(0);
        if let MemberState::Rebuilding { done_to, .. } = health.state(slot) {
            from = done_to;
        } else if health.rebuild_on_spare(slot).is_err() {
            let old = health.member(slot);
            assert_eq!(health.rebuild_on(slot, old.into()), Err(HealthError::NotCleared { member: old }));
            health.clear(old.into()).unwrap();
            health.rebuild_on_spare(slot).unwrap();
        }
        let task = Task::Rebuild { slot };
        let sweep = Sweep::new(&self.set.geometry, &self.set.health, task, Sectors(3)).unwrap();
        self.sweep = Some((sweep.between(from, Lba(u64::MAX)), slot));
    }

    fn clone(&mut self, slot: prop::sample::Index) {
        let slot = narrow::<u16>(slot.index(self.slots().count()));
        let Some(spare) = self.set.health.spares().next() else { return };
        if self.sweep.is_some() || self.set.health.clone_to(slot, spare.into()).is_err() {
            return;
        }
        let task = Task::Clone { slot };
        let sweep = Sweep::new(&self.set.geometry, &self.set.health, task, Sectors(4)).unwrap();
        self.sweep = Some((sweep, slot));
    }

    fn plan(&mut self) {
        let Some((sweep, slot)) = &mut self.sweep else { return };
        if self.open.len() < 3 {
            let mut plan = Plan::new();
            let choose = |copies: &[Candidate]| copies.len() - 1;
            if let Some(unit) = sweep.next(&self.set.geometry, &self.set.health, choose, &mut plan).unwrap() {
                self.open.push((unit, plan));
            }
            self.set.health.progress(*slot, sweep.done_to(), sweep.reached());
        }
    }

    fn run(&mut self, which: usize) {
        let Some((sweep, slot)) = &mut self.sweep else { return };
        if !self.open.is_empty() {
            let (unit, plan) = self.open.swap_remove(which % self.open.len());
            self.set.run(&plan);
            sweep.settle(unit);
            self.set.health.progress(*slot, sweep.done_to(), sweep.reached());
        }
        if sweep.is_done() {
            self.set.health.finish(*slot);
            self.sweep = None;
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn what_was_written_is_read_whatever_fails_and_is_rebuilt(spec in specs(), acts in acts()) {
        let mut history = History { set: Set::new(spec), sweep: None, open: Vec::new() };
        for act in acts {
            history.act(act);
        }
        history.set.assert_whole();
        while history.sweep.is_some() {
            history.plan();
            history.run(0);
        }
        history.set.assert_whole();
        history.set.assert_consistent();
    }

    #[test]
    fn parity_built_under_load_is_right_in_the_end(spec in specs(), acts in acts()) {
        let mut history = History { set: Set::raw(spec), sweep: None, open: Vec::new() };
        let task = Task::BuildParity { verify: true };
        let Ok(mut sweep) = Sweep::new(&history.set.geometry, &history.set.health, task, Sectors(3)) else {
            return Ok(());
        };
        for act in acts {
            history.set.health.parity_built_to(sweep.done_to());
            match act {
                Act::Plan | Act::Run { .. } => {
                    history.set.step(&mut sweep);
                }
                Act::Write { .. } | Act::Gather { .. } | Act::Read { .. } => history.act(act),
                _ => {}
            }
        }
        while history.set.step(&mut sweep) {}
        history.set.health.parity_is_built();
        history.set.first_copy = false;
        history.set.assert_whole();
        history.set.assert_consistent();
    }
}

/// Every loss that a level promises to survive, with writes before and after it.
#[test]
fn every_single_and_double_loss_that_a_level_survives_loses_nothing() {
    for level in LEVELS {
        for layout in LAYOUTS {
            let members = level.least_members() * if level.is_nested() { 2 } else { 1 } + 2;
            let spec = SetSpec { layout, ..SetSpec::new(level, members, Sectors(4), Sectors(44)) };
            let survives = level.survives(members).min(2);
            let pairs = (0..narrow::<u16>(members))
                .flat_map(|one| (one..narrow::<u16>(members)).map(move |other| [one, other]));
            for pair in pairs {
                let lost = if pair[0] == pair[1] { &pair[..1] } else { &pair[..] };
                if lost.len() > survives as usize {
                    continue;
                }
                let mut set = Set::new(spec.clone());
                let whole = set.geometry.capacity().0;
                for lba in (0..whole).step_by(5) {
                    set.write(&[(lba, (lba % 7 + 1).min(whole - lba))]);
                }
                for &slot in lost {
                    assert!(set.fail(slot), "{level} refuses to lose {lost:?}");
                }
                set.assert_whole();
                for lba in (0..whole).step_by(9) {
                    set.write(&[(lba, (lba % 23 + 1).min(whole - lba))]);
                }
                set.assert_whole();
            }
        }
    }
}

/// One member lost and another rebuilt half-way: the second is read behind its mark, although where the first has
/// to be recovered it is lost as well.
#[test]
fn a_read_over_a_lost_and_a_half_rebuilt_strip_takes_each_part_from_where_it_is() {
    for mark in 1..16 {
        let spec = SetSpec { spares: 1, ..SetSpec::new(Level::Raid6, 6, Sectors(16), Sectors(96)) };
        let mut set = Set::new(spec);
        let whole = set.geometry.capacity().0;
        set.write(&[(0, whole)]);
        assert!(set.fail(1) && set.fail(2));
        set.health.rebuild_on_spare(2).unwrap();
        let mut sweep =
            Sweep::new(&set.geometry, &set.health, Task::Rebuild { slot: 2 }, Sectors(mark)).unwrap();
        set.step(&mut sweep);
        set.health.progress(2, sweep.done_to(), sweep.reached());
        for lba in 0..64 {
            for sectors in 1..=64 - lba {
                let found = set.read(lba, sectors).unwrap();
                assert!(found == set.host[place(Lba(lba), found.len())], "{sectors} at {lba}, mark {mark}");
            }
        }
    }
}

/// Q as Linux md defines it: members are walked from the one after Q, P and Q left out, each step one power more.
#[test]
fn q_weighs_the_members_in_the_order_of_linux_md() {
    for layout in LAYOUTS {
        for members in 4..9u32 {
            let mut set =
                Set::new(SetSpec { layout, ..SetSpec::new(Level::Raid6, members, Sectors(1), Sectors(12)) });
            let whole = set.geometry.capacity().0;
            set.write(&[(0, whole)]);
            for row in 0..12u32 {
                let turn = row % members;
                let left = matches!(layout, Layout::LeftSymmetric | Layout::LeftAsymmetric);
                let p = if left { members - 1 - turn } else { turn };
                let q = (p + 1) % members;
                let byte = |member: u32| {
                    set.disks.bytes[member as usize][narrow::<usize>(u64::from(row) * SECTOR_BYTES) + 77]
                };
                let walk = (1..members).map(|step| (q + step) % members).filter(|&member| member != p);
                let weighted = walk.enumerate().fold(0, |sum, (power, member)| {
                    sum ^ crate::parity::field::mul(crate::parity::coefficient(power), byte(member))
                });
                assert_eq!(byte(q), weighted, "{layout}, {members} members, row {row}");
            }
        }
    }
}
