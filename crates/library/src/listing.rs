//! The lines of the runs, those that are sound and those that are not.

use record::Entry;
use rusqlite::{Connection, ErrorCode, OptionalExtension};

use crate::entry::{Line, columns, line};
use crate::library::NEWEST_FIRST;

/// Which runs to list. The default is all of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// Only of the plan of this name.
    pub plan: Option<String>,
    /// Only with a target whose name, as it was typed, contains this.
    pub target: Option<String>,
    /// Only with all of these labels; a label without a value matches any.
    pub tags: Vec<(String, Option<String>)>,
    /// Only started at this time or later: UTC, RFC 3339, of which the end may be left out (`2026-01-31`).
    pub since: Option<String>,
    /// Only so many, the newest of them.
    pub limit: Option<u64>,
}

/// What was found in a library.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Listed {
    /// The runs that were asked for, the last saved first.
    pub entries: Vec<Entry>,
    /// The numbers of runs whose lines are not as they were saved, whatever was asked for.
    pub damaged: Vec<i64>,
    /// So many runs were saved, never removed, and are not found.
    pub lost: u64,
}

impl Filter {
    fn passes(&self, entry: &Entry) -> bool {
        self.plan.as_ref().is_none_or(|plan| entry.plan == *plan)
            && self
                .target
                .as_ref()
                .is_none_or(|part| entry.targets.iter().any(|target| target.contains(part)))
            && self.since.as_ref().is_none_or(|since| entry.started >= *since)
            && has_tags(entry, &self.tags)
    }
}

/// The lines that pass `filter`. Where SQLite cannot walk over the table any more, each is looked up by its number.
pub(crate) fn list(connection: &Connection, filter: &Filter) -> rusqlite::Result<Listed> {
    match walk(connection, filter) {
        Err(error) if error.sqlite_error_code() == Some(ErrorCode::DatabaseCorrupt) => {
            salvage(connection, filter)
        }
        listed => listed,
    }
}

fn walk(connection: &Connection, filter: &Filter) -> rusqlite::Result<Listed> {
    let mut listed = Listed::default();
    let sql = format!("SELECT {} FROM runs {NEWEST_FIRST}", columns());
    let mut statement = connection.prepare(&sql)?;
    for found in statement.query_map([], line)? {
        if listed.is_enough(filter) {
            break;
        }
        listed.add(found?, filter);
    }
    let sql = "SELECT (SELECT runs FROM tally) - (SELECT count(*) FROM runs NOT INDEXED)";
    let lost: i64 = connection.query_row(sql, [], |row| row.get(0))?;
    listed.lost = u64::try_from(lost).unwrap_or(0);
    Ok(listed)
}

/// What can still be reached of a damaged table.
fn salvage(connection: &Connection, filter: &Filter) -> rusqlite::Result<Listed> {
    let mut listed = Listed::default();
    let last = "SELECT seq FROM sqlite_sequence WHERE name = 'runs'";
    let last: i64 = connection.query_row(last, [], |row| row.get(0))?;
    let sql = format!("SELECT {} FROM runs WHERE number = ?1", columns());
    let mut statement = connection.prepare(&sql)?;
    let mut found = 0;
    for number in (1..=last.min(NUMBERS_MOST)).rev() {
        if let Ok(Some(line)) = statement.query_row([number], line).optional() {
            found += 1;
            if !listed.is_enough(filter) {
                listed.add(line, filter);
            }
        }
    }
    let saved = connection.query_row("SELECT runs FROM tally", [], |row| row.get::<_, i64>(0));
    listed.lost = u64::try_from(saved.unwrap_or(0) - found).unwrap_or(0).max(1);
    Ok(listed)
}

/// Numbers that a salvage looks up: each takes some microseconds.
const NUMBERS_MOST: i64 = 1_000_000;

impl Listed {
    fn is_enough(&self, filter: &Filter) -> bool {
        filter.limit.is_some_and(|limit| self.entries.len() as u64 >= limit)
    }

    fn add(&mut self, line: Line, filter: &Filter) {
        match line {
            Line::Sound(entry) if filter.passes(&entry) => self.entries.push(*entry),
            Line::Sound(_) => {}
            Line::Damaged(number) => self.damaged.push(number),
        }
    }
}

fn has_tags(entry: &Entry, tags: &[(String, Option<String>)]) -> bool {
    tags.iter().all(|(key, wanted)| match (entry.tags.get(key), wanted) {
        (Some(value), Some(wanted)) => value == wanted,
        (value, None) => value.is_some(),
        (None, Some(_)) => false,
    })
}
