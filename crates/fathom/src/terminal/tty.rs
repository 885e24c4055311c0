//! The terminal behind stderr as a full screen, and as it was before.
//!
//! **Invariant:** whatever ends the process, the terminal is as it was: who leaves puts it back with [`leave`], which may
//! be called from anywhere and at any time; after a kill the guard does, with [`Modes`]. The keys that make signals go on
//! to make them.

use std::fs::File;
use std::io::{self, IsTerminal, Write};
use std::os::fd::IntoRawFd;
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use libc::{SIGCONT, SIGSTOP, SIGTSTP};
use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};

/// Another screen, without a cursor, empty.
const ENTER: &[u8] = b"\x1b[?1049h\x1b[?25l\x1b[2J";
/// Plain letters, the cursor, the screen that was there before.
const LEAVE: &[u8] = b"\x1b[0m\x1b[?25h\x1b[?1049l";

/// Whether the full screen is there.
static IS_UP: AtomicBool = AtomicBool::new(false);
/// As the terminal was before.
static BEFORE: Mutex<Option<Termios>> = Mutex::new(None);
/// Whether Ctrl-Z was pressed while it was there.
static IS_STOPPED: AtomicBool = AtomicBool::new(false);
/// Whether the process goes on after a stop.
static IS_CONTINUED: AtomicBool = AtomicBool::new(false);
/// Where a byte is written for either; -1 before.
static BELL: AtomicI32 = AtomicI32::new(-1);
/// Held while something is written to the screen.
static DRAWING: Mutex<()> = Mutex::new(());

/// Makes stderr a full screen; whether it is one now. It is none where stderr is not the terminal of this process, or
/// another job has it.
pub fn enter() -> bool {
    let stderr = io::stderr();
    if !is_ours() {
        return false;
    }
    let Ok(before) = tcgetattr(&stderr) else { return false };
    let mut modes = before.clone();
    modes.local_modes -= LocalModes::ICANON | LocalModes::ECHO;
    *locked(&BEFORE) = Some(before);
    let _drawing = locked(&DRAWING);
    // Before anything is changed, so that an end in between puts it back too.
    IS_UP.store(true, Ordering::SeqCst);
    let is_set = tcsetattr(&stderr, OptionalActions::Now, &modes).is_ok();
    is_set && stderr.lock().write_all(ENTER).is_ok()
}

/// Puts the terminal back, where it is a full screen; whether it was.
pub fn leave() -> bool {
    if !IS_UP.swap(false, Ordering::SeqCst) {
        return false;
    }
    // Whoever draws may be the one that panics, or hang on a terminal that takes no more.
    let _drawing = (0..1000).find_map(|_| {
        let free = DRAWING.try_lock().ok();
        if free.is_none() {
            std::thread::yield_now();
        }
        free
    });
    // SAFETY: write(2) of a static text to a descriptor that stays open.
    unsafe { libc::write(libc::STDERR_FILENO, LEAVE.as_ptr().cast(), LEAVE.len()) };
    let before = BEFORE.try_lock().ok().and_then(|before| before.clone());
    if let Some(before) = before.filter(|_| is_ours()) {
        let _gone = tcsetattr(io::stderr(), OptionalActions::Now, &before);
    }
    true
}

/// Whether the full screen is there.
pub fn is_up() -> bool {
    IS_UP.load(Ordering::SeqCst)
}

/// Writes `text` to the full screen; whether it was there.
pub fn draw(text: &[u8]) -> bool {
    let _drawing = locked(&DRAWING);
    is_up() && io::stderr().lock().write_all(text).is_ok()
}

/// Columns and rows of stderr.
pub fn size() -> Option<(u16, u16)> {
    let size = rustix::termios::tcgetwinsize(io::stderr()).ok()?;
    (size.ws_col > 0 && size.ws_row > 0).then_some((size.ws_col, size.ws_row))
}

/// The keyboard; `None` where there is none, as for a process without a terminal of its own.
pub fn keyboard() -> Option<File> {
    File::open("/dev/tty").ok()
}

/// What gets a byte when somebody rings, Ctrl-Z is pressed on a full screen, or the process goes on after it.
pub fn ear() -> io::Result<&'static UnixStream> {
    static EAR: Mutex<Option<&'static UnixStream>> = Mutex::new(None);
    let mut kept = locked(&EAR);
    if let Some(ear) = *kept {
        return Ok(ear);
    }
    let (bell, ear) = UnixStream::pair()?;
    bell.set_nonblocking(true)?;
    ear.set_nonblocking(true)?;
    // Never closed: a handler may write to it at any time.
    BELL.store(bell.into_raw_fd(), Ordering::SeqCst);
    Ok(kept.insert(Box::leak(Box::new(ear))))
}

/// From now on Ctrl-Z puts a full screen away before the process stops.
pub fn heed_stops() -> io::Result<()> {
    static IS_HEEDED: AtomicBool = AtomicBool::new(false);
    if IS_HEEDED.swap(true, Ordering::SeqCst) {
        return Ok(());
    }
    let stop = || match is_up() {
        true => {
            IS_STOPPED.store(true, Ordering::SeqCst);
            ring();
        }
        false => halt(),
    };
    let go_on = || {
        IS_CONTINUED.store(true, Ordering::SeqCst);
        ring();
    };
    // SAFETY: both handlers load and store atomics, write to a socket and call kill(2): signal-safety(7) allows it.
    unsafe {
        signal_hook_registry::register(SIGTSTP, stop)?;
        signal_hook_registry::register(SIGCONT, go_on)?;
    }
    Ok(())
}

/// Whether Ctrl-Z was pressed since the last call.
pub fn is_stopped() -> bool {
    IS_STOPPED.swap(false, Ordering::SeqCst)
}

/// Whether the process has gone on after a stop since the last call.
pub fn is_continued() -> bool {
    IS_CONTINUED.swap(false, Ordering::SeqCst)
}

/// Stops this process until somebody has it go on.
pub fn halt() {
    // SAFETY: neither call has a pointer.
    unsafe { libc::kill(libc::getpid(), SIGSTOP) };
}

/// Wakes whoever listens to [`ear`]. Safe to be called by a signal handler.
pub fn ring() {
    // SAFETY: write(2) is safe in signal handlers; the descriptor stays open or is -1, the byte is static.
    unsafe { libc::write(BELL.load(Ordering::SeqCst), b"!".as_ptr().cast(), 1) };
}

/// Processes above this one that are looked at: the guard, the launcher, and what a launcher has between.
const ABOVE: usize = 3;

/// Has stderr be the terminal of the launcher that passes it on, for what is passed on cannot be drawn over; whether it is one
/// now.
pub fn see_through() -> bool {
    if io::stderr().is_terminal() {
        return true;
    }
    let passed_on = std::fs::metadata("/proc/self/fd/2").is_ok_and(|of| of.file_type().is_fifo());
    let above = std::iter::successors(parent("self".into()), |pid| parent(pid.clone())).take(ABOVE);
    match above.filter(|_| passed_on).find_map(|pid| terminal_of(&pid)) {
        // SAFETY: both descriptors are open; the copy is closed with the process.
        Some(terminal) => unsafe { libc::dup2(terminal.into_raw_fd(), libc::STDERR_FILENO) >= 0 },
        None => false,
    }
}

fn parent(pid: String) -> Option<String> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let parent = status.lines().find_map(|line| line.strip_prefix("PPid:"))?.trim().to_owned();
    (parent != "0").then_some(parent)
}

/// The terminal behind stderr of that process, without becoming the one that its signals go to.
fn terminal_of(pid: &str) -> Option<File> {
    let path = format!("/proc/{pid}/fd/2");
    std::fs::read_link(&path).ok().filter(|to| to.starts_with("/dev"))?;
    let file = File::options().write(true).custom_flags(libc::O_NOCTTY).open(path).ok()?;
    file.is_terminal().then_some(file)
}

/// Whether this process is the one that the terminal belongs to at present.
fn is_ours() -> bool {
    let stderr = io::stderr();
    stderr.is_terminal()
        && rustix::termios::tcgetpgrp(&stderr).is_ok_and(|group| group == rustix::process::getpgrp())
}

/// How the terminal was when the guard divided itself, so that it can put it back when the other process was killed.
pub struct Modes(Option<Termios>);

impl Modes {
    /// Those of the terminal behind stderr; none where there is no terminal.
    pub fn now() -> Modes {
        Modes(tcgetattr(io::stderr()).ok())
    }

    /// Puts the terminal back, where it was left as a full screen.
    pub fn put_back(&self) {
        let Some(before) = &self.0 else { return };
        let watched = LocalModes::ICANON | LocalModes::ECHO;
        let is_changed = tcgetattr(io::stderr())
            .is_ok_and(|now| now.local_modes & watched != before.local_modes & watched);
        if is_changed && is_ours() {
            let _gone = io::stderr().lock().write_all(LEAVE);
            let _gone = tcsetattr(io::stderr(), OptionalActions::Now, before);
        }
    }
}

fn locked<T>(what: &Mutex<T>) -> MutexGuard<'_, T> {
    what.lock().unwrap_or_else(PoisonError::into_inner)
}
