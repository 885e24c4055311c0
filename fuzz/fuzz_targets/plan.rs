//! A plan's text: read, and summed up where it can be read.
#![no_main]

use libfuzzer_sys::fuzz_target;
use workload::plan::{Overrides, Plan};

fuzz_target!(|text: &str| {
    match Plan::parse("fuzz.toml", text, &Overrides::default()) {
        Ok(plan) => drop(plan.summary().to_string()),
        Err(errors) => drop(errors.plain()),
    }
});
