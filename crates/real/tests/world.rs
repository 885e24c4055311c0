//! Plans that run on real storage: files of their own, and `null:`.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should say where")]

use std::sync::Arc;

use conduct::{Event, Outcome, World};
use real::{PlainFile, RealOptions, RealWorld, UpkeepOptions};
use workload::plan::{Overrides, Plan, Work};

fn plan(text: &str) -> Plan {
    Plan::parse("test.toml", text, &Overrides::default()).unwrap()
}

fn null(plan: &Plan) -> RealWorld {
    let options = RealOptions { targets: vec!["null:4GiB".into()], ..RealOptions::default() };
    RealWorld::open(plan, &options, Arc::default()).unwrap()
}

fn measured(plan: &Plan, world: &mut dyn World) -> Outcome {
    let outcome = conduct::run(plan, world, &mut |_| ());
    assert!(outcome.error.is_none(), "{:?}", outcome.error);
    outcome
}

#[test]
fn a_state_of_an_array_is_refused_on_real_storage_before_anything_is_touched() {
    let plan = plan("[[phase]]\nname = 'lost'\nstate = 'fail disk 2'\n");
    let options = RealOptions { targets: vec!["null:".into()], ..RealOptions::default() };
    let error = RealWorld::open(&plan, &options, Arc::default()).unwrap_err();
    assert_eq!(error.exit_code(), 2);
    assert!(error.to_string().contains("virtual array"), "{error}");
}

#[test]
fn room_is_looked_for_in_the_name_of_files_that_this_process_writes() {
    let home = tempfile::tempdir().unwrap();
    let plan = plan(
        "[[phase]]\nname = 'w'\nreads = '0%'\nspan = '4KiB'\ndirect = false\nworkers = 2\nfiles = 'per_worker(1)'\nops = 1\nrun = 'none'\n",
    );
    let open = |others: &[usize]| {
        // More than any file system has.
        let large = PlainFile {
            size: units::Bytes::new(1 << 60),
            expand: None,
            cut: None,
            whole: false,
            ends_early: false,
            keep: false,
        };
        let name = |number: usize| home.path().join(format!("t.{number}")).display().to_string();
        let options = RealOptions {
            targets: vec![name(0), name(1)],
            create: true,
            plain: vec![large; 2],
            plain_of_others: others.to_vec(),
            ..RealOptions::default()
        };
        RealWorld::open(&plan, &options, Arc::default()).map(|_| ()).map_err(|error| error.to_string())
    };
    for (others, named) in [(&[] as &[usize], "t.0: "), (&[0], "t.1: "), (&[1], "t.0: ")] {
        let why = open(others).unwrap_err();
        assert!(why.contains(named) && why.contains("do not fit"), "{why}");
    }
    assert_eq!(open(&[0, 1]), Ok(()));
}

const LIFE: &str = "[defaults]\nsize = '8KiB'\nreads = '2/3'\npace = 'rate(50/s)'\ndepth = 8\nrun = '5s'\nspan = '1GiB'\n\
    [[phase]]\nname = 'healthy'\n[[phase]]\nstate = 'fail disk 0'\n[[phase]]\nname = 'degraded'\n\
    [[phase]]\nstate = 'rebuild'\nwait = false\n[[phase]]\nname = 'rebuilding'\n\
    [[phase]]\nstate = 'watch rebuild'\n[[phase]]\nname = 'rebuilt'\n";

fn done(point: &record::Point) -> Option<&record::Series> {
    point.series.iter().find(|series| series.name == "rebuild done")
}

#[test]
fn a_rebuild_is_not_watched_before_it_is_said_whom_to_ask() {
    let plan = plan("[[phase]]\nstate = 'watch rebuild'\n");
    let error = RealWorld::open(
        &plan,
        &RealOptions { targets: vec!["null:1GiB".into()], ..RealOptions::default() },
        Arc::default(),
    );
    assert!(error.unwrap_err().to_string().contains("--progress"));
}

/// A rebuild of half a second whose progress is in a file, as a device of the system would tell it.
#[test]
fn a_real_rebuild_is_begun_by_a_command_and_watched_to_its_end() {
    let home = tempfile::tempdir().unwrap();
    let path = |name: &str| home.path().join(name).display().to_string();
    let (failed, part) = (path("failed"), path("part"));
    let plan = plan(LIFE);
    let upkeep = UpkeepOptions {
        progress: Some(real::Source::Command(format!("cat {part}"))),
        fail: Some(format!("echo $FATHOM_DISK > {failed}")),
        begin: vec![(
            Work::Rebuild,
            format!("for p in 0 20 40 60 80; do echo \"$p%\" > {part}; sleep 0.4; done; echo 100% > {part}"),
        )],
        rate: None,
    };
    let options = RealOptions { targets: vec!["null:4GiB".into()], upkeep, ..RealOptions::default() };
    let plan =
        Plan::parse("test.toml", &plan.text, &Overrides { set: vec!["run=300ms".into()], tags: Vec::new() })
            .unwrap();
    let mut world = RealWorld::open(&plan, &options, Arc::default()).unwrap();
    let outcome = measured(&plan, &mut world);
    assert!(outcome.complete);
    assert_eq!(std::fs::read_to_string(failed).unwrap(), "0\n");
    let (beside, watched) = (done(&outcome.points[4]).unwrap(), done(&outcome.points[5]).unwrap());
    assert!(beside.values.iter().all(|part| *part < 1.0), "{beside:?}");
    assert_eq!(watched.values.last(), Some(&1.0));
    assert!(watched.values.is_sorted() && watched.at_ns.is_sorted());
}

#[test]
fn a_command_that_fails_ends_the_run_with_what_it_said() {
    let home = tempfile::tempdir().unwrap();
    let plan = plan(LIFE);
    let upkeep = UpkeepOptions {
        progress: Some(real::Source::Command("echo 3%; exit 1".into())),
        fail: Some(format!("echo no such disk >&2; cd {}; exit 4", home.path().display())),
        begin: vec![(Work::Rebuild, "true".into())],
        rate: None,
    };
    let options = RealOptions { targets: vec!["null:4GiB".into()], upkeep, ..RealOptions::default() };
    let plan =
        Plan::parse("test.toml", &plan.text, &Overrides { set: vec!["run=100ms".into()], tags: Vec::new() })
            .unwrap();
    let mut world = RealWorld::open(&plan, &options, Arc::default()).unwrap();
    let outcome = conduct::run(&plan, &mut world, &mut |_| ());
    let error = outcome.error.unwrap();
    assert!(error.to_string().contains("no such disk"), "{error}");
    assert_eq!((error.exit_code(), outcome.points.len()), (5, 1));
}

/// The null target keeps a processor busy for each worker, which is at least a hundredth of any machine these tests are
/// run on.
#[test]
fn a_sweep_ends_once_the_processors_are_as_busy_as_the_plan_allows() {
    let plan = plan(
        "[[phase]]\nname = 'x{workers}'\nworkers = { sweep = [1, 2, 4] }\ndepth = 8\nrun = '300ms'\n\
         until = { cpu = '1%' }\n",
    );
    let mut why = None;
    let outcome = conduct::run(&plan, &mut null(&plan), &mut |event| {
        if let Event::SweepEnded { why: said, .. } = event {
            why = Some(said);
        }
    });
    assert_eq!((outcome.points.len(), outcome.complete), (1, true));
    let why = why.unwrap();
    assert!(why.starts_with("the processors are ") && why.ends_with(" % busy"), "{why}");
}

#[test]
fn what_the_program_can_ask_at_most_is_measured_where_storage_is_asked() {
    let home = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let plan = plan(
        "[[phase]]\nname = 'both'\nrun = '300ms'\nspan = '4MiB'\n[[phase.workload]]\nname = 'one'\nworkers = 2\n\
         [[phase.workload]]\nname = 'two'\npace = 'rate(100/s)'\nreads = '0%'\n",
    );
    let options = RealOptions { targets: vec![home.path().display().to_string()], ..RealOptions::default() };
    let outcome = measured(&plan, &mut RealWorld::open(&plan, &options, Arc::default()).unwrap());
    let workloads = &outcome.points[0].workloads;
    let ceilings: Vec<f64> = workloads
        .iter()
        .flat_map(|workload| &workload.workers)
        .map(|worker| worker.ceiling_per_s.unwrap())
        .collect();
    assert_eq!(ceilings.len(), 3);
    assert!(ceilings.iter().all(|ceiling| *ceiling > 100.0), "no pace holds it back: {ceilings:?}");
    // Nothing of it is in what was measured.
    assert!(workloads[1].completed <= 40, "{}", workloads[1].completed);
    assert!(workloads[1].late.is_some() && workloads[0].late.is_none());
    let on_null = plan_of_null();
    let outcome = measured(&on_null, &mut null(&on_null));
    assert_eq!(outcome.points[0].workloads[0].workers[0].ceiling_per_s, None);
}

fn plan_of_null() -> Plan {
    plan("[[phase]]\nname = 'null'\nrun = '100ms'\n")
}
