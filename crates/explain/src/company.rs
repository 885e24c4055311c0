//! Interference: the load generator, this machine, external I/O.

use record::names::{fact, series};
use record::{Engine, Point, Run, Severity, WorkloadResult};
use spec::Pace;
use units::convert::truncated;
use units::{Bytes, Nanos, OpsPerSecond};

use crate::Code;
use crate::draft::{Draft, capital, percent, several};
use crate::evidence::{counted, is_direct, mean, merged, moved, outer_thirds, sampled, within};

/// With less idle time the processors are saturated.
const IDLE_LEAST: f64 = 0.05;

/// Threads that wait less of the time for a processor are hardly slowed by what else runs.
const WAITS_LEAST: f64 = 0.05;

/// Other programs that use less of the processors together are no reason.
const OTHERS_LEAST: f64 = 0.05;

/// Processors without idle time, judged by how long the threads that issue the requests waited for one: where they hardly did, what
/// else runs takes only what they leave.
pub(crate) fn cpu_saturated(run: &Run, point: &Point) -> Option<Draft> {
    let idle = mean(&sampled(point, series::CPU_IDLE))?;
    let waiting = mean(&sampled(point, series::CPU_IOWAIT)).unwrap_or(0.0);
    let rest = idle + waiting;
    if rest >= IDLE_LEAST {
        return None;
    }
    let idle = if rest < 0.0005 { "No idle CPU time".into() } else { format!("CPU idle {}", percent(rest)) };
    let idle = format!("{idle} (idle and iowait together)");
    let others = others(run, point, rest);
    let used = others.map_or(String::new(), |used| {
        format!("; other programs used {used:.1} of {} processors", run.environment.cpus)
    });
    let waited = mean(&threads(point, series::WAITING));
    let has_quota = cpu_quota(run, point).is_some();
    let (severity, sentence) = match waited {
        Some(waited) if has_quota => (
            Severity::Note,
            format!(
                "{idle}. This tool's threads waited {} of the time for a processor, be it for the CPU quota or for others{used}.",
                percent(waited)
            ),
        ),
        Some(waited) if waited < WAITS_LEAST => (
            Severity::Note,
            format!(
                "{idle}, but this tool's threads waited only {} of the time for a processor{used}.",
                percent(waited)
            ),
        ),
        Some(waited) => (
            Severity::Warning,
            format!(
                "This tool's threads waited {} of the time for a processor{used}. {idle}: latencies include that wait.",
                percent(waited)
            ),
        ),
        None => (Severity::Warning, format!("{idle}: latencies include waiting for a processor{used}.")),
    };
    let workers: usize = point.workloads.iter().map(|workload| workload.workers.len()).sum();
    let has_others = others.is_none_or(|used| used >= OTHERS_LEAST * f64::from(run.environment.cpus));
    let own: f64 = threads(point, series::RAN).iter().sum();
    // What this program does not use it cannot use less of.
    let is_own = others.is_none_or(|used| used <= own);
    let what = [
        has_others.then_some("stop other programs on this machine (`top` lists them)"),
        (workers > 1 && is_own).then_some("use fewer workers"),
        is_own.then_some("use a larger block size"),
    ];
    let remedy = what.into_iter().flatten().collect::<Vec<_>>().join(", or ");
    let remedy = match severity {
        Severity::Note => String::new(),
        _ => capital(&remedy) + ".",
    };
    let draft = Draft::new(Code::CpuSaturated, severity, sentence).remedy(remedy).number("idle_share", rest);
    let draft = draft.number("waiting_share", waited.unwrap_or(f64::NAN));
    Some(draft.number("other_processors", others.unwrap_or(f64::NAN)))
}

/// The means of the series of that figure, one of each thread that issued requests.
fn threads(point: &Point, figure: &str) -> Vec<f64> {
    let own = point
        .series
        .iter()
        .filter(|series| series.name.starts_with(series::THREAD_OF_WORKER) && series.name.ends_with(figure));
    own.filter_map(|series| mean(&within(series, point.started_ns, point.ended_ns))).collect()
}

/// Processors that other programs used, where `rest` of all were idle; `None` where the own use or their number is not known.
fn others(run: &Run, point: &Point, rest: f64) -> Option<f64> {
    let own = threads(point, series::RAN);
    let cpus = f64::from(run.environment.cpus);
    (!own.is_empty() && cpus > 0.0).then(|| (cpus * (1.0 - rest) - own.iter().sum::<f64>()).max(0.0))
}

/// Less of the queue depth than this in flight, and the figures are those of another depth.
const REACHED: f64 = 0.80;

/// So many times the queue depth has to complete, or its beginning and its end count.
const ROUNDS: f64 = 20.0;

/// A closed loop that has far fewer requests in flight than its queue depth.
pub(crate) fn depth_not_reached(_: &Run, point: &Point, workload: &WorkloadResult) -> Option<Draft> {
    let spec = &workload.spec;
    let slots = f64::from(spec.depth) * workload.workers.len() as f64;
    let is_loop = spec.pace == Pace::Closed && spec.tree.is_none() && workload.engine.name != Engine::Null;
    let reached = workload.mean_in_flight;
    // Of a depth of 1 what is missing is the time between two requests.
    let is_short = reached < REACHED * slots && slots > 1.0;
    if !is_loop || !is_short || !point.complete || workload.completed as f64 <= ROUNDS * slots {
        return None;
    }
    let mut sentence = format!("In flight {reached:.1} of {slots:.0}: the queue depth was not reached");
    let is_buffered = !is_direct(workload);
    sentence += match is_buffered {
        true => ", since most buffered requests complete within the call that issues them.",
        false => ".",
    };
    sentence += &format!(" The figures are those of queue depth {reached:.1}.");
    let remedy = match is_buffered {
        true => "Use `direct = true` for requests that queue at the storage, or more `workers`.",
        false => {
            "Use more `workers` with less `depth` each: one worker cannot issue requests as fast as they complete."
        }
    };
    let draft = Draft::new(Code::DepthNotReached, Severity::Warning, sentence).remedy(remedy);
    Some(draft.number("in_flight", reached).number("queue_depth", slots))
}

/// Above this a stall of a virtual processor is no rarity among requests.
const STOLEN: f64 = 0.02;

pub(crate) fn cpu_stolen(_: &Run, point: &Point) -> Option<Draft> {
    let stolen = mean(&sampled(point, series::CPU_STEAL)).filter(|share| *share > STOLEN)?;
    let sentence = format!(
        "CPU steal {}: the hypervisor ran other guests, which adds to the tail of the latencies.",
        percent(stolen)
    );
    let draft = Draft::new(Code::CpuSteal, Severity::Warning, sentence)
        .remedy("Measure when the host is idle, or on dedicated processors.");
    Some(draft.number("steal_share", stolen))
}

/// A quota that was used up in fewer of its periods hardly shows in a mean.
const STOPPED: f64 = 0.02;

/// The quota of the control group, where it stopped the load generator.
pub(crate) fn cpu_quota(run: &Run, point: &Point) -> Option<Draft> {
    let stopped = mean(&sampled(point, series::CPU_QUOTA_THROTTLED)).filter(|share| *share > STOPPED)?;
    let quota = run.environment.facts.get(fact::CPU_QUOTA);
    let quota = quota.map_or(String::new(), |quota| format!(" of {quota}"));
    let sentence = format!(
        "The CPU quota of the control group{quota} was used up in {} of the periods: this tool then stood still until \
         the next one. Rates and latencies are those of the quota; the storage may do more.",
        percent(stopped)
    );
    let draft = Draft::new(Code::CpuQuota, Severity::Warning, sentence)
        .remedy("Raise the quota (`cpu.max`; systemd: `CPUQuota=`, containers: the CPU limit), or use a larger block size.");
    Some(draft.number("throttled_share", stopped))
}

pub(crate) fn throttled(_: &Run, point: &Point) -> Option<Draft> {
    let events: f64 = sampled(point, series::CPU_THROTTLED).iter().sum();
    if events <= 0.0 {
        return None;
    }
    let sentence = format!(
        "Processors were throttled {} because of heat or power.",
        several(truncated::<u64>(events), "time")
    );
    let draft = Draft::new(Code::Throttled, Severity::Warning, sentence)
        .remedy("Improve cooling, or raise the power limit.");
    Some(draft.number("events", events))
}

/// A larger change of the clock changes figures that depend on the processor.
const CLOCK: f64 = 0.10;

pub(crate) fn clock_changed(_: &Run, point: &Point) -> Option<Draft> {
    let hertz = sampled(point, series::CPU_FREQUENCY);
    let (first, last) = outer_thirds(&hertz)?;
    let (first, last) = (mean(first)?, mean(last)?);
    let change = (last - first) / first;
    if !change.is_finite() || change.abs() <= CLOCK {
        return None;
    }
    let sentence = format!(
        "The CPU clock changed from {:.2} GHz to {:.2} GHz within the point ({}).",
        first / 1e9,
        last / 1e9,
        percent(change)
    );
    let draft = Draft::new(Code::ClockChanged, Severity::Note, sentence)
        .remedy("Set the `performance` governor, and warm up longer.");
    Some(draft.number("first_hz", first).number("last_hz", last))
}

/// The device may move so much more than this run did before external I/O is suspected.
const EXCESS: f64 = 0.05;
/// Less than this may be the file system's journal.
const EXCESS_LEAST: Bytes = Bytes::new(4 << 20);

pub(crate) fn neighbours(run: &Run, point: &Point) -> Option<Draft> {
    // Read-ahead and write-back do work of their own.
    if point.workloads.is_empty() || point.workloads.iter().any(|workload| !is_direct(workload)) {
        return None;
    }
    let seen = counted(point)?;
    // A file system over several devices may write everything more than once.
    if seen.devices > run.targets.len() {
        return None;
    }
    let (read, written) = (moved(point, record::Op::Read), moved(point, record::Op::Write));
    let issued = read + written;
    let excess = seen.read_bytes.saturating_sub(read) + seen.write_bytes.saturating_sub(written);
    let part = excess as f64 / issued as f64;
    if issued == 0 || part <= EXCESS || excess < EXCESS_LEAST.get() {
        return None;
    }
    let who = match point.ranks.iter().any(|rank| rank.lost.is_some()) {
        true => {
            "The rank that was lost, whose part is not in the figures, another program, or a file system's journal,"
        }
        false => "Another program, or a file system's journal,",
    };
    let sentence = format!(
        "External I/O detected: the device moved {} more than the {} of this point. {who} used it.",
        Bytes::new(excess),
        Bytes::new(issued)
    );
    let draft = Draft::new(Code::ExternalIo, Severity::Warning, sentence)
        .remedy("Find the source (`iotop`, `lsof`), and measure when the device is idle.");
    Some(draft.number("issued_bytes", issued as f64).number("excess_bytes", excess as f64))
}

/// Requests issued this much late, as a part of the response time, change what is measured.
const LAG: f64 = 0.10;
/// Below this lateness is that of any timer.
const LAG_LEAST: Nanos = Nanos::from_micros(100);
/// A rate missed by more than this was not reached.
const RATE_MISSED: f64 = 0.02;

/// What disks that choose gain from: what waits in the hosts they do not see.
const DEEPER_BOTH: &str =
    " Disks that choose among more requests do somewhat more: raise `depth` together with `host.lun_depth`.";

pub(crate) fn lag(_: &Run, point: &Point, workload: &WorkloadResult) -> Option<Draft> {
    let late = merged(workload.classes.iter().filter_map(|class| class.lag.as_ref()))?.quantile(0.99)?;
    let response = merged(workload.classes.iter().map(|class| &class.response))?.quantile(0.99)?;
    let behind = late >= LAG_LEAST && late.as_secs_f64() > LAG * response.as_secs_f64();
    let offered = offered(workload).map(OpsPerSecond::get);
    let reached = workload.total()?.ops_per_s.value;
    let missed =
        offered.map(|offered| 1.0 - reached / offered).filter(|missed| *missed > most_missed(workload));
    if !behind && missed.is_none() {
        return None;
    }
    let rate = match (missed, offered) {
        (Some(missed), Some(offered)) => {
            let (reached, offered) = (OpsPerSecond::new(reached), OpsPerSecond::new(offered));
            Some(format!("{reached}/s of {offered}/s scheduled ({} less)", percent(missed)))
        }
        _ => None,
    };
    // What was left out is not late.
    let lateness = (!late.is_zero()).then(|| format!("1 % of the requests were issued {late} late or more"));
    let what: Vec<String> = rate.into_iter().chain(lateness).collect();
    let sentence = format!("Behind schedule: {}. The p99 response time is {response}.", what.join("; "));
    let remedy = match (missed, crate::limits::saturated(point)) {
        (Some(_), Some((busy, gains))) => &format!(
            "Lower the rate below {}/s: more `depth` or `workers` only wait longer, with {busy}.{}",
            OpsPerSecond::new(reached),
            if gains { DEEPER_BOTH } else { "" }
        ),
        (Some(_), None) if crate::limits::gate(point).is_some() => &format!(
            "Lower the rate below {}/s, or widen the {}: more `depth` or `workers` only wait longer before it.",
            OpsPerSecond::new(reached),
            crate::limits::gate(point).unwrap_or_default()
        ),
        (Some(_), None) => {
            "Use more `workers` or `depth`, or a lower rate: the storage or the load generator cannot keep up."
        }
        (None, _) if is_of_client(workload, late) => {
            "Free processors for the load generator, or lower the rate: the rate was kept and slots were free, but this machine issued \
             requests late."
        }
        (None, _) => {
            "Raise `depth` or `workers`: the rate was kept, and requests that were due found all slots of the load taken."
        }
    };
    let draft = Draft::new(Code::Lag, Severity::Warning, sentence).remedy(remedy);
    let draft =
        draft.number("lag_ns_p99", late.get() as f64).number("response_ns_p99", response.get() as f64);
    Some(draft.number("reached_per_s", reached).number("offered_per_s", offered.unwrap_or(f64::NAN)))
}

/// Whether whoever drives the load is to blame for half of a lateness or more: a slot was free, and requests were not issued.
fn is_of_client(workload: &WorkloadResult, late: Nanos) -> bool {
    let own = merged(workload.late.iter()).and_then(|own| own.quantile(0.99));
    own.is_some_and(|own| own * 2 >= late)
}

pub(crate) fn not_issued(_: &Run, point: &Point, workload: &WorkloadResult) -> Option<Draft> {
    let (dropped, not_issued) = (workload.dropped, workload.not_issued);
    let lost = dropped + not_issued;
    if lost == 0 {
        return None;
    }
    let kept: u64 = workload.classes.iter().map(|class| class.response.count).sum();
    // The not_issued are in the histograms already, the dropped are not.
    let due = kept + dropped;
    let what = match (dropped, not_issued) {
        (_, 0) => "the queue was full and they were dropped, so no latency includes them".to_owned(),
        (0, _) => {
            "they were still queued long after the end of the load; latencies count the time they had waited, so high \
             percentiles are at least what is shown"
                .to_owned()
        }
        _ => format!("{dropped} were dropped at a full queue, {not_issued} were still queued long after the end"),
    };
    let sentence = format!("{} of {due} scheduled were not issued: {what}.", several(lost, "request"));
    // More slots are no help where what is in them waits for something else.
    let is_held = crate::limits::saturated(point).is_some() || crate::limits::gate(point).is_some();
    let draft = Draft::new(Code::NotIssued, Severity::Warning, sentence).remedy(match is_held {
        true => "Lower the rate: the storage does not keep up with this one.",
        false => "Lower the rate, or increase the queue depth (`depth`): the storage does not keep up with this rate.",
    });
    Some(draft.number("dropped", dropped as f64).number("not_issued", not_issued as f64))
}

/// How far a rate may be missed by chance: three standard deviations of a Poisson count, and a little.
fn most_missed(workload: &WorkloadResult) -> f64 {
    let wanted = offered(workload).map_or(0.0, |rate| rate.get() * workload.measured_ns as f64 / 1e9);
    RATE_MISSED + 3.0 / wanted.max(1.0).sqrt()
}

/// The rate of the workload's schedule; `None` for a closed loop.
fn offered(workload: &WorkloadResult) -> Option<OpsPerSecond> {
    match workload.spec.pace {
        Pace::Open(schedule) => Some(schedule.mean_rate()),
        _ => None,
    }
}

pub(crate) fn fallback(_: &Run, _: &Point, workload: &WorkloadResult) -> Option<Draft> {
    let why = workload.engine.fallback.as_ref()?;
    let sentence = format!(
        "The I/O engine is {}, not the best one: {}.",
        workload.engine.name,
        why.trim_end_matches('.')
    );
    let draft = Draft::new(Code::EngineFallback, Severity::Warning, sentence);
    Some(draft.remedy("Run `fathom doctor` to see what to permit."))
}

/// What a state set of a block device, which the model of an array has none of.
pub(crate) fn settings_not_modelled(run: &Run) -> Option<Draft> {
    if run.world != record::World::Array {
        return None;
    }
    let asked: std::collections::BTreeSet<String> = run
        .points
        .iter()
        .flat_map(|point| point.state.iter())
        .filter(|(key, _)| ["read_ahead", "scheduler"].contains(&key.as_str()))
        .map(|(key, value)| format!("`{key} = \"{value}\"`"))
        .collect();
    if asked.is_empty() {
        return None;
    }
    let sentence = format!(
        "A virtual array has no block device of this machine before it: {} changed nothing.",
        asked.into_iter().collect::<Vec<_>>().join(" and ")
    );
    let draft = Draft::new(Code::SettingsNotModelled, Severity::Note, sentence);
    Some(draft.remedy(
        "Compare it with real storage that has the scheduler and the read-ahead it has without them.",
    ))
}

/// Sets that leave a part of their larger disks unused.
pub(crate) fn unused_space(run: &Run) -> Option<Draft> {
    let left = run.targets.iter().find_map(|target| target.facts.get(fact::UNUSED))?;
    let sentence = format!(
        "Disks of several sizes are in one set, which uses as much of each as of the smallest: {left} are not used."
    );
    let draft = Draft::new(Code::UnusedSpace, Severity::Note, sentence);
    Some(draft.remedy("Give each size a set of its own (`raid.members`), or disks of one size."))
}

pub(crate) fn virtual_machine(run: &Run) -> Option<Draft> {
    let hypervisor = run.environment.facts.get(fact::HYPERVISOR).filter(|name| *name != "none")?;
    if run.world == record::World::Array || crate::evidence::on_nothing(run) {
        return None;
    }
    let sentence = format!(
        "Virtual machine ({hypervisor}): its host may serve reads from its own memory, keep writes there, and share \
         the device with other guests."
    );
    let draft = Draft::new(Code::VirtualMachine, Severity::Note, sentence);
    Some(draft.remedy("Use a working set larger than the host's memory, and compare with a run on the host."))
}

pub(crate) fn null_target() -> Draft {
    let sentence =
        "No storage was measured: these figures are the ceiling of the load generator on this machine.";
    Draft::new(Code::NullTarget, Severity::Note, sentence)
}

#[cfg(test)]
mod tests {
    use record::sample::{self, Stream, responses};
    use record::{Finding, Series};

    use super::*;

    fn run(per_s: u64) -> Run {
        let stream = Stream { op: "read", size_bytes: 4096, per_s, median_ns: 400_000, spread: 0.5 };
        sample::run("quick", vec![sample::point(0, "4k", vec![sample::workload("main", &[stream])])])
    }

    fn paced(pace: &str) -> WorkloadResult {
        let mut workload = run(20_000).points.remove(0).workloads.remove(0);
        workload.spec.pace = pace.parse().unwrap();
        workload
    }

    #[test]
    fn the_rate_that_was_offered_is_read_from_the_pace() {
        for (pace, rate) in [
            ("rate(20000/s)", Some(20_000.0)),
            ("rate(25k/s, poisson)", Some(25_000.0)),
            ("rate(1000/s, onoff(2s, 6s))", Some(250.0)),
            ("closed", None),
        ] {
            assert_eq!(offered(&paced(pace)).map(OpsPerSecond::get), rate, "{pace}");
        }
    }

    #[test]
    fn a_rate_is_missed_by_more_than_chance_does_it() {
        // Of 30 s at 1,200/s 36,000, whose root is 189.7.
        assert!((most_missed(&paced("rate(1200/s)")) - (0.02 + 3.0 / 36_000f64.sqrt())).abs() < 1e-12);
        assert_eq!(most_missed(&paced("closed")), 3.02);
    }

    #[test]
    fn others_are_suspected_beyond_a_twentieth_and_four_mebibytes() {
        let more = |per_s: u64, sectors: u64| -> Option<Finding> {
            let mut run = run(per_s);
            run.points[0].devices[0].write_sectors += sectors;
            neighbours(&run, &run.points[0]).map(Draft::about_run)
        };
        // 2,457,600,000 bytes were asked for: a twentieth are 240,000 sectors.
        assert_eq!(more(20_000, 240_000), None);
        let finding = more(20_000, 240_001).expect("one sector more");
        assert_eq!(finding.numbers["excess_bytes"], 240_001.0 * 512.0);
        assert_eq!(finding.numbers["issued_bytes"], 2_457_600_000.0);
        assert!(
            finding.sentence.contains("117.19 MiB") && finding.sentence.contains("2.29 GiB"),
            "{}",
            finding.sentence
        );
        assert_eq!(more(100, 8_191), None);
        assert!(more(100, 8_192).is_some());
        let mut reads_too = run(20_000);
        reads_too.points[0].devices[0].read_sectors += 120_000;
        reads_too.points[0].devices[0].write_sectors += 120_001;
        assert!(neighbours(&reads_too, &reads_too.points[0]).is_some(), "both count");
        reads_too.points[0].workloads.clear();
        assert!(neighbours(&reads_too, &reads_too.points[0]).is_none(), "nothing was asked");
    }

    #[test]
    fn lateness_counts_from_a_tenth_of_the_response_and_a_tenth_of_a_millisecond_on() {
        let late = |response_ns: u64, lag_ns: u64| {
            let mut run = run(20_000);
            let workload = &mut run.points[0].workloads[0];
            workload.classes[0].response = responses(600_000, response_ns, 0.0);
            workload.classes[0].lag = Some(responses(600_000, lag_ns, 0.0));
            lag(&run, &run.points[0], &run.points[0].workloads[0]).map(Draft::about_run)
        };
        assert!(late(1_040_000, 104_000).is_none(), "a tenth");
        assert!(late(1_040_000, 104_001).is_some());
        let finding = late(1_024_000, 110_000).expect("more than a tenth");
        assert!(finding.sentence.ends_with("p99 response time is 1.02 ms."), "{}", finding.sentence);
        assert!((finding.numbers["lag_ns_p99"] / 110_000.0 - 1.0).abs() < 1e-3, "{finding:?}");
        assert_eq!(finding.numbers["reached_per_s"], 20_000.0);
        assert!(!finding.numbers.contains_key("offered_per_s"));
        assert!(late(300_000, 99_000).is_none(), "that of any timer");
        assert!(late(300_000, 101_000).is_some());
    }

    #[test]
    fn what_is_late_while_slots_are_free_is_late_by_the_machine_and_more_slots_help_nothing() {
        let remedy = |own_ns: u64| {
            let mut run = run(20_000);
            let workload = &mut run.points[0].workloads[0];
            workload.spec.pace = "rate(20000/s)".parse().expect("it is a pace");
            workload.classes[0].lag = Some(responses(600_000, 2_000_000, 0.0));
            workload.late = Some(responses(600_000, own_ns, 0.0));
            lag(&run, &run.points[0], &run.points[0].workloads[0]).expect("it is behind").about_run().remedy
        };
        assert!(remedy(1_900_000).starts_with("Free processors"), "{}", remedy(1_900_000));
        assert!(remedy(10_000).starts_with("Raise `depth`"), "{}", remedy(10_000));
    }

    #[test]
    fn a_schedule_beyond_what_a_saturated_part_does_is_to_be_lowered_and_no_depth_raised() {
        let remedy = |utilisation: f64| {
            let mut run = run(3_558);
            let disk = record::Component { utilisation, visits: 1, servers: 1, ..Default::default() };
            let components = vec![record::Component { name: "disk 0".into(), ..disk }];
            run.points[0].breakdown = Some(record::Breakdown { components, ..Default::default() });
            let workload = &mut run.points[0].workloads[0];
            workload.spec.pace = "rate(4000/s, poisson)".parse().expect("it is a pace");
            workload.classes[0].lag = Some(responses(600_000, 2_000_000_000, 0.0));
            lag(&run, &run.points[0], &run.points[0].workloads[0]).expect("it is behind").about_run().remedy
        };
        assert_eq!(
            remedy(0.99),
            "Lower the rate below 3,558/s: more `depth` or `workers` only wait longer, with disk 0 99 % busy."
        );
        assert!(remedy(0.9).starts_with("Use more `workers` or `depth`"), "{}", remedy(0.9));
    }

    #[test]
    fn a_schedule_beyond_what_a_lun_takes_at_once_is_told_that_more_slots_wait_before_it() {
        let mut run = run(745);
        let wait =
            |part: &str, wait_ns, service_ns| record::PartShare { part: part.into(), wait_ns, service_ns };
        let response = vec![wait("schedule", 8e9, 0.0), wait("LUN queue", 35e6, 0.0), wait("disk", 0.0, 5e6)];
        run.points[0].breakdown = Some(record::Breakdown { response, ..Default::default() });
        let workload = &mut run.points[0].workloads[0];
        workload.spec.pace = "rate(1200/s)".parse().expect("it is a pace");
        workload.classes[0].lag = Some(responses(600_000, 2_000_000_000, 0.0));
        let late = lag(&run, &run.points[0], &run.points[0].workloads[0]).expect("it is behind").about_run();
        assert_eq!(
            late.remedy,
            "Lower the rate below 745/s, or widen the LUN queue: more `depth` or `workers` only wait longer before it."
        );
        run.points[0].workloads[0].not_issued = 10;
        let lost =
            not_issued(&run, &run.points[0], &run.points[0].workloads[0]).expect("some are").about_run();
        assert!(!lost.remedy.contains("depth"), "{}", lost.remedy);
    }

    #[test]
    fn requests_that_were_never_issued_are_told_by_what_became_of_them() {
        let told = |dropped: u64, not_issued: u64| {
            let mut run = run(1_000);
            (run.points[0].workloads[0].dropped, run.points[0].workloads[0].not_issued) =
                (dropped, not_issued);
            super::not_issued(&run, &run.points[0], &run.points[0].workloads[0])
                .map(|draft| draft.about_run().sentence)
        };
        assert_eq!(told(0, 0), None);
        let starts = |told: Option<String>, with: &str| {
            let told = told.expect("some were never issued");
            assert!(told.starts_with(with), "{told}");
        };
        starts(told(10, 0), "10 requests of 30010 scheduled were not issued: the queue was full");
        starts(told(0, 1), "1 request of 30000 scheduled were not issued: they were still queued");
        starts(
            told(10, 20),
            "30 requests of 30010 scheduled were not issued: 10 were dropped at a full queue, 20 ",
        );
    }

    /// A series of the machine with the same value in each second of the point.
    fn with(name: &str, values: impl Fn(usize) -> f64) -> Point {
        let mut point = run(1_000).points.remove(0);
        point.series.retain(|series| series.name != name);
        let at_ns = (1..=30).map(|second| point.started_ns + second * 1_000_000_000).collect();
        point.series.push(Series {
            name: name.into(),
            unit: "share".into(),
            workload: None,
            source: "test".into(),
            from_ns: Some(point.started_ns),
            at_ns,
            values: (0..30).map(values).collect(),
            absent: None,
        });
        point
    }

    #[test]
    fn each_state_of_the_processors_is_told_beyond_its_threshold_and_not_at_it() {
        let run = run(1_000);
        assert!(cpu_saturated(&run, &with(series::CPU_IDLE, |_| 0.05)).is_none());
        let saturated = cpu_saturated(&run, &with(series::CPU_IDLE, |_| 0.03125)).expect("less is left");
        assert_eq!(saturated.about_run().numbers["idle_share"], 0.03125);
        let stolen = |share: f64| with(series::CPU_STEAL, move |at| if at == 0 { 30.0 * share } else { 0.0 });
        assert!(cpu_stolen(&run, &stolen(0.02)).is_none());
        assert!(cpu_stolen(&run, &stolen(0.021)).is_some());
        assert!(cpu_quota(&run, &with(series::CPU_QUOTA_THROTTLED, |_| 0.019)).is_none());
        assert!(cpu_quota(&run, &with(series::CPU_QUOTA_THROTTLED, |_| 0.03)).is_some());
        assert!(throttled(&run, &with(series::CPU_THROTTLED, |_| 0.0)).is_none());
        let throttled =
            throttled(&run, &with(series::CPU_THROTTLED, |at| (at % 3) as f64)).expect("30 events");
        assert_eq!(throttled.about_run().numbers["events"], 30.0);
        let clock = |last: f64| {
            clock_changed(&run, &with(series::CPU_FREQUENCY, |at| if at < 15 { 2e9 } else { last }))
                .map(|draft| draft.about_run().sentence)
        };
        assert_eq!((clock(2.19e9), clock(1.81e9)), (None, None), "less than a tenth");
        assert!(
            clock(1.0e9).expect("it fell").ends_with("from 2.00 GHz to 1.00 GHz within the point (-50 %).")
        );
        assert!(clock(2.3e9).expect("it rose").ends_with("(15 %)."));
    }
}
