//! A run for a ticket or a wiki page.

use record::{Run, Severity};

use crate::style::Look;
use crate::table::Table;
use crate::{figures, grade, header, ranks, warnings};

/// Columns of what stands there as on a terminal.
const MARKDOWN_WIDTH: usize = 100;

/// `run` as GitHub-flavoured Markdown: title, identity, the table with headline figures in bold, the grade, and
/// the warnings. Ends with a line end.
pub fn markdown(run: &Run) -> String {
    let mut header = header::lines(run).into_iter();
    let mut text = format!("### {}\n\n", escaped(&header.next().unwrap_or_default()));
    for line in header {
        text += &format!("- {}\n", escaped(&line));
    }
    text.push('\n');
    text += &match &run.exploration {
        Some(found) => format!("```text\n{}```\n", crate::exploration(found, MARKDOWN_WIDTH, true)),
        None if run.points.is_empty() => "No point was measured.\n".into(),
        None => table(run),
    };
    if let Some(ranks) = ranks::table(run) {
        text += &format!("\n#### Ranks\n\n{}", drawn(&ranks));
    }
    text += &grade::markdown(run);
    let groups = warnings::groups(run);
    if !groups.is_empty() {
        text += &format!("\n#### {}\n\n", warnings::heading(&groups));
    }
    for group in groups {
        let finding = group.first;
        let severity = match finding.severity {
            Severity::Note => "note",
            Severity::Warning => "warning",
            Severity::Invalid => "invalid",
        };
        let place = group.point.as_ref().map(|point| format!(" at {}", escaped(point))).unwrap_or_default();
        text +=
            &format!("- **{}** ({severity}){place}: {}", escaped(&finding.code), prose(&finding.sentence));
        if !finding.remedy.is_empty() {
            text += &format!(" *{}*", prose(&finding.remedy));
        }
        if !group.others.is_empty() {
            text += &format!(" {}", escaped(&warnings::also(&group.others)));
        }
        text.push('\n');
    }
    if !run.ending.complete || run.ending.code != 0 {
        text += &format!("\n**{}** (exit code {})\n", escaped(&run.ending.reason), run.ending.code);
    }
    text
}

fn table(run: &Run) -> String {
    let figures = figures::figures(run);
    let mut text = drawn(&figures.table);
    if let Some(why) = &figures.no_interval {
        text += &format!("\n{why}\n");
    }
    if figures.too_few {
        text += "\nA percentile is blank where fewer than ten requests were slower.\n";
    }
    text
}

/// A table with columns that have something in them, figures to the right, what is to be looked at first in bold.
pub(crate) fn drawn(table: &Table) -> String {
    let used: Vec<usize> = (0..table.columns.len())
        .filter(|column| table.rows.iter().any(|row| !row[*column].text.is_empty()))
        .collect();
    let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
    let mut text = line(used.iter().map(|column| table.columns[*column].title.clone()).collect());
    let rule = |column: &usize| if table.columns[*column].words { "---" } else { "---:" }.to_owned();
    text += &line(used.iter().map(rule).collect());
    for row in &table.rows {
        let cells = used.iter().map(|column| {
            let cell = &row[*column];
            let indented = escaped(cell.text.trim_start()).to_owned();
            // Markdown eats leading blanks.
            let indent = "&nbsp;".repeat(cell.text.len() - cell.text.trim_start().len());
            let bold = cell.look == Look::Headline && !cell.text.is_empty();
            if bold { format!("**{indented}**") } else { indent + &indented }
        });
        text += &line(cells.collect());
    }
    text
}

/// A sentence whose parts between backticks stay code.
pub fn prose(text: &str) -> String {
    let parts: Vec<&str> = text.split('`').collect();
    if parts.len().is_multiple_of(2) {
        return escaped(text);
    }
    let part =
        |(index, part): (usize, &&str)| if index % 2 == 0 { escaped(part) } else { format!("`{part}`") };
    parts.iter().enumerate().map(part).collect()
}

/// `text` with the letters that Markdown would act upon made harmless.
pub fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for letter in text.chars() {
        if matches!(letter, '\\' | '`' | '*' | '_' | '|' | '<' | '>' | '[' | ']' | '#' | '~') {
            safe.push('\\');
        }
        safe.push(if letter == '\n' { ' ' } else { letter });
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_in_a_sentence_stays_code() {
        assert_eq!(prose("set `flush_every = 1` on a_b"), "set `flush_every = 1` on a\\_b");
        assert_eq!(prose("one ` alone"), "one \\` alone");
    }

    #[test]
    fn a_name_cannot_break_the_table() {
        assert_eq!(escaped("a|b\n*c*"), "a\\|b \\*c\\*");
    }
}
