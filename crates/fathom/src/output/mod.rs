//! Results to stdout and to files.

mod format;
mod fresh;

use std::io;
use std::path::Path;

use record::{Comparison, Run};
use serde::Serialize;

use crate::ending::Failure;
use crate::terminal::{self, Appearance};
pub use format::{CompareFormat, Format, TextOrJson, TreeFormat};
pub use fresh::{Growing, salt, write_whole};

/// Prints `text` to stdout.
pub fn print(text: &str) -> Result<(), Failure> {
    terminal::print(text).map_err(unprinted)
}

/// The same for sentences: in lines that fit the terminal, where stdout is one.
pub fn print_wrapped(text: &str) -> Result<(), Failure> {
    terminal::print_wrapped(text).map_err(unprinted)
}

fn unprinted(source: io::Error) -> Failure {
    Failure::System { what: "writing to stdout".into(), source }
}

/// `value` as JSON, for people and programs: indented, with a line break at the end.
pub fn json(value: &impl Serialize) -> Result<String, Failure> {
    let text = serde_json::to_string_pretty(value);
    let text = text.map_err(Failure::system("writing JSON"))?;
    debug_assert!(!text.ends_with('\n'), "a document ends with one line break");
    Ok(text + "\n")
}

/// `run` in `format`, for stdout. As text it is brief where `rest` says how to see the rest.
pub fn rendered(
    run: &Run,
    format: Format,
    appearance: &Appearance,
    rest: Option<&str>,
) -> Result<String, Failure> {
    match (format, rest) {
        (Format::Text, Some(rest)) => Ok(report::brief(run, terminal::style(appearance), rest)),
        _ => draw(run, format, terminal::style(appearance)),
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
    Format::of_path(path)?;
    check_folder(path)
}

/// The same for a comparison.
pub fn check_comparison(path: &Path) -> Result<(), Failure> {
    CompareFormat::of_path(path)?;
    check_folder(path)
}

pub fn check_folder(path: &Path) -> Result<(), Failure> {
    let folder = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    match folder.is_dir() {
        true => Ok(()),
        false => {
            Err(Failure::Usage(format!("{}: there is no directory {}", path.display(), folder.display())))
        }
    }
}

/// `comparison` in `format`, drawn as `style` says.
pub fn rendered_comparison(
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

/// Writes `run` to `path` in the format of its ending. The file is there whole or not at all.
pub fn write(run: &Run, path: &Path, appearance: &Appearance) -> Result<(), Failure> {
    write_whole(path, &draw(run, Format::of_path(path)?, terminal::file_style(appearance))?)
}

/// The same of a comparison.
pub fn write_comparison(
    comparison: &Comparison,
    path: &Path,
    appearance: &Appearance,
) -> Result<(), Failure> {
    let format = CompareFormat::of_path(path)?;
    write_whole(path, &rendered_comparison(comparison, format, terminal::file_style(appearance), true)?)
}
