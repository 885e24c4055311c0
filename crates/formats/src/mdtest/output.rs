//! What mdtest prints.

use record::Run;

use super::TOOL;
use super::job::Test;
use super::options::{Command, Printed};
use super::tally::Tally;
use crate::tasks::FileSystem;
use crate::{NoFigures, Output, point};

/// The table of rates.
pub const TEXT: Output = Output {
    name: TOOL,
    ending: "mdtest.txt",
    about: "a line for each operation on files and directories, as mdtest prints it",
    write: text,
};

/// What stands around the table.
#[derive(Clone, Debug, PartialEq)]
pub struct Sheet {
    /// The words of the command.
    pub words: Vec<String>,
    /// Tasks.
    pub tasks: u32,
    /// Hosts on which they run.
    pub hosts: u32,
    /// Files, and directories, of each task.
    pub items: u64,
    /// What is tested: `files`, `directories` or both.
    pub of: &'static str,
    /// Where.
    pub path: String,
    /// Repetitions.
    pub iterations: u32,
    /// `-N`.
    pub stride: u32,
    /// `-S`: all tasks share files.
    pub is_shared: bool,
    /// What is printed of each test.
    pub printed: Printed,
    /// What the directory is in; `None` where that is none, or is not known any more.
    pub file_system: Option<FileSystem>,
}

impl Sheet {
    /// Of a command.
    pub fn of(command: &Command) -> Sheet {
        let of = match (command.files, command.directories) {
            (true, true) => "files/directories",
            (true, false) => "files",
            (false, _) => "directories",
        };
        let (words, path) = (command.words.clone(), command.directory.clone());
        Sheet {
            words,
            tasks: command.tasks,
            hosts: 1,
            items: command.items,
            of,
            path,
            iterations: command.iterations,
            stride: command.stride,
            is_shared: command.is_shared,
            printed: command.printed.clone(),
            file_system: None,
        }
    }

    /// All above the tests; `began` is the date as `11/27/2026 00:18:00`.
    pub fn heading(&self, began: &str) -> String {
        let words: Vec<String> = self.words.iter().map(|word| format!(" '{word}'")).collect();
        let Sheet { tasks, hosts, path, stride, .. } = self;
        // A 1 for each task on the host of the first; of several hosts it is not known which task is where.
        let nodes = match hosts {
            1 => format!("Nodemap: {}\n", "1".repeat(units::convert::narrow(*tasks))),
            _ => String::new(),
        };
        let file_system = self.file_system.map(FileSystem::line).unwrap_or_default();
        let shift = match stride {
            0 => String::new(),
            stride => format!("Shifting ranks by {stride} for each phase.\n"),
        };
        format!(
            "-- started at {began} --\n\nmdtest-{} was launched with {tasks} total task(s) on {hosts} node(s)\nCommand line used: \
             mdtest{}\n{nodes}Path                : {path}\n{file_system}{shift}",
            crate::tasks::VERSION,
            words.concat()
        )
    }

    /// The tests of so many tasks: how many items there are, and the tables.
    pub fn course(&self, tasks: u32, tally: &Tally) -> String {
        let Sheet { items, of, iterations, printed, .. } = self;
        let what = match self.is_shared {
            true => "1 file".into(),
            false => format!("{} {of}", items.saturating_mul(tasks.into())),
        };
        format!("{tasks} tasks, {what}\n{}", tally.tables(*iterations, printed))
    }

    /// What stands below all tests.
    pub fn end(finished: &str) -> String {
        format!("-- finished at {finished} --\n\n")
    }
}

/// `11/27/2026 00:18:00` of a record's date.
fn date(text: &str) -> String {
    let part = |from: usize, to: usize| text.get(from..to).unwrap_or_default();
    format!("{}/{}/{} {}", part(5, 7), part(8, 10), part(0, 4), part(11, 19))
}

fn text(run: &Run) -> Result<String, NoFigures> {
    let mut tally = Tally::default();
    let trees =
        || run.points.iter().filter_map(|point| Some((point, point.workloads.first()?.spec.tree.as_ref()?)));
    for (point, tree) in trees() {
        match Test::phase(&point.name) {
            _ if Test::is_collective(&point.name) => tally.add_before(point),
            Some((test, iteration)) => tally.add(test, iteration, point),
            None => {
                if let Some(test) = Test::of(tree.op) {
                    tally.add(test, tally.repetitions(test), point);
                }
            }
        }
    }
    NoFigures::when(
        tally.is_empty(),
        TEXT.name,
        "no point makes, looks at, reads or removes files or directories; `fathom run mdtest` has such points",
    )?;
    let (tasks, items, hosts) = trees().next().map_or((1, 0, 1), |(first, tree)| {
        (first.workloads[0].spec.workers.max(1), tree.count, point::hosts(first))
    });
    debug_assert!(tasks > 0, "a tree has a task");
    let sheet = Sheet {
        words: run.command.iter().skip(1).cloned().collect(),
        tasks,
        hosts,
        items: items / u64::from(tasks),
        of: "files/directories",
        path: run.targets.first().map(|target| target.address.clone()).unwrap_or_default(),
        iterations: 1,
        stride: 0,
        is_shared: false,
        printed: Printed::default(),
        file_system: None,
    };
    let finished = run.ended.as_deref().unwrap_or(&run.started);
    Ok(sheet.heading(&date(&run.started)) + &sheet.course(tasks, &tally) + &Sheet::end(&date(finished)))
}
