//! Records as they are drawn, looked at once and kept.

#![expect(clippy::unwrap_used, reason = "a test that meets an error has failed")]

mod fixtures;
mod formats;
mod pages;
mod path;
