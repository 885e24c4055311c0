//! Access specifications that Iometer has of its own, which a file may assign without bringing them.

use super::config::{Assignment, Spec, SpecLine};

/// The name of the specification that asks for nothing.
pub const IDLE: &str = "Idle";

/// The specification that Iometer has under that name: `Default`, `All in one`, and those of the names
/// `4 KiB; 75% Read; 0% random` (1.1) or `4K; 75% Read; 0% random` (before).
pub fn find(name: &str) -> Option<Spec> {
    let spec = |lines| Some(Spec { name: name.into(), assignment: Assignment::None, lines });
    if name.eq_ignore_ascii_case("Default") {
        return spec(vec![SpecLine::new(2048, 100, 67, 100, 0)]);
    }
    if name.eq_ignore_ascii_case("All in one") {
        return spec(all_in_one());
    }
    let lower = name.to_ascii_lowercase();
    let (lower, aligned) = match lower.split_once(';') {
        Some((size, rest)) if size.trim_end().ends_with("aligned") => {
            (format!("{};{rest}", size.trim_end().trim_end_matches("aligned").trim_end()), true)
        }
        _ => (lower, false),
    };
    let mut parts = lower.split(';').map(str::trim);
    let size = match parts.next()?.replace(' ', "").as_str() {
        "512b" => 512,
        "4kib" | "4k" => 4096,
        "16kib" | "16k" => 16_384,
        "32kib" | "32k" => 32_768,
        "64kib" | "64k" => 65_536,
        "256kib" | "256k" => 262_144,
        _ => return None,
    };
    let reads = per_cent(parts.next()?, "% read")?;
    let random = per_cent(parts.next()?, "% random")?;
    match parts.next() {
        None => spec(vec![SpecLine::new(size, 100, reads, random, if aligned { 4096 } else { 0 })]),
        Some(_) => None,
    }
}

fn per_cent(text: &str, unit: &str) -> Option<u32> {
    text.strip_suffix(unit)?.trim().parse().ok().filter(|part| *part <= 100)
}

/// The twenty lines that the specification had until 1.1.
fn all_in_one() -> Vec<SpecLine> {
    let sizes = [512, 4096, 16_384, 32_768];
    let lines = sizes.iter().flat_map(|size| [100, 75, 50, 25, 0].map(|reads| (*size, reads)));
    lines.map(|(size, reads)| SpecLine::new(size, 5, reads, 0, 0)).collect()
}

/// What Iometer calls a specification of one line that has no name, as those of before May 1998.
pub fn name_of(line: &SpecLine) -> String {
    let size = match line.size {
        512 => "512 B".into(),
        1_048_576 => "1 MiB".into(),
        size => format!("{} KiB", size / 1024),
    };
    let random = match line.random {
        0 => "sequential".into(),
        100 => "random".into(),
        part => format!("{part}% random"),
    };
    let reads = match line.reads {
        0 => "writes".into(),
        100 => "reads".into(),
        part => format!("{part}% reads"),
    };
    format!("{size} {random} {reads}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_specifications_of_both_generations_are_known_by_name() {
        let of = |name: &str| find(name).map(|spec| spec.lines);
        assert_eq!(of("4 KiB; 75% Read; 0% random"), Some(vec![SpecLine::new(4096, 100, 75, 0, 0)]));
        assert_eq!(of("4K; 75% Read; 0% random"), Some(vec![SpecLine::new(4096, 100, 75, 0, 0)]));
        assert_eq!(
            of("4 KiB aligned; 0% Read; 100% random"),
            Some(vec![SpecLine::new(4096, 100, 0, 100, 4096)])
        );
        assert_eq!(of("default"), Some(vec![SpecLine::new(2048, 100, 67, 100, 0)]));
        assert_eq!(of("All in one").map(|lines| lines.iter().map(|line| line.share).sum::<u32>()), Some(100));
        assert_eq!(of("5 KiB; 75% Read; 0% random"), None);
        assert_eq!(of("4K; 175% Read; 0% random"), None);
    }

    #[test]
    fn a_nameless_line_is_called_as_iometer_calls_it() {
        let name = |size, reads, random| name_of(&SpecLine::new(size, 100, reads, random, 0));
        assert_eq!(name(2048, 67, 100), "2 KiB random 67% reads");
        assert_eq!(name(512, 0, 0), "512 B sequential writes");
        assert_eq!(name(1 << 20, 100, 30), "1 MiB 30% random reads");
    }
}
