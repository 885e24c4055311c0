//! What a call comes to: a plan, and the files that it is for.

use units::{Bytes, Nanos};

use super::TOOL;
use super::options::{Command, Offsets, Shape};
use super::text::Access;
use crate::plan::{Keys, Percent, PlanText};
use crate::target::with_luns;
use crate::tasks::OpFile;
use crate::translated::about;
use crate::{DataFile, Refusal, TargetInfo, TranslatedJob};

/// The most files that one call names.
const MOST_FILES: u64 = 4096;

/// Where transfers go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Destination {
    /// Files in a file system, one for each that is named.
    Files,
    /// A device or a virtual array, whose size is fixed.
    Device,
}

/// A call, ready to be carried out.
#[derive(Clone, Debug)]
pub struct Job {
    /// Plan and targets: the files, or the device.
    pub translated: TranslatedJob,
    /// The files; none on a device.
    pub files: Vec<DataFile>,
}

/// How phases that fill a file before random writes are called, and what they write.
const PREFILL: &str = "prefill";
const INVALID: &str = "pattern(ffffffff)";

/// The name of the phase of one repetition.
fn phase_name(access: Access, iteration: u32) -> String {
    format!("{} {iteration}", access.name())
}

impl Job {
    /// The phase of that name: what it does and its repetition; `None` for what lies between, and for what only compares.
    pub fn phase(name: &str) -> Option<(Access, u32)> {
        let (access, iteration) = name.split_once(' ')?;
        let access = [Access::Write, Access::Read].into_iter().find(|known| known.name() == access)?;
        Some((access, iteration.parse().ok()?))
    }

    /// Whether the phase of that name fills what the next one writes at random, whose time is part of that one's.
    pub fn is_prefill(name: &str) -> bool {
        name.starts_with(PREFILL)
    }

    /// Whether the phase of that name is of a repetition after the first, and in which time that must begin (`-T`).
    pub fn repetition(name: &str) -> Option<u32> {
        name.rsplit_once(' ')?.1.parse().ok()
    }
}

impl Command {
    /// The files of transfers of the phase of that name; `None` where it has none.
    pub fn op_file(&self, phase: &str) -> Option<OpFile> {
        let (prefix, (_, iteration)) = (self.op_files.clone()?, Job::phase(phase)?);
        Some(OpFile { prefix, of: iteration.to_string(), bytes: self.shape.transfer })
    }

    /// The files of a call, those of one repetition after those of the one before.
    pub fn files(&self) -> Result<Vec<DataFile>, Refusal> {
        let Shape { file, tasks, repetitions, file_per_task, .. } = &self.shape;
        let (sets, each) =
            (if self.multi_file { *repetitions } else { 1 }, if *file_per_task { *tasks } else { 1 });
        if u64::from(sets) * u64::from(each) > MOST_FILES {
            let what = format!("{sets} sets of {each} files are more than {MOST_FILES}; lower `-i` or `-N`");
            return Err(Refusal::usage(TOOL, what));
        }
        let bytes = if *file_per_task { self.shape.of_task() } else { self.shape.total() };
        let file = |set: u32, task: u32| {
            let mut path = match (self.unique_dir, file.rsplit_once('/')) {
                (true, Some((directory, name))) => format!("{directory}/{task}/{name}"),
                (true, None) => format!("{task}/{file}"),
                (false, _) => file.clone(),
            };
            path += &if *file_per_task { format!(".{task:08}") } else { String::new() };
            path += &if self.multi_file { format!(".{set}") } else { String::new() };
            DataFile { path, bytes }
        };
        Ok((0..sets)
            .flat_map(|set| (0..each).map(move |task| (set, task)))
            .map(|(set, task)| file(set, task))
            .collect())
    }

    /// All that the call comes to. `found` is what is there of each file, or of the device.
    pub fn job(&self, place: Destination, found: &[TargetInfo]) -> Result<Job, Refusal> {
        let files = match place {
            Destination::Files => self.files()?,
            Destination::Device => Vec::new(),
        };
        self.check_found(place, &files, found)?;
        let mut notes = self.notes.clone();
        if self.shape.reorders && !self.is_over_ranks {
            notes.push("`-C` has no effect on one host, as in IOR: each task reads what it wrote".into());
        }
        if self.shape.offsets == Offsets::Shuffled && !self.shape.file_per_task && self.shape.tasks > 1 {
            notes.push("`-z`: each task shuffles the transfers of a part of the file that is its own".into());
        }
        if self.writes && self.keeps && place == Destination::Files && !self.stamps(place) {
            notes.push(
                "writes of no multiple of 512 bytes carry no stamps; a later `-R` of these files finds none, and calls \
                 that wrong"
                    .into(),
            );
        }
        let mut plan = PlanText::new(TOOL, &about(TOOL, &self.words), Some(u64::from(self.seed) + 1));
        for iteration in 0..self.shape.repetitions {
            self.repetition(iteration, place, &mut plan);
        }
        let targets = match place {
            Destination::Files => files.iter().map(|file| file.path.clone()).collect(),
            Destination::Device => with_luns(vec![self.shape.file.clone()]),
        };
        Ok(Job { translated: TranslatedJob { plan: plan.text(), targets, notes }, files })
    }

    fn check_found(
        &self,
        place: Destination,
        files: &[DataFile],
        found: &[TargetInfo],
    ) -> Result<(), Refusal> {
        let refuse = |what: String| Err(Refusal::usage(TOOL, what));
        if place == Destination::Device {
            let has = found.iter().map(|found| found.size).sum::<u64>();
            let needs = self.shape.total();
            return match has < needs {
                true => refuse(format!("{} has {has} bytes, and {needs} are needed", self.shape.file)),
                false => Ok(()),
            };
        }
        if self.writes {
            return Ok(());
        }
        for (file, found) in files.iter().zip(found) {
            let needs = self.shape.reads_to(file.bytes);
            if found.size < needs {
                let (path, has) = (&file.path, found.size);
                return refuse(format!(
                    "{path} has {has} bytes, and {needs} are read; `-w` writes it first, `-k` keeps it"
                ));
            }
        }
        Ok(())
    }

    fn repetition(&self, iteration: u32, place: Destination, plan: &mut PlanText) {
        let idle =
            |time: Nanos| Keys::named(&format!("delay {iteration}")).with("state", "idle").with("run", time);
        if let Some(delay) = self.delay.filter(|_| iteration > 0) {
            plan.phase(idle(delay));
        }
        if self.writes {
            // What an earlier repetition has left is made anew, as there.
            if iteration > 0 && place == Destination::Files && !self.multi_file && !self.uses_existing {
                plan.phase(afresh(iteration));
            }
            if let Some(piece) = self.prefill {
                plan.phase(self.prefilled(iteration, place, piece));
            }
            let written = self.phase(&phase_name(Access::Write, iteration), iteration, place, 0);
            plan.phase(self.written(written, place));
        }
        if self.checks_writes {
            plan.phase(
                self.phase(&format!("check {iteration}"), iteration, place, 100)
                    .with("verify", self.compared())
                    .maybe("hosts_on", self.reads_of(2)),
            );
        }
        if self.reads {
            let verify = self.checks_reads.then(|| self.compared());
            let name = phase_name(Access::Read, iteration);
            match super::reordering::readers(&self.shape, iteration) {
                Some(readers) => self.reordered(&name, iteration, place, verify, &readers, plan),
                None => plan.phase(
                    self.phase(&name, iteration, place, 100)
                        .maybe("verify", verify)
                        .maybe("hosts_on", self.reads_of(self.shape.task_offset)),
                ),
            }
        }
    }

    /// Each task reads what the one of that number has written: a workload each.
    fn reordered(
        &self,
        name: &str,
        iteration: u32,
        place: Destination,
        verify: Option<&'static str>,
        readers: &[u32],
        plan: &mut PlanText,
    ) {
        assert_eq!(readers.len(), self.shape.tasks as usize, "each task reads what one has written");
        let of_one = Bytes::new(self.shape.moved_by_task());
        plan.phase(
            self.transfers(name, 100).with("workers", 1u32).with("bytes", of_one).maybe("verify", verify),
        );
        let has_files = self.shape.file_per_task && place == Destination::Files;
        for (task, written_by) in readers.iter().enumerate() {
            let keys = Keys::named(&format!("task {task}"));
            let (places, step) = self.layout(place);
            let keys = match has_files {
                true => keys.with("on", (self.first_file(iteration) + written_by).to_string()),
                false => keys
                    .maybe("on", self.set(iteration, place))
                    .maybe("offset", step.map(|step| Bytes::new(step * u64::from(*written_by)))),
            };
            plan.workload(keys.and(places));
        }
    }

    /// What random writes will not fill at once is filled before, in larger pieces.
    fn prefilled(&self, iteration: u32, place: Destination, piece: u64) -> Keys {
        let in_order = Shape { offsets: Offsets::InOrder, transfer: piece, ..self.shape.clone() };
        let filling = Command { shape: in_order, ..self.clone() };
        filling.phase(&format!("{PREFILL} {iteration}"), iteration, place, 0).with("content", INVALID)
    }

    /// The plan's `verify`: every block that is read, as IOR does; with random offsets, which leave blocks unwritten, those that carry a
    /// stamp.
    fn compared(&self) -> &'static str {
        if self.shape.offsets == Offsets::Random { "written" } else { "all" }
    }

    /// How many hosts on the task is whose data a task reads: with `-C` so many, in what `-W` reads always two.
    fn reads_of(&self, hosts_on: u32) -> Option<u32> {
        self.shape.reorders.then_some(hosts_on)
    }

    /// Whether writes carry what a later `-R` compares: where this call compares, or the files stay for one that may.
    fn stamps(&self, place: Destination) -> bool {
        let checks = self.checks_writes || self.checks_reads;
        let stays = self.keeps && place == Destination::Files;
        checks || stays && self.shape.transfer.is_multiple_of(units::SECTOR_BYTES)
    }

    fn written(&self, keys: Keys, place: Destination) -> Keys {
        let stamped = self.stamps(place).then_some("written");
        keys.with("flush", "fsync")
            .maybe("flush_every", self.flushes_each.then_some(1u32))
            .maybe("flush_at_end", self.flushes.then_some(true))
            .maybe("verify", stamped)
    }

    /// One load over all tasks.
    fn phase(&self, name: &str, iteration: u32, place: Destination, reads: u32) -> Keys {
        let keys = self
            .transfers(name, reads)
            .with("workers", self.shape.tasks)
            .with("bytes", Bytes::new(self.shape.moved_by_task() * u64::from(self.shape.tasks)))
            .maybe("on", self.set(iteration, place));
        let keys = match self.shape.file_per_task && place == Destination::Files {
            true => keys.with("files", "per_worker(1)"),
            false => keys,
        };
        let (places, step) = self.layout(place);
        keys.and(places.maybe("worker_offset", step.map(Bytes::new)))
    }

    /// What each transfer is.
    fn transfers(&self, name: &str, reads: u32) -> Keys {
        Keys::named(name)
            .with("size", Bytes::new(self.shape.transfer))
            .with("reads", Percent(reads))
            .with("engine", if self.locks { "locked" } else { "pread" })
            .with("direct", self.direct)
            .maybe("content", (!Job::is_prefill(name)).then_some("reused"))
            .maybe("run", self.shape.stonewall.map(|wall| wall.after))
            .maybe("wear_out", self.shape.wear_out.is_on.then_some(true))
    }

    /// The number of the first file of a repetition, from 1.
    fn first_file(&self, iteration: u32) -> u32 {
        let each = if self.shape.file_per_task { self.shape.tasks } else { 1 };
        if self.multi_file { iteration * each + 1 } else { 1 }
    }

    /// The files of one repetition among all.
    fn set(&self, iteration: u32, place: Destination) -> Option<String> {
        if !self.multi_file || place == Destination::Device || self.shape.repetitions == 1 {
            return None;
        }
        let each = if self.shape.file_per_task { self.shape.tasks } else { 1 };
        assert!(each > 0, "a repetition has a file at least");
        let first = self.first_file(iteration);
        Some(if each == 1 { first.to_string() } else { format!("{first}-{}", first + each - 1) })
    }

    /// Where the transfers of the first task are, in which order it goes through them, and how far on those of the next one
    /// are.
    fn layout(&self, place: Destination) -> (Keys, Option<u64>) {
        let Shape { tasks, block, segments, offsets, file_per_task, .. } = self.shape;
        assert!(tasks > 0 && block > 0 && segments > 0, "a task has a block in each segment");
        let of_task = self.shape.of_task();
        let is_alone = tasks == 1 || file_per_task && place == Destination::Files;
        let own = |span: u64, pattern: &str, step: u64| {
            let keys = Keys::default().with("span", Bytes::new(span)).with("pattern", pattern);
            (keys, (!is_alone).then_some(step))
        };
        match offsets {
            Offsets::Shuffled => own(of_task, "random", of_task),
            Offsets::Random if is_alone => own(of_task, "random(repeats)", of_task),
            Offsets::Random => (
                Keys::default()
                    .with("span", Bytes::new(self.shape.total()))
                    .with("pattern", "random(repeats)"),
                None,
            ),
            // A task has its stretch of each segment, the others have theirs between.
            Offsets::InOrder if segments > 1 && !is_alone && !file_per_task => {
                let segment = block * u64::from(tasks);
                own((segments - 1) * segment + block, &format!("stride({segment}B, {block}B)"), block)
            }
            Offsets::InOrder => own(of_task, "sequential", of_task),
        }
    }
}

/// A file that is there is cut to nothing before that repetition writes it again.
fn afresh(iteration: u32) -> Keys {
    Keys::named(&format!("afresh {iteration}"))
        .with("state", "prepare")
        .with("empty", true)
        .with("fill", 0u32)
        .with("drop_caches", false)
}
