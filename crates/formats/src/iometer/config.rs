//! What a configuration file says, before anything is made of it.

/// A configuration file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Config {
    /// As it stands in the first line; none where there is no such line.
    pub version: Option<String>,
    /// The test setup; defaults where the file has none.
    pub setup: Setup,
    /// Access specifications, in order.
    pub specs: Vec<Spec>,
    /// Managers, in order.
    pub managers: Vec<Manager>,
    /// What was understood and changes nothing.
    pub notes: Vec<String>,
}

/// How long, and what is cycled through.
#[derive(Clone, Debug, PartialEq)]
pub struct Setup {
    /// Free text.
    pub description: String,
    /// Of each test, in seconds; 0 is until it is stopped, none where the file does not say.
    pub run_s: Option<u64>,
    /// Load before that is not counted, in seconds.
    pub ramp_s: u64,
    /// What the results file holds.
    pub record: Record,
    /// Which numbers of workers are tried.
    pub workers: Cycle,
    /// Which numbers of targets are tried.
    pub targets: Cycle,
    /// Which numbers of outstanding requests are tried.
    pub depth: Cycle,
    /// What is cycled through.
    pub test: TestType,
}

impl Default for Setup {
    fn default() -> Setup {
        let one = Cycle { start: 1, end: u64::MAX, step: 1, exponential: false };
        Setup {
            description: String::new(),
            run_s: None,
            ramp_s: 0,
            record: Record::All,
            workers: one,
            targets: one,
            depth: Cycle { start: 1, end: 32, step: 2, exponential: true },
            test: TestType::Normal,
        }
    }
}

/// Numbers that are tried one after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cycle {
    /// The first.
    pub start: u64,
    /// None is above it.
    pub end: u64,
    /// What is added, or multiplied with.
    pub step: u64,
    /// Whether it is multiplied.
    pub exponential: bool,
}

impl Cycle {
    /// Number `index` of them, from 0. Iometer adds where it would multiply by one.
    pub fn at(self, index: u32) -> u64 {
        match self.exponential && self.step != 1 {
            true => self.start.saturating_mul(self.step.saturating_pow(index)),
            false => self.start.saturating_add(self.step.saturating_mul(index.into())),
        }
    }
}

/// Which rows the results file has. The numbers are Iometer's own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Record {
    /// All of them.
    #[default]
    All,
    /// No rows of disks.
    NoTargets,
    /// Nor of workers.
    NoWorkers,
    /// Nor of managers.
    NoManagers,
    /// No file at all.
    Nothing,
}

stand_in_place!(Record::ALL, 1, "a file names what is recorded by its number, too");

impl Record {
    /// All of them, as they are written and numbered.
    pub const ALL: [(&'static str, Record); 5] = [
        ("ALL", Record::All),
        ("NO_TARGETS", Record::NoTargets),
        ("NO_WORKERS", Record::NoWorkers),
        ("NO_MANAGERS", Record::NoManagers),
        ("NONE", Record::Nothing),
    ];
}

/// What is cycled through. The numbers are Iometer's own, and stand in the results file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TestType {
    /// Nothing: all targets of all workers.
    #[default]
    Normal,
    /// More and more targets for each worker.
    CycleTargets,
    /// More and more workers of each manager.
    CycleWorkers,
    /// More and more targets of each manager, one worker filled after the other.
    IncrementTargetsParallel,
    /// The same, one manager after the other.
    IncrementTargetsSerial,
    /// For each number of workers, more and more targets.
    CycleWorkersAndTargets,
    /// More and more outstanding requests.
    CycleDepth,
    /// For each number of targets, more and more outstanding requests.
    CycleDepthAndTargets,
}

stand_in_place!(TestType::ALL, 1, "a type of test stands at its number");

impl TestType {
    /// All of them in the order of their numbers, as they are written.
    pub const ALL: [(&'static str, TestType); 8] = [
        ("NORMAL", TestType::Normal),
        ("CYCLE_TARGETS", TestType::CycleTargets),
        ("CYCLE_WORKERS", TestType::CycleWorkers),
        ("INCREMENT_TARGETS_PARALLEL", TestType::IncrementTargetsParallel),
        ("INCREMENT_TARGETS_SERIAL", TestType::IncrementTargetsSerial),
        ("CYCLE_WORKERS_AND_TARGETS", TestType::CycleWorkersAndTargets),
        ("CYCLE_OUTSTANDING_IOS", TestType::CycleDepth),
        ("CYCLE_OUTSTANDING_IOS_AND_TARGETS", TestType::CycleDepthAndTargets),
    ];

    /// In a configuration file, from 0.
    pub fn number(self) -> u8 {
        self as u8
    }
}

/// To whom a specification is given that nobody names. The numbers are Iometer's own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Assignment {
    /// Nobody.
    #[default]
    None,
    /// Every worker.
    All,
    /// Workers of disks.
    Disk,
    /// Workers of networks.
    Net,
}

stand_in_place!(Assignment::ALL, 1, "an assignment stands at its number");

impl Assignment {
    /// All of them in the order of their numbers, as they are written.
    pub const ALL: [(&'static str, Assignment); 4] = [
        ("NONE", Assignment::None),
        ("ALL", Assignment::All),
        ("DISK", Assignment::Disk),
        ("NET", Assignment::Net),
    ];

    /// In a configuration file, from 0.
    pub fn number(self) -> u8 {
        self as u8
    }

    /// Whether workers of disks are given it.
    pub fn is_for_disks(self) -> bool {
        matches!(self, Assignment::All | Assignment::Disk)
    }
}

/// An access specification.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spec {
    /// As it is assigned by.
    pub name: String,
    /// To whom it is given.
    pub assignment: Assignment,
    /// At least one; their shares sum to 100.
    pub lines: Vec<SpecLine>,
}

/// Requests of one kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SpecLine {
    /// In bytes.
    pub size: u64,
    /// How often it is drawn, in per cent.
    pub share: u32,
    /// Per cent that read.
    pub reads: u32,
    /// Per cent that go to a random place.
    pub random: u32,
    /// The pause before a burst.
    pub delay_ms: u64,
    /// Requests of a burst, at least 1.
    pub burst: u32,
    /// Offsets are multiples of so many bytes; 0 is a sector.
    pub align: u64,
    /// Bytes of an answer in the other direction; 0 is none.
    pub reply: u64,
    /// Where it stands.
    pub at: usize,
}

impl SpecLine {
    /// A line of its size, reads and random that is all of its specification.
    pub const fn new(size: u64, share: u32, reads: u32, random: u32, align: u64) -> SpecLine {
        SpecLine { size, share, reads, random, delay_ms: 0, burst: 1, align, reply: 0, at: 0 }
    }
}

/// One Dynamo.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Manager {
    /// Usually of its host.
    pub name: String,
    /// In order.
    pub workers: Vec<DiskWorker>,
}

/// One that drives disks, and no network.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DiskWorker {
    /// Need not be unique.
    pub name: String,
    /// Requests that it keeps in flight at each target.
    pub depth: u32,
    /// Transactions after which a target is closed and opened again.
    pub reopen_every: Option<u32>,
    /// What random numbers begin with.
    pub seed: Option<u64>,
    /// Sectors of 512 bytes that are used; 0 is all there are.
    pub sectors: u64,
    /// The first of them.
    pub first_sector: u64,
    /// What is written: 0 one byte repeated, 1 random bytes made once, 2 random bytes. None before 1.1.
    pub data: Option<u32>,
    /// Names of its specifications in order, with their places; none where the file does not list them.
    pub specs: Option<Vec<(String, usize)>>,
    /// Its targets in order.
    pub targets: Vec<String>,
}

impl DiskWorker {
    /// One that Iometer starts by itself: one request in flight, all sectors, no specification and no target yet.
    pub const PLAIN: DiskWorker = DiskWorker {
        name: String::new(),
        depth: 1,
        reopen_every: None,
        seed: None,
        sectors: 0,
        first_sector: 0,
        data: None,
        specs: None,
        targets: Vec::new(),
    };
}
