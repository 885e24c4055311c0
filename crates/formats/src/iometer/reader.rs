//! A configuration file, read.
//!
//! Files of every version are taken, whether they have a version line and all sections or not, with both line
//! endings. What asks for other requests and is not known is refused with its line.
//!
//! **Invariant:** reading never looks back, so that any text is read in a time that grows with its length.

mod managers;

use units::convert::narrow;

use super::TOOL;
use super::builtin;
use super::config::{Assignment, Config, Cycle, Record, Setup, Spec, SpecLine, TestType};
use super::lines::{Line, Lines, fields};
use crate::Refusal;

/// The parts of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Section {
    /// Times and cycling.
    TestSetup,
    /// What the screen shows.
    ResultsDisplay,
    /// Access specifications.
    Specs,
    /// Managers and their workers.
    Managers,
}

const SECTIONS: [(&str, Section); 4] = [
    ("test setup", Section::TestSetup),
    ("results display", Section::ResultsDisplay),
    ("access specifications", Section::Specs),
    ("manager list", Section::Managers),
];

/// The section that begins with `line`.
pub fn section_of(line: &str) -> Option<Section> {
    let line = Line { number: 0, text: line.trim() };
    let key = line.key();
    let begins = |(name, section): &(&str, Section)| {
        let rest = key.strip_prefix(name)?;
        (rest.is_empty() || rest.starts_with([' ', '='])).then_some(*section)
    };
    line.is_key().then(|| SECTIONS.iter().find_map(begins)).flatten()
}

impl Config {
    /// Reads the text of a configuration file; `file` is what messages call it.
    pub fn read(file: &str, text: &str) -> Result<Config, Refusal> {
        let mut reader = Reader {
            lines: Lines::new(file, text),
            config: Config::default(),
            targets: 0,
            assigned: 0,
            workers: 0,
        };
        let mut sections = 0;
        while let Some(line) = reader.lines.take_text() {
            match section_of(line.text) {
                Some(section) => reader.section(section)?,
                None => reader.outside(line)?,
            }
            sections += usize::from(section_of(line.text).is_some());
        }
        if sections == 0 {
            let what = format!(
                "{file}: no section of an Iometer configuration is in it, such as 'ACCESS SPECIFICATIONS"
            );
            return Err(Refusal::usage(TOOL, what));
        }
        Ok(reader.config)
    }
}

struct Reader<'a> {
    lines: Lines<'a>,
    config: Config,
    /// Of all workers so far.
    targets: usize,
    assigned: usize,
    workers: usize,
}

impl Reader<'_> {
    fn section(&mut self, section: Section) -> Result<(), Refusal> {
        match section {
            Section::TestSetup => self.test_setup(),
            Section::ResultsDisplay => self.results_display(),
            Section::Specs => self.specs(),
            Section::Managers => self.managers(),
        }
    }

    /// Between sections stand version lines alone.
    fn outside(&mut self, line: Line<'_>) -> Result<(), Refusal> {
        let text = line.text.trim_start_matches('\'').trim_start();
        match text.get(..7) {
            Some(word) if word.eq_ignore_ascii_case("version") => {
                let version = text[7..].trim();
                if self.config.version.is_none() && !version.is_empty() {
                    self.config.version = Some(version.into());
                }
                Ok(())
            }
            // The end of a section that ended itself.
            _ if line.is_key() && line.key().starts_with("end ") => Ok(()),
            _ => Err(self.lines.wrong(line, format!("`{}` is in no section", line.text))),
        }
    }

    /// Whether a section ends before `line`: with its own end, with another section, with the version, or with
    /// the file.
    fn ends(&mut self, end: &str) -> bool {
        let Some(line) = self.lines.peek_text() else { return true };
        if line.is_key() && line.key() == end {
            self.lines.take();
            return true;
        }
        section_of(line.text).is_some() || is_version(line)
    }

    fn test_setup(&mut self) -> Result<(), Refusal> {
        while !self.ends("end test setup") {
            let Some(line) = self.lines.take_text() else { break };
            let key = line.key();
            let value = self.lines.value();
            match key.as_str() {
                "test description" => self.config.setup.description = value.text.into(),
                "run time" => self.config.setup.run_s = Some(self.run_time(value)?),
                _ if key.starts_with("ramp up time") => {
                    self.config.setup.ramp_s = self.numbers::<1>(value, "a number of seconds")?[0];
                }
                "default workers to spawn"
                | "default disk workers to spawn"
                | "default network workers to spawn" => {}
                "record results" => self.config.setup.record = self.one_of(value, &Record::ALL)?,
                "worker cycling" => self.config.setup.workers = self.cycle(value, false)?,
                "disk cycling" | "target cycling" => self.config.setup.targets = self.cycle(value, false)?,
                "queue depth cycling" => self.config.setup.depth = self.cycle(value, true)?,
                "test type" => self.config.setup.test = self.one_of(value, &TestType::ALL)?,
                _ => return Err(self.lines.no_key(line, "the test setup")),
            }
        }
        self.check_cycling()
    }

    fn check_cycling(&self) -> Result<(), Refusal> {
        let Setup { workers, targets, depth, test, .. } = self.config.setup;
        let (of_workers, of_targets, of_depth) = match test {
            TestType::Normal => (false, false, false),
            TestType::CycleWorkers => (true, false, false),
            TestType::CycleWorkersAndTargets => (true, true, false),
            TestType::CycleDepth => (false, false, true),
            TestType::CycleDepthAndTargets => (false, true, true),
            _ => (false, true, false),
        };
        let usage = |what: String| Err(Refusal::usage(TOOL, what));
        for (is_used, cycle, what) in [(of_workers, workers, "workers"), (of_targets, targets, "targets")] {
            if is_used && cycle.start == 0 {
                return usage(format!(
                    "cycling begins with no {what} at all; it must begin with one at least"
                ));
            }
        }
        let grows = depth.step > u64::from(depth.exponential && depth.step != 1) || depth.step == 1;
        match of_depth && (depth.start == 0 || depth.start > depth.end || !grows) {
            true => usage(format!(
                "outstanding I/Os are cycled from {} to {} by {}, which comes to no series that ends",
                depth.start, depth.end, depth.step
            )),
            false => Ok(()),
        }
    }

    fn run_time(&self, value: Line<'_>) -> Result<u64, Refusal> {
        let [hours, minutes, seconds] = self.numbers::<3>(value, "hours, minutes and seconds")?;
        let seconds = hours
            .checked_mul(3600)
            .zip(minutes.checked_mul(60))
            .and_then(|(hours, minutes)| hours.checked_add(minutes)?.checked_add(seconds));
        // Longer than a year is a slip.
        seconds
            .filter(|seconds| *seconds <= 366 * 86_400)
            .ok_or_else(|| self.lines.wrong(value, "the run time is longer than a year"))
    }

    /// What the screen shows changes nothing that is asked.
    fn results_display(&mut self) -> Result<(), Refusal> {
        while !self.ends("end results display") {
            self.lines.take();
        }
        Ok(())
    }

    fn specs(&mut self) -> Result<(), Refusal> {
        while !self.ends("end access specifications") {
            let Some(line) = self.lines.take_text() else { break };
            let key = line.key();
            if key.starts_with("access specification name") {
                self.named_spec()?;
            } else if key.starts_with("size,") || key.starts_with("size ") {
                self.nameless_specs()?;
            } else {
                return Err(self.lines.no_key(line, "the access specifications"));
            }
        }
        Ok(())
    }

    fn named_spec(&mut self) -> Result<(), Refusal> {
        let head = self.lines.value();
        let (name, rest) = head.text.split_once(',').unwrap_or((head.text, ""));
        let name = name.trim();
        if name.is_empty() {
            return Err(self.lines.wrong(head, "the access specification has no name"));
        }
        let assignment = match fields(rest).first() {
            None => Assignment::None,
            Some(word) => self.one_of(Line { number: head.number, text: word }, &Assignment::ALL)?,
        };
        let mut lines = Vec::new();
        if self.lines.peek_text().is_some_and(|line| line.is_key() && line.key().starts_with("size")) {
            self.lines.take();
        }
        while let Some(line) = self.lines.peek_text().filter(|line| !line.is_key() && !is_version(*line)) {
            self.lines.take();
            self.spec_line(line, &mut lines)?;
        }
        let total: u32 = lines.iter().map(|line: &SpecLine| line.share).sum();
        self.check_room(head, self.config.specs.len(), "access specifications")?;
        if total != 100 {
            let what =
                format!("the lines of `{name}` make up {total}% of its requests, and must make up 100%");
            return Err(self.lines.wrong(head, what));
        }
        self.keep(Spec { name: name.into(), assignment, lines });
        Ok(())
    }

    /// Rows of before May 1998: each specification ends where its lines make up all of its requests.
    fn nameless_specs(&mut self) -> Result<(), Refusal> {
        let mut lines: Vec<SpecLine> = Vec::new();
        let mut untitled = 0;
        while let Some(row) = self.lines.peek_text().filter(|line| !line.is_key() && !is_version(*line)) {
            self.lines.take();
            self.spec_line(row, &mut lines)?;
            let total: u32 = lines.iter().map(|line| line.share).sum();
            if total < 100 {
                continue;
            }
            if total > 100 {
                let what = format!("with this line the specification makes up {total}% of its requests");
                return Err(self.lines.wrong(row, what));
            }
            self.check_room(row, self.config.specs.len(), "access specifications")?;
            let lines = std::mem::take(&mut lines);
            let name = match lines.as_slice() {
                [line] => self.unused_name(&builtin::name_of(line)),
                _ => {
                    untitled += 1;
                    format!("Untitled {untitled}")
                }
            };
            self.config.specs.push(Spec { name, assignment: Assignment::All, lines });
        }
        match lines.first() {
            None => Ok(()),
            Some(first) => {
                let at = Line { number: first.at, text: "" };
                Err(self.lines.wrong(at, "the lines that begin here do not make up 100% of the requests"))
            }
        }
    }

    fn unused_name(&self, name: &str) -> String {
        let is_used = |name: &str| self.config.specs.iter().any(|spec| spec.name == name);
        let numbered = (2..).map(|number| format!("{name} {number}"));
        std::iter::once(name.to_owned())
            .chain(numbered)
            .find(|name| !is_used(name))
            .expect("there are more numbers than specifications")
    }

    /// A specification replaces one of its name, as in Iometer.
    fn keep(&mut self, spec: Spec) {
        let known = self.config.specs.iter_mut().find(|known| known.name.eq_ignore_ascii_case(&spec.name));
        match known {
            Some(known) => *known = spec,
            None => self.config.specs.push(spec),
        }
    }

    fn spec_line(&mut self, row: Line<'_>, lines: &mut Vec<SpecLine>) -> Result<(), Refusal> {
        let columns = fields(row.text);
        if columns.len() < 4 || columns.len() > 8 {
            let what =
                "a line has the columns size, % of size, % reads, % random, delay, burst, align, reply";
            return Err(self.lines.wrong(row, what));
        }
        let number = |index: usize, default: u64| match columns.get(index) {
            None => Ok(default),
            Some(text) => text.parse::<u64>().map_err(|_| {
                self.lines.wrong(row, format!("`{text}` in column {} is not an integer", index + 1))
            }),
        };
        let per_cent = |index: usize, what: &str| match number(index, 0)? {
            part @ 0..=100 => Ok(narrow::<u32>(part)),
            part => Err(self.lines.wrong(row, format!("{part}% {what} is more than all"))),
        };
        let line = SpecLine {
            size: number(0, 0)?,
            share: per_cent(1, "of size")?,
            reads: per_cent(2, "reads")?,
            random: per_cent(3, "random")?,
            delay_ms: number(4, 0)?,
            burst: narrow::<u32>(number(5, 1)?.clamp(1, u64::from(u32::MAX))),
            align: number(6, 0)?,
            reply: number(7, 0)?,
            at: row.number,
        };
        if line.share == 0 {
            self.note(format!("line {}: 0% of the requests, left out", row.number));
            return Ok(());
        }
        check(&line).map_err(|what| self.lines.wrong(row, what))?;
        if lines.len() == MOST_LINES {
            return Err(self.lines.wrong(row, format!("a specification has at most {MOST_LINES} lines")));
        }
        lines.push(line);
        Ok(())
    }

    /// That there are not so many that a plan could not hold them.
    fn check_room(&self, line: Line<'_>, count: usize, what: &str) -> Result<(), Refusal> {
        match count > MOST_NAMES {
            true => Err(self.lines.wrong(line, format!("more than {MOST_NAMES} {what}; leave some out"))),
            false => Ok(()),
        }
    }

    fn note(&mut self, note: String) {
        // A file of nothing but such lines must not fill the screen.
        if self.config.notes.len() < 20 {
            self.config.notes.push(note);
        }
    }

    fn number(&self, value: Line<'_>, text: &str) -> Result<u64, Refusal> {
        text.parse().map_err(|_| self.lines.wrong(value, format!("`{text}` is not an integer")))
    }

    fn numbers<const COUNT: usize>(&self, value: Line<'_>, want: &str) -> Result<[u64; COUNT], Refusal> {
        let parsed: Vec<u64> =
            fields(value.text).iter().map_while(|field| field.parse().ok()).take(COUNT).collect();
        parsed.try_into().map_err(|_| self.lines.wrong(value, format!("`{}` is not {want}", value.text)))
    }

    fn switch(&self, value: Line<'_>, text: &str) -> Result<bool, Refusal> {
        match text.to_uppercase().as_str() {
            "ENABLED" | "1" => Ok(true),
            "DISABLED" | "0" | "" => Ok(false),
            _ => Err(self.lines.wrong(value, format!("`{text}` is neither ENABLED nor DISABLED"))),
        }
    }

    /// A word of `all`, or its number.
    fn one_of<T: Copy>(&self, value: Line<'_>, all: &[(&str, T)]) -> Result<T, Refusal> {
        let text = value.text.trim();
        let by_word = all.iter().find(|(word, _)| word.eq_ignore_ascii_case(text));
        let by_number = || text.parse::<usize>().ok().and_then(|number| all.get(number));
        by_word.or_else(by_number).map(|(_, meant)| *meant).ok_or_else(|| {
            let words: Vec<&str> = all.iter().map(|(word, _)| *word).collect();
            self.lines.wrong(value, format!("`{text}` is none of {}", words.join(", ")))
        })
    }

    fn cycle(&self, value: Line<'_>, has_end: bool) -> Result<Cycle, Refusal> {
        let (start, end, step, kind) = match has_end {
            true => {
                let [start, end, step] = self.numbers(value, "start, end and step")?;
                (start, end, step, fields(value.text).get(3).copied())
            }
            false => {
                let [start, step] = self.numbers(value, "start and step")?;
                (start, u64::MAX, step, fields(value.text).get(2).copied())
            }
        };
        let types = [("LINEAR", false), ("EXPONENTIAL", true)];
        let exponential = match kind {
            None => false,
            Some(word) => self.one_of(Line { number: value.number, text: word }, &types)?,
        };
        Ok(Cycle { start, end, step, exponential })
    }
}

fn is_version(line: Line<'_>) -> bool {
    let text = line.text.trim_start_matches('\'');
    let mut words = text.split_whitespace();
    words.next().is_some_and(|word| word.eq_ignore_ascii_case("version"))
        && words.next().is_none_or(|word| word.starts_with(|c: char| c.is_ascii_digit()))
        && words.next().is_none()
}

/// The most access specifications and workers, and the most of them and of targets that all workers together are given.
const MOST_NAMES: usize = 4096;
/// Iometer takes no more lines.
const MOST_LINES: usize = 100;
/// Bytes of a sector.
const SECTOR: u64 = 512;
/// The longest pause before a burst.
const DELAY_MOST_MS: u64 = 86_400_000;
/// The longest request, and the coarsest alignment.
const MOST_BYTES: u64 = 1 << 30;
/// The most outstanding I/Os.
const MOST_DEPTH: u32 = 65_536;

/// What of a line no disk can do.
fn check(line: &SpecLine) -> Result<(), String> {
    if line.size == 0 || line.size > MOST_BYTES || line.align > MOST_BYTES {
        let what = format!(
            "a request of {} bytes at a multiple of {}: from 1 byte to 1 GiB are read",
            line.size, line.align
        );
        return Err(what);
    }
    // Iometer asks past the system's cache, as its disk workers do.
    if !line.size.is_multiple_of(SECTOR) || !line.align.is_multiple_of(SECTOR) {
        let what = format!(
            "a request of {} bytes at a multiple of {}: a disk has sectors of {SECTOR} bytes, of which both are multiples",
            line.size, line.align
        );
        return Err(what);
    }
    if line.delay_ms > DELAY_MOST_MS {
        let what = format!("a delay of {} ms is longer than a day", line.delay_ms);
        return Err(what);
    }
    if line.reply > 0 {
        let what = format!(
            "a reply of {} bytes is an answer over a network; storage has no replies: set it to 0",
            line.reply
        );
        return Err(what);
    }
    Ok(())
}
