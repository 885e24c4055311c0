//! Plans that run on virtual arrays.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should say where")]

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use conduct::{Event, Outcome, World};
use modelled::ModelledWorld;
use record::{BreakdownWindow, DiskRole, Op};
use workload::plan::{Overrides, Plan};

fn plan(text: &str) -> Plan {
    Plan::parse("test.toml", text, &Overrides::default()).unwrap()
}

fn array(plan: &Plan) -> ModelledWorld {
    ModelledWorld::shipped(plan, "array:md3000?raid=10", Arc::default()).unwrap()
}

fn measured(plan: &Plan, world: &mut dyn World) -> Outcome {
    let outcome = conduct::run(plan, world, &mut |_| ());
    assert!(outcome.error.is_none(), "{:?}", outcome.error);
    outcome
}

/// Both worlds have this much to address.
const SPAN: &str = "1GiB";

fn mixed() -> Plan {
    plan(&format!(
        "[[phase]]\nname = 'mix'\npattern = 'random'\nsize = {{ '4KiB' = 60, '64KiB' = 40 }}\nreads = '70%'\n\
         depth = 8\nworkers = 3\nspan = '{SPAN}'\nops = 3000\nrun = '1h'\n"
    ))
}

#[test]
fn the_same_seed_gives_the_same_virtual_run_to_the_last_bit() {
    let plan = mixed();
    let run = || measured(&plan, &mut array(&plan)).points;
    assert_eq!(run(), run());
}

#[test]
fn littles_law_holds_in_virtual_time() {
    let plan =
        plan("[[phase]]\nname = 'reads'\npattern = 'random'\nsize = '8KiB'\ndepth = 16\nrun = '20s'\n");
    let outcome = measured(&plan, &mut array(&plan));
    let workload = &outcome.points[0].workloads[0];
    let total = workload.total().unwrap();
    let product = total.ops_per_s.value * total.response.as_ref().unwrap().mean_ns / 1e9;
    assert!(
        (product / workload.mean_in_flight - 1.0).abs() < 0.01,
        "{product} of {}",
        workload.mean_in_flight
    );
    let breakdown = outcome.points[0].breakdown.as_ref().unwrap();
    assert!(breakdown.components.iter().any(|part| part.name.contains("disk") && part.utilisation > 0.2));
}

#[test]
fn a_sweep_ends_when_more_load_no_longer_pays() {
    let plan = plan(
        "[[phase]]\nname = 'x{depth}'\npattern = 'random'\nsize = '4KiB'\nrun = '2s'\n\
         depth = { sweep = [1, 2, 4, 64, 128, 256, 512, 1024] }\nuntil = { flat = 'iops', within = '3%', points = 2 }\n",
    );
    let mut why = None;
    let outcome = conduct::run(&plan, &mut array(&plan), &mut |event| {
        if let Event::SweepEnded { why: reason, .. } = event {
            why = Some(reason);
        }
    });
    assert!(outcome.complete);
    assert!((4..8).contains(&outcome.points.len()), "{} points were measured", outcome.points.len());
    assert!(why.unwrap().contains("has not grown by more than 3 %"));
}

#[test]
fn a_failed_disk_and_a_rebuild_are_states_of_a_virtual_array() {
    let plan = plan(
        "[defaults]\npattern = 'random'\nsize = '8KiB'\ndepth = 8\nrun = '5s'\n\
         [[phase]]\nname = 'healthy'\n[[phase]]\nname = 'lost'\nstate = 'fail disk 2'\n[[phase]]\nname = 'degraded'\n",
    );
    let mut world = ModelledWorld::shipped(&plan, "array:md3000?raid=5", Arc::default()).unwrap();
    let outcome = measured(&plan, &mut world);
    let iops = |index: usize| outcome.points[index].workloads[0].total().unwrap().ops_per_s.value;
    assert_eq!(outcome.points.len(), 3);
    assert!(iops(2) < iops(0), "a busy RAID 5 set is slower without a disk: {} against {}", iops(2), iops(0));
}

#[test]
fn an_interrupted_plan_keeps_the_points_before() {
    let plan = plan(
        "[[phase]]\nname = 'x{depth}'\npattern = 'random'\nsize = '4KiB'\nrun = '1s'\ndepth = { sweep = [1, 2, 4] }\n",
    );
    let stop = Arc::new(AtomicBool::new(false));
    let mut world = ModelledWorld::shipped(&plan, "array:md3000", stop.clone()).unwrap();
    let outcome = conduct::run(&plan, &mut world, &mut |event| {
        if matches!(event, Event::PointEnded { .. }) {
            stop.store(true, Ordering::Relaxed);
        }
    });
    assert!(!outcome.complete);
    assert_eq!(outcome.points.len(), 1);
}

#[test]
fn an_unknown_array_is_refused_with_the_nearest_name() {
    let plan = mixed();
    let error = ModelledWorld::shipped(&plan, "array:md300", Arc::default()).err().unwrap().to_string();
    assert!(error.contains("md3000"), "{error}");
}

#[test]
fn a_disk_that_is_not_there_cannot_fail() {
    let plan = plan("[[phase]]\nname = 'lost'\nstate = 'fail disk 99'\n");
    let outcome = conduct::run(&plan, &mut array(&plan), &mut |_| ());
    let error = outcome.error.unwrap();
    assert_eq!(error.exit_code(), 2);
    assert!(error.to_string().contains("its 15 disks count from 0"), "{error}");
}

#[test]
fn a_record_tells_disks_that_have_failed_or_are_being_filled_from_members_and_among_how_many_commands_they_choose()
 {
    let load = |name: &str| {
        format!(
            "[[phase]]\nname = '{name}'\npattern = 'random'\nsize = '8KiB'\nreads = '50%'\ndepth = 64\n\
             settle = 'none'\nrun = '12s'\n"
        )
    };
    let plan = plan(&format!(
        "{}[[phase]]\nstate = 'fail disk 3'\n{}[[phase]]\nstate = 'rebuild'\nwait = false\n{}",
        load("healthy"),
        load("degraded"),
        load("rebuilding")
    ));
    let mut world = ModelledWorld::shipped(&plan, "array:md3000?raid=5&disks=12", Arc::default()).unwrap();
    let outcome = measured(&plan, &mut world);
    let disks = |index: usize| {
        let breakdown = outcome.points[index].breakdown.as_ref().unwrap();
        breakdown.components.iter().filter(|part| part.name.starts_with("disk "))
    };
    let told = |index| {
        let told = disks(index).filter_map(|part| Some((part.name.clone(), part.role?)));
        told.collect::<Vec<_>>()
    };
    assert_eq!(told(0), [("disk 12".into(), DiskRole::Spare)]);
    let failed = ("disk 3".into(), DiskRole::Failed);
    assert_eq!(told(2), [failed.clone(), ("disk 12".into(), DiskRole::Spare)]);
    assert_eq!(told(4), [failed, ("disk 12".into(), DiskRole::Filling)]);
    assert!(disks(0).all(|part| part.chooses_among == Some(64)));
    let queues = outcome.points[0].breakdown.as_ref().unwrap().lun_queues.unwrap();
    assert_eq!((queues.depth, queues.mean_waiting), (64, 0.0));
}

#[test]
fn flash_that_writes_as_fast_as_it_can_and_a_thread_that_does_are_busy_and_waited_for() {
    let parts = |reads: &str| {
        let plan = plan(&format!(
            "[[phase]]\nname = 'x'\npattern = 'random'\nsize = '8KiB'\nreads = '{reads}'\ndepth = 128\nspan = '400GB'\n\
             warmup = '1s'\nrun = '1s'\n"
        ));
        let mut world =
            ModelledWorld::shipped(&plan, "array:s3500-raid-8?raid=10&disks=4", Arc::default()).unwrap();
        let outcome = measured(&plan, &mut world);
        outcome.points.into_iter().next().unwrap().breakdown.unwrap().components
    };
    // Half of the requests in flight wait there.
    let is_limit = |part: &record::Component| part.utilisation > 0.98 && part.wait_ns > 64_000_000_000 / 4;
    let mixed = parts("70%");
    let disks: Vec<_> = mixed.iter().filter(|part| part.name.starts_with("disk ")).collect();
    assert!(disks.iter().all(|disk| is_limit(disk)), "{disks:#?}");
    assert!(
        disks.iter().all(|disk| disk.busiest.as_deref() == Some("flash write path") && disk.servers == 1)
    );
    let only_reads = parts("100%");
    let thread = only_reads.iter().find(|part| part.name == "host 0 busiest thread").unwrap();
    assert!(is_limit(thread), "{thread:?}");
    assert!(only_reads.iter().filter(|part| part.name.starts_with("disk ")).all(|disk| !is_limit(disk)));
}

#[test]
fn a_rebuild_tells_how_far_it_has_come() {
    let plan = plan(
        "[[phase]]\nname = 'lost'\nstate = 'fail disk 1'\n[[phase]]\nname = 'rebuilt'\nstate = 'rebuild'\n",
    );
    let mut world = ModelledWorld::shipped(&plan, "array:perc-3-qc?raid=5&disks=4", Arc::default()).unwrap();
    let outcome = measured(&plan, &mut world);
    let series = &outcome.points[1].series[0];
    assert_eq!(series.values.last(), Some(&1.0));
    assert!(series.at_ns.is_sorted() && *series.at_ns.last().unwrap() <= outcome.points[1].ended_ns);
}

/// All that may be done to files, one after the other, by three workers that meet in their directories.
#[test]
fn a_rebuild_reads_each_survivor_once_and_writes_the_lost_member_once() {
    let states = plan("[[phase]]\nstate = 'fail disk 2'\n[[phase]]\nstate = 'rebuild'\n");
    let address = "array:sas-ssd-24?raid=5&disks=5&spares=0&devices.with.capacity=4GB";
    let mut world = ModelledWorld::shipped(&states, address, Arc::default()).unwrap();
    let outcome = measured(&states, &mut world);
    let rebuilt = &outcome.points[1];
    let breakdown = rebuilt.breakdown.as_ref().unwrap();
    let window = breakdown.window.unwrap();
    assert_eq!(
        (window.from_ns, window.until_ns, window.warmup_ns),
        (rebuilt.started_ns, rebuilt.ended_ns, 0)
    );
    let moved = |disk: u32| {
        let name = format!("disk {disk}");
        let part = breakdown.components.iter().find(|part| part.name == name).unwrap();
        (part.read_bytes.unwrap(), part.written_bytes.unwrap())
    };
    let (nothing, member) = moved(2);
    assert!(nothing == 0 && (3_900_000_000..=4_000_000_000).contains(&member), "{member}");
    for survivor in [0, 1, 3, 4] {
        assert_eq!(moved(survivor), (member, 0), "disk {survivor}");
    }
}

fn breakdown_of(text: &str) -> (record::Point, BreakdownWindow) {
    let plan = plan(text);
    let point = measured(&plan, &mut array(&plan)).points.remove(0);
    let window = point.breakdown.as_ref().unwrap().window.unwrap();
    assert_eq!(window.warmup_ns, 0, "none of it is inside");
    (point, window)
}

#[test]
fn a_breakdown_of_a_load_has_nothing_of_its_warm_up_in_it() {
    // The cache takes the first writes at once; from then on each costs four operations of disks.
    let load = "[[phase]]\nname = 'a'\npattern = 'random'\nsize = '8KiB'\nreads = '0%'\ndepth = 8\n";
    let (point, window) = breakdown_of(&format!("{load}warmup = '2s'\nrun = '7s'\n"));
    assert_eq!(window.from_ns - point.started_ns, 2_000_000_000);
    assert_eq!((point.warmed_up_ns(), point.metered_ns()), (2_000_000_000, window.until_ns - window.from_ns));
    let breakdown = point.breakdown.as_ref().unwrap();
    let host = breakdown.components.iter().find(|part| part.name == "host 0 processor").unwrap();
    let (writes, bytes) = point.metered(Op::Write);
    assert_eq!(bytes, writes * 8192);
    let in_flight = 8;
    assert!(host.visits.abs_diff(writes) <= in_flight, "{} for {writes} writes", host.visits);
    let busy = point.series.iter().find(|series| series.name.ends_with("disk 0.busy")).unwrap();
    assert!(busy.from_ns == Some(point.started_ns) && busy.values.len() >= 5, "{busy:?}");
    assert!(busy.values.iter().all(|share| *share > 0.0), "{busy:?}");
}

#[test]
fn a_breakdown_begins_where_the_last_workload_has_warmed_up_that_does_so_beside_the_others() {
    let of = |start: &str| {
        breakdown_of(&format!(
            "[[phase]]\nname = 'a'\nrun = '3s'\n[[phase.workload]]\nname = 'one'\nwarmup = '1s'\n\
             [[phase.workload]]\nname = 'other'\nstart = '{start}'\nwarmup = '1s'\n"
        ))
    };
    for (start, begins_s) in [("2s", 3), ("4s", 1)] {
        let (point, window) = of(start);
        assert_eq!((window.from_ns - point.started_ns) / 1_000_000_000, begins_s, "{start}");
    }
}

#[test]
fn a_warm_up_by_bytes_ends_for_all_workers_at_once_and_run_lasts_from_then() {
    let text = "[[phase]]\nname = 'a'\npattern = 'random'\nsize = '8KiB'\nreads = '0%'\nworkers = 3\ndepth = 4\n\
                warmup_bytes = '24MiB'\nrun = '2s'\n";
    let plan = plan(text);
    let outcome = measured(&plan, &mut array(&plan));
    let point = &outcome.points[0];
    let workload = &point.workloads[0];
    let window = point.breakdown.as_ref().unwrap().window.unwrap();
    assert_eq!(point.warmed_up_ns(), workload.measured_from_ns - point.started_ns);
    assert_eq!(workload.measured_ns, 2_000_000_000);
    assert!(point.warmed_up_ns() > 10_000_000, "{window:?}");
    let cache = point.breakdown.as_ref().unwrap().write_cache.as_ref().unwrap();
    let held = cache.unwritten_measured_bytes.unwrap();
    assert!(held > cache.unwritten_before_bytes && held < 48 << 20, "{cache:?}");
}

fn of_files() -> Plan {
    let ops = [
        "mkdir", "create", "write", "stat", "open", "read", "link", "symlink", "rename", "readdir", "delete",
        "rmdir",
    ];
    let phase = |op: &str| format!("[[phase]]\nname = '{op}'\ntree = '{op}'\n");
    let phases: String = ops.into_iter().map(phase).collect();
    plan(&format!(
        "[defaults]\ncount = 200\nfile_size = '0B..9KiB'\nlevels = 2\nfanout = 3\nfiles_in = 'all'\nworkers = 3\n\
         order = 'random'\nfsync = 'each'\n{phases}"
    ))
}

#[test]
fn a_flush_for_each_file_costs_the_array_what_it_takes_to_be_durable() {
    let rate = |fsync: &str| {
        let plan = plan(&format!("[[phase]]\nname = 'a'\ntree = 'create'\ncount = 500\nfsync = '{fsync}'\n"));
        let outcome = measured(&plan, &mut array(&plan));
        outcome.points[0].workloads[0].total().unwrap().ops_per_s.value
    };
    let (none, each) = (rate("none"), rate("each"));
    assert!(none > 50_000.0, "made in memory: {none}");
    assert!(each < none / 5.0, "{each} of {none}");
}

#[test]
fn the_same_seed_gives_the_same_virtual_files_to_the_last_bit() {
    let plan = of_files();
    assert_eq!(measured(&plan, &mut array(&plan)).points, measured(&plan, &mut array(&plan)).points);
}

#[test]
fn a_sweep_ends_when_a_promise_is_broken() {
    let plan = plan(
        "[[phase]]\nname = 'x{depth}'\npattern = 'random'\nsize = '4KiB'\nrun = '5s'\n\
         depth = { sweep = [1, 2, 4, 8, 16, 32] }\nuntil = { slo = 'mean<0.35ms', errors = '1%' }\n",
    );
    let mut why = None;
    let mut world = ModelledWorld::shipped(&plan, "array:queue", Arc::default()).unwrap();
    let outcome = conduct::run(&plan, &mut world, &mut |event| {
        if let Event::SweepEnded { why: reason, .. } = event {
            why = Some(reason);
        }
    });
    // One server of 0.1 ms: four in flight take 0.4 ms.
    assert!(outcome.complete);
    assert_eq!(outcome.points.len(), 3);
    assert_eq!(why.as_deref(), Some("mean<350us is violated"));
}

#[test]
fn rounds_end_once_their_figure_is_steady() {
    let text = "[[phase]]\nname = '{reads}'\nsize = '4KiB'\ndepth = 4\nrun = '2s'\nspan = '1GiB'\n\
                reads = { sweep = ['100%', '0%'] }\n\
                rounds = { most = 9, steady = 'iops', at = { reads = '100%' } }\n[[phase]]\nname = 'after'\nrun = '1s'\nspan = '1GiB'\n";
    let plan = plan(text);
    let mut told = Vec::new();
    let outcome = conduct::run(&plan, &mut array(&plan), &mut |event| {
        if let Event::SweepEnded { why, .. } = event {
            told.push(why);
        }
    });
    let [rounds] = &outcome.rounds[..] else { panic!("{:?}", outcome.rounds) };
    assert!(rounds.steady && outcome.complete);
    assert_eq!((rounds.most, rounds.figure.as_str()), (9, "iops"));
    // The round with which it became steady is carried to its end, and the next phase follows.
    let last = rounds.values.len();
    assert!((5..9).contains(&last), "{rounds:?}");
    assert_eq!(outcome.points.len(), 2 * last + 1);
    assert_eq!(outcome.points[2 * last - 1].swept["round"], last.to_string());
    let window = rounds.window.unwrap();
    assert!((window.mean - rounds.values[last - 5..].iter().sum::<f64>() / 5.0).abs() < 1e-6);
    assert_eq!(told.len(), 1);
    assert!(told[0].contains(&format!("steady over rounds {} to {last}", last - 4)), "{told:?}");
}

const LIFE: &str = "[defaults]\nsize = '8KiB'\nreads = '2/3'\npace = 'rate(50/s)'\ndepth = 8\nrun = '5s'\nspan = '1GiB'\n\
    [[phase]]\nname = 'healthy'\n[[phase]]\nstate = 'fail disk 0'\n[[phase]]\nname = 'degraded'\n\
    [[phase]]\nstate = 'rebuild'\nwait = false\n[[phase]]\nname = 'rebuilding'\n\
    [[phase]]\nstate = 'watch rebuild'\n[[phase]]\nname = 'rebuilt'\n";

fn done(point: &record::Point) -> Option<&record::Series> {
    point.series.iter().find(|series| series.name == "rebuild done")
}

#[test]
fn a_virtual_array_is_watched_to_the_end_of_its_rebuild() {
    let plan = plan(LIFE);
    let outcome = measured(&plan, &mut array(&plan));
    assert_eq!(outcome.points.len(), 7);
    let watched = done(&outcome.points[5]).expect("the rebuild was watched");
    assert_eq!(watched.values.last(), Some(&1.0));
    assert_eq!(watched.at_ns.last(), Some(&outcome.points[5].ended_ns));
    // Nothing was done when it began, and how far it was when the load ended is no whole percent.
    let beside = done(&outcome.points[4]).expect("the load ran beside the rebuild");
    assert_eq!((beside.at_ns[0], beside.values[0]), (outcome.points[3].started_ns, 0.0));
    assert_eq!(beside.at_ns.last(), Some(&outcome.points[4].ended_ns));
    assert!(
        beside.values.last().is_some_and(|part| *part > 0.0 && (part * 100.0).fract() != 0.0),
        "{beside:?}"
    );
    // Afterwards nothing goes on any more.
    assert!(done(&outcome.points[6]).is_none());
}

#[test]
fn nothing_can_be_watched_where_nothing_goes_on() {
    let plan = plan("[[phase]]\nstate = 'watch rebuild'\n");
    let outcome = conduct::run(&plan, &mut array(&plan), &mut |_| ());
    assert!(outcome.error.unwrap().to_string().contains("no rebuild under way"));
}

/// Workloads that between them meet every part that the shipped arrays have.
const MANY: &str = "[defaults]\nrun = '200ms'\nseed = 7\n\
     [[phase]]\nname = 'reads'\npattern = 'random'\nsize = '8KiB'\ndepth = 16\n\
     [[phase]]\nname = 'writes'\npattern = 'random'\nsize = '4KiB'\nreads = '0%'\ndepth = 8\n\
     [[phase]]\nname = 'streams'\npattern = 'sequential'\nsize = '256KiB'\nreads = '2/3'\nworkers = 3\ndepth = 2\n\
     [[phase]]\nname = 'large'\npattern = 'random'\nsize = '2MiB'\nreads = '50%'\ndepth = 4\n\
     [[phase]]\nname = 'buffered'\npattern = 'sequential'\nsize = '64KiB'\nreads = '80%'\ndirect = false\nworkers = 2\n\
     [[phase]]\nname = 'rate'\npattern = 'random'\nsize = '4KiB'\nreads = '70%'\ndepth = 4\npace = 'rate(400/s, poisson)'\n\
     [[phase]]\nname = 'lost'\nstate = 'fail disk 0'\n\
     [[phase]]\nname = 'degraded'\npattern = 'random'\nsize = '16KiB'\nreads = '60%'\ndepth = 8\nflush_every = 50\n";

#[test]
fn the_shares_of_a_response_add_up_to_its_mean_on_every_array() {
    use array::spec::{Shelf, Shipped, Source, array_file};
    let plan = plan(MANY);
    let mut arrays = 0;
    for name in Shipped.names(Shelf::Array) {
        if array_file(&Shipped, &name).is_ok_and(|file| file.part) {
            continue;
        }
        let mut world = ModelledWorld::shipped(&plan, &format!("array:{name}"), Arc::default()).unwrap();
        world.keep_shares();
        let outcome = conduct::run(&plan, &mut world, &mut |_| {});
        arrays += 1;
        for point in outcome.points.iter().filter(|point| !point.workloads.is_empty()) {
            let place = format!("{} on {name}", point.name);
            let classes = point.workloads[0].classes.iter().filter(|class| class.response.count > 0);
            let shares = &point.breakdown.as_ref().unwrap().shares;
            assert_eq!(shares.len(), classes.clone().count(), "{place}");
            for (share, class) in shares.iter().zip(classes) {
                assert_eq!((&share.op, share.size_bytes), (&class.op, class.size_bytes), "{place}");
                assert_eq!(share.all.requests, class.response.count, "{place}");
                let mean_ns = class.response.sum_ns as f64 / class.response.count as f64;
                assert_eq!(share.all.mean_ns, mean_ns, "{place}");
                for shares in [Some(&share.all), share.tail.as_ref()].into_iter().flatten() {
                    let sum: f64 = shares.parts.iter().map(|part| part.wait_ns + part.service_ns).sum();
                    assert!((sum / shares.mean_ns - 1.0).abs() < 1e-12, "{place}: {sum} {shares:?}");
                    let unclaimed = shares.parts.iter().find(|part| part.part == "unclaimed");
                    assert_eq!(unclaimed, None, "{place}: {share:?}");
                }
            }
        }
    }
    assert!(arrays >= 10, "{arrays} arrays");
}

#[test]
fn a_point_can_be_told_as_far_as_it_has_come() {
    let plan = plan("[[phase]]\nsize = '4KiB'\npace = 'rate(50/s)'\nwarmup = '5s'\nrun = '60s'\n");
    let mut world = array(&plan);
    let mut grown = Vec::new();
    let outcome = conduct::run(&plan, &mut world, &mut |event| {
        if let Event::Live { so_far: Some(so_far), .. } = event {
            grown.push(so_far());
        }
    });
    let whole = &outcome.points[0];
    assert!(grown.len() > 30, "{}", grown.len());
    let ops = |point: &record::Point| -> Vec<f64> {
        let series = point.series.iter().find(|series| series.name == "read ops");
        series.map(|series| series.values.clone()).unwrap_or_default()
    };
    let all = ops(whole);
    for (number, point) in grown.iter().enumerate() {
        let own = ops(point);
        assert!(!point.complete && own.len() > number, "{} seconds after {number}", own.len());
        assert_eq!(own[..], all[..own.len()], "after {number}");
    }
    let last = grown.last().unwrap();
    let rate = |point: &record::Point| point.workloads[0].total().unwrap().ops_per_s.value;
    assert!((rate(last) - rate(whole)).abs() < 2.0, "{} of {}", rate(last), rate(whole));
}

#[test]
fn what_a_page_cache_writes_back_is_no_second_request_and_no_answer_of_its_own() {
    let of = |direct: bool, more: &str| {
        let plan = plan(&format!(
            "[[phase]]\nname = 'a'\npattern = 'random'\nsize = '8KiB'\nreads = '0%'\ndepth = 4\ndirect = {direct}\n{more}\n"
        ));
        measured(&plan, &mut array(&plan)).points.remove(0)
    };
    let asked = |point: &record::Point| point.breakdown.as_ref().unwrap().host_traffic.unwrap();
    let length = "warmup = '20s'\nrun = '5s'";
    let (through, past) = (of(false, length), of(true, length));
    let completed = |point: &record::Point| point.workloads[0].classes.iter().map(|one| one.ops).sum::<u64>();
    for point in [&through, &past] {
        let (requests, ended) = (asked(point).requests as f64, completed(point) as f64);
        assert!((requests / ended - 1.0).abs() < 0.02, "{requests} requests of {ended}");
    }
    assert_eq!((asked(&past).answered_by_pages(), asked(&past).part_max_bytes), (None, 512 << 10));
    let answered = asked(&through).answered_by_pages().unwrap();
    assert!(answered < 0.02, "all of it is written back: {answered}");
    let held = plan(
        "[[phase]]\nname = 'a'\npattern = 'random'\nsize = '4KiB'\nspan = '4MiB'\ndirect = false\nwarmup = '6s'\nrun = '300ms'\n",
    );
    let held = measured(&held, &mut array(&held)).points.remove(0);
    assert!(asked(&held).answered_by_pages().unwrap() > 0.99, "{:?}", asked(&held));
    assert!(asked(&held).parts < asked(&held).requests / 100, "{:?}", asked(&held));
}

#[test]
fn a_record_tells_what_flash_took_with_one_bit_a_cell_and_what_went_past_that() {
    let of = |size: &str, options: &str| {
        let plan = plan(&format!(
            "[[phase]]\nname = 'a'\npattern = 'sequential'\nsize = '128KiB'\nreads = '0%'\ndepth = 8\nwarmup = '1s'\nrun = '1s'\n{size}"
        ));
        let address = format!("array:ssd-1?drive=qvo-870-4000{options}");
        let mut world = ModelledWorld::shipped(&plan, &address, Arc::default()).unwrap();
        measured(&plan, &mut world).points.remove(0).breakdown.unwrap().slc_cache
    };
    let filling = of("", "").unwrap();
    assert_eq!((filling.size_bytes, filling.beyond_bytes), (78_000_000_000, 0), "{filling:?}");
    let rate = filling.taken_bytes as f64;
    assert!((rate / 530e6 - 1.0).abs() < 0.02 && filling.held_bytes > filling.taken_bytes, "{filling:?}");
    let full = of("", "&devices.with.flash.slc_cache.size=256MiB").unwrap();
    assert_eq!(full.taken_bytes, 0, "{full:?}");
    assert!((full.beyond_bytes as f64 / full.behind_bytes_per_s - 1.0).abs() < 0.05, "{full:?}");
    let fresh = plan("[[phase]]\nname = 'a'\nsize = '4KiB'\nrun = '1s'\n");
    let plain = measured(&fresh, &mut array(&fresh)).points.remove(0);
    assert_eq!(plain.breakdown.unwrap().slc_cache, None, "its disks rotate");
}
