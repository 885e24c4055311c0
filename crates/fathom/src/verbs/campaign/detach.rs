//! A campaign in the background.

use std::fs::File;
use std::process::{Command, Stdio};

use super::lock::beside;
use super::subject::Subject;
use crate::ending::{Ending, Failure};
use crate::output;
use crate::session::store::Store;

/// Starts the same command in the background, in a process group of its own.
pub fn detach(subject: &Subject, store: &Store) -> Result<Ending, Failure> {
    use std::os::unix::process::CommandExt;
    store.open_to_save(false)?;
    let path = beside(subject, store, "log")?;
    let log = File::options().create(true).append(true).open(&path).map_err(Failure::system("the log"))?;
    let program = std::env::current_exe().map_err(Failure::system("the program"))?;
    let words = std::env::args_os().skip(1).filter(|word| word != "--detach");
    let errors = log.try_clone().map_err(Failure::system("the log"))?;
    let started = Command::new(program)
        .args(words)
        .stdin(Stdio::null())
        .stdout(log)
        .stderr(errors)
        .process_group(0)
        .spawn();
    let child = started.map_err(Failure::system("the campaign cannot be started"))?;
    output::print(&format!(
        "{}: continues as process {}; what it says is in {}\nHow far it is: the same command with --status; to end it: kill -INT {}\n",
        report::harmless(&subject.campaign.name),
        child.id(),
        path.display(),
        child.id()
    ))?;
    Ok(Ending::done())
}
