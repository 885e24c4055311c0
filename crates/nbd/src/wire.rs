//! The numbers of the protocol, and its headers.

#![allow(missing_docs, reason = "each has the name that it has in the protocol")]

use units::convert::narrow;

pub const NBDMAGIC: u64 = 0x4E42_444D_4147_4943;
pub const IHAVEOPT: u64 = 0x4948_4156_454F_5054;
pub const OPTION_REPLY: u64 = 0x0003_E889_0455_65A9;
pub const REQUEST: u32 = 0x2560_9513;
pub const EXTENDED_REQUEST: u32 = 0x21E4_1C71;
pub const SIMPLE_REPLY: u32 = 0x6744_6698;
pub const STRUCTURED_REPLY: u32 = 0x668E_33EF;
pub const EXTENDED_REPLY: u32 = 0x6E8A_278C;

pub const FIXED_NEWSTYLE: u16 = 1;
pub const NO_ZEROES: u16 = 2;

pub mod option {
    pub const EXPORT_NAME: u32 = 1;
    pub const ABORT: u32 = 2;
    pub const LIST: u32 = 3;
    pub const STARTTLS: u32 = 5;
    pub const INFO: u32 = 6;
    pub const GO: u32 = 7;
    pub const STRUCTURED_REPLY: u32 = 8;
    pub const LIST_META_CONTEXT: u32 = 9;
    pub const SET_META_CONTEXT: u32 = 10;
    pub const EXTENDED_HEADERS: u32 = 11;
}

pub mod reply {
    pub const ACK: u32 = 1;
    pub const SERVER: u32 = 2;
    pub const INFO: u32 = 3;
    pub const META_CONTEXT: u32 = 4;
    pub const ERR_UNSUP: u32 = 1 << 31 | 1;
    pub const ERR_POLICY: u32 = 1 << 31 | 2;
    pub const ERR_INVALID: u32 = 1 << 31 | 3;
    pub const ERR_TLS_REQD: u32 = 1 << 31 | 5;
    pub const ERR_UNKNOWN: u32 = 1 << 31 | 6;
    pub const ERR_TOO_BIG: u32 = 1 << 31 | 9;
}

pub mod info {
    pub const EXPORT: u16 = 0;
    pub const NAME: u16 = 1;
    pub const DESCRIPTION: u16 = 2;
    pub const BLOCK_SIZE: u16 = 3;
}

pub mod flag {
    pub const HAS_FLAGS: u16 = 1;
    pub const READ_ONLY: u16 = 1 << 1;
    pub const SEND_FLUSH: u16 = 1 << 2;
    pub const SEND_FUA: u16 = 1 << 3;
    pub const ROTATIONAL: u16 = 1 << 4;
    pub const SEND_TRIM: u16 = 1 << 5;
    pub const SEND_WRITE_ZEROES: u16 = 1 << 6;
    pub const SEND_DF: u16 = 1 << 7;
    pub const CAN_MULTI_CONN: u16 = 1 << 8;
    pub const SEND_CACHE: u16 = 1 << 10;
}

pub mod command {
    pub const READ: u16 = 0;
    pub const WRITE: u16 = 1;
    pub const DISCONNECT: u16 = 2;
    pub const FLUSH: u16 = 3;
    pub const TRIM: u16 = 4;
    pub const CACHE: u16 = 5;
    pub const WRITE_ZEROES: u16 = 6;
    pub const BLOCK_STATUS: u16 = 7;

    pub const FUA: u16 = 1;
    pub const NO_HOLE: u16 = 1 << 1;
    pub const DF: u16 = 1 << 2;
    pub const REQ_ONE: u16 = 1 << 3;
    pub const PAYLOAD_LEN: u16 = 1 << 5;
}

pub mod chunk {
    pub const DONE: u16 = 1;
    pub const NONE: u16 = 0;
    pub const OFFSET_DATA: u16 = 1;
    pub const BLOCK_STATUS: u16 = 5;
    pub const BLOCK_STATUS_EXT: u16 = 6;
    pub const ERROR: u16 = 1 << 15 | 1;
}

/// `HOLE` and `ZERO` of `base:allocation`.
pub const HOLE_AND_ZERO: u32 = 3;

pub const EPERM: u32 = 1;
pub const EIO: u32 = 5;
pub const EINVAL: u32 = 22;
pub const ENOSPC: u32 = 28;
pub const EOVERFLOW: u32 = 75;

/// Of a request without its data.
pub const REQUEST_LEN: usize = 28;
/// The same where headers are extended.
pub const EXTENDED_REQUEST_LEN: usize = 32;
/// Of a simple reply without its data.
pub const REPLY_LEN: usize = 16;
/// Of an option without its data.
pub const OPTION_LEN: usize = 16;
/// Of a reply to an option without its data.
pub const OPTION_REPLY_LEN: usize = 20;

/// A request without its data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    pub flags: u16,
    pub command: u16,
    /// Its reply carries the same.
    pub cookie: u64,
    pub offset: u64,
    pub len: u64,
}

impl Request {
    /// As a client sends it where headers are not extended: 32 bits of `len`, which must do.
    pub fn header(&self) -> [u8; REQUEST_LEN] {
        joined(&[
            &REQUEST.to_be_bytes(),
            &self.flags.to_be_bytes(),
            &self.command.to_be_bytes(),
            &self.cookie.to_be_bytes(),
            &self.offset.to_be_bytes(),
            &narrow::<u32>(self.len).to_be_bytes(),
        ])
    }

    /// Of the bytes that a client sent, [`EXTENDED_REQUEST_LEN`] where headers are extended; `None` where they are no request.
    pub fn of(header: &[u8], is_extended: bool) -> Option<Request> {
        let (magic, len) = match is_extended {
            true => (EXTENDED_REQUEST, be64(&header[24..])),
            false => (REQUEST, be32(&header[24..]).into()),
        };
        (be32(header) == magic).then(|| Request {
            flags: be16(&header[4..]),
            command: be16(&header[6..]),
            cookie: be64(&header[8..]),
            offset: be64(&header[16..]),
            len,
        })
    }
}

/// A simple reply without its data; `error` is 0 where all went well.
pub fn simple_reply(error: u32, cookie: u64) -> [u8; REPLY_LEN] {
    joined(&[&SIMPLE_REPLY.to_be_bytes(), &error.to_be_bytes(), &cookie.to_be_bytes()])
}

/// Error and cookie of a simple reply; `None` where it is none.
pub fn simple_reply_of(header: &[u8; REPLY_LEN]) -> Option<(u32, u64)> {
    (be32(header) == SIMPLE_REPLY).then(|| (be32(&header[4..]), be64(&header[8..])))
}

/// What stands before `len` bytes of an option's data.
pub fn option_header(option: u32, len: usize) -> [u8; OPTION_LEN] {
    joined(&[&IHAVEOPT.to_be_bytes(), &option.to_be_bytes(), &narrow::<u32>(len).to_be_bytes()])
}

/// An option, and how many bytes of data follow; `None` where it is none.
pub fn option_of(header: &[u8]) -> Option<(u32, u32)> {
    (be64(header) == IHAVEOPT).then(|| (be32(&header[8..]), be32(&header[12..])))
}

/// What stands before `len` bytes of a reply to an option.
pub fn option_reply_header(option: u32, kind: u32, len: usize) -> [u8; OPTION_REPLY_LEN] {
    joined(&[
        &OPTION_REPLY.to_be_bytes(),
        &option.to_be_bytes(),
        &kind.to_be_bytes(),
        &narrow::<u32>(len).to_be_bytes(),
    ])
}

/// The kind of a reply to an option, and how many bytes of data follow; `None` where it is none.
pub fn option_reply_of(header: &[u8; OPTION_REPLY_LEN]) -> Option<(u32, u32)> {
    (be64(header) == OPTION_REPLY).then(|| (be32(&header[12..]), be32(&header[16..])))
}

/// The number in the first two bytes, of which there are as many.
pub fn be16(bytes: &[u8]) -> u16 {
    u16::from_be_bytes([bytes[0], bytes[1]])
}

/// The same of four.
pub fn be32(bytes: &[u8]) -> u32 {
    u32::from(be16(bytes)) << 16 | u32::from(be16(&bytes[2..]))
}

/// The same of eight.
pub fn be64(bytes: &[u8]) -> u64 {
    u64::from(be32(bytes)) << 32 | u64::from(be32(&bytes[4..]))
}

/// Parts that make up a header of `LEN` bytes.
fn joined<const LEN: usize>(parts: &[&[u8]]) -> [u8; LEN] {
    let (mut all, mut at) = ([0; LEN], 0);
    for part in parts {
        all[at..at + part.len()].copy_from_slice(part);
        at += part.len();
    }
    debug_assert_eq!(at, LEN, "the parts make up the whole");
    all
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn what_one_side_writes_the_other_reads(
            (flags, command, cookie, offset, len) in any::<(u16, u16, u64, u64, u32)>(),
            (first, second) in any::<(u32, u32)>(),
        ) {
            let request = Request { flags, command, cookie, offset, len: len.into() };
            prop_assert_eq!(Request::of(&request.header(), false), Some(request));
            let mut header = request.header().to_vec();
            header.splice(24.., (u64::from(len) << 20).to_be_bytes());
            prop_assert_eq!(Request::of(&header, true), None, "the other magic is another header");
            header[..4].copy_from_slice(&EXTENDED_REQUEST.to_be_bytes());
            let extended = Request { len: u64::from(len) << 20, ..request };
            prop_assert_eq!(Request::of(&header, true), Some(extended));
            prop_assert_eq!(simple_reply_of(&simple_reply(first, cookie)), Some((first, cookie)));
            let len = narrow::<usize>(len);
            prop_assert_eq!(option_of(&option_header(first, len)), Some((first, narrow::<u32>(len))));
            let reply = option_reply_header(first, second, len);
            prop_assert_eq!(option_reply_of(&reply), Some((second, narrow::<u32>(len))));
        }
    }
}
