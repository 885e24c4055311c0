//! Several traces of blktrace as one, as fio merges them before a job asks them again.
//!
//! Source: fio's manual, the `merge_blktrace_` options.

use super::blktrace::{HEAD, Head, NOTICE, OF_GROUP, QUEUED, WRITE, order};

const READ: u32 = 1 << 16;

/// A trace of several, and how it is replayed among them.
#[derive(Clone, Copy, Debug)]
pub struct MergedBlktrace<'a> {
    /// What blktrace has recorded.
    pub bytes: &'a [u8],
    /// Its times become so many percent of what they were.
    pub percent: u64,
    /// So many times it is replayed; each begins at the last request of the one before.
    pub times: u64,
}

/// An event, and its time in nanoseconds.
type Event = (u64, [u8; HEAD]);

/// One trace, in the byte order of this machine, of the queued reads and writes of `parts` by their times. Fails with the
/// place of the part that is no trace, or ends within an event, and why.
pub fn merge_blktraces(parts: &[MergedBlktrace<'_>]) -> Result<Vec<u8>, (usize, String)> {
    let mut all: Vec<Event> = Vec::new();
    for (place, part) in parts.iter().enumerate() {
        let events = events(part.bytes).map_err(|why| (place, why))?;
        let last = events.last().map_or(0, |(at, _)| *at);
        for time in 0..part.times {
            let moved = |at: u64| {
                let at = u128::from(at) + u128::from(time) * u128::from(last);
                u64::try_from(at * u128::from(part.percent) / 100).unwrap_or(u64::MAX)
            };
            all.extend(events.iter().map(|(at, event)| (moved(*at), *event)));
        }
    }
    all.sort_by_key(|(at, _)| *at);
    let mut merged = Vec::with_capacity(all.len() * HEAD);
    for (at, mut event) in all {
        event[8..16].copy_from_slice(&at.to_ne_bytes());
        // Its data stay behind.
        event[46..48].copy_from_slice(&0u16.to_ne_bytes());
        merged.extend_from_slice(&event);
    }
    Ok(merged)
}

/// The events of a trace that stand for requests.
fn events(mut bytes: &[u8]) -> Result<Vec<Event>, String> {
    let mut found = Vec::new();
    while !bytes.is_empty() {
        let cut = "it ends within an event; copy it again";
        let mut event = *bytes.first_chunk::<HEAD>().ok_or(cut)?;
        let order =
            order(&event).ok_or("no event of blktrace begins here; name what `blktrace` has recorded")?;
        let head = Head { bytes: &event, order };
        let (at, action, data) = (head.long(8), head.word(28), usize::from(head.half(46)));
        if !order.is_native() {
            swap(&mut event);
        }
        bytes = bytes.get(HEAD + data..).ok_or(cut)?;
        if action & 0xffff & !OF_GROUP == QUEUED && action & NOTICE == 0 && action & (READ | WRITE) != 0 {
            // What says who asked is data, which goes.
            event[28..32].copy_from_slice(&(action & !OF_GROUP).to_ne_bytes());
            found.push((at, event));
        }
    }
    Ok(found)
}

/// From the other byte order.
fn swap(event: &mut [u8; HEAD]) {
    // Magic, sequence, time, sector, bytes, action, process, device, processor, error and length of data.
    let mut at = 0;
    for len in [4, 4, 8, 8, 4, 4, 4, 4, 4, 2, 2] {
        event[at..at + len].reverse();
        at += len;
    }
    debug_assert_eq!(at, HEAD, "the parts of an event are all of it");
}

#[cfg(test)]
mod tests {
    use super::super::blktrace::{MAGIC, VERSION};
    use super::*;

    /// A queued read at a time, of a sector, with data of so many bytes behind.
    fn event(at: u64, sector: u64, data: u16) -> Vec<u8> {
        let mut event = [0; HEAD];
        event[..4].copy_from_slice(&(MAGIC | VERSION).to_ne_bytes());
        event[8..16].copy_from_slice(&at.to_ne_bytes());
        event[16..24].copy_from_slice(&sector.to_ne_bytes());
        event[24..28].copy_from_slice(&4096u32.to_ne_bytes());
        event[28..32].copy_from_slice(&(QUEUED | READ).to_ne_bytes());
        event[46..].copy_from_slice(&data.to_ne_bytes());
        [&event[..], &vec![7; data.into()]].concat()
    }

    /// Of traces with their percent and times.
    fn merge(parts: &[(&[u8], u64, u64)]) -> Result<Vec<u8>, (usize, String)> {
        let part = |&(bytes, percent, times)| MergedBlktrace { bytes, percent, times };
        merge_blktraces(&parts.iter().map(part).collect::<Vec<_>>())
    }

    fn told(merged: &[u8]) -> Vec<(u64, u64)> {
        let number = |event: &[u8], at: usize| u64::from_ne_bytes(event[at..at + 8].try_into().unwrap());
        merged.chunks(HEAD).map(|event| (number(event, 8), number(event, 16))).collect()
    }

    #[test]
    fn traces_are_merged_by_their_times_as_often_and_as_fast_as_is_said() {
        let one = [event(100, 1, 0), event(300, 2, 5)].concat();
        let mut other = event(200, 9, 0);
        let merged = merge(&[(&one, 100, 1), (&other, 100, 1)]).unwrap();
        assert_eq!(told(&merged), [(100, 1), (200, 9), (300, 2)]);
        // Half as long, twice; the other byte order.
        swap((&mut other[..]).try_into().unwrap());
        let merged = merge(&[(&one, 50, 2), (&other, 100, 1)]).unwrap();
        assert_eq!(told(&merged), [(50, 1), (150, 2), (200, 1), (200, 9), (300, 2)]);
        let cut = merge(&[(&other, 100, 1), (&one[..one.len() - 1], 100, 1)]);
        assert_eq!(cut, Err((1, "it ends within an event; copy it again".into())));
        assert!(merge(&[(b"no trace, but a text of fifty bytes and some more", 100, 1)]).is_err());
    }
}
