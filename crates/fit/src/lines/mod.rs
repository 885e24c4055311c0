//! What is said of a model, figure by figure, from the link down to the members.

mod cache;
mod front;
mod layout;
mod member;

use record::Fitted;

use crate::identified::Identified;
use crate::model::{Model, Words};
use crate::parts::Parts;
use crate::refine::Explained;
use crate::said::Said;

/// Lines for people, and words for the file.
pub fn of(
    parts: &Parts,
    model: &Model,
    identified: &Identified,
    tried: &[Explained],
) -> (Vec<Fitted>, Words) {
    let mut said = Said::default();
    front::say(parts, model, &mut said);
    layout::say(parts, model, identified, tried, &mut said);
    cache::say(parts, model, &mut said);
    member::say(parts, model, &mut said);
    (said.lines, said.words)
}

const NO_CACHE: &str = "no cache answered, so that it is part of the member latency";
const NO_WRITES: &str = "no consent: nothing was written, and writes are assumed to be like reads";
