//! From disks on a shelf, or none yet, to an array at work.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use array::raid::Health;
use array::sim::Topology;
use array::streams::Stream;
use units::convert::narrow;

use super::bays::restored;
use super::front::Front;
use super::works::{Extent, WorkKind, Works};
use super::{Bay, Bays, Going, Lost, Machine, SetShape, Shape};
use crate::cache::WriteCache;
use crate::config::{BayConfig, Config, Label, SlotState, Status};
use crate::disk::{self, Disk};
use crate::events::{EventLog, Severity};
use crate::medium::{Medium, MemoryMedium};
use crate::nvram::Nvram;
use crate::set::{Common, SetState, SetStore};
use crate::shelf::Shelf;

/// How an array is opened.
#[derive(Clone, Debug)]
pub struct Options {
    /// Whether each record of the journal is on stable storage before members are written, so that a loss of power of
    /// the machine leaves no write hole either.
    pub is_synced: bool,
    /// Where events are appended to.
    pub log: Option<PathBuf>,
    /// Whether a spare takes over by itself when a member fails.
    pub is_automatic: bool,
    /// The room of the journal.
    pub journal: u64,
    /// Bytes of the write-back cache; 0: none. `None`: as the array has it, up to 256 MiB.
    pub cache: Option<u64>,
    /// Releases of the firmware that the model knows, with what the array is under each, and the one that is installed.
    pub firmware: (Vec<(String, Topology)>, Option<String>),
    /// Of which names are drawn that need not be hidden: the numbers of array and drives.
    pub seed: u64,
    /// What has been in the cache for so long is written to members. `None`: only for want of room.
    pub destage_after: Option<Duration>,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            is_synced: false,
            log: None,
            is_automatic: true,
            journal: 96 << 20,
            cache: None,
            firmware: Default::default(),
            seed: 1,
            destage_after: Some(Duration::from_secs(5)),
        }
    }
}

/// Why an array cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// What the disks lie on refuses.
    #[error("{what}: {source}")]
    System {
        /// What was tried.
        what: String,
        /// Why not.
        source: io::Error,
    },
    /// The disks are those of an array of another shape.
    #[error("the disks there are of `{found}`: {shape}; serve that address, or name another directory")]
    OtherShape {
        /// Its address.
        found: String,
        /// Its sets.
        shape: String,
    },
    /// The array that there is has no drive in its bays.
    #[error(
        "no drive is in its bay, and a new array would take the place of the one that drives {outside} are of; move one of them from \
         `out/SERIAL.disk` to its bay (`bay-00.disk` and so on), or name another directory"
    )]
    AllOut {
        /// Serial numbers of those that are out of their bays.
        outside: String,
    },
    /// Two disks were each used without the other.
    #[error(
        "two halves of the array were used apart: bays {one} and {other} disagree about what is in use; take one half out"
    )]
    Split {
        /// A bay.
        one: u32,
        /// Another.
        other: u32,
    },
    /// What the labels say makes no sense.
    #[error(
        "the configuration on the disks does not fit the array; take the disks out, or name another directory"
    )]
    Senseless,
}

fn system(what: &str) -> impl Fn(io::Error) -> OpenError + use<> {
    let what = what.to_owned();
    move |source| OpenError::System { what: what.clone(), source }
}

/// A name for a new array: a number that comes of the seed and is shown, so that the same session has the same log; and
/// behind a dot one that no other array has.
fn new_array(seed: u64) -> io::Result<String> {
    let mut random = [0; 8];
    File::open("/dev/urandom")?.read_exact(&mut random)?;
    let number = Stream::open(seed, "array").bits();
    Ok(format!("{number:016x}.{:016x}", u64::from_le_bytes(random)))
}

/// What of an array's name is shown.
pub(super) fn number(array: &str) -> &str {
    array.split('.').next().unwrap_or(array)
}

/// The serial number of a new drive in a bay, which none of `others` has.
pub(super) fn new_serial(seed: u64, generation: u64, bay: u32, others: &[String]) -> String {
    let mut stream = Stream::open(seed, &format!("drive {generation} {bay}"));
    loop {
        let serial = format!("{:08x}", stream.below(1 << 32));
        if !others.contains(&serial) {
            return serial;
        }
    }
}

/// The disks that a shelf has, with their labels.
struct Found {
    medium: Box<dyn Medium>,
    label: Option<Label>,
}

impl Machine {
    /// An array whose members are memory, and are lost with it.
    pub fn in_memory(shape: Shape, options: &Options) -> Result<Arc<Machine>, OpenError> {
        let events = log(options)?;
        let (mut bays, mut serials) = (Vec::new(), Vec::new());
        for (at, &sectors) in (0..).zip(&shape.bays) {
            let serial = new_serial(options.seed, 0, at, &serials);
            serials.push(serial.clone());
            bays.push(Bay {
                disk: Some(Arc::new(Disk::in_memory(serial.clone(), sectors))),
                serial,
                status: Status::Unassigned,
                until: 0,
                generation: 0,
            });
        }
        let array = new_array(options.seed).map_err(system("a number for the array"))?;
        let memory = Box::new(MemoryMedium::default());
        let (nvram, _) = nvram(memory, &shape, &array, options)?;
        let cache = cache(None, &shape, &array, options)?;
        Machine::fresh(shape, array, bays, None, (nvram, cache), events, options)
    }

    /// The array whose disks are on `shelf`; where that is empty, a new one.
    pub fn open(shape: Shape, shelf: Box<dyn Shelf>, options: &Options) -> Result<Arc<Machine>, OpenError> {
        let events = log(options)?;
        let mut found = Vec::new();
        for bay in 0..narrow::<u32>(shape.bays.len()) {
            let medium = shelf.disk(bay).map_err(system(&format!("the disk in bay {bay}")))?;
            let label = match &medium {
                Some(medium) => {
                    label_of(medium.as_ref()).map_err(system(&format!("the label of bay {bay}")))?
                }
                None => None,
            };
            found.push(medium.map(|medium| Found { medium, label }));
        }
        let memory = shelf.nvram().map_err(system("the controller's memory"))?;
        let labels = || found.iter().flatten().filter_map(|found| found.label.as_ref());
        // One that was never whole: its making was cut short before it was served.
        let is_new = labels().all(|label| label.config.generation <= 1);
        if is_new {
            let outside = shelf.outside().map_err(system("the drives outside"))?;
            if !outside.is_empty() {
                return Err(OpenError::AllOut { outside: outside.join(", ") });
            }
            let array = new_array(options.seed).map_err(system("a number for the array"))?;
            let (mut bays, mut serials) = (Vec::new(), Vec::new());
            for (at, found) in (0..).zip(found) {
                let medium = match found {
                    Some(found) => {
                        disk::clear_label(found.medium.as_ref()).map_err(system("a label"))?;
                        found.medium
                    }
                    None => shelf.new_disk(at).map_err(system(&format!("a disk for bay {at}")))?,
                };
                let serial = new_serial(options.seed, 0, at, &serials);
                serials.push(serial.clone());
                let disk = Disk::on(serial.clone(), shape.bays[at as usize], medium);
                let (disk, status) = (Some(Arc::new(disk)), Status::Unassigned);
                bays.push(Bay { disk, serial, status, until: 0, generation: 0 });
            }
            let nvram = nvram(memory, &shape, &array, options)?;
            // What another array may have left in it is none of this one's.
            nvram.0.restart(false, || Ok(())).map_err(system("the controller's memory"))?;
            let cache = cache(Some(shelf.as_ref()), &shape, &array, options)?;
            return Machine::fresh(shape, array, bays, Some(shelf), (nvram.0, cache), events, options);
        }
        Machine::again(shape, found, shelf, memory, events, options)
    }

    /// A new array: every disk in its place, all of them zeros, which are consistent at every level.
    fn fresh(
        shape: Shape,
        array: String,
        mut bays: Vec<Bay>,
        shelf: Option<Box<dyn Shelf>>,
        kept: (Nvram, Option<WriteCache>),
        events: EventLog,
        options: &Options,
    ) -> Result<Arc<Machine>, OpenError> {
        if let Some(cache) = &kept.1 {
            cache.clear(None).map_err(system("the write cache"))?;
        }
        for set in &shape.sets {
            for &bay in &set.bays[..set.geometry.spec().members as usize] {
                bays[bay as usize].status = Status::InUse;
            }
        }
        for &bay in &shape.spares {
            bays[bay as usize].status = Status::Spare;
        }
        let healths = shape.sets.iter().map(|set| Health::new(&set.geometry)).collect();
        events.add(Severity::Information, format!("array {} ({}) created", number(&array), shape.name));
        let machine =
            Machine::assembled(shape, array, 0, bays, healths, shelf, kept, events, options, |_| Vec::new());
        // The first is a label of an array in the making, the second of one that is.
        machine.labelled()?;
        machine.labelled()?;
        machine.start_destaging(options.destage_after).map_err(system("a thread for the write cache"))?;
        Ok(machine)
    }

    fn labelled(&self) -> Result<(), OpenError> {
        let mut bays = self.lock_bays();
        self.relabel(&mut bays).map_err(system("the labels of the disks"))
    }

    /// An array that was there before.
    fn again(
        shape: Shape,
        found: Vec<Option<Found>>,
        shelf: Box<dyn Shelf>,
        memory: Box<dyn Medium>,
        events: EventLog,
        options: &Options,
    ) -> Result<Arc<Machine>, OpenError> {
        let config = newest(&shape, &found)?;
        let healths: Option<Vec<Health>> = (shape.sets.iter().zip(&config.sets).enumerate())
            .map(|(number, (set, slots))| restored(&set.geometry, &shape, number, slots))
            .collect();
        let healths = healths.filter(|healths| healths.len() == shape.sets.len());
        let healths =
            healths.filter(|_| config.bays.len() == shape.bays.len()).ok_or(OpenError::Senseless)?;
        let mut bays = Vec::new();
        let mut missing = Vec::new();
        for (at, (found, known)) in (0_u32..).zip(found.into_iter().zip(&config.bays)) {
            let bay = bay_of(found, known, &config, shape.bays[at as usize]);
            let was_used = known.status == Status::InUse;
            if was_used && bay.status != Status::InUse {
                missing.push(at);
            }
            match bay.status {
                Status::Foreign => events.add(
                    Severity::Warning,
                    format!("bay {at}: foreign drive {}; refused until it is cleared", bay.serial),
                ),
                Status::Stale => events.add(
                    Severity::Warning,
                    format!("bay {at}: drive {} is out of date; refused until it is cleared", bay.serial),
                ),
                _ => {}
            }
            bays.push(bay);
        }
        let (nvram, past) = nvram(memory, &shape, &config.array, options)?;
        let began = if past.is_clean { "started" } else { "started after an unclean stop" };
        events
            .add(Severity::Information, format!("array {} ({}) {began}", number(&config.array), config.name));
        let (array, generation) = (config.array.clone(), config.generation);
        let history = |_: &[SetShape]| config.sets.clone();
        let cache = cache(Some(shelf.as_ref()), &shape, &array, options)?;
        let machine = Machine::assembled(
            shape,
            array,
            generation,
            bays,
            healths,
            Some(shelf),
            (nvram, cache),
            events,
            options,
            history,
        );
        machine.works.was_interrupted(config.works.clone());
        {
            let mut bays = machine.lock_bays();
            machine.sync_spares(&bays);
            for bay in missing {
                let status = bays.bays[bay as usize].status;
                machine.say(Severity::Critical, format!("bay {bay}: drive missing or out of date"));
                machine.take_out_of_use(&mut bays, bay, Going::Refusing);
                bays.bays[bay as usize].status = status;
            }
            machine.sync_spares(&bays);
        }
        machine.replay()?;
        // Twice: a copy of a drive that is older than this start is two generations behind, as no drive in use ever is.
        machine.labelled()?;
        machine.labelled()?;
        machine.recover_cache().map_err(system("reading the write cache again"))?;
        machine.start_destaging(options.destage_after).map_err(system("a thread for the write cache"))?;
        machine.resume();
        Ok(machine)
    }

    /// Does again what the journal has.
    fn replay(&self) -> Result<(), OpenError> {
        let Some(nvram) = &self.common.nvram else { return Ok(()) };
        let count = nvram
            .replay(|set, record| match self.sets.get(set as usize) {
                Some(set) => set.replay(record),
                None => Ok(()),
            })
            .map_err(system("replaying the journal onto the members"))?;
        if count > 0 {
            self.say(Severity::Information, format!("journal: {count} writes replayed"));
        }
        Ok(())
    }

    /// Continues what was under way, and has spares take over what is lost.
    fn resume(self: &Arc<Machine>) {
        self.tell_what_is_lost();
        for (number, set) in (0_u32..).zip(&self.sets) {
            let slots = 0..narrow::<u16>(set.geometry().spec().members);
            for slot in slots {
                let (is_rebuilding, has_twin) = {
                    let state = set.state();
                    (crate::set::is_rebuilding(&state.health, slot), state.health.twin(slot).is_some())
                };
                if is_rebuilding {
                    // What cannot be begun is told in the log, and can be begun by hand.
                    let _told = self.begin(WorkKind::Rebuild, number, Some(slot), Extent::All, true);
                } else if has_twin {
                    let _told = self.begin(WorkKind::Clone, number, Some(slot), Extent::All, true);
                }
            }
        }
        self.use_spares();
        self.resume_works();
    }

    /// Each start says which sets are without redundancy, or lost: whoever reads the log from there must not take them for whole.
    fn tell_what_is_lost(&self) {
        for (number, set) in (0_u32..).zip(&self.sets) {
            let state = set.state();
            let slots = 0..narrow::<u16>(set.geometry().spec().members);
            let lost: Vec<String> = slots
                .filter(|&slot| state.health.state(slot) == array::raid::MemberState::Failed)
                .map(|slot| slot.to_string())
                .collect();
            if lost.is_empty() {
                continue;
            }
            let (severity, word) = match super::bays::has_failed(set.geometry(), &state.health) {
                true => (Severity::Critical, "failed"),
                false => (Severity::Warning, "degraded"),
            };
            let level = set.geometry().spec().level;
            self.say(
                severity,
                format!("set {number} ({level}): {word}; no disk in slot {}", lost.join(", ")),
            );
        }
    }

    #[expect(clippy::too_many_arguments, reason = "the parts of which it is put together, once")]
    fn assembled(
        shape: Shape,
        array: String,
        generation: u64,
        bays: Vec<Bay>,
        healths: Vec<Health>,
        shelf: Option<Box<dyn Shelf>>,
        (nvram, cache): (Nvram, Option<WriteCache>),
        events: EventLog,
        options: &Options,
        history: impl Fn(&[SetShape]) -> Vec<Vec<crate::config::SlotConfig>>,
    ) -> Arc<Machine> {
        let is_journaled = shelf.is_some();
        let common = Arc::new(Common { nvram: Some(nvram), is_journaled, ..Common::default() });
        let history = history(&shape.sets);
        let mut lost = Vec::new();
        let mut sets = Vec::new();
        for ((number, set), health) in (0_u32..).zip(&shape.sets).zip(healths) {
            let mut of_it = vec![Lost::default(); set.geometry.spec().members as usize];
            for (lost, config) in of_it.iter_mut().zip(history.get(number as usize).into_iter().flatten()) {
                // A disk that is in its slot was not lost by it, and one that is being filled has nothing that counts.
                if let SlotState::Failed { since } = config.state {
                    (lost.serial, lost.since) = (config.serial.clone(), since);
                }
            }
            lost.push(of_it);
            let disks = vec![None; set.bays.len()];
            let state = SetState { health, disks };
            sets.push(SetStore::new(number, set.geometry.clone(), state, common.clone()));
        }
        let bays = Bays { generation, bays, outside: Vec::new(), lost };
        let machine = Arc::new_cyclic(|me| Machine {
            works: Works::new(me.clone()),
            array,
            common,
            sets,
            cache,
            destager: Mutex::default(),
            is_closing: AtomicBool::new(false),
            front: Mutex::new(Front::whole(&shape, options.firmware.1.clone())),
            is_cut: AtomicBool::new(false),
            firmware: options.firmware.0.clone(),
            seed: options.seed,
            shelf,
            bays: Mutex::new(bays),
            events,
            is_automatic: options.is_automatic,
            model: OnceLock::new(),
            shape,
        });
        let bays = machine.lock_bays();
        machine.sync_spares(&bays);
        drop(bays);
        machine
    }
}

fn log(options: &Options) -> Result<EventLog, OpenError> {
    match &options.log {
        Some(path) => EventLog::at(path).map_err(system("the event log")),
        None => Ok(EventLog::new()),
    }
}

fn nvram(
    memory: Box<dyn Medium>,
    shape: &Shape,
    array: &str,
    options: &Options,
) -> Result<(Nvram, crate::nvram::Past), OpenError> {
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    let owner = format!("{array} {}", boot.trim());
    Nvram::open(memory, options.journal, shape.sets.len(), options.is_synced, &owner)
        .map_err(system("the controller's memory"))
}

/// Most that a cache takes of this machine's memory where nobody has said how much it may.
const MOST_CACHE: u64 = 256 << 20;

fn cache(
    shelf: Option<&dyn Shelf>,
    shape: &Shape,
    array: &str,
    options: &Options,
) -> Result<Option<WriteCache>, OpenError> {
    let size = options.cache.unwrap_or(shape.cache.min(MOST_CACHE));
    if size == 0 {
        return Ok(None);
    }
    let why = system("the memory of the write cache");
    let medium = shelf.map(Shelf::cache).transpose().map_err(&why)?;
    // The part that no other array has.
    let own = array.rsplit('.').next().unwrap_or(array);
    WriteCache::open(size, medium, own, shape.sets.len(), options.is_synced).map(Some).map_err(why)
}

pub(super) fn label_of(medium: &dyn Medium) -> io::Result<Option<Label>> {
    let label = disk::read_label(medium)?;
    Ok(label.and_then(|(_, text)| serde_json::from_slice(&text).ok()))
}

/// The configuration that counts: the newest, if all of the newest are the same one of this shape.
fn newest(shape: &Shape, found: &[Option<Found>]) -> Result<Config, OpenError> {
    let labels: Vec<(u32, &Label)> =
        (0..).zip(found).filter_map(|(bay, found)| Some((bay, found.as_ref()?.label.as_ref()?))).collect();
    // The array that most disks are of.
    let votes =
        |label: &Label| labels.iter().filter(|(_, other)| other.config.array == label.config.array).count();
    let of = labels.iter().max_by_key(|(_, label)| votes(label)).map(|(_, label)| &label.config.array);
    let own: Vec<_> = labels.iter().filter(|(_, label)| Some(&label.config.array) == of).collect();
    let (one, newest) =
        own.iter().max_by_key(|(_, label)| label.config.generation).ok_or(OpenError::Senseless)?;
    let differs =
        |label: &Label| label.config.generation == newest.config.generation && label.config != newest.config;
    if let Some((other, _)) = own.iter().find(|(_, label)| differs(label)) {
        return Err(OpenError::Split { one: *one, other: *other });
    }
    // A disk that was used since it was taken out of use was used without those that say so.
    let was_apart = |label: &Label| {
        newest.config.bays.iter().any(|bay| {
            bay.serial == label.serial
                && bay.until > 0
                && label.config.generation >= bay.until
                && !matches!(bay.status, Status::InUse | Status::Spare)
        })
    };
    if let Some((other, _)) = own.iter().find(|(_, label)| was_apart(label)) {
        return Err(OpenError::Split { one: *one, other: *other });
    }
    if newest.config.shape != shape.text() {
        let Config { name, shape, .. } = newest.config.clone();
        return Err(OpenError::OtherShape { found: name, shape });
    }
    Ok(newest.config.clone())
}

/// What is in a bay, by what the configuration says of it.
fn bay_of(found: Option<Found>, known: &BayConfig, config: &Config, sectors: u64) -> Bay {
    let BayConfig { serial, status, until } = known.clone();
    let Some(Found { medium, label }) = found else {
        return Bay { disk: None, serial, status: Status::Empty, until, generation: 0 };
    };
    let (own, generation) = match &label {
        Some(label) => (label.serial.clone(), label.config.generation),
        None => (serial.clone(), 0),
    };
    let is_same = label.as_ref().is_some_and(|label| label.serial == serial);
    let status = match &label {
        Some(label) if label.config.array != config.array => Status::Foreign,
        // Labels are written one after the other: a drive in use is one generation behind where that was cut short, and an older
        // one is a copy from before the last start, which has two of them.
        Some(label)
            if is_same && status == Status::InUse && label.config.generation + 1 < config.generation =>
        {
            Status::Stale
        }
        Some(_) if is_same && matches!(status, Status::InUse | Status::Spare) => status,
        Some(_) if is_same => status,
        Some(_) => Status::Stale,
        // Cleared, or put there by somebody: nothing is known of it, and nothing was on it.
        None if matches!(status, Status::InUse | Status::Spare) => Status::Stale,
        None => Status::Unassigned,
    };
    let status = if status == Status::Empty { Status::Stale } else { status };
    let disk = Some(Arc::new(Disk::on(own.clone(), sectors, medium)));
    Bay { disk, serial: own, status, until, generation }
}
