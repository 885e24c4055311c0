//! How wide a text is, and where labels go that would lie on each other.

/// The width of `text` at `size` pixels in a sans-serif type, a little too large rather than too small.
///
/// There is no font where SVG is written; widths are those of DejaVu Sans by kinds of letters, which is wider than what
/// most systems have.
pub(crate) fn width(text: &str, size: f64) -> f64 {
    let of = |letter: char| match letter {
        'i' | 'j' | 'l' | 'I' | '.' | ',' | ':' | ';' | '|' | '\'' | '!' | ' ' | '\u{a0}' | '/' => 0.33,
        'f' | 't' | 'r' | '-' | '(' | ')' => 0.40,
        'm' | 'w' | 'M' | 'W' | '%' | '×' | '–' | '—' => 0.93,
        'A'..='Z' => 0.70,
        letter if letter.is_ascii() => 0.62,
        _ => 0.85,
    };
    text.chars().map(of).sum::<f64>() * size
}

/// `text` cut to `room` pixels at `size`, with an ellipsis where something is lost.
pub(crate) fn cut(text: &str, room: f64, size: f64) -> String {
    if width(text, size) <= room {
        return text.to_owned();
    }
    let mut kept = String::new();
    for letter in text.chars() {
        kept.push(letter);
        if width(&kept, size) + size > room {
            kept.pop();
            break;
        }
    }
    kept.trim_end().to_owned() + "…"
}

/// The same with the ellipsis in the middle: names of rows differ at both of their ends.
pub(crate) fn cut_within(text: &str, room: f64, size: f64) -> String {
    if width(text, size) <= room {
        return text.to_owned();
    }
    let head = cut(text, room * 0.55, size);
    let mut tail = String::new();
    for letter in text.chars().rev() {
        if width(&head, size) + width(&tail, size) + width(letter.encode_utf8(&mut [0; 4]), size) > room {
            break;
        }
        tail.insert(0, letter);
    }
    head + tail.trim_start()
}

/// `text` in lines of `room` pixels at `size`: broken behind blanks and the signs of an address, within a word only where
/// the word alone is wider. At least one line.
pub(crate) fn broken(text: &str, room: f64, size: f64) -> Vec<String> {
    let mut lines = vec![String::new()];
    for piece in pieces(text) {
        let line = lines.last().map_or(0.0, |line| width(line, size));
        if line > 0.0 && line + width(piece.trim_end(), size) > room {
            lines.push(String::new());
        }
        for letter in piece.chars() {
            let own = width(letter.encode_utf8(&mut [0; 4]), size);
            let line = lines.last().map_or(0.0, |line| width(line, size));
            if letter != ' ' && line > 0.0 && line + own > room {
                lines.push(String::new());
            }
            lines.last_mut().into_iter().for_each(|line| line.push(letter));
        }
    }
    assert!(!lines.is_empty(), "even nothing is a line");
    lines.into_iter().map(|line| line.trim().to_owned()).collect()
}

/// What of a text stays in one line where it can: up to a blank or a sign of an address, a number whole.
fn pieces(text: &str) -> Vec<&str> {
    let mut pieces = Vec::new();
    let (mut from, mut is_number) = (0, false);
    let mut letters = text.char_indices().peekable();
    while let Some((at, letter)) = letters.next() {
        let next = letters.peek().map(|(_, next)| *next);
        let is_within = letter == ',' && is_number && next.is_some_and(|next| next.is_ascii_digit());
        is_number = letter.is_ascii_digit();
        if [' ', ',', '?', '&', '/', ';'].contains(&letter) && !is_within {
            let to = at + letter.len_utf8();
            pieces.push(&text[from..to]);
            from = to;
        }
    }
    pieces.push(&text[from..]);
    pieces
}

/// A name in a legend: of which series, where its mark stands, in which line, and its text, which has several lines where
/// it is wider than the legend.
pub(crate) struct Entry {
    pub index: usize,
    pub x: f64,
    pub line: usize,
    pub text: Vec<String>,
}

/// Names from `left` to `right`, as many in a line as there is room for: each behind a mark for which `mark` pixels are
/// left, and `gap` from the next.
pub(crate) fn legend<'n>(
    names: impl Iterator<Item = (usize, &'n String)>,
    (left, right): (f64, f64),
    (mark, gap): (f64, f64),
    size: f64,
) -> Vec<Entry> {
    assert!(mark >= 0.0 && gap >= 0.0 && left < right, "a legend has a line");
    let (mut next, mut line) = (left, 0);
    let place = |(index, name): (usize, &String)| {
        let wide = mark + width(name, size);
        if next > left && next + wide > right {
            (next, line) = (left, line + 1);
        }
        debug_assert!(left <= next && next <= right, "a name begins within its line");
        let entry = Entry { index, x: next, line, text: broken(name, right - next - mark, size) };
        // Below a name of several lines nothing more stands beside it.
        next = if entry.text.len() > 1 { f64::INFINITY } else { next + wide + gap };
        line += entry.text.len() - 1;
        entry
    };
    names.map(place).collect()
}

/// Lines that a legend has.
pub(crate) fn lines(entries: &[Entry]) -> usize {
    entries.iter().map(|entry| entry.line + entry.text.len()).max().unwrap_or(0)
}

/// Places for labels that want to be at `wanted`, in its order: at least `apart` from each other and between `from` and
/// `to` as long as they fit in there.
pub(crate) fn spread(wanted: &[f64], apart: f64, from: f64, to: f64) -> Vec<f64> {
    let mut order: Vec<usize> = (0..wanted.len()).collect();
    order.sort_by(|one, other| wanted[*one].total_cmp(&wanted[*other]));
    assert!(apart >= 0.0 && from <= to, "labels have a way to lie along");
    let mut places = vec![0.0; wanted.len()];
    let mut least = from;
    for index in &order {
        places[*index] = wanted[*index].max(least);
        least = places[*index] + apart;
    }
    let mut most = to;
    for index in order.iter().rev() {
        places[*index] = places[*index].min(most);
        most = places[*index] - apart;
    }
    debug_assert!(
        order.windows(2).all(|pair| places[pair[1]] - places[pair[0]] >= apart - 1e-6),
        "labels keep apart, in order"
    );
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_stays_whole_where_a_text_is_broken() {
        let told = "2,816: 93.9 % of 3,000, 112 % of 2,520";
        assert_eq!(pieces(told).concat(), told);
        for room in [60.0, 90.0, 140.0] {
            let lines = broken(told, room, 12.0);
            assert_eq!(lines.join(" "), told, "{room}");
            assert!(lines.iter().all(|line| !line.ends_with("2,") && !line.ends_with("3,")), "{lines:?}");
        }
    }
    use proptest::prelude::*;

    #[test]
    fn a_text_is_cut_to_its_room() {
        assert_eq!(cut("RAID 5", 100.0, 12.0), "RAID 5");
        let cut = cut("array:md3000?raid=5&disks=14", 60.0, 12.0);
        assert!(cut.ends_with('…') && width(&cut, 12.0) <= 62.0, "{cut}");
        let within = cut_within("array:md3000?raid=5&disks=14", 100.0, 12.0);
        assert!(within.starts_with("arr") && within.ends_with("14") && within.contains('…'), "{within}");
        assert!((80.0..=100.0).contains(&width(&within, 12.0)), "{within}");
    }

    proptest! {
        #[test]
        fn a_text_that_is_broken_loses_nothing_and_fits(text in "[a-zA-Z0-9 ,?&=/:%]{0,80}", room in 40.0f64..200.0) {
            let lines = broken(&text, room, 12.0);
            prop_assert!(lines.iter().all(|line| width(line, 12.0) <= room), "{lines:?}");
            let letters = |text: &str| text.chars().filter(|one| *one != ' ').collect::<String>();
            prop_assert_eq!(letters(&lines.concat()), letters(&text));
        }

        #[test]
        fn a_legend_fits_whatever_its_names(
            names in prop::collection::vec("[a-zA-Z0-9 ?&=:]{1,60}", 1..6), right in 150.0f64..400.0,
        ) {
            let entries = legend(names.iter().enumerate(), (20.0, right), (13.0, 18.0), 12.0);
            prop_assert_eq!(entries.len(), names.len());
            let mut taken: Vec<(usize, f64, f64)> = Vec::new();
            for entry in &entries {
                for (line, text) in entry.text.iter().enumerate() {
                    let (from, to) = (entry.x, entry.x + 13.0 + width(text, 12.0));
                    prop_assert!(to <= right + 1e-9, "{text} ends at {to} of {right}");
                    let line = entry.line + line;
                    prop_assert!(!taken.iter().any(|own| own.0 == line && own.1 < to && from < own.2), "{names:?}");
                    taken.push((line, from, to));
                }
            }
        }
    }

    proptest! {
        #[test]
        fn labels_keep_apart_and_in_order(wanted in prop::collection::vec(0.0f64..300.0, 1..12)) {
            let places = spread(&wanted, 14.0, 0.0, 300.0);
            let mut pairs: Vec<(f64, f64)> = wanted.iter().copied().zip(places).collect();
            pairs.sort_by(|one, other| one.0.total_cmp(&other.0));
            for pair in pairs.windows(2) {
                prop_assert!(pair[1].1 - pair[0].1 >= 14.0 - 1e-9, "{pairs:?}");
            }
        }
    }
}
