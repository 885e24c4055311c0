//! "Did you mean": the known word that is nearest to one that is not known.

/// The known word nearest to `word`, or `None` where none is near.
///
/// Near is one slip of the finger in three characters, swapped neighbours counting as one; or that one begins the other.
/// Capitals, and `-` for `_`, are no slips.
pub fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // Another number is another thing, not a slip: RAID 50 is not nearly RAID 0.
    if word.bytes().all(|letter| letter.is_ascii_digit()) {
        return None;
    }
    let lower = word.to_lowercase();
    let snake = lower.replace('-', "_");
    let allowed = (word.chars().count() / 3).max(1);
    let slips = |candidate: &str| {
        let begin = |long: &str, short: &str| short.len() >= 3 && long.starts_with(short);
        let of = |word: &str| {
            let begins = begin(candidate, word) || begin(word, candidate);
            slips_within(word, candidate, if begins { usize::MAX } else { allowed })
        };
        [of(&lower), of(&snake)].into_iter().flatten().min()
    };
    known
        .into_iter()
        .filter_map(|candidate| Some((slips(candidate)?, candidate)))
        .min_by_key(|(slips, _)| *slips)
        .map(|(_, candidate)| candidate)
}

/// How many slips of the finger lead from one word to the other, swapped neighbours counting as one (Damerau and
/// Levenshtein); `None` beyond `most`.
///
/// Words whose lengths differ by more are not compared letter by letter: a line of kilobytes against hundreds of keys
/// would take seconds.
pub fn slips_within(one: &str, other: &str, most: usize) -> Option<usize> {
    let apart = one.chars().count().abs_diff(other.chars().count());
    (apart <= most).then(|| strsim::damerau_levenshtein(one, other)).filter(|slips| *slips <= most)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_number_is_not_a_slip() {
        assert_eq!(nearest("50", ["0", "5", "10"]), None);
    }

    #[test]
    fn a_slip_of_the_finger_finds_its_word() {
        let known = ["workers", "depth", "warmup", "pattern"];
        assert_eq!(nearest("wrokers", known), Some("workers"));
        assert_eq!(nearest("Depth", known), Some("depth"));
        assert_eq!(nearest("warm-up", known), Some("warmup"));
        assert_eq!(nearest("atlas-10", ["atlas-10k", "atlas"]), Some("atlas-10k"));
        assert_eq!(nearest("colour", known), None);
    }

    #[test]
    fn slips_are_counted_as_far_as_they_are_wanted() {
        assert_eq!(slips_within("dpeth", "depth", 1), Some(1));
        assert_eq!(slips_within("dpeht", "depth", 1), None);
        assert_eq!(slips_within(&"x".repeat(1 << 24), &"y".repeat(1 << 23), 5), None, "it would not end");
    }
}
