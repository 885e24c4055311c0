//! Who answers: the trait behind which real and virtual storage look alike.

use std::error::Error;
use std::io;
use std::path::PathBuf;

use record::{
    Breakdown, CpuUse, DeviceCounters, DeviceZones, EngineUsed, Environment, RankResult, Series, Target,
};
use units::convert::narrow;
use units::{Bytes, Instant, Nanos, OpsPerSecond};
use workload::plan::{Load, Plan, Settle, State};
use workload::tally::Tally;
use workload::tree::{FileOp, Shape, TreeError, TreeRequest};
use workload::{CompileError, Verified};

use crate::event::Live;
use crate::history::History;
use crate::listener::Listener;
use crate::rank::{Gate, Rank, Wrote};

/// Real or virtual storage.
pub trait World {
    /// Which of the two, for the record.
    fn kind(&self) -> record::World;

    /// The machine that asks.
    fn environment(&self) -> Environment;

    /// What is asked, as it was found.
    fn targets(&self) -> Vec<Target>;

    /// The way from each target to its media; none where the world does not know it.
    fn path(&self) -> Vec<record::PathPart> {
        Vec::new()
    }

    /// What may be acknowledged of written data and not yet be on the media, direct I/O provided; `None` where nobody
    /// knows.
    fn write_cache(&self) -> Option<Bytes> {
        None
    }

    /// Whether its response times are those of single requests. A model that was fitted to means has a distribution of
    /// its own making, of which no percentile is given.
    fn has_percentiles(&self) -> bool {
        true
    }

    /// Whether the host that issues is a part of what it models: what is issued late waits for a part of it, and not for this
    /// program.
    fn models_host(&self) -> bool {
        false
    }

    /// The present of this world, on the clock of the run.
    fn now(&self) -> Instant;

    /// When the clock began, on that of the run, that what it measures next is told by: it may have begun anew with a
    /// point ([`renew`](World::renew)).
    fn since(&self) -> Nanos {
        Nanos::ZERO
    }

    /// All is at rest, or nothing was done yet, and the point of that number comes next. A world that can sees to it that
    /// nothing of what was before is left: neither states of parts that nobody empties nor a place in a random stream.
    fn renew(&mut self, _index: usize) {}

    /// As this world will be once it is at rest and renewed for the point of that number, which is `load`: one of its own
    /// that goes on apart from it. `None` where what came before is part of what the load will find.
    fn apart(&self, _index: usize, _load: &Load) -> Option<Apart> {
        None
    }

    /// So much time has passed in worlds apart from this one.
    fn skip(&mut self, _time: Nanos) {}

    /// Follows each request from now on, so that loads tell where its time went. Call before the first; a world that
    /// cannot know does nothing.
    fn keep_shares(&mut self) {}

    /// What the kernel has counted of the devices since the last load began: more than that load had when it ended, where other
    /// processes drive parts of it and ended later. `None` where nothing is counted.
    fn counted_since(&mut self) -> Option<Vec<record::DeviceCounters>> {
        None
    }

    /// Keeps every second of the loads that follow by itself, for whoever judges them so.
    fn keep_seconds(&mut self);

    /// Tells `listener` of the requests it wants to hear of, in the loads that follow.
    fn tell(&mut self, listener: Box<dyn Listener>);

    /// Drives the share of `rank` of each load of `plan` from now on, beginning when `gate` says. An error says why this
    /// world is not shared among processes. Call before the first load.
    fn join(&mut self, _plan: &Plan, _rank: Rank, _gate: Box<dyn Gate>) -> Result<(), WorldError> {
        Err(WorldError::unfit("one process drives this storage; run it without `mpirun`"))
    }

    /// By target, how large it was before anything is done; `None` for what is made for the run.
    fn lengths(&self) -> Vec<Option<Bytes>> {
        Vec::new()
    }

    /// What it has written since this was called last; nothing where nothing is verified, or each process has files of its
    /// own. Call between loads.
    fn wrote(&mut self) -> Wrote {
        Wrote::default()
    }

    /// Takes note of what the other ranks wrote in the load before, by rank: the loads that follow verify what they read against it,
    /// too.
    fn others_wrote(&mut self, _others: Vec<(u32, Wrote)>) {}

    /// Drives the share of that process in the loads that follow; before the first call its own.
    fn drive_for(&mut self, _number: u32) {}

    /// Why a process that drove its share has gone, where one has.
    fn lost(&self) -> Option<String> {
        None
    }

    /// Runs workloads together until they are done or the world is told to stop. Calls `live` now and then.
    fn load(&mut self, load: &Load, live: &mut dyn FnMut(Live)) -> Result<MeasuredLoad, WorldError>;

    /// Lets the target come to rest before a load that follows another, which wrote or not: what was done, `None` where
    /// nothing was. Calls `live` now and then.
    fn settle(
        &mut self,
        settle: Settle,
        wrote: bool,
        live: &mut dyn FnMut(Live),
    ) -> Result<Option<record::Settled>, WorldError>;

    /// Brings the target into a state.
    fn state(&mut self, state: &State, live: &mut dyn FnMut(Live)) -> Result<MeasuredState, WorldError>;

    /// Whether the user has asked for an end.
    fn is_stopped(&self) -> bool;

    /// Puts back what was changed and removes what was made, at the end: what could not be, in sentences without their
    /// stops. What was put back already is so.
    fn put_back(&mut self) -> Vec<String> {
        Vec::new()
    }
}

/// Makes a world for one point, on whatever thread that is measured on.
pub type Apart = Box<dyn Fn() -> Box<dyn World> + Send + Sync>;

/// What a load saw.
#[derive(Debug)]
pub struct MeasuredLoad {
    /// When the first request could be issued.
    pub started: Instant,
    /// When the last had ended.
    pub ended: Instant,
    /// In the order of the load.
    pub workloads: Vec<MeasuredWorkload>,
    /// What was sampled beside it.
    pub series: Vec<Series>,
    /// Processor time of the tool.
    pub cpu: Option<CpuUse>,
    /// The kernel's own counts.
    pub devices: Vec<DeviceCounters>,
    /// Where the time went, if the world knows.
    pub breakdown: Option<Breakdown>,
    /// What each process did where several drove the load.
    pub ranks: Vec<RankResult>,
}

impl MeasuredLoad {
    /// What each worker of each workload saw.
    pub fn tallies(&self) -> impl Iterator<Item = &Tally> {
        self.workloads.iter().flat_map(|workload| &workload.workers).map(|worker| &worker.tally)
    }
}

/// What one workload saw.
#[derive(Debug)]
pub struct MeasuredWorkload {
    /// How requests got there.
    pub engine: EngineUsed,
    /// What its files or LUNs are called, for error messages.
    pub files: FileNames,
    /// How much of them was used, all together.
    pub span: Bytes,
    /// The zones of its device; `None` where it has none, and where they are emulated.
    pub device_zones: Option<DeviceZones>,
    /// Its workers.
    pub workers: Vec<MeasuredWorker>,
    /// What workers told while they ran.
    pub history: History,
}

impl MeasuredWorkload {
    /// Nothing was seen yet.
    pub fn before(engine: EngineUsed, files: FileNames, span: Bytes) -> MeasuredWorkload {
        let (workers, history) = (Vec::new(), History::new(false));
        MeasuredWorkload { engine, files, span, device_zones: None, workers, history }
    }
}

/// What the files of a workload are called, by their numbers in requests.
#[derive(Clone, Debug)]
pub enum FileNames {
    /// Files or LUNs.
    Listed(Vec<String>),
    /// Files or directories below `top`, each worker's by themselves.
    Tree {
        /// The path of all of them; empty where they have no place in a file system of this machine.
        top: PathBuf,
        /// Where each of them is.
        shape: Shape,
        /// What is done to them.
        op: FileOp,
    },
}

impl FileNames {
    /// The name of that file, or directory; empty for one that is not there. In a tree the number says whose it is.
    pub fn of(&self, number: u64) -> String {
        match self {
            FileNames::Listed(names) => {
                usize::try_from(number).ok().and_then(|number| names.get(number)).cloned().unwrap_or_default()
            }
            FileNames::Tree { top, shape, op } => {
                let path = match (op.is_of_directories(), TreeRequest::numbered(number)) {
                    (true, (owner, node)) => shape.node_path(owner, narrow::<u32>(node)),
                    (false, (owner, file)) => shape.file_path(owner, file),
                };
                top.join(path).display().to_string()
            }
        }
    }
}

/// What one worker saw.
#[derive(Debug)]
pub struct MeasuredWorker {
    /// Counts and histograms.
    pub tally: Tally,
    /// Processor time of its thread.
    pub cpu: Option<CpuUse>,
    /// Requests that it plans and books in a second of processor time with nothing to wait for; `None` where that was
    /// not measured.
    pub ceiling: Option<OpsPerSecond>,
    /// What it held against what had been written; `None` where nothing was to be.
    pub verified: Option<Verified>,
    /// Which of several processes drove it; `None` where there is one.
    pub rank: Option<u32>,
}

/// What bringing the target into a state saw.
#[derive(Debug)]
pub struct MeasuredState {
    /// When it began.
    pub started: Instant,
    /// When it ended.
    pub ended: Instant,
    /// What was sampled meanwhile.
    pub series: Vec<Series>,
    /// Where the time went, in a model, while it waited for work.
    pub breakdown: Option<Breakdown>,
    /// Whether it was carried to its end.
    pub complete: bool,
}

/// What went wrong, in the words of whoever it went wrong for.
pub type Cause = Box<dyn Error + Send + Sync>;

/// Why a world could not do what it was asked, by what follows from it. Its text is that of its cause.
#[derive(Debug, thiserror::Error)]
pub enum WorldError {
    /// The plan, its target and this machine do not go together.
    #[error(transparent)]
    Unfit(Cause),
    /// Writing was refused as unsafe.
    #[error(transparent)]
    Refused(Cause),
    /// The storage or the system failed.
    #[error(transparent)]
    Failed(Cause),
    /// A mistake of Fathom's own.
    #[error("internal error: {0}")]
    Internal(String),
    /// A process that drove its share has gone.
    #[error("{0}")]
    Lost(String),
    /// The user asked for an end while the target was prepared.
    #[error("interrupted while the target was prepared")]
    Interrupted,
}

impl WorldError {
    /// That the plan, its target and this machine do not go together.
    pub fn unfit(why: impl Into<Cause>) -> WorldError {
        WorldError::Unfit(why.into())
    }

    /// That the system failed at `what`, for `map_err`.
    pub fn failed(what: impl Into<String>) -> impl FnOnce(io::Error) -> WorldError {
        let what = what.into();
        move |source| WorldError::Failed(format!("{what}: {source}").into())
    }

    /// The exit code that belongs to it: 3 where writing was refused as unsafe, 5 where the storage or the system
    /// failed, 7 where a process has gone, 8 where Fathom itself did, 130 after an interrupt, otherwise 2.
    pub fn exit_code(&self) -> u8 {
        match self {
            WorldError::Unfit(_) => 2,
            WorldError::Refused(_) => 3,
            WorldError::Failed(_) => 5,
            WorldError::Lost(_) => 7,
            WorldError::Internal(_) => 8,
            WorldError::Interrupted => 130,
        }
    }
}

impl From<CompileError> for WorldError {
    fn from(why: CompileError) -> WorldError {
        WorldError::unfit(why)
    }
}

impl From<TreeError> for WorldError {
    fn from(why: TreeError) -> WorldError {
        WorldError::unfit(why)
    }
}

#[cfg(test)]
mod tests {
    use workload::tree::Tree;

    use super::*;

    #[test]
    fn a_file_of_a_tree_is_called_by_its_path_and_one_that_is_not_there_by_nothing() {
        let tree = Tree { count: 6, levels: 1, fanout: 2, ..Tree::plain(FileOp::Stat) };
        let shape = Shape::of(&tree, 2).expect("a small tree");
        let names = |op| FileNames::Tree { top: "/mnt/t0".into(), shape: shape.clone(), op };
        let third = TreeRequest::number(1, 2);
        assert_eq!(names(FileOp::Stat).of(third), "/mnt/t0/d2/f001-0000002");
        assert_eq!(names(FileOp::Rmdir).of(third), "/mnt/t0/d2");
        let listed = FileNames::Listed(vec!["/dev/sda".into()]);
        assert_eq!([listed.of(0), listed.of(1)], ["/dev/sda", ""]);
    }
}
