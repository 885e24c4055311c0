//! Loads on real storage: monitors before, workers with what hears them, counters after.

use conduct::listener;
use conduct::{Live, MeasuredLoad, MeasuredWorkload, WorldError, span_of};
use host::load::{Assigned, Assignment, LoadEvent};
use host::monitor::process_cpu;
use units::convert::narrow;
use units::{Instant, Share};
use workload::compile;
use workload::plan::Load;
use workload::spec::{EngineKind, Workload};

use super::RealWorld;
use crate::failure::HostError;
use crate::heard::{Heard, answer_of, cached_of, cpu_use, fill_in, names_of};
use crate::verify::verification;
use crate::zoned::on_zones;
use crate::{ceiling, describe};

impl RealWorld {
    /// Runs workloads together that ask for blocks.
    pub(super) fn load_blocks(
        &mut self,
        load: &Load,
        live: &mut dyn FnMut(Live),
    ) -> Result<MeasuredLoad, WorldError> {
        self.lay_out(live)?;
        if let Some((_, gate)) = &mut self.rank {
            gate.prepared();
        }
        if load.workloads.iter().any(|workload| workload.mix.reads != Share::NONE) {
            self.plain.make_whole(&self.targets, &self.clock, &self.stop, live)?;
            self.look_inside();
        }
        self.hear_others()?;
        let assignments = self.assignments(&load.workloads)?;
        let zones = self.learn_zones(&assignments)?;
        self.heed_others(&load.workloads)?;
        let cached = cached_of(&assignments);
        let names: Vec<Vec<String>> = assignments.iter().map(names_of).collect();
        let mut answers: Vec<MeasuredWorkload> = assignments.iter().map(answer_of).collect();
        for (answer, zones) in answers.iter_mut().zip(zones) {
            answer.device_zones = zones;
        }
        if self.rank.is_some() {
            for (answer, workload) in answers.iter_mut().zip(&load.workloads) {
                answer.span = span_of(&compile(workload, &self.files_for(workload).1)?);
            }
        }
        let mut measured = self.measure(load, &assignments, &names, answers, live)?;
        self.note_written(load, &measured);
        let cached = cached.zip(cached_of(&assignments));
        let (started, ended) = (measured.started, measured.ended);
        measured.series.extend(cached.map(|held| describe::cached_series(started, ended, held)));
        // After the load and the monitors, so that it disturbs neither.
        ceiling::measure(&assignments, &self.clock, &self.stop, &mut measured.workloads);
        Ok(measured)
    }

    pub(super) fn assignments(&self, workloads: &[Workload]) -> Result<Vec<Assignment>, WorldError> {
        let assign = |workload: &Workload| {
            let (files, lengths) = self.files_for(workload);
            let mut workload = on_zones(workload, &self.targets);
            if files.is_empty() {
                workload.engine.kind = EngineKind::Null;
            }
            let mut jobs = compile(&workload, &lengths)?;
            self.read_what_is_there(&workload, &mut jobs);
            let jobs = self.own_share(jobs);
            let books = self.books.as_ref();
            let verify = books.map(|books| verification(books, &files, &lengths)).transpose()?;
            let is_logged = listener::wants(&self.listener, &workload);
            Ok(Assignment { workload, jobs, files, verify, zones: self.zones.clone(), is_logged })
        };
        workloads.iter().map(assign).collect()
    }

    /// Of `jobs`, one for each worker, those that this process drives.
    pub(super) fn own_share<T>(&self, mut jobs: Vec<T>) -> Vec<T> {
        if let Some((rank, _)) = &self.rank {
            let share = rank.share(narrow::<u32>(jobs.len()));
            jobs.truncate(share.end as usize);
            jobs.drain(..share.start as usize);
        }
        jobs
    }

    /// Runs `assignments` together, with monitors beside; `answers` come back with what their workers saw, `names` are
    /// those of their files.
    pub(super) fn measure<A: Assigned>(
        &mut self,
        load: &Load,
        assignments: &[A],
        names: &[Vec<String>],
        answers: Vec<MeasuredWorkload>,
        live: &mut dyn FnMut(Live),
    ) -> Result<MeasuredLoad, WorldError> {
        let (before, cpu_before) = (self.counted(), process_cpu());
        let monitor = self.monitor()?;
        let mut heard =
            Heard::new(assignments.len(), self.keeps_seconds, self.rank.is_some(), self.clock.now());
        let (listener, rank) = (&mut self.listener, &mut self.rank);
        let mut rule = |now: &dyn Fn() -> Instant| match rank {
            Some((_, gate)) => gate.start(now),
            None => {
                let workers = assignments.iter().map(A::workers).sum();
                Some(now().saturating_add(host::load::start_ahead(workers)))
            }
        };
        let outcomes = host::load::run_from(assignments, &self.clock, &self.stop, &mut rule, &mut |event| {
            match (&event, &mut *listener) {
                (LoadEvent::Started(at, _), Some(listener)) => listener.begin(load, names, *at),
                (LoadEvent::Logged(workload, requests), _) => listener::tell(listener, *workload, requests),
                _ => {}
            }
            heard.listen(event, &self.clock, &monitor, live);
        })
        .map_err(HostError::told)?;
        let ended = self.clock.now();
        for outcome in &outcomes {
            listener::tell(&mut self.listener, outcome.workload, &outcome.tally.logged);
        }
        if let Some(listener) = &mut self.listener {
            listener.end(ended);
        }
        let cpu = process_cpu().since(cpu_before);
        let devices = describe::device_counters(&before, &self.counted());
        self.before = Some(before);
        let mut series = describe::series(monitor.stop());
        series.retain(|each| each.absent.is_some() || !each.values.is_empty());
        series.extend(self.upkeep.series(heard.started));
        Ok(MeasuredLoad {
            started: heard.started,
            ended,
            workloads: fill_in(answers, heard.histories, outcomes),
            series,
            cpu: Some(cpu_use(cpu)),
            devices,
            breakdown: None,
            ranks: Vec::new(),
        })
    }
}
