//! IOzone: passes of thirteen kinds over a file, for each pair of file and record size, and the same by several
//! children at once.
//!
//! A figure is KiB a second of one pass: what it moved over the time from its first record to its last. Every pass is
//! a point of the plan that ends after as many records as the file has. What IOzone does between passes is there too,
//! and not timed: what was written is flushed, and a file that is written for the first time is empty before.
//!
//! Random passes visit each record once. fwrite and fread go through stdio and therefore the page cache.

mod children;
mod excel;
mod figure;
mod grid;
mod job;
mod latencies;
mod options;
mod output;
mod pass;
mod table;
mod telemetry;
#[cfg(test)]
mod tests;
mod throughput;

pub use children::{Does, TESTS, Test};
pub use excel::{Report, Throughputs, Value, processors, several, several_text, single, text, workbook};
pub use figure::{Cell, Timed, Unit};
pub use grid::{Grid, Pair, Range};
pub use job::Storage;
pub use latencies::{
    HEAD as LATENCY_HEAD, file_of as latency_file, line as latency_line, times as latency_times,
};
pub(crate) use options::SYNTAX;
pub use options::{Command, Included};
pub use output::{EXCEL, OUTPUT};
pub use pass::{Pass, Walk};
pub use table::{END, Row, Table};
pub use telemetry::Telemetry;
pub use throughput::Throughput;

const TOOL: &str = "iozone";

/// The number of the last test.
const TESTS_MAX: u8 = 12;

fn usage(what: &str) -> crate::Refusal {
    crate::Refusal::usage(TOOL, what)
}
