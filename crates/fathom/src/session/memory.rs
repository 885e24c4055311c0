//! What the allocator does with memory that a simulation gives back.

/// Memory that is freed stays with the program, up to a limit that no study of designs comes near.
///
/// A simulation takes some megabytes for its caches and tables and gives them back at its end; left to itself, glibc returns
/// them to the kernel, which hands every page of the next simulation out anew and zeroed: a quarter of the time of
/// `fathom explore`. Elsewhere than under glibc nothing is changed.
pub fn keep_what_is_freed() {
    #[cfg(target_env = "gnu")]
    {
        /// The largest size that is taken from the heap: glibc accepts no more (mallopt(3), `DEFAULT_MMAP_THRESHOLD_MAX`).
        const FROM_THE_HEAP: libc::c_int = 32 << 20;
        /// The free memory at the end of the heap that is kept.
        const KEPT: libc::c_int = 1 << 30;
        for (parameter, bytes) in [(libc::M_MMAP_THRESHOLD, FROM_THE_HEAP), (libc::M_TRIM_THRESHOLD, KEPT)] {
            // SAFETY: two integers, before another thread has begun; an unknown parameter is refused and changes nothing.
            let is_taken = unsafe { libc::mallopt(parameter, bytes) };
            debug_assert_eq!(is_taken, 1, "glibc knows parameter {parameter}");
        }
    }
}
