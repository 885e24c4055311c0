//! diskspd's command line: flags with their values behind them, then targets.

use super::TOOL;
use crate::Refusal;

const FLAGS: &[&str] = &[
    "-a", "-b", "-B", "-c", "-C", "-d", "-D", "-e", "-f", "-F", "-g", "-h", "-i", "-I", "-j", "-l", "-L",
    "-n", "-o", "-O", "-p", "-P", "-r", "-R", "-s", "-si", "-S", "-Sb", "-Sh", "-Sr", "-Su", "-Sw", "-t",
    "-T", "-v", "-w", "-W", "-x", "-X", "-y", "-z", "-Z", "-Zr",
];

/// Where a thread's next request goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// `-r`: anywhere, at multiples of so many bytes.
    Random(u64),
    /// `-s`: each thread by itself, so many bytes from start to start.
    Sequential(u64),
    /// `-si`: the threads of a target take turns in one stream.
    Interlocked,
}

/// What writes contain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Buffers {
    /// The original's: 0 to 255 again and again.
    Pattern,
    /// `-Z`.
    Zeros,
    /// `-Zr`: new for each request.
    Random,
    /// `-Z1M`: from a buffer of random bytes of that size.
    Source(u64),
}

/// `-R`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Text.
    Text,
    /// XML.
    Xml,
}

/// A command line of diskspd.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command {
    /// As typed.
    pub words: Vec<String>,
    /// Files and devices.
    pub targets: Vec<String>,
    /// `-b`, in bytes.
    pub block: u64,
    /// `-B`, in bytes.
    pub base: u64,
    /// `-c`, in bytes.
    pub create: Option<u64>,
    /// `-f` and a size: only the first so many bytes.
    pub most: Option<u64>,
    /// `-d`, `-W`, `-C`: seconds.
    pub seconds: u32,
    /// Before.
    pub warmup: u32,
    /// After.
    pub cooldown: u32,
    /// `-t`: threads for each target.
    pub threads: u32,
    /// `-F`: threads that all use every target.
    pub total_threads: Option<u32>,
    /// `-o`: requests outstanding for each thread and target.
    pub outstanding: u32,
    /// `-r`, `-s`, `-si`.
    pub access: Access,
    /// `-T`: how far behind one another threads begin, in bytes.
    pub thread_stride: u64,
    /// `-w`: percent of writes.
    pub writes: u32,
    /// `-S`: past the page cache.
    pub direct: bool,
    /// `-Sw`, `-Sh`: write-through.
    pub through: bool,
    /// `-Z`.
    pub buffers: Buffers,
    /// `-g`: bytes a millisecond for each thread and target.
    pub throughput: Option<u32>,
    /// `-i` and `-j`: requests of a burst, milliseconds between bursts.
    pub bursts: Option<(u32, u32)>,
    /// `-a`: processors, in turn.
    pub cpus: Vec<u32>,
    /// `-n`.
    pub no_affinity: bool,
    /// `-l`.
    pub large_pages: bool,
    /// `-L`.
    pub latency: bool,
    /// `-D`.
    pub iops_deviation: bool,
    /// `-v`.
    pub verbose: bool,
    /// `-z`.
    pub seed: Option<u32>,
    /// `-R`.
    pub format: Format,
    /// What was understood but changes nothing.
    pub notes: Vec<String>,
}

impl Command {
    /// Reads the arguments after the tool's name. `salt` is the seed of `-z` without a number.
    pub fn parse(arguments: &[String], salt: u32) -> Result<Command, Refusal> {
        let mut draft = Draft::new(arguments, salt);
        draft.find_block(arguments)?;
        arguments.iter().try_for_each(|argument| draft.take(argument))?;
        draft.finish()
    }
}

struct Draft {
    command: Command,
    salt: u32,
    random: Option<u64>,
    stride: Option<u64>,
    interlocked: bool,
    cached: Option<bool>,
    burst: Option<u32>,
    pause: Option<u32>,
    says_threads: bool,
}

impl Draft {
    fn new(arguments: &[String], salt: u32) -> Draft {
        let command = Command {
            words: arguments.to_vec(),
            targets: Vec::new(),
            block: 64 << 10,
            base: 0,
            create: None,
            most: None,
            seconds: 10,
            warmup: 5,
            cooldown: 0,
            threads: 1,
            total_threads: None,
            outstanding: 2,
            access: Access::Interlocked,
            thread_stride: 0,
            writes: 0,
            direct: false,
            through: false,
            buffers: Buffers::Pattern,
            throughput: None,
            bursts: None,
            cpus: Vec::new(),
            no_affinity: false,
            large_pages: false,
            latency: false,
            iops_deviation: false,
            verbose: false,
            seed: None,
            format: Format::Text,
            notes: Vec::new(),
        };
        Draft {
            command,
            salt,
            random: None,
            stride: None,
            interlocked: false,
            cached: None,
            burst: None,
            pause: None,
            says_threads: false,
        }
    }

    /// Other sizes may be given in blocks, wherever `-b` stands.
    fn find_block(&mut self, arguments: &[String]) -> Result<(), Refusal> {
        let Some(value) = arguments.iter().find_map(|argument| argument.strip_prefix("-b")) else {
            return Ok(());
        };
        // Requests of 4 GiB and more have no length that fits.
        let block = size(value, 0).filter(|block| (1..=1 << 31).contains(block));
        self.command.block = block.ok_or_else(|| wrong("-b", value, "a size such as 8K or 1M"))?;
        Ok(())
    }

    fn take(&mut self, argument: &str) -> Result<(), Refusal> {
        let Some(flag) = argument.strip_prefix('-').filter(|flag| !flag.is_empty()) else {
            if argument.starts_with('#') {
                let why = "name devices as they are called here, such as /dev/sdb";
                return Err(unsupported(argument, why));
            }
            self.command.targets.push(argument.into());
            return Ok(());
        };
        let letter = flag.chars().next().expect("a flag is not empty");
        let value = &flag[letter.len_utf8()..];
        let option = format!("-{letter}");
        let bytes = |least: u64| {
            let found = size(value, self.command.block).filter(|found| (least..=1 << 60).contains(found));
            found.ok_or_else(|| wrong(&option, value, "a size such as 4096, 64K, 1M, 2G or 3b (blocks)"))
        };
        let number = |from: u32, to: u32| match value.parse() {
            Ok(number) if (from..=to).contains(&number) => Ok(number),
            _ => Err(wrong(&option, value, &format!("a whole number from {from} to {to}"))),
        };
        match letter {
            'b' => {}
            'B' => self.command.base = bytes(0)?,
            'c' => self.command.create = Some(bytes(1)?),
            'C' => self.command.cooldown = number(0, 1_000_000)?,
            'd' => self.command.seconds = number(1, 10_000_000)?,
            'D' => match value {
                "" | "1000" => self.command.iops_deviation = true,
                _ => return Err(unsupported(argument, "rates are kept for each second; use -D or -D1000")),
            },
            'f' if value.starts_with(|c: char| c.is_ascii_digit()) => self.command.most = Some(bytes(1)?),
            'f' if !value.is_empty() && value.chars().all(|hint| "rst".contains(hint)) => {
                self.note(&format!("`{argument}`: hints to another system's cache change nothing here"));
            }
            'f' => return Err(wrong(&option, value, "a size, or hints of the letters `r`, `s` and `t`")),
            'F' => self.command.total_threads = Some(number(1, 4096)?),
            'g' => self.command.throughput = Some(number(1, u32::MAX)?),
            'h' if value.is_empty() => self.caching("h", argument)?,
            'i' => self.burst = Some(number(1, 1_000_000)?),
            'j' => self.pause = Some(number(1, 10_000_000)?),
            'I' => match number(1, 3)? {
                3 => {}
                _ => return Err(unsupported(argument, "requests have normal priority; leave it out")),
            },
            'l' if value.is_empty() => self.command.large_pages = true,
            'L' if value.is_empty() => self.command.latency = true,
            'n' if value.is_empty() => self.command.no_affinity = true,
            'a' => self
                .command
                .cpus
                .extend(cpus(value).ok_or_else(|| wrong(&option, value, "processors such as 0,1,2"))?),
            'o' => self.command.outstanding = number(1, 65_536)?,
            'P' => self.note("`-P`: no dots are printed"),
            'r' => self.random = Some(if value.is_empty() { self.command.block } else { bytes(1)? }),
            'R' => {
                self.command.format = match value {
                    "text" => Format::Text,
                    "xml" => Format::Xml,
                    _ => return Err(wrong(&option, value, "`text` or `xml`")),
                }
            }
            's' => return self.sequential(value),
            'S' => return self.caching(value, argument),
            't' => {
                self.says_threads = true;
                self.command.threads = number(1, 4096)?;
            }
            'T' => self.command.thread_stride = bytes(1)?,
            'v' if value.is_empty() => self.command.verbose = true,
            'w' if value.is_empty() => self.command.writes = 0,
            'w' => self.command.writes = number(0, 100)?,
            'W' => self.command.warmup = number(0, 1_000_000)?,
            'x' => self.note("`-x`: requests reach the kernel in the same way with and without it"),
            'z' if value.is_empty() => self.command.seed = Some(self.salt),
            'z' => self.command.seed = Some(number(0, u32::MAX)?),
            'Z' => self.command.buffers = self.buffers(value)?,
            'e' => {
                return Err(unsupported(
                    argument,
                    "there are no such events here; the record has device counters",
                ));
            }
            'O' => {
                return Err(unsupported(argument, "requests are counted for each thread and target; use -o"));
            }
            'p' => {
                return Err(unsupported(
                    argument,
                    "the same block several times at once measures a cache; leave it out",
                ));
            }
            'X' => return Err(unsupported(argument, "a profile stands alone; leave out what is beside it")),
            'y' => {
                return Err(unsupported(
                    argument,
                    "there are no named events here; start and stop it from a script",
                ));
            }
            '?' => {
                let what =
                    "usage: diskspd -bSIZE -dSECONDS -oN -tN -r|-s[i] -wPERCENT -Sh -L -cSIZE … TARGET…";
                return Err(Refusal::Usage { tool: TOOL, what: what.into() });
            }
            _ => return Err(Refusal::unknown(TOOL, argument, FLAGS)),
        }
        Ok(())
    }

    fn note(&mut self, text: &str) {
        self.command.notes.push(text.into());
    }

    fn sequential(&mut self, value: &str) -> Result<(), Refusal> {
        let (interlocked, stride) = match value.strip_prefix('i') {
            Some(stride) => (true, stride),
            None => (false, value),
        };
        self.interlocked |= interlocked;
        if !stride.is_empty() {
            let found = size(stride, self.command.block).filter(|found| *found > 0);
            self.stride =
                Some(found.ok_or_else(|| wrong("-s", value, "a size such as 64K, or 2b (blocks)"))?);
        }
        Ok(())
    }

    /// `-S` and its letters. The page cache may be said once, write-through once.
    fn caching(&mut self, letters: &str, argument: &str) -> Result<(), Refusal> {
        let twice =
            || Refusal::Usage { tool: TOOL, what: format!("`{argument}` contradicts what was said before") };
        let letters = if letters.is_empty() { "u" } else { letters };
        for letter in letters.chars() {
            let (cached, through) = match letter {
                'b' => (Some(true), false),
                'u' => (Some(false), false),
                'h' => (Some(false), true),
                'w' => (None, true),
                'r' => {
                    return Err(unsupported(
                        argument,
                        "the cache of a remote server is used in any case; use -Su",
                    ));
                }
                _ => return Err(wrong("-S", letters, "the letters b, h, u and w")),
            };
            if cached.is_some() && self.cached.is_some() || through && self.command.through {
                return Err(twice());
            }
            self.cached = self.cached.or(cached);
            self.command.through |= through;
        }
        Ok(())
    }

    fn buffers(&mut self, value: &str) -> Result<Buffers, Refusal> {
        match value {
            "" => Ok(Buffers::Zeros),
            "r" => Ok(Buffers::Random),
            _ if value.contains(',') => Err(unsupported(
                &format!("-Z{value}"),
                "content is not taken from a file; use -Zr or a size alone",
            )),
            _ => match size(value, self.command.block) {
                Some(size @ 1..) => Ok(Buffers::Source(size)),
                _ => Err(wrong("-Z", value, "nothing, `r`, or a size such as 1M")),
            },
        }
    }

    fn finish(mut self) -> Result<Command, Refusal> {
        let usage = |what: &str| Refusal::Usage { tool: TOOL, what: what.into() };
        self.command.direct = self.cached == Some(false);
        let block = self.command.block;
        if self.random.is_some() && self.command.thread_stride > 0 {
            return Err(usage("`-T` goes with sequential access, not with `-r`"));
        }
        if self.random.is_some() && (self.stride.is_some() || self.interlocked) {
            self.note("`-s` changes nothing beside `-r`");
        }
        self.command.access = match (self.random, self.interlocked) {
            (Some(align), _) => Access::Random(align),
            (None, true) => {
                if self.command.thread_stride > 0 {
                    return Err(usage("`-si` and `-T` contradict each other"));
                }
                if self.stride.is_some_and(|stride| stride != block) {
                    let why = "threads that take turns do so block by block; use -si alone, or -s and a size";
                    return Err(unsupported("-si", why));
                }
                Access::Interlocked
            }
            (None, false) => {
                let stride = self.stride.unwrap_or(block);
                if stride < block {
                    let want = "at least the block size: requests that overlap measure a cache";
                    return Err(wrong("-s", &stride.to_string(), want));
                }
                Access::Sequential(stride)
            }
        };
        if self.command.total_threads.is_some() && self.says_threads {
            return Err(usage("`-F` and `-t` contradict each other"));
        }
        self.command.bursts = match (self.burst, self.pause) {
            (Some(burst), Some(pause)) => Some((burst, pause)),
            (None, None) => None,
            _ => {
                return Err(usage(
                    "`-i` and `-j` go together: requests of a burst, milliseconds between bursts",
                ));
            }
        };
        if self.command.bursts.is_some() && self.command.throughput.is_some() {
            return Err(usage("`-g` does not go with `-i` and `-j`"));
        }
        if self.command.targets.is_empty() {
            return Err(usage("name at least one file or device"));
        }
        Ok(self.command)
    }
}

/// Digits and one letter: `K`, `M`, `G`, or `b` for blocks of `block` bytes.
fn size(text: &str, block: u64) -> Option<u64> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = match text[digits.len()..].to_ascii_uppercase().as_str() {
        "" => 1,
        "K" => 1 << 10,
        "M" => 1 << 20,
        "G" => 1 << 30,
        "B" => block,
        _ => return None,
    };
    digits.parse::<u64>().ok()?.checked_mul(unit)
}

/// `0,1,2`, also of processor groups of which there is one: `g0,0,1`. Nothing means all, as by default.
fn cpus(text: &str) -> Option<Vec<u32>> {
    if text.is_empty() || text == "g" {
        return Some(Vec::new());
    }
    let numbers = text.split(',').filter(|part| *part != "g0");
    numbers.map(|part| part.parse().ok().filter(|cpu| *cpu < 4096)).collect()
}

fn wrong(option: &str, value: &str, want: &str) -> Refusal {
    Refusal::Value { tool: TOOL, option: option.into(), value: value.into(), want: want.into() }
}

fn unsupported(option: &str, why: &str) -> Refusal {
    Refusal::Unsupported { tool: TOOL, option: option.into(), why: why.into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Command, Refusal> {
        Command::parse(&line.split_whitespace().map(str::to_owned).collect::<Vec<_>>(), 7)
    }

    #[test]
    fn the_usual_replacement_of_sqlio_is_understood() {
        let command = parse("-b8K -d60 -o8 -t2 -r -w30 -Sh -L -c10G file").unwrap();
        assert_eq!((command.block, command.seconds, command.outstanding, command.threads), (8192, 60, 8, 2));
        assert_eq!((command.access, command.writes), (Access::Random(8192), 30));
        assert_eq!((command.direct, command.through, command.latency), (true, true, true));
        assert_eq!((command.create, command.warmup, command.cooldown), (Some(10 << 30), 5, 0));
        assert_eq!(parse("-Zr -z x").unwrap().seed, Some(7));
    }

    #[test]
    fn sizes_may_be_in_blocks_wherever_the_block_size_stands() {
        let command = parse("-s2b -B3b -b4K -f100b x").unwrap();
        assert_eq!(
            (command.access, command.base, command.most),
            (Access::Sequential(8192), 12288, Some(409_600))
        );
    }

    #[test]
    fn what_is_not_supported_is_named() {
        for (line, word) in [
            ("-X profile", "-X"),
            ("-o0 x", "-o"),
            ("-eDISK_IO x", "-eDISK_IO"),
            ("-Suh x", "contradicts"),
            ("-Sr x", "-Su"),
            ("-r -T1M x", "-T"),
            ("-si128K x", "-si"),
            ("-s4K x", "overlap"),
            ("-F4 -t2 x", "-F"),
            ("-i3 x", "-j"),
            ("-Z1M,file x", "-Zr"),
            ("-D500 x", "-D1000"),
            ("#1", "/dev/sdb"),
            ("-q x", "there is no option"),
            ("-b x", "-b"),
            ("-d10", "name at least one"),
            ("-\u{e9} x", "-\u{e9}"),
        ] {
            let refusal = parse(line).unwrap_err().to_string();
            assert!(refusal.contains(word), "{line}: {refusal}");
        }
    }
}
