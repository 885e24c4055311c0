//! What the buffer answers while the arm works for another command.

use units::{Instant, Nanos};

use super::super::FastWrite;
use super::Drive;
use crate::device::Command;

impl Drive {
    /// Takes a command that its buffer answers while the arm works for another; when it will have ended. `None`: it is
    /// for [`Drive::submit`]. In its meter such a command waits and takes no service: that is the arm's.
    pub fn answer_beside(&mut self, now: Instant, command: Command) -> Option<Instant> {
        let serving = self.serving.as_ref()?.command;
        let cache = self.params.cache.filter(|cache| cache.answers_beside)?;
        let Command { first, write, class, .. } = command;
        let sectors = u64::from(command.sectors);
        let (end, overhead) = (first + sectors, self.params.overhead);
        // What the arm is at passes into the buffer and out of it.
        let serves_it = first < serving.first + u64::from(serving.sectors) && serving.first < end;
        let (command_time, completion) = if write {
            let fits = cache.fast_write == FastWrite::All && self.has_room(first, sectors);
            // What is read ahead keeps its segment: a write that would take it waits until the read-ahead has ended.
            let takes_ahead = self.ahead.zip(self.buffer.as_ref());
            let takes_ahead =
                takes_ahead.is_some_and(|(ahead, buffer)| buffer.gives_way(ahead.segment, first, end));
            if serves_it || !fits || takes_ahead {
                return None;
            }
            (Nanos::new(self.overhead(overhead.write_hit)), overhead.write_completion)
        } else {
            let is_written = cache.hits_on_written && self.has_written(first, end, now.nanos());
            let buffer = self.buffer.as_mut()?;
            let found = buffer.find(first).filter(|&found| end <= buffer.segment(found).end);
            if serves_it || found.is_none() && !is_written {
                return None;
            }
            if let Some(found) = found {
                if self.ahead.is_some_and(|ahead| ahead.segment == found) {
                    return None;
                }
                buffer.touch(found);
                if !cache.keeps_read {
                    buffer.consume(found, end);
                }
            }
            (Nanos::new(self.overhead(overhead.read_hit)), overhead.read_completion)
        };
        let begun = now.nanos().max(command.ready.nanos());
        let leaves = (begun + command_time.get() + overhead.data.get()).max(self.answered);
        self.answered = leaves + sectors * self.sector_ns;
        if write {
            self.last_write_end = end;
            if let Some(buffer) = self.buffer.as_mut() {
                buffer.write(first, end);
            }
            self.hold(&command, leaves, None);
        }
        let ended = Instant::from_nanos(self.answered + completion.get());
        self.beside = command_time + overhead.data + completion + Nanos::new(sectors * self.sector_ns);
        self.quiet_since = self.quiet_since.max(ended.nanos());
        self.meter.visit(now, now, ended, ended, class);
        debug_assert!(ended >= now + self.beside, "an answer takes its time");
        Some(ended)
    }

    /// What the last command took that was answered beside the arm, less what it waited for the interface.
    pub fn beside(&self) -> Nanos {
        self.beside
    }
}
