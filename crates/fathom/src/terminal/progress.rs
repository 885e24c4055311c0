//! What a person is shown while a run goes on: a full screen, one line that changes, or plain lines where nothing can
//! change.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use conduct::{Event, HostLive, Live};
use host::clock::Clock;
use host::monitor::thread_time;
use units::{Bytes, BytesPerSecond, Instant, Nanos, OpsPerSecond};

use crate::terminal::glance::{Glance, HostGlance, rounded};
use crate::terminal::painter::{Painter, Shared};
use crate::terminal::waiting::Waiting;
use crate::terminal::{self, Display};

/// How often a plain line is printed.
const PLAIN_EVERY: Nanos = Nanos::from_secs(5);
/// More often nothing is told to whoever draws: a virtual array may have much more to tell.
const TOLD_EVERY: Nanos = Nanos::from_millis(90);

/// Shows events.
pub struct Progress {
    display: Display,
    painter: Option<Painter>,
    cost: Option<Arc<Cost>>,
    /// The clock of the person who watches; a virtual world has another.
    clock: Clock,
    is_virtual: bool,
    now: Option<Running>,
    /// What plain lines tell; whoever draws has its own.
    glance: Glance,
    last_plain: Instant,
    last_told: Instant,
    /// What the rate is taken from: a second or so ago.
    before: Option<Before>,
    /// Tells when storage does not answer; `None` of a world that has none, or before one is known.
    waiting: Option<Waiting>,
}

/// The point that is being measured.
struct Running {
    since: Instant,
    expected: Option<Nanos>,
    expected_after: Nanos,
}

/// How far a load was.
#[derive(Clone)]
struct Before {
    at: Instant,
    doing: &'static str,
    progress: workload::Progress,
    counted: Instant,
    /// Of each host, where there are several, and until when it is counted.
    hosts: Vec<(Instant, workload::Progress)>,
}

impl Before {
    fn of(live: &Live<'_>) -> Before {
        let hosts = live.hosts.iter().map(|host| (host.counted, host.progress)).collect();
        let Live { now, doing, progress, counted, .. } = *live;
        Before { at: now, doing, progress, counted, hosts }
    }
}

/// What showing progress on a terminal costs.
pub struct Cost {
    kind: &'static str,
    drawn: Arc<Shared>,
    told_ns: AtomicU64,
    clock: Clock,
    since: Instant,
}

impl Cost {
    /// So far.
    pub fn read(&self) -> record::DisplayCost {
        let told = Nanos::new(self.told_ns.load(Ordering::Relaxed));
        record::DisplayCost {
            kind: self.kind.into(),
            cpu_s: (told + self.drawn.cost()).as_secs_f64(),
            shown_s: self.clock.now().saturating_since(self.since).as_secs_f64(),
        }
    }
}

impl Progress {
    pub fn new(display: Display) -> Progress {
        let (display, clock) = (display.resolved(), Clock::start());
        let painter = match display {
            Display::Full | Display::Line => Painter::start(display == Display::Full),
            _ => None,
        };
        let now = clock.now();
        let kind = if display == Display::Full { "full" } else { "line" };
        let cost = painter.as_ref().map(|painter| {
            let (drawn, clock) = (painter.shared().clone(), clock.clone());
            Arc::new(Cost { kind, drawn, told_ns: AtomicU64::new(0), clock, since: now })
        });
        Progress {
            display,
            painter,
            cost,
            clock,
            is_virtual: false,
            now: None,
            glance: Glance::default(),
            last_plain: now,
            last_told: now,
            before: None,
            waiting: None,
        }
    }

    /// What the run is called: its plan and target.
    pub fn of(&mut self, head: &str) {
        self.tell(|glance| glance.head = head.to_owned());
    }

    /// Whose time the events tell.
    pub fn of_world(&mut self, world: record::World) {
        self.is_virtual = world == record::World::Array;
        if !self.is_virtual && !self.is_quiet() {
            let drawn = self.painter.as_ref().map(|painter| painter.shared().clone());
            self.waiting = Waiting::watch(&self.clock, drawn);
        }
    }

    /// What showing it costs; `None` where nothing is drawn.
    pub fn cost(&self) -> Option<Arc<Cost>> {
        self.cost.clone()
    }

    pub fn show(&mut self, event: &Event<'_>) {
        if self.is_quiet() {
            return;
        }
        if let Event::Live { live, .. } = event {
            if self.painter.as_ref().is_some_and(|painter| painter.shared().is_frozen()) {
                // Nobody sees how long storage is silent.
                return self.rest();
            }
            let is_soon = self.clock.now().saturating_since(self.last_told) < TOLD_EVERY;
            if self.painter.is_some()
                && is_soon
                && self.before.as_ref().is_some_and(|before| before.doing == live.doing)
            {
                return;
            }
        }
        let before = self.cost.as_ref().map(|_| thread_time());
        self.hear(event);
        if let Some((cost, before)) = self.cost.as_ref().zip(before) {
            cost.told_ns.fetch_add(thread_time().saturating_sub(before).get(), Ordering::Relaxed);
        }
    }

    fn hear(&mut self, event: &Event<'_>) {
        match event {
            Event::PointStarted { index, of, name, expected, expected_after } => {
                debug_assert!(index < of, "a point is one of those there are");
                let title = format!("[{}/{of}] {name}", index + 1);
                let (expected, expected_after) = (*expected, *expected_after);
                self.begin(title, expected, expected_after);
            }
            Event::Live { live, .. } => self.live(live),
            Event::PointEnded { .. } => self.rest(),
            Event::Aside { what, expected } => self.begin((*what).to_owned(), Some(*expected), Nanos::ZERO),
            Event::RateDecided { search } => self.decided(search),
            Event::SweepEnded { phase, why } => self.say(&format!("{phase}: {why}")),
        }
    }

    pub fn finish(&mut self) {
        self.waiting = None;
        self.painter = None;
    }

    fn is_quiet(&self) -> bool {
        self.display == Display::None
    }

    /// Changes what is shown.
    fn tell(&mut self, change: impl FnOnce(&mut Glance)) {
        match &self.painter {
            Some(painter) => change(&mut painter.shared().glance()),
            None => change(&mut self.glance),
        }
    }

    fn begin(&mut self, title: String, expected: Option<Nanos>, expected_after: Nanos) {
        if self.painter.is_none() {
            terminal::say(&title);
        }
        let since = self.clock.now();
        (self.last_plain, self.before) = (since, None);
        if let Some(waiting) = &self.waiting {
            waiting.begin(&title);
        }
        self.tell(|glance| glance.begin(&title));
        self.now = Some(Running { since, expected, expected_after });
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
        match &self.painter {
            _ if self.is_quiet() => {}
            Some(_) => terminal::say(&terminal::wrapped_for_stderr(text)),
            None => terminal::say(text),
        }
    }

    fn live(&mut self, live: &Live<'_>) {
        let Some(running) = &self.now else { return };
        let now = self.clock.now();
        self.last_told = now;
        if self.waiting.as_ref().is_some_and(|waiting| waiting.hear(live)) {
            return;
        }
        let (left, done) = (self.left(running, live, now), done(running, live));
        let ours = now.saturating_since(running.since);
        let times = self.is_virtual.then(|| (live.now.saturating_since(live.started), ours));
        debug_assert!(live.started <= live.now, "no point is shown before its start");
        let before = self.before.clone().filter(|before| before.doing == live.doing);
        // Rates are those of a second, not since the start; only the first second has none before it.
        let since = before.as_ref().map_or(live.started, |before| before.at);
        let elapsed = live.now.saturating_since(since);
        let is_whole = elapsed >= Nanos::from_secs(1);
        let (is_full, is_new) = (self.display == Display::Full, before.is_none());
        let is_first = self.before.as_ref().is_none_or(|before| before.at == live.started);
        self.tell(|glance| {
            (glance.left, glance.done, glance.times, glance.waiting) = (left, done, times, None);
            (glance.doing, glance.responses) = (live.doing, live.responses);
            (glance.in_flight, glance.errors) = (live.progress.in_flight, live.progress.errors);
            glance.has_moved = live.progress != workload::Progress::default();
            if !(is_whole || is_first) || elapsed.is_zero() {
                return;
            }
            let none = (live.started, workload::Progress::default());
            let so_far = before.as_ref().map_or(none, |before| (before.counted, before.progress));
            (glance.ops, glance.bytes) = rates((live.counted, live.progress), so_far);
            let before = before.as_ref().map_or(&[][..], |before| &before.hosts);
            let before = before.iter().copied().chain(std::iter::repeat(none));
            glance.hosts =
                live.hosts.iter().zip(before).map(|(host, so_far)| host_now(host, so_far)).collect();
            if is_whole {
                glance.add_rate(glance.ops, elapsed);
                if is_full {
                    glance.beside = live.beside.latest();
                }
            }
        });
        if is_whole {
            self.before = Some(Before::of(live));
        } else if is_new {
            let (at, progress, hosts) = (live.started, workload::Progress::default(), Vec::new());
            self.before = Some(Before { at, doing: live.doing, progress, counted: at, hosts });
        }
        if self.painter.is_none() && now.saturating_since(self.last_plain) >= PLAIN_EVERY {
            let Glance { title, left, .. } = &self.glance;
            let lines = [format!("{title}  {left}  {}", self.glance.rates())];
            let hosts = self.glance.host_lines(usize::MAX);
            terminal::say(&lines.into_iter().chain(hosts).collect::<Vec<_>>().join("\n"));
            self.last_plain = now;
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
}

/// What has come until an instant.
type SoFar = (Instant, workload::Progress);

/// Requests and bytes a second of what came after what was there before.
fn rates((until, progress): SoFar, (from, so_far): SoFar) -> (f64, f64) {
    let elapsed = until.saturating_since(from);
    let bytes = Bytes::new(progress.bytes.saturating_sub(so_far.bytes));
    let ops = progress.ops.saturating_sub(so_far.ops);
    (OpsPerSecond::of(ops, elapsed).get(), BytesPerSecond::of(bytes, elapsed).get())
}

fn host_now(host: &HostLive, so_far: SoFar) -> HostGlance {
    let (ops, bytes) = rates((host.counted, host.progress), so_far);
    let p99 = host.responses.map(|seen| seen.p99);
    HostGlance { name: report::harmless(&host.host), workers: host.workers, ops, bytes, p99 }
}

/// The part of the point that is done, as far as that is known.
fn done(running: &Running, live: &Live<'_>) -> Option<f64> {
    let elapsed = live.now.saturating_since(live.started).as_secs_f64();
    let planned = running.expected.filter(|expected| live.doing == "load" && !expected.is_zero());
    live.done.or_else(|| planned.map(|expected| (elapsed / expected.as_secs_f64()).min(1.0)))
}

/// `6 s left by the plan`; before other points `point 6 s, run 30 s left`.
fn words_of(left: Nanos, after: Nanos, basis: &str) -> String {
    match after.is_zero() {
        true => format!("{} left {basis}", rounded(left)),
        false => format!("point {}, run {} left", rounded(left), rounded(left + after)),
    }
}
