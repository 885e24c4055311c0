//! The line of a run as the table holds it.

use record::{Entry, Grade};
use rusqlite::Row;
use serde::de::DeserializeOwned;

/// The columns of an [`Entry`], in the order in which [`from_row`] reads them.
pub(crate) const COLUMNS: &str = "number, id, started, ended, plan, world, hostname, targets, tags, points, \
     peak_ops_per_s, peak_bytes_per_s, warnings, invalid, complete, code, reason, json_bytes, grade";

/// The column behind the [`COLUMNS`].
const SUM: usize = 19;

/// The line of a run as it was found.
pub(crate) enum Line {
    /// As it was saved.
    Sound(Box<Entry>),
    /// Not as it was saved, under that number.
    Damaged(i64),
}

/// The columns that [`line`] reads.
pub(crate) fn columns() -> String {
    debug_assert_eq!(COLUMNS.split(',').count(), SUM, "what says that they are sound follows them");
    format!("{COLUMNS}, sum IS checksum({COLUMNS})")
}

/// Reads the [`columns`].
pub(crate) fn line(row: &Row<'_>) -> rusqlite::Result<Line> {
    match row.get(SUM)? {
        true => Ok(Line::Sound(Box::new(from_row(row)?))),
        false => Ok(Line::Damaged(row.get(0)?)),
    }
}

/// Reads the [`COLUMNS`].
fn from_row(row: &Row<'_>) -> rusqlite::Result<Entry> {
    Ok(Entry {
        number: row.get(0)?,
        id: row.get(1)?,
        started: row.get(2)?,
        ended: row.get(3)?,
        plan: row.get(4)?,
        world: row.get(5)?,
        hostname: row.get(6)?,
        targets: from_json(row, 7)?,
        tags: from_json(row, 8)?,
        points: row.get::<_, i64>(9)?.unsigned_abs(),
        peak_ops_per_s: row.get(10)?,
        peak_bytes_per_s: row.get(11)?,
        warnings: row.get::<_, i64>(12)?.unsigned_abs(),
        invalid: row.get::<_, i64>(13)?.unsigned_abs(),
        complete: row.get(14)?,
        code: row.get(15)?,
        reason: row.get(16)?,
        json_bytes: row.get::<_, i64>(17)?.unsigned_abs(),
        grade: row.get::<_, Option<String>>(18)?.and_then(|text| grade(&text)),
    })
}

/// A letter that this program does not know is no grade.
fn grade(text: &str) -> Option<Grade> {
    Grade::ALL.into_iter().find(|grade| grade.to_string() == text)
}

fn from_json<T: DeserializeOwned>(row: &Row<'_>, column: usize) -> rusqlite::Result<T> {
    let text: String = row.get(column)?;
    serde_json::from_str(&text).map_err(|error| {
        rusqlite::Error::FromSqlConversionFailure(column, rusqlite::types::Type::Text, Box::new(error))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_grade_is_known_by_its_letter_and_another_text_is_none() {
        for known in Grade::ALL {
            assert_eq!(grade(&known.to_string()), Some(known));
        }
        assert_eq!((grade("Z"), grade("")), (None, None));
    }
}
