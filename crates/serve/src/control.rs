//! What an operator says to a running server: one JSON object a line, and one in answer.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::config::Status;
use crate::events::Event;
use crate::machine::{CacheAction, CacheStatus, Insert, Machine, MachineStatus, OperateError, WorkStatus};
use crate::nbd::{bind, end_accepting};

/// What is to be done.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Command {
    /// What there is now.
    Status,
    /// What has happened since the event of that number.
    Events {
        /// The number.
        after: u64,
    },
    /// Takes a drive out of use.
    Fail {
        /// Its bay.
        bay: u32,
    },
    /// Takes a drive out of its bay.
    Pull {
        /// The bay.
        bay: u32,
    },
    /// Puts a drive into a bay: the one that was there, a new one, or that of a serial number.
    Insert {
        /// The bay.
        bay: u32,
        /// An empty one.
        #[serde(default)]
        new: bool,
        /// One that is out of its bay.
        #[serde(default)]
        serial: Option<String>,
    },
    /// Forgets what is on a drive that is not in use.
    Clear {
        /// Its bay.
        bay: u32,
        /// Consent, where a failed set may need it: its serial number.
        #[serde(default)]
        destroy: Option<String>,
    },
    /// Makes a drive a hot spare.
    Spare {
        /// Its bay.
        bay: u32,
    },
    /// Rebuilds what is lost of a set onto a spare.
    Rebuild {
        /// The set.
        set: u32,
    },
    /// Copies a drive to a spare, which takes its place.
    Clone {
        /// Its bay.
        bay: u32,
    },
    /// Compares data, checksums and redundancy.
    Verify {
        /// The set.
        set: u32,
        /// Whether what differs is put right.
        repair: bool,
    },
    /// Fills a set with zeros.
    Initialise {
        /// The set.
        set: u32,
    },
    /// Shows the write cache, or does something to it.
    Cache {
        /// What is done; nothing where it is to be shown.
        #[serde(default)]
        action: Option<CacheAction>,
    },
    /// Limits background work.
    Rate {
        /// Bytes a second of each member; 0: no limit.
        bytes_per_second: u64,
    },
    /// Has background work that begins from now on get that share of the members' time in the model.
    Share {
        /// From 0 to 1.
        share: f64,
    },
    /// Takes a path down, or brings it up.
    Path {
        /// Its number.
        path: u32,
        /// Whether it is to be up.
        up: bool,
    },
    /// Takes a controller offline, or brings it back.
    Controller {
        /// Its number.
        controller: u32,
        /// Whether it is to be online.
        online: bool,
    },
    /// Installs another release of the firmware.
    Firmware {
        /// Which.
        release: String,
    },
}

/// What comes back.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Answer {
    /// What there is.
    Status(Box<MachineStatus>),
    /// What has happened.
    Events(Vec<Event>),
    /// What the write cache is doing.
    Cache(CacheStatus),
    /// It is done, or begun.
    Done(String),
    /// It is done in part: it is on no label, so that a next start would not know of it, or some of it could not be done.
    Partial(String),
    /// It is not.
    Error(String),
}

/// The control socket of a running server, for as long as it is held.
pub struct Control {
    path: PathBuf,
    is_over: Arc<AtomicBool>,
    listener: Arc<UnixListener>,
    thread: Option<JoinHandle<()>>,
}

impl Control {
    /// Listens at `path` for what is to be done to `machine`.
    pub fn listen(path: &Path, machine: Arc<Machine>) -> io::Result<Control> {
        let listener = Arc::new(bind(path)?);
        let heard = listener.clone();
        let is_over = Arc::new(AtomicBool::new(false));
        let own = is_over.clone();
        let thread = Builder::new().name("fathom-control".into()).spawn(move || {
            for stream in heard.incoming() {
                if own.load(Ordering::Acquire) {
                    return;
                }
                let machine = machine.clone();
                let _not_begun = Builder::new().stack_size(512 << 10).spawn(move || {
                    if let Ok(stream) = stream {
                        // An operator who goes away has heard enough.
                        let _gone = talk(&stream, &machine);
                    }
                });
            }
        })?;
        Ok(Control { path: path.to_owned(), is_over, listener, thread: Some(thread) })
    }
}

impl Drop for Control {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Release);
        end_accepting(&self.listener);
        if let Some(thread) = self.thread.take() {
            let _ended = thread.join();
        }
        let _gone = std::fs::remove_file(&self.path);
    }
}

/// Longest line that is listened to.
const LINE: u64 = 64 << 10;

fn talk(stream: &UnixStream, machine: &Arc<Machine>) -> io::Result<()> {
    stream.set_read_timeout(Some(Duration::from_secs(60)))?;
    stream.set_write_timeout(Some(Duration::from_secs(10)))?;
    let mut lines = BufReader::new(stream);
    loop {
        let mut line = String::new();
        if (&mut lines).take(LINE).read_line(&mut line)? == 0 {
            return Ok(());
        }
        let answer = match serde_json::from_str(&line) {
            Ok(command) => obey(machine, command),
            Err(why) => Answer::Error(format!("not understood: {why}")),
        };
        let mut text = serde_json::to_vec(&answer)?;
        text.push(b'\n');
        (&mut &*stream).write_all(&text)?;
    }
}

/// Does what is to be done.
pub fn obey(machine: &Arc<Machine>, command: Command) -> Answer {
    match command {
        Command::Status => return Answer::Status(Box::new(machine.status())),
        Command::Events { after } => return Answer::Events(machine.events().since(after)),
        Command::Cache { action: None } => {
            let status = machine.cache_status().ok_or(OperateError::NoCache);
            return status.map_or_else(|why| Answer::Error(why.to_string()), Answer::Cache);
        }
        _ => {}
    }
    let done: Result<String, OperateError> = match command {
        Command::Status | Command::Events { .. } | Command::Cache { action: None } => Ok(String::new()),
        Command::Cache { action: Some(action) } => machine.set_cache(action),
        Command::Fail { bay } => {
            let place = place_of(machine, bay);
            machine.fail(bay).map(|()| format!("bay {bay}: failed{}", without(machine, place)))
        }
        Command::Pull { bay } => {
            let place = place_of(machine, bay);
            machine.pull(bay).map(|()| format!("bay {bay}: removed{}", without(machine, place)))
        }
        Command::Insert { bay, new, serial } => {
            let what = match (new, serial) {
                (true, _) => Insert::New,
                (false, Some(serial)) => Insert::Serial(serial),
                (false, None) => Insert::Same,
            };
            let refused = |what: Option<&str>| {
                let (own, advice) = machine.refused_as(bay);
                let what = what.unwrap_or(&own);
                let why = format!("the drive is in its bay and refused: it is {what}; {advice}");
                Err(OperateError::WrongState { bay, why })
            };
            machine.insert(bay, &what).and_then(|status| match status {
                Status::InUse => Ok(format!("bay {bay}: in use again{}", missed(machine, bay))),
                Status::Stale => refused(None),
                Status::Foreign => refused(Some("of another array")),
                _ => Ok(format!("bay {bay}: inserted")),
            })
        }
        Command::Clear { bay, destroy } => {
            machine.clear(bay, destroy.as_deref()).map(|()| format!("bay {bay}: cleared; hot spare"))
        }
        Command::Spare { bay } => machine.spare(bay).map(|()| format!("bay {bay}: hot spare")),
        Command::Rebuild { set } => machine.rebuild(set).map(|()| format!("set {set}: rebuild started")),
        Command::Clone { bay } => machine.copy(bay).map(|()| format!("bay {bay}: clone started")),
        Command::Verify { set, repair } => {
            machine.verify(set, repair).map(|()| format!("set {set}: verify started"))
        }
        Command::Initialise { set } => {
            machine.initialise(set).map(|()| format!("set {set}: initialise started"))
        }
        Command::Share { share } => machine.set_share(share),
        Command::Path { path, up } => {
            machine.set_path(path, up).map(|()| format!("path {path}: {}", if up { "up" } else { "down" }))
        }
        Command::Controller { controller, online } => machine
            .set_controller(controller, online)
            .map(|()| format!("controller {controller}: {}", if online { "online" } else { "offline" })),
        Command::Firmware { release } => {
            machine.set_firmware(&release).map(|()| format!("firmware {release} installed"))
        }
        Command::Rate { bytes_per_second } => Ok(machine.set_rate(bytes_per_second)),
    };
    match done {
        Ok(text) => Answer::Done(text),
        Err(why @ (OperateError::Unrecorded(_) | OperateError::Stays { .. })) => {
            Answer::Partial(why.to_string())
        }
        Err(why) => Answer::Error(why.to_string()),
    }
}

/// The set and slot that the drive in a bay is in.
fn place_of(machine: &Machine, bay: u32) -> Option<(u32, u16)> {
    machine.status().bays.get(bay as usize).and_then(|bay| bay.slot)
}

/// How the set is without the drive that was in that place, to be said behind what was done to the drive: `; set 0 is degraded; the
/// spare in bay 5 takes over`. Empty where no set used it.
fn without(machine: &Machine, place: Option<(u32, u16)>) -> String {
    let status = machine.status();
    let set = place.and_then(|(set, slot)| Some((status.sets.get(set as usize)?, slot)));
    let Some((set, slot)) = set else { return String::new() };
    let number = set.set;
    if let Some(way_back) = set.way_back() {
        return format!("; set {number} ({}) has failed: {way_back}", set.level);
    }
    let then = match set.slots.get(usize::from(slot)).copied().flatten() {
        // A copy of it, or a spare that is filled already.
        Some(bay) if set.state == "optimal" => return format!("; the drive in bay {bay} has its place"),
        Some(bay) => format!("the spare in bay {bay} takes over"),
        None if status.bays.iter().any(|bay| bay.status == Status::Spare) => {
            format!("no spare has taken over; `fathom array rebuild {number}` has one do so")
        }
        None => "there is no spare that could take over".into(),
    };
    format!("; set {number} is degraded; {then}")
}

/// What becomes of what the drive in a bay has missed, to be said behind that it is in use.
fn missed(machine: &Machine, bay: u32) -> &'static str {
    let (status, slot) = (machine.status(), place_of(machine, bay));
    let is_filled =
        |work: &WorkStatus| slot.is_some_and(|(set, slot)| (work.set, work.slot) == (set, Some(slot)));
    if status.works.iter().any(is_filled) {
        "; what is missing on it is rebuilt"
    } else {
        "; nothing is missing on it"
    }
}

/// Says something to the server whose control socket is at `path`, and hears the answer.
pub fn ask(path: &Path, command: &Command) -> io::Result<Answer> {
    let stream = UnixStream::connect(path)?;
    stream.set_read_timeout(Some(Duration::from_secs(60)))?;
    let mut text = serde_json::to_vec(command)?;
    text.push(b'\n');
    (&stream).write_all(&text)?;
    let mut line = String::new();
    BufReader::new(&stream).read_line(&mut line)?;
    Ok(serde_json::from_str(&line)?)
}
