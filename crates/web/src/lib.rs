//! Serves the page of `fathom ui`: HTTP, who may ask what, the built files, and runs that are started from it.
//!
//! What is answered comes from a [`Desk`], which the command line implements; a run that is started is a child process
//! of a command that the desk names, so that the rules of the command line hold for it by construction.
//!
//! **Invariant:** knows no world, no plan and no record. Nothing is started or changed for a request without the token,
//! and nothing that a request names is opened as a file.

mod desk;
mod events;
mod gate;
mod job;
mod page;
mod patient;
mod reply;
mod routes;
mod server;

pub use desk::{Answer, CampaignAsked, CampaignCommand, Check, Desk, Download, Refusal, RunsWanted, Start};
pub use server::{Server, TOKEN_VARIABLE, token};
