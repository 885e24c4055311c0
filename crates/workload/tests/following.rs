//! Writes that follow reads, the flush that follows everything, and the cap that holds all of it back.

use std::collections::BTreeMap;

use units::{Bytes, Instant, Nanos};
use workload::spec::Workload;
use workload::{Completion, Errno, Job, Op, Outcome, Request};

use crate::world::{Answer, Servers, drive, drive_with, job};

const MS: Nanos = Nanos::from_millis(1);

fn asked(keys: &[(&str, &str)]) -> Workload {
    let common = [("seed", "3")];
    workload::plan::from_texts("test", common.iter().chain(keys).copied())
        .unwrap_or_else(|e| panic!("{}", e.plain()))
}

fn answers(keys: &[(&str, &str)], servers: usize) -> Vec<Answer> {
    drive(&mut job(&asked(keys)), &mut Servers::new(servers, MS))
}

#[test]
fn a_rewrite_reads_a_block_and_then_writes_it_on_the_same_slot() {
    let workload = asked(&[("pattern", "sequential"), ("rewrites", "100%"), ("ops", "200"), ("depth", "4")]);
    assert!(workload.changes_data(), "what rewrites needs a permit");
    let all = drive(&mut job(&workload), &mut Servers::new(3, MS));
    assert_eq!(all.len(), 200);
    let mut open: BTreeMap<u32, &Answer> = BTreeMap::new();
    for answer in &all {
        let request = answer.request;
        if request.op == Op::Read {
            assert!(open.insert(request.token.0, answer).is_none(), "a slot reads before its write");
            continue;
        }
        let read = open.remove(&request.token.0).expect("a write follows a read");
        assert_eq!((request.offset, request.len), (read.request.offset, read.request.len));
        assert_eq!(answer.issued, read.finished);
    }
    assert!(open.is_empty());
}

#[test]
fn a_trim_is_followed_as_a_read_is_where_nothing_is_read() {
    let keys =
        [("pattern", "random"), ("reads", "0%"), ("trims", "100%"), ("rewrites", "100%"), ("ops", "200")];
    let workload = asked(&keys);
    assert!(workload.writes());
    let mut job = job(&workload);
    let all = drive(&mut job, &mut Servers::new(1, MS));
    assert_eq!(all.len(), 200);
    for pair in all.chunks(2) {
        let [trim, write] = pair else { panic!("pairs") };
        assert_eq!((trim.request.op, write.request.op), (Op::Trim, Op::Write));
        assert_eq!((trim.request.offset, trim.request.len), (write.request.offset, write.request.len));
        assert_eq!(write.issued, trim.finished);
    }
    // Beside reads, trims are followed by nothing.
    let all = answers(&[("reads", "50%"), ("trims", "50%"), ("rewrites", "100%"), ("ops", "300")], 1);
    let after = all.windows(2).filter(|pair| pair[1].request.op == Op::Write);
    assert!(after.clone().count() > 50);
    assert!(after.into_iter().all(|pair| pair[0].request.op == Op::Read));
}

#[test]
fn of_a_tenth_every_tenth_read_is_rewritten() {
    let all = answers(&[("rewrites", "10%"), ("ops", "55000")], 1);
    let ops: Vec<Op> = all.iter().map(|answer| answer.request.op).collect();
    let expected = [[Op::Read; 10].as_slice(), &[Op::Write]].concat();
    assert!(ops.chunks(11).all(|row| row == expected), "{:?}", &ops[..22]);
    let writes = |part: &str, ops: &str| {
        let all = answers(&[("rewrites", part), ("ops", ops)], 1);
        all.iter().filter(|answer| answer.request.op == Op::Write).count()
    };
    // Two in three: each third read is followed by none.
    assert_eq!((writes("2/3", "5000"), writes("1/3", "4000")), (2000, 1000));
}

#[test]
fn the_stream_with_rewrites_does_not_depend_on_who_answers() {
    let digest = |depth: &str, servers: usize, service: Nanos| {
        let mut job =
            job(&asked(&[("rewrites", "30%"), ("ops", "999"), ("depth", depth), ("flush_every", "7")]));
        let all = drive(&mut job, &mut Servers::new(servers, service));
        let asked = all.iter().filter(|answer| answer.request.op != Op::Flush).count();
        (job.into_tally().digest, asked)
    };
    assert_eq!(digest("1", 1, MS), digest("16", 5, MS * 7));
    assert_eq!(digest("1", 1, MS).1, 999);
}

#[test]
fn a_read_that_failed_is_not_rewritten() {
    let mut job = job(&asked(&[("rewrites", "100%"), ("ops", "100")]));
    let fail = |request: &workload::Request| {
        (request.op == Op::Read && request.offset < Bytes::MIB).then_some(Outcome::failed(Errno(5)))
    };
    let all = drive_with(&mut job, &mut Servers::new(1, MS), fail);
    let writes = all.iter().filter(|answer| answer.request.op == Op::Write);
    assert!(
        writes.clone().count() > 0 && writes.into_iter().all(|answer| answer.request.offset >= Bytes::MIB)
    );
    let tally = job.into_tally();
    assert!(tally.errors > 0);
    assert_eq!(tally.planned, tally.completed);
}

#[test]
fn a_run_that_ends_by_time_leaves_no_read_waiting_for_its_write() {
    for depth in ["1", "3"] {
        let mut job = job(&asked(&[
            ("rewrites", "100%"),
            ("run", "101ms"),
            ("depth", depth),
            ("flush_at_end", "true"),
        ]));
        let all = drive(&mut job, &mut Servers::new(1, MS * 2));
        assert_eq!(all.last().unwrap().request.op, Op::Flush);
        let tally = job.into_tally();
        assert_eq!(tally.planned, tally.completed);
    }
}

#[test]
fn the_last_flush_follows_everything_and_belongs_to_the_measured_time() {
    for (ends, depth) in [(("ops", "10"), "4"), (("run", "11ms"), "4"), (("ops", "10"), "1")] {
        for pace in ["closed", "think(1ms)"] {
            let keys = [ends, ("depth", depth), ("reads", "0%"), ("flush_at_end", "true"), ("pace", pace)];
            let mut job = job(&asked(&keys));
            let all = drive(&mut job, &mut Servers::new(2, MS));
            let flush = all.last().unwrap();
            assert_eq!(flush.request.op, Op::Flush);
            assert!(all[..all.len() - 1].iter().all(|answer| answer.finished <= flush.issued));
            assert_eq!(all.iter().filter(|answer| answer.request.op == Op::Flush).count(), 1);
            let tally = job.into_tally();
            assert_eq!(tally.measured(), flush.finished - Instant::START);
            assert_eq!(tally.ops(), all.len() as u64, "what ended after the run's own end is measured too");
        }
    }
}

#[test]
fn each_file_of_a_worker_is_flushed_at_the_end() {
    let all = answers(
        &[
            ("files", "per_worker(3)"),
            ("reads", "0%"),
            ("flush_at_end", "true"),
            ("ops", "9"),
            ("flush", "fsync"),
        ],
        1,
    );
    let flushed: Vec<u16> = all
        .iter()
        .filter(|answer| answer.request.op == Op::Flush)
        .map(|answer| answer.request.file)
        .collect();
    assert_eq!(flushed, [0, 1, 2]);
}

#[test]
fn an_interrupted_job_does_not_flush() {
    let mut job = job(&asked(&[("reads", "0%"), ("flush_at_end", "true"), ("run", "1s")]));
    job.start(Instant::START);
    job.stop();
    let mut batch = Vec::new();
    assert_eq!(job.plan(Instant::START, &mut batch), workload::Wake::Done);
    assert!(batch.is_empty());
}

#[test]
fn a_cap_holds_a_fast_target_back_and_a_slow_one_not() {
    for (cap, expected) in [("cap(500/s)", 500), ("cap(2048000B/s)", 500), ("cap(5000/s)", 1000)] {
        let keys = [("pace", cap), ("run", "1s"), ("depth", "2")];
        let mut job = job(&asked(&keys));
        let all = drive(&mut job, &mut Servers::new(1, MS));
        assert!(all.len().abs_diff(expected) <= 2, "{cap}: {}", all.len());
        // A closed loop: nothing waits for longer than the two that are in flight.
        assert!(job.into_tally().classes[0].response.max().unwrap() <= MS * 2, "{cap}");
    }
}

#[test]
fn what_a_stall_kept_back_is_asked_after_it() {
    let mut job = job(&asked(&[("pace", "cap(500/s)"), ("run", "1s")]));
    let mut servers = Servers::new(1, MS);
    servers.free_at[0] = Instant::from_nanos(400_000_000);
    let all = drive(&mut job, &mut servers);
    assert!(all.len().abs_diff(500) <= 1, "{}", all.len());
}

/// A job with four requests in flight, two at a time, that have all ended well a millisecond after they were asked.
fn four_ended(keys: &[(&str, &str)]) -> Job {
    let common = [("depth", "4"), ("submit_batch", "2"), ("pattern", "sequential")];
    let mut job = job(&asked(&[&common, keys].concat()));
    job.start(Instant::START);
    let four = [batch(&mut job, 0), batch(&mut job, 0)].concat();
    assert_eq!(four.len(), 4);
    for request in four {
        let (outcome, finished_at) = (Outcome::moved(request.len), Instant::START + MS);
        job.complete(Completion { token: request.token, outcome, finished_at });
    }
    job
}

/// What is asked at once after so many milliseconds.
fn batch(job: &mut Job, ms: u64) -> Vec<Request> {
    let mut batch = Vec::new();
    job.plan(Instant::START + MS * ms, &mut batch);
    batch
}

fn ops(requests: &[Request]) -> Vec<Op> {
    requests.iter().map(|request| request.op).collect()
}

#[test]
fn what_follows_is_asked_a_batch_at_a_time_and_the_batch_counts_all() {
    let mut all = four_ended(&[("rewrites", "100%")]);
    let batches = [1; 3].map(|ms| ops(&batch(&mut all, ms)));
    assert_eq!(batches, [vec![Op::Write; 2], vec![Op::Write; 2], vec![]]);
    // Of two reads none follows: their slots are free, for reads that come behind the writes.
    let mut half = four_ended(&[("rewrites", "50%")]);
    let batches = [1; 2].map(|ms| ops(&batch(&mut half, ms)));
    assert_eq!(batches, [vec![Op::Write; 2], vec![Op::Read; 2]]);
    let mut rest = four_ended(&[("reads", "0%"), ("read_back", "1000000"), ("ops", "4")]);
    let batches = [1; 3].map(|ms| ops(&batch(&mut rest, ms)));
    assert_eq!(batches, [vec![Op::Read; 2], vec![Op::Read; 2], vec![]]);
}

#[test]
fn nothing_follows_once_the_load_is_over_or_all_is_asked() {
    let ops = |keys: &[(&str, &str)]| {
        let all = answers(&[&[("rewrites", "100%"), ("pattern", "sequential")], keys].concat(), 1);
        all.iter().map(|answer| answer.request.op).collect::<Vec<Op>>()
    };
    use Op::{Flush as F, Read as R, Write as W};
    assert_eq!(ops(&[("run", "5ms")]), [R, W, R, W, R], "the last read ends with the load");
    assert_eq!(ops(&[("bytes", "12KiB")]), [R, W, R]);
    assert_eq!(ops(&[("flush_every", "2"), ("ops", "8")]), [R, W, R, W, F, R, W, R, W]);
    let mut stopped = four_ended(&[("rewrites", "100%")]);
    stopped.stop();
    assert!(batch(&mut stopped, 1).is_empty());
}

#[test]
fn a_worker_writes_if_it_writes_of_itself_or_after_what_it_reads() {
    let writes = |key, value| crate::world::specs(&asked(&[(key, value)])).remove(0).writes();
    assert_eq!(
        [writes("reads", "100%"), writes("reads", "50%"), writes("rewrites", "1%")],
        [false, true, true]
    );
}
