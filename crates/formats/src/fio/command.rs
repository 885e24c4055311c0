//! fio's command line: options of fio itself, jobs as options, and job files.

use crate::{JobEnvironment, Refusal, TranslatedJob};

use super::TOOL;
use super::arrange::{self, Arrangement};
use super::ini;
use super::job::Job;
use super::section::{Place, Section, Setting};
use super::table;

/// A command line of fio.
#[derive(Clone, Debug)]
pub struct Command {
    pub(super) jobs: Vec<Job>,
    arrangement: Arrangement,
    /// What is printed, and where.
    pub wanted: Wanted,
}

/// What fio is to print.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wanted {
    /// In the order they were asked for; never empty once read.
    pub formats: Vec<Format>,
    /// In place of stdout.
    pub file: Option<String>,
    /// Only check the jobs.
    pub parse_only: bool,
    /// Only print the version.
    pub version: bool,
}

/// One of fio's output formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Text to read.
    Normal,
    /// Semicolons.
    Terse,
    /// JSON.
    Json,
    /// JSON with every bucket of the histograms.
    JsonPlus,
}

impl Command {
    /// Reads the arguments after the tool's name.
    pub fn parse(arguments: &[String], environment: &JobEnvironment<'_>) -> Result<Command, Refusal> {
        let mut line = Line::default();
        line.read(arguments)?;
        let mut wanted = std::mem::take(&mut line.wanted);
        if wanted.formats.is_empty() {
            wanted.formats.push(Format::Normal);
        }
        let mut jobs = Vec::new();
        for mut sections in line.job_files(environment)? {
            if !line.only.is_empty() {
                sections.retain(|section| section.is_global() || line.only.contains(&section.name));
            }
            jobs.extend(self::jobs(&sections, environment)?);
        }
        if jobs.is_empty() && !wanted.version {
            let what = "nothing to do: name a job file, or a job with --name".into();
            return Err(Refusal::Usage { tool: TOOL, what });
        }
        if line.is_readonly
            && let Some(job) = jobs.iter().find(|job| job.rw.changes() || job.tree.is_some())
        {
            let what = format!("job `{}` writes, and --readonly forbids it", job.name);
            return Err(Refusal::Usage { tool: TOOL, what });
        }
        let origin = if line.files.is_empty() { "a command line".into() } else { line.files.join(", ") };
        let mut arrangement = match jobs.is_empty() {
            true => Arrangement {
                translated: TranslatedJob { plan: String::new(), targets: Vec::new(), notes: Vec::new() },
                phases: Vec::new(),
                unlink: false,
            },
            false => arrange::arrange(&jobs, &origin, environment.salt)?,
        };
        arrangement.translated.notes.extend(line.notes);
        let command = Command { jobs, arrangement, wanted };
        command.check_search()?;
        Ok(command)
    }

    /// The plan that does what the command asks.
    pub fn translated(&self) -> &TranslatedJob {
        &self.arrangement.translated
    }

    /// Whether the files that were made are removed, as with `unlink=1`; fio leaves them otherwise.
    pub fn removes_files(&self) -> bool {
        self.arrangement.unlink
    }

    /// The promise whose highest load is searched, in place of carrying the order out: `p99<5ms`.
    pub fn promise(&self) -> Option<&str> {
        self.jobs.iter().find_map(|job| job.promise.as_deref())
    }

    /// A search is of one phase, and of one promise.
    fn check_search(&self) -> Result<(), Refusal> {
        let Some(promise) = self.promise() else { return Ok(()) };
        let other = self.jobs.iter().find(|job| job.promise.as_deref() != Some(promise));
        match other {
            Some(job) => Err(job.place.refuse(format!(
                "job `{}` has another latency_target, or none; a search is of one promise",
                job.name
            ))),
            None if self.phases().len() > 1 => Err(self.jobs[0].place.refuse(
                "latency_target searches one load; run jobs that wait for each other one by one (--section)"
                    .into(),
            )),
            None => Ok(()),
        }
    }

    pub(super) fn phases(&self) -> &[Vec<super::arrange::Reported>] {
        &self.arrangement.phases
    }
}

/// The jobs of `sections`, globals laid beneath those that follow them.
pub(super) fn jobs(sections: &[Section], environment: &JobEnvironment<'_>) -> Result<Vec<Job>, Refusal> {
    let mut globals: Vec<Setting> = Vec::new();
    let mut jobs = Vec::new();
    for section in sections {
        match section.is_global() {
            true => globals.extend(section.settings.iter().cloned()),
            false => jobs.push(Job::read(&globals, section, environment)?),
        }
    }
    Ok(jobs)
}

/// What a command line has said so far.
#[derive(Default)]
struct Line {
    /// Of the arguments alone.
    sections: Vec<Section>,
    /// Job files by their paths.
    files: Vec<String>,
    only: Vec<String>,
    notes: Vec<String>,
    is_readonly: bool,
    wanted: Wanted,
}

/// Options of fio itself that change no request and print nothing here.
const QUIET: &[&str] = &[
    "eta",
    "eta-newline",
    "eta-interval",
    "warnings-fatal",
    "max-jobs",
    "alloc-size",
    "aux-path",
    "debug",
    "terse-version",
    "bandwidth-log",
    "status-interval",
    "idle-prof",
];

/// Options of fio itself that are another program.
const ELSEWHERE: &[(&str, &str)] = &[
    ("server", "fathom has no server; run it on that host"),
    ("client", "fathom has no server; run it on that host"),
    ("remote-config", "fathom has no server; run it on that host"),
    ("daemonize", "fathom has no server; run it on that host"),
    ("showcmd", "`fathom plan convert JOBFILE` shows what a job file comes to"),
    ("cmdhelp", "the guide lists what is supported"),
    ("enghelp", "the guide lists what is supported"),
    ("cpuclock-test", "`fathom doctor` looks at this machine"),
    ("crctest", "`fathom doctor --self-test` tests the tool"),
    ("inflate-log", "there are no logs"),
    ("merge-blktrace-only", "a trace is no job"),
    ("trigger", "nothing is executed"),
    ("trigger-file", "nothing is executed"),
    ("trigger-timeout", "nothing is executed"),
    ("trigger-remote", "nothing is executed"),
];

impl Line {
    fn read(&mut self, arguments: &[String]) -> Result<(), Refusal> {
        let mut rest = arguments.iter().peekable();
        while let Some(argument) = rest.next() {
            let Some(option) = argument.strip_prefix("--").or_else(|| argument.strip_prefix('-')) else {
                self.files.push(argument.clone());
                continue;
            };
            let (name, value) = match option.split_once('=') {
                Some((name, value)) => (name, Some(value.to_owned())),
                None => (option, None),
            };
            // A value may also follow as an argument of its own, where the option needs one.
            let value = value.or_else(|| match takes_next(name) {
                true => rest.next().cloned(),
                false => None,
            });
            self.option(name, value.as_deref())?;
        }
        Ok(())
    }

    fn option(&mut self, name: &str, value: Option<&str>) -> Result<(), Refusal> {
        let unsupported =
            |why: &str| Refusal::Unsupported { tool: TOOL, option: format!("--{name}"), why: why.into() };
        if let Some((_, why)) = ELSEWHERE.iter().find(|(known, _)| *known == name) {
            return Err(unsupported(why));
        }
        match (name, value) {
            ("output-format", Some(value)) => return self.formats(value),
            ("minimal" | "m", _) => self.wanted.formats = vec![Format::Terse],
            ("append-terse", _) => self.wanted.formats.push(Format::Terse),
            ("output" | "o", Some(value)) => self.wanted.file = Some(value.into()),
            ("section", Some(value)) => self.only.push(value.into()),
            ("readonly", _) => self.is_readonly = true,
            ("parse-only", _) => self.wanted.parse_only = true,
            ("version" | "v", _) => self.wanted.version = true,
            ("help" | "h", _) => return Err(unsupported("`man fio`, or the guide for what is supported")),
            ("terse-version", Some(value)) if value != "3" => return Err(unsupported("version 3 is")),
            ("status-interval", _) => {
                self.notes.push("--status-interval: one report is printed, at the end".into());
            }
            ("idle-prof", _) => {
                self.notes.push("--idle-prof: the record holds how idle the processors were".into());
            }
            _ if QUIET.contains(&name) => {}
            _ => return self.job_option(name, value),
        }
        Ok(())
    }

    fn formats(&mut self, value: &str) -> Result<(), Refusal> {
        self.wanted.formats.clear();
        for word in value.split(',') {
            let format = match word.trim() {
                "normal" => Format::Normal,
                "terse" | "minimal" => Format::Terse,
                "json" => Format::Json,
                "json+" => Format::JsonPlus,
                _ => {
                    return Err(Refusal::Value {
                        tool: TOOL,
                        option: "--output-format".into(),
                        value: value.into(),
                        want: "normal, terse, json, json+, or several apart by commas".into(),
                    });
                }
            };
            if !self.wanted.formats.contains(&format) {
                self.wanted.formats.push(format);
            }
        }
        Ok(())
    }

    fn job_option(&mut self, name: &str, value: Option<&str>) -> Result<(), Refusal> {
        let setting = Setting::read(name, value, &Place::Argument)?;
        let begins_job = setting.known.name == "name";
        if begins_job || self.sections.is_empty() {
            let name = if begins_job { setting.value.clone() } else { "global".into() };
            self.sections.push(Section::named(name, &Place::Argument)?);
        }
        let last = self.sections.last_mut().expect("there is one by now");
        if !begins_job || !last.is_global() {
            last.settings.push(setting);
        }
        Ok(())
    }

    /// The sections of each job file. Those of the arguments come before those of the first, wherever they stand, and
    /// hold for no other.
    fn job_files(&self, environment: &JobEnvironment<'_>) -> Result<Vec<Vec<Section>>, Refusal> {
        let mut all = vec![self.sections.clone()];
        for (position, path) in self.files.iter().enumerate() {
            let text = (environment.file)(path).map_err(|error| Refusal::Usage {
                tool: TOOL,
                what: format!("{path}: the job file cannot be read: {error}"),
            })?;
            let mut sections = ini::read(path, &text, environment)?;
            if position > 0 {
                all.push(sections);
                continue;
            }
            // Jobs of the arguments run beside those of the first file.
            if let Some(first) = sections.iter_mut().find(|section| section.begins_file) {
                first.begins_file = false;
            }
            all[0].extend(sections);
        }
        Ok(all)
    }
}

/// Whether an option without `=` has its value in the next argument.
fn takes_next(name: &str) -> bool {
    match name {
        "output-format" | "output" | "o" | "section" => true,
        _ => table::find(name).is_some_and(|known| !known.bare),
    }
}
