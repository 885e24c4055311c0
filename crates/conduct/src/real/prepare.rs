//! Bringing a real target into a known condition: trimmed, filled, its cache dropped, its read-ahead set.

use std::fs;

use host::load::{News, run};
use host::restore::ReadAhead;
use host::target::Device;
use units::{Bytes, Share};
use workload::compile;
use workload::plan::Prepare;
use workload::spec::{OpMix, Pattern, SizeSplit, Workload};

use super::RealWorld;
use crate::event::Live;
use crate::world::WorldError;

/// Requests that fill or trim. Large enough that the device, not the calls, is the limit.
const STEP: Bytes = Bytes::MIB;

impl RealWorld {
    pub(super) fn prepare(
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
        match prepare.read_ahead {
            Some(size) => self.set_read_ahead(size),
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
        let outcomes = run(&assignments, &self.clock, &self.stop, &mut |news| {
            if let News::Progress(progress) = news {
                let done = Some(progress.ops as f64 / steps.max(1) as f64);
                live(Live { now: self.clock.now(), started, doing, progress, p99: None, done, heard: &[] });
            }
        })?;
        let errors: u64 = outcomes.iter().map(|outcome| outcome.tally.errors).sum();
        match outcomes.iter().flat_map(|outcome| &outcome.tally.error_samples).next() {
            None => Ok(()),
            Some(first) => Err(WorldError::System {
                what: format!(
                    "to {doing} the target: {errors} requests failed, the first at offset {}",
                    first.offset
                ),
                source: match first.failure {
                    workload::tally::Failure::Errno(errno) => std::io::Error::from_raw_os_error(errno.0),
                    workload::tally::Failure::Short { .. } => std::io::ErrorKind::UnexpectedEof.into(),
                    workload::tally::Failure::Corrupt => std::io::ErrorKind::InvalidData.into(),
                },
            }),
        }
    }

    fn drop_caches(&self) -> Result<(), WorldError> {
        for number in 0.. {
            let Some(scratch) = self.scratch.file(number) else { break };
            scratch.evict()?;
        }
        for path in self.targets.iter().filter_map(|each| each.target.path()).filter(|path| !path.is_dir()) {
            let failed = |source| WorldError::System {
                what: format!("dropping the cache of {}", path.display()),
                source,
            };
            let file = fs::File::open(path).map_err(failed)?;
            file.sync_data().map_err(failed)?;
            rustix::fs::fadvise(&file, 0, None, rustix::fs::Advice::DontNeed)
                .map_err(|errno| failed(errno.into()))?;
        }
        Ok(())
    }

    /// Has what was written to the targets reach their media, as far as a flush commands it.
    pub(super) fn flush(&self) -> Result<(), WorldError> {
        let mut has_scratch = false;
        for number in 0.. {
            let Some(scratch) = self.scratch.file(number) else { break };
            scratch.sync()?;
            has_scratch = true;
        }
        for path in self.targets.iter().filter_map(|each| each.target.path()) {
            // Of a directory with scratch files these are what was written.
            if path.is_dir() && has_scratch {
                continue;
            }
            let failed = |source| WorldError::System { what: format!("flushing {}", path.display()), source };
            let file = fs::File::open(path).map_err(failed)?;
            match path.is_dir() {
                true => rustix::fs::syncfs(&file).map_err(|errno| failed(errno.into()))?,
                false => file.sync_data().map_err(failed)?,
            }
        }
        Ok(())
    }

    fn set_read_ahead(&mut self, size: Bytes) -> Result<(), WorldError> {
        let devices: Vec<Device> =
            self.targets.iter().flat_map(|each| &each.facts.devices).cloned().collect();
        if devices.is_empty() {
            let why = "read-ahead belongs to a block device, and the target has none".to_owned();
            return Err(WorldError::Unfit(why));
        }
        for device in devices {
            // Of several settings in a run, the one before the first is put back.
            let set = match self.read_ahead.iter_mut().find(|known| known.is_of(&device)) {
                Some(known) => known.again(size),
                None => ReadAhead::set(&self.root, &self.journal, &device, size)
                    .map(|set| self.read_ahead.push(set)),
            };
            let what = || format!("setting the read-ahead of {}", device.node.display());
            set.map_err(|source| WorldError::System { what: what(), source })?;
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
