//! `latency_target` of fio: the deepest queue that keeps it, within `runtime`.

use serde_json::Value;

use crate::support::User;

#[test]
fn a_latency_target_is_searched_and_the_load_that_keeps_it_reported() {
    let user = User::new();
    let line = "as fio --name=a --filename=array:md3000 --rw=randread --bs=8k --size=100g --direct=1 --runtime=90 \
                --ioengine=libaio --iodepth=64 --latency_window=4s --latency_target=20ms --latency_percentile=90 --output-format=json";
    let ended = user.fathom(line).done();
    assert_eq!(ended.err, "", "nobody waits before a terminal");
    let out = ended.json();
    let kept = user.last()["search"]["met_per_s"].as_f64().unwrap();
    let job = &out["jobs"][0];
    assert!((job["read"]["iops"].as_f64().unwrap() - kept).abs() < kept * 0.05, "{kept}");
    let p90 = job["read"]["clat_ns"]["percentile"]["90.000000"].as_u64().unwrap();
    assert!(p90 < 20_500_000, "{p90}");
    assert_eq!(job["latency_target"], 20_000_000);
    let search = &user.last()["search"];
    let depth = search["depths"]["met"].as_u64().unwrap();
    assert_eq!((job["latency_depth"].as_u64(), search["complete"].as_bool()), (Some(depth), Some(true)));
    assert!(depth > 1 && depth < 64, "{search}");
}

/// From the start of the first load to the end of the last.
fn loads_took_s(run: &Value) -> f64 {
    let points = run["points"].as_array().unwrap();
    let of = |key: &str| points.iter().map(|point| point[key].as_u64().unwrap()).collect::<Vec<_>>();
    (of("ended_ns").into_iter().max().unwrap() - of("started_ns").into_iter().min().unwrap()) as f64 / 1e9
}

#[test]
fn a_latency_target_ends_with_runtime_and_says_how_far_it_came() {
    let user = User::new();
    // One request takes some 5 ms, so that no depth is judged before a window is over.
    for (target, more, runtime_s) in [
        ("20ms", "--latency_window=4s", 9.0),
        ("20ms", "--latency_window=30s", 9.0),
        ("20ms", "--latency_window=1s --latency_run=1", 30.0),
        ("1ms", "--latency_window=1s", 30.0),
    ] {
        let line = format!(
            "as fio --name=a --filename=array:md3000 --rw=randread --bs=8k --size=100g --direct=1 --ioengine=libaio \
             --iodepth=64 --runtime={runtime_s} --latency_target={target} --latency_percentile=90 {more}"
        );
        let ended = user.fathom(&line);
        let run = user.last();
        let (search, took_s) = (&run["search"], loads_took_s(&run));
        assert!(took_s <= runtime_s + 0.5, "{more}: {took_s}");
        let met = search["depths"]["met"].as_u64();
        match (target, runtime_s, more) {
            ("1ms", ..) => {
                assert_eq!((met, search["complete"].as_bool()), (None, Some(true)));
                // fio goes on with one request in flight, and ends well.
                assert!(ended.code == Some(0) && took_s > runtime_s - 0.5, "{took_s}: {}", ended.err);
            }
            (_, _, "--latency_window=30s") => {
                assert_eq!((met, search["out_of_time"].as_bool()), (None, Some(true)), "{search}");
                assert_eq!(ended.code, Some(0), "{}", ended.err);
            }
            (_, 9.0, _) => {
                assert_eq!((met, search["out_of_time"].as_bool()), (Some(2), Some(true)), "{search}");
                let shown = user.fathom("show last").done().out;
                assert!(shown.contains("at least 2 ") && shown.contains("its time of 9"), "{shown}");
            }
            _ => assert!(met.is_some() && took_s > runtime_s - 0.5, "{search}: {took_s}"),
        }
    }
}

#[test]
fn a_latency_target_on_a_file_takes_no_longer_than_runtime() {
    let user = User::new();
    for more in ["", "--latency_run=1"] {
        let line = format!(
            "as fio --name=a --rw=randread --bs=4k --size=16m --ioengine=libaio --iodepth=16 --runtime=2 \
             --time_based --latency_target=1s --latency_window=100ms --latency_percentile=99 {more} --output-format=json"
        );
        let out = user.fathom(&line).done().json();
        let run = user.last();
        // Each window ends by itself, and what the program itself can do is looked at after it.
        assert!(loads_took_s(&run) < 4.0, "{more}: {}", loads_took_s(&run));
        assert_eq!(out["jobs"][0]["latency_depth"], run["search"]["depths"]["met"], "{more}");
    }
}

#[test]
fn a_latency_target_of_all_requests_is_told_as_such() {
    let user = User::new();
    let line = "as fio --name=a --filename=array:md3000 --rw=randread --bs=8k --size=100g --direct=1 --runtime=60 \
                --ioengine=libaio --iodepth=16 --latency_window=2s --latency_target=40ms";
    user.fathom(line).done();
    assert_eq!(user.last()["search"]["slos"][0], "p100<40ms");
    let shown = user.fathom("show last").done().out;
    assert!(shown.contains("Deepest queue within p100<40ms"), "{shown}");
}

#[test]
fn a_target_that_no_request_may_miss_is_an_error_where_one_in_flight_misses_it() {
    let user = User::new();
    let line = "as fio --name=a --filename=array:md3000 --rw=randread --bs=8k --size=100g --direct=1 --runtime=9 \
                --ioengine=libaio --iodepth=4 --latency_window=1s --latency_target=1ms";
    user.fathom(line).with(1).saying(&["no queue depth meets p100<1ms"]);
}
