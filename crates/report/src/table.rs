//! A table that fits its width by leaving columns out.

use unicode_width::UnicodeWidthStr;

use crate::style::{Look, Style};
use crate::words::{cut, cut_within};

/// One column.
#[derive(Clone, Debug)]
pub(crate) struct Column {
    pub title: String,
    /// Aligned left, as words are; figures are aligned right.
    pub words: bool,
    /// Left out before all columns with a smaller number where there is no room; 0 is never left out.
    pub dispensable: u8,
}

impl Column {
    /// A column of words that always stays.
    pub(crate) fn words(title: &str) -> Column {
        Column { title: title.into(), words: true, dispensable: 0 }
    }

    /// A column of figures that goes when its turn comes.
    pub(crate) fn figures(title: &str, dispensable: u8) -> Column {
        Column { title: title.into(), words: false, dispensable }
    }
}

/// One field.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cell {
    pub text: String,
    pub look: Look,
}

impl Cell {
    /// Ordinary text.
    pub(crate) fn plain(text: impl Into<String>) -> Cell {
        Cell { text: text.into(), look: Look::Plain }
    }

    /// Text of a certain look.
    pub(crate) fn of(look: Look, text: impl Into<String>) -> Cell {
        Cell { text: text.into(), look }
    }

    fn shown(&self, style: Style) -> String {
        // Where weight cannot be shown a star stands for it.
        let star = self.look == Look::Headline && !style.colour && !self.text.is_empty();
        style.spell(&if star { format!("*{}", self.text) } else { self.text.clone() })
    }
}

/// Columns and rows; every row has a cell for every column.
#[derive(Clone, Debug, Default)]
pub(crate) struct Table {
    pub columns: Vec<Column>,
    pub rows: Vec<Vec<Cell>>,
}

/// A table drawn.
pub(crate) struct Drawn {
    /// Its lines.
    pub lines: Vec<String>,
    /// Titles of the columns for which there was no room, in the order of the table.
    pub left_out: Vec<String>,
    /// The width at which there is room for all of them.
    pub whole_width: usize,
}

const GAP: &str = "  ";
/// The first column is cut no shorter than this.
const FIRST_COLUMN_MIN: usize = 8;
/// Names are cut no shorter than this while there is a figure that could go instead, and not at all where they are
/// hardly longer.
const NAME_MIN: usize = 24;
const NAME_LONG: usize = 32;

impl Table {
    /// Whether a cell is the figure to look at first.
    pub(crate) fn has_headline(&self) -> bool {
        self.rows.iter().flatten().any(|cell| cell.look == Look::Headline && !cell.text.is_empty())
    }

    /// Draws the table within the width of `style`.
    ///
    /// Columns without any text vanish unmentioned. Where the rest is too wide, columns are left out by their
    /// order of dispensability, and at last the first column is cut.
    pub(crate) fn draw(&self, style: Style) -> Drawn {
        assert!(
            self.rows.iter().all(|row| row.len() == self.columns.len()),
            "a row has a cell for every column"
        );
        let texts: Vec<Vec<String>> =
            self.rows.iter().map(|row| row.iter().map(|cell| cell.shown(style)).collect()).collect();
        let titles: Vec<String> = self.columns.iter().map(|column| style.spell(&column.title)).collect();
        let width_of = |column: usize| {
            let widest = texts.iter().map(|row| row[column].width()).max().unwrap_or(0);
            widest.max(titles[column].width())
        };
        let mut widths: Vec<usize> = (0..titles.len()).map(width_of).collect();
        let mut shown: Vec<usize> =
            (0..titles.len()).filter(|column| texts.iter().any(|row| !row[*column].is_empty())).collect();
        let whole_width = total(&widths, &shown);
        let mut left_out = Vec::new();
        // Before a figure goes, names give what they do not need to be told apart.
        if let Some(first) = shown.first().copied().filter(|first| self.columns[*first].words) {
            let names: Vec<&str> = texts.iter().map(|row| row[first].as_str()).collect();
            let excess = total(&widths, &shown).saturating_sub(style.width);
            let wanted = widths[first].saturating_sub(excess).max(NAME_MIN).min(widths[first]);
            let cut = (wanted..widths[first]).find(|width| are_told_apart(&names, *width, style));
            if let Some(cut) = cut.filter(|_| widths[first] > NAME_LONG) {
                widths[first] = cut.max(titles[first].width());
            }
        }
        while total(&widths, &shown) > style.width {
            let least = shown.iter().copied().filter(|column| self.columns[*column].dispensable > 0);
            let Some(goes) = least.max_by_key(|column| self.columns[*column].dispensable) else { break };
            shown.retain(|column| *column != goes);
            left_out.push(goes);
        }
        let excess = total(&widths, &shown).saturating_sub(style.width);
        if let Some(first) = shown.first() {
            widths[*first] = widths[*first].saturating_sub(excess).max(FIRST_COLUMN_MIN.min(widths[*first]));
        }
        debug_assert!(shown.iter().all(|column| !left_out.contains(column)), "a column is shown or left out");
        left_out.sort_unstable();
        let line = |cells: &[String], look: &dyn Fn(usize) -> Look| {
            let fields = shown.iter().map(|column| {
                let cut = if self.columns[*column].words { cut_within } else { cut };
                let text = cut(&cells[*column], widths[*column], style.ellipsis());
                let pad = " ".repeat(widths[*column].saturating_sub(text.width()));
                let text = style.paint(look(*column), &text);
                if self.columns[*column].words { text + &pad } else { pad + &text }
            });
            fields.collect::<Vec<_>>().join(GAP).trim_end().to_owned()
        };
        let mut lines = vec![line(&titles, &|_| Look::Faint)];
        lines.extend(texts.iter().zip(&self.rows).map(|(text, row)| line(text, &|column| row[column].look)));
        debug_assert_eq!(lines.len(), self.rows.len() + 1, "a line for the titles and for each row");
        debug_assert!(whole_width >= total(&widths, &shown), "nothing is wider than with room for all");
        let left_out = left_out.into_iter().map(|column| titles[column].clone()).collect();
        Drawn { lines, left_out, whole_width }
    }
}

/// Whether names that differ still do once they are cut to `width`.
fn are_told_apart(names: &[&str], width: usize, style: Style) -> bool {
    let mut whole: Vec<&str> = names.to_vec();
    whole.sort_unstable();
    whole.dedup();
    let mut cuts: Vec<String> = whole.iter().map(|name| cut_within(name, width, style.ellipsis())).collect();
    cuts.sort_unstable();
    cuts.dedup();
    debug_assert!(cuts.len() <= whole.len(), "a cut makes no two of one");
    cuts.len() == whole.len()
}

fn total(widths: &[usize], shown: &[usize]) -> usize {
    let gaps = GAP.len() * shown.len().saturating_sub(1);
    shown.iter().map(|column| widths[*column]).sum::<usize>() + gaps
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        let columns = vec![Column::words("name"), Column::figures("first", 1), Column::figures("second", 2)];
        let row = |name: &str| vec![Cell::plain(name), Cell::plain("1,234"), Cell::of(Look::Headline, "5")];
        Table { columns, rows: vec![row("a name of some length"), row("b")] }
    }

    fn plain(width: usize) -> Style {
        Style { colour: false, unicode: true, width }
    }

    #[test]
    fn a_table_with_room_shows_everything() {
        let drawn = table().draw(plain(80));
        assert_eq!(drawn.lines[0], "name                   first  second");
        assert_eq!(drawn.lines[2], "b                      1,234      *5");
        assert!(drawn.left_out.is_empty());
    }

    #[test]
    fn the_most_dispensable_column_goes_first_and_the_name_is_cut_last() {
        let drawn = table().draw(plain(30));
        assert_eq!(drawn.left_out, ["second"]);
        assert_eq!(drawn.lines[1], "a name of some length  1,234");
        let drawn = table().draw(plain(12));
        assert_eq!(drawn.left_out, ["first", "second"]);
        assert_eq!(drawn.lines[1], "a name…ength");
    }

    #[test]
    fn a_long_name_gives_way_to_figures_as_far_as_it_stays_different() {
        let mut table = table();
        let long = "a name that is much longer than it would have to be, ";
        table.rows.iter_mut().enumerate().for_each(|(row, cells)| cells[0].text = format!("{long}x{row}"));
        let drawn = table.draw(plain(40));
        assert!(drawn.left_out.is_empty(), "{:?}", drawn.lines);
        assert_eq!(drawn.whole_width, 55 + 2 + 5 + 2 + 6);
        assert!(drawn.lines[1].contains("be, x0") && drawn.lines[2].contains("be, x1"), "{:?}", drawn.lines);
    }

    #[test]
    fn an_empty_column_vanishes_without_a_word() {
        let mut table = table();
        table.rows.iter_mut().for_each(|row| row[1].text.clear());
        let drawn = table.draw(plain(80));
        assert_eq!(drawn.lines[0], "name                   second");
        assert!(drawn.left_out.is_empty());
    }

    #[test]
    fn colour_adds_no_visible_width() {
        let drawn = table().draw(Style { colour: true, ..plain(80) });
        assert_eq!(drawn.lines[2], "b                      1,234       \x1b[1m5\x1b[0m");
    }
}
