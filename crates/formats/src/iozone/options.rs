//! IOzone's options.
//!
//! Letters as its documentation lists them: each is supported, accepted because it changes no request, or refused by
//! name.

use super::figure::Unit;
use super::grid::Grid;
use super::telemetry::Telemetry;
use super::{TESTS_MAX, TOOL};
use units::convert::narrow;
use workload::plan::MOST_WORKLOADS;
use workload::plan::text::LARGEST_REQUEST;

use crate::Refusal;

/// No request of a plan is longer.
const RECORD_MOST_KIB: u64 = LARGEST_REQUEST.get() >> 10;
/// No file is larger.
const FILE_MOST_KIB: u64 = (i64::MAX as u64) >> 10;
/// A phase has no more workloads.
#[expect(clippy::cast_possible_truncation, reason = "a constant, which converts by `as`: 64")]
pub(super) const CHILDREN_MOST: u32 = MOST_WORKLOADS as u32;

const WITH_VALUE: &str = "bdfgHiJjklLnPqrsStuUVXY";
const OPTIONS: &[&str] = &[
    "-a", "-A", "-b", "-B", "-c", "-C", "-e", "-f", "-F", "-g", "-H", "-i", "-I", "-j", "-k", "-l", "-L",
    "-m", "-M", "-n", "-N", "-o", "-O", "-p", "-P", "-q", "-Q", "-r", "-R", "-s", "-S", "-t", "-T", "-u",
    "-U", "-V", "-w", "-x", "-X", "-y", "-Y", "-z", "-+D", "-+n", "-+N", "-+p", "-+q", "-+x",
];

/// Flush or close within the timed part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Included {
    /// `-e`.
    pub flush: bool,
    /// `-c`.
    pub close: bool,
}

/// A command line of IOzone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Command {
    /// As typed.
    pub words: Vec<String>,
    /// Sizes.
    pub grid: Grid,
    /// Numbers of the tests that were selected; empty for all.
    pub tests: Vec<u8>,
    /// `-f`.
    pub file: Option<String>,
    /// `-F`.
    pub files: Vec<String>,
    /// How many children the throughput tests have, one test after the other; empty for a single stream.
    pub children: Vec<u32>,
    /// `-T`.
    pub threads: bool,
    /// `-C`.
    pub shows_children: bool,
    /// `-x`: who is finished does not stop the others.
    pub no_stonewall: bool,
    /// `-I`.
    pub direct: bool,
    /// `-o`: `sync`; `-+D`: `dsync`.
    pub sync: Option<&'static str>,
    /// `-e` and `-c`.
    pub included: Included,
    /// `-B`.
    pub mapped: bool,
    /// `-k` and `-H`: requests in flight.
    pub depth: Option<u32>,
    /// `-V`: the byte that is written, and that everything read must be.
    pub pattern: Option<u8>,
    /// `-Q`: offset and latency of each record of the write and read passes go to files.
    pub latencies: bool,
    /// `-X`: what the write passes ask for.
    pub write_telemetry: Option<Telemetry>,
    /// `-Y`: what the read passes ask for.
    pub read_telemetry: Option<Telemetry>,
    /// `-w`.
    pub keep: bool,
    /// `-+n`.
    pub no_retest: bool,
    /// `-+N`: a file is written where it is instead of anew.
    pub keeps_old: bool,
    /// `-U`: the page cache forgets the file before each pass.
    pub forgets: bool,
    /// `-+q`: seconds before each pass.
    pub pause_s: u64,
    /// `-j`: records from one to the next of a stride.
    pub stride: u64,
    /// `-+p`: percent of the children that read in the mixed workload.
    pub mixed_readers: Option<u32>,
    /// `-P`: the first processor.
    pub first_cpu: Option<u32>,
    /// `-O` and `-N`.
    pub unit: Unit,
    /// `-R`.
    pub excel: bool,
    /// `-b`.
    pub workbook: Option<String>,
    /// `-S` and `-L`, which are only printed.
    pub cache: (u64, u64),
    /// One line for each option that IOzone announces.
    pub announced: Vec<String>,
    /// What was understood but changes nothing.
    pub notes: Vec<String>,
}

impl Command {
    /// Reads the arguments after the tool's name.
    pub fn parse(arguments: &[String]) -> Result<Command, Refusal> {
        let mut draft = Draft {
            command: Command {
                words: arguments.to_vec(),
                stride: 17,
                cache: (1024, 32),
                ..Command::default()
            },
            least: None,
            most: None,
            sizes_given: false,
        };
        let mut words = Words { words: arguments, at: 0 };
        if arguments.is_empty() {
            let what = "nothing was asked; `fathom as iozone -a` measures the automatic grid, `-s 1g -r 64k` one size";
            return Err(usage(what));
        }
        while let Some(word) = words.next() {
            draft.word(word, &mut words)?;
        }
        draft.finish()
    }

    /// Whether the tests of that number were selected.
    pub fn selects(&self, test: u8) -> bool {
        match &self.tests[..] {
            // Tests 9 to 12 are an extension and have to be asked for.
            [] => test < 8 || !self.children.is_empty() && matches!(test, 8..=10),
            tests => tests.contains(&test),
        }
    }
}

struct Words<'a> {
    words: &'a [String],
    at: usize,
}

impl<'a> Words<'a> {
    fn next(&mut self) -> Option<&'a str> {
        let word = self.words.get(self.at)?;
        self.at += 1;
        Some(word)
    }

    fn next_name(&mut self) -> Option<&'a str> {
        let is_name = self.words.get(self.at).is_some_and(|word| !word.starts_with('-'));
        if is_name { self.next() } else { None }
    }

    /// What an option takes: the rest of its own word, or the next one.
    fn value(&mut self, option: &str, rest: &'a str) -> Result<&'a str, Refusal> {
        match rest {
            "" => self.next().ok_or_else(|| usage(&format!("`{option}` wants a value"))),
            rest => Ok(rest),
        }
    }
}

struct Draft {
    command: Command,
    /// `-l` and `-u`.
    least: Option<u32>,
    most: Option<u32>,
    /// Record sizes of the user's own.
    sizes_given: bool,
}

impl Draft {
    fn word<'a>(&mut self, word: &'a str, words: &mut Words<'a>) -> Result<(), Refusal> {
        let Some(letters) = word.strip_prefix('-').filter(|letters| !letters.is_empty()) else {
            return Err(usage(&format!("`{word}` stands alone; name a file with `-f {word}`")));
        };
        let mut rest = letters;
        while let Some(letter) = rest.chars().next() {
            rest = &rest[letter.len_utf8()..];
            if letter == '+' {
                return self.plus(rest, words);
            }
            let option = format!("-{letter}");
            if WITH_VALUE.contains(letter) {
                let value = words.value(&option, rest)?;
                return self.with_value(letter, &option, value);
            }
            if letter == 'F' {
                return self.names(rest, words);
            }
            self.switch(letter, word)?;
        }
        Ok(())
    }

    fn names<'a>(&mut self, rest: &'a str, words: &mut Words<'a>) -> Result<(), Refusal> {
        let files = &mut self.command.files;
        files.extend(Some(rest).filter(|rest| !rest.is_empty()).map(str::to_owned));
        while let Some(name) = words.next_name() {
            files.push(name.into());
        }
        if files.is_empty() {
            Err(usage("`-F` wants the names of files, one for each child"))
        } else {
            Ok(())
        }
    }

    fn switch(&mut self, letter: char, word: &str) -> Result<(), Refusal> {
        let command = &mut self.command;
        match letter {
            'a' => {
                command.grid.auto = true;
                self.announce("Auto Mode");
            }
            'A' => {
                command.grid.auto = true;
                command.grid.crossover = false;
                command.tests.extend([0, 1]);
                self.announce("Auto Mode 2. This option is obsolete. Use -az -i0 -i1");
            }
            'B' => {
                command.mapped = true;
                self.announce("Using mmap files");
            }
            'c' => {
                command.included.close = true;
                self.announce("Include close in write timing");
            }
            'C' => {
                command.shows_children = true;
                self.announce("Show bytes transferred by each child in throughput testing");
            }
            'e' => {
                command.included.flush = true;
                self.announce("Include fsync in write timing");
            }
            'E' => command.tests.extend([9, 10, 11, 12]),
            'I' => {
                command.direct = true;
                self.announce("O_DIRECT feature enabled");
            }
            'm' => self.note("`-m`: each request in flight has a buffer of its own in any case"),
            'M' => {
                self.note("`-M`: what machine this is stands in the record; see `fathom show last`");
            }
            'N' => {
                command.unit = Unit::Microseconds;
                self.announce(Unit::Microseconds.sentence());
            }
            'o' => {
                command.sync = Some("sync");
                self.announce("SYNC Mode. ");
            }
            'O' => {
                command.unit = Unit::Operations;
                self.announce(Unit::Operations.sentence());
            }
            'p' => self.note("`-p`: caches of the processor are left as they are; it concerns no request"),
            'R' => {
                command.excel = true;
                self.announce("Excel chart generation enabled");
            }
            'T' => command.threads = true,
            'w' => {
                command.keep = true;
                self.announce("Setting no_unlink");
            }
            'x' => {
                command.no_stonewall = true;
                self.announce("Stonewall disabled");
            }
            'z' => {
                command.grid.crossover = false;
                self.announce("Cross over of record size disabled.");
            }
            'D' | 'G' => {
                return Err(unsupported(letter, "a mapping is not flushed by ranges; `-e` comes nearest"));
            }
            'K' => {
                return Err(unsupported(letter, "no random jitter among the reads; `-i 2` reads at random"));
            }
            'Q' => {
                command.latencies = true;
                self.announce("Offset/latency files enabled.");
            }
            'W' => return Err(unsupported(letter, "files are not locked; leave it out")),
            'Z' => return Err(unsupported(letter, "mapping and calls are not mixed; `-B` maps")),
            'h' | 'v' => {
                return Err(unsupported(letter, "`fathom as iozone` measures; see the guide, Classic tools"));
            }
            _ => return Err(Refusal::unknown(TOOL, word, OPTIONS)),
        }
        Ok(())
    }

    fn with_value(&mut self, letter: char, option: &str, value: &str) -> Result<(), Refusal> {
        let command = &mut self.command;
        match letter {
            'b' => command.workbook = Some(value.into()),
            'f' => command.file = Some(value.into()),
            'g' => {
                command.grid.files.max_kib = file_size(option, value)?;
                let kib = command.grid.files.max_kib;
                self.announce(&format!("Using maximum file size of {kib} kilobytes."));
            }
            'n' => {
                command.grid.files.min_kib = file_size(option, value)?;
                let kib = command.grid.files.min_kib;
                self.announce(&format!("Using minimum file size of {kib} kilobytes."));
            }
            'y' => {
                let kib = record_size(option, value)?;
                command.grid.records.min_kib = kib;
                self.sizes_given = true;
                self.announce(&format!("Using Minimum Record Size {kib} kB"));
            }
            'q' => {
                let kib = record_size(option, value)?;
                command.grid.records.max_kib = kib;
                self.sizes_given = true;
                self.announce(&format!("Using Maximum Record Size {kib} kB"));
            }
            'r' => {
                let kib = record_size(option, value)?;
                command.grid.only_records.push(kib);
                self.sizes_given = true;
                self.announce(&format!("Record Size {kib} kB"));
            }
            's' => {
                let kib = file_size(option, value)?;
                command.grid.only_files.push(kib);
                self.sizes_given = true;
                self.announce(&format!("File size set to {kib} kB"));
            }
            'i' => command.tests.push(narrow::<u8>(count(option, value, 0..=TESTS_MAX.into())?)),
            'k' | 'H' => {
                let depth = count(option, value, 1..=4096)?;
                command.depth = Some(depth);
                let copies = if letter == 'k' { "no bcopy" } else { "with bcopy" };
                self.announce(&format!("POSIX Async I/O ({copies}). Depth {depth} "));
                if letter == 'H' {
                    self.note("`-H`: nothing is copied beside the request, as with `-k`");
                }
            }
            'j' => command.stride = count(option, value, 1..=1 << 20)?.into(),
            'l' => self.least = Some(count(option, value, 1..=CHILDREN_MOST)?),
            'u' => self.most = Some(count(option, value, 1..=CHILDREN_MOST)?),
            't' => command.children.push(count(option, value, 1..=CHILDREN_MOST)?),
            'P' => command.first_cpu = Some(count(option, value, 0..=4095)?),
            'S' => command.cache.0 = count(option, value, 0..=u32::MAX)?.into(),
            'L' => command.cache.1 = count(option, value, 0..=u32::MAX)?.into(),
            'U' => {
                command.forgets = true;
                self.note("`-U`: nothing is unmounted; the page cache forgets the file before each pass");
            }
            'd' => return Err(unsupported(letter, "children begin together; `-+q` waits before each test")),
            'J' => {
                return Err(unsupported(
                    letter,
                    "nothing is computed; the plan key `pace = \"think(5ms)\"` waits",
                ));
            }
            'V' => {
                let pattern = narrow::<u8>(count(option, value, 1..=255)?);
                command.pattern = Some(pattern);
                self.announce(&format!("Verify Mode. Pattern {pattern:x}"));
                self.announce("Performance measurements are invalid in this mode.");
            }
            'X' => {
                command.write_telemetry = Some(Telemetry { file: value.into(), reach: 0 });
                self.announce(&format!("Using write telemetry file \"{value}\""));
            }
            'Y' => {
                command.read_telemetry = Some(Telemetry { file: value.into(), reach: 0 });
                self.announce(&format!("Using read telemetry file \"{value}\""));
            }
            _ => return Err(Refusal::unknown(TOOL, option, OPTIONS)),
        }
        Ok(())
    }

    fn plus<'a>(&mut self, letters: &'a str, words: &mut Words<'a>) -> Result<(), Refusal> {
        let letter = letters.chars().next().ok_or_else(|| usage("`-+` wants a letter"))?;
        let option = format!("-+{letter}");
        let rest = &letters[letter.len_utf8()..];
        let command = &mut self.command;
        let why = match letter {
            'D' => {
                command.sync = command.sync.or(Some("dsync"));
                self.announce("DSYNC Mode. ");
                return Ok(());
            }
            'n' => {
                command.no_retest = true;
                self.announce("No retest option selected");
                return Ok(());
            }
            'N' => {
                command.keeps_old = true;
                return Ok(());
            }
            'p' => {
                command.mixed_readers = Some(count(&option, words.value(&option, rest)?, 0..=100)?);
                let percent = command.mixed_readers.unwrap_or_default();
                self.announce(&format!("Percent read in mix test is {percent}"));
                return Ok(());
            }
            'q' => {
                command.pause_s = count(&option, words.value(&option, rest)?, 0..=86_400)?.into();
                let seconds = command.pause_s;
                self.announce(&format!("Delay {seconds} seconds between tests enabled."));
                return Ok(());
            }
            'x' => {
                command.grid.factor = count(&option, words.value(&option, rest)?, 2..=1 << 20)?.into();
                return Ok(());
            }
            'm' | 'c' | 's' | 'h' => "one machine measures; run `fathom` on each and compare the records",
            'u' => "processor time of each point is in the record; see `fathom show last`",
            'z' | 'H' | 'P' => "the record has the histogram of all requests; see `fathom show last`",
            'd' | 'e' | 'V' => "what was read is not compared; leave it out",
            'w' | 'y' | 'C' | 'W' => {
                "the plan keys `dedupe` and `compress` say how far what is written repeats"
            }
            'A' => "no advice is given on a mapping; leave it out",
            'r' => "no O_RSYNC; `-o` writes with O_SYNC",
            'B' => "the sequential mixed workload is not there; `-i 8` mixes random ones",
            'X' | 'Z' => "what the reads find is not shared or made constant; leave it out",
            'a' | 'E' | 'F' | 'J' | 'k' | 'K' | 'l' | 'L' | 'M' | 'Q' | 'R' | 'S' | 't' | 'T' => {
                "it has no counterpart here; leave it out"
            }
            _ => return Err(Refusal::unknown(TOOL, &option, OPTIONS)),
        };
        Err(Refusal::Unsupported { tool: TOOL, option, why: why.into() })
    }

    fn announce(&mut self, line: &str) {
        self.command.announced.push(line.into());
    }

    fn note(&mut self, text: &str) {
        self.command.notes.push(text.into());
    }

    fn finish(mut self) -> Result<Command, Refusal> {
        match (self.least, self.most) {
            (None, None) => {}
            (Some(least), Some(most)) if least <= most => {
                self.announce(&format!("Min process = {least} "));
                self.announce(&format!("Max process = {most} "));
                self.command.children.extend(least..=most);
            }
            (Some(least), Some(most)) => {
                return Err(usage(&format!("`-l {least}` is more than `-u {most}`")));
            }
            _ => return Err(usage("`-l` and `-u` go together: from how many children to how many")),
        }
        let command = &mut self.command;
        command.grid.crossover &= !self.sizes_given;
        if command.mapped && command.direct {
            return Err(usage(
                "a mapping (`-B`) always goes through the page cache, so that `-I` contradicts it",
            ));
        }
        if command.mapped && command.depth.is_some() {
            return Err(usage(
                "a mapping (`-B`) answers one request at a time, so that `-k` and `-H` contradict it",
            ));
        }
        if command.children.is_empty() {
            self.check_single()?;
        } else {
            self.check_throughput()?;
        }
        Ok(self.command)
    }

    fn check_single(&self) -> Result<(), Refusal> {
        let command = &self.command;
        let follows = command.telemetry().next().is_some();
        if follows && (command.mapped || command.pattern.is_some() || command.depth.is_some()) {
            return Err(usage(
                "telemetry (`-X`, `-Y`) is asked with plain reads and writes; leave `-B`, `-V`, `-k` and `-H` out",
            ));
        }
        if !command.files.is_empty() {
            return Err(usage(
                "`-F` names the files of the children that `-t` asks for; one file is named with `-f`",
            ));
        }
        if command.tests == [8] {
            return Err(usage(
                "test 8, the mixed workload, is one of several children; ask for them with `-t`",
            ));
        }
        if let (Some(file), Some(record)) =
            (command.grid.file_sizes().iter().max(), command.grid.record_sizes().iter().min())
            && record > file
        {
            return Err(usage(&format!("no file of {file} kB holds a record of {record} kB")));
        }
        if command.grid.pairs().is_empty() {
            return Err(usage("there is no size between the least and the most that was asked for"));
        }
        Ok(())
    }

    fn check_throughput(&self) -> Result<(), Refusal> {
        let command = &self.command;
        let single = [
            ('Q', command.latencies),
            ('X', command.write_telemetry.is_some()),
            ('Y', command.read_telemetry.is_some()),
        ];
        if let Some((letter, _)) = single.into_iter().find(|(_, given)| *given) {
            return Err(unsupported(
                letter,
                "it is supported of a single stream; leave `-t`, `-l` and `-u` out",
            ));
        }
        if command.grid.auto {
            return Err(usage("`-a` measures one stream and `-t` several; ask for one of them"));
        }
        let [_] = command.grid.pairs()[..] else {
            return Err(usage("the throughput test has one `-s` and one `-r`, which fits into it"));
        };
        let most = command.children.iter().copied().max().unwrap_or_default() as usize;
        let named = command.files.len();
        if named > 0 && named < most && !command.shares_target() {
            return Err(usage(&format!("`-F` names {named} files, and there are up to {most} children")));
        }
        Ok(())
    }
}

pub(super) fn usage(what: &str) -> Refusal {
    Refusal::Usage { tool: TOOL, what: what.into() }
}

fn unsupported(letter: char, why: &str) -> Refusal {
    Refusal::Unsupported { tool: TOOL, option: format!("-{letter}"), why: why.into() }
}

fn wrong(option: &str, value: &str, want: String) -> Refusal {
    Refusal::Value { tool: TOOL, option: option.into(), value: value.into(), want }
}

fn count(option: &str, value: &str, range: std::ops::RangeInclusive<u32>) -> Result<u32, Refusal> {
    let want = || format!("a whole number from {} to {}", range.start(), range.end());
    let number = value.parse().ok().filter(|number| range.contains(number));
    number.ok_or_else(|| wrong(option, value, want()))
}

/// A size in KiB, or with `k`, `m`, `g` or `t` behind it.
fn kib(value: &str) -> Option<u64> {
    let digits = value.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
    let number: u64 = digits.parse().ok()?;
    let shift = match &value[digits.len()..] {
        "" | "k" | "K" => 0,
        "m" | "M" => 10,
        "g" | "G" => 20,
        "t" | "T" => 30,
        _ => return None,
    };
    number.checked_mul(1 << shift).filter(|kib| *kib > 0)
}

fn file_size(option: &str, value: &str) -> Result<u64, Refusal> {
    let size = kib(value).filter(|kib| *kib <= FILE_MOST_KIB);
    size.ok_or_else(|| {
        wrong(option, value, "a size in kB, or with k, m or g behind it: 64k, 512m, 4g".into())
    })
}

fn record_size(option: &str, value: &str) -> Result<u64, Refusal> {
    let size = kib(value).filter(|kib| *kib <= RECORD_MOST_KIB);
    size.ok_or_else(|| {
        wrong(option, value, "a size in kB, or with k or m behind it: 4k, 16m; less than 2g".into())
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn parse(line: &str) -> Result<Command, Refusal> {
        Command::parse(&line.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn letters_may_stand_together_and_values_in_the_same_word() {
        let command = parse("-Raz -i0 -i 1 -g4m -n 64 -f /mnt/x -+n -e").unwrap();
        assert!(command.excel && command.grid.auto && !command.grid.crossover && command.no_retest);
        assert_eq!(command.tests, [0, 1]);
        assert_eq!((command.grid.files.min_kib, command.grid.files.max_kib), (64, 4096));
        assert_eq!(command.file.as_deref(), Some("/mnt/x"));
        assert_eq!(
            command.announced,
            [
                "Excel chart generation enabled",
                "Auto Mode",
                "Cross over of record size disabled.",
                "Using maximum file size of 4096 kilobytes.",
                "Using minimum file size of 64 kilobytes.",
                "No retest option selected",
                "Include fsync in write timing"
            ]
        );
    }

    #[test]
    fn children_are_counted_and_named() {
        let command = parse("-t 2 -l 3 -u 5 -s 4m -r 64k -F a b c d e -i 0 -C -x").unwrap();
        assert_eq!(command.children, [2, 3, 4, 5]);
        assert_eq!(command.files, ["a", "b", "c", "d", "e"]);
        assert!(command.shows_children && command.no_stonewall);
        assert!(parse("-t 3 -F a b").unwrap_err().to_string().contains("names 2 files"));
        assert!(parse("-t 2 -a").unwrap_err().to_string().contains("-a"));
        assert!(parse("-l 2").is_err() && parse("-l 3 -u 2").is_err() && parse("-F a").is_err());
    }

    #[test]
    fn without_a_selection_all_tests_of_the_mode_are_made() {
        let single = parse("-a").unwrap();
        let selected: Vec<u8> = (0..=TESTS_MAX).filter(|test| single.selects(*test)).collect();
        assert_eq!(selected, [0, 1, 2, 3, 4, 5, 6, 7]);
        let several = parse("-t 2").unwrap();
        assert!(several.selects(8) && several.selects(10) && !several.selects(11));
        assert!(parse("-a -E").unwrap().selects(12));
    }

    #[test]
    fn what_is_not_supported_is_named() {
        let cases = [
            ("-a -+m hosts", "-+m"),
            ("-t 2 -Q", "-Q"),
            ("-t 2 -X trace", "-X"),
            ("-a -B -Y trace", "-B"),
            ("-a -V 0", "-V"),
            ("-a -i 13", "0 to 12"),
            ("-s 1x", "1x"),
            ("-r 4g", "less than 2g"),
            ("-n 8m -g 4m -a", "no size"),
            ("-r 64 -s 32", "64 kB"),
            ("-B -I", "-I"),
            ("-a -?", "-?"),
            ("target", "-f target"),
            ("", "-a"),
            ("-f", "wants a value"),
            ("-+", "letter"),
            ("-+$", "-+$"),
            ("-i 8", "-t"),
        ];
        for (line, word) in cases {
            let refusal = parse(line).unwrap_err().to_string();
            assert!(refusal.contains(word), "{line}: {refusal}");
        }
    }

    proptest! {
        #[test]
        fn no_words_whatever_make_the_reader_panic(words in proptest::collection::vec("[-+a-zA-Z0-9é ]{0,6}", 0..8)) {
            let _ = Command::parse(&words);
        }
    }
}
