//! Orion's command line.

use units::convert::narrow;

use super::TOOL;
use crate::Refusal;
use crate::options::{Given, Opt, Style, Syntax, flag, ignored, number, one_of, parsed, unsupported};

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

/// The most requests in flight, streams or requests of a stream that one data point may ask for.
pub(super) const MOST: u32 = 65_536;

/// Whether no test is asked for but what can be asked.
pub fn asks_for_help(arguments: &[String]) -> bool {
    arguments.is_empty() || arguments.iter().any(|word| word == "-help")
}

/// What `-help` prints.
pub fn help() -> String {
    let options = SYNTAX.help();
    format!(
        "Usage: orion -run MODE [-testname NAME] [-num_disks N] [options]\n\n\
         NAME.lun holds one file, device or virtual array on each line; several LUNs of an array are\n\
         array:NAME?luns=N. A simple run reads.\n\n{options}"
    )
}

impl Command {
    /// Reads the arguments after the tool's name.
    pub fn parse(arguments: &[String]) -> Result<Command, Refusal> {
        let mut draft = Draft::default();
        SYNTAX.read(&mut draft, arguments)?;
        draft.finish(arguments)
    }

    /// The file that lists the LUNs.
    pub fn lun_file(&self) -> String {
        format!("{}.lun", self.name)
    }
}

/// What has been read so far.
#[derive(Default)]
pub(crate) struct Draft {
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

pub(crate) const SYNTAX: Syntax<Draft> = Syntax {
    tool: TOOL,
    style: Style::Words,
    any_case: true,
    notes: |draft| &mut draft.notes,
    options: &[OPTIONS],
    operand: |_, word| Err(SYNTAX.unknown(word)),
};

const OPTIONS: &[Opt<Draft>] = &[
    one_of(
        "-run",
        "the only one that must be given",
        &[
            flag("simple", "small alone, then large alone", |draft| draft.run = Some(Mode::Simple)),
            flag("normal", "all combinations", |draft| draft.run = Some(Mode::Normal)),
            flag("advanced", "as the other options say", |draft| draft.run = Some(Mode::Advanced)),
            flag("oltp", "small alone", |draft| draft.run = Some(Mode::Oltp)),
            flag("dss", "large random alone", |draft| draft.run = Some(Mode::Dss)),
        ],
    ),
    parsed(
        "-testname",
        "NAME",
        "reads NAME.lun and begins the names of the result files (orion)",
        |draft, given| test_name(given).map(|name| draft.name = Some(name)),
    ),
    number(
        "-num_disks",
        "how many disks there are; it sets the loads (as many as LUNs)",
        1..=MOST,
        |draft, disks| {
            draft.disks = Some(disks);
        },
    ),
    number("-size_small", "KB of small requests (8)", 1..=1 << 20, |draft, kib| {
        draft.small_kib = Some(kib.into());
    }),
    number("-size_large", "KB of large requests (1024)", 1..=1 << 20, |draft, kib| {
        draft.large_kib = Some(kib.into());
    }),
    one_of(
        "-type",
        "how large requests follow each other (rand)",
        &[
            flag("rand", "anywhere", |draft| draft.large = Some(Large::Random)),
            flag("seq", "in streams", |draft| draft.large = Some(Large::Sequential)),
        ],
    ),
    number("-num_streamIO", "requests in flight of each stream (4)", 1..=MOST, |draft, ios| {
        draft.stream_ios = Some(ios);
    }),
    one_of(
        "-simulate",
        "how the LUNs are put together (concat)",
        &[
            flag("concat", "one after the other", |draft| draft.raid0 = Some(false)),
            flag("raid0", "in turn", |draft| draft.raid0 = Some(true)),
        ],
    ),
    number("-stripe", "KB that raid0 puts on each LUN in turn (1024)", 1..=1 << 30, |draft, kib| {
        draft.stripe_kib = Some(kib.into());
    }),
    number(
        "-write",
        "percent that writes; destroys data, so --destroy is needed as well (0)",
        0..=100,
        |draft, percent| draft.write = Some(narrow::<u8>(percent)),
    ),
    parsed(
        "-cache_size",
        "MB",
        "random requests before each sequential data point (two minutes of them)",
        |draft, given| given.number(0..=1 << 40).map(|mib| draft.cache_mib = Some(mib)),
    ),
    number("-duration", "seconds of each data point (60)", 1..=1_000_000, |draft, seconds| {
        draft.seconds = Some(seconds);
    }),
    one_of(
        "-matrix",
        "which data points there are (basic)",
        &[
            flag("basic", "the first row and the first column", |draft| draft.matrix = Some(Matrix::Basic)),
            flag("detailed", "all", |draft| draft.matrix = Some(Matrix::Detailed)),
            flag("point", "one", |draft| draft.matrix = Some(Matrix::Point)),
            flag("col column", "large varies, small is fixed", |draft| draft.matrix = Some(Matrix::Col)),
            flag("row", "small varies, large is fixed", |draft| draft.matrix = Some(Matrix::Row)),
            flag("max", "all up to both numbers", |draft| draft.matrix = Some(Matrix::Max)),
        ],
    ),
    number("-num_small", "small requests in flight, for point, col and max", 0..=MOST, |draft, small| {
        draft.num_small = Some(small);
    }),
    number(
        "-num_large",
        "large requests in flight, or streams, for point, row and max",
        0..=MOST,
        |draft, large| draft.num_large = Some(large),
    ),
    flag("-verbose", "prints the log while it is made", |draft| draft.verbose = true),
    ignored("-hugenotneeded", "buffers are not in huge pages anyway"),
    one_of(
        "-storax",
        "changes nothing here",
        &[
            ignored("skgfr", "requests go to the kernel as a plan's do"),
            unsupported("oss asmlib odmlib", "there is no Oracle library here; use `skgfr`"),
        ],
    ),
    parsed(
        "-shape",
        "10.2|11.1|11.2",
        "whose files are written (11.1); FATHOM_ORION says it too",
        |draft, given| {
            let named = |version: &str| Shape::named(&version.to_ascii_lowercase());
            given.read(named, "10.2, 11.1 or 11.2").map(|shape| draft.shape = shape)
        },
    ),
    flag("-help", "", |_| {}),
];

fn test_name(given: &Given<'_>) -> Result<String, Refusal> {
    let name = given.value;
    if name.ends_with(".lun") {
        return Err(given.wrong("the name without `.lun`; the file of that name with `.lun` is read"));
    }
    let file = name.rsplit('/').next().unwrap_or_default();
    match file.is_empty() || name.contains(['\0', '\n', '\r']) {
        true => Err(given.wrong("the beginning of file names")),
        false => Ok(name.into()),
    }
}

impl Draft {
    fn note(&mut self, option: &str, why: &str) {
        self.notes.push(format!("`{option}` changes nothing: {why}"));
    }

    fn finish(mut self, arguments: &[String]) -> Result<Command, Refusal> {
        let usage = |what: String| Refusal::usage(TOOL, what);
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
        debug_assert!(self.write.is_none_or(|part| part <= 100), "no more than all is written");
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
        let usage = |what: String| Err(Refusal::usage(TOOL, what));
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
