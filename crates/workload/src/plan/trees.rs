//! What a workload on a tree of files must not ask for.

use units::{Bytes, Nanos, SECTOR_BYTES};

use super::check::{Fault, fault, off_sectors};
use crate::spec::{FlushKind, Pace, Verify, Workload};
use crate::tree::{FileOp, MOST_NODES, Shape, Tree, Visitors};

/// A tree asks for names: what is said of blocks does not matter.
pub(super) fn faults(workload: &Workload, tree: &Tree) -> Vec<Fault> {
    let mut faults = Vec::new();
    if workload.depth != 1 {
        let message = format!("a worker works on one name at a time, not {}", workload.depth);
        faults.push(fault("depth", message, "write `depth = 1` and more `workers`"));
    }
    if workload.pace != Pace::Closed {
        let message = format!("names are worked on in a closed loop, not at {}", workload.pace);
        faults.push(fault("pace", message, "write `pace = \"closed\"`"));
    }
    if workload.durability.flush == FlushKind::SyncFileRange {
        let message = "`fsync` makes the files of a tree durable, and sync_file_range does not".into();
        faults.push(fault("flush", message, "write `flush = \"fsync\"`, or fdatasync"));
    }
    if workload.sequence.reopen_every.is_some() {
        let message = "each file of a tree is opened by itself".into();
        faults.push(fault("reopen_every", message, "leave it out"));
    }
    if workload.zones.are_there() {
        faults.push(fault("zone_size", "files of a tree have no zones".into(), "leave it out"));
    }
    let makes_files = matches!(tree.op, FileOp::Create | FileOp::Mknod) && tree.visitors == Visitors::Own;
    if workload.stop.wear_out && !(makes_files && workload.stop.run.is_some()) {
        let message = format!("{} does not wear out", tree.op);
        let help = "write it of `create` or `mknod`, with a `run`, where each worker makes files of its own";
        faults.push(fault("wear_out", message, help));
    }
    if workload.stop.warmup_bytes.is_some() {
        let message = "names are worked on from the first".into();
        faults.push(fault("warmup_bytes", message, "write `warmup` where the same files are visited again"));
    }
    if workload.stop.ops_after_warmup {
        let message = "names are counted from the first".into();
        faults.push(fault("ops_after_warmup", message, "leave it out"));
    }
    if tree.op.is_of_directories() && tree.op != FileOp::Readdir && tree.levels == 0 {
        let message = format!("{} has no directories in a tree without levels", tree.op);
        faults.push(fault("levels", message, "write `levels = 1` or more"));
    }
    if tree.op == FileOp::Sync {
        let message = "nothing is done to files by `sync` alone".into();
        faults.push(fault("tree", message, "write what is done to the files, and `fsync = \"end\"`"));
    }
    faults.extend(data_faults(workload, tree));
    if Shape::of(tree, workload.workers).is_none() {
        let message = format!("its trees would have more than {MOST_NODES} directories");
        faults.push(fault("levels", message, "fewer levels, a smaller `fanout`, or `unique_dirs = false`"));
    }
    if tree.op.repeats() && workload.stop.run.is_some_and(Nanos::is_zero) {
        faults.push(fault("run", "a run of zero length measures nothing".into(), "for example 30s, or none"));
    }
    faults
}

/// What is said of the content of a tree's files, and of who visits them.
fn data_faults(workload: &Workload, tree: &Tree) -> Vec<Fault> {
    let mut faults = Vec::new();
    let op = tree.op;
    if workload.verify == Verify::Content || workload.verify != Verify::None && !op.moves_content() {
        let message = format!("{op} compares no content of files with {}", workload.verify);
        faults.push(fault(
            "verify",
            message,
            "write `verify = \"written\"` where files are created, written or read",
        ));
    }
    if op == FileOp::Renamedir && (tree.levels != 1 || workload.stop.ops.is_some()) {
        let message = "names go round among all directories side by side".into();
        faults.push(fault("levels", message, "write `levels = 1` and no `ops`"));
    }
    if tree.visitors == Visitors::All && (!op.may_be_shared() || tree.unique_dirs) {
        let message = format!("{op} cannot be done to the same names by all workers");
        faults.push(fault("visitors", message, "write `visitors = \"first\"`, and `unique_dirs = false`"));
    }
    let sector = Bytes::new(SECTOR_BYTES);
    let odd = tree.sizes.told_apart().into_iter().find(|size| !size.is_multiple_of(sector));
    if let Some(size) = odd.filter(|_| tree.direct && op.moves_content()) {
        faults.push(off_sectors("file_size", size, "direct_files"));
    }
    faults
}
