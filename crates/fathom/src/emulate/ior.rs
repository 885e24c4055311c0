//! `fathom as ior -b … -t … -o FILE`

use std::io::Write;

use conduct::{Event, Rank};
use formats::Refusal;
use formats::TargetInfo;
use formats::ior::{Command, DataFile, Job, Place, Row, Sheet, Summary};
use host::SysRoot;
use host::environment::Environment;
use jiff::Zoned;
use real::{LookKind, PlainFile, RealOptions};
use units::Bytes;
use units::convert::narrow;

use super::{Context, Scratch, file_system};
use crate::ending::{Ending, Failure};
use crate::input::targets::{look, look_all};
use crate::output::print;
use crate::session::ranks;
use crate::terminal;

pub fn run(context: &Context<'_>, arguments: &[String]) -> Result<Ending, Failure> {
    if let Some(ending) = ranks::serve(|| {
        let Asked { command, job, files } = asked(arguments)?;
        let plain_of_others = of_others(&command, &job, ranks::number(), ranks::count().unwrap_or(1));
        let ready = context.ready("ior", &job.translated, Scratch::default(), files, command.writes)?;
        Ok((ready.0, RealOptions { plain_of_others, ..ready.1 }))
    }) {
        return Ok(ending);
    }
    let Asked { command, job, files } = asked(arguments)?;
    let session = context.open_plain("ior", &job.translated, files, Scratch::default(), command.writes)?;
    session.notes.iter().for_each(|note| terminal::say(&format!("ior: WARNING: {note}")));
    let mut paper = Paper::of(&command, &job)?;
    paper.begin()?;
    let mut lost = Ok(());
    let mut under_way = None;
    let recorded = session.measure(&mut |event| match event {
        Event::PointStarted { name, .. } => under_way = Job::phase(name),
        Event::PointEnded { point } if lost.is_ok() => {
            let row = under_way.take().and_then(|(_, iteration)| Row::of(point, iteration));
            lost = row.map_or(Ok(()), |row| paper.add(row));
        }
        _ => {}
    });
    lost?;
    paper.end()?;
    if let Some(warning) = nothing_compared(&command, &recorded.run.points) {
        terminal::say(&warning);
    }
    Ok(context.end(recorded))
}

/// What `-W` and `-R` have not looked at, where that is anything: blocks that no write of this call, and of no earlier one that
/// left stamps, has touched.
fn nothing_compared(command: &Command, points: &[record::Point]) -> Option<String> {
    if !(command.checks_writes || command.checks_reads) {
        return None;
    }
    let verified =
        points.iter().flat_map(|point| &point.workloads).filter_map(|workload| workload.verified.as_ref());
    let (checked, unknown) = verified
        .fold((0, 0), |(checked, unknown), of| (checked + of.checked_bytes, unknown + of.unknown_bytes));
    let of = match (checked, unknown) {
        (_, 0) => return None,
        (0, _) => "nothing that was read was".to_owned(),
        _ => format!("{} of {} that were read were not", Bytes::new(unknown), Bytes::new(checked + unknown)),
    };
    Some(format!("ior: WARNING: {of} compared: `fathom as ior -w -k` with the same `-G` has not written it"))
}

/// A command line with what it comes to.
struct Asked {
    command: Command,
    job: Job,
    files: Vec<PlainFile>,
}

/// The command line; under a launcher each of its processes is a task, unless `-N` has fewer take part.
fn asked(arguments: &[String]) -> Result<Asked, Failure> {
    let command = Command::parse(arguments, ranks::count())?;
    let job = job(&command)?;
    let files = job.files.iter().map(|file| plain_file(&command, file)).collect();
    Ok(Asked { command, job, files })
}

/// What the call comes to on what is there.
fn job(command: &Command) -> Result<Job, Failure> {
    let file = &command.shape.file;
    let first = look(file)?;
    match first.kind {
        LookKind::Device => {
            let found = TargetInfo::sized(first.size.get(), true);
            Ok(command.job(Place::Device, &[found])?)
        }
        LookKind::Directory => Err(usage(format!("{file} is a directory; `-o` names a file"))),
        LookKind::File | LookKind::NewFile => {
            let files = command.files()?;
            if command.unique_dir && command.writes {
                make_directories(&files)?;
            }
            let names: Vec<&str> = files.iter().map(|file| file.path.as_str()).collect();
            let looks = look_all("ior", &names)?;
            let absent = looks.iter().zip(&files).find(|(look, _)| look.kind == LookKind::NewFile);
            if let Some((_, DataFile { path, bytes })) = absent.filter(|_| !command.writes) {
                return Err(usage(format!(
                    "{path} does not exist, and {bytes} bytes of it are read; `-w` writes it first, `-k` keeps it"
                )));
            }
            let found: Vec<TargetInfo> =
                looks.iter().map(|look| TargetInfo::sized(look.size.get(), false)).collect();
            Ok(command.job(Place::Files, &found)?)
        }
    }
}

/// Makes the directory of each task, as IOR does, which leaves them; what they are in must be there.
fn make_directories(files: &[DataFile]) -> Result<(), Failure> {
    for file in files {
        let path = units::name::path(&file.path);
        let Some(directory) = path.parent().filter(|parent| !parent.as_os_str().is_empty()) else { continue };
        match std::fs::create_dir(directory) {
            // Another rank makes it, too.
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(usage(format!("-u: {} cannot be made: {error}", directory.display()))),
            Ok(()) => {}
        }
    }
    Ok(())
}

/// Numbers of the files that tasks of other ranks than `rank` write.
fn of_others(command: &Command, job: &Job, rank: usize, ranks: u32) -> Vec<usize> {
    if !command.shape.file_per_task {
        return Vec::new();
    }
    let tasks = command.shape.tasks;
    let own = Rank::new(narrow(rank), ranks, false).share(tasks);
    let is_own = |number: &usize| own.contains(&narrow(number % narrow::<usize>(tasks)));
    (0..job.files.len()).filter(|number| !is_own(number)).collect()
}

/// A file is made anew, unless `-E`, and goes at the end, unless `-k`.
fn plain_file(command: &Command, file: &DataFile) -> PlainFile {
    PlainFile {
        size: Bytes::new(file.bytes),
        expand: false,
        noise: false,
        whole: false,
        ends_early: command.writes && command.shape.stonewall.is_some(),
        cut: (command.writes && !command.uses_existing).then_some(Bytes::ZERO),
        keep: command.keeps,
    }
}

/// Where the output goes, and what is on it.
struct Paper {
    sheet: Sheet,
    summary: Summary,
    rows: Vec<Row>,
    file: Option<(String, std::fs::File)>,
}

impl Paper {
    fn of(command: &Command, job: &Job) -> Result<Paper, Failure> {
        let words: Vec<&str> =
            std::iter::once("ior").chain(command.words.iter().map(String::as_str)).collect();
        let sheet = Sheet {
            asked: command.clone(),
            command: words.join(" "),
            hostname: Environment::read(&SysRoot::real()).hostname,
            hosts: ranks::hosts(),
            file_system: if job.files.is_empty() { None } else { file_system(&job.files[0].path) },
            began: now(),
        };
        let file = match &command.summary_file {
            None => None,
            Some(path) => {
                let made = std::fs::File::create_new(units::name::path(path));
                Some((path.clone(), made.map_err(|error| usage(format!("summaryFile {path}: {error}")))?))
            }
        };
        Ok(Paper { sheet, summary: command.summary, rows: Vec::new(), file })
    }

    fn begin(&mut self) -> Result<(), Failure> {
        match self.summary {
            Summary::Text => self.put(&self.sheet.heading()),
            Summary::Csv => self.put(Sheet::csv_heading()),
            Summary::Json => Ok(()),
        }
    }

    fn add(&mut self, row: Row) -> Result<(), Failure> {
        self.rows.push(row);
        match self.summary {
            Summary::Text => self.put(&self.sheet.line(&row)),
            Summary::Csv => self.put(&self.sheet.csv_line(&row)),
            Summary::Json => Ok(()),
        }
    }

    fn end(&mut self) -> Result<(), Failure> {
        match self.summary {
            Summary::Text => self.put(&self.sheet.summary(&self.rows, &now())),
            Summary::Json => self.put(&self.sheet.json(&self.rows, &now())),
            Summary::Csv => Ok(()),
        }
    }

    fn put(&self, text: &str) -> Result<(), Failure> {
        let Some((path, file)) = &self.file else { return print(text) };
        let mut file = file;
        file.write_all(text.as_bytes())
            .map_err(|source| Failure::System { what: format!("writing {path}"), source })
    }
}

fn now() -> String {
    Zoned::now().strftime("%a %b %e %H:%M:%S %Y").to_string()
}

fn usage(what: String) -> Failure {
    Failure::Tool(Refusal::Usage { tool: "ior", what })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_files_of_tasks_each_rank_writes_its_own() {
        let others = |line: &str, rank: usize| {
            let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
            let command = Command::parse(&words, Some(2)).unwrap();
            let found = vec![TargetInfo::sized(0, false); command.files().unwrap().len()];
            let job = command.job(Place::Files, &found).unwrap();
            of_others(&command, &job, rank, 2)
        };
        assert_eq!([0, 1].map(|rank| others("-w -F -b 1m -t 1m -o t", rank)), [vec![1], vec![0]]);
        let again = "-w -F -m -i 2 -b 1m -t 1m -o t";
        assert_eq!([0, 1].map(|rank| others(again, rank)), [vec![1, 3], vec![0, 2]]);
        assert!(others("-w -b 1m -t 1m -o t", 1).is_empty());
    }
}
