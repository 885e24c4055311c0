//! The logs of workloads that have an `iolog`, written while they run.
//!
//! **Invariant:** a file that is there and is no log of fio is never written.

use std::fs::{self, File};
use std::io::{self, BufWriter, Read, Write};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use conduct::Listener;
use units::Instant;
use workload::Logged;
use workload::plan::{Load, Plan, Point};
use workload::spec::Workload;
use workload::trace::{IologWriter, is_iolog};

use crate::ending::{Ending, Failure};
use crate::output::Growing;

/// What went wrong while logs were written, for whoever waits for the end.
#[derive(Clone, Debug, Default)]
pub struct Trouble(Arc<Mutex<Option<String>>>);

impl Trouble {
    /// The ending that belongs to it; `None` where all went well.
    pub fn ending(&self) -> Option<Ending> {
        let what = self.0.lock().unwrap_or_else(PoisonError::into_inner).take()?;
        Some(Ending { code: 5, reason: what })
    }

    /// Keeps the first.
    fn add(&self, what: String) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(what);
    }
}

/// Writes the logs of a plan.
#[derive(Debug)]
pub struct Iologs {
    trouble: Trouble,
    /// By the position of their workloads.
    open: Vec<Option<OpenLog>>,
    /// As they were named.
    targets: Vec<String>,
}

#[derive(Debug)]
struct OpenLog {
    path: String,
    file: BufWriter<Growing>,
    lines: IologWriter,
}

/// The logs that workloads of `plan` write.
fn paths(plan: &Plan) -> impl Iterator<Item = &str> {
    plan.points().iter().flat_map(Point::workloads).filter_map(|workload| workload.iolog.as_deref())
}

/// The first log that `plan` writes; `None` where it writes none.
pub fn first(plan: &Plan) -> Option<&str> {
    paths(plan).next()
}

impl Iologs {
    /// The writer of the I/O logs of `plan` on `targets`, and where its errors go; `None` where the plan has no log. An error where
    /// a log cannot be written, before anything is touched.
    pub fn of(plan: &Plan, targets: &[String]) -> Result<Option<(Iologs, Trouble)>, Failure> {
        for path in paths(plan) {
            check(path)?;
        }
        let trouble = Trouble::default();
        let targets = targets.to_vec();
        let logs = || (Iologs { trouble: trouble.clone(), open: Vec::new(), targets }, trouble.clone());
        Ok(first(plan).map(|_| logs()))
    }

    fn write(&mut self, workload: usize, text: &str) {
        let Some(log) = self.open.get_mut(workload).and_then(Option::as_mut) else { return };
        if let Err(error) = log.file.write_all(text.as_bytes()) {
            self.trouble.add(format!("writing the iolog {}: {error}", log.path));
            self.open[workload] = None;
        }
    }
}

impl Listener for Iologs {
    fn wants(&self, workload: &Workload) -> bool {
        workload.iolog.is_some()
    }

    fn begin(&mut self, load: &Load, files: &[Vec<String>], at: Instant) {
        self.open.clear();
        assert_eq!(load.workloads.len(), files.len(), "each workload of a load has its files");
        for (workload, files) in load.workloads.iter().zip(files) {
            let names = files.iter().map(|file| named(file, &self.targets)).collect::<Result<Vec<_>, _>>();
            let open = |path: &String| open(path, workload, &names?, at);
            let opened = workload.iolog.as_ref().map(open);
            self.open.push(opened.transpose().unwrap_or_else(|what| {
                self.trouble.add(what);
                None
            }));
        }
        for position in 0..self.open.len() {
            let head = self.open[position].as_ref().map(|log| log.lines.head());
            self.write(position, &head.unwrap_or_default());
        }
    }

    fn hear(&mut self, workload: usize, requests: &[Logged]) {
        debug_assert!(workload < self.open.len(), "requests are heard of a load that has begun");
        let Some(log) = self.open.get(workload).and_then(Option::as_ref) else { return };
        let mut text = String::new();
        log.lines.lines(requests, &mut text);
        self.write(workload, &text);
    }

    fn end(&mut self, at: Instant) {
        for position in 0..self.open.len() {
            let tail = self.open[position].as_ref().map(|log| log.lines.tail(at));
            self.write(position, &tail.unwrap_or_default());
            if let Some(OpenLog { path, file, .. }) = self.open[position].take()
                && let Err(error) = finished(file)
            {
                self.trouble.add(format!("writing the iolog {path}: {error}"));
            }
        }
    }
}

fn open(path: &str, workload: &Workload, names: &[String], at: Instant) -> Result<OpenLog, String> {
    // What the job itself has made meanwhile, or somebody else, is no log either.
    check(path).map_err(|failure| failure.to_string())?;
    let lines = IologWriter::new(names, at, workload.durability.flush);
    let file = Growing::create(&units::name::path(path), false);
    let file = file.map_err(|error| format!("opening the iolog {path}: {error}"))?;
    Ok(OpenLog { path: path.to_owned(), file: BufWriter::new(file), lines })
}

/// Gives the log its name, with all that was written.
fn finished(file: BufWriter<Growing>) -> io::Result<()> {
    file.into_inner().map_err(io::IntoInnerError::into_error)?.finish()
}

/// The name that the file of that path has in its log: that of the target where it is one, so that a log can be carried elsewhere.
fn named(file: &str, targets: &[String]) -> Result<String, String> {
    let is_it = |target: &&String| {
        let whole = std::path::absolute(units::name::path(target));
        whole.is_ok_and(|whole| units::name::text(whole.as_os_str()) == file)
    };
    let name = targets.iter().find(is_it).map_or(file, String::as_str);
    match units::name::path(name).exists() && name.contains(char::is_whitespace) {
        true => Err(format!(
            "{name} has a blank in its name, which ends a name in a log of fio; use a link without one"
        )),
        false => Ok(name.to_owned()),
    }
}

/// Whether a log can be written to `path`: a file that is not there yet in a folder that is, or a log.
fn check(path: &str) -> Result<(), Failure> {
    let refuse = |why: String| Err(Failure::Usage(format!("iolog {path}: {why}")));
    let target = &units::name::path(path);
    let folder = target.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    match fs::metadata(target) {
        Ok(found) if !found.is_file() => refuse("it is not a file; name one".into()),
        Ok(found) if found.len() > 0 => match head(target) {
            Ok(head) if is_iolog(&head) => Ok(()),
            Ok(_) => refuse("it exists and is not an iolog of fio; name another, or remove it".into()),
            Err(error) => refuse(error.to_string()),
        },
        Ok(_) => Ok(()),
        Err(_) if !folder.is_dir() => refuse(format!("there is no directory {}", folder.display())),
        Err(_) => Ok(()),
    }
}

fn head(path: &Path) -> io::Result<Vec<u8>> {
    let mut head = Vec::new();
    File::open(path)?.take(64).read_to_end(&mut head)?;
    Ok(head)
}
