//! Whether a target holds anything that a read could find.
//!
//! A hole, an unwritten extent and a trimmed block read as zeros, often without asking the medium at all: reads of them
//! measure nothing, at a fine rate. What compresses is the same in part, where a device or a file system compresses.

use std::collections::HashSet;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;

use units::convert::narrow;
use units::{Bytes, Nanos};

use crate::buffers::Buffers;
use crate::clock::Clock;
use crate::scratch::{Gaps, gaps};

/// What a sample of a target holds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stored {
    /// Blocks of [`BLOCK`] that were looked at, spread evenly over the target.
    pub blocks: u32,
    /// Those of them that hold nothing but zeros.
    pub zeros: u32,
    /// Bits of information in a byte of the others, by how often each value comes in each block: 8 where nothing is to
    /// be saved by a code that knows these frequencies alone. `None` where all are zeros.
    ///
    /// The entropy of Shannon (1948), with the correction of Miller (1955) for the length of a block.
    pub bits_per_byte: Option<f64>,
    /// Those of the others that are the same as one looked at before: a store of equal blocks needs them once. Seen where
    /// a piece of some megabytes comes again and again; copies of a whole are as rare in a sample as in the whole.
    pub repeats: u32,
    /// Bytes of a file that its file system holds no data of; `None` for devices and where it does not tell.
    pub unwritten: Option<Bytes>,
}

/// What is read at each place.
pub const BLOCK: Bytes = Bytes::new(4096);
/// Places that are looked at: enough to see a twentieth of zeros in 19 of 20 targets.
const PLACES: u64 = 60;
/// A target that answers slowly is looked at less.
const AT_MOST: Nanos = Nanos::from_secs(2);

/// Looks at `size` bytes of the file or device at `path`, which is opened for reading alone; past the page cache where
/// the file system allows that. `None` for less than a block.
pub fn stored(path: &Path, size: Bytes, clock: &Clock) -> io::Result<Option<Stored>> {
    let blocks = size.get() / BLOCK.get();
    if blocks == 0 {
        return Ok(None);
    }
    let direct = OpenOptions::new().read(true).custom_flags(libc::O_DIRECT).open(path);
    let file = direct.or_else(|_| File::open(path))?;
    let unwritten = match file.metadata()?.is_file() {
        true => match gaps(&file, size)? {
            Gaps::Bytes(missing) => Some(missing),
            Gaps::Unknown => None,
        },
        false => None,
    };
    let mut buffer =
        Buffers::new(1, BLOCK, false).map_err(|error| io::Error::new(io::ErrorKind::OutOfMemory, error))?;
    let (mut seen, mut zeros, mut bits, mut known) = (0, 0, 0.0, HashSet::new());
    let (begun, places) = (clock.now(), PLACES.min(blocks));
    for number in 0..places {
        if clock.now().saturating_since(begun) > AT_MOST {
            break;
        }
        let block = buffer.piece_mut(0, narrow::<usize>(BLOCK.get()));
        file.read_exact_at(block, place(number, places, blocks) * BLOCK.get())?;
        seen += 1;
        if block.iter().all(|byte| *byte == 0) {
            zeros += 1;
        } else {
            bits += entropy(block);
            known.insert(block.to_vec());
        }
    }
    let held = seen - zeros;
    assert!(
        u64::from(seen) <= places && known.len() <= held as usize,
        "a block is looked at once and kept once"
    );
    let bits_per_byte = (held > 0).then(|| bits / f64::from(held));
    Ok(Some(Stored {
        blocks: seen,
        zeros,
        bits_per_byte,
        repeats: held - narrow::<u32>(known.len()),
        unwritten,
    }))
}

/// Which of `blocks` is looked at as number `number` of `places`: one in each of equal parts, at a place within it that
/// goes by the golden ratio, so that no period of the data is met always or never.
fn place(number: u64, places: u64, blocks: u64) -> u64 {
    const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;
    debug_assert!(number < places, "there must be a place of that number");
    let (from, to) = (number * blocks / places, (number + 1) * blocks / places);
    from + number.wrapping_mul(GOLDEN) % (to - from).max(1)
}

/// Bits of information in a byte of `block`.
pub(crate) fn entropy(block: &[u8]) -> f64 {
    assert!(!block.is_empty(), "no bytes have no entropy");
    let mut counts = [0_u32; 256];
    block.iter().for_each(|byte| counts[usize::from(*byte)] += 1);
    let length = block.len() as f64;
    let present = || counts.iter().filter(|count| **count > 0).map(|count| f64::from(*count) / length);
    let plain: f64 = present().map(|part| -part * part.log2()).sum();
    let correction = (present().count() as f64 - 1.0) / (2.0 * length * std::f64::consts::LN_2);
    (plain + correction).min(8.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file of as many bytes, the first of them random.
    fn file(random: usize, size: u64) -> tempfile::NamedTempFile {
        let file = tempfile::NamedTempFile::new().expect("the test has a temporary folder");
        let mut drawn = 88_172_645_463_325_252_u64;
        let mut bytes = Vec::with_capacity(random);
        while bytes.len() < random {
            drawn ^= drawn << 13;
            drawn ^= drawn >> 7;
            drawn ^= drawn << 17;
            bytes.extend(drawn.to_le_bytes());
        }
        file.as_file().write_all_at(&bytes[..random], 0).expect("the file is ours");
        file.as_file().set_len(size).expect("the file is ours");
        file.as_file().sync_all().expect("the file is ours");
        file
    }

    fn look(file: &tempfile::NamedTempFile, size: u64) -> Stored {
        stored(file.path(), Bytes::new(size), &Clock::start())
            .expect("it can be read")
            .expect("it has blocks")
    }

    #[test]
    fn random_bytes_are_all_there_and_leave_nothing_to_a_code() {
        let found = look(&file(1 << 20, 1 << 20), 1 << 20);
        assert_eq!((found.blocks, found.zeros, found.repeats), (60, 0, 0));
        assert!(found.bits_per_byte.expect("there are data") > 7.97, "{found:?}");
        assert!(found.unwritten.is_none_or(Bytes::is_zero), "{found:?}");
    }

    #[test]
    fn the_half_of_a_file_that_was_never_written_is_seen() {
        let found = look(&file(1 << 20, 2 << 20), 2 << 20);
        assert_eq!((found.blocks, found.zeros), (60, 30));
        assert!(found.unwritten.is_none_or(|missing| missing == Bytes::MIB), "{found:?}");
    }

    #[test]
    fn a_piece_that_comes_again_and_again_is_seen_however_random_it_is() {
        let file = file(32 << 10, 1 << 20);
        let piece = std::fs::read(file.path()).expect("the file is ours")[..32 << 10].to_vec();
        (0..32).for_each(|n| file.as_file().write_all_at(&piece, n << 15).expect("the file is ours"));
        let found = look(&file, 1 << 20);
        assert_eq!((found.blocks, found.zeros, found.repeats), (60, 0, 52));
        assert!(found.bits_per_byte.expect("there are data") > 7.9, "{found:?}");
    }

    #[test]
    fn a_text_of_two_letters_holds_a_bit_in_a_byte() {
        let block: Vec<u8> =
            (0..4096_u32).map(|n| if n.count_ones() % 2 == 0 { b'a' } else { b'b' }).collect();
        assert!((entropy(&block) - 1.0).abs() < 0.001);
        assert_eq!(entropy(&[7; 4096]), 0.0);
    }

    #[test]
    fn a_file_smaller_than_a_block_is_not_looked_at_and_places_lie_in_it() {
        assert_eq!(
            stored(file(100, 100).path(), Bytes::new(100), &Clock::start()).expect("it can be read"),
            None
        );
        for blocks in [1, 2, 59, 60, 61, 1_000_003] {
            let places = PLACES.min(blocks);
            let all: Vec<u64> = (0..places).map(|number| place(number, places, blocks)).collect();
            assert!(all.windows(2).all(|pair| pair[0] < pair[1]) && *all.last().unwrap() < blocks);
        }
    }
}
