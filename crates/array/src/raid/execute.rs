//! Plans carried out on members that hold real bytes.
//!
//! **Invariant:** nothing is decided here. Which members are touched, and how, is in the plan.

use std::ops::Range;

use units::convert::narrow;
use units::{Lba, SECTOR_BYTES, Sectors};

use super::geometry::{Geometry, Kind, Row};
use super::plan::{Method, Piece, Plan, Role, Step, Stripe};
use crate::parity::{self, MAX_DATA_STRIPS, Strip};

/// Disks that hold bytes.
pub trait Members {
    /// Why a disk refuses.
    type Error;

    /// Fills `into` from the disk.
    fn read(&mut self, member: u16, lba: Lba, into: &mut [u8]) -> Result<(), Self::Error>;

    /// Puts `from` on the disk.
    fn write(&mut self, member: u16, lba: Lba, from: &[u8]) -> Result<(), Self::Error>;
}

/// Carries plans out. Its buffer grows to the largest stripe seen and is then reused.
#[derive(Clone, Debug, Default)]
pub struct Executor {
    /// What each member of the group holds of the stripe, member after member.
    held: Vec<u8>,
}

/// Data and parity of a row, the data in the order of the powers of Q.
struct Views<'a> {
    data: [&'a mut [u8]; MAX_DATA_STRIPS],
    count: usize,
    p: &'a mut [u8],
    q: Option<&'a mut [u8]>,
}

impl Executor {
    /// One with an empty buffer.
    pub fn new() -> Executor {
        Executor::default()
    }

    /// Carries out a plan of [`Geometry::plan_read`] into `host`, which has the length of the request.
    pub fn read<M: Members>(
        &mut self,
        geometry: &Geometry,
        plan: &Plan,
        host: &mut [u8],
        members: &mut M,
    ) -> Result<(), M::Error> {
        for step in plan.reads() {
            if let Some(at) = step.host {
                members.read(step.member, step.lba, &mut host[bytes(at, step.sectors)])?;
            }
        }
        for stripe in plan.stripes() {
            let row = geometry.row(stripe.group, stripe.row);
            self.gather(geometry, &row, stripe, plan.reads_of(stripe), members)?;
            self.recover(geometry, &row, stripe);
            for piece in plan.pieces_of(stripe) {
                let held = self.piece(geometry, &row, stripe, piece);
                host[bytes(piece.host, piece.sectors)].copy_from_slice(held);
            }
        }
        Ok(())
    }

    /// Carries out a plan of [`Geometry::plan_write`] or [`Geometry::plan_gathered`] from `host`.
    pub fn write<M: Members>(
        &mut self,
        geometry: &Geometry,
        plan: &Plan,
        host: &[u8],
        members: &mut M,
    ) -> Result<(), M::Error> {
        if plan.stripes().is_empty() {
            for step in plan.writes() {
                let at = step.host.expect("a write outside a stripe carries the host's data");
                members.write(step.member, step.lba, &host[bytes(at, step.sectors)])?;
            }
        }
        for stripe in plan.stripes() {
            let row = geometry.row(stripe.group, stripe.row);
            if let Some(strips) = whole_strips(geometry, &row, stripe, plan.pieces_of(stripe), host) {
                self.write_whole(geometry, stripe, &strips, host, plan.writes_of(stripe), members)?;
                continue;
            }
            self.gather(geometry, &row, stripe, plan.reads_of(stripe), members)?;
            if stripe.method == Method::RecoverAndWrite {
                self.recover(geometry, &row, stripe);
            }
            for piece in plan.pieces_of(stripe) {
                let new = &host[bytes(piece.host, piece.sectors)];
                if stripe.method == Method::ReadModifyWrite {
                    self.follow(geometry, &row, stripe, piece, new);
                }
                self.piece(geometry, &row, stripe, piece).copy_from_slice(new);
            }
            if !matches!(stripe.method, Method::ReadModifyWrite | Method::WithoutParity) {
                self.generate(geometry, &row, stripe);
            }
            self.scatter(geometry, &row, stripe, plan.writes_of(stripe), members)?;
        }
        Ok(())
    }

    /// Writes a full stripe: data straight from the host's buffer, so that only parity is held in between.
    fn write_whole<M: Members>(
        &mut self,
        geometry: &Geometry,
        stripe: &Stripe,
        strips: &[&[u8]],
        host: &[u8],
        writes: &[Step],
        members: &mut M,
    ) -> Result<(), M::Error> {
        let len = length(stripe);
        if self.held.len() < 2 * len {
            self.held.resize(2 * len, 0);
        }
        let (p, rest) = self.held.split_at_mut(len);
        let q = &mut rest[..len];
        match geometry.kind {
            Kind::Parity(2) => parity::pq(strips, p, q),
            _ => parity::xor(strips, p),
        }
        for step in writes {
            let from = match (step.host, step.role) {
                (Some(at), _) => &host[bytes(at, step.sectors)],
                (None, Role::Q) => &*q,
                (None, _) => &*p,
            };
            debug_assert_eq!(
                from.len() as u64,
                step.sectors.0 * SECTOR_BYTES,
                "parity is as long as a strip"
            );
            members.write(step.member, step.lba, from)?;
        }
        Ok(())
    }

    /// Carries out a unit of a [`Sweep`](super::Sweep); whether everything that it compared was equal.
    pub fn work<M: Members>(
        &mut self,
        geometry: &Geometry,
        plan: &Plan,
        members: &mut M,
    ) -> Result<bool, M::Error> {
        let mut equal = true;
        for stripe in plan.stripes() {
            let row = geometry.row(stripe.group, stripe.row);
            self.gather(geometry, &row, stripe, plan.reads_of(stripe), members)?;
            match stripe.method {
                Method::Rebuild { slot } => self.rebuild(geometry, stripe, plan.reads_of(stripe), slot),
                Method::Verify => equal &= self.verify(geometry, stripe),
                // What is read lies where the writes take it from.
                Method::Copy => {}
                Method::Zero => self.held.fill(0),
                _ => self.generate(geometry, &row, stripe),
            }
            self.scatter(geometry, &row, stripe, plan.writes_of(stripe), members)?;
            equal &= self.check(geometry, &row, stripe, plan.checks_of(stripe), members)?;
        }
        Ok(equal)
    }

    /// Where a step's bytes are in the buffer.
    fn place(geometry: &Geometry, row: &Row, stripe: &Stripe, step: &Step) -> Range<usize> {
        let slot = geometry.slot_of(row, step.role);
        let start = match step.role {
            Role::Copy(_) => Sectors(0),
            _ => step.lba - Lba(row.base + stripe.from.0),
        };
        let member = (slot - row.first) as usize * length(stripe);
        let place = bytes(start, step.sectors);
        member + place.start..member + place.end
    }

    fn gather<M: Members>(
        &mut self,
        geometry: &Geometry,
        row: &Row,
        stripe: &Stripe,
        reads: &[Step],
        members: &mut M,
    ) -> Result<(), M::Error> {
        self.held.resize(geometry.width as usize * length(stripe), 0);
        for step in reads {
            let place = Executor::place(geometry, row, stripe, step);
            members.read(step.member, step.lba, &mut self.held[place])?;
        }
        Ok(())
    }

    fn scatter<M: Members>(
        &self,
        geometry: &Geometry,
        row: &Row,
        stripe: &Stripe,
        writes: &[Step],
        members: &mut M,
    ) -> Result<(), M::Error> {
        for step in writes {
            let place = Executor::place(geometry, row, stripe, step);
            members.write(step.member, step.lba, &self.held[place])?;
        }
        Ok(())
    }

    fn check<M: Members>(
        &self,
        geometry: &Geometry,
        row: &Row,
        stripe: &Stripe,
        checks: &[Step],
        members: &mut M,
    ) -> Result<bool, M::Error> {
        let mut equal = true;
        for step in checks {
            let wanted = &self.held[Executor::place(geometry, row, stripe, step)];
            let mut found = vec![0; wanted.len()];
            members.read(step.member, step.lba, &mut found)?;
            equal &= found == wanted;
        }
        Ok(equal)
    }

    fn piece(&mut self, geometry: &Geometry, row: &Row, stripe: &Stripe, piece: &Piece) -> &mut [u8] {
        let slot = geometry.data_slot(row, piece.strip.into()) - row.first;
        let place = bytes(piece.at - stripe.from, piece.sectors);
        let member = slot as usize * length(stripe);
        &mut self.held[member + place.start..member + place.end]
    }

    fn recover(&mut self, geometry: &Geometry, row: &Row, stripe: &Stripe) {
        let solve = &stripe.solve;
        if solve.unknown().is_empty() {
            return;
        }
        let part = bytes(solve.from - stripe.from, solve.to - solve.from);
        let mut lost: Vec<Strip> = (solve.unknown().iter())
            .map(|&strip| Strip::Data(geometry.power(row, strip.into()) as usize))
            .collect();
        if !solve.from_p {
            lost.push(Strip::P);
        }
        let Views { mut data, count, p, q } = views(geometry, row, &mut self.held, length(stripe), part);
        let q = q.filter(|_| solve.from_q);
        parity::recover(&mut data[..count], p, q, &lost).expect("the plan reads what the recovery needs");
    }

    fn generate(&mut self, geometry: &Geometry, row: &Row, stripe: &Stripe) {
        let Kind::Parity(_) = geometry.kind else { return };
        let len = length(stripe);
        let Views { data, count, p, q } = views(geometry, row, &mut self.held, len, 0..len);
        let data = data.map(|strip| &*strip);
        match q {
            Some(q) => parity::pq(&data[..count], p, q),
            None => parity::xor(&data[..count], p),
        }
    }

    fn follow(&mut self, geometry: &Geometry, row: &Row, stripe: &Stripe, piece: &Piece, new: &[u8]) {
        let part = bytes(piece.at - stripe.from, piece.sectors);
        let Views { data, p, q, .. } = views(geometry, row, &mut self.held, length(stripe), part);
        let power = geometry.power(row, piece.strip.into()) as usize;
        parity::add_change(p, data[power], new, 1);
        if let Some(q) = q {
            parity::add_change(q, data[power], new, parity::coefficient(power));
        }
    }

    fn rebuild(&mut self, geometry: &Geometry, stripe: &Stripe, reads: &[Step], slot: u16) {
        let read = |slot: u32| reads.iter().any(|step| step.role == Role::Column(narrow::<u16>(slot)));
        for (row, part) in rows(geometry, stripe) {
            let data = (0..geometry.data)
                .filter(|&strip| !read(geometry.data_slot(&row, strip)))
                .map(|strip| Strip::Data(geometry.power(&row, strip) as usize));
            let mut lost: Vec<Strip> = data.collect();
            if !read(geometry.p_slot(&row)) {
                lost.push(Strip::P);
            }
            if geometry.kind == Kind::Parity(2) && !read(geometry.q_slot(&row)) {
                lost.push(Strip::Q);
            }
            let Views { mut data, count, p, q } = views(geometry, &row, &mut self.held, length(stripe), part);
            parity::recover(&mut data[..count], p, q, &lost).expect("the plan reads what the recovery needs");
        }
        debug_assert!(!read(slot.into()), "a slot that is rebuilt is not read");
    }

    fn verify(&mut self, geometry: &Geometry, stripe: &Stripe) -> bool {
        let len = length(stripe);
        match geometry.kind {
            Kind::Copies => {
                let (one, others) = self.held.split_at(len);
                others.chunks_exact(len).all(|other| other == one)
            }
            Kind::Shifted => self.verify_shifted(geometry, stripe),
            Kind::Parity(_) => rows(geometry, stripe).into_iter().all(|(row, part)| {
                let Views { data, count, p, q } = views(geometry, &row, &mut self.held, len, part);
                let data = data.map(|strip| &*strip);
                let (mut p2, mut q2) = (vec![0; p.len()], vec![0; p.len()]);
                parity::pq(&data[..count], &mut p2, &mut q2);
                *p == *p2 && q.is_none_or(|q| *q == *q2)
            }),
        }
    }

    /// Each second row is the first one moved by one member.
    fn verify_shifted(&self, geometry: &Geometry, stripe: &Stripe) -> bool {
        let (len, width) = (length(stripe), geometry.width as usize);
        let chunk = narrow::<usize>(geometry.chunk * SECTOR_BYTES);
        (0..width).all(|slot| {
            let (here, there) = (&self.held[slot * len..], &self.held[(slot + 1) % width * len..]);
            (0..len).step_by(2 * chunk).all(|at| here[at..at + chunk] == there[at + chunk..at + 2 * chunk])
        })
    }
}

/// The data strips of a full stripe in the order of the powers of Q, where each is one piece of the host's buffer.
fn whole_strips<'a>(
    geometry: &Geometry,
    row: &Row,
    stripe: &Stripe,
    pieces: &[Piece],
    host: &'a [u8],
) -> Option<Vec<&'a [u8]>> {
    let is_whole = stripe.method == Method::FullStripe
        && matches!(geometry.kind, Kind::Parity(_))
        && pieces.len() == geometry.data as usize
        && pieces.iter().all(|piece| piece.at == stripe.from && piece.sectors == stripe.to - stripe.from);
    if !is_whole {
        return None;
    }
    let mut strips = vec![&[][..]; pieces.len()];
    for piece in pieces {
        strips[geometry.power(row, piece.strip.into()) as usize] = &host[bytes(piece.host, piece.sectors)];
    }
    debug_assert!(strips.iter().all(|strip| strip.len() == length(stripe)), "each power has its strip");
    Some(strips)
}

fn bytes(at: Sectors, count: Sectors) -> Range<usize> {
    narrow::<usize>(at.0 * SECTOR_BYTES)..narrow::<usize>((at.0 + count.0) * SECTOR_BYTES)
}

/// Bytes that one member holds of the stripe.
fn length(stripe: &Stripe) -> usize {
    narrow::<usize>((stripe.to.0 - stripe.from.0) * SECTOR_BYTES)
}

/// The rows that a range of columns passes through, with the part of the columns in each.
fn rows(geometry: &Geometry, stripe: &Stripe) -> Vec<(Row, Range<usize>)> {
    let (mut row, mut at, mut done) = (stripe.row, stripe.from.0, 0);
    let mut rows = Vec::new();
    while done < stripe.to.0 - stripe.from.0 {
        let sectors = (geometry.chunk - at).min(stripe.to.0 - stripe.from.0 - done);
        rows.push((geometry.row(stripe.group, row), bytes(Sectors(done), Sectors(sectors))));
        (row, at, done) = (row + 1, 0, done + sectors);
    }
    rows
}

/// `part` of each member's bytes, by what the row gives that member.
fn views<'a>(
    geometry: &Geometry,
    row: &Row,
    held: &'a mut [u8],
    len: usize,
    part: Range<usize>,
) -> Views<'a> {
    let mut data: [&mut [u8]; MAX_DATA_STRIPS] = std::array::from_fn(|_| &mut [][..]);
    let (mut p, mut q) = (None, None);
    let mut members: Vec<Option<&mut [u8]>> =
        held.chunks_exact_mut(len).map(|member| Some(&mut member[part.clone()])).collect();
    let mut take = |slot: u32| members[(slot - row.first) as usize].take().expect("a slot has one role");
    for strip in 0..geometry.data {
        data[geometry.power(row, strip) as usize] = take(geometry.data_slot(row, strip));
    }
    if let Kind::Parity(parity) = geometry.kind {
        p = Some(take(geometry.p_slot(row)));
        q = (parity == 2).then(|| take(geometry.q_slot(row)));
    }
    Views { data, count: geometry.data as usize, p: p.expect("only groups with parity have views"), q }
}
