//! A setting of a device's queue, changed and put back: its read-ahead, its scheduler.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use units::{Bytes, Instant, Nanos};

use super::change::{Change, Knob, Setting, value};
use super::fate::Fate;
use super::journal::{Journal, Noted};
use super::replay::Whose;
use crate::clock::Clock;
use crate::sysroot::{SysRoot, chosen, number, text};
use crate::target::Device;

/// What a setting is to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueueValue<'a> {
    /// A read-ahead of so many bytes; the kernel keeps whole pages.
    ReadAhead(Bytes),
    /// The scheduler of that name.
    Scheduler(&'a str),
}

impl QueueValue<'_> {
    /// Which setting.
    pub fn knob(self) -> Knob {
        match self {
            QueueValue::ReadAhead(_) => Knob::ReadAhead,
            QueueValue::Scheduler(_) => Knob::Scheduler,
        }
    }

    /// As the kernel takes it.
    fn text(self) -> String {
        match self {
            QueueValue::ReadAhead(size) => rounded(size).to_string(),
            QueueValue::Scheduler(name) => name.to_owned(),
        }
    }
}

/// A setting that was changed; put back by [`QueueSetting::put_back`], or when dropped.
#[derive(Debug)]
pub struct QueueSetting {
    path: PathBuf,
    setting: Setting,
    /// Where it is noted, and the setting's file, locked so that no other run of this machine sets it meanwhile, whatever
    /// library that one has. `None` once it was put back.
    noted: Option<(Noted, File)>,
}

impl QueueSetting {
    /// Makes the setting of `device` (of the disk, if it is a partition) `value`, having noted what it was.
    ///
    /// An error, with nothing changed, where that cannot be noted, another run has set it, or the system refuses.
    pub fn set(
        root: &SysRoot,
        journal: &Journal,
        device: &Device,
        value: QueueValue<'_>,
    ) -> io::Result<QueueSetting> {
        if !journal.is_kept() {
            let why = "its old value cannot be recorded, and a kill would lose it; name a writable library \
                       with `--store`";
            return Err(io::Error::other(why));
        }
        let knob = value.knob();
        let folder = disk_folder(&device.folder);
        let path = folder.join(file_of(knob));
        let devno = text(&folder.join("dev")).and_then(|text| text.parse().ok()).unwrap_or(device.devno);
        let sequence = number(&folder.join("diskseq"));
        // Opened first: what may not be written is not noted.
        let lock = OpenOptions::new().write(true).open(&path)?;
        if !is_taken(&lock)? {
            return Err(io::Error::other("another run has set it and is still at work; wait for it"));
        }
        let before = current(knob, &path)?;
        let setting = Setting { knob, device: devno, sequence, before, set: vec![value.text()] };
        let noted = journal.note(Change::Queue(setting.clone()))?;
        let own = root.block_folder(devno).map(|folder| folder.join(file_of(knob)));
        let mut changed = QueueSetting { path: own.unwrap_or(path), setting, noted: Some((noted, lock)) };
        changed.write(value)?;
        Ok(changed)
    }

    /// Sets it once more; what is put back is what it was before the first time.
    pub fn again(&mut self, value: QueueValue<'_>) -> io::Result<()> {
        assert_eq!(value.knob(), self.setting.knob, "it is the same setting");
        self.note(value.text())?;
        self.write(value)
    }

    /// Whether it is that setting of that device, or of the disk it is a partition of.
    pub fn is_of(&self, device: &Device, knob: Knob) -> bool {
        let folder = disk_folder(&device.folder);
        knob == self.setting.knob
            && text(&folder.join("dev")).is_some_and(|text| text == self.setting.device.to_string())
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

    /// One more value that it was set to.
    fn note(&mut self, value: String) -> io::Result<()> {
        self.setting.set.push(value);
        match &mut self.noted {
            Some((noted, _)) => noted.amend(Change::Queue(self.setting.clone())),
            None => Ok(()),
        }
    }

    fn write(&mut self, value: QueueValue<'_>) -> io::Result<()> {
        let (knob, value) = (self.setting.knob, value.text());
        assert!(self.setting.set.contains(&value), "a value must be noted before it is written");
        if let Err(error) = fs::write(&self.path, format!("{value}\n")) {
            return Err(match (knob, text(&self.path)) {
                (Knob::Scheduler, Some(known)) => {
                    io::Error::new(error.kind(), format!("{error}; the device can have: {known}"))
                }
                _ => error,
            });
        }
        // A scheduler may have another name: `deadline` becomes mq-deadline.
        let now = current(knob, &self.path)?;
        if self.setting.set.contains(&now) { Ok(()) } else { self.note(now) }
    }
}

impl Drop for QueueSetting {
    fn drop(&mut self) {
        // Nobody can be told here; it stays in the journal.
        let _untold = self.put_back(&SysRoot::real());
    }
}

/// In the folder of the device.
const fn file_of(knob: Knob) -> &'static str {
    match knob {
        Knob::ReadAhead => "queue/read_ahead_kb",
        Knob::Scheduler => "queue/scheduler",
    }
}

/// What the setting is: KiB, or of the schedulers the one in brackets. An error where the file says neither.
fn current(knob: Knob, path: &Path) -> io::Result<String> {
    let text = fs::read_to_string(path)?;
    let word = match knob {
        Knob::ReadAhead => text.trim().parse::<u64>().ok().map(|kib| kib.to_string()),
        Knob::Scheduler => {
            chosen(&text).or_else(|| Some(text.trim()).filter(|text| *text == "none")).and_then(value)
        }
    };
    word.ok_or_else(|| io::Error::other(format!("no {} in {}", knob.named(), path.display())))
}

/// For a sentence.
fn in_words(knob: Knob, value: &str) -> String {
    match knob {
        Knob::ReadAhead => format!("{value} KiB"),
        Knob::Scheduler => value.to_owned(),
    }
}

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
///
/// A lock that has been given back is held for a moment more by a process that was forked meanwhile, until it runs its
/// program: it is waited for that long.
fn is_taken(file: &File) -> io::Result<bool> {
    const FORKED: Nanos = Nanos::from_millis(200);
    const APART: Nanos = Nanos::from_millis(5);
    let clock = Clock::start();
    loop {
        match flock(file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => return Ok(true),
            Err(Errno::WOULDBLOCK) if clock.now() < Instant::START.saturating_add(FORKED) => {
                clock.sleep_until(clock.now().saturating_add(APART));
            }
            Err(Errno::WOULDBLOCK) => return Ok(false),
            Err(error) => return Err(error.into()),
        }
    }
}

/// Writes what was there before, if there is still what was set and no other run is at work with it.
pub(super) fn put_back(root: &SysRoot, setting: &Setting, whose: Whose) -> io::Result<Fate> {
    // A device that has gone has taken its setting with it; so has one whose number another one has by now.
    let Some(folder) = root.block_folder(setting.device) else { return Ok(Fate::Nothing) };
    if setting.sequence.is_some() && number(&folder.join("diskseq")) != setting.sequence {
        return Ok(Fate::Nothing);
    }
    let knob = setting.knob;
    let path = folder.join(file_of(knob));
    let lock = File::open(&path)?;
    if whose != Whose::Own && !is_taken(&lock)? {
        return Ok(Fate::Failed("another run has set it and is still at work".to_owned()));
    }
    let now = current(knob, &path)?;
    let before = &setting.before;
    if now == *before {
        return Ok(Fate::Nothing);
    }
    if !setting.set.contains(&now) {
        let (now, before) = (in_words(knob, &now), in_words(knob, before));
        return Ok(Fate::Left(format!(
            "it was changed to {now} since, so it was left; before the run it was {before}"
        )));
    }
    fs::write(&path, format!("{before}\n"))?;
    Ok(Fate::Restored(format!("restored to {}", in_words(knob, before))))
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

    fn set(root: &SysRoot, journal: &Journal, device: &Device, size: Bytes) -> io::Result<QueueSetting> {
        QueueSetting::set(root, journal, device, QueueValue::ReadAhead(size))
    }

    fn now(machine: &Fixture) -> String {
        fs::read_to_string(machine.path(FOLDER)).unwrap().trim().to_owned()
    }

    #[test]
    fn a_setting_is_noted_before_it_is_made_and_put_back_however_often_it_was_made() {
        let (machine, device, journal) = machine();
        let mut ahead = set(&machine.root(), &journal, &device, Bytes::MIB * 4).unwrap();
        assert_eq!((now(&machine).as_str(), ahead.is_of(&device, Knob::ReadAhead)), ("4096", true));
        ahead.again(QueueValue::ReadAhead(Bytes::MIB)).unwrap();
        assert_eq!(now(&machine), "1024");
        ahead.put_back(&machine.root()).unwrap();
        assert_eq!(now(&machine), "128");
        assert!(!machine.path("restore").exists(), "nothing is left to be put back");
        let none = set(&machine.root(), &Journal::default(), &device, Bytes::MIB).unwrap_err();
        assert!(none.to_string().contains("--store"), "{none}");
        assert_eq!(now(&machine), "128");
    }

    #[test]
    fn a_setting_that_somebody_has_changed_since_is_left_and_told() {
        let (machine, device, journal) = machine();
        let mut ahead = set(&machine.root(), &journal, &device, Bytes::MIB * 4).unwrap();
        machine.write(FOLDER, "256\n");
        let told = ahead.put_back(&machine.root()).unwrap_err();
        assert!(told.contains("256 KiB") && told.contains("it was 128 KiB"), "{told}");
        assert_eq!(now(&machine), "256");
        let mut other = set(&machine.root(), &journal, &device, Bytes::MIB * 4).unwrap();
        machine.write("sys/block/sda/diskseq", "6\n");
        other.put_back(&machine.root()).unwrap();
        assert_eq!(now(&machine), "4096", "the disk of that number is another one by now");
    }

    #[test]
    fn two_runs_do_not_set_it_at_once_even_of_two_libraries() {
        let (machine, device, journal) = machine();
        let mut first = set(&machine.root(), &journal, &device, Bytes::MIB * 4).unwrap();
        let other = Journal::in_folder(&machine.path("another"), None).unwrap();
        let refused = set(&machine.root(), &other, &device, Bytes::MIB).unwrap_err();
        assert!(refused.to_string().contains("another run"), "{refused}");
        let replayed = put_back(&machine.root(), &first.setting, Whose::Gone).unwrap();
        assert!(matches!(&replayed, Fate::Failed(why) if why.contains("another run")), "{replayed:?}");
        assert_eq!(now(&machine), "4096");
        first.put_back(&machine.root()).unwrap();
        let mut second = set(&machine.root(), &other, &device, Bytes::MIB).unwrap();
        second.put_back(&machine.root()).unwrap();
        assert_eq!(now(&machine), "128");
    }

    #[test]
    fn a_scheduler_is_put_back_by_the_name_that_the_kernel_gave_it() {
        let (machine, device, journal) = machine();
        const SCHEDULER: &str = "sys/block/sda/queue/scheduler";
        machine.write(SCHEDULER, "none [mq-deadline] kyber\n");
        let path = machine.path(SCHEDULER);
        let before = current(Knob::Scheduler, &path).unwrap();
        assert_eq!(before, "mq-deadline");
        let set = |device: u32| Setting {
            knob: Knob::Scheduler,
            device: crate::sysroot::DevNo { major: 8, minor: device },
            sequence: Some(5),
            before: before.clone(),
            set: vec!["deadline".into(), "kyber".into()],
        };
        machine.write(SCHEDULER, "none mq-deadline [kyber]\n");
        let fate = put_back(&machine.root(), &set(0), Whose::Gone).unwrap();
        assert_eq!(fate, Fate::Restored("restored to mq-deadline".into()));
        assert_eq!(fs::read_to_string(&path).unwrap(), "mq-deadline\n");
        machine.write(SCHEDULER, "[none] mq-deadline kyber\n");
        let fate = put_back(&machine.root(), &set(0), Whose::Gone).unwrap();
        assert!(matches!(&fate, Fate::Left(why) if why.contains("changed to none since")), "{fate:?}");
        machine.write(SCHEDULER, "none\n");
        let kept =
            QueueSetting::set(&machine.root(), &journal, &device, QueueValue::Scheduler("none")).unwrap();
        assert!(kept.is_of(&device, Knob::Scheduler) && !kept.is_of(&device, Knob::ReadAhead));
        machine.write(SCHEDULER, "\n");
        assert!(current(Knob::Scheduler, &path).unwrap_err().to_string().contains("no scheduler in"));
    }
}
