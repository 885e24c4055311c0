//! What works inside a drive, side by side: the busiest of it is what bounds the drive.

use units::{Instant, Nanos};

use super::FlashDrive;
use crate::backlog::Backlog;
use crate::device::Inner;

/// Kinds of parts of a drive.
pub(super) const KINDS: usize = 8;

/// The controller's way to the flash, as it is called where pages take it.
const PATH: &str = "flash write path";

/// The controller itself.
const CONTROLLER: &str = "drive controller";

impl FlashDrive {
    /// Nanoseconds that the parts of each kind have worked by `now`, all together, with how many there are.
    pub(super) fn worked_by(&self, now: Instant) -> [Inner; KINDS] {
        let of = |name, one: &Backlog| Inner { name, servers: 1, busy: Nanos::new(one.worked_by(now)) };
        let dies = self.dies.iter().map(|die| die.worked_by(now)).sum();
        let channels = self.channels.iter().map(|channel| channel.worked_by(now)).sum();
        let path = self.write_path.map(|(path, _)| path).unwrap_or_default();
        [
            Inner { busy: Nanos::new(dies), ..self.no_work() },
            Inner { busy: Nanos::new(channels), ..Inner::of("flash channels", self.channels.len()) },
            of(PATH, &path),
            of(CONTROLLER, &self.processor),
            of("link to the drive", &self.to_drive),
            of("link from the drive", &self.to_host),
            of("flushes, one at a time", &self.turns.alone),
            // Never more than all of that way.
            Inner {
                name: CONTROLLER,
                servers: 1,
                busy: self.path_for_reads.min(Nanos::new(path.worked_by(now))),
            },
        ]
    }

    /// What it reads and programs with, before it has.
    fn no_work(&self) -> Inner {
        let name = if self.params.reads_at_once() > 1 { "flash planes" } else { "flash dies" };
        Inner::of(name, self.dies.len())
    }

    /// The busiest kind of its parts from the beginning of the window until `now`. The way to the flash is the controller's own where
    /// the commands of reads take most of it: then nothing waits for pages.
    pub fn busiest(&self, now: Instant) -> Inner {
        let (mut most, mut for_reads) = (self.no_work(), Nanos::ZERO);
        for (part, before) in self.worked_by(now).into_iter().zip(self.worked_before) {
            let part = Inner { busy: part.busy.saturating_sub(before.busy), ..part };
            for_reads = part.busy;
            if part.each() > most.each() {
                most = part;
            }
        }
        let is_of_reads = most.name == PATH && for_reads * 2 >= most.busy;
        Inner { name: if is_of_reads { CONTROLLER } else { most.name }, ..most }
    }
}
