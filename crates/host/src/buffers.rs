//! The memory that requests move data through: one page-aligned piece for each slot.
//!
//! **Invariant:** pieces do not overlap, and live as long as the engine that uses them.

use std::ptr::NonNull;

use rustix::mm::{MapFlags, ProtFlags};
use units::Bytes;
use units::convert::narrow;

use crate::engine::EngineError;

const PAGE: Bytes = Bytes::new(4096);
const HUGE_PAGE: Bytes = Bytes::new(2 << 20);

/// An anonymous mapping, cut into equal pieces.
#[derive(Debug)]
pub struct Buffers {
    base: NonNull<u8>,
    mapped: usize,
    piece: usize,
    count: usize,
}

// SAFETY: the mapping is private memory owned by this value; access goes through `&mut self` or raw pointers
// that the one engine owning it hands to the kernel.
unsafe impl Send for Buffers {}

impl Buffers {
    /// How large a piece is that holds `len` bytes.
    pub fn piece_of(len: Bytes) -> Bytes {
        len.max(PAGE).round_up(PAGE)
    }

    /// `count` pieces of at least `len` bytes, touched already, in huge pages if asked.
    pub fn new(count: usize, len: Bytes, huge_pages: bool) -> Result<Buffers, EngineError> {
        let piece = Buffers::piece_of(len);
        let need = piece * count as u64;
        let mapped = if huge_pages { need.round_up(HUGE_PAGE) } else { need };
        let mut flags = MapFlags::PRIVATE | MapFlags::POPULATE;
        if huge_pages {
            flags |= MapFlags::HUGETLB;
        }
        let length = narrow::<usize>(mapped.get());
        // SAFETY: an anonymous mapping at an address of the kernel's choice touches nothing that exists.
        let base = unsafe {
            rustix::mm::mmap_anonymous(
                std::ptr::null_mut(),
                length,
                ProtFlags::READ | ProtFlags::WRITE,
                flags,
            )
        }
        .map_err(|errno| EngineError::Memory { need: mapped, huge_pages, source: errno.into() })?;
        let base = NonNull::new(base.cast::<u8>()).expect("a successful mmap is not at address zero");
        assert!(
            (base.as_ptr() as usize).is_multiple_of(narrow::<usize>(PAGE.get())),
            "memory must begin at a page"
        );
        assert!(piece * count as u64 <= mapped, "every piece must lie within the mapping");
        Ok(Buffers { base, mapped: length, piece: narrow::<usize>(piece.get()), count })
    }

    /// The start of piece `index`.
    #[inline]
    pub fn piece(&self, index: usize) -> *mut u8 {
        assert!(index < self.count, "there must be a piece of that number");
        // SAFETY: `index` is below `count`, so the offset lies within the mapping.
        unsafe { self.base.as_ptr().add(index * self.piece) }
    }

    /// Piece `index` as bytes.
    pub fn piece_mut(&mut self, index: usize, len: usize) -> &mut [u8] {
        assert!(len <= self.piece, "no more can be taken of a piece than it has");
        // SAFETY: the piece lies within the mapping, is initialised (zero pages) and borrowed with `self`.
        unsafe { std::slice::from_raw_parts_mut(self.piece(index), len) }
    }

    /// The whole mapping, for registration with the kernel.
    pub fn whole(&self) -> (*mut u8, usize) {
        (self.base.as_ptr(), self.mapped)
    }
}

impl Drop for Buffers {
    fn drop(&mut self) {
        // SAFETY: the mapping was made by `new` with this length and is not used after.
        let unmapped = unsafe { rustix::mm::munmap(self.base.as_ptr().cast(), self.mapped) };
        debug_assert!(unmapped.is_ok(), "unmapping what was mapped cannot fail");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_page_aligned_and_apart() {
        let mut buffers = Buffers::new(3, Bytes::new(5000), false).unwrap();
        for index in 0..3 {
            assert!((buffers.piece(index) as usize).is_multiple_of(4096));
            buffers.piece_mut(index, 5000).fill(narrow::<u8>(index) + 1);
        }
        assert_eq!(buffers.piece_mut(0, 5000)[4999], 1);
        assert_eq!(buffers.piece_mut(2, 5000)[0], 3);
    }

    #[test]
    fn memory_that_is_not_there_is_an_error_that_says_how_much() {
        let error = Buffers::new(1 << 20, Bytes::TIB, false).unwrap_err().to_string();
        assert!(error.contains("TiB"), "{error}");
    }
}
