//! Names of loads as people read them.

/// `title` with a share of reads that is none told as what it is: `writes of 4KiB` for `0% reads of 4KiB`.
pub fn readable_title(title: &str) -> String {
    const NONE: &str = "0% reads";
    let mut readable = String::new();
    let mut rest = title;
    while let Some(at) = rest.find(NONE) {
        let (before, after) = rest.split_at(at);
        // Not those of 70%.
        let is_whole = !before.ends_with(|letter: char| letter.is_ascii_digit() || letter == '.');
        readable += before;
        readable += if is_whole { "writes" } else { NONE };
        rest = &after[NONE.len()..];
    }
    readable + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_reads_are_writes_and_other_shares_stay() {
        for (title, readable) in [
            ("0% reads of 4KiB", "writes of 4KiB"),
            ("4KiB, 0% reads", "4KiB, writes"),
            ("100% reads, 70% reads, 0% reads", "100% reads, 70% reads, writes"),
            ("0.0% reads", "0.0% reads"),
        ] {
            assert_eq!(readable_title(title), readable);
        }
    }
}
