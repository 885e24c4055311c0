//! Writes of the levels with parity, row by row.
//!
//! **Invariant:** no plan leaves a stripe with data that its live parity does not cover, unless parity there is not
//! built yet or a rebuild is still to come.

use std::ops::Range;

use units::convert::narrow;

use super::error::PlanError;
use super::geometry::{Geometry, Row};
use super::health::Health;
use super::plan::{Method, Piece, Plan, Role, Solve};
use super::planner::{Extent, push_write};
use super::rows::{StripRange, costed, parities, piece};

/// What a write finds of the members of a row.
struct RowState {
    unknown: Solve,
    /// Whether P must be written, and whether its old contents can be read.
    p: Parity,
    q: Parity,
}

#[derive(Clone, Copy)]
struct Parity {
    read: bool,
    write: bool,
}

impl Parity {
    fn of(health: &Health, slot: u32, row: &Row, span: StripRange) -> Parity {
        Parity {
            read: health.can_read(slot, row.base + span.to),
            write: health.must_write(slot, row.base + span.from),
        }
    }

    /// Whether changing it by a difference would leave it right.
    fn follows(self) -> bool {
        self.read || !self.write
    }
}

impl Geometry {
    pub(super) fn write_rows(
        &self,
        health: &Health,
        parity: u32,
        extents: &[Extent],
        plan: &mut Plan,
    ) -> Result<(), PlanError> {
        let mut open: Option<(Row, usize)> = None;
        let mut host = 0;
        for extent in extents {
            let mut spot = self.spot(extent.lba);
            let end = host + extent.sectors.0;
            while host < end {
                match open {
                    Some((row, _)) if (row.group, row.row) == (spot.group, spot.row) => {}
                    _ => {
                        if let Some((row, first)) = open {
                            self.write_pieces(health, parity, &row, first, plan)?;
                        }
                        open = Some((self.row(spot.group, spot.row), plan.pieces.len()));
                    }
                }
                let part = (self.chunk - spot.offset).min(end - host);
                plan.pieces.push(piece(spot.strip, spot.offset, part, host));
                host += part;
                self.next_strip(&mut spot);
            }
        }
        match open {
            Some((row, first)) => self.write_pieces(health, parity, &row, first, plan),
            None => Ok(()),
        }
    }

    /// Writes the pieces from `first` on as one stripe, or as two where they share no part of the parity strip.
    ///
    /// The end of one strip and the start of the next are two small changes far apart in the parity strip; taken
    /// together they would read and write all of it.
    fn write_pieces(
        &self,
        health: &Health,
        parity: u32,
        row: &Row,
        first: usize,
        plan: &mut Plan,
    ) -> Result<(), PlanError> {
        let last = plan.pieces.len();
        if let [one, other] = &plan.pieces[first..]
            && !StripRange::of(one).touches(StripRange::of(other))
        {
            self.write_row(health, parity, row, first..first + 1, plan)?;
            return self.write_row(health, parity, row, first + 1..last, plan);
        }
        self.write_row(health, parity, row, first..last, plan)
    }

    fn write_row(
        &self,
        health: &Health,
        parity: u32,
        row: &Row,
        pieces: Range<usize>,
        plan: &mut Plan,
    ) -> Result<(), PlanError> {
        let span = plan.pieces[pieces.clone()]
            .iter()
            .fold(StripRange::NONE, |sum, piece| sum.cover(StripRange::of(piece)));
        debug_assert!(!span.is_empty(), "a write must touch its row");
        debug_assert!(
            plan.pieces[pieces.clone()].is_sorted_by_key(|piece| (piece.strip, piece.at)),
            "the pieces of a row must be ordered by strip",
        );
        let found = self.find(health, parity, row, span)?;
        let method = self.choose_method(health, row, span, &found, &plan.pieces[pieces.clone()]);
        let start = (plan.reads.len(), plan.writes.len(), pieces.start);
        let mut solve = Solve::default();
        match method {
            Method::ReadModifyWrite => {
                for at in pieces.clone() {
                    let piece = plan.pieces[at];
                    self.push_read(health, row, Role::Data(piece.strip), StripRange::of(&piece), None, plan);
                }
                self.push_parity_reads(health, row, span, (found.p.write, found.q.write), plan);
            }
            Method::ReconstructWrite => self.push_rest_reads(health, row, span, pieces.clone(), plan),
            Method::RecoverAndWrite => {
                solve = self.solve(health, row, span)?;
                for strip in (0..narrow::<u16>(self.data)).filter(|strip| !solve.unknown().contains(strip)) {
                    self.push_read(health, row, Role::Data(strip), span, None, plan);
                }
                self.push_parity_reads(health, row, span, (solve.from_p, solve.from_q), plan);
            }
            _ => {}
        }
        let taken = self.bytes_taken(method, span, &found, &solve, &plan.pieces[pieces.clone()]);
        for at in pieces.clone() {
            let Piece { strip, at, sectors, host } = plan.pieces[at];
            let slot = self.data_slot(row, strip.into());
            push_write(health, slot, row.base + at.0, sectors.0, Role::Data(strip), Some(host), plan);
        }
        self.push_parity_writes(health, row, parity, span, plan);
        let arithmetic = costed(found.q.write || solve.from_q, taken);
        self.push_stripe(row, span, method, solve, arithmetic, start, plan);
        let stripe = plan.stripes.last_mut().expect("it was just added");
        stripe.pieces = narrow::<u32>(pieces.start)..narrow::<u32>(pieces.end);
        Ok(())
    }

    /// Plans parity anew for a part of a row, from data alone. Nothing of the host is involved.
    pub(super) fn build_row(
        &self,
        health: &Health,
        parity: u32,
        row: &Row,
        (from, to): (u64, u64),
        plan: &mut Plan,
    ) -> Result<(), PlanError> {
        let span = StripRange { from, to };
        let found = self.find(health, parity, row, span)?;
        if !found.unknown.unknown().is_empty() {
            return Err(self.lost(row.group));
        }
        let start = (plan.reads.len(), plan.writes.len(), plan.pieces.len());
        for strip in 0..narrow::<u16>(self.data) {
            self.push_read(health, row, Role::Data(strip), span, None, plan);
        }
        self.push_parity_writes(health, row, parity, span, plan);
        let taken = u64::from(self.data) * span.len();
        let arithmetic = costed(found.q.write, taken);
        self.push_stripe(row, span, Method::ReconstructWrite, Solve::default(), arithmetic, start, plan);
        Ok(())
    }

    /// What of the row can be read and must be written, or that too much is lost.
    fn find(&self, health: &Health, parity: u32, row: &Row, span: StripRange) -> Result<RowState, PlanError> {
        let whole = Parity { read: true, write: true };
        let none = Parity { read: false, write: false };
        if health.is_clean(row.group) {
            let q = if parity == 2 { whole } else { none };
            return Ok(RowState { unknown: Solve::default(), p: whole, q });
        }
        let mut unknown = Solve::default();
        for strip in 0..self.data {
            let readable = health.can_read(self.data_slot(row, strip), row.base + span.to);
            if !readable && !unknown.push(strip) {
                return Err(self.lost(row.group));
            }
        }
        let p = Parity::of(health, self.p_slot(row), row, span);
        let q = if parity == 2 { Parity::of(health, self.q_slot(row), row, span) } else { none };
        let readable = u32::from(p.read) + u32::from(q.read);
        if narrow::<u32>(unknown.unknown().len()) > readable {
            return Err(self.lost(row.group));
        }
        Ok(RowState { unknown, p, q })
    }

    fn choose_method(
        &self,
        health: &Health,
        row: &Row,
        span: StripRange,
        found: &RowState,
        pieces: &[Piece],
    ) -> Method {
        let covered = covered(pieces, span);
        debug_assert!(covered <= self.data, "no more strips can be covered than a row has");
        if !found.p.write && !found.q.write {
            return Method::WithoutParity;
        }
        if covered == self.data {
            return Method::FullStripe;
        }
        let unknown = found.unknown.unknown();
        let can_modify = found.p.follows()
            && found.q.follows()
            && health.has_parity(row.base + span.to)
            && !pieces.iter().any(|piece| unknown.contains(&piece.strip));
        let can_reconstruct = unknown.iter().all(|&strip| covers(pieces, strip, span));
        let modify_reads = narrow::<u32>(pieces.len()) + u32::from(found.p.write) + u32::from(found.q.write);
        let prefers_modify = || {
            self.spec().rule.modifies(
                modify_reads,
                self.data - covered,
                narrow::<u32>(pieces.len()),
                self.data,
            )
        };
        match (can_modify, can_reconstruct) {
            (true, true) if prefers_modify() => Method::ReadModifyWrite,
            (_, true) => Method::ReconstructWrite,
            (true, false) => Method::ReadModifyWrite,
            (false, false) => Method::RecoverAndWrite,
        }
    }

    /// Reads what the pieces leave of the span in every data strip: of a strip written at one end, the other end.
    fn push_rest_reads(
        &self,
        health: &Health,
        row: &Row,
        span: StripRange,
        pieces: Range<usize>,
        plan: &mut Plan,
    ) {
        let mut next = pieces.start;
        for strip in 0..narrow::<u16>(self.data) {
            let start = next;
            while next < pieces.end && plan.pieces[next].strip == strip {
                next += 1;
            }
            let rest = rest(&plan.pieces[start..next], span);
            if !rest.is_empty() {
                self.push_read(health, row, Role::Data(strip), rest, None, plan);
            }
        }
        debug_assert_eq!(next, pieces.end, "every piece must belong to a strip of the row");
    }

    fn push_parity_writes(&self, health: &Health, row: &Row, parity: u32, span: StripRange, plan: &mut Plan) {
        let lba = row.base + span.from;
        push_write(health, self.p_slot(row), lba, span.len(), Role::P, None, plan);
        if parity == 2 {
            push_write(health, self.q_slot(row), lba, span.len(), Role::Q, None, plan);
        }
    }

    /// Sectors that the arithmetic of a write takes in.
    fn bytes_taken(
        &self,
        method: Method,
        span: StripRange,
        found: &RowState,
        solve: &Solve,
        pieces: &[Piece],
    ) -> u64 {
        let data = u64::from(self.data);
        let parity = u64::from(found.p.write) + u64::from(found.q.write);
        match method {
            Method::ReadModifyWrite => {
                let written: u64 = pieces.iter().map(|piece| piece.sectors.0).sum();
                2 * written + parity * span.len()
            }
            Method::RecoverAndWrite => {
                let known = data - solve.unknown().len() as u64;
                (known + parities(solve) + data) * span.len()
            }
            Method::FullStripe | Method::ReconstructWrite => data * span.len(),
            _ => 0,
        }
    }
}

/// Strips that the pieces, ordered by strip and not overlapping, cover over the whole span.
fn covered(pieces: &[Piece], span: StripRange) -> u32 {
    narrow::<u32>(
        pieces
            .chunk_by(|one, other| one.strip == other.strip)
            .filter(|strip| sum(strip) == span.len())
            .count(),
    )
}

fn covers(pieces: &[Piece], strip: u16, span: StripRange) -> bool {
    pieces.iter().filter(|piece| piece.strip == strip).map(|piece| piece.sectors.0).sum::<u64>() == span.len()
}

fn sum(pieces: &[Piece]) -> u64 {
    pieces.iter().map(|piece| piece.sectors.0).sum()
}

/// The smallest span that holds what the pieces of one strip leave of `span`; empty where they leave nothing.
fn rest(pieces: &[Piece], span: StripRange) -> StripRange {
    let (Some(first), Some(last)) = (pieces.first(), pieces.last()) else { return span };
    let written = StripRange { from: first.at.0, to: last.at.0 + last.sectors.0 };
    let whole = sum(pieces) == written.len();
    match (whole, written.from == span.from, written.to == span.to) {
        (true, true, _) => StripRange { from: written.to, to: span.to },
        (true, _, true) => StripRange { from: span.from, to: written.from },
        _ => span,
    }
}
