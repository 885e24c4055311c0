//! Which requests a job asks for: operations, sizes, places.

use units::convert::narrow;
use workload::plan::text::{LARGEST_REQUEST, MOST_SIZES};

use crate::Refusal;

use super::distribution::{aged, distribution, is_aged};
use super::section::Setting;
use super::settings::Options;
use super::value;

/// Operations by their place in fio's lists of three.
pub(super) const READ: usize = 0;
pub(super) const WRITE: usize = 1;
pub(super) const TRIM: usize = 2;

/// What `rw` says.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Rw {
    /// Which operations there are.
    pub has: [bool; 3],
    pub random: bool,
    /// After each request of a stream so many bytes are left out, or gone back.
    pub skip: i64,
    /// Requests that follow each other from each random place.
    pub consecutive: u32,
}

/// Sizes of one operation with their weights.
pub(super) type Sizes = Vec<(u64, f64)>;

/// Where requests go, as a pattern of a plan's language.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Places {
    pub pattern: String,
    /// The part that goes there in percent; the others go on where the last one ended.
    pub random: Option<f64>,
    /// Likewise of reads and of writes, where they differ.
    pub random_of: Option<[f64; 2]>,
}

impl Rw {
    /// fio's default: a stream of reads.
    pub(super) const READS: Rw = Rw { has: [true, false, false], random: false, skip: 0, consecutive: 1 };

    pub(super) fn read(options: &Options) -> Result<Rw, Refusal> {
        let Some(setting) = options.get("rw") else {
            return Ok(Rw::READS);
        };
        let (word, skip) = match setting.value.split_once(':') {
            Some((word, skip)) => (word, Some(skip)),
            None => (setting.value.as_str(), None),
        };
        let (has, random) = match word {
            "read" => ([true, false, false], false),
            "write" => ([false, true, false], false),
            "trim" => ([false, false, true], false),
            "rw" | "readwrite" => ([true, true, false], false),
            "randread" => ([true, false, false], true),
            "randwrite" => ([false, true, false], true),
            "randtrim" => ([false, false, true], true),
            "randrw" => ([true, true, false], true),
            // Newer job files name the engine that moves no data once more.
            word if word.starts_with("file") && options.text("ioengine") == Some(word) => {
                ([true, false, false], false)
            }
            "trimwrite" => ([false, true, true], false),
            "randtrimwrite" => ([false, true, true], true),
            _ => {
                return Err(setting.wrong(
                    "read, write, trim, rw, trimwrite, or randread, randwrite, randtrim, randrw, randtrimwrite",
                ));
            }
        };
        let mut consecutive = 1;
        let skip = match skip {
            None => 0,
            Some(count) if random => {
                let count = value::count(count).map_err(|want| setting.wrong(want))?;
                consecutive =
                    u32::try_from(count.max(1)).map_err(|_| setting.wrong("fewer requests in a row"))?;
                0
            }
            Some(skip) => signed(options, skip).map_err(|want| setting.wrong(want))?,
        };
        Ok(Rw { has, random, skip, consecutive })
    }

    /// Whether it both reads and writes.
    pub(super) fn is_mixed(&self) -> bool {
        self.has[READ] && self.has[WRITE]
    }

    /// Whether each block is trimmed, then written.
    pub(super) fn rewrites_trims(&self) -> bool {
        self.has[TRIM] && self.has[WRITE]
    }

    /// Whether anything on the target changes.
    pub(super) fn changes(&self) -> bool {
        self.has[WRITE] || self.has[TRIM]
    }
}

fn signed(options: &Options, text: &str) -> Result<i64, String> {
    let (negative, digits) = text.strip_prefix('-').map_or((false, text), |digits| (true, digits));
    let size = i64::try_from(options.base.size(digits)?).map_err(|_| format!("`{text}` is too large"))?;
    Ok(if negative { -size } else { size })
}

/// Words for the user where a stream is not quite fio's.
pub(super) fn note(rw: Rw) -> Option<String> {
    let mixed = rw.is_mixed() && !rw.random;
    mixed.then(|| {
        "reads and writes of one stream share its place: fio keeps one for each, so that its writes pass over what its \
         reads have passed; two jobs with a rate each do the same"
            .into()
    })
}

/// The part of reads among reads and writes, in percent.
pub(super) fn reads_percent(options: &Options, rw: Rw) -> Result<f64, Refusal> {
    if !rw.is_mixed() {
        return Ok(if rw.has[READ] { 100.0 } else { 0.0 });
    }
    let (read, write) = (options.share("rwmixread")?, options.share("rwmixwrite")?);
    let last = |one: &str, other: &str| {
        let position = |name: &str| options.all().position(|setting| setting.known.name == name);
        position(one) > position(other)
    };
    Ok(match (read, write) {
        (None, None) => 50.0,
        (Some(read), None) => read,
        (None, Some(write)) => 100.0 - write,
        // What was said last holds, where they do not make up 100.
        (Some(read), Some(write)) if last("rwmixread", "rwmixwrite") || read + write == 100.0 => read,
        (Some(_), Some(write)) => 100.0 - write,
    })
}

/// Whether places are drawn again before all were visited.
pub(super) fn may_repeat(options: &Options) -> Result<bool, Refusal> {
    let is_skewed = is_aged(options)?
        || options.text("random_distribution").is_some_and(|law| !law.starts_with("random"));
    Ok(is_skewed || is_without_map(options)?)
}

/// Whether nothing notes which blocks were visited. As in fio no map goes with a `blockalign` other than the smallest size of
/// a direction, be it one that the job does not ask for.
fn is_without_map(options: &Options) -> Result<bool, Refusal> {
    let (aligns, sizes) =
        (super::keys::given_aligns(options)?, sizes(options, Rw::read(options)?, &mut Vec::new())?);
    let differs = |(align, sizes): (Option<u64>, &Sizes)| align.is_some_and(|align| align != smallest(sizes));
    Ok(options.flag("norandommap")? == Some(true) || aligns.into_iter().zip(&sizes).any(differs))
}

pub(super) fn smallest(sizes: &Sizes) -> u64 {
    sizes.iter().map(|(size, _)| *size).min().unwrap_or(1)
}

/// The sizes of reads, writes and trims.
pub(super) fn sizes(options: &Options, rw: Rw, notes: &mut Vec<String>) -> Result<[Sizes; 3], Refusal> {
    let parts = |text: &str| match options.base.size(text)? {
        whole if whole > LARGEST_REQUEST.get() && rw.has == [false, false, true] => trimmed_in_parts(whole),
        _ => block(options, text),
    };
    if let Some(setting) = options.get("bs").filter(|_| rw.has == [false, false, true]) {
        let whole = options.base.size(setting.value.rsplit(',').next().unwrap_or_default()).unwrap_or(0);
        if whole > LARGEST_REQUEST.get() {
            notes.push(format!(
                "trims of {whole} bytes go to the kernel in parts of less than 2 GiB, each counted"
            ));
        }
    }
    let fixed = options.three("bs", parts)?;
    let fixed = fixed.map(|size| vec![(size.unwrap_or(4096), 1.0)]);
    let ranges = options.three("bsrange", |text| range(options, text))?;
    let splits = match options.get("bssplit") {
        Some(setting) => split_of_three(options, setting)?,
        None => [None, None, None],
    };
    let mut sizes = fixed;
    for (slot, given) in sizes.iter_mut().zip(ranges) {
        *slot = given.unwrap_or_else(|| std::mem::take(slot));
    }
    for (slot, given) in sizes.iter_mut().zip(splits) {
        *slot = given.unwrap_or_else(|| std::mem::take(slot));
    }
    if options.flag("bs_is_seq_rand")? == Some(true) {
        let of_all = sizes[if rw.random { WRITE } else { READ }].clone();
        check_one_way(options, rw, &sizes)?;
        sizes = [of_all.clone(), of_all.clone(), of_all];
    }
    assert!(sizes.iter().all(|of| !of.is_empty()), "each operation has a size");
    // Each block is written as it was trimmed.
    if rw.rewrites_trims() {
        sizes[WRITE] = sizes[TRIM].clone();
    }
    Ok(sizes)
}

/// With `bs_is_seq_rand` the sizes of reads are those of streams and the sizes of writes those of random requests: all of a
/// job are one or the other.
fn check_one_way(options: &Options, rw: Rw, sizes: &[Sizes; 3]) -> Result<(), Refusal> {
    let Some(setting) = options.get("percentage_random").filter(|_| rw.random) else { return Ok(()) };
    let parts = options.three("percentage_random", value::share)?;
    let is_mixed = parts.into_iter().flatten().any(|part| part < 100.0);
    match is_mixed && sizes[READ] != sizes[WRITE] {
        true => Err(setting.unsupported(
            "with bs_is_seq_rand requests of one job that are partly random would have two sizes; write two jobs",
        )),
        false => Ok(()),
    }
}

/// The size of a request.
fn block(options: &Options, text: &str) -> Result<u64, String> {
    match options.base.size(text)? {
        0 => Err("a request of no bytes".into()),
        size if size > LARGEST_REQUEST.get() => {
            Err("a size below 2 GiB, the most that the kernel takes at once".into())
        }
        size => Ok(size),
    }
}

/// A trim that is longer than a request can be: equal parts of at most 1 GiB.
fn trimmed_in_parts(whole: u64) -> Result<u64, String> {
    let parts = whole.div_ceil(1 << 30);
    let even = (parts..parts.saturating_mul(4))
        .find(|parts| whole.is_multiple_of(*parts) && (whole / parts).is_multiple_of(4096));
    even.map(|parts| whole / parts).ok_or_else(|| "a size that divides into parts below 2 GiB".into())
}

/// `1k-16k` or `1k:16k`: every multiple of the smallest one up to the largest, with `bs_unaligned` every size between, each as
/// often; where they are more than a workload can have, as many of them as it can, spread evenly.
fn range(options: &Options, text: &str) -> Result<Sizes, String> {
    let wrong = || format!("`{text}` is not a range of sizes such as 4k-64k; one size is `bs`");
    let ends = text.split_once(['-', ':']).filter(|(one, other)| !one.is_empty() && !other.is_empty());
    let (one, other) = ends.ok_or_else(wrong)?;
    let (one, other) = (block(options, one)?, block(options, other)?);
    // In any order, as in fio.
    let (low, high) = (one.min(other), one.max(other));
    let unit = if options.flag("bs_unaligned").ok().flatten() == Some(true) { 1 } else { low };
    // Beyond the smallest one.
    let steps = (high - low) / unit;
    let most = MOST_SIZES as u64;
    let spread = |place: u64| if steps < most { place } else { steps * place / (most - 1) };
    let sizes: Sizes = (0..=steps.min(most - 1)).map(|place| (low + unit * spread(place), 1.0)).collect();
    debug_assert!(sizes.is_sorted_by(|one, next| one.0 < next.0), "a range has each size once");
    debug_assert!(sizes.len() <= MOST_SIZES, "no range has more sizes than a workload can have");
    Ok(sizes)
}

fn split_of_three(options: &Options, setting: &Setting) -> Result<[Option<Sizes>; 3], Refusal> {
    let [reads, writes, trims] = value::three(&setting.value);
    let read = |text: Option<String>| {
        text.map(|text| split(options, &text).map_err(|want| setting.wrong(want))).transpose()
    };
    Ok([read(reads)?, read(writes)?, read(trims)?])
}

/// `4k/60:64k/40`; sizes without a share divide what is left of 100.
fn split(options: &Options, text: &str) -> Result<Sizes, String> {
    let mut sizes: Vec<(u64, Option<f64>)> = Vec::new();
    for part in text.split(':') {
        let (size, weight) = part.split_once('/').unwrap_or((part, ""));
        let weight = if weight.trim().is_empty() { None } else { Some(value::share(weight)?) };
        // The sizes of a range share its part.
        let several =
            if size.contains('-') { range(options, size)? } else { vec![(block(options, size)?, 1.0)] };
        let each = weight.map(|weight| weight / several.len() as f64);
        sizes.extend(several.into_iter().map(|(size, _)| (size, each)));
    }
    let said: f64 = sizes.iter().filter_map(|(_, weight)| *weight).sum();
    if said > 100.0 {
        return Err(format!("the shares sum to {said}, more than 100"));
    }
    let blank = sizes.iter().filter(|(_, weight)| weight.is_none()).count();
    let each = (100.0 - said) / blank.max(1) as f64;
    let mut merged: Sizes = Vec::new();
    for (size, weight) in sizes {
        let weight = weight.unwrap_or(each);
        match merged.iter_mut().find(|(known, _)| *known == size) {
            Some((_, known)) => *known += weight,
            None => merged.push((size, weight)),
        }
    }
    merged.retain(|(_, weight)| *weight > 0.0);
    match merged.len() {
        0 => Err("no size has a share".into()),
        count if count > MOST_SIZES => Err(format!("{count} sizes; at most {MOST_SIZES}")),
        _ => Ok(merged),
    }
}

impl Places {
    /// `size` is the one size of a stream that skips.
    pub(super) fn read(options: &Options, rw: Rw, size: Option<u64>) -> Result<Places, Refusal> {
        let zones = Strides::read(options)?;
        if !rw.random {
            let pattern = match zones {
                None => stream(options, rw, size)?,
                Some(zones) => zones.pattern(rw, size)?,
            };
            return Ok(Places { pattern, random: None, random_of: None });
        }
        if let Some(zones) = zones {
            return Err(zones.setting.unsupported(
                "random requests to one zone after the other; random_distribution=zoned_abs: has zones with a share \
                 each",
            ));
        }
        let percent = options.three("percentage_random", value::share)?;
        let percent = percent.map(|percent| percent.unwrap_or(100.0));
        let first = (0..3).find(|op| rw.has[*op]).map_or(100.0, |op| percent[op]);
        let differ = (0..3).any(|op| rw.has[op] && percent[op] != first);
        let random_of = (rw.is_mixed() && differ).then_some([percent[READ], percent[WRITE]]);
        if let (Some(setting), true, None) = (options.get("percentage_random"), differ, random_of) {
            return Err(setting.unsupported("trims and writes of one job are equally random; write two jobs"));
        }
        let random = (random_of.is_none() && first < 100.0).then_some(first);
        let pattern = match options.get("random_distribution") {
            _ if is_aged(options)? => aged(options, rw)?,
            Some(setting) => distribution(options, setting)?,
            None => uniform(options)?.into(),
        };
        Ok(Places { pattern, random, random_of })
    }
}

/// What `zonemode=strided` says: so much of each zone, one after the other.
struct Strides<'a> {
    setting: &'a Setting,
    /// Bytes moved before the next zone.
    moved: u64,
    /// From the start of a zone to the start of the next.
    step: u64,
    zone: u64,
}

impl Strides<'_> {
    fn read(options: &Options) -> Result<Option<Strides<'_>>, Refusal> {
        let moved = options.size("zonesize")?.filter(|size| *size > 0);
        let mode = options.get("zonemode");
        // A size of zones alone means strides.
        let setting = match (mode.map_or("", |mode| &mode.value), moved) {
            // What it says of zones is another matter.
            ("none" | "zbd", _) | ("", None) => return Ok(None),
            ("", Some(_)) => options.get("zonesize").expect("it has a value"),
            ("strided", _) => mode.expect("it has a value"),
            _ => return Err(mode.expect("it has a value").wrong("none, strided or zbd")),
        };
        let Some(moved) = moved else { return Err(setting.wrong("it goes with zonesize=")) };
        let zone = options.size("zonerange")?.filter(|size| *size > 0).unwrap_or(moved);
        let step = zone.saturating_add(options.size("zoneskip")?.unwrap_or(0));
        Ok(Some(Strides { setting, moved, step, zone }))
    }

    fn pattern(&self, rw: Rw, size: Option<u64>) -> Result<String, Refusal> {
        match size {
            _ if rw.skip != 0 => Err(self.setting.unsupported("it does not go with a modifier of rw=")),
            // No gaps, and nothing twice.
            Some(size) if self.step == self.moved && self.moved.is_multiple_of(size) => Ok("sequential".into()),
            Some(size) if size == self.moved && self.zone >= size => {
                Ok(format!("stride({})", units::Bytes::new(self.step).exact()))
            }
            Some(size) if self.moved.is_multiple_of(size) && self.step.is_multiple_of(size) && self.zone >= self.moved => {
                let exact = |bytes: u64| units::Bytes::new(bytes).exact();
                Ok(format!("stride({}, {})", exact(self.step), exact(self.moved)))
            }
            _ => Err(self.setting.unsupported(
                "a stream passes through whole requests of one size; say zonesize= and zoneskip= in multiples of one bs=",
            )),
        }
    }
}

/// Random places, with or without a map of those that were visited.
pub(super) fn uniform(options: &Options) -> Result<&'static str, Refusal> {
    // A shift register comes to each block once without a map.
    let is_register = match options.get("random_generator") {
        None => false,
        Some(setting) => match setting.value.as_str() {
            "lfsr" => true,
            "tausworthe" | "tausworthe64" => false,
            _ => return Err(setting.wrong("tausworthe, tausworthe64 or lfsr")),
        },
    };
    let repeats = is_without_map(options)? && !is_register;
    Ok(if repeats { "random(repeats)" } else { "random" })
}

fn stream(options: &Options, rw: Rw, size: Option<u64>) -> Result<String, Refusal> {
    if rw.skip == 0 {
        return Ok("sequential".into());
    }
    let setting = options.get("rw").expect("a skip is part of rw");
    let Some(size) = size else {
        return Err(setting.unsupported("a stream that skips has requests of one size; say bs="));
    };
    // The skip counts from the end of a request: minus two requests is the one before.
    if rw.skip == -2 * narrow::<i64>(size) {
        return Ok("reverse".into());
    }
    let exact = |step: u64| units::Bytes::new(step).exact();
    match u64::try_from(rw.skip) {
        // As in fio, each pass visits the same blocks.
        Ok(skip) => Ok(format!("stride({}, {})", exact(size.saturating_add(skip)), exact(size))),
        // Back from the end of a request, which is as much less from start to start.
        Err(_) if rw.skip.unsigned_abs() >= size.saturating_mul(2) => {
            Ok(format!("reverse({})", exact(rw.skip.unsigned_abs() - size)))
        }
        Err(_) => Err(setting.unsupported(format!(
            "each request would overlap the one before; go back by at least {} (rw=read:-{} here)",
            exact(size * 2),
            size * 2
        ))),
    }
}

/// A figure without the noise of binary fractions.
pub(super) fn figure(value: f64) -> String {
    let rounded = (value * 1e9).round() / 1e9;
    debug_assert!(rounded.is_finite(), "{value} is a figure of a plan");
    format!("{rounded}")
}
