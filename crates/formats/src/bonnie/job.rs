//! What a call comes to: a plan, files of its own, and what is printed above the figures.

use units::{Bytes, Nanos};

use super::{Chars, Command, FileTest, Generation, Sheet, Test, usage};
use crate::plan::{Keys, Percent, PlanText};
use crate::{DataFile, Refusal, TranslatedJob};

/// Where and on what machine.
#[derive(Clone, Debug)]
pub struct Machine {
    /// Whether the directory is a virtual array instead.
    pub is_array: bool,
    /// Memory of this machine.
    pub ram_mib: u64,
    /// Its name.
    pub hostname: String,
    /// Distinguishes the files of this call from those of others.
    pub pid: u32,
    /// Differs from call to call.
    pub seed: u32,
}

/// A call, ready to be carried out.
#[derive(Clone, Debug)]
pub struct Job {
    /// Plan and targets: the data files, and the directory after them where small files are tested.
    pub translated: TranslatedJob,
    /// The files, first targets of the plan. None on a virtual array.
    pub data_files: Vec<DataFile>,
    /// What is printed beside the figures.
    pub sheet: Sheet,
}

/// 1.03 has files of 1 GiB at most.
const FILE_MIB: u64 = 1024;

impl Command {
    /// The size of the file of each copy, in MiB.
    fn size_mib(&self, machine: &Machine) -> Result<u64, Refusal> {
        let ram = match (self.ram_mib, machine.is_array) {
            (Some(ram), _) => ram,
            // The memory of the machine that computes a virtual array is not in the way.
            (None, true) => 0,
            (None, false) => machine.ram_mib,
        };
        let size = match self.size_mib {
            Some(size) if size > 0 && size < 2 * ram => {
                let what = format!(
                    "File size should be double RAM for good results, RAM is {ram}M; `-r 0` leaves it unchecked"
                );
                return Err(usage(self.generation, what));
            }
            Some(size) => size,
            None => match 2 * ram {
                twice if twice % 1024 > 512 => twice.next_multiple_of(1024),
                twice => twice.max(300),
            },
        };
        let total = size.checked_mul(u64::from(self.copies)).filter(|total| *total <= 1 << 30);
        match total {
            None => Err(usage(self.generation, format!("{} copies of {size} MiB are too much", self.copies))),
            Some(total) if total.div_ceil(FILE_MIB) > 1024 => {
                Err(usage(self.generation, format!("{total} MiB are more than 1024 files of 1 GiB hold")))
            }
            Some(_) => Ok(size),
        }
    }

    /// All that the call comes to.
    pub fn job(&self, machine: &Machine) -> Result<Job, Refusal> {
        let size = self.size_mib(machine)?;
        if size > 0 && (size << 20) < u64::from(self.chunk) {
            return Err(usage(self.generation, "a block is larger than the file"));
        }
        let data_files = if machine.is_array { Vec::new() } else { self.data_files(size, machine) };
        let seed = self.seed.unwrap_or(machine.seed);
        let tool = self.generation.tool();
        let about = format!("workload of `{tool}` in {}", self.directory);
        let mut plan = PlanText::new(tool, &about, Some(seed.into()));
        let mut targets: Vec<String> = data_files.iter().map(|file| file.path.clone()).collect();
        if size > 0 {
            let on =
                (!data_files.is_empty() && self.files.is_some()).then(|| format!("1-{}", data_files.len()));
            self.passes(size << 20, on.as_ref(), machine.is_array, &mut plan);
        }
        if let Some(files) = self.files {
            self.file_phases(files, &mut plan);
        }
        if self.files.is_some() || targets.is_empty() {
            targets.push(self.directory.clone());
        }
        let mut notes = self.notes.clone();
        if machine.is_array && self.generation == Generation::V103 && self.chars != Chars::Skip && size > 0 {
            notes.push("a virtual array gets the 4 KiB that putc and getc gather, not each character".into());
        }
        let sheet = Sheet {
            generation: self.generation,
            name: self.name.clone().unwrap_or_else(|| machine.hostname.clone()),
            size_mib: size,
            chunk: self.chunk,
            seeks: self.seeks,
            seekers: self.seekers,
            copies: self.copies,
            // The original's line has the name of the file in place of a number; its columns are apart by commas.
            seed: match &self.random_file {
                Some(file) => file.replace([',', '\n'], "_"),
                None => seed.to_string(),
            },
            files: self.files,
        };
        Ok(Job { translated: TranslatedJob { plan: plan.text(), targets, notes }, data_files, sheet })
    }

    /// 1.03 fills files of 1 GiB, 2.00 one file for each copy.
    fn data_files(&self, size: u64, machine: &Machine) -> Vec<DataFile> {
        let each = if self.generation == Generation::V103 { FILE_MIB } else { size };
        let total = size * u64::from(self.copies);
        let count = if total == 0 { 0 } else { total.div_ceil(each) };
        let name = |number| match (self.generation, self.copies) {
            (Generation::V200, 1) => format!("{}/Bonnie.{}", self.directory, machine.pid),
            _ => format!("{}/Bonnie.{}.{number:03}", self.directory, machine.pid),
        };
        let bytes = |number: u64| (total - number * each).min(each) << 20;
        let files: Vec<DataFile> =
            (0..count).map(|number| DataFile { path: name(number), bytes: bytes(number) }).collect();
        debug_assert_eq!(
            files.iter().map(|file| file.bytes).sum::<u64>(),
            total << 20,
            "the files are the whole"
        );
        files
    }

    /// The tests of the large file.
    fn passes(&self, size: u64, on: Option<&String>, is_array: bool, plan: &mut PlanText) {
        assert!(size >= self.chunk.into() && self.chunk > 0, "a file has a block at least");
        let copies = u64::from(self.copies);
        let own_span = (copies > 1).then_some(Bytes::new(size));
        let each = self.sync_each.then_some(1u32);
        let pass = |test: Test, reads: u32, span: u64, bytes: u64, direct: bool| {
            Keys::named(test.phase())
                .with("pattern", "sequential")
                .with("workers", copies)
                .with("direct", direct)
                .with("content", "zeros")
                .with("flush", "fsync")
                .with("span", Bytes::new(span))
                .with("bytes", Bytes::new(bytes * copies))
                .with("reads", Percent(reads))
                .maybe("on", on)
                .maybe("worker_offset", own_span)
        };
        let chars = match self.chars {
            Chars::Skip => 0,
            Chars::All => size,
            Chars::Mib(mib) => (mib << 20).min(size),
        };
        let of_chars = |keys: Keys| match (self.generation, is_array) {
            (Generation::V200, _) => keys.with("size", Bytes::new(1)).with("engine", "pread"),
            (Generation::V103, false) => keys.with("size", Bytes::new(1)).with("engine", "stdio"),
            (Generation::V103, true) => keys.with("size", Bytes::new(4096)).with("engine", "stdio"),
        };
        let of_blocks = |keys: Keys| keys.with("size", Bytes::new(self.chunk.into())).with("engine", "pread");
        // `-b` or not, a stream is flushed once: 2.00a flushes each write of the seeks and each small file alone.
        let written = |keys: Keys| keys.with("flush_at_end", true);
        if chars > 0 {
            plan.phase(of_chars(pass(Test::Putc, 0, chars, chars, false)).with("flush_at_end", true));
            if !is_array {
                plan.phase(afresh());
            }
        }
        let direct = self.direct;
        plan.phase(written(of_blocks(pass(Test::Write, 0, size, size, direct))));
        // A rewritten block counts twice, as a read and as a write.
        let rewrite = pass(Test::Rewrite, 100, size, 2 * size, direct).with("rewrites", Percent(100));
        plan.phase(written(of_blocks(rewrite)));
        if chars > 0 {
            plan.phase(of_chars(pass(Test::Getc, 100, chars, chars, false)));
        }
        plan.phase(of_blocks(pass(Test::Read, 100, size, size, direct)));
        plan.phase(Keys::named("wait").with("state", "idle").with("run", Nanos::from_secs(5)));
        // Every tenth block of a process is written back, and that counts as a request.
        let requests = with_tenths(u64::from(self.seeks), u64::from(self.seekers));
        let seeks = Keys::named(Test::Seeks.phase())
            .with("pattern", "random(repeats)")
            .with("workers", u64::from(self.seekers) * copies)
            .with("direct", direct)
            .with("content", "zeros")
            .with("flush", "fsync")
            .with("span", Bytes::new(size * copies))
            .with("ops", requests * copies)
            .maybe("on", on)
            .with("reads", Percent(100))
            .with("rewrites", Percent(10));
        plan.phase(of_blocks(seeks).maybe("flush_every", each));
    }

    /// The tests of small files.
    fn file_phases(&self, files: FileTest, plan: &mut PlanText) {
        let FileTest { thousands, max, min, dirs } = files;
        assert!(min <= max, "sizes of files go from less to more");
        let size = if min < max { format!("{min}B..{max}B") } else { format!("{max}B") };
        // A file that holds something is also read.
        let stat = if max > 0 { "read" } else { "stat" };
        let fsync = if self.sync_each { "each" } else { "end" };
        for (test, op, order, fsync) in [
            (Test::Create, "create", "sequential", fsync),
            (Test::Stat, stat, "sequential", "none"),
            (Test::Delete, "delete", "sequential", fsync),
            (Test::RandomCreate, "create", "random", fsync),
            (Test::RandomStat, stat, "random", "none"),
            (Test::RandomDelete, "delete", "random", fsync),
        ] {
            plan.phase(
                Keys::named(test.phase())
                    .with("tree", op)
                    .with("order", order)
                    .with("fsync", fsync)
                    .with("count", u64::from(thousands) * 1024 * u64::from(self.copies))
                    .with("file_size", &size)
                    .with("levels", u32::from(dirs > 0))
                    .with("fanout", dirs.max(1))
                    .with("workers", self.copies)
                    .with("unique_dirs", self.copies > 1),
            );
        }
    }
}

/// A file that is there is cut to nothing before it is written in blocks, as the original makes it anew.
fn afresh() -> Keys {
    let keys = Keys::named("afresh").with("state", "prepare").with("empty", true);
    keys.with("fill", 0u32).with("drop_caches", false)
}

/// Requests of `seekers` that share so many `seeks` evenly, each of which writes back every tenth block it reads.
fn with_tenths(seeks: u64, seekers: u64) -> u64 {
    assert!(seekers > 0, "somebody seeks");
    let own = |seeker: u64| seeks / seekers + u64::from(seeker < seeks % seekers);
    (0..seekers).map(|seeker| own(seeker) + own(seeker) / 10).sum()
}
