//! `fathom man`: manual pages, from the same source as the help.

use std::fs;
use std::io::Write;
use std::path::PathBuf;

use clap::{Args, Command, CommandFactory};
use clap_mangen::Man;
use clap_mangen::roff::{Roff, bold, roman};

use crate::ending::{Ending, Failure};
use crate::input::path_value;
use crate::output;

#[derive(Debug, Args)]
pub struct ManArgs {
    /// The directory for the pages, one for each command: fathom.1, fathom-run.1, … [default: print fathom(1)]
    #[arg(value_name = "DIR", value_parser = path_value(), value_hint = clap::ValueHint::DirPath)]
    directory: Option<PathBuf>,
}

pub fn man<C: CommandFactory>(arguments: &ManArgs) -> Result<Ending, Failure> {
    let mut command = C::command().disable_help_subcommand(true);
    command = command.mut_subcommands(|verb| verb.disable_help_subcommand(true));
    command.build();
    match &arguments.directory {
        None => output::print(&page(&command)?)?,
        Some(directory) => {
            let system = Failure::system(format!("making {}", directory.display()));
            fs::create_dir_all(directory).map_err(system)?;
            write(&command, directory)?;
        }
    }
    Ok(Ending::done())
}

/// Writes the page of `command` and those of the commands below it.
fn write(command: &Command, directory: &PathBuf) -> Result<(), Failure> {
    let name = Man::new(command.clone()).get_filename();
    output::write_whole(&directory.join(name), &page(command)?)?;
    command.get_subcommands().try_for_each(|verb| write(verb, directory))
}

fn page(command: &Command) -> Result<String, Failure> {
    let system = Failure::system("writing a manual page");
    let man = Man::new(command.clone());
    let mut text = Vec::new();
    // An empty date is lost in `Man::render_title`, and what follows it would take its place.
    let title = command.get_display_name().unwrap_or("fathom");
    let version = env!("CARGO_PKG_VERSION");
    writeln!(text, ".TH \"{title}\" 1 \"\" \"Fathom {version}\" \"Fathom Manual\"").map_err(&system)?;
    man.render_name_section(&mut text).map_err(&system)?;
    man.render_synopsis_section(&mut text).map_err(&system)?;
    man.render_description_section(&mut text).map_err(&system)?;
    man.render_options_section(&mut text).map_err(&system)?;
    if command.has_subcommands() {
        man.render_subcommands_section(&mut text).map_err(&system)?;
    }
    closing(command).to_writer(&mut text).map_err(&system)?;
    Ok(String::from_utf8_lossy(&text).into_owned())
}

/// What stands below a verb's help: a section for each heading, its lines as they are; and where to read on.
fn closing(command: &Command) -> Roff {
    let mut roff = Roff::new();
    let text = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    for part in text.split("\n\n") {
        let (first, rest) = part.split_once('\n').unwrap_or((part, ""));
        match first.strip_suffix(':').filter(|_| !rest.is_empty()) {
            Some(heading) => {
                roff.control("SH", [heading.to_uppercase().as_str()]);
                roff.control("nf", []);
                rest.lines().for_each(|line| {
                    roff.text([roman(line)]);
                });
                roff.control("fi", []);
            }
            None => {
                roff.control("PP", []);
                part.lines().for_each(|line| {
                    roff.text([roman(line)]);
                });
            }
        }
    }
    if command.get_name() != "fathom" {
        roff.control("SH", ["SEE ALSO"]);
        roff.text([bold("fathom"), roman("(1)")]);
    }
    roff
}
