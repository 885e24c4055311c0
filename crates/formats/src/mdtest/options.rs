//! mdtest's command line.

use units::Nanos;

use super::TOOL;
use crate::Refusal;
use crate::options::{
    Given, Notes, Opt, Style, Syntax, flag, ignored, number, one_of, parsed, text, unsupported,
};
use crate::tasks::{Common, MOST_TASKS, SIZES, Tasks, delay, tasks_of};

/// A command line of mdtest.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Command {
    /// As typed.
    pub words: Vec<String>,
    /// `-d`: a directory, or a virtual array.
    pub directory: String,
    /// `--tasks`, or the processes of a launcher.
    pub tasks: u32,
    /// `-n`, or what `-I` comes to: files, and directories, of each task.
    pub items: u64,
    /// `-b`: directories in each directory of the tree.
    pub branches: u32,
    /// `-z`: levels below the top of the tree.
    pub depth: u32,
    /// `-L`: files are in the lowest directories alone.
    pub leaves_only: bool,
    /// `-u`: each task has a tree of its own.
    pub unique_dirs: bool,
    /// `-F` unless `-D`: files are tested.
    pub files: bool,
    /// `-D` unless `-F`: directories are tested.
    pub directories: bool,
    /// `-C`, `-T`, `-E`, `-r`, or all where none is said.
    pub phases: Phases,
    /// `-w`: bytes written to each file.
    pub write_bytes: u64,
    /// `-e`: bytes read of each.
    pub read_bytes: u64,
    /// `-i`.
    pub iterations: u32,
    /// `-p`.
    pub delay: Option<Nanos>,
    /// `-R`: files are statted in random order.
    pub random: bool,
    /// `--random-seed`.
    pub seed: u32,
    /// `-y`: each file is flushed once it is written.
    pub flushes_each: bool,
    /// `-Y`: the file system is flushed after each phase.
    pub flushes_end: bool,
    /// What was understood but changes nothing.
    pub notes: Vec<String>,
}

/// Which of the phases are carried out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Phases {
    /// `-C`.
    pub create: bool,
    /// `-T`.
    pub stat: bool,
    /// `-E`.
    pub read: bool,
    /// `-r`.
    pub remove: bool,
}

impl Phases {
    const ALL: Phases = Phases { create: true, stat: true, read: true, remove: true };
}

impl Command {
    /// Reads the arguments after the tool's name; `ranks` is how many processes carry it out together, where a launcher
    /// has started several.
    pub fn parse(arguments: &[String], ranks: Option<u32>) -> Result<Command, Refusal> {
        let command = Command {
            words: arguments.to_vec(),
            directory: "./out".into(),
            branches: 1,
            iterations: 1,
            ..Command::default()
        };
        let mut draft = Draft { command, tasks: None, items: None, per_directory: None };
        SYNTAX.read(&mut draft, arguments)?;
        draft.command.tasks = tasks_of(TOOL, "--tasks", draft.tasks, ranks)?;
        draft.finish()
    }

    /// Directories of one tree, its top among them; of those that hold files, with `holders`.
    pub fn nodes(&self, holders: bool) -> Option<u64> {
        let branches = u64::from(self.branches);
        let lowest = branches.checked_pow(self.depth)?;
        if holders && self.leaves_only {
            return Some(lowest);
        }
        (0..=self.depth).try_fold(0u64, |sum, level| sum.checked_add(branches.checked_pow(level)?))
    }
}

pub(crate) struct Draft {
    command: Command,
    tasks: Option<u32>,
    items: Option<u64>,
    per_directory: Option<u64>,
}

impl Notes for Draft {
    fn notes(&mut self) -> &mut Vec<String> {
        &mut self.command.notes
    }
}

impl Tasks for Draft {
    fn repetitions(&mut self) -> &mut u32 {
        &mut self.command.iterations
    }
}

fn usage(what: impl Into<String>) -> Refusal {
    Refusal::usage(TOOL, what)
}

impl Draft {
    fn finish(mut self) -> Result<Command, Refusal> {
        let tree = "a tree of so many levels and branches is too large; lower `-z` or `-b`";
        let holders = self.command.nodes(true).ok_or_else(|| usage(tree))?;
        self.command.items = self.items_of(holders)?;
        let mut command = self.command;
        if command.phases == Phases::default() {
            command.phases = Phases::ALL;
        }
        if command.files == command.directories {
            (command.files, command.directories) = (true, true);
        }
        command.check()?;
        Ok(command)
    }

    /// Items of each task in a tree in which so many directories hold some: as many in each.
    fn items_of(&self, holders: u64) -> Result<u64, Refusal> {
        let all = match (self.items, self.per_directory) {
            (Some(items), None) => Some(items / holders * holders).filter(|items| *items > 0),
            (None, Some(each)) => each.checked_mul(holders),
            (Some(_), Some(_)) => return Err(usage("items are said by `-n` or by `-I`, not by both")),
            (None, None) => {
                return Err(usage("`-n ITEMS` of each task, or `-I ITEMS` of each directory, is missing"));
            }
        };
        let all = all.filter(|items| *items <= 1_000_000_000);
        all.ok_or_else(|| {
            usage(format!("a tree of {holders} directories with files takes as many items or more, and 1000000000 at most"))
        })
    }
}

impl Command {
    fn check(&mut self) -> Result<(), Refusal> {
        if self.directory.contains('@') {
            return Err(usage(
                "several directories, with `@` between them, are not tested at once; name one",
            ));
        }
        if self.directories && self.depth > 0 {
            let what = "directories as items stand in one directory, as with `-n` and `-I` alone; say `-F` for files in a tree (`-z`, `-L`)";
            return Err(usage(what));
        }
        if self.read_bytes > self.write_bytes && self.phases.create && self.phases.read {
            return Err(usage("`-e` reads no more than `-w` writes"));
        }
        if self.read_bytes > 0 && self.read_bytes < self.write_bytes {
            self.notes.push(format!("a file is read whole, all of its {} bytes", self.write_bytes));
        }
        if self.directories && self.phases.stat {
            self.notes.push("directories are not statted: there is no `Directory stat`".into());
        }
        Ok(())
    }
}

pub(crate) const SYNTAX: Syntax<Draft> = Syntax {
    tool: TOOL,
    style: Style::Letters,
    any_case: false,
    options: &[Common::OPTIONS, OPTIONS],
    operand: |_, word| Err(usage(format!("`{word}` is not an option; `-d DIRECTORY` names the directory"))),
};

const OPTIONS: &[Opt<Draft>] = &[
    number("-b", "directories in each directory of the tree", 1..=1_000_000, |draft, branches| {
        draft.command.branches = branches;
    }),
    unsupported("-B", "each phase begins once the one before has ended for all tasks"),
    unsupported("-c", "each task makes its own files"),
    flag("-C", "makes files and directories", |draft| draft.command.phases.create = true),
    text("-d", "DIRECTORY", "where it works, or a virtual array", |draft, directory| {
        draft.command.directory = directory.into();
    }),
    flag("-D", "directories alone", |draft| draft.command.directories = true),
    parsed("-e", "BYTES", "bytes that are read of each file", |draft, given| {
        draft.command.read_bytes = bytes(given)?;
        Ok(())
    }),
    flag("-E", "reads files", |draft| draft.command.phases.read = true),
    unsupported("-f", "one number of tasks is tested at a time; `--tasks` says it"),
    flag("-F", "files alone", |draft| draft.command.files = true),
    parsed("-G", "N", "changes nothing: what is written does not compress", |draft, given| {
        draft.command.notes.push(given.ignored("what is written does not compress"));
        Ok(())
    }),
    parsed("-I", "N", "items in each directory of the tree", |draft, given| {
        draft.per_directory = Some(given.number(1..=1_000_000_000u64)?);
        Ok(())
    }),
    unsupported("-k", "files are made by open, not by mknod"),
    unsupported("-l", "one number of tasks is tested at a time; `--tasks` says it"),
    flag("-L", "files in the lowest directories of the tree alone", |draft| draft.command.leaves_only = true),
    parsed("-n", "N", "files, and directories, of each task", |draft, given| {
        draft.items = Some(given.number(1..=1_000_000_000u64)?);
        Ok(())
    }),
    parsed("-N", "N", "changes nothing: all tasks are of one host", |draft, given| {
        draft
            .command
            .notes
            .push(given.ignored("all tasks are of one host, which knows what any of them has made"));
        Ok(())
    }),
    parsed("-p", "S", "seconds before each repetition", |draft, given| {
        draft.command.delay = delay(given)?;
        Ok(())
    }),
    unsupported("-P", "`fathom show last` has rates and times"),
    flag("-r", "removes files and directories", |draft| draft.command.phases.remove = true),
    flag("-R", "stats files in random order", |draft| draft.command.random = true),
    number("--random-seed", "the seed of `-R`", 0..=u32::MAX, |draft, seed| draft.command.seed = seed),
    unsupported("-s", "one number of tasks is tested at a time; `--tasks` says it"),
    unsupported("-S", "each task has files of its own"),
    ignored("-t", "the tree's own directories have lines of their own"),
    flag("-T", "stats files", |draft| draft.command.phases.stat = true),
    number("--tasks", "tasks; under `mpirun` as many as processes", 1..=MOST_TASKS, |draft, tasks| {
        draft.tasks = Some(tasks);
    }),
    flag("-u", "a tree for each task", |draft| draft.command.unique_dirs = true),
    unsupported("-U", "directories are not renamed"),
    parsed("-V", "N", "changes nothing: the record has it all", |draft, given| {
        draft.command.notes.push(given.ignored("the record has it all"));
        Ok(())
    }),
    parsed("-w", "BYTES", "bytes that are written to each file", |draft, given| {
        draft.command.write_bytes = bytes(given)?;
        Ok(())
    }),
    unsupported("-W", "a phase ends once each task has done its items; `-n` says how many"),
    unsupported("-x", "no phase is stopped by time, so nothing is kept of how far one came"),
    unsupported(
        "-X --verify-read --verify-write",
        "files of a tree are not compared; `fathom as ior -W -R` compares",
    ),
    flag("-y", "flushes each file once it is written", |draft| draft.command.flushes_each = true),
    flag("-Y", "flushes the file system after each phase", |draft| draft.command.flushes_end = true),
    number("-z", "levels of the tree", 0..=20, |draft, depth| draft.command.depth = depth),
    unsupported("-Z", "`fathom show last` has times in place of rates"),
    unsupported("-g", "striping of directories is that of the file system"),
    one_of(
        "--dataPacketType",
        "what is written",
        &[flag("offset o timestamp t incompressible i random r", "data that do not compress", |_| {})],
    ),
    unsupported("--posix.odirect", "files of a tree go through the page cache"),
    unsupported("--posix.rangelocks", "ranges are not locked"),
    unsupported(
        "--print-all-procs --showRankStatistics --saveRankPerformanceDetails --savePerOpDataCSV",
        "`fathom show last --json` has what each task did",
    ),
    unsupported(
        "--run-cmd-before-phase --run-cmd-after-phase",
        "no command is run between phases; call `fathom as mdtest` with `-C`, `-T`, `-E` and `-r` one after the other",
    ),
    unsupported("--allocateBufferOnGPU --GPUid --gpuDirect", "data are in the memory of the host"),
    ignored("--warningAsErrors", "what is not supported is refused anyway"),
];

fn bytes(given: &Given<'_>) -> Result<u64, Refusal> {
    given.read(|text| SIZES.read(text).filter(|size| *size <= 1 << 30), "a size up to 1g, such as 3901 or 4k")
}
