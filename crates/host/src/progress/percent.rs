//! What a command of the user's prints: a percentage.

use super::{Reading, before_percent};

/// The last line that has a number before a `%`, or is a number from 0 to 100 alone; 100 is the end.
pub(super) fn reading(text: &str) -> Option<Reading> {
    let part = text.lines().rev().find_map(part)?;
    Some(if part >= 1.0 { Reading::Done } else { Reading::Running(part) })
}

fn part(line: &str) -> Option<f64> {
    let line = line.trim();
    let number = || line.parse::<f64>().ok().filter(|percent| (0.0..=100.0).contains(percent));
    // `12 %` and `12%` alike.
    let close = line.replace(" %", "%");
    before_percent(&close).or_else(|| number().map(|percent| percent / 100.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_percentage_counts() {
        assert_eq!(reading("Rebuild progress: 12%\n"), Some(Reading::Running(0.12)));
        assert_eq!(reading("disk 1: 5 %\ndisk 2: 7.5 %\n\n"), Some(Reading::Running(0.075)));
        assert_eq!(reading("42.5"), Some(Reading::Running(0.425)));
        assert_eq!(reading("100%"), Some(Reading::Done));
        for text in ["", "done", "101%", "%", "-3", "NaN", "1e999"] {
            assert_eq!(reading(text), None, "{text}");
        }
    }
}
