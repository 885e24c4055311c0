//! Who is told of each request of a load, one by one.

use std::fmt;

use units::Instant;
use workload::Logged;
use workload::plan::Load;
use workload::spec::Workload;

/// Told of each request. It is called beside the load, about once a second, and on real storage whenever many requests
/// wait.
pub trait Listener: fmt::Debug + Send {
    /// Whether it wants to hear of the requests of `workload`.
    fn wants(&self, workload: &Workload) -> bool;

    /// `load` begins at `at`; the names of the files or LUNs of each of its workloads, by their numbers.
    fn begin(&mut self, load: &Load, files: &[Vec<String>], at: Instant);

    /// Requests of one worker of the workload at that position, in the order in which they were asked.
    fn hear(&mut self, workload: usize, requests: &[Logged]);

    /// The load has ended at `at`, and everything was told.
    fn end(&mut self, at: Instant);
}

/// Whether somebody listens who wants to hear of `workload`.
pub fn wants(listener: &Option<Box<dyn Listener>>, workload: &Workload) -> bool {
    listener.as_ref().is_some_and(|listener| listener.wants(workload))
}

/// Tells requests, where there are any and somebody listens.
pub fn tell(listener: &mut Option<Box<dyn Listener>>, workload: usize, requests: &[Logged]) {
    if let (Some(listener), false) = (listener, requests.is_empty()) {
        listener.hear(workload, requests);
    }
}
