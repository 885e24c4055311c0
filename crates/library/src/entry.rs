//! The line of a run as the table holds it.

use record::{Entry, Grade};
use rusqlite::types::Value;
use serde::de::DeserializeOwned;
use units::convert::narrow;

use crate::tables::Row;

/// The columns of an [`Entry`], in the order in which [`from_row`] reads them.
pub(crate) const COLUMNS: &str = "number, id, started, ended, plan, world, hostname, targets, tags, points, \
     peak_ops_per_s, peak_bytes_per_s, warnings, invalid, complete, code, reason, json_bytes, grade";

/// The line of a run as it was found.
pub(crate) enum Line {
    /// As it was saved.
    Sound(Box<Entry>),
    /// Not as it was saved, under that number.
    Damaged(i64),
}

/// The columns that [`line`] reads.
pub(crate) fn columns() -> String {
    format!("{COLUMNS}, sum")
}

/// Reads the [`columns`].
pub(crate) fn line(mut row: Row) -> Line {
    let number = row.integer(0).unwrap_or(0);
    let entry = if row.is_sound() { from_row(&mut row) } else { None };
    entry.map_or(Line::Damaged(number), |entry| Line::Sound(Box::new(entry)))
}

/// Reads the [`COLUMNS`]; `None` where they are not those of a run.
fn from_row(row: &mut Row) -> Option<Entry> {
    Some(Entry {
        number: row.integer(0)?,
        id: row.text(1)?,
        started: row.text(2)?,
        ended: row.text(3),
        plan: row.text(4)?,
        world: row.text(5)?,
        hostname: row.text(6)?,
        targets: from_json(&row.text(7)?)?,
        tags: from_json(&row.text(8)?)?,
        points: row.integer(9)?.unsigned_abs(),
        peak_ops_per_s: row.real(10),
        peak_bytes_per_s: row.real(11),
        warnings: row.integer(12)?.unsigned_abs(),
        invalid: row.integer(13)?.unsigned_abs(),
        complete: row.integer(14)? != 0,
        code: u8::try_from(row.integer(15)?).ok()?,
        reason: row.text(16)?,
        json_bytes: row.integer(17)?.unsigned_abs(),
        grade: row.text(18).and_then(|text| grade(&text)),
    })
}

/// What stands in the [`COLUMNS`] behind the number.
pub(crate) fn values(entry: &Entry) -> Vec<Value> {
    let targets = serde_json::Value::from(entry.targets.clone()).to_string();
    let tags: serde_json::Map<String, serde_json::Value> =
        entry.tags.iter().map(|(key, value)| (key.clone(), value.clone().into())).collect();
    let count = |count: u64| Value::Integer(narrow::<i64>(count));
    // SQLite keeps -0.0 as 0.0, of which the checksum is another.
    let figure = |figure: Option<f64>| {
        debug_assert!(
            figure.is_none_or(|figure| !figure.is_nan()),
            "it comes back as none, with another checksum"
        );
        Value::from(figure.map(|figure| figure + 0.0))
    };
    vec![
        entry.id.clone().into(),
        entry.started.clone().into(),
        entry.ended.clone().into(),
        entry.plan.clone().into(),
        entry.world.clone().into(),
        entry.hostname.clone().into(),
        targets.into(),
        serde_json::Value::Object(tags).to_string().into(),
        count(entry.points),
        figure(entry.peak_ops_per_s),
        figure(entry.peak_bytes_per_s),
        count(entry.warnings),
        count(entry.invalid),
        i64::from(entry.complete).into(),
        i64::from(entry.code).into(),
        entry.reason.clone().into(),
        count(entry.json_bytes),
        entry.grade.map(|grade| grade.to_string()).into(),
    ]
}

/// A letter that this program does not know is no grade.
fn grade(text: &str) -> Option<Grade> {
    Grade::ALL.into_iter().find(|grade| grade.to_string() == text)
}

fn from_json<T: DeserializeOwned>(text: &str) -> Option<T> {
    serde_json::from_str(text).ok()
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

    #[test]
    fn a_line_is_read_as_it_was_written_and_with_another_value_it_is_damaged() {
        let entry = Entry {
            number: 7,
            peak_ops_per_s: Some(-0.0),
            ..Entry::of(&record::sample::run("p", Vec::new()), 9)
        };
        let mut row = vec![Value::Integer(7)];
        row.extend(values(&entry));
        assert_eq!(row.len(), COLUMNS.split(',').count());
        row.push(Value::Integer(crate::checksum::of(&row)));
        assert!(matches!(line(Row(row.clone())), Line::Sound(read) if *read == entry));
        row[4] = Value::Text("other".into());
        assert!(matches!(line(Row(row)), Line::Damaged(7)));
    }
}
