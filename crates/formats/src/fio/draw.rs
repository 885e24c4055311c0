//! Numbers that follow from a seed and a name, so that the same job file draws the same ones again.

/// A number that follows from a seed and a name: FNV-1a, then the finisher of splitmix64.
pub(super) fn drawn(seed: u64, name: &str) -> u64 {
    let hash = name.bytes().fold(seed ^ 0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    let hash = (hash ^ (hash >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let hash = (hash ^ (hash >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    hash ^ (hash >> 31)
}

/// The same as a number from `least` to `most`, ends included.
pub(super) fn drawn_within(seed: u64, name: &str, least: u64, most: u64) -> u64 {
    assert!(least <= most, "a number is drawn from less to more");
    let choices = (most - least).saturating_add(1);
    least + drawn(seed, name) % choices
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_drawn_lies_within_its_ends_and_depends_on_seed_and_name() {
        let all: Vec<u64> = (0..2000).map(|seed| drawn_within(seed, "a", 10, 13)).collect();
        for wanted in 10..=13 {
            let count = all.iter().filter(|each| **each == wanted).count();
            assert!((400..600).contains(&count), "{wanted}: {count}");
        }
        assert!(all.iter().all(|each| (10..=13).contains(each)));
        assert_eq!(drawn_within(1, "a", 7, 7), 7);
        assert_ne!(drawn(1, "a"), drawn(1, "b"));
        assert_eq!(drawn_within(3, "a", 0, u64::MAX), drawn_within(3, "a", 0, u64::MAX));
    }
}
