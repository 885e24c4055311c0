//! "Did you mean": the nearest known word, and the words of other tools.

use document::nearest;

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
    (
        "rate_iops",
        "write `pace = \"cap(500/s)\"`; `rate(500/s)` is an open loop, whose response times count from when a request was due",
    ),
    (
        "rate",
        "write `pace = \"cap(500/s)\"`; `rate(500/s)` is an open loop, whose response times count from when a request was due",
    ),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_other_tools_are_translated() {
        assert_eq!(sentence("qd", ["depth"].into_iter()).as_deref(), Some("write `depth`"));
    }
}
