//! `fathom completions`

use clap::CommandFactory;

use crate::cli::Cli;
use crate::ending::{Ending, Failure};
use crate::terminal;

pub fn completions(shell: clap_complete::Shell) -> Result<Ending, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "fathom", &mut script);
    terminal::print(&String::from_utf8_lossy(&script))
        .map_err(|source| Failure::System { what: "writing to stdout".into(), source })?;
    Ok(Ending::done())
}
