//! Who else uses a regular file, whatever name and mount namespace they reached it by.
//!
//! **Invariant:** compares files by device and inode, never by the text of their paths, wherever the kernel tells both.

use std::fs::{File, Metadata, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::{FlockOperation, flock};
use units::convert::narrow;

use crate::safety::reason::Reason;
use crate::sysroot::{DevNo, SysRoot, names, path};
use crate::target::mounts::unescape;

/// A file, by the file system it lies on and its number there.
pub(super) type FileId = (u64, u64);

/// Every use of the file at `path`, which `file` is open on for reading.
pub(super) fn of_file(root: &SysRoot, path: &Path, file: &File) -> Vec<Reason> {
    let text = path.display().to_string();
    let id = id_of(file.metadata());
    let mut reasons = Vec::new();
    if swaps(root, &mut reasons).iter().any(|swap| is_same(swap, path, id)) {
        reasons.push(Reason::Swap { device: text.clone() });
    }
    let loops = loops(root, &mut reasons);
    let over = loops.iter().filter(|each| each.is_over(path, id));
    reasons.extend(over.map(|each| each.against(root, text.clone())));
    reasons.extend(lock_on(file).map(|kind| Reason::Locked { file: text.clone(), kind }));
    // A loop device or swap keeps its file open too; that it does has been said.
    if reasons.is_empty() && is_open_for_writing(file) {
        reasons.push(Reason::OpenElsewhere { file: text });
    }
    reasons
}

/// The loop device over the file at `path`, which `file` is open on; `None` where there is none, or none is known of.
pub(crate) fn loop_over(root: &SysRoot, path: &Path, file: &File) -> Option<PathBuf> {
    let id = id_of(file.metadata());
    let over = read_loops(root).ok()?.into_iter().find(|each| each.is_over(path, id))?;
    Some(root.node(&over.name))
}

/// That it is not known `what`, since `table` cannot be read: not the same as that there is nothing.
pub(super) fn unknown(what: &'static str, table: PathBuf, error: &io::Error) -> Reason {
    Reason::Unknown { what, table, why: error.to_string() }
}

/// What was found; nothing, and a reason for it, where `table` cannot be read.
pub(super) fn known<T>(
    found: io::Result<Vec<T>>,
    what: &'static str,
    table: PathBuf,
    reasons: &mut Vec<Reason>,
) -> Vec<T> {
    found.unwrap_or_else(|error| {
        reasons.push(unknown(what, table, &error));
        Vec::new()
    })
}

/// The files and devices that are swapped to.
pub(super) fn swaps(root: &SysRoot, reasons: &mut Vec<Reason>) -> Vec<PathBuf> {
    known(read_swaps(root), "what is swapped to", root.proc.join("swaps"), reasons)
}

/// Every loop device that is set up.
pub(super) fn loops(root: &SysRoot, reasons: &mut Vec<Reason>) -> Vec<LoopOver> {
    known(read_loops(root), "what is behind loop devices", root.sys.join("class/block"), reasons)
}

/// The files and devices that are swapped to (`Documentation/filesystems/proc.rst`, `/proc/swaps`). None on a kernel
/// without swap, which has no such table beside its others.
fn read_swaps(root: &SysRoot) -> io::Result<Vec<PathBuf>> {
    let table = match std::fs::read(root.proc.join("swaps")) {
        Err(error) if error.kind() == io::ErrorKind::NotFound && root.proc.join("meminfo").exists() => {
            return Ok(Vec::new());
        }
        table => table?,
    };
    let lines = table.split(|byte| *byte == b'\n').skip(1);
    let names =
        lines.filter_map(|line| line.split(|byte| byte.is_ascii_whitespace()).find(|word| !word.is_empty()));
    Ok(names.map(|name| unescape(name).into()).collect())
}

/// A loop device that is set up.
pub(super) struct LoopOver {
    /// Its kernel name.
    pub name: String,
    /// The file behind it as it was named when it was set up, perhaps where this process cannot see it.
    pub named: PathBuf,
    /// The file itself; `None` where the loop device may not be asked.
    id: Option<FileId>,
    /// The block device behind it, if it is one.
    over: Option<DevNo>,
}

impl LoopOver {
    /// Whether it reads and writes the file at `path`, whose number is `id`. By name where the loop may not be asked.
    pub fn is_over(&self, path: &Path, id: Option<FileId>) -> bool {
        match (self.id, id) {
            (Some(own), Some(id)) => own == id,
            _ => is_same(&self.named, path, id),
        }
    }

    /// Whether it reads and writes that block device.
    pub fn is_over_device(&self, node: &Path, devno: DevNo) -> bool {
        self.over == Some(devno) || (self.id.is_none() && is_same(&self.named, node, id_at(node)))
    }

    /// That it speaks against writing to `file`.
    pub fn against(&self, root: &SysRoot, file: String) -> Reason {
        Reason::BehindLoop { file, by: root.node(&self.name).display().to_string() }
    }

    /// The file behind it.
    pub fn id(&self) -> Option<FileId> {
        self.id.or_else(|| id_at(&self.named))
    }
}

fn read_loops(root: &SysRoot) -> io::Result<Vec<LoopOver>> {
    let devices = root.sys.join("class/block");
    std::fs::read_dir(&devices)?;
    let loops = names(&devices).into_iter().filter(|name| name.starts_with("loop"));
    let set_up = loops.filter_map(|name| {
        let named = path(&devices.join(&name).join("loop/backing_file"))?;
        let (id, over) = asked(&root.node(&name)).map_or((None, None), |(id, over)| (Some(id), over));
        Some(LoopOver { name, named, id, over })
    });
    Ok(set_up.collect())
}

/// Source: linux, include/uapi/linux/loop.h.
const LOOP_GET_STATUS64: libc::Ioctl = 0x4C05;

#[repr(C)]
struct LoopInfo64 {
    device: u64,
    inode: u64,
    rdevice: u64,
    rest: [u8; 208],
}

const _: () = assert!(size_of::<LoopInfo64>() == 232, "the kernel writes as much as its own structure has");

/// What a loop device says of the file behind it: device and inode, and its number if it is a block device.
fn asked(node: &Path) -> Option<(FileId, Option<DevNo>)> {
    let file = OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK).open(node).ok()?;
    let mut info = LoopInfo64 { device: 0, inode: 0, rdevice: 0, rest: [0; 208] };
    // SAFETY: the descriptor is open; `info` has the 232 bytes of `struct loop_info64` and lives through the call.
    let answer = unsafe { libc::ioctl(file.as_raw_fd(), LOOP_GET_STATUS64, &raw mut info) };
    let over = (info.rdevice != 0).then(|| DevNo::from_raw(info.rdevice));
    (answer == 0).then_some(((info.device, info.inode), over))
}

fn id_of(stat: io::Result<Metadata>) -> Option<FileId> {
    stat.ok().map(|stat| (stat.dev(), stat.ino()))
}

fn id_at(path: &Path) -> Option<FileId> {
    id_of(std::fs::metadata(path))
}

/// Whether `named` leads to the file at `path`, whose number is `id`: the same path, a hard link, or another mount of
/// the same place.
pub(super) fn is_same(named: &Path, path: &Path, id: Option<FileId>) -> bool {
    named == path || id.is_some_and(|id| id_at(named) == Some(id))
}

/// The kind of lock that somebody else holds on the file. Takes none for longer than it takes to ask.
fn lock_on(file: &File) -> Option<&'static str> {
    match flock(file, FlockOperation::NonBlockingLockExclusive) {
        Err(rustix::io::Errno::WOULDBLOCK) => return Some("flock"),
        // What was locked a moment ago can be unlocked.
        Ok(()) => drop(flock(file, FlockOperation::Unlock)),
        // A file system without locks.
        Err(_) => {}
    }
    // SAFETY: all zeros is a valid `struct flock`.
    let mut asked: libc::flock = unsafe { std::mem::zeroed() };
    asked.l_type = narrow::<libc::c_short>(libc::F_WRLCK);
    asked.l_whence = narrow::<libc::c_short>(libc::SEEK_SET);
    // SAFETY: the descriptor is open, `asked` is a `struct flock` with `l_pid` 0 as F_OFD_GETLK wants it (fcntl(2)).
    let answer = unsafe { libc::fcntl(file.as_raw_fd(), libc::F_OFD_GETLK, &raw mut asked) };
    match (answer, libc::c_int::from(asked.l_type), asked.l_pid) {
        (0, libc::F_UNLCK, _) => None,
        (0, _, -1) => Some("open file description"),
        (0, _, _) => Some("POSIX"),
        _ => None,
    }
}

/// Looks this often, so long apart, whether a file is still open for writing: a kernel that lets go of a ring of
/// requests, and a child between fork and exec, keep it open for a moment after its user has closed it.
const LOOKS: u32 = 40;
const APART: Duration = Duration::from_millis(10);

/// Whether anybody has the file open for writing: then the kernel grants no read lease (fcntl(2), `F_SETLEASE`).
/// `false` as well where it would grant none to this user or on this file system.
fn is_open_for_writing(file: &File) -> bool {
    for _ in 0..LOOKS {
        // SAFETY: the descriptor is open; the two commands take and give back a lease and touch no memory.
        let lease = |kind: libc::c_int| unsafe { libc::fcntl(file.as_raw_fd(), libc::F_SETLEASE, kind) };
        if lease(libc::F_RDLCK) == 0 {
            lease(libc::F_UNLCK);
            return false;
        }
        if io::Error::last_os_error().raw_os_error() != Some(libc::EAGAIN) {
            return false;
        }
        #[expect(clippy::disallowed_methods, reason = "waits for the kernel, outside of any measurement")]
        std::thread::sleep(APART);
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Fixture;

    fn over(named: &Path, id: Option<FileId>, over: Option<DevNo>) -> LoopOver {
        LoopOver { name: "loop0".into(), named: named.into(), id, over }
    }

    #[test]
    fn a_loop_that_can_be_asked_is_over_the_file_of_its_number_whatever_it_is_called() {
        let path = Path::new("/some/image");
        let asked = over(path, Some((1, 2)), None);
        assert!(asked.is_over(Path::new("/another/name"), Some((1, 2))));
        assert!(!asked.is_over(path, Some((1, 3))) && !asked.is_over(path, Some((2, 2))));
        assert!(asked.is_over(path, None), "a file whose number is not known is known by its name");
        assert_eq!(asked.id(), Some((1, 2)));
        let mute = over(path, None, None);
        assert!(mute.is_over(path, Some((1, 2))) && !mute.is_over(Path::new("/another/name"), Some((1, 2))));
        assert_eq!(mute.id(), None);
    }

    #[test]
    fn a_loop_over_a_device_is_known_by_its_number_and_only_where_that_is_not_told_by_its_node() {
        let (node, devno) = (Path::new("/dev/sdq"), DevNo { major: 65, minor: 0 });
        let other = DevNo { major: 65, minor: 1 };
        assert!(over(Path::new("/x"), Some((1, 2)), Some(devno)).is_over_device(node, devno));
        assert!(!over(node, Some((1, 2)), Some(other)).is_over_device(node, devno));
        assert!(!over(node, Some((1, 2)), None).is_over_device(node, devno), "it is over a file");
        assert!(over(node, None, None).is_over_device(node, devno));
        assert!(!over(Path::new("/x"), None, None).is_over_device(node, devno));
    }

    #[test]
    fn two_names_are_one_file_where_their_numbers_are() {
        let folder = tempfile::tempdir().expect("the test has a temporary folder");
        let (one, link, other) =
            (folder.path().join("one"), folder.path().join("link"), folder.path().join("other"));
        std::fs::write(&one, "x").and_then(|()| std::fs::write(&other, "x")).expect("the folder is ours");
        std::fs::hard_link(&one, &link).expect("the folder is ours");
        let id = id_at(&one);
        assert!(id.is_some() && id == id_at(&link) && id != id_at(&other));
        assert!(is_same(&link, &one, id) && !is_same(&other, &one, id));
        assert!(is_same(&one, &one, None) && !is_same(&link, &one, None));
        assert_eq!(id_at(&folder.path().join("none")), None);
        assert_eq!(asked(&one), None, "a file is no loop device");
    }

    #[test]
    fn loops_that_are_set_up_are_listed_and_other_devices_are_not() {
        let machine = Fixture::new();
        for (name, devno) in [("loop0", "7:0"), ("loop1", "7:1"), ("sda", "8:0")] {
            machine.disk(name, devno, 8);
        }
        machine.write("sys/block/loop1/loop/backing_file", "/tmp/x.img\n");
        machine.write("sys/block/sda/loop/backing_file", "/tmp/y.img\n");
        let found = read_loops(&machine.root()).expect("the folder is there");
        let found: Vec<_> = found.iter().map(|each| (each.name.as_str(), each.named.as_path())).collect();
        assert_eq!(found, [("loop1", Path::new("/tmp/x.img"))]);
        let file = tempfile::tempfile().expect("the test has a temporary folder");
        let by = loop_over(&machine.root(), Path::new("/tmp/x.img"), &file);
        assert_eq!(by, Some(machine.root().node("loop1")));
        assert_eq!(loop_over(&machine.root(), Path::new("/tmp/z.img"), &file), None);
    }

    #[test]
    fn names_of_swap_are_unescaped_and_the_first_line_is_none() {
        let machine = Fixture::new();
        machine.append("proc/swaps", "/swap\\040file file 100 0 -2\n/dev/sda2 partition 9 0 -3\n");
        let found = read_swaps(&machine.root()).expect("the table is there");
        assert_eq!(found, [PathBuf::from("/swap file"), PathBuf::from("/dev/sda2")]);
    }
}
