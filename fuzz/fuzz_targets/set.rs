//! What `--set` and `--tag` are given, one on each line, beside a plan that has everything.
#![no_main]

use libfuzzer_sys::fuzz_target;
use workload::plan::{Overrides, Plan};

const PLAN: &str = include_str!("../../plans/mixed.toml");

fuzz_target!(|text: &str| {
    let (set, tags) = text.split_once("\n\n").unwrap_or((text, ""));
    let lines = |text: &str| text.lines().map(str::to_owned).collect();
    let overrides = Overrides { set: lines(set), tags: lines(tags) };
    match Plan::parse("fuzz.toml", PLAN, &overrides) {
        Ok(plan) => drop(plan.summary().to_string()),
        Err(errors) => drop(errors.plain()),
    }
});
