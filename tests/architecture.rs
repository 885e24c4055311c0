//! The architecture is as its page says: manifests and imports are held against it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use crate::support::repository;

/// What of the system a crate names although its invariant forbids the rest; those that are not here name nothing of it.
const SYSTEM: [(&str, &[&str]); 9] = [
    ("host", &["any"]),
    ("library", &["any"]),
    ("fathom", &["any"]),
    // Member files, connections, and the clock that a model is driven by.
    ("serve", &["any"]),
    // Connections, and the child processes that carry runs out.
    ("web", &["any"]),
    // Files that `host` has opened with a permit.
    ("real", &["std::fs::File"]),
    // Signs of life, and how long a message is waited for.
    ("cluster", &["std::thread", "std::time"]),
    // Points side by side.
    ("conduct", &["std::thread"]),
    // Trials side by side.
    ("virtual", &["std::thread"]),
];

/// The system by its names, each before what it may be part of.
const OF_THE_SYSTEM: [&str; 8] =
    ["std::fs", "std::process", "std::net", "std::thread", "std::time", "std::os::fd", "rustix", "libc"];

/// What the command line takes of the two crates below the worlds, past those that make worlds of them.
const PAST_THE_WORLDS: [(&str, &[&str]); 2] = [
    // The clock of what is shown; the machine and its targets as `fathom doctor` tells them; what is put back after a
    // kill; what bonnie++ and orion tell of processors and other copies, hdparm of a drive and of where a file lies on it,
    // and ior and mdtest of the file system; faults on demand; the niceness and the locked memory that a job of fio's asks for.
    (
        "host",
        &[
            "SysRoot",
            "clock",
            "command",
            "drive",
            "environment",
            "fault",
            "file_system",
            "monitor",
            "niceness",
            "pinned",
            "restore",
            "safety",
            "scratch",
            "semaphores",
        ],
    ),
    // The library of arrays and devices with their LUNs, published figures with the work that some are of, recordings that
    // a device is held to, and data loss.
    ("array", &["background", "demerit", "device", "reliability", "sim", "spec", "validate"]),
];

/// What tests of a crate use of others beside what the crate itself uses.
const TESTS: [(&str, &[&str]); 3] =
    [("cluster", &["real"]), ("virtual", &["explain"]), ("fit", &["array", "virtual", "workload"])];

/// The crates in the order of the code map, with what the page says they use.
fn code_map() -> Vec<(String, BTreeSet<String>)> {
    let page = fs::read_to_string(repository("ARCHITECTURE.md")).unwrap();
    let map = page.split("## Code map").nth(1).unwrap().split("\n## ").next().unwrap();
    let mut crates: Vec<(String, BTreeSet<String>)> = Vec::new();
    for paragraph in map.split("\n\n").filter(|paragraph| paragraph.contains("` – ")) {
        let name = between(paragraph, "`", "`").to_owned();
        let uses = between(paragraph, "**Uses:**", "**Invariant:**");
        let listed: BTreeSet<String> = uses.split('`').skip(1).step_by(2).map(str::to_owned).collect();
        let named = match uses.trim().starts_with("all of them but") {
            true => {
                crates.iter().map(|(name, _)| name.clone()).filter(|name| !listed.contains(name)).collect()
            }
            false => listed,
        };
        crates.push((name, named));
    }
    crates
}

fn between<'t>(text: &'t str, before: &str, after: &str) -> &'t str {
    let rest = text.split_once(before).unwrap_or_else(|| panic!("no {before} in: {text}")).1;
    rest.split_once(after).unwrap_or_else(|| panic!("no {after} in: {text}")).0
}

/// The folders in `crates/`.
fn crates() -> BTreeSet<String> {
    let entries = fs::read_dir(repository("crates")).unwrap();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

fn manifest(name: &str) -> toml::Table {
    let text = fs::read_to_string(repository("crates").join(name).join("Cargo.toml")).unwrap();
    text.parse().unwrap()
}

/// The crates of this repository that a manifest names in a table.
fn dependencies(manifest: &toml::Table, table: &str) -> BTreeSet<String> {
    let named = manifest.get(table).and_then(toml::Value::as_table);
    let own = named.into_iter().flat_map(|named| named.keys()).filter_map(|key| key.strip_prefix("fathom-"));
    own.map(str::to_owned).collect()
}

/// What is built of a crate: its sources without tests, line by line without comments.
fn sources(name: &str) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    collect(&repository("crates").join(name).join("src"), &mut found);
    found
}

fn collect(folder: &Path, found: &mut Vec<(PathBuf, String)>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap();
        if path.is_dir() && name != "tests" {
            collect(&path, found);
        } else if path.extension().is_some_and(|ending| ending == "rs") && name != "tests" {
            let text = fs::read_to_string(&path).unwrap();
            let built = text.split("#[cfg(test)]\nmod tests {").next().unwrap();
            let lines = built.lines().filter(|line| !line.trim_start().starts_with("//"));
            let code = lines.collect::<Vec<_>>().join("\n");
            found.push((path, code));
        }
    }
}

/// What is named right behind each `root::` of `code`: one name, or those of a list in braces.
fn named_of<'c>(code: &'c str, root: &str) -> Vec<&'c str> {
    let path = format!("{root}::");
    let is_part = |letter: char| letter.is_alphanumeric() || "_:\"".contains(letter);
    let word = |text: &'c str| text.split(|letter: char| !(letter.is_alphanumeric() || letter == '_')).next();
    let mut names = Vec::new();
    for (at, _) in code.match_indices(&path).filter(|(at, _)| !code[..*at].ends_with(is_part)) {
        let rest = &code[at + path.len()..];
        match rest.strip_prefix('{') {
            Some(list) => {
                names.extend(list.split('}').next().unwrap().split(',').filter_map(|one| word(one.trim())));
            }
            None => names.extend(word(rest)),
        }
    }
    names.retain(|name| !name.is_empty());
    names
}

#[test]
fn every_crate_uses_what_the_code_map_says_and_nothing_else() {
    let map = code_map();
    let named: BTreeSet<String> = map.iter().map(|(name, _)| name.clone()).collect();
    assert_eq!(named, crates(), "the code map and the folders");
    for (name, uses) in map {
        assert_eq!(dependencies(&manifest(&name), "dependencies"), uses, "`{name}`: manifest and code map");
    }
}

#[test]
fn arrows_point_one_way_in_the_order_of_the_code_map() {
    let mut above = BTreeSet::new();
    for (name, uses) in code_map() {
        let wrong: Vec<&String> = uses.difference(&above).collect();
        assert!(wrong.is_empty(), "`{name}` uses {wrong:?}, which do not stand above it");
        above.insert(name);
    }
}

#[test]
fn worlds_know_conduct_and_what_they_are_made_of_and_conduct_knows_none() {
    let map: BTreeMap<String, BTreeSet<String>> = code_map().into_iter().collect();
    let users = |of: &str| -> Vec<&str> {
        map.iter().filter(|(_, uses)| uses.contains(of)).map(|(name, _)| name.as_str()).collect()
    };
    assert_eq!(users("host"), ["fathom", "real"]);
    assert_eq!(users("array"), ["explore", "fathom", "serve", "virtual"]);
    assert_eq!(users("conduct"), ["cluster", "explore", "fathom", "real", "virtual"]);
    assert_eq!(users("real"), ["fathom"]);
    assert_eq!(users("virtual"), ["explore", "fathom"]);
}

#[test]
fn tests_of_a_crate_use_no_more_than_the_crate_but_for_those_that_are_named() {
    for (name, uses) in code_map() {
        let more = TESTS.iter().find(|(of, _)| *of == name).map_or(&[][..], |(_, more)| more);
        let allowed: BTreeSet<String> =
            uses.into_iter().chain(more.iter().map(|one| (*one).to_owned())).collect();
        let tests = dependencies(&manifest(&name), "dev-dependencies");
        let wrong: Vec<&String> = tests.difference(&allowed).collect();
        assert!(wrong.is_empty(), "tests of `{name}` use {wrong:?}");
    }
}

#[test]
fn what_is_of_the_system_is_named_where_the_invariants_allow_it() {
    for name in crates() {
        let allowed = SYSTEM.iter().find(|(of, _)| *of == name).map_or(&[][..], |(_, allowed)| allowed);
        if allowed == ["any"] {
            continue;
        }
        for (path, code) in sources(&name) {
            // Each part of it stands on a line of its own, so that none hides in a list or behind another name.
            for hidden in ["std::{", "use std as", "extern crate"] {
                assert!(!code.contains(hidden), "{}: {hidden}", path.display());
            }
            for part in OF_THE_SYSTEM {
                let code = allowed.iter().fold(code.clone(), |code, allowed| code.replace(allowed, ""));
                assert!(!code.contains(&format!("{part}::")), "{}: {part}", path.display());
                assert!(!code.contains(&format!("use {part};")), "{}: {part}", path.display());
                assert!(!code.contains(&format!("use {part} as")), "{}: {part}", path.display());
            }
        }
    }
}

#[test]
fn the_command_line_goes_past_the_worlds_for_nothing_that_is_not_listed() {
    for (below, listed) in PAST_THE_WORLDS {
        let mut unused: BTreeSet<&str> = listed.iter().copied().collect();
        for (path, code) in sources("fathom") {
            for name in named_of(&code, below) {
                assert!(listed.contains(&name), "{}: `{below}::{name}`", path.display());
                unused.remove(name);
            }
        }
        assert!(unused.is_empty(), "no longer taken of `{below}`: {unused:?}");
    }
}
