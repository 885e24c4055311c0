//! Words of other tools that the text of a key names: ``(fio: `invalidate`)`` leads to `reopen_cold`.
//!
//! **Invariant:** there is no list of them beside the texts of the keys, so that each word that a user reads there is found.

use super::keys::{self, KeyDoc};
use super::synonyms;

/// Tools that texts of keys name.
const TOOLS: [&str; 4] = ["fio", "diskspd", "IOR", "mdtest"];

/// A word of another tool in the text of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ForeignWord {
    /// Whose it is.
    pub tool: &'static str,
    /// As it is written there, `iomem=mmaphuge`.
    pub written: &'static str,
    /// The key.
    pub key: &'static str,
}

impl ForeignWord {
    /// The option alone, `iomem`.
    pub fn word(&self) -> &'static str {
        self.written.split(['=', ':']).next().unwrap_or(self.written)
    }
}

/// The words that the text of `doc` names, its one line before the rest.
pub(crate) fn named_by(doc: &KeyDoc) -> Vec<ForeignWord> {
    let of_tool = |tool: &'static str| {
        let written = [doc.short, doc.long].into_iter().flat_map(move |text| after(text, tool));
        written.flat_map(quoted).map(move |written| ForeignWord { tool, written, key: doc.key })
    };
    TOOLS.into_iter().flat_map(of_tool).collect()
}

/// What follows `tool: ` in a parenthesis, up to what is said of another tool.
fn after<'t>(text: &'t str, tool: &str) -> impl Iterator<Item = &'t str> {
    let begins = format!("{tool}: ");
    text.split('(').skip(1).filter_map(|inside| inside.split(')').next()).flat_map(move |inside| {
        let parts = inside.split(';').map(str::trim);
        parts.filter_map(|part| part.strip_prefix(begins.as_str())).collect::<Vec<_>>()
    })
}

/// What stands in backquotes; options of one letter each by itself.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2).flat_map(str::split_whitespace)
}

/// The keys that `word` of another tool stands for, those left out that `said` names already:
/// ``fio's `nrfiles` is `files` or `count` ``; `None` where no key's text names the word.
pub(crate) fn sentence(word: &str, said: &str) -> Option<String> {
    let is_said = |key: &str| said.contains(&format!("`{key}`")) || said.contains(&format!("`{key} "));
    let all = keys::all();
    let named: Vec<ForeignWord> = all.iter().flat_map(|doc| named_by(doc)).collect();
    let (known, open): (Vec<ForeignWord>, Vec<ForeignWord>) =
        named.into_iter().filter(|found| found.word() == word).partition(|found| is_said(found.key));
    let is_also = !known.is_empty() || synonyms::ours(word).is_some();
    let mut parts: Vec<(ForeignWord, Vec<&str>)> = Vec::new();
    for found in open {
        let same = |(first, _): &&mut (ForeignWord, Vec<&str>)| {
            (first.tool, first.written) == (found.tool, found.written)
        };
        match parts.iter_mut().find(same) {
            Some((_, keys)) if keys.contains(&found.key) => {}
            Some((_, keys)) => keys.push(found.key),
            None => parts.push((found, vec![found.key])),
        }
    }
    let is = if is_also { "is also" } else { "is" };
    let parts: Vec<String> = parts.iter().map(|(first, keys)| part(first, is, keys)).collect();
    (!parts.is_empty()).then(|| parts.join("; "))
}

fn part(first: &ForeignWord, is: &str, keys: &[&str]) -> String {
    let keys: Vec<String> = keys.iter().map(|key| format!("`{key}`")).collect();
    format!("{}'s `{}` {is} {}", first.tool, first.written, keys.join(" or "))
}

#[cfg(test)]
mod tests {
    use super::super::{Overrides, Plan, reference};
    use super::*;

    fn every_word() -> Vec<ForeignWord> {
        keys::all().into_iter().flat_map(named_by).collect()
    }

    #[test]
    fn words_are_read_out_of_the_lines_of_the_keys() {
        let all = every_word();
        let has = |tool, word, key| {
            let is_it = |each: &&ForeignWord| (each.tool, each.word(), each.key) == (tool, word, key);
            assert!(all.iter().any(|each| is_it(&each)), "{tool}'s {word} at {key}");
        };
        has("fio", "zero_buffers", "content");
        has("fio", "rw_sequencer", "repeat_offset");
        has("fio", "rate_process", "pace");
        has("IOR", "-Q", "hosts_on");
        has("mdtest", "-W", "wear_out");
        has("diskspd", "-rs", "random");
        assert!(all.len() > 60, "{}", all.len());
        assert!(
            !all.iter().any(|each| each.key == "size" && each.word() == "size"),
            "fio's size is the span"
        );
    }

    #[test]
    fn each_word_that_the_text_of_a_key_names_leads_to_that_key() {
        for found in every_word() {
            let told = reference::help(found.word()).unwrap_or_else(|error| error);
            let told = told.replace('`', "");
            let mut names = told.split(|letter: char| !(letter.is_alphanumeric() || letter == '_'));
            assert!(names.any(|name| name == found.key), "{found:?}: {told}");
        }
    }

    #[test]
    fn a_plan_with_a_word_that_is_no_key_of_ours_is_told_the_key() {
        for found in every_word() {
            let word = found.word();
            let is_ours = keys::all().iter().any(|doc| doc.key == word);
            if is_ours || synonyms::ours(word).is_some() || word.starts_with('-') {
                continue;
            }
            let text = format!("[[phase]]\nrun = \"1s\"\n{word} = 1\n");
            let told = Plan::parse("t", &text, &Overrides::default()).unwrap_err().plain();
            let key = found.key;
            assert!(
                told.contains(&format!("`{key}`")) || told.contains(&format!("`{key} ")),
                "{word}: {told}"
            );
        }
    }

    #[test]
    fn a_key_of_ours_that_another_tool_means_otherwise_says_so() {
        let rate = reference::help("rate").unwrap();
        assert!(rate.starts_with("rate: ") && rate.contains("fio's rate is pace"), "{rate}");
        assert!(reference::help("fsync").unwrap().contains("fio's fsync is flush_every"));
        assert!(reference::help("verify").unwrap().contains("fio's verify is also stamp"));
        assert!(!reference::help("offset").unwrap().contains("fio's"), "it means the same");
        let text = "[[phase]]\nrun = \"1s\"\nrate = 500\n";
        let told = Plan::parse("t", text, &Overrides::default()).unwrap_err().plain();
        assert!(told.contains("fio's `rate` is `pace`"), "{told}");
    }
}
