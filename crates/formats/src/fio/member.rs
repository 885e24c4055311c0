//! The workloads that a job becomes: one for all of its clones, or one for each.

use std::collections::BTreeSet;

use units::{Bytes, Nanos};
use workload::plan::MOST_WORKLOADS;

use crate::plan::{Key, Value};
use crate::{Refusal, quoted};

use super::access::{READ, Sizes, TRIM, WRITE, figure, smallest};
use super::arrange::forgets_of;
use super::files::Service;
use super::job::{Job, same_sizes};
use super::pace::Pace;
use super::replay::Replay;
use super::value::Amount;

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
pub(super) fn bases(jobs: &[Job]) -> Vec<u64> {
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

pub(super) fn phase_members(
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
    debug_assert!(
        members.iter().map(|member| &member.name).collect::<BTreeSet<_>>().len() == members.len(),
        "a name is that of one workload"
    );
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
    // Files that take no turns lie one behind the other, for one worker alone.
    let takes_turns = job.files.each == 1 || job.files.service == Service::RoundRobin;
    let own_files = !job.files.shared && takes_turns
        || job.files.apart && job.files.each == 1 && matches!(job.region.span, Some(Amount::Bytes(_)));
    let roams = job.rw.random && job.files.each == 1;
    // Each clone asks the whole trace.
    let is_told_apart = is_told_apart || !job.region.sizes.is_empty();
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
    assert!(clone.is_none_or(|clone| clone < job.clones), "a clone is one of its job's");
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
    let span = span_of(job, clone.unwrap_or(0))?;
    area(job, clone.unwrap_or(0), span, base, &mut keys)?;
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
    amounts(job, workers, span, &mut keys)?;
    let repeats = job.files.repeats(job.rw);
    if job.rw.consecutive > 1 || repeats > 1 {
        keys.push(("consecutive", (job.rw.consecutive as usize).max(repeats).to_string()));
        if repeats > 1 || job.options.text("rw_sequencer") == Some("identical") {
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

/// How much all of the clones move.
fn amounts(job: &Job, workers: u32, span: Option<Amount>, keys: &mut Vec<Key>) -> Result<(), Refusal> {
    // Each block that is trimmed is written: fio does twice as much, too.
    let times = if job.rw.rewrites_trims() { 2 } else { 1 };
    let all = |each: u64| each.saturating_mul(times * u64::from(workers)).min(i64::MAX as u64);
    if let Some(bytes) = bytes_of(job, span)? {
        keys.push(("bytes", size(all(bytes))));
    }
    if let Some(requests) = job.length.requests {
        keys.push(("ops", all(requests).to_string()));
        if job.length.is_ramped() {
            keys.push(("ops_after_warmup", "true".into()));
        }
    }
    if let Some(passes) = job.length.passes {
        keys.push(("loops", passes.saturating_mul(times).min(u32::MAX.into()).to_string()));
    }
    Ok(())
}

/// Pauses between requests, and what ends the workload other than its own length.
fn sequence(job: &Job, keys: &mut Vec<Key>) -> Result<(), Refusal> {
    if let Some(requests) = passes(job)? {
        keys.extend([("reopen_every", requests.to_string()), ("reopen_cold", "true".into())]);
    }
    keys.extend(job.engine.low_water.map(|low| ("low_water", low.to_string())));
    let batches = [("submit_batch", job.engine.submit_batch), ("complete_batch", job.engine.complete_batch)];
    keys.extend(batches.into_iter().filter(|batch| batch.1 > 1).map(|(key, count)| (key, count.to_string())));
    keys.extend(job.flow.map(|flow| ("flow", flow.to_string())));
    keys.extend(job.steady.map(|steady| ("steady", quoted(&steady.to_string()))));
    if super::pace::asks_nothing(&job.options) && job.options.flag("exit_on_io_done")? == Some(true) {
        keys.push(("end_with_others", "true".into()));
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
        assert!(!lines.is_empty(), "a mix has a line at least");
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
    assert!(!sizes.is_empty(), "a request has a size");
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

/// The part of each file that clone number `clone` uses.
fn span_of(job: &Job, clone: u32) -> Result<Option<Amount>, Refusal> {
    let span = job.region.span_of(clone);
    let least = (0..3).filter(|op| job.rw.has[*op]).map(|op| smallest(&job.sizes[op])).min().unwrap_or(1);
    match (span, job.options.get("offset_increment")) {
        (Some(Amount::Bytes(span)), Some(setting)) if span < least => {
            Err(setting.wrong(format!("room in filesize for a request of clone {clone}")))
        }
        _ => Ok(span),
    }
}

/// How much a clone moves that has `span` of each file: less than others where `filesize` leaves less of it.
fn bytes_of(job: &Job, span: Option<Amount>) -> Result<Option<u64>, Refusal> {
    let (Some(bytes), Some(Amount::Bytes(span))) = (job.length.bytes, span) else {
        return Ok(job.length.bytes);
    };
    if job.region.increment == 0 || job.options.get("io_size").is_some() {
        return Ok(Some(bytes));
    }
    let loops = job.options.count("loops")?.unwrap_or(1).max(1);
    Ok(Some(bytes.min(span.saturating_mul(job.files.each as u64).saturating_mul(loops))))
}

fn area(job: &Job, clone: u32, span: Option<Amount>, base: u64, keys: &mut Vec<Key>) -> Result<(), Refusal> {
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
    match span {
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
    debug_assert!(
        names.iter().all(|name| targets.contains(name)),
        "the files of a job are targets of the plan"
    );
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
            assert!(per_second > 0.0, "a rate is above zero");
            let rate = figure(per_second * f64::from(workers));
            if job.rw.is_mixed() {
                keys.push(("even_mix", "true".into()));
            }
            // fio's rate waits for a slot and catches up; its arrivals of Poisson are drawn, and nobody waits for them.
            if poisson { format!("rate({rate}/s, poisson)") } else { format!("cap({rate}/s)") }
        }
    };
    keys.push(("pace", quoted(&pace)));
}

/// A job that goes through its files more than once opens them anew for each pass, and the page cache forgets them: so many
/// requests are a pass.
fn passes(job: &Job) -> Result<Option<u32>, Refusal> {
    let comes_again = job.options.flag("time_based")? == Some(true) || job.options.count("loops")? > Some(1);
    // A socket has no page cache that would forget anything.
    let is_export = job.options.text("ioengine") == Some("nbd");
    let may_reopen =
        !is_export && matches!(job.engine.name, "pread" | "preadv2" | "splice" | "auto" | "io_uring");
    if !comes_again || !may_reopen || !forgets_of(job)? {
        return Ok(None);
    }
    let mut sizes = (0..3).filter(|op| job.rw.has[*op]).flat_map(|op| &job.sizes[op]).map(|(size, _)| *size);
    let Some(size) = sizes.next().filter(|first| sizes.all(|size| size == *first)) else { return Ok(None) };
    assert!(size > 0, "a request has a byte at least");
    let requests = job.region.total.map(|total| total / size).filter(|requests| *requests > 0);
    Ok(requests.and_then(|requests| u32::try_from(requests).ok()))
}
