//! The highest rate that keeps a promise, from outside.

use crate::support::User;

const READS: &str = r#"
name = "reads"

[[phase]]
pattern = "random"
size    = "4KiB"
run     = "1s"
"#;

/// Short and coarse: what is tested here is the way through, not how near it comes.
const COARSE: &str = "--within 10% --look 10s --longest 10s";

#[test]
fn a_search_prints_its_ladder_and_keeps_it() {
    let user = User::with_plan(READS);
    let ended = user.fathom_of(
        format!("search plan.toml --on array:queue --slo p99<5ms {COARSE}").split(' ').collect::<Vec<_>>(),
    );
    let ended = ended.done();
    assert!(ended.out.contains("p99<5ms holds up to "), "{}", ended.out);
    assert!(ended.out.contains("fail: rate not reached"), "{}", ended.out);
    let run = user.last();
    let kept = run["search"]["kept_per_s"].as_f64().unwrap();
    assert!((8_000.0..9_900.0).contains(&kept), "{kept}");
    assert_eq!(run["findings"][0]["code"], "slo-edge");
    assert!(user.fathom("show last").done().out.contains("p99<5ms holds up to "));
}

#[test]
fn a_promise_that_no_rate_keeps_ends_with_1() {
    let user = User::with_plan(READS);
    let line = format!("search plan.toml --on array:queue --slo p99<50us {COARSE}");
    let ended = user.fathom_of(line.split(' ').collect::<Vec<_>>());
    assert_eq!(ended.code, Some(1), "{}", ended.err);
    assert!(ended.err.trim_end().ends_with("no rate keeps p99<50us"), "{}", ended.err);
}

#[test]
fn a_search_that_cannot_be_is_refused_before_anything_is_touched() {
    let user = User::with_plan(READS);
    for (line, why) in [
        ("search plan.toml --on array:queue --slo p99", "no `<`"),
        ("search plan.toml --on array:queue --slo p99<5ms --look 2s", "at least 10"),
        ("search random --on array:queue --slo p99<5ms", "--set KEY=VALUE"),
        ("search plan.toml --on array:queue", "--slo"),
    ] {
        let ended = user.fathom_of(line.split(' ').collect::<Vec<_>>());
        assert_eq!(ended.code, Some(2), "{line}: {}", ended.err);
        assert!(ended.err.contains(why), "{line}: {}", ended.err);
    }
    let line = "search plan.toml --on array:queue --slo p99<5ms --dry-run";
    let ended = user.fathom_of(line.split(' ').collect::<Vec<_>>()).done();
    assert!(ended.out.contains("the highest rate that keeps p99<5ms"), "{}", ended.out);
    assert_eq!(user.files(), ["plan.toml"]);
}
