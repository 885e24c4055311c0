//! Saving a run that grows: what is there already is not written again.

use record::{Entry, Grading, Point, Run, SCHEMA_VERSION};
use serde::{Deserialize, Serialize};
use units::convert::narrow;

use crate::LibraryError;
use crate::checksum::summed;
use crate::tables::{Fault, Tables};

/// What a library holds already of a run that grows: nothing by default.
///
/// It belongs to one run and one library. [`Library::extend`](crate::Library::extend) brings it up to date.
#[derive(Clone, Debug, Default)]
pub struct Kept {
    points: usize,
    points_bytes: usize,
    peak_ops_per_s: Option<f64>,
    peak_bytes_per_s: Option<f64>,
}

impl Kept {
    /// Whether anything of the run was saved.
    pub(crate) fn is_something(&self) -> bool {
        self.points > 0
    }
}

/// When what was saved has to be on storage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Durability {
    /// When the call returns.
    Now,
    /// With the next save that is durable at once, or when the system gets to it. The death of the process loses
    /// nothing, a power cut may.
    Later,
}

impl Durability {
    /// SQLite's word for it, with its journal ahead of the file.
    pub(crate) fn pragma(self) -> &'static str {
        match self {
            Durability::Now => "FULL",
            Durability::Later => "NORMAL",
        }
    }

    /// PostgreSQL's word for it, as `synchronous_commit`.
    pub(crate) fn commit(self) -> &'static str {
        match self {
            Durability::Now => "on",
            Durability::Later => "off",
        }
    }
}

/// What a judge says of a point, which comes after all points.
#[derive(Serialize, Deserialize)]
pub(crate) struct Verdict {
    generator_saturated: bool,
    grading: Option<Grading>,
}

impl Verdict {
    fn of(point: &Point) -> Verdict {
        Verdict { generator_saturated: point.generator_saturated, grading: point.grading.clone() }
    }

    /// Those of all points of a record of that version, in their order.
    pub fn read(json: &str, version: u32) -> serde_json::Result<Vec<Verdict>> {
        let mut verdicts: Vec<serde_json::Value> = serde_json::from_str(json)?;
        if version < SCHEMA_VERSION {
            verdicts.iter_mut().for_each(record::upgrade_point);
        }
        verdicts.into_iter().map(serde_json::from_value).collect()
    }

    /// Puts it into the point.
    pub fn pass_on(self, point: &mut Point) {
        (point.generator_saturated, point.grading) = (self.generator_saturated, self.grading);
    }
}

/// What is written of a run beyond what is kept.
pub(crate) struct Growth {
    pub entry: Entry,
    head: String,
    first: usize,
    points: Vec<String>,
    verdicts: Option<String>,
    after: Kept,
}

impl Growth {
    /// The texts of all that `kept` lacks of `run`, proved to be readable: JSON has no word for a figure that is not a
    /// number.
    pub fn of(run: &Run, kept: &Kept) -> Result<Growth, LibraryError> {
        let unreadable = |source| LibraryError::Unreadable { id: run.id.clone(), source };
        let wrong = |error: serde_json::Error| unreadable(error.into());
        let without_points = run.without_points();
        let head = serde_json::to_string(&without_points).map_err(wrong)?;
        record::read(&head).map_err(unreadable)?;
        assert!(kept.points <= run.points.len(), "a run that grows loses no point that is kept");
        let new = &run.points[kept.points..];
        let mut points = Vec::with_capacity(new.len());
        for point in new {
            let json = serde_json::to_string(point).map_err(wrong)?;
            serde_json::from_str::<Point>(&json).map_err(wrong)?;
            points.push(json);
        }
        let is_judged =
            run.points.iter().rev().any(|point| point.generator_saturated || point.grading.is_some());
        let verdicts: Option<Vec<Verdict>> = is_judged.then(|| run.points.iter().map(Verdict::of).collect());
        let verdicts = verdicts.map(|all| serde_json::to_string(&all)).transpose().map_err(wrong)?;
        let mut entry = Entry::of(&without_points, 0);
        let (ops, bytes) = record::peaks(new);
        let after = Kept {
            points: run.points.len(),
            points_bytes: kept.points_bytes + points.iter().map(String::len).sum::<usize>(),
            peak_ops_per_s: higher(kept.peak_ops_per_s, ops),
            peak_bytes_per_s: higher(kept.peak_bytes_per_s, bytes),
        };
        entry.points = after.points as u64;
        (entry.peak_ops_per_s, entry.peak_bytes_per_s) =
            record::peaks_of_search(run).unwrap_or((after.peak_ops_per_s, after.peak_bytes_per_s));
        debug_assert_eq!(kept.points + points.len(), after.points, "every point is kept, or written now");
        let size = head.len() + verdicts.as_ref().map_or(0, String::len) + after.points_bytes;
        entry.json_bytes = size as u64;
        Ok(Growth { entry, head, first: kept.points, points, verdicts, after })
    }

    /// Writes it under `number`, whose line is there.
    pub fn put(&self, tables: &Tables, number: i64) -> Result<(), Fault> {
        let put = "INSERT INTO records (number, json, verdicts, sum) VALUES ($1, $2, $3, $4)
                   ON CONFLICT (number) DO UPDATE SET
                       json = excluded.json, verdicts = excluded.verdicts, sum = excluded.sum";
        let record = vec![number.into(), self.head.clone().into(), self.verdicts.clone().into()];
        tables.rows(put, &summed(record))?;
        // Among them a point that was kept as far as it had come.
        let drop = "DELETE FROM points WHERE run = $1 AND position >= $2";
        tables.rows(drop, &[number.into(), narrow::<i64>(self.first).into()])?;
        let put = "INSERT INTO points (run, position, json, sum) VALUES ($1, $2, $3, $4)";
        for (position, json) in (self.first..).zip(&self.points) {
            let point = vec![number.into(), narrow::<i64>(position).into(), json.clone().into()];
            tables.rows(put, &summed(point))?;
        }
        Ok(())
    }

    /// What is kept once it is written.
    pub fn kept(self) -> Kept {
        self.after
    }
}

fn higher(one: Option<f64>, other: Option<f64>) -> Option<f64> {
    one.into_iter().chain(other).reduce(f64::max)
}

#[cfg(test)]
mod tests {
    use rusqlite::Connection;

    use super::*;

    #[test]
    fn what_must_be_on_storage_waits_for_it_and_what_may_come_later_does_not() {
        let connection = Connection::open_in_memory().unwrap();
        // SQLite's numbers: 1 for normal, 2 for full.
        for (durability, number) in [(Durability::Later, 1), (Durability::Now, 2)] {
            connection.pragma_update(None, "synchronous", durability.pragma()).unwrap();
            let found: i64 = connection.pragma_query_value(None, "synchronous", |row| row.get(0)).unwrap();
            assert_eq!(found, number, "{durability:?}");
        }
    }

    #[test]
    fn a_verdict_of_an_older_record_gets_the_names_of_today_and_one_of_today_keeps_its_own() {
        let old = r#"[{"client_limited": true, "grading": null}, {"client_limited": false}]"#;
        let read: Vec<bool> =
            Verdict::read(old, 1).unwrap().iter().map(|verdict| verdict.generator_saturated).collect();
        assert_eq!(read, [true, false]);
        // Version 1 called a check so that has another name now.
        let check = r#"{"name": "client", "outcome": "passed", "grade": "A"}"#;
        let new =
            format!(r#"[{{"generator_saturated": true, "grading": {{"grade": "A", "checks": [{check}]}}}}]"#);
        let read = Verdict::read(&new, SCHEMA_VERSION).unwrap();
        assert_eq!(read[0].grading.as_ref().unwrap().checks[0].name, "client");
    }

    #[test]
    fn of_two_figures_the_higher_counts_and_none_is_no_figure() {
        assert_eq!(higher(Some(1.0), Some(2.0)), Some(2.0));
        assert_eq!(higher(Some(3.0), Some(2.0)), Some(3.0));
        assert_eq!((higher(None, Some(2.0)), higher(Some(1.0), None)), (Some(2.0), Some(1.0)));
        assert_eq!(higher(None, None), None);
    }

    #[test]
    fn a_run_that_grows_gives_the_texts_of_what_is_not_kept_and_the_size_of_all() {
        let points = (0..3).map(|index| record::sample::point(index, "p", Vec::new())).collect();
        let whole = record::sample::run("grows", points);
        let first = Run { points: whole.points[..1].to_vec(), ..whole.clone() };
        let one = Growth::of(&first, &Kept::default()).unwrap();
        assert_eq!((one.first, one.points.len(), one.entry.points, one.verdicts.as_ref()), (0, 1, 1, None));
        let rest = Growth::of(&whole, &one.kept()).unwrap();
        assert_eq!((rest.first, rest.points.len(), rest.entry.points), (1, 2, 3));
        let all = Growth::of(&whole, &Kept::default()).unwrap();
        assert_eq!(rest.entry.json_bytes, all.entry.json_bytes);
        let texts = all.head.len() + all.points.iter().map(String::len).sum::<usize>();
        assert_eq!(all.entry.json_bytes, texts as u64);
        assert_eq!(all.after.points_bytes + all.head.len(), texts);
        let mut judged = whole.clone();
        judged.points[1].generator_saturated = true;
        let judged = Growth::of(&judged, &Kept::default()).unwrap();
        let verdicts = judged.verdicts.as_ref().unwrap().len();
        let points: usize = judged.points.iter().map(String::len).sum();
        assert_eq!(judged.entry.json_bytes, (judged.head.len() + verdicts + points) as u64);
        assert!(!Kept::default().is_something() && judged.kept().is_something());
    }
}
