//! How workers go on from one request to the next, and when they begin and end.

use std::sync::Arc;

use units::{Bytes, Instant, Nanos};
use workload::spec::Workload;
use workload::steady::SteadyWatch;
use workload::tally::{Class, ClassInterval, Interval};
use workload::{FlowTotals, Job, Op, Wake, compile};

use crate::world::{Answer, Servers, drive};

const MS: Nanos = Nanos::from_millis(1);

fn asked(keys: &[(&str, &str)]) -> Workload {
    workload::plan::from_texts("test", keys.iter().copied()).unwrap_or_else(|e| panic!("{}", e.plain()))
}

fn job(keys: &[(&str, &str)]) -> Job {
    Job::new(compile(&asked(keys), &[Bytes::MIB]).unwrap_or_else(|e| panic!("{e}")).remove(0))
}

fn answers(keys: &[(&str, &str)], servers: usize) -> Vec<Answer> {
    drive(&mut job(keys), &mut Servers::new(servers, MS))
}

fn blocks(keys: &[(&str, &str)]) -> Vec<u64> {
    answers(keys, 1).iter().map(|answer| answer.request.offset.get() / 4096).collect()
}

#[test]
fn requests_follow_each_other_from_each_drawn_place() {
    let blocks = blocks(&[("consecutive", "4"), ("ops", "400")]);
    let rows: Vec<&[u64]> = blocks.chunks(4).collect();
    let goes_on = |row: &&[u64]| row.windows(2).all(|pair| pair[1] == pair[0] + 1 || pair[1] == 0);
    assert!(rows.iter().all(goes_on), "{rows:?}");
    let jumps = rows.windows(2).filter(|pair| pair[1][0] != pair[0][3] + 1).count();
    assert!(jumps > 90, "{jumps} of 99 rows begin elsewhere");
}

#[test]
fn rows_may_stay_at_their_place() {
    let blocks = self::blocks(&[("consecutive", "4"), ("repeat_offset", "true"), ("ops", "400")]);
    assert!(blocks.chunks(4).all(|row| row.iter().all(|block| *block == row[0])), "{blocks:?}");
    let mut places: Vec<u64> = blocks.chunks(4).map(|row| row[0]).collect();
    places.sort_unstable();
    places.dedup();
    assert_eq!(places.len(), 100, "each place is drawn once before any comes again");
    // A stream has each of its blocks follow itself.
    let stream =
        [("pattern", "sequential"), ("consecutive", "3"), ("repeat_offset", "true"), ("ops", "1000")];
    let expected: Vec<u64> = (0..1000).map(|number| number / 3 % 256).collect();
    assert_eq!(self::blocks(&stream), expected);
    // Sizes that do not fit at the end of the region begin earlier; what is not in a row goes on.
    let keys = [
        ("consecutive", "3"),
        ("repeat_offset", "true"),
        ("size", "{ \"4KiB\" = 50, \"64KiB\" = 50 }"),
        ("ops", "999"),
    ];
    for request in answers(&keys, 1).iter().map(|answer| answer.request) {
        assert!(request.offset.get() + u64::from(request.len) <= 1 << 20 && request.offset.get() % 4096 == 0);
    }
    let part = [("random", "30%"), ("consecutive", "2"), ("repeat_offset", "true"), ("ops", "400")];
    let blocks = self::blocks(&part);
    let on = blocks.windows(2).filter(|pair| pair[1] == pair[0] + 1).count();
    let again = blocks.windows(2).filter(|pair| pair[1] == pair[0]).count();
    assert!((60..160).contains(&again) && on > 150, "{again} {on}");
}

#[test]
fn a_stride_may_pass_through_several_requests_before_it_leaves_a_gap() {
    let keys = [("pattern", "stride(32KiB, 12KiB)"), ("span", "64KiB"), ("ops", "8")];
    assert_eq!(blocks(&keys), [0, 1, 2, 8, 9, 10, 0, 1]);
}

#[test]
fn columns_are_passed_one_after_the_other_as_wide_as_they_are() {
    let keys = [("pattern", "columns(16KiB, 8KiB)"), ("span", "48KiB"), ("ops", "8")];
    assert_eq!(blocks(&keys), [0, 4, 8, 1, 5, 9, 0, 4]);
}

#[test]
fn a_reverse_stride_leaves_gaps_downwards() {
    let keys = [("pattern", "reverse(12KiB)"), ("span", "32KiB"), ("ops", "6")];
    assert_eq!(blocks(&keys), [7, 4, 1, 7, 4, 1]);
}

#[test]
fn slots_are_not_filled_again_before_the_low_water_mark() {
    // However many are handed over at a time.
    for submit_batch in ["1", "3", "8", "32"] {
        let keys = [("depth", "8"), ("low_water", "2"), ("ops", "20"), ("submit_batch", submit_batch)];
        let answers = answers(&keys, 1);
        let issued: Vec<u64> = answers.iter().map(|answer| answer.issued.nanos() / 1_000_000).collect();
        // Eight at once, six more when two are left, and so on.
        assert_eq!(issued, [[0; 8].as_slice(), &[6; 6], &[12; 6]].concat(), "in batches of {submit_batch}");
    }
}

#[test]
fn a_workload_begins_after_its_pause_and_measures_from_then() {
    let mut late = job(&[("start", "5ms"), ("run", "10ms")]);
    let answers = drive(&mut late, &mut Servers::new(1, MS));
    assert_eq!(answers[0].issued, Instant::from_nanos(5_000_000));
    let tally = late.into_tally();
    let window = (tally.measured_from.nanos() / 1_000_000, tally.measured_until.nanos() / 1_000_000);
    assert_eq!(window, (5, 15));
}

#[test]
fn a_pass_asks_for_as_many_bytes_as_the_span_holds() {
    assert_eq!(blocks(&[("pattern", "sequential"), ("span", "40KiB"), ("loops", "2")]).len(), 20);
    let asked = asked(&[("files", "per_worker(3)"), ("workers", "2"), ("loops", "1")]);
    let specs = compile(&asked, &[Bytes::KIB * 64; 6]).unwrap();
    assert!(specs.iter().all(|spec| spec.bytes == Some(Bytes::KIB * 192)));
}

#[test]
fn writes_are_read_back_so_many_at_a_time_and_the_rest_at_the_end() {
    let keys = [("reads", "0%"), ("read_back", "4"), ("ops", "10"), ("pattern", "sequential")];
    let answers = answers(&keys, 1);
    let row: Vec<(Op, u64)> =
        answers.iter().map(|answer| (answer.request.op, answer.request.offset.get() / 4096)).collect();
    let of = |op, blocks: std::ops::Range<u64>| blocks.map(move |block| (op, block));
    let parts = [(Op::Write, 0..4), (Op::Read, 0..4), (Op::Write, 4..8), (Op::Read, 4..8)];
    let mut expected: Vec<(Op, u64)> = parts.into_iter().flat_map(|(op, blocks)| of(op, blocks)).collect();
    expected.extend(of(Op::Write, 8..10).chain(of(Op::Read, 8..10)));
    assert_eq!(row, expected);
}

#[test]
fn what_a_timed_load_wrote_is_read_back_behind_its_measured_time() {
    let mut timed = job(&[("reads", "0%"), ("read_back", "1000000"), ("run", "10ms"), ("depth", "2")]);
    let answers = drive(&mut timed, &mut Servers::new(2, MS));
    let count = |op| answers.iter().filter(|answer| answer.request.op == op).count();
    assert_eq!((count(Op::Write), count(Op::Read)), (20, 20));
    let tally = timed.into_tally();
    let reads = tally.classes.iter().find(|class| class.class.op == Op::Read).unwrap();
    assert_eq!((reads.ops, reads.ended), (0, 20));
    assert_eq!(tally.measured(), MS * 10);
}

#[test]
fn reads_at_the_end_lie_behind_the_measured_time_of_a_load_that_ends_before_its_run() {
    let keys = [("reads", "0%"), ("read_back", "1000000"), ("run", "3s"), ("ops", "1201"), ("depth", "2")];
    let mut early = job(&keys);
    let answers = drive(&mut early, &mut Servers::new(2, MS * 2));
    let last_write = answers.iter().rposition(|answer| answer.request.op == Op::Write).unwrap();
    assert!(answers[..last_write].iter().all(|answer| answer.request.op == Op::Write));
    let tally = early.into_tally();
    let of = |op| tally.classes.iter().find(|class| class.class.op == op).unwrap();
    assert_eq!((of(Op::Write).ops, of(Op::Read).ops, of(Op::Read).ended), (1201, 0, 1201));
    assert_eq!(tally.measured(), MS * 1202);
    let measured = tally.intervals.iter().filter(|interval| interval.measured).flat_map(|one| &one.classes);
    assert_eq!(measured.map(|class| class.ops).sum::<u64>(), 1201);
}

/// Jobs of one flow on a server each; their requests by the end of the first, which is the `first`.
fn in_flow(weights: [&str; 2], first: usize) -> [u64; 2] {
    let totals = Arc::new(FlowTotals::default());
    let mut jobs = weights.map(|weight| job(&[("flow", weight), ("run", "1s")]));
    jobs.iter_mut().for_each(|job| job.share_flow(&totals));
    jobs.iter_mut().for_each(|job| job.start(Instant::START));
    let mut batch = Vec::new();
    // A tick of 100 µs; a request lasts one tick.
    for tick in 0..20_000u64 {
        let now = Instant::from_nanos(tick * 100_000);
        for (index, job) in jobs.iter_mut().enumerate() {
            let wake = job.plan(now, &mut batch);
            for request in batch.drain(..) {
                let outcome = workload::Outcome::moved(request.len);
                let finished_at = Instant::from_nanos(tick * 100_000 + 50_000);
                job.complete(workload::Completion { token: request.token, outcome, finished_at });
            }
            if index == first && wake == Wake::Done {
                return [jobs[0].progress().ops, jobs[1].progress().ops];
            }
        }
    }
    panic!("the first job does not end");
}

#[test]
fn workloads_of_a_flow_ask_in_its_proportion() {
    let [one, three] = in_flow(["1", "3"], 0);
    assert!((2.9..3.1).contains(&(three as f64 / one as f64)), "{three} beside {one}");
}

#[test]
fn the_windows_of_a_warm_up_by_bytes_begin_together_whoever_moved_them() {
    let keys = [("warmup_bytes", "120KiB"), ("run", "10ms"), ("workers", "2")];
    let specs = compile(&asked(&keys), &[Bytes::MIB]).unwrap();
    let mut jobs: Vec<Job> = specs.into_iter().map(Job::new).collect();
    let warm_up = Arc::default();
    jobs.iter_mut().for_each(|job| job.share_warm_up(&warm_up));
    jobs.iter_mut().for_each(|job| job.start(Instant::START));
    let mut batch = Vec::new();
    let mut done = [false; 2];
    // A request takes the first job a millisecond, and the second one two.
    for ms in 0..100u64 {
        let now = Instant::from_nanos(ms * 1_000_000);
        for (index, job) in jobs.iter_mut().enumerate().filter(|(index, _)| ms % (*index as u64 + 1) == 0) {
            done[index] = done[index] || job.plan(now, &mut batch) == Wake::Done;
            for request in batch.drain(..) {
                let outcome = workload::Outcome::moved(request.len);
                let finished_at = now + MS * (index as u64 + 1);
                job.complete(workload::Completion { token: request.token, outcome, finished_at });
            }
        }
    }
    assert_eq!(done, [true; 2]);
    // 30 requests of 4 KiB, three in two milliseconds.
    let windows = jobs.into_iter().map(|job| job.into_tally()).map(|tally| {
        (tally.measured_from.nanos() / 1_000_000, tally.measured_until.nanos() / 1_000_000, tally.ops())
    });
    assert_eq!(windows.collect::<Vec<_>>(), [(20, 30, 9), (20, 30, 4)]);
}

/// How many requests two workers come to that wear out behind 10 ms, of `ops` at most: those of the first take a millisecond, and
/// those of the second two; and when each has ended, in milliseconds.
fn worn(ops: &str) -> [(u64, u64); 2] {
    let keys = [("run", "10ms"), ("wear_out", "true"), ("ops", ops), ("workers", "2")];
    let specs = compile(&asked(&keys), &[Bytes::MIB]).unwrap();
    let mut jobs: Vec<Job> = specs.into_iter().map(Job::new).collect();
    let shared = Arc::default();
    jobs.iter_mut().for_each(|job| job.share_wear_out(&shared));
    jobs.iter_mut().for_each(|job| job.start(Instant::START));
    let mut due = [Some(Instant::START); 2];
    let mut batch = Vec::new();
    // In the order of time.
    while let Some((index, now)) =
        (0..2).filter_map(|index| Some((index, due[index]?))).min_by_key(|(_, at)| *at)
    {
        due[index] = match jobs[index].plan(now, &mut batch) {
            Wake::Done => None,
            Wake::At(later) if batch.is_empty() => Some(later),
            _ => Some(now + MS * (index as u64 + 1)),
        };
        for request in batch.drain(..) {
            let finished_at = due[index].unwrap();
            let outcome = workload::Outcome::moved(request.len);
            jobs[index].complete(workload::Completion { token: request.token, outcome, finished_at });
        }
    }
    let ends: Vec<(u64, u64)> = jobs
        .into_iter()
        .map(|job| job.into_tally())
        .map(|tally| (tally.ops(), tally.measured_until.nanos() / 1_000_000))
        .collect();
    ends.try_into().unwrap()
}

#[test]
fn what_wears_out_comes_to_as_many_requests_as_the_furthest_had_when_the_time_was_over() {
    assert_eq!(worn("1000"), [(10, 10), (10, 20)]);
    // The first has done its part before.
    assert_eq!(worn("12"), [(6, 6), (6, 12)]);
}

/// A second of one worker with so many requests.
fn second(number: u64, ops: u64) -> Interval {
    let at = |second: u64| Instant::from_nanos(second * 1_000_000_000 + 7);
    let class = Class { op: Op::Read.into(), size: Bytes::KIB };
    let (response, service, longest) = (Vec::new(), Vec::new(), Nanos::ZERO);
    let classes = vec![ClassInterval { class, ops, bytes: Bytes::KIB * ops, response, service, longest }];
    Interval { from: at(number), until: at(number + 1), measured: true, classes }
}

/// The second by whose end the figure is said to be steady.
fn steady_by(rule: &str, series: &[u64]) -> Option<usize> {
    let mut watch = SteadyWatch::new(rule.parse().unwrap());
    // Two workers do half of it each, and tell of it one after the other.
    series.iter().enumerate().position(|(number, ops)| {
        let half = [second(number as u64, ops / 2)];
        watch.take(&half) || watch.take(&half)
    })
}

#[test]
fn a_figure_is_steady_once_a_whole_window_of_it_is() {
    let series = [1000, 600, 500, 500, 510, 490, 500, 500, 500, 500];
    // Seconds 2 to 5 are the first window within 5 %; a second is looked at when two more have been told.
    assert_eq!(steady_by("iops(5%, 4s)", &series), Some(7));
    assert_eq!(steady_by("iops(50, 4s)", &series), Some(7));
    assert_eq!(steady_by("iops(5%, 4s, 4s)", &series), Some(9));
    let rising: Vec<u64> = (0..10).map(|second| 1000 + 20 * second).collect();
    assert_eq!(steady_by("iops_slope(1%, 4s)", &rising), None);
    assert_eq!(steady_by("iops_slope(21, 4s)", &rising), Some(5));
}

#[test]
fn the_criterion_is_the_line_of_least_squares_and_the_largest_distance_from_the_mean() {
    let rule: workload::steady::Steady = "iops_slope(10%, 4s)".parse().unwrap();
    let seen = rule.criterion(&[1.0, 2.0, 3.0, 6.0]).unwrap();
    // By hand: mean 3, Σ(x - 1.5)(y - 3) = 3 + 0.5 + 0 + 4.5 = 8, over 5.
    assert!((seen.mean - 3.0).abs() < 1e-12 && (seen.slope - 1.6).abs() < 1e-12, "{seen:?}");
    assert!((seen.deviation - 3.0).abs() < 1e-12 && (seen.value - 160.0 / 3.0).abs() < 1e-9, "{seen:?}");
    assert!(!seen.is_met && rule.criterion(&[1.0; 3]).is_none());
}

#[test]
fn files_are_opened_again_after_so_many_requests_once_all_have_ended() {
    for (depth, every) in [("1", 10), ("4", 10), ("4", 3)] {
        let mut job = job(&[("depth", depth), ("ops", "100"), ("reopen_every", &every.to_string())]);
        let (mut now, mut batch) = (Instant::START, Vec::new());
        let (mut asked, mut opened_at, mut in_flight) = (0, Vec::new(), 0);
        job.start(now);
        loop {
            batch.clear();
            let wake = job.plan(now, &mut batch);
            if job.reopens() {
                assert_eq!(in_flight, 0, "nothing is in flight");
                opened_at.push(asked);
            }
            asked += batch.len();
            in_flight += batch.len();
            now = now.saturating_add(MS);
            for request in batch.drain(..) {
                let outcome = workload::Outcome::moved(request.len);
                job.complete(workload::Completion { token: request.token, outcome, finished_at: now });
                in_flight -= 1;
            }
            if wake == workload::Wake::Done {
                break;
            }
        }
        assert_eq!(asked, 100);
        assert_eq!(opened_at, (1..).map(|turn| turn * every).take_while(|at| *at < 100).collect::<Vec<_>>());
    }
}

#[test]
fn at_a_depth_the_last_requests_before_files_are_opened_again_go_out_alone() {
    let all = answers(&[("depth", "4"), ("ops", "40"), ("reopen_every", "10")], 4);
    for connection in all.chunks(10) {
        let (first, last) =
            (connection[0].issued, connection.iter().map(|each| each.finished).max().unwrap());
        assert!(connection.iter().all(|each| each.issued >= first && each.finished <= last));
    }
    for pair in all.chunks(10).collect::<Vec<_>>().windows(2) {
        let ended = pair[0].iter().map(|each| each.finished).max().unwrap();
        assert!(
            pair[1].iter().all(|each| each.issued >= ended),
            "the next connection begins when one has ended"
        );
    }
}

#[test]
fn a_schedule_goes_on_after_files_were_opened_again() {
    let keys = [("pace", "rate(1000/s)"), ("depth", "4"), ("ops", "9"), ("reopen_every", "3"), ("seed", "1")];
    assert_eq!(answers(&keys, 4).len(), 9);
    let mut job = job(&keys);
    let (mut now, mut batch) = (Instant::START, Vec::new());
    job.start(now);
    loop {
        match job.plan(now, &mut batch) {
            Wake::At(due) => now = due,
            Wake::Again => {}
            _ => break,
        }
    }
    assert_eq!(batch.len(), 3, "they are in flight, and the files are closed when they have ended");
    let fourth = now.saturating_add(MS * 2);
    for (number, request) in batch.iter().enumerate() {
        let outcome = workload::Outcome::moved(request.len);
        job.complete(workload::Completion { token: request.token, outcome, finished_at: fourth });
        assert!(!job.waits_for_arrival(fourth), "it must be asked after completion {number}");
    }
    let mut next = Vec::new();
    job.plan(fourth, &mut next);
    assert!(job.reopens() && !next.is_empty());
}
