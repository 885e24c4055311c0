//! The places of requests in flight.

use units::{Bytes, Instant};

use crate::Token;

/// What a request left behind until it is settled.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slot {
    pub due: Instant,
    pub issued: Instant,
    pub offset: Bytes,
    pub len: u32,
    pub file: u16,
    pub class: u16,
}

impl Slot {
    /// Stands in `len` of a slot without a request; no request is so long.
    const FREE: u32 = u32::MAX;
}

/// One slot for each request that may be in flight, and those that are free.
#[derive(Debug)]
pub(super) struct Slots {
    pub free: Vec<Token>,
    slots: Vec<Slot>,
}

impl Slots {
    /// So many, all of them free.
    pub fn new(depth: u32) -> Slots {
        let unused = Slot {
            due: Instant::NEVER,
            issued: Instant::NEVER,
            offset: Bytes::ZERO,
            len: Slot::FREE,
            file: 0,
            class: 0,
        };
        Slots { free: (0..depth).rev().map(Token).collect(), slots: vec![unused; depth as usize] }
    }

    /// Takes what a request leaves behind.
    #[inline]
    pub fn put(&mut self, token: Token, slot: Slot) {
        self.slots[token.0 as usize] = slot;
    }

    /// What the last request of a slot left behind.
    #[inline]
    pub fn last(&self, token: Token) -> Slot {
        self.slots[token.0 as usize]
    }

    /// When the requests were issued that have not ended.
    pub fn in_flight(&self) -> impl Iterator<Item = Instant> {
        self.slots.iter().filter(|slot| slot.len != Slot::FREE).map(|slot| slot.issued)
    }

    /// What the request left behind that ends now.
    #[inline]
    pub fn end(&mut self, token: Token) -> Slot {
        let slot = &mut self.slots[token.0 as usize];
        assert!(slot.len != Slot::FREE, "token {} completed twice", token.0);
        let left = *slot;
        slot.len = Slot::FREE;
        left
    }
}
