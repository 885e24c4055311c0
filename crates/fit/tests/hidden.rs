//! Arrays whose figures the fit does not see: it is given what they answered, and must tell what they are.

#![expect(clippy::unwrap_used, reason = "a test that meets an error has failed")]
#![expect(clippy::print_stdout, reason = "what the long test gave goes to benches/RESULTS.md")]

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use conduct::modelled::{Asked, answers};
use fit::{Ask, Fit, Wanted};
use record::{Point, Run};
use units::Nanos;
use workload::plan::{Overrides, Plan};

/// What the fit must find.
#[derive(Clone, Copy, Debug)]
struct Hidden {
    members: u32,
    chunk_kib: u32,
    link_mb: u32,
    cache_mib: u32,
    write_part: u32,
    read_command_us: u32,
    processors: u32,
    level: &'static str,
    device: &'static str,
}

/// Drives of several kinds, with the array links that go with them.
const DRIVES: [(&str, [u32; 2]); 5] = [
    ("hds723020bla642", [400, 1600]),
    ("st3146855ss", [400, 1600]),
    ("nearline-18tb", [800, 3200]),
    ("crucial-m4-128", [1600, 3200]),
    ("sas-ssd-3840", [3200, 6400]),
];

/// RAID levels, each with the fewest members.
const LEVELS: [(&str, u32); 4] = [("0", 2), ("5", 3), ("6", 5), ("10", 2)];

/// One draw after the other (SplitMix64, Steele et al. 2014).
struct Draws(u64);

impl Draws {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (bits ^ (bits >> 31)) % limit
    }

    fn between(&mut self, low: u32, high: u32) -> u32 {
        low + self.below(u64::from(high - low + 1)) as u32
    }
}

impl Hidden {
    fn draw(seed: u64) -> Hidden {
        let mut draws = Draws(seed);
        let (device, [slow, fast]) = DRIVES[seed as usize % DRIVES.len()];
        let (level, least) = LEVELS[seed as usize % LEVELS.len()];
        Hidden {
            members: draws.between(2, 12).max(least),
            chunk_kib: 16 << draws.below(6),
            link_mb: draws.between(slow, fast),
            cache_mib: draws.between(3, 80) * 64,
            write_part: draws.between(20, 80),
            read_command_us: draws.between(10, 60),
            processors: draws.between(2, 6),
            level,
            device,
        }
    }

    fn text(&self) -> String {
        let Hidden {
            members,
            chunk_kib,
            link_mb,
            cache_mib,
            write_part,
            read_command_us,
            processors,
            level,
            device,
        } = self;
        // A pair of a mirror is one member to whoever looks from outside.
        let disks = if *level == "10" { members * 2 } else { *members };
        format!(
            r#"
name = "hidden"
[host]
processors = 32
request = "4us"
lun_depth = 1024
[link]
rate = "{link_mb}MB/s"
command = "1us"
latency = "3us"
[protocol]
kind = "block"
[controller]
processors = {processors}
read_command = "{read_command_us}us"
write_command = "{}us"
member_command = "1us"
[cache]
size = "{cache_mib}MiB"
write_part = "{write_part}%"
[cache.prefetch]
max = "2MiB"
start = "256KiB"
[devices]
model = "{device}"
count = {disks}
[raid]
level = "{level}"
disks = {disks}
chunk = "{chunk_kib}KiB"
"#,
            read_command_us + read_command_us / 4
        )
    }
}

fn plan(text: &str) -> Plan {
    Plan::parse("plan.toml", text, &Overrides::default())
        .unwrap_or_else(|errors| panic!("{}", errors.plain()))
}

fn asked_in_full(plan: Plan, array: &str, at_most: Option<Nanos>) -> Vec<Point> {
    let all: Vec<Asked> = plan.points().iter().map(|point| Asked { index: point.index, at_most }).collect();
    answers(plan, array, &all, true, Arc::default()).unwrap()
}

/// The record of a ready plan, asked of an array; reads of flash take a second to be as many as those of disks in five.
fn measured(name: &str, array: &str) -> Run {
    let file = format!("{}/../../plans/{name}.toml", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(file).unwrap();
    let flash = name == "calibrate" && (array.contains("ssd") || array.contains("m4"));
    let at_most = flash.then(|| Nanos::from_secs_f64(0.4));
    let mut run = record::sample::run(name, asked_in_full(plan(&text), array, at_most));
    run.plan.text = text;
    run.targets[0].size_bytes = size_of(array);
    run
}

fn size_of(array: &str) -> u64 {
    let address = array::spec::Address::parse("hidden").unwrap();
    let spec = array::spec::array_text(&array::spec::Shipped, "hidden", array, &address).unwrap();
    spec.layout.luns.iter().map(|lun| lun.size.bytes().get()).sum()
}

struct Model<'r>(&'r [Run]);

impl Ask for Model<'_> {
    fn ask(&mut self, text: &str, wanted: &[Wanted], whole: bool) -> Result<Vec<(Wanted, Point)>, String> {
        let mut all = Vec::new();
        for (number, run) in self.0.iter().enumerate() {
            let of_run: Vec<&Wanted> = wanted.iter().filter(|wanted| wanted.run == number).collect();
            let asked: Vec<Asked> = of_run
                .iter()
                .map(|wanted| Asked {
                    index: wanted.index as usize,
                    at_most: wanted.seconds.map(Nanos::from_secs_f64),
                })
                .collect();
            if of_run.is_empty() {
                continue;
            }
            let points = answers(plan(&run.plan.text), text, &asked, whole, Arc::default());
            for point in points.map_err(|error| error.to_string())? {
                let same = of_run.iter().find(|wanted| wanted.index == point.index).unwrap();
                all.push((**same, point));
            }
        }
        Ok(all)
    }
}

fn fitted(runs: &[Run]) -> Fit {
    fit::fit(runs, "model", &mut Model(runs)).unwrap()
}

/// Sizes, depths and shares of reads that no probe has. `FIT_SECONDS=15` has each last so long instead of six seconds.
const HELD_OUT: &str = r#"
name = "held-out"
[defaults]
pattern = "random"
warmup = "3s"
run = "{SECONDS}s"
[[phase]]
name = "8k 70% x24"
size = "8KiB"
reads = "70%"
depth = 24
[[phase]]
name = "4k and 64k x48"
size = { "4KiB" = 60, "64KiB" = 40 }
depth = 48
[[phase]]
name = "16k 90% x12"
size = "16KiB"
reads = "90%"
depth = 12
[[phase]]
name = "32k 50% x8"
size = "32KiB"
reads = "50%"
depth = 8
[[phase]]
name = "4k 8k 32k 2/3 x64"
size = { "4KiB" = 50, "8KiB" = 30, "32KiB" = 20 }
reads = "2/3"
depth = 64
"#;

/// The model's rate over the array's, load by load.
fn held_out(hidden: &str, model: &str) -> Vec<(String, f64)> {
    let rate = |point: &Point| point.workloads[0].total().unwrap().ops_per_s.value;
    let seconds = std::env::var("FIT_SECONDS").unwrap_or("6".into());
    let loads = HELD_OUT.replace("{SECONDS}", &seconds);
    let real = asked_in_full(plan(&loads), hidden, None);
    let modelled = asked_in_full(plan(&loads), model, None);
    real.iter().zip(&modelled).map(|(real, model)| (real.name.clone(), rate(model) / rate(real))).collect()
}

/// Disks are slow, so that their points are few requests and the whole way takes seconds.
#[test]
fn an_array_of_disks_is_told_from_reads_alone() {
    let hidden = Hidden::draw(0);
    let run = [measured("calibrate", &hidden.text())];
    let fit = fitted(&run);
    assert_eq!((fit.model.members, fit.model.chunk), (hidden.members, u64::from(hidden.chunk_kib) << 10));
    let link = fit.model.link / (f64::from(hidden.link_mb) * 1e6);
    assert!((link - 1.0).abs() < 0.05, "{link}");
    let cache = fit.model.cache.as_ref().unwrap();
    let size = cache.size as f64 / (f64::from(hidden.cache_mib) * 1_048_576.0);
    assert!((size - 1.0).abs() < 0.2, "{size}");
    // Nothing was written, and nothing is said of writes.
    assert_eq!(cache.write_part, None);
    let not_fitted = |what: &str| fit.lines.iter().any(|line| line.what == what && line.value.is_none());
    assert!(not_fitted("write cache") && not_fitted("a member's write"), "{:?}", fit.lines);
    assert!(fit.text.contains("not fitted: no consent"), "{}", fit.text);
    // What was written is an array file, and has the target's size.
    let size = size_of(&fit.text) as f64 / size_of(&hidden.text()) as f64;
    assert!((size - 1.0).abs() < 0.01, "{size}");
}

#[test]
fn runs_without_the_points_that_are_needed_are_refused_with_what_is_missing() {
    let run = record::sample::run("empty", Vec::new());
    let error = fit::fit(&[run], "model", &mut Model(&[])).unwrap_err().to_string();
    assert!(error.contains("reads one at a time of a small region"), "{error}");
}

/// A flash drive without anything before it, as it may lie in a computer.
const SINGLE: &str = r#"
name = "hidden"
[host]
processors = 32
request = "4us"
lun_depth = 1024
[link]
rate = "1100MB/s"
latency = "3us"
[protocol]
kind = "block"
[controller]
processors = 4
read_command = "1us"
write_command = "1us"
[devices]
model = "sas-ssd-3840"
count = 1
[devices.with]
link = "100GB/s"
[raid]
level = "0"
disks = 1
chunk = "64KiB"
"#;

/// A few of the points of `calibrate`.
const SINGLE_PLAN: &str = r#"
name = "single"
[defaults]
direct = true
pattern = "random"
size = "4KiB"
reads = "100%"
warmup = "0s"
run = "200ms"
[[phase]]
name = "hot, {size}"
size = { sweep = ["4KiB", "64KiB", "256KiB"] }
depth = 1
span = "8MiB"
[[phase]]
name = "cold, {depth} at once"
depth = { sweep = [1, 4, 16, 64] }
[[phase]]
name = "cold, {size}, {depth} at once"
size = { sweep = ["16KiB", "64KiB", "256KiB"] }
depth = { sweep = [1, 64] }
"#;

#[test]
fn bytes_of_a_single_drive_pass_one_wire() {
    let mut run = record::sample::run("single", asked_in_full(plan(SINGLE_PLAN), SINGLE, None));
    run.plan.text = SINGLE_PLAN.into();
    run.targets[0].size_bytes = size_of(SINGLE);
    let fit = fitted(&[run]);
    // A few mebibytes lie on a few dies, which may be quick ones.
    let all = fit.residuals.iter().filter(|held| held.name.starts_with("cold"));
    let off: Vec<(&str, f64)> = all.map(|held| (held.name.as_str(), 1.0 / held.ratio.value)).collect();
    assert!(fit.model.servers > 1 && fit.model.members == 1, "{:?}", fit.model);
    assert!(off.iter().all(|(_, ratio)| (ratio - 1.0).abs() < 0.06), "{off:?}");
}

/// What became of a hidden array.
struct Told {
    hidden: Hidden,
    fit: Fit,
    link: f64,
    cache: f64,
    ahead: Vec<(String, f64)>,
}

impl Told {
    fn of(seed: u64) -> Told {
        let hidden = Hidden::draw(seed);
        let text = hidden.text();
        let runs = [measured("calibrate", &text), measured("calibrate-writes", &text)];
        let fit = fitted(&runs);
        let cache = fit.model.cache.as_ref().unwrap().size as f64;
        Told {
            link: fit.model.link / (f64::from(hidden.link_mb) * 1e6),
            cache: cache / (f64::from(hidden.cache_mib) * 1_048_576.0),
            ahead: held_out(&text, &fit.text),
            hidden,
            fit,
        }
    }

    /// As whoever looks from outside can name it: a mirrored pair is one member.
    fn level(&self) -> &'static str {
        if self.hidden.level == "10" { "0" } else { self.hidden.level }
    }

    /// A row of the table in benches/RESULTS.md.
    fn row(&self, seed: u64) -> String {
        let Told { hidden, fit, link, cache, ahead } = self;
        let told = |fitted: String, hidden: String| {
            if fitted == hidden { hidden } else { format!("**{fitted}** of {hidden}") }
        };
        let members = told(fit.model.members.to_string(), hidden.members.to_string());
        let chunk = told((fit.model.chunk >> 10).to_string(), hidden.chunk_kib.to_string());
        let level = told(fit.model.level.name().into(), self.level().into());
        let loads: Vec<String> = ahead.iter().map(|(_, ratio)| marked(*ratio, 0.15)).collect();
        let (link, cache) = (marked(*link, 0.05), marked(*cache, 0.2));
        let Hidden { device, level: true_level, .. } = hidden;
        format!(
            "| {seed} | {device}, RAID {true_level} | {members} | {chunk} KiB | {level} | {link} | {cache} | {} |",
            loads.join(", ")
        )
    }

    /// What is not as wanted: `members`, `chunk`, `level`, `link`, `cache`, and names of loads.
    fn misses(&self) -> Vec<String> {
        let Told { hidden, fit, link, cache, ahead } = self;
        let figures = [
            ("members", fit.model.members == hidden.members),
            ("chunk", fit.model.chunk == u64::from(hidden.chunk_kib) << 10),
            ("level", fit.model.level.name() == self.level()),
            ("link", (link - 1.0).abs() <= 0.05),
            ("cache", (cache - 1.0).abs() <= 0.2),
        ];
        let figures = figures.iter().filter(|(_, right)| !right).map(|(what, _)| (*what).to_owned());
        let loads =
            ahead.iter().filter(|(_, ratio)| (ratio - 1.0).abs() > 0.15).map(|(name, _)| name.clone());
        figures.chain(loads).collect()
    }
}

fn marked(ratio: f64, within: f64) -> String {
    if (ratio - 1.0).abs() <= within { format!("{ratio:.2}") } else { format!("**{ratio:.2}**") }
}

/// RAID 6 of disks, which is little work.
#[test]
fn an_array_of_disks_is_told_and_predicted_from_reads_and_writes() {
    let told = Told::of(6);
    assert_eq!(told.misses(), [""; 0], "{}", told.row(6));
}

/// Ten arrays in full: `cargo test --release -p fathom-fit --test hidden -- --ignored --nocapture`; what it gave is in
/// benches/RESULTS.md, "Calibration on ten hidden arrays". `FIT_SEEDS=3,4` takes some of them, `FIT_SHOW=1` shows more.
#[test]
#[ignore = "minutes of computing"]
fn ten_hidden_arrays_are_told_and_predicted() {
    let seeds = std::env::var("FIT_SEEDS").unwrap_or("0,1,2,3,4,5,6,7,8,9".into());
    let seeds: Vec<u64> = seeds.split(',').map(|seed| seed.parse().unwrap()).collect();
    let next = AtomicUsize::new(0);
    let work = || {
        let mut told = Vec::new();
        while let Some(&seed) = seeds.get(next.fetch_add(1, Ordering::Relaxed)) {
            told.push((seed, Told::of(seed)));
            println!("{}", told[told.len() - 1].1.row(seed));
        }
        told
    };
    let count = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let mut all: Vec<(u64, Told)> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..count).map(|_| scope.spawn(work)).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    all.sort_by_key(|(seed, _)| *seed);
    let mut missed = Vec::new();
    for (seed, told) in &all {
        if std::env::var("FIT_SHOW").is_ok() {
            show(told);
        }
        missed.extend(told.misses().into_iter().map(|miss| (*seed, miss)));
    }
    assert_eq!(missed, [], "the array and what it misses");
}

fn show(told: &Told) {
    println!("{:?}", told.hidden);
    for line in &told.fit.lines {
        println!("  {}: {}: {}", line.what, line.value.as_deref().unwrap_or("not fitted"), line.words);
    }
    println!("{}", told.fit.text);
    for held in &told.fit.residuals {
        let ratio = 1.0 / held.ratio.value;
        println!("  {:<40} {:>10.0} {:>10.0} {ratio:.2}", held.name, held.measured.value, held.modelled);
    }
}
