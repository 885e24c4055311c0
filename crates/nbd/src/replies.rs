//! What comes back of the requests of a client, in any order.

use std::io::{self, ErrorKind, Read};
use std::ops::Range;

use crate::wire::{REPLY_LEN, simple_reply_of};

/// Bytes that one call takes from a socket, where they do not go straight to their place.
const GATHERED: usize = 64 << 10;

/// Who has asked.
pub trait Requester<A> {
    /// Where the data go that come with the answer to `asked`, all of them; none where none do.
    fn place(&mut self, asked: &A) -> &mut [u8];
    /// `asked` is answered, and its data are in their place; or why not, by the protocol's number.
    fn ended(&mut self, asked: A, outcome: Result<(), u32>);
}

/// The requests that are not answered, and what has come in of answers to them.
///
/// **Invariant:** each ends once, with its own data.
#[derive(Debug)]
pub struct Replies<A> {
    /// By slot, which is the cookie.
    asked: Vec<Option<A>>,
    gathered: Box<[u8]>,
    /// Which of the gathered bytes are not used yet.
    unused: Range<usize>,
    /// A reply whose data is coming, and how much of it is there.
    coming: Option<(A, usize)>,
}

impl<A> Replies<A> {
    /// Of requests in so many slots.
    pub fn new(slots: usize) -> Replies<A> {
        let asked = (0..slots).map(|_| None).collect();
        let gathered = vec![0; GATHERED].into_boxed_slice();
        Replies { asked, gathered, unused: 0..0, coming: None }
    }

    /// Notes a request whose cookie is `slot`. No other request in flight has that slot.
    pub fn ask(&mut self, slot: usize, asked: A) {
        let before = self.asked[slot].replace(asked);
        debug_assert!(before.is_none(), "a slot must have one request at a time");
    }

    /// Takes what `from` has without waiting; whether there was any.
    ///
    /// Fails where the connection ends or breaks, or where what comes answers nothing that was asked.
    pub fn receive(&mut self, from: &mut impl Read, requester: &mut impl Requester<A>) -> io::Result<bool> {
        let mut moved = false;
        loop {
            while self.take_gathered(requester)? {}
            // What is long goes straight to its place.
            let long = self.coming.as_mut().and_then(|(asked, there)| {
                let place = &mut requester.place(asked)[*there..];
                (place.len() >= GATHERED).then_some((place, there))
            });
            let (into, there) = match long {
                Some(long) => {
                    debug_assert!(self.unused.is_empty(), "what was gathered is used first");
                    long
                }
                None => {
                    // A part of a header, at most, is kept.
                    self.gathered.copy_within(self.unused.clone(), 0);
                    self.unused = 0..self.unused.len();
                    (&mut self.gathered[self.unused.end..], &mut self.unused.end)
                }
            };
            match from.read(into) {
                Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
                Ok(taken) => {
                    *there += taken;
                    moved = true;
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(moved),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Uses what was gathered for one step; whether there was enough for one.
    fn take_gathered(&mut self, requester: &mut impl Requester<A>) -> io::Result<bool> {
        if let Some((asked, there)) = &mut self.coming {
            let missing = &mut requester.place(asked)[*there..];
            let taken = missing.len().min(self.unused.len());
            missing[..taken].copy_from_slice(&self.gathered[self.unused.start..][..taken]);
            *there += taken;
            self.unused.start += taken;
            if taken < missing.len() {
                return Ok(false);
            }
            if let Some((asked, _)) = self.coming.take() {
                requester.ended(asked, Ok(()));
            }
            return Ok(true);
        }
        let Some(header) = self.gathered[self.unused.clone()].first_chunk::<REPLY_LEN>() else {
            return Ok(false);
        };
        self.unused.start += REPLY_LEN;
        let strange = || io::Error::new(ErrorKind::InvalidData, "the server replied to no request in flight");
        let (error, cookie) = simple_reply_of(header).ok_or_else(strange)?;
        let slot = usize::try_from(cookie).ok().and_then(|slot| self.asked.get_mut(slot));
        let asked = slot.and_then(Option::take).ok_or_else(strange)?;
        match error {
            0 => self.coming = Some((asked, 0)),
            errno => requester.ended(asked, Err(errno)),
        }
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::wire::simple_reply;

    /// What a slot asks for: so many bytes.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    struct Read(usize, usize);

    #[derive(Default)]
    struct Slots {
        data: Vec<Vec<u8>>,
        ended: Vec<(Read, Result<(), u32>)>,
    }

    impl Requester<Read> for Slots {
        fn place(&mut self, Read(slot, _): &Read) -> &mut [u8] {
            &mut self.data[*slot]
        }

        fn ended(&mut self, asked: Read, outcome: Result<(), u32>) {
            self.ended.push((asked, outcome));
        }
    }

    /// Gives so many bytes at each call, and between two calls has none, as a socket that does not wait.
    struct Pieces<'a> {
        of: &'a [u8],
        sizes: std::iter::Cycle<std::vec::IntoIter<usize>>,
        is_dry: bool,
    }

    impl io::Read for Pieces<'_> {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            self.is_dry = !self.is_dry;
            if self.is_dry {
                return Err(ErrorKind::WouldBlock.into());
            }
            let count = self.sizes.next().unwrap().min(into.len()).min(self.of.len());
            into[..count].copy_from_slice(&self.of[..count]);
            self.of = &self.of[count..];
            Ok(count)
        }
    }

    fn byte(slot: usize, at: usize) -> u8 {
        u8::try_from((slot * 31 + at * 7) % 251).unwrap()
    }

    /// Lengths of reads, in the order in which they are answered and each with an error or none, and of pieces.
    fn sessions() -> impl Strategy<Value = (Vec<(usize, usize, u32)>, Vec<usize>)> {
        let len = prop_oneof![Just(0), 1..5000_usize, GATHERED - 20..3 * GATHERED];
        let error = prop_oneof![3 => Just(0_u32), 1 => 1..5000_u32];
        let requests = prop::collection::vec((len, error), 1..12).prop_map(|asked| {
            asked.into_iter().enumerate().map(|(slot, (len, error))| (slot, len, error)).collect::<Vec<_>>()
        });
        let pieces = prop_oneof![1..40_usize, 1..100_000_usize];
        (requests.prop_shuffle(), prop::collection::vec(pieces, 1..20))
    }

    proptest! {
        #[test]
        fn each_request_ends_once_with_its_own_data_however_replies_come((order, sizes) in sessions()) {
            let mut slots = Slots { data: vec![Vec::new(); order.len()], ended: Vec::new() };
            let mut replies = Replies::new(order.len());
            let mut sent = Vec::new();
            for (slot, len, error) in &order {
                slots.data[*slot] = vec![0; *len];
                replies.ask(*slot, Read(*slot, *len));
                sent.extend(simple_reply(*error, *slot as u64));
                if *error == 0 {
                    sent.extend((0..*len).map(|at| byte(*slot, at)));
                }
            }
            let mut from = Pieces { of: &sent, sizes: sizes.into_iter().cycle(), is_dry: false };
            while slots.ended.len() < order.len() {
                replies.receive(&mut from, &mut slots).unwrap();
            }
            prop_assert!(from.of.is_empty());
            for ((slot, len, error), (asked, outcome)) in order.iter().zip(&slots.ended) {
                prop_assert_eq!(*asked, Read(*slot, *len));
                prop_assert_eq!(*outcome, if *error == 0 { Ok(()) } else { Err(*error) });
                let is_own = |(at, one): (usize, &u8)| *one == if *error == 0 { byte(*slot, at) } else { 0 };
                prop_assert!(slots.data[*slot].iter().enumerate().all(is_own), "slot {}", slot);
            }
        }

        #[test]
        fn a_reply_to_nothing_in_flight_is_an_error(cookie in 1_u64.., error in 0..40_u32) {
            let sent = simple_reply(error, cookie);
            let mut slots = Slots { data: vec![Vec::new()], ended: Vec::new() };
            let mut replies = Replies::new(1);
            replies.ask(0, Read(0, 0));
            let wrong = replies.receive(&mut sent.as_slice(), &mut slots).unwrap_err();
            prop_assert_eq!(wrong.kind(), ErrorKind::InvalidData);
            prop_assert!(slots.ended.is_empty());
        }
    }
}
