//! What phases, disks and comments of a plan are called.

use std::collections::BTreeSet;

use super::lines::fields;
use super::sheet::Test;

pub(super) fn phase_name(test: &Test, several: bool) -> String {
    let specs: Vec<&str> = test.specs.iter().map(|spec| spec.name.as_str()).collect();
    let specs = match specs.as_slice() {
        [first, second, rest @ ..] if !rest.is_empty() => format!("{first} + {second} + {} more", rest.len()),
        some => some.join(" + "),
    };
    match several {
        true => {
            let workers = test.managers.iter().map(|(_, workers)| workers.len()).sum();
            format!("{specs}, {}, {}", counted(workers, "worker"), counted(test.disks().count(), "target"))
        }
        false => specs,
    }
}

/// `name`, or with a number after it where it is taken already.
pub(super) fn unused(name: String, taken: &mut BTreeSet<String>) -> String {
    let name = braceless(&name);
    let mut unused = name.clone();
    let mut number = 2;
    while !taken.insert(unused.clone()) {
        unused = format!("{name} #{number}");
        number += 1;
    }
    unused
}

/// Braces in a name of a plan would be filled in, and a name stands on one line: no line breaks and tabs.
pub(super) fn braceless(name: &str) -> String {
    name.replace(char::is_control, " ").replace('{', "(").replace('}', ")")
}

/// What may stand in a comment.
pub(super) fn plain(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).collect()
}

pub(super) fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

/// A name as it is compared: without case; those of 1.1 and of before differ in how they write units.
pub(super) fn bare_name(name: &str) -> String {
    let name: String = name.chars().filter(|c| !c.is_whitespace()).flat_map(char::to_lowercase).collect();
    name.replace("kib", "k").replace("kb", "k").replace("mib", "m").replace("mb", "m")
}

/// The letter of a drive of Windows.
pub(super) fn drive_letter(name: &str) -> Option<char> {
    let mut chars = name.chars();
    match (chars.next(), chars.next(), chars.next()) {
        (Some(letter), Some(':'), None | Some(' ' | '\\' | '"' | '\t')) if letter.is_ascii_alphabetic() => {
            Some(letter.to_ascii_uppercase())
        }
        _ => None,
    }
}

/// What this host calls a disk of that name; none of names of Windows.
pub(super) fn path_of(name: &str) -> Option<String> {
    if name.starts_with("array:") || name.starts_with("null:") {
        return Some(name.into());
    }
    if name.starts_with('/') {
        // A mounted file system is shown with its type or device behind it.
        let bare =
            name.strip_suffix(']').and_then(|name| name.rsplit_once(" [")).map_or(name, |(path, _)| path);
        return Some(bare.into());
    }
    const DISKS: [&str; 12] =
        ["sd", "hd", "vd", "xvd", "nvme", "md", "dm-", "loop", "mmcblk", "nbd", "rbd", "bcache"];
    let word = fields(name).first().copied().filter(|word| *word == name)?;
    let is_plain = word.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-');
    let is_disk = DISKS.iter().any(|disk| word.strip_prefix(disk).is_some_and(|rest| !rest.is_empty()));
    (is_plain && is_disk).then(|| format!("/dev/{word}"))
}
