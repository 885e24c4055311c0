//! What a tool's command finds where it names a target.

/// What was found where a target is named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TargetInfo {
    /// Its size in bytes; zero for a file that is not there.
    pub size: u64,
    /// What it is.
    pub kind: TargetKind,
    /// What lengths and offsets of direct I/O are multiples of, where that is known.
    pub direct_unit: Option<u64>,
}

/// Whether it is there, and of which size it may become.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TargetKind {
    /// A device or a virtual array: its size is fixed.
    Device,
    /// A file that is there.
    File,
    /// A file that is not.
    NewFile,
}

impl TargetInfo {
    /// A target of `size` bytes, of which nothing is asked but whether it can grow.
    pub fn sized(size: u64, is_device: bool) -> TargetInfo {
        let kind = if is_device { TargetKind::Device } else { TargetKind::File };
        TargetInfo { size, kind, direct_unit: None }
    }

    /// Whether its size cannot change.
    pub fn is_fixed(self) -> bool {
        self.kind == TargetKind::Device
    }
}

/// A file that is made for a test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DataFile {
    /// Its path, also a target of the plan.
    pub path: String,
    /// How large it becomes.
    pub bytes: u64,
}

/// `names` as a plan takes them: one virtual array named several times has its LUNs, one after the other.
pub(crate) fn with_luns(mut names: Vec<String>) -> Vec<String> {
    assert!(!names.is_empty(), "a plan is for a target at least");
    if names[0].starts_with("array:") && names.iter().all(|name| *name == names[0]) {
        names.truncate(1);
    }
    names
}

/// Why `name`, a path of Windows, is not measured here; `None` of any other name.
///
/// On other systems it would be a file of that name in the current directory, which nobody means.
pub fn windows_path(name: &str) -> Option<String> {
    let mut letters = name.chars();
    let is_drive = letters.next().is_some_and(|letter| letter.is_ascii_alphabetic())
        && letters.next() == Some(':')
        && matches!(letters.next(), None | Some('\\' | '/'));
    let what = match () {
        () if is_drive => "begins with a drive letter",
        () if name.starts_with(r"\\") => "is a device or a share",
        () => return None,
    };
    let file = name.rsplit(['\\', '/', ':']).find(|part| !part.is_empty()).unwrap_or("test.dat");
    Some(format!(
        "{name} {what} of Windows, which this system does not have; give a path of this system, such as /mnt/test/{file}, or a \
         device, such as /dev/sdX; ./{name} is a file of that name"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_of_windows_is_known_by_its_drive_or_its_two_strokes() {
        for name in ["c:\\testfile.dat", "C:/x", "e:", "\\\\.\\PhysicalDrive1", "\\\\server\\share\\f"] {
            assert!(windows_path(name).is_some_and(|why| why.starts_with(name)), "{name}");
        }
        for name in ["a:b", "./c:\\x", "/mnt/c:/x", "ab:\\x", "array:md3000", "null:", "nbd://h/x", "x", ""] {
            assert_eq!(windows_path(name), None, "{name}");
        }
    }
}
