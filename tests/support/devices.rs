//! Loop devices and mounts: each made by the test that uses it and gone afterwards, however it ends.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;

use super::{User, lacks, skipped};

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

/// A control group whose processes may move so much to a device; gone when dropped.
pub struct Throttled(PathBuf);

impl Throttled {
    /// `bottleneck` by its name in `io.max`, `riops` or `rbps`.
    pub fn make(device: &Loop, limit: &str, most: u64) -> Option<Throttled> {
        let group = Throttled::limited(device, limit, most);
        if group.is_none() {
            skipped(
                "needs root and a control group of version 1 (blkio) or 2 (io) in /sys/fs/cgroup that throttles",
            );
        }
        group
    }

    fn limited(device: &Loop, limit: &str, most: u64) -> Option<Throttled> {
        let number = fs::read_to_string(format!("/sys/block/{}/dev", device.name())).ok()?;
        let number = number.trim();
        let name = format!("fathom-{}-{}", std::process::id(), device.name());
        let old = Path::new("/sys/fs/cgroup/blkio");
        let (folder, file, text) = if old.join("cgroup.procs").exists() {
            let file = match limit {
                "riops" => "blkio.throttle.read_iops_device",
                "rbps" => "blkio.throttle.read_bps_device",
                _ => return None,
            };
            (old.join(name), file, format!("{number} {most}"))
        } else {
            let root = Path::new("/sys/fs/cgroup");
            fs::write(root.join("cgroup.subtree_control"), "+io").ok()?;
            (root.join(name), "io.max", format!("{number} {limit}={most}"))
        };
        fs::create_dir(&folder).ok()?;
        let group = Throttled(folder);
        fs::write(group.0.join(file), text).ok()?;
        Some(group)
    }

    /// `command` as a process of the group.
    pub fn within(&self, command: &Command) -> Command {
        let mut within = Command::new("/bin/sh");
        within.args(["-c", "echo $$ > \"$0\" && exec \"$@\""]).arg(self.0.join("cgroup.procs"));
        within.arg(command.get_program()).args(command.get_args()).env_clear();
        within.envs(command.get_envs().filter_map(|(key, value)| Some((key, value?))));
        command.get_current_dir().into_iter().for_each(|home| {
            within.current_dir(home);
        });
        within
    }
}

impl Drop for Throttled {
    fn drop(&mut self) {
        let _gone = fs::remove_dir(&self.0);
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
