//! Trees of files on a virtual array: the file system of its first host, on its first LUN.
//!
//! What a phase needs is there as if it had just been made and written back: in memory, as far as that reaches.

use array::files::FileClient;
use array::sim::Watch;
use conduct::{History, Live, MeasuredLoad, MeasuredWorker, MeasuredWorkload, WorldError, p99_of};
use std::sync::atomic::Ordering;
use units::convert::{narrow, truncated};

use record::EngineUsed;
use units::Bytes;
use workload::Progress;
use workload::plan::Load;
use workload::spec::OpenSync;
use workload::tree::compile_tree;

use super::{ModelledWorld, breakdown};

impl ModelledWorld {
    /// Runs tree workloads together.
    pub(crate) fn load_trees(
        &mut self,
        load: &Load,
        live: &mut dyn FnMut(Live),
    ) -> Result<MeasuredLoad, WorldError> {
        let (mut clients, mut workload_of, mut answers) = (Vec::new(), Vec::new(), Vec::new());
        let asked = load.workloads.iter().filter_map(|workload| Some((workload, workload.tree.as_ref()?)));
        for (index, (workload, tree)) in asked.enumerate() {
            for job in compile_tree(workload, tree)? {
                let durable = workload.durability.open != OpenSync::None;
                clients.push(FileClient { job, workers: workload.workers, durable });
                workload_of.push(index);
            }
            answers.push(MeasuredWorkload {
                engine: EngineUsed {
                    name: "virtual".into(),
                    details: vec!["a file system on LUN 0".into()],
                    fallback: None,
                    clock: "virtual".into(),
                    submit_batch: None,
                    complete_batch: None,
                },
                files: Vec::new(),
                span: Bytes::new(truncated(tree.sizes.mean() * tree.count as f64)),
                workers: Vec::new(),
                history: History::new(false),
            });
        }
        let mut heard = vec![History::new(self.keeps_seconds); answers.len()];
        let (started, stop) = (self.sim.now(), self.stop.clone());
        let held = std::mem::take(&mut self.held);
        let (outcome, held) = self.sim.run_files(&clients, held, |files| {
            let mut progress = Progress::default();
            let (mut until, mut p99) = (started, None);
            for (job, workload) in files.jobs().zip(&workload_of) {
                let intervals = job.take_intervals();
                until = intervals.last().map_or(until, |interval| interval.until.max(until));
                p99 = p99_of(&intervals).or(p99);
                heard[*workload].take(intervals);
                let one = job.progress();
                progress.ops += one.ops;
                progress.bytes += one.bytes;
                progress.errors += one.errors;
                progress.in_flight += one.in_flight;
            }
            live(Live { now: until, started, doing: "load", progress, p99, done: None, heard: &heard });
            if stop.load(Ordering::Relaxed) { Watch::Stop } else { Watch::GoOn }
        });
        self.held = held;
        let breakdown = breakdown(&outcome);
        for ((mut tally, workload), client) in outcome.tallies.into_iter().zip(workload_of).zip(&clients) {
            let answer = &mut answers[workload];
            // A record names the files that failed; the job knows their numbers.
            for sample in &mut tally.error_samples {
                let number = std::mem::replace(&mut sample.offset, Bytes::ZERO).get();
                let (shape, worker) = (&client.job.shape, client.job.worker);
                sample.file = narrow::<u16>(answer.files.len());
                answer.files.push(match client.job.op.is_of_directories() {
                    true => shape.node_path(worker, narrow::<u32>(number)),
                    false => shape.file_path(worker, number),
                });
            }
            answer.workers.push(MeasuredWorker { tally, cpu: None, ceiling: None, verified: None });
        }
        for (answer, history) in answers.iter_mut().zip(heard) {
            answer.history = history;
        }
        Ok(MeasuredLoad {
            started: outcome.from,
            ended: outcome.until,
            workloads: answers,
            series: self.series_of_works(),
            cpu: None,
            devices: Vec::new(),
            breakdown: Some(breakdown),
        })
    }
}
