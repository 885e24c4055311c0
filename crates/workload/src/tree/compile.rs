//! From a tree workload to what each of its workers does.

use super::{Fsync, MOST_NODES, Shape, Tree, TreeJobSpec};
use crate::address::RegionShare;
use crate::spec::Workload;

/// Why a tree workload cannot be carried out.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TreeError {
    /// Too many directories.
    #[error(
        "workload `{workload}`: its trees have more than {MOST_NODES} directories; lower `levels`, `fanout` or `workers`"
    )]
    TooManyDirectories {
        /// The workload's name.
        workload: String,
    },
}

/// One specification for each worker of `workload`, which does `tree`.
///
/// What makes, moves or removes names visits each once, however long it takes. The others go round until `run` is
/// over or `ops` are done, or once where neither is said.
pub fn compile_tree(workload: &Workload, tree: &Tree) -> Result<Vec<TreeJobSpec>, TreeError> {
    let too_many = || TreeError::TooManyDirectories { workload: workload.name.clone() };
    let shape = Shape::of(tree, workload.workers).ok_or_else(too_many)?;
    debug_assert_eq!(
        (0..workload.workers.max(1)).map(|worker| shape.files_of(worker)).sum::<u64>(),
        tree.count,
        "each file is one worker's"
    );
    Ok((0..workload.workers).map(|worker| job_spec(workload, tree, &shape, worker)).collect())
}

fn job_spec(workload: &Workload, tree: &Tree, shape: &Shape, worker: u32) -> TreeJobSpec {
    let stop = workload.stop;
    let repeats = tree.op.repeats();
    let run = stop.run.filter(|_| repeats && !stop.wear_out);
    let asked = stop.ops.map(|ops| RegionShare { index: worker, of: workload.workers }.share_of(ops));
    let spec = TreeJobSpec {
        seed: workload.seed,
        worker,
        op: tree.op,
        shape: shape.clone(),
        sizes: tree.sizes.clone(),
        visitors: tree.visitors,
        order: tree.order,
        fsync: if tree.op.changes() { tree.fsync } else { Fsync::None },
        warmup: run.map_or(units::Nanos::ZERO, |_| stop.warmup),
        run,
        wall: stop.run.filter(|_| stop.wear_out),
        visits: asked,
        each: None,
    };
    let once = (asked, run) == (None, None);
    let visits = if once { Some(spec.items()) } else { asked };
    TreeJobSpec { visits, ..spec }
}
