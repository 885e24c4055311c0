//! What a command of dd comes to on its target: a plan of the full blocks, and of what is left over.

use units::Bytes;

use super::TOOL;
use super::options::{Command, FlushAtEnd, Side, Source, Status};
use crate::plan::{Keys, Percent, PlanText};
use crate::translated::about;
use crate::{Refusal, TargetInfo, TranslatedJob};

/// The blocks that a command comes to on its target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transfer {
    /// Where the first block begins, in bytes.
    pub start: u64,
    /// Bytes in all.
    pub total: u64,
    /// Size of a block on the target's side.
    pub block: u64,
    /// The device ends before the command would.
    pub runs_out: bool,
}

impl Transfer {
    /// Blocks of full size.
    pub fn full(&self) -> u64 {
        self.total / self.block
    }

    /// Bytes of the last block, where it is shorter; otherwise zero.
    pub fn rest(&self) -> u64 {
        self.total % self.block
    }
}

impl Command {
    /// What the command comes to.
    pub fn transfer(&self, target: TargetInfo) -> Result<Transfer, Refusal> {
        let usage = |what: String| Refusal::usage(TOOL, what);
        let (start, block) = match self.side {
            Side::Read => (self.skip.bytes(self.ibs), self.ibs),
            Side::Write(_) => (self.seek.bytes(self.obs), self.obs),
        };
        let start = start.ok_or_else(|| usage("the offset is past the end of any device".into()))?;
        let count = match self.count.map(|count| count.bytes(self.ibs)) {
            Some(None) => return Err(usage("the count is more than any device holds".into())),
            Some(Some(count)) => Some(count),
            None => None,
        };
        if count == Some(0) {
            return Ok(Transfer { start, total: 0, block, runs_out: false });
        }
        let bounded = self.side == Side::Read || target.is_fixed();
        let room = target.size.saturating_sub(start);
        if bounded && room == 0 {
            let (name, size) = (&self.target, target.size);
            return Err(usage(format!("{name} has {size} bytes, nothing is left behind the first {start}")));
        }
        let total = match count {
            Some(count) if bounded => count.min(room),
            Some(count) => count,
            None if bounded => room,
            None => {
                let name = &self.target;
                return Err(usage(format!(
                    "without `count=` {name} would grow until the file system is full"
                )));
            }
        };
        let writes = self.side != Side::Read;
        let runs_out = writes && bounded && count.is_none_or(|count| count > room);
        Ok(Transfer { start, total, block, runs_out })
    }

    /// The plan that reads or writes `transfer`. `seed` differs from call to call.
    pub fn translate(&self, transfer: Transfer, target: TargetInfo, seed: u32) -> TranslatedJob {
        assert!(transfer.block > 0, "a block has a byte at least");
        debug_assert_eq!(
            transfer.full() * transfer.block + transfer.rest(),
            transfer.total,
            "whole blocks and the last one are all bytes"
        );
        let mut plan = PlanText::new("dd", &about(TOOL, &self.words), Some(seed.into()));
        let keys = Keys::default().with("pattern", "sequential").with("engine", "pread");
        let keys = match self.side {
            Side::Read => keys.with("reads", Percent(100)),
            Side::Write(source) => {
                let content = if source == Source::Zeros { "zeros" } else { "random" };
                keys.with("reads", Percent(0)).with("content", content)
            }
        };
        plan.defaults(keys.maybe("sync", self.sync));
        let rest = transfer.rest();
        if transfer.full() > 0 {
            let is_last = rest == 0;
            plan.phase(self.phase(
                "blocks",
                transfer.start,
                transfer.block,
                transfer.full(),
                self.direct,
                is_last,
            ));
        }
        if rest > 0 {
            let start = transfer.start + (transfer.total - rest);
            // As GNU dd does: what is no multiple of a sector at the end goes through the page cache.
            let direct =
                self.direct && target.direct_unit.is_none_or(|unit| rest.is_multiple_of(unit.max(1)));
            plan.phase(self.phase("last block", start, rest, 1, direct, true));
        }
        let notes = match self.status {
            Status::None => Vec::new(),
            _ => self.notes.clone(),
        };
        TranslatedJob { plan: plan.text(), targets: vec![self.target.clone()], notes }
    }

    fn phase(&self, name: &str, start: u64, size: u64, ops: u64, direct: bool, is_last: bool) -> Keys {
        // Both offset and size are multiples of it, and so it is of whatever they are.
        let align = common_divisor(start, size);
        let keys = Keys::named(name)
            .with("size", Bytes::new(size))
            .with("align", Bytes::new(align))
            .with("offset", Bytes::new(start))
            .with("span", Bytes::new(size * ops))
            .with("ops", ops)
            .with("direct", direct);
        match self.flush.filter(|_| is_last) {
            None => keys,
            Some(FlushAtEnd::Fsync) => keys.with("flush_at_end", true).with("flush", "fsync"),
            Some(FlushAtEnd::Fdatasync) => keys.with("flush_at_end", true).with("flush", "fdatasync"),
        }
    }
}

fn common_divisor(mut one: u64, mut other: u64) -> u64 {
    let (start, size) = (one, other);
    while other > 0 {
        (one, other) = (other, one % other);
    }
    assert!(one > 0, "a divisor of a size that is not nothing");
    debug_assert!(start.is_multiple_of(one) && size.is_multiple_of(one), "it divides both");
    one
}
