//! fio's command line: options of fio itself, jobs as options, and job files.

use crate::options::{Given, Notes, Opt, Style, Syntax, flag, optional, parsed, split, text, unsupported};
use crate::{JobEnvironment, Refusal, TranslatedJob};

use super::TOOL;
use super::arrange::{self, Arrangement};
use super::ini;
use super::job::Job;
use super::options;
use super::section::{Origin, Section, Setting};

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

    /// The SLO whose highest load is searched, in place of running the plan: `p99<5ms`.
    pub fn slo(&self) -> Option<&str> {
        self.jobs.iter().find_map(|job| job.slo.as_deref())
    }

    /// A search is of one phase, and has one SLO.
    fn check_search(&self) -> Result<(), Refusal> {
        let Some(slo) = self.slo() else { return Ok(()) };
        let other = self.jobs.iter().find(|job| job.slo.as_deref() != Some(slo));
        match other {
            Some(job) => Err(job.origin.refuse(format!(
                "job `{}` has another latency_target, or none; a search has one SLO",
                job.name
            ))),
            None if self.phases().len() > 1 => Err(self.jobs[0].origin.refuse(
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
pub(crate) struct Line {
    /// Of the arguments alone.
    sections: Vec<Section>,
    /// Job files by their paths.
    files: Vec<String>,
    only: Vec<String>,
    notes: Vec<String>,
    is_readonly: bool,
    wanted: Wanted,
}

impl Notes for Line {
    fn notes(&mut self) -> &mut Vec<String> {
        &mut self.notes
    }
}

/// Options of fio itself; everything else is one of a job.
pub(crate) const SYNTAX: Syntax<Line> = Syntax {
    tool: TOOL,
    style: Style::Letters,
    any_case: false,
    options: &[OPTIONS],
    operand: |_, word| Err(SYNTAX.unknown(word)),
};

const NO_SERVER: &str = "fathom has no server; run it on that host";
const IN_GUIDE: &str = "the guide lists what is supported";

const OPTIONS: &[Opt<Line>] = &[
    parsed(
        "--output-format",
        "FORMATS",
        "normal, terse, json, json+, or several apart by commas",
        |line, given| formats(given).map(|formats| line.wanted.formats = formats),
    ),
    flag("--minimal --m", "as --output-format=terse", |line| line.wanted.formats = vec![Format::Terse]),
    flag("--append-terse", "terse output as well", |line| line.wanted.formats.push(Format::Terse)),
    text("--output --o", "FILE", "the report goes to a file", |line, file| {
        line.wanted.file = Some(file.into());
    }),
    text("--section", "NAME", "only that job of the job files", |line, name| line.only.push(name.into())),
    flag("--readonly", "jobs that write are refused", |line| line.is_readonly = true),
    flag("--parse-only", "only checks the jobs", |line| line.wanted.parse_only = true),
    flag("--version --v", "prints the version", |line| line.wanted.version = true),
    optional("--terse-version", "3", "which terse output", |_, given| match given.value {
        "" | "3" => Ok(()),
        _ => Err(given.unsupported("version 3 is")),
    }),
    optional("--status-interval", "TIME", "changes nothing: one report is printed, at the end", |line, _| {
        line.notes.push("--status-interval: one report is printed, at the end".into());
        Ok(())
    }),
    optional(
        "--idle-prof",
        "HOW",
        "changes nothing: the record holds how idle the processors were",
        |line, _| {
            line.notes.push("--idle-prof: the record holds how idle the processors were".into());
            Ok(())
        },
    ),
    optional(
        "--eta --eta-newline --eta-interval --warnings-fatal --max-jobs --alloc-size --aux-path --debug --bandwidth-log",
        "VALUE",
        "changes no request and prints nothing here",
        |_, _| Ok(()),
    ),
    unsupported("--help --h", "`man fio`, or the guide for what is supported"),
    unsupported("--server --client --remote-config --daemonize", NO_SERVER),
    unsupported("--showcmd", "`fathom plan convert JOBFILE` shows what a job file comes to"),
    unsupported("--cmdhelp --enghelp", IN_GUIDE),
    unsupported("--cpuclock-test", "`fathom doctor` looks at this machine"),
    unsupported("--crctest", "`fathom doctor --self-test` tests the tool"),
    unsupported("--inflate-log", "there are no logs"),
    unsupported("--merge-blktrace-only", "a trace is not a job"),
    unsupported("--trigger --trigger-file --trigger-timeout --trigger-remote", "nothing is executed"),
];

fn formats(given: &Given<'_>) -> Result<Vec<Format>, Refusal> {
    let mut formats = Vec::new();
    for word in given.value.split(',') {
        let format = match word.trim() {
            "normal" => Format::Normal,
            "terse" | "minimal" => Format::Terse,
            "json" => Format::Json,
            "json+" => Format::JsonPlus,
            _ => return Err(given.wrong("normal, terse, json, json+, or several apart by commas")),
        };
        if !formats.contains(&format) {
            formats.push(format);
        }
    }
    Ok(formats)
}

impl Line {
    fn read(&mut self, arguments: &[String]) -> Result<(), Refusal> {
        let mut rest = arguments.iter().peekable();
        while let Some(argument) = rest.next() {
            let Some(option) = argument.strip_prefix("--").or_else(|| argument.strip_prefix('-')) else {
                self.files.push(argument.clone());
                continue;
            };
            let (name, value) = split(option);
            let own = format!("--{name}");
            if SYNTAX.has(&own) {
                SYNTAX.named(self, &own, value, &mut rest)?;
                continue;
            }
            // A value may also follow as an argument of its own, where the option needs one.
            let needs_value = options::find(name).is_some_and(|known| !known.bare);
            let value = value.or_else(|| rest.next_if(|_| needs_value).map(String::as_str));
            self.job_option(name, value)?;
        }
        Ok(())
    }

    fn job_option(&mut self, name: &str, value: Option<&str>) -> Result<(), Refusal> {
        let setting = Setting::read(name, value, &Origin::Argument)?;
        let begins_job = setting.known.name == "name";
        if begins_job || self.sections.is_empty() {
            let name = if begins_job { setting.value.clone() } else { "global".into() };
            self.sections.push(Section::named(name, &Origin::Argument)?);
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
