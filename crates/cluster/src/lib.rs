//! One plan driven by many processes, which call each other ranks: rank 0 runs the plan in a [`Head`], which is a world,
//! and each of the others answers it with [`serve`]. What they say to each other goes over a [`Transport`].
//!
//! **Invariant:** a rank drives its share of the workers that one process would drive, with the same seeds and addresses,
//! and what comes back is merged as the workers of one process are. Nothing here opens a target.

mod clock;
mod error;
mod gate;
mod greeting;
mod head;
mod heard;
mod hosts;
mod lengths;
mod link;
mod merge;
mod message;
#[cfg(feature = "mpi")]
mod mpi;
mod peer;
mod transport;
mod wire;
mod work_items;

pub use clock::{ClockWatch, Sample};
pub use error::{ClusterError, Refused};
pub use head::{Head, again, over, refuse};
pub use link::{Link, parted};
pub use message::Hello;
#[cfg(feature = "mpi")]
pub use mpi::Mpi;
pub use peer::{Ended, Follows, decline, serve, what_follows};
pub use transport::{Threads, Transport};
pub use work_items::{Pieces, WorkItems, run_work_items};
