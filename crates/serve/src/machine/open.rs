//! From disks on a shelf, or none yet, to an array at work.

use std::fs::File;
use std::io::{self, Read};
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::{Arc, Mutex, OnceLock};

use array::raid::{Geometry, Health};
use array::streams::Stream;
use units::convert::narrow;

use super::bays::restored;
use super::errors::OpenError;
use super::found::{
    DiskInBay, Seats, check_free, config_of, in_their_bays, label_of, lost_last, newest, seated,
};
use super::front::Front;
use super::memories::{cache, log, nvram, owner};
use super::options::Options;
use super::starting::tell_start;
use super::work::{Extent, WorkKind};
use super::works::Works;
use super::{Bay, Bays, Filled, Going, Lost, Machine, SetShape, Shape};
use crate::cache::WriteCache;
use crate::config::{Config, FilledConfig, Label, SetWork, SlotState, Start, Status};
use crate::disk::{self, Disk};
use crate::events::{EventLog, Severity};
use crate::medium::{Medium, MemoryMedium};
use crate::nvram::Nvram;
use crate::set::{Common, First, Refusal, SetState, SetStore};
use crate::shelf::Shelf;

/// Has the drives in use say what the newest label says: a stop among the labels of the next generation leaves none two behind.
fn catch_up(bays: &[Bay], config: &Config) {
    let is_behind = |bay: &&Bay| bay.status == Status::InUse && bay.generation < config.generation;
    for bay in bays.iter().filter(is_behind) {
        let Some(disk) = &bay.disk else { continue };
        let label = Label { serial: bay.serial.clone(), config: config.clone() };
        // One that refuses is found by the labels of this start.
        let _refused = super::bays::write(disk, &label);
    }
}

/// A name for a new array: a number that comes of the seed and is shown, so that the same session has the same log; and
/// behind a dot one that no other array has.
fn new_array(seed: u64) -> io::Result<String> {
    let number = Stream::open(seed, "array").bits();
    Ok(format!("{number:016x}.{:016x}", any_number()?))
}

/// A start after `last`.
fn started(last: &Start) -> Result<Start, OpenError> {
    let own = any_number().map_err(OpenError::system("a number for the start"))?;
    Ok(Start::after(last, own))
}

/// A number that nothing else has.
fn any_number() -> io::Result<u64> {
    let mut random = [0; 8];
    File::open("/dev/urandom")?.read_exact(&mut random)?;
    Ok(u64::from_le_bytes(random))
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
                start: 0,
            });
        }
        let array = new_array(options.seed).map_err(OpenError::system("a number for the array"))?;
        let (nvram, _) = nvram(Arc::new(MemoryMedium::default()), &shape, &array, options)?;
        let start = started(&Start::default())?;
        let cache = cache(None, &shape, (&array, start.own, None), options, &events)?;
        Machine::fresh(shape, (array, start), bays, None, (nvram, cache), events, options)
    }

    /// The array whose disks are on `shelf`; where that is empty, a new one.
    pub fn open(shape: Shape, shelf: Box<dyn Shelf>, options: &Options) -> Result<Arc<Machine>, OpenError> {
        let events = log(options)?;
        let mut found = Vec::new();
        for bay in 0..narrow::<u32>(shape.bays.len()) {
            let medium = shelf.disk(bay).map_err(OpenError::system(&format!("the disk in bay {bay}")))?;
            found.push(medium.map(|medium| {
                // Where one cannot be read the others know what the drive was, if there are any.
                let (label, fault) = match label_of(medium.as_ref()) {
                    Ok(label) => (label, None),
                    Err(why) => (None, Some(why)),
                };
                if let Some(why) = &fault {
                    events.add(Severity::Warning, format!("bay {bay}: the label cannot be read ({why})"));
                }
                DiskInBay { medium, label, fault }
            }));
        }
        let memory: Arc<dyn Medium> =
            shelf.nvram().map_err(OpenError::system("the controller's memory"))?.into();
        let labels = || found.iter().flatten().filter_map(|found| found.label.as_ref());
        // One that was never whole: its making was cut short before it was served.
        let is_new = labels().all(|label| label.config.generation <= 1);
        if is_new {
            let outside = shelf.outside().map_err(OpenError::system("the drives outside"))?;
            if !outside.is_empty() {
                let last = config_of(&memory)?.and_then(|config| lost_last(&config));
                let which = last.unwrap_or_else(|| "the one that was pulled last".into());
                return Err(OpenError::AllOut { outside: outside.join(", "), which });
            }
            check_free(&found, &memory, &shape)?;
            let array = new_array(options.seed).map_err(OpenError::system("a number for the array"))?;
            let (mut bays, mut serials) = (Vec::new(), Vec::new());
            for (at, found) in (0..).zip(found) {
                let medium = match found {
                    Some(found) => {
                        disk::clear_label(found.medium.as_ref()).map_err(OpenError::system("a label"))?;
                        found.medium
                    }
                    None => shelf.new_disk(at).map_err(OpenError::system(&format!("a disk for bay {at}")))?,
                };
                let serial = new_serial(options.seed, 0, at, &serials);
                serials.push(serial.clone());
                let disk = Disk::new_on(serial.clone(), shape.bays[at as usize], medium);
                let disk = disk.map_err(OpenError::system(&format!("the disk of bay {at}")))?;
                let (disk, status) = (Some(Arc::new(disk)), Status::Unassigned);
                bays.push(Bay { disk, serial, status, until: 0, generation: 0, start: 0 });
            }
            let nvram = nvram(memory, &shape, &array, options)?;
            // What another array may have left in it is none of this one's.
            nvram.0.restart(false, || Ok(())).map_err(OpenError::system("the controller's memory"))?;
            let start = started(&Start::default())?;
            let cache = cache(Some(shelf.as_ref()), &shape, (&array, start.own, None), options, &events)?;
            return Machine::fresh(
                shape,
                (array, start),
                bays,
                Some(shelf),
                (nvram.0, cache),
                events,
                options,
            );
        }
        Machine::again(shape, found, shelf, memory, events, options)
    }

    /// A new array: every disk in its place, all of them zeros, which are consistent at every level.
    fn fresh(
        shape: Shape,
        (array, start): (String, Start),
        mut bays: Vec<Bay>,
        shelf: Option<Box<dyn Shelf>>,
        kept: (Nvram, Option<WriteCache>),
        events: EventLog,
        options: &Options,
    ) -> Result<Arc<Machine>, OpenError> {
        if let Some(cache) = &kept.1 {
            cache.clear().map_err(OpenError::system("the write cache"))?;
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
        let machine = Machine::assembled(
            shape,
            array,
            (0, 0, start),
            bays,
            healths,
            shelf,
            kept,
            events,
            options,
            |_| Vec::new(),
        );
        // The first is a label of an array in the making, the second of one that is.
        machine.labelled()?;
        machine.labelled()?;
        machine
            .start_destaging(options.destage_after)
            .map_err(OpenError::system("a thread for the write cache"))?;
        Ok(machine)
    }

    fn labelled(&self) -> Result<(), OpenError> {
        let mut bays = self.lock_bays();
        self.relabel(&mut bays).map_err(OpenError::system("the labels of the disks"))
    }

    /// An array that was there before.
    fn again(
        shape: Shape,
        found: Vec<Option<DiskInBay>>,
        shelf: Box<dyn Shelf>,
        memory: Arc<dyn Medium>,
        events: EventLog,
        options: &Options,
    ) -> Result<Arc<Machine>, OpenError> {
        let (config, mut is_remembered) = newest(&shape, &found, config_of(&memory)?)?;
        in_their_bays(&found, &config)?;
        if config.bays.len() != shape.bays.len() {
            return Err(OpenError::OtherBays { found: config.bays.len(), own: shape.bays.len() });
        }
        let healths: Option<Vec<Health>> = (shape.sets.iter().zip(&config.sets).enumerate())
            .map(|(number, (set, slots))| restored(&set.geometry, &shape, number, slots))
            .collect();
        let healths = healths.filter(|healths| healths.len() == shape.sets.len());
        let healths = healths.ok_or(OpenError::Senseless)?;
        let Seats { bays, missing, returned } = seated(found, &config, &shape, &events)?;
        catch_up(&bays, &config);
        let (nvram, past) = nvram(memory, &shape, &config.array, options)?;
        is_remembered &= past.is_known;
        let has_lost_power = past.has_lost_power(&owner(&config.array, options));
        tell_start(&events, &config, is_remembered, &past, has_lost_power);
        // What was not synced when power was lost may be what a drive that was away has missed.
        let is_doubtful = !is_remembered || has_lost_power;
        for group in (0..narrow::<u32>(shape.groups())).filter(|_| is_doubtful) {
            nvram.maps().intend_all(group).map_err(OpenError::system("the controller's memory"))?;
        }
        (0..narrow::<u32>(shape.slots()))
            .filter(|_| is_doubtful)
            .for_each(|slot| nvram.maps().forget_reach(slot));
        let (array, generation) = (config.array.clone(), config.generation);
        let history = |_: &[SetShape]| config.sets.clone();
        let start = started(&config.start)?;
        let of = (array.as_str(), start.own, config.cache);
        let cache = cache(Some(shelf.as_ref()), &shape, of, options, &events)?;
        let machine = Machine::assembled(
            shape,
            array,
            (generation, config.oldest(), start),
            bays,
            healths,
            Some(shelf),
            (nvram, cache),
            events,
            options,
            history,
        );
        let begun = Machine::begin_again(
            &machine,
            &config,
            (&missing, returned),
            is_remembered,
            has_lost_power,
            options,
        );
        if let Err(why) = begun {
            // The log has its start, and must not leave it at that.
            machine.say(Severity::Critical, format!("start failed, array stopped: {why}"));
            return Err(why);
        }
        Ok(machine)
    }

    /// Has an array that was there before be at work: what it owes is done, what was being written is written, and the labels say so.
    fn begin_again(
        machine: &Arc<Machine>,
        config: &Config,
        (missing, returned): (&[u32], Vec<u32>),
        is_remembered: bool,
        has_lost_power: bool,
        options: &Options,
    ) -> Result<(), OpenError> {
        machine.works.was_interrupted(config.works.clone());
        if !is_remembered || has_lost_power {
            // A level without redundancy has nothing that must fit.
            let sets = (0_u32..).zip(&machine.sets);
            let is_redundant = |store: &SetStore| {
                let spec = store.geometry().spec();
                spec.level.survives(spec.members) > 0
            };
            sets.filter(|(_, store)| is_redundant(store))
                .for_each(|(set, _)| machine.works.owe_verify(set, SetWork::Resync));
        }
        machine.do_without(missing);
        match is_remembered {
            true => machine.replay()?,
            false => machine.forget()?,
        }
        // Before the labels, which say that it is this start's.
        machine.recover_cache().map_err(OpenError::system("reading the write cache again"))?;
        // Twice: a copy of a drive that is older than this start is two generations behind, as no drive in use ever is.
        machine.labelled()?;
        machine.labelled()?;
        if let Some(cache) = &machine.cache {
            cache.belongs().map_err(OpenError::system("the memory of the write cache"))?;
        }
        machine
            .start_destaging(options.destage_after)
            .map_err(OpenError::system("a thread for the write cache"))?;
        for bay in returned {
            // What is in its way is told, and it can be inserted by hand.
            let _told = machine.came_back(bay);
        }
        machine.resume();
        Ok(())
    }

    /// Takes drives out of use that are not there, or not what they should be.
    fn do_without(&self, missing: &[u32]) {
        let mut bays = self.lock_bays();
        self.sync_spares(&bays);
        for &bay in missing {
            let status = bays.bays[bay as usize].status;
            self.say(Severity::Critical, format!("bay {bay}: drive missing or out of date"));
            self.take_out_of_use(&mut bays, bay, Going::Refusing);
            bays.bays[bay as usize].status = status;
        }
        self.sync_spares(&bays);
    }

    /// Does again what the journal has.
    fn replay(&self) -> Result<(), OpenError> {
        let Some(nvram) = &self.common.nvram else { return Ok(()) };
        let count = nvram
            .replay(|set, record| match self.sets.get(set as usize) {
                Some(set) => set.replay(record),
                None => Ok(()),
            })
            .map_err(OpenError::system("replaying the journal onto the members"))?;
        if count > 0 {
            self.say(Severity::Information, format!("journal: {count} writes replayed"));
        }
        Ok(())
    }

    /// Takes nothing from a memory that knows nothing of how the array ended.
    fn forget(&self) -> Result<(), OpenError> {
        let Some(nvram) = &self.common.nvram else { return Ok(()) };
        nvram.restart(false, || Ok(())).map_err(OpenError::system("the controller's memory"))
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
                    let extent = self.extent_of(number, slot);
                    // What cannot be begun is told in the log, and can be begun by hand.
                    let _told = self.begin(WorkKind::Rebuild, number, Some(slot), extent, true);
                } else if has_twin {
                    let _told = self.begin(WorkKind::Clone, number, Some(slot), Extent::All, true);
                }
            }
        }
        self.use_spares();
        self.resume_works();
    }

    #[expect(clippy::too_many_arguments, reason = "the parts of which it is put together, once")]
    fn assembled(
        shape: Shape,
        array: String,
        (generation, taken, start): (u64, u64, Start),
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
        let (mut lost, mut filled_of) = (Vec::new(), Vec::new());
        let mut sets = Vec::new();
        for ((number, set), health) in (0_u32..).zip(&shape.sets).zip(healths) {
            let mut of_it = vec![Lost::default(); set.geometry.spec().members as usize];
            let mut filled = vec![Filled::default(); of_it.len()];
            let slots = history.get(number as usize).into_iter().flatten();
            for ((lost, filled), config) in of_it.iter_mut().zip(&mut filled).zip(slots) {
                if let Some(FilledConfig { lost, done_to }) = config.filled.clone() {
                    *filled = Filled { lost: lost.into(), done_to };
                }
                // A disk that is in its slot was not lost by it, and one that is being filled has nothing that counts.
                if let SlotState::Failed { since } = config.state {
                    (lost.serial, lost.since, lost.start) = (config.serial.clone(), since, config.start);
                } else if config.since > 0 {
                    (lost.serial, lost.since) = (config.serial.clone(), config.since);
                } else if let Some(before) = config.before.clone() {
                    *lost = before.into();
                }
            }
            let disks = vec![None; set.bays.len()];
            let state = SetState { health, disks };
            let before =
                |count: fn(&Geometry) -> u32| sets.iter().map(|set: &SetStore| count(set.geometry())).sum();
            let first =
                First { group: before(Geometry::groups), slot: before(|geometry| geometry.spec().members) };
            let store = SetStore::new((number, first), set.geometry.clone(), state, common.clone());
            let both = of_it.iter_mut().zip(filled.iter_mut().map(|filled| &mut filled.lost));
            for (slot, lost) in
                (0_u16..).zip(both).flat_map(|(slot, (lost, filled))| [(slot, lost), (slot, filled)])
            {
                let group = set.geometry.group_of(slot);
                let nvram = common.nvram.as_ref();
                let unchanged = nvram.and_then(|nvram| nvram.maps().unchanged_since(store.number_of(group)));
                // What was lost since its group was written to last has missed nothing.
                if unchanged.is_some_and(|unchanged| lost.since >= unchanged) {
                    lost.changes = store.changes(group);
                }
            }
            lost.push(of_it);
            filled_of.push(filled);
            sets.push(store);
        }
        let labelled = start.before.first().copied().unwrap_or(0);
        let bays = Bays { generation, taken, labelled, bays, outside: Vec::new(), lost, filled: filled_of };
        let machine = Arc::new_cyclic(|me| Machine {
            works: Works::new(me.clone()),
            array,
            start,
            common,
            sets,
            cache,
            cache_refusal: Refusal::default(),
            destager: Mutex::default(),
            is_closing: AtomicBool::new(false),
            front: Mutex::new(Front::whole(&shape, options.firmware.1.clone())),
            is_cut: AtomicBool::new(false),
            firmware: options.firmware.0.clone(),
            seed: options.seed,
            shelf,
            bays: Mutex::new(bays),
            events,
            told: Mutex::default(),
            losses: shape.luns.iter().map(|_| AtomicU64::new(0)).collect(),
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
