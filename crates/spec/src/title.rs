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

/// `title` with what was changed for one run behind it: `4 KiB random read [reads 0%, depth 8]`; as it is where nothing was.
pub fn title_with_set(title: String, set: &[(String, String)]) -> String {
    title + &set_suffix(set)
}

/// `title` as it was before [`title_with_set`].
pub fn title_without_set<'t>(title: &'t str, set: &[(String, String)]) -> &'t str {
    title.strip_suffix(&set_suffix(set)).unwrap_or(title)
}

fn set_suffix(set: &[(String, String)]) -> String {
    let each: Vec<String> = set.iter().map(|(key, value)| format!("{key} {value}")).collect();
    if each.is_empty() { String::new() } else { format!(" [{}]", each.join(", ")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_changed_stands_behind_a_title_and_comes_off_again() {
        let set = [("reads", "0%"), ("depth", "8")].map(|(key, value)| (key.to_owned(), value.to_owned()));
        let title = title_with_set("4 KiB random read".into(), &set);
        assert_eq!(title, "4 KiB random read [reads 0%, depth 8]");
        assert_eq!(title_without_set(&title, &set), "4 KiB random read");
        assert_eq!(title_with_set("a [b]".into(), &[]), "a [b]");
        assert_eq!(title_without_set("a [b]", &[]), "a [b]");
    }

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
