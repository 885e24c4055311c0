//! What `fathom run` and `fathom search` have in common: their options, and what becomes of the result.

use std::path::PathBuf;

use clap::Args;
use conduct::Event;
use real::Journal;
use real::Source;
use real::{Beside, RealOptions, UpkeepOptions};
use record::Run;
use units::Bytes;
use units::name::path;
use workload::plan::{Plan, Point, Work};
use workload::spec::Verify;

use crate::ending::{Ending, Failure};
use crate::input::plans::{self, PlanChange, Planned};
use crate::input::{candidates, hosts, path_value, targets};
use crate::output::{self, Format};
use crate::session::metrics::MetricsArgs;
use crate::session::recorder::Recorded;
use crate::session::store::Store;
use crate::session::{self, Session, final_ending, ranks};
use crate::terminal::progress::Progress;
use crate::terminal::{self, Appearance, Display, OUTPUT, Showing};
use crate::verbs::array_control;

/// Headings of options, by task.
const TARGET: &str = "Target";
const REBUILD: &str = "Rebuilds";

#[derive(Debug, Args)]
pub struct RunArgs {
    /// The workload: a ready plan (`fathom plan list`), a TOML file, or a job file of fio, Iometer or SQLIO. Each
    /// combination of its swept values is a point, measured by itself
    #[arg(add = candidates::plans())]
    pub plan: String,
    #[command(flatten)]
    pub change: PlanChange,
    /// The target: a directory, in which a scratch file is laid out and removed again; a file; a block device; a virtual
    /// array (array:NAME); or null:, which measures the tool itself. May be given several times: the targets are used
    /// together, as LUNs
    #[arg(long = "on", value_name = "TARGET", help_heading = TARGET, add = candidates::targets())]
    pub targets: Vec<String>,
    /// Consent to destroy the data on the target: its serial number, by-id name, or a file's absolute path, with
    /// `data:` before it where a device is not blank (data:Z1X2AB34); once for each target
    #[arg(long, value_name = "IDENTITY", help_heading = TARGET)]
    pub destroy: Vec<String>,
    /// Keep the scratch files, so that the next run need not lay them out
    #[arg(long, help_heading = TARGET)]
    pub keep: bool,
    /// Create a file where the target does not exist
    #[arg(long, help_heading = TARGET)]
    pub create: bool,
    /// Total size of the scratch files (fio: `size`) [default: larger than the known caches, as far as space allows]
    #[arg(long, value_name = "SIZE", help_heading = TARGET)]
    pub scratch: Option<Bytes>,
    /// Under `mpirun`: each rank makes scratch files of its own, as on hosts with disks of their own. Otherwise rank 0
    /// makes them, in a directory that all hosts share
    #[arg(long, help_heading = TARGET)]
    pub file_per_rank: bool,
    /// Save the verify state in this directory, block by block as the plan goes, so that a later run of the same plan and
    /// seed can verify after a crash (fio: `verify_state_save`, `verify_state_load`). For plans that verify
    #[arg(long, value_name = "DIRECTORY", help_heading = TARGET)]
    pub verify_state: Option<PathBuf>,
    /// Under `mpirun`: the targets of each host, in place of --on; a line for each host, its name and its targets
    #[arg(long, value_name = "FILE", conflicts_with = "targets", help_heading = TARGET)]
    #[arg(value_parser = path_value())]
    pub hosts_config: Option<PathBuf>,
    #[command(flatten)]
    pub rebuild: RebuildArgs,
    /// Print the points, bytes, time and what would be destroyed; issue no I/O and open nothing for
    /// writing
    #[arg(long)]
    pub dry_run: bool,
    /// Format of stdout: text, json, jsonl (events during the run), csv, md, or that of a classic tool; `fathom formats`
    /// lists all
    #[arg(long, value_enum, default_value_t = Format::Text, hide_possible_values = true, help_heading = OUTPUT)]
    pub format: Format,
    /// Also write the result to this file, in the format of its extension (`fathom formats`); may be given several times
    #[arg(short, long = "output", value_name = "FILE", help_heading = OUTPUT)]
    #[arg(value_parser = path_value())]
    pub outputs: Vec<PathBuf>,
    /// Do not save the run
    #[arg(long, help_heading = OUTPUT)]
    pub no_save: bool,
    #[command(flatten)]
    pub showing: Showing,
    #[command(flatten)]
    pub metrics: MetricsArgs,
    #[command(flatten)]
    pub appearance: Appearance,
}

// Options for plans that fail a disk or rebuild an array. No doc comment: clap would take it for the help of the verb.
#[derive(Debug, Args)]
pub struct RebuildArgs {
    /// Where to read the progress of a rebuild: md:md0, btrfs-replace:/mnt, btrfs-scrub:/mnt or zpool:tank
    #[arg(long, value_name = "SOURCE", help_heading = REBUILD)]
    pub progress: Option<Source>,
    /// A command that prints the progress of a rebuild in percent
    #[arg(long, value_name = "COMMAND", conflicts_with = "progress", help_heading = REBUILD)]
    pub progress_cmd: Option<String>,
    /// A command that fails a disk where the plan has `state = "fail disk N"`; N is in FATHOM_DISK
    #[arg(long, value_name = "COMMAND", help_heading = REBUILD)]
    pub fail_cmd: Option<String>,
    /// A command that starts a rebuild where the plan has one
    #[arg(long, value_name = "COMMAND", help_heading = REBUILD)]
    pub rebuild_cmd: Option<String>,
    /// The target is a block device (NBD) of this running `fathom serve`, which then fails disks, rebuilds, clones,
    /// verifies and scrubs where the plan says so
    #[arg(
        long,
        value_name = "NAME",
        conflicts_with_all = ["progress", "progress_cmd", "fail_cmd", "rebuild_cmd"],
        help_heading = REBUILD
    )]
    pub served: Option<String>,
}

/// From this block size on, fio's `size`, which is how much of a file is used, may have been meant.
const REGION: Bytes = Bytes::new(16 << 20);

/// Tells whoever knows fio's `size` what ours is, where what `set` says is large enough for it. An error where it says what an
/// option says.
fn check_sizes(set: &[String]) -> Result<(), Failure> {
    let pairs = || set.iter().filter_map(|one| one.split_once('='));
    if let Some((_, size)) = pairs().find(|(key, _)| *key == "scratch") {
        return Err(Failure::Usage(format!(
            "--set scratch={size}: the size of scratch files is not a key of a plan; give it as `--scratch {size}`. The working set \
             (fio: `size`) is the key `span`"
        )));
    }
    let is_size = |key: &str| key == "size" || key.ends_with(".size");
    let sizes = pairs().filter(|(key, _)| is_size(key)).filter_map(|(_, size)| size.parse::<Bytes>().ok());
    if let Some(largest) = sizes.max().filter(|largest| *largest >= REGION) {
        terminal::say_sentence(&format!(
            "`size` is the block size (fio: `bs`), so each request moves up to {largest}; the working set (fio: `size`) is `span`, \
             and `--scratch` says how large scratch files are"
        ));
    }
    Ok(())
}

impl RunArgs {
    /// The plan, and how its targets are opened.
    pub fn read(&self) -> Result<(Planned, RealOptions), Failure> {
        let overrides = self.change.overrides();
        check_sizes(&overrides.set)?;
        let (planned, of_job) = plans::read_on(&self.plan, overrides, &self.targets, self.showing.quiet)?;
        let options = self.options_for(of_job, &planned.plan.targets)?;
        self.check_verify_state(&planned.plan)?;
        Ok((planned, options))
    }

    /// What the command line says, on the targets of the plan, or of a tool's job file, where it names none. What a job
    /// file names is made where it is not there, as the tool itself would. No consent follows from either.
    fn options_for(&self, of_job: Vec<String>, of_plan: &[String]) -> Result<RealOptions, Failure> {
        let mut options = self.options()?;
        if options.targets.is_empty() && of_job.is_empty() {
            options.targets = of_plan.to_vec();
        } else if options.targets.is_empty() {
            options.targets = of_job;
            options.create = true;
        }
        must_make_files(&options)?;
        Ok(options)
    }

    pub fn options(&self) -> Result<RealOptions, Failure> {
        let targets = match &self.hosts_config {
            None => self.targets.clone(),
            Some(path) => hosts::targets_of(path, &ranks::host_name())?,
        };
        ranks::asks(format!("{:?} {:?}", self.scratch, self.outputs));
        Ok(RealOptions {
            targets,
            consents: targets::consents(&self.destroy)?,
            keep: self.keep,
            scratch: self.scratch,
            create: self.create,
            plain: Vec::new(),
            plain_of_others: Vec::new(),
            upkeep: self.rebuild.options()?,
            beside: Beside { taken: ranks::files_taken(self.file_per_rank), shares_free: false },
            looks_inside: true,
            verify_state: self.verify_state.clone(),
            journal: Journal::default(),
        })
    }

    /// That there is something to keep in `--verify-state`, by one process.
    fn check_verify_state(&self, plan: &Plan) -> Result<(), Failure> {
        let Some(directory) = &self.verify_state else { return Ok(()) };
        let mut workloads = plan.points().iter().flat_map(Point::workloads);
        if ranks::are_several() {
            return Err(ranks::for_one_process(
                "--verify-state keeps what one process wrote; leave it out, or run the plan without `mpirun`",
            ));
        }
        match workloads.any(|workload| workload.verify != Verify::None) {
            true => Ok(()),
            false => Err(Failure::Usage(format!(
                "--verify-state {}: no workload of the plan verifies, so there is nothing to keep; write `verify = \"written\"`, or \
                 leave the option out",
                directory.display()
            ))),
        }
    }

    /// That every file for results can be written, as far as can be told before there are any.
    pub fn check_outputs(&self) -> Result<(), Failure> {
        self.outputs.iter().try_for_each(|path| output::check(path))
    }

    /// How a rank other than 0 ended, which has done what rank 0 asked; `None` where this is no such rank.
    pub fn serve(&self) -> Option<Ending> {
        ranks::serve(|| self.read())
    }

    /// Opens what was read.
    pub fn open(
        &self,
        planned: Planned,
        options: &RealOptions,
        store: &Store,
    ) -> Result<(Session, Progress), Failure> {
        if self.format == Format::Jsonl && self.showing.wanted() == Display::Full && terminal::is_one_screen()
        {
            return Err(Failure::Usage(
                "--display full: the events go to the same screen; redirect stdout, or use `--display line`"
                    .into(),
            ));
        }
        self.metrics.serve()?;
        session::open(planned, options, store.open_to_save(self.no_save)?, self.showing.wanted())
    }

    /// Shows an event to a person, and prints it where events are what stdout gets.
    pub fn watch(&self, progress: &mut Progress, event: &Event<'_>) {
        progress.show(event);
        if self.format == Format::Jsonl {
            print_event(event);
        }
    }

    /// Prints and writes the result of a run, and says where it is kept.
    pub fn end(&self, recorded: Recorded, store: &Store) -> Result<Ending, Failure> {
        if !recorded.is_refused {
            let text = self.deliver(&recorded.run, store)?;
            // On one screen it is told once.
            let is_told = terminal::is_one_screen() && text.contains(&store.show(&recorded.run.id));
            if !is_told || recorded.lost.is_some() {
                self.say_where(&recorded, store);
            }
        }
        Ok(final_ending(recorded))
    }

    /// What stdout got.
    fn deliver(&self, run: &Run, store: &Store) -> Result<String, Failure> {
        let rest = match self.no_save {
            true => "save the run (without `--no-save`), or `-o result.txt`".into(),
            false => store.show_full(&run.id),
        };
        let text = match self.format {
            Format::Jsonl => last_event(run),
            format => output::rendered(run, format, &self.appearance, Some(&rest))?,
        };
        output::print(&text)?;
        self.outputs.iter().try_for_each(|path| output::write(run, path, &self.appearance))?;
        Ok(text)
    }

    /// How to see the run again; or that it cannot be.
    pub fn say_where(&self, recorded: &Recorded, store: &Store) {
        if let Some(lost) = &recorded.lost {
            terminal::say(&lost.to_string());
        } else if !self.no_save && !self.showing.quiet {
            // Apart from the table where both are on the same screen.
            let gap = if terminal::is_one_screen() { "\n" } else { "" };
            terminal::say(&format!("{gap}Saved; show it with: {}", store.show(&recorded.run.id)));
        }
    }
}

impl RebuildArgs {
    fn options(&self) -> Result<UpkeepOptions, Failure> {
        if let Some(server) = &self.served {
            // Before any load: one that does not run would be noticed when a drive is to fail.
            array_control::must_run(server)?;
            return Ok(served(server));
        }
        let command = self.progress_cmd.clone().map(Source::Command);
        let begin = self.rebuild_cmd.clone().map(|command| (Work::Rebuild, command));
        Ok(UpkeepOptions {
            progress: self.progress.clone().or(command),
            fail: self.fail_cmd.clone(),
            begin: begin.into_iter().collect(),
            rate: None,
        })
    }
}

/// What an operator would say to a served array.
fn served(server: &str) -> UpkeepOptions {
    let program = std::env::current_exe().map_or("fathom".into(), |path| path.display().to_string());
    let say = |what: &str| {
        format!("{} array {what} --server {}", report::shell_word(&program), report::shell_word(server))
    };
    let begin = [
        (Work::Rebuild, "rebuild 0"),
        (Work::Clone, "clone 0"),
        (Work::Verify, "verify 0"),
        (Work::Scrub, "verify 0"),
    ];
    UpkeepOptions {
        progress: Some(Source::Command(say("progress"))),
        fail: Some(say("fail \"$FATHOM_DISK\"")),
        begin: begin.into_iter().map(|(work, command)| (work, say(command))).collect(),
        rate: Some(say("rate \"$FATHOM_RATE\"")),
    }
}

/// A size of scratch files is for targets that have such.
fn must_make_files(options: &RealOptions) -> Result<(), Failure> {
    let has_files = |name: &String| path(name).is_dir() || !(name.contains(':') || path(name).exists());
    match options.scratch {
        Some(size) if !options.targets.is_empty() && !options.targets.iter().any(has_files) => {
            Err(Failure::Usage(format!(
                "--scratch {}: no scratch file is made on {}; set the working-set size with `--set span={0}`",
                size.exact(),
                options.targets.join(", ")
            )))
        }
        _ => Ok(()),
    }
}

/// Prints one event as one line of JSON.
fn print_event(event: &Event<'_>) {
    let line = match event {
        Event::PointStarted { index, of, name, expected, .. } => serde_json::json!({
            "event": "point-started", "index": index, "of": of, "name": name,
            "expected_ns": expected.map(units::Nanos::get),
        }),
        Event::Live { index, live, .. } => serde_json::json!({
            "event": "live", "index": index, "doing": live.doing, "now_ns": live.now.nanos(),
            "ops": live.progress.ops, "bytes": live.progress.bytes, "errors": live.progress.errors,
            "in_flight": live.progress.in_flight, "response_p99_ns": live.responses.map(|seen| seen.p99.get()),
            "done": live.done,
        }),
        Event::PointEnded { point } => serde_json::json!({ "event": "point-ended", "point": point }),
        Event::Aside { what, expected } => {
            serde_json::json!({ "event": "aside", "what": what, "expected_ns": expected.get() })
        }
        Event::RateDecided { search } => {
            serde_json::json!({ "event": "rate-decided", "rung": search.ladder.last() })
        }
        Event::SweepEnded { phase, why } => {
            serde_json::json!({ "event": "sweep-ended", "phase": phase, "why": why })
        }
    };
    // A reader that has gone is noticed at the end.
    let _gone = terminal::print(&format!("{line}\n"));
}

fn last_event(run: &Run) -> String {
    let ended = serde_json::json!({
        "event": "run-ended", "id": run.id, "ending": run.ending, "findings": run.findings, "grading": run.grading,
    });
    format!("{ended}\n")
}
