//! Which targets each host has, where hosts of one run have targets of other names.

use std::fs;
use std::path::Path;

use crate::ending::Failure;

/// The targets of `host` in the file at `path`: a line for each host, its name and its targets with blanks between
/// them. What follows `#` says nothing. An error where the file cannot be read, names no target for `host`, or names it
/// twice.
pub fn targets_of(path: &Path, host: &str) -> Result<Vec<String>, Failure> {
    let (usage, text) = (|what: String| usage(path, &what), text(path)?);
    let mut found = lines(&text).filter(|(name, _)| *name == host);
    match (found.next(), found.next()) {
        (Some((_, targets)), None) if !targets.is_empty() => Ok(targets),
        (Some(_), None) => Err(usage(format!("host `{host}` has no target; write `{host} /dev/sdX`"))),
        (Some(_), Some(_)) => {
            Err(usage(format!("host `{host}` has two lines; write all of its targets in one")))
        }
        (None, _) => {
            let hosts: Vec<&str> = lines(&text).map(|(name, _)| name).collect();
            let known = if hosts.is_empty() { "none".into() } else { hosts.join(", ") };
            Err(usage(format!("it has no line for host `{host}`, as `hostname` says it; it has {known}")))
        }
    }
}

/// All that the file at `path` says: of each host its name and its targets, in order of the names.
pub fn all(path: &Path) -> Result<Vec<String>, Failure> {
    let mut hosts: Vec<String> = lines(&text(path)?)
        .map(|(name, targets)| [vec![name.to_owned()], targets].concat().join(" "))
        .collect();
    hosts.sort();
    Ok(hosts)
}

fn text(path: &Path) -> Result<String, Failure> {
    fs::read_to_string(path).map_err(|error| usage(path, &format!("it cannot be read: {error}")))
}

fn usage(path: &Path, what: &str) -> Failure {
    Failure::Usage(format!("--hosts-config {}: {what}", path.display()))
}

/// Each host with its targets.
fn lines(text: &str) -> impl Iterator<Item = (&str, Vec<String>)> {
    text.lines().filter_map(|line| {
        let mut words = line.split('#').next()?.split_whitespace();
        Some((words.next()?, words.map(str::to_owned).collect()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_has_the_targets_of_its_line_and_a_file_without_it_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("hosts");
        fs::write(&path, "# two hosts\n  a /dev/sdb /dev/sdc # both\nb /mnt/x\nc\nd /1\nd /2\n").unwrap();
        assert_eq!(targets_of(&path, "a").unwrap(), ["/dev/sdb", "/dev/sdc"]);
        assert_eq!(targets_of(&path, "b").unwrap(), ["/mnt/x"]);
        for (host, says) in [("c", "no target"), ("d", "two lines"), ("e", "it has a, b, c, d, d")] {
            let failure = targets_of(&path, host).unwrap_err().to_string();
            assert!(failure.contains(says), "{failure}");
        }
        assert!(targets_of(&folder.path().join("none"), "a").is_err());
        let moved = folder.path().join("moved");
        fs::write(&moved, "d /1\nd /2\nc\nb   /mnt/x\na /dev/sdb /dev/sdc\n").unwrap();
        assert_eq!(all(&path).unwrap(), all(&moved).unwrap(), "blanks, remarks and order say nothing");
    }
}
