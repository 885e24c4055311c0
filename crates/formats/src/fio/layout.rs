//! How files are laid out before the first job: which are written in full, which are only given room, and what fio says of it.
//!
//! Source: `setup_files`, `extend_file` and `fallocate_file` in filesetup.c of fio 3.42.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::access::{READ, WRITE};
use super::command::Command;
use super::job::Job;

/// How a file that is smaller than the jobs need it becomes as large.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Growth {
    /// All of it is written before the first job.
    #[default]
    Written,
    /// Storage is set aside for it, and nothing written (fallocate).
    Allocated,
    /// The same beyond its end: it grows as it is written.
    Reserved,
    /// It becomes a hole.
    Hole,
    /// It grows as it is written.
    Left,
}

/// One file as the jobs find it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LaidOut {
    /// At least; 0 where nothing says so.
    pub bytes: u64,
    /// How it comes to that.
    pub growth: Growth,
}

/// The files of a command before its first job.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Layout {
    /// Of each target, in their order. `None` for jobs on files by their names.
    pub files: Option<Vec<LaidOut>>,
    /// What fio says of it, a line for each job that extends files.
    pub lines: String,
}

impl Command {
    /// How the files are laid out; `found` is the size of the file that is there, the largest number for what cannot grow, and
    /// `None` where nothing is.
    pub fn layout(&self, found: &dyn Fn(&str) -> Option<u64>) -> Layout {
        let mut extended: BTreeMap<&str, LaidOut> = BTreeMap::new();
        let mut lines = String::new();
        for (index, job) in self.jobs.iter().enumerate().filter(|(_, job)| job.extends_files()) {
            for clone in 0..job.files.of_clone.len() {
                let mut sizes = Vec::new();
                for (place, name) in job.files.of_clone[clone].iter().enumerate() {
                    let known = extended.get(name.as_str()).map(|file| file.bytes);
                    let known = known.or_else(|| found(name)).unwrap_or(0);
                    let Some(bytes) = job.needs(clone, place).filter(|bytes| *bytes > known) else {
                        continue;
                    };
                    let growth =
                        if self.is_read_by_then(index, name) { Growth::Written } else { job.growth() };
                    extended.insert(name, LaidOut { bytes, growth });
                    sizes.push(bytes);
                }
                lines += &line(&job.name, &sizes);
            }
        }
        let file = |(name, bytes): (&String, u64)| {
            let growth = extended.get(name.as_str()).map(|file| file.growth).unwrap_or_default();
            LaidOut { bytes, growth }
        };
        let sizes = self.file_sizes();
        let files = sizes.map(|sizes| self.translated().targets.iter().zip(sizes).map(file).collect());
        Layout { files, lines: if self.wanted.is_readonly { String::new() } else { lines } }
    }
}

impl Command {
    /// Whether a job that runs beside that one or before it reads the file: of storage that was never written it would read
    /// nothing, and no device would be asked.
    fn is_read_by_then(&self, index: usize, name: &String) -> bool {
        let phases = super::arrange::together(&self.jobs).unwrap_or_default();
        let until = phases.iter().position(|phase| phase.contains(&index)).map_or(0, |phase| phase + 1);
        let reads = |other: &usize| {
            let job = &self.jobs[*other];
            job.rw.has[READ] && job.files.of_clone.iter().any(|names| names.contains(name))
        };
        phases.iter().take(until).flatten().any(reads)
    }
}

/// fio's words for extending files to `sizes`; nothing for none.
fn line(job: &str, sizes: &[u64]) -> String {
    let (count, mib) = (sizes.len(), sizes.iter().copied().fold(0, u64::saturating_add) >> 20);
    let mut line = String::new();
    let _infallible = match count {
        0 => Ok(()),
        1 => writeln!(line, "{job}: Laying out IO file (1 file / {mib}MiB)"),
        _ => writeln!(line, "{job}: Laying out IO files ({count} files / total {mib}MiB)"),
    };
    line
}

impl Job {
    /// Whether its files are extended before it begins: not those of engines that ask no storage, nor those that are made when
    /// they are opened.
    fn extends_files(&self) -> bool {
        let engine = super::engine::name_of(&self.options);
        let asks_nothing = matches!(engine, "null" | "cpp_null" | "cpuio" | "exec" | "falloc");
        let on_open = self.options.flag("create_on_open") == Ok(Some(true));
        !asks_nothing && !on_open && self.tree.is_none() && self.replay.is_none()
    }

    /// What is read is written before, and so is what `overwrite` writes over or a mapping reaches; other files are only given room.
    fn growth(&self) -> Growth {
        let says = |name: &str| self.options.flag(name) == Ok(Some(true));
        let overwrites = says("overwrite") && !says("file_append");
        let is_mapped = super::engine::name_of(&self.options) == "mmap";
        if self.rw.has[READ] || self.rw.has[WRITE] && (overwrites || is_mapped) {
            return Growth::Written;
        }
        match self.options.text("fallocate") {
            Some("none" | "0") => Growth::Left,
            Some("keep") => Growth::Reserved,
            Some("truncate") => Growth::Hole,
            _ => Growth::Allocated,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::command;
    use super::*;

    fn layout(line: &str, found: &dyn Fn(&str) -> Option<u64>) -> (Vec<(u64, Growth)>, String) {
        let layout = command(line).unwrap_or_else(|refusal| panic!("{refusal}")).layout(found);
        let files = layout.files.expect("files by their targets").into_iter();
        (files.map(|file| (file.bytes, file.growth)).collect(), layout.lines)
    }

    #[test]
    fn a_file_that_is_only_written_gets_room_and_one_that_is_read_gets_data() {
        let growth = |line: &str| layout(&format!("--name=x --size=2m {line}"), &|_| None).0;
        let one = |growth: Growth| vec![(2 << 20, growth)];
        for line in
            ["--rw=write", "--rw=randwrite --fallocate=posix", "--rw=write --overwrite=1 --file_append=1"]
        {
            assert_eq!(growth(line), one(Growth::Allocated), "{line}");
        }
        for line in ["--rw=read", "--rw=randrw", "--rw=randwrite --overwrite=1", "--rw=write --ioengine=mmap"]
        {
            assert_eq!(growth(line), one(Growth::Written), "{line}");
        }
        assert_eq!(growth("--rw=write --fallocate=none"), one(Growth::Left));
        assert_eq!(growth("--rw=write --fallocate=keep"), one(Growth::Reserved));
        assert_eq!(growth("--rw=write --fallocate=truncate"), one(Growth::Hole));
        // What a job before has extended is large enough for the next one, which reads what that has written.
        let two = "--filename=f --rw=write --name=y --filename=f --size=1m --rw=read";
        assert_eq!(growth(&format!("{two} --stonewall")), one(Growth::Allocated));
        // Beside it nothing is written yet.
        assert_eq!(growth(two), one(Growth::Written));
    }

    #[test]
    fn each_job_that_extends_files_says_so_and_no_other() {
        let lines = |line: &str, found: &dyn Fn(&str) -> Option<u64>| layout(line, found).1;
        let none = |_: &str| None;
        assert_eq!(
            lines("--name=x --size=1500k --rw=read", &none),
            "x: Laying out IO file (1 file / 1MiB)\n"
        );
        let two = "x: Laying out IO files (2 files / total 8MiB)\n";
        assert_eq!(lines("--name=x --size=8m --rw=write --nrfiles=2 --numjobs=2", &none), two.repeat(2));
        let shared = "--name=x --size=8m --rw=read --filename=f --numjobs=2";
        assert_eq!(lines(shared, &none), "x: Laying out IO file (1 file / 8MiB)\n");
        assert_eq!(lines(shared, &|_| Some(8 << 20)), "");
        assert_eq!(lines("--name=x --size=8m --rw=write --create_on_open=1", &none), "");
        assert_eq!(lines("--name=x --size=8m --rw=write --ioengine=null", &none), "");
    }
}
