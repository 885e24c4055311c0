//! Where the kernel tells about itself: `/sys`, `/proc` and `/dev`, replaceable by a fixture tree.
//!
//! **Invariant:** every fact of this crate that comes from sysfs or procfs is read through a [`SysRoot`], so
//! that a test can show any machine without owning one.

use std::ffi::OsString;
use std::fmt;
use std::fs;
use std::ops::RangeInclusive;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use units::Bytes;

/// The three trees.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SysRoot {
    /// Stands for `/sys`.
    pub sys: PathBuf,
    /// Stands for `/proc`.
    pub proc: PathBuf,
    /// Stands for `/dev`.
    pub dev: PathBuf,
}

impl Default for SysRoot {
    fn default() -> SysRoot {
        SysRoot::real()
    }
}

impl SysRoot {
    /// The running machine's own trees.
    pub fn real() -> SysRoot {
        SysRoot { sys: "/sys".into(), proc: "/proc".into(), dev: "/dev".into() }
    }

    /// The trees `sys`, `proc` and `dev` below `root`.
    pub fn under(root: &Path) -> SysRoot {
        SysRoot { sys: root.join("sys"), proc: root.join("proc"), dev: root.join("dev") }
    }

    /// The folder of a block device in sysfs, symbolic links resolved; `None` where the kernel lists no such device.
    pub fn block_folder(&self, devno: DevNo) -> Option<PathBuf> {
        fs::canonicalize(self.sys.join("dev/block").join(devno.to_string())).ok()
    }

    /// The node of a block device by its kernel name, as `sda` or `nvme0n1p2`.
    ///
    /// sysfs writes `!` where the node has a `/` (`cciss!c0d0` is `/dev/cciss/c0d0`;
    /// `Documentation/admin-guide/devices.rst`).
    pub fn node(&self, kernel_name: &str) -> PathBuf {
        self.dev.join(kernel_name.replace('!', "/"))
    }
}

/// The text of a small file, trimmed; `None` where it is absent, unreadable, empty or not text.
pub fn text(path: &Path) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

/// The path that a small file holds, which need not be text, without the line's end; `None` where it is absent,
/// unreadable or empty.
pub fn path(file: &Path) -> Option<PathBuf> {
    let mut bytes = fs::read(file).ok()?;
    if bytes.ends_with(b"\n") {
        bytes.pop();
    }
    (!bytes.is_empty()).then(|| OsString::from_vec(bytes).into())
}

/// The number in a small file; `None` where there is none.
pub fn number(path: &Path) -> Option<u64> {
    text(path)?.parse().ok()
}

/// The first word of a small file, read as a number or the like; `None` where it is none.
pub fn first<T: FromStr>(path: &Path) -> Option<T> {
    text(path)?.split_whitespace().next()?.parse().ok()
}

/// The ranges of a list such as `0-3,8`, as the kernel writes processors; none of an empty one, and `None` where it is no list.
pub fn ranges(list: &str) -> Option<Vec<RangeInclusive<u32>>> {
    let parts = list.split(',').filter(|part| !part.is_empty());
    let range = |part: &str| {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        Some(first.parse().ok()?..=last.parse().ok()?)
    };
    parts.map(range).collect()
}

/// `kyber` of `none [kyber] bfq`; `None` where nothing is in brackets.
pub fn chosen(line: &str) -> Option<&str> {
    Some(line.split_once('[')?.1.split_once(']')?.0)
}

/// Whether a name is the word and a number, nothing else: `ata1`, `host12`.
pub fn is_numbered(name: &str, word: &str) -> bool {
    let number = name.strip_prefix(word).unwrap_or_default();
    !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
}

/// `count` times `unit`, at most what 64 bits hold: the kernel writes limits that stand for "none".
pub fn times(count: u64, unit: Bytes) -> Bytes {
    Bytes::new(count.saturating_mul(unit.get()))
}

/// The names in a folder, sorted; none where the folder is absent.
pub fn names(folder: &Path) -> Vec<String> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let mut names: Vec<String> =
        entries.flatten().filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.sort();
    names
}

/// A device number: what the kernel knows a block device by, whatever its node is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DevNo {
    /// The driver's number.
    pub major: u32,
    /// The device's number within the driver.
    pub minor: u32,
}

impl DevNo {
    /// The device number in `stat`'s packed form.
    pub fn from_raw(raw: u64) -> DevNo {
        DevNo { major: libc::major(raw), minor: libc::minor(raw) }
    }

    /// Whether this number stands for no device but for a file system that has several or none, as btrfs,
    /// ZFS, tmpfs and NFS give (`Documentation/admin-guide/devices.txt`: major 0).
    pub fn is_anonymous(self) -> bool {
        self.major == 0
    }
}

impl fmt::Display for DevNo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.major, self.minor)
    }
}

/// The text is not `major:minor`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a device number; it would be written as 8:16")]
pub struct NotADevNo(pub String);

impl FromStr for DevNo {
    type Err = NotADevNo;

    /// Reads `8:16`.
    fn from_str(text: &str) -> Result<DevNo, NotADevNo> {
        let parts = text.trim().split_once(':');
        parts
            .and_then(|(major, minor)| Some(DevNo { major: major.parse().ok()?, minor: minor.parse().ok()? }))
            .ok_or_else(|| NotADevNo(text.into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_number_is_read_back_as_it_is_printed() {
        let devno: DevNo = "259:12".parse().expect("it is a device number");
        assert_eq!(devno, DevNo { major: 259, minor: 12 });
        assert_eq!(devno.to_string(), "259:12");
        for text in ["", "8", "8:", ":1", "8:1:2", "a:b", "-1:2"] {
            assert!(text.parse::<DevNo>().is_err(), "{text} was read");
        }
    }

    #[test]
    fn lists_of_the_kernels_are_read() {
        let numbers = |list| Some(ranges(list)?.into_iter().flatten().collect::<Vec<u32>>());
        assert_eq!(numbers("0-3,8"), Some(vec![0, 1, 2, 3, 8]));
        assert_eq!((numbers(""), numbers("a"), numbers("0-")), (Some(vec![]), None, None));
        assert!(is_numbered("ata12", "ata") && !is_numbered("ata", "ata") && !is_numbered("ata1x", "ata"));
    }

    #[test]
    fn a_name_with_a_slash_becomes_its_node() {
        assert_eq!(SysRoot::real().node("cciss!c0d0"), Path::new("/dev/cciss/c0d0"));
    }
}
