//! Command lines of other tools: a byte for the tool, then one argument on each line.
#![no_main]

use formats::{JobEnvironment, bonnie, dd, diskspd, fio, hdparm, iometer, iozone, orion, seeker, sqlio};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Some((tool, rest)) = bytes.split_first() else { return };
    let Ok(text) = std::str::from_utf8(rest) else { return };
    let words: Vec<String> = text.split('\n').map(str::to_owned).collect();
    match tool % 10 {
        0 => drop(dd::Command::parse(&words)),
        1 => drop(hdparm::Command::parse(&words)),
        2 => drop(seeker::Command::parse(&words).map(|command| command.translate(1))),
        3 => drop(orion::Command::parse(&words)),
        4 => drop(sqlio::Command::parse(&words)),
        5 => drop(diskspd::Command::parse(&words, 1)),
        6 => drop(iometer::Command::parse(&words)),
        7 => drop(fio::Command::parse(&words, &JobEnvironment::NONE)),
        8 => drop(bonnie::Request::parse(bonnie::Generation::V200, &words)),
        _ => drop(iozone::Command::parse(&words)),
    }
});
