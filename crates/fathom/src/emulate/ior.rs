//! `fathom as ior -b … -t … -o FILE`

use std::io::Write;

use conduct::Event;
use formats::Refusal;
use formats::TargetInfo;
use formats::ior::{Command, DataFile, Job, Place, Row, Sheet, Summary};
use host::SysRoot;
use host::environment::Environment;
use jiff::Zoned;
use real::{LookKind, PlainFile};
use units::Bytes;

use super::{Context, Scratch};
use crate::ending::{Ending, Failure};
use crate::input::targets::{look, look_all};
use crate::output::print;
use crate::session::ranks;

pub fn run(context: &Context<'_>, arguments: &[String]) -> Result<Ending, Failure> {
    if let Some(ending) = ranks::serve(|| {
        let Asked { command, job, files } = asked(arguments)?;
        context.ready("ior", &job.translated, Scratch::default(), files, command.writes)
    }) {
        return Ok(ending);
    }
    let Asked { command, job, files } = asked(arguments)?;
    let session = context.open_plain("ior", &job.translated, files, Scratch::default(), command.writes)?;
    let mut paper = Paper::of(&command)?;
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
    Ok(context.end(recorded))
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
            let names: Vec<&str> = files.iter().map(|file| file.path.as_str()).collect();
            let looks = look_all("ior", &names)?;
            let found: Vec<TargetInfo> =
                looks.iter().map(|look| TargetInfo::sized(look.size.get(), false)).collect();
            Ok(command.job(Place::Files, &found)?)
        }
    }
}

/// A file is made anew, unless `-E`, and goes at the end, unless `-k`.
fn plain_file(command: &Command, file: &DataFile) -> PlainFile {
    PlainFile {
        size: Bytes::new(file.bytes),
        expand: false,
        noise: false,
        whole: false,
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
    fn of(command: &Command) -> Result<Paper, Failure> {
        let words: Vec<&str> =
            std::iter::once("ior").chain(command.words.iter().map(String::as_str)).collect();
        let sheet = Sheet {
            shape: command.shape.clone(),
            command: words.join(" "),
            hostname: Environment::read(&SysRoot::real()).hostname,
            hosts: ranks::hosts(),
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
