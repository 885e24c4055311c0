//! diskspd 2.0: threads on each target, each with so many requests outstanding and a pattern of its own.
//!
//! A thread is a workload of its own in the plan, so that the record has its latencies apart, as the tool's table has
//! them. Threads that take turns in one stream (`-si`) are one workload, and one row; so are those of a target when
//! there are more than a phase has workloads.

mod options;
mod profile;
mod text;
mod totals;
mod xml;

pub use options::{Access, Buffers, Command, Format};
pub use profile::arguments as profile_arguments;
pub use text::{OUTPUT, text};
pub use totals::Row;
pub use xml::{OUTPUT_XML, xml};

use units::convert::narrow;
use workload::plan::MOST_WORKLOADS;

use crate::{Refusal, TranslatedJob, quoted};

const TOOL: &str = "diskspd";

/// What was found where a target is named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Found {
    /// Its size; zero for a file that is not there.
    pub size: u64,
    /// Its size cannot change: a device or a virtual array.
    pub fixed: bool,
}

/// One workload of the plan: a thread, or the threads that take turns, on one target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// The thread's number, of several the first.
    pub thread: u32,
    /// How many take turns.
    pub threads: u32,
    /// The target's place among those named.
    pub target: usize,
}

impl Command {
    /// The size of each target, with `-c` the one asked for.
    pub fn sizes(&self, found: &[Found]) -> Result<Vec<u64>, Refusal> {
        let usage = |what: String| Refusal::Usage { tool: TOOL, what };
        let one = |(name, found): (&String, &Found)| match self.create {
            Some(_) if found.fixed => Err(usage(format!("{name} is no file that `-c` could create"))),
            Some(size) => Ok(size),
            None if found.size == 0 => {
                Err(usage(format!("{name} is empty or not there; `-c` and a size creates it")))
            }
            None => Ok(found.size),
        };
        self.targets.iter().zip(found).map(one).collect()
    }

    /// Who does what, in the order of threads.
    pub fn parts(&self) -> Vec<Part> {
        let targets = 0..self.targets.len();
        let each = self.total_threads.unwrap_or(self.threads) as usize;
        let together =
            self.access == Access::Interlocked || each.saturating_mul(targets.len()) > MOST_WORKLOADS;
        match (together, self.total_threads) {
            (true, total) => {
                let threads = total.unwrap_or(self.threads);
                let first = |target: usize| if total.is_some() { 0 } else { narrow::<u32>(target) * threads };
                targets.map(|target| Part { thread: first(target), threads, target }).collect()
            }
            (_, Some(total)) => (0..total)
                .flat_map(|thread| targets.clone().map(move |target| Part { thread, threads: 1, target }))
                .collect(),
            (_, None) => targets
                .flat_map(|target| {
                    (0..self.threads).map(move |index| Part {
                        thread: narrow::<u32>(target) * self.threads + index,
                        threads: 1,
                        target,
                    })
                })
                .collect(),
        }
    }

    /// Threads in all.
    pub fn thread_count(&self) -> u32 {
        self.total_threads.unwrap_or(self.threads.saturating_mul(narrow::<u32>(self.targets.len())))
    }

    /// What writes contain, as a plan says it.
    fn content(&self) -> String {
        match self.buffers {
            Buffers::Random | Buffers::Source(_) => "random".into(),
            Buffers::Zeros => "zeros".into(),
            Buffers::Pattern => {
                let digits: String = (0..=255).map(|byte| format!("{byte:02x}")).collect();
                format!("pattern({digits})")
            }
        }
    }

    /// The plan that asks for what the command asks for, on targets of these `sizes`.
    pub fn translate(&self, sizes: &[u64]) -> Result<TranslatedJob, Refusal> {
        let usage = |what: String| Refusal::Usage { tool: TOOL, what };
        let parts = self.parts();
        if parts.len() > MOST_WORKLOADS {
            return Err(usage(format!("at most {MOST_WORKLOADS} targets")));
        }
        if matches!(self.access, Access::Sequential(_)) && parts.iter().any(|part| part.threads > 1) {
            let why = "more than 64 streams, each by itself, are not; use -si, -r or fewer threads";
            return Err(Refusal::Unsupported { tool: TOOL, option: "-s".into(), why: why.into() });
        }
        let about = quoted(&format!("what `diskspd {}` asks for", self.words.join(" ")));
        let mut plan = format!(
            "name  = \"diskspd\"\nabout = {about}\nseed  = {}\n\n[[phase]]\nname     = \"diskspd\"\nsize     = \"{}B\"\n\
             reads    = \"{}%\"\ndepth    = {}\ndirect   = {}\nsync     = \"{}\"\ncontent  = \"{}\"\nwarmup   = \"{}s\"\n\
             run      = \"{}s\"\ncooldown = \"{}s\"\nhuge_pages = {}\n",
            // A plan's seeds begin at 1.
            u64::from(self.seed.unwrap_or(0)) + 1,
            self.block,
            100 - self.writes,
            self.outstanding,
            self.direct,
            if self.through && self.writes > 0 { "dsync" } else { "none" },
            self.content(),
            self.warmup,
            self.seconds,
            self.cooldown,
            self.large_pages,
        );
        for part in &parts {
            plan += &self.workload(part, sizes[part.target])?;
        }
        let mut targets = self.targets.clone();
        // One virtual array named several times has its LUNs, one after the other.
        if targets[0].starts_with("array:") && targets.iter().all(|target| *target == targets[0]) {
            targets.truncate(1);
        }
        Ok(TranslatedJob { plan, targets, notes: self.notes.clone() })
    }

    fn workload(&self, part: &Part, size: u64) -> Result<String, Refusal> {
        // Threads of one target are told apart from its first.
        let index = match self.total_threads {
            Some(_) => part.thread,
            None => part.thread - narrow::<u32>(part.target) * self.threads,
        };
        let start = self.base.saturating_add(self.thread_stride.saturating_mul(u64::from(index)));
        let end = self.most.map_or(size, |most| most.min(size));
        let room = end.saturating_sub(start);
        if room < self.block {
            let name = &self.targets[part.target];
            let what =
                format!("{name}: {end} bytes leave no room for a block of {} from {start} on", self.block);
            return Err(Refusal::Usage { tool: TOOL, what });
        }
        let (pattern, align) = match self.access {
            Access::Random(align) => ("random(repeats)".into(), align),
            Access::Interlocked if part.threads > 1 => ("sequential(interlocked)".into(), self.block),
            Access::Sequential(stride) if stride > self.block => (format!("stride({stride}B)"), self.block),
            Access::Sequential(_) | Access::Interlocked => ("sequential".into(), self.block),
        };
        let mut text = format!(
            "\n[[phase.workload]]\nname    = \"{}\"\nworkers = {}\npattern = \"{pattern}\"\noffset  = \"{start}B\"\nspan    = \
             \"{}B\"\n",
            part.name(),
            part.threads,
            room / self.block * self.block,
        );
        if self.targets.len() > 1 {
            text += &format!("on      = {}\n", part.target + 1);
        }
        // Counted from the offset when it is left out; blocks lie one after the other from there.
        if align != self.block {
            text += &format!("align   = \"{align}B\"\n");
        }
        if let Some(cpu) =
            self.cpus.get(part.thread as usize % self.cpus.len().max(1)).filter(|_| !self.no_affinity)
        {
            text += &format!("cpus    = \"{cpu}\"\n");
        }
        if let Some(rate) = self.throughput {
            text += &format!("pace    = \"cap({}B/s)\"\n", u64::from(rate) * 1000 * u64::from(part.threads));
        }
        if let Some((burst, pause)) = self.bursts {
            text += &format!("pace    = \"think({pause}ms, {burst})\"\n");
        }
        Ok(text)
    }
}

impl Part {
    /// What its workload is called.
    pub fn name(&self) -> String {
        format!("thread {} on {}", self.thread, self.target + 1)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn parse(line: &str) -> Command {
        Command::parse(&line.split_whitespace().map(str::to_owned).collect::<Vec<_>>(), 7)
            .unwrap_or_else(|refusal| panic!("{line}: {refusal}"))
    }

    #[test]
    fn every_order_is_a_plan_with_a_workload_for_each_thread() {
        for (line, workloads, workers) in [
            ("-b8K -d60 -o8 -t2 -r -w30 -Sh -L a", 2, 2),
            ("-t32 -s128K -g100 -Zr -w100 a b", 64, 64),
            ("-t64 -r -g100 -a0 a b", 2, 128),
            ("-si -t4 -b4K -n a b", 2, 8),
            ("-F3 -r4K -b64K -i8 -j5 -a0,1 a b", 6, 6),
            ("-T1M -t3 -B64K -f8M -l -z5 a", 3, 3),
        ] {
            let command = parse(line);
            let sizes = vec![1 << 30; command.targets.len()];
            let order = command.translate(&sizes).unwrap();
            let plan = workload::plan::Plan::parse("diskspd", &order.plan, &Default::default())
                .unwrap_or_else(|errors| panic!("{line}: {}\n{}", errors.plain(), order.plan));
            let asked = plan.points()[0].workloads();
            assert_eq!(
                (asked.len(), asked.iter().map(|each| each.workers).sum::<u32>()),
                (workloads, workers),
                "{line}"
            );
            assert!(asked.iter().all(|each| each.depth == command.outstanding));
            for workload in asked {
                let lengths: Vec<units::Bytes> =
                    sizes.iter().map(|size| units::Bytes::new(*size)).take(1).collect();
                workload::compile(workload, &lengths).unwrap();
            }
        }
    }

    #[test]
    fn threads_begin_where_the_offsets_say() {
        let command = parse("-T1M -t3 -B64K -f8M -b64K a");
        let order = command.translate(&[1 << 30]).unwrap();
        for offset in [64 << 10, (1 << 20) + (64 << 10), (2 << 20) + (64 << 10)] {
            assert!(
                order
                    .plan
                    .contains(&format!("offset  = \"{offset}B\"\nspan    = \"{}B\"", (8 << 20) - offset))
            );
        }
        assert!(parse("-T9M -t2 -f8M a").translate(&[1 << 30]).is_err());
        assert!(parse("-t65 a").translate(&[1 << 30]).is_err());
        assert!(parse("-b1M a").translate(&[1000]).is_err());
    }

    #[test]
    fn a_target_must_be_there_or_be_created() {
        let found = |size, fixed| [Found { size, fixed }];
        assert_eq!(parse("-c1G a").sizes(&found(0, false)).unwrap(), [1 << 30]);
        assert_eq!(parse("a").sizes(&found(5 << 20, false)).unwrap(), [5 << 20]);
        assert!(parse("a").sizes(&found(0, false)).is_err());
        assert!(parse("-c1G /dev/sdb").sizes(&found(5 << 30, true)).is_err());
    }

    proptest! {
        #[test]
        fn no_words_make_it_panic(words in proptest::collection::vec("-?[ -~]{0,7}", 0..6)) {
            if let Ok(command) = Command::parse(&words, 1) {
                let found = vec![Found { size: 1 << 40, fixed: false }; command.targets.len()];
                if let Ok(sizes) = command.sizes(&found) {
                    let _ = command.translate(&sizes);
                }
            }
        }
    }
}
