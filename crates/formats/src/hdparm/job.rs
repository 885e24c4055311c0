//! What a command of hdparm comes to: a phase for each timing, with the pauses and flushes between them.

use units::{Bytes, Nanos};

use super::{CACHED, Command, DISK, TOOL};
use crate::plan::{Keys, Percent, PlanText};
use crate::{Refusal, TranslatedJob};

/// Each read, and the part that is read again and again by `-T`.
pub(super) const READ: u64 = 2 << 20;

/// As many reads at most of a file, whose size the original does not ask for.
const MOST_OF_A_FILE: u64 = 1024;

impl Command {
    /// The plan that does on `device`, of `size` bytes, what the command asks for.
    pub fn translate(&self, device: &str, size: u64, is_file: bool) -> Result<TranslatedJob, Refusal> {
        let offset = self.offset_gib.saturating_mul(1 << 30);
        let most = if is_file { MOST_OF_A_FILE } else { u64::MAX };
        let reads = (size.saturating_sub(if self.disk { offset } else { 0 }) / READ).min(most);
        if reads == 0 {
            return Err(Refusal::usage(TOOL, format!("{device}: read() hit EOF - device too small")));
        }
        let mut plan = PlanText::new("hdparm", &format!("what `hdparm` times on {device}"), None);
        let block = Bytes::new(READ);
        plan.defaults(
            Keys::default()
                .with("pattern", "sequential")
                .with("engine", "pread")
                .with("size", block)
                .with("reads", Percent(100))
                .with("direct", self.direct),
        );
        if self.cached {
            idle(&mut plan, 3);
            plan.phase(Keys::named("prime").with("span", block).with("ops", 1u32));
            flush(&mut plan);
            idle(&mut plan, 1);
            plan.phase(Keys::named(CACHED).with("span", block).with("run", Nanos::from_secs(2)));
            flush(&mut plan);
            idle(&mut plan, 1);
        }
        if self.disk {
            idle(&mut plan, 3);
            plan.phase(
                Keys::named(DISK)
                    .with("offset", Bytes::new(offset))
                    .with("span", Bytes::new(reads * READ))
                    .with("ops", reads)
                    .with("run", Nanos::from_secs(3)),
            );
            flush(&mut plan);
        }
        Ok(TranslatedJob { plan: plan.text(), targets: vec![device.into()], notes: self.notes.clone() })
    }
}

fn flush(plan: &mut PlanText) {
    plan.phase(Keys::default().with("state", "prepare").with("fill", 0u32));
}

fn idle(plan: &mut PlanText, seconds: u64) {
    plan.phase(Keys::default().with("state", "idle").with("run", Nanos::from_secs(seconds)));
}
