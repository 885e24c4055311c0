//! diskspd's command line: flags with their values behind them, then targets.

mod values;

use super::TOOL;
use crate::Refusal;
use crate::options::{Given, Opt, Style, Syntax, alone, flag, number, optional, parsed, unsupported, usage};

pub use values::{Access, Buffers, Format, Spread, Throughput};
use values::{buffers, cpus, places, shares, size};

/// A command line of diskspd.
#[derive(Clone, Debug, Default, PartialEq)]
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
    /// `-rs`: percent of the requests that go to a random place; the others go on where the last one ended.
    pub random_percent: Option<u32>,
    /// `-rd`: parts of the target and the percent of the requests that each is given.
    pub spread: Option<Spread>,
    /// `-Sm`: through a mapping of the file.
    pub mapped: bool,
    /// `-g`: bytes a millisecond for each thread and target, or requests a second with `i`.
    pub throughput: Option<Throughput>,
    /// `-i` and `-j`: requests of a burst, milliseconds between bursts.
    pub bursts: Option<(u32, u32)>,
    /// `-a`: processors, in turn.
    pub cpus: Vec<u32>,
    /// `-n`.
    pub no_affinity: bool,
    /// `-p`: each block of a sequential thread as often as requests are outstanding.
    pub parallel: bool,
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
    /// `-Rp`: only what would be done is printed.
    pub only_profile: bool,
    /// What was understood but changes nothing.
    pub notes: Vec<String>,
}

impl Command {
    /// Reads the arguments after the tool's name. `salt` is the seed of `-z` without a number.
    pub fn parse(arguments: &[String], salt: u32) -> Result<Command, Refusal> {
        let mut draft = Draft::new(arguments, salt);
        draft.find_block(arguments)?;
        SYNTAX.read(&mut draft, arguments)?;
        draft.finish()
    }
}

#[derive(Default)]
pub(crate) struct Draft {
    command: Command,
    salt: u32,
    random: Option<u64>,
    stride: Option<u64>,
    interlocked: bool,
    cached: Option<bool>,
    burst: Option<u32>,
    pause: Option<u32>,
    says_threads: bool,
    /// `-O`: requests outstanding for each thread, whatever its targets.
    of_thread: Option<u32>,
}

pub(crate) const SYNTAX: Syntax<Draft> = Syntax {
    tool: TOOL,
    style: Style::Glued,
    any_case: false,
    notes: |draft| &mut draft.command.notes,
    options: &[OPTIONS],
    operand: |draft, word| match word.starts_with('#') {
        true => {
            Err(Refusal::unsupported(TOOL, word, "name devices as they are called here, such as /dev/sdb"))
        }
        false => {
            draft.command.targets.push(word.into());
            Ok(())
        }
    },
};

const OPTIONS: &[Opt<Draft>] = &[
    parsed("-b", "SIZE", "of a block (64K)", |_, _| {
        // It was read before all others, which may be counted in blocks.
        Ok(())
    }),
    parsed("-B", "SIZE", "where the used part begins (0)", |draft, given| {
        draft.bytes(given, 0).map(|base| draft.command.base = base)
    }),
    parsed("-c", "SIZE", "creates files of that size", |draft, given| {
        draft.bytes(given, 1).map(|size| draft.command.create = Some(size))
    }),
    parsed("-f", "SIZE", "only the first so many bytes", |draft, given| match given.value {
        text if text.starts_with(|c: char| c.is_ascii_digit()) => {
            draft.bytes(given, 1).map(|most| draft.command.most = Some(most))
        }
        text if !text.is_empty() && text.chars().all(|hint| "rst".contains(hint)) => {
            draft.command.notes.push(given.ignored("hints are for another system's cache"));
            Ok(())
        }
        _ => Err(given.wrong("a size, or hints of the letters `r`, `s` and `t`")),
    }),
    number("-d", "seconds (10)", 1..=10_000_000, |draft, seconds| draft.command.seconds = seconds),
    number("-W", "seconds of warm-up before (5)", 0..=1_000_000, |draft, seconds| {
        draft.command.warmup = seconds;
    }),
    number("-C", "seconds of load after (0)", 0..=1_000_000, |draft, seconds| {
        draft.command.cooldown = seconds;
    }),
    number("-t", "threads for each target (1)", 1..=4096, |draft, threads| {
        draft.says_threads = true;
        draft.command.threads = threads;
    }),
    number("-F", "threads that all use every target", 1..=4096, |draft, threads| {
        draft.command.total_threads = Some(threads);
    }),
    number("-o", "requests outstanding for each thread and target (2)", 1..=65_536, |draft, depth| {
        draft.command.outstanding = depth;
    }),
    number("-O", "requests outstanding for each thread, with one target", 1..=65_536, |draft, depth| {
        draft.of_thread = Some(depth);
    }),
    optional(
        "-r",
        "SIZE",
        "random access, at multiples of SIZE (of a block); -rsPERCENT: of which so many are random; -rdpctIO/TARGET:… \
         and -rdabsIO/SIZE:…: how they are spread",
        Draft::at_random,
    ),
    optional(
        "-s",
        "[i]SIZE",
        "sequential access, SIZE from start to start; i: threads take turns",
        Draft::sequential,
    ),
    parsed("-T", "SIZE", "how far behind one another threads begin", |draft, given| {
        draft.bytes(given, 1).map(|stride| draft.command.thread_stride = stride)
    }),
    optional("-w", "PERCENT", "that writes (0)", |draft, given| {
        draft.command.writes = if given.value.is_empty() { 0 } else { given.number(0..=100)? };
        Ok(())
    }),
    optional(
        "-S",
        "LETTERS",
        "b: page cache, u: past it, w: write-through, h: u and w, m: through a mapping",
        |draft, given| draft.caching(given, given.value),
    ),
    optional("-h", "", "as -Sh", |draft, given| match given.value {
        "" => draft.caching(given, "h"),
        _ => Err(given.wrong("no value")),
    }),
    optional(
        "-Z",
        "SIZE",
        "writes contain zeros; r: random bytes; SIZE: from so many of them",
        |draft, given| buffers(given, draft.command.block).map(|buffers| draft.command.buffers = buffers),
    ),
    parsed(
        "-g",
        "N",
        "bytes a millisecond for each thread and target; Ni: requests a second",
        |draft, given| {
            draft.command.throughput = Some(match given.value.strip_suffix('i') {
                Some(rate) => Throughput::Requests(given.part(rate).number(1..=u32::MAX)?),
                None => Throughput::Bytes(given.number(1..=u32::MAX)?),
            });
            Ok(())
        },
    ),
    number("-i", "requests of a burst", 1..=1_000_000, |draft, burst| draft.burst = Some(burst)),
    number("-j", "milliseconds between bursts", 1..=10_000_000, |draft, pause| draft.pause = Some(pause)),
    parsed("-a", "CPUS", "processors for the threads in turn", |draft, given| {
        given.read(cpus, "processors such as 0,1,2").map(|cpus| draft.command.cpus.extend(cpus))
    }),
    flag("-n", "threads run on any processor", |draft| draft.command.no_affinity = true),
    flag("-l", "large pages", |draft| draft.command.large_pages = true),
    flag("-L", "prints latencies", |draft| draft.command.latency = true),
    optional("-D", "1000", "prints the deviation of IOPS", |draft, given| match given.value {
        "" | "1000" => {
            draft.command.iops_deviation = true;
            Ok(())
        }
        _ => Err(given.unsupported("rates are kept for each second; use -D or -D1000")),
    }),
    flag("-v", "prints more", |draft| draft.command.verbose = true),
    optional(
        "-z",
        "N",
        "the seed of random numbers (0); without a number another each time",
        |draft, given| {
            let seed = if given.value.is_empty() { draft.salt } else { given.number(0..=u32::MAX)? };
            draft.command.seed = Some(seed);
            Ok(())
        },
    ),
    parsed("-R", "[p]text|xml", "what is printed; p: what would be done, and nothing is", |draft, given| {
        let (only, format) = match given.value.strip_prefix('p') {
            Some(format) => (true, format),
            None => (false, given.value),
        };
        draft.command.only_profile = only;
        draft.command.format = match format {
            "text" => Format::Text,
            "" if only => Format::Text,
            "xml" => Format::Xml,
            _ => return Err(given.wrong("`text` or `xml`, `ptext` or `pxml`")),
        };
        Ok(())
    }),
    parsed("-I", "3", "priority; 3 is normal", |_, given| match given.number(1..=3)? {
        3 => Ok(()),
        _ => Err(given.unsupported("requests have normal priority; leave it out")),
    }),
    optional("-P", "N", "no dots are printed", |draft, given| {
        draft.command.notes.push(given.ignored("no dots are printed"));
        Ok(())
    }),
    optional(
        "-x",
        "WAY",
        "how requests reach the kernel, which is the same in every case: `k`, `p`",
        |draft, given| match given.value {
            "" | "k" | "p" => {
                let why = "requests reach the kernel in the same way with and without it";
                draft.command.notes.push(given.ignored(why));
                Ok(())
            }
            "s" => Err(given.unsupported("a thread has one request at a time with -o1")),
            _ => Err(given.wrong("`k` or `p`, or nothing")),
        },
    ),
    parsed("-e", "EVENTS", "changes nothing: there are no such events here", |draft, given| {
        draft
            .command
            .notes
            .push(given.ignored("there are no such events here; the record has device counters"));
        Ok(())
    }),
    flag("-p", "each block is issued as often as requests are outstanding, at once", |draft| {
        draft.command.parallel = true;
    }),
    alone("-X", "reads a profile"),
    parsed(
        "-y",
        "[sf]NAME",
        "changes nothing: no other program waits for a named event here",
        |draft, given| match given.value.chars().next() {
            Some('s' | 'f') => {
                draft.command.notes.push(given.ignored("no other program waits for a named event here"));
                Ok(())
            }
            _ => {
                Err(given
                    .unsupported("there are no named events to wait for; start and stop it from a script"))
            }
        },
    ),
    unsupported("-N", "a mapping is flushed at the end of the run, not after each write; leave it out"),
    usage("-?", "usage: diskspd -bSIZE -dSECONDS -oN -tN -r|-s[i] -wPERCENT -Sh -L -cSIZE … TARGET…"),
];

impl Draft {
    fn new(arguments: &[String], salt: u32) -> Draft {
        let command = Command {
            words: arguments.to_vec(),
            block: 64 << 10,
            seconds: 10,
            warmup: 5,
            threads: 1,
            outstanding: 2,
            ..Command::default()
        };
        Draft { command, salt, ..Draft::default() }
    }

    /// Other sizes may be given in blocks, wherever `-b` stands.
    fn find_block(&mut self, arguments: &[String]) -> Result<(), Refusal> {
        let Some(value) = arguments.iter().find_map(|argument| argument.strip_prefix("-b")) else {
            return Ok(());
        };
        // Requests of 4 GiB and more have no length that fits.
        let block = size(value, 0).filter(|block| (1..=1 << 31).contains(block));
        self.command.block =
            block.ok_or_else(|| Refusal::value(TOOL, "-b", value, "a size such as 8K or 1M"))?;
        Ok(())
    }

    fn bytes(&self, given: &Given<'_>, least: u64) -> Result<u64, Refusal> {
        let read =
            |text: &str| size(text, self.command.block).filter(|size| (least..=1 << 60).contains(size));
        given.read(read, "a size such as 4096, 64K, 1M, 2G or 3b (blocks)")
    }

    /// `-r` and what may stand behind it.
    fn at_random(&mut self, given: &Given<'_>) -> Result<(), Refusal> {
        let random = self.random.unwrap_or(self.command.block);
        if let Some(spread) = given.value.strip_prefix("dpct") {
            self.command.spread =
                Some(given.part(spread).read(shares, "shares such as 90/10:10/90, in percent")?);
        } else if let Some(spread) = given.value.strip_prefix("dabs") {
            let block = self.command.block;
            let read = |text: &str| places(text, block);
            self.command.spread =
                Some(given.part(spread).read(read, "shares such as 90/10G:10, in percent and sizes")?);
        } else if let Some(percent) = given.value.strip_prefix('s') {
            self.command.random_percent = Some(given.part(percent).number(0..=100)?);
        } else if !given.value.is_empty() {
            self.random = Some(self.bytes(given, 1)?);
            return Ok(());
        }
        self.random = Some(random);
        Ok(())
    }

    fn sequential(&mut self, given: &Given<'_>) -> Result<(), Refusal> {
        let (interlocked, stride) = match given.value.strip_prefix('i') {
            Some(stride) => (true, stride),
            None => (false, given.value),
        };
        self.interlocked |= interlocked;
        if !stride.is_empty() {
            let read = |_: &str| size(stride, self.command.block).filter(|size| *size > 0);
            self.stride = Some(given.read(read, "a size such as 64K, or 2b (blocks)")?);
        }
        Ok(())
    }

    /// `-S` and its letters. The page cache may be said once, write-through once.
    fn caching(&mut self, given: &Given<'_>, letters: &str) -> Result<(), Refusal> {
        let letters = if letters.is_empty() { "u" } else { letters };
        for letter in letters.chars() {
            let (cached, through) = match letter {
                'b' => (Some(true), false),
                'u' => (Some(false), false),
                'h' => (Some(false), true),
                'w' => (None, true),
                'm' => {
                    self.command.mapped = true;
                    continue;
                }
                'r' => {
                    let why = "the cache of a remote server is used in any case; use -Su";
                    return Err(given.unsupported(why));
                }
                _ => return Err(given.wrong("the letters b, h, m, u and w")),
            };
            if cached.is_some() && self.cached.is_some() || through && self.command.through {
                let what = format!("`{}` contradicts what was said before", given.typed());
                return Err(Refusal::usage(TOOL, what));
            }
            self.cached = self.cached.or(cached);
            self.command.through |= through;
        }
        Ok(())
    }

    fn finish(mut self) -> Result<Command, Refusal> {
        let usage = |what: &str| Refusal::usage(TOOL, what);
        self.command.direct = self.cached == Some(false);
        if self.command.mapped && self.command.direct {
            return Err(usage("`-Sm` maps the file into the page cache, which `-Su` and `-Sh` pass by"));
        }
        if let Some(depth) = self.of_thread {
            if self.command.targets.len() > 1 {
                let why = "requests are counted for each thread and target; use -o";
                return Err(Refusal::unsupported(TOOL, "-O", why));
            }
            self.command.outstanding = depth;
        }
        if self.command.random_percent == Some(0) {
            (self.random, self.command.random_percent) = (None, None);
        }
        if self.random.is_some() && self.command.thread_stride > 0 {
            return Err(usage("`-T` goes with sequential access, not with `-r`"));
        }
        if self.random.is_some() && (self.stride.is_some() || self.interlocked) {
            self.command.notes.push("`-s` changes nothing beside `-r`".into());
        }
        self.command.access = self.access()?;
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
        debug_assert!(
            self.command.block > 0 && self.command.outstanding > 0,
            "requests move something, one at least"
        );
        Ok(self.command)
    }

    /// Where requests of a thread go.
    fn access(&self) -> Result<Access, Refusal> {
        let (usage, block) = (|what: &str| Refusal::usage(TOOL, what), self.command.block);
        Ok(match (self.random, self.interlocked) {
            (Some(align), _) => Access::Random(align),
            (None, true) => {
                if self.command.thread_stride > 0 {
                    return Err(usage("`-si` and `-T` contradict each other"));
                }
                if self.stride.is_some_and(|stride| stride != block) {
                    let why = "threads that take turns do so block by block; use -si alone, or -s and a size";
                    return Err(Refusal::unsupported(TOOL, "-si", why));
                }
                Access::Interlocked
            }
            (None, false) => {
                let stride = self.stride.unwrap_or(block);
                if stride < block {
                    let want = "at least the block size: requests that overlap measure a cache";
                    return Err(Refusal::value(TOOL, "-s", &stride.to_string(), want));
                }
                Access::Sequential(stride)
            }
        })
    }
}
