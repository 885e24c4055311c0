//! hdparm's options: timings and what a drive is asked are supported, what changes a drive is not.

use super::TOOL;
use super::query::Query;
use crate::Refusal;
use crate::options::{Opt, Style, Syntax, alone, flag, ignored, parsed, unsupported};

/// A command line of hdparm.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Command {
    /// `-T`: reads from memory. Comes first whatever the order of the options.
    pub cached: bool,
    /// `-t`: reads from the device.
    pub disk: bool,
    /// `--direct`.
    pub direct: bool,
    /// `--offset`: where `-t` begins.
    pub offset_gib: u64,
    /// What the drive is asked, in the order in which it is printed.
    pub asked: Vec<Query>,
    /// Whether it is asked because nothing else was said: what has no answer is then left out.
    pub by_default: bool,
    /// `--read-sector`: which one.
    pub sector: u64,
    /// `--Iraw`: a new file for the words of the identity as they came.
    pub raw_file: Option<String>,
    /// What is done without a device.
    pub alone: Option<Alone>,
    /// `-q`: what the next option asks is not printed.
    quiet: bool,
    /// Whether an option asks anything, printed or not.
    has_asked: bool,
    /// One after the other.
    pub devices: Vec<String>,
    /// What was understood but changes nothing.
    pub notes: Vec<String>,
}

/// What needs no device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Alone {
    /// `--Istdin`: words that another drive has told.
    Words,
    /// `--fibmap FILE`.
    Places(String),
    /// `--security-help`.
    Security,
}

/// What `--security-help` prints.
pub const SECURITY: &str = "\nATA security: a drive is locked by `--security-set-pass`, opened again by `--security-unlock` and\n\
    `--security-disable`, emptied by `--security-erase`, and kept as it is until the next reset by\n\
    `--security-freeze`. None of them is done here; `hdparm` itself does.\n";

impl Command {
    /// Reads the arguments after the tool's name.
    pub fn parse(arguments: &[String]) -> Result<Command, Refusal> {
        check_sets(arguments)?;
        let mut command = Command::default();
        SYNTAX.read(&mut command, arguments)?;
        if command.alone.is_some() {
            return Ok(command);
        }
        if !command.times() && !command.has_asked {
            command.ask_all();
        }
        command.asked.sort_unstable();
        command.asked.dedup();
        match command.devices.is_empty() {
            true => Err(Refusal::usage(TOOL, "name a device, such as /dev/sda")),
            false => Ok(command),
        }
    }

    /// Whether anything is timed.
    pub fn times(&self) -> bool {
        self.cached || self.disk
    }

    fn ask(&mut self, what: Query) {
        self.has_asked = true;
        // What is asked quietly is not asked at all: it would change nothing.
        if !std::mem::take(&mut self.quiet) {
            self.asked.push(what);
        }
    }

    fn ask_all(&mut self) {
        (self.by_default, self.has_asked) = (true, true);
        self.asked.extend(Query::DEFAULTS);
    }
}

/// Options that ask where they stand alone, and set where a number follows.
const ASK_OR_SET: &str = "aABcdJkmMnNQrRuW";

/// The refusal of an option with a number that would set what it asks without one.
fn check_sets(arguments: &[String]) -> Result<(), Refusal> {
    for (place, word) in arguments.iter().enumerate() {
        let Some(letters) = word.strip_prefix('-').filter(|rest| !rest.starts_with('-')) else { continue };
        let end = letters.find(|letter: char| letter.is_ascii_digit()).unwrap_or(letters.len());
        let (before, number) = letters.split_at(end);
        let Some(letter) = before.chars().last().filter(|letter| ASK_OR_SET.contains(*letter)) else {
            continue;
        };
        // The original takes a number that stands by itself as well.
        let is_number =
            |word: &&String| !word.is_empty() && word.bytes().all(|letter| letter.is_ascii_digit());
        let next = arguments.get(place + 1).filter(is_number).map(String::as_str);
        let value = if number.is_empty() { next } else { Some(number) };
        if let Some(value) = value {
            let why = match letter {
                'a' => {
                    "it changes the drive; the plan `read-ahead` sets read-ahead, measures and puts it back"
                }
                _ => "it changes the drive, which a measurement does not; call hdparm before",
            };
            return Err(Refusal::unsupported(TOOL, format!("-{letter}{value}"), why));
        }
    }
    Ok(())
}

pub(crate) const SYNTAX: Syntax<Command> = Syntax {
    tool: TOOL,
    style: Style::Letters,
    any_case: false,
    notes: |draft| &mut draft.notes,
    options: &[TIMINGS, QUESTIONS, REFUSED],
    operand: |command, device| {
        command.devices.push(device.into());
        Ok(())
    },
};

/// No device has more than 2^63 bytes.
const OFFSET_MOST_GIB: u64 = (1 << 33) - 1;

const TIMINGS: &[Opt<Command>] = &[
    flag("-t", "times reads of the device", |command| command.disk = true),
    flag("-T", "times reads of memory; comes first", |command| command.cached = true),
    flag("--direct", "reads past the page cache", |command| command.direct = true),
    parsed("--offset", "GIB", "where `-t` begins", |command, given| {
        let gib = given.read(|text| text.parse().ok(), "a whole number of GiB")?;
        command.offset_gib = gib;
        if gib <= OFFSET_MOST_GIB { Ok(()) } else { Err(given.wrong("a whole number of GiB")) }
    }),
    ignored("-f", "the page cache is emptied after each timing in any case"),
    ignored("--verbose", "reports are the same with it"),
    ignored("--prefer-ata12", "the kernel chooses the form of commands"),
    alone("-h", "prints these options"),
    alone("-V", "prints the version"),
];

const QUESTIONS: &[Opt<Command>] = &[
    flag("-a", "reports how far the system reads ahead", |command| command.ask(Query::ReadAhead)),
    flag("-A", "reports whether the drive reads ahead", |command| command.ask(Query::LookAhead)),
    flag("-B", "reports how the drive saves power", |command| command.ask(Query::PowerManagement)),
    flag("-c", "reports how wide the interface is", |command| command.ask(Query::Width)),
    flag("-C", "reports whether the drive sleeps", |command| command.ask(Query::Power)),
    flag("-d", "reports whether data move by DMA", |command| command.ask(Query::Dma)),
    flag("-g", "reports heads, sectors and the start of a partition", |command| {
        command.ask(Query::Geometry);
    }),
    flag("-i", "reports what the drive is, by the driver", |command| command.ask(Query::Identity)),
    flag("-I", "reports what the drive is: names, sizes, standards", |command| command.ask(Query::Details)),
    flag("-k", "reports whether settings outlive a reset", |command| command.ask(Query::KeepSettings)),
    flag("-m", "reports the sectors of one interrupt", |command| command.ask(Query::Multiple)),
    flag("-M", "reports how quiet the drive is", |command| command.ask(Query::Acoustic)),
    flag("-n", "reports whether errors of writes are ignored", |command| command.ask(Query::NoWriteErrors)),
    flag("-q", "what the next option reports is not printed", |command| command.quiet = true),
    flag("-Q", "reports how many requests the drive holds", |command| command.ask(Query::QueueDepth)),
    flag("-r", "reports whether writes are refused", |command| command.ask(Query::ReadOnly)),
    flag("-u", "reports whether other interrupts are let through", |command| command.ask(Query::Unmask)),
    flag("-R", "reports whether writes are read back by the drive", |command| {
        command.ask(Query::WriteReadVerify);
    }),
    flag("-N", "reports how many sectors are seen, and how many there are", |command| {
        command.ask(Query::HighestSector);
    }),
    flag("-H", "reports the temperature of a drive of Hitachi", |command| command.ask(Query::Temperature)),
    flag("--dco-identify", "reports what the drive could be told to leave out", |command| {
        command.ask(Query::Configuration);
    }),
    flag("--Istdout", "prints what the drive is as words", |command| command.ask(Query::Words)),
    parsed("--Iraw", "FILE", "the same into a new file, as the drive has told it", |command, given| {
        command.raw_file = Some(given.value.into());
        command.ask(Query::RawWords);
        Ok(())
    }),
    flag("--Istdin", "as `-I`, of words from stdin", |command| command.alone = Some(Alone::Words)),
    parsed("--read-sector", "N", "prints a sector", |command, given| {
        command.sector = given.number(0..=u64::MAX >> 12)?;
        command.ask(Query::Sector);
        Ok(())
    }),
    parsed("--fibmap", "FILE", "prints where a file lies on its device", |command, given| {
        command.alone = Some(Alone::Places(given.value.into()));
        Ok(())
    }),
    flag("--security-help", "prints what options of security do", |command| {
        command.alone = Some(Alone::Security);
    }),
    flag("-v", "reports the same as without any option", Command::ask_all),
    flag("-W", "reports whether the drive has its write cache on", |command| command.ask(Query::WriteCache)),
];

const REFUSED: &[Opt<Command>] = &[
    unsupported(
        "-J --sanitize-status",
        "commands of one maker, or of a kind of drive, are not sent; `smartctl` reports more",
    ),
    unsupported(
        "-D -E -K -L -p -P -s -S -X -Z --set-sector-size --dco-setmax --dco-restore --dco-freeze",
        "it changes the drive, which a measurement does not; call hdparm before",
    ),
    unsupported(
        "-b -F -U -w -x -y -Y -z --idle-immediate --idle-unload --drq-hsm-error",
        "it changes the drive: it is stopped, reset, flushed or looked at anew; call hdparm before",
    ),
    unsupported(
        "--fallocate --fwdownload --fwdownload-mode3 --fwdownload-mode3-max --fwdownload-mode7 --fwdownload-modee \
         --fwdownload-modee-max --make-bad-sector --repair-sector --write-sector --yes-i-know-what-i-am-doing",
        "it changes the drive and may destroy data, for which nothing here gives consent",
    ),
    unsupported(
        "--sanitize-antifreeze-lock --sanitize-block-erase --sanitize-crypto-scramble --sanitize-freeze-lock \
         --sanitize-overwrite --sanitize-overwrite-passes --security-disable --security-erase \
         --security-erase-enhanced --security-freeze --security-mode --security-prompt-for-password \
         --security-set-pass --security-unlock --trim-sector-ranges --trim-sector-ranges-stdin",
        "it changes the drive and may destroy data or lock it, for which nothing here gives consent",
    ),
];
