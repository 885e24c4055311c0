//! What is in Fathom's folder: trees by the names of their workloads, and what is left of each.

use std::collections::BTreeMap;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::fs::{Mode, mkdirat, statvfs, syncfs};
use units::convert::truncated;
use units::{Bytes, Instant, Nanos};
use workload::spec::Workload;
use workload::tree::{Extra, FileOp, FileSizes, Fsync, Order, Shape, Tree, TreeJob, TreeJobSpec, Visitors};
use workload::{Completion, Progress, Wake};

use super::executor::TreeExecutor;
use super::folder::{Folder, open_directory};
use super::run::TreeAssignment;
use super::{TreeError, os};
use crate::restore::Journal;
use crate::scratch;

/// What files are called at present.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Names {
    renamed: bool,
}

impl Names {
    /// What they are called.
    pub fn present(self) -> Extra {
        if self.renamed { Extra::Renamed } else { Extra::Own }
    }

    /// What they are called after they were renamed.
    pub fn other(self) -> Extra {
        if self.renamed { Extra::Own } else { Extra::Renamed }
    }
}

/// What is left of a tree. All or nothing of each: where it is neither, the tree is made anew.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Holding {
    directories: bool,
    files: bool,
    /// They were made, and nothing was written to them.
    empty: bool,
    links: bool,
    symlinks: bool,
    names: Names,
    /// How many files of each worker there are, where what made them wore out before all were.
    each: Option<u64>,
}

/// A tree to work in.
#[derive(Clone, Copy, Debug)]
pub(super) struct OpenTree<'a> {
    pub top: BorrowedFd<'a>,
    pub shape: &'a Shape,
    /// What files are called at present.
    pub names: Names,
}

/// A tree that was made.
#[derive(Debug)]
struct Stored {
    folder: String,
    top: OwnedFd,
    shape: Shape,
    sizes: FileSizes,
    seed: u64,
    /// `None`: something was interrupted or failed.
    holding: Option<Holding>,
}

/// Fathom's folder and the trees in it. Everything is gone when this is dropped, unless it is to be kept.
#[derive(Debug)]
pub struct Trees {
    folder: Folder,
    trees: BTreeMap<String, Stored>,
    made: u32,
}

impl Trees {
    /// The folder in `directory`; what an earlier run has left there is cleared. It is noted in `journal` unless it is
    /// to be kept.
    pub fn open(directory: &Path, keep: bool, journal: &Journal) -> Result<Trees, TreeError> {
        Ok(Trees { folder: Folder::claim(directory, keep, journal)?, trees: BTreeMap::new(), made: 0 })
    }

    /// The folder in `directory` that another process of the same run has claimed, and in which that prepares the trees.
    pub fn join(directory: &Path) -> Result<Trees, TreeError> {
        Ok(Trees { folder: Folder::join(directory)?, trees: BTreeMap::new(), made: 0 })
    }

    /// Takes up the tree that another process has prepared for `workload`, which is the same load as there.
    pub fn follow(&mut self, workload: &Workload, tree: &Tree) -> Result<(), TreeError> {
        let before = self.trees.remove(&workload.name).map(|stored| stored.folder);
        let folder = before.unwrap_or_else(|| self.next_name());
        let path = self.folder.path().join(&folder);
        let top = open_directory(self.folder.top(), folder.as_ref()).map_err(os(&path, "open"))?;
        let shape = Shape::of(tree, workload.workers).expect("the plan was checked");
        self.keep(workload, tree, (folder, top, shape));
        Ok(())
    }

    /// An empty tree of a workload, in that folder, which is open.
    fn keep(&mut self, workload: &Workload, tree: &Tree, (folder, top, shape): (String, OwnedFd, Shape)) {
        let (sizes, seed) = (tree.sizes.clone(), workload.seed);
        let stored = Stored { folder, top, shape, sizes, seed, holding: Some(Holding::default()) };
        let before = self.trees.insert(workload.name.clone(), stored);
        assert!(before.is_none(), "a workload has one tree at a time");
    }

    /// What the next tree is called.
    fn next_name(&mut self) -> String {
        let name = format!("t{}", self.made);
        self.made += 1;
        assert!(
            self.trees.values().all(|tree| tree.folder != name),
            "each tree must have a folder of its own"
        );
        name
    }

    /// Clears and removes everything, unless it is to be kept. An error says what stays behind.
    pub fn remove(&mut self) -> Result<(), TreeError> {
        self.folder.remove_all()
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// The path of the top of a workload's tree, which has been prepared.
    pub fn top_of(&self, workload: &str) -> PathBuf {
        self.path().join(self.trees.get(workload).map_or("", |stored| &stored.folder))
    }

    /// `jobs` in the prepared tree of their workload; each of their requests is reported, for a log, where `is_logged`.
    pub fn assign(&self, workload: &Workload, jobs: Vec<TreeJobSpec>, is_logged: bool) -> TreeAssignment<'_> {
        let stored = self.trees.get(&workload.name).expect("its tree has been prepared");
        let Holding { names, each, .. } = stored.holding.unwrap_or_default();
        let jobs = jobs.into_iter().map(|job| job.of_each(each)).collect();
        let tree = OpenTree { top: stored.top.as_fd(), shape: &stored.shape, names };
        TreeAssignment { workload: workload.clone(), jobs, is_logged, tree }
    }

    /// Brings about what `tree.op` needs, without being measured: what is missing is made, what is in the way removed.
    ///
    /// `progress` is told how many files are made, of `tree.count` in the end.
    pub fn prepare(
        &mut self,
        workload: &Workload,
        tree: &Tree,
        stop: &AtomicBool,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<(), TreeError> {
        let shape = Shape::of(tree, workload.workers).expect("the plan was checked");
        let is_same = |stored: &Stored| {
            (&stored.shape, &stored.sizes, stored.seed) == (&shape, &tree.sizes, workload.seed)
        };
        let holding = self.trees.get(&workload.name).filter(|stored| is_same(stored)).and_then(|s| s.holding);
        let is_in_the_way = |holding: Holding| match tree.op {
            FileOp::Mkdir => holding.directories,
            FileOp::Create | FileOp::Mknod | FileOp::Rmdir => {
                holding.files || holding.links || holding.symlinks
            }
            FileOp::Link => holding.links,
            FileOp::Symlink => holding.symlinks,
            FileOp::Read => holding.files && holding.empty && tree.sizes.largest() > Bytes::ZERO,
            _ => false,
        };
        let mut holding = match holding.filter(|holding| !is_in_the_way(*holding)) {
            Some(holding) => holding,
            None => {
                self.anew(workload, tree, shape)?;
                Holding::default()
            }
        };
        let needs_files = !matches!(
            tree.op,
            FileOp::Mkdir
                | FileOp::Statdir
                | FileOp::Renamedir
                | FileOp::Create
                | FileOp::Mknod
                | FileOp::Rmdir
        );
        if needs_files && !holding.files {
            self.room(tree)?;
        }
        let is_made = |holding: &Holding| holding.directories && (holding.files || !needs_files);
        let lays_out = tree.op != FileOp::Mkdir && !is_made(&holding);
        if lays_out && !holding.directories {
            self.do_all(workload, tree, FileOp::Mkdir, stop, &mut |_| ())?;
            holding.directories = true;
        }
        if lays_out && needs_files {
            self.do_all(workload, tree, FileOp::Create, stop, progress)?;
            (holding.files, holding.empty, holding.each) = (true, false, None);
            holding.names = Names::default();
        }
        assert!(tree.op == FileOp::Mkdir || is_made(&holding), "an operation must find what it needs");
        let stored = self.trees.get_mut(&workload.name).expect("it was made above");
        if lays_out {
            // What was laid out must not be written back at the expense of what is measured.
            syncfs(&stored.top).map_err(os(self.folder.path(), "write back"))?;
        }
        stored.holding = Some(holding);
        Ok(())
    }

    /// Requests after which the jobs, of this tree, have visited all of it.
    pub fn everything(&self, workload: &str, jobs: impl Iterator<Item = TreeJobSpec>) -> u64 {
        let holding = self.trees.get(workload).and_then(|stored| stored.holding).unwrap_or_default();
        jobs.filter_map(|job| job.of_each(holding.each).visits).sum()
    }

    /// Notes that `op` was done to the tree of a workload, to all of it or not; `each` of its workers has made so many files where
    /// it wore out before.
    pub fn done(&mut self, workload: &str, op: FileOp, all: bool, each: Option<u64>) {
        let Some(stored) = self.trees.get_mut(workload) else { return };
        let Some(holding) = stored.holding.as_mut().filter(|_| all || !op.changes() || op == FileOp::Write)
        else {
            stored.holding = None;
            return;
        };
        match op {
            FileOp::Mkdir => holding.directories = true,
            FileOp::Create | FileOp::Mknod => {
                (holding.files, holding.names) = (true, Names::default());
                (holding.empty, holding.each) = (op == FileOp::Mknod, each);
            }
            FileOp::Write => holding.empty = false,
            FileOp::Link => holding.links = true,
            FileOp::Symlink => holding.symlinks = true,
            FileOp::Rename => holding.names.renamed ^= true,
            FileOp::Delete => (holding.files, holding.each) = (false, None),
            FileOp::Rmdir => holding.directories = false,
            _ => {}
        }
    }

    /// An empty tree in the place of the one there was, with the tops of the workers' own.
    fn anew(&mut self, workload: &Workload, tree: &Tree, shape: Shape) -> Result<(), TreeError> {
        let before = self.trees.remove(&workload.name);
        let folder = match before {
            Some(stored) => {
                self.folder.remove(&stored.folder)?;
                stored.folder
            }
            None => self.next_name(),
        };
        let path = self.folder.path().join(&folder);
        mkdirat(self.folder.top(), &*folder, Mode::RWXU).map_err(os(&path, "create"))?;
        let top = open_directory(self.folder.top(), folder.as_ref()).map_err(os(&path, "open"))?;
        if tree.unique_dirs {
            for worker in 0..workload.workers {
                let own = shape.node_path(worker, 0);
                mkdirat(&top, &*own, Mode::RWXU).map_err(os(&path.join(&own), "create"))?;
            }
        }
        self.keep(workload, tree, (folder, top, shape));
        Ok(())
    }

    /// Does `op` to everything, without being measured.
    fn do_all(
        &mut self,
        workload: &Workload,
        tree: &Tree,
        op: FileOp,
        stop: &AtomicBool,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<(), TreeError> {
        // Until all is done nothing can be relied upon.
        let stored = self.trees.get_mut(&workload.name).expect("it is there");
        stored.holding = None;
        let mut done = 0;
        for worker in 0..workload.workers {
            let (top, shape) = (stored.top.as_fd(), &stored.shape);
            let open = OpenTree { top, shape, names: Names::default() };
            let mut executor = TreeExecutor::new(open, worker, workload);
            let mut job = TreeJob::new(every_one(workload, tree, shape, op, worker));
            let mut batch = Vec::new();
            while job.plan(Instant::START, &mut batch) != Wake::Done {
                let Some(request) = batch.pop() else { break };
                debug_assert!(batch.is_empty(), "one request is made at a time");
                let outcome = executor.execute(&request);
                if let Err(errno) = outcome.result() {
                    let source = std::io::Error::from_raw_os_error(errno.0);
                    let path = self.folder.path().join(&stored.folder);
                    return Err(TreeError::Os { path, action: "lay out files in it", source });
                }
                let finished_at = Instant::START;
                job.complete(Completion { token: request.token, outcome, finished_at });
                done += 1;
                if done % 256 == 0 {
                    progress(Progress { ops: done, ..Progress::default() });
                    if stop.load(Ordering::Relaxed) {
                        return Err(TreeError::Interrupted { path: self.folder.path().into() });
                    }
                }
            }
        }
        Ok(())
    }

    /// That the files fit, with what must stay free.
    fn room(&self, tree: &Tree) -> Result<(), TreeError> {
        let path = self.folder.path();
        let space = statvfs(path).map_err(os(path, "read its free space"))?;
        let bytes = |blocks: u64| Bytes::new(blocks.saturating_mul(space.f_frsize));
        let (free, total) = (bytes(space.f_bavail), bytes(space.f_blocks));
        let free = free.saturating_sub(scratch::reserve(total, free));
        let asked = Bytes::new(truncated(tree.sizes.mean() * tree.count as f64));
        // File systems without a fixed number of files say 0 of 0.
        let names = if space.f_files == 0 { u64::MAX } else { space.f_favail };
        if asked <= free && tree.count <= names {
            return Ok(());
        }
        Err(TreeError::TooLarge { path: path.into(), files: tree.count, asked, free, names })
    }
}

/// `op` to every name of one worker, once, in order.
fn every_one(workload: &Workload, tree: &Tree, shape: &Shape, op: FileOp, worker: u32) -> TreeJobSpec {
    TreeJobSpec {
        seed: workload.seed,
        worker,
        op,
        shape: shape.clone(),
        sizes: tree.sizes.clone(),
        visitors: Visitors::Own,
        order: Order::Sequential,
        fsync: Fsync::None,
        warmup: Nanos::ZERO,
        run: None,
        wall: None,
        visits: None,
        each: None,
    }
}
