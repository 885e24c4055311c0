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
