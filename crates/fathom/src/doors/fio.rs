//! `fathom as fio [OPTION|JOBFILE]...`

use std::fs;
use std::path::Path;

use formats::fio::Command;

use super::{Door, Scratch, print};
use crate::around;
use crate::ending::{Ending, Failure};

pub fn serve(door: &Door, arguments: &[String]) -> Result<Ending, Failure> {
    let command = around::with("", &[], |around| Command::parse(arguments, around))?;
    if command.wanted.version {
        print(&format!("fathom-{}\n", env!("CARGO_PKG_VERSION")))?;
        return Ok(Ending::done());
    }
    if command.wanted.parse_only {
        door.plan("fio", command.order())?;
        return Ok(Ending::done());
    }
    if let Some(path) = &command.wanted.file {
        check_file(path)?;
    }
    // The files stay, as fio's do, so that the next job finds them laid out.
    let scratch = Scratch { keep: !command.removes_files(), ..Scratch::default() };
    let session = door.open("fio", command.order(), scratch)?;
    let recorded = door.measure(session, &mut |_| {});
    let text = command.report(&recorded.run);
    match &command.wanted.file {
        Some(path) => fs::write(path, text)
            .map_err(|source| Failure::System { what: format!("writing {path}"), source })?,
        None => print(&text)?,
    }
    Ok(door.end(recorded))
}

/// Whether a report can go to `path`: a file, or one that is not there yet in a directory that is.
fn check_file(path: &str) -> Result<(), Failure> {
    let target = Path::new(path);
    let folder = target.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    match target.metadata() {
        Ok(found) if !found.is_file() => Err(Failure::Usage(format!("--output={path} is no file"))),
        Err(_) if !folder.is_dir() => {
            Err(Failure::Usage(format!("--output={path}: there is no directory {}", folder.display())))
        }
        _ => Ok(()),
    }
}
