//! Ranks as threads of one process: the same messages that go by MPI.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should say where")]

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use cluster::{
    Ended, Head, Hello, Link, Pieces, Refused, Threads, Transport, WorkItems, decline, run_work_items, serve,
};
use conduct::{Event, Outcome, World};
use real::{RealOptions, RealWorld};
use workload::plan::{Overrides, Plan};

fn plan(text: &str) -> Plan {
    Plan::parse("test.toml", text, &Overrides::default()).unwrap()
}

fn hello(rank: usize) -> Hello {
    Hello {
        version: "1".into(),
        plan: "p".into(),
        host: format!("host-{rank}"),
        processors: 2,
        targets: vec!["null:".into()],
        lengths: Vec::new(),
        began_ns: 1_000_000_000 + 5_000_000_000 * rank as u64,
        refused: None,
    }
}

fn options(target: &str) -> RealOptions {
    RealOptions { targets: vec![target.into()], scratch: None, ..RealOptions::default() }
}

fn alone(plan: &Plan, target: &str) -> Outcome {
    let mut world = RealWorld::open(plan, &options(target), Arc::default()).unwrap();
    let outcome = conduct::run(plan, &mut world, &mut |_| ());
    assert!(world.put_back().is_empty());
    outcome
}

/// What rank 0 came to, and how the others ended; each says of itself what `say` makes of its greeting.
fn together(
    plan: &Plan,
    target: &str,
    size: usize,
    say: fn(usize, Hello) -> Hello,
) -> (Result<Outcome, Refused>, Vec<Ended>) {
    watched(plan, target, size, say, &mut |_| ())
}

/// The same, with rank 0 told of what happens.
fn watched(
    plan: &Plan,
    target: &str,
    size: usize,
    say: fn(usize, Hello) -> Hello,
    watch: &mut dyn FnMut(&Event<'_>),
) -> (Result<Outcome, Refused>, Vec<Ended>) {
    let mut ends: Vec<Arc<Link>> =
        Threads::ranks(size).into_iter().map(|end| Arc::new(Link::new(Arc::new(end), || false))).collect();
    let head = ends.remove(0);
    std::thread::scope(|scope| {
        let peers: Vec<_> = (1..)
            .zip(ends)
            .map(|(rank, link)| {
                scope.spawn(move || {
                    let stop: Arc<AtomicBool> = Arc::default();
                    let mut world = RealWorld::open(plan, &options(target), stop.clone()).unwrap();
                    serve(&link, say(rank, hello(rank)), plan, &mut world, false, &stop)
                })
            })
            .collect();
        let stop: Arc<AtomicBool> = Arc::default();
        let world = RealWorld::open(plan, &options(target), stop.clone()).unwrap();
        let opened = Head::open(Box::new(world), head, plan, &hello(0), false, stop);
        let outcome = opened.map(|mut head| {
            let outcome = conduct::run(plan, &mut head, &mut |event| watch(&event));
            assert!(head.put_back().is_empty());
            outcome
        });
        (outcome, peers.into_iter().map(|peer| peer.join().unwrap()).collect())
    })
}

const COUNTED: &str = "seed = 7\n[defaults]\nops = 30_000\nrun = 'none'\nwarmup = '0s'\nspan = '64MiB'\nengine = 'null'\n\
    [[phase]]\nname = 'random {workers}'\nworkers = { sweep = [1, 3, 5] }\nreads = '2/3'\nsize = '4KiB'\n\
    [[phase]]\nname = 'sequential'\npattern = 'sequential'\nworkers = 4\nsize = '64KiB'\n";

#[test]
fn the_merged_record_of_any_number_of_ranks_is_that_of_one_process_with_the_same_jobs() {
    let plan = plan(COUNTED);
    let alone = alone(&plan, "null:1GiB");
    assert!(alone.error.is_none(), "{:?}", alone.error);
    for size in [2, 4] {
        let (outcome, ended) = together(&plan, "null:1GiB", size, |_, hello| hello);
        assert!(ended.iter().all(|each| *each == Ended::Done), "{ended:?}");
        let outcome = outcome.unwrap();
        assert!(outcome.complete && outcome.error.is_none(), "{:?}", outcome.error);
        assert_eq!(outcome.points.len(), alone.points.len());
        for (one, many) in alone.points.iter().zip(&outcome.points) {
            let (one_load, many_load) = (&one.workloads[0], &many.workloads[0]);
            assert_eq!(one_load.digests, many_load.digests, "{}", one.name);
            assert_eq!(one_load.totals, many_load.totals, "{}", one.name);
            assert_eq!(one_load.span_bytes, many_load.span_bytes);
            assert_eq!((one_load.planned, one_load.completed), (many_load.planned, many_load.completed));
            let counts = |load: &record::WorkloadResult| -> Vec<_> {
                load.classes.iter().map(|class| (class.op, class.size_bytes, class.response.count)).collect()
            };
            assert_eq!(counts(one_load), counts(many_load), "no request is lost in merging");
            assert_eq!(many.ranks.len(), size);
            let workers: u32 = many.ranks.iter().map(|rank| rank.workers).sum();
            assert_eq!(workers as usize, many_load.workers.len());
            assert_eq!(
                many.ranks.iter().map(|rank| rank.ops).sum::<u64>(),
                many_load.workers.iter().map(|worker| worker.ops).sum::<u64>()
            );
        }
    }
}

#[test]
fn a_date_that_is_five_seconds_ahead_is_told_and_spoils_no_start() {
    let plan = plan(
        "[defaults]\nengine = 'null'\nrun = '1s'\nwarmup = '0s'\nspan = '64MiB'\n[[phase]]\nworkers = 2\ndepth = 4\n",
    );
    let (outcome, _) = together(&plan, "null:1GiB", 2, |_, hello| hello);
    let outcome = outcome.unwrap();
    let [point] = &outcome.points[..] else { panic!("one point") };
    let clock = point.ranks[1].clock.unwrap();
    // Both worlds were opened within a second of each other.
    assert!((4_000_000_000..=6_000_000_000).contains(&clock.offset_ns), "{clock:?}");
    assert!(clock.uncertainty_ns < 100_000_000, "{clock:?}");
    let rates =
        point.series.iter().filter(|series| series.name.ends_with(" ops")).flat_map(|each| &each.at_ns);
    assert_eq!(rates.count(), 1, "the seconds of both are the same");
}

#[test]
fn ranks_of_another_version_or_plan_or_without_leave_end_before_anything_is_done() {
    let plan = plan("[defaults]\nengine = 'null'\nrun = '1s'\n[[phase]]\nworkers = 2\n");
    let version =
        |rank: usize, hello: Hello| if rank == 1 { Hello { version: "2".into(), ..hello } } else { hello };
    let other_plan =
        |rank: usize, hello: Hello| if rank == 2 { Hello { plan: "q".into(), ..hello } } else { hello };
    for (say, what) in
        [(version as fn(usize, Hello) -> Hello, "version 2"), (other_plan as fn(_, _) -> _, "plan q")]
    {
        let (outcome, ended) = together(&plan, "null:1GiB", 3, say);
        let refused = outcome.map(|_| ()).unwrap_err();
        assert!(refused.code == 2 && refused.why.contains(what), "{refused:?}");
        assert!(ended.iter().all(|each| *each == Ended::Refused(refused.clone())), "{ended:?}");
    }
    let mut ends = Threads::ranks(2).into_iter().map(|end| Arc::new(Link::new(Arc::new(end), || false)));
    let (head, peer) = (ends.next().unwrap(), ends.next().unwrap());
    let why = Refused { code: 3, why: "no consent".into() };
    let told = std::thread::spawn(move || decline(&peer, hello(1), why));
    let world = RealWorld::open(&plan, &options("null:1GiB"), Arc::default()).unwrap();
    let refused = Head::open(Box::new(world), head, &plan, &hello(0), false, Arc::default()).map(|_| ());
    let refused = refused.unwrap_err();
    assert_eq!((refused.code, refused.why.as_str()), (3, "rank 1 on host-1: no consent"));
    assert_eq!(told.join().unwrap(), Ended::Refused(refused));
}

/// What becomes of `plan` on two hosts, whose files have so many MiB, and of rank 1.
fn on_files_of(plan: &Plan, mebibytes: [u64; 2]) -> (Result<Outcome, Refused>, Ended) {
    let home = tempfile::tempdir().unwrap();
    let file = |rank: usize| {
        let path = home.path().join(format!("file-{rank}"));
        std::fs::File::create(&path).unwrap().set_len(mebibytes[rank] << 20).unwrap();
        path.display().to_string()
    };
    on_targets(plan, &file)
}

/// The same where `target` names that of each rank.
fn on_targets(plan: &Plan, target: &(dyn Fn(usize) -> String + Sync)) -> (Result<Outcome, Refused>, Ended) {
    let mut ends = Threads::ranks(2).into_iter().map(|end| Arc::new(Link::new(Arc::new(end), || false)));
    let (head, peer) = (ends.next().unwrap(), ends.next().unwrap());
    let opened = |rank: usize, stop: &Arc<AtomicBool>| {
        let target = target(rank);
        let world = RealWorld::open(plan, &options(&target), stop.clone()).unwrap();
        let lengths = world.lengths().into_iter().map(|length| length.map(units::Bytes::get)).collect();
        (world, Hello { targets: vec![target], lengths, ..hello(rank) })
    };
    std::thread::scope(|scope| {
        let other = scope.spawn(|| {
            let stop = Arc::default();
            let (mut world, hello) = opened(1, &stop);
            serve(&peer, hello, plan, &mut world, false, &stop)
        });
        let stop = Arc::default();
        let (world, hello) = opened(0, &stop);
        let outcome = Head::open(Box::new(world), head, plan, &hello, false, stop).map(|mut head| {
            let outcome = conduct::run(plan, &mut head, &mut |_| ());
            assert!(head.put_back().is_empty());
            outcome
        });
        (outcome, other.join().unwrap())
    })
}

#[test]
fn targets_of_different_size_are_refused_with_both_hosts_unless_the_span_is_one_that_both_have() {
    let with = |span: &str| {
        let keys = "ops = 64\nrun = 'none'\nwarmup = '0s'\nsize = '4KiB'\ndirect = false\nengine = 'pread'\nworkers = 2";
        plan(&format!("[defaults]\n{keys}\n[[phase]]\nname = 'read'\n{span}\n"))
    };
    for (span, remedy) in [
        ("", Some("`--set span=2MiB` or less")),
        ("span = '50%'", Some("`--set span=2MiB` or less")),
        ("offset = '512KiB'", Some("`--set span=1536KiB` or less")),
        ("span = '1MiB'\noffset = '25%'", None),
    ] {
        let (outcome, ended) = on_files_of(&with(span), [4, 2]);
        let refused = outcome.map(|_| ()).unwrap_err();
        assert_eq!(refused.code, 2, "{span}: {refused}");
        let parts = ["rank 0 on host-0 has", "file-0 of 4MiB", "rank 1 on host-1 has", "file-1 of 2MiB"];
        for part in parts.into_iter().chain(["point `read`", "of one size"]).chain(remedy) {
            assert!(refused.why.contains(part), "{span}: {part} is not in {refused}");
        }
        assert_eq!(refused.why.contains("--set"), remedy.is_some(), "{refused}");
        assert_eq!(ended, Ended::Refused(refused));
    }
    for (span, sizes, used) in [("span = '2MiB'", [4, 2], 2), ("span = '1MiB'", [2, 4], 1), ("", [4, 4], 4)] {
        let (outcome, ended) = on_files_of(&with(span), sizes);
        let outcome = outcome.unwrap();
        assert!(outcome.complete && ended == Ended::Done, "{span}: {:?} {ended:?}", outcome.error);
        assert_eq!(outcome.points[0].workloads[0].span_bytes, Some(used << 20), "{span}");
    }
}

#[test]
fn null_targets_of_different_size_are_refused_as_files_are() {
    let keys = "ops = 64\nrun = 'none'\nwarmup = '0s'\nsize = '4KiB'\nengine = 'null'\nworkers = 2";
    let plan = plan(&format!("[defaults]\n{keys}\n[[phase]]\n"));
    let sized = |sizes: [&'static str; 2]| on_targets(&plan, &move |rank| format!("null:{}", sizes[rank]));
    let refused = sized(["1GiB", "512MiB"]).0.map(|_| ()).unwrap_err();
    assert!(
        refused.why.contains("null:1GiB of 1GiB, rank 1 on host-1 has null:512MiB of 512MiB"),
        "{refused}"
    );
    assert!(sized(["1GiB", "1GiB"]).0.is_ok_and(|outcome| outcome.complete));
}

/// A transport that says nothing more and hears nothing once it is cut.
struct Cut {
    inner: Threads,
    is_cut: Arc<AtomicBool>,
}

impl Transport for Cut {
    fn rank(&self) -> usize {
        self.inner.rank()
    }

    fn size(&self) -> usize {
        self.inner.size()
    }

    fn send(&self, to: usize, bytes: Vec<u8>) {
        if !self.is_cut.load(std::sync::atomic::Ordering::Relaxed) {
            self.inner.send(to, bytes);
        }
    }

    fn receive(&self, wait: std::time::Duration) -> Option<(usize, Vec<u8>)> {
        let received = self.inner.receive(wait);
        received.filter(|_| !self.is_cut.load(std::sync::atomic::Ordering::Relaxed))
    }
}

#[test]
fn a_rank_that_falls_silent_ends_the_point_and_what_the_others_measured_is_kept() {
    let plan = plan(
        "[defaults]\nengine = 'null'\nrun = '60s'\nwarmup = '0s'\npace = 'rate(200/s)'\nspan = '64MiB'\n[[phase]]\nworkers = 2\ndepth = 4\n",
    );
    let mut ends = Threads::ranks(2).into_iter();
    let head = Arc::new(Link::new(Arc::new(ends.next().unwrap()), || false));
    let is_cut: Arc<AtomicBool> = Arc::default();
    let cut = Cut { inner: ends.next().unwrap(), is_cut: is_cut.clone() };
    let peer = Arc::new(Link::new(Arc::new(cut), || false));
    std::thread::scope(|scope| {
        let plan = &plan;
        let other = scope.spawn(move || {
            let stop: Arc<AtomicBool> = Arc::default();
            let mut world = RealWorld::open(plan, &options("null:1GiB"), stop.clone()).unwrap();
            serve(&peer, hello(1), plan, &mut world, false, &stop)
        });
        let stop: Arc<AtomicBool> = Arc::default();
        let world = RealWorld::open(plan, &options("null:1GiB"), stop.clone()).unwrap();
        let mut head = Head::open(Box::new(world), head, plan, &hello(0), false, stop).unwrap();
        let mut looks = 0;
        let outcome = conduct::run(plan, &mut head, &mut |event| {
            if let conduct::Event::Live { .. } = event {
                looks += 1;
                is_cut.store(looks > 10, std::sync::atomic::Ordering::Relaxed);
            }
        });
        let lost = head.lost().unwrap();
        assert!(lost.contains("rank 1 on host-1 shows no sign of life"), "{lost}");
        assert!(!outcome.complete && outcome.error.is_none(), "{:?}", outcome.error);
        let [point] = &outcome.points[..] else { panic!("the point is kept") };
        assert!(!point.complete && point.ranks[1].lost.is_some());
        let lost = &point.ranks[1];
        assert_eq!(lost.workers, 1, "what its share was is known");
        let heard_ns = lost.heard_until_ns.unwrap() - point.started_ns;
        let per_s = lost.ops as f64 / (heard_ns as f64 / 1e9);
        assert!((50.0..150.0).contains(&per_s), "its share of 200 a second: {} in {heard_ns} ns", lost.ops);
        assert!(point.ranks[0].ops > 0 && point.workloads[0].workers.len() == 1);
        assert!(head.put_back().is_empty());
        assert!(matches!(other.join().unwrap(), Ended::Lost(_)));
    });
}

#[test]
fn ranks_part_once_each_has_said_so_and_one_that_is_silent_by_then_is_named() {
    for is_there in [true, false] {
        let mut ends = Threads::ranks(3).into_iter();
        let mut link = || Link::new(Arc::new(ends.next().unwrap()), || false);
        let (head, one, two) = (link(), link(), link());
        // What beats no more is as if it were stopped.
        let other = is_there.then_some(two);
        std::thread::scope(|scope| {
            let others = [Some(one), other].into_iter().flatten();
            let others: Vec<_> = others.map(|link| scope.spawn(move || cluster::parted(&link))).collect();
            let parted = cluster::parted(&head).map_err(|error| error.to_string());
            match is_there {
                true => assert_eq!(parted, Ok(())),
                false => {
                    let why = parted.unwrap_err();
                    assert!(
                        why.starts_with("rank 2 on a host not yet known shows no sign of life for 3.5 s"),
                        "{why}"
                    );
                }
            }
            others.into_iter().for_each(|other| other.join().unwrap().unwrap());
        });
    }
}

/// Why rank 0 of two, each with files of its own in `target`, does not begin `plan`.
fn refused_with_own_files(plan: &Plan, target: &str) -> Refused {
    let mut ends = Threads::ranks(2).into_iter();
    let mut link = || Arc::new(Link::new(Arc::new(ends.next().unwrap()), || false));
    let (head, peer) = (link(), link());
    // Both are on one host and name the same target.
    let alike = || Hello { host: "host".into(), ..hello(0) };
    std::thread::scope(|scope| {
        let other = scope.spawn(move || {
            let stop: Arc<AtomicBool> = Arc::default();
            let mut world = RealWorld::open(plan, &options(target), stop.clone()).unwrap();
            serve(&peer, alike(), plan, &mut world, true, &stop)
        });
        let stop: Arc<AtomicBool> = Arc::default();
        let world = RealWorld::open(plan, &options(target), stop.clone()).unwrap();
        let opened = Head::open(Box::new(world), head, plan, &alike(), true, stop);
        let why = opened.err().expect("it is refused");
        assert_eq!(other.join().unwrap(), Ended::Refused(why.clone()));
        why
    })
}

#[test]
fn what_ranks_with_files_of_their_own_cannot_do_is_refused_before_anything_is_measured() {
    let home = tempfile::tempdir().unwrap();
    let target = home.path().to_str().unwrap();
    let load = "[defaults]\nspan = '1MiB'\nrun = '1s'\n[[phase]]\nworkers = 2\n";
    let why = refused_with_own_files(&plan(&format!("{load}[[phase]]\nstate = 'prepare'\n")), target);
    assert!(why.code == 2 && why.why.contains("leave `--file-per-rank` out"), "{why:?}");
    let why = refused_with_own_files(&plan("[[phase]]\ntree = 'create'\ncount = 4\nworkers = 2\n"), target);
    assert!(why.code == 2 && why.why.contains("make a tree in the same directory"), "{why:?}");
    assert_eq!(std::fs::read_dir(home.path()).unwrap().count(), 0, "nothing was made");
}

#[test]
fn a_size_of_scratch_files_says_nothing_to_a_plan_of_trees_alone() {
    let home = tempfile::tempdir().unwrap();
    let plan = plan("[[phase]]\ntree = 'create'\ncount = 4\nfile_size = '0B'\n");
    let sized =
        RealOptions { scratch: Some(units::Bytes::MIB * 16), ..options(home.path().to_str().unwrap()) };
    let mut world = RealWorld::open(&plan, &sized, Arc::default()).unwrap();
    assert!(world.scratch_words().unwrap().contains("no workload of the plan reads or writes blocks"));
    let outcome = conduct::run(&plan, &mut world, &mut |_| ());
    assert!(outcome.complete && outcome.error.is_none(), "{:?}", outcome.error);
    assert!(world.put_back().is_empty());
}

/// Whether the launcher's process of rank 1 has gone in the test below.
static BEREFT: AtomicBool = AtomicBool::new(false);

#[test]
fn a_rank_whose_watcher_was_killed_is_named_and_what_it_measured_is_in_the_figures() {
    use std::sync::atomic::Ordering::Relaxed;
    let plan = plan(
        "[defaults]\nengine = 'null'\nrun = '60s'\nwarmup = '0s'\npace = 'rate(200/s)'\nspan = '64MiB'\n[[phase]]\nworkers = 2\ndepth = 4\n",
    );
    let mut ends = Threads::ranks(2).into_iter();
    let head = Arc::new(Link::new(Arc::new(ends.next().unwrap()), || false));
    let peer = Arc::new(Link::new(Arc::new(ends.next().unwrap()), || BEREFT.load(Relaxed)));
    let stops: [Arc<AtomicBool>; 2] = Default::default();
    std::thread::scope(|scope| {
        let (plan, [first, second]) = (&plan, &stops);
        let other = scope.spawn(move || {
            let mut world = RealWorld::open(plan, &options("null:1GiB"), second.clone()).unwrap();
            serve(&peer, hello(1), plan, &mut world, false, second)
        });
        let world = RealWorld::open(plan, &options("null:1GiB"), first.clone()).unwrap();
        let mut head = Head::open(Box::new(world), head, plan, &hello(0), false, first.clone()).unwrap();
        let mut looks = 0;
        let outcome = conduct::run(plan, &mut head, &mut |event| {
            if let conduct::Event::Live { .. } = event {
                looks += 1;
                if looks == 10 {
                    // The kernel ends the one whose watcher has gone, and the launcher all others.
                    BEREFT.store(true, Relaxed);
                    second.store(true, Relaxed);
                    first.store(true, Relaxed);
                }
            }
        });
        let lost = head.lost().unwrap();
        assert!(
            lost.contains("rank 1 on host-1 ended early: the process that watches over it was killed"),
            "{lost}"
        );
        let [point] = &outcome.points[..] else { panic!("the point is kept") };
        assert!(!point.complete && point.ranks[1].lost.is_none() && point.ranks[1].ops > 0);
        assert_eq!(point.workloads[0].workers.len(), 2);
        head.put_back();
        other.join().unwrap();
    });
}

#[test]
fn all_ranks_use_the_scratch_file_that_rank_0_lays_out_and_removes() {
    let home = tempfile::tempdir().unwrap();
    let target = home.path().display().to_string();
    let text = "seed = 3\n[defaults]\nops = 400\nrun = 'none'\nwarmup = '0s'\nspan = '8MiB'\nsize = '4KiB'\ndirect = false\nengine = 'pread'\n\
        [[phase]]\nworkers = 3\nreads = '50%'\n";
    let plan = plan(text);
    let one = alone(&plan, &target);
    assert!(one.error.is_none(), "{:?}", one.error);
    let (outcome, ended) = together(&plan, &target, 2, |_, hello| hello);
    let outcome = outcome.unwrap();
    assert!(outcome.error.is_none(), "{:?} {ended:?}", outcome.error);
    assert_eq!(outcome.points[0].workloads[0].digests, one.points[0].workloads[0].digests);
    assert_eq!(outcome.points[0].workloads[0].errors, 0);
    assert_eq!(std::fs::read_dir(home.path()).unwrap().count(), 0, "nothing is left behind");
}

#[test]
fn ranks_work_in_the_tree_that_rank_0_prepares_and_removes_each_on_its_own_part() {
    let home = tempfile::tempdir().unwrap();
    let ops = ["mkdir", "create", "stat", "read", "delete", "rmdir"];
    let phase = |op: &str| format!("[[phase]]\nname = '{op}'\ntree = '{op}'\n");
    let text =
        "[defaults]\nworkers = 5\ncount = 40\nfile_size = '3KiB'\nlevels = 1\nfanout = 2\nsettle = 'none'\n";
    let plan = plan(&(text.to_owned() + &ops.map(phase).concat()));
    let target = home.path().to_str().unwrap();
    let alone = alone(&plan, target);
    let (outcome, ended) = together(&plan, target, 2, |_, hello| hello);
    assert!(ended.iter().all(|each| *each == Ended::Done), "{ended:?}");
    let outcome = outcome.unwrap();
    assert!(outcome.complete && outcome.error.is_none(), "{:?}", outcome.error);
    for (one, many) in alone.points.iter().zip(&outcome.points) {
        let (one, many) = (&one.workloads[0], &many.workloads[0]);
        assert_eq!((one.completed, one.errors), (many.completed, many.errors), "{}", one.name);
        assert_eq!((many.errors, many.workers.len()), (0, 5));
        assert!(many.completed > 0, "{many:?}");
    }
    assert_eq!(std::fs::read_dir(home.path()).unwrap().count(), 0, "nothing is left behind");
}

/// Written in order, read in order and at random, a part written again at random, and read once more.
const VERIFIED: &str = "seed = 3\n[defaults]\nsize = '4KiB'\nspan = '4MiB'\nwarmup = '0s'\nrun = 'none'\ndirect = false\n\
    pattern = 'sequential'\nworkers = 4\nbytes = '4MiB'\nreads = '100%'\nverify = 'all'\n\
    [[phase]]\nname = 'written'\nreads = '0%'\n\
    [[phase]]\nname = 'read'\n\
    [[phase]]\nname = 'by others'\npattern = 'random'\n\
    [[phase]]\nname = 'in part again'\npattern = 'random'\nreads = '0%'\nworkers = 3\nbytes = '2MiB'\n\
    [[phase]]\nname = 'after that'\nhosts_on = 1\n";

#[test]
fn as_much_is_verified_over_ranks_as_in_one_process_whoever_wrote_it() {
    let home = tempfile::tempdir().unwrap();
    let (plan, target) = (plan(VERIFIED), home.path().to_string_lossy().into_owned());
    let alone = alone(&plan, &target);
    for size in [2, 3, 4] {
        let (outcome, ended) = together(&plan, &target, size, |_, hello| hello);
        assert!(ended.iter().all(|each| *each == Ended::Done), "{ended:?}");
        let outcome = outcome.unwrap();
        assert!(outcome.complete && outcome.error.is_none(), "{:?}", outcome.error);
        for (one, many) in alone.points.iter().zip(&outcome.points) {
            let (one, many, name) = (&one.workloads[0], &many.workloads[0], &one.name);
            assert_eq!(one.digests, many.digests, "{name}, {size} ranks");
            let verified = many.verified.unwrap();
            assert_eq!(Some(verified), one.verified, "{name}, {size} ranks: {:?}", many.error_samples);
            let all = if many.spec.writes() { 0 } else { 4 << 20 };
            assert_eq!((verified.checked_bytes, verified.corrupt), (all, 0), "{name}, {size} ranks");
        }
    }
}

/// A byte at `at` of the only file in `folder` is changed.
fn damage(folder: &std::path::Path, at: u64) {
    use std::os::unix::fs::FileExt;
    let file = std::fs::read_dir(folder).unwrap().next().unwrap().unwrap().path();
    let file = std::fs::File::options().read(true).write(true).open(file).unwrap();
    let mut byte = [0];
    file.read_exact_at(&mut byte, at).unwrap();
    file.write_all_at(&[byte[0] ^ 1], at).unwrap();
}

#[test]
fn a_block_that_was_changed_between_two_phases_is_named_with_the_rank_that_read_it_and_the_one_that_wrote_it()
{
    let plan = plan(VERIFIED);
    // Of the last quarter, which is rank 1's, and which one host further on rank 0 reads.
    let (at, block) = (3_500_100_u64, 3_500_100 / 4096 * 4096);
    for (after, reader) in [(1, 1), (4, 0)] {
        let home = tempfile::tempdir().unwrap();
        let (target, mut phases) = (home.path().to_string_lossy().into_owned(), 0);
        let (outcome, _) = watched(&plan, &target, 2, |_, hello| hello, &mut |event| {
            if let Event::PointEnded { .. } = event {
                phases += 1;
                if phases == after {
                    damage(home.path(), at);
                }
            }
        });
        let outcome = outcome.unwrap();
        let load = &outcome.points[after].workloads[0];
        assert_eq!(load.verified.unwrap().corrupt, 1, "{:?}", load.error_samples);
        let sample = &load.error_samples[0];
        assert_eq!((sample.offset_bytes, sample.rank), (block, Some(reader)));
        let expected = sample.expected.clone().unwrap_or_default();
        let by_itself = expected.starts_with("write ") && expected.contains(" of this run");
        assert!(by_itself || expected.starts_with("a write of rank "), "{expected}");
        assert!(after == 4 || by_itself, "{expected}");
    }
}

/// Squares by rank 0 and others twice, where rank 1 `goes` with its first piece; what was taken, and how it ended.
fn squares(size: usize, count: usize, goes: bool) -> (Vec<usize>, Result<(), String>) {
    let mut ends: Vec<Arc<dyn Transport>> =
        Threads::ranks(size).into_iter().map(|end| Arc::new(end) as Arc<dyn Transport>).collect();
    let head = ends.remove(0);
    let work = |text: &str| {
        let number: usize = text.parse().unwrap();
        (number * number).to_string()
    };
    std::thread::scope(|scope| {
        for (rank, end) in (1..).zip(ends) {
            scope.spawn(move || {
                let link = Link::new(end.clone(), || false);
                if goes && rank == 1 {
                    // It greets, and says nothing more.
                    let declined = Hello { version: "1".into(), ..hello(rank) };
                    end.send(0, serde_json::to_vec(&serde_json::json!({ "Hello": declined })).unwrap());
                    return;
                }
                assert!(matches!(run_work_items(&link, hello(rank), &work), Ended::Done));
            });
        }
        let work_items =
            WorkItems::open(Arc::new(Link::new(head, || false)), &hello(0), Pieces::Short).unwrap();
        let texts: Vec<String> = (0..count).map(|number| number.to_string()).collect();
        let mut taken = Vec::new();
        // So that there is something left for the others.
        let slowly = |at: usize| {
            std::thread::park_timeout(Duration::from_millis(2));
            at * at
        };
        for _twice in 0..2 {
            let mut take = |_: usize, square| {
                taken.push(square);
                true
            };
            let ended = work_items.execute(&texts, &slowly, &|text| text.parse().ok(), &mut take);
            if let Err(error) = ended {
                return (taken, Err(error.to_string()));
            }
        }
        (taken, Ok(()))
    })
}

#[test]
fn pieces_of_work_come_back_in_order_whoever_did_them() {
    for size in [1, 2, 4] {
        let (taken, ended) = squares(size, 50, false);
        let once: Vec<usize> = (0..50).map(|at| at * at).collect();
        assert_eq!(taken, [once.clone(), once].concat(), "{size} ranks");
        assert_eq!(ended, Ok(()));
    }
}

#[test]
fn a_rank_that_goes_with_a_piece_of_work_ends_it_and_what_came_before_is_there() {
    let (taken, ended) = squares(3, 20, true);
    let squares: Vec<usize> = (0..taken.len()).map(|at| at * at).collect();
    assert_eq!(taken, squares);
    let why = ended.unwrap_err();
    assert!(taken.len() < 20 && why.contains("rank 1 on host-1 shows no sign of life"), "{why}");
}

#[test]
fn a_rank_that_answers_one_piece_of_work_twice_ends_it_with_an_error_that_names_the_piece() {
    let mut ends: Vec<Arc<dyn Transport>> =
        Threads::ranks(2).into_iter().map(|end| Arc::new(end) as Arc<dyn Transport>).collect();
    let (other, head) = (ends.remove(1), ends.remove(0));
    let texts: Vec<String> = (0..50).map(|number| number.to_string()).collect();
    let ended = std::thread::scope(|scope| {
        scope.spawn(move || {
            let say = |message| other.send(0, serde_json::to_vec(&message).unwrap());
            say(serde_json::json!({ "Hello": hello(1) }));
            let asked = |bytes: Vec<u8>| {
                let message: serde_json::Value = serde_json::from_slice(&bytes).unwrap();
                message.get("WorkItem").map(|item| item["number"].clone())
            };
            let number = loop {
                let came = other.receive(Duration::from_millis(10));
                if let Some(number) = came.and_then(|(_, bytes)| asked(bytes)) {
                    break number;
                }
            };
            (0..2).for_each(|_| say(serde_json::json!({ "Done": { "number": number, "text": "0" } })));
        });
        let work_items =
            WorkItems::open(Arc::new(Link::new(head, || false)), &hello(0), Pieces::Short).unwrap();
        let slowly = |_| std::thread::park_timeout(Duration::from_millis(2));
        work_items.execute(&texts, &slowly, &|_| Some(()), &mut |_, ()| true)
    });
    let why = ended.unwrap_err().to_string();
    assert!(why.contains("rank 1") && why.contains("was not given to it"), "{why}");
}
