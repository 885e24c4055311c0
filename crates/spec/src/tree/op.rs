//! What is done to each file or directory of a tree.

use crate::text::words;

/// What is done to each file or directory of a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FileOp {
    /// Make a directory.
    Mkdir,
    /// Ask for a directory's attributes by its name.
    Statdir,
    /// Give each directory the name of the one before it, and the last one that of the first.
    Renamedir,
    /// Make a file that is not there, write its content, close it.
    Create,
    /// Make a file that is not there and stays empty, by mknod.
    Mknod,
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

const _: () = {
    let mut at = 0;
    while at < FileOp::ALL.len() {
        assert!(FileOp::ALL[at] as usize == at, "an operation stands in the place of another");
        at += 1;
    }
};

impl FileOp {
    /// All of them, in the order of their numbers.
    pub const ALL: [FileOp; 16] = [
        FileOp::Mkdir,
        FileOp::Statdir,
        FileOp::Renamedir,
        FileOp::Create,
        FileOp::Mknod,
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
            FileOp::Statdir => "statdir",
            FileOp::Renamedir => "renamedir",
            FileOp::Create => "create",
            FileOp::Mknod => "mknod",
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
        matches!(self, FileOp::Write) || !self.changes() && !matches!(self, FileOp::Sync)
    }

    /// Whether it is done to directories, not to files.
    pub const fn is_of_directories(self) -> bool {
        matches!(self, FileOp::Mkdir | FileOp::Statdir | FileOp::Renamedir | FileOp::Readdir | FileOp::Rmdir)
    }

    /// Whether several workers may do it to the same name, one after the other or at once.
    pub const fn may_be_shared(self) -> bool {
        self.repeats() || matches!(self, FileOp::Create)
    }

    /// Whether a file's content crosses.
    pub const fn moves_content(self) -> bool {
        matches!(self, FileOp::Create | FileOp::Write | FileOp::Read)
    }

    /// Whether anything on the storage is other than before.
    pub const fn changes(self) -> bool {
        !matches!(
            self,
            FileOp::Statdir | FileOp::Stat | FileOp::Open | FileOp::Read | FileOp::Readdir | FileOp::Sync
        )
    }
}

words!(FileOp, "something that is done to files");
