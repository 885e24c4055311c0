//! `fathom array fit --spec DEVICE --trace FILE`: a device's description against a recording of the real device.

use array::demerit::{Arrives, Demerit, Interface, Replay, ReplayRequest};
use array::device::DeviceParams;
use array::spec::{self, DeviceSpec};
use serde::Serialize;
use units::convert::narrow;
use units::{Bytes, BytesPerSecond, Instant, Nanos, SECTOR_BYTES, Sectors};
use workload::Op;
use workload::trace::Recorded;

use crate::ending::Failure;
use crate::input::arrays::{self, LIBRARY, UserDevice};
use crate::input::traces;
use crate::output::{self, TreeFormat};

/// A trace may reach so much farther than the description says, or as far as its tracks hold: a description may count fewer
/// blocks than the drive has.
const BEYOND: f64 = 1.05;
/// A recording whose reads grow so much slower than the description's interface came over a slower bus.
const SLOWER: f64 = 0.9;
/// Disks of a recording that a message names.
const MOST_NAMES: usize = 8;
/// Writes of 4 KiB after which the buffer of a device counts as full, at most: 8 GiB.
const MOST_WRITES: usize = 1 << 21;
/// Requests of which a rate is printed.
const COUNTED: usize = 2_000;
/// Two rates that lie no farther apart are one.
const SAME: f64 = 0.05;
/// Shares of the requests that are shown.
const QUANTILES: [f64; 10] = [0.05, 0.1, 0.25, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99];

const _: () = {
    let mut at = 1;
    while at < QUANTILES.len() {
        assert!(QUANTILES[at - 1] < QUANTILES[at] && QUANTILES[at] < 1.0, "quantiles rise");
        at += 1;
    }
};

/// What was asked for.
pub struct DemeritInput<'a> {
    /// A name of the library, or a file: TOML, `.diskspecs`, `.parv`.
    pub spec: &'a str,
    /// The recording.
    pub trace: &'a str,
    /// The rate of the interface, where the user knows better.
    pub link: Option<BytesPerSecond>,
    /// The disk of the recording that the device was, where it has several.
    pub disk: Option<&'a str>,
    pub format: TreeFormat,
}

/// The answer as text or JSON, and the description that was used.
pub fn demerit(held: &DemeritInput<'_>) -> Result<(String, String), Failure> {
    let device = arrays::device(held.spec)?.ok_or_else(|| no_device(held.spec))?;
    let seen = look(held)?;
    let (device, read, notes) = described(held, device, &seen)?;
    let mut replay = Replay::new(&read.params);
    let mut from = None;
    traces::each(held.trace, |recorded| {
        if recorded.request.file != seen.disk {
            return Ok(());
        }
        if let Some(asked) = asked(&recorded, *from.get_or_insert(recorded.request.at)) {
            replay.ask(asked);
        }
        Ok(())
    })?;
    let demerit = replay.finish().ok_or_else(|| silent(held.trace))?;
    if demerit.means().0.is_zero() {
        let why = "every response time that it records is zero: there is no mean that a distance could be a share of; \
                   take a recording with response times";
        return Err(Failure::Usage(format!("{}: {why}", held.trace)));
    }
    let answer = Answer::of(held, &seen, &demerit, notes);
    let text = match held.format {
        TreeFormat::Text => answer.text(&demerit),
        TreeFormat::Json => output::json(&answer)?,
    };
    Ok((text, device.text))
}

/// Why there is no device of that name.
fn no_device(spec: &str) -> Failure {
    let reads = "`--spec` reads TOML (.toml) and DiskSim's .parv and .diskspecs, which takes in the .model and .seek beside it";
    let path = units::name::path(spec);
    let why = if !path.exists() {
        format!("there is no such device; {reads}, or takes a device of the library")
    } else if spec::is_path(spec) {
        format!("it describes no device: it has no `kind`; {reads}")
    } else {
        format!("a file of this ending is not read; {reads}; a path with another ending needs a `/` in it")
    };
    Failure::Usage(format!("{spec}: {why}"))
}

/// What a first reading of the trace shows of the disk that is asked for.
#[derive(Clone, Default)]
struct Seen {
    /// Its number.
    disk: u16,
    requests: u64,
    /// Without a response time, or neither a read nor a write.
    left_out: u64,
    closed: bool,
    extent: u64,
    interface: Interface,
}

fn look(held: &DemeritInput<'_>) -> Result<Seen, Failure> {
    let mut disks: Vec<Seen> = Vec::new();
    let names = traces::each(held.trace, |recorded| {
        let disk = recorded.request.file;
        while disks.len() <= usize::from(disk) {
            disks.push(Seen { disk: narrow::<u16>(disks.len()), ..Seen::default() });
        }
        disks[usize::from(disk)].take(&recorded);
        Ok(())
    })?;
    let chosen = chosen(held, &names)?;
    match disks.into_iter().nth(chosen) {
        Some(seen) if seen.requests > 0 => Ok(seen),
        _ => Err(silent(held.trace)),
    }
}

impl Seen {
    fn take(&mut self, recorded: &Recorded) {
        let Some(asked) = asked(recorded, Nanos::ZERO) else {
            self.left_out += 1;
            return;
        };
        self.requests += 1;
        self.closed |= recorded.think.is_some();
        self.extent = self.extent.max(asked.first + u64::from(asked.sectors));
        if !asked.write {
            self.interface.saw(asked.sectors, asked.measured);
        }
    }
}

/// Which of the disks of a recording, called `names`, is asked for: one device was one of them.
fn chosen(held: &DemeritInput<'_>, names: &[String]) -> Result<usize, Failure> {
    let shown =
        |name: &String| if name.is_empty() { "without a name".to_owned() } else { format!("`{name}`") };
    let there_are = || {
        let mut names: Vec<String> = names.iter().take(MOST_NAMES).map(shown).collect();
        names.extend((names.len() == MOST_NAMES).then(|| "others".to_owned()));
        names.join(", ")
    };
    match held.disk {
        None if names.len() <= 1 => Ok(0),
        None => {
            let why = format!(
                "{}: it has requests of {} disks, {}, and a device is one of them; choose it, as in `--disk {}`",
                held.trace,
                names.len(),
                there_are(),
                names[0]
            );
            Err(Failure::Usage(why))
        }
        Some(disk) => names.iter().position(|name| name == disk).ok_or_else(|| {
            Failure::Usage(format!("{}: it has no disk `{disk}`; there are {}", held.trace, there_are()))
        }),
    }
}

fn silent(trace: &str) -> Failure {
    let why = format!(
        "{trace}: no request has a recorded response time; take a trace of MSR Cambridge, one that DiskSim was \
         validated with, or a CSV with the column response_us"
    );
    Failure::Usage(why)
}

/// A read or write whose response time was recorded; `from` is when the trace begins.
fn asked(recorded: &Recorded, from: Nanos) -> Option<ReplayRequest> {
    let Recorded { request, response, think } = recorded;
    let write = match request.op {
        Op::Read => false,
        Op::Write => true,
        Op::Trim | Op::Flush => return None,
    };
    let first = request.offset.get() / SECTOR_BYTES;
    let end = (request.offset.get() + u64::from(request.len)).div_ceil(SECTOR_BYTES);
    let arrives = match think {
        Some(think) => Arrives::InTurn { think: *think },
        None => Arrives::At(Instant::START + request.at.saturating_sub(from)),
    };
    debug_assert!(first <= end, "a request ends behind its beginning");
    Some(ReplayRequest { first, sectors: narrow::<u32>(end - first), write, arrives, measured: (*response)? })
}

/// The device as the recording's host had it, and what was taken from the recording.
fn described(
    held: &DemeritInput<'_>,
    mut device: UserDevice,
    seen: &Seen,
) -> Result<(UserDevice, DeviceSpec, Vec<String>), Failure> {
    let mut notes = Vec::new();
    let rate = |sector_ns: f64| BytesPerSecond::new(SECTOR_BYTES as f64 * 1e9 / sector_ns);
    let shown = seen.interface.sector_ns().map(rate).filter(|_| seen.closed);
    if !device.states_link {
        let link = held.link.or(shown).ok_or_else(|| {
            let why = "the description leaves the speed of the interface to the host, and the trace does not show it";
            Failure::Usage(format!("{}: {why}; give it, as in `--link 10MB/s`", held.spec))
        })?;
        device.text = format!("link = \"{:.0}B/s\"\n{}", link.get(), device.text);
        if held.link.is_none() {
            notes.push(format!("interface: {link}, from the trace; the description leaves it to the host"));
        }
    }
    let (mut read, _) = spec::device_text(&LIBRARY, &device.label, &device.text)?;
    let end = seen.extent;
    if let DeviceParams::Rotating(drive) = &mut read.params {
        if let Some(link) = held.link {
            drive.link = link;
        } else if let Some(shown) = shown.filter(|shown| shown.get() < SLOWER * drive.link.get()) {
            notes.push(format!(
                "interface: {shown} as the trace shows it; the drive's own has {}",
                drive.link
            ));
            drive.link = shown;
        }
        let room = drive.capacity.0;
        let holds = (drive.raw().0 as f64).max(room as f64 * BEYOND);
        if end > room && end as f64 <= holds {
            let (reaches, holds) = (Sectors(end).bytes(), Sectors(room).bytes());
            notes.push(format!(
                "capacity: {reaches} as far as the trace reaches; the description has {holds}"
            ));
            drive.capacity.0 = end;
            read.capacity = drive.capacity;
        }
    }
    if end > read.capacity.0 {
        let (reaches, holds) = (Sectors(end).bytes(), read.capacity.bytes());
        let why = format!("{}: the trace reaches to {reaches}, and {} holds {holds}", held.trace, held.spec);
        return Err(Failure::Usage(why));
    }
    debug_assert!(
        device.states_link || device.text.starts_with("link = "),
        "a device has the speed of its interface"
    );
    Ok((device, read, notes))
}

/// The answer, for programs.
#[derive(Debug, Serialize)]
struct Answer {
    device: String,
    trace: String,
    requests: u64,
    left_out: u64,
    closed: bool,
    /// Share of the measured mean.
    demerit: f64,
    distance_ns: u64,
    mean_measured_ns: u64,
    mean_modelled_ns: u64,
    quantiles: Vec<Quantile>,
    /// Share of the squared distance in each tenth of the requests, fastest first.
    tenths: [f64; 10],
    notes: Vec<String>,
}

#[derive(Debug, Serialize)]
struct Quantile {
    share: f64,
    measured_ns: u64,
    modelled_ns: u64,
}

impl Answer {
    fn of(held: &DemeritInput<'_>, seen: &Seen, demerit: &Demerit, notes: Vec<String>) -> Answer {
        let (measured, modelled) = demerit.means();
        assert!(seen.requests > 0, "a demerit is of requests that were seen");
        debug_assert!(!measured.is_zero(), "a share of the mean is of one that is there");
        let quantile = |share| {
            let (measured, modelled) = demerit.quantile(share);
            Quantile { share, measured_ns: measured.get(), modelled_ns: modelled.get() }
        };
        Answer {
            device: held.spec.into(),
            trace: held.trace.into(),
            requests: seen.requests,
            left_out: seen.left_out,
            closed: seen.closed,
            demerit: demerit.figure(),
            distance_ns: demerit.distance().get(),
            mean_measured_ns: measured.get(),
            mean_modelled_ns: modelled.get(),
            quantiles: QUANTILES.into_iter().map(quantile).collect(),
            tenths: demerit.tenths(),
            notes,
        }
    }

    fn text(&self, demerit: &Demerit) -> String {
        let Answer { device, trace, requests, .. } = self;
        let how =
            if self.closed { "each after the one before, with its think time" } else { "at their times" };
        let (mean, modelled) = demerit.means();
        let mut text = format!(
            "demerit {:.1} %: rms distance {} of a measured mean of {mean}\n\
             {device} on {trace}: {requests} requests, {how}\n\n",
            self.demerit * 100.0,
            demerit.distance(),
        );
        if self.left_out > 0 {
            text += &format!("left out: {} without a response time, trims or flushes\n\n", self.left_out);
        }
        text += "response    measured   modelled       off  share of the distance\n";
        text += &line("mean", mean, modelled, "");
        for Quantile { share, measured_ns, modelled_ns } in &self.quantiles {
            let tenth = (share * 10.0).round() == share * 10.0 && *share > 0.5 || *share == 0.1;
            let part = match (tenth, demerit.tenths().get(narrow::<usize>(tenth_of(*share)))) {
                (true, Some(part)) => {
                    format!("{:>5.0} %  p{:.0} to p{:.0}", part * 100.0, share * 100.0 - 10.0, share * 100.0)
                }
                _ => String::new(),
            };
            text += &line(
                &format!("p{:.0}", share * 100.0),
                Nanos::new(*measured_ns),
                Nanos::new(*modelled_ns),
                &part,
            );
        }
        text += &format!("\n{}\n", self.parting());
        self.notes.iter().for_each(|note| text += &format!("{note}\n"));
        text
    }

    /// Where the two distributions part most.
    fn parting(&self) -> String {
        debug_assert!(
            self.tenths.iter().all(|part| (0.0..=1.0).contains(part)),
            "a tenth has a share of the distance"
        );
        let mut worst = (0, 0.0);
        for (tenth, part) in self.tenths.iter().enumerate() {
            if *part > worst.1 {
                worst = (tenth, *part);
            }
        }
        let (from, to) = (worst.0 * 10, worst.0 * 10 + 10);
        if worst.1 > 0.0 {
            format!(
                "they part most between p{from} and p{to}: {:.0} % of the squared distance",
                worst.1 * 100.0
            )
        } else {
            "both distributions are the same".into()
        }
    }
}

/// The tenth of the requests that ends with `share`.
fn tenth_of(share: f64) -> u32 {
    units::convert::truncated::<u32>((share * 10.0).round()).saturating_sub(1)
}

fn line(what: &str, measured: Nanos, modelled: Nanos, part: &str) -> String {
    let off = (modelled.get() as f64 / measured.get().max(1) as f64 - 1.0) * 100.0;
    let line =
        format!("{what:<10}{:>10} {:>10} {off:>+7.1} %  {part}", measured.to_string(), modelled.to_string());
    line.trim_end().to_owned() + "\n"
}

/// What a device comes to: `fathom array check` on a device.
pub fn check(name: &str, device: &UserDevice) -> Result<String, Failure> {
    if !device.states_link {
        let why =
            "the description leaves the speed of the interface to the host; add `link`, or fit it to a trace";
        return Err(Failure::Usage(format!(
            "{name}: {why}: fathom array fit --spec {name} --trace FILE -o FILE.toml"
        )));
    }
    let (read, _) = spec::device_text(&LIBRARY, &device.label, &device.text)?;
    let what = match &read.params {
        DeviceParams::Rotating(drive) => format!("rotating, {} rpm", drive.rpm),
        DeviceParams::Flash(_) => "flash".into(),
        DeviceParams::CachedFlash(_) => "flash behind a cache".into(),
        DeviceParams::Queue(_) => "a queue".into(),
        DeviceParams::Fitted(_) => "fitted to measurements".into(),
    };
    // A generator of its own, so that the figures are the same each time.
    let mut state = 1u64;
    let places = read.capacity.0 / 8;
    let mut random = |write, before: usize| {
        let mut place = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 11) % places.max(1) * 8
        };
        let requests = (0..before + COUNTED).map(|_| (place(), 8, write));
        COUNTED as f64 / array::demerit::alone(&read.params, before, requests)
    };
    let (reads, burst) = (random(false, 0), random(true, 0));
    let writes = match filling(&read.params) {
        0 => format!("{burst:.0} IOPS"),
        MOST_WRITES.. => format!("{burst:.0} IOPS while its cache has room"),
        before => written(burst, random(true, before)),
    };
    let in_order = (0..400u64).map(|n| (n * 512 % read.capacity.0.saturating_sub(511).max(1), 512, false));
    let seconds = array::demerit::alone(&read.params, 0, in_order);
    let rate = BytesPerSecond::new(Bytes::KIB.get() as f64 * 256.0 * 400.0 / seconds);
    Ok(format!(
        "{name}: {}\ndevice, {what}, {}\nqueue depth 1: random 4 KiB reads {reads:.0} IOPS, writes {writes}; \
         256 KiB reads in order from its start {rate}\n",
        read.about,
        read.capacity.bytes(),
    ))
}

/// Rates of writes, into an empty buffer and where it is full.
fn written(burst: f64, full: f64) -> String {
    debug_assert!(burst > 0.0 && full > 0.0, "a device completes writes");
    if (burst / full - 1.0).abs() <= SAME {
        format!("{full:.0} IOPS")
    } else {
        format!("{full:.0} IOPS once its buffer is full, {burst:.0} IOPS into an empty one")
    }
}

/// Random writes of 4 KiB, twice as many as a device holds: its buffer is full after them, whatever leaves it meanwhile. 0
/// where it holds none, [`MOST_WRITES`] where it holds more.
fn filling(params: &DeviceParams) -> usize {
    let buffer = match params {
        DeviceParams::Rotating(drive) => drive
            .cache
            .filter(|cache| cache.is_write_back())
            .map_or(Bytes::ZERO, |cache| cache.segment.bytes() * u64::from(cache.segments)),
        DeviceParams::Flash(flash) => {
            flash.write_buffer + flash.slc_cache.map_or(Bytes::ZERO, |slc| slc.size)
        }
        DeviceParams::CachedFlash(flash) => flash.cache,
        DeviceParams::Fitted(fitted) => fitted.buffer,
        DeviceParams::Queue(_) => Bytes::ZERO,
    };
    usize::try_from(buffer.get() / 4096 * 2).unwrap_or(MOST_WRITES).min(MOST_WRITES)
}
