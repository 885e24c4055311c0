//! Exports of NBD servers: what speaks against writing to one.
//!
//! Whether another client uses it only its server knows. What it holds is looked at as on a device.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use rustix::fs::MemfdFlags;
use units::Bytes;
use units::convert::narrow;

use super::blank::{EDGE, first_data};
use super::device::DeviceFindings;
use super::{Consent, Judgement, Reason, Signature, Subject, contents, destroying, signatures};
use crate::nbd::{Connection, Export, NbdError};

/// One read.
const PIECE: u64 = 1 << 20;

/// What is known of an export, and what speaks against writing to it.
pub(super) fn judge(export: &Export, consent: Option<&Consent>) -> Judgement {
    let name = export.uri.to_string();
    let mut reasons = Vec::new();
    if export.size().is_zero() {
        reasons.push(Reason::NoCapacity { device: name.clone() });
    }
    if export.offered.is_read_only() {
        reasons.push(Reason::ReadOnly { device: name.clone() });
    }
    let (known, data_at) = match held(export) {
        Ok((known, data_at)) => (Ok(known), data_at),
        Err(why) => (Err(why), None),
    };
    reasons.extend(contents(&name, known));
    let is_for_it = |consent: &Consent| matches!(&consent.to, Subject::Device(text) if *text == name);
    let given = (consent, consent.is_some_and(is_for_it));
    let (names, findings) = (vec![name.clone()], DeviceFindings { reasons, data_at });
    destroying(export.to_string(), name.clone(), names, findings, given)
}

/// Known signatures, and where the first data is, at either end of an export.
fn held(export: &Export) -> Result<(Vec<Signature>, Option<Bytes>), String> {
    let size = export.size();
    let edges = edges(export).map_err(|error| error.to_string())?.map_err(|error| error.to_string())?;
    let text = |error: io::Error| error.to_string();
    Ok((signatures(&edges, size).map_err(text)?, first_data(&edges, size).map_err(text)?))
}

/// A file in memory as large as the export, with what that holds at either end and nothing between.
fn edges(export: &Export) -> Result<io::Result<File>, NbdError> {
    let size = export.size().get();
    let made = rustix::fs::memfd_create("fathom-export", MemfdFlags::CLOEXEC).map(File::from);
    let file = match made.map_err(io::Error::from).and_then(|file| file.set_len(size).map(|()| file)) {
        Ok(file) => file,
        Err(error) => return Ok(Err(error)),
    };
    let mut connection = Connection::to(&export.uri)?;
    let block = export.offered.block.get();
    // What is left over behind the last block belongs to no request.
    let end = size - size % block;
    let head = EDGE.get().min(end);
    let tail = end.saturating_sub(EDGE.get()).max(head);
    let piece = PIECE.min(export.offered.largest.get() / block * block);
    assert!(piece > 0, "a read of no byte would be made again for ever");
    let mut bytes = vec![0; narrow::<usize>(piece)];
    for (from, to) in [(0, head), (tail, end)] {
        let mut at = from;
        while at < to {
            let part = &mut bytes[..narrow::<usize>(piece.min(to - at))];
            connection.read_at(at, part)?;
            if part.iter().any(|byte| *byte != 0)
                && let Err(error) = file.write_all_at(part, at)
            {
                return Ok(Err(error));
            }
            at += part.len() as u64;
        }
    }
    Ok(Ok(file))
}
