//! A client's part of the negotiation.

use std::io::{self, Read, Write};

use units::Bytes;
use units::convert::narrow;

use crate::wire::*;

/// No reply to an option that is meant well is longer.
pub const OPTION_MOST: u32 = 64 << 10;

/// So many replies to one option are read.
const REPLIES_MOST: u32 = 64;

/// What a server offers of an export.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Offered {
    /// The size of the export.
    pub size: Bytes,
    /// Its flags, as they are on the wire.
    pub flags: u16,
    /// What offsets and lengths are multiples of: a power of two up to 64 KiB.
    pub block: Bytes,
    /// The largest request; no less than a block.
    pub largest: Bytes,
}

impl Offered {
    /// What is taken where a server does not say it: sectors, as disks have them, and 32 MiB, which every server takes.
    const UNTOLD: Offered =
        Offered { size: Bytes::ZERO, flags: 0, block: Bytes::new(512), largest: Bytes::new(32 << 20) };

    /// Whether the export has that flag.
    pub fn has(self, flag: u16) -> bool {
        self.flags & flag != 0
    }

    /// Whether nothing may be written.
    pub fn is_read_only(self) -> bool {
        self.has(flag::READ_ONLY)
    }

    /// Whether several connections see the same data after a flush.
    pub fn takes_many(self) -> bool {
        self.is_read_only() || self.has(flag::CAN_MULTI_CONN)
    }

    /// Takes in what the server tells; whether it was the size.
    fn learns(&mut self, data: &[u8]) -> bool {
        let size = |at: usize| Bytes::new(be32(&data[at..]).into());
        match (data.len(), data.first_chunk().map(|kind| u16::from_be_bytes(*kind))) {
            (12, Some(info::EXPORT)) => {
                (self.size, self.flags) = (Bytes::new(be64(&data[2..])), be16(&data[10..]));
                true
            }
            (14, Some(info::BLOCK_SIZE)) => {
                (self.block, self.largest) = (size(2), size(10));
                false
            }
            _ => false,
        }
    }

    /// Refuses what cannot be.
    fn checked(self) -> Result<Offered, Disagreed> {
        let Offered { size, block, largest, .. } = self;
        let is_sound = i64::try_from(size.get()).is_ok()
            && block.get().is_power_of_two()
            && block <= Bytes::new(64 << 10)
            && largest >= block;
        if is_sound { Ok(self) } else { Err(Disagreed::Strange("the server states sizes that cannot be")) }
    }
}

/// Why there is no agreement.
#[derive(Debug)]
pub enum Disagreed {
    /// The connection broke: what was tried, and the system's reason.
    Io(&'static str, io::Error),
    /// The server said no, in its words or by what its number means.
    Refused(String),
    /// It is no server of this protocol, or speaks another dialect.
    Strange(&'static str),
}

/// Agrees over `stream`, which is at its start, on the export of that name. Simple replies follow.
pub fn agree(stream: &mut (impl Read + Write), export: &str) -> Result<Offered, Disagreed> {
    let mut greeting = [0; 18];
    take(stream, &mut greeting)?;
    if be64(&greeting) != NBDMAGIC {
        return Err(Disagreed::Strange("what answers there is no NBD server"));
    }
    let flags = be16(&greeting[16..]);
    if be64(&greeting[8..]) != IHAVEOPT || flags & FIXED_NEWSTYLE == 0 {
        return Err(Disagreed::Strange(
            "the server speaks only the oldest dialect of NBD, which names no export",
        ));
    }
    let own = flags & (FIXED_NEWSTYLE | NO_ZEROES);
    put(stream, &u32::from(own).to_be_bytes())?;
    let name = export.as_bytes();
    let asked = [
        &narrow::<u32>(name.len()).to_be_bytes(),
        name,
        &1_u16.to_be_bytes(),
        &info::BLOCK_SIZE.to_be_bytes(),
    ]
    .concat();
    put_option(stream, option::GO, &asked)?;
    let (mut offered, mut is_known) = (Offered::UNTOLD, false);
    for _ in 0..REPLIES_MOST {
        let (kind, data) = option_reply(stream)?;
        match kind {
            reply::ACK if is_known => return offered.checked(),
            reply::INFO => is_known |= offered.learns(&data),
            reply::ERR_UNSUP => return by_name(stream, name, own & NO_ZEROES != 0),
            reply::ACK => return Err(Disagreed::Strange("the server did not say how large the export is")),
            error => return Err(refused(error, &data)),
        }
    }
    Err(Disagreed::Strange("the server has no end of answers to one question"))
}

/// The older way, of a server that knows no other.
fn by_name(stream: &mut (impl Read + Write), name: &[u8], no_zeroes: bool) -> Result<Offered, Disagreed> {
    put_option(stream, option::EXPORT_NAME, name)?;
    let mut export = [0; 10 + 124];
    let len = if no_zeroes { 10 } else { export.len() };
    take(stream, &mut export[..len])?;
    Offered { size: Bytes::new(be64(&export)), flags: be16(&export[8..]), ..Offered::UNTOLD }.checked()
}

fn put_option(stream: &mut impl Write, option: u32, data: &[u8]) -> Result<(), Disagreed> {
    put(stream, &[&option_header(option, data.len()), data].concat())
}

fn option_reply(stream: &mut impl Read) -> Result<(u32, Vec<u8>), Disagreed> {
    let mut header = [0; OPTION_REPLY_LEN];
    take(stream, &mut header)?;
    let (kind, len) = option_reply_of(&header)
        .filter(|(_, len)| *len <= OPTION_MOST)
        .ok_or(Disagreed::Strange("the server's answer is none of the protocol"))?;
    let mut data = vec![0; narrow::<usize>(len)];
    take(stream, &mut data)?;
    Ok((kind, data))
}

fn refused(error: u32, data: &[u8]) -> Disagreed {
    let told = String::from_utf8_lossy(data);
    let meaning = match error {
        reply::ERR_UNKNOWN => "it has no export of that name",
        reply::ERR_TLS_REQD => "it wants TLS, which is not supported here",
        reply::ERR_POLICY => "it does not allow it",
        _ => "",
    };
    Disagreed::Refused(match (meaning, told.trim()) {
        ("", "") => format!("error {error:#x}"),
        ("", told) => told.to_owned(),
        (meaning, "") => meaning.to_owned(),
        (meaning, told) => format!("{meaning} ({told})"),
    })
}

fn put(stream: &mut impl Write, bytes: &[u8]) -> Result<(), Disagreed> {
    stream.write_all(bytes).map_err(|source| Disagreed::Io("sending failed", source))
}

fn take(stream: &mut impl Read, bytes: &mut [u8]) -> Result<(), Disagreed> {
    stream.read_exact(bytes).map_err(|source| Disagreed::Io("the server did not answer", source))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A server that has said all it will before it was asked, and what a client says to it.
    struct Said<'a>(&'a [u8], Vec<u8>);

    impl Read for Said<'_> {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            self.0.read(into)
        }
    }

    impl Write for Said<'_> {
        fn write(&mut self, from: &[u8]) -> io::Result<usize> {
            self.1.write(from)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn greeting(flags: u16) -> Vec<u8> {
        [&NBDMAGIC.to_be_bytes()[..], &IHAVEOPT.to_be_bytes(), &flags.to_be_bytes()].concat()
    }

    fn told(kind: u32, data: &[u8]) -> Vec<u8> {
        [&option_reply_header(option::GO, kind, data.len()), data].concat()
    }

    fn size(size: u64, flags: u16) -> Vec<u8> {
        [&info::EXPORT.to_be_bytes()[..], &size.to_be_bytes(), &flags.to_be_bytes()].concat()
    }

    proptest! {
        #[test]
        fn what_a_server_offers_is_understood_or_refused(
            bytes in any::<u64>(),
            flags in any::<u16>(),
            block in prop_oneof![any::<u32>(), (0..20_u32).prop_map(|bits| 1 << bits)],
            largest in any::<u32>(),
            name in "[a-z]{0,9}",
            noise in prop::collection::vec(any::<u8>(), 0..40),
        ) {
            let sizes = [&info::BLOCK_SIZE.to_be_bytes()[..], &block.to_be_bytes(), &block.to_be_bytes(), &largest.to_be_bytes()];
            // What is told of another kind is nobody's.
            let other = [&9_u16.to_be_bytes(), noise.as_slice()].concat();
            let server = [
                greeting(FIXED_NEWSTYLE | NO_ZEROES),
                told(reply::INFO, &other),
                told(reply::INFO, &size(bytes, flags)),
                told(reply::INFO, &sizes.concat()),
                told(reply::ACK, b""),
            ].concat();
            let mut stream = Said(&server, Vec::new());
            let is_sound = bytes < 1 << 63 && block.is_power_of_two() && block <= 1 << 16 && largest >= block;
            match agree(&mut stream, &name) {
                Ok(offered) => {
                    prop_assert!(is_sound);
                    let [size, block, largest] = [bytes, block.into(), largest.into()].map(Bytes::new);
                    prop_assert_eq!(offered, Offered { size, flags, block, largest });
                    prop_assert!(stream.0.is_empty());
                }
                Err(why) => prop_assert!(!is_sound && matches!(why, Disagreed::Strange(_)), "{why:?}"),
            }
            let asked = stream.1.split_off(4);
            prop_assert_eq!(option_of(&asked), Some((option::GO, narrow::<u32>(name.len() + 8))));
        }
    }

    #[test]
    fn a_server_that_knows_no_go_is_asked_by_name() {
        for (own, zeroes) in [(FIXED_NEWSTYLE | NO_ZEROES, 0), (FIXED_NEWSTYLE, 124)] {
            let server =
                [greeting(own), told(reply::ERR_UNSUP, b""), size(7 << 20, 1)[2..].to_vec(), vec![0; zeroes]];
            let (server, expected) =
                (server.concat(), Offered { size: Bytes::new(7 << 20), flags: 1, ..Offered::UNTOLD });
            let mut stream = Said(&server, Vec::new());
            assert_eq!(agree(&mut stream, "x").unwrap(), expected);
            assert!(stream.0.is_empty() && stream.1.ends_with(b"IHAVEOPT\0\0\0\x01\0\0\0\x01x"));
        }
    }

    #[test]
    fn what_cannot_be_is_refused_and_takes_no_memory() {
        let ends =
            |kind: u32| [&OPTION_REPLY.to_be_bytes()[..], &[0; 4], &kind.to_be_bytes(), &[0xFF; 4]].concat();
        let acks = vec![told(reply::INFO, b""); 65].concat();
        for (after, why) in [
            (ends(reply::INFO), "none of the protocol"),
            (acks, "no end of answers"),
            (told(reply::ACK, b""), "how large"),
        ] {
            let server = [greeting(FIXED_NEWSTYLE), after].concat();
            let Err(Disagreed::Strange(what)) = agree(&mut Said(&server, Vec::new()), "") else {
                panic!("{why}")
            };
            assert!(what.contains(why), "{what}");
        }
        let server = [greeting(FIXED_NEWSTYLE), told(reply::ERR_UNKNOWN, b" nope ")].concat();
        let Err(Disagreed::Refused(what)) = agree(&mut Said(&server, Vec::new()), "") else { panic!() };
        assert_eq!(what, "it has no export of that name (nope)");
    }
}
