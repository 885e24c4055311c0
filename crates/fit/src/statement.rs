//! The fit as a whole: the model, what each figure rests on, how far the model is off, and where it may be trusted.

use record::{Figure, Fitted, Held, Run};
use units::{Bytes, BytesPerSecond};

use crate::caches::{self, ReadCache};
use crate::front::{self, Front};
use crate::geometry::{self, Geometry, Order};
use crate::members::{self, Members};
use crate::model::{Access, Cache, Dies, Level, Model, Words};
use crate::pieces;
use crate::probe::Probe;
use crate::refine::{self, Ask, Explained, Source};
use crate::said::{Said, between, bytes, bytes_per_s, per_s, time};
use crate::writes::{self, Writes};

/// A model with what is known of it.
#[derive(Clone, Debug)]
pub struct Fit {
    /// Its figures.
    pub model: Model,
    /// The array file.
    pub text: String,
    /// What was fitted, and what was not, in the order of a request's way.
    pub lines: Vec<Fitted>,
    /// Every measured point with the model's answer.
    pub residuals: Vec<Held>,
    /// Where the model may be trusted, in sentences.
    pub trust: Vec<String>,
}

/// Why there is no model.
#[derive(Debug, thiserror::Error)]
pub enum FitError {
    /// The points do not do.
    #[error(
        "the runs hold no {0}, without which there is no model; `fathom array fit` on a target asks for all that is needed"
    )]
    Missing(&'static str),
    /// The model could not be run.
    #[error("the model that was fitted could not be asked: {0}")]
    Ask(String),
}

/// The model of what `runs` measured, called `name`.
pub fn fit(runs: &[Run], name: &str, ask: &mut dyn Ask) -> Result<Fit, FitError> {
    let sources: Vec<Source> = runs
        .iter()
        .enumerate()
        .flat_map(|(run, of)| of.points.iter().filter_map(Probe::of).map(move |probe| Source { run, probe }))
        .collect();
    let probes: Vec<Probe> = sources.iter().map(|source| source.probe.clone()).collect();
    let front = front::fit(&probes).ok_or(FitError::Missing("reads one at a time of a small region"))?;
    let geometry = geometry::fit(&probes, &front);
    let geometry = geometry.map(|geometry| pieces::settle(geometry, &probes, &front));
    let parts = Parts::of(&probes, front, geometry)?;
    let capacity =
        runs.iter().flat_map(|run| &run.targets).map(|target| target.size_bytes).max().unwrap_or(0);
    let mut model = parts.model(name, runs, capacity);
    refine::refine_reads(&mut model, &parts.front, &sources, ask).map_err(FitError::Ask)?;
    let tried = refine::refine_writes(&mut model, &sources, ask).map_err(FitError::Ask)?;
    let (lines, words) = parts.lines(&model, &tried);
    let residuals = residuals(&model, &words, &sources, ask)?;
    Ok(Fit { text: model.text(&words), trust: trust(&probes, &residuals, &parts), model, lines, residuals })
}

fn residuals(
    model: &Model,
    words: &Words,
    sources: &[Source],
    ask: &mut dyn Ask,
) -> Result<Vec<Held>, FitError> {
    let answers = refine::check(model, words, sources, ask).map_err(FitError::Ask)?;
    let of = |source: &Source| {
        let same = |(wanted, _): &&(refine::Wanted, f64)| {
            wanted.run == source.run && wanted.index == source.probe.index
        };
        let (_, modelled) = answers.iter().find(same)?;
        Some(source.probe.held(*modelled))
    };
    Ok(sources.iter().filter_map(of).collect())
}

/// How many processors take requests: a write alone takes longer than a read by what its command takes longer, and of
/// either as many pass in a second as all processors do. One, where they do not differ enough to tell.
fn processors(front: &Front, writes: Option<&Writes>) -> u32 {
    let told = || {
        let (read, most_read) = (front.fixed?.value + front.byte * SMALL, front.most?.value);
        let (write, most_write) = (writes?.fixed?, writes?.most?);
        let (alone, together) = (write - read, 1e9 / most_write - 1e9 / most_read);
        let count = (alone / together).round();
        let least = DIFFERENT * read;
        let fits = (1.0..=MOST_PROCESSORS).contains(&count) && count * 1e9 / most_read < read;
        (alone > least && together > 0.0 && fits).then_some(count as u32)
    };
    told().unwrap_or(1)
}

/// Reads and writes alone differ if by this part at least.
const DIFFERENT: f64 = 0.03;

/// Bytes of the requests that are compared.
const SMALL: f64 = 4096.0;

/// Processors that are believed.
const MOST_PROCESSORS: f64 = 64.0;

/// How long a read waits for a die at most, to begin with: a page of flash is programmed in about that.
const PROGRAM_NS: f64 = 1e6;

/// No read is late by less that waits for a die.
const LEAST_WAIT_NS: f64 = 1e4;

/// What a die reads at once, where nothing tells it.
const USUAL_PIECE: u64 = 16 << 10;

/// What showed by itself.
struct Parts {
    front: Front,
    geometry: Option<Geometry>,
    members: Members,
    writes: Option<Writes>,
    reads: ReadCache,
    ahead: bool,
}

impl Parts {
    fn of(probes: &[Probe], front: Front, geometry: Option<Geometry>) -> Result<Parts, FitError> {
        let count = geometry.as_ref().map_or(1, |geometry| geometry.members);
        let chunk = geometry.as_ref().and_then(|geometry| geometry.chunk).unwrap_or(65_536);
        let members = members::fit(probes, &front, count, chunk)
            .ok_or(FitError::Missing("4 KiB reads all over the target, one at a time"))?;
        let way = front.fixed.map_or(0.0, |fixed| fixed.value);
        let writes = writes::fit(probes, members.read.times[0].1 + way, chunk as f64 * f64::from(count));
        let (reads, ahead) = (caches::fit(probes), members::reads_ahead(probes));
        Ok(Parts { front, geometry, members, writes, reads, ahead })
    }

    fn model(&self, name: &str, runs: &[Run], capacity: u64) -> Model {
        let Parts { front, geometry, members, writes, .. } = self;
        let fixed = front.fixed.map_or(0.0, |fixed| fixed.value);
        let written = writes.as_ref();
        let processors = processors(front, written);
        let command = front.most.map_or(0.0, |most| (f64::from(processors) * 1e9 / most.value).min(fixed));
        let most = written.and_then(|writes| writes.most);
        let write_fixed = written.and_then(|writes| writes.fixed).unwrap_or(fixed);
        let write_command =
            most.map_or(command, |most| (f64::from(processors) * 1e9 / most).min(write_fixed));
        let chunk = geometry.as_ref().and_then(|geometry| geometry.chunk).unwrap_or(65_536);
        let asked: Vec<&str> =
            runs.iter().flat_map(|run| &run.targets).map(|target| target.asked.as_str()).take(1).collect();
        let started = runs.first().map_or("", |run| run.started.get(..10).unwrap_or(""));
        Model {
            name: name.into(),
            about: format!("fitted by `fathom array fit` to {} as measured on {started}", asked.join(", ")),
            capacity,
            link: front.link.value,
            lanes: (front.link.value * front.byte / 1e9).round().clamp(1.0, 64.0) as u32,
            latency: (fixed - command).max(0.0) / 2.0,
            processors,
            read_command: command,
            write_command,
            level: match geometry.as_ref().map(|geometry| geometry.order) {
                Some(Order::Skipping) => Level::Raid6,
                _ => Level::Raid0,
            },
            members: geometry.as_ref().map_or(1, |geometry| geometry.members),
            chunk,
            cache: self.cache(chunk),
            servers: members.servers,
            read: members.read.clone(),
            write: self.write_access(),
            read_on: members.read.rate,
            write_on: written
                .and_then(|writes| writes.on)
                .map_or(members.read.rate, |on| on / self.at_work()),
            dies: members.dies(),
            program: written
                .and_then(|writes| writes.beside)
                .map_or(PROGRAM_NS, |wait| wait.max(LEAST_WAIT_NS)),
            piece: members.piece.unwrap_or(USUAL_PIECE),
            buffer: 0,
            beside: 0.0,
            member_link: members.link,
            follow: members.follow,
            spread: members.spread.clone(),
        }
    }

    /// Servers of all members that put writes on the media.
    fn at_work(&self) -> f64 {
        let count = f64::from(self.geometry.as_ref().map_or(1, |geometry| geometry.members));
        count * f64::from(self.members.dies().count().max(1))
    }

    /// A beginning: as many servers as write at once do what small writes came to in the long run.
    fn write_access(&self) -> Access {
        let count = f64::from(self.geometry.as_ref().map_or(1, |geometry| geometry.members));
        let Members { servers, read, .. } = &self.members;
        let small = self.writes.as_ref().and_then(|writes| writes.small);
        if *servers > 1 {
            let large = self.writes.as_ref().and_then(|writes| writes.large);
            let bytes = large.or(small.map(|small| small.value * SMALL));
            // Until it shows that something else holds them up, writes are taken as soon as they come.
            let time = bytes.map_or(read.times[0].1, |_| refine::AT_ONCE_NS);
            let rate = bytes.map_or(read.rate, |bytes| bytes / self.at_work());
            return Access { times: vec![(1, time)], rate };
        }
        // An arm gains by a choice of writes as it does by one of reads.
        let first = read.times[0].1;
        let busy = count.clamp(1.0, 8.0);
        let time = small.map_or(first, |small| (busy / small.value * 1e9).min(first * 20.0));
        let times = read.times.iter().map(|(count, ns)| (*count, ns * time / first));
        Access { times: times.collect(), rate: read.rate }
    }

    fn cache(&self, chunk: u64) -> Option<Cache> {
        let room = self.writes.as_ref().and_then(|writes| writes.room).map(|room| room.value);
        let back = self.writes.as_ref().is_some_and(|writes| writes.back);
        let size = match self.reads {
            ReadCache::Size(size) => Some(size.value),
            ReadCache::AtLeast(size) => Some(size as f64),
            ReadCache::Unknown => None,
        };
        let whole = size.or(room).or((back || self.ahead).then_some(256.0 * 1024.0 * 1024.0))?;
        let members = self.geometry.as_ref().map_or(1, |geometry| geometry.members);
        let ahead = (chunk * u64::from(members) * 2).clamp(1 << 20, 16 << 20);
        Some(Cache {
            size: ((whole / 1_048_576.0).round().max(1.0) as u64) << 20,
            reads: size.is_some() || self.ahead,
            write_part: back.then_some(room.map_or(1.0, |room| (room / whole).clamp(0.001, 1.0))),
            read_ahead: self.ahead.then_some(ahead),
            destage_window: 8,
        })
    }

    fn lines(&self, model: &Model, tried: &[Explained]) -> (Vec<Fitted>, Words) {
        let mut said = Said::default();
        self.front_lines(model, &mut said);
        self.geometry_lines(model, &mut said);
        self.level_line(model, tried, &mut said);
        self.cache_lines(model, &mut said);
        self.member_lines(model, &mut said);
        (said.lines, said.words)
    }

    fn front_lines(&self, model: &Model, said: &mut Said) {
        let Front { link, most, fixed, .. } = &self.front;
        said.figure(
            "link",
            "link.rate",
            BytesPerSecond::new(link.value).to_string(),
            between(link, &bytes_per_s),
        );
        said.figure(
            "lanes",
            "link.lanes",
            model.lanes.to_string(),
            "from what a byte adds to a request alone".into(),
        );
        match (fixed, most) {
            (Some(fixed), Some(most)) => {
                said.figure("a request's way", "link.latency", time(fixed.value), between(fixed, &time));
                said.figure(
                    "requests at most",
                    "controller.read_command",
                    per_s(most.value),
                    between(most, &per_s),
                );
            }
            _ => said.missing(
                "a request's way",
                &["link.latency", "controller.read_command"],
                "no cache answered, so that it is part of the members' time",
            ),
        }
        match model.processors {
            1 => said.missing(
                "",
                &["controller.processors"],
                "reads and writes differ too little to tell more than one",
            ),
            _ => said.figure(
                "processors",
                "controller.processors",
                model.processors.to_string(),
                "by what writes take longer alone, and together".into(),
            ),
        }
        match self.writes.as_ref().and_then(|writes| writes.most) {
            Some(most) => said.figure(
                "writes at most",
                "controller.write_command",
                per_s(most),
                "of a small region, over and over".into(),
            ),
            None => said.missing("writes at most", &["controller.write_command"], NO_WRITES),
        }
    }

    fn geometry_lines(&self, model: &Model, said: &mut Said) {
        let keys = ["raid.disks", "raid.chunk"];
        match &self.geometry {
            None => said.missing(
                "members and chunk",
                &keys,
                "too few distances were measured below what the way there lets pass; taken as one member",
            ),
            Some(geometry) if geometry.is_doubtful() => self.doubtful_line(geometry, &keys, model, said),
            Some(Geometry { margin, members, distances, also, .. }) => {
                let margin = margin.min(300.0);
                let words =
                    format!("{distances} distances; any other count is 10^{margin:.0} times less likely");
                said.figure("members", keys[0], members.to_string(), words);
                match members {
                    1 => said.missing("chunk", &keys[1..], "a single member has none that shows"),
                    _ => {
                        let chunk = Bytes::new(model.chunk).to_string();
                        let words = match also {
                            Some((_, other)) => {
                                format!(
                                    "from the same distances, which {} explains as well",
                                    Bytes::new(*other)
                                )
                            }
                            None => "from the same distances".into(),
                        };
                        said.figure("chunk", keys[1], chunk, words);
                    }
                }
            }
        }
    }

    /// Counts that the distances leave open are told by how long large requests take alone, as far as that differs.
    fn doubtful_line(&self, geometry: &Geometry, keys: &[&'static str], model: &Model, said: &mut Said) {
        let counts: Vec<String> = geometry.counts().iter().map(u32::to_string).collect();
        let (counts, taken) = (counts.join(" or "), geometry.members);
        let Some((own, next)) = geometry.by_size else {
            let words = format!(
                "{counts} members explain the rates alike, because the way there is full before they are; taken as {taken}"
            );
            said.missing("members and chunk", keys, &words);
            return;
        };
        let words = format!(
            "of {counts}, which explain the distances alike: reads of all sizes alone are {:.1} % off, {:.1} % with the next best",
            own * 100.0,
            next * 100.0
        );
        said.figure("members", keys[0], taken.to_string(), words);
        said.figure("chunk", keys[1], Bytes::new(model.chunk).to_string(), "from the same reads".into());
    }

    fn level_line(&self, model: &Model, tried: &[Explained], said: &mut Said) {
        let off: Vec<String> = tried
            .iter()
            .map(|tried| format!("writes are {:.0} % off as RAID {}", tried.off * 100.0, tried.level.name()))
            .collect();
        let mirrors = "a mirrored pair counts as one member";
        match (model.level, tried) {
            (Level::Raid6, _) => {
                let words = format!("from the distances: one member is passed over in each row; {mirrors}");
                said.figure("RAID level", "raid.level", "6".into(), words);
            }
            (level, [_, _, ..]) => {
                let words = format!("{}; {mirrors}", off.join(", "));
                said.figure("RAID level", "raid.level", level.name().into(), words);
            }
            _ => said.missing("RAID level", &["raid.level"], "0 and 5 read alike, and writes do not tell"),
        }
    }

    fn cache_lines(&self, model: &Model, said: &mut Said) {
        match self.reads {
            ReadCache::Size(size) => {
                said.figure("read cache", "cache.size", bytes(size.value), between(&size, &bytes));
            }
            ReadCache::AtLeast(size) => said.figure(
                "read cache",
                "cache.size",
                format!("at least {}", Bytes::new(size)),
                "it held the largest region that was asked".into(),
            ),
            ReadCache::Unknown => {
                said.missing("read cache", &["cache.size"], "nothing was answered faster the second time");
            }
        }
        if self.ahead {
            let words = "a stream is answered as from memory; how far it is read ahead does not show, two stripes are taken";
            said.missing("read-ahead", &["cache.prefetch.max"], words);
        }
        match &self.writes {
            None => said.missing("write cache", &["cache.write_part"], NO_WRITES),
            Some(Writes { room: Some(room), fill, .. }) => {
                // What the writes came to is corrected by how it went in the model.
                let seen = fill.unwrap_or(*room);
                let part = model.cache.as_ref().and_then(|cache| Some(cache.write_part? * cache.size as f64));
                let found = part.unwrap_or(room.value);
                let scaled = |edge: Option<f64>| edge.map(|edge| edge / seen.value * found);
                let figure = Figure { value: found, low: scaled(seen.low), high: scaled(seen.high) };
                said.figure("write cache", "cache.write_part", bytes(found), between(&figure, &bytes));
            }
            Some(Writes { back: true, .. }) => {
                said.missing(
                    "write cache",
                    &["cache.write_part"],
                    "writes are acknowledged early, but it never filled",
                );
            }
            Some(_) => said.missing("write cache", &["cache.write_part"], "writes wait for the members"),
        }
        if model.cache.as_ref().is_some_and(|cache| cache.write_part.is_some()) {
            said.missing("", &["cache.destage_window"], "so many stripes at once are usual");
        }
    }

    fn member_lines(&self, model: &Model, said: &mut Said) {
        let fewest = model.read.times.first().map_or(0.0, |first| first.1);
        let words = "by the reads all over the target, each depth by itself";
        said.figure("a member's read alone", "devices.with.read", time(fewest), words.into());
        let most = model
            .read
            .times
            .iter()
            .map(|(count, ns)| f64::from(*count).min(f64::from(model.servers)) / ns * 1e9);
        let most = most.fold(0.0, f64::max);
        said.figure(
            "at once in a member",
            "devices.with.servers",
            model.servers.to_string(),
            format!("together {} of 4 KiB", per_s(most)),
        );
        said.figure(
            "a member's bytes",
            "devices.with.read_rate",
            BytesPerSecond::new(model.read.rate).to_string(),
            "of one command".into(),
        );
        said.figure(
            "",
            "devices.with.link",
            BytesPerSecond::new(model.member_link).to_string(),
            "of all commands together".into(),
        );
        self.piece_line(model, said);
        let on = BytesPerSecond::new(model.read_on).to_string();
        said.figure("", "devices.with.read_on_rate", on, "by the fastest stream below the link".into());
        said.missing("", &["devices.with.follow"], "as long as a read alone, of an arm next to nothing");
        said.figure(
            "",
            "devices.with.spread",
            String::new(),
            "twentieths of the response times of a read alone".into(),
        );
        match &self.writes {
            Some(writes) if writes.small.is_some() => {
                let small = writes.small.unwrap_or(Figure { value: 0.0, low: None, high: None });
                said.figure(
                    "small writes in the long run",
                    "devices.with.write",
                    per_s(small.value),
                    between(&small, &per_s),
                );
                said.figure(
                    "",
                    "devices.with.write_rate",
                    BytesPerSecond::new(model.write.rate).to_string(),
                    "by large writes in the long run".into(),
                );
                let on = BytesPerSecond::new(model.write_on).to_string();
                said.figure("", "devices.with.write_on_rate", on, "by the stream of writes".into());
                if model.dies != Dies::Arm {
                    self.die_lines(model, said);
                    said.missing("", &["devices.with.beside"], "the dies stand for it");
                } else {
                    said.missing(
                        "",
                        &["devices.with.dies", "devices.with.program", "devices.with.buffer"],
                        "an arm does one thing at a time",
                    );
                    let words = "by how long reads take there";
                    said.figure(
                        "reads beside writes",
                        "devices.with.beside",
                        time(model.beside),
                        words.into(),
                    );
                }
            }
            _ => said.missing(
                "a member's write",
                &[
                    "devices.with.write",
                    "devices.with.write_rate",
                    "devices.with.write_on_rate",
                    "devices.with.dies",
                    "devices.with.program",
                    "devices.with.buffer",
                ],
                NO_WRITES,
            ),
        }
    }

    fn piece_line(&self, model: &Model, said: &mut Said) {
        let key = "devices.with.piece";
        match self.members.piece {
            _ if model.dies == Dies::Arm => said.missing("", &[key], "an arm reads all of a request"),
            Some(piece) => said.figure(
                "a die reads at once",
                key,
                Bytes::new(piece).to_string(),
                "by the size from which on reads alone take little longer".into(),
            ),
            None => said.missing("", &[key], "it does not show: as much as is usual"),
        }
    }

    /// What puts writes on the media, and what a member takes of them beyond the cache.
    fn die_lines(&self, model: &Model, said: &mut Said) {
        let key = "devices.with.dies";
        match model.dies {
            Dies::Told(dies) => said.figure(
                "dies of a member",
                key,
                dies.to_string(),
                "by how much longer many reads wait beside writes than a few".into(),
            ),
            Dies::Arm | Dies::Usual => {
                said.missing("", &[key], "how many there are does not show: as many as are usual");
            }
        }
        let words = "by what reads wait for beside writes";
        said.figure("a read waits for a die", "devices.with.program", time(model.program), words.into());
        let key = "devices.with.buffer";
        let told = self.writes.as_ref().is_some_and(|writes| writes.mark.is_some() && writes.room.is_some());
        match told {
            true => said.figure(
                "a member's buffer",
                key,
                Bytes::new(model.buffer).to_string(),
                "by what a burst came to beyond the cache".into(),
            ),
            false => said.missing(
                "a member's buffer",
                &[key],
                "when the cache began to write out did not show: all that was taken counts as the cache's",
            ),
        }
    }
}

const NO_WRITES: &str = "no consent: nothing was written, and writes are taken to be like reads";

fn trust(probes: &[Probe], residuals: &[Held], parts: &Parts) -> Vec<String> {
    let least = |of: fn(&Probe) -> f64| probes.iter().map(of).fold(f64::INFINITY, f64::min);
    let most = |of: fn(&Probe) -> f64| probes.iter().map(of).fold(0.0, f64::max);
    let mut off: Vec<f64> = residuals.iter().map(|each| (1.0 / each.ratio.value - 1.0).abs()).collect();
    off.sort_by(f64::total_cmp);
    let at =
        |part: f64| off.get(((off.len().max(1) - 1) as f64 * part).round() as usize).copied().unwrap_or(0.0);
    let mut said = vec![
        format!(
            "Requests of {} to {}, {:.0} to {:.0} in flight, as measured.",
            bytes(least(|probe| probe.size)),
            bytes(most(|probe| probe.size)),
            least(|probe| probe.depth),
            most(|probe| probe.depth)
        ),
        format!(
            "Of {} points half are within {:.1} % of the model, nine tenths within {:.1} %, the farthest is {:.0} % off.",
            off.len(),
            at(0.5) * 100.0,
            at(0.9) * 100.0,
            at(1.0) * 100.0
        ),
    ];
    if parts.front.cached && parts.members.servers == 1 {
        said.push("Reads all over the target: what keeps to a small part of it lets arms travel less, and is faster.".into());
    }
    if parts.writes.is_none() {
        said.push("Reads alone: nothing was written.".into());
    }
    said.push("A failed member and a rebuild were not measured.".into());
    said
}
