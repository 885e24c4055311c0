//! What `btrfs replace status` and `btrfs scrub status` print.
//!
//! Source: btrfs-progs, cmds/replace.c and cmds/scrub.c.

use super::{Reading, before_percent};

/// `12.3% done, 0 write errs, 0 uncorr. read errs` and its other forms.
pub(super) fn replace(text: &str) -> Option<Reading> {
    // Without `-1` the program writes over the same line.
    let line = text.rsplit(['\n', '\r']).map(str::trim).find(|line| !line.is_empty())?;
    if line.contains("% done") {
        return before_percent(line).map(Reading::Running);
    }
    let standing = |why: &str| Some(Reading::Standing(format!("the replacement {why}")));
    match line {
        _ if line.starts_with("Never started") => standing("was never started"),
        _ if line.contains(" canceled on ") => standing("was cancelled"),
        _ if line.contains(" suspended on ") => standing("is suspended"),
        _ if line.contains(" finished on ") => Some(Reading::Done),
        _ => None,
    }
}

/// The lines `Status:` and `Bytes scrubbed:`; an old version's `total bytes scrubbed` has no total and no part.
pub(super) fn scrub(text: &str) -> Option<Reading> {
    let value = |key: &str| text.lines().find_map(|line| line.trim().strip_prefix(key)).map(str::trim);
    if text.contains("no stats available") {
        return Some(Reading::Standing("no scrub was started".into()));
    }
    match value("Status:")? {
        "finished" => Some(Reading::Done),
        "running" => Some(Reading::Running(value("Bytes scrubbed:").and_then(before_percent)?)),
        other => Some(Reading::Standing(format!("the scrub is {other}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_replacement_tells_its_part_and_its_end() {
        assert_eq!(replace("37.5% done, 0 write errs, 0 uncorr. read errs\n"), Some(Reading::Running(0.375)));
        let done =
            "Started on 21.Nov 08:00:00, finished on 21.Nov 08:10:00, 0 write errs, 0 uncorr. read errs\n";
        assert_eq!(replace(done), Some(Reading::Done));
        let over = "1.0% done, 0 write errs\r2.5% done, 0 write errs";
        assert_eq!(replace(over), Some(Reading::Running(0.025)));
        assert!(matches!(replace("Never started\n"), Some(Reading::Standing(_))));
        let stopped = "Started on 1.Jan 00:00:00, canceled on 1.Jan 00:00:02 at 9.2%, 0 write errs\n";
        assert!(matches!(replace(stopped), Some(Reading::Standing(_))));
        assert_eq!(replace("ERROR: no such thing"), None);
        assert_eq!(replace(""), None);
    }

    #[test]
    fn a_scrub_tells_its_part_and_its_end() {
        let text = |status: &str| {
            format!(
                "UUID:             1f\nScrub started:    Sat Nov 21 08:00:00 2026\nStatus:           {status}\n\
                 Duration:         0:00:05\nTime left:        0:00:05\nETA:              Sat Nov 21 08:00:10 2026\n\
                 Total to scrub:   2.00GiB\nBytes scrubbed:   1.00GiB  (50.00%)\nRate:             204.80MiB/s\n"
            )
        };
        assert_eq!(scrub(&text("running")), Some(Reading::Running(0.5)));
        assert_eq!(scrub(&text("finished")), Some(Reading::Done));
        assert_eq!(scrub(&text("aborted")), Some(Reading::Standing("the scrub is aborted".into())));
        assert!(matches!(scrub("UUID: 1f\n\tno stats available\n"), Some(Reading::Standing(_))));
        assert_eq!(scrub("nonsense"), None);
    }
}
