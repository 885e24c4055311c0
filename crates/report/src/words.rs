//! Lines of words that fit a width.

use std::fmt::Display;

use record::Validation;
use unicode_width::UnicodeWidthStr;

/// `text` in lines of at most `width` columns, the first after `first`, the others after `rest`.
///
/// A word that is longer than a line has one of its own.
pub fn wrap(text: &str, width: usize, first: &str, rest: &str) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = first.to_owned();
    let mut empty = true;
    for word in text.split_whitespace() {
        if !empty && line.width() + 1 + word.width() > width {
            lines.push(std::mem::replace(&mut line, rest.to_owned()));
            empty = true;
        }
        if !empty {
            line.push(' ');
        }
        line.push_str(word);
        empty = false;
    }
    lines.push(line);
    lines
}

/// `1 plan`, `3 plans`: of whatever counts and has an `s` behind it where it is not one.
pub fn counted(count: impl Display + PartialEq + From<u8>, what: &str) -> String {
    let ending = if count == 1.into() { "" } else { "s" };
    format!("{count} {what}{ending}")
}

/// `words` with a capital letter.
pub fn capital(words: &str) -> String {
    let mut letters = words.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

/// `model error 12 % (median of 15 published figures of this array)`: how far a model may be off.
pub fn model_error(validation: &Validation) -> String {
    let Validation { own_figures, is_own, figures, median_error, .. } = validation;
    let of = match (is_own, own_figures) {
        (true, _) => "this array".into(),
        (false, 0) => "all arrays, none of this one".into(),
        (false, own) => format!("all arrays, {own} of this one"),
    };
    format!("model error {:.0} % (median of {figures} published figures of {of})", median_error * 100.0)
}

/// In the place of a reason: a figure's interval has no width, so that there is no bar to draw.
pub const ALIKE: &str = "it was the same in every second";

/// How many of `figures` figures have no 95 % interval, each of `reasons` being why of one, and how many have one without a width;
/// `None` where all have one to be drawn.
pub fn without_interval<'a>(figures: usize, reasons: impl Iterator<Item = &'a str>) -> Option<String> {
    let (alike, reasons): (Vec<&str>, Vec<&str>) = reasons.partition(|why| *why == ALIKE);
    let alike = match (alike.len(), figures) {
        (0, _) => None,
        (1, 1) => Some("It was the same in every second: ± 0 %.".to_owned()),
        (all, figures) if all == figures => {
            Some("Each figure was the same in every second: its 95 % interval is ± 0 %.".to_owned())
        }
        (1, _) => Some(format!("1 of {figures} figures was the same in every second: ± 0 %.")),
        (some, _) => Some(format!("{some} of {figures} figures were the same in every second: ± 0 %.")),
    };
    let sentences: Vec<String> =
        [lacking(figures, reasons.into_iter()), alike].into_iter().flatten().collect();
    (!sentences.is_empty()).then(|| sentences.join(" "))
}

/// How many of `figures` figures have no 95 % interval, and why.
fn lacking<'a>(figures: usize, reasons: impl Iterator<Item = &'a str>) -> Option<String> {
    let mut by_reason: Vec<(&str, usize)> = Vec::new();
    for why in reasons {
        match by_reason.iter_mut().find(|(same, _)| *same == why) {
            Some((_, count)) => *count += 1,
            None => by_reason.push((why, 1)),
        }
    }
    by_reason.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let lacking: usize = by_reason.iter().map(|(_, count)| count).sum();
    debug_assert!(lacking <= figures, "{lacking} reasons of {figures} figures");
    let told: Vec<String> = match by_reason[..] {
        [] => return None,
        [(why, _)] => vec![why.to_owned()],
        _ => by_reason.iter().map(|(why, count)| format!("{why} ({count})")).collect(),
    };
    let told = told.join("; ");
    Some(match (lacking, figures) {
        (1, 1) => format!("It has no 95 % interval: {told}."),
        _ if lacking == figures => format!("No figure has a 95 % interval: {told}."),
        (1, _) => format!("1 of {figures} figures has no 95 % interval: {told}."),
        _ => format!("{lacking} of {figures} figures have no 95 % interval: {told}."),
    })
}

/// A part in per cent with one decimal: `4.1 %` of 0.041.
pub(crate) fn percent(part: f64) -> String {
    format!("{:.1} %", part * 100.0)
}

/// Half an interval as a part of its figure: `4.1 %`, `0.03 %`; zero only where it has no width.
pub(crate) fn half_width(part: f64) -> String {
    let percent = part * 100.0;
    match percent {
        0.0 => "0 %".into(),
        0.0..0.005 => "<0.01 %".into(),
        0.005..0.095 => format!("{percent:.2} %"),
        0.095..9.95 => format!("{percent:.1} %"),
        _ => format!("{percent:.0} %"),
    }
}

/// The beginning of `text` in at most `width` columns, with `ellipsis` where something is left out.
pub(crate) fn cut(text: &str, width: usize, ellipsis: &str) -> String {
    if text.width() <= width {
        return text.into();
    }
    let room = width.saturating_sub(ellipsis.width());
    let mut kept = String::new();
    for letter in text.chars() {
        kept.push(letter);
        if kept.width() > room {
            kept.pop();
            break;
        }
    }
    kept + ellipsis
}

/// The beginning and the end of `text` in at most `width` columns, with `ellipsis` for what is left out between them:
/// names of points differ at the end.
pub(crate) fn cut_within(text: &str, width: usize, ellipsis: &str) -> String {
    if text.width() <= width {
        return text.into();
    }
    let room = width.saturating_sub(ellipsis.width());
    let (front, back) = (room - room / 2, room / 2);
    let mut end: Vec<char> = Vec::new();
    for letter in text.chars().rev() {
        end.push(letter);
        if end.iter().collect::<String>().width() > back {
            end.pop();
            break;
        }
    }
    let end: String = end.into_iter().rev().collect();
    cut(text, front + ellipsis.width(), ellipsis) + &end
}

/// Control characters of names replaced, so that no name can move the cursor, recolour the screen, or show its letters in
/// another order than they have. A byte of a name that is no text is shown by its number: `\xFF`.
pub fn harmless(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for letter in text.chars() {
        match units::name::byte_of(letter) {
            Some(byte) => shown.push_str(&format!("\\x{byte:02X}")),
            None => shown.push(if units::name::is_hostile(letter) { '\u{FFFD}' } else { letter }),
        }
    }
    shown
}

/// A word of a command line as a shell reads it, in quotes where it needs them.
pub fn shell_word(word: &str) -> String {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "-_./:=,+@%".contains(letter);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

/// A cell of a table that a spreadsheet may read: harmless, and never a formula. A number is left as it is.
///
/// A formula gets an apostrophe before it, which spreadsheets take for "this is text" (OWASP, CSV injection).
pub fn csv_cell(text: &str) -> String {
    let text = harmless(text);
    match text.starts_with(['=', '+', '-', '@', '\u{FFFD}']) && text.parse::<f64>().is_err() {
        true => format!("'{text}"),
        false => text,
    }
}

/// A count with its thousands apart: `1,024`.
pub(crate) fn thousands(count: u64) -> String {
    let digits = count.to_string();
    let apart = |(index, digit): (usize, char)| {
        let comma = index > 0 && (digits.len() - index).is_multiple_of(3);
        comma.then_some(',').into_iter().chain([digit])
    };
    digits.chars().enumerate().flat_map(apart).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_that_never_changed_has_an_interval_of_no_width_and_is_not_said_to_have_none() {
        let said = |figures, reasons: &[&'static str]| without_interval(figures, reasons.iter().copied());
        assert_eq!(said(3, &[ALIKE]).as_deref(), Some("1 of 3 figures was the same in every second: ± 0 %."));
        let both = "1 of 3 figures has no 95 % interval: it was short. 2 of 3 figures were the same in every second: ± 0 %.";
        assert_eq!(said(3, &["it was short", ALIKE, ALIKE]).as_deref(), Some(both));
        assert_eq!(said(1, &[ALIKE]).as_deref(), Some("It was the same in every second: ± 0 %."));
        assert_eq!(said(2, &[]), None);
    }

    #[test]
    fn half_an_interval_reads_as_zero_only_where_it_is() {
        let written = [0.0, 1e-7, 0.0002, 0.018, 0.5].map(half_width);
        assert_eq!(written, ["0 %", "<0.01 %", "0.02 %", "1.8 %", "50 %"]);
    }

    #[test]
    fn a_name_can_neither_command_the_terminal_nor_turn_its_letters_round() {
        assert_eq!(harmless("a\u{1b}[31mb\nc\u{7f}\u{9b}"), "a\u{FFFD}[31mb\u{FFFD}c\u{FFFD}\u{FFFD}");
        for turned in ['\u{202E}', '\u{2066}', '\u{200F}', '\u{061C}', '\u{2028}'] {
            assert_eq!(harmless(&format!("txt{turned}exe")), "txt\u{FFFD}exe");
        }
        assert_eq!(harmless("größer, 東京 – 5 µs"), "größer, 東京 – 5 µs");
        assert_eq!(harmless("/mnt/\u{10FEFF}a"), "/mnt/\\xFFa");
    }

    #[test]
    fn a_cell_is_never_a_formula_and_a_number_stays_one() {
        for formula in ["=1+1", "+A1", "-A1", "@SUM(A1)", "\t=1"] {
            assert!(csv_cell(formula).starts_with('\''), "{formula}");
        }
        for plain in ["-1.5", "+2", "4096", "4k read", "", "a=b", "2026-01-02"] {
            assert_eq!(csv_cell(plain), plain);
        }
    }

    #[test]
    fn words_move_to_the_next_line_and_are_never_broken() {
        assert_eq!(wrap("one two three", 9, "- ", "  "), ["- one two", "  three"]);
        assert_eq!(wrap("extraordinarily long", 6, "", ""), ["extraordinarily", "long"]);
        assert_eq!(wrap("", 6, "- ", "  "), ["- "]);
    }

    #[test]
    fn a_cut_counts_columns_not_letters() {
        assert_eq!(cut("random read", 7, "…"), "random…");
        assert_eq!(cut("数据数据", 5, "…"), "数据…");
        assert_eq!(cut("short", 7, "…"), "short");
        assert_eq!(cut("abc", 1, "…"), "…");
    }

    #[test]
    fn a_name_keeps_its_beginning_and_its_end() {
        assert_eq!(cut_within("8 KiB random, 128 in flight", 15, "…"), "8 KiB r… flight");
        assert_eq!(cut_within("short", 7, "…"), "short");
        assert_eq!(cut_within("数据数据", 5, "…"), "数…据");
        assert_eq!(cut_within("abc", 1, "…"), "…");
    }

    #[test]
    fn thousands_stand_apart() {
        assert_eq!([0, 999, 1_024, 1_000_000].map(thousands), ["0", "999", "1,024", "1,000,000"]);
    }

    #[test]
    fn a_name_cannot_speak_to_the_terminal() {
        assert_eq!(harmless("a\x1b[31mb\n"), "a\u{FFFD}[31mb\u{FFFD}");
    }

    #[test]
    fn a_command_can_be_pasted_into_a_shell() {
        assert_eq!(shell_word("--on"), "--on");
        assert_eq!(shell_word("array:md3000?raid=5&disks=8"), "'array:md3000?raid=5&disks=8'");
        assert_eq!(shell_word("it's"), "'it'\\''s'");
        assert_eq!(shell_word(""), "''");
    }
}
