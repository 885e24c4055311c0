//! Whether io_uring can be used here, and if not, what stands in the way.

use std::io;

use units::Bytes;

use crate::sysroot::{SysRoot, number, text};

/// What became of an attempt to set up a ring.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UringState {
    /// It can be used.
    Allowed {
        /// Whether the kernel runs completions in the thread that waits for them, which saves interrupts
        /// (`IORING_SETUP_SINGLE_ISSUER` and `IORING_SETUP_DEFER_TASKRUN`, Linux 6.1).
        deferred: bool,
    },
    /// It cannot.
    Refused {
        /// Why, and what would help.
        why: String,
    },
}

/// Tries to set up the smallest ring, and says what became of it.
pub fn uring(root: &SysRoot) -> UringState {
    match io_uring::IoUring::new(1) {
        Ok(_) => UringState::Allowed { deferred: deferred() },
        Err(error) => {
            let disabled = number(&root.proc.join("sys/kernel/io_uring_disabled"));
            let release = text(&root.proc.join("sys/kernel/osrelease")).unwrap_or_default();
            UringState::Refused { why: why(&error, disabled, &release, super::memlock()) }
        }
    }
}

fn deferred() -> bool {
    let mut plan: io_uring::Builder = io_uring::IoUring::builder();
    plan.setup_single_issuer().setup_defer_taskrun().build(1).is_ok()
}

/// Source: io_uring_setup(2), errors; `Documentation/admin-guide/sysctl/kernel.rst`, `io_uring_disabled`: 1 keeps it to
/// privileged processes and a group, 2 denies it to all.
fn why(error: &io::Error, disabled: Option<u64>, release: &str, memlock: Option<Bytes>) -> String {
    match (error.raw_os_error(), disabled) {
        (Some(libc::EPERM), Some(2)) => "switched off for everybody: sysctl kernel.io_uring_disabled is 2".into(),
        (Some(libc::EPERM), Some(1)) => {
            "switched off for processes without CAP_SYS_ADMIN: sysctl kernel.io_uring_disabled is 1 (or join the group \
             of kernel.io_uring_group)"
                .into()
        }
        (Some(libc::EPERM | libc::EACCES), _) => {
            "a sandbox forbids it (seccomp or a security module, as in many containers)".into()
        }
        (Some(libc::ENOSYS), _) if before_5_1(release) => format!("Linux {release} has none; it came with 5.1"),
        (Some(libc::ENOSYS), _) => {
            format!("Linux {release} was built without it, or a sandbox hides it (seccomp)")
        }
        (Some(libc::ENOMEM), _) => match memlock {
            Some(limit) => format!("no memory may be locked beyond {limit}; raise `ulimit -l`"),
            None => "the kernel has no memory for a ring".into(),
        },
        _ => format!("the kernel says: {error}"),
    }
}

fn before_5_1(release: &str) -> bool {
    let mut parts = release.split(|c: char| !c.is_ascii_digit()).map(|part| part.parse::<u32>().ok());
    match (parts.next().flatten(), parts.next().flatten()) {
        (Some(major), Some(minor)) => (major, minor) < (5, 1),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn because(errno: i32, disabled: Option<u64>, release: &str) -> String {
        why(&io::Error::from_raw_os_error(errno), disabled, release, Some(Bytes::KIB * 64))
    }

    #[test]
    fn each_refusal_names_what_stands_in_the_way() {
        assert!(because(libc::EPERM, Some(2), "6.6.1").contains("io_uring_disabled is 2"));
        assert!(because(libc::EPERM, Some(1), "6.6.1").contains("CAP_SYS_ADMIN"));
        assert!(because(libc::EPERM, Some(0), "6.6.1").contains("sandbox"));
        assert!(because(libc::ENOSYS, None, "4.19.0-6").contains("came with 5.1"));
        assert!(because(libc::ENOSYS, None, "5.10.0").contains("sandbox"));
        assert!(because(libc::ENOMEM, None, "5.10.0").contains("64 KiB"));
        assert!(because(libc::EMFILE, None, "5.10.0").contains("Too many open files"));
    }

    #[test]
    fn the_answer_agrees_with_an_attempt() {
        let allowed = io_uring::IoUring::new(1).is_ok();
        let state = uring(&SysRoot::real());
        assert_eq!(matches!(state, UringState::Allowed { .. }), allowed, "{state:?}");
    }
}
