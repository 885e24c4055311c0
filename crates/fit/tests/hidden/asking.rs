//! What arrays and models are asked, and what they answer.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::PathBuf;
use std::sync::Arc;

use fit::{Ask, Fit, Wanted};
use modelled::{Chosen, simulate};
use record::{Point, Run};
use units::Nanos;
use workload::plan::{Overrides, Plan};

pub fn plan(text: &str) -> Plan {
    Plan::parse("plan.toml", text, &Overrides::default())
        .unwrap_or_else(|errors| panic!("{}", errors.plain()))
}

/// What `array` answers to those points of a plan; with `FIT_STORE=folder` each answer is kept there, and a question
/// that was asked before costs nothing. The simulation gives the same answer to the same question: after a change of it
/// the folder has to go.
fn ask(text: &str, array: &str, chosen: &[Chosen], whole: bool) -> Result<Vec<Point>, String> {
    let kept = std::env::var("FIT_STORE").ok().map(|folder| {
        let mut hasher = DefaultHasher::new();
        (text, array, whole).hash(&mut hasher);
        chosen.iter().for_each(|chosen| (chosen.index, chosen.at_most).hash(&mut hasher));
        PathBuf::from(folder).join(format!("{:016x}.json", hasher.finish()))
    });
    if let Some(points) = kept.as_ref().and_then(|path| std::fs::read(path).ok()) {
        return Ok(serde_json::from_slice(&points).unwrap());
    }
    let points = simulate(plan(text), array, chosen, whole, &Default::default(), Arc::default())
        .map_err(|error| error.to_string())?;
    if let Some(path) = kept {
        std::fs::write(path, serde_json::to_vec(&points).unwrap()).unwrap();
    }
    Ok(points)
}

pub fn asked_in_full(text: &str, array: &str, at_most: Option<Nanos>) -> Vec<Point> {
    let all: Vec<Chosen> =
        plan(text).points().iter().map(|point| Chosen { index: point.index, at_most }).collect();
    ask(text, array, &all, true).unwrap()
}

/// The record of a ready plan, asked of an array; reads of flash take a second to be as many as those of disks in five.
pub fn measured(name: &str, array: &str) -> Run {
    let file = format!("{}/../../plans/{name}.toml", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(file).unwrap();
    let quick = ["ssd", "m4", "nvme", "dsi3500"].iter().any(|name| array.contains(name));
    let flash = name == "calibrate" && quick;
    let at_most = flash.then(|| Nanos::from_secs_f64(0.4));
    let mut run = record::sample::run(name, asked_in_full(&text, array, at_most));
    run.plan.text = text;
    run.targets[0].size_bytes = size_of(array);
    run
}

pub fn size_of(array: &str) -> u64 {
    let address = array::spec::Address::parse("hidden").unwrap();
    let spec = array::spec::array_text(&array::spec::Shipped, "hidden", array, &address).unwrap();
    spec.topology.luns.iter().map(|lun| lun.size.bytes().get()).sum()
}

pub struct Model<'r>(pub &'r [Run]);

impl Ask for Model<'_> {
    fn ask(&mut self, text: &str, wanted: &[Wanted], whole: bool) -> Result<Vec<(Wanted, Point)>, String> {
        fit::by_run(self.0, wanted, |run, wanted| {
            let chosen: Vec<Chosen> = wanted
                .iter()
                .map(|wanted| Chosen {
                    index: wanted.index as usize,
                    at_most: wanted.seconds.map(Nanos::from_secs_f64),
                })
                .collect();
            ask(&run.plan.text, text, &chosen, whole)
        })
    }
}

pub fn fitted(runs: &[Run]) -> Fit {
    fit::fit(runs, "model", &mut Model(runs)).unwrap()
}

/// Sizes, depths and shares of reads that no probe has, each for `{SECONDS}`.
pub const HELD_OUT: &str = r#"
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
"#;

/// One more, of three sizes.
const THREE_SIZES: &str = r#"
[[phase]]
name = "4k 8k 32k 2/3 x64"
size = { "4KiB" = 50, "8KiB" = 30, "32KiB" = 20 }
reads = "2/3"
depth = 64
"#;

/// The model's rate over the array's, load by load, each of six seconds or `FIT_SECONDS`.
pub fn held_out(hidden: &str, model: &str) -> Vec<(String, f64)> {
    let rate = |point: &Point| point.workloads[0].total().unwrap().ops_per_s.value;
    let seconds = std::env::var("FIT_SECONDS").unwrap_or("6".into());
    let loads = HELD_OUT.replace("{SECONDS}", &seconds) + THREE_SIZES;
    let real = asked_in_full(&loads, hidden, None);
    let modelled = asked_in_full(&loads, model, None);
    real.iter().zip(&modelled).map(|(real, model)| (real.name.clone(), rate(model) / rate(real))).collect()
}
