//! What is mounted where, from `/proc/self/mountinfo`.
//!
//! Source of the fields: `Documentation/filesystems/proc.rst`, section 3.5.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use crate::sysroot::{DevNo, SysRoot};

/// One mount.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mount {
    /// The device number the kernel gives to files on it; anonymous for btrfs, ZFS, NFS, tmpfs and the like.
    pub devno: DevNo,
    /// Where it is mounted.
    pub point: PathBuf,
    /// The type of file system, as `ext4` or `fuse.sshfs`.
    pub fs_type: String,
    /// What is mounted: a device node, `server:/export`, a pool's name.
    pub source: String,
    /// Options of this mount and of the file system, in the kernel's order, without repeats.
    pub options: Vec<String>,
}

impl Mount {
    /// The value of `name=value` among the options.
    pub fn option(&self, name: &str) -> Option<&str> {
        self.options.iter().find_map(|option| option.strip_prefix(name)?.strip_prefix('='))
    }
}

/// Every mount this process can see, in the order they were made. Empty where procfs is absent.
///
/// A mount in another mount namespace is not among them; only an exclusive open of the device finds that one.
pub fn mounts(root: &SysRoot) -> Vec<Mount> {
    read(root).unwrap_or_default()
}

/// The same for whom an unreadable table must not mean that nothing is mounted.
pub fn read(root: &SysRoot) -> std::io::Result<Vec<Mount>> {
    let bytes = std::fs::read(table(root))?;
    Ok(parse(&String::from_utf8_lossy(&bytes)))
}

/// Where the kernel lists them.
pub fn table(root: &SysRoot) -> PathBuf {
    root.proc.join("self/mountinfo")
}

/// The mount that holds `path`, which must be absolute and free of symbolic links.
///
/// The longest mount point that is a prefix; of several on the same point the last, which hides the others.
pub fn holding<'a>(mounts: &'a [Mount], path: &Path) -> Option<&'a Mount> {
    // `max_by_key` gives the last of several equal ones.
    mounts
        .iter()
        .filter(|mount| path.starts_with(&mount.point))
        .max_by_key(|mount| mount.point.components().count())
}

fn parse(text: &str) -> Vec<Mount> {
    text.lines().filter_map(line).collect()
}

/// `36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw,errors=continue`
fn line(text: &str) -> Option<Mount> {
    let (here, there) = text.split_once(" - ")?;
    let mut here = here.split(' ');
    let devno = here.nth(2)?.parse().ok()?;
    let point = here.nth(1)?;
    let mount_options = here.next()?;
    let mut there = there.split(' ');
    let fs_type = there.next()?.to_owned();
    let source = there.next()?;
    let super_options = there.next().unwrap_or_default();
    let mut options: Vec<String> = Vec::new();
    for option in mount_options.split(',').chain(super_options.split(',')) {
        if !option.is_empty() && !options.iter().any(|known| known == option) {
            options.push(option.to_owned());
        }
    }
    let source = unescape(source).to_string_lossy().into_owned();
    Some(Mount { devno, point: unescape(point).into(), fs_type, source, options })
}

/// Undoes the octal escapes of blanks, tabs, line ends and backslashes (`\040`), as procfs writes them.
pub(crate) fn unescape(text: &str) -> OsString {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let octal = (bytes[at] == b'\\').then(|| text.get(at + 1..at + 4)).flatten();
        match octal.and_then(|digits| u8::from_str_radix(digits, 8).ok()) {
            Some(byte) => {
                out.push(byte);
                at += 4;
            }
            None => {
                out.push(bytes[at]);
                at += 1;
            }
        }
    }
    OsString::from_vec(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
22 27 0:21 / /proc rw,relatime - proc proc rw
27 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw,discard
28 27 8:17 / /mnt/my\\040disk rw,noatime master:1 propagate_from:2 - xfs /dev/sdb1 rw,attr2
29 27 0:52 / /mnt rw - nfs4 filer:/vol rw,addr=10.0.0.7
30 27 8:33 / /mnt rw - ext4 /dev/sdc1 rw
a line that is not one
";

    #[test]
    fn mounts_are_read_with_optional_fields_and_escapes() {
        let mounts = parse(TEXT);
        assert_eq!(mounts.len(), 5);
        assert_eq!(mounts[2].point, Path::new("/mnt/my disk"));
        assert_eq!(mounts[2].fs_type, "xfs");
        assert_eq!(mounts[2].options, ["rw", "noatime", "attr2"]);
        assert_eq!(mounts[3].option("addr"), Some("10.0.0.7"));
        assert_eq!(mounts[3].option("add"), None);
    }

    #[test]
    fn a_path_belongs_to_the_longest_and_latest_mount_point() {
        let mounts = parse(TEXT);
        let source = |path: &str| holding(&mounts, Path::new(path)).map(|mount| mount.source.as_str());
        assert_eq!(source("/mnt/my disk/file"), Some("/dev/sdb1"));
        assert_eq!(source("/mnt/other"), Some("/dev/sdc1"));
        assert_eq!(source("/mntx"), Some("/dev/vda"));
        assert_eq!(source("/"), Some("/dev/vda"));
    }

    #[test]
    fn a_backslash_that_escapes_nothing_stays() {
        assert_eq!(unescape(r"a\b\04"), r"a\b\04");
        assert_eq!(unescape(r"a\134b"), r"a\b");
        assert_eq!(unescape("\\é"), "\\é");
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_read_without_a_crash_and_every_path_comes_back_from_its_escapes(
            text in "\\PC*", path in "/[ -~\t\n]{0,20}",
        ) {
            parse(&text);
            unescape(&text);
            let escaped: String = path
                .bytes()
                .map(|byte| match byte {
                    b' ' | b'\t' | b'\n' | b'\\' => format!("\\{byte:03o}"),
                    byte => char::from(byte).to_string(),
                })
                .collect();
            proptest::prop_assert_eq!(unescape(&escaped), OsString::from(&path));
            let line = format!("1 2 8:1 / {escaped} rw - ext4 /dev/sda1 rw");
            proptest::prop_assert_eq!(parse(&line)[0].point.clone(), PathBuf::from(&path));
        }
    }
}
