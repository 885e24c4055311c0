//! Traces of a plan: which there are, and what their workloads must not ask for.

use std::collections::HashMap;
use std::sync::Arc;

use units::{Bytes, Share};

use super::check::{Fault, fault};
use super::{Plan, Task};
use crate::Op;
use crate::spec::{Extent, Files, LunLayout, Pattern, Span, Verify, Workload};
use crate::trace::{Replay, Trace, asked};

/// A trace as it is asked: its file, the scale of its offsets, what they are multiples of, what is left out, and what
/// the rest becomes.
type Key = (String, u32, Option<Bytes>, Vec<Op>, Option<Op>);

impl Plan {
    /// Gives every workload that asks a trace again its requests, read by `read` from the file of that name, each file
    /// once. Without it such a workload cannot be carried out.
    ///
    /// Size, mix and, where nothing is said of it, span of the workload are then those of its trace. Fails as `read`
    /// does.
    pub fn attach<E>(&mut self, mut read: impl FnMut(&str) -> Result<Trace, E>) -> Result<(), E> {
        let mut files: HashMap<String, Arc<Trace>> = HashMap::new();
        let mut parts: HashMap<Key, Arc<Trace>> = HashMap::new();
        for point in &mut self.points {
            let Task::Load(load) = &mut point.task else { continue };
            for workload in &mut load.workloads {
                let align = workload.align;
                let Pattern::Trace(replay) = &mut workload.pattern else { continue };
                let whole = match files.get(&replay.file) {
                    Some(whole) => whole.clone(),
                    None => {
                        let whole = Arc::new(read(&replay.file)?);
                        files.insert(replay.file.clone(), whole.clone());
                        whole
                    }
                };
                let key = (replay.file.clone(), replay.scale, align, replay.skip.clone(), replay.as_op);
                let part = parts.entry(key).or_insert_with(|| replay.part_of(&whole, align)).clone();
                (workload.sizes, workload.mix) = asked(&part);
                if workload.span == Span::Auto && !replay.fold {
                    // Files that are made for the load are as long as the trace reaches.
                    let reach = part.extent().round_up(Bytes::KIB * 4).max(Bytes::KIB * 4);
                    workload.span = Span::Of(Extent::Bytes(reach));
                }
                replay.requests = Some(part);
            }
        }
        Ok(())
    }
}

/// What a workload that asks a trace again must not say.
pub(super) fn faults(workload: &Workload, replay: &Replay, faults: &mut Vec<Fault>) {
    if replay.file.is_empty() {
        let message = "`pattern = \"trace\"` needs a `trace`".into();
        faults.push(fault("pattern", message, "write its file: `trace = \"database.iolog\"`"));
    }
    if replay.skip.len() == Op::ALL.len() {
        faults.push(fault("trace_skip", "nothing is left of the trace".into(), "leave one operation in"));
    }
    let says = [
        (!workload.lines.is_empty(), "mix"),
        (workload.random.is_some(), "random"),
        (workload.rewrites != Share::NONE, "rewrites"),
        (workload.worker_offset.is_some(), "worker_offset"),
        (workload.files != Files::Shared, "files"),
        (workload.luns != LunLayout::Concatenated, "luns"),
        (workload.sequence.consecutive > 1, "consecutive"),
        (workload.sequence.even_mix, "even_mix"),
        (workload.sequence.read_back.is_some(), "read_back"),
        (workload.stop.loops.is_some(), "loops"),
        (workload.zones.are_there(), "zone_size"),
    ];
    for (_, key) in says.into_iter().filter(|(says, _)| *says) {
        let message = format!("the trace has its own requests, and `{key}` contradicts it");
        faults.push(fault(key, message, "leave it out"));
    }
    if workload.align.is_some_and(Bytes::is_zero) {
        faults.push(fault("align", "an alignment cannot be 0".into(), "for example 4KiB, or auto"));
    }
    if workload.verify != Verify::None {
        let message = "the sizes of a trace are no whole number of stamped blocks".into();
        faults.push(fault("verify", message, "leave it out"));
    }
}
