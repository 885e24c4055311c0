//! The keys of files and directories.

use super::draft::Draft;
use super::workload::read_sizes;
use super::{Entry, Kind, Section};
use crate::plan::mistakes::Wrong;
use crate::plan::tree::{Node, Value};
use crate::tree::FileSizes;

const SECTION: Section = Section("Files and directories");

/// The most files of one workload: their names have room for seven digits a worker.
const MOST_FILES: u64 = 1_000_000_000;

/// In the order of the reference page.
pub(super) const ENTRIES: [Entry<Draft>; 9] = [
    Entry {
        doc: SECTION.key(
            "tree",
            Kind::Choice(&[
                "none", "mkdir", "create", "write", "stat", "open", "read", "link", "symlink", "rename",
                "readdir", "delete", "rmdir",
            ]),
            "none",
            [
                "What is done to each file or directory of a tree, in place of reads and writes of blocks.",
                "`create` makes a file and writes all of it; `write` and `read` open a file and move all of it; `open` \
                 opens and closes it; `stat` gets its attributes; `link` and `symlink` give it a second name, \
                 `rename` another one. `mkdir`, `readdir` and `rmdir` concern the directories. What is missing for it \
                 is made before, and what is in its way is removed, without being measured; so phases with the same \
                 tree work on the same files, one after the other. `write`, `stat`, `open`, `read` and `readdir` repeat until `run` is over or `ops` are done, or visit each once where neither is said; the others \
                 visit each once, however long it takes. Files are read and written through the page cache; of the \
                 other keys `workers`, `seed`, `content`, `compress`, `dedupe` and `flush` hold.",
                "tree = \"create\"",
            ],
        ),
        read: |d, n| match &n.value {
            Value::Text(text) if text == "none" => {
                d.file_op = None;
                Ok(())
            }
            _ => n.read("create").map(|op| d.file_op = Some(op)),
        },
        write: |d| super::or_none(d.file_op, |op| op.to_string()),
    },
    Entry {
        doc: SECTION.key(
            "count",
            Kind::Count,
            "1000",
            [
                "Files of a tree, all workers together.",
                "1 to 1,000,000,000. Each worker has its own share of them and nobody else touches it.",
                "count = 10_000",
            ],
        ),
        read: |d, n| n.count(1..=MOST_FILES).map(|count| d.tree.count = count),
        write: |d| d.tree.count.to_string(),
    },
    Entry {
        doc: SECTION.key(
            "file_size",
            Kind::Sizes,
            "0B",
            [
                "How large the files of a tree are.",
                "One size, a range such as `1KiB..64KiB` in which every size is as likely, or up to 64 sizes with \
                 their weights. At most 1 GiB. The record tells each of a few sizes apart; those of a range are one \
                 class.",
                "file_size = \"1KiB..64KiB\"",
            ],
        ),
        read: |d, n| read_file_sizes(n).map(|sizes| d.tree.sizes = sizes),
        write: |d| d.tree.sizes.to_string(),
    },
    Entry {
        doc: SECTION.key(
            "levels",
            Kind::Count,
            "0",
            [
                "Levels of directories below the top of a tree.",
                "0 to 20. With 0 all files are in one directory; with 1 there are `fanout` directories of files. There \
                 may be 1,048,576 directories in all.",
                "levels = 2",
            ],
        ),
        read: |d, n| n.count32(0..=20).map(|levels| d.tree.levels = levels),
        write: |d| d.tree.levels.to_string(),
    },
    Entry {
        doc: SECTION.key(
            "fanout",
            Kind::Count,
            "10",
            [
                "Directories in each directory that has any.",
                "1 to 1,000,000. Says nothing where `levels` is 0.",
                "fanout = 4",
            ],
        ),
        read: |d, n| n.count32(1..=1_000_000).map(|fanout| d.tree.fanout = fanout),
        write: |d| d.tree.fanout.to_string(),
    },
    Entry {
        doc: SECTION.key(
            "files_in",
            Kind::Choice(&["leaves", "all"]),
            "leaves",
            [
                "Which directories of a tree hold files.",
                "`leaves`: those of the lowest level. `all`: every directory, the top too. Each of them holds as many.",
                "files_in = \"all\"",
            ],
        ),
        read: |d, n| n.read("leaves").map(|holders| d.tree.files_in = holders),
        write: |d| d.tree.files_in.to_string(),
    },
    Entry {
        doc: SECTION.key(
            "unique_dirs",
            Kind::Switch,
            "false",
            [
                "Each worker has a tree of its own.",
                "Otherwise all workers have their files in the same directories and may wait for one another there.",
                "unique_dirs = true",
            ],
        ),
        read: |d, n| n.switch().map(|own| d.tree.unique_dirs = own),
        write: |d| d.tree.unique_dirs.to_string(),
    },
    Entry {
        doc: SECTION.key(
            "order",
            Kind::Choice(&["sequential", "random"]),
            "sequential",
            [
                "In which order the names of a tree are visited.",
                "`sequential`: in the order of the names, one directory after the other. `random`: each once before \
                 any comes again, and every operation in an order of its own.",
                "order = \"random\"",
            ],
        ),
        read: |d, n| n.read("random").map(|order| d.tree.order = order),
        write: |d| d.tree.order.to_string(),
    },
    Entry {
        doc: SECTION.key(
            "fsync",
            Kind::Choice(&["none", "each", "end"]),
            "none",
            [
                "When changes to a tree are made durable.",
                "`each`: every operation that changes something flushes the file, then the directory that names it, \
                 before it counts as done; `flush` says by which call. `end`: each worker has the whole file system \
                 written back once its share is done; that is measured too and counts as `sync`.",
                "fsync = \"each\"",
            ],
        ),
        read: |d, n| n.read("none").map(|fsync| d.tree.fsync = fsync),
        write: |d| d.tree.fsync.to_string(),
    },
];

fn read_file_sizes(node: &Node) -> Result<FileSizes, Wrong> {
    let sizes = match node.table() {
        None => return node.read("4KiB"),
        Some(_) => FileSizes::Split(read_sizes(node)?),
    };
    sizes.checked().map_err(|error| Wrong::from(error).at(&node.place))
}
