//! How often what is stated of an array is so: of hidden arrays of the family, and of the library's.

use std::collections::BTreeMap;

use fit::{Counted, Ground, Identification, Identified, Unknown};
use record::Point;

use crate::asking::{HELD_OUT, asked_in_full, fitted, measured};
use crate::family::Hidden;

/// An array of which everything is known, and what of it can be named from outside.
struct Case {
    name: String,
    text: String,
    /// Members, a mirrored pair counted as one; `None` where the family of models has no such array.
    members: Option<u32>,
    chunk_kib: Option<u32>,
    level: &'static str,
}

/// Its name, what is laid over it, members, chunk in KiB, and level.
type Known = (&'static str, &'static str, Option<u32>, Option<u32>, &'static str);

/// Arrays of the library as their files have them: what is laid out otherwise than over one set of equal members is not
/// among the models.
const LIBRARY: &[Known] = &[
    ("drobo-pro", "", Some(8), Some(16), "5"),
    ("drobo-usb", "", Some(4), Some(16), "5"),
    ("ds2413plus", "", Some(4), Some(64), "0"),
    ("dsi3500", "", None, None, "0"),
    ("esds-s24s-g2240", "", None, None, "6"),
    ("ix2-200", "", Some(1), None, "0"),
    ("ix4-200d", "", Some(4), Some(64), "5"),
    ("local-sata-raid1", "", Some(1), None, "0"),
    ("local-ssd-raid0", "", Some(2), Some(128), "0"),
    ("md3000", "", Some(7), Some(128), "0"),
    ("md3000", "[raid]\nlevel = \"5\"\ndisks = 14\n", Some(14), Some(128), "5"),
    ("nearline-60", "", None, None, "6"),
    ("perc-2-qc", "", Some(12), Some(64), "5"),
    ("perc-3-qc", "", Some(12), Some(64), "5"),
    ("px6-300d", "", Some(6), Some(64), "5"),
    ("queue", "", Some(1), None, "0"),
    ("sas-ssd-24", "", Some(23), Some(128), "6"),
];

impl Case {
    fn truth(&self) -> String {
        match (self.members, self.chunk_kib) {
            (Some(members), Some(chunk)) => format!("({members} of {chunk} KiB, RAID {})", self.level),
            (Some(_), None) => "(a single one)".into(),
            (None, _) => "(no model has it)".into(),
        }
    }

    fn tally_layout(&self, identified: &Identified, tally: &mut Tally) {
        tally.add(&self.name, &identified.members, self.members);
        tally.add(&self.name, &identified.chunk, self.chunk_kib.map(|chunk| u64::from(chunk) << 10));
        if let Ok(told) = &identified.level
            && told.ground == Ground::Skipped
        {
            tally.add(&self.name, &Ok(named(*told)), self.members.map(|_| self.level));
        }
    }
}

fn cases() -> Vec<Case> {
    let library = LIBRARY.iter().map(|(name, more, members, chunk_kib, level)| Case {
        name: if more.is_empty() { (*name).into() } else { format!("{name}, RAID {level}") },
        text: format!("name = \"hidden\"\ninherits = \"{name}\"\n{more}"),
        members: *members,
        chunk_kib: *chunk_kib,
        level,
    });
    let family = FAMILY.iter().map(|seed| {
        let hidden = Hidden::draw(*seed);
        Case {
            name: seed.to_string(),
            text: hidden.text(),
            members: Some(hidden.members),
            chunk_kib: Some(hidden.chunk_kib),
            level: if hidden.level == "10" { "0" } else { hidden.level },
        }
    });
    library.chain(family).collect()
}

/// Seeds of the family.
const FAMILY: &[u64] = &[
    0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 20, 21, 22, 25, 26, 27, 30, 31, 32, 35,
    36,
];

/// Right and all statements by ground.
#[derive(Default)]
struct Tally(BTreeMap<Ground, Counted>, Vec<String>);

impl Tally {
    /// Counts a statement; `truth` is `None` where nothing may be stated.
    fn add<T: PartialEq + Copy + std::fmt::Debug>(
        &mut self,
        name: &str,
        told: &Result<Identification<T>, Unknown>,
        truth: Option<T>,
    ) {
        let Ok(told) = told else { return };
        let counted = self.0.entry(told.ground).or_default();
        counted.of += 1;
        counted.right += u32::from(truth == Some(told.value));
        if truth != Some(told.value) {
            self.1.push(format!("{name}: {:?} by {:?}, true {truth:?}", told.value, told.ground));
        }
    }

    /// Stated share, with each array left out in turn, beside the share that is right.
    fn rows(&self) -> Vec<String> {
        let row = |(ground, Counted { right, of }): (&Ground, &Counted)| {
            let (right, of) = (f64::from(*right), f64::from(*of));
            let without = |hit: f64| (right - hit) / (of - 1.0).max(1.0);
            let stated = (right * without(1.0) + (of - right) * without(0.0)) / of;
            let least = ground.counted().at_least();
            format!("| {ground:?} | {of} | {stated:.2} | {:.2} | {:.0} % |", right / of, least * 100.0)
        };
        self.0.iter().map(row).collect()
    }
}

fn wanted() -> Vec<Case> {
    let only = std::env::var("FIT_CASES").ok();
    let wanted = |case: &Case| only.as_ref().is_none_or(|only| only.split(';').any(|name| name == case.name));
    cases().into_iter().filter(wanted).collect()
}

/// `FIT_STORE=folder cargo test --release -p fathom-fit --test hidden -- --ignored --nocapture members_are_as_often`;
/// what it gave is in benches/RESULTS.md, "Calibration of statements".
#[test]
#[ignore = "half an hour of computing"]
fn members_are_as_often_right_as_their_statement_says() {
    let mut tally = Tally::default();
    for case in wanted() {
        let run = [measured("calibrate", &case.text)];
        let identified = fit::layout(&run).unwrap();
        println!("{} {}: {identified:?}", case.name, case.truth());
        case.tally_layout(&identified, &mut tally);
    }
    println!("{}\n{}", tally.rows().join("\n"), tally.1.join("\n"));
    for ground in [Ground::Members, Ground::MembersBySize, Ground::Chunk, Ground::Skipped] {
        assert_eq!(tally.0.get(&ground).copied(), Some(ground.counted()), "{ground:?}");
    }
}

/// The same with writes, and loads that no point has: hours. `FIT_CASES=md3000;0;1` takes other arrays.
#[test]
#[ignore = "hours of computing"]
fn levels_and_loads_are_as_often_right_as_their_statement_says() {
    let mut tally = Tally::default();
    let mut rates = BTreeMap::<&str, Counted>::new();
    let mut p99s = Counted::default();
    let loads = HELD_OUT.replace("{SECONDS}", "6") + STREAMS;
    for case in wanted().into_iter().filter(|case| FITTED.contains(&case.name.as_str())) {
        let runs = [measured("calibrate", &case.text), measured("calibrate-writes", &case.text)];
        let fit = fitted(&runs);
        println!("{} {}", case.name, case.truth());
        fit.lines.iter().take(9).for_each(|line| {
            println!("  {}: {}: {}", line.what, line.value.as_deref().unwrap_or("not fitted"), line.words);
        });
        fit.trust.iter().for_each(|sentence| println!("  {sentence}"));
        let level = fit.identified.level.map(named);
        tally.add(&case.name, &level, case.members.map(|_| case.level));
        let real = asked_in_full(&loads, &case.text, None);
        let modelled = asked_in_full(&loads, &fit.text, None);
        for (real, model) in real.iter().zip(&modelled) {
            let off = rate(model) / rate(real);
            count(rates.entry(kind(&real.name)).or_default(), off, 0.15);
            let ops = [record::Op::Read, record::Op::Write]
                .map(|op| p99(model, op).zip(p99(real, op)).map(|(model, real)| model / real));
            ops.iter().flatten().for_each(|off| count(&mut p99s, *off, 0.25));
            println!("  load {:<28} rate {off:.2} p99 {ops:.2?}", real.name);
        }
    }
    println!("{}\n{}\n{rates:?}\np99 {p99s:?}", tally.rows().join("\n"), tally.1.join("\n"));
    assert_eq!(tally.0.get(&Ground::Writes).copied().unwrap_or_default(), Ground::Writes.counted());
    assert_eq!(rates, BTreeMap::from(fit::PREDICTED));
    assert_eq!(p99s, fit::PREDICTED_P99);
}

/// Arrays whose writes are fitted too.
const FITTED: &[&str] = &[
    "drobo-pro",
    "drobo-usb",
    "ds2413plus",
    "ix2-200",
    "ix4-200d",
    "local-ssd-raid0",
    "md3000",
    "perc-2-qc",
    "perc-3-qc",
    "px6-300d",
    "queue",
    "0",
];

fn count(counted: &mut Counted, ratio: f64, within: f64) {
    counted.of += 1;
    counted.right += u32::from((ratio - 1.0).abs() <= within);
}

fn named(told: Identification<fit::Level>) -> Identification<&'static str> {
    Identification { ground: told.ground, clearness: told.clearness, value: told.value.name() }
}

/// The kind of a load that no point has.
fn kind(load: &str) -> &'static str {
    match load {
        "4k and 64k x48" => "random reads",
        "sequential 256k reads x4" => "sequential reads",
        "sequential 256k writes x4" => "sequential writes",
        _ => "mixed reads and writes",
    }
}

fn rate(point: &Point) -> f64 {
    point.workloads[0].total().unwrap().ops_per_s.value
}

/// Of one operation; `None` where the load has none of it.
fn p99(point: &Point, op: record::Op) -> Option<f64> {
    let mut all = stats::Histogram::new();
    for class in point.workloads[0].classes.iter().filter(|class| class.op == op) {
        all.merge(&class.response.to_stats().unwrap());
    }
    all.quantile(0.99).map(|at| at.get() as f64)
}

/// Streams beside the loads of [`HELD_OUT`].
const STREAMS: &str = r#"
[[phase]]
name = "sequential 256k reads x4"
pattern = "sequential"
size = "256KiB"
reads = "100%"
depth = 4
[[phase]]
name = "sequential 256k writes x4"
pattern = "sequential"
size = "256KiB"
reads = "0%"
depth = 4
"#;
