//! A target that stands still for a while: who was due meanwhile is charged with it.

use std::time::Duration;

use record::{Class, WorkloadResult};

use crate::support::{Frozen, Loop, Mounted, User, mkfs};

/// One request at a time, so that of all requests a single one is in service while the target stands.
const PLAN: &str = r#"
name = "stalled"

[[phase]]
name   = "writes"
size   = "4KiB"
reads  = "0%"
pace   = "rate(200/s)"
engine = "pread"
span   = "8MiB"
run    = "6s"
"#;

const STALL: Duration = Duration::from_millis(1400);

/// A file system at `mnt` that can be frozen. The mount goes first: it is unmounted before its device is taken away.
fn that_freezes(user: &User) -> Option<(Loop, Mounted)> {
    let device = Loop::make(user, 64 << 20)?;
    let mounted = mkfs(&device).then(|| Mounted::make(&device, &user.directory("mnt"))).flatten()?;
    Frozen::make(&mounted).map(|_thawed_at_once| (device, mounted))
}

fn workload(user: &User) -> WorkloadResult {
    let run = record::read(&user.fathom("show last --format json").done().out).unwrap();
    run.points[0].workloads[0].clone()
}

fn p99(class: &Class, service: bool) -> Duration {
    let histogram = if service { class.service.as_ref().unwrap() } else { &class.response };
    Duration::from_nanos(histogram.to_stats().unwrap().quantile(0.99).unwrap().get())
}

#[test]
#[allow(
    clippy::disallowed_methods,
    reason = "the test freezes a file system of the kernel's, whose clock is the real one"
)]
fn a_real_target_that_stands_for_a_while_shows_in_the_response_and_not_in_the_service() {
    let user = User::with_plan(PLAN);
    let Some((_device, mounted)) = that_freezes(&user) else { return };

    let mut running = user.start("run plan.toml --on mnt");
    running.wait_for("[1/1] writes");
    std::thread::sleep(Duration::from_secs(2));
    let frozen = Frozen::make(&mounted).unwrap();
    std::thread::sleep(STALL);
    drop(frozen);
    running.end().done();

    let workload = workload(&user);
    let class = &workload.classes[0];
    // 280 of 1,200 requests fell due in the stall; only one was in service.
    assert_eq!((workload.completed, class.response.count), (1_200, 1_200));
    let (response, service) = (p99(class, false), p99(class, true));
    assert!(response >= STALL.mul_f64(0.8), "corrected p99 {response:?}");
    assert!(service < STALL.mul_f64(0.4), "uncorrected p99 {service:?}");
    let longest = Duration::from_nanos(class.service.as_ref().unwrap().max_ns.unwrap());
    assert!(longest >= STALL.mul_f64(0.9), "the one that was in service took {longest:?}");
    // The lag is the storage's, whose only slot was taken.
    let late = workload.late.unwrap().to_stats().unwrap().quantile(0.99).unwrap();
    assert!(Duration::from_nanos(late.get()) < STALL.mul_f64(0.4), "the program was late by {late}");
}

/// Four workers without a pause.
const CLOSED: &str = r#"
name = "stopped"

[[phase]]
name    = "writes"
size    = "4KiB"
reads   = "0%"
workers = 4
engine  = "pread"
span    = "8MiB"
run     = "5s"
"#;

#[test]
#[allow(
    clippy::disallowed_methods,
    reason = "the test freezes a file system of the kernel's, whose clock is the real one"
)]
fn a_target_that_stops_before_the_end_of_the_window_is_silent_in_every_figure_and_breaks_no_law() {
    let user = User::with_plan(CLOSED);
    let Some((_device, mounted)) = that_freezes(&user) else { return };

    let mut running = user.start("run plan.toml --on mnt");
    running.wait_for("[1/1] writes");
    std::thread::sleep(Duration::from_secs(2));
    let frozen = Frozen::make(&mounted).unwrap();
    // Long enough to hang over the end, however late the load began.
    std::thread::sleep(Duration::from_secs(6));
    drop(frozen);
    running.end();

    let run = record::read(&user.fathom("show last --format json").done().out).unwrap();
    let (point, workload) = (&run.points[0], &run.points[0].workloads[0]);
    let until_ns = workload.measured_from_ns + workload.measured_ns;
    let [.., silence] = workload.stalls[..] else { panic!("nothing was silent: {workload:?}") };
    assert_eq!(silence.from_ns + silence.length_ns, until_ns, "it lasts to the end of the window");
    assert!(silence.length_ns > 1_500_000_000, "{silence:?}");
    let series = point.series.iter().find(|series| series.name == "write ops").unwrap();
    assert_eq!(series.from_ns, Some(workload.measured_from_ns));
    assert_eq!(series.at_ns.last(), Some(&until_ns), "samples cover the window");
    let seconds = workload.whole_seconds(&point.series, " ops");
    assert_eq!((seconds.len(), seconds[4]), (5, 0.0), "a silent second is one of nothing: {seconds:?}");
    let found = |code: &str| run.findings.iter().any(|finding| finding.code == code);
    assert!(found("stall") && !found("little-law") && !found("accounting"), "{:?}", run.findings);
}

#[test]
#[allow(
    clippy::disallowed_methods,
    reason = "the test freezes a file system of the kernel's, whose clock is the real one"
)]
fn storage_that_hangs_is_said_to_and_the_second_interrupt_leaves_at_once() {
    let user = User::with_plan(
        &format!(
            "{PLAN}\n[[phase]]\nname = \"after\"\nrun = \"60s\"\nreads = \"0%\"\n\
        span = \"8MiB\"\nengine = \"pread\"\n"
        )
        .replace("run    = \"6s\"", "run    = \"300ms\""),
    );
    let Some(device) = Loop::make(&user, 64 << 20) else { return };
    if !mkfs(&device) {
        return;
    }
    let point = user.directory("mnt");
    let Some(mounted) = Mounted::make(&device, &point) else { return };
    let Some(frozen) = Frozen::make(&mounted) else { return };
    drop(frozen);

    let mut running = user.start("run plan.toml --on mnt");
    running.wait_for("[2/2] after");
    let frozen = Frozen::make(&mounted).unwrap();
    running.wait_for("waiting for storage since");
    running.signal(rustix::process::Signal::INT);
    running.wait_for("Ctrl-C again leaves at once");
    running.signal(rustix::process::Signal::INT);
    let since = std::time::Instant::now();
    // Not read to its end: the process that measures has it open until the storage answers.
    let code = running.wait();
    assert_eq!(code, Some(130));
    assert!(since.elapsed() < Duration::from_secs(20), "it waited for the storage");
    let run = user.last();
    assert_eq!(run["points"].as_array().unwrap().len(), 1, "what was finished is kept");
    let told = user.fathom("doctor --restore --store elsewhere.sqlite").done();
    assert!(told.out.contains("nothing to restore"));
    drop(frozen);
    crate::support::wait_until("the measuring process has restored it", || {
        let left = std::fs::read_dir(&point)
            .unwrap()
            .filter(|entry| entry.as_ref().unwrap().file_name() != "lost+found");
        left.count() == 0
    });
}

#[test]
fn storage_that_hangs_while_files_are_laid_out_is_said_to_and_the_run_goes_on_when_it_answers() {
    let user = User::with_plan(&PLAN.replace("run    = \"6s\"", "run    = \"300ms\""));
    let Some((_device, mounted)) = that_freezes(&user) else { return };

    let frozen = Frozen::make(&mounted).unwrap();
    let mut running = user.start("run plan.toml --on mnt");
    running.wait_for("waiting for storage since");
    drop(frozen);
    running.end().done();
    assert!(workload(&user).completed > 0);
}
