//! What a server of a network block device sends, from its first byte on, as a client reads it.
#![no_main]

use std::io::{self, Read, Write};

use libfuzzer_sys::fuzz_target;
use nbd::client::agree;
use nbd::replies::{Requester, Replies};

/// What requests read, by slot; the second goes straight to its place, and the last has no data.
const READS: [usize; 4] = [4096, 128 << 10, 512, 0];

/// A server that says all of `said`, so many bytes at a time, whatever it is told.
struct Server<'a> {
    said: &'a [u8],
    at_once: usize,
    /// Once requests are made, whether it has nothing for the time being; every other time.
    is_dry: Option<bool>,
}

impl Read for Server<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        self.is_dry = self.is_dry.map(|is_dry| !is_dry);
        if self.is_dry == Some(true) {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        let count = into.len().min(self.at_once);
        self.said.read(&mut into[..count])
    }
}

impl Write for Server<'_> {
    fn write(&mut self, from: &[u8]) -> io::Result<usize> {
        Ok(from.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

struct Slots {
    data: Vec<Vec<u8>>,
    ended: Vec<usize>,
}

impl Requester<usize> for Slots {
    fn place(&mut self, slot: &usize) -> &mut [u8] {
        &mut self.data[*slot]
    }

    fn ended(&mut self, slot: usize, _: Result<(), u32>) {
        assert!(!self.ended.contains(&slot), "a request ends once");
        self.ended.push(slot);
    }
}

// The first byte says how many come at a time.
fuzz_target!(|bytes: &[u8]| {
    let Some((at_once, said)) = bytes.split_first() else { return };
    let mut server = Server { said, at_once: 1 + usize::from(*at_once).pow(2), is_dry: None };
    let Ok(offered) = agree(&mut server, "lun0") else { return };
    assert!(offered.largest >= offered.block && offered.block.get().is_power_of_two());
    server.is_dry = Some(false);
    let mut slots = Slots { data: READS.map(|len| vec![0; len]).into(), ended: Vec::new() };
    let mut replies = Replies::new(READS.len());
    (0..READS.len()).for_each(|slot| replies.ask(slot, slot));
    // Each request is made again once it has ended, until the server has said all, or what is no reply.
    while replies.receive(&mut server, &mut slots).is_ok() {
        slots.ended.drain(..).for_each(|slot| replies.ask(slot, slot));
    }
});
