//! Published figures that virtual arrays are held to.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| drop(array::spec::case::cases("fuzz.toml", text)));
