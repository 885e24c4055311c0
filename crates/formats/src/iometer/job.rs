//! A configuration as a plan, and how its results file is filled.
//!
//! **Invariant:** what asks for the same requests becomes the same plan, wherever the file came from.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use units::convert::narrow;
use units::{Bytes, Nanos};
use workload::plan::{MOST_POINTS, MOST_WORKLOADS};

use super::TOOL;
use super::builtin;
use super::config::{Config, DiskWorker, Spec, SpecLine};
use super::cycling::{Active, depths, sets};
use super::naming::{bare_name, braceless, counted, drive_letter, path_of, phase_name, plain, unused};
use super::sheet::{Disk, Sheet, Test, Worker, WorkerSettings};
use crate::plan::{Keys, Percent, PlanText, Toml, Value};
use crate::{Refusal, TranslatedJob};

/// What a file comes to.
#[derive(Clone, Debug, PartialEq)]
pub struct Job {
    /// The plan, its targets, and what was understood.
    pub translated: TranslatedJob,
    /// What the results file says of it.
    pub sheet: Sheet,
    /// The disks that the file names, in the order in which the plan counts its targets.
    pub disks: Vec<String>,
}

/// What Iometer would run until it is stopped is measured so long.
const SECONDS: u64 = 30;
/// Bytes of a sector, in which Iometer counts.
const SECTOR: u64 = 512;
/// So that a short file does not become a plan that fills the memory.
const MOST_LINES: usize = 200_000;

impl Job {
    /// Of `config`, which stood in `file`. Workers without a seed of their own have `seed`; where there is none, that
    /// of the run.
    pub fn of(config: &Config, file: &str, seed: Option<u64>) -> Result<Job, Refusal> {
        let mut builder = PlanBuilder::new(config, file, seed)?;
        let tests = builder.tests()?;
        let plan = builder.plan(&tests)?;
        let disks = builder.disks.iter().map(|disk| disk.name.clone()).collect();
        let sheet = Sheet {
            test_type: config.setup.test.number(),
            description: config.setup.description.replace(',', "-"),
            record: config.setup.record,
            tests,
        };
        let mut notes = config.notes.clone();
        notes.extend(builder.notes.clone());
        let translated = TranslatedJob { plan, targets: builder.targets(), notes };
        Ok(Job { translated, sheet, disks })
    }

    /// What is to be named with `--on`, where the names of the file mean nothing on this host.
    pub fn naming(&self) -> Option<String> {
        let is_open = self.translated.targets.is_empty() && self.disks.iter().any(|disk| !disk.is_empty());
        is_open.then(|| {
            let names: Vec<String> = self.disks.iter().map(|disk| format!("`{disk}`")).collect();
            let count = counted(names.len(), "target");
            format!(
                "names of targets mean nothing here; name {count} with --on, in this order: {}",
                names.join(", ")
            )
        })
    }
}

/// A worker at work, with what it was assigned.
struct AssignedWorker<'a> {
    name: String,
    settings: &'a DiskWorker,
    specs: Rc<[Option<Spec>]>,
    /// Numbers of its targets, from 0.
    disks: Vec<usize>,
}

/// A disk as the file calls it.
struct NamedDisk {
    manager: usize,
    key: String,
    name: String,
}

struct PlanBuilder<'a> {
    config: &'a Config,
    file: &'a str,
    seed: Option<u64>,
    managers: Vec<(String, Vec<AssignedWorker<'a>>)>,
    disks: Vec<NamedDisk>,
    notes: Vec<String>,
    by_name: BTreeMap<String, &'a Spec>,
    /// What workers carry out whose specifications the file does not list.
    given: Rc<[Option<Spec>]>,
}

/// A worker that Iometer starts by itself.
static DEFAULT_WORKER: DiskWorker = DiskWorker::PLAIN;

impl<'a> PlanBuilder<'a> {
    fn new(config: &'a Config, file: &'a str, seed: Option<u64>) -> Result<PlanBuilder<'a>, Refusal> {
        let by_name = config.specs.iter().rev().map(|spec| (bare_name(&spec.name), spec));
        let exact = config.specs.iter().map(|spec| (spec.name.to_lowercase(), spec));
        let by_name = by_name.chain(exact).collect();
        let given = config.specs.iter().filter(|spec| spec.assignment.is_for_disks()).cloned().map(Some);
        let (managers, disks, notes) = (Vec::new(), Vec::new(), Vec::new());
        let mut builder =
            PlanBuilder { config, file, seed, managers, disks, notes, by_name, given: given.collect() };
        for (number, manager) in config.managers.iter().enumerate() {
            let mut hands = Vec::new();
            for worker in &manager.workers {
                let disks = worker.targets.iter().map(|name| builder.disk(number, name)).collect();
                let specs = builder.assigned(worker)?;
                hands.push(AssignedWorker { name: worker.name.clone(), settings: worker, specs, disks });
            }
            builder.managers.push((manager.name.clone(), hands));
        }
        if !config.managers.iter().any(|manager| !manager.workers.is_empty()) {
            builder.worker_of_our_own()?;
        }
        builder.give_targets();
        Ok(builder)
    }

    /// A file of specifications alone: each of them in turn, one worker with one request.
    fn worker_of_our_own(&mut self) -> Result<(), Refusal> {
        let given: Vec<Spec> =
            self.config.specs.iter().filter(|spec| spec.assignment.is_for_disks()).cloned().collect();
        let specs = if given.is_empty() { self.config.specs.clone() } else { given };
        if specs.is_empty() {
            return Err(self.usage("it has neither workers nor access specifications"));
        }
        self.notes.push(format!(
            "no workers are in the file: one worker with one outstanding I/O runs {} in turn",
            counted(specs.len(), "access specification")
        ));
        let specs = specs.into_iter().map(Some).collect();
        let hand =
            AssignedWorker { name: "Worker 1".into(), settings: &DEFAULT_WORKER, specs, disks: Vec::new() };
        self.managers = vec![(String::new(), vec![hand])];
        Ok(())
    }

    /// Workers without a target are idle, as in Iometer; where none has any, the run's target is for all.
    fn give_targets(&mut self) {
        let hands = || self.managers.iter().flat_map(|(_, hands)| hands);
        let idle: Vec<String> =
            hands().filter(|hand| hand.disks.is_empty()).map(|hand| format!("`{}`", hand.name)).collect();
        if self.disks.is_empty() {
            self.disks.push(NamedDisk { manager: 0, key: String::new(), name: String::new() });
            self.managers.iter_mut().flat_map(|(_, hands)| hands).for_each(|hand| hand.disks = vec![0]);
            self.notes.push("no targets are in the file: name one with --on".into());
        } else if !idle.is_empty() {
            self.notes.push(format!("workers without a target are idle: {}", idle.join(", ")));
        }
    }

    fn usage(&self, what: impl std::fmt::Display) -> Refusal {
        Refusal::Usage { tool: TOOL, what: format!("{}: {what}", self.file) }
    }

    /// The number of the disk that a manager calls `name`. Of a drive with a letter the letter alone counts.
    fn disk(&mut self, manager: usize, name: &str) -> usize {
        let key = match drive_letter(name) {
            Some(letter) => letter.to_string(),
            None => name.to_lowercase(),
        };
        let known = self.disks.iter().position(|disk| disk.manager == manager && disk.key == key);
        known.unwrap_or_else(|| {
            self.disks.push(NamedDisk { manager, key, name: name.into() });
            self.disks.len() - 1
        })
    }

    /// What a worker carries out in turn; none is idle.
    fn assigned(&self, worker: &DiskWorker) -> Result<Rc<[Option<Spec>]>, Refusal> {
        let Some(names) = &worker.specs else {
            self.has_room(worker, &self.given)?;
            return Ok(self.given.clone());
        };
        let find = |(name, line): &(String, usize)| {
            if name.eq_ignore_ascii_case(builtin::IDLE) {
                return Ok(None);
            }
            let by_name = |name: &str| self.by_name.get(name).copied().cloned();
            let of_file = by_name(&name.to_lowercase()).or_else(|| by_name(&bare_name(name)));
            of_file.or_else(|| builtin::find(name)).map(Some).ok_or_else(|| {
                let what = format!(
                    "worker `{}` is assigned `{name}`, which is neither an access specification of the file nor one \
                     of Iometer's own",
                    worker.name
                );
                Refusal::Line { file: self.file.into(), line: *line, what }
            })
        };
        let specs: Rc<[Option<Spec>]> = names.iter().map(find).collect::<Result<_, _>>()?;
        self.has_room(worker, &specs)?;
        Ok(specs)
    }

    /// Refuses a disk size of fewer sectors than a request asks for.
    fn has_room(&self, worker: &DiskWorker, specs: &[Option<Spec>]) -> Result<(), Refusal> {
        let of = |spec: &Spec| spec.lines.iter().map(|line| line.size).max().unwrap_or(0);
        let too_large = |spec: &&Spec| worker.sectors > 0 && of(spec) > worker.sectors * 512;
        match specs.iter().flatten().find(too_large) {
            None => Ok(()),
            Some(spec) => Err(self.usage(format!(
                "the maximum disk size of worker `{}`, {}, holds no request of {} bytes of `{}`",
                worker.name,
                counted(narrow::<usize>(worker.sectors), "sector"),
                of(spec),
                spec.name
            ))),
        }
    }

    fn tests(&mut self) -> Result<Vec<Test>, Refusal> {
        let all = || self.managers.iter().flat_map(|(_, hands)| hands);
        let rounds = all().map(|hand| hand.specs.len()).max().unwrap_or(0);
        let (mut tests, mut lines) = (Vec::new(), 0);
        let mut names = BTreeSet::new();
        for round in 0..rounds {
            let sets = sets(&self.config.setup, &self.could(round));
            let several = sets.len() > 1;
            for active in sets {
                let mut test = self.test(round, &active);
                test.phase = unused(phase_name(&test, several), &mut names);
                let workloads = test.disks().count();
                if workloads > MOST_WORKLOADS {
                    return Err(self.usage(format!(
                        "`{}` has {workloads} queues, one for each target of each worker; at most {MOST_WORKLOADS} \
                         run together: use fewer workers with more outstanding I/Os",
                        test.phase
                    )));
                }
                lines +=
                    test.disks().count() * test.specs.iter().map(|spec| spec.lines.len()).max().unwrap_or(0);
                tests.push(test);
                if tests.len() > MOST_POINTS || lines > MOST_LINES {
                    let what =
                        format!("it comes to more than {MOST_POINTS} tests, or {MOST_LINES} lines in all");
                    return Err(self.usage(what));
                }
            }
        }
        match tests.is_empty() {
            true => Err(self.usage(
                "no worker with a target is assigned an access specification, so no requests are issued",
            )),
            false => Ok(tests),
        }
    }

    /// How many targets each worker could use in `round`.
    fn could(&self, round: usize) -> Active {
        let of = |hand: &AssignedWorker<'_>| match hand.specs.get(round) {
            Some(Some(_)) => hand.disks.len(),
            _ => 0,
        };
        self.managers.iter().map(|(_, hands)| hands.iter().map(of).collect()).collect()
    }

    fn test(&self, round: usize, active: &Active) -> Test {
        let mut test = Test { round, phase: String::new(), specs: Vec::new(), managers: Vec::new() };
        for ((manager, hands), counts) in self.managers.iter().zip(active) {
            let mut workers = Vec::new();
            for (hand, count) in hands.iter().zip(counts).filter(|(_, count)| **count > 0) {
                let Some(Some(spec)) = hand.specs.get(round) else { continue };
                if !test.specs.iter().any(|known: &Spec| known.name == spec.name) {
                    test.specs.push(spec.clone());
                }
                workers.push(self.worker(hand, spec, *count));
            }
            if !workers.is_empty() {
                test.managers.push((manager.clone(), workers));
            }
        }
        test
    }

    fn worker(&self, hand: &AssignedWorker<'_>, spec: &Spec, count: usize) -> Worker {
        let settings = hand.settings;
        assert!(count <= hand.disks.len(), "a worker uses targets of its own");
        let disk = |disk: &usize| Disk { name: self.disks[*disk].name.clone(), target: *disk + 1 };
        let settings = WorkerSettings {
            depth: settings.depth,
            sectors: settings.sectors,
            first_sector: settings.first_sector,
            seed: settings.seed,
            data: settings.data,
            reopen_every: settings.reopen_every,
        };
        Worker {
            name: hand.name.clone(),
            spec: spec.name.clone(),
            settings,
            disks: hand.disks[..count].iter().map(disk).collect(),
        }
    }

    /// The targets, where all of them have names that mean something on this host.
    fn targets(&self) -> Vec<String> {
        let found: Option<Vec<String>> = self.disks.iter().map(|disk| path_of(&disk.name)).collect();
        let found = found.unwrap_or_default();
        let distinct: BTreeSet<&String> = found.iter().collect();
        // Two managers are two hosts: what one calls sdb is not what the other does.
        if distinct.len() == found.len() { found } else { Vec::new() }
    }

    fn plan(&mut self, tests: &[Test]) -> Result<String, Refusal> {
        let setup = &self.config.setup;
        let run = match setup.run_s {
            Some(seconds @ 1..) => seconds,
            said => {
                let why = if said.is_some() {
                    "a run time of 0 is until it is stopped"
                } else {
                    "there is no run time"
                };
                self.notes.push(format!("{why}: {SECONDS} s are measured; --set run=60s is another time"));
                SECONDS
            }
        };
        self.note_what_differs(tests);
        let depths = depths(setup);
        let points = tests.len().saturating_mul(depths.as_ref().map_or(1, Vec::len));
        if points > MOST_POINTS {
            return Err(self.usage(format!("it comes to {points} tests; a plan has at most {MOST_POINTS}")));
        }
        let mut plan = PlanText::new("iometer", &self.about(), self.seed);
        let ramp = (setup.ramp_s > 0).then_some(Nanos::from_secs(setup.ramp_s));
        let keys = Keys::default().with("direct", true).maybe("warmup", ramp);
        plan.defaults(keys.with("run", Nanos::from_secs(run)));
        for test in tests {
            self.phase(test, depths.as_deref(), &mut plan);
        }
        Ok(self.head() + &plan.text())
    }

    fn about(&self) -> String {
        match self.config.setup.description.as_str() {
            "" => format!("workload of {}", self.file),
            description => description.into(),
        }
    }

    /// What was understood, as a comment.
    fn head(&self) -> String {
        let Config { version, specs, setup, .. } = self.config;
        let hands: usize = self.managers.iter().map(|(_, hands)| hands.len()).sum();
        let mut head = format!(
            "# An Iometer configuration{}: {} with {}, {}, {}.\n",
            version.as_ref().map(|version| format!(" of version {}", plain(version))).unwrap_or_default(),
            counted(self.managers.len(), "manager"),
            counted(hands, "worker"),
            counted(self.disks.len(), "target"),
            counted(specs.len(), "access specification"),
        );
        head +=
            &format!("# Test type: {}.\n", super::config::TestType::ALL[usize::from(setup.test.number())].0);
        if self.disks.len() > 1 || !self.disks[0].name.is_empty() {
            head += "# Targets, to be named with --on in this order:\n";
            for (number, disk) in self.disks.iter().enumerate() {
                let manager =
                    self.managers.get(disk.manager).map(|(name, _)| plain(name)).unwrap_or_default();
                head += &format!("#   {}: {} of {manager}\n", number + 1, plain(&disk.name));
            }
        }
        head + "\n"
    }

    fn note_what_differs(&mut self, tests: &[Test]) {
        let reopened = self
            .managers
            .iter()
            .flat_map(|(_, hands)| hands)
            .any(|hand| hand.settings.reopen_every.is_some());
        if reopened {
            let note = "test connection rate: a target is closed and opened again as Iometer does; how long a \
                        connection lasts is not in the results";
            self.notes.push(note.into());
        }
        if plan_repeats_a_byte(tests) {
            let note = "what is written is one byte repeated, as in Iometer; --set compress=1:1 writes what does not compress";
            self.notes.push(note.into());
        }
        if self.managers.len() > 1 {
            self.notes.push(format!("{} managers run together on this host", self.managers.len()));
        }
    }

    fn phase(&self, test: &Test, depths: Option<&[u64]>, plan: &mut PlanText) {
        assert!(test.disks().next().is_some(), "a test has a worker with a disk");
        let phase = Keys::named(&test.phase).maybe("depth", depths);
        let keys = |(worker, disk): (&Worker, &Disk)| {
            let spec = test.specs.iter().find(|spec| spec.name == worker.spec);
            let spec = spec.expect("the specification of every worker is listed");
            self.keys(&worker.settings, disk, spec, depths.is_some())
        };
        if test.disks().count() == 1 {
            plan.phase(phase.and(test.disks().flat_map(keys)));
            return;
        }
        plan.phase(phase);
        let mut names = BTreeSet::new();
        for (worker, disk) in test.disks() {
            let name = match worker.disks.len() {
                1 => worker.name.clone(),
                _ => format!("{} on {}", worker.name, disk.name),
            };
            let name = if name.trim().is_empty() { "worker".into() } else { name };
            let name = unused(braceless(&name), &mut names);
            plan.workload(Keys::named(&name).and(keys((worker, disk))));
        }
    }

    fn keys(&self, settings: &WorkerSettings, disk: &Disk, spec: &Spec, depth_is_swept: bool) -> Keys {
        debug_assert_eq!(
            spec.lines.iter().map(|line| line.share).sum::<u32>(),
            100,
            "the lines of a specification are all of its requests"
        );
        let sectors = |count: u64| (count > 0).then_some(Bytes::new(count * 512));
        let depth = (!depth_is_swept && settings.depth != 1).then_some(settings.depth);
        let keys = pattern_keys(&spec.lines)
            .maybe("depth", depth)
            .maybe("on", (self.disks.len() > 1).then_some(disk.target))
            .maybe("offset", sectors(settings.first_sector))
            .maybe("span", sectors(settings.sectors))
            .maybe("reopen_every", settings.reopen_every)
            .maybe("seed", settings.seed.map(|seed| seed & i64::MAX as u64));
        match content(settings, spec) {
            Some((key, ratio)) => keys.with(key, ratio),
            None => keys,
        }
    }
}

/// What is written, where anything is.
fn content(settings: &WorkerSettings, spec: &Spec) -> Option<(&'static str, &'static str)> {
    if spec.lines.iter().all(|line| line.reads == 100) {
        return None;
    }
    match settings.data {
        // One byte repeated, and before 1.1 a buffer that was never filled.
        Some(0) | None => Some(REPEATED),
        Some(1) => Some(("dedupe", "1000:1")),
        Some(_) => None,
    }
}

/// The most that a plan's content can be compressed.
const REPEATED: (&str, &str) = ("compress", "1000:1");

fn plan_repeats_a_byte(tests: &[Test]) -> bool {
    let repeats = |(test, worker): (&Test, &Worker)| {
        let spec = test.specs.iter().find(|spec| spec.name == worker.spec);
        spec.is_some_and(|spec| content(&worker.settings, spec) == Some(REPEATED))
    };
    tests.iter().flat_map(|test| test.disks().map(move |(worker, _)| (test, worker))).any(repeats)
}

/// The keys that say what the lines of a specification ask for.
pub(super) fn pattern_keys(lines: &[SpecLine]) -> Keys {
    let is_random = lines.iter().any(|line| line.random > 0);
    // With an alignment of its own, a sequential request begins at the next multiple of it.
    let steps = lines.iter().any(|line| line.random < 100 && line.align > 0 && line.size % line.align != 0);
    assert!(!lines.is_empty(), "an access specification has a line at least");
    let first = lines[0];
    let keys = |align| {
        let keys = Keys::default();
        match is_random {
            true => keys.with("pattern", "random(repeats)").with("align", Bytes::new(align)),
            false => keys.with("pattern", "sequential"),
        }
    };
    let alike = |line: &SpecLine| {
        (line.reads, line.random, line.align) == (first.reads, first.random, first.align)
            && line.delay_ms == 0
    };
    let bursts = lines.len() > 1 && lines.iter().any(|line| line.burst > 1);
    if !lines.iter().all(alike) || bursts || steps {
        return keys(SECTOR).with("mix", mix(lines, is_random));
    }
    let align = if first.align > 0 { first.align } else { SECTOR };
    let random = (is_random && first.random < 100).then_some(Percent(first.random));
    keys(align).maybe("random", random).with("size", sizes(lines)).with("reads", Percent(first.reads))
}

/// One size, or each with its share.
fn sizes(lines: &[SpecLine]) -> Toml {
    if let [line] = lines {
        return Toml(Bytes::new(line.size).toml());
    }
    let mut shares: Vec<(u64, u32)> = Vec::new();
    for line in lines {
        match shares.iter_mut().find(|(size, _)| *size == line.size) {
            Some((_, share)) => *share += line.share,
            None => shares.push((line.size, line.share)),
        }
    }
    let entries: Vec<String> =
        shares.iter().map(|(bytes, share)| format!("{} = {share}", Bytes::new(*bytes).toml())).collect();
    Toml(format!("{{ {} }}", entries.join(", ")))
}

fn mix(lines: &[SpecLine], is_random: bool) -> Toml {
    let entry = |line: &SpecLine| {
        let mut entry = format!(
            "share = {}, size = {}, reads = \"{}%\"",
            line.share,
            Bytes::new(line.size).toml(),
            line.reads
        );
        if is_random {
            entry += &format!(", random = \"{}%\"", line.random);
        }
        if line.align > 0 {
            entry += &format!(", align = \"{}B\"", line.align);
        }
        if line.delay_ms > 0 {
            entry += &format!(", delay = \"{}ms\"", line.delay_ms);
        }
        if line.burst > 1 {
            entry += &format!(", burst = {}", line.burst);
        }
        format!("  {{ {entry} }},\n")
    };
    Toml(format!("[\n{}]", lines.iter().map(entry).collect::<String>()))
}
