//! The file system against a store that takes a fixed time for each request: closed forms and conservation.

use std::collections::BTreeMap;
use std::sync::Arc;

use units::{Bytes, Instant, Nanos};
use workload::plan::{Overrides, Plan, Task};
use workload::spec::OpenSync;
use workload::tally::{Action, Tally};
use workload::tree::{FileOp, compile_tree};
use workload::{Completion, Errno, Op, Outcome, Request, Wake};

use super::*;

/// What each block request takes.
const SERVICE: Nanos = Nanos::from_millis(1);
const CAPACITY: Bytes = Bytes::new(1 << 40);

/// What came of a phase of these keys.
struct Seen {
    tallies: Vec<Tally>,
    requests: Vec<Request>,
    ended: Instant,
    held: Unwritten,
}

fn clients(keys: &str) -> Vec<FileClient> {
    let plan = Plan::parse("t", &format!("[[phase]]\n{keys}\n"), &Overrides::default()).expect("a plan");
    let Task::Load(load) = &plan.points()[0].task else { panic!("a load") };
    let workload = &load.workloads[0];
    let jobs = compile_tree(workload, workload.tree.as_ref().expect("a tree")).expect("a small tree");
    let durable = workload.durability.open != OpenSync::None;
    let (workers, wear_out) = (workload.workers, Arc::default());
    let client =
        |job| FileClient { job, is_logged: false, workers, durable, wear_out: Arc::clone(&wear_out) };
    jobs.into_iter().map(client).collect()
}

fn run_with(params: FilesParams, keys: &str, outcome: impl Fn(&Request) -> Outcome) -> Seen {
    let mut files = FileSystem::new(params, 64, CAPACITY, &clients(keys), Unwritten::default());
    let (mut now, mut requests, mut batch) = (Instant::START, Vec::new(), Vec::new());
    let mut open: BTreeMap<(Instant, usize), Request> = BTreeMap::new();
    files.start(now);
    loop {
        let wake = files.plan(now, &mut batch);
        for request in batch.drain(..) {
            assert!(request.offset + Bytes::new(request.len.into()) <= CAPACITY);
            open.insert((now + SERVICE, requests.len()), request);
            requests.push(request);
        }
        let next = open.first_key_value().map(|(key, _)| *key);
        now = match (wake, next) {
            (Wake::Done, None) => {
                let (tallies, held) = files.into_tallies();
                return Seen { tallies, requests, ended: now, held };
            }
            (Wake::At(at), Some((finished, _))) if at < finished => at,
            (Wake::At(at), None) => at,
            (_, Some((finished, number))) => {
                let request = open.remove(&(finished, number)).expect("it is open");
                let outcome = outcome(&request);
                files.complete(Completion { token: request.token, outcome, finished_at: finished });
                finished
            }
            (wake, None) => panic!("{wake:?}, and nothing that could end"),
        };
    }
}

fn run(keys: &str) -> Seen {
    run_with(FilesParams::default(), keys, |request| Outcome::moved(request.len))
}

impl Seen {
    fn ops(&self) -> u64 {
        self.tallies.iter().map(Tally::ops).sum()
    }

    fn count(&self, op: Op) -> usize {
        self.requests.iter().filter(|request| request.op == op).count()
    }

    /// Bytes of content that were written, which lies behind the journal and the fixed part of its group.
    fn content(&self) -> u64 {
        let is_content = |request: &&Request| {
            let at = request.offset.get();
            request.op == Op::Write && at >= place::JOURNAL && (at - place::JOURNAL) % (1 << 27) >= 1 << 22
        };
        self.requests.iter().filter(is_content).map(|request| u64::from(request.len)).sum()
    }
}

#[test]
fn what_is_in_memory_takes_its_processor_time_and_no_more() {
    let seen = run("tree = 'stat'\ncount = 1000");
    assert_eq!(seen.requests.len(), 0);
    assert_eq!(seen.ended, Instant::START + FilesParams::default().stat * 1000);
    assert_eq!(seen.ops(), 1000);
}

#[test]
fn workers_that_change_one_directory_wait_for_one_another_and_those_in_their_own_do_not() {
    let create = FilesParams::default().create;
    let shared = run("tree = 'create'\ncount = 1000\nworkers = 4");
    assert_eq!(shared.ended, Instant::START + create * 1000);
    let own = run("tree = 'create'\ncount = 1000\nworkers = 4\nunique_dirs = true");
    assert_eq!(own.ended, Instant::START + create * 250);
}

#[test]
fn workers_that_wear_out_come_to_the_same_number_of_files_behind_their_time() {
    let create = FilesParams::default().create;
    let ms = create.get() * 100;
    let keys = format!("tree = 'create'\ncount = 4000\nworkers = 4\nrun = '{ms}ns'\nwear_out = true");
    let seen = run(&keys);
    let each = workload::worn_out(seen.tallies.iter()).expect("as many each");
    // One directory is changed by one of them at a time, and they take turns.
    assert_eq!((each, seen.ops()), (26, 104));
    let busy = Instant::START + create * 104;
    // Who has told its number looks every so often whether all others have.
    assert!(seen.ended >= busy && seen.ended < busy + Nanos::from_micros(50), "{:?}", seen.ended);
}

#[test]
fn a_durable_file_waits_for_its_content_the_journal_and_two_barriers() {
    let seen = run("tree = 'create'\ncount = 10\nfile_size = '4KiB'\nfsync = 'each'");
    // Content, changed blocks, barrier, commit record, barrier: one after the other.
    let params = FilesParams::default();
    let each = params.create + params.copy.time_for(Bytes::KIB * 4) + SERVICE * 5;
    assert_eq!(seen.ended, Instant::START + each * 10);
    assert_eq!((seen.count(Op::Flush), seen.count(Op::Write)), (20, 30));
    assert_eq!(seen.content(), 40960);
}

#[test]
fn content_that_is_written_with_dsync_lasts_as_if_each_file_were_flushed() {
    let each = run("tree = 'create'\ncount = 10\nfile_size = '4KiB'\nfsync = 'each'");
    let dsync = run("tree = 'create'\ncount = 10\nfile_size = '4KiB'\nsync = 'dsync'");
    assert_eq!((dsync.ended, dsync.count(Op::Flush)), (each.ended, each.count(Op::Flush)));
    let nothing_written = run("tree = 'create'\ncount = 10\nfile_size = '0B'\nsync = 'dsync'");
    assert_eq!(nothing_written.count(Op::Flush), 0);
}

#[test]
fn those_who_flush_while_a_commit_is_in_progress_share_the_next() {
    let alone = run("tree = 'create'\ncount = 320\nfsync = 'each'\nworkers = 1");
    let together = run("tree = 'create'\ncount = 320\nfsync = 'each'\nworkers = 32\nunique_dirs = true");
    assert_eq!(alone.count(Op::Flush), 640);
    // The first worker's commit is in progress when the others arrive; from then on they take turns.
    assert!(together.count(Op::Flush) <= 2 * 22, "{}", together.count(Op::Flush));
    assert!(together.ended.nanos() * 10 < alone.ended.nanos());
}

#[test]
fn what_nobody_flushes_is_committed_after_five_seconds_and_written_back_after_thirty() {
    let seen = run("tree = 'write'\ncount = 10\nfile_size = '8KiB'\nrun = '60s'");
    let secs = Nanos::from_secs;
    let commits = seen.count(Op::Flush) / 2;
    assert!((11..=12).contains(&commits), "{commits} commits in a minute");
    assert!(seen.ended >= Instant::START + secs(60));
    let short = run("tree = 'create'\ncount = 1000\nfile_size = '8KiB'");
    assert_eq!(short.requests.len(), 0, "over before anything was old");
    assert!(short.held.journal.has_changes());
    assert_eq!(short.held.content_bytes, 8192 * 1000);
}

#[test]
fn a_sync_at_the_end_writes_every_byte_once() {
    let seen = run("tree = 'create'\ncount = 300\nfile_size = '4KiB'\nfsync = 'end'\nworkers = 3");
    assert_eq!(seen.content(), 300 * 4096);
    assert_eq!(seen.held.content_bytes, 0);
    assert!(!seen.held.journal.has_changes());
    let syncs = seen.tallies.iter().flat_map(|tally| &tally.classes);
    let syncs: u64 =
        syncs.filter(|class| class.class.op == Action::File(FileOp::Sync)).map(|class| class.ops).sum();
    assert_eq!(syncs, 3);
}

#[test]
fn writers_wait_where_too_much_is_unwritten() {
    let params = FilesParams { memory: Bytes::MIB * 100, ..FilesParams::default() };
    let seen =
        run_with(params, "tree = 'create'\ncount = 2000\nfile_size = '128KiB'", |r| Outcome::moved(r.len));
    // 250 MiB are made and 20 MiB may be unwritten.
    assert_eq!(seen.ops(), 2000);
    assert!(seen.held.content_bytes <= (21 << 20), "{}", seen.held.content_bytes);
    assert!(seen.content() >= 229 << 20, "{}", seen.content());
}

#[test]
fn more_than_memory_holds_is_read_from_the_storage_in_proportion() {
    let params = FilesParams { memory: Bytes::MIB * 50, ..FilesParams::default() };
    let seen =
        run_with(params, "tree = 'read'\ncount = 10_000\nfile_size = '8KiB'", |r| Outcome::moved(r.len));
    // 13 MB are for names, what is left of 50 MiB for 10,000 files of 8 KiB.
    let share = (50.0 * 1048576.0 - 1300.0 * 10_000.0) / (8192.0 * 10_000.0);
    let reads = seen.count(Op::Read) as f64 / 10_000.0;
    // Five standard deviations of a binomial with n = 10,000 and p = 1/2 are 2.5 %.
    assert!((reads - (1.0 - share)).abs() < 0.025, "{reads} for {share}");
}

#[test]
fn a_failed_block_fails_who_waits_for_it_and_nobody_else() {
    let fails = |request: &Request| match request.op {
        Op::Flush => Outcome::failed(Errno(5)),
        _ => Outcome::moved(request.len),
    };
    let seen = run_with(FilesParams::default(), "tree = 'create'\ncount = 5\nfsync = 'each'", fails);
    assert_eq!((seen.tallies[0].errors, seen.tallies[0].completed), (5, 5));
    let seen = run_with(FilesParams::default(), "tree = 'create'\ncount = 5", fails);
    assert_eq!(seen.tallies[0].errors, 0);
}
