//! Bonnie++ 1.03e and 2.00: single characters, blocks, rewriting, seeks, and many small files.
//!
//! Files are written from nothing to twice the memory, so that reading them asks the storage. What is printed are the
//! figures of the record: KiB a second of each pass, the flush at its end included, and processor time of its part.
//!
//! What the original hides below half a second, `+++++`, is hidden here too; the record has it.

mod figures;
mod job;
mod options;
mod output;
#[cfg(test)]
mod tests;
mod text;

pub use figures::{Figures, Test};
pub use job::{Job, Machine};
pub use options::{Chars, Command, FileTest, Request, seed_of};
pub use output::{CSV_103, CSV_200, TEXT_103, TEXT_200};
pub use text::Sheet;

use crate::Refusal;

/// Which of the two programs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Generation {
    /// 1.03e of 2008, and what read and wrote its 27 columns.
    V103,
    /// 2.00a of 2018, with latencies and 50 columns.
    #[default]
    V200,
}

impl Generation {
    /// The name in messages.
    pub const fn tool(self) -> &'static str {
        match self {
            Generation::V103 => "bonnie",
            Generation::V200 => "bonnie++",
        }
    }

    /// Processes that seek where nothing else is said.
    pub const fn seekers(self) -> u32 {
        match self {
            Generation::V103 => 3,
            Generation::V200 => 5,
        }
    }
}

/// A block where nothing else is said.
pub const CHUNK: u32 = 8192;
/// Seeks where nothing else is said.
pub const SEEKS: u32 = 8192;

/// The key and the number of semaphores by which copies of Bonnie++ start each test together.
pub const SEMAPHORES: (i32, i32) = (4711, 12);

fn usage(generation: Generation, what: impl Into<String>) -> Refusal {
    Refusal::usage(generation.tool(), what)
}
