//! Quiescing between two loads: what was written is on the media, and nothing is kept for reads.
//!
//! **Invariant:** afterwards a load meets what it would meet on an array that has done nothing yet, but for what lasts:
//! the health of its sets, background work in progress, the flash pages in use, and the positions of the arms.

use units::convert::narrow;
use units::{Instant, Nanos};

use super::Sim;
use super::cache::Cache;

impl Sim {
    /// Lets all that hosts, controllers and devices hold of written data reach the media, for `most` at the longest, and
    /// then empties what they keep for reads. Whether all of it did.
    ///
    /// Call it when no load runs. What a controller holds that has failed stays there: that is no rest.
    pub fn quiesce(&mut self, most: Nanos) -> bool {
        let until = self.now.saturating_add(most);
        for host in 0..narrow::<u32>(self.hosts.len()) {
            self.write_back_run(host, self.now);
        }
        self.step_while(until, |sim| sim.requests.in_use() > 0);
        for lun in 0..self.topology.luns.len() {
            let volume = self.volume_range(lun);
            let working = self.nodes.iter_mut().filter(|node| node.alive);
            working.filter_map(|node| node.cache.as_mut()).for_each(|cache| cache.urge(volume));
        }
        for controller in 0..narrow::<u32>(self.nodes.len()) {
            self.destage(controller);
        }
        self.step_while(until, |sim| sim.is_writing_out() || sim.back.foreground() > 0);
        let is_clean = self.dirty().is_zero() && self.back.foreground() == 0;
        let now = self.now;
        let quiet = self.back.disks.iter_mut().map(|disk| disk.device.settle(now)).max();
        self.idle_until(quiet.unwrap_or(now).max(now));
        self.drop_caches();
        if self.back.foreground() == 0 {
            self.nodes.iter_mut().filter_map(|node| node.cache.as_mut()).for_each(Cache::forget_reads);
        }
        is_clean
    }

    /// Whether a working controller holds anything that the members do not.
    fn is_writing_out(&self) -> bool {
        let working = self.nodes.iter().filter(|node| node.alive);
        working.filter_map(|node| node.cache.as_ref()).any(|cache| cache.dirty_bytes() > 0)
    }

    /// Handles events while there is something to wait for, until `until` at the latest.
    fn step_while(&mut self, until: Instant, waits: impl Fn(&Sim) -> bool) {
        while waits(self) && self.events.next_due() <= until && self.step() {}
    }
}
