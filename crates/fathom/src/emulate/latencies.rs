//! Writes IOzone's offset and latency files while its passes go on.

use std::sync::{Arc, Mutex, PoisonError};

use conduct::Listener;
use formats::iozone;
use host::monitor::{CpuTime, process_cpu};
use units::Instant;
use workload::Logged;
use workload::plan::Load;
use workload::spec::Workload;

use super::log_files::LogFiles;

/// The files, shared between whoever hears which pass begins and whoever hears its requests.
#[derive(Clone, Debug)]
pub struct Latencies(Arc<Mutex<Open>>);

#[derive(Debug)]
struct Open {
    /// Of the pass that goes on; none where IOzone writes none.
    current: Option<&'static str>,
    files: LogFiles,
    began: Option<(Instant, CpuTime)>,
    /// Whether the program's processor time is that of requests, not of a simulation.
    is_real: bool,
}

impl Latencies {
    /// None are open yet; `is_real` on real storage.
    pub fn new(is_real: bool) -> Latencies {
        let files = LogFiles::added_to(iozone::LATENCY_HEAD);
        Latencies(Arc::new(Mutex::new(Open { current: None, files, began: None, is_real })))
    }

    /// A phase of that name begins.
    pub fn begin(&self, phase: &str) {
        self.with(|open| open.current = iozone::latency_file(phase));
    }

    /// Gives the files their names; what went wrong, if anything did.
    pub fn finish(&self) -> Option<String> {
        self.with(|open| open.files.finish())
    }

    fn with<T>(&self, act: impl FnOnce(&mut Open) -> T) -> T {
        act(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Open {
    fn add(&mut self, text: &str) {
        if let Some(name) = self.current {
            self.files.add(name, text.as_bytes());
        }
    }
}

impl Listener for Latencies {
    fn wants(&self, _: &Workload) -> bool {
        self.with(|open| open.current.is_some())
    }

    fn begin(&mut self, _: &Load, _: &[Vec<String>], at: Instant) {
        self.with(|open| open.began = Some((at, process_cpu())));
    }

    fn hear(&mut self, _: usize, requests: &[Logged]) {
        let mut text = String::new();
        for request in requests.iter().filter(|request| request.len > 0) {
            let (at, size) = (request.offset.get(), request.len.into());
            iozone::latency_line(at, request.service().get(), size, &mut text);
        }
        self.with(|open| open.add(&text));
    }

    fn end(&mut self, at: Instant) {
        self.with(|open| {
            let Some((from, before)) = open.began.take() else { return };
            let spent = if open.is_real { process_cpu().since(before) } else { CpuTime::default() };
            debug_assert!(from <= at, "a pass ends after its beginning");
            let (system, user) = (spent.system.as_secs_f64(), spent.user.as_secs_f64());
            open.add(&iozone::latency_times(system, user, at.saturating_since(from).as_secs_f64()));
        });
    }
}
