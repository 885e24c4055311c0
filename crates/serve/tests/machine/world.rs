//! Disks that can stop at any write, and a host that knows what it wrote.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::io;
use std::sync::{Arc, Mutex};

use array::raid::{Geometry, Level, SetSpec};
use serve::machine::{FrontShape, Lun, Machine, Options, SetShape, Shape};
use serve::medium::Medium;
use serve::set::{Fault, Scratch};
use serve::shelf::Shelf;
use serve::tag;
use units::convert::narrow;
use units::{Lba, Sectors};

pub const SECTOR: usize = 512;
type Sector = [u8; SECTOR];

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

/// Where the records of the journal begin, behind two headers and the map of intents.
const RECORDS: u64 = 2 * 4096 + (1 << 20);
/// Where the log of the write cache begins.
const LOG: u64 = 16 << 20;
/// Where the groups of sectors of a disk begin, the bytes of one, and those of the tags before its sectors.
const GROUPS: u64 = 128 << 10;
const STRIDE: u64 = TAGS + 1024 * SECTOR as u64;
const TAGS: u64 = 4096;

/// All images, and the instant of the crash.
pub struct World {
    state: Mutex<State>,
}

struct State {
    images: HashMap<String, Image>,
    writes: u64,
    crash_at: u64,
    is_dead: bool,
    loss: Loss,
    draws: Draws,
    flaw: Option<Flaw>,
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
            writes: 0,
            crash_at: u64::MAX,
            is_dead: false,
            loss,
            draws: Draws::new(seed),
            flaw: None,
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

    /// Power is back.
    pub fn revive(&self) {
        let mut state = self.state.lock().unwrap();
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

    /// Takes the disk of another world into the same bay.
    pub fn adopt(&self, other: &World, bay: u32) {
        let image = other.state.lock().unwrap().images[&bay_name(bay)].clone();
        self.state.lock().unwrap().images.insert(bay_name(bay), image);
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
    name: String,
}

impl OnImage {
    fn change(&self, at: u64, len: u64, from: Option<&[u8]>) -> io::Result<()> {
        let mut state = self.world.state.lock().unwrap();
        let State { images, writes, crash_at, is_dead, draws, .. } = &mut *state;
        if *is_dead {
            return Err(io::Error::other("no power"));
        }
        *writes += 1;
        *is_dead = *writes >= *crash_at;
        let image = images.entry(self.name.clone()).or_default();
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
        let image = state.images.get(&self.name);
        for (lba, held) in (group * 1024 + within / 4..).zip(wrong.chunks_exact_mut(4)) {
            let sector = (GROUPS + group * STRIDE + TAGS) / SECTOR as u64 + lba % 1024;
            let data = image.and_then(|image| image.sectors.get(&sector)).copied().unwrap_or([0; SECTOR]);
            if is_parity(lba) && *held != [0; 4] {
                let mut own = [0];
                tag::compute(lba, &data, &mut own);
                held.copy_from_slice(&own[0].to_le_bytes());
            }
        }
        wrong
    }
}

impl Medium for OnImage {
    fn read(&self, at: u64, into: &mut [u8]) -> io::Result<()> {
        let state = self.world.state.lock().unwrap();
        if state.is_dead {
            return Err(io::Error::other("no power"));
        }
        into.fill(0);
        let Some(image) = state.images.get(&self.name) else { return Ok(()) };
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
        let flaw = self.world.state.lock().unwrap().flaw;
        match flaw {
            Some(Flaw::JournalOff) if self.name == "nvram" && at >= RECORDS => Ok(()),
            Some(Flaw::CacheForgotten) if self.name == "cache" && at >= LOG + RECORDS => Ok(()),
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
        if state.is_dead {
            return Err(io::Error::other("no power"));
        }
        let is_ignored = state.flaw == Some(Flaw::SyncIgnored);
        if let Some(image) = state.images.get_mut(&self.name).filter(|_| !is_ignored) {
            image.unsynced.clear();
        }
        Ok(())
    }

    fn next_data(&self, at: u64) -> io::Result<Option<u64>> {
        let state = self.world.state.lock().unwrap();
        let image = state.images.get(&self.name);
        let sectors = image.into_iter().flat_map(|image| image.sectors.keys());
        let found = sectors.filter(|&&sector| (sector + 1) * SECTOR as u64 > at).min();
        Ok(found.map(|sector| (sector * SECTOR as u64).max(at)))
    }
}

/// The bays of a world.
pub struct Bays(pub Arc<World>);

impl Bays {
    fn medium(&self, name: String) -> Box<dyn Medium> {
        Box::new(OnImage { world: self.0.clone(), name })
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

    fn take_out(&self, bay: u32, serial: &str) -> io::Result<()> {
        let mut state = self.0.state.lock().unwrap();
        let image = state.images.remove(&bay_name(bay)).unwrap();
        state.images.insert(format!("out {serial}"), image);
        Ok(())
    }

    fn put_in(&self, bay: u32, serial: &str) -> io::Result<()> {
        let mut state = self.0.state.lock().unwrap();
        let image = state.images.remove(&format!("out {serial}")).unwrap();
        state.images.insert(bay_name(bay), image);
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

/// What stands for the contents of a sector that the write cache has lost.
const LOST: u64 = u64::MAX;

/// A host that remembers what each sector may hold.
pub struct Host {
    scratch: Scratch,
    /// For each sector the value that is certain, and those that may have taken its place.
    sectors: Vec<(u64, Vec<u64>)>,
    next: u64,
    /// Sectors that nothing can take away from the members: not written since all of the cache was written out.
    safe: Vec<bool>,
}

/// The contents of a sector by a number; 0 is zeros.
fn contents(number: u64) -> Sector {
    let mut sector = [0; SECTOR];
    if number != 0 {
        let mut draws = Draws::new(number);
        for word in sector.chunks_exact_mut(8) {
            word.copy_from_slice(&draws.next().to_le_bytes());
        }
        sector[..8].copy_from_slice(&number.to_le_bytes());
    }
    sector
}

impl Host {
    pub fn new(machine: &Machine) -> Host {
        let sectors = narrow(machine.luns()[0].sectors);
        let (scratch, safe) = (Scratch::default(), vec![true; sectors]);
        Host { scratch, sectors: vec![(0, Vec::new()); sectors], next: 1, safe }
    }

    pub fn sectors(&self) -> u64 {
        self.sectors.len() as u64
    }

    /// Writes new contents; whether they were taken.
    pub fn write(&mut self, machine: &Machine, lba: u64, count: u64) -> Result<(), Fault> {
        let numbers: Vec<u64> = (0..count).map(|n| self.next + n).collect();
        self.next += count;
        let data: Vec<u8> = numbers.iter().flat_map(|&number| contents(number)).collect();
        self.change(lba, &numbers);
        machine.write(&mut self.scratch, 0, lba * SECTOR as u64, &data)
    }

    /// Writes zeros.
    pub fn zero(&mut self, machine: &Machine, lba: u64, count: u64) -> Result<(), Fault> {
        self.change(lba, &vec![0; narrow(count)]);
        machine.write_zeros(&mut self.scratch, 0, lba * SECTOR as u64, count * SECTOR as u64, false)
    }

    fn change(&mut self, lba: u64, numbers: &[u64]) {
        for (n, &number) in numbers.iter().enumerate() {
            self.sectors[narrow::<usize>(lba) + n].1.push(number);
            self.safe[narrow::<usize>(lba) + n] = false;
        }
    }

    /// Everything that was taken is certain: it was flushed, or nothing can take it away.
    pub fn settle(&mut self) {
        for (certain, later) in &mut self.sectors {
            if let Some(last) = later.pop() {
                *certain = last;
            }
            later.clear();
        }
    }

    /// Only the request before this one is in doubt.
    pub fn settle_sectors(&mut self, lba: u64, count: u64) {
        for (certain, later) in &mut self.sectors[narrow::<usize>(lba)..narrow(lba + count)] {
            *certain = later.pop().unwrap();
            later.clear();
        }
    }

    /// Reads all, and holds each sector against what it may be. What is there is certain from now on.
    pub fn check(&mut self, machine: &Machine, what: &str) {
        self.examine(machine).unwrap_or_else(|wrong| panic!("{what}: {wrong}"));
    }

    /// The same; what is wrong, where something is.
    pub fn examine(&mut self, machine: &Machine) -> Result<(), String> {
        for lba in 0..self.sectors() {
            let number = match self.read(machine, lba, 1) {
                Ok(found) => {
                    let number = u64::from_le_bytes(found[..8].try_into().unwrap());
                    if found[..] != contents(number) {
                        return Err(format!("sector {lba} holds what nobody wrote"));
                    }
                    number
                }
                Err(Fault::CacheLost) => LOST,
                Err(fault) => return Err(format!("sector {lba}: {fault}")),
            };
            let (certain, later) = &mut self.sectors[narrow::<usize>(lba)];
            if *certain != number && !later.contains(&number) {
                return Err(format!("sector {lba} holds {number}, not {certain} or one of {later:?}"));
            }
            (*certain, *later) = (number, Vec::new());
        }
        Ok(())
    }

    /// All that was written is on the members.
    pub fn written_out(&mut self) {
        self.safe.fill(true);
    }

    /// The array has gone on: of what was answered the last version is certain, whatever it may be after a real loss of power.
    pub fn settle_for_loss(&mut self, loss: Loss) {
        if loss == Loss::Reordered {
            self.settle();
        }
    }

    /// The cache says what it has lost: that cannot be what the members had, and it is lost from now on.
    pub fn hear_of_loss(&mut self, machine: &Machine) -> Result<(), String> {
        let mut is_lost = vec![false; self.sectors.len()];
        for range in machine.cache_status().unwrap().lost {
            assert_eq!(range.lun, 0);
            let first = narrow::<usize>(range.offset) / SECTOR;
            is_lost[first..first + narrow::<usize>(range.bytes) / SECTOR].fill(true);
        }
        for (lba, is_lost) in is_lost.into_iter().enumerate() {
            let (certain, later) = &mut self.sectors[lba];
            let was_lost = *certain == LOST || later.contains(&LOST);
            if is_lost && self.safe[lba] && !was_lost {
                return Err(format!("sector {lba} is called lost and was on the members"));
            }
            if is_lost {
                (*certain, *later) = (LOST, Vec::new());
            } else if *certain == LOST {
                // Somebody has written it since, who may have had no answer.
                if later.is_empty() {
                    return Err(format!("sector {lba} is lost no more"));
                }
                *certain = later.remove(0);
            }
        }
        Ok(())
    }

    /// What is read, if it is, is what was written; how many sectors were errors.
    pub fn check_what_is_there(&mut self, machine: &Machine, what: &str) -> u64 {
        let mut errors = 0;
        for lba in 0..self.sectors() {
            let Ok(found) = self.read(machine, lba, 1) else {
                errors += 1;
                continue;
            };
            let (certain, later) = &self.sectors[narrow::<usize>(lba)];
            let is_one = |number: &u64| found[..] == contents(*number);
            assert!(is_one(certain) || later.iter().any(is_one), "{what}: sector {lba} is wrong");
        }
        errors
    }

    pub fn read(&mut self, machine: &Machine, lba: u64, count: u64) -> Result<Vec<u8>, Fault> {
        let mut into = vec![0xEE; narrow::<usize>(count) * SECTOR];
        machine.read(&mut self.scratch, 0, lba * SECTOR as u64, &mut into)?;
        Ok(into)
    }

    /// A random request of those that change something: where and how long.
    pub fn place(&self, draws: &mut Draws) -> (u64, u64) {
        let most = if draws.one_in(3) { self.sectors() } else { 24.min(self.sectors()) };
        let count = 1 + draws.below(most);
        (draws.below(self.sectors() - count + 1), count)
    }
}

/// Waits until no background work is left.
pub fn wait(machine: &Machine) {
    while machine.is_busy() {
        std::thread::yield_now();
    }
}
