//! "Did you mean": the nearest known word, and the words of other tools.

use document::nearest;

use super::foreign;

/// What users of other tools write where they guess, and what to write here. Words that the text of a key names are not
/// here (`foreign`), but where the value is what they have to know.
const GUESSES: [(&str, &str); 28] = [
    ("block", "write `size`"),
    ("block_size", "write `size`"),
    ("bssplit", "write `size = { \"4KiB\" = 60, \"64KiB\" = 40 }`"),
    ("access", "write `pattern`"),
    ("op", WHERE_AND_WHAT),
    ("rw", WHERE_AND_WHAT),
    ("readwrite", WHERE_AND_WHAT),
    ("rwmixwrite", "write `reads`; what is neither read, trim nor flush is a write"),
    ("writes", "write `reads`; what is neither read, trim nor flush is a write"),
    ("seekpct", "write `pattern = \"random\"` or `pattern = \"sequential\"`"),
    ("queue_depth", "write `depth`"),
    ("queuedepth", "write `depth`"),
    ("qd", "write `depth`"),
    ("thread", "leave it out: each worker is a thread; `workers` says how many"),
    ("threads", "write `workers` for threads, `depth` for what vdbench calls threads"),
    ("jobs", "write `workers`"),
    ("duration", "write `run`"),
    ("time", "write `run`"),
    ("time_based", "leave it out: `run = \"30s\"` always means thirty seconds"),
    ("rate_iops", CAPPED),
    ("rate", CAPPED),
    ("iorate", "write `pace = \"rate(500/s)\"`"),
    ("thinktime", "write `pace = \"think(5ms)\"`"),
    ("rate_process", "write `pace = \"rate(500/s, poisson)\"`"),
    ("norandommap", "write `pattern = \"random(repeats)\"`"),
    ("buffered", "write `direct = false`"),
    ("directory", TARGET),
    ("filename", TARGET),
];

const WHERE_AND_WHAT: &str = "write `pattern` for where and `reads` for how many of the requests read";
const TARGET: &str = "leave it out: the target is named on the command line, with --on";
const CAPPED: &str = "write `pace = \"cap(500/s)\"`; `rate(500/s)` is an open loop, whose response times count from when \
     a request was due";

/// A sentence that points from an unknown `word` to what was probably meant, if anything is near.
pub(crate) fn sentence<'a>(word: &str, known: impl Iterator<Item = &'a str>) -> Option<String> {
    let guess = GUESSES.iter().find(|(theirs, _)| *theirs == word).map(|(_, ours)| *ours);
    let named = foreign::sentence(word, guess.unwrap_or_default());
    let told: Vec<String> = guess.map(str::to_owned).into_iter().chain(named).collect();
    match told.is_empty() {
        true => nearest(word, known).map(|near| format!("did you mean `{near}`?")),
        false => Some(told.join("; ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_other_tools_are_translated() {
        let told = |word| sentence(word, ["depth", "direct", "on"].into_iter()).unwrap_or_default();
        assert_eq!(told("qd"), "write `depth`");
        assert_eq!(told("nrfiles"), "fio's `nrfiles` is `files` or `count`");
        assert!(told("rw").ends_with("; fio's `rw=randread:8` is also `consecutive`"), "{}", told("rw"));
        assert!(told("op").contains("`reads`") && told("directory").contains("--on"), "no near key");
        assert_eq!(told("dpeth"), "did you mean `depth`?");
    }
}
