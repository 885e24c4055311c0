//! The layers of this crate, and that none imports one above it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// The lowest first. Each may import those before it.
const LAYERS: [&str; 10] =
    ["terminal", "ending", "output", "input", "session", "emulate", "verbs", "cli", "misuse", "main"];

/// What each file imports of this crate, both as module paths: `verbs/run` imports `session/store`.
fn imports() -> BTreeMap<String, BTreeSet<String>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let (mut folders, mut files) = (vec![root.clone()], Vec::new());
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() { folders.push(path) } else { files.push(path) }
        }
    }
    let module = |path: &PathBuf| {
        let name = path.strip_prefix(&root).unwrap().with_extension("").display().to_string();
        name.trim_end_matches("/mod").to_owned()
    };
    let known: BTreeSet<String> = files.iter().map(module).collect();
    let of_file = |path: &PathBuf| {
        let text = fs::read_to_string(path).unwrap();
        let named = paths(&text).into_iter().filter_map(|path| {
            let ends = (1..=path.len()).rev().map(|length| path[..length].join("/"));
            ends.into_iter().find(|name| known.contains(name))
        });
        (module(path), named.collect())
    };
    files.iter().filter(|path| !path.ends_with("layers.rs")).map(of_file).collect()
}

/// The paths behind `crate::` in a text, of imports and of names in full, with one entry for each name in braces. Comments
/// import nothing.
fn paths(text: &str) -> Vec<Vec<String>> {
    let is_code = |line: &&str| !line.trim_start().starts_with("//");
    let code: String = text.lines().filter(is_code).flat_map(|line| [line, "\n"]).collect();
    let split = |path: &str| path.split("::").map(|word| word.trim().to_owned()).collect::<Vec<_>>();
    let of_one = |(at, begins): (usize, &str)| {
        // `$crate` and `some_crate` are others.
        let is_other = code[..at].ends_with(|letter: char| letter.is_alphanumeric() || "_$".contains(letter));
        let rest = if is_other { "" } else { &code[at + begins.len()..] };
        let is_path = |letter: char| letter.is_alphanumeric() || "_:".contains(letter);
        let (head, after) = rest.split_at(rest.find(|letter| !is_path(letter)).unwrap_or(rest.len()));
        match after.strip_prefix('{').and_then(|names| names.split('}').next()) {
            Some(names) => names.split(',').map(|name| split(&format!("{head}{name}"))).collect(),
            None => vec![split(head)],
        }
    };
    code.match_indices("crate::").flat_map(of_one).collect()
}

fn layer(module: &str) -> usize {
    let name = module.split('/').next().unwrap();
    LAYERS.iter().position(|layer| *layer == name).unwrap_or_else(|| panic!("{name} is in no layer"))
}

#[test]
fn a_name_in_full_is_an_import_as_one_behind_use_is() {
    let text = "use crate::verbs::{run, show::Show};\n// crate::cli::Cli\nlet text = f(crate::output::json(&$crate::no));";
    let found: Vec<String> = paths(text).iter().map(|path| path.join("/")).collect();
    assert_eq!(found, ["verbs/run", "verbs/show/Show", "output/json", ""]);
}

#[test]
fn no_layer_imports_one_above_it() {
    let imports = imports();
    assert!(imports.len() > 40 && imports["verbs/run"].contains("session/store"), "{imports:?}");
    for (module, named) in &imports {
        for other in named {
            assert!(layer(other) <= layer(module), "{module} imports {other}, which is above it");
        }
    }
}

#[test]
fn no_file_imports_itself_through_others() {
    let imports = imports();
    for start in imports.keys() {
        let (mut seen, mut next) = (BTreeSet::new(), vec![start]);
        while let Some(module) = next.pop() {
            for other in imports.get(module).into_iter().flatten() {
                // A folder's own file stands for the folder: what is inside may use what it offers.
                let is_own_folder = module.starts_with(&format!("{other}/"));
                assert!(other != start || is_own_folder, "{start} imports itself through {module}");
                if !is_own_folder && seen.insert(other) {
                    next.push(other);
                }
            }
        }
    }
}
