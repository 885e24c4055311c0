//! Bringing a real target into a known condition: trimmed, filled, its cache dropped, its read-ahead set.

use std::io;

use conduct::{Live, WorldError};
use host::load::{LoadEvent, run};
use host::nbd::Connection;
use host::pages;
use host::restore::{QueueSetting, QueueValue};
use host::target::{Device, TargetKind};
use units::{Bytes, Share};
use workload::compile;
use workload::plan::Prepare;
use workload::spec::{OpMix, Pattern, SizeSplit, Workload};
use workload::tally::Failure;

use super::RealWorld;
use crate::failure::HostError;

/// Requests that fill or trim. Large enough that the device, not the calls, is the limit.
const STEP: Bytes = Bytes::MIB;

impl RealWorld {
    pub(crate) fn prepare(
        &mut self,
        prepare: &Prepare,
        live: &mut dyn FnMut(Live),
    ) -> Result<(), WorldError> {
        if prepare.empty {
            self.plain.empty(&self.targets)?;
        }
        if prepare.trim {
            self.pass(
                prepare,
                "trim",
                OpMix { reads: Share::NONE, trims: Share::ALL, flushes: Share::NONE },
                live,
            )?;
        }
        for _ in 0..prepare.fill {
            let writes = OpMix { reads: Share::NONE, trims: Share::NONE, flushes: Share::NONE };
            self.pass(prepare, "fill", writes, live)?;
        }
        if prepare.drop_caches {
            self.drop_caches()?;
        }
        if let Some(size) = prepare.read_ahead {
            self.set_queues(QueueValue::ReadAhead(size))?;
        }
        match &prepare.scheduler {
            Some(name) => self.set_queues(QueueValue::Scheduler(name)),
            None => Ok(()),
        }
    }

    /// One pass over the part of each target, upwards.
    fn pass(
        &self,
        prepare: &Prepare,
        doing: &'static str,
        mix: OpMix,
        live: &mut dyn FnMut(Live),
    ) -> Result<(), WorldError> {
        let mut workload = pass_workload(prepare, doing, mix);
        workload.direct = self.targets.iter().all(|each| {
            each.facts
                .direct
                .as_ref()
                .and_then(host::target::Direct::offset)
                .is_some_and(|unit| STEP.is_multiple_of(unit))
        });
        let probe = compile(&workload, &self.files_for(&workload).1)?;
        let steps: u64 = probe.iter().map(|job| job.region.len.get() / STEP.get()).sum();
        workload.stop.ops = Some(steps);
        let assignments = self.assignments(std::slice::from_ref(&workload))?;
        let started = self.clock.now();
        let outcomes = run(&assignments, &self.clock, &self.stop, &mut |event| {
            if let LoadEvent::Progress(progress) = event {
                let done = Some(progress.ops as f64 / steps.max(1) as f64);
                live(Live { progress, done, ..Live::beside(started, self.clock.now(), doing) });
            }
        })
        .map_err(HostError::told)?;
        let errors: u64 = outcomes.iter().map(|outcome| outcome.tally.errors).sum();
        match outcomes.iter().flat_map(|outcome| &outcome.tally.error_samples).next() {
            None => Ok(()),
            Some(first) => {
                let what = format!(
                    "to {doing} the target: {errors} requests failed, the first at offset {}",
                    first.offset
                );
                Err(WorldError::failed(what)(match first.failure {
                    Failure::Errno(errno) => io::Error::from_raw_os_error(errno.0),
                    Failure::Short { .. } => io::ErrorKind::UnexpectedEof.into(),
                    Failure::Corrupt => io::ErrorKind::InvalidData.into(),
                }))
            }
        }
    }

    fn drop_caches(&self) -> Result<(), WorldError> {
        for number in 0.. {
            let Some(scratch) = self.scratch.file(number) else { break };
            scratch.evict().map_err(HostError::told)?;
        }
        for path in self.targets.iter().filter_map(|each| each.target.path()).filter(|path| !path.is_dir()) {
            let failed = WorldError::failed(format!("dropping the cache of {}", path.display()));
            pages::evict(path).map_err(failed)?;
        }
        Ok(())
    }

    /// Has what was written to the targets reach their media, as far as a flush commands it.
    pub(crate) fn flush(&self) -> Result<(), WorldError> {
        let mut has_scratch = false;
        for number in 0.. {
            let Some(scratch) = self.scratch.file(number) else { break };
            scratch.sync().map_err(HostError::told)?;
            has_scratch = true;
        }
        for each in &self.targets {
            if let TargetKind::Nbd(export) = &each.target.kind {
                let flushed = Connection::to(&export.uri).and_then(|mut connection| connection.flush());
                flushed.map_err(|error| {
                    WorldError::failed("flushing an export")(std::io::Error::other(error))
                })?;
            }
        }
        for path in self.targets.iter().filter_map(|each| each.target.path()) {
            // Of a directory with scratch files these are what was written.
            if path.is_dir() && has_scratch {
                continue;
            }
            pages::flush(path).map_err(WorldError::failed(format!("flushing {}", path.display())))?;
        }
        Ok(())
    }

    fn set_queues(&mut self, value: QueueValue<'_>) -> Result<(), WorldError> {
        let knob = value.knob();
        let devices: Vec<Device> =
            self.targets.iter().flat_map(|each| &each.facts.devices).cloned().collect();
        if devices.is_empty() {
            let why = format!("the {} belongs to a block device, and the target has none", knob.named());
            return Err(WorldError::unfit(why));
        }
        for device in devices {
            // Of several settings in a run, the one before the first is put back.
            let set = match self.queues.iter_mut().find(|known| known.is_of(&device, knob)) {
                Some(known) => known.again(value),
                None => QueueSetting::set(&self.root, &self.journal, &device, value)
                    .map(|set| self.queues.push(set)),
            };
            let what = format!("setting the {} of {}", knob.named(), device.node.display());
            set.map_err(WorldError::failed(what))?;
        }
        Ok(())
    }
}

fn pass_workload(prepare: &Prepare, doing: &str, mix: OpMix) -> Workload {
    Workload {
        pattern: Pattern::Sequential,
        sizes: SizeSplit::one(STEP),
        mix,
        offset: prepare.offset,
        span: prepare.span,
        depth: 8,
        content: prepare.content.clone(),
        ..Workload::plain(doing)
    }
}
