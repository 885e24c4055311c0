//! A record: read, drawn in every form, and written by every tool's output.
#![no_main]

use libfuzzer_sys::fuzz_target;
use report::Style;

fuzz_target!(|text: &str| {
    let Ok(run) = record::read(text) else { return };
    drop(report::text(&run, Style { colour: true, unicode: true, width: 80 }));
    drop(report::markdown(&run));
    drop(report::csv(&run));
    drop(report::json(&run));
    for output in formats::outputs() {
        drop((output.write)(&run));
    }
});
