//! What reads and writes of a row have in common: spans of it, what can be solved, and the steps themselves.
//!
//! **Invariant:** a span lies inside one chunk, and every step of a row is made here or by `push_write`.

use units::convert::narrow;
use units::{Bytes, Lba, Sectors};

use super::error::PlanError;
use super::geometry::{Geometry, Row};
use super::health::Health;
use super::plan::{Arithmetic, Method, Piece, Plan, Role, Solve, Step, Stripe};

/// A range of sectors in the strips of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct StripRange {
    pub from: u64,
    pub to: u64,
}

impl StripRange {
    pub(super) const NONE: StripRange = StripRange { from: u64::MAX, to: 0 };

    pub(super) fn of(piece: &Piece) -> StripRange {
        StripRange { from: piece.at.0, to: piece.at.0 + piece.sectors.0 }
    }

    pub(super) fn is_empty(self) -> bool {
        self.from >= self.to
    }

    pub(super) fn len(self) -> u64 {
        debug_assert!(self.from <= self.to, "a range must not end before it begins");
        self.to - self.from
    }

    /// The smallest span that holds both.
    pub(super) fn cover(self, other: StripRange) -> StripRange {
        StripRange { from: self.from.min(other.from), to: self.to.max(other.to) }
    }

    pub(super) fn touches(self, other: StripRange) -> bool {
        self.from <= other.to && other.from <= self.to
    }
}

impl Geometry {
    /// The slot whose disk a step of the row goes to. For a mirrored copy the first slot of the group.
    #[inline]
    pub(super) fn slot_of(&self, row: &Row, role: Role) -> u32 {
        match role {
            Role::Data(strip) => self.data_slot(row, strip.into()),
            Role::P => self.p_slot(row),
            Role::Q => self.q_slot(row),
            Role::Column(slot) => slot.into(),
            Role::Copy(_) => row.first,
        }
    }

    /// The strips to compute in the span, and from which parity.
    pub(super) fn solve(&self, health: &Health, row: &Row, span: StripRange) -> Result<Solve, PlanError> {
        let lost = || self.lost(row.group);
        let mut solve = Solve::default();
        (solve.from, solve.to) = (Sectors(span.from), Sectors(span.to));
        let end = row.base + span.to;
        for strip in 0..self.data {
            if !health.can_read(self.data_slot(row, strip), end) && !solve.push(strip) {
                return Err(lost());
            }
        }
        let p = health.has_parity(end) && health.can_read(self.p_slot(row), end);
        let two = self.width - self.data == 2;
        let q = two && health.has_parity(end) && health.can_read(self.q_slot(row), end);
        (solve.from_p, solve.from_q) = match (solve.unknown().len(), p, q) {
            (1, true, _) => (true, false),
            (1, false, true) => (false, true),
            (2, true, true) => (true, true),
            _ => return Err(lost()),
        };
        debug_assert!(
            solve.unknown().len() as u64 <= parities(&solve),
            "each strip that is computed must have a parity strip to be computed from",
        );
        Ok(solve)
    }

    pub(super) fn push_parity_reads(
        &self,
        health: &Health,
        row: &Row,
        span: StripRange,
        (p, q): (bool, bool),
        plan: &mut Plan,
    ) {
        if p {
            self.push_read(health, row, Role::P, span, None, plan);
        }
        if q {
            self.push_read(health, row, Role::Q, span, None, plan);
        }
    }

    #[inline]
    pub(super) fn push_read(
        &self,
        health: &Health,
        row: &Row,
        role: Role,
        span: StripRange,
        host: Option<Sectors>,
        plan: &mut Plan,
    ) {
        debug_assert!(!span.is_empty(), "a read must have a length");
        debug_assert!(span.to <= self.chunk, "a range must lie inside one chunk");
        let slot = self.slot_of(row, role);
        plan.reads.push(Step {
            member: health.member(narrow::<u16>(slot)),
            role,
            lba: Lba(row.base + span.from),
            sectors: Sectors(span.len()),
            host,
        });
    }

    /// Ends a stripe whose reads, writes and pieces began at `start`.
    #[allow(clippy::too_many_arguments)]
    pub(super) fn push_stripe(
        &self,
        row: &Row,
        span: StripRange,
        method: Method,
        solve: Solve,
        arithmetic: Arithmetic,
        (reads, writes, pieces): (usize, usize, usize),
        plan: &mut Plan,
    ) {
        debug_assert!(
            reads <= plan.reads.len() && writes <= plan.writes.len() && pieces <= plan.pieces.len(),
            "a stripe must begin before it ends",
        );
        plan.stripes.push(Stripe {
            group: row.group,
            row: row.row,
            from: Sectors(span.from),
            to: Sectors(span.to),
            method,
            solve,
            arithmetic,
            reads: narrow::<u32>(reads)..narrow::<u32>(plan.reads.len()),
            writes: narrow::<u32>(writes)..narrow::<u32>(plan.writes.len()),
            checks: 0..0,
            pieces: narrow::<u32>(pieces)..narrow::<u32>(plan.pieces.len()),
        });
    }
}

pub(super) fn piece(strip: u32, at: u64, sectors: u64, host: u64) -> Piece {
    Piece { strip: narrow::<u16>(strip), at: Sectors(at), sectors: Sectors(sectors), host: Sectors(host) }
}

pub(super) fn parities(solve: &Solve) -> u64 {
    u64::from(solve.from_p) + u64::from(solve.from_q)
}

pub(super) fn costed(weighted: bool, sectors: u64) -> Arithmetic {
    let bytes = Sectors(sectors).bytes();
    if weighted {
        Arithmetic { xor: Bytes::ZERO, weighted: bytes }
    } else {
        Arithmetic { xor: bytes, weighted: Bytes::ZERO }
    }
}
