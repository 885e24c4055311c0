//! Traces of blktrace that a job has merged into one before it asks it again: `merge_blktrace_file` and what belongs to it.
//!
//! As fio does, the events that stand for requests are written in order of their times, each time multiplied by the scalar of its trace;
//! a trace that comes again follows its own last request.
//!
//! Source: fio's manual, the `merge_blktrace_` options; `struct blk_io_trace` of Linux,
//! `include/uapi/linux/blktrace_api.h`.

use units::convert::truncated;

use crate::Refusal;

use super::command::Command;
use super::files::split;
use super::settings::Options;

/// What is merged before the jobs begin.
#[derive(Clone, Debug, PartialEq)]
pub struct Merge {
    /// The traces.
    pub parts: Vec<MergedTrace>,
    /// The file that they are written to.
    pub into: String,
}

/// One trace of several.
#[derive(Clone, Debug, PartialEq)]
pub struct MergedTrace {
    /// What blktrace has recorded.
    pub file: String,
    /// Its times become so many percent of what they were.
    pub percent: u64,
    /// So many times it comes.
    pub times: u64,
}

/// The merge of a job; `None` where it asks for none.
pub(super) fn of(options: &Options) -> Result<Option<Merge>, Refusal> {
    let Some(into) = options.get("merge_blktrace_file").filter(|into| !into.value.is_empty()) else {
        return Ok(None);
    };
    let Some(traces) = options.get("read_iolog").filter(|traces| !traces.value.is_empty()) else {
        return Err(into.wrong("it goes with read_iolog=, which names the traces"));
    };
    let files = split(&traces.value);
    let figures = |name: &str, default: u64| -> Result<Vec<u64>, Refusal> {
        let Some(setting) = options.get(name) else { return Ok(vec![default; files.len()]) };
        let read = |text: &str| {
            let figure = text.trim().parse::<f64>().ok().filter(|figure| (1.0..=1e6).contains(figure));
            figure.map(truncated::<u64>)
        };
        let all: Option<Vec<u64>> = setting.value.split(':').map(read).collect();
        all.filter(|all| all.len() == files.len()).ok_or_else(|| {
            setting.wrong("a number from 1 to 1000000 for each trace of read_iolog=, apart by `:`")
        })
    };
    let (percents, times) = (figures("merge_blktrace_scalars", 100)?, figures("merge_blktrace_iters", 1)?);
    let parts = files.into_iter().zip(percents).zip(times);
    let parts = parts.map(|((file, percent), times)| MergedTrace { file, percent, times }).collect();
    Ok(Some(Merge { parts, into: into.value.clone() }))
}

impl Command {
    /// What is merged before the jobs begin, each file once.
    pub fn merges(&self) -> Vec<Merge> {
        let mut all: Vec<Merge> = Vec::new();
        for merge in self.jobs.iter().filter_map(|job| of(&job.options).ok().flatten()) {
            if !all.contains(&merge) {
                all.push(merge);
            }
        }
        all
    }
}

/// An event without the data behind it.
const EVENT: usize = 48;
const MAGIC: u32 = 0x6561_7400;
const QUEUED: u32 = 1;
/// Beside the action: the event says which control group asked.
const OF_GROUP: u32 = 1 << 8;
const READ: u32 = 1 << 16;
const WRITE: u32 = 1 << 17;
const NOTICE: u32 = 1 << 26;

/// An event, and its time in nanoseconds.
type Event = (u64, [u8; EVENT]);

impl Merge {
    /// The merged trace of what the traces hold, in the order of `parts`. Fails where one of them is none, or ends within an
    /// event.
    pub fn merged(&self, traces: &[Vec<u8>]) -> Result<Vec<u8>, String> {
        let mut all: Vec<Event> = Vec::new();
        for (part, bytes) in self.parts.iter().zip(traces) {
            let events = events(bytes).map_err(|why| format!("{}: {why}", part.file))?;
            let lasts = events.last().map_or(0, |(at, _)| *at);
            for time in 0..part.times {
                let moved = |at: u64| {
                    let at = u128::from(at) + u128::from(time) * u128::from(lasts);
                    u64::try_from(at * u128::from(part.percent) / 100).unwrap_or(u64::MAX)
                };
                all.extend(events.iter().map(|(at, event)| (moved(*at), *event)));
            }
        }
        all.sort_by_key(|(at, _)| *at);
        let mut merged = Vec::with_capacity(all.len() * EVENT);
        for (at, mut event) in all {
            event[8..16].copy_from_slice(&at.to_ne_bytes());
            // Its data stay behind.
            event[46..48].copy_from_slice(&0u16.to_ne_bytes());
            merged.extend_from_slice(&event);
        }
        Ok(merged)
    }
}

/// The events of a trace that stand for requests, in the byte order of this machine.
fn events(mut bytes: &[u8]) -> Result<Vec<Event>, String> {
    let mut found = Vec::new();
    while !bytes.is_empty() {
        let cut = "it ends within an event; copy it again";
        let mut event = *bytes.first_chunk::<EVENT>().ok_or(cut)?;
        if word(&event, 0) & !0xff != MAGIC {
            swap(&mut event);
        }
        if word(&event, 0) & !0xff != MAGIC {
            return Err("no event of blktrace begins here; name what `blktrace` has recorded".into());
        }
        let data = usize::from(u16::from_ne_bytes([event[46], event[47]]));
        bytes = bytes.get(EVENT + data..).ok_or(cut)?;
        let action = word(&event, 28);
        if action & 0xffff & !OF_GROUP == QUEUED && action & NOTICE == 0 && action & (READ | WRITE) != 0 {
            // What says who asked is data, which goes.
            event[28..32].copy_from_slice(&(action & !OF_GROUP).to_ne_bytes());
            let at = event.first_chunk::<16>().map_or([0; 8], |head| {
                let mut time = [0; 8];
                time.copy_from_slice(&head[8..]);
                time
            });
            found.push((u64::from_ne_bytes(at), event));
        }
    }
    Ok(found)
}

fn word(event: &[u8; EVENT], at: usize) -> u32 {
    let mut word = [0; 4];
    word.copy_from_slice(&event[at..at + 4]);
    u32::from_ne_bytes(word)
}

/// From the other byte order.
fn swap(event: &mut [u8; EVENT]) {
    // Magic, sequence, time, sector, bytes, action, process, device, processor, error and length of data.
    let mut at = 0;
    for len in [4, 4, 8, 8, 4, 4, 4, 4, 4, 2, 2] {
        event[at..at + len].reverse();
        at += len;
    }
    debug_assert_eq!(at, EVENT, "the parts of an event are all of it");
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A queued read at a time, of a sector, with data of so many bytes behind.
    fn event(at: u64, sector: u64, data: u16) -> Vec<u8> {
        let mut event = [0; EVENT];
        event[..4].copy_from_slice(&(MAGIC | 7).to_ne_bytes());
        event[8..16].copy_from_slice(&at.to_ne_bytes());
        event[16..24].copy_from_slice(&sector.to_ne_bytes());
        event[24..28].copy_from_slice(&4096u32.to_ne_bytes());
        event[28..32].copy_from_slice(&(QUEUED | READ).to_ne_bytes());
        event[46..].copy_from_slice(&data.to_ne_bytes());
        [&event[..], &vec![7; data.into()]].concat()
    }

    fn merge(parts: &[(u64, u64)]) -> Merge {
        let part = |(percent, times): &(u64, u64)| MergedTrace {
            file: "t".into(),
            percent: *percent,
            times: *times,
        };
        Merge { parts: parts.iter().map(part).collect(), into: "merged".into() }
    }

    fn told(merged: &[u8]) -> Vec<(u64, u64)> {
        let number = |event: &[u8], at: usize| u64::from_ne_bytes(event[at..at + 8].try_into().unwrap());
        merged.chunks(EVENT).map(|event| (number(event, 8), number(event, 16))).collect()
    }

    #[test]
    fn traces_are_merged_by_their_times_as_often_and_as_fast_as_is_said() {
        let one = [event(100, 1, 0), event(300, 2, 5)].concat();
        let mut other = event(200, 9, 0);
        let merged = merge(&[(100, 1), (100, 1)]).merged(&[one.clone(), other.clone()]).unwrap();
        assert_eq!(told(&merged), [(100, 1), (200, 9), (300, 2)]);
        // Half as long, twice; the other byte order.
        swap((&mut other[..]).try_into().unwrap());
        let merged = merge(&[(50, 2), (100, 1)]).merged(&[one.clone(), other]).unwrap();
        assert_eq!(told(&merged), [(50, 1), (150, 2), (200, 1), (200, 9), (300, 2)]);
        let cut = merge(&[(100, 1)]).merged(&[one[..one.len() - 1].to_vec()]);
        assert_eq!(cut, Err("t: it ends within an event; copy it again".into()));
        assert!(
            merge(&[(100, 1)])
                .merged(&[b"no trace, but a text of fifty bytes and some more".to_vec()])
                .is_err()
        );
    }
}
