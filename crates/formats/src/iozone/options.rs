//! IOzone's options.
//!
//! Letters as its documentation lists them: each is supported, accepted because it changes no request, or refused by
//! name.

mod tables;

use super::figure::Unit;
use super::grid::Grid;
use super::telemetry::Telemetry;
use super::{TOOL, usage};
use workload::plan::MOST_WORKLOADS;
use workload::plan::text::LARGEST_REQUEST;

use crate::Refusal;
use crate::options::{Style, Syntax};

use tables::{CHILDREN, FILES, REPORTS, REQUESTS, SIZES, TESTS, UNSUPPORTED};

/// No request of a plan is longer.
const RECORD_MOST_KIB: u64 = LARGEST_REQUEST.get() >> 10;
/// No file is larger.
const FILE_MOST_KIB: u64 = (i64::MAX as u64) >> 10;
/// A phase has no more workloads.
#[expect(clippy::cast_possible_truncation, reason = "a constant, which converts by `as`: 64")]
pub(super) const CHILDREN_MOST: u32 = MOST_WORKLOADS as u32;

/// Flush or close within the timed part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Included {
    /// `-e`.
    pub flush: bool,
    /// `-c`.
    pub close: bool,
}

/// A command line of IOzone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Command {
    /// As typed.
    pub words: Vec<String>,
    /// Sizes.
    pub grid: Grid,
    /// Numbers of the tests that were selected; empty for all.
    pub tests: Vec<u8>,
    /// `-f`.
    pub file: Option<String>,
    /// `-F`.
    pub files: Vec<String>,
    /// How many children the throughput tests have, one test after the other; empty for a single stream.
    pub children: Vec<u32>,
    /// `-T`.
    pub threads: bool,
    /// `-C`.
    pub shows_children: bool,
    /// `-x`: who is finished does not stop the others.
    pub no_stonewall: bool,
    /// `-d`: microseconds from the beginning of one child to that of the next.
    pub stagger_us: u64,
    /// `-+k`: all children together write as much as `-s` says.
    pub divides: bool,
    /// `-+V`: all children use the same file.
    pub shares_file: bool,
    /// `-I`.
    pub direct: bool,
    /// `-o`: `sync`; `-+D`: `dsync`.
    pub sync: Option<&'static str>,
    /// `-e` and `-c`.
    pub included: Included,
    /// `-B`.
    pub mapped: bool,
    /// `-G`: a mapping is written back after each record.
    pub flushes_each: bool,
    /// `-J`: milliseconds before each record, which are in no figure.
    pub compute_ms: u64,
    /// `-k` and `-H`: requests in flight.
    pub depth: Option<u32>,
    /// `-V`: the byte that is written, and that everything read must be.
    pub pattern: Option<u8>,
    /// `-+l`, `-+L`: each record is locked for as long as it is read or written.
    pub locks: bool,
    /// `-+d`: each record has data of its own, and what is read must be what was written.
    pub diagnoses: bool,
    /// `-+y`, `-+C`: percent of each record that repeats.
    pub repeats: u32,
    /// `-+w`: percent of each record that is the same in every file, which one file cannot show.
    pub repeats_across: u32,
    /// `-Q`: offset and latency of each record of the write and read passes go to files.
    pub latencies: bool,
    /// `-X`: what the write passes ask for.
    pub write_telemetry: Option<Telemetry>,
    /// `-Y`: what the read passes ask for.
    pub read_telemetry: Option<Telemetry>,
    /// `-w`.
    pub keep: bool,
    /// `-+n`.
    pub no_retest: bool,
    /// `-+E`: the file is the user's, and only read.
    pub only_reads: bool,
    /// `-+N`: a file is written where it is instead of anew.
    pub keeps_old: bool,
    /// `-U`: the page cache forgets the file before each pass.
    pub forgets: bool,
    /// `-+q`: seconds before each pass.
    pub pause_s: u64,
    /// `-j`: records from one to the next of a stride.
    pub stride: u64,
    /// `-+p`: percent of the children that read in the mixed workload.
    pub mixed_readers: Option<u32>,
    /// `-+K`: so many children read in the mixed workload.
    pub mixed_reader_count: Option<u32>,
    /// `-+B`: the mixed workload is sequential.
    pub mixes_in_sequence: bool,
    /// `-P`: the first processor.
    pub first_cpu: Option<u32>,
    /// `-O` and `-N`.
    pub unit: Unit,
    /// `-R`.
    pub excel: bool,
    /// `-+u`: processor time of each pass.
    pub shows_cpu: bool,
    /// `-b`.
    pub workbook: Option<String>,
    /// `-S` and `-L`, which are only printed.
    pub cache: (u64, u64),
    /// One line for each option that IOzone announces.
    pub announced: Vec<String>,
    /// What was understood but changes nothing.
    pub notes: Vec<String>,
}

impl Command {
    /// Reads the arguments after the tool's name.
    pub fn parse(arguments: &[String]) -> Result<Command, Refusal> {
        if arguments.is_empty() {
            let what = "no test was given; `fathom as iozone -a` measures the automatic grid, `-s 1g -r 64k` one size";
            return Err(usage(what));
        }
        let command =
            Command { words: arguments.to_vec(), stride: 17, cache: (1024, 32), ..Command::default() };
        let mut draft = Draft { command, least: None, most: None, sizes_given: false };
        SYNTAX.read(&mut draft, arguments)?;
        draft.finish()
    }

    /// Whether the tests of that number were selected.
    pub fn selects(&self, test: u8) -> bool {
        match &self.tests[..] {
            // Tests 9 to 12 are an extension and have to be asked for.
            [] => test < 8 || !self.children.is_empty() && matches!(test, 8..=10),
            tests => tests.contains(&test),
        }
    }
}

pub(crate) struct Draft {
    command: Command,
    /// `-l` and `-u`.
    least: Option<u32>,
    most: Option<u32>,
    /// Record sizes of the user's own.
    sizes_given: bool,
}

pub(crate) const SYNTAX: Syntax<Draft> = Syntax {
    tool: TOOL,
    style: Style::Letters,
    any_case: false,
    notes: |draft| &mut draft.command.notes,
    options: &[SIZES, TESTS, FILES, REQUESTS, CHILDREN, REPORTS, UNSUPPORTED],
    // As getopt leaves them: IOzone looks at none of them.
    operand: |draft, word| {
        draft.note(&format!("`{word}` is not an option, and IOzone ignores it; `-f FILE` names a file"));
        Ok(())
    },
};

impl Draft {
    /// Announces `line`; the command, of which it tells.
    fn says(&mut self, line: &str) -> &mut Command {
        self.command.announced.push(line.into());
        &mut self.command
    }

    fn note(&mut self, text: &str) {
        self.command.notes.push(text.into());
    }

    fn size(&mut self, line: &str) -> Result<(), Refusal> {
        self.sizes_given = true;
        self.says(line);
        Ok(())
    }

    fn asynchronous(&mut self, depth: u32, copies: &str) {
        self.says(&format!("POSIX Async I/O ({copies}). Depth {depth} ")).depth = Some(depth);
    }

    fn unit(&mut self, unit: Unit) {
        self.says(unit.sentence()).unit = unit;
    }

    fn finish(mut self) -> Result<Command, Refusal> {
        if self.least.is_some() || self.most.is_some() {
            // One alone: from one child, or as many as the least.
            let least = self.least.unwrap_or(1);
            let most = self.most.unwrap_or(least);
            if least > most {
                return Err(usage(&format!("`-l {least}` is more than `-u {most}`")));
            }
            self.says(&format!("Min process = {least} "));
            self.says(&format!("Max process = {most} ")).children.extend(least..=most);
        }
        self.settle_throughput();
        self.check_data()?;
        let command = &mut self.command;
        command.grid.crossover &= !self.sizes_given;
        let (is_mapped, is_queued) = (command.mapped, command.depth.is_some());
        let wrong = [
            (
                is_mapped && command.direct,
                "a mapping (`-B`) always goes through the page cache, so that `-I` contradicts it",
            ),
            (
                command.locks && (is_mapped || is_queued),
                "`-+l` and `-+L` lock each record for one call, so that `-B`, `-k` and `-H` contradict them",
            ),
            (
                is_mapped && is_queued,
                "a mapping (`-B`) answers one request at a time, so that `-k` and `-H` contradict it",
            ),
        ];
        Refusal::check(TOOL, &wrong)?;
        if command.children.is_empty() {
            self.check_single()?;
        } else {
            self.check_throughput()?;
        }
        Ok(self.command)
    }

    /// Of several children the size and the record that were said last hold, and test 12, which this mode does not have, is test
    /// 0.
    fn settle_throughput(&mut self) {
        let command = &mut self.command;
        if command.children.is_empty() {
            return;
        }
        for sizes in [&mut command.grid.only_files, &mut command.grid.only_records] {
            sizes.drain(..sizes.len().saturating_sub(1));
        }
        if command.tests.contains(&12) {
            command.tests.push(0);
            command.announced.insert(0, "Selected test not available on the version.".into());
        }
    }

    /// What is written and read back fits together.
    fn check_data(&self) -> Result<(), Refusal> {
        let command = &self.command;
        let repeats = command.repeats > 0 || command.repeats_across > 0;
        let wrong = [
            (
                command.diagnoses && (repeats || command.pattern.is_some()),
                "`-+d` writes data of its own, so that `-V`, `-+w`, `-+y` and `-+C` contradict it",
            ),
            (
                command.pattern.is_some() && command.repeats > 0,
                "`-V` writes one byte, so that `-+y` and `-+C` contradict it",
            ),
        ];
        Refusal::check(TOOL, &wrong)?;
        if command.repeats_across > 0 && !command.children.is_empty() {
            let why = "each child writes data of its own; `-+C` repeats within a file";
            return Err(Refusal::unsupported(TOOL, if command.repeats > 0 { "-+y" } else { "-+w" }, why));
        }
        let (only_reads, tests) = (command.only_reads, &command.tests);
        let writes = tests.iter().any(|test| matches!(test, 0 | 4 | 6 | 8 | 9 | 11));
        let is_nameless = command.file.is_none() && command.files.is_empty();
        let wrong = [
            (
                command.compute_ms > 0 && command.depth.is_some(),
                "`-J` waits before each record, so that `-k` and `-H` contradict it",
            ),
            (only_reads && writes, "`-+E` reads a file of yours; leave out every test that writes"),
            (
                only_reads && tests.is_empty(),
                "`-+E` needs tests that read: `-i 1`, `-i 2`, `-i 3`, `-i 5`, `-i 7`",
            ),
            (
                only_reads && is_nameless,
                "`-+E` needs the name of the file: `-f FILE`, with `-t` `-F FILE...`",
            ),
        ];
        Refusal::check(TOOL, &wrong)
    }

    fn check_single(&self) -> Result<(), Refusal> {
        let command = &self.command;
        let follows = command.telemetry().next().is_some();
        if follows && (command.mapped || command.pattern.is_some() || command.depth.is_some()) {
            return Err(usage(
                "telemetry (`-X`, `-Y`) is replayed with plain reads and writes; leave `-B`, `-V`, `-k` and `-H` out",
            ));
        }
        if !command.files.is_empty() {
            return Err(usage("`-F` names the files of the children of `-t`; one file is named with `-f`"));
        }
        if command.tests == [8] {
            return Err(usage("test 8, the mixed workload, needs several children: use `-t`"));
        }
        if let (Some(file), Some(record)) =
            (command.grid.file_sizes().iter().max(), command.grid.record_sizes().iter().min())
            && record > file
        {
            return Err(usage(&format!("no file of {file} kB holds a record of {record} kB")));
        }
        if command.grid.pairs().is_empty() {
            return Err(usage("there is no size between the smallest and the largest given"));
        }
        Ok(())
    }

    fn check_throughput(&self) -> Result<(), Refusal> {
        let command = &self.command;
        let single = [
            ("-Q", command.latencies),
            ("-X", command.write_telemetry.is_some()),
            ("-Y", command.read_telemetry.is_some()),
        ];
        if let Some((option, _)) = single.into_iter().find(|(_, given)| *given) {
            let why = "it measures a single stream; leave `-t`, `-l` and `-u` out";
            return Err(Refusal::unsupported(TOOL, option, why));
        }
        if command.grid.auto {
            return Err(usage("`-a` measures one stream and `-t` several; use one of them"));
        }
        let [_] = command.grid.pairs()[..] else {
            return Err(usage("the throughput test has one `-s` and one `-r`, which fits into it"));
        };
        let most = command.children.iter().copied().max().unwrap_or_default() as usize;
        let named = command.files.len();
        if named > 0 && named < most && !command.shares_target() && !command.shares_file {
            return Err(usage(&format!("`-F` names {named} files, and there are up to {most} children")));
        }
        Ok(())
    }
}
