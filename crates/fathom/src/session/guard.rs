//! The guard: a process that supervises the one that measures.
//!
//! The guard is the process that the user started; the one that measures is its child. When the child ends, by whatever
//! signal, the guard restores what the child had changed. When the guard ends, the child gets SIGTERM and ends as after
//! Ctrl-C. When storage hangs, so that not even SIGKILL ends the child, the guard exits on the second Ctrl-C.

use std::sync::atomic::{AtomicBool, Ordering};

use host::clock::Clock;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, WaitOptions, WaitStatus, waitid};
use units::Nanos;

use crate::ending::Ending;
use crate::session::panics;
use crate::session::ranks;
use crate::session::restore;
use crate::session::signals::{self, Hurry};
use crate::session::store::Store;
use crate::terminal::{self, Modes};

/// How long the child may take after the second signal.
const PATIENCE: Nanos = Nanos::from_secs(2);

/// How long the child may take to stop after Ctrl-Z.
const STOPS_WITHIN: Nanos = Nanos::from_millis(500);

/// Which of the two processes returned from the fork.
pub enum Side {
    /// The process that measures, and who watches over it.
    Measures(Option<u32>),
    /// The guard, whose child has ended with that code.
    Ended(u8),
}

/// Divides the process in two. Call while it has one thread. Where the system allows no second process, the only one
/// measures.
pub fn divide(store: &Store) -> Side {
    debug_assert!(
        std::fs::read_dir("/proc/self/task").map_or(1, Iterator::count) == 1,
        "a process is divided while it has one thread"
    );
    let (parent, modes) = (std::process::id(), Modes::now());
    if signals::begin_to_guard().is_err() {
        return Side::Measures(None);
    }
    // SAFETY: no other thread is there whose locks the child could find taken.
    match unsafe { libc::fork() } {
        0 => {
            ranks::stand_alone();
            // As the user would: everything is put back and kept.
            let told = rustix::process::set_parent_process_death_signal(Some(Signal::TERM));
            let is_there = rustix::process::getppid()
                .is_some_and(|pid| pid.as_raw_nonzero().get().cast_unsigned() == parent);
            if told.is_err() || !is_there {
                return Side::Measures(None);
            }
            Side::Measures(Some(parent))
        }
        child => match Pid::from_raw(child) {
            Some(child) if child.as_raw_nonzero().get() > 0 => Side::Ended(watch(child, store, &modes)),
            _ => Side::Measures(None),
        },
    }
}

/// Set once the child took longer than [`PATIENCE`] after the second signal.
static IS_LATE: AtomicBool = AtomicBool::new(false);

/// The child's exit code, once it has ended; that of the signal where it does not end in time.
fn watch(child: Pid, store: &Store, modes: &Modes) -> u8 {
    // Without it both stop at once.
    let _unheeded = signals::heed_stops();
    let mut passed_on = signals::counts().map(|_| 0);
    // Made with the first signal: to calibrate a clock takes processor time, which the child wants.
    let clock = std::cell::LazyCell::new(Clock::start);
    let (mut hurry, mut is_hurried) = (Hurry::default(), false);
    loop {
        match rustix::process::waitpid(Some(child), WaitOptions::NOHANG) {
            Ok(None) | Err(rustix::io::Errno::INTR) => {}
            Ok(Some((_, status))) => {
                modes.put_back();
                return ended(status, store);
            }
            Err(error) => return said(8, format!("cannot wait for the measuring process: {error}")),
        }
        pass_on(child, &mut passed_on);
        let events = signals::events();
        if events > 0 && !is_hurried && hurry.is_hurried(events, clock.now()) {
            is_hurried = true;
            ring_after_patience();
        }
        if signals::is_asked_to_stop() {
            stop_after(child, &clock);
            continue;
        }
        if IS_LATE.load(Ordering::Relaxed) {
            modes.put_back();
            let reason = "interrupted again; storage does not respond, and the measuring process ends once \
                          it does; it then restores what it changed, and completed points are saved";
            return said(signals::exit_code().unwrap_or(130), reason.into());
        }
        signals::wait();
    }
}

/// Stops this process once `child` has stopped, which may have a full screen to put away first: the shell takes the
/// terminal back as soon as this one stops.
fn stop_after(child: Pid, clock: &Clock) {
    let until = clock.now().saturating_add(STOPS_WITHIN);
    // Without taking its end, which is for the caller to see.
    let options =
        WaitIdOptions::STOPPED | WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    while clock.now() < until && matches!(waitid(WaitId::Pid(child), options), Ok(None)) {
        clock.sleep_until(clock.now().saturating_add(Nanos::from_millis(5)));
    }
    terminal::halt();
}

/// Sends the child each signal that came since the last call; `passed_on` is how many of each it has got.
fn pass_on<const N: usize>(child: Pid, passed_on: &mut [u32; N]) {
    for ((signal, count), passed) in signals::counts().into_iter().zip(passed_on) {
        debug_assert!(*passed <= count, "no signal is passed on before it comes");
        for _ in *passed..count {
            if let Some(signal) = Signal::from_named_raw(signal) {
                // It may have ended just now.
                let _gone = rustix::process::kill_process(child, signal);
            }
            // One that is stopped would keep what it has changed. The launcher wakes the group that it asks to end.
            if ranks::are_several() && signal == libc::SIGTERM {
                let _gone = rustix::process::kill_process(child, Signal::CONT);
            }
        }
        *passed = count;
    }
}

/// Sets [`IS_LATE`] and wakes the guard after [`PATIENCE`].
fn ring_after_patience() {
    std::thread::spawn(|| {
        let clock = Clock::start();
        clock.sleep_until(clock.now().saturating_add(PATIENCE));
        IS_LATE.store(true, Ordering::Relaxed);
        signals::ring();
    });
}

fn ended(status: WaitStatus, store: &Store) -> u8 {
    if let Some(code) = status.exit_status() {
        return u8::try_from(code).unwrap_or(8);
    }
    let signal = status.terminating_signal().unwrap_or_default();
    ranks::let_others_notice();
    restore::say(&restore::replayed(store, Nanos::ZERO));
    let name = name_of(signal);
    if matches!(
        signal,
        libc::SIGABRT
            | libc::SIGSEGV
            | libc::SIGBUS
            | libc::SIGILL
            | libc::SIGFPE
            | libc::SIGTRAP
            | libc::SIGSYS
    ) {
        let what = format!("the measuring process was killed by {name}");
        terminal::say_sentence(&panics::how_to_report(&what));
        return said(8, format!("internal error: killed by {name}; completed points are saved"));
    }
    let why = if signal == libc::SIGKILL { ", as the kernel does where memory runs out" } else { "" };
    let code = ranks::code_of_killed(u8::try_from(128 + signal).unwrap_or(8));
    let kept = if ranks::is_first() { "; completed points are saved" } else { "" };
    said(code, format!("{}the measuring process was killed by {name}{why}{kept}", ranks::own_name()))
}

fn said(code: u8, reason: String) -> u8 {
    let ending = Ending { code, reason };
    ending.say();
    ending.code
}

fn name_of(signal: i32) -> String {
    let names = [
        (libc::SIGABRT, "SIGABRT"),
        (libc::SIGSEGV, "SIGSEGV"),
        (libc::SIGBUS, "SIGBUS"),
        (libc::SIGKILL, "SIGKILL"),
    ];
    let known = names.iter().find(|(number, _)| *number == signal);
    known.map_or_else(|| format!("signal {signal}"), |(_, name)| (*name).to_owned())
}
