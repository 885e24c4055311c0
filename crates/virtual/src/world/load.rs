//! Loads on a virtual array: jobs that ask for blocks of its LUNs, or for files and directories of the file system that
//! its first host has on its first LUN.
//!
//! What a phase needs of a tree is there as if it had just been made and written back: in memory, as far as that reaches.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use array::files::FileClient;
use array::sim::{Client, FilePlace, Watch};
use conduct::listener::{self, Listener};
use conduct::{
    Beside, FileNames, History, Live, MeasuredLoad, MeasuredWorker, MeasuredWorkload, Recent, WorldError,
    span_of,
};
use record::{Engine, EngineUsed, WriteCacheFill};
use units::convert::{narrow, truncated};
use units::{Bytes, Instant, Nanos};
use workload::plan::Load;
use workload::spec::{OpenSync, Workload};
use workload::steady::SteadyWatch;
use workload::tree::{FileOp, Shape, Tree, compile_tree};
use workload::{FlowTotals, Job, Logged, Progress, RequestSource, WarmUp, compile, worn_out};

use super::ModelledWorld;
use super::breakdown::{breakdown, host_traffic, lun_queues, slc_fill};
use super::courses;
use crate::shares;

/// Who asks the array, and what is known of each workload before it does.
#[derive(Default)]
struct LoadClients {
    clients: Vec<Client>,
    /// In their place, where a load is of files and directories.
    file_clients: Vec<FileClient>,
    /// The workload of each client.
    workload_of: Vec<usize>,
    /// Of the workloads that warm up by bytes.
    warm_ups: Vec<Arc<WarmUp>>,
    answers: Vec<MeasuredWorkload>,
}

impl ModelledWorld {
    /// Runs workloads together.
    pub(super) fn run_load(
        &mut self,
        load: &Load,
        live: &mut dyn FnMut(Live),
    ) -> Result<MeasuredLoad, WorldError> {
        let is_of_trees = load.workloads.iter().any(|workload| workload.tree.is_some());
        self.is_forgetful &= !is_of_trees;
        let asked = if is_of_trees {
            ask_for_files(load, &self.worn, &self.listener)?
        } else {
            self.ask_for_blocks(load)?
        };
        let LoadClients { clients, file_clients, workload_of, warm_ups, mut answers } = asked;
        let (started, stop, since) = (self.sim.now(), self.stop.clone(), self.since);
        if let Some(listener) = &mut self.listener {
            let listed = |answer: &MeasuredWorkload| match &answer.files {
                FileNames::Listed(names) => names.clone(),
                FileNames::Tree { .. } => Vec::new(),
            };
            listener.begin(
                load,
                &answers.iter().map(listed).collect::<Vec<_>>(),
                started.saturating_add(since),
            );
        }
        let watch = |workload: &Workload| workload.stop.steady.map(SteadyWatch::new);
        let blocks = load.workloads.iter().filter(|_| !is_of_trees);
        let mut heard = Heard {
            histories: vec![History::new(self.keeps_seconds); answers.len()],
            recent: Recent::default(),
            now: started,
            progress: vec![Progress::default(); workload_of.len()],
            watches: blocks.map(watch).collect(),
            listener: &mut self.listener,
            since,
            started,
            stop: &stop,
        };
        let before = self.sim.unwritten();
        let warmed_up = |workload: &Workload| workload.stop.start + workload.stop.warmup;
        self.sim.warm_up(load.workloads.iter().map(warmed_up).collect(), warm_ups);
        let outcome = if is_of_trees {
            let held = std::mem::take(&mut self.held);
            let (outcome, held) = self.sim.run_files(&file_clients, held, |files| {
                heard.hear(files.jobs().zip(workload_of.iter().copied().enumerate()), live)
            });
            self.held = held;
            outcome
        } else {
            self.sim
                .run_watched(clients, |client, job| heard.hear([(job, (client, workload_of[client]))], live))
        };
        let histories = heard.histories;
        let mut series = self.series_of_works();
        series.extend(courses::series(&outcome.courses));
        let measured_from = outcome.metered_from;
        let mut breakdown = breakdown(&outcome.breakdown, measured_from, outcome.until);
        let half = Nanos::new(outcome.until.saturating_since(measured_from).get() / 2);
        let halfway = outcome.courses.unwritten_by(measured_from, measured_from.saturating_add(half));
        breakdown.write_cache = self.write_cache_fill(before, outcome.unwritten, halfway);
        breakdown.lun_queues = Some(lun_queues(outcome.lun_queues));
        breakdown.host_traffic = Some(host_traffic(outcome.host_traffic, self.part_max()));
        breakdown.slc_cache = outcome.slc.map(slc_fill);
        if !is_of_trees {
            let shares = shares::of(load, &outcome, &workload_of);
            breakdown.response = shares::together(&shares);
            breakdown.shares = if self.keeps_shares { shares } else { Vec::new() };
        }
        for (mut tally, workload) in outcome.tallies.into_iter().zip(workload_of) {
            tell(&mut self.listener, since, workload, std::mem::take(&mut tally.logged));
            let worker = MeasuredWorker { tally, cpu: None, ceiling: None, verified: None, rank: None };
            answers[workload].workers.push(worker);
        }
        if let Some(listener) = &mut self.listener {
            listener.end(outcome.until.saturating_add(since));
        }
        for (answer, history) in answers.iter_mut().zip(histories) {
            answer.history = history;
        }
        self.note_worn(load, &answers);
        Ok(MeasuredLoad {
            started: outcome.from,
            ended: outcome.until,
            workloads: answers,
            series,
            cpu: None,
            devices: Vec::new(),
            breakdown: Some(breakdown),
            ranks: Vec::new(),
        })
    }

    /// How many files of each worker there are from now on.
    fn note_worn(&mut self, load: &Load, answers: &[MeasuredWorkload]) {
        for (workload, answer) in load.workloads.iter().zip(answers) {
            let op = workload.tree.as_ref().map(|tree| tree.op);
            if !matches!(op, Some(FileOp::Create | FileOp::Mknod | FileOp::Delete)) {
                continue;
            }
            let tallies = answer.workers.iter().map(|worker| &worker.tally);
            match workload.stop.wear_out.then(|| worn_out(tallies)).flatten() {
                Some(each) => self.worn.insert(workload.name.clone(), each),
                None => self.worn.remove(&workload.name),
            };
        }
    }

    /// What write caches hold now that a load has ended, of which they held `before` when it began, `measured` when its warm-up
    /// had ended and `halfway` in the middle of what was measured.
    fn write_cache_fill(
        &self,
        before: Bytes,
        measured: Bytes,
        halfway: Option<Bytes>,
    ) -> Option<WriteCacheFill> {
        let (all, used) = (self.spec.write_cache(), self.sim.write_room_in_use());
        // What a controller without a write has free is of no use to the others.
        let room = if used > Bytes::ZERO { used } else { all };
        (all > Bytes::ZERO).then(|| WriteCacheFill {
            unwritten_before_bytes: before.get(),
            unwritten_measured_bytes: Some(measured.get()),
            unwritten_halfway_bytes: halfway.map(Bytes::get),
            unwritten_bytes: self.sim.unwritten().get(),
            room_bytes: room.get(),
        })
    }

    /// The longest part in which a host sends a request.
    fn part_max(&self) -> Bytes {
        let (host, protocol) = (&self.spec.topology.host, &self.spec.topology.protocol);
        host.max_transfer.min(protocol.read_size.max(protocol.write_size))
    }

    /// Jobs on the LUNs.
    fn ask_for_blocks(&self, load: &Load) -> Result<LoadClients, WorldError> {
        let flows = Arc::new(FlowTotals::default());
        let mut asked = LoadClients::default();
        for (index, workload) in load.workloads.iter().enumerate() {
            let (files, lengths) = self.files(workload);
            let jobs = compile(workload, &lengths)?;
            asked.answers.push(answer(workload, &jobs, &files));
            let (warm_up, wear_out) = Default::default();
            for (worker, job) in (0..).zip(jobs) {
                let files = files.clone();
                let (host, buffered) = (narrow::<u32>(asked.workload_of.len()), !workload.direct);
                let durable = workload.durability.open != OpenSync::None;
                let mut job = Job::new(job);
                job.share_flow(&flows);
                job.share_warm_up(&warm_up);
                job.share_wear_out(&wear_out);
                job.share_zones(&self.zones, |file| format!("{:?}", files[usize::from(file)]));
                if listener::wants(&self.listener, workload) {
                    job.keep_journal(worker);
                }
                asked.clients.push(Client { job, files, host, buffered, durable });
                asked.workload_of.push(index);
            }
            asked.warm_ups.extend(workload.stop.warmup_bytes.map(|_| warm_up));
        }
        Ok(asked)
    }
}

/// Jobs on the file system of the first host.
fn ask_for_files(
    load: &Load,
    worn: &BTreeMap<String, u64>,
    listener: &Option<Box<dyn Listener>>,
) -> Result<LoadClients, WorldError> {
    let mut asked = LoadClients::default();
    let trees = load.workloads.iter().filter_map(|workload| Some((workload, workload.tree.as_ref()?)));
    for (index, (workload, tree)) in trees.enumerate() {
        let makes_files = matches!(tree.op, FileOp::Create | FileOp::Mknod);
        let each = worn.get(&workload.name).copied().filter(|_| !makes_files);
        let wear_out = Arc::default();
        for job in compile_tree(workload, tree)? {
            let (job, wear_out) = (job.of_each(each), Arc::clone(&wear_out));
            let durable = workload.durability.open != OpenSync::None;
            let is_logged = listener::wants(listener, workload);
            asked.file_clients.push(FileClient {
                job,
                is_logged,
                workers: workload.workers,
                durable,
                wear_out,
            });
            asked.workload_of.push(index);
        }
        asked.answers.push(answer_of_files(workload, tree));
    }
    Ok(asked)
}

/// What is heard of a load while it runs.
struct Heard<'a> {
    histories: Vec<History>,
    recent: Recent,
    /// The end of the newest interval.
    now: Instant,
    /// Of each client.
    progress: Vec<Progress>,
    watches: Vec<Option<SteadyWatch>>,
    listener: &'a mut Option<Box<dyn Listener>>,
    /// When this clock began, on that of the run.
    since: Nanos,
    started: Instant,
    stop: &'a AtomicBool,
}

impl Heard<'_> {
    /// Takes what `jobs`, each with its client and workload, have to tell, and shows it; whether all go on.
    fn hear<'j, S: RequestSource + 'j>(
        &mut self,
        jobs: impl IntoIterator<Item = (&'j mut Job<S>, (usize, usize))>,
        live: &mut dyn FnMut(Live),
    ) -> Watch {
        let mut is_steady = false;
        for (job, (client, workload)) in jobs {
            tell(self.listener, self.since, workload, job.take_logged());
            let intervals = job.take_intervals();
            self.now = intervals.last().map_or(self.now, |interval| interval.until.max(self.now));
            self.recent.take(&intervals);
            let watch = self.watches.get_mut(workload).and_then(Option::as_mut);
            is_steady |= watch.is_some_and(|watch| watch.take(&intervals));
            self.histories[workload].take(intervals);
            self.progress[client] = job.progress();
        }
        let progress: Progress = self.progress.iter().copied().sum();
        let (now, started, responses) = (self.now, self.started, self.recent.responses(self.now));
        let (heard, beside) = (&self.histories, Beside::default());
        live(Live { progress, responses, heard, beside, ..Live::beside(started, now, "load") });
        if is_steady || self.stop.load(Ordering::Relaxed) { Watch::Stop } else { Watch::GoOn }
    }
}

/// Tells requests on the clock of the run.
fn tell(listener: &mut Option<Box<dyn Listener>>, since: Nanos, workload: usize, mut requests: Vec<Logged>) {
    for request in &mut requests {
        request.issued = request.issued.saturating_add(since);
        request.finished = request.finished.saturating_add(since);
    }
    listener::tell(listener, workload, &requests);
}

fn answer(workload: &Workload, jobs: &[workload::JobSpec], files: &[FilePlace]) -> MeasuredWorkload {
    let luns = files.iter().map(|file| file.lun).collect::<BTreeSet<_>>().len();
    let name = |file: &FilePlace| match file.start.is_zero() {
        true => format!("LUN {}", file.lun),
        false => format!("LUN {} from {}", file.lun, file.start),
    };
    let engine = EngineUsed {
        submit_batch: Some(workload.engine.submit_batch),
        complete_batch: Some(workload.engine.complete_batch),
        ..engine(format!("{} on {luns} LUN{}", workload.workers, if luns == 1 { "" } else { "s" }))
    };
    MeasuredWorkload::before(engine, FileNames::Listed(files.iter().map(name).collect()), span_of(jobs))
}

fn answer_of_files(workload: &Workload, tree: &Tree) -> MeasuredWorkload {
    let shape = Shape::of(tree, workload.workers).expect("the workload was compiled");
    let files = FileNames::Tree { top: PathBuf::new(), shape, op: tree.op };
    let span = Bytes::new(truncated(tree.sizes.mean() * tree.count as f64));
    MeasuredWorkload::before(engine("a file system on LUN 0".into()), files, span)
}

fn engine(detail: String) -> EngineUsed {
    EngineUsed { details: vec![detail], ..EngineUsed::new(Engine::Virtual, "virtual") }
}
