//! Quiescing between two loads: what was written is on the media, and nothing is kept for reads.
//!
//! **Invariant:** afterwards a load meets what it would meet on an array that has done nothing yet, but for what lasts:
//! the health of its sets, background work in progress, the flash pages in use, and the positions of the arms.

use units::{Instant, Nanos};

use super::Sim;

impl Sim {
    /// Lets all that hosts, controllers and devices hold of written data reach the media, for `most` at the longest, and
    /// then empties what they keep for reads. Whether all of it did.
    ///
    /// Call it when no load runs. What a controller holds that has failed stays there: that is no rest.
    pub fn quiesce(&mut self, most: Nanos) -> bool {
        let until = self.now().saturating_add(most);
        self.hosts.write_back(&mut self.traffic, &mut self.array);
        self.step_while(until, |sim| sim.traffic.requests.in_use() > 0);
        self.array.write_out(&mut self.traffic);
        self.step_while(until, |sim| sim.array.is_writing_out() || sim.array.back.foreground() > 0);
        let is_done = self.array.back.foreground() == 0;
        let is_clean = self.dirty().is_zero() && is_done;
        let now = self.now();
        let quiet = self.array.back.disks.iter_mut().map(|disk| disk.device.settle(now)).max();
        self.idle_until(quiet.unwrap_or(now).max(now));
        self.hosts.drop_caches();
        if self.array.back.foreground() == 0 {
            self.array.forget_reads();
            self.array.back.settle_bitmaps();
        }
        is_clean
    }

    /// Handles events while there is something to wait for, until `until` at the latest.
    fn step_while(&mut self, until: Instant, waits: impl Fn(&Sim) -> bool) {
        while waits(self) && self.traffic.time.next_due() <= until && self.step() {}
    }
}
