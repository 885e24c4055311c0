//! `fathom array fit`: measures what tells a model its figures, and writes the model.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use array::spec::{self as description, Address};
use clap::Args;
use conduct::Machine;
use modelled::{Chosen, simulate};
use real::RealOptions;
use record::{Point, Run};
use spec::{Extent, Span};
use units::convert::truncated;
use units::{Bytes, BytesPerSecond, Nanos};
use workload::plan::{self, Overrides, Plan};

use crate::ending::{Ending, Failure};
use crate::input::arrays::LIBRARY;
use crate::input::plans::{self, Planned};
use crate::input::records;
use crate::input::targets;
use crate::input::{candidates, path_value};
use crate::output::{self, TreeFormat};
use crate::session::signals;
use crate::session::store::Store;
use crate::session::{self, Session};
use crate::terminal::{self, Appearance, Showing};
use crate::verbs::demerit;

#[derive(Debug, Args)]
pub struct FitArgs {
    /// What to measure: a block device, a file, a directory, a virtual array; or saved runs with enough points: last,
    /// last~1, numbers of `fathom ls`, beginnings of ids, record files
    #[arg(required_unless_present = "spec", value_name = "TARGET|RUN", add = candidates::targets_or_runs())]
    pub what: Vec<String>,
    /// The array file to write; with --spec the device file
    #[arg(short, long, value_name = "FILE", required_unless_present = "spec")]
    #[arg(value_parser = path_value())]
    pub output: Option<PathBuf>,
    /// Instead of measuring: a device's description, to be compared with a recording of the real device. A name of the
    /// library, a TOML file, or DiskSim's .diskspecs or .parv
    #[arg(long, value_name = "DEVICE", requires = "trace", conflicts_with = "what")]
    pub spec: Option<String>,
    /// The recording, with response times: of DiskSim's validation, of MSR Cambridge, or a CSV with response_us
    #[arg(long, value_name = "FILE", requires = "spec")]
    pub trace: Option<String>,
    /// With --spec: the rate of the interface that the device was recorded through [default: the device's own, or the
    /// slower one that the trace shows]
    #[arg(long, value_name = "RATE", requires = "spec")]
    pub link: Option<BytesPerSecond>,
    /// With --spec: the disk of the recording that the device was, where it has several, as hm.0
    #[arg(long, value_name = "NAME", requires = "spec")]
    pub disk: Option<String>,
    /// With --spec: format of stdout
    #[arg(long, value_enum, default_value_t = TreeFormat::Text, requires = "spec")]
    pub format: TreeFormat,
    /// Consent to destroy the data on the target: its serial number, by-id name, or a file's absolute path. Without it
    /// nothing is written, and writes are not fitted
    #[arg(long, value_name = "IDENTITY")]
    pub destroy: Vec<String>,
    /// Size of the scratch file in a directory, exactly [default: larger than the known caches, as far as space allows]
    #[arg(long, value_name = "SIZE")]
    pub scratch: Option<Bytes>,
    /// Do not save the runs in the library
    #[arg(long)]
    pub no_save: bool,
    #[command(flatten)]
    pub showing: Showing,
    #[command(flatten)]
    pub appearance: Appearance,
}

/// Reading alone, and writing.
const PLANS: [&str; 2] = ["calibrate", "calibrate-writes"];

pub fn fit(arguments: &FitArgs, store: &Store) -> Result<Ending, Failure> {
    if let (Some(spec), Some(trace)) = (&arguments.spec, &arguments.trace) {
        return held(spec, trace, arguments);
    }
    let output = arguments.output.as_deref().ok_or_else(|| Failure::Usage("give --output".into()))?;
    output::check_folder(output)?;
    check_replaced(output, "array", |text| {
        let address = Address::parse("x").expect("a name alone is an address");
        description::array_text(&LIBRARY, "", text, &address).is_ok()
    })?;
    let name = output.file_stem().and_then(|stem| stem.to_str()).unwrap_or("fitted").to_owned();
    let mut runs = Vec::new();
    for what in &arguments.what {
        if is_target(what) {
            runs.extend(measured(what, arguments, store)?);
        } else if what.ends_with(".json") {
            runs.push(records::read(what)?);
        } else {
            let found = store.open()?.get(what.as_str());
            runs.push(
                found.map_err(|error| {
                    Failure::Usage(format!("{what}: there is no such target, and {error}"))
                })?,
            );
        }
    }
    if let Some(code) = runs.iter().map(|run| run.ending.code).find(|code| *code != 0) {
        let reason = runs.iter().find(|run| run.ending.code == code).map(|run| run.ending.reason.clone());
        return Ok(Ending { code, reason: reason.unwrap_or_default() });
    }
    // What was measured is kept; the model is thought out without listening.
    signals::unattended();
    let mut model = Model { runs: &runs, machine: real::this_machine() };
    let fitted = fit::fit(&runs, &name, &mut model).map_err(|error| Failure::Usage(error.to_string()))?;
    output::write_whole(output, &fitted.text)?;
    let text = text_of(&fitted, output, arguments);
    output::print(&text)?;
    Ok(Ending::done())
}

/// A description against a recording; the description is written where a file is named.
fn held(spec: &str, trace: &str, arguments: &FitArgs) -> Result<Ending, Failure> {
    let held = demerit::DemeritInput {
        spec,
        trace,
        link: arguments.link,
        disk: arguments.disk.as_deref(),
        format: arguments.format,
    };
    if let Some(output) = &arguments.output {
        output::check_folder(output)?;
        check_replaced(output, "device", |text| description::is_device(&LIBRARY, "", text))?;
    }
    let (text, description) = demerit::demerit(&held)?;
    if let Some(output) = &arguments.output {
        output::write_whole(output, &description)?;
    }
    output::print(&text)?;
    Ok(Ending::done())
}

/// Says no to writing over a file that describes no `what`: it is something else of the user's.
fn check_replaced(path: &Path, what: &str, is_one: impl FnOnce(&str) -> bool) -> Result<(), Failure> {
    let is_file = path.symlink_metadata().is_ok_and(|found| found.is_file());
    if !is_file || fs::read_to_string(path).is_ok_and(|text| text.trim().is_empty() || is_one(&text)) {
        return Ok(());
    }
    let why = format!("there is a file of this name that describes no {what}; name another, or remove it");
    Err(Failure::Usage(format!("{}: {why}", path.display())))
}

fn is_target(what: &str) -> bool {
    what.starts_with("array:")
        || what.starts_with("null:")
        || (units::name::path(what).exists() && !what.ends_with(".json"))
}

/// The runs on a target: reads, and writes where they are allowed.
fn measured(target: &str, arguments: &FitArgs, store: &Store) -> Result<Vec<Run>, Failure> {
    let may_write =
        target.starts_with("array:") || units::name::path(target).is_dir() || !arguments.destroy.is_empty();
    let mut runs = Vec::new();
    for name in PLANS.iter().take(if may_write { 2 } else { 1 }) {
        runs.push(carried_out(name, target, arguments, store)?);
        if runs.last().is_some_and(|run| run.ending.code != 0) {
            break;
        }
    }
    Ok(runs)
}

fn carried_out(name: &str, target: &str, arguments: &FitArgs, store: &Store) -> Result<Run, Failure> {
    let options = RealOptions {
        targets: vec![target.to_owned()],
        consents: targets::consents(&arguments.destroy)?,
        keep: true,
        scratch: arguments.scratch,
        ..RealOptions::default()
    };
    let Planned { plan, origin, overrides } = plans::read(name, Overrides::default())?;
    let size = size_of(&plan, target, arguments, &options)?;
    let plan = plan.only(|point| fits(point, size));
    let library = store.open_to_save(arguments.no_save)?;
    let planned = Planned { plan, origin, overrides };
    let (session, mut progress) = session::open(planned, &options, library, arguments.showing.wanted())?;
    let recorded = session.measure(&mut |event| progress.show(event));
    progress.finish();
    Ok(recorded.run)
}

/// Bytes of the target, as far as they are known before it is opened.
fn size_of(
    plan: &Plan,
    target: &str,
    arguments: &FitArgs,
    options: &RealOptions,
) -> Result<Option<Bytes>, Failure> {
    if units::name::path(target).is_dir() {
        return Ok(arguments.scratch);
    }
    // What asks for no region fits any target, so that this opens the world and no more.
    let plan = plan.clone().only(|point| fits(point, Some(Bytes::MIB * 64)));
    let session = Session::open(
        Planned { plan, origin: String::new(), overrides: Overrides::default() },
        options,
        None,
    )?;
    Ok(session.targets().first().map(|target| Bytes::new(target.size_bytes)))
}

/// Whether the regions that a point asks for lie within a target of `size`; a state always does.
fn fits(point: &plan::Point, size: Option<Bytes>) -> bool {
    let Some(size) = size else { return true };
    point.workloads().iter().all(|workload| {
        let of = |extent: &Extent| match extent {
            Extent::Bytes(bytes) => bytes.get(),
            Extent::Part(share) => truncated::<u64>(share.get() * size.as_f64()),
        };
        let span = match &workload.span {
            Span::Of(extent) => of(extent),
            // A few places at least.
            Span::Auto => workload.alignment().get() * 64,
        };
        of(&workload.offset).saturating_add(span) <= size.get()
    })
}

/// The model, run on the plans that the runs carried out.
struct Model<'r> {
    runs: &'r [Run],
    machine: Machine,
}

impl fit::Ask for Model<'_> {
    fn ask(
        &mut self,
        text: &str,
        wanted: &[fit::Wanted],
        whole: bool,
    ) -> Result<Vec<(fit::Wanted, Point)>, String> {
        fit::by_run(self.runs, wanted, |run, wanted| {
            let chosen: Vec<Chosen> = wanted.iter().map(chosen_of).collect();
            debug_assert!(!chosen.is_empty(), "a run is simulated for some of its points");
            let there = |point: &plan::Point| run.points.iter().any(|had| had.index as usize == point.index);
            let plan = plan_of(run)?.only(|point| there(point));
            simulate(plan, text, &chosen, whole, &self.machine, Arc::default())
                .map_err(|error| error.to_string())
        })
    }
}

fn chosen_of(wanted: &fit::Wanted) -> Chosen {
    Chosen { index: wanted.index as usize, at_most: wanted.seconds.map(Nanos::from_secs_f64) }
}

/// The plan that a run carried out.
pub fn plan_of(run: &Run) -> Result<Plan, String> {
    let overrides = Overrides { set: run.plan.overrides.clone(), tags: Vec::new() };
    Plan::parse(&run.plan.origin, &run.plan.text, &overrides)
        .map_err(|errors| format!("the plan of run {} cannot be read any more: {}", run.id, errors.plain()))
}

fn text_of(fitted: &fit::Fit, output: &Path, arguments: &FitArgs) -> String {
    let style = terminal::style(&arguments.appearance);
    let mut text =
        report::fitted(&fitted.lines, style) + "\n" + &report::held(&fitted.residuals, style) + "\n";
    for sentence in &fitted.trust {
        text += &(report::wrap(sentence, style.width, "", "  ").join("\n") + "\n");
    }
    debug_assert!(!fitted.lines.is_empty(), "a fit says what it has found");
    text + &format!("\nWritten to {}; use it with: --on array:{}\n", output.display(), shown(output))
}

/// A path as an address takes it.
fn shown(path: &Path) -> String {
    let text = path.display().to_string();
    if text.contains('/') || text.ends_with(".toml") { text } else { format!("./{text}") }
}
