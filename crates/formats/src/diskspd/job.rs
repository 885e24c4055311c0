//! What a command of diskspd comes to: one phase, with a workload for each thread and target.

use units::convert::narrow;
use units::{Bytes, Nanos};
use workload::plan::MOST_WORKLOADS;

use super::TOOL;
use super::options::{Access, Buffers, Command, Spread, Throughput};
use crate::plan::{Keys, Percent, PlanText};
use crate::target::with_luns;
use crate::translated::about;
use crate::{Refusal, TargetInfo, TranslatedJob};

/// One workload of the plan: a thread, or the threads that take turns, on one target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ThreadLoad {
    /// The thread's number, of several the first.
    pub thread: u32,
    /// How many take turns.
    pub threads: u32,
    /// The target's place among those named.
    pub target: usize,
}

impl Command {
    /// The size of each target, with `-c` the one asked for.
    pub fn sizes(&self, found: &[TargetInfo]) -> Result<Vec<u64>, Refusal> {
        let usage = |what: String| Refusal::usage(TOOL, what);
        let one = |(name, found): (&String, &TargetInfo)| match self.create {
            Some(_) if found.is_fixed() => Err(usage(format!("{name} is not a file that `-c` could create"))),
            Some(size) => Ok(size),
            None if found.size == 0 => {
                Err(usage(format!("{name} is empty or not there; `-c` and a size creates it")))
            }
            None => Ok(found.size),
        };
        self.targets.iter().zip(found).map(one).collect()
    }

    /// Who does what, in the order of threads.
    pub fn parts(&self) -> Vec<ThreadLoad> {
        let targets = 0..self.targets.len();
        let each = self.total_threads.unwrap_or(self.threads) as usize;
        let together =
            self.access == Access::Interlocked || each.saturating_mul(targets.len()) > MOST_WORKLOADS;
        match (together, self.total_threads) {
            (true, total) => {
                let threads = total.unwrap_or(self.threads);
                let first = |target: usize| if total.is_some() { 0 } else { narrow::<u32>(target) * threads };
                targets.map(|target| ThreadLoad { thread: first(target), threads, target }).collect()
            }
            (_, Some(total)) => (0..total)
                .flat_map(|thread| {
                    targets.clone().map(move |target| ThreadLoad { thread, threads: 1, target })
                })
                .collect(),
            (_, None) => targets
                .flat_map(|target| {
                    (0..self.threads).map(move |index| ThreadLoad {
                        thread: narrow::<u32>(target) * self.threads + index,
                        threads: 1,
                        target,
                    })
                })
                .collect(),
        }
    }

    /// Of all targets together.
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
        let usage = |what: String| Refusal::usage(TOOL, what);
        let parts = self.parts();
        if parts.len() > MOST_WORKLOADS {
            return Err(usage(format!("at most {MOST_WORKLOADS} targets")));
        }
        if matches!(self.access, Access::Sequential(_)) && parts.iter().any(|part| part.threads > 1) {
            let why = "more than 64 streams, each by itself, are not; use -si, -r or fewer threads";
            return Err(Refusal::unsupported(TOOL, "-s", why));
        }
        let targets = if self.total_threads.is_some() { self.targets.len() } else { 1 };
        debug_assert_eq!(
            parts.iter().map(|part| u64::from(part.threads)).sum::<u64>(),
            u64::from(self.thread_count()) * targets as u64,
            "each thread has its part"
        );
        // A plan's seeds begin at 1.
        let seed = u64::from(self.seed.unwrap_or(0)) + 1;
        let mut plan = PlanText::new("diskspd", &about(TOOL, &self.words), Some(seed));
        plan.phase(
            Keys::named("diskspd")
                .with("size", Bytes::new(self.block))
                .with("reads", Percent(100 - self.writes))
                // A mapping answers one request at a time.
                .with("depth", if self.mapped { 1 } else { self.outstanding })
                .with("direct", self.direct)
                .with("sync", if self.through && self.writes > 0 { "dsync" } else { "none" })
                .with("content", self.content())
                .with("warmup", Nanos::from_secs(self.warmup.into()))
                .with("run", Nanos::from_secs(self.seconds.into()))
                .with("cooldown", Nanos::from_secs(self.cooldown.into()))
                .with("huge_pages", self.large_pages)
                .maybe("engine", self.mapped.then_some("mmap")),
        );
        for part in &parts {
            plan.workload(self.workload(part, sizes[part.target])?);
        }
        Ok(TranslatedJob {
            plan: plan.text(),
            targets: with_luns(self.targets.clone()),
            notes: self.notes.clone(),
        })
    }

    /// Where random requests go within `room` bytes, as a pattern of a plan.
    fn random_places(&self, room: u64) -> String {
        let zones: Vec<String> = match &self.spread {
            None => return "random(repeats)".into(),
            Some(Spread::Percent(parts)) => {
                parts.iter().map(|(requests, span)| format!("{requests}% in {span}%")).collect()
            }
            Some(Spread::Bytes(parts)) => {
                let said: u64 = parts.iter().filter_map(|part| part.1).sum();
                let rest = room.saturating_sub(said).max(self.block);
                let zone = |(requests, span): &(u32, Option<u64>)| {
                    format!("{requests}% in {}", Bytes::new(span.unwrap_or(rest)).exact())
                };
                parts.iter().map(zone).collect()
            }
        };
        format!("hot({})", zones.join(", "))
    }

    fn workload(&self, part: &ThreadLoad, size: u64) -> Result<Keys, Refusal> {
        assert!(self.block > 0 && part.target < self.targets.len(), "a part is blocks of a target");
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
            return Err(Refusal::usage(TOOL, what));
        }
        let (pattern, align) = match self.access {
            Access::Random(align) => (self.random_places(room), align),
            Access::Interlocked if part.threads > 1 => ("sequential(interlocked)".into(), self.block),
            Access::Sequential(stride) if stride > self.block => (format!("stride({stride}B)"), self.block),
            Access::Sequential(_) | Access::Interlocked => ("sequential".into(), self.block),
        };
        let cpu = self.cpus.get(part.thread as usize % self.cpus.len().max(1)).filter(|_| !self.no_affinity);
        let threads = u64::from(part.threads);
        // Beside random access it changes nothing, as in the original.
        let is_parallel = self.parallel && self.outstanding > 1 && !matches!(self.access, Access::Random(_));
        let cap = |rate: Throughput| match rate {
            Throughput::Bytes(rate) => format!("cap({}B/s)", u64::from(rate) * 1000 * threads),
            Throughput::Requests(rate) => format!("cap({}/s)", u64::from(rate) * threads),
        };
        Ok(Keys::named(&part.name())
            .with("workers", part.threads)
            .with("pattern", pattern)
            .maybe("random", self.random_percent.map(Percent))
            .maybe("consecutive", is_parallel.then_some(self.outstanding))
            .maybe("repeat_offset", is_parallel.then_some(true))
            .with("offset", Bytes::new(start))
            .with("span", Bytes::new(room / self.block * self.block))
            .maybe("on", (self.targets.len() > 1).then_some(part.target + 1))
            // Counted from the offset when it is left out; blocks lie one after the other from there.
            .maybe("align", (align != self.block).then_some(Bytes::new(align)))
            .maybe("cpus", cpu.map(|cpu| cpu.to_string()))
            .maybe("pace", self.throughput.map(cap))
            .maybe("pace", self.bursts.map(|(burst, pause)| format!("think({pause}ms, {burst})"))))
    }
}

impl ThreadLoad {
    /// What its workload is called.
    pub fn name(&self) -> String {
        format!("thread {} on {}", self.thread, self.target + 1)
    }
}
