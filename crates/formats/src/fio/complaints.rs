//! What fio says on stderr of jobs that fail: blocks that are not as they were written, rates and times that were not kept.
//!
//! Source of the words: verify.c, backend.c and io_u.c of fio 3.42.

use record::{ErrorSample, Run, WorkloadResult};

use super::command::Command;
use super::job::Job;
use super::output::DIRECTIONS;

/// fio's magic, with which the header of a block begins.
const MAGIC: u16 = 0xacca;

impl Command {
    /// What fio says of the jobs of `run` that failed, a line each; `named` is what the jobs call the file that a record tells
    /// by its path. Jobs that go on after errors say nothing of rates and times.
    pub fn complaints(&self, run: &Run, named: &dyn Fn(&str) -> String) -> Vec<String> {
        let mut lines = Vec::new();
        let points = self.points(run);
        for (position, (point, reported)) in points.iter().zip(self.phases()).enumerate() {
            let read_back = points
                .get(position + 1)
                .filter(|_| self.phases().get(position + 1).is_some_and(Vec::is_empty));
            for each in reported {
                let of_entry = |workload: &&WorkloadResult| each.workloads.contains(&workload.name);
                let of = [Some(point), read_back].into_iter().flatten().flat_map(|point| &point.workloads);
                let wrong = of.filter(of_entry).flat_map(|workload| &workload.error_samples);
                let wrong = wrong.filter(|sample| sample.failure == "data-corrupt");
                lines.extend(wrong.map(|sample| verify(&self.jobs[each.job], sample, &named(&sample.file))));
            }
        }
        for (entry, each) in self.jobs_of(run) {
            let job = &self.jobs[each.job];
            let file = job.files.of_clone.first().and_then(|names| names.first());
            let file = file.map_or("", String::as_str);
            lines.extend(job.checks.broken(&entry).map(|broken| broken.words(&entry.name, file)));
        }
        lines
    }
}

/// fio's words for a block that is not what was written there.
fn verify(job: &Job, sample: &ErrorSample, file: &str) -> String {
    let (offset, len) = (sample.offset_bytes, sample.len_bytes);
    let at = format!(
        "at file {file} offset {offset}, length {len} (requested block: offset={offset}, length={len})"
    );
    let found = sample.found.as_deref().unwrap_or_default();
    let kind = job.options.text("verify").unwrap_or("verify");
    if let Some(magic) = magic(found) {
        return format!("verify: bad magic header {magic:x}, wanted {MAGIC:x} {at}");
    }
    if let Some(other) = found.strip_prefix("the header of byte ") {
        return format!("verify: bad header offset {other}, wanted {offset} {at}");
    }
    let pattern = sample.expected.as_deref().and_then(|expected| {
        let wanted = expected.strip_prefix("byte ")?.strip_suffix(" of the pattern")?;
        let (got, place) = found.strip_suffix(" of the block")?.split_once(" at byte ")?;
        Some(format!("fio: got pattern '{got}', wanted '{wanted}'\nfio: bad pattern block offset {place}\n"))
    });
    format!("{}{kind}: verify failed {at}", pattern.unwrap_or_default())
}

/// What stands in the place of the magic, of a block that has no header: `zeros`, or `no header; it begins with 58ac0000…`.
fn magic(found: &str) -> Option<u16> {
    if found == "zeros" {
        return Some(0);
    }
    let begins = found.strip_prefix("no header; it begins with ")?;
    let byte = |at: usize| u8::from_str_radix(begins.get(at..at + 2)?, 16).ok();
    Some(u16::from_le_bytes([byte(0)?, byte(2)?]))
}

/// A limit of a job that its figures broke.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Broken {
    /// A request of a direction took so long, above so much, in nanoseconds.
    Late { direction: usize, took: u64, most: u64 },
    /// Bytes a second, of which so many were wanted.
    Bytes { got: u64, least: u64 },
    /// The same of requests.
    Requests { got: u64, least: u64 },
}

impl Broken {
    /// EIO of a rate below its least, ETIMEDOUT of a request above its longest, as fio has it.
    pub(super) fn errno(self) -> i32 {
        match self {
            Broken::Late { .. } => 110,
            Broken::Bytes { .. } | Broken::Requests { .. } => 5,
        }
    }

    fn words(self, job: &str, file: &str) -> String {
        match self {
            Broken::Late { direction, took, most } => format!(
                "fio: latency of {took} nsec exceeds specified max ({most} nsec): {file} {}",
                DIRECTIONS[direction]
            ),
            Broken::Bytes { got, least } => format!("{job}: rate_min={least}B/s not met, got {got}B/s"),
            Broken::Requests { got, least } => {
                format!("{job}: rate_iops_min={least} not met, got {got} IOPS")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::command;
    use super::*;

    #[test]
    fn a_block_that_is_wrong_is_told_in_fios_words() {
        let command = command("--name=v --rw=read --size=1m --verify=md5").unwrap();
        let sample = |expected: &str, found: &str| ErrorSample {
            at_ns: 0,
            op: record::Op::Read,
            file: "/x/v".into(),
            offset_bytes: 8192,
            len_bytes: 4096,
            failure: "data-corrupt".into(),
            expected: Some(expected.into()),
            found: Some(found.into()),
            rank: None,
        };
        let told = |expected: &str, found: &str| verify(&command.jobs[0], &sample(expected, found), "v");
        let at = "at file v offset 8192, length 4096 (requested block: offset=8192, length=4096)";
        let header = "a header of fio's (md5) of byte 8192";
        assert_eq!(
            told(header, "no header; it begins with 58ac000000000000"),
            format!("verify: bad magic header ac58, wanted acca {at}")
        );
        assert_eq!(told(header, "zeros"), format!("verify: bad magic header 0, wanted acca {at}"));
        assert_eq!(told(header, "data that does not fit its header"), format!("md5: verify failed {at}"));
        assert_eq!(
            told(header, "the header of byte 0"),
            format!("verify: bad header offset 0, wanted 8192 {at}")
        );
        assert!(told("byte de of the pattern", "58 at byte 12 of the block").starts_with(
            "fio: got pattern '58', wanted 'de'\nfio: bad pattern block offset 12\nmd5: verify"
        ));
    }

    #[test]
    fn a_limit_that_was_broken_is_told_with_what_came_of_it() {
        let words = |broken: Broken| broken.words("r", "f");
        assert_eq!(
            words(Broken::Requests { got: 890, least: 1000 }),
            "r: rate_iops_min=1000 not met, got 890 IOPS"
        );
        assert_eq!(words(Broken::Bytes { got: 8, least: 9 }), "r: rate_min=9B/s not met, got 8B/s");
        let late = Broken::Late { direction: 0, took: 2000, most: 1000 };
        assert_eq!(words(late), "fio: latency of 2000 nsec exceeds specified max (1000 nsec): f read");
        assert_eq!((late.errno(), Broken::Bytes { got: 0, least: 1 }.errno()), (110, 5));
    }
}
