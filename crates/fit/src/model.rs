//! The figures of a model, and the array file they are written as.

use std::fmt::Write as _;

use units::convert::truncated;
use units::{Bytes, BytesPerSecond, Nanos};

/// All figures of a fitted array. Times are nanoseconds, rates bytes a second.
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    /// What `array:` calls it.
    pub name: String,
    /// What was measured, in a sentence.
    pub about: String,
    /// Bytes of the target.
    pub capacity: u64,
    /// Payload of all lanes in one direction.
    pub link: f64,
    /// Transfers that share it, each with its part.
    pub lanes: u32,
    /// One way.
    pub latency: f64,
    /// Processors that take requests.
    pub processors: u32,
    /// What each read holds one of them.
    pub read_command: f64,
    /// The same for writes.
    pub write_command: f64,
    /// How they are combined.
    pub level: Level,
    /// Of the set, spares aside.
    pub members: u32,
    /// Bytes on one before the next.
    pub chunk: u64,
    /// What may be held above the members.
    pub cache: Option<Cache>,
    /// Commands that a member works on at once.
    pub servers: u32,
    /// Of reads at a member.
    pub read: Access,
    /// Of writes at a member.
    pub write: Access,
    /// Bytes a second of one server where reads go on.
    pub read_on: f64,
    /// The same where writes go on.
    pub write_on: f64,
    /// What writes are put on after the member has taken them.
    pub dies: Dies,
    /// Nanoseconds that a read waits at most for what its die is at.
    pub program: f64,
    /// Bytes that a die reads at once.
    pub piece: u64,
    /// Bytes of writes that a member takes before dies are ready for them.
    pub buffer: u64,
    /// By how many nanoseconds a read ends later while writes are at the member.
    pub beside: f64,
    /// What a member moves.
    pub member_link: f64,
    /// Access time of what goes on where something ended.
    pub follow: f64,
    /// Equally likely access times as parts of the mean.
    pub spread: Vec<f64>,
}

/// How members are combined, as far as it shows: a mirrored pair is one member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// Each piece of data lies on one member.
    Raid0,
    /// One parity.
    Raid5,
    /// Two.
    Raid6,
}

impl Level {
    /// As array files name it.
    pub fn name(self) -> &'static str {
        match self {
            Level::Raid0 => "0",
            Level::Raid5 => "5",
            Level::Raid6 => "6",
        }
    }

    /// Parity strips in a row.
    pub fn parity(self) -> u32 {
        match self {
            Level::Raid0 => 0,
            Level::Raid5 => 1,
            Level::Raid6 => 2,
        }
    }
}

/// What a member puts writes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dies {
    /// None: a write holds a server as a read does.
    Arm,
    /// So many as are usual; nothing told how many there are.
    Usual,
    /// So many, by what the points told.
    Identification(u32),
}

impl Dies {
    /// How many; none of an arm.
    pub fn count(self) -> u32 {
        match self {
            Dies::Arm => 0,
            Dies::Usual => USUAL_DIES,
            Dies::Identification(count) => count,
        }
    }
}

/// Dies of a drive, where nothing tells how many: how long each is at one thing shows, and stands for their number.
const USUAL_DIES: u32 = 16;

/// Memory above the members.
#[derive(Clone, Debug, PartialEq)]
pub struct Cache {
    /// Bytes.
    pub size: u64,
    /// Whether it holds what was read.
    pub reads: bool,
    /// The part that written data may take; `None`: writes go through.
    pub write_part: Option<f64>,
    /// Longest read-ahead in bytes; `None`: none was seen.
    pub read_ahead: Option<u64>,
    /// Stripes that leave at once.
    pub destage_window: u32,
}

/// How long a member takes for an access, and for its bytes.
#[derive(Clone, Debug, PartialEq)]
pub struct Access {
    /// Commands at the member, and the time then.
    pub times: Vec<(u32, f64)>,
    /// Bytes a second of one server.
    pub rate: f64,
}

/// Whether a figure of the file was fitted, and words about how well or why not, by its dotted key there.
pub(crate) type Words = std::collections::BTreeMap<&'static str, (bool, String)>;

impl Model {
    /// Members' worth of data in a row.
    pub fn data(&self) -> u32 {
        self.members.saturating_sub(self.level.parity()).max(1)
    }

    /// Divides what a small write was seen to cost among the commands that one is under this level: with parity old
    /// data and parities are read, and new ones written.
    pub(crate) fn begin_writes(&mut self) {
        let commands = match self.level {
            Level::Raid0 => 1.0,
            Level::Raid5 => 4.0,
            Level::Raid6 => 6.0,
        };
        self.write.times.iter_mut().for_each(|(_, ns)| *ns /= commands);
        // What is written in full rows has parity written beside it.
        let beside = f64::from(self.members) / f64::from(self.data());
        self.write_on *= beside;
        if self.dies != Dies::Arm {
            self.write.rate *= beside;
        }
    }

    /// Nanoseconds of a read alone.
    pub fn quiet_ns(&self) -> f64 {
        self.read.times.first().map_or(0.0, |first| first.1) + 2.0 * self.latency + self.read_command
    }

    /// Bytes that a cache gathers to write them out as one: with parity a row, else what lies on one member.
    pub fn gathered(&self) -> f64 {
        match self.level {
            Level::Raid0 => self.chunk as f64,
            Level::Raid5 | Level::Raid6 => self.stripe(),
        }
    }

    /// Bytes of data in a row.
    pub fn stripe(&self) -> f64 {
        self.chunk as f64 * f64::from(self.data())
    }

    /// What holds of a model at every step of the fit: it could be built, and its file says so.
    fn assert_sound(&self) {
        let is_rate = |rate: f64| rate > 0.0 && rate.is_finite();
        debug_assert!(
            self.members > 0 && self.chunk > 0 && self.lanes > 0,
            "an array of no member, chunk or lane"
        );
        debug_assert!(self.servers > 0 && self.processors > 0, "nobody serves a request");
        debug_assert!(
            self.members > self.level.parity(),
            "{} members of RAID {}",
            self.members,
            self.level.name()
        );
        debug_assert!(
            [self.link, self.member_link, self.read_on, self.write_on].into_iter().all(is_rate),
            "a link or a stream without a rate"
        );
        for Access { times, rate } in [&self.read, &self.write] {
            debug_assert!(is_rate(*rate), "bytes at {rate} a second");
            debug_assert!(
                !times.is_empty() && times.is_sorted_by(|one, next| one.0 < next.0),
                "times by rising depth"
            );
            debug_assert!(
                times.iter().all(|(_, ns)| *ns >= 0.0 && ns.is_finite()),
                "an access takes time: {times:?}"
            );
        }
        debug_assert!(
            [self.latency, self.read_command, self.write_command, self.program, self.beside, self.follow]
                .into_iter()
                .all(|ns| ns >= 0.0 && ns.is_finite()),
            "a time below nothing, or without an end"
        );
        if let Some(part) = self.cache.as_ref().and_then(|cache| cache.write_part) {
            debug_assert!(part > 0.0 && part <= 1.0, "writes take {part} of the cache");
        }
    }

    /// The array file. `words` says of its keys what they rest on; what is not in it was taken as it is for want of
    /// better.
    pub(crate) fn text(&self, words: &Words) -> String {
        self.assert_sound();
        let figure = |key: &str, value: String| -> String {
            let (fitted, words) =
                words.get(key).map_or((false, "it is as it began"), |(fitted, words)| (*fitted, words));
            let confidence = if fitted { "medium" } else { "low" };
            let source = if fitted {
                format!("fitted; {words}")
            } else {
                format!("not fitted: {}", words.trim_start_matches("not identified: "))
            };
            format!("{{ value = {value}, source = {source:?}, confidence = \"{confidence}\" }}")
        };
        let time = |ns: f64| format!("\"{}\"", Nanos::new(truncated(ns.max(0.0).round())).exact());
        let rate = |value: f64| format!("\"{}\"", BytesPerSecond::new(value.round()).exact());
        let size = |bytes: u64| format!("\"{}\"", Bytes::new(bytes).exact());
        let mut text = String::new();
        let mut line = |words: std::fmt::Arguments<'_>| {
            // Writing to a string cannot fail.
            let _ = text.write_fmt(words);
            text.push('\n');
        };
        line(format_args!("name  = {:?}\nabout = {:?}\n", self.name, self.about));
        line(format_args!("source     = \"not fitted: it costs nothing here\"\nconfidence = \"low\"\n"));
        line(format_args!(
            "[host]\nprocessors   = 64\nrequest      = \"1ns\"\nmax_transfer = \"1GiB\"\nlun_depth    = 65535\n"
        ));
        line(format_args!("[link]\nrate    = {}", figure("link.rate", rate(self.link))));
        line(format_args!("lanes   = {}", figure("link.lanes", self.lanes.to_string())));
        line(format_args!("latency = {}\n", figure("link.latency", time(self.latency))));
        line(format_args!("[protocol]\nkind = \"block\"\n\n[controller]"));
        line(format_args!(
            "processors    = {}",
            figure("controller.processors", self.processors.to_string())
        ));
        line(format_args!("read_command  = {}", figure("controller.read_command", time(self.read_command))));
        line(format_args!(
            "write_command = {}\n",
            figure("controller.write_command", time(self.write_command))
        ));
        if let Some(cache) = &self.cache {
            line(format_args!("[cache]\nsize       = {}", figure("cache.size", size(cache.size))));
            line(format_args!("read       = {}", cache.reads));
            line(format_args!("write_back = {}", cache.write_part.is_some()));
            if let Some(part) = cache.write_part {
                let part = format!("\"{:.2}%\"", part * 100.0);
                line(format_args!("write_part = {}", figure("cache.write_part", part)));
                let window = figure("cache.destage_window", cache.destage_window.to_string());
                line(format_args!("destage_window = {window}"));
            }
            if let Some(most) = cache.read_ahead {
                line(format_args!("\n[cache.prefetch]\nmax = {}", figure("cache.prefetch.max", size(most))));
            }
            line(format_args!(""));
        }
        line(format_args!(
            "[raid]\nlevel = {}\ndisks = {}",
            figure("raid.level", format!("{:?}", self.level.name())),
            figure("raid.disks", self.members.to_string())
        ));
        line(format_args!("chunk = {}\n", figure("raid.chunk", size(self.chunk))));
        line(format_args!("[devices]\nmodel = \"fitted\"\ncount = {}\n", self.members));
        let each = (self.capacity / u64::from(self.data())).max(1 << 20);
        line(format_args!(
            "[devices.with]\ncapacity   = {}",
            size(each.div_ceil(self.chunk.max(512)) * self.chunk.max(512))
        ));
        line(format_args!("servers    = {}", figure("devices.with.servers", self.servers.to_string())));
        for (key, dotted, access) in
            [("read", "devices.with.read", &self.read), ("write", "devices.with.write", &self.write)]
        {
            let pairs: Vec<String> =
                access.times.iter().map(|(count, ns)| format!("[{count}, {}]", time(*ns))).collect();
            line(format_args!("{key:<10} = {}", figure(dotted, format!("[{}]", pairs.join(", ")))));
        }
        line(format_args!("read_rate  = {}", figure("devices.with.read_rate", rate(self.read.rate))));
        line(format_args!("write_rate = {}", figure("devices.with.write_rate", rate(self.write.rate))));
        line(format_args!("read_on_rate = {}", figure("devices.with.read_on_rate", rate(self.read_on))));
        line(format_args!("write_on_rate = {}", figure("devices.with.write_on_rate", rate(self.write_on))));
        line(format_args!("dies       = {}", figure("devices.with.dies", self.dies.count().to_string())));
        line(format_args!("program    = {}", figure("devices.with.program", time(self.program.max(1.0)))));
        line(format_args!("piece      = {}", figure("devices.with.piece", size(self.piece))));
        line(format_args!("buffer     = {}", figure("devices.with.buffer", size(self.buffer))));
        line(format_args!("beside     = {}", figure("devices.with.beside", time(self.beside))));
        line(format_args!("link       = {}", figure("devices.with.link", rate(self.member_link))));
        line(format_args!("follow     = {}", figure("devices.with.follow", time(self.follow))));
        if !self.spread.is_empty() {
            let parts: Vec<String> = self.spread.iter().map(|part| format!("{part:.3}")).collect();
            line(format_args!(
                "spread     = {}",
                figure("devices.with.spread", format!("[{}]", parts.join(", ")))
            ));
        }
        text
    }
}
