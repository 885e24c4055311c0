//! fio's logs over time: `NAME_bw.1.log` and its kin.
//!
//! A line is a time in milliseconds, a value, the direction (0 reads, 1 writes, 2 trims), a block size, an offset where
//! `log_offset` asks for it, a priority, and where `log_issue_time` asks for it when the request was issued. With
//! `log_window_value=both` a second value, the largest of the window, follows the first. Lines that stand for a window
//! have neither size nor offset.
//!
//! Windows of whole seconds come from the seconds that a record keeps; shorter ones, and lines for each request, from
//! the requests as they end.

use std::fmt::Write;

use units::convert::{narrow, truncated};
use units::{Bytes, Instant, Nanos};
use workload::{Logged, Op};

use crate::Refusal;

use super::access::TRIM;
use super::figures::{Direction, Entry};
use super::log_store::Store;
use super::settings::Options;

/// Which logs a job writes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Logs {
    bandwidth: Option<String>,
    rate: Option<String>,
    latency: Option<String>,
    histogram: Option<String>,
    form: Form,
    /// Nanoseconds of a window; 0 for a line for each request.
    window_ns: u64,
    hist_window_ns: u64,
    /// So many times two bins of a histogram are one.
    coarseness: u32,
    /// Requests have instants at which they are due.
    of_schedule: bool,
    /// Submitting one is asking it, which takes no time of its own: a log of that stays empty.
    is_sync: bool,
    smallest: u64,
    /// Samples in place of lines, compressed.
    is_stored_compressed: bool,
}

/// How lines look, and which file they go to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Form {
    /// A file for each job, numbered from 1.
    per_job: bool,
    offsets: bool,
    priorities: bool,
    issue_times: bool,
    value: WindowValue,
}

/// What stands for a window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum WindowValue {
    #[default]
    Mean,
    Largest,
    Both,
}

/// What a log is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Bandwidth,
    Rate,
    Slat,
    Clat,
    Lat,
    Histogram,
}

impl Kind {
    const fn name(self) -> &'static str {
        match self {
            Kind::Bandwidth => "bw",
            Kind::Rate => "iops",
            Kind::Slat => "slat",
            Kind::Clat => "clat",
            Kind::Lat => "lat",
            Kind::Histogram => "clat_hist",
        }
    }
}

const SECOND_NS: u64 = 1_000_000_000;

impl Logs {
    /// `name` is the job's, which files are called by where the options do not say; `smallest` its smallest request.
    pub(super) fn read(options: &Options, name: &str, smallest: u64) -> Result<Logs, Refusal> {
        // A path in the name of a job is no folder of its logs.
        let own = name.replace('/', "_");
        let prefix = |option: &str| match options.text(option) {
            None | Some("0") => None,
            Some("" | "1") => Some(own.clone()),
            Some(said) => Some(said.to_owned()),
        };
        let millis = |name: &str| -> Result<u64, Refusal> {
            Ok(options.count(name)?.unwrap_or(0).saturating_mul(1_000_000))
        };
        let value = match options.text("log_max_value") {
            None | Some("0" | "avg") => WindowValue::Mean,
            Some("" | "1" | "max") => WindowValue::Largest,
            Some("both") => WindowValue::Both,
            Some(_) => return Err(super::job::refuse(options, "log_max_value", "avg, max or both")),
        };
        let coarseness = options.count32("log_hist_coarseness")?.unwrap_or(0);
        if coarseness > MOST_COARSE {
            return Err(super::job::refuse(options, "log_hist_coarseness", "0 to 6"));
        }
        let is_stored_compressed = options.flag("log_store_compressed")? == Some(true);
        if let (true, Some(setting)) = (is_stored_compressed, options.get("log_store_compressed")) {
            if prefix("write_hist_log").is_some() {
                return Err(setting.unsupported("histograms are lines; leave out write_hist_log"));
            }
            if value == WindowValue::Both || options.flag("log_issue_time")? == Some(true) {
                let what = "a sample has one value and no time of issue; leave out log_max_value=both and log_issue_time";
                return Err(setting.unsupported(what));
            }
        }
        Ok(Logs {
            is_stored_compressed,
            is_sync: !super::engine::is_deep(options),
            bandwidth: prefix("write_bw_log"),
            rate: prefix("write_iops_log"),
            latency: prefix("write_lat_log"),
            histogram: prefix("write_hist_log"),
            form: Form {
                per_job: options.flag("per_job_logs")? != Some(false),
                offsets: options.flag("log_offset")? == Some(true),
                priorities: options.flag("log_prio")? == Some(true),
                issue_times: options.flag("log_issue_time")? == Some(true),
                value,
            },
            window_ns: millis("log_avg_msec")?,
            hist_window_ns: millis("log_hist_msec")?,
            coarseness,
            smallest,
            of_schedule: options.text("rate_process") == Some("poisson")
                || options.text("read_iolog").is_some_and(|path| !path.is_empty()),
        })
    }

    pub(super) fn is_any(&self) -> bool {
        [&self.bandwidth, &self.rate, &self.latency, &self.histogram].iter().any(|prefix| prefix.is_some())
    }

    /// Whether windows are made of the record's seconds, whose times count from when a request was due.
    fn is_of_seconds(&self) -> bool {
        !self.of_schedule && self.window_ns >= SECOND_NS && self.window_ns.is_multiple_of(SECOND_NS)
    }

    fn named(&self, prefix: &str, kind: Kind, job: usize) -> String {
        assert!(job > 0, "jobs are counted from 1");
        let end = if self.is_stored_compressed { "log.fz" } else { "log" };
        match self.form.per_job {
            true => format!("{prefix}_{}.{job}.{end}", kind.name()),
            false => format!("{prefix}_{}.{end}", kind.name()),
        }
    }

    /// What is logged beside histograms, with the beginnings of the files' names.
    fn kinds(&self) -> Vec<(Kind, &str)> {
        let all = [
            (Kind::Bandwidth, &self.bandwidth),
            (Kind::Rate, &self.rate),
            (Kind::Slat, &self.latency),
            (Kind::Clat, &self.latency),
            (Kind::Lat, &self.latency),
        ];
        all.into_iter().filter_map(|(kind, prefix)| Some((kind, prefix.as_deref()?))).collect()
    }

    /// Names of all files of job number `job`, from 1.
    pub(super) fn names(&self, job: usize) -> Vec<String> {
        let histogram = self.histogram.as_deref().map(|prefix| (Kind::Histogram, prefix));
        let kinds = self.kinds().into_iter().chain(histogram);
        kinds.map(|(kind, prefix)| self.named(prefix, kind, job)).collect()
    }

    /// Names and contents of the files of `entry`, job number `job` from 1, as far as they are made of seconds.
    pub(super) fn files(&self, job: usize, entry: &Entry) -> Vec<(String, Vec<u8>)> {
        if !self.is_of_seconds() {
            return Vec::new();
        }
        let stored = |lines: String| match self.is_stored_compressed {
            true => {
                let mut store = Store::default();
                [store.add(&lines), store.rest()].concat()
            }
            false => lines.into_bytes(),
        };
        let file =
            |(kind, prefix): (Kind, &str)| (self.named(prefix, kind, job), stored(self.seconds(kind, entry)));
        self.kinds().into_iter().map(file).collect()
    }

    fn seconds(&self, kind: Kind, entry: &Entry) -> String {
        assert!(kind != Kind::Histogram, "a histogram is made of requests as they end");
        let zeros = |of: &Direction| vec![0.0; of.mean_ns.0.len()];
        let values = |of: &Direction| match kind {
            Kind::Bandwidth => of.bandwidth.0.clone(),
            Kind::Rate => of.rate.0.clone(),
            Kind::Slat if self.is_sync => Vec::new(),
            Kind::Slat => zeros(of),
            Kind::Clat | Kind::Lat | Kind::Histogram => of.mean_ns.0.clone(),
        };
        let of_all: Vec<Vec<f64>> = entry.directions.iter().map(values).collect();
        let mut text = String::new();
        let longest = of_all.iter().map(Vec::len).max().unwrap_or(0);
        let step = usize::try_from(self.window_ns / SECOND_NS).unwrap_or(usize::MAX).max(1);
        for from in (0..longest).step_by(step) {
            let until = from.saturating_add(step).min(longest);
            for (number, (of, values)) in entry.directions.iter().zip(&of_all).enumerate() {
                let Some(window) = values.get(from..until.min(values.len())) else { continue };
                if of.requests == 0 || window.is_empty() {
                    continue;
                }
                let mean = window.iter().sum::<f64>() / window.len() as f64;
                let most = window.iter().copied().fold(0.0, f64::max);
                self.form.window(&mut text, until as u64 * 1000, number, [mean, most], false);
            }
        }
        text
    }

    /// Logs of job number `job`, from 1, that are made of requests as they end: those of the workload of that name in the
    /// load of that number.
    pub(super) fn of_requests(&self, job: usize, load: usize, workload: &str) -> Vec<RequestLog> {
        let log = |kind: Kind, prefix: &str, window_ns: u64| RequestLog {
            file: self.named(prefix, kind, job),
            load,
            workload: workload.to_owned(),
            kind,
            stays_empty: kind == Kind::Slat && self.is_sync,
            form: self.form,
            window_ns,
            coarseness: self.coarseness,
            smallest: self.smallest,
            windows: Default::default(),
            began: Instant::START,
            ramp_bytes: 0,
            store: self.is_stored_compressed.then(Store::default),
        };
        let mut logs = Vec::new();
        if !self.is_of_seconds() {
            let kinds = self.kinds().into_iter();
            logs.extend(kinds.map(|(kind, prefix)| log(kind, prefix, self.window_ns)));
        }
        let histogram = self.histogram.as_deref();
        logs.extend(histogram.map(|prefix| log(Kind::Histogram, prefix, self.hist_window_ns.max(1_000_000))));
        logs
    }
}

impl Form {
    /// The line of a window, with its mean and its largest value.
    fn window(self, text: &mut String, at_ms: u64, direction: usize, values: [f64; 2], of_one: bool) {
        debug_assert!(values[0] <= values[1], "no mean is above the largest");
        let [mean, most] = values.map(|value| truncated::<u64>(value.round()));
        let values = match self.value {
            WindowValue::Mean => mean.to_string(),
            WindowValue::Largest => most.to_string(),
            WindowValue::Both => format!("{mean}, {most}"),
        };
        self.line(text, at_ms, &values, direction, [0, 0], of_one.then_some(0));
    }

    fn line(
        self,
        text: &mut String,
        at_ms: u64,
        values: &str,
        direction: usize,
        [len, offset]: [u64; 2],
        issued_ns: Option<u64>,
    ) {
        assert!(direction <= TRIM, "a line is of reads, writes or trims");
        let _infallible = write!(text, "{at_ms}, {values}, {direction}, {len}");
        if self.offsets {
            let _infallible = write!(text, ", {offset}");
        }
        text.push_str(if self.priorities { ", 0x0" } else { ", 0" });
        if self.issue_times {
            let _infallible = write!(text, ", {}", issued_ns.unwrap_or(0));
        }
        text.push('\n');
    }
}

/// A log that is written while requests end.
#[derive(Clone, Debug)]
pub struct RequestLog {
    /// Its name: `NAME_bw.1.log`.
    pub file: String,
    /// Which load of the plan, from 0.
    pub load: usize,
    /// By its name in the record.
    pub workload: String,
    kind: Kind,
    /// Nothing is logged.
    stays_empty: bool,
    form: Form,
    window_ns: u64,
    coarseness: u32,
    smallest: u64,
    /// Of reads, writes and trims.
    windows: [LogWindow; 3],
    /// What is logged begins here, behind the ramp.
    began: Instant,
    /// Bytes of the ramp that are yet to come.
    ramp_bytes: u64,
    /// What is not in the file yet, where that is compressed.
    store: Option<Store>,
}

/// What has ended since the last line.
#[derive(Clone, Debug, Default)]
struct LogWindow {
    /// When it began, after the load.
    from_ns: u64,
    requests: u64,
    bytes: u64,
    sum_ns: f64,
    most: f64,
    bins: Vec<u64>,
}

/// Bins of fio's histograms: 29 groups of 64.
const BINS: usize = 29 << 6;
/// As few as 29 bins.
const MOST_COARSE: u32 = 6;
const _: () = assert!(BINS.is_multiple_of(1 << MOST_COARSE), "coarse bins are whole numbers of fine ones");

impl RequestLog {
    /// The job's measured time begins at that instant, or once it has moved so many bytes more.
    pub fn begin(&mut self, at: Instant, ramp: Bytes) {
        self.began = at;
        self.ramp_bytes = ramp.get();
        self.windows = Default::default();
    }

    /// Adds the lines of requests that have ended.
    pub fn hear(&mut self, requests: &[Logged], text: &mut String) {
        for request in requests {
            if self.stays_empty || self.is_of_ramp(request) {
                continue;
            }
            let direction = match request.op {
                Op::Read => 0,
                Op::Write => 1,
                Op::Trim => TRIM,
                Op::Flush => continue,
            };
            debug_assert!(request.issued <= request.finished, "no request ends before it is issued");
            let at_ns = request.finished.saturating_since(self.began).get();
            if self.window_ns == 0 {
                self.line(direction, request, at_ns, text);
                continue;
            }
            self.close(direction, at_ns, text);
            let (ns, value) = (request.service().get(), self.value(request));
            let window = &mut self.windows[direction];
            window.requests += 1;
            window.bytes += u64::from(request.len);
            window.sum_ns += if self.kind == Kind::Slat { 0.0 } else { ns as f64 };
            window.most = window.most.max(value as f64);
            if self.kind == Kind::Histogram {
                window.bins.resize(BINS, 0);
                window.bins[bin(ns)] += 1;
            }
        }
    }

    /// Whether a request has ended before what is logged. The one that is the last of a ramp by bytes ends it.
    fn is_of_ramp(&mut self, request: &Logged) -> bool {
        if self.ramp_bytes == 0 {
            return request.finished < self.began;
        }
        self.ramp_bytes = self.ramp_bytes.saturating_sub(request.len.into());
        self.began = request.finished;
        true
    }

    /// What of `lines`, and of those before, now goes to the file.
    pub fn stored(&mut self, lines: String) -> Vec<u8> {
        match &mut self.store {
            Some(store) => store.add(&lines),
            None => lines.into_bytes(),
        }
    }

    /// What goes to the file at last.
    pub fn rest(&mut self) -> Vec<u8> {
        self.store.as_mut().map(Store::rest).unwrap_or_default()
    }

    /// Adds what is left at the end of the load.
    pub fn end(&mut self, at: Instant, text: &mut String) {
        let ended_ns = at.saturating_since(self.began).get();
        for direction in 0..self.windows.len() {
            let window = &self.windows[direction];
            // A rate over next to nothing says nothing.
            if window.requests > 0 && (ended_ns - window.from_ns.min(ended_ns)) * 2 >= self.window_ns {
                self.write(direction, ended_ns, text);
            }
        }
    }

    fn value(&self, request: &Logged) -> u64 {
        let ns = request.service().get().max(1);
        match self.kind {
            Kind::Bandwidth => narrow::<u64>(u128::from(request.len) * 1_000_000 / u128::from(ns)),
            Kind::Rate => 1,
            Kind::Slat => 0,
            Kind::Clat | Kind::Lat | Kind::Histogram => request.service().get(),
        }
    }

    fn line(&self, direction: usize, request: &Logged, at_ns: u64, text: &mut String) {
        let value = self.value(request);
        let values = match self.form.value {
            WindowValue::Both => format!("{value}, 0"),
            _ => value.to_string(),
        };
        let issued: Nanos = request.issued.saturating_since(self.began);
        let is_of_issue = matches!(self.kind, Kind::Clat | Kind::Slat);
        let place = [u64::from(request.len), request.offset.get()];
        self.form.line(text, at_ns / 1_000_000, &values, direction, place, is_of_issue.then(|| issued.get()));
    }

    /// Writes the windows that have ended before `at_ns`.
    fn close(&mut self, direction: usize, at_ns: u64, text: &mut String) {
        assert!(self.window_ns > 0, "a window has a length");
        let until = self.windows[direction].from_ns + self.window_ns;
        if at_ns < until {
            return;
        }
        if self.windows[direction].requests > 0 {
            self.write(direction, until, text);
        }
        let from_ns = at_ns / self.window_ns * self.window_ns;
        self.windows[direction] = LogWindow { from_ns, ..LogWindow::default() };
    }

    fn write(&self, direction: usize, until_ns: u64, text: &mut String) {
        let window = &self.windows[direction];
        assert!(window.requests > 0 && until_ns > window.from_ns, "a line is of requests, over some time");
        let (seconds, requests) = ((until_ns - window.from_ns) as f64 / 1e9, window.requests as f64);
        let at_ms = until_ns / 1_000_000;
        let mean = match self.kind {
            Kind::Bandwidth => window.bytes as f64 / 1024.0 / seconds,
            Kind::Rate => requests / seconds,
            Kind::Slat | Kind::Clat | Kind::Lat => window.sum_ns / requests,
            Kind::Histogram => {
                debug_assert_eq!(
                    window.bins.iter().sum::<u64>(),
                    window.requests,
                    "each request is in a bin"
                );
                let _infallible = write!(text, "{at_ms}, {direction}, {}", self.smallest);
                for bins in window.bins.chunks(1 << self.coarseness) {
                    let _infallible = write!(text, ", {}", bins.iter().sum::<u64>());
                }
                text.push('\n');
                return;
            }
        };
        self.form.window(text, at_ms, direction, [mean, window.most.max(mean)], false);
    }
}

/// The bin of a latency in fio's histograms: 64 for each power of two.
fn bin(ns: u64) -> usize {
    let highest = ns.checked_ilog2().unwrap_or(0);
    if highest <= 6 {
        return narrow::<usize>(ns);
    }
    let group = highest - 6;
    let within = (ns >> group) & 63;
    narrow::<usize>((u64::from(group + 1) << 6) + within).min(BINS - 1)
}

#[cfg(test)]
mod tests {
    use units::Bytes;

    use super::super::figures::Samples;
    use super::*;

    fn logs(window_ns: u64) -> Logs {
        Logs { form: Form { per_job: true, ..Form::default() }, window_ns, ..Logs::default() }
    }

    #[test]
    fn a_log_has_a_line_for_each_window_and_direction() {
        let mut entry = Entry::default();
        for (of, rate) in entry.directions.iter_mut().zip([[10.0, 20.0, 30.0], [1.0, 2.0, 4.0]]) {
            of.requests = 1;
            of.rate = Samples(rate.to_vec());
        }
        let logs = Logs { rate: Some("x".into()), ..logs(2 * SECOND_NS) };
        let text = "2000, 15, 0, 0, 0\n2000, 2, 1, 0, 0\n3000, 30, 0, 0, 0\n3000, 4, 1, 0, 0\n";
        assert_eq!(logs.files(3, &entry), [("x_iops.3.log".to_owned(), text.as_bytes().to_vec())]);
        let form = Form { value: WindowValue::Both, offsets: true, per_job: false, ..Form::default() };
        let (name, bytes) = Logs { form, ..logs }.files(3, &entry).remove(0);
        let text = String::from_utf8(bytes).expect("lines are text");
        assert_eq!((name.as_str(), text.lines().next()), ("x_iops.log", Some("2000, 15, 20, 0, 0, 0, 0")));
    }

    fn request(at_ms: u64, took_us: u64, offset: u64) -> Logged {
        let issued = Instant::START.saturating_add(Nanos::from_millis(at_ms));
        let finished = issued.saturating_add(Nanos::from_micros(took_us));
        Logged { issued, finished, offset: Bytes::new(offset), len: 4096, file: 0, op: Op::Read, worker: 0 }
    }

    fn written(logs: &Logs, requests: &[Logged]) -> Vec<(String, String)> {
        let written = |mut log: RequestLog| {
            let mut text = String::new();
            log.begin(Instant::START, Bytes::ZERO);
            log.hear(requests, &mut text);
            log.end(Instant::START.saturating_add(Nanos::from_millis(200)), &mut text);
            (log.file, text)
        };
        logs.of_requests(1, 0, "a").into_iter().map(written).collect()
    }

    #[test]
    fn each_request_has_a_line_where_no_window_is_asked_for() {
        let form =
            Form { offsets: true, issue_times: true, priorities: true, per_job: true, ..Form::default() };
        let logs = Logs { latency: Some("l".into()), bandwidth: Some("l".into()), form, ..logs(0) };
        let found = written(&logs, &[request(3, 100, 8192)]);
        let names: Vec<&str> = found.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["l_bw.1.log", "l_slat.1.log", "l_clat.1.log", "l_lat.1.log"]);
        assert_eq!(found[0].1, "3, 40960, 0, 4096, 8192, 0x0, 0\n");
        assert_eq!(found[2].1, "3, 100000, 0, 4096, 8192, 0x0, 3000000\n");
    }

    #[test]
    fn windows_shorter_than_a_second_have_rates_and_means_of_their_own() {
        let logs = Logs { rate: Some("r".into()), latency: Some("r".into()), ..logs(100_000_000) };
        let found = written(&logs, &[request(10, 100, 0), request(20, 300, 0), request(150, 50, 0)]);
        assert_eq!(found[0], ("r_iops.1.log".into(), "100, 20, 0, 0, 0\n200, 10, 0, 0, 0\n".into()));
        assert_eq!(found[2].1, "100, 200000, 0, 0, 0\n200, 50000, 0, 0, 0\n");
    }

    #[test]
    fn a_log_of_histograms_has_fios_bins() {
        assert_eq!(
            [bin(0), bin(127), bin(128), bin(130), bin(256), bin(u64::MAX)],
            [0, 127, 128, 129, 192, BINS - 1]
        );
        let logs =
            Logs { histogram: Some("h".into()), hist_window_ns: 100_000_000, coarseness: 3, ..logs(0) };
        let (name, text) = written(&logs, &[request(10, 100, 0)]).remove(0);
        assert_eq!((name.as_str(), text.trim().split(", ").count()), ("h_clat_hist.1.log", 3 + BINS / 8));
    }
}
