//! What dd prints on stderr, of both generations.

use record::{Point, Run};

use super::number;
use crate::{NoFigures, Output};

/// Which generation's lines are printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Generation {
    /// Of coreutils 8.25 (2016) and later: sizes in SI and IEC units.
    #[default]
    New,
    /// Before: sizes in SI units alone.
    Old,
}

/// What dd counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Copied {
    /// Blocks that were read whole, and others.
    pub blocks_in: (u64, u64),
    /// Blocks that were written whole, and others.
    pub blocks_out: (u64, u64),
    /// Bytes that were written.
    pub bytes: u64,
    /// From the first block to the last flush.
    pub elapsed_ns: u64,
}

impl Copied {
    /// What `points` moved, in blocks of `ibs` and `obs` bytes: all requests of all of them, one after the other.
    pub fn of<'a>(points: impl IntoIterator<Item = &'a Point>, ibs: u64, obs: u64) -> Copied {
        let (mut bytes, mut elapsed_ns) = (0, 0);
        for point in points {
            let classes = point.workloads.iter().flat_map(|workload| &workload.classes);
            bytes += classes.map(|class| class.bytes).sum::<u64>();
            elapsed_ns += point.workloads.iter().map(|workload| workload.measured_ns).max().unwrap_or(0);
        }
        Copied::so_far(bytes, elapsed_ns, ibs, obs)
    }

    /// The same from bare figures.
    pub fn so_far(bytes: u64, elapsed_ns: u64, ibs: u64, obs: u64) -> Copied {
        let blocks = |size: u64| (bytes / size.max(1), u64::from(!bytes.is_multiple_of(size.max(1))));
        Copied { blocks_in: blocks(ibs), blocks_out: blocks(obs), bytes, elapsed_ns }
    }

    /// The two lines of records.
    pub fn records(&self) -> String {
        let ((full_in, part_in), (full_out, part_out)) = (self.blocks_in, self.blocks_out);
        format!("{full_in}+{part_in} records in\n{full_out}+{part_out} records out\n")
    }

    /// The line of the transfer.
    pub fn transfer(&self, generation: Generation) -> String {
        let seconds = number::shortest(self.elapsed_ns as f64 / 1e9);
        let rate = number::rate(self.bytes, self.elapsed_ns);
        format!("{} copied, {seconds} s, {rate}\n", self.amount(generation))
    }

    /// The line of `status=progress`, without what goes before and after it.
    pub fn progress(&self, generation: Generation) -> String {
        let seconds = self.elapsed_ns as f64 / 1e9;
        format!(
            "{} copied, {seconds:.0} s, {}",
            self.amount(generation),
            number::rate(self.bytes, self.elapsed_ns)
        )
    }

    fn amount(&self, generation: Generation) -> String {
        let (bytes, plural) = (self.bytes, if self.bytes == 1 { "" } else { "s" });
        let (si, iec) = (number::si(bytes), number::iec(bytes));
        match generation {
            Generation::Old => format!("{bytes} byte{plural} ({si})"),
            Generation::New if !number::has_prefix(bytes, 1000) => format!("{bytes} byte{plural}"),
            Generation::New if !number::has_prefix(bytes, 1024) => format!("{bytes} byte{plural} ({si})"),
            Generation::New => format!("{bytes} byte{plural} ({si}, {iec})"),
        }
    }
}

/// dd's output of any run that reads or writes.
pub const OUTPUT: Output = Output {
    name: "dd",
    ending: "dd.txt",
    about: "records and rate of each point, as dd prints them",
    write: text,
};

fn text(run: &Run) -> Result<String, NoFigures> {
    let mut text = String::new();
    for point in &run.points {
        let classes = point.workloads.iter().flat_map(|workload| &workload.classes);
        let Some(size) = classes.filter(|class| class.bytes > 0).map(|class| class.size_bytes).max() else {
            continue;
        };
        let copied = Copied::of([point], size, size);
        text += &(copied.records() + &copied.transfer(Generation::New));
    }
    match text.is_empty() {
        true => Err(NoFigures {
            format: "dd",
            why: "no point moves data; `fathom run dd-sweep` has such points".into(),
        }),
        false => Ok(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn transfer(bytes: u64, elapsed_ns: u64, generation: Generation) -> String {
        Copied::so_far(bytes, elapsed_ns, 512, 512).transfer(generation)
    }

    #[test]
    fn both_generations_have_their_own_line() {
        let (bytes, elapsed) = (2_147_483_648, 3_968_160_000);
        assert_eq!(
            transfer(bytes, elapsed, Generation::Old),
            "2147483648 bytes (2.1 GB) copied, 3.96816 s, 541 MB/s\n"
        );
        assert_eq!(
            transfer(bytes, elapsed, Generation::New),
            "2147483648 bytes (2.1 GB, 2.0 GiB) copied, 3.96816 s, 541 MB/s\n"
        );
        assert_eq!(transfer(1, 33_760, Generation::New), "1 byte copied, 3.376e-05 s, 29.6 kB/s\n");
        assert_eq!(
            transfer(1000, 33_760, Generation::New),
            "1000 bytes (1.0 kB) copied, 3.376e-05 s, 29.6 MB/s\n"
        );
        assert_eq!(
            transfer(512, 33_760, Generation::Old),
            "512 bytes (512 B) copied, 3.376e-05 s, 15.2 MB/s\n"
        );
    }

    #[test]
    fn what_is_left_over_is_a_partial_record() {
        let copied = Copied::so_far(2500, 1, 1000, 512);
        assert_eq!(copied.records(), "2+1 records in\n4+1 records out\n");
    }
}
