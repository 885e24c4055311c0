//! Arrays whose figures the fit does not see: it is given what they answered, and must tell what they are.

#![expect(clippy::unwrap_used, reason = "a test that meets an error has failed")]
#![expect(clippy::print_stdout, reason = "what the long test gave goes to benches/RESULTS.md")]

mod asking;
mod calibrated;
mod family;

use std::sync::atomic::{AtomicUsize, Ordering};

use asking::{Model, asked_in_full, fitted, held_out, measured, size_of};
use family::Hidden;
use fit::Fit;

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
    assert!(not_fitted("write cache") && not_fitted("member write latency"), "{:?}", fit.lines);
    assert!(fit.text.contains("not fitted: no consent"), "{}", fit.text);
    // What was written is an array file, and has the target's size.
    let size = size_of(&fit.text) as f64 / size_of(&hidden.text()) as f64;
    assert!((size - 1.0).abs() < 0.01, "{size}");
}

#[test]
fn runs_without_the_points_that_are_needed_are_refused_with_what_is_missing() {
    let run = record::sample::run("empty", Vec::new());
    let error = fit::fit(&[run], "model", &mut Model(&[])).unwrap_err().to_string();
    assert!(error.contains("reads at queue depth 1 of a small region"), "{error}");
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
    let mut run = record::sample::run("single", asked_in_full(SINGLE_PLAN, SINGLE, None));
    run.plan.text = SINGLE_PLAN.into();
    run.targets[0].size_bytes = size_of(SINGLE);
    let fit = fitted(&[run]);
    // A few mebibytes lie on a few dies, which may be quick ones.
    let all = fit.residuals.iter().filter(|held| held.name.starts_with("cold"));
    let off: Vec<(&str, f64)> = all.map(|held| (held.name.as_str(), 1.0 / held.ratio.value)).collect();
    assert!(fit.model.servers > 1 && fit.model.members == 1, "{:?}", fit.model);
    assert!(off.iter().all(|(_, ratio)| (ratio - 1.0).abs() < 0.06), "{off:?}");
}

/// What tells members that lie one after the other, and no more: it is a second of computing.
const PARTS_PLAN: &str = r#"
name = "parts"
[defaults]
direct = true
pattern = "random"
size = "4KiB"
reads = "100%"
warmup = "5ms"
run = "20ms"
[[phase]]
name = "hot"
depth = 1
span = "8MiB"
[[phase]]
name = "cold, {depth} at once"
depth = { sweep = [1, 256] }
[[phase]]
name = "the first {span}"
depth = 256
span = { sweep = ["50%", "25%", "12%", "6%"] }
"#;

fn layout_of(array: &str) -> fit::Identified {
    let mut run = record::sample::run("parts", asked_in_full(PARTS_PLAN, array, None));
    run.plan.text = PARTS_PLAN.into();
    fit::layout(&[run]).unwrap()
}

#[test]
fn eight_drives_one_after_the_other_are_not_told_as_one_member() {
    let told = layout_of("name = \"hidden\"\ninherits = \"nvme-jbof-8\"\n");
    let Err(fit::Unknown::Concatenated(found)) = told.members else { panic!("{told:?}") };
    // One drive of eight does about an eighth of the work; its queue is deeper.
    assert!(found.rate < 0.5, "{found:?}");
    assert!(told.chunk.is_err() && told.level.is_err(), "{told:?}");
    let striped = "[raid]\nlevel = \"0\"\nsets = 1\ndisks = 8\nluns = 1\nchunk = \"128KiB\"\n";
    let told = layout_of(&format!("name = \"hidden\"\ninherits = \"nvme-jbof-8\"\n{striped}"));
    assert_eq!(told.members, Err(fit::Unknown::Unmeasured), "no distances, and nothing that lies apart");
}

/// What became of a hidden array.
struct HiddenCase {
    hidden: Hidden,
    fit: Fit,
    link: f64,
    cache: f64,
    ahead: Vec<(String, f64)>,
}

impl HiddenCase {
    fn of(seed: u64) -> HiddenCase {
        let hidden = Hidden::draw(seed);
        let text = hidden.text();
        let runs = [measured("calibrate", &text), measured("calibrate-writes", &text)];
        let fit = fitted(&runs);
        let cache = fit.model.cache.as_ref().unwrap().size as f64;
        HiddenCase {
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
        let HiddenCase { hidden, fit, link, cache, ahead } = self;
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
        let HiddenCase { hidden, fit, link, cache, ahead } = self;
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
    let told = HiddenCase::of(6);
    assert_eq!(told.misses(), [""; 0], "{}", told.row(6));
}

/// Ten arrays in full: `cargo test --release -p fathom-fit --test hidden -- --ignored --nocapture ten_hidden`; what it gave is in
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
            told.push((seed, HiddenCase::of(seed)));
            println!("{}", told[told.len() - 1].1.row(seed));
        }
        told
    };
    let count = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let mut all: Vec<(u64, HiddenCase)> = std::thread::scope(|scope| {
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

fn show(told: &HiddenCase) {
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
