//! How the program ends: an exit code, and its reason as the last line on stderr.

use conduct::WorldError;
use document::Errors;
use library::LibraryError;
use modelled::ModelError;
use report::ReportError;

use crate::terminal;

/// A code and its reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ending {
    pub code: u8,
    pub reason: String,
}

impl Ending {
    pub fn done() -> Ending {
        Ending { code: 0, reason: "done".into() }
    }

    pub fn usage(reason: &str) -> Ending {
        Ending { code: 2, reason: reason.into() }
    }

    /// Says anything but success.
    pub fn say(&self) {
        if self.code != 0 {
            let Ending { code, reason } = self;
            debug_assert!(!reason.is_empty(), "an end that is no success has a reason");
            terminal::say_sentence(&format!("fathom: exit {code}: {reason}{}", remedy(reason)));
        }
    }
}

/// All mistakes of a document, each with its line and a pointer.
fn draw(errors: &Errors) {
    terminal::say(&errors.graphical(terminal::stderr_has_colour(), terminal::stderr_width()));
}

/// What to do where any file of many could not be opened, whoever tried. Empty where that is not why, or is said.
fn remedy(reason: &str) -> &'static str {
    let is_limit = reason.contains("(os error 24)") || reason.contains("(os error 23)");
    match is_limit && !reason.contains("ulimit") {
        true => "; raise the limit of open files with `ulimit -n 1024` and try again",
        false => "",
    }
}

/// The exit code of an interrupt where it is not known which signal it was.
pub const INTERRUPTED: u8 = 130;

/// Why a verb could not do what it was asked.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    #[error("{0}")]
    Usage(String),
    #[error("the plan has {}", report::counted(.0.iter().count(), "mistake"))]
    Plan(Errors),
    #[error(transparent)]
    Tool(#[from] formats::Refusal),
    #[error(transparent)]
    NoFigures(#[from] formats::NoFigures),
    #[error(transparent)]
    World(#[from] WorldError),
    /// An array, a device, cases or parts.
    #[error(transparent)]
    Document(#[from] Errors),
    #[error(transparent)]
    Model(#[from] ModelError),
    #[error(transparent)]
    Library(#[from] LibraryError),
    #[error(transparent)]
    Report(#[from] ReportError),
    /// A signal ended what keeps nothing.
    #[error("interrupted; nothing was changed")]
    Interrupted,
    #[error("{what}: {source}")]
    System { what: String, source: std::io::Error },
}

impl Failure {
    /// Makes a failure of what the system said while doing `what`.
    pub fn system<E: Into<std::io::Error>>(what: impl Into<String>) -> impl Fn(E) -> Failure {
        let what = what.into();
        move |source| Failure::System { what: what.clone(), source: source.into() }
    }

    /// Says what is to be said at length, and gives the ending.
    pub fn ending(self) -> Ending {
        let code = match &self {
            Failure::Usage(_) | Failure::Tool(_) | Failure::NoFigures(_) => 2,
            Failure::Plan(errors) => {
                draw(errors);
                2
            }
            Failure::Document(errors) | Failure::Model(ModelError::Spec(errors)) => {
                // An address stands on the command line; its mistake is shown by the reason alone.
                if errors.iter().any(|mistake| mistake.place().has_line()) {
                    draw(errors);
                }
                2
            }
            Failure::World(error) => error.exit_code(),
            Failure::Model(_) | Failure::Library(_) | Failure::Report(_) => 2,
            Failure::Interrupted => INTERRUPTED,
            Failure::System { .. } => 8,
        };
        Ending { code, reason: self.to_string() }
    }
}
