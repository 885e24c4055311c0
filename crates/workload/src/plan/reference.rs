//! The reference page of the plan language, made from the entries of its keys.

use super::keys::{self, KeyDoc, Kind, Level};
use super::{foreign, suggest, synonyms};

/// Marks where the generated part of the page begins.
pub const BEGIN: &str = "<!-- begin: made from the program, see the end of this page -->";
/// Marks where it ends.
pub const END: &str = "<!-- end: made from the program -->";

/// The reference part of the page about the plan language, in Markdown: every key under its heading.
pub fn markdown() -> String {
    let mut text = String::new();
    let mut section = "";
    for doc in in_sections() {
        if doc.section != section {
            section = doc.section;
            text += &format!("### {section}\n\n");
        }
        text += &entry(doc);
    }
    text
}

/// Every key with its line, by section, for a terminal.
pub fn list() -> String {
    let widest = keys::all().iter().map(|doc| doc.key.len()).max().unwrap_or(0);
    let (mut text, mut section) = (String::new(), "");
    for doc in in_sections() {
        if doc.section != section {
            let gap = if section.is_empty() { "" } else { "\n" };
            section = doc.section;
            text += &format!("{gap}{section}\n");
        }
        text += &format!("  {:widest$}  {}\n", doc.key, doc.short);
    }
    text
}

/// Every key with its line, by section. A key that has another meaning elsewhere comes once for each.
pub fn keys() -> impl Iterator<Item = (&'static str, &'static str)> {
    in_sections().into_iter().map(|doc| (doc.key, doc.short))
}

/// Whether a plan has a key of that name, or of that name in another tool.
pub fn is_key(name: &str) -> bool {
    keys().any(|(key, _)| key == name) || super::synonyms::ours(name).is_some()
}

/// A key, as a program shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyEntry {
    /// As it is written.
    pub key: &'static str,
    /// The heading it stands under.
    pub section: &'static str,
    /// One line.
    pub short: &'static str,
    /// The rest; empty where there is none.
    pub long: &'static str,
    /// What may be written, in words.
    pub takes: String,
    /// What holds where it is left out; empty where nothing does.
    pub default: &'static str,
    /// A line of a plan.
    pub example: &'static str,
}

/// Every key with all that is said of it, by section. A key that has another meaning elsewhere comes once for each.
pub fn entries() -> impl Iterator<Item = KeyEntry> {
    in_sections().into_iter().map(|doc| KeyEntry {
        key: doc.key,
        section: doc.section,
        short: doc.short,
        long: doc.long,
        takes: doc.kind.to_string(),
        default: doc.default,
        example: doc.example,
    })
}

/// What `key` means, what may be written and what holds without it, for a terminal; for each level where the key stands
/// with another meaning. A name that fio or vdbench has for it leads there too; other words of theirs, and a slip of the
/// finger, give an error that names the key. Where another tool means a further key by it, that is said below.
pub fn help(key: &str) -> Result<String, String> {
    let all = keys::all();
    let ours = all.iter().find(|doc| doc.key == key).map(|doc| doc.key).or_else(|| synonyms::ours(key));
    let Some(ours) = ours else {
        let hint = suggest::sentence(key, all.iter().map(|doc| doc.key));
        let hint = hint.unwrap_or_else(|| "`fathom plan help` lists the keys".into());
        return Err(format!("there is no key `{key}`; {hint}"));
    };
    let found: Vec<String> = all.iter().filter(|doc| doc.key == ours).map(|doc| plain(doc)).collect();
    Ok(found.join("\n") + &elsewhere(key, ours))
}

/// The other keys that another tool's `word` stands for where `ours` is shown; empty where there is none.
fn elsewhere(word: &str, ours: &str) -> String {
    let besides = foreign::sentence(word, &format!("`{ours}`"));
    besides.map_or(String::new(), |besides| format!("\n  {besides}.\n").replace('`', ""))
}

fn plain(doc: &KeyDoc) -> String {
    let default = if doc.default.is_empty() { "none" } else { doc.default };
    let long = if doc.long.is_empty() { String::new() } else { format!("\n  {}\n", doc.long) };
    let example = doc.example.replace('\n', "\n            ");
    let others = match others(doc) {
        others if others.is_empty() => others,
        others => format!("  Also as:  {others}\n"),
    };
    format!(
        "{}: {}\n{long}\n  Value:    {}{}\n  Default:  {default}\n  Where:    {}{}\n{others}  Example:  {example}\n",
        doc.key,
        doc.short,
        doc.kind,
        also(doc),
        level(doc.level),
        swept(doc)
    )
    .replace('`', "")
}

/// All keys, those of one section together, sections in the order of their first key.
fn in_sections() -> Vec<&'static KeyDoc> {
    let all = keys::all();
    let mut sections: Vec<&str> = Vec::new();
    for doc in &all {
        if !sections.contains(&doc.section) {
            sections.push(doc.section);
        }
    }
    let of = |section: &&str| all.iter().filter(|doc| doc.section == *section).copied().collect::<Vec<_>>();
    sections.iter().flat_map(of).collect()
}

fn entry(doc: &KeyDoc) -> String {
    let mut text = format!("#### `{}`\n\n{}", doc.key, doc.short);
    if !doc.long.is_empty() {
        text += &format!(" {}", doc.long);
    }
    text += &format!("\n\n- Value: {}{}\n", doc.kind, also(doc));
    match doc.default {
        "" => text += "- Default: none\n",
        default => text += &format!("- Default: `{default}`\n"),
    }
    text += &format!("- Stands {}{}\n", level(doc.level), swept(doc));
    let others = others(doc);
    if !others.is_empty() {
        text += &format!("- Also as: {others}\n");
    }
    text += &format!("\n```toml\n{}\n```\n\n", doc.example);
    text
}

/// The key under the names of other tools; empty where they have none, or it is no key of a load.
fn others(doc: &KeyDoc) -> String {
    if matches!(doc.level, Level::Workload | Level::Phase) {
        synonyms::others(doc.key)
    } else {
        String::new()
    }
}

/// Words that may stand instead of a value of the kind: the default where it is one.
fn also(doc: &KeyDoc) -> String {
    let is_word = doc.default.chars().next().is_some_and(char::is_alphabetic);
    let extra = is_word && !matches!(doc.kind, Kind::Choice(_) | Kind::Switch);
    if extra { format!(", or `{}`", doc.default) } else { String::new() }
}

fn swept(doc: &KeyDoc) -> &'static str {
    let is_spec = keys::find(keys::workload::WORKLOAD, doc.key).is_some();
    if is_spec && matches!(doc.level, Level::Phase | Level::Workload) { "; may be swept" } else { "" }
}

fn level(level: Level) -> &'static str {
    match level {
        Level::Plan => "at the top of the file",
        Level::PhaseOnly => "in a `[[phase]]`",
        Level::Phase => "in `[defaults]` or a `[[phase]]`",
        Level::Workload => "in `[defaults]`, a `[[phase]]` or a `[[phase.workload]]`",
        Level::WorkloadOnly => "in a `[[phase.workload]]`",
        Level::State => "in a `[[phase]]` with a `state`",
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::super::{Overrides, Plan};
    use super::*;

    fn page() -> PathBuf {
        PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/src/plan-language.md")
    }

    /// A part of a plan, as a plan of its own.
    fn whole(block: &str) -> String {
        if block.contains("[[phase]]") || block.contains("phase = ") {
            return block.to_string();
        }
        if block.starts_with("[[phase.workload]]") {
            return format!("[[phase]]\nrun = \"1s\"\n{block}");
        }
        if block.starts_with('[') {
            return format!("{block}\n[[phase]]\nrun = \"1s\"\n");
        }
        format!("[[phase]]\nwarmup = \"0s\"\n{block}\n")
    }

    #[test]
    fn help_of_a_key_has_its_default_and_a_word_of_fio_leads_to_the_key() {
        let depth = help("depth").unwrap();
        assert!(depth.starts_with("depth: ") && depth.contains("Default:  1\n"), "{depth}");
        assert_eq!(help("iodepth").unwrap(), depth, "fio's name of it");
        assert!(depth.contains("Also as:  fio: iodepth\n"), "{depth}");
        assert!(help("qd").unwrap_err().contains("`depth`"));
        assert!(help("dpeth").unwrap_err().contains("did you mean `depth`?"));
        assert!(help("nothing of the kind").unwrap_err().contains("fathom plan help"));
        assert!(keys::all().iter().all(|doc| help(doc.key).is_ok() && list().contains(doc.short)));
    }

    #[test]
    fn the_key_of_a_trace_names_every_format_that_is_read() {
        let names: Vec<&str> = crate::trace::FORMATS.iter().map(|format| format.name).collect();
        let (last, rest) = names.split_last().unwrap();
        let told = help("trace").unwrap();
        assert!(told.contains(&format!("begins with: {} or {last};", rest.join(", "))), "{told}");
    }

    /// UPDATE_DOCS=1 cargo test -p fathom-workload the_reference_page_is_up_to_date
    #[test]
    fn the_reference_page_is_up_to_date() {
        let page = page();
        let text = std::fs::read_to_string(&page).expect("docs/src/plan-language.md");
        let (before, rest) = text.split_once(BEGIN).expect("the page has a begin mark");
        let (_, after) = rest.split_once(END).expect("the page has an end mark");
        let wanted = format!("{before}{BEGIN}\n\n{}{END}{after}", markdown());
        if std::env::var_os("UPDATE_DOCS").is_some() {
            std::fs::write(&page, &wanted).expect("the page can be written");
            return;
        }
        assert!(
            text == wanted,
            "the page is out of date; run UPDATE_DOCS=1 cargo test -p fathom-workload reference"
        );
    }

    #[test]
    fn every_example_of_a_key_can_be_read() {
        for doc in keys::all() {
            let text = match doc.level {
                Level::Plan => format!("{}\n[[phase]]\nrun = \"1s\"\n", doc.example),
                Level::WorkloadOnly => {
                    format!(
                        "[[phase]]\nrun = \"1s\"\npace = \"rate(9/s)\"\n[[phase.workload]]\n{}\n",
                        doc.example
                    )
                }
                Level::State if doc.key == "state" => format!("[[phase]]\n{}\n", doc.example),
                Level::State => {
                    let state = match doc.key {
                        "run" => "idle",
                        "rate" | "wait" => "rebuild",
                        _ => "prepare",
                    };
                    format!("[[phase]]\nstate = \"{state}\"\n{}\n", doc.example)
                }
                _ if doc.key == "run" => format!("[[phase]]\n{}\n", doc.example),
                _ if doc.key == "iopoll" || doc.key == "sqpoll" => {
                    format!("[[phase]]\nrun = \"1s\"\nengine = \"io_uring\"\n{}\n", doc.example)
                }
                _ if doc.key == "polled" => {
                    format!("[[phase]]\nrun = \"1s\"\nengine = \"preadv2\"\n{}\n", doc.example)
                }
                _ if ["write_command", "read_fua", "write_fua"].contains(&doc.key) => {
                    format!("[[phase]]\nrun = \"1s\"\nengine = \"sg\"\n{}\n", doc.example)
                }
                _ if doc.key == "ops_after_warmup" => format!("[[phase]]\nops = 9\n{}\n", doc.example),
                _ if doc.key == "trace" => format!("[[phase]]\npattern = \"trace\"\n{}\n", doc.example),
                _ => format!("[[phase]]\nrun = \"1s\"\n{}\n", doc.example),
            };
            let read = Plan::parse(doc.key, &text, &Overrides::default());
            assert!(read.is_ok(), "{}", read.unwrap_err().plain());
        }
    }

    #[test]
    fn every_plan_on_the_page_can_be_read() {
        let text = std::fs::read_to_string(page()).expect("docs/src/plan-language.md");
        // The generated part repeats the examples of the keys, which have their own test.
        let (prose, _) = text.split_once(BEGIN).expect("the page has a begin mark");
        let blocks: Vec<&str> =
            prose.split("```toml\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
        assert!(blocks.len() >= 7, "the page shows {} plans", blocks.len());
        for block in blocks {
            let text = whole(block);
            let read = Plan::parse("plan-language.md", &text, &Overrides::default());
            assert!(read.is_ok(), "{text}\n{}", read.unwrap_err().plain());
        }
    }

    #[test]
    fn every_default_reads_as_its_own_key() {
        for doc in keys::all().into_iter().filter(|doc| !doc.default.is_empty() && doc.level != Level::Plan) {
            if doc.level == Level::State {
                continue;
            }
            let set = vec![format!("phase.1.{}={}", doc.key, doc.default), "phase.1.ops=1".into()];
            let read = Plan::parse("t", "[[phase]]\n", &Overrides { set, tags: Vec::new() });
            assert!(read.is_ok(), "{}: {}", doc.key, read.unwrap_err().plain());
        }
    }
}
