//! fio's command line: options of fio itself, jobs as options, and job files.

use crate::options::{Given, Opt, Style, Syntax, flag, optional, parsed, split, text, unsupported};
use crate::{JobEnvironment, Refusal, TranslatedJob};
use units::Nanos;
use units::convert::narrow;
use workload::plan::Slo;

use super::TOOL;
use super::arrange::{self, Arrangement};
use super::ini;
use super::job::Job;
use super::options::{self, Known};
use super::pace::asks_nothing;
use super::section::{Origin, Section, Setting};
use super::value::{self, Bare};
use super::wanted::{Format, STDIN, VERSION, Wanted};

/// A command line of fio.
#[derive(Clone, Debug)]
pub struct Command {
    pub(super) jobs: Vec<Job>,
    arrangement: Arrangement,
    /// What is printed, and where.
    pub wanted: Wanted,
}

/// What the plan of a command is called: its job files, or its first `--name`.
fn plan_name(files: &[String], jobs: &[Job]) -> String {
    match (files, jobs) {
        ([], [first, ..]) => first.name.clone(),
        ([], []) => TOOL.into(),
        (files, _) => files.iter().map(|file| super::stem(file)).collect::<Vec<_>>().join(", "),
    }
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
        if line.shows_command {
            wanted.answer = Some(as_words(&line.job_files(environment)?));
        }
        if wanted.answer.is_some() || wanted.inflated.is_some() {
            return Ok(Command { jobs: Vec::new(), arrangement: Arrangement::default(), wanted });
        }
        // Where jobs are only checked, what they name may come to be later.
        let later = |name: &str| (environment.size_bytes)(name).or(Some(1 << 40));
        let of_later = JobEnvironment { size_bytes: &later, ..*environment };
        let environment = if wanted.parse_only { &of_later } else { environment };
        // What only merges traces asks nothing.
        let nothing = ["null:".to_owned()];
        let of_nothing = JobEnvironment { targets: &nothing, ..*environment };
        let environment = if wanted.merge_only { &of_nothing } else { environment };
        let mut jobs = Vec::new();
        for mut sections in line.job_files(environment)? {
            if !line.only.is_empty() {
                sections.retain(|section| section.is_global() || line.only.contains(&section.name));
            }
            jobs.extend(self::jobs(&sections, environment)?);
        }
        if jobs.is_empty() && wanted.parse_only {
            wanted.answer = Some(String::new());
            return Ok(Command { jobs, arrangement: Arrangement::default(), wanted });
        }
        if jobs.is_empty() {
            let what = "No job(s) defined: name a job file, or a job with --name".into();
            return Err(Refusal::Usage { tool: TOOL, what });
        }
        if wanted.is_readonly
            && let Some(job) = jobs.iter().find(|job| job.rw.changes() || job.tree.is_some())
        {
            let what = format!("job `{}` writes, and --readonly forbids it", job.name);
            return Err(Refusal::Usage { tool: TOOL, what });
        }
        let origin = if line.files.is_empty() { "a command line".into() } else { line.files.join(", ") };
        let name = plan_name(&line.files, &jobs);
        let mut arrangement = arrange::arrange(&jobs, &name, &origin, environment.salt)?;
        arrangement.translated.notes.extend(line.notes);
        let command = Command { jobs, arrangement, wanted };
        command.check_search()?;
        command.check_nice()?;
        Ok(command)
    }

    /// The plan that does what the command asks.
    pub fn translated(&self) -> &TranslatedJob {
        &self.arrangement.translated
    }

    /// Whether it is kept beyond the run what was written where, or what an earlier run has kept counts.
    ///
    /// fio writes a state where a job that verifies is stopped, unless told not to; here a job says so that it is to.
    pub fn keeps_verify_state(&self) -> bool {
        let says = |job: &Job| {
            let asks = |name| job.options.flag(name) == Ok(Some(true));
            asks("verify_state_save") || asks("verify_state_load")
        };
        self.jobs.iter().any(says)
    }

    /// By how much all jobs are nicer to other processes; `None` where nothing says so.
    pub fn nice(&self) -> Option<i32> {
        self.jobs.first().and_then(|job| job.nice)
    }

    /// Bytes of memory that its jobs lock (`lockmem`), as many as of any that run together; zero for none.
    pub fn locked(&self) -> u64 {
        let of_phase = |reported: &Vec<super::arrange::Reported>| {
            let jobs: std::collections::BTreeSet<usize> = reported.iter().map(|each| each.job).collect();
            let of = |job: usize| self.jobs[job].locked.saturating_mul(self.jobs[job].clones.into());
            jobs.into_iter().map(of).fold(0, u64::saturating_add)
        };
        self.phases().iter().map(of_phase).max().unwrap_or(0)
    }

    /// Jobs of one program are equally nice.
    fn check_nice(&self) -> Result<(), Refusal> {
        let other = self.jobs.iter().find(|job| job.nice != self.nice());
        match other {
            None => Ok(()),
            Some(job) => {
                let setting = job.options.get("nice").or_else(|| self.jobs[0].options.get("nice"));
                Err(setting
                    .expect("one of them is nicer")
                    .unsupported("all jobs are equally nice; say it in [global]"))
            }
        }
    }

    /// Whether a file that is not there may be made: `--readonly` says no, and so does `allow_file_create=0` of the first job
    /// that uses a file.
    pub fn makes_files(&self) -> bool {
        let is_barred = |job: &Job| job.options.flag("allow_file_create") == Ok(Some(false));
        let uses = |job: &Job, name: &String| job.files.of_clone.iter().any(|names| names.contains(name));
        let is_made = |name: &String| {
            let first = self.jobs.iter().find(|job| uses(job, name));
            first.is_none_or(|job| !is_barred(job))
        };
        let may_all = || self.arrangement.translated.targets.iter().all(is_made);
        !self.wanted.is_readonly && (!self.jobs.iter().any(is_barred) || may_all())
    }

    /// Whether a trace is asked again that is not there yet, or no text: it is read when it is run.
    pub fn awaits_trace(&self) -> bool {
        self.jobs.iter().filter_map(|job| job.replay.as_ref()).any(|replay| !replay.is_text)
    }

    /// How large each target becomes where it is a file, in the order of the targets: 0 where nothing says so. `None` for
    /// jobs on files by their names.
    pub fn file_sizes(&self) -> Option<Vec<u64>> {
        if self.jobs.iter().any(|job| job.tree.is_some()) {
            return None;
        }
        let size =
            |target: &String| self.jobs.iter().filter_map(|job| job.reaches_in(target)).max().unwrap_or(0);
        Some(self.arrangement.translated.targets.iter().map(size).collect())
    }

    /// What its jobs say as `directory`, which has to be there.
    pub fn directories(&self) -> Vec<String> {
        let said = self.jobs.iter().filter_map(|job| job.options.text("directory"));
        said.flat_map(super::files::split).collect()
    }

    /// The files by their names, in folders that may have to be made; none of jobs that make trees.
    pub fn files(&self) -> Vec<&String> {
        let may_be_made = |name: &&String| super::region::is_regular(name);
        match self.file_sizes() {
            None => Vec::new(),
            Some(_) => self.arrangement.translated.targets.iter().filter(may_be_made).collect(),
        }
    }

    /// Whether the files that were made are removed, as with `unlink=1`; fio leaves them otherwise.
    pub fn removes_files(&self) -> bool {
        self.arrangement.unlink
    }

    /// The SLO whose deepest queue is searched, in place of running the plan: `p99<5ms`.
    pub fn slo(&self) -> Option<Slo> {
        self.jobs.iter().find_map(|job| job.slo)
    }

    /// For how long `latency_window` has each depth tried, where it says so, and whether `latency_run` has the depth that
    /// was found go on to the end of `runtime`.
    pub fn latency_window(&self) -> (Option<Nanos>, bool) {
        let Some(job) = self.jobs.iter().find(|job| job.slo.is_some()) else { return (None, false) };
        let window = job.options.time_ns("latency_window", Bare::Microseconds).ok().flatten();
        let goes_on = job.options.flag("latency_run").ok().flatten() == Some(true);
        (window.filter(|window| *window > 0).map(Nanos::new), goes_on)
    }

    /// A search is of one phase, and has one SLO.
    fn check_search(&self) -> Result<(), Refusal> {
        let Some(slo) = self.slo() else { return Ok(()) };
        let other = self.jobs.iter().find(|job| job.slo != Some(slo));
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
            false => {
                // What a job before makes is there for those behind it.
                let made = |name: &str| jobs.iter().filter_map(|job: &Job| job.reaches_in(name)).max();
                let size_bytes = |name: &str| (environment.size_bytes)(name).or_else(|| made(name));
                let job = Job::read(
                    &globals,
                    section,
                    &JobEnvironment { size_bytes: &size_bytes, ..*environment },
                )?;
                jobs.push(job);
            }
        }
    }
    settle(&mut jobs)?;
    Ok(jobs)
}

/// Gives jobs that ask no storage the target of the others, since nothing that works is joined with a place for nothing; where
/// none of them works, all the largest place for nothing.
fn settle(jobs: &mut [Job]) -> Result<(), Refusal> {
    let goes_nowhere = |job: &Job| job.files.of_clone.iter().flatten().all(|name| name.starts_with("null:"));
    let is_idle = |job: &Job| asks_nothing(&job.options) || goes_nowhere(job);
    let works = jobs.iter().find(|job| !is_idle(job));
    let Some(target) = works.and_then(|job| job.files.of_clone.first()?.first().cloned()) else {
        let largest =
            jobs.iter().max_by_key(|job| job.files.known_size).map(|job| job.files.of_clone[0].clone());
        jobs.iter_mut().for_each(|job| job.goes_to(largest.as_ref().expect("it is one of them")));
        return Ok(());
    };
    for job in jobs.iter_mut().filter(|job| is_idle(job)) {
        if target.starts_with("array:") {
            return Err(job.origin.refuse(format!(
                "a virtual array's client has no other work; leave job `{}` out",
                job.name
            )));
        }
        job.asks_nothing_of(&target);
    }
    Ok(())
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
    shows_command: bool,
    wanted: Wanted,
}

/// Options of fio itself; everything else is one of a job.
pub(crate) const SYNTAX: Syntax<Line> = Syntax {
    tool: TOOL,
    style: Style::Letters,
    any_case: false,
    notes: |draft| &mut draft.notes,
    options: &[OPTIONS],
    operand: |_, word| Err(SYNTAX.unknown(word)),
};

const NO_SERVER: &str = "needs a network: fathom has no server; run it on that host";

const OPTIONS: &[Opt<Line>] = &[
    parsed(
        "--output-format",
        "FORMATS",
        "normal, terse, json, json+, or several apart by commas",
        |line, given| formats(given).map(|formats| line.wanted.formats = formats),
    ),
    flag("--minimal --m", "as --output-format=terse", |line| line.wanted.formats = vec![Format::Terse]),
    flag("--append-terse", "terse output as well", |line| {
        if line.wanted.formats.is_empty() {
            line.wanted.formats.push(Format::Normal);
        }
        line.wanted.formats.push(Format::Terse);
    }),
    text("--output --o", "FILE", "the report goes to a file", |line, file| {
        line.wanted.file = Some(file.into());
    }),
    text("--section", "NAME", "only that job of the job files", |line, name| line.only.push(name.into())),
    flag("--readonly", "jobs that write are refused", |line| line.wanted.is_readonly = true),
    flag("--parse-only", "only checks the jobs", |line| line.wanted.parse_only = true),
    flag("--merge-blktrace-only", "only merges the traces of the jobs", |line| line.wanted.merge_only = true),
    flag("--version --v", "prints the version", |line| line.answer(format!("{VERSION}\n"))),
    flag("--help --h", "prints this", |line| line.answer(help())),
    flag("--showcmd", "prints a job file as a command line", |line| line.shows_command = true),
    flag("--verbose", "says on stderr what jobs request and do not get", |line| line.wanted.verbose = true),
    optional("--cmdhelp", "OPTION", "what becomes of a job option, or of all of them", |line, given| {
        let told = options::told(given.value);
        line.answer(told.ok_or_else(|| Refusal::unknown(TOOL, given.value, &options::names()))?);
        Ok(())
    }),
    optional("--enghelp", "ENGINE", "which engines are served", |line, given| {
        line.answer(super::engine::engines_told(given.value));
        Ok(())
    }),
    parsed("--terse-version", "2-5", "which terse output", |line, given| {
        line.wanted.terse_version = narrow::<u8>(given.number(2..=5_u32)?);
        Ok(())
    }),
    parsed(
        "--status-interval",
        "TIME",
        "a report of what was done so far after each such time",
        |line, given| {
            let every = value::time_ns(given.value, Bare::Seconds).map_err(|want| given.wrong(want))?;
            line.wanted.status_every_ns = (every > 0).then_some(every);
            Ok(())
        },
    ),
    optional("--bandwidth-log", "NAME", "the bandwidth of all jobs together goes to logs", |line, given| {
        let name = if given.value.is_empty() { "agg" } else { given.value };
        line.wanted.all_bandwidth = Some(name.into());
        Ok(())
    }),
    flag("--warnings-fatal", "changes nothing: what is wrong is refused anyway", |_| ()),
    parsed(
        "--idle-prof",
        "HOW",
        "changes nothing: the record holds how idle the processors were",
        |line, _| {
            line.notes.push("--idle-prof: the record holds how idle the processors were".into());
            Ok(())
        },
    ),
    parsed(
        "--eta --eta-newline --eta-interval --max-jobs --alloc-size --aux-path --debug",
        "VALUE",
        "changes no request and prints nothing here",
        |_, _| Ok(()),
    ),
    unsupported("--server --client --remote-config --daemonize --trigger-remote", NO_SERVER),
    unsupported("--cpuclock-test", "`fathom doctor` looks at this machine"),
    unsupported("--crctest", "`fathom doctor --self-test` tests the tool"),
    text(
        "--inflate-log",
        "FILE",
        "prints the lines of a log that log_store_compressed=1 has stored",
        |line, file| {
            line.wanted.inflated = Some(file.into());
        },
    ),
    text(
        "--trigger",
        "COMMAND",
        "runs it once, when the file of --trigger-file is there or the time is over",
        |line, command| {
            line.wanted.trigger.command = Some(command.into());
        },
    ),
    text("--trigger-file", "FILE", "what is waited for; it is removed", |line, file| {
        line.wanted.trigger.file = Some(file.into());
    }),
    parsed("--trigger-timeout", "TIME", "after which the command is run", |line, given| {
        let time = value::time_ns(given.value, Bare::Seconds).map_err(|want| given.wrong(want))?;
        line.wanted.trigger.after_ns = (time > 0).then_some(time);
        Ok(())
    }),
];

/// Whether `next`, the argument behind the option, is its value. What fio would then refuse, a switch that is said with a blank
/// and an option that may stand alone before another one, is read as it is meant.
fn takes_next(known: Known, next: &str) -> bool {
    match known.bare {
        true if known.is_switch => matches!(next, "0" | "1"),
        true => !next.starts_with("--"),
        false => true,
    }
}

/// The option that `typed` is or begins alone, as getopt_long_only(3) reads it; `typed` itself where it is none.
fn whole_name(typed: &str) -> Result<&str, Refusal> {
    if options::find(typed).is_some() || SYNTAX.has(&format!("--{typed}")) || typed.is_empty() {
        return Ok(typed);
    }
    let own = SYNTAX.names().filter_map(|name| name.strip_prefix("--"));
    let fits: Vec<&'static str> =
        own.chain(options::spellings()).filter(|name| name.starts_with(typed)).collect();
    match fits[..] {
        [] => Ok(typed),
        [one] => Ok(one),
        _ => {
            let all = fits.iter().map(|name| format!("--{name}")).collect::<Vec<_>>().join(", ");
            Err(Refusal::usage(TOOL, format!("`--{typed}` is short for several options: {all}")))
        }
    }
}

/// The sections of job files as options of a command line, as `--showcmd` prints them.
fn as_words(files: &[Vec<Section>]) -> String {
    let mut line = String::from("fio ");
    for section in files.iter().flatten() {
        if !section.is_global() {
            line += &format!("--name={} ", section.name);
        }
        for setting in section.settings.iter().filter(|setting| setting.known.name != "name") {
            let name = setting.known.name;
            line += &match setting.value.as_str() {
                "" => format!("--{name} "),
                value => format!("--{name}={value} "),
            };
        }
    }
    line + "\n"
}

fn help() -> String {
    format!(
        "{VERSION}\nfathom as fio [OPTION | JOB OPTION | JOB FILE]...\n{}\n--cmdhelp lists the options of jobs.\n",
        SYNTAX.help()
    )
}

fn formats(given: &Given<'_>) -> Result<Vec<Format>, Refusal> {
    let mut formats = Vec::new();
    for word in given.value.split(',') {
        let format = match word.trim() {
            "normal" => Format::Normal,
            "terse" | "minimal" | "csv" => Format::Terse,
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
            // What follows are job files, whatever they are called.
            if argument == "--" {
                self.files.extend(rest.by_ref().cloned());
                break;
            }
            if argument == STDIN {
                self.files.push(argument.clone());
                continue;
            }
            let Some(option) = argument.strip_prefix("--").or_else(|| argument.strip_prefix('-')) else {
                self.files.push(argument.clone());
                continue;
            };
            let (typed, value) = split(option);
            let name = whole_name(typed)?;
            let own = format!("--{name}");
            if SYNTAX.has(&own) {
                SYNTAX.named(self, &own, value, &mut rest)?;
                continue;
            }
            let known = options::find(name);
            let is_value = |next: &&String| known.is_some_and(|known| takes_next(known, next));
            let value = value.or_else(|| rest.next_if(is_value).map(String::as_str));
            self.job_option(name, value)?;
        }
        Ok(())
    }

    /// The first thing that is asked to be printed, in place of running anything.
    fn answer(&mut self, text: String) {
        self.wanted.answer.get_or_insert(text);
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
