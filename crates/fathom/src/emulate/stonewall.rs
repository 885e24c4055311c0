//! The status file of a stone wall: how far the furthest task had come, for a later call to read (IOR
//! `stoneWallingStatusFile`, mdtest `-x`).
//!
//! **Invariant:** what is there and holds anything but such a count, a device above all, is never written.

use std::fs;
use std::io;

use units::name;

use crate::ending::Failure;
use crate::output::write_whole;

/// What the furthest task of a point has done.
pub fn furthest(point: &record::Point) -> u64 {
    let workers = point.workloads.iter().flat_map(|workload| &workload.workers);
    workers.map(|worker| worker.ops).max().unwrap_or(0)
}

/// Whether a count may be written to the file: before a load, so that none is run whose count has no place.
pub fn check(path: &str) -> Result<(), Failure> {
    let file = name::path(path);
    let holds_other = |found: fs::Metadata| !found.is_file() || (found.len() > 0 && kept(path).is_none());
    if fs::metadata(&file).is_ok_and(holds_other) {
        let why = "it is there and holds no count of a stone wall; name another file";
        let source = io::Error::new(io::ErrorKind::AlreadyExists, why);
        return Err(Failure::System { what: format!("writing {path}"), source });
    }
    Ok(())
}

/// Writes the count to the file.
pub fn keep(path: &str, count: u64) -> Result<(), Failure> {
    check(path)?;
    write_whole(name::path(path).as_ref(), count.to_string())
}

/// The count that the file holds; `None` where it cannot be read, holds another thing or is no file.
pub fn kept(path: &str) -> Option<u64> {
    let file = name::path(path);
    fs::metadata(&file).ok().filter(fs::Metadata::is_file)?;
    fs::read_to_string(&file).ok()?.trim().parse().ok()
}
