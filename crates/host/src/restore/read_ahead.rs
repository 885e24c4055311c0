//! The read-ahead of a device, set and put back.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};
use units::Bytes;

use super::change::{Change, Setting};
use super::fate::Fate;
use super::journal::{Journal, Noted};
use super::replay::Whose;
use crate::sysroot::{SysRoot, number, text};
use crate::target::Device;

/// A read-ahead that was set; put back by [`ReadAhead::put_back`], or when dropped.
#[derive(Debug)]
pub struct ReadAhead {
    path: PathBuf,
    setting: Setting,
    /// Where it is noted, and the setting's file, locked so that no other run of this machine sets it meanwhile, whatever
    /// library that one has. `None` once it was put back.
    noted: Option<(Noted, File)>,
}

impl ReadAhead {
    /// Sets the read-ahead of `device` (of the disk, if it is a partition), having noted what it was.
    ///
    /// An error, with nothing changed, where that cannot be noted, another run has set it, or the system refuses.
    pub fn set(root: &SysRoot, journal: &Journal, device: &Device, size: Bytes) -> io::Result<ReadAhead> {
        if !journal.is_kept() {
            let why = "its old value cannot be recorded, and a kill would lose it; name a writable library \
                       with `--store`";
            return Err(io::Error::other(why));
        }
        let folder = disk_folder(&device.folder);
        let path = folder.join(SETTING);
        let known = |path: PathBuf| {
            number(&path).ok_or_else(|| io::Error::other(format!("no number in {}", path.display())))
        };
        let devno = text(&folder.join("dev")).and_then(|text| text.parse().ok()).unwrap_or(device.devno);
        let set_kib = vec![rounded(size)];
        let sequence = number(&folder.join("diskseq"));
        // Opened first: what may not be written is not noted.
        let lock = OpenOptions::new().write(true).open(&path)?;
        if !is_taken(&lock)? {
            return Err(io::Error::other("another run has set it and is still at work; wait for it"));
        }
        let setting = Setting { device: devno, sequence, before_kib: known(path.clone())?, set_kib };
        let noted = journal.note(Change::ReadAhead(setting.clone()))?;
        let own = root.block_folder(devno).map(|folder| folder.join(SETTING));
        let mut ahead = ReadAhead { path: own.unwrap_or(path), setting, noted: Some((noted, lock)) };
        ahead.write(size)?;
        Ok(ahead)
    }

    /// Sets it once more; what is put back is what it was before the first time.
    pub fn again(&mut self, size: Bytes) -> io::Result<()> {
        self.setting.set_kib.push(rounded(size));
        if let Some((noted, _)) = &mut self.noted {
            noted.amend(Change::ReadAhead(self.setting.clone()))?;
        }
        self.write(size)
    }

    /// Whether it is that device's, or that of the disk it is a partition of.
    pub fn is_of(&self, device: &Device) -> bool {
        let folder = disk_folder(&device.folder);
        text(&folder.join("dev")).is_some_and(|text| text == self.setting.device.to_string())
    }

    /// Puts it back, unless somebody else has set it since. An error says what is left to be done.
    pub fn put_back(&mut self, root: &SysRoot) -> Result<(), String> {
        let Some((noted, _lock)) = self.noted.take() else { return Ok(()) };
        let told = |why: String| Err(format!("{}: {why}", self.path.display()));
        match put_back(root, &self.setting, Whose::Own) {
            Ok(Fate::Restored(_) | Fate::Nothing) => {
                noted.done();
                Ok(())
            }
            Ok(Fate::Left(why)) => {
                noted.done();
                told(why)
            }
            Ok(Fate::Failed(why)) => told(why),
            Err(error) => told(error.to_string()),
        }
    }

    fn write(&mut self, size: Bytes) -> io::Result<()> {
        fs::write(&self.path, format!("{}\n", rounded(size)))
    }
}

impl Drop for ReadAhead {
    fn drop(&mut self) {
        // Nobody can be told here; it stays in the journal.
        let _untold = self.put_back(&SysRoot::real());
    }
}

const SETTING: &str = "queue/read_ahead_kb";

/// Partitions have the queue of their disk.
fn disk_folder(folder: &Path) -> &Path {
    match folder.join("partition").exists() {
        true => folder.parent().unwrap_or(folder),
        false => folder,
    }
}

/// KiB as the kernel keeps them: in whole pages (linux, block/blk-sysfs.c, `queue_ra_store`).
fn rounded(size: Bytes) -> u64 {
    size.round_down(Bytes::new(rustix::param::page_size() as u64)).get() / 1024
}

/// Takes the lock of a setting for as long as `file` is open; whether nobody else has it.
fn is_taken(file: &File) -> io::Result<bool> {
    match flock(file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(true),
        Err(rustix::io::Errno::WOULDBLOCK) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// Writes what was there before, if there is still what was set and no other run is at work with it.
pub(super) fn put_back(root: &SysRoot, setting: &Setting, whose: Whose) -> io::Result<Fate> {
    // A device that has gone has taken its setting with it; so has one whose number another one has by now.
    let Some(folder) = root.block_folder(setting.device) else { return Ok(Fate::Nothing) };
    if setting.sequence.is_some() && number(&folder.join("diskseq")) != setting.sequence {
        return Ok(Fate::Nothing);
    }
    let path = folder.join(SETTING);
    let lock = File::open(&path)?;
    if whose != Whose::Own && !is_taken(&lock)? {
        return Ok(Fate::Failed("another run has set it and is still at work".to_owned()));
    }
    let now: u64 = fs::read_to_string(&path)?.trim().parse().map_err(io::Error::other)?;
    let before = setting.before_kib;
    if now == before {
        return Ok(Fate::Nothing);
    }
    if !setting.set_kib.contains(&now) {
        return Ok(Fate::Left(format!(
            "it was changed to {now} KiB since, so it was left; before the run it was {before} KiB"
        )));
    }
    fs::write(&path, format!("{before}\n"))?;
    Ok(Fate::Restored(format!("restored to {before} KiB")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Fixture;

    const FOLDER: &str = "sys/block/sda/queue/read_ahead_kb";

    /// A disk with a read-ahead of 128 KiB, and a folder for journals.
    fn machine() -> (Fixture, Device, Journal) {
        let machine = Fixture::new();
        let devno = machine.disk("sda", "8:0", 1 << 20);
        machine.write(FOLDER, "128\n");
        machine.write("sys/block/sda/diskseq", "5\n");
        let device = Device::read(&machine.root(), devno).unwrap();
        let journal = Journal::in_folder(&machine.path("restore"), None).unwrap();
        (machine, device, journal)
    }

    fn now(machine: &Fixture) -> String {
        fs::read_to_string(machine.path(FOLDER)).unwrap().trim().to_owned()
    }

    #[test]
    fn a_setting_is_noted_before_it_is_made_and_put_back_however_often_it_was_made() {
        let (machine, device, journal) = machine();
        let mut ahead = ReadAhead::set(&machine.root(), &journal, &device, Bytes::MIB * 4).unwrap();
        assert_eq!((now(&machine).as_str(), ahead.is_of(&device)), ("4096", true));
        ahead.again(Bytes::MIB).unwrap();
        assert_eq!(now(&machine), "1024");
        ahead.put_back(&machine.root()).unwrap();
        assert_eq!(now(&machine), "128");
        assert!(!machine.path("restore").exists(), "nothing is left to be put back");
        let none = ReadAhead::set(&machine.root(), &Journal::default(), &device, Bytes::MIB).unwrap_err();
        assert!(none.to_string().contains("--store"), "{none}");
        assert_eq!(now(&machine), "128");
    }

    #[test]
    fn a_setting_that_somebody_has_changed_since_is_left_and_told() {
        let (machine, device, journal) = machine();
        let mut ahead = ReadAhead::set(&machine.root(), &journal, &device, Bytes::MIB * 4).unwrap();
        machine.write(FOLDER, "256\n");
        let told = ahead.put_back(&machine.root()).unwrap_err();
        assert!(told.contains("256 KiB") && told.contains("it was 128 KiB"), "{told}");
        assert_eq!(now(&machine), "256");
        let mut other = ReadAhead::set(&machine.root(), &journal, &device, Bytes::MIB * 4).unwrap();
        machine.write("sys/block/sda/diskseq", "6\n");
        other.put_back(&machine.root()).unwrap();
        assert_eq!(now(&machine), "4096", "the disk of that number is another one by now");
    }

    #[test]
    fn two_runs_do_not_set_it_at_once_even_of_two_libraries() {
        let (machine, device, journal) = machine();
        let mut first = ReadAhead::set(&machine.root(), &journal, &device, Bytes::MIB * 4).unwrap();
        let other = Journal::in_folder(&machine.path("another"), None).unwrap();
        let refused = ReadAhead::set(&machine.root(), &other, &device, Bytes::MIB).unwrap_err();
        assert!(refused.to_string().contains("another run"), "{refused}");
        let replayed = put_back(&machine.root(), &first.setting, Whose::Gone).unwrap();
        assert!(matches!(&replayed, Fate::Failed(why) if why.contains("another run")), "{replayed:?}");
        assert_eq!(now(&machine), "4096");
        first.put_back(&machine.root()).unwrap();
        let mut second = ReadAhead::set(&machine.root(), &other, &device, Bytes::MIB).unwrap();
        second.put_back(&machine.root()).unwrap();
        assert_eq!(now(&machine), "128");
    }
}
