//! dd's operands and their flags.

use super::TOOL;
use super::output::Generation;
use crate::Refusal;
use crate::numbers::{Units, with_suffix};
use crate::options::{
    Given, Opt, Style, Syntax, alone, flag, ignored, one_of, parsed, some_of, text, unsupported,
};

/// Linux moves no more in one call.
const LARGEST_BLOCK: u64 = 0x7fff_f000;

/// Which side is the target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// `of=/dev/null`.
    Read,
    /// `if=/dev/zero` or `/dev/urandom`.
    Write(Source),
}

/// Where what is written comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// `/dev/zero`.
    Zeros,
    /// `/dev/urandom` or `/dev/random`.
    Random,
}

/// `count=`, `skip=` or `seek=`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Amount {
    /// Of `ibs` or `obs`.
    Blocks(u64),
    /// The number has a `B`, or a flag such as `count_bytes` says so.
    Bytes(u64),
}

impl Amount {
    /// In bytes, with blocks of `block`; `None` where that is more than there can be.
    pub fn bytes(self, block: u64) -> Option<u64> {
        match self {
            Amount::Blocks(blocks) => blocks.checked_mul(block),
            Amount::Bytes(bytes) => Some(bytes),
        }
        .filter(|bytes| *bytes <= i64::MAX as u64)
    }
}

/// A flush after the last block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlushAtEnd {
    /// `conv=fsync`.
    Fsync,
    /// `conv=fdatasync`.
    Fdatasync,
}

/// `status=`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Status {
    /// All lines.
    #[default]
    All,
    /// Nothing but errors.
    None,
    /// Not the line of the transfer.
    NoTransfer,
    /// A line each second, too.
    Progress,
}

/// A command line of dd.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command {
    /// As typed.
    pub words: Vec<String>,
    /// Which side is measured.
    pub side: Side,
    /// The file or device on that side.
    pub target: String,
    /// Bytes of a block read.
    pub ibs: u64,
    /// Bytes of a block written.
    pub obs: u64,
    /// How much.
    pub count: Option<Amount>,
    /// Where reading begins.
    pub skip: Amount,
    /// Where writing begins.
    pub seek: Amount,
    /// Past the page cache.
    pub direct: bool,
    /// Flush after each block: `dsync` or `sync`.
    pub sync: Option<&'static str>,
    /// Flush after the last.
    pub flush: Option<FlushAtEnd>,
    /// Cut a file that is there to what is written.
    pub truncate: bool,
    /// The file must not be there.
    pub exclusive: bool,
    /// The file must be there.
    pub existing: bool,
    /// What is printed.
    pub status: Status,
    /// In which generation's words.
    pub generation: Generation,
    /// What was understood but changes nothing.
    pub notes: Vec<String>,
}

impl Command {
    /// Reads the arguments after the tool's name.
    pub fn parse(arguments: &[String]) -> Result<Command, Refusal> {
        let mut draft = Draft::default();
        SYNTAX.read(&mut draft, arguments)?;
        draft.finish(arguments)
    }
}

#[derive(Default)]
pub(crate) struct Draft {
    from: Option<String>,
    to: Option<String>,
    bs: Option<u64>,
    ibs: Option<u64>,
    obs: Option<u64>,
    count: Option<Amount>,
    skip: Option<Amount>,
    seek: Option<Amount>,
    read_direct: bool,
    write_direct: bool,
    write_sync: Option<&'static str>,
    flush: Option<FlushAtEnd>,
    keep_rest: bool,
    exclusive: bool,
    existing: bool,
    count_bytes: bool,
    skip_bytes: bool,
    seek_bytes: bool,
    status: Status,
    generation: Generation,
    notes: Vec<String>,
}

pub(crate) const SYNTAX: Syntax<Draft> = Syntax {
    tool: TOOL,
    style: Style::Assignments,
    any_case: false,
    notes: |draft| &mut draft.notes,
    options: &[OPTIONS],
    operand: |_, word| Err(SYNTAX.unknown(word)),
};

const OPTIONS: &[Opt<Draft>] = &[
    text("if", "FILE", "what is read, or /dev/zero or /dev/urandom", |draft, file| {
        draft.from = Some(file.into());
    }),
    text("of", "FILE", "what is written, or /dev/null", |draft, file| draft.to = Some(file.into())),
    parsed("ibs", "BYTES", "bytes of a block read (512)", |draft, given| {
        block(given).map(|size| draft.ibs = Some(size))
    }),
    parsed("obs", "BYTES", "bytes of a block written (512)", |draft, given| {
        block(given).map(|size| draft.obs = Some(size))
    }),
    parsed("bs", "BYTES", "bytes of a block on both sides", |draft, given| {
        block(given).map(|size| draft.bs = Some(size))
    }),
    parsed(
        "count",
        "N",
        "how many blocks; without it a device is gone through to its end",
        |draft, given| amount(given).map(|count| draft.count = Some(count)),
    ),
    parsed("skip iseek", "N", "blocks left out before reading", |draft, given| {
        amount(given).map(|skip| draft.skip = Some(skip))
    }),
    parsed("seek oseek", "N", "blocks left out before writing", |draft, given| {
        amount(given).map(|seek| draft.seek = Some(seek))
    }),
    some_of("conv", "flush at the end, or what is done with a file that is there", CONVERSIONS),
    some_of("iflag", "how it is read", READ_FLAGS),
    some_of("oflag", "how it is written", WRITE_FLAGS),
    one_of(
        "status",
        "what is printed",
        &[
            flag("none", "nothing", |draft| draft.status = Status::None),
            flag("noxfer", "not the line of the transfer", |draft| draft.status = Status::NoTransfer),
            flag("progress", "a line each second, too", |draft| draft.status = Status::Progress),
        ],
    ),
    one_of(
        "output",
        "whose lines are printed; not in the original",
        &[
            flag("new", "of coreutils 8.25 and later", |draft| draft.generation = Generation::New),
            flag("old", "before", |draft| draft.generation = Generation::Old),
        ],
    ),
    flag("--", "operands follow", |_| {}),
    parsed("cbs", "BYTES", "changes nothing: it belongs to conversions of data", |draft, given| {
        draft.notes.push(given.ignored("it belongs to conversions of data"));
        Ok(())
    }),
    alone("--help", "prints these options"),
    alone("--version", "prints the version"),
];

const CONVERSIONS: &[Opt<Draft>] = &[
    flag("fsync", "fsync after the last block", |draft| draft.flush = Some(FlushAtEnd::Fsync)),
    // fsync does all that fdatasync does.
    flag("fdatasync", "fdatasync after the last block", |draft| {
        draft.flush = draft.flush.or(Some(FlushAtEnd::Fdatasync));
    }),
    flag("notrunc", "a file is not cut", |draft| draft.keep_rest = true),
    flag("excl", "the file must not be there", |draft| draft.exclusive = true),
    flag("nocreat", "the file must be there", |draft| draft.existing = true),
    ignored("noerror", "reading continues after errors in any case; each is counted"),
    ignored("sync", "no block of a file or device is padded"),
    unsupported("sparse", "holes would be left where blocks are to be written; leave it out"),
    unsupported("ascii ebcdic ibm block unblock lcase ucase swab", "data is not converted; leave it out"),
];

const READ_FLAGS: &[Opt<Draft>] = &[
    flag("direct", "past the page cache", |draft| draft.read_direct = true),
    flag("count_bytes", "`count` is in bytes", |draft| draft.count_bytes = true),
    flag("skip_bytes", "`skip` is in bytes", |draft| draft.skip_bytes = true),
    ignored("sync dsync", "nothing is written"),
    ignored(NO_EFFECT, ""),
    unsupported("nocache", NO_CACHE),
    unsupported("append", NO_APPEND),
    unsupported("cio directory", NOT_THERE),
    unsupported("seek_bytes", OTHER_SIDE),
];

const WRITE_FLAGS: &[Opt<Draft>] = &[
    flag("direct", "past the page cache", |draft| draft.write_direct = true),
    flag("sync", "O_SYNC", |draft| draft.write_sync = Some("sync")),
    flag("dsync", "O_DSYNC", |draft| draft.write_sync = draft.write_sync.or(Some("dsync"))),
    flag("seek_bytes", "`seek` is in bytes", |draft| draft.seek_bytes = true),
    ignored(NO_EFFECT, ""),
    unsupported("nocache", NO_CACHE),
    unsupported("append", NO_APPEND),
    unsupported("cio directory", NOT_THERE),
    unsupported("count_bytes skip_bytes", OTHER_SIDE),
];

const NO_EFFECT: &str = "fullblock nonblock noatime noctty nolinks binary text nofollow";
const NO_CACHE: &str = "the page cache is bypassed or it is not; `direct` comes nearest";
const NO_APPEND: &str = "say where with `seek=`, and `conv=notrunc`";
const NOT_THERE: &str = "it does not exist for what is measured";
const OTHER_SIDE: &str = "this flag belongs to the other side";

impl Draft {
    fn note(&mut self, text: &str) {
        self.notes.push(text.into());
    }

    fn finish(mut self, arguments: &[String]) -> Result<Command, Refusal> {
        let usage = |what: &str| Refusal::usage(TOOL, what);
        let (Some(from), Some(to)) = (self.from.take(), self.to.take()) else {
            let what = "name both sides: `if=/dev/zero of=TARGET` writes, `if=TARGET of=/dev/null` reads; stdin and \
                        stdout are not measured";
            return Err(usage(what));
        };
        let (side, target) = sides(from, to)?;
        if self.exclusive && self.existing {
            return Err(usage("`conv=excl` and `conv=nocreat` contradict each other"));
        }
        let reads = side == Side::Read;
        if reads && (self.write_direct || self.write_sync.is_some() || self.flush.is_some()) {
            self.note("flags and flushes of /dev/null change nothing");
        }
        if !reads && self.read_direct {
            self.note("`iflag=direct` of a source of bytes changes nothing");
        }
        let (ibs, obs) = match self.bs {
            Some(bs) => (bs, bs),
            None => (self.ibs.unwrap_or(512), self.obs.unwrap_or(512)),
        };
        if !reads && self.skip.is_some() {
            self.note("`skip=` of a source of bytes changes nothing");
        }
        Ok(Command {
            words: arguments.to_vec(),
            side,
            target,
            ibs,
            obs,
            count: self.count.map(|count| in_bytes(count, self.count_bytes)),
            skip: in_bytes(self.skip.unwrap_or(Amount::Blocks(0)), self.skip_bytes),
            seek: in_bytes(self.seek.unwrap_or(Amount::Blocks(0)), self.seek_bytes),
            direct: if reads { self.read_direct } else { self.write_direct },
            sync: self.write_sync.filter(|_| !reads),
            flush: self.flush.filter(|_| !reads),
            truncate: !self.keep_rest,
            exclusive: self.exclusive,
            existing: self.existing,
            status: self.status,
            generation: self.generation,
            notes: self.notes,
        })
    }
}

/// What is measured, and how: the other side is no storage.
fn sides(from: String, to: String) -> Result<(Side, String), Refusal> {
    let usage = |what: &str| Refusal::usage(TOOL, what);
    let source = match from.as_str() {
        "/dev/zero" => Some(Source::Zeros),
        "/dev/urandom" | "/dev/random" => Some(Source::Random),
        _ => None,
    };
    Ok(match (source, to == "/dev/null") {
        (None, true) => (Side::Read, from),
        (Some(source), false) => (Side::Write(source), to),
        (Some(_), true) => {
            return Err(usage("neither side is storage; name a target in place of one of them"));
        }
        (None, false) => {
            let what = format!(
                "copying {from} to {to} measures neither; read one with `of=/dev/null`, write the other with \
                 `if=/dev/zero`"
            );
            return Err(usage(&what));
        }
    })
}

fn in_bytes(amount: Amount, flagged: bool) -> Amount {
    match amount {
        Amount::Blocks(count) if flagged => Amount::Bytes(count),
        amount => amount,
    }
}

fn block(given: &Given<'_>) -> Result<u64, Refusal> {
    match bytes(given.value) {
        Some(size @ 1..=LARGEST_BLOCK) => Ok(size),
        Some(0) | None => Err(given.wrong("a size from 1 byte, such as 64k, 1M or 4MB")),
        Some(_) => Err(given.wrong(
            "Linux moves at most 2147479552 bytes in one call; use smaller blocks and count= more of them",
        )),
    }
}

/// Blocks, or with a `B` anywhere in the number, as coreutils 9.1 has it, bytes.
fn amount(given: &Given<'_>) -> Result<Amount, Refusal> {
    let number = given.read(bytes, "a number of blocks such as 1000 or 1k, or of bytes such as 1MB")?;
    Ok(if given.value.contains('B') { Amount::Bytes(number) } else { Amount::Blocks(number) })
}

/// A number of an operand with its multipliers: `1M`, `512`, `2x1KiB`, `10kB`. `None` where it is none or too large.
///
/// `c` 1, `w` 2, `b` 512, `K M G T P E` powers of 1024, the same with `iB`, and with `B` powers of 1000.
pub(super) fn bytes(text: &str) -> Option<u64> {
    text.split('x').try_fold(1u64, |product, factor| product.checked_mul(factor_of(factor)?))
}

fn factor_of(text: &str) -> Option<u64> {
    match text.starts_with(|first: char| first.is_ascii_digit()) || text.is_empty() {
        true => with_suffix(text, multiplier),
        false => multiplier(text),
    }
}

fn multiplier(suffix: &str) -> Option<u64> {
    let units = |base| Units { letters: "kmgtpe", base, first: 1 };
    match suffix {
        "" | "c" | "B" => Some(1),
        "w" => Some(2),
        "b" => Some(512),
        // Only the capitals of these are taken.
        _ if suffix.starts_with(['p', 'e']) => None,
        _ => match (suffix.strip_suffix("iB"), suffix.strip_suffix('B')) {
            (Some(letter), _) => units(1024).factor(letter).filter(|_| !letter.is_empty()),
            (None, Some(letter)) => units(1000).factor(letter),
            (None, None) => units(1024).factor(suffix),
        },
    }
}
