//! Loop devices and mounts: each made by the test that uses it and gone afterwards, however it ends.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;

use super::{User, lacks};

/// Runs a program; what it printed, or `None` where it failed or is not there.
fn run(program: &str, arguments: &[&str]) -> Option<String> {
    let path = format!("{}:/usr/sbin:/sbin", std::env::var("PATH").unwrap_or_default());
    let output = Command::new(program).args(arguments).env("PATH", path).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// Sets a loop device up; its node. One after the other: of two who are told the same free device, one claims it for a
/// moment although the other has it by then, who finds it busy.
fn attach(image: &Path) -> Option<String> {
    static TURN: Mutex<()> = Mutex::new(());
    let _turn = TURN.lock();
    run("losetup", &["--find", "--show", "--direct-io=on", image.to_str().unwrap()])
}

/// A loop device that bypasses the page cache, over an image in the user's home.
pub struct Loop {
    pub node: String,
    pub image: PathBuf,
}

impl Loop {
    /// `None`, and it is said why, where loop devices cannot be made.
    pub fn make(user: &User, size: u64) -> Option<Loop> {
        let image = user.path("image");
        let file = File::create(&image).unwrap();
        // Written, not left as a hole: a file system may answer for holes without asking its disk.
        std::io::copy(&mut std::io::Read::take(std::io::repeat(7), size), &mut &file).unwrap();
        file.sync_all().unwrap();
        let node = attach(&image);
        if node.is_none() {
            lacks("losetup", "needs root and losetup, to make a loop device");
        }
        Some(Loop { node: node?, image })
    }

    /// Likewise over an image that takes room only for what is written.
    pub fn sparse(user: &User, size: u64) -> Option<Loop> {
        let image = user.path("sparse image");
        File::create(&image).unwrap().set_len(size).unwrap();
        let node = attach(&image);
        if node.is_none() {
            lacks("losetup", "needs root and losetup, to make a loop device");
        }
        Some(Loop { node: node?, image })
    }

    /// Likewise over a file that is there, whoever uses it.
    pub fn over(image: &Path) -> Option<Loop> {
        let node = attach(image);
        if node.is_none() {
            lacks("losetup", "needs root and losetup, to make a loop device");
        }
        Some(Loop { node: node?, image: image.into() })
    }

    /// The text that lets Fathom write to it: it is not blank.
    pub fn consent(&self) -> String {
        format!("data:loop:{}", self.image.display())
    }

    /// `loop3`
    pub fn name(&self) -> &str {
        self.node.trim_start_matches("/dev/")
    }

    /// Shortens the file behind it; the device keeps its size, and what lies behind the new end is lost.
    pub fn truncate(&self, size: u64) {
        File::options().write(true).open(&self.image).unwrap().set_len(size).unwrap();
    }
}

impl Drop for Loop {
    fn drop(&mut self) {
        run("losetup", &["--detach", &self.node]);
    }
}

/// A file system on a device; `false`, and it is said why, where that cannot be.
pub fn mkfs(device: &Loop) -> bool {
    let made = run("mkfs.ext4", &["-q", "-F", &device.node]).is_some();
    if !made {
        lacks("mkfs.ext4", "needs mkfs.ext4");
    }
    made
}

/// A mount; ended when dropped.
pub struct Mounted(PathBuf);

impl Mounted {
    pub fn make(device: &Loop, point: &Path) -> Option<Mounted> {
        let mounted = run("mount", &[&device.node, point.to_str().unwrap()]);
        if mounted.is_none() {
            lacks("mount", "needs the right to mount");
        }
        mounted.map(|_| Mounted(point.into()))
    }
}

/// A file system whose writes wait until it is thawed, when this is dropped.
pub struct Frozen(PathBuf);

impl Frozen {
    pub fn make(mounted: &Mounted) -> Option<Frozen> {
        let frozen = run("fsfreeze", &["--freeze", mounted.0.to_str().unwrap()]);
        if frozen.is_none() {
            lacks("fsfreeze", "needs fsfreeze and a file system that can be frozen");
        }
        frozen.map(|_| Frozen(mounted.0.clone()))
    }
}

impl Drop for Frozen {
    fn drop(&mut self) {
        run("fsfreeze", &["--unfreeze", self.0.to_str().unwrap()]);
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        let point = self.0.to_str().unwrap();
        // Another test that starts a program holds every open file for a moment, which makes the mount busy.
        if run("umount", &[point]).is_none() {
            run("umount", &["--lazy", point]);
        }
    }
}
