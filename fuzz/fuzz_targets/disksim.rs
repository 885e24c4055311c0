//! A drive as DiskSim describes it: what is read of it is a device's description, which is sound or has errors, and a
//! device that is sound can be asked.
#![no_main]

use array::demerit::alone;
use array::spec::{Shipped, device_text, disksim};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let mut beside = |_: &str| Some("1, 0.8\n50, 3.5\n".to_owned());
    let Ok(drive) = disksim::drive("fuzz", text, &mut beside) else { return };
    let text = if drive.states_link { drive.text } else { format!("link = \"5MB/s\"\n{}", drive.text) };
    let Ok((device, _)) = device_text(&Shipped, "fuzz", &text) else { return };
    let last = device.capacity.0.saturating_sub(8);
    let requests = [0, last / 2, last].map(|first| (first, 8, first % 2 == 1));
    assert!(alone(&device.params, requests.into_iter()) > 0.0);
});
