//! A load from a mapping whose file shrank or failed ends in SIGBUS. Here it becomes a failed request.
//!
//! The handler puts a page of zeros under the address, notes that it did, and lets the load go on; the engine
//! looks at the note after each access. Only ranges that an engine registered are treated so.

use std::ffi::c_void;
use std::sync::Once;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering, compiler_fence};

use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous};

/// Mappings at a time in one process, one per file and worker.
const RANGES_MAX: usize = 256;

static STARTS: [AtomicUsize; RANGES_MAX] = [const { AtomicUsize::new(0) }; RANGES_MAX];
static ENDS: [AtomicUsize; RANGES_MAX] = [const { AtomicUsize::new(0) }; RANGES_MAX];

thread_local! {
    static FAULTED: AtomicBool = const { AtomicBool::new(false) };
}

/// A registered range; gone when dropped.
#[derive(Debug)]
pub struct Guarded(usize);

/// Registers a mapping. `None` when the table is full.
pub fn guard(start: usize, len: usize) -> Option<Guarded> {
    assert!(start != 0 && len != 0, "a range must hold something, and 0 stands for none");
    install();
    assert!(start.checked_add(len).is_some(), "a range must end where memory does");
    for (slot, place) in STARTS.iter().enumerate() {
        if place.compare_exchange(0, start, Ordering::AcqRel, Ordering::Relaxed).is_ok() {
            ENDS[slot].store(start + len, Ordering::Release);
            return Some(Guarded(slot));
        }
    }
    None
}

impl Drop for Guarded {
    fn drop(&mut self) {
        ENDS[self.0].store(0, Ordering::Release);
        STARTS[self.0].store(0, Ordering::Release);
    }
}

/// Whether an access of this thread has faulted since the last call.
pub fn take_fault() -> bool {
    // Nothing that the compiler sees changes the note between an access and this: without the fence it may be read
    // before the access, or not at all.
    compiler_fence(Ordering::SeqCst);
    FAULTED.with(|noted| noted.load(Ordering::Relaxed) && noted.swap(false, Ordering::Relaxed))
}

fn install() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // SAFETY: a zeroed sigaction is a valid one; the handler has the signature that SA_SIGINFO asks for.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = on_bus_error as *const () as usize;
            action.sa_flags = libc::SA_SIGINFO | libc::SA_NODEFER;
            libc::sigaction(libc::SIGBUS, &action, std::ptr::null_mut());
        }
    });
}

/// Only system calls and atomics: anything else is not allowed in a signal handler.
extern "C" fn on_bus_error(signal: libc::c_int, info: *mut libc::siginfo_t, _: *mut c_void) {
    const PAGE: usize = 4096;
    // SAFETY: the kernel passes a valid siginfo for SIGBUS.
    let address = unsafe { (*info).si_addr() } as usize;
    let ours = (0..RANGES_MAX).any(|slot| {
        let start = STARTS[slot].load(Ordering::Acquire);
        start != 0 && start <= address && address < ENDS[slot].load(Ordering::Acquire)
    });
    if ours && replace_page(address & !(PAGE - 1), PAGE) {
        FAULTED.with(|noted| noted.store(true, Ordering::Relaxed));
        return;
    }
    // SAFETY: the default action is restored, and the faulting instruction raises the signal again: a fault that is
    // none of ours, or that no page could be put under, ends the process instead of coming back for ever.
    unsafe {
        libc::signal(signal, libc::SIG_DFL);
    }
}

/// Puts zeros in the place of a page; whether the kernel had a page for it.
fn replace_page(page: usize, len: usize) -> bool {
    // SAFETY: the caller has found the page to lie within a mapping of ours.
    let made = unsafe {
        mmap_anonymous(
            page as *mut c_void,
            len,
            ProtFlags::READ | ProtFlags::WRITE,
            MapFlags::PRIVATE | MapFlags::FIXED,
        )
    };
    made.is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A private mapping of a file of that many pages, of which the file then keeps the first.
    fn shrunk(pages: usize) -> (*mut u8, std::fs::File) {
        let file = tempfile::tempfile().expect("the test has a temporary folder");
        file.set_len((pages * 4096) as u64).expect("the file is ours");
        // SAFETY: a new mapping at an address of the kernel's choice touches nothing that exists.
        let base = unsafe {
            rustix::mm::mmap(
                std::ptr::null_mut(),
                pages * 4096,
                rustix::mm::ProtFlags::READ | rustix::mm::ProtFlags::WRITE,
                rustix::mm::MapFlags::SHARED,
                &file,
                0,
            )
        };
        file.set_len(4096).expect("the file is ours");
        (base.expect("there is room").cast(), file)
    }

    #[test]
    fn a_load_beyond_the_end_of_a_file_gives_zeros_and_is_noted_once_for_each_page() {
        let (base, _file) = shrunk(4);
        let guard = guard(base as usize, 4 * 4096).expect("the table has room");
        // SAFETY: all within the mapping, and faults are caught.
        let load = |at: usize| unsafe { base.add(at).read_volatile() };
        assert_eq!((load(0), take_fault()), (0, false));
        for at in [4096, 2 * 4096 + 17, 4 * 4096 - 1] {
            assert_eq!((load(at), take_fault(), take_fault()), (0, true, false), "byte {at}");
            assert_eq!((load(at), take_fault()), (0, false), "the page is there by now");
        }
        drop(guard);
        // SAFETY: made above with this length and not used after.
        unsafe { rustix::mm::munmap(base.cast(), 4 * 4096) }.expect("it is ours");
    }

    #[test]
    fn each_range_has_a_place_of_its_own_until_it_is_dropped() {
        let (one, other) = (guard(1 << 40, 4096).expect("room"), guard(2 << 40, 4096).expect("room"));
        let held = |guard: &Guarded| {
            (STARTS[guard.0].load(Ordering::Relaxed), ENDS[guard.0].load(Ordering::Relaxed))
        };
        assert_ne!(one.0, other.0);
        assert_eq!((held(&one), held(&other)), ((1 << 40, (1 << 40) + 4096), (2 << 40, (2 << 40) + 4096)));
        let place = one.0;
        drop(one);
        assert_ne!(STARTS[place].load(Ordering::Relaxed), 1 << 40);
    }

    /// Told to the copy of this test that is to fault.
    const FAULTS: &str = "FATHOM_FAULTS_OUTSIDE";

    #[test]
    fn a_load_just_behind_a_range_ends_the_process_as_if_nobody_had_a_handler() {
        use std::os::unix::process::ExitStatusExt;
        if std::env::var_os(FAULTS).is_some() {
            let none = rustix::process::Rlimit { current: Some(0), maximum: Some(0) };
            rustix::process::setrlimit(rustix::process::Resource::Core, none).expect("less is allowed");
            let (base, _file) = shrunk(4);
            let _guard = guard(base as usize, 2 * 4096).expect("the table has room");
            // SAFETY: within the mapping; what becomes of the fault is what is tested.
            unsafe { base.add(2 * 4096).read_volatile() };
            return;
        }
        let program = std::env::current_exe().expect("the test is a program");
        let name =
            "engine::sigbus::tests::a_load_just_behind_a_range_ends_the_process_as_if_nobody_had_a_handler";
        let ended = std::process::Command::new(program).args(["--exact", name]).env(FAULTS, "").output();
        assert_eq!(ended.expect("it is a program").status.signal(), Some(libc::SIGBUS));
    }

    #[test]
    fn a_page_that_the_kernel_does_not_give_is_not_taken_for_one() {
        // Beyond what a process may map.
        assert!(!replace_page(usize::MAX & !4095, 4096));
    }
}
