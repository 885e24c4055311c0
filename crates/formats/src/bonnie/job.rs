//! What a call comes to: a plan, files of its own, and what is printed above the figures.

use super::{Chars, Command, FileTest, Generation, Sheet, Test, usage};
use crate::{Refusal, TranslatedJob, quoted};

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

/// A file that is made for the test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DataFile {
    /// Its path, also a target of the plan.
    pub path: String,
    /// How large it becomes.
    pub bytes: u64,
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
        let mut plan = format!(
            "name  = {}\nabout = {}\nseed  = {seed}\n",
            quoted(self.generation.tool()),
            quoted(&format!("workload of `{}` in {}", self.generation.tool(), self.directory))
        );
        let mut targets: Vec<String> = data_files.iter().map(|file| file.path.clone()).collect();
        if size > 0 {
            let on = match (data_files.len(), self.files) {
                (0, _) | (_, None) => String::new(),
                (count, Some(_)) => format!("on      = \"1-{count}\"\n"),
            };
            plan += &self.passes(size << 20, &on, machine.is_array);
        }
        if let Some(files) = self.files {
            plan += &self.file_phases(files);
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
            seed,
            files: self.files,
        };
        Ok(Job { translated: TranslatedJob { plan, targets, notes }, data_files, sheet })
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
        (0..count).map(|number| DataFile { path: name(number), bytes: bytes(number) }).collect()
    }

    /// The tests of the large file.
    fn passes(&self, size: u64, on: &str, is_array: bool) -> String {
        let copies = u64::from(self.copies);
        let own_span = match copies {
            1 => String::new(),
            _ => format!("worker_offset = \"{size}B\"\n"),
        };
        let each = if self.sync_each { "flush_every = 1\n" } else { "" };
        let end = "flush_at_end = true\n";
        let pass = |test: Test, keys: String, span: u64, bytes: u64, direct: bool| {
            format!(
                "\n[[phase]]\nname    = \"{}\"\npattern = \"sequential\"\nworkers = {copies}\ndirect  = {direct}\n\
                 content = \"zeros\"\nflush   = \"fsync\"\nspan    = \"{span}B\"\nbytes   = \"{}B\"\n{on}{own_span}{keys}",
                test.phase(),
                bytes * copies
            )
        };
        let chars = match self.chars {
            Chars::Skip => 0,
            Chars::All => size,
            Chars::Mib(mib) => (mib << 20).min(size),
        };
        let char_keys = match (self.generation, is_array) {
            (Generation::V200, _) => "size    = \"1B\"\nengine  = \"pread\"\n",
            (Generation::V103, false) => "size    = \"1B\"\nengine  = \"stdio\"\n",
            (Generation::V103, true) => "size    = \"4KiB\"\nengine  = \"stdio\"\n",
        };
        let block = format!("size    = \"{}B\"\nengine  = \"pread\"\n", self.chunk);
        let mut plan = String::new();
        if chars > 0 {
            plan += &pass(Test::Putc, format!("reads   = \"0%\"\n{char_keys}{end}"), chars, chars, false);
            if !is_array {
                plan += AFRESH;
            }
        }
        let direct = self.direct;
        plan += &pass(Test::Write, format!("reads   = \"0%\"\n{block}{each}{end}"), size, size, direct);
        // A rewritten block counts twice, as a read and as a write.
        let rewrites = format!("reads   = \"100%\"\nrewrites = \"100%\"\n{block}{each}{end}");
        plan += &pass(Test::Rewrite, rewrites, size, 2 * size, direct);
        if chars > 0 {
            plan += &pass(Test::Getc, format!("reads   = \"100%\"\n{char_keys}"), chars, chars, false);
        }
        plan += &pass(Test::Read, format!("reads   = \"100%\"\n{block}"), size, size, direct);
        // Every tenth block of a process is written back, and that counts as a request.
        let requests = with_tenths(u64::from(self.seeks), u64::from(self.seekers));
        plan += &format!(
            "\n[[phase]]\nname    = \"wait\"\nstate   = \"idle\"\nrun     = \"5s\"\n\n\
             [[phase]]\nname    = \"{}\"\npattern = \"random(repeats)\"\nworkers = {}\ndirect  = {direct}\n\
             content = \"zeros\"\nflush   = \"fsync\"\nspan    = \"{}B\"\nops     = {}\n{on}reads   = \"100%\"\n\
             rewrites = \"10%\"\n{block}{each}",
            Test::Seeks.phase(),
            u64::from(self.seekers) * copies,
            size * copies,
            requests * copies,
        );
        plan
    }

    /// The tests of small files.
    fn file_phases(&self, files: FileTest) -> String {
        let FileTest { thousands, max, min, dirs } = files;
        let size = if min < max { format!("{min}B..{max}B") } else { format!("{max}B") };
        let levels = u32::from(dirs > 0);
        let tree = format!(
            "count     = {}\nfile_size = \"{size}\"\nlevels    = {levels}\nfanout    = {}\nworkers   = {}\nunique_dirs = {}\n",
            u64::from(thousands) * 1024 * u64::from(self.copies),
            dirs.max(1),
            self.copies,
            self.copies > 1,
        );
        // A file that holds something is also read.
        let stat = if max > 0 { "read" } else { "stat" };
        let fsync = if self.sync_each { "each" } else { "end" };
        let phase = |test: Test, op: &str, order: &str, fsync: &str| {
            format!(
                "\n[[phase]]\nname      = \"{}\"\ntree      = \"{op}\"\norder     = \"{order}\"\nfsync     = \"{fsync}\"\n{tree}",
                test.phase()
            )
        };
        [
            phase(Test::Create, "create", "sequential", fsync),
            phase(Test::Stat, stat, "sequential", "none"),
            phase(Test::Delete, "delete", "sequential", fsync),
            phase(Test::RandomCreate, "create", "random", fsync),
            phase(Test::RandomStat, stat, "random", "none"),
            phase(Test::RandomDelete, "delete", "random", fsync),
        ]
        .concat()
    }
}

/// A file that is there is cut to nothing before it is written in blocks, as the original makes it anew.
const AFRESH: &str = "\n[[phase]]\nname    = \"afresh\"\nstate   = \"prepare\"\nempty   = true\nfill    = 0\ndrop_caches = false\n";

/// Requests of `seekers` that share so many `seeks` evenly, each of which writes back every tenth block it reads.
fn with_tenths(seeks: u64, seekers: u64) -> u64 {
    let own = |seeker: u64| seeks / seekers + u64::from(seeker < seeks % seekers);
    (0..seekers).map(|seeker| own(seeker) + own(seeker) / 10).sum()
}
