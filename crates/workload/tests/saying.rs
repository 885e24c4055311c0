//! What a plan says beforehand, held against what its jobs then do.

use proptest::prelude::*;
use units::Nanos;
use workload::Op;
use workload::plan::{Overrides, Plan};

use crate::world::{Servers, drive, job};

/// One of `values`, as a line of a plan; nothing of the key where the value is empty.
fn key(name: &'static str, values: &'static [&'static str]) -> impl Strategy<Value = String> {
    proptest::sample::select(values).prop_map(move |value| match value {
        "" => String::new(),
        value => format!("{name} = {value}\n"),
    })
}

/// A phase by any of the ways that a workload has to write, to trim and to end.
fn phase() -> impl Strategy<Value = String> {
    let mix = r#"[{ share = 1, size = "4KiB" }, { share = 1, size = "8KiB", reads = "0%" }]"#;
    let asks = (
        key("pattern", &["\"random\"", "\"sequential\"", "\"zipf(1.1)\""]),
        key("reads", &["", "\"0%\"", "\"50%\"", "\"2/3\"", "\"99.99999%\""]),
        key("trims", &["", "\"1/3\"", "\"50%\""]),
        key("flushes", &["", "\"10%\""]),
        key("rewrites", &["", "\"10%\"", "\"100%\""]),
        prop_oneof![3 => Just(String::new()), 1 => Just(format!("mix = {mix}\n"))],
    );
    let ends = (
        key("workers", &["", "3"]),
        key("pace", &["", "\"rate(500/s)\"", "\"rate(500/s, poisson)\"", "\"cap(1k/s)\""]),
        prop_oneof![
            Just("run = \"200ms\"\n"),
            Just("run = \"none\"\nops = 100\n"),
            Just("run = \"none\"\nbytes = \"1MiB\"\n"),
            Just("run = \"none\"\nloops = 1\n"),
            Just("run = \"200ms\"\nloops = 2\nwarmup = \"0s\"\n"),
        ],
    );
    (asks, ends).prop_map(|((pattern, reads, trims, flushes, rewrites, mix), (workers, pace, end))| {
        format!("[[phase]]\n{pattern}{reads}{trims}{flushes}{rewrites}{mix}{workers}{pace}{end}")
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn a_plan_whose_job_writes_or_trims_says_so(text in phase()) {
        // What contradicts itself is refused, and asks nothing.
        let Ok(plan) = Plan::parse("t.toml", &text, &Overrides::default()) else { return Ok(()) };
        let estimate = plan.estimate();
        let done = |op: Op| {
            let jobs = plan.points().iter().flat_map(|point| point.workloads());
            jobs.map(|workload| {
                let answers = drive(&mut job(workload), &mut Servers::new(1, Nanos::from_millis(1)));
                answers.iter().filter(|answer| answer.request.op == op).count()
            })
            .sum::<usize>()
        };
        let (writes, trims) = (done(Op::Write), done(Op::Trim));
        let said = estimate.written.to_string();
        prop_assert!(writes + trims == 0 || estimate.changes_data, "{writes} writes and {trims} trims");
        prop_assert!(writes + trims == 0 || said != "nothing", "{writes} writes and {trims} trims");
        prop_assert!(writes == 0 || !said.starts_with("nothing"), "{writes} writes, and it said {said}");
        prop_assert_eq!(said == "nothing", !estimate.changes_data, "two answers to one question");
    }
}

#[test]
fn passes_that_write_are_told_and_counted() {
    let summary = |lines: &str| {
        let text = format!("[[phase]]\nrun = \"none\"\n{lines}\n");
        Plan::parse("t.toml", &text, &Overrides::default()).unwrap().summary().to_string()
    };
    let one = summary("reads = \"0%\"\nloops = 1");
    assert!(one.contains("writes  at most what is used of the target, once\n"), "{one}");
    let several = summary("reads = \"0%\"\nloops = 3\nworkers = 2");
    assert!(several.contains("writes  at most 6 passes of a worker over"), "{several}");
    let read = summary("loops = 3");
    assert!(read.contains("writes  nothing\ndata    changes nothing"), "{read}");
}
