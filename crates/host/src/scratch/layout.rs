//! Filling a file with data that neither compresses nor deduplicates, by real writes.
//!
//! **Invariant:** what is reported as written is one piece from byte 0 on.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc;

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use rustix::fs::OFlags;
use units::Bytes;
use units::convert::narrow;

use crate::buffers::Buffers;
use crate::handle;
use crate::scratch::{Progress, Step};
use crate::unwinding::StopOnPanic;

/// One write of the laying-out: large enough to fill the stripes of wide arrays.
const CHUNK: Bytes = Bytes::new(4 << 20);

/// Writes in flight: one alone leaves an array of many disks mostly idle.
const WRITERS: u64 = 4;

/// How a filling ended.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Filled {
    /// So much was written, all of it or as much as was said to be enough.
    Bytes(Bytes),
    /// It was to be given up.
    Aborted,
}

/// The same file once more, for data that bypasses the page cache; `None` where the file system cannot.
pub(super) fn reopen_direct(file: &File, path: &Path) -> Option<File> {
    handle::reopen(file, path, OFlags::WRONLY | OFlags::DIRECT).ok()
}

/// How a filling ended, and whether it went past the page cache: the one that did, or `cached` where there is none, or
/// where writing so was refused although opening was not, as some stacked file systems do.
pub(super) fn or_cached(
    direct: Option<io::Result<Filled>>,
    cached: impl FnOnce() -> io::Result<Filled>,
) -> (io::Result<Filled>, bool) {
    match direct {
        Some(Err(error)) if error.raw_os_error() == Some(libc::EINVAL) => (cached(), false),
        Some(filled) => (filled, true),
        None => (cached(), false),
    }
}

/// Writes bytes 0 to `length`, a multiple of 4096, and asks `progress` after each chunk whether to go on.
pub(super) fn fill(
    file: &File,
    length: Bytes,
    seed: u64,
    progress: &mut dyn FnMut(Progress) -> Step,
) -> io::Result<Filled> {
    assert!(length.get().is_multiple_of(4096), "a file must be filled in whole blocks");
    let chunks = length.get().div_ceil(CHUNK.get());
    let buffers = (0..WRITERS.min(chunks)).map(|_| Buffers::new(1, CHUNK, false));
    let buffers: Vec<Buffers> = buffers.collect::<Result<_, _>>().map_err(io::Error::other)?;
    let next = AtomicU64::new(0);
    let stop = AtomicBool::new(false);
    let mut last_step = Step::Continue;
    let mut failure = None;
    let mut written = Bytes::ZERO;
    std::thread::scope(|scope| {
        // Handed over one by one: no writer runs ahead of the answer whether to go on.
        let (sender, reports) = mpsc::sync_channel(0);
        for buffer in buffers {
            let (sender, next, stop) = (sender.clone(), &next, &stop);
            scope.spawn(move || write_chunks(file, length, seed, buffer, next, stop, &sender));
        }
        drop(sender);
        for report in reports {
            match report {
                Ok(count) => written += count,
                Err(error) => failure = failure.take().or(Some(error)),
            }
            assert!(written <= length, "no more can be written than the file is long");
            if failure.is_none() && last_step == Step::Continue {
                last_step = progress(Progress { written, total: length });
            }
            if last_step != Step::Continue {
                stop.store(true, Ordering::Relaxed);
            }
        }
    });
    if let Some(error) = failure {
        return Err(error);
    }
    if last_step == Step::Abort {
        return Ok(Filled::Aborted);
    }
    // Every chunk that was taken has been written, and they are taken in order.
    let taken = next.into_inner().min(chunks);
    let filled = (CHUNK * taken).min(length);
    assert_eq!(written, filled, "what was written must be one piece from the start on");
    assert!(
        last_step != Step::Continue || filled == length,
        "a file whose layout was not stopped must be filled to its end"
    );
    Ok(Filled::Bytes(filled))
}

fn write_chunks(
    file: &File,
    length: Bytes,
    seed: u64,
    mut buffer: Buffers,
    next: &AtomicU64,
    stop: &AtomicBool,
    reports: &mpsc::SyncSender<io::Result<Bytes>>,
) {
    // The file will not be used then.
    let _others = StopOnPanic(stop);
    while !stop.load(Ordering::Relaxed) {
        let offset = CHUNK * next.fetch_add(1, Ordering::Relaxed);
        if offset >= length {
            return;
        }
        crate::fault::here("layout");
        let count = (length - offset).min(CHUNK);
        debug_assert!(offset + count <= length, "no chunk may end behind the file");
        let part = buffer.piece_mut(0, narrow::<usize>(count.get()));
        noise(seed, offset, part);
        let report = file.write_all_at(part, offset.get()).map(|()| count);
        if report.is_err() {
            stop.store(true, Ordering::Relaxed);
        }
        // The receiver outlives every writer.
        let _heard = reports.send(report);
    }
}

/// Data of its own for each seed and chunk. The odd constant is that of splitmix64 (Steele et al. 2014), which
/// `seed_from_u64` uses too; it keeps the seeds of neighbouring chunks apart.
fn noise(seed: u64, offset: Bytes, buffer: &mut [u8]) {
    debug_assert!(offset.get().is_multiple_of(CHUNK.get()), "data belongs to a chunk as a whole");
    let chunk = offset.get() / CHUNK.get();
    let seed = seed.wrapping_add(chunk.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    Xoshiro256PlusPlus::seed_from_u64(seed).fill_bytes(buffer);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_block_of_4_kib_is_written_twice_and_bytes_are_even() {
        let mut first = vec![0; narrow::<usize>(CHUNK.get())];
        let mut second = first.clone();
        noise(1, Bytes::ZERO, &mut first);
        noise(1, CHUNK, &mut second);
        let mut blocks: Vec<&[u8]> = first.chunks(4096).chain(second.chunks(4096)).collect();
        blocks.sort_unstable();
        let count = blocks.len();
        blocks.dedup();
        assert_eq!(blocks.len(), count);
        let mut counts = [0u64; 256];
        first.iter().for_each(|byte| counts[usize::from(*byte)] += 1);
        let expected = first.len() as f64 / 256.0;
        let chi2: f64 = counts.iter().map(|count| (*count as f64 - expected).powi(2) / expected).sum();
        // 255 degrees of freedom: mean 255, standard deviation 22.6; five of them either way.
        assert!((142.0..368.0).contains(&chi2), "{chi2}");
    }

    #[test]
    fn the_data_of_a_chunk_is_that_of_a_seed_of_its_own() {
        let (mut chunk, mut seeded) = (vec![0; 64], vec![0; 64]);
        for number in 0..4u64 {
            noise(5, CHUNK * number, &mut chunk);
            noise(5u64.wrapping_add(number.wrapping_mul(0x9e37_79b9_7f4a_7c15)), Bytes::ZERO, &mut seeded);
            assert_eq!(chunk, seeded, "chunk {number}");
        }
    }

    #[test]
    fn a_write_that_fails_is_told_and_nobody_is_asked_whether_to_go_on() {
        let path = tempfile::NamedTempFile::new().expect("the test has a temporary folder");
        let file = File::open(path.path()).expect("it is there");
        let mut asked = 0;
        let mut go_on = |_: Progress| {
            asked += 1;
            Step::Continue
        };
        let error = fill(&file, CHUNK * 16, 3, &mut go_on).map(|_| ()).expect_err("it is open for reading");
        assert_eq!((error.raw_os_error(), asked), (Some(libc::EBADF), 0));
    }

    #[test]
    fn only_what_cannot_be_written_past_the_page_cache_is_written_through_it() {
        let written = |count: u64| Ok(Filled::Bytes(Bytes::new(count)));
        let failed = |errno| Some(Err(io::Error::from_raw_os_error(errno)));
        let nobody = || -> io::Result<Filled> { panic!("it was written already") };
        let (filled, is_direct) = or_cached(Some(written(8192)), nobody);
        assert_eq!((filled.expect("it was written"), is_direct), (Filled::Bytes(Bytes::new(8192)), true));
        assert_eq!(or_cached(Some(Ok(Filled::Aborted)), nobody).0.expect("that is an end"), Filled::Aborted);
        for direct in [None, failed(libc::EINVAL)] {
            let (filled, is_direct) = or_cached(direct, || written(4096));
            assert_eq!(
                (filled.expect("it was written"), is_direct),
                (Filled::Bytes(Bytes::new(4096)), false)
            );
        }
        for errno in [libc::EIO, libc::ENOSPC, libc::EROFS] {
            let told = or_cached(failed(errno), nobody).0.expect_err("it failed");
            assert_eq!(told.raw_os_error(), Some(errno));
        }
    }

    #[test]
    fn once_it_is_given_up_nobody_is_asked_again() {
        let file = tempfile::tempfile().expect("the test has a temporary folder");
        let mut asked = 0;
        let mut abort = |_: Progress| {
            asked += 1;
            Step::Abort
        };
        assert!(matches!(fill(&file, CHUNK * 16, 3, &mut abort), Ok(Filled::Aborted)));
        assert_eq!(asked, 1);
        let short = CHUNK + Bytes::new(4096);
        let Ok(Filled::Bytes(written)) = fill(&file, short, 3, &mut |_| Step::Continue) else {
            panic!("there is room");
        };
        assert_eq!(written, short);
    }

    #[test]
    fn stopping_early_leaves_one_piece_from_the_start() {
        let file = tempfile::tempfile().expect("the test has a temporary folder");
        let length = CHUNK * 16;
        let mut enough = |progress: Progress| {
            if progress.written >= CHUNK * 2 { Step::Enough } else { Step::Continue }
        };
        let Filled::Bytes(written) = fill(&file, length, 3, &mut enough).expect("there is room") else {
            panic!("nobody aborted");
        };
        assert!(written >= CHUNK * 2 && written < length, "{written}");
        let mut expected = vec![0; narrow::<usize>(CHUNK.get())];
        let mut found = expected.clone();
        for chunk in 0..written.get() / CHUNK.get() {
            noise(3, CHUNK * chunk, &mut expected);
            file.read_exact_at(&mut found, chunk * CHUNK.get()).expect("it is there");
            assert!(found == expected, "chunk {chunk}");
        }
    }
}
