//! "Did you mean": the nearest known word, and the words of other tools.

/// What users of other tools write, and what to write here.
///
/// Source of the left column: the options of fio(1), vdbench, diskspd and Iometer that storage engineers use most.
const FOREIGN: [(&str, &str); 22] = [
    ("block_size", "write `size`"),
    ("bssplit", "write `size = { \"4KiB\" = 60, \"64KiB\" = 40 }`"),
    ("rw", "write `pattern` for where and `reads` for how many of the requests read"),
    ("readwrite", "write `pattern` for where and `reads` for how many of the requests read"),
    ("rwmixwrite", "write `reads`; what is neither read, trim nor flush is a write"),
    ("writes", "write `reads`; what is neither read, trim nor flush is a write"),
    ("seekpct", "write `pattern = \"random\"` or `pattern = \"sequential\"`"),
    ("queue_depth", "write `depth`"),
    ("qd", "write `depth`"),
    ("threads", "write `workers` for threads, `depth` for what vdbench calls threads"),
    ("jobs", "write `workers`"),
    ("time_based", "leave it out: `run = \"30s\"` always means thirty seconds"),
    ("rate_iops", "write `pace = \"rate(500/s)\"`"),
    ("rate", "write `pace = \"rate(500/s)\"`"),
    ("iorate", "write `pace = \"rate(500/s)\"`"),
    ("thinktime", "write `pace = \"think(5ms)\"`"),
    ("io_size", "write `bytes` for how much is moved, `span` for how much of the target is used"),
    ("filesize", "write `span`"),
    ("fsync", "write `flush_every = 32`, and `flush = \"fsync\"` for the kind"),
    ("fdatasync", "write `flush_every = 32`, and `flush = \"fdatasync\"` for the kind"),
    ("norandommap", "write `pattern = \"random(repeats)\"`"),
    ("filename", "leave it out: the target is named on the command line, with --on"),
];

/// A sentence that points from an unknown `word` to what was probably meant, if anything is near.
pub(crate) fn sentence<'a>(word: &str, known: impl Iterator<Item = &'a str>) -> Option<String> {
    let foreign = FOREIGN.iter().find(|(theirs, _)| *theirs == word).map(|(_, ours)| (*ours).to_string());
    foreign.or_else(|| nearest(word, known).map(|near| format!("did you mean `{near}`?")))
}

/// The known word nearest to `word`, or `None` where none is near.
///
/// Near is one slip of the finger in three characters, swapped neighbours counting as one.
pub(crate) fn nearest<'a>(word: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let lower = word.to_lowercase().replace('-', "_");
    let allowed = (word.chars().count() / 3).max(1);
    known
        .filter_map(|candidate| {
            let begins = lower.len() >= 3 && candidate.starts_with(&lower);
            let slips = slips_within(&lower, candidate, if begins { usize::MAX } else { allowed })?;
            Some((slips, candidate))
        })
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
    fn a_slip_of_the_finger_finds_its_word() {
        let known = ["workers", "depth", "warmup", "pattern"];
        assert_eq!(nearest("wrokers", known.into_iter()), Some("workers"));
        assert_eq!(nearest("Depth", known.into_iter()), Some("depth"));
        assert_eq!(nearest("warm-up", known.into_iter()), Some("warmup"));
        assert_eq!(nearest("colour", known.into_iter()), None);
    }

    #[test]
    fn slips_are_counted_as_far_as_they_are_wanted() {
        assert_eq!(slips_within("dpeth", "depth", 1), Some(1));
        assert_eq!(slips_within("dpeht", "depth", 1), None);
        assert_eq!(slips_within(&"x".repeat(1 << 24), &"y".repeat(1 << 23), 5), None, "it would not end");
    }

    #[test]
    fn words_of_other_tools_are_translated() {
        assert_eq!(sentence("qd", ["depth"].into_iter()).as_deref(), Some("write `depth`"));
    }
}
