//! Reads of the levels with parity, row by row.
//!
//! **Invariant:** a strip that can be read is read once, whether the host wants it, a recovery needs it, or both.

use units::convert::narrow;
use units::{Lba, Sectors};

use super::error::PlanError;
use super::geometry::{Geometry, Row};
use super::health::Health;
use super::plan::{Method, Piece, Plan, Role};
use super::rows::{StripRange, costed, parities, piece};

impl Geometry {
    pub(super) fn read_rows(
        &self,
        health: &Health,
        lba: Lba,
        sectors: Sectors,
        plan: &mut Plan,
    ) -> Result<(), PlanError> {
        let mut spot = self.spot(lba);
        let mut host = 0;
        while host < sectors.0 {
            let row = self.row(spot.group, spot.row);
            let first = plan.pieces.len();
            loop {
                let part = (self.chunk - spot.offset).min(sectors.0 - host);
                plan.pieces.push(piece(spot.strip, spot.offset, part, host));
                host += part;
                self.next_strip(&mut spot);
                if host == sectors.0 || (spot.group, spot.row) != (row.group, row.row) {
                    break;
                }
            }
            self.read_row(health, &row, first, plan)?;
        }
        Ok(())
    }

    /// Reads the pieces from `first` on; what a lost member held is recovered from the rest of the row.
    fn read_row(&self, health: &Health, row: &Row, first: usize, plan: &mut Plan) -> Result<(), PlanError> {
        let mut lost = StripRange::NONE;
        if !health.is_clean(row.group) {
            for piece in &plan.pieces[first..] {
                let span = StripRange::of(piece);
                if !health.can_read(self.data_slot(row, piece.strip.into()), row.base + span.to) {
                    lost = lost.cover(span);
                }
            }
        }
        if lost.is_empty() {
            for at in first..plan.pieces.len() {
                let Piece { strip, at, sectors, host } = plan.pieces[at];
                let span = StripRange { from: at.0, to: at.0 + sectors.0 };
                self.push_read(health, row, Role::Data(strip), span, Some(host), plan);
            }
            plan.pieces.truncate(first);
            return Ok(());
        }
        self.recover_row(health, row, first, lost, plan)
    }

    fn recover_row(
        &self,
        health: &Health,
        row: &Row,
        first: usize,
        lost: StripRange,
        plan: &mut Plan,
    ) -> Result<(), PlanError> {
        let solve = self.solve(health, row, lost)?;
        let reads = plan.reads.len();
        let mut next = first;
        let mut all = lost;
        for strip in 0..self.data {
            let own = match plan.pieces.get(next) {
                Some(piece) if u32::from(piece.strip) == strip => {
                    next += 1;
                    StripRange::of(piece)
                }
                _ => StripRange::NONE,
            };
            if !own.is_empty() {
                all = all.cover(own);
            }
            let unknown = solve.unknown().contains(&narrow::<u16>(strip));
            let role = Role::Data(narrow::<u16>(strip));
            match (unknown, own.is_empty()) {
                (false, false) if own.touches(lost) => {
                    self.push_read(health, row, role, own.cover(lost), None, plan);
                }
                (false, false) => {
                    self.push_read(health, row, role, lost, None, plan);
                    self.push_read(health, row, role, own, None, plan);
                }
                (false, true) => self.push_read(health, row, role, lost, None, plan),
                // Behind a rebuild its own part can be readable although the whole lost range is not.
                (true, false) if health.can_read(self.data_slot(row, strip), row.base + own.to) => {
                    self.push_read(health, row, role, own, None, plan);
                }
                (true, _) => {}
            }
        }
        debug_assert_eq!(next, plan.pieces.len(), "every piece must belong to a strip of the row");
        debug_assert!(
            all.from <= lost.from && lost.to <= all.to,
            "what is recovered must lie within the stripe"
        );
        self.push_parity_reads(health, row, lost, (solve.from_p, solve.from_q), plan);
        let taken = lost.len() * (u64::from(self.data) - solve.unknown().len() as u64 + parities(&solve));
        self.push_stripe(
            row,
            all,
            Method::Recover,
            solve,
            costed(solve.from_q, taken),
            (reads, plan.writes.len(), first),
            plan,
        );
        Ok(())
    }
}
