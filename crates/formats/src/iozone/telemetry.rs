//! What `-X` and `-Y` name: the records of the write or read passes, one by one.
//!
//! A telemetry file says offset, length and pause of each; a plan asks it again as a trace. IOzone takes its pauses out
//! of the time of a pass, which a plan does not, so that files with pauses are refused.

use workload::trace::Trace;

use super::options::Command;
use super::pass::Pass;
use super::usage;
use crate::Refusal;

/// One telemetry file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Telemetry {
    /// Its path.
    pub file: String,
    /// Where its last byte goes, counted from 1; 0 until it has been [seen](Command::see).
    pub reach: u64,
}

impl Command {
    /// The telemetry files that were named, of writes and of reads.
    pub fn telemetry(&self) -> impl Iterator<Item = &Telemetry> {
        [&self.write_telemetry, &self.read_telemetry].into_iter().flatten()
    }

    /// Takes what a telemetry file has; for each of them, before the order is asked for.
    pub fn see(&mut self, file: &str, trace: &Trace) -> Result<(), Refusal> {
        if let Some(late) = trace.requests().find(|request| request.at.get() > 0) {
            return Err(usage(&format!(
                "{file}: the request at {} follows a pause, and IOzone takes pauses out of the time of a pass; write \
                 0, or leave the third column out",
                late.offset.get()
            )));
        }
        for telemetry in [&mut self.write_telemetry, &mut self.read_telemetry].into_iter().flatten() {
            if telemetry.file == file {
                telemetry.reach = trace.extent().get();
            }
        }
        Ok(())
    }

    /// The telemetry that `pass` follows; `None` where it goes its own way.
    pub(super) fn followed_by(&self, pass: Pass) -> Option<&Telemetry> {
        match pass {
            Pass::Write | Pass::Rewrite => self.write_telemetry.as_ref(),
            Pass::Read | Pass::Reread => self.read_telemetry.as_ref(),
            _ => None,
        }
    }
}
