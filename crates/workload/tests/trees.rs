//! Laws of trees and of the job that asks for them.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use units::convert::narrow;
use units::{Bytes, Instant, Nanos};
use workload::plan::{Overrides, Plan, Task};
use workload::spec::{SizeSplit, Workload};
use workload::tally::{Action, Tally};
use workload::tree::*;
use workload::{Completion, Errno, Outcome, Streams, Wake};

fn workload(tree: Tree, workers: u32) -> (Workload, Tree) {
    let mut workload = crate::world::workload();
    workload.workers = workers;
    workload.stop.run = None;
    workload.stop.ops = None;
    workload.stop.warmup = Nanos::ZERO;
    workload.tree = Some(tree.clone());
    (workload, tree)
}

fn jobs(tree: Tree, workers: u32) -> Vec<TreeJob> {
    let (workload, tree) = workload(tree, workers);
    compile_tree(&workload, &tree).expect("a small tree").into_iter().map(TreeJob::new).collect()
}

const SERVICE: Nanos = Nanos::from_micros(100);

/// Drives a job on a clock of which each request takes 100 µs; `outcome` may let requests fail.
fn drive_with(mut job: TreeJob, outcome: impl Fn(&TreeRequest) -> Outcome) -> (Vec<TreeRequest>, Tally) {
    let (mut now, mut all, mut batch) = (Instant::START, Vec::new(), Vec::new());
    job.start(now);
    loop {
        batch.clear();
        if job.plan(now, &mut batch) == Wake::Done {
            return (all, job.into_tally());
        }
        assert_eq!(batch.len(), 1, "one request is in flight at a time");
        all.push(batch[0]);
        now += SERVICE;
        job.complete(Completion { token: batch[0].token, outcome: outcome(&batch[0]), finished_at: now });
    }
}

fn drive(job: TreeJob) -> (Vec<TreeRequest>, Tally) {
    drive_with(job, |request| Outcome::moved(request.size))
}

fn small_tree() -> impl Strategy<Value = (Tree, u32)> {
    let ops: Vec<FileOp> =
        FileOp::ALL.into_iter().filter(|op| !matches!(op, FileOp::Renamedir | FileOp::Sync)).collect();
    let visitors =
        prop_oneof![Just(Visitors::Own), Just(Visitors::First), (0u32..9).prop_map(Visitors::Shifted)];
    let who = (visitors, 1u32..6);
    (proptest::sample::select(ops), 1u64..400, 0u32..4, 1u32..5, any::<[bool; 3]>(), who).prop_map(
        |(op, count, levels, branch, [all, unique_dirs, random], (visitors, workers))| {
            let files_in = if all { FilesIn::All } else { FilesIn::Leaves };
            let order = if random { Order::Random } else { Order::Sequential };
            (
                Tree {
                    count,
                    levels,
                    fanout: branch,
                    files_in,
                    unique_dirs,
                    visitors,
                    order,
                    ..Tree::plain(op)
                },
                workers,
            )
        },
    )
}

proptest! {
    #[test]
    fn every_file_or_directory_is_visited_exactly_once_by_exactly_one_worker((tree, workers) in small_tree()) {
        let shape = Shape::of(&tree, workers).unwrap();
        let mut seen = BTreeSet::new();
        for (worker, job) in jobs(tree.clone(), workers).into_iter().enumerate() {
            let owners = tree.visitors.owners(narrow::<u32>(worker), workers);
            for request in drive(job).0 {
                let owner = request.owner;
                prop_assert!(owners.contains(&owner));
                let path = match tree.op.is_of_directories() {
                    true => shape.node_path(owner, request.node),
                    false => {
                        prop_assert!(shape.holds_files(request.node));
                        prop_assert_eq!(request.node, shape.node_of(owner, request.file));
                        shape.file_path(owner, request.file)
                    }
                };
                prop_assert!(seen.insert(path.clone()), "{} twice", path);
            }
        }
        let trees = u64::from(shape.trees());
        let expected = match tree.op {
            FileOp::Mkdir | FileOp::Statdir | FileOp::Rmdir => (shape.nodes() - 1) * trees,
            FileOp::Readdir => shape.nodes() * trees,
            _ => tree.count,
        };
        prop_assert_eq!(seen.len() as u64, expected);
    }

    #[test]
    fn no_directory_is_made_before_its_parent_or_removed_before_its_children((tree, workers) in small_tree()) {
        for op in [FileOp::Mkdir, FileOp::Rmdir] {
            let shape = Shape::of(&tree, workers).unwrap();
            for job in jobs(Tree { op, ..tree.clone() }, workers) {
                let nodes: Vec<(u32, u32)> =
                    drive(job).0.iter().map(|request| (request.owner, request.node)).collect();
                let position = |node: (u32, u32)| nodes.iter().position(|each| *each == node);
                for (at, (owner, node)) in nodes.iter().enumerate() {
                    let parent = shape.parent(*node).filter(|parent| *parent > 0);
                    let above = parent.map(|parent| position((*owner, parent)).expect("the same worker has it"));
                    prop_assert!(above.is_none_or(|above| (above < at) == (op == FileOp::Mkdir)));
                }
            }
        }
    }

    #[test]
    fn directories_hold_the_same_number_of_files_to_within_one((tree, workers) in small_tree()) {
        let shape = Shape::of(&tree, workers).unwrap();
        for worker in 0..workers {
            let mut held: BTreeMap<u32, u64> = BTreeMap::new();
            for node in (0..narrow::<u32>(shape.nodes())).filter(|node| shape.holds_files(*node)) {
                held.insert(node, 0);
            }
            for file in 0..shape.files_of(worker) {
                *held.get_mut(&shape.node_of(worker, file)).expect("it holds files") += 1;
            }
            let (least, most) = (held.values().min().unwrap(), held.values().max().unwrap());
            prop_assert!(most - least <= 1, "{held:?}");
        }
    }

    #[test]
    fn the_stream_is_the_same_whatever_the_answers_take_and_another_seed_gives_another((tree, workers) in small_tree()) {
        let digests = |seed: u64| -> Vec<u64> {
            let (mut workload, tree) = workload(Tree { sizes: range(0, 1 << 20), ..tree.clone() }, workers);
            workload.seed = seed;
            let jobs = compile_tree(&workload, &tree).unwrap();
            jobs.into_iter().map(|job| drive(TreeJob::new(job)).1.digest).collect()
        };
        prop_assert_eq!(digests(1), digests(1));
        if tree.op.moves_content() && tree.count > 20 {
            prop_assert_ne!(digests(1), digests(2));
        }
    }
}

#[test]
fn names_of_directories_go_round_and_all_are_there_in_the_end() {
    for (workers, fanout, unique_dirs) in [(1, 5, false), (3, 11, false), (2, 2, true), (2, 2, false)] {
        let tree = Tree { levels: 1, fanout, unique_dirs, ..Tree::plain(FileOp::Renamedir) };
        let shape = Shape::of(&tree, workers).unwrap();
        for (worker, job) in (0..).zip(jobs(tree, workers)) {
            let own = shape.nodes_of(worker, false);
            let mut held: BTreeMap<u64, u32> = own.iter().map(|node| (u64::from(*node), *node)).collect();
            let (mut aside, requests) = (None, drive(job).0);
            assert_eq!(requests.len(), if own.len() == 1 { 0 } else { own.len() }, "one has nowhere to go");
            for request in requests {
                let from = u64::from(request.node);
                let is_aside = aside.is_some_and(|(node, _)| node == from);
                let moved = if is_aside { aside.take().map(|(_, what)| what) } else { held.remove(&from) };
                let moved = moved.expect("it is there under that name");
                match request.file == from && !is_aside {
                    true => aside = Some((from, moved)),
                    false => assert_eq!(held.insert(request.file, moved), None, "the name was free"),
                }
            }
            assert_eq!(held.len(), own.len());
        }
    }
}

#[test]
fn all_workers_visit_all_files_where_they_share_them() {
    let tree = Tree { count: 7, visitors: Visitors::All, ..Tree::plain(FileOp::Stat) };
    for job in jobs(tree, 3) {
        let visited: BTreeSet<(u32, u64)> =
            drive(job).0.iter().map(|request| (request.owner, request.file)).collect();
        assert_eq!(visited.len(), 7);
    }
}

fn range(least: u64, most: u64) -> FileSizes {
    FileSizes::Range { least: Bytes::new(least), most: Bytes::new(most) }
}

#[test]
fn a_file_has_the_same_size_whatever_is_done_to_it_and_in_whatever_order() {
    let tree = Tree { count: 500, sizes: range(10, 1000), ..Tree::plain(FileOp::Create) };
    let sizes = |op, order| -> BTreeMap<u64, u32> {
        let job = jobs(Tree { op, order, ..tree.clone() }, 1).remove(0);
        drive(job).0.into_iter().map(|request| (request.file, request.size)).collect()
    };
    let made = sizes(FileOp::Create, Order::Sequential);
    assert_eq!(made, sizes(FileOp::Read, Order::Random));
    assert_eq!(made.len(), 500);
}

#[test]
fn sizes_follow_their_range_and_their_weights() {
    let sizes = DrawnSizes::new(range(0, 4096), Streams::new(3), 0);
    let drawn: Vec<f64> = (0..40_000).map(|file| sizes.of(file).0.as_f64()).collect();
    assert!(drawn.iter().all(|size| *size <= 4096.0));
    let mean = drawn.iter().sum::<f64>() / drawn.len() as f64;
    // A uniform distribution over 0 to 4096 has a standard deviation of 4097 / sqrt(12); five of the mean's are 30.
    assert!((mean - 2048.0).abs() < 30.0, "{mean}");
    let split = SizeSplit(vec![(Bytes::KIB, 3.0), (Bytes::MIB, 1.0)]);
    let sizes = DrawnSizes::new(FileSizes::Split(split), Streams::new(3), 0);
    let large = (0..40_000).filter(|file| sizes.of(*file) == (Bytes::MIB, 1)).count();
    // Five standard deviations of a binomial with n = 40,000 and p = 1/4 are 433.
    assert!(large.abs_diff(10_000) < 433, "{large}");
}

#[test]
fn sizes_are_told_apart_in_the_tally_and_their_bytes_add_up() {
    let split = SizeSplit(vec![(Bytes::KIB, 1.0), (Bytes::MIB, 1.0)]);
    let tree = Tree { count: 200, sizes: FileSizes::Split(split), ..Tree::plain(FileOp::Create) };
    let (requests, tally) = drive(jobs(tree, 1).remove(0));
    assert_eq!(tally.classes.len(), 2);
    for class in &tally.classes {
        assert_eq!(class.class.op, Action::File(FileOp::Create));
        assert_eq!(class.bytes, class.class.size * class.ops);
    }
    let moved: Bytes = tally.classes.iter().map(|class| class.bytes).sum();
    assert_eq!(moved.get(), requests.iter().map(|request| u64::from(request.size)).sum::<u64>());
    assert_eq!((tally.ops(), tally.planned, tally.completed), (200, 200, 200));
    // One request at a time, back to back.
    assert_eq!(tally.measured(), SERVICE * 200);
    assert_eq!(tally.in_flight_ns, u128::from(tally.measured().get()));
}

#[test]
fn sizes_of_a_range_are_one_class_with_the_bytes_that_moved() {
    let tree = Tree { count: 100, sizes: range(1, 9999), ..Tree::plain(FileOp::Read) };
    let (requests, tally) = drive(jobs(tree, 1).remove(0));
    assert_eq!(tally.classes.len(), 1);
    assert_eq!(tally.classes[0].class.size, Bytes::ZERO);
    let moved: u64 = requests.iter().map(|request| u64::from(request.size)).sum();
    assert_eq!(tally.classes[0].bytes.get(), moved);
}

#[test]
fn what_may_be_repeated_goes_round_until_its_time_is_over() {
    let (mut workload, tree) = workload(Tree { count: 10, ..Tree::plain(FileOp::Stat) }, 1);
    workload.stop.run = Some(Nanos::from_secs(2));
    workload.stop.warmup = Nanos::from_secs(1);
    let job = compile_tree(&workload, &tree).unwrap().remove(0);
    let (requests, tally) = drive(TreeJob::new(job));
    assert_eq!(requests.len(), 30_000);
    assert_eq!(tally.measured(), Nanos::from_secs(2));
    // The request that ends at the instant at which the window opens belongs to it; the one at its end does not.
    assert!(tally.ops().abs_diff(20_000) <= 1, "{}", tally.ops());
    assert_eq!(tally.intervals.iter().filter(|interval| interval.measured).count(), 2);
}

#[test]
fn a_number_of_visits_is_shared_out_and_what_is_done_once_is_never_done_twice() {
    let visits = |op, ops| -> u64 {
        let (mut workload, tree) = workload(Tree { count: 10, ..Tree::plain(op) }, 3);
        workload.stop.ops = ops;
        let jobs = compile_tree(&workload, &tree).unwrap();
        jobs.into_iter().map(|job| drive(TreeJob::new(job)).1.planned).sum()
    };
    assert_eq!(visits(FileOp::Stat, Some(100)), 100);
    assert_eq!(visits(FileOp::Delete, Some(100)), 10);
    assert_eq!(visits(FileOp::Delete, Some(5)), 5);
    assert_eq!(visits(FileOp::Stat, None), 10);
}

#[test]
fn changes_are_durable_one_by_one_or_all_at_the_end() {
    let requests = |op, fsync| drive(jobs(Tree { count: 3, fsync, ..Tree::plain(op) }, 1).remove(0)).0;
    assert!(requests(FileOp::Create, Fsync::Each).iter().all(|request| request.durable));
    assert!(requests(FileOp::Stat, Fsync::Each).iter().all(|request| !request.durable));
    let ops = |op| -> Vec<FileOp> { requests(op, Fsync::End).iter().map(|request| request.op).collect() };
    assert_eq!(ops(FileOp::Delete), [FileOp::Delete, FileOp::Delete, FileOp::Delete, FileOp::Sync]);
    assert_eq!(ops(FileOp::Stat), [FileOp::Stat; 3]);
}

#[test]
fn a_failed_request_is_kept_with_its_file_and_counts_in_no_histogram() {
    let job = jobs(Tree { count: 9, ..Tree::plain(FileOp::Stat) }, 1).remove(0);
    let lost = |request: &TreeRequest| match request.file {
        4 => Outcome::failed(Errno(2)),
        _ => Outcome::moved(0),
    };
    let (_, tally) = drive_with(job, lost);
    assert_eq!((tally.errors, tally.ops(), tally.completed), (1, 8, 9));
    assert_eq!(tally.error_samples[0].file, 4);
}

#[test]
fn phases_that_describe_the_same_tree_have_the_same_files() {
    let text = "[defaults]\ncount = 50\nfile_size = '1B..9KiB'\nlevels = 1\n[[phase]]\nname = 'a'\ntree = 'create'\n\
                [[phase]]\nname = 'b'\ntree = 'read'\n";
    let plan = Plan::parse("t", text, &Overrides::default()).unwrap();
    let sizes: Vec<Vec<u32>> = plan
        .points()
        .iter()
        .map(|point| {
            let Task::Load(load) = &point.task else { panic!("a load") };
            let tree = load.workloads[0].tree.as_ref().expect("a tree");
            let job = compile_tree(&load.workloads[0], tree).unwrap().remove(0);
            drive(TreeJob::new(job)).0.iter().map(|request| request.size).collect()
        })
        .collect();
    assert_eq!(sizes[0], sizes[1]);
    assert!(sizes[0].iter().collect::<BTreeSet<_>>().len() > 25);
}

#[test]
fn a_tree_that_no_worker_could_work_on_is_refused_with_its_key() {
    let error = |lines: &str| {
        let text = format!("[[phase]]\n{lines}\n");
        Plan::parse("t", &text, &Overrides::default()).unwrap_err().plain()
    };
    assert!(error("tree = 'create'\ndepth = 4").contains("one name at a time, not 4"));
    assert!(error("tree = 'create'\npace = 'rate(5/s)'").contains("in a closed loop"));
    assert!(error("tree = 'mkdir'").contains("levels = 1"));
    assert!(error("tree = 'sync'").contains("fsync = \"end\""));
    assert!(error("tree = 'creat'").contains("did you mean `create`"));
    assert!(error("tree = 'create'\nlevels = 20\nfanout = 2").contains("more than 1048576 directories"));
    assert!(error("tree = 'create'\nfile_size = '9KiB..1KiB'").contains("9KiB is more than 1KiB"));
    assert!(error("tree = 'create'\nfile_size = '2GiB'").contains("more than 1GiB"));
    assert!(
        error("run = '1s'\n[[phase.workload]]\ntree = 'stat'\n[[phase.workload]]")
            .contains("files and blocks")
    );
    assert!(error("tree = 'create'\nfile_size = { '2GiB' = 1 }").contains("2 GiB"));
}
