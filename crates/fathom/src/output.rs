//! Results to stdout and to files.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use record::{Comparison, Run};

use crate::cli::{CompareFormat, Format, Look};
use crate::ending::Failure;
use crate::recorder::salt;
use crate::terminal;

/// `run` in `format`, for stdout. As text it is brief where `rest` says how to see the rest.
pub fn rendered(run: &Run, format: Format, look: &Look, rest: Option<&str>) -> Result<String, Failure> {
    match (format, rest) {
        (Format::Text, Some(rest)) => Ok(report::brief(run, terminal::style(look), rest)),
        _ => draw(run, format, terminal::style(look)),
    }
}

fn draw(run: &Run, format: Format, style: report::Style) -> Result<String, Failure> {
    Ok(match format {
        Format::Text => report::text(run, style),
        Format::Json => report::json(run)?,
        Format::Jsonl => report::json_lines(run)?,
        Format::Csv => report::csv(run)?,
        Format::Md => report::markdown(run),
        Format::Tool(output) => (output.write)(run)?,
    })
}

/// Whether a result can go to `path`, as far as can be told before there is one.
pub fn check(path: &Path) -> Result<(), Failure> {
    format_of(path)?;
    check_folder(path)
}

/// The same for a comparison.
pub fn check_comparison(path: &Path) -> Result<(), Failure> {
    comparison_format_of(path)?;
    check_folder(path)
}

fn check_folder(path: &Path) -> Result<(), Failure> {
    let folder = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    match folder.is_dir() {
        true => Ok(()),
        false => {
            Err(Failure::Usage(format!("{}: there is no directory {}", path.display(), folder.display())))
        }
    }
}

/// The format that belongs to the ending of `path`.
fn format_of(path: &Path) -> Result<Format, Failure> {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let is_of_tool =
        |output: &&formats::Output| name.strip_suffix(output.ending).is_some_and(|stem| stem.ends_with('.'));
    if let Some(output) = formats::outputs().iter().find(is_of_tool) {
        return Ok(Format::Tool(output));
    }
    let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
    match ending {
        "txt" => Ok(Format::Text),
        "json" => Ok(Format::Json),
        "jsonl" | "ndjson" => Ok(Format::Jsonl),
        "csv" => Ok(Format::Csv),
        "md" => Ok(Format::Md),
        _ => Err(Failure::Usage(format!(
            "{}: the ending `.{ending}` is no format; use .json, .jsonl, .csv, .md or .txt, or one of a tool: {}",
            path.display(),
            tool_endings()
        ))),
    }
}

fn comparison_format_of(path: &Path) -> Result<CompareFormat, Failure> {
    match path.extension().and_then(|ending| ending.to_str()).unwrap_or_default() {
        "txt" => Ok(CompareFormat::Text),
        "json" => Ok(CompareFormat::Json),
        "csv" => Ok(CompareFormat::Csv),
        "md" => Ok(CompareFormat::Md),
        ending => Err(Failure::Usage(format!(
            "{}: a comparison has no format with the ending `.{ending}`; use .txt, .json, .csv or .md",
            path.display()
        ))),
    }
}

/// `comparison` in `format`, for stdout.
pub fn rendered_comparison(
    comparison: &Comparison,
    format: CompareFormat,
    look: &Look,
    full: bool,
) -> Result<String, Failure> {
    draw_comparison(comparison, format, terminal::style(look), full)
}

fn draw_comparison(
    comparison: &Comparison,
    format: CompareFormat,
    style: report::Style,
    full: bool,
) -> Result<String, Failure> {
    Ok(match format {
        CompareFormat::Text => report::comparison(comparison, style, full),
        CompareFormat::Json => report::comparison_json(comparison)?,
        CompareFormat::Csv => report::comparison_csv(comparison)?,
        CompareFormat::Md => report::comparison_markdown(comparison),
    })
}

fn tool_endings() -> String {
    let endings = formats::outputs().iter().map(|output| format!(".{}", output.ending));
    endings.collect::<Vec<_>>().join(", ")
}

/// Writes `run` to `path` in the format of its ending. The file is there whole or not at all.
pub fn write(run: &Run, path: &Path, look: &Look) -> Result<(), Failure> {
    write_whole(path, &draw(run, format_of(path)?, terminal::file_style(look))?)
}

/// The same of a comparison.
pub fn write_comparison(comparison: &Comparison, path: &Path, look: &Look) -> Result<(), Failure> {
    let format = comparison_format_of(path)?;
    write_whole(path, &draw_comparison(comparison, format, terminal::file_style(look), true)?)
}

/// Writes `text` to `path`, which holds it whole or what it held before.
///
/// It is written to a file of a fresh name beside it, which then takes its place. What is no regular file, such as a
/// pipe, a terminal or a link, is written as it is.
pub fn write_whole(path: &Path, text: &str) -> Result<(), Failure> {
    let system = |source| Failure::System { what: format!("writing {}", path.display()), source };
    let is_replaced = fs::symlink_metadata(path).map_or(true, |found| found.is_file());
    match is_replaced {
        true => Fresh::beside(path).and_then(|fresh| fresh.become_whole(path, text)).map_err(system),
        false => fs::write(path, text).map_err(system),
    }
}

/// A file of a name that nobody had, removed when dropped unless it has taken its place.
#[derive(Debug)]
struct Fresh {
    path: PathBuf,
    file: Option<File>,
}

impl Fresh {
    /// In the same directory, so that it can take the place of `path` in one step.
    fn beside(path: &Path) -> io::Result<Fresh> {
        let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?;
        loop {
            let mut fresh = OsString::from(".");
            fresh.push(name);
            fresh.push(format!(".{:04x}{:04x}.part", salt(), salt()));
            let path = path.with_file_name(fresh);
            match File::options().write(true).create_new(true).open(&path) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                opened => return opened.map(|file| Fresh { path, file: Some(file) }),
            }
        }
    }

    fn become_whole(mut self, path: &Path, text: &str) -> io::Result<()> {
        if let Some(file) = &mut self.file {
            file.write_all(text.as_bytes())?;
        }
        self.take_the_place_of(path)
    }

    fn take_the_place_of(mut self, path: &Path) -> io::Result<()> {
        if let Some(file) = &self.file {
            file.sync_all()?;
        }
        fs::rename(&self.path, path)?;
        self.file = None;
        Ok(())
    }
}

/// A file that is written over the whole run and appears under its name only when it is complete; an older file of that
/// name stays until then.
#[derive(Debug)]
pub struct Growing {
    path: PathBuf,
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    Fresh(Fresh),
    /// What is no regular file, such as a pipe, a terminal or a link, is written as it is.
    Itself(File),
}

impl Growing {
    /// Of nothing, or of what is there if it `keeps` that.
    pub fn create(path: &Path, keeps: bool) -> io::Result<Growing> {
        let found = fs::symlink_metadata(path);
        if found.as_ref().is_ok_and(|found| !found.is_file()) {
            let file = File::options().write(true).append(keeps).truncate(!keeps).create(true).open(path)?;
            return Ok(Growing { path: path.into(), kind: Kind::Itself(file) });
        }
        let mut fresh = Fresh::beside(path)?;
        if let (true, true, Some(file)) = (keeps, found.is_ok(), &mut fresh.file) {
            io::copy(&mut File::open(path)?, file)?;
        }
        Ok(Growing { path: path.into(), kind: Kind::Fresh(fresh) })
    }

    /// Gives it its name.
    pub fn finish(self) -> io::Result<()> {
        match self.kind {
            Kind::Fresh(fresh) => fresh.take_the_place_of(&self.path),
            Kind::Itself(_) => Ok(()),
        }
    }
}

impl Write for Growing {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.kind {
            Kind::Fresh(Fresh { file: Some(file), .. }) | Kind::Itself(file) => file.write(bytes),
            Kind::Fresh(_) => Err(io::ErrorKind::BrokenPipe.into()),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for Fresh {
    fn drop(&mut self) {
        if self.file.take().is_some() {
            // The failure that is on its way to the user says more than one of this would.
            let _half = fs::remove_file(&self.path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_replaced_whole_and_nothing_is_written_under_a_name_that_could_be_anybodys() {
        let folder = tempfile::tempdir().expect("the test has a temporary folder");
        let inside = |name: &str| folder.path().join(name);
        let (path, other) = (inside("x.csv"), inside("letter"));
        fs::write(&other, "a letter").expect("the folder is ours");
        for name in ["x.csv.part", ".x.csv.part"] {
            std::os::unix::fs::symlink(&other, inside(name)).expect("the folder is ours");
        }
        fs::write(&path, "before").expect("the folder is ours");
        write_whole(&path, "after").expect("there is room");
        assert_eq!(fs::read(&path).expect("it is there"), b"after");
        assert_eq!(fs::read(&other).expect("it is there"), b"a letter");
        assert_eq!(fs::read_dir(folder.path()).expect("it is there").count(), 4);
    }

    #[test]
    fn a_file_that_grows_has_its_name_when_it_is_whole_and_goes_where_it_is_not() {
        let folder = tempfile::tempdir().expect("the test has a temporary folder");
        let path = folder.path().join("x.log");
        let text = || fs::read_to_string(&path).expect("it is there");
        fs::write(&path, "before\n").expect("the folder is ours");
        let mut cut_short = Growing::create(&path, false).expect("there is room");
        cut_short.write_all(b"half").expect("there is room");
        drop(cut_short);
        assert_eq!(text(), "before\n");
        for (keeps, whole) in [(true, "before\nafter\n"), (false, "after\n")] {
            let mut growing = Growing::create(&path, keeps).expect("there is room");
            growing.write_all(b"after\n").expect("there is room");
            assert_eq!(text(), "before\n");
            growing.finish().expect("the folder is ours");
            assert_eq!(text(), whole);
            fs::write(&path, "before\n").expect("the folder is ours");
        }
        assert_eq!(fs::read_dir(folder.path()).expect("it is there").count(), 1);
    }

    #[test]
    fn what_cannot_take_its_place_leaves_nothing_behind() {
        let folder = tempfile::tempdir().expect("the test has a temporary folder");
        let path = folder.path().join("x.csv");
        let fresh = Fresh::beside(&path).expect("there is room");
        // A folder that is not empty takes the name before the text is there.
        fs::create_dir_all(path.join("full")).expect("the folder is ours");
        assert!(fresh.become_whole(&path, "text").is_err());
        assert_eq!(fs::read_dir(folder.path()).expect("it is there").count(), 1);
    }
}
