//! Orion's list of LUNs.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| drop(formats::orion::luns("fuzz.lun", text)));
