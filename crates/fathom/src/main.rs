//! The command line: thin, one file for each verb.

mod cli;
mod emulate;
mod ending;
mod input;
#[cfg(test)]
mod layers;
mod misuse;
mod output;
mod session;
mod terminal;
mod verbs;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::Parser;

use crate::cli::{Cli, Verb};
use crate::ending::{Ending, Failure, INTERRUPTED};
use crate::session::guard::{self, Side};
use crate::session::{memory, panics, ranks, restore, signals};

fn main() -> ExitCode {
    if verbs::completions::answer::<Cli>() {
        return ExitCode::SUCCESS;
    }
    let cli = match Cli::try_parse_from(command_line()) {
        Ok(cli) => cli,
        Err(error) => return usage(&misuse::helped(error)),
    };
    panics::speak_plainly();
    if cli.simulates_many() {
        memory::keep_what_is_freed();
    }
    cli.store.warn();
    if cli.measures() {
        match guard::divide(&cli.store) {
            Side::Ended(code) => return ExitCode::from(code),
            Side::Measures(guard) => begin_to_measure(&cli, guard),
        }
    }
    let ending = match panics::caught(|| run_verb(&cli)) {
        Ok(ending) => ending.unwrap_or_else(ending_of),
        Err(what) => Ending { code: 8, reason: format!("internal error: {what}") },
    };
    let ending = ranks::ended(ending);
    ending.say();
    ExitCode::from(ranks::leave(ending.code))
}

/// The ending of a verb that could not do what it was asked; of one that was interrupted, by the signal that came.
fn ending_of(failure: Failure) -> Ending {
    let ending = failure.ending();
    match signals::exit_code().filter(|_| ending.code == INTERRUPTED) {
        Some(code) => Ending { code, ..ending },
        None => ending,
    }
}

/// What comes before any verb that changes something for the time that it measures.
fn begin_to_measure(cli: &Cli, guard: Option<u32>) {
    if let Err(error) = signals::begin(guard) {
        terminal::say_sentence(&format!("fathom: cannot set up signal handlers: {error}"));
    }
    restore::begin(&cli.store, guard);
}

/// The arguments as text, also names that are none; where the program was called by a tool's name, `fathom as` that tool.
fn command_line() -> Vec<OsString> {
    let arguments: Vec<OsString> =
        std::env::args_os().map(|argument| units::name::text(&argument).into()).collect();
    let called = arguments.first().and_then(|program| emulate::called_as(program.to_str()?));
    match called {
        Some(tool) => {
            let as_tool = ["fathom", "as", tool].map(OsString::from);
            as_tool.into_iter().chain(arguments.into_iter().skip(1)).collect()
        }
        None => arguments,
    }
}

fn run_verb(cli: &Cli) -> Result<Ending, Failure> {
    let store = &cli.store;
    if cli.measures() {
        let is_shared = match &cli.verb {
            Verb::Run(_) | Verb::Search(_) | Verb::Campaign(_) | Verb::Explore(_) => true,
            Verb::As(arguments) => emulate::runs_over_ranks(arguments),
            _ => false,
        };
        ranks::join(is_shared)?;
    }
    match &cli.verb {
        Verb::Run(arguments) => verbs::run::run(arguments, store),
        Verb::Search(arguments) => verbs::search::search(arguments, store),
        Verb::Campaign(arguments) => verbs::campaign::campaign(arguments, store),
        Verb::Plan(verb) => verbs::plan::plan(verb),
        Verb::As(arguments) => emulate::run(arguments, store),
        Verb::Ls(arguments) => verbs::library::ls(arguments, store),
        Verb::Show(arguments) => verbs::library::show(arguments, store),
        Verb::Explain(arguments) => verbs::explain::explain(arguments, store),
        Verb::Compare(arguments) => verbs::compare::compare(arguments, store),
        Verb::Report(arguments) => verbs::report::report(arguments, store),
        Verb::Ui(arguments) => verbs::ui::ui(arguments, store),
        Verb::Export(arguments) => verbs::library::export(arguments, store),
        Verb::Import(arguments) => verbs::import::import(arguments, store),
        Verb::Rm(arguments) => verbs::library::rm(arguments, store),
        Verb::Doctor(arguments) => verbs::doctor::doctor(arguments, store),
        Verb::Serve(arguments) => verbs::serve::serve(arguments),
        Verb::Array(verb) => verbs::array::array(verb, store),
        Verb::Validate(arguments) => verbs::validate::validate(arguments),
        Verb::Explore(arguments) => verbs::explore::explore(arguments, store),
        Verb::Formats => verbs::formats::formats(),
        Verb::Completions(arguments) => verbs::completions::completions(arguments),
        Verb::Man(arguments) => verbs::man::man::<Cli>(arguments),
    }
}

/// clap prints its own message; help and version are no failure.
fn usage(error: &clap::Error) -> ExitCode {
    // Nothing is left to be done where the terminal has gone.
    let _gone = error.print();
    if error.use_stderr() {
        let ending = Ending::usage("the command line was not understood");
        ending.say();
        return ExitCode::from(ending.code);
    }
    ExitCode::SUCCESS
}
