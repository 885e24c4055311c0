//! `fathom array`: the virtual arrays there are, what they are made of, and those that are served.

use array::sim::Topology;
use array::spec::case::{Load, Metric, Pattern, Subject};
use array::spec::{self, ArrayFile, Confidence, Figure, Shelf, Source};
use array::validate::measure;
use clap::Subcommand;
use units::convert::narrow;
use units::{Bytes, BytesPerSecond, Nanos, OpsPerSecond, Share};

use crate::ending::{Ending, Failure};
use crate::input::arrays::{self, LIBRARY, UserDevice};
use crate::input::candidates;
use crate::output;
use crate::session::store::Store;
use crate::verbs::array_control::{self, ControlVerb};
use crate::verbs::fit::FitArgs;
use crate::verbs::lab_text::LabArgs;
use crate::verbs::loss::LossArgs;
use crate::verbs::{demerit, fit, lab_text, loss};

#[derive(Debug, Subcommand)]
pub enum ArrayVerb {
    /// List the virtual arrays
    List,
    /// Show an array or a device: its options, and every figure with its source
    Show {
        /// A name, a file, or an address such as md3000?raid=10&luns=2
        #[arg(add = candidates::arrays())]
        array: String,
    },
    /// Check the file of an array or a device, and print its capacity and limits
    Check {
        /// A name, a file, or an address such as md3000?raid=10&luns=2
        #[arg(add = candidates::arrays())]
        array: String,
    },
    /// Load curve of an array with its knee, bottleneck and latency breakdown, in a moment
    Lab(LabArgs),
    /// Probability of data loss of an array, during a rebuild and over time
    Loss(LossArgs),
    /// Measure a target, and write a model fitted to it
    Fit(FitArgs),
    #[command(flatten)]
    Served(ControlVerb),
}

pub fn array(verb: &ArrayVerb, store: &Store) -> Result<Ending, Failure> {
    let text = match verb {
        ArrayVerb::List => list()?,
        ArrayVerb::Show { array } => show(array)?,
        ArrayVerb::Check { array } => check(array)?,
        ArrayVerb::Lab(arguments) => lab_text::lab(arguments)?,
        ArrayVerb::Loss(arguments) => loss::loss(arguments, store)?,
        ArrayVerb::Fit(arguments) => return fit::fit(arguments, store),
        ArrayVerb::Served(verb) => return array_control::control(verb),
    };
    output::print(&text)?;
    Ok(Ending::done())
}

fn list() -> Result<String, Failure> {
    let files = files()?;
    debug_assert!(files.iter().all(|file| !file.part), "a part of arrays is none itself");
    let widest = files.iter().map(|file| file.name.len()).max().unwrap_or(0);
    Ok(files.iter().map(|file| format!("{:widest$}  {}\n", file.name, file.about)).collect())
}

/// The arrays of the library.
pub fn files() -> Result<Vec<ArrayFile>, Failure> {
    let mut files = Vec::new();
    for name in LIBRARY.names(Shelf::Array) {
        let file = spec::array_file(&LIBRARY, &name)?;
        if !file.part {
            files.push(file);
        }
    }
    Ok(files)
}

fn show(name: &str) -> Result<String, Failure> {
    let bare = name.strip_prefix("array:").unwrap_or(name);
    if let Some(device) = device(bare)? {
        let (read, figures) = spec::device_text(&LIBRARY, &device.label, &device.text)?;
        let mut text = format!("{bare}: {}\n\n", read.about);
        figures.iter().for_each(|figure| text += &line(figure));
        return Ok(text);
    }
    match bare.split_once('?') {
        None => Ok(describe(&spec::array_file(&LIBRARY, bare)?)),
        Some(_) => {
            let array = spec::array(&LIBRARY, name)?;
            let mut text = format!("{}: {}\n\n", array.name, array.about);
            array.figures.iter().for_each(|figure| text += &line(figure));
            Ok(text)
        }
    }
}

fn describe(file: &ArrayFile) -> String {
    let mut text =
        format!("{}: {}\n\noptions, as in array:{}?KEY=VALUE&KEY=VALUE\n", file.name, file.about, file.name);
    for option in &file.options {
        let default = option.default.as_ref().map(|value| format!(" (default {value})")).unwrap_or_default();
        text += &format!("  {:<12} {}: {}{default}\n", option.name, option.about, option.takes.text());
    }
    text += "\nfigures\n";
    file.figures.iter().for_each(|figure| text += &line(figure));
    text
}

fn line(figure: &Figure) -> String {
    let basis = match (&figure.source, figure.confidence) {
        (Some(source), Some(confidence)) => format!("  # {}: {source}", sureness(confidence)),
        (Some(source), None) => format!("  # {source}"),
        (None, _) => String::new(),
    };
    format!("  {:<44} {}{basis}\n", figure.key, figure.value)
}

fn sureness(confidence: Confidence) -> &'static str {
    match confidence {
        Confidence::Low => "a guess",
        Confidence::Medium => "likely",
        Confidence::High => "sure",
    }
}

/// The device of that name, where there is no array of it.
fn device(name: &str) -> Result<Option<UserDevice>, Failure> {
    let is_array = name.contains('?') || LIBRARY.names(Shelf::Array).iter().any(|known| known == name);
    if is_array || (spec::is_path(name) && !units::name::path(name).exists()) {
        return Ok(None);
    }
    arrays::device(name)
}

fn check(address: &str) -> Result<String, Failure> {
    if let Some(device) = device(address.strip_prefix("array:").unwrap_or(address))? {
        return demerit::check(address, &device);
    }
    let array = spec::array(&LIBRARY, address)?;
    let topology = &array.topology;
    let sim =
        array::sim::Sim::new(topology, 0).map_err(|error| Failure::Usage(format!("{address}: {error}")))?;
    let sizes: Vec<String> = sim.lun_sizes().iter().map(ToString::to_string).collect();
    let failed: String = sim
        .failed_sets()
        .map(|(set, why)| format!("RAID set {set} is offline, and every request fails: {why}\n"))
        .collect();
    let most = if failed.is_empty() { most(address, topology)? } else { String::new() };
    Ok(format!(
        "{}: {}\n{} in {}, {}, LUNs of {}\n{most}{failed}",
        array.name,
        array.about,
        report::counted(topology.disks.len(), "disk"),
        report::counted(topology.sets.len(), "RAID set"),
        report::counted(topology.controllers, "controller"),
        sizes.join(", ")
    ))
}

/// What the array gives at the most, by the model: with several requests in flight for each disk, on all of its LUNs. A figure that is
/// not what its maker has of it tells of a description that is not what was meant.
fn most(address: &str, topology: &Topology) -> Result<String, Failure> {
    let luns = narrow::<u32>(topology.luns.len());
    let depth = (4 * narrow::<u32>(topology.disks.len()) / luns.max(1)).clamp(32, 512);
    let ask = |load: Load, metric: Metric| {
        // Streams are few requests a second, and fill the buffers of disks first.
        let (warmup, run) = match load.pattern {
            Pattern::Random => (Nanos::from_millis(500), Nanos::from_secs(1)),
            Pattern::Sequential => (Nanos::from_secs(2), Nanos::from_secs(3)),
        };
        let load = Load { luns, depth, warmup, run, ..load };
        let subject = Subject { array: address.into(), loads: vec![load], occasion: None, within: None };
        measure(&LIBRARY, &subject, metric, 1).map_err(|error| Failure::Usage(format!("{address}: {error}")))
    };
    let random = ask(Load::plain(Pattern::Random, Bytes::KIB * 4), Metric::Iops)?;
    let stream = Load::plain(Pattern::Sequential, Bytes::MIB);
    let read = ask(stream.clone(), Metric::Throughput)?;
    let written = ask(Load { reads: Share::NONE, ..stream }, Metric::Throughput)?;
    Ok(format!(
        "queue depth {}: random 4 KiB reads {}/s; 1 MiB in order, one stream a LUN: reads {}, writes {}\n",
        depth * luns,
        OpsPerSecond::new(random),
        BytesPerSecond::new(read),
        BytesPerSecond::new(written)
    ))
}
