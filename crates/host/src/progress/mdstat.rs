//! `/proc/mdstat`, as the kernel writes it.
//!
//! Source: Linux, drivers/md/md.c, `md_seq_show` and `status_resync`.

use super::{Reading, before_percent};

/// What the text says of the array `name`; `None` where it does not know it.
pub(super) fn reading(text: &str, name: &str) -> Option<Reading> {
    let mut lines = text.lines().skip_while(|line| first_word(line) != Some(name));
    let head = lines.next()?;
    // The entry of an array goes on until an empty line, or one that does not begin with a space.
    let body: Vec<&str> =
        lines.take_while(|line| line.starts_with(char::is_whitespace) && !line.trim().is_empty()).collect();
    for line in &body {
        for word in ["recovery", "resync", "check", "reshape", "repair"] {
            let Some(rest) = after(line, word) else { continue };
            if let Some(part) = before_percent(rest) {
                return Some(Reading::Running(part));
            }
            // PENDING, DELAYED or REMOTE: it has its turn later.
            return Some(Reading::Standing(format!("{word} of {name} is {}", rest.trim().to_lowercase())));
        }
    }
    if !head.contains(": active") {
        return Some(Reading::Standing(format!("{name} is not active")));
    }
    let missing =
        body.iter().filter_map(|line| members(line)).map(|members| members.matches('_').count()).sum();
    Some(match missing {
        0usize => Reading::Done,
        missing => {
            Reading::Standing(format!("{missing} of the members of {name} missing and none being rebuilt"))
        }
    })
}

fn first_word(line: &str) -> Option<&str> {
    if line.starts_with(char::is_whitespace) { None } else { line.split_whitespace().next() }
}

/// What follows `recovery =` in a line such as `[=>...]  recovery = 12.6% (1/8) finish=1.2min`, or `recovery=PENDING`.
fn after<'a>(line: &'a str, word: &str) -> Option<&'a str> {
    let at = line.find(word)?;
    line[at + word.len()..].trim_start().strip_prefix('=')
}

/// `UU_U` of `... [4/3] [UU_U]`.
fn members(line: &str) -> Option<&str> {
    let inside = line.trim_end().strip_suffix(']')?.rsplit('[').next()?;
    (!inside.is_empty() && inside.chars().all(|c| c == 'U' || c == '_')).then_some(inside)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "Personalities : [raid1] [raid6] [raid5] [raid4] [raid10]\n\
        md1 : active raid5 vde[4] vdd[3] vdc[2] vda[0]\n\
        \x20     390144 blocks super 1.2 level 5, 64k chunk, algorithm 2 [4/3] [U_UU]\n\
        \x20     [==>..................]  recovery = 12.6% (16512/130048) finish=0.1min speed=16512K/sec\n\
        \x20     \n\
        md10 : active raid10 vdi[3] vdh[2] vdg[1] vdf[0]\n\
        \x20     260096 blocks super 1.2 64K chunks 2 near-copies [4/4] [UUUU]\n\
        \x20     bitmap: 0/1 pages [0KB], 65536KB chunk\n\
        \n\
        md2 : active raid6 vdl[2] vdk[1] vdj[0]\n\
        \x20     260096 blocks super 1.2 level 6, 64k chunk, algorithm 2 [4/3] [UUU_]\n\
        \n\
        md3 : active (auto-read-only) raid1 vdn[1] vdm[0]\n\
        \x20     130048 blocks super 1.2 [2/2] [UU]\n\
        \x20       resync=PENDING\n\
        \n\
        md4 : inactive vdo[0](S)\n\
        \x20     130048 blocks super 1.2\n\
        \n\
        unused devices: <none>\n";

    #[test]
    fn each_array_is_told_apart() {
        assert_eq!(reading(TEXT, "md1"), Some(Reading::Running(0.126)));
        assert_eq!(reading(TEXT, "md10"), Some(Reading::Done));
        assert_eq!(reading(TEXT, "md5"), None);
        let standing = |name: &str| match reading(TEXT, name) {
            Some(Reading::Standing(why)) => why,
            other => panic!("{name}: {other:?}"),
        };
        assert!(standing("md2").contains("1 of the members of md2 missing"));
        assert!(standing("md3").contains("pending"));
        assert!(standing("md4").contains("not active"));
    }

    #[test]
    fn a_check_and_a_reshape_are_read_alike() {
        for word in ["check", "reshape", "resync"] {
            let text = format!(
                "md0 : active raid5 a b\n  9 blocks [2/2] [UU]\n  [>..]  {word} =  0.0% (0/9) finish=1min\n"
            );
            assert_eq!(reading(&text, "md0"), Some(Reading::Running(0.0)), "{word}");
        }
    }
}
