//! Processors: the machine's, a thread's, and this process's.

use std::fs;
use std::ops::Add;
use std::path::PathBuf;

use units::convert::narrow;
use units::{Instant, Nanos};

use super::series::{Last, Sampler, Sink, Slot, grown};
use crate::sysroot::SysRoot;

/// Processor time taken, and what the kernel counted meanwhile.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CpuTime {
    /// In programs.
    pub user: Nanos,
    /// In the kernel on their behalf.
    pub system: Nanos,
    /// Times a thread gave the processor up or was made to.
    pub context_switches: u64,
    /// Page faults that waited for a device.
    pub major_faults: u64,
    /// Page faults that did not.
    pub minor_faults: u64,
    /// What of `user` went into the content of writes, by a sample; of a whole process it is not known, and 0.
    pub content: Nanos,
}

impl Add for CpuTime {
    type Output = CpuTime;

    fn add(self, other: CpuTime) -> CpuTime {
        self.with(other, u64::saturating_add)
    }
}

impl CpuTime {
    /// Each figure of this one and of `other` made one.
    fn with(self, other: CpuTime, one: fn(u64, u64) -> u64) -> CpuTime {
        let (these, others) = (self.figures(), other.figures());
        CpuTime::of_figures(std::array::from_fn(|figure| one(these[figure], others[figure])))
    }

    /// All figures in the order of the fields, times in nanoseconds.
    pub(crate) fn figures(self) -> [u64; 6] {
        [
            self.user.get(),
            self.system.get(),
            self.context_switches,
            self.major_faults,
            self.minor_faults,
            self.content.get(),
        ]
    }

    /// The opposite of [`figures`](CpuTime::figures).
    pub(crate) fn of_figures([user, system, switches, major, minor, content]: [u64; 6]) -> CpuTime {
        CpuTime {
            user: Nanos::new(user),
            system: Nanos::new(system),
            context_switches: switches,
            major_faults: major,
            minor_faults: minor,
            content: Nanos::new(content),
        }
    }

    /// User and system time together.
    pub fn total(self) -> Nanos {
        Nanos::new(self.user.get().saturating_add(self.system.get()))
    }

    /// What was taken since `before`.
    pub fn since(self, before: CpuTime) -> CpuTime {
        self.with(before, u64::saturating_sub)
    }
}

/// What this process has taken so far, all threads, those that have ended too.
///
/// Kernel threads that work for it (io_uring's polling thread excepted, which belongs to the process) are not in it.
/// Source: getrusage(2), `RUSAGE_SELF`.
pub fn process_cpu() -> CpuTime {
    usage_of(libc::RUSAGE_SELF)
}

/// What the calling thread has taken so far. Source: getrusage(2), `RUSAGE_THREAD`.
pub fn thread_cpu() -> CpuTime {
    CpuTime { content: crate::content::time_spent(), ..usage_of(libc::RUSAGE_THREAD) }
}

fn usage_of(who: libc::c_int) -> CpuTime {
    let mut usage = std::mem::MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: the pointer is to a `rusage` of our own, and all zeros is a valid one should the call fail.
    let usage = unsafe {
        libc::getrusage(who, usage.as_mut_ptr());
        usage.assume_init()
    };
    let nanos = |time: libc::timeval| {
        Nanos::new(narrow::<u64>(time.tv_sec) * 1_000_000_000 + narrow::<u64>(time.tv_usec) * 1000)
    };
    CpuTime {
        user: nanos(usage.ru_utime),
        system: nanos(usage.ru_stime),
        context_switches: narrow::<u64>(usage.ru_nvcsw).saturating_add(narrow(usage.ru_nivcsw)),
        major_faults: narrow(usage.ru_majflt),
        minor_faults: narrow(usage.ru_minflt),
        content: Nanos::ZERO,
    }
}

/// The calling thread's id, as `/proc/self/task` lists it.
pub fn thread_id() -> u32 {
    rustix::thread::gettid().as_raw_nonzero().get().unsigned_abs()
}

/// Processor time of the calling thread.
pub fn thread_time() -> Nanos {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Nanos::new(time.tv_sec.unsigned_abs() * 1_000_000_000 + time.tv_nsec.unsigned_abs())
}

/// States of `/proc/stat` in its order, the two of interrupts taken together with `irq`.
const STATES: [(&str, &[usize]); 6] = [
    ("user", &[0, 1]),
    ("system", &[2]),
    ("idle", &[3]),
    ("iowait", &[4]),
    ("irq", &[5, 6]),
    ("steal", &[7]),
];

/// On larger machines single processors are not kept: a minute of 128 of them is 23,000 figures.
const MOST_APART: usize = 64;

/// What is kept of each processor, of [`STATES`].
const APART: [usize; 3] = [0, 1, 4];

/// Shares of the machine's processor time by state, how busy the busiest processor is, and the shares of each of them.
pub(super) struct Machine {
    path: PathBuf,
    slots: Vec<Slot>,
    busiest: Slot,
    /// Of each processor, in the order of its lines.
    each: Vec<[Slot; APART.len()]>,
    last: Last<Vec<Ticks>>,
}

/// Ticks by state; guest time is left out, since it is counted in user time (`Documentation/filesystems/proc.rst`,
/// 1.7).
type Ticks = [u64; 8];

impl Machine {
    pub(super) fn start(root: &SysRoot, out: &mut Sink) -> Option<Machine> {
        let path = root.proc.join("stat");
        let processors = ticks(&fs::read_to_string(&path).unwrap_or_default()).len();
        if processors == 0 {
            out.miss("cpu", "/proc/stat cannot be read");
            return None;
        }
        let slots =
            STATES.iter().map(|(name, _)| out.open(format!("cpu.{name}"), "share", "/proc/stat")).collect();
        let busiest = out.open("cpu.busiest", "share", "/proc/stat");
        let mut open = |number: usize| {
            APART.map(|state| out.open(format!("cpu.{number}.{}", STATES[state].0), "share", "/proc/stat"))
        };
        let count = processors - 1;
        let each = if count <= MOST_APART { (0..count).map(&mut open).collect() } else { Vec::new() };
        Some(Machine { path, slots, busiest, each, last: Last::default() })
    }
}

impl Sampler for Machine {
    fn sample(&mut self, now: Instant, out: &mut Sink) {
        let Ok(text) = fs::read_to_string(&self.path) else { return };
        let after = ticks(&text);
        if self.last.reading().is_some_and(|before| is_too_soon(before, &after)) {
            return;
        }
        let Some((before, _)) = self.last.replace(now, after.clone()) else { return };
        let Some(shares) =
            before.first().zip(after.first()).and_then(|(before, after)| shares(before, after))
        else {
            return;
        };
        for (slot, (_, states)) in self.slots.iter().zip(STATES) {
            out.push(*slot, now, states.iter().map(|state| shares[*state]).sum());
        }
        self.sample_each(&before, &after, now, out);
        let busy = before.iter().zip(&after).skip(1).filter_map(|(before, after)| shares_busy(before, after));
        if let Some(busiest) = busy.reduce(f64::max) {
            out.push(self.busiest, now, busiest);
        }
    }
}

impl Machine {
    /// The shares of each processor whose ticks have grown.
    fn sample_each(&self, before: &[Ticks], after: &[Ticks], now: Instant, out: &mut Sink) {
        let lines = before.iter().zip(after).skip(1);
        for (slots, (before, after)) in self.each.iter().zip(lines) {
            let Some(shares) = shares(before, after) else { continue };
            for (slot, state) in slots.iter().zip(APART) {
                out.push(*slot, now, STATES[state].1.iter().map(|state| shares[*state]).sum());
            }
        }
    }
}

/// The line of all processors and then one for each.
fn ticks(text: &str) -> Vec<Ticks> {
    text.lines().take_while(|line| line.starts_with("cpu")).filter_map(line).collect()
}

fn line(text: &str) -> Option<Ticks> {
    let mut ticks = Ticks::default();
    let mut fields = text.split_whitespace().skip(1);
    for (at, tick) in ticks.iter_mut().enumerate() {
        *tick = match fields.next() {
            Some(field) => field.parse().ok()?,
            // Kernels before 2.6.11 stop after the fourth.
            None if at >= 4 => 0,
            None => return None,
        };
    }
    Some(ticks)
}

/// Fewer ticks of a processor tell its shares no better than to a fifth.
const FEWEST: u64 = 5;

/// Whether too little has passed for shares of it: the rest of a second at the end of a point, which would count as
/// much as a whole one in every mean.
fn is_too_soon(before: &[Ticks], after: &[Ticks]) -> bool {
    let all = |lines: &[Ticks]| lines.first().map_or(0, |line| line.iter().sum::<u64>());
    all(after).saturating_sub(all(before)) < FEWEST * (after.len() as u64).saturating_sub(1)
}

/// `None` where not one tick has passed. Idle and iowait of a processor may go back, which counts as none.
fn shares(before: &Ticks, after: &Ticks) -> Option<[f64; 8]> {
    let grown: [f64; 8] = std::array::from_fn(|state| grown(before[state], after[state]));
    let all: f64 = grown.iter().sum();
    let shares = grown.map(|ticks| ticks / all);
    debug_assert!(all == 0.0 || (shares.iter().sum::<f64>() - 1.0).abs() < 1e-9, "states make up the whole");
    (all > 0.0).then_some(shares)
}

fn shares_busy(before: &Ticks, after: &Ticks) -> Option<f64> {
    let shares = shares(before, after)?;
    Some((1.0 - shares[3] - shares[4]).max(0.0))
}

/// The share of one processor that a thread had, and that it wanted and waited for.
pub(super) struct Thread {
    path: PathBuf,
    ran: Slot,
    waited: Slot,
    last: Last<(u64, u64)>,
}

impl Thread {
    pub(super) fn start(root: &SysRoot, thread: u32, label: &str, out: &mut Sink) -> Option<Thread> {
        let path = root.proc.join("self/task").join(thread.to_string()).join("schedstat");
        if read_schedstat(&path).is_none() {
            out.miss(
                format!("thread.{label}"),
                "no schedstat: the thread has ended or the kernel does not count it",
            );
            return None;
        }
        let source = format!("/proc/self/task/{thread}/schedstat");
        let ran = out.open(format!("thread.{label}.cpu"), "share", &source);
        let waited = out.open(format!("thread.{label}.waiting"), "share", &source);
        Some(Thread { path, ran, waited, last: Last::default() })
    }
}

impl Sampler for Thread {
    fn sample(&mut self, now: Instant, out: &mut Sink) {
        let Some(after) = read_schedstat(&self.path) else { return };
        let Some((before, seconds)) = self.last.replace(now, after) else { return };
        out.push(self.ran, now, grown(before.0, after.0) / 1e9 / seconds);
        out.push(self.waited, now, grown(before.1, after.1) / 1e9 / seconds);
    }
}

/// Nanoseconds on a processor and in the run queue (`Documentation/scheduler/sched-stats.rst`).
fn read_schedstat(path: &std::path::Path) -> Option<(u64, u64)> {
    let text = fs::read_to_string(path).ok()?;
    let mut fields = text.split_whitespace();
    Some((fields.next()?.parse().ok()?, fields.next()?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Fixture;

    #[test]
    fn shares_of_the_states_add_up_to_one_and_guests_are_not_counted_twice() {
        let machine = Fixture::new();
        machine
            .write("proc/stat", "cpu 100 0 50 800 40 5 5 0 90 0\ncpu0 100 0 50 800 40 5 5 0 90 0\nintr 5\n");
        let mut out = Sink::default();
        let mut sampler = Machine::start(&machine.root(), &mut out).expect("there is a stat");
        sampler.sample(Instant::START, &mut out);
        machine.write(
            "proc/stat",
            "cpu 150 0 60 820 50 7 8 5 140 0\ncpu0 150 0 60 820 50 7 8 5 140 0\nintr 5\n",
        );
        sampler.sample(Instant::from_nanos(1_000_000_000), &mut out);
        let values: Vec<f64> = out.series.iter().map(|series| series.points[0].1).collect();
        // 50 + 10 + 20 + 10 + 2 + 3 + 5 = 100 ticks.
        let expected = [0.5, 0.1, 0.2, 0.1, 0.05, 0.05, 0.7];
        for (value, expected) in values.iter().zip(expected) {
            assert!((value - expected).abs() < 1e-9, "{values:?}");
        }
    }

    #[test]
    fn the_few_ticks_at_the_end_of_a_point_are_no_sample_of_their_own() {
        let machine = Fixture::new();
        let mut out = Sink::default();
        let lines =
            |busy: u64, idle: u64| format!("cpu {busy} 0 0 {idle} 0 0 0 0\ncpu0 {busy} 0 0 {idle} 0 0 0 0\n");
        machine.write("proc/stat", &lines(0, 0));
        let mut sampler = Machine::start(&machine.root(), &mut out).expect("there is a stat");
        for (millis, busy, idle) in [(0, 0, 0), (1000, 90, 10), (1030, 90, 13), (2000, 180, 20)] {
            machine.write("proc/stat", &lines(busy, idle));
            sampler.sample(Instant::from_nanos(millis * 1_000_000), &mut out);
        }
        let user: Vec<f64> = out.series[0].points.iter().map(|point| point.1).collect();
        assert_eq!(user, [0.9, 0.9]);
    }

    #[test]
    fn time_of_the_process_grows_with_work() {
        let before = process_cpu();
        let mut sum = 0u64;
        while process_cpu().since(before).total() < Nanos::from_millis(20) {
            sum = std::hint::black_box(sum.wrapping_add(1));
        }
        assert!(process_cpu().total() > before.total());
    }

    #[test]
    fn a_thread_that_is_gone_is_absent() {
        let machine = Fixture::new();
        let mut out = Sink::default();
        assert!(Thread::start(&machine.root(), 17, "worker 1", &mut out).is_none());
        assert_eq!(out.absent[0].name, "thread.worker 1");
    }
}
