//! A grid of values in characters: the figure in each cell, and a shade.

use super::{padded, row_of};
use crate::heat::Heat;

impl Heat {
    /// What its rows and columns are, in a line; nothing where they name themselves.
    fn headed(&self) -> String {
        let names = [&self.y_name, &self.x_name].into_iter().filter(|name| !name.is_empty());
        let by = names.map(String::as_str).collect::<Vec<_>>().join(" and ");
        let by = if by.is_empty() { by } else { format!("by {by}") };
        match format!("{} {by}", self.unit.at_axis()).trim() {
            "" => String::new(),
            head => format!("{head}\n"),
        }
    }

    /// What columns without room for their names are, in lines of `width` letters.
    fn columns_named(&self, width: usize) -> String {
        let mut lines = vec!["from left:".to_owned()];
        for (place, name) in self.columns.iter().enumerate() {
            let name = if place + 1 < self.columns.len() { format!(" {name},") } else { format!(" {name}") };
            let line = lines.last().map_or(0, |line| line.chars().count());
            if line + name.chars().count() > width {
                lines.push(String::new());
            }
            lines.last_mut().into_iter().for_each(|line| line.push_str(&name));
        }
        lines.iter().map(|line| line.trim_end().to_owned() + "\n").collect()
    }

    pub(crate) fn text(&self, width: usize, unicode: bool) -> String {
        let names = self.rows.iter().map(|row| row.chars().count()).max().unwrap_or(0).min(width / 3);
        let written = |value: Option<f64>| value.map_or("–".to_owned(), |value| self.unit.tick(value));
        let texts: Vec<Vec<String>> =
            self.values.iter().map(|row| row.iter().map(|value| written(*value)).collect()).collect();
        let wide = |text: &String| text.chars().count();
        let each = texts.iter().flatten().chain(&self.columns).map(wide).max().unwrap_or(1) + 2;
        // Too many columns for figures: shades alone.
        let figures = names + 1 + each * self.columns.len() <= width;
        let shades = if unicode { [' ', '░', '▒', '▓', '█'] } else { [' ', '.', ':', '*', '#'] };
        let mut text = self.headed();
        for (index, name) in self.rows.iter().enumerate().rev() {
            text += &padded(name, names);
            text.push(' ');
            for (value, written) in self.values[index].iter().zip(&texts[index]) {
                let step = value.map_or(0, |value| row_of(self.part(value), shades.len()));
                if figures {
                    text += &format!("{written:>wide$}{}", shades[step], wide = each - 1);
                } else {
                    text.push(shades[step]);
                }
            }
            text = text.trim_end().to_owned() + "\n";
        }
        let head: String =
            self.columns.iter().map(|name| format!("{name:>wide$} ", wide = each - 1)).collect();
        match figures {
            true => text += &format!("{} {}\n", padded("", names), head.trim_end()),
            false => text += &self.columns_named(width),
        }
        text.trim_start_matches(' ').to_owned()
    }
}

#[cfg(test)]
mod tests {
    use crate::Unit;
    use crate::heat::tests::heat;

    #[test]
    fn columns_without_room_for_figures_are_named_below_within_the_width() {
        let mut grid = heat();
        grid.columns = ["controller processor", "disks", "link tx"].map(String::from).into();
        let text = grid.text(40, true);
        assert!(text.lines().all(|line| line.chars().count() <= 40), "{text}");
        let named = text.split_once("from left:").expect("they are named").1.replace('\n', "");
        assert_eq!(named, " controller processor, disks, link tx");
        assert!(!heat().text(80, true).contains("from left"));
    }

    #[test]
    fn a_grid_is_headed_by_the_names_that_it_has_and_by_nothing_where_it_has_none() {
        let head = |grid: &crate::Heat| grid.text(80, true).lines().next().unwrap_or_default().to_owned();
        assert_eq!(head(&heat()), "IOPS by block size and queue depth");
        let mut grid = heat();
        grid.x_name.clear();
        assert_eq!(head(&grid), "IOPS by block size");
        grid.y_name.clear();
        grid.unit = Unit::Share;
        assert!(head(&grid).starts_with("64 KiB"), "{}", head(&grid));
    }
}
