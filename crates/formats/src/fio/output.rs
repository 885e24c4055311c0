//! fio's reports of a run: of one that fio's own jobs asked for, and of any other.

use std::collections::BTreeSet;

use record::{Point, Run, WorkloadResult};
use units::convert::{narrow, truncated};

use crate::{NoFigures, Output};

use super::TOOL;
use super::access::{READ, WRITE};
use super::arrange::Reported;
use super::command::Command;
use super::complaints::Broken;
use super::figures::{self, Entry, Percentiles, Since, Target};
use super::job::Job;
use super::json::{self, Report};
use super::layout::Layout;
use super::log::RequestLog;
use super::steady::Attained;
use super::text;
use super::value::Bare;
use super::wanted::Format;

/// fio's JSON of any run that loads something.
pub const JSON: Output = Output {
    name: "fio",
    ending: "fio.json",
    about: "fio's JSON, each workload a job and each point a group",
    write: |run| Ok(json::document(run, &any(run)?)),
};

/// fio's text of any run that loads something.
pub const TEXT: Output = Output {
    name: "fio-text",
    ending: "fio.txt",
    about: "fio's normal output",
    write: |run| Ok(text::report(run, &any(run)?)),
};

/// fio's terse lines of any run that loads something.
pub const TERSE: Output = Output {
    name: "fio-terse",
    ending: "fio.terse",
    about: "fio's terse output, version 3",
    write: |run| Ok(text::terse(run, &any(run)?, 3)),
};

/// In the order of fio's lists of three.
pub(super) const DIRECTIONS: [&str; 3] = ["read", "write", "trim"];

/// Each workload of each point.
fn any(run: &Run) -> Result<Report, NoFigures> {
    let mut entries = Vec::new();
    for (group, point) in figures::loads(run).enumerate() {
        for workload in &point.workloads {
            let mut entry = Entry::of(run, point, &[workload], Since::Due);
            entry.group = narrow::<u32>(group);
            if point.workloads.len() == 1 && !is_named_for(&point.name, &workload.name) {
                entry.name.clone_from(&point.name);
            } else if let Some(name) = name_of_clones(point, &workload.name) {
                entry.name = name.to_owned();
            }
            entries.push(entry);
        }
    }
    NoFigures::when(entries.is_empty(), TOOL, "no point loads anything; `fathom run quick` has such points")?;
    Ok(Report::of(entries))
}

/// `mix` of `mix.0` beside `mix.1`: fio's clones of a job have its name.
fn name_of_clones<'a>(point: &Point, workload: &'a str) -> Option<&'a str> {
    let stem = |name: &'_ str| -> Option<usize> {
        let (stem, number) = name.rsplit_once('.')?;
        (!number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())).then_some(stem.len())
    };
    let own = &workload[..stem(workload)?];
    let is_clone = |other: &WorkloadResult| {
        other.name != workload && stem(&other.name).is_some_and(|len| other.name[..len] == *own)
    };
    point.workloads.iter().any(is_clone).then_some(own)
}

/// Whether a phase is a job of fio's, `1: db`, whose name is that of its workload.
fn is_named_for(point: &str, workload: &str) -> bool {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    point.split_once(": ").is_some_and(|(number, name)| is_number(number) && name == workload)
}

impl Command {
    /// What fio would print of `run`, which carried the order out; several formats one after the other.
    pub fn report(&self, run: &Run) -> String {
        assert!(!self.wanted.formats.is_empty(), "a report has a format");
        let report = self.entries(run);
        let version = self.wanted.terse_version;
        let print = |format: &Format| match format {
            Format::Normal => text::report(run, &report),
            Format::Terse => text::terse(run, &report, version),
            Format::Json => json::document(run, &report),
            Format::JsonPlus => json::document(run, &Report { bins: true, ..report.clone() }),
        };
        Format::in_order(&self.wanted.formats).iter().map(print).collect()
    }

    /// The logs that the jobs of `run` write: names and contents. Jobs that write to one name follow each other in it.
    pub fn logs(&self, run: &Run) -> Vec<(String, Vec<u8>)> {
        let mut files: Vec<(String, Vec<u8>)> = Vec::new();
        let points = self.points(run);
        for (number, (load, job, name)) in self.numbered().into_iter().enumerate() {
            let Some(point) = points.get(load) else { continue };
            let Some(workload) = point.workloads.iter().find(|workload| workload.name == *name) else {
                continue;
            };
            let entry = Entry::of(run, point, &[workload], Since::Issue);
            for (name, bytes) in self.jobs[job].logs.files(number + 1, &entry) {
                add(&mut files, name, bytes);
            }
        }
        if let Some(name) = &self.wanted.all_bandwidth {
            self.all_bandwidth(name, run, &mut files);
        }
        files
    }

    /// Every file that the command writes beside its targets: the report, logs of figures, logs of requests.
    pub fn writes(&self) -> Vec<String> {
        let mut names: Vec<String> = self.wanted.file.iter().cloned().collect();
        for (number, (_, job, _)) in self.numbered().into_iter().enumerate() {
            names.extend(self.jobs[job].logs.names(number + 1));
        }
        for job in &self.jobs {
            let Some(path) = job.options.text("write_iolog").filter(|path| !path.is_empty()) else {
                continue;
            };
            names.push(path.to_owned());
            names.extend((1..job.clones).map(|clone| format!("{path}.{clone}")));
        }
        if let Some(name) = &self.wanted.all_bandwidth {
            names.extend(DIRECTIONS.map(|direction| format!("{name}-{direction}_bw.log")));
        }
        names
    }

    /// Logs that are written while requests end.
    pub fn request_logs(&self) -> Vec<RequestLog> {
        let numbered = self.numbered().into_iter().enumerate();
        numbered
            .flat_map(|(number, (load, job, name))| self.jobs[job].logs.of_requests(number + 1, load, name))
            .collect()
    }

    /// Every job of every load in fio's order: the load, the job, and the name of its workload.
    fn numbered(&self) -> Vec<(usize, usize, &String)> {
        let of_load = |(load, reported): (usize, &'_ Vec<Reported>)| -> Vec<(usize, usize)> {
            (0..reported.len()).map(|place| (load, place)).collect()
        };
        let places = self.phases().iter().enumerate().flat_map(of_load);
        places
            .flat_map(|(load, place)| {
                let reported = &self.phases()[load][place];
                reported.workloads.iter().map(move |name| (load, reported.job, name))
            })
            .collect()
    }

    /// The bandwidth of all jobs together over time, `agg-read_bw.log` and its kin.
    fn all_bandwidth(&self, name: &str, run: &Run, files: &mut Vec<(String, Vec<u8>)>) {
        for (direction, operation) in DIRECTIONS.into_iter().enumerate() {
            let mut lines = String::new();
            for point in self.points(run) {
                let all: Vec<&WorkloadResult> = point.workloads.iter().collect();
                let entry = Entry::of(run, point, &all, Since::Issue);
                for (second, rate) in (1_u64..).zip(&entry.directions[direction].bandwidth.0) {
                    lines += &format!("{}, {}, 0, 0, 0\n", second * 1000, truncated::<u64>(rate.round()));
                }
            }
            add(files, format!("{name}-{operation}_bw.log"), lines.into_bytes());
        }
    }

    /// What fio says before its jobs start, with the files that are `laid` out for them; empty where no report is to be read.
    pub fn head(&self, laid: &Layout) -> String {
        match self.wanted.formats.contains(&Format::Normal) {
            true => text::head(&self.jobs) + &laid.lines,
            false => String::new(),
        }
    }

    /// Jobs that ended with an error, which is fio's own exit code: clones count one by one, also where they are told as one.
    pub fn failed(&self, run: &Run) -> usize {
        let points = self.points(run);
        let workloads = || points.iter().flat_map(|point| &point.workloads);
        let failing = |each: &Reported| {
            let failing = workloads().filter(|workload| figures::errno(workload).is_some());
            let names: BTreeSet<&String> = failing.map(|workload| &workload.name).collect();
            each.workloads.iter().filter(|name| names.contains(name)).count().max(1)
        };
        let entries = self.jobs_of(run);
        entries.iter().filter(|(entry, _)| entry.error != 0).map(|(_, each)| failing(each)).sum()
    }

    fn entries(&self, run: &Run) -> Report {
        let entries = self.jobs_of(run).into_iter().map(|(entry, _)| entry).collect();
        let globals = self.jobs.last().map(|job| job.options.of_all()).unwrap_or_default();
        let without_disks = self.jobs.iter().all(|job| job.options.flag("disk_util") == Ok(Some(false)));
        let notes = self.translated().notes.clone();
        Report { globals, notes, without_disks, ..Report::of(entries) }
    }

    /// The entries of a report, each with the jobs that it stands for.
    pub(super) fn jobs_of(&self, run: &Run) -> Vec<(Entry, &Reported)> {
        let mut entries = Vec::new();
        let points = self.points(run);
        for (position, (point, reported)) in points.iter().zip(self.phases()).enumerate() {
            // What is read back has a phase of its own, which is reported nowhere else.
            let is_next_silent = self.phases().get(position + 1).is_some_and(Vec::is_empty);
            let read_back = points.get(position + 1).filter(|_| is_next_silent);
            for each in reported {
                let of_entry = |workload: &&WorkloadResult| each.workloads.contains(&workload.name);
                let workloads: Vec<&WorkloadResult> = point.workloads.iter().filter(of_entry).collect();
                if workloads.is_empty() {
                    continue;
                }
                let job = &self.jobs[each.job];
                let mut entry = self.entry(run, point, &workloads, each);
                entry.group = each.group;
                if let Some(point) = read_back {
                    let readers: Vec<&WorkloadResult> = point.workloads.iter().filter(of_entry).collect();
                    if !readers.is_empty() {
                        entry.read_back(&Entry::of(run, point, &readers, Since::Issue));
                    }
                }
                if entry.error == 0 {
                    entry.error = job.checks.broken(&entry).map_or(0, Broken::errno);
                }
                entry.unified = job.unified;
                if let Some(counts) = super::depths::refilled(job, entry.jobs, entry.requests()) {
                    entry.together.in_flight = counts;
                }
                entries.push((entry, each));
            }
        }
        entries
    }

    fn entry(&self, run: &Run, point: &Point, workloads: &[&WorkloadResult], each: &Reported) -> Entry {
        let (job, last) = (&self.jobs[each.job], &self.jobs[each.last]);
        let mut entry = Entry::of(run, point, workloads, Since::Issue);
        if super::pace::asks_nothing(&job.options) || job.creates_only {
            entry.directions = Default::default();
        }
        if job.tree.is_some() && job.rw.changes() {
            entry.directions.swap(READ, WRITE);
        }
        entry.name.clone_from(&job.name);
        entry.description = job.options.text("description").map(str::to_owned);
        entry.options = last.options.own();
        entry.percentiles = percentiles(last);
        forget_times(job, &mut entry);
        entry.base = job.options.base;
        entry.tells_bits = job.options.text("unit_base") == Some("1");
        entry.target = target(job, run);
        entry.steady = job.steady.map(|rule| Attained::of(rule, &entry));
        let goes_on =
            job.options.text("continue_on_error").is_some_and(|value| !matches!(value, "0" | "none"));
        let errors = workloads.iter().map(|workload| workload.errors).sum();
        entry.failed = goes_on.then_some((errors, entry.error));
        entry
    }

    /// The points that are reported: all that load, or of a search the last look at the rate that was kept.
    pub(super) fn points<'a>(&self, run: &'a Run) -> Vec<&'a Point> {
        let Some(search) = &run.search else { return figures::loads(run).collect() };
        let is_kept =
            |rung: &&record::Rung| Some(rung.rate_per_s) == search.met_per_s && rung.verdict == "pass";
        let kept = search.ladder.iter().rev().find(is_kept).and_then(|rung| rung.points.last());
        let last = || figures::loads(run).last();
        let at = |index: &u32| run.points.iter().find(|point| point.index == *index);
        kept.and_then(at).or_else(last).into_iter().collect()
    }
}

fn add(files: &mut Vec<(String, Vec<u8>)>, name: String, bytes: Vec<u8>) {
    debug_assert!(!name.is_empty(), "a log has a name");
    match files.iter_mut().find(|(known, _)| *known == name) {
        Some((_, before)) => before.extend(bytes),
        None => files.push((name, bytes)),
    }
}

fn target(job: &Job, run: &Run) -> Target {
    let of_search = |search: &record::Search| {
        let last = || search.ladder.last().and_then(|rung| rung.depth);
        search.depths.and_then(|depths| depths.met).or_else(last)
    };
    let time = |name: &str| job.options.time_ns(name, Bare::Microseconds).ok().flatten().unwrap_or(0);
    let percent = job.options.share("latency_percentile").ok().flatten();
    Target {
        ns: time("latency_target"),
        percent: percent.unwrap_or(100.0),
        window_us: time("latency_window") / 1000,
        depth: run.search.as_ref().and_then(of_search),
    }
}

/// Leaves out of `entry` the times that the job says are not to be taken.
fn forget_times(job: &Job, entry: &mut Entry) {
    let is_off = |name: &str| {
        ["gtod_reduce", name].into_iter().any(|name| job.options.flag(name).ok().flatten() == Some(true))
    };
    for of in &mut entry.directions {
        let times =
            [("disable_slat", &mut of.slat), ("disable_clat", &mut of.clat), ("disable_lat", &mut of.lat)];
        times.into_iter().filter(|(name, _)| is_off(name)).for_each(|(_, times)| *times = Default::default());
    }
}

fn percentiles(job: &Job) -> Percentiles {
    let yes = |name: &str| job.options.flag(name).ok().flatten();
    let list = job.options.text("percentile_list").map(|text| {
        let list = text.split(':').filter_map(|percent| percent.trim().parse::<f64>().ok());
        let mut list: Vec<f64> = list.filter(|percent| (0.0..=100.0).contains(percent)).collect();
        list.sort_by(f64::total_cmp);
        list
    });
    Percentiles {
        list: list.unwrap_or_else(|| figures::PERCENTILES.to_vec()),
        // An engine of one request at a time submits as it asks.
        slat: job.engine.is_deep && yes("slat_percentiles") == Some(true),
        clat: yes("clat_percentiles").unwrap_or(true),
        lat: yes("lat_percentiles") == Some(true),
    }
}

#[cfg(test)]
mod tests {
    use super::is_named_for;

    #[test]
    fn a_phase_that_is_a_job_has_the_name_of_the_job() {
        assert!(is_named_for("1: db", "db") && is_named_for("12: a b", "a b"));
        assert!(
            !is_named_for("db", "db") && !is_named_for("random: db", "db") && !is_named_for("1: db", "main")
        );
    }
}
