//! Loop devices for tests: each made by the test that uses it, and gone afterwards, however it ends.

#[path = "../../../../tests/support/skip.rs"]
mod skip;

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::process::Command;
use std::sync::Mutex;

use host::target::TargetKind;
use host::{DevNo, Target};
use tempfile::TempDir;
use units::Bytes;

#[allow(unused_imports, reason = "not every binary of tests skips for other reasons")]
pub use skip::{lacks, skipped};

/// Runs a program; what it printed, or `None` where it failed or is not there.
pub fn run(program: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program).args(arguments).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// Sets a loop device up; its node.
///
/// One after the other: of two who are told the same free device, the kernel lets one claim it for a moment although the
/// other has it by then, and whoever opens it for himself in that moment finds it busy.
pub fn attach(options: &[&str]) -> Option<String> {
    static TURN: Mutex<()> = Mutex::new(());
    let _turn = TURN.lock();
    run("losetup", &[&["--find", "--show"], options].concat())
}

/// A loop device over an image in a folder of its own; detached and removed when dropped.
pub struct Loop {
    pub node: String,
    pub image: PathBuf,
    pub _folder: TempDir,
}

impl Loop {
    /// `None`, with a line that says why, where loop devices cannot be made.
    pub fn make(size: Bytes, options: &[&str], content: &[(u64, &[u8])]) -> Option<Loop> {
        let folder = TempDir::new().expect("the test has a temporary folder");
        let image = folder.path().canonicalize().expect("it is there").join("image");
        let file = File::create(&image).expect("the folder is ours");
        file.set_len(size.get()).expect("the folder is ours");
        for (offset, bytes) in content {
            file.write_all_at(bytes, *offset).expect("the folder is ours");
        }
        let path = image.to_str().expect("it is text").to_owned();
        let node = attach(&[options, &[path.as_str()]].concat());
        if node.is_none() {
            lacks("losetup", "needs root and losetup");
        }
        Some(Loop { node: node?, image, _folder: folder })
    }

    /// The device, resolved.
    pub fn target(&self) -> Target {
        Target::parse(&self.node).expect("it is there")
    }

    /// Its number.
    pub fn devno(&self) -> DevNo {
        match self.target().kind {
            TargetKind::Block { devno, .. } => devno,
            other => panic!("{other:?} is no block device"),
        }
    }
}

impl Drop for Loop {
    fn drop(&mut self) {
        run("losetup", &["--detach", &self.node]);
    }
}
