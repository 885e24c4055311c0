//! This program, this machine, and its other users.

use record::names::{fact, series};
use record::sample::{ends, responses};
use record::{CpuUse, Run, Series, Severity};

use crate::{codes, find, found, point, reads, set, workload};

/// Puts a series of the machine in place of the one that is there.
fn sampled(run: &mut Run, name: &str, of: impl Fn(usize) -> f64) {
    point(run).series.retain(|series| series.name != name);
    point(run).series.push(Series {
        name: name.into(),
        unit: "share".into(),
        workload: None,
        source: "test".into(),
        from_ns: None,
        at_ns: ends(),
        values: (0..30).map(of).collect(),
        absent: None,
    });
}

#[test]
fn a_worker_that_computes_all_the_time_is_the_limit() {
    let mut run = reads();
    let cpu = |user_s| Some(CpuUse { user_s, system_s: 9.0, ..CpuUse::default() });
    workload(&mut run).workers[0].cpu = cpu(20.0);
    assert!(find(&run, "generator-saturated").is_none());
    workload(&mut run).workers[0].cpu = cpu(21.9);
    let finding = found(&run, "generator-saturated");
    assert!(finding.sentence.contains("1 worker of 1"), "{}", finding.sentence);
    set(&mut run, "iopoll", "true");
    assert!(find(&run, "generator-saturated").is_none(), "who polls is busy by intent");
}

#[test]
fn a_rate_near_what_the_program_can_ask_is_limited_by_it() {
    let mut run = reads();
    workload(&mut run).workers[0].ceiling_per_s = Some(40_001.0);
    assert!(find(&run, "generator-saturated").is_none());
    workload(&mut run).workers[0].ceiling_per_s = Some(25_000.0);
    let finding = found(&run, "generator-saturated");
    assert!(finding.sentence.contains("20,000/s is 80 % of the 25,000/s"), "{}", finding.sentence);
    let mut second = workload(&mut run).workers[0].clone();
    run.environment.cpus = 1;
    workload(&mut run).workers.push(second.clone());
    assert_eq!(
        found(&run, "generator-saturated").numbers["ceiling_per_s"],
        25_000.0,
        "both share one processor"
    );
    run.environment.cpus = 8;
    workload(&mut run).workers.truncate(1);
    second.ceiling_per_s = None;
    workload(&mut run).workers.push(second);
    assert!(find(&run, "generator-saturated").is_none(), "not all of its workers were measured");
}

#[test]
fn lateness_is_the_programs_own_where_no_request_took_so_long() {
    let mut run = reads();
    workload(&mut run).late = Some(responses(600_000, 2_000_000, 0.1));
    workload(&mut run).classes[0].service = Some(responses(600_000, 300_000, 0.1));
    assert!(found(&run, "generator-saturated").numbers["late_ns_p99"] > 0.0);
    workload(&mut run).classes[0].service = Some(responses(600_000, 3_000_000, 0.1));
    assert!(
        find(&run, "generator-saturated").is_none(),
        "an engine that waits in the kernel is late as well"
    );
    workload(&mut run).classes[0].service = Some(responses(600_000, 10_000, 0.1));
    workload(&mut run).late = Some(responses(600_000, 20_000, 0.1));
    assert!(find(&run, "generator-saturated").is_none(), "a timer is late as well");
}

#[test]
fn a_point_that_the_program_limited_is_marked() {
    let mut run = reads();
    explain::judge(&mut run);
    assert!(!run.points[0].generator_saturated);
    workload(&mut run).workers[0].ceiling_per_s = Some(25_000.0);
    explain::judge(&mut run);
    assert!(run.points[0].generator_saturated);
}

#[test]
fn a_machine_without_idle_time_is_saturated() {
    let mut run = reads();
    sampled(&mut run, series::CPU_IDLE, |_| 0.02);
    assert!(found(&run, "cpu-saturated").sentence.starts_with("CPU idle 2.0 % (idle and iowait together)"));
    sampled(&mut run, series::CPU_IDLE, |_| 0.0);
    assert!(found(&run, "cpu-saturated").sentence.starts_with("No idle CPU time (idle and iowait together)"));
    sampled(&mut run, series::CPU_IOWAIT, |_| 0.5);
    assert!(find(&run, "cpu-saturated").is_none(), "waiting for storage is what is measured");
}

/// A machine of two processors without idle time, of which the threads of two workers had so much and waited so much for more.
fn saturated(ran: f64, waited: f64) -> Run {
    let mut run = reads();
    let worker = workload(&mut run).workers[0].clone();
    workload(&mut run).workers = vec![worker.clone(), worker];
    run.environment.cpus = 2;
    sampled(&mut run, series::CPU_IDLE, |_| 0.0);
    for worker in 0..2 {
        sampled(&mut run, &format!("thread.worker {worker}.cpu"), |_| ran);
        sampled(&mut run, &format!("thread.worker {worker}.waiting"), |_| waited);
    }
    run
}

#[test]
fn saturated_processors_are_judged_by_how_long_the_own_threads_waited_for_one() {
    let hogged = found(&saturated(0.1, 0.4), "cpu-saturated");
    assert_eq!(hogged.severity, record::Severity::Warning);
    assert_eq!(
        hogged.sentence,
        "This tool's threads waited 40 % of the time for a processor; other programs used 1.8 of 2 processors. No idle \
         CPU time (idle and iowait together): latencies include that wait."
    );
    assert_eq!(hogged.remedy, "Stop other programs on this machine (`top` lists them).");
    assert_eq!(
        found(&saturated(0.5, 0.4), "cpu-saturated").remedy,
        "Stop other programs on this machine (`top` lists them), or use fewer workers, or use a larger block size."
    );
    let beside = find(&saturated(0.3, 0.02), "cpu-saturated").unwrap();
    assert_eq!((beside.severity, beside.remedy.as_str()), (record::Severity::Note, ""));
    assert!(
        beside.sentence.contains("waited only 2.0 % of the time")
            && beside.sentence.contains("1.4 of 2 processors")
    );
    let at = |waited| find(&saturated(0.3, waited), "cpu-saturated").unwrap().severity;
    assert_eq!((at(0.049), at(0.05)), (record::Severity::Note, record::Severity::Warning));
    // The own threads take all, and one cannot be fewer.
    let mut own = saturated(1.0, 0.5);
    assert!(!found(&own, "cpu-saturated").remedy.contains("other programs"));
    assert!(found(&own, "cpu-saturated").remedy.contains("fewer workers"));
    workload(&mut own).workers.truncate(1);
    assert_eq!(found(&own, "cpu-saturated").remedy, "Use a larger block size.");
}

#[test]
fn threads_that_hardly_waited_cost_no_grade() {
    let generator = |waited| {
        let mut run = saturated(0.1, waited);
        explain::judge(&mut run);
        let grading = run.grading.unwrap();
        grading.checks.into_iter().find(|check| check.name == "generator").unwrap().outcome
    };
    assert_eq!((generator(0.02), generator(0.4)), (record::Outcome::Passed, record::Outcome::Failed));
}

#[test]
fn a_closed_loop_that_has_far_fewer_in_flight_than_its_depth_says_so() {
    let with = |in_flight: f64, change: fn(&mut Run)| {
        let mut run = reads();
        let workers = workload(&mut run).workers.len() as f64;
        workload(&mut run).spec.depth = 16;
        workload(&mut run).mean_in_flight = in_flight * workers;
        change(&mut run);
        find(&run, "depth-not-reached")
    };
    let direct = with(12.7, |_| {}).unwrap();
    assert!(direct.sentence.contains("the queue depth was not reached. The figures"), "{direct:?}");
    assert!(with(12.8, |_| {}).is_none(), "80 %");
    let buffered = with(1.18, |run| set(run, "direct", "false")).unwrap();
    assert!(
        buffered.sentence.starts_with(
            "In flight 1.2 of 16: the queue depth was not reached, since most buffered requests"
        ),
        "{buffered:?}"
    );
    assert!(buffered.remedy.contains("`direct = true`"));
    assert!(with(1.2, |run| set(run, "pace", "rate(100/s)")).is_none(), "a schedule keeps no depth");
    assert!(with(1.2, |run| workload(run).completed = 320).is_none(), "its beginning and its end");
    assert!(with(1.2, |run| workload(run).engine.name = record::Engine::Null).is_none());
    assert!(with(1.2, |run| run.points[0].complete = false).is_none());
}

#[test]
fn stolen_time_is_told() {
    let mut run = reads();
    sampled(&mut run, series::CPU_STEAL, |_| 0.01);
    assert!(find(&run, "cpu-steal").is_none());
    sampled(&mut run, series::CPU_STEAL, |_| 0.08);
    assert!(found(&run, "cpu-steal").sentence.contains("8.0 %"));
}

#[test]
fn a_quota_that_was_used_up_is_told_with_what_it_permits() {
    let mut run = reads();
    run.environment.facts.insert(fact::CPU_QUOTA.into(), "0.5 CPUs in each period of 100 ms".into());
    sampled(&mut run, series::CPU_QUOTA_THROTTLED, |_| 0.01);
    assert!(find(&run, "cpu-quota").is_none());
    sampled(&mut run, series::CPU_QUOTA_THROTTLED, |_| 0.75);
    let finding = found(&run, "cpu-quota");
    assert!(finding.sentence.contains("0.5 CPUs in each period of 100 ms"), "{}", finding.sentence);
    sampled(&mut run, series::CPU_IDLE, |_| 0.0);
    sampled(&mut run, "thread.worker 0.waiting", |_| 0.7);
    let busy = find(&run, "cpu-saturated").expect("no processor is idle");
    assert_eq!(busy.severity, Severity::Note, "the wait may be for the quota: {busy:?}");
    assert!(finding.sentence.contains("75 %") && finding.remedy.contains("`cpu.max`"), "{finding:?}");
}

#[test]
fn processors_that_were_slowed_down_are_told() {
    let mut run = reads();
    sampled(&mut run, series::CPU_THROTTLED, |_| 0.0);
    assert!(find(&run, "throttled").is_none());
    sampled(&mut run, series::CPU_THROTTLED, |second| if second == 7 { 3.0 } else { 0.0 });
    assert!(found(&run, "throttled").sentence.contains("3 times"));
}

#[test]
fn a_clock_that_changed_is_noted() {
    let mut run = reads();
    sampled(&mut run, series::CPU_FREQUENCY, |second| 3e9 - 5e6 * second as f64);
    assert!(find(&run, "clock-changed").is_none());
    sampled(&mut run, series::CPU_FREQUENCY, |second| if second < 15 { 3e9 } else { 2e9 });
    let finding = found(&run, "clock-changed");
    assert!(finding.sentence.contains("3.00 GHz to 2.00 GHz"), "{}", finding.sentence);
}

#[test]
fn what_the_device_did_beyond_this_run_was_done_by_others() {
    let mut run = reads();
    let sectors = point(&mut run).devices[0].read_sectors;
    point(&mut run).devices[0].read_sectors = sectors * 104 / 100;
    assert!(find(&run, "external-io").is_none());
    point(&mut run).devices[0].write_sectors = sectors / 10;
    let finding = found(&run, "external-io");
    assert!(finding.sentence.contains("328.12 MiB more than the 2.29 GiB"), "{}", finding.sentence);
    point(&mut run).ranks =
        vec![record::RankResult { lost: Some("it was killed".into()), ..Default::default() }];
    let sentence = found(&run, "external-io").sentence.clone();
    assert!(sentence.contains("The rank that was lost"), "{sentence}");
    set(&mut run, "direct", "false");
    assert!(find(&run, "external-io").is_none(), "read-ahead reads more than was asked");
}

#[test]
fn a_file_system_over_several_devices_may_write_twice() {
    let mut run = reads();
    let second = point(&mut run).devices[0].clone();
    point(&mut run).devices.push(second);
    assert!(find(&run, "external-io").is_none());
    let target = run.targets[0].clone();
    run.targets.push(target);
    assert!(find(&run, "external-io").is_some());
}

#[test]
fn a_load_that_falls_behind_its_schedule_is_told() {
    let mut run = reads();
    set(&mut run, "pace", "rate(20000/s)");
    workload(&mut run).classes[0].service = Some(responses(600_000, 400_000, 0.5));
    workload(&mut run).classes[0].lag = Some(responses(600_000, 2_000, 0.5));
    assert!(find(&run, "lag").is_none());
    workload(&mut run).classes[0].lag = Some(responses(600_000, 300_000, 0.5));
    assert!(found(&run, "lag").sentence.contains("issued"));
    // The rate was kept: a lower one is no advice.
    assert!(found(&run, "lag").remedy.starts_with("Raise `depth`"), "{}", found(&run, "lag").remedy);
    workload(&mut run).classes[0].lag = Some(responses(600_000, 2_000, 0.5));
    set(&mut run, "pace", "rate(25k/s, poisson)");
    let finding = found(&run, "lag");
    assert!(finding.sentence.contains("20,000/s of 25,000/s scheduled (20 % less)"), "{}", finding.sentence);
    assert_eq!(finding.numbers["offered_per_s"], 25_000.0);
    // Where what could not be issued was left out, nothing that was issued was late.
    workload(&mut run).classes[0].lag = Some(responses(600_000, 0, 0.0));
    let finding = found(&run, "lag");
    assert!(finding.sentence.contains("(20 % less). The p99"), "{}", finding.sentence);
}

#[test]
fn a_closed_loop_cannot_fall_behind() {
    assert!(find(&reads(), "lag").is_none());
}

#[test]
fn another_engine_than_the_best_is_told_with_the_reason() {
    let mut run = reads();
    assert!(find(&run, "engine-fallback").is_none());
    workload(&mut run).engine.fallback = Some("io_uring was refused: not permitted".into());
    assert!(found(&run, "engine-fallback").sentence.contains("not permitted."));
}

#[test]
fn what_a_state_sets_of_a_device_is_said_to_change_no_virtual_array() {
    let mut run = reads();
    point(&mut run).state = [("fill", "0"), ("scheduler", "kyber"), ("read_ahead", "4MiB")]
        .map(|(key, value)| (key.to_owned(), value.to_owned()))
        .into();
    assert!(find(&run, "settings-not-modelled").is_none(), "real storage has them");
    run.world = record::World::Array;
    let finding = found(&run, "settings-not-modelled");
    assert_eq!((finding.severity, finding.point), (Severity::Note, None));
    let said = "`read_ahead = \"4MiB\"` and `scheduler = \"kyber\"` changed nothing";
    assert!(finding.sentence.contains(said), "{}", finding.sentence);
    point(&mut run).state.retain(|key, _| key == "fill");
    assert!(find(&run, "settings-not-modelled").is_none());
}

#[test]
fn a_virtual_machine_is_noted() {
    let mut run = reads();
    assert!(find(&run, "virtual-machine").is_none());
    run.environment.facts.insert(fact::HYPERVISOR.into(), "kvm".into());
    let finding = found(&run, "virtual-machine");
    assert_eq!((finding.severity, finding.point), (Severity::Note, None));
}

#[test]
fn nothing_but_itself_is_said_of_a_run_on_nothing() {
    let mut run = reads();
    run.targets[0].kind = "null".into();
    run.environment.facts.insert(fact::HYPERVISOR.into(), "kvm".into());
    workload(&mut run).workers[0].cpu = Some(CpuUse { user_s: 31.0, system_s: 0.0, ..CpuUse::default() });
    point(&mut run).devices.clear();
    assert_eq!(codes(&run), ["null-target"]);
}

#[test]
fn requests_that_fell_due_and_were_never_issued_are_told() {
    let mut run = reads();
    assert!(find(&run, "not-issued").is_none());
    workload(&mut run).dropped = 7;
    assert!(found(&run, "not-issued").sentence.contains("7 requests of 600007"));
    workload(&mut run).dropped = 0;
    workload(&mut run).not_issued = 9;
    assert!(found(&run, "not-issued").sentence.contains("at least what is shown"));
}

#[test]
fn the_pauses_of_a_schedule_count_for_the_rate_it_asks_for() {
    let mut run = reads();
    workload(&mut run).classes[0].lag = Some(responses(600_000, 2_000, 0.5));
    set(&mut run, "pace", "rate(40000/s, onoff(2s, 2s))");
    assert!(find(&run, "lag").is_none());
    set(&mut run, "pace", "rate(80000/s, onoff(2s, 2s), drop)");
    assert!(found(&run, "lag").sentence.contains("of 40,000/s"));
}

#[test]
fn what_a_set_leaves_of_its_larger_disks_is_a_note() {
    let mut run = reads();
    assert!(find(&run, "unused-space").is_none());
    run.targets[0].facts.insert(fact::UNUSED.into(), "1 TB of disk 2, up to 1 TB of 2 TB each".into());
    let finding = found(&run, "unused-space");
    assert_eq!(finding.severity, Severity::Note);
    assert!(
        finding.sentence.ends_with("1 TB of disk 2, up to 1 TB of 2 TB each are not used."),
        "{finding:?}"
    );
}
