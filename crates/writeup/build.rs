//! Names the build of what reports are made of, by a digest of the sources that decide their words: two builds of one version
//! may word a report differently.

use std::path::{Path, PathBuf};
use std::{env, fs};

/// Crates whose sources decide what a report says.
const DECIDE: [&str; 7] = ["writeup", "chart", "report", "record", "campaign", "stats", "units"];

fn main() {
    let crates = Path::new(&env::var("CARGO_MANIFEST_DIR").expect("cargo sets it")).join("..");
    let mut files = Vec::new();
    for name in DECIDE {
        let sources = crates.join(name).join("src");
        println!("cargo:rerun-if-changed={}", sources.display());
        collect(&sources, &mut files);
    }
    println!("cargo:rerun-if-changed=build.rs");
    files.sort();
    let mut digest = Digest::default();
    for path in &files {
        let name =
            path.strip_prefix(&crates).expect("it was found there").to_string_lossy().replace('\\', "/");
        digest.add(name.as_bytes());
        digest.add(&fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display())));
    }
    println!("cargo:rustc-env=FATHOM_WRITEUP_BUILD={:016x}", digest.0);
}

/// All files below `directory`.
fn collect(directory: &Path, files: &mut Vec<PathBuf>) {
    let entries = fs::read_dir(directory).unwrap_or_else(|error| panic!("{}: {error}", directory.display()));
    for entry in entries {
        let path = entry.expect("a directory can be listed").path();
        if path.is_dir() { collect(&path, files) } else { files.push(path) }
    }
}

/// FNV-1a of 64 bits: it tells builds apart, and keeps nobody from making two that are equal.
struct Digest(u64);

impl Default for Digest {
    fn default() -> Digest {
        Digest(0xcbf2_9ce4_8422_2325)
    }
}

impl Digest {
    fn add(&mut self, bytes: &[u8]) {
        for byte in bytes.iter().chain(&[0]) {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
}
