//! Requests of several kinds, and requests that go on where the last one ended.

use units::{Bytes, Instant, Nanos, Share};
use workload::spec::*;
use workload::{Op, Request, Wake, compile};

use crate::world::{Answer, Servers, drive, job};

const MS: Nanos = Nanos::from_millis(1);
const KIB: u64 = 1024;

fn share(text: &str) -> Share {
    text.parse().unwrap()
}

/// The workload of a plan with these keys on 1,000 blocks of 4 KiB, 1 MiB ahead of them.
fn asked(keys: &[(&str, &str)]) -> Workload {
    let common = [("direct", "false"), ("seed", "3")];
    workload::plan::from_texts("test", common.iter().chain(keys).copied())
        .unwrap_or_else(|e| panic!("{}", e.plain()))
}

fn answers(keys: &[(&str, &str)], servers: usize) -> Vec<Answer> {
    drive(&mut job(&asked(keys)), &mut Servers::new(servers, MS))
}

fn requests(keys: &[(&str, &str)]) -> Vec<Request> {
    answers(keys, 1).into_iter().map(|answer| answer.request).collect()
}

/// How far `found` of `draws` lies from `share`, in standard deviations of the binomial.
fn deviation(found: usize, draws: usize, share: f64) -> f64 {
    let expected = draws as f64 * share;
    (found as f64 - expected).abs() / (expected * (1.0 - share)).sqrt()
}

const FILE_SERVER: &str = "[{ share = 10, size = \"512B\" }, { share = 5, size = \"1KiB\" }, \
    { share = 5, size = \"2KiB\" }, { share = 60, size = \"4KiB\" }, { share = 2, size = \"8KiB\" }, \
    { share = 4, size = \"16KiB\" }, { share = 4, size = \"32KiB\" }, { share = 10, size = \"64KiB\" }]";

#[test]
fn each_line_gets_its_share_of_the_requests() {
    let all = requests(&[("mix", FILE_SERVER), ("reads", "80%"), ("ops", "100000")]);
    for (kib, part) in [(0.5, 0.10), (1.0, 0.05), (4.0, 0.60), (8.0, 0.02), (64.0, 0.10)] {
        let of_size = || all.iter().filter(|request| f64::from(request.len) == kib * 1024.0);
        assert!(deviation(of_size().count(), all.len(), part) < 5.0, "{kib} KiB: {}", of_size().count());
        let reads = of_size().filter(|request| request.op == Op::Read).count();
        assert!(deviation(reads, of_size().count(), 0.8) < 5.0, "{reads} reads of {kib} KiB");
    }
}

#[test]
fn a_line_says_for_itself_what_differs_from_the_workload() {
    let mix =
        "[{ share = 3, size = \"4KiB\", reads = \"100%\" }, { share = 1, size = \"64KiB\", reads = \"0%\" }]";
    let workload = asked(&[("mix", mix), ("ops", "4000")]);
    assert_eq!((workload.sizes.largest(), workload.mix.reads), (Bytes::KIB * 64, share("75%")));
    assert!(workload.changes_data());
    let mut job = job(&workload);
    let all = drive(&mut job, &mut Servers::new(1, MS));
    assert!(all.iter().all(|a| (a.request.op == Op::Read) == (a.request.len == 4096)));
    let tally = job.into_tally();
    let classes: Vec<_> = tally.classes.iter().map(|kept| (kept.class.op, kept.class.size)).collect();
    // Large reads and small writes cannot come: they are no classes.
    assert_eq!(classes, [(Op::Read.into(), Bytes::KIB * 4), (Op::Write.into(), Bytes::KIB * 64)]);
}

#[test]
fn a_part_goes_to_random_places_and_the_rest_goes_on_where_the_last_ended() {
    for (pattern, random, part) in
        [("random(repeats)", "70%", 0.7), ("sequential", "20%", 0.2), ("random(repeats)", "0%", 0.0)]
    {
        let all = requests(&[("pattern", pattern), ("random", random), ("ops", "20000")]);
        let end = |request: &Request| request.offset.get() + u64::from(request.len);
        let goes_on = |pair: &&[Request]| pair[1].offset.get() == end(&pair[0]) % (4000 * KIB);
        let going_on = all.windows(2).filter(goes_on).count();
        // A drawn place lies by chance behind the last one once in a thousand.
        let expected = 1.0 - part * 0.999;
        match part {
            0.0 => assert_eq!(going_on, all.len() - 1),
            _ => assert!(deviation(going_on, all.len() - 1, expected) < 5.0, "{going_on} of {}", all.len()),
        }
    }
}

#[test]
fn requests_that_only_go_on_are_those_of_a_sequential_pattern() {
    let offsets = |keys: &[(&str, &str)]| -> Vec<u64> {
        requests(keys).iter().map(|request| request.offset.get()).collect()
    };
    let going_on = offsets(&[("random", "0%"), ("ops", "2500")]);
    assert_eq!(going_on, offsets(&[("pattern", "sequential"), ("ops", "2500")]));
}

#[test]
fn sequential_and_random_lines_share_one_cursor() {
    let mix = "[{ share = 1, size = \"4KiB\", random = \"0%\" }, { share = 1, size = \"8KiB\", random = \"100%\" }]";
    let all = requests(&[("mix", mix), ("ops", "10000")]);
    let end = |request: &Request| request.offset.get() + u64::from(request.len);
    for pair in all.windows(2).filter(|pair| pair[1].len == 4096) {
        let wrapped = pair[1].offset == Bytes::ZERO && end(&pair[0]) + 4096 > 4000 * KIB;
        assert!(wrapped || pair[1].offset.get() == end(&pair[0]), "{pair:?}");
    }
}

#[test]
fn each_line_keeps_its_own_alignment() {
    let mix = "[{ share = 1, size = \"4KiB\", align = \"4KiB\" }, { share = 1, size = \"512B\", align = \"512B\" }]";
    for pattern in ["random", "sequential", "zipf(1.1)"] {
        let all = requests(&[("mix", mix), ("pattern", pattern), ("ops", "4000")]);
        assert!(
            all.iter().all(|request| request.offset.get().is_multiple_of(u64::from(request.len))),
            "{pattern}"
        );
        let odd = all.iter().filter(|request| !request.offset.get().is_multiple_of(4096)).count();
        assert!(odd > 100, "{pattern}: small requests begin anywhere");
    }
}

#[test]
fn a_burst_follows_from_one_line_and_begins_after_its_delay() {
    let mix = "[{ share = 1, size = \"4KiB\", burst = 5, delay = \"20ms\" }, { share = 1, size = \"8KiB\", burst = 3 }]";
    let all = answers(&[("mix", mix), ("ops", "4000")], 1);
    let mut begins = 0;
    let last = all.last().unwrap().request;
    for burst in all.chunk_by(|one, next| one.request.len == next.request.len) {
        let each = if burst[0].request.len == 4096 { 5 } else { 3 };
        let is_last = burst.last().unwrap().request == last;
        assert!(burst.len() % each == 0 || is_last, "{} requests", burst.len());
        begins += if each == 5 { burst.len().div_ceil(5) } else { 0 };
    }
    // A request takes a millisecond, and each burst of the first line waits for twenty before it.
    let whole = all.last().unwrap().finished - Instant::START;
    assert_eq!(whole, MS * (all.len() + 20 * begins) as u64);
}

#[test]
fn a_worker_pauses_once_all_of_its_burst_have_ended() {
    let keys = [("pace", "think(10ms, 8)"), ("depth", "4"), ("ops", "80")];
    let all = answers(&keys, 4);
    for (index, burst) in all.chunks(8).enumerate() {
        // Eight requests on four servers of a millisecond take two; then ten of rest.
        let begins = Instant::START + MS * 12 * index as u64;
        assert_eq!((burst[0].issued, burst[7].finished), (begins, begins + MS * 2));
    }
    // The answer's time counts from when the pause was over, not from when it began.
    let mut job = job(&asked(&keys));
    drive(&mut job, &mut Servers::new(4, MS));
    assert_eq!(job.into_tally().classes[0].response.max(), Some(MS));
}

#[test]
fn a_worker_pauses_once_its_time_is_over_and_all_of_it_has_ended() {
    let keys = [("pace", "think(10ms, 5ms)"), ("depth", "4"), ("ops", "100")];
    for (index, spell) in answers(&keys, 4).chunks(20).enumerate() {
        // Four servers of a millisecond answer twenty requests in five; then ten of rest.
        let begins = Instant::START + MS * 15 * index as u64;
        assert_eq!((spell[0].issued, spell[19].finished), (begins, begins + MS * 5));
    }
    // What is in flight when the time is over ends first.
    let slow = answers(&[("pace", "think(10ms, 1500us)"), ("ops", "6")], 1);
    let since = |answer: &Answer| answer.issued.saturating_since(Instant::START).as_secs_f64() * 1e3;
    let at: Vec<f64> = slow.iter().map(since).map(f64::round).collect();
    assert_eq!(at, [0.0, 1.0, 12.0, 13.0, 24.0, 25.0]);
}

#[test]
fn the_stream_of_a_mix_does_not_depend_on_who_answers() {
    let mix = "[{ share = 1, size = \"4KiB\", random = \"30%\", burst = 4, delay = \"1ms\" }, \
        { share = 1, size = \"16KiB\", reads = \"50%\" }]";
    let digest = |depth: &str, servers: usize, service: Nanos| {
        let mut job = job(&asked(&[("mix", mix), ("depth", depth), ("ops", "3000")]));
        drive(&mut job, &mut Servers::new(servers, service));
        job.into_tally().digest
    };
    assert_eq!(digest("1", 1, MS), digest("16", 5, MS * 7));
}

#[test]
fn requests_that_go_on_cannot_cross_luns_unless_all_are_of_one_size() {
    let mix = "[{ share = 1, size = \"4KiB\" }, { share = 1, size = \"8KiB\" }]";
    let luns = [Bytes::MIB; 2];
    let fits = |keys: &[(&str, &str)]| compile(&asked(keys), &luns).is_ok();
    assert!(fits(&[("mix", mix), ("ops", "1")]));
    assert!(fits(&[("random", "50%"), ("ops", "1")]));
    assert!(!fits(&[("mix", mix), ("random", "50%"), ("ops", "1")]));
    assert!(!fits(&[("mix", mix), ("pattern", "sequential"), ("ops", "1")]));
}

/// Operations and KiB of the classes of a job that has asked nothing yet.
fn classes(keys: &[(&str, &str)]) -> Vec<(&'static str, u64)> {
    let classes = job(&asked(keys)).into_tally().classes;
    classes.iter().map(|kept| (kept.class.op.name(), kept.class.size.get() / KIB)).collect()
}

#[test]
fn what_may_come_is_a_class_before_it_has_come_and_nothing_else_is() {
    let writes = ("reads", "0%");
    assert_eq!(classes(&[]), [("read", 4)]);
    assert_eq!(classes(&[("size", "{ \"4KiB\" = 50, \"64KiB\" = 50 }")]), [("read", 4), ("read", 64)]);
    assert_eq!(classes(&[writes]), [("write", 4)]);
    assert_eq!(classes(&[("rewrites", "10%")]), [("read", 4), ("write", 4)]);
    assert_eq!(classes(&[writes, ("read_back", "9")]), [("read", 4), ("write", 4)]);
    assert_eq!(classes(&[writes, ("flush_every", "9")]), [("write", 4), ("flush", 0)]);
    assert_eq!(classes(&[writes, ("flush_at_end", "true")]), [("write", 4), ("flush", 0)]);
    let mix =
        "[{ share = 1, size = \"4KiB\", reads = \"100%\" }, { share = 1, size = \"8KiB\", reads = \"0%\" }]";
    let mixed = |key, value| classes(&[("mix", mix), (key, value)]);
    assert_eq!(mixed("depth", "2"), [("read", 4), ("write", 8)]);
    assert_eq!(mixed("rewrites", "10%"), [("read", 4), ("write", 4), ("write", 8)]);
    assert_eq!(mixed("read_back", "9"), [("read", 4), ("read", 8), ("write", 8)]);
    assert_eq!(mixed("flush_every", "9"), [("read", 4), ("write", 8), ("flush", 0)]);
}

#[test]
fn what_follows_a_trim_is_read_back_in_a_class_of_its_own() {
    let mix = "[{ share = 1, size = \"4KiB\", reads = \"0%\", trims = \"100%\" }, \
        { share = 1, size = \"8KiB\", reads = \"0%\", trims = \"100%\" }]";
    let mut job = job(&asked(&[("mix", mix), ("rewrites", "100%"), ("read_back", "1"), ("ops", "100")]));
    drive(&mut job, &mut Servers::new(1, MS));
    let tally = job.into_tally();
    let of =
        |op: Op| tally.classes.iter().filter(|kept| kept.class.op == op).map(|kept| kept.ended).sum::<u64>();
    assert_eq!([Op::Trim, Op::Write, Op::Read].map(of), [50; 3]);
}

#[test]
fn lines_are_asked_at_the_pace_of_the_workload() {
    let mix = "[{ share = 1, size = \"4KiB\" }, { share = 1, size = \"8KiB\" }]";
    assert_eq!(answers(&[("mix", mix), ("pace", "rate(100/s)"), ("run", "1s")], 1).len(), 100);
    // Without a pause between them a job whose slots are taken waits for the next that ends.
    let mut job = job(&asked(&[("mix", mix), ("depth", "1")]));
    job.start(Instant::START);
    assert_eq!(job.plan(Instant::START, &mut Vec::new()), Wake::OnCompletion);
}
