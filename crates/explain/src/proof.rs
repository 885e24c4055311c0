//! Whether there was evidence enough to make a check.

use record::names::{fact, series};
use record::{Point, Run, Series, WorkloadResult, World};

use crate::evidence::{caches_of, counted, hosts, is_direct, moved, moved_by, sampled, sends_commands};
use crate::grade::About;
use crate::history::History;
use crate::{caches, client, content, steady, writes};

/// Whether a check that found nothing wrong has passed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Proof {
    /// The evidence was there.
    Seen,
    /// It was not, and why.
    Missing(String),
    /// There is nothing to check.
    DoesNotApply,
}

use Proof::{DoesNotApply, Seen};

fn missing(why: impl Into<String>) -> Proof {
    Proof::Missing(why.into())
}

fn seen_or(seen: bool, why: &str) -> Proof {
    if seen { Seen } else { missing(why) }
}

/// The evidence for the check `about` at `point`.
pub(crate) fn of(about: About, run: &Run, history: &History, point: &Point) -> Proof {
    match about {
        About::Requests => Seen,
        About::Bookkeeping => bookkeeping(point),
        About::Samples => seen_or(
            point.workloads.iter().all(|workload| workload.total().is_some()),
            "the record has no figures",
        ),
        About::Steady => steady(point),
        // The rest holds for storage that others make; a model has no page cache of this machine, no content, no wear,
        // no neighbours, and no clock but its own.
        _ if run.world == World::Array => DoesNotApply,
        About::Direct => direct(point),
        About::Cache => cache(run),
        About::Content => content_of(run, point),
        About::Preconditioned => preconditioned(run, history, point),
        About::Client => client(run, point),
        About::ExternalIo => neighbours(run, point),
        About::Clock => clock(point),
    }
}

fn bookkeeping(point: &Point) -> Proof {
    let kept = point.workloads.iter().all(|workload| workload.edges.is_some());
    seen_or(
        kept,
        "the record lacks the times of requests that cross the edges of the window, which Little's law needs",
    )
}

fn steady(point: &Point) -> Proof {
    let long = point.workloads.iter().all(|workload| steady::is_long_enough(point, workload));
    seen_or(long, "a window of less than ten seconds is too short for a trend test")
}

/// Hosts may be names of one machine, whose devices would count twice.
const SEVERAL_KERNELS: &str = "the load came from several hosts, whose kernel counters are not added up";

fn direct(point: &Point) -> Proof {
    if point.workloads.iter().any(|workload| !is_direct(workload) && !caches::syncs_all(workload)) {
        return missing("how much buffered I/O the page cache served is not known");
    }
    seen_or(
        counted(point).is_some() || point.workloads.iter().all(sends_commands),
        match hosts(point) {
            1 => "the kernel counts no device of this target, so what reached it is not known",
            _ => SEVERAL_KERNELS,
        },
    )
}

fn cache(run: &Run) -> Proof {
    if (0..run.targets.len()).all(|number| !caches_of(run, number).is_empty()) {
        return Seen;
    }
    let virtual_machine = run.environment.facts.get(fact::HYPERVISOR).is_some_and(|name| name != "none");
    missing(match virtual_machine {
        true => {
            "the caches of the storage are not known, and the host of a virtual machine has one; \
             `fathom doctor TARGET --caches` measures them"
        }
        false => "the caches of the storage are not known; `fathom doctor TARGET --caches` measures them",
    })
}

/// The data read was written by Fathom, or was sampled.
fn content_of(run: &Run, point: &Point) -> Proof {
    let reads = point.workloads.iter().any(|workload| moved_by(workload, record::Op::Read) > 0);
    let own = run
        .targets
        .iter()
        .all(|target| target.kind == "directory" || target.facts.contains_key(fact::LAID_OUT));
    seen_or(
        !reads || own || content::is_looked_at(run),
        "it is not known whether the data read was ever written",
    )
}

fn preconditioned(run: &Run, history: &History, point: &Point) -> Proof {
    if moved(point, record::Op::Write) == 0 {
        return DoesNotApply;
    }
    match writes::is_flash(run) {
        Some(false) => DoesNotApply,
        _ if writes::is_preconditioned(run, history, point) => Seen,
        Some(true) => Seen,
        None => missing("it is not known whether the device is flash, which writes slower once it is full"),
    }
}

fn client(run: &Run, point: &Point) -> Proof {
    let known = |workload: &WorkloadResult| {
        !workload.workers.is_empty() && workload.workers.iter().all(|worker| worker.cpu.is_some())
    };
    if !point.workloads.iter().all(known) {
        return missing("the CPU time of the workers is not known");
    }
    let of_files = |workload: &WorkloadResult| workload.spec.tree.is_some();
    let measured = |workload: &WorkloadResult| of_files(workload) || client::ceiling(run, workload).is_some();
    seen_or(point.workloads.iter().all(measured), "the ceiling of the load generator was not measured")
}

fn neighbours(run: &Run, point: &Point) -> Proof {
    if point.workloads.iter().any(|workload| !is_direct(workload)) {
        return missing("with buffered I/O, read-ahead and write-back add I/O of their own");
    }
    match counted(point) {
        None if hosts(point) > 1 => missing(SEVERAL_KERNELS),
        None => missing("the kernel counts no device of this target"),
        Some(seen) if seen.devices > run.targets.len() => {
            missing("a file system over several devices may write data more than once")
        }
        Some(_) => Seen,
    }
}

fn clock(point: &Point) -> Proof {
    let names = [series::CPU_FREQUENCY, series::CPU_THROTTLED];
    if names.iter().any(|name| !sampled(point, name).is_empty()) {
        return Seen;
    }
    let reason = |series: &Series| series.name.starts_with("cpu.frequency").then(|| series.absent.clone())?;
    let reason = point.series.iter().find_map(reason);
    missing(reason.unwrap_or_else(|| "the machine reports neither clock nor throttling".into()))
}

#[cfg(test)]
mod tests {
    use record::sample::{self, Stream};

    use super::*;

    fn run(op: &'static str) -> Run {
        let stream = Stream { op, size_bytes: 4096, per_s: 1_000, median_ns: 400_000, spread: 0.5 };
        sample::run("quick", vec![sample::point(0, "p", vec![sample::workload("main", &[stream])])])
    }

    #[test]
    fn what_is_read_must_have_been_written_here_or_be_looked_at_and_what_is_only_written_need_not() {
        let content = |op: &'static str, kind: &str| {
            let mut run = run(op);
            run.targets[0].kind = kind.into();
            content_of(&run, &run.points[0])
        };
        assert_eq!(content("read", "directory"), Seen);
        assert_eq!(content("write", "block"), Seen);
        assert!(matches!(content("read", "block"), Proof::Missing(why) if why.contains("was ever written")));
        let mut laid_out = run("read");
        laid_out.targets[0].kind = "file".into();
        laid_out.targets[0].facts.insert(fact::LAID_OUT.into(), "2026".into());
        assert_eq!(content_of(&laid_out, &laid_out.points[0]), Seen);
    }

    #[test]
    fn of_a_device_that_may_be_flash_it_is_enough_to_see_that_it_was_preconditioned() {
        let proof = |op: &'static str, rotates: Option<&str>, steady: bool| {
            let mut run = run(op);
            run.points[0].phase = "p".into();
            run.targets[0].facts.remove(fact::ROTATIONAL);
            run.targets[0].facts.extend(rotates.map(|rotates| (fact::ROTATIONAL.into(), rotates.to_owned())));
            run.rounds = vec![record::Rounds {
                phase: "p".into(),
                figure: "iops".into(),
                at: Default::default(),
                values: Vec::new(),
                most: 25,
                steady,
                window: None,
            }];
            preconditioned(&run, &History::of(&run), &run.points[0])
        };
        assert_eq!(proof("read", None, false), DoesNotApply);
        assert_eq!(proof("write", Some("yes"), false), DoesNotApply);
        assert_eq!(proof("write", Some("no"), false), Seen, "a finding tells it");
        assert_eq!(proof("write", None, true), Seen);
        assert!(matches!(proof("write", None, false), Proof::Missing(why) if why.contains("is flash")));
    }

    #[test]
    fn a_virtual_machine_has_a_cache_of_its_host_that_is_not_known() {
        let why = |hypervisor: Option<&str>| {
            let mut run = run("read");
            run.environment.facts.extend(hypervisor.map(|name| (fact::HYPERVISOR.into(), name.to_owned())));
            match cache(&run) {
                Proof::Missing(why) => why,
                _ => String::new(),
            }
        };
        assert!(why(Some("kvm")).contains("host of a virtual machine"));
        assert!(why(Some("none")).contains("are not known;") && why(None).contains("are not known;"));
    }

    #[test]
    fn more_devices_than_targets_may_write_more_than_once() {
        let mut one = run("write");
        assert_eq!(neighbours(&one, &one.points[0]), Seen);
        one.points[0].devices.clear();
        assert!(
            matches!(neighbours(&one, &one.points[0]), Proof::Missing(why) if why.contains("counts no device"))
        );
        let mut several = run("write");
        let mut second = several.points[0].devices[0].clone();
        second.device = "nvme1n1".into();
        several.points[0].devices.push(second);
        assert!(
            matches!(neighbours(&several, &several.points[0]), Proof::Missing(why) if why.contains("several devices"))
        );
    }

    #[test]
    fn commands_never_meet_the_page_cache_whoever_counts_them() {
        let mut read = run("read");
        read.points[0].devices.clear();
        assert!(matches!(direct(&read.points[0]), Proof::Missing(_)));
        read.points[0].workloads[0].engine.name = record::Engine::Sg;
        assert_eq!(direct(&read.points[0]), Seen);
    }
}
