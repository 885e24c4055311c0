//! Which engine a worker gets, and why not another.

use workload::spec::{EngineKind, RequestFlags, Workload};

use super::EngineError;
use super::sync::Call;

/// Entries of the largest ring that the kernel makes (`IORING_MAX_ENTRIES`).
pub const URING_DEPTH_MAX: u32 = 32_768;

/// An engine decided upon.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum EngineChoice {
    /// A ring.
    Uring,
    /// One call at a time.
    Sync(Call),
    /// One call at a time on each of `depth` threads.
    Pool(Call),
    /// A mapping.
    Mmap,
    /// A buffer in user space before the kernel.
    Stdio,
    /// A socket to an NBD server.
    Nbd,
    /// A ring that NVMe commands go through.
    Nvme,
    /// Nothing.
    Null,
}

/// Decides for one worker of `workload`, and says why where it is not what would be best.
///
/// `refusal` is what [`crate::environment::uring`] found. At depth 1 a plain system call is cheaper than a ring: a
/// cached 4 KiB read takes about 40 ns less.
pub fn choose(
    workload: &Workload,
    refusal: Option<&str>,
) -> Result<(EngineChoice, Option<String>), EngineError> {
    assert!(workload.depth > 0, "a worker must have a slot");
    let one_at_a_time = workload.depth == 1;
    let calls = |call| if one_at_a_time { EngineChoice::Sync(call) } else { EngineChoice::Pool(call) };
    let has_priorities = !workload.engine.request_priority.0.is_empty();
    let needs_ring = workload.engine.sqpoll || workload.engine.iopoll || has_priorities;
    let flags = workload.engine.flags;
    let unfit = |engine, why: &str| Err(EngineError::Unfit { engine, why: why.into() });
    // A plain pread passes no flags.
    let pread = if flags == RequestFlags::NONE { Call::Pread } else { Call::Preadv2(flags) };
    Ok(match (workload.engine.kind, refusal) {
        (EngineKind::Null, _) => (EngineChoice::Null, None),
        (EngineKind::Pread, _) => (calls(pread), None),
        (EngineKind::Preadv2, _) => (calls(Call::Preadv2(flags)), None),
        (EngineKind::Fallocate, _) => (calls(Call::Fallocate), None),
        (EngineKind::Ftruncate, _) => (calls(Call::Ftruncate), None),
        (EngineKind::Splice, _) => (calls(Call::Splice), None),
        (EngineKind::Locked, _) => (calls(Call::Locked), None),
        (EngineKind::Sg, _) => (calls(Call::Scsi(workload.engine.commands)), None),
        (EngineKind::Mmap, _) if one_at_a_time => (EngineChoice::Mmap, None),
        (EngineKind::Mmap, _) => {
            return unfit(
                "mmap",
                "loads and stores wait for each page: set `depth = 1` and use more workers",
            );
        }
        (EngineKind::Stdio, _) if one_at_a_time => (EngineChoice::Stdio, None),
        (EngineKind::Stdio, _) => {
            return unfit("stdio", "each call waits for its end: set `depth = 1` and use more workers");
        }
        (EngineKind::Auto, _) if one_at_a_time && !needs_ring => (EngineChoice::Sync(pread), None),
        (EngineKind::Auto | EngineKind::IoUring | EngineKind::Nvme, None)
            if workload.depth > URING_DEPTH_MAX =>
        {
            let why = format!(
                "a ring holds {URING_DEPTH_MAX} requests, not {}: write `depth = {URING_DEPTH_MAX}` and use more workers",
                workload.depth
            );
            return unfit("io_uring", &why);
        }
        (EngineKind::Auto | EngineKind::IoUring, None) => (EngineChoice::Uring, None),
        (EngineKind::Nvme, None) => (EngineChoice::Nvme, None),
        (EngineKind::Auto, Some(reason)) if !needs_ring => {
            let fallback =
                format!("io_uring was refused: {reason}; a thread for each request in flight instead");
            (EngineChoice::Pool(pread), Some(fallback))
        }
        (EngineKind::Auto | EngineKind::IoUring | EngineKind::Nvme, Some(reason)) => {
            return Err(EngineError::NoUring { reason: reason.into() });
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;
    use workload::spec::Commands;

    const ATOMIC: RequestFlags = RequestFlags { atomic: true, ..RequestFlags::NONE };

    fn workload(keys: &str) -> Workload {
        fixture::workload(&format!("size = '4KiB'\n{keys}"))
    }

    #[test]
    fn one_request_at_a_time_needs_no_ring() {
        let (chosen, fallback) = choose(&workload("depth = 1"), None).unwrap();
        assert_eq!((chosen, fallback), (EngineChoice::Sync(Call::Pread), None));
        assert_eq!(choose(&workload("depth = 2"), None).unwrap().0, EngineChoice::Uring);
    }

    #[test]
    fn more_requests_than_a_ring_holds_are_refused_with_what_to_do() {
        assert_eq!(choose(&workload("depth = 32768"), None).unwrap().0, EngineChoice::Uring);
        for keys in ["depth = 32769", "depth = 65536\nengine = 'io_uring'"] {
            let error = choose(&workload(keys), None).unwrap_err().to_string();
            assert!(error.contains("depth = 32768") && error.contains("more workers"), "{error}");
        }
    }

    #[test]
    fn what_is_asked_for_by_name_is_taken() {
        for (keys, expected) in [
            ("depth = 1\nengine = 'null'", EngineChoice::Null),
            ("depth = 1\nengine = 'pread'", EngineChoice::Sync(Call::Pread)),
            ("depth = 2\nengine = 'pread'", EngineChoice::Pool(Call::Pread)),
            ("depth = 1\nengine = 'preadv2'", EngineChoice::Sync(Call::Preadv2(RequestFlags::NONE))),
            ("depth = 2\nengine = 'preadv2'", EngineChoice::Pool(Call::Preadv2(RequestFlags::NONE))),
            ("depth = 1\nreads = '0%'\natomic = true", EngineChoice::Sync(Call::Preadv2(ATOMIC))),
            ("depth = 1\nrequest_priority = '20% be/0'", EngineChoice::Uring),
            ("depth = 1\nreads = '0%'\nengine = 'fallocate'", EngineChoice::Sync(Call::Fallocate)),
            ("depth = 1\nreads = '0%'\nengine = 'ftruncate'", EngineChoice::Sync(Call::Ftruncate)),
            ("depth = 1\nengine = 'splice'", EngineChoice::Sync(Call::Splice)),
            ("depth = 1\nengine = 'locked'", EngineChoice::Sync(Call::Locked)),
            ("depth = 2\nengine = 'locked'", EngineChoice::Pool(Call::Locked)),
            ("depth = 1\nengine = 'sg'", EngineChoice::Sync(Call::Scsi(Commands::default()))),
            ("depth = 2\nengine = 'sg'", EngineChoice::Pool(Call::Scsi(Commands::default()))),
            ("depth = 1\nengine = 'nvme'", EngineChoice::Nvme),
            ("depth = 1\nengine = 'mmap'\ndirect = false", EngineChoice::Mmap),
            ("depth = 1\nengine = 'stdio'\ndirect = false", EngineChoice::Stdio),
            ("depth = 1\nengine = 'io_uring'", EngineChoice::Uring),
            // What only a ring can do is asked of one at any depth.
            ("depth = 1\nsqpoll = true", EngineChoice::Uring),
            ("depth = 1\niopoll = true", EngineChoice::Uring),
        ] {
            let (chosen, fallback) = choose(&workload(keys), None).unwrap();
            assert_eq!((chosen, fallback), (expected, None), "{keys}");
        }
        for keys in ["depth = 1\nengine = 'null'", "depth = 8\nengine = 'pread'", "depth = 1"] {
            assert_eq!(choose(&workload(keys), Some("refused")).unwrap().1, None, "{keys}");
        }
        assert!(choose(&workload("depth = 1\niopoll = true"), Some("refused")).is_err());
        assert!(choose(&workload("depth = 1\nengine = 'nvme'"), Some("refused")).is_err());
    }

    #[test]
    fn a_refused_ring_is_replaced_by_threads_and_the_reason_is_kept() {
        let (chosen, fallback) = choose(&workload("depth = 8"), Some("a sandbox forbids it")).unwrap();
        assert_eq!(chosen, EngineChoice::Pool(Call::Pread));
        assert!(fallback.unwrap().contains("a sandbox forbids it"));
    }

    #[test]
    fn what_only_a_ring_can_do_is_refused_without_one() {
        for keys in ["depth = 8\nengine = 'io_uring'", "depth = 8\nsqpoll = true"] {
            let error = choose(&workload(keys), Some("no locked memory")).unwrap_err().to_string();
            assert!(error.contains("no locked memory") && error.contains("engine = \"auto\""), "{error}");
        }
    }

    #[test]
    fn a_mapping_and_a_buffer_in_user_space_serve_one_request_at_a_time() {
        for (engine, chosen) in [("mmap", EngineChoice::Mmap), ("stdio", EngineChoice::Stdio)] {
            let mut one = workload(&format!("depth = 1\nengine = '{engine}'\ndirect = false"));
            assert_eq!(choose(&one, None).unwrap().0, chosen);
            one.depth = 4;
            assert!(choose(&one, None).unwrap_err().to_string().contains("depth = 1"));
        }
    }
}
