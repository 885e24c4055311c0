//! `fathom as mdtest -n … -d DIRECTORY`

use std::fs::{DirBuilder, File};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::DirBuilderExt;

use conduct::Event;
use formats::Refusal;
use formats::mdtest::{Command, Sheet, Tally, Test};
use jiff::Zoned;
use real::LookKind;

use super::op_files::OpFiles;
use super::{Context, Scratch, file_system, stonewall};
use crate::ending::{Ending, Failure};
use crate::input::arrays;
use crate::input::targets::look;
use crate::output::print;
use crate::session::ranks;
use crate::terminal;

pub fn run(context: &Context<'_>, arguments: &[String]) -> Result<Ending, Failure> {
    if let Some(ending) = ranks::serve(|| {
        let command = asked(arguments)?;
        // Whichever process comes first makes it; the first one removes it.
        made_folder(&command)?;
        context.ready("mdtest", &command.translate(), Scratch::default())
    }) {
        return Ok(ending);
    }
    let command = asked(arguments)?;
    let made = made_folder(&command)?;
    let details = command.printed.details.as_deref().map(new_file).transpose()?;
    let mut session = context.open("mdtest", &command.translate(), Scratch::default())?;
    let op_files = OpFiles::told_by(&mut session, command.op_files.is_some());
    let is_array = arrays::address(std::slice::from_ref(&command.directory))?.is_some();
    let file_system = if is_array { None } else { file_system(&command.directory) };
    let sheet = Sheet { hosts: ranks::hosts(), file_system, ..Sheet::of(&command) };
    print(&sheet.heading(&now()))?;
    let mut courses: Vec<(u32, Tally)> =
        command.courses.iter().map(|tasks| (*tasks, Tally::default())).collect();
    assert!(!courses.is_empty(), "a test has a course of some number of tasks");
    let mut phases = Phases { command: &command, wrong: None };
    let status_file = command.status_file.as_deref().filter(|_| command.stonewall.is_some());
    let mut under_way = String::new();
    let recorded = session.measure(&mut |event| match event {
        Event::PointStarted { name, .. } => {
            under_way = (*name).to_owned();
            op_files.begin(command.op_file(name));
            phases.begin(name);
        }
        Event::PointEnded { point } => {
            let tasks = Test::tasks(&under_way);
            let of = courses.iter_mut().find(|(of, _)| tasks.is_none_or(|tasks| tasks == *of));
            let Some((tasks, tally)) = of else { return };
            match Test::phase(&under_way) {
                Some((test, iteration)) => {
                    tally.add(test, iteration, point);
                    if let Some(path) = status_file.filter(|_| test == Test::FileCreation) {
                        phases.keep_count(path, point);
                    }
                    tally.add_after(phases.end(*tasks));
                }
                None if Test::is_collective(&under_way) => tally.add_before(point),
                None => {}
            }
        }
        _ => {}
    });
    for (tasks, tally) in &courses {
        print(&sheet.course(*tasks, tally))?;
    }
    print_corrupt(&recorded.run)?;
    print(&Sheet::end(&now()))?;
    if let Some((path, mut file)) = details {
        let text: String = courses.iter().map(|(_, tally)| tally.details(command.items)).collect();
        let text = Tally::details_heading() + &text;
        file.write_all(text.as_bytes()).map_err(Failure::system(format!("writing {path}")))?;
    }
    made.map_or(Ok(()), MadeFolder::removed)?;
    if let Some(what) = op_files.finish() {
        return Ok(Ending { code: 5, reason: what });
    }
    if let Some(wrong) = phases.wrong {
        terminal::say(&format!("mdtest: WARNING: {wrong}"));
    }
    Ok(context.end(recorded))
}

/// How much of what was read was not what was written, where any was.
fn print_corrupt(run: &record::Run) -> Result<(), Failure> {
    let verified = run.points.iter().flat_map(|point| &point.workloads).filter_map(|of| of.verified.as_ref());
    match verified.map(|of| of.corrupt).sum::<u64>() {
        0 => Ok(()),
        wrong => print(&format!(
            "\nERROR: verifying the data on read ({wrong} errors)! Take the performance values with care!\n\n"
        )),
    }
}

/// Commands around phases.
struct Phases<'a> {
    command: &'a Command,
    /// The first that went wrong with one.
    wrong: Option<String>,
}

impl Phases<'_> {
    /// What each task runs before the phase of that name, where it is a test.
    fn begin(&mut self, name: &str) {
        let Some(tasks) = Test::phase(name).map(|_| Test::tasks(name).unwrap_or(self.command.tasks)) else {
            return;
        };
        self.run(self.command.before_phase.as_deref(), tasks);
    }

    /// What each of so many tasks runs after a test, and how many seconds that took; none where nothing is run.
    fn end(&mut self, tasks: u32) -> f64 {
        let Some(command) = self.command.after_phase.as_deref() else { return 0.0 };
        let clock = host::clock::Clock::start();
        let begun = clock.now();
        self.run(Some(command), tasks);
        clock.now().saturating_since(begun).as_secs_f64()
    }

    /// Writes how many files each task has made.
    fn keep_count(&mut self, path: &str, point: &record::Point) {
        if let Err(failure) = stonewall::keep(path, stonewall::furthest(point)) {
            self.wrong.get_or_insert_with(|| failure.to_string());
        }
    }

    fn run(&mut self, command: Option<&str>, tasks: u32) {
        let Some(command) = command else { return };
        debug_assert!(tasks > 0, "a phase is one of tasks");
        let failed = std::thread::scope(|scope| {
            let running: Vec<_> =
                (0..tasks).map(|_| scope.spawn(|| host::command::run(command, &[]))).collect();
            running.into_iter().filter_map(|one| one.join().ok()?.err()).next()
        });
        if let Some(error) = failed {
            self.wrong.get_or_insert_with(|| format!("`{command}`: {error}"));
        }
    }
}

/// A file that was not there before, and its path.
fn new_file(path: &str) -> Result<(String, File), Failure> {
    let made = File::create_new(units::name::path(path));
    made.map(|file| (path.to_owned(), file))
        .map_err(|error| usage(format!("--saveRankPerformanceDetails {path}: {error}")))
}

fn usage(what: String) -> Failure {
    Failure::Tool(Refusal::Usage { tool: "mdtest", what })
}

/// The command line; under a launcher each of its processes is a task, unless `--tasks` has fewer take part.
fn asked(arguments: &[String]) -> Result<Command, Failure> {
    let command = with_status(Command::parse(arguments, ranks::count())?)?;
    let is_array = arrays::address(std::slice::from_ref(&command.directory))?.is_some();
    if !is_array && !matches!(look(&command.directory)?.kind, LookKind::Directory | LookKind::NewFile) {
        return Err(usage(format!(
            "{} is no directory; `-d` names one, which is made if it is not there",
            command.directory
        )));
    }
    Ok(command)
}

/// The directory of `-d`, where it was not there before; as mdtest, which goes away with it where it removes what it made.
struct MadeFolder<'a> {
    path: &'a str,
    goes: bool,
}

impl MadeFolder<'_> {
    /// Removes it, unless it is to stay.
    fn removed(self) -> Result<(), Failure> {
        match self.goes {
            true => std::fs::remove_dir(units::name::path(self.path))
                .map_err(Failure::system(format!("removing the directory {}", self.path))),
            false => Ok(()),
        }
    }
}

/// Makes the directory of `-d` where it is not there; not those above it, as mdtest.
fn made_folder(command: &Command) -> Result<Option<MadeFolder<'_>>, Failure> {
    let path = command.directory.as_str();
    if arrays::address(&[path.to_owned()])?.is_some() {
        return Ok(None);
    }
    match DirBuilder::new().mode(0o775).create(units::name::path(path)) {
        Ok(()) => Ok(Some(MadeFolder { path, goes: command.phases.remove })),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(None),
        Err(error) => Err(Failure::system(format!("making the directory {path}"))(error)),
    }
}

/// The command with as many items of each task as the file of `-x` says, where none are made. Where the
/// file holds none that is said, as mdtest says it, and `-n` holds. Where items are made the file must be free for their count.
fn with_status(command: Command) -> Result<Command, Failure> {
    let Some(path) = command.status_file.clone() else { return Ok(command) };
    if command.phases.create {
        return stonewall::check(&path).map(|()| command);
    }
    match stonewall::kept(&path) {
        Some(items) => Ok(command.with_items(items)?),
        None => {
            terminal::say(&format!("mdtest: WARNING: {path} says no number of items; `-n` does"));
            Ok(command)
        }
    }
}

fn now() -> String {
    Zoned::now().strftime("%m/%d/%Y %H:%M:%S").to_string()
}
