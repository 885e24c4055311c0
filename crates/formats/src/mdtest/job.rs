//! What a call comes to: phases over the files of a tree.

use workload::tree::FileOp;

use super::TOOL;
use super::options::Command;
use crate::TranslatedJob;
use crate::plan::{Keys, PlanText};
use crate::translated::about;

/// A line of the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Test {
    /// A directory as an item is made.
    DirectoryCreation,
    /// It is removed.
    DirectoryRemoval,
    /// A file is made, and written.
    FileCreation,
    /// Asked for on the command line.
    FileStat,
    /// It is opened, and read.
    FileRead,
    /// It is removed.
    FileRemoval,
    /// The tree is made.
    TreeCreation,
    /// It is removed.
    TreeRemoval,
}

impl Test {
    /// All of them, in the order of their lines.
    pub const ALL: [Test; 8] = [
        Test::DirectoryCreation,
        Test::DirectoryRemoval,
        Test::FileCreation,
        Test::FileStat,
        Test::FileRead,
        Test::FileRemoval,
        Test::TreeCreation,
        Test::TreeRemoval,
    ];

    /// As it is printed.
    pub const fn name(self) -> &'static str {
        match self {
            Test::DirectoryCreation => "Directory creation",
            Test::DirectoryRemoval => "Directory removal",
            Test::FileCreation => "File creation",
            Test::FileStat => "File stat",
            Test::FileRead => "File read",
            Test::FileRemoval => "File removal",
            Test::TreeCreation => "Tree creation",
            Test::TreeRemoval => "Tree removal",
        }
    }

    /// What a phase that does `op` is, where nothing else is known of it.
    pub const fn of(op: FileOp) -> Option<Test> {
        match op {
            FileOp::Mkdir => Some(Test::TreeCreation),
            FileOp::Rmdir => Some(Test::TreeRemoval),
            FileOp::Create => Some(Test::FileCreation),
            FileOp::Stat => Some(Test::FileStat),
            FileOp::Open | FileOp::Read => Some(Test::FileRead),
            FileOp::Delete => Some(Test::FileRemoval),
            _ => None,
        }
    }

    /// The test of the phase of that name, and which repetition.
    pub fn phase(name: &str) -> Option<(Test, u32)> {
        let (test, iteration) = name.rsplit_once(' ')?;
        let test = Test::ALL.into_iter().find(|known| known.name() == test)?;
        Some((test, iteration.parse().ok()?))
    }
}

impl Command {
    /// The plan that asks for what the command asks for.
    pub fn translate(&self) -> TranslatedJob {
        let mut plan = PlanText::new(TOOL, &about(TOOL, &self.words), Some(u64::from(self.seed) + 1));
        for iteration in 0..self.iterations {
            if let Some(delay) = self.delay {
                plan.phase(
                    Keys::named(&format!("delay {iteration}")).with("state", "idle").with("run", delay),
                );
            }
            if self.directories {
                self.directory_phases(iteration, &mut plan);
            }
            if self.files {
                self.file_phases(iteration, &mut plan);
            }
        }
        TranslatedJob { plan: plan.text(), targets: vec![self.directory.clone()], notes: self.notes.clone() }
    }

    fn phase(&self, test: Test, iteration: u32, op: &str) -> Keys {
        let changes = !matches!(test, Test::FileStat | Test::FileRead);
        let fsync = match (self.flushes_end, self.flushes_each && test == Test::FileCreation) {
            (true, _) if changes => "end",
            (_, true) => "each",
            _ => "none",
        };
        let order = if self.random && test == Test::FileStat { "random" } else { "sequential" };
        Keys::named(&format!("{} {iteration}", test.name()))
            .with("tree", op)
            .with("order", order)
            .with("fsync", fsync)
            .with("workers", self.tasks)
            .with("unique_dirs", self.unique_dirs)
    }

    /// Directories side by side, in the top of the tree.
    fn directory_phases(&self, iteration: u32, plan: &mut PlanText) {
        let tops = if self.unique_dirs { 1 } else { u64::from(self.tasks) };
        let side_by_side = |keys: Keys| {
            let keys = keys.with("levels", 1u32).with("fanout", self.items.saturating_mul(tops));
            keys.with("count", u64::from(self.tasks)).with("file_size", "0B")
        };
        if self.phases.create {
            plan.phase(side_by_side(self.phase(Test::DirectoryCreation, iteration, "mkdir")));
        }
        if self.phases.remove {
            plan.phase(side_by_side(self.phase(Test::DirectoryRemoval, iteration, "rmdir")));
        }
    }

    fn file_phases(&self, iteration: u32, plan: &mut PlanText) {
        let has_tree = self.depth > 0;
        let read = if self.read_bytes > 0 && self.write_bytes > 0 { "read" } else { "open" };
        for (test, op, is_asked) in [
            (Test::TreeCreation, "mkdir", has_tree && self.phases.create),
            (Test::FileCreation, "create", self.phases.create),
            (Test::FileStat, "stat", self.phases.stat),
            (Test::FileRead, read, self.phases.read),
            (Test::FileRemoval, "delete", self.phases.remove),
            (Test::TreeRemoval, "rmdir", has_tree && self.phases.remove),
        ] {
            if is_asked {
                plan.phase(self.in_tree(self.phase(test, iteration, op)));
            }
        }
    }

    /// Files spread over the directories of the tree.
    fn in_tree(&self, keys: Keys) -> Keys {
        let places = if self.leaves_only { "leaves" } else { "all" };
        keys.with("count", self.items.saturating_mul(self.tasks.into()))
            .with("file_size", format!("{}B", self.write_bytes))
            .with("levels", self.depth)
            .with("fanout", self.branches)
            .with("files_in", places)
    }
}
