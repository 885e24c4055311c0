//! Commands that a job has carried out around it: `exec_prerun`, `exec_postrun`, and the program of `ioengine=exec`.
//!
//! Only `fathom as fio` does so, as fio does: a plan executes nothing, so that one that was made of a job file says what
//! it leaves out.

use super::command::Command;
use super::job::Job;
use super::settings::Options;

/// One command of a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Execution {
    /// Given to a shell; says itself where its output goes.
    pub command: String,
    /// The load that it belongs to, by its number among the loads.
    pub load: usize,
    /// From the request to end to the signal that nobody withstands, in seconds.
    pub grace_s: u64,
}

/// What a job file has executed, by when.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Executions {
    /// Before their load, and after the ones before it.
    pub before: Vec<Execution>,
    /// Beside the load, which ends it.
    pub beside: Vec<Execution>,
    /// After their load, and what it has read back.
    pub after: Vec<Execution>,
}

impl Executions {
    /// What is run once `load` has ended: what comes after it, and what comes before the next one.
    pub fn between(&self, load: usize) -> impl Iterator<Item = &Execution> {
        let after = self.after.iter().filter(move |one| one.load == load);
        after.chain(self.before.iter().filter(move |one| one.load == load + 1))
    }

    /// What is run before the first load.
    pub fn first(&self) -> impl Iterator<Item = &Execution> {
        self.before.iter().filter(|one| one.load == 0)
    }
}

/// Whether the job only runs a program.
pub(super) fn is_one(options: &Options) -> bool {
    options.text("ioengine") == Some("exec")
}

impl Command {
    /// The commands of all jobs, once for each clone.
    pub fn executions(&self) -> Executions {
        let mut all = Executions::default();
        for (load, job) in self.by_load() {
            let clones = || 0..job.clones;
            all.before.extend(clones().filter_map(|_| shell(job, "exec_prerun", "prerun", load)));
            // What is read back is a load of its own, without jobs.
            let is_read_back = self.phases().get(load + 1).is_some_and(Vec::is_empty);
            let end = if is_read_back { load + 1 } else { load };
            all.after.extend(clones().filter_map(|_| shell(job, "exec_postrun", "postrun", end)));
            all.beside.extend(clones().filter_map(|_| program(job, load)));
        }
        all
    }

    /// Each job once, with the number of its load.
    fn by_load(&self) -> Vec<(usize, &Job)> {
        let mut all: Vec<(usize, usize)> = Vec::new();
        for (load, entries) in self.phases().iter().enumerate() {
            for entry in entries {
                if !all.contains(&(load, entry.job)) {
                    all.push((load, entry.job));
                }
            }
        }
        all.into_iter().map(|(load, job)| (load, &self.jobs[job])).collect()
    }
}

/// `exec_prerun` and `exec_postrun`, whose output goes to a file, as fio's does: that of the last command of them, also where it
/// says itself where its output goes.
fn shell(job: &Job, option: &str, when: &str, load: usize) -> Option<Execution> {
    let command = job.options.text(option).filter(|command| !command.is_empty())?;
    let file = in_shell(&format!("{}.{when}.txt", job.name.replace('/', "_")));
    Some(Execution { command: format!("{command} > {file} 2>&1"), load, grace_s: 0 })
}

/// The program of `ioengine=exec` with its arguments, in which `%r` is the runtime in seconds and `%n` the job.
fn program(job: &Job, load: usize) -> Option<Execution> {
    if !is_one(&job.options) {
        return None;
    }
    let seconds = (job.length.run_ns.unwrap_or(0) / 1_000_000_000).to_string();
    let arguments = job.options.text("arguments").unwrap_or_default();
    let arguments = arguments.replace("%r", &seconds).replace("%n", &job.name);
    let mut command = format!("exec {} {arguments}", job.options.text("program").unwrap_or("true"));
    if job.options.flag("std_redirect") != Ok(Some(false)) {
        let own = job.name.replace('/', "_");
        let file = |ending: &str| in_shell(&format!("{own}.{ending}"));
        command += &format!(" > {} 2> {}", file("stdout"), file("stderr"));
    }
    let grace_s = job.options.count("grace_time").ok().flatten().unwrap_or(1);
    Some(Execution { command, load, grace_s })
}

/// A word that a shell takes as it is.
fn in_shell(word: &str) -> String {
    format!("'{}'", word.replace('\'', "'\\''"))
}

/// What a plan leaves out.
pub(super) fn notes(job: &Job) -> Vec<String> {
    const LEFT_OUT: [(&str, &str); 6] = [
        ("merge_blktrace_file", "a plan merges no traces"),
        ("exec_prerun", "a plan executes nothing"),
        ("exec_postrun", "a plan executes nothing"),
        ("program", "a plan executes nothing"),
        ("nice", "a plan has no niceness"),
        ("lockmem", "a plan locks no memory"),
    ];
    let said = |(name, _): &&(&str, &str)| job.options.text(name).is_some_and(|value| !value.is_empty());
    let note = |(name, why): &(&str, &str)| {
        format!("job `{}`: {name}: {why}; `fathom as fio` does it, or do it yourself", job.name)
    };
    LEFT_OUT.iter().filter(said).map(note).collect()
}
