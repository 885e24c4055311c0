//! SQLIO's command line: flags with their values behind them, then files.

use super::TOOL;
use crate::Refusal;

const FLAGS: &[&str] = &[
    "-k", "-t", "-s", "-d", "-R", "-f", "-p", "-a", "-o", "-b", "-i", "-m", "-L", "-U", "-B", "-S", "-v",
    "-64", "-F", "-D", "-?",
];

/// The original's limit for threads and for files.
const MOST: u32 = 256;

/// `-f` and `-i`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// `-frandom`.
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
#[derive(Clone, Debug, PartialEq, Eq)]
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
        for argument in arguments {
            draft.take(argument)?;
        }
        draft.finish()
    }
}

struct Draft {
    command: Command,
    stripe: Option<u32>,
    rows: Option<u32>,
    access: Option<Access>,
}

impl Draft {
    fn new(arguments: &[String]) -> Draft {
        let command = Command {
            words: arguments.to_vec(),
            writes: false,
            threads: 1,
            seconds: 30,
            access: Access::Random,
            outstanding: None,
            block_kib: 2,
            buffering: Buffering::None,
            says_buffering: false,
            timer: None,
            start_block: 0,
            mask: 0,
            params: None,
            named: Vec::new(),
            notes: Vec::new(),
        };
        Draft { command, stripe: None, rows: None, access: None }
    }

    fn take(&mut self, argument: &str) -> Result<(), Refusal> {
        let Some(flag) = argument.strip_prefix('-').filter(|flag| !flag.is_empty()) else {
            self.command.named.push(argument.into());
            return Ok(());
        };
        let letter = flag.chars().next().expect("a flag is not empty");
        let value = &flag[letter.len_utf8()..];
        let wrong = |want: &str| Refusal::Value {
            tool: TOOL,
            option: format!("-{letter}"),
            value: value.into(),
            want: want.into(),
        };
        let number = |from: u32, to: u32| match value.parse() {
            Ok(number) if (from..=to).contains(&number) => Ok(number),
            _ => Err(wrong(&format!("a whole number from {from} to {to}, without a blank before it"))),
        };
        let unsupported =
            |why: &str| Err(Refusal::Unsupported { tool: TOOL, option: argument.into(), why: why.into() });
        let command = &mut self.command;
        match letter {
            'k' => {
                command.writes = match value {
                    "R" | "r" => false,
                    "W" | "w" => true,
                    _ => return Err(wrong("`R` or `W`")),
                }
            }
            't' => command.threads = number(1, MOST)?,
            's' => command.seconds = number(1, 10_000_000)?,
            'o' => command.outstanding = Some(number(1, 4096)?),
            'b' => command.block_kib = number(1, 1 << 20)?,
            'i' => self.rows = Some(number(1, 1 << 20)?),
            'f' => match value {
                "random" => self.access = Some(Access::Random),
                "sequential" => self.access = Some(Access::Sequential),
                _ => self.stripe = Some(number(1, 1 << 20)?),
            },
            'S' => command.start_block = u64::from(number(0, u32::MAX)?),
            'F' if !value.is_empty() => command.params = Some(value.into()),
            'F' => return Err(wrong("the name of a parameter file, without a blank before it")),
            'B' => {
                command.says_buffering = true;
                command.buffering = match value {
                    "N" => Buffering::None,
                    "Y" => Buffering::Both,
                    "H" => Buffering::Hardware,
                    "S" => Buffering::Software,
                    _ => return Err(wrong("`N`, `Y`, `H` or `S`")),
                };
            }
            'L' => {
                command.timer = Some(match value {
                    "S" => "system",
                    "P" => "processor",
                    "Si" | "Pi" => {
                        return unsupported("the time to hand a request over is not measured apart; use -LS");
                    }
                    _ => return Err(wrong("`S` or `P`")),
                });
            }
            'p' => command.mask = 1 << number(0, 63)?,
            'a' => command.mask = mask(value).ok_or_else(|| wrong("a mask of processors such as 0x3"))?,
            '6' if flag == "64" => {
                command.notes.push("`-64` changes nothing: addresses always have 64 bits".into());
            }
            'd' => return unsupported("there are no drive letters here; name each file in full"),
            'R' => return unsupported("name devices as they are called here, such as /dev/sdb"),
            'm' => return unsupported("requests are not cut in parts or gathered; leave it out"),
            'U' => return unsupported("the record has the processor's time; see `fathom show last`"),
            'v' => return unsupported("this is version 1.5's behaviour; leave it out"),
            'D' => return unsupported("the record has more; see `fathom show last`"),
            '?' => {
                let what = "usage: sqlio -kR|W -tN -sN -frandom|sequential|N -iN -oN -bN -BN|Y|H|S -LS|P -SN -FFILE FILE…";
                return Err(Refusal::Usage { tool: TOOL, what: what.into() });
            }
            _ => return Err(Refusal::unknown(TOOL, argument, FLAGS)),
        }
        Ok(())
    }

    fn finish(self) -> Result<Command, Refusal> {
        let Draft { mut command, stripe, rows, access } = self;
        let usage = |what: &str| Err(Refusal::Usage { tool: TOOL, what: what.into() });
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
        if command.named.len() > MOST as usize {
            return usage("at most 256 files");
        }
        Ok(command)
    }
}

/// A mask in decimal or, after `0x`, in hexadecimal digits.
pub(super) fn mask(text: &str) -> Option<u64> {
    match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Command, Refusal> {
        Command::parse(&line.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn defaults_are_those_that_the_tool_prints() {
        let command = parse("").unwrap();
        assert_eq!((command.writes, command.threads, command.seconds, command.block_kib), (false, 1, 30, 2));
        assert_eq!(command.access, Access::Stripe { blocks: 64, rows: 64 });
        assert_eq!((command.buffering, command.named), (Buffering::None, vec!["testfile.dat".to_owned()]));
    }

    #[test]
    fn flags_have_their_values_behind_them() {
        let command = parse("-kW -t2 -s60 -o8 -frandom -b64 -BH -LS -Fparam.txt -a0x3").unwrap();
        assert!(command.writes);
        assert_eq!((command.threads, command.seconds, command.outstanding), (2, 60, Some(8)));
        assert_eq!((command.access, command.block_kib, command.mask), (Access::Random, 64, 3));
        assert_eq!((command.timer, command.params.as_deref()), (Some("system"), Some("param.txt")));
    }

    #[test]
    fn what_is_not_supported_is_named() {
        for (line, word) in [
            ("-kX", "`R` or `W`"),
            ("-t0", "-t"),
            ("-t 4", "without a blank"),
            ("-dDEF", "-dDEF"),
            ("-R1", "/dev/sdb"),
            ("-LSi", "-LS"),
            ("-mS", "-mS"),
            ("-Up", "processor"),
            ("-z", "-z"),
            ("-frandom -i3", "-i"),
            ("-BX", "`N`"),
            ("-F", "parameter file"),
            ("-\u{fc}", "-\u{fc}"),
        ] {
            let refusal = parse(line).unwrap_err().to_string();
            assert!(refusal.contains(word), "{line}: {refusal}");
        }
    }
}
