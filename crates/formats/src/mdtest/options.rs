//! mdtest's command line.

use units::Nanos;

use super::TOOL;
use crate::Refusal;
use crate::options::{Given, Opt, Style, Syntax, flag, ignored, number, one_of, parsed, text, unsupported};
use crate::tasks::{Common, MOST_TASKS, Tasks, check_op_files, delay, size_of, tasks_of, without_equals};

/// A command line of mdtest.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Command {
    /// As typed.
    pub words: Vec<String>,
    /// `-d`: a directory, or a virtual array.
    pub directory: String,
    /// `--tasks`, or the processes of a launcher: the most that are tested with.
    pub tasks: u32,
    /// `-f`, `-l` and `-s`: how many tasks each test has, one after the other.
    pub courses: Vec<u32>,
    /// `-N`: how many tasks on is the one whose files a task stats; twice and three times as many it reads and removes of.
    pub stride: u32,
    /// `-c`: the first task makes and removes all.
    pub is_collective: bool,
    /// `-S`: all tasks share files.
    pub is_shared: bool,
    /// `-k`: files are made by mknod.
    pub makes_nodes: bool,
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
    /// `-X`: what is read is compared.
    pub verifies_reads: bool,
    /// `--verify-write`: what was written is read back at once, and compared.
    pub verifies_writes: bool,
    /// `--posix.odirect`: content goes past the page cache.
    pub direct: bool,
    /// `--posix.rangelocks`: files are locked while their content moves.
    pub locks: bool,
    /// `-P`, `-Z` and their like: what is printed.
    pub printed: Printed,
    /// `--savePerOpDataCSV`: how files of operations are called, a file for each test of files and each task.
    pub op_files: Option<String>,
    /// `--run-cmd-before-phase`: before each phase, by each task.
    pub before_phase: Option<String>,
    /// `--run-cmd-after-phase`: the same after it, which is part of its time.
    pub after_phase: Option<String>,
    /// `-W`: after so long each task goes on to as many files as the furthest one has made.
    pub stonewall: Option<Nanos>,
    /// `-x`: holds how many items of each task there are, where none are made, or where `-W` has ended it.
    pub status_file: Option<String>,
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
    /// `-U`.
    pub rename: bool,
    /// `-r`.
    pub remove: bool,
}

impl Phases {
    const ALL: Phases = Phases { create: true, stat: true, read: true, rename: true, remove: true };
}

/// What is printed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Printed {
    /// `-Z`: times in place of rates.
    pub times: bool,
    /// `-P`: rates, and then times.
    pub both: bool,
    /// `--showRankStatistics`: how far tasks are apart.
    pub rank_statistics: bool,
    /// `--print-all-procs`: what each task did.
    pub all_tasks: bool,
    /// `--saveRankPerformanceDetails`: goes to this file, too.
    pub details: Option<String>,
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
        let mut draft =
            Draft { command, tasks: None, items: None, per_directory: None, courses: Courses::default() };
        SYNTAX.read(&mut draft, &without_equals(arguments))?;
        draft.command.tasks = tasks_of(TOOL, "--tasks", draft.tasks, ranks)?;
        check_op_files(TOOL, &draft.command.op_files, ranks)?;
        if draft.command.stonewall.is_some() && ranks.is_some_and(|ranks| ranks > 1) {
            return Err(usage("`-W` counts the tasks of one process; say `--tasks` in place of `mpirun`"));
        }
        draft.finish()
    }

    /// The same with so many items of each task, as `-x` says.
    pub fn with_items(self, items: u64) -> Result<Command, Refusal> {
        let holders = self.nodes(true).unwrap_or(u64::MAX);
        match items / holders * holders {
            items @ 1..=1_000_000_000 => Ok(Command { items, ..self }),
            _ => Err(usage(format!(
                "`-x` says {items} items, and {holders} directories hold some; 1000000000 at most"
            ))),
        }
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
    courses: Courses,
}

/// `-f`, `-l` and `-s`.
#[derive(Clone, Copy, Debug, Default)]
struct Courses {
    first: Option<u32>,
    last: Option<u32>,
    stride: Option<u32>,
}

impl Courses {
    /// How many tasks each test has, of so many in all.
    fn of(self, tasks: u32) -> Result<Vec<u32>, Refusal> {
        // Without a last one there is one test, of all tasks, as there.
        let Some(last) = self.last.filter(|last| *last > 0) else { return Ok(vec![tasks]) };
        let first = self.first.unwrap_or(1);
        if first > last || last > tasks {
            return Err(usage(format!(
                "tests of {first} to {last} tasks (`-f`, `-l`) are not those of {tasks} tasks at most; `--tasks` says how many there are"
            )));
        }
        let courses: Vec<u32> = (first..=last).step_by(self.stride.unwrap_or(1) as usize).collect();
        debug_assert!(
            courses.iter().all(|course| (1..=tasks).contains(course)),
            "a test is of tasks there are"
        );
        Ok(courses)
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
        command.directories &= !command.is_shared;
        command.courses = self.courses.of(command.tasks)?;
        command.check()?;
        Ok(command)
    }

    /// Items of each task in a tree in which so many directories hold some: as many in each.
    fn items_of(&self, holders: u64) -> Result<u64, Refusal> {
        assert!(holders > 0, "a tree has a directory that holds files");
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
        self.check_sharing()
    }

    /// What the original refuses, too.
    fn check_sharing(&self) -> Result<(), Refusal> {
        let wrong = [
            (self.is_shared && self.is_collective, "`-c` and `-S` do not go together"),
            (self.makes_nodes && self.is_collective, "`-c` has made what `-k` is to make; leave one out"),
            (self.is_shared && self.unique_dirs, "`-u` and `-S` do not go together"),
            (
                self.stonewall.is_some() && (self.is_shared || self.is_collective),
                "`-W` counts the files that each task makes; leave `-S` and `-c` out",
            ),
            (self.makes_nodes && self.write_bytes > 0, "`-k` makes empty files; leave `-w` out"),
            (self.verifies_reads && !self.phases.read, "`-X` compares what is read; say `-E` too"),
            (self.verifies_reads && self.read_bytes == 0, "`-X` compares what is read; `-e` says how much"),
            (
                self.direct && !self.write_bytes.is_multiple_of(512),
                "`--posix.odirect` moves whole sectors; `-w` a multiple of 512, or of what the file system wants",
            ),
        ];
        Refusal::check(TOOL, &wrong)
    }
}

pub(crate) const SYNTAX: Syntax<Draft> = Syntax {
    tool: TOOL,
    style: Style::Letters,
    any_case: false,
    notes: |draft| &mut draft.command.notes,
    options: &[Common::OPTIONS, OPTIONS],
    operand: |_, word| Err(usage(format!("`{word}` is not an option; `-d DIRECTORY` names the directory"))),
};

const OPTIONS: &[Opt<Draft>] = &[
    number("-b", "directories in each directory of the tree", 1..=1_000_000, |draft, branches| {
        draft.command.branches = branches;
    }),
    parsed(
        "-B",
        "0",
        "0 alone: without barriers mdtest 4.1 itself ends with an error",
        |_, given| match given.value {
            "0" => Ok(()),
            _ => Err(usage(
                "each phase begins once the one before has ended for all tasks: stone walls want barriers, as there",
            )),
        },
    ),
    flag(
        "-c",
        "the first task makes (by mknod) and removes the files and directories of all; each writes its own files",
        |draft| {
            draft.command.is_collective = true;
        },
    ),
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
    number(
        "-f",
        "tasks of the first test, where `-l` says those of the last",
        1..=MOST_TASKS,
        |draft, tasks| {
            draft.courses.first = Some(tasks);
        },
    ),
    flag("-F", "files alone", |draft| draft.command.files = true),
    parsed("-G", "N", "changes nothing: what is written does not compress", |draft, given| {
        draft.command.notes.push(given.ignored("what is written does not compress"));
        Ok(())
    }),
    parsed("-I", "N", "items in each directory of the tree", |draft, given| {
        draft.per_directory = Some(given.number(1..=1_000_000_000u64)?);
        Ok(())
    }),
    flag("-k", "makes files by mknod", |draft| draft.command.makes_nodes = true),
    number("-l", "tasks of the last test", 0..=MOST_TASKS, |draft, tasks| draft.courses.last = Some(tasks)),
    flag("-L", "files in the lowest directories of the tree alone", |draft| draft.command.leaves_only = true),
    parsed("-n", "N", "files, and directories, of each task", |draft, given| {
        draft.items = Some(given.number(1..=1_000_000_000u64)?);
        Ok(())
    }),
    number(
        "-N",
        "how many tasks on is the one whose files are statted; twice and three times as many for reading and removing",
        0..=MOST_TASKS,
        |draft, tasks| draft.command.stride = tasks,
    ),
    parsed("-p", "S", "seconds before each repetition", |draft, given| {
        draft.command.delay = delay(given)?;
        Ok(())
    }),
    flag("-P", "prints rates, and then times", |draft| draft.command.printed.both = true),
    flag("-r", "removes files and directories", |draft| draft.command.phases.remove = true),
    flag("-R", "stats files in random order", |draft| draft.command.random = true),
    number("--random-seed", "the seed of `-R`", 0..=u32::MAX, |draft, seed| draft.command.seed = seed),
    number("-s", "how many tasks more each further test has", 1..=MOST_TASKS, |draft, tasks| {
        draft.courses.stride = Some(tasks);
    }),
    flag("-S", "all tasks share files, which the first removes; no directories", |draft| {
        draft.command.is_shared = true;
    }),
    ignored("-t", "the tree's own directories have lines of their own"),
    flag("-T", "stats files and directories", |draft| draft.command.phases.stat = true),
    number("--tasks", "tasks; under `mpirun` as many as processes", 1..=MOST_TASKS, |draft, tasks| {
        draft.tasks = Some(tasks);
    }),
    flag("-u", "a tree for each task", |draft| draft.command.unique_dirs = true),
    flag("-U", "renames directories, each to the name of the one before", |draft| {
        draft.command.phases.rename = true;
    }),
    parsed("-V", "N", "changes nothing: the record has it all", |draft, given| {
        draft.command.notes.push(given.ignored("the record has it all"));
        Ok(())
    }),
    parsed("-w", "BYTES", "bytes that are written to each file", |draft, given| {
        draft.command.write_bytes = bytes(given)?;
        Ok(())
    }),
    number(
        "-W",
        "seconds after which files are made no longer: each task continues to as many as the furthest one has made, and later tests are of these",
        0..=1_000_000u32,
        |draft, seconds| {
            draft.command.stonewall = (seconds > 0).then(|| Nanos::from_secs(seconds.into()));
        },
    ),
    text(
        "-x",
        "FILE",
        "how many items of each task there are, as a stone wall left them: `-W` writes it, and what comes without `-C` reads it",
        |draft, file| {
            draft.command.status_file = Some(file.into());
        },
    ),
    flag("-X --verify-read", "compares what is read", |draft| draft.command.verifies_reads = true),
    flag("--verify-write", "reads back what was written at once, and compares it", |draft| {
        draft.command.verifies_writes = true;
    }),
    flag("-y", "flushes each file once it is written", |draft| draft.command.flushes_each = true),
    flag("-Y", "flushes the file system after each phase", |draft| draft.command.flushes_end = true),
    number("-z", "levels of the tree", 0..=20, |draft, depth| draft.command.depth = depth),
    flag("-Z", "prints times in place of rates", |draft| draft.command.printed.times = true),
    unsupported("-g", "needs Lustre: it is a layout of directories there"),
    one_of(
        "--dataPacketType",
        "what is written",
        &[flag("offset o timestamp t incompressible i random r", "data that do not compress", |_| {})],
    ),
    flag("--posix.odirect", "content goes past the page cache", |draft| draft.command.direct = true),
    flag("--posix.rangelocks", "a file is locked while its content moves", |draft| {
        draft.command.locks = true;
    }),
    flag("--print-all-procs", "prints what each task did", |draft| draft.command.printed.all_tasks = true),
    flag("--showRankStatistics", "prints how far tasks are apart", |draft| {
        draft.command.printed.rank_statistics = true;
    }),
    text("--saveRankPerformanceDetails", "FILE", "what each task did goes to a new file", |draft, file| {
        draft.command.printed.details = Some(file.into());
    }),
    text(
        "--savePerOpDataCSV",
        "PREFIX",
        "each operation on files is a line of PREFIX-TEST-TASK.csv; not under `mpirun`",
        |draft, prefix| draft.command.op_files = Some(prefix.into()),
    ),
    text("--run-cmd-before-phase", "COMMAND", "each task runs it before each phase", |draft, command| {
        draft.command.before_phase = Some(command.into());
    }),
    text("--run-cmd-after-phase", "COMMAND", "the same after it, as part of its time", |draft, command| {
        draft.command.after_phase = Some(command.into());
    }),
    unsupported(
        "--allocateBufferOnGPU --GPUid --gpuDirect",
        "needs a GPU: data are in the memory of the host",
    ),
    ignored("--warningAsErrors", "what is not supported is refused anyway"),
];

fn bytes(given: &Given<'_>) -> Result<u64, Refusal> {
    given.read(|text| size_of(text).filter(|size| *size <= 1 << 30), "a size up to 1g, such as 3901 or 4k")
}
