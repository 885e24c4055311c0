//! A campaign's text: read, and put in order where it can be read.
#![no_main]

use campaign::{Campaign, every_cell, schedule};
use libfuzzer_sys::fuzz_target;

/// More would only take longer.
const RUNS: usize = 2_000;

fuzz_target!(|text: &str| {
    match Campaign::parse("fuzz.toml", text) {
        Ok(campaign) if campaign.cells() * campaign.plans.len() * campaign.repeats as usize <= RUNS => {
            let hard = vec![false; campaign.factors.len()];
            let turns = schedule(&campaign, &every_cell(&campaign), &hard);
            turns.iter().for_each(|turn| drop(turn.key(&campaign)));
        }
        Ok(_) => {}
        Err(errors) => drop(errors.plain()),
    }
});
