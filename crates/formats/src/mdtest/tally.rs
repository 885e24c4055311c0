//! What the tests measured, and its tables: of all tasks together, and of each.

use std::fmt::Write;

use record::{Op, Point};

use super::job::Test;
use super::options::Printed;
use crate::point;
use crate::tasks::scientific;

/// What each test measured.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tally {
    rows: Vec<Row>,
    /// What came before the next one and is part of it.
    before: Before,
}

/// A phase that is a part of the one after it.
#[derive(Clone, Debug, Default, PartialEq)]
struct Before {
    seconds: f64,
    of_tasks: Vec<f64>,
}

/// One test of one repetition.
#[derive(Clone, Debug, PartialEq)]
struct Row {
    test: Test,
    iteration: u32,
    ops: u64,
    seconds: f64,
    /// Of each task.
    tasks: Vec<TaskTally>,
}

/// What one task did.
#[derive(Clone, Copy, Debug, PartialEq)]
struct TaskTally {
    ops: u64,
    seconds: f64,
}

impl TaskTally {
    fn rate(self) -> f64 {
        if self.ops == 0 { 0.0 } else { self.ops as f64 / self.seconds }
    }
}

impl Row {
    fn all(&self) -> TaskTally {
        TaskTally { ops: self.ops, seconds: self.seconds }
    }
}

/// Rates or times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Figure {
    Rate,
    /// In seconds, whatever the heading says, as there.
    Time,
}

impl Figure {
    fn of(self, part: TaskTally) -> f64 {
        match self {
            Figure::Rate => part.rate(),
            Figure::Time => part.seconds,
        }
    }
}

impl Tally {
    /// Takes in what `point` measured, as `test`; nothing where it ended at once.
    pub fn add(&mut self, test: Test, iteration: u32, point: &Point) {
        let Before { seconds: before, of_tasks } = std::mem::take(&mut self.before);
        let asked = point::classes(point).filter(|class| !matches!(class.op, Op::Sync | Op::Flush));
        let (ops, seconds) = (asked.map(|class| class.ops).sum::<u64>(), point::seconds(point) + before);
        if ops == 0 || seconds <= 0.0 {
            return;
        }
        let added = |task: usize| of_tasks.get(task).copied().unwrap_or(before);
        let tasks = workers(point).enumerate();
        let tasks = tasks.map(|(task, (ops, took))| TaskTally { ops, seconds: took + added(task) }).collect();
        debug_assert!(of_tasks.iter().all(|took| *took >= 0.0), "what came before took time");
        self.rows.push(Row { test, iteration, ops, seconds, tasks });
    }

    /// Takes in what `point` measured as a part of what comes next.
    pub fn add_before(&mut self, point: &Point) {
        let of_tasks = workers(point).map(|(_, seconds)| seconds).collect();
        self.before = Before { seconds: point::seconds(point), of_tasks };
    }

    /// Takes in so many seconds more of the last test, of all tasks.
    pub fn add_after(&mut self, seconds: f64) {
        assert!(seconds >= 0.0, "no stage ends before it began");
        if let Some(row) = self.rows.last_mut() {
            row.seconds += seconds;
            row.tasks.iter_mut().for_each(|part| part.seconds += seconds);
        }
    }

    /// Whether nothing was measured.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// How often `test` was measured.
    pub fn repetitions(&self, test: Test) -> u32 {
        units::convert::narrow(self.of(test).count())
    }

    fn of(&self, test: Test) -> impl Iterator<Item = &Row> {
        self.rows.iter().filter(move |row| row.test == test)
    }

    /// All tables that are asked for.
    pub fn tables(&self, iterations: u32, printed: &Printed) -> String {
        match printed {
            Printed { both: true, .. } => {
                [Figure::Rate, Figure::Time].map(|figure| self.table(figure, iterations, printed)).concat()
            }
            Printed { times: true, .. } => self.table(Figure::Time, iterations, printed),
            _ => self.table(Figure::Rate, iterations, printed),
        }
    }

    fn table(&self, figure: Figure, iterations: u32, printed: &Printed) -> String {
        let mut text = String::new();
        if printed.all_tasks {
            text += &self.of_each_task(figure, iterations);
        }
        let of = if figure == Figure::Time { "time (in ms/op)" } else { "rate (in ops/sec)" };
        let _ = writeln!(text, "\nSUMMARY {of}: (of {iterations} iterations)");
        text += match printed.rank_statistics {
            true => {
                "   Operation     per Rank: Max            Min           Mean      per Iteration: Max            Min           Mean        Std Dev\n   \
                 ---------               ---            ---           ----                      ---            ---           ----        -------\n"
            }
            false => {
                "   Operation                     Max            Min           Mean        Std Dev\n   \
                 ---------                     ---            ---           ----        -------\n"
            }
        };
        for (test, _) in Test::ALL {
            text += &self.line(test, figure, printed).unwrap_or_default();
        }
        text
    }

    fn line(&self, test: Test, figure: Figure, printed: &Printed) -> Option<String> {
        let all: Vec<f64> = self.of(test).map(|row| figure.of(row.all())).collect();
        let [most, least, mean] = extent(&all)?;
        let count = all.len() as f64;
        let squares: f64 = all.iter().map(|value| (value - mean).powi(2)).sum();
        // Of a sample; one value has none.
        let deviation = if all.len() > 1 { (squares / (count - 1.0)).sqrt() } else { 0.0 };
        let mut line = format!("   {:<18} ", test.name());
        if printed.rank_statistics {
            let tasks: Vec<f64> =
                self.of(test).flat_map(|row| &row.tasks).map(|part| figure.of(*part)).collect();
            let [most, least, mean] = extent(&tasks)?;
            let _ = write!(line, "{most:14.3} {least:14.3} {mean:14.3}     ");
        }
        let _ = writeln!(line, "    {most:14.3} {least:14.3} {mean:14.3} {deviation:14.3}");
        Some(line)
    }

    /// `--print-all-procs`.
    fn of_each_task(&self, figure: Figure, iterations: u32) -> String {
        let of = if figure == Figure::Time { "time" } else { "rate" };
        let mut text = format!("\nPer process result ({of}):\n");
        for iteration in 0..iterations {
            let _ = writeln!(text, "iteration: {iteration}");
            for row in self.rows.iter().filter(|row| row.iteration == iteration) {
                let figures: Vec<String> =
                    row.tasks.iter().map(|part| scientific(figure.of(*part), 6)).collect();
                let _ = writeln!(text, "Test {} {}", row.test.name(), figures.join(","));
            }
        }
        text
    }

    /// `--saveRankPerformanceDetails`: a line for all, by the first repetition, and one for each task of each repetition.
    pub fn details(&self, items: u64) -> String {
        let mut text = format!("all,{items}");
        let cells = |part: Option<TaskTally>| match part {
            None => ",,".into(),
            Some(part) => format!(",{},{}", scientific(part.rate(), 10), scientific(part.seconds, 10)),
        };
        for name in COLUMNS {
            let row = self.rows.iter().find(|row| row.test.name() == name && row.iteration == 0);
            text += &cells(row.map(Row::all));
        }
        text.push('\n');
        debug_assert_eq!(
            text.matches(',').count(),
            Tally::details_heading().matches(',').count(),
            "a line is as wide as the heading"
        );
        let iterations = self.rows.iter().map(|row| row.iteration + 1).max().unwrap_or(0);
        let tasks = self.rows.iter().map(|row| row.tasks.len()).max().unwrap_or(0);
        for (iteration, task) in
            (0..iterations).flat_map(|iteration| (0..tasks).map(move |task| (iteration, task)))
        {
            let _ = write!(text, "{task},");
            for name in COLUMNS.iter().filter(|name| !name.starts_with("Tree")) {
                let is_it = |row: &&Row| row.test.name() == *name && row.iteration == iteration;
                text += &cells(self.rows.iter().find(is_it).and_then(|row| row.tasks.get(task).copied()));
            }
            text.push('\n');
        }
        text
    }

    /// The names of the columns of the details.
    pub fn details_heading() -> String {
        let names: Vec<String> = COLUMNS.iter().map(|name| format!(",rate-{name},time-{name}")).collect();
        format!("rank,items{}\n", names.concat())
    }
}

/// The tests of the details; directories are never read.
const COLUMNS: [&str; 11] = [
    "Directory creation",
    "Directory stat",
    "Directory read",
    "Directory rename",
    "Directory removal",
    "File creation",
    "File stat",
    "File read",
    "File removal",
    "Tree creation",
    "Tree removal",
];

/// Requests and seconds of each worker; of one that is not known by itself those of all.
fn workers(point: &Point) -> impl Iterator<Item = (u64, f64)> + '_ {
    let all = point::seconds(point);
    point::workers(point).map(move |worker| {
        (worker.ops, worker.measured_ns.map_or(all, |measured_ns| measured_ns as f64 / 1e9))
    })
}

/// Most, least and mean; `None` of nothing.
fn extent(values: &[f64]) -> Option<[f64; 3]> {
    let most = values.iter().copied().reduce(f64::max)?;
    let least = values.iter().copied().reduce(f64::min)?;
    Some([most, least, values.iter().sum::<f64>() / values.len() as f64])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_tell_of_rates_times_and_tasks() {
        let part = |ops, seconds| TaskTally { ops, seconds };
        let row = |iteration, seconds| Row {
            test: Test::FileStat,
            iteration,
            ops: 20,
            seconds,
            tasks: vec![part(10, seconds), part(10, seconds / 2.0)],
        };
        let tally = Tally { rows: vec![row(0, 1.0), row(1, 2.0)], before: Before::default() };
        let printed = Printed { both: true, rank_statistics: true, all_tasks: true, ..Printed::default() };
        let text = tally.tables(2, &printed);
        for line in [
            "Per process result (rate):\niteration: 0\nTest File stat 1.000000e+01,2.000000e+01\n",
            "SUMMARY rate (in ops/sec): (of 2 iterations)\n   Operation     per Rank: Max ",
            "   File stat                  20.000          5.000         11.250                 20.000         10.000         15.000          7.071\n",
            "SUMMARY time (in ms/op): (of 2 iterations)",
            "   File stat                   2.000          0.500          1.125                  2.000          1.000          1.500          0.707\n",
        ] {
            assert!(text.contains(line), "{line}\n{text}");
        }
        let details = tally.details(10);
        let lines: Vec<&str> = details.lines().collect();
        assert_eq!(lines.len(), 5, "all, and two tasks of two repetitions");
        assert!(
            lines[0].starts_with("all,10,,,,") && lines[0].contains(",2.0000000000e+01,1.0000000000e+00")
        );
        assert_eq!(Tally::details_heading().matches("rate-").count(), 11);
        assert!(!tally.tables(2, &Printed { times: true, ..Printed::default() }).contains("rate"));
    }
}
