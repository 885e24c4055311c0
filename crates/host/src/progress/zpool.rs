//! What `zpool status` prints after `scan:`.
//!
//! Source: OpenZFS, cmd/zpool/zpool_main.c, `print_scan_status`.

use super::{Reading, before_percent};

/// The resilver or scrub of the pool `name`; `None` where the text is not about it.
pub(super) fn reading(text: &str, name: &str) -> Option<Reading> {
    let mut lines =
        text.lines().skip_while(|line| line.trim().strip_prefix("pool:").map(str::trim) != Some(name));
    lines.next()?;
    let of_pool: Vec<&str> = lines.take_while(|line| !line.trim_start().starts_with("pool:")).collect();
    let Some(at) = of_pool.iter().position(|line| line.trim_start().starts_with("scan:")) else {
        return Some(Reading::Standing(format!("nothing was scanned in {name}")));
    };
    let scan = of_pool[at].trim_start().trim_start_matches("scan:").trim();
    if scan.contains("in progress") {
        let indented = of_pool[at + 1..].iter().take_while(|line| line.starts_with(['\t', ' ']));
        return indented
            .map(|line| line.trim())
            .find(|line| line.contains("% done"))
            .and_then(|line| before_percent(line).map(Reading::Running));
    }
    match scan {
        _ if scan.starts_with("resilvered ") || scan.starts_with("scrub repaired ") => Some(Reading::Done),
        "none requested" => Some(Reading::Standing(format!("nothing was scanned in {name}"))),
        _ => Some(Reading::Standing(format!("{name}: {scan}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(scan: &str) -> String {
        format!(
            "  pool: tank\n state: DEGRADED\nstatus: One or more devices is currently being resilvered.\n  scan: {scan}\n\
             config:\n\n\tNAME        STATE     READ WRITE CKSUM\n\ttank        DEGRADED     0     0     0\n\n\
             errors: No known data errors\n\n  pool: other\n state: ONLINE\n  scan: none requested\n"
        )
    }

    #[test]
    fn a_resilver_tells_its_part_and_its_end() {
        let running = "resilver in progress since Sat Nov 21 08:00:00 2026\n\t1.20T scanned at 1G/s, 300G issued at 250M/s, \
                       2.00T total\n\t75.0G resilvered, 12.34% done, 01:02:03 to go";
        let Some(Reading::Running(part)) = reading(&status(running), "tank") else { panic!("it runs") };
        assert!((part - 0.1234).abs() < 1e-12, "{part}");
        let done = "resilvered 75.0G in 00:10:00 with 0 errors on Sat Nov 21 08:10:00 2026";
        assert_eq!(reading(&status(done), "tank"), Some(Reading::Done));
        let scrubbed = "scrub repaired 0B in 00:01:00 with 0 errors on Sat Nov 21 08:10:00 2026";
        assert_eq!(reading(&status(scrubbed), "tank"), Some(Reading::Done));
        let cancelled = "scrub canceled on Sat Nov 21 08:10:00 2026";
        assert!(matches!(reading(&status(cancelled), "tank"), Some(Reading::Standing(_))));
    }

    #[test]
    fn pools_are_told_apart() {
        assert!(
            matches!(reading(&status("x"), "other"), Some(Reading::Standing(why)) if why.contains("other"))
        );
        assert_eq!(reading(&status("x"), "third"), None);
        assert!(matches!(reading("  pool: p\n state: ONLINE\n", "p"), Some(Reading::Standing(_))));
    }
}
