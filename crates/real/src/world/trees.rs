//! Trees of files in a directory target: claimed at the first load that asks for them, prepared before each.

use std::path::PathBuf;

use conduct::{FileNames, Live, MeasuredLoad, WorldError, listener};
use host::restore::Journal;
use host::scratch;
use host::target::TargetKind;
use host::tree::{self, FOLDER, FolderState, TreeError, Trees};
use units::Bytes;
use units::convert::truncated;
use workload::plan::{Load, Plan, Point};
use workload::spec::Workload;
use workload::tally::Tally;
use workload::tree::{Shape, Tree, compile_tree};
use workload::worn_out;

use super::RealWorld;
use crate::failure::HostError;
use crate::heard::answer;
use crate::options::RealOptions;
use crate::target::Resolved;

/// The trees of a run; nothing where its plan asks for none.
#[derive(Debug, Default)]
pub(crate) struct TreeSet {
    directory: Option<PathBuf>,
    keep: bool,
    journal: Journal,
    leftover: Option<String>,
    trees: Option<Trees>,
    /// Trees of another process, which has prepared them by the time of each load.
    follows: bool,
}

impl TreeSet {
    /// Looks at where the folder will be: in the only target behind the plain files of a tool.
    /// Changes nothing.
    pub(crate) fn plan(
        plan: &Plan,
        targets: &[Resolved],
        options: &RealOptions,
    ) -> Result<TreeSet, WorldError> {
        let mut workloads = plan.points().iter().flat_map(Point::workloads);
        let Some(workload) = workloads.find(|workload| workload.tree.is_some()) else {
            return Ok(TreeSet::default());
        };
        let [Resolved { target, .. }] = targets.get(options.plain.len()..).unwrap_or_default() else {
            return Err(no_directory(workload, targets));
        };
        let TargetKind::Directory(directory) = &target.kind else {
            return Err(no_directory(workload, targets));
        };
        let path = directory.join(FOLDER);
        let leftover = match tree::look(directory).map_err(HostError::told)? {
            FolderState::Nothing => {
                scratch::can_make(&path).map_err(HostError::told)?;
                None
            }
            FolderState::Left => {
                Some(format!("{} is left over from an earlier run and is cleared", path.display()))
            }
            FolderState::InUse => return Err(TreeError::InUse { path }.told()),
            FolderState::Foreign => return Err(TreeError::NotOurs { path }.told()),
        };
        let (keep, journal) = (options.keep, options.journal.clone());
        Ok(TreeSet {
            directory: Some(directory.clone()),
            keep,
            journal,
            leftover,
            trees: None,
            follows: false,
        })
    }

    /// Uses the trees that another process prepares, and removes none.
    pub(crate) fn follow(&mut self) {
        (self.follows, self.leftover) = (true, None);
    }

    pub(crate) fn leftover_words(&self) -> Option<&str> {
        self.leftover.as_deref()
    }

    /// The folder, claimed when it is first wanted.
    fn open(&mut self) -> Result<&mut Trees, TreeError> {
        let directory = self.directory.as_ref().expect("a plan with trees has one directory");
        match &mut self.trees {
            Some(trees) => Ok(trees),
            none if self.follows => Ok(none.insert(Trees::join(directory)?)),
            none => Ok(none.insert(Trees::open(directory, self.keep, &self.journal)?)),
        }
    }

    /// Removes the trees. An error says what stays behind.
    pub(crate) fn remove(&mut self) -> Result<(), TreeError> {
        self.trees.as_mut().map_or(Ok(()), Trees::remove)
    }
}

fn no_directory(workload: &Workload, targets: &[Resolved]) -> WorldError {
    WorldError::unfit(format!(
        "workload `{}` works on files and directories: give one directory as target, not {}",
        workload.name,
        targets.iter().map(|each| each.target.name.as_str()).collect::<Vec<_>>().join(", ")
    ))
}

impl RealWorld {
    /// Runs tree workloads together. What they need is made before.
    pub(crate) fn load_trees(
        &mut self,
        load: &Load,
        live: &mut dyn FnMut(Live),
    ) -> Result<MeasuredLoad, WorldError> {
        let mut set = std::mem::take(&mut self.trees);
        let follows = set.follows;
        let opened = set.open().map_err(HostError::told);
        let answer = opened.and_then(|trees| self.load_in(trees, follows, load, live));
        self.trees = set;
        answer
    }

    fn load_in(
        &mut self,
        trees: &mut Trees,
        follows: bool,
        load: &Load,
        live: &mut dyn FnMut(Live),
    ) -> Result<MeasuredLoad, WorldError> {
        let asked: Vec<(&Workload, &Tree)> =
            load.workloads.iter().filter_map(|workload| Some((workload, workload.tree.as_ref()?))).collect();
        for (workload, tree) in &asked {
            match follows {
                true => trees.follow(workload, tree).map_err(HostError::told)?,
                false => self.prepare_tree(trees, workload, tree, live)?,
            }
        }
        if let Some((_, gate)) = &mut self.rank {
            gate.prepared();
        }
        let (mut assignments, mut answers) = (Vec::new(), Vec::new());
        for (workload, tree) in &asked {
            let jobs = self.own_share(compile_tree(workload, tree)?);
            assignments.push(trees.assign(workload, jobs, listener::wants(&self.listener, workload)));
            let shape = Shape::of(tree, workload.workers).expect("it was compiled");
            let files = FileNames::Tree { top: trees.top_of(&workload.name), shape, op: tree.op };
            let span = Bytes::new(truncated(tree.sizes.mean() * tree.count as f64));
            answers.push(answer(files, span, "each request"));
        }
        let names = vec![Vec::new(); asked.len()];
        let measured = self.measure(load, &assignments, &names, answers, live)?;
        for ((workload, tree), seen) in asked.iter().zip(&measured.workloads) {
            let sum =
                |of: fn(&Tally) -> u64| seen.workers.iter().map(|worker| of(&worker.tally)).sum::<u64>();
            // Of several ranks each knows its own part; where another failed, what is missing fails the next load.
            let tallies = seen.workers.iter().map(|worker| &worker.tally);
            let each = workload.stop.wear_out.then(|| worn_out(tallies)).flatten();
            let is_all =
                each.is_some() || sum(|tally| tally.completed) >= self.everything(trees, workload, tree);
            trees.done(&workload.name, tree.op, sum(|tally| tally.errors) == 0 && is_all, each);
        }
        Ok(measured)
    }

    fn prepare_tree(
        &self,
        trees: &mut Trees,
        workload: &Workload,
        tree: &Tree,
        live: &mut dyn FnMut(Live),
    ) -> Result<(), WorldError> {
        let started = self.clock.now();
        let prepared = trees.prepare(workload, tree, &self.stop, &mut |progress| {
            let done = Some(progress.ops as f64 / tree.count.max(1) as f64);
            live(Live { progress, done, ..Live::beside(started, self.clock.now(), "lay out") });
        });
        prepared.map_err(HostError::told)
    }

    /// Requests after which all of a tree has been visited, as far as it is this process's part.
    fn everything(&self, trees: &Trees, workload: &Workload, tree: &Tree) -> u64 {
        let stop = workload::spec::Stop { run: None, ops: None, wear_out: false, ..workload.stop };
        let all = Workload { stop, ..workload.clone() };
        let jobs = self.own_share(compile_tree(&all, tree).unwrap_or_default());
        trees.everything(&workload.name, jobs.into_iter())
    }
}
