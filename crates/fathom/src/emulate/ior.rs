//! `fathom as ior -b … -t … -o FILE`

use std::io::Write;

use conduct::{Event, Rank};
use formats::ior::{Command, Destination, Job, Row, Sheet, Summary};
use formats::{DataFile, Refusal, TargetInfo};
use host::SysRoot;
use host::environment::Environment;
use jiff::Zoned;
use real::{LookKind, PlainFile, RealOptions};
use units::Bytes;
use units::convert::narrow;

use super::op_files::OpFiles;
use super::{Context, Scratch, file_system, stonewall};
use crate::ending::{Ending, Failure};
use crate::input::targets::{look, look_all};
use crate::output::print;
use crate::session::ranks;
use crate::terminal;

pub fn run(context: &Context<'_>, arguments: &[String]) -> Result<Ending, Failure> {
    if let Some(ending) = dry(arguments)? {
        return Ok(ending);
    }
    if let Some(ending) = ranks::serve(|| {
        let ParsedJob { command, job, files } = asked(arguments)?;
        let plain_of_others = of_others(&command, &job, ranks::number(), ranks::count().unwrap_or(1));
        let ready = context.ready("ior", &job.translated, scratch(&command, files))?;
        Ok((ready.0, RealOptions { plain_of_others, ..ready.1 }))
    }) {
        return Ok(ending);
    }
    let ParsedJob { command, job, files } = asked(arguments)?;
    let mut session = context.open("ior", &job.translated, scratch(&command, files))?;
    let op_files = OpFiles::told_by(&mut session, command.op_files.is_some());
    session.notes().for_each(|note| terminal::say(&format!("ior: WARNING: {note}")));
    let held = MemoryHog::of(&command)?;
    let mut paper = Paper::of(&command, &job, held.bytes())?;
    paper.begin()?;
    let mut lost = Ok(());
    let (mut under_way, mut filling_s) = (None, 0.0);
    let mut repetitions = Repetitions { within: command.within, present: 0, has_ended: false };
    let recorded =
        session.measure_while(&mut |name, since| repetitions.go_on(name, since), &mut |event| match event {
            Event::PointStarted { name, .. } => {
                under_way = Some((Job::phase(name), Job::is_prefill(name)));
                op_files.begin(command.op_file(name));
            }
            Event::PointEnded { point } if lost.is_ok() => match under_way.take() {
                Some((_, true)) => filling_s += Row::of(point, 0).map_or(0.0, |row| row.seconds),
                Some((Some((_, iteration)), _)) => {
                    let row =
                        Row::of(point, iteration).map(|row| Row { seconds: row.seconds + filling_s, ..row });
                    filling_s = 0.0;
                    lost = row
                        .map_or(Ok(()), |row| paper.add(row, point))
                        .and_then(|()| keep_count(&command, point));
                }
                _ => {}
            },
            _ => {}
        });
    lost?;
    paper.end()?;
    drop(held);
    if let Some(what) = op_files.finish() {
        return Ok(Ending { code: 5, reason: what });
    }
    if let Some(warning) = nothing_compared(&command, &recorded.run.points) {
        terminal::say(&warning);
    }
    Ok(context.end(recorded))
}

/// Writes how many transfers each task has done where a later call is to read them (`stoneWallingStatusFile`), or tells them.
fn keep_count(command: &Command, point: &record::Point) -> Result<(), Failure> {
    let wear_out = &command.shape.wear_out;
    if !wear_out.is_on {
        return Ok(());
    }
    let most = stonewall::furthest(point);
    match &wear_out.status_file {
        Some(path) => stonewall::keep(path, most),
        None => {
            terminal::say(&format!(
                "ior: each task has done {most} transfers; `stoneWallingWearOutIterations={most}` reads them"
            ));
            Ok(())
        }
    }
}

/// The command with as many transfers of each task as the file of `stoneWallingStatusFile` says, where it reads alone. Where
/// the file holds none that is said, as IOR says it, and it reads what the command says. Where it writes the file must be free.
fn with_status(command: Command) -> Result<Command, Failure> {
    let Some(path) = command.shape.wear_out.status_file.clone() else { return Ok(command) };
    if command.writes {
        return stonewall::check(&path).map(|()| command);
    }
    Ok(match stonewall::kept(&path).filter(|transfers| *transfers > 0) {
        Some(transfers) => command.with_transfers(transfers),
        None => {
            terminal::say("ior: WARNING: Could not read back the stonewalling status from the file!");
            command
        }
    })
}

/// What `--dryRun` prints, where it is asked for: all but figures. Nothing is looked at or touched.
fn dry(arguments: &[String]) -> Result<Option<Ending>, Failure> {
    let command = Command::parse(arguments, ranks::count())?;
    if !command.is_dry {
        return Ok(None);
    }
    if ranks::is_first() {
        let bytes = command.shape.hog.map(|hog| hog.of(memory()));
        let nothing = formats::TranslatedJob { plan: String::new(), targets: Vec::new(), notes: Vec::new() };
        let job = Job { translated: nothing, files: command.files()? };
        let mut paper = Paper::of(&command, &job, bytes)?;
        paper.begin()?;
        paper.end()?;
    }
    Ok(Some(Ending::done()))
}

/// The memory of this host.
fn memory() -> u64 {
    Environment::read(&SysRoot::real()).ram.get()
}

/// Memory that is held for as long as the tests run (`-M`).
struct MemoryHog(Option<Vec<u8>>);

impl MemoryHog {
    /// What the command asks for, each page of it written to.
    fn of(command: &Command) -> Result<MemoryHog, Failure> {
        let Some(hog) = command.shape.hog else { return Ok(MemoryHog(None)) };
        let (all, mut held) = (memory(), Vec::new());
        // Processes of one host share what it is to hold.
        let processes = u64::from(ranks::count().unwrap_or(1).div_ceil(ranks::hosts().max(1)));
        let bytes = hog.of(all);
        if bytes > all / 10 * 9 {
            let what = format!("-M: {bytes} of this host's {all} bytes of memory leave nothing to run with");
            return Err(usage(what));
        }
        assert!(processes > 0, "this process is one of them");
        let own = narrow::<usize>(bytes / processes);
        held.try_reserve_exact(own).map_err(|error| usage(format!("-M: {own} bytes of memory: {error}")))?;
        debug_assert!(held.capacity() >= own, "memory that is held was reserved");
        held.resize(own, 1);
        Ok(MemoryHog(Some(held)))
    }

    fn bytes(&self) -> Option<u64> {
        self.0.as_ref().map(|held| held.len() as u64)
    }
}

/// Repetitions that begin no more once their time is over (`-T`).
struct Repetitions {
    within: Option<units::Nanos>,
    present: u32,
    has_ended: bool,
}

impl Repetitions {
    /// Whether the phase of that name is carried out, so long after the first began. A repetition that has begun is done.
    fn go_on(&mut self, name: &str, since: units::Nanos) -> bool {
        let number = Job::repetition(name).unwrap_or(self.present);
        debug_assert!(number >= self.present, "repetitions come in order");
        if number > self.present {
            self.present = number;
            self.has_ended |= self.within.is_some_and(|within| since >= within);
        }
        !self.has_ended
    }
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

/// Its files, and that a run which only reads makes none.
fn scratch(command: &Command, plain: Vec<PlainFile>) -> Scratch {
    Scratch { plain, only_existing: !command.writes, ..Scratch::default() }
}

/// A command line with what it comes to.
struct ParsedJob {
    command: Command,
    job: Job,
    files: Vec<PlainFile>,
}

/// The command line; under a launcher each of its processes is a task, unless `-N` has fewer take part.
fn asked(arguments: &[String]) -> Result<ParsedJob, Failure> {
    let command = with_status(Command::parse(arguments, ranks::count())?)?;
    let job = job(&command)?;
    let files = job.files.iter().map(|file| plain_file(&command, file)).collect();
    Ok(ParsedJob { command, job, files })
}

/// What the call comes to on what is there.
fn job(command: &Command) -> Result<Job, Failure> {
    let file = &command.shape.file;
    let first = look(file)?;
    match first.kind {
        LookKind::Device => {
            let found = TargetInfo::sized(first.size.get(), true);
            Ok(command.job(Destination::Device, &[found])?)
        }
        LookKind::Directory => Err(usage(format!("{file} is a directory; `-o` names a file"))),
        LookKind::File | LookKind::NewFile => {
            let files = command.files()?;
            if command.unique_dir && command.writes {
                make_directories(&files)?;
            }
            let names: Vec<&str> = files.iter().map(|file| file.path.as_str()).collect();
            let looks = look_all("ior", &names)?;
            assert_eq!(looks.len(), files.len(), "each file of the tasks was looked at");
            let absent = looks.iter().zip(&files).find(|(look, _)| look.kind == LookKind::NewFile);
            if let Some((_, DataFile { path, bytes })) = absent.filter(|_| !command.writes) {
                return Err(usage(format!(
                    "{path} does not exist, and {bytes} bytes of it are read; `-w` writes it first, `-k` keeps it"
                )));
            }
            let found: Vec<TargetInfo> =
                looks.iter().map(|look| TargetInfo::sized(look.size.get(), false)).collect();
            Ok(command.job(Destination::Files, &found)?)
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
    assert!(tasks > 0, "a file is that of a task");
    let own = Rank::new(narrow(rank), ranks, false).share(tasks);
    let is_own = |number: &usize| own.contains(&narrow(number % narrow::<usize>(tasks)));
    debug_assert_eq!(job.files.len() % narrow::<usize>(tasks), 0, "each task has a file of each repetition");
    (0..job.files.len()).filter(|number| !is_own(number)).collect()
}

/// A file is made anew, unless `-E`, and goes at the end, unless `-k`.
fn plain_file(command: &Command, file: &DataFile) -> PlainFile {
    PlainFile {
        size: Bytes::new(file.bytes),
        ends_early: command.writes && command.shape.stonewall.is_some(),
        cut: (command.writes && !command.uses_existing).then_some(Bytes::ZERO),
        keep: command.keeps,
        ..PlainFile::default()
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
    fn of(command: &Command, job: &Job, hog: Option<u64>) -> Result<Paper, Failure> {
        let words: Vec<&str> =
            std::iter::once("ior").chain(command.words.iter().map(String::as_str)).collect();
        let sheet = Sheet {
            asked: command.clone(),
            command: words.join(" "),
            hostname: Environment::read(&SysRoot::real()).hostname,
            hosts: ranks::hosts(),
            hog,
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

    fn add(&mut self, row: Row, point: &record::Point) -> Result<(), Failure> {
        debug_assert!(
            self.rows.last().is_none_or(|before| before.iteration <= row.iteration),
            "rows come in the order of repetitions"
        );
        self.rows.push(row);
        if let Some(seconds) = self.sheet.asked.outlier_s.filter(|_| self.summary == Summary::Text) {
            self.put(&formats::ior::outliers(point, &row, seconds, &self.sheet.hostname))?;
        }
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
        file.write_all(text.as_bytes()).map_err(Failure::system(format!("writing {path}")))
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
    fn a_repetition_begins_within_its_time_and_is_then_done() {
        let minute = units::Nanos::from_secs(60);
        let mut repetitions = Repetitions { within: Some(minute), present: 0, has_ended: false };
        let mut goes_on =
            |name: &str, seconds: u64| repetitions.go_on(name, units::Nanos::from_secs(seconds));
        assert!(goes_on("write 0", 0) && goes_on("read 0", 90), "it has begun in time");
        assert!(!goes_on("delay 1", 91) && !goes_on("write 1", 92));
        let mut repetitions = Repetitions { within: None, present: 0, has_ended: false };
        assert!(repetitions.go_on("write 1", minute));
    }

    #[test]
    fn of_files_of_tasks_each_rank_writes_its_own() {
        let others = |line: &str, rank: usize| {
            let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
            let command = Command::parse(&words, Some(2)).unwrap();
            let found = vec![TargetInfo::sized(0, false); command.files().unwrap().len()];
            let job = command.job(Destination::Files, &found).unwrap();
            of_others(&command, &job, rank, 2)
        };
        assert_eq!([0, 1].map(|rank| others("-w -F -b 1m -t 1m -o t", rank)), [vec![1], vec![0]]);
        let again = "-w -F -m -i 2 -b 1m -t 1m -o t";
        assert_eq!([0, 1].map(|rank| others(again, rank)), [vec![1, 3], vec![0, 2]]);
        assert!(others("-w -b 1m -t 1m -o t", 1).is_empty());
    }
}
