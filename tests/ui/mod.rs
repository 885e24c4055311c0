//! The page's server, from outside: what it answers is what the command line prints, what it refuses starts nothing, and
//! runs that it starts are runs.

mod answers;
mod campaigns;
mod page;
mod refusals;
mod runs;
