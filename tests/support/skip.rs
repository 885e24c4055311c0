//! Tests that are left out, and why.

use std::io::Write;
use std::path::Path;

/// Says on stderr that this test is left out for want of what cannot be installed: data, a right, a feature of the
/// kernel. Not `println!`, which the test runner hides.
pub fn skipped(why: &str) {
    let name = std::thread::current().name().unwrap_or("a test").to_owned();
    let _closed = writeln!(std::io::stderr(), "skipped: {name}: {why}");
}

/// Says the same for want of `program`, or of what else `why` tells where that is installed.
///
/// With `FATHOM_TESTS=strict` a program that is missing fails the test: `make test-tools` installs it.
#[track_caller]
#[allow(dead_code, reason = "not every binary of tests runs other programs")]
pub fn lacks(program: &str, why: &str) {
    let is_strict = std::env::var("FATHOM_TESTS").is_ok_and(|mode| mode == "strict");
    assert!(
        is_there(program) || !is_strict,
        "{program} is not installed, and FATHOM_TESTS=strict: make test-tools"
    );
    skipped(why);
}

/// Whether `program` is there, which is as large as what the tests of the page need: with `FATHOM_PAGE_TESTS=can-skip` it
/// may be missing in any case. Says on stderr that the test is left out where it is.
#[allow(dead_code, reason = "not every binary of tests runs other programs")]
#[track_caller]
pub fn has_large(program: &str) -> bool {
    if is_there(program) {
        return true;
    }
    match std::env::var("FATHOM_PAGE_TESTS").is_ok_and(|mode| mode == "can-skip") {
        true => skipped(&format!("needs {program}, which is not installed")),
        false => lacks(program, &format!("needs {program}, which is not installed")),
    }
    false
}

fn is_there(program: &str) -> bool {
    let path = std::env::var("PATH").unwrap_or_default() + ":/usr/sbin:/sbin";
    path.split(':').any(|folder| Path::new(folder).join(program).exists())
}
