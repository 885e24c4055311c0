//! What one request makes the members do.
//!
//! A plan is reads, then parity arithmetic, then writes; the writes of one stripe need the reads of that stripe
//! alone, so stripes may run apart. The buffer is reused: planning allocates nothing once it has grown.
//!
//! **Invariant:** steps of one stripe stand together, and reads and writes of a plan are disjoint phases: nothing
//! that is read depends on what the same plan writes.

use std::fmt;
use std::ops::Range;

use units::convert::narrow;
use units::{Bytes, Lba, Sectors};

/// What a step carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// A data strip, by its number in the row of its group.
    Data(u16),
    /// The plain parity strip.
    P,
    /// The weighted parity strip.
    Q,
    /// A mirrored strip, by the number of the copy.
    Copy(u16),
    /// All that one slot holds in this range of addresses, whatever it is row by row. Background work only.
    Column(u16),
}

/// One command to one disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// The disk. A spare that took over a slot has its own number.
    pub member: u16,
    /// What is carried.
    pub role: Role,
    /// First sector on the disk.
    pub lba: Lba,
    /// How many.
    pub sectors: Sectors,
    /// Where the first sector belongs in the host's buffer; `None` where the sectors serve arithmetic alone.
    pub host: Option<Sectors>,
}

/// A part of the host's buffer that a stripe's arithmetic takes in (a write) or gives out (a read).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Data strip of the row.
    pub strip: u16,
    /// Start, in sectors from the start of the strip.
    pub at: Sectors,
    /// How many.
    pub sectors: Sectors,
    /// Where it belongs in the host's buffer.
    pub host: Sectors,
}

/// How a stripe's contents come about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Method {
    /// A read that recovers what a lost member held.
    Recover,
    /// Every data strip is new: parity from them alone.
    FullStripe,
    /// Parity changes by what the written strips change by.
    ReadModifyWrite,
    /// Parity anew from the new strips and the rest of the stripe.
    ReconstructWrite,
    /// As above, after old contents of a lost strip were recovered.
    RecoverAndWrite,
    /// No member with parity is left: data alone is written.
    WithoutParity,
    /// All members of the range are filled with zeros.
    Zero,
    /// What is read is written elsewhere as it is.
    Copy,
    /// One slot's column from the columns that are read.
    Rebuild {
        /// The slot.
        slot: u16,
    },
    /// All columns are read and compared; nothing is written.
    Verify,
}

/// Data strips that are computed instead of read, and from what.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Solve {
    unknown: [u16; 2],
    count: u8,
    /// Start of what is computed, in sectors from the start of the row's strips.
    pub from: Sectors,
    /// Its end.
    pub to: Sectors,
    /// Whether P was read for it.
    pub from_p: bool,
    /// Whether Q was read for it.
    pub from_q: bool,
}

impl Solve {
    /// The strips, in ascending order.
    pub fn unknown(&self) -> &[u16] {
        &self.unknown[..usize::from(self.count)]
    }

    /// Adds a strip, unless there are two already: more than two cannot be solved.
    pub(super) fn push(&mut self, strip: u32) -> bool {
        debug_assert!(
            self.unknown().last().is_none_or(|&last| u32::from(last) < strip),
            "strips must be added in ascending order",
        );
        let free = self.count < 2;
        if free {
            self.unknown[usize::from(self.count)] = narrow::<u16>(strip);
            self.count += 1;
        }
        free
    }
}

/// Bytes that go through the parity arithmetic of a stripe, for costing: every buffer that is taken in counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Arithmetic {
    /// Through XOR alone.
    pub xor: Bytes,
    /// Through XOR and the weighted sum together (P and Q, or recovery with Q).
    pub weighted: Bytes,
}

/// One stripe, or part of one, whose members' contents depend on each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stripe {
    /// The group of a nested set.
    pub group: u32,
    /// The row, counted on the members from 0.
    pub row: u64,
    /// Start of what is read or written, in sectors from the start of the row's strips.
    pub from: Sectors,
    /// Its end. Beyond a chunk only for columns.
    pub to: Sectors,
    /// How the contents come about.
    pub method: Method,
    /// What is computed instead of read.
    pub solve: Solve,
    /// For costing.
    pub arithmetic: Arithmetic,
    pub(super) reads: Range<u32>,
    pub(super) writes: Range<u32>,
    pub(super) checks: Range<u32>,
    pub(super) pieces: Range<u32>,
}

/// A place that a mirrored read can be served from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// The disk.
    pub member: u16,
    /// Which copy it is, from 0.
    pub copy: u16,
    /// First sector on the disk.
    pub lba: Lba,
}

/// The steps of one request, and what connects them.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    pub(super) reads: Vec<Step>,
    pub(super) writes: Vec<Step>,
    pub(super) checks: Vec<Step>,
    pub(super) stripes: Vec<Stripe>,
    pub(super) pieces: Vec<Piece>,
    pub(super) candidates: Vec<Candidate>,
}

impl Plan {
    /// An empty plan.
    pub fn new() -> Plan {
        Plan::default()
    }

    /// Empties it, keeping its memory.
    pub fn clear(&mut self) {
        self.reads.clear();
        self.writes.clear();
        self.checks.clear();
        self.stripes.clear();
        self.pieces.clear();
    }

    /// Everything to be read first.
    #[inline]
    pub fn reads(&self) -> &[Step] {
        &self.reads
    }

    /// Everything to be written after the reads and the arithmetic.
    #[inline]
    pub fn writes(&self) -> &[Step] {
        &self.writes
    }

    /// What is to be read back after the writes and compared with them. Only where verification was asked for.
    #[inline]
    pub fn checks(&self) -> &[Step] {
        &self.checks
    }

    /// The stripes whose steps depend on each other. Steps outside every stripe move data alone.
    #[inline]
    pub fn stripes(&self) -> &[Stripe] {
        &self.stripes
    }

    /// The reads that `stripe` of this plan waits for.
    pub fn reads_of(&self, stripe: &Stripe) -> &[Step] {
        slice(&self.reads, &stripe.reads)
    }

    /// The writes that `stripe` of this plan ends with.
    pub fn writes_of(&self, stripe: &Stripe) -> &[Step] {
        slice(&self.writes, &stripe.writes)
    }

    /// What is read back after the writes of `stripe` of this plan.
    pub fn checks_of(&self, stripe: &Stripe) -> &[Step] {
        slice(&self.checks, &stripe.checks)
    }

    /// The host's parts in `stripe` of this plan, ordered by strip.
    pub fn pieces_of(&self, stripe: &Stripe) -> &[Piece] {
        slice(&self.pieces, &stripe.pieces)
    }

    /// Bytes through the arithmetic of all stripes.
    pub fn arithmetic(&self) -> Arithmetic {
        let mut sum = Arithmetic::default();
        for stripe in &self.stripes {
            sum.xor += stripe.arithmetic.xor;
            sum.weighted += stripe.arithmetic.weighted;
        }
        sum
    }

    /// Whether no step is empty, no sector is read or written twice, every stripe has a range of the steps there are, and
    /// ranges follow each other. For assertions.
    pub(super) fn is_consistent(&self) -> bool {
        let fits = |range: &Range<u32>, len: usize| range.start <= range.end && range.end as usize <= len;
        let steps = self.reads.iter().chain(&self.writes).chain(&self.checks);
        let mut pairs = self.stripes.windows(2);
        let apart = |one: &Step, other: &Step| {
            one.member != other.member
                || one.lba + one.sectors <= other.lba
                || other.lba + other.sectors <= one.lba
        };
        // Without allocating, as planning is, and of a plan that is not long.
        let is_once = |steps: &[Step]| {
            steps.len() > 64
                || (1..steps.len()).all(|at| steps[..at].iter().all(|before| apart(before, &steps[at])))
        };
        steps.clone().all(|step| step.sectors.0 > 0)
            && is_once(&self.reads)
            && is_once(&self.writes)
            && pairs
                .all(|two| two[0].reads.end <= two[1].reads.start && two[0].writes.end <= two[1].writes.start)
            && self.stripes.iter().all(|stripe| {
                stripe.from <= stripe.to
                    && fits(&stripe.reads, self.reads.len())
                    && fits(&stripe.writes, self.writes.len())
                    && fits(&stripe.checks, self.checks.len())
                    && fits(&stripe.pieces, self.pieces.len())
                    && self.pieces_of(stripe).is_sorted_by_key(|piece| piece.strip)
            })
    }

    /// Leaves out what stripes would read before they are written: whoever writes knows it.
    pub fn knows_what_it_would_read(&mut self) {
        self.reads.clear();
        for stripe in &mut self.stripes {
            stripe.reads = 0..0;
        }
    }

    /// Whether nothing is to be done.
    pub fn is_empty(&self) -> bool {
        self.reads.is_empty() && self.writes.is_empty() && self.checks.is_empty()
    }
}

pub(super) fn slice<'a, T>(items: &'a [T], range: &Range<u32>) -> &'a [T] {
    &items[range.start as usize..range.end as usize]
}

impl fmt::Display for Plan {
    /// Disk, operation and first sector of each step, and the length where it is not one sector:
    /// `d0 r3, d4 r3, d0 w3, d4 w3`, `d2 w128+16`. Reading back is `c`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let phases = [(&self.reads, 'r'), (&self.writes, 'w'), (&self.checks, 'c')];
        let steps = phases.iter().flat_map(|(steps, letter)| steps.iter().map(move |step| (step, letter)));
        for (n, (step, letter)) in steps.enumerate() {
            let comma = if n == 0 { "" } else { ", " };
            write!(f, "{comma}d{} {letter}{}", step.member, step.lba.0)?;
            if step.sectors.0 != 1 {
                write!(f, "+{}", step.sectors.0)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step() -> Step {
        Step { member: 0, role: Role::P, lba: Lba(0), sectors: Sectors(1), host: None }
    }

    /// Two stripes with a step and a piece of each kind.
    fn two_stripes() -> Plan {
        let stripe = |number: u32| {
            let own = || number..number + 1;
            Stripe {
                group: 0,
                row: number.into(),
                from: Sectors(0),
                to: Sectors(1),
                method: Method::ReadModifyWrite,
                solve: Solve::default(),
                arithmetic: Arithmetic::default(),
                reads: own(),
                writes: own(),
                checks: own(),
                pieces: own(),
            }
        };
        let steps = || vec![step(), Step { lba: Lba(1), ..step() }];
        let piece = Piece { strip: 0, at: Sectors(0), sectors: Sectors(1), host: Sectors(0) };
        Plan {
            reads: steps(),
            writes: steps(),
            checks: steps(),
            stripes: vec![stripe(0), stripe(1)],
            pieces: vec![piece; 2],
            candidates: Vec::new(),
        }
    }

    #[test]
    fn a_plan_is_consistent_if_no_step_is_empty_and_each_stripe_has_steps_of_its_own() {
        assert!(two_stripes().is_consistent());
        let spoilt = |spoil: fn(&mut Plan)| {
            let mut plan = two_stripes();
            spoil(&mut plan);
            plan.is_consistent()
        };
        assert!(!spoilt(|plan| plan.checks[1].sectors = Sectors(0)), "an empty step");
        assert!(!spoilt(|plan| plan.reads[1].lba = Lba(0)), "a sector read twice");
        assert!(!spoilt(|plan| plan.writes[0].sectors = Sectors(2)), "a sector written twice");
        assert!(!spoilt(|plan| plan.stripes[1].reads = 0..2), "a read of two stripes");
        assert!(!spoilt(|plan| plan.stripes[1].writes = 0..2), "a write of two stripes");
        assert!(!spoilt(|plan| plan.stripes[1].reads = 1..3), "a read that is not there");
        assert!(!spoilt(|plan| plan.stripes[1].writes = 1..3), "a write that is not there");
        assert!(!spoilt(|plan| plan.stripes[1].checks = 1..3), "a check that is not there");
        assert!(!spoilt(|plan| plan.stripes[1].pieces = 1..3), "a piece that is not there");
        assert!(!spoilt(|plan| plan.stripes[1].pieces = Range { start: 2, end: 1 }), "a range backwards");
    }

    #[test]
    fn a_plan_with_any_step_is_not_empty() {
        assert!(Plan::new().is_empty());
        let with = |fill: fn(&mut Plan) -> &mut Vec<Step>| {
            let mut plan = Plan::new();
            fill(&mut plan).push(step());
            plan.is_empty()
        };
        assert_eq!(
            [with(|plan| &mut plan.reads), with(|plan| &mut plan.writes), with(|plan| &mut plan.checks)],
            [false; 3]
        );
    }
}
