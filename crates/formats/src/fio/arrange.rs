//! Jobs that run together become phases of a plan, and each job or clone a workload.
//!
//! **Invariant:** what one phase cannot say of all its jobs is refused with the name of the option.

use units::{Bytes, Nanos};

use crate::plan::{Key, Keys, PlanText, Value, braced};
use crate::{Refusal, TranslatedJob};

use super::access::READ;
use super::job::Job;
use super::keys::is_direct;
use super::member::{Member, bases, phase_members};
use super::times::Times;
use super::verify;

/// The plan of some jobs, and how their figures are told apart again.
#[derive(Clone, Debug, Default)]
pub(super) struct Arrangement {
    pub translated: TranslatedJob,
    /// Of each load phase, in order.
    pub phases: Vec<Vec<Reported>>,
    /// Whether the files are removed afterwards.
    pub unlink: bool,
}

/// One entry of fio's report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Reported {
    /// Of `jobs`, the first.
    pub job: usize,
    /// The last, whose options fio shows for all of them.
    pub last: usize,
    pub group: u32,
    /// The workloads of the phase that make it up, by name.
    pub workloads: Vec<String>,
}

/// Arranges `jobs` as the plan `name`, `origin` being the job file or command line for its `about`.
pub(super) fn arrange(jobs: &[Job], name: &str, origin: &str, salt: u32) -> Result<Arrangement, Refusal> {
    let mut targets: Vec<String> = Vec::new();
    for name in jobs.iter().flat_map(|job| job.files.of_clone.iter().flatten()) {
        if !targets.contains(name) {
            targets.push(name.clone());
        }
    }
    check_trees(jobs, &targets)?;
    check_logs(jobs)?;
    check_locks(jobs)?;
    super::zones::check_written(jobs)?;
    let bases = bases(jobs);
    let seed = seed_of(jobs, salt)?;
    let mut plan = PlanText::new(name, &format!("what fio does with {origin}"), Some(seed));
    let mut notes = Vec::new();
    let mut phases = Vec::new();
    let mut group = 0;
    for (number, phase) in together(jobs)?.into_iter().enumerate() {
        let mut members = phase_members(jobs, &phase, &targets, &bases)?;
        for member in &mut members {
            if jobs[member.job].creates_only {
                continue;
            }
            member.keys.extend(verify::keys(&jobs[member.job], seed)?);
            if verify::is_only(&jobs[member.job])? {
                *member = verify::only(&jobs[member.job], member)?;
            }
        }
        check_flows(jobs, &phase)?;
        let times = Times::of(jobs, &phase);
        if times.pause_ns > 0 {
            plan.phase(Keys::default().with("state", "idle").with("run", Nanos::new(times.pause_ns)));
        }
        times.tell(jobs, &mut members, seed);
        notes.extend(exits(jobs, &phase, &mut members)?);
        prepared(jobs, &phase)?.into_iter().for_each(|keys| plan.phase(keys));
        let named = |when: &str| format!("{}, read {when}", phase_name(jobs, &phase, number));
        phases.extend(read_through(&mut plan, &named("before"), &preread_members(jobs, &members)?));
        let reported = report(jobs, &phase, &members, &mut group, number);
        super::times::tell_ramps(jobs, &mut members, &reported);
        write_phase(&mut plan, phase_name(jobs, &phase, number), times, &members);
        phases.push(reported);
        members.retain(|member| !jobs[member.job].creates_only);
        phases.extend(read_through(&mut plan, &named("back"), &verify::read_back(jobs, &members)?));
        for job in phase.iter().map(|index| &jobs[*index]) {
            notes.extend(job.notes.iter().map(|note| format!("job `{}`: {note}", job.name)));
            notes.extend(ignored(job));
            notes.extend(verify::note(job));
            notes.extend(super::execution::notes(job));
        }
    }
    debug_assert!(
        phases.iter().flatten().all(|entry: &Reported| !entry.workloads.is_empty()),
        "an entry of the report has workloads"
    );
    let mut said = std::collections::BTreeSet::new();
    notes.retain(|note| said.insert(note.clone()));
    // What a job asks for and does not get stays with the record, in the text of its plan.
    let told: String =
        notes.iter().map(|note| format!("# {}\n", note.replace(char::is_control, " "))).collect();
    // What goes nowhere has no file that would stay.
    let goes_nowhere = |job: &Job| job.engine.name == "null" && !job.creates_only;
    let unlink = jobs.iter().all(|job| job.files.unlink || goes_nowhere(job));
    Ok(Arrangement {
        translated: TranslatedJob { plan: told + &plan.text(), targets, notes },
        phases,
        unlink,
    })
}

/// The state that jobs which run together want before them; `None` where they want none. The page cache forgets what is read
/// through it, as with invalidate=1.
fn prepared(jobs: &[Job], phase: &[usize]) -> Result<Option<Keys>, Refusal> {
    let (forgets, scheduler) = (forgets(jobs, phase)?, scheduler(jobs, phase)?);
    if !forgets && scheduler.is_none() {
        return Ok(None);
    }
    let mut keys = Keys::default().with("state", "prepare").with("fill", 0u32).with("span", "100%");
    if !forgets {
        keys = keys.with("drop_caches", false);
    }
    if let Some(name) = scheduler {
        keys = keys.with("scheduler", name);
    }
    Ok(Some(keys))
}

/// Adds a phase of that name in which `readers` read, where there are any: one of which nothing is reported.
fn read_through(plan: &mut PlanText, name: &str, readers: &[Member]) -> Option<Vec<Reported>> {
    if readers.is_empty() {
        return None;
    }
    debug_assert!(!name.is_empty(), "a phase has a name");
    plan.phase(Keys::named(&braced(name)));
    write_members(plan, readers);
    Some(Vec::new())
}

/// The scheduler that jobs which run together ask for. Two at once have no say in turn.
fn scheduler<'a>(jobs: &'a [Job], phase: &[usize]) -> Result<Option<&'a str>, Refusal> {
    let mut asked = phase.iter().filter_map(|index| jobs[*index].options.get("ioscheduler"));
    let Some(first) = asked.next() else { return Ok(None) };
    match asked.find(|other| other.value != first.value) {
        Some(other) => Err(other.unsupported(format!("a job beside it has ioscheduler={}", first.value))),
        None => Ok(Some(&first.value)),
    }
}

/// Jobs that create, stat or delete files work in one directory, and beside no others.
fn check_trees(jobs: &[Job], targets: &[String]) -> Result<(), Refusal> {
    let Some(tree) = jobs.iter().find(|job| job.tree.is_some()) else { return Ok(()) };
    if targets.len() == 1 && jobs.iter().all(|job| job.tree.is_some()) {
        return Ok(());
    }
    let setting = tree.options.get("ioengine").expect("a tree is an engine's");
    Err(setting
        .unsupported("its jobs have one directory, and no other jobs beside them; run those by themselves"))
}

/// Each job writes a log of its own.
fn check_logs(jobs: &[Job]) -> Result<(), Refusal> {
    let log = |job: &Job| job.options.text("write_iolog").filter(|file| !file.is_empty()).map(str::to_owned);
    let is_taken = |(index, job): &(usize, &Job)| {
        log(job).is_some_and(|file| jobs[..*index].iter().any(|other| log(other).as_ref() == Some(&file)))
    };
    match jobs.iter().enumerate().find(is_taken) {
        None => Ok(()),
        Some((_, job)) => {
            let setting = job.options.get("write_iolog").expect("it has a log");
            Err(setting.unsupported("another job writes the same log; give each a file of its own"))
        }
    }
}

/// Who locks a file that nobody else uses at the time waits for nobody.
fn check_locks(jobs: &[Job]) -> Result<(), Refusal> {
    for phase in together(jobs)? {
        let users = |name: &String| {
            let of = |index: &usize| {
                jobs[*index].files.of_clone.iter().filter(|names| names.contains(name)).count()
            };
            phase.iter().map(of).sum::<usize>()
        };
        for job in phase.iter().map(|index| &jobs[*index]) {
            let Some(setting) = job.options.get("lockfile").filter(|setting| setting.value != "none") else {
                continue;
            };
            if !["exclusive", "readwrite"].contains(&setting.value.as_str()) {
                return Err(setting.wrong("none, exclusive or readwrite"));
            }
            let only_reads =
                setting.value == "readwrite" && phase.iter().all(|index| !jobs[*index].rw.changes());
            if !only_reads && job.files.of_clone.iter().flatten().any(|name| users(name) > 1) {
                return Err(setting.unsupported(
                    "jobs that share a file do not wait for each other; give each a file of its own, or leave it out",
                ));
            }
        }
    }
    Ok(())
}

/// fio's own, where a job says none.
const DEFAULT_SEED: u64 = 0xb189_9bed;

/// The seed of the plan.
fn seed_of(jobs: &[Job], salt: u32) -> Result<u64, Refusal> {
    let mut seed = DEFAULT_SEED;
    for job in jobs {
        let repeats = job.options.flag("randrepeat")?.unwrap_or(true);
        let all = job.options.flag("allrandrepeat")?.unwrap_or(repeats);
        if !repeats && !all {
            seed = u64::from(salt).max(2);
        }
        if let Some(said) = job.options.count("randseed")? {
            seed = said;
        }
    }
    Ok(seed.min(i64::MAX as u64))
}

/// Jobs by the phases they run in.
pub(super) fn together(jobs: &[Job]) -> Result<Vec<Vec<usize>>, Refusal> {
    let mut phases: Vec<Vec<usize>> = Vec::new();
    for (index, job) in jobs.iter().enumerate() {
        let waits = match &job.wait_for {
            None => job.waits,
            Some(name) => {
                let setting = job.options.get("wait_for").expect("it has a value");
                let current = phases.last().map(Vec::as_slice).unwrap_or_default();
                if !jobs[..index].iter().any(|before| before.name == *name) {
                    return Err(setting.wrong("the name of a job before"));
                }
                let running = current.iter().any(|other| jobs[*other].name == *name);
                if running && current.iter().any(|other| jobs[*other].name != *name) {
                    return Err(
                        setting.unsupported("other jobs would run meanwhile; stonewall waits for all")
                    );
                }
                running || job.waits
            }
        };
        match phases.last_mut() {
            Some(phase) if !waits => phase.push(index),
            _ => phases.push(vec![index]),
        }
    }
    debug_assert!(phases.iter().flatten().copied().eq(0..jobs.len()), "each job is in one phase, in order");
    Ok(phases)
}

/// All flows of a phase are one.
fn check_flows(jobs: &[Job], phase: &[usize]) -> Result<(), Refusal> {
    let flowing = || phase.iter().map(|index| &jobs[*index]).filter(|job| job.flow.is_some());
    let id = |job: &Job| job.options.text("flow_id").unwrap_or("0").to_owned();
    let Some(first) = flowing().next() else { return Ok(()) };
    match flowing().find(|job| id(job) != id(first)) {
        Some(job) => {
            let setting = job.options.get("flow_id").or_else(|| first.options.get("flow_id"));
            Err(setting.expect("one of them has one").unsupported("jobs that run together have one flow"))
        }
        None => Ok(()),
    }
}

/// Has each of `members` end all others where one job says so, as in fio, with words on whom that concerns.
fn exits(jobs: &[Job], phase: &[usize], members: &mut [Member]) -> Result<Vec<String>, Refusal> {
    let mut notes = Vec::new();
    let mut ends_all = false;
    let has_groups = phase.iter().skip(1).any(|index| jobs[*index].new_group);
    for job in phase.iter().map(|index| &jobs[*index]) {
        if job.options.flag("exitall")? != Some(true) {
            continue;
        }
        ends_all = true;
        match job.options.text("exit_what") {
            Some("all") if phase.last().is_some_and(|last| last + 1 < jobs.len()) => notes.push(format!(
                "job `{}`: exit_what=all: it ends the jobs that run beside it; those that wait run all the same",
                job.name
            )),
            None | Some("group") if has_groups => notes.push(format!(
                "job `{}`: exitall: it ends all jobs that run beside it, also those of other groups",
                job.name
            )),
            _ => {}
        }
    }
    if ends_all {
        members.iter_mut().for_each(|member| member.keys.push(("exit_all", "true".into())));
    }
    Ok(notes)
}

/// Whether the page cache is asked to forget the targets before a phase.
fn forgets(jobs: &[Job], phase: &[usize]) -> Result<bool, Refusal> {
    for job in phase.iter().map(|index| &jobs[*index]) {
        if forgets_of(job)? {
            return Ok(true);
        }
    }
    Ok(false)
}

pub(super) fn forgets_of(job: &Job) -> Result<bool, Refusal> {
    let invalidates = job.options.flag("invalidate")?.unwrap_or(true);
    if preread(job)? {
        return Ok(false);
    }
    let reads = (job.rw.has[READ] || job.replay.is_some()) && job.engine.name != "null" && job.tree.is_none();
    Ok(!is_direct(&job.options)? && invalidates && reads)
}

/// Whether its files are read into the page cache before it begins. What goes past the cache or reads nothing has none.
fn preread(job: &Job) -> Result<bool, Refusal> {
    let asked = job.options.flag("pre_read")? == Some(true);
    Ok(asked && job.engine.name != "null" && job.tree.is_none() && job.replay.is_none())
}

/// What reads the files of `members` from end to end through the page cache, of those that ask for it.
fn preread_members(jobs: &[Job], members: &[Member]) -> Result<Vec<Member>, Refusal> {
    const PLACES: [&str; 5] = ["on", "files", "span", "offset", "worker_offset"];
    let mut readers: Vec<Member> = Vec::new();
    for member in members {
        let job = &jobs[member.job];
        if !preread(job)? || job.creates_only {
            continue;
        }
        let mut keys: Vec<Key> = member
            .keys
            .iter()
            .filter(|(key, _)| PLACES.contains(key) || *key == "workers")
            .cloned()
            .collect();
        let size = job.sizes.iter().flatten().map(|(size, _)| *size).min().unwrap_or(4096);
        let fixed =
            [("pattern", "\"sequential\""), ("engine", "\"pread\""), ("direct", "false"), ("loops", "1")];
        keys.extend(fixed.map(|(key, value)| (key, value.to_owned())));
        keys.push(("size", Bytes::new(size).toml()));
        let is_known = |other: &Member| other.keys == keys;
        if !readers.iter().any(is_known) {
            readers.push(Member { job: member.job, name: member.name.clone(), keys, joins: false });
        }
    }
    Ok(readers)
}

fn write_phase(plan: &mut PlanText, name: String, times: Times, members: &[Member]) {
    let ramp = (times.ramp_ns > 0).then_some(Nanos::new(times.ramp_ns));
    let keys = Keys::named(&braced(&name));
    plan.phase(keys.maybe("run", times.run_ns.map(Nanos::new)).maybe("warmup", ramp));
    write_members(plan, members);
}

fn write_members(plan: &mut PlanText, members: &[Member]) {
    for member in members {
        plan.workload(Keys::named(&member.name).and(member.keys.iter().cloned()));
    }
}

/// So many jobs have their names in that of their phase.
const NAMED: usize = 3;

/// `1: readers + writers`. Numbered, because names stand once and those of fio's jobs may come again.
fn phase_name(jobs: &[Job], phase: &[usize], number: usize) -> String {
    assert!(!phase.is_empty(), "a phase is called after its jobs");
    let mut names: Vec<&str> = Vec::new();
    for index in phase {
        if !names.contains(&jobs[*index].name.as_str()) {
            names.push(&jobs[*index].name);
        }
    }
    let more = names.len().saturating_sub(NAMED);
    names.truncate(NAMED);
    let and = if more > 0 { format!(" + {more} more") } else { String::new() };
    format!("{}: {}{and}", number + 1, names.join(" + "))
}

fn report(
    jobs: &[Job],
    phase: &[usize],
    members: &[Member],
    group: &mut u32,
    number: usize,
) -> Vec<Reported> {
    let mut reported: Vec<Reported> = Vec::new();
    for (position, index) in phase.iter().enumerate() {
        let job = &jobs[*index];
        // A stonewall begins a group; that a job waits for another one does not.
        let begins = job.new_group || position == 0 && number > 0 && job.waits;
        *group += u32::from(begins);
        for member in members.iter().filter(|member| member.job == *index) {
            match reported.last_mut() {
                Some(last) if member.joins || job.grouped && last.group == *group => {
                    last.last = *index;
                    last.workloads.push(member.name.clone());
                }
                _ => reported.push(Reported {
                    job: *index,
                    last: *index,
                    group: *group,
                    workloads: vec![member.name.clone()],
                }),
            }
        }
    }
    reported
}

/// Notes on options that change nothing here, where the user may expect more.
fn ignored(job: &Job) -> Vec<String> {
    let note = |setting: &super::section::Setting| match setting.known.verdict {
        super::options::Verdict::Ignored(Some(note)) if setting.value != "0" => {
            Some(format!("job `{}`: {}: {note}", job.name, setting.known.name))
        }
        _ => None,
    };
    job.options.all().filter_map(note).collect()
}
