//! What is mounted where, from `/proc/self/mountinfo`.
//!
//! Source of the fields: `Documentation/filesystems/proc.rst`, section 3.5.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use crate::each_once;
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
    Ok(parse(&bytes))
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

fn parse(table: &[u8]) -> Vec<Mount> {
    table.split(|byte| *byte == b'\n').filter_map(line).collect()
}

/// `36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw,errors=continue`
///
/// In bytes: a path need not be text.
fn line(line: &[u8]) -> Option<Mount> {
    let text = |word: &[u8]| String::from_utf8_lossy(word).into_owned();
    let mut words = line.split(|byte| *byte == b' ');
    let devno = text(words.nth(2)?).parse().ok()?;
    let point = unescape(words.nth(1)?);
    let mount_options = text(words.next()?);
    words.find(|word| *word == b"-")?;
    let fs_type = text(words.next()?);
    let source = unescape(words.next()?).to_string_lossy().into_owned();
    let super_options = words.next().map(text).unwrap_or_default();
    let options = mount_options.split(',').chain(super_options.split(',')).filter(|each| !each.is_empty());
    let options = each_once(options.map(str::to_owned), String::clone);
    Some(Mount { devno, point: point.into(), fs_type, source, options })
}

/// Undoes the octal escapes of blanks, tabs, line ends and backslashes (`\040`), as procfs writes them.
pub(crate) fn unescape(bytes: &[u8]) -> OsString {
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let octal = (bytes[at] == b'\\').then(|| bytes.get(at + 1..at + 4)).flatten();
        let octal = octal.and_then(|digits| str::from_utf8(digits).ok());
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
    debug_assert!(out.len() <= bytes.len(), "an escape must be longer than what it stands for");
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
        let mounts = parse(TEXT.as_bytes());
        assert_eq!(mounts.len(), 5);
        assert_eq!(mounts[2].point, Path::new("/mnt/my disk"));
        assert_eq!(mounts[2].fs_type, "xfs");
        assert_eq!(mounts[2].options, ["rw", "noatime", "attr2"]);
        assert_eq!(mounts[3].option("addr"), Some("10.0.0.7"));
        assert_eq!(mounts[3].option("add"), None);
    }

    #[test]
    fn a_path_belongs_to_the_longest_and_latest_mount_point() {
        let mounts = parse(TEXT.as_bytes());
        let source = |path: &str| holding(&mounts, Path::new(path)).map(|mount| mount.source.as_str());
        assert_eq!(source("/mnt/my disk/file"), Some("/dev/sdb1"));
        assert_eq!(source("/mnt/other"), Some("/dev/sdc1"));
        assert_eq!(source("/mntx"), Some("/dev/vda"));
        assert_eq!(source("/"), Some("/dev/vda"));
    }

    #[test]
    fn a_backslash_that_escapes_nothing_stays() {
        assert_eq!(unescape(br"a\b\04"), r"a\b\04");
        assert_eq!(unescape(br"a\134b"), r"a\b");
        assert_eq!(unescape("\\é".as_bytes()), "\\é");
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_read_without_a_crash_and_every_path_comes_back_from_its_escapes(
            text: Vec<u8>, path: Vec<u8>,
        ) {
            parse(&text);
            unescape(&text);
            let escape = |byte: &u8| match byte {
                b' ' | b'\t' | b'\n' | b'\\' => format!("\\{byte:03o}").into_bytes(),
                byte => vec![*byte],
            };
            let escaped: Vec<u8> = path.iter().flat_map(escape).collect();
            let path = OsString::from_vec(path);
            proptest::prop_assert_eq!(unescape(&escaped), path.clone());
            let line = [b"1 2 8:1 / /", &escaped[..], b" rw shared:1 - ext4 /dev/sda1 rw"].concat();
            proptest::prop_assert_eq!(parse(&line)[0].point.clone(), Path::new("/").join(path));
        }
    }
}
