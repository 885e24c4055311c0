//! How a ring is made: with the flags that the kernel knows, and what is registered with it.

use std::io;

use io_uring::{Builder, IoUring, cqueue, squeue};
use units::Bytes;
use workload::{Errno, Outcome};

use super::UringOptions;
use crate::engine::choice::URING_DEPTH_MAX;
use crate::engine::{EngineError, Payload};

/// The kernel registers at most 1 GiB as one buffer (io_uring_register(2)).
const REGISTERED_MAX: Bytes = Bytes::GIB;

/// How long an idle SQPOLL thread spins before it sleeps.
const SQPOLL_IDLE_MS: u32 = 1000;

/// Why a device does not let itself be polled, if that is how the first polled request ended.
///
/// The kernel refuses such a request with EOPNOTSUPP, or EINVAL where it is not direct. Any other error is one of the
/// device, which the requests that follow will meet and count.
pub(super) fn polling_refused(probe: Outcome) -> Option<EngineError> {
    match probe.result() {
        Err(Errno(errno @ (libc::EOPNOTSUPP | libc::EINVAL))) => Some(EngineError::Feature {
            feature: "IOPOLL",
            remedy: "the device has no poll queues (nvme: load with poll_queues=N) or the file is not \
                     opened direct; leave `iopoll` off",
            source: io::Error::from_raw_os_error(errno),
        }),
        _ => None,
    }
}

/// A flag of a ring that makes it cheaper, and that older kernels do not know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Saving {
    SingleIssuer,
    DeferredTaskWork,
    CooperativeTaskWork,
    NoIndexArray,
}

impl Saving {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Saving::SingleIssuer => "single issuer",
            Saving::DeferredTaskWork => "deferred task work",
            Saving::CooperativeTaskWork => "cooperative task work",
            Saving::NoIndexArray => "no index array",
        }
    }

    pub(super) fn set<S: squeue::EntryMarker, C: cqueue::EntryMarker>(self, builder: &mut Builder<S, C>) {
        match self {
            Saving::SingleIssuer => builder.setup_single_issuer(),
            Saving::DeferredTaskWork => builder.setup_defer_taskrun(),
            Saving::CooperativeTaskWork => builder.setup_coop_taskrun(),
            Saving::NoIndexArray => builder.setup_no_sqarray(),
        };
    }
}

/// Tries the best set of flags first and drops what an older kernel does not know.
pub(super) fn build<S: squeue::EntryMarker, C: cqueue::EntryMarker>(
    depth: u32,
    options: UringOptions,
) -> Result<(IoUring<S, C>, Vec<String>), EngineError> {
    use Saving::{CooperativeTaskWork, DeferredTaskWork, NoIndexArray, SingleIssuer};
    assert!(depth <= URING_DEPTH_MAX, "`choose` refuses more");
    assert!(depth > 0, "a ring must have an entry");
    let levels: &[&[Saving]] = if options.sqpoll {
        &[&[SingleIssuer, NoIndexArray], &[]]
    } else {
        &[
            &[SingleIssuer, DeferredTaskWork, NoIndexArray],
            &[SingleIssuer, DeferredTaskWork],
            &[CooperativeTaskWork],
            &[],
        ]
    };
    let (ring, level) = first_known(levels, |level| {
        let mut builder = IoUring::<S, C>::builder();
        level.iter().for_each(|saving| saving.set(&mut builder));
        if options.sqpoll {
            builder.setup_sqpoll(SQPOLL_IDLE_MS);
        }
        if options.iopoll {
            builder.setup_iopoll();
        }
        builder.build(depth.next_power_of_two())
    })
    .map_err(|source| refusal(options, source))?;
    assert!(ring.params().sq_entries() >= depth, "a ring must hold all that may be in flight");
    assert!(ring.params().cq_entries() >= depth, "a ring must hold the ends of all that may be in flight");
    let mut details: Vec<String> = level.iter().map(|saving| saving.name().into()).collect();
    details.extend(options.sqpoll.then(|| "SQPOLL".into()));
    details.extend(options.iopoll.then(|| "IOPOLL".into()));
    Ok((ring, details))
}

/// The first of the levels that can be built, and which that is. What a kernel does not know it refuses with EINVAL; any
/// other error is told at once.
pub(super) fn first_known<'a, T, L: ?Sized>(
    levels: &[&'a L],
    mut build: impl FnMut(&L) -> io::Result<T>,
) -> io::Result<(T, &'a L)> {
    assert!(!levels.is_empty(), "some set of flags must be tried");
    let mut refused = io::ErrorKind::InvalidInput.into();
    for level in levels {
        match build(level) {
            Ok(built) => return Ok((built, level)),
            Err(error) if error.raw_os_error() == Some(libc::EINVAL) => refused = error,
            Err(error) => return Err(error),
        }
    }
    Err(refused)
}

pub(super) fn refusal(options: UringOptions, source: io::Error) -> EngineError {
    match options {
        UringOptions { sqpoll: true, .. } => EngineError::Feature {
            feature: "SQPOLL",
            remedy: "it needs CAP_SYS_NICE before Linux 5.11; leave `sqpoll` off",
            source,
        },
        UringOptions { iopoll: true, .. } => {
            EngineError::Feature { feature: "IOPOLL", remedy: "leave `iopoll` off", source }
        }
        _ => EngineError::System { call: "io_uring_setup", source },
    }
}

/// Whether the kernel takes so much memory as one buffer.
pub(super) fn is_registrable(size: Bytes) -> bool {
    size <= REGISTERED_MAX
}

/// Pins the payload in the kernel. Not essential: without it each request pins its own pages.
pub(super) fn register_buffers<S: squeue::EntryMarker, C: cqueue::EntryMarker>(
    ring: &IoUring<S, C>,
    payload: &Payload,
    details: &mut Vec<String>,
) -> bool {
    if !is_registrable(payload.size()) {
        details.push("buffers not registered: above 1 GiB".into());
        return false;
    }
    let (base, len) = payload.whole();
    let whole = libc::iovec { iov_base: base.cast(), iov_len: len };
    // SAFETY: the payload outlives the ring's use of it: both are owned by `UringRing`, the ring dropped first, and
    // `LentPayload` keeps the memory while anything is in flight.
    match unsafe { ring.submitter().register_buffers(&[whole]) } {
        Ok(()) => {
            details.push("registered files and buffers".into());
            true
        }
        Err(error) => {
            details.push(format!("buffers not registered: {error} (raise `ulimit -l`)"));
            false
        }
    }
}
