//! What a command line of fio asks for beside its jobs: reports and their places, and a command beside them.

/// What fio is to print.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wanted {
    /// In the order they were asked for; never empty once read.
    pub formats: Vec<Format>,
    /// In place of stdout.
    pub file: Option<String>,
    /// Only check the jobs.
    pub parse_only: bool,
    /// Nothing is made or extended.
    pub is_readonly: bool,
    /// Only merge the traces that the jobs name.
    pub merge_only: bool,
    /// Only print the lines of this log, which is stored compressed.
    pub inflated: Option<String>,
    /// Only print this: the version, help, or jobs as a command line.
    pub answer: Option<String>,
    /// Which terse lines, 2 to 5; 0 stands for 3.
    pub terse_version: u8,
    /// Say on stderr what a job asks for and does not get.
    pub verbose: bool,
    /// A command that is run beside the jobs.
    pub trigger: Trigger,
    /// Report what was done so far after each time of so many nanoseconds, too.
    pub status_every_ns: Option<u64>,
    /// Write the bandwidth of all jobs together, by operation.
    pub all_bandwidth: Option<String>,
}

/// `--trigger`, and when.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trigger {
    /// What is run, once.
    pub command: Option<String>,
    /// When this file is there, which is then removed.
    pub file: Option<String>,
    /// Or once the jobs have run for so long, in nanoseconds.
    pub after_ns: Option<u64>,
}

impl Trigger {
    /// Whether anything is waited for.
    pub fn is_armed(&self) -> bool {
        self.file.is_some() || self.after_ns.is_some()
    }
}

/// The job file that is read from the standard input.
pub const STDIN: &str = "-";

/// The version whose job files and outputs are meant, as fio prints it.
pub const VERSION: &str = "fio-3.42";

/// One of fio's output formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Text to read.
    Normal,
    /// Semicolons.
    Terse,
    /// JSON.
    Json,
    /// JSON with every bucket of the histograms.
    JsonPlus,
}

impl Format {
    /// Those of `asked`, in the order in which fio prints them whatever the order they are asked in: terse lines, one JSON, text.
    pub(super) fn in_order(asked: &[Format]) -> Vec<Format> {
        let json = if asked.contains(&Format::JsonPlus) { Format::JsonPlus } else { Format::Json };
        let is_asked = |format: Format| match format {
            Format::Json | Format::JsonPlus => {
                asked.contains(&Format::Json) || asked.contains(&Format::JsonPlus)
            }
            format => asked.contains(&format),
        };
        [Format::Terse, json, Format::Normal].into_iter().filter(|format| is_asked(*format)).collect()
    }
}
