//! Other tools' command lines and job files in, other tools' outputs out.
//!
//! One module a tool. What a tool was asked to do becomes an [`TranslatedJob`]: a plan in Fathom's own language and the
//! targets it is for. What came back is a record, and a tool's output is a function from that record to text.
//!
//! **Invariant:** text in, text out. Knows no world, opens no file, has no clock; what a tool reads from its
//! surroundings (the size of memory, the date) is given. No text whatever makes a reader panic.

/// That each row of `$table` stands at the number of the variant that is its part `$part`, told when it is compiled.
macro_rules! stand_in_place {
    ($table:expr, $part:tt, $why:literal) => {
        const _: () = {
            let table = &$table;
            let mut at = 0;
            while at < table.len() {
                assert!(table[at].$part as usize == at, $why);
                at += 1;
            }
        };
    };
}

/// That the numbers of `$list` grow, told when it is compiled.
macro_rules! ascending {
    ($list:expr, $why:literal) => {
        const _: () = {
            let list = &$list;
            let mut at = 1;
            while at < list.len() {
                assert!(list[at - 1] < list[at], $why);
                at += 1;
            }
        };
    };
}

mod answer;
mod encoding;
mod environment;
mod job_file;
mod numbers;
mod options;
mod output;
mod plan;
mod point;
mod refusal;
mod target;
mod tasks;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
mod translated;

pub mod bonnie;
pub mod dd;
pub mod diskspd;
pub mod fio;
pub mod hdparm;
pub mod iometer;
pub mod ior;
pub mod iozone;
pub mod mdtest;
pub mod orion;
pub mod seeker;
pub mod sqlio;

pub use answer::answer;
pub use encoding::decoded;
pub use environment::{JobEnvironment, NamedKind};
pub use job_file::{JobFile, job_file, job_files, results_of};
pub use output::{NoFigures, Output, outputs};
pub use plan::quoted;
pub use refusal::Refusal;
pub use target::{DataFile, TargetInfo, TargetKind, windows_path};
pub use tasks::{FileSystem, OP_HEAD, OpFile, op_line};
pub use translated::TranslatedJob;
