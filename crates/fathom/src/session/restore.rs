//! What runs have changed and not put back: at the start of each that measures, and by `fathom doctor --restore`.

use std::path::PathBuf;
use std::sync::OnceLock;

use host::restore::{Journal, Report, folder_beside, replay};
use units::Nanos;

use crate::ending::{Ending, Failure};
use crate::output;
use crate::session::store::Store;
use crate::terminal;

static JOURNAL: OnceLock<Journal> = OnceLock::new();

/// A run that was killed a moment ago may take so long to end.
const PATIENCE: Nanos = Nanos::from_secs(10);

/// Puts back what runs before have left, and has this one note what it changes.
pub fn begin(store: &Store, guard: Option<u32>) {
    say(&replayed(store, PATIENCE));
    let journal = folder(store).and_then(|folder| Journal::in_folder(&folder, guard).ok());
    // It is begun once.
    let _again = JOURNAL.set(journal.unwrap_or_default());
}

/// The journal of this process.
pub fn journal() -> Journal {
    JOURNAL.get().cloned().unwrap_or_default()
}

/// Puts back at once what this process has changed.
pub fn now() -> Report {
    journal().put_back()
}

/// Puts back what processes have left that have gone.
pub fn replayed(store: &Store, patience: Nanos) -> Report {
    folder(store).map(|folder| replay(&folder, patience)).unwrap_or_default()
}

/// Says what became of what an earlier run had left.
pub fn say(report: &Report) {
    for sentence in &report.restored {
        terminal::say_sentence(&format!("fathom: restored after a run that was killed: {sentence}"));
    }
    for sentence in report.left.iter().chain(&report.failed) {
        terminal::say_sentence(&format!("fathom: not restored: {sentence}"));
    }
}

/// `fathom doctor --restore`
pub fn restore(store: &Store) -> Result<Ending, Failure> {
    let report = replayed(store, PATIENCE);
    let rows =
        [("restored", &report.restored), ("left as it is", &report.left), ("not restored", &report.failed)];
    let mut text: String = rows
        .iter()
        .flat_map(|(what, all)| all.iter().map(move |one| format!("{what:<14} {one}\n")))
        .collect();
    for process in &report.at_work {
        text += &format!("{:<14} process {process} restores its own changes\n", "at work");
    }
    if text.is_empty() {
        text = "nothing to restore\n".into();
    }
    output::print_wrapped(&text)?;
    match report.failed.len() {
        0 => Ok(Ending::done()),
        1 => Ok(Ending { code: 5, reason: "1 change could not be restored".into() }),
        count => Ok(Ending { code: 5, reason: format!("{count} changes could not be restored") }),
    }
}

fn folder(store: &Store) -> Option<PathBuf> {
    Some(folder_beside(&store.beside().ok()?))
}
