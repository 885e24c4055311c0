//! What direct I/O demands of addresses, lengths and memory.

use std::path::Path;

use rustix::fs::{AtFlags, CWD, StatxFlags, statx};
use units::Bytes;

/// Whether direct I/O is possible, and at which alignment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Direct {
    /// Possible.
    Aligned {
        /// What a buffer's address must be a multiple of.
        memory: Bytes,
        /// What an offset and a length must be a multiple of.
        offset: Bytes,
        /// Where the figures come from.
        basis: &'static str,
    },
    /// The file system says that it cannot.
    Impossible,
}

impl Direct {
    /// What an offset and a length must be a multiple of; `None` where direct I/O is impossible.
    pub fn offset(&self) -> Option<Bytes> {
        match self {
            Direct::Aligned { offset, .. } => Some(*offset),
            Direct::Impossible => None,
        }
    }
}

/// The demands of direct I/O on an existing file or node.
///
/// Linux 6.1 and later tell (`statx`, `STATX_DIOALIGN`). Where they do not (older kernels, tmpfs, NFS, directories),
/// the logical block of the device beneath is taken, and 4096 where there is none: the smallest that no block
/// device refuses today.
pub fn direct_of(path: &Path, logical_block: Option<Bytes>) -> Direct {
    let told = statx(CWD, path, AtFlags::empty(), StatxFlags::DIOALIGN).ok();
    let told = told.filter(|stat| stat.stx_mask & StatxFlags::DIOALIGN.bits() != 0);
    match (told, logical_block) {
        (Some(stat), _) if stat.stx_dio_offset_align == 0 => Direct::Impossible,
        (Some(stat), _) => Direct::Aligned {
            memory: Bytes::new(u64::from(stat.stx_dio_mem_align)),
            offset: Bytes::new(u64::from(stat.stx_dio_offset_align)),
            basis: "reported by the kernel (statx)",
        },
        (None, Some(block)) => {
            Direct::Aligned { memory: block, offset: block, basis: "logical block of the device" }
        }
        (None, None) => {
            let page = Bytes::KIB * 4;
            Direct::Aligned { memory: page, offset: page, basis: "assumed: the kernel does not report it" }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_alignment_is_a_power_of_two_and_falls_back_to_the_device() {
        let folder = tempfile::tempdir().expect("the test has a temporary folder");
        // A directory is never told about, so the device decides.
        let direct = direct_of(folder.path(), Some(Bytes::KIB));
        assert_eq!(direct.offset(), Some(Bytes::KIB));
        assert_eq!(direct_of(folder.path(), None).offset(), Some(Bytes::KIB * 4));
        let file = folder.path().join("file");
        std::fs::write(&file, "x").expect("the folder is ours");
        if let Direct::Aligned { memory, offset, .. } = direct_of(&file, None) {
            assert!(memory.get().is_power_of_two() && offset.get().is_power_of_two());
        }
    }
}
