//! Results to stdout and to files.

use std::fs;
use std::path::Path;

use record::{Comparison, Run};

use crate::cli::{CompareFormat, Format, Look};
use crate::ending::Failure;
use crate::terminal;

/// `run` in `format`, for stdout.
pub fn rendered(run: &Run, format: Format, look: &Look) -> Result<String, Failure> {
    draw(run, format, terminal::style(look))
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
) -> Result<String, Failure> {
    draw_comparison(comparison, format, terminal::style(look))
}

fn draw_comparison(
    comparison: &Comparison,
    format: CompareFormat,
    style: report::Style,
) -> Result<String, Failure> {
    Ok(match format {
        CompareFormat::Text => report::comparison(comparison, style),
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
    write_whole(path, draw(run, format_of(path)?, terminal::file_style(look))?)
}

/// The same of a comparison.
pub fn write_comparison(comparison: &Comparison, path: &Path, look: &Look) -> Result<(), Failure> {
    write_whole(path, draw_comparison(comparison, comparison_format_of(path)?, terminal::file_style(look))?)
}

fn write_whole(path: &Path, text: String) -> Result<(), Failure> {
    let system = |source| Failure::System { what: format!("writing {}", path.display()), source };
    let mut part = path.as_os_str().to_owned();
    part.push(".part");
    fs::write(&part, text).map_err(system)?;
    fs::rename(&part, path).map_err(system)
}
