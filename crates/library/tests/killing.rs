//! A process that is killed in the middle of a save leaves nothing half done.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Stdio};
use std::time::Duration;

use library::{Durability, Filter, Kept, Library, Location};
use record::Run;
use record::sample::{self, Stream};
use units::convert::narrow;

use crate::{Shelf, on_each, remove_all_but, same};

const KILLED: &str = "FATHOM_TEST_KILLED_LIBRARY";
const ROUND: &str = "FATHOM_TEST_ROUND";

/// How often a process is killed: `FATHOM_KILLS`, or 50 times.
fn rounds() -> u32 {
    std::env::var("FATHOM_KILLS").ok().and_then(|text| text.parse().ok()).unwrap_or(50)
}

/// A moment within the first milliseconds of a save, another in each round.
fn moment(round: u32) -> Duration {
    const LONGEST_US: u64 = 8_000;
    // SplitMix64, Steele, Lea and Flood 2014.
    let mut mixed = (u64::from(round) + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    Duration::from_micros((mixed ^ (mixed >> 31)) % LONGEST_US)
}

/// A run of hundreds of kilobytes, so that a save is many writes long.
fn large(round: u32, number: u32) -> Run {
    let stream = |op| Stream {
        op,
        size_bytes: 8192,
        per_s: 20_000,
        median_ns: 150_000 + u64::from(number),
        spread: 1.0,
    };
    let point = |index| {
        sample::point(index, "mixed", vec![sample::workload("a", &[stream("read"), stream("write")])])
    };
    let mut run = sample::run("oltp", (0..4).map(point).collect());
    run.id = format!("round-{round:03}-{number:05}");
    run
}

#[test]
#[ignore = "started, and killed, by `a_save_that_is_killed_leaves_every_reported_run_whole_and_no_other`"]
fn a_process_that_saves_until_it_is_killed() {
    let (Some(path), Ok(round)) = (std::env::var_os(KILLED), std::env::var(ROUND)) else { return };
    let round: u32 = round.parse().expect("the parent gives a number");
    let mut library = Library::open(&std::path::PathBuf::from(path).into())
        .expect("what a killed process left can be opened");
    let mut out = std::io::stdout();
    for number in 0.. {
        let run = large(round, number);
        let _ = writeln!(out, "\nsaving {number}");
        library.save(&run).expect("there is space");
        let _ = writeln!(out, "\nsaved {number}");
    }
}

#[test]
#[ignore = "started, and killed, by `points_that_were_reported_are_there_after_a_kill`"]
fn a_process_that_adds_points_until_it_is_killed() {
    let Some(path) = std::env::var_os(KILLED) else { return };
    let mut library = Library::open(&std::path::PathBuf::from(path).into()).expect("it can be opened");
    let points = large(0, 0).points;
    let (mut run, mut kept) = (large(0, 0).without_points(), Kept::default());
    let mut out = std::io::stdout();
    for number in 0.. {
        run.points.push(record::Point { index: number, ..points[number as usize % points.len()].clone() });
        let _ = writeln!(out, "\nsaving {number}");
        library.extend(&run, &mut kept, Durability::Later).expect("there is space");
        let _ = writeln!(out, "\nsaved {number}");
    }
}

#[test]
fn points_that_were_reported_are_there_after_a_kill() {
    for round in 0..rounds() / 5 {
        on_each(|shelf| {
            let child = "killing::a_process_that_adds_points_until_it_is_killed";
            let heard = kill(child, shelf, round, 20 + round % 20, moment(round));
            let library = shelf.open();
            assert_eq!(library.check().unwrap(), [] as [String; 0]);
            let run = library.get("last").unwrap();
            let saved = narrow::<u32>(run.points.len());
            assert!((heard.done..=heard.begun).contains(&saved), "{saved} saved, {} reported", heard.done);
            assert!(run.points.iter().map(|point| point.index).eq(0..saved));
        });
    }
}

/// What a process said before it was killed.
struct Heard {
    /// Saves it had begun.
    begun: u32,
    /// Saves that had returned.
    done: u32,
}

/// Starts a process that saves, and kills it `after` the beginning of its save number `which`, counted from 1.
#[expect(
    clippy::disallowed_methods,
    reason = "the test waits in real time, for a place in the middle of a save"
)]
fn kill(child: &str, shelf: &Shelf, round: u32, which: u32, after: Duration) -> Heard {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--ignored", "--exact", "--nocapture", child])
        .env(KILLED, shelf.name())
        .env(ROUND, round.to_string())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().expect("it is piped")).lines().map_while(Result::ok);
    let mut heard = Heard { begun: 0, done: 0 };
    while heard.begun < which {
        heard.note(&lines.next().expect("it saves until it is killed"));
    }
    std::thread::sleep(after);
    child.kill().unwrap();
    lines.for_each(|line| heard.note(&line));
    assert_eq!(child.wait().unwrap().signal(), Some(libc::SIGKILL));
    heard
}

impl Heard {
    fn note(&mut self, line: &str) {
        self.begun += u32::from(line.starts_with("saving "));
        self.done += u32::from(line.starts_with("saved "));
    }
}

#[test]
fn a_save_that_is_killed_leaves_every_reported_run_whole_and_no_other() {
    on_each(|shelf| {
        let mut cut_short = 0;
        // What a server keeps of a save is not for this program to decide.
        let rounds = if matches!(shelf.place(), Location::File(_)) { rounds() } else { rounds() / 5 };
        for round in 0..rounds {
            let child = "killing::a_process_that_saves_until_it_is_killed";
            let heard = kill(child, shelf, round, 1 + round % 3, moment(round));
            let mut library = shelf.open();
            assert_eq!(library.check().unwrap(), [] as [String; 0]);
            let prefix = format!("round-{round:03}-");
            let entries = library.list(&Filter::default()).unwrap();
            let saved = narrow::<u32>(entries.iter().filter(|entry| entry.id.starts_with(&prefix)).count());
            // Between the end of a save and its report there is time to be killed, too.
            assert!((heard.done..=heard.begun).contains(&saved), "{saved} saved, {} reported", heard.done);
            cut_short += heard.begun - saved;
            for number in 0..saved {
                same(&library.get(format!("{prefix}{number:05}").as_str()).unwrap(), &large(round, number));
            }
            // A few stay, so that what later kills leave of them is seen as well.
            remove_all_but(2, &mut library);
        }
        assert!(cut_short > rounds / 5, "only {cut_short} of {rounds} kills came within a save");
    });
}
