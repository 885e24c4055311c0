//! What there is to show of a run that goes on, whatever shows it.

use std::collections::{BTreeMap, VecDeque};

use conduct::Responses;
use stats::steady::{self, Steady};
use units::{BytesPerSecond, Nanos, OpsPerSecond};

/// Rates that are kept, of a second each at least: more than any terminal has columns.
const RATES: usize = 300;
/// Rates that steadiness is judged by: a minute.
const JUDGED: usize = 60;
const _: () = assert!(JUDGED <= RATES && JUDGED.is_multiple_of(steady::WINDOW));

/// What one of several hosts does.
#[derive(Clone, Debug)]
pub struct HostGlance {
    /// What it is called.
    pub name: String,
    /// Workers that it drives.
    pub workers: u32,
    /// Requests per second of the last second or so.
    pub ops: f64,
    /// Bytes per second likewise.
    pub bytes: f64,
    /// 99 % of the responses of its last whole second took no longer.
    pub p99: Option<Nanos>,
}

impl HostGlance {
    /// What there is to tell of it beside its name, the most telling first.
    pub fn parts(&self) -> Vec<String> {
        let mut parts = vec![
            format!("{} IOPS", OpsPerSecond::new(self.ops)),
            BytesPerSecond::new(self.bytes).to_string(),
        ];
        parts.extend(self.p99.map(|p99| format!("p99 {p99}")));
        parts.push(if self.workers == 1 { "1 worker".into() } else { format!("{} workers", self.workers) });
        parts
    }
}

/// Hosts that have a line of their own.
const HOSTS: usize = 16;
/// Columns of a host's name at most.
const NAME: usize = 24;

/// A run as it is now.
#[derive(Clone, Debug, Default)]
pub struct Glance {
    /// The plan and its target.
    pub head: String,
    /// The point, with its number and how many there are: `[2/5] 4 KiB random read`.
    pub title: String,
    /// What goes on: `load`, `lay out`, `idle`; empty before anything is known.
    pub doing: &'static str,
    /// The time left and what that is based on.
    pub left: String,
    /// The part of the point that is done; `None` where the end is not known.
    pub done: Option<f64>,
    /// Whether anything of it has ended.
    pub has_moved: bool,
    /// Requests per second of the last second or so.
    pub ops: f64,
    /// Bytes per second likewise.
    pub bytes: f64,
    /// Response times of the last whole second.
    pub responses: Option<Responses>,
    /// Requests in flight.
    pub in_flight: u32,
    /// Requests that failed since the point began.
    pub errors: u64,
    /// Requests per second over time, a second each or longer; the newest last.
    pub rates: VecDeque<f64>,
    /// How much time they cover, in the world's own.
    pub rates_cover: Nanos,
    /// Each host by itself; empty where there is one.
    pub hosts: Vec<HostGlance>,
    /// What is watched beside the load, by the names of a record's series.
    pub beside: Vec<(String, f64)>,
    /// Of a virtual world: how much of its time has passed in this point, and how much of ours.
    pub times: Option<(Nanos, Nanos)>,
    /// Since when storage does not answer, in words.
    pub waiting: Option<String>,
    /// Whether it stays as it is drawn now.
    pub is_frozen: bool,
}

impl Glance {
    /// Another point or step begins.
    pub fn begin(&mut self, title: &str) {
        *self = Glance { head: std::mem::take(&mut self.head), title: title.into(), ..Glance::default() };
    }

    /// One more second or so.
    pub fn add_rate(&mut self, ops: f64, covers: Nanos) {
        debug_assert!(ops >= 0.0 && !covers.is_zero(), "a rate is of some time");
        if self.rates.len() == RATES {
            let each = self.rates_cover.get() / RATES as u64;
            self.rates_cover = self.rates_cover.saturating_sub(Nanos::new(each));
            self.rates.pop_front();
        }
        self.rates.push_back(ops);
        self.rates_cover += covers;
        debug_assert!(self.rates.len() <= RATES, "no more rates are kept than a terminal has columns");
    }

    /// What goes on in one line, without what it is done to: rates of a load, how far anything else is.
    pub fn rates(&self) -> String {
        match (self.doing, self.done) {
            ("idle", _) => "idle".into(),
            ("load", _) => {
                let p99 = self.responses.map(|seen| format!("  p99 {}", seen.p99)).unwrap_or_default();
                let errors = match self.errors {
                    0 => String::new(),
                    errors => format!("  {errors} errors"),
                };
                let (ops, throughput) = (OpsPerSecond::new(self.ops), BytesPerSecond::new(self.bytes));
                format!("{ops} IOPS  {throughput}{p99}{errors}")
            }
            (doing, Some(done)) if !self.has_moved => format!("{doing} {:.1} %", done * 100.0),
            (doing, _) => format!("{doing} {}", BytesPerSecond::new(self.bytes)),
        }
    }

    /// All in one line of at most `width` columns: a title that is too long gives way before figures do.
    pub fn line(&self, width: usize) -> String {
        let rest = match &self.waiting {
            Some(waiting) => waiting.clone(),
            None => [&self.left, &self.rates()].into_iter().filter(|part| !part.is_empty()).fold(
                String::new(),
                |line, part| match line.is_empty() {
                    true => part.clone(),
                    false => format!("{line}  {part}"),
                },
            ),
        };
        let room = width.saturating_sub(rest.chars().count() + 2).max(TITLE_LEAST.min(width));
        cut(&format!("{}  {rest}", cut(&self.title, room)), width)
    }

    /// A line for each host, of at most `width` columns: figures below one another, and as many as there is room for. Nothing of
    /// one host.
    pub fn host_lines(&self, width: usize) -> Vec<String> {
        let shown = if self.hosts.len() > HOSTS { HOSTS - 1 } else { self.hosts.len() };
        let (shown, more) = self.hosts.split_at(shown);
        let rows: Vec<Vec<String>> = shown.iter().map(HostGlance::parts).collect();
        let names: Vec<String> = shown.iter().map(|host| cut(&host.name, NAME)).collect();
        let long = |texts: &mut dyn Iterator<Item = &String>| {
            texts.map(|text| text.chars().count()).max().unwrap_or(0)
        };
        let name = long(&mut names.iter());
        let columns: Vec<usize> =
            (0..4).map(|at| long(&mut rows.iter().filter_map(|parts| parts.get(at)))).collect();
        let line = |(host, parts): (&String, &Vec<String>)| {
            let mut line = format!("  {host:name$}");
            for (part, column) in parts.iter().zip(&columns) {
                let next = format!("{line}  {part:>column$}");
                if next.chars().count() > width {
                    break;
                }
                line = next;
            }
            cut(line.trim_end(), width)
        };
        let lines = names.iter().zip(&rows).map(line);
        let more = (!more.is_empty()).then(|| cut(&format!("  and {} more hosts", more.len()), width));
        lines.chain(more).collect()
    }

    /// Whether the rate holds still, by the rule of SNIA over five equal parts of the last minute at most; `None` before
    /// there is a second for each part.
    pub fn steady(&self) -> Option<Steady> {
        let each = self.rates.len().min(JUDGED) / steady::WINDOW;
        debug_assert!(each * steady::WINDOW <= self.rates.len(), "equal parts are of rates that were kept");
        let newest = self.rates.iter().skip(self.rates.len() - each * steady::WINDOW).copied();
        let newest: Vec<f64> = newest.collect();
        let parts: Vec<f64> =
            newest.chunks(each.max(1)).map(|part| part.iter().sum::<f64>() / part.len() as f64).collect();
        debug_assert!(parts.len() <= steady::WINDOW, "parts are those that the rule is about");
        Steady::of(&parts).filter(|steady| steady.mean > 0.0)
    }

    /// What is watched of each thing whose names begin with `kind`, as `disk`: by its name, what it is to the value.
    pub fn watched(&self, kind: &str) -> BTreeMap<&str, BTreeMap<&str, f64>> {
        let mut all: BTreeMap<&str, BTreeMap<&str, f64>> = BTreeMap::new();
        for (name, value) in &self.beside {
            let rest = name.strip_prefix(kind).and_then(|rest| rest.strip_prefix('.'));
            if let Some((thing, what)) = rest.and_then(|rest| rest.rsplit_once('.')) {
                all.entry(thing).or_default().insert(what, *value);
            }
        }
        all
    }

    /// What is watched under exactly this name.
    pub fn value(&self, name: &str) -> Option<f64> {
        self.beside.iter().find(|(own, _)| own == name).map(|(_, value)| *value)
    }
}

/// What is left of a title in any case.
const TITLE_LEAST: usize = 12;

const _: () = assert!(HOSTS > 1, "of many hosts some are shown, and a line says how many more");

/// `text` in at most `width` columns.
pub fn cut(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        return text.into();
    }
    if width == 0 {
        return String::new();
    }
    let kept: String = text.chars().take(width.saturating_sub(1)).collect();
    format!("{}{}", kept.trim_end(), if super::has_unicode() { "…" } else { "~" })
}

/// A time to come, as one would say it: `7 s`, `2 min 5 s`, `1 h 3 min`.
pub fn rounded(time: Nanos) -> String {
    match time.get().div_ceil(1_000_000_000) {
        seconds @ 0..60 => format!("{seconds} s"),
        seconds @ 60..3600 => format!("{} min {} s", seconds / 60, seconds % 60),
        seconds => format!("{} h {} min", seconds / 3600, seconds % 3600 / 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load() -> Glance {
        Glance {
            title: "[1/12] 4 KiB random read with a name that nobody can read to its end".into(),
            doing: "load",
            left: "point 7 s, run 2 min 3 s left".into(),
            ops: 19_025.0,
            bytes: 77.9e6,
            ..Glance::default()
        }
    }

    #[test]
    fn a_line_never_exceeds_the_width_and_gives_up_its_title_before_its_figures() {
        for width in 0..140 {
            assert!(load().line(width).chars().count() <= width, "{width}: {}", load().line(width));
        }
        assert!(load().line(80).ends_with("point 7 s, run 2 min 3 s left  19,025 IOPS  77.9 MB/s"));
        assert!(load().line(140).contains("to its end  point 7 s, run"));
        let waiting = Glance { waiting: Some("waiting for storage since 9 s".into()), ..load() };
        assert!(waiting.line(60).ends_with("  waiting for storage since 9 s"), "{}", waiting.line(60));
    }

    #[test]
    fn each_host_has_a_line_whose_figures_lie_below_those_of_the_others() {
        let host = |name: &str, ops: f64, p99: Option<u64>| HostGlance {
            name: name.into(),
            workers: 16,
            ops,
            bytes: ops * 4096.0,
            p99: p99.map(Nanos::from_micros),
        };
        let glance = Glance {
            hosts: vec![host("node-a", 19_025.0, Some(75)), host("node-b17", 905.0, Some(12_000))],
            ..load()
        };
        let lines = glance.host_lines(78);
        assert_eq!(
            lines,
            [
                "  node-a    19,025 IOPS  77.9 MB/s  p99 75.0 µs  16 workers",
                "  node-b17     905 IOPS  3.71 MB/s  p99 12.0 ms  16 workers",
            ]
        );
        for width in 0..90 {
            assert!(glance.host_lines(width).iter().all(|line| line.chars().count() <= width), "{width}");
        }
        assert!(load().host_lines(80).is_empty());
        let many = Glance { hosts: vec![host("n", 1.0, None); 40], ..load() };
        assert_eq!(many.host_lines(80).len(), HOSTS);
        assert_eq!(many.host_lines(80).last().map(String::as_str), Some("  and 25 more hosts"));
    }

    #[test]
    fn steadiness_is_judged_over_the_last_minute_alone() {
        let mut glance = load();
        assert_eq!(glance.steady(), None);
        (0..30).for_each(|_| glance.add_rate(1.0, Nanos::from_secs(1)));
        (0..60).for_each(|_| glance.add_rate(100.0, Nanos::from_secs(1)));
        let steady = glance.steady().unwrap();
        assert_eq!((steady.mean, steady.range), (100.0, 0.0));
        (0..RATES).for_each(|_| glance.add_rate(2.0, Nanos::from_secs(1)));
        assert_eq!(glance.rates.len(), RATES);
        assert!(glance.rates_cover <= Nanos::from_secs(RATES as u64 + 1), "{}", glance.rates_cover);
    }

    #[test]
    fn what_is_watched_is_told_by_thing() {
        let beside = [("disk.sda.busy", 0.5), ("disk.sda.in_flight", 3.0), ("cpu.user", 0.1)];
        let glance = Glance { beside: beside.map(|(name, value)| (name.into(), value)).into(), ..load() };
        assert_eq!(glance.watched("disk")["sda"]["in_flight"], 3.0);
        assert_eq!(glance.value("cpu.user"), Some(0.1));
        assert!(glance.watched("net").is_empty());
    }

    #[test]
    fn a_time_to_come_is_rounded_up_to_seconds_and_has_two_parts_at_most() {
        let said = |seconds: f64| rounded(Nanos::from_secs_f64(seconds));
        assert_eq!([0.0, 0.2, 59.0].map(said), ["0 s", "1 s", "59 s"]);
        assert_eq!([60.0, 125.0, 3599.5].map(said), ["1 min 0 s", "2 min 5 s", "1 h 0 min"]);
        assert_eq!(said(3785.0), "1 h 3 min");
    }
}
