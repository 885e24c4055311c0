//! Jobs that run together become phases of a plan, and each job or clone a workload.
//!
//! **Invariant:** what one phase cannot say of all its jobs is refused with the name of the option.

use units::{Bytes, Nanos};
use workload::plan::MOST_WORKLOADS;

use crate::plan::{Key, Keys, PlanText, Value, braced};
use crate::{Refusal, TranslatedJob, quoted};

use super::access::{READ, Sizes, TRIM, WRITE, figure};
use super::draw::drawn_within;
use super::files::Service;
use super::job::{Job, Pace, same_sizes};
use super::keys::is_direct;
use super::replay::Replay;
use super::value::Amount;
use super::verify;

/// The plan of some jobs, and how their figures are told apart again.
#[derive(Clone, Debug)]
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
    /// Of `jobs`.
    pub job: usize,
    pub group: u32,
    /// The workloads of the phase that make it up, by name.
    pub workloads: Vec<String>,
}

/// Arranges `jobs`, `origin` being the job file or command line for the plan's `about`.
pub(super) fn arrange(jobs: &[Job], origin: &str, salt: u32) -> Result<Arrangement, Refusal> {
    let mut targets: Vec<String> = Vec::new();
    for name in jobs.iter().flat_map(|job| job.files.of_clone.iter().flatten()) {
        if !targets.contains(name) {
            targets.push(name.clone());
        }
    }
    check_trees(jobs, &targets)?;
    check_logs(jobs)?;
    let bases = bases(jobs);
    let seed = seed_of(jobs, salt)?;
    let mut plan = PlanText::new("fio", &format!("what fio does with {origin}"), Some(seed));
    let mut notes = Vec::new();
    let mut phases = Vec::new();
    let mut group = 0;
    for (number, phase) in together(jobs)?.into_iter().enumerate() {
        let mut members = phase_members(jobs, &phase, &targets, &bases)?;
        for member in &mut members {
            member.keys.extend(verify::keys(&jobs[member.job], seed)?);
            if verify::is_only(&jobs[member.job])? {
                *member = verify::only(&jobs[member.job], member);
            }
        }
        let first = &jobs[phase[0]];
        check_flows(jobs, &phase)?;
        let times = Times::of(jobs, &phase);
        if times.pause_ns > 0 {
            plan.phase(Keys::default().with("state", "idle").with("run", Nanos::new(times.pause_ns)));
        }
        times.tell(jobs, &mut members, seed);
        notes.extend(exits(jobs, &phase)?);
        // The page cache forgets what is read through it, as with invalidate=1.
        if forgets(jobs, &phase)? {
            plan.phase(Keys::default().with("state", "prepare").with("fill", 0u32).with("span", "100%"));
        }
        write_phase(&mut plan, first, number, times, &members);
        phases.push(report(jobs, &phase, &members, &mut group, number));
        let readers = verify::read_back(jobs, &members)?;
        if !readers.is_empty() {
            let name = format!("{}, read back", phase_name(first, number));
            plan.phase(Keys::named(&braced(&name)));
            write_members(&mut plan, &readers);
            phases.push(Vec::new());
        }
        for job in phase.iter().map(|index| &jobs[*index]) {
            notes.extend(job.notes.iter().map(|note| format!("job `{}`: {note}", job.name)));
            notes.extend(ignored(job));
            notes.extend(verify::note(job));
        }
    }
    let mut said = std::collections::BTreeSet::new();
    notes.retain(|note| said.insert(note.clone()));
    // What a job asks for and does not get stays with the record, in the text of its plan.
    let told: String =
        notes.iter().map(|note| format!("# {}\n", note.replace(char::is_control, " "))).collect();
    let unlink = jobs.iter().all(|job| job.files.unlink);
    Ok(Arrangement {
        translated: TranslatedJob { plan: told + &plan.text(), targets, notes },
        phases,
        unlink,
    })
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
fn together(jobs: &[Job]) -> Result<Vec<Vec<usize>>, Refusal> {
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
    Ok(phases)
}

/// What the jobs of a phase share of their times. What they do not share each of them says itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Times {
    /// Before any of them.
    pause_ns: u64,
    /// Of all of them.
    run_ns: Option<u64>,
    /// Of all of them.
    ramp_ns: u64,
    /// Whether run and ramp are shared.
    is_one: bool,
    /// Whether the pause is.
    is_one_start: bool,
}

impl Times {
    fn of(jobs: &[Job], phase: &[usize]) -> Times {
        let lengths = || phase.iter().map(|index| jobs[*index].length);
        let first = jobs[phase[0]].length;
        let is_one = lengths().all(|length| (length.run_ns, length.ramp_ns) == (first.run_ns, first.ramp_ns));
        let starts = || lengths().flat_map(|length| [length.delay_ns, length.delay_most_ns]);
        let is_one_start = starts().all(|delay| delay == first.delay_ns);
        Times {
            pause_ns: if is_one_start { first.delay_ns } else { 0 },
            run_ns: first.run_ns.filter(|_| is_one),
            ramp_ns: if is_one { first.ramp_ns } else { 0 },
            is_one,
            is_one_start,
        }
    }

    /// Lets each of `members` say what they do not share. A clone draws its delay from the seed and its own name.
    fn tell(self, jobs: &[Job], members: &mut [Member], seed: u64) {
        for member in members {
            let length = jobs[member.job].length;
            if !self.is_one {
                member.keys.extend(length.run_ns.map(|run| ("run", time(run))));
                if length.ramp_ns > 0 {
                    member.keys.push(("warmup", time(length.ramp_ns)));
                }
            }
            let delay = drawn_within(seed, &member.name, length.delay_ns, length.delay_most_ns);
            if !self.is_one_start && delay > 0 {
                member.keys.push(("start", time(delay)));
            }
        }
    }
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

/// Words on jobs that end others.
fn exits(jobs: &[Job], phase: &[usize]) -> Result<Vec<String>, Refusal> {
    let mut notes = Vec::new();
    let has_groups = phase.iter().skip(1).any(|index| jobs[*index].new_group);
    for job in phase.iter().map(|index| &jobs[*index]) {
        if job.options.flag("exitall")? != Some(true) {
            continue;
        }
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

fn forgets_of(job: &Job) -> Result<bool, Refusal> {
    let invalidates = job.options.flag("invalidate")?.unwrap_or(true);
    let reads = (job.rw.has[READ] || job.replay.is_some()) && job.engine.name != "null" && job.tree.is_none();
    Ok(!is_direct(&job.options)? && invalidates && reads)
}

/// A job that goes through its files more than once opens them anew for each pass, and the page cache forgets them: so many
/// requests are a pass.
fn passes(job: &Job) -> Result<Option<u32>, Refusal> {
    let comes_again = job.options.flag("time_based")? == Some(true) || job.options.count("loops")? > Some(1);
    let may_reopen = matches!(job.engine.name, "pread" | "preadv2" | "auto" | "io_uring");
    if !comes_again || !may_reopen || !forgets_of(job)? {
        return Ok(None);
    }
    let mut sizes = (0..3).filter(|op| job.rw.has[*op]).flat_map(|op| &job.sizes[op]).map(|(size, _)| *size);
    let Some(size) = sizes.next().filter(|first| sizes.all(|size| size == *first)) else { return Ok(None) };
    let requests = job.region.total.map(|total| total / size).filter(|requests| *requests > 0);
    Ok(requests.and_then(|requests| u32::try_from(requests).ok()))
}

/// One workload of a phase.
pub(super) struct Member {
    pub job: usize,
    pub name: String,
    /// With their values as TOML.
    pub keys: Vec<Key>,
    /// Whether its figures belong to those of the one before it.
    pub joins: bool,
}

/// Where within targets that were named outside the place of each job's own files begins.
fn bases(jobs: &[Job]) -> Vec<u64> {
    let mut known: Vec<(&str, u64)> = Vec::new();
    let mut next: u64 = 0;
    let mut bases = Vec::new();
    for job in jobs {
        // Jobs of one name have the same files.
        let before = known.iter().find(|(name, _)| *name == job.section);
        let base = before.map_or(next, |(_, base)| *base);
        if let (true, Some(Amount::Bytes(span))) = (job.files.apart, job.region.span) {
            next = next.max(base.saturating_add(span.saturating_mul(job.clones.into())));
            known.push((&job.section, base));
        }
        bases.push(if job.files.apart { base } else { 0 });
    }
    bases
}

fn phase_members(
    jobs: &[Job],
    phase: &[usize],
    targets: &[String],
    bases: &[u64],
) -> Result<Vec<Member>, Refusal> {
    let mut members: Vec<Member> = Vec::new();
    for index in phase {
        let job = &jobs[*index];
        let first = members.len();
        match as_one(job) {
            true => members.extend(parts(job, *index, None, targets, bases[*index])?),
            false => {
                for clone in 0..job.clones {
                    members.extend(parts(job, *index, Some(clone), targets, bases[*index])?);
                    if members.len() > MOST_WORKLOADS {
                        return Err(too_many(job));
                    }
                }
            }
        }
        if members.len() > MOST_WORKLOADS {
            return Err(too_many(job));
        }
        // Random choices follow from the name, so it must be one and the same from run to run, and unique.
        for position in first..members.len() {
            let (before, own) = members.split_at_mut(position);
            let is_taken = |name: &str| before.iter().any(|other| other.name == name);
            let name = &mut own[0].name;
            if is_taken(name) {
                let mut others = (2..).map(|number: usize| format!("{name} ({number})"));
                let free =
                    others.find(|other| !is_taken(other)).expect("there are more of them than members");
                *name = free;
            }
        }
    }
    Ok(members)
}

/// The workload of a job or clone, or of its reads and its writes where only one of them has a rate.
fn parts(
    job: &Job,
    index: usize,
    clone: Option<u32>,
    targets: &[String],
    base: u64,
) -> Result<Vec<Member>, Refusal> {
    let Some(halves) = &job.halves else { return Ok(vec![member(job, index, clone, targets, base)?]) };
    let [reads, writes] = &**halves;
    let first = member(reads, index, clone, targets, base)?;
    let mut second = member(writes, index, clone, targets, base)?;
    second.name += ", writes";
    second.joins = true;
    Ok(vec![first, second])
}

fn too_many(job: &Job) -> Refusal {
    let what = format!(
        "{MOST_WORKLOADS} jobs at most run together where each is reported apart or streams through files of \
         others; group_reporting lets random clones of one job count as one"
    );
    job.options
        .get("numjobs")
        .map_or_else(|| job.origin.refuse(what.clone()), |each| each.unsupported(what.clone()))
}

/// Whether all clones of a job are one workload: their figures are reported together, and each does the same in
/// files of its own, or anywhere in the same.
fn as_one(job: &Job) -> bool {
    let is_told_apart = job.length.delay_ns != job.length.delay_most_ns
        || job.logs.is_any()
        || job.keys.iter().any(|(key, _)| *key == "iolog");
    let own_files = !job.files.shared
        || job.files.apart && job.files.each == 1 && matches!(job.region.span, Some(Amount::Bytes(_)));
    let roams = job.rw.random && job.files.each == 1;
    // Each clone asks the whole trace.
    let may = job.grouped && job.region.increment == 0 && !is_told_apart && job.replay.is_none();
    job.clones == 1 || may && (own_files || roams || job.tree.is_some())
}

fn member(
    job: &Job,
    index: usize,
    clone: Option<u32>,
    targets: &[String],
    base: u64,
) -> Result<Member, Refusal> {
    let mut keys: Vec<Key> = Vec::new();
    let workers = if clone.is_some() { 1 } else { job.clones };
    // The name of a section may be blank, that of a workload may not.
    let name = if job.name.trim().is_empty() { "(no name)" } else { &job.name };
    let name = match clone {
        Some(clone) => format!("{name}.{clone}"),
        None => name.to_owned(),
    };
    if let Some(tree) = job.tree {
        return Ok(Member { job: index, name, keys: tree.keys(workers), joins: false });
    }
    if let Some(replay) = &job.replay {
        let keys = replayed(job, replay, clone, targets)?;
        return Ok(Member { job: index, name, keys, joins: false });
    }
    keys.push(("pattern", quoted(&job.places.pattern)));
    if let Some(random) = job.places.random {
        keys.push(("random", format!("\"{}%\"", figure(random))));
    }
    operations(job, &mut keys);
    area(job, clone.unwrap_or(0), base, &mut keys)?;
    if let (true, true, Some(Amount::Bytes(span))) = (workers > 1, job.files.apart, job.region.span) {
        keys.push(("worker_offset", size(span)));
    }
    files(job, clone, targets, &mut keys);
    if workers > 1 {
        keys.push(("workers", workers.to_string()));
    }
    if job.engine.depth > 1 {
        keys.push(("depth", job.engine.depth.to_string()));
    }
    keys.push(("engine", quoted(job.engine.name)));
    pace(job, workers, &mut keys);
    // Each block that is trimmed is written: fio does twice as much, too.
    let times = if job.rw.rewrites_trims() { 2 } else { 1 };
    let all = |each: u64| each.saturating_mul(times * u64::from(workers)).min(i64::MAX as u64);
    if let Some(bytes) = job.length.bytes {
        keys.push(("bytes", size(all(bytes))));
    }
    if let Some(requests) = job.length.requests {
        keys.push(("ops", all(requests).to_string()));
    }
    if let Some(passes) = job.length.passes {
        keys.push(("loops", passes.saturating_mul(times).min(u32::MAX.into()).to_string()));
    }
    if job.rw.consecutive > 1 {
        keys.push(("consecutive", job.rw.consecutive.to_string()));
        if job.options.text("rw_sequencer") == Some("identical") {
            keys.push(("repeat_offset", "true".into()));
        }
    }
    sequence(job, &mut keys)?;
    // The null engine has no page cache to bypass.
    keys.extend(job.keys.iter().filter(|(key, _)| *key != "direct" || job.engine.name != "null").cloned());
    // Each clone has a log of its own, the first one under the name that was said.
    if let Some((_, log)) = keys.iter_mut().find(|(key, _)| *key == "iolog")
        && let Some(clone) = clone.filter(|clone| *clone > 0)
        && let Some(path) = job.options.text("write_iolog")
    {
        *log = quoted(&format!("{path}.{clone}"));
    }
    Ok(Member { job: index, name, keys, joins: false })
}

/// How it goes on from request to request, and what ends it beside its own length.
fn sequence(job: &Job, keys: &mut Vec<Key>) -> Result<(), Refusal> {
    if let Some(requests) = passes(job)? {
        keys.extend([("reopen_every", requests.to_string()), ("reopen_cold", "true".into())]);
    }
    keys.extend(job.engine.low_water.map(|low| ("low_water", low.to_string())));
    let batches = [("submit_batch", job.engine.submit_batch), ("complete_batch", job.engine.complete_batch)];
    keys.extend(batches.into_iter().filter(|batch| batch.1 > 1).map(|(key, count)| (key, count.to_string())));
    keys.extend(job.flow.map(|flow| ("flow", flow.to_string())));
    keys.extend(job.steady.map(|steady| ("steady", quoted(&steady.to_string()))));
    if job.options.flag("exitall")? == Some(true) {
        keys.push(("exit_all", "true".into()));
    }
    Ok(())
}

/// What a clone does that asks a trace again.
fn replayed(job: &Job, replay: &Replay, clone: Option<u32>, targets: &[String]) -> Result<Vec<Key>, Refusal> {
    let mut keys = replay.keys.clone();
    files(job, clone, targets, &mut keys);
    if job.engine.depth > 1 {
        keys.push(("depth", job.engine.depth.to_string()));
    }
    keys.push(("engine", quoted(job.engine.name)));
    if let Some(requests) = job.length.requests {
        keys.push(("ops", requests.to_string()));
    }
    sequence(job, &mut keys)?;
    let own = ["align", "random", "flush_every"];
    keys.extend(job.keys.iter().filter(|(key, _)| !own.contains(key)).cloned());
    Ok(keys)
}

fn operations(job: &Job, keys: &mut Vec<Key>) {
    let (rw, reads) = (job.rw, job.reads_percent);
    let apart = job.places.random_of.is_some() || job.aligns_of.is_some();
    if !same_sizes(rw, &job.sizes) || apart {
        let line = |share: f64, op: usize| {
            let (of, sizes) = (if op == READ { 100 } else { 0 }, split(&job.sizes[op]));
            let random = job.places.random_of.map(|random| format!(", random = \"{}%\"", figure(random[op])));
            let align = job.aligns_of.map(|align| format!(", align = {}", size(align[op])));
            let (random, align) = (random.unwrap_or_default(), align.unwrap_or_default());
            format!("{{ share = {}, size = {sizes}, reads = \"{of}%\"{random}{align} }}", figure(share))
        };
        let lines = [(reads, READ), (100.0 - reads, WRITE)];
        let lines = lines.iter().filter(|(share, _)| *share > 0.0);
        let lines: Vec<String> = lines.map(|(share, op)| line(*share, *op)).collect();
        keys.push(("mix", format!("[{}]", lines.join(", "))));
        return;
    }
    let op = (0..3).find(|op| rw.has[*op]).unwrap_or(READ);
    keys.push(("size", split(&job.sizes[op])));
    match op {
        _ if rw.rewrites_trims() => {
            let all = |key: &'static str| (key, "\"100%\"".to_owned());
            keys.extend([("reads", "\"0%\"".into()), all("trims"), all("rewrites")]);
        }
        TRIM => keys.extend([("reads", "\"0%\"".into()), ("trims", "\"100%\"".into())]),
        _ if reads < 100.0 => keys.push(("reads", format!("\"{}%\"", figure(reads)))),
        _ => {}
    }
}

fn split(sizes: &Sizes) -> String {
    match &sizes[..] {
        [(one, _)] => size(*one),
        sizes => {
            let entry = |(one, weight): &(u64, f64)| format!("{} = {}", size(*one), figure(*weight));
            format!("{{ {} }}", sizes.iter().map(entry).collect::<Vec<_>>().join(", "))
        }
    }
}

/// A size as TOML.
fn size(bytes: u64) -> String {
    Bytes::new(bytes).toml()
}

/// A time as TOML.
fn time(ns: u64) -> String {
    Nanos::new(ns).toml()
}

fn area(job: &Job, clone: u32, base: u64, keys: &mut Vec<Key>) -> Result<(), Refusal> {
    let region = &job.region;
    // Places of clones within one target follow each other as their files would lie apart.
    let step = match region.span {
        Some(Amount::Bytes(span)) if job.files.apart => span,
        _ => 0,
    };
    let moved = base.saturating_add(region.increment.saturating_add(step).saturating_mul(clone.into()));
    match region.offset {
        Amount::Bytes(at) if at.saturating_add(moved) > 0 => {
            keys.push(("offset", size(at.saturating_add(moved))));
        }
        Amount::Bytes(_) => {}
        Amount::Percent(part) if moved == 0 => keys.push(("offset", format!("\"{}%\"", figure(part)))),
        Amount::Percent(_) => {
            let setting = job.options.get("offset").expect("it is a percentage");
            return Err(setting.unsupported("what moves from clone to clone wants an offset in bytes"));
        }
    }
    let joined = if job.files.service == Service::RoundRobin { 1 } else { job.files.each as u64 };
    match region.span {
        Some(Amount::Bytes(span)) => keys.push(("span", size(span.saturating_mul(joined)))),
        Some(Amount::Percent(part)) => keys.push(("span", format!("\"{}%\"", figure(part)))),
        None => {}
    }
    Ok(())
}

fn files(job: &Job, clone: Option<u32>, targets: &[String], keys: &mut Vec<Key>) {
    let names: Vec<&String> = match clone {
        Some(clone) => job.files.of_clone[clone as usize].iter().collect(),
        None if job.files.shared => job.files.of_clone[0].iter().collect(),
        None => job.files.of_clone.iter().flatten().collect(),
    };
    let number = |name: &String| 1 + targets.iter().position(|target| target == name).unwrap_or(0);
    let numbers: Vec<usize> = names.into_iter().map(number).collect();
    let takes_turns = job.files.each > 1 && job.files.service == Service::RoundRobin;
    if takes_turns || (clone.is_none() && !job.files.shared && job.clones > 1) {
        keys.push(("files", format!("\"per_worker({})\"", job.files.each)));
    }
    if numbers.len() < targets.len() || !numbers.iter().copied().eq(1..=targets.len()) {
        let list: Vec<String> = numbers.iter().map(usize::to_string).collect();
        keys.push(("on", format!("\"{}\"", list.join(","))));
    }
}

fn pace(job: &Job, workers: u32, keys: &mut Vec<Key>) {
    let pace = match job.pace {
        Pace::Closed => return,
        Pace::Think { ns, blocks: 1 } if job.engine.depth == 1 => {
            format!("think({})", Nanos::new(ns).exact())
        }
        Pace::Spells { ns, busy_ns } => {
            format!("think({}, {})", Nanos::new(ns).exact(), Nanos::new(busy_ns).exact())
        }
        Pace::Think { ns, blocks } => format!("think({}, {blocks})", Nanos::new(ns).exact()),
        Pace::Rate { per_second, poisson } => {
            let law = if poisson { ", poisson" } else { "" };
            format!("rate({}/s{law})", figure(per_second * f64::from(workers)))
        }
    };
    keys.push(("pace", quoted(&pace)));
}

fn write_phase(plan: &mut PlanText, first: &Job, number: usize, times: Times, members: &[Member]) {
    let ramp = (times.ramp_ns > 0).then_some(Nanos::new(times.ramp_ns));
    let keys = Keys::named(&braced(&phase_name(first, number)));
    plan.phase(keys.maybe("run", times.run_ns.map(Nanos::new)).maybe("warmup", ramp));
    write_members(plan, members);
}

fn write_members(plan: &mut PlanText, members: &[Member]) {
    for member in members {
        plan.workload(Keys::named(&member.name).and(member.keys.iter().cloned()));
    }
}

/// Numbered, because names stand once and those of fio's jobs may come again.
fn phase_name(first: &Job, number: usize) -> String {
    format!("{}: {}", number + 1, first.name)
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
        let begins = if position == 0 { number > 0 } else { job.new_group };
        *group += u32::from(begins);
        for member in members.iter().filter(|member| member.job == *index) {
            match reported.last_mut() {
                Some(last) if member.joins || job.grouped && last.group == *group => {
                    last.workloads.push(member.name.clone());
                }
                _ => reported.push(Reported {
                    job: *index,
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
