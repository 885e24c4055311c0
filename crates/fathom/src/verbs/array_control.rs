//! `fathom array status`, `fail`, `pull` and so on: what an operator says to a served array.

use std::fs;
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand, ValueEnum};
use serde::Serialize;
use serve::config::Status;
use serve::control::{self, Answer, Command};
use serve::events::{Event, Severity};
use serve::machine::{
    CacheAction, CacheStatus, ControllerStatus, LostRange, MachineStatus, PathStatus, SetStatus, WorkStatus,
};
use serve::service;
use units::{Bytes, BytesPerSecond, Nanos, Share};

use crate::ending::{Ending, Failure};
use crate::output::{self, TreeFormat};

/// Where the server is, and how it is answered.
#[derive(Debug, Args)]
pub struct ServerArgs {
    /// The name of the server, or its control socket [default: the only one that runs]
    #[arg(long, value_name = "NAME", global = true)]
    pub server: Option<String>,
    /// Format of stdout
    #[arg(long, value_enum, default_value_t = TreeFormat::Text)]
    pub format: TreeFormat,
}

#[derive(Debug, Subcommand)]
pub enum ControlVerb {
    /// Show a served array: state of sets, drives in their bays, background work
    Status {
        #[command(flatten)]
        to: ServerArgs,
    },
    /// Show the event log of a served array
    Events {
        /// Only events after this number
        #[arg(long, value_name = "NUMBER", default_value_t = 0)]
        after: u64,
        #[command(flatten)]
        to: ServerArgs,
    },
    /// Take a drive of a served array out of use; a hot spare takes over
    Fail {
        /// The bay, from 0
        bay: u32,
        #[command(flatten)]
        to: ServerArgs,
    },
    /// Take a drive out of its bay
    Pull {
        /// The bay, from 0
        bay: u32,
        #[command(flatten)]
        to: ServerArgs,
    },
    /// Put the last drive of a bay back, or another one
    Insert {
        /// The bay, from 0
        bay: u32,
        /// An empty drive
        #[arg(long)]
        new: bool,
        /// The drive with this serial number, which was pulled before
        #[arg(long, value_name = "SERIAL", conflicts_with = "new")]
        serial: Option<String>,
        #[command(flatten)]
        to: ServerArgs,
    },
    /// Forget what is on a drive that is not in use: it becomes a hot spare
    Clear {
        /// The bay, from 0
        bay: u32,
        #[command(flatten)]
        to: ServerArgs,
    },
    /// Make a drive that is not in use a hot spare
    Spare {
        /// The bay, from 0
        bay: u32,
        #[command(flatten)]
        to: ServerArgs,
    },
    /// Rebuild a degraded set onto a hot spare
    Rebuild {
        /// The set, from 0
        #[arg(default_value_t = 0)]
        set: u32,
        #[command(flatten)]
        to: ServerArgs,
    },
    /// Print how far the background work of a served array is, in percent; 100 % where none is under way
    Progress {
        #[command(flatten)]
        to: ServerArgs,
    },
    /// Copy a drive to a hot spare, which takes its place
    Clone {
        /// The bay, from 0
        bay: u32,
        #[command(flatten)]
        to: ServerArgs,
    },
    /// Scrub a set: compare data, checksums and parity
    Verify {
        /// The set, from 0
        #[arg(default_value_t = 0)]
        set: u32,
        /// Write parity again where it differs
        #[arg(long)]
        repair: bool,
        #[command(flatten)]
        to: ServerArgs,
    },
    /// Fill a set with zeros: all its data are lost
    Initialise {
        /// The set, from 0
        set: u32,
        /// Consent: the number of the array, as `status` shows it
        #[arg(long, value_name = "ARRAY")]
        destroy: String,
        #[command(flatten)]
        to: ServerArgs,
    },
    /// Show the paths to the controllers of a served array, take one down, or bring it up
    Path {
        /// The path, from 0; without it all are shown
        #[arg(requires = "to_be")]
        path: Option<u32>,
        /// What becomes of it
        #[arg(value_enum)]
        to_be: Option<PathVerb>,
        #[command(flatten)]
        to: ServerArgs,
    },
    /// Show the controllers of a served array and what each serves, take one offline, or bring it back
    Controller {
        /// The controller, from 0; without it all are shown
        #[arg(requires = "to_be")]
        controller: Option<u32>,
        /// What becomes of it
        #[arg(value_enum)]
        to_be: Option<ControllerVerb>,
        #[command(flatten)]
        to: ServerArgs,
    },
    /// Show the firmware of a served array, or install another release that its description knows
    Firmware {
        /// The release; without it the one that is installed is shown
        release: Option<String>,
        #[command(flatten)]
        to: ServerArgs,
    },
    /// Show the write cache of a served array and what it has lost, or change it
    Cache {
        /// What is done; without it the cache is shown
        #[arg(value_enum)]
        action: Option<CacheVerb>,
        /// With `write-back`: also without a battery, so that a loss of power loses what is not on the drives
        #[arg(long)]
        force: bool,
        #[command(flatten)]
        to: ServerArgs,
    },
    /// Limit background work: to a rate of each member such as 30MB/s, to a share of the model's time such as 30%, or not: max
    Rate {
        /// A rate, a share, or `max`
        rate: String,
        #[command(flatten)]
        to: ServerArgs,
    },
}

/// What becomes of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum PathVerb {
    /// The link comes up
    Up,
    /// The link goes down
    Down,
}

/// What becomes of a controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ControllerVerb {
    /// It comes back, with the LUNs that belong to it
    Online,
    /// It stops, and its partner takes its LUNs over
    Offline,
}

/// What is done to the write cache.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum CacheVerb {
    /// Acknowledge writes from the cache
    WriteBack,
    /// Write to the drives before a write is acknowledged
    WriteThrough,
    /// The battery fails: the cache is emptied and writes go through, unless write-back is forced
    BatteryDead,
    /// The battery is replaced
    BatteryGood,
    /// Power goes and comes back: without a battery what is not on the drives is lost
    PowerLoss,
    /// Write everything to the drives
    Flush,
}

impl ControlVerb {
    fn parts(&self) -> Result<(Command, &ServerArgs), Failure> {
        Ok(match self {
            ControlVerb::Status { to } | ControlVerb::Progress { to } => (Command::Status, to),
            ControlVerb::Events { after, to } => (Command::Events { after: *after }, to),
            ControlVerb::Fail { bay, to } => (Command::Fail { bay: *bay }, to),
            ControlVerb::Pull { bay, to } => (Command::Pull { bay: *bay }, to),
            ControlVerb::Insert { bay, new, serial, to } => {
                (Command::Insert { bay: *bay, new: *new, serial: serial.clone() }, to)
            }
            ControlVerb::Clear { bay, to } => (Command::Clear { bay: *bay }, to),
            ControlVerb::Spare { bay, to } => (Command::Spare { bay: *bay }, to),
            ControlVerb::Rebuild { set, to } => (Command::Rebuild { set: *set }, to),
            ControlVerb::Clone { bay, to } => (Command::Clone { bay: *bay }, to),
            ControlVerb::Verify { set, repair, to } => (Command::Verify { set: *set, repair: *repair }, to),
            ControlVerb::Initialise { set, to, .. } => (Command::Initialise { set: *set }, to),
            ControlVerb::Path { path, to_be, to } => match (path, to_be) {
                (Some(path), Some(to_be)) => (Command::Path { path: *path, up: *to_be == PathVerb::Up }, to),
                _ => (Command::Status, to),
            },
            ControlVerb::Controller { controller, to_be, to } => match (controller, to_be) {
                (Some(controller), Some(to_be)) => {
                    let online = *to_be == ControllerVerb::Online;
                    (Command::Controller { controller: *controller, online }, to)
                }
                _ => (Command::Status, to),
            },
            ControlVerb::Firmware { release, to } => match release {
                Some(release) => (Command::Firmware { release: release.clone() }, to),
                None => (Command::Status, to),
            },
            ControlVerb::Cache { action, force, to } => {
                let action = action.map(|action| match action {
                    CacheVerb::WriteBack => CacheAction::WriteBack { forced: *force },
                    CacheVerb::WriteThrough => CacheAction::WriteThrough,
                    CacheVerb::BatteryDead => CacheAction::BatteryDead,
                    CacheVerb::BatteryGood => CacheAction::BatteryGood,
                    CacheVerb::PowerLoss => CacheAction::PowerLoss,
                    CacheVerb::Flush => CacheAction::Flush,
                });
                (Command::Cache { action }, to)
            }
            ControlVerb::Rate { rate, to } => {
                let bytes_per_second = match rate.as_str() {
                    "max" => 0,
                    rate if rate.ends_with('%') => {
                        let share: Share = rate.parse().map_err(|_| {
                            Failure::Usage(format!(
                                "`{rate}` is no share of the members' time; give 0% to 100%"
                            ))
                        })?;
                        return Ok((Command::Share { share: share.get() }, to));
                    }
                    rate => {
                        let rate: BytesPerSecond = rate
                            .parse()
                            .map_err(|why| Failure::Usage(format!("{why}; a share such as 30%, or `max`")))?;
                        units::convert::truncated(rate.get())
                    }
                };
                (Command::Rate { bytes_per_second }, to)
            }
        })
    }
}

pub fn control(verb: &ControlVerb) -> Result<Ending, Failure> {
    let (command, to) = verb.parts()?;
    let socket = socket(to.server.as_deref())?;
    if let ControlVerb::Initialise { destroy, .. } = verb {
        consent(&socket, destroy)?;
    }
    let answer = ask(&socket, &command)?;
    if let Answer::Error(why) = &answer {
        return Err(Failure::Usage(why.clone()));
    }
    if to.format == TreeFormat::Json {
        output::print(&match (&answer, verb) {
            (Answer::Status(status), ControlVerb::Progress { .. }) => output::json(&Progress::of(status))?,
            _ => output::json(&answer)?,
        })?;
        return Ok(Ending::done());
    }
    output::print(&match &answer {
        Answer::Status(status) => match verb {
            ControlVerb::Path { .. } => paths_text(status),
            ControlVerb::Controller { .. } => controllers_text(status),
            ControlVerb::Firmware { .. } => firmware_text(status),
            ControlVerb::Progress { .. } => progress_text(status),
            _ => status_text(status),
        },
        Answer::Events(events) => events.iter().map(event_line).collect(),
        Answer::Cache(cache) => cache_text(cache),
        Answer::Done(text) | Answer::Error(text) => format!("{text}\n"),
    })?;
    Ok(Ending::done())
}

fn consent(socket: &Path, named: &str) -> Result<(), Failure> {
    match ask(socket, &Command::Status)? {
        Answer::Status(status) if status.array == named => Ok(()),
        Answer::Status(status) => Err(Failure::Usage(format!(
            "--destroy {named}: the array that runs there is {}; its data would be lost",
            status.array
        ))),
        _ => Err(Failure::Usage("the server gives no number".into())),
    }
}

fn ask(socket: &Path, command: &Command) -> Result<Answer, Failure> {
    let what = format!("talking to the server at {}", socket.display());
    control::ask(socket, command).map_err(|source| Failure::System { what, source })
}

/// The directory of control sockets, which is this user's alone.
pub fn directory() -> io::Result<PathBuf> {
    let own = rustix::process::geteuid().as_raw();
    let path = match std::env::var_os("XDG_RUNTIME_DIR") {
        Some(runtime) if !runtime.is_empty() => PathBuf::from(runtime).join("fathom"),
        _ => std::env::temp_dir().join(format!("fathom-{own}")),
    };
    fs::DirBuilder::new().recursive(true).mode(0o700).create(&path)?;
    if fs::symlink_metadata(&path)?.uid() != own {
        let why = format!("{} belongs to another user; set XDG_RUNTIME_DIR", path.display());
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, why));
    }
    Ok(path)
}

/// The control socket of the server that is meant.
fn socket(server: Option<&str>) -> Result<PathBuf, Failure> {
    if let Some(path) = server.filter(|server| server.contains('/')) {
        return Ok(units::name::path(path));
    }
    let sockets = directory()
        .map_err(|source| Failure::System { what: "the directory of control sockets".into(), source })?;
    let running = service::running(&sockets);
    let names = || running.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>().join(", ");
    match (server, running.as_slice()) {
        (Some(name), _) => match running.iter().find(|(other, _)| other == name) {
            Some((_, path)) => Ok(path.clone()),
            None if running.is_empty() => Err(none()),
            None => Err(Failure::Usage(format!("no server is called {name}; those that run: {}", names()))),
        },
        (None, [(_, path)]) => Ok(path.clone()),
        (None, []) => Err(none()),
        (None, _) => Err(Failure::Usage(format!("several servers run; name one with --server: {}", names()))),
    }
}

fn none() -> Failure {
    Failure::Usage("no array is served; start one with `fathom serve ARRAY --memory`".into())
}

fn status_text(status: &MachineStatus) -> String {
    let MachineStatus { name, array, sets, bays, works, luns, .. } = status;
    let mut text = format!("{name}, array {array}");
    text += if status.is_volatile { ", in memory\n" } else { "\n" };
    if status.is_write_protected {
        text += "write-protected: no space for the member files; free some and start the server again\n";
    }
    if let Some(fault) = &status.fault {
        text += &format!("no host gets an answer: {fault}\n");
    }
    for set in sets {
        text += &format!("set {}  {:<8} {:<10} {}\n", set.set, set.level, set.state, Bytes::new(set.bytes));
    }
    for work in works {
        let slot = work.slot.map(|slot| format!(", slot {slot}")).unwrap_or_default();
        let left = work.left_s.map(|left| {
            let left = Nanos::new(units::convert::truncated((left * 10.0).round() * 1e8));
            format!(", {left} left")
        });
        let (set, kind, done, left) = (work.set, &work.kind, work.done * 100.0, left.unwrap_or_default());
        text += &format!("set {set}{slot}: {kind} {done:.1} %{left}\n");
    }
    if status.rate > 0 {
        let rate = BytesPerSecond::new(status.rate as f64);
        text += &format!("background work: at most {rate} of each member\n");
    }
    if let Some(share) = status.share {
        text += &format!("new background work: {:.0} % of the members' time\n", share * 100.0);
    }
    if status.controllers.len() > 1 || status.paths.iter().any(|path| !path.is_up) {
        text += &controllers_text(status);
    }
    if status.paths.iter().any(|path| !path.is_up) {
        text += &paths_text(status);
    }
    text += &status.firmware.as_ref().map(|release| format!("firmware {release}\n")).unwrap_or_default();
    text += &status.cache.as_ref().map(cache_line).unwrap_or_default();
    let sizes: Vec<String> = luns.iter().map(|&bytes| Bytes::new(bytes).to_string()).collect();
    text += &format!("LUNs  {}\n\nbay  drive     size      state\n", sizes.join(", "));
    for bay in bays {
        let place = bay.slot.map(|(set, slot)| format!(", set {set} slot {slot}")).unwrap_or_default();
        let size = Bytes::new(bay.bytes).to_string();
        text += &match bay.status {
            Status::Empty => {
                format!("{:>3}  {:<8}  {:<8}  empty; its last drive was {}\n", bay.bay, "-", "-", bay.serial)
            }
            status => format!("{:>3}  {:<8}  {size:<8}  {}{place}\n", bay.bay, bay.serial, word(status)),
        };
    }
    text
}

/// How far background work is.
#[derive(Serialize)]
struct Progress<'a> {
    /// Of the work that has most before it; 100 where there is none, and only there.
    percent: f64,
    works: &'a [WorkStatus],
    /// How each set is: one that has failed or is degraded has no work that would end that.
    sets: &'a [SetStatus],
}

impl Progress<'_> {
    fn of(status: &MachineStatus) -> Progress<'_> {
        let done = status.works.iter().map(|work| work.done).min_by(f64::total_cmp);
        // What is not at its end is not called so.
        let percent = done.map_or(100.0, |done| (done * 100.0).min(99.99));
        Progress { percent, works: &status.works, sets: &status.sets }
    }
}

fn progress_text(status: &MachineStatus) -> String {
    match Progress::of(status).percent {
        100.0 => "100 %\n".into(),
        percent => format!("{percent:.2} %\n"),
    }
}

fn paths_text(status: &MachineStatus) -> String {
    if status.paths.is_empty() {
        return "the hosts hold the drives themselves: no paths\n".into();
    }
    let line = |path: &PathStatus| {
        let state = if path.is_up { "up" } else { "down" };
        format!("path {}  controller {}  {state}\n", path.path, path.controller)
    };
    status.paths.iter().map(line).collect()
}

fn controllers_text(status: &MachineStatus) -> String {
    let line = |one: &ControllerStatus| {
        let owned = status.owners.iter().enumerate().filter(|(_, owner)| **owner == Some(one.controller));
        let owned: Vec<String> = owned.map(|(lun, _)| format!("lun{lun}")).collect();
        let state = if one.is_online { "online" } else { "offline" };
        format!("controller {}  {state:<7}  {}\n", one.controller, owned.join(", "))
    };
    let cut = status.owners.iter().enumerate().filter(|(_, owner)| owner.is_none());
    let cut = cut.map(|(lun, _)| format!("lun{lun}  no path to a working controller\n"));
    status.controllers.iter().map(line).chain(cut).collect()
}

fn firmware_text(status: &MachineStatus) -> String {
    match &status.firmware {
        Some(release) => format!("firmware {release}; releases: {}\n", status.releases.join(", ")),
        None => "the description of the array has no releases of firmware\n".into(),
    }
}

fn cache_text(cache: &CacheStatus) -> String {
    let mut text = cache_line(cache);
    for LostRange { lun, offset, bytes } in &cache.lost {
        text += &format!("lun{lun}  lost: {} from byte {offset} on\n", Bytes::new(*bytes));
    }
    text
}

fn cache_line(cache: &CacheStatus) -> String {
    let CacheStatus { bytes, dirty_bytes, is_write_back, has_battery, is_forced, lost } = cache;
    let mode = match (is_write_back, is_forced) {
        (false, _) => "write-through",
        (true, false) => "write-back",
        (true, true) => "write-back, forced",
    };
    let battery = if *has_battery { "battery good" } else { "battery dead" };
    let (size, dirty) = (Bytes::new(*bytes), Bytes::new(*dirty_bytes));
    let lost: Bytes = lost.iter().map(|range| Bytes::new(range.bytes)).sum();
    let lost = if lost == Bytes::ZERO { String::new() } else { format!(", {lost} lost") };
    format!("write cache  {size}, {mode}, {battery}, {dirty} not on the drives{lost}\n")
}

fn word(status: Status) -> &'static str {
    match status {
        Status::InUse => "in use",
        Status::Spare => "hot spare",
        Status::Unassigned => "unassigned",
        Status::Failed => "failed",
        Status::Empty => "empty",
        Status::Foreign => "foreign: clear it to use it",
        Status::Stale => "out of date: clear it to use it",
    }
}

fn event_line(event: &Event) -> String {
    let severity = match event.severity {
        Severity::Information => "information",
        Severity::Warning => "warning",
        Severity::Critical => "critical",
    };
    format!("{:>5}  {:>10.3} s  {severity:<11}  {}\n", event.number, event.at_s, event.text)
}
