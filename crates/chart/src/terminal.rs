//! Charts in characters: braille and blocks where the terminal has them, ASCII otherwise.

mod heat;
#[cfg(test)]
mod tests;

use crate::axis::Laid;
use crate::bars::Bars;
use crate::density::Density;
use crate::dots::{Dots, Row};
use crate::plot::{Line, Plot, Rule};

/// Letters that mark the lines of a plot where there is no braille, and the dots of a row.
const LETTERS: [char; 6] = ['o', 'x', '+', '*', '#', '@'];

/// Names of lines and rules beside a plot are cut to this.
const NAME_MOST: usize = 24;
/// Columns of a plot below which names stand under it instead.
const PLOT_LEAST: usize = 36;

impl Plot {
    pub(crate) fn text(&self, width: usize, rows: usize, unicode: bool) -> String {
        self.text_over(width, rows, unicode, |_, _, _| ())
    }

    /// The same over what `shade` draws into the grid, by both axes.
    fn text_over(
        &self,
        width: usize,
        rows: usize,
        unicode: bool,
        shade: impl FnOnce(&mut Grid, &Laid, &Laid),
    ) -> String {
        let y = self.y.laid(self.ys(), 1.0, 0.0);
        let x = self.x.laid(self.xs(), 0.0, 1.0);
        let at = |mark_x: f64, mark_y: f64| Some((x.at(mark_x)?, y.at(mark_y)?));
        let ticks = y.ticks((2.5 / rows as f64).min(0.5));
        let left = ticks.iter().map(|(_, text)| text.chars().count()).max().unwrap_or(0) + 1;
        let room = width.saturating_sub(left + 1);
        let ellipsis = if unicode { "…" } else { ".." };
        let mut names = self.names(&at, rows, (ellipsis, NAME_MOST));
        let longest = names.iter().map(|(_, name)| name.chars().count() + 1).max().unwrap_or(0);
        let is_beside =
            names.len() <= rows && room.saturating_sub(longest) >= PLOT_LEAST && are_told_apart(&names);
        if !is_beside {
            // Below the plot there is room for whole names.
            names = self.names(&at, rows, (ellipsis, room.saturating_sub(2)));
        }
        let columns = if is_beside { room - longest } else { room }.clamp(16, 100);
        let mut grid = Grid::new(columns, rows, unicode);
        shade(&mut grid, &x, &y);
        for value in self.levels().map(|(value, _)| value) {
            if let Some(place) = y.at(value) {
                grid.level(place);
            }
        }
        for (index, line) in self.lines.iter().enumerate() {
            grid.line(line, index, &at);
        }
        if unicode && self.lines.len() > 1 {
            let named = self.lines.iter().enumerate().filter(|(_, line)| !line.name.is_empty());
            named.for_each(|(index, line)| grid.letter(line, (index, self.lines.len()), &at));
        }
        spread(&mut names, rows);
        let [wall, notch, corner, floor] =
            if unicode { ['│', '┤', '└', '─'] } else { ['|', '+', '+', '-'] };
        let mut text = format!("{}\n", self.y.title());
        for (row, drawn) in grid.rows().iter().enumerate() {
            let here = |(value, _): &&(f64, String)| y.at(*value).map(|part| row_of(part, rows)) == Some(row);
            let tick = ticks.iter().find(here).map(|(_, text)| text.as_str());
            let edge = if tick.is_some() { notch } else { wall };
            let name = names.iter().find(|(own, _)| is_beside && *own == row).map_or("", |(_, name)| name);
            let line = format!("{:>left$}{edge}{drawn} {name}", tick.unwrap_or(""));
            text += &format!("{}\n", line.trim_end());
        }
        text += &format!("{:left$}{corner}{}\n", "", floor.to_string().repeat(columns));
        text += &self.ticks_below(&x, left + 1, columns);
        if !is_beside {
            let names: Vec<&str> = names.iter().map(|(_, name)| name.as_str()).collect();
            text += &in_rows(&names, left + 1, width);
        }
        text
    }

    /// Levels and limits that lie within what is drawn, with their names.
    fn levels(&self) -> impl Iterator<Item = (f64, &str)> {
        let y = self.y.laid(self.ys(), 1.0, 0.0);
        self.rules.iter().filter_map(move |rule| match rule {
            Rule::Level(value, name) | Rule::Limit(value, name) if *value >= y.from && *value <= y.to => {
                Some((*value, name.as_str()))
            }
            _ => None,
        })
    }

    /// What is written beside the plot, each with the row that it belongs to: names at the ends of several lines, behind
    /// their letters, and those of levels. `ellipsis` stands where one is too long.
    fn names(
        &self,
        at: &impl Fn(f64, f64) -> Option<(f64, f64)>,
        rows: usize,
        (ellipsis, most): (&str, usize),
    ) -> Vec<(usize, String)> {
        let cut = |name: &str| match name.chars().count() > most {
            true => {
                let kept = most.saturating_sub(ellipsis.chars().count());
                name.chars().take(kept).collect::<String>().trim_end().to_owned() + ellipsis
            }
            false => name.to_owned(),
        };
        let end = |line: &Line| {
            let last = line.points.iter().rev().find_map(|mark| at(mark.x, mark.y?));
            last.map_or(0, |(_, y)| row_of(y, rows))
        };
        let lines =
            self.lines.iter().enumerate().filter(|(_, line)| self.lines.len() > 1 && !line.name.is_empty());
        let lines = lines.map(|(index, line)| {
            (end(line), format!("{} {}", LETTERS[index % LETTERS.len()], cut(&line.name)))
        });
        let levels = self.levels().filter(|(_, name)| !name.is_empty()).filter_map(|(value, name)| {
            let x = self.xs().next()?;
            Some((row_of(at(x, value)?.1, rows), cut(name)))
        });
        lines.chain(levels).collect()
    }

    /// The line of ticks below the plot, and the name of the axis at its end.
    fn ticks_below(&self, x: &Laid, left: usize, columns: usize) -> String {
        let mut below: Vec<char> = vec![' '; left + columns];
        let mut free = 0;
        for (value, tick) in x.ticks(8.0 / columns as f64) {
            let Some(part) = x.at(value) else { continue };
            let long = tick.chars().count();
            let middle = left + column_of(part, columns);
            let first = middle.saturating_sub(long / 2).min((left + columns).saturating_sub(long));
            if first >= free {
                below.splice(first..first + long, tick.chars());
                free = first + long + 1;
            }
        }
        let line: String = below.into_iter().collect();
        format!("{}\n{:>width$}\n", line.trim_end(), self.x.title(), width = left + columns)
    }
}

/// Whether no two names are the same but for the letters before them.
fn are_told_apart(names: &[(usize, String)]) -> bool {
    let bare = |name: &str| name.split_once(' ').map_or(name, |(_, bare)| bare).to_owned();
    (1..names.len()).all(|at| names[..at].iter().all(|(_, name)| bare(name) != bare(&names[at].1)))
}

/// Moves names that belong to the same row apart, as little as it takes; none goes beyond the last of `rows`.
fn spread(names: &mut [(usize, String)], rows: usize) {
    names.sort_by_key(|(row, _)| *row);
    let mut free = 0;
    for (row, _) in names.iter_mut() {
        *row = (*row).max(free);
        free = *row + 1;
    }
    let mut end = rows;
    for (row, _) in names.iter_mut().rev() {
        *row = (*row).min(end.saturating_sub(1));
        end = *row;
    }
}

/// `names` beside each other, in as many lines of `width` columns as it takes.
fn in_rows(names: &[&str], left: usize, width: usize) -> String {
    let mut lines: Vec<String> = Vec::new();
    for name in names {
        match lines.last_mut() {
            Some(line) if left + line.chars().count() + 3 + name.chars().count() <= width => {
                *line += &format!("   {name}");
            }
            _ => lines.push((*name).to_owned()),
        }
    }
    lines.iter().map(|line| format!("{:left$}{line}\n", "")).collect()
}

/// The row that the dot at `part` of the way down is in: each row has four.
fn row_of(part: f64, rows: usize) -> usize {
    units::convert::truncated::<usize>((part * (rows * 4 - 1) as f64).round()) / 4
}

/// The column that the dot at `part` of the way to the right is in: each column has two.
fn column_of(part: f64, columns: usize) -> usize {
    units::convert::truncated::<usize>((part * (columns * 2 - 1) as f64).round()) / 2
}

/// A grid of characters; with braille each is two by four dots.
struct Grid {
    columns: usize,
    rows: usize,
    unicode: bool,
    dots: Vec<u8>,
    letters: Vec<Option<char>>,
}

impl Grid {
    fn new(columns: usize, rows: usize, unicode: bool) -> Grid {
        let cells = columns * rows;
        Grid { columns, rows, unicode, dots: vec![0; cells], letters: vec![None; cells] }
    }

    fn level(&mut self, part: f64) {
        let row = row_of(part, self.rows);
        let letter = if self.unicode { '┈' } else { '-' };
        for column in 0..self.columns {
            self.letters[row * self.columns + column] = Some(letter);
        }
    }

    /// Draws `line`: its points as letters, and with braille what is between them.
    fn line(&mut self, line: &Line, index: usize, at: &impl Fn(f64, f64) -> Option<(f64, f64)>) {
        let places = line.points.iter().map(|mark| at(mark.x, mark.y?));
        let places: Vec<Option<(f64, f64)>> = places.collect();
        if self.unicode && !line.apart {
            for pair in places.windows(2) {
                if let [Some(from), Some(to)] = pair {
                    self.stroke(*from, *to);
                }
            }
        }
        if line.marked || line.apart || !self.unicode {
            for (x, y) in places.into_iter().flatten() {
                let cell = row_of(y, self.rows) * self.columns + column_of(x, self.columns);
                self.letters[cell] = Some(LETTERS[index % LETTERS.len()]);
            }
        }
    }

    /// Marks a line that has no letter of its own at its end and on its way, elsewhere than the others.
    fn letter(
        &mut self,
        line: &Line,
        (index, lines): (usize, usize),
        at: &impl Fn(f64, f64) -> Option<(f64, f64)>,
    ) {
        if line.marked || line.apart {
            return;
        }
        let cells: Vec<usize> = line
            .points
            .iter()
            .filter_map(|mark| at(mark.x, mark.y?))
            .map(|(x, y)| row_of(y, self.rows) * self.columns + column_of(x, self.columns))
            .collect();
        let way = cells.len() * (index + 1) / (lines + 1);
        let (to, from) = cells.split_at(way);
        let on_the_way = from.iter().chain(to);
        let is_free = |cell: &&usize| self.letters[**cell].is_none_or(|mark| !LETTERS.contains(&mark));
        let chosen =
            [cells.iter().rev().find(is_free).copied(), on_the_way.copied().find(|cell| is_free(&cell))];
        for cell in chosen.into_iter().flatten() {
            self.letters[cell] = Some(LETTERS[index % LETTERS.len()]);
        }
    }

    fn stroke(&mut self, from: (f64, f64), to: (f64, f64)) {
        let (wide, high) = ((self.columns * 2 - 1) as f64, (self.rows * 4 - 1) as f64);
        let steps = ((to.0 - from.0).abs() * wide).max((to.1 - from.1).abs() * high).ceil().max(1.0);
        for step in 0..=units::convert::truncated::<u32>(steps) {
            let part = f64::from(step) / steps;
            let x: usize = units::convert::truncated(((from.0 + (to.0 - from.0) * part) * wide).round());
            let y: usize = units::convert::truncated(((from.1 + (to.1 - from.1) * part) * high).round());
            self.dots[y / 4 * self.columns + x / 2] |= dot(x % 2, y % 4);
        }
    }

    fn rows(&self) -> Vec<String> {
        let letter = |cell: usize| match (self.letters[cell], self.dots[cell]) {
            (Some(letter), 0) => letter,
            (Some(mark), _) if LETTERS.contains(&mark) => mark,
            (None, 0) => ' ',
            (_, dots) => char::from_u32(0x2800 + u32::from(dots)).unwrap_or(' '),
        };
        (0..self.rows)
            .map(|row| (0..self.columns).map(|column| letter(row * self.columns + column)).collect())
            .collect()
    }
}

/// The bit of one dot of a braille character: Unicode numbers the left column first, then the right, then the last row.
fn dot(x: usize, y: usize) -> u8 {
    match (x, y) {
        (0, 3) => 0x40,
        (1, 3) => 0x80,
        (0, y) => 1 << y,
        (_, y) => 8 << y,
    }
}

/// Columns that are left for marks beside the names of their rows.
const DOTS_LEAST: usize = 20;

/// Sets `mark` at `at`; one of `marks` that stands there already moves to the nearest place beside it that none has.
fn set_mark(line: &mut [char], at: usize, mark: char, marks: &[char]) {
    let before = std::mem::replace(&mut line[at], mark);
    if before == mark || !marks.contains(&before) {
        return;
    }
    let beside = (1..=2).flat_map(|step| [at.checked_sub(step), Some(at + step)]).flatten();
    let free = beside.filter(|place| *place < line.len()).find(|place| !marks.contains(&line[*place]));
    if let Some(place) = free {
        line[place] = before;
    }
}

/// `name` in exactly `wide` columns.
fn padded(name: &str, wide: usize) -> String {
    let cut: String = name.chars().take(wide).collect();
    format!("{cut:<wide$}")
}

impl Dots {
    pub(crate) fn text(&self, width: usize, unicode: bool) -> String {
        let right = self.told().map(|text| text.chars().count()).max().unwrap_or(0);
        // Names tell what a row is: of what is too long for a place beside the marks, the whole stands above them.
        let room = width.saturating_sub(right + 4 + DOTS_LEAST).max(width / 3);
        let own = |row: &Row| row.name.chars().count();
        let names = self.rows.iter().map(own).filter(|long| *long <= room).max().unwrap_or(room.min(8));
        let columns = width.saturating_sub(names + right + 4).clamp(10, 80);
        let axis = self.axis.laid(self.values().chain(self.neutral), 0.0, 1.0);
        let (dash, dots) =
            if unicode { ('─', ['●', '■', '▲', '◆', '▼', '▬']) } else { ('-', LETTERS) };
        let edge = if unicode { '▸' } else { '>' };
        let mut text = format!("{}\n", self.axis.title());
        for row in &self.rows {
            let is_beside = own(row) <= names;
            if !is_beside {
                text += &format!("{}\n", row.name);
            }
            let beside = if is_beside { row.name.as_str() } else { "" };
            if row.dots.is_empty() {
                let missing = if row.missing.is_empty() { "not measured" } else { &row.missing };
                text += &format!("{}  {missing}\n", padded(beside, names));
                continue;
            }
            let mut lines: Vec<(Vec<char>, String)> = Vec::new();
            for dot in &row.dots {
                if lines.is_empty() || row.together.is_empty() {
                    let told = match row.together.as_str() {
                        "" => self.axis.unit.written(dot.value),
                        told => told.to_owned(),
                    };
                    lines.push((vec![' '; columns], told));
                }
                let Some((line, _)) = lines.last_mut() else { continue };
                if let Some((low, high)) =
                    dot.band.and_then(|(low, high)| Some((axis.at(low)?, axis.at(high)?)))
                {
                    line[column_of(low, columns)..=column_of(high, columns)].fill(dash);
                }
                if let Some(at) = axis.at(dot.value) {
                    set_mark(line, column_of(at, columns), dots[dot.series % dots.len()], &dots);
                }
            }
            // What lies beyond stands at the edge, whatever else does.
            for (place, dot) in row.dots.iter().enumerate().filter(|(_, dot)| self.is_beyond(dot)) {
                let line = if row.together.is_empty() { place } else { 0 };
                if let (Some((line, _)), Some(at)) = (lines.get_mut(line), axis.at(dot.value)) {
                    let at = column_of(at, columns);
                    if at > 0 && dots.contains(&line[at]) {
                        let mark = line[at];
                        set_mark(line, at - 1, mark, &dots);
                    }
                    line[at] = edge;
                }
            }
            for (index, (line, told)) in lines.into_iter().enumerate() {
                let name = padded(if index == 0 { beside } else { "" }, names);
                let line: String = line.into_iter().collect();
                text += &format!("{name}  {line}  {told:>right$}\n");
            }
        }
        if self.series.len() > 1 {
            for (index, name) in self.series.iter().enumerate() {
                text += &format!("{}  {} {name}\n", padded("", names), dots[index % dots.len()]);
            }
        }
        if self.has_beyond() {
            text += &format!("{}  {edge} beyond the axis\n", padded("", names));
        }
        text
    }
}

impl Density {
    pub(crate) fn text(&self, width: usize, rows: usize, unicode: bool) -> String {
        self.plot.text_over(width, rows, unicode, |grid, x, y| {
            // A character covers several cells: it shows the most that is in one of them.
            let mut most = vec![0.0_f64; grid.columns * grid.rows];
            for cell in &self.cells {
                let ends = |axis: &Laid, (from, to): (f64, f64)| Some((axis.at(from)?, axis.at(to)?));
                let Some(((left, right), (low, high))) = ends(x, cell.x).zip(ends(y, cell.y)) else {
                    continue;
                };
                let row = row_of((low + high) / 2.0, grid.rows);
                for column in column_of(left, grid.columns)..=column_of(right, grid.columns) {
                    let place = &mut most[row * grid.columns + column];
                    *place = place.max(cell.count);
                }
            }
            let shades = if unicode { ['░', '▒', '▓', '█'] } else { ['.', ':', '*', '#'] };
            for (letter, count) in grid.letters.iter_mut().zip(most).filter(|(_, count)| *count > 0.0) {
                *letter = Some(shades[row_of(self.part(count), shades.len())]);
            }
        })
    }
}

impl Bars {
    pub(crate) fn text(&self, width: usize, unicode: bool) -> String {
        let names = self.bars.iter().map(|bar| bar.name.chars().count()).max().unwrap_or(0).min(width / 3);
        let totals =
            self.bars.iter().map(|bar| bar.segments.iter().map(|segment| segment.value).sum::<f64>());
        let columns = width.saturating_sub(names + 14).clamp(10, 80);
        let axis = self.axis.laid(totals.clone(), 0.0, columns as f64);
        let fills = if unicode {
            ['█', '▓', '▒', '░', '▚', '▞', '·']
        } else {
            ['#', '=', '+', '-', '%', 'o', '.']
        };
        let fill = |kind: usize| fills[kind.min(fills.len() - 1)];
        let mut text = format!("{}\n", self.axis.title());
        for (bar, total) in self.bars.iter().zip(totals) {
            let (mut sum, mut line) = (0.0, String::new());
            for segment in &bar.segments {
                sum += segment.value;
                let end: usize = axis.at(sum).map_or(0, |at| units::convert::truncated(at.round()));
                while line.chars().count() < end {
                    line.push(fill(segment.kind));
                }
            }
            text += &format!("{}  {line} {}\n", padded(&bar.name, names), self.axis.unit.written(total));
        }
        for (kind, name) in self.kinds.iter().enumerate() {
            text += &format!("{}  {} {name}\n", padded("", names), fill(kind));
        }
        text
    }
}
