//! What processes that verify on the same files tell each other.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

use conduct::{MeasuredLoad, MeasuredWorker, WorldError, Wrote, WroteRun};
use host::verify::{Books, Ledger, WrittenRun};
use units::Bytes;
use units::convert::narrow;
use workload::plan::Load;
use workload::spec::Workload;
use workload::{FileMap, JobSpec, compile};

use super::RealWorld;

impl RealWorld {
    /// What this process has written since it told last.
    pub(super) fn tell_others(&mut self) -> Wrote {
        let workers = self.written.iter().map(|(worker, bytes)| (*worker, bytes.get())).collect();
        let Some(books) = self.shared_books() else { return Wrote { workers, ..Wrote::default() } };
        let (numbers, exchange) = (books.tell(), books.exchange());
        let told = |(file, ledger): (u32, Arc<Ledger>)| {
            let runs = ledger.written(numbers.start, exchange).into_iter();
            runs.map(move |WrittenRun { first, blocks, is_stamped }| WroteRun {
                file,
                first,
                blocks,
                is_stamped,
            })
        };
        let runs = self.ledgers(&books).into_iter().flat_map(told).collect();
        Wrote { numbers: (numbers.start, numbers.end), runs, workers }
    }

    /// Notes what the others have told before this load. An error where a file of which they told cannot be noted.
    pub(super) fn hear_others(&mut self) -> Result<(), WorldError> {
        let others = std::mem::take(&mut self.others_wrote);
        let workers = others.iter().flat_map(|(_, wrote)| &wrote.workers);
        self.written.extend(workers.map(|(worker, bytes)| (*worker, Bytes::new(*bytes))));
        let Some(books) = self.shared_books() else { return Ok(()) };
        let (own, exchange) = (books.told_from(), books.exchange());
        let mut latest = 0;
        for (rank, Wrote { numbers: (from, until), runs, .. }) in others {
            latest = latest.max(until);
            for (file, runs) in by_file(runs) {
                let (file, len) = self.file(narrow::<usize>(file));
                let ledger = books.ledger(&file.path, len).map_err(crate::verify::cannot_be_noted)?;
                ledger.hear(rank, &(from..until), &runs, own, exchange);
            }
        }
        books.heard(latest);
        Ok(())
    }

    /// Notes where the others write in the load of `workloads`: what is read there meanwhile is not certain.
    pub(super) fn heed_others(&self, workloads: &[Workload]) -> Result<(), WorldError> {
        let (Some(books), Some((rank, _))) = (self.shared_books(), &self.rank) else { return Ok(()) };
        let mut busy: BTreeMap<PathBuf, Vec<Range<u64>>> = BTreeMap::new();
        for workload in workloads.iter().filter(|workload| workload.changes_data()) {
            let (files, lengths) = self.files_for(workload);
            let jobs = compile(workload, &lengths)?;
            let own = rank.share(narrow::<u32>(jobs.len()));
            let others = (0..).zip(&jobs).filter(|(worker, _)| !own.contains(worker));
            let where_to = others.flat_map(|(_, job)| touched(job, workload.replay().is_some()));
            for (number, bytes) in where_to {
                let Some(file) = files.get(number) else { continue };
                let of_file = busy.entry(file.path.clone()).or_default();
                // Workers that share a span have the same.
                if of_file.last() != Some(&bytes) {
                    of_file.push(bytes);
                }
            }
        }
        books.set_busy(busy);
        Ok(())
    }

    /// Notes what each worker of `measured`, which ran `load`, wrote of files that may not be whole.
    pub(super) fn note_written(&mut self, load: &Load, measured: &MeasuredLoad) {
        let is_first_written = load.workloads.first().is_some_and(Workload::changes_data);
        let (Some(workload), true) =
            (measured.workloads.first(), is_first_written && self.plain.ends_early())
        else {
            return;
        };
        let all = load.workloads[0].workers;
        let first = self.rank.as_ref().map_or(0, |(rank, _)| rank.share(all).start);
        self.written =
            (first..).zip(&workload.workers).map(|(number, worker)| (number, ended(worker))).collect();
    }

    /// Has each of `jobs`, one for each worker, read no more than it, or whoever has its number, has written.
    pub(super) fn read_what_is_there(&self, workload: &Workload, jobs: &mut [JobSpec]) {
        if workload.changes_data() {
            return;
        }
        for (number, job) in (0..).zip(jobs) {
            let written = self.written.get(&number).filter(|bytes| !bytes.is_zero());
            job.bytes = job.bytes.into_iter().chain(written.copied()).min();
        }
    }

    /// The books, where other processes write to the files that they are of.
    fn shared_books(&self) -> Option<Arc<Books>> {
        let (rank, _) = self.rank.as_ref()?;
        self.books.clone().filter(|_| !rank.has_own_files)
    }

    /// Those of all files that there are, with the numbers of the files.
    fn ledgers(&self, books: &Books) -> Vec<(u32, Arc<Ledger>)> {
        let is_there = |number: &usize| *number < self.targets.len() || self.scratch.file(*number).is_some();
        let numbers = (0..).take_while(is_there);
        numbers.filter_map(|number| Some((narrow(number), books.known(&self.file(number).0.path)?))).collect()
    }
}

/// Bytes of all requests of a worker that have ended, also of those that ended after the window.
fn ended(worker: &MeasuredWorker) -> Bytes {
    worker.tally.classes.iter().map(|class| class.ended_bytes).sum()
}

fn by_file(runs: Vec<WroteRun>) -> BTreeMap<u32, Vec<WrittenRun>> {
    let mut by_file: BTreeMap<u32, Vec<WrittenRun>> = BTreeMap::new();
    for WroteRun { file, first, blocks, is_stamped } in runs {
        by_file.entry(file).or_default().push(WrittenRun { first, blocks, is_stamped });
    }
    by_file
}

/// Which bytes of which files of its workload a worker may write.
fn touched(job: &JobSpec, is_anywhere: bool) -> Vec<(usize, Range<u64>)> {
    let region = job.region.start.get()..(job.region.start + job.region.len).get();
    let bytes = match job.files {
        FileMap::One | FileMap::Turns { .. } if !is_anywhere => region,
        _ => 0..u64::MAX,
    };
    job.files.numbers().map(|number| (number.into(), bytes.clone())).collect()
}
