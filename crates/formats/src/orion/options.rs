//! Orion's command line.

use units::convert::narrow;

use super::TOOL;
use crate::Refusal;

/// A command line of Orion, defaults filled in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command {
    /// The arguments as typed.
    pub words: Vec<String>,
    /// `-run`
    pub run: Mode,
    /// `-testname`: what files are called, and where the list of LUNs is.
    pub name: String,
    /// `-num_disks`; as many as there are LUNs where it is not said.
    pub disks: Option<u32>,
    /// `-size_small`, in KiB.
    pub small_kib: u64,
    /// `-size_large`, in KiB.
    pub large_kib: u64,
    /// `-type`
    pub large: Large,
    /// `-num_streamIO`: requests in flight of each stream.
    pub stream_ios: u32,
    /// `-simulate` and `-stripe`
    pub array: Simulated,
    /// `-write`, in percent.
    pub write: u8,
    /// `-cache_size`, in MiB.
    pub cache_mib: Option<u64>,
    /// `-duration` of each data point.
    pub seconds: u32,
    /// `-matrix`
    pub matrix: Matrix,
    /// `-num_small`
    pub num_small: Option<u32>,
    /// `-num_large`
    pub num_large: Option<u32>,
    /// `-verbose`
    pub verbose: bool,
    /// Which version's files are written.
    pub shape: Shape,
    /// What was understood but changes nothing.
    pub notes: Vec<String>,
}

/// What is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Small alone, then large alone.
    Simple,
    /// All combinations.
    Normal,
    /// As the other options say.
    Advanced,
    /// Large random alone, from `num_disks` in flight to 15 times as many.
    Dss,
    /// Small alone, from `num_disks` in flight to 20 times as many.
    Oltp,
}

/// How large requests follow each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Large {
    /// Anywhere.
    Random,
    /// In streams.
    Sequential,
}

/// How the LUNs are put together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Simulated {
    /// One after the other.
    Concat,
    /// In turn.
    Raid0 {
        /// So many KiB of each.
        stripe_kib: u64,
    },
}

/// Which data points there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Matrix {
    /// The first row and the first column.
    Basic,
    /// All.
    Detailed,
    /// One.
    Point,
    /// Large varies, small is fixed.
    Col,
    /// Small varies, large is fixed.
    Row,
    /// All up to both numbers.
    Max,
}

/// A version of Orion, as far as its files differ.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Shape {
    /// 10.2: files without the date, milliseconds.
    V10,
    /// 11.1, the last that could be had alone: files with the date, milliseconds.
    #[default]
    V11,
    /// 11.2 and later, as part of the database: microseconds, latencies of reads and writes, histograms in the
    /// summary, words before the tables.
    V112,
}

impl Shape {
    /// The shape of a version such as `11.2`; `None` for one that Orion was not released in.
    pub fn named(version: &str) -> Option<Shape> {
        match version {
            "10.2" => Some(Shape::V10),
            "11.1" => Some(Shape::V11),
            "11.2" | "12.1" | "12.2" | "18c" | "19c" => Some(Shape::V112),
            _ => None,
        }
    }

    /// The version number that the files tell.
    pub fn version(self) -> &'static str {
        match self {
            Shape::V10 => "10.2.0.1.0",
            Shape::V11 => "11.1.0.7.0",
            Shape::V112 => "11.2.0.4.0",
        }
    }
}

const OPTIONS: [&str; 20] = [
    "-run",
    "-testname",
    "-num_disks",
    "-size_small",
    "-size_large",
    "-type",
    "-num_streamIO",
    "-simulate",
    "-stripe",
    "-write",
    "-cache_size",
    "-duration",
    "-num_small",
    "-num_large",
    "-matrix",
    "-verbose",
    "-help",
    "-hugenotneeded",
    "-storax",
    "-shape",
];

/// The most requests in flight, streams or requests of a stream that one data point may ask for.
pub(super) const MOST: u32 = 65_536;

/// Whether no test is asked for but what can be asked.
pub fn asks_for_help(arguments: &[String]) -> bool {
    arguments.is_empty() || arguments.iter().any(|word| word == "-help")
}

/// What `-help` prints.
pub fn help() -> String {
    let lines = [
        ("-run MODE", "simple, normal, advanced, oltp or dss; the only one that must be given"),
        ("-testname NAME", "reads NAME.lun and begins the names of the result files (orion)"),
        ("-num_disks N", "how many disks there are; it sets the loads (as many as LUNs)"),
        ("-size_small KB", "of small requests (8)"),
        ("-size_large KB", "of large requests (1024)"),
        ("-type rand|seq", "how large requests follow each other (rand)"),
        ("-num_streamIO N", "requests in flight of each stream (4)"),
        ("-simulate concat|raid0", "how the LUNs are put together (concat)"),
        ("-stripe KB", "what raid0 puts on each LUN in turn (1024)"),
        ("-write PERCENT", "part that writes; destroys data, so --destroy is needed as well (0)"),
        ("-cache_size MB", "random requests before each sequential data point (two minutes of them)"),
        ("-duration SECONDS", "of each data point (60)"),
        ("-matrix WHICH", "basic, detailed, point, col, row or max (basic)"),
        ("-num_small N", "small requests in flight, for point, col and max"),
        ("-num_large N", "large requests in flight, or streams, for point, row and max"),
        ("-verbose", "prints the log while it is made"),
        ("-hugenotneeded, -storax WAY", "change nothing here"),
        ("-shape 10.2|11.1|11.2", "whose files are written (11.1); FATHOM_ORION says it too"),
    ];
    let options: String = lines.iter().map(|(option, about)| format!("  {option:28}{about}\n")).collect();
    format!(
        "Usage: orion -run MODE [-testname NAME] [-num_disks N] [options]\n\n\
         NAME.lun holds one file, device or virtual array on each line; several LUNs of an array are\n\
         array:NAME?luns=N. A simple run reads.\n\n{options}"
    )
}

impl Command {
    /// Reads the arguments after the tool's name.
    pub fn parse(arguments: &[String]) -> Result<Command, Refusal> {
        let mut seen = Seen::default();
        let mut words = arguments.iter();
        while let Some(word) = words.next() {
            let Some(option) = OPTIONS.iter().find(|option| option.eq_ignore_ascii_case(word)) else {
                return Err(Refusal::unknown(TOOL, word, &OPTIONS));
            };
            match *option {
                "-verbose" => seen.verbose = true,
                "-help" => {}
                "-hugenotneeded" => seen.note("-hugenotneeded", "buffers are not in huge pages anyway"),
                option => {
                    let missing = || Refusal::Usage { tool: TOOL, what: format!("`{option}` needs a value") };
                    seen.take(option, words.next().ok_or_else(missing)?)?;
                }
            }
        }
        seen.finish(arguments)
    }

    /// The file that lists the LUNs.
    pub fn lun_file(&self) -> String {
        format!("{}.lun", self.name)
    }
}

/// What has been read so far.
#[derive(Default)]
struct Seen {
    run: Option<Mode>,
    name: Option<String>,
    disks: Option<u32>,
    small_kib: Option<u64>,
    large_kib: Option<u64>,
    large: Option<Large>,
    stream_ios: Option<u32>,
    raid0: Option<bool>,
    stripe_kib: Option<u64>,
    write: Option<u8>,
    cache_mib: Option<u64>,
    seconds: Option<u32>,
    matrix: Option<Matrix>,
    num_small: Option<u32>,
    num_large: Option<u32>,
    verbose: bool,
    shape: Shape,
    notes: Vec<String>,
}

impl Seen {
    fn take(&mut self, option: &str, value: &str) -> Result<(), Refusal> {
        let lower = value.to_ascii_lowercase();
        let wrong = |want: &str| Refusal::Value {
            tool: TOOL,
            option: option.into(),
            value: value.into(),
            want: want.into(),
        };
        let number = |from: u64, to: u64| match value.parse::<u64>() {
            Ok(number) if (from..=to).contains(&number) => Ok(number),
            _ => Err(wrong(&format!("a whole number from {from} to {to}"))),
        };
        let count = |from: u32| number(from.into(), MOST.into()).map(|count| narrow::<u32>(count));
        match option {
            "-run" => {
                self.run = Some(match lower.as_str() {
                    "simple" => Mode::Simple,
                    "normal" => Mode::Normal,
                    "advanced" => Mode::Advanced,
                    "dss" => Mode::Dss,
                    "oltp" => Mode::Oltp,
                    _ => return Err(wrong("simple, normal, advanced, oltp or dss")),
                });
            }
            "-testname" => {
                if value.ends_with(".lun") {
                    return Err(wrong("the name without `.lun`; the file of that name with `.lun` is read"));
                }
                let file = value.rsplit('/').next().unwrap_or_default();
                if file.is_empty() || value.contains(['\0', '\n', '\r']) {
                    return Err(wrong("the beginning of file names"));
                }
                self.name = Some(value.into());
            }
            "-num_disks" => self.disks = Some(count(1)?),
            "-size_small" => self.small_kib = Some(number(1, 1 << 20)?),
            "-size_large" => self.large_kib = Some(number(1, 1 << 20)?),
            "-type" => {
                self.large = Some(match lower.as_str() {
                    "rand" => Large::Random,
                    "seq" => Large::Sequential,
                    _ => return Err(wrong("rand or seq")),
                });
            }
            "-num_streamIO" => self.stream_ios = Some(count(1)?),
            "-simulate" => {
                self.raid0 = Some(match lower.as_str() {
                    "concat" => false,
                    "raid0" => true,
                    _ => return Err(wrong("concat or raid0")),
                });
            }
            "-stripe" => self.stripe_kib = Some(number(1, 1 << 30)?),
            "-write" => self.write = Some(narrow::<u8>(number(0, 100)?)),
            "-cache_size" => self.cache_mib = Some(number(0, 1 << 40)?),
            "-duration" => self.seconds = Some(narrow::<u32>(number(1, 1_000_000)?)),
            "-num_small" => self.num_small = Some(count(0)?),
            "-num_large" => self.num_large = Some(count(0)?),
            "-matrix" => {
                self.matrix = Some(match lower.as_str() {
                    "basic" => Matrix::Basic,
                    "detailed" => Matrix::Detailed,
                    "point" => Matrix::Point,
                    "col" | "column" => Matrix::Col,
                    "row" => Matrix::Row,
                    "max" => Matrix::Max,
                    _ => return Err(wrong("basic, detailed, point, col, row or max")),
                });
            }
            "-storax" => match lower.as_str() {
                "skgfr" => self.note("-storax skgfr", "requests go to the kernel as a plan's do"),
                "oss" | "asmlib" | "odmlib" => {
                    return Err(Refusal::Unsupported {
                        tool: TOOL,
                        option: format!("-storax {value}"),
                        why: "there is no Oracle library here; the kernel is asked, as with `skgfr`".into(),
                    });
                }
                _ => return Err(wrong("skgfr, oss, asmlib or odmlib")),
            },
            "-shape" => self.shape = Shape::named(&lower).ok_or_else(|| wrong("10.2, 11.1 or 11.2"))?,
            _ => return Err(Refusal::unknown(TOOL, option, &OPTIONS)),
        }
        Ok(())
    }

    fn note(&mut self, option: &str, why: &str) {
        self.notes.push(format!("`{option}` changes nothing: {why}"));
    }

    fn finish(mut self, arguments: &[String]) -> Result<Command, Refusal> {
        let usage = |what: String| Refusal::Usage { tool: TOOL, what };
        let Some(run) = self.run else {
            return Err(usage("say `-run simple`, normal, advanced, oltp or dss".into()));
        };
        self.fits(run)?;
        let large = self.large.unwrap_or(Large::Random);
        if large == Large::Random && self.stream_ios.is_some() {
            self.note("-num_streamIO", "there are no streams without `-type seq`");
        }
        if large == Large::Random && self.cache_mib.is_some_and(|mib| mib > 0) {
            self.note("-cache_size", "caches are warmed before sequential data points only, `-type seq`");
        }
        let raid0 = self.raid0.unwrap_or(false);
        if !raid0 && self.stripe_kib.is_some() {
            self.note("-stripe", "there are stripes only with `-simulate raid0`");
        }
        if let Some(mib @ 1_048_576..) = self.cache_mib {
            let tib = mib >> 20;
            self.notes.push(format!("`-cache_size {mib}` are {tib} TiB before each data point: it is in MB"));
        }
        let stripe_kib = self.stripe_kib.unwrap_or(1024);
        Ok(Command {
            words: arguments.to_vec(),
            run,
            name: self.name.unwrap_or_else(|| TOOL.into()),
            disks: self.disks,
            small_kib: self.small_kib.unwrap_or(8),
            large_kib: self.large_kib.unwrap_or(1024),
            large,
            stream_ios: self.stream_ios.unwrap_or(4),
            array: if raid0 { Simulated::Raid0 { stripe_kib } } else { Simulated::Concat },
            write: self.write.unwrap_or(0),
            cache_mib: self.cache_mib,
            seconds: self.seconds.unwrap_or(60),
            matrix: self.matrix.unwrap_or(Matrix::Basic),
            num_small: self.num_small,
            num_large: self.num_large,
            verbose: self.verbose,
            shape: self.shape,
            notes: self.notes,
        })
    }

    /// That nothing contradicts the mode, and nothing that the matrix needs is missing.
    fn fits(&mut self, run: Mode) -> Result<(), Refusal> {
        let usage = |what: String| Err(Refusal::Usage { tool: TOOL, what });
        let own = match run {
            Mode::Simple => (Some(Matrix::Basic), None, None, true),
            Mode::Normal => (Some(Matrix::Detailed), None, None, true),
            Mode::Oltp => (Some(Matrix::Row), None, Some(0), true),
            Mode::Dss => (Some(Matrix::Col), Some(0), None, true),
            Mode::Advanced => (None, None, None, false),
        };
        let (matrix, small, large, fixed) = own;
        if fixed {
            let contradicts = [
                ("-matrix", self.matrix.is_some() && self.matrix != matrix),
                ("-num_small", self.num_small.is_some() && self.num_small != small),
                ("-num_large", self.num_large.is_some() && self.num_large != large),
                ("-type", self.large == Some(Large::Sequential)),
            ];
            if let Some((option, _)) = contradicts.iter().find(|(_, contradicts)| *contradicts) {
                let name = format!("{run:?}").to_lowercase();
                return usage(format!("`-run {name}` has its own `{option}`; say `-run advanced` to choose"));
            }
            return Ok(());
        }
        let matrix = self.matrix.unwrap_or(Matrix::Basic);
        let (wants_small, wants_large) = match matrix {
            Matrix::Basic | Matrix::Detailed => (false, false),
            Matrix::Point | Matrix::Max => (true, true),
            Matrix::Col => (true, false),
            Matrix::Row => (false, true),
        };
        let name = format!("{matrix:?}").to_lowercase();
        for (option, wanted, given) in
            [("-num_small", wants_small, self.num_small), ("-num_large", wants_large, self.num_large)]
        {
            match (wanted, given) {
                (true, None) => return usage(format!("`-matrix {name}` needs `{option}`")),
                (false, Some(_)) => self.note(option, &format!("`-matrix {name}` sets it")),
                _ => {}
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Command, Refusal> {
        Command::parse(&line.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn what_is_not_said_is_as_orion_has_it() {
        let command = parse("-run simple").unwrap();
        assert_eq!((command.name.as_str(), command.disks), ("orion", None));
        assert_eq!((command.small_kib, command.large_kib, command.stream_ios), (8, 1024, 4));
        assert_eq!((command.write, command.cache_mib, command.seconds), (0, None, 60));
        assert_eq!((command.large, command.array), (Large::Random, Simulated::Concat));
        assert_eq!(command.lun_file(), "orion.lun");
        let raid0 = parse("-run advanced -simulate RAID0 -matrix column -num_small 0").unwrap();
        assert_eq!(raid0.array, Simulated::Raid0 { stripe_kib: 1024 });
        assert_eq!((raid0.matrix, raid0.num_small), (Matrix::Col, Some(0)));
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (line, words) in [
            ("", "-run simple"),
            ("-run fast", "simple, normal"),
            ("-run simple -num_disk 4", "did you mean `-num_disks`"),
            ("-run simple -num_disks 0", "from 1"),
            ("-run simple -num_disks", "needs a value"),
            ("-run simple -testname my.lun", "without `.lun`"),
            ("-run simple -testname /tmp/", "file names"),
            ("-run simple -matrix point", "-run advanced"),
            ("-run oltp -num_large 3", "-run advanced"),
            ("-run dss -type seq", "-run advanced"),
            ("-run advanced -matrix point -num_small 3", "needs `-num_large`"),
            ("-run advanced -matrix row", "needs `-num_large`"),
            ("-run advanced -write 101", "from 0 to 100"),
            ("-run advanced -storax asmlib", "no Oracle library"),
            ("-run advanced -simulate raid5", "concat or raid0"),
            ("-run simple -shape 9i", "10.2, 11.1 or 11.2"),
        ] {
            let refusal = parse(line).unwrap_err().to_string();
            assert!(refusal.contains(words), "{line}: {refusal}");
        }
    }

    #[test]
    fn what_changes_nothing_is_noted() {
        let command = parse(
            "-run advanced -num_streamIO 8 -stripe 64 -hugenotneeded -num_small 3 -cache_size 1 -storax skgfr",
        );
        assert_eq!(command.unwrap().notes.len(), 6);
        assert_eq!(parse("-run simple -matrix basic -num_disks 3").unwrap().notes.len(), 0);
        assert!(parse("-run advanced -type seq -cache_size 67108864").unwrap().notes[0].contains("64 TiB"));
    }

    #[test]
    fn help_names_every_option() {
        for option in OPTIONS.iter().filter(|option| **option != "-help") {
            assert!(help().contains(option), "{option}");
        }
        assert!(asks_for_help(&[]) && asks_for_help(&["-run".into(), "-help".into()]));
    }
}
