//! The first signal ends the load and keeps what was measured; the second ends the program at once.
//!
//! SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGXFSZ and SIGPIPE are one to it: all end a run alike. Those that the kernel
//! sends for a write of this process's own are left to the error of that write, which says more.

use std::io::{self, Read};
use std::os::fd::IntoRawFd;
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use host::clock::Clock;
use libc::{SIGCHLD, SIGHUP, SIGINT, SIGPIPE, SIGQUIT, SIGTERM, SIGTSTP, SIGUSR1, SIGXFSZ};
use units::{Instant, Nanos};

use crate::ending::Failure;
use crate::session::{launched, restore};
use crate::terminal::{self, SignalHooks};

/// Signals that end a run.
const ENDING: [i32; 6] = [SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGXFSZ, SIGPIPE];

/// Signals that the guard passes on: those, and the one that asks dd how far it is.
const PASSED: [i32; 7] = [SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGXFSZ, SIGPIPE, SIGUSR1];
const _: () = {
    let mut at = 0;
    while at < ENDING.len() {
        assert!(PASSED[at] == ENDING[at], "a signal that ends a run does not reach it");
        at += 1;
    }
};

/// Set by the first signal.
static STOP: OnceLock<Arc<AtomicBool>> = OnceLock::new();
/// The first signal that came; 0 before.
static FIRST: AtomicI32 = AtomicI32::new(0);
/// How often each has come from anybody but the guard.
static OWN: [AtomicU32; PASSED.len()] = [const { AtomicU32::new(0) }; PASSED.len()];
/// How often the guard has passed one on. One that came to both counts once.
static PASSED_ON: AtomicU32 = AtomicU32::new(0);
/// The process that watches over this one; 0 where there is none.
static GUARD: AtomicI32 = AtomicI32::new(0);
/// This process.
static SELF: AtomicI32 = AtomicI32::new(0);
/// Whether whoever ends the guard asks for no more than its signal did.
static OUTLIVES: AtomicBool = AtomicBool::new(false);
/// Whether the guard is to stop.
static IS_ASKED_TO_STOP: AtomicBool = AtomicBool::new(false);
/// Where a byte is written for each signal; -1 before.
static BELL: AtomicI32 = AtomicI32::new(-1);
/// The other end.
static EAR: Mutex<Option<UnixStream>> = Mutex::new(None);
/// Whether somebody sees to it that the program ends after the first signal.
static IS_ATTENDED: AtomicBool = AtomicBool::new(false);

/// Whether the guard had gone when the first signal came: the kernel sends it then.
static WAS_BEREFT: AtomicBool = AtomicBool::new(false);

/// Signals that come within this time are one.
const AT_ONCE: Nanos = Nanos::from_millis(300);
/// After the second signal the program may still end by itself for so long.
const GRACE: Nanos = Nanos::from_millis(500);
/// Putting back may take so long then.
const PATIENCE: Duration = Duration::from_secs(1);

/// What signals have come to a run.
#[derive(Clone, Debug)]
pub struct Signals;

impl Signals {
    /// From now on whoever asks here sees to it that the program ends.
    pub fn listen() -> Result<Signals, Failure> {
        begin(None).map_err(Failure::system("listening for signals"))?;
        IS_ATTENDED.store(true, Ordering::Relaxed);
        Ok(Signals)
    }

    /// Set by the first signal.
    pub fn stop(&self) -> Arc<AtomicBool> {
        stop()
    }

    /// The exit code that belongs to the signal that came first: 130 for SIGINT. `None` where none came.
    pub fn exit_code(&self) -> Option<u8> {
        exit_code()
    }
}

/// From now on the first signal ends the program at once.
pub fn unattended() {
    IS_ATTENDED.store(false, Ordering::Relaxed);
    if is_ending() {
        ring();
    }
}

/// Whether a signal has come.
fn is_ending() -> bool {
    FIRST.load(Ordering::Relaxed) != 0
}

/// Nobody reads what is printed any more: as if SIGPIPE had come, where a run goes on.
fn reader_has_gone() {
    if IS_ATTENDED.load(Ordering::Relaxed) {
        let _other = FIRST.compare_exchange(0, SIGPIPE, Ordering::Relaxed, Ordering::Relaxed);
        stop().store(true, Ordering::Relaxed);
    }
}

/// Catches signals, and has a thread act on them: where this process measures. `guard` watches over it. Only the first
/// call does anything.
pub fn begin(guard: Option<u32>) -> io::Result<()> {
    static BEGUN: OnceLock<()> = OnceLock::new();
    let mut is_first = false;
    BEGUN.get_or_init(|| is_first = true);
    if !is_first {
        return Ok(());
    }
    terminal::connect(SignalHooks { reader_gone: reader_has_gone, is_ending });
    GUARD.store(guard.map_or(0, u32::cast_signed), Ordering::Relaxed);
    catch(&ENDING)?;
    std::thread::Builder::new().name("fathom-signals".into()).spawn(attend)?;
    Ok(())
}

/// Catches signals and the ends of children: for the guard. Before it has a child, so that none is missed.
pub fn begin_to_guard() -> io::Result<()> {
    catch(&PASSED)?;
    catch(&[SIGCHLD])
}

/// Catches Ctrl-Z: for the guard, once it has a child, which does not inherit that.
pub fn heed_stops() -> io::Result<()> {
    // SAFETY: the handler stores an atomic and writes to a socket, which signal-safety(7) allows.
    unsafe {
        signal_hook_registry::register(SIGTSTP, || {
            IS_ASKED_TO_STOP.store(true, Ordering::Relaxed);
            ring();
        })
    }
    .map(|_| ())
}

/// Whether Ctrl-Z was pressed since the last call: the guard's to ask.
pub fn is_asked_to_stop() -> bool {
    IS_ASKED_TO_STOP.swap(false, Ordering::Relaxed)
}

/// Has SIGUSR1 set `asked`.
pub fn set_when_asked(asked: Arc<AtomicBool>) -> io::Result<()> {
    // SAFETY: the handler stores an atomic.
    unsafe { signal_hook_registry::register(SIGUSR1, move || asked.store(true, Ordering::Relaxed)) }
        .map(|_| ())
}

/// From now on the end of the guard after a signal is no second signal: its launcher waits a moment, and then ends it.
pub fn outlive_guard() {
    OUTLIVES.store(true, Ordering::Relaxed);
}

/// Whether the process that watched over this one has ended, by whatever. Safe to be called by a signal handler.
pub fn guard_has_gone() -> bool {
    let guard = GUARD.load(Ordering::Relaxed);
    // SAFETY: getppid(2) has no arguments and does not fail.
    guard != 0 && unsafe { libc::getppid() } != guard
}

/// Whether what ended the run was the end of the guard, and no signal of anybody's to this process.
pub fn watcher_was_killed() -> bool {
    WAS_BEREFT.load(Ordering::Relaxed)
}

/// Waits until a signal comes, or somebody rings.
pub fn wait() {
    let ear =
        EAR.lock().unwrap_or_else(PoisonError::into_inner).as_ref().and_then(|ear| ear.try_clone().ok());
    if let Some(mut ear) = ear {
        // Interrupted it comes back too.
        let _heard = ear.read(&mut [0; 64]);
    }
}

/// Ends a [`wait`]. Safe to be called by a signal handler.
pub fn ring() {
    // SAFETY: write(2) is safe in signal handlers; the descriptor is that of a socket or -1, the byte is static.
    unsafe { libc::write(BELL.load(Ordering::Relaxed), b"!".as_ptr().cast(), 1) };
}

/// How often each signal has come that the guard passes on, by its number.
pub fn counts() -> [(i32, u32); PASSED.len()] {
    std::array::from_fn(|index| (PASSED[index], OWN[index].load(Ordering::Relaxed)))
}

/// The exit code that belongs to the signal that came first.
pub fn exit_code() -> Option<u8> {
    match FIRST.load(Ordering::Relaxed) {
        0 => None,
        signal => u8::try_from(128 + signal).ok(),
    }
}

fn stop() -> Arc<AtomicBool> {
    STOP.get_or_init(Arc::default).clone()
}

/// How many have come that end a run, to this process or to its guard.
pub fn events() -> u32 {
    let own: u32 = OWN[..ENDING.len()].iter().map(|count| count.load(Ordering::Relaxed)).sum();
    own.max(PASSED_ON.load(Ordering::Relaxed))
}

/// Sets up the bell of this process, and the handlers unless they are.
fn catch(signals: &[i32]) -> io::Result<()> {
    static CAUGHT: Mutex<Vec<i32>> = Mutex::new(Vec::new());
    debug_assert!(
        signals.iter().all(|signal| *signal == SIGCHLD || PASSED.contains(signal)),
        "what is caught is counted, or only rings"
    );
    let own = std::process::id().cast_signed();
    if SELF.swap(own, Ordering::Relaxed) != own {
        let (bell, ear) = UnixStream::pair()?;
        bell.set_nonblocking(true)?;
        *EAR.lock().unwrap_or_else(PoisonError::into_inner) = Some(ear);
        // Never closed: a handler may write to it at any time.
        BELL.store(bell.into_raw_fd(), Ordering::Relaxed);
        if is_ending() {
            ring();
        }
    }
    let stop = stop();
    let mut caught = CAUGHT.lock().unwrap_or_else(PoisonError::into_inner);
    for signal in signals {
        // `nohup` has it ignored.
        if caught.contains(signal) || (*signal == SIGHUP && is_ignored(SIGHUP)) {
            continue;
        }
        let (signal, stop) = (*signal, stop.clone());
        // SAFETY: the handler loads and stores atomics and writes to a socket, which signal-safety(7) allows.
        unsafe { signal_hook_registry::register_sigaction(signal, move |info| came(signal, info, &stop)) }?;
        caught.push(signal);
    }
    Ok(())
}

fn is_ignored(signal: i32) -> bool {
    // SAFETY: all zeros is a valid `struct sigaction`.
    let mut now: libc::sigaction = unsafe { std::mem::zeroed() };
    // SAFETY: with a null pointer for the new action nothing is changed; `now` lives through the call.
    let asked = unsafe { libc::sigaction(signal, std::ptr::null(), &raw mut now) };
    asked == 0 && now.sa_sigaction == libc::SIG_IGN
}

/// The handler.
fn came(signal: i32, info: &libc::siginfo_t, stop: &AtomicBool) {
    // SAFETY: of a signal that no fault and no timer has sent these fields are set, to zero at least.
    let sender = if info.si_code == libc::SI_USER { unsafe { info.si_pid() } } else { 0 };
    let is_own = sender == SELF.load(Ordering::Relaxed);
    let Some(index) = PASSED.iter().position(|each| *each == signal) else { return ring() };
    if index >= ENDING.len() {
        OWN[index].fetch_add(1, Ordering::Relaxed);
        return ring();
    }
    // Of a write that went wrong: the kernel names the process itself as the sender.
    if is_own && matches!(signal, SIGPIPE | SIGXFSZ) {
        return;
    }
    let is_of_guard = sender != 0 && sender == GUARD.load(Ordering::Relaxed);
    match is_of_guard {
        // Its own end comes after what it has passed on, and asks for the same.
        true if OUTLIVES.load(Ordering::Relaxed) && is_ending() && guard_has_gone() => return,
        true => PASSED_ON.fetch_add(1, Ordering::Relaxed),
        false => OWN[index].fetch_add(1, Ordering::Relaxed),
    };
    let is_first = FIRST.compare_exchange(0, signal, Ordering::Relaxed, Ordering::Relaxed).is_ok();
    if is_first && guard_has_gone() {
        WAS_BEREFT.store(true, Ordering::Relaxed);
    }
    stop.store(true, Ordering::Relaxed);
    ring();
}

/// Tells a second interrupt from one that came twice, as from `timeout`, which signals the process and its group.
#[derive(Debug, Default)]
pub struct Hurry {
    first: Option<Instant>,
    /// How many count as the first.
    first_ones: u32,
}

impl Hurry {
    /// Whether, of `events` that have come until `now`, one came so long after the first that it is another.
    pub fn is_hurried(&mut self, events: u32, now: Instant) -> bool {
        if events == 0 {
            return false;
        }
        let first = *self.first.get_or_insert(now);
        debug_assert!(events >= self.first_ones, "events that have come are not taken back");
        if now.saturating_since(first) < AT_ONCE {
            self.first_ones = events;
        }
        events > self.first_ones
    }
}

/// Waits for signals, and ends the program where nobody else does.
fn attend() {
    let (clock, mut hurry) = (Clock::start(), Hurry::default());
    loop {
        wait();
        let is_attended = IS_ATTENDED.load(Ordering::Relaxed);
        if hurry.is_hurried(events(), clock.now()) || (events() > 0 && !is_attended) {
            leave(is_attended);
        }
    }
}

/// Ends the program without waiting for storage.
fn leave(is_attended: bool) {
    terminal::leave_full_screen();
    let clock = Clock::start();
    if is_attended {
        // It may be about to end by itself, with all that there is to keep.
        clock.sleep_until(clock.now().saturating_add(GRACE));
    }
    let (told, report) = std::sync::mpsc::channel();
    // On storage that hangs this hangs too.
    let putting = std::thread::Builder::new().spawn(move || told.send(restore::now()));
    let mut done = putting.ok().and_then(|_| report.recv_timeout(PATIENCE).ok());
    if done.is_none() && GUARD.load(Ordering::Relaxed) != 0 {
        // The guard leaves; what is left here puts back once storage answers.
        done = report.recv().ok();
    }
    let words = match done {
        Some(done) => {
            restore::say(&done);
            // What nobody attends to has measured nothing.
            if is_attended { "; completed points are saved" } else { "" }
        }
        None => {
            "; completed points are saved; storage does not respond: the next start, or `fathom doctor \
             --restore`, restores what the run changed"
        }
    };
    let code = exit_code().unwrap_or(130);
    let again = match is_attended {
        true => "interrupted again, and exited at once",
        false => launched::interrupted(),
    };
    // Of several that have measured nothing one says it for all; who has gone is named by what watched over it.
    if is_attended || launched::is_first() {
        terminal::say_sentence(&format!("fathom: exit {code}: {again}{words}"));
    }
    #[expect(clippy::disallowed_methods, reason = "everything was restored, or cannot be")]
    std::process::exit(code.into());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_at_once_is_one_interrupt_and_what_comes_later_another() {
        let at = |millis| Instant::START.saturating_add(Nanos::from_millis(millis));
        let mut hurry = Hurry::default();
        assert!(!hurry.is_hurried(0, at(5)));
        assert!(!hurry.is_hurried(1, at(1_000)));
        assert!(!hurry.is_hurried(3, at(1_200)));
        assert!(!hurry.is_hurried(3, at(9_000)), "nothing has come since");
        assert!(hurry.is_hurried(4, at(9_001)));
        let mut late = Hurry::default();
        assert!(!late.is_hurried(1, at(0)));
        assert!(late.is_hurried(2, at(300)));
    }
}
