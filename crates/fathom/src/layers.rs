//! The layers of this crate, and that none imports one above it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// The lowest first. Each may import those before it.
const LAYERS: [&str; 9] =
    ["terminal", "ending", "output", "input", "session", "emulate", "verbs", "cli", "main"];

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

/// The paths behind `use crate::` in a text, with one entry for each name in braces.
fn paths(text: &str) -> Vec<Vec<String>> {
    let lines = text.split("use crate::").skip(1).filter_map(|rest| rest.split(';').next());
    let split = |path: &str| path.split("::").map(|word| word.trim().to_owned()).collect::<Vec<_>>();
    lines
        .flat_map(|path| match path.split_once('{') {
            None => vec![split(path)],
            Some((head, names)) => {
                let names = names.trim_end_matches(['}', '\n', ' ']).split(',');
                names.map(|name| split(&format!("{head}{name}"))).collect()
            }
        })
        .collect()
}

fn layer(module: &str) -> usize {
    let name = module.split('/').next().unwrap();
    LAYERS.iter().position(|layer| *layer == name).unwrap_or_else(|| panic!("{name} is in no layer"))
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
