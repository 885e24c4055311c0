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
    let evidence = writeup::evidence(vec![run], None, None);
    let report = writeup::write_up(&evidence);
    drop(writeup::markdown(&report));
    drop(writeup::csv(&report));
    drop(writeup::xlsx(&report, &evidence));
    let page = writeup::html(&report, &evidence).expect("a record that was read can be packed");
    writeup::verify(&page).expect("a page says what its records say");
});
