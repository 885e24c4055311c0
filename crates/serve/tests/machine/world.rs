//! Disks that can stop at any write, and arrays on them.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::io;
use std::sync::{Arc, Mutex};

use array::raid::{Geometry, Level, SetSpec};
use serve::machine::{FrontShape, Lun, Machine, OpenError, Options, SetShape, Shape};
use serve::medium::Medium;
use serve::shelf::Shelf;
use serve::tag;
use units::convert::narrow;
use units::{Lba, Sectors};

use crate::host::{Host, write_all};

pub const SECTOR: usize = 512;
pub type Sector = [u8; SECTOR];

/// Numbers by xorshift64*: G. Marsaglia, "Xorshift RNGs", with the multiplier of S. Vigna.
#[derive(Clone, Debug)]
pub struct Draws(u64);

impl Draws {
    pub fn new(seed: u64) -> Draws {
        Draws(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 11
    }

    pub fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }

    pub fn one_in(&mut self, of: u64) -> bool {
        self.below(of) == 0
    }
}

/// What a loss of power leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loss {
    /// Writes in the order in which they were made; the last one torn.
    Ordered,
    /// Of each sector that was not synced any version since then.
    Reordered,
}

/// What is wrong with an array on purpose, so that it can be seen that a test finds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flaw {
    /// The journal takes records and keeps none.
    JournalOff,
    /// A sync is answered and nothing is done.
    SyncIgnored,
    /// Parity is computed wrong, and has the checksum of what was computed.
    WrongParity,
    /// The battery of the write cache keeps nothing.
    CacheForgotten,
    /// What the write cache has lost is not remembered, nor that its battery is dead.
    LossForgotten,
}

/// Where what the memory of the controller says of groups begins, behind two headers and the configuration; without groups the records
/// of its journal.
const MAPS: u64 = 2 * 4096 + (128 << 10);
/// Where the log of the write cache begins.
const LOG: u64 = 16 << 20;
/// Where the groups of sectors of a disk begin, the bytes of one, and those of the tags before its sectors.
const GROUPS: u64 = 128 << 10;
const STRIDE: u64 = TAGS + 1024 * SECTOR as u64;
const TAGS: u64 = 8192;

/// All images, and the instant of the crash.
pub struct World {
    state: Mutex<State>,
}

struct State {
    images: HashMap<String, Image>,
    /// The names of the images that are open: one that is taken out of its bay stays what it was to who has it open.
    open: Vec<String>,
    writes: u64,
    crash_at: u64,
    is_dead: bool,
    /// The first of `open` that was opened since power was last back: who has an older one open has gone with the power.
    powered: usize,
    /// What is written to disks finds no room.
    is_full: bool,
    /// The number of the write from which on that is so.
    full_at: u64,
    /// Sectors of images that cannot be read, whatever is written to them.
    broken: HashSet<(String, u64)>,
    /// Images that take no write.
    refusing: HashSet<String>,
    /// Images of which a sync fails, and those of which one has.
    unsyncable: HashSet<String>,
    /// How many labels from now on fail, and with which error.
    failing_labels: (u64, i32),
    unsynced: HashSet<String>,
    loss: Loss,
    draws: Draws,
    flaw: Option<Flaw>,
    /// Where the records of the journal begin.
    records: u64,
    /// Sectors of members, by name and number, that hold data or copies of them and no parity.
    data: HashSet<(String, u64)>,
}

#[derive(Clone, Default)]
struct Image {
    sectors: HashMap<u64, Sector>,
    /// Versions since the last sync, the one that was there first.
    unsynced: BTreeMap<u64, Vec<Sector>>,
}

impl World {
    pub fn new(loss: Loss, seed: u64) -> Arc<World> {
        let state = State {
            images: HashMap::new(),
            open: Vec::new(),
            writes: 0,
            crash_at: u64::MAX,
            is_dead: false,
            powered: 0,
            is_full: false,
            full_at: u64::MAX,
            broken: HashSet::new(),
            refusing: HashSet::new(),
            unsyncable: HashSet::new(),
            failing_labels: (0, 0),
            unsynced: HashSet::new(),
            loss,
            draws: Draws::new(seed),
            flaw: None,
            records: 0,
            data: HashSet::new(),
        };
        Arc::new(World { state: Mutex::new(state) })
    }

    /// From now on that is wrong with the array of that shape.
    pub fn plant(&self, flaw: Flaw, shape: &Shape) {
        let mut state = self.state.lock().unwrap();
        let SetShape { geometry, bays } = &shape.sets[0];
        let places = (0..geometry.capacity().0).map(|lba| geometry.place(Lba(lba)).unwrap());
        let named = places.map(|place| (bay_name(bays[usize::from(place.slot)]), place.lba.0));
        let maps = u64::from(geometry.groups()) * (1024 + 16 + 8);
        state.records = (MAPS + maps).next_multiple_of(4096);
        (state.flaw, state.data) = (Some(flaw), named.collect());
    }

    /// The write with that number from now on is the last one, and torn.
    pub fn crash_after(&self, writes: u64) {
        let mut state = self.state.lock().unwrap();
        state.crash_at = state.writes + writes;
    }

    pub fn writes(&self) -> u64 {
        self.state.lock().unwrap().writes
    }

    pub fn is_dead(&self) -> bool {
        self.state.lock().unwrap().is_dead
    }

    /// After so many writes what lies below disks and journal has no room any more.
    pub fn fill_after(&self, writes: u64) {
        let mut state = self.state.lock().unwrap();
        state.full_at = state.writes + writes;
    }

    /// What lies below disks and journal has no room any more, or has some again.
    pub fn fill(&self, is_full: bool) {
        let mut state = self.state.lock().unwrap();
        (state.is_full, state.full_at) = (is_full, u64::MAX);
    }

    /// No read of the sector of a disk that holds byte `at` succeeds any more.
    pub fn break_sector(&self, bay: u32, at: u64) {
        self.state.lock().unwrap().broken.insert((bay_name(bay), at / SECTOR as u64));
    }

    /// A disk takes no write any more.
    pub fn refuse(&self, bay: u32) {
        self.refuse_named(&bay_name(bay), true);
    }

    /// What is under a name takes no write any more, or takes them again.
    pub fn refuse_named(&self, name: &str, is_refusing: bool) {
        let mut state = self.state.lock().unwrap();
        match is_refusing {
            true => state.refusing.insert(name.to_owned()),
            false => state.refusing.remove(name),
        };
    }

    /// Syncs of what is under these names fail from now on, and nothing is written to it once one has.
    pub fn fail_syncs(&self, names: &[&str]) {
        let mut state = self.state.lock().unwrap();
        state.unsyncable = names.iter().map(|name| (*name).to_owned()).collect();
        state.unsynced.clear();
    }

    /// The next `count` writes of labels fail with that error of the system's.
    pub fn fail_labels(&self, count: u64, error: i32) {
        self.state.lock().unwrap().failing_labels = (count, error);
    }

    /// Somebody keeps something under a name.
    pub fn put(&self, name: &str, sector: u64, what: &[u8]) {
        let mut state = self.state.lock().unwrap();
        let mut held = [0; SECTOR];
        held[..what.len()].copy_from_slice(what);
        state.images.entry(name.to_owned()).or_default().sectors.insert(sector, held);
    }

    /// Power is back.
    pub fn revive(&self) {
        let mut state = self.state.lock().unwrap();
        state.powered = state.open.len();
        let State { images, is_dead, crash_at, draws, loss, .. } = &mut *state;
        (*is_dead, *crash_at) = (false, u64::MAX);
        for image in images.values_mut() {
            for (sector, versions) in std::mem::take(&mut image.unsynced) {
                if *loss == Loss::Reordered {
                    let last = image.sectors[&sector];
                    let at = narrow::<usize>(draws.below(versions.len() as u64 + 1));
                    image.sectors.insert(sector, versions.get(at).copied().unwrap_or(last));
                }
            }
        }
    }

    /// The disk of a bay is gone.
    pub fn remove(&self, bay: u32) {
        self.state.lock().unwrap().images.remove(&bay_name(bay));
    }

    /// Copies a disk as it is now.
    pub fn copy(&self, bay: u32, name: &str) {
        let mut state = self.state.lock().unwrap();
        let image = state.images[&bay_name(bay)].clone();
        state.images.insert(name.to_owned(), image);
    }

    /// Puts a copy into a bay.
    pub fn paste(&self, name: &str, bay: u32) {
        let mut state = self.state.lock().unwrap();
        let image = state.images[name].clone();
        state.images.insert(bay_name(bay), image);
    }

    /// Keeps what is under a name under another as well.
    pub fn save(&self, name: &str, other: &str) {
        let mut state = self.state.lock().unwrap();
        let image = state.images[name].clone();
        state.images.insert(other.to_owned(), image);
    }

    /// What is under a name is gone.
    pub fn forget(&self, name: &str) {
        self.state.lock().unwrap().images.remove(name);
    }

    /// The first sectors of what is under a name are gone.
    pub fn damage(&self, name: &str, sectors: u64) {
        let mut state = self.state.lock().unwrap();
        let image = state.images.get_mut(name).unwrap();
        image.sectors.retain(|sector, _| *sector >= sectors);
    }

    /// A disk has nothing left but its label.
    pub fn empty(&self, bay: u32) {
        let mut state = self.state.lock().unwrap();
        let image = state.images.get_mut(&bay_name(bay)).unwrap();
        image.sectors.retain(|sector, _| *sector < GROUPS / SECTOR as u64);
    }

    /// Noise lies over those bytes of a disk.
    pub fn scramble(&self, bay: u32, bytes: std::ops::Range<u64>) {
        let mut state = self.state.lock().unwrap();
        let image = state.images.get_mut(&bay_name(bay)).unwrap();
        let mut draws = Draws::new(1);
        for at in bytes {
            let (sector, within) = place(at);
            image.sectors.entry(sector).or_insert([0; SECTOR])[within] = draws.next().to_le_bytes()[0];
        }
    }

    /// Whether a disk has nothing but its label.
    pub fn is_empty(&self, bay: u32) -> bool {
        let state = self.state.lock().unwrap();
        // But for the map of groups.
        let of_none = |(sector, held): (&u64, &[u8; SECTOR])| {
            *sector < GROUPS / SECTOR as u64 || held[504..508] == *b"fMAP"
        };
        state.images[&bay_name(bay)].sectors.iter().all(of_none)
    }

    /// A disk has the contents of a copy again, and its own label.
    pub fn refill(&self, name: &str, bay: u32) {
        let mut state = self.state.lock().unwrap();
        let copy = state.images[name].clone();
        let image = state.images.get_mut(&bay_name(bay)).unwrap();
        image.sectors.retain(|sector, _| *sector < GROUPS / SECTOR as u64);
        image
            .sectors
            .extend(copy.sectors.into_iter().filter(|(sector, _)| *sector >= GROUPS / SECTOR as u64));
    }

    /// A copy of all that there is.
    pub fn fork(&self) -> Arc<World> {
        let other = World::new(Loss::Ordered, 1);
        other.state.lock().unwrap().images = self.state.lock().unwrap().images.clone();
        other
    }

    /// Takes the disk of another world into the same bay.
    pub fn adopt(&self, other: &World, bay: u32) {
        self.adopt_named(other, &bay_name(bay));
    }

    /// Takes what another world has under a name.
    pub fn adopt_named(&self, other: &World, name: &str) {
        let image = other.state.lock().unwrap().images[name].clone();
        self.state.lock().unwrap().images.insert(name.to_owned(), image);
    }

    /// Flips bits of one byte of a disk's data area, if anything was written to that sector.
    pub fn spoil(&self, bay: u32, at: u64) -> bool {
        let mut state = self.state.lock().unwrap();
        let image = state.images.get_mut(&bay_name(bay)).unwrap();
        match image.sectors.get_mut(&(at / SECTOR as u64)) {
            Some(sector) => {
                sector[narrow::<usize>(at % SECTOR as u64)] ^= 0x40;
                true
            }
            None => false,
        }
    }
}

pub fn bay_name(bay: u32) -> String {
    format!("bay {bay}")
}

/// The sector that holds byte `at`, and where in it.
fn place(at: u64) -> (u64, usize) {
    (at / SECTOR as u64, narrow(at % SECTOR as u64))
}

struct OnImage {
    world: Arc<World>,
    /// What it was opened as.
    name: String,
    /// Its place in [`State::open`].
    number: usize,
}

impl State {
    /// An image has another name.
    fn rename(&mut self, from: &str, to: &str) {
        let image = self.images.remove(from).unwrap();
        self.images.insert(to.to_owned(), image);
        self.open.iter_mut().filter(|name| *name == from).for_each(|name| to.clone_into(name));
    }
}

impl OnImage {
    fn change(&self, at: u64, len: u64, from: Option<&[u8]>) -> io::Result<()> {
        let mut state = self.world.state.lock().unwrap();
        let State {
            images,
            open,
            writes,
            crash_at,
            is_dead,
            is_full,
            full_at,
            refusing,
            unsynced,
            draws,
            powered,
            ..
        } = &mut *state;
        if *is_dead || self.number < *powered {
            return Err(io::Error::other("no power"));
        }
        if refusing.contains(&self.name) || unsynced.contains(&self.name) {
            return Err(io::Error::from_raw_os_error(libc::EIO));
        }
        *is_full |= *writes >= *full_at;
        if *is_full && from.is_some() {
            return Err(io::Error::from_raw_os_error(libc::ENOSPC));
        }
        *writes += 1;
        *is_dead = *writes >= *crash_at;
        let image = images.entry(open[self.number].clone()).or_default();
        let mut done = 0;
        while done < len {
            let (sector, offset) = place(at + done);
            let part = narrow::<usize>((len - done).min((SECTOR - offset) as u64));
            let old = image.sectors.get(&sector).copied().unwrap_or([0; SECTOR]);
            let mut new = old;
            match from {
                Some(from) => {
                    new[offset..offset + part].copy_from_slice(&from[narrow::<usize>(done)..][..part]);
                }
                None => new[offset..offset + part].fill(0),
            }
            done += part as u64;
            if *is_dead && draws.one_in(2) {
                continue;
            }
            if from.is_none() && old == [0; SECTOR] {
                continue;
            }
            image.unsynced.entry(sector).or_default().push(old);
            image.sectors.insert(sector, new);
        }
        if *is_dead { Err(io::Error::other("no power")) } else { Ok(()) }
    }
}

impl OnImage {
    /// What is written to a disk, with a bit of each sector of parity the other way round, and tags that match.
    fn with_wrong_parity(&self, at: u64, from: &[u8]) -> Vec<u8> {
        // The map of groups has no parity.
        if from.get(504..508) == Some(b"fMAP") {
            return from.to_vec();
        }
        let state = self.world.state.lock().unwrap();
        let (group, within) = ((at - GROUPS) / STRIDE, (at - GROUPS) % STRIDE);
        let is_parity = |lba: u64| !state.data.contains(&(self.name.clone(), lba));
        let mut wrong = from.to_vec();
        if within >= TAGS {
            let first = group * 1024 + (within - TAGS) / SECTOR as u64;
            let sectors = (first..).zip(wrong.chunks_mut(SECTOR));
            sectors.filter(|(lba, _)| is_parity(*lba)).for_each(|(_, sector)| sector[0] ^= 1);
            return wrong;
        }
        let image = state.images.get(&state.open[self.number]);
        for (lba, held) in (group * 1024 + within / 8..).zip(wrong.chunks_exact_mut(8)) {
            let sector = (GROUPS + group * STRIDE + TAGS) / SECTOR as u64 + lba % 1024;
            let data = image.and_then(|image| image.sectors.get(&sector)).copied().unwrap_or([0; SECTOR]);
            if is_parity(lba) && held[..4] != [0; 4] {
                let mut own = [0];
                tag::compute(lba, &data, &mut own);
                held[..4].copy_from_slice(&own[0].to_le_bytes());
                held[4..].copy_from_slice(&tag::seal(lba, own[0]).to_le_bytes());
            }
        }
        wrong
    }
}

impl Medium for OnImage {
    fn read(&self, at: u64, into: &mut [u8]) -> io::Result<()> {
        let state = self.world.state.lock().unwrap();
        if state.is_dead || self.number < state.powered {
            return Err(io::Error::other("no power"));
        }
        let sectors = at / SECTOR as u64..=(at + into.len() as u64 - 1) / SECTOR as u64;
        if state.broken.iter().any(|(name, sector)| *name == self.name && sectors.contains(sector)) {
            return Err(io::Error::from_raw_os_error(libc::EIO));
        }
        into.fill(0);
        let Some(image) = state.images.get(&state.open[self.number]) else { return Ok(()) };
        let mut done = 0;
        while done < into.len() {
            let (sector, offset) = place(at + done as u64);
            let part = (into.len() - done).min(SECTOR - offset);
            if let Some(held) = image.sectors.get(&sector) {
                into[done..done + part].copy_from_slice(&held[offset..offset + part]);
            }
            done += part;
        }
        Ok(())
    }

    fn write(&self, at: u64, from: &[u8]) -> io::Result<()> {
        let (flaw, records) = {
            let mut state = self.world.state.lock().unwrap();
            let (count, error) = state.failing_labels;
            if self.name.starts_with("bay") && at < GROUPS && count > 0 {
                state.failing_labels.0 -= 1;
                return Err(io::Error::from_raw_os_error(error));
            }
            (state.flaw, state.records)
        };
        match flaw {
            Some(Flaw::JournalOff) if self.name == "nvram" && at >= records => Ok(()),
            Some(Flaw::CacheForgotten) if self.name == "cache" && at >= LOG + MAPS => Ok(()),
            Some(Flaw::LossForgotten) if self.name == "cache" && at < LOG => Ok(()),
            Some(Flaw::WrongParity) if self.name.starts_with("bay") && at >= GROUPS => {
                let from = self.with_wrong_parity(at, from);
                self.change(at, from.len() as u64, Some(&from))
            }
            _ => self.change(at, from.len() as u64, Some(from)),
        }
    }

    fn discard(&self, at: u64, len: u64) -> io::Result<()> {
        self.change(at, len, None)
    }

    fn sync(&self) -> io::Result<()> {
        let mut state = self.world.state.lock().unwrap();
        if state.is_dead || self.number < state.powered {
            return Err(io::Error::other("no power"));
        }
        if state.unsyncable.contains(&self.name) {
            state.unsynced.insert(self.name.clone());
            return Err(io::Error::from_raw_os_error(libc::EIO));
        }
        let is_ignored = state.flaw == Some(Flaw::SyncIgnored);
        let State { images, open, .. } = &mut *state;
        if let Some(image) = images.get_mut(&open[self.number]).filter(|_| !is_ignored) {
            image.unsynced.clear();
        }
        Ok(())
    }

    fn fault(&self) -> Option<&'static str> {
        self.world.state.lock().unwrap().unsynced.contains(&self.name).then_some("a sync has failed")
    }

    fn next_data(&self, at: u64) -> io::Result<Option<u64>> {
        let state = self.world.state.lock().unwrap();
        let image = state.images.get(&state.open[self.number]);
        let sectors = image.into_iter().flat_map(|image| image.sectors.keys());
        let found = sectors.filter(|&&sector| (sector + 1) * SECTOR as u64 > at).min();
        Ok(found.map(|sector| (sector * SECTOR as u64).max(at)))
    }
}

/// The bays of a world.
pub struct Bays(pub Arc<World>);

impl Bays {
    fn medium(&self, name: String) -> Box<dyn Medium> {
        let mut state = self.0.state.lock().unwrap();
        state.open.push(name.clone());
        Box::new(OnImage { world: self.0.clone(), name, number: state.open.len() - 1 })
    }
}

impl Shelf for Bays {
    fn disk(&self, bay: u32) -> io::Result<Option<Box<dyn Medium>>> {
        let is_there = self.0.state.lock().unwrap().images.contains_key(&bay_name(bay));
        Ok(is_there.then(|| self.medium(bay_name(bay))))
    }

    fn new_disk(&self, bay: u32) -> io::Result<Box<dyn Medium>> {
        self.0.state.lock().unwrap().images.insert(bay_name(bay), Image::default());
        Ok(self.medium(bay_name(bay)))
    }

    fn discard(&self, bay: u32) -> io::Result<()> {
        self.0.remove(bay);
        Ok(())
    }

    fn take_out(&self, bay: u32, serial: &str) -> io::Result<()> {
        self.0.state.lock().unwrap().rename(&bay_name(bay), &format!("out {serial}"));
        Ok(())
    }

    fn put_in(&self, bay: u32, serial: &str) -> io::Result<()> {
        self.0.state.lock().unwrap().rename(&format!("out {serial}"), &bay_name(bay));
        Ok(())
    }

    fn outside(&self) -> io::Result<Vec<String>> {
        let state = self.0.state.lock().unwrap();
        Ok(state.images.keys().filter_map(|name| name.strip_prefix("out ")).map(str::to_owned).collect())
    }

    fn nvram(&self) -> io::Result<Box<dyn Medium>> {
        Ok(self.medium("nvram".into()))
    }

    fn cache(&self) -> io::Result<Box<dyn Medium>> {
        Ok(self.medium("cache".into()))
    }
}

/// A set of small disks, with spares behind.
pub fn shape(level: Level, members: u32, spares: u32, chunk: u64, sectors: u64) -> Shape {
    let spec = SetSpec { spares, ..SetSpec::new(level, members, Sectors(chunk), Sectors(sectors)) };
    let geometry = Geometry::new(spec).unwrap();
    let capacity = geometry.capacity().0;
    Shape {
        name: format!("test of {level}"),
        bays: vec![sectors; (members + spares) as usize],
        sets: vec![SetShape { geometry, bays: (0..members + spares).collect() }],
        spares: (members..members + spares).collect(),
        luns: vec![Lun { set: 0, start: 0, sectors: capacity, owner: 0 }],
        is_rotating: false,
        cache: 0,
        front: FrontShape::default(),
    }
}

pub fn random_shape(draws: &mut Draws, spares: u32) -> Shape {
    let (level, members) = match draws.below(9) {
        0 => (Level::Raid0, 2 + draws.below(3)),
        1 => (Level::Raid1, 2 + draws.below(2)),
        2 => (Level::Raid1E, 3 + draws.below(3)),
        3 => (Level::Raid10, 4 + 2 * draws.below(2)),
        4 | 5 => (Level::Raid5, 3 + draws.below(3)),
        6 | 7 => (Level::Raid6, 4 + draws.below(3)),
        _ => (Level::Raid50, 6),
    };
    let chunk = 1 << draws.below(4);
    shape(level, narrow(members), spares, chunk, chunk * (4 + 2 * draws.below(4)))
}

pub fn options(loss: Loss) -> Options {
    Options {
        is_synced: loss == Loss::Reordered,
        is_automatic: false,
        journal: 400 << 10,
        destage_after: None,
        ..Options::default()
    }
}

pub fn open(shape: &Shape, world: &Arc<World>, loss: Loss) -> Arc<Machine> {
    Machine::open(shape.clone(), Box::new(Bays(world.clone())), &options(loss)).unwrap()
}

/// Waits until no background work is left.
pub fn wait(machine: &Machine) {
    while machine.is_busy() {
        std::thread::yield_now();
    }
}

/// An array of one set whose every sector a host has written and flushed: what it is, what it lies on, itself, and the host.
pub fn written(level: Level, members: u32, spares: u32) -> (Shape, Arc<World>, Arc<Machine>, Host) {
    let shape = shape(level, members, spares, 8, 96);
    let world = World::new(Loss::Ordered, 1);
    let machine = open(&shape, &world, Loss::Ordered);
    let mut host = Host::new(&machine);
    write_all(&mut host, &machine);
    (shape, world, machine, host)
}

/// The array stopped and started.
pub fn again(machine: Arc<Machine>, shape: &Shape, world: &Arc<World>) -> Arc<Machine> {
    machine.close().unwrap();
    drop(machine);
    open(shape, world, Loss::Ordered)
}

pub fn try_open(shape: &Shape, world: &Arc<World>, options: &Options) -> Result<Arc<Machine>, OpenError> {
    Machine::open(shape.clone(), Box::new(Bays(world.clone())), options)
}

pub fn with_cache(bytes: u64) -> Options {
    Options { cache: Some(bytes), ..options(Loss::Ordered) }
}

pub fn has_event(machine: &Machine, text: &str) -> bool {
    machine.events().since(0).iter().any(|event| event.text.contains(text))
}

/// A verify comes upon nothing.
pub fn assert_verifies(machine: &Arc<Machine>, what: &str) {
    machine.verify(0, false).unwrap();
    wait(machine);
    let pass = machine.status().passes.pop().unwrap();
    assert!(pass.is_good() && !pass.has_findings(), "{what}: {pass}");
}

/// Where the checksum of a row of the first group lies on a disk.
pub fn tag_of(row: u64) -> u64 {
    GROUPS + TAGS / 1024 * row
}

/// Where a row of the first group lies on a disk.
pub fn byte_of(row: u64) -> u64 {
    GROUPS + TAGS + row * SECTOR as u64
}
