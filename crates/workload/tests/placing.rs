//! Spans of their own for each worker, zones of so many bytes, streams taken in turn.

use units::{Bytes, Nanos};
use workload::spec::Workload;
use workload::{Job, Op, compile};

use crate::world::{Servers, drive};

const MS: Nanos = Nanos::from_millis(1);

fn asked(keys: &[(&str, &str)]) -> Workload {
    workload::plan::from_texts("test", keys.iter().copied()).unwrap_or_else(|e| panic!("{}", e.plain()))
}

/// File and offset of each request, by worker.
fn places(keys: &[(&str, &str)], lengths: &[Bytes]) -> Vec<Vec<(u16, u64)>> {
    let answers = |spec| drive(&mut Job::new(spec), &mut Servers::new(1, MS));
    let place = |answer: workload::Request| (answer.file, answer.offset.get());
    let specs = compile(&asked(keys), lengths).unwrap_or_else(|e| panic!("{e}"));
    specs
        .into_iter()
        .map(|spec| answers(spec).into_iter().map(|answer| place(answer.request)).collect())
        .collect()
}

fn refusal(keys: &[(&str, &str)], length: Bytes) -> String {
    compile(&asked(keys), &[length]).expect_err("refused").to_string()
}

#[test]
fn each_worker_begins_behind_the_one_before_and_has_its_span_alone() {
    let keys = [
        ("pattern", "sequential"),
        ("workers", "3"),
        ("worker_offset", "1MiB"),
        ("ops", "12"),
        ("span", "8KiB"),
    ];
    let mib = 1 << 20;
    let expected: Vec<Vec<(u16, u64)>> =
        (0..3).map(|worker| [0, 4096, 0, 4096].map(|at| (0, worker * mib + at)).to_vec()).collect();
    assert_eq!(places(&keys, &[Bytes::MIB * 4]), expected);
    // Without a span each goes on to the end of the target.
    let keys = [("pattern", "sequential"), ("workers", "2"), ("worker_offset", "16KiB"), ("ops", "14")];
    let both = places(&keys, &[Bytes::KIB * 24]);
    assert_eq!(both[1].iter().map(|(_, at)| at / 4096).collect::<Vec<_>>(), [4, 5, 4, 5, 4, 5, 4]);
    assert_eq!(both[0].iter().map(|(_, at)| at / 4096).collect::<Vec<_>>(), [0, 1, 2, 3, 4, 5, 0]);
}

#[test]
fn workers_with_spans_of_their_own_have_orders_of_their_own() {
    let keys = [("workers", "2"), ("worker_offset", "4MiB"), ("span", "4MiB"), ("ops", "100")];
    let both = places(&keys, &[Bytes::MIB * 8]);
    let within = |worker: usize| both[worker].iter().map(|(_, at)| at % (4 << 20)).collect::<Vec<_>>();
    assert_ne!(within(0), within(1));
    assert!(both[1].iter().all(|(_, at)| *at >= 4 << 20));
}

#[test]
fn a_worker_whose_span_would_lie_past_the_end_is_refused() {
    let keys = [("workers", "3"), ("worker_offset", "1MiB"), ("span", "1MiB"), ("ops", "3")];
    assert!(compile(&asked(&keys), &[Bytes::MIB * 3]).is_ok());
    assert!(refusal(&keys, Bytes::new((3 << 20) - 4096)).contains("reaches past a target"));
    let keys = [("workers", "3"), ("worker_offset", "1MiB"), ("ops", "3")];
    assert!(refusal(&keys, Bytes::MIB * 2).contains("leaves nothing"));
}

#[test]
fn an_offset_is_kept_to_the_byte_where_no_alignment_is_asked_for() {
    let first = |keys: &[(&str, &str)]| places(keys, &[Bytes::MIB])[0][0].1;
    let keys = [("pattern", "sequential"), ("size", "64KiB"), ("offset", "4KiB"), ("ops", "1")];
    assert_eq!(first(&keys), 4096);
    let keys =
        [("pattern", "sequential"), ("size", "64KiB"), ("align", "64KiB"), ("offset", "68KiB"), ("ops", "1")];
    assert_eq!(first(&keys), 65536);
}

#[test]
fn zones_of_so_many_bytes_get_their_share() {
    let keys = [("pattern", "hot(50% in 1MiB, 30% in 2MiB)"), ("ops", "100000")];
    let all = &places(&keys, &[Bytes::MIB * 10])[0];
    for (from, to, share) in [(0u64, 1, 0.5), (1, 3, 0.3), (3, 10, 0.2)] {
        let inside = all.iter().filter(|(_, at)| (from << 20..to << 20).contains(at)).count() as f64;
        // Five standard deviations of a binomial with n = 100,000 are at most 791.
        assert!((inside - share * 1e5).abs() < 791.0, "{from} to {to} MiB: {inside}");
    }
    assert!(refusal(&keys, Bytes::MIB * 3).contains("zones of 3 MiB leave nothing"));
    let full = [("pattern", "hot(50% in 1MiB, 50% in 2MiB)"), ("ops", "1")];
    assert!(compile(&asked(&full), &[Bytes::MIB * 3]).is_ok());
}

#[test]
fn interlocked_workers_read_one_stream_together() {
    let keys = [("pattern", "sequential(interlocked)"), ("workers", "4"), ("size", "64KiB"), ("ops", "16")];
    let mut all: Vec<u64> =
        places(&keys, &[Bytes::MIB]).into_iter().flatten().map(|(_, at)| at / 65536).collect();
    assert_eq!((all[0], all[1], all[4]), (0, 4, 1), "each worker takes every fourth request");
    all.sort_unstable();
    assert_eq!(all, (0..16).collect::<Vec<_>>());
}

#[test]
fn a_request_drawn_with_repeats_never_crosses_luns() {
    for luns in ["concatenated", "striped(64KiB)"] {
        let keys = [
            ("pattern", "random(repeats)"),
            ("size", "{ \"4KiB\" = 1, \"64KiB\" = 1 }"),
            ("luns", luns),
            ("ops", "5000"),
        ];
        let lengths = [Bytes::MIB, Bytes::KIB * 192];
        let specs = compile(&asked(&keys), &lengths).unwrap();
        for answer in drive(&mut Job::new(specs[0].clone()), &mut Servers::new(1, MS)) {
            let (request, file) = (answer.request, usize::from(answer.request.file));
            let (first, last) = (request.offset.get(), request.offset.get() + u64::from(request.len) - 1);
            assert!(last < lengths[file].get() && first / 65536 == last / 65536, "{luns}: {request:?}");
        }
    }
}

#[test]
fn a_flush_goes_to_the_file_whose_turn_it_is() {
    let keys =
        [("files", "per_worker(3)"), ("workers", "2"), ("reads", "0%"), ("flushes", "50%"), ("ops", "200")];
    let specs = compile(&asked(&keys), &[Bytes::MIB; 6]).unwrap();
    for (worker, spec) in specs.into_iter().enumerate() {
        let mut turn = 0;
        for answer in drive(&mut Job::new(spec), &mut Servers::new(1, MS)) {
            assert_eq!(usize::from(answer.request.file), worker * 3 + turn % 3);
            turn += usize::from(answer.request.op != Op::Flush);
        }
        assert!((10..90).contains(&turn), "{turn} of 100 are no flushes");
    }
}
