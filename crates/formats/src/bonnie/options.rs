//! Bonnie++'s options, every letter of both versions.

use units::convert::narrow;

use super::{CHUNK, Generation, SEEKS, usage};
use crate::Refusal;
use crate::numbers::{BYTES, Units};
use crate::options::{
    Given, Opt, Style, Syntax, flag, number, one_of, optional, parsed, text, unlisted, unsupported,
};

/// What one call asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Request {
    /// What is to be measured.
    Test(Box<Command>),
    /// `-p N`: semaphores for so many copies.
    Semaphores(u32),
    /// `-p -1`: no more semaphores.
    NoSemaphores,
}

/// How much is written and read a character at a time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Chars {
    /// Nothing.
    #[default]
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
#[derive(Clone, Debug, Default, PartialEq, Eq)]
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
    /// `-Z`: a file of whose bytes the random numbers follow.
    pub random_file: Option<String>,
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
            chunk: CHUNK,
            seeks: SEEKS,
            seekers: generation.seekers(),
            chars: match generation {
                Generation::V103 => Chars::All,
                Generation::V200 => Chars::Mib(3),
            },
            files: Some(FileTest { thousands: 16, max: 0, min: 0, dirs: 0 }),
            copies: 1,
            ..Command::default()
        }
    }
}

/// The seed that follows from the bytes of the file of `-Z`: the same file repeats a test.
pub fn seed_of(bytes: &[u8]) -> u32 {
    // FNV-1a, 32 bits.
    bytes.iter().fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193))
}

impl Request {
    /// Reads the arguments after the tool's name.
    pub fn parse(generation: Generation, arguments: &[String]) -> Result<Request, Refusal> {
        let mut draft = Draft { command: Command::new(generation), semaphores: None };
        generation.syntax().read(&mut draft, arguments)?;
        let command = draft.command;
        if command.size_mib == Some(0) && command.files.is_none() {
            return Err(usage(generation, "`-s 0` and `-n 0` leave nothing to test"));
        }
        Ok(match draft.semaphores {
            Some(Some(copies)) => Request::Semaphores(copies),
            Some(None) => Request::NoSemaphores,
            None => Request::Test(Box::new(command)),
        })
    }
}

pub(crate) struct Draft {
    command: Command,
    semaphores: Option<Option<u32>>,
}

impl Generation {
    pub(crate) const fn syntax(self) -> Syntax<Draft> {
        Syntax {
            tool: self.tool(),
            style: Style::Letters,
            any_case: false,
            notes: |draft| &mut draft.command.notes,
            options: match self {
                Generation::V103 => &[BOTH, ONLY_103],
                Generation::V200 => &[BOTH, ONLY_200],
            },
            operand: |draft, word| {
                let what = format!("`{word}` is not an option; a directory is named with `-d`");
                Err(usage(draft.command.generation, what))
            },
        }
    }
}

/// What sizes in MiB may have behind them.
const MEBI: Units = Units { letters: "mg", base: 1024, first: 0 };
/// What a block may have behind it.
const UP_TO_MEGA: Units = Units { letters: "km", base: 1024, first: 1 };

const BOTH: &[Opt<Draft>] = &[
    text("-d", "DIR", "where the files are made", |draft, path| draft.command.directory = path.into()),
    parsed("-s", "MIB[:CHUNK[:SEEKS[:SEEKERS]]]", "size of the file of each copy (twice the memory)", sizes),
    parsed("-n", "N[:MAX[:MIN[:DIRS]]]", "small files in units of 1024 (16)", files),
    text("-m", "NAME", "what the machine is called", |draft, name| draft.command.name = Some(name.into())),
    parsed("-r", "MIB", "the memory; 0 leaves the size unchecked", |draft, given| {
        amount(given, 0, MEBI).map(|mib| draft.command.ram_mib = Some(mib))
    }),
    number("-x", "how often the test is run", 1..=1 << 20, |draft, runs| draft.command.runs = Some(runs)),
    parsed("-p", "N", "semaphores for so many copies; -1 removes them", |draft, given| {
        draft.semaphores = Some(match given.value {
            "-1" => None,
            _ => Some(given.number(1..=1 << 14)?),
        });
        Ok(())
    }),
    flag("-q", "says less", |draft| draft.command.quiet = true),
    flag("-b", "flushes after each write of the seeks, and each small file", |draft| {
        draft.command.sync_each = true;
    }),
    flag("-D", "reads and writes past the page cache", |draft| draft.command.direct = true),
    parsed("-u -g", "USER", "accepted without effect: the user does not change", |draft, given| {
        let user = given.value.split(':').next().unwrap_or_default();
        if !["root", "0"].contains(&user) {
            let (typed, tool) = (given.typed(), draft.command.generation.tool());
            draft.command.notes.push(format!(
                "`{typed}`: it works as the user who called it; `sudo -u USER fathom as {tool} ...` works as another"
            ));
        }
        Ok(())
    }),
];

const ONLY_103: &[Opt<Draft>] = &[
    flag("-f", "no single characters", |draft| draft.command.chars = Chars::Skip),
    flag("-y", "starts each test together with other copies", |draft| draft.command.together = true),
    unlisted("-c -z -Z", "version 1.03 has no such option; `fathom as bonnie++` is 2.00"),
];

const ONLY_200: &[Opt<Draft>] = &[
    optional("-f", "MIB", "no single characters, or so many MiB of them", |draft, given| {
        draft.command.chars = match given.value {
            "" => Chars::Skip,
            _ => Chars::Mib(amount(given, 1, MEBI)?),
        };
        Ok(())
    }),
    number("-c", "copies that test at once", 1..=200, |draft, copies| draft.command.copies = copies),
    number("-z", "the seed of random numbers", 0..=u32::MAX, |draft, seed| {
        (draft.command.seed, draft.command.random_file) = (Some(seed), None);
    }),
    text("-Z", "FILE", "random numbers follow from the bytes of a file", |draft, file| {
        (draft.command.seed, draft.command.random_file) = (None, Some(file.into()));
    }),
    one_of(
        "-y",
        "starts each test together with other copies",
        &[
            flag("s", "by semaphores that `-p` has made", |draft| draft.command.together = true),
            unsupported(
                "p",
                "Fathom does not wait for a key before a test; `-y s` starts copies together by semaphores",
            ),
        ],
    ),
];

/// `-s size[:chunk[:seeks[:seekers]]]`
fn sizes(draft: &mut Draft, given: &Given<'_>) -> Result<(), Refusal> {
    let command = &mut draft.command;
    let is_new = command.generation == Generation::V200;
    let mut parts = given.value.split(':');
    command.size_mib = Some(amount(&given.part(parts.next().unwrap_or_default()), 0, MEBI)?);
    if let Some(text) = parts.next().filter(|text| !text.is_empty()) {
        let chunk = amount(&given.part(text), 1, UP_TO_MEGA)?;
        if !chunk.is_power_of_two() || !(256..=1 << 20).contains(&chunk) {
            return Err(given.wrong("a chunk is a power of two from 256 to 1048576 bytes"));
        }
        command.chunk = narrow::<u32>(chunk);
    }
    if let Some(text) = parts.next().filter(|text| is_new && !text.is_empty()) {
        command.seeks = given.part(text).number(1..=1 << 30)?;
    }
    if let Some(text) = parts.next().filter(|text| is_new && !text.is_empty()) {
        command.seekers = given.part(text).number(1..=1024)?;
    }
    match (parts.next(), is_new || given.value.matches(':').count() < 2) {
        (None, true) => Ok(()),
        (_, true) => Err(given.wrong("SIZE[:CHUNK[:SEEKS[:SEEKERS]]]")),
        (_, false) => Err(given.wrong("SIZE[:CHUNK]; seeks can be chosen with bonnie++ 2.00")),
    }
}

/// `-n number[:max[:min][:dirs[:chunk]]]`
fn files(draft: &mut Draft, given: &Given<'_>) -> Result<(), Refusal> {
    let parts: Vec<&str> = given.value.split(':').collect();
    let most = if draft.command.generation == Generation::V200 { 5 } else { 4 };
    if parts.len() > most {
        return Err(given.wrong("NUMBER[:MAX[:MIN[:DIRECTORIES]]], the number in units of 1024"));
    }
    let thousands = given.part(parts[0]).number(0..=1 << 16)?;
    let max = match parts.get(1).copied().unwrap_or("0") {
        "-1" | "-2" => {
            return Err(given.unsupported(
                "files are made, not links; a plan with `tree = \"link\"` or `tree = \"symlink\"` makes those",
            ));
        }
        text => amount(&given.part(text), 0, BYTES)?,
    };
    let min = parts.get(2).map_or(Ok(0), |text| amount(&given.part(text), 0, BYTES))?;
    let dirs = parts.get(3).map_or(Ok(0), |text| given.part(text).number(0..=99_999))?;
    if max > 1 << 30 || min > max {
        return Err(given.wrong("sizes up to 1g, the largest before the smallest"));
    }
    if let Some(text) = parts.get(4)
        && amount(&given.part(text), 1, BYTES)? < max
    {
        let why = "small files are written with one call each; leave the last number out";
        return Err(given.unsupported(why));
    }
    draft.command.files = (thousands > 0).then_some(FileTest { thousands, max, min, dirs });
    Ok(())
}

/// A number with one of the letters of `units`.
fn amount(given: &Given<'_>, least: u64, units: Units) -> Result<u64, Refusal> {
    let read = |text: &str| units.read(text).filter(|amount| (least..=1 << 40).contains(amount));
    given.read(read, &format!("a number of at least {least}, perhaps with one of `{}`", units.letters))
}
