//! `fathom ui`

mod campaigns;
mod desk;
mod plans;

use std::net::SocketAddr;

use clap::Args;
use document::Errors;
use library::LibraryError;
use web::{Refusal, Server};

use self::desk::Library;
use crate::ending::{Ending, Failure};
use crate::output;
use crate::session::signals::Signals;
use crate::session::store::Store;
use crate::terminal;

#[derive(Debug, Args)]
pub struct UiArgs {
    /// The address to listen on; port 0 is a free one. An address that other machines reach needs --token
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:7070")]
    pub listen: SocketAddr,
    /// The token that starts and stops runs, and on an address that other machines reach reads as well [default: a random
    /// one]
    #[arg(long, value_name = "TOKEN", env = web::TOKEN_VARIABLE, hide_env_values = true)]
    pub token: Option<String>,
}

pub fn ui(arguments: &UiArgs, store: &Store) -> Result<Ending, Failure> {
    let token = token(arguments)?;
    // One that cannot be opened is said now, not to everyone who looks.
    let refused = store.open()?.refusal();
    let program = std::env::current_exe().map_err(Failure::system("the program"))?;
    let address = arguments.listen;
    let server = Server::listen(address, token.clone(), program).map_err(|error| {
        Failure::Usage(format!("--listen {address}: {error}; choose another, such as 127.0.0.1:0"))
    })?;
    let signals = Signals::listen()?;
    let address = server.address().map_err(Failure::system("the address"))?;
    output::print(&format!("http://{address}/#token={token}\n"))?;
    terminal::say_sentence(&match refused {
        None => "Open this address in a browser; Ctrl-C ends the server. Whoever has it can start runs."
            .to_owned(),
        Some(why) => {
            format!("Open this address in a browser; Ctrl-C ends the server. No runs can be started: {why}")
        }
    });
    let running =
        server.serve(Box::new(Library::new(store)?), &signals.stop()).map_err(Failure::system("serving"))?;
    let code = signals.exit_code().unwrap_or_default();
    let reason = match running.len() {
        0 => "interrupted".into(),
        1 => "interrupted; the run that was started continues, and will be saved".into(),
        count => format!("interrupted; the {count} runs that were started continue, and will be saved"),
    };
    Ok(Ending { code, reason })
}

/// The token that was given, or a random one.
fn token(arguments: &UiArgs) -> Result<String, Failure> {
    match &arguments.token {
        Some(token) if token.is_empty() || !token.chars().all(is_plain) => Err(Failure::Usage(
            "--token: a token has letters, digits and any of -._~, and at least one of them".into(),
        )),
        Some(token) => Ok(token.clone()),
        None if !arguments.listen.ip().is_loopback() => Err(Failure::Usage(format!(
            "--listen {}: other machines reach this address; choose a token with --token, which is then needed to read or start \
             anything",
            arguments.listen
        ))),
        None => web::token().map_err(Failure::system("a random token")),
    }
}

/// What stands in an address as it is.
fn is_plain(one: char) -> bool {
    one.is_ascii_alphanumeric() || "-._~".contains(one)
}

/// Why a question was not answered, as the page is told.
fn refusal(failure: Failure) -> Refusal {
    let status = match &failure {
        Failure::Library(LibraryError::NoSuchRun { .. } | LibraryError::Ambiguous { .. }) => 404,
        Failure::Library(_) | Failure::System { .. } | Failure::Report(_) => 500,
        _ => 400,
    };
    Refusal::parted(status, &failure.to_string())
}

/// The same of mistakes in a document, which have each said what would be right.
fn mistaken(errors: Errors) -> Refusal {
    refusal(Failure::Document(errors))
}
