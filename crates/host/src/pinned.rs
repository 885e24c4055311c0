//! Memory that is held, so that others, the page cache among them, have less.

use std::io;
use std::ptr::{self, NonNull};

use rustix::mm::{MapFlags, ProtFlags, mlock, mmap_anonymous, munmap};
use units::Bytes;
use units::convert::narrow;

/// So much of the machine's memory is never taken, as fio leaves it.
const LEFT: Bytes = Bytes::new(128 << 20);

/// Memory that is held until this is dropped.
#[derive(Debug)]
pub struct Pinned {
    at: NonNull<libc::c_void>,
    length: usize,
}

impl Pinned {
    /// Takes `amount` of memory and locks it (mmap(2), mlock(2)); of more than the machine has, all but 128 MiB. An error
    /// where the limit of locked memory (`ulimit -l`) or what is free does not allow it.
    pub fn hold(amount: Bytes) -> io::Result<Pinned> {
        let length = narrow::<usize>(amount.min(most()).get().max(1));
        // SAFETY: a mapping of its own, of no file, at a place that the kernel chooses.
        let at = unsafe {
            mmap_anonymous(ptr::null_mut(), length, ProtFlags::READ | ProtFlags::WRITE, MapFlags::PRIVATE)?
        };
        let at = NonNull::new(at).expect("a mapping is never at null");
        let pinned = Pinned { at, length };
        // SAFETY: the mapping that was just made, whole.
        unsafe { mlock(at.as_ptr(), length)? };
        Ok(pinned)
    }

    /// How much it is.
    pub fn length(&self) -> Bytes {
        Bytes::new(self.length as u64)
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        // SAFETY: the mapping is this one's own, and nobody has a reference into it.
        let _unmapped = unsafe { munmap(self.at.as_ptr(), self.length) };
    }
}

/// What may be taken of this machine's memory.
fn most() -> Bytes {
    let known = rustix::system::sysinfo();
    let all = (known.totalram as u64).saturating_mul(known.mem_unit.into());
    Bytes::new(all.saturating_sub(LEFT.get()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn locked_kib() -> u64 {
        let status = std::fs::read_to_string("/proc/self/status").expect("Linux tells it");
        let line = status.lines().find_map(|line| line.strip_prefix("VmLck:")).expect("it has a line");
        line.trim().trim_end_matches(" kB").parse().expect("a number")
    }

    #[test]
    fn what_is_held_is_locked_until_it_is_let_go() {
        let before = locked_kib();
        // Every user may lock 64 KiB.
        let amount = Bytes::KIB * 64;
        let pinned = Pinned::hold(amount).expect("it is no more than everybody may");
        assert_eq!(pinned.length(), amount);
        assert!(locked_kib() >= before + 64);
        drop(pinned);
        assert!(locked_kib() < before + 64);
    }

    #[test]
    fn some_of_the_machines_memory_is_always_left() {
        assert!(most() > Bytes::ZERO);
        assert!(most().get() + LEFT.get() <= u64::MAX / 2);
    }
}
