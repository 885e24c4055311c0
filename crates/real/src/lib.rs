//! Real storage as a world: targets resolved, scratch files laid out, load driven, monitors beside it.
//!
//! **Invariant:** what is done to the system is done by `host`; here it is put in the order of a plan and in the words
//! of a record.

mod ceiling;
mod checks;
mod describe;
mod failure;
mod heard;
mod machine;
mod options;
mod path;
mod plain_set;
mod scratch_set;
mod target;
mod upkeep;
mod verify;
mod world;
mod zoned;

pub use host::progress::Source;
pub use host::restore::Journal;
pub use host::safety::{Consent, Judgement};
pub use machine::{cpu_hz, this_machine};
pub use options::{Beside, RealOptions};
pub use plain_set::{Expansion, PlainFile};
pub use target::{Look, LookKind, find, judgements, path_of};
pub use upkeep::UpkeepOptions;
pub use world::RealWorld;
