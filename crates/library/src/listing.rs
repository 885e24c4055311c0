//! The lines of the runs, those that are sound and those that are not.

use std::ops::ControlFlow;

use record::Entry;
use rusqlite::ErrorCode;

use crate::entry::{Line, columns, line};
use crate::library::NEWEST_FIRST;
use crate::tables::{Fault, Tables};

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
pub(crate) fn list(tables: &Tables, filter: &Filter) -> Result<Listed, Fault> {
    match walk(tables, filter) {
        Err(Fault::File(error)) if error.sqlite_error_code() == Some(ErrorCode::DatabaseCorrupt) => {
            salvage(tables, filter)
        }
        listed => listed,
    }
}

fn walk(tables: &Tables, filter: &Filter) -> Result<Listed, Fault> {
    let mut listed = Listed::default();
    tables.walk(&format!("SELECT {} FROM runs {NEWEST_FIRST}", columns()), |row| {
        if listed.is_enough(filter) {
            return ControlFlow::Break(());
        }
        listed.add(line(row), filter);
        ControlFlow::Continue(())
    })?;
    debug_assert!(filter.limit.is_none_or(|limit| listed.entries.len() as u64 <= limit));
    // An index may be whole where the table is not.
    let table = if matches!(tables, Tables::File(_)) { "runs NOT INDEXED" } else { "runs" };
    let lost = tables.number(&format!("SELECT (SELECT runs FROM tally) - (SELECT count(*) FROM {table})"))?;
    listed.lost = u64::try_from(lost).unwrap_or(0);
    Ok(listed)
}

/// What can still be reached of a damaged table of SQLite.
fn salvage(tables: &Tables, filter: &Filter) -> Result<Listed, Fault> {
    let mut listed = Listed::default();
    let last = tables.number("SELECT seq FROM sqlite_sequence WHERE name = 'runs'")?;
    let sql = format!("SELECT {} FROM runs WHERE number = $1", columns());
    let mut found = 0;
    for number in (1..=last.min(NUMBERS_MOST)).rev() {
        let rows = tables.rows(&sql, &[number.into()]).unwrap_or_default();
        if let Some(row) = rows.into_iter().next() {
            found += 1;
            if !listed.is_enough(filter) {
                listed.add(line(row), filter);
            }
        }
    }
    debug_assert!(filter.limit.is_none_or(|limit| listed.entries.len() as u64 <= limit));
    let saved = tables.number("SELECT runs FROM tally").unwrap_or(0);
    listed.lost = u64::try_from(saved.saturating_sub(found)).unwrap_or(0).max(1);
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

#[cfg(test)]
mod tests {
    use record::{Grade, sample};
    use rusqlite::Connection;

    use super::*;
    use crate::Library;

    /// Six runs were saved: the second was removed, the fourth has vanished, and the line of the fifth is damaged.
    fn damaged() -> (tempfile::TempDir, Tables) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("runs.sqlite");
        let mut library = Library::open(&path.clone().into()).unwrap();
        for number in 1..=6 {
            let id = format!("run-{number}");
            library.save(&record::Run { id, ..sample::run("quick", Vec::new()) }).unwrap();
        }
        library.remove(&["2".into()]).unwrap();
        let connection = crate::files::open(&path).unwrap().connection;
        let damage = "DROP TRIGGER run_removed; DELETE FROM runs WHERE number = 4;
                      UPDATE runs SET plan = 'other' WHERE number = 5;";
        connection.execute_batch(damage).unwrap();
        (folder, Tables::File(connection))
    }

    fn change(tables: &Tables, sql: &str) {
        let Tables::File(connection) = tables else { panic!("it is a file") };
        connection.execute_batch(sql).unwrap();
    }

    fn numbers(listed: &Listed) -> Vec<i64> {
        listed.entries.iter().map(|entry| entry.number).collect()
    }

    #[test]
    fn a_walk_and_a_salvage_find_the_same_sound_damaged_and_lost_runs() {
        let (_folder, tables) = damaged();
        for look in [walk, salvage, list] {
            let listed = look(&tables, &Filter::default()).unwrap();
            assert_eq!(numbers(&listed), [6, 3, 1]);
            assert_eq!((&listed.damaged[..], listed.lost), (&[5][..], 1));
            let two = look(&tables, &Filter { limit: Some(2), ..Filter::default() }).unwrap();
            assert_eq!((numbers(&two), two.lost), (vec![6, 3], 1));
            let none = look(&tables, &Filter { limit: Some(0), ..Filter::default() }).unwrap();
            assert_eq!((numbers(&none), none.damaged.len(), none.lost), (vec![], 0, 1));
        }
    }

    #[test]
    fn what_has_to_be_salvaged_has_lost_something_even_where_the_tally_does_not_tell() {
        let (_folder, tables) = damaged();
        change(&tables, "UPDATE tally SET runs = 4");
        assert_eq!(salvage(&tables, &Filter::default()).unwrap().lost, 1);
        assert_eq!(walk(&tables, &Filter::default()).unwrap().lost, 0);
        change(&tables, "UPDATE tally SET runs = 9");
        assert_eq!(salvage(&tables, &Filter::default()).unwrap().lost, 5);
        assert_eq!(walk(&tables, &Filter::default()).unwrap().lost, 5);
    }

    #[test]
    fn where_a_page_of_the_list_is_noise_the_runs_of_the_other_pages_are_listed() {
        use std::os::unix::fs::FileExt;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("runs.sqlite");
        let mut library = Library::open(&path.clone().into()).unwrap();
        for number in 0..60 {
            let id = format!("run-{number}");
            library.save(&record::Run { id, ..sample::run("quick", Vec::new()) }).unwrap();
        }
        drop(library);
        let page = "SELECT pageno FROM dbstat WHERE name = 'runs' AND pagetype = 'leaf' LIMIT 1 OFFSET 1";
        let page: u64 = Connection::open(&path)
            .unwrap()
            .query_row(page, [], |row| row.get::<_, i64>(0))
            .expect("the list lies on several pages")
            .unsigned_abs();
        let file = std::fs::File::options().write(true).open(&path).unwrap();
        file.write_all_at(&[0xff; 4096], (page - 1) * 4096).unwrap();
        let tables = Tables::File(crate::files::open(&path).unwrap().connection);
        let Err(Fault::File(corrupt)) = walk(&tables, &Filter::default()) else { panic!("a page is noise") };
        assert_eq!(corrupt.sqlite_error_code(), Some(ErrorCode::DatabaseCorrupt));
        let listed = list(&tables, &Filter::default()).unwrap();
        let found = listed.entries.len() as u64;
        assert!(found > 20 && found + listed.lost == 60, "{found} found, {} lost", listed.lost);
    }

    #[test]
    fn a_failure_that_is_no_damage_to_a_page_is_told() {
        let (_folder, tables) = damaged();
        change(&tables, "DROP TABLE tally");
        let Err(Fault::File(told)) = list(&tables, &Filter::default()) else { panic!("a table is gone") };
        assert!(told.to_string().contains("no such table: tally"), "{told}");
    }

    #[test]
    fn each_part_of_a_filter_alone_leaves_a_run_out() {
        let mut run = sample::run("oltp", Vec::new());
        run.started = "2026-01-02T00:00:20Z".into();
        run.tags.insert("firmware".into(), "2.1".into());
        run.targets[0].address = "/dev/sdb".into();
        let entry = Entry { grade: Some(Grade::A), ..Entry::of(&run, 7) };
        let all = Filter {
            plan: Some("oltp".into()),
            target: Some("sdb".into()),
            tags: vec![("firmware".into(), Some("2.1".into())), ("firmware".into(), None)],
            since: Some("2026-01-02T00:00:20Z".into()),
            limit: None,
        };
        assert!(Filter::default().passes(&entry) && all.passes(&entry));
        for wrong in [
            Filter { plan: Some("olt".into()), ..all.clone() },
            Filter { target: Some("sdc".into()), ..all.clone() },
            Filter { since: Some("2026-01-02T00:00:21Z".into()), ..all.clone() },
            Filter { tags: vec![("firmware".into(), Some("2".into()))], ..all.clone() },
            Filter { tags: vec![("model".into(), None)], ..all.clone() },
            Filter { tags: vec![("model".into(), Some("2.1".into()))], ..all.clone() },
        ] {
            assert!(!wrong.passes(&entry), "{wrong:?}");
        }
    }
}
