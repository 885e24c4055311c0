//! `--status-interval`: reports of what the jobs of fio did so far, while they run.

use conduct::Event;
use formats::fio::Command;
use host::clock::Clock;
use record::{Point, Run};
use units::{Instant, Nanos};

use crate::ending::Failure;
use crate::output::print;

/// Prints a report after each interval, or keeps it for the file that the reports go to.
pub struct Status<'a> {
    command: &'a Command,
    every: Nanos,
    clock: Clock,
    due: Instant,
    /// The run, with the points that have ended.
    run: Run,
    /// The reports that go to a file.
    kept: String,
    lost: Result<(), Failure>,
}

impl<'a> Status<'a> {
    /// Those that `command` asks for of `run`, which begins; `None` where it asks for none.
    pub fn of(command: &'a Command, run: &Run) -> Option<Status<'a>> {
        let every = Nanos::new(command.wanted.status_every_ns?);
        assert!(!every.is_zero(), "reports have time between them");
        let clock = Clock::start();
        let due = clock.now() + every;
        Some(Status { command, every, clock, due, run: run.clone(), kept: String::new(), lost: Ok(()) })
    }

    /// Reports where an interval has passed.
    pub fn hear(&mut self, event: &Event<'_>) {
        match event {
            Event::PointEnded { point } => self.run.points.push((*point).clone()),
            Event::Live { so_far: Some(so_far), .. } if self.clock.now() >= self.due => {
                // What has come too late for one interval is in the report of the next.
                let now = self.clock.now();
                while self.due <= now {
                    self.due += self.every;
                }
                debug_assert!(self.due > now, "the next report is due after this one");
                self.report(so_far());
            }
            _ => {}
        }
    }

    fn report(&mut self, point: Point) {
        self.run.points.push(point);
        self.run.ended = Some(jiff::Timestamp::now().to_string());
        let text = self.command.report(&self.run);
        self.run.points.pop();
        match self.command.wanted.file {
            Some(_) => self.kept += &text,
            None if self.lost.is_ok() => self.lost = print(&text),
            None => {}
        }
    }

    /// The reports for the file; an error where one could not be printed.
    pub fn finish(self) -> Result<String, Failure> {
        self.lost.map(|()| self.kept)
    }
}
