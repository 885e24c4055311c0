//! Who draws on the terminal while a run goes on: one line that changes, or a full screen that a key turns into one or
//! freezes.

use std::io::Read;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use host::monitor::thread_time;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use units::Nanos;

use crate::terminal::glance::{self, Glance};
use crate::terminal::screen::{self, Look};
use crate::terminal::{self, tty};

/// From one drawing of a line to the next.
const LINE_EVERY: Nanos = Nanos::from_millis(250);
/// From one drawing of the screen to the next: figures are those of whole seconds.
const SCREEN_EVERY: Nanos = Nanos::from_millis(500);
/// What a line begins with, in turn.
const SPINNER: [char; 10] = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];
const SPINNER_ASCII: [char; 4] = ['|', '/', '-', '\\'];

/// Set once the user has left the full screen, for all runs of this process.
static HAS_LEFT: AtomicBool = AtomicBool::new(false);

/// Draws until it is dropped.
pub struct Painter {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

/// What the one who tells and the one who draws have in common.
#[derive(Default)]
pub struct Shared {
    glance: Mutex<Glance>,
    /// Processor time of the drawing so far.
    cost_ns: AtomicU64,
    is_ended: AtomicBool,
    /// Whether the user keeps the full screen as it is.
    is_frozen: AtomicBool,
}

impl Shared {
    /// The run as it is told to whoever draws it.
    pub fn glance(&self) -> MutexGuard<'_, Glance> {
        self.glance.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Processor time of the drawing so far.
    pub fn cost(&self) -> Nanos {
        Nanos::new(self.cost_ns.load(Ordering::Relaxed))
    }

    /// Whether the user keeps the full screen as it is: until that ends nothing is drawn, and nothing need be told.
    pub fn is_frozen(&self) -> bool {
        self.is_frozen.load(Ordering::Relaxed)
    }
}

impl Painter {
    /// Begins to draw on stderr, `full` or one line. `None` where the system gives no thread.
    pub fn start(full: bool) -> Option<Painter> {
        let shared = Arc::new(Shared::default());
        let (own, ear) = (shared.clone(), tty::ear().ok()?);
        let mode = match full && !HAS_LEFT.load(Ordering::Relaxed) {
            true => Mode::Full(None),
            false => Mode::Line(0),
        };
        let mut drawing = Drawing { shared: own, ear, keys: None, mode, is_stale: true };
        let thread = std::thread::Builder::new().name("fathom-display".into()).spawn(move || drawing.run());
        Some(Painter { shared, thread: Some(thread.ok()?) })
    }

    /// What is drawn.
    pub fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }
}

impl Drop for Painter {
    fn drop(&mut self) {
        self.shared.is_ended.store(true, Ordering::Relaxed);
        tty::ring();
        if let Some(thread) = self.thread.take() {
            // It only draws.
            let _panicked = thread.join();
        }
        terminal::end_drawing();
    }
}

/// The thread that draws.
struct Drawing {
    shared: Arc<Shared>,
    ear: &'static UnixStream,
    keys: Option<std::fs::File>,
    mode: Mode,
    /// Whether a frozen screen is to be drawn once more, since a key or another program has changed it.
    is_stale: bool,
}

enum Mode {
    /// The full screen, with what was last drawn; `None` before anything was.
    Full(Option<Buffer>),
    /// One line, with how often it was drawn.
    Line(usize),
}

impl Drawing {
    fn run(&mut self) {
        if matches!(self.mode, Mode::Full(_)) {
            self.begin_full();
        }
        while !self.shared.is_ended.load(Ordering::Relaxed) {
            if std::mem::take(&mut self.is_stale) || !self.shared.is_frozen() {
                self.draw();
            }
            self.shared.cost_ns.store(thread_time().get(), Ordering::Relaxed);
            self.wait();
            self.heed();
        }
        match &self.mode {
            Mode::Full(_) => drop(tty::leave()),
            Mode::Line(_) => terminal::clear_line(),
        }
        self.shared.cost_ns.store(thread_time().get(), Ordering::Relaxed);
    }

    fn begin_full(&mut self) {
        if tty::heed_stops().is_ok() && tty::enter() {
            self.keys = tty::keyboard();
        } else {
            tty::leave();
            self.mode = Mode::Line(0);
        }
    }

    /// Waits until it is time to draw again, which it never is of a frozen screen, a key is pressed, or somebody rings.
    fn wait(&mut self) {
        let every = if tty::is_up() { SCREEN_EVERY } else { LINE_EVERY };
        let timeout = Timespec { tv_sec: 0, tv_nsec: i64::try_from(every.get()).unwrap_or(0) };
        let mut ears = vec![PollFd::new(self.ear, PollFlags::IN)];
        // Who reads a terminal of another job is stopped.
        let keys = self.keys.as_ref().filter(|_| tty::is_up());
        ears.extend(keys.map(|keys| PollFd::from_borrowed_fd(keys.as_fd(), PollFlags::IN)));
        let timeout = (!self.shared.is_frozen()).then_some(&timeout);
        let _interrupted = poll(&mut ears, timeout);
        let rung: Vec<bool> = ears.iter().map(|ear| !ear.revents().is_empty()).collect();
        drop(ears);
        let mut heard = [0; 64];
        if rung.first() == Some(&true) {
            let _gone = (&*self.ear).read(&mut heard);
        }
        if rung.get(1) == Some(&true) {
            let count = self.keys.as_mut().and_then(|keys| keys.read(&mut heard).ok()).unwrap_or(0);
            if count == 0 {
                self.keys = None;
            }
            for key in &heard[..count] {
                self.press(*key);
            }
        }
    }

    fn press(&mut self, key: u8) {
        match key {
            b' ' if matches!(self.mode, Mode::Full(_)) => {
                self.shared.is_frozen.fetch_xor(true, Ordering::Relaxed);
                self.is_stale = true;
            }
            b'q' | b'Q' => {
                HAS_LEFT.store(true, Ordering::Relaxed);
                tty::leave();
                terminal::say_held();
                self.shared.is_frozen.store(false, Ordering::Relaxed);
                self.mode = Mode::Line(0);
            }
            _ => {}
        }
    }

    /// Does what Ctrl-Z and its end ask for.
    fn heed(&mut self) {
        if tty::is_stopped() {
            tty::leave();
            tty::halt();
        }
        if tty::is_continued() && matches!(self.mode, Mode::Full(_)) {
            // Whatever somebody else has done to the terminal meanwhile is undone, and all is drawn anew.
            tty::leave();
            tty::enter();
            self.mode = Mode::Full(None);
            self.is_stale = true;
        }
    }

    fn draw(&mut self) {
        match &mut self.mode {
            Mode::Full(before) => {
                let Some((columns, rows)) = tty::size().filter(|_| tty::is_up()) else { return };
                let area = Rect::new(0, 0, columns, rows);
                let mut now = Buffer::empty(area);
                let mut glance = self.shared.glance().clone();
                glance.is_frozen = self.shared.is_frozen();
                if terminal::is_ending() && glance.waiting.is_none() {
                    glance.waiting = Some(format!("the run ends{}", terminal::ending_hint()));
                }
                screen::draw(&glance, &terminal::held(), Look::of_stderr(), &mut now);
                let is_same_size = before.as_ref().is_some_and(|before| *before.area() == area);
                let text = match before.as_ref().filter(|_| is_same_size) {
                    Some(before) => screen::changes(before, &now),
                    None => screen::whole(&now),
                };
                if tty::draw(text.as_bytes()) {
                    *before = Some(now);
                }
            }
            Mode::Line(drawn) => {
                let spinner = match terminal::has_unicode() {
                    true => SPINNER[*drawn % SPINNER.len()],
                    false => SPINNER_ASCII[*drawn % SPINNER_ASCII.len()],
                };
                *drawn += 1;
                let width = terminal::stderr_width();
                let glance = self.shared.glance();
                if !glance.title.is_empty() {
                    // The last column stays free: some terminals break the line there.
                    let line = format!("{spinner} {}", glance.line(width.saturating_sub(3)));
                    debug_assert!(line.lines().count() == 1, "a line of progress is one line");
                    let hosts = glance.host_lines(width.saturating_sub(1));
                    drop(glance);
                    let lines = [glance::cut(&line, width.saturating_sub(1))].into_iter().chain(hosts);
                    terminal::draw_line(&lines.collect::<Vec<_>>().join("\n"));
                }
            }
        }
    }
}
