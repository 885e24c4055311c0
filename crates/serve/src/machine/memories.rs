//! What a controller remembers things in: its event log, its memory, and that of its write cache.

use std::sync::Arc;

use super::Shape;
use super::errors::OpenError;
use super::options::Options;
use crate::cache::{Owner, WriteCache, has_needed};
use crate::events::{EventLog, Severity};
use crate::medium::Medium;
use crate::nvram::{Nvram, Past};
use crate::shelf::Shelf;

/// The event log, where it is kept.
pub(super) fn log(options: &Options) -> Result<EventLog, OpenError> {
    match &options.log {
        Some(path) => EventLog::at(path).map_err(OpenError::system("the event log")),
        None => Ok(EventLog::new()),
    }
}

/// The controller's memory, and what it knows of the time before.
pub(super) fn nvram(
    memory: Arc<dyn Medium>,
    shape: &Shape,
    array: &str,
    options: &Options,
) -> Result<(Nvram, Past), OpenError> {
    let owner = owner(array, options);
    Nvram::open(memory, options.journal, (shape.groups(), shape.slots()), options.is_synced, &owner)
        .map_err(OpenError::system("the controller's memory"))
}

/// What a memory says of whose it is: the array, and the start of the machine.
pub(super) fn owner(array: &str, options: &Options) -> String {
    format!("{array} {}", options.boot)
}

/// Most that a cache takes of this machine's memory where nobody has said how much it may.
const MOST_CACHE: u64 = 256 << 20;

/// The cache of an array of that name and generation; with it the start whose cache may hold what the drives do not have.
pub(super) fn cache(
    shelf: Option<&dyn Shelf>,
    shape: &Shape,
    (array, session, mut needed): (&str, u64, Option<u64>),
    options: &Options,
    events: &EventLog,
) -> Result<Option<WriteCache>, OpenError> {
    let size = options.cache.unwrap_or(shape.cache.min(MOST_CACHE));
    if size == 0 && needed.is_none() {
        return Ok(None);
    }
    let why = OpenError::system("the memory of the write cache");
    let medium: Option<Arc<dyn Medium>> = shelf.map(Shelf::cache).transpose().map_err(&why)?.map(Arc::from);
    // The part that no other array has.
    let own = array.rsplit('.').next().unwrap_or(array);
    let owner = |needed| Owner { array: own.to_owned(), session, needed };
    if let Some(medium) = medium.as_deref().filter(|_| needed.is_some())
        && !has_needed(medium, &owner(needed)).map_err(&why)?
    {
        if !options.accepts_loss {
            return Err(OpenError::CacheGone);
        }
        let text = "write cache: its memory is gone; what it had and the drives had not is lost, and cannot be named";
        events.add(Severity::Critical, text.into());
        needed = None;
    }
    let sets = shape.sets.len();
    WriteCache::open(size, medium, owner(needed), sets, options.is_synced).map(Some).map_err(why)
}
