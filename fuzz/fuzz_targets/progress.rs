//! What systems say of a rebuild, and the names of whom to ask.
#![no_main]

use host::progress::{Reading, Source};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let (name, text) = text.split_once('\n').unwrap_or(("md:md0", text));
    let _known = name.parse::<Source>();
    let sources = [
        Source::Md("md0".into()),
        Source::BtrfsReplace("/mnt".into()),
        Source::BtrfsScrub("/mnt".into()),
        Source::Zpool("tank".into()),
        Source::Command("echo".into()),
    ];
    for source in sources {
        if let Some(Reading::Running(part)) = source.understand(text) {
            assert!((0.0..=1.0).contains(&part), "{source}: {part}");
        }
    }
});
