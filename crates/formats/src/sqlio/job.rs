//! What a command of SQLIO comes to: the files with their sizes, and one phase over them.

use units::{Bytes, Nanos};
use workload::plan::MOST_WORKLOADS;

use super::options::{Access, Buffering, Command};
use super::{Line, TOOL};
use crate::plan::{Keys, Percent, PlanText};
use crate::target::with_luns;
use crate::translated::about;
use crate::{Refusal, TargetInfo, TranslatedJob};

/// The size that a file is given where nothing says one: in MiB, as the original's default pattern covers.
const DEFAULT_MIB: u64 = 8;

/// One file of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    /// Its name as typed.
    pub name: String,
    /// Threads that use it.
    pub threads: u32,
    /// Processors that they run on, as a mask; none set means any.
    pub mask: u64,
    /// The bytes that are used.
    pub size: u64,
    /// The size that it must have for them.
    pub needs: u64,
    /// Whether somebody said how many.
    pub is_specified: bool,
    /// What is there before.
    pub found: u64,
}

impl File {
    /// Whether it must be made larger before anything can be measured.
    pub fn expands(&self) -> bool {
        self.needs > self.found
    }
}

impl Command {
    /// The files with their sizes. `lines` are those of the parameter file, where there is one.
    pub fn files(&self, lines: &[Line], found: &[TargetInfo]) -> Result<Vec<File>, Refusal> {
        let lines = self.lines(lines);
        lines.iter().zip(found).map(|(line, found)| self.file(line, *found)).collect()
    }

    /// The lines of the parameter file, or one for each file that was named.
    pub fn lines(&self, of_file: &[Line]) -> Vec<Line> {
        match self.params {
            Some(_) => of_file.to_vec(),
            None => {
                let line = |name: &String| Line {
                    name: name.clone(),
                    threads: self.threads,
                    mask: self.mask,
                    size_mib: None,
                };
                self.named.iter().map(line).collect()
            }
        }
    }

    fn file(&self, line: &Line, found: TargetInfo) -> Result<File, Refusal> {
        let usage = |what: String| Refusal::usage(TOOL, what);
        let name = line.name.clone();
        let (size, is_specified) = match (self.access, line.size_mib) {
            (Access::Stripe { .. }, Some(_)) => {
                return Err(usage(format!("{name}: a size can be given with -frandom or -fsequential only")));
            }
            (Access::Stripe { blocks, rows }, None) => {
                ((u64::from(blocks) * u64::from(rows)).saturating_mul(self.block()), false)
            }
            (_, Some(mib)) => (mib << 20, true),
            (_, None) if found.size > self.start() => (found.size - self.start(), false),
            (_, None) => (DEFAULT_MIB << 20, false),
        };
        let needs = size.saturating_add(self.start());
        if found.is_fixed() && needs > found.size {
            let has = found.size;
            return Err(usage(format!("{name}: {needs} bytes are needed, and it has {has}")));
        }
        let (threads, mask) = (line.threads, line.mask);
        Ok(File { name, threads, mask, size, needs, is_specified, found: found.size })
    }

    /// The plan that asks for what the command asks for. `seed` differs from call to call.
    pub fn translate(&self, files: &[File], seed: u32) -> Result<TranslatedJob, Refusal> {
        if files.len() > MOST_WORKLOADS {
            let what = format!(
                "{} files are too many: at most {MOST_WORKLOADS} run together; leave some out, or measure them in another run",
                files.len()
            );
            return Err(Refusal::usage(TOOL, what));
        }
        let (direct, sync) = match self.buffering {
            Buffering::None => (true, "dsync"),
            Buffering::Both => (false, "none"),
            Buffering::Hardware => (true, "none"),
            Buffering::Software => (false, "dsync"),
        };
        // Only writes go through a cache that has to be told.
        let sync = if self.writes { sync } else { "none" };
        let mut plan = PlanText::new("sqlio", &about(TOOL, &self.words), Some(seed.into()));
        plan.phase(
            Keys::named("sqlio")
                .with("size", Bytes::new(self.block()))
                .with("reads", Percent(if self.writes { 0 } else { 100 }))
                .with("content", "zeros")
                .with("direct", direct)
                .with("sync", sync)
                .with("offset", Bytes::new(self.start()))
                .with("run", Nanos::from_secs(self.seconds.into())),
        );
        // Without -o a thread has one request, on one file after the other; with -o so many on each.
        if self.outstanding.is_none() && self.params.is_none() && files.len() > 1 {
            plan.workload(self.in_turn(files)?);
        } else {
            for (number, file) in (1..).zip(files) {
                let on = (files.len() > 1).then_some(number);
                plan.workload(self.workload(number, file)?.maybe("on", on));
            }
        }
        let targets = with_luns(files.iter().map(|file| file.name.clone()).collect());
        Ok(TranslatedJob { plan: plan.text(), targets, notes: self.notes.clone() })
    }

    fn workload(&self, number: usize, file: &File) -> Result<Keys, Refusal> {
        assert!(number > 0 && file.threads > 0, "files are counted from 1, and have a thread each");
        let keys = Keys::named(&format!("file {number}"))
            .with("workers", file.threads)
            .with("depth", self.outstanding.unwrap_or(1));
        let keys = match self.access {
            Access::Stripe { blocks, rows } if file.threads > 1 => {
                keys.and(self.columns(blocks, rows, file.threads)?)
            }
            _ => {
                let span = Bytes::new(file.size / self.block() * self.block());
                keys.with("span", span).with("pattern", self.pattern(file.threads)?)
            }
        };
        Ok(keys.maybe("cpus", cpus(file.mask)))
    }

    /// The part of each of several threads in a stripe, and how it goes through that: as many columns as every other.
    fn columns(&self, blocks: u32, rows: u32, threads: u32) -> Result<Keys, Refusal> {
        let usage = |what: String| Refusal::usage(TOOL, what);
        if blocks < threads {
            return Err(usage(format!(
                "{threads} threads have no column each in rows of {blocks} blocks; raise -f"
            )));
        }
        if !blocks.is_multiple_of(threads) {
            return Err(usage(format!(
                "{threads} threads do not divide {blocks} columns evenly; let -f be a multiple of -t"
            )));
        }
        let (row, width) = (u64::from(blocks) * self.block(), u64::from(blocks / threads) * self.block());
        assert!(rows > 0, "a stripe has a row at least");
        let span = u64::from(rows - 1).saturating_mul(row).saturating_add(width);
        let keys = Keys::default().with("span", Bytes::new(span)).with("worker_offset", Bytes::new(width));
        Ok(keys.with("pattern", format!("columns({row}B, {width}B)")))
    }

    fn in_turn(&self, files: &[File]) -> Result<Keys, Refusal> {
        let usage = |what: &str| Refusal::usage(TOOL, what);
        assert!(!files.is_empty(), "files are visited in turn");
        let size = files[0].size;
        if files.iter().any(|file| file.size != size) {
            return Err(usage(
                "files of one size are visited in turn; with `-o1` each has requests of its own",
            ));
        }
        if matches!(self.access, Access::Stripe { .. }) {
            return Err(usage("several files are visited with -frandom or -fsequential only"));
        }
        let span = size / self.block() * self.block() * files.len() as u64;
        Ok(Keys::named("all files")
            .with("workers", self.threads)
            .with("depth", 1u32)
            .with("span", Bytes::new(span))
            .with("luns", format!("striped({}KiB)", self.block_kib))
            .with("pattern", self.pattern(self.threads)?)
            .maybe("cpus", cpus(self.mask)))
    }

    fn pattern(&self, threads: u32) -> Result<String, Refusal> {
        Ok(match self.access {
            Access::Random => "random(repeats)".into(),
            Access::Sequential if threads == 1 => "sequential".into(),
            Access::Sequential => "sequential(interlocked)".into(),
            Access::Stripe { blocks: 1, .. } => "sequential".into(),
            Access::Stripe { blocks, .. } => format!("stride({}B)", u64::from(blocks) * self.block()),
        })
    }

    /// Bytes of a request.
    pub fn block(&self) -> u64 {
        assert!(self.block_kib > 0, "a request has a KiB at least");
        u64::from(self.block_kib) << 10
    }

    /// Where the used part begins, in bytes.
    pub fn start(&self) -> u64 {
        self.start_block.saturating_mul(self.block())
    }
}

fn cpus(mask: u64) -> Option<String> {
    let set: Vec<String> = (0..64).filter(|cpu| mask >> cpu & 1 == 1).map(|cpu| cpu.to_string()).collect();
    (!set.is_empty()).then(|| set.join(","))
}
