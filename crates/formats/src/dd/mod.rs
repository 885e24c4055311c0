//! dd of GNU coreutils: one stream, one block at a time.
//!
//! What is measured is one side: `if=/dev/zero` or `/dev/urandom` writes to `of=`, and `of=/dev/null` reads from
//! `if=`. Copying from one place to another is no measurement of either, and not supported.

mod number;
mod operands;
mod output;

pub use operands::{Amount, Command, FlushAtEnd, Side, Source, Status};
pub use output::{Copied, Generation, OUTPUT};

use crate::{Refusal, TranslatedJob, quoted};

const TOOL: &str = "dd";

/// What was found where the target is named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Found {
    /// Its size; zero for a file that is not there.
    pub size: u64,
    /// What it is.
    pub kind: FoundKind,
    /// What lengths and offsets of direct I/O are multiples of, where that is known.
    pub direct_unit: Option<u64>,
}

/// What a target is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FoundKind {
    /// A device or a virtual array: its size is fixed.
    Device,
    /// A file that is there.
    File,
    /// A file that is not.
    NewFile,
}

/// The blocks that a command comes to on what was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Work {
    /// Where the first block begins, in bytes.
    pub start: u64,
    /// Bytes in all.
    pub total: u64,
    /// Size of a block on the target's side.
    pub block: u64,
    /// The device ends before the command would.
    pub runs_out: bool,
}

impl Work {
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
    pub fn work(&self, found: Found) -> Result<Work, Refusal> {
        let usage = |what: String| Refusal::Usage { tool: TOOL, what };
        let (start, block) = match self.side {
            Side::Read => (self.skip.bytes(self.ibs), self.ibs),
            Side::Write(_) => (self.seek.bytes(self.obs), self.obs),
        };
        let start = start.ok_or_else(|| usage("the offset is past the end of any device".into()))?;
        let asked = match self.count.map(|count| count.bytes(self.ibs)) {
            Some(None) => return Err(usage("the count is more than any device holds".into())),
            Some(Some(asked)) => Some(asked),
            None => None,
        };
        let bounded = self.side == Side::Read || found.kind == FoundKind::Device;
        let room = found.size.saturating_sub(start);
        if bounded && room == 0 {
            let (name, size) = (&self.target, found.size);
            return Err(usage(format!("{name} has {size} bytes, nothing is left behind the first {start}")));
        }
        let total = match asked {
            Some(asked) if bounded => asked.min(room),
            Some(asked) => asked,
            None if bounded => room,
            None => {
                let name = &self.target;
                return Err(usage(format!(
                    "without `count=` {name} would grow until the file system is full"
                )));
            }
        };
        let writes = self.side != Side::Read;
        let runs_out = writes && bounded && asked.is_none_or(|asked| asked > room);
        if total == 0 {
            return Err(usage("`count=0` moves nothing, so there is nothing to measure".into()));
        }
        Ok(Work { start, total, block, runs_out })
    }

    /// The plan that does `work`. `seed` differs from call to call.
    pub fn translate(&self, work: Work, found: Found, seed: u32) -> TranslatedJob {
        let mut plan = format!(
            "name  = \"dd\"\nabout = {}\nseed  = {seed}\n\n[defaults]\npattern = \"sequential\"\nengine  = \"pread\"\n",
            quoted(&format!("what `dd {}` asks for", self.words.join(" ")))
        );
        match self.side {
            Side::Read => plan += "reads   = \"100%\"\n",
            Side::Write(source) => {
                let content = if source == Source::Zeros { "zeros" } else { "random" };
                plan += &format!("reads   = \"0%\"\ncontent = \"{content}\"\n");
            }
        }
        if let Some(sync) = self.sync {
            plan += &format!("sync    = \"{sync}\"\n");
        }
        let rest = work.rest();
        if work.full() > 0 {
            let is_last = rest == 0;
            plan += &self.phase("blocks", work.start, work.block, work.full(), self.direct, is_last);
        }
        if rest > 0 {
            let start = work.start + (work.total - rest);
            // As GNU dd does: what is no multiple of a sector at the end goes through the page cache.
            let direct = self.direct && found.direct_unit.is_none_or(|unit| rest.is_multiple_of(unit.max(1)));
            plan += &self.phase("last block", start, rest, 1, direct, true);
        }
        let notes = match self.status {
            Status::None => Vec::new(),
            _ => self.notes.clone(),
        };
        TranslatedJob { plan, targets: vec![self.target.clone()], notes }
    }

    fn phase(&self, name: &str, start: u64, size: u64, ops: u64, direct: bool, is_last: bool) -> String {
        // Both offset and size are multiples of it, and so it is of whatever they are.
        let align = common_divisor(start, size);
        let span = size * ops;
        let mut phase = format!(
            "\n[[phase]]\nname    = \"{name}\"\nsize    = \"{size}B\"\nalign   = \"{align}B\"\noffset  = \"{start}B\"\n\
             span    = \"{span}B\"\nops     = {ops}\ndirect  = {direct}\n"
        );
        if let (true, Some(flush)) = (is_last, self.flush) {
            let call = if flush == FlushAtEnd::Fsync { "fsync" } else { "fdatasync" };
            phase += &format!("flush_at_end = true\nflush   = \"{call}\"\n");
        }
        phase
    }
}

fn common_divisor(mut one: u64, mut other: u64) -> u64 {
    while other > 0 {
        (one, other) = (other, one % other);
    }
    one
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Command {
        Command::parse(&line.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
            .unwrap_or_else(|refusal| panic!("{line}: {refusal}"))
    }

    const DEVICE: Found = Found { size: 10_000_000, kind: FoundKind::Device, direct_unit: Some(512) };
    const NEW: Found = Found { size: 0, kind: FoundKind::NewFile, direct_unit: Some(512) };

    #[test]
    fn a_device_ends_a_command_without_count() {
        let read = parse("if=/dev/sda of=/dev/null bs=1M").work(DEVICE).unwrap();
        assert_eq!(read, Work { start: 0, total: 10_000_000, block: 1 << 20, runs_out: false });
        assert_eq!((read.full(), read.rest()), (9, 10_000_000 - 9 * (1 << 20)));
        let write = parse("if=/dev/zero of=/dev/sda bs=1M seek=3").work(DEVICE).unwrap();
        assert_eq!((write.start, write.total, write.runs_out), (3 << 20, 10_000_000 - (3 << 20), true));
        let within = parse("if=/dev/zero of=/dev/sda bs=1M count=9").work(DEVICE).unwrap();
        assert!(!within.runs_out);
        assert!(parse("if=/dev/zero of=new bs=1M").work(NEW).is_err());
        assert!(parse("if=/dev/sda of=/dev/null bs=1M skip=10").work(DEVICE).is_err());
        assert!(parse("if=/dev/sda of=/dev/null count=0").work(DEVICE).is_err());
    }

    #[test]
    fn counts_and_offsets_in_bytes_are_taken_as_such() {
        let work = parse("if=/dev/sda of=/dev/null bs=1000 count=2500B skip=7B").work(DEVICE).unwrap();
        assert_eq!((work.start, work.full(), work.rest()), (7, 2, 500));
        let old = parse("if=/dev/sda of=/dev/null bs=1000 count=2500 skip=7 iflag=count_bytes,skip_bytes");
        assert_eq!(old.work(DEVICE).unwrap(), work);
    }

    #[test]
    fn every_order_is_a_plan_that_asks_for_the_work() {
        let lines = [
            "if=/dev/sda of=/dev/null bs=1M",
            "if=/dev/sda of=/dev/null bs=4k skip=3 count=7 iflag=direct",
            "if=/dev/zero of=/dev/sda bs=64k count=10 oflag=direct,dsync conv=fdatasync,notrunc",
            "if=/dev/urandom of=/dev/sda ibs=4k obs=1M count=300 conv=fsync",
            "if=/dev/zero of=/dev/sda oflag=sync count=1",
        ];
        for line in lines {
            let command = parse(line);
            let work = command.work(DEVICE).unwrap();
            let order = command.translate(work, DEVICE, 7);
            let plan = workload::plan::Plan::parse("dd", &order.plan, &Default::default())
                .unwrap_or_else(|errors| panic!("{line}: {}\n{}", errors.plain(), order.plan));
            let (mut asked, mut from) = (0, u64::MAX);
            for workload in plan.points().iter().flat_map(workload::plan::Point::workloads) {
                asked += workload.stop.ops.unwrap() * workload.sizes.largest().get();
                if let workload::spec::Extent::Bytes(offset) = workload.offset {
                    from = from.min(offset.get());
                }
            }
            assert_eq!((asked, from), (work.total, work.start), "{line}");
        }
    }
}
