//! The use of a part of the path, or of a virtual array, in one respect.

use units::{BytesPerSecond, OpsPerSecond};

use crate::draft::percent;

/// The use of one part in one respect.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Use {
    /// The part, or the parts of a kind together: `eth0`, `disks`.
    pub part: String,
    /// Of what: `busy`, `reads`, `writes`, `bandwidth`, `requests`, `queue`.
    pub what: String,
    /// Used over most, 0 to 1 and a little more.
    pub share: f64,
    /// Used and most in `unit`; `None` for busy time, which is a share by itself.
    pub amount: Option<(f64, f64)>,
    /// `bytes_per_s`, `per_s` or `count`.
    pub unit: String,
    /// That of the fullest of several parts; `share` where it is one.
    pub most: f64,
    /// Whether it is the mean of several parts that share the work evenly: then the fullest is fuller.
    pub is_even: bool,
    /// The evidence, for a sentence: the source of the ceiling, or how many parts.
    pub basis: String,
    /// What inside it is the busiest, where a part has such.
    pub inside: Option<String>,
    /// Parts of its kind that the load does not use; `None` where it uses all, or where they are not counted.
    pub idle: Option<Idle>,
    /// Whether it is one disk that is slower than the others.
    pub is_slow: bool,
    /// What waits there; `None` where it is not counted.
    pub queue: Option<Queue>,
}

/// Parts that hardly work for a load while others of their kind do.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Idle {
    /// In the plural.
    kinds: String,
    count: usize,
    /// All of the kind.
    of: usize,
    /// Utilization of the busiest of those that are idle.
    most: f64,
    /// Whether there are fewer LUNs than controllers, so that some of these have none.
    is_without_lun: bool,
    /// What the hosts are set to.
    setup: Setup,
}

/// What hosts are set to that decides over which LUNs and paths a load goes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Setup {
    /// Requests to one LUN go over several paths.
    pub is_multipath: bool,
    /// A volume of the host lies over several LUNs.
    pub is_striped: bool,
    /// The load is fewer streams than there are LUNs that it would need: each of them lies on one.
    pub is_one_stream: bool,
}

impl Idle {
    /// Of `of` parts of a kind those with `shares` as their utilization; `None` of none.
    pub fn of(kinds: String, shares: impl Iterator<Item = f64>, of: usize) -> Option<Idle> {
        let (count, most) = shares.fold((0, 0.0_f64), |(count, most), share| (count + 1, most.max(share)));
        debug_assert!(count < of, "some of a kind work");
        (count > 0).then_some(Idle { kinds, count, of, most, is_without_lun: false, setup: Setup::default() })
    }

    /// The same where there are fewer LUNs than controllers.
    pub fn without_lun(self) -> Idle {
        Idle { is_without_lun: true, ..self }
    }

    /// The same on hosts that are set up so.
    pub fn on(self, setup: Setup) -> Idle {
        Idle { setup, ..self }
    }

    /// `12 of 24 are idle`.
    pub fn in_words(&self) -> String {
        let Idle { count, of, most, .. } = self;
        let verb = if *count == 1 { "is" } else { "are" };
        if *most < 0.005 {
            format!("{count} of {of} {verb} idle")
        } else {
            format!("{count} of {of} {verb} at most {} busy", percent(*most))
        }
    }

    /// What to do about them.
    pub fn advice(&self) -> String {
        let first = |word: &str| self.kinds.starts_with(word);
        let Setup { is_multipath, is_striped, is_one_stream } = self.setup;
        let is_on_the_way = first("link") || first("host adapter");
        let is_behind = first("link") || first("controller");
        let how = if first("disk") {
            "use the LUNs of all sets, or more of their span"
        } else if is_one_stream && !is_striped && is_behind {
            "one stream lies on one LUN, which one controller serves: make one LUN for each, and a stripe over them (`luns` with \
             `stripe=on`)"
        } else if self.is_without_lun && is_behind {
            "a LUN is served by the one controller that owns it: make one for each (`luns`), and use them all, or a stripe over them \
             (`stripe=on` with `luns`)"
        } else if is_on_the_way && !is_multipath {
            "use all paths (`multipath`)"
        } else if first("link") {
            "use the LUNs of each controller at once"
        } else if first("host adapter") {
            "use LUNs that lie behind each of them"
        } else if first("controller") {
            "have each controller own LUNs that are used"
        } else if first("host file") {
            "use more files or LUNs"
        } else if first("host") {
            "issue it from more of them"
        } else {
            "use LUNs that lie behind each of them"
        };
        let Idle { kinds, count, of, .. } = self;
        format!("Spread the load over all {of} {kinds}, of which {count} hardly work: {how}.")
    }
}

/// What waits at a part of a virtual array, and how much of its work is background work.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Queue {
    /// Visits that wait on average: of requests, and of what a cache writes out and fetches ahead as far as requests
    /// may wait for it.
    pub load: f64,
    /// The share of the busy time that is background work: a rebuild, a verification.
    pub background: f64,
    /// Whether it does more a second where more requests wait: it takes the nearest of them, and has fewer than it chooses among.
    pub gains: bool,
}

impl Use {
    /// `117 MB/s of reads, 99 % of its 118 MB/s (1000 Mb/s, …)`.
    pub(super) fn in_words(&self) -> String {
        let share = percent(self.share);
        match (self.amount, self.unit.as_str()) {
            (Some((used, most)), "bytes_per_s") => format!(
                "{} of {}, {share} of its {} ({})",
                BytesPerSecond::new(used),
                self.what,
                BytesPerSecond::new(most),
                self.basis
            ),
            (Some((used, most)), "per_s") => format!(
                "{}/s, {share} of its {}/s ({})",
                OpsPerSecond::new(used),
                OpsPerSecond::new(most),
                self.basis
            ),
            (Some((used, most)), _) => {
                format!("queue {share} full, {used:.1} of {most:.0} ({})", self.basis)
            }
            (None, _) => {
                let inside = self.inside.as_ref().map_or_else(String::new, |inside| format!(" ({inside})"));
                format!("utilization {share}{inside}{}", self.basis)
            }
        }
    }

    /// `disks 72 % busy, 3.1 waiting`.
    pub(super) fn in_short(&self) -> String {
        match self.queue {
            Some(Queue { load, .. }) if self.what == "busy" => {
                // What hardly waits is not told as less than nothing.
                let load = load.max(0.0) + 0.0;
                format!("{}, {load:.1} waiting", self.busy())
            }
            _ => self.busy(),
        }
    }

    /// The same without what waits: `disks 72 % busy`.
    pub(super) fn busy(&self) -> String {
        let share = percent(self.share);
        let background = self.queue.map_or(0.0, |queue| queue.background);
        match self.what.as_str() {
            "busy" if background >= 0.1 => {
                format!("{} {share} busy ({} of it background work)", self.part, percent(background))
            }
            "busy" => format!("{} {share} busy", self.part),
            what => format!("{} {share} ({what})", self.part),
        }
    }

    /// How near it is to being the bottleneck: what waits, and where that is not counted or nothing does, its use.
    pub(super) fn weight(&self) -> f64 {
        self.queue.map_or(0.0, |queue| queue.load) + self.share
    }

    /// A key for a number of this use.
    pub(super) fn key(&self, what: &str) -> String {
        let words = format!("{} {} {what}", self.part, self.what);
        words.chars().map(|letter| if letter.is_ascii_alphanumeric() { letter } else { '_' }).collect()
    }
}

/// The fullest first; a full queue after whatever else is full, as the one follows from the other.
pub(super) fn sort(uses: &mut [Use]) {
    let only_waits = |one: &Use| one.what == "queue" || one.share < super::FULL;
    uses.sort_by(|one, other| {
        only_waits(one).cmp(&only_waits(other)).then(other.share.total_cmp(&one.share))
    });
}

/// A part that is so busy, with what waits there and the share of background work.
#[cfg(test)]
pub(super) fn busy(part: &str, share: f64, load: f64, background: f64) -> Use {
    Use {
        part: part.into(),
        what: "busy".into(),
        share,
        amount: None,
        unit: "share".into(),
        most: share,
        is_even: false,
        basis: String::new(),
        inside: None,
        idle: None,
        is_slow: false,
        queue: Some(Queue { load, background, gains: false }),
    }
}

#[cfg(test)]
mod tests {
    use super::super::FULL;
    use super::*;

    fn used(part: &str, what: &str, share: f64) -> Use {
        Use {
            part: part.into(),
            what: what.into(),
            share,
            amount: None,
            unit: "share".into(),
            most: share,
            is_even: false,
            basis: String::new(),
            inside: None,
            idle: None,
            is_slow: false,
            queue: None,
        }
    }

    #[test]
    fn a_use_is_told_by_its_unit() {
        let told = |unit: &str, used_of: f64, most: f64| {
            let basis = "as given".into();
            Use {
                amount: Some((used_of, most)),
                unit: unit.into(),
                basis,
                inside: None,
                ..used("eth0", "reads", used_of / most)
            }
            .in_words()
        };
        assert_eq!(told("bytes_per_s", 117e6, 118e6), "117 MB/s of reads, 99 % of its 118 MB/s (as given)");
        assert_eq!(told("per_s", 500.0, 1_000.0), "500/s, 50 % of its 1,000/s (as given)");
        assert_eq!(told("count", 24.04, 32.0), "queue 75 % full, 24.0 of 32 (as given)");
        assert_eq!(
            Use { basis: ", by test".into(), ..used("sda", "busy", 0.5) }.in_words(),
            "utilization 50 %, by test"
        );
    }

    #[test]
    fn in_short_a_use_names_what_waits_and_background_work_from_a_tenth_on() {
        let queued = |background| Use {
            queue: Some(Queue { load: 3.12, background, gains: false }),
            ..used("disks", "busy", 0.72)
        };
        assert_eq!(queued(0.099).in_short(), "disks 72 % busy, 3.1 waiting");
        assert_eq!(queued(0.1).in_short(), "disks 72 % busy (10 % of it background work), 3.1 waiting");
        assert_eq!(used("sda", "busy", 0.72).in_short(), "sda 72 % busy");
        assert_eq!(used("eth0", "reads", 0.72).in_short(), "eth0 72 % (reads)");
        assert_eq!((queued(0.0).weight(), used("sda", "busy", 0.72).weight()), (3.12 + 0.72, 0.72));
        assert_eq!(used("pci 0:3b", "reads and writes", 0.1).key("share"), "pci_0_3b_reads_and_writes_share");
    }

    #[test]
    fn a_full_queue_comes_after_other_parts_that_are_full() {
        let mut uses = [
            ("a", "busy", 0.9),
            ("b", "queue", 1.2),
            ("c", "reads", FULL),
            ("d", "busy", 0.99),
            ("e", "busy", 0.94),
        ]
        .map(|(part, what, share)| used(part, what, share));
        sort(&mut uses);
        assert_eq!(uses.map(|one| one.part), ["d", "c", "b", "e", "a"]);
    }
}
