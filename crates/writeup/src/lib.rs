//! Writes records up: from runs to a report with an answer, charts, tables and what to doubt.
//!
//! A report is plain data first ([`WriteUp`]), from which every format is drawn. Each number in it knows where in the
//! records it comes from, and the report as a page holds those records, so that [`verify`] can compute every number again.
//!
//! **Invariant:** nothing here knows a world, and nothing in a report depends on when or where it was made: the same
//! records give the same bytes.

mod csv;
mod document;
mod evidence;
mod facts;
mod html;
mod labels;
mod markdown;
mod measured;
mod number;
#[cfg(feature = "parquet")]
mod parquet;
mod picture;
mod samples;
mod spelled;
mod summary;
mod sweep;
mod verify;
mod views;
mod warnings;
mod xlsx;

use std::borrow::Cow;

use record::{Comparison, Run};

pub use crate::csv::{CsvError, csv};
#[cfg(feature = "parquet")]
pub use crate::parquet::{ParquetFailure, parquet};
pub use document::{
    Block, Cell, Column, Figure, KeyFigure, RunFacts, Section, Sentence, Span, Table, Warning, WriteUp,
};
pub use evidence::{Evidence, EvidenceError};
pub use html::{article, html, style};
pub use markdown::markdown;
pub use number::{Number, Source};
pub use picture::{PictureError, pdf, png};
pub use verify::{Verified, VerifyError, verify};
pub use xlsx::{XlsxFailure, xlsx};

/// The report on `evidence`, called `title` where one is given.
pub fn write_up(evidence: &Evidence) -> WriteUp {
    let labels = labels(evidence);
    assert_eq!(labels.len(), evidence.runs.len(), "a label for each run");
    let portraits = evidence.portraits();
    let runs: Cow<'_, [Run]> = match &evidence.comparison {
        // Of a campaign cells are shown, and not sweeps.
        _ if evidence.is_campaign() => Cow::Borrowed(&evidence.runs),
        // A comparison has the names of the records.
        Some(_) => spelled::spelled(&evidence.runs),
        None => spelled::named(&evidence.runs),
    };
    let effects = evidence.effects();
    let place = evidence.runs.len() + usize::from(evidence.comparison.is_some());
    let subject = views::Subject {
        campaign: effects.as_ref().map(|effects| views::campaign::Subject { effects, place }),
        runs: &runs,
        labels: &labels,
        comparison: evidence.comparison.as_ref().map(|comparison| (comparison, evidence.runs.len())),
        portraits: &portraits,
    };
    summary::write_up(&subject, views::sections(&subject), evidence.title.as_deref())
}

/// What the report on `evidence` calls each of its runs.
pub fn labels(evidence: &Evidence) -> Vec<String> {
    let name = if evidence.is_campaign() { labels::cells } else { labels::labels };
    name(&evidence.runs)
}

/// The report on these runs with how they differ, called `title` where one is given: what [`write_up`] makes of the
/// evidence that is kept of them.
pub fn evidence(runs: Vec<Run>, comparison: Option<Comparison>, title: Option<String>) -> Evidence {
    Evidence::of(runs, comparison, title)
}
