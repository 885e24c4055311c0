//! Work of a real array on itself: begun by commands of the user's, watched through what the system says of it.
//!
//! **Invariant:** no disk is failed and no rebuild begun but by a command that the user gave for it.

use conduct::{Live, WorldError};
use host::clock::Clock;
use host::command::{self, Running};
use host::progress::{Reading, Sample, Source, Watcher};
use record::Series;
use units::{Instant, Nanos};
use workload::plan::{Background, Plan, State, Task, Work};

/// What the command line says about work of a real array.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UpkeepOptions {
    /// Whom to ask how far it is.
    pub progress: Option<Source>,
    /// Makes a disk fail; given to `sh`, with its number in `FATHOM_DISK`.
    pub fail: Option<String>,
    /// What begins each kind of work; given to `sh`.
    pub begin: Vec<(Work, String)>,
    /// Sets the rate of work that begins afterwards; given to `sh`, with the share in `FATHOM_RATE`.
    pub rate: Option<String>,
}

impl UpkeepOptions {
    fn begins(&self, work: Work) -> Option<&str> {
        self.begin.iter().find(|(other, _)| *other == work).map(|(_, command)| command.as_str())
    }
}

/// For so long it may be unclear whether work has begun, or why it stands.
const PATIENCE: Nanos = Nanos::from_secs(30);

/// What goes on.
#[derive(Debug, Default)]
pub(crate) struct Upkeep {
    options: UpkeepOptions,
    watched: Option<Watched>,
}

/// Work that goes on, or went on until somebody looked.
#[derive(Debug)]
struct Watched {
    work: Work,
    watcher: Watcher,
    source: String,
    /// The command that began it, until its end was seen.
    command: Option<Running>,
    /// When a command had begun it, and went well.
    begun: Option<Instant>,
}

/// Where it is.
enum Stage {
    Waits(String),
    Runs(f64),
    Ended,
}

impl Upkeep {
    pub(crate) fn new(options: &UpkeepOptions) -> Upkeep {
        Upkeep { options: options.clone(), watched: None }
    }

    /// Says no to states that cannot be had with these options, before anything is touched.
    pub(crate) fn check(plan: &Plan, options: &UpkeepOptions) -> Result<(), WorldError> {
        for point in plan.points() {
            let Task::State(state) = &point.task else { continue };
            let missing = match state {
                State::FailDisk(_) if options.fail.is_none() => "--fail-cmd",
                State::Background(work) if work.rate.is_some() && options.rate.is_none() => {
                    return Err(only_arrays());
                }
                State::Background(work) if options.begins(work.work).is_none() => match work.work {
                    Work::Rebuild => "--rebuild-cmd",
                    _ => return Err(only_arrays()),
                },
                State::Background(_) | State::Watch(_) if options.progress.is_none() => "--progress",
                _ => continue,
            };
            let text = match missing {
                "--progress" => "to watch a rebuild, give the source of its progress: `--progress md:md0`, \
                                 `btrfs-replace:/mnt`, `btrfs-scrub:/mnt` or `zpool:tank`, or \
                                 `--progress-cmd` with a command that prints a percentage"
                    .to_owned(),
                option => format!(
                    "phase `{}`: on real storage this needs a command: give it with `{option}`; without one, \
                     run the plan on a virtual array (`--on array:NAME`), or the ready plan `rebuilding` beside a \
                     rebuild that already runs",
                    point.name
                ),
            };
            return Err(WorldError::unfit(text));
        }
        Ok(())
    }

    /// Has the user's command make a disk fail, and waits for its end.
    pub(crate) fn fail_disk(&self, disk: u32) -> Result<(), WorldError> {
        let text = self.options.fail.as_deref().ok_or_else(only_arrays)?;
        command::run(text, &[("FATHOM_DISK", disk.to_string())]).map_err(of_command(text))
    }

    /// Begins work by the user's command, and the watch over it.
    pub(crate) fn begin(&mut self, background: &Background, clock: &Clock) -> Result<(), WorldError> {
        if let Some(share) = background.rate {
            let text = self.options.rate.as_deref().ok_or_else(only_arrays)?;
            let percent = format!("{}%", share.get() * 100.0);
            command::run(text, &[("FATHOM_RATE", percent)]).map_err(of_command(text))?;
        }
        let text = self.options.begins(background.work).ok_or_else(only_arrays)?;
        let command = Running::start(text).map_err(of_command(text))?;
        self.watch(background.work, Some(command), clock)
    }

    /// Begins the watch over work that goes on already, unless it is watched.
    pub(crate) fn look(&mut self, work: Work, clock: &Clock) -> Result<(), WorldError> {
        match &self.watched {
            Some(watched) if watched.work == work => Ok(()),
            _ => self.watch(work, None, clock),
        }
    }

    fn watch(&mut self, work: Work, command: Option<Running>, clock: &Clock) -> Result<(), WorldError> {
        let source = self.options.progress.clone().ok_or_else(only_arrays)?;
        let named = source.to_string();
        let watcher =
            Watcher::start(source, clock.clone()).map_err(WorldError::failed("a thread that watches"))?;
        self.watched = Some(Watched { work, watcher, source: named, command, begun: None });
        Ok(())
    }

    /// Waits until the work runs; then, with `to_its_end`, until it has ended. False where `is_stopped` came first.
    pub(crate) fn wait(
        &mut self,
        to_its_end: bool,
        clock: &Clock,
        is_stopped: &dyn Fn() -> bool,
        live: &mut dyn FnMut(Live),
    ) -> Result<bool, WorldError> {
        let started = clock.now();
        let Some(watched) = &mut self.watched else { return Ok(true) };
        let mut clear_at = started;
        while !is_stopped() {
            let (now, mut done) = (clock.now(), None);
            match watched.stage(&self.options, clock)? {
                Stage::Ended => return Ok(true),
                Stage::Runs(_) if !to_its_end => return Ok(true),
                Stage::Runs(part) => (clear_at, done) = (now, Some(part)),
                Stage::Waits(why) if now.saturating_since(clear_at) > PATIENCE => {
                    return Err(WorldError::unfit(format!("{} {why}", watched.work.name())));
                }
                Stage::Waits(_) => {}
            }
            live(Live { done, ..Live::beside(started, now, watched.work.name()) });
            clock.sleep_until(now.saturating_add(Nanos::from_millis(100)));
        }
        Ok(false)
    }

    /// Percent against time from the last answer before `since`; `None` where nothing is watched or was seen.
    pub(crate) fn series(&self, since: Instant) -> Option<Series> {
        let watched = self.watched.as_ref()?;
        let course = watched.course();
        assert!(course.is_sorted_by_key(|(at, _)| *at), "answers follow each other");
        let first = course.partition_point(|(at, _)| *at < since).saturating_sub(1);
        let told = &course[first..];
        let (at_ns, values) = told.iter().map(|(at, part)| (at.nanos(), *part)).unzip();
        let name = format!("{}{}", watched.work.name(), record::names::series::DONE);
        let named = Series::new(name, "share", watched.source.as_str());
        (!told.is_empty()).then_some(Series { at_ns, values, ..named })
    }
}

impl Watched {
    fn stage(&mut self, options: &UpkeepOptions, clock: &Clock) -> Result<Stage, WorldError> {
        self.ask_command(options, clock)?;
        if !self.watcher.is_asking() {
            return Err(WorldError::Internal("the thread that watches has panicked".into()));
        }
        let samples = self.watcher.samples();
        let ran = samples.iter().any(|sample| matches!(sample.said, Ok(Reading::Running(_))));
        let Some(last) = samples.last() else { return Ok(Stage::Waits("is not known of yet".into())) };
        // What was said before it had begun is not of it.
        let is_of_it = self.begun.is_some_and(|begun| last.at > begun);
        Ok(match &last.said {
            Ok(Reading::Running(part)) => Stage::Runs(*part),
            Ok(Reading::Done) if ran || is_of_it => Stage::Ended,
            Ok(Reading::Done) if self.command.is_some() || self.begun.is_some() => {
                Stage::Waits("has not begun".into())
            }
            Ok(Reading::Done) => {
                let why = format!("nothing to watch: {} reports that all is done", self.source);
                return Err(WorldError::unfit(why));
            }
            Ok(Reading::Standing(why)) if ran => Stage::Waits(format!("did not run to its end: {why}")),
            Ok(Reading::Standing(why)) => Stage::Waits(format!("has not begun: {why}")),
            Err(error) => Stage::Waits(format!("cannot be watched: {error}")),
        })
    }

    /// Whether the command that began the work has ended, and how.
    fn ask_command(&mut self, options: &UpkeepOptions, clock: &Clock) -> Result<(), WorldError> {
        let Some(command) = &mut self.command else { return Ok(()) };
        let text = options.begins(self.work).unwrap_or_default();
        if command.has_ended().map_err(of_command(text))? {
            (self.command, self.begun) = (None, Some(clock.now()));
        }
        Ok(())
    }

    /// The parts that were done, with the end where it was seen.
    fn course(&self) -> Vec<(Instant, f64)> {
        let mut course = Vec::new();
        for Sample { at, said } in self.watcher.samples() {
            match said {
                Ok(Reading::Running(part)) => course.push((at, part)),
                Ok(Reading::Done) if !course.is_empty() || self.begun.is_some_and(|begun| at > begun) => {
                    course.push((at, 1.0));
                    break;
                }
                _ => {}
            }
        }
        course
    }
}

/// That the user's command `text` failed.
fn of_command(text: &str) -> impl FnOnce(std::io::Error) -> WorldError {
    WorldError::failed(format!("`{text}`"))
}

fn only_arrays() -> WorldError {
    let why = "initialising, cloning, verifying and scrubbing, and the rate of such work, are available on \
               virtual arrays (`--on array:NAME`) and, all but initialising, on an array that `fathom serve` \
               serves (`--served NAME`); or leave the phase out with a plan of your own";
    WorldError::unfit(why)
}
