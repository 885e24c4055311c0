//! Writes that their set's write-intent bitmap has to announce: they wait until their bits are on the members.
//!
//! One thread of a set writes the bitmap, a page at a time on each member with a flush before and after (`md_super_write` in
//! `drivers/md/md.c`: `REQ_PREFLUSH | REQ_FUA`; libata does not use FUA unless told so). What comes meanwhile shares the next
//! time, whether or not its own bits are set: `flush_pending_writes` of raid1.c and raid10.c takes all that waits, `raid5d`
//! all stripes on `bitmap_list`. Of a set with parity the same thread takes stripes from one step to the next, so that no
//! update of parity goes on while it waits for the bitmap. Reads that miss no member pass by.
//!
//! **Invariant:** no write leaves before the bits of its regions are on all members that work.

use units::convert::narrow;
use units::{Instant, Nanos};

use crate::latency::Stage;
use crate::meter::Class;
use crate::raid::{Extent, PlanError};
use crate::sim::bitmap::{Bitmap, PAGE, Regions, place_of};
use crate::sim::chain::{MemberCommand, Phase};
use crate::sim::timeline::Timeline;
use crate::slab::Slab;

use super::{BackEnd, Freed, OperationSpec, Owner, Set};

/// What a disk is at that writes a part of the bitmap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    FlushBefore,
    Pages,
    FlushAfter,
}

/// A write that waits for the bitmap.
struct Announced {
    spec: OperationSpec,
    extents: Vec<Extent>,
    is_known: bool,
}

/// The regions of a write under way.
#[derive(Clone, Copy, Debug, Default)]
struct Mark {
    set: u32,
    regions: Regions,
}

/// The bitmap of a set, and who waits for it.
struct Intent {
    bitmap: Bitmap,
    /// Pages that are being written.
    pages: Vec<u64>,
    /// Disks that have not written them yet.
    writing: Vec<(u32, Step)>,
    /// Whether the thread waits for them.
    is_busy: bool,
    /// Whether they are the daemon's, after which come those that the thread needs.
    is_daemons: bool,
    /// The writes that it waits for.
    batch: Vec<Announced>,
    /// Those that have come since.
    waiting: Vec<Announced>,
    /// Updates of parity that have ended a step meanwhile.
    held: Vec<u32>,
    /// Buffers of writes that wait no longer.
    spare: Vec<Vec<Extent>>,
}

/// The bitmaps of all sets.
pub(super) struct Intents {
    /// By set; `None` where it has none.
    sets: Vec<Option<Intent>>,
    /// Whether pages are written with flushes.
    flushes: bool,
    marks: Slab<Mark>,
    /// Threads that wait.
    busy: u32,
}

impl Intents {
    /// Those of `sets`, all clear.
    pub(super) fn new(sets: &[Set], flushes: bool) -> Intents {
        let intent = |set: &Set| {
            let params = set.bitmap?;
            Some(Intent {
                bitmap: Bitmap::new(params, &set.geometry),
                pages: Vec::new(),
                writing: Vec::new(),
                is_busy: false,
                is_daemons: false,
                batch: Vec::new(),
                waiting: Vec::new(),
                held: Vec::new(),
                spare: Vec::new(),
            })
        };
        Intents { sets: sets.iter().map(intent).collect(), flushes, marks: Slab::new(), busy: 0 }
    }

    /// Whether a set has a bitmap.
    #[inline]
    pub(super) fn has(&self, set: u32) -> bool {
        self.sets[set as usize].is_some()
    }

    /// Whether the thread of some set waits for its bitmap.
    #[inline]
    pub(super) fn is_any_thread_busy(&self) -> bool {
        self.busy > 0
    }

    fn of(&mut self, set: u32) -> &mut Intent {
        let Some(intent) = &mut self.sets[set as usize] else {
            unreachable!("a set with a mark has a bitmap")
        };
        intent
    }
}

impl BackEnd {
    /// Starts a write of a set with a bitmap once that has announced it. After an error nothing has been started.
    #[inline(never)]
    pub(super) fn write_announced(
        &mut self,
        time: &mut Timeline,
        spec: OperationSpec,
        extents: &[Extent],
        is_known: bool,
    ) -> Result<(), PlanError> {
        let set = spec.set;
        let spec = OperationSpec { mark: Some(self.mark(time.now(), set, extents)), ..spec };
        let intent = self.intents.of(set);
        if !intent.is_busy && !intent.bitmap.is_dirty() {
            let started = self.write_beside_work(time, spec, extents, is_known);
            if started.is_err() {
                self.unmark(time.now(), spec.mark);
            }
            self.write_stale(time, spec);
            return started;
        }
        let mut kept = intent.spare.pop().unwrap_or_default();
        kept.clear();
        kept.extend_from_slice(extents);
        intent.waiting.push(Announced { spec, extents: kept, is_known });
        if !intent.is_busy {
            self.announce(time, set);
        }
        Ok(())
    }

    /// Sets the bits of a write's regions: the number of its mark.
    fn mark(&mut self, now: Instant, set: u32, extents: &[Extent]) -> u32 {
        let number = self.intents.marks.take();
        let place = &self.sets[set as usize];
        let intent = self.intents.of(set);
        intent.bitmap.catch_up(now, place.is_whole());
        let regions = intent.bitmap.regions(&place.geometry, extents);
        intent.bitmap.begin(regions);
        self.intents.marks[number] = Mark { set, regions };
        number
    }

    /// A write has ended, or has nowhere to go.
    pub(in crate::sim) fn unmark(&mut self, now: Instant, mark: Option<u32>) {
        let Some(number) = mark else { return };
        let Mark { set, regions } = self.intents.marks[number];
        self.intents.marks.give(number);
        let is_whole = self.sets[set as usize].is_whole();
        let bitmap = &mut self.intents.of(set).bitmap;
        bitmap.catch_up(now, is_whole);
        bitmap.end(regions, is_whole);
    }

    /// Has the thread of a set let go on what waits for it, or first write what that needs.
    fn announce(&mut self, time: &mut Timeline, set: u32) {
        while !self.intents.of(set).waiting.is_empty() {
            let intent = self.intents.of(set);
            debug_assert!(!intent.is_busy && intent.batch.is_empty(), "a thread does one thing at a time");
            std::mem::swap(&mut intent.batch, &mut intent.waiting);
            if intent.bitmap.is_dirty() {
                intent.is_busy = true;
                self.intents.busy += 1;
                // What the daemon has begun comes first (`md_bitmap_wait_writes`).
                if self.intents.of(set).writing.is_empty() {
                    self.write_pages(time, set, Class::HostWrite);
                }
                return;
            }
            self.let_batch_go(time, set);
        }
    }

    /// Has the pages written that nobody waits for, where nobody is in the way: the daemon does.
    fn write_stale(&mut self, time: &mut Timeline, OperationSpec { set, .. }: OperationSpec) {
        let intent = self.intents.of(set);
        if intent.bitmap.is_stale() && !intent.is_busy && intent.writing.is_empty() {
            self.write_pages(time, set, Class::Destage);
        }
    }

    /// Starts to write the pages of a set's bitmap that have to be, or may.
    fn write_pages(&mut self, time: &mut Timeline, set: u32, class: Class) {
        let first = if self.intents.flushes { Step::FlushBefore } else { Step::Pages };
        let place = &self.sets[set as usize];
        let intent = self.intents.of(set);
        intent.bitmap.take_pages(&mut intent.pages);
        intent.is_daemons = !intent.is_busy;
        debug_assert!(intent.writing.is_empty() && !intent.pages.is_empty(), "pages are written once");
        intent.writing.extend(place.working().map(|disk| (disk, first)));
        if intent.writing.is_empty() {
            return self.pages_written(time, set);
        }
        for index in 0..self.intents.of(set).writing.len() {
            let (disk, _) = self.intents.of(set).writing[index];
            self.take_step(time, set, disk, first, class);
        }
    }

    fn take_step(&mut self, time: &mut Timeline, set: u32, disk: u32, step: Step, class: Class) {
        let (owner, ready) = (Owner::Bitmap { set, disk }, time.now());
        let spec = OperationSpec { set, owner, class, controller: 0, ready, flow: Nanos::ZERO, mark: None };
        if step != Step::Pages {
            return self.flush_disk(time, spec, disk);
        }
        let operation = self.operations.take();
        self.operations[operation].begin(spec, 0, self.traces_latency);
        let chain = self.new_chain(operation, Nanos::ZERO, ready);
        self.chains[chain].phase = Phase::Writes;
        let pages = &self.intents.of(set).pages;
        let page =
            |&page: &u64| MemberCommand { disk, first: place_of(page).0, sectors: narrow::<u32>(PAGE.0) };
        let commands: Vec<MemberCommand> = pages.iter().map(page).collect();
        self.planning.commands.clear();
        self.planning.commands.extend(commands);
        self.begin(time, chain, ready);
    }

    /// A disk has done a step of writing the bitmap of a set.
    pub fn bitmap_step(&mut self, time: &mut Timeline, set: u32, disk: u32) {
        let flushes = self.intents.flushes;
        let intent = self.intents.of(set);
        let class = if intent.is_busy { Class::HostWrite } else { Class::Destage };
        let Some(at) = intent.writing.iter().position(|(other, _)| *other == disk) else {
            unreachable!("a disk ends no more than it was given");
        };
        let next = match intent.writing[at].1 {
            Step::FlushBefore => Step::Pages,
            Step::Pages if flushes => Step::FlushAfter,
            Step::Pages | Step::FlushAfter => {
                intent.writing.swap_remove(at);
                if intent.writing.is_empty() {
                    self.pages_written(time, set);
                }
                return;
            }
        };
        intent.writing[at].1 = next;
        self.take_step(time, set, disk, next, class);
    }

    /// All disks have the pages: what waited for them goes on, and what has come since has its turn.
    fn pages_written(&mut self, time: &mut Timeline, set: u32) {
        let intent = self.intents.of(set);
        if !intent.is_busy {
            intent.is_daemons = false;
            return;
        }
        if std::mem::take(&mut intent.is_daemons) {
            return self.write_pages(time, set, Class::HostWrite);
        }
        intent.is_busy = false;
        self.intents.busy -= 1;
        self.let_batch_go(time, set);
        self.let_held_go(time, set);
        self.announce(time, set);
    }

    /// Starts the writes whose bits are on the members.
    fn let_batch_go(&mut self, time: &mut Timeline, set: u32) {
        let mut batch = std::mem::take(&mut self.intents.of(set).batch);
        for Announced { spec, extents, is_known } in batch.drain(..) {
            // All of its data have come.
            let ready = spec.ready.max(time.now());
            let spec = OperationSpec { ready, flow: Nanos::ZERO, ..spec };
            // Meanwhile the set may have lost more than it can.
            let is_lost = self.write_beside_work(time, spec, &extents, is_known).is_err();
            if is_lost {
                self.unmark(time.now(), spec.mark);
            }
            self.freed.push(Freed { owner: spec.owner, is_lost, stage: Stage::Bitmap });
            self.intents.of(set).spare.push(extents);
        }
        self.intents.of(set).batch = batch;
    }

    /// Whether a chain that has ended a step waits for the thread that takes it to the next.
    pub(super) fn waits_for_thread(&mut self, chain: u32) -> bool {
        let place = &self.chains[chain];
        let Some(mark) = self.operations[place.operation].mark.filter(|_| place.locks) else { return false };
        let set = self.intents.marks[mark].set;
        let intent = self.intents.of(set);
        if intent.is_busy {
            intent.held.push(chain);
        }
        intent.is_busy
    }

    /// The thread takes the chains on that have ended a step meanwhile.
    fn let_held_go(&mut self, time: &mut Timeline, set: u32) {
        let now = time.now();
        let mut held = std::mem::take(&mut self.intents.of(set).held);
        for chain in held.drain(..) {
            self.chains[chain].trace.wait(Stage::Bitmap, now);
            self.advance(time, chain, now);
        }
        self.intents.of(set).held = held;
    }

    /// After a rest: nothing is set that nobody needs.
    pub fn settle_bitmaps(&mut self) {
        self.intents.sets.iter_mut().flatten().for_each(|intent| intent.bitmap.settle());
    }
}
