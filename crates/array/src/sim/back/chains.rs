//! Operations as chains, from one phase to the next.
//!
//! A chain is what one stripe needs: its reads, then the parity arithmetic, then its writes, then what is read back;
//! chains of one operation run side by side.
//!
//! **Invariant:** a chain goes on when all commands of its phase have ended, and holds its lock from its first command
//! to its last.

use units::convert::narrow;
use units::{Instant, Lba, Nanos, Sectors};

use crate::latency::Stage;
use crate::meter::{Class, Meter};
use crate::raid::{Plan, Step, Stripe};

use super::{BackEnd, Ended, JOIN_MAX, OperationSpec};
use crate::device::Command;
use crate::sim::chain::{MemberCommand, Operation, Phase};
use crate::sim::event::Event;
use crate::sim::locks::Claim;
use crate::sim::timeline::Timeline;

impl BackEnd {
    /// Starts what was planned, perhaps elsewhere: a unit of background work; its operation.
    pub fn launch(&mut self, time: &mut Timeline, spec: OperationSpec, plan: &Plan) -> u32 {
        let operation = self.operations.take();
        let OperationSpec { controller, class, set, ready, .. } = spec;
        // One more than its chains until all have been started: a chain may end at once.
        self.operations[operation].begin(spec, 1, self.traces_latency);
        self.background += usize::from(class == Class::Background);
        let (mut read, mut written) = (0, 0);
        for stripe in plan.stripes() {
            let reads = plan.reads_of(stripe);
            let writes = plan.writes_of(stripe);
            // What lies between the stripes belongs to none and moves data alone.
            let (reads_at, writes_at) = (at(plan.reads(), reads), at(plan.writes(), writes));
            debug_assert!(
                read <= reads_at && written <= writes_at,
                "the stripes of a plan must come in the order of their steps",
            );
            self.plain(time, operation, set, ready, plan, read..reads_at, written..writes_at);
            (read, written) = (reads_at + reads.len(), writes_at + writes.len());
            let arithmetic = self.engines[controller as usize].arithmetic(stripe.arithmetic);
            let chain = self.new_chain(operation, arithmetic, ready);
            self.fill(chain, set, writes, plan.checks_of(stripe));
            self.gather(set, reads);
            if self.lock(time.now(), chain, set, stripe, ready) {
                self.begin(time, chain, ready);
            }
        }
        let (reads, writes) = (plan.reads().len(), plan.writes().len());
        self.plain(time, operation, set, ready, plan, read..reads, written..writes);
        self.end_chain(time.now(), operation);
        operation
    }

    /// Starts an operation that is a read of one disk and nothing else.
    pub(super) fn launch_lone(&mut self, time: &mut Timeline, spec: OperationSpec, part: MemberCommand) {
        let operation = self.operations.take();
        // Its command ends later: there is no need to count one chain more while it is given out.
        self.operations[operation].begin(spec, 0, self.traces_latency);
        self.background += usize::from(spec.class == Class::Background);
        let chain = self.new_chain(operation, Nanos::ZERO, spec.ready);
        self.chains[chain].pending = 1;
        self.give_out(time, chain, spec.ready, part);
    }

    #[expect(clippy::too_many_arguments, reason = "the two ranges and their context are one thought")]
    fn plain(
        &mut self,
        time: &mut Timeline,
        operation: u32,
        set: u32,
        ready: Instant,
        plan: &Plan,
        reads: std::ops::Range<usize>,
        writes: std::ops::Range<usize>,
    ) {
        if reads.is_empty() && writes.is_empty() {
            return;
        }
        let chain = self.new_chain(operation, Nanos::ZERO, ready);
        self.chains[chain].flow = self.operations[operation].flow;
        // Reads and writes outside stripes come together only in a copy from disk to disk.
        self.fill(chain, set, &plan.writes()[writes], &[]);
        self.gather(set, &plan.reads()[reads]);
        self.begin(time, chain, ready);
    }

    pub(super) fn new_chain(&mut self, operation: u32, arithmetic: Nanos, ready: Instant) -> u32 {
        self.operations[operation].chains += 1;
        let chain = self.chains.take();
        let fresh = &mut self.chains[chain];
        debug_assert_eq!(fresh.pending, 0, "a chain that is used again must have ended");
        fresh.operation = operation;
        fresh.phase = Phase::Reads;
        fresh.arithmetic = arithmetic;
        (fresh.locks, fresh.flow) = (false, Nanos::ZERO);
        fresh.writes.clear();
        fresh.checks.clear();
        if self.traces_latency {
            fresh.trace.begin(ready);
            fresh.last.begin(ready);
        }
        chain
    }

    fn fill(&mut self, chain: u32, set: u32, writes: &[Step], checks: &[Step]) {
        if writes.is_empty() && checks.is_empty() {
            return;
        }
        self.gather(set, writes);
        self.chains[chain].writes.extend_from_slice(&self.planning.commands);
        self.gather(set, checks);
        self.chains[chain].checks.extend_from_slice(&self.planning.commands);
    }

    /// Collects `steps` as commands in `commands`, neighbours joined.
    pub(super) fn gather(&mut self, set: u32, steps: &[Step]) {
        self.planning.commands.clear();
        let disks = &self.sets[set as usize].disks;
        let part = |member: u16, lba: Lba, sectors: Sectors| MemberCommand {
            disk: disks[usize::from(member)],
            first: lba.0,
            sectors: narrow::<u32>(sectors.0),
        };
        match steps {
            [] => {}
            [only] => self.planning.commands.push(part(only.member, only.lba, only.sectors)),
            _ => {
                let joined = self.planning.merger.merge(steps, JOIN_MAX);
                self.planning
                    .commands
                    .extend(joined.iter().map(|command| part(command.member, command.lba, command.sectors)));
            }
        }
    }

    /// Issues the commands in `commands`, or continues at once where there are none.
    pub(super) fn begin(&mut self, time: &mut Timeline, chain: u32, ready: Instant) {
        if self.planning.commands.is_empty() {
            self.advance(time, chain, ready);
            return;
        }
        self.chains[chain].pending = narrow::<u32>(self.planning.commands.len());
        for index in 0..self.planning.commands.len() {
            let part = self.planning.commands[index];
            self.give_out(time, chain, ready, part);
        }
    }

    fn give_out(&mut self, time: &mut Timeline, chain: u32, ready: Instant, part: MemberCommand) {
        let place = &self.chains[chain];
        let write = place.phase == Phase::Writes;
        let flow = if write { place.flow } else { Nanos::ZERO };
        let Operation { controller, class, .. } = self.operations[place.operation];
        let ready = self.engines[controller as usize].member_command(time.now(), ready, class);
        let MemberCommand { disk, first, sectors } = part;
        let command = Command { first, sectors, tag: chain, write, class, ready, given: ready };
        self.submit(time, disk, command, flow);
    }

    /// The next phase of a chain whose present one has ended.
    pub(super) fn advance(&mut self, time: &mut Timeline, chain: u32, ready: Instant) {
        let place = &mut self.chains[chain];
        debug_assert_eq!(place.pending, 0, "a chain must wait for all commands of its phase");
        let phase = if place.has_nothing_left() { Phase::Checks } else { place.phase };
        match phase {
            Phase::Reads => {
                place.phase = Phase::Arithmetic;
                let work = place.arithmetic;
                let Operation { controller, class, .. } = self.operations[place.operation];
                let engine = &mut self.engines[controller as usize];
                let done = engine.xor.book(time.now(), ready, work, class);
                place.trace.pass(Stage::Xor, done, work);
                if done > time.now() && ready <= time.now() {
                    time.at(done, Event::Chain(chain));
                } else {
                    // Nothing was read: the writes are given out at once and wait for their data.
                    self.advance(time, chain, done);
                }
            }
            Phase::Arithmetic => {
                place.phase = Phase::Writes;
                self.planning.commands.clear();
                self.planning.commands.extend_from_slice(&place.writes);
                self.begin(time, chain, ready);
            }
            Phase::Writes => {
                place.phase = Phase::Checks;
                self.planning.commands.clear();
                self.planning.commands.extend_from_slice(&place.checks);
                self.begin(time, chain, ready);
            }
            Phase::Checks => {
                let operation = place.operation;
                let last = &mut self.operations[operation].trace;
                if place.trace.at() > last.at() {
                    std::mem::swap(&mut place.trace, last);
                }
                if place.locks {
                    self.unlock(time, chain);
                }
                self.chains.give(chain);
                self.end_chain(time.now(), operation);
            }
        }
    }

    /// Whether a chain whose reads are in `commands` may begin; if not it does once it has its stripe.
    fn lock(&mut self, now: Instant, chain: u32, set: u32, stripe: &Stripe, ready: Instant) -> bool {
        let place = &mut self.chains[chain];
        let Operation { class, .. } = self.operations[place.operation];
        let claim = Claim::of(stripe, set, place.operation, self.locking.block);
        let Some(claim) = claim.filter(|_| class != Class::Background) else { return true };
        place.locks = true;
        let free = self.locking.stripes.enter(now, chain, claim, class, &mut self.locking.waits);
        if !free {
            place.ready = ready;
            place.reads.clear();
            place.reads.extend_from_slice(&self.planning.commands);
        }
        free
    }

    /// Gives a chain's stripe back; those that waited for it begin.
    fn unlock(&mut self, time: &mut Timeline, chain: u32) {
        let mut granted = std::mem::take(&mut self.locking.granted);
        self.locking.stripes.leave(time.now(), chain, &mut granted, &mut self.locking.waits);
        for next in granted.drain(..) {
            let place = &mut self.chains[next];
            let ready = place.ready.max(time.now());
            place.trace.wait(Stage::StripeLocks, ready);
            self.planning.commands.clear();
            self.planning.commands.extend_from_slice(&place.reads);
            self.begin(time, next, ready);
        }
        self.locking.granted = granted;
    }

    /// Begins the window of what is metered of the locks.
    pub fn restart_locks(&mut self, now: Instant) {
        self.locking.waits.restart(now);
    }

    /// Ends it.
    pub fn close_locks(&mut self, now: Instant) {
        let mut waits = std::mem::take(&mut self.locking.waits);
        let here = self.locking.stripes.waiting().chain(self.waiting_for_units());
        waits.close(now, here.map(|(since, class)| (since, None, class)));
        self.locking.waits = waits;
    }

    /// How long requests have waited for locks.
    pub fn locks_meter(&mut self) -> &mut Meter {
        &mut self.locking.waits
    }

    fn end_chain(&mut self, now: Instant, operation: u32) {
        let place = &mut self.operations[operation];
        debug_assert!(place.chains > 0, "an operation must end once");
        place.chains -= 1;
        if place.chains == 0 {
            debug_assert!(
                self.background > 0 || place.class != Class::Background,
                "background work must have been counted"
            );
            self.background -= usize::from(place.class == Class::Background);
            let trace = self.traces_latency.then(|| {
                let mut trace = self.spare.pop().unwrap_or_default();
                std::mem::swap(&mut *trace, &mut place.trace);
                trace.end(now.max(trace.began()));
                trace
            });
            self.done.push(Ended { owner: place.owner, trace, flow: place.flow });
            let mark = place.mark.take();
            if let Some(set) = place.beside_work {
                self.write_left(set, operation);
            }
            self.operations.give(operation);
            self.unmark(now, mark);
        }
    }

    /// The arithmetic of a chain has ended, or all commands of its phase.
    pub fn chain_ready(&mut self, time: &mut Timeline, chain: u32) {
        if self.intents.is_any_thread_busy() && self.waits_for_thread(chain) {
            return;
        }
        let now = time.now();
        self.advance(time, chain, now);
    }
}

/// Where `part` begins in `whole`, of which it is a slice.
fn at(whole: &[Step], part: &[Step]) -> usize {
    (part.as_ptr().addr() - whole.as_ptr().addr()) / size_of::<Step>()
}
