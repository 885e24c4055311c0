//! The library of runs that `--store` names, or the default one.

use std::path::PathBuf;

use clap::Args;
use clap::builder::TypedValueParser;
use library::{Library, LibraryError, Location, default_path};

use crate::ending::Failure;
use crate::input::path_value;
use crate::terminal;

// Where runs are kept. No doc comment: clap would take it for the help of the program.
#[derive(Clone, Debug, Default, Args)]
pub struct Store {
    /// Where runs are saved: a file, or postgres://USER@HOST/DATABASE [default: ~/.local/share/fathom/runs.sqlite]
    // A global option, so no verb has an argument of this id. An address in the variable may have a password.
    #[arg(
        id = "store",
        long,
        global = true,
        value_name = "FILE",
        env = "FATHOM_STORE",
        hide_env_values = true
    )]
    #[arg(value_parser = path_value().map(Location::from))]
    place: Option<Location>,
}

impl Store {
    /// Where it is; nothing need be there.
    pub fn place(&self) -> Result<Location, Failure> {
        match &self.place {
            Some(place) => Ok(place.clone()),
            None => Ok(Location::File(default_path()?)),
        }
    }

    /// The file beside which this machine notes what belongs to the library, which need not be there: of a library on a
    /// server, the default one.
    pub fn beside(&self) -> Result<PathBuf, Failure> {
        match self.place()? {
            Location::File(path) => Ok(path),
            Location::Server(_) => Ok(default_path()?),
        }
    }

    /// Whether there may be runs in it already.
    pub fn is_there(&self) -> Result<bool, Failure> {
        Ok(match self.place()? {
            Location::File(path) => path.exists(),
            Location::Server(_) => true,
        })
    }

    /// The library, created if it does not exist. Creating one whose path the user gave is reported: the path may be mistyped.
    pub fn open(&self) -> Result<Library, Failure> {
        let absent = match &self.place {
            Some(Location::File(path)) => (!path.exists()).then_some(path),
            _ => None,
        };
        let library = Library::open(&self.place()?)?;
        if let Some(path) = absent.filter(|path| path.exists()) {
            terminal::say_sentence(&format!("fathom: new library {}", path.display()));
        }
        Ok(library)
    }

    /// The library for a run that is going to be saved; `None` where `no_save` says not to.
    pub fn open_to_save(&self, no_save: bool) -> Result<Option<Library>, Failure> {
        if no_save {
            return Ok(None);
        }
        let library = self.open()?;
        match library.refusal() {
            None => Ok(Some(library)),
            Some(LibraryError::ReadOnly { path }) => Err(Failure::Usage(format!(
                "{}: the library is read-only; name another with --store FILE, or measure with --no-save",
                path.display()
            ))),
            Some(refusal) => Err(refusal.into()),
        }
    }

    /// Warns of a password that others see in the list of processes.
    pub fn warn(&self) {
        let Some(Location::Server(address)) = &self.place else { return };
        let is_seen = |word: std::ffi::OsString| word.to_string_lossy().ends_with(address.with_password());
        if address.has_password() && std::env::args_os().any(is_seen) {
            terminal::say_sentence(
                "fathom: others see the password of --store in the list of processes; PGPASSWORD or ~/.pgpass hides it",
            );
        }
    }

    /// The option that names this library in a command for the user, with a blank before it; empty for the default one.
    pub fn option(&self) -> String {
        self.place.as_ref().map(|place| format!(" --store {place}")).unwrap_or_default()
    }

    /// The command that shows a run.
    pub fn show(&self, id: &str) -> String {
        format!("fathom{} show {id}", self.option())
    }

    /// The command that shows a run with all that it has to say.
    pub fn show_full(&self, id: &str) -> String {
        self.show(id) + " --full"
    }
}
