//! Options that are a key of a plan by themselves: caches, durability, content, processors.

use units::{Bytes, Nanos, Share};
use workload::plan::{LatencyFigure, Slo, Time};

use crate::{JobEnvironment, Refusal};

use super::access::{READ, Rw, Sizes, WRITE};
use super::section::Setting;
use super::settings::Options;

/// The keys, with their values as TOML. What the user may expect and does not get goes to `notes`.
pub(super) fn plain(
    options: &Options,
    rw: Rw,
    sizes: &[Sizes; 3],
    environment: &JobEnvironment<'_>,
    notes: &mut Vec<String>,
) -> Result<Vec<(&'static str, String)>, Refusal> {
    let mut keys = Vec::new();
    keys.push(("direct", is_direct(options)?.to_string()));
    if is_mapped(options) && options.flag("direct")? == Some(true) {
        notes.push("direct=1: a mapping goes through the page cache all the same, as in fio".into());
    }
    align(options, rw, sizes, &mut keys)?;
    durability(options, rw, &mut keys)?;
    content(options, rw, environment, &mut keys)?;
    engine(options, &mut keys, notes)?;
    keys.extend(super::commands::keys(options, rw, notes)?);
    processors(options, &mut keys, notes)?;
    memory_policy(options, notes)?;
    refuse_idle(options, notes)?;
    keys.extend(super::priority::keys(options, rw, notes)?);
    Ok(keys)
}

/// Whether it works on a mapping, which is of the page cache whatever `direct` says.
pub(super) fn is_mapped(options: &Options) -> bool {
    matches!(options.text("ioengine"), Some("mmap" | "page_fault"))
}

/// Whether the page cache is bypassed: `direct=1`, or `buffered=0`; what was said last holds. Commands always bypass it.
pub(super) fn is_direct(options: &Options) -> Result<bool, Refusal> {
    if super::commands::are_sent(options) {
        return Ok(true);
    }
    if is_mapped(options) {
        return Ok(false);
    }
    let (direct, buffered) = (options.flag("direct")?, options.flag("buffered")?);
    Ok(direct.or(buffered.map(|buffered| !buffered)).unwrap_or(false))
}

fn align(
    options: &Options,
    rw: Rw,
    sizes: &[Sizes; 3],
    keys: &mut Vec<(&'static str, String)>,
) -> Result<(), Refusal> {
    let given = given_aligns(options)?;
    let active: Vec<Option<u64>> = (0..3).filter(|op| rw.has[*op]).map(|op| given[op]).collect();
    let first = active.first().copied().flatten();
    if aligns_of(options, rw, sizes)?.is_some() {
        return Ok(());
    }
    if let Some(setting) = options.get("ba")
        && !rw.is_mixed()
        && active.iter().any(|align| *align != first)
    {
        return Err(setting.unsupported("trims and writes of one job are aligned alike; write two jobs"));
    }
    if let Some(align) = first.filter(|_| rw.random) {
        keys.push(("align", format!("\"{}\"", Bytes::new(align).exact())));
        return Ok(());
    }
    // A stream that leaves something out begins where size and gap have a common measure.
    if let ([size], false, 1..) = (&sizes_of(rw, sizes)[..], rw.random, rw.skip.unsigned_abs()) {
        let common = gcd(*size, rw.skip.unsigned_abs());
        if common < *size {
            keys.push(("align", format!("\"{}\"", Bytes::new(common).exact())));
        }
        return Ok(());
    }
    // A stream of several sizes lies without gaps, so its requests begin where the sizes have a common measure.
    let all = || (0..3).filter(|op| rw.has[*op]).flat_map(|op| &sizes[op]).map(|(size, _)| *size);
    let common = all().fold(0, gcd);
    if !rw.random && all().min() != Some(common) {
        keys.push(("align", format!("\"{}\"", Bytes::new(common).exact())));
    }
    Ok(())
}

/// The different sizes of its operations.
fn sizes_of(rw: Rw, sizes: &[Sizes; 3]) -> Vec<u64> {
    let mut all: Vec<u64> =
        (0..3).filter(|op| rw.has[*op]).flat_map(|op| &sizes[op]).map(|(size, _)| *size).collect();
    all.sort_unstable();
    all.dedup();
    all
}

pub(super) fn given_aligns(options: &Options) -> Result<[Option<u64>; 3], Refusal> {
    let given = options.three("ba", |text| options.base.size(text))?;
    Ok(given.map(|align| align.filter(|align| *align > 0)))
}

/// What offsets of random reads and writes are multiples of, where they differ: `ba`, or else the smallest size.
pub(super) fn aligns_of(options: &Options, rw: Rw, sizes: &[Sizes; 3]) -> Result<Option<[u64; 2]>, Refusal> {
    let given = given_aligns(options)?;
    let [reads, writes] =
        [READ, WRITE].map(|op| given[op].unwrap_or_else(|| super::access::smallest(&sizes[op])));
    if !rw.is_mixed() || !rw.random || reads == writes {
        return Ok(None);
    }
    let names = ["ba", "bssplit", "bsrange", "bs"];
    match names.iter().find_map(|name| options.get(name)) {
        Some(setting) if gcd(reads, writes) != reads.min(writes) => Err(setting.unsupported(format!(
            "places of reads at multiples of {} and of writes at multiples of {} do not fit together; say a \
             blockalign= for each of which one divides the other, or write two jobs",
            Bytes::new(reads).exact(),
            Bytes::new(writes).exact()
        ))),
        _ => Ok(Some([reads, writes])),
    }
}

pub(super) fn gcd(one: u64, other: u64) -> u64 {
    if other == 0 { one } else { gcd(other, one % other) }
}

fn durability(options: &Options, rw: Rw, keys: &mut Vec<(&'static str, String)>) -> Result<(), Refusal> {
    if let Some(setting) = options.get("sync") {
        match setting.value.as_str() {
            "0" | "none" => {}
            "" | "1" | "sync" => keys.push(("sync", "\"sync\"".into())),
            "dsync" => keys.push(("sync", "\"dsync\"".into())),
            _ => return Err(setting.wrong("none, sync or dsync")),
        }
    }
    let (all, data) = (options.count32("fsync")?.unwrap_or(0), options.count32("fdatasync")?.unwrap_or(0));
    let out = set_out_every(options)?;
    if [all, data, out].iter().filter(|every| **every > 0).count() > 1 {
        let names = ["sync_file_range", "fdatasync"];
        let setting = names.iter().find_map(|name| options.get(name)).expect("one of them has a value");
        return Err(setting.unsupported("one kind of flush after every so many writes; leave the others out"));
    }
    let at_end = options.flag("end_fsync")? == Some(true) || options.flag("fsync_on_close")? == Some(true);
    let at_end = at_end || options.flag("end_syncfs")? == Some(true);
    if !rw.changes() {
        return Ok(());
    }
    if all + data + out > 0 {
        keys.push(("flush_every", (all + data + out).to_string()));
    }
    if out > 0 && at_end {
        let setting = options.get("sync_file_range").expect("it has a value");
        return Err(setting.unsupported("one kind of flush; leave it or the flush at the end out"));
    }
    if out > 0 {
        keys.push(("flush", "\"sync_file_range\"".into()));
    } else if all > 0 || at_end {
        keys.push(("flush", if data > 0 { "\"fdatasync\"" } else { "\"fsync\"" }.into()));
    }
    if at_end {
        keys.push(("flush_at_end", "true".into()));
    }
    Ok(())
}

/// After how many writes `sync_file_range` lets them set out; 0 is never.
fn set_out_every(options: &Options) -> Result<u32, Refusal> {
    let Some(setting) = options.get("sync_file_range") else { return Ok(0) };
    let Some((flags, every)) = setting.value.rsplit_once(':') else {
        return Err(setting.wrong("a kind and a number of writes such as write:8"));
    };
    let flags: Vec<&str> = flags.split(',').map(str::trim).collect();
    if let Some(flag) = flags.iter().find(|flag| !["write", "wait_before", "wait_after"].contains(*flag)) {
        return Err(setting.wrong(format!("`{flag}` is none of write, wait_before and wait_after")));
    }
    let every = super::value::count(every).ok().and_then(|every| u32::try_from(every).ok());
    let every = every.ok_or_else(|| setting.wrong("a number of writes after the colon, such as write:8"))?;
    match flags[..] {
        _ if every == 0 => Ok(0),
        ["write"] => Ok(every),
        _ => Err(setting
            .unsupported("it starts with `write` and waits for nothing, as write:N; fdatasync=N waits")),
    }
}

fn content(
    options: &Options,
    rw: Rw,
    environment: &JobEnvironment<'_>,
    keys: &mut Vec<(&'static str, String)>,
) -> Result<(), Refusal> {
    if !rw.changes() {
        return Ok(());
    }
    let is_compressed = options.share("buffer_compress_percentage")?.is_some_and(|percent| percent > 0.0);
    // Beside a percentage the pattern is only what the part that compresses repeats.
    let pattern =
        options.get("verify_pattern").or_else(|| options.get("buffer_pattern").filter(|_| !is_compressed));
    if let Some(setting) = pattern {
        let bytes = super::pattern::bytes(&setting.value, environment).map_err(|want| setting.wrong(want))?;
        keys.push(("content", pattern_text(&bytes)));
        return Ok(());
    }
    if options.flag("zero_buffers")? == Some(true) {
        keys.push(("content", "\"zeros\"".into()));
        return Ok(());
    }
    for (name, key) in [("buffer_compress_percentage", "compress"), ("dedupe_percentage", "dedupe")] {
        let Some(percent) = options.share(name)?.filter(|percent| *percent > 0.0) else { continue };
        if percent >= 100.0 && key == "compress" {
            keys.push(("content", "\"zeros\"".into()));
            return Ok(());
        }
        // 70 % that is compressed away leaves 30 %: one to 10/3.
        let ratio = (100.0 / (100.0 - percent)).min(1000.0);
        keys.push((key, format!("\"{}:1\"", super::access::figure(ratio))));
    }
    Ok(())
}

/// As TOML; nothing but zeros is a content of its own.
pub(super) fn pattern_text(bytes: &[u8]) -> String {
    match bytes.iter().all(|byte| *byte == 0) {
        true => "\"zeros\"".into(),
        false => format!("\"pattern({})\"", super::pattern::digits(bytes)),
    }
}

fn engine(
    options: &Options,
    keys: &mut Vec<(&'static str, String)>,
    notes: &mut Vec<String>,
) -> Result<(), Refusal> {
    let is_on = |name: &str| options.flag(name).map(|on| options.get(name).filter(|_| on == Some(true)));
    if let Some(setting) = is_on("sqthread_poll")? {
        match options.text("ioengine") {
            Some("io_uring") => keys.push(("sqpoll", "true".into())),
            _ => return Err(setting.unsupported("it goes with ioengine=io_uring")),
        }
    }
    if options.text("ioengine") == Some("sg") && is_on("hipri")?.is_some() {
        notes.push("hipri: SG_IO does not poll".into());
    } else if let Some(setting) = is_on("hipri")? {
        keys.extend(polling(setting, options)?);
    } else if let Some(setting) = options.get("hipri_percentage") {
        return Err(setting.unsupported("it goes with hipri=1 and ioengine=pvsync2"));
    }
    if let Some(setting) = options.get("iomem") {
        match setting.value.split(':').next().unwrap_or_default() {
            "malloc" | "mmap" | "shm" | "mmapshared" => {}
            "shmhuge" | "mmaphuge" => keys.push(("huge_pages", "true".into())),
            _ => return Err(setting.unsupported("malloc, mmap, shm, mmaphuge and shmhuge are")),
        }
    }
    Ok(())
}

/// How `hipri` is said: of a ring as a whole, of the calls of pvsync2 in the part that `hipri_percentage` says.
fn polling(hipri: &Setting, options: &Options) -> Result<Option<(&'static str, String)>, Refusal> {
    let part = options.share("hipri_percentage")?;
    if !is_direct(options)? {
        return Err(hipri.unsupported("only direct I/O can be polled for; it goes with direct=1"));
    }
    match (options.text("ioengine"), options.get("hipri_percentage")) {
        (Some("pvsync2"), _) => {
            let percent = part.unwrap_or(100.0);
            Ok((percent > 0.0).then(|| ("polled", format!("\"{}%\"", super::access::figure(percent)))))
        }
        (Some("io_uring" | "io_uring_cmd"), Some(setting)) if part != Some(100.0) => {
            Err(setting
                .unsupported("it goes with ioengine=pvsync2; with io_uring all requests are polled for"))
        }
        (Some("io_uring" | "io_uring_cmd"), _) => Ok(Some(("iopoll", "true".into()))),
        _ => Err(hipri.unsupported("it goes with ioengine=io_uring or pvsync2")),
    }
}

fn processors(
    options: &Options,
    keys: &mut Vec<(&'static str, String)>,
    notes: &mut Vec<String>,
) -> Result<(), Refusal> {
    if let Some(setting) = options.get("cpus_allowed") {
        match is_list(&setting.value) {
            true => keys.push(("cpus", format!("\"{}\"", setting.value))),
            false => return Err(setting.wrong("processors such as 0-3,8")),
        }
    } else if let Some(mask) = options.count("cpumask")? {
        let cpus: Vec<String> =
            (0..64).filter(|cpu| mask >> cpu & 1 == 1).map(|cpu: u32| cpu.to_string()).collect();
        keys.push(("cpus", format!("\"{}\"", cpus.join(","))));
    }
    if let Some(setting) = options.get("numa_cpu_nodes") {
        let is_list = setting.value == "all" || is_list(&setting.value);
        match setting.value.parse::<u32>() {
            Ok(node) => keys.push(("numa", node.to_string())),
            Err(_) if is_list => notes.push(format!(
                "numa_cpu_nodes={}: workers are kept on one node or on none; these may run anywhere",
                setting.value
            )),
            Err(_) => return Err(setting.wrong("nodes such as 0 or 0-1, or all")),
        }
    }
    Ok(())
}

/// Numbers and ranges of them.
fn is_list(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|each| each.is_ascii_digit() || matches!(each, ',' | '-'))
}

/// Where memory lies changes no request.
fn memory_policy(options: &Options, notes: &mut Vec<String>) -> Result<(), Refusal> {
    let Some(setting) = options.get("numa_mem_policy") else { return Ok(()) };
    let (mode, nodes) = match setting.value.split_once(':') {
        Some((mode, nodes)) => (mode, Some(nodes)),
        None => (setting.value.as_str(), None),
    };
    let is_known = match mode {
        "default" | "local" => true,
        "prefer" | "bind" | "interleave" => nodes.is_some_and(is_list),
        _ => false,
    };
    if !is_known {
        return Err(setting.wrong("default, local, prefer:NODE, bind:NODES or interleave:NODES"));
    }
    let own_node = options.text("numa_cpu_nodes").and_then(|node| node.parse::<u32>().ok());
    let is_own = own_node.is_some() && nodes.and_then(|node| node.parse().ok()) == own_node;
    if !matches!(mode, "default" | "local") && !is_own {
        notes.push(format!(
            "numa_mem_policy={}: buffers lie where the worker runs; numa_cpu_nodes= with one node keeps it there",
            setting.value
        ));
    }
    Ok(())
}

/// What is supported only where it asks for nothing.
fn refuse_idle(options: &Options, notes: &mut Vec<String>) -> Result<(), Refusal> {
    if let Some(setting) = options.get("rw_sequencer")
        && !matches!(setting.value.as_str(), "sequential" | "identical")
    {
        return Err(setting.wrong("sequential or identical"));
    }
    if options.text("cpus_allowed_policy") != Some("split") && options.get("cpus_allowed").is_some() {
        notes.push("each worker has a processor of its own, as with cpus_allowed_policy=split".into());
    }
    Ok(())
}

/// The SLO of `latency_target`; of all requests where `latency_percentile` does not say otherwise.
pub(super) fn slo(options: &Options) -> Result<Option<Slo>, Refusal> {
    let target_ns = options.time_ns("latency_target", super::value::Bare::Microseconds)?;
    let Some(target_ns) = target_ns.filter(|target| *target > 0) else { return Ok(None) };
    let percent = options.share("latency_percentile")?.unwrap_or(100.0);
    let Some(share) = Share::new(percent / 100.0).filter(|share| *share > Share::NONE) else {
        let setting = options.get("latency_percentile").expect("it is not what it is by itself");
        return Err(setting.wrong("above 0 and up to 100"));
    };
    let figure = LatencyFigure::Quantile(share);
    Ok(Some(Slo::Latency { of: None, time: Time::Response, figure, below: Nanos::new(target_ns) }))
}
