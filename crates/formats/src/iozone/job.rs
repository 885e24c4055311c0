//! What a command line of IOzone comes to in Fathom's own language: a phase for each timed pass.

use units::{Bytes, Nanos};

use super::children::{Does, TESTS, Test};
use super::figure::phase_name;
use super::grid::Pair;
use super::options::Command;
use super::pass::{Pass, Walk};
use super::telemetry::Telemetry;
use super::{TOOL, usage};
use crate::plan::{Keys, Percent, PlanText};
use crate::translated::about;
use crate::{Refusal, TranslatedJob};

/// Where IOzone works if nothing is named.
const FILE: &str = "iozone.tmp";
const CHILD: &str = "iozone";

/// A plan has no more points.
const POINTS_MOST: usize = 10_000;

/// What the command works on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Storage {
    /// Files of a file system; so far away that closing one flushes it, or not.
    Files {
        /// On another machine.
        remote: bool,
    },
    /// A device or a virtual array of that size, on which each child has a part of its own.
    Device {
        /// In bytes.
        size: u64,
    },
}

/// What a phase asks for, beside sizes and where it goes.
struct Kind<'a> {
    writes: Option<bool>,
    walk: Walk,
    engine: &'a str,
    depth: u32,
}

impl Command {
    /// The name that decides on what storage the command works.
    pub fn first_target(&self) -> String {
        match (&self.files[..], &self.file) {
            ([first, ..], _) => first.clone(),
            ([], Some(file)) => file.clone(),
            ([], None) => FILE.into(),
        }
    }

    /// The files or the device, in the order of the children.
    pub fn targets(&self, storage: Storage) -> Vec<String> {
        let most = self.children.iter().copied().max().unwrap_or(0);
        match (storage, most) {
            (_, 0) => vec![self.first_target()],
            (Storage::Files { .. }, _) if self.shares_file => {
                let unnamed = self.files.is_empty() && self.file.is_none();
                vec![if unnamed { format!("{CHILD}.DUMMY.0") } else { self.first_target() }]
            }
            (Storage::Device { .. }, _) if self.shares_target() => vec![self.first_target()],
            (_, most) if self.files.is_empty() => {
                let stem = self.file.as_deref().unwrap_or(CHILD);
                (0..most).map(|child| format!("{stem}.DUMMY.{child}")).collect()
            }
            (_, most) => self.files.iter().take(most as usize).cloned().collect(),
        }
    }

    /// Whether children that are on a device have parts of the same one.
    pub fn shares_target(&self) -> bool {
        self.files.iter().all(|file| file == &self.files[0])
    }

    /// The size of the largest file, in bytes.
    pub fn largest_file(&self) -> u64 {
        let pairs = self.grid.pairs().into_iter().map(|pair| pair.bytes());
        let reaches = self.telemetry().map(|telemetry| telemetry.reach.next_multiple_of(4096));
        pairs.chain(reaches).max().unwrap_or(0)
    }

    /// The passes of a single stream, in their order.
    pub fn passes(&self) -> impl Iterator<Item = Pass> + '_ {
        Pass::all()
            .filter(|pass| self.selects(pass.test()))
            .filter(|pass| !(self.no_retest && pass.is_retest() || self.only_reads && pass.writes()))
    }

    /// The tests of several children, in their order.
    pub fn child_tests(&self) -> impl Iterator<Item = &'static Test> + '_ {
        TESTS.iter().filter(|test| self.selects(test.number)).filter(|test| {
            !(self.no_retest && test.is_retest() || self.only_reads && test.does != Does::Read)
        })
    }

    /// What each of so many children has, where one size was asked for.
    pub(super) fn of_child(&self, pair: Pair, children: u32) -> Pair {
        debug_assert!(pair.record_kib <= pair.file_kib, "a file holds a record");
        let share = if self.divides { u64::from(children.max(1)) } else { 1 };
        Pair { file_kib: (pair.file_kib / share).max(pair.record_kib), ..pair }
    }

    /// Whether a file is written from its beginning before anything else is done with it: it need not be there.
    pub fn makes_files(&self) -> bool {
        match self.children.is_empty() {
            true => self.passes().next().is_some_and(Pass::begins_anew),
            false => self.child_tests().next().is_some_and(Test::writes_all),
        }
    }

    /// Whether it begins with files that are cut to nothing.
    fn begins_anew(&self) -> bool {
        match self.children.is_empty() {
            true => self.makes_files(),
            false => self.child_tests().next().is_some_and(|test| test.does == Does::WriteAnew),
        }
    }

    /// Whether anything is written at all.
    pub fn writes(&self) -> bool {
        match self.children.is_empty() {
            true => self.passes().any(Pass::writes),
            false => self.child_tests().any(|test| test.does != Does::Read),
        }
    }

    /// Whether a file that is there is cut to nothing before it is written.
    pub fn empties(&self) -> bool {
        // A mapping needs the whole file before it is written.
        self.begins_anew() && !self.keeps_old && !self.mapped
    }

    /// The plan that does what the command asks, on `storage`.
    pub fn translate(&self, storage: Storage) -> Result<TranslatedJob, Refusal> {
        let mut script = Script { command: self, storage, plan: self.head(), points: 0, is_empty: true };
        let mut notes = self.notes.clone();
        if self.included.close && storage == (Storage::Files { remote: false }) && !self.included.flush {
            notes.push("`-c`: closing a file of this machine writes nothing back; `-e` includes that".into());
        }
        let stdio = self.passes().any(Pass::is_stdio) || self.child_tests().any(Test::is_stdio);
        if self.direct && stdio {
            notes
                .push("`-I`: fwrite and fread go through the page cache all the same, as with IOzone".into());
        }
        let most = self.children.iter().copied().max().unwrap_or(1);
        if matches!(storage, Storage::Files { .. })
            && (1..most as usize).contains(&self.files.len())
            && !self.shares_file
        {
            let named = self.files.len();
            return Err(usage(&format!("`-F` names {named} files, and there are up to {most} children")));
        }
        if let Storage::Device { size } = storage {
            let sharers = if self.shares_target() { most } else { 1 };
            let sharers = if self.divides || self.shares_file { 1 } else { sharers };
            let need = self.largest_file().saturating_mul(sharers.into());
            if need > size {
                let name = self.first_target();
                return Err(usage(&format!("{name} has {size} bytes, and {need} are needed")));
            }
        }
        match self.children.is_empty() {
            true => self.grid.pairs().into_iter().for_each(|pair| script.single(pair)),
            false => {
                let pairs = self.grid.pairs();
                for (&children, pair) in self.children.iter().zip(pairs.iter().cycle()) {
                    script.several(children, self.of_child(*pair, children));
                }
            }
        }
        if script.points == 0 {
            return Err(usage("no test was selected that this mode has; `-i 0` writes, `-i 1` reads"));
        }
        if script.points > POINTS_MOST {
            let points = script.points;
            return Err(usage(&format!(
                "{points} passes are more than {POINTS_MOST}; give fewer sizes, or choose tests with `-i`"
            )));
        }
        Ok(TranslatedJob { plan: script.plan.text(), targets: self.targets(storage), notes })
    }

    fn head(&self) -> PlanText {
        // The same places for random reads as for random writes, in every call.
        let mut plan = PlanText::new("iozone", &about(TOOL, &self.words), Some(0));
        let keys = Keys::default().with("seed", 0u32).with("headline", "mb_per_s");
        plan.defaults(keys.with("direct", self.direct).maybe("sync", self.sync));
        plan
    }

    /// Blocks over distinct blocks, where so many percent repeat; none has more than a plan's most.
    fn dedupe(&self) -> Option<String> {
        let (part, most) = (f64::from(self.repeats) / 100.0, 1000.0);
        (self.repeats > 0).then(|| format!("{:.3}:1", (1.0 / (1.0 - part)).min(most)))
    }

    /// Whether a flush is part of the timed pass.
    fn flushes_in_time(&self, storage: Storage) -> bool {
        self.included.flush || (self.included.close && storage == Storage::Files { remote: true })
    }

    fn engine(&self, is_stdio: bool, is_vectored: bool) -> (&'static str, u32) {
        match self.depth {
            _ if is_stdio => ("stdio", 1),
            _ if self.mapped => ("mmap", 1),
            Some(depth) => ("auto", depth),
            None if self.locks => ("locked", 1),
            None if is_vectored => ("preadv2", 1),
            None => ("pread", 1),
        }
    }
}

/// A plan while it is written.
struct Script<'a> {
    command: &'a Command,
    storage: Storage,
    plan: PlanText,
    points: usize,
    /// Nothing has been written to the files yet.
    is_empty: bool,
}

impl Script<'_> {
    fn single(&mut self, pair: Pair) {
        for pass in self.command.passes() {
            let name = phase_name(pair, pass);
            self.before(&name, pass.begins_anew());
            let (engine, depth) = self.command.engine(pass.is_stdio(), pass.is_vectored());
            let kind = Kind { writes: Some(pass.writes()), walk: pass.walk(), engine, depth };
            let keys = match self.command.followed_by(pass) {
                Some(telemetry) => self.telemetry(&name, telemetry, &kind),
                None => self.phase(&name, pair, &kind),
            };
            self.point(keys.maybe("cpus", self.command.first_cpu.map(|first| first.to_string())));
            self.after(&name, pair, pass.writes(), pass.is_stdio(), 0);
        }
    }

    fn several(&mut self, children: u32, pair: Pair) {
        assert!(children > 0, "somebody works");
        for test in self.command.child_tests() {
            let name = test.phase_name(children);
            self.before(&name, test.does == Does::WriteAnew);
            let (engine, depth) = self.command.engine(test.is_stdio(), false);
            let walk = match test.does {
                Does::Both if self.command.mixes_in_sequence => Walk::Forwards,
                _ => test.walk,
            };
            let writes = match test.does {
                Does::WriteAnew | Does::Rewrite => Some(true),
                Does::Read => Some(false),
                Does::Both => None,
            };
            let keys = self.phase(&name, pair, &Kind { writes, walk, engine, depth });
            self.point(keys.maybe("exit_all", (!self.command.no_stonewall).then_some(true)));
            let command = self.command;
            let reads = |child| if command.reads_in_mix(child, children) { 100 } else { 0 };
            self.workloads(children, pair, |child| writes.is_none().then(|| Percent(reads(child))));
            self.after(&name, pair, writes != Some(false), test.is_stdio(), children);
        }
    }

    /// What is done before a pass, without being timed.
    fn before(&mut self, name: &str, begins_anew: bool) {
        let is_file = matches!(self.storage, Storage::Files { .. });
        if begins_anew && is_file && self.command.empties() && !self.is_empty {
            let keys = state(&format!("empty for {name}"), "prepare").with("fill", 0u32);
            self.point(keys.with("drop_caches", false).with("empty", true));
        }
        if self.command.forgets {
            self.point(state(&format!("forget before {name}"), "prepare").with("fill", 0u32));
        }
        if self.command.pause_s > 0 {
            let pause = Nanos::from_secs(self.command.pause_s);
            self.point(state(&format!("wait before {name}"), "idle").with("run", pause));
        }
    }

    /// One phase more.
    fn point(&mut self, keys: Keys) {
        self.points += 1;
        self.plan.phase(keys);
    }

    fn phase(&self, name: &str, pair: Pair, kind: &Kind<'_>) -> Keys {
        let record = pair.record_bytes();
        let (pattern, span) = match kind.walk {
            Walk::Forwards => ("sequential".into(), pair.bytes()),
            Walk::Backwards => ("reverse".into(), pair.bytes()),
            Walk::Random => ("random".into(), pair.bytes()),
            Walk::SameRecord => ("sequential".into(), record),
            Walk::Strided => {
                let step = self.command.stride.saturating_mul(record).min(i64::MAX as u64);
                (format!("stride({step}B)"), pair.bytes())
            }
        };
        // A buffer in user space holds back what it has written, so that its reads tell nothing.
        let verify = match self.command.diagnoses {
            _ if kind.engine == "stdio" => None,
            true => Some("written"),
            false => self.command.pattern.map(|_| "content"),
        };
        let flushes_each = self.command.flushes_each && kind.engine == "mmap" && kind.writes != Some(false);
        let compute = Some(self.command.compute_ms).filter(|ms| *ms > 0);
        let keys = Keys::named(name)
            .with("pattern", pattern)
            .with("size", Bytes::new(record))
            .with("span", Bytes::new(span))
            .with("ops", pair.records())
            .with("engine", kind.engine)
            .with("depth", kind.depth)
            .maybe("content", self.content(kind))
            .maybe("dedupe", self.command.dedupe())
            .maybe("verify", verify)
            .maybe("pace", compute.map(|ms| format!("think({ms}ms)")))
            .maybe("flush_every", flushes_each.then_some(1u32))
            .maybe("direct", (kind.engine == "stdio" && self.command.direct).then_some(false))
            .maybe("reads", kind.writes.map(|writes| Percent(if writes { 0 } else { 100 })));
        self.flushed_in_time(keys, kind)
    }

    /// One buffer is filled once and written again and again, unless what is read is held against it or part of it
    /// repeats.
    fn content(&self, kind: &Kind<'_>) -> Option<String> {
        match (self.command.pattern, kind.writes) {
            (_, Some(false)) if self.command.pattern.is_none() => None,
            (Some(byte), _) => Some(format!("pattern({byte:02x})")),
            (None, _) if self.command.diagnoses || self.command.repeats > 0 => None,
            (None, _) => Some("reused".into()),
        }
    }

    fn flushed_in_time(&self, keys: Keys, kind: &Kind<'_>) -> Keys {
        match kind.writes != Some(false) && self.command.flushes_in_time(self.storage) {
            true => keys.with("flush_at_end", true).with("flush", "fsync"),
            false => keys,
        }
    }

    /// A pass whose records are those of a telemetry file.
    fn telemetry(&self, name: &str, telemetry: &Telemetry, kind: &Kind<'_>) -> Keys {
        let keys = Keys::named(name)
            .with("pattern", "trace")
            .with("trace", &telemetry.file)
            .with("trace_as", if kind.writes == Some(true) { "write" } else { "read" })
            .with("engine", kind.engine)
            .maybe("content", self.content(kind));
        self.flushed_in_time(keys, kind)
    }

    /// What IOzone flushes once a pass was timed: what was written is not left to the next one.
    fn after(&mut self, name: &str, pair: Pair, writes: bool, is_stdio: bool, children: u32) {
        self.is_empty &= !writes;
        let command = self.command;
        let leaves_nothing = command.direct && !is_stdio || command.sync.is_some();
        if !writes || leaves_nothing || command.flushes_in_time(self.storage) {
            return;
        }
        let record = Bytes::new(pair.record_bytes());
        self.point(
            Keys::named(&format!("flush after {name}"))
                .with("size", record)
                .with("span", record)
                .with("ops", 1u32)
                .with("flushes", Percent(100))
                .with("flush", "fsync")
                .with("engine", "pread")
                .with("direct", false),
        );
        if children > 0 {
            self.workloads(children, pair, |_| None);
        }
    }

    /// A workload for each child: on its own file, or on its own part of a device.
    fn workloads(&mut self, children: u32, pair: Pair, reads: impl Fn(u32) -> Option<Percent>) {
        for child in 0..children {
            let keys = Keys::named(&format!("child {child}"));
            let keys = match self.storage {
                Storage::Device { .. } if self.command.shares_target() => {
                    let place = if self.command.shares_file { 0 } else { child };
                    keys.with("offset", Bytes::new(u64::from(place) * pair.bytes()))
                }
                Storage::Files { .. } if self.command.shares_file => keys.with("on", 1u32),
                _ => keys.with("on", child + 1),
            };
            let late_us = self.command.stagger_us.saturating_mul(child.into());
            let late = (late_us > 0).then(|| Nanos::new(late_us.saturating_mul(1000)));
            let keys = keys.maybe("start", late);
            let cpus = self.command.first_cpu.map(|first| (first + child).to_string());
            self.plan.workload(keys.maybe("cpus", cpus).maybe("reads", reads(child)));
        }
    }
}

/// A phase without load.
fn state(name: &str, state: &str) -> Keys {
    Keys::named(name).with("state", state)
}

impl Command {
    /// Whether that child reads in the mixed workload: every other one, or the first of so many percent.
    fn reads_in_mix(&self, child: u32, children: u32) -> bool {
        if let Some(readers) = self.mixed_reader_count {
            return child < readers;
        }
        match self.mixed_readers {
            None => child.is_multiple_of(2),
            Some(percent) => child < (children * percent + 50) / 100,
        }
    }
}
