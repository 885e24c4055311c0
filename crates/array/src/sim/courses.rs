//! How busy each part was over time.
//!
//! **Invariant:** a long run takes no more than a short one: when there are too many stretches, two become one.

use units::{Bytes, Instant, Nanos};

use super::Sim;

/// Stretches are as long at first.
const FIRST: Nanos = Nanos::from_secs(1);
/// More of them are put together.
const MOST: usize = 64;

/// How busy each part was, stretch by stretch.
#[derive(Clone, Debug, PartialEq)]
pub struct Courses {
    /// When the first stretch began.
    pub from: Instant,
    /// When each ended.
    pub ends: Vec<Instant>,
    /// Every part, disks last.
    pub parts: Vec<Course>,
    /// What had been acknowledged and was not on the media at the end of each.
    unwritten: Vec<Bytes>,
    /// Nanoseconds that each part was busy in windows of its meter before the present one.
    kept_ns: Vec<u64>,
    each: Nanos,
    next: Instant,
}

/// How busy one part was.
#[derive(Clone, Debug, PartialEq)]
pub struct Course {
    /// Its kind and number, as in [`Component`](super::Component).
    pub name: String,
    servers: u32,
    /// Nanoseconds that its servers together were busy until the end of each stretch.
    busy_ns: Vec<u64>,
}

impl Courses {
    /// Nothing yet, from `from` on.
    pub(super) fn begin(from: Instant) -> Courses {
        let next = from.saturating_add(FIRST);
        let (ends, parts, unwritten, kept_ns) = Default::default();
        Courses { from, ends, parts, unwritten, kept_ns, each: FIRST, next }
    }

    /// Whether a stretch has ended by `now`.
    #[inline]
    pub(super) fn is_due(&self, now: Instant) -> bool {
        now >= self.next
    }

    /// The part of each stretch in which the servers of part `number` were busy, 0 to 1.
    pub fn utilisation(&self, number: usize) -> Vec<f64> {
        let Some(part) = self.parts.get(number) else { return Vec::new() };
        let (mut began, mut before) = (self.from, 0);
        let share = |(end, busy_ns): (&Instant, &u64)| {
            let whole = end.saturating_since(began).get() as f64 * f64::from(part.servers);
            let busy = busy_ns.saturating_sub(before) as f64;
            (began, before) = (*end, *busy_ns);
            if whole > 0.0 { (busy / whole).min(1.0) } else { 0.0 }
        };
        self.ends.iter().zip(&part.busy_ns).map(share).collect()
    }

    /// What had been acknowledged and was not on the media at the end of the stretch that ended last by `at`; `None` where none had,
    /// from `since` on.
    pub fn unwritten_by(&self, since: Instant, at: Instant) -> Option<Bytes> {
        let last = self.ends.partition_point(|end| *end <= at).checked_sub(1)?;
        (self.ends[last] >= since).then(|| self.unwritten.get(last).copied()).flatten()
    }

    /// The last stretch ends at `now`, unless it is too short to tell anything.
    pub(super) fn is_half_due(&self, now: Instant) -> bool {
        now.saturating_add(Nanos::new(self.each.get() / 2)) >= self.next
    }

    fn take(&mut self, now: Instant, number: usize, name: &dyn Fn() -> String, servers: u32, busy_ns: u64) {
        if number == self.parts.len() {
            self.parts.push(Course { name: name(), servers, busy_ns: Vec::new() });
        }
        debug_assert!(self.ends.last() == Some(&now), "a stretch has one end");
        let kept_ns = self.kept_ns.get(number).copied().unwrap_or(0);
        self.parts[number].busy_ns.push(kept_ns + busy_ns);
    }

    /// Part `number` was busy for `busy_ns` in the window of its meter that ends.
    fn keep(&mut self, number: usize, busy_ns: u64) {
        if number == self.kept_ns.len() {
            self.kept_ns.push(0);
        }
        self.kept_ns[number] += busy_ns;
    }

    fn end_stretch(&mut self, now: Instant) {
        if self.ends.len() == MOST {
            keep_every_other(&mut self.ends);
            self.parts.iter_mut().for_each(|part| keep_every_other(&mut part.busy_ns));
            keep_every_other(&mut self.unwritten);
            self.each = self.each * 2;
        }
        debug_assert!(self.ends.last().is_none_or(|last| *last <= now), "stretches follow each other");
        self.ends.push(now);
        self.next = now.saturating_add(self.each);
    }
}

/// Of ends those of pairs, so that what is between them is that of both.
fn keep_every_other<T: Copy>(all: &mut Vec<T>) {
    *all = all.iter().copied().skip(1).step_by(2).collect();
}

impl Sim {
    /// Ends a stretch of `courses` for every part.
    pub(super) fn sample(&mut self, courses: &mut Courses) {
        let now = self.now();
        courses.end_stretch(now);
        courses.unwritten.push(self.unwritten());
        self.each_busy(|number, name, servers, busy_ns| courses.take(now, number, name, servers, busy_ns));
        let stretches = courses.ends.len();
        assert!(
            courses.parts.iter().all(|part| part.busy_ns.len() == stretches),
            "each stretch is of all parts"
        );
    }

    /// Has `courses` keep how busy each part was, before its meter forgets it.
    pub(super) fn keep_busy(&mut self, courses: &mut Courses) {
        self.each_busy(|number, _, _, busy_ns| courses.keep(number, busy_ns));
    }

    /// Every part by its number, with its name, its servers and how many nanoseconds these were busy in the window of its meter until now.
    fn each_busy(&mut self, mut visit: impl FnMut(usize, &dyn Fn() -> String, u32, u64)) {
        let (now, mut number) = (self.now(), 0);
        self.each_part(|name, part| {
            visit(number, name, part.servers(), part.busy_by(now));
            number += 1;
        });
        for (n, disk) in self.array.back.disks.iter_mut().enumerate() {
            let servers = disk.device.servers();
            let busy_ns = match (disk.device.busiest(now), disk.device.workers()) {
                (Some(part), _) => part.each().get() * u64::from(servers),
                (None, Some(workers)) => workers.busy_by(now),
                (None, None) => disk.device.busy_by(now),
            };
            visit(number + n, &|| format!("disk {n}"), servers, busy_ns);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_run_has_no_more_stretches_than_a_short_one_and_each_keeps_what_it_was() {
        let at = |seconds: u64| Instant::START.saturating_add(Nanos::from_secs(seconds));
        let mut courses = Courses::begin(at(0));
        for second in 1..=1000 {
            if courses.is_due(at(second)) {
                courses.end_stretch(at(second));
                courses.unwritten.push(Bytes::new(second));
                // Two servers, of which one is busy in every other second of a hundred.
                courses.take(at(second), 0, &|| "disk 0".into(), 2, second * 500_000_000);
            }
        }
        assert!((32..=64).contains(&courses.ends.len()), "{}", courses.ends.len());
        assert!(courses.utilisation(0).iter().all(|share| (share - 0.25).abs() < 1e-9));
        assert_eq!(courses.utilisation(0).len(), courses.ends.len());
        assert!(courses.utilisation(1).is_empty());
        let held = courses.unwritten_by(at(0), at(500)).map(Bytes::get);
        assert!(held.is_some_and(|held| (468..=500).contains(&held)), "{held:?}");
        assert_eq!(courses.unwritten_by(at(501), at(500)), None, "no stretch ended between the two");
    }
}
