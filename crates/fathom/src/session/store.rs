//! The library of runs that `--store` names, or the default one.

use std::path::PathBuf;

use clap::Args;
use library::{Library, default_path};

use crate::ending::Failure;
use crate::input::path_value;

// Where runs are kept. No doc comment: clap would take it for the help of the program.
#[derive(Clone, Debug, Default, Args)]
pub struct Store {
    /// The file that runs are saved in [default: ~/.local/share/fathom/runs.sqlite]
    // A global option, so no verb has an argument of this id.
    #[arg(id = "store", long, global = true, value_name = "FILE", env = "FATHOM_STORE")]
    #[arg(value_parser = path_value())]
    file: Option<PathBuf>,
}

impl Store {
    /// Its file, which need not be there.
    pub fn path(&self) -> Result<PathBuf, Failure> {
        match &self.file {
            Some(path) => Ok(path.clone()),
            None => Ok(default_path()?),
        }
    }

    /// The library, made where it is not there.
    pub fn open(&self) -> Result<Library, Failure> {
        Ok(Library::open(&self.path()?)?)
    }

    /// The library for a run that is going to be saved; `None` where `no_save` says not to.
    pub fn open_to_save(&self, no_save: bool) -> Result<Option<Library>, Failure> {
        if no_save {
            return Ok(None);
        }
        let library = self.open()?;
        if library.is_writable() {
            return Ok(Some(library));
        }
        Err(Failure::Usage(format!(
            "{}: the library is read-only; name another with --store FILE, or measure with --no-save",
            library.path().display()
        )))
    }

    /// The option that names this library in a command for the user, with a blank before it; empty for the default one.
    pub fn option(&self) -> String {
        self.file.as_ref().map(|path| format!(" --store {}", path.display())).unwrap_or_default()
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
