//! What is done to each file or directory of a tree.

use crate::text::words;

/// What is done to each file or directory of a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FileOp {
    /// Make a directory.
    Mkdir,
    /// Make a file that is not there, write its content, close it.
    Create,
    /// Open a file, write its content anew, close it.
    Write,
    /// Ask for a file's attributes by its name.
    Stat,
    /// Open a file and close it.
    Open,
    /// Open a file, read all of it, close it.
    Read,
    /// Give a file a second name.
    Link,
    /// Make a symbolic link to a file.
    Symlink,
    /// Give a file another name in its directory.
    Rename,
    /// Read all names in a directory.
    Readdir,
    /// Remove a file.
    Delete,
    /// Remove an empty directory.
    Rmdir,
    /// Write back all that the file system holds: `fsync = "end"`.
    Sync,
}

impl FileOp {
    /// All of them, in the order of their numbers.
    pub const ALL: [FileOp; 13] = [
        FileOp::Mkdir,
        FileOp::Create,
        FileOp::Write,
        FileOp::Stat,
        FileOp::Open,
        FileOp::Read,
        FileOp::Link,
        FileOp::Symlink,
        FileOp::Rename,
        FileOp::Readdir,
        FileOp::Delete,
        FileOp::Rmdir,
        FileOp::Sync,
    ];

    /// The word used in plans, records and tables.
    pub const fn name(self) -> &'static str {
        match self {
            FileOp::Mkdir => "mkdir",
            FileOp::Create => "create",
            FileOp::Write => "write",
            FileOp::Stat => "stat",
            FileOp::Open => "open",
            FileOp::Read => "read",
            FileOp::Link => "link",
            FileOp::Symlink => "symlink",
            FileOp::Rename => "rename",
            FileOp::Readdir => "readdir",
            FileOp::Delete => "delete",
            FileOp::Rmdir => "rmdir",
            FileOp::Sync => "sync",
        }
    }

    /// Whether it may be done to the same file again and again. The others make, move or remove a name.
    pub const fn repeats(self) -> bool {
        matches!(self, FileOp::Write | FileOp::Stat | FileOp::Open | FileOp::Read | FileOp::Readdir)
    }

    /// Whether it is done to directories, not to files.
    pub const fn is_of_directories(self) -> bool {
        matches!(self, FileOp::Mkdir | FileOp::Readdir | FileOp::Rmdir)
    }

    /// Whether a file's content crosses.
    pub const fn moves_content(self) -> bool {
        matches!(self, FileOp::Create | FileOp::Write | FileOp::Read)
    }

    /// Whether anything on the storage is other than before.
    pub const fn changes(self) -> bool {
        !matches!(self, FileOp::Stat | FileOp::Open | FileOp::Read | FileOp::Readdir | FileOp::Sync)
    }
}

words!(FileOp, "something that is done to files");
