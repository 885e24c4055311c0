//! What a call comes to: phases over the files of a tree.

use workload::tree::FileOp;

use super::TOOL;
use super::options::Command;
use crate::TranslatedJob;
use crate::plan::{Keys, PlanText};
use crate::tasks::OpFile;
use crate::translated::about;

/// A line of the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Test {
    /// A directory as an item is made.
    DirectoryCreation,
    /// Its attributes are asked for.
    DirectoryStat,
    /// It gets the name of another one.
    DirectoryRename,
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

stand_in_place!(Test::ALL, 0, "a test stands at its own place");

impl Test {
    /// All of them, in the order of their lines, as they are printed.
    pub(super) const ALL: [(Test, &'static str); 10] = [
        (Test::DirectoryCreation, "Directory creation"),
        (Test::DirectoryStat, "Directory stat"),
        (Test::DirectoryRename, "Directory rename"),
        (Test::DirectoryRemoval, "Directory removal"),
        (Test::FileCreation, "File creation"),
        (Test::FileStat, "File stat"),
        (Test::FileRead, "File read"),
        (Test::FileRemoval, "File removal"),
        (Test::TreeCreation, "Tree creation"),
        (Test::TreeRemoval, "Tree removal"),
    ];

    /// As it is printed.
    pub const fn name(self) -> &'static str {
        Test::ALL[self as usize].1
    }

    /// What a phase that does `op` is, where nothing else is known of it.
    pub const fn of(op: FileOp) -> Option<Test> {
        match op {
            FileOp::Mkdir => Some(Test::TreeCreation),
            FileOp::Rmdir => Some(Test::TreeRemoval),
            FileOp::Statdir => Some(Test::DirectoryStat),
            FileOp::Renamedir => Some(Test::DirectoryRename),
            FileOp::Create | FileOp::Mknod => Some(Test::FileCreation),
            FileOp::Stat => Some(Test::FileStat),
            FileOp::Open | FileOp::Read => Some(Test::FileRead),
            FileOp::Delete => Some(Test::FileRemoval),
            _ => None,
        }
    }

    /// The test of the phase of that name, and which repetition.
    pub fn phase(name: &str) -> Option<(Test, u32)> {
        let (test, iteration) = name.rsplit_once(' ')?;
        let test = test.split(',').next()?;
        let (test, _) = Test::ALL.into_iter().find(|(_, name)| *name == test)?;
        Some((test, iteration.parse().ok()?))
    }

    /// Whether the phase of that name makes what the next one writes, whose time is part of that one's.
    pub fn is_collective(name: &str) -> bool {
        name.starts_with(COLLECTIVE)
    }

    /// How many tasks the test of the phase of that name has, where there are tests of several numbers of them.
    pub fn tasks(name: &str) -> Option<u32> {
        name.split_once(", ")?.1.split_once(' ')?.0.parse().ok()
    }
}

/// How phases are called in which the first task makes the files of all.
const COLLECTIVE: &str = "Collective creation";

impl Command {
    /// The files of operations of the phase of that name; `None` where it has none.
    pub fn op_file(&self, phase: &str) -> Option<OpFile> {
        let (prefix, (test, _)) = (self.op_files.clone()?, Test::phase(phase)?);
        let bytes = match test {
            Test::FileCreation | Test::FileRemoval => self.write_bytes,
            Test::FileRead => self.read_bytes,
            Test::FileStat => 1,
            _ => return None,
        };
        Some(OpFile { prefix, of: test.name().into(), bytes: bytes.max(1) })
    }

    /// The plan that asks for what the command asks for.
    pub fn translate(&self) -> TranslatedJob {
        let mut plan = PlanText::new(TOOL, &about(TOOL, &self.words), Some(u64::from(self.seed) + 1));
        assert!(!self.courses.is_empty() && !self.courses.contains(&0), "a course has tasks");
        for tasks in &self.courses {
            Course { command: self, tasks: *tasks }.phases(&mut plan);
        }
        TranslatedJob { plan: plan.text(), targets: vec![self.directory.clone()], notes: self.notes.clone() }
    }
}

/// The tests of one number of tasks.
struct Course<'a> {
    command: &'a Command,
    tasks: u32,
}

impl Course<'_> {
    fn phases(&self, plan: &mut PlanText) {
        let command = self.command;
        for iteration in 0..command.iterations {
            if let Some(delay) = command.delay {
                let name = self.name("delay", iteration);
                plan.phase(Keys::named(&name).with("state", "idle").with("run", delay));
            }
            if command.directories {
                self.directory_phases(iteration, plan);
            }
            if command.files {
                self.file_phases(iteration, plan);
            }
        }
    }

    fn name(&self, what: &str, iteration: u32) -> String {
        match self.command.courses.len() {
            1 => format!("{what} {iteration}"),
            _ => format!("{what}, {} tasks {iteration}", self.tasks),
        }
    }

    fn phase(&self, test: Test, iteration: u32, op: &str) -> Keys {
        let command = self.command;
        let changes = !matches!(test, Test::FileStat | Test::FileRead | Test::DirectoryStat);
        let fsync = match (command.flushes_end, command.flushes_each && test == Test::FileCreation) {
            (true, _) if changes => "end",
            (_, true) => "each",
            _ => "none",
        };
        let order = if command.random && test == Test::FileStat { "random" } else { "sequential" };
        Keys::named(&self.name(test.name(), iteration))
            .with("tree", op)
            .with("order", order)
            .with("fsync", fsync)
            .with("workers", self.tasks)
            .with("unique_dirs", command.unique_dirs)
            .with("visitors", self.visitors(test))
    }

    /// Which task visits what.
    fn visitors(&self, test: Test) -> String {
        let command = self.command;
        let by_the_first =
            matches!(test, Test::DirectoryCreation | Test::DirectoryRemoval | Test::FileRemoval);
        let places = match test {
            Test::DirectoryStat | Test::DirectoryRename | Test::FileStat => 1,
            Test::FileRead => 2,
            Test::DirectoryRemoval | Test::FileRemoval => 3,
            _ => 0,
        };
        let is_of_files =
            matches!(test, Test::FileCreation | Test::FileStat | Test::FileRead | Test::FileRemoval);
        match command.stride.saturating_mul(places) % self.tasks.max(1) {
            _ if command.is_shared && test == Test::FileRemoval => "first".into(),
            _ if command.is_shared && is_of_files => "all".into(),
            _ if command.is_collective && by_the_first => "first".into(),
            0 => "own".into(),
            places => format!("shifted({places})"),
        }
    }

    /// Directories side by side, in the top of the tree.
    fn directory_phases(&self, iteration: u32, plan: &mut PlanText) {
        let Command { phases, items, unique_dirs, .. } = self.command;
        let tops = if *unique_dirs { 1 } else { u64::from(self.tasks) };
        let side_by_side = |keys: Keys| {
            let keys = keys.with("levels", 1u32).with("fanout", items.saturating_mul(tops));
            keys.with("count", u64::from(self.tasks)).with("file_size", "0B")
        };
        for (test, op, is_asked) in [
            (Test::DirectoryCreation, "mkdir", phases.create),
            (Test::DirectoryStat, "statdir", phases.stat),
            (Test::DirectoryRename, "renamedir", phases.rename && *items > 1),
            (Test::DirectoryRemoval, "rmdir", phases.remove),
        ] {
            if is_asked {
                plan.phase(side_by_side(self.phase(test, iteration, op)));
            }
        }
    }

    fn file_phases(&self, iteration: u32, plan: &mut PlanText) {
        let command = self.command;
        let (phases, has_tree) = (command.phases, command.depth > 0);
        let read = if command.read_bytes > 0 && command.write_bytes > 0 { "read" } else { "open" };
        let create = match () {
            () if command.makes_nodes => "mknod",
            // Each task opens what the first has made, as there.
            () if command.is_collective => "write",
            () => "create",
        };
        for (test, op, is_asked) in [
            (Test::TreeCreation, "mkdir", has_tree && phases.create),
            (Test::FileCreation, create, phases.create),
            (Test::FileStat, "stat", phases.stat),
            (Test::FileRead, read, phases.read),
            (Test::FileRemoval, "delete", phases.remove),
            (Test::TreeRemoval, "rmdir", has_tree && phases.remove),
        ] {
            if test == Test::FileCreation && is_asked && command.is_collective {
                self.collective_creation(iteration, plan);
            }
            if is_asked {
                let keys = self.in_tree(self.phase(test, iteration, op));
                let wall = command.stonewall.filter(|_| test == Test::FileCreation);
                let keys = keys.maybe("run", wall).maybe("wear_out", wall.map(|_| true));
                plan.phase(keys.and(self.content(op)));
            }
        }
    }

    /// The first task makes the files of all, which stay empty.
    fn collective_creation(&self, iteration: u32, plan: &mut PlanText) {
        let keys = Keys::named(&self.name(COLLECTIVE, iteration)).with("tree", "mknod");
        let keys = keys.with("workers", self.tasks).with("unique_dirs", self.command.unique_dirs);
        plan.phase(self.in_tree(keys.with("visitors", "first")));
    }

    /// How content is moved, where it is.
    fn content(&self, op: &str) -> Keys {
        let command = self.command;
        let verify = match op {
            "create" | "write" if command.verifies_writes => Some("all"),
            "create" | "write" | "read" if command.verifies_reads => Some("written"),
            _ => None,
        };
        let moves = matches!(op, "create" | "write" | "read");
        Keys::default()
            .maybe("verify", verify)
            .maybe("direct_files", (command.direct && moves).then_some(true))
            .maybe("engine", (command.locks && moves).then_some("locked"))
    }

    /// Files spread over the directories of the tree; those that all tasks share are there once.
    fn in_tree(&self, keys: Keys) -> Keys {
        let command = self.command;
        let places = if command.leaves_only { "leaves" } else { "all" };
        let shares = if command.is_shared { 1 } else { u64::from(self.tasks) };
        keys.with("count", command.items.saturating_mul(shares))
            .with("file_size", format!("{}B", command.write_bytes))
            .with("levels", command.depth)
            .with("fanout", command.branches)
            .with("files_in", places)
    }
}
