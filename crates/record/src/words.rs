//! Words of a record that stand for one thing each: what requests did, through which engine, on whose behalf.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use spec::tree::FileOp;

/// An enum of single words, each written once: for the record, its schema and tables.
macro_rules! words {
    ($(#[$about:meta])* $type:ident { $($(#[$doc:meta])* $variant:ident = $word:literal,)+ }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
        pub enum $type {
            $($(#[$doc])* #[serde(rename = $word)] $variant,)+
        }

        impl $type {
            /// All of them, in the order of their declaration.
            pub const ALL: &[$type] = &[$($type::$variant),+];

            /// The word of the record and of tables.
            pub const fn name(self) -> &'static str {
                match self {
                    $($type::$variant => $word,)+
                }
            }
        }

        impl fmt::Display for $type {
            /// The word, padded as a text is.
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(self.name())
            }
        }
    };
}

words! {
    /// What a request did: to blocks, or to a file or directory.
    Op {
        /// Fetched bytes, or all of a file.
        Read = "read",
        /// Stored bytes, or the content of a file anew.
        Write = "write",
        /// Declared bytes unused.
        Trim = "trim",
        /// Made what was written durable.
        Flush = "flush",
        /// Made a directory.
        Mkdir = "mkdir",
        /// Read a directory's attributes.
        Statdir = "statdir",
        /// Gave a directory the name of another one.
        Renamedir = "renamedir",
        /// Made a file with its content.
        Create = "create",
        /// Made an empty file.
        Mknod = "mknod",
        /// Read a file's attributes.
        Stat = "stat",
        /// Opened and closed a file.
        Open = "open",
        /// Gave a file a second name.
        Link = "link",
        /// Made a symbolic link to a file.
        Symlink = "symlink",
        /// Gave a file another name.
        Rename = "rename",
        /// Read all names of a directory.
        Readdir = "readdir",
        /// Removed a file.
        Delete = "delete",
        /// Removed a directory.
        Rmdir = "rmdir",
        /// Wrote back all that the file system held.
        Sync = "sync",
    }
}

impl From<spec::Op> for Op {
    fn from(op: spec::Op) -> Op {
        match op {
            spec::Op::Read => Op::Read,
            spec::Op::Write => Op::Write,
            spec::Op::Trim => Op::Trim,
            spec::Op::Flush => Op::Flush,
        }
    }
}

impl From<FileOp> for Op {
    fn from(op: FileOp) -> Op {
        match op {
            FileOp::Mkdir => Op::Mkdir,
            FileOp::Statdir => Op::Statdir,
            FileOp::Renamedir => Op::Renamedir,
            FileOp::Create => Op::Create,
            FileOp::Mknod => Op::Mknod,
            FileOp::Write => Op::Write,
            FileOp::Stat => Op::Stat,
            FileOp::Open => Op::Open,
            FileOp::Read => Op::Read,
            FileOp::Link => Op::Link,
            FileOp::Symlink => Op::Symlink,
            FileOp::Rename => Op::Rename,
            FileOp::Readdir => Op::Readdir,
            FileOp::Delete => Op::Delete,
            FileOp::Rmdir => Op::Rmdir,
            FileOp::Sync => Op::Sync,
        }
    }
}

impl From<spec::Action> for Op {
    fn from(action: spec::Action) -> Op {
        match action {
            spec::Action::Block(op) => op.into(),
            spec::Action::File(op) => op.into(),
        }
    }
}

/// The operations that a figure is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Ops {
    /// All of the workload together.
    All,
    /// One.
    #[serde(untagged)]
    One(Op),
}

impl Ops {
    /// `all`, or the word of the operation.
    pub const fn name(self) -> &'static str {
        match self {
            Ops::All => "all",
            Ops::One(op) => op.name(),
        }
    }
}

impl fmt::Display for Ops {
    /// The word, padded as a text is.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl From<Op> for Ops {
    fn from(op: Op) -> Ops {
        Ops::One(op)
    }
}

impl PartialEq<Op> for Ops {
    fn eq(&self, op: &Op) -> bool {
        *self == Ops::One(*op)
    }
}

words! {
    /// How requests reached the kernel, or that they did not.
    Engine {
        /// Rings that the kernel shares.
        IoUring = "io_uring",
        /// One call at a time.
        Pread = "pread",
        /// One call at a time, with flags.
        Preadv2 = "preadv2",
        /// One call at a time on each of several threads.
        PreadThreads = "pread with threads",
        /// One call at a time, with flags, on each of several threads.
        Preadv2Threads = "preadv2 with threads",
        /// Loads and stores on a mapping.
        Mmap = "mmap",
        /// Calls of a few bytes, gathered in user space.
        Stdio = "stdio",
        /// Ranges of a file are allocated, and no data moves.
        Fallocate = "fallocate",
        /// A file is cut, and no data moves.
        Ftruncate = "ftruncate",
        /// Data moves through a pipe.
        Splice = "splice",
        /// pread(2) and pwrite(2), each with its bytes locked.
        Locked = "locked",
        /// SCSI commands past the block layer.
        Sg = "sg",
        /// NVMe commands through io_uring, past the block layer.
        Nvme = "nvme",
        /// Requests over a socket to an NBD server.
        Nbd = "nbd",
        /// None: each request ends at once.
        Null = "null",
        /// Calls that take names of files and directories.
        Files = "files",
        /// A virtual array.
        Virtual = "virtual",
        /// Not known while the load still runs.
        Unreported = "not reported before the end",
    }
}

words! {
    /// On whose behalf a part of a virtual array was visited.
    Behalf {
        /// A read of the load.
        HostRead = "host-read",
        /// A write of the load.
        HostWrite = "host-write",
        /// A write of a cache to what is behind it.
        Destage = "destage",
        /// A read ahead of the load.
        Prefetch = "prefetch",
        /// Work of the array itself, such as a rebuild.
        Background = "background",
    }
}

impl Behalf {
    /// Whether the load itself waited for it, not a cache or the array.
    pub const fn is_of_load(self) -> bool {
        matches!(self, Behalf::HostRead | Behalf::HostWrite)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_of_a_record_reads_back_and_an_unknown_one_is_refused_with_those_that_are_known() {
        for op in Op::ALL {
            let text = serde_json::to_string(&Ops::One(*op)).unwrap();
            assert_eq!(text, format!("\"{op}\""));
            assert_eq!(serde_json::from_str::<Ops>(&text).unwrap(), *op);
            assert_eq!(serde_json::from_str::<Op>(&text).unwrap(), *op);
        }
        assert_eq!(serde_json::to_string(&Ops::All).unwrap(), "\"all\"");
        assert_eq!(serde_json::from_str::<Ops>("\"all\"").unwrap(), Ops::All);
        let error = serde_json::from_str::<Op>("\"erase\"").unwrap_err().to_string();
        assert!(error.contains("`erase`") && error.contains("`read`"), "{error}");
        for engine in Engine::ALL {
            let text = serde_json::to_string(engine).unwrap();
            assert_eq!(serde_json::from_str::<Engine>(&text).unwrap(), *engine);
        }
    }

    #[test]
    fn an_operation_has_the_same_word_in_a_plan_and_in_a_record() {
        assert!(spec::Op::ALL.into_iter().all(|op| Op::from(op).name() == op.name()));
        assert!(FileOp::ALL.into_iter().all(|op| Op::from(op).name() == op.name()));
    }
}
