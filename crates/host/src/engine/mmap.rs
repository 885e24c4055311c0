//! Loads and stores on a mapping of each file.

use std::sync::Arc;

use rustix::mm::{Advice, MapFlags, MsyncFlags, ProtFlags};
use units::convert::narrow;
use workload::{Errno, Op, Outcome, Request};

use super::sigbus::{self, Guarded};
use super::trim::trim;
use super::{AtOnce, Carrier, EngineError, OpenFiles, Payload};
use crate::clock::Clock;

/// One mapped file.
#[derive(Debug)]
struct Mapping {
    base: *mut u8,
    len: usize,
    _guard: Guarded,
}

/// Copies between buffers and mappings, one request at a time.
#[derive(Debug)]
pub struct Mmap {
    files: Arc<OpenFiles>,
    mappings: Vec<Mapping>,
}

impl Mmap {
    /// Maps every file whole, writable only if `writes`, and tells the kernel whether it is read at random, so that a fault
    /// reads nothing around its page, or in order: what fio does. Without that a fault brings the pages around it as well,
    /// and random reads are answered by what others brought.
    pub fn new(
        clock: Clock,
        files: Arc<OpenFiles>,
        payload: Payload,
        writes: bool,
        is_random: bool,
    ) -> Result<AtOnce<Mmap>, EngineError> {
        let advice = if is_random { Advice::Random } else { Advice::Sequential };
        let mappings = files.0.iter().map(|open| map(open, writes, advice)).collect::<Result<_, _>>()?;
        Ok(AtOnce::new(clock, payload, Mmap { files, mappings }))
    }
}

impl Carrier for Mmap {
    fn execute(&mut self, request: &Request, bytes: &mut [u8]) -> Outcome {
        let file = usize::from(request.file);
        let mapping = &self.mappings[file];
        let (offset, len) = (narrow::<usize>(request.offset.get()), request.len as usize);
        if offset + len > mapping.len {
            return Outcome::moved(narrow::<u32>(mapping.len.saturating_sub(offset)));
        }
        assert_eq!(bytes.len(), len, "a request must have as much data as its length says");
        // SAFETY: the range was checked to lie within the mapping.
        let place = unsafe { mapping.base.add(offset) };
        match request.op {
            // SAFETY: the piece holds `len` bytes and does not overlap the mapping; a fault is caught.
            Op::Read => unsafe {
                std::ptr::copy_nonoverlapping(place, bytes.as_mut_ptr(), len);
            },
            // SAFETY: as above; the mapping is writable because the workload writes.
            Op::Write => unsafe {
                std::ptr::copy_nonoverlapping(bytes.as_ptr(), place, len);
            },
            Op::Trim => return trim(&self.files.0[file], request),
            // SAFETY: the whole mapping is ours.
            Op::Flush => unsafe {
                if let Err(errno) = rustix::mm::msync(mapping.base.cast(), mapping.len, MsyncFlags::SYNC) {
                    return Outcome::failed(Errno(errno.raw_os_error()));
                }
            },
        }
        if sigbus::take_fault() { Outcome::failed(Errno(libc::EIO)) } else { Outcome::moved(request.len) }
    }
}

fn map(open: &super::OpenFile, writes: bool, advice: Advice) -> Result<Mapping, EngineError> {
    let system = |source| EngineError::System { call: "mmap", source };
    // A block device says 0 in stat; the end of the file is its size.
    let len = narrow::<usize>(
        rustix::fs::seek(&open.file, rustix::fs::SeekFrom::End(0))
            .map_err(|errno| EngineError::System { call: "lseek", source: errno.into() })?,
    );
    if len == 0 {
        return Err(EngineError::Unfit { engine: "mmap", why: format!("{} is empty", open.path.display()) });
    }
    let protection = if writes { ProtFlags::READ | ProtFlags::WRITE } else { ProtFlags::READ };
    // SAFETY: a new mapping at an address of the kernel's choice touches nothing that exists.
    let base =
        unsafe { rustix::mm::mmap(std::ptr::null_mut(), len, protection, MapFlags::SHARED, &open.file, 0) }
            .map_err(|errno| system(errno.into()))?;
    assert!((base as usize).is_multiple_of(4096), "a mapping must begin at a page");
    // A kernel that takes no advice faults all the same.
    // SAFETY: the range is the mapping made above; neither advice changes what it holds.
    let _advised = unsafe { rustix::mm::madvise(base, len, advice) };
    match sigbus::guard(base as usize, len) {
        Some(guard) => Ok(Mapping { base: base.cast(), len, _guard: guard }),
        None => {
            // SAFETY: made just above.
            let _unmapped = unsafe { rustix::mm::munmap(base, len) };
            let why = "more than 256 files are mapped at once; use fewer workers or files".into();
            Err(EngineError::Unfit { engine: "mmap", why })
        }
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: made by `map` with this length and not used after.
        let _unmapped = unsafe { rustix::mm::munmap(self.base.cast(), self.len) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::fixture::{full_of, open, payload, request};
    use crate::engine::{Engine, HasPayload, Wait};

    #[test]
    fn a_file_is_mapped_as_long_as_its_engine_lives_and_is_not_exchanged_for_another() {
        let file = full_of(3);
        let own = file.path().to_str().expect("it is text").to_owned();
        let maps = || std::fs::read_to_string("/proc/self/maps").expect("every process has them");
        let is_mapped = || maps().lines().any(|line| line.ends_with(&own));
        let mut engine =
            Mmap::new(Clock::start(), open(&file), payload(1, 1.0), false, true).expect("it is not empty");
        assert!(is_mapped());
        let error = engine.reopen(open(&file)).expect_err("the mapping is of the first").to_string();
        assert!(error.contains("`reopen_every` needs io_uring or `depth = 1`"), "{error}");
        engine.submit(&[request(Op::Read, 0)]).expect("nothing can fail");
        let mut ended = Vec::new();
        engine.wait(Wait::For(1), &mut |done| ended.push(done.outcome)).expect("nothing can fail");
        assert_eq!(
            (ended, engine.payload().bytes(&request(Op::Read, 0))[4095]),
            (vec![Outcome::moved(4096)], 3)
        );
        drop(engine);
        assert!(!is_mapped());
    }

    #[test]
    fn the_kernel_is_told_whether_a_mapping_is_read_at_random_or_in_order() {
        let file = full_of(3);
        let own = file.path().to_str().expect("it is text").to_owned();
        // `rr` and `sr` of a mapping's flags: random and sequential read advice.
        let flag = |is_random| {
            let _engine = Mmap::new(Clock::start(), open(&file), payload(1, 1.0), false, is_random);
            let maps = std::fs::read_to_string("/proc/self/smaps").expect("every process has them");
            let ours = maps.lines().skip_while(|line| !line.ends_with(&own));
            let flags =
                ours.map(str::to_owned).find(|line| line.starts_with("VmFlags:")).expect("each has flags");
            ["rr", "sr"].into_iter().find(|flag| flags.split_whitespace().any(|one| one == *flag))
        };
        assert_eq!((flag(true), flag(false)), (Some("rr"), Some("sr")));
    }
}
