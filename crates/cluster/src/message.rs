//! What ranks say to each other, as plain data.
//!
//! Instants are those of the sender's clock; whoever takes them in shifts them to its own.

use serde::{Deserialize, Serialize};
use workload::plan::{Load, Settle};
use workload::spec::Workload;

use crate::error::Refused;
use crate::wire::{WireInterval, WireLoad, WireWrote};

/// What a rank says of itself before anything is done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hello {
    /// Of Fathom.
    pub version: String,
    /// Of the plan as it was read, with what the command line changed.
    pub plan: String,
    /// What its host is called.
    pub host: String,
    /// Processors that it may use; 0 where that is not known.
    pub processors: u32,
    /// What it asks, as it is named on its host.
    pub targets: Vec<String>,
    /// How large each of them is in bytes; `None` for what is made for the run. Nothing where it asks nothing.
    #[serde(default)]
    pub lengths: Vec<Option<u64>>,
    /// The date when its clock began, in nanoseconds since 1970.
    pub began_ns: u64,
    /// Why it cannot take part.
    pub refused: Option<Refused>,
}

/// Anything that one rank says to another.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Message {
    /// It lives.
    Beat,
    /// Of each rank to rank 0, first.
    Hello(Hello),
    /// Nothing is done, for this reason.
    Refused(Refused),
    /// What does your clock show?
    Ask { sent_ns: u64 },
    /// It shows this.
    Told { sent_ns: u64, answered_ns: u64 },
    /// Drive the share of rank `drives` of this load; the others, by their ranks, `wrote` this before.
    Load { round: u64, load: WhichLoad, drives: u32, wrote: Vec<(u32, WireWrote)> },
    /// All workers are ready.
    Ready { round: u64 },
    /// They start at this instant of the receiver's clock.
    Start { round: u64, at_ns: u64 },
    /// They do not start, or end now.
    Stop { round: u64 },
    /// What happens in the load.
    News { round: u64, now_ns: u64, progress: [u64; 4], intervals: Vec<(usize, Vec<WireInterval>)> },
    /// What the load saw, or why it saw nothing.
    Seen { round: u64, seen: Result<Box<WireLoad>, Refused> },
    /// Come to rest.
    Settle { wrote: bool, for_ns: Option<u64> },
    /// It is done, or could not be.
    Settled(Result<(), Refused>),
    /// All is done; put back what was changed.
    End,
    /// A plan is carried out next, the one of that name where there are several: greet again.
    Again { what: String },
    /// Nothing more comes.
    Over,
    /// The sender leaves, and says nothing more.
    Leaves,
    /// Carry out this piece of work.
    WorkItem { number: u64, text: String },
    /// What it gave.
    Done { number: u64, text: String },
    /// What could not be put back.
    Left(Vec<String>),
}

/// Which load.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum WhichLoad {
    /// Of that point of the plan.
    Point(usize),
    /// Of these workloads, which no point has.
    Workloads(Vec<Workload>),
}

impl Message {
    pub(crate) fn settle(settle: Settle, wrote: bool) -> Message {
        let for_ns = match settle {
            Settle::For(time) => Some(time.get()),
            Settle::Auto | Settle::None => None,
        };
        Message::Settle { wrote, for_ns }
    }

    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        serde_json::to_vec(self).expect("messages have no keys that are not text")
    }

    pub(crate) fn from_bytes(bytes: &[u8]) -> Result<Message, String> {
        serde_json::from_slice(bytes).map_err(|error| error.to_string())
    }
}

/// A load of these workloads that no sweep follows.
pub(crate) fn load_of(workloads: Vec<Workload>) -> Load {
    Load { workloads, headlines: Vec::new(), until: None }
}
