//! What a job tells the kernel of its requests: their I/O priority, how they may be carried out, how long data lives.

use units::Bytes;

use crate::Refusal;

use super::access::{READ, Rw, WRITE, figure};
use super::section::Setting;
use super::settings::Options;
use super::value;

/// One that is not set.
const NO_CLASS: u64 = 0;
/// fio's default of cmdprio_class: real time.
const REAL_TIME: u64 = 1;

/// The keys, with their values as TOML. Figures are not divided by priority, of which `notes` has a word.
pub(super) fn keys(
    options: &Options,
    rw: Rw,
    notes: &mut Vec<String>,
) -> Result<Vec<(&'static str, String)>, Refusal> {
    let mut keys = Vec::new();
    keys.extend(own(options)?.map(|priority| ("io_priority", crate::quoted(&priority))));
    let rules = rules(options, rw)?;
    if !rules.is_empty() {
        check_engine(options)?;
        notes.push("figures are of all requests together, whatever their cmdprio".into());
        keys.push(("request_priority", crate::quoted(&rules.join(", "))));
    }
    for name in ["atomic", "nowait", "uncached"] {
        if options.flag(name)? == Some(true) {
            keys.push((name, "true".into()));
        }
    }
    flags_fit(options)?;
    if let Some(setting) = options.get("write_hint").filter(|setting| setting.value != "none") {
        if !["short", "medium", "long", "extreme"].contains(&setting.value.as_str()) {
            return Err(setting.wrong("none, short, medium, long or extreme"));
        }
        keys.push(("write_hint", crate::quoted(&setting.value)));
    }
    Ok(keys)
}

/// `prioclass`, `prio` and `priohint` of all requests.
fn own(options: &Options) -> Result<Option<String>, Refusal> {
    let [class, level, hint] = ["prioclass", "prio", "priohint"].map(|name| options.count(name));
    let (class, level, hint) = (class?.unwrap_or(NO_CLASS), level?.unwrap_or(0), hint?.unwrap_or(0));
    if (class, level, hint) == (NO_CLASS, 0, 0) {
        return Ok(None);
    }
    let names = ["prioclass", "prio", "priohint"];
    let setting = names.iter().find_map(|name| options.get(name)).expect("one of them has a value");
    priority(class, level, hint).map(Some).map_err(|want| setting.wrong(want))
}

/// A priority as a plan says it; the class that is not set is the usual one.
fn priority(class: u64, level: u64, hint: u64) -> Result<String, String> {
    let class = match class {
        0 | 2 => "be",
        1 => "rt",
        3 => "idle",
        _ => return Err("a class from 0 to 3: none, real time, best effort, idle".into()),
    };
    match (level, hint) {
        (0..=7, 0) => Ok(format!("{class}/{level}")),
        (0..=7, 1..=1023) => Ok(format!("{class}/{level}/{hint}")),
        (0..=7, _) => Err("a hint from 0 to 1023".into()),
        _ => Err("a level from 0, the highest, to 7".into()),
    }
}

/// The parts of reads and writes that have a priority of their own.
fn rules(options: &Options, rw: Rw) -> Result<Vec<String>, Refusal> {
    let mut rules = Vec::new();
    let of = |name: &str, op: usize, default: u64| -> Result<u64, Refusal> {
        Ok(options.three(name, value::count)?[op].unwrap_or(default))
    };
    let plain = |op: usize| -> Result<[u64; 3], Refusal> {
        Ok([of("cmdprio_class", op, REAL_TIME)?, of("cmdprio", op, 0)?, of("cmdprio_hint", op, 0)?])
    };
    if let Some(setting) = options.get("cmdprio_bssplit") {
        for (op, text) in
            value::three(&setting.value).into_iter().enumerate().take(2).filter(|(op, _)| rw.has[*op])
        {
            for entry in text.iter().flat_map(|text| text.split(':')) {
                rules.extend(sized(options, entry, op, plain(op)?).map_err(|want| setting.wrong(want))?);
            }
        }
    }
    let percent = options.three("cmdprio_percentage", value::share)?;
    if let (Some(setting), true) = (options.get("cmdprio_percentage"), !rules.is_empty())
        && percent.iter().flatten().any(|percent| *percent > 0.0)
    {
        return Err(setting.unsupported("cmdprio_bssplit= says it for each size; leave one of them out"));
    }
    for op in [READ, WRITE].into_iter().filter(|op| rw.has[*op]) {
        if let Some(percent) = percent[op].filter(|percent| *percent > 0.0) {
            let [class, level, hint] = plain(op)?;
            let setting = options.get("cmdprio_percentage").expect("it has a value");
            let priority = priority(class, level, hint).map_err(|want| setting.wrong(want))?;
            rules.push(format!("{}% of {} {priority}", figure(percent), name(op)));
        }
    }
    Ok(rules)
}

fn name(op: usize) -> &'static str {
    if op == READ { "reads" } else { "writes" }
}

/// `64k/25/1/1`: a size, the part of its requests, and what they have in place of `plain`.
fn sized(options: &Options, entry: &str, op: usize, plain: [u64; 3]) -> Result<Option<String>, String> {
    let parts: Vec<&str> = entry.split('/').map(str::trim).collect();
    let (size, percent, own) = match parts[..] {
        [size, percent, ref own @ ..] if own.len() <= 3 => (size, percent, own),
        _ => return Err(format!("`{entry}` is not a size and a share such as 64k/25, or 64k/25/1/0")),
    };
    let (size, percent) = (options.base.size(size)?, value::share(percent)?);
    let mut figures = plain;
    if let [class, rest @ ..] = own {
        figures = [value::count(class)?, 0, 0];
        for (figure, text) in figures[1..].iter_mut().zip(rest) {
            *figure = value::count(text)?;
        }
    }
    let priority = priority(figures[0], figures[1], figures[2])?;
    let size = Bytes::new(size).exact();
    Ok((percent > 0.0).then(|| format!("{}% of {} of {size} {priority}", figure(percent), name(op))))
}

/// As in fio, one request has a priority of its own only where it is handed to the kernel as such.
fn check_engine(options: &Options) -> Result<(), Refusal> {
    let names = ["cmdprio_bssplit", "cmdprio_percentage"];
    let setting = names.iter().find_map(|name| options.get(name)).expect("one of them has a value");
    match super::engine::name_of(options) {
        "io_uring" | "libaio" => Ok(()),
        _ => Err(setting.unsupported("it goes with ioengine=libaio or io_uring, as in fio")),
    }
}

/// Flags go with engines that pass them, and with direct I/O or without it.
fn flags_fit(options: &Options) -> Result<(), Refusal> {
    let set = |name: &str| -> Result<Option<&Setting>, Refusal> {
        let is_on = options.flag(name)? == Some(true);
        Ok(options.get(name).filter(|_| is_on))
    };
    let engine = super::engine::name_of(options);
    let passes = matches!(engine, "pvsync2" | "io_uring" | "libaio" | "null" | "cpp_null");
    for name in ["atomic", "nowait", "uncached"] {
        if let (Some(setting), false) = (set(name)?, passes) {
            return Err(setting.unsupported("it goes with ioengine=pvsync2, libaio or io_uring, as in fio"));
        }
    }
    let direct = super::keys::is_direct(options)?;
    match (set("atomic")?, set("uncached")?) {
        (Some(setting), _) if !direct => Err(setting.wrong("it goes with direct=1")),
        (_, Some(setting)) if direct => {
            Err(setting.wrong("direct I/O leaves nothing in the page cache anyway"))
        }
        _ => Ok(()),
    }
}
