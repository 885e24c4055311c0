//! Stdout and stderr, and what the terminals behind them can show. Everything that is printed goes through here.

mod glance;
mod painter;
pub mod progress;
mod screen;
mod tty;
mod waiting;

use std::io::{self, IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use clap::{Args, ValueEnum};
use report::Style;

pub use tty::{Modes, halt, leave as leave_full_screen};

/// Columns where no terminal says how many.
const WIDTH: usize = 100;

/// Heading of options of output, for every verb's help.
pub const OUTPUT: &str = "Output";

// Options of how text is drawn. No doc comment: clap would take it for the help of the verb.
#[derive(Debug, Args)]
pub struct Appearance {
    /// When to use colours
    #[arg(long, value_enum, default_value_t = Colour::Auto, value_name = "WHEN", help_heading = OUTPUT)]
    pub color: Colour,
    /// Width of tables [default: the terminal's, or 100]
    #[arg(long, value_name = "COLUMNS", help_heading = OUTPUT)]
    pub width: Option<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Colour {
    /// On a terminal, unless NO_COLOR is set
    Auto,
    /// Into pipes and files too
    Always,
    /// Nowhere
    Never,
}

/// How a run that goes on is shown on stderr.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Display {
    /// One line on a terminal, plain lines elsewhere
    Auto,
    /// A full screen; `q` turns it into one line, Space freezes it, and the run continues
    Full,
    /// One line that changes
    Line,
    /// A line every five seconds
    Plain,
    /// Nothing
    None,
}

impl Display {
    /// What stderr can show of it: where it is no terminal, plain lines.
    fn resolved(self) -> Display {
        match self {
            Display::Auto | Display::Full | Display::Line if !can_be_drawn_on() => Display::Plain,
            Display::Auto => Display::Line,
            other => other,
        }
    }
}

// Options of how progress is shown. No doc comment: clap would take it for the help of the verb.
#[derive(Debug, Args)]
pub struct Showing {
    /// How to show progress on stderr
    #[arg(long, value_enum, default_value_t = Display::Auto, value_name = "HOW", help_heading = OUTPUT)]
    pub display: Display,
    /// No progress on stderr
    #[arg(short, long, help_heading = OUTPUT)]
    pub quiet: bool,
}

impl Showing {
    /// What of both it comes to.
    pub fn wanted(&self) -> Display {
        if self.quiet { Display::None } else { self.display }
    }
}

/// What handles signals, as far as printing needs it.
#[derive(Clone, Copy, Debug)]
pub struct SignalHooks {
    /// Called when the reader of stdout has gone.
    pub reader_gone: fn(),
    /// Whether a signal has come that ends the run.
    pub is_ending: fn() -> bool,
}

static SIGNALS: OnceLock<SignalHooks> = OnceLock::new();
/// What was said while there was a full screen.
static HELD: Mutex<Vec<String>> = Mutex::new(Vec::new());
/// How many lines there are that change; the cursor is in the last one.
static LINES: Mutex<usize> = Mutex::new(0);

/// To the beginning of the first of so many lines, and nothing behind it.
fn clearing(lines: usize) -> String {
    match lines {
        0 | 1 => "\r\x1b[K".into(),
        _ => format!("\r\x1b[{}A\x1b[J", lines - 1),
    }
}

/// Whether another process speaks for this one.
static IS_SILENT: AtomicBool = AtomicBool::new(false);

/// Whether what is printed goes through a launcher, whose terminal is one whatever that writes to.
static IS_RELAYED: AtomicBool = AtomicBool::new(false);

/// From now on stdout is no terminal of a person: what a launcher of many processes gives each may lead to a file.
pub fn is_relayed() {
    IS_RELAYED.store(true, Ordering::Relaxed);
}

/// Says nothing more on stderr, or speaks again.
pub fn be_silent(is_silent: bool) {
    IS_SILENT.store(is_silent, Ordering::Relaxed);
}

/// Connects the terminal with what handles signals. Only the first call does anything.
pub fn connect(hooks: SignalHooks) {
    let _again = SIGNALS.set(hooks);
}

/// Prints a result to stdout. A reader that has gone, as `head` does, is no failure; a run that goes on ends.
pub fn print(text: &str) -> io::Result<()> {
    if io::stdout().is_terminal() {
        clear_line();
    }
    let mut out = io::stdout().lock();
    let printed = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    match printed {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
            if let Some(hooks) = SIGNALS.get() {
                (hooks.reader_gone)();
            }
            Ok(())
        }
        other => other,
    }
}

/// Prints sentences to stdout, in lines that fit the terminal where it is one.
pub fn print_wrapped(text: &str) -> io::Result<()> {
    match io::stdout().is_terminal() {
        true => print(&(wrapped(text, width_of(&io::stdout()).unwrap_or(WIDTH)) + "\n")),
        false => print(text),
    }
}

/// Prints a line for the person at the terminal to stderr.
pub fn say(line: &str) {
    say_exactly(&format!("{line}\n"));
}

/// Prints to stderr what a tool prints there, to the byte.
///
/// On a full screen it waits until that is gone.
pub fn say_exactly(text: &str) {
    if IS_SILENT.load(Ordering::Relaxed) {
        return;
    }
    if tty::is_up() {
        return locked(&HELD).push(text.to_owned());
    }
    say_held();
    let mut lines = locked(&LINES);
    let clear = if *lines > 0 { clearing(*lines) } else { String::new() };
    write_stderr(&format!("{clear}{text}"));
    *lines = 0;
}

/// What was said while there was a full screen, oldest first, as one line each.
fn held() -> Vec<String> {
    locked(&HELD).iter().map(|text| text.trim_end().replace('\n', " ")).collect()
}

/// Says it, once the full screen is gone.
fn say_held() {
    let held = std::mem::take(&mut *locked(&HELD));
    if !held.is_empty() {
        write_stderr(&held.concat());
    }
}

/// Draws lines that change, over those before them.
fn draw_line(text: &str) {
    let mut lines = locked(&LINES);
    write_stderr(&format!("{}{text}", clearing(*lines)));
    *lines = text.lines().count().max(1);
}

/// A line that changes, on a terminal; elsewhere nothing. What is printed next takes it away.
pub fn show_line(text: &str) {
    if stderr_is_terminal() {
        draw_line(text);
    }
}

/// Takes the line that changes away, where there is one.
fn clear_line() {
    let lines = std::mem::take(&mut *locked(&LINES));
    if lines > 0 {
        write_stderr(&clearing(lines));
    }
}

/// From here on nothing changes any more.
fn end_drawing() {
    clear_line();
    say_held();
}

/// There is nobody left to tell where stderr is closed.
fn write_stderr(text: &str) {
    let _closed = io::stderr().lock().write_all(text.as_bytes());
}

fn locked<T>(what: &Mutex<T>) -> MutexGuard<'_, T> {
    what.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The same for a sentence: in lines that fit the terminal. Where stderr is none it stays one line, as logs are
/// searched by line.
///
/// Names in it may come from anywhere, so no letter of it commands the terminal.
pub fn say_sentence(text: &str) {
    let text = text.split('\n').map(report::harmless).collect::<Vec<_>>().join("\n");
    match stderr_is_terminal() {
        true => say(&wrapped(&text, stderr_width())),
        false => say(&text),
    }
}

/// `text` with every line that is wider than `width` columns broken; what goes on is indented by two more.
fn wrapped(text: &str, width: usize) -> String {
    let lines = text.lines().flat_map(|line| {
        if line.chars().count() <= width {
            return vec![line.to_owned()];
        }
        let indent = &line[..line.len() - line.trim_start().len()];
        report::wrap(line, width, indent, &format!("{indent}  "))
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// How to draw on stdout.
pub fn style(appearance: &Appearance) -> Style {
    let terminal = io::stdout().is_terminal() && !is_passed_on();
    Style {
        colour: has_colour(appearance.color, terminal),
        unicode: has_unicode(),
        width: appearance.width.or_else(|| width_of(&io::stdout())).unwrap_or(WIDTH),
    }
}

/// How to draw into a file: nothing that only a terminal understands.
pub fn file_style(appearance: &Appearance) -> Style {
    Style { colour: false, unicode: true, width: appearance.width.unwrap_or(WIDTH) }
}

/// Whether a person sees stdout and stderr below one another.
pub fn is_one_screen() -> bool {
    io::stdout().is_terminal() && io::stderr().is_terminal()
}

pub fn stdout_is_terminal() -> bool {
    io::stdout().is_terminal()
}

/// Whether a signal has come that ends the run.
fn is_ending() -> bool {
    SIGNALS.get().is_some_and(|hooks| (hooks.is_ending)())
}

pub fn stderr_is_terminal() -> bool {
    io::stderr().is_terminal() && !is_dumb()
}

/// Whether a launcher passes on what is said.
fn is_passed_on() -> bool {
    IS_RELAYED.load(Ordering::Relaxed)
}

/// What may be done to a run that ends. Nothing under a launcher, which kills at a second Ctrl-C and leaves nobody to put back.
fn ending_hint() -> &'static str {
    hint(is_ending(), is_passed_on())
}

fn hint(is_ending: bool, is_passed_on: bool) -> &'static str {
    if is_ending && !is_passed_on { "; Ctrl-C again leaves at once" } else { "" }
}

/// Whether something can be drawn on stderr; where a launcher passes it on to a terminal, from now on it is that.
fn can_be_drawn_on() -> bool {
    if is_passed_on() && !is_dumb() {
        tty::see_through();
    }
    stderr_is_terminal()
}

pub fn stderr_has_colour() -> bool {
    has_colour(Colour::Auto, io::stderr().is_terminal())
}

/// A sentence in lines that fit stderr.
pub fn wrapped_for_stderr(text: &str) -> String {
    wrapped(text, stderr_width())
}

pub fn stderr_width() -> usize {
    width_of(&io::stderr()).unwrap_or(WIDTH)
}

fn has_colour(wanted: Colour, terminal: bool) -> bool {
    match wanted {
        Colour::Always => true,
        Colour::Never => false,
        // no-color.org: any value that is not empty.
        Colour::Auto => {
            terminal && !is_dumb() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
        }
    }
}

fn is_dumb() -> bool {
    std::env::var_os("TERM").is_some_and(|term| term == "dumb")
}

/// POSIX: the first of these that is set and not empty decides the character set.
fn has_unicode() -> bool {
    let set = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().filter_map(|name| std::env::var(name).ok());
    let locale = set.into_iter().find(|value| !value.is_empty());
    locale.is_none_or(|name| name.to_ascii_lowercase().replace('-', "").contains("utf8"))
}

fn width_of(stream: &impl std::os::fd::AsFd) -> Option<usize> {
    let size = rustix::termios::tcgetwinsize(stream).ok()?;
    (size.ws_col > 0).then_some(usize::from(size.ws_col))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_that_ends_offers_a_second_interrupt_unless_a_launcher_would_kill_for_it() {
        assert_eq!(hint(true, false), "; Ctrl-C again leaves at once");
        assert_eq!([hint(true, true), hint(false, false), hint(false, true)], [""; 3]);
    }

    #[test]
    fn only_lines_that_are_too_wide_are_broken() {
        let text = "  1  read   1 point\n  refused: it is mounted";
        assert_eq!(wrapped(text, 80), text);
        assert_eq!(wrapped(text, 20), "  1  read   1 point\n  refused: it is\n    mounted");
    }
}
