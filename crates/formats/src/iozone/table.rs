//! What IOzone prints of a single stream: the banner, a line for each pair, and the end.

use std::collections::BTreeMap;

use super::figure::Cell;
use super::grid::Pair;
use super::options::Command;
use super::pass::Pass;

/// The generation whose lines these are.
const VERSION: &str = "3.508";

/// The last column of the pair itself.
const PAIR_END: usize = 24;

const HEADER: [&str; 2] = [
    "                                                                    random    random      bkwd     record     stride",
    "              kB  reclen    write    rewrite      read    reread      read     write      read    rewrite       read    fwrite  frewrite     fread   freread",
];
const EXTENSION: &str = "    pwrite  repwrite     pread   repread   pwritev repwritev    preadv  repreadv";

impl Command {
    /// What is printed before anything is measured. `began` is the date as ctime(3) writes it.
    pub fn banner(&self, began: &str) -> String {
        let mut text = format!(
            "\tIozone: Performance Test of File I/O\n\t        Version $Revision: {VERSION} $\n\
             \t\tCompiled for 64 bit mode.\n\t\tBuild: fathom \n\n\tRun began: {began}\n\n"
        );
        self.announced.iter().for_each(|line| text += &format!("\t{line}\n"));
        let words: Vec<&str> = self.words.iter().map(String::as_str).collect();
        text += &format!("\tCommand line used: iozone {}\n", words.join(" "));
        if self.unit == super::Unit::Kilobytes {
            text += &format!("\t{}\n", self.unit.sentence());
        }
        let (cache, line) = self.cache;
        text += &format!(
            "\tTime Resolution = 0.000001 seconds.\n\tProcessor cache size set to {cache} kBytes.\n\
             \tProcessor cache line size set to {line} bytes.\n\tFile stride size set to {} * record size.\n",
            self.stride
        );
        text
    }

    /// The two lines above the table.
    pub fn header(&self) -> String {
        let extended = self.passes().any(|pass| pass > Pass::Freread);
        header(extended)
    }
}

fn header(extended: bool) -> String {
    let extension = if extended { EXTENSION } else { "" };
    format!("{}\n{}{extension}\n", HEADER[0], HEADER[1])
}

/// What is printed last.
pub const END: &str = "\niozone test complete.\n";

/// A line of the table, which grows to the right.
#[derive(Clone, Copy, Debug, Default)]
pub struct Row {
    pair: Option<Pair>,
    column: usize,
}

impl Row {
    /// What is to be printed so that `figure` stands in its column: the end of the line before and the beginning of
    /// its own, if the pair is another one, and blanks for what was not measured.
    pub fn add(&mut self, pair: Pair, pass: Pass, figure: u64) -> String {
        let mut text = String::new();
        if self.pair != Some(pair) || self.column >= pass.column_end() {
            text += self.end();
            text += &format!("{:16}{:8}", pair.file_kib, pair.record_kib);
            *self = Row { pair: Some(pair), column: PAIR_END };
        }
        assert!(pass.column_end() > self.column, "a figure ends behind the one before it");
        let width = pass.column_end() - self.column;
        self.column = pass.column_end();
        text + &format!("{figure:width$}")
    }

    /// The end of the line, if there is one.
    pub fn end(&self) -> &'static str {
        if self.pair.is_some() { "\n" } else { "" }
    }
}

/// All figures of a run, for what is printed once it is over.
#[derive(Clone, Debug, Default)]
pub struct Table(BTreeMap<(Pass, Pair), u64>);

impl Table {
    /// Keeps a figure.
    pub fn add(&mut self, pair: Pair, pass: Pass, figure: u64) {
        self.0.insert((pass, pair), figure);
    }

    /// The figure of that pass with that pair.
    pub fn get(&self, pass: Pass, pair: Pair) -> Option<u64> {
        self.0.get(&(pass, pair)).copied()
    }

    /// Passes that have figures.
    pub fn passes(&self) -> Vec<Pass> {
        Pass::all().filter(|pass| self.0.keys().any(|(with, _)| with == pass)).collect()
    }

    /// The pairs that have figures.
    pub fn pairs(&self) -> Vec<Pair> {
        let mut pairs: Vec<Pair> = self.0.keys().map(|(_, pair)| *pair).collect();
        pairs.sort_unstable();
        pairs.dedup();
        pairs
    }

    /// The table of what points measure; a pass that is made twice in succession is itself and its repetition.
    pub(super) fn of(cells: impl Iterator<Item = Cell>, unit: super::Unit) -> Table {
        let mut table = Table::default();
        for Cell { pair, pass, timed, .. } in cells {
            let again = match pass {
                Pass::Write => Pass::Rewrite,
                Pass::Read => Pass::Reread,
                other => other,
            };
            let pass = if table.get(pass, pair).is_some() { again } else { pass };
            table.add(pair, pass, timed.whole(unit));
        }
        table
    }

    /// Header and lines.
    pub(super) fn text(&self) -> String {
        let passes = self.passes();
        let mut text = header(passes.iter().any(|pass| *pass > Pass::Freread));
        let mut row = Row::default();
        for pair in self.pairs() {
            for pass in &passes {
                if let Some(figure) = self.get(*pass, pair) {
                    text += &row.add(pair, *pass, figure);
                }
            }
        }
        text + row.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAIR: Pair = Pair { file_kib: 64, record_kib: 4 };

    #[test]
    fn a_line_is_that_of_the_original() {
        let figures = [
            1_734_015, 7_940_539, 15_972_885, 22_737_791, 15_972_885, 5_860_307, 9_006_179, 10_402_178,
            15_972_885, 5_860_307, 4_988_978, 10_821_524, 20_962_191,
        ];
        let mut row = Row::default();
        let mut line: String =
            Pass::all().zip(figures).map(|(pass, figure)| row.add(PAIR, pass, figure)).collect();
        line += row.end();
        assert_eq!(
            line,
            "              64       4   1734015   7940539  15972885  22737791  15972885   5860307   9006179   10402178   \
             15972885   5860307   4988978  10821524  20962191\n"
        );
    }

    #[test]
    fn what_is_not_measured_is_left_blank() {
        let mut row = Row::default();
        let line = row.add(PAIR, Pass::Write, 7) + &row.add(PAIR, Pass::BackwardRead, 12_345);
        assert_eq!(line.len(), 94);
        assert!(line.ends_with(&format!("{}12345", " ".repeat(55))), "{line}");
        let other = Pair { record_kib: 8, ..PAIR };
        assert_eq!(row.add(other, Pass::Write, 7), format!("\n{:16}{:8}{:10}", 64, 8, 7));
    }

    #[test]
    fn the_header_ends_where_the_last_figure_does() {
        let header = header(true);
        let line = header.lines().nth(1).unwrap();
        assert_eq!(line.len(), Pass::Repreadv.column_end());
    }
}
