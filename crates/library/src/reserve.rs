//! Room that is set aside, so that runs can be removed where no other is left.
//!
//! SQLite writes what it removes to its journal first, and needs a file beside it for the journal's index. On a full
//! file system neither can grow, and nobody could make room by removing runs.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

/// Enough for the journal of a removal: of each 800 pages that become free SQLite writes some four.
pub(crate) const RESERVE_BYTES: usize = 1024 * 1024;

/// By which the file is known as ours.
const MARK: &[u8] = b"Room that fathom sets aside to remove runs on a full file system. It may be deleted.\n";

/// So many of eight bytes follow the mark.
const WORDS: usize = (RESERVE_BYTES - MARK.len()).div_ceil(8);

fn path_of(library: &Path) -> PathBuf {
    let mut path = OsString::from(library.as_os_str());
    path.push("-reserve");
    path.into()
}

/// Sets room aside for `library` where there is none. Where there is no space for it, there is none.
pub(crate) fn keep(library: &Path) {
    let path = path_of(library);
    if fs::symlink_metadata(&path).is_ok() {
        return;
    }
    if let Ok(file) = File::options().write(true).create_new(true).open(&path)
        && fill(file).is_err()
    {
        // Half of it helps nobody.
        let _nothing_more = fs::remove_file(&path);
    }
}

/// Bytes that no file system stores in less room.
fn fill(mut file: File) -> io::Result<()> {
    let mut word = 0x9E37_79B9_7F4A_7C15;
    let mut bytes = MARK.to_vec();
    for _ in 0..WORDS {
        word = next(word);
        bytes.extend(word.to_le_bytes());
    }
    debug_assert!((RESERVE_BYTES..RESERVE_BYTES + 8).contains(&bytes.len()), "as much as a removal needs");
    file.write_all(&bytes)
}

/// xorshift64, Marsaglia 2003.
fn next(mut word: u64) -> u64 {
    word ^= word << 13;
    word ^= word >> 7;
    word ^ (word << 17)
}

/// Gives the room of `library` back to the file system. Whether there was any.
pub(crate) fn release(library: &Path) -> bool {
    let path = path_of(library);
    let is_file = fs::symlink_metadata(&path).is_ok_and(|found| found.is_file());
    is_file && is_ours(&path).unwrap_or(false) && fs::remove_file(&path).is_ok()
}

fn is_ours(path: &Path) -> io::Result<bool> {
    let mut head = vec![0; MARK.len()];
    File::open(path)?.read_exact(&mut head)?;
    Ok(head == MARK)
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::convert::narrow;

    #[test]
    fn what_is_shorter_than_the_mark_or_only_a_link_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let library = folder.path().join("runs.sqlite");
        fs::write(path_of(&library), "short").unwrap();
        assert!(!release(&library));
        fs::remove_file(path_of(&library)).unwrap();
        let other = folder.path().join("other.sqlite");
        keep(&other);
        std::os::unix::fs::symlink(path_of(&other), path_of(&library)).unwrap();
        assert!(!release(&library));
        assert!(path_of(&library).is_symlink() && path_of(&other).exists());
    }

    #[test]
    fn the_room_that_is_set_aside_is_of_bytes_without_a_pattern() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("room");
        fill(File::create(&path).unwrap()).unwrap();
        let bytes = fs::read(&path).unwrap();
        assert!(bytes.starts_with(MARK));
        // Computed apart.
        let first: [u64; 3] = [0xDC1B_77AE_0BF3_4DAD, 0x64F0_EEB9_026E_6076, 0x7B07_CE91_E590_6136];
        assert!(bytes[MARK.len()..].starts_with(&first.map(u64::to_le_bytes).concat()));
        let mut words: Vec<&[u8]> = bytes[MARK.len()..].chunks_exact(8).collect();
        let count = words.len();
        words.sort_unstable();
        words.dedup();
        assert_eq!(words.len(), count, "no eight bytes come twice");
        let ones: u32 = bytes[MARK.len()..].iter().map(|byte| byte.count_ones()).sum();
        let half = 4.0 * count as f64 * 8.0;
        assert!((f64::from(ones) / half - 1.0).abs() < 0.01, "{ones} of {half} bits");
    }

    #[test]
    fn room_is_set_aside_once_and_given_back_and_a_strangers_file_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let library = folder.path().join("runs.sqlite");
        keep(&library);
        keep(&library);
        let kept = narrow::<usize>(fs::metadata(path_of(&library)).unwrap().len());
        assert!((RESERVE_BYTES..RESERVE_BYTES + 8).contains(&kept), "{kept}");
        assert!(release(&library));
        assert!(!release(&library));
        let long = vec![b'x'; 200];
        fs::write(path_of(&library), &long).unwrap();
        keep(&library);
        assert!(!release(&library));
        assert_eq!(fs::read(path_of(&library)).unwrap(), long);
    }
}
