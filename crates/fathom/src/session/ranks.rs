//! The ranks of `mpirun`: which of them this process is, what rank 0 opens, and what the others do instead.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use cluster::{Ended, Follows, Head, Hello, Link, Pieces, Refused, WorkItems};
use conduct::{World, WorldError};
use host::clock::Clock;
use real::RealOptions;
use units::convert::narrow;
use units::{Bytes, Nanos};
use workload::plan::Plan;

use crate::ending::{Ending, Failure};
use crate::input::plans::Planned;
use crate::session::iologs;
pub use crate::session::launched::{are_several, is_first, number};
use crate::session::launched::{launched, size};
use crate::session::signals::{self, Signals};
use crate::terminal;

/// Scratch files that one rank may have of its own in a directory.
const FILES_EACH: usize = 1000;

/// How long the end of a rank that was killed is held back, so that rank 0 notices and saves what was measured before the
/// launcher ends it as well.
const NOTICE: Nanos = Nanos::from_secs(8);

/// Within this time the launcher passes on what was printed.
#[cfg(feature = "mpi")]
const PRINTED: Nanos = Nanos::from_secs(1);

/// This process among the ranks.
struct Joined {
    link: Mutex<Option<Arc<Link>>>,
    rank: usize,
    size: usize,
    /// Whether rank 0 has greeted the others, or they have been told that nothing is done.
    is_settled: AtomicBool,
    /// Whether the others wait for what rank 0 says comes next: it has carried the plan out once, or there are several.
    has_headed: AtomicBool,
    /// Which of several plans comes next.
    next: Mutex<String>,
    /// What each was asked for beside its plan.
    asked: Mutex<String>,
    /// On how many hosts they are; 0 before rank 0 has greeted them.
    hosts: AtomicU32,
    has_own_files: AtomicBool,
    /// Whether each piece of the work is carried out by one rank alone, in a world of its own.
    is_in_pieces: AtomicBool,
    #[cfg(feature = "mpi")]
    mpi: Arc<cluster::Mpi>,
}

static JOINED: OnceLock<Joined> = OnceLock::new();

fn joined() -> Option<&'static Joined> {
    JOINED.get()
}

impl Joined {
    /// How this rank, which is not 0, ends.
    fn ending(&self, ended: Ended) -> Ending {
        match ended {
            Ended::Done => Ending::done(),
            // Rank 0 says it for all.
            Ended::Refused(Refused { code, why }) => Ending { code, reason: why },
            Ended::Lost(reason) => {
                terminal::be_silent(false);
                Ending { code: 7, reason: format!("rank {}: {reason}", self.rank) }
            }
        }
    }

    fn link(&self) -> Option<Arc<Link>> {
        self.link.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Puts the process that measures into a process group of its own: `mpirun` kills the group of the process that it has started one
/// second after SIGTERM, which is too short for restoring what was changed. The guard forwards signals, and that it has gone is
/// signalled as well.
pub fn stand_alone() {
    if launched().is_some() {
        // In the group of the guard it would end with that.
        let _same_group = rustix::process::setpgid(None, None);
        signals::outlive_guard();
    }
}

/// `rank 2 on host-b: ` where this process is one of several, and nothing otherwise.
pub fn own_name() -> String {
    launched().map_or_else(String::new, |_| format!("rank {} on {}: ", number(), host_name()))
}

/// What this process was asked for beside its plan, in which all ranks are alike.
pub fn asks(what: String) {
    if let Some(joined) = joined() {
        *joined.asked.lock().unwrap_or_else(PoisonError::into_inner) = what;
    }
}

/// Why this rank does nothing, which the first one says for all.
pub fn for_one_process(why: &str) -> Failure {
    terminal::be_silent(!is_first());
    Failure::Usage(why.into())
}

/// Joins the other ranks, where a launcher has started several. An error where this program, or what it is to do
/// (unless `is_shared`), is for one process.
pub fn join(is_shared: bool) -> Result<(), Failure> {
    if size().is_some() {
        terminal::is_relayed();
    }
    let Some(size) = launched() else { return Ok(()) };
    if !is_shared {
        return Err(for_one_process(&format!(
            "this command runs in one process, and `mpirun` has started {size}; start it without, or use `fathom run`, \
             `fathom search`, `fathom campaign`, `fathom explore`, `fathom as ior` or `fathom as mdtest`"
        )));
    }
    begin(size)
}

#[cfg(feature = "mpi")]
fn begin(_size: usize) -> Result<(), Failure> {
    let failed =
        || Failure::System { what: "MPI".into(), source: std::io::Error::other("cannot be initialised") };
    let mpi = Arc::new(cluster::Mpi::join().ok_or_else(failed)?);
    use cluster::Transport as _;
    let (rank, size) = (mpi.rank(), mpi.size());
    let link = Mutex::new(Some(Arc::new(Link::new(mpi.clone(), signals::guard_has_gone))));
    let no = || AtomicBool::new(false);
    let (next, asked, hosts) = (Mutex::default(), Mutex::default(), AtomicU32::new(0));
    let (is_settled, has_headed, has_own_files, is_in_pieces) = (no(), no(), no(), no());
    let joined = Joined {
        link,
        rank,
        size,
        is_settled,
        has_headed,
        next,
        asked,
        hosts,
        has_own_files,
        is_in_pieces,
        mpi,
    };
    let _first = JOINED.set(joined);
    Ok(())
}

#[cfg(not(feature = "mpi"))]
fn begin(size: usize) -> Result<(), Failure> {
    Err(Failure::Usage(format!(
        "`mpirun` has started {size} processes, and this build of Fathom is for one; build it with `make mpi`"
    )))
}

/// Numbers of scratch files that other ranks may have made in the same directory, where each makes its own.
pub fn files_taken(has_own_files: bool) -> usize {
    let Some(joined) = joined().filter(|_| has_own_files) else { return 0 };
    joined.has_own_files.store(true, Ordering::Relaxed);
    debug_assert!(joined.rank < joined.size, "a rank is one of those that were started");
    joined.rank * FILES_EACH
}

/// That nothing in `plan` would tell of rank 0 alone.
pub fn can_tell_all(plan: &Plan) -> Result<(), Failure> {
    match iologs::first(plan).filter(|_| joined().is_some()) {
        None => Ok(()),
        Some(log) => Err(Failure::Usage(format!(
            "the iolog {log} would have the requests of rank 0 alone; leave it out with `--set iolog=none`, or run the plan \
             without `mpirun`"
        ))),
    }
}

/// `world`, which is that of rank 0, at the head of the others; as it is where there are none.
pub fn headed(world: Box<dyn World>, plan: &Plan, signals: &Signals) -> Result<Box<dyn World>, Failure> {
    let together = joined().filter(|joined| !joined.is_in_pieces.load(Ordering::Relaxed));
    let Some((joined, link)) = together.and_then(|joined| Some((joined, joined.link()?))) else {
        return Ok(world);
    };
    let hello = hello(plan, &*world);
    joined.is_settled.store(true, Ordering::Relaxed);
    if joined.has_headed.swap(true, Ordering::Relaxed) {
        cluster::again(&link, &joined.next.lock().unwrap_or_else(PoisonError::into_inner));
    }
    let has_own_files = joined.has_own_files.load(Ordering::Relaxed);
    let head = Head::open(world, link, plan, &hello, has_own_files, signals.stop());
    let nothing = |mut why: Refused| {
        if why.code == 7 {
            why.why += "; nothing had been measured";
        }
        WorldError::from(why)
    };
    let head = head.map_err(nothing)?;
    joined.hosts.store(head.hosts(), Ordering::Relaxed);
    Ok(Box::new(head))
}

/// On rank 0: several plans are carried out, each of which [`comes_next`] names before it is opened, or none.
pub fn heads_several() {
    debug_assert!(is_first(), "rank 0 heads the others");
    if let Some(joined) = joined() {
        joined.is_settled.store(true, Ordering::Relaxed);
        joined.has_headed.store(true, Ordering::Relaxed);
    }
}

/// On rank 0: the plan that the other ranks know by that name is opened next.
pub fn comes_next(what: &str) {
    debug_assert!(is_first(), "rank 0 says what comes next");
    if let Some(joined) = joined() {
        what.clone_into(&mut joined.next.lock().unwrap_or_else(PoisonError::into_inner));
    }
}

/// How many ranks carry out together what this process was started for, where there are several.
pub fn count() -> Option<u32> {
    joined().map(|joined| narrow(joined.size))
}

/// On how many hosts they are, once rank 0 has greeted them; 1 in one process.
pub fn hosts() -> u32 {
    joined().map_or(1, |joined| joined.hosts.load(Ordering::Relaxed).max(1))
}

/// The other ranks, which carry out pieces of the work that `about` describes; `None` where there are none.
pub fn work_items(about: &str, pieces: Pieces) -> Result<Option<WorkItems>, Failure> {
    let Some((joined, link)) = joined().and_then(|joined| Some((joined, joined.link()?))) else {
        return Ok(None);
    };
    joined.is_settled.store(true, Ordering::Relaxed);
    joined.is_in_pieces.store(true, Ordering::Relaxed);
    Ok(Some(WorkItems::open(link, &hello_of_work(about), pieces).map_err(WorldError::from)?))
}

/// On a rank other than 0: carries out pieces of the work that `about` describes, until rank 0 says that all is done.
/// `None` where this is not such a rank.
pub fn run_work_items(about: &str, work: &dyn Fn(&str) -> String) -> Option<Ending> {
    let (joined, link) = other_rank()?;
    joined.is_in_pieces.store(true, Ordering::Relaxed);
    Some(joined.ending(cluster::run_work_items(&link, hello_of_work(about), work)))
}

/// On a rank other than 0 that cannot do its part: tells rank 0 why, and ends as all do. The failure itself elsewhere.
pub fn decline_work_items(failure: Failure) -> Result<Ending, Failure> {
    let Some((joined, link)) = other_rank() else { return Err(failure) };
    let Ending { code, reason } = failure.ending();
    let ended = cluster::decline(&link, hello_without_world(), Refused { code, why: reason });
    Ok(joined.ending(ended))
}

/// This process where it is a rank other than 0, which says nothing from now on.
fn other_rank() -> Option<(&'static Joined, Arc<Link>)> {
    let joined = joined().filter(|joined| joined.rank > 0)?;
    let link = joined.link()?;
    terminal::be_silent(true);
    Some((joined, link))
}

fn hello_of_work(about: &str) -> Hello {
    let mut digest = DefaultHasher::new();
    about.hash(&mut digest);
    Hello { version: own_version(), plan: format!("{:016x}", digest.finish()), ..hello_without_world() }
}

/// Version and build: two builds of one version may speak differently.
fn own_version() -> String {
    injected_version().unwrap_or_else(|| format!("{} (build {})", env!("CARGO_PKG_VERSION"), own_build()))
}

/// A digest of the program as it lies on the disk.
fn own_build() -> String {
    let mut digest = DefaultHasher::new();
    let read = std::fs::read("/proc/self/exe").or_else(|_| std::fs::read(std::env::current_exe()?));
    read.map_or("unknown".into(), |bytes| {
        bytes.hash(&mut digest);
        format!("{:08x}", digest.finish() >> 32)
    })
}

/// What this rank says of itself.
fn hello(plan: &Plan, world: &dyn World) -> Hello {
    let mut digest = DefaultHasher::new();
    format!("{plan:?}").hash(&mut digest);
    let asked = joined().map(|joined| joined.asked.lock().unwrap_or_else(PoisonError::into_inner).clone());
    asked.hash(&mut digest);
    let date = i128::from(injected_date_s()) * 1_000_000_000 + jiff::Timestamp::now().as_nanosecond();
    let began = date - i128::from(world.now().nanos());
    Hello {
        version: own_version(),
        plan: format!("{:016x}", digest.finish()),
        host: host_name(),
        processors: processors(),
        targets: world.targets().into_iter().map(|target| target.address).collect(),
        lengths: world.lengths().into_iter().map(|length| length.map(Bytes::get)).collect(),
        began_ns: u64::try_from(began).unwrap_or(0),
        refused: None,
    }
}

/// A rank that has no world says no more than its name.
fn hello_without_world() -> Hello {
    Hello {
        version: String::new(),
        plan: String::new(),
        host: host_name(),
        processors: processors(),
        targets: Vec::new(),
        lengths: Vec::new(),
        began_ns: 0,
        refused: None,
    }
}

/// How many processors this process may use; 0 where the system does not say.
fn processors() -> u32 {
    std::thread::available_parallelism().map_or(0, |count| narrow(count.get()))
}

/// What this host is called.
pub fn host_name() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

/// For tests of what becomes of ranks whose versions and dates differ; not of a release build.
fn injected_version() -> Option<String> {
    std::env::var("FATHOM_RANK_VERSION").ok().filter(|_| cfg!(debug_assertions))
}

fn injected_date_s() -> i64 {
    let ahead = std::env::var("FATHOM_RANK_DATE_AHEAD_S").ok().filter(|_| cfg!(debug_assertions));
    ahead.and_then(|text| text.parse().ok()).unwrap_or(0)
}

/// Reads a plan, by its name where there are several, and what its targets are opened with.
type Read<'a> = dyn Fn(&str) -> Result<(Planned, RealOptions), Failure> + 'a;

/// On a rank other than 0: reads the plan, opens its targets, and does what rank 0 asks until all is done, and again where
/// rank 0 carries the plan out once more. `None` where this is not such a rank.
pub fn serve(read: impl Fn() -> Result<(Planned, RealOptions), Failure>) -> Option<Ending> {
    let (joined, link) = other_rank()?;
    let read = |_: &str| read();
    let ended = served(joined, &link, &|| read(""));
    if ended != Ended::Done {
        return Some(joined.ending(ended));
    }
    Some(serve_next(joined, &link, &read))
}

/// On a rank other than 0: carries out the plans that rank 0 names, one after the other, each as `read` reads it. `None` where
/// this is not such a rank.
pub fn serve_several(read: impl Fn(&str) -> Result<(Planned, RealOptions), Failure>) -> Option<Ending> {
    let (joined, link) = other_rank()?;
    Some(serve_next(joined, &link, &read))
}

fn serve_next(joined: &Joined, link: &Arc<Link>, read: &Read<'_>) -> Ending {
    loop {
        let ended = match cluster::what_follows(link) {
            Follows::Again(what) => served(joined, link, &|| read(&what)),
            Follows::Nothing => return joined.ending(Ended::Done),
            Follows::Refused(why) => return joined.ending(Ended::Refused(why)),
            Follows::Lost(why) => return joined.ending(Ended::Lost(why)),
        };
        if ended != Ended::Done {
            return joined.ending(ended);
        }
    }
}

/// The plan carried out once.
fn served(
    joined: &Joined,
    link: &Arc<Link>,
    read: &dyn Fn() -> Result<(Planned, RealOptions), Failure>,
) -> Ended {
    match opened(read) {
        Ok((plan, mut world, signals)) => {
            let hello = hello(&plan, &*world);
            let own = joined.has_own_files.load(Ordering::Relaxed);
            cluster::serve(link, hello, &plan, &mut *world, own, &signals.stop())
        }
        Err(failure) => {
            let Ending { code, reason } = failure.ending();
            let why = Refused { code, why: reason };
            cluster::decline(link, hello_without_world(), why)
        }
    }
}

type OpenedRank = (Plan, Box<dyn World>, Signals);

fn opened(read: &dyn Fn() -> Result<(Planned, RealOptions), Failure>) -> Result<OpenedRank, Failure> {
    let (planned, options) = read()?;
    let signals = Signals::listen()?;
    let options = RealOptions { journal: super::restore::journal(), ..options };
    let world = super::open_world(&planned.plan, &options, &signals)?.world;
    Ok((planned.plan, world, signals))
}

/// How this rank ends. Rank 0 tells the others first: that it refuses the run, where it has not greeted them yet, or that the run is
/// over.
pub fn ended(ending: Ending) -> Ending {
    let Some((joined, link)) =
        joined().filter(|joined| joined.rank == 0).and_then(|joined| Some((joined, joined.link()?)))
    else {
        return ending;
    };
    if joined.is_settled.swap(true, Ordering::Relaxed) {
        cluster::over(&link);
    } else {
        let code = if ending.code == 0 { 2 } else { ending.code };
        cluster::refuse(&link, &Refused { code, why: ending.reason.clone() });
    }
    ending
}

/// Leaves the other ranks: together with them, or where one has gone by ending all. The exit code of this one: a rank that is lost
/// once all else is done ends the others as at any other time.
pub fn leave(code: u8) -> u8 {
    let Some(joined) = joined() else { return code };
    debug_assert!(joined.size > 1, "one process alone joins nobody");
    let link = joined.link.lock().unwrap_or_else(PoisonError::into_inner).take();
    // Of a run that has failed nobody is waited for.
    let parted = link.as_deref().filter(|_| code < 2).map_or(Ok(()), cluster::parted);
    // The last message goes before the end, and nobody beats any more.
    drop(link);
    let code = parted.map_or_else(|error| lost_at_the_end(&error.to_string()), |()| code);
    // Who has started the ranks ends them all, and nobody is there to end together with.
    if signals::guard_has_gone() {
        return code;
    }
    #[cfg(feature = "mpi")]
    match code {
        7 => {
            // What was printed goes through the launcher, which drops what it has not passed on by the abort.
            let clock = Clock::start();
            clock.sleep_until(clock.now().saturating_add(PRINTED));
            joined.mpi.abort(7);
        }
        _ if joined.mpi.finish() => {}
        0 => {
            // Where rank 0 does not, one of the others says it for all.
            terminal::be_silent(joined.rank > 1);
            let which = if joined.rank == 0 { "another rank" } else { "rank 0" };
            return lost_at_the_end(&format!("{which} does not end: it is stopped, or its network is down"));
        }
        _ => {}
    }
    code
}

/// The exit code where a rank is lost once all was measured, which is said.
fn lost_at_the_end(why: &str) -> u8 {
    let reason = format!("{why}; all had been measured by then, and is saved as a complete run");
    let ending = Ending { code: 7, reason };
    ending.say();
    ending.code
}

/// The exit code of a rank whose measuring process was killed by a signal that would have given `code`: that of a rank that
/// has gone, whichever it is.
pub fn code_of_killed(code: u8) -> u8 {
    launched().map_or(code, |_| 7)
}

/// Waits where this process was started as one of several ranks and was killed; the launcher would end all others at once.
pub fn let_others_notice() {
    if launched().is_some() && number() > 0 {
        let clock = Clock::start();
        clock.sleep_until(clock.now().saturating_add(NOTICE));
    }
}
