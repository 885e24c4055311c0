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

/// Two that listen to the same load.
#[derive(Debug)]
struct Both([Box<dyn Listener>; 2]);

impl Listener for Both {
    fn wants(&self, workload: &Workload) -> bool {
        self.0.iter().any(|one| one.wants(workload))
    }

    fn begin(&mut self, load: &Load, files: &[Vec<String>], at: Instant) {
        self.0.iter_mut().for_each(|one| one.begin(load, files, at));
    }

    fn hear(&mut self, workload: usize, requests: &[Logged]) {
        self.0.iter_mut().for_each(|one| one.hear(workload, requests));
    }

    fn end(&mut self, at: Instant) {
        self.0.iter_mut().for_each(|one| one.end(at));
    }
}

/// `more` beside whoever listens already.
pub fn join(listener: Option<Box<dyn Listener>>, more: Box<dyn Listener>) -> Box<dyn Listener> {
    match listener {
        None => more,
        Some(first) => Box::new(Both([first, more])),
    }
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
