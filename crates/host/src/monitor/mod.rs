//! What happens beside the load: processors, devices, network, memory, pressure, heat, as series on the run's clock.
//!
//! **Invariant:** one thread of its own samples everything, so all series share their instants; the load's threads
//! are never asked for anything.
//! **Invariant:** what cannot be read is named with its reason; it is never a series of zeros.

mod cpu;
mod disk;
mod heat;
mod memory;
mod network;
mod nfs;
mod pressure;
mod quota;
mod series;

use std::io;
use std::path::PathBuf;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use units::{Instant, Nanos};

use crate::sysroot::{DevNo, SysRoot};
use crate::target::Facts;
use crate::target::remote::interfaces_to;
use crate::topology::with_lower;
use crate::unwinding::whole;

pub use cpu::{CpuTime, process_cpu, thread_cpu, thread_id, thread_time};
pub use disk::DeviceCounters;
pub(crate) use memory::value as memory_line;
pub use series::{Absent, Series};
use series::{Sampler, Sink};

/// The run's clock.
pub type Now = Arc<dyn Fn() -> Instant + Send + Sync>;

/// What to watch, and how often.
#[derive(Clone, Debug)]
pub struct Spec {
    /// From one sample to the next; at least [`LEAST_INTERVAL`].
    pub interval: Nanos,
    /// The target's devices, those beneath and those above: see `Facts::devnos`.
    pub devices: Vec<DevNo>,
    /// The network interfaces to a remote target: see `remote::interfaces_to`.
    pub interfaces: Vec<String>,
    /// Where NFS is mounted, of the targets that lie there.
    pub nfs: Vec<PathBuf>,
}

impl Spec {
    /// What lies beneath the targets: their devices, those beneath them, and the interfaces to remote ones.
    pub fn beneath(root: &SysRoot, targets: &[Facts], interval: Nanos) -> Spec {
        let mut spec = Spec { interval, ..Spec::default() };
        for facts in targets {
            spec.devices.extend(facts.devnos());
            if let Some(remote) = &facts.remote {
                let interfaces = interfaces_to(root, remote.address.as_deref());
                spec.interfaces.extend(interfaces.iter().flat_map(|name| with_lower(root, name)));
            }
            let nfs = facts.mount.as_ref().filter(|mount| mount.fs_type.starts_with("nfs"));
            spec.nfs.extend(nfs.map(|mount| mount.point.clone()));
        }
        sorted(&mut spec.devices);
        sorted(&mut spec.interfaces);
        sorted(&mut spec.nfs);
        spec
    }
}

/// Puts them in order, each once.
fn sorted<T: Ord>(all: &mut Vec<T>) {
    all.sort_unstable();
    all.dedup();
}

impl Default for Spec {
    /// Once a second, no device, no interface, no mount.
    fn default() -> Spec {
        Spec { interval: Nanos::from_secs(1), devices: Vec::new(), interfaces: Vec::new(), nfs: Vec::new() }
    }
}

/// The shortest interval. The kernel counts processor time in ticks of 10 ms: below this the shares would be noise.
pub const LEAST_INTERVAL: Nanos = Nanos::from_millis(100);

/// All that was seen.
#[derive(Clone, Debug, Default)]
pub struct Observations {
    /// One for each thing that could be read, in a fixed order.
    pub series: Vec<Series>,
    /// What could not.
    pub absent: Vec<Absent>,
    /// Processor time the watching itself took.
    pub cost: Nanos,
}

/// Watches from [`Monitor::start`] to [`Monitor::stop`]; dropping it stops it too.
#[derive(Debug)]
pub struct Monitor {
    commands: Option<mpsc::Sender<MonitorCommand>>,
    thread: Option<JoinHandle<Nanos>>,
    sink: Arc<Mutex<Sink>>,
}

enum MonitorCommand {
    Watch { thread: u32, label: String },
}

impl Monitor {
    /// Starts watching. The first points follow one interval later: most are differences.
    ///
    /// Fails only where the system gives no thread.
    pub fn start(root: &SysRoot, spec: &Spec, now: Now) -> io::Result<Monitor> {
        let sink = Arc::new(Mutex::new(Sink::default()));
        let (commands, receiver) = mpsc::channel();
        let mut watch = MonitorThread::new(root, spec, now, Arc::clone(&sink));
        let thread = std::thread::Builder::new().name("fathom-monitor".into()).spawn(move || {
            watch.run(&receiver);
            cpu::thread_time()
        })?;
        Ok(Monitor { commands: Some(commands), thread: Some(thread), sink })
    }

    /// Watches one more thread of this process from now on: its id as [`thread_id`] gives it, and a label such as
    /// `worker 3`.
    pub fn watch_thread(&self, thread: u32, label: &str) {
        if let Some(commands) = &self.commands {
            // The watcher ends only when this sender is dropped, so there is somebody to receive.
            let _ = commands.send(MonitorCommand::Watch { thread, label: label.into() });
        }
    }

    /// The last value of every series so far, by name, for a progress line.
    pub fn latest(&self) -> Vec<(String, f64)> {
        let sink = whole(self.sink.lock());
        let last = |series: &Series| Some((series.name.clone(), series.points.last()?.1));
        sink.series.iter().filter_map(last).collect()
    }

    /// Takes a last sample and hands over everything.
    pub fn stop(mut self) -> Observations {
        let cost = self.end();
        let sink = std::mem::take(&mut *whole(self.sink.lock()));
        Observations { series: sink.series, absent: sink.absent, cost }
    }

    fn end(&mut self) -> Nanos {
        self.commands = None;
        self.thread.take().and_then(|thread| thread.join().ok()).unwrap_or_default()
    }
}

impl Drop for Monitor {
    fn drop(&mut self) {
        self.end();
    }
}

struct MonitorThread {
    root: SysRoot,
    interval: Nanos,
    now: Now,
    sink: Arc<Mutex<Sink>>,
    samplers: Vec<Box<dyn Sampler + Send>>,
}

impl MonitorThread {
    fn new(root: &SysRoot, spec: &Spec, now: Now, sink: Arc<Mutex<Sink>>) -> MonitorThread {
        let mut out = whole(sink.lock());
        let samplers: Vec<Option<Box<dyn Sampler + Send>>> = vec![
            cpu::Machine::start(root, &mut out).map(boxed),
            disk::Disks::start(root, &spec.devices, &mut out).map(boxed),
            network::Interfaces::start(root, &spec.interfaces, &mut out).map(boxed),
            nfs::Nfs::start(root, &spec.nfs, &mut out).map(boxed),
            memory::Memory::start(root, &mut out).map(boxed),
            pressure::Pressure::start(root, &mut out).map(boxed),
            quota::Quota::start(root, &mut out).map(boxed),
            heat::Heat::start(root, &spec.devices, &mut out).map(boxed),
        ];
        drop(out);
        let samplers = samplers.into_iter().flatten().collect();
        MonitorThread { root: root.clone(), interval: spec.interval.max(LEAST_INTERVAL), now, sink, samplers }
    }

    /// Samples on a fixed grid; a sample that comes late does not shift the ones after it.
    fn run(&mut self, commands: &mpsc::Receiver<MonitorCommand>) {
        assert!(self.interval >= LEAST_INTERVAL, "samples must be apart, or their grid has no next place");
        let mut due = (self.now)();
        self.sample();
        due = due.saturating_add(self.interval);
        loop {
            let wait = due.saturating_since((self.now)());
            match commands.recv_timeout(std::time::Duration::from_nanos(wait.get())) {
                Ok(MonitorCommand::Watch { thread, label }) => self.watch(thread, &label),
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => {
                    self.sample();
                    let now = (self.now)();
                    while due <= now {
                        due = due.saturating_add(self.interval);
                    }
                }
            }
        }
        self.sample();
    }

    fn sample(&mut self) {
        let now = (self.now)();
        let mut sink = whole(self.sink.lock());
        self.samplers.iter_mut().for_each(|sampler| sampler.sample(now, &mut sink));
    }

    fn watch(&mut self, thread: u32, label: &str) {
        let mut sink = whole(self.sink.lock());
        if let Some(mut sampler) = cpu::Thread::start(&self.root, thread, label, &mut sink) {
            sampler.sample((self.now)(), &mut sink);
            self.samplers.push(Box::new(sampler));
        }
    }
}

fn boxed<S: Sampler + Send + 'static>(sampler: S) -> Box<dyn Sampler + Send> {
    Box::new(sampler)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::*;
    use crate::fixture::Fixture;
    use crate::target::{Target, TargetKind};

    #[test]
    fn every_series_of_this_machine_lies_on_one_grid_within_the_run() {
        let start = std::sync::OnceLock::new();
        // The crate's clock is the driver's; a test of the thread needs a real one of its own.
        #[expect(clippy::disallowed_methods)]
        let now: Now = Arc::new(move || {
            let start = start.get_or_init(std::time::Instant::now);
            Instant::from_nanos(
                u64::try_from(start.elapsed().as_nanos()).expect("the test is shorter than centuries"),
            )
        });
        let spec = Spec { interval: LEAST_INTERVAL, ..Spec::default() };
        let monitor = Monitor::start(&SysRoot::real(), &spec, Arc::clone(&now)).expect("there is a thread");
        monitor.watch_thread(thread_id(), "test");
        // Busy, so that there is something to see.
        while now() < Instant::from_nanos(350_000_000) {}
        let latest = monitor.latest();
        let seen = monitor.stop();
        let named = |name: &str| seen.series.iter().find(|series| series.name == name);
        let busy = named("cpu.user").expect("there is /proc/stat");
        // Three on a quiet machine; late samples are left out, and the last comes with the end.
        assert!((1..=5).contains(&busy.points.len()), "{:?}", busy.points);
        assert!(busy.points.windows(2).all(|pair| pair[0].0 < pair[1].0));
        let thread = named("thread.test.cpu").expect("there is schedstat");
        assert!(thread.points.iter().all(|(_, share)| (0.0..=1.2).contains(share)), "{:?}", thread.points);
        assert!(thread.points.iter().any(|(_, share)| *share > 0.0), "{:?}", thread.points);
        assert!(latest.iter().any(|(name, _)| name == "cpu.user"));
        assert!(seen.cost > Nanos::ZERO && seen.cost < Nanos::from_millis(200), "{}", seen.cost);
    }

    #[test]
    fn what_lies_beneath_two_partitions_of_a_disk_is_watched_once() {
        let machine = Fixture::new();
        machine.disk("sda", "8:0", 4096);
        let parts = [("sda1", "8:1", 1), ("sda2", "8:2", 2)].map(|(name, devno, number)| {
            let devno = machine.partition("sda", name, devno, number);
            let place = TargetKind::Block { node: machine.node(name), devno };
            let target = Target { name: name.into(), kind: place };
            Facts::read(&machine.root(), &target).expect("the fixture has it")
        });
        let spec = Spec::beneath(&machine.root(), &parts, LEAST_INTERVAL);
        let devices: Vec<String> = spec.devices.iter().map(DevNo::to_string).collect();
        assert_eq!(devices, ["8:0", "8:1", "8:2"]);
        assert!(spec.interfaces.is_empty());
    }

    #[test]
    fn a_machine_that_tells_nothing_gives_reasons_instead_of_zeros() {
        let machine = Fixture::new();
        let ticks = Arc::new(AtomicU64::new(0));
        let now: Now = Arc::new(move || Instant::from_nanos(ticks.fetch_add(1_000_000, Ordering::Relaxed)));
        let spec = Spec {
            interfaces: vec!["eth9".into()],
            devices: vec![DevNo { major: 8, minor: 0 }],
            ..Spec::default()
        };
        let monitor = Monitor::start(&machine.root(), &spec, now).expect("there is a thread");
        let seen = monitor.stop();
        assert!(seen.series.iter().all(|series| series.points.is_empty()));
        let absent: Vec<&str> = seen.absent.iter().map(|absent| absent.name.as_str()).collect();
        for name in [
            "cpu",
            "disk.8:0",
            "net.eth9",
            "memory",
            "pressure.cpu",
            "pressure.io",
            "pressure.memory",
            "cpu.frequency",
            "temperature",
        ] {
            assert!(absent.contains(&name), "{name} is not among {absent:?}");
        }
        assert!(seen.absent.iter().all(|absent| !absent.reason.is_empty()));
    }
}
