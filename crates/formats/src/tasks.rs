//! What IOR and mdtest have in common: they are of one source, and their tasks are the processes of one launcher.

use std::marker::PhantomData;

use units::Nanos;

use crate::Refusal;
use crate::numbers::Units;
use crate::options::{Given, Opt, flag, ignored, number, one_of, unsupported};

/// The version whose options are read and whose outputs are printed.
pub(crate) const VERSION: &str = "4.1.0";

/// What is said of a file system above the figures: its size and its inodes, and how much of both is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileSystem {
    /// Its size in bytes.
    pub bytes: u64,
    /// Those that are free.
    pub free: u64,
    /// Its inodes; 0 where it makes them as it needs them.
    pub inodes: u64,
    /// Those that are free.
    pub free_inodes: u64,
}

impl FileSystem {
    /// By the names that they have in JSON.
    pub(crate) fn pairs(self) -> [(&'static str, String); 4] {
        const GIB: f64 = 1_073_741_824.0;
        let used = |free: u64, all: u64| match all {
            0 => "0.0%".to_owned(),
            _ => format!("{:.1}%", (1.0 - free as f64 / all as f64) * 100.0),
        };
        let size = match self.bytes as f64 / GIB {
            large if large > 1024.0 => format!("{:.1} TiB", large / 1024.0),
            size => format!("{size:.1} GiB"),
        };
        [
            ("Capacity", size),
            ("Used Capacity", used(self.free, self.bytes)),
            ("Inodes", format!("{:.1} Mi", self.inodes as f64 / 1_048_576.0)),
            ("Used Inodes", used(self.free_inodes, self.inodes)),
        ]
    }

    /// The line below `Path`.
    pub(crate) fn line(self) -> String {
        let [size, used, inodes, used_inodes] = self.pairs().map(|(_, value)| value);
        format!("{:<20}: {size}   Used FS: {used}   Inodes: {inodes}   Used Inodes: {used_inodes}\n", "FS")
    }
}

/// `k m g t p`, each 1024 times the one before.
pub(crate) const SIZES: Units = Units { letters: "kmgtp", base: 1024, first: 1 };

/// The most tasks: each is a worker with a thread of its own.
pub(crate) const MOST_TASKS: u32 = 1024;

/// Whatever the options in common are read into.
pub(crate) trait Tasks: 'static {
    /// `-i`.
    fn repetitions(&mut self) -> &mut u32;
}

/// The options in common, of a command line that is read into a `T`.
pub(crate) struct Common<T>(PhantomData<T>);

impl<T: Tasks> Common<T> {
    pub(crate) const OPTIONS: &'static [Opt<T>] = &[
        one_of(
            "-a",
            "the interface to storage",
            &[
                flag("POSIX", "system calls", |_| {}),
                unsupported(
                    "MPIIO HDF5 NCMPI MMAP AIO DUMMY",
                    "requests go through system calls of POSIX; a plan with `engine` has others",
                ),
            ],
        ),
        number("-i", "how often it is done", 1..=1000, |draft, count| *draft.repetitions() = count),
        ignored("-v", "the record has it all"),
    ];
}

/// How many tasks there are where `option` has `asked` for so many, and a launcher has started `ranks` processes. 0 asks for
/// as many as those.
pub(crate) fn tasks_of(
    tool: &'static str,
    option: &str,
    asked: Option<u32>,
    ranks: Option<u32>,
) -> Result<u32, Refusal> {
    debug_assert_ne!(ranks, Some(0), "a launcher starts a process at least");
    match (asked.filter(|tasks| *tasks > 0), ranks) {
        (asked, None) => Ok(asked.unwrap_or(1)),
        (None, Some(ranks)) => Ok(ranks),
        (Some(asked), Some(ranks)) if asked <= ranks => Ok(asked),
        (Some(asked), Some(ranks)) => Err(Refusal::usage(
            tool,
            format!("`{option} {asked}` is more than the {ranks} processes that were started"),
        )),
    }
}

/// The arguments, an option and its value joined by `=` without it: `-b=256m` as `-b256m`.
pub(crate) fn without_equals(arguments: &[String]) -> Vec<String> {
    let one = |word: &String| {
        let mut letters = word.chars();
        match (letters.next(), letters.next(), letters.next()) {
            (Some('-'), Some(letter), Some('=')) if letter.is_ascii_alphabetic() => {
                format!("-{letter}{}", letters.as_str())
            }
            _ => word.clone(),
        }
    };
    arguments.iter().map(one).collect()
}

/// A size in bytes, of whose unit the first letter counts alone: `4m`, `4mb`, `4 MiB`.
pub(crate) fn size_of(text: &str) -> Option<u64> {
    let unit = text.trim_start_matches(|letter: char| letter.is_ascii_digit());
    let (count, unit) = (&text[..text.len() - unit.len()], unit.trim());
    match unit.chars().next() {
        Some(first) if unit.chars().all(|letter| letter.is_ascii_alphabetic()) => match first {
            'b' | 'B' => SIZES.read(count),
            first => SIZES.read(&format!("{count}{first}")),
        },
        _ => SIZES.read(text),
    }
}

/// A number that there is an int: a negative one is read too.
pub(crate) fn seed_of(given: &Given<'_>) -> Result<u32, Refusal> {
    let bits =
        |seed: i64| u32::try_from(seed).ok().or_else(|| Some(i32::try_from(seed).ok()?.cast_unsigned()));
    given.read(|text| bits(text.parse().ok()?), "a whole number of 32 bits")
}

/// Whole seconds, at most a day; `None` for 0.
pub(crate) fn delay(given: &Given<'_>) -> Result<Option<Nanos>, Refusal> {
    let seconds = given.number(0..=86_400u32)?;
    Ok((seconds > 0).then(|| Nanos::from_secs(seconds.into())))
}

/// Refuses files of operations of several processes: what each does stays with it.
pub(crate) fn check_op_files(
    tool: &'static str,
    op_files: &Option<String>,
    ranks: Option<u32>,
) -> Result<(), Refusal> {
    let is_of_several = op_files.is_some() && ranks.is_some_and(|ranks| ranks > 1);
    let what = "`savePerOpDataCSV` is of one process; start one with as many tasks, on one host";
    if is_of_several { Err(Refusal::usage(tool, what)) } else { Ok(()) }
}

/// Files of `savePerOpDataCSV`, one for each task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpFile {
    /// How their names begin.
    pub prefix: String,
    /// Of what they are: a test, or the number of a repetition.
    pub of: String,
    /// Bytes that each operation is said to move: 1 where it moves none.
    pub bytes: u64,
}

impl OpFile {
    /// The name that ends with the task's `end`.
    pub fn name(&self, end: &str) -> String {
        format!("{}-{}-{end}", self.prefix, self.of)
    }
}

/// The first line of such a file.
pub const OP_HEAD: &str = "time,runtime,tp\n";

/// Adds the line of an operation of so many bytes that began so long after its phase, and took so long.
pub fn op_line(since: Nanos, took: Nanos, bytes: u64, text: &mut String) {
    let (since, took) = (since.as_secs_f64(), took.as_secs_f64());
    let line = [scientific(since, 8), scientific(took, 8), scientific(bytes as f64 / took, 6)].join(",");
    text.push_str(&line);
    text.push('\n');
}

/// As C writes it: `3.701945e+04`.
pub(crate) fn scientific(number: f64, digits: usize) -> String {
    let text = format!("{number:.digits$e}");
    match text.split_once('e') {
        Some((digits, exponent)) => match exponent.strip_prefix('-') {
            Some(exponent) => format!("{digits}e-{exponent:0>2}"),
            None => format!("{digits}e+{exponent:0>2}"),
        },
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_as_c_writes_them() {
        assert_eq!(scientific(37_019.452_78, 6), "3.701945e+04");
        assert_eq!(scientific(0.000_270_128_25, 10), "2.7012825000e-04");
        assert_eq!(scientific(0.0, 6), "0.000000e+00");
    }

    #[test]
    fn an_operation_is_a_line_as_ior_writes_it() {
        let mut text = String::new();
        op_line(Nanos::from_micros(1_500), Nanos::from_micros(20), 4096, &mut text);
        op_line(Nanos::ZERO, Nanos::ZERO, 1, &mut text);
        assert_eq!(text, "1.50000000e-03,2.00000000e-05,2.048000e+08\n0.00000000e+00,0.00000000e+00,inf\n");
        let file = OpFile { prefix: "ops".into(), of: "File stat".into(), bytes: 1 };
        assert_eq!(file.name("00003.csv"), "ops-File stat-00003.csv");
    }

    #[test]
    fn a_size_is_what_stands_before_the_first_letter_of_its_unit() {
        for (text, bytes) in
            [("4m", 4 << 20), ("4mb", 4 << 20), ("4 MiB", 4 << 20), ("512", 512), ("8b", 8), ("2Kx", 2048)]
        {
            assert_eq!(size_of(text), Some(bytes), "{text}");
        }
        for text in ["", "m", "4x", "-4m", "4m5"] {
            assert_eq!(size_of(text), None, "{text}");
        }
    }

    #[test]
    fn an_equals_sign_parts_a_letter_from_its_value() {
        let words = ["-b=256m", "-O", "summaryFormat=JSON", "--posix.odirect", "-s=2", "-a=POSIX", "-="];
        let read = without_equals(&words.map(str::to_owned));
        assert_eq!(read, ["-b256m", "-O", "summaryFormat=JSON", "--posix.odirect", "-s2", "-aPOSIX", "-="]);
    }
}
