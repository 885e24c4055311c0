//! What libblkid knows a content by, where it is installed: it knows more than the table here, and what it knows is what
//! the system's own tools would mount, assemble or warn of.
//!
//! Loaded when it is first asked for and never linked, so that a system without it runs the same program. A statically
//! linked one does not load it.
//!
//! Source: libblkid's manual and `blkid.h` of util-linux 2.38; the loop over `blkid_do_probe` is that of wipefs(8).

use std::ffi::{CStr, c_char, c_int, c_void};
use std::fs::File;
use std::os::fd::AsRawFd;
use std::ptr::null;
use std::sync::OnceLock;

use libloading::Library;
use units::Bytes;

use super::signatures::Signature;

/// `BLKID_SUBLKS_TYPE`, `_MAGIC` and `_BADCSUM`: a header with a wrong checksum is still somebody's.
const SUPERBLOCKS: c_int = 1 << 5 | 1 << 9 | 1 << 10;
/// `BLKID_PARTS_FORCE_GPT` and `_MAGIC`.
const PARTITIONS: c_int = 1 << 1 | 1 << 3;
/// More than any content has; a loop that never ends would be worse.
const MOST: usize = 64;

type Probe = *mut c_void;

/// The calls that are used.
struct Calls {
    new_probe: unsafe extern "C" fn() -> Probe,
    free_probe: unsafe extern "C" fn(Probe),
    set_device: unsafe extern "C" fn(Probe, c_int, i64, i64) -> c_int,
    set: [(unsafe extern "C" fn(Probe, c_int) -> c_int, c_int); 4],
    do_probe: unsafe extern "C" fn(Probe) -> c_int,
    lookup: unsafe extern "C" fn(Probe, *const c_char, *mut *const c_char, *mut usize) -> c_int,
    _library: Library,
}

/// Everything that libblkid finds; empty where it finds nothing or is not installed.
pub(super) fn signatures(file: &File) -> Vec<Signature> {
    static CALLS: OnceLock<Option<Calls>> = OnceLock::new();
    CALLS.get_or_init(load).as_ref().map(|calls| calls.ask(file)).unwrap_or_default()
}

fn load() -> Option<Calls> {
    // A statically linked program has a C library of its own, which the library's would disagree with.
    if cfg!(target_feature = "crt-static") {
        return None;
    }
    // SAFETY: libblkid runs nothing when it is loaded.
    let library = unsafe { Library::new("libblkid.so.1") }.ok()?;
    // SAFETY: each name stands for a function of the type it is given here (`blkid.h`), and the library is never
    // unloaded: it is kept beside them in a static.
    unsafe {
        Some(Calls {
            new_probe: *library.get(b"blkid_new_probe\0").ok()?,
            free_probe: *library.get(b"blkid_free_probe\0").ok()?,
            set_device: *library.get(b"blkid_probe_set_device\0").ok()?,
            set: [
                (*library.get(b"blkid_probe_enable_superblocks\0").ok()?, 1),
                (*library.get(b"blkid_probe_set_superblocks_flags\0").ok()?, SUPERBLOCKS),
                (*library.get(b"blkid_probe_enable_partitions\0").ok()?, 1),
                (*library.get(b"blkid_probe_set_partitions_flags\0").ok()?, PARTITIONS),
            ],
            do_probe: *library.get(b"blkid_do_probe\0").ok()?,
            lookup: *library.get(b"blkid_probe_lookup_value\0").ok()?,
            _library: library,
        })
    }
}

impl Calls {
    fn ask(&self, file: &File) -> Vec<Signature> {
        // SAFETY: takes nothing and gives a probe or null.
        let probe = unsafe { (self.new_probe)() };
        if probe.is_null() {
            return Vec::new();
        }
        let mut found: Vec<Signature> = Vec::new();
        // SAFETY: the probe is one, and the descriptor stays open until it is freed.
        let is_ready = unsafe { (self.set_device)(probe, file.as_raw_fd(), 0, 0) } == 0
            // SAFETY: as above; each takes a probe and a number.
            && self.set.iter().all(|(set, value)| unsafe { set(probe, *value) } == 0);
        // SAFETY: as above. 0 is one more content, anything else the end or an error.
        while is_ready && found.len() < MOST && unsafe { (self.do_probe)(probe) } == 0 {
            let superblock = self.signature(probe, c"TYPE", c"SBMAGIC_OFFSET");
            found.extend(superblock.or_else(|| self.signature(probe, c"PTTYPE", c"PTMAGIC_OFFSET")));
        }
        assert!(found.len() <= MOST, "what is found must not fill the memory");
        // SAFETY: the probe is one and is not used again.
        unsafe { (self.free_probe)(probe) };
        found
    }

    fn signature(&self, probe: Probe, name: &CStr, offset: &CStr) -> Option<Signature> {
        let name = self.value(probe, name)?;
        let offset = self.value(probe, offset).and_then(|text| text.parse().ok()).unwrap_or(0);
        Some(Signature { name: format!("{name}, by libblkid").into(), offset: Bytes::new(offset) })
    }

    fn value(&self, probe: Probe, name: &CStr) -> Option<String> {
        let (mut text, mut length): (*const c_char, usize) = (null(), 0);
        // SAFETY: the probe is one, the name ends with a zero, and both places are there to be written to.
        let found = unsafe { (self.lookup)(probe, name.as_ptr(), &raw mut text, &raw mut length) };
        if found != 0 || text.is_null() {
            return None;
        }
        // SAFETY: libblkid gives values as texts that end with a zero and live as long as the probe.
        Some(unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned())
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::FileExt;
    use std::ptr::null_mut;

    use super::*;

    #[test]
    fn what_is_asked_for_are_the_numbers_of_the_header() {
        // blkid.h: TYPE 0x20, MAGIC 0x200, BADCSUM 0x400; FORCE_GPT 0x2, MAGIC 0x8.
        assert_eq!((SUPERBLOCKS, PARTITIONS), (0x620, 0xa));
    }

    #[test]
    fn what_the_system_knows_is_told_with_its_place_where_the_library_is_installed() {
        let file = tempfile::tempfile().expect("the test has a temporary folder");
        file.set_len(8 << 20).expect("the file is ours");
        assert_eq!(signatures(&file), []);
        // Another than the call under test says whether it is there.
        // SAFETY: libblkid runs nothing when it is loaded.
        if unsafe { Library::new("libblkid.so.1") }.is_err() {
            return;
        }
        file.write_all_at(b"SWAPSPACE2", 4086).expect("the file is ours");
        // Version 1, of 2,047 pages.
        file.write_all_at(&[1u32.to_le_bytes(), 2_047u32.to_le_bytes()].concat(), 1024).expect("it is ours");
        let found = signatures(&file);
        assert_eq!(found, [Signature { name: "swap, by libblkid".into(), offset: Bytes::new(4086) }]);
    }

    /// A library that takes every call, always finds one content more, and knows of each only its type.
    fn endless() -> Calls {
        unsafe extern "C" fn new_probe() -> Probe {
            std::ptr::dangling_mut::<u8>().cast()
        }
        unsafe extern "C" fn free_probe(_: Probe) {}
        unsafe extern "C" fn set_device(_: Probe, _: c_int, _: i64, _: i64) -> c_int {
            0
        }
        unsafe extern "C" fn set(_: Probe, _: c_int) -> c_int {
            0
        }
        unsafe extern "C" fn do_probe(_: Probe) -> c_int {
            0
        }
        unsafe extern "C" fn lookup(
            _: Probe,
            name: *const c_char,
            text: *mut *const c_char,
            _: *mut usize,
        ) -> c_int {
            // SAFETY: the caller gives a name that ends with a zero, and a place for a text.
            unsafe {
                *text = c"odd".as_ptr();
                if CStr::from_ptr(name) == c"TYPE" { 0 } else { -1 }
            }
        }
        let set = [(set as unsafe extern "C" fn(Probe, c_int) -> c_int, 1); 4];
        let _library = libloading::os::unix::Library::this().into();
        Calls { new_probe, free_probe, set_device, set, do_probe, lookup, _library }
    }

    #[test]
    fn a_library_that_finds_contents_for_ever_is_asked_for_so_many_and_one_that_refuses_for_none() {
        let file = tempfile::tempfile().expect("the test has a temporary folder");
        let found = endless().ask(&file);
        assert_eq!(found.len(), 64);
        // What was not found is none, whatever the place for its text holds.
        assert_eq!(found[0], Signature { name: "odd, by libblkid".into(), offset: Bytes::ZERO });
        unsafe extern "C" fn refuse(_: Probe, _: c_int) -> c_int {
            -1
        }
        unsafe extern "C" fn none() -> Probe {
            null_mut()
        }
        unsafe extern "C" fn empty(
            _: Probe,
            _: *const c_char,
            _: *mut *const c_char,
            _: *mut usize,
        ) -> c_int {
            0
        }
        let mut refusing = endless();
        refusing.set[3].0 = refuse;
        assert_eq!(refusing.ask(&file), []);
        assert_eq!(Calls { new_probe: none, ..endless() }.ask(&file), []);
        assert_eq!(
            Calls { lookup: empty, ..endless() }.value(null_mut(), c"TYPE"),
            None,
            "found, and no text"
        );
    }
}
