//! `fathom as bonnie++ …`, version 2.00, and `fathom as bonnie …`, version 1.03e.
//!
//! What the original says while it works goes to stderr, as there.

use conduct::Event;
use formats::Refusal;
use formats::bonnie::{Command, Figures, Generation, Job, Machine, Request, SEMAPHORES, Test, seed_of};
use host::SysRoot;
use host::environment::Environment;
use host::semaphores::Semaphores;
use real::{LookKind, PlainFile};
use units::Bytes;
use units::convert::narrow;

use super::{Context, Scratch};
use crate::ending::{Ending, Failure};
use crate::input::arrays;
use crate::input::targets::look;
use crate::output::print;
use crate::terminal;

/// Version 2.00.
pub fn run_200(context: &Context<'_>, arguments: &[String]) -> Result<Ending, Failure> {
    run(Generation::V200, context, arguments)
}

/// Version 1.03e.
pub fn run_103(context: &Context<'_>, arguments: &[String]) -> Result<Ending, Failure> {
    run(Generation::V103, context, arguments)
}

fn run(generation: Generation, context: &Context<'_>, arguments: &[String]) -> Result<Ending, Failure> {
    let (key, number) = SEMAPHORES;
    match Request::parse(generation, arguments)? {
        Request::Test(command) => test(&command, context),
        Request::Semaphores(copies) => {
            let made = Semaphores::create(key, number, narrow::<i32>(copies));
            made.map_err(Failure::system("making semaphores"))?;
            terminal::say(&format!("Creating semaphore for {copies} procs."));
            Ok(Ending::done())
        }
        Request::NoSemaphores => {
            let removed = Semaphores::open(key, number).and_then(Semaphores::remove);
            removed.map_err(Failure::system("removing the semaphores"))?;
            terminal::say("Semaphore removed.");
            Ok(Ending::done())
        }
    }
}

/// Carries the test out as often as `-x` says.
fn test(command: &Command, context: &Context) -> Result<Ending, Failure> {
    let usage = |what: String| Failure::Tool(Refusal::Usage { tool: command.generation.tool(), what });
    let is_array = arrays::address(std::slice::from_ref(&command.directory))?.is_some();
    if !is_array && look(&command.directory)?.kind != LookKind::Directory {
        return Err(usage(format!("Can't change to directory \"{}\"", command.directory)));
    }
    let of_file = command.random_file.as_deref().map(|file| seed_of_file(file, &usage)).transpose()?;
    let machine = Environment::read(&SysRoot::real());
    let mut semaphores = None;
    if command.together {
        let opened = Semaphores::open(SEMAPHORES.0, SEMAPHORES.1);
        semaphores = Some(opened.map_err(|error| {
            usage(format!("Can't get semaphore: {error}; `-p COPIES` makes it before the copies start"))
        })?);
    }
    let mut ending = Ending::done();
    debug_assert!(command.runs != Some(0), "a test runs once at least");
    for run in 0..command.runs.unwrap_or(1) {
        let job = command.job(&Machine {
            is_array,
            ram_mib: machine.ram.get() >> 20,
            hostname: machine.hostname.clone(),
            pid: std::process::id(),
            seed: of_file.unwrap_or_else(|| context.seed()),
        })?;
        if run == 0 && command.runs.is_some_and(|runs| runs > 1) {
            print(&job.sheet.columns())?;
        }
        ending = test_once(command, &job, semaphores, context)?;
        if ending.code != 0 {
            break;
        }
    }
    Ok(ending)
}

/// What `-Z` comes to: all of a file, which must have an end.
fn seed_of_file(file: &str, usage: &dyn Fn(String) -> Failure) -> Result<u32, Failure> {
    let path = units::name::path(file);
    let read = match std::fs::metadata(&path) {
        Ok(found) if !found.is_file() => Err(std::io::Error::other("it is not a regular file")),
        _ => std::fs::read(path),
    };
    read.map(|bytes| seed_of(&bytes)).map_err(|error| {
        usage(format!("Can't open random file \"{file}\": {error}; name a file of random bytes"))
    })
}

fn test_once(
    command: &Command,
    job: &Job,
    semaphores: Option<Semaphores>,
    context: &Context<'_>,
) -> Result<Ending, Failure> {
    let files =
        job.data_files.iter().map(|file| PlainFile { size: Bytes::new(file.bytes), ..PlainFile::default() });
    let scratch = Scratch { plain: files.collect(), ..Scratch::default() };
    let session = context.open(command.generation.tool(), &job.translated, scratch)?;
    let stop = session.stop();
    let mut words = Words { command, under_way: None };
    let mut lost = Ok(());
    let recorded = session.measure(&mut |event| {
        if let Event::PointStarted { name, .. } = event
            && let (Some(test), Some(semaphores)) = (Test::of_phase(name), semaphores)
            && lost.is_ok()
        {
            lost = semaphores.meet(test as u16, &stop).map(|_all| ());
        }
        words.hear(event);
    });
    lost.map_err(Failure::system("waiting for the other copies"))?;
    if recorded.run.ending.complete {
        let figures = Figures::of(&recorded.run.points);
        if command.runs.is_none() {
            let table = job.sheet.table(&figures);
            if command.quiet { terminal::say_exactly(&table) } else { print(&table)? }
        }
        print(&job.sheet.line(&figures))?;
    }
    Ok(context.end(recorded))
}

/// What is said while it works, unless `-q`.
struct Words<'a> {
    command: &'a Command,
    under_way: Option<Test>,
}

impl Words<'_> {
    fn hear(&mut self, event: &Event<'_>) {
        if self.command.quiet {
            return;
        }
        match event {
            Event::PointStarted { name, .. } => {
                self.under_way = Test::of_phase(name);
                if let Some(test) = self.under_way {
                    terminal::say_exactly(beginning(self.command.generation, test));
                }
            }
            Event::PointEnded { point } => match self.under_way.take() {
                None => {}
                Some(_) if !point.complete => terminal::say_exactly("\n"),
                Some(Test::Seeks) => {
                    let seekers = self.command.seekers as usize;
                    terminal::say_exactly(&("done...".repeat(seekers.min(1024)) + "\n"));
                }
                Some(test) if test as usize > Test::Seeks as usize => terminal::say_exactly("done.\n"),
                Some(_) => terminal::say_exactly("done\n"),
            },
            _ => {}
        }
    }
}

const fn beginning(generation: Generation, test: Test) -> &'static str {
    match (test, generation) {
        (Test::Putc, Generation::V103) => "Writing with putc()...",
        (Test::Putc, Generation::V200) => "Writing a byte at a time...",
        (Test::Write, _) => "Writing intelligently...",
        (Test::Rewrite, _) => "Rewriting...",
        (Test::Getc, Generation::V103) => "Reading with getc()...",
        (Test::Getc, Generation::V200) => "Reading a byte at a time...",
        (Test::Read, _) => "Reading intelligently...",
        (Test::Seeks, _) => "start 'em...",
        (Test::Create, _) => "Create files in sequential order...",
        (Test::Stat, _) => "Stat files in sequential order...",
        (Test::Delete, _) => "Delete files in sequential order...",
        (Test::RandomCreate, _) => "Create files in random order...",
        (Test::RandomStat, _) => "Stat files in random order...",
        (Test::RandomDelete, _) => "Delete files in random order...",
    }
}
