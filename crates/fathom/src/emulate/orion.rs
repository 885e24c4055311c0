//! `fathom as orion -run simple -testname NAME …`
//!
//! The LUNs are listed in `NAME.lun`. The results go to files whose names begin with `NAME_` and, from 11.1 on, the
//! date. `-shape`, or `FATHOM_ORION` in the environment, says whose files: 10.2, 11.1 or 11.2.
//!
//! **Invariant:** a file is written over only where it is a result of Orion's.

use std::fs;

use conduct::Event;
use formats::Refusal;
use formats::orion::{
    self, Command, Figures, Grid, Lun, Shape, Test, asks_for_help, best, help, histograms, luns, summary,
    trace, trace_of,
};
use jiff::Zoned;
use real::LookKind;
use record::Run;
use units::convert::narrow;

use super::{Context, Scratch};
use crate::ending::{Ending, Failure};
use crate::input::environment;
use crate::input::targets::look;
use crate::output;
use crate::output::print;

pub fn run(context: &Context<'_>, arguments: &[String]) -> Result<Ending, Failure> {
    if asks_for_help(arguments) {
        print(&help())?;
        return Ok(Ending::done());
    }
    let mut command = Command::parse(arguments)?;
    if let (Ok(version), false) = (std::env::var("FATHOM_ORION"), says_shape(arguments)) {
        let unknown =
            || Failure::Usage(format!("FATHOM_ORION: there is no shape {version}; 10.2, 11.1 or 11.2"));
        command.shape = Shape::named(&version).ok_or_else(unknown)?;
    }
    let luns = listed(&command)?;
    assert!(!luns.is_empty(), "what lists no LUN was refused");
    let grid = command.grid(narrow::<u32>(luns.len()))?;
    let order = command.translate(&luns, &grid, context.seed())?;
    let files = Files::named(&command);
    files.check()?;
    let session = context.open("orion", &order, Scratch::default())?;
    print(&greeting(&command, &grid, &files))?;
    let mut lost = Ok(());
    let recorded = session.measure(&mut |event| {
        if let (Event::PointEnded { point }, true, Ok(())) = (event, command.verbose, &lost) {
            lost = print(&trace_of(point));
        }
    });
    let figures = Figures::of(&recorded.run.points);
    if !figures.is_empty() {
        if command.shape == Shape::V112 {
            print(&best(&figures, command.shape))?;
        }
        files.write(&command, &grid, &recorded.run, &figures)?;
    }
    lost?;
    Ok(context.end(recorded))
}

fn says_shape(arguments: &[String]) -> bool {
    arguments.iter().any(|word| word.eq_ignore_ascii_case("-shape"))
}

/// What is listed, each of it there.
fn listed(command: &Command) -> Result<Vec<Lun>, Failure> {
    let file = command.lun_file();
    let text = environment::text(&file).map_err(|error| {
        Failure::Usage(format!("orion: {file}, which lists what is measured, cannot be read: {error}"))
    })?;
    let luns = luns(&file, &text)?;
    for Lun { line, name } in &luns {
        let wrong = |what: String| Failure::Tool(Refusal::Line { file: file.clone(), line: *line, what });
        let found = look(name)?;
        match found.kind {
            LookKind::Directory => {
                return Err(wrong(format!("{name} is a directory; name a file or a device")));
            }
            LookKind::NewFile => return Err(wrong(format!("{name}: there is no such file or device"))),
            LookKind::Device | LookKind::File => {}
        }
        let largest = command.small_kib.max(command.large_kib) << 10;
        if found.size.get() < largest {
            return Err(wrong(format!("{name} has {}, a request {largest} bytes", found.size)));
        }
    }
    Ok(luns)
}

fn greeting(command: &Command, grid: &Grid, files: &Files) -> String {
    let (shape, minutes) = (command.shape, grid.minutes(command.seconds));
    let words = match shape {
        Shape::V10 | Shape::V11 => {
            format!("Test will take approximately {minutes} minutes\nLarger caches may take longer\n")
        }
        Shape::V112 => format!(
            "Calibration will take approximately {minutes} minutes.\nUsing a large value for -cache_size may take \
             longer.\n\n"
        ),
    };
    format!("ORION: ORacle IO Numbers -- Version {}\n{}\n{words}", shape.version(), files.begin)
}

/// The files of one test.
struct Files {
    /// What their names begin with, without the last `_`.
    begin: String,
}

/// How the text of each file begins, whatever the version: what is written over begins so too.
const BEGINNINGS: [&str; 8] = [
    "ORION VERSION",
    "Large/Small",
    "Throughput of large requests",
    "Rate of small requests",
    "Mean latency of small requests",
    "Small Read / Write Latency",
    "Large Read / Write Latency",
    "ORION TRACE",
];

const NAMES: [&str; 6] = ["summary.txt", "mbps.csv", "iops.csv", "lat.csv", "hist.txt", "trace.txt"];

const _: () = {
    let mut at = 0;
    while at < BEGINNINGS.len() {
        assert!(!BEGINNINGS[at].is_empty(), "every file begins with nothing");
        at += 1;
    }
};

impl Files {
    fn named(command: &Command) -> Files {
        let name = &command.name;
        match command.shape {
            Shape::V10 => Files { begin: name.clone() },
            Shape::V11 | Shape::V112 => {
                let begin = format!("{name}_{}", Zoned::now().strftime("%Y%m%d_%H%M"));
                // A test of the same minute has its results there.
                let mut names = (1..).map(|number| match number {
                    1 => begin.clone(),
                    _ => format!("{begin}_{number}"),
                });
                let is_free = |begin: &String| {
                    let files = Files { begin: begin.clone() };
                    NAMES.iter().all(|name| fs::symlink_metadata(files.path(name)).is_err())
                };
                Files { begin: names.find(is_free).unwrap_or(begin) }
            }
        }
    }

    fn path(&self, name: &str) -> String {
        format!("{}_{name}", self.begin)
    }

    /// That no file of somebody else is in the way.
    fn check(&self) -> Result<(), Failure> {
        for path in NAMES.map(|name| self.path(name)) {
            let is_ours = match fs::symlink_metadata(&path) {
                Err(_) => continue,
                Ok(stat) => {
                    let begins = |text: String| BEGINNINGS.iter().any(|words| text.starts_with(words));
                    stat.is_file() && (stat.len() == 0 || environment::text(&path).is_ok_and(begins))
                }
            };
            if !is_ours {
                let why = "is in the way of the results and is none of Orion's; move it, or say another `-testname`";
                return Err(Failure::Usage(format!("orion: {path} {why}")));
            }
        }
        Ok(())
    }

    fn write(&self, command: &Command, grid: &Grid, run: &Run, figures: &Figures) -> Result<(), Failure> {
        let (small, large, shape) = (grid.small(), grid.large(), command.shape);
        let luns: Vec<(String, u64)> =
            run.targets.iter().map(|target| (target.address.clone(), target.size_bytes)).collect();
        let texts = [
            summary(&Test::of(command, grid), &luns, figures, shape),
            orion::mbps(figures, &small, &large, shape),
            orion::iops(figures, &small, &large, shape),
            orion::latencies(figures, &small, &large, shape),
            histograms(figures),
            format!("ORION TRACE {}\n\n{}", run.id, trace(&run.points)),
        ];
        debug_assert!(
            texts.iter().all(|text| BEGINNINGS.iter().any(|words| text.starts_with(words))),
            "what is written is known as Orion's by the next test"
        );
        for (name, text) in NAMES.iter().zip(texts) {
            output::write_whole(self.path(name).as_ref(), &text)?;
        }
        Ok(())
    }
}
