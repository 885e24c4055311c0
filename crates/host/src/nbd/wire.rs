//! Numbers of the protocol.

pub const NBDMAGIC: u64 = 0x4E42_444D_4147_4943;
pub const IHAVEOPT: u64 = 0x4948_4156_454F_5054;
pub const OPTION_REPLY: u64 = 0x0003_E889_0455_65A9;
pub const REQUEST: u32 = 0x2560_9513;
pub const SIMPLE_REPLY: u32 = 0x6744_6698;

pub const FIXED_NEWSTYLE: u16 = 1;
pub const NO_ZEROES: u16 = 2;

pub const OPTION_EXPORT_NAME: u32 = 1;
pub const OPTION_GO: u32 = 7;

pub const REPLY_ACK: u32 = 1;
pub const REPLY_INFO: u32 = 3;
pub const ERR_UNSUP: u32 = 1 << 31 | 1;
pub const ERR_POLICY: u32 = 1 << 31 | 2;
pub const ERR_TLS_REQD: u32 = 1 << 31 | 5;
pub const ERR_UNKNOWN: u32 = 1 << 31 | 6;

pub const INFO_EXPORT: u16 = 0;
pub const INFO_BLOCK_SIZE: u16 = 3;

pub const READ_ONLY: u16 = 1 << 1;
pub const SEND_FLUSH: u16 = 1 << 2;
pub const SEND_FUA: u16 = 1 << 3;
pub const SEND_TRIM: u16 = 1 << 5;
pub const CAN_MULTI_CONN: u16 = 1 << 8;

pub const COMMAND_READ: u16 = 0;
pub const COMMAND_WRITE: u16 = 1;
pub const COMMAND_DISCONNECT: u16 = 2;
pub const COMMAND_FLUSH: u16 = 3;
pub const COMMAND_TRIM: u16 = 4;

pub const COMMAND_FUA: u16 = 1;

/// Of a request without its data.
pub const REQUEST_LEN: usize = 28;
/// Of a reply without its data.
pub const REPLY_LEN: usize = 16;

/// A request without its data.
pub fn request(flags: u16, command: u16, cookie: u64, offset: u64, len: u32) -> [u8; REQUEST_LEN] {
    let mut header = [0; REQUEST_LEN];
    header[..4].copy_from_slice(&REQUEST.to_be_bytes());
    header[4..6].copy_from_slice(&flags.to_be_bytes());
    header[6..8].copy_from_slice(&command.to_be_bytes());
    header[8..16].copy_from_slice(&cookie.to_be_bytes());
    header[16..24].copy_from_slice(&offset.to_be_bytes());
    header[24..].copy_from_slice(&len.to_be_bytes());
    header
}

/// Error and cookie of a reply; `None` where it is none.
pub fn reply(header: &[u8; REPLY_LEN]) -> Option<(u32, u64)> {
    (be32(header) == SIMPLE_REPLY).then(|| (be32(&header[4..]), be64(&header[8..])))
}

pub fn be16(bytes: &[u8]) -> u16 {
    u16::from_be_bytes([bytes[0], bytes[1]])
}

pub fn be32(bytes: &[u8]) -> u32 {
    u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])
}

pub fn be64(bytes: &[u8]) -> u64 {
    u64::from(be32(bytes)) << 32 | u64::from(be32(&bytes[4..]))
}
