//! dd's operands.

use super::output::Generation;
use super::{TOOL, number};
use crate::Refusal;

/// Linux moves no more in one call.
const LARGEST_BLOCK: u64 = 0x7fff_f000;

const OPERANDS: &[&str] = &[
    "if", "of", "ibs", "obs", "bs", "cbs", "count", "skip", "iseek", "seek", "oseek", "conv", "iflag",
    "oflag", "status", "output",
];

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
    /// In blocks.
    Blocks(u64),
    /// In bytes.
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
        for argument in arguments {
            draft.take(argument)?;
        }
        draft.finish(arguments)
    }
}

#[derive(Default)]
struct Draft {
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

impl Draft {
    fn take(&mut self, argument: &str) -> Result<(), Refusal> {
        let Some((name, value)) = argument.split_once('=') else {
            return match argument {
                "--" => Ok(()),
                "--help" | "--version" => {
                    Err(unsupported(argument, "`fathom as dd` measures; see the guide, Classic tools"))
                }
                _ => Err(Refusal::unknown(TOOL, argument, OPERANDS)),
            };
        };
        match name {
            "if" => self.from = Some(value.into()),
            "of" => self.to = Some(value.into()),
            "bs" => self.bs = Some(block(name, value)?),
            "ibs" => self.ibs = Some(block(name, value)?),
            "obs" => self.obs = Some(block(name, value)?),
            "cbs" => return Err(unsupported(argument, "data is not converted")),
            "count" => self.count = Some(amount(name, value)?),
            "skip" | "iseek" => self.skip = Some(amount(name, value)?),
            "seek" | "oseek" => self.seek = Some(amount(name, value)?),
            "conv" => return value.split(',').try_for_each(|symbol| self.conversion(symbol)),
            "iflag" => return value.split(',').try_for_each(|flag| self.flag(flag, Direction::In)),
            "oflag" => return value.split(',').try_for_each(|flag| self.flag(flag, Direction::Out)),
            "status" => {
                self.status = match value {
                    "none" => Status::None,
                    "noxfer" => Status::NoTransfer,
                    "progress" => Status::Progress,
                    _ => return Err(wrong(name, value, "`none`, `noxfer` or `progress`")),
                }
            }
            "output" => {
                self.generation = match value {
                    "new" => Generation::New,
                    "old" => Generation::Old,
                    _ => return Err(wrong(name, value, "`new` (coreutils 8.25 and later) or `old`")),
                }
            }
            _ => return Err(Refusal::unknown(TOOL, name, OPERANDS)),
        }
        Ok(())
    }

    fn conversion(&mut self, symbol: &str) -> Result<(), Refusal> {
        let typed = || format!("conv={symbol}");
        match symbol {
            "fsync" => self.flush = Some(FlushAtEnd::Fsync),
            // fsync does all that fdatasync does.
            "fdatasync" => self.flush = self.flush.or(Some(FlushAtEnd::Fdatasync)),
            "notrunc" => self.keep_rest = true,
            "excl" => self.exclusive = true,
            "nocreat" => self.existing = true,
            "noerror" => {
                self.note("`conv=noerror`: reading goes on after errors in any case; each is counted");
            }
            "sync" => self.note("`conv=sync` changes nothing: no block of a file or device is padded"),
            "sparse" => {
                return Err(unsupported(
                    &typed(),
                    "holes would be left where blocks are to be written; leave it out",
                ));
            }
            "ascii" | "ebcdic" | "ibm" | "block" | "unblock" | "lcase" | "ucase" | "swab" => {
                return Err(unsupported(&typed(), "data is not converted; leave it out"));
            }
            _ => {
                let known = ["fsync", "fdatasync", "notrunc", "excl", "nocreat", "noerror", "sync", "sparse"];
                return Err(Refusal::unknown(TOOL, symbol, &known));
            }
        }
        Ok(())
    }

    fn flag(&mut self, flag: &str, direction: Direction) -> Result<(), Refusal> {
        let typed = || match direction {
            Direction::In => format!("iflag={flag}"),
            Direction::Out => format!("oflag={flag}"),
        };
        match (flag, direction) {
            ("direct", Direction::In) => self.read_direct = true,
            ("direct", Direction::Out) => self.write_direct = true,
            ("sync", Direction::Out) => self.write_sync = Some("sync"),
            ("dsync", Direction::Out) => self.write_sync = self.write_sync.or(Some("dsync")),
            ("sync" | "dsync", Direction::In) => {
                self.note(&format!("`{}` changes nothing for reads", typed()));
            }
            ("count_bytes", Direction::In) => self.count_bytes = true,
            ("skip_bytes", Direction::In) => self.skip_bytes = true,
            ("seek_bytes", Direction::Out) => self.seek_bytes = true,
            (
                "fullblock" | "nonblock" | "noatime" | "noctty" | "nolinks" | "binary" | "text" | "nofollow",
                _,
            ) => {
                self.note(&format!("`{}` changes nothing here", typed()));
            }
            ("nocache", _) => {
                let why = "the page cache is bypassed or it is not; `direct` comes nearest";
                return Err(unsupported(&typed(), why));
            }
            ("append", _) => return Err(unsupported(&typed(), "say where with `seek=`, and `conv=notrunc`")),
            ("cio" | "directory", _) => {
                return Err(unsupported(&typed(), "it does not exist for what is measured"));
            }
            ("count_bytes" | "skip_bytes", Direction::Out) | ("seek_bytes", Direction::In) => {
                return Err(wrong(&typed(), flag, "this flag belongs to the other side"));
            }
            _ => {
                let known =
                    ["direct", "dsync", "sync", "fullblock", "count_bytes", "skip_bytes", "seek_bytes"];
                return Err(Refusal::unknown(TOOL, flag, &known));
            }
        }
        Ok(())
    }

    fn note(&mut self, text: &str) {
        self.notes.push(text.into());
    }

    fn finish(mut self, arguments: &[String]) -> Result<Command, Refusal> {
        let usage = |what: &str| Refusal::Usage { tool: TOOL, what: what.into() };
        let (Some(from), Some(to)) = (self.from.take(), self.to.take()) else {
            let what = "name both sides: `if=/dev/zero of=TARGET` writes, `if=TARGET of=/dev/null` reads; stdin and \
                        stdout are not measured";
            return Err(usage(what));
        };
        let source = match from.as_str() {
            "/dev/zero" => Some(Source::Zeros),
            "/dev/urandom" | "/dev/random" => Some(Source::Random),
            _ => None,
        };
        let (side, target) = match (source, to == "/dev/null") {
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
        };
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

#[derive(Clone, Copy)]
enum Direction {
    In,
    Out,
}

fn in_bytes(amount: Amount, flagged: bool) -> Amount {
    match amount {
        Amount::Blocks(count) if flagged => Amount::Bytes(count),
        amount => amount,
    }
}

fn block(name: &str, value: &str) -> Result<u64, Refusal> {
    match number::read(value) {
        Some(size @ 1..=LARGEST_BLOCK) => Ok(size),
        Some(0) | None => Err(wrong(name, value, "a size from 1 byte, such as 64k, 1M or 4MB")),
        Some(_) => Err(wrong(
            name,
            value,
            "Linux moves at most 2147479552 bytes in one call; use smaller blocks and count= more of them",
        )),
    }
}

/// Blocks, or with a `B` anywhere in the number, as coreutils 9.1 has it, bytes.
fn amount(name: &str, value: &str) -> Result<Amount, Refusal> {
    let number = number::read(value).ok_or_else(|| {
        wrong(name, value, "a number of blocks such as 1000 or 1k, or of bytes such as 1MB")
    })?;
    Ok(if value.contains('B') { Amount::Bytes(number) } else { Amount::Blocks(number) })
}

fn wrong(option: &str, value: &str, want: &str) -> Refusal {
    Refusal::Value { tool: TOOL, option: option.into(), value: value.into(), want: want.into() }
}

fn unsupported(option: &str, why: &str) -> Refusal {
    Refusal::Unsupported { tool: TOOL, option: option.into(), why: why.into() }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn parse(line: &str) -> Result<Command, Refusal> {
        Command::parse(&line.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn one_side_is_the_target() {
        let read = parse("if=/dev/sdb of=/dev/null").unwrap();
        assert_eq!((read.side, read.target.as_str(), read.ibs, read.obs), (Side::Read, "/dev/sdb", 512, 512));
        let write = parse("of=/dev/sdb if=/dev/urandom ibs=4k obs=1M").unwrap();
        assert_eq!((write.side, write.ibs, write.obs), (Side::Write(Source::Random), 4096, 1 << 20));
        for wrong in ["if=/dev/sdb", "of=/dev/null", "if=a of=b", "if=/dev/zero of=/dev/null", ""] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn what_is_not_supported_is_named() {
        let cases = [
            ("conv=ucase", "conv=ucase"),
            ("conv=notrunc,sparse", "conv=sparse"),
            ("iflag=nocache", "direct"),
            ("oflag=append", "seek="),
            ("cbs=80", "cbs=80"),
            ("bs=4G", "2147479552"),
            ("bs=0", "bs"),
            ("bz=1M", "did you mean `bs`"),
            ("oflag=dsnyc", "did you mean `dsync`"),
            ("status=quiet", "noxfer"),
            ("oflag=skip_bytes", "other side"),
            ("verbose", "verbose"),
        ];
        for (operand, word) in cases {
            let refusal = parse(&format!("if=/dev/zero of=/dev/sdb {operand}")).unwrap_err().to_string();
            assert!(refusal.contains(word), "{operand}: {refusal}");
        }
    }

    #[test]
    fn flags_of_the_other_side_are_noted() {
        let read = parse("if=/dev/sdb of=/dev/null oflag=direct conv=fsync").unwrap();
        assert_eq!((read.direct, read.flush, read.notes.len()), (false, None, 1));
        let write = parse("if=/dev/zero of=/dev/sdb conv=fdatasync,fsync oflag=dsync,sync").unwrap();
        assert_eq!((write.flush, write.sync), (Some(FlushAtEnd::Fsync), Some("sync")));
    }

    proptest! {
        #[test]
        fn no_words_make_it_panic(words in proptest::collection::vec("(if|of|bs|count|conv|iflag|seek|status)?=?[ -~]{0,12}", 0..6)) {
            if let Ok(command) = Command::parse(&words) {
                let found = super::super::Found { size: 1 << 30, kind: super::super::FoundKind::Device, direct_unit: None };
                if let Ok(work) = command.work(found) {
                    command.translate(work, found, 1);
                }
            }
        }
    }
}
