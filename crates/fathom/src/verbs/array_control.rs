//! `fathom array status`, `fail`, `pull` and so on: what an operator says to a served array.

use std::fs;
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{Args, Subcommand, ValueEnum};
use serve::control::{self, Answer, Command};
use serve::machine::{CacheAction, MachineStatus, PassStatus, SetStatus};
use serve::service;
use units::{BytesPerSecond, Share};

use crate::ending::{Ending, Failure};
use crate::output::{self, TreeFormat};
use crate::verbs::array_status::{
    Progress, cache_text, controllers_text, event_line, firmware_text, in_vain, paths_text, progress_text,
    status_text,
};

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
        /// Consent, where a set has failed and may need the drive to come back: its serial number
        #[arg(long, value_name = "SERIAL")]
        destroy: Option<String>,
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
        /// Return when it has ended; exit code 1 if it stopped early or left errors
        #[arg(long)]
        wait: bool,
        #[command(flatten)]
        to: ServerArgs,
    },
    /// Print how far the background work of a served array is, in percent; exit code 1 where none is under way and a set is degraded or has failed
    Progress {
        #[command(flatten)]
        to: ServerArgs,
    },
    /// Copy a drive to a hot spare, which takes its place
    Clone {
        /// The bay, from 0
        bay: u32,
        /// Return when it has ended; exit code 1 if it stopped early or left errors
        #[arg(long)]
        wait: bool,
        #[command(flatten)]
        to: ServerArgs,
    },
    /// Scrub a set: compare data, checksums and parity
    Verify {
        /// The set, from 0
        #[arg(default_value_t = 0)]
        set: u32,
        /// Rewrite parity where it differs; sectors with a wrong checksum are rewritten in any case
        #[arg(long)]
        repair: bool,
        /// Return when it has ended; exit code 1 if it stopped early or left errors
        #[arg(long)]
        wait: bool,
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
        /// Return when it has ended; exit code 1 if it stopped early or left errors
        #[arg(long)]
        wait: bool,
        #[command(flatten)]
        to: ServerArgs,
    },
    /// Show the paths to the controllers of a served array, take one down, or bring it up
    Path {
        /// The path, from 0; without it all are shown
        path: Option<u32>,
        /// What becomes of it
        #[arg(value_enum)]
        to_be: Option<PathVerb>,
        #[command(flatten)]
        to: ServerArgs,
    },
    /// Show the controllers of a served array and what each serves, take one offline or online
    Controller {
        /// The controller, from 0; without it all are shown
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
            ControlVerb::Clear { bay, destroy, to } => {
                (Command::Clear { bay: *bay, destroy: destroy.clone() }, to)
            }
            ControlVerb::Spare { bay, to } => (Command::Spare { bay: *bay }, to),
            ControlVerb::Rebuild { set, to, .. } => (Command::Rebuild { set: *set }, to),
            ControlVerb::Clone { bay, to, .. } => (Command::Clone { bay: *bay }, to),
            ControlVerb::Verify { set, repair, to, .. } => {
                (Command::Verify { set: *set, repair: *repair }, to)
            }
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
                        if rate.get() < 1.0 {
                            let why = format!("{rate} would stop background work; give `max` for no limit");
                            return Err(Failure::Usage(why));
                        }
                        units::convert::truncated(rate.get())
                    }
                };
                (Command::Rate { bytes_per_second }, to)
            }
        })
    }
}

/// Work that is waited for, by the controller's word for it.
struct Work {
    kind: &'static str,
    /// The set, or the bay whose set it is.
    of: WorkOwner,
}

enum WorkOwner {
    Set(u32),
    Bay(u32),
}

impl ControlVerb {
    /// What is waited for.
    fn awaited(&self) -> Option<Work> {
        let (kind, of) = match self {
            ControlVerb::Rebuild { set, wait: true, .. } => ("rebuild", WorkOwner::Set(*set)),
            ControlVerb::Clone { bay, wait: true, .. } => ("clone", WorkOwner::Bay(*bay)),
            ControlVerb::Verify { set, wait: true, .. } => ("verify", WorkOwner::Set(*set)),
            ControlVerb::Initialise { set, wait: true, .. } => ("initialise", WorkOwner::Set(*set)),
            _ => return None,
        };
        Some(Work { kind, of })
    }
}

/// Work that is waited for, and the last pass that had ended before it began.
struct Awaited {
    kind: &'static str,
    set: Option<u32>,
    after: u64,
}

/// The interval at which `--wait` asks the server.
const ASKED: Duration = Duration::from_millis(100);

impl Awaited {
    fn before(socket: &Path, Work { kind, of }: Work) -> Result<Awaited, Failure> {
        let status = status_of(socket)?;
        let set = match of {
            WorkOwner::Set(set) => Some(set),
            WorkOwner::Bay(bay) => {
                let bay = status.bays.iter().find(|one| one.bay == bay);
                bay.and_then(|bay| bay.slot).map(|(set, _)| set)
            }
        };
        Ok(Awaited { kind, set, after: status.passes.iter().map(|pass| pass.number).max().unwrap_or(0) })
    }

    /// Returns when none of it is under way any more, with what it has come to; 1 where that is not good.
    fn over(&self, socket: &Path, format: TreeFormat) -> Result<Ending, Failure> {
        let is_it = |kind: &str, set: u32| kind == self.kind && self.set.is_none_or(|own| own == set);
        let (passes, sets) = loop {
            let status = status_of(socket)?;
            let passes: Vec<PassStatus> = (status.passes.into_iter())
                .filter(|pass| pass.number > self.after && is_it(&pass.kind, pass.set))
                .collect();
            let is_under_way = status.works.iter().any(|work| is_it(&work.kind, work.set));
            if !is_under_way && !passes.is_empty() {
                break (passes, status.sets);
            }
            serve::clock::wait(ASKED);
        };
        output::print(&match format {
            TreeFormat::Json => output::json(&passes)?,
            TreeFormat::Text => passes.iter().map(|pass| format!("{pass}\n")).collect(),
        })?;
        let is_left = |set: &&SetStatus| Some(set.set) == self.set && set.state != "optimal";
        let left = sets.iter().find(is_left).filter(|_| matches!(self.kind, "rebuild" | "initialise"));
        Ok(match (passes.iter().find(|pass| !pass.is_good()), left) {
            (Some(pass), _) => Ending { code: 1, reason: pass.to_string() },
            (None, Some(set)) => {
                let reason = format!(
                    "set {} is {}: more is to be rebuilt, and there is no spare for it",
                    set.set, set.state
                );
                Ending { code: 1, reason }
            }
            (None, None) => Ending::done(),
        })
    }
}

fn status_of(socket: &Path) -> Result<MachineStatus, Failure> {
    match ask(socket, &Command::Status)? {
        Answer::Status(status) => Ok(*status),
        _ => Err(Failure::Usage("the server gives no status".into())),
    }
}

pub fn control(verb: &ControlVerb) -> Result<Ending, Failure> {
    let (command, to) = verb.parts()?;
    let socket = socket(to.server.as_deref())?;
    if let ControlVerb::Initialise { destroy, .. } = verb {
        consent(&socket, destroy)?;
    }
    let awaited = verb.awaited().map(|work| Awaited::before(&socket, work)).transpose()?;
    let answer = ask(&socket, &command)?;
    if let Answer::Error(why) = &answer {
        return Err(Failure::Usage(why.clone()));
    }
    if let Some(awaited) = awaited.filter(|_| !matches!(answer, Answer::Partial(_))) {
        return awaited.over(&socket, to.format);
    }
    show(&answer, verb, to)?;
    Ok(match (&answer, verb) {
        (Answer::Partial(why), _) => Ending { code: 1, reason: why.clone() },
        (Answer::Status(status), ControlVerb::Progress { .. }) => in_vain(status),
        _ => Ending::done(),
    })
}

fn show(answer: &Answer, verb: &ControlVerb, to: &ServerArgs) -> Result<(), Failure> {
    if to.format == TreeFormat::Json {
        return output::print(&match (answer, verb) {
            (Answer::Status(status), ControlVerb::Progress { .. }) => output::json(&Progress::of(status))?,
            _ => output::json(answer)?,
        });
    }
    output::print(&match answer {
        Answer::Status(status) => match verb {
            ControlVerb::Path { path, .. } => paths_text(status, *path)?,
            ControlVerb::Controller { controller, .. } => controllers_text(status, *controller)?,
            ControlVerb::Firmware { .. } => firmware_text(status),
            ControlVerb::Progress { .. } => progress_text(status),
            _ => status_text(status),
        },
        Answer::Events(events) => events.iter().map(event_line).collect(),
        Answer::Cache(cache) => cache_text(cache),
        // The last line on stderr says it.
        Answer::Partial(_) => String::new(),
        Answer::Done(text) | Answer::Error(text) => format!("{text}\n"),
    })?;
    Ok(())
}

fn consent(socket: &Path, named: &str) -> Result<(), Failure> {
    let status = status_of(socket)?;
    if status.array == named {
        return Ok(());
    }
    Err(Failure::Usage(format!(
        "--destroy {named}: the array that runs there is {}; its data would be lost",
        status.array
    )))
}

fn ask(socket: &Path, command: &Command) -> Result<Answer, Failure> {
    let what = format!("talking to the server at {}", socket.display());
    control::ask(socket, command).map_err(Failure::system(what))
}

/// An error where no server of that name, or control socket, answers.
pub(super) fn must_run(server: &str) -> Result<(), Failure> {
    ask(&socket(Some(server))?, &Command::Status).map(drop)
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
    let sockets = directory().map_err(Failure::system("the directory of control sockets"))?;
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
