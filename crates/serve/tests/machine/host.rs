//! A host that knows what it wrote.

use serve::machine::Machine;
use serve::set::{Fault, Scratch};
use units::convert::narrow;

use crate::world::{Draws, Loss, SECTOR, Sector};

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

    /// Sectors are zeros from now on, for certain.
    pub fn is_zeros(&mut self, lba: u64, count: u64) {
        self.change(lba, &vec![0; narrow(count)]);
        self.settle_sectors(lba, count);
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

/// All LUNs are flushed.
pub fn flush_all(machine: &Machine) -> Result<(), Fault> {
    (0..narrow::<u32>(machine.luns().len())).try_for_each(|lun| machine.flush(lun))
}

/// A host writes every sector and flushes.
pub fn write_all(host: &mut Host, machine: &Machine) {
    for lba in 0..host.sectors() {
        host.write(machine, lba, 1).unwrap();
    }
    flush_all(machine).unwrap();
    host.settle();
}
