//! IOR's command line.

use units::Nanos;

use super::TOOL;
use super::wear_out::WearOut;
use crate::Refusal;
use crate::options::{
    Given, Opt, Style, Syntax, flag, ignored, number, one_of, parsed, some_assigned, text, unsupported,
};
use crate::tasks::{
    Common, MOST_TASKS, Tasks, check_op_files, delay, seed_of, size_of, tasks_of, without_equals,
};

/// In which order a task goes through its transfers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Offsets {
    /// One after the other.
    #[default]
    InOrder,
    /// `-z`: each once, in random order.
    Shuffled,
    /// `-z -z`: drawn anew each time.
    Random,
}

/// `-D`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stonewall {
    /// When a phase stops.
    pub after: Nanos,
}

/// `-O summaryFormat=…`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Summary {
    /// Tables for people.
    #[default]
    Text,
    /// One object.
    Json,
    /// One line for each phase.
    Csv,
}

/// What is transferred, by how many.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shape {
    /// `-o`.
    pub file: String,
    /// `-N`; without it one.
    pub tasks: u32,
    /// `-b`, in bytes.
    pub block: u64,
    /// `-t`, in bytes.
    pub transfer: u64,
    /// `-s`.
    pub segments: u64,
    /// `-F`: each task has a file of its own.
    pub file_per_task: bool,
    /// `-z`.
    pub offsets: Offsets,
    /// `-C`: whether a task reads what the next one has written.
    pub reorders: bool,
    /// `-Q`.
    pub task_offset: u32,
    /// `-i`.
    pub repetitions: u32,
    /// `-A`.
    pub reference: u32,
    /// `-D`.
    pub stonewall: Option<Stonewall>,
    /// What becomes of tasks behind it.
    pub wear_out: WearOut,
    /// `-c`: of which the system calls of POSIX know nothing.
    pub collective: bool,
    /// `-Z`: 1, each task reads what a task that it draws has written; 2, each reads another one's.
    pub random_reorders: u32,
    /// `-X`.
    pub reorder_seed: i32,
    /// `-M`: bytes of memory that are held for as long as the tests run, on each host.
    pub hog: Option<Hog>,
}

/// How much memory is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hog {
    /// So many bytes.
    Bytes(u64),
    /// So many per cent of the host's memory.
    Percent(u32),
}

impl Hog {
    /// In bytes, of a host with so much memory.
    pub fn of(self, memory: u64) -> u64 {
        match self {
            Hog::Bytes(bytes) => bytes,
            Hog::Percent(percent) => memory / 100 * u64::from(percent),
        }
    }
}

impl Shape {
    /// Bytes of one task.
    pub fn of_task(&self) -> u64 {
        self.block.saturating_mul(self.segments)
    }

    /// Bytes of all tasks.
    pub fn total(&self) -> u64 {
        self.of_task().saturating_mul(self.tasks.into())
    }
}

/// A command line of IOR.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Command {
    /// As typed.
    pub words: Vec<String>,
    /// What is transferred.
    pub shape: Shape,
    /// `-w`.
    pub writes: bool,
    /// `-r`.
    pub reads: bool,
    /// `-W`: what was written is read and compared, beside the figures.
    pub checks_writes: bool,
    /// `-R`: what is read is compared.
    pub checks_reads: bool,
    /// `-k`.
    pub keeps: bool,
    /// `-E`: a file that is there is not made anew.
    pub uses_existing: bool,
    /// `-m`: each repetition has a file of its own.
    pub multi_file: bool,
    /// `-u`: each task's file is in a directory of its own.
    pub unique_dir: bool,
    /// `-e`.
    pub flushes: bool,
    /// `-Y`.
    pub flushes_each: bool,
    /// `--posix.odirect`.
    pub direct: bool,
    /// `--posix.rangelocks`: what is read or written is locked as long as that takes.
    pub locks: bool,
    /// `--randomPrefill`: each write phase first writes all in pieces of so many bytes.
    pub prefill: Option<u64>,
    /// `--dryRun`: nothing is carried out.
    pub is_dry: bool,
    /// `-j`: seconds from the mean at which a task is told of.
    pub outlier_s: Option<u32>,
    /// `-T`: no repetition begins later.
    pub within: Option<Nanos>,
    /// `-d`.
    pub delay: Option<Nanos>,
    /// Whether a launcher has started several processes for it.
    pub is_over_ranks: bool,
    /// `-G`, `-X`, `--random-offset-seed`: of random offsets, and of what is compared.
    pub seed: u32,
    /// `-O summaryFormat`.
    pub summary: Summary,
    /// `-O summaryFile`.
    pub summary_file: Option<String>,
    /// `-O savePerOpDataCSV`: how files of transfers are called, a file for each repetition and task.
    pub op_files: Option<String>,
    /// What was understood but changes nothing.
    pub notes: Vec<String>,
}

impl Command {
    /// Reads the arguments after the tool's name; `ranks` is how many processes carry it out together, where a launcher
    /// has started several.
    pub fn parse(arguments: &[String], ranks: Option<u32>) -> Result<Command, Refusal> {
        let mut draft = Draft { command: Command::new(arguments), tasks: None, shuffles: 0 };
        SYNTAX.read(&mut draft, &without_equals(arguments))?;
        check_op_files(TOOL, &draft.command.op_files, ranks)?;
        draft.finish(ranks)
    }

    /// That of no options.
    pub(super) fn new(arguments: &[String]) -> Command {
        let shape = Shape {
            file: "testFile".into(),
            tasks: 1,
            block: 1 << 20,
            transfer: 256 << 10,
            segments: 1,
            task_offset: 1,
            repetitions: 1,
            ..Shape::default()
        };
        Command { words: arguments.to_vec(), shape, ..Command::default() }
    }
}

pub(crate) struct Draft {
    pub(super) command: Command,
    tasks: Option<u32>,
    shuffles: u32,
}

impl Tasks for Draft {
    fn repetitions(&mut self) -> &mut u32 {
        &mut self.command.shape.repetitions
    }
}

pub(super) fn usage(what: impl Into<String>) -> Refusal {
    Refusal::usage(TOOL, what)
}

impl Draft {
    fn finish(self, ranks: Option<u32>) -> Result<Command, Refusal> {
        let Draft { mut command, tasks, shuffles } = self;
        command.shape.tasks = tasks_of(TOOL, "-N", tasks, ranks)?;
        command.is_over_ranks = ranks.is_some_and(|ranks| ranks > 1);
        command.shape.offsets = match shuffles {
            0 => Offsets::InOrder,
            1 => Offsets::Shuffled,
            _ => Offsets::Random,
        };
        // Nothing asked for is both.
        if !(command.writes || command.reads || command.checks_writes || command.checks_reads) {
            (command.writes, command.reads) = (true, true);
        }
        // A read that is compared is a read with its own line.
        command.reads |= command.checks_reads;
        command.check()?;
        debug_assert!(command.shape.tasks > 0 && command.shape.transfer > 0, "a task transfers something");
        debug_assert!(!command.checks_reads || command.reads, "what is compared is read");
        Ok(command)
    }
}

impl Command {
    fn check(&self) -> Result<(), Refusal> {
        let Shape { block, transfer, segments, tasks, .. } = self.shape;
        if !block.is_multiple_of(transfer) {
            return Err(usage(format!(
                "a block of {block} bytes is no multiple of a transfer of {transfer}; `-b` and `-t` say them"
            )));
        }
        if self.shape.total() > 1 << 60 {
            return Err(usage(format!("{tasks} tasks of {segments} segments of {block} bytes are too much")));
        }
        if self.shape.file.contains('@') {
            return Err(usage(
                "several files, with `@` between them, are not tested at once; name one with `-o`",
            ));
        }
        if self.unique_dir && !self.shape.file_per_task {
            return Err(usage("`-u` is for a file of each task's own; say `-F` too"));
        }
        self.check_order()?;
        self.check_wear_out()?;
        if self.shape.stonewall.is_some() && (self.checks_writes || self.checks_reads) {
            return Err(usage(
                "what a phase that `-D` ends has left out cannot be compared; leave `-W` and `-R` out",
            ));
        }
        Ok(())
    }

    /// That `-C`, `-Z`, `-z` and `--randomPrefill` go together.
    fn check_order(&self) -> Result<(), Refusal> {
        let Shape { tasks, block, random_reorders, reorders, offsets, file_per_task, .. } = self.shape;
        if random_reorders > 0 {
            let most = workload::plan::MOST_WORKLOADS;
            if reorders {
                return Err(usage("`-C` and `-Z` say both whose data a task reads; leave one out"));
            }
            if offsets != Offsets::InOrder && !file_per_task {
                return Err(usage(
                    "`-z` and `-Z` of a file that tasks share do not go together; say `-F`, or leave one out",
                ));
            }
            if self.is_over_ranks || tasks as usize > most {
                let what = format!(
                    "`-Z` is done by up to {most} tasks of one process; `-C` has the tasks of several hosts read what others wrote"
                );
                return Err(usage(what));
            }
        }
        let Some(prefill) = self.prefill else { return Ok(()) };
        if offsets == Offsets::InOrder {
            return Err(usage("`--randomPrefill` is for random offsets; say `-z` too"));
        }
        if !block.is_multiple_of(prefill) {
            return Err(usage(format!(
                "a block of {block} bytes is no multiple of the {prefill} of `--randomPrefill`"
            )));
        }
        match self.shape.stonewall {
            Some(_) => Err(usage(
                "`--randomPrefill` takes as long as it takes, which `-D` does not allow; leave one out",
            )),
            None => Ok(()),
        }
    }
}

pub(crate) const SYNTAX: Syntax<Draft> = Syntax {
    tool: TOOL,
    style: Style::Letters,
    any_case: false,
    notes: |draft| &mut draft.command.notes,
    options: &[Common::OPTIONS, OPTIONS],
    operand: |_, word| Err(usage(format!("`{word}` is not an option; `-o FILE` names the file"))),
};

const OPTIONS: &[Opt<Draft>] = &[
    number("-A", "a number that is printed in the summary", 0..=0x7FFF_FFFF, |draft, number| {
        draft.command.shape.reference = number;
    }),
    flag("-B", "as --posix.odirect: what it was called before IOR 4", |draft| draft.command.direct = true),
    parsed("-b", "SIZE", "bytes of a block, which is that of one task", |draft, given| {
        draft.command.shape.block = size(given)?;
        Ok(())
    }),
    flag("-c --collective", "printed as `collective`; system calls are the same, as there", |draft| {
        draft.command.shape.collective = true;
    }),
    flag(
        "-C",
        "over the hosts of `mpirun` each task reads what one on the next host has written; no effect on one host",
        |draft| {
            draft.command.shape.reorders = true;
        },
    ),
    parsed("-d", "S", "seconds between repetitions", |draft, given| {
        draft.command.delay = delay(given)?;
        Ok(())
    }),
    parsed("-D", "S", "seconds after which a phase stops", |draft, given| {
        let seconds = given.number(0..=1_000_000u32)?;
        let after = Nanos::from_secs(seconds.into());
        draft.command.shape.stonewall = (seconds > 0).then_some(Stonewall { after });
        Ok(())
    }),
    flag("-e", "flushes the file at the end of a phase that writes", |draft| draft.command.flushes = true),
    flag("-E", "writes into a file that is there", |draft| draft.command.uses_existing = true),
    unsupported("-f", "a script of several tests is one call of `fathom as ior` for each"),
    flag("-F", "a file for each task", |draft| draft.command.shape.file_per_task = true),
    ignored("-g", "all tasks start together once all files are open"),
    parsed("-G", "N", "the seed of what is compared", |draft, given| {
        draft.command.seed = seed_of(given)?;
        Ok(())
    }),
    number(
        "-j",
        "warns of each task whose time is so many seconds from the mean of all",
        0..=1_000_000,
        |draft, seconds| draft.command.outlier_s = (seconds > 0).then_some(seconds),
    ),
    flag("-k", "the files stay", |draft| draft.command.keeps = true),
    ignored("-K", "what is wrong is in the record, and the files go"),
    one_of(
        "-l --dataPacketType",
        "what is written",
        &[
            flag("offset o", "data that do not compress", |_| {}),
            flag("timestamp t", "data that do not compress", |_| {}),
            flag("incompressible i", "data that do not compress", |_| {}),
            flag("random r", "data that do not compress", |_| {}),
        ],
    ),
    flag("-m", "a file for each repetition", |draft| draft.command.multi_file = true),
    parsed("-M", "SIZE", "memory of each host that is held meanwhile, such as 2g or 75%", |draft, given| {
        draft.command.shape.hog = Some(hog(given)?);
        Ok(())
    }),
    number("-N", "tasks; under `mpirun` as many as processes", 0..=MOST_TASKS, |draft, tasks| {
        draft.tasks = Some(tasks);
    }),
    text("-o", "FILE", "the file, or a virtual array", |draft, file| draft.command.shape.file = file.into()),
    some_assigned(
        "-O",
        "KEY=VALUE,...",
        "directives by name: summaryFormat, summaryFile, savePerOpDataCSV (each transfer is a line of a file of its task), and the options above by their long names",
        super::directives::read,
    ),
    number("-Q", "how many hosts away is the task whose data `-C` reads", 1..=MOST_TASKS, |draft, tasks| {
        draft.command.shape.task_offset = tasks;
    }),
    flag("-r", "reads", |draft| draft.command.reads = true),
    flag("-R", "reads, and compares what comes back", |draft| draft.command.checks_reads = true),
    parsed("-s", "N", "segments", |draft, given| {
        draft.command.shape.segments = given.number(1..=1 << 40)?;
        Ok(())
    }),
    parsed("-t", "SIZE", "bytes of a transfer", |draft, given| {
        draft.command.shape.transfer = size(given)?;
        Ok(())
    }),
    number("-T", "minutes after which no repetition begins", 0..=1_000_000, |draft, minutes| {
        draft.command.within = (minutes > 0).then(|| Nanos::from_secs(60 * u64::from(minutes)));
    }),
    flag("-u", "each task's file is in a directory of its own", |draft| draft.command.unique_dir = true),
    flag("-w", "writes", |draft| draft.command.writes = true),
    flag("-W", "reads after writing, and compares", |draft| draft.command.checks_writes = true),
    ignored("-x", "what was moved in part is a failed request"),
    parsed("-X", "N", "the seed of `-Z`; a negative one moves on with the repetitions", |draft, given| {
        draft.command.shape.reorder_seed = given.number(i32::MIN + 1..=i32::MAX)?;
        Ok(())
    }),
    unsupported("-y", "a file system is mounted once; name its files with `-o`"),
    flag("-Y", "flushes after each write", |draft| draft.command.flushes_each = true),
    flag("-z", "transfers of a task in random order; twice: drawn anew each time", |draft| {
        draft.shuffles += 1;
    }),
    flag("-Z", "each task reads what a task has written that it draws; twice: each another one's", |draft| {
        draft.command.shape.random_reorders += 1;
    }),
    flag("--posix.odirect", "past the page cache", |draft| draft.command.direct = true),
    parsed("--random-offset-seed", "N", "the seed of `-z`", |draft, given| {
        draft.command.seed = seed_of(given)?;
        Ok(())
    }),
    parsed(
        "--randomPrefill",
        "SIZE",
        "with `-z`: what is written is filled in such pieces before",
        |draft, given| {
            draft.command.prefill = Some(size(given)?);
            Ok(())
        },
    ),
    flag("--dryRun", "prints what is printed without figures, and touches nothing", |draft| {
        draft.command.is_dry = true;
    }),
    ignored("--warningAsErrors", "what is not supported is refused anyway"),
    flag("--posix.rangelocks", "what is read or written is locked as long as that takes", |draft| {
        draft.command.locks = true;
    }),
];

fn size(given: &Given<'_>) -> Result<u64, Refusal> {
    given.read(
        |text| size_of(text).filter(|size| (1..=1 << 60).contains(size)),
        "a size from 1 byte on, such as 4k, 2m or 1g",
    )
}

/// A size, or a part of the memory in per cent.
fn hog(given: &Given<'_>) -> Result<Hog, Refusal> {
    let percent =
        |text: &str| text.trim_end().parse().ok().filter(|percent| *percent <= 100).map(Hog::Percent);
    let read = |text: &str| match text.strip_suffix('%') {
        Some(text) => percent(text),
        None => size_of(text).filter(|bytes| *bytes <= 1 << 50).map(Hog::Bytes),
    };
    given.read(read, "a size such as 2g, or a part of the memory such as 75%")
}
