//! The places of requests in flight.

use units::Instant;

use crate::Token;

/// What a request left behind until it is completed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slot<R> {
    pub request: R,
    pub due: Instant,
    pub issued: Instant,
    pub class: u16,
}

/// One slot for each request that may be in flight, and those that are free.
#[derive(Debug)]
pub(super) struct Slots<R> {
    pub free: Vec<Token>,
    slots: Vec<Option<Slot<R>>>,
}

impl<R: Copy> Slots<R> {
    /// So many, all of them free.
    pub fn new(depth: u32) -> Slots<R> {
        assert!(depth > 0, "a job without a slot issues nothing and never ends");
        Slots { free: (0..depth).rev().map(Token).collect(), slots: vec![None; depth as usize] }
    }

    /// Takes what a request leaves behind.
    #[inline]
    pub fn put(&mut self, token: Token, slot: Slot<R>) {
        let place = &mut self.slots[token.0 as usize];
        debug_assert!(place.is_none(), "a slot holds one request at a time");
        *place = Some(slot);
    }

    /// What the request left behind that is in flight there.
    pub fn at(&self, token: Token) -> Option<&Slot<R>> {
        self.slots[token.0 as usize].as_ref()
    }

    /// When the requests were issued that have not ended.
    pub fn in_flight(&self) -> impl Iterator<Item = Instant> {
        self.slots.iter().flatten().map(|slot| slot.issued)
    }

    /// Those that have not ended.
    pub fn requests(&self) -> impl Iterator<Item = &R> {
        self.slots.iter().flatten().map(|slot| &slot.request)
    }

    /// What the request left behind that ends now.
    #[inline]
    pub fn end(&mut self, token: Token) -> Slot<R> {
        match self.slots[token.0 as usize].take() {
            Some(slot) => slot,
            None => panic!("token {} completed twice", token.0),
        }
    }
}
