//! A report as Markdown: for a ticket or a wiki.

use record::Severity;
use report::{harmless, markdown_prose, markdown_text};

use crate::document::{Block, Cell, Figure, Sentence, Table, WriteUp};
use crate::summary::meaning;

/// `report` as GitHub-flavoured Markdown: its tables and readings; charts are named, not drawn.
pub fn markdown(report: &WriteUp) -> String {
    let mut text = format!("# {}\n\n{}\n", escaped(&report.title), sentence(&report.answer));
    if let Some(grade) = report.grade {
        text += &format!("\nGrade {grade}: {}.\n", meaning(grade));
    }
    for section in &report.sections {
        text += &format!("\n## {}\n", escaped(&section.heading));
        for block in &section.blocks {
            text += &match block {
                Block::Text(words) => format!("\n{}\n", sentence(words)),
                Block::Table(table) => self::table(table),
                Block::Figure(figure) => self::figure(figure),
            };
        }
    }
    if !report.warnings.is_empty() {
        text += "\n## Warnings\n\n";
    }
    for warning in &report.warnings {
        let severity = match warning.severity {
            Severity::Note => "note",
            Severity::Warning => "warning",
            Severity::Invalid => "invalid",
        };
        let places = if warning.places.is_empty() {
            String::new()
        } else {
            format!(" ({})", warning.places.join("; "))
        };
        text += &format!(
            "- **{}** ({severity}): {} {}{}\n",
            escaped(&warning.code),
            markdown_prose(&harmless(&warning.sentence)),
            markdown_prose(&harmless(&warning.remedy)),
            escaped(&places)
        );
    }
    text += "\n## Runs\n";
    for run in &report.runs {
        text += &format!("\n### {}\n\n", escaped(&run.label));
        for (name, value) in &run.facts {
            text += &format!("- {}: {}\n", escaped(name), escaped(value));
        }
        text += &format!("\n{}", fenced(&run.command));
    }
    text
}

fn figure(figure: &Figure) -> String {
    // What stands out is one sentence.
    let (heading, rest) = figure.reading.parted();
    let words = [format!("**{}**", sentence(&heading)), sentence(&rest), escaped(&figure.subtitle)];
    let told: Vec<String> = words.into_iter().filter(|part| !part.is_empty()).collect();
    format!("\n{}\n{}", told.join(" "), table(&figure.table))
}

fn table(table: &Table) -> String {
    let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
    let mut text = String::from("\n");
    text += &line(table.columns.iter().map(|column| escaped(&column.head())).collect());
    text += &line(
        table
            .columns
            .iter()
            .map(|column| if column.unit.is_some() { "---:" } else { "---" }.into())
            .collect(),
    );
    for row in &table.rows {
        text += &line(
            row.iter()
                .map(|cell| if *cell == Cell::Empty { "–".into() } else { escaped(&cell.text()) })
                .collect(),
        );
    }
    match table.note() {
        Some(note) => text + &format!("\n{}\n", escaped(&note)),
        None => text,
    }
}

fn sentence(words: &Sentence) -> String {
    escaped(&words.text())
}

fn escaped(text: &str) -> String {
    markdown_text(&harmless(text))
}

/// Text in a block of code, whatever backticks are in it.
fn fenced(text: &str) -> String {
    let mut fence = "```".to_owned();
    while text.contains(&fence) {
        fence.push('`');
    }
    format!("{fence}\n{text}\n{fence}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_stays_code_whatever_is_in_it() {
        assert_eq!(fenced("```"), "````\n```\n````\n");
    }
}
