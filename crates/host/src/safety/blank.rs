//! Whether a device holds anything at its beginning and end, where everything that is known to the world lies.

use std::fs::File;
use std::io;

use units::Bytes;
use units::convert::narrow;

use super::signatures::read;

/// So much at either end is looked at: twice as far in as any known header lies (the second one of LUKS2, 4 MiB).
pub(super) const EDGE: Bytes = Bytes::new(8 << 20);

/// One read.
const PIECE: usize = 1 << 20;

/// The first byte, in the first and the last [`EDGE`] of `size`, that is not as on a blank device: one that was written
/// with zeros or trimmed, or flash that was erased, which holds ones. `None` for a blank one.
pub(super) fn first_data(file: &File, size: Bytes) -> io::Result<Option<Bytes>> {
    let head = EDGE.min(size);
    let tail = size.saturating_sub(EDGE).max(head);
    let mut expected = None;
    for (from, to) in [(Bytes::ZERO, head), (tail, size)] {
        assert!(from <= to && to <= size, "what is looked at must lie within the device");
        let mut at = from.get();
        loop {
            assert!(at <= to.get(), "no byte may be read behind what is looked at");
            let bytes = read(file, at, PIECE.min(narrow::<usize>(to.get() - at)))?;
            // At the end of what is looked at, or of the device.
            let Some(first) = bytes.first() else { break };
            let blank = *expected.get_or_insert(if *first == 0xff { 0xff } else { 0 });
            if let Some(place) = bytes.iter().position(|byte| *byte != blank) {
                return Ok(Some(Bytes::new(at + place as u64)));
            }
            at += bytes.len() as u64;
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::FileExt;

    use super::*;

    #[test]
    fn zeros_and_ones_are_blank_and_one_other_byte_at_either_end_is_not() {
        let file = tempfile::tempfile().expect("the test has a temporary folder");
        let size = Bytes::MIB * 20;
        file.set_len(size.get()).expect("the file is ours");
        let look = |size| first_data(&file, size).expect("it can be read");
        assert_eq!(look(size), None);
        assert_eq!(look(Bytes::ZERO), None);
        for at in [0, (8 << 20) - 1, 12 << 20, size.get() - 1] {
            file.write_all_at(b"x", at).expect("the file is ours");
            assert_eq!(look(size), Some(Bytes::new(at)));
            file.write_all_at(b"\0", at).expect("the file is ours");
        }
        file.write_all_at(b"x", 10 << 20).expect("the file is ours");
        assert_eq!(look(size), None, "the middle is not looked at");
        file.write_all_at(&vec![0xff; 3 << 20], 0).expect("the file is ours");
        assert_eq!(look(Bytes::MIB * 3), None);
        assert_eq!(look(size), Some(Bytes::MIB * 3));
    }

    #[test]
    fn what_ends_before_its_size_is_looked_at_as_far_as_it_goes_and_what_fails_is_told() {
        let file = tempfile::tempfile().expect("the test has a temporary folder");
        file.set_len(4096).expect("the file is ours");
        assert_eq!(first_data(&file, Bytes::MIB * 40).expect("it can be read"), None);
        file.write_all_at(b"x", 4095).expect("the file is ours");
        assert_eq!(first_data(&file, Bytes::MIB * 40).expect("it can be read"), Some(Bytes::new(4095)));
        assert_eq!(first_data(&file, Bytes::new(4095)).expect("it can be read"), None);
        // What lies behind the size that was asked for is nobody's question, in whatever piece it comes.
        let size = Bytes::MIB + Bytes::new(100);
        file.set_len(3 << 20).expect("the file is ours");
        file.write_all_at(b"\0", 4095).expect("the file is ours");
        file.write_all_at(b"x", size.get()).expect("the file is ours");
        assert_eq!(first_data(&file, size).expect("it can be read"), None);
        assert_eq!(first_data(&file, size + Bytes::new(1)).expect("it can be read"), Some(size));
        let folder = File::open("/").expect("every system has one");
        assert!(first_data(&folder, Bytes::MIB).is_err());
    }
}
