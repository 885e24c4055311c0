//! One thing that is changed, as a line of text.

use std::fs::File;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, StatxFlags, statx};

use crate::escape::{escaped, unescaped};
use crate::handle;
use crate::sysroot::DevNo;

/// What is changed and is to be put back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// A scratch file is made, with that creation id in its mark; it is to be removed.
    Scratch(MadeFile, u128),
    /// A file without a mark is made; it is to be removed.
    Plain(MadeFile),
    /// A folder of trees is made; it is to be cleared and removed. The path is that of the folder.
    Tree(MadeFile),
    /// A setting of a device's queue is changed.
    Queue(Setting),
}

/// A file or folder, by more than its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MadeFile {
    /// Where it is, absolute.
    pub path: PathBuf,
    /// The inode of the directory that it lies in: another one, where a file system is not mounted.
    pub folder: u64,
    /// What tells it from every other; `None` before it is made.
    pub id: Option<FileId>,
}

/// A file, whatever it is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileId {
    /// The number of its file system. Good until that is mounted anew.
    pub device: u64,
    /// Its inode.
    pub inode: u64,
    /// When it was made, in nanoseconds since 1970: an inode is used again. `None` where the file system does not say.
    pub born: Option<i128>,
}

/// Which setting of the queue of a block device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Knob {
    /// How far the system reads ahead: KiB.
    ReadAhead,
    /// The scheduler of its requests: a name.
    Scheduler,
}

impl Knob {
    /// Its name in a sentence.
    pub const fn named(self) -> &'static str {
        match self {
            Knob::ReadAhead => "read-ahead",
            Knob::Scheduler => "scheduler",
        }
    }
}

/// A setting of a block device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    /// Which.
    pub knob: Knob,
    /// The device.
    pub device: DevNo,
    /// Its number since the machine was started, which no other device has had; `None` where the kernel has none.
    pub sequence: Option<u64>,
    /// What is to be put back.
    pub before: String,
    /// What it was set to, one after the other.
    pub set: Vec<String>,
}

impl MadeFile {
    /// What is about to be made at `path`, which is made absolute. An error where there is no such directory.
    pub fn before(path: &Path) -> io::Result<MadeFile> {
        let path = std::path::absolute(path)?;
        let folder = std::fs::metadata(handle::parent_of(&path))?.ino();
        Ok(MadeFile { path, folder, id: None })
    }

    /// Itself, made: `file` is open on it.
    pub fn made(&self, file: &File) -> io::Result<MadeFile> {
        Ok(MadeFile { id: Some(FileId::of(file)?), ..self.clone() })
    }
}

impl FileId {
    /// Of an open file or directory.
    pub fn of(file: impl std::os::fd::AsFd) -> io::Result<FileId> {
        let stat = rustix::fs::fstat(&file)?;
        let asked = statx(&file, c"", AtFlags::EMPTY_PATH, StatxFlags::BTIME);
        let told = asked.ok().filter(|told| told.stx_mask & StatxFlags::BTIME.bits() != 0);
        let born = told.map(|told| {
            i128::from(told.stx_btime.tv_sec) * 1_000_000_000 + i128::from(told.stx_btime.tv_nsec)
        });
        Ok(FileId { device: stat.st_dev, inode: stat.st_ino, born })
    }
}

impl Change {
    /// What is changed, for a sentence.
    pub fn named(&self) -> String {
        match self {
            Change::Scratch(file, _) => format!("the scratch file {}", file.path.display()),
            Change::Plain(file) => format!("the file {}", file.path.display()),
            Change::Tree(file) => format!("the folder {}", file.path.display()),
            Change::Queue(setting) => {
                format!("the {} of the device {}", setting.knob.named(), setting.device)
            }
        }
    }

    /// One line without its end, of words apart by single spaces.
    pub(super) fn to_line(&self) -> String {
        let line = match self {
            Change::Scratch(file, creation) => format!("scratch {} {creation:032x}", file.to_words()),
            Change::Plain(file) => format!("plain {}", file.to_words()),
            Change::Tree(file) => format!("tree {}", file.to_words()),
            Change::Queue(Setting { knob, device, sequence, before, set }) => {
                format!("{} {device} {} {before} {}", knob.named(), or_dash(*sequence), set.join(","))
            }
        };
        debug_assert_eq!(Change::from_line(&line).as_ref(), Some(self), "a change is read as it is noted");
        line
    }

    /// What [`Change::to_line`] wrote; `None` for anything else.
    pub(super) fn from_line(line: &str) -> Option<Change> {
        let words: Vec<&str> = line.split(' ').collect();
        let (kind, rest) = words.split_first()?;
        match (*kind, rest) {
            ("scratch", [file @ .., creation]) => {
                Some(Change::Scratch(MadeFile::from_words(file)?, u128::from_str_radix(creation, 16).ok()?))
            }
            ("plain", file) => Some(Change::Plain(MadeFile::from_words(file)?)),
            ("tree", file) => Some(Change::Tree(MadeFile::from_words(file)?)),
            (knob, [device, sequence, before, set]) => Some(Change::Queue(Setting {
                knob: [Knob::ReadAhead, Knob::Scheduler].into_iter().find(|each| each.named() == knob)?,
                device: device.parse().ok()?,
                sequence: of_dash(sequence)?,
                before: value(before)?,
                set: set.split(',').map(value).collect::<Option<_>>()?,
            })),
            _ => None,
        }
    }
}

impl MadeFile {
    fn to_words(&self) -> String {
        assert!(self.path.is_absolute(), "who reads a journal has another working directory");
        let id = match self.id {
            None => "- - -".to_owned(),
            Some(id) => format!("{} {} {}", id.device, id.inode, or_dash(id.born)),
        };
        format!("{} {} {id}", escaped(self.path.as_os_str()), self.folder)
    }

    fn from_words(words: &[&str]) -> Option<MadeFile> {
        let [path, folder, device, inode, born] = words else { return None };
        let id = match (*device, *inode) {
            ("-", "-") => None,
            (device, inode) => Some(FileId {
                device: device.parse().ok()?,
                inode: inode.parse().ok()?,
                born: of_dash(born)?,
            }),
        };
        Some(MadeFile { path: unescaped(path)?.into(), folder: folder.parse().ok()?, id })
    }
}

/// A value of a setting: letters and digits, some of them apart by dashes.
pub(super) fn value(word: &str) -> Option<String> {
    let is_value =
        !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte));
    is_value.then(|| word.to_owned())
}

fn or_dash(value: Option<impl ToString>) -> String {
    value.map_or_else(|| "-".into(), |value| value.to_string())
}

fn of_dash<T: std::str::FromStr>(word: &str) -> Option<Option<T>> {
    match word {
        "-" => Some(None),
        word => word.parse().ok().map(Some),
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    use super::*;

    fn file(path: &[u8], id: Option<FileId>) -> MadeFile {
        MadeFile { path: PathBuf::from(OsStr::from_bytes(path)), folder: 2, id }
    }

    #[test]
    fn what_is_noted_is_read_back_whatever_its_path() {
        let id = FileId { device: 66_306, inode: u64::MAX, born: Some(-1) };
        let setting = Setting {
            knob: Knob::ReadAhead,
            device: DevNo { major: 7, minor: 3 },
            sequence: None,
            before: "128".into(),
            set: vec!["4".into(), "0".into()],
        };
        let scheduler = Setting {
            knob: Knob::Scheduler,
            before: "mq-deadline".into(),
            set: vec!["none".into()],
            ..setting.clone()
        };
        let changes = [
            Change::Scratch(file(b"/a b/\xff%\n.dat", Some(id)), u128::MAX - 7),
            Change::Scratch(file(b"/x", None), 0),
            Change::Plain(file("/ü".as_bytes(), Some(FileId { born: None, ..id }))),
            Change::Tree(file(b"/", None)),
            Change::Queue(setting.clone()),
            Change::Queue(Setting { sequence: Some(9), ..setting }),
            Change::Queue(scheduler),
        ];
        for change in changes {
            let line = change.to_line();
            assert!(line.bytes().all(|byte| byte == b' ' || byte.is_ascii_graphic()), "{line}");
            assert_eq!(Change::from_line(&line), Some(change), "{line}");
        }
        for broken in [
            "",
            "scratch",
            "scratch /x 2 - - -",
            "plain %2",
            "read-ahead 7:3 - 1 ",
            "scheduler 7:3 - a/b c",
            "other 1",
        ] {
            assert_eq!(Change::from_line(broken), None, "{broken}");
        }
    }
}
