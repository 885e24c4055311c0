//! The same seed asks for the same requests, whatever carries them out.

use serde_json::Value;

use crate::support::{User, skipped};

const PLAN: &str = r#"
name = "stream"

[[phase]]
name    = "all there is"
pattern = "zipf(1.1)"
size    = { "4KiB" = 60, "16KiB" = 40 }
reads   = "2/3"
span    = "4MiB"
workers = 4
depth   = 1
ops     = 600
direct  = false
"#;

fn digests(user: &User, more: &str) -> Value {
    let run = user.fathom(&format!("run plan.toml --on . --format json --no-save {more}")).done().json();
    let workload = &run["points"][0]["workloads"][0];
    assert_eq!(workload["completed"], 600);
    workload["digests"].clone()
}

#[test]
fn every_engine_carries_out_the_same_stream() {
    let user = User::with_plan(PLAN);
    let expected = digests(&user, "--set engine=pread");
    assert_eq!(expected.as_array().unwrap().len(), 4, "one for each worker");
    assert_ne!(expected[0], expected[1], "workers do not repeat one another");
    for engine in ["preadv2", "splice", "locked", "mmap", "null"] {
        assert_eq!(digests(&user, &format!("--set engine={engine}")), expected, "{engine}");
    }
    match user.fathom("doctor").done().out.contains("refused") {
        true => skipped("io_uring is refused here"),
        false => assert_eq!(digests(&user, "--set engine=io_uring"), expected),
    }
}

#[test]
fn another_seed_is_another_stream() {
    let user = User::with_plan(PLAN);
    assert_ne!(digests(&user, "--set seed=1"), digests(&user, "--set seed=2"));
    assert_eq!(digests(&user, "--set seed=2"), digests(&user, "--set seed=2"));
}
