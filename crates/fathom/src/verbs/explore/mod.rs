//! `fathom explore`: a search over many virtual arrays.

mod checkpoint;
mod kept;
mod progress;
mod table;
mod workers;

use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;
use conduct::processors;
use explore::settle::settling;
use explore::{Design, Heard, Options, search_by};
use record::Exploration;

use self::checkpoint::Checkpoint;
use self::kept::Kept;
use self::progress::Progress;
use crate::ending::{Ending, Failure};
use crate::input::arrays::LIBRARY;
use crate::input::path_value;
use crate::output::{self, TextOrJson};
use crate::session::ranks;
use crate::session::signals::Signals;
use crate::session::store::Store;
use crate::terminal::{self, Appearance, Showing};

#[derive(Debug, Args)]
pub struct ExploreArgs {
    /// The design study: a TOML file of the space, prices, workloads and requirements
    #[arg(value_parser = path_value())]
    pub design: PathBuf,
    /// Simulate every possible design at length, and leave none out
    #[arg(long)]
    pub brute: bool,
    /// Where simulations are kept as they end, so that an interrupted study resumes [default: beside the library]
    #[arg(long, value_name = "FILE")]
    #[arg(value_parser = path_value())]
    pub checkpoint: Option<PathBuf>,
    /// Forget what the checkpoint holds
    #[arg(long)]
    pub fresh: bool,
    /// Threads at most; under `mpirun` each rank simulates on one [default: one for each processor]
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub threads: Option<u32>,
    /// Write the campaign that measures what the models are too uncertain for to FILE, and its plan beside it
    #[arg(long, value_name = "FILE")]
    #[arg(value_parser = path_value())]
    pub settle: Option<PathBuf>,
    /// Write the front as CSV to FILE: a row for each design, factors and figures in base units
    #[arg(long, short = 'o', value_name = "FILE")]
    #[arg(value_parser = path_value())]
    pub output: Option<PathBuf>,
    /// Do not save the answer in the library
    #[arg(long, env = "FATHOM_NO_SAVE")]
    pub no_save: bool,
    /// Print the whole front, and every design with one factor changed
    #[arg(long)]
    pub full: bool,
    #[command(flatten)]
    pub showing: Showing,
    #[command(flatten)]
    pub printed: TextOrJson,
    #[command(flatten)]
    pub appearance: Appearance,
}

pub fn explore(arguments: &ExploreArgs, store: &Store) -> Result<Ending, Failure> {
    let (text, design) = match read(arguments) {
        Ok(study) => study,
        Err(failure) => return ranks::decline_work_items(failure),
    };
    if let Some(ending) = workers::serve(&text, &design) {
        return Ok(ending);
    }
    let path = match &arguments.checkpoint {
        Some(path) => path.clone(),
        None => usual_checkpoint(&store.beside()?, &design.name),
    };
    arguments.output.as_deref().map_or(Ok(()), check_ending)?;
    for path in arguments.output.iter().chain(&arguments.settle) {
        output::check_folder(path)?;
    }
    let library = store.open_to_save(arguments.no_save)?;
    let (mut checkpoint, known) = Checkpoint::open(&path, arguments.fresh)?;
    let threads = arguments.threads.map_or_else(processors, |threads| threads as usize);
    let options = Options { threads, brute: arguments.brute };
    let workers = workers::Workers::open(&text, threads)?;
    let kept = Kept::begin(&design, arguments.design.display().to_string(), text, library);
    let signals = Signals::listen()?;
    let mut progress = Progress::begin(arguments.showing.wanted());
    let mut failed = None;
    let answer = search_by(&design, &LIBRARY, options, &workers, &known, &mut |heard| {
        progress.hear(&heard);
        if let Heard::Ended(ended) = heard {
            failed = checkpoint.add(ended.key, ended.outcome).err();
        }
        failed.is_none() && signals.exit_code().is_none()
    });
    if let Some(failure) = failed {
        return Err(failure);
    }
    workers.is_whole()?;
    let Some(found) = answer else {
        let simulations = known.len() as u64 + progress.simulations();
        return Ok(stopped(signals.exit_code().unwrap_or(8), simulations, &path));
    };
    let ending = match found.front.is_empty() {
        true => Ending { code: 1, reason: "no design meets every requirement".into() },
        false => Ending::done(),
    };
    // Kept first: an output that cannot be written must not cost a long study.
    kept.end(found.clone(), &ending, store)?;
    deliver(arguments, &design, &found)?;
    Ok(ending)
}

/// The front is written as CSV and nothing else: whoever names another ending learns it before the study, not from the file.
fn check_ending(path: &Path) -> Result<(), Failure> {
    match path.extension().and_then(|ending| ending.to_str()) {
        Some("csv") => Ok(()),
        _ => Err(Failure::Usage(format!(
            "{}: explore writes the front as CSV; name a file that ends in .csv. `fathom report last -o {}` draws the study once it has ended",
            path.display(),
            path.with_extension("html").display()
        ))),
    }
}

/// The ending by the signal of that exit code; so many simulations are kept in `checkpoint`.
fn stopped(code: u8, simulations: u64, checkpoint: &Path) -> Ending {
    let kept = match simulations {
        0 => "interrupted before the first simulation had ended; the same command begins again".to_owned(),
        _ => format!(
            "interrupted; {} of this study are in the checkpoint {}, and the same command continues from there",
            report::counted(simulations, "simulation"),
            checkpoint.display()
        ),
    };
    Ending { code, reason: kept }
}

/// Prints the answer, and writes the files that are asked for.
fn deliver(arguments: &ExploreArgs, design: &Design, found: &Exploration) -> Result<(), Failure> {
    if let Some(path) = &arguments.settle {
        settle(design, found, path)?;
    }
    if let Some(path) = &arguments.output {
        output::write_whole(path, table::csv(found)?)?;
    }
    if arguments.printed.is_json() {
        return output::print(&output::json(found)?);
    }
    let style = terminal::style(&arguments.appearance);
    output::print(&report::exploration(found, style.width, arguments.full))
}

/// The text of the study, and what it says.
fn read(arguments: &ExploreArgs) -> Result<(String, Design), Failure> {
    let path = arguments.design.display().to_string();
    let text = fs::read_to_string(&arguments.design)
        .map_err(|error| Failure::Usage(format!("{path}: the design study cannot be read: {error}")))?;
    let design = Design::parse(&path, &text, &LIBRARY)?;
    Ok((text, design))
}

/// Writes the campaign to `path`, and its plan beside it.
fn settle(design: &Design, answer: &Exploration, path: &Path) -> Result<(), Failure> {
    let plan = path.with_extension("plan.toml");
    let Some(settling) = settling(design, answer, &plan.display().to_string()) else {
        terminal::say_sentence(
            "fathom: no requirement is closer than the models can tell; no campaign was written",
        );
        return Ok(());
    };
    output::write_whole(&plan, settling.plan)?;
    output::write_whole(path, settling.campaign)?;
    terminal::say_sentence(&format!(
        "fathom: {} designs to measure are in {}; `fathom campaign {} --dry-run` says how long it takes",
        settling.designs,
        path.display(),
        path.display()
    ));
    Ok(())
}

/// `explored/NAME.jsonl` beside the library.
fn usual_checkpoint(library: &Path, name: &str) -> PathBuf {
    let plain = |letter: char| if letter.is_alphanumeric() || "-_.".contains(letter) { letter } else { '-' };
    let name: String = name.chars().map(plain).collect();
    let folder = library.parent().unwrap_or(Path::new(".")).join("explored");
    debug_assert!(!name.contains('/'), "a checkpoint lies in its folder");
    folder.join(format!("{}.jsonl", name.trim_start_matches('.')))
}
