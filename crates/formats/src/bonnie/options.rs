//! Bonnie++'s options, every letter of both versions.

use units::convert::narrow;

use super::{CHUNK, Generation, SEEKS, usage};
use crate::Refusal;

/// What one call asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Request {
    /// A test.
    Test(Box<Command>),
    /// `-p N`: semaphores for so many copies.
    Semaphores(u32),
    /// `-p -1`: no more semaphores.
    NoSemaphores,
}

/// How much is written and read a character at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Chars {
    /// Nothing.
    Skip,
    /// So many MiB.
    Mib(u64),
    /// All of the file.
    All,
}

/// `-n`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileTest {
    /// In units of 1024 files.
    pub thousands: u32,
    /// The largest file.
    pub max: u64,
    /// The smallest file.
    pub min: u64,
    /// Directories that they are spread over; 0: all in one.
    pub dirs: u32,
}

/// A test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command {
    /// Whose words and output they are.
    pub generation: Generation,
    /// Where, `-d`.
    pub directory: String,
    /// Size of the file of each copy in MiB; `None`: by memory. Zero: no such tests.
    pub size_mib: Option<u64>,
    /// Bytes of a block.
    pub chunk: u32,
    /// Seeks of each copy.
    pub seeks: u32,
    /// Processes that seek, of each copy.
    pub seekers: u32,
    /// Characters.
    pub chars: Chars,
    /// Small files; `None`: no such tests.
    pub files: Option<FileTest>,
    /// `-m`.
    pub name: Option<String>,
    /// `-r` in MiB.
    pub ram_mib: Option<u64>,
    /// `-x`.
    pub runs: Option<u32>,
    /// `-q`.
    pub quiet: bool,
    /// `-b`.
    pub sync_each: bool,
    /// `-D`.
    pub direct: bool,
    /// `-c`.
    pub copies: u32,
    /// `-z`.
    pub seed: Option<u32>,
    /// `-y`: starts each test together with others.
    pub together: bool,
    /// What was understood but changes nothing.
    pub notes: Vec<String>,
}

impl Command {
    fn new(generation: Generation) -> Command {
        Command {
            generation,
            directory: ".".into(),
            size_mib: None,
            chunk: CHUNK,
            seeks: SEEKS,
            seekers: generation.seekers(),
            chars: match generation {
                Generation::V103 => Chars::All,
                Generation::V200 => Chars::Mib(3),
            },
            files: Some(FileTest { thousands: 16, max: 0, min: 0, dirs: 0 }),
            name: None,
            ram_mib: None,
            runs: None,
            quiet: false,
            sync_each: false,
            direct: false,
            copies: 1,
            seed: None,
            together: false,
            notes: Vec::new(),
        }
    }
}

impl Request {
    /// Reads the arguments after the tool's name.
    pub fn parse(generation: Generation, arguments: &[String]) -> Result<Request, Refusal> {
        let mut reader = Reader { generation, command: Command::new(generation), semaphores: None };
        let mut words = arguments.iter();
        while let Some(word) = words.next() {
            let Some(letters) = word.strip_prefix('-').filter(|letters| !letters.is_empty()) else {
                return Err(usage(
                    generation,
                    format!("`{word}` is no option; a directory is named with `-d`"),
                ));
            };
            if word.starts_with("--") {
                return Err(reader.unknown(word));
            }
            reader.word(letters, &mut words)?;
        }
        if reader.command.size_mib == Some(0) && reader.command.files.is_none() {
            return Err(usage(generation, "`-s 0` and `-n 0` leave nothing to test"));
        }
        Ok(match reader.semaphores {
            Some(Some(copies)) => Request::Semaphores(copies),
            Some(None) => Request::NoSemaphores,
            None => Request::Test(Box::new(reader.command)),
        })
    }
}

struct Reader {
    generation: Generation,
    command: Command,
    semaphores: Option<Option<u32>>,
}

impl Reader {
    /// Letters of one word, as getopt takes them.
    fn word<'a>(
        &mut self,
        letters: &str,
        words: &mut impl Iterator<Item = &'a String>,
    ) -> Result<(), Refusal> {
        for (at, letter) in letters.char_indices() {
            let attached = &letters[at + letter.len_utf8()..];
            if self.switch(letter) {
                continue;
            }
            let is_new = self.generation == Generation::V200;
            if letter == 'f' && is_new {
                // Only a value that is attached is one: `-f1`.
                self.command.chars = match attached {
                    "" => Chars::Skip,
                    mib => Chars::Mib(self.amount('f', mib, 1, &[('m', 1), ('g', 1024)])?),
                };
                return Ok(());
            }
            let wants = if is_new { "cdgmnprsuxyzZ" } else { "dgmnprsux" };
            if !wants.contains(letter) {
                return Err(self.unknown(&format!("-{letter}")));
            }
            let value = match attached {
                "" => words.next().map(String::as_str),
                attached => Some(attached),
            };
            let Some(value) = value else {
                return Err(usage(self.generation, format!("`-{letter}` wants a value")));
            };
            return self.value(letter, value);
        }
        Ok(())
    }

    fn switch(&mut self, letter: char) -> bool {
        let is_new = self.generation == Generation::V200;
        let command = &mut self.command;
        match letter {
            'q' => command.quiet = true,
            'b' => command.sync_each = true,
            'D' => command.direct = true,
            'f' if !is_new => command.chars = Chars::Skip,
            'y' if !is_new => command.together = true,
            _ => return false,
        }
        true
    }

    fn value(&mut self, letter: char, value: &str) -> Result<(), Refusal> {
        match letter {
            'd' => self.command.directory = value.into(),
            'm' => self.command.name = Some(value.into()),
            's' => self.sizes(value)?,
            'n' => self.files(value)?,
            'r' => self.command.ram_mib = Some(self.amount('r', value, 0, &[('m', 1), ('g', 1024)])?),
            'x' => self.command.runs = Some(self.count('x', value, 1, 1 << 20)?),
            'c' => self.command.copies = self.count('c', value, 1, 200)?,
            'z' => self.command.seed = Some(self.count('z', value, 0, u32::MAX)?),
            'p' if value == "-1" => self.semaphores = Some(None),
            'p' => self.semaphores = Some(Some(self.count('p', value, 1, 1 << 14)?)),
            'y' => match value {
                "s" => self.command.together = true,
                "p" => {
                    return Err(self.unsupported(
                        "-y p",
                        "nobody is asked before a test; `-y s` starts copies together by semaphores",
                    ));
                }
                _ => return Err(self.wrong('y', value, "`s`, with semaphores that `-p` has made")),
            },
            'Z' => {
                return Err(self.unsupported(
                    "-Z",
                    "random numbers follow from a seed; `-z NUMBER` repeats a test, and `fathom run` with \
                     `content = \"random\"` writes what does not compress",
                ));
            }
            'u' | 'g' => {
                let user = value.split(':').next().unwrap_or_default();
                if !["root", "0"].contains(&user) {
                    self.command.notes.push(format!(
                        "`-{letter} {value}`: it works as the user who called it; \
                         `sudo -u USER fathom as {} ...` works as another",
                        self.generation.tool()
                    ));
                }
            }
            _ => return Err(self.unknown(&format!("-{letter}"))),
        }
        Ok(())
    }

    /// `-s size[:chunk[:seeks[:seekers]]]`
    fn sizes(&mut self, value: &str) -> Result<(), Refusal> {
        let mut parts = value.split(':');
        let size = parts.next().unwrap_or_default();
        self.command.size_mib = Some(self.amount('s', size, 0, &[('m', 1), ('g', 1024)])?);
        if let Some(text) = parts.next().filter(|text| !text.is_empty()) {
            let chunk = self.amount('s', text, 1, &[('k', 1024), ('m', 1 << 20)])?;
            if !chunk.is_power_of_two() || !(256..=1 << 20).contains(&chunk) {
                return Err(self.wrong('s', value, "a chunk is a power of two from 256 to 1048576 bytes"));
            }
            self.command.chunk = narrow::<u32>(chunk);
        }
        let is_new = self.generation == Generation::V200;
        if let Some(text) = parts.next().filter(|text| is_new && !text.is_empty()) {
            self.command.seeks = self.count('s', text, 1, 1 << 30)?;
        }
        if let Some(text) = parts.next().filter(|text| is_new && !text.is_empty()) {
            self.command.seekers = self.count('s', text, 1, 1024)?;
        }
        match (parts.next(), is_new || value.matches(':').count() < 2) {
            (None, true) => Ok(()),
            (_, true) => Err(self.wrong('s', value, "SIZE[:CHUNK[:SEEKS[:SEEKERS]]]")),
            (_, false) => Err(self.wrong('s', value, "SIZE[:CHUNK]; seeks can be chosen with bonnie++ 2.00")),
        }
    }

    /// `-n number[:max[:min][:dirs[:chunk]]]`
    fn files(&mut self, value: &str) -> Result<(), Refusal> {
        const UNITS: &[(char, u64)] = &[('k', 1024), ('m', 1 << 20), ('g', 1 << 30)];
        let parts: Vec<&str> = value.split(':').collect();
        let most = if self.generation == Generation::V200 { 5 } else { 4 };
        if parts.len() > most {
            return Err(self.wrong(
                'n',
                value,
                "NUMBER[:MAX[:MIN[:DIRECTORIES]]], the number in units of 1024",
            ));
        }
        let thousands = self.count('n', parts[0], 0, 1 << 16)?;
        let max = match parts.get(1).copied().unwrap_or("0") {
            "-1" | "-2" => {
                return Err(self.unsupported(
                    &format!("-n {value}"),
                    "files are made, not links; a plan with `tree = \"link\"` or `tree = \"symlink\"` makes those",
                ));
            }
            text => self.amount('n', text, 0, UNITS)?,
        };
        let min = parts.get(2).map_or(Ok(0), |text| self.amount('n', text, 0, UNITS))?;
        let dirs = parts.get(3).map_or(Ok(0), |text| self.count('n', text, 0, 99_999))?;
        if max > 1 << 30 || min > max {
            return Err(self.wrong('n', value, "sizes up to 1g, the largest before the smallest"));
        }
        if let Some(text) = parts.get(4)
            && self.amount('n', text, 1, UNITS)? < max
        {
            let why = "small files are written with one call each; leave the last number out";
            return Err(self.unsupported(&format!("-n {value}"), why));
        }
        self.command.files = (thousands > 0).then_some(FileTest { thousands, max, min, dirs });
        Ok(())
    }

    fn count(&self, letter: char, text: &str, least: u32, most: u32) -> Result<u32, Refusal> {
        let number = text.parse().ok().filter(|number| (least..=most).contains(number));
        number.ok_or_else(|| self.wrong(letter, text, &format!("a number from {least} to {most}")))
    }

    /// A number with one of the letters of `units`, in either case.
    fn amount(&self, letter: char, text: &str, least: u64, units: &[(char, u64)]) -> Result<u64, Refusal> {
        let unit = text.chars().last().map(|last| last.to_ascii_lowercase());
        let unit = units.iter().find(|(letter, _)| Some(*letter) == unit);
        let digits = if unit.is_some() { &text[..text.len() - 1] } else { text };
        let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        let amount = digits.parse::<u64>().ok().filter(|_| is_number);
        let amount = amount.and_then(|number| number.checked_mul(unit.map_or(1, |(_, factor)| *factor)));
        amount.filter(|amount| (least..=1 << 40).contains(amount)).ok_or_else(|| {
            let letters: String = units.iter().map(|(letter, _)| *letter).collect();
            self.wrong(
                letter,
                text,
                &format!("a number of at least {least}, perhaps with one of `{letters}`"),
            )
        })
    }

    fn wrong(&self, letter: char, value: &str, want: &str) -> Refusal {
        let option = format!("-{letter}");
        Refusal::Value { tool: self.generation.tool(), option, value: value.into(), want: want.into() }
    }

    fn unsupported(&self, option: &str, why: &str) -> Refusal {
        Refusal::Unsupported { tool: self.generation.tool(), option: option.into(), why: why.into() }
    }

    fn unknown(&self, option: &str) -> Refusal {
        let is_new_only = self.generation == Generation::V103 && ["-c", "-z", "-Z"].contains(&option);
        match is_new_only {
            true => self.unsupported(option, "version 1.03 has no such option; `fathom as bonnie++` is 2.00"),
            false => Refusal::unknown(self.generation.tool(), option, &[]),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn asked(generation: Generation, line: &str) -> Result<Request, Refusal> {
        Request::parse(generation, &line.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
    }

    fn command(generation: Generation, line: &str) -> Command {
        match asked(generation, line) {
            Ok(Request::Test(command)) => *command,
            other => panic!("{line}: {other:?}"),
        }
    }

    #[test]
    fn options_are_read_as_getopt_reads_them() {
        let command = command(
            Generation::V200,
            "-qbD -d /mnt -s2g:128k:100:2 -n 4:16384:512:10 -m host -r 512 -x2 -u root -c 3 -z 7 -f",
        );
        assert_eq!((command.quiet, command.sync_each, command.direct), (true, true, true));
        assert_eq!((command.directory.as_str(), command.size_mib), ("/mnt", Some(2048)));
        assert_eq!((command.chunk, command.seeks, command.seekers), (128 << 10, 100, 2));
        assert_eq!(command.files, Some(FileTest { thousands: 4, max: 16384, min: 512, dirs: 10 }));
        assert_eq!((command.runs, command.copies, command.seed), (Some(2), 3, Some(7)));
        assert_eq!((command.chars, command.notes.len()), (Chars::Skip, 0));
    }

    #[test]
    fn the_versions_differ_where_they_did() {
        assert_eq!(command(Generation::V103, "-fy -n 0").chars, Chars::Skip);
        assert!(command(Generation::V103, "-y").together);
        assert!(command(Generation::V200, "-y s").together);
        assert!(command(Generation::V200, "-ys").together);
        assert_eq!(command(Generation::V200, "-f1").chars, Chars::Mib(1));
        assert_eq!(command(Generation::V200, "").chars, Chars::Mib(3));
        assert!(asked(Generation::V200, "-f 1").is_err(), "as in the original, only `-f1` has a value");
        assert_eq!((command(Generation::V103, "").seekers, command(Generation::V200, "").seekers), (3, 5));
        assert!(asked(Generation::V103, "-c 2").is_err());
        assert_eq!(asked(Generation::V200, "-u root -p 3"), Ok(Request::Semaphores(3)));
        assert_eq!(asked(Generation::V103, "-p -1"), Ok(Request::NoSemaphores));
        assert_eq!(command(Generation::V200, "-u nobody").notes.len(), 1);
    }

    #[test]
    fn what_is_not_supported_is_refused_by_name() {
        for (line, words) in [
            ("-n 1:-1", "tree = \"link\""),
            ("-n 1:65536:0:1:4096", "one call"),
            ("-Z /dev/urandom", "-z NUMBER"),
            ("-y p", "-y s"),
            ("-s 10:1000", "power of two"),
            ("-s many", "-s"),
            ("-s 0 -n 0", "nothing to test"),
            ("-x 0", "-x"),
            ("-k", "-k"),
            ("--size 10", "--size"),
            ("/mnt", "-d"),
            ("-d", "wants a value"),
        ] {
            let refusal = asked(Generation::V200, line).expect_err(line).to_string();
            assert!(refusal.contains(words), "{line}: {refusal}");
        }
    }

    proptest! {
        #[test]
        fn no_words_make_it_panic(words in proptest::collection::vec("-?[a-zA-Z0-9:é-]{0,9}", 0..5), new in any::<bool>()) {
            let generation = if new { Generation::V200 } else { Generation::V103 };
            let _either = Request::parse(generation, &words);
        }
    }
}
