//! Traces of every format, texts and the events of blktrace; what comes out is in order, and can be asked again.
#![no_main]

use libfuzzer_sys::fuzz_target;
use workload::plan::{Overrides, Plan};
use workload::trace::TraceReader;
use workload::{Job, compile};

const PLAN: &str = "[[phase]]\npattern = \"trace\"\ntrace = \"t\"\ntrace_fold = true\ndirect = false\n";

fuzz_target!(|text: &[u8]| {
    let Ok(trace) = TraceReader::whole("t", text) else { return };
    assert!(trace.requests().map(|request| request.at).is_sorted());
    let mut plan = Plan::parse("t.toml", PLAN, &Overrides::default()).expect("a constant plan");
    let attached = plan.attach(|_| Ok::<_, ()>(trace.clone()));
    assert!(attached.is_ok());
    let workload = &plan.points()[0].workloads()[0];
    let _words = plan.summary().to_string();
    if let Ok(specs) = compile(workload, &[1u64 << 20, 1 << 31].map(units::Bytes::new)) {
        let mut job: Job = Job::new(specs.into_iter().next().expect("one worker"));
        let mut batch = Vec::new();
        job.start(units::Instant::START);
        job.plan(units::Instant::START, &mut batch);
        assert!(batch.iter().all(|request| request.offset.get() + u64::from(request.len) <= 1 << 31));
    }
});
