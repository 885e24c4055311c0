//! SQLIO's command line: flags with their values behind them, then files.

use super::TOOL;
use crate::Refusal;
use crate::options::{
    Given, Opt, Style, Syntax, flag, ignored, number, one_of, optional, parsed, text, unlisted, unsupported,
    usage,
};

/// The original's limit for threads and for files.
const MOST: u32 = 256;

/// `-f` and `-i`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Access {
    /// `-frandom`.
    #[default]
    Random,
    /// `-fsequential`.
    Sequential,
    /// `-f64 -i64`: so many blocks in a row, so many rows.
    Stripe {
        /// From one block to the next of a run.
        blocks: u32,
        /// Blocks of a run.
        rows: u32,
    },
}

/// `-B`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Buffering {
    /// `N`: past the page cache, and writes past the disk's cache.
    #[default]
    None,
    /// `Y`: both caches.
    Both,
    /// `H`: the disk's cache.
    Hardware,
    /// `S`: the page cache.
    Software,
}

/// A command line of SQLIO.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Command {
    /// As typed.
    pub words: Vec<String>,
    /// `-kW` instead of `-kR`.
    pub writes: bool,
    /// `-t`.
    pub threads: u32,
    /// `-s`.
    pub seconds: u32,
    /// `-f`, `-i`.
    pub access: Access,
    /// `-o`; without it a thread has one request on one file after the other.
    pub outstanding: Option<u32>,
    /// `-b`.
    pub block_kib: u32,
    /// `-B`.
    pub buffering: Buffering,
    /// Whether `-B` was said.
    pub says_buffering: bool,
    /// `-L`: the timer that is named, system or processor.
    pub timer: Option<&'static str>,
    /// `-S`.
    pub start_block: u64,
    /// `-p` or `-a`: processors as a mask.
    pub mask: u64,
    /// `-F`.
    pub params: Option<String>,
    /// Files that were named; not used with `-F`.
    pub named: Vec<String>,
    /// What was understood but changes nothing.
    pub notes: Vec<String>,
}

impl Command {
    /// Reads the arguments after the tool's name.
    pub fn parse(arguments: &[String]) -> Result<Command, Refusal> {
        let mut draft = Draft::new(arguments);
        SYNTAX.read(&mut draft, arguments)?;
        draft.finish()
    }
}

pub(crate) struct Draft {
    command: Command,
    stripe: Option<u32>,
    rows: Option<u32>,
    access: Option<Access>,
    /// `-d`: in each of these are the files that are named.
    folders: Vec<String>,
    /// Whether `-m` was said.
    gathers: bool,
}

pub(crate) const SYNTAX: Syntax<Draft> = Syntax {
    tool: TOOL,
    style: Style::Glued,
    any_case: false,
    notes: |draft| &mut draft.command.notes,
    options: &[OPTIONS],
    operand: |draft, file| {
        draft.command.named.push(file.into());
        Ok(())
    },
};

const OPTIONS: &[Opt<Draft>] = &[
    one_of(
        "-k",
        "what is done",
        &[
            flag("R r", "reads", |draft| draft.command.writes = false),
            flag("W w", "writes", |draft| draft.command.writes = true),
            flag("WR wr", "writes: the first letter holds", |draft| draft.command.writes = true),
            flag("RW rw", "reads: the first letter holds", |draft| draft.command.writes = false),
        ],
    ),
    number("-t", "threads for each file (1)", 1..=MOST, |draft, threads| draft.command.threads = threads),
    number("-s", "seconds (30)", 1..=10_000_000, |draft, seconds| draft.command.seconds = seconds),
    parsed("-f", "random|sequential|N", "where requests go, or blocks of a row (64)", |draft, given| {
        match given.value {
            "random" => draft.access = Some(Access::Random),
            "sequential" => draft.access = Some(Access::Sequential),
            _ => draft.stripe = Some(given.number(1..=1 << 20)?),
        }
        Ok(())
    }),
    number("-i", "rows (64)", 1..=u32::MAX, |draft, rows| draft.rows = Some(rows)),
    number(
        "-o",
        "requests outstanding for each thread and file; 0: as without it",
        0..=4096,
        |draft, depth| {
            draft.command.outstanding = Some(depth).filter(|depth| *depth > 0);
        },
    ),
    number("-b", "KiB of a request (2)", 1..=1 << 20, |draft, kib| draft.command.block_kib = kib),
    number("-p", "the processor for the threads", 0..=63, |draft, cpu| draft.command.mask = 1 << cpu),
    parsed("-a", "MASK", "processors for the threads", |draft, given| {
        given.read(mask, "a mask of processors such as 0x3").map(|mask| draft.command.mask = mask)
    }),
    one_of(
        "-B",
        "caches that are used (N)",
        &[
            flag("N", "none", |draft| draft.buffering(Buffering::None)),
            flag("Y", "both", |draft| draft.buffering(Buffering::Both)),
            flag("H", "the disk's", |draft| draft.buffering(Buffering::Hardware)),
            flag("S", "the page cache", |draft| draft.buffering(Buffering::Software)),
        ],
    ),
    number("-S", "the block where it begins (0)", 0..=u32::MAX, |draft, block| {
        draft.command.start_block = block.into();
    }),
    one_of(
        "-L",
        "prints latencies, by the timer",
        &[
            flag("S", "of the system", |draft| draft.command.timer = Some("system")),
            flag("P", "of the processor", |draft| draft.command.timer = Some("processor")),
            unsupported("Si Pi", "the time to hand a request over is not measured apart; use -LS"),
        ],
    ),
    text("-F", "FILE", "a parameter file: files with their threads, masks and sizes", |draft, file| {
        draft.command.params = Some(file.into());
    }),
    ignored("-64", "addresses always have 64 bits"),
    parsed("-d", "DIR,DIR…", "the same file in each of these directories", |draft, given| {
        draft.folders =
            listed(given, "there are no drive letters here; name directories, such as -d/mnt/a,/mnt/b")?;
        Ok(())
    }),
    parsed("-R", "DEVICE,DEVICE…", "devices in place of files", |draft, given| {
        let devices = listed(given, "devices have no letters here; name them, such as -R/dev/sdb,/dev/sdc")?;
        draft.command.named.extend(devices);
        Ok(())
    }),
    parsed(
        "-m",
        "HOW",
        "C or S: changes nothing, a request is one to the device whatever its buffers are",
        |draft, given| {
            match given.value {
                "C" | "c" | "S" | "s" => draft.gathers = true,
                _ => return Err(given.wrong("C or S")),
            }
            draft
                .command
                .notes
                .push(given.ignored("each request has one buffer, and is the same to the device"));
            Ok(())
        },
    ),
    optional("-U", "p", "changes nothing: the record has the processor's time", |draft, given| {
        draft
            .command
            .notes
            .push(given.ignored("the record has the processor's time; see `fathom show last`"));
        Ok(())
    }),
    unsupported("-v", "this is version 1.5's behaviour; leave it out"),
    unlisted("-D", "the record has more; see `fathom show last`"),
    usage(
        "-?",
        "usage: sqlio -kR|W -tN -sN -frandom|sequential|N -iN -oN -bN -BN|Y|H|S -LS|P -SN -FFILE FILE…",
    ),
];

impl Draft {
    fn new(arguments: &[String]) -> Draft {
        let command = Command {
            words: arguments.to_vec(),
            threads: 1,
            seconds: 30,
            block_kib: 2,
            ..Command::default()
        };
        Draft { command, stripe: None, rows: None, access: None, folders: Vec::new(), gathers: false }
    }

    fn buffering(&mut self, buffering: Buffering) {
        self.command.says_buffering = true;
        self.command.buffering = buffering;
    }

    fn finish(self) -> Result<Command, Refusal> {
        let Draft { mut command, stripe, rows, access, folders, gathers } = self;
        let usage = |what: &str| Err(Refusal::usage(TOOL, what));
        if gathers && command.outstanding.is_some() {
            return usage("`-m` goes with one request for each thread, so that `-o` contradicts it");
        }
        command.access = match access {
            Some(_) if stripe.is_some() || rows.is_some() => {
                return usage("`-frandom` and `-fsequential` go with neither `-f` and a number nor `-i`");
            }
            Some(access) => access,
            None => Access::Stripe { blocks: stripe.unwrap_or(64), rows: rows.unwrap_or(64) },
        };
        if command.params.is_some() && !command.named.is_empty() {
            command.notes.push("files are those of the parameter file; the ones named are left out".into());
            command.named.clear();
        }
        if command.params.is_none() && command.named.is_empty() {
            command.named.push("testfile.dat".into());
        }
        if !folders.is_empty() {
            let within = |folder: &String| {
                let folder = folder.trim_end_matches('/');
                let file = |name: &String| format!("{folder}/{}", name.trim_start_matches('/'));
                command.named.iter().map(file).collect::<Vec<_>>()
            };
            command.named = folders.iter().flat_map(within).collect();
        }
        debug_assert_eq!(
            command.params.is_some(),
            command.named.is_empty(),
            "files are those of a parameter file, or are named"
        );
        if command.named.len() > MOST as usize {
            return usage("at most 256 files");
        }
        Ok(command)
    }
}

/// Names apart by commas, of which each has a `/` or is an address.
fn listed(given: &Given<'_>, otherwise: &str) -> Result<Vec<String>, Refusal> {
    let names: Vec<String> = given.value.split(',').map(str::to_owned).collect();
    let is_name = |name: &String| name.contains('/') || name.starts_with("array:");
    if names.iter().all(is_name) { Ok(names) } else { Err(given.unsupported(otherwise)) }
}

/// A mask in decimal or, after `0x`, in hexadecimal digits.
pub(super) fn mask(text: &str) -> Option<u64> {
    match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}
