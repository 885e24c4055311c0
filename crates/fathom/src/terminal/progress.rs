//! What a person sees while a run goes on: one line that changes, or plain lines where nothing can change.

use std::time::Duration;

use conduct::{Event, Live};
use host::clock::Clock;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use units::{Bytes, BytesPerSecond, Instant, Nanos, OpsPerSecond};

use crate::terminal;
use crate::terminal::waiting::Waiting;

/// How often a plain line is printed.
const PLAIN_EVERY: Nanos = Nanos::from_secs(5);

/// Shows events.
pub struct Progress {
    bar: Option<ProgressBar>,
    quiet: bool,
    /// The clock of the person who watches; a virtual world has another.
    clock: Clock,
    is_virtual: bool,
    now: Option<Running>,
    last_plain: Instant,
    last_live: Option<Live<'static>>,
    /// Tells when storage does not answer; `None` of a world that has none, or before one is known.
    waiting: Option<Waiting>,
}

/// The point that is being measured.
struct Running {
    title: String,
    since: Instant,
    expected: Option<Nanos>,
    expected_after: Nanos,
}

impl Progress {
    pub fn new(quiet: bool) -> Progress {
        let bar = (!quiet && terminal::stderr_is_terminal()).then(line);
        let clock = Clock::start();
        let last_plain = clock.now();
        Progress {
            bar,
            quiet,
            clock,
            is_virtual: false,
            now: None,
            last_plain,
            last_live: None,
            waiting: None,
        }
    }

    /// Whose time the events tell.
    pub fn of_world(&mut self, world: record::World) {
        self.is_virtual = world == record::World::Array;
        if !self.is_virtual && !self.quiet {
            self.waiting = Waiting::watch(&self.clock, self.bar.clone());
        }
    }

    pub fn show(&mut self, event: &Event<'_>) {
        if self.quiet {
            return;
        }
        match event {
            Event::PointStarted { index, of, name, expected, expected_after } => {
                let title = format!("[{}/{of}] {name}", index + 1);
                if self.bar.is_none() {
                    terminal::say(&title);
                }
                let (expected, expected_after) = (*expected, *expected_after);
                let since = self.clock.now();
                self.begin(Running { title, since, expected, expected_after });
            }
            Event::Live { live, .. } => self.live(live),
            Event::PointEnded { .. } => self.rest(),
            Event::Aside { what, expected } => self.aside(what, *expected),
            Event::RateDecided { search } => self.decided(search),
            Event::SweepEnded { phase, why } => self.say(&format!("{phase}: {why}")),
        }
    }

    pub fn finish(&mut self) {
        self.waiting = None;
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
    }

    /// What is done between two points.
    fn aside(&mut self, what: &str, expected: Nanos) {
        if self.bar.is_none() {
            terminal::say(what);
        }
        let since = self.clock.now();
        let (title, expected_after) = (what.to_owned(), Nanos::ZERO);
        self.begin(Running { title, since, expected: Some(expected), expected_after });
    }

    fn begin(&mut self, running: Running) {
        (self.last_plain, self.last_live) = (running.since, None);
        if let Some(waiting) = &self.waiting {
            waiting.begin(&running.title);
        }
        self.now = Some(running);
    }

    /// No I/O is expected for a while: silence is not reported as waiting for storage.
    fn rest(&self) {
        if let Some(waiting) = &self.waiting {
            waiting.rest();
        }
    }

    /// What became of the last rate of a search, and between which rates the edge lies.
    fn decided(&self, search: &record::Search) {
        let Some(rung) = search.ladder.last() else { return };
        let cause = rung.cause.as_ref().map(|cause| format!(": {cause}")).unwrap_or_default();
        let rate = OpsPerSecond::new(rung.rate_per_s);
        self.say(&format!("  {rate}/s, {}: {}{cause}", rung.purpose, rung.verdict));
    }

    /// A line that stays.
    pub fn say(&self, text: &str) {
        match &self.bar {
            _ if self.quiet => {}
            Some(bar) => bar.println(terminal::wrapped_for_stderr(text)),
            None => terminal::say(text),
        }
    }

    fn live(&mut self, live: &Live<'_>) {
        let Some(running) = &self.now else { return };
        let now = self.clock.now();
        if self.waiting.as_ref().is_some_and(|waiting| waiting.hear(live)) {
            return;
        }
        let text = format!("{}  {}  {}", running.title, self.left(running, live, now), self.rates(live));
        match &self.bar {
            Some(bar) => bar.set_message(text),
            None if now.saturating_since(self.last_plain) >= PLAIN_EVERY => {
                terminal::say(&text);
                self.last_plain = now;
            }
            None => {}
        }
        let stale = |last: &Live| live.now.saturating_since(last.now) >= Nanos::from_secs(1);
        if self.last_live.as_ref().is_none_or(stale) {
            self.last_live = Some(Live { heard: &[], ..live.clone() });
        }
    }

    /// The time left and what it is based on.
    fn left(&self, running: &Running, live: &Live, now: Instant) -> String {
        let elapsed = live.now.saturating_since(live.started);
        let (left, basis) = match (live.done, running.expected) {
            (Some(done), _) if done > 0.0 => {
                let whole = elapsed.as_secs_f64() / done;
                (Nanos::from_secs_f64(whole - elapsed.as_secs_f64()), "at this rate")
            }
            (_, Some(expected)) if live.doing == "load" => (expected.saturating_sub(elapsed), "by the plan"),
            _ => return "end not known".into(),
        };
        let after = running.expected_after;
        if !self.is_virtual {
            return words_of(left, after, basis);
        }
        if elapsed.is_zero() {
            return "end not known".into();
        }
        let pace = now.saturating_since(running.since).as_secs_f64() / elapsed.as_secs_f64();
        let real = |time: Nanos| Nanos::from_secs_f64(time.as_secs_f64() * pace);
        words_of(real(left), real(after), "at this rate")
    }

    /// Rates of the last second or so, not since the start.
    fn rates(&self, live: &Live) -> String {
        if live.doing == "idle" {
            return "idle".into();
        }
        if let (Some(done), true) = (live.done, live.progress == workload::Progress::default()) {
            return format!("{} {:.1} %", live.doing, done * 100.0);
        }
        let (since, before) = match &self.last_live {
            Some(last) if last.doing == live.doing => (last.now, last.progress),
            _ => (live.started, workload::Progress::default()),
        };
        let elapsed = live.now.saturating_since(since);
        let bytes = Bytes::new(live.progress.bytes.saturating_sub(before.bytes));
        let throughput = BytesPerSecond::of(bytes, elapsed);
        if live.doing != "load" {
            return format!("{} {throughput}", live.doing);
        }
        let ops = OpsPerSecond::of(live.progress.ops.saturating_sub(before.ops), elapsed);
        let p99 = live.p99.map(|p99| format!("  p99 {p99}")).unwrap_or_default();
        let errors = match live.progress.errors {
            0 => String::new(),
            errors => format!("  {errors} errors"),
        };
        format!("{ops} IOPS  {throughput}{p99}{errors}")
    }
}

fn words_of(left: Nanos, after: Nanos, basis: &str) -> String {
    match after.is_zero() {
        true => format!("{} left {basis}", rounded(left)),
        false => format!("{} left {basis}, {} in all", rounded(left), rounded(left + after)),
    }
}

/// A time to come, as one would say it: `7 s`, `2 min 5 s`, `1 h 3 min`.
fn rounded(time: Nanos) -> String {
    match time.get().div_ceil(1_000_000_000) {
        seconds @ 0..60 => format!("{seconds} s"),
        seconds @ 60..3600 => format!("{} min {} s", seconds / 60, seconds % 60),
        seconds => format!("{} h {} min", seconds / 3600, seconds % 3600 / 60),
    }
}

fn line() -> ProgressBar {
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr_with_hz(5));
    let style = ProgressStyle::with_template("{spinner} {wide_msg}").expect("a constant template");
    bar.set_style(style);
    bar.enable_steady_tick(Duration::from_millis(250));
    bar
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_to_come_is_rounded_up_to_seconds_and_has_two_parts_at_most() {
        let said = |seconds: f64| rounded(Nanos::from_secs_f64(seconds));
        assert_eq!([0.0, 0.2, 59.0].map(said), ["0 s", "1 s", "59 s"]);
        assert_eq!([60.0, 125.0, 3599.5].map(said), ["1 min 0 s", "2 min 5 s", "1 h 0 min"]);
        assert_eq!(said(3785.0), "1 h 3 min");
    }
}
