//! The tables as the guide shows them, and how many options they have.

use super::{Does, Opt, Style, Syntax, UNLISTED};

/// How a reason begins where what is measured would be changed.
const CHANGES: &str = "it changes the drive";
/// How one begins where the option is for hardware, a network or a system that a measurement of this host's storage has not.
pub(crate) const NEEDS: &str = "needs ";

impl<T> Syntax<T> {
    /// Every spelling of every option.
    pub fn spellings(&self) -> Vec<&'static str> {
        self.rows().flat_map(Opt::spellings).collect()
    }

    /// How many options of its manual do something, change nothing, and are refused.
    pub fn counts(&self) -> [usize; 3] {
        let mut counts = [0; 3];
        let has_meaning = |row: &&Opt<T>| !row.help.is_empty() || matches!(row.does, Does::Usage);
        for row in self.rows().filter(|row| has_meaning(row) && row.value != UNLISTED) {
            let place = match row.does {
                Does::Ignored => 1,
                Does::Unsupported => 2,
                _ => 0,
            };
            counts[place] += row
                .spellings()
                .filter(|name| name.starts_with(['-', '/']) || self.style == Style::Assignments)
                .count();
        }
        counts
    }

    /// How many of those that are refused would change a drive.
    pub fn changing(&self) -> usize {
        let changes = |row: &&Opt<T>| {
            matches!(row.does, Does::Unsupported) && row.value != UNLISTED && row.help.starts_with(CHANGES)
        };
        self.rows().filter(changes).map(|row| row.spellings().count()).sum()
    }

    /// How many of those that are refused are for other hardware, networks or systems.
    pub fn elsewhere(&self) -> usize {
        let is_it = |row: &&Opt<T>| {
            matches!(row.does, Does::Unsupported) && row.value != UNLISTED && row.help.starts_with(NEEDS)
        };
        self.rows().filter(is_it).map(|row| row.spellings().count()).sum()
    }

    /// The tables of the guide: what is supported, and what is not and why.
    pub fn markdown(&self) -> String {
        let (no, yes): (Vec<_>, Vec<_>) = self
            .rows()
            .filter(|row| !row.help.is_empty() && !matches!(row.does, Does::Usage))
            .partition(|row| matches!(row.does, Does::Unsupported));
        let yes: String = yes.iter().map(|row| row.markdown()).collect();
        let no: String = no.iter().map(|row| row.markdown()).collect();
        let table = |head: &str, rows: String| match rows.as_str() {
            "" => String::new(),
            rows => format!("| {head} | |\n|---|---|\n{rows}\n"),
        };
        table("Supported", yes) + &table("Not supported", no)
    }
}

impl<T> Opt<T> {
    fn markdown(&self) -> String {
        let names: Vec<String> = self.spellings().map(|name| format!("`{name}`")).collect();
        let value = if self.value.is_empty() { String::new() } else { format!(" *{}*", self.value) };
        let (value, words) = match &self.does {
            Does::One(words) | Does::Some(words) => (String::new(), *words),
            _ => (value, &[][..]),
        };
        let effect = |row: &Opt<T>| match row.does {
            Does::Ignored => format!("changes nothing: {}", row.help).trim_end_matches([':', ' ']).to_owned(),
            Does::Unsupported => format!("not supported: {}", row.help),
            _ => row.help.into(),
        };
        let word = |word: &Opt<T>| format!("; `{}` {}", word.names.replace(' ', "` `"), effect(word));
        let about = if matches!(self.does, Does::Unsupported) { self.help.into() } else { effect(self) };
        let words: String = words.iter().map(word).collect();
        format!("| {}{value} | {} |\n", names.join(" "), (about + &words).replace('|', "\\|"))
    }
}
