//! Tests that run in a mount namespace of their own.

use std::ffi::OsStr;
use std::path::Path;
use std::process::Command;

use crate::skip::lacks;

/// Runs the ignored `test` of this program with `variable` set, after `mounts` was done in a mount namespace; `$1` there
/// is `folder`. Skipped where the system allows no such namespace or mount.
pub(crate) fn run_in(mounts: &str, folder: &Path, test: &str, variable: (&str, &OsStr)) {
    let child = Command::new("unshare")
        .args(["--map-root-user", "--mount", "sh", "-c"])
        .arg(format!("{mounts} || exit 77; shift; exec \"$@\""))
        .arg("sh")
        .arg(folder)
        .arg(std::env::current_exe().unwrap())
        .args(["--ignored", "--exact", test])
        .env(variable.0, variable.1)
        .output();
    match child {
        Err(error) => lacks("unshare", &error.to_string()),
        Ok(child) if child.status.code() == Some(77) || child.stdout.is_empty() => {
            lacks("unshare", &String::from_utf8_lossy(&child.stderr));
        }
        Ok(child) => {
            let said = String::from_utf8_lossy(&child.stdout);
            assert!(child.status.success() && said.contains("1 passed"), "{said}");
        }
    }
}
