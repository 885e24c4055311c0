//! How large a scratch file should be, and why.
//!
//! **Invariant:** decides only; every figure it goes by is handed in.

use units::convert::truncated;
use units::{Bytes, BytesPerSecond, Instant, Nanos};

use crate::scratch::{Progress, Step};

/// The least that `auto` takes. Nearly every device serves so little from its own cache, which the words of a
/// [`SizeChoice`] say; less holds too few requests of 1 MiB to tell a pattern by.
pub const LEAST: Bytes = Bytes::new(16 << 20);

/// What `auto` takes with direct I/O when no cache is known: above the caches of single disks (256 MiB to 2 GiB of
/// DRAM in today's data sheets) and of entry and middle arrays (1 to 4 GiB a controller).
pub const DIRECT: Bytes = Bytes::new(8 << 30);

/// What is known when a size has to be chosen.
#[derive(Clone, Debug, Default)]
pub struct SizeEnvironment {
    /// Memory of this host.
    pub ram: Bytes,
    /// The size of the file system; zero where it holds no files.
    pub total: Bytes,
    /// What is free on the file system for this user, with what a scratch file gives back that is replaced.
    pub free: Bytes,
    /// What has to stay free, see [`reserve`].
    pub reserve: Bytes,
    /// What the marks of the files take, and files whose size is settled already.
    pub taken: Bytes,
    /// The largest cache that is known to lie between this host and the medium, in the device or the array.
    pub known_cache: Bytes,
    /// Whether the page cache is bypassed.
    pub direct: bool,
    /// The hypervisor, where there is one: its memory may cache what this host cannot see.
    pub hypervisor: Option<String>,
    /// How long the laying-out may take, at which rate.
    pub time: Option<(Nanos, BytesPerSecond)>,
}

/// A size and the reason for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SizeChoice {
    /// The size of the data region, a multiple of 1 MiB.
    pub size: Bytes,
    /// Whether the page cache cannot answer for the device: bypassed, or the file is twice as large as memory.
    pub beats_page_cache: bool,
    /// Whether it is at least twice as large as every cache that is known.
    pub beats_known_caches: bool,
    /// One or two sentences.
    pub why: String,
}

/// The size that beats every cache that is known: twice the memory for buffered I/O, [`DIRECT`] for direct I/O, in
/// either case twice the known caches; less where the free space or the time allow no more.
///
/// Twice, because a file no larger than a cache may be served from it whole; of one twice as large at most half of all
/// random reads are, and of repeated sequential passes none (least recently used).
/// `None` where not even [`LEAST`] fits.
pub fn auto_size(given: &SizeEnvironment) -> Option<SizeChoice> {
    let base = if given.direct { DIRECT } else { given.ram * 2 };
    let wanted = base.max(given.known_cache * 2);
    let free = given.room();
    let mut limits = vec![(free, format!("{} free less a reserve of {}", given.free, given.reserve))];
    limits.extend(given.time.map(|(time, rate)| {
        let fits = Bytes::new(truncated(rate.get() * time.as_secs_f64()));
        (fits, format!("{time} for laying it out"))
    }));
    let (limit, limit_words) = limits.into_iter().min_by_key(|(limit, _)| *limit)?;
    let size = wanted.min(limit).round_down(Bytes::MIB);
    if size < LEAST {
        return None;
    }
    assert!(size <= limit && size <= wanted, "a size must fit, and be no larger than needed");
    assert!(size.get().is_multiple_of(Bytes::MIB.get()), "a size must be round");
    let reason = match (size < wanted, given.direct) {
        (true, _) => Reason::Cut(wanted, limit_words),
        (false, true) => Reason::Direct,
        (false, false) => Reason::TwiceTheMemory,
    };
    Some(given.choice(size, &reason))
}

/// The size that the user asks for, to the byte, or what would fit in its place: it is neither raised nor cut.
pub fn requested_size(given: &SizeEnvironment, asked: Bytes) -> Result<SizeChoice, Bytes> {
    match given.room() {
        room if asked <= room => Ok(given.choice(asked, &Reason::Requested)),
        room => Err(room.round_down(Bytes::MIB)),
    }
}

/// Why a size and no other.
enum Reason {
    Direct,
    TwiceTheMemory,
    /// Less than that, and what cut it.
    Cut(Bytes, String),
    Requested,
}

impl SizeEnvironment {
    /// What data regions may take together.
    fn room(&self) -> Bytes {
        self.free.saturating_sub(self.reserve).saturating_sub(self.taken)
    }

    fn choice(&self, size: Bytes, reason: &Reason) -> SizeChoice {
        let beats_page_cache = self.direct || size >= self.ram * 2;
        let beats_known_caches = size >= self.known_cache * 2;
        assert!(size <= self.room(), "a size must fit");
        let why = why(self, size, reason, beats_page_cache, beats_known_caches);
        SizeChoice { size, beats_page_cache, beats_known_caches, why }
    }
}

fn why(
    given: &SizeEnvironment,
    size: Bytes,
    reason: &Reason,
    beats_page_cache: bool,
    beats_known_caches: bool,
) -> String {
    let mut why = match reason {
        Reason::Direct => format!("{size}: direct I/O bypasses the page cache"),
        Reason::TwiceTheMemory => format!("{size}: at least twice the {} of memory", given.ram),
        Reason::Cut(wanted, limit) => {
            format!("{size}, though {wanted} would be better: limited by {limit}")
        }
        Reason::Requested => format!("{}, as requested", size.exact()),
    };
    why += &match (beats_page_cache, given.direct, reason) {
        (false, ..) => format!("; the page cache ({} of memory) may hold a part or all of it", given.ram),
        (true, true, Reason::Cut(..) | Reason::Requested) => "; direct I/O bypasses the page cache".into(),
        _ => String::new(),
    };
    why += &match (given.known_cache.is_zero(), beats_known_caches) {
        (true, _) => format!(
            "; a cache of {} or more in a device or an array may hold half of it",
            Bytes::new(size.get() / 2)
        ),
        (false, true) => format!("; at least twice the largest known cache ({})", given.known_cache),
        (false, false) => format!("; the known cache of {} may hold a part or all of it", given.known_cache),
    };
    if let Some(hypervisor) = &given.hypervisor {
        why += &format!(
            "; this is a virtual machine ({hypervisor}), whose host may cache it in memory of its own"
        );
    }
    why + "."
}

/// What has to stay of `free` on a file system of `size`: 5 % of its size, at least 1 GiB, but never more than a quarter
/// of what is free, so that three quarters of it are left for a small file system and for a full one alike.
///
/// 5 % is what ext4 itself keeps for root (mke2fs(8), `-m`): below it allocators fragment and logs fail.
pub fn reserve(size: Bytes, free: Bytes) -> Bytes {
    let reserve = Bytes::new(size.get() / 20).max(Bytes::GIB).min(Bytes::new(free.get() / 4));
    assert!(reserve <= free, "no more can stay free than is free");
    reserve
}

/// A limit on the time of laying out: what is written by then is enough, if it is at least `least`.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    /// When it is used up.
    pub until: Instant,
    /// What must be written in any case.
    pub least: Bytes,
}

impl Budget {
    /// Whether to go on at `now`.
    pub fn step(&self, now: Instant, progress: Progress) -> Step {
        if now >= self.until && progress.written >= self.least { Step::Enough } else { Step::Continue }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plenty() -> SizeEnvironment {
        SizeEnvironment {
            ram: Bytes::GIB * 24,
            total: Bytes::TIB * 2,
            free: Bytes::TIB,
            reserve: Bytes::GIB * 50,
            taken: Bytes::ZERO,
            known_cache: Bytes::ZERO,
            direct: false,
            hypervisor: None,
            time: None,
        }
    }

    #[test]
    fn buffered_io_takes_twice_the_memory_and_says_so() {
        let choice = auto_size(&plenty()).expect("there is room");
        assert_eq!(choice.size, Bytes::GIB * 48);
        assert!(choice.beats_page_cache);
        assert!(choice.why.starts_with("48 GiB: at least twice the 24 GiB of memory"), "{}", choice.why);
    }

    #[test]
    fn direct_io_does_not_count_the_page_cache_but_counts_a_known_cache() {
        let choice = auto_size(&SizeEnvironment { direct: true, ..plenty() }).expect("there is room");
        assert_eq!(choice.size, DIRECT);
        assert!(choice.beats_page_cache);
        assert!(choice.why.contains("a cache of 4 GiB or more"), "{}", choice.why);
        let array = SizeEnvironment { direct: true, known_cache: Bytes::GIB * 32, ..plenty() };
        let choice = auto_size(&array).expect("there is room");
        assert_eq!(choice.size, Bytes::GIB * 64);
        assert!(choice.beats_known_caches);
    }

    #[test]
    fn a_size_that_only_just_beats_a_cache_beats_it() {
        let given = SizeEnvironment { ram: Bytes::GIB * 4, known_cache: Bytes::GIB * 2, ..plenty() };
        for (asked, page, known) in [
            (Bytes::GIB * 8, true, true),
            (Bytes::GIB * 8 - Bytes::new(1), false, true),
            (Bytes::GIB * 4, false, true),
            (Bytes::GIB * 4 - Bytes::new(1), false, false),
        ] {
            let choice = requested_size(&given, asked).expect("there is room");
            assert_eq!((choice.beats_page_cache, choice.beats_known_caches), (page, known), "{asked}");
        }
    }

    #[test]
    fn every_choice_has_its_whole_reason() {
        let words = |given: SizeEnvironment| auto_size(&given).expect("there is room").why;
        assert_eq!(
            words(plenty()),
            "48 GiB: at least twice the 24 GiB of memory; a cache of 24 GiB or more in a device or an array may hold \
             half of it."
        );
        assert_eq!(
            words(SizeEnvironment { direct: true, known_cache: Bytes::GIB * 2, ..plenty() }),
            "8 GiB: direct I/O bypasses the page cache; at least twice the largest known cache (2 GiB)."
        );
        let small = SizeEnvironment { free: Bytes::GIB * 60, known_cache: Bytes::GIB * 6, ..plenty() };
        assert_eq!(
            words(SizeEnvironment { direct: true, hypervisor: Some("kvm".into()), ..small.clone() }),
            "10 GiB, though 12 GiB would be better: limited by 60 GiB free less a reserve of 50 GiB; direct I/O bypasses \
             the page cache; the known cache of 6 GiB may hold a part or all of it; this is a virtual machine (kvm), \
             whose host may cache it in memory of its own."
        );
        assert_eq!(
            words(small),
            "10 GiB, though 48 GiB would be better: limited by 60 GiB free less a reserve of 50 GiB; the page cache \
             (24 GiB of memory) may hold a part or all of it; the known cache of 6 GiB may hold a part or all of it."
        );
    }

    #[test]
    fn the_least_is_taken_and_no_less_and_what_is_taken_already_counts() {
        let given = |free: Bytes| SizeEnvironment { free, reserve: Bytes::ZERO, direct: true, ..plenty() };
        assert_eq!(auto_size(&given(LEAST)).map(|choice| choice.size), Some(LEAST));
        assert_eq!(auto_size(&given(LEAST - Bytes::new(1))), None);
        let taken = SizeEnvironment { taken: Bytes::MIB * 4, ..given(LEAST + Bytes::MIB * 5) };
        assert_eq!(auto_size(&taken).map(|choice| choice.size), Some(LEAST + Bytes::MIB));
    }

    #[test]
    fn the_tightest_limit_cuts_and_is_named() {
        let limited = SizeEnvironment {
            free: Bytes::GIB * 60,
            time: Some((Nanos::from_secs(10), BytesPerSecond::new(100e6))),
            ..plenty()
        };
        let choice = auto_size(&limited).expect("there is room");
        assert_eq!(choice.size, Bytes::MIB * 953);
        assert!(!choice.beats_page_cache);
        assert!(choice.why.contains("for laying it out"), "{}", choice.why);
        assert!(choice.why.contains("page cache (24 GiB of memory) may hold"), "{}", choice.why);
        let full = SizeEnvironment { free: Bytes::GIB * 50, ..plenty() };
        assert_eq!(auto_size(&full), None);
    }

    #[test]
    fn the_size_that_is_requested_is_taken_to_the_byte_or_refused_with_what_would_fit() {
        let given = SizeEnvironment { direct: true, ..plenty() };
        for size in [Bytes::KIB * 16, Bytes::MIB * 16, Bytes::GIB * 64, Bytes::new(12_345)] {
            let choice = requested_size(&given, size).expect("there is room");
            assert_eq!(choice.size, size);
            assert!(choice.why.contains("as requested; direct I/O bypasses"), "{}", choice.why);
        }
        let fits = requested_size(&given, Bytes::TIB).expect_err("the reserve is kept");
        assert_eq!(fits, Bytes::GIB * (1024 - 50));
        assert_eq!(requested_size(&given, fits).expect("what fits, fits").size, fits);
    }

    #[test]
    fn the_reserve_is_a_twentieth_at_least_a_gib_and_at_most_a_quarter_of_what_is_free() {
        assert_eq!(reserve(Bytes::GIB * 200, Bytes::GIB * 190), Bytes::GIB * 10);
        assert_eq!(reserve(Bytes::GIB * 8, Bytes::GIB * 7), Bytes::GIB);
        assert_eq!(reserve(Bytes::MIB * 64, Bytes::MIB * 60), Bytes::MIB * 15);
        assert_eq!(reserve(Bytes::TIB, Bytes::GIB * 40), Bytes::GIB * 10);
    }

    #[test]
    fn a_file_system_of_any_size_and_filling_leaves_a_size_down_to_the_least() {
        for size in (5..22).map(|power| Bytes::MIB * (1 << power)) {
            for free in [1, 2, 10, 50, 90, 99].map(|percent| Bytes::new(size.get() / 100 * percent)) {
                let given = SizeEnvironment { direct: true, free, reserve: reserve(size, free), ..plenty() };
                let choice = auto_size(&given);
                let is_enough = Bytes::new(free.get() / 4 * 3).round_down(Bytes::MIB) >= LEAST;
                assert!(choice.is_some() || !is_enough, "{free} of {size} are free, and no size was found");
                assert!(choice.is_none_or(|choice| choice.size + given.reserve <= free), "{size} {free}");
            }
        }
    }

    #[test]
    fn a_budget_ends_the_laying_out_only_when_enough_is_written() {
        let budget = Budget { until: Instant::from_nanos(100), least: Bytes::MIB };
        let at =
            |now, written| budget.step(Instant::from_nanos(now), Progress { written, total: Bytes::GIB });
        assert_eq!(at(99, Bytes::GIB), Step::Continue);
        assert_eq!(at(100, Bytes::KIB), Step::Continue);
        assert_eq!(at(100, Bytes::MIB), Step::Enough);
    }
}
