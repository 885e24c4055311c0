//! Models that are fitted to what was measured.

use crate::support::{SMALL, User};

/// Two disks behind a cache: few requests a second, so that virtual minutes are soon computed.
const ARRAY: &str = "array:local-sata-raid1";

#[test]
fn a_run_that_is_kept_becomes_an_array_that_answers_alike() {
    let user = User::new();
    user.fathom(&format!("run calibrate --on {ARRAY}")).done();
    let ended = user.fathom("array fit last -o my.toml").done();
    assert!(ended.out.contains("not fitted") && ended.out.contains("Reads alone"), "{}", ended.out);
    assert!(ended.out.contains("Written to my.toml"), "{}", ended.out);
    // A mirror: no distance is slower than another, which says nothing of members.
    assert!(ended.out.contains("not identified: no stride is slower"), "{}", ended.out);
    assert!(ended.out.contains("p99 and other percentiles are not given"), "{}", ended.out);
    user.fathom("array check my.toml").done();
    let held = user.fathom("explain last --model my.toml").done();
    assert!(held.out.contains("cold, QD 1"), "{}", held.out);
    assert!(held.out.contains("a fitted model gives no percentiles"), "{}", held.out);
    let run = user.fathom("run quick --on array:./my.toml --set span=1GiB").done();
    assert!(
        run.out.contains("array:./my.toml") && run.out.contains("Percentiles are not given"),
        "{}",
        run.out
    );
    let latency = &user.last()["points"][0]["workloads"][0]["summary"][0]["response"];
    assert!(
        latency["mean_ns"].as_f64().unwrap() > 0.0 && latency["quantiles"] == serde_json::json!([]),
        "{latency}"
    );
    user.write("plan.toml", SMALL);
    let by_p99 = user.fathom("search plan.toml --on array:./my.toml --slo p99<50ms");
    by_p99.with(2).saying(&["p99<50ms", "fitted to rates and mean response times", "mean<"]);
}

#[test]
fn a_run_that_tells_too_little_is_refused_with_what_is_missing() {
    let user = User::new();
    user.fathom("run quick --on array:queue --set run=1s --set warmup=0s").done();
    let ended = user.fathom("array fit last -o my.toml");
    assert_eq!(ended.code, Some(2), "{}", ended.err);
    assert!(ended.err.contains("small region"), "{}", ended.err);
    assert_eq!(user.files(), [""; 0]);
}
