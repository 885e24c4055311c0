//! Has the page in `ui/dist` embedded, where it has been built.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

fn main() {
    let root = Path::new(&env::var("CARGO_MANIFEST_DIR").expect("cargo sets it")).join("../../ui");
    let built = root.join("dist");
    // Of a path that is not there cargo runs this again at every build.
    let watched = if built.is_dir() || !root.is_dir() { &built } else { &root };
    println!("cargo:rerun-if-changed={}", watched.display());
    println!("cargo:rerun-if-changed=build.rs");
    let mut files = Vec::new();
    if built.join("index.html").is_file() {
        collect(&built, &mut files);
    }
    files.sort();
    let mut text = String::from("&[\n");
    for path in &files {
        let name =
            path.strip_prefix(&built).expect("it was found there").to_string_lossy().replace('\\', "/");
        writeln!(text, "    ({name:?}, include_bytes!({:?})),", path.display().to_string())
            .expect("text can be written");
    }
    text += "]\n";
    let out = Path::new(&env::var("OUT_DIR").expect("cargo sets it")).join("page.rs");
    fs::write(&out, text).unwrap_or_else(|error| panic!("{}: {error}", out.display()));
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    for path in entries.filter_map(Result::ok).map(|entry| entry.path()) {
        if path.is_dir() { collect(&path, files) } else { files.push(path) }
    }
}
