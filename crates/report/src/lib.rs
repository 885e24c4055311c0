//! Draws records: as text for a terminal, Markdown for a ticket, CSV for a spreadsheet, JSON for programs.
//!
//! Everything is a function from a record to text; nothing is printed here, and no terminal is asked for
//! anything: width and colours are given.
//!
//! **Invariant:** nothing here knows a world, nor how anything was measured.

mod comparison;
mod condition;
mod course;
mod csv;
mod effects;
mod explained;
mod exploration;
mod figures;
mod grade;
mod groups;
mod header;
mod held;
mod json;
mod judgement;
mod ladder;
mod list;
mod markdown;
mod metric;
mod page;
mod path;
mod ranks;
mod rounds;
mod seconds;
mod shares;
mod spans;
mod style;
mod sweep;
mod table;
mod upkeep;
mod warnings;
mod what_if;
mod words;
mod work;

pub use crate::csv::{CSV_COLUMNS, csv};
pub use comparison::{
    COMPARISON_COLUMNS, LOADS_DIFFER, comparison, comparison_csv, comparison_json, comparison_markdown,
};
pub use course::{Course, Stretch, courses};
pub use effects::effects;
pub use explained::{explained, explained_in_brief};
pub use exploration::exploration;
pub use groups::{distinct, grouped};
pub use header::{on_targets, tested};
pub use held::{fitted, held};
pub use json::{json, json_lines};
pub use judgement::{annotations, complaints, gate_row, junit, objective};
pub use list::{is_published, list, list_json, state_words};
pub use markdown::{escaped as markdown_text, markdown, prose as markdown_prose};
pub use page::{brief, text};
pub use path::path;
pub use seconds::seconds_csv;
pub use shares::shares;
pub use spans::spans;
pub use style::Style;
pub use what_if::what_if;
pub use words::{
    ALIKE, capital, counted, csv_cell, harmless, model_error, shell_word, without_interval, wrap,
};
pub use work::work;

/// Why a record could not be drawn.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// A value that the format cannot hold.
    #[error("run {id}: cannot be written as {format}: {why}")]
    Unwritable {
        /// The run.
        id: String,
        /// `CSV`, `JSON`.
        format: &'static str,
        /// What stood in the way.
        why: String,
    },
}
