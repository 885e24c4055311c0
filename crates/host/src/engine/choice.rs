//! Which engine a worker gets, and why not another.

use workload::spec::{EngineKind, Workload};

use super::EngineError;
use super::sync::Call;

/// An engine decided upon.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Chosen {
    /// A ring.
    Uring,
    /// One call at a time.
    Sync(Call),
    /// One call at a time on each of `depth` threads.
    Pool(Call),
    /// A mapping.
    Mmap,
    /// Nothing.
    Null,
}

impl Chosen {
    /// The name used in records.
    pub const fn name(self) -> &'static str {
        match self {
            Chosen::Uring => "io_uring",
            Chosen::Sync(Call::Pread) => "pread",
            Chosen::Sync(Call::Preadv2) => "preadv2",
            Chosen::Pool(Call::Pread) => "pread with threads",
            Chosen::Pool(Call::Preadv2) => "preadv2 with threads",
            Chosen::Mmap => "mmap",
            Chosen::Null => "null",
        }
    }
}

/// Decides for one worker of `workload`, and says why where it is not what would be best.
///
/// `refusal` is what [`crate::environment::uring`] found. At depth 1 a plain system call is cheaper than a ring: a cached
/// 4 KiB read takes about 40 ns less.
pub fn choose(workload: &Workload, refusal: Option<&str>) -> Result<(Chosen, Option<String>), EngineError> {
    let one_at_a_time = workload.depth == 1;
    let calls = |call| if one_at_a_time { Chosen::Sync(call) } else { Chosen::Pool(call) };
    let needs_ring = workload.engine.sqpoll || workload.engine.iopoll;
    Ok(match (workload.engine.kind, refusal) {
        (EngineKind::Null, _) => (Chosen::Null, None),
        (EngineKind::Pread, _) => (calls(Call::Pread), None),
        (EngineKind::Preadv2, _) => (calls(Call::Preadv2), None),
        (EngineKind::Mmap, _) if one_at_a_time => (Chosen::Mmap, None),
        (EngineKind::Mmap, _) => {
            let why = "loads and stores wait for each page: set `depth = 1` and use more workers".into();
            return Err(EngineError::Unfit { engine: "mmap", why });
        }
        (EngineKind::Auto, _) if one_at_a_time && !needs_ring => (Chosen::Sync(Call::Pread), None),
        (EngineKind::Auto | EngineKind::IoUring, None) => (Chosen::Uring, None),
        (EngineKind::Auto, Some(reason)) if !needs_ring => {
            let fallback =
                format!("io_uring was refused: {reason}; a thread for each request in flight instead");
            (Chosen::Pool(Call::Pread), Some(fallback))
        }
        (EngineKind::Auto | EngineKind::IoUring, Some(reason)) => {
            return Err(EngineError::NoUring { reason: reason.into() });
        }
    })
}
