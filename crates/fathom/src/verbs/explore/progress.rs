//! How far a study is: a line that changes on a terminal, and elsewhere a line every some seconds.

use explore::Heard;
use explore::evaluate::Depth;
use host::clock::Clock;
use units::convert::truncated;
use units::{Instant, Nanos};

use crate::terminal::{self, Display};

/// The line that changes is drawn no more often than that.
const EVERY: Nanos = Nanos::from_millis(200);

/// How often a line comes where none can change.
const PLAIN_EVERY: Nanos = Nanos::from_secs(5);

/// What is shown of a study.
pub struct Progress {
    clock: Clock,
    display: Display,
    drawn: Instant,
    course: Course,
}

impl Progress {
    /// Of a study that begins now.
    pub fn begin(display: Display) -> Progress {
        let clock = Clock::start();
        let now = clock.now();
        Progress { clock, display, drawn: now, course: Course::begin(now) }
    }

    /// How many simulations have ended.
    pub fn simulations(&self) -> u64 {
        self.course.ended
    }

    /// Takes note of what goes on, and shows it where it is time.
    pub fn hear(&mut self, heard: &Heard<'_>) {
        let now = self.clock.now();
        self.course.hear(heard, now);
        let changes = !matches!(self.display, Display::Plain) && terminal::stderr_is_terminal();
        let every = if changes { EVERY } else { PLAIN_EVERY };
        if matches!(self.display, Display::None) || now.saturating_since(self.drawn) < every {
            return;
        }
        self.drawn = now;
        match changes {
            true => terminal::show_line(&self.course.words(now)),
            false => terminal::say(&format!("{}{}", self.course.words(now), self.course.basis())),
        }
    }
}

/// What a study does one after the other.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// The exact figures of all designs.
    Counting,
    /// Simulations that were found to be wanted.
    Round(Depth),
}

/// How far a study is.
struct Course {
    stage: Stage,
    /// When the stage began.
    since: Instant,
    /// When something was last heard.
    last: Instant,
    done: u64,
    of: u64,
    designs: u64,
    ended: u64,
}

impl Course {
    fn begin(now: Instant) -> Course {
        Course { stage: Stage::Counting, since: now, last: now, done: 0, of: 0, designs: 0, ended: 0 }
    }

    fn hear(&mut self, heard: &Heard<'_>, now: Instant) {
        let (stage, done, of) = match heard {
            Heard::Counted { done, of } => {
                self.designs = *of;
                (Stage::Counting, *done, *of)
            }
            Heard::Ended(ended) => {
                self.ended += 1;
                (Stage::Round(ended.depth), ended.done as u64, ended.of as u64)
            }
        };
        debug_assert!(done <= of, "no more has ended than there is");
        // Of two rounds of one depth the second begins with its first simulation.
        if stage != self.stage || done <= self.done {
            self.since = self.last;
        }
        (self.stage, self.done, self.of, self.last) = (stage, done, of, now);
    }

    /// How long what is left of the stage takes at its pace so far, to the second.
    fn remaining(&self, now: Instant) -> Option<Nanos> {
        let took = now.saturating_since(self.since).as_secs_f64();
        debug_assert!(self.since <= self.last, "a stage begins before it is heard of");
        let each = (self.done > 0 && self.of > self.done).then(|| took / self.done as f64)?;
        Some(Nanos::from_secs(truncated((each * (self.of - self.done) as f64).ceil())))
    }

    fn words(&self, now: Instant) -> String {
        let Course { done, of, designs, ended, .. } = self;
        let done = match self.stage {
            Stage::Counting => format!("{done} of {of} designs counted"),
            Stage::Round(depth) => format!(
                "{designs} designs, {} round: {done} of {of} simulations ({ended} in all)",
                depth.name()
            ),
        };
        let left = self.remaining(now).map(|left| format!(", ETA {left}")).unwrap_or_default();
        done + &left
    }

    /// What the time that is left follows from, and what it leaves out.
    fn basis(&self) -> &'static str {
        match self.stage {
            _ if self.done == self.of => "",
            Stage::Counting => " at the pace so far; the simulations follow",
            Stage::Round(_) => " for this round at its pace so far; what it finds decides how many follow",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use explore::Outcome;
    use explore::evaluate::Ended;

    fn at(seconds: u64) -> Instant {
        Instant::START.saturating_add(Nanos::from_secs(seconds))
    }

    #[test]
    fn a_line_says_how_many_designs_and_simulations_are_done_and_how_long_the_rest_of_the_round_takes() {
        let mut course = Course::begin(at(0));
        course.hear(&Heard::Counted { done: 256, of: 1024 }, at(2));
        assert_eq!(course.words(at(2)), "256 of 1024 designs counted, ETA 6.00 s");
        assert!(course.basis().contains("at the pace so far"));
        course.hear(&Heard::Counted { done: 1024, of: 1024 }, at(8));
        assert_eq!(course.words(at(8)) + course.basis(), "1024 of 1024 designs counted");
        let outcome = Outcome::Refused("no".into());
        let ended =
            |done, of| Heard::Ended(Ended { depth: Depth::Coarse, done, of, key: "a", outcome: &outcome });
        course.hear(&ended(1, 4), at(10));
        let line = course.words(at(10));
        assert!(line.contains("1 of 4 simulations (1 in all)") && line.ends_with("ETA 6.00 s"), "{line}");
        course.hear(&ended(4, 4), at(16));
        // The next round of the same depth begins where that one ended.
        course.hear(&ended(1, 11), at(17));
        assert!(
            course.words(at(17)).ends_with("coarse round: 1 of 11 simulations (3 in all), ETA 10.0 s"),
            "{}",
            course.words(at(17))
        );
    }
}
