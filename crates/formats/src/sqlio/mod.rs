//! SQLIO 1.5: one kind of request, threads on each file, so many of them outstanding on each.
//!
//! The original's default pattern is a stripe: rows of `-f` blocks, `-i` of them; column after column is touched.
//! Several threads have as many columns each, one beside the other.

mod options;
mod output;
mod params;

pub use options::{Access, Buffering, Command};
pub use output::{Figures, OUTPUT, initialised, preamble, result};
pub use params::{JOB_FILE, Line, read as read_params};

use workload::plan::MOST_WORKLOADS;

use crate::{Refusal, TranslatedJob, quoted};

const TOOL: &str = "sqlio";

/// The size that a file is given where nothing says one: in MiB, as the original's default pattern covers.
const DEFAULT_MIB: u64 = 8;

/// What was found where a file is named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Found {
    /// Its size; zero for a file that is not there.
    pub size: u64,
    /// Its size cannot change: a device or a virtual array.
    pub fixed: bool,
}

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
    pub fn files(&self, lines: &[Line], found: &[Found]) -> Result<Vec<File>, Refusal> {
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

    fn file(&self, line: &Line, found: Found) -> Result<File, Refusal> {
        let usage = |what: String| Refusal::Usage { tool: TOOL, what };
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
        if found.fixed && needs > found.size {
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
                "{} files are too many: at most {MOST_WORKLOADS} are asked together; leave some out, or ask for them in another run",
                files.len()
            );
            return Err(Refusal::Usage { tool: TOOL, what });
        }
        let about = quoted(&format!("what `sqlio {}` asks for", self.words.join(" ")));
        let (direct, sync) = match self.buffering {
            Buffering::None => (true, "dsync"),
            Buffering::Both => (false, "none"),
            Buffering::Hardware => (true, "none"),
            Buffering::Software => (false, "dsync"),
        };
        // Only writes go through a cache that has to be told.
        let sync = if self.writes { sync } else { "none" };
        let mut plan = format!(
            "name  = \"sqlio\"\nabout = {about}\nseed  = {seed}\n\n[[phase]]\nname    = \"sqlio\"\nsize    = \"{}KiB\"\n\
             reads   = \"{}\"\ncontent = \"zeros\"\ndirect  = {direct}\nsync    = \"{sync}\"\noffset  = \"{}B\"\nrun     = \"{}s\"\n",
            self.block_kib,
            if self.writes { "0%" } else { "100%" },
            self.start(),
            self.seconds,
        );
        // Without -o a thread has one request, on one file after the other; with -o so many on each.
        if self.outstanding.is_none() && self.params.is_none() && files.len() > 1 {
            plan += &self.in_turn(files)?;
        } else {
            for (number, file) in (1..).zip(files) {
                let on = if files.len() > 1 { format!("on      = {number}\n") } else { String::new() };
                plan += &self.workload(number, &on, file)?;
            }
        }
        let mut targets: Vec<String> = files.iter().map(|file| file.name.clone()).collect();
        // Lines that name one virtual array have its LUNs, one after the other.
        if targets[0].starts_with("array:") && targets.iter().all(|target| *target == targets[0]) {
            targets.truncate(1);
        }
        Ok(TranslatedJob { plan, targets, notes: self.notes.clone() })
    }

    fn workload(&self, number: usize, on: &str, file: &File) -> Result<String, Refusal> {
        let (span, pattern) = match self.access {
            Access::Stripe { blocks, rows } if file.threads > 1 => {
                self.columns(blocks, rows, file.threads)?
            }
            _ => {
                let span = file.size / self.block() * self.block();
                (format!("span    = \"{span}B\"\n"), self.pattern(file.threads)?)
            }
        };
        Ok(format!(
            "\n[[phase.workload]]\nname    = \"file {number}\"\n{on}workers = {}\ndepth   = {}\n{span}\
             pattern = \"{pattern}\"\n{}",
            file.threads,
            self.outstanding.unwrap_or(1),
            cpus(file.mask)
        ))
    }

    /// The part of each of several threads in a stripe, and how it goes through that: as many columns as every other.
    fn columns(&self, blocks: u32, rows: u32, threads: u32) -> Result<(String, String), Refusal> {
        let usage = |what: String| Refusal::Usage { tool: TOOL, what };
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
        let span = u64::from(rows - 1).saturating_mul(row).saturating_add(width);
        let place = format!("span    = \"{span}B\"\nworker_offset = \"{width}B\"\n");
        Ok((place, format!("columns({row}B, {width}B)")))
    }

    fn in_turn(&self, files: &[File]) -> Result<String, Refusal> {
        let usage = |what: &str| Refusal::Usage { tool: TOOL, what: what.into() };
        let size = files[0].size;
        if files.iter().any(|file| file.size != size) {
            return Err(usage(
                "files of one size are visited in turn; with `-o1` each has requests of its own",
            ));
        }
        if matches!(self.access, Access::Stripe { .. }) {
            return Err(usage("several files are visited with -frandom or -fsequential only"));
        }
        Ok(format!(
            "\n[[phase.workload]]\nname    = \"all files\"\nworkers = {}\ndepth   = 1\nspan    = \"{}B\"\nluns    = \"striped({}KiB)\"\n\
             pattern = \"{}\"\n{}",
            self.threads,
            size / self.block() * self.block() * files.len() as u64,
            self.block_kib,
            self.pattern(self.threads)?,
            cpus(self.mask)
        ))
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
        u64::from(self.block_kib) << 10
    }

    /// Where the used part begins, in bytes.
    pub fn start(&self) -> u64 {
        self.start_block.saturating_mul(self.block())
    }
}

fn cpus(mask: u64) -> String {
    let set: Vec<String> = (0..64).filter(|cpu| mask >> cpu & 1 == 1).map(|cpu| cpu.to_string()).collect();
    match set.is_empty() {
        true => String::new(),
        false => format!("cpus    = \"{}\"\n", set.join(",")),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn parse(line: &str) -> Command {
        Command::parse(&line.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
            .unwrap_or_else(|refusal| panic!("{line}: {refusal}"))
    }

    fn found(sizes: &[u64]) -> Vec<Found> {
        sizes.iter().map(|size| Found { size: *size, fixed: false }).collect()
    }

    #[test]
    fn every_order_is_a_plan_with_what_was_asked() {
        let cases = [
            ("-kR -s10 -frandom -o8 -b8 -LS -BH a", vec![1u64 << 30]),
            ("-kW -s360 -fsequential -o64 -b256 -t4 a b", vec![1 << 30, 2 << 30]),
            ("-kR -frandom a b c", vec![1 << 30, 1 << 30, 1 << 30]),
            ("a", vec![0]),
            ("-t4 -f64 -i32 a", vec![0]),
            ("-kW -BY -p0 -f1 a", vec![0]),
            ("-S4 -fsequential -b64 -BS -t2 a", vec![1 << 30]),
        ];
        for (line, sizes) in cases {
            let command = parse(line);
            let files = command.files(&[], &found(&sizes)).unwrap();
            let order = command.translate(&files, 3).unwrap();
            let plan = workload::plan::Plan::parse("sqlio", &order.plan, &Default::default())
                .unwrap_or_else(|errors| panic!("{line}: {}\n{}", errors.plain(), order.plan));
            assert_eq!(plan.estimate().changes_data, command.writes, "{line}");
            for workload in plan.points()[0].workloads() {
                assert_eq!(
                    (workload.workers, workload.sizes.largest().get()),
                    (command.threads, command.block())
                );
                assert_eq!(workload.depth, command.outstanding.unwrap_or(1));
            }
        }
    }

    #[test]
    fn sizes_come_from_the_line_the_file_or_the_pattern() {
        let command = parse("-kR -frandom -Fparam.txt");
        let lines = params::read("param.txt", "a 2 0x3 100\nb 4\nc 1\n").unwrap();
        let files = command.files(&lines, &found(&[1 << 20, 7 << 20, 0])).unwrap();
        let sizes: Vec<(u64, bool, bool)> =
            files.iter().map(|file| (file.size >> 20, file.is_specified, file.expands())).collect();
        assert_eq!(sizes, [(100, true, true), (7, false, false), (8, false, true)]);
        assert!(parse("-kR -Fparam.txt").files(&lines, &found(&[0, 0, 0])).is_err(), "a size with a stripe");
        let stripe = parse("a");
        assert_eq!(stripe.files(&[], &found(&[0])).unwrap()[0].size, 8 << 20);
        let fixed = [Found { size: 1 << 20, fixed: true }];
        assert!(stripe.files(&[], &fixed).is_err());
        let uneven = parse("-t3 a");
        let refused = uneven.translate(&uneven.files(&[], &found(&[0])).unwrap(), 1).expect_err("64 by 3");
        assert!(refused.to_string().contains("3 threads do not divide 64 columns"), "{refused}");
    }

    #[test]
    fn threads_have_columns_of_a_stripe_one_beside_the_other() {
        let command = parse("-t4 -f64 -i64 -b2 a");
        let order = command.translate(&command.files(&[], &found(&[0])).unwrap(), 1).unwrap();
        let plan = workload::plan::Plan::parse("sqlio", &order.plan, &Default::default()).unwrap();
        let specs =
            workload::compile(&plan.points()[0].workloads()[0], &[units::Bytes::new(8 << 20)]).unwrap();
        let kib = |kib: u64| units::Bytes::new(kib << 10);
        let step_and_width = workload::spec::Pattern::Columns { step: kib(128), width: kib(32) };
        assert!(specs.iter().all(|spec| spec.pattern == step_and_width));
        let regions: Vec<_> = specs.iter().map(|spec| (spec.region.start, spec.region.len)).collect();
        let expected: Vec<_> = (0..4).map(|thread| (kib(32 * thread), kib(63 * 128 + 32))).collect();
        assert_eq!(regions, expected);
    }

    proptest! {
        #[test]
        fn no_words_make_it_panic(words in proptest::collection::vec("-?[ -~]{0,8}", 0..6), text in "[ -~\n]{0,60}") {
            let lines = params::read("p", &text).unwrap_or_default();
            if let Ok(command) = Command::parse(&words) {
                let found = vec![Found { size: 1 << 40, fixed: false }; 9];
                if let Ok(files) = command.files(&lines, &found) && !files.is_empty() {
                    let _ = command.translate(&files, 1);
                }
            }
        }
    }
}
