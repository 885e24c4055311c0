//! What mdtest prints.

use record::{Op, Point, Run};

use super::TOOL;
use super::job::Test;
use super::options::Command;
use crate::tasks::FileSystem;
use crate::{NoFigures, Output, point};

/// The table of rates.
pub const TEXT: Output = Output {
    name: TOOL,
    ending: "mdtest.txt",
    about: "a line for each operation on files and directories, as mdtest prints it",
    write: text,
};

/// Operations a second of each test, one for each repetition.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tally(Vec<(Test, f64)>);

impl Tally {
    /// Takes in what `point` measured, as `test`; nothing where it ended at once.
    pub fn add(&mut self, test: Test, point: &Point) {
        let asked = point::classes(point).filter(|class| !matches!(class.op, Op::Sync | Op::Flush));
        let (ops, seconds) = (asked.map(|class| class.ops).sum::<u64>(), point::seconds(point));
        if ops > 0 && seconds > 0.0 {
            self.0.push((test, ops as f64 / seconds));
        }
    }

    fn lines(&self) -> String {
        Test::ALL.into_iter().filter_map(|test| self.line(test)).collect()
    }

    fn line(&self, test: Test) -> Option<String> {
        let rates: Vec<f64> = self.0.iter().filter(|(of, _)| *of == test).map(|(_, rate)| *rate).collect();
        (!rates.is_empty()).then(|| {
            let count = rates.len() as f64;
            let mean = rates.iter().sum::<f64>() / count;
            let squares: f64 = rates.iter().map(|rate| (rate - mean).powi(2)).sum();
            // Of a sample; one value has none.
            let deviation = if rates.len() > 1 { (squares / (count - 1.0)).sqrt() } else { 0.0 };
            let most = rates.iter().copied().fold(f64::MIN, f64::max);
            let least = rates.iter().copied().fold(f64::MAX, f64::min);
            format!("   {:<18}     {most:14.3} {least:14.3} {mean:14.3} {deviation:14.3}\n", test.name())
        })
    }
}

/// What stands around the table.
#[derive(Clone, Debug, PartialEq)]
pub struct Sheet {
    /// The words of the command.
    pub words: Vec<String>,
    /// Tasks.
    pub tasks: u32,
    /// Hosts on which they run.
    pub hosts: u32,
    /// Files, and directories, of all tasks.
    pub items: u64,
    /// What is tested: `files`, `directories` or both.
    pub of: &'static str,
    /// Where.
    pub path: String,
    /// Repetitions.
    pub iterations: u32,
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
        let items = command.items.saturating_mul(command.tasks.into());
        let (words, path) = (command.words.clone(), command.directory.clone());
        Sheet {
            words,
            tasks: command.tasks,
            hosts: 1,
            items,
            of,
            path,
            iterations: command.iterations,
            file_system: None,
        }
    }

    /// All above the lines; `began` is the date as `11/27/2026 00:18:00`.
    pub fn heading(&self, began: &str) -> String {
        let words: Vec<String> = self.words.iter().map(|word| format!(" '{word}'")).collect();
        let Sheet { tasks, hosts, items, of, path, iterations, .. } = self;
        // A 1 for each task on the host of the first; of several hosts it is not known which task is where.
        let nodes = match hosts {
            1 => format!("Nodemap: {}\n", "1".repeat(units::convert::narrow(*tasks))),
            _ => String::new(),
        };
        let file_system = self.file_system.map(FileSystem::line).unwrap_or_default();
        format!(
            "-- started at {began} --\n\nmdtest-{} was launched with {tasks} total task(s) on {hosts} node(s)\nCommand line used: \
             mdtest{}\n{nodes}Path                : {path}\n{file_system}{tasks} tasks, {items} {of}\n\nSUMMARY rate (in ops/sec): (of \
             {iterations} iterations)\n   Operation                     Max            Min           Mean        Std Dev\n   \
             ---------                     ---            ---           ----        -------\n",
            crate::tasks::VERSION,
            words.concat()
        )
    }

    /// The lines, and what stands below them.
    pub fn table(&self, tally: &Tally, finished: &str) -> String {
        format!("{}-- finished at {finished} --\n\n", tally.lines())
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
        let named = Test::phase(&point.name).map(|(test, _)| test);
        if let Some(test) = named.or(Test::of(tree.op)) {
            tally.add(test, point);
        }
    }
    NoFigures::when(
        tally == Tally::default(),
        TEXT.name,
        "no point makes, looks at, reads or removes files or directories; `fathom run mdtest` has such points",
    )?;
    let (tasks, items, hosts) = trees().next().map_or((1, 0, 1), |(first, tree)| {
        (first.workloads[0].spec.workers, tree.count, point::hosts(first))
    });
    let sheet = Sheet {
        words: run.command.iter().skip(1).cloned().collect(),
        tasks,
        hosts,
        items,
        of: "files/directories",
        path: run.targets.first().map(|target| target.address.clone()).unwrap_or_default(),
        iterations: 1,
        file_system: None,
    };
    let finished = run.ended.as_deref().unwrap_or(&run.started);
    Ok(sheet.heading(&date(&run.started)) + &sheet.table(&tally, &date(finished)))
}
