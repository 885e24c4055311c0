//! The description of a virtual array, with the address it is taken with on its first line.
#![no_main]

use array::spec::{Address, Shipped, array_text};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let (address, text) = text.split_once('\n').unwrap_or(("array:fuzz", text));
    let Ok(address) = Address::parse(address) else { return };
    drop(array_text(&Shipped, "fuzz.toml", text, &address));
});
